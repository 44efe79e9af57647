//! Makes small models with something to say about their infinite runs: formulas, never claims, labels.
//!
//! Most processes go on for ever, some end, some get stuck. Nothing but the property can be violated: there are no
//! assertions, no divisions, and a `d_step` waits at most at its front. Values stay below 3. The propositions of
//! formulas and claims are macros, `p0` and so on, about what processes change all the time.

use super::Dice;
use super::race::braces;

/// How many propositions there are.
const PROPOSITIONS: usize = 3;

/// A model, and what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporal {
    /// The model, with its never claims `c0` and so on.
    pub text: String,
    /// What is to hold: formulas that SPIN understands.
    pub formulas: Vec<String>,
    /// Others, with `X`.
    pub with_next: Vec<String>,
}

/// The model of a seed: with formulas and claims, or with labels.
pub fn temporal(seed: u64) -> Temporal {
    let mut dice = Dice::new(seed);
    let labels = dice.chance(30);
    let chans = (0..dice.range(0, 2)).map(|n| format!("q{n}")).collect();
    let mut generator = Generator { dice, labels, chans, label: 0 };
    let mut text = generator.model();
    if labels {
        return Temporal { text, formulas: Vec::new(), with_next: Vec::new() };
    }
    let formulas = (0..3).map(|_| generator.formula_of_size(false)).collect();
    let with_next = vec![generator.formula_of_size(true)];
    for n in 0..2 {
        text += &generator.claim(n);
    }
    Temporal { text, formulas, with_next }
}

/// The state of making a model.
#[derive(Debug)]
struct Generator {
    dice: Dice,
    /// The model has labels that say which runs are errors.
    labels: bool,
    chans: Vec<String>,
    /// Labels so far.
    label: usize,
}

impl Generator {
    fn model(&mut self) -> String {
        let mut units = vec![format!("byte g0; byte g1 = {}; bool b;", self.number())];
        for chan in self.chans.clone() {
            let capacity = self.one_of(&["0", "1", "2"]);
            units.push(format!("chan {chan} = [{capacity}] of {{ byte }};"));
        }
        // Only who is always there can be looked at.
        let remote = !self.labels && self.dice.chance(30);
        for n in 0..PROPOSITIONS {
            let proposition = match remote && n == 0 {
                true => "P0@here".to_owned(),
                false => self.proposition(),
            };
            units.push(format!("#define p{n} ({proposition})"));
        }
        let processes = self.dice.range(2, 3);
        let run = self.dice.chance(20);
        for n in 0..processes {
            let is_run = run && n + 1 == processes;
            let header = match is_run {
                true => format!("proctype P{n}()"),
                false => format!("active proctype P{n}()"),
            };
            let mut body = vec!["byte x".to_owned()];
            let first = self.dice.range(0, 2);
            body.extend(self.sequence(1, first));
            if n == 0 && run {
                let at = self.dice.range(1, body.len());
                body.insert(at, format!("run P{}()", processes - 1));
            }
            if n == 0 && remote {
                body.push("do\n:: here: g0 = (g0 + 1) % 3\n:: b = !b\nod".to_owned());
                if self.dice.chance(50) {
                    let last = self.repetition(2, false);
                    body.pop();
                    body.push(last.replacen("::", ":: here: skip;\n   skip\n::", 1));
                }
            } else if self.dice.chance(75) {
                let ends = self.dice.chance(25);
                body.push(self.repetition(2, ends));
            }
            units.push(braces(&header, &body));
        }
        units.join("\n") + "\n"
    }

    /// `length` statements, with others inside of them to this depth.
    fn sequence(&mut self, depth: usize, length: usize) -> Vec<String> {
        (0..length).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> String {
        let statement = match self.dice.below(100) {
            0..12 if depth > 0 => self.choice(depth),
            12..18 if depth > 0 => self.repetition(depth, true),
            18..30 => {
                let length = self.dice.range(2, 3);
                let body: Vec<_> = (0..length).map(|_| self.simple()).collect();
                braces("atomic", &body)
            }
            30..38 => {
                let first = match self.dice.chance(40) {
                    true => format!("({})", self.condition()),
                    false => self.change(),
                };
                let body = [first, self.change(), self.change()];
                braces("d_step", &body[..self.dice.range(2, 3)])
            }
            _ => self.simple(),
        };
        if self.labels && self.dice.chance(25) {
            self.label += 1;
            return format!("{}{}: {statement}", self.one_of(&["accept", "progress"]), self.label);
        }
        statement
    }

    fn choice(&mut self, depth: usize) -> String {
        let count = self.dice.range(1, 3);
        let mut options: Vec<_> = (0..count).map(|_| self.option(depth)).collect();
        if self.dice.chance(30) {
            options = vec![format!(":: ({}) -> {}", self.condition(), self.change())];
            options.push(format!(":: else -> {}", self.simple()));
        }
        format!("if\n{}\nfi", options.join("\n"))
    }

    fn repetition(&mut self, depth: usize, ends: bool) -> String {
        let count = self.dice.range(1, 3);
        let mut options: Vec<_> = (0..count).map(|_| self.option(depth)).collect();
        if self.dice.chance(15) {
            options.push(format!(":: timeout -> {}", self.change()));
        }
        if ends {
            let condition = self.condition();
            options.push(match self.dice.chance(50) {
                true => ":: break".to_owned(),
                false => format!(":: ({condition}) -> break"),
            });
        }
        format!("do\n{}\nod", options.join("\n"))
    }

    fn option(&mut self, depth: usize) -> String {
        let mut statements = Vec::new();
        if self.dice.chance(50) {
            statements.push(format!("({})", self.condition()));
        }
        let length = self.dice.range(1, 2);
        statements.extend(self.sequence(depth - 1, length));
        // SPIN refuses a loop of one statement that is always possible and does nothing.
        if let [only] = &mut statements[..] {
            *only = only.replace("skip", "b = !b").replace("(true)", "b = !b");
        }
        format!(":: {}", statements.join(";\n").replace('\n', "\n   "))
    }

    /// A statement without others inside of it.
    fn simple(&mut self) -> String {
        let chan = self.dice.pick(&self.chans).cloned();
        match (self.dice.below(100), chan) {
            (0..50, _) => self.change(),
            (50..68, _) => format!("({})", self.condition()),
            (68..82, Some(chan)) => format!("{chan}!{}", self.value()),
            (82..96, Some(chan)) => format!("{chan}?{}", self.one_of(&["x", "x", "1", "g0"])),
            _ => self.one_of(&["skip", "b = !b", "g0 = (g0 + 1) % 3"]).to_owned(),
        }
    }

    /// A statement that is always possible.
    fn change(&mut self) -> String {
        match self.dice.below(100) {
            0..25 => "b = !b".to_owned(),
            25..50 => {
                let global = self.one_of(&["g0", "g1"]);
                format!("{global} = ({global} + 1) % 3")
            }
            50..75 => format!("{} = {}", self.one_of(&["g0", "g1"]), self.value()),
            75..90 => format!("x = {}", self.one_of(&["0", "1", "g0", "(x + 1) % 3"])),
            _ => "skip".to_owned(),
        }
    }

    fn condition(&mut self) -> String {
        match self.dice.below(100) {
            0..15 => format!("x == {}", self.number()),
            15..20 => "true".to_owned(),
            _ => self.proposition(),
        }
    }

    /// Something about what all see.
    fn proposition(&mut self) -> String {
        let chan = self.dice.pick(&self.chans).cloned();
        match (self.dice.below(100), chan) {
            (0..25, _) => self.one_of(&["b", "!b"]).to_owned(),
            (25..35, Some(chan)) => format!("len({chan}) > 0"),
            (35..40, _) => "g0 == g1".to_owned(),
            (40..60, _) => format!("{} != {}", self.one_of(&["g0", "g1"]), self.number()),
            _ => format!("{} == {}", self.one_of(&["g0", "g1"]), self.number()),
        }
    }

    fn formula_of_size(&mut self, next: bool) -> String {
        let size = self.dice.range(2, 8);
        let formula = self.formula(size, next);
        match next {
            true if !formula.contains('X') => format!("X {formula}"),
            _ => formula,
        }
    }

    /// A formula with so many operators and propositions, or one more.
    fn formula(&mut self, size: usize, next: bool) -> String {
        if size <= 1 {
            return format!("p{}", self.dice.below(PROPOSITIONS));
        }
        if size == 2 || self.dice.chance(55) {
            let operators =
                if next { &["[]", "<>", "!", "X"][..] } else { &["[]", "<>", "[]", "<>", "!"] };
            let operator = operators[self.dice.below(operators.len())];
            return format!("({operator} {})", self.formula(size - 1, next));
        }
        let left = self.dice.range(1, size - 2);
        let operator = self.one_of(&["U", "U", "V", "&&", "||", "->", "->", "<->"]);
        format!("({} {operator} {})", self.formula(left, next), self.formula(size - 1 - left, next))
    }

    /// A never claim that is not made of a formula.
    fn claim(&mut self, number: usize) -> String {
        let count = self.dice.range(1, 3);
        let accepts: Vec<bool> = (0..count).map(|_| self.dice.chance(45)).collect();
        let name = |n: usize| format!("{}_{n}", if accepts[n] { "accept" } else { "S" });
        let mut states = Vec::new();
        for n in 0..count {
            let edges = self.dice.range(1, 3);
            let mut options: Vec<String> = (0..edges)
                .map(|_| {
                    let guard = self.guard();
                    match self.dice.chance(6) {
                        true => format!(":: {guard} -> break"),
                        false => format!(":: {guard} -> goto {}", name(self.dice.below(count))),
                    }
                })
                .collect();
            if n == 0 && self.dice.chance(50) {
                options.push(format!(":: true -> goto {}", name(0)));
            }
            states.push(format!("{}:\ndo\n{}\nod", name(n), options.join("\n")));
        }
        braces(&format!("never c{number}"), &states) + "\n"
    }

    fn guard(&mut self) -> String {
        let proposition = |dice: &mut Dice| format!("p{}", dice.below(PROPOSITIONS));
        match self.dice.below(4) {
            0 => "true".to_owned(),
            1 => proposition(&mut self.dice),
            2 => format!("!{}", proposition(&mut self.dice)),
            _ => format!("({} && !{})", proposition(&mut self.dice), proposition(&mut self.dice)),
        }
    }

    fn value(&mut self) -> String {
        self.one_of(&["0", "1", "2", "x"]).to_owned()
    }

    fn number(&mut self) -> String {
        self.dice.below(3).to_string()
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.dice.below(words.len())]
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_model() {
        for seed in 0..200 {
            assert_eq!(temporal(seed), temporal(seed));
        }
        assert_ne!(temporal(1), temporal(2));
    }

    #[test]
    fn models_are_well_formed() {
        for seed in 0..1000 {
            let Temporal { text, formulas, with_next } = temporal(seed);
            let formulas = formulas.into_iter().chain(with_next).collect();
            let options = spinward_promela::Options { formulas, ..Default::default() };
            let loaded = spinward_promela::load_text(Path::new("model.pml"), text, &options);
            assert!(!loaded.has_errors(), "seed {seed}: {:?}", loaded.diagnostics);
        }
    }

    /// Each of these is treated in another way by who looks for infinite runs.
    #[test]
    fn models_have_what_matters() {
        let models: Vec<Temporal> = (0..1000).map(temporal).collect();
        let words = [
            "= [0]", "= [1]", "atomic", "d_step", "else ->", "timeout", "accept", "progress",
            "never c0", "P0@here", "run P", "-> break", "len(q0)",
        ];
        for word in words {
            let count = models.iter().filter(|model| model.text.contains(word)).count();
            assert!(count >= 20, "{word}: in {count} models");
        }
        for operator in ["[]", "<>", "!", " U ", " V ", "&&", "||", "->", "<->"] {
            let has = |model: &&Temporal| model.formulas.iter().any(|it| it.contains(operator));
            assert!(models.iter().filter(has).count() >= 100, "{operator}");
        }
        assert!(models.iter().all(|model| model.formulas.iter().all(|it| !it.contains('X'))));
    }
}
