//! What the tests share.

use std::path::Path;
use std::sync::Arc;

use spinward_machine::{Machine, Options};

/// The machine of a model given as text, with its first claim if asked for.
pub fn machine(path: &Path, text: &str, claim: bool) -> Machine {
    let loaded = spinward_promela::load_text(path, text.to_owned(), &Default::default());
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    let (program, problems) = spinward_program::lower(&loaded);
    let program = program.unwrap_or_else(|| panic!("{problems:#?}"));
    let options = Options {
        claim: program.claims.first().copied().filter(|_| claim),
        end_states: !claim,
        assertions: true,
        trace: true,
        exclusive: true,
        ..Options::default()
    };
    Machine::new(Arc::new(program), options, Arc::default()).expect("a good start")
}
