//! `spinward disk`: what checks have left on disk.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use spinward::disk::{Overview, overview};
use spinward::words::{counted, quoted_path, thousands};

use crate::terminal::{Failure, bytes, print};

/// Look at a check whose states are on disk (check --disk).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  spinward disk info /scratch/leader")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Tell how far a check has come, whether it is running or was interrupted
    Info {
        /// The folder that was given to check --disk
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let Command::Info { dir } = &args.command;
    let overview = overview(dir)
        .map_err(|error| Failure { message: error.to_string(), code: error.exit_code() })?;
    print(&tell(dir, &overview))?;
    Ok(0)
}

fn tell(dir: &Path, overview: &Overview) -> String {
    let Overview { model, asked, is_running, searches } = overview;
    let mut text = String::new();
    let status = if *is_running { "running" } else { "interrupted" };
    let _ = writeln!(text, "{model}: {status}");
    let options = asked.iter().filter(|(name, _)| name.starts_with("--"));
    let options: Vec<_> = options.map(|(name, value)| format!("{name} {value}")).collect();
    let _ = writeln!(text, "  {}", options.join(" "));
    for info in searches {
        let name = info.path.file_name().unwrap_or_default().to_string_lossy();
        let counts = &info.counts;
        let depth =
            info.depth.map_or(String::new(), |depth| format!(" from depth {}", thousands(depth)));
        let _ = writeln!(
            text,
            "  {name}: {} expanded, {}, at most {} wait{depth}, {} found again on disk, {} on disk",
            counted(counts.states, "state"),
            counted(counts.transitions, "transition"),
            thousands(info.waiting),
            thousands(info.removed),
            bytes(info.bytes),
        );
        if info.errors > 0 {
            let _ = writeln!(text, "    {}", counted(info.errors as u64, "error") + " found");
        }
    }
    if searches.is_empty() {
        let _ = writeln!(text, "  nothing is on disk yet");
    }
    let damage = searches.iter().find_map(|info| info.damage.as_ref());
    if *is_running {
        // Files come and go.
    } else if let Some(damage) = damage {
        let _ = writeln!(text, "it cannot go on: {damage}; remove the folder and begin anew");
    } else {
        let (model, dir) = (quoted_path(Path::new(model)), quoted_path(dir));
        let _ = writeln!(text, "go on with: spinward check {model} ... --resume {dir}");
    }
    text
}
