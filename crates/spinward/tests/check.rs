//! Whole checks of small models: verdicts, counts, limits, and what is told of them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use spinward::{
    Check, Engine, Error, Guide, Model, Optimize, Por, Property, ReasonCode, Report, Search, Stop,
    Store, Verdict,
};
use spinward_promela::Options;

fn model(text: &str) -> Model {
    match Model::from_text(Path::new("test.pml"), text.into(), &Default::default()) {
        Ok(model) => model,
        Err(error) => panic!("{error:?}"),
    }
}

/// A check as people ask for it.
fn usual(text: &str) -> Check<'static> {
    Check::new(model(text)).memory(1 << 30)
}

/// A check that leaves nothing out.
fn check(text: &str) -> Check<'static> {
    usual(text).por(Por::Off).optimize(Optimize::None)
}

fn codes(report: &Report) -> Vec<ReasonCode> {
    report.reasons.iter().map(|reason| reason.code).collect()
}

/// Two processes that lose an update.
const RACE: &str = "byte x;
active [2] proctype P() { byte t; t = x; x = t + 1 }
active proctype Watch() { x == 1; x == 2; assert(false) }";

/// A run of four steps to the assertion comes before one of three.
const DETOUR: &str = "init {
    byte x;
    if
    :: x = 1; x = 2
    :: x = 2
    fi;
    x = 3;
    assert(false)
}";

/// Counts for ever.
const COUNTER: &str = "int n; active proctype P() { do :: n++ od }";

const DEADLOCK: &str = "chan c = [0] of { byte }; active proctype P() { skip; c!1 }";

#[test]
fn nothing_wrong_is_verified() {
    let report = usual("byte x; active [2] proctype P() { x = 1; assert(x == 1) }").run().unwrap();
    assert_eq!(report.verdict, Verdict::Verified);
    assert!(report.complete && report.errors.is_empty() && report.reasons.is_empty());
    assert_eq!(report.exit_code(), 0);
    assert_eq!((report.search, report.store), ("sweep", "exact"));
    assert_eq!((report.por, report.optimize), (true, "full"));
}

/// States with many successors, of many layouts. By SPIN 6.5.2, `spin -o1 -o2 -o3 -a`, `gcc -DNOREDUCE
/// -DSAFETY`: 29952 states, 116443 transitions.
const LEAVERS: &str = "byte n;
active proctype Counter() { byte i; end: do :: i < 2 -> i++ :: i == 2 -> i = 0 od }
active [30] proctype Leaver() { end: d_step { n < 3 -> n++ } }";

#[test]
fn threads_share_states_of_many_layouts() {
    for threads in [1, 2, 2, 3, 3] {
        let report = check(LEAVERS).threads(threads).run().unwrap();
        assert_eq!((report.verdict, report.search), (Verdict::Verified, "sweep"));
        let counts = &report.statistics;
        assert_eq!((counts.states, counts.transitions), (29952, 116_443), "{threads} threads");
    }
}

#[test]
fn all_searches_agree() {
    let counts = |search| {
        let report = check(RACE).search(search).errors(0).run().unwrap();
        assert_eq!(report.verdict, Verdict::Violated);
        assert!(report.complete);
        let s = report.statistics;
        (s.states, s.transitions, s.matched, s.expanded, s.error_count)
    };
    // As SPIN counts them, with `-o1 -o2 -o3` and `-DNOREDUCE`.
    assert_eq!(counts(Search::Dfs), (31, 38, 7, 31, 5));
    assert_eq!(counts(Search::Bfs), (31, 38, 7, 31, 5));
}

#[test]
fn depth_first_runs_get_shorter_on_demand() {
    let steps = |check: Check<'_>| {
        let report = check.run().unwrap();
        (report.errors[0].steps, report.errors[0].shortest)
    };
    assert_eq!(steps(check(DETOUR).search(Search::Dfs)), (4, false));
    assert_eq!(steps(check(DETOUR).search(Search::Dfs).shortest(true)), (3, true));
    assert_eq!(steps(check(DETOUR).search(Search::Dfs).store(Store::Stack)), (4, false));
    assert_eq!(
        steps(check(DETOUR).search(Search::Dfs).store(Store::Stack).shortest(true)),
        (3, true)
    );
    assert_eq!(steps(check(DETOUR)), (3, true));
}

#[test]
fn nothing_within_a_bound_is_missed() {
    for search in [Search::Dfs, Search::Bfs] {
        let report = check(DETOUR).search(search).max_depth(3).run().unwrap();
        assert_eq!(report.verdict, Verdict::Violated, "{search}");
        let report = check(DETOUR).search(search).max_depth(2).run().unwrap();
        assert_eq!(report.verdict, Verdict::Incomplete, "{search}");
        assert_eq!(codes(&report), [ReasonCode::MaxDepth]);
        assert_eq!(report.exit_code(), 3);
        assert!(report.unreached.is_empty());
        // A bound that cuts nothing off is none.
        let report = check(DETOUR).search(search).errors(0).max_depth(100).run().unwrap();
        assert!(report.complete, "{search}");
    }
}

#[test]
fn each_limit_says_so() {
    for search in [Search::Dfs, Search::Bfs] {
        let limited = |check: Check<'_>| {
            let report = check.search(search).run().unwrap();
            assert_eq!(report.verdict, Verdict::Incomplete);
            assert!(!report.complete);
            assert_eq!(report.exit_code(), 3);
            codes(&report)
        };
        assert_eq!(limited(check(COUNTER).max_states(1000)), [ReasonCode::MaxStates]);
        assert_eq!(limited(check(COUNTER).memory(1000)), [ReasonCode::Memory]);
        assert_eq!(limited(check(COUNTER).time(Duration::from_millis(50))), [ReasonCode::Time]);
        let stop = Arc::new(Stop::default());
        stop.ask();
        assert_eq!(limited(check(COUNTER).stop(stop)), [ReasonCode::Interrupt]);
    }
}

/// Compiled code does not overlook that a process waits for a channel that does not exist.
#[test]
fn both_engines_see_that_a_channel_does_not_exist() {
    let text = "chan link[2] = [0] of { byte }; active [3] proctype P() { link[_pid]?1 }";
    for engine in [Engine::Compiled, Engine::Interpreter] {
        let report = check(text).search(Search::Bfs).engine(engine).run().unwrap();
        assert_eq!(report.verdict, Verdict::Violated);
        assert!(report.errors[0].message.contains("index 2 is out of bounds"));
    }
}

/// A single step may be endless, may branch without end, and may go wrong on its way: limits end
/// it all the same, and what was found is told.
#[test]
fn limits_hold_inside_of_a_step() {
    let short = Duration::from_millis(100);
    let endless = "int x; active proctype P() { atomic { do :: x++ od } }";
    let counting = "int x; active proctype P() { d_step { do :: x++ od } }";
    let branching = "byte i; byte a[40]; active proctype P() {
        atomic { do :: i < 40 -> if :: a[i] = 1 :: a[i] = 2 fi; i++ :: i == 40 -> break od }
    }";
    let wrong = "int x; active proctype P() { atomic { do :: x++; assert(x < 9) od } }";
    let wrong_once = "int x; active proctype P() { d_step { do :: x++; assert(x != 9) od } }";
    let wrong_often = "int x; active proctype P() { d_step { do :: x++; assert(x < 0) od } }";
    for store in [Store::Exact, Store::Stack, Store::Bitstate] {
        for search in [Search::Dfs, Search::Bfs] {
            if store != Store::Exact && search == Search::Bfs {
                continue;
            }
            let limit = |report: &Report| codes(report)[0];
            // Other tests take from the same free memory, of which a table would take most.
            let memory = 4 << 30;
            let run = |text: &str| {
                check(text).search(search).store(store).time(short).memory(memory).run()
            };
            for text in [endless, counting, branching, wrong_once] {
                let report = run(text).unwrap();
                assert_eq!(report.verdict, Verdict::Incomplete, "{search} {text}");
                assert_eq!(limit(&report), ReasonCode::Time);
            }
            for (text, steps) in [(wrong, 18), (wrong_often, 1)] {
                let report = run(text).unwrap();
                assert_eq!(report.verdict, Verdict::Violated, "{search} {text}");
                assert_eq!(report.errors[0].steps, steps);
            }
            let limited = check(endless).search(search).store(store).memory(100 << 20);
            assert_eq!(limit(&limited.run().unwrap()), ReasonCode::Memory);
        }
    }
}

/// The time may be over while the run to an error is put together.
#[test]
fn an_error_at_the_last_moment_has_its_run() {
    let wrong_often = "int x; active proctype P() { d_step { do :: x++; assert(x < 0) od } }";
    for store in [Store::Exact, Store::Stack] {
        let mut millis = 1.0;
        while millis < 200.0 {
            let time = Duration::from_secs_f64(millis / 1000.0);
            let check = check(wrong_often).search(Search::Dfs).store(store).time(time);
            let report = check.memory(4 << 30).run().unwrap();
            if report.verdict == Verdict::Violated {
                assert_eq!(report.errors[0].steps, 1);
            }
            millis *= 1.2;
        }
    }
}

#[test]
fn a_state_has_a_largest_size() {
    let report = check("proctype P() { byte a[1000000]; a[0] == 1 } init { do :: run P() od }");
    let report = report.max_states(100).run().unwrap();
    assert!(report.errors[0].message.starts_with("a state of more than 32 MB"));
}

#[test]
fn progress_is_told() {
    let mut states = Vec::new();
    let report = check(COUNTER)
        .time(Duration::from_millis(350))
        .on_progress(|progress| states.push(progress.counts.states))
        .run()
        .unwrap();
    assert!((1..=3).contains(&states.len()), "{}", states.len());
    assert!(states.iter().all(|&it| it <= report.statistics.states));
}

#[test]
fn errors_tell_their_place() {
    let report = check(DETOUR).run().unwrap();
    let error = &report.errors[0];
    assert_eq!(error.kind, "assertion");
    assert_eq!(error.property, "assert(false)");
    assert_eq!((error.file.as_deref(), error.line), (Some("test.pml"), Some(8)));
    assert_eq!(error.run.len(), error.steps);
    assert_eq!(codes(&report), [ReasonCode::Errors]);

    let report = check(DEADLOCK).run().unwrap();
    let error = &report.errors[0];
    assert_eq!((error.kind, error.steps), ("invalid-end-state", 1));
    assert_eq!((&error.file, error.line), (&None, None));
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn different_errors_are_told_apart() {
    let text = "byte x; active proctype P() {
        do
        :: x < 5 -> x++
        :: assert(x != 2)
        :: assert(x != 3)
        :: x == 4 -> false
        od }";
    let kinds = |errors| {
        let report = check(text).errors(errors).run().unwrap();
        report.errors.iter().map(|it| (it.line, it.steps)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(1), [(Some(4), 5)]);
    assert_eq!(kinds(2), [(Some(4), 5), (Some(5), 7)]);
    assert_eq!(kinds(0), [(Some(4), 5), (Some(5), 7), (None, 9)]);
}

#[test]
fn a_never_claim_is_checked_beside_the_rest() {
    let text = "byte x; active proctype P() { x = 1; x = 2 }
        never { do :: x == 2 -> break :: else od }";
    let report = check(text).run().unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
    assert_eq!((report.errors[0].kind, report.errors[0].line), ("never-claim", Some(2)));
    assert!(report.errors[0].watched.claim.is_some());
    assert_eq!(report.statistics.states_by_property.len(), 2);

    let report = check(text).property(Property::Safety).run().unwrap();
    assert_eq!(report.verdict, Verdict::Verified);
    let report = check(text).property(Property::Ltl("never_0".into())).run().unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
}

#[test]
fn what_is_not_checked_is_said() {
    let text = "byte x; active proctype P() { x = 1 } ltl p { <> (x == 1) }";
    assert_eq!(check(text).run().unwrap().verdict, Verdict::Verified);
    let report = check(text).max_depth(10).run().unwrap();
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert_eq!(codes(&report), [ReasonCode::NotChecked]);
    assert!(report.reasons[0].message.starts_with("ltl p is not checked"));
    let report = check(text).property(Property::Safety).max_depth(10).run().unwrap();
    assert_eq!(report.verdict, Verdict::Verified);
    // What is wrong after so many steps is wrong, whatever comes after.
    let text = "byte x; active proctype P() { x = 1 } ltl p { [] (x == 0) }";
    assert_eq!(check(text).max_depth(10).run().unwrap().verdict, Verdict::Violated);
}

#[test]
fn what_is_not_there_is_refused() {
    let wrong = |check: Check<'_>| assert!(matches!(check.run(), Err(Error::Usage(_))));
    wrong(check(RACE).property(Property::Ltl("nobody".into())));
    // A formula must be read with the model.
    wrong(check(RACE).property(Property::Ltl("[] (x < 2)".into())));
    wrong(check(RACE).search(Search::Bfs).store(Store::Stack));
    wrong(check(RACE).search(Search::Astar).store(Store::Stack));
    wrong(check(RACE).search(Search::AstarIndfs).store(Store::Bitstate));
    // Who is not directed needs no guide, and who looks for no deadlock cannot have one for these.
    let guide = |name: &str| name.parse::<Guide>().unwrap();
    wrong(check(RACE).guide(guide("active")));
    wrong(check(RACE).search(Search::Astar).weight(2.0));
    wrong(check(RACE).search(Search::Wastar).weight(-1.0));
    let invariant = Property::Invariant("x < 2".into());
    wrong(check(RACE).property(invariant).search(Search::Greedy).guide(guide("deadlock")));
    wrong(check(RACE).threads(0));
    for store in [Store::Bitstate, Store::Compact] {
        wrong(check(RACE).search(Search::Bfs).store(store));
        wrong(check(RACE).store(store).shortest(true));
        for bits in [0, 5, 31, 65, u32::MAX] {
            // A table of bits may be small.
            if store == Store::Compact || !(6..=50).contains(&bits) {
                wrong(check(RACE).store(store).bits(bits));
            }
        }
    }
    wrong(check(RACE).store(Store::Bitstate).bits(30).memory(100 << 20));
    for hashes in [0, 129] {
        wrong(check(RACE).store(Store::Bitstate).hashes(hashes));
    }
    wrong(check(RACE).store(Store::Compact).hashes(3));
    wrong(check(RACE).hashes(3));
    wrong(check(RACE).bits(40));
}

#[test]
fn what_is_done_otherwise_is_noted() {
    let report = check(RACE).por(Por::On).threads(8).engine(Engine::Compiled).run().unwrap();
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    assert_eq!(report.statistics.threads, 8);
    let report = check(RACE).por(Por::On).max_depth(3).run().unwrap();
    assert_eq!(report.notes.len(), 1, "{:?}", report.notes);
    assert!(!report.por);
    let report = check(RACE).search(Search::Dfs).threads(8).run().unwrap();
    assert_eq!(report.notes, ["one thread searches depth first (not available yet)"]);
    assert_eq!(report.statistics.threads, 1);
    assert!(check(RACE).run().unwrap().notes.is_empty());
}

#[test]
fn unreached_statements_are_listed() {
    let text = "byte x;
        proctype Never() {
            x = 7
        }
        active proctype P() {
            if
            :: x == 1 ->
                x = 2
            :: else ->
                x = 3
            fi
        }";
    let report = check(text).run().unwrap();
    let lines: Vec<_> = report.unreached.iter().map(|it| (it.proctype.as_str(), it.line)).collect();
    assert_eq!(lines, [("Never", 3), ("Never", 4), ("P", 8)]);
}

#[test]
fn a_wrong_model_is_an_error() {
    let result =
        Model::from_text(Path::new("bad.pml"), "init { x = 1 }".into(), &Default::default());
    let Err(error @ Error::Model { .. }) = result else { panic!("{result:?}") };
    assert_eq!(error.exit_code(), 2);
    assert_eq!(Report::of_error("m.pml", &Error::Internal("a slip".into())).exit_code(), 4);
    let report = Report::of_error("bad.pml", &error);
    assert_eq!(report.verdict, Verdict::Error);
}

#[test]
fn the_json_has_the_fields_scripts_rely_on() {
    let report = check(RACE).run().unwrap();
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let has = |object: &serde_json::Value, names: &[&str]| {
        for name in names {
            assert!(object.get(name).is_some(), "no {name} in {object}");
        }
    };
    has(
        &json,
        &[
            "schema",
            "version",
            "model",
            "verdict",
            "complete",
            "errors",
            "statistics",
            "search",
            "guide",
            "store",
            "por",
            "optimize",
            "unreached",
            "reasons",
        ],
    );
    has(
        &json["errors"][0],
        &[
            "kind",
            "property",
            "message",
            "file",
            "line",
            "steps",
            "cycle_start",
            "trail",
            "shortest",
        ],
    );
    has(
        &json["statistics"],
        &[
            "states",
            "transitions",
            "expanded",
            "matched",
            "depth",
            "reopened",
            "state_bytes",
            "bytes_per_state",
            "peak_memory",
            "disk_bytes",
            "seconds",
            "states_per_second",
            "threads",
            "omission_probability",
            "error_count",
        ],
    );
    has(&json["statistics"]["seconds"], &["load", "search", "decided", "total"]);
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["reasons"][0]["code"], "errors");
    assert_eq!(json["schema"], 1);
}

/// A model with invariants, all of them to be checked.
fn invariants(text: &str, conditions: &[&str]) -> Check<'static> {
    let conditions: Vec<String> = conditions.iter().map(|&text| text.to_owned()).collect();
    let options = Options { conditions: conditions.clone(), ..Options::default() };
    let model = Model::from_text(Path::new("test.pml"), text.into(), &options).expect("a model");
    let properties = conditions.into_iter().map(Property::Invariant);
    properties.fold(Check::new(model).memory(1 << 30), Check::property)
}

/// The properties that are violated and the lengths of the runs to them.
fn violated(check: Check<'_>) -> Vec<(String, usize)> {
    let report = check.errors(0).run().unwrap();
    let errors = report.errors.into_iter();
    errors
        .map(|error| {
            assert_eq!((error.kind, error.file, error.line), ("invariant", None, None));
            (error.property, error.steps)
        })
        .collect()
}

#[test]
fn an_invariant_may_use_what_the_model_knows() {
    let text = "#define small(v) (v < MAX)
#define MAX 2
byte x; mtype = { on, off }; mtype light = off; chan c = [1] of { byte }; byte a[2];
active proctype P() { byte t; x = 1; t = 4; c!1; L: a[1] = 3; c?t; light = on; x = 2 }";
    for search in [Search::Bfs, Search::Dfs] {
        let conditions =
            ["x <= MAX", "small(x)", "empty(c)", "!c?[1]", "len(c) == 0", "P:t == 0", "!P[0]@L"];
        let check = invariants(text, &conditions).search(search);
        let expected = [
            ("P:t == 0", 2),
            ("empty(c)", 3),
            ("!c?[1]", 3),
            ("len(c) == 0", 3),
            ("!P[0]@L", 3),
            ("small(x)", 7),
        ];
        let expected = expected.map(|(text, steps)| (text.to_owned(), steps));
        assert_eq!(violated(check), expected);
    }
    let check = invariants(text, &["light == off || x > 0", "a[0] == 0", " a[x] < 4 "]);
    assert_eq!(violated(check), [("a[x] < 4".to_owned(), 7)]);
    let report = invariants(text, &["a[x] < 4"]).run().unwrap();
    assert_eq!(
        report.errors[0].message,
        "index 2 is out of bounds (0..1) in the condition: a[x] < 4"
    );
}

#[test]
fn an_invariant_is_checked_in_states_only() {
    let inside = "byte x; active proctype P() { atomic { x = 1; x = 0 }; d_step { x = 1; x = 0 } }";
    assert_eq!(invariants(inside, &["x == 0"]).run().unwrap().verdict, Verdict::Verified);
    // A process that is blocked inside of an atomic sequence gives way: that is a state.
    for blocked in ["(y == 1)", "timeout"] {
        let text = format!(
            "byte x, y; active proctype P() {{ atomic {{ x = 1; {blocked}; x = 0 }} }}
             active proctype Q() {{ y = 2; y = 1 }}"
        );
        let report = invariants(&text, &["x == 0"]).run().unwrap();
        assert_eq!(report.errors.len(), 1, "{blocked}");
        assert_eq!(report.errors[0].message, "invariant violated: x == 0");
        assert_eq!((report.errors[0].steps, report.errors[0].occurrences), (1, 1), "{blocked}");
    }
    assert_eq!(violated(invariants(inside, &["x == 1"])), [("x == 1".to_owned(), 0)]);
}

#[test]
fn an_invariant_alone_is_all_that_is_checked() {
    let text = "byte x; active proctype P() { assert(x == 1); x = 2; false }";
    assert_eq!(violated(invariants(text, &["x < 2"])), [("x < 2".to_owned(), 2)]);
    assert_eq!(invariants(text, &["x < 3"]).run().unwrap().verdict, Verdict::Verified);
    let report = invariants(text, &["x < 2"]).property(Property::Safety).errors(0).run().unwrap();
    let kinds: Vec<_> = report.errors.iter().map(|error| error.kind).collect();
    assert_eq!(kinds, ["assertion", "invariant", "invalid-end-state"]);
    assert!(report.statistics.states_by_property.is_empty());
    let unknown = check(text).property(Property::Invariant("x < 2".into())).run().unwrap_err();
    assert_eq!(unknown.exit_code(), 2);
}

#[test]
fn to_ask_for_a_priority_does_not_bring_it_into_effect() {
    let text = "active [2] proctype P() { skip }";
    let states = |check: Check<'_>| check.run().unwrap().statistics.states;
    let plain = states(check(text));
    let asked = invariants(text, &["get_priority(0) >= 0"]).optimize(Optimize::None);
    assert_eq!(states(asked), plain);
}

#[test]
fn a_wrong_invariant_is_told() {
    let message = |condition: &str| {
        let options = Options { conditions: vec![condition.into()], ..Options::default() };
        let text = "byte x; chan c = [0] of { bit }; active proctype P() { byte t; t = x }";
        let error = Model::from_text(Path::new("test.pml"), text.into(), &options).unwrap_err();
        let Error::Model { source_map, diagnostics } = error else { panic!("{error}") };
        let span = diagnostics[0].span.expect("a place");
        assert_eq!(source_map.path(span), Path::new("--invariant"));
        diagnostics[0].message.clone()
    };
    assert_eq!(message("x <"), "expected an expression, found the end of the text");
    assert_eq!(message(""), "expected an expression, found the end of the text");
    assert_eq!(message("x; x"), "expected an operator or the end, found `;`");
    assert_eq!(message("t == 0"), "`t` is not declared");
    assert_eq!(message("P@L"), "there is no label `L` in `P`");
    assert_eq!(message("run P()"), "`run` outside of a process");
    assert_eq!(
        message("enabled(0)"),
        "`enabled` cannot be used in a model with rendezvous channels"
    );
    assert!(message("!timeout").starts_with("`timeout` "));
    assert!(message("x == _pid").starts_with("`_pid` "));
}

#[test]
fn what_a_trace_sends_may_be_anything() {
    let verdict = |events: &str| {
        let text = format!(
            "chan c = [2] of {{ byte, byte }};
             active proctype P() {{ c!1,2; c!3,4 }}
             trace {{ do :: {events} od }}"
        );
        check(&text).run().unwrap().verdict
    };
    assert_eq!(verdict("c!1,_; c!_,4"), Verdict::Verified);
    assert_eq!(verdict("c!_,_"), Verdict::Verified);
    assert_eq!(verdict("c!1,_; c!_,5"), Verdict::Violated);
}

#[test]
fn any_number_may_be_taken_for_a_channel() {
    for number in ["-2147483647 - 1", "-1", "7", "2147483647"] {
        let text = format!("int c = {number}; active proctype P() {{ len(c) == 0 }}");
        let report = check(&text).run().unwrap();
        assert_eq!(report.errors.len(), 1, "{number}");
        let message = &report.errors[0].message;
        assert!(message.contains("is not the number of a channel"), "{message}");
    }
}

#[test]
fn what_goes_wrong_before_a_timeout_is_shown() {
    let text = "chan c = [0] of { byte }; init { { c?[1] } unless { timeout } }";
    let report = check(text).run().expect("it runs");
    assert_eq!(report.errors[0].kind, "runtime");
    let text = "byte z; active proctype P() provided (timeout || (1/z)) { skip }";
    let report = check(text).run().expect("it runs");
    assert_eq!(report.errors[0].kind, "runtime");
}
