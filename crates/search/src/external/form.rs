//! The form in which states are kept.
//!
//! *Idea*: as long as all states fit into memory they are kept as they are. When they do not any more, it is known
//! which of their bits change, and from then on they are kept as these ([`Packing`]): some four times as many fit, and
//! what is sorted, compared and written is so much shorter. The form stays the same then, as states on disk are looked
//! for by it; those in which other bits change are written in full.

use spinward_machine::System;
use spinward_store::{Learner, Live, Packing};

/// The form in which states are kept.
#[derive(Default)]
pub(super) struct Form {
    packing: Option<Packing>,
}

/// Room to work in, one for each thread.
#[derive(Default)]
pub(super) struct Written {
    words: Vec<u64>,
    bytes: Vec<u8>,
}

impl Form {
    /// The form by what was learned of states.
    pub fn new(learner: &Learner) -> Self {
        Self { packing: Some(learner.packing()) }
    }

    /// Whether states are not kept as they are.
    pub fn is_packed(&self) -> bool {
        self.packing.is_some()
    }

    /// What is known of states, by which they are kept, for [`Learner::from_known`]; none if they are kept as they are.
    pub fn known(&self) -> Option<Live> {
        Some(self.packing.as_ref()?.learner().known())
    }

    /// A state as it is kept.
    pub fn encode<'s>(
        &self,
        system: &impl System,
        state: &'s [u8],
        room: &'s mut Written,
    ) -> &'s [u8] {
        let Some(packing) = &self.packing else {
            return state;
        };
        let Written { words, bytes } = room;
        words.clear();
        let (length, _) = packing.write(system.layout(state), state, words);
        bytes.clear();
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        &bytes[..length]
    }

    /// The state that is kept so.
    pub fn decode<'s>(&self, kept: &'s [u8], room: &'s mut Written) -> &'s [u8] {
        let Some(packing) = &self.packing else {
            return kept;
        };
        let Written { words, bytes } = room;
        words.clear();
        let (whole, rest) = kept.as_chunks();
        words.extend(whole.iter().map(|&word| u64::from_le_bytes(word)));
        if !rest.is_empty() {
            let mut last = [0; size_of::<u64>()];
            last[..rest.len()].copy_from_slice(rest);
            words.push(u64::from_le_bytes(last));
        }
        packing.read(words, bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use spinward_machine::{Flow, Sink};

    use super::*;

    /// A system of which only the layout of states matters.
    struct Plain;

    impl System for Plain {
        type Scratch = ();

        fn scratch(&self) {}

        fn initial(&self, _: &mut Vec<u8>) {}

        fn expand(&self, _: &[u8], (): &mut (), _: &mut dyn Sink) -> Flow {
            Flow::Continue(())
        }
    }

    #[test]
    fn states_come_back_as_they_were_and_each_has_one_form() {
        let states: Vec<Vec<u8>> = (0..200_u8)
            .map(|number| {
                let mut state = vec![7; 8 + usize::from(number % 3) * 9];
                state[2] = number % 5;
                *state.last_mut().unwrap() = number;
                state
            })
            .collect();
        let mut learner = Learner::default();
        states[..100].iter().for_each(|state| learner.note(Plain.layout(state), state));
        let form = Form::new(&learner);
        let again = Form::new(&Learner::from_known(form.known().unwrap()).unwrap());
        let (mut room, mut other) = (Written::default(), Written::default());
        let mut forms = std::collections::BTreeSet::new();
        let mut shorter = 0;
        for state in &states {
            let kept = form.encode(&Plain, state, &mut room).to_vec();
            assert_eq!(form.decode(&kept, &mut room), state);
            assert_eq!(again.encode(&Plain, state, &mut other), kept);
            shorter += usize::from(kept.len() < state.len());
            forms.insert(kept);
        }
        let different: std::collections::BTreeSet<_> = states.iter().collect();
        assert_eq!(forms.len(), different.len());
        assert!((100..200).contains(&shorter), "{shorter}");
    }
}
