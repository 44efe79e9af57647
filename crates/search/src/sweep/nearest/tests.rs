//! The search held against one that is too simple to be wrong.

use std::collections::{BTreeMap, HashMap};

use spinward_machine::{Step, Violation};

use super::super::toy::{Move, Toy};
use super::*;
use crate::limits::Limits;

/// What there is to find.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    states: u64,
    transitions: u64,
    errors: u64,
    /// By error: how often it is met, and the length of a shortest run to it.
    places: BTreeMap<String, (u64, u32)>,
}

impl Expected {
    /// Dijkstra's search, as simple as can be.
    fn of(toy: &Toy) -> Self {
        let mut initial = Vec::new();
        toy.initial(&mut initial);
        let mut open = BTreeMap::from([(0, vec![initial])]);
        let mut distances = HashMap::new();
        let mut expected = Self { transitions: 1, ..Self::default() };
        while let Some((distance, states)) = open.pop_first() {
            for state in states {
                if distances.contains_key(&state) {
                    continue;
                }
                expected.states += 1;
                let moves = toy.all_moves(&state);
                if moves.is_empty() {
                    expected.meet(Violation::InvalidEndState, distance);
                }
                for Move { steps, end, .. } in moves {
                    let length = distance + steps.len() as u32;
                    match end {
                        Ok(next) => {
                            expected.transitions += 1;
                            open.entry(length).or_default().push(next);
                        }
                        Err(violation) => expected.meet(violation, length),
                    }
                }
                distances.insert(state, distance);
            }
        }
        expected
    }

    fn meet(&mut self, violation: Violation, length: u32) {
        self.errors += 1;
        let place = self.places.entry(name(violation)).or_insert((0, length));
        *place = (place.0 + 1, place.1.min(length));
    }

    /// What a search found; its runs must lead there.
    fn found(toy: &Toy, outcome: &Outcome) -> Self {
        let Counts { states, transitions, errors, .. } = outcome.counts;
        let places = outcome.errors.iter().map(|found| {
            assert!(found.shortest && toy.leads_to(&found.steps, found.violation));
            (name(found.violation), (found.occurrences, found.steps.len() as u32))
        });
        Self { states, transitions, errors, places: places.collect() }
    }
}

fn name(violation: Violation) -> String {
    format!("{:?}", Place::of(violation))
}

fn search(toy: &Toy, errors: usize, limits: Limits) -> (Outcome, u64) {
    search_with(toy, errors, limits, 1)
}

fn search_with(toy: &Toy, errors: usize, limits: Limits, threads: usize) -> (Outcome, u64) {
    let mut expansions = 0;
    let request = Request { errors, limits, threads, ..Request::default() };
    (nearest(toy, &mut expansions, &request, &mut |_| {}), expansions)
}

fn runs(outcome: &Outcome) -> Vec<Vec<Step>> {
    outcome.errors.iter().map(|found| found.steps.clone()).collect()
}

#[test]
fn all_errors_are_found_by_shortest_runs() {
    let mut kinds = 0;
    for toy in (0..40).map(Toy::small).chain([2, 8].map(Toy::large)) {
        let expected = Expected::of(&toy);
        let (outcome, expansions) = search(&toy, 0, Limits::default());
        assert!(outcome.is_complete());
        assert_eq!(Expected::found(&toy, &outcome), expected, "{}", toy.seed);
        assert_eq!(outcome.counts.expanded, expected.states);
        assert!(expansions < expected.states * 3 / 4, "most moves are remembered");
        kinds += expected.places.len();
    }
    assert!(kinds > 100, "{kinds}");
}

#[test]
fn the_first_errors_are_the_shortest() {
    for toy in (0..40).map(Toy::small) {
        let expected = Expected::of(&toy);
        let mut lengths: Vec<_> = expected.places.values().map(|place| place.1).collect();
        lengths.sort_unstable();
        for errors in 1..=lengths.len() {
            let (outcome, _) = search(&toy, errors, Limits::default());
            assert_eq!(outcome.stopped, Some(Stopped::Errors));
            let found = Expected::found(&toy, &outcome);
            let mut found: Vec<_> = found.places.values().map(|place| place.1).collect();
            found.sort_unstable();
            assert_eq!(found, lengths[..errors]);
        }
    }
}

#[test]
fn what_is_remembered_changes_nothing() {
    for toy in (40..50).map(Toy::small) {
        let forgetful = Toy { tells: false, ..toy };
        for (errors, max_states) in [(0, None), (1, None), (2, None), (0, Some(2000))] {
            let limits = || Limits { max_states, ..Limits::default() };
            let (outcome, expansions) = search(&toy, errors, limits());
            let (twin, all) = search(&forgetful, errors, limits());
            let same = Counts { memory: outcome.counts.memory, ..twin.counts };
            assert_eq!(outcome.counts, same);
            assert_eq!(outcome.stopped, twin.stopped);
            assert_eq!(runs(&outcome), runs(&twin));
            assert!(outcome.counts.states < 1500 || expansions < all);
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut helped = 0;
    for toy in [Toy::large(2), Toy::large(8), Toy { shared: [250, 90, 3], ..Toy::large(5) }] {
        let ends = [4_100, 5_003, 7_007, 9_000].map(|states| (0, Some(states)));
        for (errors, max_states) in [(0, None), (1, None), (3, None)].into_iter().chain(ends) {
            let search = |threads| {
                let limits = Limits { max_states, ..Limits::default() };
                search_with(&toy, errors, limits, threads)
            };
            let (alone, expansions) = search(1);
            for threads in [2, 3, 8] {
                let (outcome, its_expansions) = search(threads);
                let same = Counts { memory: outcome.counts.memory, ..alone.counts };
                assert_eq!(outcome.counts, same);
                assert_eq!(outcome.stopped, alone.stopped);
                assert_eq!(runs(&outcome), runs(&alone));
                helped += u32::from(its_expansions != expansions);
            }
        }
    }
    assert!(helped > 10, "others have expanded states: {helped}");
}

#[test]
fn what_was_found_is_not_lost_when_memory_is_used_up() {
    let toy = Toy::large(2);
    let mut found = 0;
    for kilobytes in (100..1000).step_by(7) {
        let limits = Limits { memory: Some(kilobytes << 10), ..Limits::default() };
        let (outcome, _) = search(&toy, 0, limits);
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
        for error in &outcome.errors {
            assert!(toy.leads_to(&error.steps, error.violation));
        }
        found += outcome.errors.len();
    }
    assert!(found > 300, "{found}");
}

#[test]
fn memory_is_bounded_and_given_back() {
    let toy = Toy::large(1);
    let limits = Limits { memory: Some(3 << 20), ..Limits::default() };
    let (outcome, _) = search(&toy, 0, limits);
    assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
    assert!(outcome.counts.memory <= 3 << 20);
    assert!(outcome.counts.states > 10_000, "{:?}", outcome.counts);
    let memory = Memory::new(None);
    let request = Request::default();
    let mut progress = |_: &Progress| {};
    let mut watch = Watch::new(&request.limits, &mut progress);
    let mut search = Nearest::new(&toy, &request, &memory, &watch);
    search.run(&mut 0, &mut watch).unwrap();
    assert!(search.expander.renewals > 1, "all states were given another form more than once");
    drop(search);
    assert_eq!(memory.used(), 0);
}
