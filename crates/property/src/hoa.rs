//! Automata from files in the Hanoi Omega-Automata format.
//!
//! Babiak and others, *The Hanoi Omega-Automata Format* (CAV 2015), version 1. Read are Büchi and
//! generalized Büchi automata, that is, those whose acceptance condition is a conjunction of `Inf`, with
//! marks on edges or states, labels on edges or states or left out, aliases, and several initial states
//! (a new one does what any of them can do). Everything else is refused, with the line and the reason.
//!
//! Nothing in a file makes this panic or take more than a bounded time for each label: nesting and the
//! number of cubes are limited.

mod tokens;

use std::collections::HashMap;
use std::ops::Range;

use thiserror::Error;

use crate::automaton::{Automaton, Cube, Edge, Label, MAX_SETS};
use crate::formula::MAX_ATOMS;
use tokens::{Kind, Token, tokens};

/// Labels may be nested so deep.
const MAX_DEPTH: u32 = 200;

/// Labels may become that large, in pairs of cubes that are looked at.
const MAX_PAIRS: usize = 1024;

/// There may be so many states.
const MAX_STATES: u64 = 1 << 20;

/// Why a file was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct HoaError {
    /// The line, from 1.
    pub line: u32,
    /// The bytes of the text that it is about.
    pub at: Range<usize>,
    /// The reason.
    pub reason: String,
}

type Result<T> = std::result::Result<T, HoaError>;

/// Reads the automaton in a file, and the texts of its atoms.
///
/// # Errors
/// If it is not one that we read.
pub fn read(text: &str) -> Result<(Automaton, Vec<String>)> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, next: 0, ..Reader::default() };
    reader.head()?;
    reader.body()?;
    reader.finish()
}

/// A label, and its negation: aliases are used with either sign.
type Signed = (Label, Label);

#[derive(Default)]
struct Reader<'t> {
    tokens: &'t [Token],
    next: usize,
    declared: Option<u64>,
    initial: Vec<u64>,
    atoms: Option<Vec<String>>,
    aliases: HashMap<String, Signed>,
    /// The acceptance sets that count, in the order of their numbers here.
    sets: Option<Vec<u64>>,
    /// How many there are in the file.
    all_sets: u64,
    states: Vec<Option<Vec<Edge>>>,
}

impl Reader<'_> {
    fn fail<T>(&self, reason: impl Into<String>) -> Result<T> {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        let (line, at) = token.map_or((1, 0..0), |token| (token.line, token.at.clone()));
        Err(HoaError { line, at, reason: reason.into() })
    }

    /// About what was read last.
    fn fail_before<T>(&mut self, reason: impl Into<String>) -> Result<T> {
        self.next = self.next.saturating_sub(1);
        self.fail(reason)
    }

    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.next).map(|token| &token.kind)
    }

    fn take(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(&Kind::Symbol(symbol));
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: char) -> Result<()> {
        if self.take(symbol) { Ok(()) } else { self.fail(format!("`{symbol}` is missing")) }
    }

    fn number(&mut self, what: &str) -> Result<u64> {
        match self.peek() {
            Some(Kind::Number(number)) => {
                let number = *number;
                self.next += 1;
                Ok(number)
            }
            _ => self.fail(format!("a number is missing: {what}")),
        }
    }

    fn head(&mut self) -> Result<()> {
        let is_hoa = matches!(self.peek(), Some(Kind::Header(name)) if name == "HOA");
        self.next += 1;
        if !is_hoa || !matches!(self.peek(), Some(Kind::Word(version)) if version.as_str() == "v1")
        {
            self.next = 0;
            return self.fail("this is no automaton in HOA format, version 1: no `HOA: v1`");
        }
        self.next += 1;
        loop {
            let Some(kind) = self.peek().cloned() else {
                return self.fail("`--BODY--` is missing");
            };
            match kind {
                Kind::Marker(marker) if marker == "--BODY--" => {
                    if self.sets.is_none() {
                        return self.fail("there is no `Acceptance:`");
                    }
                    self.next += 1;
                    return Ok(());
                }
                Kind::Header(name) => {
                    self.next += 1;
                    self.header(&name)?;
                }
                _ => return self.fail("a header is expected here"),
            }
        }
    }

    fn header(&mut self, name: &str) -> Result<()> {
        match name {
            "States" => {
                let count = self.number("how many states")?;
                if count > MAX_STATES {
                    return self.fail_before(format!("more than {MAX_STATES} states"));
                }
                self.declared = Some(count);
            }
            "Start" => {
                let state = self.state("the initial state")?;
                self.initial.push(state);
            }
            "AP" => {
                if self.atoms.is_some() {
                    return self.fail_before("a second `AP:`");
                }
                let count = self.number("how many atomic propositions")?;
                if count > u64::from(MAX_ATOMS) {
                    return self.fail_before(format!("more than {MAX_ATOMS} atomic propositions"));
                }
                let mut atoms = Vec::new();
                while let Some(Kind::Text(text)) = self.peek() {
                    atoms.push(text.clone());
                    self.next += 1;
                }
                if atoms.len() as u64 != count {
                    return self.fail_before(format!("{count} atomic propositions are announced"));
                }
                self.atoms = Some(atoms);
            }
            "Alias" => {
                let Some(Kind::Alias(name)) = self.peek().cloned() else {
                    return self.fail("the name of an alias is missing");
                };
                self.next += 1;
                let label = self.label(0)?;
                if self.aliases.insert(name.clone(), label).is_some() {
                    return self.fail_before(format!("a second alias `@{name}`"));
                }
            }
            "Acceptance" => self.acceptance()?,
            name if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                return self
                    .fail_before(format!("the header `{name}:` is not known, and it matters"));
            }
            _ => {
                while !matches!(self.peek(), None | Some(Kind::Header(_) | Kind::Marker(_))) {
                    self.next += 1;
                }
            }
        }
        Ok(())
    }

    /// A conjunction of `Inf(n)`, or `t`.
    fn acceptance(&mut self) -> Result<()> {
        if self.sets.is_some() {
            return self.fail_before("a second `Acceptance:`");
        }
        self.all_sets = self.number("how many acceptance sets")?;
        let refusal =
            "only Büchi and generalized Büchi acceptance is read: `t`, or `Inf`s with `&`";
        let mut sets = Vec::new();
        let mut open = 0;
        loop {
            while self.take('(') {
                open += 1;
            }
            let Some(Kind::Word(word)) = self.peek().cloned() else { return self.fail(refusal) };
            match word.as_str() {
                "t" => self.next += 1,
                "Inf" => {
                    self.next += 1;
                    self.expect('(')?;
                    if self.take('!') {
                        return self.fail(refusal);
                    }
                    let set = self.number("an acceptance set")?;
                    if set >= self.all_sets {
                        return self.fail_before(format!("there is no acceptance set {set}"));
                    }
                    self.expect(')')?;
                    sets.push(set);
                }
                _ => return self.fail(refusal),
            }
            while open > 0 && self.take(')') {
                open -= 1;
            }
            if !self.take('&') {
                break;
            }
        }
        if open > 0 || matches!(self.peek(), Some(Kind::Symbol(_))) {
            return self.fail(refusal);
        }
        sets.sort_unstable();
        sets.dedup();
        if sets.len() > MAX_SETS as usize {
            return self.fail_before(format!("more than {MAX_SETS} acceptance sets"));
        }
        self.sets = Some(sets);
        Ok(())
    }

    fn state(&mut self, what: &str) -> Result<u64> {
        let state = self.number(what)?;
        if state >= self.declared.unwrap_or(MAX_STATES) {
            return self.fail_before(format!("there is no state {state}"));
        }
        if self.peek() == Some(&Kind::Symbol('&')) {
            return self.fail("alternating automata are not read: `&` between states");
        }
        Ok(state)
    }

    fn atom_count(&self) -> u64 {
        self.atoms.as_ref().map_or(0, |atoms| atoms.len() as u64)
    }

    /// A label, up to where no `|` follows.
    fn label(&mut self, depth: u32) -> Result<Signed> {
        let mut result = self.label_and(depth)?;
        while self.take('|') {
            let next = self.label_and(depth)?;
            result = (self.or(&result.0, &next.0)?, self.and(&result.1, &next.1)?);
        }
        Ok(result)
    }

    fn label_and(&mut self, depth: u32) -> Result<Signed> {
        let mut result = self.label_not(depth)?;
        while self.take('&') {
            let next = self.label_not(depth)?;
            result = (self.and(&result.0, &next.0)?, self.or(&result.1, &next.1)?);
        }
        Ok(result)
    }

    fn label_not(&mut self, depth: u32) -> Result<Signed> {
        if depth > MAX_DEPTH {
            return self.fail("the label is nested too deep");
        }
        if self.take('!') {
            let (label, negation) = self.label_not(depth + 1)?;
            return Ok((negation, label));
        }
        if self.take('(') {
            let label = self.label(depth + 1)?;
            self.expect(')')?;
            return Ok(label);
        }
        let label = match self.peek() {
            Some(Kind::Word(word)) if word.as_str() == "t" => (Label::truth(), Label::falsehood()),
            Some(Kind::Word(word)) if word.as_str() == "f" => (Label::falsehood(), Label::truth()),
            Some(Kind::Number(atom)) if *atom < self.atom_count() => {
                let atom = u32::try_from(*atom).unwrap_or_default();
                (Label::literal(atom, true), Label::literal(atom, false))
            }
            Some(Kind::Number(atom)) => {
                let reason = format!("there is no atomic proposition {atom}");
                return self.fail(reason);
            }
            Some(Kind::Alias(name)) => match self.aliases.get(name) {
                Some(label) => label.clone(),
                None => return self.fail(format!("there is no alias `@{name}`")),
            },
            _ => return self.fail("this is no label"),
        };
        self.next += 1;
        Ok(label)
    }

    fn and(&self, a: &Label, b: &Label) -> Result<Label> {
        if a.cubes().len() * b.cubes().len() > MAX_PAIRS {
            return self.fail("the label is too large");
        }
        Ok(a.and(b))
    }

    fn or(&self, a: &Label, b: &Label) -> Result<Label> {
        if a.cubes().len() + b.cubes().len() > MAX_PAIRS {
            return self.fail("the label is too large");
        }
        Ok(a.or(b))
    }

    /// `[label]`, if there is one here.
    fn bracketed(&mut self) -> Result<Option<Label>> {
        if !self.take('[') {
            return Ok(None);
        }
        let (label, _) = self.label(0)?;
        self.expect(']')?;
        Ok(Some(label))
    }

    /// `{marks}`, if there are any here.
    fn marks(&mut self) -> Result<u64> {
        let mut marks = 0;
        if self.take('{') {
            while !self.take('}') {
                let set = self.number("an acceptance set, or `}`")?;
                if set >= self.all_sets {
                    return self.fail_before(format!("there is no acceptance set {set}"));
                }
                let sets = self.sets.as_deref().unwrap_or_default();
                if let Ok(number) = sets.binary_search(&set) {
                    marks |= 1 << number;
                }
            }
        }
        Ok(marks)
    }

    fn body(&mut self) -> Result<()> {
        loop {
            match self.peek().cloned() {
                Some(Kind::Marker(marker)) if marker == "--END--" => {
                    self.next += 1;
                    break;
                }
                Some(Kind::Marker(marker)) if marker == "--ABORT--" => {
                    return self.fail("the automaton was not finished: `--ABORT--`");
                }
                Some(Kind::Header(name)) if name == "State" => {
                    self.next += 1;
                    self.state_with_edges()?;
                }
                Some(_) => return self.fail("`State:` or `--END--` is expected here"),
                None => return self.fail("`--END--` is missing"),
            }
        }
        if self.peek().is_some() {
            return self.fail("more than one automaton in a file is not read");
        }
        Ok(())
    }

    fn state_with_edges(&mut self) -> Result<()> {
        let common = self.bracketed()?;
        let state = self.state("the state")?;
        if let Some(Kind::Text(_)) = self.peek() {
            self.next += 1;
        }
        let state_marks = self.marks()?;
        let mut edges = Vec::new();
        let mut labelled = None;
        while matches!(self.peek(), Some(Kind::Symbol('[') | Kind::Number(_))) {
            let label = self.bracketed()?;
            if *labelled.get_or_insert(label.is_some()) != label.is_some() {
                return self.fail("some edges of the state have labels and some have none");
            }
            if label.is_some() && common.is_some() {
                return self.fail("a label on an edge and one on its state");
            }
            let implicit = edges.len() as u64;
            let label = match label.or_else(|| common.clone()) {
                Some(label) => label,
                None if self.atom_count() < 32 && implicit < 1 << self.atom_count() => {
                    let all = (1 << self.atom_count()) - 1;
                    Label::of([Cube { positive: implicit, negative: all & !implicit }])
                }
                None => return self.fail("more edges without label than there are valuations"),
            };
            let to = self.state("the end of an edge")?;
            let marks = state_marks | self.marks()?;
            edges.push(Edge { to: u32::try_from(to).unwrap_or(u32::MAX), marks, label });
        }
        let implicit = labelled == Some(false) && common.is_none();
        if implicit && edges.len() as u64 != 1 << self.atom_count() {
            return self.fail_before("fewer edges without label than there are valuations");
        }
        let place = usize::try_from(state).unwrap_or(usize::MAX);
        if self.states.len() <= place {
            self.states.resize(place + 1, None);
        }
        if self.states[place].replace(edges).is_some() {
            return self.fail_before(format!("state {state} for the second time"));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(Automaton, Vec<String>)> {
        let mut states: Vec<Vec<Edge>> =
            std::mem::take(&mut self.states).into_iter().map(Option::unwrap_or_default).collect();
        let ends = states.iter().flatten().map(|edge| u64::from(edge.to));
        let last = ends.chain(self.initial.iter().copied()).max().unwrap_or(0);
        let count = usize::try_from(last).unwrap_or(usize::MAX) + 1;
        if states.len() < count {
            states.resize(count, Vec::new());
        }
        let number = |state: u64| u32::try_from(state).unwrap_or(u32::MAX);
        let initial = match self.initial[..] {
            [state] => number(state),
            _ => {
                let places = self.initial.iter().map(|state| number(*state) as usize);
                let all = places.flat_map(|state| states[state].clone()).collect();
                states.push(all);
                number(states.len() as u64 - 1)
            }
        };
        let atoms = self.atoms.unwrap_or_default();
        let all_atoms = (0..atoms.len()).fold(0, |all, atom| all | 1 << atom);
        let sets = self.sets.map_or(0, |sets| sets.len());
        let sets = u32::try_from(sets).unwrap_or(MAX_SETS);
        let mut automaton = Automaton { atoms: all_atoms, sets, initial, states };
        automaton.merge_edges();
        Ok((automaton, atoms))
    }
}
