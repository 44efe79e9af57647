//! `spinward trail --json`: a run for scripts.

use std::collections::HashMap;

use serde::Serialize;
use spinward::Model;
use spinward_machine::View;
use spinward_program::Program;
use spinward_trail::StepLine;
use spinward_trail::listing::line_of;
use spinward_trail::values::{self, Change, plain_name};

use super::{Args, JsonShortened, Shown};
use crate::picture::Rearrangement;
use crate::terminal::Failure;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    rearranged: Option<Rearrangement>,
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
    messages: Vec<JsonMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matters: Option<bool>,
    output: Option<&'a str>,
}

/// A message that the step sends, receives, or looks at.
#[derive(Serialize)]
struct JsonMessage<'a> {
    what: &'static str,
    channel: &'a str,
    message: &'a str,
    rendezvous: bool,
    /// For one who gets it: the step that sent it.
    sent_in_step: Option<usize>,
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
pub(super) fn json_failure(args: &Args, failure: &Failure) -> String {
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
        rearranged: None,
        steps: Vec::new(),
        state: JsonState::default(),
        notes: &[message.to_owned()],
    };
    to_text(&report)
}

fn to_text(report: &JsonTrail<'_>) -> String {
    serde_json::to_string_pretty(report).expect("a trail has nothing that JSON cannot hold") + "\n"
}

/// A run that was replayed.
pub(super) fn json(
    args: &Args,
    model: &Model,
    shown: &Shown<'_>,
    shortened: Option<JsonShortened>,
    rearranged: Option<Rearrangement>,
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
    let lines = run.first.iter().chain(&run.last);
    let numbers: HashMap<usize, usize> =
        lines.clone().map(|line| (line.index, line.number)).collect();
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
        rearranged,
        steps: lines.clone().map(|line| json_step(line, args.slice, &numbers)).collect(),
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

fn json_step<'a>(
    line: &'a StepLine,
    sliced: bool,
    numbers: &HashMap<usize, usize>,
) -> JsonStep<'a> {
    let messages = line.messages.iter().map(|message| JsonMessage {
        what: message.kind.name(),
        channel: &message.channel,
        message: &message.text,
        rendezvous: message.rendezvous,
        sent_in_step: message.sent_by.and_then(|index| numbers.get(&index)).copied(),
    });
    JsonStep {
        step: line.number,
        process: &line.name,
        pid: line.process,
        claim: line.process.is_none(),
        file: line.file.display().to_string(),
        line: line.line,
        statement: &line.statement,
        changes: line.changes.iter().map(json_change).collect(),
        messages: messages.collect(),
        matters: sliced.then_some(!line.dimmed),
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
