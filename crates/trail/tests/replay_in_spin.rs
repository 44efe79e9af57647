//! SPIN replays our trails to the same state. Random runs of small models, one for each thing that
//! SPIN's replay treats in its own way, are written as trails and given to `spin -t`. Where SPIN is
//! not installed only our own replay is tested.

mod common;

use std::process::Command;

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_machine::{Machine, Step, System as _, Violation};
use spinward_program::ir::BodyId;
use spinward_trail::replay::{confirm, replay};
use spinward_trail::spin_listing::{Columns, SpinListing};
use spinward_trail::{Trail, fit, guided};

/// A random run up to its first violation.
fn random_run(machine: &Machine, seed: u64, limit: usize) -> (Vec<Step>, Option<Violation>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut scratch = machine.scratch();
    let mut config = machine.start();
    let mut steps = Vec::new();
    while steps.len() < limit {
        let (moves, wrong) = machine.moves(&config, &mut scratch);
        if moves.is_empty() {
            return (steps, wrong.first().copied());
        }
        let chosen = &moves[(random.next_u64() % moves.len() as u64) as usize];
        steps.extend(&chosen.steps);
        if let Some(violation) = chosen.violations.first() {
            return (steps, Some(*violation));
        }
        config = chosen.next.clone().expect("no violation");
    }
    (steps, None)
}

/// The values and processes of a final state, as SPIN prints it.
fn final_state(listing: &str) -> Vec<String> {
    let start = listing.find("#processes:").expect("a final state");
    let mut lines: Vec<String> = listing[start..]
        .lines()
        .filter(|line| !line.ends_with(" created") && !line.contains("proc  - (never"))
        .map(|line| match line.split_once("proc ") {
            // Where a process stands differs: SPIN names the statement it comes from.
            Some((_, process)) => {
                let name = process.split(')').next().unwrap_or_default();
                format!("proc {}", name.trim())
            }
            // Channels have other numbers: SPIN counts them when they are first used.
            None => match line.split_once(" (") {
                Some((queue, contents)) if queue.trim().starts_with("queue ") => {
                    contents.to_owned()
                }
                _ => line.trim().to_owned(),
            },
        })
        .collect();
    lines.sort();
    lines
}

/// Replays random runs in SPIN.
fn compare(name: &str, text: &str, claim: bool) {
    let spin = Command::new("spin").arg("-V").output().is_ok();
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join(format!("{name}.pml"));
    std::fs::write(&model, text).expect("a file");
    let machine = common::machine(&model, text, claim);
    for seed in 0..12 {
        let (steps, violation) = random_run(&machine, seed, 60);
        let claim: Option<BodyId> = machine.options().claim;
        let trail = Trail::of_run(machine.program(), claim, &steps, None);

        // What we write we can read and replay.
        confirm(&machine, &steps, violation, None).expect("a run replays");
        let parsed = Trail::parse(&trail.to_text()).expect("a trail");
        assert_eq!(guided::options(machine.program(), &parsed).0.claim, claim);
        assert_eq!(fit(&machine, &parsed).expect("it fits").steps, steps);

        if !spin {
            continue;
        }
        let file = folder.path().join("run.trail");
        std::fs::write(&file, trail.to_text()).expect("a file");
        let output = Command::new("spin")
            .args(["-t", "-p", "-k"])
            .arg(&file)
            .arg(&model)
            .current_dir(folder.path())
            .output()
            .expect("spin runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let context = || format!("{name}, seed {seed}:\n{}\n{said}", trail.to_text());
        assert!(!said.contains("transition failed"), "{}", context());
        assert!(!said.contains("invalid statement"), "{}", context());
        assert!(said.contains(&format!("trail ends after {} steps", steps.len())), "{}", context());
        let asserts = matches!(violation, Some(Violation::Assertion(_)));
        assert_eq!(said.contains("assertion violated"), asserts, "{}", context());

        let outcome = replay(&machine, &steps, &mut |_| {}).expect("a run replays");
        let view = machine.view(&outcome.last.state);
        // SPIN shows no state when the last process is gone.
        if !view.processes.is_empty() {
            let ours = SpinListing::new(&machine, Columns::default()).end(&view);
            assert_eq!(final_state(&said), final_state(&ours), "{}", context());
        }
    }
}

#[test]
fn variables_and_choices() {
    let text = "mtype = { red, green };\nmtype m = red;\nbyte a[3];\nbool b;\nint n;\n\
        active proctype P() {\n  do\n  :: n < 9 -> n++; a[n % 3] = n\n  :: b -> b = false; m = green\n\
        :: else -> b = true; break\n  od;\n  L: if :: n > 4 -> goto L :: n++; assert(n != 6) fi\n}\n";
    compare("choices", text, false);
}

#[test]
fn channels_and_rendezvous() {
    let text = "mtype = { ack, nak };\nchan q = [2] of { mtype, byte };\nchan r = [0] of { byte };\n\
        active [2] proctype S() { byte i; do :: q!ack,i; i++ :: q!nak,_pid :: r!i od }\n\
        active proctype R() { byte x; mtype m; do :: q?ack,x :: q?m,eval(1) :: q??nak,x :: r?x\n\
        :: q?<m,x> -> q?_,_ od }\n";
    compare("channels", text, false);
}

#[test]
fn processes_come_and_go() {
    let text = "byte n;\nproctype C(byte i) { n = n + i; n-- }\n\
        init { pid p; do :: _nr_pr < 4 -> p = run C(2) :: (_nr_pr == 1) -> n = 0 od }\n";
    compare("processes", text, false);
}

#[test]
fn atomic_sequences_and_d_steps() {
    let text = "byte x, y;\nchan r = [0] of { byte };\nactive proctype P() { byte k; do\n\
        :: atomic { x++; y = x; if :: x > 3 -> x = 0 :: else fi }\n\
        :: d_step { x = x + 2; do :: x > 5 -> x = x - 3 :: else -> break od; y++ }\n\
        :: atomic { r!x; y = 7 } od }\n\
        active proctype Q() { byte k; do :: atomic { r?k; x = k; y++ } :: d_step { r?k; y = k } od }\n";
    compare("atomic", text, false);
}

#[test]
fn unless_and_timeout() {
    let text = "byte x, y;\nactive proctype P() {\n  { do :: x++ :: y++ od } unless { x > 3 -> x = 0 };\n\
        L: { x = 9; y = 9 } unless (y > 5);\n  timeout -> y = 0; x == 100 }\n";
    compare("unless", text, false);
}

#[test]
fn a_deadlock_and_a_run_without_steps() {
    compare("deadlock", "byte x;\nchan c = [0] of { byte };\ninit { x = 1; c!1 }\n", false);
    compare("at_once", "byte x;\nchan c = [0] of { byte };\ninit { c!1 }\n", false);
}

#[test]
fn a_claim_moves_too() {
    let text = "byte n;\nnever { do :: n < 3 :: n >= 3 -> break od; n > 0 }\n\
        active [2] proctype P() { do :: n++ :: n > 1 -> n-- :: n == 1 -> break od }\n";
    compare("claim", text, true);
}
