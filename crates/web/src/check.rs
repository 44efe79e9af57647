//! Checks: what the page asks for, and the events it is told of while one runs.
//!
//! Each property is checked on its own, so that each has a verdict. Events are server-sent ones, in the order
//! `run`, then for each property `property`, any number of `progress`, and `verdict`; `end` at the end, or
//! `problem` in its place.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use spinward::{Check, Fairness, Guide, Model, Progress, Property, Report, Search};
use spinward_machine::Stop;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};

use crate::guard::secret;
use crate::jobs::StopOnDrop;
use crate::problem::Problem;
use crate::simulate::{Watched, too_long};
use crate::source::{Source, problem};
use crate::{Limits, Shared};

/// How many events that tell how far a search is may wait for the browser; more are dropped.
const WAITING: usize = 64;
/// How often a browser that has nothing to be told is asked whether it is still there.
const STILL_THERE: Duration = Duration::from_secs(1);

/// The checks under way, by their names.
#[derive(Debug, Default)]
pub struct Runs(Mutex<HashMap<String, Arc<Stop>>>);

impl Runs {
    /// Adds a check, until what is given is dropped.
    fn add(&self, id: &str, stop: &Arc<Stop>) -> Running<'_> {
        self.lock().insert(id.to_owned(), Arc::clone(stop));
        Running { runs: self, id: id.to_owned() }
    }

    fn find(&self, id: &str) -> Option<Arc<Stop>> {
        self.lock().get(id).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Stop>>> {
        // The map is whole between any two calls.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A check under way.
struct Running<'a> {
    runs: &'a Runs,
    id: String,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.runs.lock().remove(&self.id);
    }
}

/// Something that can be checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    kind: Kind,
    /// The name, formula or condition, if it has one.
    #[serde(default)]
    text: String,
    /// For people.
    #[serde(default)]
    label: String,
    /// Whether it is checked unless the user says otherwise.
    #[serde(default)]
    usual: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Safety,
    Ltl,
    Invariant,
    Acceptance,
    NonProgress,
}

impl Asked {
    /// All that can be checked of a model.
    pub fn of(model: &Model, source: &Source) -> Vec<Self> {
        let asked = |kind, text: &str, label: String, usual| {
            let text = text.to_owned();
            Self { kind, text, label, usual }
        };
        let program = &model.program;
        let safety = "Assertions, end states, run-time errors".to_owned();
        let mut all = vec![asked(Kind::Safety, "", safety, true)];
        for &claim in &program.claims {
            let name = &program.automaton(claim).name;
            all.push(asked(Kind::Ltl, name, format!("Never claim {name}"), true));
        }
        for formula in &program.formulas {
            let (name, label) = match &formula.name {
                Some(name) => (name, format!("ltl {name} {{ {} }}", formula.text)),
                None => (&formula.text, format!("ltl {{ {} }}", formula.text)),
            };
            all.push(asked(Kind::Ltl, name, label, true));
        }
        for condition in &source.invariants {
            all.push(asked(Kind::Invariant, condition, format!("Always {condition}"), true));
        }
        if !program.accepting.is_empty() {
            let label = "No acceptance cycle".to_owned();
            all.push(asked(Kind::Acceptance, "", label, false));
        }
        if !program.progressing.is_empty() {
            let label = "No cycle without progress".to_owned();
            all.push(asked(Kind::NonProgress, "", label, false));
        }
        all
    }

    fn property(&self) -> Property {
        match self.kind {
            Kind::Safety => Property::Safety,
            Kind::Ltl => Property::Ltl(self.text.clone()),
            Kind::Invariant => Property::Invariant(self.text.clone()),
            Kind::Acceptance => Property::Acceptance,
            Kind::NonProgress => Property::NonProgress,
        }
    }
}

/// What to check and how.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    source: Source,
    properties: Vec<Asked>,
    #[serde(default)]
    search: Option<String>,
    #[serde(default)]
    guide: Option<String>,
    #[serde(default)]
    fairness: Option<String>,
    #[serde(default)]
    shortest: bool,
    #[serde(default)]
    symmetry: bool,
    /// Seconds for all properties together.
    #[serde(default)]
    seconds: Option<f64>,
}

/// How to check: names that make sense.
#[derive(Clone, Debug)]
struct Manner {
    search: Search,
    guide: Option<Guide>,
    fairness: Fairness,
    shortest: bool,
    symmetry: bool,
    time: Duration,
    memory: u64,
}

impl Manner {
    fn new(request: &Request, limits: &Limits) -> Result<Self, Problem> {
        let guide = request.guide.as_deref().map(str::parse::<Guide>).transpose();
        let guide = guide.map_err(|misfit| Problem::usage(misfit.to_string()))?;
        if guide.as_ref().is_some_and(|guide| guide.argument().is_some()) {
            return Err(Problem::usage("guides take no arguments here"));
        }
        let search = request.search.as_deref().map_or(Ok(Search::Auto), str::parse);
        let fairness = request.fairness.as_deref().map_or(Ok(Fairness::None), str::parse);
        let asked = request.seconds.map(Duration::try_from_secs_f64).transpose();
        let asked = asked.map_err(|_| Problem::usage("a time is a number of seconds"))?;
        Ok(Self {
            search: search.map_err(problem)?,
            guide,
            fairness: fairness.map_err(problem)?,
            shortest: request.shortest,
            symmetry: request.symmetry,
            time: asked.map_or(limits.time, |asked| asked.min(limits.time)),
            memory: limits.memory / limits.checks.max(1) as u64,
        })
    }

    /// A check of a model in this manner, for as long as there is time.
    fn check<'a>(&self, model: &Model, property: Property, time: Duration) -> Check<'a> {
        let memory = spinward::memory::own_memory().saturating_add(self.memory);
        let mut check = Check::new(model.clone())
            .property(property)
            .search(self.search)
            .fairness(self.fairness)
            .shortest(self.shortest)
            .symmetry(self.symmetry)
            .memory(memory)
            .time(time);
        if let Some(guide) = &self.guide {
            check = check.guide(guide.clone());
        }
        check
    }
}

/// Runs a check and tells of it as it goes.
pub async fn check(
    State(shared): State<Arc<Shared>>,
    Json(request): Json<Request>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let manner = Manner::new(&request, &shared.limits)?;
    let id = secret().map_err(Problem::internal)?;
    let stop = Arc::new(Stop::default());
    // Dropped with the answer, so also if the browser goes away.
    let gone = StopOnDrop(Arc::clone(&stop));
    let sure = 2 + 2 * request.properties.len();
    let (send, receive) = mpsc::channel(sure + WAITING);
    let teller = Teller { send, sure, stop: Arc::clone(&stop) };
    let work = Arc::clone(&shared);
    let job = move || {
        let _running = work.runs.add(&id, &stop);
        teller.tell("run", &json!({ "id": id }));
        match run(&work, request, &manner, &teller) {
            Ok(()) => teller.tell("end", &json!({})),
            Err(problem) => teller.tell("problem", &json!(problem)),
        }
    };
    shared.jobs.check(job).await?;
    let events = ReceiverStream::new(receive).map(move |event| {
        let _gone = &gone;
        Ok(event)
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(STILL_THERE)))
}

/// Sends events to the browser, and never waits for it: there is room for all that must be told.
struct Teller {
    send: mpsc::Sender<Event>,
    /// How many events there are beside those that tell how far a search is.
    sure: usize,
    stop: Arc<Stop>,
}

impl Teller {
    fn tell(&self, name: &str, data: &Value) {
        let event = Event::default().event(name).data(data.to_string());
        if self.send.try_send(event).is_err() {
            self.stop.ask();
        }
    }

    /// Tells how far a search is, if the browser keeps up.
    fn tell_progress(&self, index: usize, progress: &Progress) {
        let counts = &progress.counts;
        let data = json!({
            "index": index,
            "states": counts.states,
            "transitions": counts.transitions,
            "depth": progress.depth,
            "memory": counts.memory,
            "seconds": progress.elapsed.as_secs_f64(),
            "rate": progress.rate,
            "best": progress.best,
            "met": progress.met.map(|after| after.as_secs_f64()),
        });
        if self.send.capacity() > self.sure {
            self.tell("progress", &data);
        }
    }
}

fn run(shared: &Shared, request: Request, manner: &Manner, teller: &Teller) -> Result<(), Problem> {
    let started = Instant::now();
    let model = request.source.model(&shared.files)?;
    for (index, asked) in request.properties.iter().enumerate() {
        if teller.stop.is_told() {
            break;
        }
        teller.tell("property", &json!({ "index": index }));
        let time = manner.time.saturating_sub(started.elapsed());
        let report = manner
            .check(&model, asked.property(), time)
            .stop(Arc::clone(&teller.stop))
            .on_progress(|progress| teller.tell_progress(index, progress))
            .run()
            .map_err(problem)?;
        teller.tell("verdict", &json!({ "index": index, "report": told(&report) }));
    }
    Ok(())
}

/// The report with the runs to its errors, by which the page simulates them. Of a run that is too long for that it is
/// said so, in place of its steps.
fn told(report: &Report) -> Value {
    let mut told = json!(report);
    for (index, error) in report.errors.iter().enumerate() {
        let steps = error.run.iter().map(|step| json!([step.process, step.transition.0]));
        let left_out = too_long(error.run.len());
        let run = json!({
            "steps": left_out.is_none().then(|| steps.collect::<Vec<_>>()),
            "left_out": left_out,
            "cycle": error.cycle_index,
            "watched": Watched::of(&error.watched),
        });
        told["errors"][index]["run"] = run;
    }
    told
}

/// Asks to stop a check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopRequest {
    id: String,
}

/// Stops a check; what it found so far is told as its last events.
pub async fn stop(
    State(shared): State<Arc<Shared>>,
    Json(StopRequest { id }): Json<StopRequest>,
) -> Result<StatusCode, Problem> {
    match shared.runs.find(&id) {
        Some(stop) => {
            stop.ask();
            Ok(StatusCode::NO_CONTENT)
        }
        None => Err(Problem::new(StatusCode::NOT_FOUND, "this check has ended")),
    }
}
