//! Labels and jumps.
//!
//! A name may stand at several labels of a body if they are in different blocks. A jump goes to the
//! label that is known in the same block as the jump's own name, else to one in a block around it,
//! else to any in the body; among equals SPIN's table decides, newest first for an exact match.

use super::Resolver;
use super::scope::{Body, LabelPlace, Local, SameName};
use crate::ast::{Label, Name};
use crate::source::Span;
use crate::symbols::Symbol;
use crate::{Code, Diagnostic};

impl<'m> Resolver<'m> {
    /// A label before a statement.
    pub(super) fn label(&mut self, label: &'m Label) {
        let (place, _) = self.label_place(&label.name);
        let body = self.body();
        let index = body.labels.len();
        let same = body.labels_by_name.entry(&label.name.text).or_default();
        same.newest = index;
        same.blocks.entry(place.block.clone()).or_insert((index, index)).1 = index;
        let twin = *same.twins.entry((place.block.clone(), place.inline)).or_insert(index);
        if twin != index {
            let first = body.labels[twin].name.span;
            self.report(
                Diagnostic::new(
                    Code::LabelTwice,
                    label.name.span,
                    format!("label `{}` is declared twice", label.name.text),
                )
                .label("declared again here")
                .related(first, "first declared here"),
            );
        }
        let id = self.body().id;
        self.set(&label.name, Symbol::Label(id, index as u32));
        self.symbols.bodies[id.0 as usize].labels.push((label.name.text.clone(), label.name.span));
        self.body().labels.push(place);
    }

    /// `goto`
    pub(super) fn jump(&mut self, target: &'m Name) {
        let (place, is_label) = self.label_place(target);
        // Nobody looks for the label of a jump that was told to be wrong.
        if is_label {
            self.body().jumps.push(place);
        }
    }

    /// Makes a label's name known, if it is not, and says where; and whether nothing else has it.
    fn label_place(&mut self, name: &'m Name) -> (LabelPlace<'m>, bool) {
        let body = self.body();
        let (d_step, inline) = (body.d_step, body.inline);
        let known = body
            .get(&name.text)
            .map(|(block, local, span)| (block.path.clone(), local, Some(span)));
        let (block, is_label) = match known {
            Some((block, Local::Label | Local::Wrong, _)) => (block, true),
            Some((block, Local::Variable(_), span)) => {
                self.bad_label(name, "a variable", span);
                (block, false)
            }
            None => {
                let other = self.globals.get(&name.text).map(|declared| {
                    (declared.meaning.map_or("a name", super::kind_of), declared.span)
                });
                if let Some((kind, span)) = other {
                    self.bad_label(name, kind, span);
                }
                let body = self.body();
                body.declare(&name.text, Local::Label, name.span);
                (body.innermost().path.clone(), other.is_none())
            }
        };
        (LabelPlace { name, block, d_step, inline }, is_label)
    }

    fn bad_label(&mut self, name: &Name, kind: &str, span: Option<Span>) {
        let mut error = Diagnostic::new(
            Code::Redeclared,
            name.span,
            format!("`{}` is {kind} and cannot be a label too", name.text),
        );
        if let Some(span) = span {
            error = error.related(span, "declared here");
        }
        self.report(error);
    }

    /// Finds the labels of a body's jumps, when all of it was read.
    pub(super) fn join_jumps(&mut self, body: &Body<'m>) {
        for jump in &body.jumps {
            let same = body.labels_by_name.get(jump.name.text.as_str());
            let Some(index) = same.map(|same| find(same, jump)) else {
                self.no_such_label(body, jump.name);
                continue;
            };
            self.set(jump.name, Symbol::Label(body.id, index as u32));
            let label = &body.labels[index];
            if label.d_step != jump.d_step {
                let message = if jump.d_step.is_some() {
                    "`goto` out of a `d_step`"
                } else {
                    "`goto` into a `d_step`"
                };
                self.report(
                    Diagnostic::new(Code::DStepIsOneStep, jump.name.span, message)
                        .label("jumps from here")
                        .related(label.name.span, "to this label")
                        .note("a `d_step` is one step: it has one entry and one exit"),
                );
            }
        }
    }

    fn no_such_label(&mut self, body: &Body<'m>, name: &Name) {
        let mut error =
            Diagnostic::new(Code::NoLabel, name.span, format!("there is no label `{}`", name.text))
                .label("not found in this body");
        let labels = body.labels.iter().map(|label| label.name.text.as_str());
        if let Some(help) = self.did_you_mean(&name.text, labels) {
            error = error.help(help);
        }
        self.report(error);
    }
}

/// The index of the label a jump goes to.
fn find(same: &SameName<'_>, jump: &LabelPlace<'_>) -> usize {
    if let Some(&(_, newest)) = same.blocks.get(&jump.block) {
        return newest;
    }
    let first = |path: &[u32]| same.blocks.get(path).map(|&(first, _)| first);
    let around = (0..jump.block.len()).filter_map(|depth| first(&jump.block[..depth])).min();
    around.unwrap_or(same.newest)
}
