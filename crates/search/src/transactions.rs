//! Depth-first search that lets one actor go on until its transaction is over.
//!
//! *Source*: Levin, Palmer, Qadeer, Rajamani, *Sound transaction-based reduction without cycle detection*,
//! SPIN 2005: commit point completion, their figure 6 with the optimisation of its line L19.
//!
//! *Idea*: a transaction of an actor is some right movers, one move that is none (it *commits*), and some left
//! movers (see [`Mover`]). Whatever others do in between they could do before it or after it. So others have
//! their turn only between transactions: where the actor is not before its commit, and has no move or one
//! that is no left mover. An actor that commits and goes on for ever would keep others from seeing what it did.
//! So when the search leaves a state behind a commit, and no left movers from there were seen to lead to a
//! state in which all have their turn, all have it there: a *forced completion*. What was seen is kept for
//! each state, so no cycle has to be found, and a loop that may end costs nothing.
//!
//! *Why nothing is missed*: take a run from a visited state to something wrong, its right movers put off
//! until the next move of their actor, or left out at the end. If all have their turn in the state, the first
//! transaction of the run is followed. If not, one actor had it, and its moves are left movers. If it moves in
//! the run, it may do so first, and that move was followed. If it does not, left movers of it lead to where all
//! have their turn, and the run is possible there as well; or the state was come to by movers to both sides,
//! and the run is possible in the state before. What is wrong in a state itself is as if somebody looked all
//! the time: a move that changes it must be no mover. States in which nobody can move may be missed: who waits
//! before its commit lets nobody else move.
//!
//! A state is told from others also by who is before its commit in it. That is the one whose turn it is, or
//! nobody; so one byte behind the key is enough.
//!
//! *Cost*: each state is expanded once for each actor that has its turn there; two bits for each state.

use spinward_machine::{Flow, Mover, Sink, Step, System, Violation, system::length};
use spinward_store::{Full, Store, Worker};

use crate::chunked::{Bits, Chunked};
use crate::findings::Findings;
use crate::limits::{Limit, Memory, Watch, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::rebuild;
use crate::start::{Algorithm, Start};

/// Searches by transactions, depth-first. Runs are not bounded, nor are they shortest ones.
pub fn transactions<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    Start { system, scratch, request, progress }.run(Completed)
}

/// The same without completions, which misses errors; tests show that it does.
pub fn incomplete_transactions<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    Start { system, scratch, request, progress }.run(Incomplete)
}

/// Names the search.
struct Completed;

/// Names that without completions.
struct Incomplete;

impl Algorithm for Completed {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        Ok(search(start, store, memory, true))
    }
}

impl Algorithm for Incomplete {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        Ok(search(start, store, memory, false))
    }
}

fn search<S: System, T: Store>(
    start: Start<'_, S>,
    store: T,
    memory: Memory,
    completes: bool,
) -> Outcome {
    let Start { system, scratch, request, progress } = start;
    let mut search = Transactions {
        system,
        request,
        memory,
        completes,
        counts: Counts::default(),
        store,
        worker: Worker::default(),
        visited: Bits::new(),
        completed: Bits::new(),
        turns: Chunked::new(),
        waiting: Chunked::new(),
        findings: Findings::new(),
        fresh: Fresh::default(),
        bytes: Vec::new(),
        key: Vec::new(),
    };
    let mut watch = Watch::new(&request.limits, progress);
    let stopped = search.run(scratch, &mut watch).err();
    drop(watch);
    request.limits.undisturbed(|| search.finish(scratch, stopped))
}

/// The turn of an actor in a state of the current run.
#[derive(Clone, Copy, Debug)]
struct Turn {
    visit: Visit,
    /// Whose turn it is; it may have died in the move to here.
    actor: u8,
    /// How many actors have had their turn here, with this one.
    asked: u8,
    /// Successors that wait to be visited.
    left: u32,
    /// Whether the actor is before its commit.
    uncommitted: bool,
    /// Whether all have their turn here.
    ended: bool,
    /// Whether the state was come to by right movers.
    right: bool,
    /// How the moves of the actor may be put off, or be made earlier.
    mover: Mover,
}

/// A state, and the length of the run to it.
#[derive(Clone, Copy, Debug)]
struct Visit {
    state: u32,
    depth: u32,
}

/// What the moves of one actor have brought, in order.
#[derive(Debug, Default)]
struct Fresh {
    visits: Vec<Visit>,
    violations: Vec<(Violation, u32)>,
}

impl Fresh {
    /// Bytes in use that are not counted.
    fn bytes(&self) -> usize {
        self.visits.capacity() * size_of::<Visit>()
            + self.violations.capacity() * size_of::<(Violation, u32)>()
    }
}

struct Transactions<'a, S: System, T> {
    system: &'a S,
    request: &'a Request,
    memory: Memory,
    /// Whether completions are forced.
    completes: bool,
    counts: Counts,
    store: T,
    worker: Worker,
    visited: Bits,
    /// The states from which left movers lead to one in which all have their turn.
    completed: Bits,
    /// The current run, one turn for each of its states.
    turns: Chunked<Turn>,
    /// The successors of its states that were not visited yet, those of the last one on top.
    waiting: Chunked<Visit>,
    /// The path to each, or none if it is the current run.
    findings: Findings<Option<Vec<Visit>>>,
    fresh: Fresh,
    /// The state that is expanded.
    bytes: Vec<u8>,
    /// Room for the key of a successor.
    key: Vec<u8>,
}

impl<S: System, T: Store> Transactions<'_, S, T> {
    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let mut state = Vec::new();
        self.system.initial(&mut state);
        self.counts.transitions = 1;
        let initial = Telling::of(self, 0, 0).number(&state)?;
        let visit = Visit { state: initial, depth: 0 };
        let youngest = self.system.takers(&state).saturating_sub(1);
        let turn = Turn { ended: true, ..Turn::new(visit, youngest as u8) };
        self.enter(turn, scratch, watch)?;
        while let Some(last) = self.turns.len().checked_sub(1) {
            let mut turn = self.turns.get(last);
            if turn.left > 0 {
                turn.left -= 1;
                self.turns.set(last, turn);
                if let Some(visit) = self.waiting.pop() {
                    self.come_to(visit, turn, scratch, watch)?;
                }
            } else {
                self.turns.pop();
                self.leave(turn, scratch, watch)?;
            }
        }
        Ok(())
    }

    /// Comes to a state by a move of the last turn.
    fn come_to(
        &mut self,
        visit: Visit,
        from: Turn,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        if self.visited.contains(visit.state) {
            // If it is in the current run it is not known yet where it leads.
            self.complete(from.visit.state, self.completed.contains(visit.state))?;
            return Ok(());
        }
        let turn = Turn {
            right: from.mover.right,
            uncommitted: from.goes_on_uncommitted(),
            ..Turn::new(visit, from.actor)
        };
        self.enter(turn, scratch, watch)
    }

    /// Notes of a state, if so, that left movers lead from it to where all have their turn.
    fn complete(&mut self, state: u32, completes: bool) -> Result<(), Limit> {
        if completes {
            self.completed.insert(state, &self.memory)?;
        }
        Ok(())
    }

    /// Begins the first turn in a state that was not visited before.
    fn enter(
        &mut self,
        turn: Turn,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        if self.counts.states >= self.request.limits.max_states.unwrap_or(u64::MAX) {
            return Err(Limit::States.into());
        }
        self.visited.insert(turn.visit.state, &self.memory)?;
        self.counts.states += 1;
        self.counts.depth = self.counts.depth.max(turn.visit.depth.into());
        self.take(turn, true, scratch, watch)
    }

    /// Takes a turn: makes the moves of its actor. In the first one, what is wrong in the state is told too.
    fn take(
        &mut self,
        mut turn: Turn,
        first: bool,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let Visit { state, depth } = turn.visit;
        watch.tick(&self.counts, depth, &self.memory)?;
        let system = self.system;
        let mut bytes = std::mem::take(&mut self.bytes);
        self.get(state, &mut bytes);
        let actor = usize::from(turn.actor);
        let lives = actor < system.takers(&bytes);
        if lives {
            turn.asked += 1;
            turn.mover = system.mover(&bytes, actor);
        }
        let uncommitted = if turn.goes_on_uncommitted() { turn.actor + 1 } else { 0 };
        let mut telling = Telling::of(self, depth, uncommitted);
        let mut flow = Flow::Continue(());
        if first {
            flow = system.inspect(&bytes, scratch, &mut telling);
        }
        if flow.is_continue() && lives {
            flow = system.expand_turn(&bytes, actor, scratch, &mut telling);
        }
        let limit = telling.limit;
        self.bytes = bytes;
        let is_stuck = self.fresh.visits.is_empty();
        turn.ended |= !turn.uncommitted && (!turn.mover.left || is_stuck);
        turn.left = self.fresh.visits.len() as u32;
        self.turns.push(turn, &self.memory)?;
        self.report_fresh()?;
        watch.broken_off(limit, flow)?;
        self.complete(state, turn.ended)?;
        while let Some(visit) = self.fresh.visits.pop() {
            self.waiting.push(visit, &self.memory)?;
        }
        self.counts.expanded += u64::from(first);
        Ok(())
    }

    /// The state of a number, without who is before its commit.
    fn get(&mut self, state: u32, out: &mut Vec<u8>) {
        self.store.get(state, out, &mut self.worker);
        out.pop();
    }

    /// Ends a turn; the next one in the same state begins if there is one.
    fn leave(
        &mut self,
        mut turn: Turn,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let state = turn.visit.state;
        if self.completes && !turn.uncommitted && !turn.right && !self.completed.contains(state) {
            turn.ended = true;
            self.counts.forced_completions += 1;
        }
        self.complete(state, turn.ended)?;
        if let Some(before) = self.turns.len().checked_sub(1) {
            let before = self.turns.get(before).visit.state;
            self.complete(before, self.completed.contains(state))?;
        }
        if !turn.ended {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        self.get(state, &mut bytes);
        let takers = self.system.takers(&bytes);
        self.bytes = bytes;
        if usize::from(turn.asked) == takers {
            return Ok(());
        }
        let next = (usize::from(turn.actor) + takers - 1) % takers;
        self.take(Turn { actor: next as u8, ..turn }, false, scratch, watch)
    }

    /// Meets what went wrong in the last turn.
    fn report_fresh(&mut self) -> Result<(), Stopped> {
        let violations = std::mem::take(&mut self.fresh.violations);
        violations.into_iter().try_for_each(|(violation, length)| self.report(violation, length))
    }

    /// Meets a violation; the run to it is the current one.
    fn report(&mut self, violation: Violation, length: u32) -> Result<(), Stopped> {
        self.counts.errors += 1;
        let mut stop = Ok(());
        if self.findings.known(violation).is_none() {
            let last = self.findings.len() + 1 == self.request.errors;
            // A run that ends the search needs no copy.
            let path = if last {
                stop = Err(Stopped::Errors);
                None
            } else {
                self.path().inspect_err(|&limit| stop = Err(Stopped::Limit(limit))).ok()
            };
            self.findings.add(violation, length, path);
        }
        if let Some(example) = self.findings.known(violation) {
            example.occurrences += 1;
        }
        stop
    }

    /// The states of the current run.
    fn path(&self) -> Result<Vec<Visit>, Limit> {
        self.memory.take((self.turns.len() * size_of::<Visit>()) as u64)?;
        Ok(self.turns.iter().map(|turn| turn.visit).collect())
    }

    fn finish(mut self, scratch: &mut S::Scratch, stopped: Option<Stopped>) -> Outcome {
        self.counts.memory = self.memory.peak();
        let mut errors = Vec::new();
        for example in self.findings.into_examples() {
            let path =
                example.path.unwrap_or_else(|| self.turns.iter().map(|turn| turn.visit).collect());
            let worker = &mut self.worker;
            let path = path.iter().map(|visit| {
                let mut key = Vec::new();
                self.store.get(visit.state, &mut key, worker);
                // Who is before its commit is no part of the system's states.
                key.pop();
                (key, visit.depth)
            });
            let run = rebuild(self.system, scratch, path, example.violation, example.length, false);
            errors.push(Found {
                violation: example.violation,
                steps: run.steps,
                cycle: None,
                occurrences: example.occurrences,
                shortest: false,
            });
        }
        Outcome { errors, met: 0, counts: self.counts, stopped, truncated: false }
    }
}

impl Turn {
    fn new(visit: Visit, actor: u8) -> Self {
        Self {
            visit,
            actor,
            asked: 0,
            left: 0,
            uncommitted: false,
            ended: false,
            right: false,
            mover: Mover::default(),
        }
    }

    /// Whether the actor is before its commit after its next move.
    fn goes_on_uncommitted(&self) -> bool {
        self.mover.right && (self.uncommitted || !self.mover.left)
    }
}

/// Takes the moves of one actor.
struct Telling<'e, S, T> {
    system: &'e S,
    memory: &'e Memory,
    counts: &'e mut Counts,
    store: &'e T,
    worker: &'e mut Worker,
    fresh: &'e mut Fresh,
    depth: u32,
    /// Who is before its commit afterwards, counted from 1.
    uncommitted: u8,
    key: &'e mut Vec<u8>,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<'e, S: System, T: Store> Telling<'e, S, T> {
    fn of(search: &'e mut Transactions<'_, S, T>, depth: u32, uncommitted: u8) -> Self {
        Self {
            system: search.system,
            memory: &search.memory,
            counts: &mut search.counts,
            store: &search.store,
            worker: &mut search.worker,
            fresh: &mut search.fresh,
            depth,
            uncommitted,
            key: &mut search.key,
            limit: None,
        }
    }

    /// The number of a state.
    fn number(&mut self, state: &[u8]) -> Result<u32, Limit> {
        self.key.clear();
        if self.key.capacity() <= state.len() {
            // For this key, and for the state when it is its turn.
            self.memory.lend(2 * state.len() as u64)?;
            self.key.reserve_exact(state.len() + 1);
        }
        self.key.extend_from_slice(self.system.key(state));
        self.key.push(self.uncommitted);
        let prepared = self.store.prepare(self.key, self.worker)?;
        let (number, new) = self.store.insert(self.key, prepared, self.worker)?;
        if new {
            self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
        }
        Ok(number)
    }
}

impl<S: System, T: Store> Sink for Telling<'_, S, T> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.counts.transitions += 1;
        let depth = longer(self.depth, length(steps));
        let number = self.number(state);
        let noted = number.map(|state| self.fresh.visits.push(Visit { state, depth }));
        unless_hit(noted, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let depth = longer(self.depth, length(steps));
        self.fresh.violations.push((violation, depth));
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.memory.lend((bytes + self.fresh.bytes()) as u64), &mut self.limit)
    }
}
