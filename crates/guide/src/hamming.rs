//! In how many bytes a state differs from the one to come to.
//!
//! *Idea*: if an error state is known, from a trail, states that look like it are near to it (Edelkamp, Lluch Lafuente
//! and Leue 2004, section 10: trail-directed model checking).
//!
//! *Properties*: not admissible, since a step may change many bytes.
//!
//! *Cost*: one comparison of states.

use crate::{Entry, Guide, Misfit, Room, TRAIL, Way};

const NAME: &str = "hamming";

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "the number of bytes that differ from the last state of a trail",
    argument: Some(TRAIL),
    admissible: false,
    consistent: false,
    build: |subject, _| match subject.target {
        Some(target) => {
            let skipped = subject.machine.values_start();
            Ok(Box::new(Hamming { target: target.state[skipped..].to_vec(), skipped }))
        }
        None => {
            let why = "needs a trail to the state to come to: --guide hamming=FILE";
            Err(Misfit::Property { guide: NAME, why: why.into() })
        }
    },
};

struct Hamming {
    target: Vec<u8>,
    /// Bytes at the start of states that do not count: who is alive has another number in each search.
    skipped: usize,
}

impl Guide for Hamming {
    fn estimate(&self, state: &[u8], _: Way<'_>, _: &mut Room) -> u32 {
        let state = &state[self.skipped..];
        let differ = state.iter().zip(&self.target).filter(|(a, b)| a != b).count();
        (differ + state.len().abs_diff(self.target.len())) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_differ_or_are_missing_count() {
        let guide = Hamming { target: vec![1, 2, 3], skipped: 1 };
        let estimate = |state: &[u8]| guide.estimate(state, Way::default(), &mut Room::default());
        assert_eq!(estimate(&[9, 1, 2, 3]), 0);
        assert_eq!(estimate(&[9, 1, 0, 3, 4]), 2);
    }
}
