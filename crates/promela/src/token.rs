//! The words of Promela after preprocessing.

use crate::source::Span;

/// A word with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Which word.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
    /// Whether a line ended between the word before it and this one: SPIN takes a line's end for a
    /// separator in places.
    pub after_newline: bool,
}

/// The kinds of words. Keywords are identifiers here: the parser knows them by their text, since
/// several (`in`, `of`, `U`, `always`, ...) are keywords in some places only.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A name or a keyword.
    Ident(String),
    /// A decimal number or a character constant; the text of a number too large for 32 bits is
    /// reported by the lexer.
    Number(i32),
    /// A string, without its quotes, escapes as written.
    String(String),
    /// The C text between the braces of `c_code { ... }`, `c_decl`, `c_expr`, with an optional
    /// `[assertion]` before it: the lexer takes it whole.
    CBlock {
        /// The text in brackets before the braces.
        assertion: Option<String>,
        /// The text in braces.
        code: String,
    },
    /// Anything else.
    Punct(Punct),
    /// The end of the text.
    Eof,
}

/// Signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[allow(missing_docs)] // The names say it; `text` shows each.
pub enum Punct {
    LParen, RParen, LBrace, RBrace, LBracket, RBracket,
    Semi, Comma, Colon, ColonColon, Dot, DotDot,
    Arrow, Equiv, Assign,
    Plus, Minus, Star, Slash, Percent, PlusPlus, MinusMinus,
    Not, Tilde, Amp, Pipe, Caret, AndAnd, OrOr,
    Eq, Ne, Lt, Gt, Le, Ge, Shl, Shr,
    Question, QuestionQuestion, BangBang, At,
    /// `[]` of a temporal formula is lexed as two brackets, `<>` as this.
    Diamond,
    Dollar,
}

impl Punct {
    /// As written. [`Punct::Not`] is also the send operator.
    #[rustfmt::skip]
    pub fn text(self) -> &'static str {
        use Punct::*;
        match self {
            LParen => "(", RParen => ")", LBrace => "{", RBrace => "}",
            LBracket => "[", RBracket => "]",
            Semi => ";", Comma => ",", Colon => ":", ColonColon => "::", Dot => ".", DotDot => "..",
            Arrow => "->", Equiv => "<->", Assign => "=",
            Plus => "+", Minus => "-", Star => "*", Slash => "/", Percent => "%",
            PlusPlus => "++", MinusMinus => "--",
            Not => "!", Tilde => "~", Amp => "&", Pipe => "|", Caret => "^",
            AndAnd => "&&", OrOr => "||",
            Eq => "==", Ne => "!=", Lt => "<", Gt => ">", Le => "<=", Ge => ">=",
            Shl => "<<", Shr => ">>",
            Question => "?", QuestionQuestion => "??", BangBang => "!!", At => "@",
            Diamond => "<>",
            Dollar => "$",
        }
    }
}
