//! What names a generated statement can use: types, variables, channels, and where it stands.

use super::ast::Stmt;

/// A type of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Bit,
    Bool,
    Byte,
    Short,
    Int,
    Unsigned(u8),
    Mtype,
    /// The named mtype.
    Fruit,
    Pid,
}

impl Ty {
    /// The declaration of `name` with this type, without an initial value.
    pub fn declare(self, name: &str) -> String {
        match self {
            Self::Unsigned(bits) => format!("unsigned {name} : {bits}"),
            _ => format!("{} {name}", self.keyword()),
        }
    }

    /// The word for it, as channels want it.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Bit => "bit",
            Self::Bool => "bool",
            Self::Byte => "byte",
            Self::Short => "short",
            Self::Int => "int",
            Self::Unsigned(_) => "unsigned",
            Self::Mtype => "mtype",
            Self::Fruit => "mtype:fruit",
            Self::Pid => "pid",
        }
    }

    /// Whether it has room for every value of a message field.
    pub fn holds(self, field: Self) -> bool {
        match field {
            Self::Mtype | Self::Fruit => self == field,
            _ if matches!(self, Self::Mtype | Self::Fruit) => false,
            Self::Bit | Self::Bool => true,
            Self::Byte | Self::Pid | Self::Unsigned(_) => {
                matches!(self, Self::Byte | Self::Pid | Self::Short | Self::Int)
            }
            Self::Short => matches!(self, Self::Short | Self::Int),
            Self::Int => self == Self::Int,
        }
    }

    /// Whether its values are never negative.
    pub fn natural(self) -> bool {
        !matches!(self, Self::Short | Self::Int)
    }

    /// Whether it has so few values that any may be stored in an endless loop.
    pub fn tiny(self) -> bool {
        matches!(self, Self::Bit | Self::Bool | Self::Unsigned(1 | 2))
    }
}

/// A part of the way to a variable.
#[derive(Clone, Debug)]
pub enum Seg {
    /// A name, with its dot where it is a field.
    Text(String),
    /// An index below this number.
    Index(usize),
}

/// A variable of one number, an element of an array, or a field of a structure.
#[derive(Clone, Debug)]
pub struct Var {
    pub path: Vec<Seg>,
    pub ty: Ty,
    /// May be written in endless loops: its values are kept few there.
    pub small: bool,
}

impl Var {
    /// A plain variable.
    pub fn scalar(name: &str, ty: Ty, small: bool) -> Self {
        Self { path: vec![Seg::Text(name.to_owned())], ty, small }
    }

    /// The name it starts with.
    pub fn root(&self) -> &str {
        match self.path.first() {
            Some(Seg::Text(name)) => name,
            _ => "",
        }
    }

    /// Whether it has no index and no field.
    pub fn plain(&self) -> bool {
        self.path.len() == 1
    }
}

/// What a channel carries, and whether it keeps it.
#[derive(Clone, Debug)]
pub struct Shape {
    pub fields: Vec<Field>,
    /// 0 for rendezvous.
    pub capacity: usize,
}

impl Shape {
    pub fn rendezvous(&self) -> bool {
        self.capacity == 0
    }
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Scalar(Ty),
    /// A channel of the shape with this number.
    Chan(usize),
    /// A structure of the type for messages.
    Record,
}

/// A channel, or an element of an array of channels.
#[derive(Clone, Debug)]
pub struct Chan {
    pub path: Vec<Seg>,
    /// The number of its shape.
    pub shape: usize,
    /// Lives as long as the model.
    pub global: bool,
    /// A variable that may be given another channel.
    pub assignable: bool,
}

/// An inline that can be called.
#[derive(Clone, Debug)]
pub struct Inline {
    pub name: String,
    pub params: InlineParams,
}

/// What an inline wants, which also tells where it can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineParams {
    /// A variable to change and a value: it never blocks.
    VarValue,
    /// A condition to wait for and a variable.
    WaitVar,
    /// None.
    Nothing,
}

/// What is planned for a proctype before any body is made.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    /// How many instances start by themselves.
    pub active: usize,
    /// The number of the first instance, where it is fixed for the whole run.
    pub pid: Option<usize>,
    pub params: Vec<Param>,
    /// May start other processes.
    pub starts: bool,
    /// Has a label and a variable that others may look at.
    pub watched: bool,
}

/// A parameter of a proctype.
#[derive(Clone, Copy, Debug)]
pub enum Param {
    Scalar(Ty),
    /// A channel of the shape with this number.
    Chan(usize),
    /// A structure of the type for messages.
    Record,
}

/// Where in a body a statement stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// How many compound statements are around it.
    pub depth: usize,
    /// In an endless loop: values must stay few.
    pub repeat: bool,
    /// In any loop: nothing is done here that may be done only once.
    pub again: bool,
    /// A `break` would have a loop to leave.
    pub breakable: bool,
    pub atomic: bool,
    pub d_step: bool,
}

impl Place {
    /// The outermost level of a body.
    pub const TOP: Self = Self {
        depth: 0,
        repeat: false,
        again: false,
        breakable: false,
        atomic: false,
        d_step: false,
    };

    /// One level further in.
    pub fn inner(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// The body being made.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The number of its proctype's plan.
    pub plan: usize,
    pub vars: Vec<Var>,
    pub chans: Vec<Chan>,
    /// Names of structures of the type for messages.
    pub records: Vec<String>,
    /// Names and lengths of arrays.
    pub arrays: Vec<(String, usize)>,
    /// Declarations for the start of the body.
    pub declarations: Vec<Stmt>,
    /// Statements still to be made.
    pub budget: usize,
    /// Names that blocks have declared.
    pub scoped: Vec<String>,
    /// Processes that may still be started from here.
    pub runs: usize,
}
