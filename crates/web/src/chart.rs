//! The report of a run, with its sequence chart.
//!
//! A report is a page of its own, with scripts inside of it. It is shown in a frame that has no rights: neither a token
//! nor an origin that the workbench would answer. Frames cannot show a token to get their page, so each report
//! has an address that nobody can guess, for as long as it is among the last few.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde::{Deserialize, Serialize};
use spinward_machine::Stop;
use spinward_trail::{Answer, Report};

use crate::Shared;
use crate::guard::secret;
use crate::problem::Problem;
use crate::simulate::{Run, misfit};

/// So many reports can be shown.
const KEPT: usize = 8;

/// What a report may do: run what is in it, and nothing else.
const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// The last reports, each behind its secret.
#[derive(Debug, Default)]
pub struct Reports(Mutex<VecDeque<(String, String)>>);

impl Reports {
    /// Keeps a report in place of the oldest; gives the secret.
    fn add(&self, report: String) -> Result<String, Problem> {
        let id = secret().map_err(Problem::internal)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front((id.clone(), report));
        kept.truncate(KEPT);
        Ok(id)
    }

    fn find(&self, id: &str) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == id).map(|(_, report)| report.clone())
    }
}

/// Asks for the report of a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    run: Run,
    /// After how many of its steps the cycle starts, for a run that goes on for ever.
    #[serde(default)]
    cycle: Option<usize>,
    /// What is wrong with the run.
    #[serde(default)]
    verdict: Vec<String>,
}

/// Where the report is.
#[derive(Debug, Serialize)]
pub struct Address {
    address: String,
}

/// Makes the report of a run.
pub async fn chart(
    State(shared): State<Arc<Shared>>,
    Json(Request { run, cycle, verdict }): Json<Request>,
) -> Result<Json<Address>, Problem> {
    let files = Arc::clone(&shared);
    let work = move |stop: &Arc<Stop>| {
        let model = run.source.clone().model(&files.files)?;
        let machine = run.machine(&model, stop)?;
        let steps = run.steps(&model.program)?;
        let path = files.files.path();
        let title = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let report = Report {
            machine: &machine,
            steps: &steps,
            cycle_start: cycle,
            title: &title,
            answer: if verdict.is_empty() { Answer::Fine } else { Answer::Wrong },
            verdict: &verdict,
            notes: &[],
            dimmed: &[],
        };
        report.html().map_err(misfit)
    };
    let id = shared.reports.add(shared.jobs.short(work).await?)?;
    Ok(Json(Address { address: format!("/report/{id}") }))
}

/// Shows a report to whoever knows its secret.
pub async fn report(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    match shared.reports.find(&id) {
        Some(report) => ([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(report)).into_response(),
        None => (StatusCode::NOT_FOUND, "this report is gone; open it again").into_response(),
    }
}
