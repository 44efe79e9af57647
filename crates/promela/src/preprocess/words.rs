//! Expanded raw tokens to the tokens of the language.

use crate::source::{ExpansionId, Span};
use crate::token::{Punct, Token, TokenKind};
use crate::{Code, Diagnostic};

use super::text::{Interner, RawKind, RawToken, Symbol};

/// Collects the tokens of the model.
pub(super) struct Words {
    tokens: Vec<Token>,
    /// Set after `c_code` and the like until their text is complete.
    c_code: Option<CCode>,
    c_keywords: Vec<Symbol>,
}

/// Embedded C being read.
struct CCode {
    part: CPart,
    /// From the first bracket or brace.
    span: Span,
    assertion: Option<String>,
    text: String,
    after_newline: bool,
    last_expansion: ExpansionId,
}

#[derive(Clone, Copy, PartialEq)]
enum CPart {
    /// After the keyword.
    Keyword,
    /// In brackets, this deep.
    Assertion(usize),
    /// After the brackets.
    Between,
    /// In braces, this deep.
    Braces(usize),
}

impl Words {
    pub(super) fn new(interner: &mut Interner) -> Self {
        let keywords = ["c_code", "c_decl", "c_expr"];
        Self {
            tokens: Vec::new(),
            c_code: None,
            c_keywords: keywords.map(|word| interner.intern(word)).to_vec(),
        }
    }

    /// Whether the text at hand is C, not Promela.
    pub(super) fn in_c_code(&self) -> bool {
        let part = self.c_code.as_ref().map(|c_code| c_code.part);
        matches!(part, Some(CPart::Braces(_)))
    }

    /// Adds a whole line to the C text.
    pub(super) fn push_c_line(&mut self, line: &str) {
        if let Some(c_code) = &mut self.c_code {
            c_code.text.push('\n');
            c_code.text.push_str(line);
            c_code.text.push('\n');
        }
    }

    /// Adds a token. The mistake, if it is one, does not stop the reading.
    pub(super) fn push(&mut self, raw: RawToken, interner: &Interner) -> Result<(), Diagnostic> {
        if self.c_code.is_some() && self.push_c(raw, interner) {
            return Ok(());
        }
        let mut outcome = Ok(());
        let kind = match raw.kind {
            RawKind::Ident(symbol) => {
                if self.c_keywords.contains(&symbol) {
                    self.c_code = Some(CCode {
                        part: CPart::Keyword,
                        span: raw.span,
                        assertion: None,
                        text: String::new(),
                        after_newline: false,
                        last_expansion: ExpansionId::NONE,
                    });
                }
                TokenKind::Ident(interner.text(symbol).to_owned())
            }
            RawKind::Number(symbol) => return self.push_number(raw, interner.text(symbol)),
            RawKind::String(symbol) => {
                let text = interner.text(symbol);
                TokenKind::String(text[1..text.len() - 1].to_owned())
            }
            RawKind::Char(symbol) => {
                let (value, warning) = character(raw.span, interner.text(symbol));
                if let Some(warning) = warning {
                    outcome = Err(warning);
                }
                TokenKind::Number(value)
            }
            RawKind::Punct(Punct::Gt) if self.completes_arrow(raw) => return Ok(()),
            RawKind::Punct(punct) => TokenKind::Punct(punct),
            RawKind::Hash | RawKind::HashHash => {
                return Err(Diagnostic::new(Code::NoDirective, raw.span, "unexpected `#`")
                    .note("a directive must be the first word of its line"));
            }
            RawKind::Other(symbol) => return Err(stray(raw.span, interner.text(symbol))),
            RawKind::Newline | RawKind::Eof => return Ok(()),
        };
        self.add(kind, raw);
        outcome
    }

    /// All tokens since the last end, closed by the end of the text, and the mistake if embedded C
    /// is cut off.
    pub(super) fn finish(&mut self, end: Span) -> (Vec<Token>, Option<Diagnostic>) {
        let problem = match self.c_code.take() {
            Some(c_code) if !matches!(c_code.part, CPart::Keyword | CPart::Between) => {
                let message = "the C text does not end";
                Some(Diagnostic::new(Code::UnclosedText, c_code.span, message).label("opened here"))
            }
            _ => None,
        };
        self.tokens.push(Token { kind: TokenKind::Eof, span: end, after_newline: true });
        (std::mem::take(&mut self.tokens), problem)
    }

    fn add(&mut self, kind: TokenKind, raw: RawToken) {
        self.tokens.push(Token { kind, span: raw.span, after_newline: raw.after_newline });
    }

    /// SPIN takes `-->` for `->`.
    fn completes_arrow(&mut self, raw: RawToken) -> bool {
        let Some(last) = self.tokens.last_mut() else {
            return false;
        };
        let joined = last.kind == TokenKind::Punct(Punct::MinusMinus)
            && last.span.file == raw.span.file
            && last.span.expansion == raw.span.expansion
            && last.span.end == raw.span.start;
        if joined {
            last.kind = TokenKind::Punct(Punct::Arrow);
            last.span.end = raw.span.end;
        }
        joined
    }

    /// A number; letters that follow it at once are a word of their own, as in `x = 1od`.
    fn push_number(&mut self, raw: RawToken, text: &str) -> Result<(), Diagnostic> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (digits, word) = text.split_at(digits);
        if digits == "0" && word.starts_with(['x', 'X']) {
            self.add(TokenKind::Number(0), raw);
            let problem =
                Diagnostic::new(Code::BadNumber, raw.span, "numbers are decimal in Promela");
            let value = i32::from_str_radix(&word[1..], 16);
            return Err(match value {
                Ok(value) => problem.help(format!("write `{value}`")),
                Err(_) => problem,
            });
        }
        let after_minus = matches!(
            self.tokens.last().map(|token| &token.kind),
            Some(TokenKind::Punct(Punct::Minus))
        );
        let value = match digits.parse::<u32>() {
            // The minus leaves the smallest number as it is.
            Ok(0x8000_0000) if after_minus => Some(i32::MIN),
            Ok(value) => i32::try_from(value).ok(),
            Err(_) => None,
        };
        // The text of a number made by `##` is longer than its span; both words get all of it.
        let (mut number, mut rest) = (raw, raw);
        if raw.span.end - raw.span.start == text.len() as u32 {
            number.span.end = raw.span.start + digits.len() as u32;
            rest.span.start = number.span.end;
        }
        self.add(TokenKind::Number(value.unwrap_or(i32::MAX)), number);
        if !word.is_empty() {
            rest.after_newline = false;
            self.add(TokenKind::Ident(word.to_owned()), rest);
        }
        if value.is_some() {
            return Ok(());
        }
        let message = format!("`{digits}` is too large: numbers have 32 bits");
        let problem = Diagnostic::new(Code::BadNumber, number.span, message)
            .label(format!("the largest number is {}", i32::MAX));
        Err(match digits.parse::<u32>() {
            Ok(value) => {
                let wrapped = value as i32;
                problem.help(format!(
                    "SPIN reads it as {wrapped}: if that is meant, write `{wrapped}`"
                ))
            }
            Err(_) => problem,
        })
    }

    /// Takes a token of embedded C. False if it is none: no text follows the keyword.
    fn push_c(&mut self, raw: RawToken, interner: &Interner) -> bool {
        let Some(c_code) = &mut self.c_code else {
            return false;
        };
        let is = |punct| raw.kind.is(punct);
        match c_code.part {
            CPart::Keyword if is(Punct::LBracket) => c_code.open(CPart::Assertion(1), raw),
            CPart::Keyword | CPart::Between if is(Punct::LBrace) => {
                c_code.open(CPart::Braces(1), raw);
            }
            CPart::Keyword | CPart::Between => {
                self.c_code = None;
                return false;
            }
            CPart::Assertion(1) if is(Punct::RBracket) => {
                c_code.assertion = Some(std::mem::take(&mut c_code.text).trim().to_owned());
                c_code.part = CPart::Between;
            }
            CPart::Assertion(depth) => {
                let depth = nested(raw, depth, Punct::LBracket, Punct::RBracket);
                c_code.part = CPart::Assertion(depth);
                c_code.append(raw, interner);
            }
            CPart::Braces(1) if is(Punct::RBrace) => {
                if let Some(done) = self.c_code.take() {
                    self.tokens.push(Token {
                        kind: TokenKind::CBlock { assertion: done.assertion, code: done.text },
                        span: done.span.to(raw.span),
                        after_newline: done.after_newline,
                    });
                }
            }
            CPart::Braces(depth) => {
                let depth = nested(raw, depth, Punct::LBrace, Punct::RBrace);
                c_code.part = CPart::Braces(depth);
                c_code.append(raw, interner);
            }
        }
        true
    }
}

impl CCode {
    fn open(&mut self, part: CPart, raw: RawToken) {
        if self.part == CPart::Keyword {
            self.span = raw.span;
            self.after_newline = raw.after_newline;
        }
        self.part = part;
        self.last_expansion = raw.span.expansion;
    }

    fn append(&mut self, raw: RawToken, interner: &Interner) {
        if raw.after_newline {
            self.text.push('\n');
        } else if raw.space_before || raw.span.expansion != self.last_expansion {
            self.text.push(' ');
        }
        self.last_expansion = raw.span.expansion;
        self.text.push_str(raw.kind.text(interner));
    }
}

fn nested(raw: RawToken, depth: usize, open: Punct, close: Punct) -> usize {
    if raw.kind.is(open) {
        depth + 1
    } else if raw.kind.is(close) {
        depth - 1
    } else {
        depth
    }
}

/// The value of a character constant with its quotes, and what is wrong with it.
fn character(span: Span, text: &str) -> (i32, Option<Diagnostic>) {
    let inner = &text[1..text.len() - 1];
    let single = match inner.as_bytes() {
        [b'\\', escaped] => match escaped {
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            b'f' => Some(b'\x0c'),
            other if other.is_ascii_alphanumeric() => {
                let value = i32::from(*other);
                let shown = char::from(*other);
                let warning = Diagnostic::new(
                    Code::UnknownEscape,
                    span,
                    format!("`{text}` is the character `{shown}`"),
                )
                .label(format!("its value is {value}"))
                .note("Promela has the escapes \\n, \\r, \\t and \\f only");
                return (value, Some(warning));
            }
            other => Some(*other),
        },
        [byte] if byte.is_ascii() => Some(*byte),
        _ => None,
    };
    match single {
        Some(byte) => (i32::from(byte), None),
        None => {
            let message = format!("`{text}` is not one character");
            let problem = Diagnostic::new(Code::BadCharacter, span, message);
            let problem = if inner.chars().count() == 1 {
                problem.note("a character constant is a single byte, an ASCII character")
            } else {
                problem.help("a string has double quotes")
            };
            (0, Some(problem))
        }
    }
}

/// The mistake of text that is no word.
fn stray(span: Span, text: &str) -> Diagnostic {
    let Some(first) = text.chars().next() else {
        return Diagnostic::new(Code::StrayCharacter, span, "unexpected character");
    };
    match first {
        '"' => Diagnostic::new(Code::UnclosedText, span, "this string does not end")
            .label("no `\"` follows on this line"),
        '\'' => Diagnostic::new(Code::UnclosedText, span, "this character constant does not end")
            .label("no `'` follows on this line"),
        _ => {
            let code = u32::from(first);
            let message = if first.is_ascii_graphic() {
                format!("unexpected character '{first}'")
            } else if first.is_control() {
                format!("unexpected control character U+{code:04X}")
            } else {
                format!("unexpected character '{first}' (U+{code:04X})")
            };
            let problem = Diagnostic::new(Code::StrayCharacter, span, message);
            match replacement(first) {
                Some(plain) => problem.help(format!("write `{plain}`")),
                None if first.is_ascii() => problem,
                None => problem.note("only comments and strings may hold other than ASCII"),
            }
        }
    }
}

/// What is meant by a character that word processors and web pages put in the place of another.
fn replacement(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{2018}' | '\u{2019}' => "'",
        '\u{201c}' | '\u{201d}' => "\"",
        '\u{2013}' | '\u{2014}' | '\u{2212}' => "-",
        '\u{2192}' | '\u{21d2}' => "->",
        '\u{2264}' => "<=",
        '\u{2265}' => ">=",
        '\u{2260}' => "!=",
        '\u{2227}' => "&&",
        '\u{2228}' => "||",
        '\u{00ac}' => "!",
        '\u{00a0}' => " ",
        _ => return None,
    })
}
