//! One process at a time: its moves with all that is wrong with them, and what is wrong in a state itself.
//!
//! Whether others have moves is not asked, so nobody is told of a state in which there are none.

use super::Scratch;
use crate::Machine;
use crate::system::{Flow, Sink};

impl Machine {
    /// Tells the moves of a process, and what is wrong with them. There is no claim, and no `timeout`.
    pub(crate) fn explore_turn(
        &self,
        state: &[u8],
        process: usize,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> Flow {
        self.begin_expansion(scratch, sink)?;
        if self.explore_some(state, &[process], scratch, sink)?.is_some() {
            return Flow::Continue(());
        }
        self.look_at_shape(state, scratch);
        self.enter_state(state, scratch).restrict(process);
        self.follow_frames(None, scratch, sink)
    }

    /// Tells which invariants do not hold in a state.
    pub(crate) fn explore_invariants(
        &self,
        state: &[u8],
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> Flow {
        if self.options.invariants.is_empty() {
            return Flow::Continue(());
        }
        self.look_at_shape(state, scratch);
        let first = self.enter_state(state, scratch);
        for violation in self.broken_invariants(&first.work) {
            sink.violation(violation, &[])?;
        }
        Flow::Continue(())
    }
}
