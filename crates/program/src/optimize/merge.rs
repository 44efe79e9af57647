//! Lets processes go on alone where nobody can see it.
//!
//! *Idea*: a local state is *quiet* if whatever a process does there is on its own data only, cannot go
//! wrong, and is always possible: one assignment, jump, assertion or print, or a condition with its
//! `else`. A transition to a quiet state is marked as inside of an `atomic`, so that the process goes on
//! from there at once.
//!
//! *Source*: the ample sets of Clarke, Grumberg, Minea, Peled, *State space reduction using partial
//! order techniques*, 1999, chosen statically as by Holzmann and Peled, 1994; SPIN's merging of statements.
//! What a process does in a quiet state commutes with every step of others, neither makes one possible
//! nor prevents one, and shows to no condition or claim. So from a run that takes it later one gets
//! another that takes it at once, with the same values of all that is watched but for repetitions.
//! No run gets lost by that for ever: each cycle of a process keeps a step after which
//! others may move. Every state that is left is a state of the old program.
//!
//! Where a rendezvous stands beside an `else`, or in an escape, its answer being possible prevents
//! that; then nothing is merged. Nor if there is one at all and runs must be fair: it makes possible what others do
//! (`spinward_program::independence` says why that counts). Nor where somebody asks what another process could do or where it is.
//! A quiet state has one way on: more would have to be walked one by one, and those that meet again
//! as often.
//!
//! *Invariant*: a sequence that this makes ends with a quiet step that is not inside of an `atomic`
//! of the text, so that each change others can see is followed by a state in which they can see it.
//!
//! *Cost*: for each transition to a quiet state a walk along transitions after which a process goes on.

use rustc_hash::FxHashSet;

use super::bytes::Bytes;
use super::{Watched, for_each_expr, is_process, seen_by_others};
use crate::access::{in_action, in_expr, is_harmless};
use crate::independence::asks_who_is_ready;
use crate::ir::{Action, Automaton, Expr, Place, Program, Space, StateId, Transition};

pub(super) fn run(program: &mut Program, watched: &Watched) {
    if (watched.claim.is_some() && !watched.stutters) || asks_too_much(program, watched) {
        return;
    }
    let seen = seen_by_others(program, watched);
    let labels = labels(program, watched);
    for (body, seen) in seen.iter().enumerate() {
        let automaton = &program.automata[body];
        if !is_process(automaton.kind) || automaton.deterministic || has_escapes(program, automaton)
        {
            continue;
        }
        let is_quiet = |state: usize| is_quiet(program, automaton, state, seen, &labels);
        let quiet: Vec<bool> = (0..automaton.states.len()).map(is_quiet).collect();
        let states = automaton.states.iter().filter(|state| state.reachable);
        let ids: Vec<_> = states.flat_map(|state| state.transition_ids()).collect();
        for id in ids {
            let transition = program.transition(id);
            if !transition.atomic
                && quiet[usize::from(transition.to.0)]
                && !closes_cycle(program, transition)
            {
                program.transitions[id.0 as usize].atomic = true;
            }
        }
    }
}

/// Whether the order of steps shows to somebody, or whether a process could take one.
fn asks_too_much(program: &Program, watched: &Watched) -> bool {
    let uses = &program.uses;
    let mut asks = uses.priorities || uses.last || program.trace.is_some();
    asks |= program.automata.iter().any(|automaton| automaton.provided.is_some());
    for_each_expr(program, watched, in_action, &mut |expr| {
        asks |= matches!(expr, Expr::Enabled(_) | Expr::PcValue(_) | Expr::NonProgress);
    });
    let asks_who_is_ready = || watched.fair || asks_who_is_ready(program, &watched.conditions);
    asks || has_rendezvous(program) && asks_who_is_ready()
}

fn has_rendezvous(program: &Program) -> bool {
    program.channels.iter().any(|kind| kind.capacity == 0)
}

fn has_escapes(program: &Program, automaton: &Automaton) -> bool {
    let mut ids = automaton.states.iter().flat_map(|state| state.transition_ids());
    ids.any(|id| program.transition(id).escape > 0)
}

/// By the number of a local state: whether somebody asks for a process in it. What is asked for may be
/// a process of any type.
fn labels(program: &Program, watched: &Watched) -> Vec<bool> {
    let states = program.automata.iter().map(|automaton| automaton.states.len());
    let mut labels = vec![false; states.max().unwrap_or(0)];
    for_each_expr(program, watched, in_action, &mut |expr| {
        if let Expr::RemoteLabel { state, .. } = expr
            && let Some(asked) = labels.get_mut(usize::from(state.0))
        {
            *asked = true;
        }
    });
    labels
}

fn is_quiet(
    program: &Program,
    automaton: &Automaton,
    state: usize,
    seen: &Bytes,
    labels: &[bool],
) -> bool {
    let control = &automaton.states[state];
    let transitions: Vec<_> = control.transition_ids().map(|id| program.transition(id)).collect();
    let goes_on = match transitions.as_slice() {
        [only] => is_quiet_step(&only.action, seen),
        [one, other] => {
            matches!((&one.action, &other.action), (Action::Condition(condition), Action::Else)
                if is_own(condition))
        }
        _ => false,
    };
    goes_on
        && control.reachable
        && !(control.end || control.accept || control.progress || labels[state])
        && transitions.iter().all(|t| !t.atomic && t.to.0 != 0 && !labels[usize::from(t.to.0)])
}

/// Whether a step is always possible, cannot go wrong, and is on the process's own data only.
fn is_quiet_step(action: &Action, seen: &Bytes) -> bool {
    let assigns = |(place, value): (&Place, &Expr)| is_own_place(place, seen) && is_own(value);
    match action {
        Action::Skip => true,
        Action::Condition(Expr::Const(value)) => *value != 0,
        Action::Assign(place, value) => assigns((place, value)),
        Action::AssignAll(pairs) => pairs.iter().all(|(place, value)| assigns((place, value))),
        Action::Assert(condition) => is_own(condition),
        // What is printed is seen by nobody.
        Action::Print { args, .. } => args.iter().all(|(value, _)| is_harmless(value)),
        Action::PrintMtype(value, _) => is_harmless(value),
        _ => false,
    }
}

fn is_own_place(place: &Place, seen: &Bytes) -> bool {
    place.space == Space::Local && place.indexes.is_empty() && !seen.meets(place.span())
}

/// Whether an expression reads nothing but the process's own data.
fn is_own(expr: &Expr) -> bool {
    let mut own = is_harmless(expr);
    in_expr(expr, &mut |inner| {
        own &= match inner {
            Expr::Const(_)
            | Expr::Pid
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Conditional(..) => true,
            // Others may read it, but only the process itself sets it.
            Expr::Load(place) => place.space == Space::Local,
            _ => false,
        };
    });
    own
}

/// Whether a process could come back to where a transition starts without a state in which others may
/// move, if it went on alone after it. By a rendezvous it may hand on, and get back, that right.
fn closes_cycle(program: &Program, transition: &Transition) -> bool {
    let automaton = program.automaton(transition.body);
    let rendezvous = has_rendezvous(program);
    let mut seen = FxHashSet::default();
    let mut waiting: Vec<StateId> = vec![transition.to];
    while let Some(state) = waiting.pop() {
        if state == transition.from {
            return true;
        }
        if !seen.insert(state) {
            continue;
        }
        for id in automaton.state(state).transition_ids() {
            let next = program.transition(id);
            if next.atomic || rendezvous && matches!(next.action, Action::Send { .. }) {
                waiting.push(next.to);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::tests::{automaton, optimized, program, steps};
    use super::super::{Pass, Watched, optimize_by};
    use crate::Program;

    /// Whether the process goes on alone after each of the transitions with this text.
    fn goes_on(program: &Program, body: &str, text: &str) -> bool {
        let mut found = steps(program, body, text);
        found.retain(|t| automaton(program, body).state(t.from).reachable);
        assert!(found.iter().all(|t| t.atomic == found[0].atomic), "{text}: {found:?}");
        found[0].atomic
    }

    fn merged(text: &str) -> Program {
        optimized(text, Pass::Merge)
    }

    #[test]
    fn steps_on_own_data_follow_at_once() {
        let program = merged(
            "byte g; chan q = [1] of { byte }
             active proctype P() {
               byte x, a[2];
               g = 1; x = 2; assert(x == 2); printf(\"%d\", g); x = _pid;
               q?x; x = x + 1; g = 2; a[x] = 1; g = 3; x = 7 / x; g = 4; g = 5
             }",
        );
        for text in ["g = 1", "x = 2", "assert(x == 2)", "printf(\"%d\", g)", "q?x"] {
            assert!(goes_on(&program, "P", text), "{text}");
        }
        // What follows is a receive, sets a global, may go wrong, or sets a global.
        for text in ["x = _pid", "x = x + 1", "g = 2", "g = 3", "g = 4"] {
            assert!(!goes_on(&program, "P", text), "{text}");
        }
    }

    #[test]
    fn every_cycle_keeps_a_state() {
        let program = merged(
            "byte g
             active proctype P() { byte x; do :: x = 1; x = 2; x = 3 od }
             active proctype Q() { byte y; do :: y < 3 -> y = y + 1 :: else -> break od; g = y }
             active proctype R() { byte z; L: g = 1; z = 1; atomic { g = 2; g = 3; goto L } }",
        );
        for name in ["P", "Q", "R"] {
            let body = automaton(&program, name);
            for state in body.states.iter().filter(|state| state.reachable) {
                for id in state.transition_ids() {
                    let transition = program.transition(id);
                    if transition.atomic {
                        assert!(!super::closes_cycle(&program, transition), "{transition:?}");
                    }
                }
            }
        }
        assert_ne!(goes_on(&program, "Q", "y < 3"), goes_on(&program, "Q", "y = y + 1"));
        assert!(goes_on(&program, "R", "g = 1"));
    }

    #[test]
    fn a_change_is_not_hidden_by_an_atomic_that_follows() {
        let program = merged(
            "byte g
             active proctype P() { byte x; g = 1; atomic { x = 1; g = 2 } }",
        );
        assert!(!goes_on(&program, "P", "g = 1"));
    }

    #[test]
    fn what_others_see_of_a_process_keeps_its_states() {
        let text = "byte g
             active proctype P() { byte x, y; g = 1; L: x = 1; g = 2; y = 1; g = 3; x = 2; M: g = 4 }
             active proctype Q() { P@L; P:y == 1; P@M }";
        let program = merged(text);
        for step in ["g = 1", "g = 2", "g = 3"] {
            assert!(!goes_on(&program, "P", step), "{step}");
        }
    }

    #[test]
    fn labels_and_ends_are_states() {
        let program = merged(
            "byte g
             active proctype P() {
               byte x; g = 1; accept: x = 1; g = 2; progress: x = 2; g = 3; end: x = 3; g = 4 }",
        );
        for step in ["g = 1", "g = 2", "g = 3", "g = 4"] {
            assert!(!goes_on(&program, "P", step), "{step}");
        }
    }

    #[test]
    fn nothing_is_merged_where_the_order_of_steps_shows() {
        let step = "byte g; active proctype P() { byte x; g = 1; x = 1 }";
        assert!(goes_on(&merged(step), "P", "g = 1"));
        for other in [
            "active proctype Q() { enabled(0) }",
            "active proctype Q() { pc_value(0) == 2 }",
            "active proctype Q() { _last == 0 }",
            "active proctype Q() priority 2 { skip }",
            "active proctype Q() provided (g > 0) { skip }",
            "chan c = [1] of { bit }; trace { do :: c!_ od } active proctype Q() { c!1 }",
            "chan c = [0] of { bit }; active proctype Q() { if :: c!1 :: else fi }",
            "chan c = [0] of { bit }; active proctype Q() { { g > 0 } unless { c!1 } }",
        ] {
            assert!(!goes_on(&merged(&format!("{step}\n{other}")), "P", "g = 1"), "{other}");
        }
        for body in [
            "D_proctype P() { byte x; g = 1; x = 1 }",
            "proctype P() { byte x; { g = 1; x = 1 } unless { g > 5 } }",
        ] {
            assert!(!goes_on(&merged(&format!("byte g; active {body}")), "P", "g = 1"), "{body}");
        }
    }

    #[test]
    fn a_claim_that_counts_steps_sees_them_all() {
        let program = program(
            "byte g
             active proctype P() { byte x; g = 1; x = 1 }
             never { do :: g > 0 od }",
        );
        let claim = Some(program.claims[0]);
        for stutters in [false, true] {
            let watched = Watched { claim, stutters, ..Watched::default() };
            let merged = optimize_by(&program, &watched, &[Pass::Merge]);
            assert_eq!(goes_on(&merged, "P", "g = 1"), stutters);
        }
    }
}
