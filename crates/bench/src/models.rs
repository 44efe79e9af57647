//! Finds models, and gives each a folder of its own to work in.

use std::ffi::OsStr;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Extensions of files that hold a model; `.h` files are parts of others.
const EXTENSIONS: [&str; 5] = ["pml", "prom", "prm", "pr", "promela"];

/// The models below a folder, in the order of their names; or the file itself, if it is one.
pub fn find(path: &Path) -> Result<Vec<PathBuf>> {
    let mut models = Vec::new();
    if path.is_file() {
        models.push(path.to_owned());
    } else {
        add_folder(path, &mut models)?;
    }
    Ok(models)
}

fn add_folder(folder: &Path, models: &mut Vec<PathBuf>) -> Result<()> {
    let is_model = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str);
        extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
    };
    let entries = fs::read_dir(folder).map_err(|problem| about("cannot read", folder, &problem))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        // A link to a folder may lead in circles.
        if path.is_dir() && !path.is_symlink() {
            add_folder(&path, models)?;
        } else if path.is_file() && is_model(&path) {
            models.push(path);
        }
    }
    Ok(())
}

/// Copies the model's folder to a temporary one, so that nothing is written where the model is;
/// gives that folder and the name of the model in it.
///
/// Files are copied, folders beside the model are linked: a model includes what it likes.
pub fn copy_surroundings(model: &Path) -> Result<(TempDir, String)> {
    let model = model.canonicalize().map_err(|problem| about("cannot find", model, &problem))?;
    let (Some(folder), Some(name)) = (model.parent(), model.file_name().and_then(OsStr::to_str))
    else {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            format!("not a file name: {}", model.display()),
        ));
    };
    let dir = tempfile::tempdir()?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(file_name) = path.file_name() else {
            continue;
        };
        let target = dir.path().join(file_name);
        if path.is_dir() {
            symlink(&path, target)?;
        } else if path.is_file() && !file_name.to_string_lossy().ends_with(".trail") {
            fs::copy(&path, target).map_err(|problem| about("cannot copy", &path, &problem))?;
        }
    }
    Ok((dir, name.to_owned()))
}

/// Names for people: the paths without the folders that all of them have in common.
pub fn short_names(paths: &[PathBuf]) -> Vec<String> {
    let folders = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let mut common = paths.first().map(|path| folders(path)).unwrap_or_default();
    for path in paths {
        while !path.starts_with(&common) {
            // The root has no folder above it, and is not in common with what has no root.
            if !common.pop() {
                common = PathBuf::new();
            }
        }
    }
    let name = |path: &PathBuf| path.strip_prefix(&common).unwrap_or(path).display().to_string();
    paths.iter().map(name).collect()
}

fn about(what: &str, path: &Path, problem: &Error) -> Error {
    Error::new(problem.kind(), format!("{what} {}: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, name).expect("a file");
    }

    #[test]
    fn models_are_found_in_folders_of_folders() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["b.pml", "a/x.prom", "a/x.h", "a/b/y.pml", "README"] {
            write(dir.path(), name);
        }
        symlink(dir.path(), dir.path().join("a/circle")).expect("a link");
        let found = find(dir.path()).expect("readable");
        let expected: Vec<_> =
            ["a/b/y.pml", "a/x.prom", "b.pml"].iter().map(|name| dir.path().join(name)).collect();
        assert_eq!(found, expected);
        assert_eq!(find(&dir.path().join("README")).expect("a file").len(), 1);
        assert!(find(&dir.path().join("nowhere")).is_err());
    }

    #[test]
    fn a_copy_has_what_is_beside_the_model() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["m.pml", "part.h", "m.pml.trail", "sub/more.h"] {
            write(dir.path(), name);
        }
        let (copy, name) = copy_surroundings(&dir.path().join("m.pml")).expect("copied");
        assert_eq!(name, "m.pml");
        for (file, there) in [("m.pml", true), ("part.h", true), ("sub/more.h", true)] {
            assert_eq!(copy.path().join(file).exists(), there, "{file}");
        }
        assert!(!copy.path().join("m.pml.trail").exists());
    }

    #[test]
    fn names_leave_out_what_is_common() {
        let names = |paths: &[&str]| {
            short_names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>()).join(" ")
        };
        assert_eq!(names(&["m/a/x.pml", "m/b/y.pml"]), "a/x.pml b/y.pml");
        assert_eq!(names(&["m/x.pml"]), "x.pml");
        assert_eq!(names(&["/m/x.pml", "n/y.pml"]), "/m/x.pml n/y.pml");
        assert_eq!(names(&[]), "");
    }
}
