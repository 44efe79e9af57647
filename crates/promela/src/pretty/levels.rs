//! How far a line of a model is indented: by what is open around it.

use crate::preprocess::{Word, WordKind};
use crate::token::Punct;

/// Deeper lines are indented no further.
const MAX_LEVEL: usize = 64;
/// What is open is remembered at an `#if` only up to this depth.
const MAX_REMEMBERED: usize = 1000;

/// Something open.
#[derive(Clone, Copy, Debug)]
struct Level {
    kind: Kind,
    /// Where its options and its end stand.
    base: usize,
    /// Where stands what is in it.
    inner: usize,
    /// The line it was opened in.
    line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// `if`, `do`
    Choice,
    /// Braces around statements.
    Block,
    /// Parentheses, brackets, and braces around values.
    List,
}

/// What is open at a place of the text.
#[derive(Debug, Default)]
pub(super) struct Levels {
    open: Vec<Level>,
    /// What was open at the `#if`s around, unless it was too much: each branch starts from there.
    branches: Vec<Option<Vec<Level>>>,
    /// The number of the current line, its level, and whether it is that of an option.
    line: usize,
    level: usize,
    option: bool,
    /// The last word before.
    previous: Option<(WordKind, bool)>,
}

impl Levels {
    /// The level of a line that begins with a word.
    pub(super) fn of_line(&self, first: &Word, text: &str) -> usize {
        let level = match self.open.last() {
            Some(top) if closes(first, text) => top.base,
            Some(top) if top.kind == Kind::Choice && first.is(Punct::ColonColon) => top.base,
            Some(top) if top.kind != Kind::List => top.inner + usize::from(self.goes_on(first)),
            Some(top) => top.inner,
            None => usize::from(self.goes_on(first)),
        };
        level.min(MAX_LEVEL)
    }

    /// The level of a comment that has a line for itself, and what comes after it.
    pub(super) fn of_comment(&self, next: Option<&Word>, text: &str) -> usize {
        match next {
            Some(next) if !closes(next, text) => self.of_line(next, text),
            _ => self.open.last().map_or(0, |top| top.inner).min(MAX_LEVEL),
        }
    }

    /// Whether a line goes on with what the line before began.
    fn goes_on(&self, first: &Word) -> bool {
        let before = self.previous.is_some_and(|(kind, _)| {
            matches!(kind, WordKind::Punct(sign) if joins(sign) || matches!(sign, Punct::Comma | Punct::Assign))
        });
        before || matches!(first.kind, WordKind::Punct(sign) if joins(sign))
    }

    /// Begins a line.
    pub(super) fn begin_line(&mut self, first: &Word, level: usize) {
        self.line += 1;
        self.level = level;
        self.option = first.is(Punct::ColonColon);
    }

    /// Passes a word.
    pub(super) fn pass(&mut self, word: &Word, text: &str) {
        if closes(word, text) {
            self.open.pop();
        }
        let after_value = matches!(self.previous, Some((WordKind::Punct(Punct::Assign), _)))
            || self.previous.is_some_and(|(_, of)| of);
        let kind = match (word.kind, &text[word.range.clone()]) {
            (WordKind::Punct(Punct::LBrace), _) if !after_value => Some(Kind::Block),
            (WordKind::Punct(Punct::LBrace | Punct::LParen | Punct::LBracket), _) => {
                Some(Kind::List)
            }
            (WordKind::Ident, "if" | "do") => Some(Kind::Choice),
            _ => None,
        };
        if let Some(kind) = kind {
            let base = match self.open.last() {
                Some(outer) if outer.line == self.line => outer.inner,
                // What stands in an option is indented from its `::`.
                _ => self.level + usize::from(self.option),
            };
            self.open.push(Level { kind, base, inner: base + 1, line: self.line });
        }
        let of = word.kind == WordKind::Ident && &text[word.range.clone()] == "of";
        self.previous = Some((word.kind, of));
    }

    /// Acts on a line of the preprocessor, by the word after its `#`.
    pub(super) fn directive(&mut self, name: &str) {
        match name {
            "if" | "ifdef" | "ifndef" => {
                let remembered = (self.open.len() <= MAX_REMEMBERED).then(|| self.open.clone());
                self.branches.push(remembered);
            }
            "else" | "elif" => {
                if let Some(Some(before)) = self.branches.last() {
                    self.open.clone_from(before);
                }
            }
            "endif" => {
                self.branches.pop();
            }
            _ => {}
        }
    }
}

fn closes(word: &Word, text: &str) -> bool {
    match word.kind {
        WordKind::Punct(Punct::RBrace | Punct::RParen | Punct::RBracket) => true,
        WordKind::Ident => matches!(&text[word.range.clone()], "fi" | "od"),
        _ => false,
    }
}

/// Whether a sign stands between two operands. `>` may end a receive, `-` and `!` may begin an
/// operand.
fn joins(sign: Punct) -> bool {
    use Punct::*;
    matches!(
        sign,
        Plus | Star
            | Slash
            | Percent
            | Amp
            | Pipe
            | Caret
            | AndAnd
            | OrOr
            | Eq
            | Ne
            | Lt
            | Le
            | Ge
            | Shl
            | Shr
            | Equiv
    )
}
