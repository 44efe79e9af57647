//! The folder in which a run is kept.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::auto::{self, AutoResults};
use crate::csv;
use crate::disk::{self, DiskResults};
use crate::ltl::{self, LtlResults};
use crate::machine::Machine;
use crate::plot::plot;
use crate::results::Results;
use crate::run::Job;
use crate::table::table;

/// Runs that begin in the same second get numbers, up to this one.
const SAME_SECOND: usize = 100;

/// The folder of a run. Jobs are written as they come, so that nothing is lost if the run is cut
/// short.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    jobs: File,
}

impl Folder {
    /// Makes the folder of a run below `out`, and writes what is known at its beginning.
    pub fn create(out: &Path, machine: &Machine) -> io::Result<Self> {
        fs::create_dir_all(out)?;
        let path = Self::make(out, &machine.folder_name())?;
        let json = serde_json::to_string_pretty(machine).map_err(io::Error::other)?;
        fs::write(path.join("machine.json"), json + "\n")?;
        let mut jobs = File::create(path.join("jobs.csv"))?;
        jobs.write_all(csv::JOBS.as_bytes())?;
        Ok(Self { path, jobs })
    }

    fn make(out: &Path, name: &str) -> io::Result<PathBuf> {
        for number in 1..=SAME_SECOND {
            let number = if number == 1 { String::new() } else { format!("-{number}") };
            let path = out.join(format!("{name}{number}"));
            match fs::create_dir(&path) {
                Err(problem) if problem.kind() == ErrorKind::AlreadyExists => {}
                made => return made.map(|()| path),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a job.
    pub fn add(&mut self, job: &Job) -> io::Result<()> {
        self.jobs.write_all(csv::job(job).as_bytes())
    }

    /// Keeps the results: the table, which it gives, CSV, and the plot.
    pub fn finish(&self, results: &Results) -> io::Result<String> {
        let text = table(results);
        fs::write(self.path.join("table.txt"), &text)?;
        let lines: String = results.rows.iter().map(csv::result).collect();
        fs::write(self.path.join("results.csv"), csv::RESULTS.to_owned() + &lines)?;
        fs::write(self.path.join("plot.svg"), plot(results))?;
        Ok(text)
    }

    /// Keeps the results on the default search: the table, which it gives, and CSV.
    pub fn finish_auto(&self, results: &AutoResults) -> io::Result<String> {
        let text = auto::table(results);
        fs::write(self.path.join("table.txt"), &text)?;
        let lines: String = results.rows.iter().map(auto::result).collect();
        fs::write(self.path.join("results.csv"), auto::RESULTS.to_owned() + &lines)?;
        Ok(text)
    }

    /// Keeps the results on states on disk: the table, which it gives.
    pub fn finish_disk(&self, results: &DiskResults) -> io::Result<String> {
        let text = disk::table(results);
        fs::write(self.path.join("table.txt"), &text)?;
        Ok(text)
    }

    /// Keeps the results on temporal properties: the table, which it gives, and CSV.
    pub fn finish_ltl(&self, results: &LtlResults) -> io::Result<String> {
        let text = ltl::table(results);
        fs::write(self.path.join("table.txt"), &text)?;
        let lines: String = results.rows.iter().map(ltl::result).collect();
        fs::write(self.path.join("results.csv"), ltl::RESULTS.to_owned() + &lines)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::example;

    #[test]
    fn a_run_is_kept_with_all_its_files() {
        let out = tempfile::tempdir().expect("a folder");
        let machine = Machine::here("1.2.3", vec!["models".into()]);
        let mut folder = Folder::create(&out.path().join("bench"), &machine).expect("made");
        let job = Job {
            round: 1,
            model: "m.pml".into(),
            program: "SPIN safety".into(),
            outcome: Err("pan: time limit".into()),
        };
        folder.add(&job).expect("written");
        let text = folder.finish(&example()).expect("written");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
        assert_eq!(read("table.txt"), text);
        assert_eq!(read("jobs.csv"), csv::JOBS.to_owned() + &csv::job(&job));
        assert_eq!(read("results.csv").lines().count(), 1 + example().rows.len());
        assert!(read("plot.svg").starts_with("<svg"));
        assert!(read("machine.json").contains("\"spinward\": \"1.2.3\""));
    }

    #[test]
    fn a_run_on_temporal_properties_is_kept() {
        let out = tempfile::tempdir().expect("a folder");
        let folder = Folder::create(out.path(), &Machine::here("0", Vec::new())).expect("made");
        let results = crate::ltl::example();
        let text = folder.finish_ltl(&results).expect("written");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
        assert_eq!(read("table.txt"), text);
        assert_eq!(read("results.csv").lines().count(), 1 + results.rows.len());
    }

    #[test]
    fn two_runs_in_one_second_are_kept_apart() {
        let out = tempfile::tempdir().expect("a folder");
        let machine = Machine::here("0", Vec::new());
        let first = Folder::create(out.path(), &machine).expect("made");
        let second = Folder::create(out.path(), &machine).expect("made");
        assert_ne!(first.path(), second.path());
        assert!(second.path().ends_with(machine.folder_name() + "-2"));
    }
}
