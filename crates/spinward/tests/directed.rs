//! Searches that go by a guide, or by chance, on models whose errors are known.

use std::path::Path;

use spinward::{
    Check, Error, Guide, Model, Optimize, Property, ReasonCode, Report, Search, Store, Verdict,
};
use spinward_promela::Options;

/// Models with an error, each with parameters.
const WRONG: [(&str, &[(&str, &str)]); 4] = [
    ("philosophers_deadlock.pml", &[]),
    ("peterson_tso.pml", &[]),
    ("lock_order.pml", &[]),
    ("pots.pml", &[("BUG", "1")]),
];

fn check<'a>(file: &str, defines: &[(&str, &str)]) -> Check<'a> {
    let defines = defines.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    let options = Options { defines: defines.collect(), ..Options::default() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let model = Model::load(&folder.join(file), &options).expect("a correct text");
    Check::new(model).property(Property::Safety).memory(1 << 30)
}

fn codes(report: &Report) -> Vec<ReasonCode> {
    report.reasons.iter().map(|reason| reason.code).collect()
}

#[test]
fn deepening_finds_what_breadth_first_search_does() {
    for (file, defines) in WRONG {
        let wide = check(file, defines).search(Search::Bfs).run().unwrap();
        let deep = check(file, defines).search(Search::Ida).run().unwrap();
        assert_eq!((deep.search, &*deep.guide, deep.store), ("ida", "formula", "exact"));
        assert!(deep.errors[0].shortest, "{file}");
        assert_eq!(deep.errors[0].steps, wide.errors[0].steps, "{file}");
        // The estimate may count too much, and may still be asked for a shortest run.
        let heavy = || check(file, defines).search(Search::Ida).weight(3.0);
        let some = heavy().shorten(false).run().unwrap();
        let shortest = heavy().shortest(true).run().unwrap();
        assert!(!some.errors[0].shortest && some.errors[0].steps <= 3 * wide.errors[0].steps);
        assert!(shortest.errors[0].shortest);
        assert_eq!(shortest.errors[0].steps, wide.errors[0].steps, "{file}");
    }
    let report = check("pots.pml", &[("CALLS", "1")]).search(Search::Ida).run().unwrap();
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_part_is_enough_for_these_errors() {
    for (file, defines) in WRONG {
        let shortest = check(file, defines).search(Search::Bfs).run().unwrap().errors[0].steps;
        for search in [Search::Beam, Search::Hill, Search::Random, Search::Swarm] {
            let run = || check(file, defines).search(search).shorten(false).run().unwrap();
            let report = run();
            assert_eq!(report.verdict, Verdict::Violated, "{file}, {search}");
            assert_eq!(report.search, search.name());
            let error = &report.errors[0];
            assert!(!error.shortest && error.steps >= shortest, "{file}, {search}");
            assert_eq!(error.run, run().errors[0].run, "{file}, {search}");
            let directed = search != Search::Swarm;
            assert_eq!(directed, report.guide != "none", "{file}, {search}");
            assert_eq!(directed, report.statistics.estimates.is_some(), "{file}, {search}");
        }
    }
}

#[test]
fn what_was_left_out_is_said() {
    let model = || check("pots.pml", &[("CALLS", "1")]);
    let wide = model().search(Search::Beam).width(1_000_000).run().unwrap();
    assert_eq!(wide.verdict, Verdict::Verified);
    let narrow = model().search(Search::Beam).width(3).run().unwrap();
    assert_eq!(narrow.verdict, Verdict::Incomplete);
    assert_eq!(codes(&narrow), [ReasonCode::LeftOut]);
    let message = &narrow.reasons[0].message;
    assert!(message.ends_with("as of each level only the best 3 are kept"), "{message}");
    let left_out = narrow.statistics.states - narrow.statistics.expanded;
    assert!(message.starts_with(&format!("{left_out} states left out")), "{message}");

    let walks = model().search(Search::Random).max_depth(100).run().unwrap();
    assert_eq!((walks.verdict, codes(&walks)), (Verdict::Incomplete, vec![ReasonCode::LeftOut]));
    assert_eq!(walks.store, "stack");
    let swarm = model().search(Search::Swarm).run().unwrap();
    assert_eq!((swarm.verdict, codes(&swarm)), (Verdict::Incomplete, vec![ReasonCode::Lossy]));
    assert_eq!((swarm.store, swarm.recommendation), ("bitstate", None));
    let lossy = model().search(Search::Ida).store(Store::Bitstate).run().unwrap();
    assert_eq!((lossy.verdict, codes(&lossy)), (Verdict::Incomplete, vec![ReasonCode::Lossy]));
    assert_eq!(lossy.store, "bitstate");
}

#[test]
fn a_swarm_answers_the_same_for_any_threads() {
    let run = |seed, threads| {
        let check = check("pots.pml", &[("BUG", "1")]).search(Search::Swarm);
        let report = check.seed(seed).threads(threads).run().unwrap();
        (report.errors[0].run.clone(), report.statistics.states, report.statistics.transitions)
    };
    assert_eq!(run(1, 1), run(1, 2));
    assert_eq!(run(1, 1), run(1, 4));
    assert_ne!(run(1, 1), run(2, 1));
}

#[test]
fn the_searches_of_a_swarm_share_the_states_they_may_visit() {
    for (most, threads) in [(3, 1), (1003, 1), (1003, 2)] {
        let check = check("pots.pml", &[]).search(Search::Swarm);
        let report = check.max_states(most).threads(threads).run().unwrap();
        assert_eq!(report.verdict, Verdict::Incomplete);
        assert!(codes(&report).contains(&ReasonCode::MaxStates), "{:?}", report.reasons);
        let states = report.statistics.states;
        assert!(states <= most && states > most / 2, "{states} of {most}");
    }
}

#[test]
fn a_label_where_nobody_waits_marks_no_danger() {
    let text = "chan c = [1] of { byte }; byte n;
        active proctype P() { danger_none: n = 1; danger_here: c!1; c!2 }
        active proctype Q() { danger_neither: n = 2; c?1; c?1 }";
    let model = Model::from_text(Path::new("m.pml"), text.into(), &Options::default()).unwrap();
    let check = Check::new(model).search(Search::Greedy).guide("deadlock".parse().unwrap());
    let report = check.optimize(Optimize::None).run().unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
    let label = |name: &str, process: &str| {
        format!(
            "the guide 'deadlock' does not count on the label '{name}' of {process}: nobody ever waits there"
        )
    };
    assert!(report.notes.contains(&label("danger_none", "P")), "{:?}", report.notes);
    assert!(report.notes.contains(&label("danger_neither", "Q")), "{:?}", report.notes);
    assert!(!report.notes.iter().any(|note| note.contains("danger_here")));
}

/// Figures that may be different each time.
const MEASURED: [&str; 5] =
    ["bytes_per_state", "peak_memory", "seconds", "states_per_second", "threads"];

#[test]
fn the_best_first_are_the_same_for_any_threads() {
    let models: [(&str, &[(&str, &str)]); 3] = [
        ("pots.pml", &[("BUG", "1")]),
        ("pots.pml", &[("CALLS", "1")]),
        ("optical_telegraph.pml", &[]),
    ];
    for (file, defines) in models {
        for search in [Search::Astar, Search::Wastar, Search::Greedy] {
            for errors in [0, 1] {
                let run = |threads| {
                    let check = check(file, defines).search(search).errors(errors);
                    let report = check.threads(threads).run().unwrap();
                    assert_eq!(report.statistics.threads, threads, "{file}, {search}");
                    let mut told = serde_json::to_value(&report).unwrap();
                    for figure in MEASURED {
                        told["statistics"][figure].take();
                    }
                    for property in told["properties"].as_array_mut().unwrap() {
                        property["seconds"].take();
                    }
                    told
                };
                assert_eq!(run(1), run(4), "{file}, {search}, {errors} errors");
            }
        }
    }
    // Only if they are asked for.
    let report = check("lock_order.pml", &[]).search(Search::Astar).run().unwrap();
    assert_eq!(report.statistics.threads, 1);
}

#[test]
fn options_fit_their_search() {
    let model = || check("lock_order.pml", &[]);
    let wrong = |check: Check<'_>| match check.run() {
        Err(Error::Usage(message)) => message,
        other => panic!("{other:?}"),
    };
    let message = wrong(model().search(Search::Astar).weight(2.0));
    assert_eq!(
        message,
        "the search 'astar' takes no weight; use --weight with --search wastar or ida"
    );
    let message = wrong(model().search(Search::Hill).width(2));
    assert_eq!(message, "the search 'hill' takes no width; use --width with --search beam");
    let message = wrong(model().search(Search::Ida).seed(2));
    assert_eq!(message, "the search 'ida' takes no seed; use --seed with --search random or swarm");
    wrong(model().search(Search::Beam).width(0));
    let guide: Guide = "active".parse().unwrap();
    wrong(model().search(Search::Swarm).guide(guide));
    for search in [Search::Beam, Search::Hill, Search::Random, Search::Swarm] {
        assert!(wrong(model().search(search).shortest(true)).contains("--shortest"));
    }
    for store in [Store::Bitstate, Store::Compact, Store::Stack] {
        wrong(model().search(Search::Beam).store(store));
        wrong(model().search(Search::Hill).store(store));
        wrong(model().search(Search::Random).store(store));
    }
    for store in [Store::Exact, Store::Tree, Store::Stack] {
        wrong(model().search(Search::Swarm).store(store));
    }
    wrong(model().search(Search::Ida).store(Store::Stack));
    wrong(model().search(Search::Ida).store(Store::Bitstate).shortest(true));
}

#[test]
fn run_time_errors_are_told_by_shortest_runs_whatever_the_guide() {
    // The guide is sure that the assertion is far, and knows nothing of the division.
    let text = "int x, d;
        active proctype A() {
            if :: x = 1 :: x = 2; x = 3; x = 4; x = 5 fi;
            x = 1 / d;
            x = 6; x = 7; x = 8; x = 9; assert(false)
        }";
    for search in [Search::Astar, Search::Wastar, Search::Greedy, Search::Ida] {
        for guide in ["none", "formula", "fsm", "active"] {
            let path = Path::new("model.pml");
            let model = Model::from_text(path, text.into(), &Options::default()).unwrap();
            let check = Check::new(model).property(Property::Safety).search(search);
            let report = check.guide(guide.parse().unwrap()).shortest(true).run().unwrap();
            let error = &report.errors[0];
            assert_eq!((error.kind, error.steps), ("runtime", 2), "{search} {guide}");
            assert!(error.shortest, "{search} {guide}");
        }
    }
}

#[test]
fn deepening_refuses_a_guide_by_which_it_would_not_end() {
    let check = check("lock_order.pml", &[]).search(Search::Ida);
    let refused = check.guide("coverage".parse().unwrap()).run();
    assert!(matches!(refused, Err(Error::Usage(why)) if why.contains("would never end")));
}
