//! Each search against a twin that is too simple to be wrong, on small random graphs.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use spinward_machine::system::length;
use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::bfs::bfs;
use spinward_search::dfs::dfs;
use spinward_search::lossy::lossy;
use spinward_search::stateless::stateless;
use spinward_search::sweep::{Answered, sweep};
use spinward_search::{Keep, Limit, Limits, Outcome, Place, Progress, Request, Stopped};
use spinward_store::Table;

/// An edge: where it leads, by how many steps, after which of them something is wrong.
#[derive(Clone, Debug)]
struct Edge {
    to: u8,
    steps: usize,
    wrong: Option<usize>,
}

/// A graph; state 0 is the initial one.
#[derive(Clone, Debug)]
struct Graph {
    edges: Vec<Vec<Edge>>,
    /// By state: something is wrong in it.
    bad: Vec<bool>,
}

impl Graph {
    /// The steps of an edge: each tells where it belongs. The claim moves first.
    fn steps(&self, from: u8, index: usize) -> Vec<Step> {
        let claim = Step {
            process: Step::CLAIM,
            transition: TransitionId(u32::from(from) << 16 | (index as u32) << 8),
        };
        let step = |i: usize| Step {
            process: 0,
            transition: TransitionId(claim.transition.0 | (i as u32 + 1)),
        };
        std::iter::once(claim)
            .chain((0..self.edges[from as usize][index].steps).map(step))
            .collect()
    }

    /// What an expansion of a state brings, in order: where it leads or what is wrong, and by which
    /// steps.
    fn events(&self, state: u8) -> Vec<(Result<u8, Violation>, Vec<Step>)> {
        let mut events = Vec::new();
        if self.bad[state as usize] {
            events.push((Err(Violation::InvalidEndState), Vec::new()));
        }
        for (index, edge) in self.edges[state as usize].iter().enumerate() {
            let steps = self.steps(state, index);
            if let Some(wrong) = edge.wrong {
                // Few different places, so that some errors are met on many ways.
                let violation = Violation::Assertion(TransitionId(u32::from(edge.to) % 3));
                events.push((Err(violation), steps[..2 + wrong].to_vec()));
            }
            events.push((Ok(edge.to), steps));
        }
        events
    }
}

/// Keys have different lengths; before each is the state it was reached from, which is hidden.
fn encode(from: u8, state: u8) -> Vec<u8> {
    let mut bytes = vec![from];
    bytes.resize(2 + state as usize % 3, state);
    bytes
}

impl System for Graph {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend(encode(0, 0));
    }

    fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        let (from, number) = (state[0], state[1]);
        assert!(
            number == 0 || self.edges[from as usize].iter().any(|edge| edge.to == number),
            "the hidden part is that of a way to the state"
        );
        for (event, steps) in self.events(number) {
            match event {
                Ok(to) => sink.successor(&encode(number, to), &steps)?,
                Err(violation) => sink.violation(violation, &steps)?,
            }
        }
        Flow::Continue(())
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        &state[1..]
    }
}

/// The same without what is not part of the key.
struct Bare<'a>(&'a Graph);

impl System for Bare<'_> {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        self.0.initial(out);
        out.remove(0);
    }

    fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        for (event, steps) in self.0.events(state[0]) {
            match event {
                Ok(to) => sink.successor(&encode(0, to)[1..], &steps)?,
                Err(violation) => sink.violation(violation, &steps)?,
            }
        }
        Flow::Continue(())
    }
}

fn graphs(states: u8) -> impl Strategy<Value = Graph> {
    (1..=states).prop_flat_map(|states| {
        let edge = (0..states, 1..4usize, prop::option::weighted(0.15, 0..3usize)).prop_map(
            |(to, steps, wrong)| Edge { to, steps, wrong: wrong.map(|wrong| wrong.min(steps - 1)) },
        );
        let count = states as usize;
        (
            prop::collection::vec(prop::collection::vec(edge, 0..4), count),
            prop::collection::vec(prop::bool::weighted(0.1), count),
        )
            .prop_map(|(edges, bad)| Graph { edges, bad })
    })
}

/// The length of the shortest run to each state that can be reached.
fn distances(graph: &Graph) -> BTreeMap<u8, usize> {
    let mut distances = BTreeMap::from([(0, 0)]);
    loop {
        let before = distances.clone();
        for (&state, &distance) in &before {
            for (event, steps) in graph.events(state) {
                if let Ok(to) = event {
                    let new = distance + length(&steps);
                    let known = distances.entry(to).or_insert(new);
                    *known = new.min(*known);
                }
            }
        }
        if distances == before {
            return distances;
        }
    }
}

/// What an exhaustive search up to a bound counts.
#[derive(Debug, PartialEq)]
struct Expected {
    states: u64,
    transitions: u64,
    errors: u64,
    /// How often each error is met, and the length of the shortest run to it.
    places: BTreeMap<String, (u64, usize)>,
    truncated: bool,
}

fn expected(graph: &Graph, bound: usize) -> Expected {
    let distances = distances(graph);
    let mut expected = Expected {
        states: 0,
        transitions: 1,
        errors: 0,
        places: BTreeMap::new(),
        truncated: false,
    };
    for (&state, &distance) in &distances {
        if distance > bound {
            expected.truncated = true;
            continue;
        }
        expected.states += 1;
        for (event, steps) in graph.events(state) {
            let total = distance + length(&steps);
            match event {
                Ok(_) => expected.transitions += 1,
                Err(_) if total > bound => expected.truncated = true,
                Err(violation) => {
                    expected.errors += 1;
                    let place = expected.places.entry(place(violation)).or_insert((0, total));
                    *place = (place.0 + 1, place.1.min(total));
                }
            }
        }
    }
    expected
}

fn place(violation: Violation) -> String {
    format!("{:?}", Place::of(violation))
}

/// What a search counted, in the same terms; checks all its runs on the way.
fn counted(graph: &Graph, outcome: &Outcome) -> Expected {
    Expected {
        states: outcome.counts.states,
        transitions: outcome.counts.transitions,
        errors: outcome.counts.errors,
        places: outcome
            .errors
            .iter()
            .map(|found| {
                assert!(replays(graph, &found.steps, found.violation), "{found:?}");
                (place(found.violation), (found.occurrences, length(&found.steps)))
            })
            .collect(),
        truncated: outcome.truncated,
    }
}

/// Whether the steps lead from the initial state to the violation.
fn replays(graph: &Graph, steps: &[Step], violation: Violation) -> bool {
    let mut state = 0;
    let mut rest = steps;
    'run: loop {
        if graph.events(state).contains(&(Err(violation), rest.to_vec())) {
            return true;
        }
        for (event, steps) in graph.events(state) {
            if let (Ok(to), Some(left)) = (event, rest.strip_prefix(&steps[..])) {
                state = to;
                rest = left;
                continue 'run;
            }
        }
        return false;
    }
}

/// SPIN's search as in the book, one successor at a time, up to so many different errors.
#[derive(Debug, Default, PartialEq)]
struct Textbook {
    states: u64,
    transitions: u64,
    depth: usize,
    errors: Vec<(String, Vec<Step>)>,
}

impl Textbook {
    fn search(graph: &Graph, errors: usize) -> Self {
        let mut search = Self { transitions: 1, ..Self::default() };
        search.visit(graph, 0, &mut HashSet::new(), &mut Vec::new(), errors);
        search
    }

    /// Whether to go on.
    fn visit(
        &mut self,
        graph: &Graph,
        state: u8,
        seen: &mut HashSet<u8>,
        run: &mut Vec<Step>,
        errors: usize,
    ) -> bool {
        if !seen.insert(state) {
            return true;
        }
        self.states += 1;
        self.depth = self.depth.max(length(run));
        for (event, steps) in graph.events(state) {
            let before = run.len();
            run.extend(steps);
            match event {
                Err(violation) => {
                    let place = place(violation);
                    if self.errors.iter().all(|(known, _)| *known != place) {
                        self.errors.push((place, run.clone()));
                    }
                    if self.errors.len() == errors {
                        return false;
                    }
                }
                Ok(to) => {
                    self.transitions += 1;
                    self.depth = self.depth.max(length(run) - 1);
                    if !self.visit(graph, to, seen, run, errors) {
                        return false;
                    }
                }
            }
            run.truncate(before);
        }
        true
    }
}

/// Visits each state once for each simple run to it.
fn simple_runs(graph: &Graph, state: u8, run: &mut Vec<u8>, distance: usize, bound: usize) -> u64 {
    if run.contains(&state) || distance > bound {
        return 0;
    }
    run.push(state);
    let below: u64 = graph
        .events(state)
        .iter()
        .filter_map(|(event, steps)| Some((event.ok()?, distance + length(steps))))
        .map(|(to, distance)| simple_runs(graph, to, run, distance, bound))
        .sum();
    run.pop();
    1 + below
}

fn keeps() -> impl Strategy<Value = Keep> {
    prop_oneof![Just(Keep::Exact), Just(Keep::Tree)]
}

/// Tables so large that nothing is lost.
fn large_tables() -> impl Strategy<Value = Table> {
    prop_oneof![
        Just(Table::Bitstate { bytes: 1 << 14, hashes: 7 }),
        (32..=64u32).prop_map(|bits| Table::Compact { bytes: 1 << 12, bits }),
    ]
}

/// Tables so small that much is lost, or that they are full.
fn small_tables() -> impl Strategy<Value = Table> {
    prop_oneof![
        (1..20u32).prop_map(|hashes| Table::Bitstate { bytes: 8, hashes }),
        (32..=64u32).prop_map(|bits| Table::Compact { bytes: 64, bits }),
    ]
}

fn request(errors: usize, shortest: bool, bound: Option<usize>, keep: Keep) -> Request {
    Request {
        limits: Limits { max_depth: bound.map(|bound| bound as u64), ..Limits::default() },
        errors,
        shortest,
        keep,
        threads: 2,
        reduces: false,
    }
}

fn quiet() -> impl FnMut(&Progress) {
    |_: &Progress| {}
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn exhaustive_searches_count_alike(graph in graphs(12), keep in keeps()) {
        let expected = expected(&graph, usize::MAX);
        let request = request(0, false, None, keep);
        let bfs = bfs(&graph, &mut (), &request, &mut quiet());
        prop_assert!(bfs.is_complete() && bfs.errors.iter().all(|found| found.shortest));
        prop_assert_eq!(&counted(&graph, &bfs), &expected);

        let bare = Bare(&graph);
        let (swept, told) = sweep(&bare, &bare, None, &mut (), &request, &mut quiet());
        prop_assert!(swept.is_complete());
        prop_assert_eq!(told.answered == Answered::Sweep, bfs.errors.is_empty());
        prop_assert_eq!(&counted(&graph, &swept), &expected);

        let dfs = dfs(&graph, &mut (), &request, &mut quiet());
        prop_assert!(dfs.is_complete());
        let counted = counted(&graph, &dfs);
        let textbook = Textbook::search(&graph, 0);
        prop_assert_eq!(counted.states, textbook.states);
        prop_assert_eq!(counted.transitions, textbook.transitions);
        prop_assert_eq!(dfs.counts.expanded, textbook.states);
        prop_assert_eq!(dfs.counts.depth, textbook.depth as u64);
        prop_assert_eq!(counted.errors, bfs.counts.errors);
        prop_assert_eq!(counted.places.len(), bfs.errors.len());
    }

    #[test]
    fn depth_first_stops_where_spin_does(graph in graphs(12), keep in keeps(), errors in 1..4usize) {
        let textbook = Textbook::search(&graph, errors);
        let outcome = dfs(&graph, &mut (), &request(errors, false, None, keep), &mut quiet());
        let found: Vec<_> = outcome
            .errors
            .iter()
            .map(|found| (place(found.violation), found.steps.clone()))
            .collect();
        prop_assert_eq!(found, &textbook.errors[..]);
        prop_assert_eq!(outcome.counts.states, textbook.states);
        prop_assert_eq!(outcome.counts.transitions, textbook.transitions);
        let enough = textbook.errors.len() == errors;
        prop_assert_eq!(outcome.stopped, enough.then_some(Stopped::Errors));
    }

    #[test]
    fn nothing_within_the_bound_is_missed(graph in graphs(12), keep in keeps(), bound in 0..15usize) {
        let expected = expected(&graph, bound);
        for shortest in [false, true] {
            let request = request(0, shortest, Some(bound), keep);
            let bfs = bfs(&graph, &mut (), &request, &mut quiet());
            prop_assert_eq!(&counted(&graph, &bfs), &expected);
            let dfs = dfs(&graph, &mut (), &request, &mut quiet());
            let mut counted = counted(&graph, &dfs);
            if !shortest {
                // The runs are not shortest ones, but within the bound.
                for (place, (_, length)) in &mut counted.places {
                    let shortest = expected.places[place].1;
                    prop_assert!((shortest..=bound).contains(length));
                    *length = shortest;
                }
            }
            prop_assert_eq!(&counted, &expected);
            prop_assert!(dfs.counts.depth <= bound as u64);
        }
    }

    #[test]
    fn the_first_errors_are_the_shortest(graph in graphs(12), keep in keeps(), errors in 1..4usize) {
        let expected = expected(&graph, usize::MAX);
        let mut lengths: Vec<_> = expected.places.values().map(|place| place.1).collect();
        lengths.sort_unstable();
        lengths.truncate(errors);
        let (bare, asked) = (Bare(&graph), request(errors, true, None, keep));
        let (swept, _) = sweep(&bare, &bare, None, &mut (), &asked, &mut quiet());
        let found: Vec<_> = swept.errors.iter().map(|it| length(&it.steps)).collect();
        prop_assert_eq!(&found, &lengths);
        for search in [bfs, dfs, stateless] {
            let request = request(errors, true, (graph.edges.len() > 6).then_some(12), keep);
            let outcome = search(&graph, &mut (), &request, &mut quiet());
            counted(&graph, &outcome);
            prop_assert!(outcome.errors.iter().all(|found| found.shortest));
            let found: Vec<_> = outcome.errors.iter().map(|it| length(&it.steps)).collect();
            let within: Vec<_> = lengths
                .iter()
                .copied()
                .filter(|&length| request.limits.max_depth.is_none_or(|max| length as u64 <= max))
                .collect();
            prop_assert_eq!(found, within);
        }
    }

    #[test]
    fn stateless_search_walks_all_simple_runs(graph in graphs(6), keep in keeps(), bound in 0..12usize) {
        let states = simple_runs(&graph, 0, &mut Vec::new(), 0, bound);
        let request = request(0, true, Some(bound), keep);
        let outcome = stateless(&graph, &mut (), &request, &mut quiet());
        prop_assert_eq!(outcome.counts.states, states);
        let expected = expected(&graph, bound);
        let counted = counted(&graph, &outcome);
        let lengths = |places: &BTreeMap<String, (u64, usize)>| -> Vec<usize> {
            places.values().map(|place| place.1).collect()
        };
        prop_assert_eq!(lengths(&counted.places), lengths(&expected.places));
        // A search that says it saw everything did so.
        prop_assert!(outcome.truncated || !expected.truncated);
    }

    #[test]
    fn a_lossy_search_that_loses_nothing_is_the_textbook_one(
        graph in graphs(12), table in large_tables(), errors in 0..4usize
    ) {
        let textbook = Textbook::search(&graph, errors);
        let request = request(errors, false, None, Keep::Exact);
        let (outcome, omissions) = lossy(&graph, &mut (), &request, table, &mut quiet());
        let found: Vec<_> = outcome
            .errors
            .iter()
            .map(|found| (place(found.violation), found.steps.clone()))
            .collect();
        prop_assert_eq!(found, &textbook.errors[..]);
        prop_assert_eq!(outcome.counts.states, textbook.states);
        prop_assert_eq!(outcome.counts.transitions, textbook.transitions);
        let enough = errors > 0 && textbook.errors.len() == errors;
        prop_assert_eq!(outcome.stopped, enough.then_some(Stopped::Errors));
        if !enough {
            prop_assert_eq!(outcome.counts.depth, textbook.depth as u64);
            prop_assert_eq!(outcome.counts.errors, expected(&graph, usize::MAX).errors);
        }
        prop_assert!(omissions.expected < 1e-6 && !outcome.truncated);
    }

    #[test]
    fn a_lossy_search_finds_nothing_that_is_not_there(
        graph in graphs(40), table in small_tables(), bound in prop::option::of(0..30usize)
    ) {
        let expected = expected(&graph, bound.unwrap_or(usize::MAX));
        // That it shall find shortest runs it cannot promise.
        let request = request(0, true, bound, Keep::Exact);
        let (outcome, omissions) = lossy(&graph, &mut (), &request, table, &mut quiet());
        // All runs replay.
        let counted = counted(&graph, &outcome);
        prop_assert!(counted.states <= expected.states);
        prop_assert!(counted.transitions <= expected.transitions);
        prop_assert!(counted.errors <= expected.errors);
        for (place, (_, length)) in &counted.places {
            prop_assert!(*length >= expected.places[place].1);
            prop_assert!(bound.is_none_or(|bound| *length <= bound));
        }
        prop_assert!(outcome.errors.iter().all(|found| !found.shortest));
        match (table, outcome.stopped) {
            (_, None) => {}
            (Table::Compact { bits, .. }, Some(Stopped::Limit(Limit::Table))) => {
                // All cells of its one line are taken.
                let cells = if bits == 32 { 16 } else { 8 };
                prop_assert!(counted.states >= cells);
            }
            (_, stopped) => prop_assert!(false, "stopped by {:?}", stopped),
        }
        let certain = expected.states > 1 && counted.states < expected.states;
        if certain && outcome.stopped.is_none() && bound.is_none() {
            prop_assert!(omissions.probability > 0.0);
        }
    }

    #[test]
    fn a_limit_on_states_is_kept(graph in graphs(12), keep in keeps(), max in 0..13u64, errors in 0..2usize) {
        for search in [bfs, dfs] {
            let all = search(&graph, &mut (), &request(errors, false, None, keep), &mut quiet());
            let mut limited = request(errors, false, None, keep);
            limited.limits.max_states = Some(max);
            let outcome = search(&graph, &mut (), &limited, &mut quiet());
            counted(&graph, &outcome);
            if all.counts.states <= max {
                prop_assert_eq!(outcome.stopped, all.stopped);
                prop_assert_eq!(outcome.counts.states, all.counts.states);
            } else {
                prop_assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::States)));
                prop_assert_eq!(outcome.counts.states, max);
            }
        }
    }
}
