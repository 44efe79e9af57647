//! Searches of large graphs end cleanly at every limit.

use std::time::{Duration, Instant};

use spinward_machine::{Flow, Sink, Step, Stop, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::bfs::bfs;
use spinward_search::dfs::dfs;
use spinward_search::lossy::lossy;
use spinward_search::stateless::stateless;
use spinward_search::sweep;
use spinward_search::{Limit, Limits, Outcome, Progress, Request, Stopped};
use spinward_store::Table;

/// A binary tree with states of `bytes` bytes. Each state has an assertion that fails on the way to
/// its second successor, if `wrong`.
struct Tree {
    bytes: usize,
    wrong: bool,
    /// The expansion that takes for ever, unless this is set.
    endless: Option<(u64, std::sync::Arc<Stop>)>,
}

impl Tree {
    const STEP: Step = Step { process: 0, transition: TransitionId(7) };

    fn encode(&self, number: u64) -> Vec<u8> {
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.resize(self.bytes, 0);
        bytes
    }
}

impl System for Tree {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend(self.encode(1));
    }

    fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        let number = u64::from_le_bytes(state[..8].try_into().unwrap());
        if let Some((at, stop)) = &self.endless
            && *at == number
        {
            while !stop.is_told() {
                std::thread::yield_now();
            }
            return Flow::Break(());
        }
        let child = |bit: u64| self.encode(number.rotate_left(1) ^ bit ^ (number >> 40));
        sink.successor(&child(0), &[Self::STEP])?;
        if self.wrong {
            sink.violation(Violation::Assertion(TransitionId(7)), &[Self::STEP])?;
        }
        sink.successor(&child(1), &[Self::STEP])
    }
}

fn tree() -> Tree {
    Tree { bytes: 50, wrong: false, endless: None }
}

fn within(limits: Limits) -> Request {
    Request { limits, errors: 1, ..Request::default() }
}

type Search = fn(&Tree, &mut (), &Request, &mut dyn FnMut(&Progress)) -> Outcome;

/// A sweep, and a breadth-first search if something is wrong.
fn sweep(
    tree: &Tree,
    scratch: &mut (),
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    sweep::sweep(tree, tree, None, scratch, request, progress).0
}

/// The request for different numbers of threads, which sweep and breadth-first search use.
fn with_threads(request: Request) -> impl Iterator<Item = Request> {
    [1, 2, 3, 8].into_iter().map(move |threads| Request { threads, ..request.clone() })
}

/// With a table large enough for what is searched here.
fn bitstate<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let table = Table::Bitstate { bytes: 16 << 20, hashes: 3 };
    lossy(system, scratch, request, table, progress).0
}

/// Bytes that a breadth-first search takes for each thread that helps.
const HELPER_BYTES: u64 = 3 << 16;

#[test]
fn the_memory_budget_is_kept() {
    for budget in [0, 1000, 100_000, 3_000_000, 40_000_000] {
        let request = within(Limits { memory: Some(budget), ..Limits::default() });
        let depth_first = dfs(&tree(), &mut (), &request, &mut |_| {});
        let by_threads = |search: Search| {
            let run = move |request: Request| {
                let threads = request.threads as u64;
                (search(&tree(), &mut (), &request, &mut |_| {}), threads)
            };
            with_threads(request.clone()).map(run)
        };
        // Threads that help a breadth-first search have room of their own, which is not for states.
        let left = |threads: u64| budget.saturating_sub((threads - 1) * HELPER_BYTES);
        let in_order = by_threads(bfs).map(|(outcome, threads)| (outcome, left(threads) / 150));
        let in_order = in_order.chain([(depth_first, budget / 250)]);
        // A sweep keeps the states that wait beside those it knows, each thread in chunks of its own.
        let in_any_order = by_threads(sweep).map(|(outcome, _)| (outcome, budget / 500));
        for (outcome, states) in in_order.chain(in_any_order) {
            assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
            assert!(outcome.counts.memory <= budget);
            if budget > 1_000_000 {
                let used = outcome.counts.memory as f64 / budget as f64;
                assert!(used > 0.8, "only {used} of {budget} were used");
                assert!(outcome.counts.states > states, "{} of {states}", outcome.counts.states);
            }
        }
    }
    let request = within(Limits { memory: Some(1_000_000), ..Limits::default() });
    let outcome = stateless(&tree(), &mut (), &request, &mut |_| {});
    assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
    assert!(outcome.counts.memory <= 1_000_000);
}

#[test]
fn a_lossy_search_ends_where_its_memory_does() {
    let search = |table, memory| {
        let request = within(Limits { memory: Some(memory), ..Limits::default() });
        let (outcome, omissions) = lossy(&tree(), &mut (), &request, table, &mut |_| {});
        assert!(outcome.counts.memory <= memory);
        (outcome, omissions)
    };
    // There is no room for the table, then none for the stack beside it.
    let compact = Table::Compact { bytes: 1 << 20, bits: 64 };
    let bitstate = Table::Bitstate { bytes: 1 << 20, hashes: 3 };
    for table in [compact, bitstate] {
        for (memory, states) in [(1 << 19, 0..1), ((1 << 20) + (2 << 16), 10..10_000)] {
            let (outcome, _) = search(table, memory);
            assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
            assert!(states.contains(&outcome.counts.states), "{}", outcome.counts.states);
        }
    }
    // The table of signatures is full; that of bits takes everything for known in the end.
    let (outcome, omissions) = search(compact, 1 << 30);
    assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Table)));
    assert!((125_000..=(1 << 17)).contains(&outcome.counts.states), "{}", outcome.counts.states);
    assert!(omissions.expected < 1e-9);
    let (outcome, omissions) = search(bitstate, 1 << 30);
    assert_eq!(outcome.stopped, None);
    assert!(outcome.counts.states > 2_000_000, "{}", outcome.counts.states);
    assert!(omissions.probability > 0.999);
}

/// Each thread of a breadth-first search holds successors that it did not look up yet, beside all
/// states that are stored; large ones are few.
#[test]
fn large_successors_count_while_the_store_grows() {
    let (bytes, budget) = (240_000, 64_000_000);
    let large = Tree { bytes, ..tree() };
    for request in with_threads(within(Limits { memory: Some(budget), ..Limits::default() })) {
        let outcome = bfs(&large, &mut (), &request, &mut |_| {});
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
        assert!(outcome.counts.memory <= budget);
        let held = outcome.counts.states * bytes as u64;
        assert!((budget / 2..=budget).contains(&held), "{held} of {budget} bytes");
        // Here the states that wait are kept beside the table.
        let outcome = sweep(&large, &mut (), &request, &mut |_| {});
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
        assert!(outcome.counts.memory <= budget);
        assert!(outcome.counts.states * bytes as u64 > budget / 4);
    }
}

#[test]
fn an_error_that_waits_when_a_limit_is_hit_is_not_lost() {
    let wrong = Tree { wrong: true, ..tree() };
    for search in [bfs, dfs, stateless, bitstate] {
        let request = within(Limits { max_states: Some(20), ..Limits::default() });
        let outcome = search(&wrong, &mut (), &request, &mut |_| {});
        assert_eq!(outcome.errors.len(), 1);
        assert!(!outcome.errors[0].steps.is_empty());
    }
    // Depth-first search meets the assertion only after all below the first successor.
    let request = within(Limits { max_states: Some(20), ..Limits::default() });
    let outcome = dfs(&wrong, &mut (), &request, &mut |_| {});
    assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::States)));
}

#[test]
fn time_is_kept_and_progress_is_told() {
    for (search, threads) in [
        (bfs as Search, 1),
        (bfs, 2),
        (sweep, 1),
        (sweep, 2),
        (dfs, 1),
        (stateless, 1),
        (bitstate, 1),
    ] {
        let mut request = within(Limits {
            time: Some(Duration::from_millis(450)),
            memory: Some(2 << 30),
            ..Limits::default()
        });
        request.threads = threads;
        let mut events = Vec::new();
        let start = Instant::now();
        let outcome = search(&tree(), &mut (), &request, &mut |progress: &Progress| {
            events.push(*progress);
        });
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Time)));
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!((1..=4).contains(&events.len()), "{}", events.len());
        assert!(events.is_sorted_by_key(|event| event.counts.states));
        assert!(events.iter().all(|event| event.rate > 0.0));
        assert!(!request.limits.stop.is_told());
    }
}

#[test]
fn an_expansion_without_end_is_given_up_in_time() {
    for (search, threads) in
        [(bfs as Search, 1), (bfs, 2), (sweep, 1), (dfs, 1), (stateless, 1), (bitstate, 1)]
    {
        let limits = Limits { time: Some(Duration::from_millis(300)), ..Limits::default() };
        let stuck = Tree { wrong: true, endless: Some((4, limits.stop.clone())), ..tree() };
        let mut request = within(limits);
        request.errors = 0;
        request.threads = threads;
        let outcome = search(&stuck, &mut (), &request, &mut |_| {});
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Time)));
        assert_eq!(outcome.errors.len(), 1);
    }
}

#[test]
fn the_user_may_stop_it() {
    for search in [bfs, dfs, stateless, bitstate] {
        let request = within(Limits::default());
        request.limits.stop.ask();
        let outcome = search(&tree(), &mut (), &request, &mut |_| {});
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Interrupt)));
        assert!(request.limits.stop.is_told());
    }
}

#[test]
fn a_deep_run_needs_no_recursion() {
    struct Chain;

    impl System for Chain {
        type Scratch = ();

        fn scratch(&self) {}

        fn initial(&self, out: &mut Vec<u8>) {
            out.extend([0; 4]);
        }

        fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
            let number = u32::from_le_bytes(state.try_into().unwrap());
            if number == 300_000 {
                return sink.violation(Violation::InvalidEndState, &[]);
            }
            sink.successor(&(number + 1).to_le_bytes(), &[Tree::STEP])
        }
    }

    for search in [bfs, dfs, stateless, bitstate] {
        let outcome = search(&Chain, &mut (), &within(Limits::default()), &mut |_| {});
        assert_eq!(outcome.counts.states, 300_001);
        assert_eq!(outcome.counts.depth, 300_000);
        assert_eq!(outcome.errors[0].steps.len(), 300_000);
    }
}
