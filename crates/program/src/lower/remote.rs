//! Walks over expressions: the labels of other processes in them, in the order SPIN's parser meets
//! them.

use spinward_promela::ast::{
    AssignOp, Expr, ExprKind, ForRange, Initializer, Name, ReceiveArg, Stmt, StmtKind, VarRef,
};

/// Calls `found` with the process type and the label of each `P[..]@L`.
pub(super) fn in_expr<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a Name, &'a Name)) {
    children(expr, &mut |child| in_expr(child, found));
    if let ExprKind::RemoteLabel { proctype, label, .. } = &expr.kind {
        found(proctype, label);
    }
}

/// Calls `visit` with the expressions of a statement itself, not of those inside of it.
pub(super) fn in_statement<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::Assert(expr) | StmtKind::Printm(expr) => visit(expr),
        StmtKind::Assign(var, op) => {
            in_var(var, visit);
            if let AssignOp::Set(expr) = op {
                visit(expr);
            }
        }
        StmtKind::Send { channel, args, .. } => {
            in_var(channel, visit);
            args.iter().for_each(visit);
        }
        StmtKind::Receive { channel, args, .. } => {
            in_var(channel, visit);
            in_receive(args, visit);
        }
        StmtKind::Printf { args, .. } => args.iter().for_each(visit),
        StmtKind::SetPriority(process, priority) => {
            visit(process);
            visit(priority);
        }
        StmtKind::For { var, range, .. } => {
            in_var(var, visit);
            match range {
                ForRange::Numbers(from, to) => {
                    visit(from);
                    visit(to);
                }
                ForRange::In(source) => in_var(source, visit),
            }
        }
        StmtKind::Select { var, from, to, .. } => {
            in_var(var, visit);
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

fn in_var<'a>(var: &'a VarRef, visit: &mut dyn FnMut(&'a Expr)) {
    for index in var.parts.iter().filter_map(|part| part.index.as_deref()) {
        visit(index);
    }
}

fn in_receive<'a>(args: &'a [ReceiveArg], visit: &mut dyn FnMut(&'a Expr)) {
    for arg in args {
        match arg {
            ReceiveArg::Var(var) => in_var(var, visit),
            ReceiveArg::Const(expr) | ReceiveArg::Eval(expr) => visit(expr),
            ReceiveArg::Ignore(_) => {}
        }
    }
}

/// Calls `visit` with the operands of an expression.
fn children<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Var(var) | ExprKind::Len(var) | ExprKind::ChannelTest(_, var) => {
            in_var(var, visit);
        }
        ExprKind::Unary(_, operand)
        | ExprKind::TemporalUnary(_, operand)
        | ExprKind::Enabled(operand)
        | ExprKind::PcValue(operand)
        | ExprKind::GetPriority(operand) => visit(operand),
        ExprKind::Binary(_, left, right) | ExprKind::TemporalBinary(_, left, right) => {
            visit(left);
            visit(right);
        }
        ExprKind::Conditional(condition, yes, no) => {
            visit(condition);
            visit(yes);
            visit(no);
        }
        ExprKind::Run { args, priority, .. } => {
            args.iter().for_each(&mut *visit);
            if let Some(priority) = priority {
                visit(priority);
            }
        }
        ExprKind::Poll { channel, args, .. } => {
            in_var(channel, visit);
            in_receive(args, visit);
        }
        ExprKind::RemoteLabel { pid, .. } => {
            if let Some(pid) = pid {
                visit(pid);
            }
        }
        ExprKind::RemoteVar { pid, var, .. } => {
            if let Some(pid) = pid {
                visit(pid);
            }
            in_var(var, visit);
        }
        ExprKind::Number(_) | ExprKind::Timeout | ExprKind::NonProgress | ExprKind::CExpr(_) => {}
    }
}
