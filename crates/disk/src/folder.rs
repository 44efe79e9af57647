//! The files of a search: all that is read from disk and written to it.
//!
//! What is written is sure to stay only when it was synced, and a file only when its folder was too. A manifest is
//! written beside the one before, synced with the folder, put in its place, and the folder is synced once more: after a
//! loss of power there is the one or the other, and all that it lists was synced before, with its names.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// So many files are open for reading at a time.
const OPEN: usize = 64;

/// Bytes that are written at a time.
const WRITTEN: usize = 1 << 18;

/// Lets writing fail, for tests.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Bytes that can still be written; none: all.
    room: Option<Arc<AtomicU64>>,
}

impl Faults {
    /// The disk is full when so many bytes were written.
    pub fn full_after(bytes: u64) -> Self {
        Self { room: Some(Arc::new(AtomicU64::new(bytes))) }
    }

    fn before_write(&self, bytes: usize) -> io::Result<()> {
        let Some(room) = &self.room else {
            return Ok(());
        };
        let less = |left: u64| left.checked_sub(bytes as u64);
        match room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::ErrorKind::StorageFull.into()),
        }
    }
}

/// A folder with files of a search.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    faults: Faults,
    /// Those that were read last, the last one at the end.
    open: Mutex<VecDeque<(u64, Arc<File>)>>,
}

impl Folder {
    /// The folder at a path, which is made if it is not there.
    pub fn new(path: &Path, faults: Faults) -> Result<Self, Error> {
        make(path).map_err(|source| Error::io("made", path, source))?;
        Ok(Self { path: path.to_owned(), faults, open: Mutex::default() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file of this number is.
    pub fn file_path(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:06}.states"))
    }

    /// A new file to write states to.
    pub fn create(&self, number: u64) -> Result<NewFile<'_>, Error> {
        let path = self.file_path(number);
        let file = File::create(&path).map_err(|source| Error::io("written", &path, source))?;
        Ok(NewFile { folder: self, number, path, file, buffer: Vec::new(), written: 0 })
    }

    /// Reads so many bytes of a file, in place of what `out` has.
    pub fn read(&self, number: u64, at: u64, bytes: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let path = || self.file_path(number);
        let file = self.open(number)?;
        out.resize(bytes, 0);
        match file.read_exact_at(out, at) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(Error::damaged(&path(), "its end is missing"))
            }
            Err(source) => Err(Error::io("read", &path(), source)),
        }
    }

    fn open(&self, number: u64) -> Result<Arc<File>, Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().position(|(other, _)| *other == number);
        let entry = match found.and_then(|index| open.remove(index)) {
            Some(entry) => entry,
            None => {
                let path = self.file_path(number);
                let opened =
                    File::open(&path).map_err(|source| Error::io("read", &path, source))?;
                (number, Arc::new(opened))
            }
        };
        let file = entry.1.clone();
        open.push_back(entry);
        if open.len() > OPEN {
            open.pop_front();
        }
        Ok(file)
    }

    /// Removes a file of states, which need not be there any more.
    pub fn remove(&self, number: u64) -> Result<(), Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(other, _)| *other != number);
        drop(open);
        let path = self.file_path(number);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("removed", &path, source))
            }
            _ => Ok(()),
        }
    }

    /// Sees to it that a file stays.
    pub fn sync(&self, number: u64) -> Result<(), Error> {
        let path = self.file_path(number);
        sync(&path).map_err(|source| Error::io("written", &path, source))
    }

    /// The numbers of all files of states that are there, and their sizes.
    pub fn files(&self) -> Result<Vec<(u64, u64)>, Error> {
        let failed = |source| Error::io("read", &self.path, source);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".states")?.parse().ok());
            if let Some(number) = number {
                files.push((number, entry.metadata().map_err(failed)?.len()));
            }
        }
        Ok(files)
    }

    /// Puts a manifest in the place of the one before, as a whole or not at all.
    pub fn save(&self, name: &str, manifest: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_string(manifest).expect("a manifest is made of plain values");
        let (path, new) = (self.path.join(name), self.path.join(format!("{name}.new")));
        let written = self.faults.before_write(text.len()).and_then(|()| {
            let mut file = File::create(&new)?;
            writeln!(file, "{:08x} {}", crc32fast::hash(text.as_bytes()), text.len())?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            sync(&self.path)?;
            fs::rename(&new, &path)?;
            sync(&self.path)
        });
        written.map_err(|source| Error::io("written", &path, source))
    }

    /// Reads a manifest; none if there is none.
    pub fn load<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Error> {
        let path = self.path.join(name);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::io("read", &path, source)),
        };
        let damaged = |what| Error::damaged(&path, what);
        let end = text.iter().position(|&byte| byte == b'\n');
        let (head, body) = text.split_at(end.ok_or_else(|| damaged("it has no first line"))?);
        let body = &body[1..];
        let expected = format!("{:08x} {}", crc32fast::hash(body), body.len());
        if head != expected.as_bytes() {
            return Err(damaged("its checksum is wrong"));
        }
        let manifest = serde_json::from_slice(body);
        manifest.map(Some).map_err(|_| damaged("another version wrote it"))
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct NewFile<'f> {
    folder: &'f Folder,
    number: u64,
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    /// Bytes, those in the buffer included.
    written: u64,
}

impl NewFile<'_> {
    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes were written.
    pub fn len(&self) -> u64 {
        self.written
    }

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.written == 0
    }

    /// Adds to its end.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.buffer.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
        if self.buffer.len() >= WRITTEN { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let written = self.folder.faults.before_write(self.buffer.len());
        let written = written.and_then(|()| self.file.write_all(&self.buffer));
        self.buffer.clear();
        written.map_err(|source| Error::io("written", &self.path, source))
    }

    /// Ends it. What was written is not sure to stay until the file is synced.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()
    }
}

/// Makes a folder, and those that it is in, if they are not there, so that they stay.
fn make(path: &Path) -> io::Result<()> {
    let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let new: Vec<_> = path.ancestors().take_while(is_new).collect();
    fs::create_dir_all(path)?;
    for parent in new.into_iter().filter_map(Path::parent) {
        sync(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })?;
    }
    Ok(())
}

/// Sees to it that what a file has stays, or the names that a folder has.
fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
