//! Checks with states on disk, as the user runs them: they survive being killed at any moment, and refuse to go on with
//! what is not theirs.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use common::{Place, Said};
use serde_json::Value;

/// Four counters; wrong where all are high.
const COUNTERS: &str = "
#ifndef BAD
#define BAD 100
#endif
byte n[4];
active [4] proctype Count() {
  do
  :: n[_pid] < 6 -> n[_pid]++
  :: n[_pid] > 0 -> n[_pid]--
  :: n[0] == BAD && n[1] == BAD && n[2] == BAD && n[3] == BAD -> assert(false)
  od
}
";

const OPTIONS: &[&str] =
    &["check", "--por", "off", "--optimize", "none", "--format", "json", "--threads", "2"];

fn place() -> Place {
    let place = Place::new();
    place.write("counters.pml", COUNTERS);
    place
}

/// As little memory, the program itself included, as it can do with: some of the states fit.
fn memory() -> &'static str {
    static MEMORY: OnceLock<String> = OnceLock::new();
    MEMORY.get_or_init(|| {
        let said = place().run(&["check", "--disk", "d", "--memory", "1M", "counters.pml"]).code(2);
        let advice = said.err.split("--memory ").nth(1).expect("it says how much is enough");
        advice.split_whitespace().next().unwrap().to_owned()
    })
}

#[test]
fn too_little_memory_is_refused() {
    let place = place();
    let less = ["check", "--disk", "d", "--memory", "1M", "counters.pml"];
    place.run(&less).code(2).err("error: the memory is too little");
    assert!(!place.path().join("d").exists(), "nothing was begun");
    let enough = ["check", "--disk", "d", "--memory", memory(), "counters.pml"];
    place.run(&enough).code(0);
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [OPTIONS, &["--memory", memory()], more].concat()
}

/// What must not depend on how often a check was killed.
fn answer(said: &Said) -> Value {
    let json = said.json();
    let steps: Vec<_> = json["errors"].as_array().unwrap().iter().map(|it| &it["steps"]).collect();
    serde_json::json!([json["verdict"], steps, json["complete"]])
}

#[test]
fn on_disk_everything_is_as_in_memory() {
    let place = place();
    for more in
        [&["--search", "bfs"][..], &["--search", "astar"], &["--search", "astar", "-D", "BAD=5"]]
    {
        let whole = place.run(
            &[
                &[
                    "check",
                    "--format",
                    "json",
                    "--por",
                    "off",
                    "--optimize",
                    "none",
                    "counters.pml",
                ],
                more,
            ]
            .concat(),
        );
        let on_disk = place.run(&with(&[&["--disk", "d", "counters.pml"], more].concat()));
        assert_eq!(answer(&on_disk), answer(&whole), "{on_disk:#?}");
        assert!(on_disk.json()["statistics"]["disk_bytes"].as_u64().unwrap() > 0, "{on_disk:#?}");
        assert_eq!(
            on_disk.json()["statistics"]["states"] == whole.json()["statistics"]["states"],
            whole.code == 0
        );
        assert!(!place.path().join("d").exists(), "what nobody needs stays");
    }
}

#[test]
fn who_is_killed_goes_on() {
    let place = place();
    let mut starts = 0;
    for (round, bad) in (0..20).zip(["BAD=100", "BAD=5"].into_iter().cycle()) {
        let search = if round % 4 < 2 { "bfs" } else { "astar" };
        let options = with(&["--search", search, "-D", bad, "counters.pml"]);
        let began = Instant::now();
        let undisturbed = place.run(&[&options[..], &["--disk", "u"]].concat());
        let mut takes = began.elapsed();
        let (mut more, mut kills) = (["--disk", "d"], 0);
        let said = loop {
            let out = fs::File::create(place.path().join("out")).unwrap();
            let err = fs::File::create(place.path().join("err")).unwrap();
            let mut command = place.command(&[&options[..], &more].concat());
            let mut child = command.stdout(out).stderr(err).spawn().unwrap();
            // At any moment, but a little later each time, so that there is an end.
            starts += 1;
            let share = f64::from(starts * 7919 % 1000) / 1000.0 + 0.1 * f64::from(kills);
            std::thread::sleep(takes.mul_f64(share));
            let _ = child.kill();
            let status = child.wait().unwrap();
            let said = Said {
                out: place.read("out"),
                err: place.read("err"),
                code: status.code().unwrap_or(-1),
            };
            // It may have told its answer when it was killed.
            let answered = said.code >= 0 || serde_json::from_str::<Value>(&said.out).is_ok();
            if answered {
                let _ = fs::remove_dir_all(place.path().join("d"));
                if kills > 0 {
                    break said;
                }
                // Each is killed at least once.
                (takes, more) = (takes / 2, ["--disk", "d"]);
                continue;
            }
            kills += 1;
            if place.path().join("d/check.json").exists() {
                more = ["--resume", "d"];
            }
        };
        assert_eq!(answer(&said), answer(&undisturbed), "round {round}: {said:#?}");
        if undisturbed.code == 0 {
            let states = |said: &Said| said.json()["statistics"]["states"].clone();
            assert_eq!(states(&said), states(&undisturbed), "round {round}");
        }
    }
}

/// A run that was interrupted, in the folder `d`.
fn interrupted(place: &Place) -> Said {
    place
        .run(&with(&["--search", "bfs", "--max-states", "40000", "--disk", "d", "counters.pml"]))
        .code(3)
}

#[test]
fn who_could_not_begin_begins_later() {
    let place = place();
    let options = ["check", "--format", "json", "--search", "bfs", "-D", "BAD=2"];
    let little = ["--memory", "1M", "--disk", "d", "counters.pml"];
    place.run(&[&options[..], &little].concat()).code(2);
    let said = place.run(&[&options[..], &["--disk", "d", "counters.pml"]].concat());
    assert_eq!(said.json()["verdict"], "violated", "{said:#?}");
}

#[test]
fn what_does_not_match_is_refused() {
    let place = place();
    let said = interrupted(&place);
    let reason = said.json()["reasons"][0]["message"].as_str().unwrap().to_owned();
    assert!(reason.ends_with("--resume d in place of --disk goes on"), "{reason}");
    place
        .run(&["disk", "info", "d"])
        .code(0)
        .out("counters.pml: interrupted")
        .out("wait from depth");
    for (more, why) in [
        (&["--search", "astar", "counters.pml"][..], "it was begun with --search bfs, not astar"),
        (
            &["--search", "bfs", "-D", "BAD=9", "counters.pml"],
            "it is of another model, counters.pml, or of other -D options",
        ),
        (&["--search", "bfs", "good.pml"], "it is of another model"),
        (
            &["--search", "bfs", "--max-depth", "9", "counters.pml"],
            "it was begun with --max-depth none, not 9",
        ),
        (
            &["--search", "bfs", "--invariant", "true", "counters.pml"],
            "an invariant or a formula is not the same as when it was begun",
        ),
    ] {
        place.run(&with(&[more, &["--resume", "d"]].concat())).code(2).err(why);
    }
    let fresh = with(&["--search", "bfs", "counters.pml", "--disk", "d"]);
    place.run(&fresh).code(2).err("has a run that was not finished; go on with it by --resume d");
    place
        .run(&with(&["--search", "dfs", "counters.pml", "--disk", "e"]))
        .code(2)
        .err("use --disk with --search bfs or astar");
    place
        .run(&with(&["counters.pml", "--resume", "e"]))
        .code(2)
        .err("there is no run to go on with in e");
    let said = place.run(&with(&["--search", "bfs", "counters.pml", "--resume", "d"])).code(0);
    assert_eq!(said.json()["statistics"]["states"], 130_321);
}

#[test]
fn a_folder_of_somebody_else_is_left_as_it_is() {
    let place = place();
    fs::create_dir(place.path().join("d q")).unwrap();
    place.write("d q/letter", "");
    let options = with(&["--search", "bfs", "counters.pml", "--disk", "d q"]);
    place.run(&options).code(2).err("d q is not empty");
    assert_eq!(fs::read_dir(place.path().join("d q")).unwrap().count(), 1);
    fs::remove_file(place.path().join("d q/letter")).unwrap();
    let said = place.run(&[&options[..], &["--max-states", "40000"]].concat()).code(3);
    let reason = said.json()["reasons"][0]["message"].as_str().unwrap().to_owned();
    assert!(reason.contains("--resume 'd q' in place of --disk"), "{reason}");
    place.run(&["disk", "info", "d q"]).code(0).out("--resume 'd q'");
}

#[test]
fn another_guide_is_refused() {
    let place = place();
    let options = with(&["--search", "astar", "counters.pml"]);
    place.run(&[&options[..], &["--max-states", "40000", "--disk", "d"]].concat()).code(3);
    place
        .run(&[&options[..], &["--guide", "none", "--resume", "d"]].concat())
        .code(2)
        .err("it was begun with --guide chosen from the property, not none");
    place.run(&[&options[..], &["--resume", "d"]].concat()).code(0);
}

#[test]
fn two_at_a_time_are_kept_apart() {
    let place = place();
    let options = with(&["--search", "bfs", "counters.pml", "--disk", "d"]);
    let mut first = place.command(&options).stdout(Stdio::null()).spawn().unwrap();
    while !place.path().join("d/check.json").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = place.run(&with(&["--search", "bfs", "counters.pml", "--resume", "d"]));
    // The first may have come to its end.
    assert!(
        second.err.contains("is in use by another run")
            || second.code == 0
            || second.err.contains("no run to go on"),
        "{second:#?}"
    );
    first.wait().unwrap();
}

#[test]
fn what_is_damaged_or_missing_is_named() {
    let place = place();
    interrupted(&place);
    let folder = place.path().join("d/search-1");
    let states = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|it| it == "states");
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(Result::unwrap).filter(states).collect();
    let largest = files.iter().max_by_key(|it| it.metadata().unwrap().len()).unwrap().path();
    let resume = with(&["--search", "bfs", "counters.pml", "--resume", "d"]);
    let bytes = fs::read(&largest).unwrap();
    let mut changed = bytes.clone();
    changed[bytes.len() / 3] ^= 4;
    fs::write(&largest, changed).unwrap();
    let name = largest.file_name().unwrap().to_str().unwrap();
    let said = place.run(&resume).code(3);
    let reason = said.json()["reasons"][0].clone();
    assert_eq!(reason["code"], "disk", "{reason}");
    assert!(reason["message"].as_str().unwrap().contains(name), "{reason}");
    fs::remove_file(&largest).unwrap();
    place.run(&resume).code(2).err(name).err("it is missing");
    place.run(&["disk", "info", "d"]).code(0).out("it cannot go on").out(name);
    fs::write(&largest, bytes).unwrap();
    place.run(&["disk", "info", "d"]).code(0).out("go on with: spinward check");
    // Without a list of them, no file counts.
    fs::remove_file(folder.join("search.json")).unwrap();
    let said = place.run(&resume).code(0);
    assert_eq!(said.json()["statistics"]["states"], 130_321);
    assert!(said.json()["notes"][0].as_str().unwrap().contains("the check began anew"));
}

#[test]
fn a_full_disk_ends_it_cleanly() {
    let place = place();
    let options = with(&["--search", "bfs", "counters.pml"]);
    let mut command = Command::new("sh");
    // Files may not become larger than this, which a write is told as an error.
    command.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_spinward")).args(&options).args(["--disk", "d"]);
    let said = Said::new(&command.current_dir(place.path()).output().unwrap()).code(3);
    let reason = said.json()["reasons"][0].clone();
    assert_eq!(reason["code"], "disk", "{reason}");
    assert!(reason["message"].as_str().unwrap().contains("there is no room left for"), "{reason}");
    let said = place.run(&[&options[..], &["--resume", "d"]].concat()).code(0);
    assert_eq!(said.json()["statistics"]["states"], 130_321);
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let place = place();
    place.write("file", "");
    let options = with(&["--search", "bfs", "counters.pml", "--disk", "file/d"]);
    place.run(&options).code(2).err("file/d cannot be made");
    let locked = place.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    // Who may do everything may write there too.
    if fs::write(locked.join("probe"), "").is_err() {
        let options = with(&["--search", "bfs", "counters.pml", "--disk", "locked"]);
        place.run(&options).code(2).err("locked/lock cannot be written");
    }
}

#[test]
fn the_run_is_the_same_for_every_number_of_threads() {
    let place = place();
    let far = "!(n[0] + n[1] + n[2] + n[3] == 12 && n[0] > 1 && n[1] > 1)";
    let trail = |threads| {
        let options = [
            "check",
            "--por",
            "off",
            "--optimize",
            "none",
            "--search",
            "bfs",
            "--disk",
            "d",
            "--trail",
            "trail",
            "counters.pml",
        ];
        let more = ["--invariant", far, "--threads", threads];
        place.run(&[&options[..], &more].concat()).code(1);
        place.read("trail")
    };
    let alone = trail("1");
    assert_eq!(trail("2"), alone);
    assert_eq!(trail("3"), alone);
}

#[test]
fn what_is_hidden_may_hide_a_shorter_run() {
    let place = place();
    place.write(
        "hidden.pml",
        "hidden byte h; byte n;
        active proctype P() { do :: n < 9 -> n++ od }
        active proctype Q() { h = 1 }",
    );
    for more in [&[][..], &["--disk", "d"]] {
        let options = ["check", "--search", "bfs", "--format", "json", "hidden.pml"];
        let shortest = |invariant| {
            let said = place.run(&[&options[..], more, &["--invariant", invariant]].concat());
            said.code(1).json()["errors"][0]["shortest"].clone()
        };
        assert_eq!(shortest("n < 9"), true);
        assert_eq!(shortest("n + h < 9"), false);
    }
}
