//! Moves that were made before, of states that are packed.
//!
//! *Idea*: see [`Changes`]. The actors are processes, their position is their local state. What a move
//! depends on is learned when it is made for the second time; from then on successors are had from
//! packed states as they are, without unpacking them.

use std::sync::Arc;

use spinward_machine::{Actor, Footprint, System};
use spinward_store::{Changed, Changes, Found, Key, Lesson, Look, Packing};

use super::lessons::{Lessons, Told};
use crate::limits::{Limit, Memory};

/// Words of packed states whose moves are remembered, at most.
pub(super) const MAX_WORDS: usize = 8;

/// So many states packed with a mask come before their moves are remembered.
const OFTEN: u8 = 16;

/// An actor that looks at more places costs more than others.
const EFFORT: usize = 128;

/// What a thread remembers of the moves of actors.
pub(super) struct Remembered {
    changes: Changes,
    /// What it tells other threads, and they tell it.
    lessons: Arc<Lessons>,
    number: usize,
    /// How often all states had been given another form when it was learned.
    renewals: u64,
    found: Found,
    /// By mask: how many states packed with it came, up to a bound.
    seen: Vec<u8>,
    /// Room to work in.
    footprint: Footprint,
    state: Vec<u8>,
    written: Vec<u64>,
    list: Vec<[u64; 2]>,
}

/// What is remembered of the moves from a state.
pub(super) struct Moves<'a> {
    /// How many.
    pub count: usize,
    /// Actors whose moves are not known.
    pub unknown: &'a [usize],
}

impl Remembered {
    /// For each of so many threads; if they `reduce`, actors move alone that may.
    pub fn for_threads(
        threads: usize,
        memory: &Memory,
        reduce: bool,
    ) -> impl Iterator<Item = Self> + use<> {
        let (lessons, memory) = (Arc::new(Lessons::new(threads, memory)), memory.clone());
        (0..threads).map(move |number| Self::new(&memory, &lessons, (number, threads), reduce))
    }

    fn new(
        memory: &Memory,
        lessons: &Arc<Lessons>,
        (number, threads): (usize, usize),
        reduces: bool,
    ) -> Self {
        Self {
            changes: Changes::new(memory.budget(), threads, reduces),
            lessons: lessons.clone(),
            number,
            renewals: 0,
            found: Found::default(),
            seen: Vec::new(),
            footprint: Footprint::default(),
            state: Vec::new(),
            written: Vec::new(),
            list: Vec::new(),
        }
    }

    /// Makes ready for states that are packed with a mask, of which one is given; false if there is
    /// nothing to be remembered.
    pub fn begin<S: System>(
        &mut self,
        system: &S,
        (packing, renewals): (&Packing, u64),
        mask: usize,
        form: &[u64],
    ) -> bool {
        if self.renewals != renewals {
            self.renewals = renewals;
            self.changes.forget();
            self.seen.clear();
        }
        if let Some(told) = self.lessons.take(self.number) {
            told.iter().for_each(|told| self.hear(told));
        }
        // Where the moves of one actor cannot be told without those of the others, to learn them costs less.
        self.found.eager = !system.expands_some();
        if self.changes.knows(mask) {
            return true;
        }
        if self.changes.is_full() || !self.is_now_often(mask) {
            return false;
        }
        let state = &mut self.state;
        packing.read(form, state);
        let actors = system.actors(state);
        let positions: Vec<_> = (0..actors).map(|actor| system.position(state, actor)).collect();
        if actors > 0 {
            self.changes.prepare(packing, mask, &positions);
        }
        self.changes.knows(mask)
    }

    /// Takes note of a state packed with a mask. True once: to be ready for such states is worth the while
    /// from now on.
    fn is_now_often(&mut self, mask: usize) -> bool {
        self.seen.resize(self.seen.len().max(mask + 1), 0);
        let seen = &mut self.seen[mask];
        *seen = seen.saturating_add(1);
        *seen == OFTEN
    }

    /// Makes the moves of states packed with a mask that are all remembered, until there is a state of
    /// which they are not; how many, and how the look for those of that state ended.
    #[inline]
    pub fn apply<const W: usize>(
        &mut self,
        mask: usize,
        forms: &[Key<W>],
        changed: &mut Changed<'_>,
    ) -> (usize, Look) {
        self.changes.apply(mask, forms, &mut self.found, changed)
    }

    /// Goes on with the look for the moves of a state; none if something may be wrong with them, or they
    /// may be too many.
    pub fn find<S: System, const W: usize>(
        &mut self,
        system: &S,
        packing: &Packing,
        mask: usize,
        form: &[u64; W],
        look: Look,
        scratch: &mut S::Scratch,
    ) -> Option<Moves<'_>> {
        let mut look = look;
        while let Look::Learn(actor) = look {
            self.learn(system, packing, mask, form, actor, scratch);
            look = self.changes.look(mask, form, &mut self.found);
        }
        let found = &self.found;
        // Another one may move alone instead.
        if found.alone && !found.unknown.is_empty() {
            return None;
        }
        (look != Look::Wrong).then(|| Moves { count: found.count(), unknown: &found.unknown })
    }

    /// Makes the moves that were found of a state.
    pub fn make<const W: usize>(&self, mask: usize, form: &Key<W>, changed: &mut Changed<'_>) {
        self.changes.change(mask, form, &self.found, changed);
    }

    /// Calls with the moves of a state packed with a mask, from its last actor to its first: with the
    /// successor, whether that is packed with the mask, and the length of the move. False if not all moves
    /// are remembered; then there were no calls.
    pub fn each<S: System, const W: usize>(
        &mut self,
        system: &S,
        packing: &Packing,
        mask: usize,
        form: &[u64; W],
        scratch: &mut S::Scratch,
        call: impl FnMut(&[u64; W], bool, u32) -> Result<(), Limit>,
    ) -> Result<bool, Limit> {
        self.found.clear();
        let look = self.changes.look(mask, form, &mut self.found);
        let all = match self.find(system, packing, mask, form, look, scratch) {
            Some(Moves { count, unknown }) => count > 0 && unknown.is_empty(),
            None => false,
        };
        if all {
            self.changes.each(mask, form, &self.found, call)?;
        }
        Ok(all)
    }

    /// Learns what another thread has learned.
    #[cold]
    fn hear(&mut self, told: &Told) {
        match told.form.len() {
            1 => self.hear_form::<1>(told),
            2 => self.hear_form::<2>(told),
            3 => self.hear_form::<3>(told),
            4 => self.hear_form::<4>(told),
            5 => self.hear_form::<5>(told),
            6 => self.hear_form::<6>(told),
            7 => self.hear_form::<7>(told),
            MAX_WORDS => self.hear_form::<MAX_WORDS>(told),
            _ => {}
        }
    }

    fn hear_form<const W: usize>(&mut self, told: &Told) {
        let &Told { renewals, mask, actor, ref form, ref depends, ref order, .. } = told;
        if let Some(form) = form.first_chunk::<W>()
            && renewals == self.renewals
            && self.found.affords_lessons()
            && self.changes.lacks(mask, form, actor)
        {
            // As if it had been learned here: if little comes of lessons, nobody shall have twice as many.
            self.found.charge(1);
            self.changes.learn(mask, form, actor, (depends, order), told.lesson());
        }
    }

    #[cold]
    fn learn<S: System, const W: usize>(
        &mut self,
        system: &S,
        packing: &Packing,
        mask: usize,
        form: &[u64; W],
        actor: usize,
        scratch: &mut S::Scratch,
    ) {
        let Self { changes, lessons, found, footprint, state, written, list, .. } = self;
        packing.read(form, state);
        let known = system.footprint(state, actor, scratch, footprint);
        let Footprint { read, order, states, written: changed, lengths, effort, alone } = footprint;
        found.charge(*effort / EFFORT);
        let bytes = read.len();
        list.clear();
        let mut within = true;
        for (state, changed) in states.chunks_exact(bytes).zip(changed.chunks_exact(bytes)) {
            written.clear();
            packing.write(system.layout(state), state, written);
            within &= packing.mask(written).is_some_and(|other| other <= mask);
            let put = packing.bits(mask, changed);
            let values = packing.bits(mask, state);
            list.extend(put.iter().zip(values).map(|(put, value)| [!put, put & value]));
        }
        let lesson = match known {
            Actor::Known if within => Lesson::Changes { changes: list, lengths, alone: *alone },
            Actor::Known | Actor::Unknown => Lesson::Unknown,
            Actor::Wrong => Lesson::Wrong,
        };
        let depends = (&packing.bits(mask, read)[..], &*order);
        lessons.tell(self.number, (self.renewals, mask, form), actor, depends, lesson);
        changes.learn(mask, form, actor, depends, lesson);
    }
}
