//! The program: automata, expressions over offsets, and what a state holds.
//!
//! # What a state is
//! A state is a string of bytes. It starts with the hidden variables (kept beside a state, but not
//! compared), then a header (the shape, see below; the state of claim and trace; `_last`), then the
//! globals, then the processes and channels in the order of their creation. Processes die youngest
//! first, and with a process go the channels created since; so processes and channels form a stack,
//! and which ones are on it is the *shape* of the state. The machine numbers the shapes; this crate
//! says what a global, a process or a channel looks like inside its block. Numbers are stored little
//! endian, unaligned.

use std::ops::Range;
use std::sync::Arc;

pub use spinward_promela::ast::{BinaryOp, ChannelTest, UnaryOp};
use spinward_promela::symbols::Symbols;
pub use spinward_promela::symbols::{BodyId, BodyKind, MtypeId, Type};
use spinward_promela::{SourceMap, Span};
use spinward_property::Formula as Temporal;

use crate::exclusive::Exclusive;
use crate::follow::Followed;

/// A local state of an automaton: SPIN's number of it, from 1. State 0 is that of a process that is
/// gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u16);

/// A transition, in [`Program::transitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransitionId(pub u32);

/// An element: SPIN's global number of a statement, as its trails have it; in
/// [`Program::elements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId(pub u32);

/// A kind of channel, in [`Program::channels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelTypeId(pub u16);

/// A whole model, ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its files, for messages.
    pub source: Arc<SourceMap>,
    /// What its names mean, for messages.
    pub symbols: Arc<Symbols>,
    /// One automaton for each body, by [`BodyId`]: SPIN's proctype numbers.
    pub automata: Vec<Automaton>,
    /// All transitions; those of one local state stand together, in SPIN's order.
    pub transitions: Vec<Transition>,
    /// All elements, by SPIN's number.
    pub elements: Vec<Element>,
    /// All kinds of channels.
    pub channels: Vec<ChannelType>,
    /// The block of the globals.
    pub globals: Block,
    /// The block of the `hidden` globals.
    pub hidden: Block,
    /// What happens before the first process starts, in order.
    pub init: Vec<InitStep>,
    /// The processes of the initial state in the order of their numbers, with their priority.
    pub start: Vec<(BodyId, i32)>,
    /// The never claims, in the order of the text.
    pub claims: Vec<BodyId>,
    /// By claim: the automaton that it is, if it only asks about states.
    pub followed: Vec<Option<Followed>>,
    /// The event trace.
    pub trace: Option<BodyId>,
    /// Conditions about the model: first those given beside it, then what formulas ask of single states.
    pub conditions: Vec<Condition>,
    /// The formulas of the model in the order of the text, then those given beside it.
    pub formulas: Vec<Formula>,
    /// The conditions that an automaton given beside the model asks for, by its own numbers.
    pub atoms: Vec<u32>,
    /// The condition `np_`.
    pub non_progress: u32,
    /// The conditions that a process is at one of its labels `accept...`.
    pub accepting: Vec<u32>,
    /// The conditions that a process is at one of its labels `progress...`.
    pub progressing: Vec<u32>,
    /// What processes claim to use alone.
    pub exclusive: Exclusive,
    /// What the model uses anywhere.
    pub uses: Uses,
}

impl Program {
    /// An automaton.
    pub fn automaton(&self, id: BodyId) -> &Automaton {
        &self.automata[id.0 as usize]
    }

    /// A transition.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.0 as usize]
    }

    /// An element.
    pub fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0 as usize]
    }

    /// A kind of channel.
    pub fn channel(&self, id: ChannelTypeId) -> &ChannelType {
        &self.channels[id.0 as usize]
    }
}

/// A condition about the model.
#[derive(Clone, Debug)]
pub struct Condition {
    /// As the user wrote it.
    pub text: String,
    /// Its value, in no process.
    pub expr: Expr,
    /// Whether it was given beside the model, to hold in every state.
    pub given: bool,
    /// Whether it asks if nobody can move (`timeout`).
    pub asks_timeout: bool,
}

/// A formula of temporal logic about the model.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// As a user would write it.
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// What it says of conditions.
    pub temporal: Temporal,
    /// By the number in the formula: that of the condition.
    pub atoms: Vec<u32>,
}

/// Features that change what the machine must do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// `timeout` outside of never claims
    pub timeout: bool,
    /// `timeout` in a never claim; it is false for ever if it stands nowhere else
    pub timeout_in_claim: bool,
    /// `priority`, `set_priority`, `get_priority`, `_priority`: processes have a priority and it
    /// decides who moves.
    pub priorities: bool,
    /// `_last`
    pub last: bool,
    /// Some embedded C.
    pub c_code: Option<Span>,
}

impl Uses {
    /// What is used by a model that used less `before` somebody asked about it: to ask for priorities or for `timeout`
    /// does not bring them into effect.
    pub(crate) fn of_who_asks(self, before: Self) -> Self {
        Self { last: self.last, c_code: self.c_code, ..before }
    }
}

/// A block of variables in the state.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// How many bytes.
    pub bytes: u32,
    /// Every scalar in it, in the order of the text: for printing and comparing.
    pub slots: Vec<Slot>,
}

/// One scalar of a block.
#[derive(Clone, Debug)]
pub struct Slot {
    /// As a user would write it: `x`, `a[2]`, `r.f[0].g`.
    pub name: String,
    /// Where it is in its block.
    pub offset: u32,
    /// How it is stored.
    pub scalar: Scalar,
    /// Its declared type, for printing.
    pub ty: Type,
    /// The declaration.
    pub span: Span,
    /// The user did not declare it.
    pub synthetic: bool,
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// One bit, in a byte.
    Bit,
    /// A byte.
    U8,
    /// Two bytes, signed.
    I16,
    /// Four bytes, signed.
    I32,
    /// So many bits, unsigned, in as many bytes as it needs (1, 2 or 4).
    Unsigned(u8),
}

impl Scalar {
    /// Bytes in the state.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Bit | Self::U8 => 1,
            Self::I16 => 2,
            Self::I32 => 4,
            Self::Unsigned(n) => match n {
                0..=8 => 1,
                9..=16 => 2,
                _ => 4,
            },
        }
    }

    /// What is left of a value once it is stored.
    pub fn truncate(self, value: i32) -> i32 {
        match self {
            Self::Bit => value & 1,
            Self::U8 => value & 0xff,
            Self::I16 => i32::from(value as i16),
            Self::I32 => value,
            Self::Unsigned(n) if n >= 32 => value,
            Self::Unsigned(n) => value & ((1i32 << n).wrapping_sub(1)),
        }
    }
}

/// What happens when a block comes to life.
#[derive(Clone, Debug)]
pub enum InitStep {
    /// Sets a variable.
    Store(Place, Expr),
    /// Creates a channel and sets a variable to its number.
    NewChannel(Place, ChannelTypeId),
}

/// A kind of channel: those of one declaration.
#[derive(Clone, Debug)]
pub struct ChannelType {
    /// The variable that declares it.
    pub name: String,
    /// How many messages; 0 for a rendezvous.
    pub capacity: u32,
    /// The scalars of a message.
    pub fields: Vec<MessageField>,
    /// Bytes of a message.
    pub message_bytes: u32,
    /// The declaration.
    pub span: Span,
}

impl ChannelType {
    /// How the number of messages is stored.
    pub fn count(&self) -> Scalar {
        if self.capacity > 255 { Scalar::Unsigned(16) } else { Scalar::U8 }
    }

    /// Bytes of its block in the state: the number of messages, then room for all of them. A
    /// rendezvous channel needs none.
    pub fn bytes(&self) -> u32 {
        if self.capacity == 0 {
            0
        } else {
            self.count().bytes() + self.capacity * self.message_bytes
        }
    }
}

/// One scalar of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageField {
    /// How it is stored.
    pub scalar: Scalar,
    /// Where in the message.
    pub offset: u32,
    /// Its declared type, for printing.
    pub ty: Type,
}

/// The automaton of a body.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// Which body.
    pub body: BodyId,
    /// Its name; SPIN's for those without.
    pub name: String,
    /// Which kind.
    pub kind: BodyKind,
    /// By [`StateId`]; also those inside a `d_step`, which no process ever rests in.
    pub states: Vec<ControlState>,
    /// Where a process starts.
    pub initial: StateId,
    /// The variables of a process; its parameters first.
    pub locals: Block,
    /// Where the parameters are, in order.
    pub params: Vec<Place>,
    /// What happens at its creation, after its parameters are set.
    pub init: Vec<InitStep>,
    /// Bytes of [`Automaton::locals`] that are set to 0 after that; none unless the program was
    /// [optimized](crate::optimize).
    pub resets: Vec<Range<u32>>,
    /// `provided`
    pub provided: Option<Expr>,
    /// `D_proctype`
    pub deterministic: bool,
    /// All labels with their states (where SPIN looks for a remote reference).
    pub labels: Vec<(String, StateId)>,
    /// The declaration.
    pub span: Span,
}

impl Automaton {
    /// A local state.
    pub fn state(&self, id: StateId) -> &ControlState {
        &self.states[id.0 as usize]
    }
}

/// A local state of an automaton.
#[derive(Clone, Debug)]
pub struct ControlState {
    /// Its transitions, in SPIN's order: escapes first, then options as written, `else` last.
    pub transitions: Range<u32>,
    /// A valid end state: labelled `end...`, or the closing brace.
    pub end: bool,
    /// Labelled `accept...`.
    pub accept: bool,
    /// Labelled `progress...`.
    pub progress: bool,
    /// The element it stands for.
    pub element: Option<ElementId>,
    /// Whether some process can rest here or pass through (false for numbers that only stand for
    /// jumps, blocks and the inside of a `d_step`).
    pub reachable: bool,
}

impl ControlState {
    /// The ids of its transitions.
    pub fn transition_ids(&self) -> impl DoubleEndedIterator<Item = TransitionId> + use<> {
        self.transitions.clone().map(TransitionId)
    }
}

/// A statement of the text, as SPIN numbers them.
#[derive(Clone, Debug)]
pub struct Element {
    /// The body it stands in.
    pub body: BodyId,
    /// Its local number.
    pub state: StateId,
    /// As shown to the user: `x = x + 1`.
    pub text: String,
    /// Where it stands; if macros made it, where they are used.
    pub span: Span,
    /// Whether it is listed as unreached when it was not: SPIN leaves out jumps and exits.
    pub listed: bool,
}

/// A step a process may take in a local state.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The body.
    pub body: BodyId,
    /// Where it starts.
    pub from: StateId,
    /// Where it leads; 0 if the process dies.
    pub to: StateId,
    /// SPIN's number of the statement.
    pub element: ElementId,
    /// Guard and effect.
    pub action: Action,
    /// Only this process may move next: the statement stands inside an `atomic` and is not its last.
    pub atomic: bool,
    /// Not 0: an escape (`unless`); the number tells the escape sequences of a state apart (SPIN's
    /// `e_trans`).
    pub escape: u16,
    /// Bytes of the process's [`Automaton::locals`] that are set to 0 after the step; none unless the
    /// program was [optimized](crate::optimize).
    pub resets: Vec<Range<u32>>,
    /// Where the statement stands; if macros made it, where they are used.
    pub span: Span,
}

/// What a transition tests and does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Nothing; always possible. Jumps, exits, declarations of records.
    Skip,
    /// Possible if the value is not 0.
    Condition(Expr),
    /// Possible if no other transition of the same process is.
    Else,
    /// Sets a variable.
    Assign(Place, Expr),
    /// Sets several variables, as one statement.
    AssignAll(Vec<(Place, Expr)>),
    /// Creates a process; possible if there is room, its number goes into the place.
    Run {
        /// Where its number goes.
        result: Option<Place>,
        /// Which.
        body: BodyId,
        /// Its parameters.
        args: Vec<Expr>,
        /// Its priority, if given.
        priority: Option<Expr>,
    },
    /// Sends a message.
    Send {
        /// The channel's number.
        channel: Expr,
        /// In order, not last.
        sorted: bool,
        /// The fields.
        args: Vec<Expr>,
    },
    /// Receives a message.
    Receive {
        /// The channel's number.
        channel: Expr,
        /// The first that matches, not just the first.
        random: bool,
        /// The message stays.
        keep: bool,
        /// The fields.
        args: Vec<ReceiveArg>,
    },
    /// An event of a trace: a send or receive of the model that it matches.
    Event {
        /// A send.
        send: bool,
        /// The channel's number.
        channel: Expr,
        /// The fields; only values to match, or anything.
        args: Vec<ReceiveArg>,
    },
    /// An error if the value is 0.
    Assert(Expr),
    /// Prints.
    Print {
        /// The format, with its escapes resolved.
        format: String,
        /// The values, with the set whose names `%e` shows.
        args: Vec<(Expr, Option<MtypeId>)>,
    },
    /// Prints the name of an mtype value.
    PrintMtype(Expr, MtypeId),
    /// `set_priority(process, priority)`
    SetPriority(Expr, Expr),
    /// `_priority = priority`: unlike `set_priority`, SPIN takes any number and keeps eight bits.
    SetOwnPriority(Expr),
    /// The process dies; possible if it is the youngest.
    Die,
    /// Runs without a stop from `entry` until [`Transition::to`] is reached: in each local state the
    /// first possible transition, `else` if there is none.
    DStep {
        /// The first local state inside.
        entry: StateId,
    },
    /// Embedded C; the machine refuses it.
    C(String),
}

/// A variable at a place in the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// In which block.
    pub space: Space,
    /// Where in its block, with all indexes 0.
    pub offset: u32,
    /// How it is stored.
    pub scalar: Scalar,
    /// Indexes that are not constant, outermost first.
    pub indexes: Vec<Index>,
}

impl Place {
    /// The bytes of its block that it may be in.
    pub fn span(&self) -> Range<u32> {
        let spread = |index: &Index| index.length.saturating_sub(1) * index.stride;
        let spread: u32 = self.indexes.iter().map(spread).sum();
        self.offset..self.offset + spread + self.scalar.bytes()
    }
}

/// Which block a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// [`Program::globals`]
    Global,
    /// [`Program::hidden`]
    Hidden,
    /// [`Automaton::locals`] of the process that moves.
    Local,
}

/// An index that is not constant (or out of range).
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Its value.
    pub value: Expr,
    /// How many elements there are; another value is an error.
    pub length: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
}

/// A field of a receive.
#[derive(Clone, Debug, PartialEq)]
pub enum ReceiveArg {
    /// Sets a variable.
    Store(Place),
    /// Must be equal to this value.
    Match(Expr),
    /// Anything.
    Ignore,
}

/// A value, computed in 32 bits as C does, wrapping.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant.
    Const(i32),
    /// A variable.
    Load(Place),
    /// `_pid`
    Pid,
    /// `_nr_pr`
    ProcessCount,
    /// `_last`
    Last,
    /// `_priority` of the process that moves.
    Priority,
    /// `timeout`
    Timeout,
    /// `np_`
    NonProgress,
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands; `&&` and `||` look at the second only if they must.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The number of messages in a channel.
    Len(Box<Expr>),
    /// `full(c)`, ...
    ChannelTest(ChannelTest, Box<Expr>),
    /// Whether a receive would be possible.
    Poll {
        /// The channel's number.
        channel: Box<Expr>,
        /// Any message, not just the first.
        random: bool,
        /// The fields; [`ReceiveArg::Store`] matches anything.
        args: Vec<ReceiveArg>,
    },
    /// `enabled(p)`
    Enabled(Box<Expr>),
    /// `pc_value(p)`
    PcValue(Box<Expr>),
    /// `get_priority(p)`
    GetPriority(Box<Expr>),
    /// `P[p]@L`
    RemoteLabel {
        /// The process type, as written.
        body: BodyId,
        /// The process; none: the lowest of its type.
        pid: Option<Box<Expr>>,
        /// The label's state.
        state: StateId,
    },
    /// `P[p]:v`
    RemoteVar {
        /// The process type, as written.
        body: BodyId,
        /// The process; none: the lowest of its type.
        pid: Option<Box<Expr>>,
        /// The variable in it (its own indexes are evaluated in the process that asks).
        place: Box<Place>,
    },
    /// Embedded C; the machine refuses it.
    C(String),
}
