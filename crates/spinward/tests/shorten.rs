//! Shorter runs to errors of which one is known, held against breadth-first search.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use spinward::{
    Check, Error, Model, Property, ReasonCode, Report, ReportedError, Search, Shorten, Shortened,
    Stop, Store,
};
use spinward_promela::Options;

/// Models with an error, each with parameters.
const WRONG: [(&str, &[(&str, &str)]); 5] = [
    ("philosophers_deadlock.pml", &[]),
    ("peterson_tso.pml", &[]),
    ("lock_order.pml", &[]),
    ("division_by_zero.pml", &[]),
    ("sliding_puzzle.pml", &[]),
];

/// Two assertions, one nearer than the other, an error of another kind, and runs that go up and down.
const SEVERAL: &str = "byte n, zero;
    active proctype P() {
        do
        :: n < 20 -> n++
        :: n > 2 -> n = n - 2
        :: n == 3 -> assert(n != 3)
        :: n == 12 -> assert(n != 12)
        :: n == 17 -> n = n / zero
        od
    }";

fn model(file: &str, defines: &[(&str, &str)]) -> Model {
    let defines = defines.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    let options = Options { defines: defines.collect(), ..Options::default() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    Model::load(&folder.join(file), &options).expect("a correct text")
}

fn of_text(text: &str) -> Model {
    Model::from_text(Path::new("m.pml"), text.into(), &Options::default()).expect("a correct text")
}

fn safety<'a>(model: &Model) -> Check<'a> {
    Check::new(model.clone()).property(Property::Safety).memory(1 << 30)
}

fn shorten(model: &Model, error: &ReportedError) -> Shorten {
    Shorten::new(model.clone(), error.watched.clone(), error.run.clone(), error.violation)
        .memory(1 << 30)
}

fn counts(report: &Report) -> [u64; 4] {
    let all = &report.statistics;
    [all.states, all.transitions, all.expanded, all.error_count]
}

#[test]
fn after_any_search_runs_are_shortest_ones_where_there_are_few_states() {
    for (file, defines) in WRONG {
        let model = model(file, defines);
        let shortest = safety(&model).search(Search::Bfs).run().unwrap().errors[0].steps;
        for search in [Search::Greedy, Search::Beam, Search::Hill, Search::Random, Search::Swarm] {
            let as_found = safety(&model).search(search).shorten(false).run().unwrap();
            let report = safety(&model).search(search).run().unwrap();
            assert_eq!(counts(&report), counts(&as_found), "{file}, {search}");
            assert_eq!((report.search, &report.guide), (as_found.search, &as_found.guide));
            let (before, error) = (&as_found.errors[0], &report.errors[0]);
            assert_eq!(before.shortened_from, None);
            assert_eq!(error.shortened_from, Some(before.steps).filter(|it| *it > error.steps));
            assert_eq!((error.steps, error.shortest), (shortest, true), "{file}, {search}");
        }
    }
}

#[test]
fn what_is_told_of_a_shorter_run_is_so() {
    // There are too many states for a proof, but not for shorter runs.
    let model = model("pots.pml", &[("BUG", "1")]);
    let as_found = safety(&model).search(Search::Random).shorten(false).run().unwrap();
    let report = safety(&model).search(Search::Random).run().unwrap();
    let error = &report.errors[0];
    assert!(error.steps < as_found.errors[0].steps && !error.shortest);
    let again = safety(&model).search(Search::Random).run().unwrap();
    assert_eq!(error.run, again.errors[0].run, "the answer depends on no clock");
    assert!(report.to_json().contains("\"shortened_from\": "));
    assert!(!as_found.to_json().contains("shortened_from"));
}

#[test]
fn depth_first_runs_are_left_as_they_are_unless_asked() {
    let model = model("philosophers_deadlock.pml", &[]);
    let steps = |check: Check<'_>| {
        let report = check.run().unwrap();
        (report.errors[0].steps, report.errors[0].shortest)
    };
    let deep = || safety(&model).search(Search::Dfs);
    assert_eq!(steps(deep()), (26, false));
    assert_eq!(steps(deep().store(Store::Bitstate).bits(20)), (26, false));
    assert_eq!(steps(deep().shorten(true)), (8, true));
    assert_eq!(steps(safety(&model).store(Store::Bitstate).bits(20)), (8, true));
}

#[test]
fn each_error_has_a_shorter_run_of_its_own() {
    let model = of_text(SEVERAL);
    let wide = safety(&model).search(Search::Bfs).errors(0).run().unwrap();
    let deep = safety(&model).search(Search::Dfs).errors(0).run().unwrap();
    assert_eq!((wide.errors.len(), deep.errors.len()), (3, 3));
    for error in &deep.errors {
        let same = wide.errors.iter().find(|it| it.property == error.property).unwrap();
        let Shortened { run, steps, known_steps, shortest, reason } =
            shorten(&model, error).run().unwrap();
        assert_eq!(known_steps, error.steps);
        assert_eq!((steps, shortest), (same.steps, true), "{}", error.property);
        assert!(reason.is_none());
        // What is found ends in the same error, and no other run to it is shorter.
        let again = Shorten::new(model.clone(), error.watched.clone(), run, same.violation);
        assert_eq!(again.run().unwrap().steps, steps);
    }
    let all = safety(&model).search(Search::Greedy).errors(0).run().unwrap();
    for error in &all.errors {
        let same = wide.errors.iter().find(|it| it.property == error.property).unwrap();
        assert_eq!((error.steps, error.shortest), (same.steps, true), "{}", error.property);
    }
}

#[test]
fn invariants_claims_and_traces_are_errors_too() {
    let options = Options { conditions: vec!["n < 12".into()], ..Options::default() };
    let text = "byte n; chan c = [1] of { byte };
        active proctype P() { do :: n < 20 -> n++ :: n > 2 -> n = n - 2 :: n == 15 -> c!n; c?n od }
        never { do :: n == 13 -> break :: else od }
        notrace { c!15; c?15 }";
    let model = Model::from_text(Path::new("m.pml"), text.into(), &options).unwrap();
    let check = || Check::new(model.clone()).memory(1 << 30).errors(0);
    for property in
        [Property::Invariant("n < 12".into()), Property::Ltl("never_0".into()), Property::Safety]
    {
        let of = |search| check().property(property.clone()).search(search).run().unwrap();
        let (wide, deep) = (of(Search::Bfs), of(Search::Dfs));
        let (wide, deep) = (&wide.errors[0], &deep.errors[0]);
        assert_eq!(wide.kind, deep.kind);
        let shortened = shorten(&model, deep).run().unwrap();
        assert_eq!((shortened.steps, shortened.shortest), (wide.steps, true), "{}", wide.kind);
    }
}

#[test]
fn limits_end_it_with_the_best_run_so_far() {
    let model = model("pots.pml", &[("BUG", "1")]);
    let report = safety(&model).search(Search::Dfs).run().unwrap();
    let error = &report.errors[0];
    let code = |shortened: &Shortened| shortened.reason.as_ref().map(|reason| reason.code);

    let late = shorten(&model, error).time(Duration::ZERO).run().unwrap();
    assert_eq!((late.steps, late.shortest), (error.steps, false));
    assert_eq!((late.run == error.run, code(&late)), (true, Some(ReasonCode::Time)));
    let small = shorten(&model, error).memory(1).run().unwrap();
    assert_eq!((small.shortest, code(&small)), (false, Some(ReasonCode::Memory)));
    let stop = Arc::new(Stop::default());
    stop.ask();
    let stopped = shorten(&model, error).stop(stop).run().unwrap();
    assert_eq!((stopped.shortest, code(&stopped)), (false, Some(ReasonCode::Interrupt)));
    let enough = shorten(&model, error).run().unwrap();
    assert_eq!((enough.steps, enough.shortest, code(&enough)), (69, true, None));

    let most = report.statistics.states + 1;
    let few = safety(&model).search(Search::Dfs).shorten(true).max_states(most).run().unwrap();
    assert!(few.statistics.states <= most && few.errors[0].steps <= error.steps);
}

#[test]
fn only_a_run_to_the_error_can_be_shortened() {
    let model = of_text(SEVERAL);
    let report = safety(&model).search(Search::Dfs).run().unwrap();
    let error = &report.errors[0];
    let run = error.run[..error.run.len() - 1].to_vec();
    match Shorten::new(model, error.watched.clone(), run, error.violation).run() {
        Err(Error::Usage(message)) => assert!(message.contains("does not end"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_error_at_once_and_hidden_variables_are_no_trouble() {
    let model = of_text("chan c = [0] of { byte }; active proctype P() { c!1 }");
    let report = safety(&model).search(Search::Dfs).run().unwrap();
    let shortened = shorten(&model, &report.errors[0]).run().unwrap();
    assert_eq!((shortened.steps, shortened.shortest), (0, true));

    // States that differ only in what is hidden count as one, so that nothing is proved.
    let model = of_text(
        "hidden byte h; byte n;
         active proctype P() { do :: n < 9 -> n++; h++ :: n > 2 -> n = n - 2 :: assert(n != 5) od }",
    );
    let report = safety(&model).search(Search::Dfs).run().unwrap();
    let shortened = shorten(&model, &report.errors[0]).run().unwrap();
    assert!(shortened.steps <= report.errors[0].steps && !shortened.shortest);
    assert!(shortened.reason.is_none());
}
