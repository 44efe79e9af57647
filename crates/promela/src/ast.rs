//! Promela's syntax as a tree.
//!
//! Names are text; what they mean is found by [`crate::resolve`] and kept beside the tree, by
//! [`NameId`]. Inline calls hold their body as parsed after substitution. Trees are at most
//! [`MAX_DEPTH`] deep, so that a walk may recurse.

use crate::source::Span;
use crate::token::Token;

/// No expression or statement nests deeper; the parser reports what does.
pub const MAX_DEPTH: usize = 1000;

/// The number of a name's occurrence in the text, dense from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// One occurrence of a name.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
    /// Which occurrence.
    pub id: NameId,
}

/// A whole model.
#[derive(Debug, Default)]
pub struct Model {
    /// In the order of the text.
    pub units: Vec<Unit>,
    /// Where each name stands, by [`NameId`]; also those in what was dropped because of a mistake.
    pub names: Vec<Span>,
}

/// Something at the top level.
#[derive(Debug)]
pub enum Unit {
    /// `proctype`, `active [n] proctype`, `D_proctype`.
    Proctype(Proctype),
    /// `init`.
    Init(Init),
    /// `never`.
    Never(Never),
    /// `trace`, `notrace`.
    Trace(Trace),
    /// `ltl`.
    Ltl(Ltl),
    /// Global variables.
    Decl(Decl),
    /// `mtype = { ... }`.
    Mtype(MtypeDecl),
    /// `typedef`.
    Typedef(Typedef),
    /// `inline`: kept for tools; calls hold their expansion.
    Inline(Inline),
    /// `c_decl`, `c_code` at the top level, `c_state`, `c_track`.
    C(CUnit),
}

/// A process type.
#[derive(Debug)]
pub struct Proctype {
    /// Its name.
    pub name: Name,
    /// `active`, and how many if it says so.
    pub active: Option<Option<Expr>>,
    /// `D_proctype`.
    pub deterministic: bool,
    /// Parameters.
    pub params: Vec<Decl>,
    /// `priority n`.
    pub priority: Option<Expr>,
    /// `provided (e)`.
    pub provided: Option<Expr>,
    /// What it does.
    pub body: Body,
    /// The whole text.
    pub span: Span,
}

/// The initial process.
#[derive(Debug)]
pub struct Init {
    /// `priority n`.
    pub priority: Option<Expr>,
    /// What it does.
    pub body: Body,
    /// The word `init`.
    pub span: Span,
}

/// A never claim.
#[derive(Debug)]
pub struct Never {
    /// Its name, if it has one.
    pub name: Option<Name>,
    /// What must not be seen.
    pub body: Body,
    /// The word `never`.
    pub span: Span,
}

/// An event trace.
#[derive(Debug)]
pub struct Trace {
    /// `notrace`: what must not be seen.
    pub negated: bool,
    /// The events.
    pub body: Body,
    /// The word.
    pub span: Span,
}

/// A temporal property.
#[derive(Debug)]
pub struct Ltl {
    /// Its name, if it has one.
    pub name: Option<Name>,
    /// What must hold.
    pub formula: Expr,
    /// The whole block.
    pub span: Span,
}

/// `mtype = { a, b }`, `mtype:kind = { a, b }`.
#[derive(Debug)]
pub struct MtypeDecl {
    /// The kind.
    pub set: Option<Name>,
    /// The names.
    pub names: Vec<Name>,
    /// The whole declaration.
    pub span: Span,
}

/// A record type.
#[derive(Debug)]
pub struct Typedef {
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<Decl>,
    /// The whole declaration.
    pub span: Span,
}

/// A named sequence.
#[derive(Debug)]
pub struct Inline {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Name>,
    /// Its body with the braces, parameters in place.
    pub body: Vec<Token>,
    /// The whole declaration.
    pub span: Span,
}

/// C at the top level.
#[derive(Debug)]
pub struct CUnit {
    /// Which.
    pub kind: CUnitKind,
    /// The C text or the strings.
    pub text: Vec<String>,
    /// Where.
    pub span: Span,
}

/// Which C construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CUnitKind {
    /// `c_decl`.
    Decl,
    /// `c_code`.
    Code,
    /// `c_state`.
    State,
    /// `c_track`.
    Track,
}

/// The body of a process or claim.
#[derive(Debug)]
pub struct Body {
    /// What stands in the braces.
    pub stmts: Vec<Stmt>,
    /// The closing brace, where a process ends.
    pub end: Span,
}

/// Variables of one type.
#[derive(Clone, Debug)]
pub struct Decl {
    /// `hidden`, `show`, `local`.
    pub visibility: Option<Visibility>,
    /// The type.
    pub ty: TypeName,
    /// The variables.
    pub vars: Vec<Declarator>,
    /// The whole declaration.
    pub span: Span,
}

/// A prefix of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Not part of the state.
    Hidden,
    /// Shown in message sequence charts.
    Show,
    /// Used by one process only.
    Local,
}

/// A type as written.
#[derive(Clone, Debug)]
pub enum TypeName {
    /// `bit`
    Bit,
    /// `bool`
    Bool,
    /// `byte`
    Byte,
    /// `pid`
    Pid,
    /// `short`
    Short,
    /// `int`
    Int,
    /// `unsigned`
    Unsigned,
    /// `chan`
    Chan,
    /// `mtype`, `mtype:set`
    Mtype(Option<Name>),
    /// A `typedef`.
    Named(Name),
}

/// One variable of a declaration.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// Its name.
    pub name: Name,
    /// `: n`, the width of an `unsigned`.
    pub width: Option<(i32, Span)>,
    /// `[n]`
    pub array: Option<Expr>,
    /// `= ...`
    pub init: Option<Initializer>,
    /// The whole of it.
    pub span: Span,
}

/// What a variable starts with.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// `= e`
    Expr(Expr),
    /// `= { c, c, ... }`
    List(Vec<Expr>),
    /// `= [n] of { t, t }`
    Channel {
        /// How many messages it holds; 0 for a rendezvous.
        capacity: Expr,
        /// The types of a message's fields.
        fields: Vec<TypeName>,
        /// The whole of it.
        span: Span,
    },
}

/// A label before a statement.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name.
    pub name: Name,
}

/// A statement, or a declaration among statements.
#[derive(Debug)]
pub struct Stmt {
    /// Labels before it, in order.
    pub labels: Vec<Label>,
    /// What it is.
    pub kind: StmtKind,
    /// Where, without its labels; a compound one whole.
    pub span: Span,
}

/// Kinds of statements.
#[derive(Debug)]
pub enum StmtKind {
    /// A declaration.
    Decl(Decl),
    /// `xr c, d` (receive) or `xs c, d` (send).
    Exclusive {
        /// `xs`
        send: bool,
        /// The channels.
        channels: Vec<VarRef>,
    },
    /// A condition; also `skip`, `run P()`.
    Expr(Expr),
    /// A label with no statement after it: counts as `skip`.
    LabelOnly,
    /// `v = e`; `v++` and `v--` by their operators.
    Assign(VarRef, AssignOp),
    /// `c!a,b`, `c!!a,b`
    Send {
        /// The channel.
        channel: VarRef,
        /// `!!`
        sorted: bool,
        /// The fields.
        args: Vec<Expr>,
    },
    /// `c?a,b`, `c??a`, `c?<a>`, `c??<a>`
    Receive {
        /// The channel.
        channel: VarRef,
        /// `??`
        random: bool,
        /// `<...>`: the message stays.
        keep: bool,
        /// The fields.
        args: Vec<ReceiveArg>,
    },
    /// `assert(e)`
    Assert(Expr),
    /// `printf("...", ...)`
    Printf {
        /// The format, escapes as written.
        format: String,
        /// The values.
        args: Vec<Expr>,
    },
    /// `printm(e)`
    Printm(Expr),
    /// `set_priority(p, n)`
    SetPriority(Expr, Expr),
    /// `goto L`
    Goto(Name),
    /// `break`
    Break,
    /// `else`
    Else,
    /// `{ ... }`
    Block(Vec<Stmt>),
    /// `atomic { ... }`
    Atomic(Vec<Stmt>),
    /// `d_step { ... }`
    DStep(Vec<Stmt>),
    /// `if :: ... fi`
    If(Vec<Choice>),
    /// `do :: ... od`
    Do(Vec<Choice>),
    /// `for (v : a .. b) { ... }`
    For {
        /// The index.
        var: VarRef,
        /// Its range.
        range: ForRange,
        /// What is repeated.
        body: Vec<Stmt>,
    },
    /// `select (v : a .. b)`
    Select {
        /// The variable.
        var: VarRef,
        /// The least value.
        from: Expr,
        /// The greatest value.
        to: Expr,
        /// Whether SPIN's lexer sees a plain name and two literals, outside any inline: it then
        /// writes the choice out.
        literal: bool,
    },
    /// `s unless t`
    Unless(Box<Stmt>, Box<Stmt>),
    /// A call of an inline, its body after substitution.
    Inline {
        /// Which.
        name: Name,
        /// The arguments as written.
        args: Vec<Vec<Token>>,
        /// What the value is assigned to, in `x = f(...)`. `return e` in the body is an
        /// assignment to a copy of it, with the same [`NameId`]s: they mean what they mean here,
        /// at the call, whatever the body declares.
        result: Option<VarRef>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `c_code { ... }`
    CCode(CText),
}

/// One option of a choice or loop.
#[derive(Debug)]
pub struct Choice {
    /// Its statements.
    pub stmts: Vec<Stmt>,
    /// From its `::` on.
    pub span: Span,
}

/// How a variable changes.
#[derive(Debug)]
pub enum AssignOp {
    /// `= e`
    Set(Expr),
    /// `++`
    Increment,
    /// `--`
    Decrement,
}

/// What a `for` runs over.
#[derive(Debug)]
pub enum ForRange {
    /// `a .. b`
    Numbers(Expr, Expr),
    /// `in x`: the indexes of an array, or the messages of a channel.
    In(VarRef),
}

/// C text inside a body.
#[derive(Clone, Debug)]
pub struct CText {
    /// The condition in brackets before it.
    pub assertion: Option<String>,
    /// The code.
    pub code: String,
}

/// A field of a receive or a poll.
#[derive(Clone, Debug)]
pub enum ReceiveArg {
    /// A variable to set (or, if the name turns out to be an mtype constant, a value to match).
    Var(VarRef),
    /// A constant to match.
    Const(Expr),
    /// `eval(e)`: a value to match.
    Eval(Expr),
    /// `_`: anything.
    Ignore(Span),
}

impl ReceiveArg {
    /// Calls `visit` with the expressions in it, not with those inside of them.
    pub fn for_each_operand<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Self::Var(var) => var.indexes().for_each(visit),
            Self::Const(expr) | Self::Eval(expr) => visit(expr),
            Self::Ignore(_) => {}
        }
    }
}

/// A variable, an element of an array, a field of a record, or (a single name) an mtype constant or
/// a predefined variable.
#[derive(Clone, Debug)]
pub struct VarRef {
    /// `a`, `.b[i]`, `.c`
    pub parts: Vec<VarPart>,
    /// The whole of it.
    pub span: Span,
}

impl VarRef {
    /// The indexes in it.
    pub fn indexes(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| part.index.as_deref())
    }
}

/// One step of a [`VarRef`].
#[derive(Clone, Debug)]
pub struct VarPart {
    /// The name.
    pub name: Name,
    /// `[e]`
    pub index: Option<Box<Expr>>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

impl Expr {
    /// Calls `visit` with the expressions in it in the order of the text, not with those inside of
    /// them.
    pub fn for_each_operand<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Number(_)
            | ExprKind::Timeout
            | ExprKind::NonProgress
            | ExprKind::CExpr(_) => {}
            ExprKind::Var(var) | ExprKind::Len(var) | ExprKind::ChannelTest(_, var) => {
                var.indexes().for_each(visit);
            }
            ExprKind::Unary(_, operand)
            | ExprKind::TemporalUnary(_, operand)
            | ExprKind::Enabled(operand)
            | ExprKind::PcValue(operand)
            | ExprKind::GetPriority(operand) => visit(operand),
            ExprKind::Binary(_, left, right) | ExprKind::TemporalBinary(_, left, right) => {
                visit(left);
                visit(right);
            }
            ExprKind::Conditional(condition, yes, no) => {
                visit(condition);
                visit(yes);
                visit(no);
            }
            ExprKind::Run { args, priority, .. } => {
                args.iter().chain(priority.as_deref()).for_each(visit);
            }
            ExprKind::Poll { channel, args, .. } => {
                channel.indexes().for_each(&mut *visit);
                args.iter().for_each(|arg| arg.for_each_operand(visit));
            }
            ExprKind::RemoteLabel { pid, .. } => pid.as_deref().into_iter().for_each(visit),
            ExprKind::RemoteVar { pid, var, .. } => {
                pid.as_deref().into_iter().chain(var.indexes()).for_each(visit);
            }
        }
    }
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number, a character, `true`, `false`, `skip`.
    Number(i32),
    /// A variable, an mtype constant, or one of `_`, `_pid`, `_nr_pr`, `_last`, `_priority`.
    Var(VarRef),
    /// `!e`, `-e`, `~e`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, ...
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `run P(args) [priority n]`
    Run {
        /// Which process type.
        proctype: Name,
        /// Its arguments.
        args: Vec<Expr>,
        /// Its priority.
        priority: Option<Box<Expr>>,
    },
    /// `len(c)`
    Len(VarRef),
    /// `full(c)`, ...
    ChannelTest(ChannelTest, VarRef),
    /// `c?[args]`, `c??[args]`
    Poll {
        /// The channel.
        channel: VarRef,
        /// `??`
        random: bool,
        /// The fields.
        args: Vec<ReceiveArg>,
    },
    /// `enabled(e)`
    Enabled(Box<Expr>),
    /// `pc_value(e)`
    PcValue(Box<Expr>),
    /// `get_priority(e)`
    GetPriority(Box<Expr>),
    /// `P[e]@L`, `P@L`
    RemoteLabel {
        /// The process type.
        proctype: Name,
        /// The process.
        pid: Option<Box<Expr>>,
        /// The label.
        label: Name,
    },
    /// `P[e]:v`, `P:v`
    RemoteVar {
        /// The process type.
        proctype: Name,
        /// The process.
        pid: Option<Box<Expr>>,
        /// The variable.
        var: VarRef,
    },
    /// `timeout`
    Timeout,
    /// `np_`
    NonProgress,
    /// `c_expr { ... }`
    CExpr(CText),
    /// An operator of temporal logic with one operand; only in `ltl` formulas.
    TemporalUnary(TemporalUnary, Box<Expr>),
    /// An operator of temporal logic with two operands; only in `ltl` formulas.
    TemporalBinary(TemporalBinary, Box<Expr>, Box<Expr>),
}

/// `full(c)`, `empty(c)`, `nfull(c)`, `nempty(c)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelTest {
    /// No room left.
    Full,
    /// No message.
    Empty,
    /// Room left.
    NotFull,
    /// Some message.
    NotEmpty,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Neg,
    /// `~`
    Complement,
}

impl UnaryOp {
    /// The value, as C computes with `int`.
    #[inline]
    pub fn apply(self, value: i32) -> i32 {
        match self {
            Self::Not => i32::from(value == 0),
            Self::Neg => value.wrapping_neg(),
            Self::Complement => !value,
        }
    }
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // C's, by their usual names.
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

impl BinaryOp {
    /// The value, as C computes with `int`; none for a division by zero.
    #[inline]
    pub fn apply(self, a: i32, b: i32) -> Option<i32> {
        Some(match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::Div | Self::Rem if b == 0 => return None,
            Self::Div => a.wrapping_div(b),
            Self::Rem => a.wrapping_rem(b),
            Self::BitAnd => a & b,
            Self::BitOr => a | b,
            Self::BitXor => a ^ b,
            // As x86 does it: the lowest five bits of the distance count.
            Self::Shl => a.wrapping_shl(b as u32),
            Self::Shr => a.wrapping_shr(b as u32),
            Self::Lt => i32::from(a < b),
            Self::Le => i32::from(a <= b),
            Self::Gt => i32::from(a > b),
            Self::Ge => i32::from(a >= b),
            Self::Eq => i32::from(a == b),
            Self::Ne => i32::from(a != b),
            Self::And => i32::from(a != 0 && b != 0),
            Self::Or => i32::from(a != 0 || b != 0),
        })
    }
}

/// Operators of temporal logic with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TemporalUnary {
    /// `[]`
    Always,
    /// `<>`
    Eventually,
    /// `X`
    Next,
}

/// Operators of temporal logic with two operands, and those of logic that only formulas have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TemporalBinary {
    /// `U`
    Until,
    /// `W`
    WeakUntil,
    /// `V`
    Release,
    /// `->`
    Implies,
    /// `<->`
    Equivalent,
}
