//! The workbench: a page in the browser where a model is edited, checked, simulated and drawn.
//!
//! The page is plain HTML, CSS and JavaScript and comes with the program (`page`). It talks to a server on the
//! loopback interface, which keeps nothing between two requests but the checks under way: each request carries the
//! whole text of the model, so that browsers do not disturb each other. `guard` sees to it that only the page
//! talks to the server. Models may be a stranger's, so all that is done with them is done within [`Limits`], on
//! threads of their own (`jobs`); the engine knows nothing of all that.
//!
//! One module for each thing the page can ask for: `check`, `simulate`, `automata`, `chart`, `files`.

mod automata;
mod chart;
mod check;
mod files;
mod guard;
mod jobs;
mod page;
mod problem;
mod simulate;
mod source;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};

use crate::chart::Reports;
use crate::check::Runs;
use crate::files::Files;
use crate::guard::Guard;
use crate::jobs::Jobs;

/// What the workbench may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest time of a check.
    pub time: Duration,
    /// Bytes for all checks together, beside what the program itself uses.
    pub memory: u64,
    /// How many checks may run at once.
    pub checks: usize,
    /// The longest time of anything else.
    pub patience: Duration,
    /// The most bytes of a request.
    pub request: usize,
}

impl Default for Limits {
    /// Ten minutes for a check, two of which may run at once in 80% of the memory that is free.
    fn default() -> Self {
        let own = spinward::memory::own_memory();
        Self {
            time: Duration::from_secs(600),
            memory: spinward::memory::default_budget().saturating_sub(own),
            checks: 2,
            patience: Duration::from_secs(10),
            request: 4 << 20,
        }
    }
}

/// How a workbench is set up.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The model to begin with. Files of its folder may be included; without one no file may.
    pub model: Option<PathBuf>,
    /// Macros that the preprocessor shall know: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// The port; 0: any that is free.
    pub port: u16,
    /// What it may use.
    pub limits: Limits,
}

/// A workbench that waits for its page.
#[derive(Debug)]
pub struct Workbench {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// What all requests share.
#[derive(Debug)]
struct Shared {
    guard: Guard,
    files: Files,
    limits: Limits,
    jobs: Jobs,
    runs: Runs,
    reports: Reports,
}

impl Workbench {
    /// Reads the model, if there is one, and takes a port of the loopback interface.
    pub fn bind(options: Options) -> Result<Self, String> {
        let Options { model, defines, port, limits } = options;
        let files = Files::new(model, defines)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address)
            .map_err(|problem| format!("cannot listen on {address}: {problem}"))?;
        let address = listener.local_addr().map_err(|problem| problem.to_string())?;
        let guard = Guard::new(address.port())?;
        let jobs = Jobs::new(&limits);
        let (runs, reports) = Default::default();
        let shared = Shared { guard, files, limits, jobs, runs, reports };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// Where the page is, with the token that lets it talk to the workbench. The token is behind a `#`, so that
    /// browsers send it to nobody.
    pub fn address(&self) -> String {
        self.shared.guard.address()
    }

    /// Answers requests until the process ends.
    pub fn run(self) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            self.listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            axum::serve(listener, router(self.shared)).await
        })
    }
}

/// Who answers what.
fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/page/{name}", get(page::file))
        .route("/report/{id}", get(chart::report))
        .route("/api/start", post(files::start))
        .route("/api/save", post(files::save))
        .route("/api/read", post(source::read))
        .route("/api/check", post(check::check))
        .route("/api/stop", post(check::stop))
        .route("/api/simulate", post(simulate::simulate))
        .route("/api/automata", post(automata::automata))
        .route("/api/chart", post(chart::chart))
        .layer(DefaultBodyLimit::max(shared.limits.request))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&shared), guard::guard))
        .with_state(shared)
}
