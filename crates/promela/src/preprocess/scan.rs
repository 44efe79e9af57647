//! The words of one text as they are written: no macro is expanded, nothing is left out. This is what
//! an editor needs that looks at a text which may be half finished.

use std::ops::Range;

use crate::source::FileId;
use crate::token::Punct;

use super::lexer::Lexer;
use super::text::{Interner, RawKind};

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is.
    pub kind: WordKind,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// Whether it belongs to a line of the preprocessor.
    pub directive: bool,
    /// Whether white space or a comment stands before it.
    pub space_before: bool,
    /// As in [`crate::token::Token`].
    pub after_newline: bool,
}

/// The kinds of words of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A name or a keyword.
    Ident,
    /// Digits, and the letters that follow them at once.
    Number,
    /// A string or a character, with its quotes.
    Quoted,
    /// A sign.
    Punct(Punct),
    /// `#` or `##`.
    Hash,
    /// A quote that does not end, or characters that no word has.
    Other,
    /// The end of a line, unless it is inside a comment or behind a backslash.
    Newline,
}

impl Word {
    /// Whether it is this sign.
    pub fn is(&self, punct: Punct) -> bool {
        self.kind == WordKind::Punct(punct)
    }
}

/// All words of a text, in order. Comments and white space are what is between them.
pub fn words(text: &str) -> Vec<Word> {
    let mut lexer = Lexer::new(FileId(0));
    let mut interner = Interner::default();
    let mut words = Vec::new();
    let mut directive = false;
    loop {
        let first = lexer.at_line_start();
        let token = lexer.next(text, &mut interner);
        let kind = match token.kind {
            RawKind::Ident(_) => WordKind::Ident,
            RawKind::Number(_) => WordKind::Number,
            RawKind::String(_) | RawKind::Char(_) => WordKind::Quoted,
            RawKind::Punct(punct) => WordKind::Punct(punct),
            RawKind::Hash | RawKind::HashHash => WordKind::Hash,
            RawKind::Other(_) => WordKind::Other,
            RawKind::Newline => WordKind::Newline,
            RawKind::Eof => return words,
        };
        directive |= first && token.kind == RawKind::Hash;
        words.push(Word {
            kind,
            range: token.span.start as usize..token.span.end as usize,
            directive,
            space_before: token.space_before,
            after_newline: token.after_newline,
        });
        directive &= kind != WordKind::Newline;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_where_they_are_written() {
        let text = "#define N 3 // three\nbyte x /* a\nb */ = N;\n";
        let shown: Vec<(&str, bool, bool)> = words(text)
            .iter()
            .filter(|word| word.kind != WordKind::Newline)
            .map(|word| (&text[word.range.clone()], word.directive, word.after_newline))
            .collect();
        assert_eq!(
            shown,
            [
                ("#", true, true),
                ("define", true, false),
                ("N", true, false),
                ("3", true, false),
                ("byte", false, true),
                ("x", false, false),
                ("=", false, true),
                ("N", false, false),
                (";", false, false),
            ]
        );
    }
}
