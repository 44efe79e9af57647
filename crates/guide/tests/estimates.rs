//! What guides promise, in every state of small models: by brute force.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use spinward_guide::truth::Truth;
use spinward_guide::{
    Begin, GUIDES, Growing, Guide, Misfit, NEVER, Patience, Room, Subject, Target, Wanted, Way,
};
use spinward_machine::{Follower, Machine, Options, Product, Stop, System};
use spinward_program::Program;
use spinward_program::ir::Formula;
use spinward_promela::load_text;
use spinward_property::translate;

/// More than any image of the models here takes.
const BYTES: u64 = 1 << 30;

/// What `dpa` is at first.
const SMALL: &str = "dpa(n=100,order=rank)";

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
        useful += hold_one(truth, &*guide, &format!("{name}, {text}"));
        if wanted.grows() {
            let grown = wanted.grow(subject, Begin::Now, BYTES, |guide| {
                hold_one(truth, guide, &format!("{name}, {text}, growing"));
                for moves in 0..40 {
                    if guide.is_better_after(1 << moves) {
                        guide.improve();
                        hold_one(truth, guide, &format!("{name}, {text}, grown"));
                    }
                }
                truth.estimates(guide)
            });
            let mut all = truth.estimates(&*guide);
            let stage = (text == "dpa").then_some(SMALL);
            for also in ["formula"].into_iter().chain(stage) {
                let also = also.parse::<Wanted>().unwrap().build(subject).unwrap();
                let estimates = truth.estimates(&*also).into_iter();
                all.iter_mut().zip(estimates).for_each(|(one, other)| *one = other.max(*one));
            }
            assert_eq!(grown, Ok(all));
        }
    }
    useful
}

/// Holds the estimates of a guide against what it promises; how many are more than nothing, and never too much.
fn hold_one(truth: &Truth, guide: &dyn Guide, name: &str) -> u64 {
    let mut useful = 0;
    let estimates = truth.estimates(guide);
    for (state, (&estimate, &distance)) in estimates.iter().zip(&truth.distances).enumerate() {
        let is_fine = !guide.is_admissible() || estimate <= distance;
        let is_wrong = guide.rules_out() && estimate == NEVER && truth.doomed[state];
        assert!(!is_wrong, "{name}: state {state} is not ruled out");
        assert!(is_fine, "{name}: {estimate} > {distance} in state {state}");
        useful += u64::from(guide.is_admissible() && estimate > 0 && estimate != NEVER);
    }
    for &(from, to, steps) in &truth.edges {
        let (from, to) = (estimates[from], estimates[to]);
        let is_fine = !guide.is_consistent() || from <= to.saturating_add(steps);
        assert!(is_fine, "{name}: {from} > {steps} + {to}");
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
        // What an `unless` escapes from stands behind the `else`, and may be possible too.
        (
            "byte x, y = 9; bit wrong;
             active proctype P() {
               { do :: x < 5 -> x++ od } unless { if :: y < 9 -> skip :: else -> y = 8; wrong = 1; assert(false) fi }
             }
             active proctype Q() {
               { do :: x < 5 -> x++ od } unless { if :: x > 2 -> y = 7 :: y == 8 -> y = 9 fi }
             }",
            &["!wrong", "y != 9 || !wrong"],
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
fn mistakes_that_nobody_asked_about_are_not_ruled_out() {
    let models = [
        // Two statements of who must not have a choice.
        "byte x; active D_proctype P() { do :: x == 0 -> x = 1 :: x < 1 -> x = 2 :: else -> break od; skip }",
        // What is sent and received where the values, or the channels, are not kept track of.
        "byte x; int big; chan q = [2] of { int };
         active proctype P() { do :: big < 300 -> big++ :: break od; q!big; q?big; if :: q!(10 / x) :: skip fi }",
        "byte x = 7, z; byte a[3]; chan q = [2] of { byte };
         proctype P() { chan c = [1] of { byte }; z = 1 }
         active proctype Q() { byte v; if :: run P() :: z = 3 fi; q!1; if :: q?eval(a[x]) :: q?v fi }",
        "byte x, z; int big; chan q = [2] of { int, byte };
         proctype P() { chan c = [1] of { byte }; z = 1 }
         active proctype Q() { if :: run P() :: z = 3 fi; q!1 }",
        // Values that are handed over, and not kept track of.
        "byte x, sink; int big; proctype P(int a) { sink = 1; (a == 77) }
         active proctype Q() { do :: big < 300 -> big = big + 7 :: break od; if :: run P(big) :: run P(10 / x) fi }",
        // Channels without end.
        "byte z; proctype P() { chan c[100] = [1] of { byte }; z = 1; (z == 7) }
         init { if :: z = 1 :: z = 2 fi; run P(); run P(); run P(); z = 2 }",
        // A rendezvous that an indivisible sequence cannot wait for.
        "chan c = [0] of { byte }; byte z; active proctype P() { d_step { c!1; z = 1 } } active proctype Q() { c?_ }",
        // Elements of a variable of somebody whose number is not known.
        "byte x = 5, z; int who; active proctype P() { byte a[3]; z = 1; (z == 9) }
         active proctype Q() { do :: who < 300 -> who++ :: break od; who = who * 0; if :: P[who]:a[x] > 0 -> z = 2 :: z = 3 fi }",
    ];
    for (number, text) in models.into_iter().enumerate() {
        let path = PathBuf::from(format!("model {number}"));
        for conditions in [&[][..], &["_nr_pr < 200"]] {
            check(&path, text, conditions).unwrap_or_else(|| panic!("{text} is too large"));
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
        ltl l2 { [] (x == 5 -> X (x != 0)) }
        ltl l3 { X X X [] (x < 4 || empty(c)) }";
    // What happened before all processes are there may matter.
    let later = "ltl l4 { [] (y == 2 -> [] (x < 4 || empty(c))) }";
    for text in [text.to_owned(), created(text) + later] {
        let program = program(Path::new("model.pml"), &text, &[]);
        for formula in &program.formulas {
            let (machine, follower) = followed(&program, formula);
            assert!(follower.is_terminal());
            let truth = Truth::of(&Product::new(&machine, &follower), MAX_STATES).unwrap();
            let subject = Subject { follower: Some(&follower), ..subject(&machine) };
            assert!(hold(&truth, &subject, &formula.text) > 0, "{}", formula.text);
        }
    }
}

/// A model whose processes are created one after the other, at first.
fn created(text: &str) -> String {
    format!("byte y; {} init {{ y = 2; y = 0; run P(); run Q() }} ", text.replace("active ", ""))
}

#[test]
fn promises_are_kept_for_claims() {
    let text = "byte x; chan c = [2] of { bit };
        active proctype P() { do :: x < 5 -> x++; here: skip :: x > 3 -> c!1; x = 0 od }
        active proctype Q() { bit v; do :: full(c) -> c?v; c?v od }";
    let claims = [
        "never { do :: x == 5 && len(c) == 1 -> break :: else od }",
        "never { do :: x == 4 -> goto next :: x != 4 od; next: if :: empty(c) || P@here fi }",
        "never { do :: atomic { x > 2 && full(c) -> assert(x < 3 || nfull(c)) } :: true od }",
        "never { do :: assert(x < 4 || _nr_pr > 5) od }",
        "never { do :: timeout && x > 2 -> break :: _nr_pr < 3 od }",
        "never { do :: 7 / (x - 3) > 3 -> break :: else od }",
        // What an `unless` escapes from stands behind the `else`, and may be possible too.
        "never {
           do :: x == 3 -> break :: else od;
           near: { x < 9 -> goto near } unless { if :: len(c) == 7 -> skip :: else -> goto done fi };
           done: skip
         }",
        "never {
           do :: { x < 9 } unless { if :: x == 1 -> goto near :: x == 4 -> goto done fi } od;
           near: { x < 9 -> goto near } unless { if :: len(c) == 7 -> skip :: else -> goto done fi };
           done: skip
         }",
    ];
    let texts = [text.to_owned(), created(text)];
    for (text, never) in texts.iter().flat_map(|text| claims.map(|never| (text, never))) {
        let program = program(Path::new("model.pml"), &format!("{text} {never}"), &[]);
        let claim = Some(program.claims[0]);
        let options = Options { claim, assertions: true, ..Options::default() };
        let machine = machine(&program, options);
        let truth = Truth::of(&machine, MAX_STATES).unwrap();
        let subject = subject(&machine);
        assert!(hold(&truth, &subject, never) > 0, "{never}");
        for guide in ["dpa", "pdb"] {
            assert!(guide.parse::<Wanted>().unwrap().build(&subject).is_ok(), "{guide}: {never}");
        }
    }
}

/// Of two images that were made by different orders, the one counts that sees an error farther away; also for claims.
#[test]
fn the_better_of_two_orders_counts() {
    let text = "byte x; chan c = [2] of { bit };
        proctype P() { do :: x < 5 -> x++ :: x > 3 -> c!1; x = 0 od }
        proctype Q() { bit v; do :: full(c) -> c?v; c?v od }
        init { run P(); run Q(); do :: x == 2 -> skip; skip od }
        ltl l { [] (x < 5 || nfull(c)) }
        never { do :: x == 5 && full(c) -> break :: else od }";
    let program = program(Path::new("model.pml"), text, &[]);
    let options = Options { claim: Some(program.claims[0]), ..Options::default() };
    let of_claim = machine(&program, options);
    let (of_formula, follower) = followed(&program, &program.formulas[0]);
    let subjects =
        [subject(&of_claim), Subject { follower: Some(&follower), ..subject(&of_formula) }];
    for subject in subjects {
        // Of states before all processes are there nothing is known.
        let truth = Truth::of(subject.machine, MAX_STATES).unwrap();
        let is_whole = |it: &&Vec<u8>| subject.machine.view(it).processes.len() == 3;
        let mut state = truth.states.iter().find(is_whole).unwrap().clone();
        if let Some(follower) = subject.follower {
            state.extend((follower.automaton().initial as u16).to_le_bytes());
        }
        let mut better = [0, 0];
        for states in 2..40 {
            let [one, other, both] = ["order=outer", "order=rank", "budget=none"].map(|argument| {
                let wanted: Wanted = format!("dpa(n={states},{argument})").parse().unwrap();
                let guide = wanted.build(&subject).unwrap();
                guide.estimate(&state, Way::default(), &mut Room::default())
            });
            assert!(
                one != NEVER && other != NEVER && both == one.max(other),
                "{one} {other} {both}"
            );
            better[0] += u32::from(one > other);
            better[1] += u32::from(one < other);
        }
        assert!(!better.contains(&0), "{better:?}");
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

/// What keeps a process from waiting for sure is seen before all else it asks for, of which there are too many answers together.
#[test]
fn who_can_always_move_is_not_asked_for_more() {
    let all = |text: &dyn Fn(u8) -> String| (0..7).map(text).collect::<Vec<_>>().join(" ");
    let text = format!(
        "byte at; byte p[7];
         active proctype P() {{
           do
           :: p[0] == 1 {} -> break
           {}
           {}
           :: at = 0 :: at = 1 :: at = 2 :: at = 3
           od; false
         }}",
        all(&|it| format!("&& p[{it}] == 1")),
        all(&|it| format!(":: d_step {{ p[{it}] == at -> p[{it}] = 9 }}")),
        all(&|it| format!(":: d_step {{ p[{it}] == 9 -> p[{it}] = at }}")),
    );
    let program = program(Path::new("model.pml"), &text, &[]);
    let machine = machine(&program, Options { end_states: true, ..Options::default() });
    let guide = "dpa(budget=none)".parse::<Wanted>().unwrap().build(&subject(&machine)).unwrap();
    let mut initial = Vec::new();
    machine.initial(&mut initial);
    let estimate = guide.estimate(&initial, Way::default(), &mut Room::default());
    // All are taken up, carried, and put down.
    assert!((8..=16).contains(&estimate), "{estimate}");
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
    let most =
        Patience { memory: Some((|| 6, 7)), stop: Some(&Stop::default()), ..Patience::default() };
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

/// However long one part of the making of an image would take, it ends when it is to.
#[test]
fn patience_has_an_end_soon() {
    let all = |text: &dyn Fn(u8) -> String| (0..11).map(text).collect::<Vec<_>>().join(" ");
    let flips = all(&|it| format!(":: a[{it}] = 1 - a[{it}] :: b[{it}] = 1 - b[{it}]"));
    let asks = all(&|it| format!(":: d_step {{ a[{it}] == b[{it}] && i < 2000 -> i++ }}"));
    let sums =
        all(&|it| format!("k = 0; do :: k < 100 -> k++; x = x ^ a[{it}] :: else -> break od;"));
    let others = format!("active proctype Q() {{ do {flips} od }}");
    let models = [
        // Thousands of local states, from each of which thousands of ways are looked at.
        format!("bit a[11], b[11]; active proctype P() {{ short i; do {asks} od }} {others}"),
        // Thousands of ways through a sequence of thousands of steps.
        format!(
            "bit a[11], b[11], x; active proctype P() {{ byte k; d_step {{ {sums} k = 0 }} }} {others}"
        ),
    ];
    for text in models {
        let program = program(Path::new("model.pml"), &text, &[]);
        let machine = machine(&program, Options { end_states: true, ..Options::default() });
        let begun = Instant::now();
        let until = Some(begun + Duration::from_millis(50));
        let patience = Patience { until, ..Patience::default() };
        let subject = Subject { patience, ..subject(&machine) };
        let guide = "dpa".parse::<Wanted>().unwrap().build(&subject).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(2), "{text}");
        let note = "the guide 'dpa' was not made, it takes more time than there is; this is a search without one";
        assert_eq!(guide.notes(), [note]);
        // Nor does a search have to wait for it.
        let begun = Instant::now();
        let wanted: Wanted = "dpa".parse().unwrap();
        let subject = Subject { patience: Patience::default(), ..subject };
        assert!(
            wanted.grow(&subject, Begin::Now, BYTES, |guide| guide.rules_out()).is_ok_and(|it| !it)
        );
        assert!(begun.elapsed() < Duration::from_secs(2), "{text}");
    }
}

/// A model of which an image takes long to make.
fn hanoi() -> (Machine, Follower) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/hanoi_disks.pml");
    let text = std::fs::read_to_string(&path).unwrap();
    let options = spinward_promela::Options {
        defines: vec![("DISKS".to_owned(), "12".to_owned())],
        ..Default::default()
    };
    let loaded = load_text(&path, text, &options);
    let program = Arc::new(spinward_program::lower(&loaded).0.unwrap());
    followed(&program, &program.formulas[0])
}

/// What a guide estimates at first.
fn first_estimate((machine, follower): (&Machine, &Follower), guide: &dyn Guide) -> u32 {
    let mut initial = Vec::new();
    Product::new(machine, follower).initial(&mut initial);
    guide.estimate(&initial, Way::default(), &mut Room::default())
}

/// An image that takes long is there after so many moves of a search, always the same; before, a small one answers.
#[test]
fn images_grow_while_others_are_asked() {
    let (machine, follower) = &hanoi();
    let subject = Subject { follower: Some(follower), ..subject(machine) };
    let estimate = |guide: &dyn Guide| first_estimate((machine, follower), guide);
    let built = |name: &str| {
        let guide = name.parse::<Wanted>().unwrap().build(&subject).unwrap();
        estimate(&*guide)
    };
    let (blind, small) = (built("formula"), built(SMALL));
    let whole = built("dpa(budget=none)");
    assert!(blind < small && small < whole, "{blind}, {small}, {whole}");
    let wanted: Wanted = "dpa".parse().unwrap();
    let after = |begin| {
        let found = wanted.grow(&subject, begin, BYTES, |guide| {
            assert!(begin == Begin::Now || guide.notes().is_empty());
            assert_eq!(estimate(guide), small);
            assert!(guide.is_consistent() && guide.is_admissible());
            assert!(guide.goes_on());
            let after = (0..40).find(|it| guide.is_better_after(1 << it)).unwrap();
            assert_eq!(estimate(guide), small);
            guide.improve();
            assert_eq!(estimate(guide), whole);
            assert!(guide.notes().is_empty() && !guide.is_better_after(1 << 40));
            after
        });
        found.unwrap()
    };
    assert_eq!(after(Begin::Now), after(Begin::WhenAsked));
    assert!(after(Begin::Now) > 10);
    // It may be left at any time.
    for moves in [0, 1, 100, 10_000] {
        let is_better = |guide: &Growing<'_, '_>| guide.is_better_after(moves);
        assert_eq!(wanted.grow(&subject, Begin::WhenAsked, BYTES, is_better), Ok(false));
    }
    // Who does not go by it says so.
    let note = wanted.grow(&subject, Begin::Now, BYTES, |guide| guide.notes()[0].clone()).unwrap();
    assert_eq!(
        note,
        "the guide 'dpa' was not made: that takes longer than an eighth of the search; the search went by a small image"
    );
    let unused = |guide: &Growing<'_, '_>| {
        assert!(guide.is_better_after(1 << 40));
        guide.notes()[0].clone()
    };
    let note = wanted.grow(&subject, Begin::Now, BYTES, unused).unwrap();
    assert!(note.starts_with("the guide 'dpa' was not used: to rank anew"), "{note}");
}

/// An image that is not finished is none: what it would say is less than what was said before.
#[test]
fn images_that_are_given_up_are_not_gone_by() {
    static USED: AtomicU64 = AtomicU64::new(0);
    static MORE: AtomicU64 = AtomicU64::new(0);
    let used = || USED.fetch_add(MORE.load(Ordering::Relaxed), Ordering::Relaxed);
    let (machine, follower) = &hanoi();
    let stop = &Stop::default();
    let patience = Patience { memory: Some((used, 0)), stop: Some(stop), ..Patience::default() };
    let subject = Subject { follower: Some(follower), patience, ..subject(machine) };
    let wanted: Wanted = "dpa".parse().unwrap();
    let after = |end: &dyn Fn()| {
        let found = wanted.grow(&subject, Begin::Now, BYTES, |guide| {
            let estimate = |guide: &dyn Guide| first_estimate((machine, follower), guide);
            let small = estimate(guide);
            assert!(guide.goes_on());
            end();
            let is_better = guide.is_better_after(1 << 40);
            assert!(!guide.goes_on());
            // What there was not enough of may be there again.
            if stop.is_told() {
                stop.take_back();
            }
            MORE.store(0, Ordering::Relaxed);
            USED.store(0, Ordering::Relaxed);
            assert!(!is_better && !guide.is_better_after(1 << 40) && estimate(guide) == small);
            guide.notes().concat()
        });
        found.unwrap()
    };
    let note = |why, by| format!("the guide 'dpa' was not made, {why}; the search went by {by}");
    let small = "a small image";
    assert_eq!(after(&|| stop.ask()), note("it was interrupted", small));
    let takes_more = || MORE.store(BYTES / 8, Ordering::Relaxed);
    assert_eq!(after(&takes_more), note("it takes more memory than there is", small));
    // What the search takes meanwhile does not count.
    let is_better = wanted.grow(&subject, Begin::Now, BYTES, |guide| {
        assert!(guide.goes_on());
        USED.store(8 * BYTES, Ordering::Relaxed);
        guide.is_better_after(1 << 40)
    });
    assert_eq!(is_better, Ok(true));
    let notes = |guide: &Growing<'_, '_>| (guide.goes_on(), guide.notes().concat());
    // What is given up at once is not begun again; nor is it gone by if parts could not be put together for want of memory.
    let found = wanted.grow(&subject, Begin::Now, 1 << 10, notes);
    assert_eq!(found, Ok((false, note("it takes more memory than there is", "'formula'"))));
    let patience = Patience { until: Some(Instant::now()), ..Patience::default() };
    let found = wanted.grow(&Subject { patience, ..subject }, Begin::Now, BYTES, notes);
    assert_eq!(found, Ok((false, note("it takes more time than there is", "'formula'"))));
}

#[test]
fn images_grow_unless_it_is_said_how_they_are_made() {
    let grows = |text: &str| text.parse::<Wanted>().unwrap().grows();
    assert!(["dpa", "pdb", "max(dpa,fsm)", "max(dpa(n=50),pdb)"].iter().all(|it| grows(it)));
    for text in ["dpa(n=50)", "dpa(budget=none)", "pdb(budget=none)", "formula", "max(dpa,active)"]
    {
        assert!(!grows(text), "{text}");
    }
    // What takes longer than usual is not hidden in another.
    assert!(grows("max(dpa(n=1000),pdb(n=20000),dpa)"));
    for text in ["dpa(n=1001)", "dpa(budget=none)", "pdb(n=20001)", "pdb(budget=none)", "dpa(n=1)"]
    {
        assert!(!grows(&format!("max({text},dpa)")), "{text}");
    }
    let text = "byte x; active proctype P() { x = 1; x = 2 }";
    let program = program(Path::new("model.pml"), text, &["x < 2"]);
    let options = Options { invariants: vec![0], ..Options::default() };
    let machine = machine(&program, options);
    let wanted: Wanted = "dpa".parse().unwrap();
    // A small one is there at once.
    let estimate = |guide: &Growing<'_, '_>| {
        let mut initial = Vec::new();
        machine.initial(&mut initial);
        guide.estimate(&initial, Way::default(), &mut Room::default())
    };
    assert_eq!(wanted.grow(&subject(&machine), Begin::Now, BYTES, estimate), Ok(2));
    // And one that does not fit is refused.
    let machine = self::machine(&program, Options::default());
    let misfit = wanted.grow(&subject(&machine), Begin::Now, BYTES, |_| ()).unwrap_err();
    assert!(misfit.to_string().ends_with("nothing is checked that it could tell the distance of"));
    let program = self::program(
        Path::new("model.pml"),
        "bit x; active proctype P() { skip } never { x = 1 }",
        &[],
    );
    let options = Options { claim: Some(program.claims[0]), ..Options::default() };
    let machine = self::machine(&program, options);
    let misfit = wanted.grow(&subject(&machine), Begin::Now, BYTES, |_| ()).unwrap_err();
    assert!(misfit.to_string().ends_with("never claims that do no more than ask and assert"));
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
