//! States on disk: what does not fit into memory.
//!
//! A [`Run`] is a sorted set of records, a string of bytes and a number each, in blocks that are compressed and
//! checksummed; a [`Cursor`] goes through it in order and skips what nobody asks for, and a [`Merge`] goes through
//! several at a time. Runs lie in the files of a [`Folder`], through which all reading and writing goes, and which
//! keeps what it is told as *manifests*: a manifest is there as a whole or not at all, so what it lists is what a
//! program that was killed has to go on with. This room knows neither models nor searches.

mod error;
mod folder;
mod lock;
mod merge;
mod run;

pub use error::Error;
pub use folder::{Faults, Folder, NewFile};
pub use lock::Lock;
pub use merge::Merge;
pub use run::{BLOCK, Cursor, Record, Run, RunWriter, Section};
