//! A system of which only one error is seen, whatever else is wrong with it.
//!
//! *Idea*: who looks for a shorter run to an error that is known wants none to another one, which may be much
//! nearer, and would end the search or lower its bound.

use spinward_machine::{Flow, Marks, Sink, Step, System, Violation};

use crate::outcome::Place;

/// The system in which nothing is wrong but at one place.
pub struct Aimed<'a, S> {
    /// The system.
    pub system: &'a S,
    /// Where it goes wrong, and how.
    pub place: Place,
}

impl<S: System> System for Aimed<'_, S> {
    type Scratch = S::Scratch;

    fn scratch(&self) -> S::Scratch {
        self.system.scratch()
    }

    fn absorb(&self, scratch: &mut S::Scratch, other: S::Scratch) {
        self.system.absorb(scratch, other);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.system.initial(out);
    }

    fn names(&self) -> Vec<u8> {
        self.system.names()
    }

    fn adopt(&self, names: &[u8]) -> bool {
        self.system.adopt(names)
    }

    fn expand(&self, state: &[u8], scratch: &mut S::Scratch, sink: &mut dyn Sink) -> Flow {
        self.system.expand(state, scratch, &mut Only { sink, place: self.place })
    }

    fn tell(&self, steps: Vec<Step>, violation: Violation) -> Vec<Step> {
        self.system.tell(steps, violation)
    }

    fn layout(&self, state: &[u8]) -> u32 {
        self.system.layout(state)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        self.system.key(state)
    }
}

/// Takes all successors, and of what is wrong only what is at one place.
struct Only<'a> {
    sink: &'a mut dyn Sink,
    place: Place,
}

impl Sink for Only<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.sink.successor(state, steps)
    }

    fn marked(&mut self, state: &[u8], steps: &[Step], marks: Marks) -> Flow {
        self.sink.marked(state, steps, marks)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        if Place::of(violation) == self.place {
            self.sink.violation(violation, steps)
        } else {
            Flow::Continue(())
        }
    }

    fn endless(&mut self, steps: &[Step]) {
        self.sink.endless(steps);
    }

    fn needs_steps(&self) -> bool {
        self.sink.needs_steps()
    }

    fn working(&mut self, bytes: usize) -> Flow {
        self.sink.working(bytes)
    }
}
