//! What a check found, as people and scripts read it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use spinward_machine::{Options, Step, Violation};
use spinward_promela::{Diagnostic, SourceMap, Span};

use crate::Error;
use crate::audit::Audit;

/// What a check found. Its JSON is an interface: fields may be added, not changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The version of this format.
    #[schemars(extend("const" = 1))]
    pub schema: u32,
    /// The version of Spinward.
    pub version: &'static str,
    /// The model, as the user named it.
    pub model: String,
    /// The answer.
    pub verdict: Verdict,
    /// Whether everything was looked at.
    pub complete: bool,
    /// Why not everything was looked at.
    pub reasons: Vec<Reason>,
    /// What was checked, each with its answer; empty if there was no check.
    pub properties: Vec<CheckedProperty>,
    /// What is wrong: one example of each kind at each place.
    pub errors: Vec<ReportedError>,
    /// What was counted.
    pub statistics: Statistics,
    /// The search in effect.
    pub search: &'static str,
    /// What was done and why, if that was left open: `--search auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The guide in effect.
    pub guide: String,
    /// The store in effect.
    pub store: &'static str,
    /// Whether partial-order reduction is in effect.
    pub por: bool,
    /// Whether interchangeable processes were not told apart.
    pub symmetry: bool,
    /// The optimization in effect.
    pub optimize: &'static str,
    /// After a search with a lossy store: how the next one can miss less.
    pub recommendation: Option<Recommendation>,
    /// What an audit found, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// The folder from which another check can go on, if a limit ended this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumable: Option<PathBuf>,
    /// Where what is in effect is not what was asked for.
    pub notes: Vec<String>,
    /// Statements that no run comes to; only known if everything was looked at.
    pub unreached: Vec<Unreached>,
    /// What is wrong with the text of the model, or dubious in it.
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// The exit code of what kept the check from running.
    #[serde(skip)]
    pub failure: Option<u8>,
}

impl Report {
    /// The version of the format.
    pub const SCHEMA: u32 = 1;

    /// A report of a check that could not run.
    pub fn of_error(model: &str, error: &Error) -> Self {
        Self {
            schema: Self::SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            model: model.to_owned(),
            verdict: Verdict::Error,
            complete: false,
            reasons: vec![Reason { code: ReasonCode::Error, message: error.to_string() }],
            properties: Vec::new(),
            errors: Vec::new(),
            statistics: Statistics::default(),
            search: "none",
            guide: "none".into(),
            store: "none",
            por: false,
            symmetry: false,
            optimize: "none",
            recommendation: None,
            audit: None,
            explanation: None,
            resumable: None,
            notes: Vec::new(),
            unreached: Vec::new(),
            diagnostics: match error {
                Error::Model { source_map, diagnostics } => {
                    diagnostics.iter().map(|d| ReportedDiagnostic::new(source_map, d)).collect()
                }
                _ => Vec::new(),
            },
            failure: Some(error.exit_code()),
        }
    }

    /// The exit code a command ends with.
    pub fn exit_code(&self) -> u8 {
        if self.audit.as_ref().is_some_and(|audit| !audit.disagreements.is_empty()) {
            return Error::INTERNAL;
        }
        match self.verdict {
            Verdict::Verified => 0,
            Verdict::Violated => 1,
            Verdict::Error => self.failure.unwrap_or(Error::USAGE),
            Verdict::Incomplete => 3,
        }
    }

    /// The JSON schema of reports, made from their types.
    pub fn json_schema() -> String {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let schema = generator.into_root_schema_for::<Self>();
        serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
    }

    /// As JSON, in lines for people to read.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has nothing that JSON cannot hold")
    }
}

/// What one search of a check was about.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckedProperty {
    /// As people call it: `safety`, `ltl NAME`, ...
    pub name: String,
    /// The answer of this search.
    pub verdict: Verdict,
    /// Which of the errors it found, counted from 0.
    pub errors: Vec<usize>,
    /// How long it took.
    pub seconds: f64,
    /// Why not everything was looked at for it, in words.
    #[serde(skip)]
    pub reasons: Vec<String>,
}

impl CheckedProperty {
    const NOT_BEGUN: &str = "not begun: the check had ended";

    /// One whose turn did not come.
    pub(crate) fn not_begun(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            verdict: Verdict::Incomplete,
            errors: Vec::new(),
            seconds: 0.0,
            reasons: vec![Self::NOT_BEGUN.into()],
        }
    }

    /// Whether its turn came before the check ended.
    pub fn was_begun(&self) -> bool {
        !self.reasons.iter().any(|reason| reason == Self::NOT_BEGUN)
    }
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything was looked at and nothing is wrong.
    Verified,
    /// Something is wrong.
    Violated,
    /// Nothing wrong was found, but not everything was looked at.
    Incomplete,
    /// There was no check.
    Error,
}

/// Why not everything was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reason {
    /// For scripts.
    pub code: ReasonCode,
    /// For people.
    pub message: String,
}

/// Why not everything was looked at, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonCode {
    /// As many errors were found as were asked for.
    Errors,
    /// `--max-depth`
    MaxDepth,
    /// `--max-states`
    MaxStates,
    /// `--time`
    Time,
    /// `--memory`
    Memory,
    /// The user.
    Interrupt,
    /// More states than can be numbered.
    Numbers,
    /// A file that cannot be read or written, or is not as it was written.
    Disk,
    /// The search looks at a part only.
    LeftOut,
    /// A store that may take new states for known ones.
    Lossy,
    /// An error was met, but a limit was hit before a run to it was found.
    ErrorMet,
    /// A property that cannot be checked yet, or not with the reduction asked for.
    NotChecked,
    /// There was no check.
    Error,
}

/// How a search with a lossy store can miss less.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// For people.
    pub message: String,
    /// The options to try next, as a shell takes them.
    pub options: String,
    /// How many states there probably are: those that were visited and those that were missed.
    pub states: u64,
    /// How many new states would then be taken for known.
    pub expected_omissions: f64,
}

/// Something wrong.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportedError {
    /// As scripts know it.
    #[schemars(extend("enum" = [
        "assertion", "invalid-end-state", "invariant", "never-claim", "acceptance-cycle", "non-progress-cycle",
        "trace", "runtime"
    ]))]
    pub kind: &'static str,
    /// What is violated: the text of an assertion or invariant, the name of a claim.
    pub property: String,
    /// In words.
    pub message: String,
    /// The file of the statement where it went wrong.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// The length of the run, the moves of a claim not counted.
    pub steps: usize,
    /// After how many of these the cycle starts, for a run that goes on for ever.
    pub cycle_start: Option<usize>,
    /// The file the run was written to; whoever writes it says so here.
    pub trail: Option<String>,
    /// Whether no run to this error is shorter.
    pub shortest: bool,
    /// The length of the run that the search found, if a shorter one was found towards its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortened_from: Option<usize>,
    /// How often it was met.
    pub occurrences: u64,
    /// The run.
    #[serde(skip)]
    pub run: Vec<Step>,
    /// After how many of its steps the cycle starts, the moves of a claim counted too.
    #[serde(skip)]
    pub cycle_index: Option<usize>,
    /// What was watched when it was found: a machine that replays the run must watch the same.
    #[serde(skip)]
    pub watched: Options,
    /// What is wrong.
    #[serde(skip)]
    pub violation: Violation,
}

/// What was counted, over all searches of a check.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Statistics {
    /// States visited.
    pub states: u64,
    /// Successors looked at and the initial states: SPIN's stored + matched.
    pub transitions: u64,
    /// States whose successors were computed.
    pub expanded: u64,
    /// Successors that were known already.
    pub matched: u64,
    /// The longest run looked at, in steps.
    pub depth: u64,
    /// States expanded once more, because a shorter way to them was found.
    pub reopened: u64,
    /// With transactions: states in which all processes had their turn only because a transaction that had
    /// committed was not seen to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_completions: Option<u64>,
    /// The smallest and the largest estimate that a guide gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimates: Option<[u32; 2]>,
    /// How often an error was met: SPIN's count of errors.
    pub error_count: u64,
    /// Bytes of the largest state.
    pub state_bytes: u64,
    /// Bytes in use for each state.
    pub bytes_per_state: f64,
    /// The most bytes in use at a time, the program itself included.
    pub peak_memory: u64,
    /// The most bytes on disk at a time.
    pub disk_bytes: u64,
    /// Where the time went.
    pub seconds: Seconds,
    /// States visited in a second of search.
    pub states_per_second: f64,
    /// Threads that could search.
    pub threads: usize,
    /// How likely it is that a lossy store took even one new state for a known one.
    pub omission_probability: f64,
    /// How many it probably took for known. What is reached only through them is missed too.
    pub expected_omissions: f64,
    /// The states of each search, by what it checked, if there was more than one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub states_by_property: BTreeMap<String, u64>,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Seconds {
    /// Reading the model.
    pub load: f64,
    /// Making the guide, before the search.
    pub guide: f64,
    /// Searching.
    pub search: f64,
    /// Until it was certain that there are the errors that are told, though perhaps by other runs, which were looked
    /// for afterwards; all, if there are none.
    pub decided: f64,
    /// All.
    pub total: f64,
}

/// Something wrong with the text of a model, or dubious in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedDiagnostic {
    /// Which rule it is about, as `spinward explain` knows it.
    pub code: &'static str,
    /// `error` or `warning`.
    #[schemars(extend("enum" = ["error", "warning"]))]
    pub severity: &'static str,
    /// In words.
    pub message: String,
    /// The file; none if it concerns the model as a whole.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1.
    pub column: Option<u32>,
    /// Why it is wrong.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
}

impl ReportedDiagnostic {
    pub(crate) fn new(source: &SourceMap, diagnostic: &Diagnostic) -> Self {
        let span = diagnostic.span.filter(|&span| file_of(source, span).is_some());
        let position = span.map(|span| source.position(span));
        Self {
            code: diagnostic.code.name(),
            severity: if diagnostic.is_error() { "error" } else { "warning" },
            message: diagnostic.message.clone(),
            file: span.and_then(|span| file_of(source, span)),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
            notes: diagnostic.notes.clone(),
            help: diagnostic.help.clone(),
        }
    }
}

/// The file that a text stands in; none if it was given on the command line or in an automaton.
pub(crate) fn file_of(source: &SourceMap, span: Span) -> Option<String> {
    let path = source.path(span);
    let given = GIVEN.iter().any(|name| path == Path::new(name));
    (!given).then(|| path.display().to_string())
}

/// How texts are called that stand in no file.
const GIVEN: [&str; 3] = ["--invariant", "--ltl", "AP"];

/// A statement that no run comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unreached {
    /// The process type.
    pub proctype: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The statement.
    pub statement: String,
}
