//! What the moves of a process are said to depend on, and to do, against what they are in all states
//! that agree in that.

mod common;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use common::{Event, Events, models, program};
use spinward_machine::{Actor, Footprint, Machine, Options, System};
use spinward_program::Program;
use spinward_program::optimize::{Watched, optimize};

/// States of each model that are looked at.
const STATES: usize = 1000;

/// Footprints of each process that are held against others.
const KEPT: usize = 40;

/// A footprint: the bytes that matter and what they were, and for each move the bytes it puts and what
/// they become.
#[derive(Clone, Debug, PartialEq)]
struct Print {
    read: Vec<u8>,
    values: Vec<u8>,
    moves: Vec<(Vec<u8>, Vec<u8>)>,
}

fn masked(bytes: &[u8], mask: &[u8]) -> Vec<u8> {
    bytes.iter().zip(mask).map(|(byte, mask)| byte & mask).collect()
}

/// `bytes` where the mask has bits, and `others` elsewhere.
fn put(bytes: &[u8], mask: &[u8], others: &[u8]) -> Vec<u8> {
    let all = bytes.iter().zip(mask).zip(others);
    all.map(|((byte, mask), other)| byte & mask | other & !mask).collect()
}

impl Print {
    fn new(state: &[u8], footprint: &Footprint) -> Self {
        let states = footprint.states.chunks_exact(state.len());
        let moves = states.zip(footprint.written.chunks_exact(state.len()));
        Self {
            read: footprint.read.clone(),
            values: masked(state, &footprint.read),
            moves: moves.map(|(to, mask)| (mask.to_vec(), masked(to, mask))).collect(),
        }
    }

    fn fits(&self, state: &[u8]) -> bool {
        masked(state, &self.read) == self.values
    }

    fn successors(&self, state: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        self.moves.iter().map(|(mask, values)| put(values, mask, state))
    }
}

/// Looks at a model as it is and optimized; in how many states all moves were known.
fn look_at(path: &Path) -> usize {
    let Some(program) = program(path) else {
        return 0;
    };
    let optimized = optimize(&program, &Watched::default());
    look_at_program(path, program) + look_at_program(path, optimized)
}

fn look_at_program(path: &Path, program: Program) -> usize {
    let program = Arc::new(program);
    let options = Options { assertions: true, end_states: true, ..Options::default() };
    let Ok(machine) = Machine::new(program, options, Arc::default()) else {
        return 0;
    };
    assert!(machine.compile(), "there is a compiler for this computer");
    let mut scratch = machine.scratch();
    let mut state = Vec::new();
    machine.initial(&mut state);
    let mut seen = HashSet::from([state.clone()]);
    let mut open = vec![state];
    let mut prints: HashMap<(u32, usize), Vec<Print>> = HashMap::new();
    let mut footprint = Footprint::default();
    let mut known_states = 0;
    while let Some(state) = open.pop() {
        let mut events = Events::default();
        assert!(machine.expand(&state, &mut scratch, &mut events).is_continue());
        let mut moves = Vec::new();
        let mut all = true;
        for actor in 0..machine.actors(&state) {
            let known = machine.footprint(&state, actor, &mut scratch, &mut footprint);
            all &= known == Actor::Known;
            if known != Actor::Known {
                continue;
            }
            let print = Print::new(&state, &footprint);
            moves.extend(print.successors(&state));
            let others = prints.entry((machine.layout(&state), actor)).or_default();
            for other in others.iter().filter(|other| other.fits(&state)) {
                assert_eq!(*other, print, "{}: process {actor} in {state:?}", path.display());
            }
            // Also in states that nobody may ever see, whatever the rest of them is.
            for other in open.iter().rev().take(3).filter(|other| other.len() == state.len()) {
                let mixed = put(&state, &print.read, other);
                if machine.layout(&mixed) == machine.layout(&state) {
                    machine.footprint(&mixed, actor, &mut scratch, &mut footprint);
                    let same = Print::new(&mixed, &footprint);
                    assert_eq!(same, print, "{}: process {actor} in {mixed:?}", path.display());
                }
            }
            if others.len() < KEPT && !others.contains(&print) {
                others.push(print);
            }
        }
        if all && moves.is_empty() {
            let mut stuck = Events::default();
            assert!(machine.expand_stuck(&state, &mut scratch, &mut stuck).is_continue());
            assert_eq!(stuck.0, events.0, "{}: stuck in {state:?}", path.display());
        }
        let mut successors = Vec::new();
        for event in events.0 {
            match event {
                Event::Successor(state, _) => successors.push(state),
                Event::Violation(violation, _) => {
                    let missed = all && !moves.is_empty();
                    assert!(!missed, "{}: {violation:?} in {state:?}", path.display());
                }
            }
        }
        if all && !moves.is_empty() {
            known_states += 1;
            moves.sort();
            let mut expected = successors.clone();
            expected.sort();
            assert_eq!(moves, expected, "{}: the moves from {state:?}", path.display());
        }
        for state in successors {
            if seen.len() < STATES && seen.insert(state.clone()) {
                open.push(state);
            }
        }
    }
    known_states
}

#[test]
fn footprints_are_right_for_every_rule() {
    let known: usize = models("tests/rules").iter().map(|path| look_at(path)).sum();
    assert!(known > 100, "{known}");
}

#[test]
fn footprints_are_right_for_the_bundled_models() {
    let known: usize = models("../../models").iter().map(|path| look_at(path)).sum();
    assert!(known > 10_000, "{known}");
}
