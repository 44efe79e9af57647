//! Which bytes of a state matter to a move, and which it changes.

use std::cell::{Cell, Ref, RefCell};

/// What was looked at and changed on the way from one state to another. Bytes that were changed before
/// they were looked at do not matter.
#[derive(Debug, Default)]
pub struct Touched {
    /// By byte: all bits, or none. Looking at a state does not need a state of one's own.
    read: Vec<Cell<u8>>,
    /// The first bytes looked at, in order: those for an index, and others.
    order: RefCell<[Vec<u32>; 2]>,
    /// By byte: in which of these it was noted, as bits.
    ordered: Vec<Cell<u8>>,
    /// How many places were looked at and changed.
    effort: Cell<usize>,
    /// Whether an index is computed.
    for_index: Cell<bool>,
    written: Vec<u8>,
    /// Whether processes or channels were created, or are gone: then bytes changed that nobody wrote.
    pub reshaped: bool,
    /// Whether it matters which processes and channels there are.
    shape: Cell<bool>,
    /// Whether it matters who can move (`timeout`).
    movers: Cell<bool>,
}

/// Of so many bytes the order is kept.
const MAX_ORDER: usize = 32;

/// A byte that counts.
pub const ALL: u8 = u8::MAX;

impl Clone for Touched {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, source: &Self) {
        self.read.clone_from(&source.read);
        let source_order = source.order.borrow();
        let orders = self.order.get_mut().iter_mut().zip(&*source_order);
        orders.for_each(|(order, source)| order.clone_from(source));
        self.ordered.clone_from(&source.ordered);
        self.effort.set(source.effort.get());
        self.for_index.set(source.for_index.get());
        self.written.clone_from(&source.written);
        self.reshaped = source.reshaped;
        self.shape.set(source.shape.get());
        self.movers.set(source.movers.get());
    }
}

impl Touched {
    /// Nothing yet, of a state with so many bytes.
    pub fn begin(&mut self, bytes: usize) {
        self.read.clear();
        self.read.resize(bytes, Cell::new(0));
        self.order.get_mut().iter_mut().for_each(Vec::clear);
        self.ordered.clear();
        self.ordered.resize(bytes, Cell::new(0));
        self.effort.set(0);
        self.for_index.set(false);
        self.written.clear();
        self.written.resize(bytes, 0);
        self.reshaped = false;
        self.shape.set(false);
        self.movers.set(false);
    }

    /// Notes that bytes were looked at.
    pub fn read(&self, start: usize, bytes: usize) {
        // There may be fewer, or more than at first: whoever asks does not care for other layouts.
        self.effort.update(|effort| effort + 1);
        let end = (start + bytes).min(self.read.len());
        let order = usize::from(!self.for_index.get());
        for byte in (start..end).filter(|&byte| self.written[byte] == 0) {
            self.read[byte].set(ALL);
            let ordered = &self.ordered[byte];
            if ordered.get() & 1 << order == 0 {
                ordered.set(ordered.get() | 1 << order);
                let order = &mut self.order.borrow_mut()[order];
                if order.len() < MAX_ORDER {
                    order.push(byte as u32);
                }
            }
        }
    }

    /// Notes that bytes were changed.
    pub fn write(&mut self, start: usize, bytes: usize) {
        self.effort.update(|effort| effort + 1);
        self.written.iter_mut().skip(start).take(bytes).for_each(|written| *written = ALL);
    }

    /// Adds what another one looked at.
    pub fn add_read(&self, other: &Self) {
        for (read, other) in self.read.iter().zip(&other.read) {
            read.set(read.get() | other.get());
        }
    }

    /// Notes that it was asked which processes or channels there are.
    pub fn read_shape(&self) {
        self.shape.set(true);
    }

    /// Whether that was asked.
    pub fn reads_shape(&self) -> bool {
        self.shape.get()
    }

    /// Notes that it was asked who can move.
    pub fn read_movers(&self) {
        self.movers.set(true);
    }

    /// Whether that was asked.
    pub fn reads_movers(&self) -> bool {
        self.movers.get()
    }

    /// Notes whether an index is computed from now on; whether one was.
    pub fn set_for_index(&self, for_index: bool) -> bool {
        self.for_index.replace(for_index)
    }

    /// How many places were looked at and changed.
    pub fn effort(&self) -> usize {
        self.effort.get()
    }

    /// The first bytes looked at, in order: those for an index, and others.
    pub fn order(&self) -> Ref<'_, [Vec<u32>; 2]> {
        self.order.borrow()
    }

    /// By byte: all bits if it was looked at.
    pub fn all_read(&self) -> impl Iterator<Item = u8> + '_ {
        self.read.iter().map(Cell::get)
    }

    /// By byte: all bits if it was changed.
    pub fn all_written(&self) -> &[u8] {
        &self.written
    }
}
