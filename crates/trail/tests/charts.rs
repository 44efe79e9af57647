//! Charts and pages of runs: who lives when, and who gets what from whom.

mod common;

use std::path::Path;

use spinward_machine::{Machine, Step, System as _};
use spinward_trail::chart::ArrowKind;
use spinward_trail::run::Keep;
use spinward_trail::{Answer, Chart, Listing, Report, chart_svg, chart_text, describe};

const FAMILY: &str = "chan wire = [2] of { byte }; chan bell = [0] of { byte };
proctype Child(byte k) { byte n; wire!k; bell?n }
init { byte v; run Child(5); run Child(6); wire?v; wire?<v>; bell!1; bell!2; wire?v }
active proctype Idle() { false }
";

/// The run in which always the first possible move is made.
fn first_run(machine: &Machine) -> Vec<Step> {
    let mut scratch = machine.scratch();
    let mut config = machine.start();
    let mut steps = Vec::new();
    while let Some(chosen) = machine.moves(&config, &mut scratch).0.into_iter().next() {
        steps.extend_from_slice(&chosen.steps);
        match chosen.next {
            Some(next) => config = next,
            None => break,
        }
    }
    steps
}

#[test]
fn names_stand_over_their_lanes() {
    for (processes, width) in [(2, 80), (12, 80), (18, 100), (20, 110)] {
        let text = format!("byte n; active [{processes}] proctype Process() {{ n++ }}");
        let machine = common::machine(Path::new("m.pml"), &text, false);
        let chart = chart_of(&machine, Keep::ALL);
        let listing = Listing { color: false, claim: false, grouped: true };
        let text = chart_text::text(&chart, width, listing).expect("it fits");
        let mut lines = text.lines().map(|line| line.chars().collect::<Vec<char>>());
        let heads = lines.next().expect("heads");
        // Every other step is one that counts, and the youngest process moves first.
        let dots: Vec<usize> = lines
            .step_by(2)
            .take(processes)
            .map(|line| line.iter().position(|&it| it == '●').expect("a step"))
            .collect();
        let half = (dots[0] - dots[1]) / 2;
        for (lane, dot) in dots.into_iter().rev().enumerate() {
            let over = &heads[dot - half..(dot + half + 1).min(heads.len())];
            let over: String = over.iter().collect();
            assert!(over.contains(&lane.to_string()), "{lane} in {over:?}\n{text}");
        }
    }
}

fn chart_of(machine: &Machine, keep: Keep) -> Chart {
    Chart::of(&describe(machine, &first_run(machine), None, keep).expect("a run"), false)
}

#[test]
fn lanes_live_as_long_as_their_processes() {
    let machine = common::machine(Path::new("family.pml"), FAMILY, false);
    let chart = chart_of(&machine, Keep::ALL);
    let names: Vec<&str> = chart.lanes.iter().map(|lane| lane.name.as_str()).collect();
    assert_eq!(names, ["init(0)", "Child(2)", "Child(3)"]);
    assert_eq!(chart.idle, 1);
    let rows = chart.rows.len();
    assert!(chart.lanes[0].at_start);
    assert_eq!(chart.lanes[0].lives.first(), Some(&(0..rows)));
    for child in &chart.lanes[1..] {
        let [life] = child.lives.as_slice() else { panic!("{child:?}") };
        assert!(!child.at_start && life.end <= rows, "{child:?}");
        assert!(chart.rows[life.start].statement.starts_with("run Child"));
    }
}

#[test]
fn arrows_go_from_who_sends_to_who_receives() {
    let machine = common::machine(Path::new("family.pml"), FAMILY, false);
    let chart = chart_of(&machine, Keep::ALL);
    let of = |kind| chart.arrows.iter().filter(move |arrow| arrow.kind == kind);
    assert_eq!(of(ArrowKind::Start).count(), 2);
    let labels: Vec<&str> = of(ArrowKind::Message).map(|arrow| arrow.label.as_str()).collect();
    assert_eq!(labels, ["wire!5", "wire!6"], "in the order in which they were sent");
    for arrow in of(ArrowKind::Message) {
        assert!(chart.rows[arrow.from.0].statement.starts_with("wire!"), "{arrow:?}");
        assert!(chart.rows[arrow.to.0].statement.starts_with("wire?"), "{arrow:?}");
        assert_eq!(arrow.to.1, 0, "init gets them");
    }
    assert_eq!(of(ArrowKind::Rendezvous).count(), 2);
    for arrow in of(ArrowKind::Rendezvous) {
        assert_eq!((arrow.from.1, arrow.from.0 + 1), (0, arrow.to.0), "both at once");
    }
}

#[test]
fn a_chart_of_a_part_says_what_is_left_out() {
    let machine = common::machine(Path::new("family.pml"), FAMILY, false);
    let chart = chart_of(&machine, Keep { first: 2, last: 3 });
    let all = chart_of(&machine, Keep::ALL);
    assert_eq!(chart.gap, Some((2, all.rows.len() - 5)));
    assert_eq!(chart.rows.len(), 5);
    // Of what was sent before only the receiver is seen.
    assert!(chart.arrows.iter().all(|arrow| arrow.to.0 < 5 && arrow.from.0 < 5));
    let text = chart_text::text(&chart, 100, Listing::default()).expect("it fits");
    assert!(text.contains("more steps ..."), "{text}");
    assert!(chart_svg::svg(&chart).contains("more steps"));
}

const CLAIMED: &str = "byte n; active proctype P() { do :: n < 9 -> n++ :: else -> break od }
never { do :: n < 9 :: n == 9 -> break od }";

#[test]
fn moves_of_a_claim_are_no_steps_that_are_left_out() {
    let machine = common::machine(Path::new("m.pml"), CLAIMED, true);
    let steps = first_run(&machine);
    let run = describe(&machine, &steps, None, Keep { first: 3, last: 4 }).expect("a run");
    let chart = Chart::of(&run, false);
    let (_, left_out) = chart.gap.expect("a gap");
    assert_eq!(left_out + chart.rows.len(), run.length);
    let told = format!("... {left_out} more steps ...");
    assert!(Listing::default().steps(&run).contains(&told), "{told}");
    let chart = Chart::of(&run, true);
    assert_eq!(chart.gap.map(|(_, left_out)| left_out), Some(steps.len() - 7));
}

#[test]
fn moves_of_a_claim_have_no_number() {
    let machine = common::machine(Path::new("m.pml"), CLAIMED, true);
    let run = describe(&machine, &first_run(&machine), None, Keep::ALL).expect("a run");
    let chart = Chart::of(&run, true);
    let listing = Listing { color: false, claim: true, grouped: true };
    let text = chart_text::text(&chart, 100, listing).expect("it fits");
    for (row, line) in chart.rows.iter().zip(text.lines().skip(1)) {
        let numbered = line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        assert_eq!(numbered, chart.lanes[row.lane].process.is_some(), "{text}");
    }
}

#[test]
fn pictures_and_pages_are_well_formed() {
    let machine = common::machine(Path::new("family.pml"), FAMILY, false);
    let steps = first_run(&machine);
    let svg = chart_svg::svg(&chart_of(&machine, Keep::ALL));
    assert_balanced(&svg);
    let verdict = ["all is well".to_owned()];
    for (steps, dimmed) in [(steps.as_slice(), vec![true; steps.len()]), (&[], Vec::new())] {
        let report = Report {
            machine: &machine,
            steps,
            cycle_start: None,
            title: "family.pml",
            answer: Answer::Fine,
            verdict: &verdict,
            notes: &["a note".to_owned()],
            dimmed: &dimmed,
        };
        let page = report.html().expect("a run");
        let end = if steps.is_empty() { "</body>" } else { "<script" };
        let body = page.split("<body>").nth(1).and_then(|rest| rest.split(end).next());
        assert_balanced(body.expect("a body"));
        assert_eq!(page.matches("<tr id=\"step-").count(), steps.len());
    }
}

/// Every tag that is opened is closed, in order.
fn assert_balanced(text: &str) {
    const EMPTY: [&str; 2] = ["input", "meta"];
    let mut open = Vec::new();
    for tag in text.split('<').skip(1) {
        let inside = tag.split('>').next().expect("a tag ends");
        let name = inside.trim_start_matches('/').split([' ', '/']).next().expect("a name");
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{inside}");
        } else if !inside.ends_with('/') && !EMPTY.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn who_set_a_variable_is_told_only_if_it_is_sure() {
    let text = "byte x; active proctype P() { byte y; x = 1; y = 1; x = 2; y = 0; skip; x > 1; assert(x + y == 0) }
        active proctype Q() { byte y; x > 1; y = 1; false }";
    let machine = common::machine(Path::new("m.pml"), text, false);
    let steps = first_run(&machine);
    let told = |keep| {
        let run = describe(&machine, &steps, None, keep).expect("a run");
        let wrong = *run.violations.first().expect("it goes wrong");
        Listing::default().origins(machine.program(), &run, wrong)
    };
    let all =
        "  x has this value since step 3, by P(0)\n  y has this value since step 6, by P(0)\n";
    assert_eq!(told(Keep::ALL), all);
    assert_eq!(told(Keep { first: 1, last: 4 }), "  y has this value since step 6, by P(0)\n");
}
