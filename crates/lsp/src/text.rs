//! Places in a text as the protocol counts them.

use lsp_types::{Position, Range};

/// What the characters of a line are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes, if the client asks for them.
    Utf8,
    /// Units of UTF-16, as all clients know them.
    #[default]
    Utf16,
}

/// Where the lines of a text begin. A line ends with `\n`, `\r\n` or `\r`.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// The lines of a text.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = (0..bytes.len()).filter(|&i| match bytes[i] {
            b'\n' => true,
            b'\r' => bytes.get(i + 1) != Some(&b'\n'),
            _ => false,
        });
        Self { starts: std::iter::once(0).chain(ends.map(|i| i + 1)).collect() }
    }

    /// The bytes of a line without its end; of a line past the last, the end of the text.
    fn line(&self, text: &str, line: usize) -> std::ops::Range<usize> {
        let Some(&start) = self.starts.get(line) else {
            return text.len()..text.len();
        };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        start..start + text[start..end].trim_end_matches(['\r', '\n']).len()
    }

    /// The byte at a position; the nearest one before it if the position is nowhere.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let line = self.line(text, position.line as usize);
        let mut left = position.character as usize;
        for (at, c) in text[line.clone()].char_indices() {
            let width = width(c, encoding);
            if left < width {
                return line.start + at;
            }
            left -= width;
        }
        line.end
    }

    /// The position of a byte.
    pub fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let before = text.get(self.starts[line]..offset).unwrap_or_default();
        let character = before.chars().map(|c| width(c, encoding)).sum::<usize>();
        Position { line: line as u32, character: character as u32 }
    }

    /// The range of some bytes.
    pub fn range(&self, text: &str, bytes: std::ops::Range<usize>, encoding: Encoding) -> Range {
        let start = self.position(text, bytes.start, encoding);
        Range { start, end: self.position(text, bytes.end, encoding) }
    }
}

fn width(c: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => c.len_utf8(),
        Encoding::Utf16 => c.len_utf16(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn characters_are_counted_as_agreed() {
        let text = "a\u{1d11e}é x\r\nb\rc\n";
        let lines = Lines::new(text);
        let x = text.find('x').expect("there is one");
        assert_eq!(lines.position(text, x, Encoding::Utf16), at(0, 5));
        assert_eq!(lines.position(text, x, Encoding::Utf8), at(0, 8));
        assert_eq!(lines.offset(text, at(0, 5), Encoding::Utf16), x);
        assert_eq!(lines.offset(text, at(0, 8), Encoding::Utf8), x);
        let c = text.find('c').expect("there is one");
        assert_eq!(lines.position(text, c, Encoding::Utf16), at(2, 0));
        assert_eq!(lines.position(text, text.len(), Encoding::Utf16), at(3, 0));
    }

    #[test]
    fn positions_that_are_nowhere_are_the_nearest() {
        let text = "a\u{1d11e}\r\nb";
        let lines = Lines::new(text);
        // Past the end of a line, in the middle of a character, past the last line.
        assert_eq!(lines.offset(text, at(0, 99), Encoding::Utf16), 5);
        assert_eq!(lines.offset(text, at(0, 2), Encoding::Utf16), 1);
        assert_eq!(lines.offset(text, at(9, 9), Encoding::Utf16), text.len());
    }

    proptest! {
        #[test]
        fn offsets_and_positions_agree(text in "[a\u{e9}\u{1d11e}\r\n]{0,20}") {
            let lines = Lines::new(&text);
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                for (offset, c) in text.char_indices() {
                    let position = lines.position(&text, offset, encoding);
                    // The end of a line is one place, of however many characters it is made.
                    if c != '\n' || !text[..offset].ends_with('\r') {
                        prop_assert_eq!(lines.offset(&text, position, encoding), offset);
                    }
                }
            }
        }
    }
}
