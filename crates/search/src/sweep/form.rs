//! In which form states wait and are known.

use std::sync::Arc;

use spinward_machine::System;
use spinward_store::{Density, Flat, Full, Learner, Packing, Parts, Worker};

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

    /// How states are packed, if they are.
    fn packing(&self) -> Option<&Packing> {
        None
    }

    /// Takes note of a state that there is, for the first renewal.
    fn note(&mut self, _state: &[u8]) {}

    /// Whether it is time to look for a form in which the states take less room, if so many are known.
    fn is_due(&mut self, _states: u64) -> bool {
        false
    }

    /// A form for all threads, of which each has one of these, in which some of the known states take less room, or
    /// all.
    fn renewal(_forms: &mut [&mut Self], _known: &[&Flat]) -> Renewal<Self> {
        Renewal::None
    }

    /// Becomes another form.
    fn become_like(&mut self, other: &Self);
}

/// How a form changes.
pub(super) enum Renewal<F> {
    /// Not at all.
    None,
    /// The form of some states changes, of a number of bytes for which that is true.
    Some(F, Vec<bool>),
    /// All states have another form.
    All(F),
}

/// The bits in which states differ.
pub(super) struct Packed<'a, S> {
    system: &'a S,
    packing: Arc<Packing>,
    /// How many states were encoded, and how many of them could not be packed.
    encoded: u64,
    unpacked: u64,
    /// By number of bytes: whether states that are not packed have so many.
    unpacked_bytes: Vec<bool>,
    /// How many states must be known before it is looked whether to pack some again.
    due: u64,
    /// What is known of states that were noted.
    noted: Option<Learner>,
}

/// The first states are packed when so many are known.
const FEW: u64 = 1 << 6;

/// To pack one of so many states is worth the while.
const WORTH: u64 = 16;

/// If more states are known, not all of them are packed anew.
const MANY: u64 = 1 << 16;

impl<'a, S> Packed<'a, S> {
    /// Whether so many states are known that it is time to look whether to pack some again.
    pub fn is_time(&self, states: u64) -> bool {
        states >= self.due
    }
}

impl<'a, S: System> Packed<'a, S> {
    pub fn new(system: &'a S) -> Self {
        Self {
            system,
            packing: Arc::default(),
            encoded: 0,
            unpacked: 0,
            unpacked_bytes: Vec::new(),
            due: FEW,
            noted: None,
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

    #[inline]
    fn packing(&self) -> Option<&Packing> {
        Some(&self.packing)
    }

    fn note(&mut self, state: &[u8]) {
        let learner = self.noted.get_or_insert_default();
        learner.note(self.system.layout(state), state);
    }

    fn is_due(&mut self, states: u64) -> bool {
        if !self.is_time(states) {
            return false;
        }
        // What is learned of packed states is lost with all of them.
        self.due = if states < MANY { 2 * states } else { states + states / 4 };
        self.unpacked * WORTH >= self.encoded
    }

    fn renewal(forms: &mut [&mut Self], known: &[&Flat]) -> Renewal<Self> {
        let Some(first) = forms.first_mut() else {
            return Renewal::None;
        };
        let (system, packing, due) = (first.system, first.packing.clone(), first.due);
        let mut learner = first.noted.take().unwrap_or_else(|| packing.learner());
        let mut state = Vec::new();
        let mut bytes = Vec::new();
        for form in &mut *forms {
            let its_bytes = std::mem::take(&mut form.unpacked_bytes);
            bytes.resize(its_bytes.len().max(bytes.len()), false);
            bytes.iter_mut().zip(&its_bytes).for_each(|(all, its)| *all |= its);
            (form.encoded, form.unpacked) = (0, 0);
        }
        for known in known {
            let has_unpacked = |number: usize| bytes.get(number) == Some(&true);
            known.each(has_unpacked, |form| {
                if !packing.is_packed(form) {
                    packing.read(form, &mut state);
                    learner.note(system.layout(&state), &state);
                }
            });
        }
        let states: u64 = known.iter().map(|known| known.len()).sum();
        if !learner.is_new() {
            forms.iter_mut().for_each(|form| form.unpacked_bytes.clone_from(&bytes));
            return Renewal::None;
        }
        let like = |packing| Self { packing: Arc::new(packing), due, ..Self::new(system) };
        if states > MANY
            && let Some(extended) = packing.extended(&learner)
        {
            return Renewal::Some(like(extended), bytes);
        }
        Renewal::All(like(learner.packing()))
    }

    fn become_like(&mut self, other: &Self) {
        self.packing = other.packing.clone();
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

    fn become_like(&mut self, _: &Self) {}

    fn decode(&mut self, form: &[u64], out: &mut Vec<u8>) {
        self.parts.unfold(form[0], out, &mut self.worker);
    }
}
