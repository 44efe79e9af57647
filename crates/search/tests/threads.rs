//! A breadth-first search gives the same answer for every number of threads, and the right one.
//!
//! The graphs are wide enough that threads do share the work.

use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use spinward_machine::system::length;
use spinward_machine::{Flow, Sink, Step, Stop, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::bfs::bfs;
use spinward_search::{Counts, Found, Keep, Limit, Limits, Outcome, Request, Stopped};

const THREADS: [usize; 4] = [1, 2, 3, 8];
const KEEPS: [Keep; 2] = [Keep::Exact, Keep::Tree];

/// What an expansion does besides.
#[derive(Clone, Default)]
enum Mischief {
    #[default]
    None,
    /// Sets the flag when it comes to this state.
    Stop(u32, Arc<Stop>),
    /// Panics at this state.
    Panic(u32),
}

/// A pseudo-random graph with edges of different lengths: mostly a few steps, some none at all, some
/// hundreds. The hidden part of a state is the state it was reached from.
struct Graph {
    seed: u64,
    states: u32,
    mischief: Mischief,
    /// By state: the length of the shortest run to it, if there is one.
    distances: Vec<Option<usize>>,
}

enum Event {
    Successor(u32, Vec<Step>),
    Violation(Violation, Vec<Step>),
}

impl Graph {
    fn new(seed: u64, states: u32) -> Self {
        let mut graph = Self { seed, states, mischief: Mischief::None, distances: Vec::new() };
        graph.distances = graph.dijkstra();
        graph
    }

    /// A random number below `limit`.
    fn random(&self, state: u32, salt: u64, limit: u32) -> u32 {
        let mut word = self.seed ^ u64::from(state) << 20 ^ salt;
        for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0x9e37_79b9_7f4a_7c15] {
            word = (word ^ word >> 29).wrapping_mul(factor);
        }
        ((word >> 32) % u64::from(limit)) as u32
    }

    fn events(&self, state: u32) -> Vec<Event> {
        let mut events = Vec::new();
        if self.random(state, 1, 40) == 0 {
            events.push(Event::Violation(Violation::InvalidEndState, Vec::new()));
        }
        let edges = if state == 0 { 4 } else { self.random(state, 2, 5) };
        for edge in 0..edges {
            let salt = 100 * u64::from(edge) + 10;
            let steps = match self.random(state, salt, 40) {
                0 => 0,
                1 => 200 + self.random(state, salt + 1, 500),
                kind => 1 + kind % 3,
            };
            let claim = std::iter::once(Step::CLAIM);
            let movers = claim.chain(std::iter::repeat_n(0, steps as usize));
            let transition = TransitionId(state << 3 | edge);
            let steps: Vec<_> = movers.map(|process| Step { process, transition }).collect();
            if self.random(state, salt + 2, 100) == 0 {
                let place = TransitionId(self.random(state, salt + 3, 10));
                let end = 1 + self.random(state, salt + 4, steps.len() as u32) as usize;
                events.push(Event::Violation(Violation::Assertion(place), steps[..end].to_vec()));
            }
            events.push(Event::Successor(self.random(state, salt + 5, self.states), steps));
        }
        events
    }

    fn dijkstra(&self) -> Vec<Option<usize>> {
        let mut distances = vec![None; self.states as usize];
        let mut heap = BinaryHeap::from([(std::cmp::Reverse(0), 0)]);
        while let Some((std::cmp::Reverse(distance), state)) = heap.pop() {
            if distances[state as usize].is_none() {
                distances[state as usize] = Some(distance);
                for event in self.events(state) {
                    if let Event::Successor(to, steps) = event {
                        heap.push((std::cmp::Reverse(distance + length(&steps)), to));
                    }
                }
            }
        }
        distances
    }

    /// Whether the steps lead from the initial state to the violation.
    fn replays(&self, found: &Found) -> bool {
        let mut rest = &found.steps[..];
        let mut state = 0;
        'run: loop {
            for event in self.events(state) {
                if matches!(&event, Event::Violation(violation, steps) if *violation == found.violation && steps == rest)
                {
                    return true;
                }
            }
            for event in self.events(state) {
                if let Event::Successor(to, steps) = event
                    && let Some(left) = rest.strip_prefix(&steps[..])
                {
                    (state, rest) = (to, left);
                    continue 'run;
                }
            }
            return false;
        }
    }

    fn encode(from: u32, state: u32) -> Vec<u8> {
        let mut bytes = from.to_le_bytes().to_vec();
        bytes.extend(state.to_le_bytes());
        bytes.resize(8 + state as usize % 20, 0);
        bytes
    }
}

impl System for Graph {
    type Scratch = u64;

    fn scratch(&self) -> u64 {
        0
    }

    fn absorb(&self, scratch: &mut u64, other: u64) {
        *scratch += other;
    }

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend(Self::encode(0, 0));
    }

    fn expand(&self, bytes: &[u8], expanded: &mut u64, sink: &mut dyn Sink) -> Flow {
        let number = |range: std::ops::Range<usize>| {
            u32::from_le_bytes(bytes[range].try_into().expect("four bytes"))
        };
        let (from, state) = (number(0..4), number(4..8));
        let way = self.events(from).into_iter().any(|event| match event {
            Event::Successor(to, steps) => {
                let distance = self.distances[from as usize].map(|it| it + length(&steps));
                to == state && distance == self.distances[state as usize]
            }
            Event::Violation(..) => false,
        });
        assert!(way || state == 0, "the hidden part is that of a shortest run");
        match &self.mischief {
            Mischief::Stop(at, stop) if *at == state => stop.ask(),
            Mischief::Panic(at) if *at == state => panic!("asked to"),
            _ => {}
        }
        *expanded += 1;
        for event in self.events(state) {
            match event {
                Event::Successor(to, steps) => sink.successor(&Self::encode(state, to), &steps)?,
                Event::Violation(violation, steps) => sink.violation(violation, &steps)?,
            }
        }
        Flow::Continue(())
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        &state[4..]
    }
}

fn search(graph: &Graph, request: &Request) -> Outcome {
    bfs(graph, &mut 0, request, &mut |_| {})
}

/// All that must be the same.
type Essence = (Counts, Vec<(String, Vec<Step>, u64, bool)>, Option<Stopped>, bool);

fn essence(outcome: Outcome) -> Essence {
    let errors = outcome.errors.into_iter();
    let errors = errors
        .map(|it| (format!("{:?}", it.violation), it.steps, it.occurrences, it.shortest))
        .collect();
    (Counts { memory: 0, ..outcome.counts }, errors, outcome.stopped, outcome.truncated)
}

/// Makes sure that the answer is the same for all numbers of threads and all stores.
fn same_for_all(graph: &Graph, request: &Request) -> Essence {
    let mut answers = KEEPS.into_iter().flat_map(|keep| {
        THREADS.map(|threads| essence(search(graph, &Request { threads, keep, ..request.clone() })))
    });
    let first = answers.next().expect("several");
    for answer in answers {
        assert_eq!(answer, first);
    }
    first
}

#[test]
fn complete_searches() {
    for (seed, states) in [(1, 30_000), (2, 3000), (3, 300)] {
        let graph = Graph::new(seed, states);
        let mut expanded = 0;
        let request = Request { threads: 3, ..Request::default() };
        let outcome = bfs(&graph, &mut expanded, &request, &mut |_| {});
        let (counts, ..) = same_for_all(&graph, &request);
        assert_eq!(Counts { memory: 0, ..outcome.counts }, counts);
        let reached = graph.distances.iter().flatten().count() as u64;
        assert_eq!((counts.states, counts.expanded), (reached, reached));
        assert!(reached > u64::from(states) / 2);
        // What the threads collected comes together.
        assert!(expanded >= reached);
        assert_eq!(counts.depth as usize, graph.distances.iter().flatten().max().copied().unwrap());
        let places = outcome.errors.len();
        assert!(states < 1000 || places > 8, "{places} places, {reached} states");
        for found in &outcome.errors {
            assert!(graph.replays(found) && found.shortest);
        }
    }
}

#[test]
fn searches_that_end_early() {
    let graph = Graph::new(4, 20_000);
    for errors in [1, 2, 5] {
        let (_, found, stopped, _) =
            same_for_all(&graph, &Request { errors, ..Request::default() });
        assert_eq!((found.len(), stopped), (errors, Some(Stopped::Errors)));
    }
    for max_states in [0, 1, 100, 5000, 9999] {
        let limits = Limits { max_states: Some(max_states), ..Limits::default() };
        let (counts, _, stopped, _) =
            same_for_all(&graph, &Request { limits, ..Request::default() });
        assert_eq!(counts.states, max_states);
        assert_eq!(stopped, Some(Stopped::Limit(Limit::States)));
    }
    for max_depth in [0, 1, 8, 14, 300] {
        let limits = Limits { max_depth: Some(max_depth), ..Limits::default() };
        let (counts, _, stopped, truncated) =
            same_for_all(&graph, &Request { limits, ..Request::default() });
        let within = |it: &&usize| **it as u64 <= max_depth;
        let reached = graph.distances.iter().flatten().filter(within).count() as u64;
        assert_eq!((counts.states, counts.expanded), (reached, reached));
        assert_eq!((stopped, truncated), (None, true));
    }
}

#[test]
fn a_search_is_interrupted_in_the_middle() {
    let mut graph = Graph::new(5, 20_000);
    let all = search(&graph, &Request::default()).counts;
    let at = (0..20_000).find(|&it| graph.distances[it as usize] == Some(12)).unwrap();
    for threads in THREADS {
        let request = Request { threads, ..Request::default() };
        graph.mischief = Mischief::Stop(at, request.limits.stop.clone());
        let outcome = search(&graph, &request);
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Interrupt)));
        assert!((1..all.expanded).contains(&outcome.counts.expanded));
        assert!(outcome.errors.iter().all(|found| graph.replays(found)));
    }
}

#[test]
fn a_panic_of_one_thread_ends_all() {
    let mut graph = Graph::new(6, 20_000);
    let at = (0..20_000).find(|&it| graph.distances[it as usize] == Some(12)).unwrap();
    graph.mischief = Mischief::Panic(at);
    for threads in THREADS {
        let request = Request { threads, ..Request::default() };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            search(&graph, &request);
        }));
        let panic = result.expect_err("the panic comes through");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"asked to"));
    }
}

#[test]
fn memory_ends_cleanly_with_many_threads() {
    let graph = Graph::new(7, 100_000);
    for keep in KEEPS {
        for threads in THREADS {
            for budget in [0, 10_000, 300_000, 1_000_000] {
                let limits = Limits { memory: Some(budget), ..Limits::default() };
                let request = Request { limits, threads, keep, ..Request::default() };
                let outcome = search(&graph, &request);
                assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
                assert!(outcome.counts.memory <= budget);
                assert!(outcome.errors.iter().all(|found| graph.replays(found)));
            }
        }
    }
}

/// Threads that have nothing to do with a first error in an expansion without end are called off.
#[test]
fn nobody_waits_for_what_is_not_needed() {
    struct Endless(AtomicU32);

    impl System for Endless {
        type Scratch = ();

        fn scratch(&self) {}

        fn initial(&self, out: &mut Vec<u8>) {
            out.extend([0; 4]);
        }

        /// A root with many children; the first has an error, the last expands for ever.
        fn expand(&self, state: &[u8], _: &mut (), sink: &mut dyn Sink) -> Flow {
            const STEP: Step = Step { process: 0, transition: TransitionId(0) };
            match u32::from_le_bytes(state.try_into().expect("four bytes")) {
                0 => (1..=1000).try_for_each(|it: u32| sink.successor(&it.to_le_bytes(), &[STEP])),
                1 => sink.violation(Violation::InvalidEndState, &[]),
                1000 => {
                    self.0.fetch_add(1, Ordering::Relaxed);
                    loop {
                        sink.working(0)?;
                    }
                }
                _ => Flow::Continue(()),
            }
        }
    }

    for threads in THREADS {
        let endless = Endless(AtomicU32::new(0));
        let request = Request { errors: 1, threads, ..Request::default() };
        let outcome = bfs(&endless, &mut (), &request, &mut |_| {});
        assert_eq!(outcome.stopped, Some(Stopped::Errors));
        assert_eq!((outcome.counts.expanded, outcome.errors.len()), (2, 1));
    }
}
