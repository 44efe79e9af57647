//! Promela text to checked syntax.
//!
//! The way of the data: [`source`] holds the files, [`preprocess`] turns them into one stream of
//! [`token`]s (macros expanded, every token knowing where it came from), [`parser`] builds the
//! [`ast`], [`resolve`] finds what every name means and of what type every variable is
//! ([`symbols`]). Mistakes become [`diagnostic`]s that point into the text, each
//! with a [`code`], and [`render`] shows them; nothing the user writes makes this crate panic. [`pretty`] turns syntax back into text.

pub mod ast;
pub mod code;
pub mod diagnostic;
pub mod parser;
pub mod preprocess;
pub mod pretty;
pub mod render;
pub mod resolve;
pub mod source;
pub mod suggest;
pub mod symbols;
pub mod token;

mod load;

pub use code::Code;
pub use diagnostic::{Diagnostic, Severity};
pub use load::{Condition, Loaded, load, load_text};
pub use preprocess::{Includes, Options};
pub use source::{SourceMap, Span};
