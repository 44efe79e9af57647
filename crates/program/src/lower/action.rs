//! What the elements do, and how they are shown.

use spinward_promela::Code;
use spinward_promela::ast::{
    AssignOp, BinaryOp, Decl, Expr as AstExpr, ExprKind, ForRange, Initializer, Stmt, StmtKind,
    TypeName, VarRef,
};
use spinward_promela::pretty;
use spinward_promela::symbols::{BodyId, BodyKind, MtypeId, Predefined, Symbol, Type, VarId};

use super::expr::{Context, Named, binary};
use super::flow::{
    self, BlockKind, Destination, Flow, Join, Jump, Kind, Rotate, SequenceId, Simple,
};
use crate::ir::{Action, ElementId, Expr, Place, ReceiveArg};

impl<'a> Context<'a> {
    /// What an element does; nothing is asked about choices and blocks.
    pub fn action(&mut self, flow: &Flow<'a>, id: ElementId) -> Action {
        let element = flow.element(id);
        let in_trace =
            matches!(self.symbols.body(element.body).kind, BodyKind::Trace | BodyKind::NoTrace);
        match &element.kind {
            Kind::Simple(Simple::Statement(stmt)) if in_trace => self.event(stmt),
            Kind::Simple(simple) => {
                let action = self.simple(*simple);
                if element.d_step.is_some() && matches!(action, Action::Run { .. }) {
                    self.error(Code::RunInDStep, element.span, "`run` inside of a `d_step`");
                }
                action
            }
            Kind::Else => Action::Else,
            Kind::End => Action::Die,
            Kind::Goto(_)
            | Kind::Join(_)
            | Kind::LoopExit
            | Kind::Choice { .. }
            | Kind::Unless(..)
            | Kind::Block(..) => Action::Skip,
        }
    }

    fn simple(&mut self, simple: Simple<'a>) -> Action {
        match simple {
            Simple::Skip => Action::Skip,
            Simple::Statement(stmt) => self.statement(stmt),
            Simple::Declare(decl, i) => self.declaration(decl, i),
            Simple::Set(var, value) => self.assign(var, value),
            Simple::SetNumber(var, value) => self.assign_value(var, Expr::Const(value)),
            Simple::AtMost(var, limit) => self.compare(var, BinaryOp::Le, limit),
            Simple::AtMostNumber(var, limit) => {
                let value = self.var(var);
                Action::Condition(binary(BinaryOp::Le, value, Expr::Const(limit)))
            }
            Simple::Below(var, limit) => self.compare(var, BinaryOp::Lt, limit),
            Simple::Increment(var) => self.count(var, BinaryOp::Add),
            Simple::Rotate(step, stmt) => self.rotate(step, stmt),
        }
    }

    fn compare(&mut self, var: &VarRef, op: BinaryOp, limit: &AstExpr) -> Action {
        let value = self.var(var);
        let limit = self.expr(limit);
        Action::Condition(binary(op, value, limit))
    }

    fn count(&mut self, var: &VarRef, op: BinaryOp) -> Action {
        let value = self.var(var);
        self.assign_value(var, binary(op, value, Expr::Const(1)))
    }

    fn statement(&mut self, stmt: &'a Stmt) -> Action {
        match &stmt.kind {
            StmtKind::Expr(expr) => match &expr.kind {
                ExprKind::Run { .. } => self.run(None, expr),
                // Also by the name of an mtype constant; but not what only comes to 1.
                _ if flow::constant(self.symbols, expr) == Some(1) => Action::Skip,
                _ => Action::Condition(self.expr(expr)),
            },
            StmtKind::Assign(var, AssignOp::Set(value)) => self.assign(var, value),
            StmtKind::Assign(var, AssignOp::Increment) => self.count(var, BinaryOp::Add),
            StmtKind::Assign(var, AssignOp::Decrement) => self.count(var, BinaryOp::Sub),
            StmtKind::Send { channel, sorted, args } => Action::Send {
                channel: self.var(channel),
                sorted: *sorted,
                args: self.all_values(args),
            },
            StmtKind::Receive { channel, random, keep, args } => Action::Receive {
                channel: self.var(channel),
                random: *random,
                keep: *keep,
                args: self.receive_args(args),
            },
            StmtKind::Assert(expr) => Action::Assert(self.expr(expr)),
            StmtKind::Printf { format, args } => Action::Print {
                format: unescape(format),
                args: args.iter().map(|arg| (self.expr(arg), self.mtype_of(arg))).collect(),
            },
            StmtKind::Printm(expr) => {
                let set = self.mtype_of(expr).unwrap_or(MtypeId(0));
                Action::PrintMtype(self.expr(expr), set)
            }
            StmtKind::SetPriority(process, priority) => {
                self.uses.priorities = true;
                let process = self.expr(process);
                Action::SetPriority(process, self.expr(priority))
            }
            StmtKind::CCode(text) => {
                self.uses.c_code = Some(stmt.span);
                Action::C(text.code.clone())
            }
            // The others are no simple statements, or do nothing.
            _ => Action::Skip,
        }
    }

    fn all_values(&mut self, args: &[AstExpr]) -> Vec<Expr> {
        let mut values = Vec::new();
        for arg in args {
            self.values(arg, &mut values);
        }
        values
    }

    fn assign(&mut self, var: &'a VarRef, value: &'a AstExpr) -> Action {
        if let ExprKind::Run { .. } = value.kind {
            let result = self.place(var);
            return self.run(result, value);
        }
        if let Some(targets) = self.record(var) {
            return self.assign_record(var, targets, value);
        }
        let value = self.expr(value);
        self.assign_value(var, value)
    }

    fn assign_record(&mut self, var: &VarRef, targets: Vec<Place>, value: &AstExpr) -> Action {
        let sources = match &value.kind {
            ExprKind::Var(source) => self.record(source),
            _ => None,
        };
        match sources {
            Some(sources) if sources.len() == targets.len() => Action::AssignAll(
                targets.into_iter().zip(sources.into_iter().map(Expr::Load)).collect(),
            ),
            _ => {
                self.error(
                    Code::RecordAsValue,
                    var.span,
                    "only a record of the same type fits into a record",
                );
                Action::Skip
            }
        }
    }

    fn assign_value(&mut self, var: &VarRef, value: Expr) -> Action {
        match self.named(var) {
            Named::Predefined(Predefined::Priority) => {
                self.uses.priorities = true;
                Action::SetOwnPriority(value)
            }
            // The value goes nowhere; but it may fail to have one.
            Named::Predefined(Predefined::Scratch) => match value {
                Expr::Const(_) => Action::Skip,
                value => Action::Condition(binary(BinaryOp::Or, value, Expr::Const(1))),
            },
            _ => match self.place(var) {
                Some(place) => Action::Assign(place, value),
                None => Action::Skip,
            },
        }
    }

    fn run(&mut self, result: Option<Place>, expr: &AstExpr) -> Action {
        let ExprKind::Run { proctype, args, priority } = &expr.kind else {
            return Action::Skip;
        };
        let args = self.all_values(args);
        let priority = priority.as_deref().map(|priority| {
            self.uses.priorities = true;
            self.expr(priority)
        });
        let Some(Symbol::Body(body)) = self.symbols.symbol(proctype.id) else {
            self.error(
                Code::NoProctype,
                proctype.span,
                format!("`{}` is not a proctype", proctype.text),
            );
            return Action::Skip;
        };
        let params = &self.symbols.body(body).params;
        let wanted = params.iter().map(|&param| self.layout.scalars(param));
        let wanted = wanted.fold(0, u64::saturating_add);
        if args.len() as u64 != wanted && self.budget.exceeded.is_none() {
            self.error(
                Code::RunArguments,
                expr.span,
                format!("`{}` takes {wanted} arguments, not {}", proctype.text, args.len()),
            );
        }
        Action::Run { result, body, args, priority }
    }

    /// The scalars of all parameters of a body.
    pub fn params(&self, body: BodyId) -> Vec<Place> {
        let mut scalars = Vec::new();
        for &param in &self.symbols.body(body).params {
            let at = self.whole(param);
            self.layout.expand(param, &at, &mut scalars);
        }
        scalars.into_iter().map(|(place, _)| place).collect()
    }

    /// The place of a variable, or of the first element of an array.
    pub fn whole(&self, id: VarId) -> Place {
        let spot = self.spot(id);
        Place {
            space: spot.space,
            offset: spot.offset,
            scalar: self.layout.scalar(id),
            indexes: Vec::new(),
        }
    }

    /// A declaration among statements sets its variable; of an array only the first element.
    fn declaration(&mut self, decl: &'a Decl, i: usize) -> Action {
        let declarator = &decl.vars[i];
        let Some(Symbol::Variable(id)) = self.symbols.symbol(declarator.name.id) else {
            return Action::Skip;
        };
        if let Type::Struct(_) = self.symbols.variable(id).ty {
            return Action::Skip;
        }
        let value = match &declarator.init {
            Some(Initializer::Expr(value)) => self.expr(value),
            Some(Initializer::List(values)) => match values.first() {
                Some(value) => self.expr(value),
                None => Expr::Const(0),
            },
            Some(Initializer::Channel { .. }) | None => Expr::Const(0),
        };
        Action::Assign(self.whole(id), value)
    }

    /// A step of `for (m in c)`, which takes each message out and puts it back.
    fn rotate(&mut self, step: Rotate, stmt: &'a Stmt) -> Action {
        let StmtKind::For { var, range: ForRange::In(channel), .. } = &stmt.kind else {
            return Action::Skip;
        };
        let Some(counter) = self.counter(var) else {
            self.error(Code::BadLoopRange, stmt.span, "`for` runs over an array or a channel");
            return Action::Skip;
        };
        match step {
            Rotate::Start => Action::Assign(counter, Expr::Const(0)),
            Rotate::More => {
                let length = Expr::Len(Box::new(self.var(channel)));
                Action::Condition(binary(BinaryOp::Lt, Expr::Load(counter), length))
            }
            Rotate::Count => {
                let value = binary(BinaryOp::Add, Expr::Load(counter.clone()), Expr::Const(1));
                Action::Assign(counter, value)
            }
            Rotate::Receive => Action::Receive {
                channel: self.var(channel),
                random: false,
                keep: false,
                args: self
                    .record(var)
                    .unwrap_or_default()
                    .into_iter()
                    .map(ReceiveArg::Store)
                    .collect(),
            },
            Rotate::Send => Action::Send {
                channel: self.var(channel),
                sorted: false,
                args: self.record(var).unwrap_or_default().into_iter().map(Expr::Load).collect(),
            },
        }
    }

    /// The hidden variable that counts the messages of a `for (m in c)`.
    fn counter(&self, var: &VarRef) -> Option<Place> {
        let name = var.parts.first()?.name.id;
        let id = self.symbols.for_counters.get(&name)?;
        Some(self.whole(*id))
    }

    /// A send or receive in a trace is what the model is to do.
    fn event(&mut self, stmt: &'a Stmt) -> Action {
        let (send, channel, args) = match &stmt.kind {
            StmtKind::Send { channel, args, .. } => {
                let fields = args
                    .iter()
                    .map(|arg| match flow::constant(self.symbols, arg) {
                        Some(value) => ReceiveArg::Match(Expr::Const(value)),
                        None => ReceiveArg::Ignore,
                    })
                    .collect();
                (true, channel, fields)
            }
            StmtKind::Receive { channel, args, .. } => (false, channel, self.receive_args(args)),
            _ => return self.statement(stmt),
        };
        let args = args
            .into_iter()
            .map(|arg| match arg {
                ReceiveArg::Store(_) => ReceiveArg::Ignore,
                other => other,
            })
            .collect();
        Action::Event { send, channel: self.var(channel), args }
    }
}

/// How an element is shown.
pub(super) fn text(flow: &Flow<'_>, id: ElementId) -> String {
    let element = flow.element(id);
    match &element.kind {
        Kind::Simple(simple) => simple_text(simple),
        Kind::Else => "else".into(),
        Kind::Goto(Jump { to, .. }) => match to {
            Destination::Label(label) => format!("goto {}", label.name),
            Destination::LoopExit(_) => "break".into(),
        },
        Kind::Join(Join::If) => "leave if".into(),
        Kind::Join(Join::Do) => "repeat do".into(),
        Kind::Join(Join::Unless) => "leave unless".into(),
        Kind::LoopExit => "leave do".into(),
        Kind::Choice { is_loop, options } => {
            let guards: String =
                options.iter().map(|&option| format!(":: {} ", first_text(flow, option))).collect();
            match is_loop {
                true => format!("do {guards}od"),
                false => format!("if {guards}fi"),
            }
        }
        Kind::Unless(normal, escape) => {
            format!("{} unless {}", first_text(flow, *normal), first_text(flow, *escape))
        }
        Kind::Block(kind, inside) => {
            let word = match kind {
                BlockKind::Plain => "",
                BlockKind::Atomic => "atomic ",
                BlockKind::DStep => "d_step ",
            };
            format!("{word}{{ {} ... }}", first_text(flow, *inside))
        }
        Kind::End => "-end-".into(),
    }
}

/// The first statement of a sequence; of a compound one only its first word.
fn first_text(flow: &Flow<'_>, sequence: SequenceId) -> String {
    let mut first = flow.sequence(sequence).first;
    while let Kind::Join(_) = flow.element(first).kind
        && let Some(next) = flow.element(first).next
    {
        first = next;
    }
    match &flow.element(first).kind {
        Kind::Choice { is_loop: true, .. } => "do ...".into(),
        Kind::Choice { is_loop: false, .. } => "if ...".into(),
        Kind::Unless(..) => "... unless ...".into(),
        Kind::Block(..) => "{ ... }".into(),
        _ => text(flow, first),
    }
}

fn simple_text(simple: &Simple<'_>) -> String {
    match simple {
        Simple::Statement(stmt) => match stmt.kind {
            StmtKind::LabelOnly => "skip".into(),
            _ => pretty::statement(stmt),
        },
        Simple::Skip => "skip".into(),
        Simple::Declare(decl, i) => {
            let declarator = &decl.vars[*i];
            let name = &declarator.name.text;
            if let TypeName::Named(record) = &decl.ty {
                return format!("{} {name}", record.text);
            }
            let element = match declarator.array {
                Some(_) => "[0]",
                None => "",
            };
            match &declarator.init {
                Some(Initializer::Expr(value)) => {
                    format!("{name}{element} = {}", pretty::expr(value))
                }
                Some(Initializer::List(values)) if !values.is_empty() => {
                    format!("{name}{element} = {}", pretty::expr(&values[0]))
                }
                _ => format!("{name}{element} = 0"),
            }
        }
        Simple::Set(var, value) => format!("{} = {}", var_text(var), pretty::expr(value)),
        Simple::SetNumber(var, value) => format!("{} = {value}", var_text(var)),
        Simple::AtMost(var, limit) => format!("{} <= {}", var_text(var), pretty::expr(limit)),
        Simple::AtMostNumber(var, limit) => format!("{} <= {limit}", var_text(var)),
        Simple::Below(var, limit) => format!("{} < {}", var_text(var), pretty::expr(limit)),
        Simple::Increment(var) => format!("{}++", var_text(var)),
        Simple::Rotate(step, stmt) => {
            let (message, channel) = match &stmt.kind {
                StmtKind::For { var, range: ForRange::In(channel), .. } => {
                    (var_text(var), var_text(channel))
                }
                _ => Default::default(),
            };
            match step {
                Rotate::Start => format!("start of for ({message} in {channel})"),
                Rotate::More => format!("more messages in {channel}"),
                Rotate::Receive => format!("{channel}?{message}"),
                Rotate::Send => format!("{channel}!{message}"),
                Rotate::Count => format!("next of for ({message} in {channel})"),
            }
        }
    }
}

fn var_text(var: &VarRef) -> String {
    pretty::expr(&AstExpr { kind: ExprKind::Var(var.clone()), span: var.span })
}

/// The text of a format with its escapes resolved.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\x0c'),
            Some('b') => out.push('\x08'),
            Some('a') => out.push('\x07'),
            Some('v') => out.push('\x0b'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes_of_formats_are_resolved() {
        assert_eq!(unescape(r#"a\tb\n\\\"%d"#), "a\tb\n\\\"%d");
        assert_eq!(unescape("end\\"), "end\\");
    }
}
