//! Names in expressions, and what may stand where.

use super::later::{Message, Remote, RemoteWhat, RunCall, Unknown};
use super::scope::Local;
use super::{Resolver, constant, kind_of};
use crate::ast::{Expr, ExprKind, Name, ReceiveArg, VarRef};
use crate::source::Span;
use crate::symbols::{BodyKind, MtypeId, Predefined, Symbol, Type, VarId};
use crate::{Code, Diagnostic};

/// What a reference turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A variable, an element of it, or a field.
    Variable(VarId),
    /// An mtype constant.
    Constant,
    /// A predefined variable.
    Predefined(Predefined),
}

impl<'m> Resolver<'m> {
    /// A formula of temporal logic.
    pub(super) fn formula(&mut self, formula: &'m Expr) {
        self.in_formula = true;
        self.expr(formula);
        self.in_formula = false;
    }

    /// An expression.
    pub(super) fn expr(&mut self, expr: &'m Expr) {
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::CExpr(_) => {}
            ExprKind::Var(var) => self.read(var),
            ExprKind::Unary(_, operand)
            | ExprKind::TemporalUnary(_, operand)
            | ExprKind::GetPriority(operand) => self.expr(operand),
            ExprKind::Binary(_, left, right) | ExprKind::TemporalBinary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.expr(condition);
                self.expr(yes);
                self.expr(no);
            }
            ExprKind::Run { proctype, args, priority } => {
                self.run(expr.span, proctype, args, priority.as_deref())
            }
            ExprKind::Len(var) => {
                self.channel(var, false);
            }
            ExprKind::ChannelTest(_, var) => {
                self.channel(var, true);
            }
            ExprKind::Poll { channel, args, .. } => {
                let known = self.channel(channel, false);
                let given = self.receive_args(args);
                self.message(expr.span, known, given, false);
            }
            ExprKind::Enabled(pid) => {
                self.enabled.get_or_insert(expr.span);
                self.claims_only(expr.span, "enabled");
                self.expr(pid);
            }
            ExprKind::PcValue(pid) => {
                self.claims_only(expr.span, "pc_value");
                self.expr(pid);
            }
            ExprKind::RemoteLabel { proctype, pid, label } => {
                self.remote(expr.span, proctype, RemoteWhat::Label(label));
                pid.iter().for_each(|pid| self.expr(pid));
            }
            ExprKind::RemoteVar { proctype, pid, var } => {
                self.remote(expr.span, proctype, RemoteWhat::Variable(var));
                pid.iter().for_each(|pid| self.expr(pid));
                self.indexes(var);
            }
            ExprKind::Timeout => self.timeout(expr.span),
            ExprKind::NonProgress => self.non_progress(expr.span),
        }
    }

    fn timeout(&mut self, span: Span) {
        if self.in_d_step() {
            self.report(Diagnostic::new(
                Code::TimeoutInDStep,
                span,
                "`timeout` in a `d_step` can only be its first condition",
            ));
        }
    }

    fn non_progress(&mut self, span: Span) {
        if !self.in_formula && self.body_kind() != Some(BodyKind::Never) {
            self.report(Diagnostic::new(
                Code::ClaimsOnly,
                span,
                "`np_` can be used only in claims",
            ));
        }
    }

    fn claims_only(&mut self, span: Span, what: &str) {
        if self.body.is_some() && self.body_kind() != Some(BodyKind::Never) {
            self.report(Diagnostic::new(
                Code::MeantForClaims,
                span,
                format!("`{what}` is meant for never claims"),
            ));
        }
    }

    pub(super) fn in_d_step(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.d_step.is_some())
    }

    fn remote(&mut self, span: Span, proctype: &'m Name, what: RemoteWhat<'m>) {
        if self.in_d_step() {
            self.report(Diagnostic::new(
                Code::LookedIntoFromDStep,
                span,
                "a `d_step` cannot look into another process",
            ));
        }
        self.remotes.push(Remote { proctype, what });
    }

    fn run(
        &mut self,
        span: Span,
        proctype: &'m Name,
        args: &'m [Expr],
        priority: Option<&'m Expr>,
    ) {
        if self.body.is_none() {
            self.report(Diagnostic::new(Code::RunInExpression, span, "`run` outside of a process"));
        } else if self.in_d_step() {
            self.report(
                Diagnostic::new(Code::RunInDStep, span, "`run` in a `d_step`")
                    .help("use `atomic` instead"),
            );
        }
        let mut given = Some(0_usize);
        let mut constants = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            let width = self.argument(arg);
            given = given.and_then(|given| given.checked_add(width?));
            if let Some((set, _)) = self.mtype_constant(arg) {
                constants.push((position, set, arg.span));
            }
        }
        if let Some(priority) = priority
            && let Some(value) = self.number(priority, "a priority")
            && !(0..=255).contains(&value)
        {
            self.report(Diagnostic::new(
                Code::BadPriority,
                priority.span,
                format!("priority {value} is not in 1..255"),
            ));
        }
        self.runs.push(RunCall { proctype, span, given, constants });
    }

    /// An argument of `run` or a field of a message, where a record stands for its fields. Gives
    /// the number of values; none if it is wrong.
    pub(super) fn argument(&mut self, arg: &'m Expr) -> Option<usize> {
        let ExprKind::Var(var) = &arg.kind else {
            self.expr(arg);
            return Some(1);
        };
        let target = self.var_ref(var, false)?;
        self.check_readable(var, target);
        self.target_width(var, target)
    }

    /// How many values a target holds.
    fn target_width(&mut self, var: &VarRef, target: Target) -> Option<usize> {
        let Target::Variable(id) = target else {
            return Some(1);
        };
        let Type::Struct(typedef) = self.symbols.variable(id).ty else {
            return Some(1);
        };
        let width = self.record_widths.get(typedef.0 as usize).copied().flatten();
        if width.is_none() {
            let error = Diagnostic::new(
                Code::BadParameter,
                var.span,
                "a record with an array of records in it cannot be passed or sent",
            )
            .related(self.symbols.typedef(typedef).span, "the record type");
            self.report(error);
        }
        width
    }

    /// The fields of a receive or poll: how many values they are; none if one is wrong.
    pub(super) fn receive_args(&mut self, args: &'m [ReceiveArg]) -> Option<usize> {
        let mut given = Some(0_usize);
        for arg in args {
            let width = match arg {
                ReceiveArg::Var(var) => match self.var_ref(var, false) {
                    Some(target) => self.target_width(var, target),
                    None => None,
                },
                ReceiveArg::Const(expr) | ReceiveArg::Eval(expr) => {
                    self.expr(expr);
                    Some(1)
                }
                ReceiveArg::Ignore(_) => Some(1),
            };
            given = given.and_then(|given| given.checked_add(width?));
        }
        given
    }

    /// Notes the length of a message, to be looked at when all channels are known.
    pub(super) fn message(
        &mut self,
        span: Span,
        channel: Option<VarId>,
        given: Option<usize>,
        sent: bool,
    ) {
        if let Some(given) = given {
            self.messages.push(Message { span, channel, given, sent });
        }
    }

    /// A reference to a channel: the variable if it was declared with its channel. SPIN lets `len`
    /// and polls of other variables pass (not `strict`), to fail when they run.
    pub(super) fn channel(&mut self, var: &'m VarRef, strict: bool) -> Option<VarId> {
        let target = self.var_ref(var, false)?;
        if let Target::Variable(id) = target {
            let variable = self.symbols.variable(id);
            if variable.ty == Type::Chan {
                return variable.channel.is_some().then_some(id);
            }
        }
        let message = format!("`{}` is not a channel", path(var));
        let mut diagnostic = if strict || target == Target::Constant {
            Diagnostic::new(Code::NotAChannel, var.span, message)
        } else {
            Diagnostic::new(Code::MaybeNotAChannel, var.span, message)
        };
        if let Target::Variable(id) = target {
            diagnostic = diagnostic.related(self.symbols.variable(id).span, "declared here");
        }
        self.report(diagnostic);
        None
    }

    /// A variable whose value is read.
    fn read(&mut self, var: &'m VarRef) {
        if let Some(target) = self.scalar(var) {
            self.check_readable(var, target);
        }
    }

    pub(super) fn check_readable(&mut self, var: &VarRef, target: Target) {
        if target == Target::Predefined(Predefined::Scratch) {
            self.report(Diagnostic::new(Code::NoValue, var.span, "`_` has no value to be read"));
        }
    }

    /// Whether an expression is just `_`.
    pub(super) fn is_scratch(&mut self, expr: &'m Expr) -> bool {
        let ExprKind::Var(var) = &expr.kind else {
            return false;
        };
        var.parts[0].name.text == "_"
            && self.var_ref(var, false) == Some(Target::Predefined(Predefined::Scratch))
    }

    /// A reference to a single value.
    pub(super) fn scalar(&mut self, var: &'m VarRef) -> Option<Target> {
        let target = self.var_ref(var, false)?;
        if let Target::Variable(id) = target
            && let Type::Struct(typedef) = self.symbols.variable(id).ty
        {
            let typedef = self.symbols.typedef(typedef);
            let mut error = Diagnostic::new(
                Code::RecordAsValue,
                var.span,
                format!("`{}` is a record, not a value", path(var)),
            )
            .related(typedef.span, "its type");
            if let Some(&field) = typedef.fields.first() {
                let field = &self.symbols.variable(field).name;
                error = error.help(format!("name one of its fields: `{}.{field}`", path(var)));
            }
            self.report(error);
            return None;
        }
        Some(target)
    }

    /// A reference of any kind; none if it is wrong. With `whole`, an array may stand without an
    /// index.
    pub(super) fn var_ref(&mut self, var: &'m VarRef, whole: bool) -> Option<Target> {
        self.indexes(var);
        let first = var.parts.first()?;
        match self.find(&first.name)? {
            Symbol::Variable(id) => self.follow(var, id, whole).map(Target::Variable),
            symbol @ (Symbol::Mtype(..) | Symbol::Predefined(_)) => {
                self.set(&first.name, symbol);
                self.check_plain(var, kind_of(symbol))?;
                Some(match symbol {
                    Symbol::Predefined(predefined) => Target::Predefined(predefined),
                    _ => Target::Constant,
                })
            }
            other => {
                let error = Diagnostic::new(
                    Code::NotAVariable,
                    first.name.span,
                    format!("`{}` is {}, not a variable", first.name.text, kind_of(other)),
                );
                self.report(error);
                None
            }
        }
    }

    /// The indexes of a reference.
    fn indexes(&mut self, var: &'m VarRef) {
        for part in &var.parts {
            if let Some(index) = &part.index {
                self.expr(index);
            }
        }
    }

    /// What a name stands for here.
    pub(super) fn lookup(&self, name: &str) -> Option<Symbol> {
        let local = self.body.as_ref().and_then(|body| Some((body.id, body.get(name)?)));
        match local {
            Some((_, (_, Local::Variable(id), _))) => Some(Symbol::Variable(id)),
            Some((body, (_, Local::Label, _))) => Some(Symbol::Label(body, 0)),
            Some((_, (_, Local::Wrong, _))) => None,
            None => self.globals.get(name)?.meaning,
        }
    }

    /// What a name stands for here; reports it if that is nothing.
    fn find(&mut self, name: &'m Name) -> Option<Symbol> {
        let found = self.lookup(&name.text);
        let declared_wrong = self.globals.get(&name.text).is_some()
            || self.body.as_ref().is_some_and(|body| body.get(&name.text).is_some());
        if found.is_none() && !declared_wrong && self.undeclared.insert(&name.text) {
            self.report_undeclared(name);
        }
        found
    }

    fn report_undeclared(&mut self, name: &'m Name) {
        let mut error = Diagnostic::new(
            Code::NotDeclared,
            name.span,
            format!("`{}` is not declared", name.text),
        );
        if name.text == "_p" {
            error = error.note("`_p`, SPIN's number of a process's state, is not available");
        } else if self.proctypes.contains_key(name.text.as_str()) {
            error = error.note(format!("`{}` is a process type further on", name.text));
        } else {
            let locals = self.body.iter().flat_map(|body| body.variables());
            let globals = self
                .globals
                .iter()
                .filter(|(_, symbol)| matches!(symbol, Symbol::Variable(_) | Symbol::Mtype(..)));
            let names = locals.map(|(name, _)| name).chain(globals.map(|(name, _)| name));
            if let Some(help) = self.did_you_mean(&name.text, names) {
                error = error.help(help);
            }
        }
        let reported = self.diagnostics.len();
        self.report(error);
        if self.diagnostics.len() > reported {
            self.unknown.push(Unknown {
                name,
                body: self.body.as_ref().map(|body| body.id),
                known: self.symbols.variables.len(),
                diagnostic: reported,
            });
        }
    }

    /// Follows a reference that starts at a variable through its fields, and gives the last.
    pub(super) fn follow(&mut self, var: &VarRef, first: VarId, whole: bool) -> Option<VarId> {
        let mut current = first;
        for (position, part) in var.parts.iter().enumerate() {
            self.set(&part.name, Symbol::Variable(current));
            let rest = &var.parts[position + 1..];
            self.check_index(part, current, whole && rest.is_empty())?;
            if let Some(next) = rest.first() {
                current = self.field(current, &next.name)?;
            }
        }
        Some(current)
    }

    fn check_index(&mut self, part: &crate::ast::VarPart, id: VarId, whole: bool) -> Option<()> {
        let variable = self.symbols.variable(id);
        let (declared, name) = (variable.span, &part.name);
        match (variable.array, &part.index) {
            (None, None) => {}
            (None, Some(index)) => {
                let message = format!("`{}` is not an array", name.text);
                // SPIN lets `x[0]` pass.
                if matches!(index.kind, ExprKind::Number(0)) {
                    self.report(Diagnostic::new(Code::ElementOfScalar, name.span, message));
                } else {
                    self.report(
                        Diagnostic::new(Code::NotAnArray, name.span, message)
                            .related(declared, "declared here"),
                    );
                    return None;
                }
            }
            (Some(_), None) if whole => {}
            (Some(_), None) if self.in_for_head => self.report(
                Diagnostic::new(
                    Code::FirstElementMeant,
                    name.span,
                    format!("`{}` is an array: its first element is meant", name.text),
                )
                .related(declared, "declared here"),
            ),
            (Some(_), None) => {
                self.report(
                    Diagnostic::new(
                        Code::NeedsIndex,
                        name.span,
                        format!("`{}` is an array and needs an index", name.text),
                    )
                    .related(declared, "declared here"),
                );
                return None;
            }
            (Some(bound), Some(index)) => {
                if let Some(value) = constant(index, &self.symbols)
                    && u32::try_from(value).map_or(true, |value| value >= bound)
                {
                    self.report(
                        Diagnostic::new(
                            Code::NoSuchElement,
                            index.span,
                            format!("`{}` has no element {value}", name.text),
                        )
                        .related(declared, format!("it has {bound}, counted from 0")),
                    );
                }
            }
        }
        Some(())
    }

    fn field(&mut self, record: VarId, name: &Name) -> Option<VarId> {
        let variable = self.symbols.variable(record);
        let Type::Struct(typedef) = variable.ty else {
            let error = Diagnostic::new(
                Code::NoField,
                name.span,
                format!("`{}` is not a record: it has no fields", variable.name),
            )
            .related(variable.span, "declared here");
            self.report(error);
            return None;
        };
        let found = self.field_of(typedef, &name.text);
        let typedef = self.symbols.typedef(typedef);
        if found.is_none() {
            let mut error = Diagnostic::new(
                Code::NoField,
                name.span,
                format!("no field `{}` in `{}`", name.text, typedef.name),
            )
            .related(typedef.span, "its type");
            let fields = typedef.fields.iter();
            let names = fields.map(|&field| self.symbols.variable(field).name.as_str());
            if let Some(help) = self.did_you_mean(&name.text, names) {
                error = error.help(help);
            }
            self.report(error);
        }
        found
    }

    /// A constant or predefined variable has neither index nor fields.
    fn check_plain(&mut self, var: &VarRef, kind: &str) -> Option<()> {
        match &var.parts[..] {
            [part] if part.index.is_none() => Some(()),
            [part, ..] => {
                self.report(Diagnostic::new(
                    Code::NotAnArray,
                    var.span,
                    format!("`{}` is {kind}, not an array or record", part.name.text),
                ));
                None
            }
            [] => None,
        }
    }

    /// The set and value of an expression that is an mtype constant.
    pub(super) fn mtype_constant(&self, expr: &Expr) -> Option<(MtypeId, i32)> {
        let ExprKind::Var(var) = &expr.kind else {
            return None;
        };
        match (&var.parts[..], self.symbols.symbol(var.parts.first()?.name.id)?) {
            ([_], Symbol::Mtype(set, value)) => Some((set, value)),
            _ => None,
        }
    }

    /// Reports channels under operators in a value to be assigned.
    pub(super) fn no_channel_arithmetic(&mut self, expr: &'m Expr) {
        self.channel_operands(expr, false);
    }

    fn channel_operands(&mut self, expr: &'m Expr, operand: bool) {
        match &expr.kind {
            ExprKind::Var(var) if operand && self.is_plain_channel(var) => self.report(
                Diagnostic::new(
                    Code::ChannelAsNumber,
                    expr.span,
                    "a channel is not a number to reckon with",
                )
                .note("in an assignment a channel can only stand alone"),
            ),
            ExprKind::Unary(_, inner)
            | ExprKind::Enabled(inner)
            | ExprKind::PcValue(inner)
            | ExprKind::GetPriority(inner) => self.channel_operands(inner, true),
            ExprKind::Binary(_, left, right) => {
                self.channel_operands(left, true);
                self.channel_operands(right, true);
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.channel_operands(condition, true);
                self.channel_operands(yes, true);
                self.channel_operands(no, true);
            }
            _ => {}
        }
    }

    /// Whether a reference is to a variable of type `chan`, not to a field.
    pub(super) fn is_plain_channel(&self, var: &VarRef) -> bool {
        match &var.parts[..] {
            [part] => matches!(self.symbols.symbol(part.name.id),
                Some(Symbol::Variable(id)) if self.symbols.variable(id).ty == Type::Chan),
            _ => false,
        }
    }
}

/// A reference as written, without indexes.
pub(super) fn path(var: &VarRef) -> String {
    let names: Vec<&str> = var.parts.iter().map(|part| part.name.text.as_str()).collect();
    names.join(".")
}
