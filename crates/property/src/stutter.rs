//! Can an automaton tell how often a letter is repeated?
//!
//! If it cannot, it is *stutter-invariant*, and partial-order reduction may be used with it. That is so iff it
//! accepts all words that come of its own by repeating letters, and all that come of them by leaving out
//! repetitions; for both there is an automaton that is little larger (Michaud and Duret-Lutz, *Practical
//! Stutter-Invariance Checks for ω-Regular Languages*, SPIN 2015, section 3). Leaving out every other
//! repetition is enough: ω-regular languages differ in a periodic word if they differ, and in those no
//! letter is repeated more than so often, unless for ever. Letters are not valuations but classes of them
//! that no label tells apart.
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

use std::collections::{HashMap, HashSet, VecDeque};

use crate::automaton::{Automaton, Cube, Label};
use crate::components::tarjan;
use crate::degeneralize::degeneralize;

/// More states for each set than that are not even looked at.
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

    /// With all words in which letters are repeated more often; unless there is nothing to add, because
    /// a loop reads what is repeated.
    fn stretched(&self) -> Option<Self> {
        let loops = |state: usize, letter: usize| {
            self.steps[state].iter().any(|step| step.to == state && step.letter == letter)
        };
        let mut larger = self.clone();
        let mut waits = HashMap::new();
        for (state, steps) in self.steps.iter().enumerate() {
            for &Step { letter, marked, to } in steps {
                if loops(state, letter) || loops(to, letter) {
                    continue;
                }
                let fresh = larger.steps.len();
                let wait = *waits.entry((to, letter)).or_insert(fresh);
                if wait == fresh {
                    let step = |to: usize| Step { letter, marked: false, to };
                    larger.steps.push(vec![step(wait), step(to)]);
                }
                larger.steps[state].push(Step { letter, marked, to: wait });
            }
        }
        (!waits.is_empty()).then_some(larger)
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
    let labels: HashSet<&Label> = automaton.states.iter().flatten().map(|it| &it.label).collect();
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
mod tests {
    use super::{MAX_STATES, decide, is_stutter_invariant, letters};
    use crate::automaton::{Automaton, Buchi, Cube, Edge, Label, State};

    fn p() -> Label {
        Label::literal(0, true)
    }

    fn q() -> Label {
        Label::literal(1, true)
    }

    /// A never claim: of each state, whether it accepts and its edges. The first is the initial one.
    fn claim<const N: usize>(states: [(bool, Vec<(Label, u32)>); N]) -> Automaton {
        let state = |(accepting, edges)| State { accepting, edges };
        let states = states.into_iter().map(state).collect();
        Buchi { atoms: 3, initial: 0, states }.automaton()
    }

    /// As `spin -f` writes them, with states that are not needed.
    #[test]
    fn claims_of_formulas() {
        let always = Label::truth;
        let again_and_again = claim([
            (false, vec![(p(), 1), (always(), 0)]), // T0_init
            (true, vec![(always(), 0)]),            // accept_S9
        ]);
        let from_some_time_on = claim([
            (false, vec![(p(), 1), (always(), 0)]), // T0_init
            (true, vec![(p(), 1)]),                 // accept_S4
        ]);
        let until = claim([
            (false, vec![(q(), 1), (p(), 0)]), // T0_init
            (true, vec![(always(), 1)]),       // accept_all
        ]);
        let never_answered = claim([
            (false, vec![(p().and(&q().not()), 1), (always(), 0)]), // T0_init
            (true, vec![(q().not(), 1)]),                           // accept_S4
        ]);
        let not_until = claim([
            (true, vec![(q().not(), 0), (p().not().and(&q().not()), 1)]), // accept_init
            (true, vec![(always(), 1)]),                                  // accept_all
        ]);
        let answered = claim([
            (false, vec![(p().not().or(&q()), 2), (always(), 1)]), // T0_init
            (false, vec![(q(), 2), (always(), 1)]),                // T0_S27
            (true, vec![(p().not().or(&q()), 2), (always(), 1)]),  // accept_S20
        ]);
        let claims =
            [again_and_again, from_some_time_on, until, never_answered, not_until, answered];
        for claim in claims {
            assert_eq!(decide(&claim), Some(true), "{claim:?}");
        }
    }

    #[test]
    fn claims_that_count() {
        let alternates = claim([(true, vec![(p(), 1)]), (true, vec![(p().not(), 0)])]);
        let every_other = claim([(true, vec![(p(), 1)]), (true, vec![(Label::truth(), 0)])]);
        let twice_at_once = claim([
            (false, vec![(p(), 1), (Label::truth(), 0)]),
            (false, vec![(p(), 2)]),
            (true, vec![(Label::truth(), 2)]),
        ]);
        let not_at_once =
            claim([(true, vec![(p().not(), 0), (p(), 1)]), (true, vec![(p().not(), 0)])]);
        for claim in [alternates, every_other, twice_at_once, not_at_once] {
            assert_eq!(decide(&claim), Some(false), "{claim:?}");
        }
    }

    /// Words that differ only in how often p is repeated are accepted by different runs, so that it cannot
    /// be seen from single states.
    #[test]
    fn even_or_odd_is_either() {
        let either = |first: Vec<(Label, u32)>| {
            claim([
                (false, first),
                (false, vec![(p(), 2), (p().not(), 5)]), // after an odd number
                (false, vec![(p(), 1)]),
                (false, vec![(p(), 4)]),
                (false, vec![(p(), 3), (p().not(), 5)]), // after an even number
                (true, vec![(p().not(), 5)]),
            ])
        };
        assert_eq!(decide(&either(vec![(p(), 1), (p(), 3)])), Some(true));
        assert_eq!(decide(&either(vec![(p(), 1)])), Some(false));
        assert_eq!(decide(&either(vec![(p(), 3)])), Some(false));
    }

    /// Letters are the classes that labels tell apart, not the valuations.
    #[test]
    fn atoms_may_be_many() {
        let all = Label::of([Cube { positive: (1 << 40) - 1, negative: 0 }]);
        let edge = |to, marks, label| Edge { to, marks, label };
        let until = vec![
            vec![edge(0, 0, all.clone()), edge(1, 0, Label::literal(40, true))],
            vec![edge(1, 1, Label::truth())],
        ];
        let automaton = Automaton { atoms: u64::MAX, sets: 1, initial: 0, states: until };
        assert_eq!(letters(&automaton).map(|letters| letters.len()), Some(4));
        assert_eq!(decide(&automaton), Some(true));
    }

    /// What is too large is said not to be invariant.
    #[test]
    fn what_is_too_much_is_refused() {
        // p for so many steps: all states are needed.
        let chain = |length: usize| {
            let edge = |state: usize| Edge {
                to: u32::try_from(length.min(state + 1)).expect("few states"),
                marks: 1,
                label: if state < length { p() } else { Label::truth() },
            };
            let states = (0..=length).map(|state| vec![edge(state)]).collect();
            Automaton { atoms: 1, sets: 1, initial: 0, states }
        };
        assert_eq!(decide(&chain(MAX_STATES - 1)), Some(false));
        assert_eq!(decide(&chain(MAX_STATES)), None);
        assert_eq!(decide(&chain(1000)), None);
        // Each atom again and again: more letters than are looked at, though one state would do.
        let loops =
            (0..7).map(|atom| Edge { to: 0, marks: 1 << atom, label: Label::literal(atom, true) });
        let states = vec![loops.collect()];
        let many = Automaton { atoms: 127, sets: 7, initial: 0, states };
        assert_eq!(decide(&many), None);
        assert!(!is_stutter_invariant(&many));
    }
}
