//! Chores of the project: `cargo xtask test`, `conformance`, `random`, `generate`, `network`, `figures`,
//! `reductions`, `temporal` and `fuzz`.

mod conformance;
mod distances;
mod figures;
mod fuzz;
mod generate;
mod plot;
mod process;
mod random;
mod reductions;
mod spin;
mod spinward;
mod temporal;
mod test;
mod trails;
mod workers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Chores of the project.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    Test(test::Options),
    Conformance(conformance::Options),
    Random(random::Options),
    Generate(random::GenerateOptions),
    Network(generate::network::Options),
    Figures(figures::Options),
    Reductions(reductions::Options),
    Temporal(temporal::Options),
    Fuzz(fuzz::Options),
    #[command(hide = true)]
    FuzzWorker(fuzz::WorkerOptions),
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Chore::Test(options) => test::run(&options),
        Chore::Conformance(options) => conformance::run(&options),
        Chore::Random(options) => random::run(&options),
        Chore::Generate(options) => Ok(random::generate(&options)),
        Chore::Network(options) => generate::network::run(&options),
        Chore::Figures(options) => figures::run(&options),
        Chore::Reductions(options) => reductions::run(&options),
        Chore::Temporal(options) => temporal::run(&options),
        Chore::Fuzz(options) => fuzz::run(&options),
        Chore::FuzzWorker(options) => fuzz::work(&options),
    }
}

/// The folder of the workspace.
fn project_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// How many of the things tried passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    /// Prints the line every command ends with, and gives its exit code.
    fn conclude(self) -> ExitCode {
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
        if self.failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS }
    }
}
