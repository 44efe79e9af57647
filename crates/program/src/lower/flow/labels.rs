//! Labels: their scopes, where they may stand, and where jumps to them lead.

use rustc_hash::FxHashMap;
use spinward_promela::Diagnostic;
use spinward_promela::ast::{Expr, Label, Stmt};
use spinward_promela::symbols::{BodyId, Symbol};

use super::{Destination, Element, Flow, Jump, Kind, LabelDef, LabelSymbol, Opening, Simple};
use crate::ir::ElementId;
use crate::lower::remote;

impl<'a> Flow<'a> {
    pub(super) fn enter_scope(&mut self) {
        self.scopes.push(self.scope);
        self.scope = self.scopes.len() as u32 - 1;
    }

    pub(super) fn leave_scope(&mut self) {
        self.scope = self.scopes[self.scope as usize];
    }

    /// Whether `outer` is `inner` or around it.
    fn encloses(&self, outer: u32, mut inner: u32) -> bool {
        // A scope has a smaller number than those inside of it.
        while inner > outer {
            inner = self.scopes[inner as usize];
        }
        inner == outer
    }

    /// The name of a label as SPIN's symbol table has it: seen in this scope or one around it, or
    /// else new in this one.
    pub(super) fn label_symbol(&mut self, name: &'a str) -> LabelSymbol<'a> {
        let known = self.seen.get(name).and_then(|symbols| {
            symbols.iter().rev().find(|symbol| self.encloses(symbol.scope, self.scope)).copied()
        });
        known.unwrap_or_else(|| {
            let symbol = LabelSymbol { name, scope: self.scope };
            self.seen.entry(name).or_default().push(symbol);
            symbol
        })
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
        let Some(at) = self
            .labels
            .iter()
            .rev()
            .find(|def| def.body == body && def.name() == Some(label))
            .map(|def| def.element)
        else {
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
        let Some(label) = self.labels.iter().rev().find(|def| def.element == first) else {
            return;
        };
        let Some(name) = label.name() else { return };
        let span = label.span;
        let message = format!("label `{name}` cannot stand here");
        let misplaced = match opening {
            Opening::Option => {
                // SPIN prints an error for this one, too, but goes on.
                Diagnostic::warning(span, format!("label `{name}` before the guard of an option"))
                    .label("the guard is not a state of its own")
                    .note("a process waits before the whole choice, not before this statement")
                    .help("put the label before the `if` or `do`")
            }
            Opening::Escape => Diagnostic::error(span, message)
                .label("before the guard of an escape")
                .note("an escape is entered from many states; its guard is no state of its own"),
            Opening::Guarded => Diagnostic::error(span, message)
                .label("before a statement with an escape")
                .help("write `Label: { statement unless escape }`"),
            Opening::Block | Opening::Free => Diagnostic::error(span, message)
                .label("before the first statement of a block")
                .help("put the label before the block"),
        };
        self.diagnostics.push(misplaced);
    }

    pub(super) fn set_label(&mut self, label: &'a Label, element: ElementId) {
        let symbol = self.label_symbol(&label.name.text);
        let span = label.name.span;
        if let Some(other) =
            self.labels.iter().find(|def| def.body == self.body && def.symbol == Ok(symbol))
        {
            let other = other.span;
            self.diagnostics.push(
                Diagnostic::error(span, format!("label `{}` is declared twice", symbol.name))
                    .related(other, "first here"),
            );
        }
        self.labels.push(LabelDef { symbol: Ok(symbol), body: self.body, element, span });
    }

    /// Finds the element every jump leads to.
    pub(super) fn find_targets(&mut self) {
        let mut exits = FxHashMap::default();
        let mut named: FxHashMap<(BodyId, &str), Vec<(u32, ElementId)>> = FxHashMap::default();
        for def in &self.labels {
            match def.symbol {
                Ok(symbol) => named
                    .entry((def.body, symbol.name))
                    .or_default()
                    .push((symbol.scope, def.element)),
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
                    .and_then(|labels| self.best_label(symbol.scope, labels)),
            };
            self.elements[i].kind = Kind::Goto(Jump { target, ..jump });
            let Some(target) = target else {
                if let Destination::Label(LabelSymbol { name, .. }) = jump.to {
                    self.diagnostics
                        .push(Diagnostic::error(span, format!("there is no label `{name}`")));
                }
                continue;
            };
            let target = self.element(target);
            if d_step != target.d_step {
                let message = match d_step {
                    Some(_) => "a jump out of a `d_step`",
                    None => "a jump into a `d_step`",
                };
                let diagnostic = Diagnostic::error(span, message)
                    .related(target.span, "leads here")
                    .note("a d_step is one step: it is entered at its start and left at its end");
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// The label in the very scope; or else the first in a scope around it; or else any.
    fn best_label(&self, scope: u32, labels: &[(u32, ElementId)]) -> Option<ElementId> {
        let same = labels.iter().rev().find(|(at, _)| *at == scope);
        let around = || labels.iter().find(|(at, _)| self.encloses(*at, scope));
        same.or_else(around).or_else(|| labels.last()).map(|&(_, element)| element)
    }
}
