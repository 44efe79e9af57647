//! The files of a model and positions in them.

use std::path::{Path, PathBuf};

/// A file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A use of a macro or an inline, in a [`SourceMap`]: where the text of a span was inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    /// The text stands where it was written.
    pub const NONE: Self = Self(u32::MAX);

    /// Whether the text was inserted by a macro or an inline.
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

/// Bytes `start..end` of a file, as written there (for the text of a macro: in its definition),
/// and the expansion, if any, that brought the text to where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// Past the last byte.
    pub end: u32,
    /// Where the text was inserted.
    pub expansion: ExpansionId,
}

impl Span {
    /// A span of text that stands where it was written.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end, expansion: ExpansionId::NONE }
    }

    /// From the start of `self` to the end of `other`; just `self` if they are not of the same
    /// file and expansion.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file == other.file && self.expansion == other.expansion && self.start <= other.end {
            Self { end: other.end.max(self.end), ..self }
        } else {
            self
        }
    }
}

/// A file's text and how it came into the model.
#[derive(Debug)]
pub struct SourceFile {
    /// As the user named it, or as the `#include` resolved it.
    pub path: PathBuf,
    /// The text.
    pub text: String,
    /// The `#include` line that brought it in.
    pub included_from: Option<Span>,
    /// Byte offset of the start of each line.
    lines: Vec<u32>,
}

/// What text was replaced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpansionKind {
    /// A macro of the preprocessor.
    Macro,
    /// An inline.
    Inline,
}

/// One use of a macro or an inline.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// Which of the two.
    pub kind: ExpansionKind,
    /// Name of the macro or inline.
    pub name: String,
    /// The use; itself perhaps in an expansion.
    pub call: Span,
}

/// All files of a model and all macro uses in it.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

/// Line and column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

impl SourceMap {
    /// Adds a file. A byte-order mark is dropped: no editor shows it or counts it as a column.
    pub fn add_file(
        &mut self,
        path: PathBuf,
        mut text: String,
        included_from: Option<Span>,
    ) -> FileId {
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        let lines = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        self.files.push(SourceFile { path, text, included_from, lines });
        FileId(self.files.len() as u32 - 1)
    }

    /// Records a use of a macro or an inline.
    pub fn add_expansion(&mut self, expansion: Expansion) -> ExpansionId {
        self.expansions.push(expansion);
        ExpansionId(self.expansions.len() as u32 - 1)
    }

    /// A file.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, the model's own first.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The expansion a span's text was inserted by.
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        self.expansions.get(id.0 as usize)
    }

    /// Where a span's text stands for whoever reads the model without its macros replaced: the use
    /// of the outermost macro it came from. The body of an inline is a place of its own.
    pub fn outside_macros(&self, mut span: Span) -> Span {
        while let Some(Expansion { kind: ExpansionKind::Macro, call, .. }) =
            self.expansion(span.expansion)
        {
            span = *call;
        }
        span
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The path of a span's file.
    pub fn path(&self, span: Span) -> &Path {
        &self.file(span.file).path
    }

    /// Where a span starts.
    pub fn position(&self, span: Span) -> Position {
        let file = self.file(span.file);
        let line = file.lines.partition_point(|&start| start <= span.start) - 1;
        let line_start = file.lines[line] as usize;
        let before = file.text.get(line_start..span.start as usize).unwrap_or("");
        Position { line: line as u32 + 1, column: before.chars().count() as u32 + 1 }
    }

    /// The line of a span.
    pub fn line(&self, span: Span) -> u32 {
        self.position(span).line
    }
}
