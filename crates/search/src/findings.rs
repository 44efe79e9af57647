//! The errors a search has met: how often, and one way to each.

use std::cmp::Ordering;
use std::collections::HashMap;

use spinward_machine::Violation;

use crate::outcome::{Outcome, Place};

/// An error and a way to it; `P` is what a search needs to find the run again.
#[derive(Debug)]
pub(crate) struct Example<P> {
    pub violation: Violation,
    pub length: u32,
    pub occurrences: u64,
    pub path: P,
}

/// The errors a search has met, one example for each place.
#[derive(Debug)]
pub(crate) struct Findings<P> {
    examples: Vec<Example<P>>,
    by_place: HashMap<Place, usize>,
}

impl<P> Findings<P> {
    pub fn new() -> Self {
        Self { examples: Vec::new(), by_place: HashMap::new() }
    }

    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// How many are at most so long.
    pub fn within(&self, length: u32) -> usize {
        self.examples.iter().filter(|it| it.length <= length).count()
    }

    /// The example for an error, if there is one.
    pub fn known(&mut self, violation: Violation) -> Option<&mut Example<P>> {
        let &index = self.by_place.get(&Place::of(violation))?;
        self.examples.get_mut(index)
    }

    /// Adds the first example for an error, if there is room.
    pub fn add(&mut self, violation: Violation, length: u32, path: P) {
        if self.examples.len() < Outcome::MAX_ERRORS {
            self.by_place.insert(Place::of(violation), self.len());
            self.examples.push(Example { violation, length, occurrences: 0, path });
        }
    }

    /// Takes this as the example for an error, if there is room. How often it was met stays as it is.
    pub fn replace(&mut self, violation: Violation, length: u32, path: P) {
        match self.known(violation) {
            Some(example) => *example = Example { violation, length, path, ..*example },
            None => self.add(violation, length, path),
        }
    }

    /// An error was met, after a run of this length; the shortest is kept.
    pub fn meet(&mut self, violation: Violation, length: u32, path: P) {
        if self.known(violation).is_none_or(|example| length < example.length) {
            self.replace(violation, length, path);
        }
        if let Some(example) = self.known(violation) {
            example.occurrences += 1;
        }
    }

    /// Takes in what another search met, which counts if that is said. Of several the shortest is kept, and of those
    /// the first in some order, so that it makes no difference who was met first.
    pub fn merge(&mut self, others: Self, counts: bool, order: impl Fn(&P, &P) -> Ordering) {
        for Example { violation, length, occurrences, path } in others.examples {
            let is_better = |known: &mut Example<P>| {
                length.cmp(&known.length).then_with(|| order(&path, &known.path)).is_lt()
            };
            if self.known(violation).is_none_or(is_better) {
                self.replace(violation, length, path);
            }
            if let Some(known) = self.known(violation).filter(|_| counts) {
                known.occurrences += occurrences;
            }
        }
    }

    /// In the order they were met.
    pub fn examples(&self) -> impl Iterator<Item = &Example<P>> {
        self.examples.iter()
    }

    /// In the order they were met.
    pub fn examples_mut(&mut self) -> impl Iterator<Item = &mut Example<P>> {
        self.examples.iter_mut()
    }

    /// In the order they were met.
    pub fn into_examples(self) -> Vec<Example<P>> {
        self.examples
    }
}

/// The shortest ones, as many as were asked for (0: all).
pub(crate) fn keep_shortest<P>(examples: &mut Vec<Example<P>>, errors: usize) {
    examples.sort_by_key(|it| it.length);
    if errors > 0 {
        examples.truncate(errors);
    }
}
