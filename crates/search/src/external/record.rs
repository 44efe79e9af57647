//! What a search needs to go on, in a manifest.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use spinward_disk::{Error, Faults, Folder};
use spinward_machine::{Flow, Sink, Step, System, Violation};
use spinward_store::{Learner, Live};

use super::form::Form;
use super::pool::Bucket;
use super::shelf::{MANIFEST, Runs};
use super::{Notes, Origin, Search, Stages};
use crate::directed::Range;
use crate::outcome::Counts;

/// All that is known of a search besides its states.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    /// The first state, which must be the same.
    initial: Vec<u8>,
    /// What the numbers in states stand for.
    names: Vec<u8>,
    /// The form in which states are kept, if not as they are.
    form: Option<Live>,
    counts: Counts,
    removed: u64,
    least: u32,
    most: u32,
    heaviest: u32,
    truncated: bool,
    left_out: bool,
    longest: u32,
    peak: u64,
    findings: Vec<Finding>,
    runs: Runs,
}

/// Something that was wrong.
#[derive(Debug, Serialize, Deserialize)]
struct Finding {
    state: Vec<u8>,
    length: u32,
    estimate: u32,
    mark: u8,
    by: u32,
    nth: u32,
    occurrences: u64,
}

impl<S: System> Search<'_, S> {
    /// Writes the manifest. All that is in memory only is lost if the program is killed.
    pub(super) fn save(&mut self) -> Result<(), Error> {
        let runs = self.shelf.runs()?;
        // The runs come first: what is written later may have names that are not in them.
        let manifest = {
            let notes = &*self.notes();
            let findings = notes.findings.examples().map(|example| {
                let Origin { ref state, bucket, mark, by, nth } = example.path;
                let Bucket { length, estimate } = bucket;
                let (state, occurrences) = (state.clone(), example.occurrences);
                Finding { state, length, estimate, mark, by, nth, occurrences }
            });
            Manifest {
                initial: self.initial.clone(),
                names: self.system.names(),
                form: self.form.known(),
                counts: notes.counts,
                removed: notes.removed,
                least: notes.range.least,
                most: notes.range.most,
                heaviest: notes.heaviest,
                truncated: notes.truncated,
                left_out: notes.left_out,
                longest: self.bound(),
                peak: self.shelf.peak,
                findings: findings.collect(),
                runs,
            }
        };
        self.shelf.folder.save(MANIFEST, &manifest)?;
        self.shelf.settle()
    }

    /// Goes on where the manifest says, if there is one; whether there is.
    pub(super) fn restore(&mut self) -> Result<bool, Error> {
        let folder = &self.shelf.folder;
        let Some(manifest) = folder.load::<Manifest>(MANIFEST)? else {
            return Ok(false);
        };
        let misfit = |what: &str| Error::Damaged {
            path: folder.path().join(MANIFEST),
            what: what.to_owned(),
        };
        if manifest.initial != self.initial || !self.system.adopt(&manifest.names) {
            return Err(misfit("it is of another model, or was made by another version"));
        }
        let form = manifest.form.map(|known| {
            let learner = Learner::from_known(known);
            learner.map(|it| Form::new(&it)).ok_or_else(|| misfit("it has an impossible form"))
        });
        let form = form.transpose()?.unwrap_or_default();
        let mut findings = Vec::new();
        for finding in manifest.findings {
            let Finding { state, length, estimate, mark, by, nth, occurrences } = finding;
            let mut nth_wrong = NthWrong { left: nth, found: None };
            let _ = self.system.expand(&state, &mut self.system.scratch(), &mut nth_wrong);
            let violation = nth_wrong.found.ok_or_else(|| misfit("an error in it is none"))?;
            let bucket = Bucket { length, estimate };
            findings.push((violation, Origin { state, bucket, mark, by, nth }, occurrences));
        }
        self.form = form;
        self.shelf.restore(manifest.runs)?;
        self.shelf.peak = self.shelf.peak.max(manifest.peak);
        self.bound.store(manifest.longest, Ordering::Relaxed);
        self.reserve(manifest.counts.states);
        let buckets: Vec<_> = self.shelf.buckets().collect();
        let mut guard = self.notes();
        let notes: &mut Notes = &mut guard;
        notes.counts = manifest.counts;
        notes.removed = manifest.removed;
        notes.range = Range { least: manifest.least, most: manifest.most };
        notes.heaviest = manifest.heaviest;
        notes.truncated = manifest.truncated;
        notes.left_out = manifest.left_out;
        for (violation, origin, occurrences) in findings {
            notes.findings.replace(violation, origin.bucket.length + origin.by, origin);
            if let Some(known) = notes.findings.known(violation) {
                known.occurrences = occurrences;
            }
        }
        buckets.into_iter().for_each(|bucket| self.open(notes, bucket));
        Ok(true)
    }
}

/// Finds one of the things that are wrong in a state.
struct NthWrong {
    left: u32,
    found: Option<Violation>,
}

impl Sink for NthWrong {
    fn successor(&mut self, _state: &[u8], _steps: &[Step]) -> Flow {
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, _steps: &[Step]) -> Flow {
        if self.left == 0 {
            self.found = Some(violation);
            return Flow::Break(());
        }
        self.left -= 1;
        Flow::Continue(())
    }
}

/// What a manifest says of a search.
#[derive(Debug)]
pub struct Info {
    /// Where it is.
    pub path: PathBuf,
    /// What was counted.
    pub counts: Counts,
    /// How many states that waited were found to be known.
    pub removed: u64,
    /// How many states wait, some of them perhaps known.
    pub waiting: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// The shortest run to a state that waits.
    pub depth: Option<u64>,
    /// How many different errors were found.
    pub errors: usize,
    /// What is wrong with its files, as far as one look shows it.
    pub damage: Option<Error>,
}

/// The folders of all searches in a folder.
fn folders(path: &Path) -> impl Iterator<Item = PathBuf> {
    (0..).map(|stage| Stages::folder(path, stage)).take_while(|it| it.is_dir())
}

/// Removes all searches in a folder. Who is killed meanwhile can go on with what is left: the last one goes first, and of each the
/// manifest, which says what files it has.
pub fn remove(path: &Path) -> io::Result<()> {
    let mut all: Vec<PathBuf> = folders(path).collect();
    while let Some(folder) = all.pop() {
        match fs::remove_file(folder.join(MANIFEST)) {
            Err(problem) if problem.kind() != io::ErrorKind::NotFound => return Err(problem),
            _ => fs::remove_dir_all(folder)?,
        }
    }
    Ok(())
}

/// What the manifests in a folder say of all searches there.
pub fn info(path: &Path) -> Result<Vec<Info>, Error> {
    let mut all = Vec::new();
    for path in folders(path) {
        let folder = Folder::new(&path, Faults::default())?;
        let Some(manifest) = folder.load::<Manifest>(MANIFEST)? else {
            continue;
        };
        all.push(Info {
            path,
            counts: manifest.counts,
            removed: manifest.removed,
            waiting: manifest.runs.waiting(),
            bytes: manifest.runs.bytes(),
            depth: manifest.runs.depth(),
            errors: manifest.findings.len(),
            damage: manifest.runs.check(&folder).err(),
        });
    }
    Ok(all)
}
