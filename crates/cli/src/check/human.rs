//! The answer of a check, for people.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use spinward::words::{counted, quoted_path, thousands};
use spinward::{Audit, Reason, ReasonCode, Report, ReportedError, Verdict};
use spinward_machine::Violation;
use spinward_trail::Listing;
use spinward_trail::run::Keep;

use super::{Args, Checked, replayed};
use crate::args::{claim_to_shell, ltl_to_shell};
use crate::model;
use crate::picture;
use crate::terminal::{Failure, bytes};

/// Runs up to this length are shown in full.
const SHOWN_IN_FULL: usize = 40;
/// So many unreached statements are listed; the JSON has all.
const UNREACHED_SHOWN: usize = 20;

/// The report for people: the verdict first.
pub fn human(args: &Args, checked: &Checked) -> Result<String, Failure> {
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

/// The verdict in one line.
pub fn verdict_line(report: &Report) -> String {
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
            "To look further: --store tree, which mostly takes less memory but more time, --disk DIR \
             with --search bfs or astar, which keeps states there, a larger --memory, or a smaller \
             model (fewer processes, smaller channels and counters)."
        }
        ReasonCode::Memory if report.store == "tree" => {
            "To look further: --disk DIR with --search bfs or astar in place of --store tree, a \
             larger --memory, or a smaller model (fewer processes, smaller channels and counters)."
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

/// The depth, if the search knows one: a sweep does not.
fn depth(depth: u64) -> String {
    if depth == 0 { String::new() } else { format!("depth {}, ", thousands(depth)) }
}
