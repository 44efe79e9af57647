//! Reads a model and tells what is wrong with it.

use std::path::Path;
use std::sync::Arc;

use spinward::{Error, Model};
use spinward_machine::{Machine, Options, Stop};
use spinward_promela::{Code, Diagnostic, SourceMap, render};

use crate::args::{ModelArgs, OutputArgs};
use crate::terminal::{Failure, say};

/// Reads a model, and conditions, formulas and a claim about it, telling its mistakes on standard error.
pub fn load(
    args: &ModelArgs,
    conditions: &[String],
    formulas: &[String],
    claim: Option<&Path>,
    output: &OutputArgs,
) -> Result<Model, Failure> {
    match try_load(args, conditions, formulas, claim) {
        Ok(model) => {
            show(model.source_map(), &model.warnings, output);
            Ok(model)
        }
        Err(error) => Err(tell(&error, output)),
    }
}

/// Reads a model, and conditions, formulas and a claim about it; no word to the user.
pub fn try_load(
    args: &ModelArgs,
    conditions: &[String],
    formulas: &[String],
    claim: Option<&Path>,
) -> Result<Model, Error> {
    let options = args.options(conditions, formulas);
    let model = match claim {
        Some(claim) => Model::load_with_claim(&args.model, claim, &options)?,
        None => Model::load(&args.model, &options)?,
    };
    if let Some(problem) = embedded_c(&model, args.allow_c) {
        return Err(Error::Model {
            source_map: Arc::clone(model.source_map()),
            diagnostics: vec![problem],
        });
    }
    Ok(model)
}

/// Tells why there is no model, or no check of it.
pub fn tell(error: &Error, output: &OutputArgs) -> Failure {
    match error {
        Error::Model { source_map, diagnostics } => {
            show(source_map, diagnostics, output);
            Failure::told(error.exit_code())
        }
        Error::Internal(message) => Failure::internal(message),
        Error::Usage(_) | Error::NotAvailable(_) => Failure::usage(error.to_string()),
    }
}

/// Tells what is wrong or, unless the user wants quiet, dubious in a model.
pub fn show(source: &SourceMap, diagnostics: &[Diagnostic], output: &OutputArgs) {
    let shown = diagnostics.iter().filter(|d| d.is_error() || !output.quiet);
    let shown: Vec<Diagnostic> = shown.cloned().collect();
    let color = output.color.stderr();
    match shown.as_slice() {
        [] => {}
        // What sums up a single one says nothing new.
        [only] => say(render::render(source, only, color).trim_end()),
        all => say(render::render_all(source, all, color).trim_end()),
    }
}

/// The machine of a model for showing runs, not for searching; `stop` breaks off a long step.
pub fn machine(model: &Model, options: Options, stop: Arc<Stop>) -> Result<Machine, Failure> {
    Machine::new(Arc::clone(&model.program), options, stop).map_err(|error| {
        let why = error.describe();
        Failure::usage(format!("the model goes wrong before its first step: {why}"))
    })
}

/// All conditions the model was read with, for a machine to watch.
pub fn all_conditions(model: &Model) -> Vec<u32> {
    let conditions = (0..).zip(&model.program.conditions);
    conditions.filter(|(_, condition)| condition.given).map(|(number, _)| number).collect()
}

/// Embedded C is code that runs with all rights of the user, so it needs their consent; and so far
/// it is not run at all.
fn embedded_c(model: &Model, allowed: bool) -> Option<Diagnostic> {
    let place = model.program.uses.c_code?;
    let message = if allowed {
        "running embedded C is not supported yet"
    } else {
        "the model contains embedded C code, which is refused unless --allow-c is given"
    };
    Some(Diagnostic::new(Code::EmbeddedC, place, message).label("C code"))
}
