//! Have we seen this state?
//!
//! Sets of byte strings (*keys*) that threads share; what they allocate is taken from a [`Budget`]
//! first. Those that implement [`Store`] know all their keys:
//!
//! - [`Exact`]: keys as they are, behind an index in cache lines.
//! - [`Tree`]: keys as binary trees with shared parts: exact, some 8 to 16 bytes a state.
//!
//! [`Flat`] is a set for one thread that gives no numbers, and therefore the fastest; with keys as a
//! [`Packing`] writes them, or with the roots of trees of [`Parts`], it is also the smallest.
//!
//! Those that implement [`Lossy`] may take a new key for a known one; [`omission`] says how often to
//! expect that:
//!
//! - [`Compact`]: a signature of 32 to 64 bits for each key, in a table of fixed size.
//! - [`Bitstate`]: a few bits for each key, in a table of fixed size.

mod bitstate;
mod budget;
mod changes;
mod chunks;
mod compact;
pub mod delta;
mod exact;
mod flat;
mod index;
mod interner;
#[cfg(all(test, loom))]
mod loom_tests;
pub mod omission;
mod packets;
mod packing;
mod satellites;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;
mod tree;
mod words;
mod zeroed;

use rapidhash::v3::rapidhash_v3;
use thiserror::Error;

pub use bitstate::{Bitstate, MAX_HASHES};
pub use budget::{Budget, OutOfMemory};
pub use changes::{Changes, Found, Key, Lesson, Look};
pub use compact::{Compact, SIGNATURE_BITS};
pub use exact::Exact;
pub use flat::{Density, Flat, Spot};
pub use omission::{Omissions, Table};
pub use packets::{Changed, Packets};
pub use packing::{Learner, Live, Packing};
pub use satellites::{Bytes, Flags, Numbers};
pub use tree::{Parts, Tree};
pub use zeroed::{Apart, apart, forget_code, keep_little, trim};

/// The number of a state: dense from 0, in the order of insertion.
pub type Id = u32;

/// Why a state was not inserted. What was inserted before is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Full {
    /// The budget is used up.
    #[error("the memory budget is used up")]
    Memory,
    /// A table of fixed size is full.
    #[error("the table is full")]
    Table,
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
/// meanwhile: with a batch of keys first [`prepare`](Set::prepare) and [`prefetch`](Set::prefetch)
/// all, then perhaps [`prefetch_key`](Set::prefetch_key) all, then insert all.
pub trait Set: Sync {
    /// What inserting needs to know of a key: its hash, or, in a tree, its parts, which are inserted
    /// here.
    fn prepare(&self, key: &[u8], worker: &mut Worker) -> Result<u64, Full>;

    /// Brings into the cache what inserting this key will look at first.
    fn prefetch(&self, prepared: u64);

    /// Brings into the cache the key that is probably known by this hash. To be called some time
    /// after [`prefetch`](Set::prefetch).
    fn prefetch_key(&self, _prepared: u64) {}

    /// How many keys.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes taken from the budget.
    fn bytes(&self) -> u64;
}

/// A set that knows all its keys, by numbers.
pub trait Store: Set {
    /// The number of a key and whether it is new.
    ///
    /// When no insertion is under way, the numbers given are those below [`len`](Set::len), each to
    /// one key; of all threads that insert a key, one is told that it is new.
    fn insert(&self, key: &[u8], prepared: u64, worker: &mut Worker) -> Result<(Id, bool), Full>;

    /// Writes the key with this number, which was given to this thread or handed over to it, to
    /// `out`, replacing what is there. A worker that goes on to prepare keys similar to this one
    /// does so faster.
    fn get(&self, id: Id, out: &mut Vec<u8>, worker: &mut Worker);
}

/// A set that cannot give its keys back, and that may take a new key for a known one. One that was
/// inserted is never taken for new.
pub trait Lossy: Set {
    /// Whether a key is known, or taken for known.
    fn contains(&self, key: &[u8], prepared: u64) -> bool;

    /// Inserts a key; whether it is new. Of several threads that insert it at a time, [`Bitstate`]
    /// may tell so to more than one, which costs time only.
    fn insert(&self, key: &[u8], prepared: u64) -> Result<bool, Full>;

    /// How many keys were probably taken for known though they were new.
    fn omissions(&self) -> Omissions;
}

/// The hash of a key.
#[inline]
pub fn hash(key: &[u8]) -> u64 {
    rapidhash_v3(key)
}

/// What a thread keeps between two calls to a store; a worker belongs to one store.
#[derive(Debug, Default)]
pub struct Worker {
    exact: exact::Block,
    tree: tree::Path,
}
