//! `--memory` is kept: by what the system says that the process used, not by what it counted itself.

#![cfg(target_os = "linux")]

mod common;

use std::process::{Child, Stdio};
use std::time::Duration;

use common::{Place, Said};

/// More states than fit into 64 MB, and runs that are long.
const MODEL: &str = "byte a[8];
active proctype P() {
    byte i;
    end: do :: i = (i + 1) % 8 :: a[i] < 20 -> a[i]++ :: a[i] > 3 -> a[i] = a[i] - 3 od
}
";

/// The most memory a process had at a time, in bytes, looked at again and again until it ends.
fn watch(child: &mut Child) -> u64 {
    let mut peak = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}

#[test]
fn no_search_uses_more_memory_than_it_may() {
    const LIMIT: u64 = 64 << 20;
    let place = Place::new();
    place.write("many.pml", MODEL);
    for options in [
        ["--search", "dfs", "--store", "exact"],
        ["--search", "bfs", "--store", "exact"],
        ["--search", "dfs", "--store", "tree"],
        ["--search", "bfs", "--store", "tree"],
        ["--search", "dfs", "--store", "bitstate"],
        ["--search", "dfs", "--store", "compact"],
    ] {
        let words = [&["check", "--memory", "64M"][..], &options, &["many.pml"]].concat();
        let mut command = place.command(&words);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let peak = watch(&mut child);
        Said::new(&child.wait_with_output().expect("it ended"))
            .code(3)
            .out("incomplete: no errors")
            .out("the memory of 64 MB was used up after ");
        assert!(peak <= LIMIT, "{options:?}: {peak} of {LIMIT} bytes");
        assert!(peak > LIMIT / 2, "{options:?}: only {peak} of {LIMIT} bytes");
    }
}
