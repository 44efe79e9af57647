//! The texts that are open in the editor.

use std::path::PathBuf;

use lsp_types::{TextDocumentContentChangeEvent, Uri};
use rustc_hash::FxHashMap;

use crate::text::{Encoding, Lines};
use crate::uri::path_of;

/// A text that is open.
#[derive(Debug)]
pub struct Document {
    /// As the editor names it.
    pub uri: Uri,
    /// The file, by [`path_of`]; any path for a text that is none.
    pub path: PathBuf,
    /// As the editor counts its changes.
    pub version: i32,
    /// The text.
    pub text: String,
    /// Its lines.
    pub lines: Lines,
}

impl Document {
    /// A text that was opened.
    pub fn new(uri: Uri, version: i32, text: String) -> Self {
        let text = without_mark(text);
        Self { path: path_of(&uri), lines: Lines::new(&text), uri, version, text }
    }

    /// Makes the changes of an edit, one after the other.
    pub fn change(
        &mut self,
        changes: Vec<TextDocumentContentChangeEvent>,
        version: i32,
        encoding: Encoding,
    ) {
        self.version = version;
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let start = self.lines.offset(&self.text, part.range.start, encoding);
                    let end = self.lines.offset(&self.text, part.range.end, encoding);
                    self.text.replace_range(start..end.max(start), &part.text);
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    self.text = without_mark(whole.text);
                }
            }
            self.lines = Lines::new(&self.text);
        }
    }
}

/// Editors neither show nor count a byte-order mark.
fn without_mark(mut text: String) -> String {
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    text
}

/// All texts that are open, by path.
pub type Documents = FxHashMap<PathBuf, Document>;

#[cfg(test)]
mod tests {
    use lsp_types::{Position, Range, TextDocumentContentChangePartial};

    use super::*;

    fn edit(from: (u32, u32), to: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let range = Range {
            start: Position { line: from.0, character: from.1 },
            end: Position { line: to.0, character: to.1 },
        };
        TextDocumentContentChangePartial::new(range, None, text.to_owned()).into()
    }

    #[test]
    fn changes_are_made_one_after_the_other() {
        let uri = Uri::from("untitled:1");
        let mut document = Document::new(uri, 1, "byte x;\nbyte y;\n".to_owned());
        let changes = vec![
            edit((0, 5), (0, 6), "first"),
            edit((1, 0), (2, 0), ""),
            edit((0, 10), (0, 10), ", second"),
        ];
        document.change(changes, 2, Encoding::Utf16);
        assert_eq!(document.text, "byte first, second;\n");
        // What is nowhere is the nearest place, and a range that is none is empty.
        document.change(vec![edit((7, 7), (0, 0), "int z;")], 3, Encoding::Utf16);
        assert_eq!(document.text, "byte first, second;\nint z;");
    }
}
