//! The seam between the machine and the searches: a graph whose nodes are strings of bytes.

use std::ops::{ControlFlow, Range};

use spinward_program::ir::TransitionId;
use spinward_program::movers::Mover;

use crate::violation::Violation;

/// One line of a trail: a process takes a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Who moves: a process's `_pid`, or [`Step::CLAIM`].
    pub process: u16,
    /// Which transition.
    pub transition: TransitionId,
}

impl Step {
    /// The never claim, as a mover.
    pub const CLAIM: u16 = u16::MAX;

    /// Whether the never claim moves.
    pub fn is_claim(self) -> bool {
        self.process == Self::CLAIM
    }
}

/// Whether to go on.
pub type Flow = ControlFlow<()>;

/// The length of a run as the user sees it: each statement of an atomic sequence counts, a
/// rendezvous is two steps as in SPIN's trails, the moves of a claim do not count.
pub fn length(steps: &[Step]) -> usize {
    steps.iter().filter(|step| !step.is_claim()).count()
}

/// The sets of edges that an edge is in, by number, of those that an infinite run must meet again and again
/// to be an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marks(pub u128);

impl Marks {
    /// The most sets there can be.
    pub const MOST: u32 = u128::BITS;

    /// Of the first sets, so many.
    pub fn first(sets: u32) -> Self {
        Self(if sets == Self::MOST { u128::MAX } else { (1 << sets) - 1 })
    }

    /// Of one set.
    pub fn one(set: u32) -> Self {
        Self(1 << set)
    }

    /// Those of both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are not among others.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of these are there.
    pub fn has_all(self, wanted: Self) -> bool {
        wanted.0 & !self.0 == 0
    }

    /// Whether some of these are there.
    pub fn has_any(self, wanted: Self) -> bool {
        wanted.0 & self.0 != 0
    }
}

/// What is known of the cycles of those states that are in one component of what judges them, such as the
/// automaton of a never claim: no cycle leads out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cycles {
    /// None is an error.
    Fine,
    /// Each is an error.
    Wrong,
    /// It depends on their marks.
    Judged,
}

/// Who takes the successors of a state.
pub trait Sink {
    /// A successor, and the steps that lead to it: more than one for an atomic sequence, a
    /// rendezvous, or when a claim moves too.
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow;

    /// A successor, with the marks of the edge to it, in systems that [judge](System::sets) infinite runs.
    fn marked(&mut self, state: &[u8], steps: &[Step], _marks: Marks) -> Flow {
        self.successor(state, steps)
    }

    /// Something wrong in the state (no steps) or on the way to a successor (the last step is where
    /// it went wrong). May come many times for one state.
    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow;

    /// These steps begin an atomic sequence that may go on for ever: whoever moves could, though no successor
    /// tells it.
    fn endless(&mut self, _steps: &[Step]) {}

    /// Whether it looks at the steps to successors; if not, it may be told fewer.
    fn needs_steps(&self) -> bool {
        true
    }

    /// So many bytes are in use by the system itself: for what is going on inside of an atomic sequence,
    /// which may be long and may branch, and for what it knows of all states. Comes now and then, so
    /// that whoever counts memory can end it.
    fn working(&mut self, _bytes: usize) -> Flow {
        Flow::Continue(())
    }
}

/// What the moves of one actor depend on, and what they do.
#[derive(Debug, Default)]
pub struct Footprint {
    /// By byte of the state: all bits if the moves depend on it.
    pub read: Vec<u8>,
    /// The first of these bytes in the order in which they are looked at: to compute an index, and others.
    pub order: [Vec<u32>; 2],
    /// Where the moves lead, one state behind the other.
    pub states: Vec<u8>,
    /// By byte of these: all bits if the move put it there; else it is as in the state moved from.
    pub written: Vec<u8>,
    /// By move: how many steps it takes.
    pub lengths: Vec<u32>,
    /// How many places were looked at and changed to find that out, on the longest way.
    pub effort: usize,
    /// Whether the actor [may move alone](System::alone).
    pub alone: bool,
}

/// What is known of the moves of one actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// All, and nothing is wrong with them.
    Known,
    /// They may be too many, or lead to states of other layouts.
    Unknown,
    /// Something is wrong with them.
    Wrong,
}

/// A graph to search.
///
/// Equal [keys](System::key) mean equal states. `expand` calls the sink in SPIN's order: processes
/// from the youngest to the oldest, the transitions of each as written.
pub trait System: Sync {
    /// Room to work in, one for each thread; also collects which transitions were taken.
    type Scratch: Send;

    /// Fresh room.
    fn scratch(&self) -> Self::Scratch;

    /// Adds to one room what another one collected, when a thread is done.
    fn absorb(&self, _scratch: &mut Self::Scratch, _other: Self::Scratch) {}

    /// The initial state.
    fn initial(&self, out: &mut Vec<u8>);

    /// All successors of a state and all that is wrong in it.
    fn expand(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut dyn Sink) -> Flow;

    /// Whether states have [actors](System::actors), perhaps not from the start. Then every move takes a
    /// step, and a state's successors are told from its last actor to its first.
    fn has_actors(&self) -> bool {
        false
    }

    /// How many actors a state has, of which each has moves of its own; none if these cannot be told
    /// apart.
    fn actors(&self, _state: &[u8]) -> usize {
        0
    }

    /// Which bytes of a state say best what an actor will look at.
    fn position(&self, _state: &[u8], _actor: usize) -> Range<usize> {
        0..0
    }

    /// What the moves of an actor depend on.
    fn footprint(
        &self,
        _state: &[u8],
        _actor: usize,
        _scratch: &mut Self::Scratch,
        _out: &mut Footprint,
    ) -> Actor {
        Actor::Unknown
    }

    /// Whether the moves of some actors can be told without those of the others, for most of them.
    fn expands_some(&self) -> bool {
        false
    }

    /// Tells the moves of some actors, and whether there are any. None: nothing is told, the state must be
    /// expanded.
    fn expand_some(
        &self,
        _state: &[u8],
        _actors: &[usize],
        _scratch: &mut Self::Scratch,
        _sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<bool>> {
        ControlFlow::Continue(None)
    }

    /// Tells what comes of a state in which no actor has a move, and nothing is wrong with any.
    fn expand_stuck(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut dyn Sink) -> Flow {
        self.expand(state, scratch, sink)
    }

    /// Whether moves are left out that make no difference.
    fn reduces(&self) -> bool {
        false
    }

    /// The first actor, from one on, that may move alone, if it can move: the moves of others in the state
    /// make no difference then. But each of them must be made some time, unless `ever` is false: then this
    /// is sure if in each state the first such actor that can move is taken.
    fn alone(&self, _state: &[u8], _from: usize, _ever: bool) -> Option<usize> {
        None
    }

    /// Tells the moves of one actor if there are any and nothing is wrong with them; whether that was so.
    fn expand_alone(
        &self,
        _state: &[u8],
        _actor: usize,
        _scratch: &mut Self::Scratch,
        _sink: &mut dyn Sink,
    ) -> ControlFlow<(), bool> {
        ControlFlow::Continue(false)
    }

    /// The steps of a run to a violation, as they are to be told; other ones if states stand for others, which
    /// the run comes to really.
    fn tell(&self, steps: Vec<Step>, _violation: Violation) -> Vec<Step> {
        steps
    }

    /// How many actors of a state take turns, for a search that makes the moves of one after the other.
    fn takers(&self, _state: &[u8]) -> usize {
        0
    }

    /// How the moves of an actor may be put off, or be made earlier.
    fn mover(&self, _state: &[u8], _actor: usize) -> Mover {
        Mover::default()
    }

    /// Tells the moves of one actor, and what is wrong with them.
    fn expand_turn(
        &self,
        _state: &[u8],
        _actor: usize,
        _scratch: &mut Self::Scratch,
        _sink: &mut dyn Sink,
    ) -> Flow {
        Flow::Continue(())
    }

    /// Tells what is wrong in a state, whatever its moves.
    fn inspect(&self, _state: &[u8], _scratch: &mut Self::Scratch, _sink: &mut dyn Sink) -> Flow {
        Flow::Continue(())
    }

    /// Of how many sets of edges an infinite run must meet each again and again to be an error, if any can be
    /// one. Then successors come [with marks](Sink::marked).
    fn sets(&self) -> Option<u32> {
        None
    }

    /// How many pairs of further sets there are, behind the others: first those that ask, then those that answer.
    /// If an infinite run meets one that asks again and again, and not the one that answers, it is no error. All edges
    /// that leave a state ask for the same.
    fn pairs(&self) -> u32 {
        0
    }

    /// The number of a state's component in what judges it, and what is known of the cycles in there.
    fn component(&self, _state: &[u8]) -> (u32, Cycles) {
        (0, Cycles::Judged)
    }

    /// Whether an edge from a state to the one with a key is marked because of what is so just before its last
    /// step, and no longer after it: what SPIN looks at when an edge comes back to the current run.
    fn ends_at_mark(&self, _from: &[u8], _key: &[u8], _scratch: &mut Self::Scratch) -> bool {
        false
    }

    /// A number for how a state is laid out; states with the same number are of the same length.
    fn layout(&self, state: &[u8]) -> u32 {
        state.len() as u32
    }

    /// What the numbers in states stand for that were given as a search went on. States that are kept for another
    /// program mean something to a system only if it [adopts](System::adopt) that first.
    fn names(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Has numbers stand for what they stood for when these [names](System::names) were told; whether that can be,
    /// which it cannot if they are of another system.
    fn adopt(&self, names: &[u8]) -> bool {
        names.is_empty()
    }

    /// The part of a state that tells it from others (without `hidden` variables).
    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        state
    }
}
