//! Directed searches against Dijkstra's algorithm, on small random graphs with edges of several steps.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_guide::{Guide, NEVER, Room, Way};
use spinward_machine::system::length;
use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::directed::Directed;
use spinward_search::directed::best_first::{Rank, best_first};
use spinward_search::sweep::{Answered, sweep};
use spinward_search::{Keep, Limits, Outcome, Request};

/// Edges lead to a state by some steps; some of them are wrong after their last step, and some states are.
struct Graph {
    edges: Vec<Vec<(u8, usize, bool)>>,
    bad: Vec<bool>,
}

/// A number below another.
fn below(random: &mut Xoshiro256PlusPlus, end: usize) -> usize {
    (random.next_u64() % end as u64) as usize
}

impl Graph {
    fn random(random: &mut Xoshiro256PlusPlus) -> Self {
        let states = 2 + below(random, 24);
        let edges = (0..states).map(|_| {
            let edges = (0..below(random, 4)).map(|_| {
                let wrong = below(random, 25) == 0;
                (below(random, states) as u8, 1 + below(random, 4), wrong)
            });
            edges.collect()
        });
        let edges = edges.collect();
        Self { edges, bad: (0..states).map(|_| below(random, 12) == 0).collect() }
    }

    /// By state: the length of the shortest run to an error.
    fn to_errors(&self) -> Vec<Option<u32>> {
        let mut distances: Vec<Option<u32>> =
            self.bad.iter().map(|&bad| bad.then_some(0)).collect();
        loop {
            let mut changed = false;
            for (state, edges) in self.edges.iter().enumerate() {
                for &(to, steps, wrong) in edges {
                    let more = if wrong { Some(0) } else { distances[to as usize] };
                    let total = more.map(|more| more + steps as u32);
                    if total.is_some_and(|it| distances[state].is_none_or(|known| it < known)) {
                        distances[state] = total;
                        changed = true;
                    }
                }
            }
            if !changed {
                return distances;
            }
        }
    }

    /// How many states can be reached, a wrong edge not being one.
    fn reachable(&self) -> u64 {
        let mut seen = vec![false; self.edges.len()];
        let mut open = vec![0];
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut seen[state], true) {
                open.extend(self.edges[state].iter().filter(|it| !it.2).map(|it| it.0 as usize));
            }
        }
        seen.iter().filter(|&&seen| seen).count() as u64
    }
}

impl System for Graph {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        *out = vec![0];
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        let state = state[0];
        if self.bad[state as usize] {
            sink.violation(Violation::InvalidEndState, &[])?;
        }
        for &(to, steps, wrong) in &self.edges[state as usize] {
            let step = Step { process: 0, transition: TransitionId(u32::from(state)) };
            let steps = vec![step; steps];
            if wrong {
                sink.violation(Violation::Assertion(TransitionId(u32::from(to))), &steps)?;
            } else {
                sink.successor(&[to], &steps)?;
            }
        }
        Flow::Continue(())
    }
}

/// Estimates by state.
struct Table {
    estimates: Vec<u32>,
    admissible: bool,
    consistent: bool,
}

impl Guide for Table {
    fn estimate(&self, state: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
        self.estimates[state[0] as usize]
    }

    fn is_admissible(&self) -> bool {
        self.admissible
    }

    fn is_consistent(&self) -> bool {
        self.consistent
    }
}

impl Table {
    /// The true numbers, less than them in a way that keeps steps small, at random less, and any numbers.
    fn all(graph: &Graph, random: &mut Xoshiro256PlusPlus) -> [Self; 4] {
        let exact: Vec<u32> = graph.to_errors().iter().map(|it| it.unwrap_or(NEVER)).collect();
        let part = |part: u32, exact: u32| if exact == NEVER { NEVER } else { exact.min(part) };
        let near = exact.iter().map(|&it| part(5, it)).collect();
        let less = exact.iter().map(|&it| part(below(random, 12) as u32, it)).collect();
        let any = exact.iter().map(|_| below(random, 30) as u32).collect();
        let table = |estimates, admissible, consistent| Self { estimates, admissible, consistent };
        [
            table(exact.clone(), true, true),
            table(near, true, true),
            table(less, true, false),
            table(any, false, false),
        ]
    }
}

fn search(graph: &Graph, rank: Rank, guide: &Table, request: Request) -> Outcome {
    let directed = Directed { guide, bound: None };
    best_first(graph, &mut (), &request, rank, directed, &mut |_| {}).0
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

/// A tree of numbers that are read bit by bit, of which one is wrong at last.
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

#[test]
fn what_a_guide_has_found_is_told_also_if_nobody_else_finds_it() {
    // No search without a guide gets through these states within the memory.
    let needle = Needle { bits: 28, wrong: 0x0765_4321 };
    let limits = Limits { memory: Some(16 << 20), ..Limits::default() };
    let request = Request { errors: 1, limits, threads: 1, ..Request::default() };
    let (outcome, answered) =
        sweep(&needle, &needle, Some(&needle), &mut (), &request, &mut |_| {});
    assert_eq!((outcome.errors.len(), answered), (1, Answered::Greedy));
    assert_eq!(outcome.errors[0].steps.len(), 28);
}

#[test]
fn what_a_guide_has_found_is_told_as_shortly_as_can_be() {
    let needle = Needle { bits: 16, wrong: 0x4321 };
    for keep in [Keep::Exact, Keep::Tree] {
        let request = Request { errors: 1, keep, ..Request::default() };
        let (outcome, answered) =
            sweep(&needle, &needle, Some(&needle), &mut (), &request, &mut |_| {});
        assert_eq!(answered, Answered::BreadthFirst);
        assert!(outcome.errors[0].shortest && outcome.errors[0].steps.len() == 16);
    }
}
