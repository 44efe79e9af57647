//! Where a process may move alone.
//!
//! *Idea*: of the steps that several processes can take next, in whatever order, it is enough to look at
//! those of one process, if nothing that the others ever do has anything to do with them (Peled, *All from
//! one, one for all*, 1993; Holzmann and Peled, *An improvement in formal verification*, 1994). Which local
//! states of a process are such is found out here, once for all, from what its steps there look at and
//! change: variables of the process, globals that nobody else uses, or uses in a way that does not matter.
//! Of channels it is seen in each state: a message can be put behind the others, if there is room, or be
//! taken, if there is one, whatever others do at the other end, if nobody else does the same and nobody asks.
//! That nobody else does it may also be [claimed](crate::exclusive).
//!
//! *Conditions* (Clarke, Grumberg, Peled, *Model checking*, 1999, chapter 10), where *s* is a state and *p*
//! the process that is chosen in it:
//! - C0: *p* has a move in *s*. (So nobody waits for `timeout` as long as it does not move.) That is seen when it is made (`explore/alone.rs` of the machine).
//! - C1: what others do, as long as *p* does not move, neither depends on the steps of *p* nor changes whether
//!   they are possible or what they do. All steps of *p* in its local state count, possible or not. What
//!   others do is all that their bodies have, those of processes that are created later included.
//! - C2: the steps of *p* change nothing that a watched condition looks at.
//! - C3: nobody is put off for ever. If in all states round a cycle only one process moves, some process goes
//!   round a cycle of its own automaton, and moves alone in each of its local states. So it is enough that in
//!   each cycle of an automaton there is a local state in which the process does not move alone (Kurshan,
//!   Levin, Minea, Peled, Yenigün, *Static partial order reduction*, 1998). This depends on no search order:
//!   what is left out of a state is the same for each search, and for any number of threads. A search that
//!   knows more of its order may let processes move alone there too, and see to it itself.
//!
//! So all deadlocks, all violations of assertions and conditions, and all reachable local states are found,
//! though not by shortest runs.
//!
//! *Fairness* asks more: that the steps of *p* change nothing about whether others can move. (Weak fairness is not
//! robust else, Peled, *Combining partial order reductions with on-the-fly model-checking*, 1996: a run may be fair to
//! somebody only because another order of steps that commute keeps it from moving for a moment.) Then for each fair run
//! there is one that is left. If in *s* the run goes on with others, *p* can move as long as it does not, so it moves
//! some time, as the run is fair. Made at once instead, its step leaves everybody else as able to move in each of the
//! states between as he was, and that is seen in both runs for the same processes again and again. (Who waits for
//! `timeout` cannot move in these states, neither with the step nor without, as in each of them somebody else can.) So
//! messages are put only where there is one, and taken only where there is room; nobody becomes ready for a
//! rendezvous, is created, or dies.
//!
//! *Cost*: a walk over the automata; in a state a look at a table, and at channels.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use crate::Program;
use crate::channels::fixed_channels;
use crate::ir::{
    Action, BodyId, BodyKind, ChannelTypeId, Expr, InitStep, Space, StateId, Transition,
    TransitionId,
};
use crate::touches::{Bytes, Touches, Use, overlap};

/// Where processes may move alone.
#[derive(Debug)]
pub struct Independence {
    bodies: Vec<Body>,
    /// What watched conditions ask of channels.
    watched: Vec<(Use, Channel)>,
    conditions: Conditions,
}

/// What is known of the processes of a body.
#[derive(Debug, Default)]
struct Body {
    /// By local state.
    states: Vec<Place>,
    /// What they do with channels.
    uses: Vec<(Use, Channel)>,
    /// Whether they create others anywhere.
    creates: bool,
}

/// What is known of a local state.
#[derive(Debug, Default)]
struct Place {
    alone: Option<Alone>,
    /// Whether from here on the process may create another, or die.
    creates: bool,
    dies: bool,
}

/// What a process does in a local state in which it may move alone, under conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// Ends of channels that nobody else must use.
    pub ends: Vec<(End, Channel)>,
    /// It may create a process, so that no other must, nor die.
    pub creates: bool,
    /// It may die, so that no other must create one.
    pub dies: bool,
    /// Here a cycle of the automaton is broken: who lets it move alone here too must see to it that nobody is
    /// put off for ever.
    pub turns: bool,
}

/// An end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where messages are put; there must be room.
    In,
    /// Where messages are taken; there must be one.
    Out,
}

/// Which channel is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The one with this number, or one of these.
    Numbers(Vec<i32>),
    /// The one whose number is in a variable of the process, at this offset, from its creation on.
    Own(u32),
    /// Any.
    Any,
}

impl Channel {
    /// Whether it is the same one as long as a process lives.
    pub fn is_one(&self) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.len() == 1,
            Self::Own(_) => true,
            Self::Any => false,
        }
    }
}

/// What must hold; tests leave out one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Nobody else uses the globals.
    pub globals: bool,
    /// Nobody else uses the same end of a channel, or asks about it.
    pub channels: bool,
    /// No channel is full, or empty.
    pub room: bool,
    /// Who creates processes, or dies, is alone in that.
    pub lives: bool,
    /// What is watched does not change.
    pub visibility: bool,
    /// Nobody is put off for ever.
    pub cycles: bool,
    /// What processes [claim](crate::exclusive) is not just believed.
    pub claims: bool,
    /// It makes no difference to whether others can move; only who is fair to them asks for that.
    pub chances: bool,
}

impl Conditions {
    /// All of them, if no run is left aside as not fair.
    pub const ALL: Self = Self {
        globals: true,
        channels: true,
        room: true,
        lives: true,
        visibility: true,
        cycles: true,
        claims: true,
        chances: false,
    };

    /// All of them.
    pub const FAIR: Self = Self { chances: true, ..Self::ALL };
}

impl Independence {
    /// Of the processes of a program of which some conditions are watched, and its trace perhaps, or why it
    /// cannot be told.
    pub fn new(
        program: &Program,
        watched: &[u32],
        traced: bool,
        conditions: Conditions,
    ) -> Result<Self, &'static str> {
        let analysis = Analysis::new(program, watched, traced, conditions);
        analysis.asks_nothing_of_all()?;
        let bodies = (0..program.automata.len()).map(|number| analysis.body(number)).collect();
        Ok(Self { bodies, watched: analysis.channels_of(None, &analysis.watched), conditions })
    }

    /// What must hold.
    pub fn conditions(&self) -> Conditions {
        self.conditions
    }

    /// Whether a process may move alone in a local state, and on what terms.
    pub fn alone(&self, body: BodyId, state: StateId) -> Option<&Alone> {
        self.bodies[body.0 as usize].states[state.0 as usize].alone.as_ref()
    }

    /// Whether processes of a body ever create others.
    pub fn ever_creates(&self, body: BodyId) -> bool {
        self.bodies[body.0 as usize].creates
    }

    /// Whether from a local state on a process may create others.
    pub fn may_create(&self, body: BodyId, state: StateId) -> bool {
        self.bodies[body.0 as usize].states[state.0 as usize].creates
    }

    /// Whether from a local state on a process may die.
    pub fn may_die(&self, body: BodyId, state: StateId) -> bool {
        self.bodies[body.0 as usize].states[state.0 as usize].dies
    }

    /// The channels that processes of a body use in a way that matters to who has an end alone; none:
    /// those that watched conditions ask about. If the end is claimed, it is an error if another process
    /// comes to use it, so that this does not matter.
    pub fn rivals(
        &self,
        body: Option<BodyId>,
        end: End,
        claimed: bool,
    ) -> impl Iterator<Item = &Channel> {
        let uses = body.map_or(&self.watched, |body| &self.bodies[body.0 as usize].uses);
        uses.iter()
            .filter(move |(use_, _)| {
                // Who looks for a certain message may find it behind others.
                let finds = self.conditions.chances && *use_ == Use::ReceiveAny;
                finds || end.has_rival(*use_) && !(claimed && end.is_used_by(*use_))
            })
            .map(|(_, channel)| channel)
    }
}

impl End {
    /// Whether messages are put, or taken, by what somebody does. (What he asks is something else, as is
    /// what happens all at once, which both count as tests.)
    fn is_used_by(self, use_: Use) -> bool {
        match use_ {
            Use::Send | Use::SendSorted => self == Self::In,
            Use::Receive | Use::ReceiveAny => self == Self::Out,
            Use::HasRoom | Use::HasMessage | Use::Test => false,
        }
    }

    /// Whether who has this end alone cares for what another one does.
    fn has_rival(self, use_: Use) -> bool {
        match use_ {
            Use::Send => self == Self::In,
            // May come before the first message.
            Use::SendSorted => true,
            Use::Receive | Use::ReceiveAny => self == Self::Out,
            // Once there is room, or a message, others at the other end cannot take that away.
            Use::HasRoom => self == Self::In,
            Use::HasMessage => self == Self::Out,
            Use::Test => true,
        }
    }
}

/// Whether it matters to some process, or to who watches conditions of a program, if others are ready for a
/// rendezvous, other than that it waits until they are.
pub fn asks_who_is_ready(program: &Program, watched: &[u32]) -> bool {
    Analysis::new(program, watched, false, Conditions::ALL).asks_who_is_ready
}

/// How many processes of a body there may be at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Number {
    #[default]
    None,
    One,
    Many,
}

/// All that the processes of a body do.
#[derive(Default)]
pub(crate) struct Life<'p> {
    pub touches: Touches<'p>,
    pub number: Number,
}

/// So many local states of atomic sequences are looked at together; longer ones are nobody's alone.
const MAX_INSIDE: usize = 64;

/// What all processes of a program do, and may do at a time.
pub(crate) struct Analysis<'p> {
    pub program: &'p Program,
    conditions: Conditions,
    /// By body.
    pub lives: Vec<Life<'p>>,
    pub watched: Touches<'p>,
    pub globals: Globals,
    /// By the offset of a global: the channel that it always holds.
    pub channels: BTreeMap<u32, (i32, ChannelTypeId)>,
    /// Whether it matters to some process if others are ready for a rendezvous, other than that it waits.
    asks_who_is_ready: bool,
}

/// The moves from a local state: first steps, and what follows in atomic sequences.
#[derive(Default)]
pub(crate) struct Moves<'p> {
    first: Touches<'p>,
    later: Touches<'p>,
    /// Where they may end.
    pub ends: Vec<StateId>,
    has_else: bool,
    escapes: bool,
    /// Whether not all of them were looked at.
    cut: bool,
}

impl<'p> Moves<'p> {
    /// All that they look at and change.
    pub fn all(&self) -> Touches<'p> {
        let mut all = self.first.clone();
        all.add_all(&self.later);
        all
    }

    /// Notes where a transition leads, also inside of an atomic sequence, which may be blocked there.
    fn go_on(&mut self, transition: &Transition, inside: &mut Vec<StateId>) {
        self.ends.push(transition.to);
        if transition.atomic && !inside.contains(&transition.to) {
            self.cut |= inside.len() == MAX_INSIDE;
            if !self.cut {
                inside.push(transition.to);
            }
        }
    }
}

/// Which processes use which globals.
#[derive(Default)]
pub(crate) struct Globals {
    /// Where pieces of them begin that are used as a whole, in order.
    pub pieces: Vec<(Space, u32)>,
    /// By piece: who looks at it, and who changes it.
    readers: Vec<Who>,
    writers: Vec<Who>,
}

/// Whose processes do something.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Who {
    #[default]
    Nobody,
    /// The only process of a body.
    One(usize),
    Several,
}

impl Who {
    pub fn add(&mut self, body: usize, number: Number) {
        *self = match *self {
            Self::Nobody if number == Number::One => Self::One(body),
            Self::One(before) if before == body => *self,
            _ => Self::Several,
        };
    }

    /// Whether others than a process of a body do.
    fn has_others(self, body: usize) -> bool {
        match self {
            Self::Nobody => false,
            Self::One(who) => who != body,
            Self::Several => true,
        }
    }
}

impl Globals {
    fn new(lives: &[Life<'_>]) -> Self {
        let touches = || lives.iter().map(|life| &life.touches);
        let all = touches().flat_map(|it| it.reads.iter().chain(&it.writes));
        let mut pieces: Vec<_> =
            all.flat_map(|(space, at)| [(*space, at.start), (*space, at.end)]).collect();
        pieces.sort_unstable();
        pieces.dedup();
        let nobody = vec![Who::Nobody; pieces.len()];
        let mut globals = Self { readers: nobody.clone(), writers: nobody, pieces };
        for (body, life) in lives.iter().enumerate() {
            for at in distinct(&life.touches.reads) {
                let pieces = globals.pieces(at);
                globals.readers[pieces].iter_mut().for_each(|who| who.add(body, life.number));
            }
            for at in distinct(&life.touches.writes) {
                let pieces = globals.pieces(at);
                globals.writers[pieces].iter_mut().for_each(|who| who.add(body, life.number));
            }
        }
        globals
    }

    /// The pieces of which some bytes are.
    pub fn pieces(&self, (space, at): &Bytes) -> Range<usize> {
        let place = |offset| self.pieces.partition_point(|&piece| piece < (*space, offset));
        place(at.start)..place(at.end)
    }

    /// Whether steps of a body change what others use, or look at what they change.
    pub fn are_shared(&self, body: usize, touches: &Touches<'_>) -> bool {
        touches.reads.iter().any(|at| self.is_shared(body, at, false))
            || touches.writes.iter().any(|at| self.is_shared(body, at, true))
    }

    /// Whether it matters to others that a step of a body looks at some bytes, or changes them.
    pub fn is_shared(&self, body: usize, at: &Bytes, changes: bool) -> bool {
        let pieces = self.pieces(at);
        let any = |who: &[Who]| who.iter().any(|who| who.has_others(body));
        any(&self.writers[pieces.clone()]) || changes && any(&self.readers[pieces])
    }
}

fn distinct(all: &[Bytes]) -> HashSet<&Bytes> {
    all.iter().collect()
}

impl<'p> Analysis<'p> {
    pub fn new(
        program: &'p Program,
        watched: &[u32],
        traced: bool,
        conditions: Conditions,
    ) -> Self {
        let mut lives: Vec<Life<'p>> = program.automata.iter().map(|_| Life::default()).collect();
        for transition in &program.transitions {
            let automaton = program.automaton(transition.body);
            if matches!(automaton.kind, BodyKind::Proctype | BodyKind::Init) {
                lives[transition.body.0 as usize].touches.add(program, transition);
            }
        }
        for (life, automaton) in lives.iter_mut().zip(&program.automata) {
            automaton.provided.iter().for_each(|provided| life.touches.expr(provided));
        }
        let mut all = Touches::default();
        for &number in watched {
            all.expr(&program.conditions[number as usize].expr);
        }
        // Whatever happens to a channel of the trace is seen.
        for transition in &program.transitions {
            if let Action::Event { channel, .. } = &transition.action
                && traced
                && program.trace == Some(transition.body)
            {
                all.uses.push((Use::Test, channel));
            }
        }
        let channels = fixed_channels(program);
        let mut analysis = Self {
            program,
            conditions,
            lives,
            watched: all,
            globals: Globals::default(),
            channels,
            asks_who_is_ready: false,
        };
        analysis.count();
        for life in &mut analysis.lives {
            if life.number == Number::None {
                life.touches = Touches::default();
            }
        }
        analysis.globals = Globals::new(&analysis.lives);
        analysis.asks_who_is_ready = conditions.chances || analysis.asks_who_is_ready();
        analysis
    }

    /// Why it cannot be told who has to do with whom, if so.
    pub fn asks_nothing_of_all(&self) -> Result<(), &'static str> {
        if self.program.uses.priorities {
            return Err("processes have priorities");
        }
        if self.program.uses.last {
            return Err("`_last` is used");
        }
        let mut all = self.lives.iter().map(|life| &life.touches).chain([&self.watched]);
        if all.any(|touches| touches.anything) {
            return Err("what a process may do depends on all others (`enabled`, `pc_value`, ...)");
        }
        Ok(())
    }

    /// Whether somebody does something else if nobody is ready for a rendezvous, or stops in the middle of an
    /// atomic sequence that others may have noticed. (If they have not, it might as well not have begun.)
    fn asks_who_is_ready(&self) -> bool {
        let peeps =
            |it: &Touches<'_>| !it.remote_variables.is_empty() || !it.remote_states.is_empty();
        let anybody_peeps =
            self.lives.iter().any(|life| peeps(&life.touches)) || peeps(&self.watched);
        let offers = |touches: &Touches<'_>| {
            let sends = |use_| matches!(use_, Use::Send | Use::SendSorted);
            touches.uses.iter().any(|&(use_, expr)| sends(use_) && self.may_meet(expr))
        };
        let is_noticed = |body: BodyId, moves: &Moves<'p>| {
            let all = moves.all();
            let lives = !all.creates.is_empty() || all.dies || all.counts_processes;
            let uses = !moves.first.uses.is_empty() || moves.later.uses.len() > 1;
            // Who may not begin any more has not waited for nothing.
            let provided = self.program.automaton(body).provided.is_some();
            let seen = provided || anybody_peeps || self.watched.looks_at(&all);
            lives || uses || moves.cut || seen || self.globals.are_shared(body.0 as usize, &all)
        };
        let asks = |body: BodyId, state: StateId| {
            let moves = self.moves(body, state);
            let mut ids = self.program.automaton(body).state(state).transition_ids();
            (moves.has_else || moves.escapes) && offers(&moves.first)
                || ids.any(|id| {
                    let moves = self.moves_by(body, [id].into_iter());
                    (moves.cut || offers(&moves.later)) && is_noticed(body, &moves)
                })
        };
        let living = self.program.automata.iter().zip(&self.lives);
        living.filter(|(_, life)| life.number > Number::None).any(|(automaton, _)| {
            (0..automaton.states.len()).any(|state| asks(automaton.body, StateId(state as u16)))
        })
    }

    /// Whether a channel may be one for rendezvous.
    fn may_meet(&self, channel: &Expr) -> bool {
        let is_rendezvous = |kind: ChannelTypeId| self.program.channel(kind).capacity == 0;
        match self.channel(None, channel) {
            Channel::Numbers(numbers) => {
                let mut kinds = self.channels.values().filter(|(it, _)| numbers.contains(it));
                kinds.any(|&(_, kind)| is_rendezvous(kind))
            }
            Channel::Own(_) | Channel::Any => {
                self.program.channels.iter().any(|kind| kind.capacity == 0)
            }
        }
    }

    /// Whether in a local state a process may be ready for a rendezvous: to answer it or, if whether others can move
    /// counts, to offer it.
    pub fn is_ready(&self, body: BodyId, state: StateId) -> bool {
        let mut touches = Touches::default();
        let ids = self.program.automaton(body).state(state).transition_ids();
        ids.for_each(|id| touches.add(self.program, self.program.transition(id)));
        let matters = |use_| match use_ {
            Use::Receive | Use::ReceiveAny => true,
            Use::Send | Use::SendSorted => self.conditions.chances,
            Use::HasRoom | Use::HasMessage | Use::Test => false,
        };
        touches.uses.iter().any(|&(use_, channel)| matters(use_) && self.may_meet(channel))
    }

    /// Finds out how many processes there may be.
    fn count(&mut self) {
        let runs: Vec<_> = self
            .program
            .transitions
            .iter()
            .filter_map(|transition| {
                let Action::Run { body, .. } = transition.action else {
                    return None;
                };
                let from = self.program.automaton(transition.body).state(transition.from);
                // The first statement of a block stands in two local states, of which one is never entered.
                from.reachable.then(|| (transition.body, body, self.is_on_cycle(transition)))
            })
            .collect();
        loop {
            let mut numbers = vec![0; self.lives.len()];
            for &(body, _) in &self.program.start {
                numbers[body.0 as usize] += 1;
            }
            for &(by, body, again) in &runs {
                numbers[body.0 as usize] += match self.lives[by.0 as usize].number {
                    Number::None => 0,
                    Number::One if !again => 1,
                    Number::One | Number::Many => 2,
                };
            }
            let mut changed = false;
            for (life, number) in self.lives.iter_mut().zip(numbers) {
                let number = match number {
                    0 => Number::None,
                    1 => Number::One,
                    _ => Number::Many,
                };
                changed |= std::mem::replace(&mut life.number, number) != number;
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether a process may come back to where a transition starts.
    pub fn is_on_cycle(&self, transition: &Transition) -> bool {
        let leads_there = |it: &Transition| it.to == transition.from;
        let start = transition.from == transition.to;
        start || self.ahead(transition.body, leads_there)[transition.to.0 as usize]
    }

    /// By local state: whether from there on there is such a transition.
    fn ahead(&self, body: BodyId, is_such: impl Fn(&Transition) -> bool) -> Vec<bool> {
        let states = &self.program.automaton(body).states;
        let mut before: Vec<Vec<StateId>> = vec![Vec::new(); states.len()];
        let mut ahead = vec![false; states.len()];
        let mut found = Vec::new();
        for (from, state) in states.iter().enumerate() {
            for transition in state.transition_ids().map(|id| self.program.transition(id)) {
                before[transition.to.0 as usize].push(StateId(from as u16));
                if is_such(transition) {
                    found.push(StateId(from as u16));
                }
            }
        }
        while let Some(state) = found.pop() {
            if !std::mem::replace(&mut ahead[state.0 as usize], true) {
                found.extend_from_slice(&before[state.0 as usize]);
            }
        }
        ahead
    }

    /// The moves of a process in a local state.
    pub fn moves(&self, body: BodyId, state: StateId) -> Moves<'p> {
        self.moves_by(body, self.program.automaton(body).state(state).transition_ids())
    }

    /// The moves that begin with some transitions of a local state.
    fn moves_by(&self, body: BodyId, first: impl Iterator<Item = TransitionId>) -> Moves<'p> {
        let program = self.program;
        let mut moves = Moves::default();
        // Local states inside of atomic sequences.
        let mut inside: Vec<StateId> = Vec::new();
        for transition in first.map(|id| program.transition(id)) {
            let at_once = matches!(transition.action, Action::DStep { .. });
            let touches = if at_once { &mut moves.later } else { &mut moves.first };
            touches.add(program, transition);
            moves.has_else |= matches!(transition.action, Action::Else);
            moves.escapes |= transition.escape > 0;
            moves.go_on(transition, &mut inside);
        }
        let mut next = 0;
        while let Some(&at) = inside.get(next) {
            next += 1;
            for id in program.automaton(body).state(at).transition_ids() {
                let transition = program.transition(id);
                moves.later.add(program, transition);
                moves.go_on(transition, &mut inside);
            }
        }
        moves
    }

    fn body(&self, number: usize) -> Body {
        let automaton = &self.program.automata[number];
        let (body, life) = (automaton.body, &self.lives[number]);
        let states = || (0..automaton.states.len()).map(|state| StateId(state as u16));
        if life.number == Number::None {
            let states = states().map(|_| Place::default()).collect();
            return Body { states, ..Body::default() };
        }
        let moves: Vec<_> = states().map(|state| self.moves(body, state)).collect();
        let mut alone: Vec<_> = states()
            .zip(&moves)
            .map(|(state, moves)| self.alone(body, state, moves).filter(|_| !moves.ends.is_empty()))
            .collect();
        if self.conditions.cycles {
            let ways =
                states().zip(&moves).map(|(state, moves)| match self.always_creates(body, state) {
                    true => &[][..],
                    false => moves.ends.as_slice(),
                });
            cut_cycles(&ways.collect::<Vec<_>>(), &mut alone);
        }
        let mut uses = self.channels_of(Some(body), &life.touches);
        // Whether there is room, or a message, is asked by who can do something else instead, or must not have a
        // choice, and matters to who would stop in the middle of an atomic sequence.
        let mut asked = Touches::default();
        if automaton.deterministic {
            asked.add_all(&life.touches);
        }
        for moves in moves.iter().filter(|moves| moves.has_else || moves.escapes) {
            asked.add_all(&moves.first);
        }
        let all = states().flat_map(|state| automaton.state(state).transition_ids());
        for transition in all.map(|id| self.program.transition(id)) {
            if matches!(transition.action, Action::DStep { .. }) {
                asked.add(self.program, transition);
            }
            if transition.atomic {
                let next = automaton.state(transition.to).transition_ids();
                next.for_each(|id| asked.add(self.program, self.program.transition(id)));
            }
        }
        let asked = self.channels_of(Some(body), &asked);
        uses.extend(asked.into_iter().map(|(_, channel)| (Use::Test, channel)));
        let creates = self.ahead(body, |it| matches!(it.action, Action::Run { .. }));
        let dies = self.ahead(body, |it| matches!(it.action, Action::Die));
        let ahead = creates.into_iter().zip(dies);
        let states = alone.into_iter().zip(ahead);
        let states = states.map(|(alone, (creates, dies))| Place { alone, creates, dies });
        Body { states: states.collect(), uses, creates: !life.touches.creates.is_empty() }
    }

    /// Whether each move from a local state creates a process. Round a cycle of states somebody must die then, and
    /// who does is not alone in that as long as others create: so this cycle needs no cut.
    fn always_creates(&self, body: BodyId, state: StateId) -> bool {
        let mut ids = self.program.automaton(body).state(state).transition_ids();
        let creates = |id| matches!(self.program.transition(id).action, Action::Run { .. });
        self.conditions.lives && ids.all(creates)
    }

    /// Whether moves from a local state neither ask about other processes nor are seen by anybody, whatever
    /// globals and channels they use.
    pub fn is_private(&self, body: BodyId, state: StateId, moves: &Moves<'p>) -> bool {
        let all = moves.all();
        let asks = all.anything || all.counts_processes;
        let peeks = !all.remote_variables.is_empty() || !all.remote_states.is_empty();
        let provided = self.program.automaton(body).provided.is_some();
        let is_seen = self.conditions.visibility && self.watched.looks_at(&all);
        let born = all.creates.iter().map(|&it| (it, self.program.automaton(it).initial));
        let mut ends = moves.ends.iter().map(|&end| (body, end)).chain(born);
        let becomes_ready =
            self.asks_who_is_ready && ends.any(|(body, state)| self.is_ready(body, state));
        if asks || peeks || provided || is_seen || becomes_ready || moves.cut {
            return false;
        }
        // Who looks at other processes may look at this one.
        let is_peeped_at = |it: &Touches<'_>| {
            let mut states = moves.ends.iter().chain([&state]);
            states.any(|state| it.remote_states.contains(state))
                || it
                    .remote_variables
                    .iter()
                    .any(|at| all.own_writes.iter().any(|own| overlap(at, own)))
        };
        !self.peeping(body).any(is_peeped_at)
    }

    /// Whether a process may move alone in a local state, if nobody is put off for ever by that.
    fn alone(&self, body: BodyId, state: StateId, moves: &Moves<'p>) -> Option<Alone> {
        let all = moves.all();
        let meets_others =
            self.conditions.globals && self.globals.are_shared(body.0 as usize, &all);
        if meets_others || !self.is_private(body, state, moves) {
            return None;
        }
        let (creates, dies) = (!all.creates.is_empty(), all.dies);
        if (creates || dies) && self.conditions.chances {
            return None;
        }
        if (creates || dies) && self.conditions.lives {
            let counts = |it: &Touches<'_>| {
                it.counts_processes
                    || !it.remote_variables.is_empty()
                    || !it.remote_states.is_empty()
            };
            // Which numbers are those of channels shows to who has one that is gone.
            let is_channel = |step: &InitStep| matches!(step, InitStep::NewChannel(..));
            let owns = |body: BodyId| self.program.automaton(body).init.iter().any(is_channel);
            let channels = dies && owns(body) || all.creates.iter().any(|&body| owns(body));
            if channels || self.peeping(body).any(counts) {
                return None;
            }
        }
        if !moves.later.uses.is_empty() {
            return None;
        }
        let mut ends = Vec::new();
        for (use_, channel) in self.channels_of(Some(body), &moves.first) {
            let end = match use_ {
                Use::Send | Use::HasRoom => End::In,
                Use::Receive | Use::HasMessage => End::Out,
                Use::SendSorted | Use::ReceiveAny | Use::Test => return None,
            };
            if !channel.is_one() || moves.has_else || moves.escapes {
                return None;
            }
            if !ends.contains(&(end, channel.clone())) {
                ends.push((end, channel));
            }
        }
        let lives = self.conditions.lives;
        Some(Alone { ends, creates: creates && lives, dies: dies && lives, turns: false })
    }

    /// What others may do while a process of a body lives, and what is watched.
    fn peeping(&self, body: BodyId) -> impl Iterator<Item = &Touches<'p>> {
        let lives = self.lives.iter().enumerate();
        lives
            .filter(move |(number, life)| *number != body.0 as usize || life.number == Number::Many)
            .map(|(_, life)| &life.touches)
            .chain([&self.watched])
    }

    /// Which channels are used by the processes of a body, or by none, and how.
    pub fn channels_of(&self, body: Option<BodyId>, touches: &Touches<'p>) -> Vec<(Use, Channel)> {
        let mut uses: Vec<(Use, Channel)> = Vec::new();
        for &(use_, expr) in &touches.uses {
            let channel = self.channel(body, expr);
            if !uses.contains(&(use_, channel.clone())) {
                uses.push((use_, channel));
            }
        }
        uses
    }

    /// Which channel an expression of a body, or of none, means.
    pub fn channel(&self, body: Option<BodyId>, expr: &Expr) -> Channel {
        let Expr::Load(place) = expr else {
            return Channel::Any;
        };
        match (place.space, body) {
            (Space::Global, _) => {
                let step = match place.indexes.as_slice() {
                    [] => u32::MAX,
                    [index] => index.stride,
                    _ => return Channel::Any,
                };
                let offsets = place.span().step_by(step as usize);
                let number = |offset: u32| self.channels.get(&offset).map(|&(number, _)| number);
                offsets.map(number).collect::<Option<_>>().map_or(Channel::Any, Channel::Numbers)
            }
            (Space::Local, Some(body)) if place.indexes.is_empty() => {
                let at = place.span();
                let writes = &self.lives[body.0 as usize].touches.own_writes;
                let is_fixed = !writes.iter().any(|written| overlap(written, &at));
                if is_fixed { Channel::Own(place.offset) } else { Channel::Any }
            }
            _ => Channel::Any,
        }
    }
}

impl Touches<'_> {
    /// Whether something is looked at that others change.
    fn looks_at(&self, other: &Self) -> bool {
        let meet = |a: &Bytes, b: &Bytes| a.0 == b.0 && overlap(&a.1, &b.1);
        self.reads.iter().any(|a| other.writes.iter().any(|b| meet(a, b)))
    }
}

/// Cuts each cycle of local states in which a process may move alone, where it closes in a depth-first walk.
fn cut_cycles(ways: &[&[StateId]], alone: &mut [Option<Alone>]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; ways.len()];
    for start in 0..ways.len() {
        if alone[start].is_none() || marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut stack = vec![(start, 0)];
        while let Some((state, next)) = stack.last_mut() {
            let Some(&StateId(to)) = ways[*state].get(*next) else {
                marks[*state] = Mark::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            let to = usize::from(to);
            let is_cut = alone[*state].as_ref().is_none_or(|alone| alone.turns);
            match (&mut alone[to], marks[to]) {
                (Some(alone), Mark::Open) if !is_cut => alone.turns = true,
                (Some(_), Mark::New) => {
                    marks[to] = Mark::Open;
                    stack.push((to, 0));
                }
                _ => {}
            }
        }
    }
}
