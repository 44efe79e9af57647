//! The parser: tokens to a tree, by recursive descent.
//!
//! It accepts what SPIN accepts (the grammar of `spin.y` together with the repairs that SPIN's
//! lexer makes to separators) and a little more where that is harmless. Four things are unusual:
//!
//! - A line's end may end a statement, so `Parser::line_ends_statement` is asked wherever the
//!   next line's first word could also continue this one.
//! - What a word means depends on what was declared before it: typedefs, process types and inlines
//!   known so far are kept in `Declared`.
//! - An inline call is parsed by switching to a fresh stream of tokens, the inline's body with its
//!   parameters replaced (`inline`).
//! - Depth is bounded ([`MAX_DEPTH`]), both of the recursion here and of the tree that results.
//!
//! A mistake is an `Err` up to the statement or unit that contains it; that one is dropped, the
//! mistake is reported and parsing goes on behind it.

mod declarations;
mod errors;
mod expressions;
mod formula;
mod inline;
mod keywords;
mod statements;
mod units;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{MAX_DEPTH, Model, Name, NameId};
use crate::source::Span;
use crate::token::{Punct, Token, TokenKind};
use crate::{Code, Diagnostic, SourceMap};

pub use formula::{parse_expression, parse_formula, parse_formula_alone};
pub use keywords::is_keyword;
pub(crate) use keywords::is_temporal;

use errors::Opener;
use inline::{Call, Definition};

/// A part of the tree, or why it cannot be understood. What is returned up the recursion is kept
/// small, since the stack holds it at every level.
type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Nothing, because of a problem.
#[cold]
fn fail<T>(problem: Diagnostic) -> Result<T> {
    Err(Box::new(problem))
}

/// Builds the tree. After a mistake it goes on at the next statement or unit, so that one run tells
/// several.
pub fn parse(tokens: Vec<Token>, source: &mut SourceMap) -> (Model, Vec<Diagnostic>) {
    let mut parser = Parser::new(tokens, source);
    parser.look_ahead_for_names();
    let units = parser.units();
    let model = Model { units, names: parser.names };
    (model, parser.diagnostics)
}

/// How many of the [`MAX_DEPTH`] levels something takes that nests. The tree needs one for each;
/// more are counted in proportion to the stack that the recursion uses, so that the two megabytes
/// of an ordinary thread are enough for any model.
const OPERAND: usize = 1;
const PARENTHESIS: usize = 2;
const STATEMENT: usize = 4;

/// The state of a parse.
struct Parser<'s> {
    source: &'s mut SourceMap,
    /// What is read now: the model, or the body of the innermost inline call.
    stream: Stream,
    /// What is read when the inline calls in progress have ended, innermost last.
    suspended: Vec<Stream>,
    /// The inline calls in progress, innermost last.
    calls: Vec<Call>,
    /// How many tokens inline calls have made so far.
    expanded: usize,
    /// Where the names stand that have been numbered.
    names: Vec<Span>,
    declared: Declared,
    /// Parentheses and brackets around the current place: inside them a line's end means nothing.
    parens: usize,
    /// Whether this is inside the braces of a body or a typedef, where a line's end may separate.
    in_body: bool,
    /// Whether this is a temporal formula.
    in_formula: bool,
    /// What is open around the current place and has a closing word, innermost last.
    openers: Vec<Opener>,
    /// Loops around the current place.
    loops: usize,
    /// How deep the current place is, in levels of [`OPERAND`], [`PARENTHESIS`] and [`STATEMENT`].
    depth: usize,
    diagnostics: Vec<Diagnostic>,
    /// What has been reported, by place and text: the body of an inline is parsed for every call,
    /// its mistakes are told once.
    reported: FxHashSet<(Span, String)>,
    errors: usize,
    /// Nothing more is read or reported.
    stopped: bool,
}

/// Names that make a difference to the grammar.
#[derive(Default)]
struct Declared {
    typedefs: FxHashSet<String>,
    /// Process types declared before the current place.
    proctypes: FxHashSet<String>,
    inlines: FxHashMap<String, Rc<Definition>>,
    /// Process types of the whole text; formulas may refer to later ones.
    all_proctypes: FxHashSet<String>,
    /// Where the inlines of the whole text have their names.
    all_inlines: FxHashMap<String, Span>,
}

/// A token and where the text says it stands: a parameter's replacement in the body of an inline
/// stands at the parameter, though its own span is in the call.
#[derive(Clone, Debug)]
struct Lexeme {
    token: Token,
    place: Span,
}

/// Tokens being read; the last of them is the end and is never passed.
struct Stream {
    lexemes: VecDeque<Lexeme>,
    /// How many have been read.
    position: usize,
    /// What was read last.
    previous: Option<Lexeme>,
}

impl Stream {
    fn new(lexemes: VecDeque<Lexeme>) -> Self {
        Self { lexemes, position: 0, previous: None }
    }
}

impl<'s> Parser<'s> {
    fn new(mut tokens: Vec<Token>, source: &'s mut SourceMap) -> Self {
        if tokens.last().is_none_or(|t| t.kind != TokenKind::Eof) {
            let file = source.files().next().map(|(id, _)| id);
            let span = match tokens.last() {
                Some(last) => after(last.span),
                None => Span::new(file.unwrap_or(crate::source::FileId(0)), 0, 0),
            };
            tokens.push(end_of_text(span));
        }
        let lexemes = tokens.into_iter().map(|token| Lexeme { place: token.span, token }).collect();
        Self {
            source,
            stream: Stream::new(lexemes),
            suspended: Vec::new(),
            calls: Vec::new(),
            expanded: 0,
            names: Vec::new(),
            declared: Declared::default(),
            parens: 0,
            in_body: false,
            in_formula: false,
            openers: Vec::new(),
            loops: 0,
            depth: 0,
            diagnostics: Vec::new(),
            reported: FxHashSet::default(),
            errors: 0,
            stopped: false,
        }
    }

    /// Notes the process types and inlines of the whole text.
    fn look_ahead_for_names(&mut self) {
        let mut before = "";
        for lexeme in &self.stream.lexemes {
            let TokenKind::Ident(word) = &lexeme.token.kind else {
                before = "";
                continue;
            };
            match before {
                "proctype" | "D_proctype" => {
                    self.declared.all_proctypes.insert(word.clone());
                }
                "inline" => {
                    let span = lexeme.token.span;
                    self.declared.all_inlines.entry(word.clone()).or_insert(span);
                }
                _ => {}
            }
            before = word;
        }
    }

    // Reading.

    /// The token `ahead` of the current one.
    fn nth(&self, ahead: usize) -> &Token {
        let lexemes = &self.stream.lexemes;
        &lexemes[ahead.min(lexemes.len() - 1)].token
    }

    fn current(&self) -> &Token {
        self.nth(0)
    }

    fn span(&self) -> Span {
        self.current().span
    }

    /// Where the current token stands.
    fn place(&self) -> Span {
        self.stream.lexemes[0].place
    }

    /// Passes the current token, unless it is the end.
    fn bump(&mut self) -> Token {
        let stream = &mut self.stream;
        if stream.lexemes.len() == 1 {
            return stream.lexemes[0].token.clone();
        }
        let lexeme = stream.lexemes.pop_front().expect("more than one token is left");
        stream.position += 1;
        let token = lexeme.token.clone();
        stream.previous = Some(lexeme);
        token
    }

    fn at(&self, punct: Punct) -> bool {
        self.current().kind == TokenKind::Punct(punct)
    }

    fn nth_is(&self, ahead: usize, punct: Punct) -> bool {
        self.nth(ahead).kind == TokenKind::Punct(punct)
    }

    fn at_end(&self) -> bool {
        self.current().kind == TokenKind::Eof
    }

    /// The current token if it is a name or keyword, else nothing.
    fn word(&self) -> &str {
        self.nth_word(0)
    }

    fn nth_word(&self, ahead: usize) -> &str {
        match &self.nth(ahead).kind {
            TokenKind::Ident(word) => word,
            _ => "",
        }
    }

    fn at_word(&self, word: &str) -> bool {
        self.word() == word
    }

    /// Whether the token `ahead` is a name, not a keyword.
    fn nth_is_name(&self, ahead: usize) -> bool {
        let word = self.nth_word(ahead);
        !word.is_empty() && !self.is_reserved(word)
    }

    fn is_reserved(&self, word: &str) -> bool {
        is_keyword(word) || (self.in_formula && is_temporal(word))
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Passes a sign that must stand here; says which if it does not.
    fn expect(&mut self, punct: Punct) -> Result<Span> {
        if self.at(punct) {
            Ok(self.bump().span)
        } else {
            fail(self.unexpected(&format!("`{}`", punct.text())))
        }
    }

    /// A name that must stand here; `what` says of what, as in "a label".
    fn name(&mut self, what: &str) -> Result<Name> {
        if self.nth_is_name(0) {
            Ok(self.any_word_as_name())
        } else {
            let problem = self.not_a_name(what);
            let misplaced = !self.word().is_empty()
                && !self.current().after_newline
                && !matches!(self.word(), "fi" | "od");
            if misplaced {
                self.bump();
            }
            fail(problem)
        }
    }

    /// The current token, known to be a word, as a name.
    fn any_word_as_name(&mut self) -> Name {
        let token = self.bump();
        let text = match token.kind {
            TokenKind::Ident(text) => text,
            _ => String::new(),
        };
        let id = NameId(self.names.len() as u32);
        self.names.push(token.span);
        Name { text, span: token.span, id }
    }

    // Separators.

    /// Whether the current token begins a line and the line's end separates statements here.
    fn line_ends_statement(&self) -> bool {
        self.in_body && self.parens == 0 && self.current().after_newline
    }

    /// Passes all `;` and `->`; whether there was one.
    fn skip_separators(&mut self) -> bool {
        let mut any = false;
        while self.at(Punct::Semi) || self.at(Punct::Arrow) {
            self.bump();
            any = true;
        }
        any
    }

    /// Whether no separator is needed here: after `}`, after `else`, or at a line's end.
    fn separator_implied(&self) -> bool {
        let Some(previous) = &self.stream.previous else {
            return true;
        };
        match &previous.token.kind {
            TokenKind::Punct(Punct::RBrace) | TokenKind::CBlock { .. } => true,
            TokenKind::Ident(word) if word == "else" => true,
            _ => self.line_ends_statement(),
        }
    }

    // Places.

    /// Where the last token stood.
    fn previous_place(&self) -> Span {
        match &self.stream.previous {
            Some(lexeme) => lexeme.place,
            None => self.place(),
        }
    }

    /// From a place to the end of what was read last.
    fn since(&self, start: Span) -> Span {
        self.join(start, self.previous_place())
    }

    /// The text from one span to another. If macros brought them there, from different
    /// expansions, the uses of those are what counts.
    fn join(&self, from: Span, to: Span) -> Span {
        let mut start = from;
        loop {
            let mut end = to;
            loop {
                if start.file == end.file && start.expansion == end.expansion {
                    return start.to(end);
                }
                match self.source.expansion(end.expansion) {
                    Some(expansion) => end = expansion.call,
                    None => break,
                }
            }
            match self.source.expansion(start.expansion) {
                Some(expansion) => start = expansion.call,
                None => return from,
            }
        }
    }

    // Depth.

    /// Parses something that nests deeper than the current place.
    fn nested<T>(
        &mut self,
        levels: usize,
        parse: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.check_depth(levels)?;
        self.depth += levels;
        let result = parse(self);
        self.depth -= levels;
        result
    }

    /// Whether a tree of some height may hang at the current place.
    fn check_depth(&mut self, height: usize) -> Result<()> {
        if self.depth + height <= MAX_DEPTH {
            return Ok(());
        }
        let problem =
            Diagnostic::new(Code::NestedTooDeeply, self.span(), "this is nested too deeply")
                .label("too many levels here")
                .note(format!(
                    "of a limit of {MAX_DEPTH}, a block or choice takes {STATEMENT}, a pair of \
                 parentheses {PARENTHESIS}, an operator {OPERAND}"
                ));
        self.report(problem.clone());
        self.stop();
        fail(problem)
    }

    /// Parses something inside parentheses or brackets, after the opening one.
    fn in_parens<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.parens += 1;
        let result = parse(self);
        self.parens -= 1;
        result
    }
}

/// The end of a text.
fn end_of_text(span: Span) -> Token {
    Token { kind: TokenKind::Eof, span, after_newline: true }
}

/// The empty place right behind a span.
fn after(span: Span) -> Span {
    Span { start: span.end, ..span }
}
