//! Simpler formulas that mean the same, so that their automata have fewer states.
//!
//! The laws are SPIN's, those of Etessami and Holzmann (*Optimizing Büchi Automata*, CONCUR 2000,
//! section 4: eventual and universal parts) and of Somenzi and Bloem (*Efficient Büchi Automata from
//! LTL Formulae*, CAV 2000, section 3: implications seen by form), as Spot's documentation collects
//! them. Each law has a dual; here stand those of `&&` and `U`, and `||` and `V` are rewritten as
//! negations of those. `implication.rs` tells which formula implies which.
//!
//! Formulas are rewritten from the leaves up, each result once more until nothing changes. Laws either
//! take operators away or pull parts outwards, so that ends; a bound on the number of rewritings makes
//! sure of it. Formulas are in negation normal form before and after.

use std::collections::HashMap;

use crate::formula::{Formula, Node, NormalForm};
use crate::implication::Implication;

/// How many laws are applied at most. What is not rewritten then is right all the same.
const FUEL: u32 = 20_000;

/// A formula with the same meaning in negation normal form, as simple as the laws make it.
#[must_use]
pub fn simplify(formula: &Formula) -> Formula {
    let mut rewriter = Rewriter { fuel: FUEL, ..Rewriter::default() };
    let normal = rewriter.normal.of(formula, false);
    rewriter.simplify(&normal)
}

#[derive(Default)]
struct Rewriter {
    known: HashMap<Formula, Formula>,
    normal: NormalForm,
    implication: Implication,
    fuel: u32,
}

impl Rewriter {
    fn simplify(&mut self, formula: &Formula) -> Formula {
        if let Some(known) = self.known.get(formula) {
            return known.clone();
        }
        let mut result = formula.clone();
        loop {
            let rebuilt = match result.node() {
                Node::True | Node::False | Node::Atom(_) | Node::Not(_) => break,
                Node::Next(f) => self.simplify(f).next(),
                Node::Until(a, b) => self.simplify(a).until(&self.simplify(b)),
                Node::Release(a, b) => self.simplify(a).release(&self.simplify(b)),
                Node::And(all) => {
                    Formula::and(all.iter().map(|f| self.simplify(f)).collect::<Vec<_>>())
                }
                Node::Or(all) => {
                    Formula::or(all.iter().map(|f| self.simplify(f)).collect::<Vec<_>>())
                }
            };
            let next = self.step(&rebuilt).unwrap_or(rebuilt);
            if next == result || self.fuel == 0 {
                break;
            }
            self.fuel -= 1;
            result = next;
        }
        self.known.insert(formula.clone(), result.clone());
        self.known.insert(result.clone(), result.clone());
        result
    }

    /// One law at the root, or `None` if there is none to apply.
    fn step(&mut self, formula: &Formula) -> Option<Formula> {
        match formula.node() {
            Node::True | Node::False | Node::Atom(_) | Node::Not(_) => None,
            Node::Next(f) => next(f),
            Node::Until(a, b) => self.until(a, b),
            Node::And(all) => self.and(all),
            Node::Release(..) | Node::Or(_) => {
                let dual = self.negation(formula);
                let result = self.step(&dual)?;
                Some(self.negation(&result))
            }
        }
    }

    fn negation(&mut self, formula: &Formula) -> Formula {
        self.normal.of(formula, true)
    }

    fn implies(&mut self, a: &Formula, b: &Formula) -> bool {
        self.implication.holds(a, b)
    }

    /// Do they never hold together?
    fn excludes(&mut self, a: &Formula, b: &Formula) -> bool {
        let b = self.negation(b);
        self.implies(a, &b)
    }

    fn until(&mut self, a: &Formula, b: &Formula) -> Option<Formula> {
        if b.is_eventual() || self.implies(a, b) {
            return Some(b.clone());
        }
        let not_a = self.negation(a);
        if !a.is_true() && self.implies(&not_a, b) {
            return Some(b.eventually());
        }
        match (a.node(), b.node()) {
            (Node::True, Node::Next(d)) => return Some(d.eventually().next()),
            (Node::Next(c), Node::Next(d)) => return Some(c.until(d).next()),
            _ => {}
        }
        match b.node() {
            Node::Until(c, _) if self.implies(a, c) => return Some(b.clone()),
            Node::Until(c, d) if self.implies(c, a) => return Some(a.until(d)),
            Node::And(all) => {
                let (apart, rest) = split(all, |f| f.is_eventual() && f.is_universal());
                if !apart.is_empty() {
                    let inner = a.until(&Formula::and(rest));
                    return Some(Formula::and(apart.into_iter().chain([inner])));
                }
            }
            Node::Or(all) => {
                let (apart, rest) = split(all, Formula::is_eventual);
                if !apart.is_empty() {
                    let inner = a.until(&Formula::or(rest));
                    return Some(Formula::or(apart.into_iter().chain([inner])));
                }
            }
            _ => {}
        }
        match a.node() {
            Node::Until(c, d) if self.implies(c, b) => Some(d.until(b)),
            Node::Or(all) => {
                let (gone, rest) = split(all, |f| self.implication.holds(f, b));
                (!gone.is_empty()).then(|| Formula::or(rest).until(b))
            }
            Node::And(all) => {
                let not_b = self.negation(b);
                let (gone, rest) = split(all, |f| self.implication.holds(&not_b, f));
                (!gone.is_empty()).then(|| Formula::and(rest).until(b))
            }
            // <>[](f || g) = <>[]f || <>[]g where g is eventual or universal.
            Node::True => match b.node() {
                Node::Release(c, d) if c.is_false() => match d.node() {
                    Node::Or(all) => {
                        let (apart, rest) = split(all, |f| f.is_eventual() || f.is_universal());
                        (!apart.is_empty()).then(|| {
                            let parts = apart.into_iter().chain([Formula::or(rest)]);
                            Formula::or(parts.map(|f| f.always().eventually()))
                        })
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    fn and(&mut self, all: &[Formula]) -> Option<Formula> {
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                if i == j {
                    continue;
                }
                if i < j && self.excludes(a, b) {
                    return Some(Formula::falsehood());
                }
                if self.implies(a, b) {
                    return Some(Formula::and(without(all, &[j])));
                }
                if let Some(merged) = self.and_pair(a, b) {
                    return Some(Formula::and(without(all, &[i, j]).chain([merged])));
                }
            }
        }
        None
    }

    /// A simpler form of `a && b`; the caller tries both orders.
    fn and_pair(&mut self, a: &Formula, b: &Formula) -> Option<Formula> {
        match (a.node(), b.node()) {
            (Node::Next(f), Node::Next(g)) => Some(Formula::and([f.clone(), g.clone()]).next()),
            (Node::Until(f, g), Node::Until(h, k)) if g == k => {
                Some(Formula::and([f.clone(), h.clone()]).until(g))
            }
            (Node::Release(f, g), Node::Release(h, k)) if f == h => {
                Some(f.release(&Formula::and([g.clone(), k.clone()])))
            }
            // Up to the first f both go on, and it comes.
            (Node::Until(c, f), Node::Release(h, g)) if f == h => {
                let before = Formula::and([c.clone(), g.clone()]);
                Some(before.until(&Formula::and([f.clone(), g.clone()])))
            }
            // g && X [] g = [] g
            (_, Node::Next(next)) => match next.node() {
                Node::Release(f, g) if f.is_false() && g == a => Some(next.clone()),
                _ => None,
            },
            (_, Node::Or(parts)) => {
                // g && (f || X (f V g)) = f V g
                for next in parts.iter() {
                    if let Node::Next(inner) = next.node()
                        && let Node::Release(f, g) = inner.node()
                        && g == a
                        && Formula::or(parts.iter().filter(|p| *p != next).cloned()) == *f
                    {
                        return Some(inner.clone());
                    }
                }
                let (gone, rest) = split(parts, |f| {
                    let negated = self.normal.of(f, true);
                    self.implication.holds(a, &negated)
                });
                (!gone.is_empty()).then(|| Formula::and([a.clone(), Formula::or(rest)]))
            }
            _ => None,
        }
    }
}

/// What does not depend on when it is looked at needs no `X`.
fn next(f: &Formula) -> Option<Formula> {
    let lasting = |f: &Formula| f.is_eventual() && f.is_universal();
    if lasting(f) {
        return Some(f.clone());
    }
    match f.node() {
        Node::And(all) => {
            let (apart, rest) = split(all, lasting);
            let inner = Formula::and(rest).next();
            (!apart.is_empty()).then(|| Formula::and(apart.into_iter().chain([inner])))
        }
        Node::Or(all) => {
            let (apart, rest) = split(all, lasting);
            let inner = Formula::or(rest).next();
            (!apart.is_empty()).then(|| Formula::or(apart.into_iter().chain([inner])))
        }
        _ => None,
    }
}

fn split(all: &[Formula], mut test: impl FnMut(&Formula) -> bool) -> (Vec<Formula>, Vec<Formula>) {
    all.iter().cloned().partition(|f| test(f))
}

fn without<'a>(all: &'a [Formula], gone: &'a [usize]) -> impl Iterator<Item = Formula> + 'a {
    all.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, f)| f.clone())
}
