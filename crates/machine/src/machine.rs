//! The machine: a program and what is watched in it.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use spinward_program::Program;
use spinward_program::access::reads_hidden;
use spinward_program::independence::{Conditions, Independence};
use spinward_program::ir::{Action, Block, BodyId, StateId};
use spinward_program::movers::{Mover, Movers};

use crate::eval::{CONTROL, Context, Mistakes};
use crate::exec::{Findings, Work};
use crate::explore::{CLAIM, Scratch, Taken};
use crate::memory::{load, load_u16, load_u32, store_u16};
use crate::native::{Native, Receivers};
use crate::shape::{Header, Shapes};
use crate::stop::Stop;
use crate::system::{Actor, Flow, Footprint, Sink, Step, System};
use crate::transfer::Transfer;
use crate::view::{ChannelView, ProcessView, View};
use crate::violation::{RuntimeError, Violation};

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
    /// Which of the program's conditions must hold in every state (not inside an atomic sequence).
    pub invariants: Vec<u32>,
    /// Which of the program's conditions, at most 64, are looked at by who judges runs.
    pub watched: Vec<u32>,
    /// Which of the program's conditions must not change unseen, if moves are left out.
    pub visible: Vec<u32>,
    /// Whether what processes claim to use alone is looked at (`xr`, `xs`; never with a claim that moves).
    pub exclusive: bool,
    /// Under which conditions searches may leave out moves that make no difference; none if they shall
    /// see all.
    pub reduce: Option<Conditions>,
    /// Whether searches may ask which moves can be put off, or be made earlier.
    pub movers: bool,
}

impl Options {
    /// All conditions of the program that matter.
    pub fn conditions(&self) -> Vec<u32> {
        self.invariants.iter().chain(&self.visible).copied().collect()
    }
}

/// The meaning of a program.
#[derive(Debug)]
pub struct Machine {
    pub(crate) program: Arc<Program>,
    pub(crate) options: Options,
    pub(crate) header: Header,
    pub(crate) shapes: Shapes,
    /// The closing brace of the trace.
    pub(crate) trace_end: StateId,
    stop: Arc<Stop>,
    initial: Vec<u8>,
    /// Compiled guards and effects.
    pub(crate) native: OnceLock<Option<Native>>,
    /// Who may take messages that are offered, if that was asked.
    pub(crate) receivers: OnceLock<Receivers>,
    /// Whether the machine compiles them when a search has gone on for a while.
    pub(crate) compiles: bool,
    /// Which moves searches may leave out.
    pub(crate) independence: Option<Independence>,
    /// Which moves can be put off, or be made earlier, or why that cannot be told; none if nobody asks.
    movers: Option<Result<Movers, &'static str>>,
    /// Whether it matters for what comes after a state what its `hidden` variables are.
    reads_hidden: bool,
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
    /// Whether the claim moved with `timeout` true, which it then is for all of the system's step.
    pub timeout: bool,
}

/// One step a run may take next.
#[derive(Clone, Debug, Default)]
pub struct Move {
    /// Its line in the trail; two for a rendezvous, the sender's first.
    pub steps: Vec<Step>,
    /// Where it leads; none if a violation ends the run.
    pub next: Option<Config>,
    /// What goes wrong in it.
    pub violations: Vec<Violation>,
    /// What its last step prints.
    pub output: String,
    /// The messages that are sent and received in it, in order.
    pub transfers: Vec<Transfer>,
}

impl Machine {
    /// The meaning of `program`, or what goes wrong before its first step. A long atomic sequence
    /// looks at `stop` now and then and gives up when told to.
    pub fn new(
        program: Arc<Program>,
        options: Options,
        stop: Arc<Stop>,
    ) -> Result<Self, RuntimeError> {
        let trace = program.trace.filter(|_| options.trace);
        let header = Header::new(&program, options.claim.is_some(), trace.is_some());
        let trace_end = trace.map_or(StateId(0), |body| end_of(&program, body));
        let shapes = Shapes::new(header.end);
        let reduce = options.reduce.filter(|_| options.claim.is_none());
        let independence = reduce.and_then(|conditions| {
            let watched = options.conditions();
            Independence::new(&program, &watched, trace.is_some(), conditions).ok()
        });
        let movers = options.movers.then(|| match options.claim {
            Some(_) => Err("there is a never claim"),
            None => Movers::new(&program, &options.conditions(), trace.is_some()),
        });
        let reads_hidden = reads_hidden(&program);
        let mut machine = Self {
            program,
            options,
            header,
            shapes,
            trace_end,
            stop,
            initial: Vec::new(),
            native: OnceLock::new(),
            receivers: OnceLock::new(),
            compiles: false,
            independence,
            movers,
            reads_hidden,
        };
        machine.initial = machine.first_state()?;
        Ok(machine)
    }

    /// The part of a state that tells it from others where a run comes back to it to go on as before: with `hidden`
    /// variables, if anybody reads them.
    pub(crate) fn lasting_key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        if self.reads_hidden { state } else { self.key(state) }
    }

    /// Lets searches compile guards and effects when that pays. False if there is no compiler for this
    /// computer; the machine then goes on to interpret.
    pub fn compile_when_it_pays(&mut self) -> bool {
        self.compiles = Native::is_available();
        self.compiles
    }

    /// Compiles guards and effects for searches now. False if it could not be done.
    pub fn compile(&self) -> bool {
        let traced = self.header.trace.is_some();
        let watched = &self.options.watched;
        let compile = || Native::new(&self.program, &self.header, traced, watched, &self.stop);
        self.native.get_or_init(|| compile().ok()).is_some()
    }

    /// Whether searches are not told of moves that make no difference.
    pub fn reduces(&self) -> bool {
        self.independence.is_some()
    }

    /// Why a search that asks for movers would find none, if it was to ask.
    pub fn why_no_movers(&self) -> Option<&'static str> {
        self.movers.as_ref()?.as_ref().err().copied()
    }

    fn first_state(&self) -> Result<Vec<u8>, RuntimeError> {
        let mut work = Work::new(vec![0; self.header.end], self.shapes.get(Shapes::EMPTY));
        let initial = |body| self.program.automaton(body).initial.0;
        if let (Some(at), Some(body)) = (self.header.claim, self.options.claim) {
            store_u16(&mut work.state, at, initial(body));
        }
        if let (Some(at), Some(body)) = (self.header.trace, self.program.trace) {
            store_u16(&mut work.state, at, initial(body));
        }
        self.initialize(&mut work, &self.program.init, None)?;
        for &(body, priority) in &self.program.start {
            self.create(&mut work, body, &[], priority)?;
        }
        Ok(work.state)
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What is watched.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether it was told to stop.
    pub fn stopped(&self) -> bool {
        self.stop.is_told()
    }

    #[inline]
    pub(crate) fn shape_of(&self, state: &[u8]) -> u32 {
        load_u32(state, self.header.shape)
    }

    fn work(&self, state: &[u8]) -> Work {
        Work::new(state.to_vec(), self.shapes.get(self.shape_of(state)))
    }

    /// Where every run starts.
    pub fn start(&self) -> Config {
        Config { state: self.initial.clone(), exclusive: None, system_turn: false, timeout: false }
    }

    /// All steps a run may take next, in SPIN's order, and what is wrong if there are none.
    ///
    /// With a claim, a system that cannot move stays where it is: the run goes on with the claim
    /// alone.
    pub fn moves(&self, config: &Config, scratch: &mut Scratch) -> (Vec<Move>, Vec<Violation>) {
        let mut moves = Vec::new();
        let claimed = self.header.claim.is_some();
        let claim_turn = claimed && !config.system_turn;
        let work = self.work(&config.state);
        let ended = self.claim_ended(&work);
        let exclusive = config.exclusive.map(usize::from);
        let take = |taken: Taken, next: &Work, timeout: bool, findings: &mut Findings| {
            let over = claim_turn && taken.alive && self.claim_ended(next);
            let mut violations = std::mem::take(&mut findings.violations);
            violations.extend(over.then_some(Violation::ClaimEnd));
            let alone = taken.exclusive.is_some();
            let system_turn = claimed && alone != claim_turn;
            let next = taken.alive.then(|| Config {
                state: next.state.clone(),
                exclusive: taken.exclusive.filter(|&p| p != CLAIM).map(|p| p as u16),
                system_turn,
                timeout: timeout && system_turn,
            });
            moves.push(Move {
                steps: taken.steps[..taken.count].to_vec(),
                next,
                violations,
                output: findings.prints.as_mut().map(std::mem::take).unwrap_or_default(),
                transfers: findings.transfers.as_mut().map(std::mem::take).unwrap_or_default(),
            });
        };
        scratch.findings.prints = Some(String::new());
        scratch.findings.transfers = Some(Vec::new());
        let (mut found, at_rest) = if claim_turn {
            (self.claim_moves(work, scratch, take), true)
        } else {
            self.all_moves(work, exclusive, config.timeout, scratch, take)
        };
        if claimed && config.system_turn && moves.is_empty() {
            let state = config.state.clone();
            let next = Config { state, exclusive: None, system_turn: false, timeout: false };
            moves.push(Move { next: Some(next), ..Move::default() });
        }
        if claim_turn && ended {
            found.push(Violation::ClaimEnd);
        }
        if at_rest && !config.system_turn {
            let work = self.work(&config.state);
            found.extend(self.broken_invariants(&work));
            found.extend(self.broken_claims(&work.state, &work.shape));
        }
        (moves, found)
    }

    /// Which of the [watched](Options::watched) conditions hold in a state, the first as the lowest bit; or which has no
    /// value in it.
    pub(crate) fn watched_values(
        &self,
        state: &[u8],
        scratch: &mut Scratch,
    ) -> Result<u64, Violation> {
        self.known_values(state, scratch)
            .map_or_else(|| self.values(state, &self.options.watched), Ok)
    }

    /// Which of some conditions of the program, at most 64, hold in a state, the first as the lowest bit; or which
    /// has no value in it.
    pub fn values(&self, state: &[u8], conditions: &[u32]) -> Result<u64, Violation> {
        let shape = self.shapes.get(self.shape_of(state));
        let asks = |&number: &u32| self.program.conditions[number as usize].asks_timeout;
        let timeout =
            conditions.iter().any(asks) && self.is_stuck(&self.work(state), &mut self.scratch());
        let context = Context { process: None, timeout, ..self.context_of(state, &shape, 0) };
        let mut values = 0;
        let mut mistakes = Mistakes::new();
        for (bit, &number) in conditions.iter().enumerate() {
            let condition = &self.program.conditions[number as usize].expr;
            let value = context.eval(condition, &mut mistakes);
            match (value, mistakes.first()) {
                (Err(error), _) | (_, Some(&error)) => {
                    return Err(Violation::InvariantUndefined(number, error));
                }
                (Ok(value), None) => values |= u64::from(value != 0) << bit,
            }
        }
        Ok(values)
    }

    /// A state in the model's own terms.
    pub fn view(&self, state: &[u8]) -> View {
        let work = self.work(state);
        let values = |block: &Block, base: usize| {
            block.slots.iter().map(|s| load(state, base + s.offset as usize, s.scalar)).collect()
        };
        let context = self.context(&work, None, false);
        let processes = (0..work.shape.processes.len())
            .map(|i| {
                let at = work.shape.processes[i];
                let locals = &self.program.automaton(at.kind).locals;
                ProcessView {
                    body: at.kind,
                    state: context.control(i),
                    priority: context.priority(i),
                    locals: values(locals, at.offset + self.header.process),
                }
            })
            .collect();
        let channels = (1..=work.shape.channels.len())
            .map(|number| {
                let at = context.channel(number as i32).expect("counted from the shape");
                let messages = (0..context.message_count(at))
                    .map(|slot| {
                        (0..at.kind.fields.len())
                            .map(|i| context.message_field(at, slot, i))
                            .collect()
                    })
                    .collect();
                ChannelView { kind: work.shape.channels[number - 1].kind, messages }
            })
            .collect();
        View {
            globals: values(&self.program.globals, self.header.globals),
            hidden: values(&self.program.hidden, 0),
            processes,
            channels,
            claim: self.header.claim.map(|at| StateId(load_u16(state, at))),
            last: self.header.last.map(|at| i32::from(state[at])),
        }
    }
}

fn end_of(program: &Program, body: BodyId) -> StateId {
    let dies = |id| matches!(program.transition(id).action, Action::Die);
    let states = &program.automaton(body).states;
    let end = states.iter().position(|s| s.transition_ids().any(dies));
    StateId(end.unwrap_or(0) as u16)
}

impl System for Machine {
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        Scratch::new(self.program.transitions.len())
    }

    fn absorb(&self, scratch: &mut Scratch, other: Scratch) {
        scratch.absorb(&other);
    }

    fn initial(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.initial);
    }

    fn names(&self) -> Vec<u8> {
        self.shapes.names()
    }

    fn adopt(&self, names: &[u8]) -> bool {
        self.shapes.adopt(names)
    }

    fn expand(&self, state: &[u8], scratch: &mut Scratch, sink: &mut dyn Sink) -> Flow {
        self.explore(state, scratch, sink)
    }

    fn has_actors(&self) -> bool {
        self.is_plain() && self.header.trace.is_none() && !self.minds_claims()
    }

    fn actors(&self, state: &[u8]) -> usize {
        if !(self.compiles || self.expands_some()) || !self.has_actors() {
            return 0;
        }
        self.shapes.get(self.shape_of(state)).processes.len()
    }

    fn position(&self, state: &[u8], actor: usize) -> Range<usize> {
        let start = self.shapes.get(self.shape_of(state)).processes[actor].offset;
        start..start + CONTROL.bytes() as usize
    }

    fn footprint(
        &self,
        state: &[u8],
        actor: usize,
        scratch: &mut Scratch,
        out: &mut Footprint,
    ) -> Actor {
        self.footprint(state, actor, scratch, out)
    }

    fn expands_some(&self) -> bool {
        matches!(self.native.get(), Some(Some(_)))
    }

    fn expand_some(
        &self,
        state: &[u8],
        actors: &[usize],
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), Option<bool>> {
        self.explore_some(state, actors, scratch, sink)
    }

    fn expand_stuck(&self, state: &[u8], scratch: &mut Scratch, sink: &mut dyn Sink) -> Flow {
        self.explore_stuck(state, scratch, sink)
    }

    fn alone(&self, state: &[u8], from: usize, ever: bool) -> Option<usize> {
        let independence = self.independence.as_ref()?;
        let shape = self.shapes.get(self.shape_of(state));
        (from..shape.processes.len()).find(|&process| {
            let context = self.context_of(state, &shape, process);
            self.may_go_alone(independence, &context, ever)
        })
    }

    fn expand_alone(
        &self,
        state: &[u8],
        actor: usize,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), bool> {
        self.explore_alone(state, actor, scratch, sink)
    }

    fn takers(&self, state: &[u8]) -> usize {
        self.shapes.get(self.shape_of(state)).processes.len()
    }

    fn mover(&self, state: &[u8], actor: usize) -> Mover {
        let Some(Ok(movers)) = &self.movers else {
            return Mover::default();
        };
        let shape = self.shapes.get(self.shape_of(state));
        let control = self.context_of(state, &shape, actor).control(actor);
        movers.of(shape.processes[actor].kind, control)
    }

    fn expand_turn(
        &self,
        state: &[u8],
        actor: usize,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> Flow {
        self.explore_turn(state, actor, scratch, sink)
    }

    fn inspect(&self, state: &[u8], scratch: &mut Scratch, sink: &mut dyn Sink) -> Flow {
        self.explore_invariants(state, scratch, sink)
    }

    #[inline]
    fn layout(&self, state: &[u8]) -> u32 {
        self.shape_of(state)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        &state[self.header.shape..]
    }
}
