//! A chain of many states, to see that a deep search needs neither recursion nor much memory:
//! `cargo run --release -p spinward-search --example chain -- 20000000`

use std::time::Instant;

use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_program::ir::TransitionId;
use spinward_search::{Outcome, Progress, Request, bfs::bfs, dfs::dfs};

/// States 0, 1, ... each with one successor; the last is a deadlock.
struct Chain(u32);

impl System for Chain {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, out: &mut Vec<u8>) {
        out.extend(0u32.to_le_bytes());
    }

    fn expand(&self, state: &[u8], _scratch: &mut (), sink: &mut dyn Sink) -> Flow {
        let number = u32::from_le_bytes(state.try_into().expect("a state has four bytes"));
        if number == self.0 {
            return sink.violation(Violation::InvalidEndState, &[]);
        }
        let step = Step { process: 0, transition: TransitionId(0) };
        sink.successor(&(number + 1).to_le_bytes(), &[step])
    }
}

fn main() {
    let length = std::env::args()
        .nth(1)
        .map_or(20_000_000, |text| text.parse().expect("a number of states"));
    let show = |name: &str, search: &mut dyn FnMut() -> Outcome| {
        let start = Instant::now();
        let outcome = search();
        println!(
            "{name}: {} states, depth {}, run of {} steps, {:.0} MB, {:.1} s",
            outcome.counts.states,
            outcome.counts.depth,
            outcome.errors.first().map_or(0, |error| error.steps.len()),
            outcome.counts.memory as f64 / 1e6,
            start.elapsed().as_secs_f64(),
        );
    };
    let request = Request::default();
    let shortest = Request { errors: 1, shortest: true, ..Request::default() };
    let quiet = &mut |_: &Progress| {};
    let chain = Chain(length);
    show("dfs", &mut || dfs(&chain, &mut (), &request, quiet));
    show("dfs, shortest", &mut || dfs(&chain, &mut (), &shortest, quiet));
    show("bfs", &mut || bfs(&chain, &mut (), &request, quiet));
}
