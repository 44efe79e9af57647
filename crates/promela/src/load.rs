//! From a file's path to a checked model.

use std::path::Path;
use std::sync::Arc;

use crate::ast::{Expr, Model};
use crate::preprocess::{self, Options};
use crate::symbols::Symbols;
use crate::{Diagnostic, SourceMap, parser, resolve};

/// A model as far as it could be understood.
#[derive(Debug)]
pub struct Loaded {
    /// Its files.
    pub source: Arc<SourceMap>,
    /// Its syntax.
    pub model: Model,
    /// What its names mean.
    pub symbols: Arc<Symbols>,
    /// The expressions that were given beside it.
    pub conditions: Vec<Condition>,
    /// The temporal formulas that were given beside it.
    pub formulas: Vec<Condition>,
    /// What an automaton that was given beside it asks of single states.
    pub atoms: Vec<Condition>,
    /// All mistakes, in the order of the text. With an error among them the model means nothing.
    pub diagnostics: Vec<Diagnostic>,
}

/// An expression or formula about a model, given beside it.
#[derive(Clone, Debug)]
pub struct Condition {
    /// As the user wrote it.
    pub text: String,
    /// Its syntax.
    pub expr: Expr,
}

impl Loaded {
    /// Whether the model means nothing.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads and checks the model in a file.
pub fn load(path: &Path, options: &Options) -> Loaded {
    match preprocess::read_file(path) {
        Ok(text) => load_text(path, text, options),
        Err(problem) => {
            let mut source = SourceMap::default();
            source.add_file(path.to_owned(), String::new(), None);
            Loaded {
                source: Arc::new(source),
                model: Model::default(),
                symbols: Arc::default(),
                conditions: Vec::new(),
                formulas: Vec::new(),
                atoms: Vec::new(),
                diagnostics: vec![problem],
            }
        }
    }
}

/// Checks a model given as text; `path` names it and is where its includes are looked for.
pub fn load_text(path: &Path, text: String, options: &Options) -> Loaded {
    let mut source = SourceMap::default();
    let root = source.add_file(path.to_owned(), text, None);
    let conditions = options.conditions.iter().map(|text| ("--invariant", text));
    let formulas = options.formulas.iter().map(|text| ("--ltl", text));
    let atoms = options.atoms.iter().map(|text| ("AP", text));
    let mut given: Vec<_> = conditions
        .chain(formulas)
        .chain(atoms)
        .map(|(option, text)| source.add_file(option.into(), text.clone(), None))
        .collect();
    if let Some((path, text)) = &options.claim {
        given.push(source.add_file(path.clone(), text.clone(), None));
    }
    let (mut tokens, mut condition_tokens, mut diagnostics) =
        preprocess::preprocess_with(&mut source, root, &given, options);
    if options.claim.is_some()
        && let Some(claim) = condition_tokens.pop()
    {
        // The last token is the end of the text.
        tokens.pop();
        tokens.extend(claim);
    }
    let mut formula_tokens = condition_tokens.split_off(options.conditions.len());
    let atom_tokens = formula_tokens.split_off(options.formulas.len());
    let misread = diagnostics.iter().any(Diagnostic::is_error);
    let (mut model, parse_diagnostics) = parser::parse(tokens, &mut source);
    // After a mistake among the words (a string that does not end) the parser would complain about
    // what is missing because of it.
    if !misread {
        diagnostics.extend(parse_diagnostics);
    }
    // After a syntax error half of the names are missing; complaints about them would be noise. What
    // is left of them is of use to editors.
    let (mut symbols, problems) = resolve::resolve(&model);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(problems);
    }
    let mut conditions = Vec::new();
    let mut formulas = Vec::new();
    let mut atoms = Vec::new();
    if !diagnostics.iter().any(Diagnostic::is_error) {
        for (tokens, text) in condition_tokens.into_iter().zip(&options.conditions) {
            match parser::parse_expression(tokens, &mut model, &mut source) {
                Ok(expr) => {
                    diagnostics.extend(resolve::resolve_condition(&expr, &mut symbols));
                    conditions.push(Condition { text: text.trim().to_owned(), expr });
                }
                Err(problem) if text.trim_start().starts_with("[]") => diagnostics
                    .push(problem.help("an invariant holds in every state as it is, without `[]`")),
                Err(problem) => diagnostics.push(problem),
            }
        }
        for (tokens, text) in atom_tokens.into_iter().zip(&options.atoms) {
            match parser::parse_expression(tokens, &mut model, &mut source) {
                Ok(expr) => {
                    diagnostics.extend(resolve::resolve_condition(&expr, &mut symbols));
                    atoms.push(Condition { text: text.trim().to_owned(), expr });
                }
                Err(problem) => diagnostics.push(problem),
            }
        }
        for (tokens, text) in formula_tokens.into_iter().zip(&options.formulas) {
            match parser::parse_formula(tokens, &mut model, &mut source) {
                Ok(expr) => {
                    diagnostics.extend(resolve::resolve_formula(&expr, &mut symbols));
                    formulas.push(Condition { text: text.trim().to_owned(), expr });
                }
                Err(problem) => diagnostics.push(problem),
            }
        }
    }
    Loaded {
        source: Arc::new(source),
        model,
        symbols: Arc::new(symbols),
        conditions,
        formulas,
        atoms,
        diagnostics,
    }
}
