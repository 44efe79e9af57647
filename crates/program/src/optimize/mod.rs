//! A program that says the same of what is watched, with fewer states and less to do.
//!
//! *Idea*: what nobody looks at need not be told apart. `fold` computes what is known beforehand,
//! `unread` drops assignments to globals that nobody reads, [`dead`] sets locals to 0 that nobody
//! reads before they are set again, `merge` lets a process go on at once where nobody can see
//! whether it does.
//!
//! *Invariant*: transitions, elements, local states and the layout of states stay, each with its
//! number; only what transitions do and test is changed, and where they go on alone. So a run of the
//! new program is, step by step, a run of the old one, by which it is replayed and shown: what is
//! printed on it comes from there.
//!
//! *Cost*: about linear in the size of the program, times the bytes of a process's locals.

mod bytes;
pub mod dead;
mod fold;
mod merge;
mod unread;

use std::ops::Range;

use crate::access;
use crate::independence::Channel;
use crate::ir::{Action, Automaton, BodyId, BodyKind, Expr, Program};
use bytes::Bytes;

/// What is looked at beside the processes: all else need not be kept.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The claim that moves in step with the system.
    pub claim: Option<BodyId>,
    /// Whether the claim does not mind how often a state is repeated, as a formula without `X`. If it
    /// does, no steps are merged.
    pub stutters: bool,
    /// Whether somebody sees who can move, to be fair to all.
    pub fair: bool,
    /// The [conditions](Program::conditions) that are asked for.
    pub conditions: Vec<u32>,
}

/// One of the transformations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Computes what is known beforehand.
    Fold,
    /// Drops assignments to globals that nobody reads.
    Unread,
    /// Sets locals to 0 that nobody reads before they are set again.
    Dead,
    /// Lets processes go on alone where nobody can see it.
    Merge,
}

impl Pass {
    /// All of them, in an order in which each helps those after it.
    pub const ALL: [Self; 4] = [Self::Fold, Self::Unread, Self::Dead, Self::Merge];
}

/// The program with all transformations made.
pub fn optimize(program: &Program, watched: &Watched) -> Program {
    optimize_by(program, watched, &Pass::ALL)
}

/// The program with some transformations made, in this order.
pub fn optimize_by(program: &Program, watched: &Watched, passes: &[Pass]) -> Program {
    let mut program = program.clone();
    // Nobody knows what embedded C looks at.
    if program.uses.c_code.is_none() {
        for pass in passes {
            match pass {
                Pass::Fold => fold::run(&mut program),
                Pass::Unread => unread::run(&mut program, watched),
                Pass::Dead => dead::run(&mut program, watched),
                Pass::Merge => merge::run(&mut program, watched),
            }
        }
    }
    program
}

/// Whether a body is that of processes.
pub(crate) fn is_process(kind: BodyKind) -> bool {
    matches!(kind, BodyKind::Proctype | BodyKind::Init)
}

impl Watched {
    /// The bodies that anybody runs.
    fn bodies<'p>(&self, program: &'p Program) -> impl Iterator<Item = &'p Automaton> {
        let claim = self.claim;
        program.automata.iter().filter(move |a| a.kind != BodyKind::Never || claim == Some(a.body))
    }
}

/// Calls `visit` with every expression that anybody looks at, and those inside of it; those of each
/// action as `of_action` does.
fn for_each_expr(
    program: &Program,
    watched: &Watched,
    mut of_action: impl FnMut(&Action, &mut dyn FnMut(&Expr)),
    visit: &mut dyn FnMut(&Expr),
) {
    for automaton in watched.bodies(program) {
        automaton.provided.iter().for_each(|provided| access::in_expr(provided, visit));
        automaton.init.iter().for_each(|step| access::in_init(step, visit));
        for id in automaton.states.iter().flat_map(|state| state.transition_ids()) {
            of_action(&program.transition(id).action, visit);
        }
    }
    for &condition in &watched.conditions {
        access::in_expr(&program.conditions[condition as usize].expr, visit);
    }
}

/// By body: the locals that others read, or that say what the process claims.
fn seen_by_others(program: &Program, watched: &Watched) -> Vec<Bytes> {
    let none = |automaton: &Automaton| Bytes::none(automaton.locals.bytes);
    let mut seen: Vec<_> = program.automata.iter().map(none).collect();
    for_each_expr(program, watched, access::in_action, &mut |expr| {
        // Nobody checks of which body the process is that is asked.
        if let Expr::RemoteVar { place, .. } = expr {
            for (seen, automaton) in seen.iter_mut().zip(&program.automata) {
                let Range { start, end } = place.span();
                let end = end.min(automaton.locals.bytes);
                seen.insert(start.min(end)..end);
            }
        }
    });
    // Whose channel it is matters as long as the process lives.
    for claim in program.exclusive.claims() {
        if let Channel::Own(offset) = claim.channel {
            seen[claim.body.0 as usize].insert(offset..offset + 1);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::{Pass, Watched, optimize_by};
    use crate::Program;
    use crate::ir::{Automaton, Transition};
    pub use crate::testing::program;

    /// The program of a text after one transformation, with nothing watched but processes.
    pub fn optimized(text: &str, pass: Pass) -> Program {
        optimize_by(&program(text), &Watched::default(), &[pass])
    }

    /// A body.
    pub fn automaton<'p>(program: &'p Program, name: &str) -> &'p Automaton {
        program.automata.iter().find(|a| a.name == name).expect("the body is there")
    }

    /// The transitions of a body whose statement is shown so.
    pub fn steps<'p>(program: &'p Program, name: &str, text: &str) -> Vec<&'p Transition> {
        let body = automaton(program, name).body;
        let all = || program.transitions.iter().filter(|t| t.body == body);
        let shown = |t: &Transition| program.element(t.element).text.clone();
        let found: Vec<_> = all().filter(|t| shown(t) == text).collect();
        let others = || all().map(shown).collect::<Vec<_>>();
        assert!(!found.is_empty(), "no `{text}` in {name}: {:?}", others());
        found
    }

    #[test]
    fn each_pass_helps_the_next() {
        // The example of the book's chapter.
        let program = super::optimize(
            &program(
                "chan ask = [1] of { byte }, tell = [1] of { byte }; byte asked
                 active proctype Clerk() {
                   byte number, twice;
                   do :: ask?number -> asked++; twice = 2 * number; tell!twice od
                 }",
            ),
            &Watched::default(),
        );
        let clerk = automaton(&program, "Clerk");
        let step = |text| {
            let mut steps = steps(&program, "Clerk", text).into_iter();
            steps.find(|t| clerk.state(t.from).reachable).expect("a process can take it")
        };
        let resets = |text, i: usize| {
            step(text).resets.iter().cloned().flatten().eq([clerk.locals.slots[i].offset])
        };
        assert!(step("ask?number").atomic && step("asked++").atomic);
        assert!(!step("twice = 2 * number").atomic);
        assert!(resets("twice = 2 * number", 0) && resets("tell!twice", 1));
    }

    #[test]
    fn embedded_c_is_left_alone() {
        let text = "byte g; active proctype P() { byte x; x = g; g = 1; c_code { now.g = 2; } }";
        let program = super::optimize(&program(text), &Watched::default());
        assert!(program.transitions.iter().all(|t| t.resets.is_empty() && !t.atomic));
    }

    #[test]
    fn all_numbers_stay() {
        let text = "byte g; active proctype P() { byte x; do :: x = g; x = 1 :: g = 2; x = 3 od }";
        let (plain, better) = (program(text), super::optimize(&program(text), &Watched::default()));
        let numbers = |program: &Program| -> Vec<_> {
            program.transitions.iter().map(|t| (t.body, t.from, t.to, t.element)).collect()
        };
        assert_eq!(numbers(&better), numbers(&plain));
        assert!(better.transitions.iter().any(|t| t.atomic && !t.resets.is_empty()));
    }
}
