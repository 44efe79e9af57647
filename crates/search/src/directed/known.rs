//! The states that a search knows, and the way to each: for searches that expand states in whatever order.
//!
//! Which states are wanted, when a state counts and what else is known of it is up to the search.
//!
//! *Cost*: besides its key, 8 bytes for each state: where it was reached from, and which of the successors there it is.

use std::sync::atomic::AtomicBool;

use spinward_guide::{Guide, Room, Way};
use spinward_machine::{System, Violation, system::length};
use spinward_store::{Bytes, Full, Numbers, Store, Worker};

use super::fresh::{Fresh, Seen, Successor};
use super::runs::Runs;
use super::{Directed, Range};
use crate::buffer::Buffer;
use crate::limits::{Limit, Memory, Watch, bound, longer};
use crate::outcome::{Counts, Outcome, Request, Stopped};

/// A state that was reached by a run of some length, and how far it seems to be from an error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub number: u32,
    pub length: u32,
    pub estimate: u32,
}

/// What is searched, and where its states are.
pub(super) struct Shared<'a, S, T> {
    pub system: &'a S,
    pub directed: Directed<'a>,
    pub store: T,
    pub memory: Memory,
    /// Set when the search is over: nobody waits any more for what other threads do.
    pub over: AtomicBool,
}

impl<'a, S, T> Shared<'a, S, T> {
    pub fn new(system: &'a S, directed: Directed<'a>, store: T, memory: Memory) -> Self {
        Self { system, directed, store, memory, over: AtomicBool::new(false) }
    }
}

/// What a thread works with.
#[derive(Default)]
pub(super) struct Hand {
    pub worker: Worker,
    pub room: Room,
    key: Vec<u8>,
    /// The state at hand.
    pub state: Vec<u8>,
}

impl Hand {
    /// Takes a state of which this is not part of its key.
    pub fn take<T: Store>(&mut self, number: u32, hidden: impl FnOnce(&mut Vec<u8>), store: &T) {
        store.get(number, &mut self.key, &mut self.worker);
        self.state.clear();
        hidden(&mut self.state);
        self.state.extend_from_slice(&self.key);
    }
}

/// The states that a search knows.
pub(super) struct Known<'a, S, T> {
    shared: &'a Shared<'a, S, T>,
    max_states: u64,
    /// Longer runs are not looked at.
    pub bound: u32,
    hand: Hand,
    /// By state: the one it was reached from, and which of its successors it is.
    parents: Numbers,
    successors: Numbers,
    /// What is not part of a state's key, as the run to it that was noted last leaves it.
    hidden: Bytes,
    fresh: Fresh,
    /// The states that the last expansion came to and that were wanted, in order.
    pub reached: Buffer<Reached>,
    pub counts: Counts,
    pub range: Range,
    /// Whether the bound cut off a state or an error.
    pub truncated: bool,
}

impl<'a, S: System, T: Store> Known<'a, S, T> {
    pub fn new(shared: &'a Shared<'a, S, T>, request: &Request) -> Result<Self, Full> {
        let Shared { system, memory, .. } = shared;
        let mut hand = Hand::default();
        system.initial(&mut hand.state);
        let hidden = hand.state.len() - system.key(&hand.state).len();
        let budget = memory.budget();
        Ok(Self {
            shared,
            max_states: request.limits.max_states.unwrap_or(u64::MAX),
            bound: bound(&request.limits),
            hand,
            parents: Numbers::new(budget)?,
            successors: Numbers::new(budget)?,
            hidden: Bytes::new(hidden, budget)?,
            fresh: Fresh::new(memory),
            reached: Buffer::new(memory),
            counts: Counts::default(),
            range: Range::of(0),
            truncated: false,
        })
    }

    /// The initial state, which is to be expanded first.
    pub fn begin(&mut self) -> Result<Reached, Limit> {
        let Shared { system, directed, store, .. } = self.shared;
        let Hand { worker, room, state, .. } = &mut self.hand;
        self.counts.transitions = 1;
        let key = system.key(state);
        let prepared = store.prepare(key, worker)?;
        let (number, _) = store.insert(key, prepared, worker)?;
        self.hidden.set(number, &state[..self.hidden.width()])?;
        let estimate = directed.guide.estimate(state, Way::default(), room);
        self.range = Range::of(estimate);
        self.counts.state_bytes = state.len() as u64;
        self.count_state()?;
        Ok(Reached { number, length: 0, estimate })
    }

    /// One more state is visited, if there may be more.
    pub fn count_state(&mut self) -> Result<(), Limit> {
        if self.counts.states >= self.max_states {
            return Err(Limit::States);
        }
        self.counts.states += 1;
        Ok(())
    }

    /// A state is to be expanded.
    pub fn visit(&mut self, from: Reached, watch: &mut Watch<'_>) -> Result<(), Limit> {
        // Also if it ends here: what the last one came to is dealt with.
        self.fresh.clear();
        self.reached.clear();
        watch.note_estimate(from.estimate);
        watch.tick(&self.counts, from.length, &self.shared.memory)?;
        self.counts.depth = self.counts.depth.max(from.length.into());
        Ok(())
    }

    /// What a guide says of a state, however it was reached.
    pub fn ask(&mut self, guide: &dyn Guide, number: u32) -> u32 {
        self.get(number);
        guide.estimate(&self.hand.state, Way::default(), &mut self.hand.room)
    }

    /// Adds to `out` what is not part of the key of a state.
    pub fn read_hidden(&self, number: u32, out: &mut Vec<u8>) {
        self.hidden.read(number, out);
    }

    fn get(&mut self, number: u32) {
        self.hand.take(number, |out| self.hidden.read(number, out), &self.shared.store);
    }

    /// Expands a state: what came of it, to be noted and [kept](Known::keep), and what broke it off, if anything
    /// did.
    pub fn expand(
        &mut self,
        number: u32,
        scratch: &mut S::Scratch,
        watch: &Watch<'_>,
    ) -> (Fresh, Result<(), Limit>) {
        self.get(number);
        let mut fresh = std::mem::replace(&mut self.fresh, Fresh::new(&self.shared.memory));
        let Hand { state, worker, .. } = &mut self.hand;
        let (limit, flow) = fresh.expand(state, self.shared, worker, scratch);
        (fresh, watch.broken_off(limit, flow))
    }

    /// Takes back what came of the last expansion, for its errors and its room.
    pub fn keep(&mut self, fresh: Fresh) {
        self.fresh = fresh;
    }

    /// Visits and expands a state. Of its successors those that are `wanted`, each asked for by its number, are
    /// [`Known::reached`] from it now. All that are new count.
    pub fn expand_to_wanted(
        &mut self,
        from: Reached,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
        wanted: impl FnMut(u32) -> Result<bool, Limit>,
    ) -> Result<(), Limit> {
        self.visit(from, watch)?;
        let (fresh, whole) = self.expand(from.number, scratch, watch);
        let taken = self.take_wanted(&fresh, from, wanted);
        self.keep(fresh);
        whole.and(taken)?;
        self.counts.expanded += 1;
        Ok(())
    }

    fn take_wanted(
        &mut self,
        fresh: &Fresh,
        from: Reached,
        mut wanted: impl FnMut(u32) -> Result<bool, Limit>,
    ) -> Result<(), Limit> {
        for successor in fresh.successors() {
            let (number, is_new) = self.look_up(successor)?;
            if is_new {
                self.count_state()?;
                self.note_size(successor);
            }
            let length = longer(from.length, length(successor.steps));
            if length > self.bound {
                self.truncated |= is_new;
            } else if wanted(number)? {
                let estimate = self.estimate(successor, from.estimate);
                self.reach(number, from.number, successor)?;
                self.reached.push(Reached { number, length, estimate })?;
            }
        }
        Ok(())
    }

    /// The number of a successor, and whether it is new.
    fn look_up(&mut self, successor: Successor<'_>) -> Result<(u32, bool), Limit> {
        let Shared { system, store, .. } = self.shared;
        self.counts.transitions += 1;
        let key = system.key(successor.state);
        Ok(store.insert(key, successor.prepared, &mut self.hand.worker)?)
    }

    /// The number of a successor, which may have been looked up; none if a run that is not longer is known.
    pub fn find(&mut self, successor: Successor<'_>) -> Result<Option<u32>, Limit> {
        let number = match successor.seen {
            Seen::NotYet => return Ok(Some(self.look_up(successor)?.0)),
            Seen::Before => None,
            Seen::At(number, _) => Some(number),
        };
        self.counts.transitions += 1;
        Ok(number)
    }

    /// How far a successor of a state with this estimate seems to be from an error.
    pub fn estimate(&mut self, successor: Successor<'_>, before: u32) -> u32 {
        let estimate = match successor.seen {
            Seen::At(_, Some(estimate)) => estimate,
            _ => {
                let way = Way { before, steps: successor.steps };
                let guide = self.shared.directed.guide;
                guide.estimate(successor.state, way, &mut self.hand.room)
            }
        };
        self.range.note(estimate);
        estimate
    }

    /// A new state is as large as that.
    pub fn note_size(&mut self, successor: Successor<'_>) {
        self.counts.state_bytes = self.counts.state_bytes.max(successor.state.len() as u64);
    }

    /// The way to a state is by a successor of another one.
    pub fn reach(
        &mut self,
        number: u32,
        parent: u32,
        successor: Successor<'_>,
    ) -> Result<(), Limit> {
        self.parents.set(number, parent)?;
        self.successors.set(number, successor.index)?;
        self.hidden.set(number, &successor.state[..self.hidden.width()])?;
        Ok(())
    }

    /// How many errors the last expansion came to.
    pub fn violations(&self) -> usize {
        self.fresh.violations.len()
    }

    /// One of them, with the length of the run to it and by how much it is longer than that to the state expanded;
    /// none if it is beyond the bound.
    pub fn violation(&mut self, index: usize, from: Reached) -> Option<(Violation, (u32, u32))> {
        let (violation, by) = self.fresh.violations[index];
        let total = longer(from.length, by as usize);
        if total > self.bound {
            self.truncated = true;
            return None;
        }
        self.counts.errors += 1;
        Some((violation, (total, by)))
    }

    /// Which successors a run takes from one state to another.
    pub fn path(&self, from: u32, to: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut number = to;
        while number != from {
            path.push(self.successors.get(number));
            number = self.parents.get(number);
        }
        path.reverse();
        path
    }

    /// Puts together what a search found that looks at a part only, of which it left out so many states, if any.
    pub fn finish(
        self,
        runs: Runs,
        request: &Request,
        scratch: &mut S::Scratch,
        stopped: Option<Stopped>,
        left_out: Option<u64>,
    ) -> (Outcome, Range) {
        let Shared { system, memory, .. } = self.shared;
        let stopped = stopped.or(left_out.map(|count| Stopped::LeftOut(Some(count))));
        let counts = Counts { memory: memory.peak(), ..self.counts };
        let errors = request.limits.undisturbed(|| runs.finish(*system, scratch));
        let truncated = self.truncated && stopped.is_none();
        (Outcome { errors, met: 0, counts, stopped, truncated }, self.range)
    }
}
