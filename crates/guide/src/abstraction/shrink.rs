//! A part with fewer states.
//!
//! *Source*: Dräger, Finkbeiner and Podelski 2006, section 4, figure 3. States of the same distance to a goal begin as one;
//! from near to far, the states of a distance are told apart by where their moves lead, as long as there are no more than
//! a bound in all; until nothing changes. Where the paper leaves the states of a distance together if there is not room for
//! all of them apart, here some are told apart: deadlocks have all states at one distance for long.
//!
//! *Invariant*: states of different distances stay apart, if the bound is larger than the largest distance. Whatever is
//! made one, each move stays a move, so distances become no larger.
//!
//! *Cost*: a look at all moves in each round, and at most as many rounds as the bound; fewer if there are very many moves.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::system::{ByState, Label, Part};
use crate::{NEVER, Patience};

/// Moves that are looked at to tell states apart.
const MAX_WORK: usize = 1 << 24;

/// A round of so many moves or more takes long enough to ask after it whether to go on.
const UNWATCHED: usize = 1 << 12;

/// In which order states are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refine {
    /// Those near a goal first.
    #[default]
    Near,
    /// Those far from it first; what the paper compares with (figure 4).
    Far,
}

/// The part in which states of a class are one.
pub fn quotient(part: &Part, classes: &[u32]) -> Part {
    let size = classes.iter().max().map_or(0, |it| it + 1);
    let (mut goal, mut still) = (vec![false; size as usize], vec![true; size as usize]);
    for (state, class) in classes.iter().enumerate() {
        goal[*class as usize] |= part.goal[state];
        still[*class as usize] &= part.still[state];
    }
    let class_of = |state: &u32| classes[*state as usize];
    let moves = part.moves.iter().map(|(label, moves)| {
        let both = |(a, b): &(u32, u32)| u64::from(class_of(a)) << 32 | u64::from(class_of(b));
        let mut moves: Vec<u64> = moves.iter().map(both).collect();
        moves.sort_unstable();
        moves.dedup();
        (*label, moves.into_iter().map(|it| ((it >> 32) as u32, it as u32)).collect())
    });
    let mut initial: Vec<_> = part.initial.iter().map(class_of).collect();
    initial.sort_unstable();
    initial.dedup();
    Part { acts: part.acts, size, initial, goal, still, moves: moves.collect() }
}

/// By state its class, numbered from 0, of which there are at most so many. When patience is over, there are fewer.
pub fn shrink(
    part: &Part,
    bound: u32,
    costs: &[u32],
    refine: Refine,
    patience: Patience<'_>,
) -> Vec<u32> {
    if part.size <= bound {
        return (0..part.size).collect();
    }
    let distances = part.distances(costs);
    // Goals, then by distance; the farthest together.
    let last = bound.saturating_sub(2);
    let bucket = |state: usize| match distances[state] {
        _ if part.goal[state] => 0,
        NEVER => last + 1,
        distance => distance.min(last) + 1,
    };
    let mut buckets = vec![Vec::new(); last as usize + 2];
    for state in 0..part.size as usize {
        buckets[bucket(state) as usize].push(state as u32);
    }
    buckets.retain(|states| !states.is_empty());
    if refine == Refine::Far {
        buckets.reverse();
    }
    let mut classes = vec![0; part.size as usize];
    for (class, states) in (0..).zip(&buckets) {
        states.iter().for_each(|state| classes[*state as usize] = class);
    }
    let steps = part
        .moves
        .iter()
        .flat_map(|(label, moves)| moves.iter().map(move |&(from, to)| (from, (*label, to))));
    let after = ByState::new(part.size as usize, steps);
    let mut count = buckets.len() as u32;
    let mut sizes = vec![1; buckets.len()];
    let mut changed = true;
    let moves: usize = part.moves.iter().map(|it| it.1.len()).sum();
    let rounds = (MAX_WORK / moves.max(1)).max(2);
    for _ in 0..rounds {
        if !changed || count >= bound || !patience.spend(2 * moves as u64) {
            break;
        }
        if moves >= UNWATCHED && patience.over().is_some() {
            break;
        }
        changed = false;
        for (states, size) in buckets.iter().zip(&mut sizes) {
            let split = split(states, *size, (count, bound), &after, &part.still, &mut classes);
            count += split;
            *size += split;
            changed |= split > 0;
        }
    }
    classes
}

/// Tells the states of a distance apart, if there is room for that, or else some of them: class by class, as long as there are
/// fewer than the bound. How many classes there are more than before.
fn split(
    states: &[u32],
    size: u32,
    (count, bound): (u32, u32),
    after: &ByState<(Label, u32)>,
    still: &[bool],
    classes: &mut [u32],
) -> u32 {
    let mut found: FxHashMap<(u32, u64, bool), Vec<u32>> = FxHashMap::default();
    let (mut order, mut reached) = (Vec::new(), Vec::new());
    for &state in states {
        let at = state as usize;
        let key = (classes[at], signature(after.of(state), classes, &mut reached), still[at]);
        let alike = found.entry(key).or_default();
        if alike.is_empty() {
            order.push(key);
        }
        alike.push(state);
    }
    let all = order.len() as u32 - size;
    if all == 0 {
        return 0;
    }
    let (mut next, end) = (count, bound.min(count + all));
    let mut kept = FxHashSet::default();
    for key in order {
        // The first of a class keeps its number.
        if !kept.insert(key.0) && next < end {
            found[&key].iter().for_each(|state| classes[*state as usize] = next);
            next += 1;
        }
    }
    next - count
}

/// What tells a state from others of its class. If two that differ have the same, they stay one, which is no harm.
fn signature(moves: &[(Label, u32)], classes: &[u32], reached: &mut Vec<u64>) -> u64 {
    reached.clear();
    let class_of = |to: u32| u64::from(classes[to as usize]);
    reached.extend(moves.iter().map(|&(label, to)| u64::from(label) << 32 | class_of(to)));
    reached.sort_unstable();
    reached.dedup();
    let mut hasher = FxHasher::default();
    reached.iter().for_each(|it| hasher.write_u64(*it));
    hasher.finish()
}
