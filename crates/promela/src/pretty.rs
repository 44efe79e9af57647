//! Syntax as text.

use crate::ast::{Expr, Stmt};

/// An expression in one line, with the fewest parentheses.
pub fn expr(_expr: &Expr) -> String {
    String::new()
}

/// A simple statement in one line; of a compound one its first word and `...`.
pub fn statement(_stmt: &Stmt) -> String {
    String::new()
}
