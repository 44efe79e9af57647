//! Trails as SPIN writes them, with what it leaves out and puts in.

mod common;

use std::path::Path;
use std::sync::Arc;

use spinward_machine::{Machine, Options, Violation};
use spinward_trail::run::Keep;
use spinward_trail::{Fitted, Misfit, Trail, confirm, describe, fit, goes_round, replay};

fn fitted(machine: &Machine, trail: &str) -> Result<Fitted, Misfit> {
    fit(machine, &Trail::parse(trail).expect("a trail"))
}

fn machine(text: &str, claim: bool) -> Machine {
    common::machine(Path::new("test.pml"), text, claim)
}

/// The same, but nobody need come to a valid end.
fn without_end_states(machine: &Machine) -> Machine {
    let options = Options { end_states: false, ..machine.options().clone() };
    Machine::new(machine.program().clone(), options, Arc::default()).expect("a good start")
}

/// What is wrong at the end of a trail.
fn ends_in(machine: &Machine, fitted: &Fitted) -> Vec<Violation> {
    replay(machine, &fitted.steps, &mut |_| {}).expect("it replays").violations
}

#[test]
fn what_is_not_merged_has_all_its_lines() {
    // Ids: x = 1 0, x = 2 1, false 2, end 3; y = 1 4. The last line is of another process.
    let text = "byte x, y; active proctype A() { x = 1; x = 2; false }\n\
        active proctype B() { y = 1; false }";
    let misfit = fitted(&machine(text, false), "1:0:0\n2:0:1\n3:1:3\n").unwrap_err();
    assert!(misfit.message.contains("line 3 of the trail: B(1) cannot do"), "{misfit}");
}

#[test]
fn half_a_rendezvous_is_told() {
    // Ids: c!1 0, end 1; c?_ 2, end 3; n++ 4.
    let text = "chan c = [0] of { byte }; byte n; active proctype P() { c!1 }\n\
        active proctype Q() { c?_ } active proctype R() { n++; n++ }";
    let machine = machine(text, false);
    let misfit = fitted(&machine, "1:0:0\n").unwrap_err();
    assert!(misfit.message.contains("the trail ends in the middle of a rendezvous"), "{misfit}");
    let misfit = fitted(&machine, "1:0:0\n2:2:4\n").unwrap_err();
    assert!(misfit.message.contains("the line of the one who receives is missing"), "{misfit}");
}

#[test]
fn a_merged_chain_is_one_line() {
    // x = 1 (0) and x = 2 (1) are local and merged; n++ (2) is not.
    let text =
        "byte n; active [2] proctype P() { byte x; x = 1; x = 2; n++; x = 3; assert(n < 2) }";
    let machine = machine(text, false);
    let fitted = fitted(&machine, "-4:-4:-4\n1:1:0\n2:0:0\n3:1:2\n4:0:2\n5:0:3\n").unwrap();
    assert_eq!(fitted.steps.len(), 8, "{fitted:#?}");
    assert!(matches!(ends_in(&machine, &fitted)[..], [Violation::Assertion(_)]));
}

#[test]
fn an_atomic_chain_ends_before_another_process_moves() {
    let text = "byte n, m; active proctype P() { atomic { n = 1; n = 2; m = 1 }; n = 3 }\n\
        active proctype Q() { m = 5; assert(n == 0) }";
    let machine = machine(text, false);
    // Ids: 0 to 2 in the atomic, its block 3, n = 3 4, end 5; m = 5 6, assert 7.
    let fitted = fitted(&machine, "-4:-4:-4\n1:0:0\n2:1:6\n3:1:7\n").unwrap();
    assert_eq!(fitted.steps.len(), 5);
    let run = describe(&machine, &fitted.steps, None, Keep::ALL).unwrap();
    assert_eq!(run.values_of(machine.program(), run.violations[0])[0].1, "2");
}

#[test]
fn nobody_waits_before_the_end_of_a_chain() {
    // Ids: timeout 0, assert 1, end 2; v = 2 3, skip 4 (merged with l++ 9), l > 5 10.
    let text = "byte v; active proctype P() { timeout; assert(false) }\n\
        active proctype Q() { byte l; if :: v = 2 -> skip :: else -> v = 3 fi; l++; (l > 5) }";
    let machine = machine(text, false);
    let fitted = fitted(&machine, "-4:-4:-4\n1:1:3\n2:1:4\n3:0:0\n4:0:1\n").unwrap();
    assert_eq!(fitted.steps.len(), 5, "{fitted:#?}");
    assert!(matches!(ends_in(&machine, &fitted)[..], [Violation::Assertion(_), ..]));
}

#[test]
fn a_chain_ends_before_the_next_line_of_its_process() {
    // Ids: timeout 0, assert 1, end 2; v = 1 3, l = 1 4. Q can still do l = 1, and does so only later.
    let text = "byte v; active proctype P() { timeout; assert(false) }\n\
        active proctype Q() { byte l; v = 1; l = 1 }";
    let machine = machine(text, false);
    let misfit = fitted(&machine, "-4:-4:-4\n1:1:3\n2:0:0\n3:1:4\n").unwrap_err();
    assert!(misfit.message.contains("P(0) cannot do `timeout`"), "{}", misfit.message);
}

#[test]
fn a_chain_that_ends_in_an_error_may_be_the_last_line_beside_a_claim() {
    // Ids: x = 3 0 (merged with x = 4 1 and the assertion 2); the claim's n == 0 is 4.
    let text = "byte n; active proctype P() { byte x; x = 3; x = 4; assert(x == 3) }\n\
        never { do :: n == 0 od }";
    let machine = machine(text, true);
    let claim = machine.program().elements.iter().position(|e| e.text == "n == 0").unwrap();
    let trail = format!("-2:1:-2\n-4:-4:-4\n1:0:{claim}\n2:1:0\n");
    let fitted = fitted(&machine, &trail).unwrap();
    assert!(matches!(ends_in(&machine, &fitted)[..], [Violation::Assertion(_)]), "{fitted:#?}");
}

#[test]
fn a_breadth_first_search_leaves_out_the_claim() {
    let text = "byte n; never { do :: n < 2 :: n == 2 -> break od }\n\
        active proctype P() { n = 1; n = 2; n = 3 }";
    let machine = machine(text, true);
    let first = machine.program().elements.iter().position(|e| e.text == "n = 1").unwrap();
    let trail = format!("-2:0:-2\n1:1:{}\n2:1:{}\n", first, first + 1);
    let fitted = fitted(&machine, &trail).unwrap();
    assert_eq!(ends_in(&machine, &fitted), [Violation::ClaimEnd]);
    assert_eq!(fitted.steps.iter().filter(|step| step.is_claim()).count(), 3);
}

#[test]
fn a_breadth_first_search_adds_a_line() {
    let machine = machine("byte n; active proctype P() { n = 1; n == 2 }", false);
    let fitted = fitted(&machine, "1:0:0\n2:0:1\n").unwrap();
    assert_eq!(fitted.steps.len(), 1);
    assert!(fitted.notes[0].contains("left out"), "{:?}", fitted.notes);
    assert_eq!(ends_in(&machine, &fitted), [Violation::InvalidEndState]);
}

#[test]
fn a_cycle_comes_back() {
    let machine = machine("bool b; active proctype P() { do :: b = !b od }", false);
    let fitted = fitted(&machine, "1:0:0\n-1:-1:-1\n2:0:0\n3:0:0\n").unwrap();
    assert_eq!(fitted.cycle_start, Some(1));
    confirm(&machine, &fitted.steps, None, fitted.cycle_start).unwrap();
    let open = fitted.steps[..2].to_vec();
    assert!(confirm(&machine, &open, None, Some(1)).is_err());
}

#[test]
fn a_cycle_need_not_come_back_in_what_nobody_looks_at() {
    for text in [
        "bool b; byte n; active proctype P() { do :: n++ od }",
        "bool b; active proctype P() { byte n; do :: n++ od }",
    ] {
        let machine = machine(text, false);
        let fitted = fitted(&machine, "-1:-1:-1\n1:0:0\n").unwrap();
        assert_eq!((fitted.steps.len(), fitted.cycle_start), (1, Some(0)));
        assert!(goes_round(&machine, &fitted.steps, 0));
    }
    // Somebody looks at it: round after round, until it comes round.
    let text = "byte n; active proctype P() { do :: n < 99 -> n = (n + 1) % 40 od }";
    let machine = machine(text, false);
    let fitted = fitted(&machine, "-1:-1:-1\n1:0:0\n2:0:1\n").unwrap();
    assert!(!goes_round(&machine, &fitted.steps[..2], 0));
    assert_eq!((fitted.steps.len(), fitted.cycle_start), (80, Some(0)));
}

#[test]
fn a_chain_at_the_end_of_a_lap_ends_before_the_first_line_of_the_cycle() {
    // Ids: x++ 0, end 1; x < 9 2, n = 1 3, l = run 4, (_nr_pr == 1) 5. The statement n = 1 is global; x comes back after
    // 16 laps.
    let text = "byte n; byte x; proctype C() { x = (x + 1) % 16 }\n\
        active proctype P() { pid l; do :: x < 99 -> n = 1; l = run C(); _nr_pr == 1 od }";
    let machine = machine(text, false);
    let trail = "-4:-4:-4\n1:0:2\n2:0:3\n-1:-1:-1\n3:0:4\n4:1:0\n5:1:1\n6:0:5\n7:0:2\n8:0:3\n";
    let fitted = fitted(&machine, trail).unwrap();
    confirm(&machine, &fitted.steps, None, fitted.cycle_start).unwrap();
}

#[test]
fn a_run_that_stays_does_so_at_the_end_of_its_chains() {
    // Ids: skip 0 (merged with x = 1 1), x > 5 2; n = 1 4, end 5. The body after all of the model is SPIN's claim of a
    // formula, which moves alone in the cycle.
    let text = "byte n; active proctype P() { byte x; skip; x = 1; x > 5 }\n\
        active proctype Q() { n = 1 }";
    let machine = machine(text, false);
    let trail =
        "-2:2:-2\n-4:-4:-4\n1:0:9\n2:1:0\n3:0:9\n4:2:4\n5:0:9\n6:2:5\n-1:-1:-1\n7:0:9\n8:0:9\n";
    let machine = without_end_states(&machine);
    let fitted = fitted(&machine, trail).unwrap();
    assert_eq!((fitted.steps.len(), fitted.cycle_start), (4, Some(4)), "{fitted:#?}");
    confirm(&machine, &fitted.steps, None, fitted.cycle_start).unwrap();
}

#[test]
fn a_chain_inside_of_an_atomic_sequence_is_gone_through_at_the_end() {
    // Ids: x < 2 0 (merged with n = 1 1 and n = 2 2).
    let text = "byte n; active proctype P() { byte x; atomic { x < 2; n = 1; n = 2 }; n = 3 }";
    let machine = machine(text, false);
    let fitted = fitted(&machine, "-2:1:-2\n-4:-4:-4\n1:0:9\n2:1:0\n3:0:9\n").unwrap();
    assert_eq!(fitted.steps.len(), 3, "{fitted:#?}");
}

#[test]
fn a_misfit_says_what_is_possible() {
    let machine = machine("byte n; active proctype P() { n == 1 -> n = 2 }", false);
    let misfit = fitted(&machine, "1:0:1\n2:0:1\n").unwrap_err();
    assert_eq!(
        misfit.message,
        "line 1 of the trail: P(0) cannot do `n = 2` (line 1 of the model) here; it cannot move"
    );
}

#[test]
fn a_merged_chain_creates_its_processes_at_once() {
    // Ids: x = n 0, end 1; a = run 2, b = run 3 (merged with 2), assert 4.
    let text = "byte x; proctype C(byte n) { x = n }\n\
        init { pid a, b; a = run C(1); b = run C(2); assert(x == 0) }";
    let machine = machine(text, false);
    let fitted = fitted(&machine, "-4:-4:-4\n1:0:2\n2:2:0\n3:0:4\n").unwrap();
    assert_eq!(fitted.steps.len(), 4);
    assert!(matches!(ends_in(&machine, &fitted)[..], [Violation::Assertion(_)]));
}

#[test]
fn an_error_at_the_end_is_not_left_behind() {
    // Nothing is merged after the assertion, though Q could go on and block.
    let text = "byte x; active proctype P() { assert(x == 1) }\n\
        active proctype Q() { byte y; y = 1; y = 2; x == 1 }";
    let machine = machine(text, false);
    let fitted = fitted(&machine, "-4:-4:-4\n1:0:0\n").unwrap();
    assert!(matches!(ends_in(&machine, &fitted)[..], [Violation::Assertion(_)]));
}

#[test]
fn a_wrong_event_is_followed_by_a_line_too_many() {
    // Ids: c!1 0, c!2 1, end 2; x = 1 3. P cannot end before Q, Q can move.
    let text = "byte x; chan c = [2] of { byte }; active proctype P() { c!1; c!2 }\n\
        active proctype Q() { x = 1 } trace { c!1; c!1 }";
    let machine = machine(text, false);
    for last in ["3:0:2", "3:1:3"] {
        let fitted = fitted(&machine, &format!("1:0:0\n2:0:1\n{last}\n")).unwrap();
        assert_eq!(fitted.steps.len(), 2, "{last}");
        assert_eq!(ends_in(&machine, &fitted), [Violation::TraceMismatch], "{last}");
    }
}

#[test]
fn a_statement_that_is_only_looked_at_may_end_a_trail() {
    let text = "chan c = [0] of { byte }; active proctype P() { if :: c?[1] :: else fi }\n\
        active proctype Q() { c!1 }";
    let machine = machine(text, false);
    let fitted = fitted(&machine, "1:0:0\n").unwrap();
    assert_eq!(fitted.steps.len(), 0);
    assert!(matches!(ends_in(&machine, &fitted)[..], [Violation::Runtime(..)]));
}

#[test]
fn half_of_a_rendezvous_may_end_a_trail() {
    let text = "chan c = [0] of { byte }; active D_proctype P() { if :: c!1 :: c!2 fi }\n\
        active proctype Q() { c?_ }";
    let machine = machine(text, false);
    let fitted = fitted(&machine, "1:0:1\n").unwrap();
    assert_eq!(fitted.steps.len(), 2);
    assert!(matches!(ends_in(&machine, &fitted)[..], [Violation::Runtime(..)]));
}

#[test]
fn a_line_after_the_end_of_the_claim_is_left_out() {
    let text = "byte n; active proctype P() { n = 1; n = 2 } never { n == 0; n == 1 }";
    let machine = machine(text, true);
    let claim = machine.program().elements.iter().position(|e| e.text == "n == 0").unwrap();
    let trail = format!("-2:1:-2\n1:0:{claim}\n2:1:0\n3:0:{}\n4:1:1\n5:0:{claim}\n", claim + 1);
    let fitted = fitted(&machine, &trail).unwrap();
    assert_eq!((fitted.steps.len(), fitted.notes.len()), (4, 1), "{fitted:#?}");
}

#[test]
fn a_step_prints_what_it_comes_to() {
    let text = "chan c = [0] of { byte }; byte x;
        active proctype P() { d_step { if :: timeout -> printf(\"A\") :: else -> printf(\"B\") fi }; c!3 }
        active proctype Q() { d_step { c?x; printf(\"%d\", x) } }";
    let machine = machine(text, false);
    let elements = &machine.program().elements;
    let id = |text: &str| elements.iter().position(|e| e.text.starts_with(text)).unwrap();
    let (choice, send) = (id("d_step { if"), id("c!3"));
    let receive = id("d_step { c?x");
    let fitted = fitted(&machine, &format!("1:0:{choice}\n2:0:{send}\n3:1:{receive}\n")).unwrap();
    let mut printed = String::new();
    replay(&machine, &fitted.steps, &mut |event| printed.push_str(event.output)).unwrap();
    assert_eq!(printed, "B3");
}
