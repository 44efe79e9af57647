//! Statements that fit in one line, and declarations.

use super::expressions::{c_text, call, expr, receive_args, variable};
use super::{separated, tokens};
use crate::ast::{
    AssignOp, Decl, Declarator, Expr, ExprKind, ForRange, Initializer, Stmt, StmtKind, TypeName,
    VarRef, Visibility,
};

/// Writes a statement without its labels; of a compound one the beginning and `...`.
pub(super) fn statement(text: &mut String, stmt: &Stmt) {
    match &stmt.kind {
        StmtKind::Block(_) => text.push_str("{ ... }"),
        StmtKind::If(_) | StmtKind::Do(_) | StmtKind::Atomic(_) | StmtKind::DStep(_) => {
            text.push_str(first_word(&stmt.kind));
            text.push_str(" ...");
        }
        StmtKind::For { var, range, .. } => {
            for_head(text, var, range);
            text.push_str(" ...");
        }
        StmtKind::Unless(normal, _) => {
            statement(text, normal);
            text.push_str(" unless ...");
        }
        kind => simple(text, kind),
    }
}

/// The word that a compound statement begins with.
pub(super) fn first_word(kind: &StmtKind) -> &'static str {
    match kind {
        StmtKind::If(_) => "if",
        StmtKind::Do(_) => "do",
        StmtKind::Atomic(_) => "atomic",
        StmtKind::DStep(_) => "d_step",
        _ => "",
    }
}

/// Writes a statement that holds no others; nothing for one that does.
pub(super) fn simple(text: &mut String, kind: &StmtKind) {
    match kind {
        StmtKind::Decl(decl) => declaration(text, decl),
        StmtKind::Exclusive { send, channels } => {
            text.push_str(if *send { "xs " } else { "xr " });
            separated(text, ", ", channels, variable);
        }
        StmtKind::Expr(condition) => match condition.kind {
            ExprKind::Number(1) if condition.span.end.saturating_sub(condition.span.start) == 4 => {
                text.push_str("skip");
            }
            _ => expr(text, condition),
        },
        StmtKind::Assign(var, operator) => {
            variable(text, var);
            match operator {
                AssignOp::Set(value) => {
                    text.push_str(" = ");
                    expr(text, value);
                }
                AssignOp::Increment => text.push_str("++"),
                AssignOp::Decrement => text.push_str("--"),
            }
        }
        StmtKind::Send { channel, sorted, args } => {
            variable(text, channel);
            text.push_str(if *sorted { "!!" } else { "!" });
            let start = text.len();
            separated(text, ",", args, expr);
            if text[start..].starts_with('!') {
                // `!!` is another word.
                text.insert(start, ' ');
            }
        }
        StmtKind::Receive { channel, random, keep, args } => {
            variable(text, channel);
            text.push_str(if *random { "??" } else { "?" });
            text.push_str(if *keep { "<" } else { "" });
            receive_args(text, args);
            text.push_str(if *keep { ">" } else { "" });
        }
        StmtKind::Assert(condition) => {
            text.push_str("assert(");
            expr(text, condition);
            text.push(')');
        }
        StmtKind::Printf { format, args } => {
            text.push_str("printf(\"");
            text.push_str(format);
            text.push('"');
            for arg in args {
                text.push_str(", ");
                expr(text, arg);
            }
            text.push(')');
        }
        StmtKind::Printm(value) => {
            text.push_str("printm(");
            expr(text, value);
            text.push(')');
        }
        StmtKind::SetPriority(process, priority) => {
            text.push_str("set_priority(");
            expr(text, process);
            text.push_str(", ");
            expr(text, priority);
            text.push(')');
        }
        StmtKind::Goto(label) => {
            text.push_str("goto ");
            text.push_str(&label.text);
        }
        StmtKind::Break => text.push_str("break"),
        StmtKind::Else => text.push_str("else"),
        StmtKind::Select { var, from, to, literal } => select(text, var, from, to, *literal),
        StmtKind::Inline { name, args, result, .. } => {
            if let Some(result) = result {
                variable(text, result);
                text.push_str(" = ");
            }
            text.push_str(&name.text);
            text.push('(');
            separated(text, ", ", args, |text, arg| tokens::line(text, arg));
            text.push(')');
        }
        StmtKind::CCode(code) => c_text(text, "c_code", code),
        StmtKind::LabelOnly
        | StmtKind::Block(_)
        | StmtKind::Atomic(_)
        | StmtKind::DStep(_)
        | StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::For { .. }
        | StmtKind::Unless(..) => {}
    }
}

/// `select (v : a .. b)`. SPIN treats the form with two literals in its own way; a range that was
/// not written so must not become so.
fn select(text: &mut String, var: &VarRef, from: &Expr, to: &Expr, literal: bool) {
    text.push_str("select (");
    variable(text, var);
    text.push_str(" : ");
    expr(text, from);
    text.push_str(" .. ");
    if !literal && matches!(to.kind, ExprKind::Number(_)) {
        call(text, std::slice::from_ref(to));
    } else {
        expr(text, to);
    }
    text.push(')');
}

/// `for (v : a .. b)`
pub(super) fn for_head(text: &mut String, var: &VarRef, range: &ForRange) {
    text.push_str("for (");
    variable(text, var);
    match range {
        ForRange::Numbers(from, to) => {
            text.push_str(" : ");
            expr(text, from);
            text.push_str(" .. ");
            expr(text, to);
        }
        ForRange::In(array) => {
            text.push_str(" in ");
            variable(text, array);
        }
    }
    text.push(')');
}

/// Writes a declaration, without a separator.
pub(super) fn declaration(text: &mut String, decl: &Decl) {
    text.push_str(match decl.visibility {
        Some(Visibility::Hidden) => "hidden ",
        Some(Visibility::Show) => "show ",
        Some(Visibility::Local) => "local ",
        None => "",
    });
    type_name(text, &decl.ty);
    text.push(' ');
    separated(text, ", ", &decl.vars, declarator);
}

fn type_name(text: &mut String, ty: &TypeName) {
    text.push_str(match ty {
        TypeName::Bit => "bit",
        TypeName::Bool => "bool",
        TypeName::Byte => "byte",
        TypeName::Pid => "pid",
        TypeName::Short => "short",
        TypeName::Int => "int",
        TypeName::Unsigned => "unsigned",
        TypeName::Chan => "chan",
        TypeName::Mtype(_) => "mtype",
        TypeName::Named(name) => &name.text,
    });
    if let TypeName::Mtype(Some(set)) = ty {
        text.push(':');
        text.push_str(&set.text);
    }
}

fn declarator(text: &mut String, var: &Declarator) {
    text.push_str(&var.name.text);
    if let Some((bits, _)) = var.width {
        text.push_str(" : ");
        text.push_str(&bits.to_string());
    }
    if let Some(length) = &var.array {
        text.push('[');
        expr(text, length);
        text.push(']');
    }
    match &var.init {
        None => {}
        Some(Initializer::Expr(value)) => {
            text.push_str(" = ");
            expr(text, value);
        }
        Some(Initializer::List(values)) => {
            text.push_str(" = { ");
            separated(text, ", ", values, expr);
            text.push_str(" }");
        }
        Some(Initializer::Channel { capacity, fields, .. }) => {
            text.push_str(" = [");
            expr(text, capacity);
            text.push_str("] of { ");
            separated(text, ", ", fields, type_name);
            text.push_str(" }");
        }
    }
}
