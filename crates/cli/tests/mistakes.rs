//! What the command says about models that are wrong: for each `mistakes/*.pml` the standard error
//! of `spinward check` stands beside it, in a file `.stderr`. With the environment variable
//! `UPDATE_EXPECT` set the files are written anew; read them as a user would before committing.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the command says, and its exit code as the last line.
fn check(folder: &Path, model: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_spinward"))
        .args(["check", "--color", "never", "--trail", "/dev/null", model])
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .output()
        .expect("the command runs");
    let text = String::from_utf8(output.stderr).expect("messages are text");
    format!("{text}exit code {}\n", output.status.code().expect("it was not killed"))
}

#[test]
fn mistakes_are_told_as_recorded() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut models: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
        .collect();
    models.sort();
    assert!(models.len() >= 60, "some models are missing");
    let mut different = Vec::new();
    for path in &models {
        let name = path.file_name().and_then(|name| name.to_str()).expect("plain names");
        let said = check(&folder, name);
        assert!(!said.contains("internal error"), "{name}: {said}");
        let expected = path.with_extension("stderr");
        if update {
            std::fs::write(&expected, said).expect("the folder can be written");
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            different.push(format!("== {name}\n{said}"));
        }
    }
    assert!(
        different.is_empty(),
        "{} differ (UPDATE_EXPECT=1 records them):\n{}",
        different.len(),
        different.join("\n")
    );
}
