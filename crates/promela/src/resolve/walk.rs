//! Walks over expressions.

use crate::ast::{Expr, ExprKind};

/// Calls `f` on an expression and on all in it, the outer before the inner.
pub(super) fn each<'m>(expr: &'m Expr, f: &mut dyn FnMut(&'m Expr)) {
    f(expr);
    expr.for_each_operand(&mut |operand| each(operand, f));
}

/// All `run`s in an expression.
pub(super) fn runs(expr: &Expr) -> Vec<&Expr> {
    let mut runs = Vec::new();
    each(expr, &mut |e| {
        if matches!(e.kind, ExprKind::Run { .. }) {
            runs.push(e);
        }
    });
    runs
}
