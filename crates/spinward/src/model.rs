//! A model, read and ready to be checked.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spinward_program::Program;
use spinward_promela::ast::Unit;
use spinward_promela::{Diagnostic, Loaded, Options, SourceMap, Span};

use crate::Error;

/// A model, read and ready to be checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// As the user named it.
    pub name: String,
    /// Its automata.
    pub program: Arc<Program>,
    /// Its `ltl` blocks, in the order of the text.
    pub formulas: Vec<Formula>,
    /// What is dubious in it.
    pub warnings: Vec<Diagnostic>,
    /// How long reading it took.
    pub load_time: Duration,
}

/// An `ltl` block.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it stands.
    pub span: Span,
}

impl Model {
    /// Reads a model from a file.
    pub fn load(path: &Path, options: &Options) -> Result<Self, Error> {
        let start = Instant::now();
        Self::lower(path, spinward_promela::load(path, options), start)
    }

    /// Reads a model given as text; `path` names it and is where its includes are looked for.
    pub fn from_text(path: &Path, text: String, options: &Options) -> Result<Self, Error> {
        let start = Instant::now();
        let loaded = spinward_promela::load_text(path, text, options);
        Self::lower(path, loaded, start)
    }

    /// Its files.
    pub fn source_map(&self) -> &Arc<SourceMap> {
        &self.program.source
    }

    fn lower(path: &Path, mut loaded: Loaded, start: Instant) -> Result<Self, Error> {
        let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
        let mut program = None;
        if !diagnostics.iter().any(Diagnostic::is_error) {
            let (lowered, found) = spinward_program::lower(&loaded);
            diagnostics.extend(found);
            program = lowered;
        }
        let Some(program) = program else {
            if !diagnostics.iter().any(Diagnostic::is_error) {
                return Err(Error::Internal("no program and no reason why".into()));
            }
            return Err(Error::Model { source_map: loaded.source, diagnostics });
        };
        let formulas = loaded
            .model
            .units
            .iter()
            .filter_map(|unit| match unit {
                Unit::Ltl(ltl) => Some(Formula {
                    name: ltl.name.as_ref().map(|name| name.text.clone()),
                    span: ltl.span,
                }),
                _ => None,
            })
            .collect();
        Ok(Self {
            name: path.display().to_string(),
            program: Arc::new(program),
            formulas,
            warnings: diagnostics,
            load_time: start.elapsed(),
        })
    }
}
