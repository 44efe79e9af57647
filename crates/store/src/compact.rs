//! A signature for each state.
//!
//! *Idea*: hash compaction: in place of a key a table of fixed size holds a signature of 32 to 64
//! bits, and a state whose signature is met on its way through the table is taken for known (Stern
//! and Dill, *A new scheme for memory-efficient probabilistic verification*, 1996). Position and
//! signature are independent: they come from two hashes of the key.
//!
//! A cell is a first part of 32 bits, which a thread claims by compare-and-swap, and a second part
//! with the other bits, written after. Neither is ever zero once written. Cells lie in cache lines;
//! a state begins at some cell of some line, goes round the line and on to another, by double
//! hashing.
//!
//! *Invariant*: cells are written once, and a signature is put into the first empty cell of its way;
//! so a state that was inserted is known for ever, and of several threads that insert it one is told
//! that it is new. One that was not is taken for known if a cell that it passes has its signature;
//! the cells passed are counted, so the table can say how often to expect that.
//!
//! *Memory orderings*: parts of cells publish nothing but themselves: a thread that meets the first
//! part of its signature waits until the second is there, by whatever order. Relaxed is enough.
//!
//! *Cost*: one cache line for each state mostly, more when the table is nearly full.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rapidhash::v3::{RapidSecrets, rapidhash_v3, rapidhash_v3_seeded};

use crate::budget::Budget;
use crate::interner::hash;
use crate::omission;
use crate::sync::{AtomicU32, AtomicU64, Ordering, Patience};
use crate::zeroed::{Zeroed, prefetch};
use crate::{Full, Lossy, Omissions, Set, Worker};

/// How many bits a signature may have.
pub const SIGNATURE_BITS: RangeInclusive<u32> = 32..=64;

/// Words of 32 bits in a cache line.
const LINE: usize = 16;

/// A table without an empty cell in so many lines is full.
const LINES: usize = 1 << 8;

/// Makes the signature independent of the position.
const SECRETS: RapidSecrets = RapidSecrets::seed(0x5a1a_d0d1_7e11_ab1e);

/// The lossy set of keys, a signature each.
pub struct Compact {
    words: Zeroed<AtomicU32>,
    shape: Shape,
    len: AtomicU64,
    /// How many cells of others the keys have passed, all together.
    passed: AtomicU64,
    budget: Arc<Budget>,
}

/// How signatures lie in the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// How many values the first part has.
    firsts: u32,
    /// Bits of the second part, up to 32.
    second: u32,
    /// Cells in a line.
    cells: usize,
    lines: usize,
}

impl Shape {
    pub fn new(bytes: u64, bits: u32) -> Self {
        let second = bits.clamp(*SIGNATURE_BITS.start(), *SIGNATURE_BITS.end()) - 32;
        let words = |cells: usize| match 32_u32.checked_div(second) {
            None => cells,
            Some(in_word) => cells + cells.div_ceil(in_word as usize),
        };
        let cells = (1..=LINE).rev().find(|&cells| words(cells) <= LINE).unwrap_or(1);
        let lines = (bytes / (4 * LINE as u64)).min(1 << 40) as usize;
        Self { firsts: u32::MAX, second, cells, lines: prime(lines) }
    }

    pub fn cells(self) -> u64 {
        self.cells as u64 * self.lines as u64
    }

    pub fn signatures(self) -> f64 {
        f64::from(self.firsts) * self.seconds().max(1) as f64
    }

    /// How many values the second part has.
    fn seconds(self) -> u64 {
        (1 << self.second) - 1
    }
}

/// The largest prime up to a number, or 1: with a prime number of lines every step leads to all.
fn prime(number: usize) -> usize {
    let is_prime = |it: usize| {
        let mut divisors = (2..).take_while(|divisor| divisor * divisor <= it);
        divisors.all(|divisor| !it.is_multiple_of(divisor))
    };
    (2..=number).rev().find(|&it| is_prime(it)).unwrap_or(1)
}

impl Compact {
    /// No keys, in so many bytes (a few kilobytes may stay unused), with signatures of 32 to 64 bits. Widths
    /// of 32, 40, 48 and 64 fill the table best.
    pub fn new(bytes: u64, bits: u32, budget: &Arc<Budget>) -> Result<Self, Full> {
        let shape = Shape::new(bytes, bits);
        let words = shape.lines.checked_mul(LINE).ok_or(Full::Memory)?;
        budget.take(words as u64 * 4)?;
        let Some(words) = Zeroed::try_scattered(words) else {
            budget.give_back(words as u64 * 4);
            return Err(Full::Memory);
        };
        let (len, passed) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { words, shape, len, passed, budget: budget.clone() })
    }

    /// Signatures of so few values that some are lost in a test.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn with_signatures(mut self, firsts: u32) -> Self {
        self.shape.firsts = firsts;
        self
    }

    /// How many keys fit in.
    pub fn cells(&self) -> u64 {
        self.shape.cells()
    }

    /// How many different signatures there are.
    pub fn signatures(&self) -> f64 {
        self.shape.signatures()
    }

    #[inline]
    fn first_line(&self, prepared: u64) -> usize {
        ((u128::from(prepared) * self.shape.lines as u128) >> 64) as usize
    }

    /// The second part of a cell: its word, and where in it.
    #[inline]
    fn second<'a>(&self, line: &'a [AtomicU32], cell: usize) -> (&'a AtomicU32, u32) {
        let in_word = (32 / self.shape.second) as usize;
        let word = &line[self.shape.cells + cell / in_word];
        (word, (cell % in_word) as u32 * self.shape.second)
    }

    /// Looks for the signature of a key along its way, up to the first empty cell, which it takes
    /// if it is told to. None: there is neither.
    #[inline]
    fn look(&self, key: &[u8], prepared: u64, take: bool) -> Option<Met> {
        let Shape { second: bits, cells, lines, .. } = self.shape;
        let relaxed = Ordering::Relaxed;
        let signature = rapidhash_v3_seeded(key, &SECRETS);
        let first = 1 + (((signature >> 32) * u64::from(self.shape.firsts)) >> 32) as u32;
        let second = 1 + (((signature & 0xffff_ffff) * self.shape.seconds()) >> 32) as u32;
        let mut number = self.first_line(prepared);
        // The first bits chose the line.
        let start = (((prepared & 0xffff) * cells as u64) >> 16) as usize;
        // Lines next to each other would fill up together.
        let steps = lines.max(2) as u128 - 1;
        let step = 1 + ((u128::from(hash(prepared)) * steps) >> 64) as usize;
        let mut passed = 0;
        for _ in 0..LINES {
            let line = &self.words[number * LINE..][..LINE];
            for cell in (start..cells).chain(0..start) {
                let mut there = line[cell].load(relaxed);
                if there == 0 {
                    if !take {
                        return Some(Met::Empty { passed });
                    }
                    match line[cell].compare_exchange(0, first, relaxed, relaxed) {
                        Err(other) => there = other,
                        Ok(_) => {
                            if bits > 0 {
                                let (word, shift) = self.second(line, cell);
                                word.fetch_or(second << shift, relaxed);
                            }
                            return Some(Met::Empty { passed });
                        }
                    }
                }
                if there == first && (bits == 0 || self.wait_for_second(line, cell) == second) {
                    return Some(Met::Signature);
                }
                passed += 1;
            }
            number = (number + step) % lines;
        }
        None
    }

    /// The second part of a cell whose first is there: who took the cell is about to write it.
    fn wait_for_second(&self, line: &[AtomicU32], cell: usize) -> u32 {
        let (word, shift) = self.second(line, cell);
        let mut patience = Patience::new();
        loop {
            match u64::from(word.load(Ordering::Relaxed) >> shift) & self.shape.seconds() {
                0 => patience.wait(),
                there => return there as u32,
            }
        }
    }
}

/// What a key meets on its way.
enum Met {
    /// Its signature.
    Signature,
    /// An empty cell, after so many with other signatures.
    Empty { passed: u64 },
}

impl Set for Compact {
    #[inline]
    fn prepare(&self, key: &[u8], _: &mut Worker) -> Result<u64, Full> {
        Ok(rapidhash_v3(key))
    }

    #[inline]
    fn prefetch(&self, prepared: u64) {
        prefetch(&self.words[self.first_line(prepared) * LINE]);
    }

    fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> u64 {
        self.words.len() as u64 * 4
    }
}

impl Lossy for Compact {
    fn contains(&self, key: &[u8], prepared: u64) -> bool {
        matches!(self.look(key, prepared, false), Some(Met::Signature))
    }

    fn insert(&self, key: &[u8], prepared: u64) -> Result<bool, Full> {
        match self.look(key, prepared, true).ok_or(Full::Table)? {
            Met::Signature => Ok(false),
            Met::Empty { passed } => {
                self.len.fetch_add(1, Ordering::Relaxed);
                self.passed.fetch_add(passed, Ordering::Relaxed);
                Ok(true)
            }
        }
    }

    fn omissions(&self) -> Omissions {
        // In a table with few keys it may be none, by chance.
        let passed = self.passed.load(Ordering::Relaxed) as f64;
        let usual = omission::compact(self.cells(), self.signatures(), self.len()).expected;
        Omissions::new(usual.max(passed / self.signatures()))
    }
}

impl Drop for Compact {
    fn drop(&mut self) {
        let bytes = self.bytes();
        self.words = Zeroed::new(1);
        self.budget.give_back(bytes);
    }
}
