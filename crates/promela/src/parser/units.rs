//! What stands at the top level.

use super::errors::Opener;
use super::keywords::{is_type, starts_unit};
use super::{Parser, Result, fail};
use crate::ast::{
    Body, CUnit, CUnitKind, Decl, Expr, Init, Initializer, Never, Proctype, Trace, Typedef, Unit,
};
use crate::source::Span;
use crate::token::{Punct, TokenKind};
use crate::{Code, Diagnostic};

impl Parser<'_> {
    /// The whole text.
    pub(super) fn units(&mut self) -> Vec<Unit> {
        let mut units = Vec::new();
        loop {
            self.skip_separators();
            if self.at_end() {
                return units;
            }
            if self.errors > 0 && self.at(Punct::RBrace) {
                // A mistake before it has most likely taken its `{` away.
                self.bump();
                continue;
            }
            let from = self.stream.position;
            match self.unit() {
                Ok(unit) => units.push(unit),
                Err(problem) => {
                    self.report(*problem);
                    (self.in_body, self.in_formula) = (false, false);
                    self.synchronize_units(from);
                }
            }
        }
    }

    fn unit(&mut self) -> Result<Unit> {
        Ok(match self.word() {
            "active" | "proctype" | "D_proctype" => Unit::Proctype(self.proctype()?),
            "init" => Unit::Init(self.init()?),
            "never" => Unit::Never(self.never()?),
            "trace" | "notrace" => Unit::Trace(self.trace()?),
            "ltl" => Unit::Ltl(self.ltl()?),
            "typedef" => Unit::Typedef(self.typedef()?),
            "inline" => Unit::Inline(self.inline()?),
            "c_code" | "c_decl" | "c_state" | "c_track" => Unit::C(self.c_unit()?),
            "mtype" if self.at_mtype_names() => Unit::Mtype(self.mtype_names()?),
            _ if self.at_declaration() => self.declaration_unit()?,
            _ => return fail(self.not_a_unit()),
        })
    }

    /// A declaration of variables; `hidden mtype = { ... }` is told apart here.
    fn declaration_unit(&mut self) -> Result<Unit> {
        if !is_type(self.word()) && self.nth_word(1) == "mtype" {
            let prefix = self.span();
            let word = self.word().to_owned();
            if self.mtype_names_follow(2) {
                self.bump();
                let names = self.mtype_names()?;
                self.report(
                    Diagnostic::new(
                        Code::BadMtypeDeclaration,
                        prefix,
                        format!("`{word}` cannot stand before names of values"),
                    )
                    .label("only variables have it"),
                );
                return Ok(Unit::Mtype(names));
            }
        }
        Ok(Unit::Decl(self.declaration()?))
    }

    fn proctype(&mut self) -> Result<Proctype> {
        let start = self.place();
        let active = if self.eat_word("active") {
            let count = if self.at(Punct::LBracket) {
                self.bump();
                let count = self.in_parens(Self::expression)?;
                self.expect(Punct::RBracket)?;
                Some(count)
            } else {
                None
            };
            Some(count)
        } else {
            None
        };
        let deterministic = self.at_word("D_proctype");
        if !deterministic && !self.at_word("proctype") {
            return fail(self.unexpected("`proctype`"));
        }
        self.bump();
        let name = self.name("the name of a process type")?;
        self.declared.proctypes.insert(name.text.clone());
        if self.at(Punct::LBrace) {
            let problem =
                self.unexpected("`(`").help(format!("write `proctype {}() {{`", name.text));
            self.report(problem);
        }
        let params = if self.at(Punct::LBrace) {
            Vec::new()
        } else {
            self.parameters().unwrap_or_else(|problem| {
                self.report(*problem);
                self.skip_to_body();
                Vec::new()
            })
        };
        let priority = self.priority()?;
        let provided = if self.eat_word("provided") {
            self.expect(Punct::LParen)?;
            let condition = self.in_parens(Self::full_expression)?;
            self.expect(Punct::RParen)?;
            Some(condition)
        } else {
            None
        };
        let body = self.body()?;
        Ok(Proctype {
            name,
            active,
            deterministic,
            params,
            priority,
            provided,
            body,
            span: self.since(start),
        })
    }

    /// `(byte a, b; chan c)`
    fn parameters(&mut self) -> Result<Vec<Decl>> {
        self.expect(Punct::LParen)?;
        let params = self.in_parens(|p| {
            let mut params = Vec::new();
            while !p.at(Punct::RParen) {
                if !p.at_declaration() {
                    return fail(if p.nth_is_name(0) && p.nth_is_name(1) {
                        p.unknown_type(p.word())
                    } else {
                        p.unexpected("the type of a parameter")
                    });
                }
                let param = p.declaration()?;
                for var in &param.vars {
                    if let Some(init) = &var.init {
                        p.report(
                            Diagnostic::new(
                                Code::BadParameter,
                                initializer_span(init, var.span),
                                format!(
                                    "the parameter `{}` cannot have an initial value",
                                    var.name.text
                                ),
                            )
                            .label("its value comes from the `run`"),
                        );
                    }
                }
                params.push(param);
                if !p.eat(Punct::Semi) {
                    break;
                }
            }
            Ok(params)
        })?;
        if !self.at(Punct::RParen) {
            return fail(self.unexpected("`;` or `)`"));
        }
        self.bump();
        Ok(params)
    }

    /// Goes on behind a mistake among parameters: to the body.
    fn skip_to_body(&mut self) {
        while !matches!(
            self.current().kind,
            TokenKind::Eof | TokenKind::Punct(Punct::LBrace | Punct::RBrace)
        ) && !starts_unit(self.word())
            && !matches!(self.word(), "priority" | "provided")
        {
            self.bump();
        }
    }

    /// `priority n`
    pub(super) fn priority(&mut self) -> Result<Option<Expr>> {
        if !self.eat_word("priority") {
            return Ok(None);
        }
        if self.nth_is_name(0)
            || matches!(self.current().kind, TokenKind::Number(_))
            || self.at(Punct::LParen)
        {
            Ok(Some(*self.primary()?.expr))
        } else {
            fail(self.unexpected("a number"))
        }
    }

    fn init(&mut self) -> Result<Init> {
        let span = self.bump().span;
        if self.at(Punct::LParen) {
            return fail(self.unexpected("`{`").help("`init` has no parameters"));
        }
        let priority = self.priority()?;
        let body = self.body()?;
        Ok(Init { priority, body, span })
    }

    fn never(&mut self) -> Result<Never> {
        let span = self.bump().span;
        let name = if self.at(Punct::LBrace) {
            None
        } else {
            Some(self.name("the name of the claim or `{`")?)
        };
        let body = self.body()?;
        Ok(Never { name, body, span })
    }

    fn trace(&mut self) -> Result<Trace> {
        let negated = self.at_word("notrace");
        let span = self.bump().span;
        let body = self.body()?;
        Ok(Trace { negated, body, span })
    }

    /// The braces of a process or claim.
    fn body(&mut self) -> Result<Body> {
        let open = self.expect(Punct::LBrace)?;
        self.in_body = true;
        let opener = Opener { word: "{", span: open };
        let stmts = self.block_contents(opener);
        self.in_body = false;
        Ok(Body { stmts: stmts?, end: self.previous_place() })
    }

    fn typedef(&mut self) -> Result<Typedef> {
        let start = self.place();
        self.bump();
        let name = self.name("the name of the type")?;
        self.declared.typedefs.insert(name.text.clone());
        let open = self.expect(Punct::LBrace)?;
        self.in_body = true;
        let fields = self.fields(open, &name.text);
        self.in_body = false;
        Ok(Typedef { name, fields: fields?, span: self.since(start) })
    }

    fn fields(&mut self, open: Span, typedef: &str) -> Result<Vec<Decl>> {
        let mut fields = Vec::new();
        self.skip_separators();
        while !self.at(Punct::RBrace) {
            if self.at_end() {
                self.report_unclosed(Opener { word: "{", span: open });
                return Ok(fields);
            }
            if !self.at_declaration() {
                return fail(if self.nth_is_name(0) && self.nth_is_name(1) {
                    self.unknown_type(self.word())
                } else {
                    self.unexpected(&format!("the type of a field of `{typedef}`"))
                });
            }
            fields.push(self.declaration()?);
            if !self.skip_separators() && !self.at(Punct::RBrace) && !self.separator_implied() {
                return fail(self.unexpected("`;` or `}`"));
            }
        }
        let close = self.bump().span;
        if fields.is_empty() {
            self.report(
                Diagnostic::new(
                    Code::EmptyRecord,
                    close,
                    format!("the type `{typedef}` has no fields"),
                )
                .label("expected a field before this"),
            );
        }
        Ok(fields)
    }

    fn c_unit(&mut self) -> Result<CUnit> {
        let start = self.place();
        let (kind, word) = match self.word() {
            "c_decl" => (CUnitKind::Decl, "c_decl"),
            "c_code" => (CUnitKind::Code, "c_code"),
            "c_state" => (CUnitKind::State, "c_state"),
            _ => (CUnitKind::Track, "c_track"),
        };
        let text = match kind {
            CUnitKind::Decl | CUnitKind::Code => vec![self.c_text()?.code],
            CUnitKind::State | CUnitKind::Track => {
                self.bump();
                let mut strings = Vec::new();
                while let TokenKind::String(text) = &self.current().kind {
                    strings.push(text.clone());
                    self.bump();
                }
                if !(2..=3).contains(&strings.len()) {
                    return fail(
                        self.unexpected("a string")
                            .note(format!("`{word}` takes two or three strings")),
                    );
                }
                strings
            }
        };
        Ok(CUnit { kind, text, span: self.since(start) })
    }
}

/// Where an initializer stands, as well as the tree knows.
fn initializer_span(init: &Initializer, whole: Span) -> Span {
    match init {
        Initializer::Expr(value) => value.span,
        Initializer::Channel { span, .. } => *span,
        Initializer::List(_) => whole,
    }
}
