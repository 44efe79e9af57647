//! Keys as the bits in which they differ.
//!
//! *Idea*: in most bytes of a state few values occur, and many bits never change: the upper ones of a
//! counter, of a local state, of a message. So the bits of keys that were seen to change, the *live*
//! ones, are gathered into a few words; the others are the same in all keys of a layout and are kept
//! once. Which bits are live is learned from keys. One that differs from all before in another bit is
//! written as it is, in full; when there are many of these, the packing is extended by other masks of
//! live bits, for such keys only, so that those packed before need not be packed anew.
//!
//! A packed key begins with a code for its layout and mask; 0 stands for keys as they are.
//!
//! *Invariant*: equal keys are written alike, and no others: a key is packed with the first mask
//! that it fits, and it can be read again. To extend a packing changes how keys are written that were
//! written as they are, and no others.
//!
//! *Cost*: some fifteen instructions for each eight bytes of a key, if the processor can gather bits,
//! and else some forty.

#![allow(unsafe_code, reason = "this is done for each transition; each block says why it is sound")]

use crate::words::{spell, words_of};

/// Keys with fewer bytes are not packed.
const WORD: usize = size_of::<u64>();

/// Bytes that masks take in all, about. Layouts are many where processes come and go; most of them have
/// few keys then.
const MASKS: usize = 1 << 18;

/// Keys of layouts with larger numbers are not packed.
const LAYOUTS: usize = 1 << 13;

/// How the keys of a set are written.
#[derive(Clone, Default)]
pub struct Packing {
    /// Bits of a code.
    code_bits: u32,
    /// By layout: masks, in the order in which they are tried.
    layouts: Vec<Vec<Mask>>,
    /// By code, less one: a layout and which of its masks.
    codes: Vec<(usize, usize)>,
    /// Bytes of all masks, about.
    bytes: usize,
}

/// Live bits of keys of a layout.
#[derive(Clone)]
struct Mask {
    code: u64,
    /// The bytes of a key, and which bits all have in common.
    common: Vec<u8>,
    dead: Vec<u8>,
    /// What is gathered, one word after the other, at least one.
    pieces: Vec<Piece>,
    /// Bytes of a packed key.
    packed: usize,
}

/// Live bits of eight bytes of a key.
#[derive(Clone, Copy)]
struct Piece {
    live: u64,
    /// The first of the bytes.
    at: u32,
    /// Where in a word they are gathered, and whether they are the last of it.
    shift: u8,
    ends_word: bool,
}

/// Which bits are live: by layout, a key, and its live bits.
pub type Live = Vec<(u32, Vec<u8>, Vec<u8>)>;

/// Learns which bits are live.
#[derive(Default)]
pub struct Learner {
    /// By layout.
    layouts: Vec<Option<Learned>>,
    /// Bytes that masks for all layouts would take, about.
    bytes: usize,
}

struct Learned {
    common: Vec<u8>,
    live: Vec<u8>,
    /// Whether something was learned.
    new: bool,
}

impl Learner {
    /// Takes note of a key.
    pub fn note(&mut self, layout: u32, key: &[u8]) {
        let layout = layout as usize;
        if key.len() < WORD || layout >= LAYOUTS {
            return;
        }
        if self.layouts.len() <= layout {
            self.layouts.resize_with(layout + 1, || None);
        }
        let learned = match &mut self.layouts[layout] {
            Some(learned) => learned,
            None if self.bytes > MASKS => return,
            unknown => {
                self.bytes += Mask::bytes(key.len());
                let (common, live) = (key.to_vec(), vec![0; key.len()]);
                unknown.insert(Learned { common, live, new: true })
            }
        };
        for ((common, live), byte) in learned.common.iter().zip(&mut learned.live).zip(key) {
            let others = (common ^ byte) & !*live;
            *live |= others;
            learned.new |= others != 0;
        }
    }

    /// All that it knows.
    pub fn known(&self) -> Live {
        let learned = self.layouts.iter().enumerate();
        let learned = learned.filter_map(|(layout, it)| Some((layout as u32, it.as_ref()?)));
        learned.map(|(layout, it)| (layout, it.common.clone(), it.live.clone())).collect()
    }

    /// One who knows this; none if it cannot be.
    pub fn from_known(known: Live) -> Option<Self> {
        let mut learner = Self::default();
        for (layout, common, live) in known {
            if live.len() != common.len() {
                return None;
            }
            learner.note(layout, &common);
            let others: Vec<_> = common.iter().zip(live).map(|(byte, live)| byte ^ live).collect();
            learner.note(layout, &others);
        }
        Some(learner)
    }

    /// Whether there is something that a packing it knows of does not know.
    pub fn is_new(&self) -> bool {
        self.layouts.iter().flatten().any(|learned| learned.new)
    }

    /// A packing for all keys noted, and for such as differ from them in the same bits.
    pub fn packing(&self) -> Packing {
        let count = self.layouts.iter().flatten().count();
        // Three times as many masks may follow.
        let code_bits = usize::BITS - count.leading_zeros() + 2;
        let mut packing = Packing { code_bits, ..Packing::default() };
        for (layout, learned) in self.layouts.iter().enumerate() {
            learned.iter().for_each(|learned| packing.add(layout, learned));
        }
        packing
    }
}

impl Packing {
    /// How many words a key of so many bytes takes at most.
    pub fn longest(bytes: usize) -> usize {
        bytes / WORD + 4
    }

    /// One who knows all live bits.
    pub fn learner(&self) -> Learner {
        let known = |masks: &Vec<Mask>| {
            let Mask { common, dead, .. } = masks.last()?;
            let live = dead.iter().map(|dead| !dead).collect();
            Some(Learned { common: common.clone(), live, new: false })
        };
        let layouts: Vec<_> = self.layouts.iter().map(known).collect();
        let bytes = layouts.iter().flatten().map(|it| Mask::bytes(it.common.len())).sum();
        Learner { layouts, bytes }
    }

    /// With masks for what was learned; none if there are no codes for them, or no room.
    pub fn extended(&self, learner: &Learner) -> Option<Self> {
        let learned = learner.layouts.iter().enumerate();
        let new = learned.filter_map(|(layout, it)| Some((layout, it.as_ref()?)));
        let new: Vec<_> = new.filter(|(_, learned)| learned.new).collect();
        let room = self.codes.len() + new.len() < 1 << self.code_bits && self.bytes <= 2 * MASKS;
        room.then(|| {
            let mut extended = self.clone();
            new.into_iter().for_each(|(layout, learned)| extended.add(layout, learned));
            extended
        })
    }

    fn add(&mut self, layout: usize, learned: &Learned) {
        if self.layouts.len() <= layout {
            self.layouts.resize_with(layout + 1, Vec::new);
        }
        self.codes.push((layout, self.layouts[layout].len()));
        let mask = Mask::new(self.codes.len() as u64, self.code_bits, learned);
        self.bytes += Mask::bytes(learned.common.len());
        self.layouts[layout].push(mask);
    }

    #[inline(always)]
    fn mask_of(&self, written: &[u64]) -> Option<&Mask> {
        let code = written[0] & ((1 << self.code_bits) - 1);
        let &(layout, mask) = self.codes.get((code as usize).wrapping_sub(1))?;
        Some(&self.layouts[layout][mask])
    }

    /// With which mask a key that was written so is packed; none if it is not.
    #[inline]
    pub fn mask(&self, written: &[u64]) -> Option<usize> {
        let code = written[0] & ((1 << self.code_bits) - 1);
        let number = (code as usize).wrapping_sub(1);
        (number < self.codes.len()).then_some(number)
    }

    /// By which bits of its first word a key is seen to be packed with a mask, and what they are.
    pub fn code(&self, mask: usize) -> (u64, u64) {
        ((1 << self.code_bits) - 1, mask as u64 + 1)
    }

    fn numbered(&self, mask: usize) -> (&[Mask], usize) {
        let (layout, index) = self.codes[mask];
        (&self.layouts[layout], index)
    }

    /// How many bytes keys packed with a mask have then.
    pub fn bytes(&self, mask: usize) -> usize {
        let (masks, index) = self.numbered(mask);
        masks[index].packed
    }

    /// How many bytes keys have that are packed with a mask.
    pub fn length(&self, mask: usize) -> usize {
        let (masks, index) = self.numbered(mask);
        masks[index].common.len()
    }

    /// Which bits of keys packed with a mask stand for the bits of keys that are set in `bits`.
    pub fn bits(&self, mask: usize, bits: &[u8]) -> Vec<u64> {
        let (masks, index) = self.numbered(mask);
        let mut out = Vec::new();
        masks[index].gather_after(0, bits, &mut out);
        out
    }

    /// By which bits of keys packed with a mask it is seen that no mask before it fits, by word, and what
    /// these bits are if one does. None if there is no mask before it.
    pub fn beyond(&self, mask: usize) -> Option<Vec<[u64; 2]>> {
        let (masks, index) = self.numbered(mask);
        let before = masks[..index].last()?;
        // Live bits only become more, so that what does not fit the last one fits none.
        let bits = self.bits(mask, &before.dead);
        let common = self.bits(mask, &before.common);
        Some(bits.into_iter().zip(common).map(|(bits, common)| [bits, bits & common]).collect())
    }

    /// Whether a key that was written so is packed.
    #[inline]
    pub fn is_packed(&self, written: &[u64]) -> bool {
        self.mask_of(written).is_some()
    }

    /// Appends a key as it is written; how many bytes of the words appended count, and whether it is
    /// packed.
    #[inline]
    pub fn write(&self, layout: u32, key: &[u8], out: &mut Vec<u64>) -> (usize, bool) {
        if let Some(masks) = self.layouts.get(layout as usize) {
            for mask in masks {
                if mask.fits(key) {
                    mask.gather(key, out);
                    return (mask.packed, true);
                }
            }
        }
        let start = out.len();
        out.push(0);
        out.extend(words_of(key));
        ((out.len() - start) * WORD, false)
    }

    /// Puts the key that was written so into `out`.
    #[inline]
    pub fn read(&self, written: &[u64], out: &mut Vec<u8>) {
        match self.mask_of(written) {
            Some(mask) => mask.scatter(written, out),
            None => spell(&written[1..], out),
        }
    }
}

/// In a byte all bits up to the highest: where a value was larger, those between are likely.
fn filled(live: u8) -> u8 {
    u8::MAX.checked_shr(live.leading_zeros()).unwrap_or(0)
}

impl Mask {
    /// What a mask for keys of so many bytes takes, about.
    fn bytes(length: usize) -> usize {
        4 * length + 256
    }

    fn new(code: u64, code_bits: u32, learned: &Learned) -> Self {
        let Learned { common, live, .. } = learned;
        let live: Vec<_> = live.iter().map(|&live| filled(live)).collect();
        let (whole, rest) = live.as_chunks::<WORD>();
        let numbered = whole.iter().enumerate();
        let mut parts: Vec<_> =
            numbered.map(|(number, &live)| (WORD * number, u64::from_le_bytes(live))).collect();
        if let Some(&last) = live.last_chunk::<WORD>()
            && !rest.is_empty()
        {
            // Without the bytes that belong to the part before.
            let before = 8 * (WORD - rest.len());
            parts.push((live.len() - WORD, u64::from_le_bytes(last) >> before << before));
        }
        // One that is empty, for the word with the code.
        let mut pieces = vec![Piece { live: 0, at: 0, shift: 0, ends_word: true }];
        let (mut words, mut used) = (1, code_bits);
        for (at, mut live) in parts {
            while live != 0 {
                if used == u64::BITS {
                    (words, used) = (words + 1, 0);
                } else if let Some(last) = pieces.last_mut() {
                    last.ends_word = false;
                }
                // As many as there is room for.
                let mut here = live;
                while here.count_ones() > u64::BITS - used {
                    here ^= 1 << here.ilog2();
                }
                let (at, shift) = (at as u32, used as u8);
                pieces.push(Piece { live: here, at, shift, ends_word: true });
                used += here.count_ones();
                live ^= here;
            }
        }
        if pieces.len() > 1 && !pieces[0].ends_word {
            pieces.remove(0);
        }
        let packed = WORD * (words - 1) + used.div_ceil(8) as usize;
        let dead = live.iter().map(|live| !live).collect();
        Self { code, common: common.clone(), dead, pieces, packed }
    }

    /// Whether a key has no other live bits.
    #[inline(always)]
    fn fits(&self, key: &[u8]) -> bool {
        if key.len() != self.common.len() || key.len() != self.dead.len() {
            return false;
        }
        // SAFETY: all have the same length, and are no shorter than a word.
        unsafe { equal_within(key, &self.common, &self.dead) }
    }

    /// Appends the live bits of a key that fits behind the code.
    #[inline(always)]
    fn gather(&self, key: &[u8], out: &mut Vec<u64>) {
        self.gather_after(self.code, key, out);
    }

    /// Likewise, behind another code.
    #[inline(always)]
    fn gather_after(&self, code: u64, key: &[u8], out: &mut Vec<u64>) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has it.
            return unsafe { self.gather_bmi2(code, key, out) };
        }
        self.gather_with(code, key, out, gather);
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "bmi2")]
    fn gather_bmi2(&self, code: u64, key: &[u8], out: &mut Vec<u64>) {
        self.gather_with(code, key, out, |bits, mask| std::arch::x86_64::_pext_u64(bits, mask));
    }

    #[inline(always)]
    fn gather_with(
        &self,
        code: u64,
        key: &[u8],
        out: &mut Vec<u64>,
        gather: impl Fn(u64, u64) -> u64,
    ) {
        assert!(key.len() == self.common.len());
        let mut gathered = code;
        for piece in &self.pieces {
            // SAFETY: pieces are within keys of this length.
            let bits = unsafe { load(key, piece.at as usize) };
            gathered |= gather(bits, piece.live) << piece.shift;
            if piece.ends_word {
                out.push(gathered);
                gathered = 0;
            }
        }
    }

    /// Puts the key with these live bits into `out`.
    #[inline(always)]
    fn scatter(&self, written: &[u64], out: &mut Vec<u8>) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has it.
            return unsafe { self.scatter_bmi2(written, out) };
        }
        self.scatter_with(written, out, scatter);
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "bmi2")]
    fn scatter_bmi2(&self, written: &[u64], out: &mut Vec<u8>) {
        self.scatter_with(written, out, |bits, mask| std::arch::x86_64::_pdep_u64(bits, mask));
    }

    #[inline(always)]
    fn scatter_with(&self, written: &[u64], out: &mut Vec<u8>, scatter: impl Fn(u64, u64) -> u64) {
        out.clear();
        out.extend_from_slice(&self.common);
        let mut written = written.iter();
        let mut word = written.next().map_or(0, |word| *word);
        for piece in &self.pieces {
            let at = piece.at as usize;
            // SAFETY: pieces are within keys of this length.
            unsafe {
                let bits = load(out, at) & !piece.live | scatter(word >> piece.shift, piece.live);
                out.as_mut_ptr().add(at).cast::<u64>().write_unaligned(bits.to_le());
            }
            if piece.ends_word {
                word = written.next().map_or(0, |word| *word);
            }
        }
    }
}

/// Whether two rows of bytes are equal where a mask has bits.
///
/// # Safety
/// All must have the same length, of eight bytes at least.
#[inline(always)]
unsafe fn equal_within(a: &[u8], b: &[u8], mask: &[u8]) -> bool {
    let words = |start: usize| {
        // SAFETY: `start` is at least a word before the end.
        unsafe { (load(a, start) ^ load(b, start)) & load(mask, start) }
    };
    let last = a.len() - WORD;
    let mut all = words(last);
    let mut at = 0;
    while at + WORD < last {
        all |= words(at) | words(at + WORD);
        at += 2 * WORD;
    }
    if at < last {
        all |= words(at);
    }
    all == 0
}

/// Eight bytes as a word.
///
/// # Safety
/// So many must follow `at`.
#[inline(always)]
unsafe fn load(bytes: &[u8], at: usize) -> u64 {
    debug_assert!(at + WORD <= bytes.len());
    // SAFETY: as above.
    u64::from_le(unsafe { bytes.as_ptr().add(at).cast::<u64>().read_unaligned() })
}

/// The bits of a word that a mask has, next to each other.
pub fn gather(bits: u64, mut mask: u64) -> u64 {
    let (mut gathered, mut used) = (0, 0);
    while mask != 0 {
        let (start, count) = run(mask);
        gathered |= (bits >> start & ones(count)) << used;
        used += count;
        mask &= !(ones(count) << start);
    }
    gathered
}

/// The other way round.
fn scatter(mut bits: u64, mut mask: u64) -> u64 {
    let mut scattered = 0;
    while mask != 0 {
        let (start, count) = run(mask);
        scattered |= (bits & ones(count)) << start;
        bits = bits.checked_shr(count).unwrap_or(0);
        mask &= !(ones(count) << start);
    }
    scattered
}

/// Where the first ones of a mask begin, and how many they are.
fn run(mask: u64) -> (u32, u32) {
    let start = mask.trailing_zeros();
    (start, (mask >> start).trailing_ones())
}

fn ones(count: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Pseudo-random numbers.
    fn numbers() -> impl FnMut() -> u64 {
        let mut seed = 7_u64;
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 16 ^ seed << 20
        }
    }

    #[test]
    fn gathering_goes_both_ways() {
        let mut next = numbers();
        for round in 0..2000 {
            let (bits, mut mask) = (next(), next() & next());
            if round % 7 == 0 {
                mask = [0, u64::MAX, 1, 1 << 63][round / 7 % 4];
            }
            let gathered = gather(bits, mask);
            assert!(gathered <= ones(mask.count_ones()));
            assert_eq!(scatter(gathered, mask), bits & mask);
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if is_x86_feature_detected!("bmi2") {
                // SAFETY: the processor has it.
                let (extracted, deposited) = unsafe {
                    use std::arch::x86_64::{_pdep_u64, _pext_u64};
                    (_pext_u64(bits, mask), _pdep_u64(bits, mask))
                };
                assert_eq!((gathered, scatter(bits, mask)), (extracted, deposited));
            }
        }
    }

    /// Writes a key, sees that it can be read, and says how it was written.
    fn written(packing: &Packing, layout: u32, key: &[u8]) -> (Vec<u64>, bool) {
        let mut written = vec![1, 2];
        let (bytes, packed) = packing.write(layout, key, &mut written);
        let written = written.split_off(2);
        assert_eq!(bytes.div_ceil(8), written.len());
        let unused = 8 * (8 * written.len() - bytes) as u32;
        assert!(unused == 0 || written[written.len() - 1].leading_zeros() >= unused);
        let mut read = vec![9];
        packing.read(&written, &mut read);
        assert_eq!(read, key);
        assert_eq!(packing.is_packed(&written), packed);
        assert!(written.len() <= Packing::longest(key.len()));
        (written, packed)
    }

    #[test]
    fn keys_come_back_and_none_is_taken_for_another() {
        let mut next = numbers();
        let lengths = [0, 1, 5, 7, 8, 9, 16, 37, 64, 71, 200, 15];
        // Few bits of each byte are live, in the first keys still fewer.
        let mut key = |layout: u32, few: bool| -> Vec<u8> {
            let masks = [1, 0, 3, 0x80, 0, 0xff, 7, 0];
            let mask = |at: usize| match few && at.is_multiple_of(3) {
                true => 1,
                false => masks[(at + layout as usize) % 8],
            };
            (0..lengths[layout as usize]).map(|at| (next() as u8 & mask(at)) | 0x10).collect()
        };
        let layouts = lengths.len() as u32;
        let keys: Vec<_> = (0..20_000)
            .map(|round: u32| (round % layouts, key(round % layouts, !round.is_multiple_of(5))))
            .collect();
        let mut learner = Learner::default();
        for (layout, key) in keys.iter().take(2000).filter(|(layout, _)| layout % 4 != 3) {
            learner.note(*layout, key);
        }
        let mut packing = Packing::default();
        let mut before: Vec<Option<Vec<u64>>> = vec![None; keys.len()];
        for round in 0..4 {
            match round {
                0 => {}
                1 => packing = learner.packing(),
                // Those that are packed stay as they are.
                _ => {
                    let mut learner = packing.learner();
                    let unpacked = keys.iter().zip(&before).filter(|(_, before)| before.is_none());
                    let long = unpacked.filter(|((_, key), _)| key.len() >= WORD);
                    long.take(5).for_each(|((layout, key), _)| learner.note(*layout, key));
                    assert!(learner.is_new());
                    packing = packing.extended(&learner).unwrap();
                }
            }
            let mut seen = HashMap::new();
            let mut packed = 0;
            for ((layout, key), before) in keys.iter().zip(&mut before) {
                let (written, is_packed) = written(&packing, *layout, key);
                assert!(before.as_ref().is_none_or(|before| *before == written));
                packed += usize::from(is_packed);
                *before = is_packed.then(|| written.clone());
                let same = seen.insert(written, (layout, key));
                assert!(same.is_none_or(|same| same == (layout, key)));
            }
            let share = [0..1, 1000..12_000, 1000..13_000, 1000..14_000];
            assert!(share[round].contains(&packed), "{round}: {packed}");
        }
    }

    #[test]
    fn many_layouts_do_not_take_much_memory() {
        let mut learner = Learner::default();
        (0..10_000).for_each(|layout| learner.note(layout, &[7; 100]));
        let packing = learner.packing();
        assert!(packing.bytes < 2 * MASKS);
        assert!(written(&packing, 0, &[7; 100]).1);
        assert!(!written(&packing, 5000, &[7; 100]).1);
    }

    #[test]
    fn what_never_changes_takes_no_room() {
        let mut learner = Learner::default();
        let key = |value: u8| {
            let mut key = [42; 100];
            (key[17], key[55]) = (value % 8, value / 8);
            key
        };
        (0..200).for_each(|value| learner.note(3, &key(value)));
        let packing = learner.packing();
        // Three bits, five, and one for the layout.
        assert_eq!(packing.write(3, &key(255), &mut Vec::new()), (2, true));
        assert_eq!(packing.write(3, &[42; 100], &mut Vec::new()), (8 * 14, false));
    }
}
