//! The exact set of visited states.
//!
//! Keys lie one after the other in an arena; a state is known by its number, dense from 0, so that
//! a search hangs what it needs of each state (a bit, a depth, a parent) on vectors of its own. A
//! hash table holds the numbers alone. It is split into many small tables that grow one at a time,
//! so that the old and the new memory of a growing table never amount to much.

use hashbrown::HashTable;
use rapidhash::v3::rapidhash_v3;

use crate::chunked::Chunked;
use crate::limits::{Limit, Memory};

/// How many tables.
const TABLES: usize = 256;

/// The sizes of the arena's chunks: an eighth of what is there, within these.
const SMALLEST_CHUNK: usize = 1 << 16;
const LARGEST_CHUNK: usize = 1 << 24;

/// The exact set of visited states.
#[derive(Debug)]
pub struct Visited {
    /// Keys, each after its length.
    chunks: Vec<Vec<u8>>,
    /// By state: where its key is.
    places: Chunked<Place>,
    /// Numbers of states, by the hash of their key.
    tables: Vec<HashTable<u32>>,
    /// Bytes in the arena.
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    chunk: u32,
    start: u32,
}

impl Visited {
    /// No states.
    pub fn new() -> Self {
        Self {
            chunks: Vec::new(),
            places: Chunked::new(),
            tables: (0..TABLES).map(|_| HashTable::new()).collect(),
            bytes: 0,
        }
    }

    /// How many states.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The key of a state.
    pub fn key(&self, state: u32) -> &[u8] {
        key(&self.chunks, &self.places, state)
    }

    /// Gives up the tables: keys can still be read, but none be added.
    pub fn into_keys(mut self) -> Keys {
        self.tables = Vec::new();
        Keys(self)
    }

    /// The number of a key, which is added if it is not there, and whether it was added.
    pub fn insert(&mut self, bytes: &[u8], memory: &mut Memory) -> Result<(u32, bool), Limit> {
        let hash = rapidhash_v3(bytes);
        // The table chooses slots by the low bits and tags by the highest.
        let table = (hash >> 40) as usize % TABLES;
        let is_it = |&state: &u32| key(&self.chunks, &self.places, state) == bytes;
        if let Some(&state) = self.tables[table].find(hash, is_it) {
            return Ok((state, false));
        }
        let state = u32::try_from(self.len())
            .ok()
            .filter(|&state| state != u32::MAX)
            .ok_or(Limit::Numbers)?;
        self.make_room(table, memory)?;
        let place = self.store(bytes, memory)?;
        self.places.push(place, memory)?;
        let (chunks, places) = (&self.chunks, &self.places);
        self.tables[table]
            .insert_unique(hash, state, |&state| rapidhash_v3(key(chunks, places, state)));
        Ok((state, true))
    }

    /// Makes sure that a table can take one more.
    fn make_room(&mut self, table: usize, memory: &mut Memory) -> Result<(), Limit> {
        let (chunks, places) = (&self.chunks, &self.places);
        let table = &mut self.tables[table];
        if table.len() < table.capacity() {
            return Ok(());
        }
        let old = table.allocation_size() as u64;
        // It doubles; a first allocation is of a few entries.
        let new = (2 * old).max(256);
        memory.take(new)?;
        table.reserve(1, |&state| rapidhash_v3(key(chunks, places, state)));
        memory.give_back((old + new).saturating_sub(table.allocation_size() as u64));
        Ok(())
    }

    fn store(&mut self, bytes: &[u8], memory: &mut Memory) -> Result<Place, Limit> {
        let (length, length_bytes) = encode(bytes.len());
        let length = &length[..length_bytes];
        let needed = length.len() + bytes.len();
        let fits = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= needed;
        if !self.chunks.last().is_some_and(fits) {
            let size = usize::try_from(self.bytes / 8)
                .unwrap_or(LARGEST_CHUNK)
                .clamp(SMALLEST_CHUNK, LARGEST_CHUNK)
                .max(needed);
            memory.take((size + 4 * size_of::<Vec<u8>>()) as u64)?;
            self.chunks.push(Vec::with_capacity(size));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let place = Place {
            chunk: u32::try_from(number).map_err(|_| Limit::Numbers)?,
            start: u32::try_from(chunk.len()).map_err(|_| Limit::Numbers)?,
        };
        chunk.extend_from_slice(length);
        chunk.extend_from_slice(bytes);
        self.bytes += needed as u64;
        Ok(place)
    }
}

/// The keys of visited states, by number.
#[derive(Debug)]
pub struct Keys(Visited);

impl Keys {
    /// The key of a state.
    pub fn key(&self, state: u32) -> &[u8] {
        self.0.key(state)
    }
}

impl Default for Visited {
    fn default() -> Self {
        Self::new()
    }
}

fn key<'a>(chunks: &'a [Vec<u8>], places: &Chunked<Place>, state: u32) -> &'a [u8] {
    let place = places.get(state as usize);
    let record = &chunks[place.chunk as usize][place.start as usize..];
    let (length, read) = decode(record);
    &record[read..read + length]
}

/// A length, seven bits in a byte, the lowest first; the high bit says that more follow.
fn encode(mut length: usize) -> ([u8; 10], usize) {
    let mut bytes = [0; 10];
    let mut used = 0;
    loop {
        bytes[used] = (length & 0x7f) as u8;
        used += 1;
        length >>= 7;
        if length == 0 {
            return (bytes, used);
        }
        bytes[used - 1] |= 0x80;
    }
}

fn decode(bytes: &[u8]) -> (usize, usize) {
    let mut length = 0;
    let mut read = 0;
    loop {
        let byte = bytes[read];
        length |= usize::from(byte & 0x7f) << (7 * read);
        read += 1;
        if byte & 0x80 == 0 {
            return (length, read);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of all lengths up to some hundreds.
    fn nth(i: u32) -> Vec<u8> {
        let mut key = i.to_le_bytes().to_vec();
        key.resize(4 + (i % 300) as usize, i as u8);
        key
    }

    #[test]
    fn keys_come_back_under_their_number() {
        let memory = &mut Memory::new(None);
        let mut visited = Visited::new();
        for i in 0..5000 {
            assert_eq!(visited.insert(&nth(i), memory).unwrap(), (i, true));
        }
        for i in 0..5000 {
            assert_eq!(visited.insert(&nth(i), memory).unwrap(), (i, false));
            assert_eq!(visited.key(i), nth(i));
        }
        assert_eq!(visited.insert(&[], memory).unwrap(), (5000, true));
        let long = vec![1; 3 * LARGEST_CHUNK];
        assert_eq!(visited.insert(&long, memory).unwrap(), (5001, true));
        assert_eq!(visited.key(5001), long);
        assert_eq!(visited.key(5000), &[] as &[u8]);
    }

    #[test]
    fn memory_is_counted_as_allocated() {
        let memory = &mut Memory::new(Some(4 << 20));
        let mut visited = Visited::new();
        let stored = (0..).take_while(|&i| visited.insert(&nth(i), memory).is_ok()).count();
        let allocated: usize = visited.chunks.iter().map(Vec::capacity).sum::<usize>()
            + visited.tables.iter().map(HashTable::allocation_size).sum::<usize>()
            + visited.places.len() * size_of::<Place>();
        assert!(memory.peak() <= 4 << 20);
        assert!(allocated as u64 <= memory.used());
        assert!(memory.used() <= allocated as u64 * 11 / 10 + (1 << 18));
        assert!(stored > 10_000, "{stored}");
        // What is there is still there.
        assert_eq!(visited.key(1234), nth(1234));
    }
}
