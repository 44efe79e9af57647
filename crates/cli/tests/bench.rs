//! `spinward bench` as people meet it: mistakes, and a run with SPIN where it is installed.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::Place;

/// A model with enough states to tell a rate, and one with few.
const MANY: &str = "byte a, b;
active proctype A() { do :: a++ od }
active proctype B() { do :: b++ od }
";

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The folder of the only run below `out`.
fn only_run(out: &Path) -> PathBuf {
    let mut runs =
        fs::read_dir(out).expect("a folder of runs").map(|run| run.expect("a run").path());
    let run = runs.next().expect("a run");
    assert_eq!(runs.next(), None, "more than one run");
    run
}

#[test]
fn without_spin_it_says_what_to_install() {
    let place = Place::new();
    let mut command = place.command(&["bench", "good.pml"]);
    let said = common::Said::new(&command.env("PATH", "").output().expect("it runs"));
    said.code(2).err("spin and gcc are not installed").err("apt-get install spin gcc");
    assert!(!place.path().join("bench").exists());
}

#[test]
fn a_run_is_told_and_kept() {
    if !installed("spin") || !installed("gcc") {
        eprintln!("SPIN or gcc is not installed: nothing to compare with");
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path().join("some")).expect("a folder");
    place.write("some/many.pml", MANY);
    place.write("some/wrong.pml", "active proctype P() { x = 1 }\n");
    fs::rename(place.path().join("deadlock.pml"), place.path().join("some/few.pml"))
        .expect("moved");
    let said = place.run(&["bench", "--rounds", "1", "--ours", "--search bfs", "some"]);
    let said = said.code(0).out("SPIN safety | spinward --search bfs").out("geometric mean");
    let said = said.out("Skipped:\n  wrong.pml  SPIN safety: spin: exit code 1");
    assert_eq!(said.err, "", "quiet in a pipe");

    let run = only_run(&place.path().join("bench"));
    let read = |name: &str| fs::read_to_string(run.join(name)).expect(name);
    assert!(said.out.starts_with(&read("table.txt")), "{said:#?}");
    let results = read("results.csv");
    let rows: Vec<Vec<&str>> = results.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 3, "{results}");
    let column = |name: &str| rows[0].iter().position(|it| *it == name).expect(name);
    let number = |row: &[&str], name: &str| row[column(name)].parse::<f64>().expect(name);
    let (few, many) = (&rows[1], &rows[2]);
    assert_eq!((few[0], many[0]), ("few.pml", "many.pml"));
    // A process alone is at one place, and both bytes take all values.
    assert_eq!(many[column("states")], "65536");
    assert_eq!(many[column("rival_states")], "65536");
    for name in ["seconds", "states_per_cpu_second", "bytes_per_state"] {
        let (theirs, ours) = (number(many, &format!("rival_{name}")), number(many, name));
        let ratio = number(many, &format!("{name}_ratio"));
        let expected = if name.starts_with("states") { ours / theirs } else { theirs / ours };
        assert!((ratio / expected - 1.0).abs() < 0.05, "{name}: {theirs} {ours} {ratio}");
    }
    assert_eq!(few[column("states_per_cpu_second")], "", "too few states to tell");
    // SPIN is looked at once before it is measured, and the wrong model no further than that.
    assert_eq!(read("jobs.csv").lines().count(), 1 + 3 + 2 * 2);
    assert!(read("plot.svg").contains("many.pml"));
    let machine: serde_json::Value = serde_json::from_str(&read("machine.json")).expect("JSON");
    assert!(machine["spin"].as_str().is_some_and(|version| version.contains("Spin Version")));
    assert_eq!(machine["command"][0], "bench");
}

/// One property of each kind: a block with a name and one without, a claim that accepts and one that
/// only ends. Fair runs come to 3, others need not.
const PROPERTIES: &str = "byte x, y;
active proctype Up() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
active proctype Idle() { do :: y = 1 - y od }
ltl { [] <> (x == 3) }
ltl small { [] (x < 2) }
never again { do :: true :: x == 1 -> goto accept od; accept: do :: x == 1 od }
never ends { do :: x < 4 :: x > 4 -> break od }
";

#[test]
fn temporal_properties_are_measured_one_by_one() {
    if !installed("spin") || !installed("gcc") {
        eprintln!("SPIN or gcc is not installed: nothing to compare with");
        return;
    }
    let place = Place::new();
    place.write("properties.pml", PROPERTIES);
    let words = ["bench", "--ltl", "--rounds", "1", "properties.pml", "good.pml"];
    let said = place.run(&words).code(0).out("SPIN -a | spinward --threads 1\n");
    let said = said.out("SPIN -a -f | spinward --threads 1 --fair weak\n");
    let said = said.out("Left out: 1 model (no temporal property)").out("geometric mean");
    assert!(!said.out.contains("Skipped") && !said.out.contains("ends"), "{said:#?}");

    let run = only_run(&place.path().join("bench"));
    let read = |name: &str| fs::read_to_string(run.join(name)).expect(name);
    assert!(said.out.starts_with(&read("table.txt")), "{said:#?}");
    let results = read("results.csv");
    let rows: Vec<Vec<&str>> = results.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|it| *it == name).expect(name);
    let names = ["property", "fairness", "rival_verdict", "verdict"].map(column);
    let mut told: Vec<_> = rows[1..].iter().map(|row| names.map(|name| row[name])).collect();
    told.sort_unstable();
    let expected = [
        ["again", "none", "violated", "violated"],
        ["again", "weak", "holds", "holds"],
        ["ltl_0", "none", "violated", "violated"],
        ["ltl_0", "weak", "holds", "holds"],
        ["small", "none", "violated", "violated"],
        ["small", "weak", "violated", "violated"],
    ];
    assert_eq!(told, expected, "{results}");
    for row in &rows[1..] {
        let lasso = row[column("verdict")] == "violated";
        for steps in ["rival_steps", "steps"] {
            assert_eq!(row[column(steps)].parse::<u64>().is_ok(), lasso, "{results}");
        }
    }
    // Shortest: twice a test and a step.
    let small = rows.iter().find(|row| row[column("property")] == "small").expect("a row");
    assert_eq!(small[column("steps")], "4", "{results}");
    // SPIN is looked at once before it is measured.
    assert_eq!(read("jobs.csv").lines().count(), 1 + 6 + 2 * 6);
}

#[test]
fn the_search_that_is_left_open_is_measured_without_spin() {
    let place = Place::new();
    fs::create_dir(place.path().join("some")).expect("a folder");
    place.write("some/many.pml", MANY);
    place.write("some/wrong.pml", "active proctype P() { x = 1 }\n");
    fs::rename(place.path().join("deadlock.pml"), place.path().join("some/few.pml"))
        .expect("moved");
    let mut command = place.command(&["bench", "--auto", "--rounds", "2", "some"]);
    let said = common::Said::new(&command.env("PATH", "").output().expect("it runs"));
    let said = said.code(0).out("spinward check --threads 1 | with --search\n");
    let said = said.out("2 models: ").out("Runs that are as short as the shortest: 1 of 1.\n");
    let said = said.out("Skipped:\n  wrong.pml  --threads 1: spinward: exit code 2");

    let run = only_run(&place.path().join("bench"));
    let read = |name: &str| fs::read_to_string(run.join(name)).expect(name);
    assert!(said.out.starts_with(&read("table.txt")), "{said:#?}");
    let results = read("results.csv");
    let rows: Vec<Vec<&str>> = results.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|it| *it == name).expect(name);
    let verdicts: Vec<_> = rows[1..].iter().map(|row| [row[0], row[column("verdict")]]).collect();
    assert_eq!(verdicts, [["few.pml", "violated"], ["many.pml", "verified"]], "{results}");
    for row in &rows[1..] {
        let number = |name: &str| row[column(name)].parse::<f64>().expect(name);
        let ratio = number("cpu_seconds") / number("best_cpu_seconds");
        assert!((number("cpu_seconds_ratio") / ratio - 1.0).abs() < 0.1, "{results}");
    }
    // A guide for messages fits neither, which is told there.
    assert!(read("jobs.csv").contains("--search greedy --guide message"), "{}", read("jobs.csv"));
}

#[test]
fn models_can_be_picked() {
    if !installed("spin") || !installed("gcc") {
        eprintln!("SPIN or gcc is not installed: nothing to compare with");
        return;
    }
    let place = Place::new();
    place.write("many.pml", MANY);
    let words =
        "bench --rounds 1 --min-states 10 --largest 1 --out runs good.pml many.pml asserts.pml";
    let words: Vec<&str> = words.split(' ').collect();
    let said = place.run(&words).code(0).out("many.pml").out("fewer than 10 states");
    assert!(!said.out.contains("\ngood.pml"), "{said:#?}");
    assert!(said.out.contains("| spinward --threads 1 --store tree"), "{said:#?}");
    only_run(&place.path().join("runs"));
}

#[test]
fn mistakes_are_told() {
    if !installed("spin") || !installed("gcc") {
        return;
    }
    let place = Place::new();
    place.run(&["bench"]).code(2).err("MODELS");
    place.run(&["bench", "nowhere"]).code(2).err("there is no model or folder nowhere");
    place.run(&["bench", "--modes", "fast", "good.pml"]).code(2).err("SPIN's modes are safety");
    place.run(&["bench", "--rounds", "0", "good.pml"]).code(2).err("--rounds 1 or more");
    place
        .run(&["bench", "--stateright=nowhere"])
        .code(2)
        .err("cannot use the models for Stateright");
    place.run(&["bench", "--ltl", "--modes", "bfs", "good.pml"]).code(2).err("cannot be used with");
    place.run(&["bench", "--auto", "--disk", "good.pml"]).code(2).err("cannot be used with");
    fs::create_dir(place.path().join("empty")).expect("a folder");
    place.run(&["bench", "empty"]).code(2).err("no models there");
    assert!(!place.path().join("bench").exists(), "a mistake keeps no run");
}
