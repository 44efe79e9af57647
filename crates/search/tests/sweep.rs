//! A sweep through more states than one thread is left alone with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use spinward_machine::{Flow, Sink, Step, Stop, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::dfs::dfs;
use spinward_search::sweep::{Answered, sweep};
use spinward_search::{Counts, Limit, Limits, Request, Stopped};

/// Numbers below a limit, of which each leads to some others, as keys of different lengths.
struct Numbers {
    limit: u64,
    /// At multiples of it something is wrong.
    wrong: Option<u64>,
    /// Here the system itself goes wrong.
    panics: Option<u64>,
    expanded: AtomicU64,
}

impl Numbers {
    fn new(wrong: Option<u64>) -> Self {
        Self { limit: 200_003, wrong, panics: None, expanded: AtomicU64::new(0) }
    }

    fn key(number: u64) -> Vec<u8> {
        let mut key = number.to_le_bytes().to_vec();
        key.resize(8 + (number % 40) as usize, 3);
        key
    }

    fn successors(&self, number: u64) -> [u64; 3] {
        [number + 1, 7 * number + 3, number * number + 5].map(|next| next % self.limit)
    }
}

/// Steps of the walks that come first: eight, of 128 steps each.
const WALKED: u64 = 8 * 128;

const STEP: Step = Step { process: 0, transition: TransitionId(0) };

impl System for Numbers {
    type Scratch = u64;

    fn scratch(&self) -> u64 {
        0
    }

    fn absorb(&self, scratch: &mut u64, other: u64) {
        *scratch += other;
    }

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend(Self::key(0));
    }

    fn expand(&self, state: &[u8], scratch: &mut u64, sink: &mut dyn Sink) -> Flow {
        self.expanded.fetch_add(1, Ordering::Relaxed);
        *scratch += 1;
        let number = u64::from_le_bytes(state[..8].try_into().unwrap());
        assert_ne!(Some(number), self.panics, "as asked for");
        if self.wrong.is_some_and(|wrong| number > 0 && number.is_multiple_of(wrong)) {
            sink.violation(Violation::Assertion(TransitionId(3)), &[])?;
        }
        for next in self.successors(number) {
            sink.successor(&Self::key(next), &[STEP])?;
        }
        Flow::Continue(())
    }
}

#[test]
fn every_state_is_expanded_once_by_whatever_thread() {
    for threads in [1, 2, 3, 8] {
        let numbers = Numbers::new(None);
        let request = Request { threads, errors: 1, ..Request::default() };
        let mut scratch = 0;
        let (outcome, told) = sweep(&numbers, &numbers, None, &mut scratch, &request, &mut |_| {});
        assert!(told.answered == Answered::Sweep && outcome.is_complete());
        let Counts { states, transitions, expanded, errors, .. } = outcome.counts;
        assert_eq!((states, expanded), (numbers.limit, numbers.limit));
        assert_eq!((transitions, errors), (1 + 3 * numbers.limit, 0));
        // What the threads collected was put together.
        assert_eq!(scratch, numbers.limit + WALKED);
        assert_eq!(numbers.expanded.into_inner(), numbers.limit + WALKED);
    }
}

#[test]
fn all_errors_are_counted() {
    for threads in [1, 2, 8] {
        let numbers = Numbers::new(Some(1000));
        let request = Request { threads, ..Request::default() };
        let (outcome, told) = sweep(&numbers, &numbers, None, &mut 0, &request, &mut |_| {});
        assert!(told.answered == Answered::BreadthFirst && outcome.is_complete());
        assert_eq!((outcome.counts.states, outcome.counts.errors), (numbers.limit, 200));
        let [error] = &outcome.errors[..] else { panic!("one kind of error") };
        assert!(error.shortest);
        assert_eq!(error.occurrences, 200);
    }
}

#[test]
fn a_limit_leaves_what_the_sweep_has_seen() {
    for threads in [1, 3] {
        let system = Numbers { limit: 30_000_001, ..Numbers::new(Some(7)) };
        let limits = Limits { memory: Some(8 << 20), ..Limits::default() };
        let request = Request { limits, threads, ..Request::default() };
        let (outcome, _) = sweep(&system, &system, None, &mut 0, &request, &mut |_| ());
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
        assert_eq!(outcome.errors.len(), 1);
        // Every seventh or so of the states that were expanded.
        let Counts { states, expanded, errors, .. } = outcome.counts;
        assert!(states > 50_000 && errors > expanded / 8 && errors < expanded / 6);
        assert_eq!(outcome.errors[0].occurrences, errors);
    }
}

#[test]
fn the_first_error_is_the_same_for_every_number_of_threads() {
    let find = |threads| {
        let request = Request { threads, errors: 1, ..Request::default() };
        let numbers = Numbers::new(Some(50_000));
        sweep(&numbers, &numbers, None, &mut 0, &request, &mut |_| {}).0
    };
    let one = find(1);
    assert_eq!(one.stopped, Some(Stopped::Errors));
    for threads in [2, 8] {
        let many = find(threads);
        assert_eq!(many.counts.states, one.counts.states);
        assert_eq!(many.counts.transitions, one.counts.transitions);
        assert_eq!(many.errors[0].steps, one.errors[0].steps);
    }
}

#[test]
fn a_panic_ends_all_threads() {
    for panics in [100_000, 150_000, 200_000] {
        let numbers = Numbers { panics: Some(panics), ..Numbers::new(None) };
        let request = Request { threads: 3, errors: 1, ..Request::default() };
        let run = || sweep(&numbers, &numbers, None, &mut 0, &request, &mut |_| {});
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err();
        assert!(panicked);
    }
}

/// A tree of counters with an error where all are full: far from the start, with very many states
/// nearer than it; a run straight to it is found at once.
struct Counters;

impl System for Counters {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend([0; 12]);
    }

    fn expand(&self, state: &[u8], _: &mut (), sink: &mut dyn Sink) -> Flow {
        if state.iter().all(|&counter| counter == 9) {
            sink.violation(Violation::InvalidEndState, &[])?;
        }
        for counter in (0..state.len()).filter(|&counter| state[counter] < 9) {
            let mut next = state.to_vec();
            next[counter] += 1;
            sink.successor(&next, &[STEP])?;
        }
        Flow::Continue(())
    }
}

#[test]
fn an_error_that_was_met_is_not_lost() {
    let limits = Limits { memory: Some(100 << 20), ..Limits::default() };
    let request = Request { limits, threads: 1, errors: 1, ..Request::default() };
    let (outcome, told) = sweep(&Counters, &Counters, None, &mut (), &request, &mut |_| {});
    assert_eq!(told.answered, Answered::Retraced);
    assert_eq!(outcome.errors[0].steps.len(), 108);
    assert!(!outcome.errors[0].shortest);
}

/// Two counters without end, and an error where both are small. Whoever counts far is told to stop.
struct Endless(Arc<Stop>);

impl System for Endless {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend([0; 16]);
    }

    fn expand(&self, state: &[u8], _: &mut (), sink: &mut dyn Sink) -> Flow {
        let word = |at: usize| u64::from_le_bytes(state[at..at + 8].try_into().unwrap());
        let (first, second) = (word(0), word(8));
        if (first, second) == (20, 15) {
            sink.violation(Violation::InvalidEndState, &[])?;
        }
        if first + second > 20_000 {
            self.0.ask();
        }
        for (first, second) in [(first + 1, second), (first, second + 1)] {
            sink.successor(&[first.to_le_bytes(), second.to_le_bytes()].concat(), &[STEP])?;
        }
        Flow::Continue(())
    }
}

#[test]
fn an_error_that_was_met_is_found_though_the_search_is_interrupted() {
    for errors in [0, 1] {
        let request = Request { threads: 1, errors, ..Request::default() };
        let system = Endless(request.limits.stop.clone());
        let (outcome, _) = sweep(&system, &system, None, &mut (), &request, &mut |_| {});
        assert_eq!(outcome.errors[0].steps.len(), 35, "{errors} errors");
        assert!(outcome.errors[0].shortest);
    }
}

/// A long row of numbers, which a depth-first search takes first, and a full tree beside it. The end of the row is wrong,
/// and one of the leaves.
struct Tree;

/// Levels above the leaves, and numbers in the row.
const LEVELS: u32 = 16;
const ROW: u32 = 20_000;

impl System for Tree {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend([0; 8]);
    }

    fn expand(&self, state: &[u8], _: &mut (), sink: &mut dyn Sink) -> Flow {
        let word = |at: usize| u32::from_le_bytes(state[at..at + 4].try_into().unwrap());
        let (row, leaf) = (word(0), word(4));
        if row == ROW || leaf == 1 << LEVELS | 0x2aaa {
            sink.violation(Violation::InvalidEndState, &[])?;
        }
        let next = match (row, leaf) {
            (0, 0) => vec![(1, 0), (0, 1)],
            (_, 0) if row < ROW => vec![(row + 1, 0)],
            (_, 1..) if leaf >> LEVELS == 0 => vec![(0, 2 * leaf), (0, 2 * leaf + 1)],
            _ => Vec::new(),
        };
        for (row, leaf) in next {
            sink.successor(&[row.to_le_bytes(), leaf.to_le_bytes()].concat(), &[STEP])?;
        }
        Flow::Continue(())
    }
}

#[test]
fn a_long_run_is_bettered() {
    let dfs = dfs(&Tree, &mut (), &Request { errors: 1, ..Request::default() }, &mut |_| {});
    assert_eq!(dfs.errors[0].steps.len(), ROW as usize);
    let request = Request { threads: 1, errors: 1, ..Request::default() };
    let (outcome, told) = sweep(&Tree, &Tree, None, &mut (), &request, &mut |_| {});
    assert_eq!(told.answered, Answered::BreadthFirst);
    assert_eq!(outcome.errors[0].steps.len(), 1 + LEVELS as usize);
    assert!(outcome.errors[0].shortest);
}
