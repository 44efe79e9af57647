//! Takes the steps of a run one by one through the machine.
//!
//! The machine alone says what a model can do, so a run is shown, stored or believed only after it
//! was replayed here: at each point the next steps must be among the moves the machine offers.

use std::fmt;
use std::sync::Arc;

use spinward_machine::{Config, Machine, Move, Scratch, Step, System as _, Transfer, Violation};
use spinward_program::optimize::{Pass, Watched, optimize_by};

use crate::values::plain_name;

/// One move of a run: a step, or the two halves of a rendezvous.
#[derive(Debug)]
pub struct Event<'a> {
    /// How many steps came before it.
    pub index: usize,
    /// Where it starts.
    pub before: &'a Config,
    /// What moves.
    pub steps: &'a [Step],
    /// Where it leads; none if a violation ends the run.
    pub after: Option<&'a Config>,
    /// What goes wrong in it.
    pub violations: &'a [Violation],
    /// What its last step prints.
    pub output: &'a str,
    /// The messages that are sent and received in it, in order.
    pub transfers: &'a [Transfer],
}

/// Where a run ends and what is wrong there.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The last state that was reached.
    pub last: Config,
    /// What goes wrong in the last move, or in the state after it if nobody can move.
    pub violations: Vec<Violation>,
    /// Whether the last move ends the run.
    pub stopped: bool,
}

/// A step that the model cannot do where it stands in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// How many steps fit.
    pub index: usize,
    /// What does not fit, in words.
    pub message: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.index + 1, self.message)
    }
}

impl std::error::Error for Misfit {}

/// Replays a run; `visit` sees every move of it in order. A machine that is told to stop does so here too.
pub fn replay(
    machine: &Machine,
    steps: &[Step],
    visit: &mut dyn FnMut(&Event<'_>),
) -> Result<Outcome, Misfit> {
    let mut walker = Walker::new(machine);
    let mut violations = Vec::new();
    let mut index = 0;
    while index < steps.len() {
        if machine.stopped() {
            return Err(Misfit { index, message: "the replay was interrupted".into() });
        }
        let (moves, _) = walker.moves();
        let Some(chosen) = best_match(&moves, &steps[index..]) else {
            return Err(Misfit {
                index,
                message: cannot(machine, &walker.config, &moves, steps[index]),
            });
        };
        visit(&Event {
            index,
            before: &walker.config,
            steps: &chosen.steps,
            after: chosen.next.as_ref(),
            violations: &chosen.violations,
            output: &chosen.output,
            transfers: &chosen.transfers,
        });
        index += chosen.steps.len();
        violations.clone_from(&chosen.violations);
        match &chosen.next {
            Some(next) => walker.config = next.clone(),
            None if index == steps.len() => {
                return Ok(Outcome { last: walker.config, violations, stopped: true });
            }
            None => {
                return Err(Misfit {
                    index,
                    message: "the run goes on after a step that ends it".into(),
                });
            }
        }
    }
    let last = walker.config.clone();
    // What goes wrong in the last move may still be wrong in the state it leads to.
    for violation in walker.moves().1 {
        if !violations.contains(&violation) {
            violations.push(violation);
        }
    }
    Ok(Outcome { last, violations, stopped: false })
}

/// Makes sure that a run shows what it is said to show: the violation at its end, or, for a cycle,
/// that the last state is the one after `cycle_start` steps.
pub fn confirm(
    machine: &Machine,
    steps: &[Step],
    violation: Option<Violation>,
    cycle_start: Option<usize>,
) -> Result<(), Misfit> {
    let mut loop_state = (cycle_start == Some(0)).then(|| machine.start());
    let outcome = replay(machine, steps, &mut |event| {
        if cycle_start == Some(event.index + event.steps.len()) {
            loop_state = event.after.cloned();
        }
    })?;
    let misfit = |message: String| Err(Misfit { index: steps.len(), message });
    if let Some(violation) = violation
        && !outcome.violations.contains(&violation)
    {
        return misfit(format!("the run does not show: {}", violation.describe(machine.program())));
    }
    if cycle_start == Some(steps.len()) {
        // The run stays where it is; that is no choice of a model that can move.
        let (moves, _) = machine.moves(&outcome.last, &mut machine.scratch());
        if !moves.is_empty() {
            return misfit("the cycle has no steps, but the model can move".into());
        }
    } else if cycle_start.is_some() {
        let start = loop_state.map(|config| settled(machine, config));
        let last = settled(machine, outcome.last);
        if !start.is_some_and(|start| same_place(machine, &start, &last)) {
            return misfit("the cycle does not come back to where it started".into());
        }
    }
    Ok(())
}

/// Whether a run can go round for ever from where it is after `start` steps: it comes back there, but for what nobody
/// looks at, such as a counter that is only counted.
pub fn goes_round(machine: &Machine, steps: &[Step], start: usize) -> bool {
    let comes_back = |machine: &Machine| confirm(machine, steps, None, Some(start)).is_ok();
    comes_back(machine) || without_the_unread(machine).is_some_and(|it| comes_back(&it))
}

/// The machine without variables that nobody looks at.
fn without_the_unread(machine: &Machine) -> Option<Machine> {
    let (program, options) = (machine.program(), machine.options());
    let watched = Watched {
        claim: options.claim,
        stutters: false,
        fair: true,
        conditions: (0..program.conditions.len() as u32).collect(),
    };
    let program = optimize_by(program, &watched, &[Pass::Fold, Pass::Unread, Pass::Dead]);
    Machine::new(Arc::new(program), options.clone(), Arc::default()).ok()
}

/// Whether two places are the same, but for `hidden` variables.
pub(crate) fn same_place(machine: &Machine, one: &Config, other: &Config) -> bool {
    let rest = |it: &Config| (it.exclusive, it.system_turn, it.timeout);
    machine.key(&one.state) == machine.key(&other.state) && rest(one) == rest(other)
}

/// A place of a run as searches see it: who waits inside of an atomic sequence lets others go on, and a system that
/// cannot move leaves it to the claim.
fn settled(machine: &Machine, config: Config) -> Config {
    let mut walker = Walker::at(machine, config);
    let (moves, _) = walker.moves();
    let free = Config { exclusive: None, ..walker.config.clone() };
    let (others, _) = machine.moves(&free, &mut walker.scratch);
    let same = moves.iter().map(|it| &it.steps).eq(others.iter().map(|it| &it.steps));
    if same { free } else { walker.config }
}

/// The move that takes the next steps; the longest, if one is the start of another.
fn best_match<'a>(moves: &'a [Move], rest: &[Step]) -> Option<&'a Move> {
    moves.iter().filter(|m| rest.starts_with(&m.steps)).max_by_key(|m| m.steps.len())
}

/// Says that a step is not possible, and what is.
fn cannot(machine: &Machine, config: &Config, moves: &[Move], step: Step) -> String {
    let program = machine.program();
    let transition = program.transition(step.transition);
    let Some(who) = mover_name(machine, config, step.process) else {
        return not_alive(step.process);
    };
    let owner = program.automaton(transition.body);
    // What another process does may be spelled like what this one can do.
    let processes = machine.view(&config.state).processes;
    let own = processes.get(usize::from(step.process)).map(|process| process.body);
    let foreign = own.is_some_and(|own| own != transition.body);
    let whose = if foreign { format!(" of {}", plain_name(&owner.name)) } else { String::new() };
    format!(
        "{who} cannot do `{}`{whose} here; {}",
        program.element(transition.element).text,
        alternatives(machine, moves, step.process)
    )
}

/// A process as people call it: `P(1)`, `the claim`; none if it is not alive.
pub(crate) fn mover_name(machine: &Machine, config: &Config, process: u16) -> Option<String> {
    if process == Step::CLAIM {
        return Some("the claim".into());
    }
    let view = machine.view(&config.state);
    let body = view.processes.get(usize::from(process))?.body;
    let name = &machine.program().automaton(body).name;
    Some(format!("{}({process})", plain_name(name)))
}

/// Says that a process cannot move.
pub(crate) fn not_alive(process: u16) -> String {
    format!("there is no process {process} here")
}

/// What a process can do, in words.
pub(crate) fn alternatives(machine: &Machine, moves: &[Move], process: u16) -> String {
    let program = machine.program();
    let mut texts: Vec<String> = Vec::new();
    for step in moves.iter().filter_map(|m| m.steps.first()) {
        let element = program.element(program.transition(step.transition).element);
        let text = format!("`{}` (line {})", element.text, program.source.line(element.span));
        if step.process == process && !texts.contains(&text) {
            texts.push(text);
        }
    }
    match texts.as_slice() {
        [] => "it cannot move".into(),
        texts => format!("it can do: {}", texts.join(", ")),
    }
}

/// The one who walks: a machine with the room it works in and the place it has come to.
#[derive(Debug)]
pub struct Walker<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The place.
    pub config: Config,
    scratch: Scratch,
}

impl<'a> Walker<'a> {
    /// Where every run starts.
    pub fn new(machine: &'a Machine) -> Self {
        Self::at(machine, machine.start())
    }

    /// At some place of a run.
    pub fn at(machine: &'a Machine, config: Config) -> Self {
        Self { machine, config, scratch: machine.scratch() }
    }

    /// The moves from here; each has a step. A system that cannot move beside a claim that can
    /// stays where it is, which is no step: that is done here.
    pub fn moves(&mut self) -> (Vec<Move>, Vec<Violation>) {
        let mut wrong = Vec::new();
        loop {
            let (moves, found) = self.machine.moves(&self.config, &mut self.scratch);
            wrong.extend(found);
            match moves.as_slice() {
                [Move { steps, next: Some(next), .. }] if steps.is_empty() => {
                    self.config = next.clone();
                }
                _ => return (moves, wrong),
            }
        }
    }
}
