//! From a file's path to a checked model.

use std::path::Path;
use std::sync::Arc;

use crate::ast::Model;
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
    /// All mistakes, in the order of the text. With an error among them the model means nothing.
    pub diagnostics: Vec<Diagnostic>,
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
                diagnostics: vec![problem],
            }
        }
    }
}

/// Checks a model given as text; `path` names it and is where its includes are looked for.
pub fn load_text(path: &Path, text: String, options: &Options) -> Loaded {
    let mut source = SourceMap::default();
    let root = source.add_file(path.to_owned(), text, None);
    let (tokens, mut diagnostics) = preprocess::preprocess(&mut source, root, options);
    let misread = diagnostics.iter().any(Diagnostic::is_error);
    let (model, parse_diagnostics) = parser::parse(tokens, &mut source);
    // After a mistake among the words (a string that does not end) the parser would complain about
    // what is missing because of it.
    if !misread {
        diagnostics.extend(parse_diagnostics);
    }
    // After a syntax error half of the names are missing; complaints about them would be noise.
    let symbols = if diagnostics.iter().any(Diagnostic::is_error) {
        Symbols::default()
    } else {
        let (symbols, found) = resolve::resolve(&model);
        diagnostics.extend(found);
        symbols
    };
    Loaded { source: Arc::new(source), model, symbols: Arc::new(symbols), diagnostics }
}
