//! Fits a trail of SPIN to the model.
//!
//! The lines of a trail say who moves and with which statement, and mostly that names one of the
//! machine's moves. Not always: SPIN by default merges a chain of statements that always can be
//! done into one line, and its breadth-first search leaves out the moves of the claim. So after a
//! line of such a trail the process is taken through the statements SPIN would have merged, each the
//! only way on and always possible, up to the statement of its next line. How far SPIN went is not
//! known where a process has no next line; then it goes on as soon as the line of another asks for
//! it, a `timeout` say. Where the claim must move but has no line, all its moves are tried, the
//! search stepping back when one leads nowhere.

use std::collections::{HashMap, HashSet};

use spinward_machine::{Config, Machine, Move, Options, Step, Violation};
use spinward_program::Program;
use spinward_program::ir::{Action, BodyId, ElementId, Expr, Place, Space, Transition};

use crate::replay::{Misfit, Walker, alternatives, goes_round, mover_name, not_alive, same_place};
use crate::spin_format::{Line, Trail};

/// The claim's ways that are tried before giving up; only trails that leave out the claim's moves
/// need more than one.
const MAX_CHOICES: usize = 200_000;
/// How often a cycle is gone round until it comes back.
const MAX_LAPS: usize = 100;

const EXTRA_LINE: &str = "the last line of the trail is left out: SPIN adds one that has no \
    meaning after an event that a trace does not allow";

const ENDS_BEFORE: &str = "the run ends here with an error, but the trail goes on";

/// A trail in the machine's own terms.
#[derive(Clone, Debug, Default)]
pub struct Fitted {
    /// The steps.
    pub steps: Vec<Step>,
    /// How many of them come before the cycle.
    pub cycle_start: Option<usize>,
    /// What a user should know about the fit.
    pub notes: Vec<String>,
}

/// What to watch when a trail is replayed: the claim it was made with, if the model has it. Tells
/// also what a user should know.
pub fn options(program: &Program, trail: &Trail) -> (Options, Vec<String>) {
    let mut notes = Vec::new();
    let known = |claim: &BodyId| program.claims.contains(claim);
    let non_progress = trail.lines.iter().any(|line| line.is_non_progress_claim());
    match trail.claim {
        Some(_) if non_progress => notes.push(
            "the trail was made by a search for non-progress cycles; it is replayed without \
             SPIN's claim for them"
                .into(),
        ),
        Some(claim) if claim.0 as usize >= program.automata.len() => notes.push(
            "the trail was made for an ltl property, or with a claim from a file (--claim FILE); it \
             is replayed without that claim"
                .into(),
        ),
        Some(claim) if !known(&claim) => notes.push(format!(
            "the trail was made with body number {} as its claim, which is no never claim of this \
             model; it is replayed without a claim",
            claim.0
        )),
        _ => {}
    }
    let claim = trail.claim.filter(known).filter(|_| !non_progress);
    let options = Options {
        claim,
        end_states: trail.claim.is_none() && trail.cycle_start.is_none(),
        assertions: true,
        trace: true,
        ..Options::default()
    };
    (options, notes)
}

/// The formula whose claim, as SPIN makes it, moves in a trail, by its number in the program. SPIN numbers these claims
/// after all bodies of the model.
pub fn formula(program: &Program, trail: &Trail) -> Option<usize> {
    let number = (trail.claim?.0 as usize).checked_sub(program.automata.len())?;
    let non_progress = trail.lines.iter().any(|line| line.is_non_progress_claim());
    (number < program.formulas.len() && !non_progress).then_some(number)
}

/// Fits a trail to the model. The machine should watch what [`options`] says.
pub fn fit(machine: &Machine, trail: &Trail) -> Result<Fitted, Misfit> {
    let claim = machine.options().claim.is_some();
    let lines: Vec<Line> =
        trail.lines.iter().filter(|line| claim || !line.is_claim()).copied().collect();
    // Lines of a claim that is not replayed do not count.
    let cycle_line = trail.cycle_start.map(|start| {
        let before = trail.lines[..start].iter();
        before.filter(|line| claim || !line.is_claim()).count()
    });
    let lap_lines = cycle_line.map_or(0, |first| lines.len() - first);
    let mut fitter = Fitter {
        walker: Walker::new(machine),
        claim_left_out: claim && !lines.iter().any(|line| line.is_claim()),
        first_fit: None,
        lines_of: HashMap::new(),
        merged: trail.merged,
        violated: false,
        bad_event: None,
        lines,
        cycle_line,
        laps: Vec::new(),
        lap_lines,
        cycle_start: None,
        steps: Vec::new(),
        choices: Vec::new(),
        seen: HashSet::new(),
        furthest: None,
        stuck_at: None,
    };
    fitter.check_statements()?;
    fitter.look_ahead();
    let mut notes = fitter.run()?;
    if let Some((start, _)) = &fitter.cycle_start
        && fitter.steps.len() == *start
    {
        notes.push("the cycle of the trail has no steps".into());
    }
    Ok(Fitted {
        steps: fitter.steps,
        cycle_start: fitter.cycle_start.map(|(start, _)| start),
        notes,
    })
}

/// The steps before the cycle, and where it starts.
type CycleStart = (usize, Config);

/// A place to come back to: a move of the claim that is not yet tried.
struct Choice {
    line: usize,
    config: Config,
    steps: usize,
    claim_step: Vec<Step>,
    cycle_start: Option<CycleStart>,
}

struct Fitter<'a> {
    walker: Walker<'a>,
    /// Whether the claim moves, but has no lines.
    claim_left_out: bool,
    /// The first way through all lines that was found, if it shows no error and others are tried.
    first_fit: Option<(Vec<Step>, Option<CycleStart>)>,
    lines: Vec<Line>,
    /// Whether SPIN merged statements.
    merged: bool,
    /// If it did, by process: its lines.
    lines_of: HashMap<u16, Vec<usize>>,
    /// Whether something went wrong in the last line taken.
    violated: bool,
    /// Where the last event was that a trace does not allow: the lines and steps up to it, and what
    /// it led to.
    bad_event: Option<(usize, usize, Config)>,
    /// The line the cycle starts with.
    cycle_line: Option<usize>,
    /// Where the laps of the cycle began that were gone through, but for the last.
    laps: Vec<CycleStart>,
    /// How many lines the cycle has.
    lap_lines: usize,
    cycle_start: Option<CycleStart>,
    steps: Vec<Step>,
    choices: Vec<Choice>,
    seen: HashSet<(usize, Vec<u8>)>,
    furthest: Option<(usize, Misfit)>,
    /// A line that did not fit at once, and what to say if it never does.
    stuck_at: Option<(usize, String)>,
}

impl Fitter<'_> {
    /// Every statement must be one of the model.
    fn check_statements(&self) -> Result<(), Misfit> {
        let program = self.walker.machine.program();
        for line in &self.lines {
            if line.element.0 as usize >= program.elements.len() {
                return Err(Misfit {
                    index: 0,
                    message: format!(
                        "line {} of the trail: the model has no statement number {} (they go up \
                         to {}); was the trail made from another version of the model?",
                        line.number,
                        line.element.0,
                        program.elements.len().saturating_sub(1)
                    ),
                });
            }
        }
        Ok(())
    }

    /// Finds the lines of each process.
    fn look_ahead(&mut self) {
        if !self.merged {
            return;
        }
        self.lines_of.clear();
        for (index, line) in self.lines.iter().enumerate() {
            self.lines_of.entry(line.process).or_default().push(index);
        }
    }

    /// Whether a process has a line before this one, and the statement of its next, from this line on; after the last
    /// line comes the cycle once more.
    fn around(&self, line: usize, process: u16) -> (bool, Option<ElementId>) {
        let lines = self.lines_of.get(&process).map_or(&[][..], Vec::as_slice);
        let before = lines.partition_point(|&it| it < line);
        let again = self.cycle_line.map(|first| lines.partition_point(|&it| it < first));
        let next = lines.get(before).or_else(|| lines.get(again?));
        (before > 0, next.map(|&next| self.lines[next].element))
    }

    /// Goes through all lines; gives what a user should know.
    fn run(&mut self) -> Result<Vec<String>, Misfit> {
        let mut line = 0;
        let mut notes = Vec::new();
        loop {
            if self.cycle_line == Some(line) && self.cycle_start.is_none() {
                self.cycle_start = Some((self.steps.len(), self.walker.config.clone()));
            }
            if line == self.lines.len() {
                if self.another_lap() {
                    continue;
                }
                if self.merged && !self.violated {
                    self.finish_merged();
                }
                if !self.violated && self.walker.moves().1.is_empty() && self.drop_extra_line() {
                    notes.push(EXTRA_LINE.into());
                    return Ok(notes);
                }
                if !self.claim_left_out || self.ends_in_error() {
                    return Ok(notes);
                }
                // The claim may have moved in another way, one that ends in the error.
                if self.first_fit.is_none() {
                    self.first_fit = Some((self.steps.clone(), self.cycle_start.clone()));
                }
                match self.next_choice()? {
                    Some(earlier) => line = earlier,
                    None => return Ok(notes),
                }
                continue;
            }
            let (moves, wrong) = self.walker.moves();
            if let Some((chosen, taken)) = self.matching(&moves, line) {
                let chosen = chosen.clone();
                if self.take(&chosen) {
                    self.violated = !chosen.violations.is_empty();
                    if chosen.violations.iter().any(|v| v.kind() == "trace") {
                        let config = self.walker.config.clone();
                        self.bad_event = Some((line + taken, self.steps.len(), config));
                    }
                    for (moved, &step) in chosen.steps.iter().enumerate() {
                        self.take_merged(line + moved, step);
                    }
                    line += taken;
                    continue;
                }
                // A violation ends the run here.
                self.violated = true;
                line += taken;
                if line == self.lines.len() {
                    return Ok(notes);
                }
                if self.is_superfluous(line, &[]) {
                    notes.push(self.left_out(line));
                    return Ok(notes);
                }
                self.give_up(line, ENDS_BEFORE.into());
            } else if self.claim_turn(&moves) && !self.lines[line].is_claim() {
                self.fork(line, &moves);
            } else if let Some(silent) = self.silent(&moves, self.lines[line].process) {
                let silent = silent.clone();
                self.remember_stuck(&moves, line);
                if self.take(&silent) {
                    continue;
                }
                self.give_up(line, ENDS_BEFORE.into());
            } else if self.is_superfluous(line, &wrong) {
                notes.push(self.left_out(line));
                return Ok(notes);
            } else if line + 1 == self.lines.len() && self.drop_extra_line() {
                notes.push(EXTRA_LINE.into());
                return Ok(notes);
            } else if self.goes_wrong(line, &wrong) {
                notes.push(
                    "the last line of the trail is left out: it is not possible, and what went \
                     wrong is that it was looked at"
                        .into(),
                );
                return Ok(notes);
            } else if let Some(silent) = self.unfinished(&moves, line) {
                let silent = silent.clone();
                self.remember_stuck(&moves, line);
                if self.take(&silent) {
                    continue;
                }
                self.give_up(line, ENDS_BEFORE.into());
            } else {
                // If going on did not help, what matters is where the line was first tried.
                let first = self.stuck_at.take().filter(|(stuck, _)| *stuck == line);
                let message = first
                    .map_or_else(|| self.cannot(&moves, self.lines[line]), |(_, message)| message);
                self.give_up(line, message);
            }
            match self.next_choice()? {
                Some(earlier) => line = earlier,
                None => return Ok(notes),
            }
        }
    }

    /// Whether there is an error after the last line, if need be after one more move of the claim.
    fn ends_in_error(&mut self) -> bool {
        let (moves, wrong) = self.walker.moves();
        if !wrong.is_empty() || self.cycle_start.is_some() {
            return true;
        }
        let end = self.walker.config.clone();
        for m in moves.iter().filter(|m| m.steps[0].is_claim()) {
            if !self.take(m) || !m.violations.is_empty() || !self.walker.moves().1.is_empty() {
                return true;
            }
            self.steps.pop();
            self.walker.config = end.clone();
        }
        false
    }

    /// Whether the run shows an error before the last line of the trail, so that this may be one of
    /// those that SPIN adds: its breadth-first search to a deadlock, its depth-first search when it
    /// goes on after an error.
    fn is_superfluous(&self, line: usize, wrong: &[Violation]) -> bool {
        let ends_the_run = |violation: &Violation| {
            matches!(
                violation,
                Violation::InvalidEndState | Violation::TraceUnfinished | Violation::ClaimEnd
            )
        };
        line + 1 == self.lines.len() && (self.violated || wrong.iter().any(ends_the_run))
    }

    fn left_out(&self, line: usize) -> String {
        format!(
            "the last line of the trail (line {}) is left out: it is not possible there, and the \
             run shows an error before it. SPIN sometimes adds such a line",
            self.lines[line].number
        )
    }

    /// The move the line (and for a rendezvous the next) stands for, and how many lines that are. A
    /// rendezvous whose send is wrong may end the trail with its first half.
    fn matching<'m>(&self, moves: &'m [Move], line: usize) -> Option<(&'m Move, usize)> {
        let program = self.walker.machine.program();
        let rest = &self.lines[line..];
        let fits = |m: &&Move| {
            m.steps.iter().zip(rest).all(|(step, line)| {
                step.process == line.process
                    && program.transition(step.transition).element == line.element
            })
        };
        let whole = |m: &&Move| m.steps.len() <= rest.len();
        let fitting = moves.iter().filter(fits);
        let best = fitting.clone().filter(whole).max_by_key(|m| m.steps.len());
        let wrong = || fitting.clone().find(|m| !m.violations.is_empty());
        best.or_else(wrong).map(|best| (best, best.steps.len().min(rest.len())))
    }

    /// The next step of a merged chain: of the process that keeps all others from moving, or of the
    /// one that shall move.
    fn silent<'m>(&self, moves: &'m [Move], process: u16) -> Option<&'m Move> {
        if !self.merged {
            return None;
        }
        let program = self.walker.machine.program();
        let process = self.walker.config.exclusive.unwrap_or(process);
        moves.iter().find(|m| m.steps[0].process == process && is_silent(program, m))
    }

    /// A step of a merged chain that another process may have begun with an earlier line. It touches nothing
    /// but variables of that process, but as long as it is possible there is no `timeout`.
    fn unfinished<'m>(&self, moves: &'m [Move], line: usize) -> Option<&'m Move> {
        if !self.merged {
            return None;
        }
        let program = self.walker.machine.program();
        moves.iter().find(|m| {
            let Step { process, transition } = m.steps[0];
            let transition = program.transition(transition);
            let (began, next) = self.around(line, process);
            began
                && next != Some(transition.element)
                && is_silent(program, m)
                && is_local(&transition.action)
                && !is_labelled(program, transition)
        })
    }

    /// Notes what is wrong with a line where it is first tried.
    fn remember_stuck(&mut self, moves: &[Move], line: usize) {
        if self.stuck_at.as_ref().is_none_or(|(stuck, _)| *stuck != line) {
            self.stuck_at = Some((line, self.cannot(moves, self.lines[line])));
        }
    }

    fn claim_turn(&self, moves: &[Move]) -> bool {
        moves.iter().any(|m| m.steps[0].is_claim())
    }

    /// Takes a move; false if it ends the run.
    fn take(&mut self, chosen: &Move) -> bool {
        self.steps.extend(&chosen.steps);
        match &chosen.next {
            Some(next) => {
                self.walker.config = next.clone();
                true
            }
            None => false,
        }
    }

    /// Takes a process through the statements SPIN merged with its step for a line: all before the
    /// statement of its next line. If it has no more lines, what matters of them is the processes
    /// they create.
    fn take_merged(&mut self, line: usize, step: Step) {
        if !self.merged {
            return;
        }
        let (_, next) = self.around(line + 1, step.process);
        let program = self.walker.machine.program().clone();
        let mut last = program.transition(step.transition);
        let mut end = (self.steps.len(), self.walker.config.clone());
        for _ in 0..program.transitions.len() {
            let automaton = program.automaton(last.body);
            let mut ways = automaton.state(last.to).transition_ids();
            if next.is_some() && ways.any(|id| Some(program.transition(id).element) == next) {
                return;
            }
            let (moves, _) = self.walker.moves();
            let Some(silent) =
                moves.iter().find(|m| m.steps[0].process == step.process && is_silent(&program, m))
            else {
                break;
            };
            last = program.transition(silent.steps[0].transition);
            let alone = self.walker.config.exclusive == Some(step.process);
            if is_labelled(&program, last)
                || !(alone || is_local(&last.action))
                || !self.take(silent)
            {
                break;
            }
            if next.is_none() && matches!(last.action, Action::Run { .. }) {
                end = (self.steps.len(), self.walker.config.clone());
            }
        }
        self.steps.truncate(end.0);
        self.walker.config = end.1;
    }

    /// Goes back before the last line, if the one before it showed what a trace does not allow: SPIN
    /// adds a line to such trails, left over from an earlier run.
    fn drop_extra_line(&mut self) -> bool {
        match self.bad_event.take() {
            Some((lines, steps, config)) if lines + 1 == self.lines.len() => {
                self.steps.truncate(steps);
                self.walker.config = config;
                true
            }
            _ => false,
        }
    }

    /// Whether the rest of the trail is what SPIN looked at when it went wrong, without its being
    /// possible: a statement, or the two halves of a rendezvous.
    fn goes_wrong(&self, line: usize, wrong: &[Violation]) -> bool {
        let program = self.walker.machine.program();
        let rest = &self.lines[line..];
        rest.len() <= 2
            && wrong.iter().filter_map(|violation| violation.transition()).any(|id| {
                Some(program.transition(id).element) == rest.last().map(|line| line.element)
            })
    }

    /// Remembers all moves of the claim, to be tried in their order.
    fn fork(&mut self, line: usize, moves: &[Move]) {
        let mut key = self.walker.config.state.clone();
        key.push(u8::from(self.walker.config.system_turn));
        if !self.seen.insert((line, key)) {
            return;
        }
        for m in moves.iter().rev().filter(|m| m.steps[0].is_claim()) {
            if let Some(next) = &m.next {
                self.choices.push(Choice {
                    line,
                    config: next.clone(),
                    steps: self.steps.len(),
                    claim_step: m.steps.clone(),
                    cycle_start: self.cycle_start.clone(),
                });
            }
        }
    }

    fn give_up(&mut self, line: usize, message: String) {
        if self.furthest.as_ref().is_none_or(|(best, _)| line > *best) {
            let misfit = Misfit {
                index: self.steps.len(),
                message: format!("line {} of the trail: {message}", self.lines[line].number),
            };
            self.furthest = Some((line, misfit));
        }
    }

    /// Goes on with the latest choice that is left, from its line; none if there is no choice left
    /// and the first way through all lines must do.
    fn next_choice(&mut self) -> Result<Option<usize>, Misfit> {
        if self.seen.len() < MAX_CHOICES
            && let Some(choice) = self.choices.pop()
        {
            self.steps.truncate(choice.steps);
            self.steps.extend(choice.claim_step);
            self.walker.config = choice.config;
            self.cycle_start = choice.cycle_start;
            self.laps.retain(|(steps, _)| *steps <= choice.steps);
            return Ok(Some(choice.line));
        }
        if let Some(first_fit) = self.first_fit.take() {
            (self.steps, self.cycle_start) = first_fit;
            return Ok(None);
        }
        let message = "the moves of the claim, which the trail leaves out, cannot be found";
        let unknown = || Misfit { index: self.steps.len(), message: message.into() };
        Err(self.furthest.take().map_or_else(unknown, |(_, misfit)| misfit))
    }

    /// A cycle comes back to where it started; but chains that SPIN merged may make the first lap
    /// differ, and variables that nobody reads may make several laps of it. Then the cycle is what
    /// comes back in later laps.
    fn another_lap(&mut self) -> bool {
        let (Some(start), Some(first)) = (self.cycle_start.clone(), self.cycle_line) else {
            return false;
        };
        self.laps.push(start);
        let (machine, here) = (self.walker.machine, &self.walker.config);
        if let Some(lap) = self.laps.iter().find(|lap| same_place(machine, &lap.1, here)) {
            self.cycle_start = Some(lap.clone());
            return false;
        }
        let lap = first..first + self.lap_lines;
        if lap.is_empty() || self.lines.len() - first >= MAX_LAPS * lap.len() {
            self.go_back_to_first_lap();
            return false;
        }
        self.lines.extend_from_within(lap);
        self.look_ahead();
        self.cycle_start = Some((self.steps.len(), self.walker.config.clone()));
        true
    }

    /// One lap is as good as many, if they only differ in what nobody looks at.
    fn go_back_to_first_lap(&mut self) {
        if let [start, (end, config), ..] = &self.laps[..]
            && goes_round(self.walker.machine, &self.steps[..*end], start.0)
        {
            self.steps.truncate(*end);
            self.walker.config = config.clone();
            self.cycle_start = Some(start.clone());
        }
    }

    /// After the last line: goes on through the merged statements it stands for, as long as that
    /// leads to an error, or if the run stays there for ever to where it does; first those of the last process, then
    /// those of all. The claim, which SPIN does not ask in between, goes on in any way.
    fn finish_merged(&mut self) {
        let stays = self.cycle_start.is_some();
        if stays && self.lap_lines > 0 {
            return;
        }
        let fitted = self.steps.len();
        let end = self.walker.config.clone();
        let last = self.steps.last().map(|step| step.process);
        for only in [last, None] {
            let limit = self.walker.machine.program().transitions.len() + 1;
            // Each statement may need a move of the claim before it.
            for _ in 0..2 * limit {
                let (moves, wrong) = self.walker.moves();
                if !wrong.is_empty() {
                    return;
                }
                if stays && moves.is_empty() {
                    self.cycle_start = Some((self.steps.len(), self.walker.config.clone()));
                    return;
                }
                let program = self.walker.machine.program();
                let goes_on = |m: &&Move| match m.steps[0].process {
                    Step::CLAIM => m.violations.is_empty(),
                    process => only.is_none_or(|only| only == process) && is_silent(program, m),
                };
                let Some(silent) = moves.iter().find(goes_on).cloned() else {
                    break;
                };
                if !self.take(&silent) || !silent.violations.is_empty() {
                    return;
                }
            }
        }
        self.steps.truncate(fitted);
        self.walker.config = end;
        self.leave_atomic();
    }

    /// After the last line: goes on to the end of a chain inside of an atomic sequence. Who judges the run, by a formula
    /// say, does not see the states within.
    fn leave_atomic(&mut self) {
        for _ in 0..self.walker.machine.program().transitions.len() {
            let Some(process) = self.walker.config.exclusive else {
                return;
            };
            let (moves, _) = self.walker.moves();
            let silent = self.silent(&moves, process).cloned();
            if !silent.is_some_and(|silent| self.take(&silent)) {
                return;
            }
        }
    }

    /// Says that a line is not possible, and what is.
    fn cannot(&self, moves: &[Move], line: Line) -> String {
        let machine = self.walker.machine;
        let element = machine.program().element(line.element);
        let Some(who) = mover_name(machine, &self.walker.config, line.process) else {
            return not_alive(line.process);
        };
        let begins = |m: &Move| {
            let step = m.steps[0];
            let is_half = m.steps.len() > 1 && step.process == line.process;
            is_half && machine.program().transition(step.transition).element == line.element
        };
        if moves.iter().any(begins) {
            let is_last = self.lines.last().is_some_and(|last| last.number == line.number);
            let end = if is_last { "the trail ends in the middle of a rendezvous: " } else { "" };
            return format!(
                "{end}after `{}` of {who} the line of the one who receives is missing",
                element.text
            );
        }
        format!(
            "{who} cannot do `{}` (line {} of the model) here; {}",
            element.text,
            machine.program().source.line(element.span),
            alternatives(machine, moves, line.process)
        )
    }
}

/// Whether a move may be inside of a chain that SPIN merges: always possible and the only way on.
fn is_silent(program: &Program, m: &Move) -> bool {
    let [step] = m.steps.as_slice() else {
        return false;
    };
    let transition = program.transition(step.transition);
    let state = program.automaton(transition.body).state(transition.from);
    let always_possible = matches!(
        transition.action,
        Action::Skip
            | Action::Assign(..)
            | Action::AssignAll(_)
            | Action::Run { result: Some(_), .. }
            | Action::Assert(_)
            | Action::Print { .. }
            | Action::PrintMtype(..)
    );
    !step.is_claim() && always_possible && state.transitions.len() == 1
}

/// Whether a statement has a label; SPIN does not merge it with what comes before.
fn is_labelled(program: &Program, transition: &Transition) -> bool {
    let labels = &program.automaton(transition.body).labels;
    labels.iter().any(|(_, state)| *state == transition.from)
}

/// Whether a statement touches nothing but the variables of its process, so that SPIN may merge it
/// outside of atomic sequences too.
fn is_local(action: &Action) -> bool {
    match action {
        Action::Skip => true,
        Action::Assign(place, value) => is_local_place(place) && is_local_value(value),
        Action::AssignAll(pairs) => {
            pairs.iter().all(|(place, value)| is_local_place(place) && is_local_value(value))
        }
        // SPIN does not look at the arguments.
        Action::Run { result, .. } => result.as_ref().is_none_or(is_local_place),
        Action::Assert(value) | Action::PrintMtype(value, _) => is_local_value(value),
        Action::Print { args, .. } => args.iter().all(|(value, _)| is_local_value(value)),
        _ => false,
    }
}

fn is_local_place(place: &Place) -> bool {
    place.space == Space::Local && place.indexes.iter().all(|index| is_local_value(&index.value))
}

fn is_local_value(value: &Expr) -> bool {
    match value {
        Expr::Const(_) | Expr::Pid => true,
        Expr::Load(place) => is_local_place(place),
        Expr::Unary(_, a) => is_local_value(a),
        Expr::Binary(_, a, b) => is_local_value(a) && is_local_value(b),
        Expr::Conditional(c, a, b) => [c, a, b].into_iter().all(|e| is_local_value(e)),
        _ => false,
    }
}
