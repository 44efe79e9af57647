//! The one model on disk that the workbench may read and write, and what the page begins with.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use spinward::{Fairness, Search};
use spinward_promela::{Includes, Options};

use crate::Shared;
use crate::problem::Problem;

/// What the page shows if there is no model.
const EXAMPLE: &str = include_str!("../../../models/mutex_test_then_set.pml");
const EXAMPLE_NAME: &str = "example.pml";

/// The model on disk, if there is one.
#[derive(Debug)]
pub struct Files {
    model: Option<PathBuf>,
    defines: Vec<String>,
}

impl Files {
    /// For a model that can be read, or none.
    pub fn new(model: Option<PathBuf>, defines: Vec<String>) -> Result<Self, String> {
        if let Some(path) = &model {
            spinward_promela::preprocess::read_file(path).map_err(|problem| problem.message)?;
        }
        Ok(Self { model, defines })
    }

    /// What the model is called, and where it looks for files.
    pub fn path(&self) -> &Path {
        self.model.as_deref().unwrap_or(Path::new(EXAMPLE_NAME))
    }

    /// How a text of the page is read: of all files only those beside the model belong to it.
    pub fn options(&self) -> Options {
        let includes = match &self.model {
            Some(model) => Includes::Within(folder(model)),
            None => Includes::Nothing,
        };
        Options { includes, ..Options::default() }
    }
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// What the page begins with.
#[derive(Debug, Serialize)]
pub struct Start {
    version: &'static str,
    name: String,
    text: String,
    defines: Vec<String>,
    /// What saving must show; none if there is no file.
    saved: Option<String>,
    searches: Vec<&'static str>,
    guides: Vec<Named>,
    fairness: Vec<&'static str>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Named {
    name: &'static str,
    idea: &'static str,
}

/// Tells what the page begins with.
pub async fn start(State(shared): State<Arc<Shared>>) -> Result<Json<Start>, Problem> {
    let files = &shared.files;
    let (text, saved) = match &files.model {
        None => (EXAMPLE.to_owned(), None),
        Some(path) => {
            let read = spinward_promela::preprocess::read_file(path);
            let text = read.map_err(|problem| Problem::usage(problem.message))?;
            (text, Some(state_of(path)))
        }
    };
    let guides = spinward_guide::GUIDES.iter();
    Ok(Json(Start {
        version: env!("CARGO_PKG_VERSION"),
        name: files.path().display().to_string(),
        text,
        defines: files.defines.clone(),
        saved,
        searches: Search::ALL.iter().map(|search| search.name()).collect(),
        guides: guides.map(|guide| Named { name: guide.name, idea: guide.idea }).collect(),
        fairness: Fairness::ALL.iter().map(|fairness| fairness.name()).collect(),
        seconds: shared.limits.time.as_secs_f64(),
    }))
}

/// Tells one state of a file from another.
fn state_of(path: &Path) -> String {
    let Ok(data) = fs::metadata(path) else {
        return "missing".into();
    };
    let changed = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{}-{}", changed.map_or(0, |time| time.as_nanos()), data.len())
}

/// Asks to write the model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Save {
    text: String,
    /// The state of the file that the text was made of.
    saved: String,
}

/// The state of the file after that.
#[derive(Debug, Serialize)]
pub struct Saved {
    saved: String,
}

/// Writes the model, unless somebody else did meanwhile.
pub async fn save(
    State(shared): State<Arc<Shared>>,
    Json(Save { text, saved }): Json<Save>,
) -> Result<Json<Saved>, Problem> {
    let Some(path) = &shared.files.model else {
        return Err(Problem::usage("there is no file to save to; download the text instead"));
    };
    if state_of(path) != saved {
        let message = "the file was changed elsewhere since it was read, so it was not overwritten; \
                       download the text, or reload the page to see the file";
        return Err(Problem::new(StatusCode::CONFLICT, message));
    }
    replace(path, &text)
        .map_err(|problem| Problem::usage(format!("cannot write {}: {problem}", path.display())))?;
    Ok(Json(Saved { saved: state_of(path) }))
}

/// Writes a file as a whole or not at all; a link stays one.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = path.canonicalize()?;
    let mut file = tempfile::NamedTempFile::new_in(folder(&path))?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
    file.persist(&path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_behind_its_link() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("m.pml"), place.path().join("link.pml"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let before = state_of(&link);
        replace(&link, "newer").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_ne!(state_of(&link), before);
    }
}
