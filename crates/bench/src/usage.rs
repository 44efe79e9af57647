//! What a child process used, and the end of one: the unsafe code of this crate.
//!
//! The standard library gives neither CPU seconds nor memory of a child. A job may also have more
//! than one process (`gcc` starts the compiler proper, SPIN's multi-core searches start searchers)
//! that its first process does not wait for. So a job is a process group, orphans of it are handed
//! to us (`adopt_orphans`), and all of the group are waited for.

#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

/// What processes used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on processors, for the processes and for the system on their behalf.
    pub cpu: Duration,
    /// The most memory of one of them at a time, in bytes.
    pub peak: u64,
}

impl Usage {
    /// What these and those used.
    pub fn and(self, other: Self) -> Self {
        Self { cpu: self.cpu + other.cpu, peak: self.peak.max(other.peak) }
    }
}

/// A process of a group that has ended.
#[derive(Debug)]
pub struct Gone {
    /// Its number.
    pub process: i32,
    /// How it ended.
    pub status: ExitStatus,
    /// What it used, with those that it waited for itself.
    pub usage: Usage,
}

/// Waits for a process of the group to end; `None` if there are none any more.
pub fn wait_for_group(group: i32) -> io::Result<Option<Gone>> {
    loop {
        let mut status = 0;
        // SAFETY: all zeroes are a valid value of this struct of numbers.
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to values that live longer than the call.
        let process = unsafe { libc::wait4(-group, &raw mut status, 0, &raw mut used) };
        if process > 0 {
            let usage = Usage {
                cpu: duration(used.ru_utime) + duration(used.ru_stime),
                peak: u64::try_from(used.ru_maxrss).unwrap_or(0) * 1024,
            };
            return Ok(Some(Gone { process, status: ExitStatus::from_raw(status), usage }));
        }
        let problem = io::Error::last_os_error();
        match problem.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(None),
            _ => return Err(problem),
        }
    }
}

/// Ends all processes of a group, at once.
pub fn kill_group(group: i32) {
    // SAFETY: no memory is involved. A group that is gone already is no harm.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// Makes orphans among our descendants children of ours, so that we can wait for them.
///
/// Where the system cannot do that, what they use is not counted.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: no memory is involved.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    };
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}
