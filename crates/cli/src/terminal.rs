//! How the command speaks: colours, output that survives a closed pipe, failures, Ctrl-C, panics.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use spinward_machine::Stop;

/// The exit code for a violated property.
pub const EXIT_VIOLATED: u8 = 1;
/// The exit code for a mistake of the user.
pub const EXIT_USAGE: u8 = 2;
/// The exit code for a mistake of ours.
pub const EXIT_INTERNAL: u8 = 4;

/// Why a command could not do its work.
#[derive(Debug)]
pub struct Failure {
    /// For the user, in one line; empty if it was told already.
    pub message: String,
    /// The exit code.
    pub code: u8,
}

impl Failure {
    /// A mistake of the user.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: EXIT_USAGE }
    }

    /// A mistake of ours.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        Self {
            message: format!("internal error: {message}\n{}", ask_for_report()),
            code: EXIT_INTERNAL,
        }
    }

    /// A failure that the user was told of already.
    pub fn told(code: u8) -> Self {
        Self { message: String::new(), code }
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to use colours on standard output.
    pub fn stdout(self) -> bool {
        self.on(std::io::stdout().is_terminal())
    }

    /// Whether to use colours on standard error.
    pub fn stderr(self) -> bool {
        self.on(std::io::stderr().is_terminal())
    }

    fn on(self, terminal: bool) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            Self::Auto => terminal && !dumb && !set("NO_COLOR"),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Writes to standard output. A reader that has seen enough (`| head`) is no error; what comes
/// after is dropped, and the exit code still tells the verdict.
pub fn print(text: &str) -> Result<(), Failure> {
    print_more(text).map(|_| ())
}

/// Writes to standard output; says whether somebody still reads it.
pub fn print_more(text: &str) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    told(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Whether somebody still reads standard output, by what became of writing to it.
pub fn told(written: std::io::Result<()>) -> Result<bool, Failure> {
    match written {
        Ok(()) => Ok(true),
        Err(problem) if problem.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(problem) => Err(Failure::usage(format!("cannot write output: {problem}"))),
    }
}

/// Writes a line to standard error, where nobody may be listening.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Signals that come so soon after one are the same: some programs send each twice, to a process and to
/// its group.
const SAME_SIGNAL: Duration = Duration::from_millis(200);

/// What the first Ctrl-C asks to stop; the second one ends the process at once.
pub fn stop_on_interrupt() -> Arc<Stop> {
    let stop = Arc::<Stop>::default();
    let asked = Arc::clone(&stop);
    on_interrupt(move || asked.ask());
    stop
}

/// Calls at the first Ctrl-C; the second one ends the process at once.
pub fn on_interrupt(call: impl Fn() + Send + 'static) {
    let mut first: Option<Instant> = None;
    let handler = move || match first {
        None => {
            first = Some(Instant::now());
            call();
            say("\nstopping (press Ctrl-C again to quit at once)");
        }
        Some(first) if first.elapsed() < SAME_SIGNAL => {}
        Some(_) => std::process::exit(130),
    };
    // Without a handler Ctrl-C still ends the process, only less kindly.
    let _ = ctrlc::set_handler(handler);
}

/// Makes a panic of any thread end the process with the exit code of an internal error.
pub fn exit_on_panic() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("unknown");
        let place = info.location().map_or_else(String::new, |location| {
            format!(" ({}:{})", location.file(), location.line())
        });
        say(&format!("error: internal error: {what}{place}\n{}", ask_for_report()));
        std::process::exit(i32::from(EXIT_INTERNAL));
    }));
}

fn ask_for_report() -> String {
    format!(
        "This is a bug in spinward {}. Please report it, with the model and the command line.",
        env!("CARGO_PKG_VERSION")
    )
}

/// A number of bytes for people: `1.5 GB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if number < 1000 {
        return format!("{number} bytes");
    }
    let mut value = number as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit() {
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(999_990), "1.0 MB");
        assert_eq!(bytes(1_500_000_000), "1.5 GB");
    }
}
