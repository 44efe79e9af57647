//! What tests of the machine share.

use std::path::{Path, PathBuf};

use spinward_machine::{Flow, Sink, Step, Violation};
use spinward_program::Program;

/// What an expansion tells.
#[derive(Debug, PartialEq)]
pub enum Event {
    Successor(Vec<u8>, Vec<Step>),
    Violation(Violation, Vec<Step>),
}

/// All that an expansion tells, in order.
#[derive(Default)]
pub struct Events(pub Vec<Event>);

impl Sink for Events {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.0.push(Event::Successor(state.to_vec(), steps.to_vec()));
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.0.push(Event::Violation(violation, steps.to_vec()));
        Flow::Continue(())
    }
}

/// The models in a folder.
pub fn models(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = folder.read_dir().expect("a folder of models");
    let mut models: Vec<_> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
        .collect();
    models.sort();
    models
}

/// A model's program.
pub fn program(path: &Path) -> Option<Program> {
    let loaded = spinward_promela::load(path, &spinward_promela::Options::default());
    spinward_program::lower(&loaded).0
}
