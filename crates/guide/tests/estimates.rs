//! What guides promise, in every state of small models: by brute force.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use spinward_guide::truth::Truth;
use spinward_guide::{GUIDES, Misfit, NEVER, Patience, Room, Subject, Target, Wanted, Way};
use spinward_machine::{Follower, Machine, Options, Product, Stop};
use spinward_program::Program;
use spinward_program::ir::Formula;
use spinward_promela::load_text;
use spinward_property::translate;

/// Models with more states are left out.
const MAX_STATES: usize = 6_000;

/// Images of models that are smaller than usual, or made in another way.
const ABSTRACTIONS: &[&str] = &[
    "dpa(n=2)",
    "dpa(n=20,order=given,refine=far)",
    "dpa(n=200,order=small)",
    "dpa(n=12,order=outer)",
    "dpa(n=30,order=outer)",
    "dpa(n=100,order=rank)",
    "pdb(n=50)",
    "max(dpa(n=5),fsm-sum)",
];

/// Holds the estimates of all guides against what they promise; how many of them are more than nothing.
fn hold(truth: &Truth, subject: &Subject<'_>, name: &str) -> u64 {
    let mut useful = 0;
    let names = GUIDES.iter().map(|it| it.name).filter(|name| *name != "max");
    for text in names.chain(ABSTRACTIONS.iter().copied()) {
        let wanted: Wanted = text.parse().unwrap();
        let entry = wanted.entry();
        let Ok(guide) = wanted.build(subject) else {
            continue;
        };
        let promised = (entry.admissible, entry.consistent);
        assert_eq!((guide.is_admissible(), guide.is_consistent()), promised);
        let estimates = truth.estimates(&*guide);
        for (state, (&estimate, &distance)) in estimates.iter().zip(&truth.distances).enumerate() {
            let is_fine = !guide.is_admissible() || estimate <= distance;
            let is_wrong = guide.rules_out() && estimate == NEVER && truth.doomed[state];
            assert!(!is_wrong, "{name}, {text}: state {state} is not ruled out");
            assert!(is_fine, "{name}, {text}: {estimate} > {distance} in state {state}");
            useful += u64::from(guide.is_admissible() && estimate > 0 && estimate != NEVER);
        }
        for &(from, to, steps) in &truth.edges {
            let (from, to) = (estimates[from], estimates[to]);
            let is_fine = !guide.is_consistent() || from <= to.saturating_add(steps);
            assert!(is_fine, "{name}, {text}: {from} > {steps} + {to}");
        }
    }
    useful
}

fn program(path: &Path, text: &str, conditions: &[&str]) -> Arc<Program> {
    let options = spinward_promela::Options {
        conditions: conditions.iter().map(|&it| it.to_owned()).collect(),
        ..Default::default()
    };
    let loaded = load_text(path, text.to_owned(), &options);
    assert!(!loaded.has_errors(), "{text}: {:?}", loaded.diagnostics);
    Arc::new(spinward_program::lower(&loaded).0.expect("a program"))
}

fn machine(program: &Arc<Program>, options: Options) -> Machine {
    Machine::new(program.clone(), options, Arc::default()).unwrap()
}

/// A machine, and who follows its runs to where a formula does not hold.
fn followed(program: &Arc<Program>, formula: &Formula) -> (Machine, Follower) {
    let options = Options { watched: formula.atoms.clone(), ..Options::default() };
    let automaton = translate(&formula.temporal.not()).unwrap();
    (machine(program, options), Follower::new(automaton, true))
}

fn subject(machine: &Machine) -> Subject<'_> {
    let patience = Patience::default();
    Subject { machine, follower: None, target: None, symmetric: false, patience }
}

/// Checks the guides for a model with all of safety, or only with conditions that must hold in every state; how many
/// estimates were more than nothing, or none if the model is too large.
fn check(path: &Path, text: &str, conditions: &[&str]) -> Option<u64> {
    let program = program(path, text, conditions);
    let safety = conditions.is_empty();
    let options = Options {
        end_states: safety,
        assertions: safety,
        trace: safety,
        invariants: (0..conditions.len() as u32).collect(),
        ..Options::default()
    };
    let machine = Machine::new(program, options, Arc::default()).ok()?;
    let truth = Truth::of(&machine, MAX_STATES)?;
    Some(hold(&truth, &subject(&machine), &path.display().to_string()))
}

#[test]
fn promises_are_kept_on_all_small_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut models: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|it| it == "pml")).collect();
    models.sort();
    let (mut checked, mut useful) = (0, 0);
    for path in models {
        let text = std::fs::read_to_string(&path).unwrap();
        if let Some(more) = check(&path, &text, &[]) {
            checked += 1;
            useful += more;
        }
    }
    assert!(checked >= 20 && useful > 10_000, "{checked} models, {useful} useful estimates");
}

#[test]
fn promises_are_kept_where_it_is_difficult() {
    let models = [
        // Somebody else comes to have a number, and positions are asked for.
        (
            "byte n; proctype Q() { skip; skip; here: skip; n++ }
             init { do :: n < 3 -> run Q(); (_nr_pr == 1) :: n >= 3 -> break od }",
            &["!Q[1]@here", "n < 3", "_nr_pr < 2 || !Q@here"][..],
        ),
        // Several processes must be somewhere at once, with a rendezvous on the way.
        (
            "chan c = [0] of { bit };
             active proctype P() { do :: skip; c!1; p1: skip; p2: c!0; skip od }
             active proctype Q() { bit v; do :: c?v; q1: skip; q2: v = 0 :: skip; q3: skip od }
             active proctype R() { do :: skip; r1: skip; skip od }",
            &["!(P[0]@p1 && Q[1]@q3)", "!(P[0]@p2 && Q[1]@q2 && R[2]@r1)", "!(P[0]@p1 && P[0]@p2)"],
        ),
        // The same, while they are created.
        (
            "proctype P() { skip; here: skip; skip } proctype Q() { skip; skip; there: skip }
             init { skip; run P(); run Q(); done: skip }",
            &["!(P[1]@here && Q[2]@there)"],
        ),
        // Messages come and go at both ends, and in the middle.
        (
            "mtype = { a, b }; chan c = [3] of { mtype }; unsigned x : 3;
             active proctype P() { do :: c!a :: c!b od }
             active proctype Q() { do :: c?a -> x++ :: c??b :: c?_ od }",
            &["nfull(c)", "!(c?[b] && len(c) == 3)", "empty(c) || x < 7"],
        ),
        (
            "mtype = { a, b }; chan c = [3] of { mtype };
             active proctype P() { do :: c!!a :: d_step { len(c) < 2 -> c!!b; c!!a } od }
             active proctype Q() { do :: c?_ :: d_step { len(c) > 1 -> c?_; c?_ } od }",
            &["nfull(c)", "!(c?[b])", "len(c) != 2"],
        ),
        // Counters that come round, and that are set.
        (
            "unsigned x : 5; byte y = 250; int z; short w;
             active proctype P() { do :: x-- :: x > 3 && z < 9 -> z = z + 2 od }
             active proctype Q() { do :: y < 255 -> y = y + 5 :: w > -5 -> w = w - 3 od }",
            &["x < 25", "y != 255", "z <= 6", "x < 9 || z > 0", "z - w < 12"],
        ),
        // Atomic sequences, rendezvous, who waits, and who ends.
        (
            "chan c = [0] of { byte }; unsigned x : 3; bool lock;
             active [2] proctype P() {
               do :: atomic { !lock -> lock = 1 }; c!1; x++; lock = 0 :: x > 2 -> break od
             }
             active proctype Q() { byte v; do :: c?v -> skip; skip :: x > 1 -> break od; c?v }",
            &["x < 3"],
        ),
        // Who would take a message may not, or has no right to move.
        (
            "hidden byte h; byte x; chan c = [0] of { byte };
             active proctype P() { x++; x--; x++; x++; c!1 }
             active proctype Q() { h = 2; c?eval(h) }",
            &["x < 2"],
        ),
        (
            "byte x; chan c = [0] of { byte };
             active proctype P() { x++; x--; x++; x++; c!1 }
             active proctype Q() provided (_nr_pr == 9) { c?_ }",
            &["x < 2"],
        ),
        // Channels come and go with those who have them, and their numbers with others.
        (
            "chan q = [1] of { byte }; byte x;
             proctype P(byte n) { chan mine = [2] of { byte, byte }; byte a; mine!n,n; q!n; mine?a,_; x = a }
             active proctype I() { byte i; do :: i < 2 -> i++; run P(i); q?_; (_nr_pr == 1) :: else -> break od }",
            &["x < 2"],
        ),
        // A channel is gone with its owner, but not its number.
        (
            "chan c = [1] of { chan }; byte x;
             active proctype P() { chan known; c?known; x++; known!1 }
             active proctype Q() { chan mine = [1] of { bit }; c!mine }",
            &["x < 1"],
        ),
        // Values come to light while a statement is looked at that asks for them.
        (
            "byte g; bit b, d; chan c = [0] of { byte, bit };
             active proctype P() { b = b + g; g = 3; c!b, 1; c?d, g }",
            &["g < 3"],
        ),
    ];
    for (number, (text, conditions)) in models.into_iter().enumerate() {
        let path = PathBuf::from(format!("model {number}"));
        check(&path, text, &[]).unwrap_or_else(|| panic!("{text} has too many states"));
        for condition in conditions {
            let useful = check(&path, text, &[condition]);
            assert!(useful.is_some_and(|it| it > 0), "{text} with {condition}: {useful:?}");
        }
    }
}

#[test]
fn promises_are_kept_for_formulas() {
    let text = "byte x; chan c = [2] of { bit };
        active proctype P() { do :: x < 5 -> x++ :: x > 3 -> c!1; x = 0 od }
        active proctype Q() { bit v; do :: full(c) -> c?v; c?v od }
        ltl l0 { [] (x < 4 || empty(c)) }
        ltl l1 { (x < 3) W (len(c) == 2) }
        ltl l2 { [] (x == 5 -> X (x != 0)) }";
    let program = program(Path::new("model.pml"), text, &[]);
    for formula in &program.formulas {
        let (machine, follower) = followed(&program, formula);
        assert!(follower.is_terminal());
        let truth = Truth::of(&Product::new(&machine, &follower), MAX_STATES).unwrap();
        let subject = Subject { follower: Some(&follower), ..subject(&machine) };
        assert!(hold(&truth, &subject, &formula.text) > 0, "{}", formula.text);
    }
}

/// All conditions of a formula are asked for, also one that never becomes true.
#[test]
fn a_condition_without_a_value_is_a_mistake() {
    let text = "bit y; active proctype P() { skip } ltl l { (y == 0) W (1 / y) }";
    let program = program(Path::new("model.pml"), text, &[]);
    let (machine, follower) = followed(&program, &program.formulas[0]);
    let subject = Subject { follower: Some(&follower), ..subject(&machine) };
    for guide in ["dpa", "pdb"] {
        let misfit = guide.parse::<Wanted>().unwrap().build(&subject).err().unwrap().to_string();
        assert!(misfit.ends_with("a condition of the formula may have no value"), "{misfit}");
    }
    // Of several, those count that fit.
    let build = |text: &str| text.parse::<Wanted>().unwrap().build(&subject);
    let guide = build("max(dpa,formula)").unwrap();
    assert!(guide.is_admissible() && guide.is_consistent());
    let start = "'max' leaves out the guide 'dpa', which does not fit: ";
    assert!(matches!(guide.notes(), [note] if note.starts_with(start)), "{:?}", guide.notes());
    assert!(matches!(build("max(dpa,pdb)"), Err(Misfit::Property { guide: "dpa", .. })));
    assert!(matches!(build("max(formula,dpa(n=1))"), Err(Misfit::Argument { .. })));
}

/// An image that takes too much of something is given up, or is less exact.
#[test]
fn patience_has_an_end() {
    let text =
        "byte x; active [2] proctype P() { do :: x < 9 -> x++ :: x > 1 -> x-- od; assert(x < 9) }";
    let program = program(Path::new("model.pml"), text, &[]);
    let options = Options { assertions: true, ..Options::default() };
    let machine = machine(&program, options);
    let (stopped, now) = (Stop::default(), Instant::now());
    stopped.ask();
    let most = Patience { memory: Some((|| 6, 7)), until: None, stop: Some(&Stop::default()) };
    let cases = [
        (most, None),
        (Patience { memory: Some((|| 8, 7)), ..most }, Some("it takes more memory than there is")),
        (Patience { until: Some(now), ..most }, Some("it takes more time than there is")),
        (Patience { stop: Some(&stopped), ..most }, Some("it was interrupted")),
    ];
    for (patience, why) in cases {
        let subject = Subject { patience, ..subject(&machine) };
        for name in ["dpa", "pdb"] {
            let guide = name.parse::<Wanted>().unwrap().build(&subject).unwrap();
            let told = why.map(|why| {
                format!("the guide '{name}' was not made, {why}; this is a search without one")
            });
            assert_eq!(guide.notes(), Vec::from_iter(told.clone()));
            assert!(guide.is_admissible() && guide.is_consistent());
            let several: Wanted = format!("max(fsm,{name})").parse().unwrap();
            assert_eq!(several.build(&subject).unwrap().notes(), Vec::from_iter(told));
        }
        for name in ["dpa(n=1)", "dpa(n=2,n=3)", "dpa(n=2,)", "dpa(order=up)", "pdb(n=x)"] {
            let misfit = name.parse::<Wanted>().unwrap().build(&subject).err();
            assert!(matches!(misfit, Some(Misfit::Argument { .. })), "{name}: {misfit:?}");
        }
    }
}

#[test]
fn who_knows_a_state_to_come_to_goes_towards_it() {
    let text = "byte x;
        proctype Q() { x = 1; x = 2; x = 3 }
        active proctype P() { x = 4; run Q(); x = 5; x = 6 }";
    let program = program(Path::new("model.pml"), text, &[]);
    let machine = machine(&program, Options::default());
    let truth = Truth::of(&machine, MAX_STATES).unwrap();
    // After `x = 4`, `run Q()`, `x = 1` and `x = 2`; Q can go on, and so can P.
    let places = |state: &[u8]| -> Vec<usize> {
        let processes = machine.view(state).processes.into_iter();
        processes.map(|it| usize::from(it.state.0)).collect()
    };
    let first = truth.states[0].clone();
    let is_target = |state: &&Vec<u8>| {
        let view = machine.view(state);
        view.processes.len() == 2
            && view.globals == [2]
            && places(state)[0] == places(&first)[0] + 2
    };
    let state = truth.states.iter().find(is_target).unwrap();
    let target = Target::new(&machine, state.clone());
    let estimate = |name: &str, state: &[u8], target| {
        let subject = Subject { target, ..subject(&machine) };
        let guide = name.parse::<Wanted>().unwrap().build(&subject).ok()?;
        assert!(!guide.is_admissible(), "{name}");
        Some(guide.estimate(state, Way::default(), &mut Room::default()))
    };
    for name in ["hamming", "fsm=trail", "fsm-sum=trail"] {
        assert_eq!(estimate(name, state, Some(&target)), Some(0), "{name}");
        assert!(estimate(name, &first, Some(&target)) > Some(0), "{name}");
        assert_eq!(estimate(name, state, None), None, "{name}");
    }
    // P has two steps to make, and Q is to be created and has two more.
    assert_eq!(estimate("fsm=trail", &first, Some(&target)), Some(3));
    assert_eq!(estimate("fsm-sum=trail", &first, Some(&target)), Some(5));
}
