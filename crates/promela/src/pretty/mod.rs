//! Syntax as text, in one style: what a trail or an automaton shows of a statement, and whole
//! models in canonical form. Parsing the text of a model gives the same tree again. [`layout()`] is for
//! texts that people write: it changes white space only.
//!
//! The tree holds `true`, `false` and `skip` as numbers; their spans tell them apart from digits.

mod expressions;
mod layout;
mod levels;
mod model;
mod statements;
mod tokens;

#[cfg(test)]
mod tests;

use crate::ast::{Expr, Stmt};

pub use layout::{Indent, layout};
pub use model::model;

/// An expression in one line, with the fewest parentheses.
pub fn expr(expr: &Expr) -> String {
    let mut text = String::new();
    expressions::expr(&mut text, expr);
    text
}

/// A simple statement in one line; of a compound one its first word and `...`.
pub fn statement(stmt: &Stmt) -> String {
    let mut text = String::new();
    statements::statement(&mut text, stmt);
    text
}

/// Writes things with something between them.
fn separated<T>(
    text: &mut String,
    separator: &str,
    things: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    for (i, thing) in things.into_iter().enumerate() {
        if i > 0 {
            text.push_str(separator);
        }
        write(text, thing);
    }
}
