//! How much of random graphs the checks for infinite runs look at, in the manner of table 1 of Couvreur,
//! Duret-Lutz, Poitrenaud, *On-the-fly emptiness checks for generalized Büchi automata*, SPIN 2005.
//!
//! For each density and number of sets: states visited, edges taken and states expanded (some more than once),
//! each the mean of 40 graphs of 1024 states in which a cycle meets all sets, in percent of the states and
//! edges that can be reached. An edge counts when it is taken, not when it is computed as in the paper for the
//! `shy` orders; in the parallel check when its state is first visited.
//!
//! `cargo run --release -p spinward-search --example emptiness`

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_machine::{Flow, Marks, Sink, Step, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::dfs::dfs;
use spinward_search::emptiness::indfs::indfs;
use spinward_search::emptiness::ndfs::ndfs;
use spinward_search::emptiness::parallel::parallel;
use spinward_search::emptiness::scc::{Order, ordered};
use spinward_search::emptiness::se05::se05;
use spinward_search::emptiness::tau03::tau03;
use spinward_search::{Outcome, Progress, Request};

const STATES: u64 = 1024;

struct Graph {
    sets: u32,
    edges: Vec<Vec<(u16, Marks)>>,
}

impl Graph {
    /// Out-degrees are about `1 + 1023 * density`; an edge is in a set with this probability, in hundredths.
    fn random(seed: u64, density: f64, sets: u32, marked: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |end: u64| random.next_u64() % end;
        let chances = (density * 1e6) as u64;
        let edges = (0..STATES).map(|_| {
            let degree = 1 + (1..STATES).filter(|_| below(1_000_000) < chances).count();
            let edges = (0..degree).map(|_| {
                let marks = (0..sets).filter(|_| below(100) < marked).map(Marks::one);
                let marks = marks.fold(Marks::default(), Marks::and);
                (below(STATES) as u16, marks)
            });
            edges.collect()
        });
        Self { sets, edges: edges.collect() }
    }
}

impl System for Graph {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend([0, 0]);
    }

    fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        let number = u16::from_le_bytes([state[0], state[1]]);
        let step = Step { process: 0, transition: TransitionId(0) };
        for &(to, marks) in &self.edges[usize::from(number)] {
            sink.marked(&to.to_le_bytes(), &[step], marks)?;
        }
        Flow::Continue(())
    }

    fn sets(&self) -> Option<u32> {
        Some(self.sets)
    }
}

type Check = fn(&Graph, &mut (), &Request, &mut dyn FnMut(&Progress)) -> Outcome;

const CHECKS: [(&str, Check); 8] = [
    ("scc", |graph, room, request, progress| ordered(graph, room, request, Order::Told, progress)),
    ("scc, visited first", |graph, room, request, progress| {
        ordered(graph, room, request, Order::VisitedFirst, progress)
    }),
    ("scc, whole component", |graph, room, request, progress| {
        ordered(graph, room, request, Order::WholeComponent, progress)
    }),
    ("ndfs", ndfs),
    ("indfs", indfs),
    ("se05", se05),
    ("tau03", tau03),
    ("parallel, 1 thread", parallel),
];

fn main() {
    let request = Request { errors: 1, threads: 1, ..Request::default() };
    for (density, sets, marked) in [(0.001, 1, 5), (0.001, 5, 10), (0.002, 5, 10), (0.01, 5, 10)] {
        println!("density {density}, {sets} sets, {marked} % of the edges in each");
        println!("{:22} {:>8} {:>8} {:>8}", "", "states", "edges", "expanded");
        let mut sums = [[0.0; 3]; CHECKS.len()];
        let mut graphs = 0;
        for seed in 0.. {
            let graph = Graph::random(seed, density, sets, marked);
            let all = dfs(&graph, &mut (), &request, &mut |_| {}).counts;
            let outcomes = CHECKS.map(|(_, check)| check(&graph, &mut (), &request, &mut |_| {}));
            let wrong = |it: &Outcome| it.errors.iter().any(|it| it.violation == Violation::Cycle);
            assert!(outcomes.iter().all(|it| wrong(it) == wrong(&outcomes[0])));
            if !wrong(&outcomes[0]) {
                continue;
            }
            for (sum, outcome) in sums.iter_mut().zip(&outcomes) {
                let counts = outcome.counts;
                sum[0] += counts.states as f64 / all.states as f64;
                sum[1] += counts.transitions as f64 / all.transitions as f64;
                sum[2] += counts.expanded as f64 / all.states as f64;
            }
            graphs += 1;
            if graphs == 40 {
                break;
            }
        }
        for ((name, _), sum) in CHECKS.iter().zip(sums) {
            let [states, edges, expanded] = sum.map(|sum| sum * 100.0 / f64::from(graphs));
            println!("{name:22} {states:8.1} {edges:8.1} {expanded:8.1}");
        }
        println!();
    }
}
