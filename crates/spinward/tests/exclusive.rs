//! What processes claim to use alone (`xr`, `xs`): who breaks a claim is told by every search, and who keeps
//! to it is searched with fewer states.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use spinward::{Check, Engine, Model, Optimize, Por, Report, Search, Store, Verdict};

/// Models in which a claim is broken, and the statement that breaks it.
const BROKEN: &[(&str, &str)] = &[
    // It is enough to be there: nobody ever sends.
    (
        "chan c = [1] of { byte };
         active proctype A() { byte x; xr c; end: c?x }
         active proctype B() { byte x; x = 1; end: c?x }",
        "c?x",
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { xs c; end: c!1 }
         active proctype B() { byte x; x = 1; end: c!!2 }",
        "c!!2",
    ),
    // Who asks does not keep to it either; in SPIN both ends are asked about.
    (
        "chan c = [1] of { byte };
         active proctype A() { xs c; end: c!1 }
         active proctype B() { byte x; x = 1; end: empty(c); c?x }",
        "empty(c)",
    ),
    (
        "chan c = [1] of { byte };
         active proctype A() { byte x; xr c; end: c?x }
         active proctype B() { byte x; x = 1; end: c?[1] }",
        "c?[1]",
    ),
    // By another name.
    (
        "chan c = [1] of { byte };
         proctype B(chan in) { byte x; end: in?x }
         active proctype A() { byte x; xr c; end: c?x }
         init { run B(c) }",
        "in?x",
    ),
    (
        "chan c = [1] of { byte }; chan d = [1] of { chan };
         active proctype A() { byte x; xr c; end: c?x }
         active proctype B() { chan e; byte x; d?e; end: e?x }
         active proctype C() { d!c }",
        "e?x",
    ),
    // An element of an array, by a name of its own.
    (
        "chan c[3] = [1] of { byte };
         active proctype A() { chan own = c[1]; byte x; xr own; end: own?x }
         active proctype B() { byte i, x; i = 1; end: c[i]?x }",
        "c[i]?x",
    ),
    // Two claims on one channel; it is told when one of them uses it.
    (
        "chan c = [1] of { byte };
         proctype A(chan in) { byte x; xr in; x = 1; end: in?x }
         init { atomic { run A(c); run A(c) } }",
        "in?x",
    ),
    // In the middle of what is done at once.
    (
        "chan c = [2] of { byte }; byte g;
         active proctype A() { xs c; c!1 }
         active proctype B() { byte x; x = 1; atomic { g = 1; c!2 } }",
        "c!2",
    ),
    (
        "chan c = [2] of { byte }; byte g;
         active proctype A() { xs c; c!1 }
         active proctype B() { byte x; x = 1; d_step { g = 1; c!2 } }",
        "c!2",
    ),
    // Who does not use a channel any more, but lives.
    (
        "chan c = [1] of { byte }; byte g;
         proctype A(chan in) { byte x; xr in; in?x; g = 1; end: false }
         active proctype B() { byte x; g == 1; end: c?x }
         init { run A(c); c!1 }",
        "c?x",
    ),
    // Who dies takes its claim along, but others may come first.
    (
        "chan c = [1] of { byte };
         active proctype B() { byte x; x = 1; end: c?x }
         active proctype A() { xr c; skip }",
        "c?x",
    ),
    // Who has an end for itself but for a claim of one that never uses it.
    (
        "chan c = [1] of { byte };
         proctype A() { xr c; end: false }
         proctype B() { byte x; c?x; end: false }
         init { atomic { c!1; run A(); run B() }; end: false }",
        "c?x",
    ),
];

/// Models in which claims are kept.
const KEPT: &[&str] = &[
    "chan c = [1] of { byte };
     active proctype A() { byte x; xr c; c?x; c?x }
     active proctype B() { xs c; c!1; c!2 }",
    "chan c[3] = [1] of { byte };
     proctype A(chan in, out) { byte x; xr in; xs out; in?x; out!x }
     init { atomic { run A(c[0], c[1]); run A(c[1], c[2]) }; byte x; c[0]!1; c[2]?x }",
    // Each has an end for itself.
    "chan c = [2] of { byte };
     active proctype A() { byte x; xr c; nempty(c); c?x }
     active proctype B() { xs c; nfull(c); c!1 }",
    // Before there is a claim, and when who made it is gone.
    "chan c = [1] of { byte };
     proctype A(chan in) { byte x; xr in; in?x }
     init { byte x; c!1; c?x; c!2; run A(c); _nr_pr == 1; c!3; c?x }",
];

fn check(text: &str) -> Check<'static> {
    let model = Model::from_text(Path::new("test.pml"), text.into(), &Default::default());
    Check::new(model.unwrap_or_else(|error| panic!("{text}: {error:?}"))).memory(1 << 28)
}

/// The reports of searches in every order and engine, with all stores.
fn reports(text: &str) -> Vec<(String, Report)> {
    let mut reports = Vec::new();
    let mut add = |name: String, check: Check<'static>| {
        let report = check.errors(0).run().unwrap_or_else(|error| panic!("{name}: {error:?}"));
        reports.push((format!("{name}: {text}"), report));
    };
    for optimize in [Optimize::None, Optimize::Full] {
        for engine in [Engine::Interpreter, Engine::Compiled] {
            let check = || check(text).optimize(optimize).engine(engine);
            for search in [Search::Dfs, Search::Bfs, Search::Sweep] {
                for threads in [1, 2] {
                    let name = format!("{optimize} {engine} {search} {threads}");
                    add(name, check().search(search).threads(threads));
                }
            }
            for store in [Store::Tree, Store::Compact, Store::Bitstate, Store::Stack] {
                let name = format!("{optimize} {engine} {store}");
                add(name, check().search(Search::Dfs).store(store));
            }
        }
    }
    reports
}

/// What is wrong, each once.
fn errors(report: &Report) -> BTreeSet<(&'static str, String)> {
    report.errors.iter().map(|error| (error.kind, error.property.clone())).collect()
}

fn tells_broken_claim(report: &Report, statement: &str) -> bool {
    report.notes.iter().any(|note| {
        note.contains("does not hold") && note.contains(&format!("may do: {statement} at test.pml"))
    })
}

/// Nobody counts on it then, so that nothing is missed.
#[test]
fn who_breaks_a_claim_is_told_by_every_search() {
    for (text, statement) in BROKEN {
        let full = check(text).por(Por::Off).errors(0).run().unwrap();
        assert!(full.notes.is_empty(), "{text}: {:?}", full.notes);
        for (name, report) in reports(text) {
            assert!(tells_broken_claim(&report, statement), "{name}: {:?}", report.notes);
            assert_eq!(errors(&report), errors(&full), "{name}");
        }
    }
}

/// In one of so many states that moves are remembered.
#[test]
fn it_is_told_by_sweeps_of_many_states() {
    let text = "chan c = [1] of { byte }; byte n[3], over;
        active [3] proctype P() { end: do :: over == 0 -> n[_pid] = (n[_pid] + 1) % 25 od }
        active proctype A() { byte x; xr c; end: c?x }
        active proctype B() { byte x; d_step { n[0] + n[1] + n[2] == 72; over = 1 }; end: c?x }";
    for engine in [Engine::Interpreter, Engine::Compiled] {
        for threads in [1, 2] {
            let check = check(text).search(Search::Sweep).engine(engine).threads(threads);
            let report = check.run().unwrap();
            assert!(tells_broken_claim(&report, "c?x"), "{engine}, {threads} threads");
            assert_eq!(report.verdict, Verdict::Verified, "{engine}, {threads} threads");
        }
    }
}

#[test]
fn claims_that_are_kept_are_no_error() {
    for text in KEPT {
        for (name, report) in reports(text) {
            assert!(report.errors.is_empty(), "{name}: {:?}", report.errors);
            let is_broken = |note: &String| note.contains("does not hold");
            assert!(!report.notes.iter().any(is_broken), "{name}: {:?}", report.notes);
        }
    }
}

#[test]
fn it_is_said_who_breaks_which_claim() {
    let (text, _) = BROKEN[0];
    let report = check(text).run().unwrap();
    let note =
        "`xr c` of A (0) does not hold: B (1) may do: c?x at test.pml:3; nobody counts on it";
    assert_eq!(report.notes, [note]);
    assert_eq!(report.verdict, Verdict::Verified);
}

/// What is missed by a search that counts on it is found by the next.
#[test]
fn errors_are_found_though_a_claim_is_broken() {
    let text = "chan c = [1] of { byte };
        active proctype A() { byte x; xr c; enda: c?x; endb: false }
        active proctype B() { byte x; x = 1; end: c?x; assert(false) }
        active proctype C() { c!1 }";
    for (name, report) in reports(text) {
        assert_eq!(report.verdict, Verdict::Violated, "{name}");
        assert!(tells_broken_claim(&report, "c?x"), "{name}: {:?}", report.notes);
    }
}

/// Nor does an error get lost if there is no time to search again.
#[test]
fn errors_found_before_count() {
    let text = "chan c = [2] of { byte }; int q;
        active proctype A() { byte x; xr c; c!1; c?x; assert(x == 2) }
        active proctype B() { byte y; c?y }
        active proctype C() { int z; do :: q++; z = q od }
        active proctype D() { q == -1 }";
    let check = check(text).search(Search::Bfs).errors(0).time(Duration::from_secs(1));
    let report = check.run().unwrap();
    assert_eq!(report.verdict, Verdict::Violated, "{report:?}");
}

/// From the text it cannot be seen that the others leave the channel alone.
#[test]
fn claims_make_searches_smaller() {
    let model = |claim: &str| {
        format!(
            "chan c[2] = [3] of {{ byte }}; byte g;
             active proctype A() {{
                chan own = c[0]; byte x; {claim}
                end: do :: own?x -> x = x * 2 od
             }}
             active proctype B() {{ byte i = 1, x; end: do :: c[i]?x -> g = x od }}
             active proctype C() {{ c[0]!1; c[0]!2; c[0]!3; c[1]!1; c[1]!2; assert(g < 3) }}"
        )
    };
    for search in [Search::Dfs, Search::Bfs, Search::Sweep] {
        let states = |text: &str| {
            let report = check(text).optimize(Optimize::None).search(search).run().unwrap();
            assert_eq!(report.verdict, Verdict::Verified, "{search}");
            report.statistics.states
        };
        let (with, without) = (states(&model("xr own;")), states(&model("")));
        assert!(with < without, "{search}: {with}, {without}");
    }
}
