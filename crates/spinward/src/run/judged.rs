//! Searches for infinite runs that are errors.

use std::sync::Arc;
use std::time::Instant;

use spinward_guide::{Guide, Subject, Unguided};
use spinward_machine::{Fair, Follower, Labelled, Machine, Options, Product, System, Violation};
use spinward_program::Program;
use spinward_program::follow::Followed;
use spinward_program::independence::Conditions;
use spinward_program::ir::{BodyId, Formula};
use spinward_program::optimize::{Pass, Watched, optimize_by};
use spinward_property::{Automaton, Edge, Label, is_stutter_invariant, translate};
use spinward_search::directed::Range;
use spinward_search::emptiness::astar_indfs::astar_indfs;
use spinward_search::emptiness::indfs::indfs;
use spinward_search::emptiness::ndfs::ndfs;
use spinward_search::emptiness::parallel::parallel;
use spinward_search::emptiness::scc::ordered;
use spinward_search::emptiness::se05::se05;
use spinward_search::emptiness::strong::strong;
use spinward_search::emptiness::tau03::tau03;
use spinward_search::reduced::Reduced;
use spinward_search::{Found, Outcome, Progress, Request};

use super::confirm::is_fair;
use super::directed::patience;
use super::{Lost, Running, Systems, take_broken_claim};
use crate::Error;
use crate::memory;
use crate::options::{Fairness, Search, Store};
use crate::plan::{Algorithm, Emptiness, Judge, Task};
use crate::report::{Reason, ReasonCode};

/// What is looked for, and who tells.
pub(super) struct Judging<'a> {
    pub task: &'a Task,
    pub judge: Judge,
    pub follower: Option<&'a Follower>,
    /// Whether who judges cannot tell how often a state is repeated.
    pub stutters: bool,
    /// The memory in use before there was anything of it.
    before: u64,
}

/// What a search found out.
pub(super) struct Judged {
    pub outcome: Outcome,
    lost: Option<Lost>,
    pub budget: u64,
    reduces: bool,
    /// Whether something was left out, so that runs may be longer than need be.
    pub is_less: bool,
    pub searched: Arc<Program>,
}

impl Running<'_> {
    /// Runs a search for infinite runs that are errors, and for what is wrong on the way; tells if it counted on
    /// what a process claims, and that does not hold.
    pub(super) fn run_judged(
        &mut self,
        task: &Task,
        judge: Judge,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Violation>, Error> {
        let program = self.check.model.program.clone();
        let before = memory::own_memory();
        if self.disk.is_none()
            && let Some(judged) = self.judge_followed(task, judge, before, progress)?
        {
            let judging = Judging { task, judge, follower: None, stutters: true, before };
            return self.take_judged(&judging, Fairness::None, judged, progress);
        }
        let follower = self.follower(&program, judge)?;
        let is_terminal = follower.as_ref().is_some_and(Follower::is_terminal);
        let left_out = if self.check.max_depth.is_some() {
            Some("--max-depth leaves out what never ends")
        } else if self.disk.is_some() {
            Some("--disk is for what goes wrong after finitely many steps")
        } else {
            None
        };
        if let Some(why) = left_out.filter(|_| !is_terminal) {
            let message = format!("{} is not checked: {why}", task.name);
            self.reasons.push(Reason { code: ReasonCode::NotChecked, message });
            return Ok(None);
        }
        if !is_terminal {
            self.note_exact_states();
        }
        // Fairness makes no difference to what is wrong after finitely many steps: each such run goes on to a fair
        // one.
        let fairness = if is_terminal { Fairness::None } else { self.check.fairness };
        let stutters = self.stutters(&program, task, judge);
        let judging = Judging { task, judge, follower: follower.as_ref(), stutters, before };
        // Where no run at all is wrong, no fair one is; and that takes less to see, as more may be left out.
        let first = fairness != Fairness::None
            && stutters
            && (self.method.reduces || self.method.optimizes.is_some());
        if first {
            let judged = self.judge_with(&judging, Fairness::None, progress)?;
            let is_fair = |found: &Found| {
                found.violation == Violation::Cycle
                    && is_fair(&self.check.model, task, fairness, found)
            };
            if judged.outcome.errors.iter().all(is_fair) {
                return self.take_judged(&judging, fairness, judged, progress);
            }
        }
        let judged = self.judge_with(&judging, fairness, progress)?;
        self.take_judged(&judging, fairness, judged, progress)
    }

    /// What a search finds out that follows runs by a claim's automaton, with moves left out, if it finds nothing
    /// wrong. Else the claim itself is to tell what is.
    fn judge_followed(
        &mut self,
        task: &Task,
        judge: Judge,
        before: u64,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Judged>, Error> {
        let program = self.check.model.program.clone();
        let is_asked = |&claim: &BodyId| task.options.claim == Some(claim);
        let number = program.claims.iter().position(is_asked);
        let followed = number.and_then(|number| program.followed[number].as_ref());
        let reduces = self.method.reduces && self.check.max_depth.is_none();
        let Some(Followed { automaton, atoms }) =
            followed.filter(|followed| reduces && is_stutter_invariant(&followed.automaton))
        else {
            return Ok(None);
        };
        let (watched, visible) = (atoms.clone(), atoms.clone());
        let options = Options { claim: None, watched, visible, ..task.options.clone() };
        let task = &Task { name: task.name.clone(), options, judge: task.judge };
        let follower = Follower::new(automaton.clone(), true);
        let judging = Judging { task, judge, follower: Some(&follower), stutters: true, before };
        let mut kinds = vec![Fairness::None, self.check.fairness];
        kinds.dedup();
        for fairness in kinds {
            let judged = self.judge_with(&judging, fairness, progress)?;
            if judged.outcome.errors.is_empty() {
                return Ok(Some(judged));
            }
        }
        Ok(None)
    }

    /// Searches with fairness to this degree.
    fn judge_with(
        &mut self,
        &Judging { task, follower, stutters, before, .. }: &Judging<'_>,
        fairness: Fairness,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Judged, Error> {
        let program = self.check.model.program.clone();
        let less = self.machine_of_less_to_judge(&program, task, stutters, fairness)?;
        let exclusive = less.as_ref().is_some_and(|less| less.options().exclusive);
        let options = Options { exclusive, ..task.options.clone() };
        let whole = self.machine(program, options)?;
        let machine = less.as_ref().unwrap_or(&whole);
        let budget = self.budget.saturating_sub(memory::own_memory().saturating_sub(before));
        // Where something is left out, shorter runs are looked for later.
        let is_terminal = follower.is_some_and(Follower::is_terminal);
        let shortest = self.check.shortest && (less.is_none() || is_terminal);
        let request = Request { shortest, ..self.request(budget) };
        let (started, made) = (Instant::now(), self.statistics.seconds.guide);
        let mut lost = None;
        let is_guided = is_terminal || self.method.emptiness == Emptiness::GuidedNested;
        let target = if is_guided { self.target(&whole)? } else { None };
        let target = target.as_ref();
        let patience = patience(&request.limits);
        let subject = |machine| Subject { machine, follower, target, symmetric: false, patience };
        let outcome = match follower {
            None => {
                let labelled = Labelled::new(machine);
                let scratch = &mut labelled.scratch();
                let subject = &subject(machine);
                let outcome =
                    self.judge(&labelled, scratch, fairness, &request, subject, progress)?;
                self.note_endless(&outcome, scratch);
                outcome
            }
            Some(follower) => {
                let product = Product::new(machine, follower);
                let scratch = &mut product.scratch();
                let outcome = if is_terminal {
                    let product_of_whole = Product::new(&whole, follower);
                    let systems = Systems {
                        whole: &product_of_whole,
                        less: less.is_some(),
                        reduces: machine.reduces(),
                        subject: subject(machine),
                        whole_subject: subject(&whole),
                    };
                    let found = self.search(&product, scratch, systems, &request, progress)?;
                    lost = found.1;
                    found.0
                } else {
                    let subject = &subject(machine);
                    self.judge(&product, scratch, fairness, &request, subject, progress)?
                };
                self.note_endless(&outcome, scratch.machine());
                outcome
            }
        };
        self.note_search_time(started, made);
        let (reduces, searched) = (machine.reduces(), machine.program().clone());
        let is_less = less.is_some();
        Ok(Judged { outcome, lost, budget, reduces, is_less, searched })
    }

    /// Reports what a search found out; or the violation, if it counted on what a process claims, and that does not
    /// hold.
    fn take_judged(
        &mut self,
        judging: &Judging<'_>,
        fairness: Fairness,
        mut judged: Judged,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Violation>, Error> {
        let met = self.take_met();
        if !judging.follower.is_some_and(Follower::is_terminal) {
            self.tell_shorter(judging, fairness, &mut judged, progress)?;
        }
        let task = judging.task;
        let Judged { mut outcome, lost, budget, reduces, searched, .. } = judged;
        self.reduced |= reduces;
        if let Some(broken) = take_broken_claim(&mut outcome) {
            return Ok(Some(broken));
        }
        if outcome.errors.iter().any(|it| it.violation == Violation::TooManyForFairness) {
            outcome.errors.retain(|it| it.violation != Violation::TooManyForFairness);
            outcome.counts.errors = outcome.counts.errors.saturating_sub(1);
            outcome.stopped = None;
            let message = format!("{}: more processes than fairness can be judged for", task.name);
            self.reasons.push(Reason { code: ReasonCode::NotChecked, message });
        }
        self.note_decision(met, &outcome);
        self.count(task, &outcome);
        self.explain(task, &outcome);
        self.explain_lost(task, lost, budget, &outcome);
        self.take_errors(task, &searched, outcome.errors, None)?;
        Ok(None)
    }

    /// Says what does not count where infinite runs are looked for.
    fn note_exact_states(&mut self) {
        let store = self.method.store();
        if matches!(store, Store::Bitstate | Store::Compact)
            || self.method.algorithm == Algorithm::Stateless
        {
            self.note(format!(
                "for cycles all states are remembered, not as the store '{store}' does"
            ));
        }
        if self.method.symmetric {
            self.note("--symmetry has no effect on cycles".into());
        }
    }

    /// Who follows runs and accepts those that are errors; none if labels of the model tell.
    fn follower(&self, program: &Program, judge: Judge) -> Result<Option<Follower>, Error> {
        let follower = match judge {
            Judge::Labels => return Ok(None),
            Judge::NonProgress => Follower::new(no_progress(), false),
            Judge::Automaton => {
                let Some(claim) = &self.check.model.claim else {
                    return Err(Error::Internal("there is no claim".into()));
                };
                if claim.states.len() > usize::from(u16::MAX) {
                    return Err(Error::Usage("the claim has more than 65535 states".into()));
                }
                Follower::new(Automaton::clone(claim), true)
            }
            Judge::Formula(number) => {
                let formula = &program.formulas[number];
                let wrong = translate(&formula.temporal.not())
                    .map_err(|why| Error::Usage(format!("{why}: '{}'", formula.text)))?;
                Follower::new(wrong, true)
            }
        };
        Ok(Some(follower))
    }

    /// A machine that leaves out what makes no difference to who judges, if it may.
    ///
    /// Moves are left out, or made at once, only where nobody can tell. Who is fair to all sees who could move.
    fn machine_of_less_to_judge(
        &mut self,
        program: &Arc<Program>,
        task: &Task,
        stutters: bool,
        fairness: Fairness,
    ) -> Result<Option<Machine>, Error> {
        let fair = fairness != Fairness::None;
        let reduces = self.method.reduces && stutters;
        let optimized = self.method.optimizes.map(|passes| {
            let passes: Vec<_> =
                passes.iter().copied().filter(|&it| it != Pass::Merge || stutters).collect();
            let conditions = task.options.conditions();
            let watched = Watched { claim: task.options.claim, stutters, fair, conditions };
            Arc::new(optimize_by(program, &watched, &passes))
        });
        if optimized.is_none() && !reduces {
            return Ok(None);
        }
        let reduce = reduces.then_some(if fair { Conditions::FAIR } else { Conditions::ALL });
        let exclusive = task.options.exclusive && reduces;
        let options = Options { reduce, exclusive, ..task.options.clone() };
        self.machine(optimized.unwrap_or_else(|| program.clone()), options).map(Some)
    }

    /// Whether who judges cannot tell how often a state is repeated: a formula without `X` does not see that, nor does
    /// who looks for labels.
    fn stutters(&self, program: &Program, task: &Task, judge: Judge) -> bool {
        let asks_timeout = |&atom: &u32| program.conditions[atom as usize].asks_timeout;
        match judge {
            Judge::Formula(number) => {
                let Formula { temporal, atoms, .. } = &program.formulas[number];
                temporal.stutter_invariant() && !atoms.iter().any(asks_timeout)
            }
            Judge::Automaton => {
                self.check.model.claim.as_ref().is_some_and(|it| is_stutter_invariant(it))
            }
            // A claim may count states.
            Judge::Labels => task.options.claim.is_none(),
            Judge::NonProgress => true,
        }
    }

    /// Looks for runs that are errors, of those that are fair.
    fn judge<S: System>(
        &mut self,
        system: &S,
        scratch: &mut S::Scratch,
        fairness: Fairness,
        request: &Request,
        subject: &Subject<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, Error> {
        let emptiness = self.method.emptiness;
        self.shown = emptiness.search();
        self.explain_choice(format!("{} looked for infinite runs that are wrong", self.shown));
        let guide = self.guide_to_cycles(subject)?;
        if let (None, Some(wanted)) = (&guide, &self.check.guide) {
            self.note(format!(
                "the guide '{wanted}' was not followed: infinite runs were looked for by the search '{}'; one that \
                 follows a guide is --search astar-indfs",
                self.shown
            ));
        }
        let looking = Looking { emptiness, guide: guide.as_deref().unwrap_or(&Unguided) };
        let fairness = match fairness {
            Fairness::None => None,
            Fairness::Weak => Some(spinward_machine::Fairness::Weak),
            Fairness::Strong => Some(spinward_machine::Fairness::Strong),
        };
        let (outcome, range) = match fairness {
            None => looking.check(system, scratch, request, progress),
            Some(fairness) => {
                let fair = &Fair::new(system, fairness);
                if fair.pairs() > 0 {
                    self.shown = Search::Scc;
                }
                let mut room = fair.scratch();
                let found = looking.check(fair, &mut room, request, progress);
                system.absorb(scratch, room.into_inner());
                found
            }
        };
        match range {
            Some(range) => self.note_range(range),
            // Nobody has asked it.
            None if guide.is_some() => self.guide = "none".into(),
            None => {}
        }
        Ok(outcome)
    }
}

/// How a run that is an error is looked for.
struct Looking<'g> {
    emptiness: Emptiness,
    guide: &'g dyn Guide,
}

impl Looking<'_> {
    /// Looks for a run that is an error, among those that need be looked at; tells the range of the estimates, if there were
    /// any.
    fn check<S: System>(
        &self,
        system: &S,
        scratch: &mut S::Scratch,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> (Outcome, Option<Range>) {
        if system.reduces() {
            self.check_all(&Reduced(system), scratch, request, progress)
        } else {
            self.check_all(system, scratch, request, progress)
        }
    }

    /// Looks for a run that is an error.
    fn check_all<S: System>(
        &self,
        system: &S,
        scratch: &mut S::Scratch,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> (Outcome, Option<Range>) {
        if system.pairs() > 0 {
            return (strong(system, scratch, request, progress), None);
        }
        let outcome = match self.emptiness {
            Emptiness::Components(order) => ordered(system, scratch, request, order, progress),
            Emptiness::Nested => ndfs(system, scratch, request, progress),
            Emptiness::ImprovedNested => indfs(system, scratch, request, progress),
            Emptiness::GuidedNested => {
                let (outcome, range) = astar_indfs(system, scratch, request, self.guide, progress);
                return (outcome, Some(range));
            }
            Emptiness::SchwoonEsparza => se05(system, scratch, request, progress),
            Emptiness::Tauriainen => tau03(system, scratch, request, progress),
            Emptiness::Parallel => parallel(system, scratch, request, progress),
        };
        (outcome, None)
    }
}

/// Accepts runs that from some time on make no progress: SPIN's own claim for that.
fn no_progress() -> Automaton {
    let edge = |label: Label, marks, to| Edge { label, marks, to };
    let np = || Label::literal(0, true);
    let states = vec![vec![edge(np(), 0, 1), edge(Label::truth(), 0, 0)], vec![edge(np(), 1, 1)]];
    Automaton { atoms: 1, sets: 1, initial: 0, states }
}
