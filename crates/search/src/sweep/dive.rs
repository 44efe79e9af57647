//! A depth-first search that can be left and gone on with: looks for an error while a sweep waits.
//!
//! *Idea*: that of [`dfs`](crate::dfs), with what makes a [sweep](super::all_states) fast: states are packed, lie in the table
//! itself, and their moves are [remembered](super::remembered). The successors of a state wait on the stack as they are, the first
//! on top; a state counts as visited when the search comes to it, so that the order is that of a depth-first search.
//!
//! *Invariant*: what waits and is marked open are, from the bottom, the states of the current run. In which form states are, and
//! what is remembered, makes no difference to their order.
//!
//! *Cost*: about twice the time of the sweep for a state; besides the table two words more than a packed state has for each
//! successor that waits.

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};
use spinward_store::Flat;

use super::form::{Form, Packed, Renewal};
use super::known::Stack;
use super::remembered::Remembered;
use crate::buffer::Buffer;
use crate::limits::{Limit, MAX_LENGTH, Memory, Watch, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::rebuild;

/// What is not counted otherwise: pages of which nothing is used yet.
const RESERVE: u64 = 2 << 20;

/// The search, and what it knows so far.
pub(super) struct Dive<'a, S: System> {
    system: &'a S,
    form: Packed<'a, S>,
    visited: Flat,
    stack: Stack,
    remembered: Remembered,
    /// How often all states were given another form.
    renewals: u64,
    fresh: Fresh,
    counts: Counts,
    memory: Memory,
    /// Room to work in.
    state: Vec<u8>,
    words: Vec<u64>,
}

/// What is known of a form on the stack.
#[derive(Clone, Copy)]
struct Entry {
    bytes: u32,
    /// The length of the run up to here; the highest bit tells whether it is open.
    length: u32,
}

impl Entry {
    const OPEN: u32 = !MAX_LENGTH;

    fn of(word: u64) -> Self {
        Self { bytes: (word >> u32::BITS) as u32, length: word as u32 }
    }

    fn word(self) -> u64 {
        u64::from(self.bytes) << u32::BITS | u64::from(self.length)
    }

    fn is_open(self) -> bool {
        self.length & Self::OPEN != 0
    }

    fn open(self) -> Self {
        Self { length: self.length | Self::OPEN, ..self }
    }

    fn length(self) -> u32 {
        self.length & MAX_LENGTH
    }
}

/// The successors of one state, in order.
struct Fresh {
    words: Buffer<u64>,
    /// Where each ends, its hash, and what is kept with it.
    states: Buffer<(usize, u64, Entry)>,
}

impl Fresh {
    fn clear(&mut self) {
        self.words.clear();
        self.states.clear();
    }

    #[inline]
    fn push(&mut self, form: &[u64], entry: Entry) -> Result<(), Limit> {
        self.words.extend_from_slice(form)?;
        self.states.push((self.words.len(), Flat::hash(form), entry))
    }
}

/// An error, and the length of the run to it.
type Met = (Violation, u32);

impl<'a, S: System> Dive<'a, S> {
    /// At the start, with memory that others use too.
    pub fn new(system: &'a S, memory: &Memory) -> Result<Self, Limit> {
        let reduces = system.reduces();
        let remembered = Remembered::for_threads(1, memory, reduces).next();
        memory.take(RESERVE)?;
        let mut dive = Self {
            system,
            form: Packed::new(system),
            visited: Flat::new(Packed::<S>::DENSITY, memory.budget()),
            stack: Stack::new(memory),
            remembered: remembered.expect("there is one thread"),
            renewals: 0,
            fresh: Fresh { words: Buffer::new(memory), states: Buffer::new(memory) },
            counts: Counts { transitions: 1, ..Counts::default() },
            memory: memory.clone(),
            state: Vec::new(),
            words: Vec::new(),
        };
        system.initial(&mut dive.state);
        let bytes = dive.form.encode(&dive.state, &mut dive.words)? as u32;
        dive.stack.push(&dive.words, Entry { bytes, length: 0 }.word())?;
        Ok(dive)
    }

    /// Whether nothing is left to visit.
    pub fn is_over(&self) -> bool {
        self.stack.top_with().is_none()
    }

    /// Goes on until so many states were visited, all in all; what was found, if that is an error. After a limit it is over, and with
    /// more bytes than `most` in use, by whomever.
    pub fn go_on(
        &mut self,
        states: u64,
        most: u64,
        scratch: &mut S::Scratch,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Outcome>, Limit> {
        let mut watch = Watch::new(&request.limits, progress);
        while self.counts.states < states
            && let Some((form, word)) = self.stack.top_with()
        {
            let entry = Entry::of(word);
            if entry.is_open() {
                self.stack.pop();
                continue;
            }
            self.words.clear();
            self.words.extend_from_slice(form);
            let hash = Flat::hash(&self.words);
            if !self.visited.insert(&self.words, entry.bytes as usize, hash)? {
                self.stack.pop();
                continue;
            }
            self.stack.set_top(entry.open().word());
            self.counts.states += 1;
            self.counts.depth = self.counts.depth.max(entry.length().into());
            watch.tick(&self.counts, entry.length(), &self.memory)?;
            if self.memory.used() > most {
                return Err(Limit::Memory);
            }
            if let Some(met) = self.expand(entry.length(), scratch, &watch)? {
                drop(watch);
                return Ok(Some(request.limits.undisturbed(|| self.outcome(met, scratch))));
            }
            self.push_fresh()?;
            self.renew_if_due()?;
        }
        Ok(None)
    }

    /// Expands the state whose words are at hand, after a run of this length; what was met, if that is an error.
    fn expand(
        &mut self,
        length: u32,
        scratch: &mut S::Scratch,
        watch: &Watch<'_>,
    ) -> Result<Option<Met>, Limit> {
        self.fresh.clear();
        self.counts.expanded += 1;
        let all_remembered = match self.words.len() {
            1 => self.expand_packed::<1>(length, scratch)?,
            2 => self.expand_packed::<2>(length, scratch)?,
            3 => self.expand_packed::<3>(length, scratch)?,
            4 => self.expand_packed::<4>(length, scratch)?,
            5 => self.expand_packed::<5>(length, scratch)?,
            6 => self.expand_packed::<6>(length, scratch)?,
            7 => self.expand_packed::<7>(length, scratch)?,
            8 => self.expand_packed::<8>(length, scratch)?,
            _ => false,
        };
        if all_remembered {
            return Ok(None);
        }
        let Self { system, form, fresh, memory, state, .. } = self;
        form.decode(&self.words, state);
        self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
        let mut expansion = Expansion { form, fresh, memory, length, met: None, limit: None };
        let flow = system.expand(state, scratch, &mut expansion);
        let Expansion { met, limit, .. } = expansion;
        if met.is_none() {
            watch.broken_off(limit, flow)?;
        }
        Ok(met)
    }

    /// Makes the moves of the state whose words are at hand if all are remembered; whether they are.
    fn expand_packed<const W: usize>(
        &mut self,
        length: u32,
        scratch: &mut S::Scratch,
    ) -> Result<bool, Limit> {
        let Self { system, form, remembered, fresh, state, words, .. } = self;
        let (Some(packing), Ok(form)) = (form.packing(), <[u64; W]>::try_from(&words[..])) else {
            return Ok(false);
        };
        let Some(mask) = packing.mask(&form) else {
            return Ok(false);
        };
        if !remembered.begin(*system, (packing, self.renewals), mask, &form) {
            return Ok(false);
        }
        let own_bytes = packing.bytes(mask) as u32;
        remembered.each(*system, packing, mask, &form, scratch, |successor, own, steps| {
            let length = longer(length, steps as usize);
            if own {
                return fresh.push(successor, Entry { bytes: own_bytes, length });
            }
            packing.read(successor, state);
            words.clear();
            let (bytes, _) = packing.write(system.layout(state), state, words);
            fresh.push(words, Entry { bytes: bytes as u32, length })
        })
    }

    /// Puts the successors that were not visited on the stack, the first on top.
    fn push_fresh(&mut self) -> Result<(), Limit> {
        let Self { visited, stack, fresh, counts, .. } = self;
        counts.transitions += fresh.states.len() as u64;
        // So that waits for memory overlap.
        for &(_, hash, Entry { bytes, .. }) in fresh.states.iter() {
            let spot = visited.locate(bytes as usize, hash);
            visited.prefetch(bytes as usize, hash, spot);
        }
        for (at, &(end, hash, entry)) in fresh.states.iter().enumerate().rev() {
            let start = at.checked_sub(1).map_or(0, |before| fresh.states[before].0);
            let form = &fresh.words[start..end];
            if !visited.contains(form, entry.bytes as usize, hash) {
                stack.push(form, entry.word())?;
            }
        }
        Ok(())
    }

    /// Gives states another form, if it is time to and there is a better one.
    fn renew_if_due(&mut self) -> Result<(), Limit> {
        let Self { form, visited, stack, memory, state, words, .. } = self;
        if !form.is_due(visited.len()) {
            return Ok(());
        }
        let (mut new, some) = match Form::renewal(&mut [&mut *form], &[&*visited]) {
            Renewal::None => return Ok(()),
            Renewal::Some(new, bytes) => (new, Some(bytes)),
            Renewal::All(new) => (new, None),
        };
        let counts =
            |number: usize| some.as_ref().is_none_or(|some| some.get(number) == Some(&true));
        Flat::replace(
            &mut [visited],
            counts,
            |_| 0,
            |old, out| {
                form.decode(old, state);
                new.encode(state, out)
            },
        )?;
        // What waits is not among those that are visited, and must be in the form in which it would be.
        let old = std::mem::replace(stack, Stack::new(memory));
        old.each(|old, word| {
            form.decode(old, state);
            words.clear();
            let bytes = new.encode(state, words)? as u32;
            stack.push(words, Entry { bytes, ..Entry::of(word) }.word())
        })?;
        self.renewals += u64::from(some.is_none());
        form.become_like(&new);
        Ok(())
    }

    /// The run to an error that was met on the way out of the last state that is open.
    fn outcome(&mut self, (violation, total): Met, scratch: &mut S::Scratch) -> Outcome {
        let Self { system, form, stack, memory, .. } = self;
        let open = stack.iter().filter(|&(_, word)| Entry::of(word).is_open());
        let path = open.map(|(words, word)| {
            let mut state = Vec::new();
            form.decode(words, &mut state);
            (state, Entry::of(word).length())
        });
        let steps = rebuild(*system, scratch, path, violation, total, false).steps;
        let found = Found { violation, steps, cycle: None, occurrences: 1, shortest: false };
        let counts = Counts { errors: 1, memory: memory.peak(), ..self.counts };
        let (errors, stopped) = (vec![found], Some(Stopped::Errors));
        Outcome { errors, met: 0, counts, stopped, truncated: false }
    }
}

impl<S: System> Drop for Dive<'_, S> {
    fn drop(&mut self) {
        self.memory.give_back(RESERVE);
    }
}

/// Takes the successors of one state.
struct Expansion<'e, 'a, S> {
    form: &'e mut Packed<'a, S>,
    fresh: &'e mut Fresh,
    memory: &'e Memory,
    /// The length of the run to the state.
    length: u32,
    met: Option<Met>,
    limit: Option<Limit>,
}

impl<S: System> Expansion<'_, '_, S> {
    fn add(&mut self, state: &[u8], steps: &[Step]) -> Result<(), Limit> {
        let Fresh { words, states } = &mut *self.fresh;
        let start = words.len();
        let longest = Packed::<S>::longest(state.len());
        let bytes = self.form.encode(state, words.with_room(longest)?)? as u32;
        let entry = Entry { bytes, length: longer(self.length, length(steps)) };
        states.push((words.len(), Flat::hash(&words[start..]), entry))
    }
}

impl<S: System> Sink for Expansion<'_, '_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let added = self.add(state, steps);
        unless_hit(added, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.met = Some((violation, longer(self.length, length(steps))));
        Flow::Break(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.memory.lend(bytes as u64), &mut self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::toy::Toy;
    use super::*;
    use crate::dfs::dfs;
    use crate::limits::Limits;

    /// A system all of whose expansions are noted.
    struct Noted(Toy);

    impl System for Noted {
        type Scratch = Vec<Vec<u8>>;

        fn scratch(&self) -> Self::Scratch {
            Vec::new()
        }

        fn initial(&self, out: &mut Vec<u8>) {
            self.0.initial(out);
        }

        fn expand(&self, state: &[u8], noted: &mut Self::Scratch, sink: &mut dyn Sink) -> Flow {
            noted.push(state.to_vec());
            self.0.expand(state, &mut 0, sink)
        }
    }

    fn memory() -> Memory {
        Memory::new(Some(1 << 30))
    }

    #[test]
    fn its_order_is_that_of_a_depth_first_search_however_often_it_is_left() {
        for toy in [Toy::small(3), Toy::small(4), Toy::large(1), Toy::large(2)] {
            let toy = Noted(Toy { fails: false, ..toy });
            let (mut expected, mut noted) = (Vec::new(), Vec::new());
            let outcome = dfs(&toy, &mut expected, &Request::default(), &mut |_| {});
            assert!(outcome.is_complete());
            let mut dive = Dive::new(&toy, &memory()).unwrap();
            for states in [0, 1, 7, 100, 1_000, 1_001, u64::MAX] {
                let found =
                    dive.go_on(states, u64::MAX, &mut noted, &Request::default(), &mut |_| {});
                assert!(found.unwrap().is_none());
                assert_eq!(noted.len() as u64, states.min(outcome.counts.states));
            }
            assert!(noted == expected);
            assert_eq!(dive.counts.transitions, outcome.counts.transitions);
        }
    }

    #[test]
    fn what_is_remembered_changes_nothing() {
        for toy in [Toy::small(3), Toy::large(1), Toy::large(2)] {
            let toy = Toy { fails: false, ..toy };
            let forgetful = Toy { tells: false, ..toy };
            let (mut expansions, mut all) = (0, 0);
            let mut dive = Dive::new(&toy, &memory()).unwrap();
            let mut twin = Dive::new(&forgetful, &memory()).unwrap();
            for states in (100..20_000).step_by(100) {
                assert!(
                    dive.go_on(states, u64::MAX, &mut expansions, &Request::default(), &mut |_| {})
                        .is_ok()
                );
                assert!(
                    twin.go_on(states, u64::MAX, &mut all, &Request::default(), &mut |_| {})
                        .is_ok()
                );
                assert_eq!(dive.counts, twin.counts);
            }
            assert!(expansions < all * 3 / 4, "{expansions} of {all}");
        }
    }

    #[test]
    fn what_it_finds_is_there() {
        let mut found = 0;
        for toy in (0..40).map(Toy::small).chain([2, 8].map(Toy::large)) {
            let memory = memory();
            let mut dive = Dive::new(&toy, &memory).unwrap();
            if let Some(outcome) =
                dive.go_on(50_000, u64::MAX, &mut 0, &Request::default(), &mut |_| {}).unwrap()
            {
                let [error] = &outcome.errors[..] else { panic!("one error is enough") };
                assert!(toy.leads_to(&error.steps, error.violation));
                found += 1;
            }
            drop(dive);
            assert_eq!(memory.used(), 0);
        }
        assert!(found > 30, "{found}");
    }

    #[test]
    fn it_leaves_most_of_the_memory() {
        let toy = Toy { fails: false, ..Toy::large(1) };
        let memory = Memory::new(Some(6 << 20));
        let mut dive = Dive::new(&toy, &memory).unwrap();
        let over = dive.go_on(u64::MAX, 3 << 20, &mut 0, &Request::default(), &mut |_| {});
        assert_eq!(over.err(), Some(Limit::Memory));
        assert!(dive.counts.states > 5_000, "{:?}", dive.counts);
        assert!(memory.peak() < 4 << 20, "{}", memory.peak());
        drop(dive);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let toy = Toy { fails: false, ..Toy::large(1) };
        let request = Request { limits: Limits::default(), ..Request::default() };
        request.limits.stop.ask();
        let over = Dive::new(&toy, &memory()).unwrap().go_on(
            u64::MAX,
            u64::MAX,
            &mut 0,
            &request,
            &mut |_| {},
        );
        assert_eq!(over.err(), Some(Limit::Interrupt));
    }
}
