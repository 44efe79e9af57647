//! What to say about mistakes, and where to go on after one.

use super::keywords::{UNIT_WORDS, closest, is_type, starts_unit};
use super::{Parser, after, is_keyword};
use crate::source::Span;
use crate::token::{Punct, Token, TokenKind};
use crate::{Code, Diagnostic};

/// More errors than this are not shown: they would mostly follow from the first ones.
const MAX_ERRORS: usize = 50;

/// A construct with a closing word, and where it began.
#[derive(Clone, Copy)]
pub(super) struct Opener {
    /// As written: `{`, `if`, `do`.
    pub word: &'static str,
    pub span: Span,
}

impl Opener {
    /// What must close it.
    pub fn closer(self) -> &'static str {
        match self.word {
            "if" => "fi",
            "do" => "od",
            "(" => ")",
            "[" => "]",
            _ => "}",
        }
    }
}

impl Parser<'_> {
    /// Notes a mistake, once.
    pub(super) fn report(&mut self, problem: Diagnostic) {
        if self.stopped {
            return;
        }
        if let Some(span) = problem.span {
            let written = Span::new(span.file, span.start, span.end);
            if !self.reported.insert((written, problem.message.clone())) {
                return;
            }
        }
        self.errors += usize::from(problem.is_error());
        self.diagnostics.push(problem);
        if self.errors == MAX_ERRORS {
            self.diagnostics.push(Diagnostic::of_model(
                Code::TooManyErrors,
                "too many errors; the rest of the model was not read",
            ));
            self.stop();
        }
    }

    /// Reads and reports nothing more.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
        for stream in self.suspended.iter_mut().chain([&mut self.stream]) {
            let end = stream.lexemes.len() - 1;
            stream.lexemes.drain(..end);
        }
    }

    /// "expected ..., found ..." at the current token, with a hint where the mistake is a known one.
    pub(super) fn unexpected(&self, expected: &str) -> Diagnostic {
        let token = self.current();
        let found = self.describe(token);
        let mut problem = Diagnostic::new(
            Code::Unexpected,
            self.span(),
            format!("expected {expected}, found {found}"),
        )
        .label(format!("expected {expected}"));
        if let Some(hint) = self.hint() {
            problem = problem.help(hint);
        }
        problem
    }

    /// A token in the user's terms.
    pub(super) fn describe(&self, token: &Token) -> String {
        match &token.kind {
            TokenKind::Ident(word) if self.is_reserved(word) => format!("the keyword `{word}`"),
            TokenKind::Ident(word) => format!("`{word}`"),
            TokenKind::Number(value) => format!("`{value}`"),
            TokenKind::String(_) => "a string".to_owned(),
            TokenKind::CBlock { .. } => "C code".to_owned(),
            TokenKind::Punct(punct) => format!("`{}`", punct.text()),
            TokenKind::Eof => match self.calls.last() {
                Some(call) => format!("the end of inline `{}`", call.definition.name.text),
                None => "the end of the text".to_owned(),
            },
        }
    }

    /// A name was expected.
    pub(super) fn not_a_name(&self, what: &str) -> Diagnostic {
        let word = self.word();
        if word.is_empty() {
            return self.unexpected(what);
        }
        Diagnostic::new(
            Code::KeywordAsName,
            self.span(),
            format!("the keyword `{word}` cannot be used as a name"),
        )
        .label(format!("expected {what}"))
    }

    /// What was probably meant, judged by the token that does not fit and the one before it.
    fn hint(&self) -> Option<String> {
        let previous = self.stream.previous.as_ref().map(|p| &p.token);
        let previous_punct = match previous.map(|p| &p.kind) {
            Some(TokenKind::Punct(punct)) => Some(*punct),
            _ => None,
        };
        let adjacent = previous.is_some_and(|p| p.span.end == self.span().start);
        let text = match &self.current().kind {
            TokenKind::Punct(Punct::Gt) if previous_punct == Some(Punct::Assign) && adjacent => {
                "`=>` is not an operator: write `->` between a condition and what follows it, \
                 `>=` to compare"
            }
            TokenKind::Punct(Punct::Assign) if previous_punct.is_some_and(is_arithmetic) => {
                "there are no compound assignments: write `x = x + 1`, or `x++`"
            }
            TokenKind::Punct(Punct::Assign) => {
                "`=` assigns, and only in a statement of its own; `==` compares"
            }
            TokenKind::Punct(Punct::PlusPlus | Punct::MinusMinus) => {
                "`x++` and `x--` are statements of their own, with the operator after the variable"
            }
            TokenKind::Punct(Punct::Question) => {
                "a choice between two values is written `(condition -> a : b)`"
            }
            TokenKind::Punct(Punct::LParen)
                if self.in_formula && matches!(self.previous_word(), "G" | "F") =>
            {
                "write `[]` for always and `<>` for eventually"
            }
            TokenKind::Punct(Punct::LParen)
                if !self.previous_word().is_empty() && !is_keyword(self.previous_word()) =>
            {
                "there are no functions; an inline is called by a statement of its own, \
                 `f(...)` or `x = f(...)`"
            }
            TokenKind::Punct(Punct::Colon) if matches!(self.previous_word(), "if" | "do") => {
                "options begin with `::`"
            }
            TokenKind::Punct(Punct::Colon) => {
                "a choice between two values needs its parentheses: `(condition -> a : b)`"
            }
            TokenKind::Punct(Punct::Dot)
                if matches!(previous.map(|p| &p.kind), Some(TokenKind::Number(_))) =>
            {
                "all numbers are whole in Promela"
            }
            TokenKind::Punct(Punct::Not) => "a send is a statement of its own",
            TokenKind::Punct(Punct::LBracket) if self.nth_is(1, Punct::RBracket) => ONLY_IN_LTL,
            TokenKind::Ident(_)
                if adjacent && matches!(previous.map(|p| &p.kind), Some(TokenKind::Number(_))) =>
            {
                NUMBER_AND_NAME
            }
            TokenKind::Number(_)
                if matches!(self.nth(1).kind, TokenKind::Ident(_))
                    && self.nth(1).span.start == self.span().end =>
            {
                NUMBER_AND_NAME
            }
            TokenKind::Ident(_) if self.at_temporal_word() => ONLY_IN_LTL,
            TokenKind::Ident(word) => match word.as_str() {
                "then" => "write `->`",
                "and" => "write `&&`",
                "or" => "write `||`",
                "not" => "write `!`",
                _ => return None,
            },
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Whether a word stands here, outside of any formula, that is an operator in one. It may be a
    /// name, too.
    fn at_temporal_word(&self) -> bool {
        !self.in_formula
            && !self.nth_is(1, Punct::Assign)
            && matches!(self.word_or_name(), "U" | "V" | "W" | "until" | "weakuntil" | "release")
    }

    /// The current word, whether it is a keyword or not.
    fn word_or_name(&self) -> &str {
        match &self.current().kind {
            TokenKind::Ident(word) => word,
            _ => "",
        }
    }

    fn previous_word(&self) -> &str {
        match self.stream.previous.as_ref().map(|p| &p.token.kind) {
            Some(TokenKind::Ident(word)) => word,
            _ => "",
        }
    }

    /// Two statements without a separator, or a statement with something that does not belong to
    /// it; the latter cannot be skipped over silently, so the caller must synchronize.
    pub(super) fn missing_separator(&self) -> (Diagnostic, bool) {
        let found = self.describe(self.current());
        let can_begin = self.can_begin_step();
        let mut problem = Diagnostic::new(
            Code::MissingSeparator,
            after(self.previous_place()),
            format!("expected `;`, found {found}"),
        )
        .label("expected `;` or `->` here");
        if let Some(hint) = self.hint() {
            problem = problem.help(hint);
        } else if can_begin {
            problem = problem.note(
                "statements are separated by `;` or `->`, by the end of a line, or by a closing `}`",
            );
        } else {
            problem = problem.related(self.span(), "this does not continue the statement");
        }
        (problem, can_begin)
    }

    /// Whether the current token can be the first of a statement or declaration.
    fn can_begin_step(&self) -> bool {
        match &self.current().kind {
            TokenKind::Ident(word) => {
                !self.at_temporal_word()
                    && !matches!(
                        word.as_str(),
                        "of" | "priority"
                            | "provided"
                            | "eval"
                            | "unless"
                            | "then"
                            | "and"
                            | "or"
                            | "not"
                    )
            }
            TokenKind::Number(_) => true,
            TokenKind::Punct(punct) => matches!(
                punct,
                Punct::LParen | Punct::LBrace | Punct::Not | Punct::Tilde | Punct::Minus
            ),
            _ => false,
        }
    }

    /// A statement was expected.
    pub(super) fn not_a_statement(&self) -> Diagnostic {
        let span = self.span();
        match self.word() {
            "" => {}
            "priority" | "provided" | "of" | "unless" | "eval" => {}
            word => {
                return Diagnostic::new(
                    Code::NotAStatement,
                    span,
                    format!("`{word}` does not begin a statement"),
                );
            }
        }
        match self.current().kind {
            TokenKind::Punct(Punct::PlusPlus | Punct::MinusMinus) => {
                let operator = self.describe(self.current());
                Diagnostic::new(
                    Code::NotAStatement,
                    span,
                    format!("expected a statement, found {operator}"),
                )
                .label("expected a statement")
                .help("the operator comes after the variable: `x++`, `x--`")
            }
            TokenKind::Punct(Punct::Arrow) => {
                Diagnostic::new(Code::NotAStatement, span, "expected a statement before `->`")
                    .label("nothing stands before this")
                    .help("write the condition under which to go on, or `true`")
            }
            _ => self.unexpected("a statement"),
        }
    }

    /// Something stands at the top level that cannot.
    pub(super) fn not_a_unit(&self) -> Diagnostic {
        let span = self.span();
        let word = self.word();
        if let Some(meant) = closest(word, UNIT_WORDS.into_iter().chain(TYPE_WORDS)) {
            return Diagnostic::new(
                Code::NotAUnit,
                span,
                format!("expected a declaration or a process, found `{word}`"),
            )
            .help(format!("did you mean `{meant}`?"));
        }
        match &self.current().kind {
            TokenKind::Punct(Punct::RBrace) => {
                Diagnostic::new(Code::NotAUnit, span, "this `}` closes nothing")
                    .label("no `{` is open here")
            }
            TokenKind::Ident(word) if word == "of" => self
                .unexpected("`,` or `;`")
                .help("a channel is written `chan c = [capacity] of { type, type }`"),
            TokenKind::Ident(word) if is_keyword(word) => Diagnostic::new(
                Code::NotAUnit,
                span,
                format!("`{word}` cannot stand outside of a process"),
            )
            .label("expected a declaration or a process")
            .help("statements belong in the braces of a `proctype`, `init`, `never` or `trace`"),
            TokenKind::Ident(word) if self.nth_is_name(1) || is_type(self.nth_word(1)) => {
                self.unknown_type(word)
            }
            TokenKind::Ident(_) if self.behind_declarator() => self.unexpected("`,` or `;`"),
            TokenKind::Ident(_) => self
                .unexpected("a declaration or a process")
                .help("statements belong in the braces of a `proctype` or of `init`"),
            _ => self.unexpected("a declaration or a process"),
        }
    }

    /// Whether a declaration could go on here, on the same line.
    fn behind_declarator(&self) -> bool {
        let previous = self.stream.previous.as_ref().map(|p| &p.token.kind);
        !self.current().after_newline
            && matches!(
                previous,
                Some(
                    TokenKind::Ident(_) | TokenKind::Number(_) | TokenKind::Punct(Punct::RBracket)
                )
            )
    }

    /// Two names stand side by side, so the first was meant to be a type.
    pub(super) fn unknown_type(&self, word: &str) -> Diagnostic {
        let problem =
            Diagnostic::new(Code::NoType, self.span(), format!("there is no type `{word}`"))
                .label("not a type");
        let typedefs = self.declared.typedefs.iter().map(String::as_str);
        let meant = match word {
            "boolean" => Some("bool"),
            "char" | "uint8" | "uint8_t" => Some("byte"),
            "long" | "integer" | "int32" | "int32_t" => Some("int"),
            "int16" | "int16_t" => Some("short"),
            "channel" => Some("chan"),
            "enum" => Some("mtype"),
            "struct" => Some("typedef"),
            _ => closest(word, TYPE_WORDS.into_iter().chain(typedefs)),
        };
        match (word, meant) {
            (_, Some(meant)) => problem.help(format!("did you mean `{meant}`?")),
            ("float" | "double", _) => problem.note("Promela computes with whole numbers only"),
            ("const", _) => problem.help("name a constant by `#define`"),
            _ => problem.help("declare it by a `typedef` before its first use"),
        }
    }

    /// Reports that something was not closed before the current token, or not by the right word;
    /// the closing word that stands there instead, if any, is taken for the right one.
    pub(super) fn report_unclosed(&mut self, opener: Opener) {
        let closer = opener.closer();
        let word = opener.word;
        let found = self.describe(self.current());
        let at_end = self.at_end();
        let mistaken = matches!((word, self.word()), ("if", "od") | ("do", "fi"));
        let problem = if mistaken {
            Diagnostic::new(
                Code::NotClosed,
                self.span(),
                format!("`{word}` is closed by `{closer}`, found {found}"),
            )
            .label(format!("expected `{closer}`"))
        } else {
            Diagnostic::new(
                Code::NotClosed,
                self.span(),
                format!("`{word}` is not closed: expected `{closer}`, found {found}"),
            )
            .label(format!("expected `{closer}` before this"))
        };
        self.report(problem.related(opener.span, format!("this `{word}` is open")));
        if mistaken {
            self.bump();
        } else if at_end && self.calls.is_empty() {
            // Whatever is open around it is open too.
            self.stop();
        }
    }

    /// Goes on behind a mistake in a statement: to the next separator, option, closing word or
    /// unit outside of any block that begins on the way.
    pub(super) fn synchronize(&mut self, from: usize) {
        let mut blocks = 0usize;
        loop {
            let progress = self.stream.position > from;
            let fresh_line = self.current().after_newline && progress;
            match &self.current().kind {
                TokenKind::Eof => return,
                TokenKind::Punct(Punct::Semi | Punct::Arrow | Punct::ColonColon) if blocks == 0 => {
                    return;
                }
                TokenKind::Punct(Punct::LBrace) => blocks += 1,
                TokenKind::Punct(Punct::RBrace) => {
                    if blocks == 0 {
                        return;
                    }
                    blocks -= 1;
                }
                TokenKind::Ident(word) => match word.as_str() {
                    word if starts_unit(word) && fresh_line => return,
                    word if is_type(word) && fresh_line && blocks == 0 => return,
                    "if" | "do" if blocks == 0 && fresh_line => return,
                    "if" | "do" => blocks += 1,
                    "fi" | "od" => {
                        if blocks == 0 {
                            return;
                        }
                        blocks -= 1;
                    }
                    "atomic" | "d_step" | "assert" | "printf" | "goto" | "break" | "run"
                        if blocks == 0 && fresh_line =>
                    {
                        return;
                    }
                    _ => {}
                },
                _ => {}
            }
            self.bump();
        }
    }

    /// Goes on behind a mistake at the top level: to the next unit.
    pub(super) fn synchronize_units(&mut self, from: usize) {
        let mut braces = 0usize;
        loop {
            let progress = self.stream.position > from;
            match &self.current().kind {
                TokenKind::Eof => return,
                TokenKind::Punct(Punct::LBrace) => braces += 1,
                TokenKind::Punct(Punct::RBrace) => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        self.bump();
                        return;
                    }
                }
                TokenKind::Punct(Punct::Semi) if braces == 0 && progress => return,
                TokenKind::Ident(word)
                    if progress
                        && (starts_unit(word)
                            || braces == 0 && is_type(word) && self.current().after_newline) =>
                {
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }
}

const NUMBER_AND_NAME: &str = "a name does not begin with a digit, and a number has no letters";
const ONLY_IN_LTL: &str = "temporal operators stand only in formulas: `ltl name { ... }`";

/// The basic types.
const TYPE_WORDS: [&str; 9] =
    ["bit", "bool", "byte", "chan", "int", "mtype", "pid", "short", "unsigned"];

fn is_arithmetic(punct: Punct) -> bool {
    matches!(
        punct,
        Punct::Plus
            | Punct::Minus
            | Punct::Star
            | Punct::Slash
            | Punct::Percent
            | Punct::Amp
            | Punct::Pipe
            | Punct::Caret
            | Punct::Shl
            | Punct::Shr
    )
}
