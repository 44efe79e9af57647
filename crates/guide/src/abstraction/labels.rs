//! Fewer labels.
//!
//! Two labels of the same cost that all parts but one make the same moves for may be one, with the moves of both in that
//! part: nothing that happens changes (S. Sievers, M. Wehrle and M. Helmert, *Generalized label reduction for
//! merge-and-shrink heuristics*, AAAI 2014). So what concerns a merged part alone becomes one label, however much there was.

use rustc_hash::{FxHashMap, FxHashSet};

use super::system::{Label, Moves, Part};

/// Makes labels one that only differ in the moves of a part, and drops those that cannot happen.
pub fn reduce(parts: &mut [Option<Part>], of: usize, costs: &[u32]) {
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
    let mut elsewhere: FxHashMap<Label, Vec<(usize, usize)>> = FxHashMap::default();
    for (number, other) in parts.iter().enumerate() {
        let mut kinds: FxHashMap<&Moves, usize> = FxHashMap::default();
        for (label, moves) in other.iter().flat_map(|other| &other.moves) {
            let next = kinds.len();
            let kind = *kinds.entry(moves).or_insert(next);
            elsewhere.entry(*label).or_default().push((number, kind));
        }
    }
    let mut groups: FxHashMap<(u32, Vec<(usize, usize)>), Label> = FxHashMap::default();
    let mut joined: FxHashMap<Label, Label> = FxHashMap::default();
    for (label, _) in &part.moves {
        let key = (costs[*label as usize], elsewhere.get(label).cloned().unwrap_or_default());
        let first = *groups.entry(key).or_insert(*label);
        joined.insert(*label, first);
    }
    let mut moves: FxHashMap<Label, Vec<(u32, u32)>> = FxHashMap::default();
    for (label, more) in part.moves {
        moves.entry(joined[&label]).or_default().extend(more);
    }
    let mut moves: Vec<_> = moves.into_iter().collect();
    for (label, moves) in &mut moves {
        moves.sort_unstable();
        moves.dedup();
        if !elsewhere.contains_key(label) {
            moves.retain(|(from, to)| from != to);
        }
    }
    moves.retain(|(label, moves)| elsewhere.contains_key(label) || !moves.is_empty());
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
