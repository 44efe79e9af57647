//! Is there an infinite run that must not be?
//!
//! A system that [judges](spinward_machine::System::sets) infinite runs marks its edges with the sets that
//! they are in; a run is an error if it meets each set again and again. In a finite graph there is one if and
//! only if a cycle can be reached whose edges meet all sets. These searches look for one, each in its own way,
//! and find what is wrong on finite runs besides:
//!
//! - [`scc`]: strongly connected components, for any number of sets.
//! - [`ndfs`]: the nested depth-first search of SPIN, for one set.
//! - [`indfs`]: the same with what is known of the components of a claim.
//! - [`astar_indfs`]: the same, led by a guide to where a cycle may be an error.
//! - [`se05`]: a nested depth-first search that finds cycles earlier, for one set.
//! - [`tau03`]: a nested depth-first search for any number of sets.
//! - [`parallel`]: nested depth-first searches of several threads that help each other, for one set.
//!
//! - [`strong`]: strongly connected components, for systems in which sets ask for others.
//!
//! Those for one set work on a [`degeneralized`] system if there are others.
//!
//! Each ends with the first cycle, and shows it by a short run (`lasso.rs`); if the shortest is asked for and
//! there is at most one set, by a shortest (`shortest.rs`).

pub mod astar_indfs;
mod chain;
pub mod degeneralized;
mod graph;
pub mod indfs;
mod lasso;
mod marked;
pub mod ndfs;
mod nearest;
pub mod parallel;
pub mod scc;
pub mod se05;
mod second;
pub mod shortest;
pub mod strong;
pub mod tau03;
mod walk;
