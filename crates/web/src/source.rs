//! The text of a model as the page sends it, and what is wrong with it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use spinward::{Error, Model};
use spinward_promela::preprocess::define;
use spinward_promela::source::FileId;
use spinward_promela::{Code, Diagnostic, Options, SourceMap};

use crate::Shared;
use crate::check::Asked;
use crate::files::Files;
use crate::problem::Problem;

/// The text of a model and what is asked about it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    text: String,
    /// Macros, `NAME` or `NAME=VALUE`.
    #[serde(default)]
    defines: Vec<String>,
    /// Conditions that must hold in every state.
    #[serde(default)]
    pub invariants: Vec<String>,
    /// Temporal formulas that must hold of every run.
    #[serde(default)]
    pub formulas: Vec<String>,
}

impl Source {
    /// The model, or what is wrong with it.
    pub fn model(self, files: &Files) -> Result<Model, Problem> {
        let options = Options {
            defines: self.defines.iter().map(|text| define(text)).collect(),
            conditions: self.invariants,
            formulas: self.formulas,
            ..files.options()
        };
        let model = Model::from_text(files.path(), self.text, &options).map_err(problem)?;
        match model.program.uses.c_code {
            // C could do whatever the user can; the page may come from a stranger's model.
            Some(place) => {
                let message = "the workbench does not run embedded C code";
                let refused = Diagnostic::new(Code::EmbeddedC, place, message);
                Err(Problem::model(vec![Mark::new(model.source_map(), &refused)]))
            }
            None => Ok(model),
        }
    }
}

/// Why there is no model, or no check of it.
pub fn problem(error: Error) -> Problem {
    match error {
        Error::Model { source_map, diagnostics } => {
            Problem::model(marks(&source_map, &diagnostics))
        }
        Error::Internal(message) => Problem::internal(message),
        Error::Usage(_) | Error::NotAvailable(_) => Problem::usage(error.to_string()),
    }
}

/// A place in the text that is wrong or dubious; lines and columns count from 1.
#[derive(Clone, Debug, Serialize)]
pub struct Mark {
    severity: &'static str,
    message: String,
    /// Where the place is, if it is not in the text of the page.
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    /// In the same line, past the last character.
    end_column: Option<u32>,
    notes: Vec<String>,
    help: Vec<String>,
}

impl Mark {
    fn new(source: &SourceMap, diagnostic: &Diagnostic) -> Self {
        let span = diagnostic.span.map(|span| source.outside_macros(span));
        let start = span.map(|span| source.position(span));
        // What goes on in further lines is marked to the end of the first.
        let columns = |span| source.text(span).lines().next().unwrap_or("").chars().count().max(1);
        let end = span.zip(start).map(|(span, start)| start.column + columns(span) as u32);
        let file = span.filter(|span| span.file != FileId(0));
        Self {
            severity: if diagnostic.is_error() { "error" } else { "warning" },
            message: diagnostic.message.clone(),
            file: file.map(|span| source.path(span).display().to_string()),
            line: start.map(|start| start.line),
            column: start.map(|start| start.column),
            end_column: end,
            notes: diagnostic.notes.clone(),
            help: diagnostic.help.clone(),
        }
    }
}

fn marks(source: &SourceMap, diagnostics: &[Diagnostic]) -> Vec<Mark> {
    diagnostics.iter().map(|diagnostic| Mark::new(source, diagnostic)).collect()
}

/// What the page wants to know while the user writes.
#[derive(Debug, Serialize)]
pub struct Read {
    marks: Vec<Mark>,
    /// What can be checked; none if the model means nothing.
    properties: Vec<Asked>,
}

/// Tells what is wrong with a text, and what can be checked.
pub async fn read(
    State(shared): State<Arc<Shared>>,
    Json(source): Json<Source>,
) -> Result<Json<Read>, Problem> {
    let files = Arc::clone(&shared);
    let work = move |_: &_| match source.clone().model(&files.files) {
        Ok(model) => {
            let marks = marks(model.source_map(), &model.warnings);
            Ok(Read { marks, properties: Asked::of(&model, &source) })
        }
        Err(problem) if !problem.marks.is_empty() => {
            Ok(Read { marks: problem.marks, properties: Vec::new() })
        }
        Err(problem) => Err(problem),
    };
    shared.jobs.short(work).await.map(Json)
}
