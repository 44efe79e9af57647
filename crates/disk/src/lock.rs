//! Who uses a folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::error::Error;

/// Keeps others out of a folder as long as it is there, and as long as the program runs at most.
#[derive(Debug)]
pub struct Lock {
    /// The system gives the lock back when the file is closed.
    _file: File,
}

impl Lock {
    /// The name of the file that is locked.
    pub const FILE: &str = "lock";

    /// Takes the lock of a folder, which is there.
    pub fn take(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(Self::FILE);
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = opened.map_err(|source| Error::io("written", &path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { path: folder.to_owned() }),
            Err(TryLockError::Error(source)) => Err(Error::io("locked", &path, source)),
        }
    }
}
