//! Several sets made one.
//!
//! *Idea*: sets are awaited one after the other. A state is one of the system and the number of the set awaited
//! next, in a byte behind it; an edge that is in the sets awaited moves on, and is marked if it is in the last
//! one (Couvreur, Duret-Lutz, Poitrenaud, SPIN 2005, section 2, for marks on edges). Where there are no sets
//! every edge is marked.
//!
//! *Invariant*: a run meets all sets again and again if and only if the same run here meets marked edges again
//! and again.
//!
//! For checks that need marks on states there may also be, in the highest bit of that byte, whether the edge to
//! the state was marked.
//!
//! *Cost*: a byte for each state, and at worst as many states for each as there are sets.

use std::time::Instant;

use spinward_guide::{Guide, Room, Way};
use spinward_machine::{Cycles, Flow, Marks, Sink, Step, System, Violation, system::length};

use super::scc::scc;
use crate::outcome::{Found, Outcome, Request};
use crate::start::{Algorithm, Start};

/// Runs a search that needs one set.
///
/// Where several are made one, a cycle may have to go round more than once until it awaits what it did before. So if one
/// is found, the run that is told is one of the system itself.
pub(crate) fn with_one_set<A: Algorithm, S: System>(algorithm: A, start: Start<'_, S>) -> Outcome {
    if has_one_set(start.system) {
        return start.run(algorithm);
    }
    let Start { system, scratch, request, progress } = start;
    let several = system.sets().is_some_and(|sets| sets > 1);
    let began = Instant::now();
    let of_one = Request { shortest: request.shortest && !several, ..request.clone() };
    let start = Start { system: &Degeneralized::new(system), scratch, request: &of_one, progress };
    let mut outcome = start.run(algorithm);
    let is_cycle = |found: &&mut Found| found.violation == Violation::Cycle;
    let Some(found) = outcome.errors.iter_mut().find(is_cycle).filter(|_| several) else {
        return outcome;
    };
    let own = scc(system, scratch, &request.later(began.elapsed()), progress);
    let is_shorter =
        |it: &Found| it.violation == Violation::Cycle && length(&it.steps) <= length(&found.steps);
    outcome.counts.memory = outcome.counts.memory.max(own.counts.memory);
    if let Some(own) = own.errors.into_iter().find(is_shorter) {
        *found = Found { occurrences: found.occurrences, ..own };
    }
    outcome
}

/// Whether the sets of a system need not be made one.
pub(crate) fn has_one_set(system: &impl System) -> bool {
    matches!(system.sets(), None | Some(1))
}

/// Guides through a system whose sets were made one, as through the system itself.
pub(crate) struct GuideOfSystem<'g>(pub &'g dyn Guide);

impl Guide for GuideOfSystem<'_> {
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        self.0.estimate(split(state).0, way, room)
    }
}

/// The system with one set.
pub struct Degeneralized<'a, S> {
    system: &'a S,
    sets: u32,
    /// Whether states know if the edge to them was marked.
    on_states: bool,
}

/// Set if the edge to a state was marked.
const MARKED: u8 = 1 << 7;

impl<'a, S: System> Degeneralized<'a, S> {
    /// With the sets of a system made one.
    pub fn new(system: &'a S) -> Self {
        Self { system, sets: system.sets().unwrap_or(1), on_states: false }
    }

    /// The same; all edges to a state are marked, or none.
    pub fn on_states(system: &'a S) -> Self {
        Self { on_states: true, ..Self::new(system) }
    }

    /// What is awaited after an edge with these marks, and whether all sets were met with it.
    fn next(&self, awaited: u8, marks: Marks) -> (u8, bool) {
        let met_from = |from: u32| {
            let rest = marks.0.checked_shr(from).unwrap_or(0);
            (from + rest.trailing_ones()).min(self.sets)
        };
        let reached = met_from(awaited.into());
        if reached < self.sets {
            return (reached as u8, false);
        }
        // The edge may be in the first ones, too, which are awaited again.
        let again = met_from(0);
        (if again < self.sets { again as u8 } else { 0 }, true)
    }
}

/// The state of the system, and which set is awaited.
fn split(state: &[u8]) -> (&[u8], u8) {
    match state.split_last() {
        Some((&last, inner)) => (inner, last & !MARKED),
        None => (state, 0),
    }
}

impl<S: System> System for Degeneralized<'_, S> {
    type Scratch = S::Scratch;

    fn scratch(&self) -> S::Scratch {
        self.system.scratch()
    }

    fn absorb(&self, scratch: &mut S::Scratch, other: S::Scratch) {
        self.system.absorb(scratch, other);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.system.initial(out);
        out.push(0);
    }

    fn names(&self) -> Vec<u8> {
        self.system.names()
    }

    fn adopt(&self, names: &[u8]) -> bool {
        self.system.adopt(names)
    }

    fn expand(&self, state: &[u8], scratch: &mut S::Scratch, sink: &mut dyn Sink) -> Flow {
        let (inner, awaited) = split(state);
        let mut sink = Awaiting { system: self, awaited, sink, state: Vec::new() };
        self.system.expand(inner, scratch, &mut sink)
    }

    fn tell(&self, steps: Vec<Step>, violation: Violation) -> Vec<Step> {
        self.system.tell(steps, violation)
    }

    fn sets(&self) -> Option<u32> {
        Some(1)
    }

    fn component(&self, state: &[u8]) -> (u32, Cycles) {
        self.system.component(split(state).0)
    }

    fn layout(&self, state: &[u8]) -> u32 {
        self.system.layout(split(state).0)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        let inner = split(state).0;
        &state[inner.len() - self.system.key(inner).len()..]
    }
}

/// Adds to each successor what it awaits.
struct Awaiting<'s, S> {
    system: &'s Degeneralized<'s, S>,
    awaited: u8,
    sink: &'s mut dyn Sink,
    /// Room for a successor.
    state: Vec<u8>,
}

impl<S: System> Sink for Awaiting<'_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.marked(state, steps, Marks::default())
    }

    fn marked(&mut self, state: &[u8], steps: &[Step], marks: Marks) -> Flow {
        let (awaited, all) = self.system.next(self.awaited, marks);
        self.state.clear();
        self.state.extend_from_slice(state);
        self.state.push(if all && self.system.on_states { awaited | MARKED } else { awaited });
        self.sink.marked(&self.state, steps, if all { Marks::one(0) } else { Marks::default() })
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.sink.violation(violation, steps)
    }

    fn needs_steps(&self) -> bool {
        self.sink.needs_steps()
    }

    fn working(&mut self, bytes: usize) -> Flow {
        self.sink.working(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has sets, and nothing else.
    struct Sets(u32);

    impl System for Sets {
        type Scratch = ();

        fn scratch(&self) {}

        fn initial(&self, out: &mut Vec<u8>) {
            out.extend([9, 5]);
        }

        fn expand(&self, _state: &[u8], _scratch: &mut (), _sink: &mut dyn Sink) -> Flow {
            Flow::Continue(())
        }

        fn sets(&self) -> Option<u32> {
            Some(self.0)
        }

        fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
            &state[1..]
        }
    }

    #[test]
    fn sets_are_awaited_one_after_the_other() {
        let system = &Sets(3);
        let one = Degeneralized::new(system);
        assert_eq!(one.next(0, Marks(0b110)), (0, false));
        assert_eq!(one.next(0, Marks(0b011)), (2, false));
        assert_eq!(one.next(2, Marks(0b100)), (0, true));
        assert_eq!(one.next(1, Marks(0b111)), (0, true));
        assert_eq!(one.next(2, Marks(0b101)), (1, true));
        assert_eq!(Degeneralized::new(&Sets(0)).next(0, Marks::default()), (0, true));
        let most = &Sets(Marks::MOST);
        let most = Degeneralized::new(most);
        assert_eq!(most.next(127, Marks::one(127)), (0, true));
        assert_eq!(most.next(0, Marks::first(127)), (127, false));
    }

    #[test]
    fn what_is_awaited_is_part_of_the_key() {
        let system = &Sets(3);
        let one = Degeneralized::new(system);
        let mut state = Vec::new();
        one.initial(&mut state);
        assert_eq!(one.key(&state), [5, 0]);
        assert_eq!(one.layout(&state), 2);
    }
}
