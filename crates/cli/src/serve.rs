//! `spinward serve`: the workbench, in the browser.

use std::path::PathBuf;
use std::time::Duration;

use spinward_web::{Limits, Options, Workbench};

use crate::args::{count, seconds, size};
use crate::terminal::{Failure, print};

const EXAMPLES: &str = "\
Examples:
  spinward serve peterson.pml
  spinward serve --port 8080 -D N=3 leader.pml
  spinward serve --time 60 --memory 2G";

/// Edit, check and simulate a model in the browser.
///
/// Prints an address of this machine to open in a browser, and answers until Ctrl-C. Only a page opened
/// by that address, with the token in it, is answered; nothing is sent elsewhere, and other machines cannot connect.
///
/// Files beside MODEL may be included, and no others. Embedded C is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model to begin with, a Promela file [default: an example]
    #[arg(value_name = "MODEL")]
    model: Option<PathBuf>,

    /// Define a macro for the preprocessor; it can be changed in the page
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Model")]
    define: Vec<String>,

    /// The port to listen on [default: any that is free]
    #[arg(
        long, value_name = "N", value_parser = count::<u16>, allow_negative_numbers = true,
        default_value = "0", hide_default_value = true
    )]
    port: u16,

    /// The longest time of a check, in seconds [default: 600]
    #[arg(
        long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    time: Option<Duration>,

    /// Memory for all checks together, e.g. 4G [default: 80% of what is free]
    #[arg(
        long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    memory: Option<u64>,

    /// How many checks may run at once [default: 2]
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64),
        allow_negative_numbers = true, help_heading = "Limits"
    )]
    checks: Option<u8>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let usual = Limits::default();
    let limits = Limits {
        time: args.time.unwrap_or(usual.time),
        memory: args.memory.unwrap_or(usual.memory),
        checks: args.checks.map_or(usual.checks, usize::from),
        ..usual
    };
    let (model, defines) = (args.model.clone(), args.define.clone());
    let options = Options { model, defines, port: args.port, limits };
    let workbench = Workbench::bind(options).map_err(Failure::usage)?;
    let address = workbench.address();
    print(&format!("The workbench is at {address}\nCtrl-C ends it.\n"))?;
    // A bug that one check runs into shall not end the others: its thread ends, and the page is told.
    drop(std::panic::take_hook());
    workbench.run().map_err(|problem| Failure::usage(format!("cannot listen: {problem}")))?;
    Ok(0)
}
