//! Text to raw tokens, one at a time.
//!
//! Backslash-newlines and comments vanish here. Where they hide the end of a line, the next token
//! that has white space before it counts as the first of a line, because that is where the C
//! preprocessor in front of SPIN breaks the line.
//!
//! Other than in C a number stops at a dot: in C `0..N` is one word, in which a macro `N` stays
//! unexpanded. Only models that SPIN rejects for it can tell the difference.

use std::borrow::Cow;

use crate::source::{FileId, Span};
use crate::token::Punct;

use super::text::{Interner, RawKind, RawToken};

/// Position in a file. The text itself is handed to every call, so that a lexer does not keep the
/// [`crate::SourceMap`] from growing.
#[derive(Debug)]
pub(super) struct Lexer {
    file: FileId,
    position: usize,
    at_line_start: bool,
    line_crossed: bool,
    break_line: bool,
    unterminated_comment: Option<Span>,
}

/// The file name of an `#include`.
pub(super) struct HeaderName {
    pub(super) name: String,
    /// In angle brackets.
    pub(super) angled: bool,
    pub(super) span: Span,
}

impl Lexer {
    pub(super) fn new(file: FileId) -> Self {
        Self {
            file,
            position: 0,
            at_line_start: true,
            line_crossed: false,
            break_line: false,
            unterminated_comment: None,
        }
    }

    pub(super) fn file(&self) -> FileId {
        self.file
    }

    /// Whether the next token is the first of its line.
    pub(super) fn at_line_start(&self) -> bool {
        self.at_line_start
    }

    /// Makes the next token count as the first of a line.
    pub(super) fn break_line(&mut self) {
        self.break_line = true;
    }

    /// The start of a comment that the end of the file cut off.
    pub(super) fn take_unterminated_comment(&mut self) -> Option<Span> {
        self.unterminated_comment.take()
    }

    /// The next token; at the end of the text, `Eof` again and again.
    pub(super) fn next(&mut self, text: &str, interner: &mut Interner) -> RawToken {
        let mut cursor = Cursor::new(text, self.position);
        let skipped = cursor.skip_space();
        if let Some(start) = skipped.unterminated_comment {
            self.unterminated_comment = Some(Span::new(self.file, start as u32, start as u32 + 2));
        }
        let line_crossed = self.line_crossed || cursor.spliced || skipped.line_crossed;
        cursor.spliced = false;

        let start = cursor.position;
        let kind = cursor.token(interner);
        self.position = cursor.position;

        let after_newline = self.at_line_start || self.break_line || (line_crossed && skipped.any);
        let at_line_start = kind == RawKind::Newline;
        self.line_crossed = !at_line_start && (cursor.spliced || (line_crossed && !after_newline));
        if kind != RawKind::Eof {
            self.at_line_start = at_line_start;
            self.break_line = false;
        }
        RawToken {
            kind,
            span: Span::new(self.file, start as u32, cursor.end as u32),
            space_before: skipped.any,
            after_newline,
            no_expand: false,
        }
    }

    /// The file name after `#include`, unless something else stands there.
    pub(super) fn header_name(&mut self, text: &str) -> Option<HeaderName> {
        let mut cursor = Cursor::new(text, self.position);
        cursor.skip_space();
        let start = cursor.position;
        let (angled, close) = match cursor.peek()? {
            b'<' => (true, '>'),
            b'"' => (false, '"'),
            _ => return None,
        };
        let line = text[start + 1..].lines().next()?;
        let length = line.find(close)?;
        self.position = start + length + 2;
        Some(HeaderName {
            name: line[..length].to_owned(),
            angled,
            span: Span::new(self.file, start as u32, self.position as u32),
        })
    }
}

/// The kind of the one token that makes up all of `text`, if it is one.
pub(super) fn single_token(text: &str, interner: &mut Interner) -> Option<RawKind> {
    let mut cursor = Cursor::new(text, 0);
    if cursor.skip_space().any {
        return None;
    }
    let kind = cursor.token(interner);
    let whole = cursor.position == text.len();
    (whole && !matches!(kind, RawKind::Newline | RawKind::Eof | RawKind::Other(_))).then_some(kind)
}

struct Skipped {
    any: bool,
    /// A comment held the end of a line.
    line_crossed: bool,
    unterminated_comment: Option<usize>,
}

struct Cursor<'a> {
    text: &'a str,
    position: usize,
    /// Past the last byte taken; `position` may be further on, past a backslash-newline.
    end: usize,
    /// Met a backslash-newline.
    spliced: bool,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str, position: usize) -> Self {
        Self { text, position, end: position, spliced: false }
    }

    /// The next byte of the text without its backslash-newlines.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.position)?;
            if byte != b'\\' {
                return Some(byte);
            }
            let Some(length) = splice(&bytes[self.position..]) else {
                return Some(byte);
            };
            self.position += length;
            self.spliced = true;
        }
    }

    /// Takes the byte just peeked at.
    fn bump(&mut self) {
        self.position += 1;
        self.end = self.position;
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.bump();
        }
        found
    }

    fn eat_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.bump();
        }
    }

    /// Skips white space and comments, but not the end of a line.
    fn skip_space(&mut self) -> Skipped {
        let mut skipped = Skipped { any: false, line_crossed: false, unterminated_comment: None };
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c') => self.bump(),
                Some(b'/') => {
                    let start = self.position;
                    self.bump();
                    if self.eat(b'/') {
                        self.eat_while(|byte| byte != b'\n');
                    } else if self.eat(b'*') {
                        if !self.skip_block_comment(&mut skipped.line_crossed) {
                            skipped.unterminated_comment = Some(start);
                        }
                    } else {
                        self.position = start;
                        break;
                    }
                }
                _ => break,
            }
            skipped.any = true;
        }
        self.end = self.position;
        skipped
    }

    /// Whether the comment ends.
    fn skip_block_comment(&mut self, line_crossed: &mut bool) -> bool {
        while let Some(byte) = self.peek() {
            self.bump();
            *line_crossed |= byte == b'\n';
            if byte == b'*' && self.eat(b'/') {
                return true;
            }
        }
        false
    }

    fn token(&mut self, interner: &mut Interner) -> RawKind {
        let start = self.position;
        let Some(byte) = self.peek() else {
            return RawKind::Eof;
        };
        self.bump();
        match byte {
            b'\n' => RawKind::Newline,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.eat_while(is_word);
                RawKind::Ident(interner.intern(&self.taken(start)))
            }
            b'0'..=b'9' => {
                self.eat_while(is_word);
                RawKind::Number(interner.intern(&self.taken(start)))
            }
            b'"' | b'\'' => {
                let closed = self.skip_quoted(byte);
                let symbol = interner.intern(&self.taken(start));
                match (closed, byte) {
                    (false, _) => RawKind::Other(symbol),
                    (true, b'"') => RawKind::String(symbol),
                    (true, _) => RawKind::Char(symbol),
                }
            }
            b'#' if self.eat(b'#') => RawKind::HashHash,
            b'#' => RawKind::Hash,
            _ => match self.punct(byte) {
                Some(punct) => RawKind::Punct(punct),
                None => {
                    self.eat_while(is_stray);
                    RawKind::Other(interner.intern(&self.taken(start)))
                }
            },
        }
    }

    /// Whether the quote is closed on the line.
    fn skip_quoted(&mut self, quote: u8) -> bool {
        loop {
            match self.peek() {
                None | Some(b'\n') => return false,
                Some(b'\\') => {
                    self.bump();
                    if !matches!(self.peek(), None | Some(b'\n')) {
                        self.bump();
                    }
                }
                Some(byte) => {
                    self.bump();
                    if byte == quote {
                        return true;
                    }
                }
            }
        }
    }

    /// The sign that starts with a byte just taken; the longest one.
    fn punct(&mut self, first: u8) -> Option<Punct> {
        use Punct::*;
        Some(match first {
            b'(' => LParen,
            b')' => RParen,
            b'{' => LBrace,
            b'}' => RBrace,
            b'[' => LBracket,
            b']' => RBracket,
            b';' => Semi,
            b',' => Comma,
            b'*' => Star,
            b'%' => Percent,
            b'~' => Tilde,
            b'^' => Caret,
            b'@' => At,
            b'$' => Dollar,
            b':' if self.eat(b':') => ColonColon,
            b':' => Colon,
            b'.' if self.eat(b'.') => DotDot,
            b'.' => Dot,
            b'-' if self.eat(b'>') => Arrow,
            b'-' if self.eat(b'-') => MinusMinus,
            b'-' => Minus,
            b'+' if self.eat(b'+') => PlusPlus,
            b'+' => Plus,
            b'=' if self.eat(b'=') => Eq,
            b'=' => Assign,
            b'!' if self.eat(b'=') => Ne,
            b'!' if self.eat(b'!') => BangBang,
            b'!' => Not,
            b'?' if self.eat(b'?') => QuestionQuestion,
            b'?' => Question,
            b'&' if self.eat(b'&') => AndAnd,
            b'&' => Amp,
            b'|' if self.eat(b'|') => OrOr,
            b'|' => Pipe,
            b'>' if self.eat(b'>') => Shr,
            b'>' if self.eat(b'=') => Ge,
            b'>' => Gt,
            b'<' if self.eat(b'<') => Shl,
            b'<' if self.eat(b'=') => Le,
            b'<' if self.eat(b'>') => Diamond,
            b'<' if self.eat_arrow() => Equiv,
            b'<' => Lt,
            b'/' if self.eat(b'\\') => AndAnd,
            b'/' => Slash,
            b'\\' if self.eat(b'/') => OrOr,
            _ => return None,
        })
    }

    fn eat_arrow(&mut self) -> bool {
        let (position, end) = (self.position, self.end);
        let found = self.eat(b'-') && self.eat(b'>');
        if !found {
            (self.position, self.end) = (position, end);
        }
        found
    }

    /// The text since `start`, without backslash-newlines.
    fn taken(&self, start: usize) -> Cow<'a, str> {
        let text = &self.text[start..self.end];
        if self.spliced { Cow::Owned(remove_splices(text)) } else { Cow::Borrowed(text) }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether no word can start with the byte.
fn is_stray(byte: u8) -> bool {
    !byte.is_ascii() || matches!(byte, b'`' | b'\\' | 0..=8 | 14..=31 | 127)
}

/// The length of the backslash-newline at the start of `bytes`, if one is there. White space may
/// stand between the two.
fn splice(bytes: &[u8]) -> Option<usize> {
    let blanks = bytes[1..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c'))
        .count();
    (bytes.get(1 + blanks) == Some(&b'\n')).then_some(blanks + 2)
}

fn remove_splices(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(backslash) = rest.find('\\') {
        let (before, from) = rest.split_at(backslash);
        kept.push_str(before);
        let skip = splice(from.as_bytes()).unwrap_or_else(|| {
            kept.push('\\');
            1
        });
        rest = &from[skip..];
    }
    kept.push_str(rest);
    kept
}
