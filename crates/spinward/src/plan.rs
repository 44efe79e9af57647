//! From what is asked to the searches that answer it.

use spinward_machine::Options;
use spinward_program::Program;
use spinward_program::ir::{Automaton, BodyId, Formula};
use spinward_program::optimize::Pass;
use spinward_promela::suggest::nearest;
use spinward_search::Keep;
use spinward_search::directed::best_first::Rank;
use spinward_search::emptiness::scc::Order;

use crate::lossy::TableOptions;
use crate::options::{Optimize, Por, Property, Search, Store};
use crate::report::{Reason, ReasonCode};
use crate::{Check, Error, Model};

/// Which searches to run, and what none of them checks.
#[derive(Debug)]
pub(crate) struct Plan {
    pub tasks: Vec<Task>,
    pub not_checked: Vec<Reason>,
}

/// One search through all states.
#[derive(Debug)]
pub(crate) struct Task {
    /// What it checks, for people.
    pub name: String,
    /// What the machine watches.
    pub options: Options,
    /// What makes an infinite run an error, if anything does.
    pub judge: Option<Judge>,
}

/// What makes an infinite run an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// It comes through labels `accept` again and again.
    Labels,
    /// From some time on it comes through no label `progress`.
    NonProgress,
    /// It is not as one of the program's formulas says.
    Formula(usize),
    /// The automaton given beside the model accepts it.
    Automaton,
}

impl Task {
    fn safety() -> Self {
        let options =
            Options { end_states: true, assertions: true, trace: true, ..Options::default() };
        Self { name: "safety".into(), options, judge: None }
    }

    fn invariants() -> Self {
        Self { name: "invariants".into(), options: Options::default(), judge: None }
    }

    pub fn claim(model: &Model, claim: BodyId) -> Self {
        let options =
            Options { claim: Some(claim), assertions: true, trace: true, ..Options::default() };
        let accepts = |body: &Automaton| body.states.iter().any(|state| state.accept);
        let name = &model.program.automaton(claim).name;
        // Without a label it can only come to its end.
        let judged = model.program.automata.iter().any(accepts);
        let judge = judged.then_some(Judge::Labels);
        Self { name: format!("never claim {name}"), options, judge }
    }

    pub fn formula(model: &Model, number: usize) -> Self {
        let formula = &model.program.formulas[number];
        let (watched, visible) = (formula.atoms.clone(), formula.atoms.clone());
        let options = Options { watched, visible, ..Options::default() };
        let name = match &formula.name {
            Some(name) => format!("ltl {name}"),
            None => format!("ltl {{ {} }}", formula.text),
        };
        Self { name, options, judge: Some(Judge::Formula(number)) }
    }

    pub fn automaton(model: &Model) -> Self {
        let (watched, visible) = (model.program.atoms.clone(), model.program.atoms.clone());
        let options = Options { watched, visible, ..Options::default() };
        Self { name: "the claim".into(), options, judge: Some(Judge::Automaton) }
    }

    pub fn labels(model: &Model) -> Self {
        let visible = model.program.accepting.clone();
        let options = Options { visible, ..Options::default() };
        Self { name: "acceptance cycles".into(), options, judge: Some(Judge::Labels) }
    }

    pub fn non_progress(model: &Model) -> Self {
        let Program { non_progress, progressing, .. } = &*model.program;
        let (watched, visible) = (vec![*non_progress], progressing.clone());
        let options = Options { watched, visible, ..Options::default() };
        let name = "non-progress cycles".into();
        Self { name, options, judge: Some(Judge::NonProgress) }
    }
}

impl Plan {
    /// What answers all that is asked, or all that the model states if nothing is.
    pub fn new(model: &Model, properties: &[Property], transactions: bool) -> Result<Self, Error> {
        let mut plan = Self { tasks: Vec::new(), not_checked: Vec::new() };
        if transactions && properties.contains(&Property::Safety) {
            return Err(Error::Usage(
                "transactions do not keep invalid end states, which --safety asks for; use --por on, or \
                 leave out --safety to have all else checked"
                    .into(),
            ));
        }
        if properties.is_empty() {
            plan.tasks.push(Task::safety());
            if transactions {
                plan.leave_out_end_states();
            }
            let claims = model.program.claims.iter();
            plan.tasks.extend(claims.map(|&claim| Task::claim(model, claim)));
            plan.tasks.extend(model.claim.is_some().then(|| Task::automaton(model)));
            let formulas = 0..model.program.formulas.len();
            plan.tasks.extend(formulas.map(|number| Task::formula(model, number)));
        }
        if properties.contains(&Property::Safety) {
            plan.tasks.push(Task::safety());
        }
        for property in properties {
            match property {
                Property::Safety => {}
                Property::Ltl(text) => plan.add(find_claim(model, text)?),
                Property::Invariant(text) => plan.add_invariant(find_condition(model, text)?),
                Property::NonProgress => plan.add(Task::non_progress(model)),
                Property::Acceptance => plan.add(Task::labels(model)),
            }
        }
        Ok(plan)
    }

    /// Adds a search, once.
    fn add(&mut self, task: Task) {
        if self.tasks.iter().all(|it| it.name != task.name) {
            self.tasks.push(task);
        }
    }

    /// Has a condition watched by the search without a claim.
    fn add_invariant(&mut self, condition: u32) {
        let without_claim = self.tasks.iter().position(|task| task.options.claim.is_none());
        let index = without_claim.unwrap_or_else(|| {
            self.tasks.push(Task::invariants());
            self.tasks.len() - 1
        });
        let task = &mut self.tasks[index];
        if !task.options.invariants.contains(&condition) {
            task.options.invariants.push(condition);
        }
    }

    /// Transactions let one process wait where nobody else is looked at.
    fn leave_out_end_states(&mut self) {
        self.tasks.iter_mut().for_each(|task| task.options.end_states = false);
        self.not_checked.push(Reason {
            code: ReasonCode::NotChecked,
            message: "invalid end states are not checked: transactions do not keep them".into(),
        });
    }
}

/// The search for a property by its name, or for a formula that the model was read with.
fn find_claim(model: &Model, text: &str) -> Result<Task, Error> {
    let Program { claims, formulas, .. } = &*model.program;
    let name = |claim: BodyId| model.program.automaton(claim).name.as_str();
    if let Some(&claim) = claims.iter().find(|&&claim| name(claim) == text) {
        return Ok(Task::claim(model, claim));
    }
    let mut names = model.formula_names();
    let is_meant = |(it, name): (&Formula, &String)| {
        name == text || it.name.is_none() && it.text == text.trim()
    };
    if let Some(number) = formulas.iter().zip(&names).position(is_meant) {
        return Ok(Task::formula(model, number));
    }
    if Property::is_name(text) {
        names.extend(claims.iter().map(|&claim| name(claim).to_owned()));
        let known = if names.is_empty() {
            "the model has none".into()
        } else {
            let meant = nearest(text, names.iter().map(String::as_str));
            let meant = meant.map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
            format!("{meant}the model has: {}", names.join(", "))
        };
        return Err(Error::Usage(format!(
            "no ltl property or never claim is named '{text}'; {known} (as a formula: '({text})')"
        )));
    }
    Err(Error::Usage(format!("the model was not read with the formula '{text}'")))
}

/// The number of a condition the model was read with.
fn find_condition(model: &Model, text: &str) -> Result<u32, Error> {
    let mut conditions = model.program.conditions.iter();
    let found = conditions.position(|condition| condition.text == text.trim());
    found
        .map(|index| index as u32)
        .ok_or_else(|| Error::Usage(format!("the model was not read with the condition '{text}'")))
}

/// The most threads that can be asked for.
const MAX_THREADS: usize = 1024;

/// The search to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Algorithm {
    Sweep,
    Dfs,
    Bfs,
    Stateless,
    Lossy(TableOptions),
    Transactions,
    BestFirst(Search, Rank),
    /// Breadth-first with states on disk.
    ExternalBfs,
    /// A* with states on disk.
    ExternalAstar,
    /// With this weight.
    Ida(f64),
    PartialIda(f64, TableOptions),
    /// Of this width.
    Beam(usize),
    Hill,
    /// By this seed.
    Random(u64),
    Swarm(u64, TableOptions),
}

impl Algorithm {
    /// The directed search that is asked for, or a sweep if it is none; refuses stores that it has no use for.
    fn directed(check: &Check<'_>, table: Option<TableOptions>) -> Result<Self, Error> {
        let search = check.search;
        let usage = |text: String| Err(Error::Usage(text));
        let (weight, seed) = (check.weight.unwrap_or(1.0), check.seed.unwrap_or(0));
        Ok(match (search, check.store) {
            (Search::Ida, _) if let Some(table) = table => Self::PartialIda(weight, table),
            (Search::Swarm, _) if let Some(table) = table => Self::Swarm(seed, table),
            (Search::Swarm, _) => {
                return usage(
                    "the search 'swarm' remembers little of each state; use it with --store bitstate or compact"
                        .into(),
                );
            }
            (Search::Random, Some(_)) => {
                return usage(
                    "random walks remember no states, so that --store has no meaning for them"
                        .into(),
                );
            }
            (Search::Random, None) => Self::Random(seed),
            (
                Search::Astar
                | Search::AstarIndfs
                | Search::Wastar
                | Search::Greedy
                | Search::Ida
                | Search::Beam
                | Search::Hill,
                Some(Store::Bitstate | Store::Compact | Store::Stack),
            ) => {
                let or = if search == Search::Ida { ", or bitstate or compact" } else { "" };
                return usage(format!(
                    "the search '{search}' needs to get back the states it stored; use it with --store exact or tree{or}"
                ));
            }
            // What ends is looked for by A* alone.
            (Search::Astar | Search::AstarIndfs, _) => Self::BestFirst(search, Rank::Length(1.0)),
            (Search::Wastar, _) => Self::BestFirst(search, Rank::Length(weight)),
            (Search::Greedy, _) => Self::BestFirst(search, Rank::Estimate),
            (Search::Ida, _) => Self::Ida(weight),
            (Search::Beam, _) => Self::Beam(check.width.unwrap_or(WIDTH)),
            (Search::Hill, _) => Self::Hill,
            _ => Self::Sweep,
        })
    }

    /// Whether it goes by a guide.
    fn has_guide(self) -> bool {
        match self {
            Self::BestFirst(..)
            | Self::ExternalAstar
            | Self::Ida(_)
            | Self::PartialIda(..)
            | Self::Beam(_)
            | Self::Hill
            | Self::Random(_) => true,
            Self::Sweep
            | Self::Dfs
            | Self::Bfs
            | Self::ExternalBfs
            | Self::Stateless
            | Self::Lossy(_)
            | Self::Transactions
            | Self::Swarm(..) => false,
        }
    }
}

/// How many states of each level a beam keeps.
const WIDTH: usize = 1_000;

/// How cycles are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptiness {
    Components(Order),
    Nested,
    ImprovedNested,
    GuidedNested,
    SchwoonEsparza,
    Tauriainen,
    Parallel,
}

impl Emptiness {
    /// That of a name, if it is one.
    fn of(search: Search) -> Option<Self> {
        Some(match search {
            Search::Scc => Self::Components(Order::Told),
            Search::SccShyMinus => Self::Components(Order::VisitedFirst),
            Search::SccShy => Self::Components(Order::WholeComponent),
            Search::Ndfs => Self::Nested,
            Search::Indfs => Self::ImprovedNested,
            Search::AstarIndfs => Self::GuidedNested,
            Search::Se05 => Self::SchwoonEsparza,
            Search::Tau03 => Self::Tauriainen,
            Search::Cndfs => Self::Parallel,
            _ => return None,
        })
    }

    /// The name of the search.
    pub fn search(self) -> Search {
        let is_it = |search: &&Search| Self::of(**search) == Some(self);
        Search::ALL.iter().find(is_it).copied().unwrap_or(Search::Scc)
    }
}

/// How the searches run: what is asked, as far as it is there.
#[derive(Debug)]
pub(crate) struct Method {
    pub algorithm: Algorithm,
    /// How cycles are looked for.
    pub emptiness: Emptiness,
    /// How states are kept.
    pub keep: Keep,
    /// How many threads search.
    pub threads: usize,
    /// Whether moves may be left out that make no difference.
    pub reduces: bool,
    /// Whether interchangeable processes need not be told apart.
    pub symmetric: bool,
    /// How the program may be changed.
    pub optimizes: Option<&'static [Pass]>,
    /// Where it is not what was asked for, though the answer is the same.
    pub notes: Vec<String>,
}

impl Method {
    /// Refuses what is not there and would give another answer; notes what would only be faster or
    /// smaller.
    pub fn of(check: &Check<'_>) -> Result<Self, Error> {
        let table = TableOptions::of(check)?;
        let weight = check.weight.unwrap_or(1.0);
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::Usage(
                "the weight must be a finite number that is not negative".into(),
            ));
        }
        fits_search(check)?;
        if check.threads == Some(0) {
            return Err(Error::Usage("a search needs at least one thread".into()));
        }
        if check.threads.is_some_and(|threads| threads > MAX_THREADS) {
            return Err(Error::Usage(format!("at most {MAX_THREADS} threads can search")));
        }
        let stack = check.store == Some(Store::Stack);
        let transactions = check.por == Some(Por::Transactions);
        if transactions {
            needs_all_states(check)?;
        }
        let emptiness = Emptiness::of(check.search);
        // What is looked for is a cycle; all else is looked for as if nothing was said, unless a guide is to be followed.
        let search = match emptiness {
            None | Some(Emptiness::GuidedNested) => check.search,
            Some(_) => Search::Auto,
        };
        let algorithm = match search {
            _ if check.disk.is_some() => on_disk(check)?,
            Search::Auto | Search::Dfs if transactions => {
                match why_all_moves(check, Algorithm::Dfs) {
                    Some(_) => Algorithm::Dfs,
                    None => Algorithm::Transactions,
                }
            }
            Search::Auto | Search::Dfs if stack => Algorithm::Stateless,
            Search::Auto | Search::Dfs if let Some(table) = table => Algorithm::Lossy(table),
            Search::Bfs if let Some(table) = table => {
                return Err(Error::Usage(format!(
                    "a breadth-first search needs to get back the states it stored, which the \
                     store '{}' cannot do; use it with --search dfs",
                    table.store()
                )));
            }
            Search::Bfs if stack => {
                return Err(Error::Usage(
                    "the store 'stack' is that of a depth-first search; use it with --search dfs"
                        .into(),
                ));
            }
            Search::Dfs => Algorithm::Dfs,
            Search::Bfs => Algorithm::Bfs,
            Search::Auto if why_not_sweep(check).is_some() => Algorithm::Bfs,
            Search::Sweep if let Some(reason) = why_not_sweep(check) => {
                return Err(Error::Usage(format!("{reason}; use --search bfs")));
            }
            Search::Auto | Search::Sweep => Algorithm::Sweep,
            _ => Algorithm::directed(check, table)?,
        };
        let is_directed = algorithm.has_guide();
        if let Some(guide) = check.guide.as_ref().filter(|it| it.entry().name != "none")
            && !is_directed
        {
            return Err(Error::Usage(format!(
                "the search '{}' takes no guide; use --guide {guide} with --search astar, wastar, greedy, ida, beam, hill, random or astar-indfs",
                check.search
            )));
        }
        let mut notes = Vec::new();
        let mut note = |unless: bool, text: &str| {
            if !unless {
                notes.push(format!("{text} (not available yet)"));
            }
        };
        let all_cores =
            || std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let threads = match algorithm {
            Algorithm::Sweep
            | Algorithm::Bfs
            | Algorithm::ExternalBfs
            | Algorithm::ExternalAstar
            | Algorithm::Swarm(..) => check.threads.unwrap_or_else(all_cores),
            // Others expand states that may never be needed, so they must be asked for.
            Algorithm::BestFirst(..) => check.threads.unwrap_or(1),
            _ => 1,
        };
        let fewer = check.threads.is_some_and(|asked| asked > threads);
        note(!fewer || is_directed, "one thread searches depth first");
        note(!fewer || !is_directed, "one thread searches");
        let delta = check.store == Some(Store::Delta);
        note(!delta, "states are stored as trees, not as differences");
        let tree = matches!(check.store, Some(Store::Tree | Store::Delta));
        let keep = if tree { Keep::Tree } else { Keep::Exact };
        let why_all = why_all_moves(check, algorithm);
        let reduces = matches!(check.por, None | Some(Por::On)) && why_all.is_none();
        if let Some(why) = why_all.filter(|_| transactions || check.por == Some(Por::On)) {
            notes.push(format!("no moves are left out: {why}"));
        }
        let told_apart = transactions.then_some("transactions follow one process at a time");
        let told_apart = told_apart.or(why_all);
        if let Some(why) = told_apart.filter(|_| check.symmetry) {
            notes.push(format!("--symmetry has no effect: {why}"));
        }
        let symmetric = check.symmetry && told_apart.is_none();
        let optimizes = match check.optimize {
            Some(Optimize::None) => None,
            _ if why_all.is_some() => Some(&[Pass::Fold, Pass::Unread, Pass::Dead][..]),
            _ => Some(&Pass::ALL[..]),
        };
        // Several threads do some work twice, so they must be asked for.
        let emptiness = emptiness.unwrap_or(match check.threads {
            Some(2..) => Emptiness::Parallel,
            _ => Emptiness::Components(Order::Told),
        });
        Ok(Self { algorithm, emptiness, keep, threads, reduces, symmetric, optimizes, notes })
    }

    /// The name of the search in effect.
    pub fn search(&self) -> Search {
        match self.algorithm {
            Algorithm::Sweep => Search::Sweep,
            Algorithm::Bfs | Algorithm::ExternalBfs => Search::Bfs,
            Algorithm::ExternalAstar => Search::Astar,
            Algorithm::Dfs
            | Algorithm::Stateless
            | Algorithm::Lossy(_)
            | Algorithm::Transactions => Search::Dfs,
            Algorithm::BestFirst(search, _) => search,
            Algorithm::Ida(_) | Algorithm::PartialIda(..) => Search::Ida,
            Algorithm::Beam(_) => Search::Beam,
            Algorithm::Hill => Search::Hill,
            Algorithm::Random(_) => Search::Random,
            Algorithm::Swarm(..) => Search::Swarm,
        }
    }

    /// The name of the store in effect.
    pub fn store(&self) -> Store {
        match self.algorithm {
            Algorithm::Stateless | Algorithm::Random(_) => Store::Stack,
            Algorithm::Lossy(table)
            | Algorithm::PartialIda(_, table)
            | Algorithm::Swarm(_, table) => table.store(),
            Algorithm::Sweep
            | Algorithm::Bfs
            | Algorithm::Dfs
            | Algorithm::Transactions
            | Algorithm::BestFirst(..)
            | Algorithm::ExternalBfs
            | Algorithm::ExternalAstar
            | Algorithm::Ida(_)
            | Algorithm::Beam(_)
            | Algorithm::Hill => match self.keep {
                Keep::Exact => Store::Exact,
                Keep::Tree => Store::Tree,
            },
        }
    }
}

/// Refuses options that have no meaning for the search asked for.
fn fits_search(check: &Check<'_>) -> Result<(), Error> {
    let search = check.search;
    let options = [
        (check.weight.is_some(), "weight", &[Search::Wastar, Search::Ida][..]),
        (check.width.is_some(), "width", &[Search::Beam]),
        (check.seed.is_some(), "seed", &[Search::Random, Search::Swarm]),
    ];
    for (is_asked, option, searches) in options {
        if is_asked && !searches.contains(&search) {
            let names: Vec<_> = searches.iter().map(|it| it.name()).collect();
            return Err(Error::Usage(format!(
                "the search '{search}' takes no {option}; use --{option} with --search {}",
                names.join(" or ")
            )));
        }
    }
    if check.width == Some(0) {
        return Err(Error::Usage("a beam keeps at least one state of each level".into()));
    }
    let looks_at_a_part =
        matches!(search, Search::Beam | Search::Hill | Search::Random | Search::Swarm);
    if check.shortest && looks_at_a_part {
        return Err(Error::Usage(format!(
            "the search '{search}' may miss the shortest run, so --shortest cannot be promised; use --search \
             astar, ida or bfs"
        )));
    }
    Ok(())
}

/// The search that keeps states on disk; refuses what it cannot be asked for with.
fn on_disk(check: &Check<'_>) -> Result<Algorithm, Error> {
    let usage = |text: &str| Err(Error::Usage(text.into()));
    if check.store.is_some() {
        return usage(
            "on disk states are kept in a form of its own, so that --store has no meaning with --disk",
        );
    }
    if check.por == Some(Por::Transactions) {
        return usage(
            "transactions are followed depth first, in memory; leave out --disk or --por transactions",
        );
    }
    if check.audit {
        return usage("an audit runs several searches in memory; leave out --disk or --audit");
    }
    match check.search {
        Search::Auto | Search::Bfs => Ok(Algorithm::ExternalBfs),
        Search::Astar => Ok(Algorithm::ExternalAstar),
        search => Err(Error::Usage(format!(
            "the search '{search}' keeps all states in memory; use --disk with --search bfs or astar"
        ))),
    }
}

/// Refuses what transactions cannot be searched with.
fn needs_all_states(check: &Check<'_>) -> Result<(), Error> {
    if !matches!(check.search, Search::Auto | Search::Dfs) {
        return Err(Error::Usage(format!(
            "transactions are followed depth first, not by the search '{}'; use --por transactions with \
             --search dfs",
            check.search
        )));
    }
    match check.store {
        Some(store @ (Store::Compact | Store::Bitstate | Store::Stack)) => {
            Err(Error::Usage(format!(
                "transactions need to remember all states, which the store '{store}' does not; use --por \
                 transactions with --store exact or tree"
            )))
        }
        _ => Ok(()),
    }
}

/// Why no move may be left out, nor be made at once after another.
fn why_all_moves(check: &Check<'_>, algorithm: Algorithm) -> Option<&'static str> {
    let depth_first = matches!(algorithm, Algorithm::Dfs | Algorithm::Stateless);
    if check.max_depth.is_some() {
        Some("of those that are left other runs are within --max-depth")
    } else if check.shortest && depth_first {
        Some("a depth-first search is to find shortest runs")
    } else if check.model.program.hidden.bytes > 0 {
        Some("the values of hidden variables depend on the order")
    } else {
        None
    }
}

/// What keeps a sweep from giving the answer that is asked for.
fn why_not_sweep(check: &Check<'_>) -> Option<&'static str> {
    if check.max_depth.is_some() {
        Some("a sweep knows no depth, so that --max-depth has no meaning for it")
    } else if check.max_states.is_some() {
        Some("which states a sweep meets first is left open, so that --max-states would be too")
    } else if matches!(check.store, Some(Store::Compact | Store::Bitstate | Store::Stack)) {
        Some("a sweep remembers all states")
    } else if check.model.program.hidden.bytes > 0 {
        Some("the values of hidden variables depend on the order of the search")
    } else {
        None
    }
}
