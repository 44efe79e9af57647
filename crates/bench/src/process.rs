//! Runs a program as a job: with a time limit, until it and all it started are gone, and measures it.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::usage::{self, Usage};

/// How often to look whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It returned this exit code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// It was stopped because its time was over.
    TimedOut,
    /// It was stopped because the user wants to stop.
    Stopped,
}

/// A job that is over.
#[derive(Debug)]
pub struct Finished {
    /// How its first process ended.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// From its start to the end of its last process.
    pub elapsed: Duration,
    /// What all its processes used.
    pub usage: Usage,
}

impl Finished {
    /// Why the job cannot be used, if it did not end with one of these exit codes.
    pub fn trouble(&self, program: &str, codes: &[i32]) -> Option<String> {
        match self.ended {
            Ended::Code(code) if codes.contains(&code) => None,
            Ended::Code(code) => Some(match self.complaint() {
                "" => format!("{program}: exit code {code}"),
                words => format!("{program}: exit code {code}: {words}"),
            }),
            Ended::Signal(signal) => Some(format!("{program}: killed by signal {signal}")),
            Ended::TimedOut => Some(format!("{program}: time limit")),
            Ended::Stopped => Some(format!("{program}: interrupted")),
        }
    }

    /// The first line that names an error; else the last one that says something.
    fn complaint(&self) -> &str {
        let lines = || self.stderr.lines().chain(self.stdout.lines()).map(str::trim);
        let named = lines().find(|line| line.contains("rror"));
        named.or_else(|| lines().rfind(|line| !line.is_empty())).unwrap_or_default()
    }
}

/// What jobs may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Time for each program.
    pub time: Duration,
    /// Bytes for each search.
    pub memory: u64,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

impl Limits<'_> {
    /// Runs a job; the error says why its figures cannot be used.
    pub fn run(
        &self,
        program: &str,
        codes: &[i32],
        command: &mut Command,
    ) -> Result<Finished, String> {
        let job = run(command, self.time, self.stop)
            .map_err(|problem| format!("cannot run {program}: {problem}"))?;
        match job.trouble(program, codes) {
            None => Ok(job),
            Some(trouble) => Err(trouble),
        }
    }
}

/// Runs a job until it ends, at most for `limit`, or until `stop` is set.
pub fn run(command: &mut Command, limit: Duration, stop: &AtomicBool) -> io::Result<Finished> {
    usage::adopt_orphans();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let group = i32::try_from(child.id()).map_err(io::Error::other)?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let (over, wait_for_it) = mpsc::channel::<()>();
    let (gone, cut_off) = thread::scope(|scope| {
        let guard = scope.spawn(|| guard(group, started, limit, stop, wait_for_it));
        let gone = reap(group);
        let elapsed = started.elapsed();
        drop(over);
        (gone.map(|gone| (gone, elapsed)), guard.join().unwrap_or(None))
    });
    let ((status, usage), elapsed) = gone?;
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|handle| handle.join().ok()).unwrap_or_default()
    };
    let (stdout, stderr) = (text(stdout), text(stderr));
    let ended = match (cut_off, status) {
        (Some(why), _) => why,
        (None, Some(status)) => how(status),
        (None, None) => return Err(io::Error::other("nobody saw it end")),
    };
    Ok(Finished { ended, stdout, stderr, elapsed, usage })
}

/// Waits until all of the group are gone; gives how the first process ended, and what all used.
fn reap(group: i32) -> io::Result<(Option<ExitStatus>, Usage)> {
    let mut status = None;
    let mut usage = Usage::default();
    while let Some(gone) = usage::wait_for_group(group)? {
        usage = usage.and(gone.usage);
        if gone.process == group {
            status = Some(gone.status);
        }
    }
    Ok((status, usage))
}

/// Ends the group when its time is over or the user wants to stop, and says which; `None` if it was
/// over before.
fn guard(
    group: i32,
    started: Instant,
    limit: Duration,
    stop: &AtomicBool,
    over: mpsc::Receiver<()>,
) -> Option<Ended> {
    loop {
        let left = limit.saturating_sub(started.elapsed());
        if over.recv_timeout(left.min(LOOK)) == Err(RecvTimeoutError::Disconnected) {
            return None;
        }
        let why = if stop.load(Ordering::SeqCst) {
            Ended::Stopped
        } else if started.elapsed() >= limit {
            Ended::TimedOut
        } else {
            continue;
        };
        usage::kill_group(group);
        return Some(why);
    }
}

fn how(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}

/// Reads a pipe to its end in a thread of its own, so that the program never waits for us.
fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
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

    fn shell(script: &str, limit: Duration, stop: bool) -> Finished {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(&mut command, limit, &AtomicBool::new(stop)).expect("a shell")
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn keeps_what_was_said_and_the_exit_code() {
        let job = shell("echo out; echo 'an Error' >&2; echo last >&2; exit 3", LONG, false);
        assert_eq!(job.ended, Ended::Code(3));
        assert_eq!(job.stdout, "out\n");
        assert_eq!(job.trouble("sh", &[3]), None);
        assert_eq!(job.trouble("sh", &[0]).as_deref(), Some("sh: exit code 3: an Error"));
    }

    #[test]
    fn ends_a_job_whose_time_is_over_with_all_it_started() {
        // The second process would keep the pipe open for a minute.
        let job = shell("sleep 60 & sleep 60", Duration::from_millis(50), false);
        assert_eq!(job.ended, Ended::TimedOut);
        assert_eq!(job.trouble("sh", &[0]).as_deref(), Some("sh: time limit"));
    }

    #[test]
    fn ends_a_job_when_the_user_wants_to_stop() {
        assert_eq!(shell("sleep 60", LONG, true).ended, Ended::Stopped);
    }

    #[test]
    fn a_killed_job_is_not_a_time_limit() {
        assert_eq!(shell("kill -9 $$", LONG, false).ended, Ended::Signal(9));
    }

    #[test]
    fn work_of_orphans_counts() {
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let idle = shell("exit 0", LONG, false);
        let busy = shell(&format!("({work}) & exit 0"), LONG, false);
        assert_eq!(busy.ended, Ended::Code(0));
        // The loop takes a hundred times as long as starting a shell.
        assert!(busy.usage.cpu > idle.usage.cpu * 3, "{busy:?} {idle:?}");
        assert!(busy.usage.peak > 0);
    }
}
