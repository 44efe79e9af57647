//! `cargo xtask test`: everything that must hold before a change goes in.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{conformance, fuzz, project_root, random, reductions, temporal};

/// Run all checks: formatting, lints, documentation, tests, conformance with SPIN, random models,
/// reductions, infinite runs, fuzzing
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Seconds for random models
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Seconds for searches that leave out states
    #[arg(long, default_value_t = 45)]
    reduction_seconds: u64,
    /// Seconds for infinite runs
    #[arg(long, default_value_t = 30)]
    temporal_seconds: u64,
    /// Seconds for fuzzing
    #[arg(long, default_value_t = 20)]
    fuzz_seconds: u64,
}

/// Runs the command; it stops at the first step that fails.
pub fn run(options: &Options) -> Result<ExitCode> {
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    heading("tools");
    tools()?;
    // Tests that need the speed of a release build.
    let packages = ["--package", "spinward-cli", "--package", "spinward"];
    let tests = ["--test", "hostile", "--test", "models"];
    let large = [&["test", "--release"][..], &packages, &tests].concat();
    // The store's interleavings, all of them on its small cases.
    let interleavings =
        ["test", "--release", "--package", "spinward-store", "--lib", "--target-dir"];
    let folder = project_root().join("target/loom").to_string_lossy().into_owned();
    let interleavings = [&interleavings[..], &[&folder, "loom"]].concat();
    let steps: [(&str, &[&str], Flags); 7] = [
        ("formatting", &["fmt", "--all", "--check"], None),
        ("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], None),
        (
            "documentation",
            &["doc", "--workspace", "--no-deps", "--quiet"],
            Some(("RUSTDOCFLAGS", "-D warnings")),
        ),
        ("tests", &["test", "--workspace"], None),
        ("release build", &["build", "--release"], None),
        ("hostile input and large models", &large, None),
        ("interleavings of threads", &interleavings, Some(("RUSTFLAGS", "--cfg loom"))),
    ];
    for (name, arguments, flags) in steps {
        heading(name);
        let code = cargo(arguments, flags)?;
        if code != 0 {
            return Ok(ExitCode::from(code));
        }
    }
    heading("conformance with SPIN");
    let explained = Some(models().join("explained")).filter(|file| file.exists());
    let code = conformance::run(&conformance::Options::full(models(), jobs, explained))?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    heading("random models");
    let code = random::run(&random::Options::for_seconds(options.seconds, jobs))?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    heading("searches that leave out states");
    let code = reductions::run(&reductions::Options::for_seconds(options.reduction_seconds, jobs))?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    heading("infinite runs");
    let code = temporal::run(&temporal::Options::for_seconds(options.temporal_seconds, jobs))?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    heading("fuzzing");
    fuzz::run(&fuzz::Options::for_seconds(options.fuzz_seconds, jobs))
}

/// The folder of the project's own models.
fn models() -> PathBuf {
    project_root().join("models")
}

fn heading(name: &str) {
    println!("\n== {name} ==");
}

/// A variable of the environment and its value.
type Flags = Option<(&'static str, &'static str)>;

/// Runs cargo and gives its exit code.
pub fn cargo(arguments: &[&str], flags: Flags) -> Result<u8> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(project_root());
    if let Some((name, value)) = flags {
        command.env(name, value);
    }
    let status = command.status().context("cannot run cargo")?;
    Ok(exit_code(status.code()))
}

/// An exit code as this program can hand it on; 1 where there was none.
fn exit_code(code: Option<i32>) -> u8 {
    match code {
        Some(0) => 0,
        Some(code) => u8::try_from(code).unwrap_or(1).max(1),
        None => 1,
    }
}

/// What the tests run, each with the package of Debian that has it.
const TOOLS: [&str; 3] = ["spin", "gcc", "chromium"];

/// Makes sure that SPIN, gcc and a browser are there.
fn tools() -> Result<()> {
    let missing: Vec<&str> = TOOLS.into_iter().filter(|tool| !installed(tool)).collect();
    if missing.is_empty() {
        println!("{} are installed", TOOLS.join(", "));
        return Ok(());
    }
    println!("missing: {}", missing.join(", "));
    let install = format!("apt-get update && apt-get install -y {}", missing.join(" "));
    let mut command = if is_root() {
        Command::new("sh")
    } else if installed("sudo") {
        let mut sudo = Command::new("sudo");
        sudo.arg("sh");
        sudo
    } else {
        bail!("SPIN, gcc and Chromium are needed: install them (on Debian as root: {install})");
    };
    let status = command.args(["-c", &install]).status();
    let installed_now = TOOLS.into_iter().all(installed);
    match status {
        Ok(status) if status.success() && installed_now => Ok(()),
        _ => {
            bail!("SPIN, gcc and Chromium are needed, and could not be installed with `{install}`")
        }
    }
}

/// Whether a program can be found.
fn installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether we run as root.
fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_never_becomes_success() {
        assert_eq!(exit_code(Some(0)), 0);
        assert_eq!(exit_code(Some(101)), 101);
        assert_eq!(exit_code(Some(256)), 1);
        assert_eq!(exit_code(None), 1);
    }

    #[test]
    fn programs_are_looked_for_in_the_path() {
        assert!(installed("sh"));
        assert!(!installed("no-such-program-at-all"));
    }
}
