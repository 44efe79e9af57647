//! Lossy stores: how large their tables are, what they may have missed, and how to miss less.
//!
//! The method is that of Dillinger and Manolios, *Enhanced probabilistic verification with 3Spin and
//! 3Murphi*, SPIN 2005: as long as nobody knows how many states there are, a few bits for each lose
//! fewest over the widest range of sizes; each search then tells that number, from which the best
//! settings for the next follow.

use spinward_search::{Limit, Outcome, Stopped};
use spinward_store::{MAX_HASHES, Omissions, SIGNATURE_BITS, Table};

use crate::options::{Search, Store};
use crate::report::Recommendation;
use crate::{Check, Error};

/// Bits that a state sets if the number of states is not known.
const SUPERTRACE: u32 = 3;

/// Of how much memory, in fourths, the table may take; the rest is for the stack.
const FOURTHS: u64 = 3;

/// The smallest and the largest table of bits, as powers of two.
const TABLE_BITS: std::ops::RangeInclusive<u32> = 6..=50;

/// What the user said of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableOptions {
    Bitstate { bits: Option<u32>, hashes: u32 },
    Compact { bits: u32 },
}

impl TableOptions {
    /// What the user said, if it makes sense; none if the store has no such table.
    pub fn of(check: &Check<'_>) -> Result<Option<Self>, Error> {
        let usage = |text: String| Err(Error::Usage(text));
        let table = match check.store {
            Some(Store::Bitstate) => {
                Self::Bitstate { bits: check.bits, hashes: check.hashes.unwrap_or(SUPERTRACE) }
            }
            Some(Store::Compact) => {
                Self::Compact { bits: check.bits.unwrap_or(*SIGNATURE_BITS.end()) }
            }
            None if check.search == Search::Swarm => {
                Self::Bitstate { bits: check.bits, hashes: check.hashes.unwrap_or(SUPERTRACE) }
            }
            _ if check.bits.is_some() => {
                return usage("--bits is for the stores 'bitstate' and 'compact'".into());
            }
            _ if check.hashes.is_some() => {
                return usage("--hashes is for the store 'bitstate'".into());
            }
            _ => return Ok(None),
        };
        match table {
            Self::Bitstate { hashes, .. } if !(1..=MAX_HASHES).contains(&hashes) => {
                return usage(format!("a state sets 1 to {MAX_HASHES} bits, not {hashes}"));
            }
            Self::Bitstate { bits: Some(bits), .. } if !TABLE_BITS.contains(&bits) => {
                return usage(format!(
                    "--bits {bits} would be a table of 2^{bits} bits; it can be from {} to {}",
                    TABLE_BITS.start(),
                    TABLE_BITS.end()
                ));
            }
            Self::Compact { bits } if !SIGNATURE_BITS.contains(&bits) => {
                return usage(format!(
                    "a signature has {} to {} bits, not {bits}",
                    SIGNATURE_BITS.start(),
                    SIGNATURE_BITS.end()
                ));
            }
            Self::Compact { .. } if check.hashes.is_some() => {
                return usage("--hashes is for the store 'bitstate'".into());
            }
            _ => {}
        }
        if check.shortest {
            return usage(format!(
                "the store '{}' may miss the shortest run, so --shortest cannot be promised; use \
                 --store exact or tree",
                table.store()
            ));
        }
        Ok(Some(table))
    }

    /// Its name.
    pub fn store(self) -> Store {
        match self {
            Self::Bitstate { .. } => Store::Bitstate,
            Self::Compact { .. } => Store::Compact,
        }
    }

    /// The options that ask for a table, of the same size if the user chose that.
    fn again(self, table: Table) -> String {
        match (table, self) {
            (Table::Compact { bits, .. }, _) => format!("--store compact --bits {bits}"),
            (Table::Bitstate { hashes, .. }, Self::Bitstate { bits: Some(bits), .. }) => {
                format!("--store bitstate --bits {bits} --hashes {hashes}")
            }
            (Table::Bitstate { hashes, .. }, _) => format!("--store bitstate --hashes {hashes}"),
        }
    }

    /// The table for a search that may use so many bytes.
    pub fn table(self, budget: u64) -> Result<Table, Error> {
        let bytes = budget / 4 * FOURTHS;
        match self {
            Self::Bitstate { bits: None, hashes } => Ok(Table::Bitstate { bytes, hashes }),
            Self::Bitstate { bits: Some(bits), hashes } => {
                let bytes = (1 << bits) / 8;
                if bytes >= budget {
                    return Err(Error::Usage(format!(
                        "a table of 2^{bits} bits takes {} MB, but a search may use {} MB; give a \
                         smaller --bits or a larger --memory",
                        bytes >> 20,
                        budget >> 20
                    )));
                }
                Ok(Table::Bitstate { bytes, hashes })
            }
            Self::Compact { bits } => Ok(Table::Compact { bytes, bits }),
        }
    }
}

/// What a lossy search may have missed, in words.
pub(crate) fn describe(store: Store, omissions: Omissions) -> String {
    let Omissions { expected, probability } = omissions;
    let lost = if expected >= 1.5 {
        format!(
            "about {} new states were probably taken for known, and what is reached only through \
             them was missed too",
            rounded(expected)
        )
    } else if expected >= 0.5 {
        "about one new state was probably taken for known".into()
    } else {
        format!("with a probability of {probability:.1e} a new state was taken for known")
    };
    format!("the store '{store}' is lossy: {lost}")
}

/// How the next search can miss less, if this one ended by itself or for want of room. It used
/// `table`, by what the user `asked`, and could use `budget` bytes in all.
pub(crate) fn recommend(
    asked: TableOptions,
    table: Table,
    budget: u64,
    outcome: &Outcome,
    omissions: Omissions,
) -> Option<Recommendation> {
    let states = outcome.counts.states.saturating_add(omissions.expected as u64);
    let advise = |message: String, options: String, expected_omissions: f64| {
        Some(Recommendation { message, options, states, expected_omissions })
    };
    match outcome.stopped {
        None => {}
        Some(Stopped::Limit(Limit::Table)) => {
            let next = Table::Bitstate { bytes: bytes(table), hashes: SUPERTRACE };
            let options = asked.again(next);
            let message = format!(
                "There are more states than signatures fit into this memory. A few bits for each \
                 always fit: {options}"
            );
            return advise(message, options, next.omissions(states).expected);
        }
        Some(Stopped::Limit(Limit::Memory)) => {
            let Table::Bitstate { bytes, hashes } = table else { return None };
            let bits = (bytes * 8).max(1).ilog2().saturating_sub(1);
            if bits < *TABLE_BITS.start() {
                return None;
            }
            let options = format!("--store bitstate --bits {bits} --hashes {hashes}");
            let message = format!("A smaller table leaves more room for the stack: {options}");
            let next = Table::Bitstate { bytes: (1 << bits) / 8, hashes };
            return advise(message, options, next.omissions(states).expected);
        }
        Some(_) => return None,
    }
    let count = rounded(states as f64);
    // What an exact store needs, the search's own notes included.
    let exact = states.saturating_mul(outcome.counts.state_bytes + EXACT_OVERHEAD);
    let tree = states.saturating_mul(TREE_STATE);
    for (needed, store) in [(exact, "exact"), (tree, "tree")] {
        if needed <= budget {
            let message = format!(
                "There are probably {count} states. They should fit into this memory with \
                 --store {store}, and then none is missed."
            );
            return advise(message, format!("--store {store}"), 0.0);
        }
    }
    let next = Table::best(bytes(table), states);
    let expected = next.omissions(states).expected;
    if expected < omissions.expected / 2.0 {
        let options = asked.again(next);
        let message = format!(
            "There are probably {count} states or more. In the same memory, {options} should lose \
             {}.",
            few(expected)
        );
        return advise(message, options, expected);
    }
    let message = format!(
        "There are probably {count} states or more. These are the best settings for this memory; a \
         larger --memory loses fewer."
    );
    advise(message, asked.again(table), expected)
}

/// What an exact store and a depth-first search take for a state beside its bytes, at most.
const EXACT_OVERHEAD: u64 = 40;

/// What a state takes as a tree, mostly.
const TREE_STATE: u64 = 30;

fn bytes(table: Table) -> u64 {
    match table {
        Table::Bitstate { bytes, .. } | Table::Compact { bytes, .. } => bytes,
    }
}

fn few(expected: f64) -> String {
    if expected >= 0.5 {
        format!("about {}", rounded(expected))
    } else {
        format!("none (one with a probability of {expected:.1e})")
    }
}

/// A number with three digits that count.
fn rounded(number: f64) -> String {
    let unit = 10_f64.powi((number.max(1.0).log10().floor() as i32 - 2).max(0));
    format!("{}", (number / unit).round() * unit)
}
