//! What may be left out of a search makes no difference; and each condition for that is needed: there is a
//! model in which an error is missed without it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use spinward_machine::{Fair, Fairness, Flow, Follower, Machine, Options, Product, Sink, System};
use spinward_program::Program;
use spinward_program::independence::Conditions;
use spinward_promela::load_text;
use spinward_property::translate;
use spinward_search::bfs::{bfs, bfs_of_less};
use spinward_search::dfs::dfs;
use spinward_search::emptiness::scc::scc;
use spinward_search::lossy::lossy;
use spinward_search::reduced::Reduced;
use spinward_search::stateless::stateless;
use spinward_search::sweep::sweep;
use spinward_search::{Limits, Outcome, Progress, Request};
use spinward_store::Table;

const ALL: Conditions = Conditions::ALL;

/// A model, a condition on it that must hold, and the condition for a reduction without which an error in it
/// is missed.
const TRAPS: &[(&str, &str, Option<Conditions>)] = &[
    (
        "byte g;
         active proctype A() { g = 1; g = 2 }
         active proctype B() { assert(g != 1) }",
        "",
        Some(Conditions { globals: false, ..ALL }),
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { byte x; end: c?x; false }
         active proctype B() { byte x; end: c?x; assert(false) }
         active proctype C() { c!1 }",
        "",
        Some(Conditions { channels: false, ..ALL }),
    ),
    (
        "chan c = [1] of { byte }; chan d = [1] of { byte };
         active proctype A() {
            byte x;
            c!1;
            if :: c?x :: d?x -> assert(false) fi
         }
         active proctype B() { d!1 }",
        "",
        Some(Conditions { room: false, ..ALL }),
    ),
    (
        "proctype A() { skip }
         proctype B() { assert(_pid != 1) }
         init { run A(); run B() }",
        "",
        Some(Conditions { lives: false, ..ALL }),
    ),
    (
        "byte x, y;
         active proctype A() { x = 1; x = 0 }
         active proctype B() { y = 1; y = 0 }",
        "x + y < 2",
        Some(Conditions { visibility: false, ..ALL }),
    ),
    (
        "byte g;
         active proctype A() { byte i; g = 1; do :: i = 0; i = 1 od }
         active proctype B() { assert(g == 0) }",
        "",
        Some(Conditions { cycles: false, ..ALL }),
    ),
    // Who stops in the middle of an atomic sequence lets others see what they would not see otherwise.
    (
        "byte g; chan c = [1] of { byte };
         active proctype A() { byte x; atomic { g = 1; c?x; g = 0 } }
         active proctype B() { assert(g == 0) }
         active proctype C() { c!1 }",
        "",
        None,
    ),
    (
        "byte g, h; chan c = [0] of { byte };
         active proctype A() { byte x; x = 1; c?h }
         active proctype B() { atomic { g = 1; c!1 } }
         active proctype C() { assert(g == h) }",
        "",
        None,
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { c!1 }
         active proctype B() { byte x; d_step { x = 1; c?x } }",
        "",
        None,
    ),
    // Who does not wait for a message sees whether there is one.
    (
        "chan c = [1] of { byte };
         active proctype A() { c!1 }
         active proctype B() { byte x; x = nempty(c); assert(x) }",
        "",
        None,
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { c!1 }
         active proctype B() { assert(nempty(c)) }",
        "",
        None,
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { c!1 }
         active proctype B() { if :: nempty(c) :: else -> assert(false) fi }",
        "",
        None,
    ),
    (
        "chan c = [1] of { byte }; chan d = [1] of { byte };
         active proctype A() { c!1; c!1 }
         active proctype B() { byte x; c?x; d!1 }
         active D_proctype C() { byte x; if :: nempty(c) -> d?x :: nempty(d) -> d?x fi }",
        "",
        None,
    ),
    // What goes wrong if there is no message does not if there is one.
    (
        "chan c = [2] of { byte }; byte z;
         active proctype A() { c!1 }
         active proctype B() { (nempty(c) || 1 / z) }
         active proctype C() { z = 0 }",
        "",
        None,
    ),
    (
        "chan c = [1] of { byte }; byte z;
         active proctype A() { (nfull(c) || 1 / z) }
         active proctype B() { byte x; c!1; c?x; z = 0 }",
        "",
        None,
    ),
    // A channel goes away with who is younger than who uses it.
    (
        "byte go;
         active proctype A() { chan q = 1; go = 2; q!1 }
         active proctype B() { chan own = [1] of { byte }; go == 2 }",
        "",
        None,
    ),
    // Who does something else if nobody is ready sees who is.
    (
        "chan c = [0] of { byte };
         active proctype A() { byte x; x = 1; end: c?x }
         active proctype B() { if :: c!1 :: else -> assert(false) fi }",
        "",
        None,
    ),
    (
        "chan c = [0] of { byte };
         active proctype A() { byte x; x = 1; end: c?x }
         active proctype B() { { assert(false) } unless { c!1 } }",
        "",
        None,
    ),
    (
        "chan c = [0] of { byte };
         active proctype A() { if :: c!1 :: else -> assert(false) fi }
         active proctype B() { byte x; x = 1; d_step { c?x; x = 0 } }",
        "",
        None,
    ),
    (
        "chan c = [0] of { byte };
         active proctype A() {
            byte x;
            if :: c!1 :: else -> assert(false) fi;
            end: x = 1; goto end
         }
         proctype B() { byte x; c?x; end: x = 1; goto end }
         init { byte x; run B(); end: x = 1; goto end }",
        "",
        None,
    ),
    (
        "chan c = [0] of { byte }; byte g, h;
         active proctype A() { atomic { g = 1; c!1 } }
         active proctype B() { byte x; x = 1; atomic { c?x; h = 1 } }",
        "g == h",
        None,
    ),
    (
        "chan c = [0] of { byte }; byte h;
         active proctype A() { byte x; atomic { x = 1; c!1 }; end: false }
         active proctype B() { byte x, y; y = 1; atomic { c?y; h = 1 }; end: false }
         active proctype C() { assert(A:x == h) }",
        "",
        None,
    ),
    (
        "chan c = [0] of { byte }; byte h;
         active proctype A() {
            byte x;
            skip; skip; skip; skip; skip; skip;
            atomic { x = 1; here: c!1 };
            end: false
         }
         active proctype B() { byte y; y = 1; atomic { c?y; h = 1 }; end: false }
         active proctype C() { if :: A@here -> assert(false) :: h == 1 fi }",
        "",
        None,
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { c!1 }
         active proctype B() { byte x; if :: c?x :: else -> assert(false) fi }",
        "",
        None,
    ),
    // Nobody is alone while others wait for `timeout`; and who cannot move lets nobody time out.
    (
        "byte g;
         active proctype A() { byte x; x = 1; x == 2 }
         active proctype B() { timeout; assert(g == 0) }
         active proctype C() { byte x; x = 1; g = x }",
        "",
        None,
    ),
    // What others look at from afar.
    (
        "active proctype A() { byte x; x = 1; x = 0 }
         active proctype B() { assert(A:x == 0) }",
        "",
        None,
    ),
    (
        "active proctype A() { byte x; x = 1; here: x = 0; skip }
         active proctype B() { assert(!A@here) }",
        "",
        None,
    ),
    (
        "active proctype A() { byte x; x = 1; assert(_nr_pr == 1) }
         active proctype B() { byte x; x = 1 }",
        "",
        None,
    ),
    // A channel by two names.
    (
        "chan c = [1] of { byte };
         proctype A(chan in) { byte x; in?x }
         active proctype B() { byte x; end: c?x; assert(false) }
         init { atomic { run A(c) }; c!1 }",
        "",
        None,
    ),
    (
        "chan c = [1] of { chan }; chan d = [1] of { byte };
         active proctype A() { byte x; end: d?x; false }
         active proctype C() { c!d; d!1 }
         active proctype B() { chan e; byte x; c?e; end: e?x; assert(false) }",
        "",
        None,
    ),
    (
        "chan c = [1] of { byte };
         proctype B(chan in) { byte x; end: in?x; assert(false) }
         active proctype A() { byte x; end: c?x; false }
         active proctype C() { c!1 }
         init { byte x; x = 1; run B(c) }",
        "",
        None,
    ),
    // One of many channels.
    (
        "typedef S { chan c = [1] of { byte }; chan d = [1] of { byte } }
         typedef R { S s[2]; chan e = [1] of { byte } }
         R r[2]; byte i = 1, j;
         active proctype A() { r[1].s[0].c!2 }
         active proctype B() { r[i].s[j].c!1; i = 1; j = 0 }
         active proctype C() { byte k; r[1].s[0].c?k; assert(k == 2) }",
        "",
        None,
    ),
    // Who may not begin any more, but has.
    (
        "byte g; chan c = [0] of { byte };
         active proctype A() provided (g == 0) { byte x; end: atomic { x = 1; c!1 } }
         active proctype B() { byte x; x = 1; endb: c?x }
         active proctype C() { g = 1 }",
        "",
        None,
    ),
    // The number of a channel that is gone is that of another one.
    (
        "chan g;
         proctype A() { chan c = [1] of { byte }; g = c }
         proctype B() { chan c = [1] of { byte }; byte x; end: do :: x = 1 od }
         active proctype C() { byte x; g != 0; g!1; end: do :: x = 1 od }
         active proctype D() { byte x; run A(); x = 1; run B(); end: do :: x = 1 od }",
        "",
        None,
    ),
    (
        "chan g;
         proctype A() { chan c = [1] of { byte }; g = c }
         proctype B() { chan c = [1] of { byte }; end: false }
         init { run A(); run B(); end: false }",
        "g == 0 || len(g) == 0",
        None,
    ),
    // A channel that is gone with its process.
    (
        "chan c = [1] of { chan };
         active proctype A() { chan d; c?d; d!1 }
         active proctype B() { chan e = [1] of { byte }; c!e }",
        "",
        None,
    ),
    // A run that ends in an error does not keep others from theirs.
    (
        "active proctype A() { byte x; x = 1 / x }
         active proctype B() { byte x; x = 1; assert(x == 0) }",
        "",
        None,
    ),
];

/// Moves alone whoever may, and does not care whether others are put off for ever.
struct Careless<'a>(&'a Machine);

impl System for Careless<'_> {
    type Scratch = <Machine as System>::Scratch;

    fn scratch(&self) -> Self::Scratch {
        self.0.scratch()
    }

    fn initial(&self, out: &mut Vec<u8>) {
        self.0.initial(out);
    }

    fn expand(&self, state: &[u8], scratch: &mut Self::Scratch, sink: &mut dyn Sink) -> Flow {
        if let Some(actor) = self.0.alone(state, 0, true)
            && self.0.expand_alone(state, actor, scratch, sink)?
        {
            return Flow::Continue(());
        }
        self.0.expand(state, scratch, sink)
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        self.0.key(state)
    }
}

fn program(text: &str, options: &spinward_promela::Options) -> Arc<Program> {
    let loaded = load_text(Path::new("model.pml"), text.to_owned(), options);
    assert!(!loaded.has_errors(), "{text}: {:?}", loaded.diagnostics);
    let (program, problems) = spinward_program::lower(&loaded);
    Arc::new(program.unwrap_or_else(|| panic!("{text}: {problems:?}")))
}

fn machine(text: &str, condition: &str, reduce: Option<Conditions>, compiled: bool) -> Machine {
    let conditions = if condition.is_empty() { vec![] } else { vec![condition.to_owned()] };
    let program = program(text, &spinward_promela::Options { conditions, ..Default::default() });
    let options = Options {
        end_states: true,
        assertions: true,
        invariants: if condition.is_empty() { vec![] } else { vec![0] },
        exclusive: true,
        reduce,
        ..Options::default()
    };
    let machine = Machine::new(program, options, Arc::default()).unwrap();
    assert!(!compiled || machine.compile());
    machine
}

fn request(reduces: bool, threads: usize) -> Request {
    Request { limits: Limits::default(), threads, reduces, ..Request::default() }
}

fn quiet() -> impl FnMut(&Progress) {
    |_: &Progress| {}
}

/// Where errors are, by whatever run, and how many states there are.
fn errors(outcome: &Outcome) -> BTreeSet<String> {
    assert!(outcome.is_complete());
    outcome.errors.iter().map(|error| format!("{:?}", error.violation)).collect()
}

type Found = (&'static str, BTreeSet<String>, u64);

/// What searches find that leave out what they may.
fn searches(machine: &Machine) -> Vec<Found> {
    let mut all = Vec::new();
    let mut add =
        |name, outcome: Outcome| all.push((name, errors(&outcome), outcome.counts.states));
    let scratch = &mut machine.scratch();
    let reduced = Reduced(machine);
    add("dfs", dfs(machine, scratch, &request(true, 1), &mut quiet()));
    for threads in [1, 2, 3] {
        let request = request(true, threads);
        add("bfs", bfs(machine, scratch, &request, &mut quiet()));
        add("sweep", sweep(&reduced, machine, None, scratch, &request, &mut quiet()).0);
    }
    let request = request(true, 1);
    add("stateless", stateless(&reduced, scratch, &request, &mut quiet()));
    let table = Table::Compact { bytes: 1 << 20, bits: 64 };
    add("lossy", lossy(&reduced, scratch, &request, table, &mut quiet()).0);
    all
}

fn whole(machine: &Machine) -> (BTreeSet<String>, u64) {
    let outcome = bfs(machine, &mut machine.scratch(), &request(false, 1), &mut quiet());
    (errors(&outcome), outcome.counts.states)
}

#[test]
fn errors_are_missed_if_a_condition_is_left_out() {
    for compiled in [false, true] {
        for &(text, condition, without) in TRAPS {
            let (expected, states) = whole(&machine(text, condition, None, false));
            assert!(!expected.is_empty(), "{text}");
            let reducing = machine(text, condition, Some(ALL), compiled);
            assert!(reducing.reduces(), "{text}");
            for (name, found, fewer) in searches(&reducing) {
                assert_eq!(found, expected, "{name}: {text}");
                assert!(name == "stateless" || fewer <= states, "{name}: {text}");
            }
            let Some(without) = without else {
                continue;
            };
            let trapped = machine(text, condition, Some(without), compiled);
            let scratch = &mut trapped.scratch();
            let missed = dfs(&Reduced(&trapped), scratch, &request(false, 1), &mut quiet());
            assert!(errors(&missed).is_subset(&expected) && errors(&missed) != expected, "{text}");
        }
    }
}

#[test]
fn errors_are_missed_if_a_search_does_not_see_to_it_that_nobody_is_put_off() {
    let (text, ..) = TRAPS.iter().find(|trap| trap.2.is_some_and(|it| !it.cycles)).unwrap();
    let machine = machine(text, "", Some(ALL), false);
    let scratch = &mut machine.scratch();
    let careless = Careless(&machine);
    for search in [dfs, bfs] {
        assert!(errors(&search(&careless, scratch, &request(false, 1), &mut quiet())).is_empty());
    }
}

/// Once a claim is broken others may be missed, but that it is broken is told.
#[test]
fn errors_are_missed_if_claims_are_just_believed() {
    let text = "chan c = [1] of { byte };
        active proctype A() { byte x; xr c; enda: c?x; endb: false }
        active proctype B() { byte x; x = 1; end: c?x; assert(false) }
        active proctype C() { c!1 }";
    for compiled in [false, true] {
        let (expected, _) = whole(&machine(text, "", None, compiled));
        let is_claim = |error: &str| error.starts_with("NotExclusive");
        assert!(expected.iter().any(|error| is_claim(error)));
        assert!(expected.iter().any(|error| error.starts_with("Assertion")));
        for (name, found, _) in searches(&machine(text, "", Some(ALL), compiled)) {
            assert!(found.iter().any(|error| is_claim(error)), "{name}: {found:?}");
            assert!(found.is_subset(&expected), "{name}: {found:?}");
        }
        let believing = Conditions { claims: false, ..ALL };
        for (name, found, _) in searches(&machine(text, "", Some(believing), compiled)) {
            assert!(found.is_empty(), "{name}: {found:?}");
        }
    }
}

/// Whether moves are remembered or not, and whoever looks at which states, the same ones are left out.
#[test]
fn all_searches_leave_out_the_same_states_where_nobody_sees_to_more() {
    let text = "chan c[3] = [2] of { byte }; byte token = 2;
        proctype P(chan in, out; byte id) {
            byte x, rounds;
            do
            :: in?x -> x = (x + id) % 5; out!x; rounds = (rounds + 1) % 3
            :: token == id -> token = (token + 1) % 3
            od
        }
        init { atomic { run P(c[0], c[1], 0); run P(c[1], c[2], 1); run P(c[2], c[0], 2) }; c[0]!1; c[1]!2 }";
    let plain = machine(text, "", None, true);
    let (_, states) = whole(&plain);
    let machine = machine(text, "", Some(ALL), true);
    let scratch = &mut machine.scratch();
    let reduced = Reduced(&machine);
    let twin = dfs(&reduced, scratch, &request(false, 1), &mut quiet());
    assert!(twin.counts.states > 2_000 && twin.counts.states < states / 2, "{:?}", twin.counts);
    for threads in [1, 2, 3] {
        let (swept, _) =
            sweep(&reduced, &machine, None, scratch, &request(true, threads), &mut quiet());
        let counts = |outcome: &Outcome| (outcome.counts.states, outcome.counts.transitions);
        assert_eq!(counts(&swept), counts(&twin), "{threads} threads");
    }
}

/// Where shortest runs are asked for they are found, though shorter ones were left out at first.
#[test]
fn runs_are_shortest_though_moves_are_left_out() {
    let text = "byte g;
        active proctype A() { byte x; x = 1; x = 2; x = 3; x = 4 }
        active proctype B() { assert(g == 1) }";
    let machine = machine(text, "", Some(ALL), false);
    let scratch = &mut machine.scratch();
    for errors in [0, 1] {
        let request = Request { errors, ..request(true, 2) };
        let (swept, _) = sweep(&Reduced(&machine), &machine, None, scratch, &request, &mut quiet());
        let outcome = bfs_of_less(&machine, &machine, scratch, &request, &mut quiet());
        for outcome in [outcome, swept] {
            assert_eq!(outcome.errors.len(), 1);
            assert!(outcome.errors[0].shortest);
            assert_eq!(outcome.errors[0].steps.len(), 1);
        }
    }
}

/// Models in which a run is fair to `Q` only because now and then two others keep it waiting, both of them at a time:
/// by a rendezvous, an empty channel, a full one, and one without a certain message.
const FAIRNESS_TRAPS: [&str; 4] = [
    "chan c = [0] of { bit };
     bool got;
     active [2] proctype P() { bit l; do :: l = 1; if :: c!1 :: l = 0 fi od }
     active proctype Q() { bit v; c?v; got = true }",
    "chan c[2] = [2] of { bit };
     bool got;
     active proctype A() { bit v; do :: c[0]!1; c[0]?v od }
     active proctype B() { bit v; do :: c[1]!1; c[1]?v od }
     active proctype Q() { bit v; if :: c[0]?v :: c[1]?v fi; got = true }",
    "chan c[2] = [1] of { bit };
     bool got;
     active proctype A() { bit v; do :: c[0]?v; c[0]!1 od }
     active proctype B() { bit v; do :: c[1]?v; c[1]!1 od }
     active proctype Q() { c[0]!1; c[1]!1; if :: c[0]!1 :: c[1]!1 fi; got = true }",
    "chan c[2] = [3] of { byte };
     bool got;
     active proctype A() { c[0]!1; do :: c[0]!2; c[0]??2 od }
     active proctype B() { c[1]!1; do :: c[1]!2; c[1]??2 od }
     active proctype Q() { if :: c[0]??2 :: c[1]??2 fi; got = true }",
];

#[test]
fn fairness_needs_all_that_lets_others_move() {
    for text in FAIRNESS_TRAPS {
        for (reduce, expected) in [(None, true), (Some(Conditions::FAIR), true), (Some(ALL), false)]
        {
            let formulas = vec!["<> got".to_owned()];
            let options = spinward_promela::Options { formulas, ..Default::default() };
            let program = program(text, &options);
            let formula = &program.formulas[0];
            let follower = translate(&formula.temporal.not()).expect("it is small");
            let follower = Follower::new(follower, true);
            let (watched, visible) = (formula.atoms.clone(), formula.atoms.clone());
            let options = Options { watched, visible, reduce, ..Options::default() };
            let machine = Machine::new(program.clone(), options, Arc::default());
            let machine = machine.expect("it starts");
            let product = Product::new(&machine, &follower);
            let fair = Fair::new(&product, Fairness::Weak);
            let request = Request::default();
            let outcome = match reduce {
                None => scc(&fair, &mut fair.scratch(), &request, &mut |_| {}),
                Some(_) => scc(&Reduced(&fair), &mut fair.scratch(), &request, &mut |_| {}),
            };
            assert_eq!(outcome.errors.len() == 1, expected, "{reduce:?}\n{text}");
        }
    }
}
