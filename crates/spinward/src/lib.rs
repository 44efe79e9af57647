//! Spinward, a directed explicit-state model checker for Promela, as a library.
//!
//! ```no_run
//! use std::path::Path;
//! use spinward::{Check, Model, Verdict};
//!
//! let model = Model::load(Path::new("peterson.pml"), &Default::default())?;
//! let report = Check::new(model).run()?;
//! if report.verdict == Verdict::Violated {
//!     println!("{} steps lead to: {}", report.errors[0].steps, report.errors[0].message);
//! }
//! # Ok::<(), spinward::Error>(())
//! ```
//!
//! A [`Model`] is read once and may be checked many times. [`Check`] says what to check and how;
//! [`Check::run`] gives a [`Report`], which serializes to the JSON that scripts parse. Mistakes of
//! the caller or of the model are an [`Error`]; a limit that was hit is not, it is part of the
//! report.

mod check;
mod error;
pub mod memory;
mod model;
pub mod options;
mod plan;
mod report;
mod session;
mod unreached;

pub use check::Check;
pub use error::Error;
pub use model::{Formula, Model};
pub use options::{Engine, Fairness, Guide, Optimize, Por, Property, Search, Store};
pub use report::{
    Reason, ReasonCode, Report, ReportedError, Seconds, Statistics, Unreached, Verdict,
};
pub use spinward_search::Progress;
