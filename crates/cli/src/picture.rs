//! What commands say and draw of a run, beside listing it: charts, pages, and which steps matter.

use std::path::Path;

use serde::Serialize;
use spinward::words::{counted, thousands};
use spinward_machine::{Machine, Step};
use spinward_trail::run::Keep;
use spinward_trail::{Chart, Rearranged, Report, Run, chart_svg, chart_text, dependence, describe};

use crate::args::OutputArgs;
use crate::terminal::{Failure, say};

/// So many columns are filled if nobody knows how many there are.
const WIDTH: usize = 100;

/// So many steps that make no difference are told by their number.
const LISTED: usize = 12;

/// Longer runs are not taken apart unless that is asked for.
const TAKEN_APART: usize = 10_000;

/// Writes a run as a page.
pub fn write_page(report: &Report<'_>, path: &Path, output: &OutputArgs) -> Result<(), Failure> {
    write(path, "the report", &report.html().map_err(Failure::internal)?, output)
}

/// Writes a run as a sequence chart, with the moves of the claim or without.
pub fn write_chart(
    report: &Report<'_>,
    claim: bool,
    path: &Path,
    output: &OutputArgs,
) -> Result<(), Failure> {
    let Report { machine, steps, cycle_start, dimmed, .. } = *report;
    let keep = Keep::for_picture(steps);
    let mut run = describe(machine, steps, cycle_start, keep).map_err(Failure::internal)?;
    run.dim(dimmed);
    write(path, "the chart", &chart_svg::svg(&Chart::of(&run, claim)), output)
}

fn write(path: &Path, what: &str, text: &str, output: &OutputArgs) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|problem| {
        Failure::usage(format!("cannot write {what} to {}: {problem}", path.display()))
    })?;
    if !output.quiet {
        say(&format!("{what} is in {}", path.display()));
    }
    Ok(())
}

/// The sequence chart of a run for the terminal.
pub fn chart(run: &Run, listing: spinward_trail::Listing) -> Result<String, Failure> {
    let chart = Chart::of(run, listing.claim);
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = set.or(width).unwrap_or(WIDTH);
    chart_text::text(&chart, width, listing).ok_or_else(|| {
        let processes = counted(chart.lanes.len() as u64, "lane");
        Failure::usage(format!(
            "a chart with {processes} does not fit into {width} columns; --msc FILE.svg draws it"
        ))
    })
}

/// What came of putting steps in another order.
#[derive(Serialize)]
pub struct Rearrangement {
    /// How often another process moved in the run as it was.
    switches_before: usize,
    /// And in the one shown.
    switches: usize,
    /// Whether no order of these steps that keeps what depends on each other has fewer.
    fewest: bool,
}

impl Rearrangement {
    /// Of a run that was put in another order.
    pub fn new(found: &Rearranged) -> Self {
        let Rearranged { before, switches, fewest, .. } = *found;
        Self { switches_before: before, switches, fewest }
    }

    /// In words.
    pub fn to_text(&self) -> String {
        let Self { switches_before, switches, fewest } = self;
        let now = counted(*switches as u64, "switch");
        let known = if *fewest {
            "no order that keeps what depends on each other has fewer"
        } else {
            "there may be an order with fewer: not all were tried"
        };
        if switches < switches_before {
            let before = thousands(*switches_before as u64);
            format!("\nRearranged from {before} to {now} between processes; {known}.\n")
        } else {
            format!("\nThe steps stay in their order, with {now} between processes; {known}.\n")
        }
    }
}

/// By step: whether it makes no difference to what goes wrong at the end of a run.
pub fn dimmed(
    machine: &Machine,
    steps: &[Step],
    cycle_start: Option<usize>,
    watched: &[u32],
) -> Result<Vec<bool>, Failure> {
    let parts = dependence(machine, steps, cycle_start, watched).map_err(Failure::internal)?;
    Ok(parts.dimmed(steps.len()))
}

/// Which steps of a run to an error cannot have led to it, in a line; nothing if all can, or if the run is long.
pub fn unneeded(
    machine: &Machine,
    steps: &[Step],
    cycle_start: Option<usize>,
    watched: &[u32],
) -> Result<String, Failure> {
    if steps.len() > TAKEN_APART {
        return Ok(String::new());
    }
    let dimmed = dimmed(machine, steps, cycle_start, watched)?;
    let mut number = 0;
    let mut unneeded = Vec::new();
    for (step, dimmed) in steps.iter().zip(dimmed) {
        number += usize::from(!step.is_claim());
        if dimmed {
            unneeded.push(number.to_string());
        }
    }
    let listed = unneeded.len().min(LISTED);
    let more = if unneeded.len() > listed { ", ..." } else { "" };
    Ok(match unneeded.as_slice() {
        [] => String::new(),
        [one] => format!("Step {one} cannot have led to it.\n"),
        all => format!(
            "{} of the {number} steps cannot have led to it: {}{more}\n",
            all.len(),
            all[..listed].join(", ")
        ),
    })
}
