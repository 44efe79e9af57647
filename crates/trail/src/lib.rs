//! Runs of a model: how they are stored, replayed and shown.
//!
//! A run is a list of [`Step`](spinward_machine::Step)s. [`spin_format`] reads and writes it as
//! SPIN's trail files do. [`guided`] fits a trail of SPIN to the model and gives its steps.
//! [`mod@replay`] takes the steps one by one through the machine, so that nothing is shown that the
//! model cannot do. [`run`] tells each of them in the model's own terms, with what it changed
//! ([`values`]) and the messages it sends and receives ([`messages`]); [`listing`] prints that for people,
//! [`spin_listing`] as SPIN would. [`chart`] makes a sequence chart of it, which [`chart_text`] draws for
//! terminals and [`chart_svg`] for browsers; [`report_html`] puts all of it on one page. [`mod@dependence`] tells
//! which steps have to do with each other, so that those can be dimmed that have nothing to do with an error, and
//! [`switches`] puts the others in an order in which processes change less often. [`words`] has numbers as people
//! read them.

pub mod chart;
pub mod chart_svg;
pub mod chart_text;
pub mod dependence;
pub mod guided;
pub mod listing;
pub mod messages;
pub mod replay;
pub mod report_html;
pub mod run;
pub mod spin_format;
pub mod spin_listing;
pub mod switches;
pub mod values;
pub mod words;

pub use chart::Chart;
pub use dependence::{Dependence, dependence};
pub use guided::{Fitted, fit};
pub use listing::Listing;
pub use messages::{Message, MessageKind};
pub use replay::{Event, Misfit, Outcome, Walker, confirm, goes_round, replay};
pub use report_html::{Answer, Report};
pub use run::{Run, StepLine, describe};
pub use spin_format::Trail;
pub use switches::{Rearranged, fewest_switches};
