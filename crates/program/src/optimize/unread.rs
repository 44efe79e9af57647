//! Drops assignments to globals that nobody reads.
//!
//! *Idea*: a counter that is only counted tells states apart that behave alike. A global is *needed* if
//! its value is read for anything but to compute one that is not needed, or if it cannot be left as it
//! is; to others nothing is assigned, and what is received for them is ignored, so that they keep their
//! first value. (If they kept it only for a while, that could tell states apart that were the same.) (SPIN hides such
//! variables if nothing at all reads them but `++`.) What is printed does not count.
//!
//! *Invariant*: transitions are possible exactly when they were, and go wrong when they did: an
//! assignment stays if computing its value or finding its place may go wrong. Channels are left alone,
//! and so are deterministic processes, in which a second possible assignment is an error, and loops inside of a
//! `d_step`: that one never ends may be seen at once without a counter, and with it only when that has come round, so
//! that whoever replays a run to it would have to wait for that.

use super::bytes::Bytes;
use super::{Watched, for_each_expr};
use crate::access::{in_action, in_expr, in_place, is_harmless, written};
use crate::ir::{Action, Expr, Place, Program, ReceiveArg, Space, StateId, Type};

pub(super) fn run(program: &mut Program, watched: &Watched) {
    let needed = needed(program, watched);
    let unneeded = |place: &Place| place.space == Space::Global && !needed.meets(place.span());
    for transition in &mut program.transitions {
        match &mut transition.action {
            Action::Assign(place, _) if unneeded(place) => transition.action = Action::Skip,
            Action::AssignAll(pairs) => pairs.retain(|(place, _)| !unneeded(place)),
            Action::Run { result, .. } => {
                result.take_if(|place| unneeded(place));
            }
            Action::Receive { args, .. } => {
                for arg in args {
                    if matches!(arg, ReceiveArg::Store(place) if unneeded(place)) {
                        *arg = ReceiveArg::Ignore;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether it makes no difference, but to what is set, whether a variable is set to a value.
fn is_droppable(place: &Place, value: Option<&Expr>) -> bool {
    place.indexes.is_empty() && value.is_none_or(is_harmless)
}

/// The bytes of the globals that are needed.
fn needed(program: &Program, watched: &Watched) -> Bytes {
    let mut needed = Bytes::none(program.globals.bytes);
    for slot in program.globals.slots.iter().filter(|slot| slot.ty == Type::Chan) {
        needed.insert(slot.offset..slot.offset + slot.scalar.bytes());
    }
    let looping = in_loops_of_d_steps(program);
    for (transition, looping) in program.transitions.iter().zip(looping) {
        let deterministic = program.automaton(transition.body).deterministic;
        written(&transition.action, &mut |place, value| {
            let stays = deterministic || looping || !is_droppable(place, value);
            if stays && place.space == Space::Global {
                needed.insert(place.span());
            }
        });
    }
    // What is assigned to globals that may not be needed.
    let mut droppable: Vec<(Place, Expr)> = Vec::new();
    let of_action = |action: &Action, visit: &mut dyn FnMut(&Expr)| {
        let mut assign = |place: &Place, value: &Expr| {
            if place.space == Space::Global && is_droppable(place, Some(value)) {
                droppable.push((place.clone(), value.clone()));
            } else {
                in_place(place, visit);
                in_expr(value, visit);
            }
        };
        match action {
            Action::Assign(place, value) => assign(place, value),
            Action::AssignAll(pairs) => {
                pairs.iter().for_each(|(place, value)| assign(place, value))
            }
            _ => in_action(action, visit),
        }
    };
    for_each_expr(program, watched, of_action, &mut |expr| note(expr, &mut needed));
    loop {
        let before = droppable.len();
        droppable.retain(|(place, value)| {
            let is_needed = needed.meets(place.span());
            if is_needed {
                in_expr(value, &mut |expr| note(expr, &mut needed));
            }
            !is_needed
        });
        if droppable.len() == before {
            return needed;
        }
    }
}

/// By transition: whether it is inside of a `d_step`, and can come again there.
fn in_loops_of_d_steps(program: &Program) -> Vec<bool> {
    let mut looping = vec![false; program.transitions.len()];
    for transition in &program.transitions {
        let Action::DStep { entry } = transition.action else {
            continue;
        };
        let automaton = program.automaton(transition.body);
        let next = |state: StateId| {
            let transitions = automaton.state(state).transition_ids();
            transitions.map(|id| (id, program.transition(id).to))
        };
        // From where, inside, to where.
        let reached = |from: StateId| {
            let mut reached = vec![from];
            let mut looked_at = 0;
            while let Some(&state) = reached.get(looked_at) {
                looked_at += 1;
                for (_, to) in next(state) {
                    if to != transition.to && !reached.contains(&to) {
                        reached.push(to);
                    }
                }
            }
            reached
        };
        for state in reached(entry) {
            for (id, to) in next(state) {
                let comes_again = to != transition.to && reached(to).contains(&state);
                looping[id.0 as usize] |= comes_again;
            }
        }
    }
    looping
}

fn note(expr: &Expr, needed: &mut Bytes) {
    if let Expr::Load(place) = expr
        && place.space == Space::Global
    {
        needed.insert(place.span());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{optimized, program, steps};
    use super::super::{Pass, Watched, optimize_by};
    use crate::Program;
    use crate::ir::{Action, ReceiveArg};

    fn is_dropped(program: &Program, text: &str) -> bool {
        matches!(steps(program, "P", text)[0].action, Action::Skip)
    }

    #[test]
    fn a_counter_that_is_only_counted_stays() {
        let program = optimized(
            "byte n, m, k, a[2], v, w; chan q = [2] of { byte, byte }
             active proctype P() {
               v++; w = v; assert(w < 3); n++; m = n; k = k + 1; a[k] = 2; a[0] = 1 / k; q?m,k; m = run Q()
             }
             proctype Q() { skip }",
            Pass::Unread,
        );
        assert!(is_dropped(&program, "n++"));
        assert!(is_dropped(&program, "m = n"));
        // For another that is read.
        assert!(!is_dropped(&program, "v++") && !is_dropped(&program, "w = v"));
        // As an index it is read.
        assert!(!is_dropped(&program, "k = k + 1"));
        assert!(!is_dropped(&program, "a[k] = 2") && !is_dropped(&program, "a[0] = 1 / k"));
        let Action::Receive { args, .. } = &steps(&program, "P", "q?m,k")[0].action else {
            panic!("a receive");
        };
        assert!(matches!(args[..], [ReceiveArg::Ignore, ReceiveArg::Store(_)]));
        let run = &steps(&program, "P", "m = run Q()")[0].action;
        assert!(matches!(run, Action::Run { result: None, .. }));
    }

    #[test]
    fn a_counter_in_a_loop_of_a_d_step_stays() {
        let program = optimized(
            "int n, m; active proctype P() { d_step { m++; do :: n++ od } }",
            Pass::Unread,
        );
        assert!(is_dropped(&program, "m++"));
        assert!(!is_dropped(&program, "n++"));
    }

    #[test]
    fn what_must_be_set_somewhere_is_set_everywhere() {
        let program = optimized(
            "byte v, w, k, a[2]
             active proctype P() { v = 1; w = v; w = 1 / k; a[0] = 1; a[k] = 2 }",
            Pass::Unread,
        );
        for text in ["v = 1", "w = v", "w = 1 / k", "a[0] = 1", "a[k] = 2"] {
            assert!(!is_dropped(&program, text), "{text}");
        }
    }

    #[test]
    fn what_is_watched_is_read() {
        let program = program(
            "byte n, m, k; local byte l
             active proctype P() { n++; m++; k++; printf(\"%d\", k); l = 1 }
             active proctype R() { l == 1 }
             never { do :: n > 0 od }",
        );
        let claim = Some(program.claims[0]);
        let watched = Watched { claim, ..Watched::default() };
        let checked = optimize_by(&program, &watched, &[Pass::Unread]);
        assert!(!is_dropped(&checked, "n++"));
        assert!(is_dropped(&checked, "m++") && is_dropped(&checked, "k++"));
        assert!(!is_dropped(&checked, "l = 1"));
        let unchecked = optimize_by(&program, &Watched::default(), &[Pass::Unread]);
        assert!(is_dropped(&unchecked, "n++"));
    }

    #[test]
    fn deterministic_processes_and_channels_are_left_alone() {
        let program = optimized(
            "byte n; chan c, d = [1] of { byte }
             active D_proctype P() { do :: n = 1 :: n = 2 :: c = d od }",
            Pass::Unread,
        );
        assert!(!is_dropped(&program, "n = 1"));
        assert!(!is_dropped(&program, "c = d"));
    }
}
