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
//! *Cost*: 5 bytes for each root (6 or 8 if there are very many parts), some 7.5 for the index of roots,
//! and the parts. With m changed words
//! of n about m * log n lookups, mostly of parts that are in the cache, and the root, which is
//! prefetched.

use std::sync::Arc;

use crate::budget::Budget;
use crate::interner::Interner;
use crate::sync::{AtomicU64, Ordering};
use crate::words::{spell, words_of};
use crate::{Full, Id, Set, Store, Worker};

/// Words and pairs are known by twice their number; a word by one more.
const WORD: u32 = 1;

/// How many words, and how many pairs, there can be.
const PARTS: u32 = u32::MAX / 2;

/// In place of the second child where a key has one word only.
const NONE: u32 = u32::MAX;

/// The set of keys as trees.
pub struct Tree {
    parts: Parts,
    roots: Interner,
}

impl Tree {
    /// No keys.
    pub fn new(budget: &Arc<Budget>) -> Result<Self, Full> {
        Ok(Self { parts: Parts::new(budget)?, roots: Interner::new(u32::MAX, budget)? })
    }

    /// How many distinct words and inner pairs the keys consist of.
    pub fn parts(&self) -> u64 {
        u64::from(self.parts.words.len()) + u64::from(self.parts.pairs.len())
    }
}

/// What trees consist of, but for their roots.
pub struct Parts {
    words: Interner,
    pairs: Interner,
    /// Bytes of what workers keep.
    workers: AtomicU64,
    budget: Arc<Budget>,
}

impl Parts {
    /// No parts.
    pub fn new(budget: &Arc<Budget>) -> Result<Self, Full> {
        Ok(Self {
            words: Interner::new(PARTS, budget)?,
            pairs: Interner::new(PARTS, budget)?,
            workers: AtomicU64::new(0),
            budget: budget.clone(),
        })
    }

    /// A table of recent parts, small if memory is scarce. It is counted as long as the store lives.
    #[cold]
    fn recent(&self) -> Recent {
        let bytes = (RECENT * size_of::<(u64, u32)>()) as u64;
        let plenty = bytes <= self.budget.limit() / 256 && self.budget.take(bytes).is_ok();
        if plenty {
            self.workers.fetch_add(bytes, Ordering::Relaxed);
        }
        Recent(vec![(0, NONE); if plenty { RECENT } else { 2 }])
    }

    /// The root of the tree of a key, whose parts are inserted.
    pub fn fold(&self, key: &[u8], worker: &mut Worker) -> Result<u64, Full> {
        let Path { known, next, dirty, words, pairs } = &mut worker.tree;
        if words.0.is_empty() {
            (*words, *pairs) = (self.recent(), self.recent());
        }
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
            next.nodes[node] = 2 * words.number(word, &self.words)? + WORD;
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
                    next.nodes[node] = 2 * pairs.number(pair, &self.pairs)?;
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

    /// Writes the key with this root to `out`, replacing what is there. A worker that goes on to fold
    /// keys similar to this one does so faster.
    pub fn unfold(&self, root: u64, out: &mut Vec<u8>, worker: &mut Worker) {
        let Unfolded { words, nodes } = &mut worker.tree.known;
        let (first, second) = unpair(root);
        nodes.clear();
        if second == NONE {
            nodes.extend([NONE, first]);
        } else {
            nodes.extend([NONE, NONE, first, second]);
            let mut node = 2;
            while nodes[node] & WORD == 0 {
                let (first, second) = unpair(self.pairs.word(nodes[node] / 2));
                nodes.extend([first, second]);
                node += 1;
            }
        }
        words.clear();
        words.extend(nodes[nodes.len() / 2..].iter().map(|&node| self.words.word(node / 2)));

        spell(words, out);
    }

    fn bytes(&self) -> u64 {
        let workers = self.workers.load(Ordering::Relaxed);
        self.words.bytes() + self.pairs.bytes() + workers
    }
}

impl Set for Tree {
    fn prepare(&self, key: &[u8], worker: &mut Worker) -> Result<u64, Full> {
        self.parts.fold(key, worker)
    }

    #[inline]
    fn prefetch(&self, prepared: u64) {
        self.roots.prefetch(prepared);
    }

    #[inline]
    fn prefetch_key(&self, prepared: u64) {
        self.roots.prefetch_word(prepared);
    }

    fn len(&self) -> u64 {
        self.roots.len().into()
    }

    fn bytes(&self) -> u64 {
        self.parts.bytes() + self.roots.bytes()
    }
}

impl Store for Tree {
    #[inline]
    fn insert(&self, _: &[u8], prepared: u64, _: &mut Worker) -> Result<(Id, bool), Full> {
        self.roots.intern(prepared)
    }

    fn get(&self, id: Id, out: &mut Vec<u8>, worker: &mut Worker) {
        self.parts.unfold(self.roots.word(id), out, worker);
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.budget.give_back(self.workers.load(Ordering::Relaxed));
    }
}

/// The tree a worker knows, and room for the next.
#[derive(Debug, Default)]
pub(crate) struct Path {
    known: Unfolded,
    next: Unfolded,
    /// A set of nodes to look up.
    dirty: Vec<u64>,
    words: Recent,
    pairs: Recent,
}

/// Parts that were looked up lately, in a small table of the worker's own: most parts of a state
/// are those of states around it.
#[derive(Debug, Default)]
struct Recent(Vec<(u64, u32)>);

/// Entries, if memory is not scarce.
const RECENT: usize = if cfg!(loom) { 2 } else { 1 << 12 };

impl Recent {
    #[inline]
    fn number(&mut self, part: u64, parts: &Interner) -> Result<u32, Full> {
        let mixed = part.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let place = (mixed * self.0.len() as u64) >> 32;
        let entry = &mut self.0[place as usize];
        if entry.0 != part || entry.1 == NONE {
            *entry = (part, parts.intern(part)?.0);
        }
        Ok(entry.1)
    }
}

/// A tree with all its parts.
#[derive(Debug, Default)]
struct Unfolded {
    words: Vec<u64>,
    /// Numbers in the layout of a heap; those of 0 and 1 are of no use, unless 1 is a word.
    nodes: Vec<u32>,
}

/// Two numbers as one word: first the lower 20 bits of both, then four more, then the rest, which is
/// mostly zero.
#[inline]
fn pair(first: u32, second: u32) -> u64 {
    let (first, second) = (u64::from(first), u64::from(second));
    let lower = first & 0xf_ffff | (second & 0xf_ffff) << 20;
    let middle = first >> 20 & 0xf | (second >> 20 & 0xf) << 4;
    lower | middle << 40 | first >> 24 << 48 | second >> 24 << 56
}

#[inline]
fn unpair(pair: u64) -> (u32, u32) {
    let first = pair & 0xf_ffff | (pair >> 40 & 0xf) << 20 | (pair >> 48 & 0xff) << 24;
    let second = pair >> 20 & 0xf_ffff | (pair >> 44 & 0xf) << 20 | pair >> 56 << 24;
    (first as u32, second as u32)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back() {
        let numbers =
            [0, 1, 0xf_ffff, 0x10_0000, 0xff_ffff, 0x100_0000, 0x1234_5678, NONE - 1, NONE];
        for first in numbers {
            for second in numbers {
                assert_eq!(unpair(pair(first, second)), (first, second));
            }
        }
        assert!(pair(0xf_ffff, 0xf_ffff) < 1 << 40);
        assert!(pair(0xff_ffff, 0xff_ffff) < 1 << 48);
    }

    #[test]
    fn similar_states_take_few_bytes() {
        let budget = Arc::new(Budget::new(None));
        let tree = Tree::new(&budget).unwrap();
        let mut worker = Worker::default();
        let mut key = [0; 96];
        for number in 0..400_000_u32 {
            for (place, shift) in (0..20).step_by(4).enumerate() {
                key[19 * place] = (number >> shift & 15) as u8;
            }
            let prepared = tree.prepare(&key, &mut worker).unwrap();
            assert_eq!(tree.insert(&key, prepared, &mut worker), Ok((number, true)));
        }
        let per_state = tree.bytes() as f64 / tree.len() as f64;
        assert!(per_state < 16.0, "{per_state}");
        assert!(tree.parts() < 10_000, "{}", tree.parts());
    }
}
