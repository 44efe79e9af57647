//! A guide by tables that were made of the parts of a model.

use std::sync::Arc;

use spinward_machine::Machine;

use super::knowledge::Refusal;
use super::parts::Parts;
use super::system::System;
use crate::patience::GivenUp;
use crate::{Guide, Misfit, Room, Subject, Way};

/// Tells distances by the values of parts.
pub trait Tables: Send + Sync {
    /// Whether a part is looked at.
    fn uses(&self, part: usize) -> bool;

    /// The distance, given the values of all parts that are looked at; there may be others behind them afterwards.
    fn distance(&self, values: &mut Vec<u32>) -> u32;
}

/// An image of a model.
pub struct Image<'m, T> {
    machine: &'m Machine,
    /// No state stands for others: their estimates may differ.
    told_apart: bool,
    parts: Arc<Parts>,
    uses: Vec<bool>,
    tables: T,
}

/// A model that was taken apart.
pub struct Apart<'m> {
    machine: &'m Machine,
    told_apart: bool,
    parts: Arc<Parts>,
    pub system: System,
}

impl<'m> Apart<'m> {
    /// Takes a model apart and makes a guide of that name of it.
    pub fn guide(
        subject: &Subject<'m>,
        name: &'static str,
        make: impl FnOnce(&Self) -> Box<dyn Guide + 'm>,
    ) -> Result<Box<dyn Guide + 'm>, Misfit> {
        let mut parts = match Parts::new(subject) {
            Ok(parts) => parts,
            Err(Refusal::GivenUp(why)) => return Ok(Box::new(GivenUp::new(name, why))),
            Err(Refusal::Misfit(why)) => {
                return Err(Misfit::Property { guide: name, why: format!("does not fit: {why}") });
            }
        };
        let system = std::mem::take(&mut parts.system);
        let (machine, told_apart) = (subject.machine, !subject.symmetric);
        Ok(make(&Self { machine, told_apart, parts: Arc::new(parts), system }))
    }

    /// A guide by tables that were made of it.
    pub fn image<T: Tables + 'm>(&self, tables: T) -> Box<dyn Guide + 'm> {
        let Self { machine, told_apart, ref parts, ref system } = *self;
        let uses = (0..system.parts.len()).map(|part| tables.uses(part)).collect();
        Box::new(Image { machine, told_apart, parts: Arc::clone(parts), uses, tables })
    }
}

impl<T: Tables> Guide for Image<'_, T> {
    fn estimate(&self, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        match self.parts.values(self.machine, state, &self.uses, room) {
            Some(()) => self.tables.distance(&mut room.values),
            None => 0,
        }
    }

    fn is_admissible(&self) -> bool {
        true
    }

    fn is_consistent(&self) -> bool {
        self.told_apart
    }

    fn rules_out(&self) -> bool {
        self.parts.harmless && self.told_apart
    }
}
