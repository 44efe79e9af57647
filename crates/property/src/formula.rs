//! Formulas of linear temporal logic.
//!
//! A formula is a shared tree that never changes, with its hash and what is asked of it most often
//! noted in each node, so that copies and most comparisons cost nothing. Propositions are numbers,
//! *atoms*; their texts are the caller's. The operators are those that translation needs: `U` and its
//! dual `V` (release), from which the constructors make all others. Constructors keep conjunctions and
//! disjunctions flat, sorted and without repetition, and apply the laws of constants; everything else
//! is left to `rewrite.rs`.
//!
//! Whether a formula is purely eventual or universal: Etessami and Holzmann, *Optimizing Büchi
//! Automata* (CONCUR 2000), section 4, in the wider form of Spot's documentation (*LTL formulas*,
//! section 5.3).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How many atoms there can be: a valuation is one word.
pub const MAX_ATOMS: u32 = 64;

/// A formula with more parts, those counted again that stand in several places, is huge.
const MAX_PARTS: usize = 100_000;

/// A formula. Cheap to copy and to compare.
#[derive(Clone)]
pub struct Formula(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    hash: u64,
    eventual: bool,
    universal: bool,
    boolean: bool,
    stutter_invariant: bool,
    node: Node,
}

/// The outermost operator of a formula, with its operands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// Always true.
    True,
    /// Never true.
    False,
    /// A proposition.
    Atom(u32),
    /// The operand does not hold. Never a negation of a negation or of a constant.
    Not(Formula),
    /// The operand holds in the next state.
    Next(Formula),
    /// The second holds some day, and until then the first.
    Until(Formula, Formula),
    /// The second holds until and with the first, or for ever.
    Release(Formula, Formula),
    /// All hold: at least two, sorted, none twice, none a conjunction.
    And(Box<[Formula]>),
    /// Some hold: at least two, sorted, none twice, none a disjunction.
    Or(Box<[Formula]>),
}

impl Formula {
    fn new(node: Node) -> Self {
        let (eventual, universal) = persistence(&node);
        let boolean = match &node {
            Node::True | Node::False | Node::Atom(_) => true,
            Node::Not(f) => f.is_boolean(),
            Node::And(all) | Node::Or(all) => all.iter().all(Self::is_boolean),
            Node::Next(_) | Node::Until(..) | Node::Release(..) => false,
        };
        let stutter_invariant = match &node {
            Node::True | Node::False | Node::Atom(_) => true,
            Node::Not(f) => f.stutter_invariant(),
            Node::And(all) | Node::Or(all) => all.iter().all(Self::stutter_invariant),
            Node::Until(a, b) | Node::Release(a, b) => {
                a.stutter_invariant() && b.stutter_invariant()
            }
            Node::Next(_) => false,
        };
        let hash = hash(&node);
        Self(Arc::new(Inner { hash, eventual, universal, boolean, stutter_invariant, node }))
    }

    /// The outermost operator.
    pub fn node(&self) -> &Node {
        &self.0.node
    }

    /// Always true.
    pub fn truth() -> Self {
        Self::new(Node::True)
    }

    /// Never true.
    pub fn falsehood() -> Self {
        Self::new(Node::False)
    }

    /// A proposition.
    ///
    /// # Panics
    /// If its number is not less than [`MAX_ATOMS`].
    pub fn atom(number: u32) -> Self {
        assert!(number < MAX_ATOMS, "more than {MAX_ATOMS} atoms");
        Self::new(Node::Atom(number))
    }

    /// `!f`
    #[must_use]
    pub fn not(&self) -> Self {
        match self.node() {
            Node::True => Self::falsehood(),
            Node::False => Self::truth(),
            Node::Not(f) => f.clone(),
            _ => Self::new(Node::Not(self.clone())),
        }
    }

    /// All of them hold.
    pub fn and(operands: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for operand in operands {
            match operand.node() {
                Node::True => {}
                Node::False => return operand,
                Node::And(inner) => all.extend_from_slice(inner),
                _ => all.push(operand),
            }
        }
        if sort_and_clash(&mut all) {
            return Self::falsehood();
        }
        match all.len() {
            0 => Self::truth(),
            1 => all.remove(0),
            _ => Self::new(Node::And(all.into())),
        }
    }

    /// One of them holds.
    pub fn or(operands: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for operand in operands {
            match operand.node() {
                Node::False => {}
                Node::True => return operand,
                Node::Or(inner) => all.extend_from_slice(inner),
                _ => all.push(operand),
            }
        }
        if sort_and_clash(&mut all) {
            return Self::truth();
        }
        match all.len() {
            0 => Self::falsehood(),
            1 => all.remove(0),
            _ => Self::new(Node::Or(all.into())),
        }
    }

    /// `X f`
    #[must_use]
    pub fn next(&self) -> Self {
        match self.node() {
            Node::True | Node::False => self.clone(),
            _ => Self::new(Node::Next(self.clone())),
        }
    }

    /// `self U goal`
    #[must_use]
    pub fn until(&self, goal: &Self) -> Self {
        match (self.node(), goal.node()) {
            (_, Node::True | Node::False) | (Node::False, _) => goal.clone(),
            _ => Self::new(Node::Until(self.clone(), goal.clone())),
        }
    }

    /// `self V held`: `held` up to and including the first state in which `self` holds.
    #[must_use]
    pub fn release(&self, held: &Self) -> Self {
        match (self.node(), held.node()) {
            (_, Node::True | Node::False) | (Node::True, _) => held.clone(),
            _ => Self::new(Node::Release(self.clone(), held.clone())),
        }
    }

    /// `<> f`
    #[must_use]
    pub fn eventually(&self) -> Self {
        Self::truth().until(self)
    }

    /// `[] f`
    #[must_use]
    pub fn always(&self) -> Self {
        Self::falsehood().release(self)
    }

    /// `self -> then`
    #[must_use]
    pub fn implies(&self, then: &Self) -> Self {
        Self::or([self.not(), then.clone()])
    }

    /// `self <-> other`
    #[must_use]
    pub fn equivalent(&self, other: &Self) -> Self {
        let both = Self::and([self.clone(), other.clone()]);
        Self::or([both, Self::and([self.not(), other.not()])])
    }

    /// `self W goal`: until `goal`, or for ever.
    #[must_use]
    pub fn weak_until(&self, goal: &Self) -> Self {
        goal.release(&Self::or([self.clone(), goal.clone()]))
    }

    /// `held` up to and including the first state in which `self` holds, which comes.
    #[must_use]
    pub fn strong_release(&self, held: &Self) -> Self {
        held.until(&Self::and([self.clone(), held.clone()]))
    }

    /// Is it `true`?
    pub fn is_true(&self) -> bool {
        *self.node() == Node::True
    }

    /// Is it `false`?
    pub fn is_false(&self) -> bool {
        *self.node() == Node::False
    }

    /// Has it no temporal operator?
    pub fn is_boolean(&self) -> bool {
        self.0.boolean
    }

    /// Is it known by its form that it holds of a run if it holds of any suffix of the run?
    pub fn is_eventual(&self) -> bool {
        self.0.eventual
    }

    /// Is it known by its form that it holds of all suffixes of a run if it holds of the run?
    pub fn is_universal(&self) -> bool {
        self.0.universal
    }

    /// Is it known by its form (no `X`) that it cannot tell runs apart that differ only in how often
    /// states are repeated? Partial-order reduction needs that.
    pub fn stutter_invariant(&self) -> bool {
        self.0.stutter_invariant
    }

    /// Would it be longer than anybody could write or read, with each part written out wherever it stands?
    pub fn is_huge(&self) -> bool {
        let mut open = vec![self];
        let mut seen = 0;
        while let Some(part) = open.pop() {
            seen += 1;
            if seen > MAX_PARTS {
                return true;
            }
            match part.node() {
                Node::True | Node::False | Node::Atom(_) => {}
                Node::Not(f) | Node::Next(f) => open.push(f),
                Node::Until(a, b) | Node::Release(a, b) => open.extend([a, b]),
                Node::And(all) | Node::Or(all) => open.extend(all.iter()),
            }
        }
        false
    }

    /// The atoms in it, as a set of bits.
    pub fn atoms(&self) -> u64 {
        let mut atoms = 0;
        let mut seen = std::collections::HashSet::new();
        let mut stack = vec![self];
        while let Some(f) = stack.pop() {
            if !seen.insert(f) {
                continue;
            }
            match f.node() {
                Node::True | Node::False => {}
                Node::Atom(atom) => atoms |= 1 << atom,
                Node::Not(a) | Node::Next(a) => stack.push(a),
                Node::Until(a, b) | Node::Release(a, b) => stack.extend([a, b]),
                Node::And(all) | Node::Or(all) => stack.extend(all.iter()),
            }
        }
        atoms
    }

    /// The same in negation normal form: only atoms are negated.
    #[must_use]
    pub fn normal_form(&self) -> Self {
        NormalForm::default().of(self, false)
    }

    /// With SPIN's symbols, given the texts of atoms; an atom without a text is `pN`.
    pub fn display<'a>(&'a self, texts: &'a [String]) -> impl fmt::Display + 'a {
        Displayed { formula: self, texts, outermost: true }
    }
}

/// Negation normal form, with a memory, because formulas share parts.
#[derive(Default)]
pub(crate) struct NormalForm(HashMap<(Formula, bool), Formula>);

impl NormalForm {
    /// Of the formula or of its negation.
    pub fn of(&mut self, formula: &Formula, negated: bool) -> Formula {
        let key = (formula.clone(), negated);
        if let Some(known) = self.0.get(&key) {
            return known.clone();
        }
        let result = match (formula.node(), negated) {
            (Node::True | Node::False | Node::Atom(_), false) => formula.clone(),
            (Node::True | Node::False | Node::Atom(_), true) => formula.not(),
            (Node::Not(f), _) => self.of(f, !negated),
            (Node::Next(f), _) => self.of(f, negated).next(),
            (Node::Until(a, b), false) | (Node::Release(a, b), true) => {
                self.of(a, negated).until(&self.of(b, negated))
            }
            (Node::Release(a, b), false) | (Node::Until(a, b), true) => {
                self.of(a, negated).release(&self.of(b, negated))
            }
            (Node::And(all), false) | (Node::Or(all), true) => {
                Formula::and(all.iter().map(|f| self.of(f, negated)).collect::<Vec<_>>())
            }
            (Node::Or(all), false) | (Node::And(all), true) => {
                Formula::or(all.iter().map(|f| self.of(f, negated)).collect::<Vec<_>>())
            }
        };
        self.0.insert(key, result.clone());
        result
    }
}

/// Sorts operands and drops repetitions. Is one of them the negation of another?
fn sort_and_clash(all: &mut Vec<Formula>) -> bool {
    all.sort();
    all.dedup();
    all.iter().any(|f| match f.node() {
        Node::Not(inner) => all.binary_search(inner).is_ok(),
        _ => false,
    })
}

/// Is a formula with this node eventual, universal?
fn persistence(node: &Node) -> (bool, bool) {
    let both = |f: &Formula| (f.is_eventual(), f.is_universal());
    match node {
        Node::True | Node::False => (true, true),
        Node::Atom(_) => (false, false),
        Node::Not(f) => (f.is_universal(), f.is_eventual()),
        Node::Next(f) => both(f),
        Node::Until(a, b) => (a.is_true() || b.is_eventual(), a.is_universal() && b.is_universal()),
        Node::Release(a, b) => {
            (a.is_eventual() && b.is_eventual(), a.is_false() || b.is_universal())
        }
        Node::And(all) | Node::Or(all) => {
            (all.iter().all(Formula::is_eventual), all.iter().all(Formula::is_universal))
        }
    }
}

/// The same on every machine and in every run, so that nothing depends on chance.
fn hash(node: &Node) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    };
    match node {
        Node::True => mix(1, 1),
        Node::False => mix(2, 2),
        Node::Atom(atom) => mix(3, u64::from(*atom)),
        Node::Not(f) => mix(4, f.0.hash),
        Node::Next(f) => mix(5, f.0.hash),
        Node::Until(a, b) => mix(mix(6, a.0.hash), b.0.hash),
        Node::Release(a, b) => mix(mix(7, a.0.hash), b.0.hash),
        Node::And(all) => all.iter().fold(8, |hash, f| mix(hash, f.0.hash)),
        Node::Or(all) => all.iter().fold(9, |hash, f| mix(hash, f.0.hash)),
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash && self.0.node == other.0.node)
    }
}

impl Eq for Formula {}

impl Hash for Formula {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for Formula {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Formula {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other { Ordering::Equal } else { self.0.node.cmp(&other.0.node) }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.display(&[]))
    }
}

struct Displayed<'a> {
    formula: &'a Formula,
    texts: &'a [String],
    outermost: bool,
}

impl fmt::Display for Displayed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |formula| Displayed { formula, texts: self.texts, outermost: false };
        let (open, close) = if self.outermost { ("", "") } else { ("(", ")") };
        match self.formula.node() {
            Node::True => write!(f, "true"),
            Node::False => write!(f, "false"),
            Node::Atom(atom) => match self.texts.get(*atom as usize) {
                None => write!(f, "p{atom}"),
                Some(text) if is_word(text) => write!(f, "{text}"),
                Some(text) => write!(f, "({text})"),
            },
            Node::Not(a) => write!(f, "!{}", inner(a)),
            Node::Next(a) => write!(f, "X {}", inner(a)),
            Node::Until(a, b) if a.is_true() => write!(f, "<>{}", inner(b)),
            Node::Release(a, b) if a.is_false() => write!(f, "[]{}", inner(b)),
            Node::Until(a, b) => write!(f, "{open}{} U {}{close}", inner(a), inner(b)),
            Node::Release(a, b) => match weakly(a, b) {
                Some(rest) => write!(f, "{open}{} W {}{close}", inner(&rest), inner(a)),
                None => write!(f, "{open}{} V {}{close}", inner(a), inner(b)),
            },
            Node::And(all) => {
                write!(f, "{open}{}", inner(&all[0]))?;
                for operand in &all[1..] {
                    write!(f, " && {}", inner(operand))?;
                }
                write!(f, "{close}")
            }
            Node::Or(all) => {
                if let Some(premise) = premise(all) {
                    let negated = premise.not();
                    let rest = Formula::or(all.iter().filter(|f| **f != negated).cloned());
                    return write!(f, "{open}{} -> {}{close}", inner(premise), inner(&rest));
                }
                write!(f, "{open}{}", inner(&all[0]))?;
                for operand in &all[1..] {
                    write!(f, " || {}", inner(operand))?;
                }
                write!(f, "{close}")
            }
        }
    }
}

/// Which of the operands of `||` is best shown as `premise ->`: the only one that is negated, or else the
/// only negated one that is a conjunction or `<>`, as premises mostly are.
fn premise(all: &[Formula]) -> Option<&Formula> {
    let negated = all.iter().filter_map(|f| match f.node() {
        Node::Not(operand) => Some(operand),
        _ => None,
    });
    let only = |keep: fn(&Formula) -> bool| {
        let mut kept = negated.clone().filter(|operand| keep(operand));
        kept.next().filter(|_| kept.next().is_none())
    };
    only(|_| true)
        .or_else(|| only(|f| matches!(f.node(), Node::And(_))))
        .or_else(|| only(|f| matches!(f.node(), Node::Until(a, _) if a.is_true())))
}

/// If `goal V held` is `rest W goal`, the rest.
fn weakly(goal: &Formula, held: &Formula) -> Option<Formula> {
    let Node::Or(all) = held.node() else { return None };
    let goals = match goal.node() {
        Node::Or(goals) => goals,
        _ => std::slice::from_ref(goal),
    };
    let contained = goals.iter().all(|goal| all.contains(goal));
    contained.then(|| Formula::or(all.iter().filter(|f| !goals.contains(f)).cloned()))
}

/// Is it a name, which needs no parentheses around it?
fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !text.is_empty()
}
