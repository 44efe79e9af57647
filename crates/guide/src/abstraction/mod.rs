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
mod numbers;
pub mod order;
mod parts;
pub mod shrink;
mod system;
mod values;
mod walk;

use collapse::{collapse, collapse_within};
pub use image::Apart;
use image::Tables;
use labels::Kinds;
use merge::{NOWHERE, merge};
use order::Order;
use shrink::{Refine, quotient, shrink};
use system::{Part, System};

use std::sync::Arc;

use rustc_hash::FxHashSet;

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

/// What it takes to look at a label of a part, besides its moves, in moves of parts.
const LABEL_MOVES: u64 = 4;

/// Bytes of a move while parts are merged, about: it is found, sorted, and kept by label and by state.
const MOVE_BYTES: u64 = 48;

/// How often two parts may turn out to have too many states or moves while they are merged.
const MAX_TRIES: u32 = 8;

fn most([least, by_state, most]: [u64; 3], states: u32) -> u64 {
    (by_state * u64::from(states)).clamp(least, most)
}

/// What is known of distances: a table for each two parts that were merged.
#[derive(Debug, Default)]
pub struct Abstraction {
    /// Parts that came of others, one after the other; their numbers are behind those of the model.
    merged: Vec<Merged>,
    /// Of those that are left and have a goal: their number, and by value the distance.
    ends: Vec<(usize, Vec<u32>)>,
    /// No distance has become smaller than it was in all parts together.
    is_exact: bool,
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
    /// Of a system, by one order of merging and then by the next, as long as distances are not what they are in the system. The
    /// one that sees an error farther away from the first state counts.
    pub fn new(system: &System, plan: Plan, orders: &[Order], patience: Patience<'_>) -> Self {
        let first = system.parts.iter().map(|it| it.initial.first().copied());
        let first: Option<Vec<u32>> = first.collect();
        let mut best: Option<(u32, Self)> = None;
        for &order in orders {
            let parts = system.parts.iter().cloned().map(Some).collect();
            let made = Self::of(parts, &system.costs, Plan { order, ..plan }, patience);
            let distance = first.clone().map_or(0, |mut values| made.distance(&mut values));
            let is_exact = made.is_exact;
            if best.as_ref().is_none_or(|it| distance > it.0) {
                best = Some((distance, made));
            }
            if is_exact {
                break;
            }
        }
        best.map_or_else(Self::default, |it| it.1)
    }

    /// Whether no distance has become smaller than it was in all parts together.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Of those of its parts that are left. When patience is over, it ends with fewer that were merged.
    fn of(mut parts: Vec<Option<Part>>, costs: &[u32], plan: Plan, patience: Patience<'_>) -> Self {
        let leaves = parts.len();
        // Merged parts take the place of the first of the two; these are their numbers.
        let mut numbers: Vec<usize> = (0..leaves).collect();
        let mut merged = Vec::new();
        // Pairs that do not fit, ever, and as they are.
        let (mut barred, mut apart) = (FxHashSet::default(), FxHashSet::default());
        let max_pairs = most(PAIRS, plan.states);
        let mut kinds = Kinds::default();
        for part in 0..leaves {
            patience.spend(all_labels(&parts) + parts[part].iter().map(moves).sum::<u64>());
            if patience.over().is_none() {
                labels::reduce(&mut parts, part, costs, &mut kinds);
            }
        }
        let mut tries = 0;
        let mut is_exact = true;
        while tries < MAX_TRIES && patience.over().is_none() {
            // The next two are chosen among all, and all are looked at when labels are made fewer.
            patience.spend(parts.iter().flatten().map(moves).sum::<u64>() + all_labels(&parts));
            let is_in = |pairs: &FxHashSet<(usize, usize)>, a: usize, b: usize| {
                pairs.contains(&(numbers[a], numbers[b]))
            };
            let close = (plan.order == Order::Outer && apart.len() < 2 * MAX_TRIES as usize)
                .then(|| order::close(&parts, max_pairs, &|a, b| is_in(&apart, a, b)))
                .flatten();
            let next =
                close.or_else(|| plan.order.next(&parts, costs, &|a, b| is_in(&barred, a, b)));
            let Some((a, b)) = next else {
                break;
            };
            let (Some(first), Some(second)) = (&parts[a], &parts[b]) else {
                break;
            };
            let (usual, room) = (most(MOVES, plan.states), patience.room() / MOVE_BYTES);
            let max_moves = usual.min(room) as usize;
            let (larger, (size, other)) = match first.size >= second.size {
                true => (a, (first.size, second.size)),
                false => (b, (second.size, first.size)),
            };
            let fitting = (max_pairs / u64::from(other)) as u32;
            let too_many = size > fitting;
            let both =
                if too_many { None } else { merge(first, second, costs, max_moves, patience) };
            if both.is_none() && !too_many && room < usual && patience.over().is_none() {
                patience.lack_memory();
            }
            let fits = |both: &(Part, _)| !plan.whole || both.0.size <= plan.states;
            let both = both.filter(fits);
            if close.is_none() {
                tries += u32::from(both.is_none() && !too_many);
            }
            let small = both.and_then(|(mut both, mut table)| {
                let mut become_one = |both: &mut Part, classes: Vec<u32>| {
                    for state in table.iter_mut().filter(|it| **it != NOWHERE) {
                        *state = classes[*state as usize];
                    }
                    *both = quotient(both, &classes);
                };
                if plan.order == Order::Outer {
                    let own = labels::own(&parts, a, b);
                    if close.is_some() {
                        let bounds = (plan.states, few(&parts, (a, b), plan.states));
                        let found = collapse_within(&both, &own, costs, bounds, patience);
                        let (classes, keeps_all) = found?;
                        is_exact &= keeps_all;
                        become_one(&mut both, classes);
                    } else if let Some(classes) = collapse(&both, &own, costs, patience) {
                        become_one(&mut both, classes);
                    }
                }
                if both.size > plan.states {
                    is_exact = false;
                    let classes = shrink(&both, plan.states, costs, plan.refine, patience);
                    become_one(&mut both, classes);
                }
                Some((both, table))
            });
            match small {
                Some((small, table)) => {
                    let with = Some((numbers[b], second.size));
                    merged.push(Merged { part: numbers[a], with, table });
                    numbers[a] = leaves + merged.len() - 1;
                    parts[a] = Some(small);
                    parts[b] = None;
                    labels::reduce(&mut parts, a, costs, &mut kinds);
                }
                None if close.is_some() => {
                    apart.extend([(numbers[a], numbers[b]), (numbers[b], numbers[a])])
                }
                None if plan.whole || size <= 2 => {
                    barred.extend([(numbers[a], numbers[b]), (numbers[b], numbers[a])])
                }
                // There is room for it if it is smaller.
                None => {
                    is_exact = false;
                    let part = if larger == a { first } else { second };
                    let states = fitting.min(size / 2).max(2);
                    let table = shrink(part, states, costs, plan.refine, patience);
                    let small = quotient(part, &table);
                    merged.push(Merged { part: numbers[larger], with: None, table });
                    numbers[larger] = leaves + merged.len() - 1;
                    parts[larger] = Some(small);
                    kinds.forget(larger);
                }
            }
        }
        is_exact &= parts.iter().flatten().filter(|it| it.has_goal()).count() <= 1
            && parts.iter().flatten().all(|it| it.has_goal() || it.moves.is_empty());
        let left = parts.iter().zip(&numbers).filter_map(|(part, number)| {
            let part = part.as_ref().filter(|it| it.has_goal())?;
            Some((*number, part.distances(costs)))
        });
        Self { ends: left.collect(), merged, is_exact }
    }
}

/// What it takes to look at all labels of all parts, but not at their moves, in moves of parts.
fn all_labels(parts: &[Option<Part>]) -> u64 {
    2 * parts.iter().flatten().map(|it| it.moves.len() as u64).sum::<u64>()
}

/// What it takes to look at all moves of a part, label by label.
fn moves(part: &Part) -> u64 {
    part.moves.iter().map(|(_, moves)| LABEL_MOVES + moves.len() as u64).sum()
}

/// How many states a part may have for what its unseen moves cost, when it comes of two: as many as there is room for if there are
/// few others, and else so few that it can be merged with any.
fn few(parts: &[Option<Part>], (a, b): (usize, usize), states: u32) -> u32 {
    let others = parts.iter().enumerate().filter(|it| ![a, b].contains(&it.0));
    // A part from which no error can be come to is left without states.
    let sizes = others.filter_map(|it| it.1.as_ref()).map(|it| u64::from(it.size.max(1)));
    let around = sizes.fold(1, u64::saturating_mul);
    let few = (most(PAIRS, states) / around).max(2 * u64::from(states.isqrt()));
    few.min(u64::from(states)) as u32
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

/// Several of the same system: the largest distance counts.
impl Tables for Vec<Arc<Abstraction>> {
    fn distance(&self, values: &mut Vec<u32>) -> u32 {
        let parts = values.len();
        let distances = self.iter().map(|it| {
            values.truncate(parts);
            it.distance(values)
        });
        distances.max().unwrap_or(0)
    }

    fn uses(&self, part: usize) -> bool {
        self.iter().any(|it| it.uses(part))
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
