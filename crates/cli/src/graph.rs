//! `spinward graph`: draws the automata of a model.

use std::path::PathBuf;

use clap::ValueEnum;
use spinward_program::graph;

use crate::args::{ModelArgs, OutputArgs};
use crate::model;
use crate::terminal::{Failure, print};

const EXAMPLES: &str = "\
Examples:
  spinward graph --format svg -o peterson.svg peterson.pml
  spinward graph peterson.pml | dot -Tpdf > peterson.pdf";

/// Draw the automata of a model's processes.
///
/// One automaton for each process type: its local states, and the statements that lead from one to
/// the next.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// dot for Graphviz, svg for a browser, json for scripts
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = "Output")]
    format: Format,

    /// Where to write [default: standard output]
    #[arg(short, value_name = "FILE", help_heading = "Output")]
    output_file: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Dot,
    Svg,
    Json,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let model = model::load(&args.model, &[], &[], None, &args.output)?;
    let mut text = match args.format {
        Format::Dot => graph::dot(&model.program),
        Format::Svg => graph::svg(&model.program),
        Format::Json => format!("{:#}", graph::json(&model.program)),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    match &args.output_file {
        None => print(&text)?,
        Some(path) => std::fs::write(path, text).map_err(|problem| {
            Failure::usage(format!("cannot write {}: {problem}", path.display()))
        })?,
    }
    Ok(0)
}
