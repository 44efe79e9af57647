//! Tests of the parser.

mod accepted;
mod mistakes;
mod robustness;

use super::*;
use crate::preprocess::{Options, preprocess};
use std::path::PathBuf;

/// Parses a text; the third part tells of all mistakes.
pub(crate) fn parse_text(text: &str) -> (Model, SourceMap, Vec<Diagnostic>) {
    let mut source = SourceMap::default();
    let file = source.add_file(PathBuf::from("test.pml"), text.to_owned(), None);
    let (tokens, mut diagnostics) = preprocess(&mut source, file, &Options::default());
    let (model, found) = parse(tokens, &mut source);
    diagnostics.extend(found);
    (model, source, diagnostics)
}

/// The mistakes of a text, one line for each with its place.
fn mistakes(text: &str) -> String {
    let (_, source, diagnostics) = parse_text(text);
    let mut lines = String::new();
    for problem in &diagnostics {
        let place = |span: Span| {
            let position = source.position(span);
            format!("{}:{}", position.line, position.column)
        };
        let at = problem.span.map_or(String::new(), |span| {
            let length = span.end - span.start;
            format!("{}+{length} ", place(span))
        });
        let kind = if problem.is_error() { "" } else { "warning: " };
        lines += &format!("{at}{kind}{}\n", problem.message);
        for (span, text) in &problem.related {
            lines += &format!("    at {}: {text}\n", place(*span));
        }
        for note in &problem.notes {
            lines += &format!("    note: {note}\n");
        }
        for help in &problem.help {
            lines += &format!("    help: {help}\n");
        }
    }
    lines
}

/// A model that must be without mistakes.
pub(crate) fn accepted(text: &str) -> Model {
    let (model, _, diagnostics) = parse_text(text);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{text}\n{}", mistakes(text));
    model
}
