//! Who may be interchanged with whom, as long as certain processes are alive.
//!
//! *Idea*: to exchange two processes is to exchange all that tells one from the other: their numbers, the values of their
//! parameters, channels of their own, elements of arrays, and further processes that belong to these. Starting with two
//! processes, what must go along with them is collected; if in the end nothing that never changes (constants) is
//! other than before, they are interchangeable. That is so for all pairs out of a set if it is so for
//! one of them and each other. Each such process with all that goes along with it is a *member*.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::ops::Range;

use rustc_hash::FxHasher;
use spinward_program::ir::Scalar;
use spinward_program::symmetry::{BodySorts, Cell, Constant, Key, Sort, Symmetry};

use crate::memory::load;
use crate::shape::{Header, Shape};

/// A value of a sort, and what it stands for: a process, a channel, an element of each array that has it as index.
pub(super) type Thing = (Sort, i32);

/// Values of things are below this.
const MAX_VALUE: i32 = 1 << 16;

/// All members there are, as long as certain processes are alive and what never changes is the same.
#[derive(Debug)]
pub(super) struct Members {
    /// The number of the shape.
    pub shape: u32,
    /// Where what never changes is, and what it is.
    constants: Vec<(usize, Vec<u8>)>,
    /// The members, one after the other: their things, in the same order for all of a set.
    pub things: Vec<Vec<Thing>>,
    /// Those that are interchangeable stand together.
    pub sets: Vec<Range<usize>>,
    /// By sort and value: whose thing it is, and which of its things.
    whose: Vec<Vec<Option<(u16, u16)>>>,
}

impl Members {
    /// Whose thing a value is, and which of its things.
    pub fn whose(&self, sort: Sort, value: i32) -> Option<(usize, usize)> {
        let index = usize::try_from(value).ok()?;
        let (member, thing) = (*self.whose[sort.0].get(index)?)?;
        Some((usize::from(member), usize::from(thing)))
    }

    /// What a value becomes if members take the places of others.
    pub fn moved(&self, sort: Sort, value: i32, places: &[usize]) -> i32 {
        match self.whose(sort, value) {
            Some((member, thing)) => self.things[places[member]][thing].1,
            None => value,
        }
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        let constants: usize = self.constants.iter().map(|(_, bytes)| bytes.len() + 64).sum();
        let things: usize = self.things.iter().map(|it| size_of_val(&it[..]) + 64).sum();
        let whose: usize = self.whose.iter().map(|it| size_of_val(&it[..]) + 64).sum();
        constants + things + whose + 256
    }

    /// A number for what never changes in a state of that shape.
    pub fn kind_of(&self, state: &[u8]) -> u64 {
        let mut hasher = FxHasher::default();
        for (at, bytes) in &self.constants {
            hasher.write(&state[*at..*at + bytes.len()]);
        }
        hasher.finish()
    }

    /// Whether a state of that shape has the same in what never changes.
    pub fn suit(&self, state: &[u8]) -> bool {
        self.constants.iter().all(|(at, bytes)| state[*at..].starts_with(bytes))
    }

    /// Those of a state of which nothing may be created any more; nobody if that is not to be looked at.
    pub fn new(
        symmetry: &Symmetry,
        header: &Header,
        shape: &Shape,
        state: &[u8],
        look: bool,
    ) -> Self {
        let finder = Finder::new(symmetry, header, shape, state);
        let mut members = Self {
            shape: shape.id,
            constants: finder.constant_bytes(),
            things: Vec::new(),
            sets: Vec::new(),
            whose: vec![Vec::new(); symmetry.sorts()],
        };
        for first in (0..shape.processes.len()).filter(|_| look) {
            if members.whose(Sort::PROCESS, first as i32).is_none() {
                members.add_set(&finder, first);
            }
        }
        // What might become the name of a member by being stored elsewhere may be among what never changes too.
        let stays = |(sort, value)| {
            members.whose(sort, value).is_some() || symmetry.is_harmless(sort, value)
        };
        if !finder.constant_names().all(stays) {
            members.things.clear();
            members.sets.clear();
            members.whose.iter_mut().for_each(Vec::clear);
        }
        members
    }

    /// Adds a process and all that are interchangeable with it.
    fn add_set(&mut self, finder: &Finder<'_>, first: usize) {
        let mut set: Vec<Vec<Thing>> = Vec::new();
        let mut taken = BTreeSet::new();
        for other in first + 1..finder.shape.processes.len() {
            let Some(pairs) = finder.exchange(first, other) else {
                continue;
            };
            let known = pairs.iter().flat_map(|(a, b)| [a, b]);
            if known.into_iter().any(|&(sort, value)| self.whose(sort, value).is_some()) {
                continue;
            }
            // In one order for all.
            let mut pairs = pairs;
            pairs.sort_unstable();
            let (own, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            if set.is_empty() {
                taken.extend(own.iter().copied());
                set.push(own.clone());
            }
            if set[0] == own && !theirs.iter().any(|thing| taken.contains(thing)) {
                taken.extend(theirs.iter().copied());
                set.push(theirs);
            }
        }
        if set.len() < 2 {
            return;
        }
        let start = self.things.len();
        for things in set {
            let member = self.things.len() as u16;
            for (number, &(Sort(sort), value)) in things.iter().enumerate() {
                let whose = &mut self.whose[sort];
                let index = value as usize;
                whose.resize(whose.len().max(index + 1), None);
                whose[index] = Some((member, number as u16));
            }
            self.things.push(things);
        }
        self.sets.push(start..self.things.len());
    }
}

/// Looks at one state.
struct Finder<'a> {
    symmetry: &'a Symmetry,
    header: &'a Header,
    shape: &'a Shape,
    state: &'a [u8],
    /// The globals that never change and are elements of arrays, by their index; and those that hold values of
    /// a sort.
    keyed: BTreeMap<Thing, Vec<&'a Cell>>,
    holding: Vec<&'a Cell>,
}

/// Things that are exchanged.
#[derive(Default)]
struct Exchange {
    with: BTreeMap<Thing, Thing>,
    /// What goes along with the first process, and what with the second.
    pairs: Vec<(Thing, Thing)>,
}

impl Exchange {
    /// Adds two things; false if one of them is exchanged with something else.
    fn add(&mut self, one: Thing, other: Thing) -> bool {
        match (self.with.get(&one), self.with.get(&other)) {
            (None, None) if one == other => true,
            (None, None) => {
                self.with.insert(one, other);
                self.with.insert(other, one);
                self.pairs.push((one, other));
                true
            }
            (known, _) => known == Some(&other),
        }
    }

    fn of(&self, thing: Thing) -> Thing {
        self.with.get(&thing).copied().unwrap_or(thing)
    }

    fn value(&self, sort: Option<Sort>, value: i32) -> i32 {
        sort.map_or(value, |sort| self.of((sort, value)).1)
    }
}

impl<'a> Finder<'a> {
    fn new(symmetry: &'a Symmetry, header: &'a Header, shape: &'a Shape, state: &'a [u8]) -> Self {
        let constants = || symmetry.globals.iter().filter(|cell| cell.constant);
        let mut keyed: BTreeMap<Thing, Vec<&Cell>> = BTreeMap::new();
        for (cell, key) in constants().filter_map(|cell| Some((cell, cell.key?))) {
            keyed.entry((key.sort, key.value)).or_default().push(cell);
        }
        let holding = constants().filter(|cell| cell.sort.is_some()).collect();
        Self { symmetry, header, shape, state, keyed, holding }
    }

    fn body(&self, process: usize) -> &BodySorts {
        &self.symmetry.bodies[self.shape.processes[process].kind.0 as usize]
    }

    fn variables(&self, process: usize) -> usize {
        self.shape.processes[process].offset + self.header.process
    }

    fn global(&self, offset: i64, scalar: Scalar) -> i32 {
        load(self.state, self.header.globals + offset as usize, scalar)
    }

    fn constant(&self, process: usize, constant: &Constant) -> i32 {
        load(self.state, self.variables(process) + constant.offset as usize, constant.scalar)
    }

    /// The values of sorts that never change.
    fn constant_names(&self) -> impl Iterator<Item = Thing> {
        let globals = self.holding.iter().filter_map(|cell| {
            Some((cell.sort?, self.global(i64::from(cell.offset), cell.scalar)))
        });
        let locals = (0..self.shape.processes.len()).flat_map(move |process| {
            let constants = self.body(process).constants.iter();
            constants.filter_map(move |it| Some((it.sort?, self.constant(process, it))))
        });
        globals.chain(locals)
    }

    /// All that never changes, parts that lie together as one.
    fn constant_bytes(&self) -> Vec<(usize, Vec<u8>)> {
        let mut spans = Vec::new();
        let globals = self.symmetry.globals.iter().filter(|cell| cell.constant);
        let globals = globals.map(|cell| (self.header.globals + cell.offset as usize, cell.scalar));
        spans.extend(globals);
        for process in 0..self.shape.processes.len() {
            let start = self.variables(process);
            let constants = self.body(process).constants.iter();
            spans.extend(constants.map(|it| (start + it.offset as usize, it.scalar)));
        }
        let mut parts: Vec<(usize, Vec<u8>)> = Vec::new();
        for (at, scalar) in spans {
            let bytes = &self.state[at..at + scalar.bytes() as usize];
            match parts.last_mut() {
                Some((start, part)) if *start + part.len() == at => part.extend_from_slice(bytes),
                _ => parts.push((at, bytes.to_vec())),
            }
        }
        parts
    }

    /// What must be exchanged if two processes are, if that makes no difference.
    fn exchange(&self, one: usize, other: usize) -> Option<Vec<(Thing, Thing)>> {
        let mut exchange = Exchange::default();
        if !exchange.add((Sort::PROCESS, one as i32), (Sort::PROCESS, other as i32)) {
            return None;
        }
        let mut done = 0;
        while let Some(&(one, other)) = exchange.pairs.get(done) {
            done += 1;
            if !self.may_exchange(one, other) || !self.go_along(one, other, &mut exchange) {
                return None;
            }
        }
        self.changes_nothing(&exchange).then_some(exchange.pairs)
    }

    fn may_exchange(&self, one: Thing, other: Thing) -> bool {
        let ((sort, one), (_, other)) = (one, other);
        let index = |value: i32| usize::try_from(value).unwrap_or(usize::MAX);
        let alike = match sort {
            Sort::PROCESS => {
                let body = |it: i32| self.shape.processes.get(index(it)).map(|it| it.kind);
                body(one) == body(other) && body(one).is_some() && self.body(index(one)).may_move
            }
            Sort::CHANNEL => {
                let kind = |it: i32| self.shape.channels.get(index(it - 1)).map(|it| it.kind);
                kind(one) == kind(other) && kind(one).is_some() && self.symmetry.channels_move
            }
            _ => true,
        };
        let allowed = |value| value < MAX_VALUE && self.symmetry.allows(sort, value);
        alike && [one, other].into_iter().all(|value| value >= 0 && allowed(value))
    }

    /// Adds what goes along with two things.
    fn go_along(&self, one: Thing, other: Thing, exchange: &mut Exchange) -> bool {
        let mut fits = true;
        if one.0 == Sort::PROCESS {
            let (one, other) = (one.1 as usize, other.1 as usize);
            for constant in &self.body(one).constants {
                let values = (self.constant(one, constant), self.constant(other, constant));
                fits &= match constant.sort {
                    Some(sort) => exchange.add((sort, values.0), (sort, values.1)),
                    None => values.0 == values.1,
                };
            }
            let channels = |process| {
                let all = self.shape.channels.iter().enumerate();
                let own = all.filter(move |(_, it)| self.shape.creator(it) == Some(process));
                own.map(|(index, _)| (Sort::CHANNEL, index as i32 + 1))
            };
            for (one, other) in channels(one).zip(channels(other)) {
                fits &= exchange.add(one, other);
            }
        }
        // What is in arrays for the one, for ever, goes with what is in them for the other.
        for cell in self.keyed.get(&one).into_iter().flatten() {
            if let (Some(key), Some(sort)) = (cell.key, cell.sort) {
                let at = i64::from(cell.offset);
                let there = at + i64::from(other.1 - one.1) * i64::from(key.stride);
                let value = |at| self.global(at, cell.scalar);
                fits &= exchange.add((sort, value(at)), (sort, value(there)));
            }
        }
        // And so do processes that are told apart by them.
        for process in 0..self.shape.processes.len() {
            let thing = (Sort::PROCESS, process as i32);
            if exchange.of(thing) == thing && self.has(process, one) {
                let partner = (0..self.shape.processes.len()).find(|&it| {
                    let partner = (Sort::PROCESS, it as i32);
                    exchange.of(partner) == partner && self.would_become(process, it, exchange)
                });
                fits &= partner.is_some_and(|it| exchange.add(thing, (Sort::PROCESS, it as i32)));
            }
        }
        fits
    }

    /// Whether a thing is a constant of a process.
    fn has(&self, process: usize, thing: Thing) -> bool {
        self.body(process).constants.iter().any(|constant| {
            constant.sort == Some(thing.0) && self.constant(process, constant) == thing.1
        })
    }

    /// Whether the constants of a process become those of another, as far as that is known.
    fn would_become(&self, one: usize, other: usize, exchange: &Exchange) -> bool {
        let kind = |process: usize| self.shape.processes[process].kind;
        kind(one) == kind(other)
            && self.body(one).constants.iter().all(|constant| {
                let value = exchange.value(constant.sort, self.constant(one, constant));
                value == self.constant(other, constant)
            })
    }

    /// Whether all that never changes stays as it is.
    fn changes_nothing(&self, exchange: &Exchange) -> bool {
        let place = |offset: u32, key: Option<Key>| {
            key.map_or(i64::from(offset), |key| {
                let value = exchange.of((key.sort, key.value)).1;
                i64::from(offset) + i64::from(value - key.value) * i64::from(key.stride)
            })
        };
        let moved = exchange.with.keys().filter_map(|thing| self.keyed.get(thing)).flatten();
        let stays = |cell: &&Cell| {
            let before = self.global(i64::from(cell.offset), cell.scalar);
            let after = self.global(place(cell.offset, cell.key), cell.scalar);
            exchange.value(cell.sort, before) == after
        };
        moved.chain(&self.holding).all(stays)
            && (0..self.shape.processes.len()).all(|process| {
                let there = exchange.of((Sort::PROCESS, process as i32)).1 as usize;
                let (from, to) = (self.variables(process), self.variables(there));
                let body = self.body(process);
                body.constants.iter().all(|constant| {
                    let cell = body.cells.iter().find(|cell| cell.offset == constant.offset);
                    let at = place(constant.offset, cell.and_then(|cell| cell.key)) as usize;
                    let before = load(self.state, from + constant.offset as usize, constant.scalar);
                    let after = load(self.state, to + at, constant.scalar);
                    exchange.value(constant.sort, before) == after
                })
            })
    }
}
