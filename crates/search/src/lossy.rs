//! Depth-first search that remembers less than the states it has visited.
//!
//! Holzmann, *The SPIN Model Checker*, chapter 9 (bitstate hashing and hash compaction); Dillinger
//! and Manolios, *Enhanced probabilistic verification with 3Spin and 3Murphi*, SPIN 2005. A table
//! of fixed size holds a few bits or a signature of each state, and may take a new state for a
//! known one, which is then left out, with all that is reached only through it. The order is
//! SPIN's, and errors are real: the states of the current run are on the stack.
//!
//! *Invariant*: a state is visited at most once, so there are never more than in a search that
//! forgets nothing; if no state is lost, it is that search.
//!
//! *Cost*: the table, and a stack of states. With a bound on the depth a state that was first
//! reached by a long run is not visited again by a shorter one, as in SPIN without `-DREACH`.

use spinward_machine::System;
use spinward_store::{Bitstate, Compact, Full, Lossy, Omissions, Table, Worker};

use crate::carrying::{Plain, Recall, Visit, search};
use crate::limits::{Limit, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request};

/// Searches depth-first with a table that may lose states; also tells how many it probably lost.
/// No run is promised to be a shortest one.
pub fn lossy<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    table: Table,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, Omissions) {
    let request = &Request { shortest: false, ..request.clone() };
    let memory = Memory::new(request.limits.memory);
    let budget = memory.budget().clone();
    let result = match table {
        Table::Bitstate { bytes, hashes } => Bitstate::new(bytes, hashes, &budget)
            .map(|table| run(system, scratch, request, progress, table, memory)),
        Table::Compact { bytes, bits } => Compact::new(bytes, bits, &budget)
            .map(|table| run(system, scratch, request, progress, table, memory)),
    };
    let without_room = |full: Full| (Outcome::without_room(full.into()), Omissions::default());
    result.unwrap_or_else(without_room)
}

fn run<S: System, T: Lossy>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
    table: T,
    memory: Memory,
) -> (Outcome, Omissions) {
    let watch = Watch::new(&request.limits, progress);
    let recall = InTable::new(table);
    let (outcome, InTable { table, .. }) =
        search(system, scratch, request, watch, (recall, &mut Plain), memory);
    (outcome, table.omissions())
}

/// What the table knows.
pub(crate) struct InTable<T> {
    pub table: T,
    worker: Worker,
}

impl<T> InTable<T> {
    pub fn new(table: T) -> Self {
        Self { table, worker: Worker::default() }
    }
}

impl<T: Lossy> Recall for InTable<T> {
    const FORGETS: bool = false;

    fn prepare(&mut self, key: &[u8]) -> Result<u64, Limit> {
        let prepared = self.table.prepare(key, &mut self.worker)?;
        self.table.prefetch(prepared);
        Ok(prepared)
    }

    fn knows(&mut self, key: &[u8], prepared: u64, _: u32) -> Result<bool, Limit> {
        Ok(self.table.contains(key, prepared))
    }

    fn enter(&mut self, key: &[u8], _: u32, _: &Memory) -> Result<Visit, Limit> {
        let prepared = self.table.prepare(key, &mut self.worker)?;
        Ok(Visit::once(self.table.insert(key, prepared)?))
    }
}
