//! Inlines: their definitions, and their calls.
//!
//! A definition's body is kept as tokens. A call replaces every word in the body that is the name
//! of a parameter by the argument's tokens, and parses the result in place of the call, as a block.
//! The tokens know the call by an expansion in the [`crate::SourceMap`], so that what is said about
//! them can show both the body and the call.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::errors::Opener;
use super::{Lexeme, Parser, Result, STATEMENT, Stream, end_of_text, fail};
use crate::ast::{Inline, Name, StmtKind, VarRef};
use crate::source::{Expansion, ExpansionId, ExpansionKind, Span};
use crate::token::{Punct, Token, TokenKind};
use crate::{Code, Diagnostic};

/// Inline calls may make this many tokens in all. A model of a thousand lines has some ten
/// thousand; a few inlines that call each other twice can ask for any number.
const MAX_EXPANDED: usize = 2_000_000;

/// An inline as defined.
pub(super) struct Definition {
    pub name: Name,
    params: Vec<Name>,
    /// With its braces.
    body: Vec<Token>,
}

/// A call in progress.
pub(super) struct Call {
    pub definition: Rc<Definition>,
    /// The call as written.
    pub place: Span,
    /// What `return` assigns to.
    pub result: Option<VarRef>,
}

impl Parser<'_> {
    /// `inline name(a, b) { ... }`
    pub(super) fn inline(&mut self) -> Result<Inline> {
        let start = self.place();
        self.bump();
        let name = self.name("the name of the inline")?;
        let params = if self.at(Punct::LBrace) {
            let problem = self.unexpected("`(`").help(format!("write `inline {}() {{`", name.text));
            self.report(problem);
            Vec::new()
        } else {
            self.inline_params()?
        };
        let body = self.inline_body()?;
        let definition =
            Rc::new(Definition { name: name.clone(), params: params.clone(), body: body.clone() });
        let text = name.text.clone();
        if let Some(first) = self.declared.inlines.insert(text, definition) {
            self.report(
                Diagnostic::new(
                    Code::Redeclared,
                    name.span,
                    format!("a second inline `{}`", name.text),
                )
                .related(first.name.span, "the first"),
            );
        }
        Ok(Inline { name, params, body, span: self.since(start) })
    }

    /// `(a, b)`
    fn inline_params(&mut self) -> Result<Vec<Name>> {
        self.expect(Punct::LParen)?;
        let mut params: Vec<Name> = Vec::new();
        let mut known: FxHashMap<String, Span> = FxHashMap::default();
        while !self.at(Punct::RParen) {
            if self.at_declaration() {
                let problem = self
                    .unexpected("the name of a parameter")
                    .help("parameters of an inline have no type");
                self.report(problem);
                self.bump();
            }
            let param = self.name("the name of a parameter")?;
            let first = *known.entry(param.text.clone()).or_insert(param.span);
            if first != param.span {
                let problem = Diagnostic::new(
                    Code::Redeclared,
                    param.span,
                    format!("a second parameter `{}`", param.text),
                )
                .related(first, "the first");
                self.report(problem);
            }
            params.push(param);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RParen)?;
        Ok(params)
    }

    /// The tokens from `{` to the `}` that belongs to it.
    fn inline_body(&mut self) -> Result<Vec<Token>> {
        let span = self.span();
        if !self.at(Punct::LBrace) {
            return fail(self.unexpected("`{`"));
        }
        let mut body = Vec::new();
        let mut depth = 0usize;
        loop {
            if self.at_end() {
                self.report_unclosed(Opener { word: "{", span });
                return Ok(body);
            }
            if self.at(Punct::LBrace) {
                depth += 1;
            } else if self.at(Punct::RBrace) {
                depth -= 1;
            }
            body.push(self.bump());
            if depth == 0 {
                return Ok(body);
            }
        }
    }

    /// Whether a known inline and its arguments stand here, perhaps on two lines.
    pub(super) fn at_inline_call(&self) -> bool {
        self.nth_is(1, Punct::LParen) && self.declared.inlines.contains_key(self.word())
    }

    /// The rest of a call, its name having been read; `result` is what it is assigned to.
    pub(super) fn call(&mut self, name: Name, result: Option<VarRef>) -> Result<StmtKind> {
        let Some(definition) = self.declared.inlines.get(&name.text).cloned() else {
            return fail(self.not_an_inline(&name));
        };
        let start = self.previous_place();
        let args = self.call_args()?;
        let place = self.since(start);
        if args.len() != definition.params.len() {
            return fail(
                Diagnostic::new(
                    Code::InlineArguments,
                    place,
                    format!(
                        "`{}` takes {}, but {} given",
                        name.text,
                        count(definition.params.len(), "argument"),
                        match args.len() {
                            1 => "1 is".to_owned(),
                            n => format!("{n} are"),
                        }
                    ),
                )
                .related(definition.name.span, "defined here"),
            );
        }
        self.check_recursion(&definition, place)?;
        let lexemes = self.expand(&definition, &args, place)?;
        let body = self.nested(2 * STATEMENT, |p| {
            p.in_stream(lexemes, |p| {
                p.calls.push(Call { definition, place, result: result.clone() });
                let openers = std::mem::take(&mut p.openers);
                let body = p.expanded_body();
                p.openers = openers;
                p.calls.pop();
                body
            })
        })?;
        // A call ends with its body's brace: nothing need separate it from what follows.
        self.stream.previous = Some(Lexeme {
            token: Token {
                kind: TokenKind::Punct(Punct::RBrace),
                span: place,
                after_newline: false,
            },
            place: self.previous_place(),
        });
        Ok(StmtKind::Inline { name, args, result, body })
    }

    fn expanded_body(&mut self) -> Result<Vec<crate::ast::Stmt>> {
        let span = self.expect(Punct::LBrace)?;
        self.block_contents(Opener { word: "{", span })
    }

    /// Parses other tokens, then goes on here.
    fn in_stream<T>(
        &mut self,
        lexemes: VecDeque<Lexeme>,
        parse: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = std::mem::replace(&mut self.stream, Stream::new(lexemes));
        self.suspended.push(outer);
        let result = parse(self);
        if let Some(outer) = self.suspended.pop() {
            self.stream = outer;
        }
        result
    }

    /// The arguments in parentheses, each an expression, as tokens.
    fn call_args(&mut self) -> Result<Vec<Vec<Token>>> {
        let open = self.expect(Punct::LParen)?;
        let mut args = Vec::new();
        if self.eat(Punct::RParen) {
            return Ok(args);
        }
        loop {
            let arg = self.call_arg(open)?;
            self.check_arg(&arg)?;
            args.push(arg);
            if self.bump().kind == TokenKind::Punct(Punct::RParen) {
                return Ok(args);
            }
        }
    }

    /// The tokens up to the next comma or closing parenthesis outside of any others.
    fn call_arg(&mut self, open: Span) -> Result<Vec<Token>> {
        let mut arg = Vec::new();
        let mut depth = 0usize;
        loop {
            match self.current().kind {
                TokenKind::Eof | TokenKind::Punct(Punct::Semi | Punct::LBrace | Punct::RBrace) => {
                    return fail(self.unexpected("`,` or `)`").related(open, "this `(` is open"));
                }
                TokenKind::Punct(Punct::LParen | Punct::LBracket) => depth += 1,
                TokenKind::Punct(Punct::RParen | Punct::Comma) if depth == 0 => return Ok(arg),
                TokenKind::Punct(Punct::RParen | Punct::RBracket) => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            arg.push(self.bump());
        }
    }

    /// Whether an argument, the next token standing behind it, is an expression. What it means is
    /// found where the body uses it.
    fn check_arg(&mut self, arg: &[Token]) -> Result<()> {
        let behind = self.current().clone();
        let end = end_of_text(behind.span);
        let lexemes = arg
            .iter()
            .chain([&behind, &end])
            .map(|token| Lexeme { place: token.span, token: token.clone() })
            .collect();
        let names = self.names.len();
        let result = self.in_stream(lexemes, |p| {
            p.in_parens(Self::expression)?;
            if p.stream.lexemes.len() > 2 {
                return fail(p.unexpected("`,` or `)`"));
            }
            Ok(())
        });
        self.names.truncate(names);
        result
    }

    fn check_recursion(&self, definition: &Rc<Definition>, place: Span) -> Result<()> {
        let first = self.calls.iter().position(|call| Rc::ptr_eq(&call.definition, definition));
        let Some(first) = first else {
            return Ok(());
        };
        let name = &definition.name.text;
        let chain: Vec<&str> = self.calls[first..]
            .iter()
            .map(|call| call.definition.name.text.as_str())
            .chain([name.as_str()])
            .collect();
        let mut problem = Diagnostic::new(
            Code::InlineCallsItself,
            place,
            format!("inline `{name}` calls itself"),
        );
        if chain.len() > 2 {
            problem = problem.note(format!("the calls: {}", chain.join(" → ")));
        }
        fail(
            problem
                .related(definition.name.span, "defined here")
                .note("an inline is replaced by its body; that would never end"),
        )
    }

    /// The body with its parameters replaced.
    fn expand(
        &mut self,
        definition: &Definition,
        args: &[Vec<Token>],
        place: Span,
    ) -> Result<VecDeque<Lexeme>> {
        let name = &definition.name.text;
        let id = self.source.add_expansion(Expansion {
            kind: ExpansionKind::Inline,
            name: name.clone(),
            call: place,
        });
        let mut expansions = FxHashMap::default();
        expansions.insert(ExpansionId::NONE, id);
        let params: FxHashMap<&str, &[Token]> = definition
            .params
            .iter()
            .zip(args)
            .map(|(param, arg)| (param.text.as_str(), arg.as_slice()))
            .collect();
        let mut lexemes = VecDeque::with_capacity(definition.body.len() + 1);
        let mut end = place;
        for token in &definition.body {
            let place = self.moved(token.span, &mut expansions);
            end = place;
            let arg = match &token.kind {
                TokenKind::Ident(word) => params.get(word.as_str()),
                _ => None,
            };
            if let Some(arg) = arg {
                for (i, replacement) in arg.iter().enumerate() {
                    let token = Token {
                        after_newline: i == 0 && token.after_newline,
                        ..replacement.clone()
                    };
                    lexemes.push_back(Lexeme { token, place });
                }
            } else {
                let token = Token { span: place, ..token.clone() };
                lexemes.push_back(Lexeme { token, place });
            }
            if self.expanded + lexemes.len() > MAX_EXPANDED {
                let problem = Diagnostic::new(
                    Code::ExpansionTooLarge,
                    self.outermost_call(place),
                    format!("inline calls grow the model beyond {MAX_EXPANDED} words"),
                )
                .label("while this call is expanded");
                self.report(problem.clone());
                self.stop();
                return fail(problem);
            }
        }
        self.expanded += lexemes.len();
        lexemes.push_back(Lexeme { token: end_of_text(end), place: end });
        Ok(lexemes)
    }

    /// The call in the text of the model that the current calls come from.
    fn outermost_call(&self, place: Span) -> Span {
        self.calls.first().map_or(place, |call| call.place)
    }

    /// A span of the definition as a span of the call: the uses of macros in the body are uses
    /// inside the call.
    fn moved(&mut self, span: Span, expansions: &mut FxHashMap<ExpansionId, ExpansionId>) -> Span {
        // The chain of macro uses that is not yet known, innermost first.
        let mut chain = Vec::new();
        let mut at = span.expansion;
        let mut known = loop {
            if let Some(known) = expansions.get(&at) {
                break *known;
            }
            let Some(expansion) = self.source.expansion(at).cloned() else {
                break expansions[&ExpansionId::NONE];
            };
            let outer = expansion.call.expansion;
            chain.push((at, expansion));
            at = outer;
        };
        for (id, expansion) in chain.into_iter().rev() {
            let call = Span { expansion: known, ..expansion.call };
            known = self.source.add_expansion(Expansion { call, ..expansion });
            expansions.insert(id, known);
        }
        Span { expansion: known, ..span }
    }

    /// What to say of `name(`.
    fn not_an_inline(&self, name: &Name) -> Diagnostic {
        let text = &name.text;
        let problem =
            Diagnostic::new(Code::NoInline, name.span, format!("there is no inline `{text}`"));
        if let Some(later) = self.declared.all_inlines.get(text) {
            return Diagnostic::new(
                Code::NoInline,
                name.span,
                format!("inline `{text}` is defined after this call"),
            )
            .related(*later, "defined here")
            .help("move its definition before the first call");
        }
        if self.declared.all_proctypes.contains(text) {
            return problem
                .label("a process type")
                .help(format!("start a process by `run {text}(...)`"));
        }
        if text == "print" || text == "println" {
            return problem.help("write `printf(\"...\", ...)`");
        }
        let inlines = self.declared.inlines.keys().map(String::as_str);
        match super::keywords::closest(text, inlines) {
            Some(meant) => problem.help(format!("did you mean `{meant}`?")),
            None => problem.label("not defined").note(
                "Promela has no functions; an `inline` or a `#define` may stand for statements",
            ),
        }
    }
}

/// "1 argument", "2 arguments"
fn count(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        _ => format!("{n} {what}s"),
    }
}
