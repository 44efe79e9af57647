//! Which formula implies which, as far as their form shows.
//!
//! Somenzi and Bloem, *Efficient Büchi Automata from LTL Formulae* (CAV 2000), section 3.1, with the
//! rules for eventual and universal formulas of Spot's documentation. Only rules that are true; an
//! implication that they do not show counts as none. Answers are remembered, so that the cost is
//! bounded by the number of pairs of subformulas.

use std::collections::HashMap;

use crate::automaton::Label;
use crate::formula::{Formula, Node};

/// More cubes than that are not looked at in the comparison of formulas without temporal operators.
const MAX_CUBES: usize = 32;

/// What is known about implications.
#[derive(Default)]
pub(crate) struct Implication(HashMap<(Formula, Formula), bool>);

impl Implication {
    /// Does `f` imply `g`? Both are in negation normal form.
    pub fn holds(&mut self, f: &Formula, g: &Formula) -> bool {
        if f == g || f.is_false() || g.is_true() {
            return true;
        }
        if f.is_true() || g.is_false() {
            return false;
        }
        let key = (f.clone(), g.clone());
        if let Some(known) = self.0.get(&key) {
            return *known;
        }
        let answer = if f.is_boolean() && g.is_boolean() {
            match (label(f), label(g)) {
                (Some(f), Some(g)) => f.implies(&g),
                _ => self.by_form(f, g),
            }
        } else {
            self.by_form(f, g)
        };
        self.0.insert(key, answer);
        answer
    }

    fn by_form(&mut self, f: &Formula, g: &Formula) -> bool {
        match f.node() {
            Node::Or(all) => return all.iter().all(|f| self.holds(f, g)),
            Node::Next(a) => match g.node() {
                Node::Next(b) if self.holds(a, b) => return true,
                _ if g.is_eventual() && self.holds(a, g) => return true,
                _ => {}
            },
            Node::Until(a, b) => {
                if self.holds(b, g) && (g.is_eventual() || self.holds(a, g)) {
                    return true;
                }
                if let Node::Until(c, d) = g.node()
                    && self.holds(a, c)
                    && self.holds(b, d)
                {
                    return true;
                }
            }
            Node::Release(a, b) => {
                if self.holds(b, g) {
                    return true;
                }
                if let Node::Release(c, d) = g.node()
                    && self.holds(a, c)
                    && self.holds(b, d)
                {
                    return true;
                }
            }
            _ => {}
        }
        let by_goal = match g.node() {
            Node::And(all) => all.iter().all(|g| self.holds(f, g)),
            Node::Or(all) => all.iter().any(|g| self.holds(f, g)),
            Node::Next(b) => f.is_universal() && self.holds(f, b),
            Node::Until(_, d) => self.holds(f, d),
            Node::Release(c, d) => self.holds(f, d) && (f.is_universal() || self.holds(f, c)),
            _ => false,
        };
        by_goal || matches!(f.node(), Node::And(all) if all.iter().any(|f| self.holds(f, g)))
    }
}

/// The valuations of which a formula without temporal operators is true, if they are not too many cubes.
fn label(formula: &Formula) -> Option<Label> {
    let label = match formula.node() {
        Node::True => Label::truth(),
        Node::False => Label::falsehood(),
        Node::Atom(atom) => Label::literal(*atom, true),
        Node::Not(inner) => match inner.node() {
            Node::Atom(atom) => Label::literal(*atom, false),
            _ => return None,
        },
        Node::And(all) => {
            let mut result = Label::truth();
            for f in all.iter() {
                result = result.and(&label(f)?);
                if result.cubes().len() > MAX_CUBES {
                    return None;
                }
            }
            result
        }
        Node::Or(all) => {
            let mut result = Label::falsehood();
            for f in all.iter() {
                result = result.or(&label(f)?);
                if result.cubes().len() > MAX_CUBES {
                    return None;
                }
            }
            result
        }
        Node::Next(_) | Node::Until(..) | Node::Release(..) => return None,
    };
    Some(label)
}
