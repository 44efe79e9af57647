//! The spinward command: reads what the user types and tells what the library finds.
//!
//! One module for each command ([`check`], [`simulate`], [`trail`], [`graph`], [`ltl`], [`lsp`], [`serve`], [`bench`], [`disk`]; [`messages`] explains
//! codes, [`setup`] has those about the command itself);
//! [`args`] has the options they share, [`usage`] answers a command line that makes no sense, [`model`] reads
//! models, [`picture`] draws runs and tells which steps matter, [`terminal`] is how the command speaks. What the options, the output and the exit codes
//! are is a contract with scripts: 0 verified, 1 violated, 2 a mistake of the user, 3 not
//! everything was looked at, 4 a mistake of ours.

mod args;
mod bench;
mod check;
mod disk;
mod formats;
mod graph;
mod lsp;
mod ltl;
mod messages;
mod model;
mod picture;
mod progress;
mod serve;
mod setup;
mod simulate;
mod terminal;
mod trail;
mod usage;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::terminal::Failure;

/// Models may nest deeply; the parser and all that walks expressions get room for that.
const STACK_BYTES: usize = 256 << 20;

const EXAMPLES: &str = "\
Examples:
  spinward check peterson.pml                       verify everything the model states
  spinward check --search bfs --format json m.pml   for scripts; the exit code tells the verdict
  spinward trail peterson.pml peterson.pml.trail    replay an error, also one that SPIN found
  spinward simulate --seed 7 -p peterson.pml        one random run
  spinward ltl '[] (request -> <> answer)'          the never claim of a formula
  spinward explain E0301                            what a message about a model means
  spinward serve peterson.pml                       the workbench, in the browser

Exit codes:
  0  verified: everything was looked at and nothing is wrong
  1  a property is violated
  2  the command line or the model is wrong
  3  nothing wrong was found, but not everything was looked at
  4  an internal error: a bug in spinward";

/// A model checker for Promela, the language of SPIN.
#[derive(Debug, Parser)]
#[command(name = "spinward", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Simulate(simulate::Args),
    Trail(trail::Args),
    Graph(graph::Args),
    Ltl(Box<ltl::Args>),
    Lsp(lsp::Args),
    Serve(serve::Args),
    Bench(bench::Args),
    Disk(disk::Args),
    Explain(messages::Args),
    Completions(setup::Completions),
    Man(setup::Man),
    Schema(setup::Schema),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(problem) => {
            let words: Vec<_> = std::env::args_os().collect();
            return ExitCode::from(finish(usage::answer(problem, &words)));
        }
    };
    terminal::exit_on_panic();
    let work = std::thread::Builder::new()
        .name("spinward".into())
        .stack_size(STACK_BYTES)
        .spawn(move || run(cli.command));
    let code = match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => terminal::EXIT_INTERNAL,
        Err(problem) => {
            terminal::say(&format!("error: no room to work in: {problem}"));
            terminal::EXIT_INTERNAL
        }
    };
    ExitCode::from(code)
}

fn run(command: Command) -> u8 {
    finish(match command {
        Command::Check(args) => check::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Trail(args) => trail::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Ltl(args) => ltl::run(&args),
        Command::Lsp(args) => lsp::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Disk(args) => disk::run(&args),
        Command::Explain(args) => messages::run(&args),
        Command::Completions(args) => setup::completions(&args),
        Command::Man(args) => setup::man(&args),
        Command::Schema(args) => setup::schema(&args),
    })
}

/// Tells of a failure; gives the exit code.
fn finish(result: Result<u8, Failure>) -> u8 {
    match result {
        Ok(code) => code,
        Err(Failure { message, code }) => {
            if !message.is_empty() {
                terminal::say(&format!("error: {message}"));
            }
            code
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_makes_sense() {
        super::Cli::command().debug_assert();
    }
}
