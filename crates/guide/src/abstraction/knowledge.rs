//! What is known of a model, part by part.
//!
//! Which variables are kept track of, the values they were seen to have, the messages sent, the local states of processes. What
//! has too many values, or one that nobody knows, is not kept track of any more, and all is looked at again.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHashSet;
use spinward_program::Program;
use spinward_program::ir::{Action, Block, BodyId, ChannelType, Scalar, StateId, Transition};

use crate::Patience;
use crate::patience::Pace;

/// Where a process is, and the values of those of its variables that are kept track of.
#[derive(Clone, Debug, Eq, PartialOrd, Ord)]
pub struct Local {
    pub body: BodyId,
    pub control: StateId,
    pub values: Vec<i32>,
}

impl PartialEq for Local {
    /// Often there are no values, and to compare no bytes with others takes long on some processors.
    fn eq(&self, other: &Self) -> bool {
        self.control == other.control
            && self.body == other.body
            && self.values.len() == other.values.len()
            && (self.values.is_empty() || self.values == other.values)
    }
}

impl Hash for Local {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.body, self.control, &self.values).hash(state);
    }
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

/// What is asked of sites and done to them, in their order.
pub type Notes = Vec<(Site, Vec<Op>)>;

/// Adds to what is asked of a site and done to it.
pub fn note(notes: &mut Notes, site: Site, op: Op) {
    match notes.binary_search_by_key(&site, |it| it.0) {
        Ok(at) => notes[at].1.push(op),
        Err(at) => notes.insert(at, (site, vec![op])),
    }
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
    pub ops: Notes,
    pub kind: Kind,
    /// It can be taken whenever its notes are true.
    pub sure: bool,
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

/// Why a model was not taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// That cannot be done.
    Misfit(String),
    /// There was not enough of something.
    GivenUp(&'static str),
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Self::Misfit(why.to_owned())
    }
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

/// Something of which more may come to be known.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The values of a global.
    Global(u32),
    /// The messages of a channel.
    Channel(usize),
    /// Where a process may be.
    Process(usize),
    /// How many processes there may be.
    Processes,
}

/// What something that was found depends on.
#[derive(Debug, Default)]
pub struct Basis {
    /// How often something had been learnt before.
    learnt: u64,
    /// The places that were asked for.
    asked: Vec<u32>,
}

/// What is kept track of, and which values are known to occur.
#[derive(Debug)]
pub struct Knowledge<'p> {
    pub program: &'p Program,
    /// By offset: values, sorted, if they are kept track of.
    globals: Vec<Option<Vec<i32>>>,
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
    pub refused: Option<Refusal>,
    /// The `d_step`s, by body and first local state, that are too long to be followed.
    pub opaque: FxHashSet<(BodyId, StateId)>,
    /// How often something was learnt; and when, last, by place.
    learnt: u64,
    learnt_of: Vec<u64>,
    /// What that depends on which is being found, the how manieth that is, and by place for which one it was asked for last.
    basis: Basis,
    bases: u64,
    asked: Vec<u64>,
    pace: Pace<'p>,
    lost_globals: FxHashSet<u32>,
    lost_locals: FxHashSet<(BodyId, u32)>,
}

/// Values of a global that are kept track of.
const MAX_VALUES: usize = 256;

/// Ways of a statement from a local state.
const MAX_WAYS: usize = 1 << 14;

/// Messages of a channel that are told apart.
const MAX_MESSAGES: usize = 64;

/// What a way takes to find, in moves of parts; and so much more each answer on it.
const WAY_MOVES: u64 = 12;

impl<'p> Knowledge<'p> {
    pub fn new(
        program: &'p Program,
        channels: Vec<Channel>,
        assertions: bool,
        patience: Patience<'p>,
    ) -> Self {
        let mut knowledge = Self {
            program,
            globals: Vec::new(),
            locals: Vec::new(),
            channels,
            processes: Vec::new(),
            loose: false,
            assertions,
            grew: false,
            harmless: true,
            refused: None,
            opaque: FxHashSet::default(),
            learnt: 0,
            learnt_of: Vec::new(),
            basis: Basis::default(),
            bases: 0,
            asked: Vec::new(),
            pace: Pace::new(patience),
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
        self.globals = Vec::new();
        for (offset, _) in slots(&self.program.globals) {
            if !self.lost_globals.contains(&offset) {
                let at = offset as usize;
                self.globals.resize(self.globals.len().max(at + 1), None);
                self.globals[at] = Some(Vec::new());
            }
        }
        let places = self.at(Place::Process(self.processes.len()));
        (self.learnt_of, self.asked) = (vec![0; places], vec![0; places]);
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

    /// What takes as long as to look at so many moves of parts was done. It is given up if there is not enough of something.
    pub fn spend(&mut self, moves: u64) -> Result<(), Stop> {
        let enough = self.pace.spend(moves);
        enough.map_err(|why| self.give_up(why))
    }

    /// Whether there is enough of everything.
    pub fn go_on(&mut self) -> Result<(), Stop> {
        let enough = self.pace.look();
        enough.map_err(|why| self.give_up(why))
    }

    fn give_up(&mut self, why: &'static str) -> Stop {
        self.refused = Some(Refusal::GivenUp(why));
        Stop::Restart
    }

    /// Where the value of a variable of a process is among those kept track of.
    pub fn index(&self, body: BodyId, offset: u32) -> Option<usize> {
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

    pub fn lose_fields(&mut self, channel: usize) -> Stop {
        self.channels[channel].lost_fields.fill(true);
        Stop::Restart
    }

    /// Any channel may be meant.
    pub fn lose_channels(&mut self) -> Stop {
        self.loose = true;
        self.channels.iter_mut().for_each(|channel| channel.lost = true);
        Stop::Restart
    }

    /// Whether processes of a type are created by others.
    pub fn creates(&self, body: BodyId) -> bool {
        let runs = |action: &Action| matches!(action, Action::Run { body: it, .. } if *it == body);
        self.program.transitions.iter().any(|it| runs(&it.action))
    }

    /// The values of a global, if they are kept track of.
    pub fn values(&self, offset: u32) -> Option<&[i32]> {
        self.globals.get(offset as usize)?.as_deref()
    }

    /// Notes a value of a global.
    pub fn add_value(&mut self, offset: u32, value: i32) -> Result<(), Stop> {
        let Some(Some(values)) = self.globals.get_mut(offset as usize) else {
            return Ok(());
        };
        if let Err(place) = values.binary_search(&value) {
            values.insert(place, value);
            let is_enough = values.len() <= MAX_VALUES;
            self.learn(Place::Global(offset));
            if !is_enough {
                return Err(self.lose_global(offset));
            }
        }
        Ok(())
    }

    /// Notes a message.
    pub fn add_message(&mut self, channel: usize, message: &Message) -> Result<(), Stop> {
        let messages = &mut self.channels[channel].messages;
        if !messages.contains(message) {
            messages.insert(message.clone());
            self.learn(Place::Channel(channel));
        }
        let too_many = self.channels[channel].messages.len() > MAX_MESSAGES;
        if too_many { Err(self.lose_of_channel(channel)) } else { Ok(()) }
    }

    /// Notes where a process may be; whether that is new.
    pub fn add_local(&mut self, process: usize, local: &Local) -> bool {
        let is_new = !self.processes[process].contains(local);
        if is_new {
            self.processes[process].insert(local.clone());
            self.learn(Place::Process(process));
        }
        is_new
    }

    /// There may be so many processes.
    pub fn add_processes(&mut self, count: usize) {
        self.processes.resize_with(count, FxHashSet::default);
        let places = self.at(Place::Process(count));
        self.learnt_of.resize(places, 0);
        self.asked.resize(places, 0);
        self.learn(Place::Processes);
    }

    fn learn(&mut self, place: Place) {
        self.grew = true;
        self.learnt += 1;
        let at = self.at(place);
        self.learnt_of[at] = self.learnt;
    }

    fn at(&self, place: Place) -> usize {
        let (globals, channels) = (self.globals.len(), self.channels.len());
        match place {
            Place::Global(offset) => offset as usize,
            Place::Channel(channel) => globals + channel,
            Place::Processes => globals + channels,
            Place::Process(process) => globals + channels + 1 + process,
        }
    }

    /// It is asked what is known there: what comes of it may change when more is.
    pub fn ask(&mut self, place: Place) {
        let at = self.at(place);
        if self.asked[at] != self.bases {
            self.asked[at] = self.bases;
            self.basis.asked.push(at as u32);
        }
    }

    /// Begins to note what is asked.
    pub fn begin_basis(&mut self) {
        self.bases += 1;
        self.basis = Basis { learnt: self.learnt, asked: Vec::new() };
    }

    /// All that was asked since then.
    pub fn end_basis(&mut self) -> Basis {
        std::mem::take(&mut self.basis)
    }

    /// Whether nothing was learnt since about what was asked then.
    pub fn is_unchanged(&self, basis: &Basis) -> bool {
        basis.asked.iter().all(|at| self.learnt_of[*at as usize] <= basis.learnt)
    }
}

/// Answers to what is not known, one after the other.
#[derive(Debug, Default)]
pub struct Choices {
    script: Vec<(usize, usize)>,
    at: usize,
    /// The global with the most values that was asked for.
    pub widest: Option<(usize, u32)>,
}

impl Choices {
    pub fn choose(&mut self, of: usize) -> usize {
        if of == 1 {
            return 0;
        }
        if self.at == self.script.len() {
            self.script.push((0, of));
        }
        let (answer, answers) = &mut self.script[self.at];
        // What was learnt meanwhile may change what is asked. Then all is looked at again later, and any answer will do.
        (*answer, *answers) = ((*answer).min(of - 1), of);
        self.at += 1;
        *answer
    }

    /// Calls `walk` with each of the answers to what is not known, and `tell` with what comes of it; says how many there
    /// are. If they are too many, less is kept track of, or what asks for them is not followed: a statement, or a condition.
    pub fn each<'p, T>(
        know: &mut Knowledge<'p>,
        asking: Option<&Transition>,
        mut walk: impl FnMut(&mut Knowledge<'p>, &mut Self) -> Result<T, Stop>,
        mut tell: impl FnMut(&mut Knowledge<'p>, T),
    ) -> Result<usize, Stop> {
        let mut choices = Self::default();
        for tried in 1..=MAX_WAYS {
            match walk(know, &mut choices) {
                Ok(way) => tell(know, way),
                Err(Stop::Impossible) => {}
                Err(Stop::Restart) => return Err(Stop::Restart),
            }
            know.spend((1 + choices.at as u64) * WAY_MOVES)?;
            if !choices.next() {
                return Ok(tried);
            }
        }
        Err(match (choices.widest, asking.map(|it| (it.body, &it.action))) {
            (Some((_, offset)), _) => know.lose_global(offset),
            (None, Some((body, Action::DStep { entry }))) => {
                know.opaque.insert((body, *entry));
                Stop::Restart
            }
            _ => {
                know.refused = Some("a statement can go on in too many ways".into());
                Stop::Restart
            }
        })
    }

    /// Goes on to the next answers, if there are any.
    fn next(&mut self) -> bool {
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
