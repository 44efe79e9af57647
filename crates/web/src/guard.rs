//! Who may talk to the workbench: its own page, opened by whoever started it.
//!
//! Any page in the user's browser can send requests to the loopback interface, so each request must show
//! - its `Host`, which is ours: a stranger's name that was made to point here (DNS rebinding) is not;
//! - for anything but the page's files an `Origin`, which browsers add and pages cannot forge, and the token, which only
//!   the terminal told. The token comes in a header: a page elsewhere cannot set one without asking first, and it is not
//!   sent by itself as a cookie would be.
//!
//! The page in turn may load and contact nothing but the workbench.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::Shared;
use crate::problem::Problem;

/// What the page may do: run its own scripts and styles, show reports, and talk to the workbench.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Knows the token, and the names of the workbench.
#[derive(Debug)]
pub struct Guard {
    hosts: [String; 2],
    token: String,
}

impl Guard {
    /// For a workbench on this port.
    pub fn new(port: u16) -> Result<Self, String> {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        Ok(Self { hosts, token: secret()? })
    }

    /// Where the page is, with the token.
    pub fn address(&self) -> String {
        format!("http://{}/#token={}", self.hosts[0], self.token)
    }

    /// Whether a request may be answered, and if not why.
    fn admit(&self, request: &Request) -> Result<(), Problem> {
        let headers = request.headers();
        let authority = request.uri().authority().map(|authority| authority.as_str());
        let host = text(headers, header::HOST);
        if !host.is_some_and(|host| self.is_ours(host))
            || authority.is_some_and(|host| !self.is_ours(host))
        {
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "this is not that host"));
        }
        let stranger = Problem::new(StatusCode::FORBIDDEN, "only the workbench's own page may ask");
        let origin = text(headers, header::ORIGIN);
        let own =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.is_ours(host));
        if headers.contains_key(header::ORIGIN) && !origin.is_some_and(own) {
            return Err(stranger);
        }
        // The page and its files are no secret, and a browser asks for them without a token.
        if request.method() == Method::GET {
            return Ok(());
        }
        if origin.is_none() {
            return Err(stranger);
        }
        let given = text(headers, header::AUTHORIZATION);
        if !given.and_then(|it| it.strip_prefix("Bearer ")).is_some_and(|it| self.knows(it)) {
            let why =
                "the token is missing or wrong; open the address that `spinward serve` printed";
            return Err(Problem::new(StatusCode::UNAUTHORIZED, why));
        }
        Ok(())
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours == host)
    }

    /// Whether this is the token; how long that takes does not tell how much of it is right.
    fn knows(&self, token: &str) -> bool {
        let pairs = token.bytes().zip(self.token.bytes());
        token.len() == self.token.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

/// A header that is there once.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// What nobody can guess.
pub fn secret() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|problem| format!("no random numbers: {problem}"))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// Lets requests through that may be answered, and tells browsers what the answers may do.
pub async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = match shared.guard.admit(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Reports have a stricter one of their own.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(PAGE_POLICY));
    response
}
