//! Statements.

use super::Generator;
use super::ast::{Class, Expr, Piece, Stmt};
use super::scope::{Chan, Field, Frame, InlineParams, Param, Place, Seg, Ty, Var};

/// The kinds of statements to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Assign,
    Step,
    Wait,
    Skip,
    Assert,
    Print,
    Goto,
    Break,
    Message,
    Run,
    Declare,
    Call,
    Macro,
    Scratch,
    Priority,
    ChanCopy,
    Block,
    Atomic,
    DStep,
    If,
    Loop,
    CountedLoop,
    GotoLoop,
    For,
    ForIn,
    Select,
    Unless,
}

use Kind::*;

/// Kinds for ordinary places, with their weights.
const KINDS: [(usize, Kind); 27] = [
    (22, Assign),
    (8, Step),
    (4, Wait),
    (2, Skip),
    (6, Assert),
    (3, Print),
    (4, Goto),
    (3, Break),
    (28, Message),
    (4, Run),
    (4, Declare),
    (4, Call),
    (2, Macro),
    (2, Scratch),
    (10, Priority),
    (3, ChanCopy),
    (5, Block),
    (6, Atomic),
    (6, DStep),
    (10, If),
    (4, Loop),
    (3, CountedLoop),
    (2, GotoLoop),
    (3, For),
    (2, ForIn),
    (3, Select),
    (4, Unless),
];

/// Kinds for `d_step`, none of which can block.
const CALM: [(usize, Kind); 10] = [
    (20, Assign),
    (8, Step),
    (2, Skip),
    (3, Assert),
    (2, Print),
    (6, If),
    (3, For),
    (2, Select),
    (3, Call),
    (2, Declare),
];

impl Generator {
    /// About `length` statements.
    pub fn sequence(&mut self, frame: &mut Frame, place: Place, length: usize) -> Vec<Stmt> {
        let scope = (frame.vars.clone(), frame.chans.clone());
        let mut statements = Vec::new();
        while statements.len() < length && frame.budget > 0 {
            let Some(stmt) = self.statement(frame, place, statements.is_empty()) else {
                continue;
            };
            // SPIN takes the end of a loop before a d_step for a jump into it.
            if stmt.starts_with_d_step() && statements.last().is_some_and(Stmt::loops) {
                statements.push(Stmt::text("skip"));
            }
            statements.push(stmt);
        }
        if statements.is_empty() {
            statements.push(Stmt::text("skip"));
        }
        (frame.vars, frame.chans) = scope;
        statements
    }

    /// A few statements for the inside of a compound one.
    fn inside(&mut self, frame: &mut Frame, place: Place) -> Vec<Stmt> {
        let length = self.dice.range(1, 3);
        self.sequence(frame, place.inner(), length)
    }

    /// One statement; nothing if its kind is not possible here.
    fn statement(&mut self, frame: &mut Frame, place: Place, first: bool) -> Option<Stmt> {
        let deep = place.depth >= 3;
        let kind = match place.d_step {
            true => self.dice.weighted(&CALM),
            false => self.dice.weighted(&KINDS),
        };
        // At the start of a body SPIN would compute the value itself, with complaints.
        let first = place.depth == 0 && first;
        if kind == Declare && first {
            return None;
        }
        let compound = matches!(
            kind,
            Block | Atomic | DStep | If | Loop | CountedLoop | GotoLoop | For | ForIn | Unless
        );
        if compound && (deep || frame.budget < 2) {
            return None;
        }
        let made = match kind {
            Assign => self.assign(frame, place),
            Step => self.step(frame, place),
            Wait => {
                let stmt = self.wait(frame);
                Some(self.patient(stmt, place))
            }
            Skip => {
                self.feature("skip");
                Some(Stmt::text(["skip", "true"][self.dice.below(2)]))
            }
            // An assertion beside a claim is checked only where the claim goes.
            Assert if self.class == Class::Claim => None,
            Assert => Some(self.assert(frame)),
            Print => Some(self.print(frame)),
            Goto => {
                self.feature("goto");
                Some(Stmt::Goto(String::new()))
            }
            Break if place.breakable && place.depth > 0 => {
                self.feature("break");
                Some(Stmt::text("break"))
            }
            Break => None,
            Message => self.message(frame, place).map(|stmt| self.patient(stmt, place)),
            Run => self.run(frame, place),
            Declare => self.declare(frame, place),
            Call => self.call(frame, place),
            Macro => self.macro_call(frame, place),
            Scratch => self.scratch(frame, place),
            Priority => self.priority(place),
            ChanCopy => self.chan_copy(frame),
            Block => Some(self.block(frame, place)),
            Atomic => Some(self.atomic(frame, place)),
            DStep => Some(self.d_step(frame, place)),
            If => Some(self.choice(frame, place)),
            Loop => self.endless(frame, place),
            CountedLoop => Some(self.counted(frame, place)),
            GotoLoop => self.goto_loop(frame, place),
            For => Some(self.count_through(frame, place)),
            ForIn => self.for_in(frame, place),
            Select => Some(self.select(frame, place)),
            Unless => Some(self.unless(frame, place)),
        };
        if made.is_some() {
            frame.budget = frame.budget.saturating_sub(1);
        }
        made
    }

    /// A variable that may be written here; not one of a named mtype unless `any` will do.
    fn target(&mut self, frame: &Frame, place: Place, any: bool) -> Option<Var> {
        let usable: Vec<&Var> = frame
            .vars
            .iter()
            .filter(|var| (!place.repeat || var.small) && (any || var.ty != Ty::Fruit))
            .collect();
        let var = (*self.dice.pick(&usable)?).clone();
        self.note_variable(&var);
        self.feature(match var.ty {
            Ty::Bit | Ty::Bool => "assign bit",
            Ty::Byte | Ty::Pid => "assign byte",
            Ty::Short => "assign short",
            Ty::Int => "assign int",
            Ty::Unsigned(_) => "assign unsigned",
            Ty::Mtype => "assign mtype",
            Ty::Fruit => "assign named mtype",
        });
        Some(var)
    }

    /// A value that may be stored here.
    fn value(&mut self, frame: &Frame, place: Place, ty: Ty, plain: bool) -> Expr {
        if ty == Ty::Fruit {
            return Expr::atom(["apple", "pear"][self.dice.below(2)]);
        }
        if ty == Ty::Mtype
            && self.dice.chance(80)
            && let Some(name) = self.dice.pick(&self.mtypes).cloned()
        {
            return Expr::atom(name);
        }
        if place.repeat && !(ty.tiny() && plain) {
            return self.few(frame);
        }
        match self.dice.below(3) {
            0 => self.few(frame),
            1 => self.literal(),
            _ => self.expr(frame, 3),
        }
    }

    fn assign(&mut self, frame: &Frame, place: Place) -> Option<Stmt> {
        let var = self.target(frame, place, true)?;
        let value = self.value(frame, place, var.ty, var.plain());
        let name = self.access(frame, &var.path);
        Some(Stmt::Leaf(vec![Piece::Text(format!("{name} = ")), Piece::Expr(value)]))
    }

    /// `++` or `--`: in an endless loop only where there are few values anyway.
    fn step(&mut self, frame: &Frame, place: Place) -> Option<Stmt> {
        let var = self.target(frame, place, false)?;
        // A byte that goes round once is welcome now and then.
        let goes_round = self.wraps && var.ty == Ty::Byte && var.plain() && !place.atomic;
        if place.repeat && !(var.ty.tiny() && var.plain()) && !goes_round {
            return None;
        }
        if place.repeat && goes_round {
            self.wraps = false;
            self.feature("wrap in a loop");
        }
        self.feature("++ --");
        let name = self.access(frame, &var.path);
        let operator = ["++", "--"][self.dice.below(2)];
        Some(Stmt::text(format!("{name}{operator}")))
    }

    /// Often lets a statement that may block be given up, so that not everything ends in deadlock.
    fn patient(&mut self, stmt: Stmt, place: Place) -> Stmt {
        if place.d_step || place.depth >= 3 || self.dice.chance(30) {
            return stmt;
        }
        let other = match self.exclusive || self.dice.chance(50) {
            true => {
                self.feature("timeout");
                "timeout"
            }
            false => {
                self.feature("else");
                "else"
            }
        };
        Stmt::choice(vec![vec![stmt], vec![Stmt::text(other)]])
    }

    fn wait(&mut self, frame: &Frame) -> Stmt {
        if self.dice.chance(12) {
            self.feature("timeout");
            return Stmt::text("timeout");
        }
        self.feature("condition");
        Stmt::condition(self.condition(frame))
    }

    fn assert(&mut self, frame: &Frame) -> Stmt {
        self.feature("assert");
        let condition = match self.dice.below(3) {
            0 => self.condition(frame),
            _ => {
                let few = self.few(frame);
                Expr::binary(few, "<=", Expr::atom(self.dice.range(3, 5).to_string()))
            }
        };
        Stmt::Leaf(vec![
            Piece::Text("assert(".to_owned()),
            Piece::Expr(condition),
            Piece::Text(")".to_owned()),
        ])
    }

    fn print(&mut self, frame: &Frame) -> Stmt {
        self.feature("printf");
        if self.dice.chance(30) {
            return Stmt::text("printf(\"here\\n\")");
        }
        let format = ["%d", "%u", "%x", "%o", "%c"][self.dice.below(5)];
        let value = self.expr(frame, 1);
        Stmt::Leaf(vec![
            Piece::Text(format!("printf(\"is {format}\\n\", ")),
            Piece::Expr(value),
            Piece::Text(")".to_owned()),
        ])
    }

    /// Some channel, rendezvous or not as allowed.
    fn some_chan(&mut self, frame: &Frame, rendezvous: bool) -> Option<Chan> {
        let usable: Vec<&Chan> = frame
            .chans
            .iter()
            .filter(|chan| rendezvous || !self.shapes[chan.shape].rendezvous())
            .collect();
        self.dice.pick(&usable).map(|chan| (*chan).clone())
    }

    /// A send or a receive: each process is rather the one than the other for each channel.
    fn message(&mut self, frame: &Frame, place: Place) -> Option<Stmt> {
        let chan = self.some_chan(frame, !place.d_step)?;
        let sender = (frame.plan + chan.shape).is_multiple_of(2);
        match self.dice.chance(80) == sender {
            true => self.send(frame, place, &chan),
            false => self.receive(frame, place, &chan),
        }
    }

    /// A send.
    fn send(&mut self, frame: &Frame, place: Place, chan: &Chan) -> Option<Stmt> {
        let shape = self.shapes[chan.shape].clone();
        let sorted = !shape.rendezvous() && self.dice.chance(20);
        let name = self.chan_text(frame, chan);
        let mut pieces = vec![Piece::Text(format!("{name}{}", if sorted { "!!" } else { "!" }))];
        for (at, field) in shape.fields.iter().enumerate() {
            if at > 0 {
                pieces.push(Piece::Text(",".to_owned()));
            }
            match *field {
                Field::Scalar(ty) => pieces.push(Piece::Expr(self.value(frame, place, ty, false))),
                Field::Chan(wanted) => {
                    let all: Vec<Chan> = self.chans_of(frame, wanted, true);
                    let chan = self.dice.pick(&all)?.clone();
                    self.feature("channel in a message");
                    pieces.push(Piece::Text(self.chan_text(frame, &chan)));
                }
                Field::Record => {
                    self.feature("struct in a message");
                    pieces.push(Piece::Text(self.dice.pick(&frame.records)?.clone()));
                }
            }
        }
        self.feature(match (sorted, shape.rendezvous()) {
            (true, _) => "send !!",
            (false, true) => "rendezvous send",
            (false, false) => "send !",
        });
        self.note_chan(chan, shape.fields.len());
        Some(Stmt::Leaf(pieces))
    }

    fn note_chan(&mut self, chan: &Chan, fields: usize) {
        if fields > 1 {
            self.feature("message of several fields");
        }
        if !chan.global {
            self.feature("channel parameter or variable");
        }
    }

    /// The channels of a shape.
    fn chans_of(&self, frame: &Frame, shape: usize, global: bool) -> Vec<Chan> {
        let fits = |chan: &&Chan| chan.shape == shape && (chan.global || !global);
        frame.chans.iter().filter(fits).cloned().collect()
    }

    /// A receive, of any of its kinds.
    fn receive(&mut self, frame: &Frame, place: Place, chan: &Chan) -> Option<Stmt> {
        let shape = self.shapes[chan.shape].clone();
        let name = self.chan_text(frame, chan);
        let (mut random, mut copy) = (false, false);
        if !shape.rendezvous() {
            random = self.dice.chance(30);
            // SPIN's C code is wrong for a d_step that starts with a copy.
            copy = !place.d_step && self.dice.chance(20);
        }
        // SPIN takes a receive back in an order that spoils an index which the receive itself changes.
        let mut used = names(&name);
        let mut arguments = Vec::new();
        for field in &shape.fields {
            arguments.push(match *field {
                // A lone bit is kept in eight bits.
                Field::Scalar(Ty::Bit) if shape.fields.len() == 1 => {
                    self.argument(frame, place, Ty::Byte, &mut used)
                }
                Field::Scalar(ty) => self.argument(frame, place, ty, &mut used),
                Field::Chan(wanted) => {
                    let variables: Vec<Chan> = self.chans_of(frame, wanted, false);
                    let fits = |c: &&Chan| c.assignable && !used.contains(&chan_root(c));
                    match variables.iter().find(fits) {
                        Some(chan) => {
                            self.feature("receive a channel");
                            used.push(chan_root(chan));
                            self.chan_text(frame, chan)
                        }
                        None => "_".to_owned(),
                    }
                }
                Field::Record => {
                    let free: Vec<&String> =
                        frame.records.iter().filter(|r| !used.contains(r)).collect();
                    let name = (*self.dice.pick(&free)?).clone();
                    used.push(name.clone());
                    self.feature("struct in a message");
                    name
                }
            });
        }
        let mark = if random { "??" } else { "?" };
        let arguments = arguments.join(",");
        self.feature(match (random, copy, shape.rendezvous()) {
            (_, _, true) => "rendezvous receive",
            (false, false, _) => "receive ?",
            (true, false, _) => "receive ??",
            (false, true, _) => "receive ?<>",
            (true, true, _) => "receive ??<>",
        });
        self.note_chan(chan, shape.fields.len());
        Some(Stmt::text(match copy {
            true => format!("{name}{mark}<{arguments}>"),
            false => format!("{name}{mark}{arguments}"),
        }))
    }

    /// What receives a number: a variable not used before in this message, or something to match.
    ///
    /// SPIN takes a receive back by putting the values of its arguments into the message again. So a
    /// variable must hold all that its field can, and a value to match must not depend on what the
    /// receive changes: otherwise SPIN's own figures are wrong.
    fn argument(&mut self, frame: &Frame, place: Place, ty: Ty, used: &mut Vec<String>) -> String {
        let constant = |generator: &mut Self| match ty {
            Ty::Mtype if !generator.mtypes.is_empty() => {
                generator.feature("receive mtype constant");
                generator.mtypes[generator.dice.below(generator.mtypes.len())].clone()
            }
            _ => {
                generator.feature("receive constant");
                generator.dice.below(3).to_string()
            }
        };
        match self.dice.below(20) {
            0 => {
                self.feature("receive _");
                "_".to_owned()
            }
            1 => {
                self.feature("receive eval");
                let readable =
                    |var: &&Var| var.plain() && !used.iter().any(|name| name == var.root());
                let usable: Vec<&Var> = frame.vars.iter().filter(readable).collect();
                let Some(var) = self.dice.pick(&usable) else {
                    return constant(self);
                };
                let name = var.root().to_owned();
                used.push(name.clone());
                match self.dice.below(3) {
                    0 => format!("eval({name} & 1)"),
                    1 => format!("eval(1 - {name})"),
                    _ => format!("eval({name})"),
                }
            }
            2 | 3 => constant(self),
            _ => {
                let fits = |var: &&Var| {
                    (!place.repeat || var.small)
                        && !used.iter().any(|name| name == var.root())
                        && var.ty.holds(ty)
                };
                let usable: Vec<&Var> = frame.vars.iter().filter(fits).collect();
                match self.dice.pick(&usable) {
                    Some(var) => {
                        let var = (*var).clone();
                        let text = self.access(frame, &var.path);
                        let mentioned = names(&text);
                        if mentioned.iter().any(|name| used.contains(name)) {
                            return constant(self);
                        }
                        used.extend(mentioned);
                        self.feature("receive variable");
                        self.note_variable(&var);
                        text
                    }
                    None if self.dice.chance(50) => constant(self),
                    None => {
                        self.feature("receive _");
                        "_".to_owned()
                    }
                }
            }
        }
    }

    /// Starts a process, where that happens only once.
    pub fn run(&mut self, frame: &mut Frame, place: Place) -> Option<Stmt> {
        if frame.runs == 0 || place.again || place.d_step {
            return None;
        }
        let startable: Vec<usize> = (0..self.plans.len())
            .filter(|&number| !self.plans[number].starts && number != frame.plan)
            .collect();
        let plan = self.plans[*self.dice.pick(&startable)?].clone();
        let call = self.run_call(frame, &plan.name, &plan.params)?;
        frame.runs -= 1;
        let holders: Vec<&Var> = frame
            .vars
            .iter()
            .filter(|var| var.plain() && matches!(var.ty, Ty::Byte | Ty::Pid | Ty::Int | Ty::Short))
            .collect();
        let holder = self.dice.pick(&holders).map(|var| var.root().to_owned());
        Some(match holder {
            Some(name) if self.dice.chance(40) => Stmt::text(format!("{name} = {call}")),
            _ => Stmt::text(call),
        })
    }

    /// The text of a `run` with its arguments.
    pub fn run_call(&mut self, frame: &Frame, name: &str, params: &[Param]) -> Option<String> {
        let mut arguments = Vec::new();
        for param in params {
            arguments.push(match *param {
                Param::Scalar(Ty::Mtype) => match self.dice.pick(&self.mtypes) {
                    Some(name) => name.clone(),
                    None => "0".to_owned(),
                },
                Param::Scalar(_) => {
                    self.feature("run with value");
                    let value = self.expr(frame, 1);
                    value.to_string()
                }
                Param::Chan(shape) => {
                    let all = self.chans_of(frame, shape, false);
                    let chan = self.dice.pick(&all)?.clone();
                    self.feature("run with channel");
                    self.chan_text(frame, &chan)
                }
                Param::Record => {
                    self.feature("run with struct");
                    self.dice.pick(&frame.records)?.clone()
                }
            });
        }
        self.feature("run");
        let mut call = format!("run {name}({})", arguments.join(", "));
        if self.class == Class::Priority && self.dice.chance(60) {
            self.feature("run with priority");
            call += &format!(" priority {}", self.dice.range(1, 4));
        }
        Some(call)
    }

    /// A declaration among statements.
    fn declare(&mut self, frame: &mut Frame, place: Place) -> Option<Stmt> {
        let name = self.fresh("m");
        let ty =
            [Ty::Bit, Ty::Byte, Ty::Short, Ty::Int, Ty::Unsigned(3), Ty::Mtype][self.dice.below(6)];
        let declaration = ty.declare(&name);
        let stmt = if self.dice.chance(70) {
            self.feature("declaration in a body, initialised");
            let outside = std::mem::replace(&mut self.no_remote, true);
            let value = self.value(frame, place, ty, true);
            self.no_remote = outside;
            Stmt::Leaf(vec![Piece::Text(format!("{declaration} = ")), Piece::Expr(value)])
        } else {
            self.feature("declaration in a body");
            Stmt::text(declaration)
        };
        frame.vars.push(Var::scalar(&name, ty, true));
        Some(stmt)
    }

    fn call(&mut self, frame: &Frame, place: Place) -> Option<Stmt> {
        let inline = self.dice.pick(&self.inlines)?.clone();
        let call = match inline.params {
            InlineParams::Nothing => format!("{}()", inline.name),
            InlineParams::VarValue => {
                let var = self.target(frame, place, false)?;
                let name = self.access(frame, &var.path);
                let value = self.inline_value(frame);
                format!("{}({name}, {value})", inline.name)
            }
            InlineParams::WaitVar if place.d_step => return None,
            InlineParams::WaitVar => {
                let var = self.target(frame, place, false)?;
                let name = self.access(frame, &var.path);
                let condition = self.inline_value(frame);
                format!("{}({condition}, {name})", inline.name)
            }
        };
        self.feature("inline");
        if inline.params != InlineParams::Nothing {
            self.feature("inline with parameters");
        }
        Some(Stmt::text(call))
    }

    /// A value for an inline: SPIN does not understand an arrow in it.
    fn inline_value(&mut self, frame: &Frame) -> String {
        let value = self.few(frame).to_string();
        match value.contains("->") {
            true => self.dice.below(3).to_string(),
            false => value,
        }
    }

    fn macro_call(&mut self, frame: &Frame, place: Place) -> Option<Stmt> {
        if !self.has_macro {
            return None;
        }
        let var = self.target(frame, place, false)?;
        let name = self.access(frame, &var.path);
        self.feature("macro with parameter");
        Some(Stmt::text(format!("BUMP({name})")))
    }

    /// A hidden variable, read only where it was just written: nothing else would be defined.
    fn scratch(&mut self, frame: &Frame, place: Place) -> Option<Stmt> {
        let hidden = self.hidden.clone()?;
        if place.d_step {
            return None;
        }
        self.feature("hidden");
        let value = self.few(frame);
        let write = Stmt::Leaf(vec![Piece::Text(format!("{hidden} = ")), Piece::Expr(value)]);
        if self.dice.chance(40) {
            return Some(write);
        }
        let var = self.target(frame, place, false)?;
        let name = self.access(frame, &var.path);
        let read = Stmt::text(format!("{name} = {hidden}"));
        Some(Stmt::block("atomic", vec![write, read]))
    }

    fn priority(&mut self, place: Place) -> Option<Stmt> {
        if self.class != Class::Priority || place.d_step {
            return None;
        }
        self.feature("set_priority");
        let level = self.dice.range(1, 4);
        Some(Stmt::text(format!("set_priority(_pid, {level})")))
    }

    /// Gives a channel variable another channel.
    fn chan_copy(&mut self, frame: &Frame) -> Option<Stmt> {
        let variables: Vec<Chan> =
            frame.chans.iter().filter(|chan| chan.assignable).cloned().collect();
        let variable = self.dice.pick(&variables)?.clone();
        let all = self.chans_of(frame, variable.shape, true);
        let chan = self.dice.pick(&all)?.clone();
        self.feature("assign channel");
        let left = self.chan_text(frame, &variable);
        let right = self.chan_text(frame, &chan);
        Some(Stmt::text(format!("{left} = {right}")))
    }

    /// A plain block, often with a variable of its own, which has the name of one in another block.
    ///
    /// SPIN does not let a block hide a name that is known around it.
    fn block(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        let scope = frame.vars.clone();
        let mut body = Vec::new();
        let name = ["s0", "s0", "s0", "s1"][self.dice.below(4)];
        let known = frame.vars.iter().any(|var| var.root() == name);
        if !known && self.dice.chance(80) {
            self.feature("variable of a block");
            if frame.scoped.iter().any(|other| other == name) {
                self.feature("one name in two blocks");
            }
            frame.scoped.push(name.to_owned());
            let ty = [Ty::Bit, Ty::Byte, Ty::Short][self.dice.below(3)];
            let number = self.dice.below(3);
            body.push(Stmt::text(format!("{} = {number}", ty.declare(name))));
            frame.vars.push(Var::scalar(name, ty, true));
        }
        self.feature("block");
        body.extend(self.inside(frame, place));
        frame.vars = scope;
        Stmt::block("", body)
    }

    fn atomic(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        self.feature("atomic");
        let inner =
            Place { atomic: true, breakable: place.breakable && self.dice.chance(50), ..place };
        let length = self.dice.range(2, 4);
        Stmt::block("atomic", self.sequence(frame, inner.inner(), length))
    }

    fn d_step(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        self.feature("d_step");
        let inner = Place { d_step: true, atomic: false, breakable: false, ..place.inner() };
        let outside = std::mem::replace(&mut self.no_remote, true);
        let guard = match self.dice.below(6) {
            0 | 1 => {
                self.feature("d_step with guard");
                Some(Stmt::condition(self.condition(frame)))
            }
            2 => {
                self.feature("d_step with receive");
                let chan = self.some_chan(frame, true);
                chan.and_then(|chan| self.receive(frame, inner, &chan))
            }
            3 => {
                let chan = self.some_chan(frame, false);
                chan.and_then(|chan| self.send(frame, inner, &chan))
            }
            _ => None,
        };
        let length = self.dice.range(1, 4);
        let mut body: Vec<Stmt> = guard.into_iter().collect();
        body.extend(self.sequence(frame, inner, length));
        // SPIN runs a d_step that starts with one of these even while a rendezvous is pending.
        let first = body.first().map(ToString::to_string).unwrap_or_default();
        let first = first.trim_start_matches(['{', ' ', '\n']);
        if ["assert", "printf", "nothing", "select"].iter().any(|word| first.starts_with(word)) {
            body.insert(0, Stmt::text("skip"));
        }
        self.no_remote = outside;
        // SPIN's C code is wrong for a loop at the end of a d_step.
        if !matches!(body.last(), Some(Stmt::Leaf(_))) {
            body.push(Stmt::text("skip"));
        }
        Stmt::block("d_step", body)
    }

    /// The first statement of an option.
    fn guard(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        let made = match self.dice.below(10) {
            0..5 => None,
            5..8 => self.message(frame, place),
            8 => self.assign(frame, place),
            _ => Some(self.wait(frame)),
        };
        made.unwrap_or_else(|| {
            self.feature("condition");
            Stmt::condition(self.condition(frame))
        })
    }

    fn choice(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        self.feature("if");
        if place.depth > 0 {
            self.feature("nested if");
        }
        let count = self.dice.range(1, 3);
        let otherwise = place.d_step || self.dice.chance(60);
        let mut options = Vec::new();
        for _ in 0..count {
            let first = match otherwise && (place.d_step || self.exclusive || self.dice.chance(60))
            {
                true => Stmt::condition(self.plain_condition(frame)),
                false => self.guard(frame, place),
            };
            let mut option = vec![first];
            if frame.budget > 0 && self.dice.chance(80) {
                option.extend(self.inside(frame, place));
            }
            options.push(option);
        }
        if otherwise {
            self.feature("else");
            let mut option = vec![Stmt::text("else")];
            if self.dice.chance(50) {
                option.extend(self.inside(frame, place));
            }
            let at = self.dice.below(options.len() + 1);
            options.insert(at, option);
        }
        Stmt::choice(options)
    }

    /// A condition without channel tests, for use beside `else` and in places that must not block.
    fn plain_condition(&mut self, frame: &Frame) -> Expr {
        let left = self.expr(frame, 1);
        let operator = ["==", "!=", "<", ">"][self.dice.below(4)];
        Expr::binary(left, operator, Expr::atom(self.dice.below(4).to_string()))
    }

    /// The loop of a process that waits for things to do.
    pub fn server(&mut self, frame: &mut Frame) -> Option<Stmt> {
        let budget = frame.budget;
        let mut made = self.endless(frame, Place::TOP)?;
        frame.budget = frame.budget.min(budget / 2);
        if self.dice.chance(60) {
            self.feature("end label");
            let label = self.fresh("end");
            made = Stmt::Label(label, Box::new(made));
        }
        Some(made)
    }

    /// A `do` without a bound; never inside atomic, where nothing would be stored on the way.
    fn endless(&mut self, frame: &mut Frame, place: Place) -> Option<Stmt> {
        if place.atomic {
            return None;
        }
        self.feature("do");
        let inner = Place { repeat: true, again: true, breakable: true, ..place };
        let count = self.dice.range(1, 3);
        let mut options = Vec::new();
        for _ in 0..count {
            let mut option = vec![self.guard(frame, inner)];
            if frame.budget > 0 && self.dice.chance(80) {
                option.extend(self.inside(frame, inner));
            }
            options.push(option);
        }
        match self.dice.below(4) {
            0 => {}
            1 => {
                self.feature("break");
                options.push(vec![Stmt::text("break")]);
            }
            2 if !self.exclusive => {
                self.feature("else");
                self.feature("break");
                options.push(vec![Stmt::text("else"), Stmt::text("break")]);
            }
            _ => {
                self.feature("break");
                let condition = self.condition(frame);
                options.push(vec![Stmt::condition(condition), Stmt::text("break")]);
            }
        }
        Some(Stmt::Choice { repeat: true, options })
    }

    /// A variable of its own for a loop, declared at the start of the body.
    fn counter(&mut self, frame: &mut Frame) -> String {
        let name = self.fresh("i_");
        let ty = [Ty::Byte, Ty::Byte, Ty::Short, Ty::Int][self.dice.below(4)];
        frame.declarations.push(Stmt::text(ty.declare(&name)));
        name
    }

    /// Makes the inside of a counted loop, in which the counter can be read but not written.
    fn counted_body(&mut self, frame: &mut Frame, place: Place) -> Vec<Stmt> {
        let inner = Place { again: true, breakable: true, ..place };
        self.inside(frame, inner)
    }

    fn counted(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        self.feature("do");
        self.feature("break");
        let name = self.counter(frame);
        let bound = self.dice.range(1, 3);
        let mut option =
            vec![Stmt::text(format!("{name} < {bound}")), Stmt::text(format!("{name}++"))];
        option.extend(self.counted_body(frame, place));
        let leave = match self.dice.chance(50) {
            true => {
                self.feature("else");
                "else".to_owned()
            }
            false => format!("{name} >= {bound}"),
        };
        let mut options = vec![option, vec![Stmt::text(leave), Stmt::text("break")]];
        if self.dice.chance(30) && !place.atomic {
            options.reverse();
        }
        Stmt::Choice { repeat: true, options }
    }

    /// A loop made of a label and a jump back, some times over.
    fn goto_loop(&mut self, frame: &mut Frame, place: Place) -> Option<Stmt> {
        if place.depth > 1 {
            return None;
        }
        self.feature("goto back");
        self.feature("goto");
        let name = self.counter(frame);
        let label = self.fresh("again");
        let bound = self.dice.range(1, 2);
        let mut body =
            vec![Stmt::text("skip"), Stmt::Label(label.clone(), Box::new(Stmt::text("skip")))];
        let inner = Place { again: true, breakable: false, ..place };
        body.extend(self.inside(frame, inner));
        // In one piece, so that no jump gets past the test.
        body.push(Stmt::text(format!(
            "if :: {name} < {bound} -> {name}++; goto {label} :: else fi"
        )));
        Some(Stmt::block("", body))
    }

    fn count_through(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        let name = self.counter(frame);
        let (low, high) = match self.dice.below(3) {
            0 => {
                self.feature("for with expression bounds");
                let low = Expr::binary(self.expr(frame, 1), "&", Expr::atom("1"));
                let high = Expr::binary(self.expr(frame, 1), "&", Expr::atom("3"));
                (low, high)
            }
            _ => {
                self.feature("for");
                let low = self.dice.below(2);
                let high = low + self.dice.below(3);
                (Expr::atom(low.to_string()), Expr::atom(high.to_string()))
            }
        };
        let body = self.counted_body(frame, place);
        Stmt::Block {
            head: vec![
                Piece::Text(format!("for ({name} : ")),
                Piece::Expr(low),
                Piece::Text(" .. ".to_owned()),
                Piece::Expr(high),
                Piece::Text(")".to_owned()),
            ],
            body,
        }
    }

    fn for_in(&mut self, frame: &mut Frame, place: Place) -> Option<Stmt> {
        let (array, _) = self.dice.pick(&frame.arrays)?.clone();
        let name = self.counter(frame);
        self.feature("for in");
        let body = self.counted_body(frame, place);
        Some(Stmt::block(&format!("for ({name} in {array})"), body))
    }

    fn select(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        let var = frame
            .vars
            .iter()
            .find(|var| {
                var.plain() && var.small && matches!(var.ty, Ty::Byte | Ty::Short | Ty::Int)
            })
            .map(|var| var.root().to_owned());
        let name = match var {
            Some(name) => name,
            None => self.counter(frame),
        };
        if self.dice.chance(50) || place.d_step {
            self.feature("select");
            let low = self.dice.below(3);
            let high = low + self.dice.range(1, 2);
            return Stmt::text(format!("select ({name} : {low} .. {high})"));
        }
        self.feature("select with expression bounds");
        let low = Expr::binary(self.expr(frame, 1), "&", Expr::atom("1"));
        let high = Expr::binary(self.expr(frame, 1), "&", Expr::atom("3"));
        Stmt::Leaf(vec![
            Piece::Text(format!("select ({name} : ")),
            Piece::Expr(low),
            Piece::Text(" .. ".to_owned()),
            Piece::Expr(high),
            Piece::Text(")".to_owned()),
        ])
    }

    fn unless(&mut self, frame: &mut Frame, place: Place) -> Stmt {
        self.feature("unless");
        if self.in_unless {
            self.feature("nested unless");
        }
        let nested = std::mem::replace(&mut self.in_unless, true);
        let inner = Place { breakable: false, ..place };
        let body = self.inside(frame, inner);
        let guard = self.guard(frame, inner);
        let mut escape = vec![guard];
        if frame.budget > 0 && self.dice.chance(70) {
            escape.extend(self.inside(frame, inner));
        }
        self.in_unless = nested;
        Stmt::Unless { body, escape }
    }
}

/// The names in a text.
fn names(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
        .map(str::to_owned)
        .collect()
}

/// The name a channel's path starts with.
fn chan_root(chan: &Chan) -> String {
    match chan.path.first() {
        Some(Seg::Text(name)) => name.clone(),
        _ => String::new(),
    }
}
