//! Runs of a model: how they are stored, replayed and shown.
//!
//! A run is a list of [`Step`](spinward_machine::Step)s. [`spin_format`] reads and writes it as
//! SPIN's trail files do. [`guided`] fits a trail of SPIN to the model and gives its steps.
//! [`mod@replay`] takes the steps one by one through the machine, so that nothing is shown that the
//! model cannot do. [`run`] tells each of them in the model's own terms, with what it changed
//! ([`values`]); [`listing`] prints that for people, [`spin_listing`] as SPIN would.

pub mod guided;
pub mod listing;
pub mod replay;
pub mod run;
pub mod spin_format;
pub mod spin_listing;
pub mod values;

pub use guided::{Fitted, fit};
pub use listing::Listing;
pub use replay::{Event, Misfit, Outcome, confirm, replay};
pub use run::{Run, StepLine, describe};
pub use spin_format::Trail;
