//! The language server: Promela in editors.
//!
//! It speaks the [Language Server Protocol](https://microsoft.github.io/language-server-protocol/) and is
//! wiring around `spinward-promela`: `server` is the conversation, `requests` what is asked in it,
//! `workspace` knows which open texts make up which model, `analysis` and `names` what a model and its
//! names mean. One thread answers in the order of the questions; edits are applied when they come, and
//! what is wrong is told when nothing else is waiting.
//!
//! *Invariant*: whatever is in a text, however broken, an answer comes; and nothing that is asked changes
//! a file.

mod analysis;
mod capabilities;
mod check;
mod completion;
mod describe;
mod diagnostics;
mod documents;
mod formatting;
mod keywords;
mod names;
mod outline;
mod rename;
mod requests;
mod server;
mod settings;
mod text;
mod uri;
mod workspace;

use lsp_server::Connection;

pub use server::serve;

/// Speaks with a client on standard input and output until it says goodbye. False if it left without
/// a word.
pub fn serve_stdio() -> std::io::Result<bool> {
    let (connection, threads) = Connection::stdio();
    let clean = serve(connection);
    threads.join()?;
    Ok(clean)
}
