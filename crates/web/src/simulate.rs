//! Simulation: the run so far comes with each request, and the answer tells where it leads and what may come next.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use spinward::Model;
use spinward_machine::view::ProcessView;
use spinward_machine::{Machine, Move, Options, Step, Stop, View};
use spinward_program::Program;
use spinward_program::ir::{BodyId, TransitionId};
use spinward_promela::Span;
use spinward_promela::source::FileId;
use spinward_trail::listing::{place_of, where_is};
use spinward_trail::run::Keep;
use spinward_trail::values::{self, plain_name};
use spinward_trail::{Misfit, StepLine, Walker, describe, replay};

use crate::Shared;
use crate::problem::Problem;
use crate::source::Source;

/// The longest run that is simulated here.
const MAX_STEPS: usize = 20_000;
/// So many variables are shown.
const MAX_VARIABLES: usize = 1_000;

/// Why a run of so many steps is not shown, if it is too long.
pub fn too_long(steps: usize) -> Option<String> {
    let message = || format!("runs of more than {MAX_STEPS} steps are not shown here");
    (steps > MAX_STEPS).then(message)
}

/// A run of a model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub source: Source,
    /// Who moves, and by which transition.
    pub steps: Vec<(u16, u32)>,
    /// What the machine watches; all but claims if it is not said.
    #[serde(default)]
    pub watched: Option<Watched>,
}

/// What a machine watches: a run that was found while something was not may go on where that is wrong.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watched {
    /// The never claim that moves with the run.
    claim: Option<u32>,
    end_states: bool,
    assertions: bool,
    trace: bool,
    /// Conditions of the program, by their numbers.
    invariants: Vec<u32>,
}

impl Watched {
    /// What was watched when an error was found.
    pub fn of(options: &Options) -> Self {
        Self {
            claim: options.claim.map(|claim| claim.0),
            end_states: options.end_states,
            assertions: options.assertions,
            trace: options.trace,
            invariants: options.invariants.clone(),
        }
    }

    /// All that a user wants to know of a run made by hand.
    fn all(program: &Program) -> Self {
        let given = (0..).zip(&program.conditions).filter(|(_, condition)| condition.given);
        let invariants = given.map(|(number, _)| number).collect();
        Self { claim: None, end_states: true, assertions: true, trace: true, invariants }
    }

    fn options(self, program: &Program) -> Result<Options, Problem> {
        let Self { claim, end_states, assertions, trace, invariants } = self;
        let claim = claim.map(BodyId);
        let known = |&number: &u32| (number as usize) < program.conditions.len();
        if claim.is_some_and(|claim| !program.claims.contains(&claim))
            || !invariants.iter().all(known)
        {
            return Err(Problem::usage("the model has no such claim or condition"));
        }
        Ok(Options { claim, end_states, assertions, trace, invariants, ..Options::default() })
    }
}

impl Run {
    /// The steps, if they are some of the model.
    pub fn steps(&self, program: &Program) -> Result<Vec<Step>, Problem> {
        if let Some(message) = too_long(self.steps.len()) {
            return Err(Problem::usage(message));
        }
        let known =
            |&(_, transition): &(u16, u32)| (transition as usize) < program.transitions.len();
        if !self.steps.iter().all(known) {
            return Err(Problem::usage("the run is one of another model"));
        }
        let step = |&(process, transition)| Step { process, transition: TransitionId(transition) };
        Ok(self.steps.iter().map(step).collect())
    }

    /// What replays it.
    pub fn machine(&self, model: &Model, stop: &Arc<Stop>) -> Result<Machine, Problem> {
        let program = &model.program;
        let watched = self.watched.clone().unwrap_or_else(|| Watched::all(program));
        let options = watched.options(program)?;
        Machine::new(Arc::clone(program), options, Arc::clone(stop)).map_err(|error| {
            Problem::usage(format!(
                "the model goes wrong before its first step: {}",
                error.describe()
            ))
        })
    }
}

/// Asks where a run leads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    run: Run,
    /// How many of its steps the page knows already.
    #[serde(default)]
    known: usize,
}

/// Where a run leads.
#[derive(Debug, Serialize)]
pub struct Place {
    /// The steps that the page does not know yet.
    told: Vec<Told>,
    /// After how many steps each of their moves ends: a rendezvous is two steps, and cannot be cut.
    ends: Vec<usize>,
    /// What is wrong.
    wrong: Vec<String>,
    variables: Vec<Variable>,
    /// How many more variables there are.
    left_out: usize,
    processes: Vec<Process>,
    /// What may come next; nothing if something is wrong.
    moves: Vec<Choice>,
}

#[derive(Debug, Serialize)]
struct Told {
    number: usize,
    who: String,
    place: String,
    /// The line, if it is one of the text of the page.
    line: Option<u32>,
    statement: String,
    changes: Vec<String>,
    output: Option<String>,
}

#[derive(Debug, Serialize)]
struct Variable {
    name: String,
    value: String,
}

#[derive(Debug, Serialize)]
struct Process {
    name: String,
    /// Which automaton it is.
    automaton: u32,
    /// Where it is in that.
    state: u32,
    line: Option<u32>,
    at: String,
}

#[derive(Debug, Serialize)]
struct Choice {
    steps: Vec<(u16, u32)>,
    who: String,
    line: u32,
    statement: String,
}

/// The line of a place, if it is in the text of the page and not in a file that it includes.
fn line_here(program: &Program, span: Span) -> Option<u32> {
    (span.file == FileId(0)).then(|| program.source.line(span))
}

/// Tells where a run leads.
pub async fn simulate(
    State(shared): State<Arc<Shared>>,
    Json(request): Json<Request>,
) -> Result<Json<Place>, Problem> {
    let files = Arc::clone(&shared);
    let work = move |stop: &Arc<Stop>| {
        let model = request.run.source.clone().model(&files.files)?;
        place(&model, &request, stop)
    };
    shared.jobs.short(work).await.map(Json)
}

fn place(model: &Model, request: &Request, stop: &Arc<Stop>) -> Result<Place, Problem> {
    let program = &*model.program;
    let steps = request.run.steps(program)?;
    let machine = request.run.machine(model, stop)?;
    let known = request.known.min(steps.len());
    let keep = Keep { first: 0, last: steps.len() - known };
    let run = describe(&machine, &steps, None, keep).map_err(misfit)?;
    let mut ends = Vec::new();
    let outcome = replay(&machine, &steps, &mut |event| {
        let end = event.index + event.steps.len();
        ends.extend((end > known).then_some(end));
    })
    .map_err(misfit)?;
    let wrong = outcome.violations.iter().map(|it| it.describe(program)).collect::<Vec<_>>();
    let mut moves = Vec::new();
    if wrong.is_empty() && !outcome.stopped {
        let mut walker = Walker::at(&machine, outcome.last);
        moves = walker.moves().0;
    }
    let mut variables = values::variables(program, &run.end);
    let left_out = variables.len().saturating_sub(MAX_VARIABLES);
    variables.truncate(MAX_VARIABLES);
    Ok(Place {
        told: run.last.iter().map(|line| told(program, line)).collect(),
        ends,
        wrong,
        variables: variables.into_iter().map(|it| variable(program, &run.end, it)).collect(),
        left_out,
        processes: processes(program, &run.end),
        moves: moves.iter().map(|it| choice(program, it)).collect(),
    })
}

/// The run is none of the model's.
pub fn misfit(misfit: Misfit) -> Problem {
    Problem::usage(format!("the model cannot do this run: {misfit}"))
}

fn told(program: &Program, line: &StepLine) -> Told {
    let own = line.file == program.source.file(FileId(0)).path;
    Told {
        number: line.number,
        who: line.who(),
        place: line.place(),
        line: own.then_some(line.line),
        statement: line.statement.clone(),
        changes: line.changes.iter().map(ToString::to_string).collect(),
        output: line.output.clone(),
    }
}

fn variable(program: &Program, view: &View, variable: values::Variable) -> Variable {
    let values::Variable { process, name, value } = variable;
    let owner = process.and_then(|pid| Some((pid, view.processes.get(usize::from(pid))?)));
    let name = match owner {
        Some((pid, process)) => format!("{}:{name}", who(program, process.body, pid)),
        None => name,
    };
    Variable { name, value }
}

fn processes(program: &Program, view: &View) -> Vec<Process> {
    let process = |(pid, process): (u16, &ProcessView)| Process {
        name: who(program, process.body, pid),
        automaton: process.body.0,
        state: process.state.0.into(),
        line: line_here(program, place_of(program, process)),
        at: where_is(program, process),
    };
    (0..).zip(&view.processes).map(process).collect()
}

/// A process as people call it: `P(1)`.
fn who(program: &Program, body: BodyId, pid: u16) -> String {
    format!("{}({pid})", plain_name(&program.automaton(body).name))
}

/// A move; a rendezvous is told as one.
fn choice(program: &Program, choice: &Move) -> Choice {
    let mut names = Vec::new();
    let mut statements = Vec::new();
    for step in &choice.steps {
        let transition = program.transition(step.transition);
        statements.push(program.element(transition.element).text.as_str());
        names.push(if step.is_claim() {
            "claim".to_owned()
        } else {
            who(program, transition.body, step.process)
        });
    }
    let first = choice.steps.first().map(|step| program.transition(step.transition));
    let span = first.map(|transition| program.element(transition.element).span);
    Choice {
        steps: choice.steps.iter().map(|step| (step.process, step.transition.0)).collect(),
        who: names.join(" with "),
        line: span.map_or(0, |span| program.source.line(span)),
        statement: statements.join("  /  "),
    }
}
