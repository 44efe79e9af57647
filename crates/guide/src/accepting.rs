//! How far who judges infinite runs is from where it may accept.
//!
//! *Idea* (Edelkamp, Lluch Lafuente and Leue 2004, section 7.3): an infinite run is an error only if the automaton of
//! the formula, or the never claim, comes to a component with a cycle that accepts, or to its end. As long as it is elsewhere
//! it must make so many moves at least, and for the first of these its condition must become true, which takes as long
//! as `term.rs` tells. With each move of the automaton the system moves too, so these add up.
//!
//! *Properties*: nothing is promised. The automaton also moves when the system cannot, and how many steps are to come until
//! the cycle closes is not known.
//!
//! *Cost*: the conditions of the moves that the automaton may make next.

use spinward_machine::{Machine, claim_automaton};
use spinward_program::ir::Action;
use spinward_property::{Automaton, Class, Components};

use crate::goals::{follower_state, holds};
use crate::term::{Mix, Term, Terms};
use crate::{Guide, NEVER, Room, Subject, Way};

pub struct Accepting<'m> {
    machine: &'m Machine,
    /// By state of the automaton: what must become true, and how many moves it makes at least then.
    ways: Vec<Vec<(Term, u32)>>,
    mix: Mix,
}

impl<'m> Accepting<'m> {
    /// None if no infinite runs are judged, or it is not known where.
    pub fn new(subject: &Subject<'m>, mix: Mix) -> Option<Self> {
        let machine = subject.machine;
        let program = &**machine.program();
        let terms = &Terms { program, body: None, mix };
        let ways = match (subject.follower, machine.options().claim) {
            (Some(follower), _) if !follower.is_terminal() => {
                let condition = |state: usize, edge: usize| {
                    holds(subject, terms, &follower.automaton().states[state][edge].label)
                };
                ways(follower.automaton(), &|state| follower.ends(state), &condition)
            }
            (None, Some(claim)) if program.automaton(claim).states.iter().any(|it| it.accept) => {
                let body = program.automaton(claim);
                let condition = |state: usize, edge: usize| {
                    let transition = body.states[state].transition_ids().nth(edge);
                    match transition.map(|id| &program.transition(id).action) {
                        Some(Action::Condition(condition)) => terms.of(condition, true),
                        _ => Term::Known(true),
                    }
                };
                let automaton = claim_automaton(program, claim)?;
                ways(&automaton, &|state| body.states[state].end, &condition)
            }
            _ => return None,
        };
        Some(Self { machine, ways, mix })
    }
}

/// By state of an automaton that may end: what must become true, and how many moves it makes at least then.
fn ways(
    automaton: &Automaton,
    ends: &dyn Fn(usize) -> bool,
    condition: &dyn Fn(usize, usize) -> Term,
) -> Vec<Vec<(Term, u32)>> {
    let components = Components::of(automaton);
    let is_goal = |state: usize| ends(state) || components.class(state as u32) != Class::Rejecting;
    let moves = moves_to(automaton, &is_goal);
    let states = automaton.states.iter().enumerate().map(|(state, edges)| {
        if is_goal(state) {
            return vec![(Term::Known(true), 0)];
        }
        let others = edges.iter().enumerate().filter(|(_, edge)| edge.to as usize != state);
        let way = |(number, to): (usize, u32)| {
            let left = moves[to as usize];
            (left != NEVER).then(|| (condition(state, number), left.saturating_add(1)))
        };
        others.map(|(number, edge)| (number, edge.to)).filter_map(way).collect()
    });
    states.collect()
}

/// How many moves each state of an automaton is away from the next one of some; [`NEVER`] if there is no way.
fn moves_to(automaton: &Automaton, is_goal: &dyn Fn(usize) -> bool) -> Vec<u32> {
    let mut before = vec![Vec::new(); automaton.states.len()];
    for (state, edges) in automaton.states.iter().enumerate() {
        edges.iter().for_each(|edge| before[edge.to as usize].push(state));
    }
    let mut moves = vec![NEVER; automaton.states.len()];
    let mut level: Vec<usize> = (0..moves.len()).filter(|&state| is_goal(state)).collect();
    for distance in 0.. {
        // Also one that is there twice stays once.
        level.retain(|&state| {
            moves[state] == NEVER && {
                moves[state] = distance;
                true
            }
        });
        if level.is_empty() {
            break;
        }
        level = level.iter().flat_map(|&state| &before[state]).copied().collect();
    }
    moves
}

impl Guide for Accepting<'_> {
    fn estimate(&self, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        let look = self.machine.look(state, &mut room.sight);
        let at = look.claim().map_or_else(|| follower_state(state), |at| usize::from(at.0));
        let ways = self.ways.get(at).into_iter().flatten();
        let steps = ways.map(|(condition, moves)| {
            condition.estimate(&look, None, self.mix).saturating_add(*moves)
        });
        steps.min().unwrap_or(NEVER)
    }
}

#[cfg(test)]
mod tests {
    use spinward_property::{Edge, Label};

    use super::*;

    #[test]
    fn moves_are_counted_to_the_nearest() {
        let edge = |to| Edge { label: Label::truth(), marks: 0, to };
        let edges: [&[u32]; 5] = [&[0, 1, 2], &[3], &[1], &[3], &[4]];
        let states = edges.iter().map(|it| it.iter().map(|&to| edge(to)).collect()).collect();
        let automaton = Automaton { atoms: 0, sets: 1, initial: 0, states };
        assert_eq!(moves_to(&automaton, &|state| state == 3), [2, 1, 2, 0, NEVER]);
    }
}
