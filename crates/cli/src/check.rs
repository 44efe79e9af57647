//! `spinward check`: verifies a model.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use spinward::words::{counted, quoted_path, thousands};
use spinward::{
    Audit, Check, Engine, Fairness, Guide, Model, Optimize, Por, Progress, Property, Reason,
    ReasonCode, Report, ReportedError, Search, Store, Verdict,
};
use spinward_machine::{Machine, Violation};
use spinward_trail::run::{Keep, Run, StepLine};
use spinward_trail::{Answer, Listing, describe};

use crate::args::{
    InvariantArgs, ModelArgs, OutputArgs, claim_to_shell, count, formulas, ltl_to_shell, named,
    numbered, seconds, size,
};
use crate::formats::Format;
use crate::model;
use crate::picture;
use crate::progress::ProgressLine;
use crate::terminal::{self, EXIT_USAGE, Failure, bytes, print, say};
use crate::trail;

/// Runs up to this length are shown in full.
const SHOWN_IN_FULL: usize = 40;
/// So many unreached statements are listed; the JSON has all.
const UNREACHED_SHOWN: usize = 20;

const EXAMPLES: &str = "\
Examples:
  spinward check peterson.pml
  spinward check --search dfs -D N=4 leader.pml
  spinward check --errors 0 --time 60 protocol.pml
  spinward check --invariant 'ncrit <= 1' peterson.pml
  spinward check --report run.html protocol.pml
  spinward check --format json model.pml | jq .verdict
  spinward check --format junit model.pml > results.xml";

/// What comes after the options: all guides, and examples.
fn after_help() -> String {
    let mut text = String::from("Guides (* never too much, so that astar finds shortest runs):\n");
    for guide in spinward_guide::GUIDES {
        let argument = guide.argument.map_or(String::new(), |it| format!("; takes {it}"));
        let mark = if guide.admissible { '*' } else { ' ' };
        let _ = writeln!(text, "  {:<12} {mark} {}{argument}", guide.name, guide.idea);
    }
    format!("{text}\n{EXAMPLES}\n  spinward check --search astar --guide active philosophers.pml")
}

/// Verify a model: assertions, deadlocks, invariants, never claims, traces.
///
/// Looks at every state the model can come to and tells the first thing that is wrong: an
/// assertion that is false, an invalid end state (deadlock), a never claim that comes to its end,
/// a trace that does not match, or a statement that has no meaning (a division by zero, an index
/// out of bounds). The run that leads there is shown and written to a trail file.
///
/// With --ltl, --invariant or --safety only what they ask for is checked.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = after_help())]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// Check this property only: the name of an ltl block or never claim, or a formula
    #[arg(long, value_name = "NAME|FORMULA", help_heading = "What to check")]
    ltl: Vec<String>,

    #[command(flatten)]
    invariant: InvariantArgs,

    /// Check assertions, end states and traces only
    #[arg(long, help_heading = "What to check")]
    safety: bool,

    /// Check that no run goes on for ever without coming through a label progress...
    #[arg(long, help_heading = "What to check")]
    non_progress: bool,

    /// Check that no run comes through a label accept... again and again
    #[arg(long, help_heading = "What to check")]
    acceptance: bool,

    /// Check a never claim, or an automaton in the HOA format whose propositions are expressions about
    /// the model, as if it stood in the model
    #[arg(long, value_name = "FILE", help_heading = "What to check")]
    claim: Option<PathBuf>,

    /// Which infinite runs count: all (none), those in which whoever can always move does (weak), or
    /// whoever can move again and again does (strong) [default: none]
    #[arg(long, value_parser = named(Fairness::ALL, Fairness::name), hide_possible_values = true, value_name = "KIND", help_heading = "What to check")]
    fair: Option<Fairness>,

    /// The order in which states are visited: auto, sweep, dfs, bfs, or by a guide astar, wastar, greedy or ida; those
    /// that look at a part only: beam, hill, random or swarm; or how cycles are looked for: scc,
    /// scc-shy, scc-shy-minus, ndfs, indfs, se05, tau03, cndfs (several threads) or by a guide astar-indfs
    #[arg(long, value_parser = named(Search::ALL, Search::name), hide_possible_values = true, value_name = "NAME", default_value = "auto", help_heading = "How to search")]
    search: Search,

    /// How far a state is from an error, for astar, wastar, greedy, ida, beam, hill, random and astar-indfs; see below
    /// [default: chosen from the property]
    #[arg(long, value_name = "NAME[=ARG]", help_heading = "How to search")]
    guide: Option<Guide>,

    /// For wastar and ida: how much the estimate counts [default: 1]
    #[arg(long, value_name = "W", allow_negative_numbers = true, help_heading = "How to search")]
    weight: Option<f64>,

    /// For beam: how many states of each level are kept [default: 1000]
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    width: Option<usize>,

    /// For random and swarm: from which number all that is left to chance follows [default: 0]
    #[arg(
        long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    seed: Option<u64>,

    /// Partial-order reduction, which leaves out moves that make no difference: on, off or transactions
    /// (for locks; no invalid end states) [default: on]
    #[arg(long, value_parser = named(Por::ALL, Por::name), hide_possible_values = true, value_name = "KIND", help_heading = "What to leave out")]
    por: Option<Por>,

    /// Changes to the model that keep its meaning: none or full [default: full]
    #[arg(long, value_parser = named(Optimize::ALL, Optimize::name), hide_possible_values = true, value_name = "none|full", help_heading = "What to leave out")]
    optimize: Option<Optimize>,

    /// Whether states that differ only in which of like processes is which count as one: on or off
    /// [default: off]
    #[arg(long, value_name = "on|off", help_heading = "What to leave out")]
    symmetry: Option<Switch>,

    /// Check with and without all that leaves out states, and compare the answers
    #[arg(long, help_heading = "What to leave out")]
    audit: bool,

    /// How visited states are remembered: exact, tree or delta (less memory), compact or bitstate (much less,
    /// but some may be missed), or stack (only the run at hand)
    #[arg(long, value_parser = named(Store::ALL, Store::name), hide_possible_values = true, value_name = "NAME", help_heading = "How to search")]
    store: Option<Store>,

    /// For --store compact: bits kept of a state, 32 to 64; for bitstate: the table has 2^N bits
    #[arg(
        long, value_name = "N", value_parser = count::<u32>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    bits: Option<u32>,

    /// For --store bitstate: how many bits each state sets [default: 3]
    #[arg(
        long, value_name = "K", value_parser = count::<u32>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    hashes: Option<u32>,

    /// How steps are computed: compiled or interpreter
    #[arg(long, value_parser = named(Engine::ALL, Engine::name), hide_possible_values = true, value_name = "NAME", help_heading = "How to search")]
    engine: Option<Engine>,

    /// How many threads may search [default: all processors, but one in searches by a guide]. The answer is the same
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    threads: Option<usize>,

    /// Use no more memory than this, e.g. 4G
    #[arg(
        long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    memory: Option<u64>,

    /// Keep states in this folder, which is made, when they do not fit into memory any more; with --search bfs or astar
    #[arg(long, value_name = "DIR", conflicts_with = "resume", help_heading = "Limits")]
    disk: Option<PathBuf>,

    /// Go on with a check that was begun with --disk DIR, and was interrupted; all else must be asked for as then
    #[arg(long, value_name = "DIR", help_heading = "Limits")]
    resume: Option<PathBuf>,

    /// Look only at runs of at most N steps
    #[arg(
        long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    max_depth: Option<u64>,

    /// Stop when N states are visited
    #[arg(
        long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    max_states: Option<u64>,

    /// Stop after so many seconds
    #[arg(
        long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    time: Option<Duration>,

    /// Stop after N errors; 0: look at everything and count them
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        default_value = "1", help_heading = "Limits"
    )]
    errors: usize,

    /// Report a shortest run to the error
    #[arg(long, help_heading = "How to search")]
    shortest: bool,

    /// Whether a shorter run to the same error is looked for, with a tenth of the states, if the one found need not be
    /// a shortest one: on or off [default: on, but off with --search dfs]
    #[arg(long, value_name = "on|off", help_heading = "How to search")]
    shorten: Option<Switch>,

    /// Where to write the trail of an error [default: MODEL.trail]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    trail: Option<PathBuf>,

    /// Write the run to an error, with its sequence chart, as a page for browsers
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,

    /// For people or for programs; what is for programs goes to standard output, alone
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = "Output")]
    format: Format,

    /// Do not show how far the search is
    #[arg(long, help_heading = "Output")]
    no_progress: bool,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    Off,
    On,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    match try_run(args) {
        Ok(mut checked) => {
            write_trails(args, &mut checked);
            let runs = if args.format == Format::Sarif { steps(&checked)? } else { Vec::new() };
            print(&match args.format.of_report(&checked.report, &runs) {
                Some(text) => text,
                None => human(args, &checked)?,
            })?;
            clean_up(args, &checked.report);
            if let Some(path) = &args.report {
                match write_pages(args, &checked, path) {
                    // The verdict matters more than the file.
                    Err(failure) if failure.code == EXIT_USAGE => {
                        say(&format!("warning: {}", failure.message));
                    }
                    result => result?,
                }
            }
            Ok(checked.report.exit_code())
        }
        Err(error) => {
            let report = Report::of_error(&args.model.name(), &error);
            if let Some(text) = args.format.of_report(&report, &[]) {
                print(&text)?;
            }
            Err(model::tell(&error, &args.output))
        }
    }
}

/// Removes what is on disk, unless there is something to go on with.
fn clean_up(args: &Args, report: &Report) {
    if let Some(folder) = args.disk.as_ref().or(args.resume.as_ref())
        && report.resumable.is_none()
        && let Err(problem) = spinward::disk::remove(folder)
    {
        say(&format!("warning: cannot remove {}: {problem}", folder.display()));
    }
}

/// A report, and the model for telling its runs.
struct Checked {
    model: Model,
    report: Report,
}

fn try_run(args: &Args) -> Result<Checked, spinward::Error> {
    let formulas = formulas(&args.ltl);
    let conditions = &args.invariant.invariants;
    let model = model::try_load(&args.model, conditions, &formulas, args.claim.as_deref())?;
    model::show(model.source_map(), &model.warnings, &args.output);
    let mut check = configure(args, model.clone());
    if let Some(path) = args.guide.as_ref().and_then(Guide::trail) {
        let fit = trail::read(&model, Path::new(path))
            .map_err(|failure| spinward::Error::Usage(failure.message))?;
        check = check.toward(fit.fitted.steps);
    }
    let wanted = !args.no_progress && !args.output.quiet && args.format == Format::Human;
    let mut line = ProgressLine::new(wanted);
    let mut best = None;
    let result = check
        .stop_flag(terminal::stop_on_interrupt())
        .on_progress(|progress| {
            if progress.best.is_some() && progress.best != best {
                best = progress.best;
                tell_best(args, &line, progress);
            }
            line.show(progress);
        })
        .run();
    drop(line);
    Ok(Checked { model, report: result? })
}

fn configure<'a>(args: &Args, model: Model) -> Check<'a> {
    let mut check = Check::new(model)
        .search(args.search)
        .errors(args.errors)
        .shortest(args.shortest)
        .audit(args.audit)
        .symmetry(args.symmetry == Some(Switch::On));
    for name in &args.ltl {
        check = check.property(Property::Ltl(name.clone()));
    }
    for expr in &args.invariant.invariants {
        check = check.property(Property::Invariant(expr.clone()));
    }
    let flags = [
        (args.safety, Property::Safety),
        (args.non_progress, Property::NonProgress),
        (args.acceptance, Property::Acceptance),
    ];
    for (asked, property) in flags {
        if asked {
            check = check.property(property);
        }
    }
    if let Some(shorten) = args.shorten {
        check = check.shorten(shorten == Switch::On);
    }
    if let Some(fairness) = args.fair {
        check = check.fairness(fairness);
    }
    if let Some(guide) = &args.guide {
        check = check.guide(guide.clone());
    }
    if let Some(weight) = args.weight {
        check = check.weight(weight);
    }
    if let Some(width) = args.width {
        check = check.width(width);
    }
    if let Some(seed) = args.seed {
        check = check.seed(seed);
    }
    if let Some(por) = args.por {
        check = check.por(por);
    }
    if let Some(optimize) = args.optimize {
        check = check.optimize(optimize);
    }
    if let Some(store) = args.store {
        check = check.store(store);
    }
    if let Some(bits) = args.bits {
        check = check.bits(bits);
    }
    if let Some(hashes) = args.hashes {
        check = check.hashes(hashes);
    }
    if let Some(engine) = args.engine {
        check = check.engine(engine);
    }
    if let Some(threads) = args.threads {
        check = check.threads(threads);
    }
    if let Some(memory) = args.memory {
        check = check.memory(memory);
    }
    if let Some(folder) = &args.disk {
        check = check.disk(folder.clone());
    }
    if let Some(folder) = &args.resume {
        check = check.resume(folder.clone());
    }
    if let Some(depth) = args.max_depth {
        check = check.max_depth(depth);
    }
    if let Some(states) = args.max_states {
        check = check.max_states(states);
    }
    if let Some(time) = args.time {
        check = check.time(time);
    }
    check
}

/// Tells that a run was found while shorter ones are looked for.
fn tell_best(args: &Args, line: &ProgressLine, progress: &Progress) {
    let wanted = args.shortest && !args.output.quiet && args.format == Format::Human;
    let Some(steps) = progress.best.filter(|_| wanted) else {
        return;
    };
    let states = counted(progress.counts.states, "state");
    line.say(&format!(
        "a run of {} to an error after {states}; looking for a shorter one",
        counted(steps.into(), "step")
    ));
}

/// The depth, if the search knows one: a sweep does not.
fn depth(depth: u64) -> String {
    if depth == 0 { String::new() } else { format!("depth {}, ", thousands(depth)) }
}

/// Writes the trail of each error, and says in the report where.
fn write_trails(args: &Args, checked: &mut Checked) {
    let base = args.trail.clone().unwrap_or_else(|| args.model.default_trail());
    for (index, error) in checked.report.errors.iter_mut().enumerate() {
        let path = numbered(&base, index + 1, ".trail");
        let cycle_start = error.cycle_index;
        let trail = spinward_trail::Trail::of_run(
            &checked.model.program,
            error.watched.claim,
            &error.run,
            cycle_start,
        );
        error.trail = trail::write(&trail, &path);
    }
}

/// Writes a page for each error, named as trails are; one that says so if there is none.
fn write_pages(args: &Args, checked: &Checked, path: &Path) -> Result<(), Failure> {
    let Checked { model, report } = checked;
    let title = args.model.name();
    let verdict_line = verdict_line(report);
    if report.errors.is_empty() {
        let machine = model::machine(model, Default::default(), Arc::default())?;
        let page = spinward_trail::Report {
            machine: &machine,
            steps: &[],
            cycle_start: None,
            title: &title,
            answer: match report.verdict {
                Verdict::Verified => Answer::Fine,
                _ => Answer::Unknown,
            },
            verdict: &[verdict_line],
            notes: &report.notes,
            dimmed: &[],
        };
        return picture::write_page(&page, path, &args.output);
    }
    for (index, error) in report.errors.iter().enumerate() {
        let machine = model::machine(model, error.watched.clone(), Arc::default())?;
        let (steps, cycle_start) = (error.run.as_slice(), error.cycle_index);
        let run = replayed(&machine, error, Keep::SHORT)?;
        let listing = Listing::default();
        let program = &model.program;
        let mut verdict = vec![headline(error)];
        if error.cycle_start.is_none() && error.violation != Violation::ClaimEnd {
            verdict.push(listing.violation(program, &run, error.violation).trim_end().to_owned());
            let origins = listing.origins(program, &run, error.violation);
            verdict.extend(origins.lines().map(str::to_owned));
        }
        let dimmed = picture::dimmed(&machine, steps, cycle_start, &error.watched.watched)?;
        let page = spinward_trail::Report {
            machine: &machine,
            steps,
            cycle_start,
            title: &title,
            answer: Answer::Wrong,
            verdict: &verdict,
            notes: &report.notes,
            dimmed: &dimmed,
        };
        picture::write_page(&page, &numbered(path, index + 1, ".html"), &args.output)?;
    }
    Ok(())
}

/// The report for people: the verdict first.
fn human(args: &Args, checked: &Checked) -> Result<String, Failure> {
    let report = &checked.report;
    let listing = Listing { color: args.output.color.stdout(), ..Listing::default() };
    let mut text = String::new();
    let _ = writeln!(text, "{}", verdict_in_color(report, listing));
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for (index, error) in report.errors.iter().enumerate() {
        if index > 0 {
            let _ = writeln!(text, "\n{}", listing.bold(&headline(error)));
        }
        text.push_str(&tell_error(args, checked, error, listing)?);
    }
    if report.verdict == Verdict::Violated {
        for reason in report.reasons.iter().filter(|it| it.code != ReasonCode::Errors) {
            let _ = writeln!(text, "\nnot everything was looked at: {}", reason.message);
        }
    }
    let later: Vec<&str> =
        report.properties.iter().filter(|it| !it.was_begun()).map(|it| &*it.name).collect();
    if !later.is_empty() {
        let _ = writeln!(text, "not begun, as the check had ended: {}", later.join(", "));
    }
    if report.verdict == Verdict::Incomplete {
        let advice = |reason| advice(reason, report);
        let mut advised: Vec<&str> = report.reasons.iter().map(advice).collect();
        advised.dedup();
        let met = report.reasons.iter().any(|it| it.code == ReasonCode::ErrorMet);
        advised.retain(|advice| !(advice.is_empty() || met && advice.ends_with("no errors.")));
        for advice in advised {
            let _ = writeln!(text, "{advice}");
        }
    }
    if let Some(recommendation) = &report.recommendation {
        let _ = writeln!(text, "{}", recommendation.message);
    }
    if let Some(audit) = &report.audit {
        text.push_str(&tell_audit(audit));
    }
    if !args.output.quiet {
        text.push_str(&unreached(report));
        text.push_str(&statistics(report));
    }
    Ok(text)
}

/// How many states each run of an audit visited, and whether the answers agree.
fn tell_audit(audit: &Audit) -> String {
    let mut text = String::from("\naudit:\n");
    let whole = audit.runs.first().filter(|run| run.complete).map(|run| run.states);
    let width = audit.runs.iter().map(|run| run.leaves_out().len()).max().unwrap_or(0);
    for run in &audit.runs {
        let answer = match (run.complete, run.errors.len()) {
            (true, 0) => "no errors".to_owned(),
            (true, errors) => counted(errors as u64, "error"),
            (false, errors) => format!("{}, not complete", counted(errors as u64, "error")),
        };
        let saved = match whole.filter(|&whole| run.complete && run.states < whole) {
            Some(whole) => format!(", {:.3} of all", run.states as f64 / whole as f64),
            None => String::new(),
        };
        let states = counted(run.states, "state");
        let _ = writeln!(text, "  {:<width$} {states}{saved}: {answer}", run.leaves_out());
    }
    if audit.disagreements.is_empty() {
        text.push_str("  the answers agree\n");
    }
    for missed in &audit.disagreements {
        let _ = writeln!(text, "  missed {missed}");
    }
    if !audit.disagreements.is_empty() {
        text.push_str("  this is a bug of Spinward: please report it, with the model\n");
    }
    text
}

/// The verdict, its first word in a colour that tells it from afar.
fn verdict_in_color(report: &Report, listing: Listing) -> String {
    let line = verdict_line(report);
    let color = match report.verdict {
        Verdict::Verified => "\x1b[1;32m",
        Verdict::Violated => "\x1b[1;31m",
        Verdict::Incomplete | Verdict::Error => "\x1b[1;33m",
    };
    match line.split_once(':') {
        Some((word, rest)) if listing.color => {
            format!("{color}{word}\x1b[0m{}", listing.bold(&format!(":{rest}")))
        }
        _ => line,
    }
}

fn verdict_line(report: &Report) -> String {
    let statistics = &report.statistics;
    let counts = format!(
        "{}, {}",
        counted(statistics.states, "state"),
        counted(statistics.transitions, "transition")
    );
    match report.verdict {
        Verdict::Verified => format!("verified: no errors; {counts}, complete search"),
        Verdict::Violated => match report.errors.first() {
            Some(error) if report.errors.len() == 1 => format!("violated: {}", headline(error)),
            Some(error) => format!(
                "violated: {} different errors; the first: {}",
                report.errors.len(),
                headline(error)
            ),
            None => "violated".into(),
        },
        Verdict::Incomplete | Verdict::Error => {
            let reasons: Vec<&str> = report.reasons.iter().map(|r| r.message.as_str()).collect();
            let met = report.reasons.iter().any(|it| it.code == ReasonCode::ErrorMet);
            let errors = if met { "an error" } else { "no errors" };
            format!("incomplete: {errors} in {counts}, but {}", reasons.join("; "))
        }
    }
}

/// An error in one line, with its place.
pub fn headline(error: &ReportedError) -> String {
    let what = match error.kind {
        "assertion" => format!("{} is false", error.property),
        _ => error.message.clone(),
    };
    match (&error.file, error.line) {
        (Some(file), Some(line)) => format!("{what} at {file}:{line}"),
        _ => what,
    }
}

/// The run to an error in the model's own terms.
fn replayed(machine: &Machine, error: &ReportedError, keep: Keep) -> Result<Run, Failure> {
    describe(machine, &error.run, error.cycle_index, keep).map_err(|misfit| {
        Failure::internal(format!("the run to an error does not replay: {misfit}"))
    })
}

/// The steps of the runs to all errors, of very long ones the first and the last: hosts refuse more.
fn steps(checked: &Checked) -> Result<Vec<Vec<StepLine>>, Failure> {
    let keep = Keep { first: 500, last: 500 };
    let steps = |error: &ReportedError| {
        let machine = model::machine(&checked.model, error.watched.clone(), Arc::default())?;
        let run = replayed(&machine, error, keep)?;
        Ok(run.first.into_iter().chain(run.last).collect())
    };
    checked.report.errors.iter().map(steps).collect()
}

/// The run to an error, and how to see more of it.
fn tell_error(
    args: &Args,
    checked: &Checked,
    error: &ReportedError,
    listing: Listing,
) -> Result<String, Failure> {
    let mut text = String::new();
    let keep = if error.run.len() <= SHOWN_IN_FULL { Keep::ALL } else { Keep::SHORT };
    let machine = model::machine(&checked.model, error.watched.clone(), Arc::default())?;
    let run = replayed(&machine, error, keep)?;
    let steps = counted(error.steps as u64, "step");
    let shortest = if error.shortest { "A shortest run" } else { "A run" };
    let title = match error.cycle_start {
        None if error.run.is_empty() => "It is there in the initial state.".to_owned(),
        None => match error.shortened_from {
            Some(found) => {
                let found = thousands(found as u64);
                format!("{shortest} to it ({steps}; the search found one of {found}):")
            }
            None => format!("{shortest} to it ({steps}):"),
        },
        Some(start) if start == error.steps => {
            format!("{shortest} of which it is so ({steps}, then nobody can move):")
        }
        Some(start) => {
            let cycle = counted((error.steps - start) as u64, "step");
            format!("{shortest} of which it is so ({steps}, the last {cycle} for ever):")
        }
    };
    let _ = writeln!(text, "\n{title}");
    text.push_str(&listing.steps(&run));
    // What a formula says is said already.
    let is_formula = error.violation == Violation::ClaimEnd && error.watched.claim.is_none();
    if error.cycle_start.is_none() && !is_formula {
        let program = &checked.model.program;
        text.push_str(&listing.violation(program, &run, error.violation));
        text.push_str(&listing.origins(program, &run, error.violation));
    }
    let watched = &error.watched.watched;
    text.push_str(&picture::unneeded(&machine, &error.run, error.cycle_index, watched)?);
    let place = match error.cycle_start {
        None => "there",
        Some(start) if start == error.steps => "it stays in",
        Some(_) => "where it starts again",
    };
    let _ = writeln!(text, "\nThe state {place}:");
    text.push_str(&listing.state(&checked.model.program, &run.end));
    if let Some(trail) = &error.trail {
        let options = args.model.to_shell()
            + &args.invariant.to_shell()
            + &ltl_to_shell(&args.ltl)
            + &claim_to_shell(args.claim.as_deref());
        let _ = writeln!(
            text,
            "\nThe run is in {trail}. To see it all, step by step:\n  spinward trail{options} {} {}",
            quoted_path(&args.model.model),
            quoted_path(Path::new(trail))
        );
    }
    // A search that ends with the first error happens to meet some more of it on the way.
    if error.occurrences > 1 && args.errors == 0 {
        let _ = writeln!(text, "It was met {} times.", thousands(error.occurrences));
    }
    Ok(text)
}

/// What to do about a search that did not look at everything.
fn advice(reason: &Reason, report: &Report) -> &'static str {
    match reason.code {
        ReasonCode::MaxDepth => "To look further: a larger --max-depth, or none.",
        ReasonCode::MaxStates => "To look further: a larger --max-states, or none.",
        ReasonCode::Time => "To look further: a larger --time, or none.",
        ReasonCode::Memory if report.store == "exact" && report.resumable.is_none() => {
            "To look further: --store tree, which mostly takes less memory but more time, --disk DIR, \
             which keeps states there, a larger --memory, or a smaller model (fewer processes, \
             smaller channels and counters)."
        }
        ReasonCode::Memory if report.resumable.is_none() => {
            "To look further: --disk DIR, which keeps states there, a larger --memory, or a smaller \
             model (fewer processes, smaller channels and counters)."
        }
        ReasonCode::Memory => {
            "To look further: a larger --memory, or a smaller model (fewer processes, smaller \
             channels and counters)."
        }
        ReasonCode::Interrupt => "What was looked at until the interrupt has no errors.",
        ReasonCode::Numbers => "The model has more states than this search can number.",
        ReasonCode::LeftOut if report.search == "beam" => {
            "To look further: a larger --width; to look at everything: --search astar."
        }
        ReasonCode::LeftOut if report.search == "random" => {
            "To look further: another --seed or more --time; to look at everything: --search astar."
        }
        ReasonCode::LeftOut => {
            "To look further: another --guide; to look at everything: --search astar."
        }
        ReasonCode::Disk => "What was looked at until then has no errors.",
        ReasonCode::NotChecked => "What was checked has no errors.",
        // What to do depends on more than the reason: see the recommendation.
        ReasonCode::Lossy | ReasonCode::Errors | ReasonCode::ErrorMet | ReasonCode::Error => "",
    }
}

fn unreached(report: &Report) -> String {
    let mut text = String::new();
    if report.unreached.is_empty() {
        return text;
    }
    let number = report.unreached.len() as u64;
    let _ = writeln!(text, "\n{} that no run comes to:", counted(number, "statement"));
    for statement in report.unreached.iter().take(UNREACHED_SHOWN) {
        let what = match statement.statement.as_str() {
            "-end-" => "the end of it",
            statement => statement,
        };
        let file = Path::new(&statement.file).file_name().unwrap_or_default();
        let _ = writeln!(
            text,
            "  {} {}:{}  {}",
            statement.proctype.trim_matches(':'),
            file.to_string_lossy(),
            statement.line,
            what
        );
    }
    if report.unreached.len() > UNREACHED_SHOWN {
        let more = report.unreached.len() - UNREACHED_SHOWN;
        let _ = writeln!(text, "  ... and {more} more (--format json lists all)");
    }
    text
}

fn statistics(report: &Report) -> String {
    let s = &report.statistics;
    let verified = report.verdict == Verdict::Verified;
    let counts = if verified {
        String::new()
    } else {
        format!("{}, {}, ", counted(s.states, "state"), counted(s.transitions, "transition"))
    };
    let on_disk = match s.disk_bytes {
        0 => String::new(),
        written => format!("{} on disk, ", bytes(written)),
    };
    let forced = match s.forced_completions {
        Some(forced) => counted(forced, "forced completion") + ", ",
        None => String::new(),
    };
    format!(
        "\n{counts}{forced}{}{} in memory, {on_disk}{:.2} s ({} search)\n{}",
        depth(s.depth),
        bytes(s.peak_memory),
        s.seconds.total,
        report.search,
        report.explanation.as_ref().map_or(String::new(), |what| format!("auto: {what}\n"))
    )
}
