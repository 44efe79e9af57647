//! The parser.

use crate::ast::Model;
use crate::token::Token;
use crate::{Diagnostic, SourceMap};

/// Builds the tree. After a mistake it goes on at the next statement or unit, so that one run tells
/// several.
pub fn parse(_tokens: Vec<Token>, _source: &mut SourceMap) -> (Model, Vec<Diagnostic>) {
    (Model::default(), Vec::new())
}
