//! Checks that keep states on disk.
//!
//! A folder has one check: a manifest says which model was checked and how, so that another check goes on with it only
//! if it asks for the same, and each of its searches has a folder inside ([`Stages`]).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use spinward_disk::{Faults, Folder, Lock};
pub use spinward_search::external::Info;
use spinward_search::external::{self, Stages};
use spinward_search::{Limits, Request};
use spinward_store::hash;

use crate::words::quoted_path;
use crate::{Check, Error, memory};

/// The name of the manifest, and of one that is being written.
const MANIFEST: &str = "check.json";
const UNFINISHED: &str = "check.json.new";

/// What is compared first.
const MODEL: &str = "the model";

/// The guide, if none is given; one that is called `none` is another.
const CHOSEN: &str = "chosen from the property";

/// Which model is checked, and how.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    /// Of the program.
    version: String,
    /// As the user names it.
    model: String,
    /// All that the answer depends on, as the user knows it.
    asked: BTreeMap<String, String>,
}

impl Identity {
    fn of(check: &Check<'_>) -> Self {
        let program = &check.model.program;
        let parts: [&dyn Debug; 8] = [
            &program.automata,
            &program.transitions,
            &program.channels,
            &program.globals,
            &program.hidden,
            &program.init,
            &program.start,
            &check.model.claim,
        ];
        let text = format!("{parts:?}");
        let asked_of_it = format!("{:?} {:?}", program.conditions, program.formulas);
        let digest = |text: &str| format!("{:016x}", hash(text.as_bytes()));
        let shown = |what: &dyn Debug| format!("{what:?}");
        let asked = [
            (MODEL, digest(&text)),
            ("an invariant or a formula", digest(&asked_of_it)),
            ("--search", check.search.to_string()),
            ("--guide", check.guide.as_ref().map_or(CHOSEN.into(), ToString::to_string)),
            ("the trail to go towards", shown(&check.target)),
            ("--por", check.por.map_or("on".into(), |it| it.to_string())),
            ("--optimize", check.optimize.map_or("full".into(), |it| it.to_string())),
            ("--symmetry", check.symmetry.to_string()),
            ("--max-depth", check.max_depth.map_or("none".into(), |it| it.to_string())),
            ("--errors", check.errors.to_string()),
            ("--shortest", check.shortest.to_string()),
            ("what is checked", shown(&check.properties)),
        ];
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            model: check.model.name.clone(),
            asked: asked.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    /// Why a check that asks for one thing cannot go on with another.
    fn misfit(&self, other: &Self) -> Option<String> {
        if self.version != other.version {
            return Some(format!("version {} of spinward began it", other.version));
        }
        // Of another model, all that is asked of it is another thing too.
        let names = self.asked.keys().chain(other.asked.keys()).map(String::as_str);
        let mut names = [MODEL].into_iter().chain(names);
        let name = names.find(|&name| self.asked.get(name) != other.asked.get(name))?;
        let [now, then] = [self, other].map(|it| it.asked.get(name).map_or("none", |it| it));
        Some(match name {
            MODEL => {
                format!("it is of another model, {}, or of other -D options", other.model)
            }
            name if name.starts_with("--") => format!("it was begun with {name} {then}, not {now}"),
            name => format!("{name} is not the same as when it was begun"),
        })
    }
}

/// The folder of a check that is under way.
#[derive(Debug)]
pub(crate) struct Disk {
    pub path: PathBuf,
    pub stages: Stages,
    /// Whether it was to go on with what is there.
    pub resumes: bool,
    /// Bytes of memory, those of the program itself included.
    allowed: u64,
    /// Held for what its end does.
    _lock: Lock,
}

impl Disk {
    /// Begins in an empty folder, or goes on in one that has the same check; none if no folder was asked for.
    pub fn of(check: &Check<'_>) -> Result<Option<Self>, Error> {
        let Some((path, resumes)) = &check.disk else {
            return Ok(None);
        };
        let usage = |text: String| Err(Error::Usage(text));
        let failed = |problem: spinward_disk::Error| Error::Usage(problem.to_string());
        let shown = path.display();
        if *resumes && !path.join(MANIFEST).is_file() {
            return usage(format!(
                "there is no run to go on with in {shown}; begin one with --disk"
            ));
        }
        let folder = Folder::new(path, Faults::default()).map_err(failed)?;
        // What is not ours is left as it is: without a lock in it.
        if has_others(path) {
            return usage(format!("{shown} is not empty; give --disk a folder of its own"));
        }
        let lock = Lock::take(path).map_err(failed)?;
        let identity = Identity::of(check);
        match folder.load::<Identity>(MANIFEST).map_err(failed)? {
            Some(other) if *resumes => {
                if let Some(why) = identity.misfit(&other) {
                    return usage(format!("the run in {shown} cannot go on: {why}"));
                }
            }
            Some(_) => {
                return usage(format!(
                    "{shown} has a run that was not finished; go on with it by --resume {}, or remove the folder",
                    quoted_path(path)
                ));
            }
            None => folder.save(MANIFEST, &identity).map_err(failed)?,
        }
        let stages = Stages::new(path, Faults::default());
        let allowed = memory::allowed(check.memory);
        let (path, resumes) = (path.clone(), *resumes);
        Ok(Some(Self { path, stages, resumes, allowed, _lock: lock }))
    }

    /// What a search is asked, with all memory that is left when all that it works with was made.
    pub fn request(&self, request: &Request) -> Result<Request, Error> {
        let bytes = memory::for_disk(self.allowed).map_err(|least| {
            // Nothing was begun.
            if !self.resumes {
                let _ = remove(&self.path);
            }
            // It is not the same each time.
            let least = least.div_ceil(1 << 20) + 1;
            Error::Usage(format!(
                "the memory is too little for a search with states on disk: with this model the program itself needs \
                 most of it; --memory {least}M is enough"
            ))
        })?;
        let limits = Limits { memory: Some(bytes), ..request.limits.clone() };
        Ok(Request { limits, ..request.clone() })
    }
}

/// Whether a folder without a check has files of somebody else.
fn has_others(path: &Path) -> bool {
    // Who was killed at the very beginning left a manifest that is not in its place.
    let is_ours = |name: &OsStr| name == Lock::FILE || name == UNFINISHED || name == MANIFEST;
    let mut entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.any(|entry| !is_ours(&entry.file_name())) && !path.join(MANIFEST).is_file()
}

/// What is known of a check whose states are on disk, which need not be running.
#[derive(Debug)]
pub struct Overview {
    /// The model, as the user named it.
    pub model: String,
    /// How it is checked, by what the user asked for.
    pub asked: BTreeMap<String, String>,
    /// Whether a program is at work on it.
    pub is_running: bool,
    /// Its searches.
    pub searches: Vec<Info>,
}

/// Reads what a folder has of a check.
pub fn overview(path: &Path) -> Result<Overview, Error> {
    let failed = |problem: spinward_disk::Error| Error::Usage(problem.to_string());
    let none = || Error::Usage(format!("there is no run in {}", path.display()));
    if !path.join(MANIFEST).is_file() {
        return Err(none());
    }
    let folder = Folder::new(path, Faults::default()).map_err(failed)?;
    let identity: Identity = folder.load(MANIFEST).map_err(failed)?.ok_or_else(none)?;
    let is_running = Lock::take(path).is_err();
    let searches = external::info(path).map_err(failed)?;
    Ok(Overview { model: identity.model, asked: identity.asked, is_running, searches })
}

/// Removes what a check has left in its folder, and the folder if nothing else is in it. To be called when its report
/// was told.
pub fn remove(path: &Path) -> std::io::Result<()> {
    external::remove(path)?;
    for file in [UNFINISHED, MANIFEST, Lock::FILE] {
        match fs::remove_file(path.join(file)) {
            Err(problem) if problem.kind() != ErrorKind::NotFound => return Err(problem),
            _ => {}
        }
    }
    // The user may keep other files there.
    let _ = fs::remove_dir(path);
    Ok(())
}
