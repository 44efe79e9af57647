//! A part without what it does by itself, but for what that costs.
//!
//! *Idea*: moves that matter to no other part go on unseen. States become one if they can make the same moves with others, and
//! come to a goal, at the same least cost of unseen moves before and after, and come to states that are one. That is weak
//! bisimulation (R. Milner, *Communication and Concurrency*, 1989) with costs in place of the silence, found by splitting
//! classes until nothing changes. So a tree of processes that ask for something above them becomes as small as what can be
//! told from above: how long it takes them to ask, and to give back.
//!
//! *Invariant*: each move stays a move, so distances become no larger; and whatever the class of a state can do, each of its states
//! can do at the same cost, so that they become no smaller either.
//!
//! *Cost*: for each class and label a look at what leads there; none at all is done if that is more than [`MAX_WORK`].

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::system::{ByState, Label, Part};
use crate::{NEVER, Patience};

/// Moves that are looked at, at most.
const MAX_WORK: u64 = 1 << 24;

/// Moves that are looked at between two looks at whether to go on, which take some system calls.
const UNWATCHED: u64 = 1 << 16;

/// By state its class, numbered from 0, so that no distance changes; none if that takes too long. These labels matter to no other
/// part.
pub fn collapse(
    part: &Part,
    own: &FxHashSet<Label>,
    costs: &[u32],
    patience: Patience<'_>,
) -> Option<Vec<u32>> {
    let mut refinement = Refinement::new(part, own, costs, patience);
    refinement.refine(Costs::Count, u32::MAX).then_some(refinement.classes)
}

/// By state its class, so that states of a class can do the same at some cost, and as far as there is room for `few` classes, at the
/// same cost; and whether there was. None if it takes more than `most` of them that they can do the same at all.
pub fn collapse_within(
    part: &Part,
    own: &FxHashSet<Label>,
    costs: &[u32],
    (most, few): (u32, u32),
    patience: Patience<'_>,
) -> Option<(Vec<u32>, bool)> {
    let mut refinement = Refinement::new(part, own, costs, patience);
    if !refinement.refine(Costs::Free, most) {
        return None;
    }
    let is_exact = refinement.refine(Costs::Count, few);
    Some((refinement.classes, is_exact))
}

/// Whether it makes a difference what unseen moves cost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Costs {
    Free,
    Count,
}

/// Classes that are split again and again.
struct Refinement<'p> {
    part: &'p Part,
    before: Before,
    classes: Vec<u32>,
    /// From where a class, and the beginning of a move, can be come to.
    near: Reached,
    far: Reached,
    work: u64,
    /// As much of it as was told.
    spent: u64,
    patience: Patience<'p>,
}

impl<'p> Refinement<'p> {
    fn new(part: &'p Part, own: &FxHashSet<Label>, costs: &[u32], patience: Patience<'p>) -> Self {
        let size = part.size as usize;
        Self {
            part,
            before: Before::new(part, own, costs),
            classes: part.still.iter().map(|it| u32::from(*it)).collect(),
            near: Reached::new(size),
            far: Reached::new(size),
            work: 0,
            spent: 0,
            patience,
        }
    }

    /// Splits classes until their states can do the same, at the same costs if these count; whether that did not take too many classes, or too long. If it did, they are as far as they came with that many.
    fn refine(&mut self, count: Costs, bound: u32) -> bool {
        (self.work, self.spent) = (0, 0);
        let mut hashes = vec![0; self.classes.len()];
        let goals = (0..).zip(&self.part.goal).filter(|it| *it.1).map(|it| (it.0, 0));
        self.work += self.far.spread(goals, &self.before);
        // Beside labels: it comes to a goal; and others move, which matters to a part that can keep them from it.
        let (goal, others) = (self.before.labels + 1, self.before.labels);
        self.far.tell((goal, 0), count, &mut hashes);
        if self.split(&hashes, bound).is_none() {
            return false;
        }
        let mut changed: FxHashSet<u32> = self.classes.iter().copied().collect();
        let has_stills = self.part.still.contains(&true);
        let mut by_label: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.before.labels + 1];
        while !changed.is_empty() {
            hashes.fill(0);
            let mut members: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for (state, class) in (0..).zip(&self.classes).filter(|it| changed.contains(it.1)) {
                members.entry(*class).or_default().push(state);
            }
            for (class, states) in members {
                let to_class = states.into_iter().map(|it| (it, 0));
                self.work += self.near.spread(to_class, &self.before);
                for &state in &self.near.states {
                    let (at, cost) = (state as usize, self.near.costs[state as usize]);
                    let moves = self.before.seen.of(state);
                    moves.iter().for_each(|it| by_label[it.0 as usize].push((it.1, cost)));
                    if has_stills && !self.part.still[at] {
                        by_label[others].push((state, cost));
                    }
                    self.work += moves.len() as u64;
                }
                self.near.clear();
                let met = by_label.iter_mut().enumerate().filter(|it| !it.1.is_empty());
                for (label, from) in met {
                    self.work += self.far.spread(from.drain(..), &self.before);
                    self.far.tell((label, class), count, &mut hashes);
                }
                if !self.goes_on() {
                    return false;
                }
            }
            match self.split(&hashes, bound) {
                Some(split) => changed = split,
                None => return false,
            }
        }
        true
    }

    /// Whether there is time and room for more.
    fn goes_on(&mut self) -> bool {
        if self.work < self.spent + UNWATCHED {
            return true;
        }
        let more = self.work - std::mem::replace(&mut self.spent, self.work);
        self.work <= MAX_WORK && self.patience.spend(more) && self.patience.over().is_none()
    }

    /// Tells states of a class apart that have different hashes, and numbers classes anew; which of them were split; none if
    /// there would be more than that, and nothing changes. If two that differ have the same hash, they stay one, which is no
    /// harm.
    fn split(&mut self, hashes: &[u64], bound: u32) -> Option<FxHashSet<u32>> {
        let mut numbers: FxHashMap<(u32, u64), u32> = FxHashMap::default();
        let mut came_of: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let new = self.classes.iter().zip(hashes).map(|(old, hash)| {
            let next = numbers.len() as u32;
            let class = *numbers.entry((*old, *hash)).or_insert(next);
            if class == next {
                came_of.entry(*old).or_default().push(class);
            }
            class
        });
        let new: Vec<u32> = new.collect();
        if numbers.len() as u64 > u64::from(bound) {
            return None;
        }
        self.classes = new;
        Some(came_of.into_values().filter(|it| it.len() > 1).flatten().collect())
    }
}

/// Moves, by where they lead.
struct Before {
    /// How many labels matter to others; they are numbered anew.
    labels: usize,
    /// The label, and where it begins.
    seen: ByState<(u32, u32)>,
    /// Where it begins, and its cost.
    unseen: ByState<(u32, u32)>,
}

impl Before {
    fn new(part: &Part, own: &FxHashSet<Label>, costs: &[u32]) -> Self {
        let (unseen, seen): (Vec<_>, Vec<_>) =
            part.moves.iter().partition(|(label, _)| own.contains(label));
        let labels = seen.len();
        let seen = (0..).zip(seen).flat_map(|(number, (_, moves))| {
            moves.iter().map(move |&(from, to)| (to, (number, from)))
        });
        let unseen = unseen.into_iter().flat_map(|(label, moves)| {
            let cost = costs[*label as usize];
            moves.iter().map(move |&(from, to)| (to, (from, cost)))
        });
        let size = part.size as usize;
        Self { labels, seen: ByState::new(size, seen), unseen: ByState::new(size, unseen) }
    }
}

/// States from which some others can be come to by unseen moves.
struct Reached {
    states: Vec<u32>,
    /// By state, at what cost.
    costs: Vec<u32>,
    /// Those that wait, by cost.
    open: Vec<Vec<u32>>,
}

impl Reached {
    fn new(size: usize) -> Self {
        Self { states: Vec::new(), costs: vec![NEVER; size], open: Vec::new() }
    }

    fn clear(&mut self) {
        self.states.drain(..).for_each(|it| self.costs[it as usize] = NEVER);
    }

    fn add(&mut self, state: u32, cost: u32) {
        let known = &mut self.costs[state as usize];
        if cost < *known {
            if *known == NEVER {
                self.states.push(state);
            }
            *known = cost;
            if self.open.len() <= cost as usize {
                self.open.resize_with(cost as usize + 1, Vec::new);
            }
            self.open[cost as usize].push(state);
        }
    }

    /// Finds all from which one of these can be come to, with what it costs from there on; how many moves were looked at.
    fn spread(&mut self, to: impl Iterator<Item = (u32, u32)>, before: &Before) -> u64 {
        to.for_each(|(state, cost)| self.add(state, cost));
        let (mut work, mut cost) = (0, 0);
        while cost < self.open.len() {
            let Some(state) = self.open[cost].pop() else {
                cost += 1;
                continue;
            };
            if self.costs[state as usize] as usize == cost {
                let moves = before.unseen.of(state);
                moves.iter().for_each(|&(from, more)| self.add(from, cost as u32 + more));
                work += 1 + moves.len() as u64;
            }
        }
        work
    }

    /// Adds to the hashes of states that they can come to a class by a label, at some cost, and forgets them.
    fn tell(&mut self, (label, class): (usize, u32), count: Costs, hashes: &mut [u64]) {
        for &state in &self.states {
            let mut hasher = FxHasher::default();
            hasher.write_usize(label + 1);
            hasher.write_u32(class);
            if count == Costs::Count {
                hasher.write_u32(self.costs[state as usize]);
            }
            let hash = &mut hashes[state as usize];
            *hash = hash.wrapping_add(mixed(hasher.finish()));
        }
        self.clear();
    }
}

/// So that sums of hashes differ: what the hasher does is almost a sum itself (the last steps of `SplitMix64`, by S. Vigna).
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part with these moves, of which those with labels 0 and 1 matter to it only, and cost nothing and one.
    fn collapsed(
        still: &[bool],
        moves: &[(Label, Vec<(u32, u32)>)],
        bounds: (u32, u32),
    ) -> Option<Vec<u32>> {
        let size = still.len();
        let part = Part {
            acts: true,
            size: size as u32,
            initial: vec![0],
            goal: vec![true; size],
            still: still.to_vec(),
            moves: moves.to_vec(),
        };
        let own = FxHashSet::from_iter([0, 1]);
        let within = collapse_within(&part, &own, &[0, 1, 1, 1], bounds, Patience::default());
        within.map(|it| it.0)
    }

    #[test]
    fn unseen_moves_that_cost_nothing_are_left_out() {
        let in_turn = [(0, vec![(0, 1), (2, 0)]), (2, vec![(1, 2)])];
        assert_eq!(collapsed(&[false; 3], &in_turn, (1, 1)), Some(vec![0, 0, 0]));
        assert_eq!(collapsed(&[false, false, true], &in_turn, (3, 3)), Some(vec![0, 0, 1]));
        // The choice is made when it is seen.
        let moves =
            [(0, vec![(0, 1), (0, 2), (1, 0), (2, 0)]), (2, vec![(1, 0)]), (3, vec![(2, 0)])];
        assert_eq!(collapsed(&[false; 3], &moves, (1, 1)), Some(vec![0, 0, 0]));
    }

    #[test]
    fn what_unseen_moves_cost_is_not() {
        // 0 and 4 come to where label 2 can be taken by one unseen move, 1 by none, 2 by two; and 3 does not.
        let around = [(1, vec![(0, 1), (2, 0), (4, 1)]), (2, vec![(1, 2)])];
        assert_eq!(collapsed(&[false; 5], &around, (4, 4)), Some(vec![0, 1, 2, 3, 0]));
        // With less room it does not count, but that 3 can do nothing does.
        assert_eq!(collapsed(&[false; 5], &around, (2, 2)), Some(vec![0, 0, 0, 1, 0]));
        assert_eq!(collapsed(&[false; 5], &around, (1, 4)), None);
    }
}
