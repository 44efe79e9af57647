//! `spinward lsp`: the language server.

use crate::terminal::Failure;

const EXAMPLES: &str = "\
Editors start it; how to tell them is in the chapter on editors of the book.

Examples:
  # Helix: ~/.config/helix/languages.toml
  [language-server.spinward]
  command = \"spinward\"
  args = [\"lsp\"]";

/// Serve an editor: a language server on standard input and output.
///
/// It tells mistakes while you type, what names mean and where they are used, completes and renames
/// them, formats, and starts checks.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Speak on standard input and output, as is usual; for editors that insist on saying so
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Runs the command. The exit code is what the protocol says: 0 if the client took its leave.
pub fn run(_: &Args) -> Result<u8, Failure> {
    // A mistake of ours ends one answer, not the session: what it was is told on standard error.
    drop(std::panic::take_hook());
    match spinward_lsp::serve_stdio() {
        Ok(clean) => Ok(u8::from(!clean)),
        Err(problem) => Err(Failure::usage(format!("the client cannot be understood: {problem}"))),
    }
}
