//! The expressions of `#if` and `#elif`: C's integer arithmetic on 64 bits.

use crate::source::Span;
use crate::token::Punct;
use crate::{Code, Diagnostic};

use super::text::{Interner, RawKind, RawToken};

/// Depth of parentheses, unary operators and conditionals.
const MAX_DEPTH: usize = 200;

/// Whether a condition holds; `line` are its tokens after expansion, with 1 or 0 for every
/// `defined`, and `span` is the directive.
pub(super) fn evaluate(
    line: &[RawToken],
    span: Span,
    interner: &Interner,
) -> Result<bool, Diagnostic> {
    let mut parser = Parser { rest: line, span, depth: 0, interner };
    let value = parser.conditional(true)?;
    match parser.rest.first() {
        None => Ok(value.is_true()),
        Some(token) => {
            let text = token.kind.text(interner);
            let message = format!("unexpected `{text}` after the condition");
            Err(Diagnostic::new(Code::BadCondition, token.span, message))
        }
    }
}

/// A 64-bit integer; a mix of signed and unsigned is unsigned, as in C.
#[derive(Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn signed(bits: i64) -> Self {
        Self { bits, unsigned: false }
    }

    fn truth(holds: bool) -> Self {
        Self::signed(i64::from(holds))
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

struct Parser<'a> {
    rest: &'a [RawToken],
    span: Span,
    depth: usize,
    interner: &'a Interner,
}

/// How tight a binary operator binds; none for what is not one.
fn precedence(kind: RawKind) -> Option<(Punct, u8)> {
    use Punct::*;
    let RawKind::Punct(punct) = kind else {
        return None;
    };
    let level = match punct {
        OrOr => 1,
        AndAnd => 2,
        Pipe => 3,
        Caret => 4,
        Amp => 5,
        Eq | Ne => 6,
        Lt | Gt | Le | Ge => 7,
        Shl | Shr => 8,
        Plus | Minus => 9,
        Star | Slash | Percent => 10,
        _ => return None,
    };
    Some((punct, level))
}

/// In all of these `live` says whether the value matters: `0 && 1/0` is no mistake.
impl Parser<'_> {
    fn next(&mut self) -> Option<RawToken> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.rest.first().is_some_and(|t| t.kind.is(punct));
        if found {
            self.next();
        }
        found
    }

    fn descend(&mut self) -> Result<(), Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the condition is nested more than {MAX_DEPTH} deep");
            return Err(Diagnostic::new(Code::BadCondition, self.span, message));
        }
        Ok(())
    }

    fn conditional(&mut self, live: bool) -> Result<Value, Diagnostic> {
        self.descend()?;
        let mut value = self.binary(0, live)?;
        if self.eat(Punct::Question) {
            let holds = value.is_true();
            let then = self.conditional(live && holds)?;
            if !self.eat(Punct::Colon) {
                return Err(Diagnostic::new(Code::BadCondition, self.span, "`?` without `:`"));
            }
            let otherwise = self.conditional(live && !holds)?;
            value = Value {
                unsigned: then.unsigned || otherwise.unsigned,
                ..if holds { then } else { otherwise }
            };
        }
        self.depth -= 1;
        Ok(value)
    }

    /// Operators that bind tighter than `level`.
    fn binary(&mut self, level: u8, live: bool) -> Result<Value, Diagnostic> {
        let mut left = self.unary(live)?;
        while let Some(operator) = self.rest.first()
            && let Some((punct, tighter)) = precedence(operator.kind)
            && tighter > level
        {
            let span = operator.span;
            self.next();
            let decided = match punct {
                Punct::AndAnd => !left.is_true(),
                Punct::OrOr => left.is_true(),
                _ => false,
            };
            let right = self.binary(tighter, live && !decided)?;
            left = match apply(punct, left, right) {
                Some(value) => value,
                None if live => {
                    return Err(Diagnostic::new(Code::BadCondition, span, "division by zero"));
                }
                None => left,
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<Value, Diagnostic> {
        let Some(token) = self.next() else {
            return Err(Diagnostic::new(
                Code::BadCondition,
                self.span,
                "the condition is not complete",
            )
            .label("an operand is missing at the end"));
        };
        let RawKind::Punct(punct) = token.kind else {
            return self.operand(token);
        };
        self.descend()?;
        let value = match punct {
            Punct::LParen => {
                let value = self.conditional(live)?;
                if !self.eat(Punct::RParen) {
                    return Err(Diagnostic::new(
                        Code::BadCondition,
                        token.span,
                        "missing `)` in the condition",
                    )
                    .label("for this `(`"));
                }
                value
            }
            Punct::Not => Value::truth(!self.unary(live)?.is_true()),
            Punct::BangBang => Value::truth(self.unary(live)?.is_true()),
            Punct::Plus => self.unary(live)?,
            Punct::Minus => {
                let value = self.unary(live)?;
                Value { bits: value.bits.wrapping_neg(), ..value }
            }
            Punct::Tilde => {
                let value = self.unary(live)?;
                Value { bits: !value.bits, ..value }
            }
            _ => {
                let message = format!("unexpected `{}` in the condition", punct.text());
                return Err(Diagnostic::new(Code::BadCondition, token.span, message));
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self, token: RawToken) -> Result<Value, Diagnostic> {
        let text = token.kind.text(self.interner);
        match token.kind {
            // A name that is no macro.
            RawKind::Ident(_) => Ok(Value::signed(0)),
            RawKind::Number(_) => parse_number(text).ok_or_else(|| {
                let message = format!("`{text}` is not an integer of C with at most 64 bits");
                Diagnostic::new(Code::BadCondition, token.span, message)
            }),
            RawKind::Char(_) => parse_char(text).ok_or_else(|| {
                let message = format!("{text} is not a character constant");
                Diagnostic::new(Code::BadCondition, token.span, message)
            }),
            _ => {
                let message = format!("`{text}` cannot stand in a condition");
                Err(Diagnostic::new(Code::BadCondition, token.span, message))
            }
        }
    }
}

/// None for a division by zero.
fn apply(punct: Punct, left: Value, right: Value) -> Option<Value> {
    use Punct::*;
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (ua, ub) = (a as u64, b as u64);
    let number = |bits| Value { bits, unsigned };
    let order = if unsigned { ua.cmp(&ub) } else { a.cmp(&b) };
    Some(match punct {
        OrOr => Value::truth(a != 0 || b != 0),
        AndAnd => Value::truth(a != 0 && b != 0),
        Eq => Value::truth(order.is_eq()),
        Ne => Value::truth(order.is_ne()),
        Lt => Value::truth(order.is_lt()),
        Gt => Value::truth(order.is_gt()),
        Le => Value::truth(order.is_le()),
        Ge => Value::truth(order.is_ge()),
        Pipe => number(a | b),
        Caret => number(a ^ b),
        Amp => number(a & b),
        Plus => number(a.wrapping_add(b)),
        Minus => number(a.wrapping_sub(b)),
        Star => number(a.wrapping_mul(b)),
        Slash | Percent if b == 0 => return None,
        Slash if unsigned => number((ua / ub) as i64),
        Slash => number(a.wrapping_div(b)),
        Percent if unsigned => number((ua % ub) as i64),
        Percent => number(a.wrapping_rem(b)),
        Shl | Shr => {
            // A negative distance shifts the other way, as in GCC.
            let backwards = b < 0 && !right.unsigned;
            let distance = if backwards { b.unsigned_abs() } else { ub };
            Value {
                bits: shift(left, (punct == Shl) != backwards, distance),
                unsigned: left.unsigned,
            }
        }
        _ => left,
    })
}

fn shift(value: Value, to_left: bool, distance: u64) -> i64 {
    let distance = u32::try_from(distance).unwrap_or(u32::MAX);
    if to_left {
        value.bits.checked_shl(distance).unwrap_or(0)
    } else if value.unsigned {
        (value.bits as u64).checked_shr(distance).unwrap_or(0) as i64
    } else {
        value.bits >> distance.min(63)
    }
}

/// Decimal, `0x`, `0b` or octal, with suffixes `u` and `l`.
fn parse_number(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    if !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") {
        return None;
    }
    let (digits, radix) = if let Some(hex) = digits.strip_prefix("0x") {
        (hex, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        (binary, 2)
    } else if digits.starts_with('0') {
        (digits, 8)
    } else {
        (digits, 10)
    };
    let bits = u64::from_str_radix(digits, radix).ok()?;
    Some(Value {
        bits: bits as i64,
        unsigned: suffix.contains('u') || i64::try_from(bits).is_err(),
    })
}

fn parse_char(text: &str) -> Option<Value> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let value = match inner.as_bytes() {
        [byte] => i64::from(*byte),
        [b'\\', b'0'..=b'7', ..] => i64::from_str_radix(&inner[1..], 8).ok()?,
        [b'\\', b'x', ..] => i64::from_str_radix(&inner[2..], 16).ok()?,
        [b'\\', byte] => i64::from(match byte {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'e' => 27,
            other => *other,
        }),
        _ => return None,
    };
    Some(Value::signed(value))
}
