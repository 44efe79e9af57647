//! Transactions lose no error but invalid end states; completions are needed for that, and locks are believed
//! only where they are ones.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use spinward::{Check, Error, Model, Por, Property, ReasonCode, Search, Store, Verdict};
use spinward_machine::{Machine, Options, System};
use spinward_promela::load_text;
use spinward_search::bfs::bfs;
use spinward_search::dfs::dfs;
use spinward_search::transactions::{incomplete_transactions, transactions};
use spinward_search::{Keep, Limits, Outcome, Progress, Request};

/// Taking a lock.
const TAKE: &str = "inline take(m) { atomic { m == 0 -> m = 1 } }\n";

/// The figures of the paper: the text, whether the error is found without completions, and how often they are
/// forced: in the state after each commit, in which the other process has not begun, is at its end or gone.
const FIGURES: &[(&str, bool, Option<u64>)] = &[
    // Figure 1
    (
        "byte g;
         active proctype T1() { g = 1; skip; do :: skip od }
         active proctype T2() { assert(g == 0) }",
        false,
        Some(3),
    ),
    // Figure 2
    (
        "byte g;
         active proctype T1() { g = 1; skip; if :: do :: skip od :: skip fi }
         active proctype T2() { assert(g == 0) }",
        true,
        Some(0),
    ),
    // Figure 3
    (
        "bit m; byte x, y;
         active proctype T1() { take(m); y = 42; x = 1; m = 0; do :: skip od }
         active proctype T2() { take(m); assert(x == 0); m = 0 }
         active proctype T3() { y = 10; assert(y == 10) }",
        false,
        None,
    ),
    // Figure 8
    (
        "byte g;
         active proctype T1() { g = 1; skip; if :: do :: skip od :: do :: skip od fi }
         active proctype T2() { assert(g == 0) }",
        false,
        Some(3),
    ),
    // Appendix C: whoever waits for ever has ended.
    (
        "byte g;
         active proctype T1() { g = 1; skip; false }
         active proctype T2() { assert(g == 0) }",
        true,
        Some(0),
    ),
];

/// Models with errors, and a condition that must hold.
const TRAPS: &[(&str, &str)] = &[
    // A variable is used without its lock, once.
    (
        "bit m; byte v;
         active proctype A() { take(m); v = 1; assert(v == 1); m = 0 }
         active proctype B() { take(m); v = 2; m = 0 }
         active proctype C() { v = 3 }",
        "",
    ),
    (
        "bit m; byte v;
         active proctype A() { take(m); v = 1; v = 0; m = 0 }
         active proctype B() { assert(v == 0) }",
        "",
    ),
    (
        "bit m; byte v;
         active proctype A() { take(m); v = 1; v = 0; m = 0 }
         active proctype B() { take(m); m = 0; assert(v == 0) }",
        "",
    ),
    // Another lock.
    (
        "bit m, n; byte v;
         active proctype A() { take(m); v = 1; v = 0; m = 0 }
         active proctype B() { take(n); assert(v == 0); n = 0 }",
        "",
    ),
    // A lock is set free by who does not hold it.
    (
        "bit m; byte v;
         active proctype A() { take(m); v = 1; assert(v == 1); m = 0 }
         active proctype B() { m = 0 }
         active proctype C() { take(m); v = 2; m = 0 }",
        "",
    ),
    (
        "bit m; byte v;
         active proctype A() { take(m); v = 1; assert(v == 1); m = 0 }
         active proctype B() { take(m); m = 0; m = 0 }
         active proctype C() { take(m); v = 2; m = 0 }",
        "",
    ),
    (
        "bit m; byte v; chan c = [1] of { bit };
         active proctype A() { take(m); v = 1; assert(v == 1); m = 0 }
         active proctype B() { c!0; c?m }
         active proctype C() { take(m); v = 2; m = 0 }",
        "",
    ),
    // It is held on one way only.
    (
        "bit m; byte v;
         active proctype A() { if :: take(m) :: skip fi; v = 1; assert(v == 1); m = 0 }
         active proctype B() { take(m); v = 2; m = 0 }",
        "",
    ),
    (
        "bit m; byte v;
         active proctype A() {
            if :: goto inside :: skip fi;
            take(m);
            inside: v = 1; assert(v == 1); m = 0
         }
         active proctype B() { take(m); v = 2; m = 0 }",
        "",
    ),
    // It is taken in two steps.
    (
        "bit m; byte v;
         active proctype A() { m == 0; m = 1; v = 1; assert(v == 1); m = 0 }
         active proctype B() { m == 0; m = 1; v = 2; m = 0 }",
        "",
    ),
    // Somebody comes to the second step by another way.
    (
        "bit m; byte v;
         active proctype A() {
            if :: goto inside :: skip fi;
            atomic { m == 0; inside: m = 1 };
            v = 1; assert(v == 1); m = 0
         }
         active proctype B() { take(m); v = 2; m = 0 }",
        "",
    ),
    // Somebody notices that a lock is held.
    (
        "bit m; byte v;
         active proctype A() { take(m); v = 1; v = 0; m = 0 }
         active proctype B() { if :: take(m); m = 0 :: else -> assert(false) fi }",
        "",
    ),
    (
        "bit m; byte v;
         active proctype A() { take(m); v = 1; v = 0; m = 0 }
         active proctype B() { { assert(false) } unless { take(m); m = 0 } }",
        "",
    ),
    (
        "bit m; byte g;
         active proctype A() { take(m); m = 0 }
         active proctype B() { atomic { g = 1; m == 0 -> m = 1; g = 0 }; m = 0 }
         active proctype C() { assert(g == 0) }",
        "",
    ),
    (
        "bit m; byte g;
         active proctype A() { take(m); m = 0 }
         active proctype B() { d_step { g = 1; m == 0 -> m = 1; g = 0 }; m = 0 }",
        "",
    ),
    (
        "bit m;
         active proctype A() { take(m); m = 0 }
         D_proctype B() { byte x; if :: take(m) :: x == 0 fi }
         init { run B() }",
        "",
    ),
    ("bit m; active proctype A() { take(m); m = 0 } active proctype B() { assert(m == 0) }", ""),
    // It is not free at first.
    (
        "bit m = 1; byte v;
         active proctype A() { take(m); v = 1; assert(v == 1); m = 0 }
         active proctype B() { m = 0; v = 2 }",
        "",
    ),
    // Which lock is meant is seen only when it is taken.
    (
        "bit m[2]; byte v, i = 1;
         active proctype A() { take(m[1]); v = 1; assert(v == 1); m[1] = 0 }
         active proctype B() { i = 0; take(m[i]); v = 2; m[i] = 0 }",
        "",
    ),
    (
        "bit m[2]; byte v;
         active [2] proctype A() { take(m[_pid]); v = _pid; assert(v == _pid); m[_pid] = 0 }",
        "",
    ),
    // Messages are seen by others.
    (
        "chan c = [1] of { byte };
         active proctype A() { c!1; do :: skip od }
         active proctype B() { byte x; c?x; assert(false) }",
        "",
    ),
    (
        "chan c = [2] of { byte };
         active proctype A() { c!1 }
         active proctype B() { c!2 }
         active proctype C() { byte x; c?x; if :: assert(x == 1) :: assert(x == 2) fi }",
        "",
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { c!1 }
         active proctype B() { byte x; c?x; skip; false }
         active proctype C() { byte x; c?x; assert(false) }",
        "",
    ),
    (
        "chan c = [1] of { byte }; byte g;
         active proctype A() { byte x; g = 1; c!1; x = 1 }
         active proctype B() { byte x; if :: c?x :: else -> assert(g == 0) fi }",
        "",
    ),
    (
        "chan c = [1] of { byte }; byte g;
         active proctype A() { c!1 }
         active proctype B() { byte x; atomic { g = 1; c?x; g = 0 } }
         active proctype C() { assert(g == 0) }",
        "",
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { c!1 }
         active proctype B() { byte x; d_step { x = 1; c?x } }",
        "",
    ),
    (
        "chan c = [2] of { byte };
         active proctype A() { byte x; c!1; c?x; do :: x = 0 od }
         active proctype B() { assert(len(c) == 0) }",
        "",
    ),
    (
        "chan c = [2] of { byte };
         active proctype A() { byte x; c!1; c?x; do :: x = 0 od }
         active proctype B() { skip }",
        "len(c) == 0",
    ),
    // A channel that may be full: whoever made room must be seen to.
    (
        "chan c = [1] of { byte }; byte g;
         active proctype A() { byte x; c!1; c!2; g = 1; x = 1 }
         active proctype B() { byte x; c?x; do :: x = 0 od }
         active proctype C() { assert(g == 0) }",
        "",
    ),
    (
        "bit m; chan c = [1] of { byte };
         active proctype A() { byte x; take(m); c?x; assert(x == 1); m = 0 }
         active proctype B() { byte x; take(m); m = 0; c!2; c?x }
         active proctype C() { c!1 }",
        "",
    ),
    // Others look.
    (
        "bit m; byte v;
         active proctype A() { take(m); here: v = 1; m = 0 }
         active proctype B() { assert(!A@here) }",
        "",
    ),
    (
        "bit m; byte v;
         active proctype A() { byte x; take(m); x = 1; x = v; m = 0 }
         active proctype B() { byte y; y = 1; assert(A:x == 0) }",
        "",
    ),
    (
        "bit m; byte v;
         active proctype A() { take(m); v = 1; v = 0; m = 0 }
         active proctype B() { take(m); v = 0; m = 0 }",
        "v == 0",
    ),
    (
        "bit m; byte v;
         active proctype A() { take(m); v = v + 1; m = 0 }
         active proctype B() { take(m); v = v + 1; m = 0 }",
        "m == 0",
    ),
    ("byte x; active proctype A() { x = 1; x = 0 } active proctype B() { skip }", "x == 0"),
    // A rendezvous is a move of two.
    (
        "bit m; chan c = [0] of { byte };
         active proctype A() { byte x; take(m); c?x; assert(false); m = 0 }
         active proctype B() { c!1; take(m) }",
        "",
    ),
    (
        "bit m; chan c = [0] of { byte };
         active proctype A() { byte x; take(m); c!1; assert(false); m = 0 }
         active proctype B() { byte x; x = 1; c?x; take(m) }",
        "",
    ),
    (
        "bit m; chan c = [0] of { byte };
         active proctype A() { byte x; take(m); x = 1; atomic { c?x; assert(x == 1) }; m = 0 }
         active proctype B() { if :: c!2 :: c!1 fi; take(m) }",
        "",
    ),
    (
        "chan c = [0] of { byte };
         active proctype A() { byte x; x = 1; end: c?x }
         active proctype B() { if :: c!1 :: else -> assert(false) fi }",
        "",
    ),
    // Processes come and go.
    (
        "bit m;
         active proctype A() { take(m); assert(_nr_pr == 2); m = 0 }
         active proctype B() { take(m); m = 0 }",
        "",
    ),
    (
        "bit m; byte v;
         proctype C() { take(m); v = 2; m = 0 }
         active proctype A() { take(m); run C(); v = 1; assert(v == 2); m = 0 }
         active proctype B() { take(m); v = 3; m = 0; take(m); assert(v != 2); m = 0 }",
        "",
    ),
    // An error in one process hides none in another, before its commit and after it.
    (
        "bit m; byte v;
         active proctype A() { byte x; take(m); x = 1 / x; m = 0 }
         active proctype B() { take(m); v = 1; assert(v == 0); m = 0 }",
        "",
    ),
    (
        "byte g;
         active proctype A() { byte x; g = 1; x = 1 / x }
         active proctype B() { assert(g == 0) }",
        "",
    ),
    (
        "byte g;
         active proctype A() { byte x; g = 1; assert(x == 1); do :: x = 0 od }
         active proctype B() { assert(g == 0) }",
        "",
    ),
    // A lock is never set free.
    (
        "bit m; byte v, u;
         active proctype A() { take(m); v = 1; u = 1 }
         active proctype B() { u == 1; assert(false) }
         active proctype C() { take(m); v = 2; u = 2 }",
        "",
    ),
    // Locks of all kinds.
    (
        "bool m; byte n = 1; bit k = 1; byte v, w, z;
         active [2] proctype A() {
            atomic { !m -> m = true }; d_step { n == 1 -> n = 7 }; atomic { k -> k = 0; z++ };
            v++; w++; assert(v + w + z < 6);
            k = 1; n = 1; m = false
         }",
        "",
    ),
];

fn machine(text: &str, condition: &str, compiled: bool) -> Machine {
    let conditions = if condition.is_empty() { vec![] } else { vec![condition.to_owned()] };
    let options = spinward_promela::Options { conditions, ..Default::default() };
    let loaded = load_text(Path::new("model.pml"), TAKE.to_owned() + text, &options);
    assert!(!loaded.has_errors(), "{text}: {:?}", loaded.diagnostics);
    let (program, problems) = spinward_program::lower(&loaded);
    let program = program.unwrap_or_else(|| panic!("{text}: {problems:?}"));
    let options = Options {
        assertions: true,
        invariants: if condition.is_empty() { vec![] } else { vec![0] },
        movers: true,
        ..Options::default()
    };
    let machine = Machine::new(Arc::new(program), options, Arc::default()).unwrap();
    assert!(!compiled || machine.compile());
    machine
}

fn quiet() -> impl FnMut(&Progress) {
    |_: &Progress| {}
}

/// Where errors are, by whatever run.
fn errors(outcome: &Outcome) -> BTreeSet<String> {
    assert!(outcome.is_complete());
    outcome.errors.iter().map(|error| format!("{:?}", error.violation)).collect()
}

fn whole(machine: &Machine) -> Outcome {
    bfs(machine, &mut machine.scratch(), &Request::default(), &mut quiet())
}

fn by_transactions(machine: &Machine, request: &Request) -> Outcome {
    assert_eq!(machine.why_no_movers(), None);
    transactions(machine, &mut machine.scratch(), request, &mut quiet())
}

#[test]
fn the_errors_of_the_figures_need_completions() {
    for &(text, without, forced) in FIGURES {
        let machine = machine(text, "", false);
        let expected = errors(&whole(&machine));
        assert!(!expected.is_empty(), "{text}");
        let found = by_transactions(&machine, &Request::default());
        assert_eq!(errors(&found), expected, "{text}");
        let count = found.counts.forced_completions;
        assert!(forced.is_none_or(|forced| forced == count), "{text}: {count}");
        let scratch = &mut machine.scratch();
        let found = incomplete_transactions(&machine, scratch, &Request::default(), &mut quiet());
        assert_eq!(errors(&found) == expected, without, "{text}");
        assert_eq!(found.counts.forced_completions, 0);
    }
}

#[test]
fn nothing_but_invalid_end_states_is_missed() {
    for compiled in [false, true] {
        for &(text, condition) in TRAPS {
            let machine = machine(text, condition, compiled);
            let expected = errors(&whole(&machine));
            assert!(!expected.is_empty(), "{text}");
            for keep in [Keep::Exact, Keep::Tree] {
                let request = Request { keep, ..Request::default() };
                assert_eq!(errors(&by_transactions(&machine, &request)), expected, "{text}");
            }
        }
    }
}

#[test]
fn locks_in_opposite_orders_are_never_both_waited_for() {
    let text = "bit m, n; byte v;
        active proctype A() { take(m); take(n); v++; assert(v < 3); n = 0; m = 0 }
        active proctype B() { take(n); take(m); v++; assert(v < 3); m = 0; n = 0 }";
    let machine = machine(text, "", false);
    let (all, found) = (whole(&machine), by_transactions(&machine, &Request::default()));
    assert_eq!(errors(&found), errors(&all));
    // The two states in which one has taken one lock and waits for the other's are not seen.
    assert!(found.counts.states < all.counts.states);
}

#[test]
fn who_sends_to_a_channel_that_is_never_full_goes_on() {
    let text = "chan c = [2] of { byte }, d = [2] of { byte };
        active proctype A() { byte x; x = 1; c!x; x = 2; c!x; x = 3 }
        active proctype B() { byte x; x = 1; d!x; x = 2; d!x; x = 3 }
        active proctype C() { byte x, y; c?x; y = x; d?x; assert(x == y); c?x; d?y; assert(x != 2) }";
    let machine = machine(text, "", false);
    let (all, found) = (whole(&machine), by_transactions(&machine, &Request::default()));
    assert_eq!(errors(&found), errors(&all));
    assert!(found.counts.states * 2 < all.counts.states);
}

/// Philosophers, each of whom uses something under both of its forks.
fn philosophers(number: usize) -> String {
    let fork = |n: usize| format!("bit f{n}; byte p{n};");
    let philosopher = |n: usize| {
        let (a, b) = (n.min((n + 1) % number), n.max((n + 1) % number));
        format!(
            "active proctype P{n}() {{ byte x; do :: take(f{a}); take(f{b}); p{a}++; p{b}++; \
             x = p{a} + p{b}; assert(x == 2); p{a}--; p{b}--; f{b} = 0; f{a} = 0 od }}"
        )
    };
    (0..number).map(fork).chain((0..number).map(philosopher)).collect::<Vec<_>>().join("\n")
}

#[test]
fn philosophers_meet_less_often() {
    let machine = machine(&philosophers(4), "", true);
    let (all, found) = (whole(&machine), by_transactions(&machine, &Request::default()));
    assert!(errors(&all).is_empty() && errors(&found).is_empty());
    assert!(found.counts.states * 5 < all.counts.states);
}

#[test]
fn there_are_no_movers_where_all_depend_on_all() {
    let why = |text: &str| machine(text, "", false).why_no_movers();
    assert!(why("active proctype A() { timeout }").is_some());
    assert!(why("active proctype A() provided (_pid == 0) { skip }").is_some());
    assert!(why("byte x; active proctype A() { x = _last }").is_some());
    assert!(why("active proctype A() { skip }").is_none());
}

#[test]
fn limits_end_the_search() {
    let machine = machine(&philosophers(4), "", false);
    let limited = |limits| {
        let request = Request { limits, ..Request::default() };
        by_transactions(&machine, &request)
    };
    let states = limited(Limits { max_states: Some(10), ..Limits::default() });
    assert!(!states.is_complete());
    assert_eq!(states.counts.states, 10);
    assert!(!limited(Limits { memory: Some(1000), ..Limits::default() }).is_complete());
    let time = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    assert!(!limited(time).is_complete());
    let (text, _) = TRAPS[0];
    let machine = self::machine(text, "", false);
    let request = Request { errors: 1, ..Request::default() };
    let found = by_transactions(&machine, &request);
    assert_eq!((found.errors.len(), found.is_complete()), (1, false));
    let scratch = &mut machine.scratch();
    assert!(!dfs(&machine, scratch, &request, &mut quiet()).errors.is_empty());
}

fn check(text: &str) -> Check<'static> {
    checked(text, &[])
}

fn checked(text: &str, conditions: &[&str]) -> Check<'static> {
    let conditions: Vec<String> = conditions.iter().map(|&it| it.to_owned()).collect();
    let options = spinward_promela::Options { conditions, ..Default::default() };
    let text = TAKE.to_owned() + text;
    let model = Model::from_text(Path::new("model.pml"), text, &options).unwrap();
    Check::new(model).por(Por::Transactions)
}

const DEADLOCK: &str = "bit m, n; byte v;
    active proctype A() { take(m); take(n); v = 1; n = 0; m = 0 }
    active proctype B() { take(n); take(m); v = 2; m = 0; n = 0 }";

#[test]
fn what_is_not_kept_is_not_claimed() {
    let report = check(DEADLOCK).run().unwrap();
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert_eq!(report.reasons[0].code, ReasonCode::NotChecked);
    assert!(report.reasons[0].message.starts_with("invalid end states are not checked"));
    assert_eq!((report.por, report.statistics.forced_completions), (true, Some(0)));
    assert!(report.notes.iter().any(|note| note.starts_with("transactions: keeps")));
    let invariant = Property::Invariant("v < 3".into());
    let report = checked(DEADLOCK, &["v < 3"]).property(invariant.clone()).run().unwrap();
    assert_eq!(report.verdict, Verdict::Verified);
    let report = checked(DEADLOCK, &["v < 2"]).property(Property::Invariant("v < 2".into()));
    assert_eq!(report.run().unwrap().verdict, Verdict::Violated);
    let wrong = |check: Check<'_>| match check.run() {
        Err(error @ Error::Usage(_)) => assert_eq!(error.exit_code(), 2),
        other => panic!("{other:?}"),
    };
    wrong(check(DEADLOCK).property(Property::Safety));
    wrong(check(DEADLOCK).search(Search::Bfs));
    wrong(check(DEADLOCK).search(Search::Sweep));
    wrong(check(DEADLOCK).store(Store::Bitstate));
    wrong(check(DEADLOCK).store(Store::Stack));
}

#[test]
fn what_cannot_be_reduced_is_searched_as_it_is() {
    let text = "byte g; active proctype A() { g = 1; timeout; assert(false) }";
    for check in [check(text), check(text).max_depth(10)] {
        let report = check.run().unwrap();
        assert_eq!(report.verdict, Verdict::Violated);
        assert_eq!((report.por, report.statistics.forced_completions), (false, None));
        assert!(report.notes[0].starts_with("no moves are left out"), "{:?}", report.notes);
    }
}

#[test]
fn an_audit_compares_transactions_too() {
    let audit = check(DEADLOCK).audit(true).run().unwrap().audit.unwrap();
    assert_eq!(audit.runs.len(), 6);
    assert_eq!(audit.runs.iter().filter(|run| run.transactions).count(), 2);
    assert!(audit.runs[0].errors.len() == 1 && audit.runs[2].errors.is_empty());
    assert!(audit.disagreements.is_empty());
}

#[test]
fn an_audit_leaves_out_transactions_that_have_no_effect() {
    let waits = "chan c = [1] of { byte }; active proctype A() { timeout; c?_ }";
    let audit = check(waits).audit(true).run().unwrap().audit.unwrap();
    assert!(audit.runs.iter().all(|run| !run.transactions && run.errors.len() == 1));
    assert_eq!((audit.runs.len(), audit.disagreements.len()), (4, 0));
}

#[test]
fn an_audit_compares_where_errors_are_and_not_which_numbers_they_have() {
    // Which of the two channels is missed first depends on the order of the search.
    let gone = "chan all = [2] of { chan };
        proctype P() { chan own = [1] of { byte }; all!own }
        active proctype Q() { chan one; byte x; all?one; all?one; one?x }
        init { run P(); run P() }";
    let audit = check(gone).audit(true).run().unwrap().audit.unwrap();
    assert!(audit.runs.iter().any(|run| run.transactions));
    assert_eq!(audit.disagreements, [""; 0]);
}
