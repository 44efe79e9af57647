//! How fast values change.
//!
//! *Idea*: a variable that is only ever counted up and down by constants needs as many steps to come to a value as
//! these allow (the refinement proposed in Edelkamp, Lluch Lafuente and Leue, *Directed explicit-state model
//! checking in the validation of communication protocols*, 2004, section 4, after figure 9). The same goes for the
//! number of messages in a channel that is always the same one.

use crate::Program;
use crate::access::written;
use crate::ir::{Action, BinaryOp, BodyId, Expr, Place, Scalar, Space, Transition};
use crate::touches::{each_inside, overlap};

/// The most by which a value changes in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Upwards.
    pub up: u32,
    /// Downwards.
    pub down: u32,
}

/// How fast an expression of a body, or of none, changes while its process lives; none if a single step may do
/// anything. If it is to be `sure`, a small number that is counted both up and down is one that may do anything:
/// it comes round.
pub fn rate(program: &Program, body: Option<BodyId>, expr: &Expr, sure: bool) -> Option<Rate> {
    match expr {
        Expr::Const(_) => Some(Rate::default()),
        Expr::Load(place) => {
            let comes_round =
                |rate: &Rate| place.scalar != Scalar::I32 && rate.up > 0 && rate.down > 0;
            counted(program, body, place).filter(|rate| !sure || !comes_round(rate))
        }
        Expr::Len(channel) if is_fixed(program, channel) && !in_d_step(program, is_message) => {
            Some(Rate { up: 1, down: 1 })
        }
        Expr::Binary(BinaryOp::Add, a, b) => {
            let (a, b) = (rate(program, body, a, sure)?, rate(program, body, b, sure)?);
            Some(Rate { up: a.up.checked_add(b.up)?, down: a.down.checked_add(b.down)? })
        }
        Expr::Binary(BinaryOp::Sub, a, b) => {
            let (a, b) = (rate(program, body, a, sure)?, rate(program, body, b, sure)?);
            Some(Rate { up: a.up.checked_add(b.down)?, down: a.down.checked_add(b.up)? })
        }
        _ => None,
    }
}

/// Whether an expression always means the same channel.
pub fn is_fixed(program: &Program, channel: &Expr) -> bool {
    match channel {
        Expr::Const(_) => true,
        Expr::Load(place) => {
            place.space == Space::Global
                && place.indexes.is_empty()
                && counted(program, None, place) == Some(Rate::default())
        }
        _ => false,
    }
}

/// Whether messages come to a channel only at its end, one in a step, and go one in a step.
pub fn is_queue(program: &Program, channel: &Expr) -> bool {
    let is_sorted = |action: &Action| matches!(action, Action::Send { sorted: true, .. });
    is_fixed(program, channel)
        && !program.transitions.iter().any(|it| is_sorted(&it.action))
        && !in_d_step(program, is_message)
}

fn is_message(action: &Action) -> bool {
    matches!(action, Action::Send { .. } | Action::Receive { .. })
}

/// Whether some action inside of a `d_step`, which is one step however often it is done there, is such.
fn in_d_step(program: &Program, is_such: fn(&Action) -> bool) -> bool {
    let mut any = false;
    for transition in &program.transitions {
        if let Action::DStep { entry } = transition.action {
            each_inside(program, transition, entry, |id| {
                any |= is_such(&program.transition(id).action);
            });
        }
    }
    any
}

/// The rate of a variable that is only counted up and down.
fn counted(program: &Program, body: Option<BodyId>, place: &Place) -> Option<Rate> {
    let is_local = place.space == Space::Local;
    if is_local && body.is_none() || place.space == Space::Hidden {
        return None;
    }
    let mut rate = Some(Rate::default());
    let mut note = |step: &Transition, repeats: bool| {
        if is_local && Some(step.body) != body {
            return;
        }
        if is_local && step.resets.iter().any(|bytes| overlap(bytes, &place.span())) {
            rate = None;
        }
        written(&step.action, &mut |to, value| {
            if to.space != place.space || !overlap(&to.span(), &place.span()) {
                return;
            }
            let by = value
                .and_then(|value| counts(to, value))
                .filter(|_| !repeats && to.scalar == place.scalar);
            rate = rate.zip(by).map(|(rate, by)| Rate {
                up: rate.up.max(by.max(0).unsigned_abs()),
                down: rate.down.max(by.min(0).unsigned_abs()),
            });
        });
    };
    for transition in &program.transitions {
        match transition.action {
            Action::DStep { entry } => each_inside(program, transition, entry, |id| {
                note(program.transition(id), true);
            }),
            // All are set in one step.
            Action::AssignAll(_) => note(transition, true),
            _ => note(transition, false),
        }
    }
    rate
}

/// By how much a value that is assigned to a variable differs from what it was.
fn counts(place: &Place, value: &Expr) -> Option<i32> {
    let Expr::Binary(op, of, by) = value else {
        return None;
    };
    match (op, &**of, &**by) {
        (BinaryOp::Add, Expr::Load(of), Expr::Const(by))
        | (BinaryOp::Add, Expr::Const(by), Expr::Load(of))
            if of == place =>
        {
            Some(*by)
        }
        (BinaryOp::Sub, Expr::Load(of), Expr::Const(by)) if of == place => by.checked_neg(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::program;

    /// The rate of the first global that is asked for in a condition of the first process.
    fn rate_in(text: &str) -> Option<Rate> {
        let program = program(text);
        let asked = program.transitions.iter().find_map(|it| match &it.action {
            Action::Condition(Expr::Binary(BinaryOp::Eq, asked, _)) => Some((it.body, asked)),
            _ => None,
        });
        let (body, asked) = asked.unwrap();
        rate(&program, Some(body), asked, true)
    }

    #[test]
    fn counters_change_by_constants() {
        let rate = rate_in("int x; active proctype P() { x == 9; x++; x = x + 3; x = x - 2 }");
        assert_eq!(rate, Some(Rate { up: 3, down: 2 }));
        let rate = rate_in("int a[2]; active proctype P() { int i; a[i] == 9; a[i]++ }");
        assert_eq!(rate, Some(Rate { up: 1, down: 0 }));
        let rate = rate_in("chan c = [2] of { bit }; active proctype P() { len(c) == 2; c!1 }");
        assert_eq!(rate, Some(Rate { up: 1, down: 1 }));
        let rate = rate_in("int x, y; active proctype P() { x - y == 9; x++; y++ }");
        assert_eq!(rate, Some(Rate { up: 1, down: 1 }));
    }

    #[test]
    fn what_is_set_or_comes_round_may_do_anything() {
        assert_eq!(rate_in("int x; active proctype P() { x == 9; x++; x = 0 }"), None);
        assert_eq!(rate_in("int x; active proctype P() { x == 9; d_step { x++; x++ } }"), None);
        assert_eq!(rate_in("byte x; active proctype P() { x == 9; x++; x-- }"), None);
        let chan =
            "chan c = [2] of { bit }; active proctype P() { len(c) == 2; d_step { c!1; c!0 } }";
        assert_eq!(rate_in(chan), None);
        let chan = "chan c = [2] of { bit }, d; active proctype P() { len(d) == 2; d = c }";
        assert_eq!(rate_in(chan), None);
    }
}
