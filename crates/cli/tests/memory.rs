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

/// States of which each has a part that all others do not have, larger than most.
const WIDE: &str = "byte a[1100]; int n;
active proctype P() { do :: n < 200000 -> d_step { a[n % 1100] = n * 7; n++ } od }
";

/// Processes and channels of many kinds, alive in many orders.
const SHAPES: &str = "byte z;
proctype A() { short v; chan c = [1] of { byte }; c!1; z == 9 }
proctype B(byte p) { byte v; v = p; z == 9; z = 0 }
proctype C() { short v; chan c = [3] of { byte }; c!1; z == 9 }
proctype D(byte p) { byte v; v = p; z == 9; z = 0 }
proctype E() { short v; chan c = [5] of { byte }; c!1; z == 9 }
init {
    do
    :: _nr_pr < 9 -> if :: run A() :: run B(1) :: run C() :: run D(1) :: run E() fi
    :: _nr_pr >= 9 -> z = 1
    od
}
";

/// A step with many states on its way, each larger than the one before.
const CROWD: &str =
    "proctype P() { byte a[65535]; a[0] == 1 } init { atomic { do :: run P() od } }";

/// Whatever states are made of.
#[test]
fn large_states_and_many_shapes_count() {
    const LIMIT: u64 = 40 << 20;
    let place = Place::new();
    place.write("wide.pml", WIDE);
    place.write("shapes.pml", SHAPES);
    place.write("crowd.pml", CROWD);
    for model in ["wide.pml", "shapes.pml", "crowd.pml"] {
        for options in [["--threads", "1"], ["--threads", "2"], ["--search", "bfs"]] {
            let words = [&["check", "--memory", "40M"][..], &options, &[model]].concat();
            let mut command = place.command(&words);
            let mut child =
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
            let peak = watch(&mut child);
            Said::new(&child.wait_with_output().expect("it ended")).code(3);
            assert!(peak <= LIMIT, "{model} {options:?}: {peak} of {LIMIT} bytes");
        }
    }
}

/// States of which few fit into 64 MB.
const LARGE: &str = "chan c[16] = [200] of { int, short, byte };
active [4] proctype P() {
    int i, j;
    do
    :: c[_pid * 4 + i]!j, j, j; i = (i + 1) % 4; j++
    :: c[((_pid + 1) % 4) * 4 + i]?_, _, _
    od
}
";

/// An error that is met when the memory is used up, and that other searches look for then, one after the other.
const DEEP: &str = "byte a, b, c, d, e;
active proctype A() { do :: a < 100 -> a++ :: a == 100 -> break od; a = 100 }
active proctype B() { do :: b < 100 -> b++ :: b == 100 -> break od; b = 100 }
active proctype C() { do :: c < 100 -> c++ :: c == 100 -> break od; c = 100 }
active proctype D() { do :: d < 100 -> d++ :: d == 100 -> break od; d = 100 }
active proctype E() { do :: e < 100 -> e++ :: e == 100 -> break od; e = 100 }
active proctype W() {
    end: atomic { a * 3743 + b * 3310 + c * 8708 + d * 9930 + e * 6976 == 2388010 -> assert(false) }
}
";

/// An error is looked for in other ways while the usual search waits, and afterwards: what that takes, it gives back.
#[test]
fn looks_beside_a_sweep_count() {
    const LIMIT: u64 = 64 << 20;
    let place = Place::new();
    place.write("large.pml", LARGE);
    place.write("deep.pml", DEEP);
    for (model, threads, code) in
        [("large.pml", "1", 3), ("large.pml", "2", 3), ("deep.pml", "1", 1)]
    {
        let words = ["check", "--memory", "64M", "--threads", threads, model];
        let mut child = place
            .command(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let peak = watch(&mut child);
        Said::new(&child.wait_with_output().expect("it ended")).code(code);
        assert!(peak <= LIMIT, "{model}, {threads} threads: {peak} of {LIMIT} bytes");
        assert!(peak > LIMIT / 2, "{model}, {threads} threads: only {peak} of {LIMIT} bytes");
    }
}

#[test]
fn nor_does_one_with_states_on_disk() {
    const LIMIT: u64 = 40 << 20;
    let place = Place::new();
    place.write("many.pml", MODEL);
    for search in ["bfs", "astar"] {
        let options = ["check", "--memory", "40M", "--search", search, "--disk", search];
        let words = [&options[..], &["--max-states", "500000", "many.pml"]].concat();
        let mut command = place.command(&words);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let peak = watch(&mut child);
        Said::new(&child.wait_with_output().expect("it ended")).code(3);
        assert!(place.path().join(search).join("search-1/search.json").is_file(), "all fit");
        assert!(peak <= LIMIT, "{search}: {peak} of {LIMIT} bytes");
    }
}

#[test]
fn no_search_uses_more_memory_than_it_may() {
    const LIMIT: u64 = 64 << 20;
    let place = Place::new();
    place.write("many.pml", MODEL);
    for options in [
        ["--search", "sweep", "--store", "exact"],
        ["--search", "sweep", "--store", "tree"],
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
        let advice = match options[3] {
            "exact" => "To look further: --store tree, ",
            "tree" => {
                "To look further: --disk DIR with --search bfs or astar in place of --store tree, "
            }
            _ => "To look further: a larger --memory, ",
        };
        Said::new(&child.wait_with_output().expect("it ended"))
            .code(3)
            .out("incomplete: no errors")
            .out("the memory of 64 MB was used up after ")
            .out(advice);
        assert!(peak <= LIMIT, "{options:?}: {peak} of {LIMIT} bytes");
        assert!(peak > LIMIT / 2, "{options:?}: only {peak} of {LIMIT} bytes");
    }
}
