//! Text that is kept as tokens: the bodies of inlines and the arguments of their calls.

use crate::parser::is_keyword;
use crate::token::{Punct, Token, TokenKind};

/// Writes tokens in one line.
pub(super) fn line(text: &mut String, tokens: &[Token]) {
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 && space_between(tokens, i) {
            text.push(' ');
        }
        word(text, token);
    }
}

/// Writes tokens with the line breaks they had, since a line's end may separate statements, and
/// with indentation by nesting.
pub(super) fn lines(text: &mut String, tokens: &[Token]) {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        let (closes, opens) = nesting(token);
        depth = depth.saturating_sub(closes);
        if i > 0 && token.after_newline {
            text.push('\n');
            let option = token.kind == TokenKind::Punct(Punct::ColonColon);
            for _ in 0..depth.saturating_sub(usize::from(option)) {
                text.push_str("    ");
            }
        } else if i > 0 && space_between(tokens, i) {
            text.push(' ');
        }
        word(text, token);
        depth += opens;
    }
}

/// How many levels a token closes, and opens.
fn nesting(token: &Token) -> (usize, usize) {
    match &token.kind {
        TokenKind::Punct(Punct::LBrace | Punct::LParen) => (0, 1),
        TokenKind::Punct(Punct::RBrace | Punct::RParen) => (1, 0),
        TokenKind::Ident(word) => match word.as_str() {
            "if" | "do" => (0, 1),
            "fi" | "od" => (1, 0),
            _ => (0, 0),
        },
        _ => (0, 0),
    }
}

fn word(text: &mut String, token: &Token) {
    match &token.kind {
        TokenKind::Ident(word) => text.push_str(word),
        // Only the smallest number is negative: a minus stands before it.
        TokenKind::Number(value) => text.push_str(&value.unsigned_abs().to_string()),
        TokenKind::String(string) => {
            text.push('"');
            text.push_str(string);
            text.push('"');
        }
        TokenKind::CBlock { assertion, code } => {
            if let Some(assertion) = assertion {
                text.push('[');
                text.push_str(assertion);
                text.push_str("] ");
            }
            text.push('{');
            text.push_str(code);
            text.push('}');
        }
        TokenKind::Punct(punct) => text.push_str(punct.text()),
        TokenKind::Eof => {}
    }
}

/// Whether a space belongs before token `i`. There is one wherever two signs could be read as one.
pub(super) fn space_between(tokens: &[Token], i: usize) -> bool {
    use Punct::*;
    let (before, token) = (&tokens[i - 1], &tokens[i]);
    let operand_before = match &before.kind {
        TokenKind::Ident(word) => !is_keyword(word) || is_function(word),
        TokenKind::Number(_) => true,
        TokenKind::Punct(punct) => matches!(punct, RParen | RBracket),
        _ => false,
    };
    let sign = match &token.kind {
        TokenKind::Punct(punct) => Some(*punct),
        _ => None,
    };
    match sign {
        Some(Comma | Semi | RParen | RBracket | Dot) => return false,
        Some(Colon) if is_label(&tokens[..i]) => return false,
        Some(
            At | LParen | LBracket | PlusPlus | MinusMinus | Question | QuestionQuestion | Not
            | BangBang,
        ) if operand_before => {
            return false;
        }
        _ => {}
    }
    let TokenKind::Punct(sign_before) = before.kind else {
        return true;
    };
    let fuses = matches!(
        sign,
        Some(Not | BangBang | Minus | MinusMinus | Question | Eq | Assign | Ne | Gt | Ge | Arrow)
    );
    match sign_before {
        LParen | LBracket | Dot | At => false,
        Not | BangBang | Question | QuestionQuestion | Tilde => fuses,
        Minus => fuses || i >= 2 && ends_operand(&tokens[i - 2]),
        _ => true,
    }
}

/// Whether the last token is a name at the beginning of a statement.
fn is_label(tokens: &[Token]) -> bool {
    let Some((last, before)) = tokens.split_last() else {
        return false;
    };
    let begins = last.after_newline
        || before.last().is_none_or(|token| {
            matches!(token.kind, TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::ColonColon))
        });
    begins && matches!(&last.kind, TokenKind::Ident(word) if !is_keyword(word))
}

/// Whether a minus behind this token subtracts.
fn ends_operand(token: &Token) -> bool {
    match &token.kind {
        TokenKind::Ident(word) => !is_keyword(word) || matches!(word.as_str(), "true" | "false"),
        TokenKind::Number(_) => true,
        TokenKind::Punct(punct) => matches!(punct, Punct::RParen | Punct::RBracket),
        _ => false,
    }
}

/// Whether a keyword is written like a function, its parenthesis close to it.
fn is_function(word: &str) -> bool {
    matches!(
        word,
        "assert"
            | "printf"
            | "printm"
            | "len"
            | "full"
            | "empty"
            | "nfull"
            | "nempty"
            | "eval"
            | "enabled"
            | "pc_value"
            | "get_priority"
            | "set_priority"
    )
}
