//! Which expressions a statement evaluates, which variables it sets, and what may go wrong.

use crate::Program;
use crate::ir::{Action, BinaryOp, Expr, InitStep, Place, ReceiveArg, Space};

/// Whether the value of a `hidden` variable is ever read, for anything but to set another one. If not, whatever
/// these variables are, a model does the same.
pub fn reads_hidden(program: &Program) -> bool {
    if program.hidden.bytes == 0 {
        return false;
    }
    let mut any = false;
    let visit = &mut |expr: &Expr| {
        any |= matches!(expr, Expr::Load(place) if place.space == Space::Hidden);
    };
    for automaton in &program.automata {
        automaton.provided.iter().for_each(|provided| in_expr(provided, visit));
        automaton.init.iter().for_each(|step| in_init(step, visit));
    }
    for transition in &program.transitions {
        match &transition.action {
            Action::Assign(place, value) => in_assignment(place, value, visit),
            Action::AssignAll(pairs) => {
                pairs.iter().for_each(|(place, value)| in_assignment(place, value, visit));
            }
            action => in_action(action, visit),
        }
    }
    program.conditions.iter().for_each(|condition| in_expr(&condition.expr, visit));
    any
}

/// What of an assignment counts for others than hidden variables.
fn in_assignment(place: &Place, value: &Expr, visit: &mut dyn FnMut(&Expr)) {
    in_place(place, visit);
    if place.space != Space::Hidden || !is_harmless(value) {
        in_expr(value, visit);
    }
}

/// Calls `visit` with an expression and all inside of it.
pub(crate) fn in_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match expr {
        Expr::Const(_)
        | Expr::Pid
        | Expr::ProcessCount
        | Expr::Last
        | Expr::Priority
        | Expr::Timeout
        | Expr::NonProgress
        | Expr::C(_) => {}
        Expr::Load(place) => in_place(place, visit),
        Expr::Unary(_, a)
        | Expr::Len(a)
        | Expr::ChannelTest(_, a)
        | Expr::Enabled(a)
        | Expr::PcValue(a)
        | Expr::GetPriority(a) => in_expr(a, visit),
        Expr::Binary(_, a, b) => {
            in_expr(a, visit);
            in_expr(b, visit);
        }
        Expr::Conditional(c, a, b) => {
            in_expr(c, visit);
            in_expr(a, visit);
            in_expr(b, visit);
        }
        Expr::Poll { channel, args, .. } => {
            in_expr(channel, visit);
            in_args(args, visit);
        }
        Expr::RemoteLabel { pid, .. } => {
            pid.iter().for_each(|pid| in_expr(pid, visit));
        }
        Expr::RemoteVar { pid, place, .. } => {
            pid.iter().for_each(|pid| in_expr(pid, visit));
            in_place(place, visit);
        }
    }
}

/// Likewise for the indexes of a place.
pub(crate) fn in_place(place: &Place, visit: &mut dyn FnMut(&Expr)) {
    place.indexes.iter().for_each(|index| in_expr(&index.value, visit));
}

/// Likewise for the arguments of a receive.
pub(crate) fn in_args(args: &[ReceiveArg], visit: &mut dyn FnMut(&Expr)) {
    for arg in args {
        match arg {
            ReceiveArg::Store(place) => in_place(place, visit),
            ReceiveArg::Match(value) => in_expr(value, visit),
            ReceiveArg::Ignore => {}
        }
    }
}

/// Likewise for what happens when a block comes to life.
pub(crate) fn in_init(step: &InitStep, visit: &mut dyn FnMut(&Expr)) {
    match step {
        InitStep::Store(place, value) => {
            in_place(place, visit);
            in_expr(value, visit);
        }
        InitStep::NewChannel(place, _) => in_place(place, visit),
    }
}

/// Likewise for all that a transition evaluates. A `d_step` evaluates nothing by itself. Nor does what
/// is printed count, unless printing it may go wrong.
pub(crate) fn in_action(action: &Action, visit: &mut dyn FnMut(&Expr)) {
    match action {
        Action::Skip | Action::Else | Action::Die | Action::DStep { .. } | Action::C(_) => {}
        Action::Condition(value) | Action::Assert(value) | Action::SetOwnPriority(value) => {
            in_expr(value, visit);
        }
        Action::Assign(place, value) => {
            in_place(place, visit);
            in_expr(value, visit);
        }
        Action::AssignAll(pairs) => {
            for (place, value) in pairs {
                in_place(place, visit);
                in_expr(value, visit);
            }
        }
        Action::Run { result, args, priority, .. } => {
            result.iter().for_each(|place| in_place(place, visit));
            args.iter().chain(priority).for_each(|arg| in_expr(arg, visit));
        }
        Action::Send { channel, args, .. } => {
            in_expr(channel, visit);
            args.iter().for_each(|arg| in_expr(arg, visit));
        }
        Action::Receive { channel, args, .. } | Action::Event { channel, args, .. } => {
            in_expr(channel, visit);
            in_args(args, visit);
        }
        Action::Print { args, .. } => {
            let values = args.iter().map(|(value, _)| value);
            values.filter(|value| !is_harmless(value)).for_each(|value| in_expr(value, visit));
        }
        Action::PrintMtype(value, _) => {
            if !is_harmless(value) {
                in_expr(value, visit);
            }
        }
        Action::SetPriority(process, priority) => {
            in_expr(process, visit);
            in_expr(priority, visit);
        }
    }
}

/// Calls `visit` with every variable that a transition sets, in order, and with the value if it is
/// assigned; for those inside of a `d_step` ask them.
pub(crate) fn written(action: &Action, visit: &mut dyn FnMut(&Place, Option<&Expr>)) {
    match action {
        Action::Assign(place, value) => visit(place, Some(value)),
        Action::AssignAll(pairs) => {
            pairs.iter().for_each(|(place, value)| visit(place, Some(value)));
        }
        Action::Run { result, .. } => result.iter().for_each(|place| visit(place, None)),
        Action::Receive { args, .. } => args.iter().for_each(|arg| {
            if let ReceiveArg::Store(place) = arg {
                visit(place, None);
            }
        }),
        _ => {}
    }
}

/// Whether computing an expression cannot go wrong, so that it may be left out.
pub(crate) fn is_harmless(expr: &Expr) -> bool {
    let mut harmless = true;
    in_expr(expr, &mut |inner| {
        harmless &= match inner {
            Expr::Load(place) => place.indexes.is_empty(),
            Expr::RemoteVar { place, .. } => place.indexes.is_empty(),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) => {
                matches!(**divisor, Expr::Const(number) if number != 0)
            }
            Expr::Len(_)
            | Expr::ChannelTest(..)
            | Expr::Poll { .. }
            | Expr::Enabled(_)
            | Expr::C(_) => false,
            _ => true,
        };
    });
    harmless
}
