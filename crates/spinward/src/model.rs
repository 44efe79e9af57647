//! A model, read and ready to be checked.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spinward_program::Program;
use spinward_promela::suggest::meant_file;
use spinward_promela::{Code, Diagnostic, Loaded, Options, SourceMap, Span};
use spinward_property::Automaton;
use spinward_property::hoa::HoaError;

use crate::Error;

/// A model, read and ready to be checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// As the user named it.
    pub name: String,
    /// Its automata.
    pub program: Arc<Program>,
    /// An automaton given beside it, which accepts runs that must not be.
    pub claim: Option<Arc<Automaton>>,
    /// What is dubious in it.
    pub warnings: Vec<Diagnostic>,
    /// How long reading it took.
    pub load_time: Duration,
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

    /// Reads a model from a file, with a claim from another: a never claim, or an automaton in the HOA format whose
    /// propositions are expressions about the model.
    pub fn load_with_claim(path: &Path, claim: &Path, options: &Options) -> Result<Self, Error> {
        let text = std::fs::read_to_string(claim).map_err(|problem| {
            let meant = meant_file(claim, &problem);
            Error::Usage(format!("cannot read the claim {}: {problem}{meant}", claim.display()))
        })?;
        if !text.trim_start().starts_with("HOA:") {
            let given = Some((claim.to_owned(), text));
            let model = Self::load(path, &Options { claim: given, ..options.clone() })?;
            if model.program.claims.is_empty() {
                let problem = format!("there is no never claim in {}", claim.display());
                return Err(Error::Usage(problem));
            }
            return Ok(model);
        }
        let (automaton, atoms) = spinward_property::hoa::read(&text)
            .map_err(|problem| bad_automaton(claim, text, &problem))?;
        let model = Self::load(path, &Options { atoms, ..options.clone() })?;
        Ok(Self { claim: Some(Arc::new(automaton)), ..model })
    }

    /// Its files.
    pub fn source_map(&self) -> &Arc<SourceMap> {
        &self.program.source
    }

    /// What its formulas are called. As in SPIN, those without a name are numbered.
    pub fn formula_names(&self) -> Vec<String> {
        let mut unnamed = 0;
        let mut numbered = || {
            unnamed += 1;
            format!("ltl_{}", unnamed - 1)
        };
        let formulas = self.program.formulas.iter();
        formulas.map(|it| it.name.clone().unwrap_or_else(&mut numbered)).collect()
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
        Ok(Self {
            name: path.display().to_string(),
            program: Arc::new(program),
            claim: None,
            warnings: diagnostics,
            load_time: start.elapsed(),
        })
    }
}

/// Tells what is wrong with the text of an automaton.
fn bad_automaton(path: &Path, text: String, problem: &HoaError) -> Error {
    let mut source = SourceMap::default();
    let file = source.add_file(path.to_owned(), text, None);
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let span = Span::new(file, offset(problem.at.start), offset(problem.at.end));
    let diagnostic = Diagnostic::new(Code::BadAutomaton, span, problem.reason.clone());
    Error::Model { source_map: Arc::new(source), diagnostics: vec![diagnostic] }
}
