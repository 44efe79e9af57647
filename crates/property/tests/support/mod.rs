//! What tests and examples share: formulas from text, random formulas and runs, and how all forms of an
//! automaton are held against each other.

#![allow(dead_code, reason = "each test uses some of it")]

use rand_core::Rng;
use spinward_property::hoa::read as read_hoa;
use spinward_property::print::{hoa, hoa_by_state};
use spinward_property::{
    Automaton, Cube, Formula, Label, Lasso, accepted_word, accepts, buchi, degeneralize, expand,
    holds, intersection, translate, translate_to_buchi,
};

/// A formula in the notation of the collections: `p0`, `!`, `&`, `|`, `->`, `<->`, `X`, `F` or `<>`,
/// `G` or `[]`, `U`, `W`, `R`, `M`. Unary operators bind most tightly, then the temporal ones.
pub fn parse(text: &str) -> Formula {
    read(text).0
}

/// The same formula in SPIN's notation as it is written, with parentheses; `a W b` as SPIN reads it in
/// models, `[]a || (a U b)`.
pub fn for_spin(text: &str) -> String {
    read(text).1
}

/// A formula, and its text for SPIN.
type Read = (Formula, String);

fn read(text: &str) -> Read {
    let mut reader = Reader { rest: text };
    let read = reader.equivalence();
    assert!(reader.rest.trim().is_empty(), "in {text}: {}", reader.rest);
    read
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn take(&mut self, symbol: &str) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(symbol);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn equivalence(&mut self) -> Read {
        let (a, left) = self.implication();
        if !self.take("<->") {
            return (a, left);
        }
        let (b, right) = self.equivalence();
        (a.equivalent(&b), format!("({left} <-> {right})"))
    }

    fn implication(&mut self) -> Read {
        let (a, left) = self.disjunction();
        if !self.take("->") {
            return (a, left);
        }
        let (b, right) = self.implication();
        (a.implies(&b), format!("({left} -> {right})"))
    }

    fn disjunction(&mut self) -> Read {
        let (mut a, mut left) = self.conjunction();
        while self.take("||") || self.take("|") {
            let (b, right) = self.conjunction();
            (a, left) = (Formula::or([a, b]), format!("({left} || {right})"));
        }
        (a, left)
    }

    fn conjunction(&mut self) -> Read {
        let (mut a, mut left) = self.temporal();
        while self.take("&&") || self.take("&") {
            let (b, right) = self.temporal();
            (a, left) = (Formula::and([a, b]), format!("({left} && {right})"));
        }
        (a, left)
    }

    fn temporal(&mut self) -> Read {
        let (a, left) = self.unary();
        for (symbol, make) in OPERATORS {
            if self.take(symbol) {
                let (b, right) = self.temporal();
                let text = match symbol {
                    "W" => format!("([]{left} || ({left} U {right}))"),
                    "M" => format!("({right} U ({left} && {right}))"),
                    "R" => format!("({left} V {right})"),
                    _ => format!("({left} {symbol} {right})"),
                };
                return (make(&a, &b), text);
            }
        }
        (a, left)
    }

    fn unary(&mut self) -> Read {
        for (symbol, in_spin, make) in UNARY {
            if self.take(symbol) {
                let (a, text) = self.unary();
                return (make(&a), format!("{in_spin}{text}"));
            }
        }
        if self.take("(") {
            let inner = self.equivalence();
            assert!(self.take(")"), "closing parenthesis before {}", self.rest);
            return inner;
        }
        if self.take("true") {
            return (Formula::truth(), "true".to_owned());
        }
        if self.take("false") {
            return (Formula::falsehood(), "false".to_owned());
        }
        assert!(self.take("p"), "an atom before {}", self.rest);
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        (Formula::atom(number.parse().expect("a number")), format!("p{number}"))
    }
}

type Binary = fn(&Formula, &Formula) -> Formula;

const OPERATORS: [(&str, Binary); 5] = [
    ("U", Formula::until),
    ("W", Formula::weak_until),
    ("R", Formula::release),
    ("V", Formula::release),
    ("M", Formula::strong_release),
];

type Unary = fn(&Formula) -> Formula;

const UNARY: [(&str, &str, Unary); 6] = [
    ("!", "!", Formula::not),
    ("X", "X ", Formula::next),
    ("<>", "<>", Formula::eventually),
    ("F", "<>", Formula::eventually),
    ("[]", "[]", Formula::always),
    ("G", "[]", Formula::always),
];

fn below(random: &mut impl Rng, bound: u32) -> u32 {
    random.next_u32() % bound
}

/// A random formula with at most so many nodes.
pub fn random_formula(random: &mut impl Rng, nodes: u32, atoms: u32) -> Formula {
    if nodes <= 1 {
        return match below(random, 12) {
            0 => Formula::truth(),
            1 => Formula::falsehood(),
            _ => Formula::atom(below(random, atoms)),
        };
    }
    let choice = below(random, 12);
    if choice < 4 || nodes == 2 {
        let inner = random_formula(random, nodes - 1, atoms);
        return match choice % 4 {
            0 => inner.not(),
            1 => inner.next(),
            2 => inner.eventually(),
            _ => inner.always(),
        };
    }
    let left = 1 + below(random, nodes - 2);
    let a = random_formula(random, left, atoms);
    let b = random_formula(random, nodes - 1 - left, atoms);
    match choice {
        4 => a.until(&b),
        5 => a.release(&b),
        6 => a.weak_until(&b),
        7 => a.strong_release(&b),
        8 => Formula::and([a, b]),
        9 => Formula::or([a, b]),
        10 => a.implies(&b),
        _ => a.equivalent(&b),
    }
}

/// A random run.
pub fn random_lasso(random: &mut impl Rng, atoms: u32) -> Lasso {
    let valuation = |random: &mut _| u64::from(below(random, 1 << atoms));
    let length = below(random, 4);
    let prefix = (0..length).map(|_| valuation(random)).collect();
    let length = 1 + below(random, 4);
    Lasso { prefix, cycle: (0..length).map(|_| valuation(random)).collect() }
}

/// Holds all forms of the automata of a formula and its negation against the evaluator and each other;
/// tells what is wrong.
pub fn examine(formula: &Formula, random: &mut impl Rng, atoms: u32) -> Result<(), String> {
    let wrong = |what: &str, lasso: &Lasso| Err(format!("{what} of {formula:?} on {lasso:?}"));
    let mut simplified = Vec::new();
    let mut forms = Vec::new();
    for (sign, formula) in [(true, formula.clone()), (false, formula.not())] {
        let automaton = translate(&formula).map_err(|e| e.to_string())?;
        let one_set = degeneralize(&automaton);
        if one_set.sets != 1 {
            return Err(format!(
                "degeneralized automaton of {formula:?} has {} sets",
                one_set.sets
            ));
        }
        let by_state = buchi(&automaton);
        let claim = translate_to_buchi(&formula).map_err(|e| e.to_string())?;
        forms.push((sign, "smallest automaton with accepting states", claim.automaton()));
        forms.push((sign, "expansion", expand(&formula).map_err(|e| e.to_string())?));
        forms.push((sign, "degeneralized automaton", one_set));
        forms.push((sign, "automaton with accepting states", by_state.automaton()));
        let printed = [hoa(&automaton, &[], "f"), hoa_by_state(&by_state, &[], "f")];
        for (what, text) in ["HOA", "HOA by state"].into_iter().zip(printed) {
            let (read, texts) = read_hoa(&text).map_err(|e| format!("{e} in {text}"))?;
            forms.push((sign, what, renamed(read, &texts)));
        }
        forms.push((sign, "automaton", automaton.clone()));
        simplified.push(automaton);
    }
    let product = intersection(&simplified[0], &simplified[1]).map_err(|e| e.to_string())?;
    if let Some(lasso) = accepted_word(&product) {
        return wrong("both automata", &lasso);
    }
    let mut lassos: Vec<Lasso> = (0..8).map(|_| random_lasso(random, atoms)).collect();
    for (sign, automaton) in [true, false].into_iter().zip(&simplified) {
        if let Some(lasso) = accepted_word(automaton) {
            if holds(formula, &lasso) != sign {
                return wrong("word found", &lasso);
            }
            lassos.push(lasso);
        }
    }
    for lasso in &lassos {
        let truth = holds(formula, lasso);
        for (sign, what, automaton) in &forms {
            if accepts(automaton, lasso) != (truth == *sign) {
                let which = if *sign { "positive" } else { "negated" };
                return wrong(&format!("{which} {what}"), lasso);
            }
        }
    }
    Ok(())
}

/// With the atoms that the names `p0`, `p1`, ... stand for.
fn renamed(mut automaton: Automaton, texts: &[String]) -> Automaton {
    let atom = |text: &String| text[1..].parse::<u32>().expect("p and a number");
    let bits = |bits: u64| {
        let numbers = texts.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
        numbers.fold(0, |bits, (_, text)| bits | 1 << atom(text))
    };
    for edge in automaton.states.iter_mut().flatten() {
        edge.label = Label::of(
            edge.label
                .cubes()
                .iter()
                .map(|cube| Cube { positive: bits(cube.positive), negative: bits(cube.negative) }),
        );
    }
    automaton.atoms = bits(automaton.atoms);
    automaton
}

pub mod collections;
