//! Makes small models with processes that are alike, and often can be interchanged.
//!
//! What takes interchangeable processes for each other must know what tells them apart. So they have a number,
//! or a channel, of their own, which goes into arrays, variables, messages and other processes;
//! and now and then somebody does something with it that depends on which it is.

use super::Dice;
use super::race::{Race, braces};

/// The model of a seed.
pub fn crowd(seed: u64) -> Race {
    let mut dice = Dice::new(seed);
    let size = [2, 2, 3, 3, 3, 4][dice.below(6)];
    let identity = match dice.below(10) {
        0..4 => Identity::Pid,
        4..5 => Identity::Copy,
        5..8 => Identity::Parameter { first: dice.below(2) },
        _ => Identity::Channel,
    };
    let fair = dice.chance(60);
    let endless = dice.chance(40);
    let nobody = if dice.chance(75) { "255" } else { "0" };
    let server = dice.chance(50);
    let twins = dice.chance(20) && matches!(identity, Identity::Parameter { .. });
    let mut generator =
        Generator { dice, size, identity, fair, endless, nobody, server, twins, in_server: false };
    let text = generator.model();
    let invariant = generator.dice.chance(15).then(|| generator.invariant());
    Race { text, invariant }
}

/// What processes know themselves by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    /// `_pid`
    Pid,
    /// A variable that is `_pid` from the start.
    Copy,
    /// A parameter.
    Parameter { first: usize },
    /// A channel that is a parameter.
    Channel,
}

struct Generator {
    dice: Dice,
    /// How many there are.
    size: usize,
    identity: Identity,
    /// Nothing depends on who is who.
    fair: bool,
    /// They go on for ever.
    endless: bool,
    /// What stands for nobody.
    nobody: &'static str,
    /// There is a process that serves them.
    server: bool,
    /// For each of them there is another process that goes by the same number.
    twins: bool,
    in_server: bool,
}

impl Generator {
    fn model(&mut self) -> String {
        let Self { size, nobody, identity, .. } = *self;
        let room = size + 2;
        let mut units = vec![
            format!("byte flag[{room}];"),
            format!("byte owner = {nobody};"),
            "byte count;".to_owned(),
            format!("chan box = [{}] of {{ byte, byte }};", self.dice.range(1, 2)),
            format!("chan own[{room}] = [{}] of {{ byte }};", self.dice.below(2)),
        ];
        if self.dice.chance(25) {
            units.push(braces("active proctype Watcher()", &[self.watch()]));
        }
        let (header, declared) = match identity {
            Identity::Pid => (format!("active [{size}] proctype P()"), "byte x, v"),
            Identity::Copy => (format!("active [{size}] proctype P()"), "byte x, v, id = _pid"),
            Identity::Parameter { .. } => ("proctype P(byte id)".to_owned(), "byte x, v"),
            Identity::Channel => ("proctype P(chan mine)".to_owned(), "byte x, v"),
        };
        units.push(self.process(&header, declared));
        if self.twins {
            units.push(self.process("proctype Q(byte id)", "byte x, v"));
        }
        if self.server {
            self.in_server = true;
            let run = matches!(identity, Identity::Pid | Identity::Copy);
            let header = if run { "active proctype S()" } else { "proctype S()" };
            let declared = format!("byte x, v, seen[{room}]");
            units.push(self.process(header, &declared));
        }
        if matches!(identity, Identity::Parameter { .. } | Identity::Channel) {
            units.push(self.init());
        }
        units.join("\n") + "\n"
    }

    fn init(&mut self) -> String {
        let mut body = Vec::new();
        if self.server {
            body.push("run S()".to_owned());
        }
        for n in 0..self.size {
            match self.identity {
                Identity::Parameter { first } => {
                    body.push(format!("run P({})", n + first));
                    if self.twins {
                        body.push(format!("run Q({})", n + first));
                    }
                }
                _ => body.push(format!("run P(own[{n}])")),
            }
        }
        if self.dice.chance(80) {
            body = vec![braces("atomic", &body)];
        }
        if self.dice.chance(30) {
            body.push(self.watch());
        }
        braces("init", &body)
    }

    fn watch(&mut self) -> String {
        let condition = self.global_condition();
        match self.dice.below(4) {
            0 => format!("timeout;\n{}", self.assertion(&condition)),
            1 => format!("({condition});\n{}", "assert(count < 2)"),
            2 if !self.fair => "(_nr_pr == 1)".to_owned(),
            _ => format!("do\n:: ({condition}) -> {}\n:: timeout -> break\nod", self.count()),
        }
    }

    fn process(&mut self, header: &str, declared: &str) -> String {
        let length = self.dice.range(2, 4);
        let mut body = self.sequence(length);
        if self.endless || self.in_server {
            let options = body.join(";\n").replace('\n', "\n   ");
            let way_out = if self.dice.chance(30) { "\n:: timeout -> break" } else { "" };
            body = vec![format!("end: do\n:: {options}{way_out}\nod")];
        }
        body.insert(0, declared.to_owned());
        braces(header, &body)
    }

    fn sequence(&mut self, length: usize) -> Vec<String> {
        (0..length).map(|_| self.statement()).collect()
    }

    fn statement(&mut self) -> String {
        match self.dice.below(100) {
            0..12 => {
                let mut options: Vec<_> = (0..self.dice.range(1, 2))
                    .map(|_| format!(":: ({}) -> {}", self.condition(), self.simple()))
                    .collect();
                match self.dice.below(3) {
                    0 => options.push(format!(":: else -> {}", self.simple())),
                    1 => options.push(format!(":: {}", self.simple())),
                    _ => {}
                }
                format!("if\n{}\nfi", options.join("\n"))
            }
            12..24 => {
                let head = if self.dice.chance(70) { "atomic" } else { "d_step" };
                let first = format!("({})", self.condition());
                let body = [first, self.simple(), self.simple()];
                braces(head, &body[..self.dice.range(2, 3)])
            }
            _ => self.simple(),
        }
    }

    fn simple(&mut self) -> String {
        if !self.fair && self.dice.chance(12) {
            return self.unfair();
        }
        let number = self.dice.below(2);
        match self.dice.below(100) {
            0..10 => format!("flag[{}] = {number}", self.name()),
            10..18 => format!("owner = {}", self.name()),
            18..24 => format!("owner = {}", self.nobody),
            24..32 => self.count(),
            32..44 => match self.own() {
                true => format!("box!{},{number}", self.name()),
                false => format!("box?x,{number}"),
            },
            44..54 => match self.own() {
                true if self.dice.chance(30) => format!("box??eval({}),v", self.name()),
                _ => "box?x,v".to_owned(),
            },
            54..64 => match self.in_server {
                true => format!("own[x]!{number}"),
                false => format!("{}?v", self.channel()),
            },
            64..68 => match self.in_server {
                true => format!("seen[x] = {number}"),
                false => "x = owner".to_owned(),
            },
            68..76 => {
                let condition = self.condition();
                self.assertion(&condition)
            }
            76..80 => "v = count".to_owned(),
            80..90 => format!("({})", self.condition()),
            90..94 => format!("v = flag[{}]", self.name()),
            _ => "skip".to_owned(),
        }
    }

    /// Something that may depend on who does it.
    fn unfair(&mut self) -> String {
        let name = self.name();
        match self.dice.below(8) {
            0 => format!("({name} == 0 || count == 0)"),
            1 => format!("count = {name} % 3"),
            2 => format!("flag[({name} + 1) % {}] = 1", self.size),
            3 => "flag[0] = 1".to_owned(),
            4 => "owner = 1".to_owned(),
            5 => format!("assert({name} < 2)"),
            6 => format!("box!!{name},0"),
            _ => "assert(_nr_pr > 1)".to_owned(),
        }
    }

    fn assertion(&mut self, condition: &str) -> String {
        format!("assert({condition})")
    }

    fn count(&mut self) -> String {
        "count = (count + 1) % 3".to_owned()
    }

    fn condition(&mut self) -> String {
        let name = self.name();
        match self.dice.below(8) {
            0 | 1 => format!("owner == {name}"),
            2 => format!("owner != {name}"),
            3 => format!("flag[{name}] == {}", self.dice.below(2)),
            4 if self.in_server => "seen[x] == 0".to_owned(),
            4 => "x == owner".to_owned(),
            5 => "v != count".to_owned(),
            _ => self.global_condition(),
        }
    }

    fn global_condition(&mut self) -> String {
        match self.dice.below(4) {
            0 => format!("owner == {}", self.nobody),
            1 => "len(box) == 0".to_owned(),
            2 => format!("count != {}", self.dice.below(3)),
            _ => format!("count < {}", self.dice.range(1, 2)),
        }
    }

    fn invariant(&mut self) -> String {
        match self.fair || self.dice.chance(60) {
            true => self.global_condition(),
            false => format!("flag[{}] == 0", self.dice.below(2)),
        }
    }

    /// Whether the process at hand has a number that it can tell.
    fn own(&self) -> bool {
        !self.in_server && self.identity != Identity::Channel
    }

    /// Who is meant.
    fn name(&mut self) -> &'static str {
        match self.identity {
            _ if !self.own() || self.dice.chance(20) => "x",
            Identity::Pid => "_pid",
            _ => "id",
        }
    }

    fn channel(&mut self) -> String {
        match self.identity {
            Identity::Channel => "mine".to_owned(),
            _ => format!("own[{}]", self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn models_are_well_formed() {
        testing::are_well_formed(crowd);
    }

    /// Each of these tells processes apart in another way.
    #[test]
    fn models_have_what_matters() {
        let words = [
            "active [",
            "id = _pid",
            "run P(0)",
            "run P(1)",
            "run P(own",
            "run Q(",
            "proctype S",
            "flag[_pid]",
            "flag[id]",
            "own[x]!",
            "mine?",
            "seen[x]",
            "box??eval(",
            "owner = 1",
            "box!!",
            "_nr_pr",
            "timeout",
            "atomic",
            "d_step",
        ];
        testing::have(crowd, &words);
    }
}
