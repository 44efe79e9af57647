//! From formulas to automata.
//!
//! Couvreur, *On-the-fly Verification of Linear Temporal Logic* (FM 1999), as Spot has it. A state is a
//! set of formulas that are to hold together. The expansion laws (`f U g = g || f && X (f U g)` and its
//! dual) split them into *terms*: what must hold now, a cube; what must hold in the next state, a set of
//! formulas; and which `U` formulas were put off, the *promises*. A term becomes an edge with the marks
//! of all `U` formulas that it does not promise, so that a run accepts unless it promises something for
//! ever.
//!
//! *Invariant*: a state accepts exactly the words of which its formulas are true. That a formula in the set
//! implies another is no reason to leave that out, because it may do so only by what it promises: `[] X <> p`
//! implies `<> p`, but puts it off for ever. Simulation finds what is superfluous.
//!
//! The cost is exponential in the formula at worst; [`TooLarge`] tells when we give up.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use thiserror::Error;

use crate::automaton::{Automaton, Buchi, Cube, Edge, Label, MAX_SETS};
use crate::degeneralize::{buchi, merged_buchi};
use crate::formula::{Formula, Node};
use crate::merge::merge;
use crate::rewrite;
use crate::simplify;
use crate::weak;

/// At most so many terms of one state.
const MAX_TERMS: usize = 2048;

/// At most so many states before simplification.
const MAX_STATES: usize = 20_000;

/// At most so many edges before simplification.
const MAX_EDGES: usize = 100_000;

/// An automaton for the formula is larger than we care to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TooLarge {
    /// Too many edges of one state, or in all.
    #[error(
        "the automaton of the formula has more than {MAX_TERMS} edges of one state or {MAX_EDGES} in all"
    )]
    Edges,
    /// Too many states.
    #[error("the automaton of the formula has more than {MAX_STATES} states")]
    States,
    /// Too many `U` formulas.
    #[error("the formula needs more than {MAX_SETS} acceptance sets")]
    Sets,
}

/// The automaton of a formula, simplified; the smallest deterministic weak one if there is one that is no
/// larger.
///
/// # Errors
/// If it is too large.
pub fn translate(formula: &Formula) -> Result<Automaton, TooLarge> {
    Ok(with_negation(formula)?.0)
}

/// The automaton of a formula with accepting states, often smaller than [`buchi`] makes it.
///
/// # Errors
/// If it is too large.
pub fn translate_to_buchi(formula: &Formula) -> Result<Buchi, TooLarge> {
    let (automaton, negation) = with_negation(formula)?;
    let buchi = buchi(&automaton);
    Ok(match negation {
        Some(negation) => merged_buchi(&buchi, &negation),
        None => buchi,
    })
}

/// The automaton of a formula, and one of its negation, unless that is too large or the automaton is so
/// small that nobody will ask for it.
fn with_negation(formula: &Formula) -> Result<(Automaton, Option<Automaton>), TooLarge> {
    let formula = rewrite::simplify(formula);
    let mut automaton = expand(&formula)?;
    simplify::simplify(&mut automaton);
    if automaton.states.len() == 1 && automaton.sets <= 1 {
        return Ok((automaton, None));
    }
    let Ok(mut negation) = expand(&rewrite::simplify(&formula.not())) else {
        return Ok((automaton, None));
    };
    simplify::simplify(&mut negation);
    let weak = weak::deterministic(&automaton, &negation);
    merge(&mut automaton, &negation, false, simplify::simplify);
    if let Some(weak) = weak
        && weak.states.len() <= automaton.states.len()
    {
        automaton = weak;
    }
    Ok((automaton, Some(negation)))
}

/// The automaton of a formula as the expansion laws give it.
///
/// # Errors
/// If it is too large.
pub fn expand(formula: &Formula) -> Result<Automaton, TooLarge> {
    let formula = formula.normal_form();
    let atoms = formula.atoms();
    let mut translator = Translator::default();
    let first = translator.obligations(&formula);
    let first = translator.essential(first);
    let mut numbers = HashMap::from([(first.clone(), 0)]);
    let mut states = vec![first];
    let mut all_edges = Vec::new();
    let mut edge_count = 0;
    while let Some(state) = states.get(all_edges.len()) {
        let mut edges = Vec::new();
        for term in translator.terms_of_all(&state.clone())? {
            let next = translator.essential(term.next);
            let fresh = states.len();
            let to = *numbers.entry(next).or_insert_with_key(|next| {
                states.push(next.clone());
                u32::try_from(fresh).unwrap_or(u32::MAX)
            });
            edges.push((to, term.promises, term.cube));
        }
        if states.len() > MAX_STATES {
            return Err(TooLarge::States);
        }
        edge_count += edges.len();
        if edge_count > MAX_EDGES {
            return Err(TooLarge::Edges);
        }
        all_edges.push(edges);
    }
    let sets = u32::try_from(translator.untils.len()).map_err(|_| TooLarge::Sets)?;
    let all_marks = crate::automaton::all_marks(sets);
    let edge = |(to, promises, cube): (u32, u64, Cube)| Edge {
        to,
        marks: all_marks & !promises,
        label: Label::of([cube]),
    };
    let states = all_edges.into_iter().map(|edges| edges.into_iter().map(edge).collect()).collect();
    let mut automaton = Automaton { atoms, sets, initial: 0, states };
    automaton.merge_edges();
    Ok(automaton)
}

/// What must hold now and in the next state, and what is put off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    next: Vec<u32>,
    promises: u64,
    cube: Cube,
}

impl Term {
    const TRUE: Self = Self { next: Vec::new(), promises: 0, cube: Cube::TRUE };

    fn and(&self, other: &Self) -> Option<Self> {
        let cube = self.cube.and(other.cube)?;
        let next = union(&self.next, &other.next);
        Some(Self { next, promises: self.promises | other.promises, cube })
    }

    /// Does it ask for all that `other` asks for?
    fn implies(&self, other: &Self) -> bool {
        self.cube.implies(other.cube)
            && other.promises & !self.promises == 0
            && other.next.iter().all(|f| self.next.binary_search(f).is_ok())
    }
}

#[derive(Default)]
struct Translator {
    numbers: HashMap<Formula, u32>,
    formulas: Vec<Formula>,
    /// The terms of each formula, once they are asked for.
    terms: Vec<Option<Rc<[Term]>>>,
    untils: Vec<u32>,
}

impl Translator {
    fn number(&mut self, formula: &Formula) -> u32 {
        if let Some(number) = self.numbers.get(formula) {
            return *number;
        }
        let number = u32::try_from(self.formulas.len()).expect("formulas fit into memory");
        self.numbers.insert(formula.clone(), number);
        self.formulas.push(formula.clone());
        self.terms.push(None);
        number
    }

    /// The formulas that are to hold if this one is.
    fn obligations(&mut self, formula: &Formula) -> Vec<u32> {
        let mut all = match formula.node() {
            Node::True => Vec::new(),
            Node::And(all) => all.iter().map(|f| self.number(f)).collect(),
            _ => vec![self.number(formula)],
        };
        all.sort_unstable();
        all
    }

    /// Without those whose terms are in those of others: the right sides of `V` formulas.
    fn essential(&self, mut state: Vec<u32>) -> Vec<u32> {
        let contained: HashSet<&Formula> = state
            .iter()
            .filter_map(|number| match self.formulas[*number as usize].node() {
                Node::Release(_, held) => Some(held),
                _ => None,
            })
            .flat_map(|held| match held.node() {
                Node::And(all) => all,
                _ => std::slice::from_ref(held),
            })
            .collect();
        state.retain(|number| !contained.contains(&self.formulas[*number as usize]));
        state
    }

    fn terms_of_all(&mut self, state: &[u32]) -> Result<Vec<Term>, TooLarge> {
        let mut result = vec![Term::TRUE];
        for &formula in state {
            let terms = self.terms(formula)?;
            result = product(&result, &terms)?;
        }
        Ok(result)
    }

    fn terms_of(&mut self, formula: &Formula) -> Result<Rc<[Term]>, TooLarge> {
        let number = self.number(formula);
        self.terms(number)
    }

    fn terms(&mut self, number: u32) -> Result<Rc<[Term]>, TooLarge> {
        if let Some(known) = &self.terms[number as usize] {
            return Ok(known.clone());
        }
        let formula = self.formulas[number as usize].clone();
        let literal = |atom: u32, sign| {
            let cube = Label::literal(atom, sign).cubes()[0];
            vec![Term { cube, ..Term::TRUE }]
        };
        let terms = match formula.node() {
            Node::True => vec![Term::TRUE],
            Node::False => Vec::new(),
            Node::Atom(atom) => literal(*atom, true),
            Node::Not(inner) => match inner.node() {
                Node::Atom(atom) => literal(*atom, false),
                _ => self.terms_of(&formula.normal_form())?.to_vec(),
            },
            Node::Next(f) => vec![Term { next: self.obligations(f), ..Term::TRUE }],
            Node::And(all) => {
                let mut result = vec![Term::TRUE];
                for f in all.iter() {
                    result = product(&result, &self.terms_of(f)?)?;
                }
                result
            }
            Node::Or(all) => {
                let mut result = Vec::new();
                for f in all.iter() {
                    result.extend_from_slice(&self.terms_of(f)?);
                }
                reduce(result)?
            }
            Node::Until(a, b) => {
                let set = self.untils.len();
                if set == MAX_SETS as usize {
                    return Err(TooLarge::Sets);
                }
                self.untils.push(number);
                let put_off = Term { next: vec![number], promises: 1 << set, cube: Cube::TRUE };
                let mut result = product(&self.terms_of(a)?, &[put_off])?;
                result.extend_from_slice(&self.terms_of(b)?);
                reduce(result)?
            }
            Node::Release(a, b) => {
                let mut end = self.terms_of(a)?.to_vec();
                end.push(Term { next: vec![number], ..Term::TRUE });
                product(&end, &self.terms_of(b)?)?
            }
        };
        let terms: Rc<[Term]> = terms.into();
        self.terms[number as usize] = Some(terms.clone());
        Ok(terms)
    }
}

fn product(left: &[Term], right: &[Term]) -> Result<Vec<Term>, TooLarge> {
    if left.len() * right.len() > MAX_TERMS * 8 {
        return Err(TooLarge::Edges);
    }
    reduce(left.iter().flat_map(|a| right.iter().filter_map(|b| a.and(b))).collect())
}

/// Sorts terms and drops those that ask for more than others.
fn reduce(mut terms: Vec<Term>) -> Result<Vec<Term>, TooLarge> {
    terms.sort_unstable();
    terms.dedup();
    let mut kept: Vec<Term> = Vec::new();
    for term in terms {
        if kept.iter().any(|other| term.implies(other)) {
            continue;
        }
        kept.retain(|other| !other.implies(&term));
        if kept.len() == MAX_TERMS {
            return Err(TooLarge::Edges);
        }
        kept.push(term);
    }
    Ok(kept)
}

/// Of two sorted sets.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
