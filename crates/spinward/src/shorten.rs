//! A shorter run to an error of which one is known, from a trail say.

use std::sync::Arc;
use std::time::Duration;

use spinward_machine::system::length;
use spinward_machine::{Machine, Options, Step, Stop, Violation};
use spinward_search::{Found, Limits, Request};

use crate::report::Reason;
use crate::run::{toward, why_stopped};
use crate::{Error, Model, memory};

/// Looks for a shorter run to an error of which one is known. It has no end but its limits, unless it is
/// known before that no run is shorter.
#[derive(Debug)]
#[must_use = "nothing is looked for until it is run"]
pub struct Shorten {
    model: Model,
    watched: Options,
    run: Vec<Step>,
    violation: Violation,
    time: Option<Duration>,
    memory: Option<u64>,
    stop: Arc<Stop>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Shortened {
    /// The shortest run to the error that is known now.
    pub run: Vec<Step>,
    /// Its length, the moves of a claim not counted.
    pub steps: usize,
    /// The length of the run known before.
    pub known_steps: usize,
    /// Whether no run to this error is shorter.
    pub shortest: bool,
    /// Why that is not known, if it is because of a limit.
    pub reason: Option<Reason>,
}

impl Shorten {
    /// Of a run of the model that ends in an error, seen by a machine that watches the same.
    pub fn new(model: Model, watched: Options, run: Vec<Step>, violation: Violation) -> Self {
        let (time, memory, stop) = (None, None, Arc::default());
        Self { model, watched, run, violation, time, memory, stop }
    }

    /// Stops after this time.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// How many bytes may be used, the program itself included; by default 80% of what is free.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// What ends the search when it is asked to, from another thread.
    pub fn stop(mut self, stop: Arc<Stop>) -> Self {
        self.stop = stop;
        self
    }

    /// Looks for a shorter run. Like any run to an error it is replayed before anybody is told.
    pub fn run(self) -> Result<Shortened, Error> {
        let Self { model, watched, run, violation, time, memory, stop } = self;
        let machine = |stop| {
            Machine::new(model.program.clone(), watched.clone(), stop).map_err(|error| {
                let why = error.describe();
                Error::Usage(format!("the model goes wrong before its first step: {why}"))
            })
        };
        let interpreter = machine(Arc::default())?;
        spinward_trail::confirm(&interpreter, &run, Some(violation), None).map_err(|misfit| {
            Error::Usage(format!("the run does not end in the error: {misfit}"))
        })?;
        let allowed = memory::allowed(memory);
        let limits = Limits {
            time,
            memory: Some(memory::for_search(allowed, memory::own_memory())),
            stop: stop.clone(),
            ..Limits::default()
        };
        let mut searched = machine(stop)?;
        searched.compile_when_it_pays();
        let known_steps = length(&run);
        let known = Found { violation, steps: run, cycle: None, occurrences: 1, shortest: false };
        let request = Request { limits, ..Request::default() };
        let toward::Shortened { found, limit, .. } =
            toward::shortened(&searched, known, &request, &mut |_| {})?;
        spinward_trail::confirm(&interpreter, &found.steps, Some(found.violation), None).map_err(
            |misfit| Error::Internal(format!("a shorter run does not replay, {misfit}")),
        )?;
        let reason = limit.map(|limit| {
            let (code, message) = why_stopped(limit, None, time, allowed);
            Reason { code, message }
        });
        let (steps, shortest) = (length(&found.steps), found.shortest);
        Ok(Shortened { run: found.steps, steps, known_steps, shortest, reason })
    }
}
