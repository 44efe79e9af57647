//! Optimized programs against plain ones: the same things go wrong, in no more states.

mod common;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use common::{Event, Events, models, program};
use spinward_machine::{Machine, Options, System, View, Violation};
use spinward_program::Program;
use spinward_program::optimize::dead::Dead;
use spinward_program::optimize::{Pass, Watched, optimize, optimize_by};

/// Models with more states than this are left out where all must be seen.
const STATES: usize = 30_000;

/// The program of a text, with conditions about it.
fn program_of(text: &str, conditions: &[&str]) -> Program {
    let conditions = conditions.iter().map(|condition| condition.to_string()).collect();
    let options = spinward_promela::Options { conditions, ..Default::default() };
    let loaded = spinward_promela::load_text(Path::new("model.pml"), text.to_owned(), &options);
    assert!(!loaded.has_errors(), "{text}: {:?}", loaded.diagnostics);
    spinward_program::lower(&loaded).0.expect("a program")
}

/// What is checked of a program, in turn.
fn checks(program: &Program) -> Vec<(Options, Watched)> {
    let options = Options { assertions: true, trace: true, ..Options::default() };
    let ends = Options { end_states: true, ..options.clone() };
    let claimed = program.claims.iter().map(|&claim| {
        let watched = Watched { claim: Some(claim), ..Watched::default() };
        (Options { claim: Some(claim), ..options.clone() }, watched)
    });
    std::iter::once((ends, Watched::default())).chain(claimed).collect()
}

/// What processes share in a state: globals, messages, how many they are.
type Shared = (Vec<i32>, Vec<Vec<Vec<i32>>>, usize);

/// All that is reachable.
#[derive(Default)]
struct Reachable {
    states: usize,
    shared: HashSet<Shared>,
    /// What goes wrong, by which transition; where no process can move, also where they are.
    wrong: BTreeSet<String>,
}

impl Reachable {
    /// By global: whether it has more than one value.
    fn changing(&self) -> Vec<bool> {
        let first = self.shared.iter().next().expect("a first state");
        let changes = |i: usize| self.shared.iter().any(|other| other.0[i] != first.0[i]);
        (0..first.0.len()).map(changes).collect()
    }

    /// What is shared, without some globals.
    fn shared(&self, kept: &[bool]) -> BTreeSet<Shared> {
        let without = |shared: &Shared| {
            let globals = shared.0.iter().zip(kept).filter(|(_, kept)| **kept);
            (globals.map(|(&value, _)| value).collect(), shared.1.clone(), shared.2)
        };
        self.shared.iter().map(without).collect()
    }
}

/// None if that is too much, or there is no first state.
fn reachable(program: &Arc<Program>, options: &Options) -> Option<Reachable> {
    let machine = Machine::new(Arc::clone(program), options.clone(), Arc::default()).ok()?;
    let mut scratch = machine.scratch();
    let mut state = Vec::new();
    machine.initial(&mut state);
    let mut seen = HashSet::from([machine.key(&state).to_vec()]);
    let mut open = vec![state];
    let mut all = Reachable::default();
    while let Some(state) = open.pop() {
        let View { globals, channels, processes, .. } = machine.view(&state);
        let messages = channels.into_iter().map(|channel| channel.messages).collect();
        all.shared.insert((globals, messages, processes.len()));
        let mut events = Events::default();
        _ = machine.expand(&state, &mut scratch, &mut events);
        for event in events.0 {
            match event {
                Event::Successor(state, _) => {
                    if seen.insert(machine.key(&state).to_vec()) {
                        open.push(state);
                    }
                }
                Event::Violation(violation, _) => {
                    let stuck = violation == Violation::InvalidEndState;
                    let at = stuck.then(|| processes.iter().map(|p| p.state).collect::<Vec<_>>());
                    all.wrong.insert(format!("{violation:?} {at:?}"));
                }
            }
        }
        if seen.len() > STATES {
            return None;
        }
    }
    all.states = seen.len();
    Some(all)
}

/// Compares all that is reachable with and without some passes; how many states there are.
fn compare(path: &Path, passes: &[Pass]) -> (usize, usize) {
    let Some(program) = program(path).map(Arc::new) else {
        return (0, 0);
    };
    let mut sum = (0, 0);
    for (options, watched) in checks(&program) {
        let Some(plain) = reachable(&program, &options) else {
            continue;
        };
        let better = Arc::new(optimize_by(&program, &watched, passes));
        let path = path.display();
        let better = reachable(&better, &options).expect("no more states than before");
        assert_eq!(better.wrong, plain.wrong, "{path} with {passes:?}");
        assert!(
            better.states <= plain.states,
            "{path} with {passes:?}: {} states, {} before",
            better.states,
            plain.states
        );
        let kept = better.changing();
        assert_eq!(better.shared(&kept), plain.shared(&kept), "{path} with {passes:?}");
        sum = (sum.0 + plain.states, sum.1 + better.states);
    }
    sum
}

/// Compares on all models in a folder, each pass alone and all together; the states before and after by
/// pass, all last.
fn compare_all(folder: &str) -> Vec<(usize, usize)> {
    let mut sums = vec![(0, 0); Pass::ALL.len() + 1];
    for path in models(folder) {
        let alone = Pass::ALL.map(|pass| vec![pass]);
        for (sum, passes) in sums.iter_mut().zip(alone.into_iter().chain([Pass::ALL.to_vec()])) {
            let (before, after) = compare(&path, &passes);
            *sum = (sum.0 + before, sum.1 + after);
        }
    }
    println!("{folder}: {sums:?}");
    sums
}

#[test]
fn the_same_goes_wrong_for_every_rule() {
    let sums = compare_all("tests/rules");
    assert!(sums.iter().all(|&(before, _)| before > 1000), "{sums:?}");
}

#[test]
fn the_same_goes_wrong_in_the_bundled_models() {
    let sums = compare_all("../../models");
    let [fold, unread, dead, merge, all] = sums[..] else { panic!("one for each pass, and all") };
    assert_eq!(fold.0, fold.1, "constants make no states");
    assert!(
        unread.1 <= unread.0 && dead.1 < dead.0 && merge.1 < merge.0 && all.1 < dead.1.min(merge.1)
    );
}

/// In each, something goes wrong only while a process stands before a step on its own data, and would
/// not be found if that step followed at once.
const BETWEEN: [&str; 6] = [
    // An offer that is not taken yet.
    "byte g; chan c = [0] of { bit }
     active proctype P() { bit x; g = 1; x = 1; c?x }
     active proctype Q() { g == 1; if :: c!1 :: else -> assert(false) fi }",
    // One in the middle of an `atomic`.
    "byte g, h; chan c = [0] of { byte }
     active proctype P() { atomic { h == 1; g = 1; c!1 } }
     active proctype R() { byte x, z; h = 1; x = 1; atomic { c?z; g = 2 } }
     active proctype W() { g != 0; assert(g != 1) }",
    // What an `atomic` that follows hides.
    "byte g
     active proctype P() { bit x; g = 1; atomic { x = 1; g = 2 } }
     active proctype Q() { assert(g != 1) }",
    // Neither here nor there.
    "active proctype P() { bit x; A: x = 1; x = 0; B: x == 1 }
     active proctype Q() { assert(P@A || P@B) }",
    // A process that never ends.
    "byte g
     active proctype P() { bit x; g = 1; do :: x = 1; x = 0 od }
     active proctype Q() { g == 1; assert(false) }",
    // A step that ends the run.
    "byte g
     active proctype P() { byte x; g = 1; x = 1 / x }
     active proctype Q() { g == 1; assert(false) }",
];

#[test]
fn what_goes_wrong_in_between_is_found() {
    let options = Options { assertions: true, ..Options::default() };
    for text in BETWEEN {
        let program = program_of(text, &[]);
        let merged = Arc::new(optimize_by(&program, &Watched::default(), &[Pass::Merge]));
        let [plain, merged] = [Arc::new(program), merged]
            .map(|program| reachable(&program, &options).expect("few states").wrong);
        assert!(plain.iter().any(|wrong| wrong.contains("Assertion")), "{text}: {plain:?}");
        assert_eq!(merged, plain, "{text}");
    }
}

/// A local, a global and a place that nobody looks at but conditions and a claim.
const WATCHED: &str = "byte g, h
    active proctype P() { byte x; x = 1; g = 1; x = 2; g = 0; A: x = 3; B: x = 0; h = 1 }
    never { do :: g == 1 -> break :: else od; do :: g == 0 && h == 1 -> break :: else od }";

#[test]
fn what_is_watched_goes_wrong_still() {
    let conditions = ["P:x != 1", "P:x != 3 || g > 0", "g == 0", "!P@A", "!P@B", "h == 0"];
    let program = Arc::new(program_of(WATCHED, &conditions));
    let check = |options: Options, watched: Watched| {
        let better = Arc::new(optimize(&program, &watched));
        let [plain, better] =
            [&program, &better].map(|program| reachable(program, &options).expect("few states"));
        assert!(!plain.wrong.is_empty(), "{watched:?}");
        assert_eq!(better.wrong, plain.wrong, "{watched:?}");
        assert!(better.states < plain.states, "{watched:?}");
    };
    for i in 0..conditions.len() as u32 {
        let options = Options { invariants: vec![i], ..Options::default() };
        check(options, Watched { conditions: vec![i], ..Watched::default() });
    }
    let claim = Some(program.claims[0]);
    let options = Options { claim, ..Options::default() };
    check(options, Watched { claim, stutters: true, ..Watched::default() });
}

/// A state with the dead locals of all processes 0.
fn without_dead(machine: &Machine, dead: &Dead, state: &[u8]) -> Vec<u8> {
    let program = machine.program();
    let mut without = state.to_vec();
    let control_bytes = if program.uses.priorities { 3 } else { 2 };
    for (process, view) in machine.view(state).processes.iter().enumerate() {
        let at = machine.position(state, process).start;
        let locals = at + control_bytes;
        for range in dead.of(view.body, view.state) {
            without[locals + range.start as usize..locals + range.end as usize].fill(0);
        }
    }
    without
}

/// Every step from a plain state is one from that state without its dead locals, to the state without
/// its dead locals, and goes wrong in the same way. So both are bisimilar, and nothing is left that is
/// dead. In how many states more than nothing was dead.
fn without_dead_is_bisimilar(path: &Path) -> usize {
    let Some(program) = program(path).map(Arc::new) else {
        return 0;
    };
    let mut changed = 0;
    for (options, watched) in checks(&program) {
        let dead = Dead::new(&program, &watched);
        let reset = Arc::new(optimize_by(&program, &watched, &[Pass::Dead]));
        let machine = |program| Machine::new(program, options.clone(), Arc::default());
        let (Ok(plain), Ok(reset)) = (machine(Arc::clone(&program)), machine(reset)) else {
            continue;
        };
        let mut scratch = (plain.scratch(), reset.scratch());
        let (mut state, mut first) = (Vec::new(), Vec::new());
        plain.initial(&mut state);
        reset.initial(&mut first);
        assert_eq!(without_dead(&plain, &dead, &state), first, "{}: first", path.display());
        let mut seen = HashSet::from([state.clone()]);
        let mut open = vec![state];
        while let Some(state) = open.pop() {
            let without = without_dead(&plain, &dead, &state);
            changed += usize::from(without != state);
            let (mut expected, mut found) = (Events::default(), Events::default());
            _ = plain.expand(&state, &mut scratch.0, &mut expected);
            _ = reset.expand(&without, &mut scratch.1, &mut found);
            let mut next = Vec::new();
            for event in &mut expected.0 {
                if let Event::Successor(state, _) = event {
                    next.push(state.clone());
                    *state = without_dead(&plain, &dead, state);
                }
            }
            assert_eq!(found.0, expected.0, "{}: what comes of {state:?}", path.display());
            for state in next {
                if seen.len() < STATES / 10 && seen.insert(state.clone()) {
                    open.push(state);
                }
            }
        }
    }
    changed
}

#[test]
fn states_without_dead_locals_are_bisimilar_for_every_rule() {
    let changed: usize =
        models("tests/rules").iter().map(|path| without_dead_is_bisimilar(path)).sum();
    assert!(changed > 300, "{changed}");
}

#[test]
fn states_without_dead_locals_are_bisimilar_in_the_bundled_models() {
    let changed: usize =
        models("../../models").iter().map(|path| without_dead_is_bisimilar(path)).sum();
    assert!(changed > 10_000, "{changed}");
}
