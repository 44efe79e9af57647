//! Expressions, and the operators of temporal formulas among them.
//!
//! Binary operators are parsed by precedence climbing with the levels of `spin.y`; all associate to
//! the left. In a formula the temporal operators join in and `->` means implication.

use super::{OPERAND, PARENTHESIS, Parser, Result, fail};
use crate::ast::{
    BinaryOp, CText, ChannelTest, Expr, ExprKind, ReceiveArg, TemporalBinary, TemporalUnary,
    UnaryOp, VarPart, VarRef,
};
use crate::source::Span;
use crate::token::{Punct, TokenKind};
use crate::{Code, Diagnostic};

/// An expression, and what must be known of it to put it into a larger one.
pub(super) struct Parsed {
    pub expr: Box<Expr>,
    /// Levels of the tree.
    pub height: usize,
    /// `full(c)` or the like, not shielded by anything but `&&`, `||` and parentheses.
    probe: Option<(ChannelTest, Span)>,
    /// Whether it speaks of more than one state.
    temporal: bool,
}

impl Parsed {
    fn new(kind: ExprKind, span: Span, height: usize) -> Self {
        Self { expr: Box::new(Expr { kind, span }), height, probe: None, temporal: false }
    }
}

/// An operator between two expressions.
#[derive(Clone, Copy)]
enum Operator {
    Plain(BinaryOp),
    Temporal(TemporalBinary),
}

/// The level of the loosest operators.
const LOOSEST: u8 = 0;

impl Parser<'_> {
    /// An expression where `full(c)` and the like are not allowed.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        let parsed = self.binary(LOOSEST)?;
        self.no_probe(&parsed)?;
        Ok(*parsed.expr)
    }

    /// An expression where `full(c)` and the like are allowed: a condition or an assigned value.
    pub(super) fn full_expression(&mut self) -> Result<Expr> {
        Ok(*self.binary(LOOSEST)?.expr)
    }

    /// An expression whose first operand, a variable, has been read.
    pub(super) fn full_expression_from(&mut self, var: VarRef, height: usize) -> Result<Expr> {
        let first = self.finish_variable(var, height)?;
        Ok(*self.binary_from(first, LOOSEST)?.expr)
    }

    fn binary(&mut self, loosest: u8) -> Result<Parsed> {
        let first = self.unary()?;
        self.binary_from(first, loosest)
    }

    /// The operators behind an operand that bind at least as tightly as `loosest`.
    fn binary_from(&mut self, mut left: Parsed, loosest: u8) -> Result<Parsed> {
        while let Some((operator, level)) = self.operator() {
            if level < loosest {
                break;
            }
            if self.at(Punct::Minus) && self.line_ends_statement() {
                self.report(
                    Diagnostic::new(
                        Code::LineEndsStatement,
                        self.span(),
                        "this line is a statement of its own",
                    )
                    .label("not a subtraction: the line's end ended the statement before")
                    .help("put the `-` at the end of the line before, or parentheses around"),
                );
                break;
            }
            let sign = self.bump().span;
            let right = self.nested(OPERAND, |p| p.binary(level + 1))?;
            left = self.combine(operator, sign, left, right)?;
        }
        Ok(left)
    }

    /// The operator at the current place and how tightly it binds.
    fn operator(&self) -> Option<(Operator, u8)> {
        use Operator::{Plain, Temporal};
        let punct = match &self.current().kind {
            TokenKind::Punct(punct) => *punct,
            TokenKind::Ident(word) if self.in_formula => {
                return Some(match word.as_str() {
                    "implies" => (Temporal(TemporalBinary::Implies), 0),
                    "equivalent" => (Temporal(TemporalBinary::Equivalent), 0),
                    "U" | "until" | "stronguntil" => (Temporal(TemporalBinary::Until), 3),
                    "W" | "weakuntil" => (Temporal(TemporalBinary::WeakUntil), 3),
                    "V" | "release" => (Temporal(TemporalBinary::Release), 3),
                    _ => return None,
                });
            }
            _ => return None,
        };
        Some(match punct {
            Punct::Arrow if self.in_formula => (Temporal(TemporalBinary::Implies), 0),
            Punct::Equiv if self.in_formula => (Temporal(TemporalBinary::Equivalent), 0),
            Punct::OrOr => (Plain(BinaryOp::Or), 1),
            Punct::AndAnd => (Plain(BinaryOp::And), 2),
            Punct::Pipe => (Plain(BinaryOp::BitOr), 4),
            Punct::Caret => (Plain(BinaryOp::BitXor), 5),
            Punct::Amp => (Plain(BinaryOp::BitAnd), 6),
            Punct::Eq => (Plain(BinaryOp::Eq), 7),
            Punct::Ne => (Plain(BinaryOp::Ne), 7),
            Punct::Lt => (Plain(BinaryOp::Lt), 8),
            Punct::Gt => (Plain(BinaryOp::Gt), 8),
            Punct::Le => (Plain(BinaryOp::Le), 8),
            Punct::Ge => (Plain(BinaryOp::Ge), 8),
            Punct::Shl => (Plain(BinaryOp::Shl), 9),
            Punct::Shr => (Plain(BinaryOp::Shr), 9),
            Punct::Plus => (Plain(BinaryOp::Add), 10),
            Punct::Minus => (Plain(BinaryOp::Sub), 10),
            Punct::Star => (Plain(BinaryOp::Mul), 11),
            Punct::Slash => (Plain(BinaryOp::Div), 11),
            Punct::Percent => (Plain(BinaryOp::Rem), 11),
            _ => return None,
        })
    }

    fn combine(
        &mut self,
        operator: Operator,
        sign: Span,
        left: Parsed,
        right: Parsed,
    ) -> Result<Parsed> {
        let operator = if left.temporal || right.temporal {
            self.of_formulas(operator, sign)
        } else {
            operator
        };
        let height = left.height.max(right.height) + 1;
        self.check_depth(height)?;
        let span = self.join(left.expr.span, right.expr.span);
        let connective = matches!(operator, Operator::Plain(BinaryOp::And | BinaryOp::Or));
        let temporal_operator = matches!(operator, Operator::Temporal(_));
        for operand in [&left, &right] {
            if !connective {
                self.no_probe(operand)?;
            }
            if !connective && !temporal_operator {
                self.not_temporal(operand, sign)?;
            }
        }
        let probe = left.probe.or(right.probe);
        let temporal = temporal_operator || left.temporal || right.temporal;
        let (left, right) = (left.expr, right.expr);
        let kind = match operator {
            Operator::Plain(operator) => ExprKind::Binary(operator, left, right),
            Operator::Temporal(operator) => ExprKind::TemporalBinary(operator, left, right),
        };
        Ok(Parsed { expr: Box::new(Expr { kind, span }), height, probe, temporal })
    }

    /// The operator that is meant between formulas.
    fn of_formulas(&mut self, operator: Operator, sign: Span) -> Operator {
        let (meant, text) = match operator {
            Operator::Plain(BinaryOp::BitAnd) => (BinaryOp::And, "&"),
            Operator::Plain(BinaryOp::BitOr) => (BinaryOp::Or, "|"),
            _ => return operator,
        };
        self.report(
            Diagnostic::new(
                Code::BitOperatorInFormula,
                sign,
                format!("`{text}` between formulas is taken for `{text}{text}`"),
            )
            .help(format!("write `{text}{text}`, which binds less tightly")),
        );
        Operator::Plain(meant)
    }

    /// An operand with the operators before it.
    fn unary(&mut self) -> Result<Parsed> {
        enum Prefix {
            Plain(UnaryOp),
            Temporal(TemporalUnary),
        }
        let mut prefixes = Vec::new();
        loop {
            let span = self.span();
            let formula = self.in_formula;
            let prefix = match &self.current().kind {
                TokenKind::Punct(Punct::Not) => Prefix::Plain(UnaryOp::Not),
                TokenKind::Punct(Punct::Minus) => Prefix::Plain(UnaryOp::Neg),
                TokenKind::Punct(Punct::Tilde) => Prefix::Plain(UnaryOp::Complement),
                TokenKind::Punct(Punct::BangBang) => {
                    prefixes.push((Prefix::Plain(UnaryOp::Not), span));
                    Prefix::Plain(UnaryOp::Not)
                }
                TokenKind::Punct(Punct::Diamond) if formula => {
                    Prefix::Temporal(TemporalUnary::Eventually)
                }
                TokenKind::Punct(Punct::LBracket) if formula && self.nth_is(1, Punct::RBracket) => {
                    self.bump();
                    Prefix::Temporal(TemporalUnary::Always)
                }
                TokenKind::Ident(word) if formula => match word.as_str() {
                    "always" => Prefix::Temporal(TemporalUnary::Always),
                    "eventually" => Prefix::Temporal(TemporalUnary::Eventually),
                    "X" | "next" => Prefix::Temporal(TemporalUnary::Next),
                    _ => break,
                },
                _ => break,
            };
            self.bump();
            prefixes.push((prefix, span));
            self.check_depth(prefixes.len())?;
        }
        let mut parsed = self.primary()?;
        while let Some((prefix, sign)) = prefixes.pop() {
            self.no_probe(&parsed)?;
            let height = parsed.height + 1;
            self.check_depth(height)?;
            let span = self.join(sign, parsed.expr.span);
            let temporal = match prefix {
                Prefix::Plain(UnaryOp::Not) => parsed.temporal,
                Prefix::Plain(_) => {
                    self.not_temporal(&parsed, sign)?;
                    false
                }
                Prefix::Temporal(_) => true,
            };
            let operand = parsed.expr;
            let kind = match prefix {
                Prefix::Plain(operator) => ExprKind::Unary(operator, operand),
                Prefix::Temporal(operator) => ExprKind::TemporalUnary(operator, operand),
            };
            parsed = Parsed::new(kind, span, height);
            parsed.temporal = temporal;
        }
        Ok(parsed)
    }

    /// An operand without operators.
    pub(super) fn primary(&mut self) -> Result<Parsed> {
        let start = self.span();
        match &self.current().kind {
            TokenKind::Number(value) => {
                let value = *value;
                self.bump();
                return Ok(Parsed::new(ExprKind::Number(value), start, 1));
            }
            TokenKind::Punct(Punct::LParen) => {
                return self.nested(PARENTHESIS, Self::parenthesized);
            }
            TokenKind::Ident(_) => {}
            _ => return fail(self.unexpected("an expression")),
        }
        match self.word() {
            "true" | "skip" => {
                self.bump();
                Ok(Parsed::new(ExprKind::Number(1), start, 1))
            }
            "false" => {
                self.bump();
                Ok(Parsed::new(ExprKind::Number(0), start, 1))
            }
            "timeout" => {
                self.bump();
                Ok(Parsed::new(ExprKind::Timeout, start, 1))
            }
            "np_" => {
                self.bump();
                Ok(Parsed::new(ExprKind::NonProgress, start, 1))
            }
            "c_expr" => {
                let text = self.c_text()?;
                let span = self.join(start, self.previous_place());
                Ok(Parsed::new(ExprKind::CExpr(text), span, 1))
            }
            "run" => self.nested(PARENTHESIS, Self::run),
            "len" => {
                let (channel, height) = self.channel_argument()?;
                Ok(self.operand(ExprKind::Len(channel), start, height + 1))
            }
            "full" => self.probe(ChannelTest::Full),
            "empty" => self.probe(ChannelTest::Empty),
            "nfull" => self.probe(ChannelTest::NotFull),
            "nempty" => self.probe(ChannelTest::NotEmpty),
            "enabled" => self.function(ExprKind::Enabled),
            "pc_value" => self.function(ExprKind::PcValue),
            "get_priority" => self.function(ExprKind::GetPriority),
            word if self.is_reserved(word) => {
                let problem = self.unexpected("an expression");
                fail(match word {
                    "eval" => problem.help("`eval(...)` belongs among the fields of a receive"),
                    _ => problem,
                })
            }
            _ => {
                let (var, height) = self.variable()?;
                self.finish_variable(var, height)
            }
        }
    }

    /// An operand from `start` to what was read last.
    fn operand(&self, kind: ExprKind, start: Span, height: usize) -> Parsed {
        let end = self.stream.previous.as_ref().map_or(start, |p| p.token.span);
        Parsed::new(kind, self.join(start, end), height)
    }

    /// `(e)` or `(c -> a : b)`
    fn parenthesized(&mut self) -> Result<Parsed> {
        let open = self.bump().span;
        let mut parsed = self.in_parens(|p| {
            let first = p.binary(LOOSEST)?;
            if p.in_formula || !p.eat(Punct::Arrow) {
                return Ok(first);
            }
            let chosen = p.binary(LOOSEST)?;
            if !p.at(Punct::Colon) {
                return fail(
                    p.unexpected("`:`")
                        .related(open, "in the conditional that begins here")
                        .note("`(condition -> a : b)` is `a` if the condition holds, else `b`"),
                );
            }
            p.bump();
            let other = p.binary(LOOSEST)?;
            for part in [&first, &chosen, &other] {
                p.no_probe(part)?;
            }
            let height = first.height.max(chosen.height).max(other.height) + 1;
            p.check_depth(height)?;
            let kind = ExprKind::Conditional(first.expr, chosen.expr, other.expr);
            Ok(Parsed::new(kind, open, height))
        })?;
        if !self.at(Punct::RParen) {
            return fail(self.unexpected("`)`").related(open, "this `(` is open"));
        }
        let close = self.bump().span;
        // The span of a number tells how it was written.
        if !matches!(parsed.expr.kind, ExprKind::Number(_)) {
            parsed.expr.span = self.join(open, close);
        }
        Ok(parsed)
    }

    /// `run P(a, b) priority n`
    fn run(&mut self) -> Result<Parsed> {
        let start = self.bump().span;
        let proctype = self.name("the name of a process type")?;
        self.expect(Punct::LParen)?;
        let args = self.in_parens(|p| {
            let mut args = Vec::new();
            while !p.at(Punct::RParen) {
                let arg = p.binary(LOOSEST)?;
                p.no_probe(&arg)?;
                args.push(arg);
                if p.at(Punct::Semi) {
                    let problem = p.unexpected("`,` or `)`");
                    p.report(problem.help("arguments are separated by `,`"));
                    p.bump();
                } else if !p.eat(Punct::Comma) {
                    break;
                }
            }
            Ok(args)
        })?;
        self.expect(Punct::RParen)?;
        let priority = self.priority()?.map(Box::new);
        let height = args.iter().map(|a| a.height).max().unwrap_or(0) + 1;
        let args = args.into_iter().map(|a| *a.expr).collect();
        let kind = ExprKind::Run { proctype, args, priority };
        Ok(self.operand(kind, start, height))
    }

    /// A word and an expression in parentheses.
    fn function(&mut self, kind: impl FnOnce(Box<Expr>) -> ExprKind) -> Result<Parsed> {
        let start = self.bump().span;
        self.expect(Punct::LParen)?;
        let argument = self.nested(PARENTHESIS, |p| p.in_parens(|p| p.binary(LOOSEST)))?;
        self.no_probe(&argument)?;
        self.expect(Punct::RParen)?;
        Ok(self.operand(kind(argument.expr), start, argument.height + 1))
    }

    /// A word and a channel in parentheses.
    fn channel_argument(&mut self) -> Result<(VarRef, usize)> {
        self.bump();
        self.expect(Punct::LParen)?;
        let channel = self.in_parens(Self::variable)?;
        self.expect(Punct::RParen)?;
        Ok(channel)
    }

    fn probe(&mut self, test: ChannelTest) -> Result<Parsed> {
        let start = self.span();
        let (channel, height) = self.channel_argument()?;
        let mut parsed = self.operand(ExprKind::ChannelTest(test, channel), start, height + 1);
        if !self.in_formula {
            parsed.probe = Some((test, parsed.expr.span));
        }
        Ok(parsed)
    }

    /// The expression must not be a test of a channel: those can be combined by `&&` and `||` only.
    fn no_probe(&self, parsed: &Parsed) -> Result<()> {
        let Some((test, span)) = parsed.probe else {
            return Ok(());
        };
        let (word, opposite) = match test {
            ChannelTest::Full => ("full", "nfull"),
            ChannelTest::Empty => ("empty", "nempty"),
            ChannelTest::NotFull => ("nfull", "full"),
            ChannelTest::NotEmpty => ("nempty", "empty"),
        };
        fail(
            Diagnostic::new(
                Code::ProbeInExpression,
                span,
                format!("`{word}(...)` cannot be part of this expression"),
            )
            .label("may be combined by `&&` and `||` only")
            .help(format!("its negation is `{opposite}(...)`; `len(...)` is a number")),
        )
    }

    /// Numbers can be computed with; formulas about whole runs cannot.
    fn not_temporal(&self, operand: &Parsed, sign: Span) -> Result<()> {
        if !operand.temporal {
            return Ok(());
        }
        fail(
            Diagnostic::new(
                Code::TemporalOperand,
                sign,
                "this operator cannot be applied to a temporal formula",
            )
            .related(operand.expr.span, "a formula about a whole run, not a value")
            .help(
                "`[]`, `<>`, `X` and `!` apply to the very next operand: write `[] (x == 1)`, \
                     not `[] x == 1`",
            ),
        )
    }

    /// `a`, `a[i]`, `a.b[j].c`; with the height of its indexes.
    pub(super) fn variable(&mut self) -> Result<(VarRef, usize)> {
        let start = self.span();
        let mut parts = Vec::new();
        let mut height = 1;
        loop {
            let (part, part_height) = self.variable_part("a variable")?;
            height = height.max(part_height);
            parts.push(part);
            if !self.eat(Punct::Dot) {
                break;
            }
        }
        let end = self.stream.previous.as_ref().map_or(start, |p| p.token.span);
        let span = self.join(start, end);
        Ok((VarRef { parts, span }, height))
    }

    /// `a`, `a[i]`
    fn variable_part(&mut self, what: &str) -> Result<(VarPart, usize)> {
        let name = self.name(what)?;
        if !self.at(Punct::LBracket) || self.in_formula && self.nth_is(1, Punct::RBracket) {
            return Ok((VarPart { name, index: None }, 1));
        }
        let open = self.bump().span;
        let index = self.nested(PARENTHESIS, |p| p.in_parens(|p| p.binary(LOOSEST)))?;
        self.no_probe(&index)?;
        if !self.at(Punct::RBracket) {
            return fail(self.unexpected("`]`").related(open, "this `[` is open"));
        }
        self.bump();
        let part = VarPart { name, index: Some(index.expr) };
        Ok((part, index.height + 1))
    }

    /// What may follow a variable and makes it something else: `P[i]@L`, `P[i]:v`, `c?[x]`.
    fn finish_variable(&mut self, mut var: VarRef, height: usize) -> Result<Parsed> {
        let start = var.span;
        let single = var.parts.len() == 1;
        if single && self.at(Punct::At) {
            self.bump();
            let label = self.name("a label")?;
            let process = var.parts.remove(0);
            let kind = ExprKind::RemoteLabel { proctype: process.name, pid: process.index, label };
            return Ok(self.operand(kind, start, height + 1));
        }
        if single && self.at(Punct::Colon) && self.is_proctype(&var.parts[0].name.text) {
            self.bump();
            let start_of_variable = self.span();
            let (part, part_height) = self.variable_part("a variable of the process")?;
            let end = self.stream.previous.as_ref().map_or(start, |p| p.token.span);
            let span = self.join(start_of_variable, end);
            let process = var.parts.remove(0);
            let kind = ExprKind::RemoteVar {
                proctype: process.name,
                pid: process.index,
                var: VarRef { parts: vec![part], span },
            };
            return Ok(self.operand(kind, start, height.max(part_height) + 1));
        }
        let random = self.at(Punct::QuestionQuestion);
        if (random || self.at(Punct::Question)) && self.nth_is(1, Punct::LBracket) {
            self.bump();
            self.bump();
            let args = self.in_parens(Self::receive_args)?;
            self.expect(Punct::RBracket)?;
            let kind = ExprKind::Poll { channel: var, random, args };
            return Ok(self.operand(kind, start, height + 1));
        }
        Ok(Parsed::new(ExprKind::Var(var), start, height))
    }

    /// Whether a name stands for a process type here.
    pub(super) fn is_proctype(&self, name: &str) -> bool {
        let known = &self.declared;
        if self.in_formula {
            known.all_proctypes.contains(name)
        } else {
            known.proctypes.contains(name)
        }
    }

    /// The fields of a receive: `a, b`, `a(b, c)` or `(a, b)`.
    pub(super) fn receive_args(&mut self) -> Result<Vec<ReceiveArg>> {
        let mut args = Vec::new();
        loop {
            if !self.at(Punct::LParen) {
                args.push(self.receive_arg()?);
            }
            if self.at(Punct::LParen) && !self.line_ends_statement() {
                self.bump();
                let rest = self.nested(PARENTHESIS, |p| p.in_parens(Self::receive_args))?;
                self.expect(Punct::RParen)?;
                args.extend(rest);
                return Ok(args);
            }
            if !self.eat(Punct::Comma) {
                return Ok(args);
            }
        }
    }

    fn receive_arg(&mut self) -> Result<ReceiveArg> {
        let start = self.span();
        let arg = match &self.current().kind {
            TokenKind::Punct(Punct::Minus) => {
                self.bump();
                let TokenKind::Number(value) = self.current().kind else {
                    return fail(self.unexpected("a number").help(RECEIVE_HELP));
                };
                let end = self.bump().span;
                ReceiveArg::Const(Expr {
                    kind: ExprKind::Number(value.wrapping_neg()),
                    span: self.join(start, end),
                })
            }
            TokenKind::Number(_) => ReceiveArg::Const(*self.primary()?.expr),
            TokenKind::Ident(word) => match word.as_str() {
                "true" | "false" | "skip" => ReceiveArg::Const(*self.primary()?.expr),
                "eval" => {
                    self.bump();
                    self.expect(Punct::LParen)?;
                    let value = self.nested(PARENTHESIS, |p| p.in_parens(Self::expression))?;
                    self.expect(Punct::RParen)?;
                    ReceiveArg::Eval(value)
                }
                "_" => {
                    self.bump();
                    ReceiveArg::Ignore(start)
                }
                _ if self.nth_is_name(0) => ReceiveArg::Var(self.variable()?.0),
                _ => return fail(self.unexpected("a field to receive").help(RECEIVE_HELP)),
            },
            _ => return fail(self.unexpected("a field to receive").help(RECEIVE_HELP)),
        };
        let computes = matches!(
            self.current().kind,
            TokenKind::Punct(
                Punct::Plus | Punct::Star | Punct::Slash | Punct::Percent | Punct::Eq | Punct::Ne
            )
        ) || self.at(Punct::Minus) && !self.line_ends_statement();
        if computes {
            return fail(self.unexpected("`,` or the end of the receive").help(RECEIVE_HELP));
        }
        Ok(arg)
    }

    /// `c_code [assertion] { ... }` and the like.
    pub(super) fn c_text(&mut self) -> Result<CText> {
        let word = self.word().to_owned();
        self.bump();
        let TokenKind::CBlock { assertion, code } = &self.current().kind else {
            return fail(self.unexpected(&format!("C code in braces after `{word}`")));
        };
        let text = CText { assertion: assertion.clone(), code: code.clone() };
        self.bump();
        Ok(text)
    }
}

const RECEIVE_HELP: &str = "a receive takes variables to set, constants to match, \
                            `eval(expression)` to match a computed value, and `_` for anything";
