//! What a process can do, as far as it is known.
//!
//! *Idea*: a process is looked at alone, with those of its variables that have few values. What a statement asks of others,
//! a global, a channel, where somebody is, is not known: each answer is tried, and noted as something that
//! has to be so ([`Op`]). What nobody keeps track of has no value, and a condition without a value may be
//! true or false.
//!
//! *Invariant*: whatever a statement does in a state of the model, one of the ways found does it too: from the same local
//! state to the same local state, and its notes are true of all other parts.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use spinward_program::Program;
use spinward_program::ir::{
    Action, BinaryOp, Block, BodyId, ChannelTest, ChannelType, Expr, InitStep, Place, ReceiveArg,
    Scalar, Space, StateId, Transition,
};
use spinward_program::touches::each_step;

/// Where a process is, and the values of those of its variables that are kept track of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local {
    pub body: BodyId,
    pub control: StateId,
    pub values: Vec<i32>,
}

/// The fields of a message; 0 for those that nobody keeps track of.
pub type Message = Vec<i32>;

/// What is looked at or changed by others than its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// The process with a number.
    Process(usize),
    /// The global at an offset.
    Global(u32),
    /// The channel with a number, from 0.
    Channel(usize),
}

/// What is asked of a site, or done to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// A global has a value.
    Is(i32),
    /// It has one of these.
    Among(Vec<i32>),
    /// It gets a value.
    Set(i32),
    /// A channel holds so many messages.
    Length(usize),
    /// It is full, or is not.
    Full(bool),
    /// One of these messages is in it, or only if it is the first; or is not.
    Poll { fits: Vec<Message>, random: bool, holds: bool },
    /// A message goes into it.
    Send { message: Message, sorted: bool },
    /// This message comes out of it: the first, or the first of some.
    Receive { message: Message, fits: Option<Vec<Message>>, keep: bool },
    /// It goes, with the process that made it.
    Clear,
    /// A process, of a type if that matters, is in a local state, or is not.
    At(Option<BodyId>, StateId, bool),
    /// A variable of it has a value; 0 if it is of another type, or gone.
    Holds { body: BodyId, offset: u32, value: i32 },
    /// It is nowhere where it takes a message from a rendezvous channel, as far as that is sure.
    Deaf(usize, Message),
    /// There is such a process.
    Present,
    /// There is none.
    Absent,
    /// It is created.
    Create(Local),
}

/// How others have part in a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Alone,
    /// Offers a message in a rendezvous.
    Offer(usize, Message),
    /// Answers such an offer.
    Answer(usize, Message),
}

/// What came of a way.
#[derive(Clone, Debug)]
pub struct Way {
    /// None if the process is gone.
    pub to: Option<Local>,
    pub ops: BTreeMap<Site, Vec<Op>>,
    pub kind: Kind,
    /// Something is wrong on it.
    pub wrong: bool,
    /// It creates a process.
    pub creates: bool,
}

/// Why there is no way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It cannot be taken, or something goes wrong while it is run.
    Impossible,
    /// Less is kept track of from now on: all has to be looked at again.
    Restart,
}

/// A channel of the first state.
#[derive(Clone, Debug)]
pub struct Channel {
    pub kind: ChannelType,
    /// With whom it goes.
    pub owner: Option<usize>,
    /// Messages that are ever sent.
    pub messages: BTreeSet<Message>,
    /// By field: whether it is not kept track of.
    pub lost_fields: Vec<bool>,
    /// Nothing is known of it.
    pub lost: bool,
}

/// What is kept track of, and which values are known to occur.
#[derive(Debug)]
pub struct Knowledge<'p> {
    pub program: &'p Program,
    pub globals: BTreeMap<u32, BTreeSet<i32>>,
    /// By body: its variables.
    pub locals: Vec<Vec<(u32, Scalar)>>,
    pub channels: Vec<Channel>,
    /// By process: the local states it may be in.
    pub processes: Vec<FxHashSet<Local>>,
    /// It is not known which channel is meant: who offers a message and who takes one need not meet.
    pub loose: bool,
    /// Assertions are looked at.
    pub assertions: bool,
    /// Something was learnt.
    pub grew: bool,
    /// Nothing has been met that may go wrong while it is run: what has no value, or none that is allowed.
    pub harmless: bool,
    /// Why the model cannot be taken apart, if it cannot.
    pub refused: Option<String>,
    /// The `d_step`s, by body and first local state, that are too long to be followed.
    opaque: FxHashSet<(BodyId, StateId)>,
    lost_globals: FxHashSet<u32>,
    lost_locals: FxHashSet<(BodyId, u32)>,
}

/// Values of a global that are kept track of.
const MAX_VALUES: usize = 256;

/// Messages of a channel that are told apart.
const MAX_MESSAGES: usize = 64;

/// With so many processes there may be no room for another one.
const MANY: usize = 200;

/// Steps of a `d_step`.
const MAX_STEPS: usize = 4096;

impl<'p> Knowledge<'p> {
    pub fn new(program: &'p Program, channels: Vec<Channel>, assertions: bool) -> Self {
        let mut knowledge = Self {
            program,
            globals: BTreeMap::new(),
            locals: Vec::new(),
            channels,
            processes: Vec::new(),
            loose: false,
            assertions,
            grew: false,
            harmless: true,
            refused: None,
            opaque: FxHashSet::default(),
            lost_globals: FxHashSet::default(),
            lost_locals: FxHashSet::default(),
        };
        knowledge.forget_values();
        knowledge
    }

    /// Begins again, with what is kept track of.
    pub fn forget_values(&mut self) {
        let slots = |block: &Block| -> Vec<(u32, Scalar)> {
            block.slots.iter().map(|slot| (slot.offset, slot.scalar)).collect()
        };
        let globals = slots(&self.program.globals).into_iter();
        let kept = globals.filter(|(offset, _)| !self.lost_globals.contains(offset));
        self.globals = kept.map(|(offset, _)| (offset, BTreeSet::new())).collect();
        let automata = self.program.automata.iter();
        self.locals = automata
            .map(|automaton| {
                let mut cells = slots(&automaton.locals);
                cells.retain(|(offset, _)| !self.lost_locals.contains(&(automaton.body, *offset)));
                cells
            })
            .collect();
        self.harmless = true;
        self.channels.iter_mut().for_each(|channel| channel.messages.clear());
        self.processes.iter_mut().for_each(FxHashSet::clear);
    }

    /// Where the value of a variable of a process is among those kept track of.
    fn index(&self, body: BodyId, offset: u32) -> Option<usize> {
        let cells = &self.locals[body.0 as usize];
        cells.iter().position(|(at, _)| *at == offset)
    }

    pub fn lose_global(&mut self, offset: u32) -> Stop {
        self.lost_globals.insert(offset);
        Stop::Restart
    }

    pub fn lose_local(&mut self, body: BodyId, offset: u32) -> Stop {
        self.lost_locals.insert((body, offset));
        Stop::Restart
    }

    /// Keeps track of less of a channel: of one field less, or of no channel's contents.
    pub fn lose_of_channel(&mut self, channel: usize) -> Stop {
        let Channel { messages, lost_fields, lost, .. } = &mut self.channels[channel];
        let different =
            |field: usize| messages.iter().map(|it| it[field]).collect::<BTreeSet<_>>().len();
        let kept = (0..lost_fields.len()).filter(|field| !lost_fields[*field]);
        match kept.max_by_key(|field| different(*field)) {
            Some(field) => lost_fields[field] = true,
            None => *lost = true,
        }
        Stop::Restart
    }

    fn lose_fields(&mut self, channel: usize) -> Stop {
        self.channels[channel].lost_fields.fill(true);
        Stop::Restart
    }

    /// Any channel may be meant.
    fn lose_channels(&mut self) -> Stop {
        self.loose = true;
        self.channels.iter_mut().for_each(|channel| channel.lost = true);
        Stop::Restart
    }

    /// Whether processes of a type are created by others.
    fn creates(&self, body: BodyId) -> bool {
        let runs = |action: &Action| matches!(action, Action::Run { body: it, .. } if *it == body);
        self.program.transitions.iter().any(|it| runs(&it.action))
    }

    /// Notes a value of a global.
    pub fn add_value(&mut self, offset: u32, value: i32) -> Result<(), Stop> {
        let Some(values) = self.globals.get_mut(&offset) else {
            return Ok(());
        };
        self.grew |= values.insert(value);
        if values.len() > MAX_VALUES { Err(self.lose_global(offset)) } else { Ok(()) }
    }

    /// Notes a message.
    pub fn add_message(&mut self, channel: usize, message: &Message) -> Result<(), Stop> {
        let messages = &mut self.channels[channel].messages;
        if !messages.contains(message) {
            messages.insert(message.clone());
            self.grew = true;
        }
        let too_many = messages.len() > MAX_MESSAGES;
        if too_many { Err(self.lose_of_channel(channel)) } else { Ok(()) }
    }

    /// Notes where a process may be.
    pub fn add_local(&mut self, process: usize, local: &Local) {
        if !self.processes[process].contains(local) {
            self.processes[process].insert(local.clone());
            self.grew = true;
        }
    }
}

/// Answers to what is not known, one after the other.
#[derive(Debug, Default)]
pub struct Choices {
    script: Vec<(usize, usize)>,
    at: usize,
    /// The global with the most values that was asked for.
    widest: Option<(usize, u32)>,
    pub tried: usize,
}

impl Choices {
    fn choose(&mut self, of: usize) -> usize {
        if of == 1 {
            return 0;
        }
        if self.at == self.script.len() {
            self.script.push((0, of));
        }
        self.at += 1;
        self.script[self.at - 1].0
    }

    /// That there are too many answers: of what asks for them less is kept track of, or it is not followed.
    pub fn lose(&self, know: &mut Knowledge<'_>, transition: &Transition) -> Stop {
        match (self.widest, &transition.action) {
            (None, Action::DStep { entry }) => {
                know.opaque.insert((transition.body, *entry));
                Stop::Restart
            }
            _ => self.lose_global(know),
        }
    }

    /// The same, where no statement asks.
    pub fn lose_global(&self, know: &mut Knowledge<'_>) -> Stop {
        match self.widest {
            Some((_, offset)) => know.lose_global(offset),
            None => {
                know.refused = Some("a condition can be true in too many ways".into());
                Stop::Restart
            }
        }
    }

    /// Goes on to the next answers, if there are any.
    pub fn next(&mut self) -> bool {
        self.tried += 1;
        self.at = 0;
        while let Some((answer, of)) = self.script.last_mut() {
            *answer += 1;
            if answer < of {
                return true;
            }
            self.script.pop();
        }
        false
    }
}

/// Somebody who looks at what is known: a process, or who asks about the model.
pub struct Walk<'k, 'p> {
    know: &'k mut Knowledge<'p>,
    choices: &'k mut Choices,
    process: usize,
    local: Option<Local>,
    /// Globals that were read or set on the way.
    known: FxHashMap<u32, i32>,
    /// Values that globals may have, which were only compared.
    among: FxHashMap<u32, Vec<i32>>,
    ops: BTreeMap<Site, Vec<Op>>,
    wrong: bool,
    creates: bool,
    /// What `timeout` is.
    timeout: Option<i32>,
}

type Value = Result<Option<i32>, Stop>;

impl<'k, 'p> Walk<'k, 'p> {
    pub fn new(
        know: &'k mut Knowledge<'p>,
        choices: &'k mut Choices,
        process: usize,
        local: Option<Local>,
    ) -> Self {
        Self {
            know,
            choices,
            process,
            local,
            known: FxHashMap::default(),
            among: FxHashMap::default(),
            ops: BTreeMap::new(),
            wrong: false,
            creates: false,
            timeout: None,
        }
    }

    /// A way of a transition.
    pub fn take(mut self, transition: &'p Transition) -> Result<Way, Stop> {
        let program = self.know.program;
        if let Some(provided) = &program.automaton(transition.body).provided
            && self.eval(provided)? == Some(0)
        {
            return Err(Stop::Impossible);
        }
        if matches!(transition.action, Action::Else) {
            self.no_other(transition)?;
        }
        let kind = self.act(transition)?;
        self.reset(&transition.resets);
        if let Some(local) = &mut self.local {
            local.control = transition.to;
        }
        let Self { local, ops, wrong, creates, .. } = self;
        Ok(Way { to: local, ops, kind, wrong, creates })
    }

    /// Under which notes a process cannot move.
    pub fn blocked(mut self) -> Result<BTreeMap<Site, Vec<Op>>, Stop> {
        self.timeout = Some(1);
        let Some(local) = self.local.clone() else {
            return Ok(self.ops);
        };
        let program = self.know.program;
        let automaton = program.automaton(local.body);
        if let Some(provided) = &automaton.provided
            && self.eval(provided)? == Some(0)
        {
            return Ok(self.ops);
        }
        for id in automaton.state(local.control).transition_ids() {
            let action = &program.transition(id).action;
            if self.guard(action)? == Some(true) {
                return Err(Stop::Impossible);
            }
            if let Action::Send { channel, args, .. } = action {
                self.unheard(channel, args)?;
            }
        }
        Ok(self.ops)
    }

    /// That nobody takes what is offered in a rendezvous.
    fn unheard(&mut self, channel: &Expr, args: &[Expr]) -> Result<(), Stop> {
        let Some(channel) = self.channel(channel)? else {
            return Ok(());
        };
        let Channel { kind, lost, lost_fields, .. } = &self.know.channels[channel];
        if kind.capacity > 0 || *lost || lost_fields.contains(&true) {
            return Ok(());
        }
        let Kind::Offer(channel, message) = self.offer(channel, false, args)? else {
            return Ok(());
        };
        for process in (0..self.know.processes.len()).filter(|it| *it != self.process) {
            self.ops
                .entry(Site::Process(process))
                .or_default()
                .push(Op::Deaf(channel, message.clone()));
        }
        Ok(())
    }

    /// Under which notes conditions have values, or may have.
    pub fn holds<'e>(
        mut self,
        literals: impl Iterator<Item = (&'e Expr, bool)>,
    ) -> Result<BTreeMap<Site, Vec<Op>>, Stop> {
        for (expr, wanted) in literals {
            if self.maybe(expr)?.is_some_and(|value| (value != 0) != wanted) {
                return Err(Stop::Impossible);
            }
        }
        Ok(self.ops)
    }

    /// Something goes wrong, or may.
    fn mistake(&mut self) -> Stop {
        self.know.harmless = false;
        Stop::Impossible
    }

    fn note(&mut self, site: Site, op: Op) {
        self.ops.entry(site).or_default().push(op);
    }

    /// That no other transition of the same local state is possible, as far as that is known.
    fn no_other(&mut self, transition: &Transition) -> Result<(), Stop> {
        let program = self.know.program;
        let state = program.automaton(transition.body).state(transition.from);
        for id in state.transition_ids() {
            let other = program.transition(id);
            let counts = other.escape == transition.escape && !matches!(other.action, Action::Else);
            if counts && self.guard(&other.action)? == Some(true) {
                return Err(Stop::Impossible);
            }
        }
        Ok(())
    }

    /// Whether a statement is possible, if that is known.
    fn guard(&mut self, action: &Action) -> Result<Option<bool>, Stop> {
        let possible = match action {
            Action::Condition(condition) => return Ok(self.eval(condition)?.map(|it| it != 0)),
            Action::Send { channel, .. } => {
                let Some(channel) = self.queue(channel)? else {
                    return Ok(None);
                };
                let full = self.choices.choose(2) == 1;
                self.note(Site::Channel(channel), Op::Full(full));
                !full
            }
            Action::Receive { channel, random, args, .. } => {
                let Some(channel) = self.queue(channel)? else {
                    return Ok(None);
                };
                return self.poll(channel, *random, args);
            }
            Action::Die => {
                let youngest = self.process + 1 == self.know.processes.len();
                let youngest = youngest || self.choices.choose(2) == 1;
                if self.process + 1 < self.know.processes.len() {
                    let op = if youngest { Op::Absent } else { Op::Present };
                    self.note(Site::Process(self.process + 1), op);
                }
                youngest
            }
            Action::DStep { entry } => {
                let program = self.know.program;
                let Some(body) = self.local.as_ref().map(|it| it.body) else {
                    return Ok(None);
                };
                let mut answer = Some(false);
                for id in program.automaton(body).state(*entry).transition_ids() {
                    match self.guard(&program.transition(id).action)? {
                        Some(true) => return Ok(Some(true)),
                        Some(false) => {}
                        None => answer = None,
                    }
                }
                return Ok(answer);
            }
            Action::Event { .. } | Action::C(_) => false,
            _ => true,
        };
        Ok(Some(possible))
    }

    /// A channel whose contents are known.
    fn queue(&mut self, channel: &Expr) -> Result<Option<usize>, Stop> {
        let Some(channel) = self.channel(channel)? else {
            return Ok(None);
        };
        let Channel { kind, lost, .. } = &self.know.channels[channel];
        Ok((kind.capacity > 0 && !lost).then_some(channel))
    }

    /// Which channel is meant, from 0; none if nobody knows.
    fn channel(&mut self, channel: &Expr) -> Result<Option<usize>, Stop> {
        match self.eval(channel)? {
            Some(number) => {
                let index = usize::try_from(i64::from(number) - 1).ok();
                let found = index.filter(|it| *it < self.know.channels.len());
                found.map(Some).ok_or_else(|| self.mistake())
            }
            None if self.know.loose => {
                self.mistake();
                Ok(None)
            }
            None => Err(self.know.lose_channels()),
        }
    }

    /// Whether a receive would find a message.
    fn poll(
        &mut self,
        channel: usize,
        random: bool,
        args: &[ReceiveArg],
    ) -> Result<Option<bool>, Stop> {
        let (wanted, sure) = self.wanted(channel, args)?;
        let fits = self.fitting(channel, &wanted);
        let holds = self.choices.choose(2) == 1;
        self.note(Site::Channel(channel), Op::Poll { fits, random, holds });
        Ok(if holds && !sure { None } else { Some(holds) })
    }

    /// By field the value that a receive asks for, if it asks for one that is known; and whether that is all.
    fn wanted(
        &mut self,
        channel: usize,
        args: &[ReceiveArg],
    ) -> Result<(Vec<Option<i32>>, bool), Stop> {
        let lost = self.know.channels[channel].lost_fields.clone();
        if args.len() != lost.len() {
            self.mistake();
        }
        if args.len() > lost.len() {
            return Err(Stop::Impossible);
        }
        let mut sure = true;
        let mut wanted = Vec::with_capacity(args.len());
        for (arg, lost) in args.iter().zip(lost) {
            wanted.push(match arg {
                ReceiveArg::Match(value) => {
                    let value = self.eval(value)?.filter(|_| !lost);
                    sure &= value.is_some();
                    value
                }
                ReceiveArg::Store(_) | ReceiveArg::Ignore => None,
            });
        }
        Ok((wanted, sure))
    }

    fn fitting(&self, channel: usize, wanted: &[Option<i32>]) -> Vec<Message> {
        let messages = self.know.channels[channel].messages.iter();
        messages.filter(|it| fits(it, wanted)).cloned().collect()
    }

    fn act(&mut self, transition: &'p Transition) -> Result<Kind, Stop> {
        match &transition.action {
            Action::Skip | Action::Else => {}
            Action::Print { args, .. } => {
                if !args.iter().all(|(arg, _)| is_harmless(arg)) {
                    self.mistake();
                }
            }
            Action::PrintMtype(value, _) if is_harmless(value) => {}
            Action::PrintMtype(..) | Action::SetPriority(..) | Action::SetOwnPriority(_) => {
                self.mistake();
            }
            Action::Condition(condition) => {
                if self.eval(condition)? == Some(0) {
                    return Err(Stop::Impossible);
                }
            }
            Action::Assign(place, value) => {
                let value = self.eval(value)?;
                self.set(place, value)?;
            }
            Action::AssignAll(pairs) => {
                for (place, value) in pairs {
                    let value = self.eval(value)?;
                    self.set(place, value)?;
                }
            }
            Action::Assert(condition) => {
                if self.know.assertions {
                    self.wrong |= match self.eval(condition)? {
                        Some(value) => value == 0,
                        None => self.choices.choose(2) == 1,
                    };
                }
            }
            Action::Run { result, body, args, .. } => self.create(*body, args, result.as_ref())?,
            Action::Send { channel, sorted, args } => return self.send(channel, *sorted, args),
            Action::Receive { channel, random, keep, args } => {
                return self.receive(channel, *random, *keep, args);
            }
            Action::Die => {
                if self.guard(&transition.action)? == Some(false) {
                    return Err(Stop::Impossible);
                }
                self.local = None;
                let owned = self.know.channels.iter().enumerate();
                let owned = owned.filter(|(_, it)| it.owner == Some(self.process) && !it.lost);
                let owned: Vec<usize> = owned.map(|(channel, _)| channel).collect();
                owned.into_iter().for_each(|it| self.note(Site::Channel(it), Op::Clear));
            }
            Action::DStep { entry } => return self.d_step(transition, *entry),
            Action::Event { .. } | Action::C(_) => return Err(Stop::Impossible),
        }
        Ok(Kind::Alone)
    }

    fn d_step(&mut self, transition: &'p Transition, entry: StateId) -> Result<Kind, Stop> {
        if self.know.opaque.contains(&(transition.body, entry)) {
            return self.anything(transition);
        }
        let program = self.know.program;
        let automaton = program.automaton(transition.body);
        let (mut at, mut kind) = (entry, Kind::Alone);
        for step in 0..MAX_STEPS {
            if step > 0 && at == transition.to {
                return Ok(kind);
            }
            let mut chosen = None;
            for id in automaton.state(at).transition_ids() {
                let inner = program.transition(id);
                let possible = match self.guard(&inner.action)? {
                    Some(possible) => possible,
                    None => self.choices.choose(2) == 1,
                };
                if possible {
                    chosen = Some(inner);
                    break;
                }
            }
            let Some(inner) = chosen else {
                return Err(self.mistake());
            };
            let way = self.act(inner)?;
            if step == 0 {
                kind = way;
            } else if way != Kind::Alone {
                return Err(self.mistake());
            }
            at = inner.to;
        }
        self.know.opaque.insert((transition.body, entry));
        Err(Stop::Restart)
    }

    /// A `d_step` that is too long: what it may change has no known value any more.
    fn anything(&mut self, transition: &'p Transition) -> Result<Kind, Stop> {
        self.mistake();
        let mut inside = Vec::new();
        each_step(self.know.program, transition, |inner| inside.push(&inner.action));
        for action in inside {
            match action {
                Action::Assign(place, _) => self.set(place, None)?,
                Action::AssignAll(pairs) => {
                    pairs.iter().try_for_each(|(place, _)| self.set(place, None))?;
                }
                Action::Receive { args, .. } => self.store(args, None)?,
                Action::Run { .. } => {
                    self.know.refused = Some("a long d_step creates processes".into());
                    return Err(Stop::Restart);
                }
                _ => {}
            }
            let uses_channel = matches!(action, Action::Send { .. } | Action::Receive { .. });
            if uses_channel && !self.know.loose {
                return Err(self.know.lose_channels());
            }
        }
        self.wrong |= self.know.assertions && self.choices.choose(2) == 1;
        Ok(Kind::Alone)
    }

    fn send(&mut self, channel: &Expr, sorted: bool, args: &[Expr]) -> Result<Kind, Stop> {
        let found = self.channel(channel)?;
        match found.filter(|it| !self.know.channels[*it].lost) {
            Some(channel) => self.offer(channel, sorted, args),
            None => Ok(Kind::Alone),
        }
    }

    fn offer(&mut self, channel: usize, sorted: bool, args: &[Expr]) -> Result<Kind, Stop> {
        let fields = self.know.channels[channel].kind.fields.clone();
        if fields.len() != args.len() {
            self.mistake();
        }
        let mut message = Vec::with_capacity(fields.len());
        let mut is_exact = true;
        for (number, field) in fields.iter().enumerate() {
            let lost = self.know.channels[channel].lost_fields[number];
            message.push(match args.get(number) {
                Some(arg) if !lost => {
                    let Some(value) = self.eval(arg)? else {
                        self.know.channels[channel].lost_fields[number] = true;
                        return Err(Stop::Restart);
                    };
                    is_exact &= value == field.scalar.truncate(value);
                    field.scalar.truncate(value)
                }
                _ => 0,
            });
        }
        let lost_fields = &self.know.channels[channel].lost_fields;
        let is_partial = lost_fields.contains(&true) && lost_fields.contains(&false);
        if sorted && (is_partial || !is_exact) {
            return Err(self.know.lose_fields(channel));
        }
        self.know.add_message(channel, &message)?;
        if self.know.channels[channel].kind.capacity == 0 {
            return Ok(Kind::Offer(channel, message));
        }
        self.note(Site::Channel(channel), Op::Send { message, sorted });
        Ok(Kind::Alone)
    }

    fn receive(
        &mut self,
        channel: &Expr,
        random: bool,
        keep: bool,
        args: &[ReceiveArg],
    ) -> Result<Kind, Stop> {
        let found = self.channel(channel)?;
        let Some(channel) = found.filter(|it| !self.know.channels[*it].lost) else {
            self.store(args, None)?;
            return Ok(Kind::Alone);
        };
        let (wanted, sure) = self.wanted(channel, args)?;
        let is_rendezvous = self.know.channels[channel].kind.capacity == 0;
        let keeps_some = self.know.channels[channel].lost_fields.contains(&false);
        if random && !is_rendezvous && !sure && keeps_some {
            return Err(self.know.lose_fields(channel));
        }
        let fitting = self.fitting(channel, &wanted);
        if keep && is_rendezvous {
            return Err(self.mistake());
        }
        if fitting.is_empty() {
            return Err(Stop::Impossible);
        }
        let message = fitting[self.choices.choose(fitting.len())].clone();
        self.store(args, Some((channel, &message)))?;
        if is_rendezvous {
            return Ok(Kind::Answer(channel, message));
        }
        let fits = random.then_some(fitting);
        self.note(Site::Channel(channel), Op::Receive { message, fits, keep });
        Ok(Kind::Alone)
    }

    /// Sets the variables of a receive.
    fn store(
        &mut self,
        args: &[ReceiveArg],
        message: Option<(usize, &Message)>,
    ) -> Result<(), Stop> {
        for (number, arg) in args.iter().enumerate() {
            if let ReceiveArg::Store(place) = arg {
                let value = message.and_then(|(channel, message)| {
                    let lost = self.know.channels[channel].lost_fields.get(number)?;
                    (!lost).then(|| message[number])
                });
                self.set(place, value)?;
            }
        }
        Ok(())
    }

    fn create(&mut self, body: BodyId, args: &[Expr], result: Option<&Place>) -> Result<(), Stop> {
        let automaton = self.know.program.automaton(body);
        let mut values = vec![0; self.know.locals[body.0 as usize].len()];
        for (place, arg) in automaton.params.iter().zip(args) {
            if let Some(index) = self.know.index(body, place.offset) {
                let value = self.eval(arg)?;
                let value = value.ok_or_else(|| self.know.lose_local(body, place.offset))?;
                values[index] = place.scalar.truncate(value);
            }
        }
        self.creates = true;
        if self.know.processes.len() > MANY {
            self.mistake();
        }
        // How many there may be is found later: by then a place for one more is enough.
        let first = self.process + 1;
        if first == self.know.processes.len() {
            self.know.processes.push(FxHashSet::default());
            self.know.grew = true;
        }
        let number = first + self.choices.choose(self.know.processes.len() - first);
        // Its variables are set as it sees them.
        let local = Local { body, control: automaton.initial, values };
        let (own, process) = (self.local.replace(local), self.process);
        self.process = number;
        for step in &automaton.init {
            match step {
                InitStep::Store(place, value) => {
                    let value = self.eval(value)?;
                    self.set(place, value)?;
                }
                InitStep::NewChannel(place, _) => self.set(place, None)?,
            }
        }
        self.reset(&automaton.resets);
        let created = std::mem::replace(&mut self.local, own);
        self.process = process;
        if let Some(created) = created {
            self.know.add_local(number, &created);
            self.note(Site::Process(number), Op::Create(created));
        }
        if number > first {
            self.note(Site::Process(number - 1), Op::Present);
        }
        match result {
            Some(place) => self.set(place, Some(number as i32)),
            None => Ok(()),
        }
    }

    /// Sets variables to 0 that are not needed any more.
    fn reset(&mut self, resets: &[std::ops::Range<u32>]) {
        let Some(local) = &mut self.local else {
            return;
        };
        let cells = &self.know.locals[local.body.0 as usize];
        for ((offset, _), value) in cells.iter().zip(&mut local.values) {
            if resets.iter().any(|range| range.contains(offset)) {
                *value = 0;
            }
        }
    }

    /// Where a place is in its block, if that is known.
    fn offset(&mut self, place: &Place) -> Result<Option<u32>, Stop> {
        let mut offset = Some(place.offset);
        for index in &place.indexes {
            match self.eval(&index.value)? {
                Some(value) => match u32::try_from(value) {
                    Ok(value) if value < index.length => {
                        offset = offset.map(|it| it + value * index.stride);
                    }
                    _ => return Err(self.mistake()),
                },
                None => {
                    self.mistake();
                    offset = None;
                }
            }
        }
        Ok(offset)
    }

    fn set(&mut self, place: &Place, value: Option<i32>) -> Result<(), Stop> {
        let at = self.offset(place)?;
        let (Some(offset), Some(value)) = (at, value) else {
            let span = match at {
                Some(offset) => offset..offset + place.scalar.bytes(),
                None => place.span(),
            };
            return self.lose(place.space, span);
        };
        let value = place.scalar.truncate(value);
        match place.space {
            Space::Hidden => {}
            Space::Global => {
                if self.know.globals.contains_key(&offset) {
                    self.know.add_value(offset, value)?;
                    if self.know.globals[&offset].len() > 1 {
                        self.note(Site::Global(offset), Op::Set(value));
                    }
                    self.known.insert(offset, value);
                }
            }
            Space::Local => {
                let Some(local) = &mut self.local else {
                    return Ok(());
                };
                if let Some(index) = self.know.index(local.body, offset) {
                    local.values[index] = value;
                }
            }
        }
        Ok(())
    }

    /// Keeps track no more of variables that get a value that nobody knows.
    fn lose(&mut self, space: Space, span: std::ops::Range<u32>) -> Result<(), Stop> {
        let mut result = Ok(());
        match (space, &self.local) {
            (Space::Global, _) => {
                let kept: Vec<u32> = self.know.globals.range(span).map(|it| *it.0).collect();
                for offset in kept {
                    result = Err(self.know.lose_global(offset));
                }
            }
            (Space::Local, Some(local)) => {
                let body = local.body;
                for offset in span {
                    if self.know.index(body, offset).is_some() {
                        result = Err(self.know.lose_local(body, offset));
                    }
                }
            }
            _ => {}
        }
        result
    }

    /// A value that is not needed for sure: nothing goes wrong if it has none.
    fn maybe(&mut self, expr: &Expr) -> Value {
        match self.eval(expr) {
            Err(Stop::Impossible) => Ok(None),
            value => value,
        }
    }

    fn eval(&mut self, expr: &Expr) -> Value {
        Ok(match expr {
            Expr::Const(value) => Some(*value),
            Expr::Load(place) => return self.load(place),
            Expr::Pid => self.local.as_ref().map(|_| self.process as i32),
            Expr::Timeout => self.timeout,
            Expr::Unary(op, a) => self.eval(a)?.map(|a| op.apply(a)),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let decides = i32::from(*op == BinaryOp::Or);
                match self.eval(a)?.map(|a| i32::from(a != 0)) {
                    Some(a) if a == decides => Some(decides),
                    Some(_) => self.eval(b)?.map(|b| i32::from(b != 0)),
                    None => self.maybe(b)?.map(|b| i32::from(b != 0)).filter(|b| *b == decides),
                }
            }
            Expr::Binary(op, a, b) if is_comparison(*op) => return self.compare(*op, a, b),
            Expr::Binary(op, a, b) => match (self.eval(a)?, self.eval(b)?) {
                (Some(a), Some(b)) => Some(op.apply(a, b).ok_or_else(|| self.mistake())?),
                (_, b) => {
                    if matches!(op, BinaryOp::Div | BinaryOp::Rem) && b.is_none_or(|b| b == 0) {
                        self.mistake();
                    }
                    None
                }
            },
            Expr::Conditional(c, a, b) => match self.eval(c)? {
                Some(c) => return self.eval(if c != 0 { a } else { b }),
                None => {
                    let (a, b) = (self.maybe(a)?, self.maybe(b)?);
                    a.filter(|_| a == b)
                }
            },
            Expr::Len(channel) => {
                let Some(channel) = self.queue(channel)? else {
                    return Ok(None);
                };
                let length =
                    self.choices.choose(self.know.channels[channel].kind.capacity as usize + 1);
                self.note(Site::Channel(channel), Op::Length(length));
                Some(length as i32)
            }
            Expr::ChannelTest(test, channel) => {
                let Some(channel) = self.queue(channel)? else {
                    return Ok(None);
                };
                let holds = self.choices.choose(2) == 1;
                let op = match test {
                    ChannelTest::Full => Op::Full(holds),
                    ChannelTest::NotFull => Op::Full(!holds),
                    ChannelTest::Empty | ChannelTest::NotEmpty => {
                        let fits = self.know.channels[channel].messages.iter().cloned().collect();
                        let holds = holds == (*test == ChannelTest::NotEmpty);
                        Op::Poll { fits, random: false, holds }
                    }
                };
                self.note(Site::Channel(channel), op);
                Some(i32::from(holds))
            }
            Expr::Poll { channel, random, args } => {
                let Some(channel) = self.queue(channel)? else {
                    self.mistake();
                    return Ok(None);
                };
                self.poll(channel, *random, args)?.map(i32::from)
            }
            Expr::RemoteLabel { body, pid, state } => {
                let Some(process) = self.remote(*body, pid.as_deref())? else {
                    return Ok(None);
                };
                if let Some(local) = self.local.as_ref().filter(|_| process == self.process) {
                    return Ok(Some(i32::from(local.control == *state)));
                }
                if process >= self.know.processes.len() {
                    return Ok(Some(0));
                }
                let holds = self.choices.choose(2) == 1;
                let of_type = pid.is_none().then_some(*body);
                self.note(Site::Process(process), Op::At(of_type, *state, holds));
                Some(i32::from(holds))
            }
            Expr::RemoteVar { body, pid, place } => {
                return self.remote_variable(*body, pid.as_deref(), place);
            }
            Expr::ProcessCount | Expr::Last | Expr::Priority | Expr::NonProgress => None,
            Expr::Enabled(_) | Expr::PcValue(_) | Expr::GetPriority(_) | Expr::C(_) => {
                self.mistake();
                None
            }
        })
    }

    /// How two values compare. Of a global only that is asked.
    fn compare(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Value {
        let (of_a, of_b) = (self.unread(a)?, self.unread(b)?);
        let holds = |a: i32, b: i32| op.apply(a, b).is_some_and(|it| it != 0);
        match (of_a, of_b) {
            (Some(offset), _) => match self.eval(b)? {
                Some(b) => self.split(offset, |a| holds(a, b)),
                None => Ok(None),
            },
            (None, Some(offset)) => match self.eval(a)? {
                Some(a) => self.split(offset, |b| holds(a, b)),
                None => Ok(None),
            },
            (None, None) => match (self.eval(a)?, self.eval(b)?) {
                (Some(a), Some(b)) => Ok(op.apply(a, b)),
                _ => Ok(None),
            },
        }
    }

    /// The global that an expression is, if it is one whose value is not known yet.
    fn unread(&mut self, expr: &Expr) -> Result<Option<u32>, Stop> {
        let Expr::Load(place) = expr else {
            return Ok(None);
        };
        if place.space != Space::Global {
            return Ok(None);
        }
        let offset = self.offset(place)?;
        let is_unread =
            |it: &u32| self.know.globals.contains_key(it) && !self.known.contains_key(it);
        Ok(offset.filter(is_unread))
    }

    /// The values that a global may have.
    fn candidates(&self, offset: u32) -> Vec<i32> {
        match self.among.get(&offset) {
            Some(values) => values.clone(),
            None => self.know.globals.get(&offset).into_iter().flatten().copied().collect(),
        }
    }

    /// Whether the value of a global is such, without asking more.
    fn split(&mut self, offset: u32, is_such: impl Fn(i32) -> bool) -> Value {
        // It may have been read since, by who it is compared with.
        if let Some(value) = self.known.get(&offset) {
            return Ok(Some(i32::from(is_such(*value))));
        }
        let (such, others): (Vec<i32>, Vec<i32>) =
            self.candidates(offset).into_iter().partition(|it| is_such(*it));
        let holds = match (such.is_empty(), others.is_empty()) {
            (true, true) => return Err(Stop::Impossible),
            (true, false) => return Ok(Some(0)),
            (false, true) => return Ok(Some(1)),
            (false, false) => self.choices.choose(2) == 1,
        };
        let values = if holds { such } else { others };
        match values[..] {
            [value] => {
                self.known.insert(offset, value);
                self.note(Site::Global(offset), Op::Is(value));
            }
            _ => {
                self.among.insert(offset, values.clone());
                self.note(Site::Global(offset), Op::Among(values));
            }
        }
        Ok(Some(i32::from(holds)))
    }

    fn load(&mut self, place: &Place) -> Value {
        let Some(offset) = self.offset(place)? else {
            return Ok(None);
        };
        match (place.space, &self.local) {
            (Space::Hidden, _) | (Space::Local, None) => Ok(None),
            (Space::Local, Some(local)) => {
                Ok(self.know.index(local.body, offset).map(|index| local.values[index]))
            }
            (Space::Global, _) => {
                if let Some(value) = self.known.get(&offset) {
                    return Ok(Some(*value));
                }
                if !self.know.globals.contains_key(&offset) {
                    return Ok(None);
                }
                let values = self.candidates(offset);
                let count = values.len();
                if count == 0 {
                    return Err(Stop::Impossible);
                }
                if self.choices.widest.is_none_or(|(most, _)| count > most) {
                    self.choices.widest = Some((count, offset));
                }
                let value = values[self.choices.choose(count)];
                if count > 1 {
                    self.note(Site::Global(offset), Op::Is(value));
                }
                self.known.insert(offset, value);
                Ok(Some(value))
            }
        }
    }

    /// Whose state is asked for, if that is known.
    fn remote(&mut self, body: BodyId, pid: Option<&Expr>) -> Result<Option<usize>, Stop> {
        match pid {
            Some(pid) => {
                let number = self.eval(pid)?;
                // Nobody has a number that is not one.
                Ok(number.map(|it| usize::try_from(it).unwrap_or(usize::MAX)))
            }
            None => {
                // The first of its type. Who is above it goes before it does, so that it stays the first, unless others of
                // its type may come later.
                let of_type = |it: &FxHashSet<Local>| it.iter().any(|local| local.body == body);
                let found = self.know.processes.iter().position(of_type);
                let others =
                    self.know.processes.iter().filter(|it| of_type(it)).count().saturating_sub(1);
                Ok(found.filter(|_| others == 0 || !self.know.creates(body)))
            }
        }
    }

    fn remote_variable(&mut self, body: BodyId, pid: Option<&Expr>, place: &Place) -> Value {
        let Some(process) = self.remote(body, pid)? else {
            return Ok(None);
        };
        let (Some(offset), true) = (self.offset(place)?, process < self.know.processes.len())
        else {
            return Ok(None);
        };
        let Some(index) = self
            .know
            .index(body, offset)
            .filter(|_| process != self.process || self.local.is_none())
        else {
            return Ok(None);
        };
        let mut values = BTreeSet::from([0]);
        let own = self.know.processes[process].iter().filter(|it| it.body == body);
        values.extend(own.map(|local| local.values[index]));
        let chosen = self.choices.choose(values.len());
        let value = values.into_iter().nth(chosen).unwrap_or_default();
        self.note(Site::Process(process), Op::Holds { body, offset, value });
        Ok(Some(value))
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// Whether nothing goes wrong when a value is computed.
fn is_harmless(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Pid => true,
        Expr::Load(place) => place.indexes.is_empty(),
        _ => false,
    }
}

/// Whether a message has the values that are asked for.
fn fits(message: &Message, wanted: &[Option<i32>]) -> bool {
    message.iter().zip(wanted).all(|(value, wanted)| wanted.is_none_or(|it| it == *value))
}
