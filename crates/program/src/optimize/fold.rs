//! Computes what is known beforehand.
//!
//! *Idea*: a global that is never set holds its first value for ever, so where it is read that value may
//! stand; operators on constants then give constants, and indexes that are constant offsets. Fewer bytes
//! are read, so that fewer moves depend on them. What would go wrong is left to go wrong.
//!
//! *Invariant*: every expression has the value it had, in every reachable state, or goes wrong as it did.

use rustc_hash::FxHashMap;

use super::bytes::Bytes;
use crate::access::written;
use crate::ir::{Action, BinaryOp, Expr, InitStep, Place, Program, ReceiveArg, Space};

pub(super) fn run(program: &mut Program) {
    let constants = Constants::new(program);
    for automaton in &mut program.automata {
        automaton.provided.iter_mut().for_each(|provided| constants.fold(provided));
        for step in &mut automaton.init {
            if let InitStep::Store(_, value) = step {
                constants.fold(value);
            }
        }
    }
    for transition in &mut program.transitions {
        constants.fold_action(&mut transition.action);
    }
    program.conditions.iter_mut().for_each(|condition| constants.fold(&mut condition.expr));
}

/// What is known of globals.
struct Constants {
    /// Bytes of the globals, and of the hidden ones, that change or are not known.
    changing: [Bytes; 2],
    /// Where the others are not 0.
    values: FxHashMap<(usize, u32), i32>,
}

/// Which block, if it is one of those.
fn block(place: &Place) -> Option<usize> {
    match place.space {
        Space::Global => Some(0),
        Space::Hidden => Some(1),
        Space::Local => None,
    }
}

impl Constants {
    fn new(program: &Program) -> Self {
        let changing = [&program.globals, &program.hidden].map(|block| Bytes::none(block.bytes));
        let mut constants = Self { changing, values: FxHashMap::default() };
        for step in &program.init {
            match step {
                InitStep::Store(place, Expr::Const(value)) if place.indexes.is_empty() => {
                    if let Some(block) = block(place) {
                        let value = place.scalar.truncate(*value);
                        constants.values.insert((block, place.offset), value);
                    }
                }
                InitStep::Store(place, _) | InitStep::NewChannel(place, _) => {
                    constants.forget(place);
                }
            }
        }
        for step in program.automata.iter().flat_map(|automaton| &automaton.init) {
            let (InitStep::Store(place, _) | InitStep::NewChannel(place, _)) = step;
            constants.forget(place);
        }
        for transition in &program.transitions {
            written(&transition.action, &mut |place, _| constants.forget(place));
        }
        constants
    }

    fn forget(&mut self, place: &Place) {
        if let Some(block) = block(place) {
            self.changing[block].insert(place.span());
        }
    }

    fn value(&self, place: &Place) -> Option<i32> {
        let block = block(place).filter(|_| place.indexes.is_empty())?;
        let known = !self.changing[block].meets(place.span());
        known.then(|| self.values.get(&(block, place.offset)).copied().unwrap_or(0))
    }

    fn fold_action(&self, action: &mut Action) {
        match action {
            Action::Skip | Action::Else | Action::Die | Action::DStep { .. } | Action::C(_) => {}
            Action::Condition(value) | Action::Assert(value) | Action::SetOwnPriority(value) => {
                self.fold(value);
            }
            Action::Assign(place, value) => {
                self.fold_place(place);
                self.fold(value);
            }
            Action::AssignAll(pairs) => {
                for (place, value) in pairs {
                    self.fold_place(place);
                    self.fold(value);
                }
            }
            Action::Run { result, args, priority, .. } => {
                result.iter_mut().for_each(|place| self.fold_place(place));
                args.iter_mut().chain(priority).for_each(|arg| self.fold(arg));
            }
            Action::Send { channel, args, .. } => {
                self.fold(channel);
                args.iter_mut().for_each(|arg| self.fold(arg));
            }
            Action::Receive { channel, args, .. } | Action::Event { channel, args, .. } => {
                self.fold(channel);
                self.fold_args(args);
            }
            Action::Print { args, .. } => args.iter_mut().for_each(|(arg, _)| self.fold(arg)),
            Action::PrintMtype(value, _) => self.fold(value),
            Action::SetPriority(process, priority) => {
                self.fold(process);
                self.fold(priority);
            }
        }
    }

    fn fold_args(&self, args: &mut [ReceiveArg]) {
        for arg in args {
            match arg {
                ReceiveArg::Store(place) => self.fold_place(place),
                ReceiveArg::Match(value) => self.fold(value),
                ReceiveArg::Ignore => {}
            }
        }
    }

    /// Takes the indexes that are constant and in range into the offset.
    fn fold_place(&self, place: &mut Place) {
        let offset = &mut place.offset;
        place.indexes.retain_mut(|index| {
            self.fold(&mut index.value);
            match index.value {
                Expr::Const(i) if i >= 0 && (i as u32) < index.length => {
                    *offset += i as u32 * index.stride;
                    false
                }
                _ => true,
            }
        });
    }

    fn fold(&self, expr: &mut Expr) {
        let value = match expr {
            Expr::Const(_)
            | Expr::Pid
            | Expr::ProcessCount
            | Expr::Last
            | Expr::Priority
            | Expr::Timeout
            | Expr::NonProgress
            | Expr::C(_) => None,
            Expr::Load(place) => {
                self.fold_place(place);
                self.value(place)
            }
            Expr::Unary(op, a) => {
                self.fold(a);
                constant(a).map(|a| op.apply(a))
            }
            Expr::Binary(op, a, b) => {
                self.fold(a);
                self.fold(b);
                match (*op, constant(a), constant(b)) {
                    // The second operand is not looked at then.
                    (BinaryOp::And, Some(0), _) => Some(0),
                    (BinaryOp::Or, Some(a), _) if a != 0 => Some(1),
                    (op, Some(a), Some(b)) => op.apply(a, b),
                    _ => None,
                }
            }
            Expr::Conditional(c, a, b) => {
                self.fold(c);
                self.fold(a);
                self.fold(b);
                if let Some(c) = constant(c) {
                    let chosen = if c != 0 { a } else { b };
                    *expr = std::mem::replace(chosen, Expr::Const(0));
                    return;
                }
                None
            }
            Expr::Len(a)
            | Expr::ChannelTest(_, a)
            | Expr::Enabled(a)
            | Expr::PcValue(a)
            | Expr::GetPriority(a) => {
                self.fold(a);
                None
            }
            Expr::Poll { channel, args, .. } => {
                self.fold(channel);
                self.fold_args(args);
                None
            }
            Expr::RemoteLabel { pid, .. } => {
                pid.iter_mut().for_each(|pid| self.fold(pid));
                None
            }
            Expr::RemoteVar { pid, place, .. } => {
                pid.iter_mut().for_each(|pid| self.fold(pid));
                self.fold_place(place);
                None
            }
        };
        if let Some(value) = value {
            *expr = Expr::Const(value);
        }
    }
}

fn constant(expr: &Expr) -> Option<i32> {
    match expr {
        Expr::Const(value) => Some(*value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pass;
    use super::super::tests::{optimized, steps};
    use crate::ir::{Action, Expr};

    #[test]
    fn what_is_never_set_is_its_first_value() {
        let program = optimized(
            "byte n = 3, m; byte a[4] = 7; byte k = 1
             active proctype P() {
               byte x[4]; byte y;
               y = n * 2 + m; y = a[n] + k; x[n] = 1; y = 5 / m; y = (n > 2 -> y : 1); k++
             }",
            Pass::Fold,
        );
        let action = |text| steps(&program, "P", text)[0].action.clone();
        assert!(matches!(action("y = n * 2 + m"), Action::Assign(_, Expr::Const(6))));
        let Action::Assign(_, Expr::Binary(_, a, k)) = action("y = a[n] + k") else {
            panic!("`k` changes");
        };
        assert!(matches!((*a, *k), (Expr::Const(7), Expr::Load(_))));
        let Action::Assign(place, _) = action("x[n] = 1") else { panic!("an assignment") };
        let at = &super::super::tests::automaton(&program, "P").locals.slots[3];
        assert!(at.name == "x[3]" && place.indexes.is_empty() && place.offset == at.offset);
        // A division by zero stays one.
        assert!(matches!(action("y = 5 / m"), Action::Assign(_, Expr::Binary(..))));
        assert!(matches!(action("y = (n > 2 -> y : 1)"), Action::Assign(_, Expr::Load(_))));
    }

    #[test]
    fn what_anybody_sets_is_not_known() {
        let program = optimized(
            "byte a[3], b, c, d; hidden byte h; chan q = [1] of { byte }
             active proctype P() { byte i; a[i] = 1; q?b; c = run Q(); assert(a[2] + b + c + d + h) }
             proctype Q() { d_step { d = 1; h = 1 } }",
            Pass::Fold,
        );
        let mut loads = 0;
        let assertion = &steps(&program, "P", "assert(a[2] + b + c + d + h)")[0].action;
        super::super::access::in_action(assertion, &mut |expr| {
            loads += usize::from(matches!(expr, Expr::Load(_)));
        });
        assert_eq!(loads, 5);
        let Action::Receive { channel, .. } = &steps(&program, "P", "q?b")[0].action else {
            panic!("a receive");
        };
        assert!(matches!(channel, Expr::Load(_)));
    }
}
