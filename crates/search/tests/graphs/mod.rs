//! Small random graphs with edges of several steps, and estimates of how far their states are from an error.

// Each test is a program of its own and uses a part of this.
#![allow(dead_code)]

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_guide::{Guide, NEVER, Room, Way};
use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::Found;

/// Edges lead to a state by some steps; some of them are wrong after their last step, and some states are.
pub struct Graph {
    pub edges: Vec<Vec<(u16, usize, bool)>>,
    pub bad: Vec<bool>,
}

/// A number below another.
pub fn below(random: &mut Xoshiro256PlusPlus, end: usize) -> usize {
    (random.next_u64() % end as u64) as usize
}

impl Graph {
    pub fn random(random: &mut Xoshiro256PlusPlus) -> Self {
        let states = 2 + below(random, 24);
        Self::of(random, states, 1)
    }

    /// Of so many states, with errors that are so many times as rare.
    pub fn of(random: &mut Xoshiro256PlusPlus, states: usize, rare: usize) -> Self {
        let edges = (0..states).map(|_| {
            let edges = (0..below(random, 4)).map(|_| {
                let wrong = below(random, 25 * rare) == 0;
                (below(random, states) as u16, 1 + below(random, 4), wrong)
            });
            edges.collect()
        });
        let edges = edges.collect();
        Self { edges, bad: (0..states).map(|_| below(random, 12 * rare) == 0).collect() }
    }

    /// By state: the length of the shortest run to an error.
    pub fn to_errors(&self) -> Vec<Option<u32>> {
        let mut distances: Vec<Option<u32>> =
            self.bad.iter().map(|&bad| bad.then_some(0)).collect();
        loop {
            let mut changed = false;
            for (state, edges) in self.edges.iter().enumerate() {
                for &(to, steps, wrong) in edges {
                    let more = if wrong { Some(0) } else { distances[to as usize] };
                    let total = more.map(|more| more + steps as u32);
                    if total.is_some_and(|it| distances[state].is_none_or(|known| it < known)) {
                        distances[state] = total;
                        changed = true;
                    }
                }
            }
            if !changed {
                return distances;
            }
        }
    }

    /// Whether what was found is there, at the end of these steps.
    pub fn replays(&self, found: &Found) -> bool {
        let mut open = vec![(0, 0)];
        while let Some((state, done)) = open.pop() {
            let rest = &found.steps[done..];
            if found.violation == Violation::InvalidEndState && self.bad[state] && rest.is_empty() {
                return true;
            }
            let id = TransitionId(state as u32);
            let own = rest.iter().take_while(|step| step.transition == id).count();
            for &(to, steps, wrong) in self.edges[state].iter().filter(|it| it.1 <= own) {
                let is_last = done + steps == found.steps.len();
                if wrong {
                    let violation = Violation::Assertion(TransitionId(u32::from(to)));
                    if is_last && found.violation == violation {
                        return true;
                    }
                } else {
                    open.push((to as usize, done + steps));
                }
            }
        }
        false
    }

    /// How many states can be reached, a wrong edge not being one.
    pub fn reachable(&self) -> u64 {
        let mut seen = vec![false; self.edges.len()];
        let mut open = vec![0];
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut seen[state], true) {
                open.extend(self.edges[state].iter().filter(|it| !it.2).map(|it| it.0 as usize));
            }
        }
        seen.iter().filter(|&&seen| seen).count() as u64
    }
}

impl System for Graph {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        *out = vec![0; 2];
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        let state = number(state);
        if self.bad[state] {
            sink.violation(Violation::InvalidEndState, &[])?;
        }
        for &(to, steps, wrong) in &self.edges[state] {
            let step = Step { process: 0, transition: TransitionId(state as u32) };
            let steps = vec![step; steps];
            if wrong {
                sink.violation(Violation::Assertion(TransitionId(u32::from(to))), &steps)?;
            } else {
                sink.successor(&to.to_le_bytes(), &steps)?;
            }
        }
        Flow::Continue(())
    }
}

/// A graph whose states also tell how they were reached, which is no part of their keys.
pub struct Shadowed<'g>(pub &'g Graph);

impl System for Shadowed<'_> {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        *out = vec![0; 3];
    }

    fn key<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        &state[1..]
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        let mut shadow = Shadow { sink, before: state[0] };
        self.0.expand(&state[1..], &mut (), &mut shadow)
    }
}

struct Shadow<'s> {
    sink: &'s mut dyn Sink,
    before: u8,
}

impl Sink for Shadow<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let after = self.before.wrapping_mul(3).wrapping_add(steps.len() as u8);
        self.sink.successor(&[&[after], state].concat(), steps)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.sink.violation(violation, steps)
    }
}

/// The number of a state of a graph, which is at its end.
pub fn number(state: &[u8]) -> usize {
    let (_, number) = state.split_last_chunk().unwrap();
    usize::from(u16::from_le_bytes(*number))
}

/// Estimates by state.
pub struct Table {
    pub estimates: Vec<u32>,
    pub admissible: bool,
    pub consistent: bool,
}

impl Guide for Table {
    fn estimate(&self, state: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
        self.estimates[number(state)]
    }

    fn is_admissible(&self) -> bool {
        self.admissible
    }

    fn is_consistent(&self) -> bool {
        self.consistent
    }
}

impl Table {
    /// The true numbers, less than them in a way that keeps steps small, at random less, and any numbers.
    pub fn all(graph: &Graph, random: &mut Xoshiro256PlusPlus) -> [Self; 4] {
        let exact: Vec<u32> = graph.to_errors().iter().map(|it| it.unwrap_or(NEVER)).collect();
        let part = |part: u32, exact: u32| if exact == NEVER { NEVER } else { exact.min(part) };
        let near = exact.iter().map(|&it| part(5, it)).collect();
        let less = exact.iter().map(|&it| part(below(random, 12) as u32, it)).collect();
        let any = exact.iter().map(|_| below(random, 30) as u32).collect();
        let table = |estimates, admissible, consistent| Self { estimates, admissible, consistent };
        [
            table(exact.clone(), true, true),
            table(near, true, true),
            table(less, true, false),
            table(any, false, false),
        ]
    }
}
