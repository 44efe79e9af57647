//! Draws the figures 4, 5 and 6 of K. Dräger, B. Finkbeiner and A. Podelski, *Directed model checking with
//! distance-preserving abstractions*, SPIN 2006, from what this program does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use spinward::{Check, Model, Optimize, Por, Property, Search, Verdict};
use spinward_guide::NEVER;

use crate::distances::{estimates, machine, truth};
use crate::generate::network::{Size, network};
use crate::plot::{Plot, Series};
use crate::project_root;

/// Draw how good abstractions are, and what they cost
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// The folder that the figures go to [default: docs/src/figures]
    #[arg(long)]
    out: Option<PathBuf>,
    /// The seed of the network of figure 6; of 0 to 15, 11 takes longest with n=10
    #[arg(long, default_value_t = 11)]
    seed: u64,
}

/// The network of figure 6 has so many processes, as in the paper.
const NETWORK: Size = Size { processes: 8, min_states: 3, max_states: 10, goals: None };

/// Each time is the least of so many: what else the machine does only adds to it.
const TIMES: u32 = 3;

/// Draws all figures, and prints what is in them.
pub fn run(options: &Options) -> Result<ExitCode> {
    let folder = options.out.clone().unwrap_or_else(|| project_root().join("docs/src/figures"));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let draw = |name: &str, plot: &Plot| {
        let path = folder.join(name);
        print_points(plot);
        fs::write(&path, plot.to_string())
            .with_context(|| format!("cannot write {}", path.display()))
    };
    draw("accuracy-by-refinement.svg", &by_refinement()?)?;
    draw("accuracy-by-order.svg", &by_order()?)?;
    draw("time-by-bound.svg", &by_bound(options.seed)?)?;
    Ok(ExitCode::SUCCESS)
}

fn print_points(plot: &Plot) {
    println!("{}", plot.title);
    for it in &plot.series {
        let points: Vec<_> = it.points.iter().map(|(x, y)| format!("{x} {y:.2}")).collect();
        println!("  {}: {}", it.name, points.join(", "));
    }
}

/// Figure 4: which states are told apart first.
fn by_refinement() -> Result<Plot> {
    accuracy(
        "hanoi_disks",
        "!(OTHERS && Smallest@on_c)",
        "Towers of Hanoi, 3 disks, n=40",
        &["dpa(n=40,order=rank,refine=near)", "dpa(n=40,order=rank,refine=far)"],
    )
}

/// Figure 5: which parts are merged first.
fn by_order() -> Result<Plot> {
    accuracy(
        "arbiter_tree",
        "!(Second@critical && Last@critical)",
        "Arbiter tree, 8 processes, n=20",
        &["dpa(n=20,order=rank)", "dpa(n=20,order=given)"],
    )
}

/// How much guides estimate too little, on average of all states of a distance.
fn accuracy(model: &str, invariant: &str, title: &str, guides: &[&str]) -> Result<Plot> {
    let path = project_root().join(format!("models/{model}.pml"));
    let text = fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))?;
    let machine = machine(&path, text, invariant)?;
    let truth = truth(&machine)?;
    println!("{model}: {} states, {} transitions", truth.states.len(), truth.edges.len());
    let line = |guide: &&str| -> Result<Series> {
        let estimates = estimates(&machine, &truth, guide)?;
        Ok(Series { name: (*guide).to_owned(), points: lacking(&truth.distances, &estimates) })
    };
    Ok(Plot {
        title: title.to_owned(),
        x: "steps to the error".into(),
        y: "steps not seen by the guide, in percent".into(),
        series: guides.iter().map(line).collect::<Result<_>>()?,
    })
}

/// By distance, how much of it is missing in estimates, in percent; none for states without a way.
fn lacking(distances: &[u32], estimates: &[u32]) -> Vec<(f64, f64)> {
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let counted = distances.iter().zip(estimates).filter(|it| ![0, NEVER].contains(it.0));
    for (&distance, &estimate) in counted {
        let (sum, count) = sums.entry(distance).or_default();
        *sum += 100.0 * (1.0 - f64::from(estimate) / f64::from(distance));
        *count += 1.0;
    }
    let average = |(distance, (sum, count))| (f64::from(distance), sum / count);
    sums.into_iter().map(average).collect()
}

/// Figure 6: how long it takes, by the states that a part may have.
fn by_bound(seed: u64) -> Result<Plot> {
    let names = ["all", "making the guide", "A*"];
    let mut series = names.map(|name| Series { name: name.into(), points: Vec::new() });
    for bound in (10..=200).step_by(10) {
        let (guide, search) = least_seconds(seed, bound)?;
        for (line, seconds) in series.iter_mut().zip([guide + search, guide, search]) {
            line.points.push((f64::from(bound), seconds));
        }
    }
    Ok(Plot {
        title: format!("Random network of 8 processes, seed {seed}"),
        x: "n, states of a part".into(),
        y: "seconds, where it was drawn".into(),
        series: series.into(),
    })
}

/// How long it takes to make a guide, and to search by it.
fn least_seconds(seed: u64, bound: u32) -> Result<(f64, f64)> {
    let mut least = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TIMES {
        let (guide, search) = seconds(seed, bound)?;
        if guide + search < least.0 + least.1 {
            least = (guide, search);
        }
    }
    Ok(least)
}

fn seconds(seed: u64, bound: u32) -> Result<(f64, f64)> {
    let network = network(seed, NETWORK);
    let invariant = network.invariant();
    let conditions = vec![invariant.clone()];
    let options = spinward_promela::Options { conditions, ..Default::default() };
    let model = Model::from_text(Path::new("network.pml"), network.to_string(), &options)?;
    let check = Check::new(model).property(Property::Invariant(invariant)).search(Search::Astar);
    let check = check.guide(format!("dpa(n={bound},order=rank)").parse()?);
    let report = check.por(Por::Off).optimize(Optimize::None).threads(1).run()?;
    ensure!(report.verdict == Verdict::Violated, "seed {seed} has no way to the error");
    let seconds = report.statistics.seconds;
    Ok((seconds.guide, seconds.search))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_an_average_by_distance() {
        let points = lacking(&[4, 0, 4, NEVER, 10], &[4, 0, 2, 7, 9]);
        assert_eq!(points.len(), 2);
        assert_eq!(points[0], (4.0, 25.0));
        assert!(points[1].0 == 10.0 && (points[1].1 - 10.0).abs() < 1e-9, "{points:?}");
    }
}
