//! Names, scopes and types.
//!
//! One pass in the order of the text, as a name must be declared before it is used; what may be
//! used before (process types in `run`, labels, remote references, the names in formulas) is noted
//! and looked up at the end. SPIN is the measure of what is an error: what it refuses is refused
//! here, with a better reason, and what it lets pass is at most warned about.

mod constant;
mod declare;
mod expr;
mod labels;
mod later;
mod scope;
mod stmt;
#[cfg(test)]
mod tests;
mod walk;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Expr, ExprKind, Init, Ltl, Model, Name, Never, Proctype, Trace, Unit};
use crate::render::MAX_SHOWN;
use crate::source::{FileId, Span};
use crate::symbols::{
    BodyId, BodyInfo, BodyKind, MtypeId, MtypeSet, Predefined, Symbol, Symbols, TypedefId, VarId,
};
use crate::{Code, Diagnostic};
use later::{Message, Remote, RunCall, Unknown};
use scope::{Body, Braces, Globals};

pub use constant::constant;

/// Finds what every name means.
pub fn resolve(model: &Model) -> (Symbols, Vec<Diagnostic>) {
    let mut resolver = Resolver::new(Symbols::default(), Globals::new());
    resolver.symbols.names = vec![None; model.names.len()];
    resolver.symbols.mtypes.push(MtypeSet { name: None, values: Vec::new() });
    resolver.enumerate_bodies(model);
    let mut bodies = (0..).map(BodyId);
    for unit in &model.units {
        if is_body(unit) {
            resolver.unit(unit, bodies.next());
        } else {
            resolver.unit(unit, None);
        }
    }
    resolver.finish(model);
    (resolver.symbols, resolver.diagnostics)
}

/// Finds what the names of an expression or formula mean that was given beside a model: only global
/// names are known to it. Its [`crate::ast::NameId`]s follow those of the model.
pub fn resolve_formula(formula: &Expr, symbols: &mut Symbols) -> Vec<Diagnostic> {
    let globals = Globals::of_model(symbols);
    let mut resolver = Resolver::new(std::mem::take(symbols), globals);
    resolver.take_in_records();
    resolver.formula(formula);
    resolver.check_remotes();
    resolver.check_messages();
    resolver.explain_unknown();
    *symbols = resolver.symbols;
    resolver.diagnostics
}

/// Finds what the names of an expression mean that is to be looked at in every state of a model.
/// Like a formula it knows only global names, and it cannot use what has a value only while a
/// process moves.
pub fn resolve_condition(condition: &Expr, symbols: &mut Symbols) -> Vec<Diagnostic> {
    let mut diagnostics = resolve_formula(condition, symbols);
    walk::each(condition, &mut |expr| {
        let problem = match &expr.kind {
            ExprKind::Timeout => "`timeout` is not known in a state, only when a process moves",
            ExprKind::Enabled(_) if has_rendezvous(symbols) => {
                "`enabled` cannot be used in a model with rendezvous channels"
            }
            ExprKind::Var(var) => match symbols.symbol(var.parts[0].name.id) {
                Some(Symbol::Predefined(Predefined::Pid)) => {
                    "`_pid` is the number of a process, and this belongs to none"
                }
                Some(Symbol::Predefined(Predefined::Priority)) => {
                    "`_priority` is that of a process, and this belongs to none"
                }
                _ => return,
            },
            _ => return,
        };
        diagnostics.push(Diagnostic::new(Code::NotKnownInAState, expr.span, problem));
    });
    diagnostics
}

fn has_rendezvous(symbols: &Symbols) -> bool {
    let mut channels = symbols.variables.iter().filter_map(|variable| variable.channel.as_ref());
    channels.any(|channel| channel.capacity == 0)
}

/// What is known while a model is read.
struct Resolver<'m> {
    symbols: Symbols,
    diagnostics: Vec<Diagnostic>,
    /// What was reported, and where in the text.
    reported: FxHashSet<(Span, String)>,
    globals: Globals,
    /// The body being read.
    body: Option<Body<'m>>,
    braces: Braces,
    /// Named sets of mtype names.
    mtype_sets: FxHashMap<&'m str, MtypeId>,
    /// By typedef: how deep records are nested in it.
    record_depths: Vec<usize>,
    /// By typedef: its fields.
    fields_by_name: Vec<FxHashMap<String, VarId>>,
    /// Process types by name, also those further on in the text.
    proctypes: FxHashMap<&'m str, BodyId>,
    /// Names reported as undeclared in the current unit.
    undeclared: FxHashSet<&'m str>,
    /// How many values the records of each typedef hold; see `width`.
    record_widths: Vec<Option<usize>>,
    /// What variables start with: SPIN takes such a name for a number in some places. None if they
    /// start with more than a plain number.
    initial: FxHashMap<VarId, Option<i32>>,
    /// The set of the mtype constants first assigned to a variable that has none itself.
    assigned_set: FxHashMap<VarId, (MtypeId, Span)>,
    /// Sets that were named before they were declared.
    sets_to_come: Vec<(MtypeId, Span)>,
    /// Who claims to be the only reader or (true) writer of a channel.
    exclusive: FxHashMap<(VarId, bool), (BodyId, Span)>,
    /// Whether we are in the head of a `for`, where SPIN lets arrays stand without an index.
    in_for_head: bool,
    /// Whether we are in a formula.
    in_formula: bool,
    /// The first use of `enabled`.
    enabled: Option<Span>,
    /// The first rendezvous channel.
    rendezvous: Option<Span>,
    /// Claims by name.
    claims: FxHashMap<&'m str, Span>,
    runs: Vec<RunCall<'m>>,
    remotes: Vec<Remote<'m>>,
    messages: Vec<Message>,
    unknown: Vec<Unknown<'m>>,
}

impl<'m> Resolver<'m> {
    fn new(symbols: Symbols, globals: Globals) -> Self {
        Self {
            symbols,
            diagnostics: Vec::new(),
            reported: FxHashSet::default(),
            globals,
            body: None,
            braces: Braces::default(),
            mtype_sets: FxHashMap::default(),
            record_depths: Vec::new(),
            fields_by_name: Vec::new(),
            proctypes: FxHashMap::default(),
            undeclared: FxHashSet::default(),
            record_widths: Vec::new(),
            initial: FxHashMap::default(),
            assigned_set: FxHashMap::default(),
            sets_to_come: Vec::new(),
            exclusive: FxHashMap::default(),
            in_for_head: false,
            in_formula: false,
            enabled: None,
            rendezvous: None,
            claims: FxHashMap::default(),
            runs: Vec::new(),
            remotes: Vec::new(),
            messages: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Notes a mistake: once, also if it is in an inline that is called often.
    fn report(&mut self, diagnostic: Diagnostic) {
        if let Some(span) = diagnostic.span {
            let written = Span::new(span.file, span.start, span.end);
            if !self.reported.insert((written, diagnostic.message.clone())) {
                return;
            }
        }
        self.diagnostics.push(diagnostic);
    }

    /// The field of that name.
    fn field_of(&self, typedef: TypedefId, name: &str) -> Option<VarId> {
        self.fields_by_name[typedef.0 as usize].get(name).copied()
    }

    /// "did you mean `x`?" Only the first mistakes are shown, so only with them it is worth the time.
    fn did_you_mean<'a>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        if self.diagnostics.len() >= MAX_SHOWN {
            return None;
        }
        crate::suggest::nearest(name, candidates).map(|near| format!("did you mean `{near}`?"))
    }

    /// Records what an occurrence of a name stands for.
    fn set(&mut self, name: &Name, symbol: Symbol) {
        let index = name.id.0 as usize;
        if self.symbols.names.len() <= index {
            self.symbols.names.resize(index + 1, None);
        }
        self.symbols.names[index] = Some(symbol);
    }

    /// The body being read; asked for only where there is one.
    fn body(&mut self) -> &mut Body<'m> {
        self.body.as_mut().expect("statements stand in bodies")
    }

    fn body_kind(&self) -> Option<BodyKind> {
        self.body.as_ref().map(|body| body.kind)
    }

    /// Numbers the bodies and makes the process types known to `run`.
    fn enumerate_bodies(&mut self, model: &'m Model) {
        let mut claims = 0;
        for (index, unit) in model.units.iter().enumerate() {
            let (name, kind, span) = match unit {
                Unit::Proctype(p) => (p.name.text.clone(), BodyKind::Proctype, p.name.span),
                Unit::Init(init) => (":init:".to_owned(), BodyKind::Init, init.span),
                Unit::Never(never) => {
                    claims += 1;
                    match &never.name {
                        Some(name) => (name.text.clone(), BodyKind::Never, name.span),
                        None => (format!("never_{}", claims - 1), BodyKind::Never, never.span),
                    }
                }
                Unit::Trace(trace) if trace.negated => {
                    (":notrace:".to_owned(), BodyKind::NoTrace, trace.span)
                }
                Unit::Trace(trace) => (":trace:".to_owned(), BodyKind::Trace, trace.span),
                _ => continue,
            };
            let id = BodyId(self.symbols.bodies.len() as u32);
            if let Unit::Proctype(p) = unit {
                self.proctypes.entry(&p.name.text).or_insert(id);
            }
            self.symbols.bodies.push(BodyInfo {
                name,
                kind,
                unit: index,
                span,
                active: u32::from(kind == BodyKind::Init),
                priority: 1,
                params: Vec::new(),
                locals: Vec::new(),
                labels: Vec::new(),
            });
        }
    }

    /// Makes the records of a whole model known.
    fn take_in_records(&mut self) {
        for typedef in 0..self.symbols.typedefs.len() {
            // Their fields are of earlier types.
            let fields = &self.symbols.typedefs[typedef].fields;
            let width = later::total(fields.iter().map(|&field| self.width(field)));
            self.record_widths.push(width);
            let names = fields.iter().map(|&id| (self.symbols.variable(id).name.clone(), id));
            self.fields_by_name.push(names.collect());
        }
    }

    fn unit(&mut self, unit: &'m Unit, id: Option<BodyId>) {
        self.undeclared.clear();
        match (unit, id) {
            (Unit::Proctype(proctype), Some(id)) => self.proctype(proctype, id),
            (Unit::Init(init), Some(id)) => self.init(init, id),
            (Unit::Never(never), Some(id)) => self.never(never, id),
            (Unit::Trace(trace), Some(id)) => self.trace(trace, id),
            (Unit::Decl(decl), _) => {
                self.declare_variables(decl, declare::Site::Global);
            }
            (Unit::Mtype(decl), _) => self.declare_mtype(decl),
            (Unit::Typedef(typedef), _) => self.declare_typedef(typedef),
            (Unit::Inline(inline), _) => {
                self.check_new(&inline.name);
                self.globals.declare(&inline.name.text, Some(Symbol::Inline), inline.name.span);
                self.set(&inline.name, Symbol::Inline);
            }
            // Formulas may use what comes after them: see `finish`. C is not ours to read.
            _ => {}
        }
    }

    fn proctype(&mut self, proctype: &'m Proctype, id: BodyId) {
        if let Some(active) = &proctype.active {
            let count = match active {
                Some(count) => self.active_count(count),
                None => 1,
            };
            self.symbols.bodies[id.0 as usize].active = count;
        }
        self.check_new(&proctype.name);
        let symbol = Symbol::Body(id);
        self.globals.declare(&proctype.name.text, Some(symbol), proctype.name.span);
        self.set(&proctype.name, symbol);

        self.body = Some(Body::new(id, BodyKind::Proctype));
        for params in &proctype.params {
            self.declare_variables(params, declare::Site::Parameter);
        }
        self.symbols.bodies[id.0 as usize].params =
            self.symbols.bodies[id.0 as usize].locals.clone();
        self.priority(proctype.priority.as_ref(), id);
        if let Some(provided) = &proctype.provided {
            self.provided(provided);
        }
        self.statements(&proctype.body);
    }

    fn init(&mut self, init: &'m Init, id: BodyId) {
        let earlier =
            self.symbols.bodies[..id.0 as usize].iter().find(|body| body.kind == BodyKind::Init);
        if let Some(earlier) = earlier {
            let first = earlier.span;
            self.report(
                Diagnostic::new(Code::SecondInit, init.span, "a second `init`")
                    .label("starts beside the first")
                    .related(first, "the first `init`"),
            );
        }
        self.body = Some(Body::new(id, BodyKind::Init));
        self.priority(init.priority.as_ref(), id);
        self.statements(&init.body);
    }

    fn never(&mut self, never: &'m Never, id: BodyId) {
        if let Some(name) = &never.name {
            self.claim_name(name);
            self.set(name, Symbol::Body(id));
        }
        self.body = Some(Body::new(id, BodyKind::Never));
        self.statements(&never.body);
    }

    fn trace(&mut self, trace: &'m Trace, id: BodyId) {
        let earlier = self.symbols.bodies[..id.0 as usize]
            .iter()
            .find(|body| matches!(body.kind, BodyKind::Trace | BodyKind::NoTrace));
        if let Some(earlier) = earlier {
            let first = earlier.span;
            self.report(
                Diagnostic::new(
                    Code::SecondTrace,
                    trace.span,
                    "a model has at most one `trace` or `notrace`",
                )
                .related(first, "the first one"),
            );
        }
        let kind = self.symbols.body(id).kind;
        self.body = Some(Body::new(id, kind));
        self.statements(&trace.body);
    }

    /// The statements of a body; the body ends with them.
    fn statements(&mut self, body: &'m crate::ast::Body) {
        self.braces.open();
        self.sequence(&body.stmts);
        self.braces.close();
        if let Some(body) = self.body.take() {
            self.join_jumps(&body);
        }
    }

    fn priority(&mut self, priority: Option<&'m Expr>, id: BodyId) {
        let Some(priority) = priority else { return };
        let Some(value) = self.number(priority, "a priority") else {
            return;
        };
        let body = &mut self.symbols.bodies[id.0 as usize];
        body.priority = value;
        if body.active > 0 && !(1..=255).contains(&value) {
            self.report(Diagnostic::new(
                Code::BadPriority,
                priority.span,
                format!("priority {value} is not in 1..255"),
            ));
        }
    }

    /// The name of a never claim or formula, by which it is chosen.
    fn claim_name(&mut self, name: &'m Name) {
        if let Some(&first) = self.claims.get(name.text.as_str()) {
            self.report(
                Diagnostic::new(
                    Code::ClaimNamedTwice,
                    name.span,
                    format!("two claims are named `{}`", name.text),
                )
                .related(first, "the first one"),
            );
        } else if let Some(&id) = self.proctypes.get(name.text.as_str()) {
            let first = self.symbols.body(id).span;
            self.report(
                Diagnostic::new(
                    Code::ClaimNamedTwice,
                    name.span,
                    format!("`{}` is a process type and cannot name a claim too", name.text),
                )
                .related(first, "declared here"),
            );
        }
        self.claims.insert(&name.text, name.span);
    }

    /// What can be said only when the whole model was read.
    fn finish(&mut self, model: &'m Model) {
        for unit in &model.units {
            if let Unit::Ltl(ltl) = unit {
                self.ltl(ltl);
            }
        }
        self.check_runs();
        self.check_remotes();
        self.check_messages();
        self.explain_unknown();
        for (set, span) in std::mem::take(&mut self.sets_to_come) {
            let set = self.symbols.mtype(set);
            if set.values.is_empty() {
                let name = set.name.clone().unwrap_or_default();
                self.report(Diagnostic::new(
                    Code::UndeclaredSet,
                    span,
                    format!("no `mtype:{name} = {{ ... }}` declares names of this set"),
                ));
            }
        }
        if let (Some(enabled), Some(rendezvous)) = (self.enabled, self.rendezvous) {
            self.report(
                Diagnostic::new(
                    Code::EnabledWithRendezvous,
                    enabled,
                    "`enabled` cannot be used in a model with rendezvous channels",
                )
                .related(rendezvous, "a rendezvous channel"),
            );
        }
        if self.symbols.bodies.iter().all(|body| body.active == 0) {
            self.report(
                Diagnostic::new(
                    Code::NothingStarts,
                    Span::new(FileId(0), 0, 0),
                    "no process ever starts",
                )
                .help("write `init { ... }`, or `active` before a `proctype`"),
            );
        }
    }

    fn ltl(&mut self, ltl: &'m Ltl) {
        self.undeclared.clear();
        if let Some(name) = &ltl.name {
            self.claim_name(name);
            self.set(name, Symbol::Ltl);
        }
        self.formula(&ltl.formula);
    }
}

fn is_body(unit: &Unit) -> bool {
    matches!(unit, Unit::Proctype(_) | Unit::Init(_) | Unit::Never(_) | Unit::Trace(_))
}

/// What to call the thing a name stands for.
fn kind_of(symbol: Symbol) -> &'static str {
    match symbol {
        Symbol::Variable(_) => "a variable",
        Symbol::Mtype(..) => "an mtype constant",
        Symbol::Body(_) => "a process type",
        Symbol::Typedef(_) => "a typedef",
        Symbol::MtypeSet(_) => "a set of mtype names",
        Symbol::Predefined(_) => "a predefined variable",
        Symbol::Label(..) => "a label",
        Symbol::Inline => "an inline",
        Symbol::Ltl => "a property",
    }
}
