//! What tests of this crate share.

use std::path::Path;

use spinward_promela::{Options, load_text};

use crate::Program;

/// The program of a text.
pub fn program(text: &str) -> Program {
    let loaded = load_text(Path::new("model.pml"), text.to_owned(), &Options::default());
    assert!(!loaded.has_errors(), "{text}: {:?}", loaded.diagnostics);
    crate::lower(&loaded).0.expect("a program")
}
