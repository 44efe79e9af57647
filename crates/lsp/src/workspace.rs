//! The open texts and the models they belong to.
//!
//! A text that is open is a model of its own, unless another one includes it: an open one, or one beside
//! it in its folder. What is known of a model is kept until one of its texts changes, here or on disk.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use lsp_types::Uri;
use rustc_hash::{FxHashMap, FxHashSet};
use spinward_promela::Options;
use spinward_promela::preprocess::{WordKind, identity, read_file, words};

use crate::analysis::Analysis;
use crate::documents::{Document, Documents};

/// Files beside an included one that are looked at, and how large they may be.
const MAX_NEIGHBOURS: usize = 200;
const MAX_NEIGHBOUR_BYTES: u64 = 1 << 20;
/// How the names of models end.
pub const EXTENSIONS: [&str; 5] = ["pml", "prom", "prm", "pr", "promela"];

/// A model that was read.
#[derive(Debug)]
struct Known {
    model: Rc<Analysis>,
    /// Its files that are not open, as they were on disk: not all clients tell of changes there.
    on_disk: Vec<(PathBuf, State)>,
}

/// Tells one state of a file from another.
type State = Option<(SystemTime, u64)>;

fn state_of(path: &Path) -> State {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

impl Known {
    fn is_fresh(&self) -> bool {
        self.on_disk.iter().all(|(path, state)| state_of(path) == *state)
    }
}

/// The open texts and what is known of them.
#[derive(Debug, Default)]
pub struct Workspace {
    /// What `-D`, `-U` and `-I` would say.
    pub options: Options,
    /// The open texts.
    pub documents: Documents,
    /// Models that are known, by the path of their main file.
    models: FxHashMap<PathBuf, Known>,
    /// For open texts that are parts: a model on disk that includes them.
    includers: FxHashMap<PathBuf, PathBuf>,
}

impl Workspace {
    /// Adds a text.
    pub fn open(&mut self, document: Document) {
        let path = document.path.clone();
        if !is_whole(&document.text)
            && let Some(model) = including_model(&path)
        {
            self.includers.insert(path.clone(), model);
        }
        self.documents.insert(path.clone(), document);
        self.forget(&path);
    }

    /// Takes a text away: what is on disk counts again.
    pub fn close(&mut self, path: &Path) {
        self.documents.remove(path);
        self.includers.remove(path);
        self.forget(path);
    }

    /// Forgets what is known of the models a text belongs to.
    pub fn forget(&mut self, path: &Path) {
        // A file that was missing belongs to nobody yet.
        let lacks = |model: &Analysis| model.diagnostics.iter().any(|it| it.is_error());
        self.models.retain(|main, Known { model, .. }| {
            main != path && model.file(path).is_none() && !lacks(model)
        });
    }

    /// Forgets all, as what is on disk may have changed.
    pub fn forget_all(&mut self) {
        self.models.clear();
    }

    /// What is known of the model whose main file this is.
    fn model(&mut self, main: &Path) -> Option<Rc<Analysis>> {
        if let Some(known) = self.models.get(main).filter(|known| known.is_fresh()) {
            return Some(Rc::clone(&known.model));
        }
        let text = match self.documents.get(main) {
            Some(document) => document.text.clone(),
            None => read_file(main).ok()?,
        };
        let model = Rc::new(self.read(main, text, FxHashMap::default()));
        let paths = model.files.iter().map(|file| &file.path);
        let closed = paths.filter(|path| !self.documents.contains_key(*path));
        let on_disk = closed.map(|path| (path.clone(), state_of(path))).collect();
        self.models.insert(main.to_owned(), Known { model: Rc::clone(&model), on_disk });
        Some(model)
    }

    /// How models are read, with some texts instead of those that are open or on disk.
    pub fn reading(&self, instead: FxHashMap<PathBuf, String>) -> Options {
        let open = self.documents.values();
        let mut texts: FxHashMap<PathBuf, String> =
            open.map(|document| (document.path.clone(), document.text.clone())).collect();
        texts.extend(instead);
        Options { texts: Arc::new(texts), ..self.options.clone() }
    }

    /// Reads a model, with some texts instead of those that are open or on disk.
    fn read(&self, main: &Path, text: String, instead: FxHashMap<PathBuf, String>) -> Analysis {
        let uris: FxHashMap<PathBuf, Uri> =
            self.documents.values().map(|it| (it.path.clone(), it.uri.clone())).collect();
        Analysis::new(main, text, &self.reading(instead), &uris)
    }

    /// Reads a model once more, with some of its texts changed.
    pub fn try_out(&self, model: &Analysis, texts: &FxHashMap<PathBuf, String>) -> Analysis {
        let main = &model.files[0].path;
        let text = texts.get(main).map_or_else(|| model.text(0), String::as_str);
        self.read(main, text.to_owned(), texts.clone())
    }

    /// The main file of the model that an open text belongs to: one that no other includes.
    fn main_of(&mut self, path: &Path) -> PathBuf {
        let mut main = path.to_owned();
        let mut seen = FxHashSet::from_iter([main.clone()]);
        while let Some(above) = self.above(&main, path) {
            if !seen.insert(above.clone()) {
                break;
            }
            main = above;
        }
        main
    }

    /// A file that includes a main file and the part of it that is looked at.
    fn above(&mut self, main: &Path, part: &Path) -> Option<PathBuf> {
        let mut others: Vec<PathBuf> = self.documents.keys().cloned().collect();
        others.sort();
        others.extend(self.includers.get(main).cloned());
        others.into_iter().find(|other| {
            // Two that include each other are models of their own.
            other != main
                && self.includes(other, main)
                && self.includes(other, part)
                && !self.includes(main, other)
        })
    }

    fn includes(&mut self, main: &Path, part: &Path) -> bool {
        self.model(main).is_some_and(|model| model.file(part).is_some())
    }

    /// The model an open text belongs to, and its number there.
    pub fn model_of(&mut self, path: &Path) -> Option<(Rc<Analysis>, usize)> {
        self.documents.get(path)?;
        let main = self.main_of(path);
        let model = self.model(&main)?;
        let file = model.file(path)?;
        Some((model, file))
    }

    /// All models that open texts belong to, each once.
    pub fn open_models(&mut self) -> Vec<Rc<Analysis>> {
        let mut open: Vec<PathBuf> = self.documents.keys().cloned().collect();
        open.sort();
        let mut seen = FxHashSet::default();
        let mains: Vec<PathBuf> = open
            .iter()
            .map(|path| self.main_of(path))
            .filter(|main| seen.insert(main.clone()))
            .collect();
        mains.iter().filter_map(|main| self.model(main)).collect()
    }
}

/// Whether a text has processes that start by themselves, as no part of a model has.
fn is_whole(text: &str) -> bool {
    let starts = |word: &str| matches!(word, "active" | "init");
    words(text).iter().any(|word| word.kind == WordKind::Ident && starts(&text[word.range.clone()]))
}

/// A model in the same folder that includes a file, or a part in which the file is included.
fn including_model(path: &Path) -> Option<PathBuf> {
    let mut neighbours: Vec<PathBuf> = std::fs::read_dir(path.parent()?)
        .ok()?
        .take(MAX_NEIGHBOURS)
        .filter_map(|entry| entry.ok())
        .filter(|entry| entry.metadata().is_ok_and(|it| it.len() <= MAX_NEIGHBOUR_BYTES))
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension().is_some_and(|it| EXTENSIONS.iter().any(|known| it == *known))
        })
        .collect();
    neighbours.sort();
    neighbours.retain(|other| other != path);
    let mut found: Option<PathBuf> = None;
    loop {
        let name = found.as_deref().unwrap_or(path).file_name()?.to_str()?;
        let quoted = format!("\"{name}\"");
        let including = neighbours.iter().enumerate().find_map(|(at, other)| {
            let text = read_file(other).unwrap_or_default();
            let mut lines = text.lines();
            let includes = lines.any(|line| line.contains("include") && line.contains(&quoted));
            includes.then(|| (at, is_whole(&text)))
        });
        let Some((at, whole)) = including else { break };
        // Each file is looked at once, whatever includes what.
        found = Some(neighbours.remove(at));
        if whole {
            break;
        }
    }
    found.map(|found| identity(&found))
}
