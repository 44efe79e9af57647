//! Fewer labels.
//!
//! Two labels of the same cost that all parts but one make the same moves for may be one, with the moves of both in that
//! part: nothing that happens changes (S. Sievers, M. Wehrle and M. Helmert, *Generalized label reduction for
//! merge-and-shrink heuristics*, AAAI 2014). So what concerns a merged part alone becomes one label, however much there was.

use rustc_hash::{FxHashMap, FxHashSet};

use super::system::{Label, Moves, Part};

/// By part, which of its labels have the same moves: those of the same number do. What was found is kept as long as its moves are.
#[derive(Default)]
pub struct Kinds {
    of: Vec<FxHashMap<Label, u32>>,
}

impl Kinds {
    /// The moves of a part are others now.
    pub fn forget(&mut self, part: usize) {
        if let Some(of) = self.of.get_mut(part) {
            of.clear();
        }
    }

    /// Those of a part; it has lost labels since, perhaps.
    fn of(&mut self, number: usize, part: &Part) -> &FxHashMap<Label, u32> {
        self.of.resize_with(self.of.len().max(number + 1), FxHashMap::default);
        let of = &mut self.of[number];
        if of.is_empty() {
            let mut kinds: FxHashMap<&Moves, u32> = FxHashMap::default();
            of.extend(part.moves.iter().map(|(label, moves)| {
                let next = kinds.len() as u32;
                (*label, *kinds.entry(moves).or_insert(next))
            }));
        }
        of
    }
}

/// Makes labels one that only differ in the moves of a part, and drops those that cannot happen.
pub fn reduce(parts: &mut [Option<Part>], of: usize, costs: &[u32], kinds: &mut Kinds) {
    let impossible: FxHashSet<Label> = parts
        .iter()
        .flatten()
        .flat_map(|part| part.moves.iter().filter(|it| it.1.is_empty()).map(|it| it.0))
        .collect();
    for part in parts.iter_mut().flatten() {
        part.moves.retain(|(label, _)| !impossible.contains(label));
    }
    let Some(part) = parts[of].take() else {
        return;
    };
    kinds.forget(of);
    // By its labels: which are alike as far as was looked at, and whether they matter to others.
    let mut groups: Vec<(u32, bool)> =
        part.moves.iter().map(|it| (costs[it.0 as usize], false)).collect();
    for (number, other) in parts.iter().enumerate() {
        let Some(other) = other else {
            continue;
        };
        let kinds = kinds.of(number, other);
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut labels = other.moves.iter().map(|it| it.0).peekable();
        for ((label, _), (group, matters)) in part.moves.iter().zip(&mut groups) {
            while labels.next_if(|it| it < label).is_some() {}
            let kind = labels.next_if_eq(label).map_or(u32::MAX, |it| kinds[&it]);
            *matters |= kind != u32::MAX;
            let next = numbers.len() as u32;
            *group = *numbers.entry((*group, kind)).or_insert(next);
        }
    }
    let mut firsts: FxHashMap<u32, Label> = FxHashMap::default();
    let mut joined: FxHashMap<Label, Label> = FxHashMap::default();
    let mut elsewhere: FxHashSet<Label> = FxHashSet::default();
    for ((label, _), (group, matters)) in part.moves.iter().zip(groups) {
        joined.insert(*label, *firsts.entry(group).or_insert(*label));
        if matters {
            elsewhere.insert(*label);
        }
    }
    let mut moves: FxHashMap<Label, Vec<(u32, u32)>> = FxHashMap::default();
    for (label, more) in part.moves {
        moves.entry(joined[&label]).or_default().extend(more);
    }
    let mut moves: Vec<_> = moves.into_iter().collect();
    for (label, moves) in &mut moves {
        moves.sort_unstable();
        moves.dedup();
        if !elsewhere.contains(label) {
            moves.retain(|(from, to)| from != to);
        }
    }
    moves.retain(|(label, moves)| elsewhere.contains(label) || !moves.is_empty());
    moves.sort_unstable_by_key(|it| it.0);
    for other in parts.iter_mut().flatten() {
        other.moves.retain(|(label, _)| joined.get(label).is_none_or(|first| first == label));
    }
    parts[of] = Some(Part { moves, ..part });
}

/// The labels of two parts that matter to no other.
pub fn own(parts: &[Option<Part>], a: usize, b: usize) -> FxHashSet<Label> {
    let labels = |part: &Option<Part>| -> Vec<Label> {
        part.iter().flat_map(|it| &it.moves).map(|it| it.0).collect()
    };
    let mut own = FxHashSet::from_iter(labels(&parts[a]).into_iter().chain(labels(&parts[b])));
    let others = parts.iter().enumerate().filter(|it| ![a, b].contains(&it.0));
    others.flat_map(|it| labels(it.1)).for_each(|label| {
        own.remove(&label);
    });
    own
}
