//! The lines that start with `#`.

use crate::source::Span;
use crate::suggest::nearest;
use crate::token::Punct;
use crate::{Code, Diagnostic};

use super::Preprocessor;
use super::condition;
use super::lexer::HeaderName;
use super::macros::{Macro, macro_name};
use super::text::{RawKind, RawToken, Symbol, spell};

/// Those that people write.
pub const DIRECTIVES: [&str; 13] = [
    "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error",
    "warning", "line", "pragma",
];

/// An `#if` whose `#endif` has not come yet.
pub(super) struct Conditional {
    /// The `#if`, `#ifdef` or `#ifndef`.
    span: Span,
    /// The text around it counts.
    outer_active: bool,
    /// The text here counts.
    pub(super) active: bool,
    /// One of its branches counted or was passed over with all the rest.
    taken: bool,
    else_span: Option<Span>,
}

impl Conditional {
    /// The complaint if the file ends first.
    pub(super) fn unterminated(&self) -> Diagnostic {
        Diagnostic::new(Code::UnbalancedConditional, self.span, "this conditional does not end")
            .label("no `#endif` follows")
    }
}

impl Preprocessor<'_> {
    /// Acts on the line that starts with `hash`.
    pub(super) fn directive(&mut self, hash: RawToken) {
        let skipping = self
            .files
            .last()
            .and_then(|file| file.conditionals.last())
            .is_some_and(|conditional| !conditional.active);
        let name = self.next_in_line();
        let RawKind::Ident(symbol) = name.kind else {
            if name.kind != RawKind::Newline && name.kind != RawKind::Eof {
                let mut line = vec![name];
                line.extend(self.rest_of_line());
                if !skipping {
                    self.line_marker(&line);
                }
            }
            return;
        };
        let span = hash.span.to(name.span);
        let directive = self.interner.text(symbol).to_owned();
        if directive == "include" && !skipping {
            self.include_line(hash, name);
            return;
        }
        let line = self.rest_of_line();
        match directive.as_str() {
            "if" | "ifdef" | "ifndef" => {
                let holds = !skipping && self.condition(&directive, span, line);
                if let Some(file) = self.files.last_mut() {
                    file.conditionals.push(Conditional {
                        span,
                        outer_active: !skipping,
                        active: holds,
                        taken: holds,
                        else_span: None,
                    });
                }
            }
            "elif" => self.elif(span, line),
            "else" => self.else_(span, &line),
            "endif" => self.endif(span, &line),
            _ if skipping => {}
            "define" => self.define(&line, span),
            "undef" => {
                if let Some(name) = self.name_in_line("#undef", span, &line) {
                    self.macros.undefine(name);
                }
            }
            "error" | "warning" => {
                let text = spell(&line, &self.interner);
                let message = format!("#{directive} {text}");
                let end = line.last().map_or(span, |token| token.span);
                self.report(if directive == "error" {
                    Diagnostic::new(Code::ErrorDirective, span.to(end), message)
                } else {
                    Diagnostic::new(Code::WarningDirective, span.to(end), message)
                });
            }
            "line" => {
                let line = self.expand_tokens(line);
                self.line_marker(&line);
            }
            "pragma" => {
                if spell(&line, &self.interner) == "once" {
                    self.include_once();
                }
            }
            "ident" | "sccs" => {}
            _ => {
                let message = format!("`#{directive}` is no directive of the preprocessor");
                let problem = Diagnostic::new(Code::NoDirective, span, message);
                self.report(match nearest(&directive, DIRECTIVES) {
                    Some(meant) => problem.help(format!("did you mean `#{meant}`?")),
                    None => problem,
                });
            }
        }
    }

    fn next_in_line(&mut self) -> RawToken {
        let Some(file) = self.files.last_mut() else {
            return self.end;
        };
        let text = &self.source.file(file.lexer.file()).text;
        file.lexer.next(text, &mut self.interner)
    }

    fn rest_of_line(&mut self) -> Vec<RawToken> {
        let mut line = Vec::new();
        loop {
            let token = self.next_in_line();
            if matches!(token.kind, RawKind::Newline | RawKind::Eof) {
                return line;
            }
            line.push(RawToken { after_newline: false, ..token });
        }
    }

    fn nothing_after(&mut self, directive: &str, line: &[RawToken]) {
        if let (Some(first), Some(last)) = (line.first(), line.last()) {
            let message = format!("text after `{directive}` has no effect");
            self.report(
                Diagnostic::new(Code::TextAfterDirective, first.span.to(last.span), message)
                    .help("make it a comment"),
            );
        }
    }

    /// The one name a line must hold.
    fn name_in_line(&mut self, directive: &str, span: Span, line: &[RawToken]) -> Option<Symbol> {
        let Some((name, rest)) = line.split_first() else {
            self.report(Diagnostic::new(
                Code::BadMacroDefinition,
                span,
                format!("`{directive}` without a name"),
            ));
            return None;
        };
        match macro_name(name, &self.interner) {
            Ok(name) => {
                self.nothing_after(directive, rest);
                Some(name)
            }
            Err(problem) => {
                self.report(problem);
                None
            }
        }
    }

    fn define(&mut self, line: &[RawToken], span: Span) {
        let definition = match Macro::parse(line, span, &mut self.interner) {
            Ok(definition) => definition,
            Err(problem) => {
                self.report(problem);
                return;
            }
        };
        if let Some(old) = self.macros.get(definition.name)
            && !old.is_same(&definition)
        {
            let message = format!(
                "the macro `{}` is defined again, as something else",
                self.interner.text(definition.name)
            );
            let at = definition.defined_at.unwrap_or(span);
            let mut problem = Diagnostic::new(Code::MacroRedefined, at, message)
                .label("this one counts from here on");
            problem = match old.defined_at {
                Some(first) => problem.related(first, "defined before here"),
                None => problem.note("it is a predefined macro"),
            };
            self.report(problem);
        }
        self.macros.define(definition);
    }

    /// Whether the text after an `#if`, `#ifdef` or `#ifndef` counts.
    fn condition(&mut self, directive: &str, span: Span, line: Vec<RawToken>) -> bool {
        if directive == "if" {
            return self.if_expression("#if", span, line);
        }
        let name = self.name_in_line(&format!("#{directive}"), span, &line);
        name.is_some_and(|name| self.macros.is_defined(name) == (directive == "ifdef"))
    }

    fn if_expression(&mut self, directive: &str, span: Span, line: Vec<RawToken>) -> bool {
        if line.is_empty() {
            let message = format!("`{directive}` without a condition");
            self.report(Diagnostic::new(Code::BadCondition, span, message));
            return false;
        }
        let whole = span.to(line[line.len() - 1].span);
        let value = self
            .expand_condition(line)
            .and_then(|line| condition::evaluate(&line, whole, &self.interner));
        value.unwrap_or_else(|problem| {
            self.report(problem);
            false
        })
    }

    fn elif(&mut self, span: Span, line: Vec<RawToken>) {
        let Some(conditional) = self.conditional("#elif", span) else {
            return;
        };
        conditional.active = false;
        if !conditional.outer_active || conditional.taken {
            return;
        }
        let holds = self.if_expression("#elif", span, line);
        if let Some(conditional) = self.conditional("#elif", span) {
            conditional.active = holds;
            conditional.taken = holds;
        }
    }

    fn else_(&mut self, span: Span, line: &[RawToken]) {
        if let Some(conditional) = self.conditional("#else", span) {
            conditional.active = conditional.outer_active && !conditional.taken;
            conditional.taken = true;
            conditional.else_span = Some(span);
            if conditional.outer_active {
                self.nothing_after("#else", line);
            }
        }
    }

    fn endif(&mut self, span: Span, line: &[RawToken]) {
        let open = self.files.last_mut().map(|file| &mut file.conditionals);
        match open.and_then(Vec::pop) {
            Some(conditional) if conditional.outer_active => self.nothing_after("#endif", line),
            Some(_) => {}
            None => self.report(Diagnostic::new(
                Code::UnbalancedConditional,
                span,
                "`#endif` without `#if`",
            )),
        }
    }

    /// The innermost conditional, if another branch of it can start here.
    fn conditional(&mut self, directive: &str, span: Span) -> Option<&mut Conditional> {
        let found = self.files.last().and_then(|file| file.conditionals.last());
        let problem = match found {
            None => Some(Diagnostic::new(
                Code::UnbalancedConditional,
                span,
                format!("`{directive}` without `#if`"),
            )),
            Some(conditional) => conditional.else_span.map(|before| {
                Diagnostic::new(
                    Code::UnbalancedConditional,
                    span,
                    format!("`{directive}` after `#else`"),
                )
                .related(before, "the `#else`")
                .related(conditional.span, "the conditional")
            }),
        };
        if let Some(problem) = problem {
            self.report(problem);
            return None;
        }
        self.files.last_mut()?.conditionals.last_mut()
    }

    fn include_line(&mut self, hash: RawToken, name: RawToken) {
        let header = self.files.last_mut().and_then(|file| {
            let text = &self.source.file(file.lexer.file()).text;
            file.lexer.header_name(text)
        });
        let line = self.rest_of_line();
        let span = hash.span.to(name.span);
        if self.words.in_c_code() {
            // C wants its own headers; they are no part of the model.
            let header_end = header.as_ref().map_or(span, |header| header.span);
            let end = line.last().map_or(header_end, |token| token.span);
            self.words.push_c_line(self.source.text(span.to(header_end).to(end)));
            return;
        }
        let header = match header {
            Some(header) => {
                self.nothing_after("#include", &line);
                header
            }
            None => {
                let line = self.expand_tokens(line);
                let Some(header) = self.header_from_tokens(&line, span) else {
                    self.report(
                        Diagnostic::new(Code::BadInclude, span, "`#include` without a file name")
                            .help("write `#include \"file\"` or `#include <file>`"),
                    );
                    return;
                };
                header
            }
        };
        self.include(&header);
    }

    /// The file name of an `#include` whose argument is a macro.
    fn header_from_tokens(&self, line: &[RawToken], span: Span) -> Option<HeaderName> {
        let (first, rest) = line.split_first()?;
        match first.kind {
            RawKind::String(symbol) => Some(HeaderName {
                name: self.interner.text(symbol).trim_matches('"').to_owned(),
                angled: false,
                span,
            }),
            RawKind::Punct(Punct::Lt) => {
                let close = rest.iter().position(|token| token.kind.is(Punct::Gt))?;
                Some(HeaderName { name: spell(&rest[..close], &self.interner), angled: true, span })
            }
            _ => None,
        }
    }

    /// `#line 12 "file"` and `# 12 "file"`: the line after this one has that number.
    fn line_marker(&mut self, line: &[RawToken]) {
        let Some(first) = line.first() else {
            return;
        };
        let number = match first.kind {
            RawKind::Number(symbol) => self.interner.text(symbol).parse::<i32>().ok(),
            _ => None,
        };
        let Some(number) = number else {
            let text = first.kind.text(&self.interner);
            let message = format!("expected a directive or a line number after `#`, not `{text}`");
            self.report(Diagnostic::new(Code::NoDirective, first.span, message));
            return;
        };
        let name = match line.get(1).map(|token| token.kind) {
            Some(RawKind::String(symbol)) => {
                Some(self.interner.text(symbol).trim_matches('"').to_owned())
            }
            _ => None,
        };
        let mut span = first.span;
        while let Some(expansion) = self.source.expansion(span.expansion) {
            span = expansion.call;
        }
        let next_line = i64::from(self.source.line(span)) + 1;
        if let Some(file) = self.files.last_mut() {
            file.line_shift = i64::from(number) - next_line;
            if name.is_some() {
                file.presumed_name = name;
            }
        }
    }
}
