//! From a state to its successors.
//!
//! A *frame* is a state in which one step is to be taken: a state as searches know it, or one that
//! they never see, inside an atomic sequence or between the move of a claim and that of the system.
//! A frame hands out its moves one at a time, in the order of SPIN's verifier (its procedure
//! `new_state`): processes from the youngest to the oldest, transitions in the order of their list.
//! [`Machine::expand`] walks the tree of frames below a state until it comes to states again. The
//! stack of frames is a vector, so an atomic sequence may be as long as memory allows.

mod alone;
mod claims;
mod footprint;
mod touches;
mod turn;

use std::ops::ControlFlow;
use std::sync::Arc;

use rustc_hash::{FxHashSet, FxHasher};
use spinward_program::Program;
use spinward_program::ir::{Action, BodyId, StateId, Transition, TransitionId};
use std::hash::Hasher;

use crate::Machine;
use crate::eval::{Context, Mistakes};
use crate::exec::{Findings, Guard, Message, Work};
use crate::memory::load_u16;
use crate::native::{Native, Receivers, Walk};
use crate::shape::{Placed, Shape};
use crate::system::{Flow, Sink, Step};
use crate::touched::Touched;
use crate::violation::{RuntimeError, Violation};

pub use touches::{QueueUse, Touches};

/// Below this depth of the stack a repeated frame is looked for by comparing with each.
const COMPARED_FRAMES: usize = 8;

/// Bytes of frames entered between two reports of how much memory all of them use.
const BYTES_BETWEEN_REPORTS: usize = 1 << 20;

/// Expansions between two reports of how much memory shapes use.
const EXPANSIONS_BETWEEN_REPORTS: u64 = 256;

/// Bytes that an allocation takes besides what was asked for, about.
const ALLOCATION: usize = 24;

/// Compiling a transition takes about as long as interpreting so many expansions. A search that has
/// not gone on for that long may soon be over.
const PAYS_AFTER: u64 = 20;

/// Frames kept for later use; a long atomic sequence shall not hold its memory for ever.
const SPARE_FRAMES: usize = 1024;

/// Where a frame is in the list of its moves.
#[derive(Debug, Default)]
struct Scan {
    /// The process whose transitions are tried; those above it are done.
    process: usize,
    /// The next transition to try, and the end of the list.
    next: u32,
    end: u32,
    /// Whether one of its transitions was possible.
    moved: bool,
    /// The escape sequence that was entered: only transitions of the same one count then.
    escape: u16,
}

impl Scan {
    /// The next transition of the process; none if there is no other, or only such that do not count
    /// because of the escape that was entered.
    fn next_transition(&mut self, program: &Program) -> Option<TransitionId> {
        if self.next == self.end {
            return None;
        }
        let id = TransitionId(self.next);
        if self.escape > 0 && self.escape != program.transition(id).escape {
            self.next = self.end;
            return None;
        }
        self.next += 1;
        Some(id)
    }

    /// Notes that a transition was possible.
    fn note(&mut self, transition: &Transition) {
        self.moved = true;
        self.escape = transition.escape;
    }
}

/// An offer that waits for an answer.
#[derive(Debug)]
struct Offer {
    sender: usize,
    transition: TransitionId,
    message: Message,
    /// The state with the sender gone on.
    offered: Work,
    /// What a trace has against the send, if it happens.
    wrong: Vec<Violation>,
    answered: bool,
    scan: Scan,
}

/// A state in which a step is to be taken.
#[derive(Debug)]
pub(crate) struct Frame {
    work: Work,
    /// The process inside an atomic sequence.
    exclusive: Option<usize>,
    /// Whether the claim is to move.
    claim_turn: bool,
    timeout: bool,
    /// Claim turn: the system could not move, so the claim is to move again with `timeout` true.
    retry: bool,
    /// How many steps lead here.
    depth: usize,
    /// Whether nobody was asked for a move yet.
    fresh: bool,
    /// Whether anybody could move.
    any: bool,
    /// The oldest process that may move.
    lowest: usize,
    /// Whether others were not asked, so that it means nothing if there is no move.
    restricted: bool,
    scan: Scan,
    offer: Box<Offer>,
    /// Whether answers to the offer are looked for.
    offering: bool,
}

/// A move of a frame.
pub(crate) struct Taken {
    /// The two steps of a rendezvous, or one step twice.
    pub steps: [Step; 2],
    /// How many steps they are; none if something went wrong while a transition was looked at that
    /// turned out not to be possible.
    pub count: usize,
    /// The process that goes on alone.
    pub exclusive: Option<usize>,
    /// Whether it leads anywhere; a run-time error ends the run.
    pub alive: bool,
}

impl Taken {
    /// Nobody moved, but something went wrong.
    fn nothing() -> Self {
        let none = Step { process: 0, transition: TransitionId(0) };
        Self { steps: [none; 2], count: 0, exclusive: None, alive: false }
    }
}

/// Room to work in.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) findings: Findings,
    walk: Walk,
    /// The shape of the last state.
    shape: Option<Arc<Shape>>,
    frames: Vec<Frame>,
    spare: Vec<Frame>,
    next: Option<Work>,
    steps: Vec<Step>,
    /// Hashes of the frames above [`COMPARED_FRAMES`].
    seen: FxHashSet<u64>,
    /// Bytes of the frames entered inside of atomic sequences since their memory was last told.
    entered: usize,
    /// Whether the current expansion met a cycle inside an atomic sequence; then every frame of it
    /// is entered once only.
    cyclic: bool,
    /// Whether any expansion did: such an atomic sequence need not end.
    pub endless_atomic: bool,
    /// Room to note what is touched.
    #[allow(clippy::vec_box, reason = "works take them as they are")]
    touched: Vec<Box<Touched>>,
    /// States expanded so far.
    expansions: u64,
}

impl Scratch {
    pub(crate) fn new(transitions: usize) -> Self {
        Self { findings: Findings::new(transitions), ..Self::default() }
    }

    /// Makes ready for another expansion.
    fn clean(&mut self) {
        self.findings.forget();
        self.steps.clear();
        self.cyclic = false;
        if !self.seen.is_empty() {
            self.seen.clear();
        }
        self.spare.append(&mut self.frames);
        if self.spare.len() > SPARE_FRAMES {
            self.spare = self.spare.split_off(self.spare.len() - SPARE_FRAMES);
            self.seen = FxHashSet::default();
            self.steps = Vec::new();
        }
    }

    /// Bytes in use by the frames of an expansion.
    fn bytes(&self) -> usize {
        let state = self.frames.last().map_or(0, |frame| frame.work.state.len());
        let frames = (self.frames.capacity() + self.spare.capacity()) * size_of::<Frame>();
        let states = (self.frames.len() + self.spare.len()) * (state + ALLOCATION);
        // The table has room for more hashes, each with a byte of its own.
        frames
            + states
            + self.seen.capacity() * 9 / 8 * 9
            + self.steps.capacity() * size_of::<Step>()
    }

    /// By transition: whether a process ever stood before it, so that it was looked at.
    pub fn tried(&self) -> &[bool] {
        &self.findings.tried
    }

    /// Adds what another one collected.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for (tried, &also) in self.findings.tried.iter_mut().zip(&other.findings.tried) {
            *tried |= also;
        }
        self.endless_atomic |= other.endless_atomic;
    }
}

/// What compiled code found.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Whether anybody could move.
    any: bool,
    /// How many processes were not asked, the oldest ones.
    left: usize,
}

/// Tells what comes after some steps.
struct After<'a> {
    steps: &'a mut Vec<Step>,
    prefix: usize,
    sink: &'a mut dyn Sink,
}

impl Sink for After<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.steps.extend_from_slice(steps);
        let flow = self.sink.successor(state, self.steps);
        self.steps.truncate(self.prefix);
        flow
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        unreachable!("compiled code finds no violations")
    }

    fn needs_steps(&self) -> bool {
        self.sink.needs_steps()
    }
}

impl Frame {
    fn new(work: Work) -> Self {
        let offer = Box::new(Offer {
            sender: 0,
            transition: TransitionId(0),
            message: Message::default(),
            offered: work.clone(),
            wrong: Vec::new(),
            answered: false,
            scan: Scan::default(),
        });
        Self {
            work,
            exclusive: None,
            claim_turn: false,
            timeout: false,
            retry: false,
            depth: 0,
            fresh: true,
            any: false,
            lowest: 0,
            restricted: false,
            scan: Scan::default(),
            offer,
            offering: false,
        }
    }

    /// Makes the frame ready to hand out its moves.
    fn rewind(&mut self) {
        self.fresh = true;
        self.restricted = false;
        self.any = false;
        self.offering = false;
        let (youngest, lowest) = match self.exclusive {
            Some(process) => (process + 1, process),
            None => (self.work.shape.processes.len(), 0),
        };
        self.lowest = lowest;
        self.scan = Scan { process: youngest, ..Scan::default() };
    }

    /// Leaves to the interpreter what compiled code did not find.
    fn goes_on_after(&mut self, found: Found) {
        self.fresh = false;
        self.any = found.any;
        self.scan.process = found.left;
    }

    fn same_as(&self, other: &Self) -> bool {
        self.exclusive == other.exclusive
            && self.claim_turn == other.claim_turn
            && self.timeout == other.timeout
            && self.work.state == other.work.state
    }

    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(&self.work.state);
        hasher.write_usize(self.exclusive.map_or(0, |p| p + 1));
        hasher.write_u8(u8::from(self.claim_turn) | u8::from(self.timeout) << 1);
        hasher.finish()
    }
}

impl Machine {
    /// All successors of a state.
    pub(crate) fn explore(&self, state: &[u8], scratch: &mut Scratch, sink: &mut dyn Sink) -> Flow {
        self.begin_expansion(scratch, sink)?;
        let native = self.native.get().and_then(Option::as_ref);
        self.look_at_shape(state, scratch);
        if let Some(shape) = scratch.shape.as_ref().filter(|_| self.minds_claims()) {
            for violation in self.broken_claims(state, shape) {
                sink.violation(violation, &[])?;
            }
        }
        let mut asked = None;
        if let Some(native) = native
            && self.is_plain()
            && let Scratch { walk, findings, shape: Some(shape), .. } = scratch
        {
            // The usual way: no frame is needed if compiled code knows all there is to know.
            let tried = &mut findings.tried;
            let found = self.go_natively(native, shape, state, false, walk, tried, sink)?;
            if found.left == 0 && found.any {
                return Flow::Continue(());
            }
            asked = Some(found);
        }
        let first = self.enter_state(state, scratch);
        first.claim_turn = self.header.claim.is_some();
        first.timeout = self.take_stutter(&mut first.work.state);
        if self.claim_ended(&first.work) {
            sink.violation(Violation::ClaimEnd, &[])?;
        }
        for violation in self.broken_invariants(&first.work) {
            sink.violation(violation, &[])?;
        }
        if let Some(found) = asked {
            first.goes_on_after(found);
        }
        self.follow_frames(native, scratch, sink)
    }

    /// Reports memory now and then, and compiles when it pays.
    fn begin_expansion(&self, scratch: &mut Scratch, sink: &mut dyn Sink) -> Flow {
        scratch.expansions += 1;
        if scratch.expansions.is_multiple_of(EXPANSIONS_BETWEEN_REPORTS) {
            sink.working(self.shapes.bytes())?;
        }
        if self.compiles && scratch.expansions == self.program.transitions.len() as u64 * PAYS_AFTER
        {
            self.compile();
        }
        Flow::Continue(())
    }

    /// Enters the first frame, that of a state.
    fn enter_state<'s>(&self, state: &[u8], scratch: &'s mut Scratch) -> &'s mut Frame {
        scratch.clean();
        let shape = scratch.shape.clone();
        self.enter(scratch, None, |work| {
            work.state.clear();
            work.state.extend_from_slice(state);
            work.shape.clone_from(shape.as_ref().expect("looked at before"));
        });
        scratch.frames.last_mut().expect("just entered")
    }

    /// Tells all that comes of the frames there are.
    fn follow_frames(
        &self,
        native: Option<&Native>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> Flow {
        while let Some(frame) = scratch.frames.last_mut() {
            scratch.steps.truncate(frame.depth);
            if std::mem::take(&mut frame.fresh)
                && let Some(native) = native
                && self.may_go_natively(frame)
            {
                let Scratch { walk, findings, steps, .. } = scratch;
                let Frame { work: Work { state, shape, .. }, timeout, .. } = frame;
                let prefix = steps.len();
                let mut sink = After { steps, prefix, sink };
                let tried = &mut findings.tried;
                let found =
                    self.go_natively(native, shape, state, *timeout, walk, tried, &mut sink)?;
                frame.goes_on_after(found);
            }
            let next = scratch.next.get_or_insert_with(|| frame.work.clone());
            let taken = self.next_move(frame, next, &mut scratch.findings);
            let Some(taken) = taken else {
                self.leave(scratch, sink)?;
                continue;
            };
            for &step in &taken.steps[..taken.count] {
                scratch.steps.push(step);
            }
            // A `d_step` that gave up because it was told to did not show that it never ends; and
            // what went wrong in it could be shown only by a run through all of it.
            let violations = &mut scratch.findings.violations;
            if matches!(violations.last(), Some(Violation::Runtime(RuntimeError::DStepEndless, _)))
                && self.stopped()
            {
                violations.clear();
                return Flow::Break(());
            }
            for violation in violations.drain(..) {
                sink.violation(violation, &scratch.steps)?;
            }
            if !taken.alive {
                continue;
            }
            let claim_moved = frame.claim_turn;
            if taken.exclusive.is_none() && !claim_moved {
                sink.successor(&next.state, &scratch.steps)?;
                continue;
            }
            // As in SPIN's verifier, in every frame; of a state it counts when it is expanded.
            if self.claim_ended(next) {
                sink.violation(Violation::ClaimEnd, &scratch.steps)?;
            }
            let claim_turn = claim_moved && taken.exclusive == Some(CLAIM);
            let timeout = self.lasting(frame.timeout) && !claim_turn;
            let exclusive = taken.exclusive.filter(|&p| p != CLAIM);
            let depth = scratch.steps.len();
            let work = scratch.next.take().expect("filled above");
            let state_bytes = work.state.len();
            self.enter(scratch, Some(work), |_| ());
            let frame = scratch.frames.last_mut().expect("just entered");
            frame.exclusive = exclusive;
            frame.claim_turn = claim_turn;
            frame.timeout = timeout;
            frame.depth = depth;
            frame.rewind();
            if self.repeats(scratch) {
                sink.endless(&scratch.steps);
                self.drop_frame(scratch);
            }
            if self.stopped() {
                return Flow::Break(());
            }
            scratch.entered += size_of::<Frame>() + state_bytes;
            if scratch.entered >= BYTES_BETWEEN_REPORTS {
                scratch.entered = 0;
                sink.working(scratch.bytes() + self.shapes.bytes())?;
            }
        }
        debug_assert!(scratch.findings.violations.is_empty(), "all that went wrong was told");
        Flow::Continue(())
    }

    /// Whether the run has ended before this state, so that `timeout` is true for the claim from the
    /// start; clears that.
    fn take_stutter(&self, state: &mut [u8]) -> bool {
        self.header.stutter.is_some_and(|at| std::mem::take(&mut state[at]) != 0)
    }

    /// What `timeout` is in the rest of a step that began with it: in SPIN's verifier it is true for
    /// one statement, but with a claim for the claim's move and all of the step that follows.
    fn lasting(&self, timeout: bool) -> bool {
        timeout && self.header.claim.is_some()
    }

    /// Pushes a frame, reusing an old one's room.
    fn enter(&self, scratch: &mut Scratch, work: Option<Work>, fill: impl FnOnce(&mut Work)) {
        let mut frame = match scratch.spare.pop() {
            Some(frame) => frame,
            None => Frame::new(Work::new(Vec::new(), self.shapes.get(0))),
        };
        if let Some(work) = work {
            scratch.next = Some(std::mem::replace(&mut frame.work, work));
        }
        fill(&mut frame.work);
        frame.exclusive = None;
        frame.claim_turn = false;
        frame.timeout = false;
        frame.retry = false;
        frame.depth = 0;
        frame.rewind();
        scratch.frames.push(frame);
    }

    /// Whether the last frame stands on the stack already (or, in an expansion that met a cycle, was
    /// entered before).
    fn repeats(&self, scratch: &mut Scratch) -> bool {
        let (last, below) = scratch.frames.split_last().expect("just entered");
        let compared = below.len().min(COMPARED_FRAMES);
        let mut found = below[..compared].iter().any(|frame| frame.same_as(last));
        if below.len() >= COMPARED_FRAMES || scratch.cyclic {
            let hash = last.hash();
            if !scratch.seen.insert(hash) && !found {
                found = scratch.cyclic || below[compared..].iter().any(|frame| frame.same_as(last));
            }
        }
        if found {
            scratch.cyclic = true;
            scratch.endless_atomic = true;
        }
        found
    }

    fn drop_frame(&self, scratch: &mut Scratch) {
        let Some(frame) = scratch.frames.pop() else {
            return;
        };
        if !scratch.cyclic && scratch.frames.len() >= COMPARED_FRAMES {
            scratch.seen.remove(&frame.hash());
        }
        scratch.spare.push(frame);
    }

    /// The last frame has no more moves: what that means if it had none at all.
    fn leave(&self, scratch: &mut Scratch, sink: &mut dyn Sink) -> Flow {
        let frame = scratch.frames.last_mut().expect("a frame is left once");
        let steps = &scratch.steps[..frame.depth];
        if frame.claim_turn {
            if self.claim_tries_again(frame) {
                frame.timeout = true;
                frame.rewind();
                return Flow::Continue(());
            }
        } else if !frame.any && !frame.restricted {
            if frame.exclusive.is_some() {
                // Blocked inside an atomic sequence: it is interrupted, and the state is like any.
                sink.successor(&frame.work.state, steps)?;
            } else if self.program.uses.timeout && !frame.timeout {
                if self.header.claim.is_none() {
                    frame.timeout = true;
                    frame.rewind();
                    return Flow::Continue(());
                }
                let below = scratch.frames.len() - 2;
                scratch.frames[below].retry = true;
            } else if self.header.claim.is_some() {
                // The run has ended; for the claim its last state is repeated for ever.
                if let Some(at) = self.header.stutter {
                    frame.work.state[at] = 1;
                }
                sink.successor(&frame.work.state, steps)?;
            } else if self.options.end_states
                && let Some(violation) = self.invalid_end(&frame.work)
            {
                sink.violation(violation, steps)?;
            }
        }
        self.drop_frame(scratch);
        Flow::Continue(())
    }

    /// Whether the claim is to move once more with `timeout` true: if the system could not move after
    /// it, and, as in SPIN's verifier, if the claim can ask for `timeout` and has no move without.
    fn claim_tries_again(&self, frame: &Frame) -> bool {
        let uses = &self.program.uses;
        let asks = uses.timeout && uses.timeout_in_claim;
        !frame.timeout && (frame.retry || asks && !frame.any)
    }

    pub(crate) fn claim_ended(&self, work: &Work) -> bool {
        let (Some(at), Some(body)) = (self.header.claim, self.options.claim) else {
            return false;
        };
        self.program.automaton(body).state(StateId(load_u16(&work.state, at))).end
    }

    /// The invariants that do not hold in a state, or have no value in it.
    pub(crate) fn broken_invariants<'a>(
        &'a self,
        work: &'a Work,
    ) -> impl Iterator<Item = Violation> + 'a {
        let context = self.context(work, None, false);
        self.options.invariants.iter().filter_map(move |&number| {
            let mut mistakes = Mistakes::new();
            let condition = &self.program.conditions[number as usize].expr;
            let value = context.eval(condition, &mut mistakes);
            match (value, mistakes.first()) {
                (Err(error), _) | (_, Some(&error)) => {
                    Some(Violation::InvariantUndefined(number, error))
                }
                (Ok(0), None) => Some(Violation::Invariant(number)),
                (Ok(_), None) => None,
            }
        })
    }

    /// What is wrong with a state in which nobody can move.
    pub(crate) fn invalid_end(&self, work: &Work) -> Option<Violation> {
        let context = self.context(work, None, false);
        let mut processes = work.shape.processes.iter().enumerate();
        if processes.any(|(i, p)| !self.program.automaton(p.kind).state(context.control(i)).end) {
            return Some(Violation::InvalidEndState);
        }
        // As in SPIN, a model whose processes are all gone is asked nothing more.
        let (at, body) = (self.header.trace?, self.program.trace?);
        let trace = self.program.automaton(body).state(StateId(load_u16(&work.state, at)));
        (!trace.end && !work.shape.processes.is_empty()).then_some(Violation::TraceUnfinished)
    }

    /// The next move of a frame; the state it leads to is put into `next`.
    fn next_move(
        &self,
        frame: &mut Frame,
        next: &mut Work,
        findings: &mut Findings,
    ) -> Option<Taken> {
        if frame.claim_turn {
            return self.next_claim_move(frame, next, findings);
        }
        loop {
            if frame.offering {
                let offer = &mut *frame.offer;
                let timeout = self.lasting(frame.timeout);
                let unanswered = !offer.answered;
                if let Some(taken) = self.next_answer(offer, timeout, next, findings) {
                    let moved = unanswered && offer.answered && frame.scan.moved;
                    let shape = &frame.work.shape;
                    self.determinism(offer.sender, offer.transition, shape, moved, findings);
                    return Some(taken);
                }
                if offer.answered {
                    frame.any = true;
                    frame.scan.moved = true;
                } else {
                    frame.scan.escape = 0;
                }
                frame.offering = false;
                frame.note_offer();
            }
            let scan = &mut frame.scan;
            let Some(id) = scan.next_transition(&self.program) else {
                if scan.process == frame.lowest {
                    return None;
                }
                scan.process -= 1;
                self.scan_process(&frame.work, scan, frame.timeout, findings);
                if !findings.violations.is_empty() {
                    return Some(Taken::nothing());
                }
                continue;
            };
            let process = scan.process;
            let transition = self.program.transition(id);
            let context = self.context(&frame.work, Some(process), frame.timeout);
            let guard = self.guard(&context, id, scan.moved, findings);
            let step = Step { process: process as u16, transition: id };
            let done = match guard {
                Ok(Guard::No) if findings.violations.is_empty() => continue,
                Ok(Guard::No) => return Some(Taken::nothing()),
                Ok(Guard::Offer) => {
                    let offer = &mut *frame.offer;
                    let made = self.make_offer(&context, &frame.work, step, offer, findings);
                    if made.is_ok() {
                        scan.escape = transition.escape;
                        frame.offering = true;
                        if findings.violations.is_empty() {
                            continue;
                        }
                        return Some(Taken::nothing());
                    }
                    made
                }
                Ok(Guard::Yes) => {
                    self.determinism(process, id, &frame.work.shape, scan.moved, findings);
                    next.copy(&frame.work);
                    self.take(next, Some(process), id, frame.timeout, findings)
                }
                Err(error) => Err(error),
            };
            scan.note(transition);
            frame.any = true;
            return Some(self.taken([step; 2], 1, process, done, findings));
        }
    }

    /// Whether a state is asked for its moves only, with nothing else to be looked at.
    pub(crate) fn is_plain(&self) -> bool {
        self.header.claim.is_none() && self.options.invariants.is_empty()
    }

    /// Whether compiled code may look for the moves of a frame. It knows nothing of claims, nor of a
    /// `timeout` that lasts longer than one statement.
    fn may_go_natively(&self, frame: &Frame) -> bool {
        !frame.claim_turn
            && frame.exclusive.is_none()
            && !self.lasting(frame.timeout)
            && !self.claim_ended(&frame.work)
    }

    /// Tells the moves of processes that compiled code finds, from the youngest on, until it does not
    /// know those of one.
    #[allow(clippy::too_many_arguments)]
    fn go_natively(
        &self,
        native: &Native,
        shape: &Shape,
        state: &[u8],
        timeout: bool,
        walk: &mut Walk,
        tried: &mut [bool],
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Found> {
        walk.begin(self, native, shape, timeout, sink.needs_steps(), tried);
        let mut any = false;
        let mut left = shape.processes.len();
        while left > 0 && walk.find(native, shape, state, left - 1) {
            left -= 1;
            if walk.is_filled() {
                any |= walk.tell(|state, steps| sink.successor(state, steps))?;
            }
        }
        any |= walk.tell(|state, steps| sink.successor(state, steps))?;
        ControlFlow::Continue(Found { any, left })
    }

    /// A move whose last step `mover` takes, and how that went.
    fn taken(
        &self,
        steps: [Step; 2],
        count: usize,
        mover: usize,
        done: Result<(), RuntimeError>,
        findings: &mut Findings,
    ) -> Taken {
        let last = steps[1].transition;
        if let Err(error) = done {
            findings.violations.push(Violation::Runtime(error, last));
        }
        let exclusive = self.program.transition(last).atomic.then_some(mover);
        Taken { steps, count, exclusive, alive: done.is_ok() }
    }

    /// Finds the transitions of the process a scan has come to; none if it may not move.
    fn scan_process(&self, work: &Work, scan: &mut Scan, timeout: bool, findings: &mut Findings) {
        scan.moved = false;
        scan.escape = 0;
        (scan.next, scan.end) = (0, 0);
        let process = scan.process;
        let context = self.context(work, Some(process), timeout);
        let automaton = self.program.automaton(work.shape.processes[process].kind);
        let transitions = automaton.state(context.control(process)).transitions.clone();
        if automaton.provided.is_none() && !self.program.uses.priorities {
            (scan.next, scan.end) = (transitions.start, transitions.end);
            return;
        }
        let mut mistakes = Mistakes::new();
        let allowed = (|| {
            Ok(self.is_provided(&context, &mut mistakes)?
                && self.has_highest_priority(&context, process, &mut mistakes)?)
        })();
        if let Err(error) = allowed {
            mistakes.push(error);
        }
        let first = TransitionId(transitions.start);
        findings.violations.extend(mistakes.drain(..).map(|e| Violation::Runtime(e, first)));
        if allowed == Ok(true) {
            (scan.next, scan.end) = (transitions.start, transitions.end);
        }
    }

    /// Whether the `provided` clause of the process that asks lets it move.
    fn is_provided(
        &self,
        context: &Context<'_>,
        mistakes: &mut Mistakes,
    ) -> Result<bool, RuntimeError> {
        let body = context.process.map(|process| context.shape.processes[process].kind);
        match body.and_then(|body| self.program.automaton(body).provided.as_ref()) {
            Some(provided) => Ok(context.eval(provided, mistakes)? != 0),
            None => Ok(true),
        }
    }

    fn has_highest_priority(
        &self,
        context: &Context<'_>,
        process: usize,
        mistakes: &mut Mistakes,
    ) -> Result<bool, RuntimeError> {
        if !self.program.uses.priorities {
            return Ok(true);
        }
        context.touched.inspect(|touched| touched.read_shape());
        let own = context.priority(process);
        for other in 0..context.shape.processes.len() {
            let its_own = Context { process: Some(other), ..*context };
            if other != process
                && context.priority(other) > own
                && self.is_provided(&its_own, mistakes)?
                && self.enabled(context, other, mistakes)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes a second possible step of a `D_proctype`; as in SPIN, what always is possible (jumps,
    /// `skip`, `else`) and a `d_step` do not count.
    fn determinism(
        &self,
        process: usize,
        id: TransitionId,
        shape: &Shape,
        moved: bool,
        findings: &mut Findings,
    ) {
        if !moved {
            return;
        }
        let counts = !matches!(
            self.program.transition(id).action,
            Action::Skip | Action::Else | Action::Die | Action::DStep { .. }
        );
        if counts && self.program.automaton(shape.processes[process].kind).deterministic {
            findings.violations.push(Violation::Runtime(RuntimeError::Nondeterminism, id));
        }
    }

    /// Makes an offer that waits for an answer.
    fn make_offer(
        &self,
        context: &Context<'_>,
        work: &Work,
        send: Step,
        offer: &mut Offer,
        findings: &mut Findings,
    ) -> Result<(), RuntimeError> {
        let (sender, transition) = (usize::from(send.process), send.transition);
        self.offer(context, transition, &mut offer.message, findings)?;
        (offer.sender, offer.transition, offer.answered) = (sender, transition, false);
        offer.scan = Scan { process: work.shape.processes.len(), ..Scan::default() };
        offer.offered.copy(work);
        self.advance(&mut offer.offered, Some(sender), self.program.transition(transition));
        let others = findings.violations.len();
        self.event(&mut offer.offered, true, &offer.message, transition, findings)?;
        offer.wrong.clear();
        offer.wrong.extend(findings.violations.drain(others..));
        Ok(())
    }

    /// The next answer to an offer.
    fn next_answer(
        &self,
        offer: &mut Offer,
        timeout: bool,
        next: &mut Work,
        findings: &mut Findings,
    ) -> Option<Taken> {
        loop {
            let scan = &mut offer.scan;
            let Some(id) = scan.next_transition(&self.program) else {
                if scan.process == 0 {
                    return None;
                }
                scan.process -= 1;
                let channel = offer.message.channel;
                if scan.process != offer.sender
                    && self.may_answer(&offer.offered, scan.process, channel)
                {
                    self.scan_process(&offer.offered, scan, timeout, findings);
                    if !findings.violations.is_empty() {
                        return Some(Taken::nothing());
                    }
                }
                continue;
            };
            let process = scan.process;
            let offered = &offer.offered;
            let context = self.context(offered, Some(process), timeout);
            let answers = self.answers(&context, id, &offer.message, findings);
            let done = match answers {
                Ok(false) if findings.violations.is_empty() => continue,
                Ok(false) => return Some(Taken::nothing()),
                Ok(true) => {
                    findings.violations.append(&mut offer.wrong);
                    self.determinism(process, id, &offer.offered.shape, scan.moved, findings);
                    next.copy(&offer.offered);
                    self.take_answer(next, process, id, timeout, &offer.message, findings)
                }
                Err(error) => Err(error),
            };
            scan.note(self.program.transition(id));
            offer.answered = true;
            let sent = Step { process: offer.sender as u16, transition: offer.transition };
            let received = Step { process: process as u16, transition: id };
            return Some(self.taken([sent, received], 2, process, done, findings));
        }
    }

    /// Whether a process may answer an offer, for all that is known without a look at where it is. This
    /// is asked only where somebody wants to know what is looked at.
    fn may_answer(&self, offered: &Work, process: usize, channel: i32) -> bool {
        let receivers = || Receivers::new(&self.program, &self.header);
        offered.touched.is_none()
            || self
                .receivers
                .get_or_init(receivers)
                .may_receive(offered.shape.processes[process].kind, channel)
    }

    /// Tells the moves of some processes if compiled code knows them all, and whether there are any.
    pub(crate) fn explore_some(
        &self,
        state: &[u8],
        processes: &[usize],
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<bool>> {
        let Some(native) = self.native.get().and_then(Option::as_ref) else {
            return ControlFlow::Continue(None);
        };
        self.look_at_shape(state, scratch);
        let Scratch { walk, findings, shape: Some(shape), .. } = scratch else {
            return ControlFlow::Continue(None);
        };
        walk.begin(self, native, shape, false, sink.needs_steps(), &mut findings.tried);
        for &process in processes {
            if walk.is_filled() || !walk.find(native, shape, state, process) {
                walk.forget();
                return ControlFlow::Continue(None);
            }
        }
        walk.tell(|state, steps| sink.successor(state, steps)).map_continue(Some)
    }

    /// What is wrong in a state in which no process has a move, in a system in which nothing but moves is
    /// looked at.
    pub(crate) fn explore_stuck(
        &self,
        state: &[u8],
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> Flow {
        if self.program.uses.timeout {
            return self.explore(state, scratch, sink);
        }
        self.look_at_shape(state, scratch);
        let Some(shape) = scratch.shape.as_ref().filter(|_| self.options.end_states) else {
            return Flow::Continue(());
        };
        let at_end = |process: &Placed<BodyId>| {
            let control = StateId(load_u16(state, process.offset));
            self.program.automaton(process.kind).state(control).end
        };
        if shape.processes.iter().all(at_end) {
            return Flow::Continue(());
        }
        sink.violation(Violation::InvalidEndState, &[])
    }

    /// Which of the watched conditions hold in a state, if compiled code knows.
    pub(crate) fn known_values(&self, state: &[u8], scratch: &mut Scratch) -> Option<u64> {
        let native = self.native.get()?.as_ref()?;
        self.look_at_shape(state, scratch);
        let Scratch { walk, shape, .. } = scratch;
        walk.values(native, shape.as_ref()?, state)
    }

    /// The shape of a state.
    pub(crate) fn shape_in<'s>(&self, state: &[u8], scratch: &'s mut Scratch) -> &'s Shape {
        self.look_at_shape(state, scratch);
        scratch.shape.as_ref().expect("looked at just now")
    }

    /// Keeps the shape of a state at hand.
    #[inline]
    fn look_at_shape(&self, state: &[u8], scratch: &mut Scratch) {
        let id = self.shape_of(state);
        if scratch.shape.as_ref().is_none_or(|last| last.id != id) {
            scratch.shape = Some(self.shapes.get(id));
        }
    }

    fn next_claim_move(
        &self,
        frame: &mut Frame,
        next: &mut Work,
        findings: &mut Findings,
    ) -> Option<Taken> {
        let (at, body) = (self.header.claim?, self.options.claim?);
        let scan = &mut frame.scan;
        if scan.end == 0 {
            let state = StateId(load_u16(&frame.work.state, at));
            let transitions = self.program.automaton(body).state(state).transitions.clone();
            (scan.next, scan.end) = (transitions.start, transitions.end);
        }
        while let Some(id) = scan.next_transition(&self.program) {
            let context = self.context(&frame.work, None, frame.timeout);
            let done = match self.guard(&context, id, scan.moved, findings) {
                Ok(Guard::No | Guard::Offer) if findings.violations.is_empty() => continue,
                Ok(Guard::No | Guard::Offer) => return Some(Taken::nothing()),
                Ok(Guard::Yes) => {
                    next.copy(&frame.work);
                    self.take(next, None, id, frame.timeout, findings)
                }
                Err(error) => Err(error),
            };
            scan.note(self.program.transition(id));
            frame.any = true;
            let step = Step { process: Step::CLAIM, transition: id };
            return Some(self.taken([step; 2], 1, CLAIM, done, findings));
        }
        None
    }

    /// All moves of the system between two steps of a run; what is wrong if there are none; and
    /// whether searches see the state. With a claim and inside of an atomic sequence that blocks
    /// there are no moves: it is the claim's turn then.
    pub(crate) fn all_moves(
        &self,
        work: Work,
        exclusive: Option<usize>,
        timeout: bool,
        scratch: &mut Scratch,
        mut each: impl FnMut(Taken, &Work, bool, &mut Findings),
    ) -> (Vec<Violation>, bool) {
        let mut frame = Frame::new(work);
        frame.exclusive = exclusive;
        frame.timeout = timeout;
        let mut next = frame.work.clone();
        // What goes wrong before it is known that nobody can move stays wrong.
        let mut found = Vec::new();
        loop {
            frame.rewind();
            while let Some(taken) = self.next_move(&mut frame, &mut next, &mut scratch.findings) {
                if taken.count == 0 {
                    found.append(&mut scratch.findings.violations);
                } else {
                    each(taken, &next, frame.timeout, &mut scratch.findings);
                }
            }
            if frame.any {
                return (found, frame.exclusive.is_none());
            }
            if frame.exclusive.take().is_some() {
                if self.header.claim.is_some() {
                    return (found, true);
                }
                continue;
            }
            if self.program.uses.timeout && !frame.timeout {
                frame.timeout = true;
                continue;
            }
            if self.header.claim.is_none() && self.options.end_states {
                found.extend(self.invalid_end(&frame.work));
            }
            return (found, true);
        }
    }

    /// All moves of the claim, and what is wrong if there are none. A move that is possible with
    /// `timeout` true and with `timeout` false comes twice.
    pub(crate) fn claim_moves(
        &self,
        work: Work,
        scratch: &mut Scratch,
        mut each: impl FnMut(Taken, &Work, bool, &mut Findings),
    ) -> Vec<Violation> {
        let stuck = self.program.uses.timeout && self.is_stuck(&work, scratch);
        let mut frame = Frame::new(work);
        frame.claim_turn = true;
        let mut next = frame.work.clone();
        let mut found = Vec::new();
        loop {
            frame.rewind();
            while let Some(taken) = self.next_move(&mut frame, &mut next, &mut scratch.findings) {
                if taken.count == 0 {
                    found.append(&mut scratch.findings.violations);
                } else {
                    each(taken, &next, frame.timeout, &mut scratch.findings);
                }
            }
            frame.retry |= stuck;
            if !self.claim_tries_again(&frame) {
                return found;
            }
            frame.timeout = true;
        }
    }

    /// Whether no process can move while `timeout` is false.
    pub(crate) fn is_stuck(&self, work: &Work, scratch: &mut Scratch) -> bool {
        let mut frame = Frame::new(work.clone());
        frame.rewind();
        let mut next = frame.work.clone();
        while !frame.any && self.next_move(&mut frame, &mut next, &mut scratch.findings).is_some() {
        }
        scratch.findings.forget();
        !frame.any
    }
}

/// The claim, as one that goes on alone.
pub(crate) const CLAIM: usize = Step::CLAIM as usize;
