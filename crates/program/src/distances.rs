//! How many steps a process is away from some of its local states.
//!
//! *Idea*: in the automaton of a process each step is one transition, so no run comes from one local state to
//! another by fewer steps than there are transitions on the shortest way (Edelkamp, Lluch Lafuente and Leue,
//! *Directed explicit-state model checking in the validation of communication protocols*, 2004, section 4).
//! A process may also have others come there, by creating them.
//!
//! *Cost*: one walk backwards over all transitions for each set of local states; two numbers for each local state.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Program;
use crate::ir::{Action, BodyId, StateId};

/// There is no way.
pub const NO_WAY: u32 = u32::MAX;

/// The distances of all local states to those that are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances {
    /// By body, and by local state: by steps of the process itself.
    own: Vec<Vec<u32>>,
    /// By steps of one that it creates, or that this one does, and so on.
    created: Vec<Vec<u32>>,
}

impl Distances {
    /// To those local states that are wanted.
    pub fn new(program: &Program, wanted: impl Fn(BodyId, StateId) -> bool) -> Self {
        let ways = Ways::of(program);
        let seeds = || {
            let all = program.automata.iter().zip(&ways.first);
            all.flat_map(|(automaton, &first)| {
                let states = (0..automaton.states.len()).map(|state| StateId(state as u16));
                let found = states.filter(|&state| wanted(automaton.body, state));
                found.map(move |state| (first + usize::from(state.0), 0))
            })
        };
        let own = ways.backwards(seeds(), &[]);
        let any = ways.backwards(seeds(), &ways.creations);
        // To create somebody, who then goes on.
        let creating = ways.creations.iter().filter(|(_, to)| any[*to] != NO_WAY);
        let created = ways.backwards(creating.map(|&(from, to)| (from, any[to] + 1)), &[]);
        Self { own: ways.by_body(program, &own), created: ways.by_body(program, &created) }
    }

    /// From a local state, by steps of the process itself.
    #[inline]
    pub fn own(&self, body: BodyId, state: StateId) -> u32 {
        self.own[body.0 as usize][usize::from(state.0)]
    }

    /// From a local state, by creating a process.
    #[inline]
    pub fn created(&self, body: BodyId, state: StateId) -> u32 {
        self.created[body.0 as usize][usize::from(state.0)]
    }

    /// From a local state, by whomever.
    #[inline]
    pub fn any(&self, body: BodyId, state: StateId) -> u32 {
        self.own(body, state).min(self.created(body, state))
    }
}

/// All steps, between local states that are numbered through.
struct Ways {
    /// By body: the number of its first local state.
    first: Vec<usize>,
    /// By local state: from where steps lead there.
    before: Vec<Vec<usize>>,
    /// From which local states processes are created, and where these start.
    creations: Vec<(usize, usize)>,
}

impl Ways {
    fn of(program: &Program) -> Self {
        let mut first = Vec::with_capacity(program.automata.len());
        let mut count = 0;
        for automaton in &program.automata {
            first.push(count);
            count += automaton.states.len();
        }
        let number = |body: BodyId, state: StateId| first[body.0 as usize] + usize::from(state.0);
        let mut before = vec![Vec::new(); count];
        let mut creations = Vec::new();
        for transition in &program.transitions {
            let from = number(transition.body, transition.from);
            before[number(transition.body, transition.to)].push(from);
            if let Action::Run { body, .. } = transition.action {
                creations.push((from, number(body, program.automaton(body).initial)));
            }
        }
        Self { first, before, creations }
    }

    /// The distance from each local state to the nearest seed, behind which so much is still to come; a creation is
    /// a step too.
    fn backwards(
        &self,
        seeds: impl Iterator<Item = (usize, u32)>,
        creations: &[(usize, usize)],
    ) -> Vec<u32> {
        let mut creators = vec![Vec::new(); self.before.len()];
        creations.iter().for_each(|&(from, to)| creators[to].push(from));
        let mut distances = vec![NO_WAY; self.before.len()];
        let mut open = BinaryHeap::new();
        for (state, distance) in seeds {
            if distance < distances[state] {
                distances[state] = distance;
                open.push(Reverse((distance, state)));
            }
        }
        while let Some(Reverse((distance, state))) = open.pop() {
            if distance > distances[state] {
                continue;
            }
            for &from in self.before[state].iter().chain(&creators[state]) {
                if distance + 1 < distances[from] {
                    distances[from] = distance + 1;
                    open.push(Reverse((distance + 1, from)));
                }
            }
        }
        distances
    }

    fn by_body(&self, program: &Program, distances: &[u32]) -> Vec<Vec<u32>> {
        let bodies = program.automata.iter().zip(&self.first);
        bodies.map(|(it, &first)| distances[first..first + it.states.len()].to_vec()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::program;

    #[test]
    fn steps_are_counted_on_the_shortest_way() {
        let program = program(
            "active proctype P() { int x; do :: x++ :: x--; x--; break od; goal: x = 7; x = 8 }",
        );
        let automaton = &program.automata[0];
        let goal = automaton.labels.iter().find(|(name, _)| name == "goal").unwrap().1;
        let distances = Distances::new(&program, |_, state| state == goal);
        assert_eq!(distances.own(automaton.body, automaton.initial), 2);
        assert_eq!(distances.own(automaton.body, goal), 0);
        assert_eq!(distances.created(automaton.body, automaton.initial), NO_WAY);
        let past = program.transitions.iter().find(|it| it.from == goal).unwrap().to;
        assert_eq!(distances.any(automaton.body, past), NO_WAY);
    }

    #[test]
    fn whoever_is_created_may_come_there_too() {
        let program = program("proctype Q() { skip; goal: skip } init { skip; run Q(); skip }");
        let (q, init) = (&program.automata[0], &program.automata[1]);
        let goal = q.labels.iter().find(|(name, _)| name == "goal").unwrap().1;
        let distances = Distances::new(&program, |body, state| body == q.body && state == goal);
        assert_eq!(distances.own(init.body, init.initial), NO_WAY);
        // Two steps of init, the second of which creates it, and one of Q.
        assert_eq!(distances.any(init.body, init.initial), 3);
    }
}
