//! Statements: blocks, and what may stand in which.

use super::declare::Site;
use super::expr::{Target, path};
use super::scope::{Block, Local};
use super::{Resolver, constant, walk};
use crate::ast::{
    AssignOp, Choice, Expr, ExprKind, ForRange, Initializer, ReceiveArg, Stmt, StmtKind, VarRef,
};
use crate::source::Span;
use crate::symbols::{BodyKind, MtypeId, Predefined, Scope, Symbol, Type, VarId, Variable};
use crate::{Code, Diagnostic};

impl<'m> Resolver<'m> {
    pub(super) fn sequence(&mut self, stmts: &'m [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'m Stmt) {
        for label in &stmt.labels {
            self.label(label);
        }
        self.check_event(stmt);
        match &stmt.kind {
            StmtKind::Decl(decl) => return self.declare_variables(decl, Site::Body),
            StmtKind::Exclusive { send, channels } => {
                return self.exclusive_use(*send, channels);
            }
            _ => {}
        }
        // SPIN's parser knows the end of the beginning only here.
        self.body().beginning = false;
        match &stmt.kind {
            StmtKind::Block(stmts) => self.labelled_block(stmts, "a block"),
            StmtKind::Atomic(stmts) => self.labelled_block(stmts, "an `atomic`"),
            StmtKind::DStep(stmts) => self.d_step(stmts),
            StmtKind::Inline { name, result, body, .. } => {
                self.set(name, Symbol::Inline);
                let outer = self.body().inline.replace(&name.text);
                self.labelled_block(body, "an inline");
                self.body().inline = outer;
                self.unused_result(result.as_ref());
            }
            StmtKind::If(choices) => self.choices(choices),
            StmtKind::Do(choices) => {
                self.body().loops_in_d_step += 1;
                self.choices(choices);
                self.body().loops_in_d_step -= 1;
            }
            StmtKind::For { var, range, body } => self.for_loop(var, range, body),
            StmtKind::Unless(main, escape) => self.unless(main, escape),
            _ => self.basic(stmt),
        }
    }

    /// A statement without statements in it.
    fn basic(&mut self, stmt: &'m Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                self.expr(expr);
                self.check_runs_of_condition(expr);
            }
            StmtKind::Assign(var, op) => self.assign(var, op, stmt.span),
            StmtKind::Send { channel, args, .. } => self.send(channel, args, stmt.span),
            StmtKind::Receive { channel, args, .. } => self.receive(channel, args, stmt.span),
            StmtKind::Assert(expr) => self.expr(expr),
            StmtKind::Printf { format, args } => {
                args.iter().for_each(|arg| self.expr(arg));
                self.check_format(format, args.len(), stmt.span);
            }
            StmtKind::Printm(expr) => self.expr(expr),
            StmtKind::SetPriority(pid, priority) => {
                self.expr(pid);
                self.expr(priority);
            }
            StmtKind::Goto(label) => self.jump(label),
            StmtKind::Break => {
                if self.in_d_step() && self.body().loops_in_d_step == 0 {
                    self.report(
                        Diagnostic::new(
                            Code::DStepIsOneStep,
                            stmt.span,
                            "`break` out of a `d_step`",
                        )
                        .note("a `d_step` is one step: it has one entry and one exit"),
                    );
                }
            }
            StmtKind::Select { var, from, to, .. } => {
                self.index_variable(var);
                self.expr(from);
                self.expr(to);
                self.check_range(from, to);
            }
            StmtKind::LabelOnly | StmtKind::Else | StmtKind::CCode(_) => {}
            StmtKind::Decl(_)
            | StmtKind::Exclusive { .. }
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::For { .. }
            | StmtKind::Unless(..)
            | StmtKind::Inline { .. } => {}
        }
    }

    /// Statements in braces.
    fn block(&mut self, stmts: &'m [Stmt]) {
        self.braces.open();
        let path = self.braces.path()[1..].into();
        self.body().blocks.push(Block { path, ..Block::default() });
        self.sequence(stmts);
        self.body().blocks.pop();
        self.braces.close();
    }

    /// What an inline's value is assigned to: done by its `return`, unless it has none.
    fn unused_result(&mut self, result: Option<&'m VarRef>) {
        if let Some(var) = result
            && let Some(part) = var.parts.first()
            && self.symbols.symbol(part.name.id).is_none()
        {
            self.var_ref(var, false);
        }
    }

    /// A block that a label should stand before, not in.
    fn labelled_block(&mut self, stmts: &'m [Stmt], what: &str) {
        self.check_first_label(stmts, what);
        self.block(stmts);
    }

    /// SPIN refuses a label at the first statement of a block.
    fn check_first_label(&mut self, stmts: &'m [Stmt], what: &str) {
        if let Some(span) = misplaced_label(stmts) {
            self.report(
                Diagnostic::new(
                    Code::MisplacedLabel,
                    span,
                    format!("a label at the beginning of {what}"),
                )
                .help("put the label before it"),
            );
        }
    }

    fn d_step(&mut self, stmts: &'m [Stmt]) {
        let body = self.body();
        let outer = (body.d_step, body.loops_in_d_step);
        if body.d_step.is_none() {
            body.d_steps += 1;
            body.d_step = Some(body.d_steps);
            body.loops_in_d_step = 0;
        }
        self.labelled_block(stmts, "a `d_step`");
        let body = self.body();
        (body.d_step, body.loops_in_d_step) = outer;
    }

    fn unless(&mut self, main: &'m Stmt, escape: &'m Stmt) {
        if let Some(label) = escape.labels.first() {
            self.report(
                Diagnostic::new(
                    Code::MisplacedLabel,
                    label.name.span,
                    "a label at the beginning of an escape",
                )
                .note("there is no one state to jump to"),
            );
        }
        // The label of a block goes before the whole; that of a loop is not where the loop starts.
        let has_room = matches!(
            main.kind,
            StmtKind::Block(_)
                | StmtKind::Atomic(_)
                | StmtKind::DStep(_)
                | StmtKind::Do(_)
                | StmtKind::For { .. }
        );
        if let (Some(label), false) = (main.labels.first(), has_room) {
            self.report(
                Diagnostic::new(
                    Code::MisplacedLabel,
                    label.name.span,
                    "a label at a statement before `unless`",
                )
                .help("write `label: { statement unless statement }`"),
            );
        }
        self.stmt(main);
        self.stmt(escape);
    }

    fn choices(&mut self, choices: &'m [Choice]) {
        for choice in choices {
            self.sequence(&choice.stmts);
        }
        self.check_else(choices);
    }

    /// `else` should not stand beside statements that wait for channels.
    fn check_else(&mut self, choices: &'m [Choice]) {
        let firsts = || choices.iter().filter_map(|choice| first(&choice.stmts));
        let Some(known) = firsts().find(|stmt| matches!(stmt.kind, StmtKind::Else)) else {
            return;
        };
        let Some(waits) = firsts().find(|stmt| waits_for_channel(stmt)) else {
            return;
        };
        if self.exclusive.is_empty() {
            self.report(
                Diagnostic::new(
                    Code::ElseBesideChannel,
                    known.span,
                    "`else` beside a statement that uses a channel",
                )
                .related(waits.span, "this one")
                .note(
                    "whether `else` can be taken changes when other processes send or \
                         receive; SPIN gives up its reduction for such a model",
                ),
            );
        } else {
            self.report(
                Diagnostic::new(
                    Code::BadExclusive,
                    known.span,
                    "`else` beside a statement that uses a channel, in a model with `xr` or `xs`",
                )
                .related(waits.span, "this one"),
            );
        }
    }

    /// `xr c`, `xs c`
    fn exclusive_use(&mut self, send: bool, channels: &'m [VarRef]) {
        let word = if send { "xs" } else { "xr" };
        for var in channels {
            let Some(target) = self.var_ref(var, false) else {
                continue;
            };
            let Target::Variable(id) = target else {
                self.not_a_channel(var, word);
                continue;
            };
            let variable = self.symbols.variable(id);
            if variable.ty != Type::Chan {
                self.not_a_channel(var, word);
                continue;
            }
            if variable.array.is_some() {
                let error = Diagnostic::new(
                    Code::BadExclusive,
                    var.span,
                    format!("`{word}` cannot be said of an element of an array"),
                )
                .related(variable.span, "declared here")
                .help(format!("name the element: `chan c = {}[...]; {word} c;`", path(var)));
                self.report(error);
                continue;
            }
            self.claim_channel(id, send, var, word);
        }
    }

    fn not_a_channel(&mut self, var: &VarRef, word: &str) {
        self.report(Diagnostic::new(
            Code::BadExclusive,
            var.span,
            format!("`{word}` of `{}`, which is not a channel", path(var)),
        ));
    }

    fn claim_channel(&mut self, id: VarId, send: bool, var: &VarRef, word: &str) {
        let body = self.body().id;
        match self.exclusive.get(&(id, send)).copied() {
            Some((other, first)) if other != body && var.parts.len() == 1 => {
                let error = Diagnostic::new(
                    Code::BadExclusive,
                    var.span,
                    format!(
                        "`{word} {}` in both `{}` and `{}`",
                        path(var),
                        self.symbols.body(other).name,
                        self.symbols.body(body).name
                    ),
                )
                .related(first, "claimed first here");
                self.report(error);
            }
            Some(_) => {}
            None => {
                self.exclusive.insert((id, send), (body, var.span));
            }
        }
    }

    /// A trace holds events and the ways between them.
    fn check_event(&mut self, stmt: &Stmt) {
        if !matches!(self.body_kind(), Some(BodyKind::Trace | BodyKind::NoTrace)) {
            return;
        }
        let event = match &stmt.kind {
            StmtKind::Send { sorted, .. } => !sorted,
            StmtKind::Receive { random, keep, .. } => !random && !keep,
            StmtKind::Decl(_)
            | StmtKind::Exclusive { .. }
            | StmtKind::LabelOnly
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::For { .. }
            | StmtKind::Select { .. } => true,
            _ => false,
        };
        if !event {
            self.report(
                Diagnostic::new(Code::NotAnEvent, stmt.span, "not an event")
                    .note("a trace consists of `!` and `?` on channels, `if`, `do` and `goto`"),
            );
        }
    }

    /// `run` stands alone in a condition.
    fn check_runs_of_condition(&mut self, expr: &'m Expr) {
        let runs = walk::runs(expr);
        if let [first, second, ..] = runs[..] {
            self.report(
                Diagnostic::new(
                    Code::RunInExpression,
                    second.span,
                    "a second `run` in one statement",
                )
                .related(first.span, "the first"),
            );
        } else if let [run] = runs[..]
            && !matches!(expr.kind, ExprKind::Run { .. })
        {
            self.report(
                Diagnostic::new(Code::RunInExpression, run.span, "`run` inside another expression")
                    .help("give the number of the new process to a variable first: `p = run P()`"),
            );
        }
    }

    fn assign(&mut self, var: &'m VarRef, op: &'m AssignOp, span: Span) {
        let target = self.assigned(var);
        if self.body_kind() == Some(BodyKind::Never) {
            self.report(Diagnostic::new(
                Code::ClaimHasEffect,
                span,
                "a never claim with a side effect",
            ));
        }
        match op {
            AssignOp::Set(value) => {
                self.expr(value);
                self.check_assigned(var, target, value);
            }
            AssignOp::Increment | AssignOp::Decrement => {
                if let Some(target) = target {
                    self.check_readable(var, target);
                }
                if self.is_plain_channel(var) {
                    self.report(Diagnostic::new(
                        Code::ChannelAsNumber,
                        span,
                        "a channel is not a number",
                    ));
                }
            }
        }
        if let Some(target) = target {
            self.check_writable(var, target);
        }
        self.check_self_index(var);
    }

    /// What is assigned to: a single value.
    fn assigned(&mut self, var: &'m VarRef) -> Option<Target> {
        let target = self.var_ref(var, false)?;
        if let Target::Variable(id) = target
            && let Type::Struct(_) = self.symbols.variable(id).ty
        {
            let error = Diagnostic::new(
                Code::RecordAsValue,
                var.span,
                "a record cannot be assigned to as a whole",
            )
            .related(self.symbols.variable(id).span, "declared here")
            .help("assign to its fields one by one");
            self.report(error);
            return None;
        }
        Some(target)
    }

    fn check_writable(&mut self, var: &VarRef, target: Target) {
        let what = match target {
            Target::Variable(_)
            | Target::Predefined(Predefined::Scratch | Predefined::Priority) => return,
            Target::Constant => "an mtype constant",
            Target::Predefined(_) => "a variable that only the system sets",
        };
        self.report(Diagnostic::new(
            Code::AssignedConstant,
            var.span,
            format!("assignment to `{}`, {what}", path(var)),
        ));
    }

    /// What is assigned: channels whole, mtype constants of one set, numbers that fit.
    fn check_assigned(&mut self, var: &'m VarRef, target: Option<Target>, value: &'m Expr) {
        let Some(Target::Variable(id)) = target else {
            return;
        };
        let variable = self.symbols.variable(id);
        let (ty, array) = (variable.ty, variable.array.is_some());
        if var.parts.len() == 1 {
            if ty == Type::Chan && constant(value, &self.symbols).is_some() {
                self.report(Diagnostic::new(
                    Code::ChannelAsNumber,
                    value.span,
                    "a number is not a channel",
                ));
                return;
            }
            self.no_channel_arithmetic(value);
            if let Some((set, _)) = self.mtype_constant(value) {
                self.check_set(id, set, value.span);
            }
        }
        self.check_fits(value, ty, array);
    }

    /// A variable takes mtype constants of its own set or, if it has none, of the first one that
    /// was assigned to it.
    fn check_set(&mut self, id: VarId, set: MtypeId, span: Span) {
        let variable = self.symbols.variable(id);
        match variable.ty {
            Type::Mtype(own) if own != MtypeId(0) => {
                if own != set {
                    let place = variable.span;
                    self.wrong_set(span, set, own, place);
                }
            }
            _ => match self.assigned_set.get(&id).copied() {
                Some((first, place)) if first != set => {
                    let error = Diagnostic::new(
                        Code::MixedMtypes,
                        span,
                        format!(
                            "a constant of {} for a variable that also takes those of {}",
                            self.set_name(set),
                            self.set_name(first)
                        ),
                    )
                    .related(place, "such a one");
                    self.report(error);
                }
                Some(_) => {}
                None => {
                    self.assigned_set.insert(id, (set, span));
                }
            },
        }
    }

    /// SPIN cannot undo an assignment to an element whose index is in the same array.
    fn check_self_index(&mut self, var: &'m VarRef) {
        if let Some(span) = indexed_by_itself(var, &mut Vec::new()).1 {
            self.report(
                Diagnostic::new(Code::IndexedByItself, span, "an array indexed by its own element")
                    .help("copy the index to a variable first"),
            );
        }
    }

    fn send(&mut self, channel: &'m VarRef, args: &'m [Expr], span: Span) {
        let known = self.channel(channel, true);
        self.no_claim_io(span);
        let is_trace = matches!(self.body_kind(), Some(BodyKind::Trace | BodyKind::NoTrace));
        let mut given = Some(0_usize);
        for arg in args {
            // In a trace it stands for anything.
            if is_trace && self.is_scratch(arg) {
                continue;
            }
            let width = self.argument(arg);
            given = given.and_then(|given| given.checked_add(width?));
            if let Some(run) = walk::runs(arg).first() {
                self.report(Diagnostic::new(Code::RunInExpression, run.span, "`run` in a message"));
            }
        }
        if !is_trace {
            self.message(span, known, given, true);
        }
        if let Some(id) = known
            && self.in_d_step()
            && let Some(channel) = &self.symbols.variable(id).channel
            && channel.capacity == 0
        {
            let place = self.symbols.variable(id).span;
            self.report(
                Diagnostic::new(
                    Code::RendezvousInDStep,
                    span,
                    "a rendezvous cannot happen inside a `d_step`",
                )
                .related(place, "a rendezvous channel"),
            );
        }
    }

    fn receive(&mut self, channel: &'m VarRef, args: &'m [ReceiveArg], span: Span) {
        let known = self.channel(channel, true);
        self.no_claim_io(span);
        let given = self.receive_args(args);
        self.message(span, known, given, false);
        let mut seen: Vec<VarId> = Vec::new();
        for arg in args {
            let ReceiveArg::Var(var) = arg else { continue };
            let [part] = &var.parts[..] else { continue };
            let Some(Symbol::Variable(id)) = self.symbols.symbol(part.name.id) else {
                continue;
            };
            let variable = self.symbols.variable(id);
            if variable.array.is_some() || matches!(variable.ty, Type::Struct(_)) {
                continue;
            }
            if seen.contains(&id) {
                self.report(Diagnostic::new(
                    Code::ReceivedTwice,
                    var.span,
                    format!("`{}` stands for two fields of one message", part.name.text),
                ));
            }
            seen.push(id);
        }
    }

    fn no_claim_io(&mut self, span: Span) {
        if self.body_kind() == Some(BodyKind::Never) {
            self.report(
                Diagnostic::new(
                    Code::ClaimCommunicates,
                    span,
                    "a never claim can neither send nor receive",
                )
                .help("a claim can look at a channel: `c?[...]`, `len(c)`"),
            );
        }
    }

    fn check_format(&mut self, format: &str, args: usize, span: Span) {
        let mut wanted = 0;
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                continue;
            }
            match chars.next() {
                Some('%') | None => {}
                Some('c' | 'd' | 'e' | 'o' | 'u' | 'x') => wanted += 1,
                Some(other) => {
                    wanted += 1;
                    self.report(
                        Diagnostic::new(
                            Code::BadFormat,
                            span,
                            format!("`printf` does not know `%{other}`"),
                        )
                        .help("it knows %c, %d, %e, %o, %u, %x and %%"),
                    );
                }
            }
        }
        if args < wanted {
            self.report(Diagnostic::new(
                Code::BadFormat,
                span,
                format!("`printf` wants {wanted} values, but there are {args}"),
            ));
        }
    }

    fn for_loop(&mut self, var: &'m VarRef, range: &'m ForRange, body: &'m [Stmt]) {
        self.in_for_head = true;
        match range {
            ForRange::Numbers(from, to) => {
                self.index_variable(var);
                self.expr(from);
                self.expr(to);
                self.check_range(from, to);
            }
            ForRange::In(container) => self.for_in(var, container),
        }
        self.in_for_head = false;
        self.body().loops_in_d_step += 1;
        self.block(body);
        self.body().loops_in_d_step -= 1;
    }

    /// The variable that a loop or `select` sets: a plain one.
    fn index_variable(&mut self, var: &'m VarRef) {
        let Some(target) = self.var_ref(var, true) else {
            return;
        };
        let Target::Variable(id) = target else {
            return self.check_writable(var, target);
        };
        let variable = self.symbols.variable(id);
        if variable.array.is_some()
            || var.parts.len() > 1
            || matches!(variable.ty, Type::Chan | Type::Struct(_))
        {
            let error = Diagnostic::new(
                Code::BadLoopVariable,
                var.span,
                format!("`{}` is not a plain variable that can count", path(var)),
            )
            .related(variable.span, "declared here");
            self.report(error);
        }
    }

    fn check_range(&mut self, from: &Expr, to: &Expr) {
        if let (ExprKind::Number(first), ExprKind::Number(last)) = (&from.kind, &to.kind)
            && first > last
        {
            self.report(Diagnostic::new(
                Code::EmptyRange,
                from.span.to(to.span),
                format!("the range {first} .. {last} is empty"),
            ));
        }
    }

    /// `for (v in c)`
    fn for_in(&mut self, var: &'m VarRef, container: &'m VarRef) {
        let target = self.var_ref(var, true);
        let container_target = self.var_ref(container, true);
        let (Some(target), Some(Target::Variable(id))) = (target, container_target) else {
            if let Some(Target::Constant | Target::Predefined(_)) = container_target {
                self.not_a_container(container);
            }
            return;
        };
        let record = match target {
            Target::Variable(id) => match self.symbols.variable(id).ty {
                Type::Struct(typedef) => Some(typedef),
                _ => None,
            },
            _ => None,
        };
        let Some(record) = record else {
            self.index_variable(var);
            if self.symbols.variable(id).array.is_none() || container.parts.len() > 1 {
                self.not_a_container(container);
            }
            return;
        };
        let variable = self.symbols.variable(id);
        let fits = variable.channel.as_ref().is_some_and(|channel| {
            channel.capacity > 0 && channel.fields == [Type::Struct(record)]
        });
        if !fits {
            let error = Diagnostic::new(
                Code::BadLoopRange,
                container.span,
                format!(
                    "`{}` is not a channel of single `{}` records",
                    path(container),
                    self.symbols.typedef(record).name
                ),
            )
            .related(variable.span, "declared here")
            .note(
                "a loop with a record runs over the messages of a channel that is declared with \
                 a capacity and just that record",
            );
            self.report(error);
            return;
        }
        let capacity = variable.channel.as_ref().map_or(0, |channel| channel.capacity);
        let counter = self.for_counter(var.span, capacity);
        if let Some(part) = var.parts.first() {
            self.symbols.for_counters.insert(part.name.id, counter);
        }
    }

    fn not_a_container(&mut self, container: &VarRef) {
        // SPIN takes the size of the outermost variable, whatever the field is.
        let error = if container.parts.len() > 1 {
            Diagnostic::new(
                Code::BadLoopRange,
                container.span,
                format!("a loop cannot run over `{}`, a field of a record", path(container)),
            )
            .help("count instead: `for (i : 0 .. n) { ... }`, where `n` is the last index")
        } else {
            Diagnostic::new(
                Code::BadLoopRange,
                container.span,
                format!("`{}` is not an array to run over", path(container)),
            )
            .note("a loop over the messages of a channel needs a record variable")
        };
        self.report(error);
    }

    /// The hidden counter of the loops over channels in this block.
    fn for_counter(&mut self, span: Span, capacity: u32) -> VarId {
        let ty = if capacity > 255 { Type::Short } else { Type::Byte };
        if let Some(id) = self.body().innermost().for_counter {
            if ty == Type::Short {
                self.symbols.variables[id.0 as usize].ty = ty;
            }
            return id;
        }
        let id = VarId(self.symbols.variables.len() as u32);
        // SPIN's name for it.
        let numbers = self.braces.path().iter().map(|number| format!("{number}_"));
        let name = format!("_f0r_t3mp_{}", numbers.collect::<String>());
        let body = self.body();
        let (scope, block) = (Scope::Local(body.id), body.innermost().path.clone());
        body.innermost().for_counter = Some(id);
        body.declare(&name, Local::Variable(id), span);
        let body = body.id;
        self.symbols.bodies[body.0 as usize].locals.push(id);
        self.symbols.variables.push(Variable {
            name,
            span,
            ty,
            array: None,
            scope,
            block,
            visibility: None,
            at_creation: true,
            parameter: false,
            channel: None,
            synthetic: true,
        });
        id
    }

    /// `provided (e)`: may look at globals only.
    pub(super) fn provided(&mut self, expr: &'m Expr) {
        self.expr(expr);
        let mut problems: Vec<(Span, &str)> = Vec::new();
        walk::each(expr, &mut |e| match &e.kind {
            ExprKind::Run { .. } => problems.push((e.span, "`run` in a `provided` clause")),
            ExprKind::RemoteLabel { .. } | ExprKind::RemoteVar { .. } => {
                problems.push((e.span, "a `provided` clause cannot look into another process"))
            }
            ExprKind::Var(var)
            | ExprKind::Len(var)
            | ExprKind::ChannelTest(_, var)
            | ExprKind::Poll { channel: var, .. } => {
                let symbol = var.parts.first().map(|part| self.symbols.symbol(part.name.id));
                if let Some(Some(Symbol::Variable(id))) = symbol
                    && matches!(self.symbols.variable(id).scope, Scope::Local(_))
                {
                    problems
                        .push((var.span, "a `provided` clause can look at global variables only"));
                }
            }
            _ => {}
        });
        for (span, problem) in problems {
            self.report(Diagnostic::new(Code::BadProvided, span, problem));
        }
    }
}

/// The first statement that becomes a step.
fn first(stmts: &[Stmt]) -> Option<&Stmt> {
    stmts.iter().find(|stmt| !matches!(stmt.kind, StmtKind::Exclusive { .. }))
}

/// A label at the first statement of a block, where SPIN cannot put one. Loops begin with a state
/// of their own that can take it.
fn misplaced_label(stmts: &[Stmt]) -> Option<Span> {
    let stmt = first(stmts)?;
    let label = stmt.labels.first()?;
    match &stmt.kind {
        StmtKind::Do(_) | StmtKind::For { .. } | StmtKind::Decl(_) => None,
        StmtKind::Select { literal, .. } if !literal => None,
        _ => Some(label.name.span),
    }
}

/// Whether a statement can be executed only when a channel is ready, as SPIN sees it.
fn waits_for_channel(stmt: &Stmt) -> bool {
    let tests_channel = |expr: &Expr| {
        let mut found = false;
        walk::each(expr, &mut |e| {
            found |= matches!(e.kind, ExprKind::ChannelTest(..));
        });
        found
    };
    match &stmt.kind {
        StmtKind::Send { .. } | StmtKind::Receive { .. } => true,
        StmtKind::Expr(expr)
        | StmtKind::Assert(expr)
        | StmtKind::Assign(_, AssignOp::Set(expr)) => tests_channel(expr),
        StmtKind::Decl(decl) => decl
            .vars
            .iter()
            .any(|var| matches!(&var.init, Some(Initializer::Expr(expr)) if tests_channel(expr))),
        _ => false,
    }
}

/// The shape of a reference, indexes left out, and the place of an index in it that is an element
/// of an array it is itself in the index of.
fn indexed_by_itself(var: &VarRef, around: &mut Vec<String>) -> (String, Option<Span>) {
    let mut shape = String::new();
    let mut found = None;
    for part in &var.parts {
        if !shape.is_empty() {
            shape.push('.');
        }
        shape.push_str(&part.name.text);
        let Some(index) = &part.index else { continue };
        shape.push_str("[]");
        let ExprKind::Var(inner) = &index.kind else {
            continue;
        };
        around.push(shape.clone());
        let (inner_shape, inner_found) = indexed_by_itself(inner, around);
        found = found.or(inner_found);
        if around.contains(&inner_shape) {
            found = found.or(Some(index.span));
        }
        around.pop();
    }
    (shape, found)
}
