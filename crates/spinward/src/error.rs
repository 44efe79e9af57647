//! What keeps a check from running.

use std::sync::Arc;

use spinward_guide::Misfit;
use spinward_promela::{Diagnostic, SourceMap};

/// What keeps a check from running.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model is wrong.
    #[error("the model has errors")]
    Model {
        /// Its files.
        source_map: Arc<SourceMap>,
        /// What is wrong, warnings included.
        diagnostics: Vec<Diagnostic>,
    },
    /// What was asked makes no sense.
    #[error("{0}")]
    Usage(String),
    /// What was asked makes sense, but is not there yet.
    #[error("{0} is not available yet")]
    NotAvailable(String),
    /// A bug.
    #[error("internal error: {0}; this is a bug, please report it")]
    Internal(String),
}

impl From<Misfit> for Error {
    fn from(misfit: Misfit) -> Self {
        Self::Usage(misfit.to_string())
    }
}

impl Error {
    /// The exit code of a mistake of the user.
    pub(crate) const USAGE: u8 = 2;
    /// The exit code of a mistake of ours.
    pub(crate) const INTERNAL: u8 = 4;

    /// The exit code a command ends with: 2 for a mistake of the user, 4 for one of ours.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Model { .. } | Self::Usage(_) | Self::NotAvailable(_) => Self::USAGE,
            Self::Internal(_) => Self::INTERNAL,
        }
    }
}
