//! Reads what SPIN's verifier `pan` prints: figures, errors, memory.

/// `pan` tells memory in these.
const MEGABYTE: f64 = 1_048_576.0;

/// The figures and errors of a search by `pan`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanReport {
    /// States stored.
    pub states: u64,
    /// Transitions: states stored and matched.
    pub transitions: u64,
    /// Errors counted.
    pub errors: u64,
    /// Deepest step.
    pub depth: u64,
    /// The errors printed; pan prints equal ones in a row only once.
    pub messages: Vec<PanError>,
    /// The depth limit cut the search off.
    pub truncated: bool,
    /// The search ended before its time: at the errors asked for, or by a fatal error.
    pub stopped: bool,
    /// What it stopped for was the limit on memory.
    pub out_of_memory: bool,
    /// Where the memory went, if `pan` tells.
    pub memory: PanMemory,
}

/// The memory of a search by `pan`, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PanMemory {
    /// Of the states that were stored, with what is kept for each, without the hash table.
    pub states: Option<u64>,
    /// Of the hash table, or of the bits that take its place.
    pub table: Option<u64>,
    /// Of everything.
    pub total: Option<u64>,
}

/// One error as `pan` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanError {
    /// Such as `invalid end state`.
    pub text: String,
    /// The depth printed with it, -1 for an error in the initial state.
    pub depth: i64,
}

impl PanReport {
    /// Reads what `pan` printed; `None` if it did not come to its summary.
    pub fn parse(text: &str) -> Option<Self> {
        let mut report = Self::default();
        let mut complete = (false, false, false);
        for line in text.lines() {
            if let Some(error) = PanError::parse(line) {
                report.messages.push(error);
            } else if line.starts_with("error: max search depth too small") {
                report.truncated = true;
            } else if line.starts_with("Warning: Search not completed") {
                report.stopped = true;
            } else if line.starts_with("pan: reached -DMEMLIM bound") {
                report.out_of_memory = true;
            } else if line.starts_with("State-vector ") {
                report.errors = number_after(line, "errors: ")?;
                report.depth = number_after(line, "depth reached ")?;
                complete.0 = true;
            } else if line.contains(" states, stored") {
                report.states = leading_number(line)?;
                complete.1 = true;
            } else if line.contains(" transitions (= ") {
                report.transitions = leading_number(line)?;
                complete.2 = true;
            } else {
                report.memory.read(line);
            }
        }
        (complete == (true, true, true)).then_some(report)
    }
}

impl PanMemory {
    /// Reads a line such as `290.522 actual memory usage for states`, apart by a tab.
    fn read(&mut self, line: &str) {
        let Some((number, what)) = line.trim_start().split_once('\t') else {
            return;
        };
        let field = match what {
            _ if what.starts_with("actual memory usage for states") => &mut self.states,
            // "shared memory used ..." is that of several processes.
            _ if what.contains("memory used for hash ") => &mut self.table,
            _ if what.starts_with("total ") && what.contains("memory usage") => &mut self.total,
            _ => return,
        };
        let Some(bytes) = number.parse::<f64>().ok().map(|megabytes| megabytes * MEGABYTE) else {
            return;
        };
        // Shared memory and that of the first process are told apart.
        *field = Some(field.unwrap_or(0) + bytes as u64);
    }

    /// Of what must be there to tell whether a state was visited: the states, or the table where it
    /// holds them or stands for them.
    pub fn visited(&self) -> Option<u64> {
        self.states.or(self.table)
    }
}

impl PanError {
    /// Reads a line such as `pan:1: invalid end state (at depth 29)`.
    fn parse(line: &str) -> Option<Self> {
        let (number, rest) = line.strip_prefix("pan:")?.split_once(": ")?;
        number.parse::<u64>().ok()?;
        let (text, depth) = rest.rsplit_once(" (at depth ")?;
        Some(Self { text: text.to_owned(), depth: depth.trim_end_matches(')').parse().ok()? })
    }
}

/// The number that stands after `label` in `line`.
pub fn number_after(line: &str, label: &str) -> Option<u64> {
    let (_, rest) = line.split_once(label)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The number a line starts with, which `pan` prints with 8 digits and an exponent where it is large.
fn leading_number(line: &str) -> Option<u64> {
    let word = line.split_whitespace().next()?;
    let value: f64 = word.parse().ok()?;
    (value >= 0.0).then_some(value as u64)
}

/// Whether two counts are equal as far as `pan` prints them: it keeps 8 digits.
pub fn same_count(spin: u64, ours: u64) -> bool {
    if spin < 100_000_000 {
        return spin == ours;
    }
    let unit = 10_u64.pow(spin.ilog10() - 7);
    spin.abs_diff(ours) <= unit
}

/// Whether the model has a claim: `pan.h` then counts them.
pub fn has_claim(header: &str) -> bool {
    header.contains("#define NCLAIMS\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIOLATED: &str = "\
pan:1: assertion violated (x!=3) (at depth 16)
pan: wrote d.pml.trail
pan:9: invalid end state (at depth 18)

(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
	never claim         	- (none specified)
	assertion violations	+
	cycle checks       	- (disabled by -DSAFETY)
	invalid end states	+

State-vector 36 byte, depth reached 19, errors: 17
       38 states, stored
       10 states, matched
       48 transitions (= stored+matched)
        0 atomic steps
hash conflicts:         0 (resolved)
";

    #[test]
    fn reads_a_summary_with_errors() {
        let report = PanReport::parse(VIOLATED).expect("a summary");
        assert_eq!(
            (report.states, report.transitions, report.errors, report.depth),
            (38, 48, 17, 19)
        );
        assert!(!report.truncated && !report.stopped);
        let texts: Vec<_> = report.messages.iter().map(|m| (&*m.text, m.depth)).collect();
        assert_eq!(texts, [("assertion violated (x!=3)", 16), ("invalid end state", 18)]);
    }

    #[test]
    fn reads_large_numbers_truncation_and_early_stop() {
        let text = VIOLATED
            .replace("       38 states", "1.2345678e+08 states")
            .replace("\n(Spin", "error: max search depth too small\n(Spin")
            .replace("-- 6 December 2019)", "--)\nWarning: Search not completed");
        let report = PanReport::parse(&text).expect("a summary");
        assert_eq!(report.states, 123_456_780);
        assert!(report.truncated && report.stopped);
    }

    #[test]
    fn reads_that_memory_ran_out() {
        let text = format!("pan: reached -DMEMLIM bound\n\t2.1e+08 bytes limit\n{VIOLATED}");
        assert!(PanReport::parse(&text).expect("a summary").out_of_memory);
        assert!(!PanReport::parse(VIOLATED).expect("a summary").out_of_memory);
    }

    #[test]
    fn reads_an_error_in_the_initial_state() {
        let error = PanError::parse("pan:1: invalid end state (at depth -1)");
        assert_eq!(error.map(|error| error.depth), Some(-1));
    }

    #[test]
    fn no_summary_is_no_report() {
        assert_eq!(PanReport::parse("pan:1: invalid end state (at depth 3)\n"), None);
    }

    #[test]
    fn counts_are_compared_as_far_as_printed() {
        assert!(same_count(48, 48));
        assert!(!same_count(48, 49));
        assert!(same_count(123_456_780, 123_456_784));
        assert!(!same_count(123_456_780, 123_456_884));
    }

    #[test]
    fn a_claim_shows_in_the_header() {
        assert!(has_claim("#ifndef NOCLAIM\n\t#define NCLAIMS\t1\n"));
        assert!(!has_claim("#ifndef NCLAIMS\n\t#define NCLAIMS 1\n"));
    }

    fn memory(lines: &str) -> PanMemory {
        PanReport::parse(&format!("{VIOLATED}\n{lines}")).expect("a summary").memory
    }

    #[test]
    fn reads_the_memory_of_an_exact_search() {
        let memory = memory(
            "Stats on memory usage (in Megabytes):
  406.401\tequivalent memory usage for states (stored*(State-vector + overhead))
  290.500\tactual memory usage for states (compression: 71.49%)
         \tstate-vector as stored = 20 byte + 20 byte overhead
  128.000\tmemory used for hash table (-w24)
    0.458\tmemory used for DFS stack (-m10000)
  419.000\ttotal actual memory usage
",
        );
        assert_eq!(memory.states, Some(581 << 19));
        assert_eq!(memory.table, Some(128 << 20));
        assert_eq!(memory.total, Some(419 << 20));
        assert_eq!(memory.visited(), memory.states);
    }

    #[test]
    fn reads_the_memory_of_a_bitstate_search() {
        let memory = memory(
            "  343.910\tequivalent memory usage for states (stored*(State-vector + overhead))
   16.000\tmemory used for hash array (-w27)
    0.458\tmemory used for DFS stack (-m10000)
   17.000\ttotal actual memory usage
",
        );
        assert_eq!(memory.visited(), Some(16 << 20));
        assert_eq!(memory.total, Some(17 << 20));
    }

    #[test]
    fn reads_the_memory_of_a_parallel_search() {
        let memory = memory(
            "  348.344\tequivalent memory usage for states (stored*(State-vector + overhead))
  208.000\tshared memory used for hash table (-w24)
    1.000\ttotal non-shared memory usage

  438.000\ttotal shared memory usage
",
        );
        assert_eq!(memory.visited(), Some(208 << 20));
        assert_eq!(memory.total, Some(439 << 20));
    }
}
