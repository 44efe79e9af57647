//! The formulas of a model, and those given beside it.

use spinward_promela::ast::{self, BinaryOp, ExprKind, TemporalBinary, UnaryOp};
use spinward_promela::{Code, Diagnostic, Span, pretty};
use spinward_property::MAX_ATOMS;

use super::expr::Context;
use crate::access::{in_expr, is_harmless};
use crate::formula::{Atoms, formula, too_large};
use crate::ir::{Condition, Expr, Formula};

impl Context<'_> {
    /// A formula; what it asks of single states is added to the conditions.
    pub(super) fn formula(
        &mut self,
        name: Option<String>,
        expr: &ast::Expr,
        span: Span,
        conditions: &mut Vec<Condition>,
    ) -> Formula {
        let uses = self.uses;
        let mut atoms = Lowered { context: self, conditions, numbers: Vec::new() };
        let temporal = formula(expr, &mut atoms);
        let Lowered { numbers: atoms, .. } = atoms;
        self.uses = self.uses.of_who_asks(uses);
        self.diagnostics.extend(too_large(&temporal, span));
        if atoms.len() > MAX_ATOMS as usize {
            let problem =
                format!("a formula can ask about {MAX_ATOMS} conditions, this one asks about more");
            self.diagnostics.push(Diagnostic::new(Code::FormulaTooLarge, span, problem));
        }
        Formula { name, text: pretty::expr(expr), span, temporal, atoms }
    }

    /// What is asked of a single state.
    fn state_formula(&mut self, expr: &ast::Expr) -> Expr {
        let not = |operand: Expr| Expr::Unary(UnaryOp::Not, Box::new(operand));
        match &expr.kind {
            ExprKind::TemporalBinary(TemporalBinary::Implies, left, right) => {
                let (left, right) = (self.state_formula(left), self.state_formula(right));
                Expr::Binary(BinaryOp::Or, Box::new(not(left)), Box::new(right))
            }
            ExprKind::TemporalBinary(TemporalBinary::Equivalent, left, right) => {
                let (left, right) = (self.state_formula(left), self.state_formula(right));
                Expr::Binary(BinaryOp::Eq, Box::new(not(left)), Box::new(not(right)))
            }
            ExprKind::Unary(UnaryOp::Not, operand) => not(self.state_formula(operand)),
            ExprKind::Binary(operator @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let (left, right) = (self.state_formula(left), self.state_formula(right));
                Expr::Binary(*operator, Box::new(left), Box::new(right))
            }
            _ => self.expr(expr),
        }
    }
}

/// Conditions, each once, by their numbers in one formula.
struct Lowered<'c, 'a, 'n> {
    context: &'c mut Context<'a>,
    conditions: &'n mut Vec<Condition>,
    /// By the number in the formula: that in the program.
    numbers: Vec<u32>,
}

impl Atoms for Lowered<'_, '_, '_> {
    fn may_split(&mut self, expr: &ast::Expr) -> bool {
        is_harmless(&self.context.state_formula(expr))
    }

    fn number(&mut self, expr: &ast::Expr) -> u32 {
        let lowered = self.context.state_formula(expr);
        let known = self.conditions.iter().position(|it| !it.given && it.expr == lowered);
        let condition = known.unwrap_or_else(|| {
            let text = pretty::expr(expr);
            let mut asks_timeout = false;
            in_expr(&lowered, &mut |expr| asks_timeout |= matches!(expr, Expr::Timeout));
            self.conditions.push(Condition { text, expr: lowered, given: false, asks_timeout });
            self.conditions.len() - 1
        }) as u32;
        let known = self.numbers.iter().position(|&it| it == condition);
        let number = known.unwrap_or_else(|| {
            self.numbers.push(condition);
            self.numbers.len() - 1
        });
        // That there are too many is told when all are counted.
        (number as u32).min(MAX_ATOMS - 1)
    }
}
