//! What a process can do, as far as it is known.
//!
//! *Idea*: a process is looked at alone, with those of its variables that have few values. What a statement asks of others,
//! a global, a channel, where somebody is, is not known: each answer is tried, and noted as something that
//! has to be so ([`Op`]). What nobody keeps track of has no value, and a condition without a value may be
//! true or false.
//!
//! *Invariant*: whatever a statement does in a state of the model, one of the ways found does it too: from the same local
//! state to the same local state, and its notes are true of all other parts.

use std::ops::Range;

use spinward_program::ir::{
    Action, BinaryOp, BodyId, Expr, InitStep, Place, ReceiveArg, StateId, Transition,
};
use spinward_program::touches::each_step;

use super::knowledge::{
    Channel, Choices, Kind, Knowledge, Local, Message, Notes, Op, Place as Known, Site, Stop, Way,
    note,
};

/// With so many processes there may be no room for another one.
const MANY: usize = 200;

/// Steps of a `d_step`.
const MAX_STEPS: usize = 4096;

/// What one of them takes, in moves of parts.
const STEP_MOVES: u64 = 6;

/// What is known of some globals, few of them.
#[derive(Debug)]
pub struct ByOffset<T>(Vec<(u32, T)>);

impl<T> ByOffset<T> {
    pub fn new() -> Self {
        Self(Vec::with_capacity(USUAL))
    }

    pub fn get(&self, offset: u32) -> Option<&T> {
        self.0.iter().find(|it| it.0 == offset).map(|it| &it.1)
    }

    pub fn insert(&mut self, offset: u32, item: T) {
        match self.0.iter_mut().find(|it| it.0 == offset) {
            Some(known) => known.1 = item,
            None => self.0.push((offset, item)),
        }
    }
}

/// What a walk asks or does is seldom more.
const USUAL: usize = 8;

/// Somebody who looks at what is known: a process, or who asks about the model.
pub struct Walk<'k, 'p> {
    pub(super) know: &'k mut Knowledge<'p>,
    pub(super) choices: &'k mut Choices,
    pub(super) process: usize,
    pub(super) local: Option<Local>,
    /// Globals that were read or set on the way.
    pub(super) known: ByOffset<i32>,
    /// Values that globals may have, which were only compared.
    pub(super) among: ByOffset<Vec<i32>>,
    pub(super) ops: Notes,
    /// Nothing was taken to be so without being known.
    pub(super) sure: bool,
    pub(super) wrong: bool,
    pub(super) creates: bool,
    /// What `timeout` is.
    pub(super) timeout: Option<i32>,
}

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
            known: ByOffset::new(),
            among: ByOffset(Vec::new()),
            ops: Notes::with_capacity(USUAL),
            sure: true,
            wrong: false,
            creates: false,
            timeout: None,
        }
    }

    /// A way of a transition.
    pub fn take(mut self, transition: &'p Transition) -> Result<Way, Stop> {
        let program = self.know.program;
        if let Some(provided) = &program.automaton(transition.body).provided {
            match self.eval(provided)? {
                Some(0) => return Err(Stop::Impossible),
                Some(_) => {}
                None => self.sure = false,
            }
        }
        if matches!(transition.action, Action::Else) {
            self.nothing_before(transition)?;
        }
        let kind = self.act(transition)?;
        self.reset(&transition.resets);
        if let Some(local) = &mut self.local {
            local.control = transition.to;
        }
        let Self { local, ops, sure, wrong, creates, .. } = self;
        Ok(Way { to: local, ops, kind, sure, wrong, creates })
    }

    /// Under which notes a process cannot move.
    pub fn blocked(mut self) -> Result<Notes, Stop> {
        self.timeout = Some(1);
        let Some(local) = self.local.clone() else {
            return Ok(self.ops);
        };
        let program = self.know.program;
        let automaton = program.automaton(local.body);
        if let Some(provided) = &automaton.provided
            && self.maybe(provided)?.is_none_or(|value| value == 0)
        {
            return Ok(self.ops);
        }
        let ids = || automaton.state(local.control).transition_ids();
        // To ask for all the rest may take more choices than there may be.
        if ids().any(|id| is_always_possible(&program.transition(id).action)) {
            return Err(Stop::Impossible);
        }
        for id in ids() {
            let action = &program.transition(id).action;
            if self.maybe_possible(action)? == Some(true) {
                return Err(Stop::Impossible);
            }
            if let Action::Send { channel, args, .. } = action
                && !program.uses.priorities
            {
                self.unheard(channel, args)?;
            }
        }
        Ok(self.ops)
    }

    /// Whether a statement is possible, if that is known, and nothing goes wrong meanwhile.
    fn maybe_possible(&mut self, action: &Action) -> Result<Option<bool>, Stop> {
        match self.guard(action) {
            Err(Stop::Impossible) => Ok(None),
            answer => answer,
        }
    }

    /// That nobody takes what is offered in a rendezvous.
    fn unheard(&mut self, channel: &Expr, args: &[Expr]) -> Result<(), Stop> {
        let channel = match self.channel(channel) {
            Ok(Some(channel)) => channel,
            Ok(None) | Err(Stop::Impossible) => return Ok(()),
            Err(stop) => return Err(stop),
        };
        let Channel { kind, lost, lost_fields, .. } = &self.know.channels[channel];
        if kind.capacity > 0 || *lost || lost_fields.contains(&true) {
            return Ok(());
        }
        let (channel, message) = match self.offer(channel, false, args) {
            Ok(Kind::Offer(channel, message)) => (channel, message),
            Ok(_) | Err(Stop::Impossible) => return Ok(()),
            Err(stop) => return Err(stop),
        };
        let own = self.process;
        for process in (0..self.know.processes.len()).filter(|it| *it != own) {
            self.note(Site::Process(process), Op::Deaf(channel, message.clone()));
        }
        Ok(())
    }

    /// Under which notes conditions have values, or may have.
    pub fn holds<'e>(
        mut self,
        literals: impl Iterator<Item = (&'e Expr, bool)>,
    ) -> Result<Notes, Stop> {
        for (expr, wanted) in literals {
            if self.maybe(expr)?.is_some_and(|value| (value != 0) != wanted) {
                return Err(Stop::Impossible);
            }
        }
        Ok(self.ops)
    }

    /// Something goes wrong, or may.
    pub(super) fn mistake(&mut self) -> Stop {
        self.know.harmless = false;
        Stop::Impossible
    }

    pub(super) fn note(&mut self, site: Site, op: Op) {
        note(&mut self.ops, site, op);
    }

    /// That no transition before an `else` is possible, as far as that is known. Those after it, from which an `unless` escapes,
    /// do not count.
    fn nothing_before(&mut self, transition: &Transition) -> Result<(), Stop> {
        let program = self.know.program;
        let state = program.automaton(transition.body).state(transition.from);
        let others = state.transition_ids().map(|id| program.transition(id));
        for other in others.take_while(|it| !std::ptr::eq(*it, transition)) {
            let counts = other.escape == transition.escape;
            if counts && self.maybe_possible(&other.action)? == Some(true) {
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
                self.know.ask(Known::Processes);
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
    pub(super) fn queue(&mut self, channel: &Expr) -> Result<Option<usize>, Stop> {
        let Some(channel) = self.channel(channel)? else {
            return Ok(None);
        };
        let Channel { kind, lost, .. } = &self.know.channels[channel];
        Ok((kind.capacity > 0 && !lost).then_some(channel))
    }

    /// Which channel is meant, from 0; none if nobody knows.
    pub(super) fn channel(&mut self, channel: &Expr) -> Result<Option<usize>, Stop> {
        match self.eval(channel)? {
            Some(number) => {
                let index = usize::try_from(i64::from(number) - 1).ok();
                let found = index.filter(|it| *it < self.know.channels.len());
                let owner = found.and_then(|it| self.know.channels[it].owner);
                if owner.is_some_and(|owner| owner != self.process) {
                    // Its owner may be gone, and the channel with it.
                    self.mistake();
                }
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
    pub(super) fn poll(
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

    fn fitting(&mut self, channel: usize, wanted: &[Option<i32>]) -> Vec<Message> {
        self.know.ask(Known::Channel(channel));
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
                if !self.know.assertions && !is_harmless(condition) {
                    self.mistake();
                }
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
                    None => {
                        self.sure = false;
                        self.choices.choose(2) == 1
                    }
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
            self.know.spend(STEP_MOVES)?;
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
        self.sure &= sure;
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
        self.know.ask(Known::Processes);
        if self.know.processes.len() > MANY {
            self.mistake();
        }
        // How many there may be is found later: by then a place for one more is enough.
        let first = self.process + 1;
        if first == self.know.processes.len() {
            self.know.add_processes(first + 1);
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
                // The numbers of channels depend on who is there.
                InitStep::NewChannel(..) if !self.know.loose => {
                    return Err(self.know.lose_channels());
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
    pub(super) fn reset(&mut self, resets: &[Range<u32>]) {
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
}

/// Whether a statement is possible whatever else is.
fn is_always_possible(action: &Action) -> bool {
    match action {
        Action::Condition(condition) => matches!(condition, Expr::Const(value) if *value != 0),
        Action::Send { .. } | Action::Receive { .. } | Action::Die | Action::DStep { .. } => false,
        Action::Event { .. } | Action::C(_) => false,
        _ => true,
    }
}

/// Whether nothing goes wrong when a value is computed.
fn is_harmless(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Pid | Expr::ProcessCount | Expr::Timeout => true,
        Expr::Load(place) => place.indexes.is_empty(),
        Expr::Unary(_, a) => is_harmless(a),
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
        Expr::Binary(_, a, b) => is_harmless(a) && is_harmless(b),
        Expr::Conditional(c, a, b) => [c, a, b].into_iter().all(|it| is_harmless(it)),
        Expr::RemoteLabel { pid, .. } => pid.as_deref().is_none_or(is_harmless),
        _ => false,
    }
}

/// Whether a message has the values that are asked for.
fn fits(message: &Message, wanted: &[Option<i32>]) -> bool {
    message.iter().zip(wanted).all(|(value, wanted)| wanted.is_none_or(|it| it == *value))
}
