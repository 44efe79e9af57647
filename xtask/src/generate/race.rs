//! Makes small models whose processes race: few statements, most of them about what is shared.
//!
//! What leaves out states must know which moves matter to whom. So nearly every statement here reads
//! or writes what others do, and asserts often. Whether a statement can block, even within a `d_step`,
//! does not matter: then that is an error to be found. Values stay below 3, so that models stay small.

use super::Dice;

/// A model, and what is to hold in all its states beside what it says itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The model.
    pub text: String,
    /// An expression over globals.
    pub invariant: Option<String>,
}

/// The model of a seed.
pub fn race(seed: u64) -> Race {
    let mut dice = Dice::new(seed);
    let globals = dice.range(1, 3);
    let array = dice.chance(30);
    let remote = dice.chance(15);
    let lenient = dice.chance(40);
    let chans: Vec<String> = (0..dice.range(0, 3)).map(|n| format!("c{n}")).collect();
    let claims = if dice.chance(25) { claims(&mut dice, &chans) } else { Vec::new() };
    let mut generator = Generator {
        dice,
        globals,
        array,
        remote,
        lenient,
        chans,
        claims,
        process: 0,
        parameter: None,
        alias: false,
        labels: 0,
    };
    let text = generator.model();
    let invariant = generator.dice.chance(15).then(|| generator.invariant());
    Race { text, invariant }
}

/// Who claims which ends of channels: `xs` or `xr`, at random.
fn claims(dice: &mut Dice, chans: &[String]) -> Vec<Claim> {
    let ends = chans.iter().flat_map(|chan| [(chan, true), (chan, false)]);
    let ends: Vec<_> = ends.filter(|_| dice.chance(60)).collect();
    ends.into_iter()
        .map(|(chan, send)| Claim { chan: chan.clone(), send, process: dice.below(3) })
        .collect()
}

/// A process says that nobody else uses an end of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Claim {
    chan: String,
    send: bool,
    process: usize,
}

/// What a process that is run is handed as `in`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parameter {
    Chan,
    Byte,
}

/// The state of making a model.
#[derive(Debug)]
struct Generator {
    dice: Dice,
    /// There are so many global bytes, `g0` and so on.
    globals: usize,
    /// There is an array `a`.
    array: bool,
    /// Process 0 is looked at by others.
    remote: bool,
    /// Most places where a process may wait are valid end states, so that a deadlock is rare.
    lenient: bool,
    chans: Vec<String>,
    /// What processes say they use alone. Mostly others keep to it.
    claims: Vec<Claim>,
    /// The process at hand.
    process: usize,
    parameter: Option<Parameter>,
    /// It has a name `v` for a channel, which may be that of another one later.
    alias: bool,
    labels: usize,
}

impl Generator {
    fn model(&mut self) -> String {
        let mut units = Vec::new();
        for n in 0..self.globals {
            units.push(format!("byte g{n}{};", self.one_of(&["", " = 1"])));
        }
        if self.array {
            units.push("byte a[3];".to_owned());
        }
        for chan in self.chans.clone() {
            let capacity = self.one_of(&["0", "1", "1", "2"]);
            units.push(format!("chan {chan} = [{capacity}] of {{ byte }};"));
        }
        let runs = self.dice.chance(35);
        let processes = self.dice.range(2, 4);
        for n in 0..processes {
            units.push(self.process(n, runs && n > 0));
        }
        if runs {
            units.push(self.init(processes));
        }
        units.join("\n") + "\n"
    }

    fn process(&mut self, n: usize, is_run: bool) -> String {
        self.parameter = match is_run {
            true if self.chans.is_empty() => Some(Parameter::Byte),
            true => Some(Parameter::Chan),
            false => None,
        };
        let mut header = match self.parameter {
            Some(Parameter::Chan) => format!("proctype P{n}(chan in)"),
            Some(Parameter::Byte) => format!("proctype P{n}(byte in)"),
            None => format!("active {}proctype P{n}()", self.one_of(&["", "", "[2] "])),
        };
        if self.dice.chance(6) {
            header += &format!(" provided (g0 != {})", self.number());
        }
        self.process = n;
        self.alias = !self.claims.is_empty() && self.dice.chance(30);
        let length = self.dice.range(1, 5);
        let mut body = self.sequence(2, length);
        if n == 0 && self.remote {
            let at = self.dice.below(body.len() + 1);
            body.insert(at, format!("here: {}", self.simple()));
        }
        let mut first = vec!["byte x, y".to_owned()];
        if self.alias {
            first.push(format!("chan v = {}", self.chans[0]));
        }
        let own = self.claims.iter().filter(|claim| claim.process == n);
        first.extend(own.map(|Claim { chan, send, .. }| claim(*send, chan)));
        if self.parameter == Some(Parameter::Chan)
            && !self.claims.is_empty()
            && self.dice.chance(60)
        {
            first.push(claim(self.dice.chance(50), "in"));
        }
        body.splice(0..0, first);
        braces(&header, &body)
    }

    fn init(&mut self, processes: usize) -> String {
        let mut body: Vec<String> = Vec::new();
        for _ in 0..self.dice.range(1, 3) {
            let which = self.dice.range(1, processes - 1);
            let argument = self.dice.pick(&self.chans).cloned();
            let argument = argument.unwrap_or_else(|| self.number());
            body.push(format!("run P{which}({argument})"));
        }
        match self.dice.below(10) {
            0..5 => body = vec![braces("atomic", &body)],
            5..7 => {
                body.truncate(1);
                let round = body.join(";\n");
                body = vec![
                    "byte n".to_owned(),
                    format!("do\n:: n < 2 -> {round}; n++\n:: else -> break\nod"),
                ];
            }
            _ => {}
        }
        match self.dice.below(3) {
            0 => body.push("(_nr_pr == 1)".to_owned()),
            1 => body.push("assert(g0 < 2)".to_owned()),
            _ => {}
        }
        braces("init", &body)
    }

    fn invariant(&mut self) -> String {
        let (global, number) = (self.dice.below(self.globals), self.number());
        match self.dice.chance(30) && self.globals > 1 {
            true => format!("g0 != {number} || g1 != {}", self.number()),
            false => format!("g{global} != {number}"),
        }
    }

    /// `length` statements, with others inside of them to this depth.
    fn sequence(&mut self, depth: usize, length: usize) -> Vec<String> {
        (0..length).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple();
        }
        match self.dice.below(100) {
            0..18 => {
                let count = self.dice.range(1, 3);
                let mut options = self.options(depth, count);
                // With claims an `else` must not stand beside a channel.
                if self.claims.is_empty() && self.dice.chance(35) {
                    options.push(format!(":: else -> {}", self.simple()));
                }
                format!("{}if\n{}\nfi", self.end_label(0), options.join("\n"))
            }
            18..30 => {
                let count = self.dice.range(1, 2);
                let mut options = self.options(depth, count);
                options.push(match self.dice.below(3) {
                    0 => ":: break".to_owned(),
                    1 => format!(":: ({}) -> break", self.condition()),
                    _ if !self.claims.is_empty() => ":: break".to_owned(),
                    _ => ":: else -> break".to_owned(),
                });
                format!("{}do\n{}\nod", self.end_label(33), options.join("\n"))
            }
            30..40 => {
                let head = self.one_of(&["atomic", "atomic", "d_step"]);
                let length = self.dice.range(1, 3);
                // A `d_step` cannot look into another process.
                let remote = self.remote;
                self.remote &= head != "d_step";
                let body = self.sequence(0, length);
                self.remote = remote;
                braces(head, &body)
            }
            40..43 => {
                let length = self.dice.range(1, 2);
                let main = braces("", &self.sequence(0, length));
                let escape = [format!("({})", self.condition()), self.simple()];
                format!("{main} unless {}", braces("", &escape))
            }
            _ => self.end_label(0) + &self.simple(),
        }
    }

    /// A label for a valid end, in `percent` of 100 cases or in most if the model is lenient.
    fn end_label(&mut self, percent: usize) -> String {
        let percent = if self.lenient { 85 } else { percent };
        if !self.dice.chance(percent) {
            return String::new();
        }
        self.labels += 1;
        format!("end{}: ", self.labels)
    }

    fn options(&mut self, depth: usize, count: usize) -> Vec<String> {
        let mut options = Vec::new();
        for _ in 0..count {
            let guard = match self.dice.chance(50) {
                true => self.simple(),
                false => format!("({})", self.condition()),
            };
            let length = self.dice.range(0, 2);
            let mut option = vec![guard];
            option.extend(self.sequence(depth - 1, length));
            options.push(format!(":: {}", option.join(";\n").replace('\n', "\n   ")));
        }
        options
    }

    /// A statement without others inside of it.
    fn simple(&mut self) -> String {
        match self.dice.below(100) {
            0..14 => self.step(Self::local),
            14..28 => format!("{} = {}", self.local(), self.value()),
            28..42 => format!("{} = {}", self.global(), self.local_value()),
            42..50 => self.step(Self::global),
            50..56 => format!("assert({})", self.comparison()),
            56..58 => format!("assert({} != 2)", self.local()),
            58..75 => match self.chan(true) {
                Some(chan) => {
                    let operator = if self.dice.chance(93) { "!" } else { "!!" };
                    format!("{chan}{operator}{}", self.local_value())
                }
                None => self.step(Self::global),
            },
            75..92 => match self.chan(false) {
                Some(chan) => {
                    let operator = if self.dice.chance(90) { "?" } else { "??" };
                    format!("{chan}{operator}{}", self.received())
                }
                None => format!("({})", self.comparison()),
            },
            92..95 => format!("({})", self.condition()),
            95..96 => format!("{} = ({})", self.local(), self.comparison()),
            96..97 if self.alias => {
                let chan = self.dice.pick(&self.chans).cloned().unwrap_or_default();
                format!("v = {chan}")
            }
            96..98 => format!("printf(\"%d\\n\", {})", self.value()),
            _ => "skip".to_owned(),
        }
    }

    /// A variable goes one up.
    fn step(&mut self, variable: fn(&mut Self) -> String) -> String {
        let variable = variable(self);
        format!("{variable} = ({variable} + 1) % 3")
    }

    /// What is done with a message.
    fn received(&mut self) -> String {
        match self.dice.below(100) {
            0..52 => self.local(),
            52..72 => self.number(),
            72..92 => format!("eval({})", self.local()),
            _ => self.global(),
        }
    }

    /// A condition that can be part of a statement.
    fn condition(&mut self) -> String {
        let asked = self.dice.pick(&self.chans).cloned();
        match (self.dice.below(100), asked) {
            (0..10, Some(chan)) => {
                format!("{}({chan})", self.one_of(&["nempty", "nfull", "empty", "full"]))
            }
            (10..13, _) => "timeout".to_owned(),
            _ => self.comparison(),
        }
    }

    /// A condition that can stand anywhere.
    fn comparison(&mut self) -> String {
        let asked = self.dice.pick(&self.chans).cloned();
        match (self.dice.below(100), asked) {
            (0..40, _) => format!("{} == {}", self.local(), self.number()),
            (40..75, _) => format!("{} == {}", self.global(), self.number()),
            (75..79, Some(chan)) => format!("len({chan}) > 0"),
            (79..83, Some(chan)) => format!("{}({chan})", self.one_of(&["nempty", "nfull"])),
            (83..85, _) => "_nr_pr < 4".to_owned(),
            (85..88, _) => format!("_pid != {}", self.number()),
            (88..100, _) if self.remote => match self.dice.chance(50) {
                true => "P0[0]@here".to_owned(),
                false => format!("P0[0]:x == {}", self.number()),
            },
            _ => format!("{} < {}", self.local(), self.dice.range(1, 3)),
        }
    }

    fn value(&mut self) -> String {
        if self.dice.chance(25) { self.global() } else { self.local_value() }
    }

    /// A value that nobody else can change.
    fn local_value(&mut self) -> String {
        match self.dice.below(100) {
            0..40 => self.number(),
            40..50 if self.parameter == Some(Parameter::Byte) => "in".to_owned(),
            _ => self.local(),
        }
    }

    fn number(&mut self) -> String {
        self.dice.below(3).to_string()
    }

    fn local(&mut self) -> String {
        self.one_of(&["x", "y"]).to_owned()
    }

    fn global(&mut self) -> String {
        match self.array && self.dice.chance(30) {
            true => format!("a[{}]", self.one_of(&["0", "1", "x % 3", "_pid % 3"])),
            false => format!("g{}", self.dice.below(self.globals)),
        }
    }

    /// A channel to send to, or to receive from.
    fn chan(&mut self, send: bool) -> Option<String> {
        if self.parameter == Some(Parameter::Chan) && self.dice.chance(40) {
            return Some("in".to_owned());
        }
        if self.alias && self.dice.chance(30) {
            return Some("v".to_owned());
        }
        let chan = self.dice.pick(&self.chans).cloned()?;
        let claims = self.claims.iter();
        let of_others = claims.filter(|it| it.chan == chan && it.send == send);
        let is_taken = of_others.filter(|it| it.process != self.process).count() > 0;
        (!is_taken || self.dice.chance(20)).then_some(chan)
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.dice.below(words.len())]
    }
}

/// Says that nobody else uses an end of a channel.
fn claim(send: bool, chan: &str) -> String {
    format!("{} {chan}", if send { "xs" } else { "xr" })
}

/// Statements between braces, one to a line.
pub(super) fn braces(head: &str, statements: &[String]) -> String {
    let body = statements.join(";\n").replace('\n', "\n    ");
    format!("{head}{}{{\n    {body}\n}}", if head.is_empty() { "" } else { " " })
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn a_seed_gives_the_same_model() {
        for seed in 0..200 {
            assert_eq!(race(seed), race(seed));
        }
        assert_ne!(race(1), race(2));
    }

    #[test]
    fn models_are_well_formed() {
        testing::are_well_formed(race);
    }

    /// Whether a move can be left out is decided in another way for each of these.
    #[test]
    fn models_have_what_matters() {
        let words = [
            "= [0]",
            "= [1]",
            "chan in",
            "byte in",
            "byte a[3]",
            "atomic",
            "d_step",
            "if\n",
            "do\n",
            "else ->",
            "unless",
            "timeout",
            "end1:",
            "assert(",
            "nempty(",
            "nfull(",
            "empty(",
            "len(",
            "!!",
            "??",
            "eval(",
            "_nr_pr",
            "_pid",
            "P0[0]@here",
            "P0[0]:x",
            "provided",
            "printf",
            "run P",
            ":: n < 2 -> run",
            "xr c",
            "xs c",
            "xr in",
            "xs in",
            "chan v",
            "v = c",
        ];
        testing::have(race, &words);
    }
}
