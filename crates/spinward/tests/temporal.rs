//! Properties of infinite runs: formulas, labels, fairness.

use std::path::Path;

use spinward::{
    Check, Engine, Fairness, Model, Optimize, Por, Property, Report, Search, Store, Verdict,
};

const CHECKS: [Search; 9] = [
    Search::Scc,
    Search::SccShy,
    Search::SccShyMinus,
    Search::Ndfs,
    Search::Indfs,
    Search::AstarIndfs,
    Search::Se05,
    Search::Tau03,
    Search::Cndfs,
];

/// The check of a property, or of a formula.
fn check<'a>(text: &str, property: &Property) -> Check<'a> {
    let formulas = match property {
        Property::Ltl(formula) if !Property::is_name(formula) => vec![formula.clone()],
        _ => Vec::new(),
    };
    let options = spinward_promela::Options { formulas, ..Default::default() };
    let model = Model::from_text(Path::new("model.pml"), text.into(), &options);
    let model = model.unwrap_or_else(|error| panic!("{error}\n{text}"));
    Check::new(model).property(property.clone())
}

fn run(check: Check<'_>) -> Report {
    check.run().expect("the check runs")
}

/// Whether a property holds, by each check, with and without all that leaves out states; all must agree.
fn holds(text: &str, property: Property, fairness: Fairness) -> bool {
    let mut answers = Vec::new();
    for search in CHECKS {
        for (por, optimize) in [(Por::On, Optimize::Full), (Por::Off, Optimize::None)] {
            for engine in [Engine::Compiled, Engine::Interpreter] {
                let check = check(text, &property).search(search).fairness(fairness);
                let report = run(check.por(por).optimize(optimize).engine(engine));
                let answer = match report.verdict {
                    Verdict::Verified => true,
                    Verdict::Violated => false,
                    other => panic!("{other:?} by {search}: {:?}", report.reasons),
                };
                answers.push((search, por, optimize, engine, answer));
            }
        }
    }
    let first = answers[0].4;
    assert!(answers.iter().all(|it| it.4 == first), "{property:?} {fairness}: {answers:?}\n{text}");
    first
}

fn ltl(text: &str, formula: &str) -> bool {
    holds(text, Property::Ltl(formula.into()), Fairness::None)
}

/// One process that counts to three for ever.
const COUNTER: &str = "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }";

#[test]
fn formulas_of_one_process() {
    for (formula, expected) in [
        ("[] (x <= 3)", true),
        ("[] (x < 3)", false),
        ("<> (x == 3)", true),
        ("[] <> (x == 3)", true),
        ("<> [] (x == 3)", false),
        ("[] (x == 2 -> <> (x == 0))", true),
        ("(x < 2) U (x == 2)", true),
        ("(x < 1) U (x == 2)", false),
        ("(x == 1) V (x == 0)", false),
        ("(x == 0) W (x == 1)", true),
        ("[] (x == 0 -> (x == 0 U x == 1))", true),
        ("(true)", true),
        ("(false)", false),
        ("always eventually (x == 0)", true),
        ("eventually (x == 4)", false),
    ] {
        assert_eq!(ltl(COUNTER, formula), expected, "{formula}");
    }
}

#[test]
fn next_counts_steps() {
    // A test and an assignment are a step each.
    assert!(ltl(COUNTER, "X X (x == 1)"));
    assert!(!ltl(COUNTER, "X (x == 1)"));
    assert!(ltl(COUNTER, "[] (x == 1 -> (X (x == 1) || X (x == 2)))"));
    let atomic =
        "byte x; active proctype P() { do :: atomic { x < 3 -> x++ } :: x == 3 -> x = 0 od }";
    assert!(ltl(atomic, "X (x == 1)"));
}

#[test]
fn a_run_that_ends_repeats_its_last_state() {
    let text = "byte x; active proctype P() { x = 1; x = 2 }";
    assert!(ltl(text, "<> [] (x == 2)"));
    assert!(!ltl(text, "[] <> (x == 1)"));
    assert!(ltl(text, "<> (x == 1)"));
    let stuck = "byte x; active proctype P() { x = 1; x == 0; x = 2 }";
    assert!(ltl(stuck, "<> [] (x == 1)"));
    assert!(!ltl(stuck, "<> (x == 2)"));
}

#[test]
fn a_step_that_never_ends_is_no_end() {
    let text = "byte x, y; active proctype P() { x = 1; accept: atomic { do :: y = !y od } }";
    assert!(ltl(text, "[] <> (x == 0)"));
    assert!(holds(text, Property::Acceptance, Fairness::None));
    let report = run(check(text, &Property::Ltl("[] <> (x == 0)".into())));
    assert!(report.notes.iter().any(|note| note.contains("atomic")), "{:?}", report.notes);
    // Who could begin it waits in vain in a run of the others.
    let beside = "bit x; active proctype P() { atomic { do :: skip od } }
        active proctype Q() { accept: do :: x = 1 - x od }";
    assert!(!holds(beside, Property::Acceptance, Fairness::None));
    assert!(holds(beside, Property::Acceptance, Fairness::Weak));
    assert!(holds(beside, Property::Acceptance, Fairness::Strong));
}

#[test]
fn a_cycle_may_change_hidden_variables() {
    let text = "hidden byte h; active proctype P() { accept: do :: h = h % 3 + 1 od }";
    assert!(!holds(text, Property::Acceptance, Fairness::None));
    assert!(!ltl(text, "<> (h == 9)"));
    // If somebody reads them, it has to come back to their values.
    let text = "hidden byte h; byte x, n;
        active [2] proctype P() { byte k; do :: n = (n + 1) % 5; h = 1; accept: k = 0 od }
        active proctype Q() { do :: d_step { x = h }; h = _pid od }";
    assert!(!holds(text, Property::Acceptance, Fairness::None));
}

#[test]
fn a_formula_asks_for_what_every_process_has() {
    let text = "bit w; active [2] proctype P() { do :: w = 1 - w od }
        active proctype Q() priority 5 { end: false }";
    assert!(ltl(text, "[] (P[1]:_pid == 1)"));
    assert!(!ltl(text, "[] (P[1]:_pid == 0)"));
    assert!(ltl(text, "[] (Q[2]:_priority == 5)"));
}

#[test]
fn what_others_do_may_keep_a_process_waiting() {
    let text = "byte x, y;
        active proctype P() { do :: x = 1 - x od }
        active proctype Q() { do :: y = 1 - y od }";
    for (formula, unfair, weak) in [
        ("[] <> (x == 1)", false, true),
        ("[] <> (x == 1) || [] <> (y == 1)", true, true),
        ("<> [] (x == 0)", false, false),
    ] {
        let property = Property::Ltl(formula.into());
        assert_eq!(holds(text, property.clone(), Fairness::None), unfair, "{formula}");
        assert_eq!(holds(text, property, Fairness::Weak), weak, "{formula}");
    }
}

#[test]
fn fairness_asks_nothing_of_who_has_ended_or_waits() {
    // SPIN's `-f` finds no error in the first: its tracker, number 38.
    let text = "byte n; active proctype P() { n = 1 } active proctype Q() { n = 2 }";
    assert!(!holds(text, Property::Ltl("<> [] (n == 1)".into()), Fairness::Weak));
    assert!(holds(text, Property::Ltl("<> [] (n > 0)".into()), Fairness::Weak));
    let waits = "byte x, y;
        active proctype P() { do :: x = 1 - x od }
        active proctype Q() { y == 1; x = 7 }";
    assert!(!holds(waits, Property::Ltl("<> (x == 7)".into()), Fairness::Weak));
}

#[test]
fn strong_fairness_is_for_who_can_move_again_and_again() {
    let text = "byte x; bool done;
        active proctype P() { do :: x = 1 - x od }
        active proctype Q() { x == 1; done = true }";
    let done = || Property::Ltl("<> done".into());
    assert!(!holds(text, done(), Fairness::Weak));
    assert!(holds(text, done(), Fairness::Strong));
}

#[test]
fn both_sides_of_a_rendezvous_move() {
    let text = "chan c = [0] of { bit }; byte got, x;
        active proctype S() { do :: c!1 od }
        active proctype R() { do :: c?1 -> got = 1 - got od }
        active proctype Q() { do :: x = 1 - x od }";
    let property = || Property::Ltl("[] <> (got == 1)".into());
    assert!(!holds(text, property(), Fairness::None));
    assert!(holds(text, property(), Fairness::Weak));
}

#[test]
fn labels() {
    let accepting = "byte x;
        active proctype P() { do :: x = 1 :: x = 2 -> accept: x = 3 od }";
    assert!(!holds(accepting, Property::Acceptance, Fairness::None));
    let once = "byte x; active proctype P() { accept: x = 1; do :: x = 2 od }";
    assert!(holds(once, Property::Acceptance, Fairness::None));
    // As in SPIN, who is stuck at a label stays there for ever.
    let stuck = "byte x; active proctype P() { x = 1; accept: x == 0 }";
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        assert!(!holds(stuck, Property::Acceptance, fairness), "{fairness}");
    }
    let progress = "byte x;
        active proctype P() { do :: x = 1 :: x = 2 -> progress: x = 3 od }";
    assert!(!holds(progress, Property::NonProgress, Fairness::None));
    let always = "byte x; active proctype P() { do :: x = 1 -> progress: x = 2 od }";
    assert!(holds(always, Property::NonProgress, Fairness::None));
    // A run that ends is no cycle.
    assert!(holds("active proctype P() { skip }", Property::NonProgress, Fairness::None));
    // Only if nobody is fair to `P` can `Q` go on without it.
    let two = "byte x, y;
        active proctype P() { do :: x = 1 -> progress: x = 2 od }
        active proctype Q() { do :: y = 1 - y od }";
    assert!(!holds(two, Property::NonProgress, Fairness::None));
    assert!(holds(two, Property::NonProgress, Fairness::Weak));
}

#[test]
fn labels_inside_of_atomic_are_those_of_no_state() {
    let passed = "byte x; active proctype P() { do :: atomic { x = 1; accept: x = 2; x = 0 } od }";
    assert!(holds(passed, Property::Acceptance, Fairness::None));
    let waits = "chan c = [0] of { bit }; byte x;
        active proctype P() { do :: atomic { x = 1; accept: c!0 } od }
        active proctype Q() { do :: c?0 od }";
    assert!(holds(waits, Property::Acceptance, Fairness::None));
    let stops = "chan c = [1] of { bit };
        active proctype P() { do :: atomic { c!0; accept: c!0 } od }
        active proctype Q() { do :: c?0 od }";
    assert!(!holds(stops, Property::Acceptance, Fairness::None));
    let claimed = "byte x; active proctype P() { do :: x = 1; x = 0 od }
        never { do :: atomic { x == 0 -> accept: x == 0 } :: x == 1 od }";
    assert!(holds(claimed, Property::Ltl("never_0".into()), Fairness::None));
}

#[test]
fn a_formula_beside_the_model_sees_who_moved_last() {
    let text = "byte x;
        active proctype A() { do :: x = 1 - x od }
        active proctype B() { do :: x = 1 - x od }";
    assert!(!ltl(text, "[] (_last == 0)"));
    assert!(!ltl(text, "[] <> (_last == 0)"));
    assert!(ltl(text, "[] (_last < 2)"));
}

#[test]
fn a_cycle_told_from_its_first_state_stays_fair() {
    let text = "byte x;
        active proctype A() { do :: x == 0 od }
        active proctype B() { do :: x = 0 od }";
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        assert!(!holds(text, Property::Ltl("[] <> (x == 1)".into()), fairness), "{fairness}");
    }
}

#[test]
fn what_a_claim_asserts_is_told_by_a_shortest_run() {
    let text = "byte n;
        active proctype P() { do :: n < 9 -> n++ :: n > 0 -> n-- od }
        never { accept: do :: atomic { n == 1 -> assert(n != 1) } :: true od }";
    for search in CHECKS {
        let check = check(text, &Property::Ltl("never_0".into())).search(search).shortest(true);
        let report = run(check);
        let error = &report.errors[0];
        assert_eq!((error.steps, error.shortest), (2, true), "{search}");
    }
}

#[test]
fn who_waits_inside_of_an_atomic_sequence_while_the_claim_moves_cannot_move_there() {
    let text = "bool b;
        active proctype P() { do :: b = !b od }
        active proctype Q() { do :: atomic { b = b; (b) } od }
        never { accept: do :: true od }";
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        assert!(!holds(text, Property::Ltl("never_0".into()), fairness), "{fairness}");
    }
}

#[test]
fn the_cycle_begins_where_it_was_found_also_behind_moves_of_the_claim() {
    let text = "active proctype P() { false }
        never { true; accept_A: do :: true od }";
    let report = run(check(text, &Property::Ltl("never_0".into())));
    let error = &report.errors[0];
    assert_eq!((error.steps, error.cycle_start), (0, Some(0)));
    assert_eq!(error.cycle_index, Some(1));
}

#[test]
fn never_claims_with_labels() {
    let text = "byte x;
        active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
        never { do :: true :: x == LIMIT -> goto accept_on od; accept_on: do :: x != 4 od }";
    let claim = || Property::Ltl("never_0".into());
    assert!(!holds(&text.replace("LIMIT", "3"), claim(), Fairness::None));
    assert!(holds(&text.replace("LIMIT", "5"), claim(), Fairness::None));
}

#[test]
fn moves_are_left_out_for_claims_that_do_not_count_states() {
    let text = |claim: &str| {
        format!(
            "byte x, n;
             active [2] proctype P() {{ byte l; do :: l < 3 -> l++ :: l == 3 -> l = 0; n = 1 - n od }}
             active proctype Q() {{ do :: x < 3 -> x++ :: x == 3 -> x = 0 od }}
             never {{ {claim} }}"
        )
    };
    let states = |claim: &str, por| {
        let check = check(&text(claim), &Property::Ltl("never_0".into()));
        let report = run(check.search(Search::Scc).por(por).optimize(Optimize::None));
        assert_eq!(report.verdict, Verdict::Verified, "{claim}");
        report.statistics.states
    };
    let plain = "T0: do :: true :: x == 4 -> goto accept_S od; accept_S: do :: x != 3 od";
    assert!(states(plain, Por::On) < states(plain, Por::Off));
    // Accepts if x is 2 in two states, one after the other, and then 4.
    let counts = "do :: true :: x == 2 -> break od; x == 2; x == 4; accept_S: do :: true od";
    assert_eq!(states(counts, Por::On), states(counts, Por::Off));
    for (claim, unfair, weak) in [
        ("T0: do :: true :: x == 3 -> goto accept_S od; accept_S: do :: x == 3 od", false, true),
        ("T0: do :: true :: x == 3 -> goto accept_S od; accept_S: do :: n <= 1 od", false, false),
        ("do :: x < 3 :: else -> break od; accept_S: do :: n == 0 od", false, true),
        ("do :: x < 3 :: else -> break od; accept_S: do :: n == 2 od", true, true),
    ] {
        let claimed = || Property::Ltl("never_0".into());
        assert_eq!(holds(&text(claim), claimed(), Fairness::None), unfair, "{claim}");
        assert_eq!(holds(&text(claim), claimed(), Fairness::Weak), weak, "{claim}");
    }
}

#[test]
fn a_claim_goes_on_alone() {
    let claim = "never { accept_0: do :: true -> goto accept_0 od }";
    for body in ["x = 1", "x = 1; false"] {
        let text = format!("byte x; active proctype P() {{ {body} }} {claim}");
        assert!(!holds(&text, Property::Ltl("never_0".into()), Fairness::None), "{body}");
        assert!(!holds(&text, Property::Ltl("never_0".into()), Fairness::Weak), "{body}");
    }
}

#[test]
fn who_waits_inside_an_atomic_sequence_lets_others_go_on() {
    let text = "chan c = [0] of { bit }; byte x;
        active proctype P() { do :: x = 1 - x od }
        active proctype Q() { atomic { skip; c!0 } }";
    let claim = "never { do :: true :: x == 1 -> goto accept_0 od; accept_0: do :: true od }";
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        assert!(!holds(text, Property::NonProgress, fairness), "{fairness}");
        assert!(!holds(text, Property::Ltl("<> [] (x == 1)".into()), fairness), "{fairness}");
        let claimed = format!("{text} {claim}");
        assert!(!holds(&claimed, Property::Ltl("never_0".into()), fairness), "{fairness}");
    }
}

#[test]
fn formulas_without_a_name_are_numbered() {
    let text =
        format!("{COUNTER} ltl {{ [] (x < 4) }} ltl named {{ [] (x < 3) }} ltl {{ [] (x < 2) }}");
    let verdict = |name: &str| run(check(&text, &Property::Ltl(name.into()))).verdict;
    assert_eq!(verdict("ltl_0"), Verdict::Verified);
    assert_eq!(verdict("ltl_1"), Verdict::Violated);
}

#[test]
fn each_property_has_an_answer() {
    let text = format!(
        "{COUNTER} ltl yes {{ []<> (x == 3) }} ltl no {{ <>[] (x == 3) }} ltl bad {{ [] (x < 2) }}"
    );
    let options = spinward_promela::Options::default();
    let model = Model::from_text(Path::new("model.pml"), text, &options).expect("a model");
    let report = run(Check::new(model));
    let violated: Vec<_> = report.errors.iter().map(|it| (it.kind, it.property.as_str())).collect();
    assert_eq!(violated, [("acceptance-cycle", "no"), ("never-claim", "bad")]);
}

#[test]
fn runs_are_short_whatever_is_left_out() {
    let late = "byte x, y;
        active proctype B() { y = 1; y = 2; y = 3 }
        active proctype A() { do :: x = 1; x = 0 od }";
    let two = "bit z;
        active proctype P() { byte l; do :: l == 0 od }
        active proctype Z() { do :: z = 1 - z od }";
    for (text, formula, steps) in [(late, "[] <> (x == 2)", 2), (two, "[] <> (z == 2)", 1)] {
        for search in CHECKS {
            for (por, optimize) in [(Por::On, Optimize::Full), (Por::Off, Optimize::None)] {
                let check = check(text, &Property::Ltl(formula.into()));
                let check = check.search(search).por(por).optimize(optimize);
                let errors = run(check.shortest(true)).errors;
                assert_eq!((errors[0].steps, errors[0].shortest), (steps, true), "{search}");
            }
        }
    }
}

#[test]
fn a_lasso_is_short() {
    let text = "byte x, n;
        active proctype P() { do :: n < 50 -> n++ :: n > 3 -> x = 1; do :: x = 2; x = 1 od od }";
    for search in CHECKS {
        let report = run(check(text, &Property::Ltl("[] (x == 0)".into())).search(search));
        assert_eq!(report.errors[0].cycle_start, None, "{search}");
        let report =
            run(check(text, &Property::Ltl("[] <> (x == 0)".into())).search(search).shortest(true));
        let error = &report.errors[0];
        assert!(error.shortest);
        assert_eq!((error.steps, error.cycle_start), (12, Some(10)), "{search}");
    }
}

#[test]
fn a_lossy_search_says_so() {
    let property = Property::Ltl("[] (x < 4)".into());
    let report = run(check(COUNTER, &property).store(Store::Bitstate));
    assert_eq!(report.verdict, Verdict::Incomplete);
    // Cycles are looked for with all states at hand.
    let property = Property::Ltl("[] <> (x == 3)".into());
    let report = run(check(COUNTER, &property).store(Store::Bitstate));
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!(report.notes.len(), 1);
}

#[test]
fn claims_of_exclusive_use_are_checked() {
    // `Q` uses what `P` claims for itself, so that nobody may count on it.
    let text = "chan c = [1] of { byte }; byte x;
        active proctype P() { xs c; do :: c!1 od }
        active proctype Q() { do :: c!2 od }
        active proctype R() { do :: c?x od }";
    assert!(!ltl(text, "[] <> (x == 1)"));
    for formula in ["[] (x < 3)", "[] <> (x < 3)"] {
        let report = run(check(text, &Property::Ltl(formula.into())));
        assert_eq!(report.verdict, Verdict::Verified);
        assert!(report.notes.iter().any(|note| note.contains("does not hold")), "{formula}");
    }
}

/// The verdict on a counter with a claim from a file.
fn with_claim(claim: &str) -> Verdict {
    let folder = tempfile::tempdir().expect("a folder");
    let [model, file] = ["model.pml", "claim"].map(|name| folder.path().join(name));
    std::fs::write(&model, COUNTER).expect("room for a file");
    std::fs::write(&file, claim).expect("room for a file");
    let options = spinward_promela::Options::default();
    let model = Model::load_with_claim(&model, &file, &options).expect("a model and a claim");
    run(Check::new(model)).verdict
}

#[test]
fn claims_from_files() {
    let never = "never { do :: true :: x == LIMIT -> goto accept_on od; accept_on: do :: true od }";
    assert_eq!(with_claim(&never.replace("LIMIT", "3")), Verdict::Violated);
    assert_eq!(with_claim(&never.replace("LIMIT", "5")), Verdict::Verified);
    let hoa = "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"x == LIMIT\"\nAcceptance: 1 Inf(0)\n\
               acc-name: Buchi\n--BODY--\nState: 0\n[t] 0\n[!0] 1\nState: 1\n[!0] 1 {0}\n--END--\n";
    assert_eq!(with_claim(&hoa.replace("LIMIT", "3")), Verdict::Verified);
    assert_eq!(with_claim(&hoa.replace("LIMIT", "5")), Verdict::Violated);
    // An automaton that accepts as soon as something was seen.
    let seen = hoa.replace("[!0] 1\nState: 1\n[!0] 1 {0}", "[0] 1\nState: 1\n[t] 1 {0}");
    assert_eq!(with_claim(&seen.replace("LIMIT", "3")), Verdict::Violated);
    assert_eq!(with_claim(&seen.replace("LIMIT", "5")), Verdict::Verified);
}

/// Eight processes that go round on their own, so that there are many states.
const ROUNDS: &str = "#define N 8
    byte s[N]; byte shared;
    active [N] proctype W() {
      do
      :: s[_pid] == 0 -> s[_pid] = 1
      :: s[_pid] == 1 -> shared = _pid; s[_pid] = 2
      :: s[_pid] == 2 -> s[_pid] = 0
      od
    }";

#[test]
fn a_claim_accepts_before_it_waits() {
    for formula in ["[] <> (shared == 3)", "[] <> (s[0] == 2)"] {
        for search in [Search::Scc, Search::Ndfs, Search::Se05] {
            for por in [Por::On, Por::Off] {
                let check = check(ROUNDS, &Property::Ltl(formula.into())).search(search).por(por);
                let report = run(check.max_states(20_000));
                assert_eq!(report.verdict, Verdict::Violated, "{formula} {search} {por}");
            }
        }
    }
}

#[test]
fn shortest_is_shortest_also_where_moves_are_left_out() {
    let text = "byte x;
        active proctype P() { byte v; v = 1 }
        active proctype Q() { do :: x = (x + 1) % 3 od }";
    for por in [Por::On, Por::Off] {
        let report = run(check(text, &Property::NonProgress).shortest(true).por(por));
        // Nobody asks what x is.
        assert_eq!((report.errors[0].steps, report.errors[0].shortest), (1, true), "{por}");
    }
}

#[test]
fn a_run_to_where_all_is_accepted_is_made_shorter_too() {
    let text = "byte x, y, v;
        active proctype P() {
          do :: y < 9 -> y++; y++ :: y > 0 -> y-- :: x = 3 - x; x = 0 :: v = 1 - v od
        }";
    // Depth first, y is 9 long before anything is repeated.
    let formula = Property::Ltl("[] (v == 0 -> <> (x == 3)) && [] (y != 9)".into());
    for search in CHECKS {
        for (por, optimize) in [(Por::On, Optimize::Full), (Por::Off, Optimize::None)] {
            let check = check(text, &formula).search(search).por(por).optimize(optimize);
            let report = run(check.shortest(true));
            let error = &report.errors[0];
            assert_eq!((error.steps, error.shortest), (2, true), "{search} {por}");
        }
    }
}

#[test]
fn a_guide_leads_to_where_the_automaton_may_accept() {
    // The wait for the answer begins after many steps only; before that there is much else to do.
    let text = "byte asked, x, y, z;
        active proctype Asker() { do :: asked < 20 -> asked++ od }
        active proctype P() { do :: x = (x + 1) % 9 :: y = (y + 1) % 9 :: z = (z + 1) % 9 od }";
    let never = "never { wait: do :: asked == 20 -> goto accept :: true od;
        accept: do :: asked != 7 od }";
    let formula = Property::Ltl("[] (asked == 20 -> <> (asked == 7))".into());
    let claimed = format!("{text} {never}");
    let questions = [(text, formula), (&claimed, Property::Ltl("never_0".into()))];
    for (text, property) in questions {
        let by = |search, guide: Option<&str>| {
            let check = check(text, &property).search(search);
            let check = check.por(Por::Off).optimize(Optimize::None);
            let report = run(match guide {
                Some(guide) => check.guide(guide.parse().unwrap()),
                None => check,
            });
            assert_eq!(report.verdict, Verdict::Violated, "{property:?} by {search}");
            assert_eq!(report.search, search.name());
            report
        };
        let (guided, blind) = (by(Search::AstarIndfs, None), by(Search::AstarIndfs, Some("none")));
        let nested = by(Search::Indfs, None);
        assert_eq!((&*guided.guide, &*blind.guide), ("formula", "none"));
        let [few, many, nested] = [guided, blind, nested].map(|report| report.statistics.expanded);
        assert!(few < nested && few < many, "{few} {many} {nested} for {property:?}");
    }
}

#[test]
fn a_guide_that_asks_for_steps_leads_to_no_cycle() {
    let property = Property::Ltl("<> [] (x == 3)".into());
    for (guide, expected) in [("coverage", false), ("interleaving", false), ("fsm", true)] {
        let check = check(COUNTER, &property).search(Search::AstarIndfs);
        let outcome = check.guide(guide.parse().unwrap()).run();
        assert_eq!(outcome.is_ok(), expected, "{guide}");
    }
}

#[test]
fn a_guide_that_is_not_followed_is_told() {
    let property = Property::Ltl("[] <> (x == 3)".into());
    for (search, expected) in [(Search::Astar, true), (Search::AstarIndfs, false)] {
        let check = check(COUNTER, &property).search(search);
        let report = run(check.guide("fsm".parse().unwrap()));
        let is_told =
            report.notes.iter().any(|it| it.starts_with("the guide 'fsm' was not followed"));
        assert_eq!(is_told, expected, "{search}: {:?}", report.notes);
    }
}
