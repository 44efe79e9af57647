//! Work on models, each on a thread of its own, so many at a time and no longer than they may.
//!
//! The thread that answers requests must not wait for work that takes long, and models may nest deeper than its stack
//! is. Whoever asks may go away: then the work is told to stop. Its place is free again only when it has ended.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use spinward_machine::Stop;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

use crate::Limits;
use crate::problem::Problem;

/// Room for models that nest deeply.
const STACK_BYTES: usize = 256 << 20;
/// How many requests but checks are worked on at once.
const SHORT_JOBS: usize = 4;
/// How long a request waits for its turn.
const TURN: Duration = Duration::from_secs(3);

/// Who works, and on how much at once.
#[derive(Debug)]
pub struct Jobs {
    short: Arc<Semaphore>,
    checks: Arc<Semaphore>,
    patience: Duration,
}

/// Tells work to stop when nobody waits for it any more.
#[derive(Debug)]
pub struct StopOnDrop(pub Arc<Stop>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.ask();
    }
}

impl Jobs {
    /// Within limits.
    pub fn new(limits: &Limits) -> Self {
        Self {
            short: Arc::new(Semaphore::new(SHORT_JOBS)),
            checks: Arc::new(Semaphore::new(limits.checks)),
            patience: limits.patience,
        }
    }

    /// Does something short, and waits for it.
    pub async fn short<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Stop>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = turn(&self.short, "the workbench is busy; try again").await?;
        let stop = Arc::new(Stop::default());
        let _guard = StopOnDrop(Arc::clone(&stop));
        let (send, receive) = oneshot::channel();
        spawn(turn, move || {
            // Nobody may be waiting any more.
            let _ = send.send(work(&stop));
        })?;
        match timeout(self.patience, receive).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Problem::internal("the work was not done")),
            Err(_) => {
                let seconds = self.patience.as_secs_f64();
                let message = format!("this takes longer than {seconds} s, and was given up");
                Err(Problem::new(StatusCode::GATEWAY_TIMEOUT, message))
            }
        }
    }

    /// Begins a check.
    pub async fn check(&self, work: impl FnOnce() + Send + 'static) -> Result<(), Problem> {
        let message = "as many checks as are allowed at once are running; stop one, or wait";
        spawn(turn(&self.checks, message).await?, work)
    }
}

/// A place to work in, once it is free.
async fn turn(places: &Arc<Semaphore>, busy: &str) -> Result<OwnedSemaphorePermit, Problem> {
    let place = timeout(TURN, Arc::clone(places).acquire_owned()).await;
    let place = place.ok().and_then(Result::ok);
    place.ok_or_else(|| Problem::new(StatusCode::TOO_MANY_REQUESTS, busy))
}

fn spawn(place: OwnedSemaphorePermit, work: impl FnOnce() + Send + 'static) -> Result<(), Problem> {
    let thread = std::thread::Builder::new().name("job".into()).stack_size(STACK_BYTES);
    let started = thread.spawn(move || {
        let _place = place;
        work();
    });
    started.map(|_| ()).map_err(|problem| {
        let message = format!("no room to work in: {problem}");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, message)
    })
}
