//! What to say of a command line that makes no sense.

use std::ffi::OsString;
use std::io::Write as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use spinward::{Error, Report};
use spinward_promela::suggest::nearest;

use crate::formats::Format;
use crate::terminal::{self, Failure};

/// Commands that are promised and not there yet.
const LATER_COMMANDS: [&str; 1] = ["types"];

/// Options that are promised and not there yet, each with its command.
const LATER_OPTIONS: [(&str, &str); 1] = [("graph", "--states")];

/// Tells what is wrong, or gives the help that was asked for; the exit code.
pub fn answer(mut problem: clap::Error, words: &[OsString]) -> Result<u8, Failure> {
    if problem.exit_code() == 0 {
        return terminal::told(problem.print().and_then(|()| std::io::stdout().flush())).map(|_| 0);
    }
    suggest_nearest(&mut problem);
    let error = match promised(&problem, words) {
        Some(what) => Error::NotAvailable(what),
        None => Error::Usage(in_short(&problem)),
    };
    // A script may wait for the answer of a check.
    if words.get(1).is_some_and(|command| command == "check") {
        let format = Format::asked_for(words.iter().filter_map(|word| word.to_str()));
        if let Some(text) = format.of_report(&Report::of_error("", &error), &[]) {
            terminal::print(&text)?;
        }
    }
    match error {
        Error::NotAvailable(_) => Err(Failure::usage(error.to_string())),
        _ => {
            // Mistakes are told on standard error, and nobody may be listening there.
            let _ = problem.print();
            Ok(terminal::EXIT_USAGE)
        }
    }
}

/// Of several commands that may be meant, leaves the one whose name is most like what was typed.
fn suggest_nearest(problem: &mut clap::Error) {
    let meant = match (
        problem.get(ContextKind::InvalidSubcommand),
        problem.get(ContextKind::SuggestedSubcommand),
    ) {
        (Some(ContextValue::String(typed)), Some(ContextValue::Strings(known))) => {
            nearest(typed, known.iter().map(String::as_str)).map(str::to_owned)
        }
        _ => None,
    };
    if let Some(meant) = meant {
        problem.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![meant]));
    }
}

/// The command or option that is unknown only because it is not there yet.
fn promised(problem: &clap::Error, words: &[OsString]) -> Option<String> {
    let context = |kind| match problem.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match problem.kind() {
        ErrorKind::InvalidSubcommand => {
            let command = context(ContextKind::InvalidSubcommand)?;
            LATER_COMMANDS.contains(&command).then(|| format!("the command '{command}'"))
        }
        ErrorKind::UnknownArgument => {
            let option = context(ContextKind::InvalidArg)?;
            let command = words.get(1)?.to_str()?;
            LATER_OPTIONS.contains(&(command, option)).then(|| format!("the option '{option}'"))
        }
        _ => None,
    }
}

/// What is wrong, without the advice that follows it.
fn in_short(problem: &clap::Error) -> String {
    let text = problem.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
}
