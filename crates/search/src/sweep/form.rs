//! In which form states wait and are known.

use spinward_machine::System;
use spinward_store::{Density, Flat, Full, Packing, Parts, Worker};

/// The form of states: rows of words, equal for equal states only. Each thread has its own.
pub(super) trait Form: Sized + Send {
    /// How full the tables of known states become.
    const DENSITY: Density;

    /// How many words the form of a state of so many bytes has at most.
    fn longest(bytes: usize) -> usize;

    /// Appends the form of a state; how many bytes it has.
    fn encode(&mut self, state: &[u8], out: &mut Vec<u64>) -> Result<usize, Full>;

    /// Puts the state in a form into `out`.
    fn decode(&mut self, form: &[u64], out: &mut Vec<u8>);

    /// Changes the form of some known states, or of all, if it is time for that: they would take less
    /// room.
    fn renew(&mut self, _known: &Flat) -> Renewal<Self> {
        Renewal::None
    }
}

/// How a form changes.
pub(super) enum Renewal<F> {
    /// Not at all.
    None,
    /// The form of some states changes, of a number of bytes for which that is true.
    Some(Vec<bool>),
    /// All states have another form.
    All(F),
}

/// The bits in which states differ.
pub(super) struct Packed<'a, S> {
    system: &'a S,
    packing: Packing,
    /// How many states were encoded, and how many of them could not be packed.
    encoded: u64,
    unpacked: u64,
    /// By number of bytes: whether states that are not packed have so many.
    unpacked_bytes: Vec<bool>,
    /// How many states must be known before it is looked whether to pack some again.
    due: u64,
}

/// The first states are packed when so many are known.
const FEW: u64 = 1 << 10;

/// To pack one of so many states is worth the while.
const WORTH: u64 = 16;

/// If more states are known, not all of them are packed anew.
const MANY: u64 = 1 << 16;

impl<'a, S: System> Packed<'a, S> {
    pub fn new(system: &'a S) -> Self {
        Self {
            system,
            packing: Packing::default(),
            encoded: 0,
            unpacked: 0,
            unpacked_bytes: Vec::new(),
            due: FEW,
        }
    }

    #[cold]
    fn note_unpacked(&mut self, bytes: usize) {
        self.unpacked += 1;
        if self.unpacked_bytes.len() <= bytes {
            self.unpacked_bytes.resize(bytes + 1, false);
        }
        self.unpacked_bytes[bytes] = true;
    }
}

impl<S: System> Form for Packed<'_, S> {
    const DENSITY: Density = Density::Fast;

    fn longest(bytes: usize) -> usize {
        Packing::longest(bytes)
    }

    #[inline]
    fn encode(&mut self, state: &[u8], out: &mut Vec<u64>) -> Result<usize, Full> {
        let (bytes, packed) = self.packing.write(self.system.layout(state), state, out);
        self.encoded += 1;
        if !packed {
            self.note_unpacked(bytes);
        }
        Ok(bytes)
    }

    #[inline]
    fn decode(&mut self, form: &[u64], out: &mut Vec<u8>) {
        self.packing.read(form, out);
    }

    fn renew(&mut self, known: &Flat) -> Renewal<Self> {
        let states = known.len();
        if states < self.due {
            return Renewal::None;
        }
        self.due = states + states / 4;
        if self.unpacked * WORTH < self.encoded {
            return Renewal::None;
        }
        let mut learner = self.packing.learner();
        let mut state = Vec::new();
        let has_unpacked = |bytes: usize| self.unpacked_bytes.get(bytes) == Some(&true);
        known.each(has_unpacked, |form| {
            if !self.packing.is_packed(form) {
                self.packing.read(form, &mut state);
                learner.note(self.system.layout(&state), &state);
            }
        });
        (self.encoded, self.unpacked) = (0, 0);
        if !learner.is_new() {
            return Renewal::None;
        }
        if states > MANY && self.packing.extend(&learner) {
            return Renewal::Some(std::mem::take(&mut self.unpacked_bytes));
        }
        Renewal::All(Self { packing: learner.packing(), due: self.due, ..Self::new(self.system) })
    }
}

/// The root of a tree, whose parts all threads share.
pub(super) struct Folded<'a> {
    parts: &'a Parts,
    worker: Worker,
}

impl<'a> Folded<'a> {
    pub fn new(parts: &'a Parts) -> Self {
        Self { parts, worker: Worker::default() }
    }
}

impl Form for Folded<'_> {
    const DENSITY: Density = Density::Small;

    fn longest(_: usize) -> usize {
        1
    }

    fn encode(&mut self, state: &[u8], out: &mut Vec<u64>) -> Result<usize, Full> {
        let root = self.parts.fold(state, &mut self.worker)?;
        out.push(root);
        // Most take five bytes; one root always takes as many.
        Ok(if root < 1 << 40 { 5 } else { 8 })
    }

    fn decode(&mut self, form: &[u64], out: &mut Vec<u8>) {
        self.parts.unfold(form[0], out, &mut self.worker);
    }
}
