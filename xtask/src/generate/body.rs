//! Bodies of proctypes and of init: what they declare, what they do, and where their labels are.

use super::Generator;
use super::ast::{Class, Stmt, Unit};
use super::scope::{Chan, Field, Frame, Param, Place, Plan, Seg, Ty, Var};

impl Generator {
    /// The proctype of a plan, with about `budget` statements.
    pub fn proctype(&mut self, number: usize, budget: usize) -> Unit {
        let plan = self.plans[number].clone();
        let mut frame = self.global_frame();
        frame.plan = number;
        frame.budget = budget;
        frame.runs = if plan.starts && plan.name != "init" { 1 } else { 0 };
        let params = self.declare_params(&plan, &mut frame);
        let mut body = self.locals(&plan, &mut frame);
        if plan.name == "init" {
            frame.budget = budget / 2;
        }
        let length = frame.budget;
        let mut statements = match plan.name.as_str() {
            "init" => self.start_all(&frame),
            _ => Vec::new(),
        };
        if plan.name != "init" && self.dice.chance(40) {
            // A process that goes on for ever.
            let before = self.dice.below(3);
            statements.extend(self.sequence(&mut frame, Place::TOP, before));
            statements.extend(self.server(&mut frame));
            statements.push(Stmt::text("skip"));
        }
        statements.extend(self.sequence(&mut frame, Place::TOP, length));
        self.label(&plan, &mut statements);
        body.append(&mut frame.declarations);
        body.append(&mut statements);
        Unit::Body { header: self.header(&plan, &params), body }
    }

    fn header(&mut self, plan: &Plan, params: &str) -> String {
        let mut header = match (plan.name.as_str(), plan.active) {
            ("init", _) => "init".to_owned(),
            (name, active) => {
                // SPIN takes an offer in a rendezvous for a step of a D_proctype, also if nobody
                // answers it.
                let allowed = self.class != Class::Claim
                    && !self.shapes.iter().any(|shape| shape.rendezvous());
                let word = match allowed && self.dice.chance(8) {
                    true => {
                        self.feature("D_proctype");
                        "D_proctype"
                    }
                    false => "proctype",
                };
                let active = match active {
                    0 => String::new(),
                    1 => "active ".to_owned(),
                    n => format!("active [{n}] "),
                };
                format!("{active}{word} {name}({params})")
            }
        };
        if self.class == Class::Priority && self.dice.chance(70) {
            self.feature("priority");
            header += &format!(" priority {}", self.dice.range(1, 4));
        }
        if plan.name != "init" && self.dice.chance(6) {
            self.feature("provided");
            let mut frame = self.global_frame();
            frame.vars.retain(Var::plain);
            let name =
                self.dice.pick(&frame.vars).map_or("_pid".to_owned(), |var| var.root().to_owned());
            let operator = ["!=", "<", "<="][self.dice.below(3)];
            let number = self.dice.range(1, 3);
            header += &format!(" provided ({name} {operator} {number})");
        }
        header
    }

    /// Declares the parameters, and makes them known to the body.
    fn declare_params(&mut self, plan: &Plan, frame: &mut Frame) -> String {
        let mut declarations = Vec::new();
        for (at, param) in plan.params.iter().enumerate() {
            let name = format!("p{at}");
            match *param {
                Param::Scalar(ty) => {
                    declarations.push(ty.declare(&name));
                    frame.vars.push(Var::scalar(&name, ty, false));
                }
                Param::Chan(shape) => {
                    declarations.push(format!("chan {name}"));
                    frame.chans.push(Chan {
                        path: vec![Seg::Text(name)],
                        shape,
                        global: false,
                        assignable: true,
                    });
                }
                Param::Record => {
                    declarations.push(format!("Msg {name}"));
                    frame.records.push(name.clone());
                    frame.vars.push(Var {
                        path: vec![Seg::Text(name), Seg::Text(".key".to_owned())],
                        ty: Ty::Byte,
                        small: false,
                    });
                }
            }
        }
        declarations.join("; ")
    }

    /// Declarations at the start of a body.
    fn locals(&mut self, plan: &Plan, frame: &mut Frame) -> Vec<Stmt> {
        let mut declarations = Vec::new();
        if plan.watched {
            let name = format!("v_{}", plan.name);
            declarations.push(Stmt::text(format!("byte {name} = 1")));
            frame.vars.push(Var::scalar(&name, Ty::Byte, false));
        }
        for at in 0..self.dice.below(3) {
            let name = format!("x{at}");
            let ty = [Ty::Bit, Ty::Byte, Ty::Short, Ty::Int, Ty::Unsigned(4), Ty::Mtype]
                [self.dice.below(6)];
            let mut text = ty.declare(&name);
            if self.dice.chance(40) {
                let value = self.literal();
                text += &format!(" = {value}");
            }
            declarations.push(Stmt::text(text));
            frame.vars.push(Var::scalar(&name, ty, at == 0 && self.dice.chance(40)));
        }
        if self.dice.chance(15) {
            self.feature("local array");
            declarations.push(Stmt::text("byte la[3]"));
            frame.arrays.push(("la".to_owned(), 3));
            frame.vars.push(Var {
                path: vec![Seg::Text("la".to_owned()), Seg::Index(3)],
                ty: Ty::Byte,
                small: false,
            });
        }
        // A variable for channels that come in messages, which is never without a channel.
        let carried = self.shapes.iter().any(|shape| shape.fields.contains(&Field::Chan(0)));
        if (carried && self.dice.chance(80)) || self.dice.chance(8) {
            let all: Vec<Chan> =
                frame.chans.iter().filter(|chan| chan.shape == 0 && chan.global).cloned().collect();
            if let Some(chan) = self.dice.pick(&all).cloned() {
                self.feature("channel variable");
                let value = self.constant_access(&chan.path);
                declarations.push(Stmt::text(format!("chan cv = {value}")));
                frame.chans.push(Chan {
                    path: vec![Seg::Text("cv".to_owned())],
                    shape: 0,
                    global: false,
                    assignable: true,
                });
            }
        }
        if self.dice.chance(10)
            && let Some(shape) = self.shapes.first().cloned()
            && shape.fields.iter().all(|field| matches!(field, Field::Scalar(_)))
        {
            self.feature("local channel");
            let fields: Vec<&str> = shape
                .fields
                .iter()
                .map(|field| match field {
                    Field::Scalar(ty) => ty.keyword(),
                    _ => "chan",
                })
                .collect();
            declarations.push(Stmt::text(format!(
                "chan lc = [{}] of {{ {} }}",
                shape.capacity,
                fields.join(", ")
            )));
            frame.chans.push(Chan {
                path: vec![Seg::Text("lc".to_owned())],
                shape: 0,
                global: false,
                assignable: false,
            });
        }
        if self.exclusive {
            self.exclusive_use(frame, &mut declarations);
        }
        declarations
    }

    /// The way to a channel with fixed indexes.
    fn constant_access(&mut self, path: &[Seg]) -> String {
        path.iter()
            .map(|seg| match seg {
                Seg::Text(name) => name.clone(),
                Seg::Index(length) => format!("[{}]", self.dice.below(*length)),
            })
            .collect()
    }

    fn exclusive_use(&mut self, frame: &Frame, declarations: &mut Vec<Stmt>) {
        let global: Vec<String> = frame
            .chans
            .iter()
            .filter(|chan| chan.global && chan.path.len() == 1)
            .filter_map(|chan| match chan.path.first() {
                Some(Seg::Text(name)) => Some(name.clone()),
                _ => None,
            })
            .collect();
        if let Some(name) = self.dice.pick(&global).cloned() {
            let word = ["xr", "xs"][self.dice.below(2)];
            let text = format!("{word} {name}");
            if !self.claimed.contains(&text) {
                self.feature(word);
                self.claimed.push(text.clone());
                declarations.push(Stmt::text(text));
            }
        }
    }

    /// What init does first: it starts everything that does not start by itself.
    fn start_all(&mut self, frame: &Frame) -> Vec<Stmt> {
        let waiting: Vec<Plan> =
            self.plans.iter().filter(|plan| plan.active == 0).cloned().collect();
        let mut calls = Vec::new();
        for plan in waiting {
            let again = self.dice.chance(15) && self.plans.len() < 4;
            for _ in 0..=usize::from(again) {
                calls.extend(self.run_call(frame, &plan.name, &plan.params).map(Stmt::text));
            }
        }
        match (calls.len(), self.dice.chance(70)) {
            (0, _) => Vec::new(),
            (_, true) => vec![Stmt::block("atomic", calls)],
            (_, false) => calls,
        }
    }

    /// Puts labels into a body: those that jumps need, those others look at, and some with a meaning.
    fn label(&mut self, plan: &Plan, body: &mut Vec<Stmt>) {
        if plan.watched {
            // Not a declaration, nor a d_step, whose inside nobody sees.
            let takes = |stmt: &Stmt| !is_declaration(stmt) && !stmt.is_d_step();
            let spots: Vec<usize> = (0..body.len()).filter(|&at| takes(&body[at])).collect();
            let at = match self.dice.pick(&spots) {
                Some(&at) => at,
                None => {
                    body.push(Stmt::text("skip"));
                    body.len() - 1
                }
            };
            wrap(&mut body[at], format!("seen_{}", plan.name));
        }
        // Jumps go forward only, so that they make no loops.
        let mut jumps = Vec::new();
        let mut eligible = Vec::new();
        visit(body, &mut |stmt, at, free| {
            if matches!(stmt, Stmt::Goto(label) if label.is_empty()) {
                jumps.push(at);
            }
            if free {
                eligible.push(at);
            }
        });
        let mut names: Vec<(usize, String)> = Vec::new();
        let mut targets = Vec::new();
        let mut to_end = false;
        for jump in jumps {
            let ahead: Vec<usize> =
                eligible.iter().copied().filter(|&spot| spot > jump + 1).collect();
            let target = self.dice.pick(&ahead).copied().filter(|_| self.dice.chance(80));
            let label = match target {
                Some(spot) => match names.iter().find(|(at, _)| *at == spot) {
                    Some((_, name)) => name.clone(),
                    None => {
                        let stem = self.label_stem();
                        let name = self.fresh(stem);
                        names.push((spot, name.clone()));
                        name
                    }
                },
                None => {
                    to_end = true;
                    "finish".to_owned()
                }
            };
            targets.push((jump, label));
        }
        // Labels nobody jumps to, for their meaning.
        for &spot in &eligible {
            let chance = if self.lenient { 60 } else { 6 };
            if self.dice.chance(chance) && !names.iter().any(|(at, _)| *at == spot) {
                let stem = match self.lenient && self.dice.chance(85) {
                    true => "end",
                    false => self.label_stem(),
                };
                let name = self.fresh(stem);
                names.push((spot, name));
            }
        }
        visit(body, &mut |stmt, at, _| {
            if let Some((_, label)) = targets.iter().find(|(jump, _)| *jump == at) {
                *stmt = Stmt::Goto(label.clone());
            }
            if let Some((_, label)) = names.iter().find(|(spot, _)| *spot == at) {
                wrap(stmt, label.clone());
            }
        });
        if to_end {
            body.push(Stmt::Label("finish".to_owned(), Box::new(Stmt::text("skip"))));
        }
    }

    fn label_stem(&mut self) -> &'static str {
        match self.dice.below(8) {
            0 | 1 => {
                self.feature("end label");
                "end"
            }
            2 => {
                self.feature("progress label");
                "progress"
            }
            3 if self.class != Class::Claim => {
                self.feature("accept label");
                "accept"
            }
            _ => {
                self.feature("label");
                "L"
            }
        }
    }
}

/// Puts a label before a statement.
fn wrap(stmt: &mut Stmt, label: String) {
    let inner = std::mem::replace(stmt, Stmt::Goto(String::new()));
    *stmt = Stmt::Label(label, Box::new(inner));
}

/// Whether a statement is a declaration or another thing that takes no label.
fn is_declaration(stmt: &Stmt) -> bool {
    const WORDS: [&str; 12] = [
        "bit ",
        "bool ",
        "byte ",
        "short ",
        "int ",
        "unsigned ",
        "mtype ",
        "pid ",
        "chan ",
        "xr ",
        "xs ",
        "else",
    ];
    match stmt {
        Stmt::Leaf(pieces) => {
            let text = pieces.first().map(ToString::to_string).unwrap_or_default();
            WORDS.iter().any(|word| text.starts_with(word))
        }
        _ => false,
    }
}

/// Calls `see` on every statement outside d_steps with its number in textual order, and whether it
/// may get a label: it must not be the first of an inner sequence, nor have a label, nor be a
/// declaration.
fn visit(body: &mut [Stmt], see: &mut impl FnMut(&mut Stmt, usize, bool)) {
    let mut number = 0;
    for stmt in body {
        enter(stmt, true, &mut number, see);
    }
}

fn visit_inner(
    body: &mut [Stmt],
    number: &mut usize,
    see: &mut impl FnMut(&mut Stmt, usize, bool),
) {
    for (at, stmt) in body.iter_mut().enumerate() {
        enter(stmt, at > 0, number, see);
    }
}

fn enter(
    stmt: &mut Stmt,
    free: bool,
    number: &mut usize,
    see: &mut impl FnMut(&mut Stmt, usize, bool),
) {
    if let Stmt::Label(_, inner) = stmt {
        return enter(inner, false, number, see);
    }
    let d_step = stmt.is_d_step();
    let own = *number;
    *number += 1;
    match stmt {
        Stmt::Choice { options, .. } => {
            for option in options {
                visit_inner(option, number, see);
            }
        }
        Stmt::Block { .. } if d_step => {}
        Stmt::Block { body, .. } => visit_inner(body, number, see),
        Stmt::Unless { body, escape } => {
            visit_inner(body, number, see);
            visit_inner(escape, number, see);
        }
        Stmt::Leaf(_) | Stmt::Goto(_) | Stmt::Label(..) => {}
    }
    let free = free && !d_step && !is_declaration(stmt);
    see(stmt, own, free);
}
