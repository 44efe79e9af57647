//! Finding and reading files.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::source::Span;
use crate::suggest::nearest_file;
use crate::{Code, Diagnostic};

use super::lexer::HeaderName;
use super::{Includes, MAX_BYTES, MAX_INCLUDE_DEPTH, MAX_INCLUDES, Preprocessor};

/// Reads a file as text, or says why not.
pub fn read_file(path: &Path) -> Result<String, Diagnostic> {
    let shown = path.display();
    let cannot = |error: &std::io::Error| {
        let message = match error.kind() {
            ErrorKind::NotFound => format!("there is no file `{shown}`"),
            ErrorKind::PermissionDenied => format!("no permission to read `{shown}`"),
            ErrorKind::IsADirectory => format!("`{shown}` is a directory, not a file"),
            _ => format!("cannot read `{shown}`: {error}"),
        };
        let problem = Diagnostic::of_model(Code::UnreadableFile, message);
        match nearest_file(path).filter(|_| error.kind() == ErrorKind::NotFound) {
            Some(meant) => problem.help(format!("did you mean `{}`?", meant.display())),
            None => problem,
        }
    };
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| cannot(&error))?;
    if bytes.len() > MAX_BYTES {
        let megabytes = MAX_BYTES >> 20;
        return Err(Diagnostic::of_model(
            Code::UnreadableFile,
            format!("`{shown}` is larger than {megabytes} MiB"),
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = bytes[..offset].iter().filter(|&&b| b == b'\n').count() + 1;
        Diagnostic::of_model(Code::UnreadableFile, format!("`{shown}` is not UTF-8 text"))
            .note(format!("the byte 0x{:02x} at offset {offset}, in line {line}", bytes[offset]))
            .help(format!("convert it with `iconv -f latin1 -t utf8 {shown}`"))
    })
}

impl Preprocessor<'_> {
    /// Opens the file an `#include` names.
    pub(super) fn include(&mut self, header: &HeaderName) {
        if header.name.is_empty() {
            self.report(Diagnostic::new(
                Code::BadInclude,
                header.span,
                "`#include` of an empty file name",
            ));
            return;
        }
        let dirs = self.include_dirs(header);
        let includes = &self.options.includes;
        let candidates = dirs.iter().map(|dir| dir.join(&header.name));
        let is_known = |path: &PathBuf| {
            includes.permit(path) || self.options.texts.contains_key(&identity(path))
        };
        let Some(path) = candidates.into_iter().find(is_known) else {
            self.report(not_found(header, &dirs, includes));
            return;
        };
        if self.once.contains(&identity(&path)) {
            return;
        }
        if self.files.len() > MAX_INCLUDE_DEPTH || self.includes >= MAX_INCLUDES {
            let problem = self.too_many_includes(&path, header.span);
            self.stop(problem);
            return;
        }
        let read = match self.options.texts.get(&identity(&path)) {
            Some(text) => Ok(text.clone()),
            None => read_file(&path),
        };
        match read {
            Ok(text) => {
                self.includes += 1;
                self.bytes_read += text.len();
                if self.bytes_read > MAX_BYTES {
                    let megabytes = MAX_BYTES >> 20;
                    self.stop(Diagnostic::new(
                        Code::UnreadableFile,
                        header.span,
                        format!("the files of the model are larger than {megabytes} MiB together"),
                    ));
                    return;
                }
                let file = self.source.add_file(path, text, Some(header.span));
                self.open(file);
            }
            Err(mut problem) => {
                problem.span = Some(header.span);
                self.report(problem);
            }
        }
    }

    /// Remembers not to include the current file again.
    pub(super) fn include_once(&mut self) {
        let path = identity(self.current_path());
        self.once.insert(path);
    }

    pub(super) fn current_path(&self) -> &Path {
        let file = self.files.last().map_or(self.end.span.file, |file| file.lexer.file());
        &self.source.file(file).path
    }

    /// Where to look: for a name in quotes the directory of the including file, then the `-I`
    /// directories and that of the model.
    fn include_dirs(&self, header: &HeaderName) -> Vec<PathBuf> {
        let dir_of = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
        let mut dirs = Vec::new();
        if !header.angled {
            dirs.push(dir_of(self.current_path()));
        }
        dirs.extend(self.options.include_dirs.iter().cloned());
        dirs.push(dir_of(&self.source.file(self.root).path));
        let mut seen = Vec::new();
        dirs.retain(|dir| {
            let new = !seen.contains(dir);
            if new {
                seen.push(dir.clone());
            }
            new
        });
        dirs
    }

    fn too_many_includes(&self, path: &Path, span: Span) -> Diagnostic {
        if self.includes >= MAX_INCLUDES {
            let message = format!("more than {MAX_INCLUDES} files are included");
            return Diagnostic::new(Code::EndlessInclude, span, message);
        }
        let included = identity(path);
        let mut including = self.files.iter().map(|file| file.lexer.file());
        if including.any(|file| identity(&self.source.file(file).path) == included) {
            let message = format!("`{}` includes itself without end", path.display());
            Diagnostic::new(Code::EndlessInclude, span, message)
                .help("put `#ifndef NAME`, `#define NAME`, ..., `#endif` around its text")
        } else {
            let message = format!("files include files more than {MAX_INCLUDE_DEPTH} deep");
            Diagnostic::new(Code::EndlessInclude, span, message)
        }
    }
}

impl Includes {
    /// Whether a path is that of a file which may be read. Of others it is not told whether they are there.
    fn permit(&self, path: &Path) -> bool {
        match self {
            Self::All => path.is_file(),
            Self::Within(folder) => match (path.canonicalize(), folder.canonicalize()) {
                (Ok(path), Ok(folder)) => path.starts_with(folder) && path.is_file(),
                _ => false,
            },
            Self::Nothing => false,
        }
    }
}

fn not_found(header: &HeaderName, dirs: &[PathBuf], includes: &Includes) -> Diagnostic {
    if *includes == Includes::Nothing {
        let message = format!("the file `{}` may not be included here", header.name);
        return Diagnostic::new(Code::NoIncludedFile, header.span, message)
            .note("this text has no folder, so that no file belongs to it");
    }
    let shown: Vec<String> = dirs
        .iter()
        .map(|dir| {
            if dir.as_os_str().is_empty() {
                "the current directory".to_owned()
            } else {
                format!("`{}`", dir.display())
            }
        })
        .collect();
    let message = format!("cannot find the file `{}`", header.name);
    let problem = Diagnostic::new(Code::NoIncludedFile, header.span, message)
        .label("not found")
        .note(format!("looked in {}", shown.join(", ")));
    if let Includes::Within(folder) = includes {
        return problem.note(format!("only files in `{}` may be included", folder.display()));
    }
    let meant = dirs.iter().find_map(|dir| nearest_file(&dir.join(&header.name)));
    let meant = meant.as_ref().and_then(|path| path.file_name()).and_then(|name| name.to_str());
    if let Some(meant) = meant {
        let name = Path::new(&header.name).with_file_name(meant);
        return problem.help(format!("did you mean `{}`?", name.display()));
    }
    if header.angled {
        problem.help(format!(
            "`#include \"{}\"` also looks next to the file it stands in",
            header.name
        ))
    } else {
        problem.help("`-I DIR` adds a directory to look in")
    }
}

/// One path for all the ways to name a file. One that is not there yet has the path that it will have.
pub fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let known = path.ancestors().skip(1).find_map(|folder| {
            Some(folder.canonicalize().ok()?.join(path.strip_prefix(folder).ok()?))
        });
        known.unwrap_or_else(|| path.to_owned())
    })
}
