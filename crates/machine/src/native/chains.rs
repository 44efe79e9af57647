//! Which transitions may close a cycle inside of an atomic sequence.
//!
//! Inside of an atomic sequence a process moves by transitions after which it goes on alone, or by a
//! send, after which the receiver may. A run that never leaves atomic sequences and comes back to a
//! state takes each process that moves in it round a cycle of such transitions of its automaton. So it
//! contains, for every such process, an edge by which a depth-first walk of the automaton came back
//! to a local state on its path; only there states need to be compared.

use spinward_program::Program;
use spinward_program::ir::{Action, Automaton, Transition};

/// By transition: whether it is such an edge.
pub(super) fn closing(program: &Program) -> Vec<bool> {
    let mut closing = vec![false; program.transitions.len()];
    for automaton in &program.automata {
        mark(program, automaton, &mut closing);
    }
    closing
}

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    Not,
    OnPath,
    Done,
}

fn mark(program: &Program, automaton: &Automaton, closing: &mut [bool]) {
    let mut visits = vec![Visit::Not; automaton.states.len()];
    for root in 0..automaton.states.len() {
        if visits[root] != Visit::Not {
            continue;
        }
        visits[root] = Visit::OnPath;
        let mut path = vec![(root, automaton.states[root].transitions.clone())];
        while let Some((state, transitions)) = path.last_mut() {
            let Some(id) = transitions.next() else {
                visits[*state] = Visit::Done;
                path.pop();
                continue;
            };
            let transition = &program.transitions[id as usize];
            if !goes_on(transition) {
                continue;
            }
            let to = usize::from(transition.to.0);
            match visits[to] {
                Visit::Not => {
                    visits[to] = Visit::OnPath;
                    path.push((to, automaton.states[to].transitions.clone()));
                }
                Visit::OnPath => closing[id as usize] = true,
                Visit::Done => {}
            }
        }
    }
}

fn goes_on(transition: &Transition) -> bool {
    transition.atomic || matches!(transition.action, Action::Send { .. })
}
