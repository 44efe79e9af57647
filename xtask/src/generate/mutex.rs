//! Makes small models whose processes share variables under locks, as a rule.
//!
//! What leaves out states may rely on locks only where the rule is kept everywhere. So here and there
//! it is broken: a variable is used without its lock, a lock is set free by who does not hold it, is not set
//! free at all, or is taken in a way in which others notice. Transactions that never end, and such that
//! may, are frequent.

use super::Dice;
use super::race::{Race, braces};

/// The model of a seed.
pub fn mutex(seed: u64) -> Race {
    let mut dice = Dice::new(seed);
    let locks = dice.range(1, 3);
    let chan = dice.chance(40);
    let careful = dice.chance(60);
    let mut generator = Generator { dice, locks, chan, careful };
    let text = generator.model();
    let invariant = generator.dice.chance(15).then(|| {
        let (variable, number) = (generator.variable(), generator.number());
        format!("{variable} != {number}")
    });
    Race { text, invariant }
}

/// The state of making a model.
#[derive(Debug)]
struct Generator {
    dice: Dice,
    /// There are so many locks, `m0` and so on, and as many bytes that they protect, `v0` and so on; besides, a
    /// byte `u` that none protects.
    locks: usize,
    /// There is a channel `c`.
    chan: bool,
    /// No rule is broken.
    careful: bool,
}

impl Generator {
    fn model(&mut self) -> String {
        let mut units = vec!["byte u;".to_owned()];
        for n in 0..self.locks {
            let kind = self.one_of(&["bit", "bool", "byte"]);
            units.push(format!("{kind} m{n}; byte v{n};"));
        }
        if self.chan {
            let capacity = self.one_of(&["0", "1", "2", "3"]);
            units.push(format!("chan c = [{capacity}] of {{ byte }};"));
        }
        let processes = self.dice.range(2, 3);
        let run = self.dice.chance(15);
        for n in 0..processes {
            let header = match n {
                0 if run => "proctype P0()".to_owned(),
                _ => format!("active {}proctype P{n}()", self.one_of(&["", "", "", "[2] "])),
            };
            let length = self.dice.range(1, 3);
            let mut body = self.sequence(2, length);
            if n == 1 && run {
                let at = self.dice.below(body.len() + 1);
                body.insert(at, "run P0()".to_owned());
            }
            body.insert(0, "byte x, y".to_owned());
            units.push(braces(&header, &body));
        }
        units.join("\n") + "\n"
    }

    /// `length` statements outside of all locks, with others inside of them to this depth.
    fn sequence(&mut self, depth: usize, length: usize) -> Vec<String> {
        (0..length).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> String {
        match self.dice.below(100) {
            0..40 => {
                let lock = self.dice.below(self.locks);
                self.section(lock, depth).join(";\n")
            }
            40..55 if depth > 0 => self.choice(depth),
            55..70 if depth > 0 => self.repetition(depth),
            70..73 => "false".to_owned(),
            73..76 => {
                let length = self.dice.range(1, 2);
                let main = braces("", &self.sequence(0, length));
                format!("{main} unless {{ ({} == {}) }}", self.variable(), self.number())
            }
            _ => self.simple(None),
        }
    }

    fn choice(&mut self, depth: usize) -> String {
        let count = self.dice.range(1, 3);
        let mut options: Vec<_> = (0..count).map(|_| self.option(depth)).collect();
        if self.dice.chance(25) {
            options.push(format!(":: else -> {}", self.simple(None)));
        }
        format!("if\n{}\nfi", options.join("\n"))
    }

    fn repetition(&mut self, depth: usize) -> String {
        let count = self.dice.range(1, 2);
        let mut options: Vec<_> = (0..count).map(|_| self.option(depth)).collect();
        match self.dice.below(4) {
            0 => options = vec![":: skip".to_owned()],
            1 => {}
            _ => options.push(":: break".to_owned()),
        }
        format!("do\n{}\nod", options.join("\n"))
    }

    fn option(&mut self, depth: usize) -> String {
        let statements = match self.dice.below(4) {
            0 | 1 => {
                let lock = self.dice.below(self.locks);
                self.section(lock, depth - 1)
            }
            2 => vec![self.simple(None)],
            _ => vec!["skip".to_owned(), self.simple(None)],
        };
        format!(":: {}", statements.join(";\n").replace('\n', "\n   "))
    }

    /// What is done under a lock.
    fn section(&mut self, lock: usize, depth: usize) -> Vec<String> {
        let mut statements = vec![self.take(lock)];
        for _ in 0..self.dice.range(0, 3) {
            let statement = match self.dice.below(100) {
                0..12 if depth > 0 && self.locks > 1 => {
                    let other = (lock + self.dice.range(1, self.locks - 1)) % self.locks;
                    self.section(other, depth - 1).join(";\n")
                }
                12..20 => format!(
                    "if\n:: (v{lock} == {}) -> {}\n:: else\nfi",
                    self.number(),
                    self.simple(Some(lock))
                ),
                20..26 => "do\n:: x = 1\n:: break\nod".to_owned(),
                26..32 => {
                    let head = self.one_of(&["atomic", "d_step"]);
                    let body = [self.safe(lock), self.safe(lock)];
                    braces(head, &body)
                }
                _ => self.simple(Some(lock)),
            };
            statements.push(statement);
        }
        let free = format!("m{lock} = 0");
        match self.dice.below(100) {
            0..4 if !self.careful => {}
            4..7 if !self.careful => statements.extend([free.clone(), free]),
            7..11 => statements.push(braces("atomic", &[self.safe(lock), free])),
            _ => statements.push(free),
        }
        statements
    }

    fn take(&mut self, lock: usize) -> String {
        let m = format!("m{lock}");
        match self.dice.below(100) {
            0..10 => format!("d_step {{ {m} == 0 -> {m} = 1 }}"),
            10..20 => format!("atomic {{ !{m} -> {m} = 1 }}"),
            20..28 => format!("atomic {{ {m} == 0 -> {m} = 1; {} }}", self.safe(lock)),
            28..33 if !self.careful => format!("({m} == 0); {m} = 1"),
            33..37 if !self.careful => format!("atomic {{ x = 1; {m} == 0 -> {m} = 1 }}"),
            37..40 if !self.careful => {
                format!("skip;\ndo\n:: atomic {{ {m} == 0 -> {m} = 1 }}; break\n:: else\nod")
            }
            40..42 if !self.careful => format!("{m} = 1"),
            _ => format!("atomic {{ {m} == 0 -> {m} = 1 }}"),
        }
    }

    /// A step that is always possible, on what the lock protects.
    fn safe(&mut self, lock: usize) -> String {
        match self.dice.below(4) {
            0 => format!("v{lock} = (v{lock} + 1) % 3"),
            1 => format!("v{lock} = {}", self.number()),
            2 => format!("x = v{lock}"),
            _ => format!("assert(v{lock} != 2)"),
        }
    }

    /// A statement without others inside of it, under a lock or none.
    fn simple(&mut self, lock: Option<usize>) -> String {
        match (self.dice.below(100), lock) {
            (0..45, Some(lock)) => self.safe(lock),
            (45..50, Some(lock)) => format!("assert(v{lock} == x)"),
            (50..53, Some(lock)) => format!("(v{lock} != {})", self.number()),
            (53..65, _) => self.one_of(&["x = 1", "y = (y + 1) % 3", "skip"]).to_owned(),
            (65..75, _) => format!("u = {}", self.number()),
            (75..80, _) => "u = (u + 1) % 3".to_owned(),
            (80..86, _) => format!("assert(u != {})", self.number()),
            (86..89, _) => format!("(u == {})", self.number()),
            (89..93, _) if self.chan => self.one_of(&["c!1", "c?x"]).to_owned(),
            (93..95, _) if !self.careful => {
                let lock = self.dice.below(self.locks);
                self.safe(lock)
            }
            (95, _) => "x = 1 / x".to_owned(),
            (96, _) if !self.careful => "assert(m0 == 0)".to_owned(),
            _ => format!("x = {}", self.number()),
        }
    }

    fn variable(&mut self) -> String {
        match self.dice.below(3) {
            0 => "u".to_owned(),
            1 => format!("v{}", self.dice.below(self.locks)),
            _ => format!("m{}", self.dice.below(self.locks)),
        }
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
    use super::super::testing;
    use super::*;

    #[test]
    fn models_are_well_formed() {
        testing::are_well_formed(mutex);
    }

    /// Whether a lock is one is decided in another way for each of these.
    #[test]
    fn models_have_what_matters() {
        let words = [
            "bit m0",
            "byte m0",
            "atomic { m0 == 0 -> m0 = 1 }",
            "d_step { m0 == 0 -> m0 = 1 }",
            "atomic { !m0 -> m0 = 1 }",
            "(m0 == 0); m0 = 1",
            "x = 1; m0 == 0",
            "= 1 }; break",
            "unless",
            "do\n",
            "false",
            "c!1",
            "run P0()",
            "x = 1 / x",
        ];
        testing::have(mutex, &words);
    }
}
