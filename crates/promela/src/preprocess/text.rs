//! The words of the text before macros are expanded.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::source::Span;
use crate::token::Punct;

/// A text in an [`Interner`]: equal texts have equal symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Symbol(u32);

impl Symbol {
    /// For tables indexed by symbol.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Keeps one copy of every text that occurs.
#[derive(Default)]
pub(super) struct Interner {
    symbols: FxHashMap<Rc<str>, Symbol>,
    texts: Vec<Rc<str>>,
}

impl Interner {
    pub(super) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let symbol = Symbol(self.texts.len() as u32);
        let text: Rc<str> = text.into();
        self.texts.push(text.clone());
        self.symbols.insert(text, symbol);
        symbol
    }

    pub(super) fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.index()]
    }
}

/// A word of the text, small enough to be copied about.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawToken {
    pub(super) kind: RawKind,
    pub(super) span: Span,
    /// White space or a comment stands before it.
    pub(super) space_before: bool,
    /// As in [`crate::token::Token`].
    pub(super) after_newline: bool,
    /// A name met inside the expansion of its own macro: it stays as it is for good.
    pub(super) no_expand: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawKind {
    Ident(Symbol),
    /// Digits, and the letters and digits that follow them at once.
    Number(Symbol),
    /// A string with its quotes.
    String(Symbol),
    /// A character constant with its quotes.
    Char(Symbol),
    Punct(Punct),
    Hash,
    HashHash,
    /// A quote that is not closed, up to the end of the line, or a run of characters that belong
    /// to no word. It is a mistake only if it reaches the model: the text of an unused macro or of
    /// an `#error` may hold anything.
    Other(Symbol),
    /// The end of a line, backslash-newlines not counted.
    Newline,
    /// The end of the file or of the tokens at hand.
    Eof,
}

impl RawKind {
    pub(super) fn is(self, punct: Punct) -> bool {
        self == Self::Punct(punct)
    }

    /// As written.
    pub(super) fn text(self, interner: &Interner) -> &str {
        match self {
            Self::Ident(symbol)
            | Self::Number(symbol)
            | Self::String(symbol)
            | Self::Char(symbol)
            | Self::Other(symbol) => interner.text(symbol),
            Self::Punct(punct) => punct.text(),
            Self::Hash => "#",
            Self::HashHash => "##",
            Self::Newline => "\n",
            Self::Eof => "",
        }
    }
}

/// Bytes of text made of tokens for a file name or a message.
const MAX_SPELLED: usize = 4096;

/// The text of tokens on one line, with a space where white space was; the start of a very long
/// one.
pub(super) fn spell(tokens: &[RawToken], interner: &Interner) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.space_before && !text.is_empty() {
            text.push(' ');
        }
        let word = token.kind.text(interner);
        if text.len() + word.len() > MAX_SPELLED {
            text.extend(word.chars().take(MAX_SPELLED / 4));
            break;
        }
        text.push_str(word);
    }
    text
}
