//! Checks that are started from the editor: the command itself, in a process of its own.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lsp_types::{MessageType, Uri};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The name by which editors start a check.
pub const COMMAND: &str = "spinward.check";
/// Bytes of a check's output that are shown.
const MAX_OUTPUT: u64 = 1 << 20;

/// What to check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The model.
    pub model: Uri,
    /// Only this property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ltl: Option<String>,
}

/// What came of a check.
#[derive(Debug)]
pub struct Outcome {
    /// How it is to be shown.
    pub kind: MessageType,
    /// What matters, in a line.
    pub summary: String,
    /// All that the command said.
    pub output: String,
}

/// A check that may still be running.
#[derive(Debug)]
struct Running {
    child: Arc<Mutex<Child>>,
    unwanted: Arc<AtomicBool>,
}

impl Running {
    fn stop(&self) {
        self.unwanted.store(true, Ordering::Relaxed);
        // It may be over already.
        let _ = self.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

/// The checks that were started, the latest of each model.
#[derive(Debug, Default)]
pub struct Checks {
    running: FxHashMap<PathBuf, Running>,
}

impl Checks {
    /// Starts a check, instead of one of the same model that is still running; `tell` is called when it
    /// is over.
    pub fn start(
        &mut self,
        program: &Path,
        model: &Path,
        options: &[String],
        tell: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<(), String> {
        if let Some(before) = self.running.remove(model) {
            before.stop();
        }
        let cannot = |problem: std::io::Error| format!("cannot start the check: {problem}");
        let (output, said) = std::io::pipe().map_err(cannot)?;
        let name = model.file_name().unwrap_or(model.as_os_str());
        let child = Command::new(program)
            .args(["check", "--no-progress", "--color", "never"])
            .args(options)
            .arg("--")
            .arg(name)
            .current_dir(model.parent().unwrap_or(Path::new("/")))
            .stdin(Stdio::null())
            .stdout(said.try_clone().map_err(cannot)?)
            .stderr(said)
            .spawn()
            .map_err(cannot)?;
        let child = Arc::new(Mutex::new(child));
        let unwanted = Arc::new(AtomicBool::new(false));
        let running = Running { child: Arc::clone(&child), unwanted: Arc::clone(&unwanted) };
        let wait = move || {
            let mut bytes = Vec::new();
            // What was said until something went wrong is better than nothing.
            let _ = output.take(MAX_OUTPUT).read_to_end(&mut bytes);
            let status = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
            if !unwanted.load(Ordering::Relaxed) {
                let code = status.ok().and_then(|status| status.code());
                tell(outcome(code, String::from_utf8_lossy(&bytes).into_owned()));
            }
        };
        std::thread::Builder::new().name("check".to_owned()).spawn(wait).map_err(cannot)?;
        self.running.insert(model.to_owned(), running);
        Ok(())
    }
}

impl Drop for Checks {
    fn drop(&mut self) {
        self.running.values().for_each(Running::stop);
    }
}

/// What the exit code and the output of a check say.
fn outcome(code: Option<i32>, output: String) -> Outcome {
    let kind = match code {
        Some(0) => MessageType::Info,
        Some(1 | 3) => MessageType::Warning,
        _ => MessageType::Error,
    };
    let first = output.lines().map(str::trim).find(|line| !line.is_empty());
    let verdicts = ["verified", "violated", "incomplete", "error", "nothing found"];
    let verdict = output.lines().find(|line| verdicts.iter().any(|it| line.starts_with(it)));
    let summary = verdict.or(first).unwrap_or("the check said nothing").to_owned();
    Outcome { kind, summary, output }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_summed_up_by_its_verdict() {
        let said = "warning: dubious\n\nviolated: assert(x) is false at m.pml:3\n\nmore\n";
        let found = outcome(Some(1), said.to_owned());
        assert_eq!(found.summary, "violated: assert(x) is false at m.pml:3");
        assert_eq!(found.kind, MessageType::Warning);
        assert_eq!(outcome(None, String::new()).kind, MessageType::Error);
    }
}
