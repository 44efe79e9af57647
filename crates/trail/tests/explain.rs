//! Runs in another order lead to the same, and what is dimmed makes no difference: held against all orders of small
//! runs, and against runs without what is dimmed.

mod common;

use std::collections::HashSet;
use std::path::Path;

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_machine::{Config, Machine, Step, System as _};
use spinward_program::ir::TransitionId;
use spinward_trail::switches::{best_order, switches};
use spinward_trail::{Dependence, confirm, dependence, fewest_switches, replay};

/// One for each thing that decides which steps can change places.
const MODELS: [(&str, &str); 16] = [
    (
        "races",
        "byte x, y; active proctype P() { x = 1; y = x; assert(y < 2) }
         active proctype Q() { byte a; a = 1; x = 2; a = 2 } active proctype R() { byte b; b++; b++ }",
    ),
    (
        "queue",
        "chan c = [2] of { byte }; byte got;
         active proctype P() { c!1; c!2; c!3 } active proctype Q() { byte v; c?v; got = v; c?v; c?v; assert(v != 3) }",
    ),
    (
        "questions about a channel",
        "chan c = [2] of { byte }; byte n;
         active proctype P() { c!1; c!2 } active proctype Q() { c?_; c?_ }
         active proctype R() { n = len(c); full(c); assert(n == 0) }",
    ),
    (
        "sorted and random",
        "chan c = [3] of { byte }; byte v;
         active proctype P() { c!!3; c!!1 } active proctype Q() { c!2 } active proctype R() { c??2; c?v; c?<v>; assert(v == 1) }",
    ),
    (
        "handshakes",
        "chan c = [0] of { byte }; chan d = [0] of { byte };
         active proctype P() { byte a; a = 1; c!a; a = 2 } active proctype Q() { byte v; c?v; d!v; v = 0 }
         active proctype R() { byte w; w = 7; d?w; assert(w == 0) }",
    ),
    (
        "atomic",
        "byte x, y; active proctype P() { atomic { x++; y > 0; x++ }; assert(x < 2) }
         active proctype Q() { byte a; a = 1; y = 1; a = 2 } active proctype R() { d_step { y = 2; y = 1 }; y = 1 }",
    ),
    (
        "births and deaths",
        "byte n; proctype C(byte k) { byte l; l = k; n = n + l }
         init { run C(1); run C(2); n = 5; _nr_pr == 1; assert(n != 8) }",
    ),
    (
        "channels of their own",
        "chan all = [1] of { chan }; proctype C() { chan mine = [0] of { byte }; all!mine; mine?_ }
         init { chan it; run C(); all?it; it!3; run C(); all?it; it!4 }
         active proctype Other() { byte b; b = 1; b = 2; b = 3 }",
    ),
    (
        "else and timeout",
        "byte x, y; active proctype P() { if :: x == 1 -> y = 1 :: else -> y = 2 fi; timeout; assert(y == 1) }
         active proctype Q() { byte a; a = 1; x = 1; a = 2 }",
    ),
    (
        "escapes",
        "byte x; active proctype P() { byte a; { a = 1; a = 2; a = 3; a = 4 } unless { x == 1 -> a = 9 }; assert(a < 9) }
         active proctype Q() { byte b; b = 1; x = 1; b = 2 }",
    ),
    (
        "provided and priorities",
        "byte x = 1, y; active proctype P() provided (x == 1) { y = 1; y = 2; y = 3 }
         active proctype Q() { byte b; b = 1; x = 0; b = 2; x = 1; assert(y == 0) }",
    ),
    (
        "nobody can move",
        "byte y; active proctype P() { byte a; y = 1; a = 2; a = 3; false }
         active proctype Q() { byte b; y = 2; b = 1; false } active proctype R() { byte c; c = y; false }",
    ),
    (
        "two things wrong",
        "byte x, y; active proctype P() { byte a; a = y; x > 0; assert(x == 0); y == 9 }
         active proctype Q() { byte b; b = x; x = 1; y = b + 1; b = 2; y == 9 }",
    ),
    (
        "mistakes of one who only tries",
        "chan q = [0] of { byte }; byte w, c;
         active proctype A() { byte x; w = 1; w = 2; q?<x> } active proctype B() { q!1 }
         active proctype C() { byte k; k = 2; k = 3; do :: c = 1 - c od }",
    ),
    (
        "mistakes of who would answer",
        "chan q = [0] of { byte }; byte a, b; active proctype P() { byte x; a = 1; { q?<x>; x = 2 } unless { b > 3 } }
         active proctype Q() { byte y; y = 1; b = 2; q!b; y = 2 } active proctype R() { byte z; do :: z = 1 - z od }",
    ),
    (
        "rounds",
        "bit a, b; active proctype P() { do :: a = 1; a = 0 od } active proctype Q() { do :: b = 1; b = 0 od }",
    ),
];

fn machine(text: &str) -> Machine {
    common::machine(Path::new("m.pml"), text, false)
}

/// A run in which all is left to chance, until something is wrong or it has come so far. If it comes back to where it
/// was, the cycle starts after so many steps.
fn random_run(machine: &Machine, seed: u64, moves: usize) -> (Vec<Step>, Option<usize>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut scratch = machine.scratch();
    let mut config = machine.start();
    let mut steps = Vec::new();
    let mut seen: Vec<(Config, usize)> = Vec::new();
    for _ in 0..moves {
        if config.exclusive.is_none() {
            if let Some((_, start)) = seen.iter().find(|(known, _)| *known == config) {
                return (steps, Some(*start));
            }
            seen.push((config.clone(), steps.len()));
        }
        let (mut possible, wrong) = machine.moves(&config, &mut scratch);
        // A mistake of one who only tries may be noticed late.
        if possible.is_empty() || !wrong.is_empty() && random.next_u64().is_multiple_of(4) {
            break;
        }
        let chosen = possible.swap_remove(random.next_u64() as usize % possible.len());
        steps.extend_from_slice(&chosen.steps);
        match chosen.next {
            Some(next) if chosen.violations.is_empty() => config = next,
            _ => break,
        }
    }
    (steps, None)
}

/// All orders of the units that keep to what must come before what, found by changing neighbours; none if they are too
/// many.
fn all_orders(parts: &Dependence, most: usize) -> Option<HashSet<Vec<u32>>> {
    let first: Vec<u32> = (0..parts.units.len() as u32).collect();
    let mut found = HashSet::from([first.clone()]);
    let mut waiting = vec![first];
    while let Some(order) = waiting.pop() {
        for place in 1..order.len() {
            let (one, other) = (order[place - 1], order[place]);
            let (before, unit) = (&parts.units[one as usize], &parts.units[other as usize]);
            if before.segment != unit.segment || unit.after.contains(&one) {
                continue;
            }
            let mut swapped = order.clone();
            swapped.swap(place - 1, place);
            if found.insert(swapped.clone()) {
                waiting.push(swapped);
            }
        }
        if found.len() > most {
            return None;
        }
    }
    Some(found)
}

#[test]
fn the_fewest_switches_are_those_of_all_orders() {
    let (mut compared, mut gained) = (0, 0);
    for (name, text) in MODELS {
        let machine = machine(text);
        for seed in 0..150 {
            let (steps, cycle) = random_run(&machine, seed, 9);
            let parts = dependence(&machine, &steps, cycle, &[]).expect("a run");
            let Some(orders) = all_orders(&parts, 400) else { continue };
            let mut fewest = usize::MAX;
            for order in &orders {
                let other = parts.reordered(&steps, order);
                let outcome = replay(&machine, &other, &mut |_| {})
                    .unwrap_or_else(|misfit| panic!("{name}, seed {seed}: {misfit}\n{order:?}"));
                assert_eq!(outcome.last, parts.outcome.last, "{name}, seed {seed}: {order:?}");
                assert_eq!(outcome.violations, parts.outcome.violations, "{name}, seed {seed}");
                fewest = fewest.min(switches(&other));
            }
            let (order, exact) = best_order(&parts, usize::MAX);
            assert!(exact);
            assert!(orders.contains(&order), "{name}, seed {seed}: {order:?}");
            let found = switches(&parts.reordered(&steps, &order));
            assert_eq!(found, fewest, "{name}, seed {seed}");
            // One who may not look far finds some order, if not the best.
            let (order, exact) = best_order(&parts, 0);
            assert!(orders.contains(&order), "{name}, seed {seed}: {order:?}");
            assert!(exact || switches(&parts.reordered(&steps, &order)) >= fewest);
            compared += 1;
            gained += usize::from(fewest < switches(&steps));
        }
    }
    assert!(compared > 1000 && gained > 300, "only {compared} compared, {gained} with a gain");
}

#[test]
fn a_run_in_another_order_shows_the_same() {
    let mut rearranged = 0;
    for (name, text) in MODELS {
        let machine = machine(text);
        for seed in 100..140 {
            let (steps, cycle) = random_run(&machine, seed, 40);
            let before = replay(&machine, &steps, &mut |_| {}).expect("a run");
            let found = fewest_switches(&machine, &steps, cycle, &[]).expect("a run");
            let after = replay(&machine, &found.steps, &mut |_| {}).expect("a run");
            assert_eq!(after.last, before.last, "{name}, seed {seed}");
            assert_eq!(after.violations, before.violations, "{name}, seed {seed}");
            assert!(found.switches <= found.before);
            assert_eq!(found.switches, switches(&found.steps));
            if cycle.is_some() {
                confirm(&machine, &found.steps, None, cycle).expect("still a cycle");
            }
            rearranged += usize::from(found.switches < found.before);
        }
    }
    assert!(rearranged > 100, "only {rearranged}");
}

#[test]
fn without_what_is_dimmed_the_error_is_still_there() {
    let (mut errors, mut shorter, mut cycles) = (0, 0, 0);
    for (name, text) in MODELS {
        let machine = machine(text);
        for seed in 200..400 {
            let (steps, cycle) = random_run(&machine, seed, 40);
            let parts = dependence(&machine, &steps, cycle, &[]).expect("a run");
            let mut wrong: Vec<_> = parts.outcome.violations.iter().copied().map(Some).collect();
            if wrong.is_empty() && cycle.is_none() {
                continue;
            }
            wrong.push(None);
            let dimmed = parts.dimmed(steps.len());
            let kept = |range: std::ops::Range<usize>| -> Vec<Step> {
                range.filter(|&index| !dimmed[index]).map(|index| steps[index]).collect()
            };
            let needed = kept(0..steps.len());
            let start = cycle.map(|start| kept(0..start).len());
            for violation in wrong {
                confirm(&machine, &needed, violation, start)
                    .unwrap_or_else(|misfit| panic!("{name}, seed {seed}: {misfit}"));
            }
            errors += 1;
            cycles += usize::from(cycle.is_some());
            shorter += usize::from(needed.len() < steps.len());
        }
    }
    assert!(errors > 500 && shorter > 200 && cycles > 50, "{errors} {shorter} {cycles}");
}

#[test]
fn who_came_last_to_where_nobody_can_move_makes_no_difference() {
    let machine = machine(
        "byte y; active proctype A() { byte l; y = 1; l = 2; false }
         active proctype B() { y = 2; false }",
    );
    let step = |process, number| Step { process, transition: machine_step(&machine, number) };
    let steps = [step(0, "y = 1"), step(1, "y = 2"), step(0, "l = 2")];
    let found = fewest_switches(&machine, &steps, None, &[]).expect("a run");
    assert_eq!((found.before, found.switches, found.fewest), (2, 1, true));
}

/// The transition of a statement.
fn machine_step(machine: &Machine, text: &str) -> TransitionId {
    let program = machine.program();
    let number = program.transitions.iter().position(|it| program.element(it.element).text == text);
    TransitionId(number.expect("a statement") as u32)
}

#[test]
fn a_long_run_of_many_processes_is_put_in_order() {
    let text = "byte x; active [30] proctype P() { byte a; do :: a++ :: x > 200 -> break od }";
    let machine = machine(text);
    let (steps, _) = random_run(&machine, 1, 1000);
    let found = fewest_switches(&machine, &steps, None, &[]).expect("a run");
    assert_eq!(found.switches, 29, "each goes on to its end");
    assert!(found.fewest);
    assert!(found.before > 900);
}

/// What conditions are along a run.
fn values(machine: &Machine, steps: &[Step], conditions: &[u32]) -> Vec<u64> {
    let mut values = Vec::new();
    let mut look = |state: &[u8]| values.extend(machine.values(state, conditions));
    look(&machine.start().state);
    replay(machine, steps, &mut |event| event.after.iter().for_each(|after| look(&after.state)))
        .expect("a run");
    values
}

#[test]
fn what_a_formula_asks_about_changes_as_before() {
    let text = "byte x, y; ltl f { [] (y > 1 -> x > 1) }
        active proctype P() { byte a; a = 1; x = 1; a = 2; x = 2; a = 3 }
        active proctype Q() { byte b; b = 1; y = 1; b = 2; y = 2; b = 3 }";
    let machine = machine(text);
    let atoms = machine.program().formulas[0].atoms.clone();
    let (mut gained, mut otherwise) = (0, 0);
    for seed in 0..60 {
        let (steps, _) = random_run(&machine, seed, 10);
        let before = values(&machine, &steps, &atoms);
        let watched = fewest_switches(&machine, &steps, None, &atoms).expect("a run");
        assert_eq!(values(&machine, &watched.steps, &atoms), before, "seed {seed}");
        gained += usize::from(watched.switches < watched.before);
        let free = fewest_switches(&machine, &steps, None, &[]).expect("a run");
        otherwise += usize::from(values(&machine, &free.steps, &atoms) != before);
    }
    assert!(gained > 10 && otherwise > 10, "{gained} {otherwise}");
}

#[test]
fn a_claim_follows_a_run_in_another_order() {
    let text = "byte x, y; never { do :: x > 1 && y > 0 -> break :: else od }
        active proctype P() { byte a; a = 1; x++; atomic { a = 2; a = 3 }; x++; a = 4 }
        active proctype Q() { byte b; b = 1; b = 2; y = 1; b = 3 } active proctype R() { byte c; do :: c++ od }";
    let machine = common::machine(Path::new("m.pml"), text, true);
    let (mut gained, mut ended) = (0, 0);
    for seed in 0..60 {
        let (steps, cycle) = random_run(&machine, seed, 40);
        let before = replay(&machine, &steps, &mut |_| {}).expect("a run");
        let found = fewest_switches(&machine, &steps, cycle, &[]).expect("a run");
        let after = replay(&machine, &found.steps, &mut |_| {}).expect("a run");
        assert_eq!((after.last, &after.violations), (before.last, &before.violations));
        ended += usize::from(!after.violations.is_empty());
        gained += usize::from(found.switches < found.before);
    }
    assert!(gained > 20 && ended > 10, "{gained} {ended}");
}
