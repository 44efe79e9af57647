//! Expressions: arbitrary ones, ones with few values, and conditions.

use super::Generator;
use super::ast::{Class, Expr};
use super::scope::{Chan, Frame, Seg, Shape, Ty, Var};

/// Numbers at the edges of types.
const ODD: [i64; 16] = [
    -1,
    -2,
    7,
    8,
    127,
    128,
    -128,
    255,
    256,
    300,
    32767,
    -32768,
    65535,
    65537,
    1_000_000,
    2_147_483_647,
];

impl Generator {
    /// The text of a variable, with an index chosen for each array on the way.
    pub fn access(&mut self, frame: &Frame, path: &[Seg]) -> String {
        let mut text = String::new();
        for seg in path {
            match seg {
                Seg::Text(name) => text += name,
                Seg::Index(length) => {
                    let index = self.index(frame, path, *length);
                    text += &format!("[{index}]");
                }
            }
        }
        text
    }

    /// An index in range: SPIN does not allow one that reads the array itself.
    fn index(&mut self, frame: &Frame, path: &[Seg], length: usize) -> String {
        let root = match path.first() {
            Some(Seg::Text(name)) => name.clone(),
            _ => String::new(),
        };
        let usable: Vec<Var> = frame
            .vars
            .iter()
            .filter(|var| var.plain() && var.ty.natural() && var.root() != root)
            .cloned()
            .collect();
        match self.dice.below(5) {
            0 => {
                self.feature("_pid");
                format!("_pid % {length}")
            }
            1 | 2 => match self.dice.pick(&usable) {
                Some(var) => format!("{} % {length}", var.root()),
                None => "0".to_owned(),
            },
            _ => self.dice.below(length).to_string(),
        }
    }

    /// The text of a channel.
    pub fn chan_text(&mut self, frame: &Frame, chan: &Chan) -> String {
        if chan.path.len() > 1 {
            self.feature("array of channels");
        }
        self.access(frame, &chan.path)
    }

    /// The value of some variable.
    fn read(&mut self, frame: &Frame) -> Expr {
        let Some(var) = self.dice.pick(&frame.vars).cloned() else {
            return self.literal();
        };
        self.note_variable(&var);
        Expr::atom(self.access(frame, &var.path))
    }

    /// Enters what kind of variable this is into the features.
    pub fn note_variable(&mut self, var: &Var) {
        let indexes = var.path.iter().filter(|seg| matches!(seg, Seg::Index(_))).count();
        let field =
            var.path.iter().any(|seg| matches!(seg, Seg::Text(name) if name.starts_with('.')));
        let nested = var.path.iter().any(|seg| match seg {
            Seg::Text(name) => name.matches('.').count() > 1,
            Seg::Index(_) => false,
        });
        if field {
            self.feature("typedef field");
            if matches!(var.path.get(1), Some(Seg::Index(_))) {
                self.feature("array of structs");
            }
            if nested {
                self.feature("nested typedef field");
            }
        }
        if indexes > 0 {
            self.feature("array");
        }
    }

    /// A number, small or odd.
    pub fn literal(&mut self) -> Expr {
        if self.dice.chance(15)
            && let Some(name) = self.dice.pick(&self.constants).cloned()
        {
            self.feature("macro constant");
            return Expr::atom(name);
        }
        if self.dice.chance(30) {
            self.feature("odd value");
            let number = ODD[self.dice.below(ODD.len())];
            return match number {
                0.. => Expr::atom(number.to_string()),
                _ => Expr::atom(format!("({number})")),
            };
        }
        Expr::atom(self.dice.below(5).to_string())
    }

    /// Any expression at all.
    pub fn expr(&mut self, frame: &Frame, depth: usize) -> Expr {
        if depth == 0 || self.dice.chance(25) {
            return self.leaf(frame);
        }
        let choice = self.dice.below(20);
        let sub = |generator: &mut Self| generator.expr(frame, depth - 1);
        match choice {
            0..5 => {
                let operator = ["+", "-", "*", "&", "|", "^"][self.dice.below(6)];
                if matches!(operator, "&" | "|" | "^") {
                    self.feature("bit operator");
                } else {
                    self.feature("arithmetic");
                }
                Expr::binary(sub(self), operator, sub(self))
            }
            5..8 => {
                // The divisor is made odd where it is not a number above zero.
                self.feature("division");
                let operator = ["/", "%"][self.dice.below(2)];
                let left = sub(self);
                let divisor = match self.dice.below(3) {
                    0 => format!("({} | 1)", self.leaf(frame)),
                    // The least number divided by -1 overflows, so a divisor is never -1.
                    _ => self.dice.range(1, 9).to_string(),
                };
                match divisor.starts_with('(') {
                    true => Expr::binary(
                        Expr::atom(format!("({left} & 65535)")),
                        operator,
                        Expr::atom(divisor),
                    ),
                    false => Expr::binary(left, operator, Expr::atom(divisor)),
                }
            }
            8 | 9 => {
                self.feature("shift");
                let operator = ["<<", ">>"][self.dice.below(2)];
                let left = sub(self);
                let count = match self.dice.below(3) {
                    0 => format!("({} & 31)", self.leaf(frame)),
                    1 => self.dice.below(32).to_string(),
                    _ => self.dice.below(4).to_string(),
                };
                Expr::binary(left, operator, Expr::atom(count))
            }
            10 | 11 => {
                let operator = ["~", "-", "!"][self.dice.below(3)];
                self.feature("unary operator");
                Expr::Unary(operator, Box::new(sub(self)))
            }
            12..15 => {
                let operator = ["==", "!=", "<", "<=", ">", ">="][self.dice.below(6)];
                Expr::binary(sub(self), operator, sub(self))
            }
            15 | 16 => {
                self.feature("&& ||");
                let operator = ["&&", "||"][self.dice.below(2)];
                Expr::binary(sub(self), operator, sub(self))
            }
            17 | 18 => {
                self.feature("conditional expression");
                let parts = [sub(self), sub(self), sub(self)];
                Expr::Either(Box::new(parts))
            }
            _ => self.leaf(frame),
        }
    }

    /// An expression without operators.
    fn leaf(&mut self, frame: &Frame) -> Expr {
        match self.dice.below(40) {
            0..23 => self.read(frame),
            23..32 => self.literal(),
            32 => {
                self.feature("_pid");
                Expr::atom("_pid")
            }
            33 => {
                self.feature("_nr_pr");
                Expr::atom("_nr_pr")
            }
            34 | 35 => match self.dice.pick(&self.mtypes).cloned() {
                Some(name) => Expr::atom(name),
                None => self.literal(),
            },
            36 | 37 => match self.dice.pick(&frame.chans).cloned() {
                Some(chan) => {
                    self.feature("len");
                    let name = self.chan_text(frame, &chan);
                    Expr::atom(format!("len({name})"))
                }
                None => self.read(frame),
            },
            _ => self.remote(frame).unwrap_or_else(|| self.read(frame)),
        }
    }

    /// A look at another process: where it is, or what a variable of it holds.
    pub fn remote(&mut self, frame: &Frame) -> Option<Expr> {
        if self.class == Class::Priority && self.dice.chance(50) {
            self.feature("get_priority");
            return Some(Expr::atom("get_priority(_pid)"));
        }
        if self.no_remote {
            return None;
        }
        // SPIN wants the proctype before its use.
        let watched: Vec<(String, usize)> = self
            .plans
            .iter()
            .enumerate()
            .filter(|(number, plan)| plan.watched && *number < frame.plan)
            .filter_map(|(_, plan)| Some((plan.name.clone(), plan.pid?)))
            .collect();
        let (name, pid) = self.dice.pick(&watched)?.clone();
        Some(if self.dice.chance(60) {
            self.feature("P[i]@label");
            Expr::atom(format!("{name}[{pid}]@seen_{name}"))
        } else {
            self.feature("P[i]:var");
            Expr::atom(format!("{name}[{pid}]:v_{name}"))
        })
    }

    /// An expression that is from 0 to 3 whatever it reads.
    pub fn few(&mut self, frame: &Frame) -> Expr {
        match self.dice.below(4) {
            0 | 1 => Expr::atom(self.dice.below(3).to_string()),
            2 => {
                let expr = self.expr(frame, 2);
                Expr::binary(expr, "&", Expr::atom(["1", "3"][self.dice.below(2)]))
            }
            _ => {
                let expr = self.expr(frame, 1);
                let truth = Expr::binary(expr, ">", self.literal());
                Expr::binary(truth, "+", Expr::atom(self.dice.below(2).to_string()))
            }
        }
    }

    /// A condition that is neither always true nor always false, as far as one can tell.
    pub fn condition(&mut self, frame: &Frame) -> Expr {
        let choice = self.dice.below(16);
        match choice {
            0..7 => {
                let operator = ["==", "!=", "<", "<=", ">", ">="][self.dice.below(6)];
                let left = self.read(frame);
                let right = Expr::atom(self.dice.below(4).to_string());
                Expr::binary(left, operator, right)
            }
            7 | 8 => self.expr(frame, 2),
            9 => {
                self.feature("&& ||");
                let operator = ["&&", "||"][self.dice.below(2)];
                Expr::binary(self.condition(frame), operator, self.condition(frame))
            }
            10 => {
                self.feature("unary operator");
                let expr = self.read(frame);
                Expr::Unary("!", Box::new(expr))
            }
            11 if self.has_macro => {
                self.feature("macro with parameter");
                let value = self.read(frame);
                Expr::atom(format!("ISPOS({value})"))
            }
            12 | 13 => match self.remote(frame) {
                Some(remote) => remote,
                None => self.read(frame),
            },
            _ => match self.chan_test(frame) {
                Some(test) => test,
                None => self.read(frame),
            },
        }
    }

    /// A test of a channel: its fullness or what is in it.
    ///
    /// SPIN wants these alone or under `&&` and `||`.
    fn chan_test(&mut self, frame: &Frame) -> Option<Expr> {
        let buffered: Vec<Chan> = frame
            .chans
            .iter()
            .filter(|chan| !self.shapes[chan.shape].rendezvous())
            .cloned()
            .collect();
        let chan = self.dice.pick(&buffered)?.clone();
        let name = self.chan_text(frame, &chan);
        Some(if self.dice.chance(55) {
            let word = ["full", "empty", "nfull", "nempty"][self.dice.below(4)];
            self.feature(word);
            Expr::atom(format!("{word}({name})"))
        } else {
            let shape = self.shapes[chan.shape].clone();
            let arguments = self.poll_arguments(frame, &shape)?;
            let mark = ["?", "??"][self.dice.below(2)];
            self.feature(["poll ?[]", "poll ??[]"][mark.len() - 1]);
            Expr::atom(format!("{name}{mark}[{arguments}]"))
        })
    }

    /// Arguments of a poll; none where a structure would have to be one.
    fn poll_arguments(&mut self, frame: &Frame, shape: &Shape) -> Option<String> {
        use super::scope::Field;
        let mut arguments = Vec::new();
        for field in &shape.fields {
            arguments.push(match field {
                Field::Record => return None,
                Field::Chan(_) => "_".to_owned(),
                Field::Scalar(Ty::Mtype) if self.dice.chance(70) => {
                    self.dice.pick(&self.mtypes)?.clone()
                }
                Field::Scalar(_) => match self.dice.below(4) {
                    0 => "_".to_owned(),
                    1 => {
                        let value = self.few(frame);
                        format!("eval({value})")
                    }
                    _ => self.dice.below(3).to_string(),
                },
            });
        }
        Some(arguments.join(","))
    }
}
