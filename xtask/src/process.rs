//! Runs a program with a time limit and keeps what it printed.

use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It returned this exit code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// It was stopped because its time was over.
    TimedOut,
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Output {
    /// Whether the program ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.ended == Ended::Code(0)
    }

    /// The first line of standard error that names an error; else the last line that says something.
    pub fn complaint(&self) -> &str {
        let mut lines = self.stderr.lines().map(str::trim);
        let named = lines.find(|line| line.starts_with("error"));
        named.unwrap_or_else(|| self.last_words())
    }

    /// The last line that says something, of standard error if there is one, else of standard output.
    pub fn last_words(&self) -> &str {
        let last = |text: &'_ str| text.trim_end().rfind('\n').map_or(0, |at| at + 1);
        let text = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        text[last(text)..].trim()
    }
}

/// Runs `command` until it ends, at most for `limit`.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let started = Instant::now();
    let mut pause = Duration::from_micros(500);
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break ended(status);
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break Ended::TimedOut;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|handle| handle.join().ok()).unwrap_or_default()
    };
    Ok(Output { ended, stdout: text(stdout), stderr: text(stderr) })
}

/// How a program ended by itself.
pub fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}

/// Reads a pipe to its end in a thread of its own, so that the program never waits for us.
pub fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe leaves what was read before it, which is all there is to tell.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_streams_and_the_exit_code() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo first >&2; echo last >&2; exit 3"]);
        let output = run(&mut command, Duration::from_secs(5)).expect("sh runs");
        assert_eq!(output.ended, Ended::Code(3));
        assert_eq!(output.stdout, "out\n");
        assert_eq!(output.last_words(), "last");
    }

    #[test]
    fn stops_a_program_whose_time_is_over() {
        let mut command = Command::new("sleep");
        command.arg("30");
        let output = run(&mut command, Duration::from_millis(50)).expect("sleep runs");
        assert_eq!(output.ended, Ended::TimedOut);
    }
}
