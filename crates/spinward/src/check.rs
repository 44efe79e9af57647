//! What to check and how.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use spinward_machine::{Step, Stop};
use spinward_search::Progress;

use crate::audit::audit;
use crate::options::{Engine, Fairness, Guide, Optimize, Por, Property, Search, Store};
use crate::report::Report;
use crate::{Error, Model, run};

/// Is told how far a search is.
type OnProgress<'a> = Box<dyn FnMut(&Progress) + 'a>;

/// What to check and how. By default: everything the model states, up to the first error.
#[must_use = "a check does nothing until it is run"]
pub struct Check<'a> {
    pub(crate) model: Model,
    pub(crate) properties: Vec<Property>,
    pub(crate) search: Search,
    pub(crate) guide: Option<Guide>,
    pub(crate) weight: Option<f64>,
    pub(crate) target: Option<Vec<Step>>,
    pub(crate) width: Option<usize>,
    pub(crate) seed: Option<u64>,
    pub(crate) fairness: Fairness,
    pub(crate) por: Option<Por>,
    pub(crate) optimize: Option<Optimize>,
    pub(crate) symmetry: bool,
    pub(crate) store: Option<Store>,
    pub(crate) bits: Option<u32>,
    pub(crate) hashes: Option<u32>,
    pub(crate) engine: Option<Engine>,
    pub(crate) threads: Option<usize>,
    pub(crate) memory: Option<u64>,
    /// Where states are kept that do not fit into memory, and whether some are there already.
    pub(crate) disk: Option<(PathBuf, bool)>,
    pub(crate) max_depth: Option<u64>,
    pub(crate) max_states: Option<u64>,
    pub(crate) time: Option<Duration>,
    pub(crate) errors: usize,
    pub(crate) shortest: bool,
    pub(crate) shorten: Option<bool>,
    pub(crate) audit: bool,
    pub(crate) stop: Arc<Stop>,
    pub(crate) progress: Option<OnProgress<'a>>,
}

impl fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("model", &self.model.name)
            .field("properties", &self.properties)
            .field("search", &self.search)
            .finish_non_exhaustive()
    }
}

impl<'a> Check<'a> {
    /// A check of everything the model states.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            properties: Vec::new(),
            search: Search::Auto,
            guide: None,
            weight: None,
            target: None,
            width: None,
            seed: None,
            fairness: Fairness::None,
            por: None,
            optimize: None,
            symmetry: false,
            store: None,
            bits: None,
            hashes: None,
            engine: None,
            threads: None,
            memory: None,
            disk: None,
            max_depth: None,
            max_states: None,
            time: None,
            errors: 1,
            shortest: false,
            shorten: None,
            audit: false,
            stop: Arc::default(),
            progress: None,
        }
    }

    /// Checks this property, and no others but those asked for in the same way.
    pub fn property(mut self, property: Property) -> Self {
        self.properties.push(property);
        self
    }

    /// The order in which states are visited.
    pub fn search(mut self, search: Search) -> Self {
        self.search = search;
        self
    }

    /// How far a state is from an error, for searches that go by that.
    pub fn guide(mut self, guide: Guide) -> Self {
        self.guide = Some(guide);
        self
    }

    /// How much the estimate of what is to come counts, beside the length of a run so far, in [`Search::Wastar`] and
    /// [`Search::Ida`]; by default 1.
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = Some(weight);
        self
    }

    /// A run to the state that a search shall come near to, for the guides `hamming`, `fsm` and `fsm-sum`.
    pub fn toward(mut self, steps: Vec<Step>) -> Self {
        self.target = Some(steps);
        self
    }

    /// How many states of each level [`Search::Beam`] keeps; by default 1,000.
    pub fn width(mut self, states: usize) -> Self {
        self.width = Some(states);
        self
    }

    /// From which number [`Search::Random`] and [`Search::Swarm`] draw all others; by default 0. The same gives
    /// the same answer.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Which runs count as runs.
    pub fn fairness(mut self, fairness: Fairness) -> Self {
        self.fairness = fairness;
        self
    }

    /// Partial-order reduction.
    pub fn por(mut self, por: Por) -> Self {
        self.por = Some(por);
        self
    }

    /// Changes to the model that keep its meaning.
    pub fn optimize(mut self, optimize: Optimize) -> Self {
        self.optimize = Some(optimize);
        self
    }

    /// Whether states that differ only by the order of like processes count as one.
    pub fn symmetry(mut self, on: bool) -> Self {
        self.symmetry = on;
        self
    }

    /// How visited states are remembered.
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// For [`Store::Compact`]: bits of a state's signature, 32 to 64. For [`Store::Bitstate`]: the
    /// table has two to the power of this many bits.
    pub fn bits(mut self, bits: u32) -> Self {
        self.bits = Some(bits);
        self
    }

    /// For [`Store::Bitstate`]: how many bits each state sets.
    pub fn hashes(mut self, hashes: u32) -> Self {
        self.hashes = Some(hashes);
        self
    }

    /// How successors are computed.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// How many threads may search; by default as many as there are processors, but one in best-first
    /// searches. The answer does not depend on it. Only sweeps, breadth-first and best-first searches and
    /// [`Search::Swarm`] use more than one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// How many bytes may be used, the program itself included; by default 80% of what is free.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Keeps states in this folder, which is made, when they do not fit into memory any more; for [`Search::Bfs`] and
    /// [`Search::Astar`]. What is there afterwards is for [`Check::resume`], or to be [removed](crate::disk::remove).
    pub fn disk(mut self, folder: impl Into<PathBuf>) -> Self {
        self.disk = Some((folder.into(), false));
        self
    }

    /// Goes on with a check that was begun by [`Check::disk`] in this folder and did not come to its end. It must ask
    /// for the same.
    pub fn resume(mut self, folder: impl Into<PathBuf>) -> Self {
        self.disk = Some((folder.into(), true));
        self
    }

    /// Looks only at runs of at most so many steps.
    pub fn max_depth(mut self, steps: u64) -> Self {
        self.max_depth = Some(steps);
        self
    }

    /// Stops when so many states are visited.
    pub fn max_states(mut self, states: u64) -> Self {
        self.max_states = Some(states);
        self
    }

    /// Stops after this time.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Stops after so many different errors; 0: looks at everything and counts all.
    pub fn errors(mut self, errors: usize) -> Self {
        self.errors = errors;
        self
    }

    /// Whether the runs reported must be shortest ones.
    pub fn shortest(mut self, on: bool) -> Self {
        self.shortest = on;
        self
    }

    /// Whether shorter runs are looked for towards the ends of those that a search finds, with a tenth of the states that
    /// it needed, and some at least; by default after all searches but [`Search::Dfs`], whose runs are those of SPIN. What is
    /// counted is counted before.
    pub fn shorten(mut self, on: bool) -> Self {
        self.shorten = Some(on);
        self
    }

    /// What ends the check when it is asked to, from another thread.
    pub fn stop(mut self, stop: Arc<Stop>) -> Self {
        self.stop = stop;
        self
    }

    /// Is told now and then how far the search is, at most some ten times a second.
    pub fn on_progress(mut self, progress: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Whether the check is also run with and without all that leaves out states, each to its end, to see
    /// whether the answers agree. By default not.
    pub fn audit(mut self, on: bool) -> Self {
        self.audit = on;
        self
    }

    /// Runs the check.
    pub fn run(self) -> Result<Report, Error> {
        if self.audit { audit(self) } else { run::run(self) }
    }

    /// The same once more; nobody is told how far it is.
    pub(crate) fn again(&self) -> Check<'static> {
        let Self { ref model, ref properties, ref stop, .. } = *self;
        Check {
            model: model.clone(),
            properties: properties.clone(),
            search: self.search,
            guide: self.guide.clone(),
            weight: self.weight,
            target: self.target.clone(),
            width: self.width,
            seed: self.seed,
            fairness: self.fairness,
            por: self.por,
            optimize: self.optimize,
            symmetry: self.symmetry,
            store: self.store,
            bits: self.bits,
            hashes: self.hashes,
            engine: self.engine,
            threads: self.threads,
            memory: self.memory,
            disk: self.disk.clone(),
            max_depth: self.max_depth,
            max_states: self.max_states,
            time: self.time,
            errors: self.errors,
            shortest: self.shortest,
            shorten: self.shorten,
            audit: self.audit,
            stop: stop.clone(),
            progress: None,
        }
    }
}
