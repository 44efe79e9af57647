//! The reference interpreter.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use spinward_program::Program;
use spinward_program::ir::BodyId;

use crate::system::{Flow, Sink, Step, System};
use crate::view::View;
use crate::violation::Violation;

/// What is watched.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The claim that moves in step with the system, if any.
    pub claim: Option<BodyId>,
    /// Whether an invalid end state is a violation (never with a claim).
    pub end_states: bool,
    /// Whether assertions are looked at.
    pub assertions: bool,
    /// Whether the model's trace is looked at.
    pub trace: bool,
}

/// The meaning of a program.
#[derive(Debug)]
pub struct Machine {
    program: Arc<Program>,
}

/// A state between two steps of a run, also inside of an atomic sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The state.
    pub state: Vec<u8>,
    /// The process inside an atomic sequence: only it moves, unless it cannot.
    pub exclusive: Option<u16>,
    /// Whether the claim has moved and the system is next.
    pub system_turn: bool,
}

/// One step a run may take next.
#[derive(Clone, Debug)]
pub struct Move {
    /// Its line in the trail; two for a rendezvous, the sender's first.
    pub steps: Vec<Step>,
    /// Where it leads; none if a violation ends the run.
    pub next: Option<Config>,
    /// What goes wrong in it.
    pub violations: Vec<Violation>,
}

/// Room to work in.
#[derive(Debug, Default)]
pub struct Scratch {
    /// By transition: whether it was taken, inside of a `d_step` too.
    pub taken: Vec<bool>,
}

impl Machine {
    /// The meaning of `program`. A long atomic sequence looks at `stop` now and then and gives up
    /// when it is set.
    pub fn new(program: Arc<Program>, _options: Options, _stop: Arc<AtomicBool>) -> Self {
        Self { program }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Where every run starts.
    pub fn start(&self) -> Config {
        Config {
            state: Vec::new(),
            exclusive: None,
            system_turn: false,
        }
    }

    /// All steps a run may take next, in SPIN's order, and what is wrong if there are none.
    pub fn moves(&self, _config: &Config, _scratch: &mut Scratch) -> (Vec<Move>, Vec<Violation>) {
        (Vec::new(), Vec::new())
    }

    /// A state in the model's own terms.
    pub fn view(&self, _state: &[u8]) -> View {
        View {
            globals: Vec::new(),
            hidden: Vec::new(),
            processes: Vec::new(),
            channels: Vec::new(),
            claim: None,
            last: None,
        }
    }

    /// What a step prints (`printf`), if it is taken in this state.
    pub fn output(&self, _state: &[u8], _step: Step) -> Option<String> {
        None
    }
}

impl System for Machine {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch::default()
    }

    fn initial(&self, _out: &mut Vec<u8>) {}

    fn expand(&self, _state: &[u8], _scratch: &mut Scratch, _sink: &mut dyn Sink) -> Flow {
        Flow::Continue(())
    }
}
