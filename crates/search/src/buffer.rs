//! Room that is used again and again, and counted as long as it is held.

use std::ops::{Deref, DerefMut};

use crate::limits::{Limit, Memory};

/// Bytes that a buffer keeps when it is emptied. What takes more is rare, and would be missed
/// elsewhere.
const KEPT: usize = 1 << 20;

/// A vector whose room is taken from the budget.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    items: Vec<T>,
    /// Elements there is room for.
    room: usize,
    memory: Memory,
}

impl<T: Copy> Buffer<T> {
    pub fn new(memory: &Memory) -> Self {
        Self { items: Vec::new(), room: 0, memory: memory.clone() }
    }

    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Limit> {
        self.make_room(1)?;
        self.items.push(item);
        Ok(())
    }

    #[inline]
    pub fn extend_from_slice(&mut self, items: &[T]) -> Result<(), Limit> {
        self.make_room(items.len())?;
        self.items.extend_from_slice(items);
        Ok(())
    }

    /// The elements, with room for so many more, which may be appended.
    #[inline]
    pub fn with_room(&mut self, more: usize) -> Result<&mut Vec<T>, Limit> {
        self.make_room(more)?;
        Ok(&mut self.items)
    }

    /// Drops all but the first elements.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    pub fn clear(&mut self) {
        self.items.clear();
        if self.room * size_of::<T>() > KEPT {
            self.items = Vec::new();
            self.memory.give_back(bytes::<T>(self.room));
            self.room = 0;
        }
    }

    #[inline]
    fn make_room(&mut self, more: usize) -> Result<(), Limit> {
        if self.room - self.items.len() < more { self.grow(more) } else { Ok(()) }
    }

    /// Old and new room are both there for a moment.
    #[cold]
    fn grow(&mut self, more: usize) -> Result<(), Limit> {
        let room = (self.items.len() + more).max(2 * self.room).max(4);
        self.memory.take(bytes::<T>(room))?;
        self.items.reserve_exact(room - self.items.len());
        self.memory.give_back(bytes::<T>(self.room));
        self.room = room;
        Ok(())
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.items = Vec::new();
        self.memory.give_back(bytes::<T>(self.room));
    }
}

fn bytes<T>(elements: usize) -> u64 {
    (elements * size_of::<T>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_counted() {
        let memory = Memory::new(Some(8_000_000));
        let mut buffer = Buffer::new(&memory);
        let pushed = (0..1_000_000_u64).take_while(|&item| buffer.push(item).is_ok()).count();
        assert_eq!(memory.used(), buffer.room as u64 * 8);
        assert!(pushed >= 100_000 && buffer.len() == pushed && buffer[7] == 7);
        assert!(memory.peak() <= 8_000_000);
        buffer.clear();
        assert_eq!(memory.used(), 0);
        buffer.extend_from_slice(&[1, 2, 3]).unwrap();
        assert_eq!(buffer[..], [1, 2, 3]);
        assert_eq!(memory.used(), 4 * 8);
        buffer.clear();
        assert_eq!(memory.used(), 4 * 8);
        drop(buffer);
        assert_eq!(memory.used(), 0);
    }
}
