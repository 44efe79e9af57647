//! `spinward ltl`: formulas of temporal logic, without a model.

mod formulas;
mod pattern;

use std::fmt::Write as _;

use clap::ValueEnum;
use spinward_property::traces::{self, written};
use spinward_property::{
    Formula, Lasso, TooLarge, difference, holds, print as automata, simplify_formula, translate,
    translate_to_buchi,
};

use self::formulas::Given;
use self::pattern::{PatternArgs, Wish};
use crate::args::{OutputArgs, defines};
use crate::terminal::{EXIT_VIOLATED, Failure, print};

/// So many runs of each kind are shown.
const SAMPLES: usize = 5;

const EXAMPLES: &str = "\
Examples:
  spinward ltl '[] (request -> <> answer)'               a never claim, as spin -f prints it
  spinward ltl --negate '[] (request -> <> answer)'      the claim that checks this property
  spinward ltl --format hoa '(p U q) && []<> r'          for Spot and others
  spinward ltl --pattern response -p request -t answer   a formula for those who know none
  spinward ltl --pattern list
  spinward ltl --test 'p U q'                            runs that it accepts and rejects
  spinward ltl --trace '--p--q-' '[] (p -> <> q)'        is it true of this run?
  spinward ltl --equivalent '<>[] !p' '!([]<> p)'

In a trace each sign is a state: - one in which nothing holds, a letter one in which the proposition
of that name holds, (pq) one in which both do, (request,p) the same with longer names. The part in
braces, at the end, repeats for ever; without it the last state does: --p{q-}

The exit code of --trace is 1 if the formula is false of a trace, that of --equivalent is 1 if the
formulas differ.";

/// Make automata of formulas of temporal logic, and show what formulas mean.
///
/// The never claim is that of the formula as it is given, as spin -f has it: it accepts the runs of
/// which the formula is true. To check that a property holds, give --negate.
///
/// Formulas have SPIN's syntax: [] <> X U W V ! && || -> <->, or always, eventually, next, until,
/// weakuntil, release, implies, equivalent. Everything else in them is a proposition, which is not
/// looked into.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The formula
    #[arg(required_unless_present = "pattern", conflicts_with = "pattern")]
    formula: Option<String>,

    #[command(flatten)]
    pattern: PatternArgs,

    /// Negate the formula, as for a property to check
    #[arg(long, help_heading = "Formula")]
    negate: bool,

    /// Define a macro for the preprocessor
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Formula")]
    define: Vec<String>,

    /// Show small runs that the formula accepts and rejects
    #[arg(long, help_heading = "Questions", conflicts_with_all = ["trace", "equivalent"])]
    test: bool,

    /// Tell whether the formula is true of a run; may repeat
    #[arg(long, help_heading = "Questions", allow_hyphen_values = true)]
    #[arg(conflicts_with = "equivalent")]
    trace: Vec<String>,

    /// Tell whether another formula means the same, and if not, a run that shows it
    #[arg(long, value_name = "FORMULA", help_heading = "Questions")]
    equivalent: Option<String>,

    /// never for a never claim, hoa for an automaton in the Hanoi format, dot for Graphviz, formula for
    /// a simpler formula [default: never]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    #[arg(hide_possible_values = true, conflicts_with_all = ["test", "trace", "equivalent"])]
    format: Option<Format>,

    /// With accepting states, as never claims have them, instead of acceptance sets of edges
    #[arg(long, requires = "format", help_heading = "Output")]
    state_based: bool,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Never,
    Hoa,
    Dot,
    Formula,
}

/// What the command is about.
struct Subject {
    formula: Formula,
    /// The formula as the user wrote it.
    text: String,
    /// What it says in English, if it is made from a pattern.
    contract: Option<String>,
    /// What `--equivalent` gives.
    other: Option<(Formula, String)>,
    /// The propositions.
    names: Vec<String>,
    /// Those that SPIN does not let be negated by `!`, and their negations.
    negations: Vec<(String, String)>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let wish = args.pattern.wish()?;
    if matches!(wish, Wish::List) {
        print(&pattern::list()?)?;
        return Ok(0);
    }
    if args.state_based && args.format == Some(Format::Formula) {
        return Err(Failure::usage("--state-based is for automata, not for --format formula"));
    }
    let subject = subject(args, &wish)?;
    if let Some(other) = &subject.other {
        return compare(&subject, other);
    }
    if !args.trace.is_empty() {
        return evaluate(&subject, &args.trace);
    }
    let mut out = String::new();
    match (args.format, &subject.contract) {
        (None, Some(contract)) => {
            let _ = writeln!(out, "{}\n\n{contract}", subject.text);
            if args.test {
                out.push('\n');
            }
        }
        (Some(Format::Never | Format::Hoa | Format::Dot), Some(contract)) => {
            let _ = writeln!(out, "/* {} */", contract.replace("*/", "* /"));
        }
        _ => {}
    }
    if args.test {
        out.push_str(&samples(&subject)?);
    } else if let Some(format) =
        args.format.or_else(|| args.formula.is_some().then_some(Format::Never))
    {
        out.push_str(&converted(&subject, format, args.state_based)?);
    }
    print(&out)?;
    Ok(0)
}

/// Reads what the command is about.
fn subject(args: &Args, wish: &Wish<'_>) -> Result<Subject, Failure> {
    let mut given = match wish {
        Wish::Make(filled) => filled.given(),
        _ => args.formula.iter().map(|text| Given { place: "formula", text }).collect(),
    };
    given.extend(args.equivalent.iter().map(|text| Given { place: "--equivalent", text }));
    let formulas = formulas::read(&given, defines(&args.define), &args.output)?;
    let formulas::Formulas { mut all, names, negations } = formulas;
    let other = args.equivalent.as_ref().and_then(|text| Some((all.pop()?, on_one_line(text))));
    let (mut formula, mut text, mut contract) = match wish {
        Wish::Make(filled) => {
            let formula = filled.formula(&all)?;
            let text = formula.display(&names).to_string();
            (formula, text, Some(filled.contract()?))
        }
        _ => {
            let formula = all.pop().ok_or_else(|| Failure::usage("there is no formula"))?;
            (formula, on_one_line(args.formula.as_deref().unwrap_or_default()), None)
        }
    };
    if args.negate {
        formula = formula.not();
        text = format!("!({text})");
        contract = contract.map(|contract| format!("Violated: {contract}"));
    }
    Ok(Subject { formula, text, contract, other, names, negations })
}

/// A text with a blank wherever it has white space.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn too_large(problem: TooLarge) -> Failure {
    Failure::usage(problem.to_string())
}

/// The formula as an automaton, or simplified.
fn converted(subject: &Subject, format: Format, by_state: bool) -> Result<String, Failure> {
    let Subject { formula, text, names, .. } = subject;
    if format == Format::Formula {
        return Ok(format!("{}\n", simplify_formula(formula).display(names)));
    }
    if by_state || format == Format::Never {
        let buchi = translate_to_buchi(formula).map_err(too_large)?;
        return Ok(match format {
            Format::Hoa => automata::hoa_by_state(&buchi, names, text),
            Format::Dot => automata::dot_by_state(&buchi, names),
            Format::Never | Format::Formula => {
                let claim = automata::never_claim(&buchi, names, text);
                subject.negations.iter().fold(claim, |claim, (test, opposite)| {
                    claim.replace(&format!("!({test})"), &format!("({opposite})"))
                })
            }
        });
    }
    let automaton = translate(formula).map_err(too_large)?;
    Ok(match format {
        Format::Dot => automata::dot(&automaton, names),
        _ => automata::hoa(&automaton, names, text),
    })
}

/// Small runs that show what the formula means.
fn samples(subject: &Subject) -> Result<String, Failure> {
    let Subject { formula, names, .. } = subject;
    let samples = traces::samples(formula, SAMPLES).map_err(too_large)?;
    let mut out = String::new();
    for (verb, runs) in [("accepts", &samples.accepted), ("rejects", &samples.rejected)] {
        if runs.is_empty() {
            let _ = writeln!(out, "{verb} no run");
            continue;
        }
        let _ = writeln!(out, "{verb}, among others:");
        for lasso in runs {
            let _ = writeln!(out, "  {}", written(lasso, names));
        }
    }
    if !simplify_formula(formula).stutter_invariant() {
        out.push_str(
            "\nBecause of X it makes a difference how often states are repeated, so that partial-order\n\
             reduction cannot be used.\n",
        );
    }
    Ok(out)
}

/// Tells of which of the traces the formula is true.
fn evaluate(subject: &Subject, traces: &[String]) -> Result<u8, Failure> {
    let read = |text: &String| {
        traces::read(text, &subject.names).map_err(|problem| {
            let names = subject.names.join(", ");
            let known = if names.is_empty() { String::new() } else { format!(" (it has {names})") };
            let known = match problem {
                traces::TraceError::Unknown(_) => known,
                _ => String::new(),
            };
            Failure::usage(format!("the trace '{text}' cannot be read: {problem}{known}"))
        })
    };
    let lassos: Vec<Lasso> = traces.iter().map(read).collect::<Result<_, _>>()?;
    let mut code = 0;
    let mut out = String::new();
    for (lasso, text) in lassos.iter().zip(traces) {
        let truth = holds(&subject.formula, lasso);
        if !truth {
            code = EXIT_VIOLATED;
        }
        let _ = writeln!(out, "{truth}: {text}");
    }
    print(&out)?;
    Ok(code)
}

/// Tells whether the two formulas mean the same.
fn compare(subject: &Subject, (other, text): &(Formula, String)) -> Result<u8, Failure> {
    match difference(&subject.formula, other).map_err(too_large)? {
        None => {
            print("equivalent: they are true of the same runs\n")?;
            Ok(0)
        }
        Some(run) => {
            let run = run.shortest();
            let mut out = format!("not equivalent: of the run {}\n", written(&run, &subject.names));
            for (formula, text) in [(&subject.formula, &subject.text), (other, text)] {
                let truth = holds(formula, &run);
                let _ = writeln!(out, "  {text}\n    is {truth}");
            }
            print(&out)?;
            Ok(EXIT_VIOLATED)
        }
    }
}
