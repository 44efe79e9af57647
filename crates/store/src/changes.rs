//! How packed keys change, remembered by the bits that this depends on.
//!
//! *Idea*: a key is changed by several *actors*. What an actor does depends on few bits of the key, so
//! that mostly it has done it before, to another key with the same bits; then the changed keys are had
//! by putting some bits into this one, without a look at what they mean. Which bits these are depends
//! on others in turn, on the *position* of the actor: for each position there is a table, from the bits
//! looked at in it so far to lists of changes. What is met for the first time is not learned yet, as
//! most of what comes once does not come twice. A table in which too little is found is divided by the
//! bits that are looked at first, as an index is before the element of an array: what is looked at then
//! may be other bits for each of their values, but fewer.
//!
//! *Invariant*: the bits of a table are a superset of those that any list in it depends on. So keys that
//! agree in these bits are changed in the same way.
//!
//! *Sleep*: two actors have nothing to do with each other if neither changes a bit that the other depends on
//! or changes; then it does not matter who acts first. So after one of them the other may sleep (P.
//! Godefroid, *Using partial orders to improve automatic verification methods*, 1990): of a key that was made
//! by actor *j* those before *j* need not act that could before it and have nothing to do with it. Which
//! they are is said once, when a key is made for the first time. No key is missed, in whatever order keys are
//! changed, and by whomever. For if *i* sleeps in *s*, which *j* > *i* made of *p*, then what *i* would make of
//! *s* is what *j* makes of what *i* makes of *p*. Both are made in the end, by induction over pairs of a key
//! and an actor, the last actors first, and for each actor in the order in which the keys were made: what *i*
//! makes of *p* is, since *p* was made before *s*, and what *j* makes of that is, since *j* > *i*. Changes are
//! counted as if nobody slept.
//!
//! *Cost*: some fifty instructions for each actor, some twenty for each two that can act, and three for each
//! word of a changed key. To learn costs much more than to find, so it must be earned.

#![allow(unsafe_code, reason = "this is done for each key; each block says why it is sound")]

mod table;

use std::ops::Range;
use std::sync::Arc;

use crate::budget::Budget;
use crate::packets::Changed;
use crate::packing::{Packing, gather};
use table::{ALONE, EMPTY, List, MAX_COUNT, ONCE, Table, UNKNOWN, WRONG};

/// Bits of a position, at most.
const MAX_POSITION: u32 = 12;

/// Actors of a key, at most, and one more.
const MAX_ACTORS: usize = 256;

/// Bits by which a table is divided, at most, if they are not those of an index.
const MAX_PIVOT: u32 = 2;

/// So often tables are divided, one after the other, and tables there are at most for keys with a mask.
const MAX_DEPTH: u32 = 8;
const MAX_TABLES: usize = 1 << 13;

/// What is learned costs as much as to find so many lists, about, and so much is learned first.
const LESSON: i64 = 64;
const FIRST_LESSONS: i64 = 4096;

/// What each key earns besides what is found for it.
const INCOME: i64 = 2;

/// What is remembered takes at most this part of the memory there is, and so many bytes.
const SHARE: u64 = 8;
const MAX_BYTES: u64 = 64 << 20;

/// Changes of keys packed with one packing.
pub struct Changes {
    /// By mask.
    masks: Vec<Option<Box<Masked>>>,
    /// Bytes in use, and taken from the budget: what is freed the allocator keeps, so it stays taken.
    used: u64,
    taken: u64,
    /// How many may be.
    limit: u64,
    /// Whether there was no room for another mask.
    full: bool,
    /// Whether actors act alone that may.
    reduces: bool,
    budget: Arc<Budget>,
}

/// Of keys packed with one mask.
struct Masked {
    /// Words of a key.
    words: usize,
    /// By actor: its position.
    actors: Vec<Choice>,
    tables: Vec<Table>,
    /// By table, and by word: what is looked at, and what is the same for all keys.
    pieces: Vec<Piece>,
    fixed: Vec<u64>,
    /// By byte of a key that is not packed: its bits, or most of them.
    bytes: Vec<Bits>,
    /// All lists of changes, one behind the other. A change: for each word of a key which bits stay, and
    /// which are put there. Before those of a list, likewise: which bits they depend on or change, and which
    /// they change.
    changes: Vec<[u64; 2]>,
    /// By change: how long it is.
    lengths: Vec<u32>,
    /// The bits by which a changed key is seen to be packed with this mask, by word, and what they are if
    /// it is not.
    beyond: Option<Vec<[u64; 2]>>,
    /// Whether actors act alone that may.
    reduces: bool,
}

/// Some bits of one word.
#[derive(Clone, Copy, Default)]
struct Bits {
    mask: u64,
    word: u32,
}

/// Bits by which tables are chosen, and the first of the tables.
#[derive(Clone, Copy, Default)]
struct Choice {
    bits: Bits,
    first: u32,
}

/// Some bits of a word, and where they are put.
#[derive(Clone, Copy, Default)]
struct Piece {
    mask: u64,
    shift: u64,
}

/// What there is to learn about an actor.
#[derive(Clone, Copy)]
pub enum Lesson<'a> {
    /// Its changes.
    Changes {
        /// One behind the other.
        changes: &'a [[u64; 2]],
        /// How long each is, whatever that means.
        lengths: &'a [u32],
        /// Whether it may act alone.
        alone: bool,
    },
    /// They are not told.
    Unknown,
    /// Something is wrong with them.
    Wrong,
}

/// What was found for a key, and how much is learned if something is not.
pub struct Found {
    /// Lists of changes, the first ones of these, in the order of their actors.
    lists: [Listed; MAX_ACTORS],
    len: usize,
    count: usize,
    /// Whether these are of an actor that acts alone, unless one of which nothing is known does.
    pub alone: bool,
    /// Actors of which nothing is known.
    pub unknown: Vec<usize>,
    /// The actor to look at next.
    next: usize,
    /// What may be learned, in lists.
    credit: i64,
    /// Whether to learn also what is met for the first time.
    pub eager: bool,
}

/// The changes of an actor: where their list starts, and how many there are.
#[derive(Clone, Copy, Default)]
#[repr(align(16))]
struct Listed {
    start: u32,
    count: u32,
    actor: u32,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            lists: [Listed::default(); MAX_ACTORS],
            len: 0,
            count: 0,
            alone: false,
            unknown: Vec::new(),
            next: 0,
            credit: FIRST_LESSONS * LESSON,
            eager: false,
        }
    }
}

impl Found {
    /// Makes ready for another key.
    #[inline]
    pub fn clear(&mut self) {
        (self.len, self.count) = (0, 0);
        self.alone = false;
        self.unknown.clear();
        self.next = 0;
    }

    /// What was learned cost as much as so many lessons more.
    pub fn charge(&mut self, lessons: usize) {
        self.credit -= LESSON * lessons as i64;
    }

    /// Whether something may be learned.
    pub fn affords_lessons(&self) -> bool {
        self.credit > 0
    }

    /// How many changes.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// What follows from a mark for some bits, where changes of an actor were looked for.
    #[inline(never)]
    fn is_missing(&mut self, table: &mut Table, bits: u64, mark: u32, actor: usize) -> Look {
        let learn = match mark {
            WRONG => return Look::Wrong,
            _ if table.given_up => false,
            ONCE => self.credit > 0,
            EMPTY => table.misses(bits, self.eager, self.credit > 0),
            _ => false,
        };
        if learn {
            self.credit -= LESSON;
            self.next = actor;
            return Look::Learn(actor);
        }
        self.unknown.push(actor);
        Look::Done
    }
}

/// How a look for changes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// All actors were looked at.
    Done,
    /// There was no room for all changed keys.
    Full,
    /// There is something to learn about this actor.
    Learn(usize),
    /// Something is wrong with an actor.
    Wrong,
}

impl Changes {
    /// None yet, for one of so many threads. If it `reduces`, actors act alone that may, and nobody sleeps.
    pub fn new(budget: &Arc<Budget>, threads: usize, reduces: bool) -> Self {
        let limit = (budget.limit() / SHARE / threads as u64).min(MAX_BYTES);
        let budget = budget.clone();
        Self { masks: Vec::new(), used: 0, taken: 0, limit, full: false, reduces, budget }
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.masks.clear();
        self.full = false;
        self.used = 0;
    }

    /// Whether keys with a mask can be looked at.
    #[inline]
    pub fn knows(&self, mask: usize) -> bool {
        matches!(self.masks.get(mask), Some(Some(_)))
    }

    /// Whether there is no room for another mask.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Makes ready for keys with a mask, if there is room; by actor, which of their bytes are its
    /// position.
    pub fn prepare(&mut self, packing: &Packing, mask: usize, positions: &[Range<usize>]) {
        let words = packing.bytes(mask).div_ceil(size_of::<u64>());
        let length = packing.length(mask);
        // Most of them, if they are in several words: the others are looked at in the tables.
        let bits_of = |range: Range<usize>| {
            let mut bytes = vec![0; length];
            bytes[range].fill(u8::MAX);
            let bits = packing.bits(mask, &bytes).into_iter().enumerate();
            let (word, mask) = bits.max_by_key(|(_, bits)| bits.count_ones()).unwrap_or_default();
            Bits { mask, word: word as u32 }
        };
        let mut masked = Masked {
            words,
            actors: Vec::new(),
            tables: Vec::new(),
            pieces: Vec::new(),
            fixed: Vec::new(),
            bytes: (0..length).map(|byte| bits_of(byte..byte + 1)).collect(),
            changes: Vec::new(),
            lengths: Vec::new(),
            beyond: packing.beyond(mask),
            reduces: self.reduces,
        };
        for position in positions {
            let position = bits_of(position.clone());
            let known = position.mask.count_ones() <= MAX_POSITION;
            let bits = if known { position } else { Bits::default() };
            let first = masked.add_tables(bits, None);
            masked.actors.push(Choice { bits, first });
        }
        self.full = !self.pay(masked.bytes());
        if !self.full {
            self.masks.resize_with(self.masks.len().max(mask + 1), || None);
            self.masks[mask] = Some(Box::new(masked));
        }
    }

    fn pay(&mut self, bytes: usize) -> bool {
        let used = self.used + bytes as u64;
        let more = used.saturating_sub(self.taken);
        let paid = used <= self.limit && self.budget.take(more).is_ok();
        if paid {
            self.used = used;
            self.taken += more;
        }
        paid
    }

    /// Changes keys with a mask, until there is something to see to with one; how many were changed, and
    /// what that is: changes are missing, or there are none. Appends the changed keys and their hashes,
    /// as far as there is room, and to `others` those that are not packed with this mask.
    pub fn apply<const W: usize>(
        &mut self,
        mask: usize,
        keys: &[Key<W>],
        found: &mut Found,
        changed: &mut Changed<'_>,
    ) -> (usize, Look) {
        let Some(Some(masked)) = self.masks.get_mut(mask) else {
            return (0, Look::Wrong);
        };
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has it.
            return unsafe { masked.apply_bmi2(keys, found, changed) };
        }
        masked.apply_with(keys, found, changed, |masked, key, found| {
            masked.look_with(key, found, gather)
        })
    }

    /// Changes a key as it was found. Room must have been made for that.
    pub fn change<const W: usize>(
        &self,
        mask: usize,
        key: &Key<W>,
        found: &Found,
        changed: &mut Changed<'_>,
    ) {
        if let Some(Some(masked)) = self.masks.get(mask) {
            assert!(changed.packets.room::<W>() >= found.count);
            // SAFETY: as was just looked at.
            unsafe { masked.change(key, found, changed) };
        }
    }

    /// Calls with a key as it was found to change, from the last actor to the first: the changed key,
    /// whether it is packed with this mask, and how long the change is.
    pub fn each<const W: usize, E>(
        &self,
        mask: usize,
        key: &[u64; W],
        found: &Found,
        call: impl FnMut(&[u64; W], bool, u32) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.masks.get(mask) {
            Some(Some(masked)) => masked.each(key, found, call),
            _ => Ok(()),
        }
    }

    /// Looks for the changes of a key with a mask, from where `found` was left.
    #[inline]
    pub fn look<const W: usize>(&mut self, mask: usize, key: &[u64; W], found: &mut Found) -> Look {
        let Some(Some(masked)) = self.masks.get_mut(mask) else {
            return Look::Wrong;
        };
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has it.
            return unsafe { masked.look_bmi2(key, found) };
        }
        masked.look_with(key, found, gather)
    }

    /// Learns about an actor that was looked at: which bits its changes depend on, by word, which bytes
    /// of a key it looks at, in this order, first to compute an index, and the changes.
    #[cold]
    pub fn learn<const W: usize>(
        &mut self,
        mask: usize,
        key: &[u64; W],
        actor: usize,
        (depends, order): (&[u64], &[Vec<u32>; 2]),
        lesson: Lesson<'_>,
    ) {
        let Some(Some(masked)) = self.masks.get_mut(mask) else {
            return;
        };
        let grown = masked.learn(key, actor, depends, order, lesson);
        if !self.pay(grown)
            && let Some(Some(masked)) = self.masks.get_mut(mask)
        {
            // What is known stays of use, but there is no room for more.
            masked.tables.iter_mut().for_each(|table| table.given_up = true);
        }
    }
}

impl Changes {
    /// Whether there is something to learn about an actor of a key with a mask.
    pub fn lacks<const W: usize>(&self, mask: usize, key: &[u64; W], actor: usize) -> bool {
        let Some(Some(masked)) = self.masks.get(mask) else {
            return false;
        };
        let number = masked.table_of(key, actor);
        let table = &masked.tables[number];
        let bits = bits_of(key, &masked.pieces.as_chunks::<W>().0[number], gather);
        !table.given_up && matches!(table.find(bits).count, EMPTY | ONCE)
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.masks.clear();
        self.budget.give_back(self.taken);
    }
}

/// A key, and the actors that sleep, as bits: what they would make of it is made in another way.
#[derive(Clone, Copy)]
pub struct Key<const W: usize> {
    /// Its words.
    pub words: [u64; W],
    /// The actors.
    pub asleep: u64,
}

/// The bit of an actor; the last ones have none.
#[inline(always)]
fn bit(actor: u32) -> u64 {
    if actor < u64::BITS { 1 << actor } else { 0 }
}

/// Whether two actors have nothing to do with each other, by what precedes their lists of changes.
#[inline(always)]
fn is_independent<const W: usize>(one: &[[u64; 2]; W], other: &[[u64; 2]; W]) -> bool {
    let mut common = 0;
    for ([touched, changed], [other_touched, other_changed]) in one.iter().zip(other) {
        common |= touched & other_changed | changed & other_touched;
    }
    common == 0
}

/// A key with some bits put there.
#[inline(always)]
fn apply_to<const W: usize>(key: &[u64; W], change: &[[u64; 2]; W]) -> [u64; W] {
    std::array::from_fn(|at| {
        let [stay, put] = change[at];
        key[at] & stay | put
    })
}

/// Whether a key does not fit a mask before its own.
#[inline(always)]
fn is_beyond(key: &[u64], beyond: &[[u64; 2]]) -> bool {
    key.iter().zip(beyond).any(|(word, [bits, values])| word & bits != *values)
}

fn lists_bytes(changes: &Vec<[u64; 2]>, lengths: &Vec<u32>) -> usize {
    changes.capacity() * size_of::<[u64; 2]>() + lengths.capacity() * size_of::<u32>()
}

/// Bits of a key, next to each other.
fn pieces(masks: impl Iterator<Item = u64>) -> impl Iterator<Item = Piece> {
    let mut shift = 0;
    masks.map(move |mask| {
        let piece = Piece { mask, shift };
        shift += u64::from(mask.count_ones());
        piece
    })
}

#[inline(always)]
fn bits_of<const W: usize>(
    key: &[u64; W],
    pieces: &[Piece; W],
    gather: impl Fn(u64, u64) -> u64,
) -> u64 {
    // The first is not shifted.
    let mut bits = gather(key[0], pieces[0].mask);
    for at in 1..W {
        let Piece { mask, shift } = pieces[at];
        // Those behind the last have no bits, and are shifted anywhere.
        bits |= gather(key[at], mask) << (shift & 63);
    }
    bits
}

impl Masked {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "bmi2")]
    fn apply_bmi2<const W: usize>(
        &mut self,
        keys: &[Key<W>],
        found: &mut Found,
        changed: &mut Changed<'_>,
    ) -> (usize, Look) {
        self.apply_with(keys, found, changed, |masked, key, found| masked.look_bmi2(key, found))
    }

    #[inline(always)]
    fn apply_with<const W: usize>(
        &mut self,
        keys: &[Key<W>],
        found: &mut Found,
        changed: &mut Changed<'_>,
        look: impl Fn(&mut Self, &[u64; W], &mut Found) -> Look,
    ) -> (usize, Look) {
        let mut room = changed.packets.room::<W>();
        for (number, key) in keys.iter().enumerate() {
            found.clear();
            let look = look(self, &key.words, found);
            if look != Look::Done || found.count == 0 || !found.unknown.is_empty() {
                return (number, look);
            }
            if found.count > room {
                return (number, Look::Full);
            }
            room -= found.count;
            // SAFETY: there is.
            unsafe { self.change(key, found, changed) };
        }
        (keys.len(), Look::Done)
    }

    /// Changes a key as it was found.
    ///
    /// # Safety
    /// There must be room for all changed keys.
    #[inline(always)]
    unsafe fn change<const W: usize>(
        &self,
        key: &Key<W>,
        found: &Found,
        changed: &mut Changed<'_>,
    ) {
        changed.count += found.count;
        let changes = self.changes.as_chunks::<W>().0;
        let lists = &found.lists[..found.len];
        for (number, &Listed { start, count, actor }) in lists.iter().enumerate().rev() {
            if key.asleep & bit(actor) != 0 {
                continue;
            }
            let (head, list) = (start as usize, start as usize + 1..(start + 1 + count) as usize);
            let mut asleep = 0;
            // Who sleeps counts on others to act elsewhere, which they may not do if one acts alone.
            let before = if self.reduces { 0 } else { number };
            for before in &lists[..before] {
                if is_independent(&changes[head], &changes[before.start as usize]) {
                    asleep |= bit(before.actor);
                }
            }
            for change in &changes[list] {
                let words = apply_to(&key.words, change);
                match &self.beyond {
                    Some(beyond) if !is_beyond(&words, beyond) => {
                        changed.others.extend_from_slice(&words);
                    }
                    // SAFETY: as above.
                    _ => unsafe { changed.push(&words, asleep) },
                }
            }
        }
    }

    #[inline]
    fn each<const W: usize, E>(
        &self,
        key: &[u64; W],
        found: &Found,
        mut call: impl FnMut(&[u64; W], bool, u32) -> Result<(), E>,
    ) -> Result<(), E> {
        let changes = self.changes.as_chunks::<W>().0;
        for &Listed { start, count, .. } in found.lists[..found.len].iter().rev() {
            let list = start as usize + 1..(start + 1 + count) as usize;
            for (change, &length) in changes[list.clone()].iter().zip(&self.lengths[list]) {
                let words = apply_to(key, change);
                let own = self.beyond.as_ref().is_none_or(|beyond| is_beyond(&words, beyond));
                call(&words, own, length)?;
            }
        }
        Ok(())
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "bmi2")]
    #[inline(never)]
    fn look_bmi2<const W: usize>(&mut self, key: &[u64; W], found: &mut Found) -> Look {
        self.look_with(key, found, |bits, mask| std::arch::x86_64::_pext_u64(bits, mask))
    }

    #[inline(always)]
    fn look_with<const W: usize>(
        &mut self,
        key: &[u64; W],
        found: &mut Found,
        gather: impl Fn(u64, u64) -> u64,
    ) -> Look {
        let (tables, pieces) = (&mut self.tables[..], self.pieces.as_chunks::<W>().0);
        assert!(self.words == W && pieces.len() == tables.len());
        let (mut len, mut count) = (found.len, found.count);
        let mut end = Look::Done;
        let actors = self.actors.get(found.next..).unwrap_or_default();
        for (number, actor) in (found.next..).zip(actors) {
            let mut at = actor.table(key, &gather);
            // SAFETY: for each value of the bits of a choice there is a table; its pieces are there as
            // was just looked at. To look at that again for each actor would cost a sixth of all.
            let (table, pieces) = unsafe {
                while tables.get_unchecked(at).is_divided() {
                    at = tables.get_unchecked(at).parts.table(key, &gather);
                }
                (tables.get_unchecked_mut(at), pieces.get_unchecked(at))
            };
            let bits = bits_of(key, pieces, &gather);
            let &List { start, count: changes, .. } = table.find(bits);
            table.asked = table.asked.wrapping_add(1);
            if changes < ALONE {
                found.lists[len] = Listed { start, count: changes, actor: number as u32 };
                len += usize::from(changes > 0);
                count += changes as usize;
            } else if changes <= MAX_COUNT {
                let changes = changes - ALONE;
                found.lists[0] = Listed { start, count: changes, actor: number as u32 };
                (len, count) = (1, changes as usize);
                found.alone = true;
                break;
            } else {
                end = found.is_missing(table, bits, changes, number);
                if end != Look::Done {
                    break;
                }
            }
        }
        found.credit += INCOME + (self.actors.len() - found.unknown.len()) as i64;
        (found.len, found.count) = (len, count);
        end
    }

    fn bytes(&self) -> usize {
        self.tables.len() * (size_of::<Table>() + self.words * size_of::<Piece>())
            + self.tables.len() * size_of::<List>()
            + self.tables.len() * self.words * size_of::<u64>()
            + self.actors.len() * size_of::<Choice>()
            + self.bytes.len() * size_of::<Bits>()
    }

    /// Adds tables, one for each value of some bits, as parts of another one, if there is one; the first
    /// of them.
    fn add_tables(&mut self, bits: Bits, whole: Option<usize>) -> u32 {
        let first = self.tables.len();
        let fixed_before = whole.map(|whole| &self.fixed[whole * self.words..][..self.words]);
        let mut fixed = fixed_before.map_or(vec![0; self.words], <[_]>::to_vec);
        fixed[bits.word as usize] |= bits.mask;
        let count = bits.mask.count_ones();
        let (depth, bits_before) = match whole {
            Some(whole) => (self.tables[whole].depth + 1, self.looked_at(whole, &fixed)),
            None => (0, u32::MAX),
        };
        for _ in 0..1 << count {
            self.tables.push(Table::part(depth, bits_before));
            self.fixed.extend_from_slice(&fixed);
        }
        self.pieces.resize(self.tables.len() * self.words, Piece::default());
        first as u32
    }

    /// How many bits are looked at in a table, but for some.
    fn looked_at(&self, number: usize, without: &[u64]) -> u32 {
        let pieces = &self.pieces[number * self.words..][..self.words];
        pieces.iter().zip(without).map(|(piece, bits)| (piece.mask & !bits).count_ones()).sum()
    }

    /// Divides a table in which too little is found; how many bytes that takes.
    fn divide(&mut self, number: usize) -> usize {
        let before = self.bytes();
        let Table { depth, bits_before, pivots: [index, other], .. } = self.tables[number];
        let pivot = index.or(other).unwrap_or_default();
        let fixed = &self.fixed[number * self.words..][..self.words];
        let parts = 1 << pivot.mask.count_ones();
        // If no fewer bits are looked at than before, to divide it more is of no use.
        let possible = depth < MAX_DEPTH
            && self.looked_at(number, fixed) < bits_before
            && parts > 1
            && self.tables.len() + parts <= MAX_TABLES;
        if possible {
            let first = self.add_tables(pivot, Some(number));
            self.tables[number].parts = Choice { bits: pivot, first };
            self.tables[number].empty();
        }
        // What is known stays of use.
        self.tables[number].given_up = !possible;
        self.bytes() - before
    }

    /// The table in which the changes of an actor are looked for.
    fn table_of<const W: usize>(&self, key: &[u64; W], actor: usize) -> usize {
        let mut number = self.actors[actor].table(key, gather);
        while self.tables[number].is_divided() {
            number = self.tables[number].parts.table(key, gather);
        }
        number
    }

    /// Learns about an actor; how many bytes more that takes.
    fn learn<const W: usize>(
        &mut self,
        key: &[u64; W],
        actor: usize,
        depends: &[u64],
        order: &[Vec<u32>; 2],
        lesson: Lesson<'_>,
    ) -> usize {
        let number = self.table_of(key, actor);
        let fixed = &self.fixed[number * W..][..W];
        let first_of = |order: &Vec<u32>| {
            let mut bits = order.iter().map(|&byte| {
                let Bits { mask, word } = self.bytes[byte as usize];
                Bits { mask: mask & !fixed[word as usize], word }
            });
            bits.find(|bits| bits.mask != 0)
        };
        let [index, other] = order.each_ref().map(first_of);
        let other = other.filter(|bits| bits.mask.count_ones() <= MAX_PIVOT);
        let [known_index, known_other] = &mut self.tables[number].pivots;
        // A move that happens to look at neither says nothing of the others.
        *known_index = index.or(*known_index);
        *known_other = other.or(*known_other);
        if self.tables[number].exhausted {
            return self.divide(number);
        }
        let table = &mut self.tables[number];
        let looked_at = &mut self.pieces.as_chunks_mut::<W>().0[number];
        let before = lists_bytes(&self.changes, &self.lengths) + table.bytes();
        if depends.iter().zip(&*looked_at).any(|(new, known)| new & !known.mask != 0) {
            let all = depends.iter().zip(&*looked_at).map(|(new, known)| new | known.mask);
            let all: Vec<_> = pieces(all).collect();
            looked_at.copy_from_slice(&all);
            let free = all.iter().zip(fixed).map(|(piece, fixed)| piece.mask & !fixed);
            table.bits = free.map(u64::count_ones).sum();
            table.empty();
        }
        let last = looked_at[W - 1];
        if last.shift + u64::from(last.mask.count_ones()) > u64::from(u64::BITS) {
            return self.divide(number);
        }
        let start = (self.changes.len() / W) as u32;
        let count = match lesson {
            Lesson::Changes { changes, lengths, alone } => {
                let changes_of_word = |at: usize| changes.iter().skip(at).step_by(W);
                self.changes.extend(depends.iter().enumerate().map(|(at, depends)| {
                    let changed = changes_of_word(at).fold(0, |all, [stay, _]| all | !stay);
                    [depends | changed, changed]
                }));
                self.lengths.push(0);
                self.changes.extend_from_slice(changes);
                self.lengths.extend_from_slice(lengths);
                let count = (changes.len() / W) as u32;
                if alone && self.reduces && count > 0 { count | ALONE } else { count }
            }
            Lesson::Unknown => UNKNOWN,
            Lesson::Wrong => WRONG,
        };
        table.learned += 1;
        table.put(List { bits: bits_of(key, looked_at, gather), start, count });
        // What grows is there twice for a moment.
        let after = lists_bytes(&self.changes, &self.lengths) + table.bytes();
        2 * after.saturating_sub(before)
    }
}

impl Choice {
    /// The table for a key.
    #[inline(always)]
    fn table<const W: usize>(&self, key: &[u64; W], gather: impl Fn(u64, u64) -> u64) -> usize {
        let Bits { mask, word } = self.bits;
        debug_assert!((word as usize) < W);
        // SAFETY: a choice is made by one of the words of a key.
        let word = unsafe { *key.get_unchecked(word as usize) };
        self.first as usize + gather(word, mask) as usize
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::{HashSet, VecDeque};

    use super::*;
    use crate::flat::Flat;
    use crate::packets::Packets;
    use crate::packing::Learner;

    /// Bytes of a key: a position, an index and two bytes for each of two actors, what they share, and a large number for
    /// each.
    const BYTES: usize = 24;
    const SHARED: usize = 8;
    const LARGE: usize = 18;

    /// What an actor does to a key: which bytes that depends on, in this order, first to compute an
    /// index, and the changed keys with the bytes that were put.
    type Act = ([Vec<u32>; 2], Vec<(Vec<u8>, Vec<usize>)>);

    fn act(key: &[u8], actor: usize) -> Act {
        let [position, index, number] = [0, 1, 2].map(|at| 4 * actor + at);
        let mut next = key.to_vec();
        next[position] = (key[position] + 1) % 5;
        let mut order = [vec![], vec![position as u32]];
        let changes = match key[position] {
            // Depends on nothing else, in two ways.
            0 => {
                let mut other = next.clone();
                other[position] = 3;
                vec![(next, vec![position]), (other, vec![position])]
            }
            // Depends on one of the shared bytes.
            1 => {
                let at = SHARED + usize::from(key[index]);
                order[0].push(index as u32);
                order[1].push(at as u32);
                if key[at] < 8 {
                    next[at] += 1;
                    vec![(next, vec![position, at])]
                } else {
                    vec![]
                }
            }
            // Puts what it has not looked at.
            2 => {
                next[number] = 1;
                vec![(next, vec![position, number])]
            }
            // Depends on a number that is seldom the same at first, but takes some thousands of values only.
            3 => {
                order[1].extend([number as u32, number as u32 + 1]);
                next[number] = key[number].wrapping_mul(5).wrapping_add(key[number + 1]);
                vec![(next, vec![position, number])]
            }
            // Depends on a number that is almost never the same.
            _ => {
                let large = LARGE + 3 * actor;
                order[1].extend((large..large + 3).map(|byte| byte as u32));
                next[number] = key[large] ^ key[large + 1] ^ key[large + 2];
                vec![(next, vec![position, number])]
            }
        };
        (order, changes)
    }

    fn key(seed: &mut u64) -> Vec<u8> {
        let mut next = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*seed >> 33) as u8
        };
        let mut key = vec![0; BYTES];
        for actor in [0, 4] {
            key[actor] = next() % 5;
            key[actor + 1] = next() % 8;
            key[actor + 2] = next();
            key[actor + 3] = next() % 16;
        }
        key[LARGE..].iter_mut().for_each(|byte| *byte = next());
        key[SHARED..SHARED + 10].iter_mut().for_each(|byte| *byte = next() % 10);
        key
    }

    fn written(packing: &Packing, key: &[u8]) -> [u64; 2] {
        let mut words = Vec::new();
        packing.write(0, key, &mut words);
        assert_eq!(packing.mask(&words), Some(0));
        words.try_into().unwrap()
    }

    fn mask_of(bytes: impl Iterator<Item = usize>) -> Vec<u8> {
        let mut mask = vec![0; BYTES];
        bytes.for_each(|byte| mask[byte] = u8::MAX);
        mask
    }

    fn learn(changes: &mut Changes, packing: &Packing, key: &[u8], actor: usize, act: Act) {
        let (order, list) = act;
        let read = mask_of(order.iter().flatten().map(|&byte| byte as usize));
        let mut all = Vec::new();
        for (to, put) in list {
            let put = packing.bits(0, &mask_of(put.into_iter()));
            let values = packing.bits(0, &to);
            all.extend(put.into_iter().zip(values).map(|(put, value)| [!put, put & value]));
        }
        let depends = (&packing.bits(0, &read)[..], &order);
        let lengths = vec![1; all.len() / 2];
        let lesson = Lesson::Changes { changes: &all, lengths: &lengths, alone: false };
        changes.learn(0, &written(packing, key), actor, depends, lesson);
    }

    /// Changes some keys; how many by what is remembered alone.
    fn change_keys(budget: &Arc<Budget>) -> usize {
        let mut learner = Learner::default();
        let mut seed = 1;
        (0..10_000).for_each(|_| learner.note(0, &key(&mut seed)));
        let packing = learner.packing();
        let mut changes = Changes::new(budget, 1, false);
        changes.prepare(&packing, 0, &[0..1, 4..5]);
        let mut found = Found::default();
        let plenty = Arc::new(Budget::new(None));
        let mut remembered = 0;
        for _ in 0..200_000 {
            let key = key(&mut seed);
            let form = written(&packing, &key);
            let mut packets = Packets::new(&plenty);
            packets.make_room::<2>(32).unwrap();
            let mut changed = Changed { packets: &mut packets, others: &mut Vec::new(), count: 0 };
            let whole = Key { words: form, asleep: 0 };
            let (applied, mut look) = changes.apply(0, &[whole], &mut found, &mut changed);
            remembered += applied;
            if applied == 0 {
                while let Look::Learn(actor) = look {
                    learn(&mut changes, &packing, &key, actor, act(&key, actor));
                    look = changes.look(0, &form, &mut found);
                }
                assert_eq!(look, Look::Done);
                changes.change(0, &whole, &found, &mut changed);
            }
            let count = changed.count;
            let mut expected = Vec::new();
            for actor in (0..2).rev().filter(|actor| !found.unknown.contains(actor)) {
                expected.extend(act(&key, actor).1.iter().map(|(to, _)| written(&packing, to)));
            }
            assert_eq!(packets.keys::<2>(), expected, "{key:?}");
            assert_eq!(count, expected.len());
            let hashes = expected.iter().map(|key| Flat::hash(key));
            assert!(hashes.eq(packets.hashes().iter().copied()));
        }
        drop(changes);
        assert_eq!(budget.used(), 0);
        remembered
    }

    #[test]
    fn what_is_remembered_is_what_happens() {
        let remembered = change_keys(&Arc::new(Budget::new(None)));
        // All but those in which an actor with the number of which too many are known is to act, or has
        // no change.
        assert!(remembered > 100_000, "{remembered}");
    }

    #[test]
    fn what_another_has_learned_is_as_good() {
        let budget = Arc::new(Budget::new(None));
        let mut learner = Learner::default();
        let mut seed = 1;
        (0..10_000).for_each(|_| learner.note(0, &key(&mut seed)));
        let packing = learner.packing();
        let mut both = [0, 1].map(|_| Changes::new(&budget, 2, false));
        both.iter_mut().for_each(|changes| changes.prepare(&packing, 0, &[0..1, 4..5]));
        let mut told = 0;
        for _ in 0..2_000 {
            let key = key(&mut seed);
            let form = written(&packing, &key);
            for actor in 0..2 {
                let lacking = both.each_ref().map(|changes| changes.lacks(0, &form, actor));
                assert_eq!(lacking[0], lacking[1]);
                if lacking[0] {
                    told += 1;
                    for changes in &mut both {
                        learn(changes, &packing, &key, actor, act(&key, actor));
                    }
                }
            }
            // Only the other one is asked.
            let mut found = Found { credit: 0, ..Found::default() };
            assert_eq!(both[1].look(0, &form, &mut found), Look::Done);
            for actor in (0..2).filter(|actor| !found.unknown.contains(actor)) {
                assert!(!both[1].lacks(0, &form, actor));
            }
        }
        assert!((200..4_000).contains(&told), "{told}");
    }

    const ACTORS: usize = 3;

    /// What an actor does that has a position, and puts shared bytes, if others are as drawn by lot.
    fn act_at_random(seed: u32, key: &[u8], actor: usize) -> Act {
        let mut read = vec![actor as u32];
        let mut list = Vec::new();
        for number in 0..1 + seed % 2 {
            let mix = |hash: u32, by: u32| (hash ^ by).wrapping_mul(0x9e37_79b1).rotate_left(13);
            let numbers = [actor as u32, key[actor].into(), number, 7];
            let drawn = numbers.into_iter().fold(seed, mix);
            let part = |shift: u32, of: u32| ((drawn >> shift) % of) as usize;
            let [guard, from, to] = [0, 3, 6].map(|shift| SHARED + part(shift, 7));
            read.push(guard as u32);
            if usize::from(key[guard]) == part(9, 2) {
                continue;
            }
            let mut next = key.to_vec();
            next[actor] = part(12, 4) as u8;
            next[to] = if part(15, 2) == 0 {
                read.push(from as u32);
                (key[from] + 1) % 2
            } else {
                part(17, 2) as u8
            };
            list.push((next, vec![actor, to]));
        }
        ([vec![], read], list)
    }

    /// What becomes of a key, and how many changes there are.
    fn brute_force(seed: u32, first: &[u8]) -> (HashSet<Vec<u8>>, usize) {
        let mut known = HashSet::from([first.to_vec()]);
        let mut waiting = vec![first.to_vec()];
        let mut count = 0;
        while let Some(key) = waiting.pop() {
            for (to, _) in (0..ACTORS).flat_map(|actor| act_at_random(seed, &key, actor).1) {
                count += 1;
                if known.insert(to.clone()) {
                    waiting.push(to);
                }
            }
        }
        (known, count)
    }

    #[test]
    fn actors_that_sleep_make_no_difference_but_to_the_work() {
        let (mut counted, mut made) = (0, 0);
        for seed in 0..300 {
            let first = vec![0; BYTES];
            let (all, count) = brute_force(seed, &first);
            let mut random = 1;
            let mut learner = Learner::default();
            (0..1000).for_each(|_| learner.note(0, &key(&mut random)));
            all.iter().for_each(|key| learner.note(0, key));
            let packing = learner.packing();
            let budget = Arc::new(Budget::new(None));
            let mut changes = Changes::new(&budget, 1, false);
            changes.prepare(&packing, 0, &[0..1, 1..2, 2..3]);
            let mut found = Found { eager: true, credit: i64::MAX / 2, ..Found::default() };
            let mut packets = Packets::new(&budget);
            let mut strays = Vec::new();
            let first = written(&packing, &first);
            let mut known = HashSet::from([first]);
            let mut waiting = VecDeque::from([(first, 0)]);
            let mut changed_count = 0;
            // The last, the first, or any key is changed next.
            while let Some((words, asleep)) = match seed % 3 {
                0 => waiting.pop_back(),
                1 => waiting.pop_front(),
                _ => waiting.swap_remove_back(count % waiting.len().max(1)),
            } {
                let key = Key { words, asleep };
                packets.make_room::<2>(32).unwrap();
                let mut changed = Changed { packets: &mut packets, others: &mut strays, count: 0 };
                let (applied, mut look) = changes.apply(0, &[key], &mut found, &mut changed);
                if applied == 0 {
                    let mut bytes = Vec::new();
                    packing.read(&words, &mut bytes);
                    while let Look::Learn(actor) = look {
                        let act = act_at_random(seed, &bytes, actor);
                        learn(&mut changes, &packing, &bytes, actor, act);
                        look = changes.look(0, &words, &mut found);
                    }
                    assert!(look == Look::Done && found.unknown.is_empty());
                    changes.change(0, &key, &found, &mut changed);
                }
                changed_count += changed.count;
                made += packets.len();
                for (to, &asleep) in packets.keys::<2>().iter().zip(packets.asleep()) {
                    if known.insert(*to) {
                        waiting.push_back((*to, asleep));
                    }
                }
                packets.clear();
            }
            assert_eq!(known.len(), all.len(), "{seed}");
            assert_eq!(changed_count, count, "{seed}");
            counted += count;
        }
        assert!(counted > 10_000 && made < counted * 19 / 20, "{made} of {counted}");
    }

    #[test]
    fn little_memory_means_that_little_is_remembered() {
        let budget = Arc::new(Budget::new(Some(1 << 16)));
        let remembered = change_keys(&budget);
        let plenty = change_keys(&Arc::new(Budget::new(None)));
        assert!(remembered < plenty / 2, "{remembered} of {plenty}");
        assert!(budget.peak() <= 1 << 13, "{}", budget.peak());
    }
}
