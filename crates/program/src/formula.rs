//! Formulas of temporal logic over what is asked of single states.
//!
//! A formula is taken apart as far as its parts mean the same when each is looked at on its own: what is asked
//! of a single state gets a number. `a && b` is two of these, unless something may go wrong in one of them that
//! the other keeps from happening.

use spinward_promela::ast::{BinaryOp, Expr, ExprKind, TemporalBinary, TemporalUnary, UnaryOp};
use spinward_promela::{Code, Diagnostic, Span};
use spinward_property::Formula;

/// Who gives numbers to what is asked of single states.
pub trait Atoms {
    /// Whether the parts of something that is asked of a single state may be looked at one by one.
    fn may_split(&mut self, expr: &Expr) -> bool;

    /// The number of something that is asked of a single state.
    fn number(&mut self, expr: &Expr) -> u32;
}

/// The formula that an expression of an `ltl` block says.
pub fn formula(expr: &Expr, atoms: &mut dyn Atoms) -> Formula {
    if !is_temporal(expr) && !atoms.may_split(expr) {
        return Formula::atom(atoms.number(expr));
    }
    parts(expr, atoms)
}

fn parts(expr: &Expr, atoms: &mut dyn Atoms) -> Formula {
    let recurse = if is_temporal(expr) { formula } else { parts };
    match &expr.kind {
        ExprKind::TemporalUnary(operator, operand) => {
            let operand = recurse(operand, atoms);
            match operator {
                TemporalUnary::Always => operand.always(),
                TemporalUnary::Eventually => operand.eventually(),
                TemporalUnary::Next => operand.next(),
            }
        }
        ExprKind::TemporalBinary(operator, left, right) => {
            let (left, right) = (recurse(left, atoms), recurse(right, atoms));
            match operator {
                TemporalBinary::Until => left.until(&right),
                TemporalBinary::WeakUntil => left.weak_until(&right),
                TemporalBinary::Release => left.release(&right),
                TemporalBinary::Implies => left.implies(&right),
                TemporalBinary::Equivalent => left.equivalent(&right),
            }
        }
        ExprKind::Unary(UnaryOp::Not, operand) => recurse(operand, atoms).not(),
        ExprKind::Binary(BinaryOp::And, left, right) => {
            Formula::and([recurse(left, atoms), recurse(right, atoms)])
        }
        ExprKind::Binary(BinaryOp::Or, left, right) => {
            Formula::or([recurse(left, atoms), recurse(right, atoms)])
        }
        ExprKind::Number(0) => Formula::falsehood(),
        ExprKind::Number(_) => Formula::truth(),
        _ => Formula::atom(atoms.number(expr)),
    }
}

/// What is wrong with a formula that nobody could translate.
pub fn too_large(formula: &Formula, span: Span) -> Option<Diagnostic> {
    let note = "each `<->` stands for two copies of both its sides";
    let problem =
        || Diagnostic::new(Code::FormulaTooLarge, span, "the formula is too large").note(note);
    formula.is_huge().then(problem)
}

/// Whether it is about more than a single state. (`->` and `<->` are operators of formulas, but may not be.)
pub fn is_temporal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::TemporalUnary(..) => true,
        ExprKind::TemporalBinary(operator, left, right) => {
            !matches!(operator, TemporalBinary::Implies | TemporalBinary::Equivalent)
                || is_temporal(left)
                || is_temporal(right)
        }
        ExprKind::Unary(_, operand) => is_temporal(operand),
        ExprKind::Binary(_, left, right) => is_temporal(left) || is_temporal(right),
        _ => false,
    }
}
