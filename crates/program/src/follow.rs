//! Never claims as automata that follow runs.
//!
//! A claim that only asks about states, as those do that are made of formulas, can be judged like the automaton of a
//! formula: what it asks is taken apart into conditions, and then it can be found out whether it counts how often a state
//! is repeated. If it does not, moves that make no difference may be left out of its search.
//!
//! *Conditions*: nothing but conditions, `else` and jumps, no variables, no atomic sequence; nothing is asked that has
//! another value, or none, without a claim (`timeout`, `np_`, `_pid`, and `_nr_pr`, which counts the claim, anywhere in
//! the model); no process has a label `accept`, which would count too.

use spinward_promela::ast::{BinaryOp, UnaryOp};
use spinward_property::{Automaton, Edge, Label, MAX_ATOMS};

use crate::Program;
use crate::access::{in_expr, is_harmless};
use crate::ir::{Action, BodyId, BodyKind, Condition, Expr};
use crate::touches::Touches;

/// A claim as an automaton.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Accepts what the claim does: by cycles, or by coming to its end.
    pub automaton: Automaton,
    /// By the number of an atom: that of the condition.
    pub atoms: Vec<u32>,
}

/// The claim as an automaton, if it is one; what it asks becomes conditions of the program.
pub(crate) fn follow(
    program: &Program,
    claim: BodyId,
    conditions: &mut Vec<Condition>,
) -> Option<Followed> {
    let body = program.automaton(claim);
    if counts_processes(program) || has_labels(program) || body.locals.bytes > 0 {
        return None;
    }
    let mut asked = Asked { conditions, atoms: Vec::new() };
    let mut states = Vec::with_capacity(body.states.len());
    for (number, state) in body.states.iter().enumerate() {
        let marks = u64::from(state.accept || state.end);
        if state.end {
            states.push(vec![Edge { label: Label::truth(), marks, to: number as u32 }]);
            continue;
        }
        let mut edges = Vec::new();
        // What is left for `else`.
        let mut other = Label::truth();
        for id in state.transition_ids() {
            let transition = program.transition(id);
            if transition.atomic || transition.escape > 0 {
                return None;
            }
            let label = match &transition.action {
                Action::Skip => Label::truth(),
                Action::Condition(expr) => asked.label(expr)?,
                Action::Else => other.clone(),
                _ => return None,
            };
            other = other.and(&label.not());
            edges.push(Edge { label, marks, to: transition.to.0.into() });
        }
        states.push(edges);
    }
    let atoms = asked.atoms;
    let initial = body.initial.0.into();
    let mut automaton = Automaton {
        atoms: u64::MAX >> (MAX_ATOMS as usize - atoms.len().max(1)),
        sets: 1,
        initial,
        states,
    };
    automaton.merge_edges();
    automaton.renumber();
    Some(Followed { automaton, atoms })
}

/// Whether somebody counts processes, among which is a claim while it is in use.
fn counts_processes(program: &Program) -> bool {
    let mut touches = Touches::default();
    program.transitions.iter().for_each(|transition| touches.add(program, transition));
    program.automata.iter().flat_map(|it| &it.provided).for_each(|expr| touches.expr(expr));
    touches.counts_processes
}

fn has_labels(program: &Program) -> bool {
    let is_process = |kind| matches!(kind, BodyKind::Proctype | BodyKind::Init);
    let processes = program.automata.iter().filter(|automaton| is_process(automaton.kind));
    processes.flat_map(|automaton| &automaton.states).any(|state| state.accept)
}

/// What a claim asks.
struct Asked<'c> {
    conditions: &'c mut Vec<Condition>,
    atoms: Vec<u32>,
}

impl Asked<'_> {
    /// In which states an expression is true; none if that cannot be asked without a claim.
    fn label(&mut self, expr: &Expr) -> Option<Label> {
        let mut may_ask = true;
        in_expr(expr, &mut |expr| {
            let depends = matches!(expr, Expr::Timeout | Expr::NonProgress | Expr::ProcessCount);
            may_ask &= !depends && !matches!(expr, Expr::Pid);
        });
        if !may_ask {
            return None;
        }
        if is_harmless(expr) { self.parts(expr) } else { self.atom(expr) }
    }

    fn parts(&mut self, expr: &Expr) -> Option<Label> {
        Some(match expr {
            Expr::Const(0) => Label::falsehood(),
            Expr::Const(_) => Label::truth(),
            Expr::Unary(UnaryOp::Not, operand) => self.parts(operand)?.not(),
            Expr::Binary(BinaryOp::And, left, right) => self.parts(left)?.and(&self.parts(right)?),
            Expr::Binary(BinaryOp::Or, left, right) => self.parts(left)?.or(&self.parts(right)?),
            Expr::Binary(BinaryOp::Ne, left, right) => {
                self.atom(&Expr::Binary(BinaryOp::Eq, left.clone(), right.clone()))?.not()
            }
            _ => self.atom(expr)?,
        })
    }

    fn atom(&mut self, expr: &Expr) -> Option<Label> {
        let mut numbers = self.atoms.iter();
        let known = numbers.position(|&it| self.conditions[it as usize].expr == *expr);
        let number = known.unwrap_or_else(|| {
            let text = "what a claim asks".to_owned();
            let condition =
                Condition { text, expr: expr.clone(), given: false, asks_timeout: false };
            self.atoms.push(self.conditions.len() as u32);
            self.conditions.push(condition);
            self.atoms.len() - 1
        });
        (number < MAX_ATOMS as usize).then(|| Label::literal(number as u32, true))
    }
}
