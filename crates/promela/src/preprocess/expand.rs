//! Macro expansion.
//!
//! Tokens come from a stack of contexts, the texts of the macros being expanded, and below them
//! from the files. While the text of a macro is on the stack its name means itself, so `#define a
//! a` ends. A name met in that state is marked and stays unexpanded wherever it goes, as the C
//! standard wants.

use std::rc::Rc;

use crate::source::{Expansion, ExpansionId, ExpansionKind, Span};
use crate::token::Punct;
use crate::{Code, Diagnostic};

use super::lexer::single_token;
use super::macros::{Body, BodyToken, Builtin, Macro};
use super::text::{RawKind, RawToken};
use super::{MAX_MACRO_NESTING, MAX_MADE_BYTES, MAX_TOKENS, Preprocessor};

/// Tokens to be read before those below.
pub(super) struct Context {
    tokens: Vec<RawToken>,
    next: usize,
    /// The macro they are the text of.
    of: Option<Rc<Macro>>,
}

/// The arguments of a macro's use.
struct Arguments {
    /// The tokens of each.
    raw: Vec<Vec<RawToken>>,
    /// The same with macros expanded, made when first needed.
    expanded: Vec<Option<Vec<RawToken>>>,
    /// The variadic argument was not given at all, not even as an empty one.
    variadic_omitted: bool,
    close: Span,
}

impl Preprocessor<'_> {
    /// The next token of the model, macros expanded.
    pub(super) fn next_expanded(&mut self) -> RawToken {
        loop {
            let token = self.next_raw();
            let RawKind::Ident(name) = token.kind else {
                return token;
            };
            if token.no_expand {
                return token;
            }
            let Some(found) = self.macros.get(name) else {
                return token;
            };
            let found = found.clone();
            if !self.expand(token, &found) {
                return token;
            }
        }
    }

    /// Tokens with all macros in them expanded.
    pub(super) fn expand_tokens(&mut self, tokens: Vec<RawToken>) -> Vec<RawToken> {
        self.read_only(tokens, |this| {
            let mut expanded = Vec::new();
            loop {
                let token = this.next_expanded();
                if token.kind == RawKind::Eof {
                    return expanded;
                }
                expanded.push(token);
            }
        })
    }

    /// The tokens of an `#if` with all macros expanded, and 1 or 0 for `defined(NAME)`.
    pub(super) fn expand_condition(
        &mut self,
        tokens: Vec<RawToken>,
    ) -> Result<Vec<RawToken>, Diagnostic> {
        let defined = self.interner.intern("defined");
        self.read_only(tokens, |this| {
            let mut expanded = Vec::new();
            loop {
                let mut token = this.next_expanded();
                if token.kind == RawKind::Eof {
                    return Ok(expanded);
                }
                if token.kind == RawKind::Ident(defined) {
                    let value = if this.is_defined(token.span)? { "1" } else { "0" };
                    token.kind = RawKind::Number(this.interner.intern(value));
                }
                expanded.push(token);
            }
        })
    }

    /// Whether the macro named after `defined` is.
    fn is_defined(&mut self, defined: Span) -> Result<bool, Diagnostic> {
        let first = self.next_raw();
        let parenthesis = first.kind.is(Punct::LParen);
        let name = if parenthesis { self.next_raw() } else { first };
        let closed = !parenthesis || self.next_raw().kind.is(Punct::RParen);
        match name.kind {
            RawKind::Ident(name) if closed => Ok(self.macros.get(name).is_some()),
            _ => {
                let message = "`defined` needs the name of a macro";
                Err(Diagnostic::new(Code::BadCondition, defined, message)
                    .help("write `defined(NAME)`"))
            }
        }
    }

    /// Lets `read` see these tokens and nothing after them.
    fn read_only<T>(&mut self, tokens: Vec<RawToken>, read: impl FnOnce(&mut Self) -> T) -> T {
        let bottom = self.contexts.len();
        let floor = self.floor.replace(bottom);
        self.push_context(tokens, None);
        let result = read(self);
        while self.contexts.len() > bottom {
            self.pop_context();
        }
        self.floor = floor;
        result
    }

    fn pop_context(&mut self) {
        if let Some(done) = self.contexts.pop().and_then(|context| context.of) {
            done.busy.set(false);
        }
    }

    fn push_context(&mut self, tokens: Vec<RawToken>, of: Option<Rc<Macro>>) {
        if let Some(of) = &of {
            of.busy.set(true);
        }
        self.contexts.push(Context { tokens, next: 0, of });
    }

    /// The next token as it stands.
    fn next_raw(&mut self) -> RawToken {
        self.count_tokens(1);
        if self.stopped {
            return self.end;
        }
        let mut token = loop {
            if self.contexts.len() > self.floor.unwrap_or(0)
                && let Some(context) = self.contexts.last_mut()
            {
                if let Some(&token) = context.tokens.get(context.next) {
                    context.next += 1;
                    break token;
                }
                self.pop_context();
            } else if self.floor.is_some() {
                return self.end;
            } else {
                break self.next_from_file();
            }
        };
        token.after_newline |= std::mem::take(&mut self.newline_pending);
        if let RawKind::Ident(name) = token.kind {
            token.no_expand |= self.macros.get(name).is_some_and(|found| found.busy.get());
        }
        token
    }

    /// Stops, with the blame on the latest macro use.
    pub(super) fn stop_expanding(&mut self, message: String) {
        let mut problem = Diagnostic::of_model(Code::ExpansionTooLarge, message);
        problem.span = self.last_use;
        if problem.span.is_some() {
            problem = problem
                .label("the limit was reached in the expansion of this macro")
                .note("macros that use each other twice or more grow very fast");
        }
        self.stop(problem);
    }

    fn count_tokens(&mut self, tokens: usize) {
        self.tokens_read += tokens;
        if self.tokens_read > MAX_TOKENS {
            self.stop_expanding(format!(
                "the model has more than {MAX_TOKENS} words after macro expansion"
            ));
        }
    }

    /// Counts text made by `#` or `##`.
    fn count_made(&mut self, bytes: usize) {
        self.bytes_made += bytes;
        if self.bytes_made > MAX_MADE_BYTES {
            let megabytes = MAX_MADE_BYTES >> 20;
            self.stop_expanding(format!(
                "the operators `#` and `##` of macros make more than {megabytes} MiB of text"
            ));
        }
    }

    /// Replaces a macro's name by its text. False if it is a function-like macro's name without
    /// arguments, which stands for itself.
    fn expand(&mut self, name: RawToken, found: &Rc<Macro>) -> bool {
        let mut call = name.span;
        let tokens = match &found.body {
            Body::Builtin(builtin) => vec![self.builtin(*builtin, name)],
            Body::Object(body) => {
                let expansion = self.add_expansion(found, call);
                self.substitute(body, None, expansion)
            }
            Body::Function { params, variadic, body } => {
                let next = self.next_raw();
                if !next.kind.is(Punct::LParen) {
                    if next.kind != RawKind::Eof {
                        self.push_context(vec![next], None);
                    }
                    return false;
                }
                let variadic_at = variadic.then(|| params.len() - 1);
                let Some(arguments) = self.arguments(name, next, variadic_at) else {
                    return true;
                };
                call = call.to(arguments.close);
                match self.check_arguments(found, params.len(), *variadic, arguments, call) {
                    Ok(arguments) => {
                        let expansion = self.add_expansion(found, call);
                        self.substitute(body, Some((arguments, *variadic)), expansion)
                    }
                    Err(problem) => {
                        self.report(problem);
                        vec![RawToken { no_expand: true, ..name }]
                    }
                }
            }
        };
        self.push_expansion(tokens, name, found.clone());
        true
    }

    fn push_expansion(&mut self, mut tokens: Vec<RawToken>, name: RawToken, of: Rc<Macro>) {
        match tokens.first_mut() {
            Some(first) => {
                first.after_newline = name.after_newline;
                first.space_before = name.space_before;
            }
            None => self.newline_pending |= name.after_newline,
        }
        self.push_context(tokens, Some(of));
    }

    fn add_expansion(&mut self, found: &Macro, call: Span) -> ExpansionId {
        self.last_use = Some(call);
        let name = self.interner.text(found.name).to_owned();
        self.source.add_expansion(Expansion { kind: ExpansionKind::Macro, name, call })
    }

    fn builtin(&mut self, builtin: Builtin, name: RawToken) -> RawToken {
        let text = match builtin {
            Builtin::Number(text) => text.to_owned(),
            Builtin::Line => self.presumed_line(name.span).to_string(),
            Builtin::File => quote(&self.presumed_file()),
            Builtin::BaseFile => quote(&self.source.file(self.root).path.display().to_string()),
            Builtin::IncludeLevel => (self.files.len().saturating_sub(1)).to_string(),
            Builtin::Counter => {
                self.counter += 1;
                (self.counter - 1).to_string()
            }
        };
        let symbol = self.interner.intern(&text);
        let kind = match builtin {
            Builtin::File | Builtin::BaseFile => RawKind::String(symbol),
            _ => RawKind::Number(symbol),
        };
        RawToken { kind, ..name }
    }

    /// Reads the arguments of a use, after the opening parenthesis. All commas from argument
    /// number `variadic_at` on belong to it. None, and a report, if the parenthesis is not closed.
    fn arguments(
        &mut self,
        name: RawToken,
        open: RawToken,
        variadic_at: Option<usize>,
    ) -> Option<Arguments> {
        let mut raw = vec![Vec::new()];
        let mut depth = 0_usize;
        let mut line_crossed = open.after_newline;
        let close = loop {
            let mut token = self.next_raw();
            line_crossed |= token.after_newline;
            token.space_before |= token.after_newline;
            token.after_newline = false;
            match token.kind {
                RawKind::Eof => {
                    if !self.stopped {
                        let name_text = name.kind.text(&self.interner);
                        let message =
                            format!("the arguments of the macro `{name_text}` do not end");
                        self.report(
                            Diagnostic::new(Code::BadMacroCall, name.span.to(open.span), message)
                                .label("no `)` for this `(`"),
                        );
                    }
                    return None;
                }
                RawKind::Punct(Punct::RParen) if depth == 0 => break token.span,
                RawKind::Punct(Punct::RParen) => depth -= 1,
                RawKind::Punct(Punct::LParen) => depth += 1,
                RawKind::Punct(Punct::Comma)
                    if depth == 0 && variadic_at.is_none_or(|at| raw.len() <= at) =>
                {
                    raw.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(argument) = raw.last_mut() {
                argument.push(token);
            }
        };
        // The use is put on the line of its name, what follows it on the next.
        if line_crossed
            && self.floor.is_none()
            && let Some(file) = self.files.last_mut()
        {
            file.lexer.break_line();
        }
        Some(Arguments { expanded: vec![None; raw.len()], raw, variadic_omitted: false, close })
    }

    fn check_arguments(
        &self,
        found: &Macro,
        params: usize,
        variadic: bool,
        mut arguments: Arguments,
        call: Span,
    ) -> Result<Arguments, Diagnostic> {
        let given = arguments.raw.len();
        let none_given = given == 1 && arguments.raw[0].is_empty();
        if params == 0 && none_given {
            return Ok(arguments);
        }
        if variadic && given + 1 == params {
            arguments.raw.push(Vec::new());
            arguments.expanded.push(None);
            arguments.variadic_omitted = true;
            return Ok(arguments);
        }
        if given == params {
            arguments.variadic_omitted = variadic && none_given;
            return Ok(arguments);
        }
        let plural = |n: usize| if n == 1 { "argument" } else { "arguments" };
        let (least, wanted) = if variadic { ("at least ", params - 1) } else { ("", params) };
        let given = if none_given { 0 } else { given };
        let mut problem = Diagnostic::new(
            Code::BadMacroCall,
            call,
            format!(
                "the macro `{}` takes {least}{wanted} {}, but {given} {} given",
                self.interner.text(found.name),
                plural(wanted),
                if given == 1 { "is" } else { "are" },
            ),
        );
        if let Some(defined_at) = found.defined_at {
            problem = problem.related(defined_at, "defined here");
        }
        Err(problem)
    }

    /// The text of one use of a macro. The arguments come with whether the last is variadic.
    fn substitute(
        &mut self,
        body: &[BodyToken],
        arguments: Option<(Arguments, bool)>,
        expansion: ExpansionId,
    ) -> Vec<RawToken> {
        let (mut arguments, variadic) = arguments.unzip();
        let mut tokens: Vec<RawToken> = Vec::with_capacity(body.len());
        let mut paste_to: Option<&BodyToken> = None;
        // Where the text of the operand left of `##` starts; it may be empty.
        let mut left_start = 0;
        for item in body {
            let start = tokens.len();
            let pasted = paste_to.is_some();
            let own = RawToken { span: Span { expansion, ..item.token.span }, ..item.token };
            match (item.param, &mut arguments) {
                (Some(param), Some(arguments)) if item.stringify => {
                    tokens.push(self.stringify(&arguments.raw[param], own));
                }
                (Some(param), Some(arguments)) => {
                    let is_variadic = variadic == Some(true) && param + 1 == arguments.raw.len();
                    let after_comma = tokens.last().is_some_and(|t| t.kind.is(Punct::Comma));
                    if pasted && is_variadic && after_comma {
                        // `, ## __VA_ARGS__`: the comma goes if the argument was not given.
                        if arguments.variadic_omitted {
                            tokens.pop();
                        }
                        paste_to = None;
                        tokens.extend(&arguments.raw[param]);
                    } else if pasted || item.paste_next {
                        tokens.extend(&arguments.raw[param]);
                    } else {
                        let expanded = self.expanded_argument(arguments, param);
                        tokens.extend(expanded);
                    }
                    if let Some(first) = tokens.get_mut(start) {
                        first.space_before = item.token.space_before && !pasted;
                    }
                }
                _ => tokens.push(own),
            }
            let start = start.min(tokens.len());
            self.count_tokens(tokens.len() - start);
            if self.stopped {
                break;
            }
            match paste_to {
                None => left_start = start,
                Some(left) if left_start < start && start < tokens.len() => {
                    let span = Span { expansion, ..left.token.span.to(item.token.span) };
                    self.paste(&mut tokens, start, span);
                }
                // One of the two is empty, so the other one is the result.
                Some(_) => {}
            }
            paste_to = item.paste_next.then_some(item);
        }
        tokens
    }

    fn expanded_argument<'a>(
        &mut self,
        arguments: &'a mut Arguments,
        param: usize,
    ) -> &'a [RawToken] {
        let slot = &mut arguments.expanded[param];
        if slot.is_none() {
            let raw = arguments.raw[param].clone();
            *slot = Some(if self.nesting < MAX_MACRO_NESTING {
                self.nesting += 1;
                let expanded = self.expand_tokens(raw);
                self.nesting -= 1;
                expanded
            } else {
                self.stop_expanding(format!(
                    "macro uses are nested more than {MAX_MACRO_NESTING} deep in arguments"
                ));
                raw
            });
        }
        slot.as_deref().unwrap_or_default()
    }

    /// Joins `tokens[right - 1]` and `tokens[right]`.
    fn paste(&mut self, tokens: &mut Vec<RawToken>, right: usize, span: Span) {
        let (a, b) = (tokens[right - 1].kind, tokens[right].kind);
        let (a, b) = (a.text(&self.interner), b.text(&self.interner));
        let joined = format!("{a}{b}");
        self.count_made(joined.len());
        match single_token(&joined, &mut self.interner) {
            Some(kind) => {
                tokens.remove(right);
                let token = &mut tokens[right - 1];
                token.kind = kind;
                token.span = span;
                token.no_expand = false;
            }
            None => {
                let problem = Diagnostic::new(
                    Code::BadPaste,
                    span,
                    format!("`##` makes `{joined}`, which is not a word"),
                );
                self.report(problem);
            }
        }
    }

    fn stringify(&mut self, argument: &[RawToken], own: RawToken) -> RawToken {
        let mut text = String::from("\"");
        for (i, token) in argument.iter().enumerate() {
            if text.len() > MAX_MADE_BYTES {
                break;
            }
            if token.space_before && i > 0 {
                text.push(' ');
            }
            let spelling = token.kind.text(&self.interner);
            if matches!(token.kind, RawKind::String(_) | RawKind::Char(_)) {
                text.push_str(&escape(spelling));
            } else {
                text.push_str(spelling);
            }
        }
        text.push('"');
        self.count_made(text.len());
        RawToken { kind: RawKind::String(self.interner.intern(&text)), ..own }
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn quote(text: &str) -> String {
    format!("\"{}\"", escape(text))
}
