//! Two parts as one.
//!
//! *Source*: Dräger, Finkbeiner and Podelski, *Directed model checking with distance-preserving abstractions*, SPIN
//! 2006, section 2 (parallel composition) and the first lines of figure 3: only pairs that can be reached, and from
//! which a goal can be, are kept.

use rustc_hash::FxHashSet;

use super::system::{Label, Part, distances};
use crate::NEVER;

/// The state of a merged part that there is not: it cannot be reached, or no error can be from there.
pub const NOWHERE: u32 = u32::MAX;

/// Two parts as one, and by pair of their states (the second runs faster) which of its states it is; none if there would be
/// more moves than that.
pub fn merge(a: &Part, b: &Part, costs: &[u32], max_moves: usize) -> Option<(Part, Vec<u32>)> {
    let mut pairs = Pairs::new(a, b);
    for &x in &a.initial {
        for &y in &b.initial {
            pairs.number(x, y);
        }
    }
    let initial = pairs.known.len();
    let (of_a, of_b) = (by_state(a), by_state(b));
    let matters = |part: &Part| part.moves.iter().map(|it| it.0).collect::<FxHashSet<Label>>();
    let (matters_a, matters_b) = (matters(a), matters(b));
    let mut edges: Vec<(Label, u32, u32)> = Vec::new();
    let mut next = 0;
    while let Some(&(x, y)) = pairs.known.get(next) {
        let from = next as u32;
        next += 1;
        let (own, other) = (&of_a[x as usize], &of_b[y as usize]);
        for &(label, to) in own {
            if matters_b.contains(&label) {
                let first = other.partition_point(|it| it.0 < label);
                for &(_, also) in other[first..].iter().take_while(|it| it.0 == label) {
                    edges.push((label, from, pairs.number(to, also)));
                }
            } else if !b.still[y as usize] {
                edges.push((label, from, pairs.number(to, y)));
            }
        }
        if !a.still[x as usize] {
            for &(label, to) in other.iter().filter(|it| !matters_a.contains(&it.0)) {
                edges.push((label, from, pairs.number(x, to)));
            }
        }
        if edges.len() > max_moves {
            return None;
        }
    }
    let goal: Vec<bool> =
        pairs.known.iter().map(|&(x, y)| a.goal[x as usize] && b.goal[y as usize]).collect();
    let steps = edges.iter().map(|&(label, from, to)| (from, to, costs[label as usize]));
    let distances = distances(&goal, steps);
    // Who cannot come to a goal is left out.
    let mut numbers = vec![NOWHERE; goal.len()];
    let mut size = 0;
    for (number, _) in numbers.iter_mut().zip(&distances).filter(|(_, it)| **it != NEVER) {
        *number = size;
        size += 1;
    }
    let mut moves: Vec<(Label, Vec<(u32, u32)>)> =
        matters_a.union(&matters_b).map(|label| (*label, Vec::new())).collect();
    moves.sort_unstable_by_key(|it| it.0);
    edges.sort_unstable();
    edges.dedup();
    let mut at = 0;
    for (label, from, to) in edges {
        let (from, to) = (numbers[from as usize], numbers[to as usize]);
        if from != NOWHERE && to != NOWHERE {
            at += moves[at..].partition_point(|it| it.0 < label);
            moves[at].1.push((from, to));
        }
    }
    let kept = |state: &u32| (*state != NOWHERE).then_some(*state);
    let left = || pairs.known.iter().zip(&numbers).filter(|it| *it.1 != NOWHERE).map(|it| *it.0);
    let part = Part {
        acts: true,
        size,
        initial: numbers[..initial].iter().filter_map(kept).collect(),
        goal: left().map(|(x, y)| a.goal[x as usize] && b.goal[y as usize]).collect(),
        still: left().map(|(x, y)| a.still[x as usize] || b.still[y as usize]).collect(),
        moves,
    };
    let mut table = pairs.numbers;
    for number in table.iter_mut().filter(|it| **it != NOWHERE) {
        *number = numbers[*number as usize];
    }
    Some((part, table))
}

/// Pairs of states that were met.
struct Pairs {
    width: usize,
    numbers: Vec<u32>,
    known: Vec<(u32, u32)>,
}

impl Pairs {
    fn new(a: &Part, b: &Part) -> Self {
        let width = b.size as usize;
        Self { width, numbers: vec![NOWHERE; a.size as usize * width], known: Vec::new() }
    }

    fn number(&mut self, x: u32, y: u32) -> u32 {
        let number = &mut self.numbers[x as usize * self.width + y as usize];
        if *number == NOWHERE {
            *number = self.known.len() as u32;
            self.known.push((x, y));
        }
        *number
    }
}

/// By state: labels and where they lead, sorted.
fn by_state(part: &Part) -> Vec<Vec<(Label, u32)>> {
    let mut all = vec![Vec::new(); part.size as usize];
    for (label, moves) in &part.moves {
        for &(from, to) in moves {
            all[from as usize].push((*label, to));
        }
    }
    all
}
