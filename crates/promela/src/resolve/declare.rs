//! Declarations: mtype names, typedefs, variables, channels.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::later::total;
use super::scope::Local;
use super::{Resolver, constant, kind_of, walk};
use crate::ast::{
    Decl, Declarator, Expr, ExprKind, Initializer, MAX_DEPTH, MtypeDecl, Name, TypeName, Typedef,
    Visibility,
};
use crate::source::Span;
use crate::symbols::{
    BodyKind, Channel, MtypeId, MtypeSet, Scope, Symbol, Type, TypedefId, TypedefInfo, VarId,
    Variable,
};
use crate::{Code, Diagnostic};

/// Where a declaration stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Site {
    Global,
    Parameter,
    Body,
    Field(TypedefId),
}

/// What SPIN takes for the bound of an array that is a name without a value.
const DEFAULT_BOUND: u32 = 8;

/// SPIN's width of an `unsigned` that does not say it.
const DEFAULT_WIDTH: u8 = 16;

impl<'m> Resolver<'m> {
    /// Reports a name that is declared although it already stands for something.
    pub(super) fn check_new(&mut self, name: &Name) {
        let local = self.body.as_ref().and_then(|body| body.get(&name.text));
        let (kind, first) = match local {
            Some((_, Local::Label, span)) => ("a label", Some(span)),
            Some((_, Local::Variable(_) | Local::Wrong, span)) => ("a variable", Some(span)),
            None => match self.globals.get(&name.text) {
                Some(declared) => (declared.meaning.map_or("a name", kind_of), declared.span),
                None => return,
            },
        };
        let mut error = Diagnostic::new(
            Code::Redeclared,
            name.span,
            format!("redeclaration of `{}`, already {kind}", name.text),
        )
        .label("declared again here");
        if let Some(first) = first {
            error = error.related(first, "first declared here");
        }
        if local.is_some() || self.body.is_some() {
            error = error.note(
                "an inner declaration cannot hide an outer one: choose another name, or declare \
                 the outer one after this block",
            );
        }
        self.report(error);
    }

    pub(super) fn declare_mtype(&mut self, decl: &'m MtypeDecl) {
        self.braces.pass();
        let id = self.mtype_set(decl.set.as_ref());
        // SPIN numbers a declaration from its last name to its first.
        for name in decl.names.iter().rev() {
            self.check_new(name);
            let set = &mut self.symbols.mtypes[id.0 as usize];
            let value = set.values.len() as i32 + 1;
            set.values.push((name.text.clone(), value));
            let symbol = Symbol::Mtype(id, value);
            self.globals.declare(&name.text, Some(symbol), name.span);
            self.set(name, symbol);
        }
        if self.symbols.mtype(id).values.len() > 255 {
            self.report(
                Diagnostic::new(
                    Code::ModelTooLarge,
                    decl.span,
                    "more than 255 names in a set of mtype names",
                )
                .help("split them into named sets: `mtype:kind = { ... }`"),
            );
        }
    }

    /// The set of that name, made if it is new.
    fn mtype_set(&mut self, name: Option<&'m Name>) -> MtypeId {
        let Some(name) = name else {
            return MtypeId(0);
        };
        let sets = &mut self.symbols.mtypes;
        let new = MtypeId(sets.len() as u32);
        let id = *self.mtype_sets.entry(&name.text).or_insert(new);
        if id == new {
            sets.push(MtypeSet { name: Some(name.text.clone()), values: Vec::new() });
            self.sets_to_come.push((id, name.span));
        }
        self.set(name, Symbol::MtypeSet(id));
        id
    }

    /// "`mtype:kind`"
    pub(super) fn set_name(&self, id: MtypeId) -> String {
        match &self.symbols.mtype(id).name {
            Some(name) => format!("`mtype:{name}`"),
            None => "`mtype`".to_owned(),
        }
    }

    pub(super) fn declare_typedef(&mut self, typedef: &'m Typedef) {
        self.check_new(&typedef.name);
        let id = TypedefId(self.symbols.typedefs.len() as u32);
        self.symbols.typedefs.push(TypedefInfo {
            name: typedef.name.text.clone(),
            span: typedef.name.span,
            fields: Vec::new(),
        });
        self.record_widths.push(None);
        self.fields_by_name.push(FxHashMap::default());
        self.braces.open();
        for fields in &typedef.fields {
            self.declare_variables(fields, Site::Field(id));
        }
        self.braces.close();
        let fields = &self.symbols.typedef(id).fields;
        let depth = fields.iter().map(|&field| match self.symbols.variable(field).ty {
            Type::Struct(inner) => 1 + self.record_depths[inner.0 as usize],
            _ => 1,
        });
        let depth = depth.max().unwrap_or(1);
        self.record_depths.push(depth);
        if depth == MAX_DEPTH {
            let message = "records are nested too deeply";
            let label = format!("this one is {MAX_DEPTH} deep");
            self.report(
                Diagnostic::new(Code::NestedTooDeeply, typedef.name.span, message).label(label),
            );
        }
        let fields = &self.symbols.typedef(id).fields;
        self.record_widths[id.0 as usize] = total(fields.iter().map(|&field| self.width(field)));
        // Known only from here on, so that no record contains itself.
        let symbol = Symbol::Typedef(id);
        self.globals.declare(&typedef.name.text, Some(symbol), typedef.name.span);
        self.set(&typedef.name, symbol);
    }

    /// A type as written; none if there is no such.
    fn type_of(&mut self, ty: &'m TypeName, site: Option<Site>) -> Option<Type> {
        Some(match ty {
            TypeName::Bit => Type::Bit,
            TypeName::Bool => Type::Bool,
            TypeName::Byte => Type::Byte,
            TypeName::Pid => Type::Pid,
            TypeName::Short => Type::Short,
            TypeName::Int => Type::Int,
            TypeName::Unsigned => Type::Unsigned(DEFAULT_WIDTH),
            TypeName::Chan => Type::Chan,
            TypeName::Mtype(set) => Type::Mtype(self.mtype_set(set.as_ref())),
            TypeName::Named(name) => match self.globals.get(&name.text).and_then(|d| d.meaning) {
                Some(Symbol::Typedef(id)) => {
                    self.set(name, Symbol::Typedef(id));
                    Type::Struct(id)
                }
                _ => {
                    self.no_such_type(name, site);
                    return None;
                }
            },
        })
    }

    fn no_such_type(&mut self, name: &Name, site: Option<Site>) {
        let mut error =
            Diagnostic::new(Code::NoType, name.span, format!("there is no type `{}`", name.text));
        let itself = matches!(site, Some(Site::Field(id))
            if self.symbols.typedef(id).name == name.text);
        if itself {
            error = error.note("a record cannot contain itself");
        } else {
            let known = ["bit", "bool", "byte", "short", "int", "unsigned", "chan", "mtype", "pid"];
            let typedefs = self.symbols.typedefs.iter().map(|t| t.name.as_str());
            if let Some(help) = self.did_you_mean(&name.text, typedefs.chain(known)) {
                error = error.help(help);
            }
        }
        self.report(error);
    }

    /// Declares the variables of a declaration.
    pub(super) fn declare_variables(&mut self, decl: &'m Decl, site: Site) {
        let ty = self.type_of(&decl.ty, Some(site));
        for declarator in &decl.vars {
            let array =
                declarator.array.as_ref().map(|bound| self.array_bound(&declarator.name, bound));
            let channel = match &declarator.init {
                Some(init) => self.initializer(init, declarator, array, ty, site),
                None => None,
            };
            self.check_declarable(declarator, site);
            let Some(ty) = ty else {
                self.declare_wrong(&declarator.name, site);
                continue;
            };
            let ty = self.check_width(ty, declarator);
            self.check_prefix(decl, ty, &declarator.name, site);
            if site == Site::Parameter {
                self.check_parameter(declarator, ty);
            }
            let id = VarId(self.symbols.variables.len() as u32);
            self.record_initial(id, declarator);
            self.check_initial_value(declarator, ty);
            let (scope, block, at_creation) = match site {
                Site::Global => (Scope::Global, Arc::default(), true),
                Site::Field(typedef) => (Scope::Field(typedef), Arc::default(), true),
                Site::Parameter | Site::Body => {
                    let body = self.body();
                    let block = body.innermost().path.clone();
                    (Scope::Local(body.id), block, body.beginning)
                }
            };
            self.symbols.variables.push(Variable {
                name: declarator.name.text.clone(),
                span: declarator.name.span,
                ty,
                array,
                scope,
                block,
                visibility: decl.visibility,
                at_creation,
                parameter: site == Site::Parameter,
                channel,
                synthetic: false,
            });
            self.make_known(&declarator.name, id, site);
        }
    }

    /// Reports a name that may not be declared here.
    fn check_declarable(&mut self, declarator: &'m Declarator, site: Site) {
        let name = &declarator.name;
        let Site::Field(typedef) = site else {
            self.check_new(name);
            if self.body_kind() == Some(BodyKind::Never) {
                self.report(
                    Diagnostic::new(
                        Code::ClaimHasVariables,
                        name.span,
                        "a never claim cannot have variables of its own",
                    )
                    .help("declare the variable outside of the claim"),
                );
            }
            return;
        };
        if let Some(twin) = self.field_of(typedef, &name.text) {
            let first = self.symbols.variable(twin).span;
            self.report(
                Diagnostic::new(
                    Code::Redeclared,
                    name.span,
                    format!("two fields named `{}`", name.text),
                )
                .related(first, "the first one"),
            );
        } else if let Some(declared) = self.globals.get(&name.text)
            && let Some(symbol) = declared.meaning
            && !matches!(symbol, Symbol::Variable(_) | Symbol::Predefined(_))
        {
            let mut error = Diagnostic::new(
                Code::Redeclared,
                name.span,
                format!("`{}` is {} and cannot name a field", name.text, kind_of(symbol)),
            );
            if let Some(span) = declared.span {
                error = error.related(span, "declared here");
            }
            self.report(error);
        }
    }

    fn make_known(&mut self, name: &'m Name, id: VarId, site: Site) {
        let symbol = Symbol::Variable(id);
        self.set(name, symbol);
        match site {
            Site::Global => {
                self.globals.declare(&name.text, Some(symbol), name.span);
                self.symbols.globals.push(id);
            }
            Site::Field(typedef) => {
                self.symbols.typedefs[typedef.0 as usize].fields.push(id);
                let fields = &mut self.fields_by_name[typedef.0 as usize];
                fields.entry(name.text.clone()).or_insert(id);
            }
            Site::Parameter | Site::Body => {
                let body = self.body();
                body.declare(&name.text, Local::Variable(id), name.span);
                let body = body.id;
                self.symbols.bodies[body.0 as usize].locals.push(id);
            }
        }
    }

    /// Makes a name known whose type is not, so that its uses are not reported too.
    fn declare_wrong(&mut self, name: &'m Name, site: Site) {
        match site {
            Site::Global => self.globals.declare(&name.text, None, name.span),
            Site::Parameter | Site::Body => {
                self.body().declare(&name.text, Local::Wrong, name.span);
            }
            Site::Field(_) => {}
        }
    }

    /// The type with its width in bits, if it is `unsigned`.
    fn check_width(&mut self, ty: Type, declarator: &Declarator) -> Type {
        let name = &declarator.name;
        match (ty, declarator.width) {
            (Type::Unsigned(_), Some((width @ 1..=31, _))) => Type::Unsigned(width as u8),
            (Type::Unsigned(_), Some((width, span))) => {
                self.report(Diagnostic::new(
                    Code::BadWidth,
                    span,
                    format!("an `unsigned` has 1 to 31 bits, not {width}"),
                ));
                ty
            }
            (Type::Unsigned(_), None) => {
                self.report(
                    Diagnostic::new(Code::BadWidth, name.span, "an `unsigned` without a width")
                        .help(format!(
                            "say how many bits it has: `unsigned {} : {DEFAULT_WIDTH}`",
                            name.text
                        )),
                );
                ty
            }
            (_, Some((_, span))) => {
                self.report(
                    Diagnostic::new(Code::BadWidth, span, "only an `unsigned` can have a width")
                        .help(format!("declare `{}` as `unsigned`", name.text)),
                );
                ty
            }
            (_, None) => ty,
        }
    }

    fn check_prefix(&mut self, decl: &Decl, ty: Type, name: &Name, site: Site) {
        if decl.visibility != Some(Visibility::Hidden) {
            return;
        }
        let problem = match ty {
            _ if site != Site::Global => "only a global variable can be `hidden`",
            Type::Bit | Type::Bool => "a `bit` or `bool` cannot be `hidden`",
            Type::Chan => "a channel cannot be `hidden`",
            _ => return,
        };
        self.report(Diagnostic::new(Code::BadHidden, name.span, problem));
    }

    fn check_parameter(&mut self, declarator: &Declarator, ty: Type) {
        let name = &declarator.name;
        if declarator.array.is_some() {
            self.report(
                Diagnostic::new(Code::BadParameter, name.span, "an array cannot be a parameter")
                    .help("put it into a global variable and pass an index"),
            );
        }
        if let Type::Struct(typedef) = ty
            && self.has_array(typedef)
        {
            let error = Diagnostic::new(
                Code::BadParameter,
                name.span,
                "a record with an array in it cannot be a parameter",
            )
            .related(self.symbols.typedef(typedef).span, "the record type");
            self.report(error);
        }
    }

    /// Whether there is an array in a record, at any depth.
    fn has_array(&self, typedef: TypedefId) -> bool {
        let mut seen = vec![false; self.symbols.typedefs.len()];
        let mut waiting = vec![typedef];
        while let Some(id) = waiting.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            for &field in &self.symbols.typedef(id).fields {
                let field = self.symbols.variable(field);
                if field.array.is_some() {
                    return true;
                }
                if let Type::Struct(inner) = field.ty {
                    waiting.push(inner);
                }
            }
        }
        false
    }

    /// A number that must be known before the model runs.
    pub(super) fn number(&mut self, expr: &'m Expr, what: &str) -> Option<i32> {
        self.expr(expr);
        let value = constant(expr, &self.symbols);
        if value.is_none() && self.all_known(expr) {
            self.report(Diagnostic::new(
                Code::NotConstant,
                expr.span,
                format!("{what} must be a constant"),
            ));
        }
        value
    }

    /// Whether all names in an expression stand for something.
    fn all_known(&self, expr: &Expr) -> bool {
        let mut known = true;
        walk::each(expr, &mut |e| {
            if let ExprKind::Var(var) = &e.kind {
                let mut parts = var.parts.iter();
                known &= parts.all(|part| self.symbols.symbol(part.name.id).is_some());
            }
        });
        known
    }

    /// The variable an expression consists of, if it is just its name.
    fn lone_variable(&mut self, expr: &'m Expr) -> Option<VarId> {
        let ExprKind::Var(var) = &expr.kind else {
            return None;
        };
        let [part] = &var.parts[..] else {
            return None;
        };
        if part.index.is_some() {
            return None;
        }
        match self.lookup(&part.name.text)? {
            Symbol::Variable(id) => {
                self.set(&part.name, Symbol::Variable(id));
                Some(id)
            }
            _ => None,
        }
    }

    fn array_bound(&mut self, name: &Name, bound: &'m Expr) -> u32 {
        if let Some(variable) = self.lone_variable(bound) {
            let value = match self.initial.get(&variable).copied().flatten() {
                Some(value) if value > 0 => value as u32,
                _ => DEFAULT_BOUND,
            };
            self.report(
                Diagnostic::new(
                    Code::VariableAsBound,
                    bound.span,
                    format!("a variable as the bound of an array counts as {value}"),
                )
                .help("write a number, or give it a name by `#define`"),
            );
            return value;
        }
        match self.number(bound, "the bound of an array") {
            Some(value) if value > 0 => value as u32,
            Some(value) => {
                self.report(Diagnostic::new(
                    Code::BadBound,
                    bound.span,
                    format!("`{}` has {value} elements", name.text),
                ));
                1
            }
            None => 1,
        }
    }

    /// `active [n]`
    pub(super) fn active_count(&mut self, count: &'m Expr) -> u32 {
        let value = if let Some(variable) = self.lone_variable(count) {
            let value = self.initial.get(&variable).copied().flatten();
            if value.is_none() {
                self.report(Diagnostic::new(
                    Code::NotConstant,
                    count.span,
                    "the number of processes must be a constant",
                ));
            }
            value
        } else {
            self.number(count, "the number of processes")
        };
        let value = value.unwrap_or(1);
        if value > 255 {
            self.report(Diagnostic::new(
                Code::TooManyProcesses,
                count.span,
                format!("at most 255 processes can run, not {value}"),
            ));
        }
        value.clamp(0, 255) as u32
    }

    /// Remembers what a variable starts with.
    fn record_initial(&mut self, id: VarId, declarator: &Declarator) {
        let value = match &declarator.init {
            None => Some(0),
            Some(Initializer::Expr(
                expr @ Expr { kind: ExprKind::Number(_) | ExprKind::Var(_), .. },
            )) => constant(expr, &self.symbols),
            Some(_) => None,
        };
        self.initial.insert(id, value);
    }

    /// Looks at what a variable starts with; gives its channel if that is one.
    fn initializer(
        &mut self,
        init: &'m Initializer,
        declarator: &'m Declarator,
        array: Option<u32>,
        ty: Option<Type>,
        site: Site,
    ) -> Option<Channel> {
        let late = site == Site::Body && !self.body().beginning;
        match init {
            Initializer::Expr(expr) => {
                self.initial_expr(expr, declarator, ty, site);
                None
            }
            Initializer::List(values) => {
                self.braces.pass();
                self.initial_list(values, &declarator.name, array, late);
                None
            }
            Initializer::Channel { capacity, fields, span } => {
                let channel = self.channel_type(capacity, fields);
                self.braces.pass();
                if ty.is_some_and(|ty| ty != Type::Chan) {
                    self.report(
                        Diagnostic::new(
                            Code::BadChannel,
                            *span,
                            "a channel for a variable that is none",
                        )
                        .help(format!("declare `{}` as `chan`", declarator.name.text)),
                    );
                    return None;
                }
                if late {
                    self.report(
                        Diagnostic::new(
                            Code::BadChannel,
                            *span,
                            "a channel is made when its process starts",
                        )
                        .help(format!(
                            "declare `{}` at the beginning of the body",
                            declarator.name.text
                        )),
                    );
                }
                channel
            }
        }
    }

    fn initial_expr(
        &mut self,
        expr: &'m Expr,
        declarator: &'m Declarator,
        ty: Option<Type>,
        site: Site,
    ) {
        self.expr(expr);
        // Outside of a process it was told already that it cannot be there.
        if let Some(run) = walk::runs(expr).first()
            && self.body.is_some()
        {
            self.report(
                Diagnostic::new(Code::RunInExpression, run.span, "`run` in an initial value")
                    .help("declare the variable first, and assign to it then"),
            );
        }
        match ty {
            Some(Type::Struct(_)) => self.report(Diagnostic::new(
                Code::RecordInitialized,
                expr.span,
                "an initial value for a record has no effect",
            )),
            Some(Type::Mtype(declared)) if declared != MtypeId(0) => {
                if let Some((set, _)) = self.mtype_constant(expr)
                    && set != declared
                {
                    self.wrong_set(expr.span, set, declared, declarator.name.span);
                }
            }
            Some(_) => {}
            None => return,
        }
        self.no_channel_arithmetic(expr);
        if matches!(site, Site::Field(_)) && constant(expr, &self.symbols).is_none() {
            self.report(Diagnostic::new(
                Code::NotConstant,
                expr.span,
                "the initial value of a field must be a constant",
            ));
        }
    }

    fn initial_list(&mut self, values: &'m [Expr], name: &'m Name, array: Option<u32>, late: bool) {
        for value in values {
            self.number(value, "an initial value in a list");
        }
        let Some(span) = values.first().map(|value| value.span) else {
            return;
        };
        match array {
            None => self.report(Diagnostic::new(
                Code::BadInitialList,
                span,
                format!("a list of values for `{}`, which is not an array", name.text),
            )),
            Some(_) if late => self.report(
                Diagnostic::new(
                    Code::BadInitialList,
                    span,
                    "a list of values can be given only when a process starts",
                )
                .help(format!("declare `{}` at the beginning of the body", name.text)),
            ),
            Some(bound) => {
                if let Some(extra) = values.get(bound as usize) {
                    self.report(Diagnostic::new(
                        Code::TooManyValues,
                        extra.span,
                        format!("`{}` has only {bound} elements", name.text),
                    ));
                }
            }
        }
    }

    fn channel_type(&mut self, capacity: &'m Expr, fields: &'m [TypeName]) -> Option<Channel> {
        let slots = self.number(capacity, "the capacity of a channel");
        let mut types = Vec::with_capacity(fields.len());
        for field in fields {
            let ty = self.type_of(field, None);
            if let Some(Type::Struct(typedef)) = ty
                && self.record_widths[typedef.0 as usize].is_none()
            {
                let error = Diagnostic::new(
                    Code::BadParameter,
                    capacity.span,
                    "a message cannot have an array of records in it",
                )
                .related(self.symbols.typedef(typedef).span, "the record type");
                self.report(error);
            }
            types.extend(ty);
        }
        if types.len() < fields.len() {
            return None;
        }
        let Ok(slots) = u32::try_from(slots?) else {
            self.report(Diagnostic::new(
                Code::BadChannel,
                capacity.span,
                "the capacity of a channel is negative",
            ));
            return None;
        };
        if slots == 0 {
            self.rendezvous.get_or_insert(capacity.span);
        }
        Some(Channel { capacity: slots, fields: types })
    }

    /// Warns of a value that a variable cannot hold.
    fn check_initial_value(&mut self, declarator: &Declarator, ty: Type) {
        match &declarator.init {
            Some(Initializer::Expr(expr)) => self.check_fits(expr, ty, declarator.array.is_some()),
            Some(Initializer::List(values)) => {
                values.iter().for_each(|value| self.check_fits(value, ty, true))
            }
            _ => {}
        }
    }

    /// Warns of a constant that a variable cannot hold.
    pub(super) fn check_fits(&mut self, expr: &Expr, ty: Type, in_array: bool) {
        let Some(value) = constant(expr, &self.symbols) else {
            return;
        };
        let stored = match ty {
            // Arrays of bits are held in bytes.
            Type::Bit | Type::Bool if !in_array => value & 1,
            Type::Bit | Type::Bool | Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => {
                value & 255
            }
            Type::Short => i32::from(value as i16),
            Type::Unsigned(width) => value & ((1_i64 << width) - 1) as i32,
            Type::Int | Type::Struct(_) => value,
        };
        if stored != value {
            self.report(
                Diagnostic::new(
                    Code::ValueTruncated,
                    expr.span,
                    format!("{value} is stored as {stored}"),
                )
                .note(format!("{} cannot hold {value}", described(ty))),
            );
        }
    }

    pub(super) fn wrong_set(&mut self, span: Span, given: MtypeId, wanted: MtypeId, place: Span) {
        let error = Diagnostic::new(
            Code::MixedMtypes,
            span,
            format!(
                "a constant of {} for a variable of {}",
                self.set_name(given),
                self.set_name(wanted)
            ),
        )
        .related(place, "the variable");
        self.report(error);
    }
}

/// "a `byte`"
fn described(ty: Type) -> String {
    match ty {
        Type::Bit => "a `bit`".to_owned(),
        Type::Bool => "a `bool`".to_owned(),
        Type::Byte => "a `byte`".to_owned(),
        Type::Pid => "a `pid`".to_owned(),
        Type::Short => "a `short`".to_owned(),
        Type::Int => "an `int`".to_owned(),
        Type::Unsigned(1) => "an `unsigned` of 1 bit".to_owned(),
        Type::Unsigned(width) => format!("an `unsigned` of {width} bits"),
        Type::Mtype(_) => "an `mtype`".to_owned(),
        Type::Chan => "a `chan`".to_owned(),
        Type::Struct(_) => "a record".to_owned(),
    }
}
