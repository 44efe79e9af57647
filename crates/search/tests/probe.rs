//! A guide that looks for an error while a sweep waits.

use std::sync::atomic::{AtomicU64, Ordering};

use spinward_guide::{Guide, NEVER, Room, Unguided, Way};
use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::sweep::{Answered, Guides, Scout, Told, sweep};
use spinward_search::{Keep, Limits, Outcome, Request};

/// A tree of numbers that are read bit by bit, of which one is wrong at last.
#[derive(Clone, Copy)]
struct Needle {
    bits: u32,
    wrong: u32,
}

impl System for Needle {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        *out = [0u32, 0].iter().flat_map(|it| it.to_le_bytes()).collect();
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        let (number, bits) = needle(state);
        if bits == self.bits {
            if number == self.wrong {
                sink.violation(Violation::InvalidEndState, &[])?;
            }
            return Flow::Continue(());
        }
        for bit in 0..2 {
            let next = [number << 1 | bit, bits + 1];
            let bytes: Vec<u8> = next.iter().flat_map(|it| it.to_le_bytes()).collect();
            sink.successor(&bytes, &[Step { process: 0, transition: TransitionId(bit) }])?;
        }
        Flow::Continue(())
    }
}

/// The number of a state, and how many bits of it are known.
fn needle(state: &[u8]) -> (u32, u32) {
    let word = |at: usize| u32::from_le_bytes(state[at..at + 4].try_into().unwrap());
    (word(0), word(4))
}

impl Guide for Needle {
    fn estimate(&self, state: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
        let (number, bits) = needle(state);
        if number == self.wrong >> (self.bits - bits) { self.bits - bits } else { NEVER }
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        true
    }
}

/// Sweeps, with a guide that knows nothing and one that knows the way, by turns; the latter begins or not.
fn search(needle: Needle, begins: bool, request: &Request) -> (Outcome, Told) {
    let make = |number| -> Option<Box<dyn Guide>> {
        let knows = (number == 0) == begins;
        Some(if knows { Box::new(needle) } else { Box::new(Unguided) })
    };
    let guides = Guides { count: 2, make: &make };
    sweep(&needle, &needle, Some(guides), &mut (), request, &mut |_| {})
}

#[test]
fn what_a_guide_has_found_is_told_also_if_nobody_else_finds_it() {
    // No search without a guide gets through these states within the memory.
    let needle = Needle { bits: 28, wrong: 0x0765_4321 };
    let limits = Limits { memory: Some(48 << 20), ..Limits::default() };
    let request = Request { errors: 1, limits, threads: 1, ..Request::default() };
    let (outcome, told) = search(needle, true, &request);
    assert_eq!((outcome.errors.len(), told.answered), (1, Answered::Scouted));
    assert_eq!(outcome.errors[0].steps.len(), 28);
}

#[test]
fn guides_take_turns() {
    let needle = Needle { bits: 28, wrong: 0x0765_4321 };
    let limits = Limits { memory: Some(64 << 20), ..Limits::default() };
    for threads in [1, 2] {
        let request = Request { errors: 1, limits: limits.clone(), threads, ..Request::default() };
        let (outcome, told) = search(needle, false, &request);
        assert_eq!((outcome.errors.len(), told.met_by), (1, Some(Scout::Guide(1))));
        assert_eq!(outcome.errors[0].steps.len(), 28);
    }
}

#[test]
fn what_a_guide_has_found_is_told_as_shortly_as_can_be() {
    let needle = Needle { bits: 14, wrong: 0x1321 };
    for keep in [Keep::Exact, Keep::Tree] {
        let request = Request { errors: 1, keep, ..Request::default() };
        let (outcome, told) = search(needle, true, &request);
        assert_eq!(told.answered, Answered::BreadthFirst);
        assert!(outcome.errors[0].shortest && outcome.errors[0].steps.len() == 14);
    }
}

/// The same tree; it is counted how often a state is expanded.
struct Counted {
    needle: Needle,
    expanded: AtomicU64,
}

impl System for Counted {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        self.needle.initial(out);
    }

    fn expand(&self, state: &[u8], scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        self.expanded.fetch_add(1, Ordering::Relaxed);
        self.needle.expand(state, scratch, sink)
    }
}

#[test]
fn a_shorter_run_is_not_looked_for_much_longer_than_the_first() {
    let needle = Needle { bits: 20, wrong: 0x4_4321 };
    for threads in [1, 2, 3] {
        let system = Counted { needle, expanded: AtomicU64::new(0) };
        let request = Request { errors: 1, threads, ..Request::default() };
        let make = |number| -> Option<Box<dyn Guide>> {
            Some(if number == 0 { Box::new(needle) } else { Box::new(Unguided) })
        };
        let guides = Guides { count: 2, make: &make };
        let (outcome, told) = sweep(&system, &system, Some(guides), &mut (), &request, &mut |_| {});
        let guide = Some(Scout::Guide(0));
        assert_eq!((told.answered, told.met_by, told.found_by), (Answered::Scouted, guide, guide));
        assert!(outcome.errors[0].steps.len() == 20 && !outcome.errors[0].shortest);
        // A breadth-first search to the end would expand a million.
        let expanded = system.expanded.into_inner();
        assert!(expanded < 100_000, "{expanded}");
    }
}

/// Numbers in a row, in front of a tree that is too large to be swept: the last number is wrong, and the first
/// successor of each is the next.
#[derive(Clone, Copy)]
struct Row {
    last: u32,
}

impl System for Row {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        *out = vec![0; 8];
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        let (number, of_tree) = needle(state);
        if of_tree == 0 && number == self.last {
            return sink.violation(Violation::InvalidEndState, &[]);
        }
        let next = match of_tree {
            0 => [[number + 1, 0], [number, 1]],
            _ => [[number * 2, of_tree + 1], [number * 2 + 1, of_tree + 1]],
        };
        for (at, words) in next.into_iter().enumerate() {
            if words[1] < 24 {
                let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
                let transition = TransitionId(u32::try_from(at).unwrap());
                sink.successor(&bytes, &[Step { process: 0, transition }])?;
            }
        }
        Flow::Continue(())
    }
}

#[test]
fn an_error_that_a_depth_first_search_meets_at_once_is_met_early() {
    let row = Row { last: 400 };
    let make = |_| -> Option<Box<dyn Guide>> { None };
    for threads in [1, 2] {
        let request = Request { errors: 1, threads, ..Request::default() };
        let limits = Limits { max_states: Some(100_000), ..Limits::default() };
        let request = Request { limits, ..request };
        let guides = Guides { count: 0, make: &make };
        let (outcome, told) = sweep(&row, &row, Some(guides), &mut (), &request, &mut |_| {});
        assert_eq!((outcome.errors.len(), told.met_by), (1, Some(Scout::DepthFirst)));
        assert_eq!(outcome.errors[0].steps.len(), 400);
        assert!(told.met.is_some());
    }
}

#[test]
fn what_the_sweep_has_no_memory_for_is_found_by_any_number_of_threads() {
    // Beside the sweep there is little memory, and at other turns for each number of threads.
    let row = Row { last: 90_000 };
    let make = |_| -> Option<Box<dyn Guide>> { None };
    for megabytes in [20, 40, 48, 64] {
        let mut answers = Vec::new();
        for threads in [1, 2, 3] {
            let limits = Limits { memory: Some(megabytes << 20), ..Limits::default() };
            let request = Request { errors: 1, threads, limits, ..Request::default() };
            let guides = Guides { count: 0, make: &make };
            let (outcome, told) = sweep(&row, &row, Some(guides), &mut (), &request, &mut |_| {});
            let steps: Vec<_> = outcome.errors.iter().map(|it| it.steps.len()).collect();
            answers.push((steps, told.answered, told.found_by));
        }
        let expected = (vec![90_000], Answered::Scouted, Some(Scout::DepthFirst));
        assert_eq!(answers, vec![expected; 3], "{megabytes} MB");
    }
}
