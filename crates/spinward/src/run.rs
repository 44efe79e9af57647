//! Runs the searches of a check and puts together what they found.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use spinward_machine::system::length;
use spinward_machine::{Machine, Options, System as _, Violation};
use spinward_program::Program;
use spinward_program::independence::Conditions;
use spinward_program::ir::BodyId;
use spinward_program::optimize::{Watched, optimize_by};
use spinward_search::bfs::{bfs, bfs_of_less};
use spinward_search::dfs::dfs;
use spinward_search::lossy::lossy;
use spinward_search::reduced::Reduced;
use spinward_search::stateless::stateless;
use spinward_search::sweep::{Answered, sweep};
use spinward_search::transactions::transactions;
use spinward_search::{Found, Limit, Limits, Outcome, Place, Progress, Request, Stopped};
use spinward_store::Omissions;

use crate::Error;
use crate::check::Check;
use crate::lossy::{describe, recommend};
use crate::memory;
use crate::options::{Engine, Por, Search};
use crate::plan::{Algorithm, Method, Plan, Task};
use crate::report::{
    Reason, ReasonCode, Recommendation, Report, ReportedDiagnostic, ReportedError, Seconds,
    Statistics, Verdict,
};
use crate::unreached::unreached;

/// Runs a check.
pub(crate) fn run(mut check: Check<'_>) -> Result<Report, Error> {
    let start = Instant::now();
    let method = Method::of(&check)?;
    let transactions = check.por == Some(Por::Transactions);
    let plan = Plan::new(&check.model, &check.properties, transactions)?;
    if check.model.program.uses.c_code.is_some() {
        return Err(Error::NotAvailable("embedded C code (c_code, c_expr, ...)".into()));
    }
    let own = memory::own_memory();
    let allowed = check.memory.unwrap_or_else(memory::default_budget);
    let mut progress = check.progress.take();
    let mut running = Running {
        start,
        own,
        allowed,
        // The allocator needs some room too.
        budget: allowed.saturating_sub(own + memory::reserve(allowed)) / 32 * 31,
        many: plan.tasks.len() > 1,
        check,
        errors: Vec::new(),
        places: HashSet::new(),
        reasons: Vec::new(),
        statistics: Statistics { threads: method.threads, ..Statistics::default() },
        shown: method.search(),
        method,
        tried: Vec::new(),
        endless_atomic: false,
        reduced: false,
        most_omissions: 0.0,
        recommendation: None,
    };
    for task in &plan.tasks {
        running.run_task(task, &mut |event| {
            if let Some(progress) = &mut progress {
                progress(event);
            }
        })?;
        if running.is_over() {
            break;
        }
    }
    Ok(running.finish(plan))
}

/// The state of a check between its searches.
struct Running<'a> {
    check: Check<'a>,
    method: Method,
    /// The search that found the errors, or that found none.
    shown: Search,
    start: Instant,
    /// Bytes the program itself uses.
    own: u64,
    /// Bytes that may be used in all.
    allowed: u64,
    /// Bytes for the search.
    budget: u64,
    /// Whether there is more than one search.
    many: bool,
    errors: Vec<ReportedError>,
    /// What `errors` has; an error in a claim also by the claim.
    places: HashSet<(Place, Option<BodyId>)>,
    reasons: Vec<Reason>,
    statistics: Statistics,
    /// By transition: whether any search looked at it.
    tried: Vec<bool>,
    endless_atomic: bool,
    /// Whether any search left out moves that make no difference.
    reduced: bool,
    /// What the lossy search that lost most probably lost.
    most_omissions: f64,
    recommendation: Option<Recommendation>,
}

impl Running<'_> {
    fn run_task(&mut self, task: &Task, progress: &mut dyn FnMut(&Progress)) -> Result<(), Error> {
        let program = self.check.model.program.clone();
        let before = memory::own_memory();
        let whole = self.machine(program.clone(), task.options.clone())?;
        let machine = self.machine_of_less(&program, task)?;
        let machine = machine.as_ref().unwrap_or(&whole);
        let budget = self.budget.saturating_sub(memory::own_memory().saturating_sub(before));
        let request = Request {
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
        };
        self.reduced |= machine.reduces();
        let mut scratch = machine.scratch();
        let started = Instant::now();
        let mut lost = None;
        let outcome = match self.method.algorithm {
            Algorithm::Sweep => {
                let (outcome, answered) = if machine.reduces() {
                    sweep(&Reduced(machine), &whole, &mut scratch, &request, progress)
                } else {
                    sweep(machine, &whole, &mut scratch, &request, progress)
                };
                self.shown = match answered {
                    Answered::Sweep | Answered::Retraced => self.shown,
                    Answered::BreadthFirst => Search::Bfs,
                    Answered::DepthFirst => Search::Dfs,
                };
                outcome
            }
            Algorithm::Dfs => dfs(machine, &mut scratch, &request, progress),
            Algorithm::Transactions if let Some(why) = machine.why_no_movers() => {
                self.note(format!("no moves are left out: {why}"));
                dfs(machine, &mut scratch, &request, progress)
            }
            Algorithm::Transactions => {
                self.reduced = true;
                self.note(
                    "transactions: keeps violated assertions, invariants and run-time errors, not invalid \
                     end states"
                        .into(),
                );
                let outcome = transactions(machine, &mut scratch, &request, progress);
                *self.statistics.forced_completions.get_or_insert(0) +=
                    outcome.counts.forced_completions;
                outcome
            }
            Algorithm::Bfs if std::ptr::eq(machine, &whole) => {
                bfs(machine, &mut scratch, &request, progress)
            }
            Algorithm::Bfs => bfs_of_less(machine, &whole, &mut scratch, &request, progress),
            Algorithm::Stateless => stateless(&Reduced(machine), &mut scratch, &request, progress),
            Algorithm::Lossy(asked) => {
                // A table is used all over, so it must fit into what is free now.
                let free = memory::free_memory().unwrap_or(u64::MAX);
                let table = asked.table(budget.min(free))?;
                let reduced = Reduced(machine);
                let (outcome, omissions) = lossy(&reduced, &mut scratch, &request, table, progress);
                lost = Some((asked, table, omissions));
                outcome
            }
        };
        self.statistics.seconds.search += started.elapsed().as_secs_f64();

        // Threads look ahead of where a search ends: what they met there must not show.
        let ahead =
            matches!(outcome.stopped, Some(Stopped::Errors | Stopped::Limit(Limit::States)));
        self.endless_atomic |= scratch.endless_atomic && !ahead;
        self.tried.resize(scratch.tried().len(), false);
        for (all, new) in self.tried.iter_mut().zip(scratch.tried()) {
            *all |= new;
        }
        self.count(task, &outcome);
        self.explain(task, &outcome);
        if let Some((asked, table, omissions)) = lost {
            self.explain_omissions(task, omissions);
            // Of several searches, the one that lost most has advice.
            if omissions.expected >= self.most_omissions {
                self.most_omissions = omissions.expected;
                self.recommendation = recommend(asked, table, budget, &outcome, omissions);
            }
        }
        self.take_errors(task, outcome.errors)
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
                Watched { claim: *claim, stutters: false, conditions: invariants.clone() };
            Arc::new(optimize_by(program, &watched, passes))
        });
        if optimized.is_none() && !reduces && !movers {
            return Ok(None);
        }
        let reduce = reduces.then_some(Conditions::ALL);
        let options = Options { reduce, movers, ..task.options.clone() };
        self.machine(optimized.unwrap_or_else(|| program.clone()), options).map(Some)
    }

    /// Whether further searches would not be wanted.
    fn is_over(&self) -> bool {
        let enough = self.check.errors > 0 && self.errors.len() >= self.check.errors;
        enough
            || self
                .reasons
                .iter()
                .any(|it| matches!(it.code, ReasonCode::Time | ReasonCode::Interrupt))
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
                    "runs of more than {} steps were left out",
                    check.max_depth.unwrap_or_default()
                ),
            ),
            Some(Stopped::Errors) => (
                ReasonCode::Errors,
                match check.errors {
                    1 => "the search ended with the first error".into(),
                    errors => format!("the search ended with {errors} errors"),
                },
            ),
            Some(Stopped::Limit(limit)) => match limit {
                Limit::States => (
                    ReasonCode::MaxStates,
                    format!("the limit of {} states was hit", check.max_states.unwrap_or_default()),
                ),
                Limit::Time => (
                    ReasonCode::Time,
                    format!(
                        "the time of {} s was over",
                        check.time.unwrap_or_default().as_secs_f64()
                    ),
                ),
                Limit::Memory => (
                    ReasonCode::Memory,
                    format!("the memory of {} MB was used up", self.allowed.div_ceil(1 << 20)),
                ),
                Limit::Interrupt => (ReasonCode::Interrupt, "the search was interrupted".into()),
                Limit::Table => (ReasonCode::Memory, "the table of states was full".into()),
                Limit::Numbers => {
                    (ReasonCode::Numbers, "there are more states than can be numbered".into())
                }
            },
        };
        let counts = &outcome.counts;
        let covered = match outcome.stopped {
            Some(Stopped::Limit(_)) => format!(
                " after {} state{}, {} of them expanded{}",
                counts.states,
                if counts.states == 1 { "" } else { "s" },
                counts.expanded,
                match self.shown {
                    Search::Sweep => String::new(),
                    _ => format!(", up to depth {}", counts.depth),
                }
            ),
            _ => String::new(),
        };
        let whose = if self.many { format!("{}: ", task.name) } else { String::new() };
        self.reasons.push(Reason { code, message: format!("{whose}{message}{covered}") });
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

    /// Replays each error found and adds those that are new.
    fn take_errors(&mut self, task: &Task, found: Vec<Found>) -> Result<(), Error> {
        let program = self.check.model.program.clone();
        for found in found {
            let violation = found.violation;
            let claim = task.options.claim.filter(|_| violation == Violation::ClaimEnd);
            let enough = self.check.errors > 0 && self.errors.len() >= self.check.errors;
            if enough || !self.places.insert((Place::of(violation), claim)) {
                continue;
            }
            confirm(&program, task, &found)?;
            self.errors.push(reported(&program, task, found));
        }
        Ok(())
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
        statistics.seconds = Seconds {
            load: model.load_time.as_secs_f64(),
            total: (model.load_time + self.start.elapsed()).as_secs_f64(),
            ..statistics.seconds
        };
        statistics.states_per_second =
            statistics.states as f64 / statistics.seconds.search.max(1e-9);
        let seen_all = !self.reasons.iter().any(|it| it.code != ReasonCode::NotChecked);
        let claims: Vec<_> = plan.tasks.iter().filter_map(|task| task.options.claim).collect();
        Report {
            schema: Report::SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            model: model.name.clone(),
            verdict,
            complete,
            reasons: self.reasons,
            errors: self.errors,
            statistics: self.statistics,
            search: self.shown.name(),
            guide: "none",
            store: self.method.store().name(),
            por: self.reduced,
            optimize: if self.method.optimizes.is_some() { "full" } else { "none" },
            recommendation: self.recommendation,
            audit: None,
            notes: self.method.notes,
            diagnostics: model
                .warnings
                .iter()
                .map(|warning| ReportedDiagnostic::new(model.source_map(), warning))
                .collect(),
            unreached: if seen_all {
                unreached(&model.program, &self.tried, &claims)
            } else {
                Vec::new()
            },
        }
    }
}

/// Makes sure that the model does what a run says, before anybody is told. The machine is a fresh
/// one, so that nothing the search did to its own can make a wrong run look right.
fn confirm(program: &Arc<Program>, task: &Task, found: &Found) -> Result<(), Error> {
    let machine = Machine::new(program.clone(), task.options.clone(), Arc::default())
        .map_err(|error| Error::Internal(error.describe()))?;
    spinward_trail::confirm(&machine, &found.steps, Some(found.violation), None).map_err(|misfit| {
        Error::Internal(format!(
            "the run to an error ({}) does not replay, {misfit}",
            found.violation.describe(program)
        ))
    })
}

fn reported(program: &Program, task: &Task, found: Found) -> ReportedError {
    let violation = found.violation;
    let element = violation.transition().map(|id| program.element(program.transition(id).element));
    let watcher = match violation {
        Violation::ClaimEnd => task.options.claim,
        Violation::TraceMismatch | Violation::TraceComplete => program.trace,
        _ => None,
    };
    let watcher = watcher.map(|body| program.automaton(body));
    let span = element.map(|it| it.span).or(watcher.map(|it| it.span));
    let condition = violation.condition().map(|number| &program.conditions[number as usize]);
    let property = match (condition, element, watcher) {
        (Some(condition), ..) => condition.text.clone(),
        (_, Some(element), _) => element.text.clone(),
        (_, _, Some(automaton)) => automaton.name.clone(),
        (None, None, None) => "no invalid end state".into(),
    };
    ReportedError {
        kind: violation.kind(),
        property,
        message: violation.describe(program),
        file: span.map(|span| program.source.path(span).display().to_string()),
        line: span.map(|span| program.source.line(span)),
        steps: length(&found.steps),
        cycle_start: None,
        trail: None,
        shortest: found.shortest,
        occurrences: found.occurrences,
        run: found.steps,
        watched: task.options.clone(),
        violation,
    }
}
