//! The states that wait, in buckets by distance.
//!
//! Dial, *Algorithm 360: shortest-path forest with topological ordering*, 1969. The buckets of the
//! distances in the [window](super::marks) lie in a ring; those farther away, which only a long
//! atomic sequence leads to, in a map. A state that was found to be nearer also stays where it was.

use std::collections::{BTreeMap, HashMap};

use spinward_store::Full;

use super::marks::{Mark, Marks, WINDOW};
use super::ways::{Waiting, Way};
use crate::chunked::Queue;
use crate::limits::{Limit, Memory};

/// States at one distance, in the order in which they were reached.
#[derive(Debug)]
pub(super) struct Bucket {
    states: Queue<u32>,
    ways: Waiting,
}

impl Bucket {
    pub fn new() -> Self {
        Self { states: Queue::new(), ways: Waiting::new() }
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn push(&mut self, number: u32, way: Way, memory: &Memory) -> Result<(), Limit> {
        self.states.push(number, memory)?;
        self.ways.push(way, memory)
    }

    pub fn pop(&mut self, memory: &Memory) -> Option<(u32, Way)> {
        let number = self.states.pop(memory)?;
        Some((number, self.ways.pop(memory)?))
    }
}

/// The states that wait.
#[derive(Debug)]
pub(super) struct Open {
    /// By distance modulo [`WINDOW`].
    near: Vec<Bucket>,
    far: BTreeMap<u32, Bucket>,
    /// The distances of the states marked as far.
    distances: HashMap<u32, u32>,
    /// The most of these there ever were.
    most_distances: usize,
}

/// Bytes for a distance in the table, about, also while it doubles; and for a bucket in the map.
const FAR_BYTES: u64 = 48;
const BUCKET_BYTES: u64 = 2 * size_of::<(u32, Bucket)>() as u64;

impl Open {
    pub fn new(memory: &Memory) -> Result<Self, Full> {
        memory.budget().take(u64::from(WINDOW) * size_of::<Bucket>() as u64)?;
        Ok(Self {
            near: (0..WINDOW).map(|_| Bucket::new()).collect(),
            far: BTreeMap::new(),
            distances: HashMap::new(),
            most_distances: 0,
        })
    }

    /// The distance of a state marked as far.
    pub fn far_distance(&self, number: u32) -> Option<u32> {
        self.distances.get(&number).copied()
    }

    /// A state waits from now on, or nearer than it did, while states at distance `level` are
    /// expanded.
    pub fn push(
        &mut self,
        number: u32,
        distance: u32,
        way: Way,
        level: u32,
        marks: &Marks,
        memory: &Memory,
    ) -> Result<(), Limit> {
        if distance - level < WINDOW {
            if !self.distances.is_empty() {
                self.distances.remove(&number);
            }
            marks.set(number, Mark::Open(distance))?;
            return self.near[(distance % WINDOW) as usize].push(number, way, memory);
        }
        self.distances.insert(number, distance);
        if self.distances.len() > self.most_distances {
            memory.take(FAR_BYTES)?;
            self.most_distances = self.distances.len();
        }
        marks.set(number, Mark::Far)?;
        if !self.far.contains_key(&distance) {
            memory.take(BUCKET_BYTES)?;
        }
        self.far.entry(distance).or_insert_with(Bucket::new).push(number, way, memory)
    }

    /// The next bucket from this level on and its distance. There may be more than one for a
    /// distance: states that were reached later, by edges of no length too.
    pub fn next(
        &mut self,
        level: u32,
        marks: &Marks,
        memory: &Memory,
    ) -> Result<Option<(u32, Bucket)>, Limit> {
        let bucket_at = |distance: u32| (distance % WINDOW) as usize;
        let near = (level..level + WINDOW).find(|&it| self.near[bucket_at(it)].len() > 0);
        // What was reached when it was far was reached earlier.
        if let Some(entry) = self.far.first_entry()
            && near.is_none_or(|near| *entry.key() <= near)
        {
            let (distance, bucket) = entry.remove_entry();
            memory.give_back(BUCKET_BYTES);
            for number in bucket.states.iter() {
                if self.distances.get(&number) == Some(&distance) {
                    self.distances.remove(&number);
                    marks.set(number, Mark::Open(distance))?;
                }
            }
            return Ok(Some((distance, bucket)));
        }
        let take = |near| (near, std::mem::replace(&mut self.near[bucket_at(near)], Bucket::new()));
        Ok(near.map(take))
    }
}
