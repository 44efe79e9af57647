//! Runs the searches of a check and puts together what they found.

mod auto;
pub(crate) mod confirm;
mod directed;
mod judged;
mod shorter;
pub(crate) mod toward;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spinward_guide::{Subject, Unguided};
use spinward_machine::system::length;
use spinward_machine::{Machine, Options, Quotient, Scratch, System, Violation};
use spinward_program::Program;
use spinward_program::access::reads_hidden;
use spinward_program::independence::Conditions;
use spinward_program::ir::Formula;
use spinward_program::optimize::{Watched, optimize_by};
use spinward_program::symmetry::{self, NotSymmetric, keep_constants};
use spinward_search::bfs::{bfs, bfs_of_less};
use spinward_search::dfs::dfs;
use spinward_search::directed::Directed;
use spinward_search::directed::swarm::{SEARCHES, swarm};
use spinward_search::external::{external, external_of_less};
use spinward_search::lossy::lossy;
use spinward_search::reduced::Reduced;
use spinward_search::stateless::stateless;
use spinward_search::sweep::{Answered, Guides, Scout, sweep};
use spinward_search::transactions::transactions;
use spinward_search::{Found, Limit, Limits, Outcome, Place, Progress, Request, Stopped};
use spinward_store::{Omissions, Table, trim};

use crate::Error;
use crate::check::Check;
use crate::disk::Disk;
use crate::lossy::{TableOptions, describe, recommend};
use crate::memory;
use crate::options::{Engine, Por, Search};
use crate::plan::{Algorithm, Judge, Method, Plan, Task};
use crate::report::{
    CheckedProperty, Reason, ReasonCode, Recommendation, Report, ReportedDiagnostic, ReportedError,
    Seconds, Statistics, Verdict, file_of,
};
use crate::unreached::unreached;
use crate::words::{counted, quoted_path, thousands};

/// Runs a check.
pub(crate) fn run(mut check: Check<'_>) -> Result<Report, Error> {
    let start = Instant::now();
    let method = Method::of(&check)?;
    let transactions = check.por == Some(Por::Transactions);
    let mut plan = Plan::new(&check.model, &check.properties, transactions)?;
    // Who counts on what processes claim checks it.
    let exclusive = method.reduces && !method.symmetric;
    plan.tasks.iter_mut().for_each(|task| task.options.exclusive = exclusive);
    if check.model.program.uses.c_code.is_some() {
        return Err(Error::NotAvailable("embedded C code (c_code, c_expr, ...)".into()));
    }
    let own = memory::own_memory();
    let allowed = memory::allowed(check.memory);
    let mut progress = check.progress.take();
    let disk = Disk::of(&check)?;
    let mut running = Running {
        disk,
        start,
        met: None,
        decided: None,
        own,
        allowed,
        budget: memory::for_search(allowed, own),
        many: plan.tasks.len() > 1,
        check,
        properties: Vec::new(),
        errors: Vec::new(),
        places: HashSet::new(),
        reasons: Vec::new(),
        statistics: Statistics { threads: method.threads, ..Statistics::default() },
        shown: method.search(),
        guide: "none".into(),
        explanations: Vec::new(),
        method,
        tried: Vec::new(),
        endless_atomic: false,
        reduced: false,
        symmetric: false,
        ruled_out: false,
        resumable: false,
        most_omissions: 0.0,
        recommendation: None,
    };
    let mut progress = |event: &Progress| {
        if let Some(progress) = &mut progress {
            progress(event);
        }
    };
    for task in &mut plan.tasks {
        let begun = Begun::of(&running);
        if running.is_over() {
            running.properties.push(CheckedProperty::not_begun(&task.name));
            continue;
        }
        if let Some(broken) = running.run_task(task, &mut progress)? {
            running.note_broken_claim(broken);
            // What that search has freed shall not count beside the next.
            trim();
            task.options.exclusive = false;
            running.run_task(task, &mut progress)?;
        }
        running.answer(task, begun);
    }
    Ok(running.finish(plan))
}

/// What there was before a search began.
struct Begun {
    at: Instant,
    errors: usize,
    reasons: usize,
}

impl Begun {
    fn of(running: &Running<'_>) -> Self {
        let Running { errors, reasons, .. } = running;
        Self { at: Instant::now(), errors: errors.len(), reasons: reasons.len() }
    }
}

/// What a search works on.
#[derive(Clone, Copy)]
struct Systems<'m, W> {
    /// That with all moves and states.
    whole: &'m W,
    /// Whether the one that is searched leaves out some.
    less: bool,
    /// Whether it leaves out moves.
    reduces: bool,
    /// What a guide is to know of the one that is searched, and of that with all moves and states.
    subject: Subject<'m>,
    whole_subject: Subject<'m>,
}

/// What a lossy search was asked for, what it had, and what it missed.
type Lost = (TableOptions, Table, Omissions);

/// The state of a check between its searches.
struct Running<'a> {
    check: Check<'a>,
    /// Where states are kept that do not fit into memory.
    disk: Option<Disk>,
    method: Method,
    /// The search that found the errors, or that found none.
    shown: Search,
    /// The guide it went by.
    guide: String,
    /// What was done and why, where that was left open.
    explanations: Vec<String>,
    start: Instant,
    /// When the search at hand met an error, if that was before it ended.
    met: Option<Instant>,
    /// After what time it was certain that there are the errors found so far.
    decided: Option<Duration>,
    /// Bytes the program itself uses.
    own: u64,
    /// Bytes that may be used in all.
    allowed: u64,
    /// Bytes for the search.
    budget: u64,
    /// Whether there is more than one search.
    many: bool,
    properties: Vec<CheckedProperty>,
    errors: Vec<ReportedError>,
    /// What `errors` has; what is wrong with a property also by its name.
    places: HashSet<(Place, Option<String>)>,
    reasons: Vec<Reason>,
    statistics: Statistics,
    /// By transition: whether a search of all runs, not only those that a property asks for, looked at it.
    tried: Vec<bool>,
    endless_atomic: bool,
    /// Whether any search left out moves that make no difference.
    reduced: bool,
    /// Whether in any search interchangeable processes were not told apart.
    symmetric: bool,
    /// Whether a guide showed of states that nothing can go wrong from there.
    ruled_out: bool,
    /// Whether a limit ended a search that can go on later.
    resumable: bool,
    /// What the lossy search that lost most probably lost.
    most_omissions: f64,
    recommendation: Option<Recommendation>,
}

use auto::{explanation, quick};
use confirm::{confirm, shorten};
use directed::patience;
use toward::Shortening;

impl Running<'_> {
    /// Runs a search. If it counted on what a process claims, and that does not hold, it may have missed something;
    /// then it tells that, and only the errors it found count.
    fn run_task(
        &mut self,
        task: &Task,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Violation>, Error> {
        if let Some(judge) = task.judge {
            return self.run_judged(task, judge, progress);
        }
        let program = self.check.model.program.clone();
        let before = memory::own_memory();
        let whole = self.machine(program.clone(), task.options.clone())?;
        let machine = self.machine_of_less(&program, task)?;
        let machine = machine.as_ref().unwrap_or(&whole);
        let named = self.machine_of_names(machine)?;
        let quotient = named.as_ref().and_then(|named| self.quotient(named));
        self.symmetric |= quotient.is_some();
        let budget = self.budget.saturating_sub(memory::own_memory().saturating_sub(before));
        let request = self.request(budget);
        self.reduced |= machine.reduces();
        let (started, made) = (Instant::now(), self.statistics.seconds.guide);
        let less = quotient.is_some() || !std::ptr::eq(machine, &whole);
        let target = self.target(&whole)?;
        let (follower, target) = (None, target.as_ref());
        let patience = patience(&request.limits);
        let symmetric = quotient.is_some();
        let searched = named.as_ref().filter(|_| symmetric).unwrap_or(machine);
        let systems = Systems {
            whole: &whole,
            less,
            reduces: machine.reduces(),
            subject: Subject { machine: searched, follower, target, symmetric, patience },
            whole_subject: Subject {
                machine: &whole,
                follower,
                target,
                symmetric: false,
                patience,
            },
        };
        let (mut outcome, lost, scratch) = match &quotient {
            None if self.method.algorithm == Algorithm::Transactions => {
                let mut scratch = machine.scratch();
                let outcome = self.by_transactions(machine, &mut scratch, &request, progress);
                (outcome, None, scratch)
            }
            None => {
                let mut scratch = machine.scratch();
                let (outcome, lost) =
                    self.search(machine, &mut scratch, systems, &request, progress)?;
                (outcome, lost, scratch)
            }
            Some(quotient) => {
                let mut scratch = quotient.scratch();
                let (outcome, lost) =
                    self.search(quotient, &mut scratch, systems, &request, progress)?;
                (outcome, lost, quotient.machine_scratch(scratch))
            }
        };
        self.note_search_time(started, made);
        let met = self.take_met();
        let shortening = self.shortening(&whole, budget, &outcome, progress);
        let broken = take_broken_claim(&mut outcome);
        self.note_decision(met, &outcome);
        if let Some(broken) = broken {
            self.take_errors(task, machine.program(), outcome.errors, shortening)?;
            return Ok(Some(broken));
        }

        self.note_endless(&outcome, &scratch);
        self.tried.resize(scratch.tried().len(), false);
        for (all, new) in self.tried.iter_mut().zip(scratch.tried()) {
            *all |= new;
        }
        self.count(task, &outcome);
        self.explain(task, &outcome);
        self.explain_lost(task, lost, budget, &outcome);
        self.take_errors(task, machine.program(), outcome.errors, shortening)?;
        self.explain_length();
        Ok(None)
    }

    /// Notes the answer of a search. One that met only errors that are known already says nothing of its own property.
    fn answer(&mut self, task: &Task, begun: Begun) {
        let errors: Vec<usize> = (begun.errors..self.errors.len()).collect();
        let verdict = match (errors.is_empty(), self.reasons.len() == begun.reasons) {
            (false, _) => Verdict::Violated,
            (true, true) => Verdict::Verified,
            (true, false) => Verdict::Incomplete,
        };
        let seconds = begun.at.elapsed().as_secs_f64();
        let reasons = self.reasons[begun.reasons..].iter().map(|it| it.message.clone()).collect();
        let name = task.name.clone();
        self.properties.push(CheckedProperty { name, verdict, errors, seconds, reasons });
    }

    /// When the search that has ended met what it found.
    fn take_met(&mut self) -> Instant {
        self.met.take().unwrap_or_else(Instant::now)
    }

    /// Notes when it was certain that something is wrong, if anything is.
    fn note_decision(&mut self, met: Instant, outcome: &Outcome) {
        if !outcome.errors.is_empty() {
            self.decided = Some(met.saturating_duration_since(self.start));
        }
    }

    /// Notes how long a search has taken, besides what making guides took, which was so much before.
    fn note_search_time(&mut self, started: Instant, made: f64) {
        let seconds = &mut self.statistics.seconds;
        seconds.search += started.elapsed().as_secs_f64() - (seconds.guide - made);
    }

    /// What a search is asked, with so many bytes.
    fn request(&self, budget: u64) -> Request {
        Request {
            limits: Limits {
                max_depth: self.check.max_depth,
                max_states: self.check.max_states,
                time: self.check.time.map(|time| time.saturating_sub(self.start.elapsed())),
                memory: Some(budget),
                stop: self.check.stop.clone(),
            },
            errors: self.check.errors,
            shortest: self.check.shortest,
            keep: self.method.keep,
            threads: self.method.threads,
            reduces: self.method.reduces,
        }
    }

    /// Runs the search that was asked for.
    fn search<S: System, W: System>(
        &mut self,
        system: &S,
        scratch: &mut S::Scratch,
        systems: Systems<'_, W>,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(Outcome, Option<Lost>), Error> {
        let Systems { whole, less, reduces, .. } = systems;
        let mut lost = None;
        let outcome = match self.method.algorithm {
            Algorithm::Sweep => {
                let quick = if self.is_auto() { quick() } else { Vec::new() };
                let make = |number: usize| quick.get(number)?.build(&systems.subject).ok();
                let guides = Guides { count: quick.len(), make: &make };
                let guides = self.is_auto().then_some(guides);
                let begun = Instant::now();
                let (outcome, told) = if reduces {
                    sweep(&Reduced(system), whole, guides, scratch, request, progress)
                } else {
                    sweep(system, whole, guides, scratch, request, progress)
                };
                self.met = told.met.map(|after| begun + after);
                self.shown = match told.answered {
                    Answered::Sweep | Answered::Retraced => self.shown,
                    Answered::BreadthFirst => Search::Bfs,
                    Answered::DepthFirst => Search::Dfs,
                    Answered::Scouted if told.found_by == Some(Scout::DepthFirst) => Search::Dfs,
                    Answered::Scouted => Search::Greedy,
                };
                self.explain_sweep(told, &outcome, &quick);
                outcome
            }
            Algorithm::Dfs | Algorithm::Transactions => dfs(system, scratch, request, progress),
            Algorithm::Bfs if less => bfs_of_less(system, whole, scratch, request, progress),
            Algorithm::Bfs => bfs(system, scratch, request, progress),
            Algorithm::ExternalBfs => {
                return Ok((self.on_disk(system, scratch, systems, request, progress)?, None));
            }
            Algorithm::BestFirst(..)
            | Algorithm::ExternalAstar
            | Algorithm::Ida(_)
            | Algorithm::PartialIda(..)
            | Algorithm::Beam(_)
            | Algorithm::Hill
            | Algorithm::Random(_) => {
                return self.by_guide(system, scratch, systems, request, progress);
            }
            Algorithm::Swarm(seed, asked) => {
                let table = self.table(asked, request, SEARCHES as u64)?;
                let (outcome, omissions) =
                    swarm(&Reduced(system), scratch, request, seed, table, progress);
                lost = Some((asked, table, omissions));
                outcome
            }
            Algorithm::Stateless => stateless(&Reduced(system), scratch, request, progress),
            Algorithm::Lossy(asked) => {
                let table = self.table(asked, request, 1)?;
                let (outcome, omissions) =
                    lossy(&Reduced(system), scratch, request, table, progress);
                lost = Some((asked, table, omissions));
                outcome
            }
        };
        Ok((outcome, lost))
    }

    /// Searches breadth-first with states on disk.
    fn on_disk<S: System, W: System>(
        &mut self,
        system: &S,
        scratch: &mut S::Scratch,
        Systems { whole, less, reduces, .. }: Systems<'_, W>,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, Error> {
        let none = || Error::Internal("no folder for states".into());
        let disk = self.disk.as_mut().ok_or_else(none)?;
        let request = &disk.request(request)?;
        let stages = &mut disk.stages;
        let directed = Directed { guide: &Unguided, bound: None };
        let whole = (whole, directed);
        let (outcome, _) = if !less {
            external(system, scratch, request, directed, stages, progress)
        } else if reduces {
            let reduced = (&Reduced(system), directed);
            external_of_less(reduced, whole, scratch, request, stages, progress)
        } else {
            external_of_less((system, directed), whole, scratch, request, stages, progress)
        };
        self.check_disk(outcome)
    }

    /// Refuses to go on if nothing could be done with what is on disk; tells why a shortest run was not found there.
    fn check_disk(&mut self, outcome: Outcome) -> Result<Outcome, Error> {
        let Some(disk) = &mut self.disk else { return Ok(outcome) };
        self.statistics.disk_bytes = disk.stages.bytes;
        let cut_short = disk.stages.cut_short.take();
        match &disk.stages.failure {
            Some(failure) if outcome.counts.states == 0 => {
                return Err(Error::Usage(failure.to_string()));
            }
            _ => {}
        }
        if let Some(limit) = cut_short {
            let (code, why) = self.why_limited(limit);
            let next = self.how_to_resume();
            let message = format!("the search for a shortest run did not end: {why}{next}");
            self.resumable = true;
            self.reasons.push(Reason { code, message });
        }
        Ok(outcome)
    }

    fn why_limited(&self, limit: Limit) -> (ReasonCode, String) {
        if limit != Limit::Disk {
            return why_stopped(limit, self.check.max_states, self.check.time, self.allowed);
        }
        let failure = self.disk.as_ref().and_then(|it| it.stages.failure.as_ref());
        (ReasonCode::Disk, failure.map_or("the disk failed".into(), ToString::to_string))
    }

    /// How to go on with what is on disk, if there is anything, and it can be read.
    fn how_to_resume(&self) -> String {
        self.disk.as_ref().map_or(String::new(), |disk| match disk.stages.failure {
            Some(spinward_disk::Error::Damaged { .. }) => String::new(),
            _ => format!(
                "; the same command with --resume {} in place of --disk goes on",
                quoted_path(&disk.path)
            ),
        })
    }

    /// The table of each of so many searches that share the memory.
    fn table(&self, asked: TableOptions, request: &Request, shares: u64) -> Result<Table, Error> {
        // It is used all over, so it must fit into what is free now.
        let budget = request.limits.memory.unwrap_or(u64::MAX);
        let free = memory::free_memory().unwrap_or(u64::MAX);
        asked.table(budget.min(free) / shares)
    }

    /// Searches by transactions, or depth first if it is not known which moves are movers.
    fn by_transactions(
        &mut self,
        machine: &Machine,
        scratch: &mut Scratch,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> Outcome {
        if let Some(why) = machine.why_no_movers() {
            self.note(format!("no moves are left out: {why}"));
            return dfs(machine, scratch, request, progress);
        }
        self.reduced = true;
        self.note(
            "transactions: keeps violated assertions, invariants and run-time errors, not invalid end states"
                .into(),
        );
        let outcome = transactions(machine, scratch, request, progress);
        let forced = self.statistics.forced_completions.get_or_insert(0);
        *forced += outcome.counts.forced_completions;
        outcome
    }

    /// Why processes must be told apart, though they need not be.
    fn note_asymmetry(&mut self, program: &Program, NotSymmetric { why, because }: &NotSymmetric) {
        let statement = because.map(|id| program.element(program.transition(id).element));
        let at = statement.map(|element| {
            let (path, line) =
                (program.source.path(element.span), program.source.line(element.span));
            format!(": '{}' at {}:{line}", element.text, path.display())
        });
        self.note(format!("--symmetry has no effect: {why}{}", at.unwrap_or_default()));
    }

    /// The machine that does what a program says.
    fn machine(&mut self, program: Arc<Program>, options: Options) -> Result<Machine, Error> {
        let machine = Machine::new(program, options, self.check.stop.clone());
        let mut machine = machine.map_err(|error| {
            let why = error.describe();
            Error::Usage(format!("the model goes wrong before its first step: {why}"))
        })?;
        let compiled = match self.check.engine {
            Some(Engine::Interpreter) => true,
            Some(Engine::Compiled) => machine.compile(),
            None => machine.compile_when_it_pays(),
        };
        if !compiled {
            self.note("steps are interpreted: there is no compiler for this computer".into());
        }
        Ok(machine)
    }

    /// Adds a note, once.
    fn note(&mut self, note: String) {
        if !self.method.notes.contains(&note) {
            self.method.notes.push(note);
        }
    }

    /// One that leaves out what makes no difference to what is watched, if it may; its runs are runs of the
    /// program as it is.
    fn machine_of_less(
        &mut self,
        program: &Arc<Program>,
        task: &Task,
    ) -> Result<Option<Machine>, Error> {
        let Method { optimizes, reduces, algorithm, .. } = self.method;
        let movers = algorithm == Algorithm::Transactions;
        let Options { claim, invariants, .. } = &task.options;
        let optimized = optimizes.map(|passes| {
            let watched =
                Watched { claim: *claim, conditions: invariants.clone(), ..Watched::default() };
            Arc::new(optimize_by(program, &watched, passes))
        });
        if optimized.is_none() && !reduces && !movers {
            return Ok(None);
        }
        let reduce = reduces.then_some(Conditions::ALL);
        let options = Options { reduce, movers, ..task.options.clone() };
        self.machine(optimized.unwrap_or_else(|| program.clone()), options).map(Some)
    }

    /// One in which nothing is forgotten that tells processes apart, if it is to be found out which are
    /// interchangeable.
    fn machine_of_names(&mut self, machine: &Machine) -> Result<Option<Machine>, Error> {
        if !self.method.symmetric {
            return Ok(None);
        }
        let program = Arc::new(keep_constants(machine.program()));
        self.machine(program, machine.options().clone()).map(Some)
    }

    /// The machine without telling apart who can be interchanged, if that pays.
    fn quotient<'m>(&mut self, machine: &'m Machine) -> Option<Quotient<'m>> {
        let why = match Quotient::new(machine, symmetry::Conditions::ALL) {
            Ok(quotient) => match quotient.why_not(self.check.time) {
                None => return Some(quotient),
                Some(why) => NotSymmetric { why: why.into(), because: None },
            },
            Err(why) => why,
        };
        self.note_asymmetry(machine.program(), &why);
        None
    }

    /// Whether there is no time for further searches.
    fn is_over(&self) -> bool {
        let ends =
            |reason: &Reason| matches!(reason.code, ReasonCode::Time | ReasonCode::Interrupt);
        self.reasons.iter().any(ends)
    }

    fn count(&mut self, task: &Task, outcome: &Outcome) {
        let counts = &outcome.counts;
        let all = &mut self.statistics;
        all.states += counts.states;
        all.transitions += counts.transitions;
        all.expanded += counts.expanded;
        all.matched += counts.matched();
        all.reopened += counts.reopened;
        all.error_count += counts.errors;
        all.depth = all.depth.max(counts.depth);
        all.state_bytes = all.state_bytes.max(counts.state_bytes);
        if self.own + counts.memory > all.peak_memory {
            all.peak_memory = self.own + counts.memory;
            all.bytes_per_state = counts.memory as f64 / counts.states.max(1) as f64;
        }
        if self.many {
            all.states_by_property.insert(task.name.clone(), counts.states);
        }
    }

    /// Says why a search did not see everything.
    fn explain(&mut self, task: &Task, outcome: &Outcome) {
        let check = &self.check;
        if outcome.met > 0 {
            self.reasons.push(Reason {
                code: ReasonCode::ErrorMet,
                message: "an error was met, but no run to it was found; --search dfs may find one"
                    .into(),
            });
        }
        let (code, message) = match outcome.stopped {
            None if !outcome.truncated => return,
            None => (
                ReasonCode::MaxDepth,
                format!(
                    "runs of more than {} were left out",
                    counted(check.max_depth.unwrap_or_default(), "step")
                ),
            ),
            Some(Stopped::Errors) => (
                ReasonCode::Errors,
                match check.errors {
                    1 => "the search ended with the first error".into(),
                    errors => format!("the search ended with {}", counted(errors as u64, "error")),
                },
            ),
            Some(Stopped::LeftOut(states)) => (ReasonCode::LeftOut, self.left_out(states)),
            Some(Stopped::Limit(limit)) => self.why_limited(limit),
        };
        let counts = &outcome.counts;
        let covered = match outcome.stopped {
            Some(Stopped::Limit(_)) => format!(
                " after {}, {} of them expanded{}",
                counted(counts.states, "state"),
                thousands(counts.expanded),
                match self.shown {
                    Search::Sweep => String::new(),
                    _ => format!(", up to depth {}", thousands(counts.depth)),
                }
            ),
            _ => String::new(),
        };
        let whose = if self.many { format!("{}: ", task.name) } else { String::new() };
        let is_cut_off = self.disk.is_some() && !covered.is_empty();
        let next = if is_cut_off { self.how_to_resume() } else { String::new() };
        self.resumable |= is_cut_off;
        self.reasons.push(Reason { code, message: format!("{whose}{message}{covered}{next}") });
    }

    /// What a search that looks at a part only left out.
    fn left_out(&self, states: Option<u64>) -> String {
        let states = states.map_or("some states".into(), |states| counted(states, "state"));
        match self.method.algorithm {
            Algorithm::Beam(width) => format!(
                "{states} left out, as of each level only the best {} kept",
                if width == 1 {
                    "one is".into()
                } else {
                    format!("{} are", thousands(width as u64))
                }
            ),
            Algorithm::Hill => {
                format!("{states} left out, as the search goes on from better states only")
            }
            _ => "random walks do not see all runs".into(),
        }
    }

    /// Says that a process does not keep to what another one claims.
    fn note_broken_claim(&mut self, broken: Violation) {
        let program = &self.check.model.program;
        let statement = broken.transition().map(|id| program.transition(id).span);
        let at = statement.map(|span| {
            format!(" at {}:{}", program.source.path(span).display(), program.source.line(span))
        });
        let note =
            format!("{}{}; nobody counts on it", broken.describe(program), at.unwrap_or_default());
        self.method.notes.push(note);
        self.shown = self.method.search();
    }

    /// Says what a lossy search may have missed, and what to do about it.
    fn explain_lost(&mut self, task: &Task, lost: Option<Lost>, budget: u64, outcome: &Outcome) {
        if let Some((asked, table, omissions)) = lost {
            self.explain_omissions(task, omissions);
            // Of several searches, the one that lost most has advice. How many states a swarm has seen is not known.
            let is_swarm = self.method.search() == Search::Swarm;
            if omissions.expected >= self.most_omissions && !is_swarm {
                self.most_omissions = omissions.expected;
                self.recommendation = recommend(asked, table, budget, outcome, omissions);
            }
        }
    }

    /// Says what a lossy search may have missed.
    fn explain_omissions(&mut self, task: &Task, omissions: Omissions) {
        let all = &mut self.statistics;
        all.expected_omissions += omissions.expected;
        all.omission_probability = Omissions::new(all.expected_omissions).probability;
        let whose = if self.many { format!("{}: ", task.name) } else { String::new() };
        let message = whose + &describe(self.method.store(), omissions);
        self.reasons.push(Reason { code: ReasonCode::Lossy, message });
    }

    /// Replays each error found in a program, perhaps by a shorter run, and adds those that are new.
    fn take_errors(
        &mut self,
        task: &Task,
        searched: &Arc<Program>,
        found: Vec<Found>,
        mut shortening: Option<Shortening<'_>>,
    ) -> Result<(), Error> {
        let program = self.check.model.program.clone();
        let fairness = self.check.fairness;
        for mut found in found {
            let violation = found.violation;
            let of_property = matches!(violation, Violation::ClaimEnd | Violation::Cycle);
            let property = of_property.then(|| task.name.clone());
            if self.places.insert((Place::of(violation), property)) {
                let steps = length(&found.steps);
                if let Some(shortening) = &mut shortening {
                    found = self.shorter(found, shortening)?;
                }
                let shortened_from = Some(steps).filter(|&steps| length(&found.steps) < steps);
                shorten(searched, task, &mut found);
                confirm(&self.check.model, searched, task, fairness, &found)?;
                let error = reported(&program, task, found);
                self.errors.push(ReportedError { shortened_from, ..error });
            }
        }
        Ok(())
    }

    /// Notes whether a search met an atomic sequence that need not end.
    fn note_endless(&mut self, outcome: &Outcome, scratch: &Scratch) {
        // Threads look ahead of where a search ends: what they met there must not show.
        let ahead =
            matches!(outcome.stopped, Some(Stopped::Errors | Stopped::Limit(Limit::States)));
        self.endless_atomic |= scratch.endless_atomic && !ahead;
    }

    fn finish(mut self, plan: Plan) -> Report {
        let complete = self.reasons.is_empty()
            && plan.not_checked.is_empty()
            && (self.check.errors == 0 || self.errors.len() < self.check.errors);
        self.reasons.extend(plan.not_checked);
        let verdict = match (self.errors.is_empty(), complete) {
            (false, _) => Verdict::Violated,
            (true, true) => Verdict::Verified,
            (true, false) => Verdict::Incomplete,
        };
        if self.endless_atomic {
            self.method.notes.push("an atomic sequence of the model may go on for ever".into());
        }
        let model = &self.check.model;
        let statistics = &mut self.statistics;
        let total = self.start.elapsed();
        statistics.seconds = Seconds {
            load: model.load_time.as_secs_f64(),
            decided: (model.load_time + self.decided.unwrap_or(total)).as_secs_f64(),
            total: (model.load_time + total).as_secs_f64(),
            ..statistics.seconds
        };
        statistics.states_per_second =
            statistics.states as f64 / statistics.seconds.search.max(1e-9);
        let seen_all = !self.reasons.iter().any(|it| it.code != ReasonCode::NotChecked);
        // What was tried before is not known any more.
        let resumed = self.disk.as_ref().is_some_and(|disk| disk.stages.resumed);
        if self.disk.as_ref().is_some_and(|disk| disk.resumes && !resumed) {
            let note = "no states were left on disk to go on with: the check began anew";
            self.method.notes.push(note.into());
        }
        let resumable = self.disk.filter(|_| self.resumable).map(|disk| disk.path);
        let claims: Vec<_> = plan.tasks.iter().filter_map(|task| task.options.claim).collect();
        Report {
            schema: Report::SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            model: model.name.clone(),
            verdict,
            complete,
            reasons: self.reasons,
            properties: self.properties,
            errors: self.errors,
            statistics: self.statistics,
            search: self.shown.name(),
            explanation: explanation(&self.explanations),
            guide: self.guide,
            store: self.method.store().name(),
            por: self.reduced,
            symmetry: self.symmetric,
            optimize: if self.method.optimizes.is_some() { "full" } else { "none" },
            recommendation: self.recommendation,
            audit: None,
            resumable,
            notes: self.method.notes,
            diagnostics: model
                .warnings
                .iter()
                .map(|warning| ReportedDiagnostic::new(model.source_map(), warning))
                .collect(),
            failure: None,
            unreached: if seen_all && !self.tried.is_empty() && !self.ruled_out && !resumed {
                unreached(&model.program, &self.tried, &claims)
            } else {
                Vec::new()
            },
        }
    }
}

pub(crate) fn reported(program: &Program, task: &Task, found: Found) -> ReportedError {
    let violation = found.violation;
    let element = violation.transition().map(|id| program.element(program.transition(id).element));
    let watcher = match violation {
        Violation::ClaimEnd | Violation::Cycle => task.options.claim,
        Violation::TraceMismatch | Violation::TraceComplete => program.trace,
        _ => None,
    };
    let watcher = watcher.map(|body| program.automaton(body));
    let span = element.map(|it| it.span).or(watcher.map(|it| it.span));
    let condition = violation.condition().map(|number| &program.conditions[number as usize]);
    let judge = task.judge.filter(|_| matches!(violation, Violation::ClaimEnd | Violation::Cycle));
    let formula = match judge {
        Some(Judge::Formula(number)) => Some(&program.formulas[number]),
        _ => None,
    };
    let span = span.or(formula.map(|formula| formula.span));
    let property = match (condition, element, watcher) {
        (Some(condition), ..) => condition.text.clone(),
        (_, Some(element), _) => element.text.clone(),
        (_, _, Some(automaton)) => automaton.name.clone(),
        (None, None, None) => match (formula, judge) {
            (Some(formula), _) => formula.name.clone().unwrap_or_else(|| formula.text.clone()),
            (None, Some(Judge::Labels)) => "no acceptance cycle".into(),
            (None, Some(Judge::Automaton)) => task.name.clone(),
            (None, Some(_)) => "no non-progress cycle".into(),
            (None, None) => "no invalid end state".into(),
        },
    };
    let (kind, message) = match (judge, formula, violation) {
        (_, Some(formula), Violation::ClaimEnd) => {
            (violation.kind(), format!("does not hold, whatever comes after: {}", told(formula)))
        }
        (_, Some(formula), _) => (violation.kind(), format!("does not hold: {}", told(formula))),
        (Some(Judge::Labels), _, Violation::Cycle) => (
            violation.kind(),
            "acceptance cycle: a run comes through `accept` again and again".into(),
        ),
        (Some(Judge::Automaton), _, _) => {
            (violation.kind(), "the claim accepts a run of the model".into())
        }
        (Some(Judge::NonProgress), _, _) => (
            "non-progress-cycle",
            "non-progress cycle: a run goes on for ever without coming through `progress`".into(),
        ),
        _ => (violation.kind(), violation.describe(program)),
    };
    let start = found.cycle.map(|start| length(&found.steps[..start]));
    let file = span.and_then(|span| file_of(&program.source, span));
    ReportedError {
        kind,
        property,
        message,
        line: span.filter(|_| file.is_some()).map(|span| program.source.line(span)),
        file,
        steps: length(&found.steps),
        cycle_start: start,
        trail: None,
        // States that are told apart by nothing but what is hidden are looked at once, after any run of several.
        shortest: found.shortest && !reads_hidden(program),
        shortened_from: None,
        occurrences: found.occurrences,
        run: found.steps,
        cycle_index: found.cycle,
        watched: task.options.clone(),
        violation,
    }
}

/// What ended a search, given what it might use.
pub(crate) fn why_stopped(
    limit: Limit,
    max_states: Option<u64>,
    time: Option<Duration>,
    memory: u64,
) -> (ReasonCode, String) {
    match limit {
        Limit::States => {
            let states = counted(max_states.unwrap_or_default(), "state");
            (ReasonCode::MaxStates, format!("the limit of {states} was hit"))
        }
        Limit::Time => {
            let seconds = time.unwrap_or_default().as_secs_f64();
            (ReasonCode::Time, format!("the time of {seconds} s was over"))
        }
        Limit::Memory => {
            let megabytes = thousands(memory.div_ceil(1 << 20));
            (ReasonCode::Memory, format!("the memory of {megabytes} MB was used up"))
        }
        Limit::Disk => (ReasonCode::Disk, "states could not be kept on disk".into()),
        Limit::Interrupt => (ReasonCode::Interrupt, "the search was interrupted".into()),
        Limit::Table => (ReasonCode::Memory, "the table of states was full".into()),
        Limit::Numbers => {
            (ReasonCode::Numbers, "there are more states than can be numbered".into())
        }
    }
}

/// Takes what tells that a process does not keep to what another one claims out of what a search found.
fn take_broken_claim(outcome: &mut Outcome) -> Option<Violation> {
    let is_claim = |found: &Found| matches!(found.violation, Violation::NotExclusive { .. });
    let broken = outcome.errors.iter().find(|found| is_claim(found)).map(|found| found.violation);
    outcome.errors.retain(|found| !is_claim(found));
    broken
}

/// A formula with its name.
fn told(formula: &Formula) -> String {
    match &formula.name {
        Some(name) => format!("ltl {name} {{ {} }}", formula.text),
        None => formula.text.clone(),
    }
}
