//! `spinward trail`: replays a trail.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use spinward::words::{counted, thousands};
use spinward::{KnownRun, Model, Property, Reason, ReportedError, Shorten, Shortened};
use spinward_machine::{Machine, View, Violation};
use spinward_program::Program;
use spinward_trail::listing::line_of;
use spinward_trail::run::Keep;
use spinward_trail::spin_listing::SpinListing;
use spinward_trail::values::{self, Change, plain_name};
use spinward_trail::{
    Fitted, Listing, Run, StepLine, Trail, confirm, describe, fit, guided, replay,
};

use crate::args::{ColumnArgs, InvariantArgs, ModelArgs, OutputArgs, formulas, seconds, size};
use crate::check::headline;
use crate::model;
use crate::terminal::{EXIT_VIOLATED, Failure, print, say, stop_on_interrupt};

/// A trail of some 30 million steps.
const MAX_BYTES: u64 = 512 << 20;

const EXAMPLES: &str = "\
Examples:
  spinward trail peterson.pml peterson.pml.trail
  spinward trail --json peterson.pml peterson.pml.trail
  spinward trail -p -g -l peterson.pml peterson.pml.trail    in SPIN's columns
  spinward trail --shorten peterson.pml peterson.pml.trail   writes peterson.pml.short.trail

The exit code is 1 if the trail shows an error, 0 if it replays without one, and 2 if it does not
fit the model.";

/// How long shorter runs are looked for if nobody says otherwise.
const SHORTENING_TIME: Duration = Duration::from_secs(10);

/// Replay a trail, made by spinward or by SPIN, step by step.
///
/// Every step is taken through the model again, and shown with what it changes.
///
/// With --shorten a shorter run to the same error is looked for, towards the last state of the
/// trail, until it is known that there is none or a limit is hit. It is shown in place of the
/// trail, and written to a file of its own.
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

    /// Hold the run against this formula too, or of those of the model only against that of this name; may repeat
    #[arg(long, value_name = "NAME|FORMULA", help_heading = "What to check")]
    ltl: Vec<String>,

    /// As JSON on standard output
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Show the moves of the never claim too
    #[arg(long, help_heading = "Output")]
    claim: bool,

    /// Look for a shorter run to the error at the end of the trail, and show it
    #[arg(long, help_heading = "Shorter runs")]
    shorten: bool,

    /// Where to write the shorter run [default: beside the trail, with .short before .trail]
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE",
        requires = "shorten",
        help_heading = "Shorter runs"
    )]
    shorter: Option<PathBuf>,

    /// Look no longer than so many seconds for a shorter run [default: 10]
    #[arg(
        long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true,
        requires = "shorten", help_heading = "Shorter runs"
    )]
    time: Option<Duration>,

    /// Use no more memory than this for it, e.g. 4G [default: 80% of what is free]
    #[arg(
        long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true,
        requires = "shorten", help_heading = "Shorter runs"
    )]
    memory: Option<u64>,

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
    /// The formula whose claim SPIN followed, by its number.
    formula: Option<usize>,
    /// Whether SPIN looked for a cycle without progress.
    non_progress: bool,
}

impl Fit {
    /// Whether the trail ends in a cycle that the model can go round for ever.
    fn cycles(&self) -> bool {
        let start = self.fitted.cycle_start;
        start.is_some() && confirm(&self.machine, &self.fitted.steps, None, start).is_ok()
    }

    /// What the run shows that is no error of its last step: formulas that do not hold of it and, if it goes on for
    /// ever, what its labels say. Only these formulas count, if any are given; if SPIN followed one, that one.
    fn judged(&self, model: &Model, asked: &[usize]) -> Vec<ReportedError> {
        let program = &model.program;
        let run = KnownRun {
            model,
            claim: self.machine.options().claim,
            steps: &self.fitted.steps,
            cycle: self.fitted.cycle_start.filter(|_| self.cycles()),
        };
        let all = 0..program.formulas.len();
        let numbers: Vec<usize> = match self.formula {
            Some(number) => vec![number],
            None => all.filter(|it| asked.is_empty() || asked.contains(it)).collect(),
        };
        let mut wrong = run.against_formulas(numbers);
        if wrong.is_empty() {
            wrong.extend(run.against_acceptance());
        }
        if wrong.is_empty() && (self.non_progress || !program.progressing.is_empty()) {
            wrong.extend(run.against_non_progress());
        }
        wrong
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
    let formulas = formulas(&args.ltl);
    let model = model::load(&args.model, &args.invariant.invariants, &formulas, &args.output)?;
    let asked = asked(&model, &args.ltl)?;
    let mut fit = read(&model, &args.trail)?;
    let shortened = if args.shorten { shorten(args, &model, &mut fit, &asked)? } else { None };
    let fitted = &fit.fitted;
    for note in &fitted.notes {
        say(&format!("note: {note}"));
    }
    if args.columns.any() && !args.json {
        let code = as_spin(&model, &fit, &asked, &args.columns)?;
        print(&shortened.map_or(String::new(), |it| it.to_text()))?;
        return Ok(code);
    }
    let told = describe(&fit.machine, &fitted.steps, fitted.cycle_start, Keep::ALL)
        .map_err(Failure::internal)?;
    let cycle = fit.cycles();
    let judged = if told.violations.is_empty() { fit.judged(&model, &asked) } else { Vec::new() };
    let shown = Shown { run: &told, cycle, judged: &judged };
    let text = if args.json {
        json(args, &model, &shown, shortened, &fitted.notes)
    } else {
        human(args, &model, &shown) + &shortened.map_or(String::new(), |it| it.to_text())
    };
    print(&text)?;
    Ok(exit_code(&told.violations, cycle, &judged))
}

/// What there is to tell of a trail.
struct Shown<'a> {
    run: &'a Run,
    /// Whether it goes on for ever.
    cycle: bool,
    /// What is wrong with the whole of it.
    judged: &'a [ReportedError],
}

/// The numbers of the formulas that are asked for; none if all are meant.
fn asked(model: &Model, ltl: &[String]) -> Result<Vec<usize>, Failure> {
    let formulas = &model.program.formulas;
    let mut asked = Vec::new();
    for name in ltl.iter().filter(|text| Property::is_name(text)) {
        let number = formulas.iter().position(|it| it.name.as_ref() == Some(name));
        let unknown = || Failure::usage(format!("the model has no ltl formula '{name}'"));
        asked.push(number.ok_or_else(unknown)?);
    }
    // Those given here come last, and are asked for in any case.
    let given = ltl.len() - asked.len();
    if !asked.is_empty() {
        asked.extend(formulas.len() - given..formulas.len());
    }
    Ok(asked)
}

/// What came of looking for a shorter run.
#[derive(Serialize)]
struct JsonShortened {
    /// The length of the trail.
    from: usize,
    /// That of the run shown.
    steps: usize,
    /// Whether no run to the error is shorter.
    shortest: bool,
    /// Why that is not known.
    reason: Option<Reason>,
    /// Where the run was written to, if it is another one.
    output: Option<String>,
}

impl JsonShortened {
    fn to_text(&self) -> String {
        let Self { from, steps, shortest, reason, output } = self;
        let now = counted(*steps as u64, "step");
        let found = if steps < from {
            format!("The trail was shortened from {} to {now}", thousands(*from as u64))
        } else if *shortest {
            format!("The trail cannot be shortened from {now}")
        } else {
            format!("No run of fewer than {now} was found")
        };
        let known = match (shortest, reason) {
            (true, _) => ": no run to this error is shorter.".to_owned(),
            (false, Some(reason)) => {
                format!("; there may be a shorter one, but {}.", reason.message)
            }
            (false, None) => "; there may be a shorter one.".to_owned(),
        };
        let mut text = format!("\n{found}{known}\n");
        if let Some(output) = output {
            let _ = writeln!(text, "The run is in {output}.");
        }
        text
    }
}

/// Puts a shorter run to the same error in the place of the trail, if there is one and it is found in time.
fn shorten(
    args: &Args,
    model: &Model,
    fit: &mut Fit,
    asked: &[usize],
) -> Result<Option<JsonShortened>, Failure> {
    let Fit { machine, fitted, .. } = &*fit;
    if fit.cycles() {
        let note = "a run that goes on for ever is not shortened here; `spinward check --shortest` finds a shortest one";
        fit.fitted.notes.push(note.into());
        return Ok(None);
    }
    let outcome = replay(machine, &fitted.steps, &mut |_| {}).map_err(Failure::internal)?;
    let Some(&violation) = outcome.violations.first() else {
        let note = if fit.judged(model, asked).is_empty() {
            "there is nothing to shorten: the trail does not end in an error"
        } else {
            "a run of which a formula does not hold is not shortened here; `spinward check --shortest` finds a shortest one"
        };
        fit.fitted.notes.push(note.into());
        return Ok(None);
    };
    let options = machine.options().clone();
    let mut shorten = Shorten::new(model.clone(), options, fitted.steps.clone(), violation)
        .time(args.time.unwrap_or(SHORTENING_TIME))
        .stop_flag(stop_on_interrupt());
    if let Some(memory) = args.memory {
        shorten = shorten.memory(memory);
    }
    let shortened = shorten.run().map_err(|error| model::tell(&error, &args.output))?;
    let Shortened { run, steps, known_steps: from, shortest, reason } = shortened;
    let mut output = None;
    // A file that was asked for is written also if there is no shorter run.
    if steps < from || args.shorter.is_some() {
        let path = args.shorter.clone().unwrap_or_else(|| shorter_trail(&args.trail));
        let trail = Trail::of_run(&model.program, machine.options().claim, &run, None);
        match std::fs::write(&path, trail.to_text()) {
            Ok(()) => output = Some(path.display().to_string()),
            // The run is shown all the same.
            Err(problem) => {
                say(&format!("warning: cannot write the trail to {}: {problem}", path.display()))
            }
        }
        fit.fitted.steps = run;
        fit.fitted.cycle_start = None;
    }
    Ok(Some(JsonShortened { from, steps, shortest, reason, output }))
}

/// Where a shorter run goes: beside its trail, which stays as it is.
fn shorter_trail(trail: &Path) -> PathBuf {
    let name = trail.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".trail").unwrap_or(&name);
    trail.with_file_name(format!("{stem}.short.trail"))
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
    Ok(Fit {
        machine,
        fitted,
        formula: guided::formula(&model.program, &trail),
        non_progress: trail.lines.iter().any(|line| line.is_non_progress_claim()),
    })
}

fn exit_code(violations: &[Violation], cycle: bool, judged: &[ReportedError]) -> u8 {
    let wrong = cycle || !violations.is_empty() || !judged.is_empty();
    if wrong { EXIT_VIOLATED } else { 0 }
}

/// The run in SPIN's columns.
pub fn as_spin(
    model: &Model,
    fit: &Fit,
    asked: &[usize],
    columns: &ColumnArgs,
) -> Result<u8, Failure> {
    let Fit { machine, fitted, .. } = fit;
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
    let judged = if outcome.violations.is_empty() { fit.judged(model, asked) } else { Vec::new() };
    for error in &judged {
        let _ = writeln!(text, "spinward: {}", headline(error));
    }
    let steps = spinward_machine::system::length(&fitted.steps);
    let _ = writeln!(text, "spinward: trail ends after {}", counted(steps as u64, "step"));
    text.push_str(&listing.end(&machine.view(&outcome.last.state)));
    print(&text)?;
    Ok(exit_code(&outcome.violations, fit.cycles(), &judged))
}

fn human(args: &Args, model: &Model, shown: &Shown<'_>) -> String {
    let Shown { run, cycle, judged } = *shown;
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
    for error in judged {
        let _ = writeln!(text, "{}", listing.error(&headline(error)));
    }
    if run.violations.is_empty() && judged.is_empty() && !cycle {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    shortened: Option<JsonShortened>,
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
        shortened: None,
        steps: Vec::new(),
        state: JsonState::default(),
        notes: &[message.to_owned()],
    };
    to_text(&report)
}

fn to_text(report: &JsonTrail<'_>) -> String {
    serde_json::to_string_pretty(report).expect("a trail has nothing that JSON cannot hold") + "\n"
}

fn json(
    args: &Args,
    model: &Model,
    shown: &Shown<'_>,
    shortened: Option<JsonShortened>,
    notes: &[String],
) -> String {
    let Shown { run, cycle, judged } = *shown;
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
    let judged = judged.iter().map(|error| JsonError {
        kind: error.kind,
        message: error.message.clone(),
        file: error.file.clone(),
        line: error.line,
        values: Vec::new(),
    });
    let errors: Vec<JsonError> = errors.chain(judged).collect();
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
        shortened,
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
