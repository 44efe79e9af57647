//! Models as trees, as much of a tree as is needed to print them and to take parts away.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

/// What kind of model it is, which decides how it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Processes only.
    Plain,
    /// With process priorities, which SPIN does not allow beside rendezvous.
    Priority,
    /// With a never claim or an LTL formula.
    Claim,
    /// With a trace or notrace assertion.
    Trace,
}

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its class.
    pub class: Class,
    /// Names of the language features in it.
    pub features: BTreeSet<&'static str>,
    /// Its text, in order.
    pub units: Vec<Unit>,
}

/// A part of a model at the outermost level.
#[derive(Clone, Debug)]
pub enum Unit {
    /// A declaration, or anything else without statements.
    Text(String),
    /// Something with a body, such as a proctype.
    Body {
        /// What stands before the opening brace.
        header: String,
        /// The statements.
        body: Vec<Stmt>,
    },
}

/// A statement, or a declaration among statements.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// One that has no statements inside.
    Leaf(Vec<Piece>),
    /// A jump; the label is filled in when all of them are known.
    Goto(String),
    /// A statement with a label.
    Label(String, Box<Stmt>),
    /// `if` or `do`.
    Choice {
        /// Whether it is a `do`.
        repeat: bool,
        /// The sequences to choose from.
        options: Vec<Vec<Stmt>>,
    },
    /// A block with a head such as `atomic`; none for a plain block.
    Block {
        /// What stands before the opening brace.
        head: Vec<Piece>,
        /// The statements inside.
        body: Vec<Stmt>,
    },
    /// `{ body } unless { escape }`.
    Unless {
        /// The normal part.
        body: Vec<Stmt>,
        /// What it is left for.
        escape: Vec<Stmt>,
    },
}

/// A part of a simple statement.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Text that stays.
    Text(String),
    /// An expression, which may be replaced by a smaller one.
    Expr(Expr),
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// Without visible parts.
    Atom(String),
    /// An operator and its operand.
    Unary(&'static str, Box<Expr>),
    /// An operator between its operands.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `(condition -> a : b)`.
    Either(Box<[Expr; 3]>),
}

impl Stmt {
    /// A statement that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Leaf(vec![Piece::Text(text.into())])
    }

    /// A statement that is only an expression.
    pub fn condition(expr: Expr) -> Self {
        Self::Leaf(vec![Piece::Expr(expr)])
    }

    /// A block with a head that is only text.
    pub fn block(head: &str, body: Vec<Stmt>) -> Self {
        Self::Block { head: vec![Piece::Text(head.to_owned())], body }
    }

    /// Whether it is a d_step.
    pub fn is_d_step(&self) -> bool {
        match self {
            Self::Block { head, .. } => {
                matches!(&head[..], [Piece::Text(word)] if word == "d_step")
            }
            _ => false,
        }
    }

    /// Whether it may end in the end of a loop; a `select` counts.
    pub fn loops(&self) -> bool {
        match self {
            Self::Leaf(pieces) => {
                matches!(pieces.first(), Some(Piece::Text(text)) if text.starts_with("select"))
            }
            _ => true,
        }
    }

    /// Whether the first thing it does is a d_step.
    pub fn starts_with_d_step(&self) -> bool {
        match self {
            _ if self.is_d_step() => true,
            Self::Block { body, .. } | Self::Unless { body, .. } => {
                body.first().is_some_and(Self::starts_with_d_step)
            }
            Self::Label(_, stmt) => stmt.starts_with_d_step(),
            Self::Leaf(_) | Self::Goto(_) | Self::Choice { .. } => false,
        }
    }

    /// An `if`.
    pub fn choice(options: Vec<Vec<Stmt>>) -> Self {
        Self::Choice { repeat: false, options }
    }
}

impl Expr {
    /// An expression without visible parts.
    pub fn atom(text: impl Into<String>) -> Self {
        Self::Atom(text.into())
    }

    /// An operator between its operands.
    pub fn binary(left: Expr, operator: &'static str, right: Expr) -> Self {
        Self::Binary(operator, Box::new(left), Box::new(right))
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom(text) => f.write_str(text),
            Self::Unary(operator, operand) => write!(f, "{operator}({operand})"),
            Self::Binary(operator, left, right) => write!(f, "({left} {operator} {right})"),
            Self::Either(parts) => write!(f, "({} -> {} : {})", parts[0], parts[1], parts[2]),
        }
    }
}

impl Display for Stmt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        statement(f, self, 0)
    }
}

impl Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Expr(expr) => expr.fmt(f),
        }
    }
}

impl Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for unit in &self.units {
            match unit {
                Unit::Text(text) if text.starts_with('#') => writeln!(f, "{text}")?,
                Unit::Text(text) => writeln!(f, "{text};")?,
                Unit::Body { header, body } => {
                    writeln!(f, "{header} {{")?;
                    sequence(f, body, 1)?;
                    writeln!(f, "}}")?;
                }
            }
        }
        Ok(())
    }
}

/// Prints statements, one to a line.
fn sequence(f: &mut fmt::Formatter<'_>, statements: &[Stmt], level: usize) -> fmt::Result {
    for (at, stmt) in statements.iter().enumerate() {
        indent(f, level)?;
        statement(f, stmt, level)?;
        let last = at + 1 == statements.len();
        f.write_str(if last { "\n" } else { ";\n" })?;
    }
    Ok(())
}

/// Prints a statement, without the separator after it.
fn statement(f: &mut fmt::Formatter<'_>, stmt: &Stmt, level: usize) -> fmt::Result {
    match stmt {
        Stmt::Leaf(pieces) => pieces.iter().try_for_each(|piece| piece.fmt(f)),
        Stmt::Goto(label) => write!(f, "goto {label}"),
        Stmt::Label(label, stmt) => {
            write!(f, "{label}: ")?;
            statement(f, stmt, level)
        }
        Stmt::Choice { repeat, options } => {
            f.write_str(if *repeat { "do\n" } else { "if\n" })?;
            for option in options {
                indent(f, level)?;
                f.write_str(":: ")?;
                if let Some((first, rest)) = option.split_first() {
                    statement(f, first, level + 1)?;
                    f.write_str(if rest.is_empty() { "\n" } else { " ->\n" })?;
                    sequence(f, rest, level + 1)?;
                }
            }
            indent(f, level)?;
            f.write_str(if *repeat { "od" } else { "fi" })
        }
        Stmt::Block { head, body } => {
            head.iter().try_for_each(|piece| piece.fmt(f))?;
            let named =
                head.iter().any(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
            f.write_str(if named { " " } else { "" })?;
            braces(f, body, level)
        }
        Stmt::Unless { body, escape } => {
            braces(f, body, level)?;
            f.write_str(" unless ")?;
            braces(f, escape, level)
        }
    }
}

fn braces(f: &mut fmt::Formatter<'_>, body: &[Stmt], level: usize) -> fmt::Result {
    f.write_str("{\n")?;
    sequence(f, body, level + 1)?;
    indent(f, level)?;
    f.write_str("}")
}

fn indent(f: &mut fmt::Formatter<'_>, level: usize) -> fmt::Result {
    (0..level).try_for_each(|_| f.write_str("    "))
}
