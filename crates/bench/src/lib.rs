//! Measures spinward beside SPIN.
//!
//! [`run`] takes a [`Plan`] (models, ways in which SPIN searches, options of ours) and runs one job at a
//! time, in turn and in rounds. [`Results`] compares the medians: the time from the source to the
//! verdict, states in a CPU second, bytes a state. [`run_ltl`] takes an [`LtlPlan`] and does the same with
//! each temporal property of the models: [`LtlResults`] compares CPU time, verdicts and lengths of runs.
//! [`run_auto`] takes an [`AutoPlan`] and compares our default search with every other one of ours.
//! [`Folder`] keeps a run with its date and machine.
//!
//! | question | where |
//! | --- | --- |
//! | What is run, and in which order? | `run.rs` |
//! | How is SPIN run, how we, how Stateright? | `spin.rs`, `ours.rs`, `stateright.rs` |
//! | What of temporal properties? | `ltl.rs` |
//! | What of states on disk? | `disk.rs` |
//! | What does it cost to leave the search open? | `auto.rs` |
//! | How is a job measured? | `process.rs`, `usage.rs` |
//! | What is compared? | `measure.rs`, `results.rs`, `stats.rs` |
//! | How is it shown and kept? | `table.rs`, `csv.rs`, `plot.rs`, `keep.rs` |
//!
//! *Invariant:* a job that gives no figures is told with the reason, never left out.

mod auto;
mod csv;
mod disk;
mod keep;
mod ltl;
mod machine;
mod measure;
pub mod models;
mod ours;
pub mod pan;
mod plot;
mod process;
mod results;
mod run;
mod spin;
mod stateright;
mod stats;
mod table;
mod tools;
mod usage;

pub use auto::{AutoPlan, AutoResults, AutoRow, run_auto};
pub use disk::{DiskPlan, DiskResults, DiskRow, WAYS, run_disk};
pub use keep::Folder;
pub use ltl::{LtlPlan, LtlResults, LtlRow, Verdict, run_ltl};
pub use machine::Machine;
pub use measure::{Figures, Measured, TOO_FEW_STATES};
pub use ours::Variant;
pub use results::{Results, Row, Skipped};
pub use run::{Job, Pick, Plan, Watch, run};
pub use spin::{MODES, Mode, mode};
pub use stateright::Stateright;
pub use stats::Summary;
pub use tools::missing_tools;
