//! What goes wrong with files.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// What goes wrong with files, and with which.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no room on the disk.
    #[error("there is no room left for {}: {source}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be read or written.
    #[error("{} cannot be {what}: {source}", path.display())]
    Io {
        /// What was to be done with it.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is not as it was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that shows.
        what: String,
    },
    /// Another program uses the folder.
    #[error("{} is in use by another run", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
}

impl Error {
    /// What the system said when something was to be done with a file.
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full { path, source },
            _ => Self::Io { what, path, source },
        }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}
