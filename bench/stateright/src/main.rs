//! Models for Stateright that have twins in Promela, to compare with.
//!
//! `stateright-models NAME` visits all states of a model, breadth first and with one thread, and prints
//! their number as JSON. The twin is `NAME.pml`; it has the same states, step by step.

mod filter_lock;
mod token_ring;

use std::fmt::Debug;
use std::hash::Hash;
use std::process::ExitCode;

use stateright::{Checker as _, Model};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("filter_lock") => check(filter_lock::FilterLock),
        Some("token_ring") => check(token_ring::TokenRing),
        _ => {
            eprintln!("usage: stateright-models filter_lock|token_ring");
            ExitCode::from(2)
        }
    }
}

fn check<M>(model: M) -> ExitCode
where
    M: Model<
            State: Clone + Debug + Hash + PartialEq + Send + Sync,
            Action: Clone + Debug + PartialEq + Send,
        > + Send
        + Sync
        + 'static,
{
    let checker = model.checker().threads(1).spawn_bfs().join();
    println!("{{\"states\": {}}}", checker.unique_state_count());
    if checker.discoveries().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
