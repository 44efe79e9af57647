//! Each check for infinite runs against one that is too simple to be wrong, on small random graphs.

use std::collections::BTreeMap;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_guide::{Guide, NEVER, Room, Unguided, Way};
use spinward_machine::system::length;
use spinward_machine::{Cycles, Flow, Marks, Sink, Step, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::dfs::dfs;
use spinward_search::emptiness::astar_indfs::astar_indfs;
use spinward_search::emptiness::degeneralized::Degeneralized;
use spinward_search::emptiness::indfs::indfs;
use spinward_search::emptiness::ndfs::ndfs;
use spinward_search::emptiness::parallel::parallel;
use spinward_search::emptiness::scc::{Order, ordered, scc};
use spinward_search::emptiness::se05::se05;
use spinward_search::emptiness::tau03::tau03;
use spinward_search::{Found, Keep, Limit, Limits, Outcome, Place, Progress, Request, Stopped};

/// An edge: where it leads, by how many steps, with which marks, and whether something is wrong on the way.
#[derive(Clone, Debug)]
struct Edge {
    to: usize,
    steps: usize,
    marks: Marks,
    wrong: bool,
}

/// A graph; state 0 is the initial one.
#[derive(Clone, Debug)]
struct Graph {
    sets: u32,
    edges: Vec<Vec<Edge>>,
    /// By state: its component in what judges it.
    components: Vec<(u32, Cycles)>,
}

impl Graph {
    /// The number of a state, which nothing is to be behind.
    fn number(state: &[u8]) -> usize {
        let number = usize::from(state[1]);
        assert_eq!(state[1..], encode(0, number)[1..]);
        number
    }

    /// The steps of an edge: each tells where it belongs. The claim moves first.
    fn steps(&self, from: usize, index: usize) -> Vec<Step> {
        let id = |i: usize| TransitionId((from << 16 | index << 8 | i) as u32);
        let claim = Step { process: Step::CLAIM, transition: id(0) };
        let others = 0..self.edges[from][index].steps;
        let others = others.map(|i| Step { process: 0, transition: id(i + 1) });
        std::iter::once(claim).chain(others).collect()
    }

    fn wanted(&self) -> Marks {
        Marks::first(self.sets)
    }
}

/// Keys have different lengths; before each is the state it was reached from, which is hidden.
fn encode(from: usize, state: usize) -> Vec<u8> {
    let mut bytes = vec![from as u8];
    bytes.resize(2 + state % 3, state as u8);
    bytes
}

impl System for Graph {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend(encode(0, 0));
    }

    fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        let (from, number) = (usize::from(state[0]), usize::from(state[1]));
        assert!(
            number == 0 || self.edges[from].iter().any(|edge| edge.to == number),
            "the hidden part is that of a way to the state"
        );
        for (index, edge) in self.edges[number].iter().enumerate() {
            let steps = self.steps(number, index);
            if edge.wrong {
                sink.violation(violation(edge), &steps)?;
            }
            sink.marked(&encode(number, edge.to), &steps, edge.marks)?;
        }
        Flow::Continue(())
    }

    fn sets(&self) -> Option<u32> {
        Some(self.sets)
    }

    fn component(&self, state: &[u8]) -> (u32, Cycles) {
        self.components[usize::from(state[1])]
    }

    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        &state[1..]
    }
}

/// Few different places, so that some errors are met on many ways.
fn violation(edge: &Edge) -> Violation {
    Violation::Assertion(TransitionId(edge.to as u32 % 3))
}

/// The same without what is not part of the key, which threads cannot share.
struct Bare<'a>(&'a Graph);

impl System for Bare<'_> {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&encode(0, 0)[1..]);
    }

    fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        let number = usize::from(state[0]);
        for (index, edge) in self.0.edges[number].iter().enumerate() {
            let steps = self.0.steps(number, index);
            if edge.wrong {
                sink.violation(violation(edge), &steps)?;
            }
            sink.marked(&encode(0, edge.to)[1..], &steps, edge.marks)?;
        }
        Flow::Continue(())
    }

    fn sets(&self) -> Option<u32> {
        Some(self.0.sets)
    }
}

/// Random numbers.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end as u64) as usize
    }

    /// With this probability, in hundredths.
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn marks(&mut self, sets: u32, percent: usize) -> Marks {
        let marks = (0..sets).filter(|_| self.chance(percent)).map(Marks::one);
        marks.fold(Marks::default(), Marks::and)
    }

    /// A graph in which something is wrong on so many edges of a hundred.
    fn graph(&mut self, wrong: usize) -> Graph {
        let states = 1 + self.below(30);
        let sets = self.below(5) as u32;
        let (most, marked, forward) = (1 + self.below(4), 2 + self.below(45), self.below(100));
        let mut edge = |from: usize| {
            // Edges that lead back are rare in some graphs, so that there are many components.
            let ahead = self.chance(forward) && from + 1 < states;
            let to =
                if ahead { from + 1 + self.below(states - from - 1) } else { self.below(states) };
            let (steps, marks) = (self.below(4), self.marks(sets, marked));
            Edge { to, steps, marks, wrong: self.chance(wrong) }
        };
        let edges: Vec<Vec<Edge>> = (0..states)
            .map(|from| {
                (0..from % (most + 1) + usize::from(from == 0)).map(|_| edge(from)).collect()
            })
            .collect();
        Graph { sets, edges, components: vec![(0, Cycles::Judged); states] }
    }
}

/// A small claim: by state, where it leads to, by edges that are in the one set or not.
type Claim = Vec<Vec<(usize, bool)>>;

/// The component of each state of a claim, and what is known of the cycles in there: by trying all pairs.
fn classify(claim: &Claim) -> Vec<(u32, Cycles)> {
    let plain = |wanted: &dyn Fn(bool) -> bool| {
        let edge = |&(to, marked): &(usize, bool)| {
            wanted(marked).then(|| Edge { to, steps: 0, marks: Marks::default(), wrong: false })
        };
        let edges = claim.iter().map(|edges| edges.iter().filter_map(edge).collect()).collect();
        closure(&Graph { sets: 0, edges, components: Vec::new() })
    };
    let all = plain(&|_| true);
    let unmarked = plain(&|marked| !marked);
    let inside =
        |state: usize, other: usize| state == other || all[state][other] && all[other][state];
    let classes = (0..claim.len()).map(|state| {
        let states: Vec<_> = (0..claim.len()).filter(|&other| inside(state, other)).collect();
        let edges = || states.iter().flat_map(|&from| &claim[from]);
        let cycles = if !edges().any(|&(to, marked)| marked && inside(state, to)) {
            Cycles::Fine
        } else if states.iter().any(|&other| unmarked[other][other]) {
            Cycles::Judged
        } else {
            Cycles::Wrong
        };
        (states[0] as u32, cycles)
    });
    classes.collect()
}

impl Dice {
    /// A graph and a claim in step.
    fn product(&mut self) -> (Graph, Vec<(u32, Cycles)>) {
        let (states, locations) = (1 + self.below(8), 1 + self.below(4));
        let (branches, marked) = (1 + self.below(3), self.below(80));
        let claim: Claim = (0..locations)
            .map(|_| {
                let edges = 0..=self.below(2);
                edges.map(|_| (self.below(locations), self.chance(marked))).collect()
            })
            .collect();
        let classes = classify(&claim);
        let moves: Vec<Vec<(usize, usize)>> = (0..states)
            .map(|_| {
                (0..self.below(branches + 1)).map(|_| (self.below(states), self.below(4))).collect()
            })
            .collect();
        let mut edges = Vec::new();
        for (state, location) in (0..states).flat_map(|it| (0..locations).map(move |at| (it, at))) {
            let mut here = Vec::new();
            for &(to, steps) in &moves[state] {
                for &(next, marked) in &claim[location] {
                    // The claim looks at the state it leaves.
                    if (state * 7 + location * 3 + next) % 5 > 0 {
                        let marks = if marked { Marks::one(0) } else { Marks::default() };
                        let to = to * locations + next;
                        here.push(Edge { to, steps, marks, wrong: false });
                    }
                }
            }
            edges.push(here);
        }
        let components = (0..edges.len()).map(|state| classes[state % locations]).collect();
        (Graph { sets: 1, edges, components }, classes)
    }
}

/// Which states can be reached from each by at least one edge.
fn closure(graph: &Graph) -> Vec<Vec<bool>> {
    let count = graph.edges.len();
    let mut reaches = vec![vec![false; count]; count];
    for (from, edges) in graph.edges.iter().enumerate() {
        for edge in edges {
            reaches[from][edge.to] = true;
        }
    }
    for via in 0..count {
        for from in 0..count {
            for to in 0..count {
                reaches[from][to] |= reaches[from][via] && reaches[via][to];
            }
        }
    }
    reaches
}

/// Whether a cycle that meets all sets can be reached.
fn has_cycle(graph: &Graph) -> bool {
    let reaches = closure(graph);
    (0..graph.edges.len()).any(|state| {
        let inside =
            |other: usize| other == state || reaches[state][other] && reaches[other][state];
        let marks = (0..graph.edges.len())
            .filter(|&from| inside(from))
            .flat_map(|from| &graph.edges[from])
            .filter(|edge| inside(edge.to))
            .fold(Marks::default(), |marks, edge| marks.and(edge.marks));
        (state == 0 || reaches[0][state]) && reaches[state][state] && marks.has_all(graph.wanted())
    })
}

/// The length of the shortest run to a cycle and round it, by trying all states.
fn shortest_lasso(graph: &Graph) -> Option<usize> {
    let from_start = distances(graph, 0);
    let wanted = graph.wanted();
    let run = |state: usize| {
        let way = from_start.iter().filter(|((to, _), _)| *to == state).map(|(_, length)| length);
        let edges = graph.edges[state].iter();
        let rounds = edges.flat_map(|edge| {
            let back = distances(graph, edge.to).into_iter();
            back.filter(move |((to, marks), _)| {
                *to == state && edge.marks.and(*marks).has_all(wanted)
            })
            .map(|(_, length)| edge.steps + length)
        });
        Some(way.min()? + rounds.min()?)
    };
    (0..graph.edges.len()).filter_map(run).min()
}

/// The lengths of the shortest ways from a state, by where they end and which marks they have.
fn distances(graph: &Graph, start: usize) -> BTreeMap<(usize, Marks), usize> {
    let mut distances = BTreeMap::from([((start, Marks::default()), 0)]);
    loop {
        let mut shorter = Vec::new();
        for (&(state, marks), &length) in &distances {
            for edge in &graph.edges[state] {
                shorter.push(((edge.to, marks.and(edge.marks)), length + edge.steps));
            }
        }
        let before = distances.clone();
        for (end, length) in shorter {
            let known = distances.entry(end).or_insert(length);
            *known = length.min(*known);
        }
        if distances == before {
            return distances;
        }
    }
}

/// Follows steps from a state: where they lead, and the marks on the way. None if they are no run.
fn follow(graph: &Graph, start: usize, steps: &[Step]) -> Option<(usize, Marks)> {
    let (mut state, mut marks, mut rest) = (start, Marks::default(), steps);
    while !rest.is_empty() {
        let numbered = graph.edges[state].iter().enumerate();
        let (edge, left) = numbered
            .filter_map(|(index, edge)| {
                Some((edge, rest.strip_prefix(&graph.steps(state, index)[..])?))
            })
            .next()?;
        (state, marks, rest) = (edge.to, marks.and(edge.marks), left);
    }
    Some((state, marks))
}

/// Checks that a run is one, that its cycle closes, and that it meets all sets.
fn check_lasso(graph: &Graph, found: &Found) {
    assert_eq!(found.violation, Violation::Cycle);
    let (prefix, cycle) = found.steps.split_at(found.cycle.unwrap());
    let (first, _) = follow(graph, 0, prefix).expect("a run");
    let (last, marks) = follow(graph, first, cycle).expect("a run");
    assert!(!cycle.is_empty() && first == last && marks.has_all(graph.wanted()), "{found:?}");
}

/// Checks that a run leads to a violation.
fn check_run(graph: &Graph, found: &Found) {
    assert_eq!(found.cycle, None);
    let last = found.steps.iter().rposition(|step| step.is_claim()).unwrap();
    let (state, _) = follow(graph, 0, &found.steps[..last]).expect("a run");
    let mut edges = graph.edges[state].iter().enumerate();
    assert!(edges.any(|(index, edge)| {
        edge.wrong
            && violation(edge) == found.violation
            && graph.steps(state, index) == found.steps[last..]
    }));
}

type Check = fn(&Graph, &mut (), &Request, &mut dyn FnMut(&Progress)) -> Outcome;

fn shy_of_state(
    graph: &Graph,
    scratch: &mut (),
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    ordered(graph, scratch, request, Order::VisitedFirst, progress)
}

fn shy_of_component(
    graph: &Graph,
    scratch: &mut (),
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    ordered(graph, scratch, request, Order::WholeComponent, progress)
}

/// The components of a system with all its sets made one.
fn degeneralized(
    graph: &Graph,
    scratch: &mut (),
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    // There the shortest run is another one.
    let request = &Request { shortest: request.shortest && graph.sets <= 1, ..request.clone() };
    scc(&Degeneralized::new(graph), scratch, request, progress)
}

fn by_threads(
    graph: &Graph,
    scratch: &mut (),
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let request = &Request { threads: 1 + graph.edges.len() % 3, ..request.clone() };
    parallel(&Bare(graph), scratch, request, progress)
}

/// Estimates that have nothing to do with the graph.
struct Astray;

impl Guide for Astray {
    fn estimate(&self, state: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
        let state = Graph::number(state);
        if state % 7 == 3 { NEVER } else { (state * 37 % 11) as u32 }
    }
}

fn astray(
    graph: &Graph,
    scratch: &mut (),
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let (outcome, range) = astar_indfs(graph, scratch, request, &Astray, progress);
    assert!(range.most < 11);
    outcome
}

/// Those that take edges in SPIN's order.
const IN_ORDER: &[(&str, Check)] =
    &[("scc", scc), ("ndfs", ndfs), ("indfs", indfs), ("se05", se05), ("tau03", tau03)];

const OTHERS: &[(&str, Check)] = &[
    ("scc, visited first", shy_of_state),
    ("scc, whole component", shy_of_component),
    ("scc, degeneralized", degeneralized),
    ("parallel", by_threads),
    ("astar-indfs", astray),
];

fn checks() -> impl Iterator<Item = (&'static str, Check)> {
    IN_ORDER.iter().chain(OTHERS).copied()
}

fn request(dice: &mut Dice) -> Request {
    Request {
        errors: 1,
        keep: if dice.chance(50) { Keep::Exact } else { Keep::Tree },
        threads: 1,
        ..Request::default()
    }
}

fn quiet() -> impl FnMut(&Progress) {
    |_: &Progress| {}
}

/// All checks of one graph without other errors.
fn compare(graph: &Graph, request: &Request) -> bool {
    let expected = has_cycle(graph);
    for (name, check) in checks() {
        let outcome = check(graph, &mut (), request, &mut quiet());
        let errors = usize::from(expected);
        assert_eq!(outcome.errors.len(), errors, "{name}: {outcome:?} {graph:?}");
        assert_eq!(outcome.stopped, expected.then_some(Stopped::Errors), "{name}");
        assert_eq!((outcome.counts.errors, outcome.met), (errors as u64, 0), "{name}");
        for found in &outcome.errors {
            check_lasso(graph, found);
        }
    }
    expected
}

#[test]
fn cycles_are_found_where_there_are_any() {
    let mut dice = Dice::new(1);
    let mut wrong = 0;
    for _ in 0..20_000 {
        let graph = dice.graph(0);
        wrong += usize::from(compare(&graph, &request(&mut dice)));
    }
    assert!((5000..15_000).contains(&wrong), "{wrong} of 20000");
}

#[test]
fn the_components_of_a_claim_may_be_used() {
    let mut dice = Dice::new(6);
    let mut met = BTreeMap::new();
    for _ in 0..4000 {
        let (graph, classes) = dice.product();
        let wrong = compare(&graph, &request(&mut dice));
        for (_, cycles) in classes {
            *met.entry((format!("{cycles:?}"), wrong)).or_insert(0) += 1;
        }
    }
    assert!(met.len() == 6 && met.values().all(|&count| count > 200), "{met:?}");
}

#[test]
fn components_of_a_claim_spare_second_searches() {
    let mut dice = Dice::new(7);
    let mut spared = 0;
    for _ in 0..1000 {
        let (graph, classes) = dice.product();
        let request = request(&mut dice);
        let counts = indfs(&graph, &mut (), &request, &mut quiet()).counts;
        if classes.iter().all(|(_, cycles)| *cycles != Cycles::Judged) {
            assert_eq!(counts.expanded, counts.states);
        } else if !has_cycle(&graph) {
            let nested = ndfs(&graph, &mut (), &request, &mut quiet()).counts;
            assert!(counts.expanded <= nested.expanded && counts.states == nested.states);
            spared += nested.expanded - counts.expanded;
        }
    }
    assert!(spared > 0);
}

#[test]
fn what_else_is_wrong_in_a_product_is_found_as_by_depth_first_search() {
    let mut dice = Dice::new(8);
    let mut met = 0;
    for _ in 0..4000 {
        let (mut graph, _) = dice.product();
        if has_cycle(&graph) {
            continue;
        }
        graph.edges.iter_mut().flatten().for_each(|edge| edge.wrong = dice.chance(10));
        let all = Request { errors: 0, ..request(&mut dice) };
        let expected = dfs(&graph, &mut (), &all, &mut quiet());
        for (name, check) in [("indfs", indfs as Check), ("astar-indfs", astray)] {
            let outcome = check(&graph, &mut (), &all, &mut quiet());
            assert!(outcome.is_complete(), "{name}");
            assert_eq!(places(&outcome), places(&expected), "{name}");
            assert_eq!(outcome.counts.states, expected.counts.states, "{name}");
            for found in &outcome.errors {
                check_run(&graph, found);
            }
        }
        met += usize::from(expected.counts.errors > 0);
    }
    assert!(met > 200, "{met}");
}

/// Two ways as in a claim that waits: one goes on for long, the other comes to a cycle after some steps.
#[test]
fn a_guide_leads_to_where_a_cycle_may_be_wrong() {
    let edge = |to, marks| Edge { to, steps: 1, marks, wrong: false };
    // State 0 leads to a chain of 100 that leads nowhere, and to one of 20 that ends in a cycle.
    let chain = |first: usize, last: usize| {
        (first..last).map(move |state| vec![edge(state + 1, Marks::default())])
    };
    let mut edges = vec![vec![edge(1, Marks::default()), edge(101, Marks::default())]];
    edges.extend(chain(1, 100).chain([Vec::new()]).chain(chain(101, 120)));
    edges.push(vec![edge(120, Marks::one(0))]);
    let components = (0..edges.len()).map(|state| match state {
        120 => (1, Cycles::Wrong),
        _ => (0, Cycles::Fine),
    });
    let graph = Graph { sets: 1, components: components.collect(), edges };
    struct Near;
    impl Guide for Near {
        fn estimate(&self, state: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
            let state = Graph::number(state) as u32;
            if state > 100 { 120 - state } else { 20 + state }
        }
    }
    let request = Request { errors: 1, ..Request::default() };
    let (outcome, range) = astar_indfs(&graph, &mut (), &request, &Near, &mut quiet());
    check_lasso(&graph, &outcome.errors[0]);
    assert_eq!((outcome.counts.states, range.least, range.most), (21, 1, 21));
    assert_eq!(indfs(&graph, &mut (), &request, &mut quiet()).counts.states, 121);
}

#[test]
fn the_shortest_is_as_short_as_can_be() {
    let mut dice = Dice::new(2);
    let mut found = 0;
    for _ in 0..4000 {
        let graph = dice.graph(0);
        let shortest = Request { shortest: true, ..request(&mut dice) };
        let expected = shortest_lasso(&graph);
        // The shortest run of another system is another one.
        let own = |name: &str| graph.sets <= 1 || !name.contains("degeneralized");
        for (name, check) in checks().filter(|(name, _)| own(name)) {
            let outcome = check(&graph, &mut (), &shortest, &mut quiet());
            let lengths: Vec<_> = outcome.errors.iter().map(|it| length(&it.steps)).collect();
            assert_eq!(lengths, Vec::from_iter(expected), "{name} {graph:?}");
            for found in &outcome.errors {
                assert!(found.shortest, "{name}");
                check_lasso(&graph, found);
            }
        }
        found += usize::from(expected.is_some());
    }
    assert!(found > 1000, "{found}");
}

/// By place: how often each error was met.
fn places(outcome: &Outcome) -> BTreeMap<String, u64> {
    let place = |found: &Found| (format!("{:?}", Place::of(found.violation)), found.occurrences);
    outcome.errors.iter().map(place).collect()
}

#[test]
fn other_errors_are_found_as_by_depth_first_search() {
    let mut dice = Dice::new(3);
    for _ in 0..4000 {
        let mut graph = dice.graph(10);
        for edge in graph.edges.iter_mut().flatten() {
            // So no cycle is an error.
            edge.marks = edge.marks.without(Marks::one(0));
        }
        graph.sets = graph.sets.max(1);
        let all = Request { errors: 0, ..request(&mut dice) };
        let expected = dfs(&graph, &mut (), &all, &mut quiet());
        for (name, check) in checks() {
            let outcome = check(&graph, &mut (), &all, &mut quiet());
            assert!(outcome.is_complete(), "{name}");
            assert_eq!(places(&outcome), places(&expected), "{name}");
            assert_eq!(outcome.counts.errors, expected.counts.errors, "{name}");
            for found in &outcome.errors {
                check_run(&graph, found);
            }
        }
        let few = Request { errors: 1 + dice.below(2), ..all };
        let expected = dfs(&graph, &mut (), &few, &mut quiet());
        for &(name, check) in IN_ORDER {
            let outcome = check(&graph, &mut (), &few, &mut quiet());
            let steps = |outcome: &Outcome| -> Vec<Vec<Step>> {
                outcome.errors.iter().map(|found| found.steps.clone()).collect()
            };
            assert_eq!(steps(&outcome), steps(&expected), "{name} {graph:?}");
            assert_eq!(outcome.stopped, expected.stopped, "{name}");
        }
    }
}

#[test]
fn components_take_each_edge_once() {
    let mut dice = Dice::new(4);
    for _ in 0..500 {
        let mut graph = dice.graph(0);
        graph.sets = 4;
        if has_cycle(&graph) {
            continue;
        }
        let request = request(&mut dice);
        let all = dfs(&graph, &mut (), &request, &mut quiet()).counts;
        for check in [scc as Check, shy_of_state, shy_of_component] {
            let counts = check(&graph, &mut (), &request, &mut quiet()).counts;
            assert_eq!(
                (counts.states, counts.transitions, counts.expanded),
                (all.states, all.transitions, all.expanded)
            );
        }
    }
}

/// Marks in more than one word.
#[test]
fn there_may_be_many_sets() {
    let mut dice = Dice::new(9);
    for _ in 0..300 {
        let mut graph = dice.graph(0);
        let expected = has_cycle(&graph);
        let (few, sets) = (graph.sets, 5 + dice.below(124) as u32);
        // The sets of the graph are spread; all edges are in all others.
        let spread = |set: u32| Marks::one((set + 1) * sets / 5 - 1);
        let all = (0..few).map(spread).fold(Marks::default(), Marks::and);
        for edge in graph.edges.iter_mut().flatten() {
            let met = (0..few).filter(|&set| edge.marks.has_any(Marks::one(set)));
            edge.marks = met.map(spread).fold(Marks::first(sets).without(all), Marks::and);
        }
        graph.sets = sets;
        assert_eq!(compare(&graph, &request(&mut dice)), expected);
    }
}

/// Figure 4 of the paper on checks for generalized automata: a cycle is closed before much else is looked at,
/// but its marked edge is neither the first nor the last.
#[test]
fn a_cycle_is_told_before_what_comes_after_it() {
    let edge = |to, marked| {
        let marks = if marked { Marks::one(0) } else { Marks::default() };
        Edge { to, steps: 1, marks, wrong: false }
    };
    let mut edges = vec![
        vec![edge(1, false)],
        vec![edge(2, true)],
        vec![edge(3, false)],
        vec![edge(0, false), edge(4, false)],
    ];
    edges.extend((4..100).map(|state| vec![edge(state + 1, false)]));
    edges.push(Vec::new());
    let components = vec![(0, Cycles::Judged); edges.len()];
    let graph = Graph { sets: 1, edges, components };
    let states = |check: Check| {
        let request = Request { errors: 1, ..Request::default() };
        check(&graph, &mut (), &request, &mut quiet()).counts.states
    };
    for check in [scc as Check, shy_of_state, shy_of_component, se05, tau03] {
        assert_eq!(states(check), 4);
    }
    assert_eq!(states(ndfs), 101);
}

#[test]
fn counts_do_not_depend_on_threads() {
    let mut dice = Dice::new(8);
    let mut complete = 0;
    for _ in 0..100 {
        let mut graph = dice.graph(5);
        let count = graph.edges.len();
        // More of the same, so that there is something to do.
        for copy in 1..200 / count {
            for state in 0..count {
                let mut edges = graph.edges[state].clone();
                for edge in &mut edges {
                    edge.to = (edge.to + copy * count - dice.below(2) * count) % 250;
                }
                let to = copy * count + dice.below(count);
                graph.edges.push(edges);
                graph.edges[state].push(Edge {
                    to,
                    steps: 1,
                    marks: Marks::default(),
                    wrong: false,
                });
            }
        }
        if dice.chance(40) {
            // So no cycle is an error.
            let edges = graph.edges.iter_mut().flatten();
            edges.for_each(|edge| edge.marks = edge.marks.without(Marks::one(0)));
            graph.sets = graph.sets.max(1);
        }
        let states = graph.edges.len();
        graph.components = vec![(0, Cycles::Judged); states];
        graph.edges.iter_mut().flatten().for_each(|edge| edge.to %= states);
        let expected = has_cycle(&graph);
        let request = Request { errors: 0, ..request(&mut dice) };
        let outcomes: Vec<_> = [1, 2, 3, 8]
            .map(|threads| {
                let request = Request { threads, ..request.clone() };
                parallel(&Bare(&graph), &mut (), &request, &mut quiet())
            })
            .into();
        for outcome in &outcomes {
            let cycles = outcome.errors.iter().filter(|it| it.violation == Violation::Cycle);
            assert_eq!(cycles.clone().count(), usize::from(expected));
            cycles.for_each(|found| check_lasso(&graph, found));
            let others = outcome.errors.iter().filter(|it| it.violation != Violation::Cycle);
            others.for_each(|found| check_run(&graph, found));
            if !expected {
                complete += 1;
                let (counts, first) = (outcome.counts, outcomes[0].counts);
                assert!(outcome.is_complete());
                assert_eq!(places(outcome), places(&outcomes[0]));
                assert_eq!(
                    (counts.states, counts.transitions, counts.errors),
                    (first.states, first.transitions, first.errors)
                );
            }
        }
    }
    assert!((100..300).contains(&complete), "{complete} of 400");
}

/// Lets other threads go on at every expansion, so that their searches mix.
struct Slow<'a>(Bare<'a>);

impl System for Slow<'_> {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        self.0.initial(out);
    }

    fn expand(&self, state: &[u8], scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        std::thread::yield_now();
        self.0.expand(state, scratch, sink)
    }

    fn sets(&self) -> Option<u32> {
        self.0.sets()
    }
}

#[test]
fn threads_that_mix_lose_no_cycle() {
    let mut dice = Dice::new(10);
    for _ in 0..1500 {
        let graph = dice.graph(0);
        let request = Request { threads: 4, ..request(&mut dice) };
        let outcome = parallel(&Slow(Bare(&graph)), &mut (), &request, &mut quiet());
        assert_eq!(outcome.errors.len(), usize::from(has_cycle(&graph)), "{graph:?}");
        outcome.errors.iter().for_each(|found| check_lasso(&graph, found));
    }
}

/// A graph in which the only wrong cycle, over 1, 2, 4, 7 and 10, gets lost now and then if second searches do
/// not wait for those of others: how often depends on what else the machine does, so there are many runs.
#[test]
fn second_searches_wait_for_each_other() {
    let edges: [&[(usize, bool)]; 11] = [
        &[(1, true)],
        &[(2, false)],
        &[(3, true), (4, true), (4, false)],
        &[(5, false), (6, false)],
        &[(7, false), (6, true)],
        &[],
        &[(8, false)],
        &[(9, false), (10, false)],
        &[],
        &[(9, false)],
        &[(1, false)],
    ];
    let edge = |&(to, marked): &(usize, bool)| {
        let marks = if marked { Marks::one(0) } else { Marks::default() };
        Edge { to, steps: 1, marks, wrong: false }
    };
    let edges: Vec<Vec<_>> = edges.map(|edges| edges.iter().map(edge).collect()).into();
    let components = vec![(0, Cycles::Judged); edges.len()];
    let graph = Graph { sets: 1, edges, components };
    assert!(has_cycle(&graph));
    let request = Request { errors: 1, threads: 3, ..Request::default() };
    for _ in 0..2000 {
        let outcome = parallel(&Slow(Bare(&graph)), &mut (), &request, &mut quiet());
        assert_eq!(outcome.errors.len(), 1);
        check_lasso(&graph, &outcome.errors[0]);
    }
}

#[test]
fn limits_end_checks_cleanly() {
    let mut dice = Dice::new(5);
    for _ in 0..200 {
        let graph = dice.graph(0);
        let (request, expected) = (request(&mut dice), has_cycle(&graph));
        for (name, check) in checks() {
            for states in 0..20 {
                let limits = Limits { max_states: Some(states), ..Limits::default() };
                let outcome =
                    check(&graph, &mut (), &Request { limits, ..request.clone() }, &mut quiet());
                assert!(outcome.counts.states <= states, "{name}");
                match outcome.stopped {
                    None => assert!(!expected && outcome.errors.is_empty(), "{name}"),
                    Some(Stopped::Errors) => check_lasso(&graph, &outcome.errors[0]),
                    Some(stopped) => {
                        assert_eq!(stopped, Stopped::Limit(Limit::States), "{name}");
                        assert!(outcome.errors.is_empty(), "{name}");
                    }
                }
            }
        }
    }
}

/// A long run into a cycle of so many states, one edge of which is in all sets; from each state edges lead to
/// others that lead nowhere.
struct Lollipop {
    states: u32,
    sets: u32,
}

impl Lollipop {
    const STEP: Step = Step { process: 0, transition: TransitionId(7) };
}

impl System for Lollipop {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend([0; 40]);
    }

    fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        let number = u32::from_le_bytes(state[..4].try_into().unwrap());
        let encode = |number: u32| {
            let mut state = [0; 40];
            state[..4].copy_from_slice(&number.to_le_bytes());
            state
        };
        if number >= 1 << 31 {
            return Flow::Continue(());
        }
        sink.marked(&encode(number | 1 << 31), &[Self::STEP], Marks::first(self.sets))?;
        let last = number + 1 == self.states;
        let marks = if last { Marks::first(self.sets) } else { Marks::default() };
        let next = if last { self.states / 2 } else { number + 1 };
        sink.marked(&encode(next), &[Self::STEP], marks)
    }

    fn sets(&self) -> Option<u32> {
        Some(self.sets)
    }

    fn component(&self, state: &[u8]) -> (u32, Cycles) {
        let number = u32::from_le_bytes(state[..4].try_into().unwrap());
        if number < self.states / 2 { (0, Cycles::Fine) } else { (1, Cycles::Judged) }
    }
}

type LargeCheck = fn(&Lollipop, &mut (), &Request, &mut dyn FnMut(&Progress)) -> Outcome;

fn large_checks() -> [(&'static str, LargeCheck); 9] {
    [
        ("scc", scc),
        ("scc, visited first", |system, scratch, request, progress| {
            ordered(system, scratch, request, Order::VisitedFirst, progress)
        }),
        ("scc, whole component", |system, scratch, request, progress| {
            ordered(system, scratch, request, Order::WholeComponent, progress)
        }),
        ("ndfs", ndfs),
        ("indfs", indfs),
        ("astar-indfs", |system, scratch, request, progress| {
            astar_indfs(system, scratch, request, &Unguided, progress).0
        }),
        ("se05", se05),
        ("tau03", tau03),
        ("parallel", |system, scratch, request, progress| {
            parallel(system, scratch, &Request { threads: 3, ..request.clone() }, progress)
        }),
    ]
}

fn within(limits: Limits) -> Request {
    Request { limits, errors: 1, threads: 1, ..Request::default() }
}

#[test]
fn memory_is_kept_and_a_cycle_without_room_for_its_run_is_told() {
    let mut ends = BTreeMap::new();
    for (name, check) in large_checks() {
        for budget in (0..20).map(|i| (20_000 + i % 2 * 10_000) << (i / 2)) {
            let system = Lollipop { states: 20_000, sets: 2 };
            let request = within(Limits { memory: Some(budget), ..Limits::default() });
            let outcome = check(&system, &mut (), &request, &mut quiet());
            assert!(outcome.counts.memory <= budget, "{name} {budget}");
            let end = match outcome.stopped {
                Some(Stopped::Errors) => {
                    let found = &outcome.errors[0];
                    let expected = (20_000, Some(10_000));
                    assert_eq!((found.steps.len(), found.cycle), expected, "{name}");
                    "found"
                }
                Some(Stopped::Limit(Limit::Memory)) => {
                    assert!(
                        outcome.errors.is_empty() && outcome.counts.errors == outcome.met,
                        "{name}"
                    );
                    if outcome.met > 0 { "without a run" } else { "not found" }
                }
                other => panic!("{name} ends with {other:?}"),
            };
            *ends.entry((name, end)).or_insert(0) += 1;
        }
    }
    for (name, _) in large_checks() {
        assert!(
            ends.contains_key(&(name, "found")) && ends.contains_key(&(name, "not found")),
            "{ends:?}"
        );
    }
    assert!(ends.keys().any(|&(_, end)| end == "without a run"), "{ends:?}");
}

#[test]
fn a_deep_run_needs_no_recursion() {
    for (name, check) in large_checks() {
        let system = Lollipop { states: 200_000, sets: 1 };
        let outcome = check(&system, &mut (), &within(Limits::default()), &mut quiet());
        assert_eq!(outcome.errors[0].steps.len(), 200_000, "{name}");
    }
}

#[test]
fn the_user_may_stop_it_and_time_is_kept() {
    for (name, check) in large_checks() {
        let request = within(Limits::default());
        request.limits.stop.ask();
        let outcome =
            check(&Lollipop { states: 1 << 30, sets: 1 }, &mut (), &request, &mut quiet());
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Interrupt)), "{name}");
        let time = Some(Duration::from_millis(150));
        let request = within(Limits { time, ..Limits::default() });
        let outcome =
            check(&Lollipop { states: 1 << 30, sets: 1 }, &mut (), &request, &mut quiet());
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Time)), "{name}");
    }
}
