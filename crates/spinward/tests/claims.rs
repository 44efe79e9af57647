//! Small models with a never claim, each about one rule of how it moves beside the system. The first
//! line of each holds what SPIN 6.5.2 says of it: `spin -o1 -o2 -o3 -a`, `gcc -DNOREDUCE -DSAFETY`,
//! `pan -c0`. Where the run ends and the claim goes on alone, only the verdict is held against
//! SPIN's: SPIN stores some of the claim's states then, we all. Each error is replayed by the check
//! itself.

use std::path::Path;

use spinward::{Check, Model, Optimize, Por, Property, Search, Verdict};

/// The counts, as in the first line of a model, and the verdict.
fn summary(path: &Path, search: Search) -> [String; 2] {
    let model = match Model::load(path, &Default::default()) {
        Ok(model) => model,
        Err(error) => panic!("{}: {error:?}", path.display()),
    };
    let check = Check::new(model).por(Por::Off).optimize(Optimize::None);
    let check = check.property(Property::Ltl("never_0".into()));
    let report = match check.search(search).errors(0).run() {
        Ok(report) => report,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let counts = &report.statistics;
    let verdict = if report.verdict == Verdict::Violated { "violated" } else { "holds" };
    let (states, transitions, errors) = (counts.states, counts.transitions, counts.error_count);
    [format!("{states} states, {transitions} transitions, {errors} errors"), verdict.into()]
}

#[test]
fn every_claim_gives_spins_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/claims");
    let mut models: Vec<_> = folder
        .read_dir()
        .expect("the claims")
        .map(|entry| entry.expect("a claim").path())
        .collect();
    models.sort();
    assert!(models.len() >= 30);
    let mut wrong = Vec::new();
    for path in models {
        let text = std::fs::read_to_string(&path).expect("a claim");
        let expected = text.lines().next().and_then(|l| l.strip_prefix("// ")).unwrap_or("");
        for search in [Search::Dfs, Search::Bfs] {
            let found = summary(&path, search);
            if found.iter().all(|found| found != expected) {
                wrong.push(format!("{}: {search}: {found:?}, SPIN: {expected}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
