//! A place to run the command in, and what it says.

// Each test is a program of its own and uses a part of this.
#![allow(dead_code)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const GOOD: &str = "byte n;\nactive [2] proctype P() { n++; n--; printf(\"hi\\n\") }\n";
const ASSERTS: &str = "byte n;\nactive proctype P() {\n  n = 1;\n  n = 2;\n  assert(n == 1)\n}\n";
const DEADLOCK: &str = "chan c = [0] of { byte };\nactive proctype P() { c!1 }\n";
const LONG: &str = "int n;\nactive proctype P() {\n  do\n  :: n < 500 -> n++\n  :: else -> break\n  od;\n  assert(n < 500)\n}\n";

/// A folder with some models to work in.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        let place = Self(TempDir::new().expect("a folder"));
        for (name, text) in [
            ("good.pml", GOOD),
            ("asserts.pml", ASSERTS),
            ("deadlock.pml", DEADLOCK),
            ("long.pml", LONG),
        ] {
            place.write(name, text);
        }
        place
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), text).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("a file")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinward"));
        command.args(args).current_dir(self.path()).env_remove("NO_COLOR");
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        Said::new(&self.command(args).output().expect("the command runs"))
    }

    pub fn run_with_input(&self, args: &[&str], input: impl AsRef<[u8]>) -> Said {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        // The command may end before it has read everything.
        let _ = child.stdin.take().expect("piped").write_all(input.as_ref());
        Said::new(&child.wait_with_output().expect("it ends"))
    }
}

#[derive(Debug)]
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Said {
    pub fn new(output: &Output) -> Self {
        Self {
            out: String::from_utf8(output.stdout.clone()).expect("text"),
            err: String::from_utf8(output.stderr.clone()).expect("text"),
            code: output.status.code().expect("it was not killed"),
        }
    }

    #[track_caller]
    pub fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, expected, "{self:#?}");
        self
    }

    #[track_caller]
    pub fn out(self, part: &str) -> Self {
        assert!(self.out.contains(part), "no {part:?} in {self:#?}");
        self
    }

    #[track_caller]
    pub fn err(self, part: &str) -> Self {
        assert!(self.err.contains(part), "no {part:?} in {self:#?}");
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in {self:#?}"))
    }
}
