//! Expressions over offsets.
//!
//! Constants are folded where nothing can go wrong at run time. A division by zero, or an index that
//! is out of bounds, stays and is an error when it is reached.

use rustc_hash::FxHashMap;
use spinward_promela::ast::{self, BinaryOp, ExprKind, UnaryOp, VarRef};
use spinward_promela::symbols::{BodyId, MtypeId, Predefined, Scope, Symbol, Symbols, Type, VarId};
use spinward_promela::{Code, Diagnostic, Span};

use super::layout::{Layout, Spot};
use super::size::{self, Budget};
use crate::ir::{Expr, Index, Place, ReceiveArg, Scalar, Space, StateId, Uses};

/// What expressions mean: variables' places, labels' states.
pub(super) struct Context<'a> {
    /// What the names mean.
    pub symbols: &'a Symbols,
    /// Where the variables are.
    pub layout: Layout<'a>,
    /// The states of labels, for other processes to look at.
    pub label_states: FxHashMap<(BodyId, &'a str), StateId>,
    /// What the model uses.
    pub uses: Uses,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// How much was made.
    pub budget: Budget,
}

/// What a name with its indexes and fields stands for.
pub(super) enum Named {
    /// A variable (the last field) or one element of it.
    Variable(VarId, Place),
    /// An mtype constant.
    Mtype(i32),
    /// A predefined variable.
    Predefined(Predefined),
    /// Nothing; a mistake was reported.
    Unknown,
}

impl Context<'_> {
    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(code, span, message));
    }

    /// What a reference stands for.
    pub fn named(&mut self, var: &VarRef) -> Named {
        let Some((first, fields)) = var.parts.split_first() else {
            return Named::Unknown;
        };
        let mut id = match self.symbols.symbol(first.name.id) {
            Some(Symbol::Variable(id)) => id,
            Some(Symbol::Mtype(_, value)) => return Named::Mtype(value),
            Some(Symbol::Predefined(predefined)) => return Named::Predefined(predefined),
            _ => {
                self.error(
                    Code::NotAVariable,
                    first.name.span,
                    format!("`{}` is not a variable", first.name.text),
                );
                return Named::Unknown;
            }
        };
        let Spot { space, offset } = self.spot(id);
        let mut place = Place { space, offset, scalar: Scalar::U8, indexes: Vec::new() };
        self.select(&mut place, id, first.index.as_deref());
        for part in fields {
            let Some(Symbol::Variable(field)) = self.symbols.symbol(part.name.id) else {
                self.error(
                    Code::NoField,
                    part.name.span,
                    format!("there is no field `{}`", part.name.text),
                );
                return Named::Unknown;
            };
            id = field;
            place.offset += self.layout.offset(field);
            self.select(&mut place, field, part.index.as_deref());
        }
        place.scalar = self.layout.scalar(id);
        Named::Variable(id, place)
    }

    /// Where a variable is.
    pub fn spot(&self, id: VarId) -> Spot {
        let space = match self.symbols.variable(id).scope {
            Scope::Local(_) => Space::Local,
            Scope::Global | Scope::Field(_) if self.layout.is_hidden(id) => Space::Hidden,
            Scope::Global | Scope::Field(_) => Space::Global,
        };
        Spot { space, offset: self.layout.offset(id) }
    }

    /// Goes to an element of an array; without an index SPIN means the first.
    fn select(&mut self, place: &mut Place, id: VarId, index: Option<&ast::Expr>) {
        let Some(index) = index else { return };
        let value = self.expr(index);
        let stride = self.layout.stride(id);
        let length = self.symbols.variable(id).array.unwrap_or(1);
        match value {
            Expr::Const(n) if u32::try_from(n).is_ok_and(|n| n < length) => {
                place.offset += n as u32 * stride;
            }
            value => place.indexes.push(Index { value, length, stride }),
        }
    }

    /// A variable that is to be set; nothing for `_`.
    pub fn place(&mut self, var: &VarRef) -> Option<Place> {
        match self.named(var) {
            Named::Variable(id, place) => {
                if let Type::Struct(_) = self.symbols.variable(id).ty {
                    self.error(
                        Code::RecordAsValue,
                        var.span,
                        "a record, where one value is needed",
                    );
                }
                Some(place)
            }
            Named::Predefined(Predefined::Scratch) | Named::Unknown => None,
            Named::Predefined(_) => {
                self.error(Code::AssignedConstant, var.span, "this variable cannot be set");
                None
            }
            Named::Mtype(_) => {
                self.error(Code::AssignedConstant, var.span, "a constant cannot be set");
                None
            }
        }
    }

    /// A variable's value.
    pub fn var(&mut self, var: &VarRef) -> Expr {
        match self.named(var) {
            Named::Variable(id, place) => {
                if let Type::Struct(_) = self.symbols.variable(id).ty {
                    self.error(
                        Code::RecordAsValue,
                        var.span,
                        "a record, where one value is needed",
                    );
                }
                Expr::Load(place)
            }
            Named::Mtype(value) => Expr::Const(value),
            Named::Predefined(predefined) => match predefined {
                Predefined::Pid => Expr::Pid,
                Predefined::ProcessCount => Expr::ProcessCount,
                Predefined::Last => {
                    self.uses.last = true;
                    Expr::Last
                }
                Predefined::Priority => {
                    self.uses.priorities = true;
                    Expr::Priority
                }
                Predefined::Scratch => {
                    self.error(Code::NoValue, var.span, "`_` has no value");
                    Expr::Const(0)
                }
            },
            Named::Unknown => Expr::Const(0),
        }
    }

    /// The values of an argument: those of all its scalars if it is a record.
    pub fn values(&mut self, expr: &ast::Expr, out: &mut Vec<Expr>) {
        if let ExprKind::Var(var) = &expr.kind
            && let Some(scalars) = self.record(var)
        {
            out.extend(scalars.into_iter().map(Expr::Load));
        } else {
            let value = self.expr(expr);
            out.push(value);
        }
    }

    /// The scalars of a record; none if it is no record.
    pub fn record(&mut self, var: &VarRef) -> Option<Vec<Place>> {
        let last = var.parts.last()?;
        let Some(Symbol::Variable(id)) = self.symbols.symbol(last.name.id) else {
            return None;
        };
        let Type::Struct(_) = self.symbols.variable(id).ty else {
            return None;
        };
        let Named::Variable(id, place) = self.named(var) else {
            return Some(Vec::new());
        };
        let mut scalars = Vec::new();
        let each = 1 + size::place(&place);
        if self.budget.spend(self.layout.scalars(id).saturating_mul(each), var.span) {
            self.layout.expand(id, &place, &mut scalars);
        }
        Some(scalars.into_iter().map(|(place, _)| place).collect())
    }

    /// The fields of a receive or poll.
    pub fn receive_args(&mut self, args: &[ast::ReceiveArg]) -> Vec<ReceiveArg> {
        let mut fields = Vec::new();
        for arg in args {
            match arg {
                ast::ReceiveArg::Var(var) => {
                    if let Some(scalars) = self.record(var) {
                        fields.extend(scalars.into_iter().map(ReceiveArg::Store));
                        continue;
                    }
                    fields.push(match self.named(var) {
                        Named::Variable(_, place) => ReceiveArg::Store(place),
                        Named::Mtype(value) => ReceiveArg::Match(Expr::Const(value)),
                        Named::Predefined(Predefined::Scratch) | Named::Unknown => {
                            ReceiveArg::Ignore
                        }
                        Named::Predefined(_) => {
                            self.error(
                                Code::AssignedConstant,
                                var.span,
                                "this variable cannot be set",
                            );
                            ReceiveArg::Ignore
                        }
                    });
                }
                ast::ReceiveArg::Const(expr) | ast::ReceiveArg::Eval(expr) => {
                    let mut values = Vec::new();
                    self.values(expr, &mut values);
                    fields.extend(values.into_iter().map(ReceiveArg::Match));
                }
                ast::ReceiveArg::Ignore(_) => fields.push(ReceiveArg::Ignore),
            }
        }
        fields
    }

    /// An expression's value.
    pub fn expr(&mut self, expr: &ast::Expr) -> Expr {
        match &expr.kind {
            ExprKind::Number(n) => Expr::Const(*n),
            ExprKind::Var(var) => self.var(var),
            ExprKind::Unary(op, operand) => unary(*op, self.expr(operand)),
            ExprKind::Binary(op, left, right) => {
                let left = self.expr(left);
                let right = self.expr(right);
                binary(*op, left, right)
            }
            ExprKind::Conditional(condition, yes, no) => {
                let condition = self.expr(condition);
                let yes = self.expr(yes);
                let no = self.expr(no);
                match condition {
                    Expr::Const(0) => no,
                    Expr::Const(_) => yes,
                    condition => {
                        Expr::Conditional(Box::new(condition), Box::new(yes), Box::new(no))
                    }
                }
            }
            ExprKind::Run { .. } => {
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::RunInExpression,
                        expr.span,
                        "`run` inside another expression",
                    )
                    .help("give the number of the new process to a variable first: `p = run P()`"),
                );
                Expr::Const(0)
            }
            ExprKind::Len(channel) => Expr::Len(Box::new(self.var(channel))),
            ExprKind::ChannelTest(test, channel) => {
                Expr::ChannelTest(*test, Box::new(self.var(channel)))
            }
            ExprKind::Poll { channel, random, args } => Expr::Poll {
                channel: Box::new(self.var(channel)),
                random: *random,
                args: self.receive_args(args),
            },
            ExprKind::Enabled(process) => Expr::Enabled(Box::new(self.expr(process))),
            ExprKind::PcValue(process) => Expr::PcValue(Box::new(self.expr(process))),
            ExprKind::GetPriority(process) => {
                self.uses.priorities = true;
                Expr::GetPriority(Box::new(self.expr(process)))
            }
            ExprKind::RemoteLabel { proctype, pid, label } => {
                let pid = pid.as_ref().map(|pid| Box::new(self.expr(pid)));
                let Some(Symbol::Body(body)) = self.symbols.symbol(proctype.id) else {
                    self.error(
                        Code::NoProctype,
                        proctype.span,
                        format!("`{}` is not a proctype", proctype.text),
                    );
                    return Expr::Const(0);
                };
                let state = self.label_states.get(&(body, label.text.as_str())).copied();
                let Some(state) = state else {
                    self.error(
                        Code::NoLabel,
                        label.span,
                        format!("there is no label `{}` in `{}`", label.text, proctype.text),
                    );
                    return Expr::Const(0);
                };
                Expr::RemoteLabel { body, pid, state }
            }
            ExprKind::RemoteVar { proctype, pid, var } => {
                let pid = pid.as_ref().map(|pid| Box::new(self.expr(pid)));
                let Some(Symbol::Body(body)) = self.symbols.symbol(proctype.id) else {
                    self.error(
                        Code::NoProctype,
                        proctype.span,
                        format!("`{}` is not a proctype", proctype.text),
                    );
                    return Expr::Const(0);
                };
                match (self.var(var), pid) {
                    (Expr::Load(place), pid) => {
                        Expr::RemoteVar { body, pid, place: Box::new(place) }
                    }
                    (Expr::Priority, Some(pid)) => Expr::GetPriority(pid),
                    (Expr::Pid, Some(pid)) => {
                        // That of a process which does not live is 0.
                        let lives = Expr::PcValue(pid.clone());
                        Expr::Conditional(Box::new(lives), pid, Box::new(Expr::Const(0)))
                    }
                    (Expr::Priority | Expr::Pid, None) => {
                        let message = "this needs the number of a process";
                        let help = format!("such as `{}[0]:_pid`", proctype.text);
                        let problem =
                            Diagnostic::new(Code::BadRemote, var.span, message).help(help);
                        self.diagnostics.push(problem);
                        Expr::Const(0)
                    }
                    (other @ (Expr::Last | Expr::ProcessCount), _) => {
                        self.error(Code::BadRemote, var.span, "this is no variable of a process");
                        other
                    }
                    (other, _) => other,
                }
            }
            ExprKind::Timeout => {
                self.uses.timeout = true;
                Expr::Timeout
            }
            ExprKind::NonProgress => Expr::NonProgress,
            ExprKind::CExpr(text) => {
                self.uses.c_code = Some(expr.span);
                Expr::C(text.code.clone())
            }
            ExprKind::TemporalUnary(..) | ExprKind::TemporalBinary(..) => {
                self.error(
                    Code::TemporalOutsideFormula,
                    expr.span,
                    "temporal logic outside of an `ltl` formula",
                );
                Expr::Const(0)
            }
        }
    }

    /// The set of mtype names an expression's value is from, for printing.
    pub fn mtype_of(&self, expr: &ast::Expr) -> Option<MtypeId> {
        let ExprKind::Var(var) = &expr.kind else {
            return None;
        };
        match self.symbols.symbol(var.parts.last()?.name.id)? {
            Symbol::Mtype(set, _) => Some(set),
            Symbol::Variable(id) => match self.symbols.variable(id).ty {
                Type::Mtype(set) => Some(set),
                _ => None,
            },
            _ => None,
        }
    }
}

fn unary(op: UnaryOp, operand: Expr) -> Expr {
    match operand {
        Expr::Const(value) => Expr::Const(op.apply(value)),
        operand => Expr::Unary(op, Box::new(operand)),
    }
}

/// An operator applied, computed at once where both sides are known and nothing can go wrong.
pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let known = match (&left, &right) {
        (Expr::Const(a), Expr::Const(b)) => op.apply(*a, *b),
        (Expr::Const(0), _) if op == BinaryOp::And => Some(0),
        (Expr::Const(a), _) if op == BinaryOp::Or && *a != 0 => Some(1),
        _ => None,
    };
    match known {
        Some(value) => Expr::Const(value),
        None => Expr::Binary(op, Box::new(left), Box::new(right)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_go_wrong_is_folded() {
        assert_eq!(
            binary(BinaryOp::Add, Expr::Const(i32::MAX), Expr::Const(1)),
            Expr::Const(i32::MIN)
        );
        for op in [BinaryOp::Div, BinaryOp::Rem] {
            assert!(matches!(binary(op, Expr::Const(1), Expr::Const(0)), Expr::Binary(..)));
        }
    }

    #[test]
    fn the_second_operand_is_dropped_only_where_c_would_not_look_at_it() {
        let fails = || binary(BinaryOp::Div, Expr::Pid, Expr::Const(0));
        assert_eq!(binary(BinaryOp::And, Expr::Const(0), fails()), Expr::Const(0));
        assert_eq!(binary(BinaryOp::Or, Expr::Const(7), fails()), Expr::Const(1));
        assert!(matches!(binary(BinaryOp::And, fails(), Expr::Const(0)), Expr::Binary(..)));
    }
}
