//! Have we seen this state?
//!
//! Sets of byte strings (*keys*) that threads share. Every store implements [`Store`]; what it
//! allocates is taken from a [`Budget`] first.
//!
//! - [`Exact`]: keys as they are, behind an index in cache lines.
//! - [`Tree`]: keys as binary trees with shared parts: exact, some 8 to 16 bytes a state.
//!
//! [`Flat`] is a set for one thread that gives no numbers, and therefore the fastest.

mod budget;
mod chunks;
mod exact;
mod flat;
mod index;
mod interner;
#[cfg(all(test, loom))]
mod loom_tests;
mod satellites;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;
mod tree;
mod words;
mod zeroed;

use thiserror::Error;

pub use budget::{Budget, OutOfMemory};
pub use exact::Exact;
pub use flat::Flat;
pub use satellites::{Bytes, Flags, Numbers};
pub use tree::Tree;

/// The number of a state: dense from 0, in the order of insertion.
pub type Id = u32;

/// Why a state was not inserted. What was inserted before is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Full {
    /// The budget, or a table of fixed size, is used up.
    #[error("the memory budget is used up")]
    Memory,
    /// There are more states or parts of states than can be numbered.
    #[error("more states than can be numbered")]
    Numbers,
}

impl From<OutOfMemory> for Full {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::Memory
    }
}

/// A set of keys that threads share.
///
/// To insert a key takes two steps, so that the memory it will touch can be brought into the cache
/// meanwhile: with a batch of keys first [`prepare`](Store::prepare) and
/// [`prefetch`](Store::prefetch) all, then perhaps [`prefetch_key`](Store::prefetch_key) all, then
/// [`insert`](Store::insert) all.
pub trait Store: Sync {
    /// What [`insert`](Store::insert) needs to know of a key: its hash, or, in a tree, its parts,
    /// which are inserted here.
    fn prepare(&self, key: &[u8], worker: &mut Worker) -> Result<u64, Full>;

    /// Brings into the cache what inserting this key will look at first.
    fn prefetch(&self, prepared: u64);

    /// Brings into the cache the key that is probably known by this hash. To be called some time
    /// after [`prefetch`](Store::prefetch).
    fn prefetch_key(&self, _prepared: u64) {}

    /// The number of a key and whether it is new.
    ///
    /// When no insertion is under way, the numbers given are those below [`len`](Store::len), each
    /// to one key; of all threads that insert a key, one is told that it is new.
    fn insert(&self, key: &[u8], prepared: u64, worker: &mut Worker) -> Result<(Id, bool), Full>;

    /// Writes the key with this number, which was given to this thread or handed over to it, to
    /// `out`, replacing what is there. A worker that goes on to prepare keys similar to this one
    /// does so faster.
    fn get(&self, id: Id, out: &mut Vec<u8>, worker: &mut Worker);

    /// How many keys.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes taken from the budget.
    fn bytes(&self) -> u64;
}

/// What a thread keeps between two calls to a store; a worker belongs to one store.
#[derive(Debug, Default)]
pub struct Worker {
    exact: exact::Block,
    tree: tree::Path,
}
