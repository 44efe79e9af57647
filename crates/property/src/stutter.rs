//! Can an automaton tell how often a letter is repeated?
//!
//! If it cannot, it is *stutter-invariant*, and partial-order reduction may be used with it. That is so iff it
//! accepts all words that come of its own by repeating letters, and all that come of them by leaving out
//! repetitions; for both there is an automaton that is little larger (Michaud and Duret-Lutz, *Practical
//! Stutter-Invariance Checks for ω-Regular Languages*, SPIN 2015). To repeat any letters once, and to leave
//! out one of any two, is enough: ω-regular languages that differ do so in a periodic word, in which no letter
//! is repeated more than so often, unless for ever; so one comes from each such word to each that differs
//! from it only in repetitions in so many steps of these two kinds. What a run of the automaton itself does
//! as well is not added, and often nothing is. Letters are not valuations but classes of them that no label
//! tells apart.
//!
//! There is no automaton of the other words at hand, so inclusion is decided by what finite words do (Fogarty
//! and Vardi, *Efficient Büchi Universality Checking*, TACAS 2010; Abdulla, Chen, Clemente, Holík, Hong, Mayr,
//! Vojnar, *Simulation Subsumption in Ramsey-Based Büchi Automata Universality and Inclusion Testing*, CAV
//! 2010). The *profile* of a word tells from which states it leads to which, and whether with a mark. A word
//! `u v v v ...` that the larger automaton accepts leads it to the source `p` of a marked edge by `u`, and from
//! there by this edge back to `p` by `v`. So for each `p` we collect the sets of states that words `u` lead the
//! given automaton to, and the profiles of words `v`. Of both only the least are kept: who rejects with more
//! runs rejects with fewer.
//!
//! *Invariant*: each set and each profile is that of a word, so that an answer does not depend on which are
//! dropped. Exponential at worst, so we give up on large automata, and after so much work.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::automaton::{Automaton, Cube, Label};
use crate::components::tarjan;
use crate::degeneralize::degeneralize;

/// More states times sets than that are not even brought to one set.
const MAX_COPIES: usize = 300;

/// More states with one set than that are not looked at: a set of states is one word.
const MAX_STATES: usize = 32;

/// More letters than that are not looked at.
const MAX_LETTERS: usize = 64;

/// At most so many cases are told apart to find the letters.
const MAX_CASES: usize = 4096;

/// At most so many sets and profiles are kept.
const MAX_FOUND: usize = 20_000;

/// At most so many are compared with each other.
const MAX_COMPARED: usize = 1_000_000;

/// Whether an automaton accepts a word whenever it accepts one that differs only in how often letters are
/// repeated; `false` also if that is too much to find out.
///
/// ```
/// use spinward_property::{Formula, is_stutter_invariant, translate};
///
/// let p = Formula::atom(0);
/// assert!(is_stutter_invariant(&translate(&p.eventually())?));
/// assert!(!is_stutter_invariant(&translate(&p.next())?));
/// // It does not matter how it is said: that p holds somewhere, now or later.
/// let sooner_or_later = Formula::or([p.clone(), p.eventually().next()]);
/// assert!(is_stutter_invariant(&translate(&sooner_or_later)?));
/// # Ok::<(), spinward_property::TooLarge>(())
/// ```
pub fn is_stutter_invariant(automaton: &Automaton) -> bool {
    decide(automaton).unwrap_or(false)
}

/// The answer, unless that is too much to find out.
fn decide(automaton: &Automaton) -> Option<bool> {
    if automaton.states.len() * automaton.sets.max(1) as usize > MAX_COPIES {
        return None;
    }
    let spelled = Spelled::of(&degeneralize(automaton))?;
    let mut work = Work { found: 0, compared: 0 };
    for larger in [spelled.squeezed(), spelled.stretched()].into_iter().flatten() {
        if !spelled.includes(&larger, &mut work)? {
            return Some(false);
        }
    }
    Some(true)
}

/// An edge with one letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    letter: usize,
    marked: bool,
    to: usize,
}

/// A Büchi automaton with numbers for letters, and the steps of each state.
#[derive(Clone, Debug)]
struct Spelled {
    initial: usize,
    letters: usize,
    steps: Vec<Vec<Step>>,
}

impl Spelled {
    /// Of an automaton with one set.
    fn of(automaton: &Automaton) -> Option<Self> {
        if automaton.states.len() > MAX_STATES {
            return None;
        }
        let letters = letters(automaton)?;
        let mut steps = vec![Vec::new(); automaton.states.len()];
        for (state, edges) in automaton.states.iter().enumerate() {
            for edge in edges {
                let read = letters.iter().enumerate().filter(|(_, it)| edge.label.holds(**it));
                let (marked, to) = (edge.marks == 1, edge.to as usize);
                steps[state].extend(read.map(|(letter, _)| Step { letter, marked, to }));
            }
        }
        Some(Self { initial: automaton.initial as usize, letters: letters.len(), steps })
    }

    /// With all words in which any letters are read twice; unless there is nothing to add.
    fn stretched(&self) -> Option<Self> {
        let reads_twice = |state: usize, step: Step| {
            let same = |it: &&Step| it.letter == step.letter;
            self.steps[state].iter().filter(same).any(|first| {
                let mut seconds = self.steps[first.to].iter().filter(same);
                seconds.any(|it| it.to == step.to && (first.marked || it.marked || !step.marked))
            })
        };
        let mut larger = self.clone();
        let mut between = HashMap::new();
        for (state, steps) in self.steps.iter().enumerate() {
            for &step in steps.iter().filter(|step| !reads_twice(state, **step)) {
                let fresh = larger.steps.len();
                let middle = *between.entry((step.letter, step.to)).or_insert(fresh);
                if middle == fresh {
                    larger.steps.push(vec![Step { marked: false, ..step }]);
                }
                larger.steps[state].push(Step { to: middle, ..step });
            }
        }
        (!between.is_empty()).then_some(larger)
    }

    /// With all words in which one of two equal letters is left out, wherever there are two; unless there
    /// is nothing to add.
    fn squeezed(&self) -> Option<Self> {
        let mut larger = self.clone();
        let mut added = false;
        for (steps, more) in self.steps.iter().zip(&mut larger.steps) {
            for first in steps {
                let seconds = self.steps[first.to].iter();
                for second in seconds.filter(|second| second.letter == first.letter) {
                    let step = Step { marked: first.marked || second.marked, ..*second };
                    if !more.contains(&step) && !more.contains(&Step { marked: true, ..step }) {
                        more.push(step);
                        added = true;
                    }
                }
            }
        }
        added.then_some(larger)
    }

    /// Does it accept all words of another automaton?
    fn includes(&self, other: &Self, work: &mut Work) -> Option<bool> {
        let profiles = self.profiles();
        let start = (other.initial, 1 << self.initial);
        let sets = least(
            other.steps.len(),
            vec![start],
            |a: &u32, b| a & !b == 0,
            |state, &set| {
                let ends: Vec<u32> = profiles.iter().map(|letter| letter.ends(set)).collect();
                other.steps[state].iter().map(|step| (step.to, ends[step.letter])).collect()
            },
            work,
        )?;
        let component = other.components();
        for (source, sets) in sets.iter().enumerate() {
            let inside = |step: &&Step| component[step.to] == component[source];
            let marked = other.steps[source].iter().filter(inside).filter(|step| step.marked);
            let start: Vec<(usize, Profile)> =
                marked.map(|step| (step.to, profiles[step.letter].clone())).collect();
            if sets.is_empty() || start.is_empty() {
                continue;
            }
            let cycles = least(
                other.steps.len(),
                start,
                Profile::is_below,
                |state, profile| {
                    let longer: Vec<Profile> =
                        profiles.iter().map(|letter| profile.then(letter)).collect();
                    let steps = other.steps[state].iter().filter(inside);
                    steps.map(|step| (step.to, longer[step.letter].clone())).collect()
                },
                work,
            )?;
            for profile in &cycles[source] {
                work.compare(sets.len())?;
                let accepting = profile.accepting();
                if sets.iter().any(|set| set & accepting == 0) {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// Of each letter.
    fn profiles(&self) -> Vec<Profile> {
        let mut profiles = vec![Profile(vec![Row::default(); self.steps.len()]); self.letters];
        for (state, steps) in self.steps.iter().enumerate() {
            for step in steps {
                let row = &mut profiles[step.letter].0[state];
                row.runs |= 1 << step.to;
                row.marked |= u32::from(step.marked) << step.to;
            }
        }
        profiles
    }

    /// The strongly connected component of each state.
    fn components(&self) -> Vec<u32> {
        let number = |step: &Step| u32::try_from(step.to).expect("few states");
        let graph: Vec<Vec<u32>> =
            self.steps.iter().map(|steps| steps.iter().map(number).collect()).collect();
        tarjan(&graph)
    }
}

/// A valuation of each class that the labels of an automaton do not tell apart, by cases over atoms that
/// some label still depends on.
fn letters(automaton: &Automaton) -> Option<Vec<u64>> {
    // In order, so that what is too much does not depend on chance.
    let labels: BTreeSet<&Label> = automaton.states.iter().flatten().map(|it| &it.label).collect();
    let mut seen = HashSet::new();
    let mut letters = Vec::new();
    let mut open = vec![Cube::TRUE];
    for _ in 0..MAX_CASES {
        let Some(known) = open.pop() else { return Some(letters) };
        let undecided =
            labels.iter().filter(|it| !it.cubes().iter().any(|cube| known.implies(*cube)));
        let mut possible =
            undecided.flat_map(|it| it.cubes()).filter(|cube| known.and(**cube).is_some());
        if let Some(cube) = possible.next() {
            let asked = cube.atoms() & !known.atoms();
            let atom = asked & asked.wrapping_neg();
            open.push(Cube { positive: known.positive | atom, ..known });
            open.push(Cube { negative: known.negative | atom, ..known });
            continue;
        }
        let valuation = known.positive;
        let pattern: Vec<bool> = labels.iter().map(|it| it.holds(valuation)).collect();
        if seen.insert(pattern) {
            letters.push(valuation);
        }
        if letters.len() > MAX_LETTERS {
            return None;
        }
    }
    None
}

/// Where the runs on a word lead that begin in one state: sets of states, the second of runs with a mark
/// and part of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    runs: u32,
    marked: u32,
}

/// What a word does, from each state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Profile(Vec<Row>);

impl Profile {
    /// Of the one word and then the other.
    fn then(&self, other: &Self) -> Self {
        let row = |row: &Row| {
            let mut all = Row::default();
            for middle in members(row.runs) {
                let next = other.0[middle];
                let marked = row.marked >> middle & 1 == 1;
                all.runs |= next.runs;
                all.marked |= if marked { next.runs } else { next.marked };
            }
            all
        };
        Self(self.0.iter().map(row).collect())
    }

    /// Where the word leads from some states.
    fn ends(&self, set: u32) -> u32 {
        members(set).fold(0, |ends, state| ends | self.0[state].runs)
    }

    /// Has the other all its runs?
    fn is_below(&self, other: &Self) -> bool {
        let below = |(a, b): (&Row, &Row)| a.runs & !b.runs == 0 && a.marked & !b.marked == 0;
        self.0.iter().zip(&other.0).all(below)
    }

    /// The states from which the word is accepted if it is repeated for ever: those that lead to a cycle
    /// with a mark.
    fn accepting(&self) -> u32 {
        let mut repeated = self.clone();
        loop {
            let mut more = repeated.then(&repeated);
            for (row, known) in more.0.iter_mut().zip(&repeated.0) {
                row.runs |= known.runs;
                row.marked |= known.marked;
            }
            if more == repeated {
                break;
            }
            repeated = more;
        }
        let rows = || repeated.0.iter().enumerate();
        let cycles = rows().fold(0, |set, (state, row)| set | row.marked & 1 << state);
        let leads = rows().filter(|(_, row)| row.runs & cycles != 0);
        leads.fold(0, |set, (state, _)| set | 1 << state)
    }
}

/// The numbers of the bits that are set.
fn members(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (first < u32::BITS).then_some(first as usize)
    })
}

/// How much has been done.
struct Work {
    found: usize,
    compared: usize,
}

impl Work {
    /// Notes that one more is kept, if it may be.
    fn find(&mut self) -> Option<()> {
        self.found += 1;
        (self.found <= MAX_FOUND).then_some(())
    }

    /// Notes that one is compared with so many, if it may be.
    fn compare(&mut self, others: usize) -> Option<()> {
        self.compared += others + 1;
        (self.compared <= MAX_COMPARED).then_some(())
    }
}

/// The least values of each state that come of the first ones by taking steps, which must keep the order.
fn least<T: Clone + PartialEq>(
    states: usize,
    start: Vec<(usize, T)>,
    is_below: impl Fn(&T, &T) -> bool,
    after: impl Fn(usize, &T) -> Vec<(usize, T)>,
    work: &mut Work,
) -> Option<Vec<Vec<T>>> {
    let mut least: Vec<Vec<T>> = vec![Vec::new(); states];
    let mut open = VecDeque::new();
    let mut fresh = start;
    loop {
        for (state, value) in fresh {
            let known = &mut least[state];
            work.compare(known.len())?;
            if !known.iter().any(|it| is_below(it, &value)) {
                work.find()?;
                known.retain(|it| !is_below(&value, it));
                known.push(value.clone());
                open.push_back((state, value));
            }
        }
        let Some((state, value)) = open.pop_front() else { return Some(least) };
        // What has been replaced by less in the meantime leads to nothing that is needed.
        let needed = least[state].contains(&value);
        fresh = if needed { after(state, &value) } else { Vec::new() };
    }
}

#[cfg(test)]
mod tests;
