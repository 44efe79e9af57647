//! Constant expressions.

use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
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
        ExprKind::Unary(op, operand) => {
            let value = constant(operand, symbols)?;
            Some(match op {
                UnaryOp::Not => i32::from(value == 0),
                UnaryOp::Neg => value.wrapping_neg(),
                UnaryOp::Complement => !value,
            })
        }
        ExprKind::Binary(op, left, right) => {
            binary(*op, constant(left, symbols)?, constant(right, symbols)?)
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

fn binary(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div if b == 0 => return None,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem if b == 0 => return None,
        BinaryOp::Rem => a.wrapping_rem(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Shl => a.wrapping_shl(b as u32),
        BinaryOp::Shr => a.wrapping_shr(b as u32),
        BinaryOp::Lt => i32::from(a < b),
        BinaryOp::Le => i32::from(a <= b),
        BinaryOp::Gt => i32::from(a > b),
        BinaryOp::Ge => i32::from(a >= b),
        BinaryOp::Eq => i32::from(a == b),
        BinaryOp::Ne => i32::from(a != b),
        BinaryOp::And => i32::from(a != 0 && b != 0),
        BinaryOp::Or => i32::from(a != 0 || b != 0),
    })
}
