//! `spinward trail`: replays a trail.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use spinward::Model;
use spinward::words::counted;
use spinward_machine::{Machine, View, Violation};
use spinward_program::Program;
use spinward_trail::listing::line_of;
use spinward_trail::run::Keep;
use spinward_trail::spin_listing::SpinListing;
use spinward_trail::values::{self, Change, plain_name};
use spinward_trail::{
    Fitted, Listing, Run, StepLine, Trail, confirm, describe, fit, guided, replay,
};

use crate::args::{ColumnArgs, InvariantArgs, ModelArgs, OutputArgs};
use crate::model;
use crate::terminal::{EXIT_VIOLATED, Failure, print, say};

/// A trail of some 30 million steps.
const MAX_BYTES: u64 = 512 << 20;

const EXAMPLES: &str = "\
Examples:
  spinward trail peterson.pml peterson.pml.trail
  spinward trail --json peterson.pml peterson.pml.trail
  spinward trail -p -g -l peterson.pml peterson.pml.trail    in SPIN's columns

The exit code is 1 if the trail ends in an error, 0 if it replays without one, and 2 if it does not
fit the model.";

/// Replay a trail, made by spinward or by SPIN, step by step.
///
/// Every step is taken through the model again, and shown with what it changes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// The trail
    #[arg(value_name = "TRAIL")]
    trail: PathBuf,

    #[command(flatten)]
    invariant: InvariantArgs,

    /// As JSON on standard output
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Show the moves of the never claim too
    #[arg(long, help_heading = "Output")]
    claim: bool,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// A trail that fits its model.
pub struct Fit {
    /// What replays it.
    pub machine: Machine,
    /// Its steps.
    pub fitted: Fitted,
}

impl Fit {
    /// Whether the trail ends in a cycle that the model can go round for ever.
    fn cycles(&self) -> bool {
        let start = self.fitted.cycle_start;
        start.is_some() && confirm(&self.machine, &self.fitted.steps, None, start).is_ok()
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let result = replayed(args);
    if let (true, Err(failure)) = (args.json, &result) {
        print(&json_failure(args, failure))?;
    }
    result
}

fn replayed(args: &Args) -> Result<u8, Failure> {
    let model = model::load(&args.model, &args.invariant.invariants, &args.output)?;
    let fit = read(&model, &args.trail)?;
    let fitted = &fit.fitted;
    for note in &fitted.notes {
        say(&format!("note: {note}"));
    }
    if args.columns.any() && !args.json {
        return as_spin(&fit, &args.columns);
    }
    let told = describe(&fit.machine, &fitted.steps, fitted.cycle_start, Keep::ALL)
        .map_err(Failure::internal)?;
    let cycle = fit.cycles();
    let text = if args.json {
        json(args, &model, &told, cycle, &fitted.notes)
    } else {
        human(args, &model, &told, cycle)
    };
    print(&text)?;
    Ok(exit_code(&told.violations, cycle))
}

/// Reads a trail and fits it to the model.
pub fn read(model: &Model, path: &Path) -> Result<Fit, Failure> {
    let name = path.display();
    let mut text = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text))
        .map_err(|problem| Failure::usage(format!("cannot read the trail {name}: {problem}")))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(Failure::usage(format!("{name} is too large for a trail")));
    }
    let text = String::from_utf8(text)
        .map_err(|_| Failure::usage(format!("{name} is not a trail: it is not text")))?;
    let trail =
        Trail::parse(&text).map_err(|problem| Failure::usage(format!("{name}: {problem}")))?;
    let (mut options, mut notes) = guided::options(&model.program, &trail);
    options.invariants = model::all_conditions(model);
    let mut machine = model::machine(model, options.clone(), Arc::default())?;
    let mut result = fit(&machine, &trail);
    if result.is_err() && trail.merged && options.claim.take().is_some() {
        // The claim does not look at the states inside of a chain that SPIN merged.
        machine = model::machine(model, options, Arc::default())?;
        let without_claim = fit(&machine, &trail);
        if without_claim.is_ok() {
            result = without_claim;
            notes.push(
                "the trail is replayed without its claim: SPIN merged statements in it, and the \
                 claim does not fit the states in between. A trail made with `spin -o3` has them"
                    .into(),
            );
        }
    }
    let mut fitted = result.map_err(|misfit| {
        Failure::usage(format!("{name} does not fit the model: {}", misfit.message))
    })?;
    notes.append(&mut fitted.notes);
    fitted.notes = notes;
    Ok(Fit { machine, fitted })
}

fn exit_code(violations: &[Violation], cycle: bool) -> u8 {
    if cycle || !violations.is_empty() { EXIT_VIOLATED } else { 0 }
}

/// The run in SPIN's columns.
pub fn as_spin(fit: &Fit, columns: &ColumnArgs) -> Result<u8, Failure> {
    let Fit { machine, fitted } = fit;
    let mut listing = SpinListing::new(machine, columns.columns());
    let mut text = String::new();
    let mut written = Ok(());
    let outcome = replay(machine, &fitted.steps, &mut |event| {
        if fitted.cycle_start == Some(event.index) {
            text.push_str("  <<<<<START OF CYCLE>>>>>\n");
        }
        text.push_str(&listing.event(event));
        if text.len() > 1 << 16 && written.is_ok() {
            written = print(&text);
            text.clear();
        }
    });
    written?;
    let outcome = outcome.map_err(Failure::internal)?;
    for violation in &outcome.violations {
        let _ = writeln!(text, "spinward: {}", violation.describe(machine.program()));
    }
    let steps = spinward_machine::system::length(&fitted.steps);
    let _ = writeln!(text, "spinward: trail ends after {}", counted(steps as u64, "step"));
    text.push_str(&listing.end(&machine.view(&outcome.last.state)));
    print(&text)?;
    Ok(exit_code(&outcome.violations, fit.cycles()))
}

fn human(args: &Args, model: &Model, run: &Run, cycle: bool) -> String {
    let listing = Listing { color: args.output.color.stdout(), claim: args.claim };
    let program = &model.program;
    let mut text = listing.steps(run);
    if run.length == 0 {
        text.push_str("The trail has no steps: this is the initial state.\n");
    }
    for violation in &run.violations {
        text.push_str(&listing.violation(program, run, *violation));
    }
    if cycle {
        text.push_str(match run.cycle_start {
            Some(start) if start < run.length => "The last steps repeat for ever.\n",
            _ => "The run stays in this state for ever.\n",
        });
    }
    if run.violations.is_empty() && !cycle {
        let steps = counted(run.length as u64, "step");
        let _ = writeln!(text, "The trail fits the model and ends after {steps} without an error.");
    }
    text.push_str("\nThe state there:\n");
    text.push_str(&listing.state(program, &run.end));
    text
}

#[derive(Serialize)]
struct JsonTrail<'a> {
    schema: u32,
    version: &'static str,
    model: String,
    trail: String,
    verdict: &'static str,
    length: usize,
    cycle_start: Option<usize>,
    errors: Vec<JsonError>,
    steps: Vec<JsonStep<'a>>,
    state: JsonState<'a>,
    notes: &'a [String],
}

/// The state at the end.
#[derive(Default, Serialize)]
struct JsonState<'a> {
    variables: Vec<JsonVariable>,
    processes: Vec<JsonProcess<'a>>,
}

#[derive(Serialize)]
struct JsonVariable {
    pid: Option<u16>,
    name: String,
    value: String,
}

#[derive(Serialize)]
struct JsonProcess<'a> {
    pid: usize,
    process: &'a str,
    line: u32,
    valid_end: bool,
}

#[derive(Serialize)]
struct JsonError {
    kind: &'static str,
    message: String,
    file: Option<String>,
    line: Option<u32>,
    values: Vec<JsonValue>,
}

#[derive(Serialize)]
struct JsonValue {
    name: String,
    value: String,
}

#[derive(Serialize)]
struct JsonStep<'a> {
    step: usize,
    process: &'a str,
    pid: Option<u16>,
    claim: bool,
    file: String,
    line: u32,
    statement: &'a str,
    changes: Vec<JsonChange<'a>>,
    output: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonChange<'a> {
    what: &'static str,
    pid: Option<u16>,
    name: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

/// What scripts read when there is nothing to replay.
fn json_failure(args: &Args, failure: &Failure) -> String {
    let message = match failure.message.as_str() {
        "" => "the model has errors",
        message => message,
    };
    let report = JsonTrail {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        model: args.model.name(),
        trail: args.trail.display().to_string(),
        verdict: "error",
        length: 0,
        cycle_start: None,
        errors: Vec::new(),
        steps: Vec::new(),
        state: JsonState::default(),
        notes: &[message.to_owned()],
    };
    to_text(&report)
}

fn to_text(report: &JsonTrail<'_>) -> String {
    serde_json::to_string_pretty(report).expect("a trail has nothing that JSON cannot hold") + "\n"
}

fn json(args: &Args, model: &Model, run: &Run, cycle: bool, notes: &[String]) -> String {
    let program = &model.program;
    let errors = run.violations.iter().map(|violation| {
        let span = violation.transition().map(|id| program.transition(id).span);
        let values = run.values_of(program, *violation).into_iter();
        JsonError {
            kind: violation.kind(),
            message: violation.describe(program),
            file: span.map(|span| program.source.path(span).display().to_string()),
            line: span.map(|span| program.source.line(span)),
            values: values.map(|(name, value)| JsonValue { name, value }).collect(),
        }
    });
    let errors: Vec<JsonError> = errors.collect();
    let violated = cycle || !errors.is_empty();
    let report = JsonTrail {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        model: args.model.name(),
        trail: args.trail.display().to_string(),
        verdict: if violated { "violated" } else { "no-error" },
        length: run.length,
        cycle_start: run.cycle_start,
        errors,
        steps: run.first.iter().chain(&run.last).map(json_step).collect(),
        state: json_state(program, &run.end),
        notes,
    };
    to_text(&report)
}

fn json_state<'a>(program: &'a Program, view: &View) -> JsonState<'a> {
    let variables = values::variables(program, view).into_iter();
    let processes = view.processes.iter().enumerate();
    JsonState {
        variables: variables
            .map(|it| JsonVariable { pid: it.process, name: it.name, value: it.value })
            .collect(),
        processes: processes
            .map(|(pid, process)| JsonProcess {
                pid,
                process: plain_name(&program.automaton(process.body).name),
                line: line_of(program, process),
                valid_end: program.automaton(process.body).state(process.state).end,
            })
            .collect(),
    }
}

fn json_step(line: &StepLine) -> JsonStep<'_> {
    JsonStep {
        step: line.number,
        process: &line.name,
        pid: line.process,
        claim: line.process.is_none(),
        file: line.file.display().to_string(),
        line: line.line,
        statement: &line.statement,
        changes: line.changes.iter().map(json_change).collect(),
        output: line.output.as_deref(),
    }
}

fn json_change(change: &Change) -> JsonChange<'_> {
    match change {
        Change::Set { process, name, before, after } => JsonChange {
            what: "value",
            pid: *process,
            name,
            before: Some(before),
            after: Some(after),
        },
        Change::Started { process, name } => JsonChange {
            what: "process-start",
            pid: Some(*process),
            name,
            before: None,
            after: None,
        },
        Change::Ended { process, name } => {
            JsonChange { what: "process-end", pid: Some(*process), name, before: None, after: None }
        }
    }
}
