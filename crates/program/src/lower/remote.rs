//! Walks over expressions: the labels of other processes in them, in the order SPIN's parser meets
//! them.

use spinward_promela::ast::{
    AssignOp, Expr, ExprKind, ForRange, Initializer, Name, Stmt, StmtKind,
};

/// Calls `found` with the process type and the label of each `P[..]@L`.
pub(super) fn in_expr<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a Name, &'a Name)) {
    expr.for_each_operand(&mut |operand| in_expr(operand, found));
    if let ExprKind::RemoteLabel { proctype, label, .. } = &expr.kind {
        found(proctype, label);
    }
}

/// Calls `visit` with the expressions of a statement itself, not of those inside of it.
pub(super) fn in_statement<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::Assert(expr) | StmtKind::Printm(expr) => visit(expr),
        StmtKind::Assign(var, op) => {
            var.indexes().for_each(&mut *visit);
            if let AssignOp::Set(expr) = op {
                visit(expr);
            }
        }
        StmtKind::Send { channel, args, .. } => {
            channel.indexes().for_each(&mut *visit);
            args.iter().for_each(visit);
        }
        StmtKind::Receive { channel, args, .. } => {
            channel.indexes().for_each(&mut *visit);
            args.iter().for_each(|arg| arg.for_each_operand(visit));
        }
        StmtKind::Printf { args, .. } => args.iter().for_each(visit),
        StmtKind::SetPriority(process, priority) => {
            visit(process);
            visit(priority);
        }
        StmtKind::For { var, range, .. } => {
            var.indexes().for_each(&mut *visit);
            match range {
                ForRange::Numbers(from, to) => {
                    visit(from);
                    visit(to);
                }
                ForRange::In(source) => source.indexes().for_each(visit),
            }
        }
        StmtKind::Select { var, from, to, .. } => {
            var.indexes().for_each(&mut *visit);
            visit(from);
            visit(to);
        }
        _ => {}
    }
}

/// Calls `visit` with the expressions of an initializer.
pub(super) fn in_initializer<'a>(init: Option<&'a Initializer>, visit: &mut dyn FnMut(&'a Expr)) {
    match init {
        Some(Initializer::Expr(expr)) => visit(expr),
        Some(Initializer::List(exprs)) => exprs.iter().for_each(visit),
        Some(Initializer::Channel { .. }) | None => {}
    }
}
