//! The transitions of each local state.
//!
//! SPIN first gives every element its own transition, and choices and blocks a list of the states
//! they lead into; then it pulls the guards up into the states that lead to them, and puts escapes
//! in front. The order in which it does so decides the order of the lists, and labels travel along
//! with the guards, so this module does it step by step in the same way.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use spinward_promela::symbols::BodyId;
use spinward_promela::{Code, Diagnostic};

use super::flow::{BlockKind, Destination, Element, Flow, Jump, Kind, SequenceId};
use crate::ir::ElementId;

/// A transition, as numbers.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// What is done.
    pub element: ElementId,
    /// The state it leads to; 0 at the end of a process.
    pub to: u32,
    /// It keeps the process inside of an atomic sequence.
    pub atomic: bool,
    /// Not 0: the state of the escape it comes from.
    pub escape: u32,
    /// The states of the escapes that may come instead.
    escapes: Vec<u32>,
}

/// What a state is labelled as.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub end: bool,
    pub accept: bool,
    pub progress: bool,
}

impl Flags {
    fn add(&mut self, other: Self) {
        self.end |= other.end;
        self.accept |= other.accept;
        self.progress |= other.progress;
    }

    /// What a label of this name makes of its state.
    pub fn of_label(name: &str) -> Self {
        Self {
            end: name.starts_with("end"),
            accept: name.starts_with("accept"),
            progress: name.starts_with("progress"),
        }
    }
}

/// The states of a body.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The transitions of each state.
    pub rows: Vec<Vec<Row>>,
    /// The labels of each state.
    pub flags: Vec<Flags>,
    /// Where a process starts.
    pub initial: u32,
    /// Which states a process may be in.
    pub reachable: Vec<bool>,
    /// Which states count when they were never reached.
    pub listed: Vec<bool>,
    /// Which states are inside of a `d_step`.
    pub inside: Vec<bool>,
    /// The first state inside of each `d_step`.
    pub entries: FxHashMap<ElementId, u32>,
}

/// SPIN gives up after 500 jumps in a row.
const MAX_JUMPS: usize = 10_000;

/// Transitions of a whole model.
const MAX_TRANSITIONS: usize = 1 << 21;

/// A state before guards are pulled up.
#[derive(Clone, Debug)]
enum Draft {
    /// No state of its own.
    None,
    /// A statement.
    Step(Row),
    /// A choice or block: the states it leads into.
    Enter(Vec<u32>),
}

/// Works out the table of a body.
pub(super) fn build(flow: &mut Flow<'_>, body: BodyId) -> Table {
    let Some(built) = flow.bodies[body.0 as usize] else {
        return Table::default();
    };
    let states = built.next_local as usize;
    let mut builder = Builder {
        done: FxHashSet::default(),
        drafts: vec![Draft::None; states],
        need_not_be_reached: vec![false; states],
        nested: vec![false; states],
        d_steps: Vec::new(),
        lost: false,
        flow,
    };
    let first = builder.flow.sequence(built.sequence).first;
    let initial = builder.follow(first, builder.flow.element(first).atomic);
    builder.visit(built.sequence);
    builder.finish(body, initial)
}

struct Builder<'f, 'a> {
    flow: &'f mut Flow<'a>,
    done: FxHashSet<ElementId>,
    drafts: Vec<Draft>,
    need_not_be_reached: Vec<bool>,
    /// Choices that are options of another choice.
    nested: Vec<bool>,
    /// Each `d_step` with its contents and the state after it.
    d_steps: Vec<(ElementId, SequenceId, u32)>,
    /// Some jumps lead nowhere, and that was told. Others that lead to them need not be walked along.
    lost: bool,
}

impl<'a> Builder<'_, 'a> {
    fn element(&self, id: ElementId) -> &Element<'a> {
        self.flow.element(id)
    }

    fn local(&self, id: ElementId) -> u32 {
        self.element(id).local
    }

    fn first(&self, sequence: SequenceId) -> ElementId {
        self.flow.sequence(sequence).first
    }

    /// What an element that does nothing hands over to.
    fn passes_to(&self, id: ElementId) -> Option<ElementId> {
        match &self.element(id).kind {
            Kind::Goto(Jump { target, .. }) => *target,
            Kind::Join(_) | Kind::LoopExit => self.element(id).next,
            _ => None,
        }
    }

    /// The state a process is in once it has come to an element: jumps and joins are passed over,
    /// but a process in an atomic sequence stops at the one that leaves it.
    fn follow(&mut self, id: ElementId, atomic: bool) -> ElementId {
        let mut at = id;
        if self.lost {
            return at;
        }
        for _ in 0..=MAX_JUMPS.min(self.flow.elements.len()) {
            let next = match self.element(at).kind {
                Kind::Unless(normal, _) => Some(self.follow(self.first(normal), atomic)),
                _ => self.passes_to(at),
            };
            match next {
                Some(next) if !atomic || self.element(next).atomic => at = next,
                _ => return at,
            }
        }
        self.endless(id);
        at
    }

    fn endless(&mut self, id: ElementId) {
        self.lost = true;
        let span = self.element(id).span;
        self.flow.diagnostics.push(
            Diagnostic::new(Code::EndlessJumps, span, "jumps that lead nowhere")
                .label("from here on there are only jumps"),
        );
    }

    /// The first element of an option or block that is a state.
    fn entry(&self, sequence: SequenceId) -> ElementId {
        let mut at = self.first(sequence);
        for _ in 0..MAX_JUMPS.min(self.flow.elements.len()) {
            at = match &self.element(at).kind {
                Kind::Join(_) => match self.element(at).next {
                    Some(next) => next,
                    None => return at,
                },
                Kind::Unless(normal, _) => self.first(*normal),
                _ => return at,
            };
        }
        at
    }

    fn skip(&mut self, id: ElementId) {
        let local = self.local(id);
        self.need_not_be_reached[local as usize] = true;
    }

    /// Drafts the states of a sequence.
    fn visit(&mut self, sequence: SequenceId) {
        let last = self.flow.sequence(sequence).last;
        let mut at = Some(self.first(sequence));
        while let Some(id) = at {
            if self.done.insert(id) {
                self.draft(id);
            }
            if id == last {
                break;
            }
            at = self.element(id).next;
        }
    }

    fn draft(&mut self, id: ElementId) {
        match self.element(id).kind.clone() {
            Kind::Unless(normal, _) => self.visit(normal),
            Kind::Choice { options, .. } => {
                let mut states = Vec::new();
                for &option in &options {
                    self.skip(self.first(option));
                    let guard = self.entry(option);
                    self.check_escapes(id, guard, options.len());
                    if !self.never_possible(guard) {
                        states.push(self.local(guard));
                    }
                }
                self.set(id, Draft::Enter(states));
                for option in options {
                    self.visit(option);
                }
            }
            Kind::Block(kind, inside) => {
                self.leave_atomics(inside);
                self.skip(self.first(inside));
                let last = self.flow.sequence(inside).last;
                self.flow.element_mut(last).next = self.element(id).next;
                if kind == BlockKind::DStep {
                    let to = self.step(id);
                    self.d_steps.push((id, inside, to));
                } else {
                    let entry = self.local(self.entry(inside));
                    self.set(id, Draft::Enter(vec![entry]));
                    self.visit(inside);
                }
            }
            Kind::Else | Kind::Join(_) | Kind::Goto(_) | Kind::LoopExit => {
                self.skip(id);
                self.step(id);
            }
            Kind::Simple(_) => {
                if self.flow.tests_constant(id, 1) {
                    self.skip(id);
                }
                self.step(id);
            }
            Kind::End => {
                self.step(id);
            }
        }
    }

    fn set(&mut self, id: ElementId, draft: Draft) {
        let local = self.local(id);
        self.drafts[local as usize] = draft;
    }

    /// Drafts an element that is one transition, and its escapes.
    fn step(&mut self, id: ElementId) -> u32 {
        let atomic = self.element(id).atomic;
        let next = match &self.element(id).kind {
            Kind::Goto(Jump { target, .. }) => *target,
            _ => self.element(id).next,
        };
        let to = match next {
            Some(next) => {
                let next = self.follow(next, atomic);
                self.local(next)
            }
            None => 0,
        };
        let sequences = match self.element(id).kind {
            Kind::Join(_) => Vec::new(),
            _ => self.element(id).escapes.clone(),
        };
        let escapes = sequences
            .iter()
            .map(|&escape| {
                let guard = self.follow(self.first(escape), atomic);
                self.skip(guard);
                self.local(guard)
            })
            .collect();
        self.set(id, Draft::Step(Row { element: id, to, atomic, escape: 0, escapes }));
        for escape in sequences {
            self.visit(escape);
        }
        to
    }

    fn never_possible(&self, guard: ElementId) -> bool {
        self.flow.tests_constant(guard, 0) && self.element(guard).escapes.is_empty()
    }

    /// An escape of one guard among several is an escape of them all.
    fn check_escapes(&mut self, choice: ElementId, guard: ElementId, options: usize) {
        let escapes = &self.element(guard).escapes;
        if escapes.is_empty()
            || options < 2
            || *escapes == self.element(choice).escapes
            || matches!(self.element(guard).kind, Kind::Goto(_) | Kind::Join(_))
        {
            return;
        }
        let span = self.element(guard).span;
        self.flow.diagnostics.push(
            Diagnostic::new(
                Code::EscapeOfGuard,
                span,
                "an escape (`unless`) of one guard of a choice",
            )
            .label("the escape is possible in all options")
            .help("write `unless` after the whole choice"),
        );
    }

    /// A jump out of an atomic sequence ends it, one into another goes on in it.
    fn leave_atomics(&mut self, sequence: SequenceId) {
        let extent = self.flow.sequence(sequence).extent;
        let mut at = Some(self.first(sequence));
        while let Some(id) = at {
            match self.element(id).kind.clone() {
                Kind::Goto(Jump { target: Some(target), .. }) => {
                    let target = self.element(target);
                    let into = target.atomic || target.atomic_end;
                    let jump = self.flow.element_mut(id);
                    if (jump.atomic || jump.atomic_end) && !into {
                        jump.atomic = false;
                        jump.atomic_end = true;
                    }
                    if jump.atomic_end && into {
                        jump.atomic_end = false;
                        jump.atomic = true;
                    }
                }
                Kind::Choice { options, .. } => {
                    for option in options {
                        self.leave_atomics(option);
                    }
                }
                Kind::Unless(normal, escape) => {
                    self.leave_atomics(normal);
                    self.leave_atomics(escape);
                }
                _ => {}
            }
            if id == extent {
                break;
            }
            at = self.element(id).next;
        }
    }

    fn finish(mut self, body: BodyId, initial: ElementId) -> Table {
        let states = self.drafts.len();
        let mut flags = vec![Flags::default(); states];
        for def in self.flow.labels.of_body(body) {
            if let Some(name) = def.name() {
                flags[self.local(def.element) as usize].add(Flags::of_label(name));
            }
        }
        if let Some(built) = self.flow.bodies[body.0 as usize] {
            flags[self.local(built.end) as usize].end = true;
        }
        let room = MAX_TRANSITIONS.saturating_sub(self.flow.transitions);
        let fits = self.flatten(&mut flags, room);
        let mut rows = if fits { self.pull_up(&mut flags) } else { Vec::new() };
        if !fits || !add_escapes(&mut rows, room) {
            self.too_many_transitions(body);
            rows = vec![Vec::new(); states];
        }
        self.flow.transitions += rows.iter().map(Vec::len).sum::<usize>();
        self.pass_end_labels(&rows, &mut flags);

        let initial = self.local(initial);
        let mut reachable = vec![false; states];
        reach(&rows, initial, &mut reachable);
        self.check(body, &rows, &reachable);
        let listed = (0..states).map(|i| self.is_listed(i, &rows[i], reachable[i])).collect();
        let mut table = Table {
            rows,
            flags,
            initial,
            reachable,
            listed,
            inside: vec![false; states],
            entries: FxHashMap::default(),
        };
        for (id, inside, to) in std::mem::take(&mut self.d_steps) {
            self.d_step(id, inside, to, &mut table);
        }
        table
    }

    /// Whether SPIN lists a state that was never reached: not if it stands for a jump, and not if
    /// another state stands for it.
    fn is_listed(&self, state: usize, rows: &[Row], reachable: bool) -> bool {
        let jumps = |row: &Row| match self.element(row.element).kind {
            Kind::Join(_) => true,
            Kind::Goto(Jump { to, .. }) => matches!(to, Destination::LoopExit(_)),
            _ => false,
        };
        let elsewhere = self.need_not_be_reached[state] || (self.nested[state] && !reachable);
        !elsewhere && rows.first().is_some_and(|row| !jumps(row))
    }

    /// Reports what SPIN's verifier refuses to run.
    fn check(&mut self, body: BodyId, rows: &[Vec<Row>], reachable: &[bool]) {
        let states = (0..rows.len()).filter(|&state| reachable[state]);
        let mut found = Vec::new();
        for state in states {
            let is_else = |row: &&Row| matches!(self.element(row.element).kind, Kind::Else);
            let elses: Vec<_> = rows[state].iter().filter(is_else).collect();
            if let [first, second, ..] = elses[..] {
                found.push(
                    Diagnostic::new(
                        Code::SecondElse,
                        self.element(second.element).span,
                        "two `else` are possible at the same place",
                    )
                    .related(self.element(first.element).span, "the other one")
                    .note("a choice at the start of an option adds its options to those around it"),
                );
            }
            let idle = rows[state]
                .iter()
                .find(|row| row.to as usize == state && self.flow.tests_constant(row.element, 1));
            if let Some(row) = idle
                && !self.flow.is_claim(body)
            {
                found.push(
                    Diagnostic::new(
                        Code::IdleLoop,
                        self.element(row.element).span,
                        "a loop that does nothing",
                    )
                    .label("always possible, and leads back to the same state"),
                );
            }
        }
        self.flow.diagnostics.extend(found);
    }

    /// A short text can make many: nested choices and escapes multiply.
    fn too_many_transitions(&mut self, body: BodyId) {
        let span = self.flow.body_span(body);
        let message = format!("the model has more than {MAX_TRANSITIONS} transitions");
        self.flow.diagnostics.push(
            Diagnostic::new(Code::ModelTooLarge, span, message).label("up to here").note(
                "every option of an escape (`unless`) counts for every statement before it, \
                       every option of a nested choice for every choice around it",
            ),
        );
    }

    /// Replaces a choice inside of a choice by its options, as long as there is room for them.
    fn flatten(&mut self, flags: &mut [Flags], room: usize) -> bool {
        let options = |draft: &Draft| match draft {
            Draft::Enter(states) => states.len(),
            _ => 0,
        };
        let mut total: usize = self.drafts.iter().map(options).sum();
        loop {
            let mut changed = false;
            for i in 1..self.drafts.len() {
                let Draft::Enter(states) = &self.drafts[i] else {
                    continue;
                };
                let nested = |state: u32| match &self.drafts[state as usize] {
                    Draft::Enter(inner) if !inner.is_empty() => Some(inner),
                    _ => None,
                };
                if !states.iter().any(|&state| nested(state).is_some()) {
                    continue;
                }
                changed = true;
                let mut flat = Vec::new();
                for &state in states {
                    match nested(state) {
                        None => flat.push(state),
                        Some(inner) => {
                            self.nested[state as usize] = true;
                            for &guard in inner {
                                let label = flags[state as usize];
                                flags[guard as usize].add(label);
                                flat.push(guard);
                            }
                        }
                    }
                }
                total += flat.len() - states.len();
                if total > room {
                    return false;
                }
                self.drafts[i] = Draft::Enter(flat);
            }
            if !changed {
                return true;
            }
        }
    }

    /// Gives each choice and block the transitions of its guards. What labels a guard labels the
    /// state behind it, since nobody ever stops before the guard.
    fn pull_up(&self, flags: &mut [Flags]) -> Vec<Vec<Row>> {
        self.drafts
            .iter()
            .map(|draft| match draft {
                Draft::None => Vec::new(),
                Draft::Step(row) => vec![row.clone()],
                Draft::Enter(states) => states
                    .iter()
                    .filter_map(|&state| match &self.drafts[state as usize] {
                        Draft::Step(row) => {
                            let label = flags[state as usize];
                            flags[row.to as usize].add(label);
                            Some(row.clone())
                        }
                        _ => None,
                    })
                    .collect(),
            })
            .collect()
    }

    /// A state that only leads on hands its end label over.
    fn pass_end_labels(&self, rows: &[Vec<Row>], flags: &mut [Flags]) {
        for (i, row) in rows.iter().enumerate() {
            if let [row] = row.as_slice()
                && flags[i].end
                && matches!(self.element(row.element).kind, Kind::Join(_))
            {
                flags[row.to as usize].end = true;
            }
        }
    }

    /// The states inside of a `d_step`, all ways out leading to `to`.
    fn d_step(&mut self, id: ElementId, inside: SequenceId, to: u32, table: &mut Table) {
        let mut members = FxHashSet::default();
        self.collect(inside, &mut members);
        let mut ordered: Vec<_> = members.iter().copied().collect();
        ordered.sort_unstable();
        // What is inside of an element has a smaller number.
        for member in ordered {
            let local = self.local(member) as usize;
            table.inside[local] = true;
            table.rows[local] = self.inner_rows(member, &members, to, &table.rows);
        }
        let entry = self.local(self.entry(inside));
        table.entries.insert(id, entry);
    }

    fn collect(&self, sequence: SequenceId, members: &mut FxHashSet<ElementId>) {
        for id in self.flow.members(sequence) {
            if !members.insert(id) {
                continue;
            }
            match &self.element(id).kind {
                Kind::Choice { options, .. } => {
                    for &option in options {
                        self.collect(option, members);
                    }
                }
                Kind::Block(_, inner) => self.collect(*inner, members),
                Kind::Unless(normal, _) => self.collect(*normal, members),
                _ => {}
            }
        }
    }

    /// The transitions of an element inside of a `d_step`, given those of all before it.
    fn inner_rows(
        &mut self,
        id: ElementId,
        members: &FxHashSet<ElementId>,
        to: u32,
        known: &[Vec<Row>],
    ) -> Vec<Row> {
        let guards = match &self.element(id).kind {
            Kind::Choice { options, .. } => options
                .iter()
                .map(|&option| self.entry(option))
                .filter(|&guard| !self.never_possible(guard))
                .collect(),
            Kind::Block(_, inner) => vec![self.entry(*inner)],
            Kind::Unless(normal, _) => vec![self.entry(*normal)],
            kind => {
                let next = match kind {
                    Kind::Goto(Jump { target, .. }) => *target,
                    _ => self.element(id).next,
                };
                let to = self.inner_follow(next, members, to);
                return vec![Row {
                    element: id,
                    to,
                    atomic: false,
                    escape: 0,
                    escapes: Vec::new(),
                }];
            }
        };
        guards
            .into_iter()
            .flat_map(|guard| known[self.local(guard) as usize].iter().cloned())
            .collect()
    }

    fn inner_follow(
        &mut self,
        start: Option<ElementId>,
        members: &FxHashSet<ElementId>,
        to: u32,
    ) -> u32 {
        let mut next = start;
        if self.lost {
            return to;
        }
        for _ in 0..=MAX_JUMPS.min(members.len()) {
            match next {
                Some(id) if members.contains(&id) => match self.element(id).kind {
                    Kind::Goto(_) | Kind::Join(_) | Kind::LoopExit => next = self.passes_to(id),
                    Kind::Unless(normal, _) => next = Some(self.first(normal)),
                    _ => return self.local(id),
                },
                _ => return to,
            }
        }
        if let Some(id) = next {
            self.endless(id);
        }
        to
    }
}

/// Puts the transitions of escapes in front of those of the states they may come from, as long as
/// there is room for them.
fn add_escapes(rows: &mut [Vec<Row>], room: usize) -> bool {
    let mut total: usize = rows.iter().map(Vec::len).sum();
    for i in 1..rows.len() {
        if rows[i].iter().all(|row| row.escapes.is_empty()) {
            continue;
        }
        let mut list: VecDeque<Row> = rows[i].iter().cloned().collect();
        let mut known: FxHashSet<ElementId> = list.iter().map(|row| row.element).collect();
        for own in &rows[i] {
            for &escape in own.escapes.iter().rev() {
                for row in &rows[escape as usize] {
                    if known.insert(row.element) {
                        list.push_front(Row { escape, ..row.clone() });
                    }
                }
            }
        }
        total += list.len() - rows[i].len();
        if total > room {
            return false;
        }
        rows[i] = list.into();
    }
    true
}

fn reach(rows: &[Vec<Row>], initial: u32, reachable: &mut [bool]) {
    let mut stack = vec![initial];
    while let Some(state) = stack.pop() {
        if state == 0 || std::mem::replace(&mut reachable[state as usize], true) {
            continue;
        }
        stack.extend(rows[state as usize].iter().map(|row| row.to));
    }
}
