//! Breadth-first search by the length of runs, on all cores.
//!
//! Holzmann, *The SPIN Model Checker*, figure 8.6, made to count steps as the user sees them: an
//! atomic sequence is one transition but many steps, so states wait in buckets by the length of the
//! shortest run to them known so far (`open`), and the buckets are emptied in order.
//!
//! *Invariant*: when a state is expanded, no run to it is shorter than its distance; so each state
//! is expanded once, and an error at most as long as the current bucket's runs has no shorter run.
//! An error inside of an atomic sequence may lie further ahead, so the search goes on until nothing
//! shorter can come.
//!
//! *Reduction*: where an actor may move alone, only its moves are made, if one of them leads to a state that
//! is expanded later, in another bucket (the condition C2q of Bosnacki and Holzmann, *Improving Spin's
//! partial-order reduction for breadth-first search*, 2005, but for states of the same bucket, of which it
//! would depend on the threads which comes later). So nobody is put off for ever: from a state that was left
//! alone on there is a run of such moves to states expanded later and later, and that ends.
//!
//! *Threads*: a bucket is cut into blocks, which threads expand on their own (`expand`): they compute
//! the successors and insert them into the shared store. What came of them is noted (`note`) strictly
//! in the order of the blocks, by whichever thread brings the next one (`crew`). All that is decided
//! is decided there, so verdict, counts and runs are the same for every number of threads, also when
//! the search ends early.
//!
//! *Cost*: besides its key, a state has a byte for what is known of it (`marks`) and about one for
//! the way to it (`ways`), and about five more while it waits.

mod crew;
mod expand;
mod marks;
mod note;
mod open;
mod ways;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use spinward_machine::System;
use spinward_store::{Bytes, Full, Store};

use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, Memory, Watch, bound};
use crate::outcome::{Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::{Goal, Order, follow};
use crate::start::{Algorithm, Start};
use crate::whole::look_again;

use crew::Crew;
use expand::{Arrival, Expander, Shared};
use marks::Marks;
use note::Notes;
use open::Open;
use ways::Ways;

/// Searches breadth-first; the runs to all errors are shortest ones, unless moves are left out.
pub fn bfs<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    Start { system, scratch, request, progress }.run(BreadthFirst)
}

/// Searches breadth-first a system that leaves out what makes no difference, and if something is wrong the
/// whole of it, as far as that is: the runs to all errors are shortest ones, unless a limit was hit before
/// that was sure.
pub fn bfs_of_less<S: System, W: System>(
    system: &S,
    whole: &W,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let begun = Instant::now();
    let outcome = bfs(system, scratch, request, progress);
    look_again(outcome, request, begun, |request| {
        bfs(whole, &mut whole.scratch(), request, progress)
    })
}

/// Names the search.
struct BreadthFirst;

impl Algorithm for BreadthFirst {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let mut watch = Watch::new(&request.limits, progress);
        let mut initial = Vec::new();
        system.initial(&mut initial);
        let hidden = initial.len() - system.key(&initial).len();
        let shared = Shared {
            system,
            marks: Marks::new(&memory)?,
            hidden: Bytes::new(hidden, memory.budget())?,
            store,
            memory,
            clock: watch.clock(),
            bound: bound(&request.limits),
            // Beyond a bound nobody is expanded later.
            reduces: request.reduces && request.limits.max_depth.is_none(),
            over: AtomicBool::new(false),
        };
        let mut notes = Notes::new(Open::new(&shared.memory)?, request);
        let begun = begin(&shared, scratch, &initial, &mut notes).map_err(Stopped::Limit);
        let crew = Crew::new(&shared, request.threads, notes);
        let report = &mut |counts: &_, level| watch.report(counts, level, &shared.memory);
        let stopped = begun.and_then(|()| crew.run(scratch, report)).err();
        let (notes, ways) = crew.into_notes().expect("no thread has them");
        drop(watch);
        Ok(request.limits.undisturbed(|| finish(&shared, scratch, request, notes, &ways, stopped)))
    }
}

/// The initial state is reached.
fn begin<S: System, T: Store>(
    shared: &Shared<'_, S, T>,
    scratch: &mut S::Scratch,
    initial: &[u8],
    notes: &mut Notes,
) -> Result<(), Limit> {
    notes.counts.transitions = 1;
    let number = Expander::new(shared, scratch).initial(initial)?;
    let bytes = initial.len() as u32;
    let arrival = Arrival { number, successor: 0, distance: 0, bytes };
    notes.reach(arrival, &initial[..shared.hidden.width()], 0, shared)
}

/// Puts together what was found.
fn finish<S: System, T: Store>(
    shared: &Shared<'_, S, T>,
    scratch: &mut S::Scratch,
    request: &Request,
    notes: Notes,
    ways: &Ways,
    stopped: Option<Stopped>,
) -> Outcome {
    let Notes { mut counts, level, beyond, findings, .. } = notes;
    let all = stopped.is_none();
    let truncated = all && (beyond || counts.states < shared.store.len());
    counts.memory = shared.memory.peak();
    let mut examples = Findings::into_examples(findings);
    keep_shortest(&mut examples, request.errors);
    let errors = examples
        .into_iter()
        .map(|example| {
            let path = ways.path_to(example.path).into_iter().map(Goal::Successor);
            let error = Goal::Violation(example.violation, example.length);
            let goals = path.chain([error]);
            let order = if shared.reduces { Order::AloneFirst } else { Order::Whole };
            Found {
                violation: example.violation,
                steps: follow(shared.system, scratch, goals, order, false).steps,
                cycle: None,
                occurrences: example.occurrences,
                shortest: !shared.reduces && (all || example.length <= level),
            }
        })
        .collect();
    Outcome { errors, met: 0, counts, stopped, truncated }
}
