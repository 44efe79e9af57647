//! SPIN as a job: the model to C, C to a verifier, the verifier to a verdict.
//!
//! SPIN is given what suits it. How deep its stack must be and how large its table should be has to
//! be said beforehand, and both cost time if they are too large; so each model is verified once
//! without being measured ([`tune`]), as often as it takes, and the rounds that count use what was
//! found then.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::measure::Measured;
use crate::pan::{PanReport, has_claim};
use crate::process::Limits;

/// One of the ways in which SPIN can search.
#[derive(Debug, PartialEq, Eq)]
pub struct Mode {
    /// For the command line.
    pub name: &'static str,
    /// For people.
    pub about: &'static str,
    /// Whether SPIN may change the model: merge statements, reset dead variables.
    transforms: bool,
    /// What is defined for the C compiler.
    defines: &'static [&'static str],
    /// Options of the verifier.
    options: &'static [&'static str],
    /// The table has two to the power of so many places for each state, or bits.
    spare: u32,
    /// Whether it visits all states and counts each once.
    plain: bool,
}

/// All modes; the first one is the one to compare with.
pub static MODES: [Mode; 9] = [
    Mode {
        name: "safety",
        about: "exact, depth first, without any reduction: -DSAFETY -DNOREDUCE",
        transforms: false,
        defines: &["-DNOREDUCE"],
        options: &[],
        spare: 0,
        plain: true,
    },
    Mode {
        name: "default",
        about: "SPIN's defaults: partial-order reduction, merged statements: -DSAFETY",
        transforms: true,
        defines: &[],
        options: &[],
        spare: 0,
        plain: false,
    },
    Mode {
        name: "por",
        about: "partial-order reduction alone: spin -o1 -o2 -o3, -DSAFETY",
        transforms: false,
        defines: &[],
        options: &[],
        spare: 0,
        plain: false,
    },
    Mode {
        name: "bfs",
        about: "breadth first: -DBFS",
        transforms: false,
        defines: &["-DNOREDUCE", "-DBFS"],
        options: &[],
        spare: 0,
        plain: false,
    },
    Mode {
        name: "collapse",
        about: "states in parts, each part once: -DCOLLAPSE",
        transforms: false,
        defines: &["-DNOREDUCE", "-DCOLLAPSE"],
        options: &[],
        spare: 0,
        plain: true,
    },
    Mode {
        name: "hc4",
        about: "hashes in place of states, some are missed: -DHC4",
        transforms: false,
        defines: &["-DNOREDUCE", "-DHC4"],
        options: &[],
        spare: 0,
        plain: false,
    },
    Mode {
        name: "bitstate",
        about: "bits in place of states, some are missed: -DBITSTATE",
        transforms: false,
        defines: &["-DNOREDUCE", "-DBITSTATE"],
        options: &[],
        // SPIN's advice is a hundred bits a state.
        spare: 7,
        plain: false,
    },
    Mode {
        name: "bfs-par",
        about: "breadth first on two cores, hashes in place of states: -DBFS_PAR, pan -u2",
        transforms: false,
        defines: &["-DNOREDUCE", "-DBFS_PAR"],
        options: &["-u2"],
        // It gives up when its table is full.
        spare: 1,
        plain: false,
    },
    Mode {
        name: "ncore2",
        about: "depth first on two cores: -DNCORE=2",
        transforms: false,
        defines: &["-DNOREDUCE", "-DNCORE=2"],
        options: &[],
        spare: 0,
        plain: false,
    },
];

/// The mode of this name.
pub fn mode(name: &str) -> Option<&'static Mode> {
    MODES.iter().find(|mode| mode.name == name)
}

/// How deep a run may be at first, by SPIN's own default, and at last. Each try may take minutes, so there are few.
pub const DEPTHS: [u64; 3] = [10_000, 4_000_000, 40_000_000];
/// SPIN's default for the size of the table, as a power of two.
pub const TABLE: u32 = 24;
/// The smallest and the largest table.
const TABLES: (u32, u32) = (16, 34);

/// What a verifier has to be told beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned {
    depth: u64,
    table: u32,
}

/// Finds out what the verifier of a model has to be told; the error says why there is none.
pub fn tune(
    mode: &Mode,
    dir: &Path,
    model: &str,
    limits: Limits<'_>,
) -> Result<(Tuned, Measured), String> {
    let build = build(mode, dir, model, limits)?;
    for depth in DEPTHS {
        let tuned = Tuned { depth, table: TABLE + mode.spare.min(3) };
        let (measured, reached) = search(mode, dir, tuned, build, limits)?;
        if let Some(reached) = reached {
            // A stack that is larger than it must be costs time.
            let depth = (reached + reached / 8).max(DEPTHS[0]);
            return Ok((Tuned { depth, table: table_for(measured.states, mode.spare) }, measured));
        }
    }
    Err("pan: runs are too deep".to_owned())
}

/// Generates, compiles and runs the verifier of a model, a file in `dir`.
pub fn verify(
    mode: &Mode,
    dir: &Path,
    model: &str,
    tuned: Tuned,
    limits: Limits<'_>,
) -> Result<Measured, String> {
    let build = build(mode, dir, model, limits)?;
    match search(mode, dir, tuned, build, limits)? {
        (measured, Some(_)) => Ok(measured),
        (_, None) => Err("pan: max search depth too small".to_owned()),
    }
}

/// The size of a table that has a place for each state, as a power of two.
///
/// With `spare`, it has two to the power of that many for each.
pub fn table_for(states: u64, spare: u32) -> u32 {
    let places = states.max(1).next_power_of_two().ilog2();
    (places + spare).clamp(TABLES.0, TABLES.1)
}

/// Model to C to program; the time it took.
fn build(mode: &Mode, dir: &Path, model: &str, limits: Limits<'_>) -> Result<Duration, String> {
    let source = dir.join("pan.c");
    // SPIN leaves an old one where it is when it does not like the model.
    let _ = fs::remove_file(&source);
    let mut spin = Command::new("spin");
    if !mode.transforms {
        spin.args(["-o1", "-o2", "-o3"]);
    }
    spin.args(["-a", model]).current_dir(dir);
    let generated = limits.run("spin", &[0], &mut spin)?;
    if !source.exists() {
        return Err("spin: no verifier".to_owned());
    }
    let header = fs::read_to_string(dir.join("pan.h")).unwrap_or_default();
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-w", "-DSAFETY"]).args(mode.defines);
    gcc.arg(format!("-DMEMLIM={}", (limits.memory >> 20).max(1)));
    if has_claim(&header) {
        gcc.arg("-DNOCLAIM");
    }
    gcc.args(["-o", "pan", "pan.c"]).current_dir(dir);
    let compiled = limits.run("gcc", &[0], &mut gcc)?;
    Ok(generated.elapsed + compiled.elapsed)
}

/// Runs the verifier; says how deep it went, unless it would have gone deeper.
fn search(
    mode: &Mode,
    dir: &Path,
    tuned: Tuned,
    build: Duration,
    limits: Limits<'_>,
) -> Result<(Measured, Option<u64>), String> {
    let mut pan = Command::new(dir.join("pan"));
    pan.args(["-c0", "-n", &format!("-m{}", tuned.depth), &format!("-w{}", tuned.table)]);
    pan.args(mode.options).current_dir(dir);
    let job = limits.run("pan", &[0], &mut pan)?;
    let report = PanReport::parse(&job.stdout).ok_or("pan: no figures")?;
    if report.out_of_memory {
        return Err("pan: memory limit".to_owned());
    }
    if report.stopped && !report.truncated {
        let last = report.messages.last();
        let why = last.map_or("search not completed", |message| message.text.as_str());
        return Err(format!("pan: {why}"));
    }
    let measured = Measured {
        seconds: Some((build + job.elapsed).as_secs_f64()),
        cpu: job.usage.cpu.as_secs_f64(),
        states: report.states,
        transitions: Some(report.transitions),
        bytes: report.memory.visited().map(|bytes| bytes as f64),
        peak: job.usage.peak,
        plain: mode.plain,
    };
    Ok((measured, (!report.truncated).then_some(report.depth)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_names_of_their_own() {
        for one in &MODES {
            assert_eq!(mode(one.name), Some(one));
        }
        assert_eq!(mode("no such mode"), None);
    }

    #[test]
    fn a_table_has_a_place_for_each_state() {
        let bitstate = mode("bitstate").expect("it is there").spare;
        assert_eq!(table_for(0, 0), 16);
        assert_eq!(table_for(1 << 20, 0), 20);
        assert_eq!(table_for((1 << 20) + 1, 0), 21);
        assert_eq!(table_for(1 << 20, bitstate), 27);
        assert_eq!(table_for(1 << 40, bitstate), 34);
    }
}
