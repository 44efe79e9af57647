//! Where a process may have to wait.
//!
//! In a deadlock each process waits, or is gone. A local state is *dangerous* if none of its transitions is always
//! possible (Edelkamp, Lluch Lafuente and Leue, *Directed explicit-state model checking in the validation of
//! communication protocols*, 2004, section 4). Users who know better mark those that matter with labels
//! `danger...`.

use crate::Program;
use crate::ir::{Action, Automaton, Expr, StateId};

/// What labels start with that mark dangerous states.
pub const DANGER: &str = "danger";

/// Whether a process may have to wait in a local state, or be there no more.
pub fn may_block(program: &Program, automaton: &Automaton, state: StateId) -> bool {
    automaton.provided.is_some()
        || automaton
            .state(state)
            .transition_ids()
            .all(|id| may_be_impossible(program, automaton, &program.transition(id).action))
}

fn may_be_impossible(program: &Program, automaton: &Automaton, action: &Action) -> bool {
    match action {
        Action::Condition(Expr::Const(value)) => *value == 0,
        // If nobody can move otherwise, whoever waits for that can.
        Action::Condition(Expr::Timeout) => false,
        Action::Condition(_)
        | Action::Send { .. }
        | Action::Receive { .. }
        | Action::Event { .. }
        | Action::Die => true,
        Action::DStep { entry } => may_block(program, automaton, *entry),
        _ => false,
    }
}

/// The local states of an automaton that its labels mark as dangerous.
pub fn marked(automaton: &Automaton) -> impl Iterator<Item = (&str, StateId)> {
    let labels = automaton.labels.iter().filter(|(name, _)| name.starts_with(DANGER));
    labels.map(|(name, state)| (name.as_str(), *state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::program;

    #[test]
    fn a_process_waits_where_nothing_is_always_possible() {
        let text = "chan c = [1] of { bit }; bit x;
            active proctype P() {
              wait: c?x; if :: x -> skip :: else fi;
              either: if :: c!0 :: x = 1 fi;
              late: timeout;
              step: d_step { x; x = 0 };
              done: skip
            }";
        let program = program(text);
        let automaton = &program.automata[0];
        let blocks: Vec<_> = automaton
            .labels
            .iter()
            .filter(|(_, state)| may_block(&program, automaton, *state))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(blocks, ["wait", "step"]);
        let end = program.transitions.iter().find(|it| matches!(it.action, Action::Die)).unwrap();
        assert!(may_block(&program, automaton, end.from));
    }
}
