//! "Did you mean ...?"

use std::path::{Path, PathBuf};

/// Nobody takes one longer name for another.
const MAX_LENGTH: usize = 60;

/// So many candidates are compared with a name.
const MAX_CANDIDATES: usize = 5_000;

/// The candidate most like a name, if one is near enough to be a slip of the pen.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let name: Vec<char> = name.chars().collect();
    let tolerance = (name.len() / 3).max(1);
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|candidate| candidate.len() <= 2 * MAX_LENGTH)
        .filter(|candidate| candidate.chars().count().abs_diff(name.len()) <= tolerance)
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|&(distance, candidate)| {
            // A name of one or two letters is near to everything.
            distance <= tolerance && distance < candidate.chars().count()
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// The file beside one that is not there whose name is most like its name.
pub fn nearest_file(missing: &Path) -> Option<PathBuf> {
    let name = missing.file_name()?.to_str()?;
    let folder = missing.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let names: Vec<String> = names.take(MAX_CANDIDATES).collect();
    nearest(name, names.iter().map(String::as_str)).map(|found| missing.with_file_name(found))
}

/// The end of a sentence about a file that could not be read: which was meant, if it is just not there.
pub fn meant_file(path: &Path, problem: &std::io::Error) -> String {
    match nearest_file(path).filter(|_| problem.kind() == std::io::ErrorKind::NotFound) {
        Some(meant) => format!("; did you mean {}?", meant.display()),
        None => String::new(),
    }
}

/// The number of letters to insert, drop, change or swap with their neighbour; case is free.
fn distance(a: &[char], b: &str) -> usize {
    let a: Vec<char> = a.iter().map(char::to_ascii_lowercase).collect();
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_and_nothing_else() {
        let names = ["count", "turn", "x", "flag"];
        assert_eq!(nearest("cuont", names), Some("count"));
        assert_eq!(nearest("COUNT", names), Some("count"));
        assert_eq!(nearest("flags", names), Some("flag"));
        assert_eq!(nearest("y", names), None);
        assert_eq!(nearest("window", names), None);
    }
}
