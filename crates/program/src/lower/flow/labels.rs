//! Labels: their scopes, where they may stand, and where jumps to them lead.

use rustc_hash::FxHashMap;
use spinward_promela::ast::{Expr, Label, Stmt};
use spinward_promela::symbols::{BodyId, Symbol};
use spinward_promela::{Code, Diagnostic};

use super::{
    Destination, Element, Flow, Jump, Kind, LabelDef, LabelSymbol, Labels, Opening, Simple,
};
use crate::ir::ElementId;
use crate::lower::remote;

impl<'a> Labels<'a> {
    /// All of them, in the order of their declaration.
    pub fn iter(&self) -> impl Iterator<Item = &LabelDef<'a>> {
        self.defs.iter()
    }

    /// Those of a body, in the order of their declaration.
    pub fn of_body(&self, body: BodyId) -> &[LabelDef<'a>] {
        let start = self.defs.partition_point(|def| def.body < body);
        let length = self.defs[start..].partition_point(|def| def.body == body);
        &self.defs[start..start + length]
    }

    /// Those before an element, the newest first.
    pub(super) fn at(&self, element: ElementId) -> impl Iterator<Item = &LabelDef<'a>> {
        self.at.get(&element).into_iter().flatten().rev().map(|&index| &self.defs[index])
    }

    /// Declares a label, in the body that is being read.
    pub(super) fn push(&mut self, def: LabelDef<'a>) {
        let index = self.defs.len();
        self.defs.push(def);
        self.at.entry(def.element).or_default().push(index);
        if let Ok(symbol) = def.symbol {
            self.newest.insert((def.body, symbol.name), index);
            self.first.entry((def.body, symbol)).or_insert(index);
        }
    }

    /// Puts the newest label of an element before another one.
    pub(super) fn move_newest(&mut self, from: ElementId, to: ElementId) {
        if let Some(index) = self.at.get_mut(&from).and_then(Vec::pop) {
            self.at.entry(to).or_default().push(index);
            self.defs[index].element = to;
        }
    }

    fn newest(&self, body: BodyId, name: &str) -> Option<&LabelDef<'a>> {
        self.newest.get(&(body, name)).map(|&index| &self.defs[index])
    }

    fn first(&self, body: BodyId, symbol: LabelSymbol<'a>) -> Option<&LabelDef<'a>> {
        self.first.get(&(body, symbol)).map(|&index| &self.defs[index])
    }
}

/// The labels of one name in a body, by the order of their declaration.
#[derive(Default)]
struct SameName {
    /// The first and the last one in each scope.
    scopes: FxHashMap<u32, (usize, usize)>,
    /// The last one.
    newest: usize,
}

impl<'a> Flow<'a> {
    pub(super) fn enter_scope(&mut self) {
        self.scopes.push(self.scope);
        self.scope = self.scopes.len() as u32 - 1;
    }

    pub(super) fn leave_scope(&mut self) {
        self.scope = self.scopes[self.scope as usize];
    }

    /// A scope and those around it, from the inside out.
    fn around(&self, scope: u32) -> impl Iterator<Item = u32> {
        // The outermost is around itself.
        let outer = |&scope: &u32| (scope > 0).then(|| self.scopes[scope as usize]);
        std::iter::successors(Some(scope), outer)
    }

    /// The name of a label as SPIN's symbol table has it: seen in this scope or one around it, or
    /// else new in this one.
    pub(super) fn label_symbol(&mut self, name: &'a str) -> LabelSymbol<'a> {
        let symbol = |scope| LabelSymbol { name, scope };
        let known = self.around(self.scope).map(symbol).find(|it| self.seen.contains(it));
        let symbol = known.unwrap_or(symbol(self.scope));
        self.seen.insert(symbol);
        symbol
    }

    /// Makes room for a jump behind each label that an expression asks about.
    pub(super) fn refer(&mut self, expr: &'a Expr) {
        remote::in_expr(expr, &mut |body, label| {
            if let Some(Symbol::Body(body)) = self.symbols.symbol(body.id) {
                self.make_visible(body, &label.text);
            }
        });
    }

    /// A label that another process looks at must be a state of its own: a jump behind it moves to
    /// a new element, and a `skip` takes its place.
    fn make_visible(&mut self, body: BodyId, label: &str) {
        let Some(at) = self.labels.newest(body, label).map(|def| def.element) else {
            return;
        };
        let Kind::Goto(jump) = self.element(at).kind else {
            return;
        };
        let local = match &mut self.bodies[body.0 as usize] {
            Some(built) => &mut built.next_local,
            None => &mut self.next_local,
        };
        let number = *local;
        *local += 1;
        let Element { span, next, d_step, .. } = *self.element(at);
        let moved = ElementId(self.elements.len() as u32);
        self.elements.push(Element {
            body,
            local: number,
            kind: Kind::Goto(jump),
            span,
            next,
            atomic: false,
            atomic_end: false,
            d_step,
            escapes: Vec::new(),
        });
        let old = self.element_mut(at);
        old.kind = Kind::Simple(Simple::Skip);
        old.next = Some(moved);
    }

    pub(super) fn refer_all(&mut self, stmt: &'a Stmt) {
        remote::in_statement(stmt, &mut |expr| self.refer(expr));
    }

    pub(super) fn check_first_label(&mut self, first: ElementId, opening: Opening) {
        if opening == Opening::Free {
            return;
        }
        let Some(label) = self.labels.at(first).next() else {
            return;
        };
        let Some(name) = label.name() else { return };
        let span = label.span;
        let message = format!("label `{name}` cannot stand here");
        let misplaced = match opening {
            Opening::Option => {
                // SPIN prints an error for this one, too, but goes on.
                Diagnostic::new(
                    Code::LabelAtOption,
                    span,
                    format!("label `{name}` before the guard of an option"),
                )
                .label("the guard is not a state of its own")
                .note("a process waits before the whole choice, not before this statement")
                .help("put the label before the `if` or `do`")
            }
            Opening::Escape => Diagnostic::new(Code::MisplacedLabel, span, message)
                .label("before the guard of an escape")
                .note("an escape is entered from many states; its guard is no state of its own"),
            Opening::Guarded => Diagnostic::new(Code::MisplacedLabel, span, message)
                .label("before a statement with an escape")
                .help("write `Label: { statement unless escape }`"),
            Opening::Block | Opening::Free => Diagnostic::new(Code::MisplacedLabel, span, message)
                .label("before the first statement of a block")
                .help("put the label before the block"),
        };
        self.diagnostics.push(misplaced);
    }

    pub(super) fn set_label(&mut self, label: &'a Label, element: ElementId) {
        let symbol = self.label_symbol(&label.name.text);
        let span = label.name.span;
        if let Some(other) = self.labels.first(self.body, symbol) {
            let other = other.span;
            self.diagnostics.push(
                Diagnostic::new(
                    Code::LabelTwice,
                    span,
                    format!("label `{}` is declared twice", symbol.name),
                )
                .related(other, "first here"),
            );
        }
        self.labels.push(LabelDef { symbol: Ok(symbol), body: self.body, element, span });
    }

    /// Finds the element every jump leads to.
    pub(super) fn find_targets(&mut self) {
        let mut exits = FxHashMap::default();
        let mut named: FxHashMap<(BodyId, &str), SameName> = FxHashMap::default();
        for (index, def) in self.labels.iter().enumerate() {
            match def.symbol {
                Ok(symbol) => {
                    let same = named.entry((def.body, symbol.name)).or_default();
                    same.scopes.entry(symbol.scope).or_insert((index, index)).1 = index;
                    same.newest = index;
                }
                Err(exit) => {
                    exits.insert(exit, def.element);
                }
            }
        }
        for i in 0..self.elements.len() {
            let Kind::Goto(jump) = self.elements[i].kind else {
                continue;
            };
            let Element { body, span, d_step, .. } = self.elements[i];
            let target = match jump.to {
                Destination::LoopExit(exit) => exits.get(&exit).copied(),
                Destination::Label(symbol) => named
                    .get(&(body, symbol.name))
                    .map(|same| self.labels.defs[self.best_label(symbol.scope, same)].element),
            };
            self.elements[i].kind = Kind::Goto(Jump { target, ..jump });
            let Some(target) = target else {
                if let Destination::Label(LabelSymbol { name, .. }) = jump.to {
                    self.diagnostics.push(Diagnostic::new(
                        Code::NoLabel,
                        span,
                        format!("there is no label `{name}`"),
                    ));
                }
                continue;
            };
            let target = self.element(target);
            if d_step != target.d_step {
                let message = match d_step {
                    Some(_) => "a jump out of a `d_step`",
                    None => "a jump into a `d_step`",
                };
                let diagnostic = Diagnostic::new(Code::DStepIsOneStep, span, message)
                    .related(target.span, "leads here")
                    .note("a d_step is one step: it is entered at its start and left at its end");
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// The label in the very scope; or else the first in a scope around it; or else any.
    fn best_label(&self, scope: u32, same: &SameName) -> usize {
        if let Some(&(_, newest)) = same.scopes.get(&scope) {
            return newest;
        }
        let around = self.around(scope);
        let first = around.filter_map(|scope| Some(same.scopes.get(&scope)?.0)).min();
        first.unwrap_or(same.newest)
    }
}
