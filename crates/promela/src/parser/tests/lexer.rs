//! Just enough of a lexer to test the parser alone: no macros, `# 1 "file"` lines are passed over.

use crate::source::{FileId, Span};
use crate::token::{Punct, Token, TokenKind};

#[rustfmt::skip]
const SIGNS: [(&str, Punct); 45] = {
    use Punct::*;
    [
        ("<->", Equiv), ("::", ColonColon), ("..", DotDot), ("->", Arrow), ("++", PlusPlus),
        ("--", MinusMinus), ("&&", AndAnd), ("||", OrOr), ("==", Eq), ("!=", Ne), ("<=", Le),
        (">=", Ge), ("<<", Shl), (">>", Shr), ("??", QuestionQuestion), ("!!", BangBang),
        ("<>", Diamond), ("(", LParen), (")", RParen), ("{", LBrace), ("}", RBrace),
        ("[", LBracket), ("]", RBracket), (";", Semi), (",", Comma), (":", Colon), (".", Dot),
        ("=", Assign), ("+", Plus), ("-", Minus), ("*", Star), ("/", Slash), ("%", Percent),
        ("!", Not), ("~", Tilde), ("&", Amp), ("|", Pipe), ("^", Caret), ("<", Lt), (">", Gt),
        ("?", Question), ("@", At), ("$", Dollar), ("\\", Dollar), ("#", Dollar),
    ]
};

/// The tokens of a text.
pub fn tokens(text: &str, file: FileId) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut after_newline = true;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let run = |test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        if first == '\n' {
            after_newline = true;
            at += 1;
            continue;
        }
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("//") || first == '#' && after_newline {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |n| n + 2);
            continue;
        }
        let c_word = match tokens.last().map(|t| &t.kind) {
            Some(TokenKind::Ident(word)) => matches!(word.as_str(), "c_code" | "c_expr" | "c_decl"),
            _ => false,
        };
        let (kind, length) = if c_word && first == '{' {
            let end = rest.find('}').unwrap_or(rest.len() - 1);
            let kind = TokenKind::CBlock {
                assertion: None,
                code: rest[1..end].to_owned(),
            };
            (kind, end + 1)
        } else if first.is_ascii_digit() {
            let length = run(|c| c.is_ascii_digit());
            let value = rest[..length].parse().unwrap_or(i32::MAX);
            (TokenKind::Number(value), length)
        } else if first == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |n| n + 1);
            (
                TokenKind::String(rest[1..end].to_owned()),
                (end + 1).min(rest.len()),
            )
        } else if let Some((sign, punct)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            (TokenKind::Punct(*punct), sign.len())
        } else {
            let length = run(|c| c.is_alphanumeric() || c == '_').max(first.len_utf8());
            (TokenKind::Ident(rest[..length].to_owned()), length)
        };
        tokens.push(Token {
            kind,
            span: Span::new(file, at as u32, (at + length) as u32),
            after_newline,
        });
        after_newline = false;
        at += length;
    }
    tokens.push(Token {
        kind: TokenKind::Eof,
        span: Span::new(file, at as u32, at as u32),
        after_newline: true,
    });
    tokens
}
