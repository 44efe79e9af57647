//! Sorted records in blocks.
//!
//! *Idea*: states that are neighbours in the order of their bytes differ in few of them, so each is written as what
//! changes the one before into it ([`spinward_store::delta`]), a block at a time, and a block is compressed once more
//! (LZ4) and checksummed. Where each block begins among the keys is kept in memory, so that whoever goes through a run
//! in order can pass over the blocks in which nothing is asked for. Blocks are small: where few states are asked for,
//! what it takes to find out is to unpack the block of each.
//!
//! *Form*: a block is the checksum of what follows, the lengths of the records before and after compression, and the records; a
//! record is its number and the length of the change, both in groups of seven bits, its mark, and the change. Behind
//! the blocks comes a list of them, with its checksum: the length of each, and as many bytes of its first key as tell it
//! from the last one of the block before.

use serde::{Deserialize, Serialize};
use spinward_store::delta;

use crate::error::Error;
use crate::folder::{Folder, NewFile};

/// Bytes of records in a block, before they are compressed.
pub const BLOCK: usize = 1 << 11;

/// Bytes before the records of a block: checksum and two lengths.
const HEAD: usize = 12;

/// What a run has of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The state.
    pub state: &'a [u8],
    /// A number.
    pub number: u32,
    /// A byte.
    pub mark: u8,
}

/// Where a run is, for a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The number of the file.
    pub file: u64,
    /// Where the run begins.
    pub start: u64,
    /// Where its list of blocks begins.
    pub list: u64,
    /// Where it ends.
    pub end: u64,
    /// How many records it has.
    pub records: u64,
}

/// A sorted set of records on disk.
#[derive(Debug)]
pub struct Run {
    section: Section,
    /// How many bytes at the beginning of a state do not tell it from others.
    skip: usize,
    blocks: Vec<Block>,
    /// The keys from which on states are in each block, one after the other.
    keys: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    start: u64,
    /// Where its key ends in the keys.
    key: usize,
}

impl Run {
    /// Opens the run at a place that a manifest has.
    pub fn open(folder: &Folder, section: Section, skip: usize) -> Result<Self, Error> {
        let path = || folder.file_path(section.file);
        let damaged = || Error::damaged(&path(), "the list of blocks has a wrong checksum");
        let mut list = Vec::new();
        let bytes = section.end.checked_sub(section.list).ok_or_else(damaged)?;
        folder.read(section.file, section.list, bytes as usize, &mut list)?;
        let (sum, mut rest) = list.split_at_checked(4).ok_or_else(damaged)?;
        if sum != crc32fast::hash(rest).to_le_bytes() {
            return Err(damaged());
        }
        let (mut blocks, mut keys) = (Vec::new(), Vec::new());
        let mut start = section.start;
        while !rest.is_empty() {
            let (bytes, key) = (delta::take_number(&mut rest), delta::take_number(&mut rest));
            let (key, after) = rest.split_at_checked(key).ok_or_else(damaged)?;
            rest = after;
            keys.extend_from_slice(key);
            blocks.push(Block { start, key: keys.len() });
            start += bytes as u64;
        }
        Ok(Self { section, skip, blocks, keys })
    }

    /// Where it is.
    pub fn section(&self) -> &Section {
        &self.section
    }

    /// How many records it has.
    pub fn len(&self) -> u64 {
        self.section.records
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.section.end - self.section.start
    }

    /// Bytes in memory.
    pub fn memory(&self) -> u64 {
        (self.blocks.capacity() * size_of::<Block>() + self.keys.capacity()) as u64
    }

    /// The keys from which on states are in each of its blocks.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.blocks.len()).map(|block| self.key(block))
    }

    fn key(&self, block: usize) -> &[u8] {
        let start = block.checked_sub(1).map_or(0, |before| self.blocks[before].key);
        &self.keys[start..self.blocks[block].key]
    }

    fn end(&self, block: usize) -> u64 {
        self.blocks.get(block + 1).map_or(self.section.list, |next| next.start)
    }
}

/// Writes a run to a file.
#[derive(Debug)]
pub struct RunWriter<'w, 'f> {
    file: &'w mut NewFile<'f>,
    section: Section,
    skip: usize,
    blocks: Vec<Block>,
    keys: Vec<u8>,
    /// The last state.
    last: Vec<u8>,
    records: Vec<u8>,
    change: Vec<u8>,
    packed: Vec<u8>,
}

impl<'w, 'f> RunWriter<'w, 'f> {
    /// Begins a run behind what the file has. Records must come in the order of their keys, each once.
    pub fn new(file: &'w mut NewFile<'f>, skip: usize) -> Self {
        let start = file.len();
        let section = Section { file: file.number(), start, list: start, end: start, records: 0 };
        let (blocks, keys, last) = Default::default();
        let (records, change, packed) = Default::default();
        Self { file, section, skip, blocks, keys, last, records, change, packed }
    }

    /// Adds a record.
    pub fn push(&mut self, Record { state, number, mark }: Record<'_>) -> Result<(), Error> {
        if self.records.is_empty() {
            let key = &state[self.skip..];
            let before = self.last.get(self.skip..).unwrap_or_default();
            let common = before.iter().zip(key).take_while(|(one, other)| one == other).count();
            self.keys.extend_from_slice(&key[..key.len().min(common + 1)]);
            self.blocks.push(Block { start: self.file.len(), key: self.keys.len() });
            self.last.clear();
        }
        self.change.clear();
        delta::encode(&self.last, state, &mut self.change);
        delta::push_number(number as usize, &mut self.records);
        delta::push_number(self.change.len(), &mut self.records);
        self.records.push(mark);
        self.records.extend_from_slice(&self.change);
        self.last.clear();
        self.last.extend_from_slice(state);
        self.section.records += 1;
        if self.records.len() >= BLOCK { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<(), Error> {
        self.packed.clear();
        self.packed.resize(HEAD + lz4_flex::block::get_maximum_output_size(self.records.len()), 0);
        let packed = lz4_flex::block::compress_into(&self.records, &mut self.packed[HEAD..]);
        let packed = packed.expect("there is room for whatever comes of it");
        self.packed.truncate(HEAD + packed);
        self.packed[4..8].copy_from_slice(&(self.records.len() as u32).to_le_bytes());
        self.packed[8..12].copy_from_slice(&(packed as u32).to_le_bytes());
        let sum = crc32fast::hash(&self.packed[4..]);
        self.packed[..4].copy_from_slice(&sum.to_le_bytes());
        self.records.clear();
        self.file.write(&self.packed)
    }

    /// Ends the run; none if it has no record.
    pub fn finish(mut self) -> Result<Option<Run>, Error> {
        if !self.records.is_empty() {
            self.end_block()?;
        }
        self.section.list = self.file.len();
        self.section.end = self.section.list;
        let Self { file, section, skip, mut blocks, mut keys, .. } = self;
        blocks.shrink_to_fit();
        keys.shrink_to_fit();
        let mut run = Run { section, skip, blocks, keys };
        if run.is_empty() {
            return Ok(None);
        }
        let mut list = Vec::new();
        for block in 0..run.blocks.len() {
            delta::push_number((run.end(block) - run.blocks[block].start) as usize, &mut list);
            delta::push_number(run.key(block).len(), &mut list);
            list.extend_from_slice(run.key(block));
        }
        file.write(&crc32fast::hash(&list).to_le_bytes())?;
        file.write(&list)?;
        run.section.end = file.len();
        Ok(Some(run))
    }
}

/// Goes through a run in order.
#[derive(Debug)]
pub struct Cursor<'r> {
    folder: &'r Folder,
    run: &'r Run,
    /// The block to read next.
    next: usize,
    /// The records of the one at hand, and how far it is read.
    records: Vec<u8>,
    at: usize,
    /// What was read of the file, from where on.
    window: Vec<u8>,
    window_start: u64,
    /// Bytes that are read at a time, if that is more than a block.
    ahead: usize,
    state: Vec<u8>,
    number: u32,
    mark: u8,
    /// Whether there is a record at hand.
    live: bool,
}

impl<'r> Cursor<'r> {
    /// Before the first record. Blocks that are read one after the other are read ahead, by so many bytes.
    pub fn new(folder: &'r Folder, run: &'r Run, ahead: usize) -> Self {
        let (records, window, state) = Default::default();
        Self {
            folder,
            run,
            next: 0,
            records,
            at: 0,
            window,
            window_start: 0,
            ahead,
            state,
            number: 0,
            mark: 0,
            live: false,
        }
    }

    /// The record at hand.
    pub fn record(&self) -> Option<Record<'_>> {
        let Self { ref state, number, mark, .. } = *self;
        self.live.then_some(Record { state, number, mark })
    }

    /// The key of the record at hand.
    pub fn key(&self) -> Option<&[u8]> {
        self.live.then(|| &self.state[self.run.skip..])
    }

    /// Goes on to the next record.
    pub fn advance(&mut self) -> Result<(), Error> {
        if self.at >= self.records.len() {
            if self.next >= self.run.blocks.len() {
                self.live = false;
                return Ok(());
            }
            self.load(self.next)?;
        }
        let mut rest = self.records.get(self.at..).unwrap_or_default();
        let number = delta::take_number(&mut rest);
        let change = delta::take_number(&mut rest);
        // The checksum was right.
        let (&mark, after) = rest.split_first().expect("a record has a mark");
        let (change, after) = after.split_at(change);
        if self.at == 0 {
            self.state.clear();
        }
        delta::apply(change, &mut self.state);
        self.number = number as u32;
        self.mark = mark;
        self.at = self.records.len() - after.len();
        self.live = true;
        Ok(())
    }

    /// Goes on to the first record whose key is not less than this one, unless it is there or past it.
    pub fn seek(&mut self, key: &[u8]) -> Result<(), Error> {
        if self.key().is_some_and(|own| own >= key) {
            return Ok(());
        }
        // The last block that begins at or before the key may have it.
        let run = self.run;
        if self.next < run.blocks.len() && run.key(self.next) <= key {
            let mut step = 1;
            let mut low = self.next;
            while low + step < run.blocks.len() && run.key(low + step) <= key {
                low += step;
                step *= 2;
            }
            let mut high = (low + step).min(run.blocks.len());
            while low + 1 < high {
                let middle = low + (high - low) / 2;
                if run.key(middle) <= key {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            self.load(low)?;
            self.advance()?;
        } else if !self.live {
            self.advance()?;
        }
        let wanted = prefix(key);
        while self.key().is_some_and(|own| (prefix(own), own) < (wanted, key)) {
            self.advance()?;
        }
        Ok(())
    }

    /// Reads a block.
    fn load(&mut self, block: usize) -> Result<(), Error> {
        let Self { folder, run, .. } = *self;
        let (start, end) = (run.blocks[block].start, run.end(block));
        let file = run.section.file;
        let is_there =
            start >= self.window_start && end <= self.window_start + self.window.len() as u64;
        if !is_there {
            // Who skips blocks need not read them.
            let wanted = if block == self.next { start + self.ahead as u64 } else { end };
            let until = wanted.clamp(end, run.section.list.max(end));
            folder.read(file, start, (until - start) as usize, &mut self.window)?;
            self.window_start = start;
        }
        let at = (start - self.window_start) as usize;
        let bytes = &self.window[at..at + (end - start) as usize];
        self.next = block + 1;
        self.at = 0;
        unpack(bytes, &mut self.records).ok_or_else(|| {
            Error::damaged(
                &folder.file_path(file),
                format!("the block at {start} has a wrong checksum"),
            )
        })
    }
}

/// The first bytes of a key as a number: keys are in the order of these numbers, and those of one number in the order of
/// their bytes.
pub(crate) fn prefix(key: &[u8]) -> u128 {
    let short = || {
        let mut bytes = [0; size_of::<u128>()];
        bytes[..key.len()].copy_from_slice(key);
        u128::from_be_bytes(bytes)
    };
    key.first_chunk().map_or_else(short, |bytes| u128::from_be_bytes(*bytes))
}

/// Takes the records out of a block, if it is as it was written.
fn unpack(block: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (head, packed) = block.split_at_checked(HEAD)?;
    if crc32fast::hash(&block[4..]).to_le_bytes() != head[..4] {
        return None;
    }
    let unpacked = u32::from_le_bytes(head[4..8].try_into().ok()?) as usize;
    out.resize(unpacked, 0);
    let got = lz4_flex::block::decompress_into(packed, out).ok()?;
    (got == unpacked).then_some(())
}
