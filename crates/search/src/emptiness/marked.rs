//! Marks by the thousand, in as few words as the number of sets allows.

use spinward_machine::Marks;

use crate::chunked::Chunked;
use crate::limits::{Limit, Memory};

/// Bits in a word.
const WORD: u32 = u32::BITS;

/// A vector of marks; also a stack.
#[derive(Debug)]
pub(crate) struct MarksStack {
    words: Chunked<u32>,
    /// Words for each.
    width: usize,
}

impl MarksStack {
    /// For marks of so many sets.
    pub fn new(sets: u32) -> Self {
        Self { words: Chunked::new(), width: sets.div_ceil(WORD) as usize }
    }

    pub fn push(&mut self, marks: Marks, memory: &Memory) -> Result<(), Limit> {
        for word in 0..self.width {
            self.words.push(part(marks, word), memory)?;
        }
        Ok(())
    }

    /// Takes the topmost away; none if there is nothing or nothing to know.
    pub fn pop(&mut self) -> Marks {
        let mut marks = 0;
        for _ in 0..self.width {
            marks = marks << WORD | u128::from(self.words.pop().unwrap_or(0));
        }
        Marks(marks)
    }

    pub fn get(&self, index: usize) -> Marks {
        let words = (0..self.width).rev().map(|word| self.words.get(index * self.width + word));
        Marks(words.fold(0, |marks, word| marks << WORD | u128::from(word)))
    }

    pub fn set(&mut self, index: usize, marks: Marks) {
        for word in 0..self.width {
            self.words.set(index * self.width + word, part(marks, word));
        }
    }

    /// Makes it as long as said, without marks, if it is shorter.
    pub fn grow(&mut self, length: usize, memory: &Memory) -> Result<(), Limit> {
        self.words.grow(length * self.width, 0, memory)
    }

    /// Drops everything, and gives the room back.
    pub fn release(&mut self, memory: &Memory) {
        self.words.release(memory);
    }
}

fn part(marks: Marks, word: usize) -> u32 {
    (marks.0 >> (WORD as usize * word)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_back() {
        let memory = &Memory::new(None);
        for sets in [0, 1, 31, 32, 33, 64, 65, 127, 128] {
            let all = Marks::first(sets);
            let marks = |index: u128| Marks((index * 0x1234_5678_9abc_def1_2345_6789_abcd) & all.0);
            let mut stack = MarksStack::new(sets);
            for index in 0..3000 {
                stack.push(marks(index), memory).unwrap();
            }
            stack.set(7, all);
            assert_eq!((stack.get(7), stack.get(8)), (all, marks(8)));
            for index in (8..3000).rev() {
                assert_eq!(stack.pop(), marks(index));
            }
            assert_eq!(stack.pop(), all);
        }
    }
}
