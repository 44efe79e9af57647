//! The README and the book tell the truth: every command in them is run, and its output compared.
//!
//! A document is a sequence of fenced blocks that share one folder. A block `promela NAME` is a file
//! of that name. A block `console` holds commands behind `$ `, each with its output, standard error
//! included. Blocks of other kinds are left alone. The folder has the project's `models` in it.
//!
//! What differs from run to run (times, memory, processors) counts as equal. `UPDATE_EXPECT=1` writes the output
//! of the commands into the documents. Blocks that run SPIN are left alone where it is not installed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const PROMPT: &str = "$ ";

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

fn chapters() -> Vec<PathBuf> {
    let entries = fs::read_dir(project().join("docs/src")).expect("the book is there");
    let mut chapters: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    chapters.sort();
    chapters
}

fn documents() -> Vec<PathBuf> {
    let mut documents = vec![project().join("README.md")];
    documents.extend(chapters());
    documents
}

/// A folder where the commands of one document run.
struct Place {
    folder: TempDir,
    /// The exit code of the last command.
    code: i32,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let models = project().join("models");
        std::os::unix::fs::symlink(models, folder.path().join("models")).expect("a link");
        Self { folder, code: 0 }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("a file");
    }

    /// What a command says. A reader of the README has no `spinward` yet, and lets cargo run it.
    fn run(&mut self, command: &str) -> String {
        let command = command.replace("cargo run --release -- ", "spinward ");
        let spinward = Path::new(env!("CARGO_BIN_EXE_spinward"));
        let mut path = spinward.parent().expect("a folder").as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        // So that `echo $?` tells the exit code of the command before.
        let script = format!("exec 2>&1; (exit {}); {command}", self.code);
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env("LC_ALL", "C")
            .env_remove("NO_COLOR")
            .output()
            .expect("a shell");
        self.code = output.status.code().expect("it was not killed");
        let mut said = String::from_utf8(output.stdout).expect("text");
        if !said.is_empty() && !said.ends_with('\n') {
            said.push('\n');
        }
        said
    }
}

/// A document as its commands make it.
fn rerun(text: &str, spin: bool) -> String {
    let mut place = Place::new();
    let mut made = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(made, "{line}");
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let commands = || block.iter().filter_map(|line| line.strip_prefix(PROMPT));
        let needs_spin = || commands().any(|command| command.starts_with("spin "));
        if kind == "console" && (spin || !needs_spin()) {
            rerun_console(&block, &mut place, &mut made);
        } else {
            let contents: String = block.iter().map(|line| format!("{line}\n")).collect();
            if let Some(name) = kind.strip_prefix("promela ") {
                place.write(name, &contents);
            }
            made.push_str(&contents);
        }
        made.push_str("```\n");
    }
    made
}

fn rerun_console(block: &[&str], place: &mut Place, made: &mut String) {
    for part in block.chunk_by(|_, line| !line.starts_with(PROMPT)) {
        let command = part[0].strip_prefix(PROMPT).expect("a console block begins with a command");
        let said = place.run(command);
        let old: String = part[1..].iter().map(|line| format!("{line}\n")).collect();
        let _ = writeln!(made, "{}", part[0]);
        // Figures that differ from run to run shall not change the document.
        made.push_str(if steady(&said) == steady(&old) { &old } else { &said });
    }
}

/// The text without what differs from run to run.
fn steady(text: &str) -> String {
    // SPIN compares times of files that were written within the same second.
    let lines = text.lines().filter(|line| !line.contains(" is newer than "));
    lines.map(|line| steady_line(line) + "\n").collect()
}

fn steady_line(line: &str) -> String {
    const FIGURES: [&str; 9] = [
        "bytes_per_state",
        "peak_memory",
        "states_per_second",
        "load",
        "search",
        "decided",
        "total",
        "seconds",
        "threads",
    ];
    if let Some((before, after)) = line.split_once(" in memory, ") {
        let counts = before.rsplit_once(", ").map_or("", |(counts, _)| counts);
        let search = after.split_once(' ').map_or("", |(_, search)| search);
        return format!("{counts}, {search}");
    }
    match line.trim().split_once("\": ") {
        Some((name, value)) if !value.starts_with('"') => {
            let name = name.trim_start_matches('"');
            if FIGURES.contains(&name) { name.to_owned() } else { line.to_owned() }
        }
        _ => line.to_owned(),
    }
}

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[test]
fn commands_say_what_the_documents_say() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let spin = installed("spin") && installed("gcc");
    let mut different = String::new();
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document");
        let made = rerun(&text, spin);
        if update {
            fs::write(&path, made).expect("the document can be written");
            continue;
        }
        for (number, (old, new)) in text.lines().zip(made.lines()).enumerate() {
            if old != new {
                let place = format!("{}:{}", path.display(), number + 1);
                let _ = writeln!(different, "{place}\n  written: {old}\n  said:    {new}");
                break;
            }
        }
        if text.lines().count() != made.lines().count() {
            let _ = writeln!(different, "{}: some output is missing or too much", path.display());
        }
    }
    assert!(different.is_empty(), "UPDATE_EXPECT=1 records the output:\n{different}");
}

#[test]
fn links_lead_somewhere() {
    let mut documents = documents();
    let others = ["ARCHITECTURE.md", "CHANGELOG.md", "models/README.md"];
    documents.extend(others.map(|name| project().join(name)));
    for document in documents {
        let folder = document.parent().expect("a folder");
        let text = prose(&fs::read_to_string(&document).expect("a document"));
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { document.clone() } else { folder.join(file) };
            let place = format!("{}: {link}", document.display());
            assert!(target.exists(), "{place}");
            if !heading.is_empty() {
                let text = fs::read_to_string(&target).expect("a document");
                assert!(text.lines().any(|line| anchor(line) == heading), "{place}");
            }
        }
    }
}

/// A document without its fenced blocks: formulas in them look like links.
fn prose(text: &str) -> String {
    let mut inside = false;
    let outside = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    outside.map(|line| format!("{line}\n")).collect()
}

/// The name by which links know a heading.
fn anchor(line: &str) -> String {
    let title = line.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn the_summary_lists_every_chapter() {
    let summary = project().join("docs/src/SUMMARY.md");
    let text = fs::read_to_string(&summary).expect("the summary");
    for chapter in chapters().iter().filter(|chapter| **chapter != summary) {
        let name = chapter.file_name().expect("a name").to_string_lossy();
        assert!(text.contains(&format!("({name})")), "{name} is not in the summary");
    }
}

#[test]
fn links_are_looked_for_in_prose() {
    assert_eq!(prose("a\n```console\n[](b)\n```\n[c](d)\n"), "a\n[c](d)\n");
}

#[test]
fn figures_of_a_run_do_not_count() {
    let first = "\n3 states, 3 transitions, depth 2, 5.0 MB in memory, 0.00 s (bfs search)\n";
    assert_eq!(steady(first), steady(&first.replace("5.0", "6.1").replace("0.00", "1.25")));
    assert_ne!(steady(first), steady(&first.replace("depth 2", "depth 3")));
    assert_ne!(steady(first), steady(&first.replace("bfs", "dfs")));
    assert_eq!(steady("  \"load\": 0.1,"), steady("  \"load\": 0.2,"));
    assert_ne!(steady("  \"states\": 1,"), steady("  \"states\": 2,"));
}
