//! Two parts as one.
//!
//! *Source*: Dräger, Finkbeiner and Podelski, *Directed model checking with distance-preserving abstractions*, SPIN
//! 2006, section 2 (parallel composition) and the first lines of figure 3: only pairs that can be reached, and from
//! which a goal can be, are kept.

use super::system::{ByState, Label, Moves, Part, distances};
use crate::{NEVER, Patience};

/// The state of a merged part that there is not: it cannot be reached, or no error can be from there.
pub const NOWHERE: u32 = u32::MAX;

/// Moves that are found between two looks at whether to go on.
const UNWATCHED: usize = 1 << 12;

/// Two parts as one, and by pair of their states (the second runs faster) which of its states it is; none if there would be
/// more moves than that, or patience is over.
pub fn merge(
    a: &Part,
    b: &Part,
    costs: &[u32],
    max_moves: usize,
    patience: Patience<'_>,
) -> Option<(Part, Vec<u32>)> {
    let mut pairs = Pairs::new(a, b);
    for &x in &a.initial {
        for &y in &b.initial {
            pairs.number(x, y);
        }
    }
    let initial = pairs.known.len();
    let mut labels: Vec<Label> = a.moves.iter().chain(&b.moves).map(|it| it.0).collect();
    labels.sort_unstable();
    labels.dedup();
    let (of_a, of_b) = (Numbered::new(a, &labels), Numbered::new(b, &labels));
    // By label, in the order in which states were met.
    let mut moves: Vec<Moves> = vec![Vec::new(); labels.len()];
    let (mut count, mut seen_to, mut next) = (0, 0, 0);
    while let Some(&(x, y)) = pairs.known.get(next) {
        let from = next as u32;
        next += 1;
        let (own, other) = (of_a.moves.of(x), of_b.moves.of(y));
        for &(label, to) in own {
            if of_b.matters[label as usize] {
                let first = other.partition_point(|it| it.0 < label);
                for &(_, also) in other[first..].iter().take_while(|it| it.0 == label) {
                    moves[label as usize].push((from, pairs.number(to, also)));
                    count += 1;
                }
            } else if !b.still[y as usize] {
                moves[label as usize].push((from, pairs.number(to, y)));
                count += 1;
            }
        }
        if !a.still[x as usize] {
            for &(label, to) in other.iter().filter(|it| !of_a.matters[it.0 as usize]) {
                moves[label as usize].push((from, pairs.number(x, to)));
                count += 1;
            }
        }
        if count > max_moves {
            return None;
        }
        if count >= seen_to + UNWATCHED {
            // They are sorted, and followed backwards, too.
            if !patience.spend(4 * (count - seen_to) as u64) || patience.over().is_some() {
                return None;
            }
            seen_to = count;
        }
    }
    let goal: Vec<bool> =
        pairs.known.iter().map(|&(x, y)| a.goal[x as usize] && b.goal[y as usize]).collect();
    let steps = labels.iter().zip(&moves).flat_map(|(label, moves)| {
        let cost = costs[*label as usize];
        moves.iter().map(move |&(from, to)| (from, to, cost))
    });
    let distances = distances(&goal, steps);
    // Who cannot come to a goal is left out.
    let mut numbers = vec![NOWHERE; goal.len()];
    let mut size = 0;
    for (number, _) in numbers.iter_mut().zip(&distances).filter(|(_, it)| **it != NEVER) {
        *number = size;
        size += 1;
    }
    for moves in &mut moves {
        // They stay in the order of the states they begin in.
        moves.retain_mut(|(from, to)| {
            (*from, *to) = (numbers[*from as usize], numbers[*to as usize]);
            *from != NOWHERE && *to != NOWHERE
        });
        for alike in moves.chunk_by_mut(|one, next| one.0 == next.0) {
            alike.sort_unstable();
        }
        moves.dedup();
    }
    let kept = |state: &u32| (*state != NOWHERE).then_some(*state);
    let left = || pairs.known.iter().zip(&numbers).filter(|it| *it.1 != NOWHERE).map(|it| *it.0);
    let part = Part {
        acts: true,
        size,
        initial: numbers[..initial].iter().filter_map(kept).collect(),
        goal: left().map(|(x, y)| a.goal[x as usize] && b.goal[y as usize]).collect(),
        still: left().map(|(x, y)| a.still[x as usize] || b.still[y as usize]).collect(),
        moves: labels.into_iter().zip(moves).collect(),
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

/// Labels, told as their places among these.
struct Numbered {
    /// Whether it matters to the part.
    matters: Vec<bool>,
    /// By state, its moves: the label, and where it leads, sorted.
    moves: ByState<(u32, u32)>,
}

impl Numbered {
    fn new(part: &Part, labels: &[Label]) -> Self {
        let mut matters = vec![false; labels.len()];
        let place = |label: &Label| labels.partition_point(|it| it < label) as u32;
        let numbers: Vec<u32> = part.moves.iter().map(|it| place(&it.0)).collect();
        numbers.iter().for_each(|number| matters[*number as usize] = true);
        let moves = numbers.iter().zip(&part.moves).flat_map(|(number, (_, moves))| {
            moves.iter().map(move |&(from, to)| (from, (*number, to)))
        });
        Self { matters, moves: ByState::new(part.size as usize, moves) }
    }
}
