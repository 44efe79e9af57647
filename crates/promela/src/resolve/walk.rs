//! Walks over expressions.

use crate::ast::{Expr, ExprKind, ReceiveArg, VarRef};

/// Calls `f` on an expression and on all in it, the outer before the inner.
pub(super) fn each<'m>(expr: &'m Expr, f: &mut dyn FnMut(&'m Expr)) {
    f(expr);
    match &expr.kind {
        ExprKind::Number(_) | ExprKind::Timeout | ExprKind::NonProgress | ExprKind::CExpr(_) => {}
        ExprKind::Var(var) | ExprKind::Len(var) | ExprKind::ChannelTest(_, var) => indexes(var, f),
        ExprKind::Unary(_, operand)
        | ExprKind::TemporalUnary(_, operand)
        | ExprKind::Enabled(operand)
        | ExprKind::PcValue(operand)
        | ExprKind::GetPriority(operand) => each(operand, f),
        ExprKind::Binary(_, left, right) | ExprKind::TemporalBinary(_, left, right) => {
            each(left, f);
            each(right, f);
        }
        ExprKind::Conditional(condition, yes, no) => {
            each(condition, f);
            each(yes, f);
            each(no, f);
        }
        ExprKind::Run { args, priority, .. } => {
            args.iter().for_each(|arg| each(arg, f));
            priority.iter().for_each(|priority| each(priority, f));
        }
        ExprKind::Poll { channel, args, .. } => {
            indexes(channel, f);
            args.iter().for_each(|arg| match arg {
                ReceiveArg::Var(var) => indexes(var, f),
                ReceiveArg::Const(expr) | ReceiveArg::Eval(expr) => each(expr, f),
                ReceiveArg::Ignore(_) => {}
            });
        }
        ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|pid| each(pid, f)),
        ExprKind::RemoteVar { pid, var, .. } => {
            pid.iter().for_each(|pid| each(pid, f));
            indexes(var, f);
        }
    }
}

/// Calls `f` on the indexes of a variable and on all in them.
pub(super) fn indexes<'m>(var: &'m VarRef, f: &mut dyn FnMut(&'m Expr)) {
    for part in &var.parts {
        if let Some(index) = &part.index {
            each(index, f);
        }
    }
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
