//! A model as far as it is understood, with what editors ask about it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lsp_types::{Location, Range, Uri};
use rustc_hash::FxHashMap;
use spinward_program::Program;
use spinward_program::ir::Block;
use spinward_program::ranges::{Interval, Ranges, ranges};
use spinward_promela::preprocess::identity;
use spinward_promela::source::FileId;
use spinward_promela::symbols::Variable;
use spinward_promela::{Diagnostic, Loaded, Options, Span, load_text};

use crate::names::Names;
use crate::text::{Encoding, Lines};
use crate::uri::uri_of;

/// Bytes of a file that is written somewhere: the number of the file, its first byte, past its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, by its number in [`Analysis::files`].
    pub file: usize,
    /// First byte.
    pub start: usize,
    /// Past the last byte.
    pub end: usize,
}

/// A file of a model.
#[derive(Debug)]
pub struct File {
    /// In the model's files.
    pub id: FileId,
    /// By [`identity`].
    pub path: PathBuf,
    /// As clients name it; none for what is no file.
    pub uri: Option<Uri>,
    lines: Lines,
}

/// No ranges are looked for in models of which so many statements times variables there are.
const MAX_EFFORT: usize = 4_000_000;

/// A model and what its names mean.
#[derive(Debug)]
pub struct Analysis {
    /// The model.
    pub loaded: Loaded,
    /// Its files, each once.
    pub files: Vec<File>,
    /// By [`FileId`]: the number in `files`.
    numbers: Vec<usize>,
    /// Its names and where they are.
    pub names: Names,
    /// All that is wrong or dubious.
    pub diagnostics: Vec<Diagnostic>,
    /// The model to be run, if nothing is wrong.
    program: Option<Program>,
    /// What its variables can hold, if that was asked.
    ranges: OnceLock<Option<Ranges>>,
}

impl Analysis {
    /// Reads a model. Files that are open are known by their path and named as the client does.
    pub fn new(
        path: &Path,
        text: String,
        options: &Options,
        uris: &FxHashMap<PathBuf, Uri>,
    ) -> Self {
        let mut loaded = load_text(path, text, options);
        let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
        // What is wrong with a model as a whole is found only when automata are made of it.
        let mut program = None;
        if !diagnostics.iter().any(Diagnostic::is_error) {
            let (lowered, more) = spinward_program::lower(&loaded);
            program = lowered;
            diagnostics.extend(more);
        }
        let mut files: Vec<File> = Vec::new();
        let mut numbers = Vec::new();
        for (id, file) in loaded.source.files() {
            let path = identity(&file.path);
            let known = files.iter().position(|known| known.path == path);
            numbers.push(known.unwrap_or(files.len()));
            if known.is_none() {
                let uri = uris.get(&path).cloned().or_else(|| uri_of(&path));
                files.push(File { id, path, uri, lines: Lines::new(&file.text) });
            }
        }
        let names = Names::default();
        let ranges = OnceLock::new();
        let mut analysis = Self { loaded, files, numbers, names, diagnostics, program, ranges };
        analysis.names = Names::of(&analysis);
        analysis
    }

    /// Which values a variable can have, all of its elements together; none if that is not known.
    pub fn range_of(&self, variable: &Variable) -> Option<Interval> {
        let program = self.program.as_ref()?;
        let Ranges { globals, hidden, locals } = self
            .ranges
            .get_or_init(|| {
                let blocks = program.automata.iter().map(|it| &it.locals);
                let slots: usize = blocks.map(|it| it.slots.len()).sum();
                let slots = slots + program.globals.slots.len() + program.hidden.slots.len();
                let effort = slots.saturating_mul(program.transitions.len());
                (effort < MAX_EFFORT).then(|| ranges(program))
            })
            .as_ref()?;
        let locals = program.automata.iter().zip(locals);
        let locals = locals.filter_map(|(automaton, its)| Some((&automaton.locals, its.as_ref()?)));
        let blocks: Vec<(&Block, &Vec<Interval>)> =
            [(&program.globals, globals), (&program.hidden, hidden)]
                .into_iter()
                .chain(locals)
                .collect();
        let all = blocks.iter().flat_map(|(block, its)| block.slots.iter().zip(*its));
        let its = all.filter(|(slot, _)| slot.span == variable.span).map(|(_, &range)| range);
        its.reduce(Interval::join)
    }

    /// The number of a file, if the model has it.
    pub fn file(&self, path: &Path) -> Option<usize> {
        self.files.iter().position(|file| file.path == path)
    }

    /// The text of a file.
    pub fn text(&self, file: usize) -> &str {
        &self.loaded.source.file(self.files[file].id).text
    }

    /// Where a span is written, whatever macro or inline brought it elsewhere.
    pub fn written(&self, span: Span) -> Place {
        Place {
            file: self.numbers[span.file.0 as usize],
            start: span.start as usize,
            end: span.end as usize,
        }
    }

    /// The words at a place.
    pub fn at(&self, place: Place) -> &str {
        self.text(place.file).get(place.start..place.end).unwrap_or_default()
    }

    /// The range of a place.
    pub fn range(&self, place: Place, encoding: Encoding) -> Range {
        let text = self.text(place.file);
        self.files[place.file].lines.range(text, place.start..place.end, encoding)
    }

    /// A place for clients; none if they have no name for its file.
    pub fn location(&self, place: Place, encoding: Encoding) -> Option<Location> {
        let uri = self.files[place.file].uri.clone()?;
        Some(Location { uri, range: self.range(place, encoding) })
    }
}
