//! The states that a search knows, and the way to each: for searches that expand states in whatever order.
//!
//! Which states are wanted, when a state counts and what else is known of it is up to the search.
//!
//! *Cost*: besides its key, 8 bytes for each state: where it was reached from, and which of the successors there it is.

use spinward_guide::{Guide, Room, Way};
use spinward_machine::{System, Violation, system::length};
use spinward_store::{Bytes, Full, Numbers, Store, Worker};

use super::fresh::{Expansion, Fresh, Successor};
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
}

/// The states that a search knows.
pub(super) struct Known<'a, S, T> {
    shared: &'a Shared<'a, S, T>,
    max_states: u64,
    /// Longer runs are not looked at.
    pub bound: u32,
    worker: Worker,
    room: Room,
    /// By state: the one it was reached from, and which of its successors it is.
    parents: Numbers,
    successors: Numbers,
    /// What is not part of a state's key, as the run to it that was noted last leaves it.
    hidden: Bytes,
    fresh: Fresh,
    /// The states that the last expansion came to and that were wanted, in order.
    pub reached: Buffer<Reached>,
    key: Vec<u8>,
    /// The state at hand.
    state: Vec<u8>,
    pub counts: Counts,
    pub range: Range,
    /// Whether the bound cut off a state or an error.
    pub truncated: bool,
}

impl<'a, S: System, T: Store> Known<'a, S, T> {
    pub fn new(shared: &'a Shared<'a, S, T>, request: &Request) -> Result<Self, Full> {
        let Shared { system, memory, .. } = shared;
        let mut state = Vec::new();
        system.initial(&mut state);
        let hidden = state.len() - system.key(&state).len();
        let budget = memory.budget();
        Ok(Self {
            shared,
            max_states: request.limits.max_states.unwrap_or(u64::MAX),
            bound: bound(&request.limits),
            worker: Worker::default(),
            room: Room::default(),
            parents: Numbers::new(budget)?,
            successors: Numbers::new(budget)?,
            hidden: Bytes::new(hidden, budget)?,
            fresh: Fresh::new(memory),
            reached: Buffer::new(memory),
            key: Vec::new(),
            state,
            counts: Counts::default(),
            range: Range::of(0),
            truncated: false,
        })
    }

    /// The initial state, which is to be expanded first.
    pub fn begin(&mut self) -> Result<Reached, Limit> {
        let Shared { system, directed, store, .. } = self.shared;
        self.counts.transitions = 1;
        let key = system.key(&self.state);
        let prepared = store.prepare(key, &mut self.worker)?;
        let (number, _) = store.insert(key, prepared, &mut self.worker)?;
        self.hidden.set(number, &self.state[..self.hidden.width()])?;
        let estimate = directed.guide.estimate(&self.state, Way::default(), &mut self.room);
        self.range = Range::of(estimate);
        self.counts.state_bytes = self.state.len() as u64;
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

    /// A state is the one at hand, which is to be expanded.
    pub fn visit(&mut self, from: Reached, watch: &mut Watch<'_>) -> Result<(), Limit> {
        // Also if it ends here: what the last one came to is dealt with.
        self.fresh.clear();
        self.reached.clear();
        watch.tick(&self.counts, from.length, &self.shared.memory)?;
        self.counts.depth = self.counts.depth.max(from.length.into());
        self.shared.store.get(from.number, &mut self.key, &mut self.worker);
        self.state.clear();
        self.hidden.read(from.number, &mut self.state);
        self.state.extend_from_slice(&self.key);
        Ok(())
    }

    /// What a guide says of the state at hand, however it was reached.
    pub fn ask(&mut self, guide: &dyn Guide) -> u32 {
        guide.estimate(&self.state, Way::default(), &mut self.room)
    }

    /// Expands the state at hand: what came of it, to be noted and given [back](Known::settle), and what broke it
    /// off, if anything did.
    pub fn expand(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &Watch<'_>,
    ) -> (Fresh, Result<(), Limit>) {
        let mut fresh = std::mem::replace(&mut self.fresh, Fresh::new(&self.shared.memory));
        let mut expansion = Expansion {
            shared: self.shared,
            worker: &mut self.worker,
            fresh: &mut fresh,
            limit: None,
        };
        let flow = self.shared.system.expand(&self.state, scratch, &mut expansion);
        let whole = watch.broken_off(expansion.limit, flow);
        (fresh, whole)
    }

    /// What came of the state at hand is noted, as far as it could be.
    pub fn settle(&mut self, fresh: Fresh, result: Result<(), Limit>) -> Result<(), Limit> {
        self.fresh = fresh;
        result?;
        self.counts.expanded += 1;
        Ok(())
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
        let (fresh, whole) = self.expand(scratch, watch);
        let taken = self.take_wanted(&fresh, from, wanted);
        self.settle(fresh, whole.and(taken))
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
    pub fn look_up(&mut self, successor: Successor<'_>) -> Result<(u32, bool), Limit> {
        let Shared { system, store, .. } = self.shared;
        self.counts.transitions += 1;
        let key = system.key(successor.state);
        Ok(store.insert(key, successor.prepared, &mut self.worker)?)
    }

    /// How far a successor of a state with this estimate seems to be from an error.
    pub fn estimate(&mut self, successor: Successor<'_>, before: u32) -> u32 {
        let way = Way { before, steps: successor.steps };
        let guide = self.shared.directed.guide;
        let estimate = guide.estimate(successor.state, way, &mut self.room);
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
