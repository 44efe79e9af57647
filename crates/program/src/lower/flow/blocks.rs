//! What is inside of what: atomic sequences, escapes, and where blocks go on.

use spinward_promela::{Code, Diagnostic};

use super::{BlockKind, Flow, Kind, Sequence, SequenceId};
use crate::ir::ElementId;

impl<'a> Flow<'a> {
    /// Lets every element of a sequence be left by an escape.
    pub(super) fn attach_escape(&mut self, normal: SequenceId, escape: SequenceId) {
        if !self.attached.insert((normal, escape)) {
            return;
        }
        let Sequence { first, extent, .. } = self.sequence(normal);
        let mut at = Some(first);
        while let Some(id) = at {
            self.escape_element(id, escape);
            if id == extent {
                break;
            }
            at = self.element(id).next;
        }
    }

    fn escape_element(&mut self, id: ElementId, escape: SequenceId) {
        if self.element(id).escapes.contains(&escape) {
            return;
        }
        for inner in self.element(id).escapes.clone() {
            self.attach_escape(inner, escape);
        }
        let element = self.element_mut(id);
        element.escapes.insert(0, escape);
        match element.kind.clone() {
            Kind::Unless(normal, _) => self.attach_escape(normal, escape),
            Kind::Choice { options, .. } => {
                for option in options {
                    self.attach_escape(option, escape);
                }
            }
            Kind::Block(BlockKind::DStep, inside) => {
                self.escape_element(self.sequence(inside).first, escape);
            }
            Kind::Block(_, inside) => self.attach_escape(inside, escape),
            _ => {}
        }
    }

    pub(super) fn make_atomic(&mut self, sequence: SequenceId, d_step: bool) {
        self.walk_atomic(sequence, d_step);
        let mut last = self.sequence(sequence).last;
        loop {
            last = match self.element(last).kind {
                Kind::Block(BlockKind::Plain | BlockKind::Atomic, inside) => {
                    self.sequence(inside).last
                }
                Kind::Unless(normal, _) => self.sequence(normal).last,
                _ => break,
            };
        }
        let last = self.element_mut(last);
        last.atomic = false;
        last.atomic_end = true;
    }

    fn walk_atomic(&mut self, sequence: SequenceId, d_step: bool) {
        let members: Vec<_> = self.members(sequence).collect();
        for id in members {
            let element = self.element_mut(id);
            element.atomic = true;
            match element.kind.clone() {
                Kind::Block(BlockKind::DStep, _) if !d_step => {}
                Kind::Block(_, inside) => {
                    // An atomic inside of another one is a plain block.
                    element.kind = Kind::Block(BlockKind::Plain, inside);
                    self.walk_atomic(inside, d_step);
                }
                Kind::Choice { options, .. } => {
                    for option in options {
                        self.walk_atomic(option, d_step);
                    }
                }
                Kind::Unless(normal, escape) => {
                    if d_step {
                        let span = element.span;
                        self.diagnostics.push(
                            Diagnostic::new(
                                Code::DStepIsOneStep,
                                span,
                                "`unless` inside of a `d_step`",
                            )
                            .label("a d_step cannot be left half-way"),
                        );
                    }
                    self.walk_atomic(normal, d_step);
                    self.walk_atomic(escape, d_step);
                }
                _ => {}
            }
        }
    }

    /// Links the last element of every block to what follows the block.
    pub(super) fn tie_ends(&mut self) {
        for i in (0..self.elements.len()).rev() {
            let Kind::Block(_, inside) = self.elements[i].kind else {
                continue;
            };
            let mut after = self.elements[i].next;
            if after.is_none() {
                continue;
            }
            while let Some(id) = after
                && matches!(self.element(id).kind, Kind::Join(_))
            {
                after = self.element(id).next;
            }
            let last = self.sequence(inside).last;
            match self.element(last).next {
                None => self.element_mut(last).next = after,
                // A jump that moved away from a label: it is the last now.
                Some(moved) if matches!(self.element(moved).kind, Kind::Goto(_)) => {
                    self.sequences[inside.0 as usize].last = moved;
                }
                Some(_) => {}
            }
        }
    }
}
