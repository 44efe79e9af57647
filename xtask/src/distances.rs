//! How far each state of a small model is from an error: by brute force, and as guides estimate it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use spinward_guide::{NEVER, Room, Subject, Wanted, Way};
use spinward_machine::system::length;
use spinward_machine::{Flow, Machine, Options, Sink, Step, System, Violation};

/// A model in which a condition must hold in every state, and nothing else is asked. A formula would not
/// do: its automaton notices an error one step late.
pub fn machine(path: &Path, text: String, invariant: &str) -> Result<Machine> {
    let conditions = vec![invariant.to_owned()];
    let options = spinward_promela::Options { conditions, ..Default::default() };
    let loaded = spinward_promela::load_text(path, text, &options);
    ensure!(!loaded.has_errors(), "{}: {:?}", path.display(), loaded.diagnostics);
    let program = spinward_program::lower(&loaded).0.context("the model has no program")?;
    let options = Options { invariants: vec![0], ..Options::default() };
    Machine::new(Arc::new(program), options, Arc::default())
        .map_err(|error| anyhow!("{}: {error:?}", path.display()))
}

/// All states of a model, and how far each is from one in which the condition is false.
#[derive(Debug)]
pub struct Graph {
    pub states: Vec<Vec<u8>>,
    /// From, to, and by how many steps.
    pub edges: Vec<(usize, usize, u32)>,
    /// By state; [`NEVER`] if there is no way.
    pub distances: Vec<u32>,
}

#[derive(Default)]
struct Collected {
    successors: Vec<(Vec<u8>, u32)>,
    wrong: bool,
}

impl Sink for Collected {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.successors.push((state.to_vec(), length(steps) as u32));
        Flow::Continue(())
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        self.wrong = true;
        Flow::Continue(())
    }
}

impl Graph {
    pub fn of(machine: &Machine) -> Self {
        let mut scratch = machine.scratch();
        let mut initial = Vec::new();
        machine.initial(&mut initial);
        let mut numbers = HashMap::from([(initial.clone(), 0)]);
        let mut states = vec![initial];
        let (mut edges, mut wrong) = (Vec::new(), Vec::new());
        while let Some(state) = states.get(wrong.len()).cloned() {
            let mut collected = Collected::default();
            let _ = machine.expand(&state, &mut scratch, &mut collected);
            for (to, steps) in collected.successors {
                let count = states.len();
                let number = *numbers.entry(to).or_insert_with_key(|to| {
                    states.push(to.clone());
                    count
                });
                edges.push((wrong.len(), number, steps));
            }
            wrong.push(collected.wrong);
        }
        let distances = distances(&wrong, &edges);
        Self { states, edges, distances }
    }

    /// What a guide estimates in each state.
    pub fn estimates(&self, machine: &Machine, guide: &str) -> Result<Vec<u32>> {
        let subject = Subject { machine, follower: None, target: None, symmetric: false };
        let guide = guide.parse::<Wanted>()?.build(&subject)?;
        let mut room = Room::default();
        let states = self.states.iter();
        Ok(states.map(|state| guide.estimate(state, Way::default(), &mut room)).collect())
    }
}

/// How far each state is from one that is wrong.
fn distances(wrong: &[bool], edges: &[(usize, usize, u32)]) -> Vec<u32> {
    let mut before = vec![Vec::new(); wrong.len()];
    edges.iter().for_each(|&(from, to, steps)| before[to].push((from, steps)));
    let mut distances: Vec<u32> = wrong.iter().map(|it| if *it { 0 } else { NEVER }).collect();
    let goals = (0..wrong.len()).filter(|it| wrong[*it]);
    let mut open: BinaryHeap<_> = goals.map(|state| Reverse((0, state))).collect();
    while let Some(Reverse((distance, state))) = open.pop() {
        if distance > distances[state] {
            continue;
        }
        for &(from, steps) in &before[state] {
            if distance + steps < distances[from] {
                distances[from] = distance + steps;
                open.push(Reverse((distance + steps, from)));
            }
        }
    }
    distances
}
