//! Directed searches against Dijkstra's algorithm, on small random graphs with edges of several steps; and what
//! they do at limits, on graphs without end.

mod graphs;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use graphs::{Graph, Shadowed, Table, below};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_guide::{Guide, NEVER, Room, Way};
use spinward_machine::system::length;
use spinward_machine::{Flow, Sink, Step, Stop, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::directed::Directed;
use spinward_search::directed::beam::beam;
use spinward_search::directed::best_first::{Rank, best_first};
use spinward_search::directed::hill::hill;
use spinward_search::directed::ida::{ida, partial_ida};
use spinward_search::directed::random::random;
use spinward_search::directed::swarm::swarm;
use spinward_search::{Keep, Limit, Limits, Outcome, Request, Stopped};
use spinward_store::Table as Lossy;

fn search(graph: &Graph, rank: Rank, guide: &Table, request: Request) -> Outcome {
    let directed = Directed { guide, bound: None };
    best_first(graph, &mut (), &request, rank, directed, &mut |_| {}).0
}

/// Iterative deepening with a table of all states.
fn deepen(graph: &Graph, weight: f64, guide: &Table, request: &Request) -> Outcome {
    let directed = Directed { guide, bound: None };
    ida(graph, &mut (), request, weight, directed, &mut |_| {}).0
}

/// Searches that may miss something: partial IDA* with tables of three kinds, the second of which is far too
/// small, a beam, hill climbing, random walks and a swarm.
const PARTIAL: usize = 7;

fn search_a_part<S: System<Scratch = ()>>(
    which: usize,
    system: &S,
    guide: &dyn Guide,
    seed: u64,
    request: &Request,
) -> Outcome {
    let directed = Directed { guide, bound: None };
    let (scratch, silent) = (&mut (), &mut |_: &_| {});
    let partial = |table| {
        let (scratch, silent) = (&mut (), &mut |_: &_| {});
        partial_ida(system, scratch, request, 1.0, table, directed, silent).0
    };
    match which {
        0 => partial(Lossy::Bitstate { bytes: 1 << 12, hashes: 3 }),
        1 => partial(Lossy::Bitstate { bytes: 8, hashes: 2 }),
        2 => partial(Lossy::Compact { bytes: 1 << 16, bits: 40 }),
        3 => beam(system, scratch, request, 2, directed, silent).0,
        4 => hill(system, scratch, request, directed, silent).0,
        5 => {
            // Walks round and round would take long.
            let max_depth = request.limits.max_depth.or(Some(40));
            let limits = Limits { max_depth, ..request.limits.clone() };
            let request = &Request { limits, ..request.clone() };
            random(system, scratch, request, seed, directed, silent).0
        }
        _ => {
            let table = Lossy::Bitstate { bytes: 1 << 12, hashes: 3 };
            swarm(system, scratch, request, seed, table, silent).0
        }
    }
}

#[test]
fn runs_are_as_short_as_they_are_said_to_be() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut wrong, mut reopened) = (0, 0);
    for number in 0..5_000 {
        let graph = Graph::random(&mut random);
        let shortest = graph.to_errors()[0];
        for guide in Table::all(&graph, &mut random) {
            let ranks = [Rank::Length(1.0), Rank::Length(3.0), Rank::Estimate];
            for (rank, shortened) in ranks.into_iter().flat_map(|it| [(it, false), (it, true)]) {
                let keep = if number % 2 == 0 { Keep::Exact } else { Keep::Tree };
                let request =
                    Request { errors: 1, shortest: shortened, keep, ..Request::default() };
                let outcome = search(&graph, rank, &guide, request);
                let found = outcome.errors.first().map(|it| length(&it.steps) as u32);
                assert_eq!(found.is_some(), shortest.is_some(), "graph {number}");
                assert_eq!(outcome.is_complete(), shortest.is_none(), "graph {number}");
                let sure = rank == Rank::Length(1.0) && guide.admissible || shortened;
                if let (Some(found), Some(shortest)) = (found, shortest) {
                    wrong += 1;
                    assert!(found >= shortest && (!sure || found == shortest), "graph {number}");
                    assert!(!sure || outcome.errors[0].shortest, "graph {number}");
                    assert!(!outcome.errors[0].shortest || found == shortest, "graph {number}");
                    if rank == Rank::Length(3.0) && guide.admissible {
                        assert!(found <= 3 * shortest, "graph {number}");
                    }
                }
                if guide.consistent && rank == Rank::Length(1.0) {
                    assert_eq!(outcome.counts.reopened, 0, "graph {number}");
                }
                reopened += outcome.counts.reopened;
            }
        }
    }
    assert!(wrong > 10_000 && reopened > 100, "{wrong} runs, {reopened} states reopened");
}

#[test]
fn all_is_seen_if_that_is_asked_for() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    for number in 0..500 {
        let graph = Graph::random(&mut random);
        for guide in Table::all(&graph, &mut random) {
            for rank in [Rank::Length(1.0), Rank::Estimate] {
                let outcome = search(&graph, rank, &guide, Request::default());
                assert_eq!(outcome.counts.states, graph.reachable(), "graph {number}");
                assert!(outcome.is_complete(), "graph {number}");
            }
            let deep = deepen(&graph, 1.0, &guide, &Request::default());
            let directed = Directed { guide: &guide, bound: None };
            let request = &Request::default();
            let wide = beam(&graph, &mut (), request, usize::MAX, directed, &mut |_| {}).0;
            for outcome in [&deep, &wide] {
                assert_eq!(outcome.counts.states, graph.reachable(), "graph {number}");
                assert!(outcome.is_complete(), "graph {number}");
            }
            let errors = |outcome: &Outcome| {
                let mut errors: Vec<_> =
                    outcome.errors.iter().map(|it| format!("{:?}", it.violation)).collect();
                errors.sort();
                errors
            };
            assert_eq!(errors(&deep), errors(&wide), "graph {number}");
            for error in deep.errors.iter().chain(&wide.errors) {
                assert!(graph.replays(error), "graph {number}");
            }
        }
    }
}

#[test]
fn no_run_within_a_bound_is_missed() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    for number in 0..1_000 {
        let graph = Graph::random(&mut random);
        let shortest = graph.to_errors()[0];
        let bound = below(&mut random, 12) as u64;
        for guide in Table::all(&graph, &mut random) {
            for rank in [Rank::Length(1.0), Rank::Estimate] {
                let limits = Limits { max_depth: Some(bound), ..Limits::default() };
                let request = Request { errors: 1, limits, ..Request::default() };
                let outcome = search(&graph, rank, &guide, request);
                let expected = shortest.is_some_and(|it| u64::from(it) <= bound);
                assert_eq!(!outcome.errors.is_empty(), expected, "graph {number}, bound {bound}");
            }
            let limits = Limits { max_depth: Some(bound), ..Limits::default() };
            let request = Request { errors: 1, limits, ..Request::default() };
            let outcome = deepen(&graph, 1.0, &guide, &request);
            let expected = shortest.is_some_and(|it| u64::from(it) <= bound);
            assert_eq!(!outcome.errors.is_empty(), expected, "graph {number}, bound {bound}");
            assert!(!outcome.is_complete() || shortest.is_none(), "graph {number}, bound {bound}");
            for which in 0..PARTIAL {
                let outcome = search_a_part(which, &graph, &guide, 1, &request);
                for error in &outcome.errors {
                    assert!(length(&error.steps) as u64 <= bound, "graph {number}, {which}");
                    assert!(graph.replays(error), "graph {number}, {which}");
                }
                let complete = outcome.is_complete() && which >= 3;
                assert!(!complete || shortest.is_none(), "graph {number}, {which}");
            }
        }
    }
}

#[test]
fn the_best_guide_expands_the_least() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(10);
    let mut expanded = [0; 3];
    for _ in 0..1_000 {
        let graph = Graph::random(&mut random);
        let [exact, near, ..] = Table::all(&graph, &mut random);
        let none =
            Table { estimates: vec![0; graph.edges.len()], admissible: true, consistent: true };
        for (sum, guide) in expanded.iter_mut().zip([&exact, &near, &none]) {
            let request = Request { errors: 1, ..Request::default() };
            *sum += search(&graph, Rank::Length(1.0), guide, request).counts.expanded;
        }
    }
    assert!(expanded[0] < expanded[2], "{expanded:?}");
}

#[test]
fn deepening_finds_shortest_runs() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let (mut wrong, mut reopened) = (0, 0);
    for number in 0..5_000 {
        let graph = Graph::random(&mut random);
        let shortest = graph.to_errors()[0];
        for guide in Table::all(&graph, &mut random) {
            for (weight, shortened) in [(1.0, false), (1.0, true), (0.5, false), (3.0, false)] {
                let keep = if number % 2 == 0 { Keep::Exact } else { Keep::Tree };
                let request =
                    Request { errors: 1, shortest: shortened, keep, ..Request::default() };
                let outcome = deepen(&graph, weight, &guide, &request);
                reopened += outcome.counts.reopened;
                assert_eq!(outcome.is_complete(), shortest.is_none(), "graph {number}");
                let found = outcome.errors.first();
                assert_eq!(found.is_some(), shortest.is_some(), "graph {number}");
                let (Some(found), Some(shortest)) = (found, shortest) else { continue };
                wrong += 1;
                assert!(graph.replays(found), "graph {number}");
                let steps = length(&found.steps) as u32;
                let sure = weight <= 1.0 && guide.admissible || shortened;
                assert_eq!(found.shortest, sure, "graph {number}");
                assert!(steps >= shortest && (!sure || steps == shortest), "graph {number}");
                assert!(!guide.admissible || steps <= 3 * shortest, "graph {number}");
            }
        }
    }
    assert!(wrong > 10_000 && reopened > 100, "{wrong} runs, {reopened} states reopened");
}

#[test]
fn who_looks_at_a_part_tells_the_truth() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
    let mut missed = [0; PARTIAL];
    for number in 0..1_000 {
        let graph = Graph::random(&mut random);
        let shortest = graph.to_errors()[0];
        for guide in Table::all(&graph, &mut random) {
            for (which, missed) in missed.iter_mut().enumerate() {
                let request = Request { errors: 1, ..Request::default() };
                let outcome = search_a_part(which, &graph, &guide, number, &request);
                let told = format!("graph {number}, search {which}");
                assert!(
                    outcome.errors.iter().all(|it| graph.replays(it) && !it.shortest),
                    "{told}"
                );
                assert!(shortest.is_some() || outcome.errors.is_empty(), "{told}");
                let found = outcome.errors.len() == 1;
                *missed += u32::from(shortest.is_some() && !found);
                assert_eq!(outcome.stopped == Some(Stopped::Errors), found, "{told}");
                // Whoever may lose states tells so beside the outcome.
                assert!(!outcome.is_complete() || shortest.is_none() || which == 1, "{told}");
                assert!(!outcome.is_complete() || which != 5, "{told}");
                if let Some(Stopped::LeftOut(Some(left_out))) = outcome.stopped {
                    assert!(left_out > 0 && left_out < outcome.counts.states, "{told}");
                }
            }
        }
    }
    assert_eq!([missed[0], missed[2], missed[6]], [0; 3], "{missed:?}");
    assert!(missed[1] > 0 && missed[3] > 0 && missed[4] > 0, "{missed:?}");
}

#[test]
fn a_wide_beam_misses_nothing() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
    for number in 0..1_000 {
        let graph = Graph::random(&mut random);
        let shortest = graph.to_errors()[0];
        for guide in Table::all(&graph, &mut random) {
            let directed = Directed { guide: &guide, bound: None };
            let request = Request { errors: 1, ..Request::default() };
            let outcome = beam(&graph, &mut (), &request, 1_000, directed, &mut |_| {}).0;
            assert_eq!(outcome.errors.len() == 1, shortest.is_some(), "graph {number}");
            assert_eq!(outcome.is_complete(), shortest.is_none(), "graph {number}");
            assert!(outcome.errors.iter().all(|it| graph.replays(it)), "graph {number}");
        }
    }
}

/// What must not depend on threads.
fn told(outcome: &Outcome) -> String {
    let counts = spinward_search::Counts { memory: 0, ..outcome.counts };
    format!("{:?} {counts:?} {:?} {}", outcome.errors, outcome.stopped, outcome.truncated)
}

#[test]
fn chance_is_the_same_for_a_seed_and_any_threads() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(14);
    let mut differ = [0; 2];
    for _ in 0..100 {
        let graph = Graph::random(&mut random);
        let [_, guide, ..] = Table::all(&graph, &mut random);
        for (which, differ) in [5, 6].into_iter().zip(&mut differ) {
            for errors in [0, 1, 2] {
                let by = |seed, threads| {
                    let request = Request { errors, threads, ..Request::default() };
                    told(&search_a_part(which, &graph, &guide, seed, &request))
                };
                let one = by(1, 1);
                for threads in [1, 2, 3, 8] {
                    assert_eq!(one, by(1, threads), "search {which}");
                }
                *differ += u32::from(one != by(2, 1));
            }
        }
    }
    assert!(differ.iter().all(|&differ| differ > 50), "{differ:?}");
}

/// Estimates more or less than another guide, as states were reached.
struct Wayward<'t>(&'t Table);

impl Guide for Wayward<'_> {
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        let odd = way.before % 2 + u32::from(state[0] % 4);
        match self.0.estimate(state, way, room) {
            NEVER => NEVER,
            estimate => estimate + odd,
        }
    }
}

/// Knows nothing at first, after so many moves half of what another guide does, and after twice as many all of it.
struct Waking<'t> {
    table: &'t Table,
    after: u64,
    stage: AtomicU64,
}

impl<'t> Waking<'t> {
    fn new(table: &'t Table, after: u64) -> Self {
        Self { table, after, stage: AtomicU64::new(0) }
    }

    fn stage(&self) -> u64 {
        self.stage.load(Ordering::Relaxed)
    }
}

impl Guide for Waking<'_> {
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        match (self.stage(), self.table.estimate(state, way, room)) {
            (0, _) => 0,
            (1, estimate) if estimate != NEVER => estimate / 2,
            (_, estimate) => estimate,
        }
    }

    fn is_admissible(&self) -> bool {
        self.table.admissible
    }

    fn is_consistent(&self) -> bool {
        self.table.consistent
    }

    fn rules_out(&self) -> bool {
        self.stage() > 0 && self.table.admissible
    }

    fn is_better_after(&self, moves: u64) -> bool {
        moves >= self.after * (self.stage() + 1) && self.stage() < 2
    }

    fn improve(&self) {
        self.stage.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_guide_may_come_to_know_more() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(16);
    let mut woken = [0; 2];
    for number in 0..3_000 {
        let graph = Graph::random(&mut random);
        let shortest = graph.to_errors()[0];
        for table in Table::all(&graph, &mut random) {
            for after in [1, 4, 16] {
                let request = &Request { errors: 1, ..Request::default() };
                for rank in [Some(Rank::Length(1.0)), Some(Rank::Estimate), None] {
                    let guide = &Waking::new(&table, after);
                    let directed = Directed { guide, bound: None };
                    let (scratch, silent) = (&mut (), &mut |_: &_| {});
                    let outcome = match rank {
                        Some(rank) => {
                            best_first(&graph, scratch, request, rank, directed, silent).0
                        }
                        None => ida(&graph, scratch, request, 1.0, directed, silent).0,
                    };
                    let found = outcome.errors.first();
                    assert_eq!(found.is_some(), shortest.is_some(), "graph {number}, {rank:?}");
                    let is_sure = found.is_some() || outcome.is_complete();
                    assert!(is_sure, "graph {number}, {rank:?}");
                    assert!(found.is_none_or(|it| graph.replays(it)), "graph {number}, {rank:?}");
                    (0..guide.stage()).for_each(|stage| woken[stage as usize] += 1);
                    if rank != Some(Rank::Estimate) && table.admissible {
                        let steps = found.map(|it| length(&it.steps) as u32);
                        assert_eq!(steps, shortest, "graph {number}, {rank:?}");
                    }
                    if rank == Some(Rank::Length(1.0)) && table.consistent {
                        assert_eq!(outcome.counts.reopened, 0, "graph {number}");
                    }
                }
            }
        }
    }
    assert!(woken.iter().all(|it| *it > 10_000), "{woken:?}");
}

/// What a best-first search tells, the range of the estimates included.
fn best_first_told<S: System<Scratch = ()>>(
    system: &S,
    guide: &dyn Guide,
    rank: Rank,
    request: &Request,
) -> (String, u64) {
    let directed = Directed { guide, bound: Some(guide) };
    let (outcome, range) = best_first(system, &mut (), request, rank, directed, &mut |_| {});
    (format!("{} {range:?}", told(&outcome)), outcome.counts.expanded)
}

#[test]
fn the_best_first_are_the_same_for_any_threads() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(15);
    let mut helped = 0;
    for seed in 0..24 {
        let states = 1_000 + below(&mut random, 3_000);
        let graph = Graph::of(&mut random, states, [10, 100, 2_000][seed % 3]);
        let limits = Limits {
            max_depth: (seed % 4 == 1).then(|| 10 + below(&mut random, 20) as u64),
            max_states: (seed % 4 == 2).then(|| 300 + below(&mut random, 1_000) as u64),
            ..Limits::default()
        };
        let keep = if seed % 2 == 0 { Keep::Exact } else { Keep::Tree };
        for guide in Table::all(&graph, &mut random) {
            for rank in [Rank::Length(1.0), Rank::Length(3.0), Rank::Estimate] {
                for (errors, shortest) in [(0, false), (1, false), (1, true), (3, false)] {
                    let by = |threads| {
                        let limits = limits.clone();
                        let request =
                            &Request { errors, shortest, keep, threads, limits, reduces: false };
                        let shadowed = &Shadowed(&graph);
                        [
                            best_first_told(&graph, &guide, rank, request),
                            best_first_told(shadowed, &Wayward(&guide), rank, request),
                            best_first_told(&graph, &Waking::new(&guide, 900), rank, request),
                        ]
                    };
                    let one = by(1);
                    helped += one.iter().filter(|it| it.1 > 400).count();
                    for threads in [2, 3, 8] {
                        assert_eq!(one, by(threads), "graph {seed}, {rank:?}, {threads} threads");
                    }
                }
            }
        }
    }
    assert!(helped > 500, "{helped}");
}

/// A tree with hardly an end, of states that take some room.
struct Endless;

impl System for Endless {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.clear();
        out.resize(40, 1);
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        let number = u64::from_le_bytes(state[..8].try_into().unwrap());
        let step = Step { process: 0, transition: TransitionId(0) };
        for bit in 0..2 {
            let mut next = state.to_vec();
            let after = number.rotate_left(1) ^ bit ^ (number >> 40);
            next[..8].copy_from_slice(&after.to_le_bytes());
            sink.successor(&next, &[step])?;
        }
        Flow::Continue(())
    }
}

/// Less and less, and never the end.
struct Slope;

impl Guide for Slope {
    fn estimate(&self, _: &[u8], way: Way<'_>, _: &mut Room) -> u32 {
        if way.steps.is_empty() { 1 << 30 } else { way.before - way.before % 2 + 1 }
    }

    fn is_admissible(&self) -> bool {
        false
    }

    fn is_consistent(&self) -> bool {
        false
    }
}

/// All searches, on a graph without end.
fn endless(which: usize, limits: Limits) -> Outcome {
    let request = &Request { errors: 1, limits, threads: 2, ..Request::default() };
    let directed = Directed { guide: &Slope, bound: None };
    let best_first_by =
        |rank| best_first(&Endless, &mut (), request, rank, directed, &mut |_| {}).0;
    match which - which.min(PARTIAL - 1) {
        1 => ida(&Endless, &mut (), request, 1.0, directed, &mut |_| {}).0,
        2 => best_first_by(Rank::Length(1.0)),
        3 => best_first_by(Rank::Estimate),
        _ => search_a_part(which, &Endless, &Slope, 3, request),
    }
}

/// Says that it knows more after some moves, and then may ask to stop.
struct Late {
    after: u64,
    stop: Option<Arc<Stop>>,
    is_awake: AtomicBool,
    /// How often it was asked since.
    asked: AtomicU64,
}

impl Late {
    fn new(after: u64, stop: Option<Arc<Stop>>) -> Self {
        Self { after, stop, is_awake: AtomicBool::new(false), asked: AtomicU64::new(0) }
    }
}

impl Guide for Late {
    fn estimate(&self, _: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
        self.asked.fetch_add(self.is_awake.load(Ordering::Relaxed).into(), Ordering::Relaxed);
        0
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        true
    }

    fn is_better_after(&self, moves: u64) -> bool {
        moves >= self.after && !self.is_awake.load(Ordering::Relaxed)
    }

    fn improve(&self) {
        self.is_awake.store(true, Ordering::Relaxed);
        self.stop.iter().for_each(|it| it.ask());
    }
}

#[test]
fn better_estimates_are_left_if_there_is_no_room_or_time_for_them() {
    let search = |guide: &Late, limits: Limits| {
        let request = &Request { errors: 1, limits, ..Request::default() };
        let directed = Directed { guide, bound: None };
        let rank = Rank::Length(1.0);
        best_first(&Endless, &mut (), request, rank, directed, &mut |_| {}).0
    };
    let mut left = 0;
    for step in 0..24 {
        let limits = || Limits { memory: Some(1_000_000 + step * 150_000), ..Limits::default() };
        let all = search(&Late::new(u64::MAX, None), limits()).counts;
        for part in [2, 3] {
            let guide = &Late::new(all.transitions / 4 * part, None);
            let outcome = search(guide, limits());
            assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
            let (expanded, most) = (outcome.counts.expanded, all.expanded);
            assert!(10 * expanded >= 9 * most, "{step}, {part}: {expanded} of {most}");
            left += u32::from(!guide.is_awake.load(Ordering::Relaxed));
        }
    }
    assert!((1..48).contains(&left), "{left}");
    let limits = Limits::default();
    let guide = &Late::new(100_000, Some(limits.stop.clone()));
    assert_eq!(search(guide, limits).stopped, Some(Stopped::Limit(Limit::Interrupt)));
    let asked = guide.asked.load(Ordering::Relaxed);
    assert!(guide.is_awake.load(Ordering::Relaxed) && asked < 1_000, "{asked}");
}

#[test]
fn every_limit_ends_every_search() {
    for which in 0..=PARTIAL + 2 {
        let begun = Instant::now();
        let limits = Limits { time: Some(Duration::from_millis(200)), ..Limits::default() };
        // Numbers may have no end either, so that there is room for some time only.
        let limits = Limits { memory: Some(1 << 28), ..limits };
        let outcome = endless(which, limits);
        assert!(begun.elapsed() < Duration::from_secs(20), "search {which}");
        let lossy = [0, 1, 6].contains(&which);
        let is_over = matches!(outcome.stopped, Some(Stopped::Limit(_)));
        let is_part = matches!(outcome.stopped, Some(Stopped::LeftOut(_)));
        assert!(is_over || is_part || lossy, "{which}: {:?}", outcome.stopped);

        let limits = Limits { max_states: Some(100), ..Limits::default() };
        let outcome = endless(which, limits);
        if which != 1 {
            assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::States)), "search {which}");
        }
        let searches = if which == 6 { 8 } else { 1 };
        assert!(outcome.counts.states <= 100 * searches, "{which}: {}", outcome.counts.states);

        for memory in [0, 1_000, 100_000, 1_000_000] {
            let limits = Limits { memory: Some(memory), ..Limits::default() };
            let limits = Limits { max_states: Some(10_000), ..limits };
            let outcome = endless(which, limits);
            assert!(outcome.counts.memory <= memory, "{which}: {}", outcome.counts.memory);
            let is_small = memory < 8 && which != 5;
            let is_out = outcome.stopped == Some(Stopped::Limit(Limit::Memory));
            assert!(!is_small || is_out, "{which}: {:?}", outcome.stopped);
        }

        let limits = Limits { max_depth: Some(9), ..Limits::default() };
        let outcome = endless(which, limits);
        assert!(!outcome.is_complete() && outcome.counts.depth <= 9, "search {which}");
        let is_partial = matches!(outcome.stopped, Some(Stopped::LeftOut(_)));
        assert!(is_partial || outcome.truncated, "{which}: {:?}", outcome.stopped);
    }
}

/// Endless, but the threads that help a search do not survive it.
struct Deadly;

impl System for Deadly {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        Endless.initial(out);
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        assert_ne!(std::thread::current().name(), Some("search"), "a helper panics");
        Endless.expand(state, &mut (), sink)
    }
}

#[test]
#[should_panic(expected = "a helper panics")]
fn a_helper_that_panics_does_not_get_lost() {
    let limits = Limits { time: Some(Duration::from_secs(20)), ..Limits::default() };
    let request = &Request { errors: 1, limits, threads: 3, ..Request::default() };
    let directed = Directed { guide: &Slope, bound: None };
    best_first(&Deadly, &mut (), request, Rank::Estimate, directed, &mut |_| {});
}

#[test]
fn what_an_iteration_took_is_there_for_the_next() {
    let edges = |state: u16| if state < 250 { vec![(state + 1, 1, false)] } else { Vec::new() };
    let chain = Graph { edges: (0..=250).map(edges).collect(), bad: vec![false; 251] };
    let none = Table { estimates: vec![0; 251], admissible: true, consistent: true };
    let limits = Limits { memory: Some(4 << 20), ..Limits::default() };
    let request = Request { errors: 1, limits, ..Request::default() };
    for outcome in
        [deepen(&chain, 1.0, &none, &request), search_a_part(0, &chain, &none, 0, &request)]
    {
        assert!(outcome.is_complete(), "{:?}", outcome.stopped);
        assert_eq!(outcome.counts.states, 251);
        assert_eq!(outcome.counts.expanded, (1..=251).sum::<u64>());
    }
}

#[test]
fn what_a_limit_left_unseen_may_be_shorter() {
    let edges = vec![vec![(3, 5, true), (1, 1, false)], vec![(2, 1, false)], vec![(3, 1, true)]];
    let graph = Graph { edges, bad: vec![false; 3] };
    let none = Table { estimates: vec![0; 3], admissible: true, consistent: true };
    let by = |max_states| {
        let limits = Limits { max_states, ..Limits::default() };
        let request = Request { errors: 1, limits, ..Request::default() };
        let error = search(&graph, Rank::Length(1.0), &none, request).errors.remove(0);
        (error.steps.len(), error.shortest)
    };
    assert_eq!(by(Some(2)), (5, false));
    assert_eq!(by(None), (3, true));
}

/// Six counters that go up to six, in states that take some room; all of them at once is wrong.
struct Cube;

impl System for Cube {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        *out = vec![0; 40];
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        if state[..6].iter().all(|&it| it == 6) {
            sink.violation(Violation::InvalidEndState, &[])?;
        }
        for counter in (0..6).filter(|&it| state[it] < 6) {
            let mut next = state.to_vec();
            next[counter] += 1;
            sink.successor(&next, &[Step { process: 0, transition: TransitionId(0) }])?;
        }
        Flow::Continue(())
    }
}

/// Half of the way.
impl Guide for Cube {
    fn estimate(&self, state: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
        state[..6].iter().map(|&it| u32::from(6 - it)).sum::<u32>() / 2
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        true
    }
}

#[test]
fn bits_find_an_error_where_all_states_are_too_many() {
    let limits = Limits { memory: Some(4 << 20), ..Limits::default() };
    let request = Request { errors: 1, limits, ..Request::default() };
    let directed = Directed { guide: &Cube, bound: None };
    let rank = Rank::Length(1.0);
    let all = best_first(&Cube, &mut (), &request, rank, directed, &mut |_| {}).0;
    assert_eq!((all.errors.len(), all.stopped), (0, Some(Stopped::Limit(Limit::Memory))));
    let table = Lossy::Bitstate { bytes: 1 << 20, hashes: 3 };
    let bits = partial_ida(&Cube, &mut (), &request, 1.0, table, directed, &mut |_| {}).0;
    assert_eq!(bits.errors.len(), 1, "{:?}", bits.stopped);
    assert!(bits.errors[0].steps.len() == 36 && !bits.errors[0].shortest);
}
