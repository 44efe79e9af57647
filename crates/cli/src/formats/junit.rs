//! JUnit's XML, which CI systems show as the results of tests.
//!
//! There is no standard; what is written here is what Jenkins, GitLab and the actions of GitHub read: a suite for the
//! model, and in it a case for each property. One that is violated is a *failure*; one that could not be looked at as a
//! whole is an *error*, since a test that was not run to its end must not pass.

use std::fmt::Write as _;

use spinward::words::counted;
use spinward::{CheckedProperty, Report, ReportedDiagnostic, ReportedError, Verdict};
use spinward_program::graph::escape;

use crate::terminal::EXIT_INTERNAL;

/// What becomes of a case that does not pass.
struct Blame {
    /// `failure` or `error`
    element: &'static str,
    kind: String,
    message: String,
    /// More, in lines.
    text: Vec<String>,
}

/// A report as XML.
pub fn junit(report: &Report) -> String {
    let cases: Vec<(&str, f64, Option<Blame>)> = match report.verdict {
        Verdict::Error => vec![("check", 0.0, Some(no_check(report)))],
        _ => {
            report.properties.iter().map(|it| (&*it.name, it.seconds, blame(report, it))).collect()
        }
    };
    let count = |element: &str| {
        let of_kind = |blame: &&Blame| blame.element == element;
        cases.iter().filter_map(|(.., blame)| blame.as_ref()).filter(of_kind).count()
    };
    let totals = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\"",
        cases.len(),
        count("failure"),
        count("error"),
        report.statistics.seconds.total
    );
    let model = escape(&report.model);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(xml, "<testsuites name=\"spinward\" {totals}>");
    let _ = writeln!(xml, "  <testsuite name=\"{model}\" {totals}>");
    for (name, seconds, blame) in cases {
        let name = escape(name);
        let case = format!("testcase classname=\"{model}\" name=\"{name}\" time=\"{seconds:.3}\"");
        match blame {
            None => {
                let _ = writeln!(xml, "    <{case}/>");
            }
            Some(blame) => {
                let _ = writeln!(xml, "    <{case}>\n{}    </testcase>", blame.to_xml());
            }
        }
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

impl Blame {
    fn to_xml(&self) -> String {
        let Self { element, kind, message, text } = self;
        let lines: Vec<String> = text.iter().map(|line| escape(line)).collect();
        format!(
            "      <{element} type=\"{}\" message=\"{}\">{}</{element}>\n",
            escape(kind),
            escape(message),
            lines.join("\n")
        )
    }
}

/// Why a property does not pass.
fn blame(report: &Report, property: &CheckedProperty) -> Option<Blame> {
    let errors: Vec<&ReportedError> =
        property.errors.iter().filter_map(|&index| report.errors.get(index)).collect();
    match (property.verdict, errors.first()) {
        (Verdict::Verified, _) => None,
        (_, Some(first)) => Some(Blame {
            element: "failure",
            kind: first.kind.to_owned(),
            message: first.message.clone(),
            text: errors.iter().flat_map(|error| told(error)).collect(),
        }),
        (_, None) => Some(Blame {
            element: "error",
            kind: "incomplete".into(),
            message: "not everything was looked at".into(),
            text: property.reasons.clone(),
        }),
    }
}

fn told(error: &ReportedError) -> Vec<String> {
    let place = match (&error.file, error.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        _ => String::new(),
    };
    let mut lines = vec![format!("{place}{}", error.message)];
    let trail = error.trail.as_ref().map_or(String::new(), |trail| format!(", in {trail}"));
    let steps = counted(error.steps as u64, "step");
    lines.push(format!("a run of {steps} to it{trail}"));
    lines
}

/// Why there was no check.
fn no_check(report: &Report) -> Blame {
    let place = |it: &ReportedDiagnostic| match (&it.file, it.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        _ => String::new(),
    };
    let told = |it: &ReportedDiagnostic| {
        format!("{}{}[{}]: {}", place(it), it.severity, it.code, it.message)
    };
    Blame {
        element: "error",
        kind: match (report.exit_code(), report.diagnostics.is_empty()) {
            (EXIT_INTERNAL, _) => "internal".into(),
            (_, true) => "usage".into(),
            (_, false) => "model".into(),
        },
        message: report.reasons.first().map_or(String::new(), |reason| reason.message.clone()),
        text: report.diagnostics.iter().map(told).collect(),
    }
}
