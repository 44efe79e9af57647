//! Searches with states on disk against those in memory, on random graphs with edges of several steps: whatever
//! ends them, they go on as if nothing had been.

mod graphs;

use std::fs;
use std::path::Path;

use graphs::{Graph, Shadowed, Table, below};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_disk::{Error, Faults};
use spinward_guide::{Guide, NEVER, Room, Way};
use spinward_machine::system::length;
use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_search::directed::Directed;
use spinward_search::directed::best_first::{Rank, best_first};
use spinward_search::external::{Stages, external, external_of_less, info};
use spinward_search::{Limit, Limits, Outcome, Request, Stopped};
use tempfile::TempDir;

/// So little that states go to disk after some hundred.
const LITTLE: u64 = 160_000;

fn in_memory(graph: &Graph, guide: &Table, request: &Request) -> Outcome {
    let directed = Directed { guide, bound: None };
    best_first(graph, &mut (), request, Rank::Length(1.0), directed, &mut |_| {}).0
}

fn on_disk<S: System<Scratch = ()>>(
    graph: &S,
    guide: &dyn Guide,
    request: &Request,
    folder: &Path,
    faults: Faults,
) -> (Outcome, Stages) {
    let directed = Directed { guide, bound: None };
    let mut stages = Stages::new(folder, faults);
    let mut initial = Vec::new();
    graph.initial(&mut initial);
    let outcome = if graph.key(&initial).len() == initial.len() {
        external(&Padded(graph), &mut (), request, directed, &mut stages, &mut |_| {}).0
    } else {
        external(graph, &mut (), request, directed, &mut stages, &mut |_| {}).0
    };
    (outcome, stages)
}

/// A graph whose states have more bytes, all the same, so that it pays to pack them.
struct Padded<'g, S>(&'g S);

const PADDING: [u8; 22] = [7; 22];

impl<S: System<Scratch = ()>> System for Padded<'_, S> {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        self.0.initial(out);
        out.splice(..0, PADDING);
    }

    fn expand(&self, state: &[u8], (): &mut (), sink: &mut dyn Sink) -> Flow {
        self.0.expand(&state[PADDING.len()..], &mut (), &mut Pad(sink))
    }
}

struct Pad<'s>(&'s mut dyn Sink);

impl Sink for Pad<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.0.successor(&[&PADDING, state].concat(), steps)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.0.violation(violation, steps)
    }
}

fn request(errors: usize, shortest: bool, threads: usize) -> Request {
    let limits = Limits { memory: Some(LITTLE), ..Limits::default() };
    Request { errors, shortest, threads, limits, ..Request::default() }
}

fn graph(random: &mut Xoshiro256PlusPlus, number: usize) -> Graph {
    let states = 2 + below(random, if number.is_multiple_of(2) { 40 } else { 3_000 });
    Graph::of(random, states, 1 + number % 5 * 100)
}

#[test]
fn answers_are_those_of_a_search_in_memory() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
    let (mut spilled, mut wrong, mut reopened) = (0, 0, 0);
    for number in 0..60 {
        let graph = graph(&mut random, number);
        let shortest = graph.to_errors()[0];
        for guide in Table::all(&graph, &mut random) {
            for (errors, is_shortest) in [(0, false), (1, false), (1, true)] {
                let request = request(errors, is_shortest, 1 + number % 3);
                let expected = in_memory(&graph, &guide, &Request::default());
                let folder = TempDir::new().unwrap();
                let (outcome, stages) =
                    on_disk(&graph, &guide, &request, folder.path(), Faults::default());
                let told = format!("graph {number}, {errors} errors, {is_shortest}");
                assert!(stages.failure.is_none(), "{told}: {:?}", stages.failure);
                spilled += u32::from(stages.bytes > 0);
                reopened += outcome.counts.reopened;
                if errors == 0 {
                    assert!(outcome.is_complete(), "{told}: {:?}", outcome.stopped);
                    assert_eq!(outcome.counts.states, graph.reachable(), "{told}");
                    assert_eq!(outcome.errors.len(), expected.errors.len(), "{told}");
                    if guide.consistent {
                        assert_eq!(
                            outcome.counts.transitions, expected.counts.transitions,
                            "{told}"
                        );
                        assert_eq!(outcome.counts.errors, expected.counts.errors, "{told}");
                        assert_eq!(outcome.counts.reopened, 0, "{told}");
                    }
                }
                assert!(outcome.errors.iter().all(|it| graph.replays(it)), "{told}");
                let found = outcome.errors.first().map(|it| length(&it.steps) as u32);
                assert_eq!(found.is_some(), shortest.is_some(), "{told}");
                if let (Some(found), Some(shortest)) = (found, shortest) {
                    wrong += 1;
                    let is_sure = guide.admissible || is_shortest;
                    assert!(found == shortest || !is_sure && found > shortest, "{told}");
                    assert!(errors == 0 || outcome.errors[0].shortest >= is_sure, "{told}");
                    assert!(!outcome.errors[0].shortest || found == shortest, "{told}");
                }
            }
        }
    }
    assert!(spilled > 30 && wrong > 100 && reopened > 10, "{spilled}, {wrong}, {reopened}");
}

#[test]
fn a_bound_on_the_depth_is_kept() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(22);
    for number in 0..60 {
        let graph = graph(&mut random, number);
        let bound = below(&mut random, 30) as u64;
        for guide in Table::all(&graph, &mut random) {
            let mut request = request(0, false, 1);
            request.limits.max_depth = Some(bound);
            let folder = TempDir::new().unwrap();
            let (outcome, _) = on_disk(&graph, &guide, &request, folder.path(), Faults::default());
            request.limits.memory = None;
            let expected = in_memory(&graph, &guide, &request);
            assert_eq!(outcome.counts.states, expected.counts.states, "graph {number}, {bound}");
            assert_eq!(outcome.is_complete(), expected.is_complete(), "graph {number}, {bound}");
            assert_eq!(outcome.errors.len(), expected.errors.len(), "graph {number}, {bound}");
            assert_eq!(outcome.stopped, None, "graph {number}, {bound}");
        }
    }
}

#[test]
fn states_beyond_the_depth_need_no_room() {
    // All that is beyond the bound is many times what fits.
    let leaves = |from: u16| (0..150).map(|leaf| (200 + 150 * from + leaf, 1, false)).collect();
    let mut edges: Vec<Vec<_>> = vec![(1..200).map(|state| (state, 1, false)).collect()];
    edges.extend((1..200).map(leaves));
    edges.resize_with(200 + 150 * 200, Vec::new);
    let bad = vec![false; edges.len()];
    let graph = Graph { edges, bad };
    let guide = Table { estimates: vec![0; graph.bad.len()], admissible: true, consistent: true };
    let mut request = request(0, false, 1);
    request.limits.max_depth = Some(1);
    let folder = TempDir::new().unwrap();
    let (outcome, stages) = on_disk(&graph, &guide, &request, folder.path(), Faults::default());
    assert!(stages.bytes > 0, "all fit");
    assert_eq!((outcome.stopped, outcome.truncated), (None, true));
    assert_eq!(outcome.counts.states, 200);
}

/// Estimates that depend on what is no part of a key.
struct Peeking<'t>(&'t Table);

impl Guide for Peeking<'_> {
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        match self.0.estimate(state, way, room) {
            NEVER => NEVER,
            estimate => estimate + u32::from(state[0] % 4),
        }
    }
}

#[test]
fn states_are_found_again_whatever_their_estimate() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(28);
    let mut spilled = 0;
    for number in 0..20 {
        let graph = graph(&mut random, 2 * number + 1);
        for guide in Table::all(&graph, &mut random) {
            let (request, folder) = (request(0, false, 1), TempDir::new().unwrap());
            let (system, guide) = (Shadowed(&graph), Peeking(&guide));
            let (outcome, stages) =
                on_disk(&system, &guide, &request, folder.path(), Faults::default());
            spilled += u32::from(stages.bytes > 0);
            assert_eq!(outcome.counts.states, graph.reachable(), "graph {number}");
            assert!(outcome.is_complete(), "graph {number}");
        }
    }
    assert!(spilled > 10, "{spilled}");
}

#[test]
fn not_one_state_more_than_asked_for_is_visited() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(26);
    for number in 0..30 {
        let graph = graph(&mut random, number);
        let most = 1 + below(&mut random, graph.reachable() as usize + 2) as u64;
        for guide in Table::all(&graph, &mut random) {
            let mut request = request(0, false, 1 + number % 3);
            request.limits.max_states = Some(most);
            let folder = TempDir::new().unwrap();
            let (outcome, _) = on_disk(&graph, &guide, &request, folder.path(), Faults::default());
            assert_eq!(outcome.counts.states, most.min(graph.reachable()), "graph {number}");
            assert_eq!(outcome.is_complete(), most >= graph.reachable(), "graph {number}");
        }
    }
}

#[test]
fn runs_are_the_same_for_every_number_of_threads() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(27);
    let mut wrong = 0;
    for number in 0..30 {
        let graph = graph(&mut random, number);
        for guide in Table::all(&graph, &mut random).iter().filter(|it| it.consistent) {
            for errors in [0, 1, 2] {
                let told = |threads| {
                    let folder = TempDir::new().unwrap();
                    let mut request = request(errors, false, threads);
                    request.limits.memory = None;
                    let (outcome, _) =
                        on_disk(&graph, guide, &request, folder.path(), Faults::default());
                    let errors = outcome.errors.into_iter();
                    errors.map(|it| (it.violation, it.steps)).collect::<Vec<_>>()
                };
                let alone = told(1);
                wrong += alone.len();
                assert_eq!(told(2), alone, "graph {number}, {errors} errors");
                assert_eq!(told(3), alone, "graph {number}, {errors} errors");
            }
        }
    }
    assert!(wrong > 50, "{wrong}");
}

#[test]
fn who_is_interrupted_goes_on() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(23);
    let mut interrupts = 0;
    for number in 0..20 {
        let graph = graph(&mut random, 2 * number + 1);
        for guide in Table::all(&graph, &mut random) {
            let folder = TempDir::new().unwrap();
            let mut request = request(0, false, 2);
            let expected = in_memory(&graph, &guide, &Request::default());
            let mut most = 0;
            let outcome = loop {
                most += 1 + below(&mut random, 800) as u64;
                request.limits.max_states = Some(most);
                let (outcome, stages) =
                    on_disk(&graph, &guide, &request, folder.path(), Faults::default());
                assert!(stages.failure.is_none(), "{:?}", stages.failure);
                if outcome.stopped != Some(Stopped::Limit(Limit::States)) {
                    break outcome;
                }
                interrupts += 1;
                let info = info(folder.path()).unwrap();
                assert_eq!(info[0].counts.states, outcome.counts.states);
            };
            assert!(outcome.is_complete(), "graph {number}");
            assert_eq!(outcome.counts.states, expected.counts.states, "graph {number}");
            assert_eq!(outcome.errors.len(), expected.errors.len(), "graph {number}");
            assert!(outcome.errors.iter().all(|it| graph.replays(it)), "graph {number}");
        }
    }
    assert!(interrupts > 50, "{interrupts}");
}

#[test]
fn a_full_disk_is_told_and_what_was_saved_is_enough() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(24);
    let (mut full, mut wrong) = (0, 0);
    for number in 0..40 {
        let graph = graph(&mut random, 2 * number + 1);
        let guide = &Table::all(&graph, &mut random)[number % 4];
        let folder = TempDir::new().unwrap();
        let request = request(0, false, 2);
        let room = below(&mut random, 3_000) as u64;
        let faults = Faults::full_after(room);
        let (outcome, stages) = on_disk(&graph, guide, &request, folder.path(), faults);
        if let Some(failure) = stages.failure {
            full += 1;
            assert!(matches!(failure, Error::Full { .. }), "{failure}");
            assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Disk)), "graph {number}");
            wrong += outcome.errors.len();
            assert_eq!(outcome.met, 0, "graph {number}: a run is missing");
            assert!(outcome.errors.iter().all(|it| graph.replays(it)), "graph {number}");
        }
        let (outcome, stages) = on_disk(&graph, guide, &request, folder.path(), Faults::default());
        assert!(stages.failure.is_none(), "{:?}", stages.failure);
        assert_eq!(outcome.counts.states, graph.reachable(), "graph {number}");
        assert!(outcome.is_complete(), "graph {number}");
    }
    assert!(full > 5 && wrong > 5, "{full}, {wrong}");
}

#[test]
fn a_search_for_a_shortest_run_that_did_not_end_is_told() {
    // What leaves out much finds a run soon; the whole is far too large for the memory.
    let line = |length: u16| -> Vec<Vec<_>> {
        (1..=length).map(|next| vec![(next, 1, false)]).chain([Vec::new()]).collect()
    };
    let part = Graph { edges: line(3), bad: vec![false, false, false, true] };
    let leaves = |from: u16| (0..150).map(|leaf| (200 + 150 * from + leaf, 1, false)).collect();
    let mut edges: Vec<Vec<_>> = vec![(1..200).map(|state| (state, 1, false)).collect()];
    edges.extend((1..200).map(leaves));
    edges.resize_with(200 + 150 * 200, Vec::new);
    edges[20_000].push((20_001, 1, false));
    let mut bad = vec![false; edges.len()];
    bad[20_001] = true;
    let whole = Graph { edges, bad };
    let none = |graph: &Graph| {
        let estimates = vec![0; graph.bad.len()];
        Table { estimates, admissible: true, consistent: true }
    };
    let guides = [none(&part), none(&whole)];
    let [of_part, of_whole] = guides.each_ref().map(|guide| Directed { guide, bound: None });
    let (request, folder) = (request(1, true, 1), TempDir::new().unwrap());
    let search = |faults| {
        let mut stages = Stages::new(folder.path(), faults);
        let (part, whole) = ((&part, of_part), (&whole, of_whole));
        let found =
            external_of_less(part, whole, &mut (), &request, &mut stages, &mut |_| {}).0.errors;
        let [error] = &found[..] else { panic!("{} errors", found.len()) };
        (length(&error.steps), error.shortest, stages)
    };
    let (steps, shortest, stages) = search(Faults::full_after(3_000));
    assert_eq!((steps, shortest, stages.cut_short), (3, false, Some(Limit::Disk)));
    assert!(matches!(stages.failure, Some(Error::Full { .. })), "{:?}", stages.failure);
    // What was saved is enough to go on.
    let (_, shortest, stages) = search(Faults::default());
    assert!(stages.failure.is_none(), "{:?}", stages.failure);
    assert!(shortest && stages.cut_short.is_none() && stages.bytes > 0);
}

#[test]
fn what_was_changed_on_disk_is_noticed() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(25);
    let mut noticed = 0;
    for number in 0..60 {
        let graph = graph(&mut random, 2 * number + 1);
        let guide = &Table::all(&graph, &mut random)[number % 4];
        let folder = TempDir::new().unwrap();
        let mut request = request(0, false, 1);
        request.limits.max_states = Some(graph.reachable() / 2);
        on_disk(&graph, guide, &request, folder.path(), Faults::default());
        let inside = folder.path().join("search-1");
        let files: Vec<_> = fs::read_dir(inside).unwrap().map(|it| it.unwrap().path()).collect();
        let Some(file) = files.get(below(&mut random, files.len().max(1))) else { continue };
        let mut bytes = fs::read(file).unwrap();
        if number.is_multiple_of(3) && file.extension().is_some_and(|it| it == "states") {
            fs::remove_file(file).unwrap();
        } else {
            let at = below(&mut random, bytes.len());
            bytes[at] ^= 1 << below(&mut random, 8);
            fs::write(file, &bytes).unwrap();
        }
        request.limits.max_states = None;
        let (outcome, stages) = on_disk(&graph, guide, &request, folder.path(), Faults::default());
        match stages.failure {
            Some(Error::Damaged { path, .. }) => {
                noticed += 1;
                assert_eq!(&path, file, "graph {number}");
                assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Disk)), "graph {number}");
            }
            Some(other) => panic!("graph {number}: {other}"),
            // Not every bit is read again.
            None => assert_eq!(outcome.counts.states, graph.reachable(), "graph {number}"),
        }
    }
    assert!(noticed > 30, "{noticed}");
}
