//! Names, scopes and types.

use crate::Diagnostic;
use crate::ast::Model;
use crate::symbols::Symbols;

/// Finds what every name means.
pub fn resolve(_model: &Model) -> (Symbols, Vec<Diagnostic>) {
    (Symbols::default(), Vec::new())
}
