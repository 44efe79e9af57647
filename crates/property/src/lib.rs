//! What is asked of all runs of a model?
//!
//! Temporal logic, and nothing of Promela: propositions are numbers, [atoms](Formula::atom), below
//! [`MAX_ATOMS`], and their texts are the caller's. The way of a property:
//!
//! ```
//! use spinward_property::{Components, Formula, buchi, translate};
//!
//! let (request, answer) = (Formula::atom(0), Formula::atom(1));
//! let property = request.implies(&answer.eventually()).always();
//! // A run that violates the property is one that its negation accepts.
//! let automaton = translate(&property.not())?;
//! assert!(Components::of(&automaton).is_weak());
//! assert_eq!(buchi(&automaton).states.len(), 2);
//! # Ok::<(), spinward_property::TooLarge>(())
//! ```

pub mod automaton;
pub mod components;
mod degeneralize;
pub mod evaluate;
mod formula;
pub mod hoa;
mod implication;
mod label;
#[cfg(test)]
mod label_tests;
mod merge;
pub mod patterns;
mod prefix;
pub mod print;
mod product;
mod rewrite;
mod simplify;
mod simulation;
mod stutter;
pub mod traces;
mod translate;
mod weak;

pub use automaton::{Automaton, Buchi, Cube, Edge, Label};
pub use components::{Class, Components};
pub use degeneralize::{buchi, degeneralize};
pub use evaluate::{Lasso, accepts, holds};
pub use formula::{Formula, MAX_ATOMS, Node};
pub use prefix::is_false_after;
pub use product::{accepted_word, difference, intersection};
pub use rewrite::simplify as simplify_formula;
pub use simplify::simplify as simplify_automaton;
pub use stutter::is_stutter_invariant;
pub use translate::{TooLarge, expand, translate, translate_to_buchi};
