//! SARIF 2.1.0 (OASIS, 27 March 2020), which code hosts and editors show beside the text.
//!
//! Violations, diagnostics and unreached statements are results, each of a rule (section 3.27). A violation has its run as
//! a code flow (3.36), so that one can click through the steps. That not everything was looked at is a notification of the
//! tool (3.58), for it is no fault of the model.

use serde_json::{Value, json};
use spinward::{Report, ReportedDiagnostic, ReportedError, Unreached, Verdict};
use spinward_trail::run::StepLine;

use crate::messages;

/// The rules that a model can violate, with what they say. Codes of diagnostics have pages of their own.
const RULES: [(&str, &str); 9] = [
    ("assertion", "An assertion is false"),
    ("invalid-end-state", "No process can move, and not all are at a valid end"),
    ("invariant", "An invariant is false in some state"),
    (
        "never-claim",
        "A never claim comes to its end, or a formula does not hold whatever comes after",
    ),
    (
        "acceptance-cycle",
        "An infinite run is accepted by a claim, or a formula does not hold of it",
    ),
    ("non-progress-cycle", "A run goes on for ever without progress"),
    ("trace", "A run does what the trace forbids"),
    ("runtime", "A statement has no meaning where it is executed"),
    (UNREACHED, "A statement that no run comes to"),
];

const UNREACHED: &str = "unreached";

/// A report as a SARIF log.
pub fn sarif(report: &Report, runs: &[Vec<StepLine>]) -> String {
    let no_steps = Vec::new();
    let steps = |index: usize| runs.get(index).unwrap_or(&no_steps);
    let errors = report.errors.iter().enumerate();
    let mut results: Vec<Value> =
        errors.map(|(index, error)| violation(report, error, steps(index))).collect();
    results.extend(report.diagnostics.iter().map(|it| diagnostic(report, it)));
    results.extend(report.unreached.iter().map(unreached));
    let mut rules: Vec<&str> = results.iter().filter_map(|it| it["ruleId"].as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let rules: Vec<Value> = rules.into_iter().map(rule).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Spinward",
                "semanticVersion": report.version,
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            // Hosts take several runs of a tool only if each is about something else (3.17).
            "automationDetails": { "id": format!("spinward/{}/", report.model) },
            "invocations": [invocation(report)],
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&log).expect("JSON has no values that cannot be written") + "\n"
}

fn invocation(report: &Report) -> Value {
    let failed = report.verdict == Verdict::Error;
    let level = if failed { "error" } else { "warning" };
    let told = report
        .reasons
        .iter()
        .map(|reason| json!({ "level": level, "message": { "text": reason.message } }));
    json!({
        "executionSuccessful": !failed,
        "exitCode": report.exit_code(),
        "toolExecutionNotifications": told.collect::<Vec<_>>(),
    })
}

fn rule(id: &str) -> Value {
    let known = RULES.iter().find(|(known, _)| *known == id).map(|(_, says)| (*says).to_owned());
    let text = known.or_else(|| messages::title(id).map(str::to_owned)).unwrap_or(id.to_owned());
    let mut rule = json!({ "id": id, "shortDescription": { "text": text } });
    if let Some(page) = messages::page(id) {
        rule["help"] = json!({ "text": messages::shown(page, false), "markdown": page });
    }
    rule
}

/// A place in a file; what has none is shown at the beginning of the model.
fn location(report: &Report, file: Option<&str>, line: Option<u32>, column: Option<u32>) -> Value {
    let mut region = json!({ "startLine": line.unwrap_or(1) });
    if let Some(column) = column {
        region["startColumn"] = column.into();
    }
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(file.unwrap_or(&report.model)) },
        "region": region,
    } })
}

/// A path as a reference, relative if the path is (RFC 3986, section 4.2).
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut text = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(byte.into());
            }
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

fn violation(report: &Report, error: &ReportedError, steps: &[StepLine]) -> Value {
    let mut result = json!({
        "ruleId": error.kind,
        "level": "error",
        "message": { "text": error.message },
        "locations": [location(report, error.file.as_deref(), error.line, None)],
        // So that hosts know it again when lines move.
        "partialFingerprints": { "property/v1": format!("{}: {}", error.kind, error.property) },
    });
    if !steps.is_empty() {
        let steps: Vec<Value> = steps.iter().map(|it| flow(report, it)).collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

fn flow(report: &Report, step: &StepLine) -> Value {
    let file = step.file.display().to_string();
    let mut place = location(report, Some(&file), Some(step.line), None);
    place["message"] = json!({ "text": format!("{}: {}", step.who(), step.statement) });
    json!({ "location": place, "executionOrder": step.number })
}

fn diagnostic(report: &Report, it: &ReportedDiagnostic) -> Value {
    let more = it.notes.iter().chain(&it.help);
    let text = more.fold(it.message.clone(), |text, more| text + "\n" + more);
    json!({
        "ruleId": it.code,
        "level": it.severity,
        "message": { "text": text },
        "locations": [location(report, it.file.as_deref(), it.line, it.column)],
    })
}

fn unreached(it: &Unreached) -> Value {
    let what = match it.statement.as_str() {
        "-end-" => "its end".to_owned(),
        statement => format!("`{statement}`"),
    };
    let region = json!({ "startLine": it.line });
    json!({
        "ruleId": UNREACHED,
        "level": "note",
        "message": { "text": format!("{}: no run comes to {what}", it.proctype.trim_matches(':')) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&it.file) },
            "region": region,
        } }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("./models/a b.pml"), "models/a%20b.pml");
        assert_eq!(uri("/tmp/ä#1.pml"), "file:///tmp/%C3%A4%231.pml");
    }

    #[test]
    fn every_rule_of_a_violation_is_told() {
        for (id, says) in RULES {
            assert_eq!(rule(id)["shortDescription"]["text"], says);
        }
    }
}
