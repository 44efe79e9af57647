//! Compiled code against the interpreter, state by state: the same successors by the same steps, the
//! same violations, in the same order, and the same transitions looked at.

mod common;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use common::{Event, Events, models, program};
use spinward_machine::{Machine, Options, System};
use spinward_program::Program;
use spinward_program::optimize::{Watched, optimize};

/// States of each model that are compared.
const STATES: usize = 3000;

/// Compares the engines on a program, with or without one of its claims.
fn compare(path: &Path, program: &Arc<Program>, options: Options) {
    let machine = || Machine::new(Arc::clone(program), options.clone(), Arc::default());
    let (Ok(interpreter), Ok(compiled)) = (machine(), machine()) else {
        return;
    };
    assert!(compiled.compile(), "there is a compiler for this computer");
    let mut scratch = (interpreter.scratch(), compiled.scratch());
    let mut state = Vec::new();
    interpreter.initial(&mut state);
    let mut seen = HashSet::from([interpreter.key(&state).to_vec()]);
    let mut open = vec![state];
    while let Some(state) = open.pop() {
        let (mut expected, mut found) = (Events::default(), Events::default());
        let flow = interpreter.expand(&state, &mut scratch.0, &mut expected);
        assert_eq!(compiled.expand(&state, &mut scratch.1, &mut found), flow);
        assert_eq!(found.0, expected.0, "{}: what comes of {state:?}", path.display());
        for event in expected.0 {
            if let Event::Successor(state, _) = event
                && seen.len() < STATES
                && seen.insert(interpreter.key(&state).to_vec())
            {
                open.push(state);
            }
        }
    }
    assert_eq!(scratch.1.tried(), scratch.0.tried(), "{}", path.display());
}

fn compare_all(folder: &str) -> usize {
    let mut count = 0;
    for path in models(folder) {
        let Some(program) = program(&path).map(Arc::new) else {
            continue;
        };
        let options = Options { assertions: true, trace: true, ..Options::default() };
        let compare = |options: Options| {
            // Of an optimized program too: its steps do more.
            let watched = Watched { claim: options.claim, stutters: true, ..Watched::default() };
            compare(&path, &Arc::new(optimize(&program, &watched)), options.clone());
            compare(&path, &program, options);
        };
        compare(Options { end_states: true, ..options.clone() });
        for &claim in &program.claims {
            compare(Options { claim: Some(claim), ..options.clone() });
        }
        count += 1;
    }
    count
}

#[test]
fn engines_agree_on_every_rule() {
    assert!(compare_all("tests/rules") > 50);
}

#[test]
fn engines_agree_on_the_bundled_models() {
    assert!(compare_all("../../models") > 40);
}
