//! Spinward, an explicit-state model checker for Promela, as a library.
//!
//! A model describes processes that run side by side. A check walks through every state they can
//! come to, and reports what is wrong on the way with a run that shows it: a false assertion, a
//! deadlock, a never claim that comes to its end, a trace that does not match, or a statement that
//! has no meaning.
//!
//! ```
//! use std::path::Path;
//! use spinward::{Check, Model, Verdict};
//!
//! // Two sellers, one seat: both may look before either takes it.
//! let text = "byte seats = 1, sold;
//!     active [2] proctype Seller() {
//!         if
//!         :: seats > 0 -> seats--; sold++
//!         :: else
//!         fi;
//!         assert(sold <= 1)
//!     }";
//! let model = Model::from_text(Path::new("seats.pml"), text.into(), &Default::default())?;
//! let report = Check::new(model).run()?;
//!
//! assert_eq!(report.verdict, Verdict::Violated);
//! let error = &report.errors[0];
//! assert_eq!(error.message, "assertion violated: assert(sold <= 1)");
//! assert_eq!(error.line, Some(7));
//! assert!(error.shortest, "breadth-first search is the default");
//! # Ok::<(), spinward::Error>(())
//! ```
//!
//! # How it is used
//!
//! A [`Model`] is read once, from a file ([`Model::load`]) or from text ([`Model::from_text`]), and
//! may be checked many times. [`Check`] says what to check and how: [properties](Property), the
//! [search](Search), limits. [`Check::run`] gives a [`Report`], which [serializes](Report::to_json)
//! to the JSON that scripts parse.
//!
//! # What is an error
//!
//! Mistakes of the caller or of the model are an [`Error`]. A limit that was hit is not; it makes
//! the report [incomplete](Verdict::Incomplete) and is among its [reasons](Report::reasons). Nothing
//! that is in a model makes this library panic or recurse without bound.
//!
//! # Runs
//!
//! Each [error](ReportedError) carries its run as steps of the machine. It was replayed before it is
//! reported. The crate `spinward_trail` turns steps into text or into a trail that SPIN replays.

mod audit;
mod check;
pub mod disk;
mod error;
mod known_run;
mod lossy;
pub mod memory;
mod model;
pub mod options;
mod plan;
mod report;
mod run;
mod shorten;
mod unreached;

pub use audit::{Audit, AuditRun};
pub use check::Check;
pub use error::Error;
pub use known_run::KnownRun;
pub use model::Model;
pub use options::{Engine, Fairness, Guide, Optimize, Por, Property, Search, Store};
pub use report::{
    CheckedProperty, Reason, ReasonCode, Recommendation, Report, ReportedDiagnostic, ReportedError,
    Seconds, Statistics, Unreached, Verdict,
};
pub use shorten::{Shorten, Shortened};
pub use spinward_machine::Stop;
pub use spinward_search::{Counts, Progress};
pub use spinward_trail::words;

/// The examples of the book.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/library.md")]
struct Book;
