//! Which infinite runs are errors.
//!
//! Each file here turns the machine into a [`System`](crate::System) whose edges are marked: an infinite run
//! is an error if it meets each set of marked edges again and again. `labels.rs` marks what leads through
//! places labelled `accept`, in a claim or in processes; `product.rs` lets an automaton follow the run, such as
//! that of a formula of temporal logic; `fair.rs` adds marks that only runs have that are fair to all processes.

use spinward_property::components::{Class, Components};

use crate::system::Cycles;

mod fair;
mod labels;
mod product;

pub use fair::{Fair, FairScratch, Fairness};
pub use labels::{Labelled, claim_automaton};
pub use product::{Follower, Product, ProductScratch};

/// By state of an automaton: its component, and what its cycles are worth.
fn classified(components: &Components) -> Vec<(u32, Cycles)> {
    let of = |&component: &u32| {
        let cycles = match components.classes[component as usize] {
            Class::Rejecting => Cycles::Fine,
            Class::Accepting => Cycles::Wrong,
            Class::Partial => Cycles::Judged,
        };
        (component, cycles)
    };
    components.of.iter().map(of).collect()
}
