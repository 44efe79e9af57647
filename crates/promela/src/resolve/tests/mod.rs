//! Tests of name resolution, on Promela text. What is refused, warned about or accepted here was
//! tried with SPIN 6.5.2.

mod mistakes;
mod symbols;

use std::path::Path;

use crate::diagnostic::Severity;
use crate::{Loaded, Options, load_text};

fn load(text: &str) -> Loaded {
    load_text(Path::new("test.pml"), text.to_owned(), &Options::default())
}

/// The messages of one severity.
fn messages(loaded: &Loaded, severity: Severity) -> Vec<&str> {
    loaded
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == severity)
        .map(|diagnostic| diagnostic.message.as_str())
        .collect()
}

/// The model has exactly one error, and that is its message.
#[track_caller]
fn refuses(text: &str, message: &str) {
    let loaded = load(text);
    assert_eq!(messages(&loaded, Severity::Error), [message], "{text}");
}

/// The model has no error and one warning.
#[track_caller]
fn warns(text: &str, message: &str) {
    let loaded = load(text);
    assert_eq!(messages(&loaded, Severity::Error), [""; 0], "{text}");
    assert_eq!(messages(&loaded, Severity::Warning), [message], "{text}");
}

/// The model has no error and no warning.
#[track_caller]
fn accepts(text: &str) {
    let loaded = load(text);
    assert!(loaded.diagnostics.is_empty(), "{text}: {:?}", loaded.diagnostics);
}
