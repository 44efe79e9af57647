//! Constant expressions.

use crate::ast::{Expr, ExprKind};
use crate::symbols::{Symbol, Symbols};

/// The value of an expression of numbers and mtype constants, computed as C computes with `int`;
/// none if it is not constant or divides by zero.
pub fn constant(expr: &Expr, symbols: &Symbols) -> Option<i32> {
    match &expr.kind {
        ExprKind::Number(value) => Some(*value),
        ExprKind::Var(var) => match (symbols.symbol(var.parts.first()?.name.id)?, &var.parts[..]) {
            (Symbol::Mtype(_, value), [part]) if part.index.is_none() => Some(value),
            _ => None,
        },
        ExprKind::Unary(op, operand) => Some(op.apply(constant(operand, symbols)?)),
        ExprKind::Binary(op, left, right) => {
            op.apply(constant(left, symbols)?, constant(right, symbols)?)
        }
        ExprKind::Conditional(condition, yes, no) => {
            if constant(condition, symbols)? != 0 {
                constant(yes, symbols)
            } else {
                constant(no, symbols)
            }
        }
        _ => None,
    }
}
