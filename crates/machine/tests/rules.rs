//! Small models, each about one rule of the language, explored by brute force. The first line of
//! each holds what SPIN 6.5.2 says of it: `spin -o1 -o2 -o3 -a`, `gcc -DNOREDUCE -DSAFETY` (and
//! `-DNOCLAIM` where there is a claim), `pan -c0`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use spinward_machine::{Flow, Machine, Options, Sink, Step, System, Violation};

/// Everything reachable, found in any order.
#[derive(Default)]
struct Everything {
    seen: HashSet<Vec<u8>>,
    open: Vec<Vec<u8>>,
    transitions: usize,
    errors: usize,
}

impl Sink for Everything {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        assert!(!steps.is_empty(), "a successor is some steps away");
        self.transitions += 1;
        if self.seen.insert(state.to_vec()) {
            self.open.push(state.to_vec());
        }
        Flow::Continue(())
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        self.errors += 1;
        Flow::Continue(())
    }
}

fn machine(path: &Path) -> Machine {
    let loaded = spinward_promela::load(path, &spinward_promela::Options::default());
    assert!(!loaded.has_errors(), "{}: {:?}", path.display(), loaded.diagnostics);
    let (program, diagnostics) = spinward_program::lower(&loaded);
    let program = program.unwrap_or_else(|| panic!("{}: {diagnostics:?}", path.display()));
    let options = Options { end_states: true, assertions: true, trace: true, ..Options::default() };
    Machine::new(Arc::new(program), options, Arc::default()).expect("an initial state")
}

fn explore(machine: &Machine) -> String {
    let mut all = Everything { transitions: 1, ..Everything::default() };
    let mut state = Vec::new();
    machine.initial(&mut state);
    all.seen.insert(machine.key(&state).to_vec());
    all.open.push(state);
    let mut scratch = machine.scratch();
    while let Some(state) = all.open.pop() {
        _ = machine.expand(&state, &mut scratch, &mut all);
    }
    format!("{} states, {} transitions, {} errors", all.seen.len(), all.transitions, all.errors)
}

#[test]
fn every_rule_gives_spins_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let mut wrong = Vec::new();
    let mut models: Vec<_> =
        folder.read_dir().expect("the rules").map(|entry| entry.expect("a rule").path()).collect();
    models.sort();
    assert!(models.len() > 50);
    for path in models {
        let text = std::fs::read_to_string(&path).expect("a rule");
        let expected = text.lines().next().and_then(|l| l.strip_prefix("// ")).unwrap_or("");
        let found = explore(&machine(&path));
        if found != expected {
            wrong.push(format!("{}: {found}, SPIN: {expected}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What comes of a state, in order: `s` a successor, `v` a violation.
struct Events(String);

impl Sink for Events {
    fn successor(&mut self, _: &[u8], _: &[Step]) -> Flow {
        self.0.push('s');
        Flow::Continue(())
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        self.0.push('v');
        Flow::Continue(())
    }
}

#[test]
fn what_goes_wrong_in_a_guard_comes_when_it_is_looked_at() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let machine = machine(&rules.join("peek_of_rendezvous.pml"));
    let mut state = Vec::new();
    machine.initial(&mut state);
    let mut events = Events(String::new());
    _ = machine.expand(&state, &mut machine.scratch(), &mut events);
    // Q offers twice, and P peeks twice each time; Q skips; P peeks twice and goes on.
    assert_eq!(events.0, "vvvvsvvs");
}
