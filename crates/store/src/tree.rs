//! Keys as trees with shared parts.
//!
//! *Idea*: the key is cut into words of eight bytes, and each distinct word is kept once and known
//! by a number. Pairs of neighbouring numbers are again words, kept once and numbered, and so on up
//! a balanced binary tree, whose root is the state (Laarman, van de Pol, Weber, *Parallel recursive
//! state compression for free*, SPIN 2011). States that differ in few places share all but a path,
//! so that on usual models nearly all there is are the roots.
//!
//! A tree over n words is laid out like a heap: node 1 is the root, the children of node i are 2i
//! and 2i + 1, and the words are nodes n to 2n - 1. The number of a word is marked as such, so a
//! tree tells its own size. The last word of a key holds the rest of its bytes and, in its last
//! byte, how many these are.
//!
//! A worker remembers the tree of the key it got last. Of a key that it prepares next only the
//! words that differ, and the paths from them to the root, are looked up.
//!
//! *Invariant*: equal keys have equal roots and unequal keys unequal ones; by induction, for equal
//! parts have equal numbers. A part is inserted before its parent; one whose parent then finds no
//! room stays without use. *Memory orderings*: those of [`Interner`].
//!
//! *Cost*: 8 bytes for each root, some 7 for the index of roots, and the parts. With m changed words
//! of n about m * log n lookups, mostly of parts that are in the cache, and the root, which is
//! prefetched.

use std::sync::Arc;

use crate::budget::Budget;
use crate::interner::Interner;
use crate::{Full, Id, Store, Worker};

/// Marks the number of a word, as opposed to a pair.
const WORD: u32 = 1 << 31;

/// In place of the second child where a key has one word only.
const NONE: u32 = u32::MAX;

/// The set of keys as trees.
pub struct Tree {
    words: Interner,
    pairs: Interner,
    roots: Interner,
}

impl Tree {
    /// No keys.
    pub fn new(budget: &Arc<Budget>) -> Result<Self, Full> {
        Ok(Self {
            words: Interner::new(WORD - 1, budget)?,
            pairs: Interner::new(WORD, budget)?,
            roots: Interner::new(u32::MAX, budget)?,
        })
    }

    /// How many distinct words and inner pairs the keys consist of.
    pub fn parts(&self) -> u64 {
        u64::from(self.words.len()) + u64::from(self.pairs.len())
    }
}

impl Store for Tree {
    fn prepare(&self, key: &[u8], worker: &mut Worker) -> Result<u64, Full> {
        let Path { known, next, dirty } = &mut worker.tree;
        let count = key.len() / 8 + 1;
        let similar = known.words.len() == count;
        next.nodes.clear();
        if similar {
            next.nodes.extend_from_slice(&known.nodes);
        } else {
            next.nodes.resize(2 * count, NONE);
        }
        dirty.clear();
        dirty.resize(count / 64 + 1, 0);
        let mark = |node: usize, dirty: &mut [u64]| dirty[node / 64] |= 1 << (node % 64);

        let mut changed = 0;
        for (number, word) in words_of(key).enumerate() {
            if similar && known.words[number] == word {
                continue;
            }
            changed += 1;
            let node = count + number;
            next.nodes[node] = self.words.intern(word)?.0 | WORD;
            mark(node / 2, dirty);
        }
        // Parents have smaller numbers.
        for block in (0..dirty.len()).rev() {
            while dirty[block] != 0 {
                let bit = dirty[block].ilog2();
                dirty[block] ^= 1 << bit;
                let node = 64 * block + bit as usize;
                if node >= 2 {
                    let pair = pair(next.nodes[2 * node], next.nodes[2 * node + 1]);
                    next.nodes[node] = self.pairs.intern(pair)?.0;
                    mark(node / 2, dirty);
                }
            }
        }
        let root =
            if count == 1 { pair(next.nodes[1], NONE) } else { pair(next.nodes[2], next.nodes[3]) };
        // What is too different is no help for the next.
        if 2 * changed > count {
            next.words.clear();
            next.words.extend(words_of(key));
            std::mem::swap(known, next);
        }
        Ok(root)
    }

    #[inline]
    fn prefetch(&self, prepared: u64) {
        self.roots.prefetch(prepared);
    }

    #[inline]
    fn prefetch_key(&self, prepared: u64) {
        self.roots.prefetch_word(prepared);
    }

    #[inline]
    fn insert(&self, _: &[u8], prepared: u64, _: &mut Worker) -> Result<(Id, bool), Full> {
        self.roots.intern(prepared)
    }

    fn get(&self, id: Id, out: &mut Vec<u8>, worker: &mut Worker) -> bool {
        let Unfolded { words, nodes } = &mut worker.tree.known;
        let (first, second) = unpair(self.roots.word(id));
        nodes.clear();
        if second == NONE {
            nodes.extend([NONE, first]);
        } else {
            nodes.extend([NONE, NONE, first, second]);
            let mut node = 2;
            while nodes[node] & WORD == 0 {
                let (first, second) = unpair(self.pairs.word(nodes[node]));
                nodes.extend([first, second]);
                node += 1;
            }
        }
        words.clear();
        words.extend(nodes[nodes.len() / 2..].iter().map(|&node| self.words.word(node & !WORD)));

        out.clear();
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let rest = out.last().map_or(0, |&rest| usize::from(rest));
        out.truncate(out.len() - 8 + rest);
        true
    }

    fn len(&self) -> u64 {
        self.roots.len().into()
    }

    fn bytes(&self) -> u64 {
        self.words.bytes() + self.pairs.bytes() + self.roots.bytes()
    }
}

/// The tree a worker knows, and room for the next.
#[derive(Debug, Default)]
pub(crate) struct Path {
    known: Unfolded,
    next: Unfolded,
    /// A set of nodes to look up.
    dirty: Vec<u64>,
}

/// A tree with all its parts.
#[derive(Debug, Default)]
struct Unfolded {
    words: Vec<u64>,
    /// Numbers in the layout of a heap; those of 0 and 1 are of no use, unless 1 is a word.
    nodes: Vec<u32>,
}

#[inline]
fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) | u64::from(second) << 32
}

#[inline]
fn unpair(pair: u64) -> (u32, u32) {
    (pair as u32, (pair >> 32) as u32)
}

/// The words of a key, the last with the rest of its bytes and their number.
#[inline]
fn words_of(key: &[u8]) -> impl Iterator<Item = u64> {
    let (words, rest) = key.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = rest.len() as u8;
    words.iter().map(|&word| u64::from_le_bytes(word)).chain([u64::from_le_bytes(last)])
}
