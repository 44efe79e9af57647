//! The model itself, made so small that all of it can be looked at before the search.
//!
//! *Idea*: the model is taken apart ([`parts`]): processes with their variables, globals, channels, each a small automaton
//! ([`system`]). Then parts are put together again, two at a time ([`merge`], [`order`]), and each time
//! what has come of them is made small ([`shrink`]), so that the distances to an error stay as they are, as long as
//! that can be. What is left in the end is one automaton in which the distance of each state is known.
//!
//! *Source*: K. Dräger, B. Finkbeiner and A. Podelski, *Directed model checking with distance-preserving abstractions*, SPIN
//! 2006; with labels made fewer ([`labels`]) as its successors in planning do.
//!
//! *Invariant*: each step of the model is a label, or several that cost as much together, and each part makes a move for it
//! from its value before to that after. So no distance is larger than in the model, and no step makes it smaller by
//! more than its cost.

mod build;
mod collapse;
mod explore;
mod image;
mod knowledge;
mod labels;
mod merge;
pub mod order;
mod parts;
pub mod shrink;
mod system;
mod values;
mod walk;

use collapse::collapse;
pub use image::Image;
use image::Tables;
pub use knowledge::Local;
use merge::{NOWHERE, merge};
use order::Order;
use shrink::{Refine, quotient, shrink};
use system::{Part, System};

use crate::{NEVER, Patience};

/// How many states the user allows.
pub fn bound(text: &str) -> Option<u32> {
    let states: u64 = text.parse().ok()?;
    (states >= 2).then(|| u32::try_from(states).unwrap_or(u32::MAX))
}

/// How an abstraction is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// States of a part, at most, after it was merged.
    pub states: u32,
    pub order: Order,
    pub refine: Refine,
    /// Whether parts that are merged have to fit as they are; those that do not are left out.
    pub whole: bool,
}

impl Plan {
    /// Nothing is made smaller.
    fn whole(states: u32) -> Self {
        Self { states, order: Order::Rank, refine: Refine::Near, whole: true }
    }
}

/// Pairs of states, and moves, that two parts may have when they are merged: at least; for each state that is asked for; and
/// at most.
const PAIRS: [u64; 3] = [1 << 18, 1 << 4, 1 << 24];
const MOVES: [u64; 3] = [1 << 20, 1 << 6, 1 << 25];

/// Bytes of a move while parts are merged, about: it is found, sorted, and kept by label and by state.
const MOVE_BYTES: u64 = 48;

/// How often two parts may turn out to have too many states or moves while they are merged.
const MAX_TRIES: u32 = 8;

fn most([least, by_state, most]: [u64; 3], states: u32) -> u64 {
    (by_state * u64::from(states)).clamp(least, most)
}

/// What is known of distances: a table for each two parts that were merged.
#[derive(Debug)]
pub struct Abstraction {
    /// Parts that came of others, one after the other; their numbers are behind those of the model.
    merged: Vec<Merged>,
    /// Of those that are left and have a goal: their number, and by value the distance.
    ends: Vec<(usize, Vec<u32>)>,
}

#[derive(Debug)]
struct Merged {
    part: usize,
    /// The part it was merged with, and how many values that has; none if it was made smaller by itself.
    with: Option<(usize, u32)>,
    /// The value, by those of both; the second runs faster.
    table: Vec<u32>,
}

impl Abstraction {
    /// Of a system.
    pub fn new(System { parts, costs }: System, plan: Plan, patience: Patience<'_>) -> Self {
        Self::of(parts.into_iter().map(Some).collect(), &costs, plan, patience)
    }

    /// Of those of its parts that are left. When patience is over, it ends with fewer that were merged.
    fn of(mut parts: Vec<Option<Part>>, costs: &[u32], plan: Plan, patience: Patience<'_>) -> Self {
        let leaves = parts.len();
        // Merged parts take the place of the first of the two; these are their numbers.
        let mut numbers: Vec<usize> = (0..leaves).collect();
        let mut merged = Vec::new();
        let mut barred = Vec::new();
        let max_pairs = most(PAIRS, plan.states);
        for part in 0..leaves {
            labels::reduce(&mut parts, part, costs);
        }
        let mut tries = 0;
        let asked = order::asked(&parts);
        while tries < MAX_TRIES && patience.over().is_none() {
            let is_barred = |a: usize, b: usize| barred.contains(&(numbers[a], numbers[b]));
            let outer = (plan.order == Order::Outer)
                .then(|| order::outer(&parts, &asked, &is_barred))
                .flatten();
            let next = outer.or_else(|| plan.order.next(&parts, costs, &is_barred));
            let Some((a, b)) = next else {
                break;
            };
            let (Some(first), Some(second)) = (&parts[a], &parts[b]) else {
                break;
            };
            let room = patience.room() / MOVE_BYTES;
            let max_moves = most(MOVES, plan.states).min(room) as usize;
            let (larger, (size, other)) = match first.size >= second.size {
                true => (a, (first.size, second.size)),
                false => (b, (second.size, first.size)),
            };
            let fitting = (max_pairs / u64::from(other)) as u32;
            let too_many = size > fitting;
            let both = if too_many { None } else { merge(first, second, costs, max_moves) };
            let fits = |both: &(Part, _)| !plan.whole || both.0.size <= plan.states;
            let both = both.filter(fits);
            if outer.is_none() {
                tries += u32::from(both.is_none() && !too_many);
            }
            let small = both.and_then(|(both, table)| {
                let (small, classes) = if outer.is_some() {
                    let own = labels::own(&parts, a, b);
                    let classes = collapse(&both, &own, plan.states, patience)?;
                    (quotient(&both, &classes), classes)
                } else {
                    shrink(&both, plan.states, costs, plan.refine)
                };
                Some((small, classes, table))
            });
            match small {
                Some((small, classes, mut table)) => {
                    for state in table.iter_mut().filter(|it| **it != NOWHERE) {
                        *state = classes[*state as usize];
                    }
                    let with = Some((numbers[b], second.size));
                    merged.push(Merged { part: numbers[a], with, table });
                    numbers[a] = leaves + merged.len() - 1;
                    parts[a] = Some(small);
                    parts[b] = None;
                    labels::reduce(&mut parts, a, costs);
                }
                None if plan.whole || size <= 2 || outer.is_some() => {
                    barred.extend([(numbers[a], numbers[b]), (numbers[b], numbers[a])])
                }
                // There is room for it if it is smaller.
                None => {
                    let part = if larger == a { first } else { second };
                    let states = fitting.min(size / 2).max(2);
                    let (small, table) = shrink(part, states, costs, plan.refine);
                    merged.push(Merged { part: numbers[larger], with: None, table });
                    numbers[larger] = leaves + merged.len() - 1;
                    parts[larger] = Some(small);
                }
            }
        }
        let left = parts.iter().zip(&numbers).filter_map(|(part, number)| {
            let part = part.as_ref().filter(|it| it.has_goal())?;
            Some((*number, part.distances(costs)))
        });
        Self { ends: left.collect(), merged }
    }
}

impl Tables for Abstraction {
    fn distance(&self, values: &mut Vec<u32>) -> u32 {
        for Merged { part, with, table } in &self.merged {
            let value = values[*part];
            let (width, other) = with.map_or((1, 0), |(other, width)| (width, values[other]));
            if value == NOWHERE || other == NOWHERE {
                return NEVER;
            }
            match table[value as usize * width as usize + other as usize] {
                NOWHERE => return NEVER,
                value => values.push(value),
            }
        }
        let distances = self.ends.iter().map(|(part, distances)| distances[values[*part] as usize]);
        distances.max().unwrap_or(0)
    }

    fn uses(&self, part: usize) -> bool {
        self.merged.iter().any(|it| it.part == part || it.with.is_some_and(|it| it.0 == part))
            || self.ends.iter().any(|it| it.0 == part)
    }
}

/// Some parts of a system at a time, whole.
#[derive(Debug)]
pub struct Patterns {
    /// Each by itself, and then as one of which no step is counted that was counted before.
    patterns: Vec<(Abstraction, Abstraction)>,
    uses: Vec<bool>,
}

/// How many patterns there are at most.
const MAX_PATTERNS: usize = 4;

impl Patterns {
    /// Of a system, of at most so many states each.
    pub fn new(system: &System, states: u32, patience: Patience<'_>) -> Self {
        let mut patterns: Vec<(Abstraction, Abstraction)> = Vec::new();
        let mut uses = vec![false; system.parts.len()];
        let mut costs = system.costs.clone();
        while patterns.len() < MAX_PATTERNS {
            let whole = |costs: &[u32]| {
                let mut left: Vec<Option<Part>> = system.parts.iter().cloned().map(Some).collect();
                for (part, used) in left.iter_mut().zip(&uses) {
                    *part = part.take().filter(|it| it.has_goal() || !used);
                }
                Abstraction::of(left, costs, Plan::whole(states), patience)
            };
            let (alone, more) = (whole(&system.costs), whole(&costs));
            if alone.merged.is_empty() && !patterns.is_empty() {
                break;
            }
            for (part, used) in uses.iter_mut().enumerate() {
                *used |= alone.uses(part);
            }
            // What changes nothing in a pattern is on no shortest way in it.
            let used = system.parts.iter().zip(&uses).filter(|it| *it.1);
            for (label, moves) in used.flat_map(|(part, _)| &part.moves) {
                if moves.iter().any(|(from, to)| from != to) {
                    costs[*label as usize] = 0;
                }
            }
            patterns.push((alone, more));
        }
        Self { patterns, uses }
    }
}

impl Tables for Patterns {
    fn uses(&self, part: usize) -> bool {
        self.uses[part]
    }

    fn distance(&self, values: &mut Vec<u32>) -> u32 {
        let parts = values.len();
        let (mut most, mut sum) = (0, 0_u32);
        for (alone, more) in &self.patterns {
            most = most.max(alone.distance(values));
            values.truncate(parts);
            sum = sum.saturating_add(more.distance(values));
            values.truncate(parts);
        }
        most.max(sum)
    }
}
