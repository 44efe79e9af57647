//! Statements, sequences of them, and the choices and loops made of those.

use super::errors::Opener;
use super::keywords::{is_type, starts_unit};
use super::{Parser, Result, STATEMENT, fail};
use crate::ast::{AssignOp, Choice, Expr, ExprKind, ForRange, Label, Stmt, StmtKind, VarRef};
use crate::source::Span;
use crate::token::{Punct, TokenKind};
use crate::{Code, Diagnostic};

impl Parser<'_> {
    /// The statements of a block and its closing brace, the opening one having been read.
    pub(super) fn block_contents(&mut self, opener: Opener) -> Result<Vec<Stmt>> {
        self.nested(STATEMENT, |p| {
            p.openers.push(opener);
            let from = p.stream.position;
            let stmts = p.sequence();
            p.openers.pop();
            if p.at(Punct::RBrace) {
                let is_empty = p.stream.position == from;
                p.bump();
                if is_empty {
                    p.report(
                        Diagnostic::new(
                            Code::NothingToDo,
                            p.previous_place(),
                            "this block is empty",
                        )
                        .label("expected a statement before this")
                        .related(opener.span, "the block begins here")
                        .help("write `skip` to do nothing"),
                    );
                }
            } else {
                p.report_unclosed(opener);
            }
            Ok(stmts)
        })
    }

    /// `{ ... }`
    fn block(&mut self) -> Result<Vec<Stmt>> {
        let span = self.expect(Punct::LBrace)?;
        self.block_contents(Opener { word: "{", span })
    }

    /// Statements up to something that must end them.
    fn sequence(&mut self) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        if self.at(Punct::Semi) || self.at(Punct::Arrow) {
            let problem = self.not_a_statement();
            self.report(problem);
            self.skip_separators();
        }
        loop {
            if self.at_sequence_end() {
                if !self.pass_stray_word() {
                    return stmts;
                }
                self.skip_separators();
                continue;
            }
            let from = self.stream.position;
            match self.step(&mut stmts) {
                Ok(()) => self.separator(from),
                Err(problem) => self.skip_mistake(*problem, from),
            }
        }
    }

    /// Goes on behind a statement that cannot be understood.
    #[cold]
    fn skip_mistake(&mut self, problem: Diagnostic, from: usize) {
        self.report(problem);
        self.synchronize(from);
        if self.stream.position == from && !self.at_sequence_end() {
            self.bump();
        }
        self.skip_separators();
    }

    /// Passes what separates two statements, or says that it is missing.
    fn separator(&mut self, from: usize) {
        if self.skip_separators() || self.at_sequence_end() || self.separator_implied() {
            return;
        }
        let (problem, next_is_statement) = self.missing_separator();
        self.report(problem);
        if !next_is_statement {
            self.synchronize(from);
            self.skip_separators();
        }
    }

    fn at_sequence_end(&self) -> bool {
        match &self.current().kind {
            TokenKind::Eof | TokenKind::Punct(Punct::RBrace | Punct::ColonColon) => true,
            TokenKind::Ident(word) => matches!(word.as_str(), "fi" | "od") || starts_unit(word),
            _ => false,
        }
    }

    /// Passes and reports `::`, `fi` or `od` if nothing is open that it could belong to.
    fn pass_stray_word(&mut self) -> bool {
        let is_open = |words: &[&str]| self.openers.iter().any(|o| words.contains(&o.word));
        let stray = match &self.current().kind {
            TokenKind::Punct(Punct::ColonColon) => !is_open(&["if", "do"]),
            TokenKind::Ident(word) if matches!(word.as_str(), "fi" | "od") => {
                !is_open(&["if", "do"])
            }
            _ => false,
        };
        if stray {
            let found = self.describe(self.current());
            let problem = Diagnostic::new(
                Code::ClosesNothing,
                self.span(),
                format!("{found} outside of any `if` or `do`"),
            )
            .label("nothing that it belongs to is open here");
            self.report(problem);
            self.bump();
        }
        stray
    }

    /// A statement or a declaration, added to a sequence.
    fn step(&mut self, stmts: &mut Vec<Stmt>) -> Result<()> {
        if self.at_declaration() {
            stmts.push(self.local_declaration()?);
            return Ok(());
        }
        if self.at_word("xr") || self.at_word("xs") {
            stmts.push(self.exclusive()?);
            return Ok(());
        }
        let start = self.place();
        stmts.push(self.statement()?);
        if self.at_word("unless") {
            self.unless(stmts, start)?;
        }
        Ok(())
    }

    /// `xr c, d`, `xs c, d`
    #[inline(never)]
    fn exclusive(&mut self) -> Result<Stmt> {
        let start = self.place();
        let send = self.at_word("xs");
        self.bump();
        let mut channels = vec![self.variable()?.0];
        while self.eat(Punct::Comma) {
            channels.push(self.variable()?.0);
        }
        Ok(self.stmt(StmtKind::Exclusive { send, channels }, start))
    }

    /// `unless` and the escape behind the last statement.
    #[inline(never)]
    fn unless(&mut self, stmts: &mut Vec<Stmt>, start: Span) -> Result<()> {
        self.bump();
        let escape = self.nested(STATEMENT, Self::statement)?;
        if self.at_word("unless") {
            return fail(
                Diagnostic::new(Code::ChainedUnless, self.span(), "`unless` cannot be chained")
                    .label("the second `unless` of this statement")
                    .help("put braces around the first: `{ a unless b } unless c`"),
            );
        }
        if let Some(normal) = stmts.pop() {
            let kind = StmtKind::Unless(Box::new(normal), Box::new(escape));
            stmts.push(self.stmt(kind, start));
        }
        Ok(())
    }

    /// Makes a statement of what was read since `start`.
    fn stmt(&self, kind: StmtKind, start: Span) -> Stmt {
        Stmt { labels: Vec::new(), kind, span: self.since(start) }
    }

    #[inline(never)]
    fn local_declaration(&mut self) -> Result<Stmt> {
        let start = self.place();
        if self.at_mtype_names() {
            return fail(
                Diagnostic::new(
                    Code::BadMtypeDeclaration,
                    self.span(),
                    "names of mtype values must be declared outside of processes",
                )
                .help("move the declaration to the top of the model"),
            );
        }
        let decl = self.declaration()?;
        Ok(self.stmt(StmtKind::Decl(decl), start))
    }

    /// A statement with its labels.
    fn statement(&mut self) -> Result<Stmt> {
        let mut labels = Vec::new();
        while self.at_label() {
            let name = self.any_word_as_name();
            self.bump();
            labels.push(Label { name });
        }
        if let Some(label) = labels.last() {
            if self.at_declaration() || self.at_word("xr") || self.at_word("xs") {
                return self.labelled_declaration(label.name.span);
            }
            let nothing_follows = self.at_sequence_end()
                || self.at(Punct::Semi)
                || self.at(Punct::Arrow)
                || self.at_word("unless");
            if nothing_follows {
                let mut stmt = self.stmt(StmtKind::LabelOnly, label.name.span);
                stmt.labels = labels;
                return Ok(stmt);
            }
        }
        let start = self.place();
        let kind = self.unlabelled()?;
        let mut stmt = self.stmt(kind, start);
        stmt.labels = labels;
        Ok(stmt)
    }

    #[cold]
    fn labelled_declaration(&self, label: Span) -> Result<Stmt> {
        fail(
            Diagnostic::new(
                Code::MisplacedLabel,
                self.span(),
                "a label cannot stand before a declaration",
            )
            .related(label, "the label")
            .help("move the declaration before the label"),
        )
    }

    /// Whether `name :` stands here and is a label, not the variable of another process.
    fn at_label(&self) -> bool {
        self.nth_is_name(0) && self.nth_is(1, Punct::Colon) && !self.is_proctype(self.word())
    }

    fn unlabelled(&mut self) -> Result<StmtKind> {
        match &self.current().kind {
            TokenKind::Punct(Punct::LBrace) => return Ok(StmtKind::Block(self.block()?)),
            TokenKind::Punct(
                Punct::LParen | Punct::Not | Punct::BangBang | Punct::Minus | Punct::Tilde,
            )
            | TokenKind::Number(_) => return self.condition(),
            TokenKind::Ident(_) => {}
            _ => return fail(self.not_a_statement()),
        }
        match self.word() {
            "if" => self.choice("if").map(StmtKind::If),
            "do" => {
                self.loops += 1;
                let options = self.choice("do");
                self.loops -= 1;
                options.map(StmtKind::Do)
            }
            "atomic" => {
                self.bump();
                Ok(StmtKind::Atomic(self.block()?))
            }
            "d_step" => {
                self.bump();
                Ok(StmtKind::DStep(self.block()?))
            }
            "for" => self.for_loop(),
            "select" => self.select(),
            "assert" => {
                self.bump();
                Ok(StmtKind::Assert(self.full_expression()?))
            }
            "printf" => self.printf(),
            "printm" => self.printm(),
            "set_priority" => self.set_priority(),
            "goto" => {
                self.bump();
                Ok(StmtKind::Goto(self.name("a label")?))
            }
            "break" => {
                let span = self.bump().span;
                if self.loops == 0 {
                    self.report(
                        Diagnostic::new(Code::BreakOutsideLoop, span, "`break` outside of a loop")
                            .label("no `do` or `for` around this"),
                    );
                }
                Ok(StmtKind::Break)
            }
            "else" => {
                self.check_else();
                self.bump();
                Ok(StmtKind::Else)
            }
            "c_code" | "c_decl" => Ok(StmtKind::CCode(self.c_text()?)),
            "return" => self.return_value(),
            "while" if self.nth_is(1, Punct::LParen) => fail(self.c_statement(
                "there is no `while` in Promela",
                "write `do :: condition -> ... :: else -> break od`",
            )),
            "switch" if self.nth_is(1, Punct::LParen) => fail(self.c_statement(
                "there is no `switch` in Promela",
                "write `if :: x == 1 -> ... :: x == 2 -> ... :: else -> ... fi`",
            )),
            "run" | "timeout" | "np_" | "skip" | "true" | "false" | "full" | "empty" | "nfull"
            | "nempty" | "len" | "enabled" | "pc_value" | "get_priority" | "c_expr" => {
                self.condition()
            }
            word if self.is_reserved(word) => fail(self.not_a_statement()),
            _ => self.named(),
        }
    }

    /// `else` says something at the beginning of an option, or of a block or behind a label there.
    fn check_else(&mut self) {
        let begins = match &self.stream.previous {
            Some(previous) => matches!(
                previous.token.kind,
                TokenKind::Punct(Punct::ColonColon | Punct::LBrace | Punct::Colon)
            ),
            None => true,
        };
        if !begins {
            self.report(
                Diagnostic::new(
                    Code::StrayElse,
                    self.span(),
                    "this `else` does not begin an option",
                )
                .label("always executable here")
                .help("an option begins with `::`: write `:: else -> ...`"),
            );
        }
    }

    /// An expression as a statement.
    fn condition(&mut self) -> Result<StmtKind> {
        let expr = self.full_expression()?;
        if self.at(Punct::Assign) && matches!(expr.kind, ExprKind::Number(_)) {
            return fail(
                Diagnostic::new(
                    Code::AssignedConstant,
                    expr.span,
                    "a constant cannot be assigned to",
                )
                .label("not a variable"),
            );
        }
        Ok(StmtKind::Expr(expr))
    }

    /// A statement that begins with a name.
    fn named(&mut self) -> Result<StmtKind> {
        if self.nth_is(1, Punct::LParen) && !self.next_begins_line() || self.at_inline_call() {
            let name = self.any_word_as_name();
            return self.call(name, None);
        }
        let type_before_name =
            is_type(self.nth_word(1)) || self.nth_is_name(1) && self.nth_begins_declarator_end(2);
        if type_before_name && !self.next_begins_line() {
            return fail(self.unknown_type(self.word()));
        }
        let (var, height) = self.variable()?;
        if self.line_ends_statement() && self.at(Punct::Not) {
            return Ok(StmtKind::Expr(self.full_expression_from(var, height)?));
        }
        let polls = self.nth_is(1, Punct::LBracket);
        match self.current().kind {
            TokenKind::Punct(Punct::Assign) => {
                self.bump();
                self.assigned(var)
            }
            TokenKind::Punct(Punct::PlusPlus) => {
                self.bump();
                Ok(StmtKind::Assign(var, AssignOp::Increment))
            }
            TokenKind::Punct(Punct::MinusMinus) => {
                self.bump();
                Ok(StmtKind::Assign(var, AssignOp::Decrement))
            }
            TokenKind::Punct(Punct::Not) => self.send(var, false),
            TokenKind::Punct(Punct::BangBang) => self.send(var, true),
            TokenKind::Punct(Punct::Question) if !polls => self.receive(var, false),
            TokenKind::Punct(Punct::QuestionQuestion) if !polls => self.receive(var, true),
            _ => Ok(StmtKind::Expr(self.full_expression_from(var, height)?)),
        }
    }

    fn next_begins_line(&self) -> bool {
        self.in_body && self.parens == 0 && self.nth(1).after_newline
    }

    /// Whether the token `ahead` is one that follows the name of a variable being declared.
    fn nth_begins_declarator_end(&self, ahead: usize) -> bool {
        let token = self.nth(ahead);
        token.after_newline
            || matches!(
                token.kind,
                TokenKind::Punct(
                    Punct::Semi | Punct::Comma | Punct::Assign | Punct::LBracket | Punct::RBrace
                ) | TokenKind::Eof
            )
    }

    /// The value of an assignment: an expression, or a call of an inline that returns one.
    fn assigned(&mut self, var: VarRef) -> Result<StmtKind> {
        if self.nth_is_name(0) && self.nth_is(1, Punct::LParen) && !self.next_begins_line()
            || self.at_inline_call()
        {
            let name = self.any_word_as_name();
            return self.call(name, Some(var));
        }
        let value = self.full_expression()?;
        Ok(StmtKind::Assign(var, AssignOp::Set(value)))
    }

    /// `c!a,b`, `c!a(b)`
    fn send(&mut self, channel: VarRef, sorted: bool) -> Result<StmtKind> {
        self.bump();
        let mut args = vec![self.expression()?];
        if self.at(Punct::LParen) && !self.line_ends_statement() {
            self.bump();
            args.extend(self.in_parens(Self::expressions)?);
            self.expect(Punct::RParen)?;
        } else if self.eat(Punct::Comma) {
            args.extend(self.expressions()?);
        }
        Ok(StmtKind::Send { channel, sorted, args })
    }

    /// `c?a,b`, `c?<a,b>`
    fn receive(&mut self, channel: VarRef, random: bool) -> Result<StmtKind> {
        self.bump();
        let keep = self.at(Punct::Lt);
        if keep {
            self.bump();
        }
        let args = self.receive_args()?;
        if keep {
            self.expect(Punct::Gt)?;
        }
        Ok(StmtKind::Receive { channel, random, keep, args })
    }

    fn printf(&mut self) -> Result<StmtKind> {
        self.bump();
        self.expect(Punct::LParen)?;
        let TokenKind::String(format) = &self.current().kind else {
            return fail(self.unexpected("a string"));
        };
        let format = format.clone();
        self.bump();
        let args =
            self.in_parens(|p| if p.eat(Punct::Comma) { p.expressions() } else { Ok(Vec::new()) })?;
        if matches!(self.current().kind, TokenKind::String(_)) {
            return fail(self.unexpected("`,` or `)`").help("write it as one string"));
        }
        self.expect(Punct::RParen)?;
        Ok(StmtKind::Printf { format, args })
    }

    fn printm(&mut self) -> Result<StmtKind> {
        self.bump();
        self.expect(Punct::LParen)?;
        let value = self.in_parens(Self::expression)?;
        self.expect(Punct::RParen)?;
        Ok(StmtKind::Printm(value))
    }

    fn set_priority(&mut self) -> Result<StmtKind> {
        self.bump();
        self.expect(Punct::LParen)?;
        let (process, priority) = self.in_parens(|p| {
            let process = p.expression()?;
            p.expect(Punct::Comma)?;
            Ok((process, p.expression()?))
        })?;
        self.expect(Punct::RParen)?;
        Ok(StmtKind::SetPriority(process, priority))
    }

    /// `return e`: assigns to what the innermost inline call is assigned to.
    fn return_value(&mut self) -> Result<StmtKind> {
        let span = self.bump().span;
        let Some(call) = self.calls.last() else {
            return fail(
                Diagnostic::new(Code::StrayReturn, span, "`return` outside of an inline")
                    .note("it gives the value of an inline: `inline f(x) { return x + 1 }`")
                    .help("a process ends at its closing brace: `goto` a label there"),
            );
        };
        let Some(result) = call.result.clone() else {
            let name = &call.definition.name.text;
            return fail(
                Diagnostic::new(
                    Code::StrayReturn,
                    span,
                    format!("the value that `{name}` returns is not used"),
                )
                .related(call.place, "the call")
                .help(format!("write `x = {name}(...)`")),
            );
        };
        let value = self.full_expression()?;
        Ok(StmtKind::Assign(result, AssignOp::Set(value)))
    }

    /// `:: ... :: ...` and the closing word.
    fn choice(&mut self, word: &'static str) -> Result<Vec<Choice>> {
        let span = self.span();
        let opener = Opener { word, span };
        if self.nth_is(1, Punct::LParen) && !self.nth(1).after_newline {
            return fail(self.c_statement(
                &format!("`{word}` is followed by options, not by a condition"),
                &format!("write `{word} :: condition -> ... :: else -> ... {}`", opener.closer()),
            ));
        }
        self.bump();
        if !self.at(Punct::ColonColon) {
            let problem =
                self.unexpected("`::`").related(span, format!("an option of this `{word}`"));
            self.report(problem);
            self.skip_to_option();
        }
        self.nested(STATEMENT, |p| {
            p.openers.push(opener);
            let options = p.options();
            p.openers.pop();
            if p.at_word(opener.closer()) {
                p.bump();
            } else {
                p.report_unclosed(opener);
            }
            Ok(options)
        })
    }

    fn options(&mut self) -> Vec<Choice> {
        let mut options: Vec<Choice> = Vec::new();
        let mut first_else = None;
        while self.at(Punct::ColonColon) {
            let start = self.place();
            let sign = self.bump().span;
            let errors = self.errors;
            let stmts = self.sequence();
            if stmts.is_empty() && self.errors == errors {
                self.report(
                    Diagnostic::new(Code::NothingToDo, sign, "this option is empty")
                        .label("expected a statement after this")
                        .help("write `skip` to do nothing"),
                );
            }
            if let Some(guard) = stmts.first() {
                if matches!(guard.kind, StmtKind::Else)
                    && let Some(first) = first_else.replace(guard.span)
                {
                    self.report(
                        Diagnostic::new(
                            Code::SecondElse,
                            guard.span,
                            "a second `else` among these options",
                        )
                        .label("never executable beside the first")
                        .related(first, "the first"),
                    );
                }
                if let Some(label) = guard.labels.first() {
                    self.report(
                        Diagnostic::new(
                            Code::LabelAtOption,
                            label.name.span,
                            format!(
                                "the label `{}` is at the beginning of an option",
                                label.name.text
                            ),
                        )
                        .label("a jump to it enters behind the choice")
                        .help("a label of the choice itself stands before its `if` or `do`"),
                    );
                }
            }
            options.push(Choice { stmts, span: self.since(start) });
        }
        options
    }

    /// `for (v : a .. b) { ... }`, `for (v in a) { ... }`
    fn for_loop(&mut self) -> Result<StmtKind> {
        let c_style = self.nth_is(1, Punct::LParen)
            && (self.nth_is(2, Punct::Semi)
                || is_type(self.nth_word(2))
                || self.nth_is(3, Punct::Assign));
        if c_style {
            return fail(self.c_statement(
                "`for` runs over a range, an array or a channel",
                "write `for (i : 0 .. 9) { ... }` or `for (i in a) { ... }`, \
                 and declare `i` before it",
            ));
        }
        self.bump();
        self.expect(Punct::LParen)?;
        let (var, range) = self.in_parens(|p| {
            let var = p.variable()?.0;
            if p.eat_word("in") {
                return Ok((var, ForRange::In(p.variable()?.0)));
            }
            if !p.at(Punct::Colon) {
                return fail(p.unexpected("`:` or `in`"));
            }
            p.bump();
            let (from, to) = p.range()?;
            Ok((var, ForRange::Numbers(from, to)))
        })?;
        self.expect(Punct::RParen)?;
        self.eat(Punct::Semi);
        self.loops += 1;
        let body = self.block();
        self.loops -= 1;
        Ok(StmtKind::For { var, range, body: body? })
    }

    /// `a .. b`
    fn range(&mut self) -> Result<(Expr, Expr)> {
        let from = self.expression()?;
        self.expect(Punct::DotDot)?;
        Ok((from, self.expression()?))
    }

    /// `select (v : a .. b)`
    fn select(&mut self) -> Result<StmtKind> {
        let start = self.place();
        self.bump();
        self.expect(Punct::LParen)?;
        let literal = self.calls.is_empty() && self.at_literal_range();
        let (var, from, to) = self.in_parens(|p| {
            let var = p.variable()?.0;
            p.expect(Punct::Colon)?;
            let (from, to) = p.range()?;
            Ok((var, from, to))
        })?;
        self.expect(Punct::RParen)?;
        if let (true, ExprKind::Number(least), ExprKind::Number(greatest)) =
            (literal, &from.kind, &to.kind)
            && least > greatest
        {
            self.report(
                Diagnostic::new(
                    Code::EmptyRange,
                    self.since(start),
                    "this `select` has nothing to choose from",
                )
                .label(format!("{least} is greater than {greatest}")),
            );
        }
        Ok(StmtKind::Select { var, from, to, literal })
    }

    /// Whether `v : 1 .. 3)` stands here as SPIN's lexer wants to see it: a name of letters and
    /// digits only, two literals, all in one line.
    fn at_literal_range(&self) -> bool {
        let is_literal = |ahead: usize| {
            let token = self.nth(ahead);
            matches!(token.kind, TokenKind::Number(_))
                && self.source.text(token.span).starts_with(|c: char| c.is_ascii_digit())
        };
        let name = self.word();
        !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric())
            && self.nth_is(1, Punct::Colon)
            && is_literal(2)
            && self.nth_is(3, Punct::DotDot)
            && is_literal(4)
            && self.nth_is(5, Punct::RParen)
            && (0..6).all(|ahead| !self.nth(ahead).after_newline)
    }

    // Recovery from statements of other languages.

    /// Says that there is no such statement, and passes its parenthesis, its block and what an
    /// `else` may add to that.
    fn c_statement(&mut self, message: &str, help: &str) -> Diagnostic {
        let span = self.span();
        self.bump();
        self.skip_group(Punct::LParen, Punct::RParen);
        if !self.at(Punct::LBrace) {
            self.skip_to_closing_word();
        }
        self.skip_group(Punct::LBrace, Punct::RBrace);
        while self.at_word("else") && (self.nth_is(1, Punct::LBrace) || self.nth_word(1) == "if") {
            self.bump();
            self.eat_word("if");
            self.skip_group(Punct::LParen, Punct::RParen);
            self.skip_group(Punct::LBrace, Punct::RBrace);
        }
        Diagnostic::new(Code::NotInPromela, span, message).help(help)
    }

    /// Passes everything from an opening sign to the closing one that belongs to it.
    fn skip_group(&mut self, open: Punct, close: Punct) {
        let mut depth = 0usize;
        while self.at(open) || depth > 0 {
            if self.at_end() || starts_unit(self.word()) {
                return;
            }
            if self.at(open) {
                depth += 1;
            } else if self.at(close) {
                depth -= 1;
            }
            self.bump();
        }
    }

    /// Passes everything up to and with the `fi` or `od` of the current block, if it has one that
    /// closes nothing in between.
    fn skip_to_closing_word(&mut self) {
        let mut open = 0usize;
        let lexemes = self.stream.lexemes.iter().map(|lexeme| &lexeme.token.kind);
        for (ahead, kind) in lexemes.enumerate() {
            match kind {
                TokenKind::Punct(Punct::LBrace) => open += 1,
                TokenKind::Punct(Punct::RBrace | Punct::ColonColon) if open == 0 => return,
                TokenKind::Punct(Punct::RBrace) => open -= 1,
                TokenKind::Ident(word) => match word.as_str() {
                    "if" | "do" => open += 1,
                    "fi" | "od" if open == 0 => {
                        for _ in 0..=ahead {
                            self.bump();
                        }
                        return;
                    }
                    "fi" | "od" => open -= 1,
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// Passes what stands between `if` or `do` and its first option.
    fn skip_to_option(&mut self) {
        while !self.at_sequence_end() {
            if self.at(Punct::LBrace) {
                self.skip_group(Punct::LBrace, Punct::RBrace);
            } else {
                self.bump();
            }
        }
    }
}
