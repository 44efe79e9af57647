//! The preprocessor and lexer.
//!
//! SPIN pipes a model through `gcc -E` and lexes what comes out. Here both are one pass that
//! remembers where every word came from: `lexer` cuts the text of a file into raw tokens,
//! `directives` acts on the lines that start with `#`, `expand` replaces the uses of
//! `macros`, and `words` turns what is left into the [`Token`]s of the language.
//!
//! Nothing here recurses on the text without a limit, and the limits below bound time and memory
//! for any text.

mod condition;
mod directives;
mod expand;
mod include;
mod lexer;
mod macros;
mod scan;
mod text;
mod words;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::source::{FileId, Span};
use crate::token::Token;
use crate::{Code, Diagnostic, SourceMap};

use self::directives::Conditional;
use self::expand::Context;
use self::lexer::Lexer;
use self::macros::MacroTable;
use self::text::{Interner, RawKind, RawToken};
use self::words::Words;

pub use self::directives::DIRECTIVES;
pub use self::include::{identity, read_file};
pub use self::scan::{Word, WordKind, words};

/// Tokens read in all, and those that macros make at every use.
const MAX_TOKENS: usize = if cfg!(test) { 1_000_000 } else { 4_000_000 };
/// Bytes of text made by `#` and `##`.
const MAX_MADE_BYTES: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// Depth of macro uses in arguments of macro uses.
const MAX_MACRO_NESTING: usize = 200;
/// Depth of files that include files.
const MAX_INCLUDE_DEPTH: usize = 200;
/// Files included in all.
const MAX_INCLUDES: usize = 10_000;
/// Bytes of one file, of all files together, and of the text after macro expansion.
const MAX_BYTES: usize = 256 << 20;
/// Beyond this many mistakes further ones are dropped.
const MAX_DIAGNOSTICS: usize = 1000;

/// What the command line says about the reading of a model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `-D NAME[=VALUE]`, in order.
    pub defines: Vec<(String, String)>,
    /// `-U NAME`
    pub undefines: Vec<String>,
    /// `-I DIR`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// Which files may be included.
    pub includes: Includes,
    /// `--invariant EXPR`: expressions about the model. They are read after it, so that its macros
    /// can be used in them.
    pub conditions: Vec<String>,
    /// `--ltl FORMULA`: temporal formulas about the model, to be read with it.
    pub formulas: Vec<String>,
    /// `--claim FILE`: a never claim, to be read as if it stood at the end of the model, and its file.
    pub claim: Option<(PathBuf, String)>,
    /// What an automaton given beside the model asks of single states: expressions about it.
    pub atoms: Vec<String>,
    /// Texts that count instead of those on disk, as of files open in an editor, by [`identity`].
    pub texts: Arc<FxHashMap<PathBuf, String>>,
}

/// Which files a model may include. Those of a stranger must not read what is none of their business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Includes {
    /// Any.
    #[default]
    All,
    /// Those that are, once links and `..` are followed, in this folder or one inside of it.
    Within(PathBuf),
    /// None.
    Nothing,
}

/// What `-D NAME[=VALUE]` says: a name and what it stands for.
pub fn define(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    (name.to_owned(), value.to_owned())
}

/// Turns a file and all it includes into tokens, the last of them the end of the text.
pub fn preprocess(
    source: &mut SourceMap,
    root: FileId,
    options: &Options,
) -> (Vec<Token>, Vec<Diagnostic>) {
    let (tokens, _, diagnostics) = preprocess_with(source, root, &[], options);
    (tokens, diagnostics)
}

/// Turns a file and all it includes into tokens, and then further texts, each on its own, with the
/// macros known that were defined so far.
pub fn preprocess_with(
    source: &mut SourceMap,
    root: FileId,
    further: &[FileId],
    options: &Options,
) -> (Vec<Token>, Vec<Vec<Token>>, Vec<Diagnostic>) {
    let mut preprocessor = Preprocessor::new(source, root, options);
    preprocessor.define_options();
    preprocessor.run();
    let tokens = preprocessor.read(root);
    let further = further.iter().map(|&file| preprocessor.read(file)).collect();
    (tokens, further, preprocessor.diagnostics)
}

/// A file being read.
struct OpenFile {
    lexer: Lexer,
    /// The `#if`s that are open in it.
    conditionals: Vec<Conditional>,
    /// What `#line` adds to line numbers.
    line_shift: i64,
    /// The file name `#line` gave.
    presumed_name: Option<String>,
}

struct Preprocessor<'a> {
    source: &'a mut SourceMap,
    options: &'a Options,
    interner: Interner,
    macros: MacroTable,
    /// The files being read, each included by the one before it.
    files: Vec<OpenFile>,
    /// Texts to be read before the files go on.
    contexts: Vec<Context>,
    /// When set, only contexts from this one on are read, and no files.
    floor: Option<usize>,
    /// Depth of arguments being expanded.
    nesting: usize,
    /// A macro at the start of a line expanded to nothing.
    newline_pending: bool,
    /// Files that said `#pragma once`.
    once: FxHashSet<PathBuf>,
    includes: usize,
    bytes_read: usize,
    tokens_read: usize,
    /// Bytes made by `#` and `##`.
    bytes_made: usize,
    /// Bytes of the text after macro expansion.
    bytes_expanded: usize,
    /// Value of the next `__COUNTER__`.
    counter: u64,
    /// The latest macro use.
    last_use: Option<Span>,
    /// The model's own file.
    root: FileId,
    /// The end of the text being read.
    end: RawToken,
    /// A limit was hit; nothing more is read.
    stopped: bool,
    words: Words,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Preprocessor<'a> {
    fn new(source: &'a mut SourceMap, root: FileId, options: &'a Options) -> Self {
        let mut interner = Interner::default();
        Self {
            options,
            macros: MacroTable::new(&mut interner),
            words: Words::new(&mut interner),
            interner,
            files: Vec::new(),
            contexts: Vec::new(),
            floor: None,
            nesting: 0,
            newline_pending: false,
            once: FxHashSet::default(),
            includes: 0,
            bytes_read: 0,
            tokens_read: 0,
            bytes_made: 0,
            bytes_expanded: 0,
            counter: 0,
            last_use: None,
            root,
            end: end_of(source, root),
            stopped: false,
            diagnostics: Vec::new(),
            source,
        }
    }

    /// Queues the `-D` and `-U` of the command line, as a file of directives.
    fn define_options(&mut self) {
        let mut text = String::new();
        for (name, value) in &self.options.defines {
            text += &format!("#define {name} {value}").replace('\n', " ");
            text.push('\n');
        }
        for name in &self.options.undefines {
            text += &format!("#undef {name}").replace('\n', " ");
            text.push('\n');
        }
        if !text.is_empty() {
            let file = self.source.add_file(PathBuf::from("<command line>"), text, None);
            self.open(file);
        }
    }

    /// The tokens of a text and of all it includes, the last of them the end of the text.
    fn read(&mut self, file: FileId) -> Vec<Token> {
        self.bytes_read += self.source.file(file).text.len();
        self.end = end_of(self.source, file);
        self.open(file);
        self.run();
        let (mut tokens, problem) = self.words.finish(self.end.span);
        if self.stopped {
            // Half a model would only give rise to more complaints.
            tokens.drain(..tokens.len() - 1);
        } else if let Some(problem) = problem {
            self.report(problem);
        }
        tokens
    }

    fn open(&mut self, file: FileId) {
        self.files.push(OpenFile {
            lexer: Lexer::new(file),
            conditionals: Vec::new(),
            line_shift: 0,
            presumed_name: None,
        });
    }

    /// Reads the open files to their end.
    fn run(&mut self) {
        loop {
            let token = self.next_expanded();
            if token.kind == RawKind::Eof {
                break;
            }
            self.bytes_expanded += token.kind.text(&self.interner).len();
            if self.bytes_expanded > MAX_BYTES {
                let megabytes = MAX_BYTES >> 20;
                self.stop_expanding(format!(
                    "the model is larger than {megabytes} MiB after macro expansion"
                ));
            }
            if let Err(problem) = self.words.push(token, &self.interner) {
                self.report(problem);
            }
        }
    }

    /// The next token of the files that is in no directive and not left out by an `#if`.
    fn next_from_file(&mut self) -> RawToken {
        while let Some(file) = self.files.last_mut() {
            let first = file.lexer.at_line_start();
            let text = &self.source.file(file.lexer.file()).text;
            let token = file.lexer.next(text, &mut self.interner);
            match token.kind {
                RawKind::Newline => {}
                RawKind::Eof => self.close_file(),
                RawKind::Hash if first => self.directive(token),
                _ if file.conditionals.last().is_some_and(|c| !c.active) => {}
                _ => return token,
            }
            if self.stopped {
                break;
            }
        }
        self.end
    }

    fn close_file(&mut self) {
        let Some(mut file) = self.files.pop() else {
            return;
        };
        if let Some(span) = file.lexer.take_unterminated_comment() {
            self.report(
                Diagnostic::new(Code::UnclosedText, span, "this comment does not end")
                    .label("no `*/` follows"),
            );
        }
        for conditional in file.conditionals {
            self.report(conditional.unterminated());
        }
    }

    fn report(&mut self, problem: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(problem);
        }
    }

    /// Reports what makes it impossible to read on.
    fn stop(&mut self, problem: Diagnostic) {
        if !self.stopped {
            self.stopped = true;
            self.diagnostics.push(problem);
        }
    }

    /// The line of a token, macro uses and `#line` taken into account.
    fn presumed_line(&self, mut span: Span) -> i64 {
        while let Some(expansion) = self.source.expansion(span.expansion) {
            span = expansion.call;
        }
        let shift = self.files.last().map_or(0, |file| file.line_shift);
        i64::from(self.source.line(span)) + shift
    }

    /// The name of the current file, `#line` taken into account.
    fn presumed_file(&self) -> String {
        let given = self.files.last().and_then(|file| file.presumed_name.clone());
        given.unwrap_or_else(|| self.current_path().display().to_string())
    }
}

/// The end of a file's text.
fn end_of(source: &SourceMap, file: FileId) -> RawToken {
    let length = source.file(file).text.len() as u32;
    RawToken {
        kind: RawKind::Eof,
        span: Span::new(file, length, length),
        space_before: false,
        after_newline: true,
        no_expand: false,
    }
}
