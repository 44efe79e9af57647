//! Is a formula true of a run, does an automaton accept it? Both for runs written down.
//!
//! A run that is written down is a *lasso*: some states, then others that repeat for ever. A formula is
//! evaluated at all positions at once, from its leaves up; `U` is the least, `V` the greatest solution of
//! its expansion law, found by going round until nothing changes. That is written from the meaning alone
//! and shares nothing with translation, so that each can be tested with the other.

use std::collections::HashMap;

use crate::automaton::Automaton;
use crate::components::tarjan;
use crate::formula::{Formula, Node};

/// A run: valuations of the atoms, and then others that repeat for ever.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lasso {
    /// What comes once.
    pub prefix: Vec<u64>,
    /// What repeats. If it is empty, the last valuation of the prefix repeats; if that is empty too, one
    /// in which nothing is true.
    pub cycle: Vec<u64>,
}

impl Lasso {
    /// The same run, written in the shortest way.
    #[must_use]
    pub fn shortest(mut self) -> Self {
        let length = self.cycle.len();
        let repeats = |period: &usize| {
            length.is_multiple_of(*period) && self.cycle[*period..] == self.cycle[..length - period]
        };
        if let Some(period) = (1..length).find(repeats) {
            self.cycle.truncate(period);
        }
        // Where the states before the cycle end as the cycle does, it can begin earlier.
        while !self.cycle.is_empty() && self.prefix.last() == self.cycle.last() {
            self.prefix.pop();
            self.cycle.rotate_right(1);
        }
        self
    }

    /// All valuations in turn, and the position after the last.
    fn unrolled(&self) -> (Vec<u64>, usize) {
        let mut word = self.prefix.clone();
        if self.cycle.is_empty() {
            let last = word.last().copied().unwrap_or(0);
            if word.is_empty() {
                word.push(last);
            }
            let again = word.len() - 1;
            return (word, again);
        }
        word.extend_from_slice(&self.cycle);
        (word, self.prefix.len())
    }
}

/// Is the formula true of the run?
pub fn holds(formula: &Formula, lasso: &Lasso) -> bool {
    let (word, again) = lasso.unrolled();
    let mut known = HashMap::new();
    evaluate(formula, &word, again, &mut known);
    known[formula][0]
}

/// The positions at which the formula is true.
fn evaluate(
    formula: &Formula,
    word: &[u64],
    again: usize,
    known: &mut HashMap<Formula, Vec<bool>>,
) -> Vec<bool> {
    if let Some(values) = known.get(formula) {
        return values.clone();
    }
    let after = |i: usize| if i + 1 == word.len() { again } else { i + 1 };
    let positions = 0..word.len();
    let mut of = |f: &Formula| evaluate(f, word, again, known);
    let values: Vec<bool> = match formula.node() {
        Node::True => vec![true; word.len()],
        Node::False => vec![false; word.len()],
        Node::Atom(atom) => word.iter().map(|valuation| valuation >> atom & 1 == 1).collect(),
        Node::Not(f) => of(f).into_iter().map(|value| !value).collect(),
        Node::Next(f) => {
            let f = of(f);
            positions.map(|i| f[after(i)]).collect()
        }
        Node::And(all) => {
            let all: Vec<Vec<bool>> = all.iter().map(of).collect();
            positions.map(|i| all.iter().all(|f| f[i])).collect()
        }
        Node::Or(all) => {
            let all: Vec<Vec<bool>> = all.iter().map(of).collect();
            positions.map(|i| all.iter().any(|f| f[i])).collect()
        }
        Node::Until(a, b) => {
            let (a, b) = (of(a), of(b));
            solve(word.len(), false, |i, values| b[i] || (a[i] && values[after(i)]))
        }
        Node::Release(a, b) => {
            let (a, b) = (of(a), of(b));
            solve(word.len(), true, |i, values| b[i] && (a[i] || values[after(i)]))
        }
    };
    known.insert(formula.clone(), values.clone());
    values
}

/// The solution of an equation that is nearest to the start value.
fn solve(length: usize, start: bool, equation: impl Fn(usize, &[bool]) -> bool) -> Vec<bool> {
    let mut values = vec![start; length];
    loop {
        let mut changed = false;
        for i in (0..length).rev() {
            let value = equation(i, &values);
            changed |= value != values[i];
            values[i] = value;
        }
        if !changed {
            return values;
        }
    }
}

/// Does the automaton accept the run?
pub fn accepts(automaton: &Automaton, lasso: &Lasso) -> bool {
    let (word, again) = lasso.unrolled();
    let width = word.len();
    let node = |state: u32, position: usize| state as usize * width + position;
    let count = automaton.states.len() * width;
    let mut graph: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut marks: Vec<Vec<u64>> = vec![Vec::new(); count];
    let mut reached = vec![false; count];
    let mut open = vec![(automaton.initial, 0)];
    reached[node(automaton.initial, 0)] = true;
    while let Some((state, position)) = open.pop() {
        let after = if position + 1 == width { again } else { position + 1 };
        for edge in &automaton.states[state as usize] {
            if edge.label.holds(word[position]) {
                let to = node(edge.to, after);
                graph[node(state, position)].push(u32::try_from(to).expect("few states"));
                marks[node(state, position)].push(edge.marks);
                if !std::mem::replace(&mut reached[to], true) {
                    open.push((edge.to, after));
                }
            }
        }
    }
    let of = tarjan(&graph);
    let mut collected: HashMap<u32, u64> = HashMap::new();
    for from in 0..count {
        for (to, marks) in graph[from].iter().zip(&marks[from]) {
            if of[from] == of[*to as usize] {
                *collected.entry(of[from]).or_default() |= marks;
            }
        }
    }
    collected.values().any(|marks| *marks == automaton.all_marks())
}
