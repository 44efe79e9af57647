//! A part without a goal, without what it does by itself.
//!
//! *Idea*: moves that matter to no other part go on unseen. States become one if both can make the same moves with
//! others, perhaps after unseen ones, and come to states that are one. That is branching bisimulation (R. van Glabbeek
//! and P. Weijland, *Branching time and abstraction in bisimulation semantics*, JACM 1996), found by signatures (S. Blom
//! and S. Orzan, *Distributed branching bisimulation reduction of state spaces*, 2003). A tree of processes that ask
//! for something above them so becomes as small as one that asks.
//!
//! *Invariant*: each move stays a move, so distances become no larger. What unseen moves cost is lost where they lead nowhere
//! else.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::system::{Label, Part};
use crate::Patience;

/// Stands for all labels that matter to no other part.
const UNSEEN: u64 = u64::MAX << 32;

/// By state its class, numbered from 0, if there are no more of them than that, and patience lasts; these labels matter to no
/// other part.
pub fn collapse(
    part: &Part,
    own: &FxHashSet<Label>,
    bound: u32,
    patience: Patience<'_>,
) -> Option<Vec<u32>> {
    let size = part.size as usize;
    let (mut seen, mut unseen) = (vec![Vec::new(); size], vec![Vec::new(); size]);
    for (label, moves) in &part.moves {
        for &(from, to) in moves {
            let is_alike = part.still[from as usize] == part.still[to as usize];
            match own.contains(label) {
                true if is_alike => unseen[from as usize].push(to),
                true => seen[from as usize].push((UNSEEN, to)),
                false => seen[from as usize].push((u64::from(*label) << 32, to)),
            }
        }
    }
    let groups = groups(&unseen);
    let mut classes: Vec<u32> = part.still.iter().map(|it| u32::from(*it)).collect();
    let mut count = 0;
    while patience.over().is_none() {
        let signatures = signatures(&groups, &seen, &unseen, &classes);
        let mut numbers = FxHashMap::default();
        for (class, signature) in classes.iter_mut().zip(signatures) {
            let next = numbers.len() as u32;
            *class = *numbers.entry((*class, signature)).or_insert(next);
        }
        let found = numbers.len() as u32;
        if found > bound {
            return None;
        }
        if found == count {
            return Some(classes);
        }
        count = found;
    }
    None
}

/// States that lead to each other by unseen moves; those that others lead to come first (S. Sharir, *A strong-connectivity
/// algorithm and its applications in data flow analysis*, 1981).
fn groups(unseen: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); unseen.len()];
    for (from, moves) in (0..).zip(unseen) {
        moves.iter().for_each(|to| before[*to as usize].push(from));
    }
    let from_all = walks(&before, 0..unseen.len() as u32);
    walks(unseen, from_all.into_iter().flatten().rev())
}

/// For each of the roots that is not met before, the states that are met from there, the last ones first.
fn walks(after: &[Vec<u32>], roots: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let mut met = vec![false; after.len()];
    let mut all = Vec::new();
    for root in roots {
        if std::mem::replace(&mut met[root as usize], true) {
            continue;
        }
        let (mut left, mut path) = (Vec::new(), vec![(root, 0)]);
        while let Some((state, at)) = path.last_mut() {
            match after[*state as usize].get(*at) {
                Some(&to) => {
                    *at += 1;
                    if !std::mem::replace(&mut met[to as usize], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    left.push(*state);
                    path.pop();
                }
            }
        }
        all.push(left);
    }
    all
}

/// By state, what it can do after unseen moves within its class. If two that differ have the same, they stay one, which is
/// no harm.
fn signatures(
    groups: &[Vec<u32>],
    seen: &[Vec<(u64, u32)>],
    unseen: &[Vec<u32>],
    classes: &[u32],
) -> Vec<u64> {
    let mut group_of = vec![0; classes.len()];
    let mut sets: Vec<Vec<u64>> = Vec::with_capacity(groups.len());
    let mut hashes = vec![0; classes.len()];
    for group in groups {
        let mut set = Vec::new();
        group.iter().for_each(|state| group_of[*state as usize] = sets.len());
        for &state in group {
            let own = classes[state as usize];
            let moves = seen[state as usize].iter();
            set.extend(moves.map(|&(label, to)| label | u64::from(classes[to as usize])));
            for &to in &unseen[state as usize] {
                let (class, other) = (classes[to as usize], group_of[to as usize]);
                match class == own {
                    true if other == sets.len() => {}
                    true => set.extend_from_slice(&sets[other]),
                    false => set.push(UNSEEN | u64::from(class)),
                }
            }
        }
        set.sort_unstable();
        set.dedup();
        let mut hasher = FxHasher::default();
        set.iter().for_each(|it| hasher.write_u64(*it));
        let hash = hasher.finish();
        group.iter().for_each(|state| hashes[*state as usize] = hash);
        sets.push(set);
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part with these moves, of which those with label 0 matter to it only.
    fn collapsed(
        still: &[bool],
        moves: &[(Label, Vec<(u32, u32)>)],
        bound: u32,
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
        collapse(&part, &FxHashSet::from_iter([0]), bound, Patience::default())
    }

    #[test]
    fn unseen_moves_are_left_out() {
        let in_turn = [(0, vec![(0, 1), (2, 0)]), (1, vec![(1, 2)])];
        assert_eq!(collapsed(&[false; 3], &in_turn, 1), Some(vec![0, 0, 0]));
        assert_eq!(collapsed(&[false, false, true], &in_turn, 3), Some(vec![0, 0, 1]));
        let around = [(0, vec![(0, 1), (1, 0), (1, 2)]), (1, vec![(2, 3)]), (2, vec![(3, 0)])];
        assert_eq!(collapsed(&[false; 4], &around, 2), Some(vec![0, 0, 0, 1]));
    }

    #[test]
    fn unseen_choices_are_not() {
        let moves = [(0, vec![(0, 1), (0, 2)]), (1, vec![(1, 0)]), (2, vec![(2, 0)])];
        assert_eq!(collapsed(&[false; 3], &moves, 3), Some(vec![0, 1, 2]));
        assert_eq!(collapsed(&[false; 3], &moves, 2), None);
    }
}
