//! From syntax to automata.
//!
//! `flow` numbers the elements as SPIN's parser does, `table` works out the transitions of each
//! local state as SPIN's generator does, `expr` and `action` say what a transition tests and
//! does in terms of offsets, which `layout` hands out, and `init` says what the variables start
//! with. The tables are those of SPIN 6.5.2 without its optimisations (`spin -o1 -o2 -o3 -a`).

mod action;
mod expr;
mod flow;
mod formula;
mod init;
mod layout;
mod remote;
mod size;
mod table;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use spinward_promela::ast::{self, ExprKind, Model, Unit};
use spinward_promela::symbols::{BodyKind, Symbols};
use spinward_promela::{Code, Diagnostic, Loaded};

use self::expr::Context;
use self::flow::{BlockKind, Claimed, Flow, Kind};
use self::init::Initializers;
use self::layout::Layout;
use self::size::Budget;
use self::table::{Flags, Table};
use crate::exclusive::{Exclusive, Written};
use crate::follow::follow;
use crate::independence::End;
use crate::ir::{
    Action, Automaton, Block, BodyId, Condition, ControlState, Element, ElementId, Expr, Formula,
    InitStep, Program, StateId, Transition, Uses,
};
use crate::optimize::is_process;

/// Makes the program of a model that has no errors so far. What SPIN finds only at this stage comes
/// back as diagnostics; there is no program if one of them is an error.
pub fn lower(loaded: &Loaded) -> (Option<Program>, Vec<Diagnostic>) {
    let symbols = &*loaded.symbols;
    let mut flow = Flow::build(&loaded.model, symbols);
    if let Some(failed) = take_errors(&mut flow) {
        return (None, failed);
    }
    check_sizes(&mut flow, symbols);
    let tables: Vec<_> =
        (0..symbols.bodies.len()).map(|i| table::build(&mut flow, BodyId(i as u32))).collect();
    if let Some(failed) = take_errors(&mut flow) {
        return (None, failed);
    }
    warn_of_labels(&mut flow);

    let (program, mut diagnostics) = Assembly::new(loaded, &flow, &tables).program();
    diagnostics.extend(flow.diagnostics);
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    (program.filter(|_| !failed), diagnostics)
}

/// Adds a condition; its number.
fn ask(conditions: &mut Vec<Condition>, text: &str, expr: Expr) -> u32 {
    conditions.push(Condition { text: text.into(), expr, given: false, asks_timeout: false });
    conditions.len() as u32 - 1
}

/// Adds the conditions that a process is at a label of a kind.
fn ask_for_labels(
    conditions: &mut Vec<Condition>,
    automata: &[Automaton],
    is_one: fn(&ControlState) -> bool,
) -> Vec<u32> {
    let mut numbers = Vec::new();
    for automaton in automata.iter().filter(|it| is_process(it.kind)) {
        for (number, _) in automaton.states.iter().enumerate().filter(|(_, it)| is_one(it)) {
            let (body, state) = (automaton.body, StateId(number as u16));
            let expr = Expr::RemoteLabel { body, pid: None, state };
            numbers.push(ask(conditions, &format!("{}@{number}", automaton.name), expr));
        }
    }
    numbers
}

fn take_errors(flow: &mut Flow<'_>) -> Option<Vec<Diagnostic>> {
    flow.diagnostics.iter().any(Diagnostic::is_error).then(|| std::mem::take(&mut flow.diagnostics))
}

/// Local states are numbers of 16 bits.
fn check_sizes(flow: &mut Flow<'_>, symbols: &Symbols) {
    for (i, built) in flow.bodies.iter().enumerate() {
        if let Some(built) = built
            && built.next_local > u32::from(u16::MAX)
        {
            flow.diagnostics.push(
                Diagnostic::new(
                    Code::ModelTooLarge,
                    symbols.bodies[i].span,
                    "too many statements in one body",
                )
                .label(format!("{} local states", built.next_local)),
            );
        }
    }
}

/// Labels of states that are never stored have no effect.
fn warn_of_labels(flow: &mut Flow<'_>) {
    let mut warnings = Vec::new();
    for def in flow.labels.iter() {
        let Some(name) = def.name() else { continue };
        let flags = Flags::of_label(name);
        let element = flow.element(def.element);
        let (problem, why) = if element.d_step.is_some()
            && (flags.end || flags.accept || flags.progress)
        {
            let why = "no process stops there, so no state is ever labelled by it";
            (format!("label `{name}` inside of `d_step` has no effect"), why)
        } else if element.atomic && (flags.accept || flags.progress) {
            let why = "a process that goes on there is in no state that is labelled by it";
            (format!("label `{name}` inside of `atomic` counts only where a process waits"), why)
        } else {
            continue;
        };
        warnings.push(Diagnostic::new(Code::LabelWithoutEffect, def.span, problem).note(why));
    }
    flow.diagnostics.extend(warnings);
}

/// Puts the pieces together.
struct Assembly<'f, 'a> {
    loaded: &'a Loaded,
    flow: &'f Flow<'a>,
    tables: &'f [Table],
    context: Context<'a>,
    transitions: Vec<Transition>,
}

impl<'f, 'a> Assembly<'f, 'a> {
    fn new(loaded: &'a Loaded, flow: &'f Flow<'a>, tables: &'f [Table]) -> Self {
        let symbols = &*loaded.symbols;
        let mut label_states = FxHashMap::default();
        for def in flow.labels.iter() {
            if let Some(name) = def.name() {
                let state = StateId(flow.element(def.element).local as u16);
                label_states.entry((def.body, name)).or_insert(state);
            }
        }
        Self {
            loaded,
            flow,
            tables,
            context: Context {
                symbols,
                layout: Layout::new(symbols),
                label_states,
                uses: Uses::default(),
                diagnostics: Vec::new(),
                budget: Budget::default(),
            },
            transitions: Vec::new(),
        }
    }

    fn program(mut self) -> (Option<Program>, Vec<Diagnostic>) {
        let symbols = self.context.symbols;
        let layout = &mut self.context.layout;
        let (hidden, visible): (Vec<_>, Vec<_>) =
            symbols.globals.iter().copied().partition(|&id| layout.is_hidden(id));
        let globals = layout.block(visible.into_iter(), None);
        let hidden = layout.block(hidden.into_iter(), None);
        let locals: Vec<_> = symbols
            .bodies
            .iter()
            .map(|body| layout.block(body.locals.iter().copied(), Some(body.span)))
            .collect();
        if layout.diagnostics.iter().any(Diagnostic::is_error) {
            return (None, std::mem::take(&mut layout.diagnostics));
        }

        let declarations = init::declarations(&self.loaded.model, symbols);
        let mut channels = Vec::new();
        let mut initializers = Initializers {
            context: &mut self.context,
            declarations: &declarations,
            channels: &mut channels,
            known: &mut FxHashMap::default(),
        };
        let init = initializers.globals();
        let local_inits: Vec<_> =
            symbols.bodies.iter().map(|body| initializers.locals(&body.locals)).collect();
        if channels.len() > usize::from(u16::MAX) {
            let diagnostic =
                Diagnostic::of_model(Code::ModelTooLarge, "too many declarations of channels");
            return (None, vec![diagnostic]);
        }

        let actions = self.actions();
        let mut numbers = self.element_numbers().into_iter();
        let mut automata = Vec::new();
        for (i, (locals, init)) in locals.into_iter().zip(local_inits).enumerate() {
            let numbers = numbers.next().unwrap_or_default();
            automata.push(self.automaton(BodyId(i as u32), locals, init, &actions, numbers));
        }
        self.use_of_units(&self.loaded.model);
        let mut conditions = self.conditions();
        let formulas = self.formulas(&mut conditions);
        let atoms = self.atoms(&mut conditions);
        let non_progress = ask(&mut conditions, "np_", Expr::NonProgress);
        let accepting = ask_for_labels(&mut conditions, &automata, |state| state.accept);
        let progressing = ask_for_labels(&mut conditions, &automata, |state| state.progress);
        let claims = self.claims();

        let mut start = Vec::new();
        for (i, body) in symbols.bodies.iter().enumerate() {
            let id = BodyId(i as u32);
            if matches!(body.kind, BodyKind::Proctype | BodyKind::Init) {
                start.extend((0..body.active).map(|_| (id, body.priority)));
            }
        }
        let of_kind = |wanted: &[BodyKind]| -> Vec<BodyId> {
            let found = symbols.bodies.iter().enumerate();
            found
                .filter(|(_, body)| wanted.contains(&body.kind))
                .map(|(i, _)| BodyId(i as u32))
                .collect()
        };
        let elements = self.elements();
        let Self { mut context, transitions, .. } = self;
        let mut program = Program {
            source: Arc::clone(&self.loaded.source),
            symbols: Arc::clone(&self.loaded.symbols),
            automata,
            transitions,
            elements,
            channels,
            globals,
            hidden,
            init,
            start,
            claims: of_kind(&[BodyKind::Never]),
            followed: Vec::new(),
            trace: of_kind(&[BodyKind::Trace, BodyKind::NoTrace]).first().copied(),
            conditions,
            formulas,
            atoms,
            non_progress,
            accepting,
            progressing,
            exclusive: Exclusive::default(),
            uses: context.uses,
        };
        program.exclusive = Exclusive::new(&program, claims);
        let mut conditions = program.conditions.clone();
        let followed = program.claims.iter().map(|&claim| follow(&program, claim, &mut conditions));
        program.followed = followed.collect();
        program.conditions = conditions;
        context.diagnostics.append(&mut context.layout.diagnostics);
        context.diagnostics.extend(context.budget.diagnostic());
        (Some(program), context.diagnostics)
    }

    /// What each element does.
    fn actions(&mut self) -> Vec<Action> {
        let mut actions = Vec::with_capacity(self.flow.elements.len());
        for (i, element) in self.flow.elements.iter().enumerate() {
            let elsewhere = std::mem::take(&mut self.context.uses.timeout);
            let action = self.context.action(self.flow, ElementId(i as u32));
            self.context.budget.spend_action(&action, element.span);
            actions.push(action);
            let uses = &mut self.context.uses;
            let in_claim = self.context.symbols.body(element.body).kind == BodyKind::Never;
            uses.timeout_in_claim |= uses.timeout && in_claim;
            uses.timeout = elsewhere || uses.timeout && !in_claim;
        }
        actions
    }

    /// The conditions beside the model.
    fn conditions(&mut self) -> Vec<Condition> {
        let uses = self.context.uses;
        let given = self.loaded.conditions.iter();
        let conditions = given
            .map(|given| Condition {
                text: given.text.clone(),
                expr: self.context.expr(&given.expr),
                given: true,
                asks_timeout: false,
            })
            .collect();
        self.context.uses = self.context.uses.of_who_asks(uses);
        conditions
    }

    /// What an automaton beside the model asks of single states.
    fn atoms(&mut self, conditions: &mut Vec<Condition>) -> Vec<u32> {
        let uses = self.context.uses;
        let atoms = self.loaded.atoms.iter();
        let numbers = atoms.map(|atom| ask(conditions, &atom.text, self.context.expr(&atom.expr)));
        let numbers = numbers.collect();
        self.context.uses = self.context.uses.of_who_asks(uses);
        numbers
    }

    /// The formulas of the model and beside it; what they ask of single states becomes conditions.
    fn formulas(&mut self, conditions: &mut Vec<Condition>) -> Vec<Formula> {
        let Loaded { model, formulas: given, .. } = self.loaded;
        let mut formulas = Vec::new();
        for unit in &model.units {
            if let Unit::Ltl(ltl) = unit {
                let name = ltl.name.as_ref().map(|name| name.text.clone());
                formulas.push(self.context.formula(name, &ltl.formula, ltl.span, conditions));
            }
        }
        for given in given {
            let span = given.expr.span;
            let mut formula = self.context.formula(None, &given.expr, span, conditions);
            formula.text.clone_from(&given.text);
            formulas.push(formula);
        }
        formulas
    }

    /// What processes claim to use alone.
    fn claims(&mut self) -> Vec<Written> {
        let claimed = self.flow.claimed.iter();
        let claims = claimed.filter_map(|&Claimed { body, send, channel }| {
            let (word, end) = if send { ("xs", End::In) } else { ("xr", End::Out) };
            let names: Vec<_> = channel.parts.iter().map(|part| part.name.text.as_str()).collect();
            let text = format!("{word} {}", names.join("."));
            Some(Written { body, end, channel: self.context.place(channel)?, text })
        });
        claims.collect()
    }

    fn use_of_units(&mut self, model: &Model) {
        let uses = &mut self.context.uses;
        for unit in &model.units {
            match unit {
                Unit::Proctype(p) => uses.priorities |= p.priority.is_some(),
                Unit::Init(init) => uses.priorities |= init.priority.is_some(),
                Unit::C(unit) => uses.c_code = Some(unit.span),
                _ => {}
            }
        }
        for unit in &model.units {
            if let Unit::Ltl(ltl) = unit {
                self.use_of_formula(&ltl.formula);
            }
        }
    }

    /// What a formula reads is part of every state, as in SPIN, also when the formula is not
    /// checked.
    fn use_of_formula(&mut self, formula: &ast::Expr) {
        match &formula.kind {
            ExprKind::TemporalUnary(_, a) | ExprKind::Unary(_, a) => self.use_of_formula(a),
            ExprKind::TemporalBinary(_, a, b) | ExprKind::Binary(_, a, b) => {
                self.use_of_formula(a);
                self.use_of_formula(b);
            }
            _ => {
                let before = self.context.uses;
                self.context.expr(formula);
                let priorities = self.context.uses.priorities;
                let asked = self.context.uses.of_who_asks(before);
                self.context.uses = Uses { priorities, ..asked };
            }
        }
    }

    fn elements(&self) -> Vec<Element> {
        let elements = self.flow.elements.iter().enumerate();
        elements
            .map(|(i, element)| {
                let table = &self.tables[element.body.0 as usize];
                let listed = table.listed.get(element.local as usize).copied();
                let inside = table.inside.get(element.local as usize).copied();
                Element {
                    body: element.body,
                    state: StateId(element.local as u16),
                    text: action::text(self.flow, ElementId(i as u32)),
                    span: self.loaded.source.outside_macros(element.span),
                    listed: listed == Some(true) && inside == Some(false),
                }
            })
            .collect()
    }

    /// By body and local state: the element it stands for.
    fn element_numbers(&self) -> Vec<Vec<Option<ElementId>>> {
        let mut numbers: Vec<_> =
            self.tables.iter().map(|table| vec![None; table.rows.len()]).collect();
        for (element, i) in self.flow.elements.iter().zip(0..) {
            numbers[element.body.0 as usize][element.local as usize] = Some(ElementId(i));
        }
        numbers
    }

    fn automaton(
        &mut self,
        body: BodyId,
        locals: Block,
        init: Vec<InitStep>,
        actions: &[Action],
        numbers: Vec<Option<ElementId>>,
    ) -> Automaton {
        let symbols = self.context.symbols;
        let info = symbols.body(body);
        let table = &self.tables[body.0 as usize];
        let mut states = Vec::with_capacity(table.rows.len());
        for (i, (flags, element)) in table.flags.iter().zip(numbers).enumerate() {
            let from = self.transitions.len() as u32;
            self.transitions_of(body, i, table, actions);
            states.push(ControlState {
                transitions: from..self.transitions.len() as u32,
                end: flags.end,
                accept: flags.accept,
                progress: flags.progress,
                element,
                reachable: table.reachable[i],
            });
        }
        let (provided, deterministic) = match &self.loaded.model.units[info.unit] {
            Unit::Proctype(p) => {
                (p.provided.as_ref().map(|expr| self.context.expr(expr)), p.deterministic)
            }
            _ => (None, false),
        };
        let labels = self.flow.labels.of_body(body).iter();
        Automaton {
            body,
            name: info.name.clone(),
            kind: info.kind,
            states,
            initial: StateId(table.initial as u16),
            locals,
            params: self.context.params(body),
            init,
            resets: Vec::new(),
            provided,
            deterministic,
            labels: labels
                .filter_map(|def| {
                    let state = StateId(self.flow.element(def.element).local as u16);
                    Some((def.name()?.to_owned(), state))
                })
                .collect(),
            span: info.span,
        }
    }

    fn transitions_of(&mut self, body: BodyId, state: usize, table: &Table, actions: &[Action]) {
        let rows = &table.rows[state];
        for (i, row) in rows.iter().enumerate() {
            let element = self.flow.element(row.element);
            let action = &actions[row.element.0 as usize];
            if !self.context.budget.spend_action(action, element.span) {
                return;
            }
            let mut action = action.clone();
            if matches!(element.kind, Kind::Block(BlockKind::DStep, _)) {
                let entry = table.entries.get(&row.element);
                action = Action::DStep { entry: StateId(entry.map_or(0, |&state| state as u16)) };
            }
            // Inside of a d_step the options are tried in order, so the `else` of a choice inside
            // of a choice comes before the options that follow.
            if table.inside[state] && i + 1 < rows.len() && matches!(action, Action::Else) {
                action = Action::Condition(Expr::Const(1));
            }
            self.transitions.push(Transition {
                body,
                from: StateId(state as u16),
                to: StateId(row.to as u16),
                element: row.element,
                action,
                atomic: row.atomic,
                escape: row.escape as u16,
                resets: Vec::new(),
                span: self.loaded.source.outside_macros(element.span),
            });
        }
    }
}
