//! Expressions.

use super::separated;
use crate::ast::{
    BinaryOp, CText, ChannelTest, Expr, ExprKind, ReceiveArg, TemporalBinary, TemporalUnary,
    UnaryOp, VarPart, VarRef,
};

/// How tightly an expression holds together: the levels of the parser, operators with one operand
/// above all others.
const TIGHTEST: u8 = 13;
const UNARY: u8 = 12;

/// Writes an expression.
pub(super) fn expr(text: &mut String, e: &Expr) {
    match &e.kind {
        ExprKind::Number(value) => number(text, *value, e),
        ExprKind::Var(var) => variable(text, var),
        ExprKind::Unary(operator, operand) => {
            text.push_str(match operator {
                UnaryOp::Not => "!",
                UnaryOp::Neg => "-",
                UnaryOp::Complement => "~",
            });
            // `!!` and `--` are other words.
            let doubled = matches!(&operand.kind, ExprKind::Unary(inner, _) if inner == operator)
                || matches!(operand.kind, ExprKind::Number(value) if value < 0 && value != i32::MIN);
            let needed = if doubled { TIGHTEST } else { UNARY };
            operand_at(text, operand, needed);
        }
        ExprKind::TemporalUnary(operator, operand) => {
            text.push_str(match operator {
                TemporalUnary::Always => "[] ",
                TemporalUnary::Eventually => "<> ",
                TemporalUnary::Next => "X ",
            });
            operand_at(text, operand, UNARY);
        }
        ExprKind::Binary(operator, left, right) => {
            let (sign, level) = binary_operator(*operator);
            binary(text, left, sign, right, level);
        }
        ExprKind::TemporalBinary(operator, left, right) => {
            let (sign, level) = temporal_operator(*operator);
            binary(text, left, sign, right, level);
        }
        ExprKind::Conditional(condition, chosen, other) => {
            text.push('(');
            expr(text, condition);
            text.push_str(" -> ");
            expr(text, chosen);
            text.push_str(" : ");
            expr(text, other);
            text.push(')');
        }
        ExprKind::Run { proctype, args, priority } => {
            text.push_str("run ");
            text.push_str(&proctype.text);
            call(text, args);
            if let Some(priority) = priority {
                text.push_str(" priority ");
                operand_at(text, priority, TIGHTEST);
            }
        }
        ExprKind::Len(channel) => function(text, "len", |text| variable(text, channel)),
        ExprKind::ChannelTest(test, channel) => {
            let word = match test {
                ChannelTest::Full => "full",
                ChannelTest::Empty => "empty",
                ChannelTest::NotFull => "nfull",
                ChannelTest::NotEmpty => "nempty",
            };
            function(text, word, |text| variable(text, channel));
        }
        ExprKind::Poll { channel, random, args } => {
            variable(text, channel);
            text.push_str(if *random { "??[" } else { "?[" });
            receive_args(text, args);
            text.push(']');
        }
        ExprKind::Enabled(pid) => function(text, "enabled", |text| expr(text, pid)),
        ExprKind::PcValue(pid) => function(text, "pc_value", |text| expr(text, pid)),
        ExprKind::GetPriority(pid) => function(text, "get_priority", |text| expr(text, pid)),
        ExprKind::RemoteLabel { proctype, pid, label } => {
            process(text, &proctype.text, pid.as_deref());
            text.push('@');
            text.push_str(&label.text);
        }
        ExprKind::RemoteVar { proctype, pid, var } => {
            process(text, &proctype.text, pid.as_deref());
            text.push(':');
            variable(text, var);
        }
        ExprKind::Timeout => text.push_str("timeout"),
        ExprKind::NonProgress => text.push_str("np_"),
        ExprKind::CExpr(code) => c_text(text, "c_expr", code),
    }
}

/// `true` and `false` are numbers that are longer than a digit.
fn number(text: &mut String, value: i32, e: &Expr) {
    match (value, e.span.end.saturating_sub(e.span.start)) {
        (1, 4) => text.push_str("true"),
        (0, 5) => text.push_str("false"),
        // The smallest number is written as the largest and one, behind a minus.
        (i32::MIN, _) if text.trim_end().ends_with('-') => text.push_str("2147483648"),
        _ => text.push_str(&value.to_string()),
    }
}

fn binary(text: &mut String, left: &Expr, sign: &str, right: &Expr, level: u8) {
    operand_at(text, left, level);
    text.push(' ');
    text.push_str(sign);
    text.push(' ');
    operand_at(text, right, level + 1);
}

/// Writes an operand, in parentheses if it holds together less tightly than needed.
fn operand_at(text: &mut String, operand: &Expr, needed: u8) {
    if level(operand) < needed {
        text.push('(');
        expr(text, operand);
        text.push(')');
    } else {
        expr(text, operand);
    }
}

fn level(e: &Expr) -> u8 {
    match &e.kind {
        ExprKind::Binary(operator, ..) => binary_operator(*operator).1,
        ExprKind::TemporalBinary(operator, ..) => temporal_operator(*operator).1,
        ExprKind::Unary(..) | ExprKind::TemporalUnary(..) => UNARY,
        ExprKind::Number(value) if *value < 0 => UNARY,
        _ => TIGHTEST,
    }
}

fn binary_operator(operator: BinaryOp) -> (&'static str, u8) {
    match operator {
        BinaryOp::Or => ("||", 1),
        BinaryOp::And => ("&&", 2),
        BinaryOp::BitOr => ("|", 4),
        BinaryOp::BitXor => ("^", 5),
        BinaryOp::BitAnd => ("&", 6),
        BinaryOp::Eq => ("==", 7),
        BinaryOp::Ne => ("!=", 7),
        BinaryOp::Lt => ("<", 8),
        BinaryOp::Le => ("<=", 8),
        BinaryOp::Gt => (">", 8),
        BinaryOp::Ge => (">=", 8),
        BinaryOp::Shl => ("<<", 9),
        BinaryOp::Shr => (">>", 9),
        BinaryOp::Add => ("+", 10),
        BinaryOp::Sub => ("-", 10),
        BinaryOp::Mul => ("*", 11),
        BinaryOp::Div => ("/", 11),
        BinaryOp::Rem => ("%", 11),
    }
}

fn temporal_operator(operator: TemporalBinary) -> (&'static str, u8) {
    match operator {
        TemporalBinary::Implies => ("->", 0),
        TemporalBinary::Equivalent => ("<->", 0),
        TemporalBinary::Until => ("U", 3),
        TemporalBinary::WeakUntil => ("W", 3),
        TemporalBinary::Release => ("V", 3),
    }
}

/// Writes a variable.
pub(super) fn variable(text: &mut String, var: &VarRef) {
    separated(text, ".", &var.parts, variable_part);
}

fn variable_part(text: &mut String, part: &VarPart) {
    text.push_str(&part.name.text);
    if let Some(index) = &part.index {
        text.push('[');
        expr(text, index);
        text.push(']');
    }
}

/// `P`, `P[pid]`
fn process(text: &mut String, proctype: &str, pid: Option<&Expr>) {
    text.push_str(proctype);
    if let Some(pid) = pid {
        text.push('[');
        expr(text, pid);
        text.push(']');
    }
}

/// Writes the fields of a receive or a poll.
pub(super) fn receive_args(text: &mut String, args: &[ReceiveArg]) {
    separated(text, ",", args, |text, arg| match arg {
        ReceiveArg::Var(var) => variable(text, var),
        ReceiveArg::Const(value) => expr(text, value),
        ReceiveArg::Eval(value) => function(text, "eval", |text| expr(text, value)),
        ReceiveArg::Ignore(_) => text.push('_'),
    });
}

/// Writes `(a, b)`.
pub(super) fn call(text: &mut String, args: &[Expr]) {
    text.push('(');
    separated(text, ", ", args, expr);
    text.push(')');
}

fn function(text: &mut String, word: &str, argument: impl FnOnce(&mut String)) {
    text.push_str(word);
    text.push('(');
    argument(text);
    text.push(')');
}

/// Writes C code with the word before it.
pub(super) fn c_text(text: &mut String, word: &str, code: &CText) {
    text.push_str(word);
    text.push(' ');
    if let Some(assertion) = &code.assertion {
        text.push('[');
        text.push_str(assertion);
        text.push_str("] ");
    }
    text.push('{');
    text.push_str(&code.code);
    text.push('}');
}
