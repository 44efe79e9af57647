//! Why a request was not answered.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::source::Mark;

/// Why a request was not answered.
#[derive(Debug, Serialize)]
pub struct Problem {
    #[serde(skip)]
    status: StatusCode,
    /// For people.
    pub message: String,
    /// What is wrong with the model, if that is why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

impl Problem {
    /// For a reason.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), marks: Vec::new() }
    }

    /// What was asked makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// The model means nothing.
    pub fn model(marks: Vec<Mark>) -> Self {
        Self { marks, ..Self::usage("the model has errors") }
    }

    /// A mistake of ours.
    pub fn internal(what: impl std::fmt::Display) -> Self {
        let message =
            format!("internal error: {what}; this is a bug in spinward, please report it");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(self)).into_response()
    }
}
