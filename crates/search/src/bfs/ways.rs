//! How each state was reached, in about a byte.
//!
//! *Idea*: states are numbered once more by their *position*, in the order in which they are
//! expanded. The way to a state is the position of the state before it, and which of that one's
//! successors it is. Positions of states that are reached one after the other grow slowly and
//! together with those of the states before them, so only the difference to the last one is written:
//! four bits for it, four for the successor, more bytes if one of them is large.
//!
//! The ways back from a state lead to ever smaller positions, so a run is found by reading the log
//! once, in parts, from the end.

use crate::chunked::{Chunked, Queue};
use crate::limits::{Limit, Memory};

/// How a state was reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// The position of the state before.
    pub parent: u64,
    /// Which successor of that one it is.
    pub successor: u32,
}

/// Of four bits: the rest follows.
const MORE: u64 = 15;

/// Writes a way after one that came from `last`.
fn write(way: Way, last: u64, mut put: impl FnMut(u8) -> Result<(), Limit>) -> Result<(), Limit> {
    // Positive and negative differences alternate, so that both have small numbers.
    let difference = way.parent.wrapping_sub(last).cast_signed();
    let numbers = [(difference << 1 ^ difference >> 63).cast_unsigned(), way.successor.into()];
    let [first, second] = numbers.map(|number| number.min(MORE) as u8);
    put(first << 4 | second)?;
    for number in numbers.into_iter().filter(|&number| number >= MORE) {
        let mut rest = number - MORE;
        while rest >= 0x80 {
            put(rest as u8 | 0x80)?;
            rest >>= 7;
        }
        put(rest as u8)?;
    }
    Ok(())
}

/// Reads a way that was written after one that came from `last`; none at the end.
fn read(last: u64, mut next: impl FnMut() -> Option<u8>) -> Option<Way> {
    let both = next()?;
    let mut number = |start: u8| {
        let mut number = u64::from(start);
        if number == MORE {
            for shift in (0..64).step_by(7) {
                let byte = next()?;
                number += u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
        }
        Some(number)
    };
    let difference = number(both >> 4)?;
    let successor = number(both & 0xf)? as u32;
    let difference = (difference >> 1).cast_signed() ^ -(difference & 1).cast_signed();
    Some(Way { parent: last.wrapping_add_signed(difference), successor })
}

/// Ways that wait.
#[derive(Debug)]
pub(super) struct Waiting {
    bytes: Queue<u8>,
    /// Where the ways written and read last came from.
    written: u64,
    read: u64,
}

impl Waiting {
    pub fn new() -> Self {
        Self { bytes: Queue::new(), written: 0, read: 0 }
    }

    pub fn push(&mut self, way: Way, memory: &Memory) -> Result<(), Limit> {
        write(way, self.written, |byte| self.bytes.push(byte, memory))?;
        self.written = way.parent;
        Ok(())
    }

    pub fn pop(&mut self, memory: &Memory) -> Option<Way> {
        let way = read(self.read, || self.bytes.pop(memory))?;
        self.read = way.parent;
        Some(way)
    }
}

/// Ways between two that can be read without those before.
const PART: u64 = 1 << 12;

/// The ways to all states that were expanded, by position.
#[derive(Debug)]
pub(super) struct Ways {
    bytes: Chunked<u8>,
    /// For each part: where it starts in the bytes, and where the way before it came from.
    parts: Chunked<(usize, u64)>,
    count: u64,
    last: u64,
}

impl Ways {
    pub fn new() -> Self {
        Self { bytes: Chunked::new(), parts: Chunked::new(), count: 0, last: 0 }
    }

    /// How many there are: the next position.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The way to the next position.
    pub fn push(&mut self, way: Way, memory: &Memory) -> Result<(), Limit> {
        if self.count.is_multiple_of(PART) {
            self.parts.push((self.bytes.len(), self.last), memory)?;
        }
        write(way, self.last, |byte| self.bytes.push(byte, memory))?;
        self.last = way.parent;
        self.count += 1;
        Ok(())
    }

    /// Which successors lead from the first position to this one.
    pub fn path_to(&self, position: u64) -> Vec<u32> {
        let mut path = Vec::new();
        let mut part = Vec::new();
        let mut at = position;
        while at > 0 {
            let first = at - at % PART;
            self.read_part(first / PART, at - first, &mut part);
            while at > 0 && at >= first {
                let way = part[(at - first) as usize];
                path.push(way.successor);
                debug_assert!(way.parent < at);
                at = way.parent;
            }
        }
        path.reverse();
        path
    }

    /// The ways of a part, up to one.
    fn read_part(&self, number: u64, up_to: u64, ways: &mut Vec<Way>) {
        let (mut next, mut last) = self.parts.get(number as usize);
        ways.clear();
        for _ in 0..=up_to {
            let way = read(last, || {
                next += 1;
                Some(self.bytes.get(next - 1))
            });
            let way = way.expect("the bytes go on");
            last = way.parent;
            ways.push(way);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_come_back() {
        let memory = &Memory::new(None);
        let parents = [0, 0, 1, 7, 8, 16, 15, 1 << 20, 3, u64::MAX >> 2, 0];
        let successors = [0, 1, 14, 15, 16, 142, 143, 100_000, u32::MAX];
        let all = || {
            parents
                .iter()
                .flat_map(move |&parent| successors.map(|successor| Way { parent, successor }))
        };
        let mut waiting = Waiting::new();
        for way in all() {
            waiting.push(way, memory).unwrap();
        }
        for way in all() {
            assert_eq!(waiting.pop(memory), Some(way));
        }
        assert_eq!(waiting.pop(memory), None);
    }

    #[test]
    fn paths_are_those_of_a_list_of_parents() {
        let memory = &Memory::new(None);
        for spread in [1, 40, 5000] {
            let mut ways = Ways::new();
            let mut list = Vec::new();
            for position in 0..20_000_u64 {
                let back = 1 + position.wrapping_mul(0x9e37_79b9_7f4a_7c15) % spread;
                let way = Way {
                    parent: position.saturating_sub(back),
                    successor: (position % 23) as u32,
                };
                ways.push(way, memory).unwrap();
                list.push(way);
            }
            for position in [0, 1, 22, 4095, 4096, 4097, 19_999] {
                let mut path = Vec::new();
                let mut at = position;
                while at > 0 {
                    path.insert(0, list[at as usize].successor);
                    at = list[at as usize].parent;
                }
                assert_eq!(ways.path_to(position), path);
            }
        }
    }

    #[test]
    fn a_usual_way_takes_a_byte() {
        let memory = &Memory::new(None);
        let mut ways = Ways::new();
        for position in 0..1000 {
            ways.push(Way { parent: position / 3, successor: (position % 7) as u32 }, memory)
                .unwrap();
        }
        assert_eq!(ways.bytes.len(), 1000);
    }
}
