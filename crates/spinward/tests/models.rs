//! The project's models against `models/expected.json`: what SPIN says of each of them, with several
//! parameters. A debug build leaves out the large ones, which would take it minutes.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use spinward::{Check, Fairness, Model, Optimize, Por, Property, Report, Search, Verdict};
use spinward_promela::Options;

/// States of a model that a debug build can search in a moment.
const SMALL: u64 = 30_000;

#[derive(Deserialize)]
struct Expected {
    models: Vec<Setting>,
}

/// A model with parameters.
#[derive(Deserialize)]
struct Setting {
    file: String,
    defines: Vec<String>,
    verdict: String,
    /// The kind of the model's errors.
    error: Option<String>,
    states: Option<u64>,
    transitions: Option<u64>,
    errors: Option<u64>,
    /// Steps of a shortest run to an error.
    shortest: Option<usize>,
    #[serde(default)]
    claims: Vec<Temporal>,
    #[serde(default)]
    acceptance: Vec<Temporal>,
    #[serde(default)]
    non_progress: Vec<Temporal>,
}

/// What SPIN says of infinite runs.
#[derive(Deserialize)]
struct Temporal {
    #[serde(default)]
    name: Option<String>,
    fair: bool,
    verdict: String,
    error: Option<String>,
}

impl Setting {
    fn model(&self) -> Model {
        let defines = self.defines.iter().map(|define| match define.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (define.clone(), "1".to_owned()),
        });
        let options = Options { defines: defines.collect(), ..Options::default() };
        Model::load(&folder().join(&self.file), &options).expect("a correct text")
    }

    /// The whole search for safety, by this algorithm; of all there is, or of what makes a difference.
    fn check(&self, search: Search, all: bool) -> Report {
        let mut check =
            Check::new(self.model()).property(Property::Safety).search(search).errors(0);
        if all {
            check = check.por(Por::Off).optimize(Optimize::None);
        }
        check.run().expect("a check of this model is possible")
    }

    /// How the search differs from SPIN's of all there is, in words.
    fn differences(&self, search: Search, all: bool) -> Vec<String> {
        let report = self.check(search, all);
        let mut differences = Vec::new();
        let mut compare = |what: &str, ours: String, spins: String| {
            if ours != spins {
                let name = format!("{} {}", self.file, self.defines.join(" "));
                differences.push(format!("{name}: {what} {ours} by {search}, {spins} by SPIN"));
            }
        };
        let verdict = if report.verdict == Verdict::Violated { "violated" } else { "verified" };
        compare("verdict", verdict.into(), self.verdict.clone());
        for error in &report.errors {
            compare("error", error.kind.into(), self.error.clone().unwrap_or_default());
        }
        // SPIN goes on after a run-time error, with whatever is in memory.
        let comparable = self.error.as_deref() != Some("runtime");
        let counts = &report.statistics;
        for (what, ours, spins) in [
            ("states", counts.states, self.states),
            ("transitions", counts.transitions, self.transitions),
            ("errors", counts.error_count, self.errors),
        ] {
            if let Some(spins) = spins.filter(|_| comparable) {
                let ours = if all { ours } else { ours.max(spins) };
                compare(what, ours.to_string(), spins.to_string());
            }
        }
        if let Some(spins) = self.shortest.filter(|_| search != Search::Dfs) {
            let ours = report.errors.iter().map(|error| error.steps).min().unwrap_or(0);
            compare("shortest run", ours.to_string(), spins.to_string());
        }
        differences
    }
}

impl Setting {
    /// What is said of infinite runs, with the property that it is said of.
    fn temporal(&self) -> impl Iterator<Item = (Property, &Temporal)> {
        let never = || "never_0".to_owned();
        let claim = move |it: &Temporal| Property::Ltl(it.name.clone().unwrap_or_else(never));
        let claims = self.claims.iter().map(move |it| (claim(it), it));
        let acceptance = self.acceptance.iter().map(|it| (Property::Acceptance, it));
        let non_progress = self.non_progress.iter().map(|it| (Property::NonProgress, it));
        claims.chain(acceptance).chain(non_progress)
    }

    /// How the answers about infinite runs differ from SPIN's, in words.
    fn temporal_differences(&self, search: Search, all: bool) -> Vec<String> {
        let mut differences = Vec::new();
        for (property, spins) in self.temporal() {
            let fairness = if spins.fair { Fairness::Weak } else { Fairness::None };
            let mut check = Check::new(self.model()).property(property.clone());
            check = check.search(search).fairness(fairness);
            if all {
                check = check.por(Por::Off).optimize(Optimize::None);
            }
            let report = check.run().expect("a check of this model is possible");
            let ours = match report.verdict {
                Verdict::Violated => ("violated", report.errors.first().map(|it| it.kind)),
                Verdict::Verified => ("verified", None),
                _ => ("incomplete", None),
            };
            if ours != (spins.verdict.as_str(), spins.error.as_deref()) {
                let name = format!("{} {}", self.file, self.defines.join(" "));
                differences.push(format!("{name}: {property:?}, {fairness}: {ours:?} by {search}"));
            }
        }
        differences
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn settings() -> Vec<Setting> {
    let text = fs::read_to_string(folder().join("expected.json")).expect("it is there");
    let expected: Expected = serde_json::from_str(&text).expect("it has this form");
    let small = |it: &Setting| it.states.is_none_or(|states| states <= SMALL);
    expected.models.into_iter().filter(|it| !cfg!(debug_assertions) || small(it)).collect()
}

fn compare_all(search: Search, all: bool) {
    let settings = settings();
    let differences: Vec<_> = settings.iter().flat_map(|it| it.differences(search, all)).collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn depth_first_search_finds_what_spin_finds() {
    compare_all(Search::Dfs, true);
}

#[test]
fn breadth_first_search_finds_the_same_by_shortest_runs() {
    compare_all(Search::Bfs, true);
}

#[test]
fn the_usual_search_finds_the_same_by_shortest_runs() {
    compare_all(Search::Auto, true);
}

#[test]
fn no_search_misses_an_error_by_what_it_leaves_out() {
    for search in [Search::Dfs, Search::Bfs, Search::Auto] {
        compare_all(search, false);
    }
}

#[test]
fn infinite_runs_are_judged_as_spin_does() {
    let settings = settings();
    let mut answers = 0;
    for search in
        [Search::Auto, Search::Ndfs, Search::Indfs, Search::AstarIndfs, Search::Se05, Search::Tau03]
    {
        for all in [true, false] {
            answers += settings.iter().flat_map(Setting::temporal).count();
            let differences: Vec<_> =
                settings.iter().flat_map(|it| it.temporal_differences(search, all)).collect();
            assert!(differences.is_empty(), "{differences:#?}");
        }
    }
    assert!(answers > 100, "the models have properties of infinite runs");
}
