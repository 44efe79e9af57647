//! How far each state of a small model is from an error: by brute force, and as guides estimate it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use spinward_guide::truth::Truth;
use spinward_guide::{Patience, Subject, Wanted};
use spinward_machine::{Machine, Options};

/// A model in which a condition must hold in every state, and nothing else is asked. A formula would not
/// do: its automaton notices an error one step late.
pub fn machine(path: &Path, text: String, invariant: &str) -> Result<Machine> {
    let conditions = vec![invariant.to_owned()];
    let options = spinward_promela::Options { conditions, ..Default::default() };
    let loaded = spinward_promela::load_text(path, text, &options);
    ensure!(!loaded.has_errors(), "{}: {:?}", path.display(), loaded.diagnostics);
    let program = spinward_program::lower(&loaded).0.context("the model has no program")?;
    let options = Options { invariants: vec![0], ..Options::default() };
    Machine::new(Arc::new(program), options, Arc::default())
        .map_err(|error| anyhow!("{}: {error:?}", path.display()))
}

/// All states of a model, and how far each is from one in which the condition is false.
pub fn truth(machine: &Machine) -> Result<Truth> {
    Truth::of(machine, usize::MAX).context("there are too many states")
}

/// What a guide estimates in each state.
pub fn estimates(machine: &Machine, truth: &Truth, guide: &str) -> Result<Vec<u32>> {
    let subject = Subject {
        machine,
        follower: None,
        target: None,
        symmetric: false,
        patience: Patience::default(),
    };
    Ok(truth.estimates(&*guide.parse::<Wanted>()?.build(&subject)?))
}
