//! The words of a HOA file, each with its place.

use std::ops::Range;

use super::{HoaError, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `Name:`
    Header(String),
    /// `--BODY--` and the like.
    Marker(String),
    /// `"..."`
    Text(String),
    /// `@name`
    Alias(String),
    Word(String),
    Number(u64),
    /// Any other sign.
    Symbol(char),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub line: u32,
    /// Its bytes in the text.
    pub at: Range<usize>,
}

/// All of them, without comments, which may be nested.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text.char_indices().peekable();
    let word_at = |start: usize, also: &str| {
        let is_part = |c: char| c.is_alphanumeric() || also.contains(c);
        let end = text[start..].find(|c: char| !is_part(c)).map_or(text.len(), |end| start + end);
        &text[start..end]
    };
    while let Some((start, c)) = rest.next() {
        let fail = |line, length: usize, reason: &str| {
            Err(HoaError { line, at: start..start + length, reason: reason.to_owned() })
        };
        let mut skip = |word: &str| {
            for _ in word.chars().skip(1) {
                rest.next();
            }
        };
        let kind = match c {
            '\n' => {
                line += 1;
                continue;
            }
            _ if c.is_whitespace() => continue,
            '/' if text[start..].starts_with("/*") => {
                let begin = line;
                let mut depth = 1;
                rest.next();
                while depth > 0 {
                    let Some((at, c)) = rest.next() else {
                        return fail(begin, 2, "a comment does not end");
                    };
                    line += u32::from(c == '\n');
                    if text[at..].starts_with("/*") {
                        depth += 1;
                        rest.next();
                    } else if text[at..].starts_with("*/") {
                        depth -= 1;
                        rest.next();
                    }
                }
                continue;
            }
            '"' => {
                let begin = line;
                let mut inside = String::new();
                loop {
                    match rest.next() {
                        None => return fail(begin, 1, "a text in quotes does not end"),
                        Some((_, '"')) => break,
                        Some((_, '\\')) => inside.extend(rest.next().map(|(_, c)| c)),
                        Some((_, c)) => {
                            line += u32::from(c == '\n');
                            inside.push(c);
                        }
                    }
                }
                Kind::Text(inside)
            }
            '-' if text[start..].starts_with("--") => {
                let marker = word_at(start, "-");
                skip(marker);
                Kind::Marker(marker.to_owned())
            }
            '@' => {
                let name = word_at(start + 1, "_-");
                skip(&text[start..start + 1 + name.len()]);
                Kind::Alias(name.to_owned())
            }
            '0'..='9' => {
                let digits = word_at(start, "");
                skip(digits);
                match digits.parse() {
                    Ok(number) => Kind::Number(number),
                    Err(_) => {
                        let reason = format!("`{digits}` is no number that we read");
                        return fail(line, digits.len(), &reason);
                    }
                }
            }
            _ if c.is_alphabetic() || c == '_' => {
                let word = word_at(start, "_-");
                skip(word);
                if text[start + word.len()..].starts_with(':') {
                    rest.next();
                    Kind::Header(word.to_owned())
                } else {
                    Kind::Word(word.to_owned())
                }
            }
            _ => Kind::Symbol(c),
        };
        let end = rest.peek().map_or(text.len(), |&(end, _)| end);
        tokens.push(Token { kind, line, at: start..end });
    }
    Ok(tokens)
}
