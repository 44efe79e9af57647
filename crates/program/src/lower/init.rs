//! What is set when the model starts and when a process is created.

use rustc_hash::FxHashMap;
use spinward_promela::ast::{Decl, Declarator, Initializer, Model, Stmt, StmtKind, Unit};
use spinward_promela::symbols::{Symbol, Symbols, Type, VarId};

use super::expr::Context;
use super::size;
use crate::ir::{ChannelType, ChannelTypeId, Expr, InitStep, Place};

/// The declaration of each variable.
pub(super) type Declarations<'a> = FxHashMap<VarId, &'a Declarator>;

/// Finds the declarations of all variables of a model.
pub(super) fn declarations<'a>(model: &'a Model, symbols: &Symbols) -> Declarations<'a> {
    let mut found = Finder { symbols, declarations: FxHashMap::default() };
    for unit in &model.units {
        match unit {
            Unit::Decl(decl) => found.decl(decl),
            Unit::Typedef(typedef) => typedef.fields.iter().for_each(|decl| found.decl(decl)),
            Unit::Proctype(p) => {
                p.params.iter().for_each(|decl| found.decl(decl));
                found.stmts(&p.body.stmts);
            }
            Unit::Init(init) => found.stmts(&init.body.stmts),
            Unit::Never(never) => found.stmts(&never.body.stmts),
            Unit::Trace(trace) => found.stmts(&trace.body.stmts),
            Unit::Ltl(_) | Unit::Mtype(_) | Unit::Inline(_) | Unit::C(_) => {}
        }
    }
    found.declarations
}

struct Finder<'a, 's> {
    symbols: &'s Symbols,
    declarations: Declarations<'a>,
}

impl<'a> Finder<'a, '_> {
    fn decl(&mut self, decl: &'a Decl) {
        for declarator in &decl.vars {
            if let Some(Symbol::Variable(id)) = self.symbols.symbol(declarator.name.id) {
                self.declarations.insert(id, declarator);
            }
        }
    }

    fn stmts(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Decl(decl) => self.decl(decl),
            StmtKind::Block(stmts)
            | StmtKind::Atomic(stmts)
            | StmtKind::DStep(stmts)
            | StmtKind::Inline { body: stmts, .. }
            | StmtKind::For { body: stmts, .. } => self.stmts(stmts),
            StmtKind::If(choices) | StmtKind::Do(choices) => {
                choices.iter().for_each(|choice| self.stmts(&choice.stmts));
            }
            StmtKind::Unless(normal, escape) => {
                self.stmt(normal);
                self.stmt(escape);
            }
            _ => {}
        }
    }
}

/// In this order SPIN sets the globals: unsigned, bit, byte, chan, mtype, short, int, records.
fn rank(ty: Type) -> u8 {
    match ty {
        Type::Unsigned(_) => 0,
        Type::Bit | Type::Bool => 1,
        Type::Byte | Type::Pid => 2,
        Type::Chan => 3,
        Type::Mtype(_) => 4,
        Type::Short => 5,
        Type::Int => 6,
        Type::Struct(_) => 7,
    }
}

/// Makes the steps that set variables.
pub(super) struct Initializers<'c, 'a> {
    pub context: &'c mut Context<'a>,
    pub declarations: &'c Declarations<'a>,
    pub channels: &'c mut Vec<ChannelType>,
    pub known: &'c mut FxHashMap<VarId, ChannelTypeId>,
}

impl Initializers<'_, '_> {
    /// What happens before the first process starts.
    pub fn globals(&mut self) -> Vec<InitStep> {
        let symbols = self.context.symbols;
        let mut globals = symbols.globals.clone();
        globals.sort_by_key(|&id| rank(symbols.variable(id).ty));
        let mut steps = Vec::new();
        for id in globals {
            self.variable(id, self.context.whole(id), &mut steps);
        }
        steps
    }

    /// What happens when a process is created.
    pub fn locals(&mut self, locals: &[VarId]) -> Vec<InitStep> {
        let mut steps = Vec::new();
        for &id in locals {
            let variable = self.context.symbols.variable(id);
            // A declaration among statements is itself a statement; but SPIN creates its channel,
            // and sets the array it lists and the fields of a record, at once.
            let at_once = variable.at_creation
                || variable.channel.is_some()
                || matches!(variable.ty, Type::Struct(_))
                || matches!(self.initializer(id), Some(Initializer::List(_)));
            if at_once && !variable.parameter {
                self.variable(id, self.context.whole(id), &mut steps);
            }
        }
        steps
    }

    fn initializer(&self, id: VarId) -> Option<&Initializer> {
        self.declarations.get(&id)?.init.as_ref()
    }

    fn variable(&mut self, id: VarId, at: Place, steps: &mut Vec<InitStep>) {
        let symbols = self.context.symbols;
        let variable = symbols.variable(id);
        let stride = self.context.layout.stride(id);
        let count = variable.array.unwrap_or(1);
        let element = |i: u32| Place { offset: at.offset + i * stride, ..at.clone() };
        if let Type::Struct(record) = variable.ty {
            for i in 0..count {
                for &field in &symbols.typedef(record).fields {
                    let mut place = element(i);
                    place.offset += self.context.layout.offset(field);
                    place.scalar = self.context.layout.scalar(field);
                    self.variable(field, place, steps);
                }
            }
            return;
        }
        if variable.channel.is_some() {
            let channel = self.channel(id);
            steps.extend((0..count).map(|i| InitStep::NewChannel(element(i), channel)));
            return;
        }
        let declarations = self.declarations;
        let init = declarations.get(&id).and_then(|d| d.init.as_ref());
        let values: Vec<Expr> = match init {
            Some(Initializer::Expr(value)) => vec![self.context.expr(value)],
            Some(Initializer::List(values)) => {
                values.iter().map(|value| self.context.expr(value)).collect()
            }
            Some(Initializer::Channel { .. }) | None => return,
        };
        // The last value of a list stands for all that are missing.
        let Some(last) = values.last() else { return };
        let nodes = u64::from(count).saturating_mul(1 + size::expr(last));
        if !self.context.budget.spend(nodes, variable.span) {
            return;
        }
        for i in 0..count {
            let value = values.get(i as usize).unwrap_or(last);
            if *value != Expr::Const(0) {
                steps.push(InitStep::Store(element(i), value.clone()));
            }
        }
    }

    /// The kind of the channels that a variable declares.
    fn channel(&mut self, id: VarId) -> ChannelTypeId {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let variable = self.context.symbols.variable(id);
        let (capacity, types) = match &variable.channel {
            Some(channel) => (channel.capacity, channel.fields.as_slice()),
            None => (0, [].as_slice()),
        };
        let scalars = types.iter().map(|&ty| self.context.layout.scalars_of(ty));
        let scalars = scalars.fold(0, u64::saturating_add);
        let fits = self.context.budget.spend(scalars, variable.span);
        let fields = if fits { self.context.layout.message(types) } else { Vec::new() };
        let message_bytes = fields.iter().map(|field| field.scalar.bytes()).sum();
        self.context.layout.check_channel(capacity, message_bytes, variable.span);
        let kind = ChannelTypeId(self.channels.len() as u16);
        self.channels.push(ChannelType {
            name: variable.name.clone(),
            capacity,
            fields,
            message_bytes,
            span: variable.span,
        });
        self.known.insert(id, kind);
        kind
    }
}
