//! `spinward trail`: replays a trail.

mod json;

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use spinward::words::{counted, thousands};
use spinward::{KnownRun, Model, Property, Reason, ReportedError, Shorten, Shortened};
use spinward_machine::{Machine, Violation};
use spinward_promela::suggest::meant_file;
use spinward_trail::run::Keep;
use spinward_trail::spin_listing::SpinListing;
use spinward_trail::{
    Answer, Fitted, Listing, Report, Run, Trail, describe, fewest_switches, fit, goes_round,
    guided, replay,
};

use crate::args::{
    COLUMNS, ColumnArgs, InvariantArgs, ModelArgs, OutputArgs, formulas, seconds, size,
};
use crate::check::headline;
use crate::model;
use crate::picture::{self, Rearrangement};
use crate::terminal::{EXIT_VIOLATED, Failure, print, say, stop_on_interrupt};

/// A trail of some 30 million steps.
const MAX_BYTES: u64 = 512 << 20;

const EXAMPLES: &str = "\
Examples:
  spinward trail peterson.pml peterson.pml.trail
  spinward trail --json peterson.pml peterson.pml.trail
  spinward trail -p -g -l peterson.pml peterson.pml.trail    in SPIN's columns
  spinward trail --shorten peterson.pml peterson.pml.trail   writes peterson.pml.short.trail
  spinward trail --fewest-switches --slice peterson.pml peterson.pml.trail
  spinward trail --html run.html peterson.pml peterson.pml.trail

The exit code is 1 if the trail shows an error, 0 if it replays without one, and 2 if it does not
fit the model.";

/// How long shorter runs are looked for if nobody says otherwise.
const SHORTENING_TIME: Duration = Duration::from_secs(10);

/// Replay a trail, made by spinward or by SPIN, step by step.
///
/// Every step is taken through the model again, and shown with what it changes and who gets messages from whom. The
/// name of a process stands where another one moved before.
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

    /// Hold the run against a claim from a file too, as `check --claim` does: a never claim, or an automaton in the HOA
    /// format
    #[arg(long, value_name = "FILE", help_heading = "What to check")]
    claim: Option<PathBuf>,

    /// As JSON on standard output
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Show the moves of the never claim too
    #[arg(long, help_heading = "Output")]
    show_claim: bool,

    /// Show the run as a sequence chart
    #[arg(long, help_heading = "Output", conflicts_with = "json", conflicts_with_all = COLUMNS)]
    chart: bool,

    /// Write the run as a sequence chart, an SVG picture
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    msc: Option<PathBuf>,

    /// Write the run as a page for browsers, with chart, steps, source and states
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,

    /// Put steps that have nothing to do with each other in the order in which processes change least often
    #[arg(long, help_heading = "What led to the error")]
    fewest_switches: bool,

    /// Dim the steps that cannot have led to the error (marked with a dot)
    #[arg(long, help_heading = "What led to the error", conflicts_with_all = COLUMNS)]
    slice: bool,

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
        start.is_some_and(|start| goes_round(&self.machine, &self.fitted.steps, start))
    }

    /// By step: whether it makes no difference to what is wrong; none if nothing is.
    fn dimmed(&self, run: &Run, judged: &[ReportedError], code: u8) -> Result<Vec<bool>, Failure> {
        if code != EXIT_VIOLATED {
            return Ok(Vec::new());
        }
        let Fitted { steps, cycle_start, .. } = &self.fitted;
        let cycle = cycle_start.filter(|_| run.violations.is_empty());
        picture::dimmed(&self.machine, steps, cycle, &watched(judged))
    }

    /// What the run shows that is no error of its last step: formulas that do not hold of it and, if it goes on for
    /// ever, what its labels say. Only these formulas count; if SPIN followed one, that one.
    fn judged(&self, model: &Model, asked: &[usize]) -> Vec<ReportedError> {
        let program = &model.program;
        let run = KnownRun {
            model,
            claim: self.machine.options().claim,
            steps: &self.fitted.steps,
            cycle: self.fitted.cycle_start.filter(|_| self.cycles()),
        };
        let numbers = match self.formula {
            Some(number) => vec![number],
            None => asked.to_vec(),
        };
        let mut wrong = run.against_formulas(numbers);
        wrong.extend(run.against_automaton());
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
        print(&json::json_failure(args, failure))?;
    }
    result
}

fn replayed(args: &Args) -> Result<u8, Failure> {
    let formulas = formulas(&args.ltl);
    let (conditions, claim) = (&args.invariant.invariants, args.claim.as_deref());
    let model = model::load(&args.model, conditions, &formulas, claim, &args.output)?;
    let asked = asked(&model, &args.ltl)?;
    let mut fit = read(&model, &args.trail)?;
    let shortened = if args.shorten { shorten(args, &model, &mut fit, &asked)? } else { None };
    let rearranged = if args.fewest_switches { rearrange(&model, &mut fit, &asked)? } else { None };
    let fitted = &fit.fitted;
    tell_notes(&fit, &args.output);
    let after = |text: &mut String| {
        text.push_str(&shortened.as_ref().map_or(String::new(), JsonShortened::to_text));
        text.push_str(&rearranged.as_ref().map_or(String::new(), Rearrangement::to_text));
    };
    let in_columns = || {
        let code = as_spin(&model, &fit, &asked, &args.columns)?;
        let mut text = String::new();
        after(&mut text);
        print(&text)?;
        Ok(code)
    };
    let has_columns = args.columns.any() && !args.json;
    if has_columns && args.msc.is_none() && args.html.is_none() {
        return in_columns();
    }
    let mut told = describe(&fit.machine, &fitted.steps, fitted.cycle_start, Keep::ALL)
        .map_err(Failure::internal)?;
    let cycle = fit.cycles();
    let judged = if told.violations.is_empty() { fit.judged(&model, &asked) } else { Vec::new() };
    let code = exit_code(&told.violations, cycle, &judged);
    let dimmed = if args.slice { fit.dimmed(&told, &judged, code)? } else { Vec::new() };
    told.dim(&dimmed);
    let shown = Shown { run: &told, cycle, judged: &judged };
    let report = Report {
        machine: &fit.machine,
        steps: &fitted.steps,
        cycle_start: fitted.cycle_start,
        title: &args.model.name(),
        answer: if code == EXIT_VIOLATED { Answer::Wrong } else { Answer::Fine },
        verdict: &verdict(&model, &shown),
        notes: &fitted.notes,
        dimmed: &dimmed,
    };
    if let Some(path) = &args.msc {
        picture::write_chart(&report, args.show_claim, path, &args.output)?;
    }
    if let Some(path) = &args.html {
        picture::write_page(&report, path, &args.output)?;
    }
    if has_columns {
        return in_columns();
    }
    let text = if args.json {
        json::json(args, &model, &shown, shortened, rearranged, &fitted.notes)
    } else {
        let mut text = human(args, &model, &shown)?;
        after(&mut text);
        text
    };
    print(&text)?;
    Ok(code)
}

/// What there is to tell of a trail.
struct Shown<'a> {
    run: &'a Run,
    /// Whether it goes on for ever.
    cycle: bool,
    /// What is wrong with the whole of it.
    judged: &'a [ReportedError],
}

/// The numbers of the formulas that are asked for: all, unless some are named.
pub fn asked(model: &Model, ltl: &[String]) -> Result<Vec<usize>, Failure> {
    let program = &model.program;
    let formulas = model.formula_names();
    let (names, given): (Vec<&String>, Vec<&String>) =
        ltl.iter().partition(|text| Property::is_name(text));
    if names.is_empty() {
        return Ok((0..formulas.len()).collect());
    }
    let is_claim = |name: &str| program.claims.iter().any(|&it| program.automaton(it).name == name);
    let mut asked = Vec::new();
    for name in names {
        match formulas.iter().position(|it| it == name) {
            Some(number) => asked.push(number),
            // Which claim moves is said in the trail.
            None if is_claim(name) => {}
            None => {
                return Err(Failure::usage(format!("the model has no ltl formula '{name}'")));
            }
        }
    }
    // Those given here come last, and are asked for in any case.
    asked.extend(formulas.len() - given.len()..formulas.len());
    Ok(asked)
}

/// Puts the steps in an order with fewer changes between processes, if there is one that shows the same.
fn rearrange(
    model: &Model,
    fit: &mut Fit,
    asked: &[usize],
) -> Result<Option<Rearrangement>, Failure> {
    let judged = fit.judged(model, asked);
    let Fit { machine, fitted, .. } = &*fit;
    let watched = watched(&judged);
    let found = fewest_switches(machine, &fitted.steps, fitted.cycle_start, &watched)
        .map_err(Failure::internal)?;
    let rearrangement = Rearrangement::new(&found);
    let before = std::mem::replace(&mut fit.fitted.steps, found.steps);
    let kinds = |judged: &[ReportedError]| judged.iter().map(headline).collect::<Vec<_>>();
    if kinds(&fit.judged(model, asked)) != kinds(&judged) {
        fit.fitted.steps = before;
        let note = "the steps stay in their order: in another one the run would not show the same";
        fit.fitted.notes.push(note.into());
        return Ok(None);
    }
    Ok(Some(rearrangement))
}

/// The conditions whose values along a run decide what is wrong with it. Whether it comes through labels does not
/// depend on the order of steps.
fn watched(judged: &[ReportedError]) -> Vec<u32> {
    let by_states = judged.iter().filter(|error| error.kind != "non-progress-cycle");
    by_states.flat_map(|error| error.watched.watched.clone()).collect()
}

/// What is to be said of a run, in lines.
fn verdict(model: &Model, shown: &Shown<'_>) -> Vec<String> {
    let Shown { run, cycle, judged } = *shown;
    let listing = Listing::default();
    let program = &model.program;
    let wrong = run.violations.iter().map(|violation| {
        let mut text = listing.violation(program, run, *violation);
        text.push_str(&listing.origins(program, run, *violation));
        text.trim_end().to_owned()
    });
    let mut lines: Vec<String> = wrong.chain(judged.iter().map(headline)).collect();
    if lines.is_empty() {
        let line = if cycle { "the last steps repeat for ever" } else { "a run without an error" };
        lines.push(line.to_owned());
    }
    lines
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
        .stop(stop_on_interrupt());
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
        output = write(&trail, &path);
        fit.fitted.steps = run;
        fit.fitted.cycle_start = None;
    }
    Ok(Some(JsonShortened { from, steps, shortest, reason, output }))
}

/// Tells what a user should know about how a trail fits.
pub fn tell_notes(fit: &Fit, output: &OutputArgs) {
    for note in fit.fitted.notes.iter().filter(|_| !output.quiet) {
        say(&format!("note: {note}"));
    }
}

/// Writes a trail; gives where it is. What is told of the run matters more than the file.
pub fn write(trail: &Trail, path: &Path) -> Option<String> {
    let shown = path.display().to_string();
    match std::fs::write(path, trail.to_text()) {
        Ok(()) => Some(shown),
        Err(problem) => {
            say(&format!("warning: cannot write the trail to {shown}: {problem}"));
            None
        }
    }
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
        .map_err(|problem| {
            let meant = meant_file(path, &problem);
            Failure::usage(format!("cannot read the trail {name}: {problem}{meant}"))
        })?;
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

fn human(args: &Args, model: &Model, shown: &Shown<'_>) -> Result<String, Failure> {
    let Shown { run, cycle, judged } = *shown;
    let color = args.output.color.stdout();
    let listing = Listing { color, claim: args.show_claim, grouped: true };
    let program = &model.program;
    let mut text = if args.chart { picture::chart(run, listing)? } else { listing.steps(run) };
    if run.length == 0 {
        text.push_str("The trail has no steps: this is the initial state.\n");
    }
    for violation in &run.violations {
        text.push_str(&listing.violation(program, run, *violation));
        text.push_str(&listing.origins(program, run, *violation));
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
    Ok(text)
}
