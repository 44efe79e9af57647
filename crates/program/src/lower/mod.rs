//! From syntax to automata.

use spinward_promela::{Diagnostic, Loaded};

use crate::ir::Program;

/// Makes the program of a model that has no errors so far. What SPIN finds only at this stage comes
/// back as diagnostics; there is no program if one of them is an error.
pub fn lower(_loaded: &Loaded) -> (Option<Program>, Vec<Diagnostic>) {
    (None, Vec::new())
}
