//! Which parts are merged next.
//!
//! *Source*: Dräger, Finkbeiner and Podelski 2006, section 5. What matters is what happens close to an error: the rank of a
//! label in a part is the least distance to a goal from where it leads, that of two parts the least rank of a label
//! that matters to both. Only pairs count of which one at least has a goal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::system::{Label, Part};
use crate::NEVER;

/// How the next two parts are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By what happens close to an error; processes first, then the smaller pair.
    #[default]
    Rank,
    /// As they come in the model, whatever they have to do with each other.
    Given,
    /// Those that have the fewest states together.
    Small,
    /// First those that have something to do with each other only, beginning with parts that one other only has to do with; each
    /// time they are made as small as they can be for all others. Then by what happens close to an error.
    Outer,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rank => "rank",
            Self::Given => "given",
            Self::Small => "small",
            Self::Outer => "outer",
        })
    }
}

impl FromStr for Order {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Rank, Self::Given, Self::Small, Self::Outer]
            .into_iter()
            .find(|it| it.to_string() == text)
            .ok_or(())
    }
}

impl Order {
    /// The next two of the parts that are left, the one with a goal first; none if merging more would tell no more.
    pub fn next(
        self,
        parts: &[Option<Part>],
        costs: &[u32],
        is_barred: &dyn Fn(usize, usize) -> bool,
    ) -> Option<(usize, usize)> {
        let ranks: Vec<Vec<(Label, u32)>> = parts.iter().map(|it| ranks(it, costs)).collect();
        let left = || parts.iter().enumerate().filter_map(|(at, it)| Some((at, it.as_ref()?)));
        if self == Self::Given {
            let numbers = || left().map(|(at, _)| at);
            let pairs =
                numbers().flat_map(|a| numbers().skip_while(move |b| *b <= a).map(move |b| (a, b)));
            return { pairs }.find(|(a, b)| !is_barred(*a, *b));
        }
        let pairs = left().filter(|(_, first)| first.has_goal()).flat_map(|first| {
            let others = left().filter(move |(b, _)| *b != first.0 && !is_barred(first.0, *b));
            others.map(move |second| (first, second))
        });
        let keys = pairs.filter_map(|((a, first), (b, second))| {
            let rank = shared(&ranks[a], &ranks[b])?;
            let size = u64::from(first.size) * u64::from(second.size);
            let key = match self {
                Self::Rank | Self::Outer => (rank, !second.acts, size),
                Self::Given | Self::Small => (0, false, size),
            };
            Some((key, b, a))
        });
        keys.min().map(|(_, b, a)| (a, b))
    }
}

/// The next two of the parts that have something to do with each other that matters to nobody else, and not more states together
/// than that. Parts that only one other has to do with come first, then the smaller pair.
pub fn close(
    parts: &[Option<Part>],
    most: u64,
    is_barred: &dyn Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    let mut sharing: BTreeMap<Label, Vec<usize>> = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        for (label, _) in part.iter().flat_map(|it| &it.moves) {
            sharing.entry(*label).or_default().push(number);
        }
    }
    let mut neighbours = vec![BTreeSet::new(); parts.len()];
    let mut pairs = BTreeSet::new();
    for together in sharing.values() {
        for &number in together {
            neighbours[number].extend(together.iter().copied().filter(|it| *it != number));
        }
        if let [a, b] = together[..] {
            pairs.extend([(a, b), (b, a)]);
        }
    }
    let size = |number: usize| parts[number].as_ref().map_or(0, |it| u64::from(it.size));
    let fits = |(a, b): &(usize, usize)| size(*a) * size(*b) <= most && !is_barred(*a, *b);
    let pairs = pairs.into_iter().filter(fits);
    let keys = pairs.map(|(a, b)| (neighbours[b].len() > 1, size(a) * size(b), a, b));
    keys.min().map(|(_, _, a, b)| (a, b))
}

/// By label that matters to a part: how close to a goal it leads.
fn ranks(part: &Option<Part>, costs: &[u32]) -> Vec<(Label, u32)> {
    let Some(part) = part else {
        return Vec::new();
    };
    let distances = if part.has_goal() { part.distances(costs) } else { vec![0; part.goal.len()] };
    let rank = |moves: &[(u32, u32)]| {
        moves.iter().map(|(_, to)| distances[*to as usize]).min().unwrap_or(NEVER)
    };
    // Of what changes nothing in who has a goal, nothing is to be learnt about it.
    let counts = |moves: &[(u32, u32)]| !part.has_goal() || moves.iter().any(|it| it.0 != it.1);
    let counting = part.moves.iter().filter(|it| counts(&it.1));
    counting.map(|(label, moves)| (*label, rank(moves))).collect()
}

/// The rank of two parts, if any label matters to both.
fn shared(a: &[(Label, u32)], b: &[(Label, u32)]) -> Option<u32> {
    let mut least = None;
    let mut rest = b;
    for &(label, rank) in a {
        let first = rest.partition_point(|it| it.0 < label);
        rest = &rest[first..];
        match rest.first() {
            Some(&(other, also)) if other == label => {
                let rank = rank.max(also);
                least = Some(least.map_or(rank, |known: u32| known.min(rank)));
            }
            _ => {}
        }
    }
    least
}
