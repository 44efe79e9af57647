//! The outermost level: declarations, the plan of processes, claims and traces.

use super::Generator;
use super::ast::{Class, Expr, Stmt, Unit};
use super::scope::{Chan, Field, Frame, Inline, InlineParams, Param, Plan, Seg, Shape, Ty, Var};

/// How many processes there are at the start, and how long their bodies get.
struct Scale {
    instances: usize,
    statements: (usize, usize),
    /// Variables that may change in endless loops.
    small: usize,
}

impl Generator {
    /// All of the model.
    pub fn units(&mut self) -> Vec<Unit> {
        let scale = match self.dice.weighted(&[(20, 1), (40, 2), (28, 3), (12, 4)]) {
            1 => Scale { instances: 1, statements: (12, 28), small: 5 },
            2 => Scale { instances: 2, statements: (8, 18), small: 3 },
            3 => Scale { instances: 3, statements: (5, 10), small: 2 },
            _ => Scale { instances: 4, statements: (4, 7), small: 1 },
        };
        let mut units = Vec::new();
        self.macros(&mut units);
        self.mtype_declarations(&mut units);
        self.globals(&mut units, scale.small);
        self.channels(&mut units);
        self.inline_declarations(&mut units);
        self.plan(scale.instances);
        for number in 0..self.plans.len() {
            let budget = self.dice.range(scale.statements.0, scale.statements.1);
            let unit = self.proctype(number, budget);
            units.push(unit);
        }
        match self.class {
            Class::Claim => self.claim(&mut units),
            Class::Trace => self.trace(&mut units),
            Class::Plain | Class::Priority => {}
        }
        units
    }

    fn macros(&mut self, units: &mut Vec<Unit>) {
        if self.dice.chance(30) {
            let value = self.dice.range(1, 4);
            units.push(Unit::Text(format!("#define LIMIT {value}")));
            self.constants.push("LIMIT".to_owned());
        }
        if self.dice.chance(25) {
            self.has_macro = true;
            units.push(Unit::Text("#define ISPOS(x) ((x) > 0)".to_owned()));
            units.push(Unit::Text("#define BUMP(x) x = ((x) + 1) & 3".to_owned()));
        }
    }

    fn mtype_declarations(&mut self, units: &mut Vec<Unit>) {
        units.push(Unit::Text("mtype = { red, green, blue }".to_owned()));
        self.mtypes.extend(["red", "green", "blue"].map(str::to_owned));
        if self.dice.chance(15) {
            self.feature("several mtype declarations");
            units.push(Unit::Text("mtype = { on, off }".to_owned()));
            self.mtypes.extend(["on", "off"].map(str::to_owned));
        }
        if self.dice.chance(12) {
            self.feature("named mtype");
            units.push(Unit::Text("mtype:fruit = { apple, pear }".to_owned()));
            units.push(Unit::Text("mtype:fruit basket = pear".to_owned()));
            self.vars.push(Var::scalar("basket", Ty::Fruit, false));
        }
    }

    /// A prefix of a global declaration.
    fn prefix(&mut self) -> &'static str {
        match self.dice.below(30) {
            0 => {
                self.feature("show");
                "show "
            }
            1 => {
                self.feature("local");
                "local "
            }
            _ => "",
        }
    }

    fn globals(&mut self, units: &mut Vec<Unit>, small: usize) {
        let count = self.dice.range(2, 5);
        for at in 0..count {
            let name = self.fresh("g");
            let ty = self.scalar_type();
            let prefix = self.prefix();
            let mut text = format!("{prefix}{}", ty.declare(&name));
            if self.dice.chance(30) {
                let value = self.literal();
                text += &format!(" = {value}");
            }
            units.push(Unit::Text(text));
            self.vars.push(Var::scalar(&name, ty, at < small));
        }
        if self.dice.chance(45) {
            let name = self.fresh("a");
            let length = self.dice.range(2, 4);
            let ty =
                [Ty::Bit, Ty::Bool, Ty::Byte, Ty::Short, Ty::Int, Ty::Mtype][self.dice.below(6)];
            let mut text = format!("{} {name}[{length}]", ty.keyword());
            match self.dice.below(4) {
                0 => text += " = 1",
                1 => {
                    self.feature("array with initial list");
                    let values = ["2, 1", "1, 0, 3", "0, 1, 2, 3"][length - 2];
                    text += &format!(" = {{ {values} }}");
                }
                _ => {}
            }
            units.push(Unit::Text(text));
            self.arrays.push((name.clone(), length));
            self.vars.push(Var {
                path: vec![Seg::Text(name), Seg::Index(length)],
                ty,
                small: small > 3,
            });
        }
        if self.dice.chance(35) {
            self.structures(units, small > 4);
        }
        if self.dice.chance(30) {
            units.push(Unit::Text("typedef Msg { byte key; bit flag }".to_owned()));
            units.push(Unit::Text("Msg box".to_owned()));
            self.records.push("box".to_owned());
            for (field, ty) in [(".key", Ty::Byte), (".flag", Ty::Bit)] {
                self.vars.push(Var {
                    path: vec![Seg::Text("box".to_owned()), Seg::Text(field.to_owned())],
                    ty,
                    small: false,
                });
            }
        }
        if self.dice.chance(15) {
            let ty = ["byte", "int", "short"][self.dice.below(3)];
            units.push(Unit::Text(format!("hidden {ty} scrap")));
            self.hidden = Some("scrap".to_owned());
        }
    }

    fn scalar_type(&mut self) -> Ty {
        self.dice.weighted(&[
            (4, Ty::Bit),
            (2, Ty::Bool),
            (8, Ty::Byte),
            (3, Ty::Short),
            (3, Ty::Int),
            (1, Ty::Unsigned(1)),
            (1, Ty::Unsigned(2)),
            (2, Ty::Unsigned(5)),
            (2, Ty::Mtype),
            (1, Ty::Pid),
        ])
    }

    /// Structures in structures, arrays in structures and arrays of structures.
    fn structures(&mut self, units: &mut Vec<Unit>, small: bool) {
        units.push(Unit::Text("typedef Inner { short lo; bit hi }".to_owned()));
        units.push(Unit::Text(
            "typedef Outer { byte tag; Inner sub; byte row[2]; unsigned few : 3 }".to_owned(),
        ));
        let array = self.dice.chance(45);
        units.push(Unit::Text(match array {
            true => "Outer deep[2]".to_owned(),
            false => "Outer deep".to_owned(),
        }));
        let fields = [
            (vec![Seg::Text(".tag".to_owned())], Ty::Byte),
            (vec![Seg::Text(".sub.lo".to_owned())], Ty::Short),
            (vec![Seg::Text(".sub.hi".to_owned())], Ty::Bit),
            (vec![Seg::Text(".row".to_owned()), Seg::Index(2)], Ty::Byte),
            (vec![Seg::Text(".few".to_owned())], Ty::Unsigned(3)),
        ];
        for (rest, ty) in fields {
            let mut path = vec![Seg::Text("deep".to_owned())];
            if array {
                path.push(Seg::Index(2));
            }
            path.extend(rest);
            self.vars.push(Var { path, ty, small });
        }
    }

    /// Channels: a few shapes, each with a channel or an array of channels.
    fn channels(&mut self, units: &mut Vec<Unit>) {
        let mut count = self.dice.weighted(&[(15, 0), (45, 1), (40, 2)]);
        if self.class == Class::Trace {
            count = count.max(1);
        }
        for number in 0..count {
            let shape = self.shape(number);
            let fields: Vec<&str> = shape
                .fields
                .iter()
                .map(|field| match field {
                    Field::Scalar(ty) => ty.keyword(),
                    Field::Chan(_) => "chan",
                    Field::Record => "Msg",
                })
                .collect();
            let body = format!("[{}] of {{ {} }}", shape.capacity, fields.join(", "));
            if shape.rendezvous() {
                self.feature("rendezvous channel");
            } else {
                self.feature("buffered channel");
            }
            self.shapes.push(shape);
            let name = self.fresh("q");
            let mut path = vec![Seg::Text(name.clone())];
            let array = self.class != Class::Trace && !self.exclusive && self.dice.chance(20);
            if array {
                path.push(Seg::Index(2));
                units.push(Unit::Text(format!("chan {name}[2] = {body}")));
            } else {
                units.push(Unit::Text(format!("chan {name} = {body}")));
            }
            self.chans.push(Chan { path, shape: number, global: true, assignable: false });
        }
    }

    fn shape(&mut self, number: usize) -> Shape {
        let rendezvous = self.class != Class::Priority
            && self.class != Class::Trace
            && !self.exclusive
            && self.dice.chance(35);
        let capacity = match rendezvous {
            true => 0,
            false => self.dice.weighted(&[(5, 1), (4, 2), (1, 3)]),
        };
        let mut fields = vec![Field::Scalar(self.message_type())];
        if number > 0 && self.dice.chance(45) {
            fields[0] = Field::Chan(0);
        } else if !self.records.is_empty() && self.dice.chance(50) {
            fields[0] = Field::Record;
        }
        if self.dice.chance(40) {
            let field = Field::Scalar(self.message_type());
            let at = self.dice.below(2);
            fields.insert(at, field);
        }
        Shape { fields, capacity }
    }

    fn message_type(&mut self) -> Ty {
        self.dice.weighted(&[
            (3, Ty::Bit),
            (5, Ty::Byte),
            (2, Ty::Short),
            (2, Ty::Int),
            (3, Ty::Mtype),
        ])
    }

    fn inline_declarations(&mut self, units: &mut Vec<Unit>) {
        if self.dice.chance(30) {
            let body = match self.dice.below(4) {
                0 => vec![Stmt::text("pv = px")],
                1 => vec![Stmt::choice(vec![
                    vec![Stmt::text("pv > 2"), Stmt::text("pv = px")],
                    vec![Stmt::text("else"), Stmt::text("pv = (pv + 1) & 3")],
                ])],
                2 => {
                    self.feature("inline with a local variable");
                    vec![Stmt::text("byte keep = px"), Stmt::text("pv = (pv + keep) & 3")]
                }
                _ => vec![Stmt::text("pv = px"), Stmt::text("pv = (pv ^ 1) & 3")],
            };
            units.push(Unit::Body { header: "inline change(pv, px)".to_owned(), body });
            self.inlines.push(Inline { name: "change".to_owned(), params: InlineParams::VarValue });
        }
        if self.dice.chance(20) {
            let mut body = vec![Stmt::text("(pc)"), Stmt::text("pw = 0")];
            if self.dice.chance(50) {
                body = vec![Stmt::block("atomic", body)];
            }
            units.push(Unit::Body { header: "inline await(pc, pw)".to_owned(), body });
            self.inlines.push(Inline { name: "await".to_owned(), params: InlineParams::WaitVar });
        }
        if self.dice.chance(12) {
            units.push(Unit::Body {
                header: "inline nothing()".to_owned(),
                body: vec![Stmt::text("printf(\"nothing\\n\")")],
            });
            self.inlines.push(Inline { name: "nothing".to_owned(), params: InlineParams::Nothing });
        }
    }

    /// Decides which proctypes there are and how their processes come to be.
    fn plan(&mut self, instances: usize) {
        // With an init, it starts the others or most of them and has pid 0; without, all are active.
        let init = self.dice.chance(45);
        let mut left = instances;
        let mut pid = 0;
        let mut starts = false;
        while left > 0 {
            let name = format!("P{}", self.plans.len());
            let several = left > 1 && self.dice.chance(20);
            let count = if several { 2 } else { 1 };
            let active = !init || self.dice.chance(30);
            let may_start = active && !init && !starts && instances < 4 && self.dice.chance(25);
            starts |= may_start;
            let params = match active {
                true if self.dice.chance(85) => Vec::new(),
                _ => self.params(active),
            };
            if active && several {
                self.feature("active [n]");
            } else if active {
                self.feature("active");
            }
            self.plans.push(Plan {
                name,
                active: if active { count } else { 0 },
                pid: active.then_some(pid),
                params,
                starts: may_start,
                watched: active,
            });
            pid += if active { count } else { 0 };
            left -= count;
        }
        if init {
            self.feature("init");
            self.plans.push(Plan {
                name: "init".to_owned(),
                active: 1,
                pid: None,
                params: Vec::new(),
                starts: true,
                watched: false,
            });
        } else if starts {
            // Something to start, that starts nothing itself.
            let params = self.params(false);
            self.plans.push(Plan {
                name: format!("P{}", self.plans.len()),
                active: 0,
                pid: None,
                params,
                starts: false,
                watched: false,
            });
        }
        // A process can be looked at by its number only if that number is never another's: when it is
        // gone, no older process may be there to start a new one.
        let oldest_starter = self.plans.iter().position(|plan| plan.starts);
        if let Some(oldest) = oldest_starter {
            for plan in self.plans.iter_mut().skip(oldest + 1) {
                plan.watched = false;
            }
        }
    }

    fn params(&mut self, active: bool) -> Vec<Param> {
        let mut params = Vec::new();
        for _ in 0..self.dice.below(3) {
            let chan = !active && !self.shapes.is_empty() && self.dice.chance(45);
            params.push(if chan {
                Param::Chan(self.dice.below(self.shapes.len()))
            } else if !self.records.is_empty() && self.dice.chance(40) {
                Param::Record
            } else {
                let ty = [Ty::Bit, Ty::Byte, Ty::Short, Ty::Int, Ty::Mtype][self.dice.below(5)];
                Param::Scalar(ty)
            });
        }
        params
    }

    /// A frame that sees what is global only.
    pub fn global_frame(&self) -> Frame {
        Frame {
            plan: usize::MAX,
            vars: self.vars.clone(),
            chans: self.chans.clone(),
            records: self.records.clone(),
            arrays: self.arrays.clone(),
            declarations: Vec::new(),
            budget: 0,
            scoped: Vec::new(),
            runs: 0,
        }
    }

    /// A proposition for a claim.
    fn proposition(&mut self) -> Expr {
        let mut frame = self.global_frame();
        frame.vars.retain(Var::plain);
        if self.dice.chance(25)
            && let Some(remote) = self.remote(&frame)
        {
            return remote;
        }
        let name = match self.dice.pick(&frame.vars) {
            Some(var) => var.root().to_owned(),
            None => "_nr_pr".to_owned(),
        };
        let operator = ["==", "!=", "<", ">"][self.dice.below(4)];
        let number = self.dice.below(3).to_string();
        Expr::binary(Expr::atom(name), operator, Expr::atom(number))
    }

    fn claim(&mut self, units: &mut Vec<Unit>) {
        let (p, q) = (self.proposition(), self.proposition());
        if self.dice.chance(50) {
            self.feature("ltl");
            let formula = match self.dice.below(5) {
                0 => format!("[] {p}"),
                1 => format!("<> {p}"),
                2 => format!("[] ({p} -> <> {q})"),
                3 => format!("[] <> {p}"),
                _ => format!("{p} U {q}"),
            };
            units.push(Unit::Text(format!("ltl formula {{ {formula} }}")));
            return;
        }
        self.feature("never");
        let wait = |stmts: Vec<Stmt>| Stmt::Choice {
            repeat: true,
            options: vec![vec![Stmt::text("true")], stmts],
        };
        let first = Stmt::condition(p);
        let body = match self.dice.below(3) {
            0 => vec![wait(vec![first, Stmt::text("break")])],
            1 => vec![
                wait(vec![first, Stmt::text("break")]),
                Stmt::Label(
                    "accept".to_owned(),
                    Box::new(Stmt::Choice {
                        repeat: true,
                        options: vec![vec![Stmt::condition(q)]],
                    }),
                ),
            ],
            _ => vec![wait(vec![first, Stmt::text("break")]), Stmt::condition(q)],
        };
        units.push(Unit::Body { header: "never".to_owned(), body });
    }

    /// A trace or notrace assertion about one buffered channel.
    fn trace(&mut self, units: &mut Vec<Unit>) {
        let Some((name, fields)) = self.chans.first().map(|chan| {
            let name = match chan.path.first() {
                Some(Seg::Text(name)) => name.clone(),
                _ => String::new(),
            };
            (name, self.shapes[chan.shape].fields.clone())
        }) else {
            return;
        };
        let width: usize =
            fields.iter().map(|field| if *field == Field::Record { 2 } else { 1 }).sum();
        let any = vec!["_"; width].join(",");
        let (send, receive) =
            (Stmt::text(format!("{name}!{any}")), Stmt::text(format!("{name}?{any}")));
        let header = match self.dice.chance(50) {
            true => {
                self.feature("trace");
                "trace"
            }
            false => {
                self.feature("notrace");
                "notrace"
            }
        };
        let body = match self.dice.below(3) {
            0 => vec![Stmt::Choice { repeat: true, options: vec![vec![send, receive]] }],
            1 => vec![send.clone(), receive, send],
            _ => vec![Stmt::Choice {
                repeat: true,
                options: vec![vec![send, Stmt::text("break")], vec![receive]],
            }],
        };
        units.push(Unit::Body { header: header.to_owned(), body });
    }
}
