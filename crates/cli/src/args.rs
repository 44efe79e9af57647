//! Options that several commands share.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use spinward::Property;
use spinward::words::{quoted, quoted_path};
use spinward_promela::Options;
use spinward_promela::preprocess::define;

use crate::terminal::Color;

/// Which model, and what the preprocessor shall know.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The model, a Promela file
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Define a macro for the preprocessor
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Model")]
    pub define: Vec<String>,

    /// Forget a macro
    #[arg(short = 'U', value_name = "NAME", help_heading = "Model")]
    pub undefine: Vec<String>,

    /// Look for included files here too
    #[arg(short = 'I', value_name = "DIR", help_heading = "Model")]
    pub include: Vec<PathBuf>,

    /// Permit embedded C code (c_code, c_expr, ...)
    #[arg(long, help_heading = "Model")]
    pub allow_c: bool,
}

impl ModelArgs {
    /// How to read the model, and which conditions and formulas about it.
    pub fn options(&self, conditions: &[String], formulas: &[String]) -> Options {
        Options {
            defines: defines(&self.define),
            undefines: self.undefine.clone(),
            include_dirs: self.include.clone(),
            conditions: conditions.to_vec(),
            formulas: formulas.to_vec(),
            ..Options::default()
        }
    }

    /// The options that lead to the same model once more, as a shell takes them, with a blank
    /// before each.
    pub fn to_shell(&self) -> String {
        let defines = self.define.iter().map(|define| format!(" -D {}", quoted(define)));
        let undefines = self.undefine.iter().map(|name| format!(" -U {}", quoted(name)));
        let includes = self.include.iter().map(|dir| format!(" -I {}", quoted_path(dir)));
        defines.chain(undefines).chain(includes).collect()
    }

    /// Where SPIN would write and look for the trail: beside the caller, named after the model.
    pub fn default_trail(&self) -> PathBuf {
        let name = self.model.file_name().unwrap_or(self.model.as_os_str());
        let mut name = name.to_owned();
        name.push(".trail");
        PathBuf::from(name)
    }

    /// The model as the user named it.
    pub fn name(&self) -> String {
        self.model.display().to_string()
    }
}

/// One of several things, by its name: shells complete it, and a slip is told with what was meant.
#[derive(Clone, Copy)]
pub struct Named<T: 'static> {
    all: &'static [T],
    name: fn(T) -> &'static str,
}

/// Those that there are, each with its name.
pub fn named<T>(all: &'static [T], name: fn(T) -> &'static str) -> Named<T> {
    Named { all, name }
}

impl<T> TypedValueParser for Named<T>
where
    T: FromStr<Err = spinward::Error> + Copy + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let parse: fn(&str) -> Result<T, spinward::Error> = T::from_str;
        parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.all.iter().map(|&it| PossibleValue::new((self.name)(it)))))
    }
}

/// What `-D` says: names and what they stand for.
pub fn defines(given: &[String]) -> Vec<(String, String)> {
    given.iter().map(|text| define(text)).collect()
}

/// Which conditions must hold.
#[derive(Debug, Args)]
pub struct InvariantArgs {
    /// Check that an expression over global variables is true in every state; may repeat
    #[arg(long = "invariant", value_name = "EXPR", help_heading = "What to check")]
    pub invariants: Vec<String>,
}

impl InvariantArgs {
    /// As a shell takes them, with a blank before each.
    pub fn to_shell(&self) -> String {
        self.invariants.iter().map(|text| format!(" --invariant {}", quoted(text))).collect()
    }
}

/// What `--ltl` was given that is no name: formulas beside those of the model.
pub fn formulas(ltl: &[String]) -> Vec<String> {
    ltl.iter().filter(|text| !Property::is_name(text)).cloned().collect()
}

/// What `--ltl` was given, as a shell takes it, with a blank before each.
pub fn ltl_to_shell(ltl: &[String]) -> String {
    ltl.iter().map(|text| format!(" --ltl {}", quoted(text))).collect()
}

/// The claim from a file, as a shell takes it, with a blank before it.
pub fn claim_to_shell(claim: Option<&Path>) -> String {
    claim.map_or(String::new(), |path| format!(" --claim {}", quoted_path(path)))
}

/// How the command speaks.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Say less: no warnings, no progress
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, help_heading = "Output")]
    pub color: Color,
}

/// The names of SPIN's columns, for what has no meaning beside them.
pub const COLUMNS: [&str; 6] = ["statements", "globals", "locals", "receives", "sends", "flat"];

/// SPIN's columns for a run.
#[derive(Debug, Args)]
pub struct ColumnArgs {
    /// Show all statements
    #[arg(short = 'p', help_heading = "Columns, as SPIN has them")]
    pub statements: bool,

    /// Show global variables when they change
    #[arg(short = 'g', help_heading = "Columns, as SPIN has them")]
    pub globals: bool,

    /// Show local variables when they change
    #[arg(short = 'l', help_heading = "Columns, as SPIN has them")]
    pub locals: bool,

    /// Show messages received
    #[arg(short = 'r', help_heading = "Columns, as SPIN has them")]
    pub receives: bool,

    /// Show messages sent
    #[arg(short = 's', help_heading = "Columns, as SPIN has them")]
    pub sends: bool,

    /// Do not indent what processes print
    #[arg(short = 'T', help_heading = "Columns, as SPIN has them")]
    pub flat: bool,
}

impl ColumnArgs {
    /// For the listing.
    pub fn columns(&self) -> spinward_trail::spin_listing::Columns {
        spinward_trail::spin_listing::Columns {
            statements: self.statements,
            globals: self.globals,
            locals: self.locals,
            receives: self.receives,
            sends: self.sends,
            flat: self.flat,
        }
    }

    /// Whether the user asked for any of them.
    pub fn any(&self) -> bool {
        self.columns() != Default::default()
    }
}

/// A size: `4G`, `512M`, `1000000`.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong =
        || "a size is a number, with K, M, G or T for 1024 bytes and so on: 512M, 4G".to_owned();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[number.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err(wrong()),
    };
    let value: f64 = number.trim().parse().map_err(|_| wrong())?;
    let bytes = value * (1u64 << shift) as f64;
    if bytes.is_finite() && (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

/// A number of things: `0`, `10000`.
pub fn count<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "a whole number is wanted, neither negative nor too large".to_owned())
}

/// A time in seconds: `60`, `0.5`.
pub fn seconds(text: &str) -> Result<std::time::Duration, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| *seconds >= 0.0)
        .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a time is a number of seconds: 60, 0.5".to_owned())
}

/// The name of the file of error number `number` (from 1): the first has the name itself, of the others the number
/// goes before the ending, where `spin -t2` looks for trails.
pub fn numbered(path: &Path, number: usize, ending: &str) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let text = path.to_string_lossy();
    match text.strip_suffix(ending) {
        Some(stem) => PathBuf::from(format!("{stem}{number}{ending}")),
        None => PathBuf::from(format!("{text}{number}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("4g"), Ok(4 << 30));
        assert_eq!(size("1.5K"), Ok(1536));
        assert_eq!(size("1000000"), Ok(1_000_000));
        for wrong in ["", "G", "4X", "-1G", "0", "nan", "inf", "4GG", "1e30T", "ä"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_are_whole() {
        assert_eq!(count("10000"), Ok(10_000_u64));
        for wrong in ["", "-1", "1.5", "1e3", "18446744073709551616"] {
            assert!(count::<u64>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_seconds() {
        assert_eq!(seconds("0.5"), Ok(std::time::Duration::from_millis(500)));
        for wrong in ["", "-1", "1m", "inf", "nan", "1e300"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn trails_are_named_as_spin_names_them() {
        let path = Path::new("m.pml.trail");
        assert_eq!(numbered(path, 1, ".trail"), path);
        assert_eq!(numbered(path, 3, ".trail"), Path::new("m.pml3.trail"));
        assert_eq!(numbered(Path::new("x"), 2, ".trail"), Path::new("x2"));
    }
}
