//! A system of which only moves that matter are seen, whatever the search.
//!
//! *Idea*: in a state in which an actor [may move alone](System::alone) only its moves are told. Nobody is put
//! off for ever by that, in whatever order states are looked at, as cycles are broken where the actors
//! themselves [say](System::alone) (the condition of *static partial order reduction*, see
//! `spinward_program::independence`). So what is left out of a state depends on the state alone, and counts
//! are the same for every search of this system and any number of threads. Searches that see to it themselves
//! that nobody is put off for ever leave out more (`dfs.rs`, `bfs.rs`).

use std::ops::{ControlFlow, Range};

use spinward_machine::{Actor, Cycles, Flow, Footprint, Sink, Step, System, Violation};

/// The system with fewer moves.
pub struct Reduced<'a, S>(pub &'a S);

impl<S: System> System for Reduced<'_, S> {
    type Scratch = S::Scratch;

    fn scratch(&self) -> S::Scratch {
        self.0.scratch()
    }

    fn absorb(&self, scratch: &mut S::Scratch, other: S::Scratch) {
        self.0.absorb(scratch, other);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.0.initial(out);
    }

    fn names(&self) -> Vec<u8> {
        self.0.names()
    }

    fn adopt(&self, names: &[u8]) -> bool {
        self.0.adopt(names)
    }

    fn expand(&self, state: &[u8], scratch: &mut S::Scratch, sink: &mut dyn Sink) -> Flow {
        let mut from = 0;
        while let Some(actor) = self.0.alone(state, from, false) {
            if self.0.expand_alone(state, actor, scratch, sink)? {
                return Flow::Continue(());
            }
            from = actor + 1;
        }
        self.0.expand(state, scratch, sink)
    }

    fn reduces(&self) -> bool {
        true
    }

    fn has_actors(&self) -> bool {
        self.0.has_actors()
    }

    fn actors(&self, state: &[u8]) -> usize {
        self.0.actors(state)
    }

    fn position(&self, state: &[u8], actor: usize) -> Range<usize> {
        self.0.position(state, actor)
    }

    fn footprint(
        &self,
        state: &[u8],
        actor: usize,
        scratch: &mut S::Scratch,
        out: &mut Footprint,
    ) -> Actor {
        self.0.footprint(state, actor, scratch, out)
    }

    fn expands_some(&self) -> bool {
        self.0.expands_some()
    }

    fn expand_some(
        &self,
        state: &[u8],
        actors: &[usize],
        scratch: &mut S::Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<bool>> {
        // Nothing may be left out for actors that were not asked.
        if actors.iter().any(|&actor| self.0.alone(state, actor, false) == Some(actor)) {
            return ControlFlow::Continue(None);
        }
        self.0.expand_some(state, actors, scratch, sink)
    }

    fn expand_stuck(&self, state: &[u8], scratch: &mut S::Scratch, sink: &mut dyn Sink) -> Flow {
        self.0.expand_stuck(state, scratch, sink)
    }

    fn tell(&self, steps: Vec<Step>, violation: Violation) -> Vec<Step> {
        self.0.tell(steps, violation)
    }

    fn sets(&self) -> Option<u32> {
        self.0.sets()
    }

    fn pairs(&self) -> u32 {
        self.0.pairs()
    }

    fn component(&self, state: &[u8]) -> (u32, Cycles) {
        self.0.component(state)
    }

    fn layout(&self, state: &[u8]) -> u32 {
        self.0.layout(state)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        self.0.key(state)
    }
}
