//! What the names of a model mean.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast::NameId;
use crate::source::Span;

/// A variable, parameter or field, in [`Symbols::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A record type, in [`Symbols::typedefs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypedefId(pub u32);

/// A set of mtype names, in [`Symbols::mtypes`]; the unnamed set is number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MtypeId(pub u32);

/// A body (proctype, init, never, trace), in [`Symbols::bodies`]. The order is that of the text:
/// these are SPIN's proctype numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub u32);

/// What an occurrence of a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A variable, parameter or field.
    Variable(VarId),
    /// An mtype constant: its set and value.
    Mtype(MtypeId, i32),
    /// A process type.
    Body(BodyId),
    /// A record type.
    Typedef(TypedefId),
    /// A set of mtype names.
    MtypeSet(MtypeId),
    /// One of the predefined variables.
    Predefined(Predefined),
    /// A label: its body, and its index in the [`BodyInfo::labels`] there. Several labels of one body
    /// may have one name, in different blocks or from calls of one inline.
    Label(BodyId, u32),
    /// An inline.
    Inline,
    /// A property.
    Ltl,
}

/// Variables that every model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Predefined {
    /// `_`
    Scratch,
    /// `_pid`
    Pid,
    /// `_nr_pr`
    ProcessCount,
    /// `_last`
    Last,
    /// `_priority`
    Priority,
}

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One bit.
    Bit,
    /// One bit, meant as a truth value.
    Bool,
    /// 0 to 255.
    Byte,
    /// A process number; 0 to 255.
    Pid,
    /// 16 bits, signed.
    Short,
    /// 32 bits, signed.
    Int,
    /// So many bits, unsigned.
    Unsigned(u8),
    /// A name of a set; 8 bits.
    Mtype(MtypeId),
    /// A channel number; 8 bits.
    Chan,
    /// A record.
    Struct(TypedefId),
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In the model.
    Global,
    /// In each process of a type.
    Local(BodyId),
    /// In each record of a type.
    Field(TypedefId),
}

/// A variable, parameter or field.
#[derive(Clone, Debug)]
pub struct Variable {
    /// As written.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its type.
    pub ty: Type,
    /// The number of its elements, if it is an array.
    pub array: Option<u32>,
    /// Where it lives.
    pub scope: Scope,
    /// Its block inside the body: the numbers of the nested braces, empty at the top of the body.
    /// Two variables of one body may have one name in different blocks.
    pub block: Arc<[u32]>,
    /// `hidden`, `show`, `local`.
    pub visibility: Option<crate::ast::Visibility>,
    /// Whether it is set when its process is created (parameters; declarations before the first
    /// statement at the top of the body) or, for globals and fields, at the start: SPIN turns any
    /// other declaration into a statement.
    pub at_creation: bool,
    /// Whether it is a parameter.
    pub parameter: bool,
    /// The channel it starts with, if it says so.
    pub channel: Option<Channel>,
    /// Declared by the translation of `for (m in c)`, not by the user.
    pub synthetic: bool,
}

/// A channel as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// How many messages it holds; 0 for a rendezvous.
    pub capacity: u32,
    /// The fields of a message as declared.
    pub fields: Vec<Type>,
}

/// A record type.
#[derive(Clone, Debug)]
pub struct TypedefInfo {
    /// As written.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its fields, in order.
    pub fields: Vec<VarId>,
}

/// A set of mtype names.
#[derive(Clone, Debug)]
pub struct MtypeSet {
    /// Its name; none for the unnamed set.
    pub name: Option<String>,
    /// Names with their values, as SPIN numbers them, from 1 up.
    pub values: Vec<(String, i32)>,
}

/// A kind of body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// A process type.
    Proctype,
    /// The initial process.
    Init,
    /// A never claim.
    Never,
    /// `trace`
    Trace,
    /// `notrace`
    NoTrace,
}

/// A proctype, init, never claim or trace.
#[derive(Clone, Debug)]
pub struct BodyInfo {
    /// Its name; SPIN's for those without: `:init:`, `never_0`, `:trace:`, `:notrace:`.
    pub name: String,
    /// Which kind.
    pub kind: BodyKind,
    /// Its index in [`crate::ast::Model::units`].
    pub unit: usize,
    /// Where its name (or word) stands.
    pub span: Span,
    /// How many processes `active` starts; 1 for init.
    pub active: u32,
    /// Its priority, 1 if it has none.
    pub priority: i32,
    /// Its parameters, in order.
    pub params: Vec<VarId>,
    /// All its variables, parameters first, in the order of the text.
    pub locals: Vec<VarId>,
    /// Its labels, in the order of the text.
    pub labels: Vec<(String, Span)>,
}

/// What all names of a model mean.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// By [`NameId`]; none where an error was reported.
    pub names: Vec<Option<Symbol>>,
    /// All variables.
    pub variables: Vec<Variable>,
    /// The global ones, in the order of the text.
    pub globals: Vec<VarId>,
    /// Record types.
    pub typedefs: Vec<TypedefInfo>,
    /// Sets of mtype names; number 0 is the unnamed one.
    pub mtypes: Vec<MtypeSet>,
    /// Bodies in the order of the text.
    pub bodies: Vec<BodyInfo>,
    /// For each `for (m in c)` over a channel the hidden counter, a synthetic variable, by the
    /// occurrence of `m` in its head. Loops in one block share a counter, as in SPIN.
    pub for_counters: FxHashMap<NameId, VarId>,
}

impl Symbols {
    /// What an occurrence stands for.
    pub fn symbol(&self, name: NameId) -> Option<Symbol> {
        self.names.get(name.0 as usize).copied().flatten()
    }

    /// A variable.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    /// A record type.
    pub fn typedef(&self, id: TypedefId) -> &TypedefInfo {
        &self.typedefs[id.0 as usize]
    }

    /// A set of mtype names.
    pub fn mtype(&self, id: MtypeId) -> &MtypeSet {
        &self.mtypes[id.0 as usize]
    }

    /// A body.
    pub fn body(&self, id: BodyId) -> &BodyInfo {
        &self.bodies[id.0 as usize]
    }
}
