//! Runs as people write them, and small runs that show what a formula means.
//!
//! In a written trace each sign is a state: `-` one in which nothing holds, a letter one in which the
//! proposition of that name holds, `(LP)` one in which both do; longer names stand in parentheses,
//! with commas between them. The part in braces, at the end, repeats for ever; without it, the last
//! state does: `--L--P--R-` (Salamah and others, SPIN 2005).

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use thiserror::Error;

use crate::evaluate::{Lasso, holds};
use crate::formula::{Formula, Node};
use crate::product::accepted_word;
use crate::translate::{TooLarge, translate};

/// So many runs are tried for samples at most.
const MAX_TRIED: usize = 20_000;

/// Why a trace cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TraceError {
    /// No such proposition.
    #[error("`{0}` is not in the formula")]
    Unknown(String),
    /// A sign without its partner, or in the wrong place.
    #[error("`{0}` has no partner here")]
    Unbalanced(char),
    /// The part in braces is not the last.
    #[error("nothing can come after the part that repeats for ever")]
    AfterLoop,
    /// The part in braces has no state.
    #[error("the part that repeats for ever is empty")]
    EmptyLoop,
    /// There is no state.
    #[error("there is no state in it")]
    Empty,
}

/// Reads a trace. `names` are those of the atoms.
///
/// # Errors
/// If it is not one.
pub fn read(text: &str, names: &[String]) -> Result<Lasso, TraceError> {
    let atom = |name: &str| names.iter().position(|known| known == name).filter(|atom| *atom < 64);
    let bit = |name: &str| match atom(name) {
        Some(atom) => Ok(1 << atom),
        None => Err(TraceError::Unknown(name.to_owned())),
    };
    let mut states = Vec::new();
    let mut begin = None;
    let mut ended = false;
    let mut rest = text.char_indices();
    while let Some((start, sign)) = rest.next() {
        if sign.is_whitespace() {
            continue;
        }
        if ended {
            return Err(TraceError::AfterLoop);
        }
        match sign {
            '-' => states.push(0),
            '{' if begin.is_none() => begin = Some(states.len()),
            '}' if begin.is_some() => ended = true,
            '(' => {
                let inside = &text[start + 1..];
                let end = inside.find(')').ok_or(TraceError::Unbalanced('('))?;
                let inside = inside[..end].trim();
                let mut state = 0;
                if inside.contains(',') || atom(inside).is_some() {
                    for name in inside.split(',') {
                        state |= bit(name.trim())?;
                    }
                } else {
                    for letter in inside.chars().filter(|c| !c.is_whitespace()) {
                        state |= bit(letter.encode_utf8(&mut [0; 4]))?;
                    }
                }
                states.push(state);
                rest.by_ref().find(|(_, sign)| *sign == ')');
            }
            '{' | '}' | ')' => return Err(TraceError::Unbalanced(sign)),
            _ => states.push(bit(sign.encode_utf8(&mut [0; 4]))?),
        }
    }
    match begin {
        Some(_) if !ended => Err(TraceError::Unbalanced('{')),
        Some(begin) if begin == states.len() => Err(TraceError::EmptyLoop),
        Some(begin) => {
            let cycle = states.split_off(begin);
            Ok(Lasso { prefix: states, cycle })
        }
        None => {
            let last = states.pop().ok_or(TraceError::Empty)?;
            Ok(Lasso { prefix: states, cycle: vec![last] })
        }
    }
}

/// A run in the notation of traces, given the names of atoms.
pub fn written<'a>(lasso: &'a Lasso, names: &'a [String]) -> impl fmt::Display + 'a {
    Written { lasso, names }
}

struct Written<'a> {
    lasso: &'a Lasso,
    names: &'a [String],
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = |f: &mut fmt::Formatter<'_>, valuation: u64| {
            let atoms = (0..64_usize).filter(|atom| valuation >> atom & 1 == 1);
            let name =
                |atom: usize| self.names.get(atom).cloned().unwrap_or_else(|| format!("p{atom}"));
            let names: Vec<String> = atoms.map(name).collect();
            match &names[..] {
                [] => write!(f, "-"),
                [name] if name.chars().count() == 1 => write!(f, "{name}"),
                all if all.iter().all(|name| name.chars().count() == 1) => {
                    write!(f, "({})", all.concat())
                }
                all => write!(f, "({})", all.join(",")),
            }
        };
        self.lasso.prefix.iter().try_for_each(|valuation| state(f, *valuation))?;
        match self.lasso.cycle[..] {
            [] => Ok(()),
            [last] => state(f, last),
            _ => {
                write!(f, "{{")?;
                self.lasso.cycle.iter().try_for_each(|valuation| state(f, *valuation))?;
                write!(f, "}}")
            }
        }
    }
}

/// A few small runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Of which the formula is true.
    pub accepted: Vec<Lasso>,
    /// Of which it is false.
    pub rejected: Vec<Lasso>,
}

/// Small runs of which the formula is true and false, at most `count` of each, shortest first. Each
/// differs from the others in which parts of the formula are true of it. If there is a run of a kind,
/// there is at least one sample of it.
///
/// # Errors
/// If none is short, and the automaton that would tell one is too large.
pub fn samples(formula: &Formula, count: usize) -> Result<Samples, TooLarge> {
    let parts = parts(formula);
    let mut seen = HashSet::new();
    let mut samples = Samples::default();
    for lasso in short_runs(formula.atoms()) {
        let truth = holds(formula, &lasso);
        let side = if truth { &mut samples.accepted } else { &mut samples.rejected };
        if side.len() < count {
            let signature: Vec<bool> = parts.iter().map(|part| holds(part, &lasso)).collect();
            if seen.insert(signature) {
                side.push(lasso);
            }
        } else if samples.accepted.len() >= count && samples.rejected.len() >= count {
            break;
        }
    }
    if count > 0 && samples.accepted.is_empty() {
        samples.accepted.extend(accepted_word(&translate(formula)?));
    }
    if count > 0 && samples.rejected.is_empty() {
        samples.rejected.extend(accepted_word(&translate(&formula.not())?));
    }
    Ok(samples)
}

/// All parts of a formula, in a fixed order.
fn parts(formula: &Formula) -> Vec<Formula> {
    let mut all = BTreeSet::new();
    let mut open = vec![formula.clone()];
    while let Some(part) = open.pop() {
        if all.insert(part.clone()) {
            match part.node() {
                Node::True | Node::False | Node::Atom(_) => {}
                Node::Not(f) | Node::Next(f) => open.push(f.clone()),
                Node::Until(a, b) | Node::Release(a, b) => open.extend([a.clone(), b.clone()]),
                Node::And(parts) | Node::Or(parts) => open.extend(parts.iter().cloned()),
            }
        }
    }
    all.into_iter().collect()
}

/// Short runs, by length, in which at most two atoms hold at once.
fn short_runs(atoms: u64) -> impl Iterator<Item = Lasso> {
    let bits: Vec<u64> = (0..64).map(|atom| 1 << atom).filter(|bit| atoms & bit != 0).collect();
    let mut valuations = vec![0];
    valuations.extend(&bits);
    for (i, a) in bits.iter().enumerate() {
        valuations.extend(bits[i + 1..].iter().map(|b| a | b));
    }
    let by_length = (1..=6_u32).flat_map(move |length| {
        let valuations = valuations.clone();
        let words = (valuations.len() as u64).saturating_pow(length);
        (0..words.min(MAX_TRIED as u64)).flat_map(move |number| {
            let mut rest = number;
            let count = valuations.len() as u64;
            let word: Vec<u64> = (0..length)
                .map(|_| {
                    let valuation = valuations[usize::try_from(rest % count).unwrap_or(0)];
                    rest /= count;
                    valuation
                })
                .collect();
            (0..word.len()).rev().map(move |begin| Lasso {
                prefix: word[..begin].to_vec(),
                cycle: word[begin..].to_vec(),
            })
        })
    });
    by_length.take(MAX_TRIED)
}
