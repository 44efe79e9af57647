//! What threads learn of moves, told to each other.
//!
//! *Idea*: to learn a move costs a hundred times as much as to write down what was learned. Each thread remembers moves by
//! itself, as it looks them up all the time; but what one of them has learned it puts into a box of each other one, which
//! reads it when it comes by. Nobody waits for anybody: a box that is full takes no more, and its owner will learn by itself.
//!
//! *Cost*: at most [`MOST`] lessons of [`LARGEST`] bytes a box, taken from the budget.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spinward_store::Lesson;

use crate::limits::Memory;

/// Lessons in a box, at most, and the bytes of one.
const MOST: usize = 256;
const LARGEST: usize = 1 << 11;

/// What an actor does to some keys.
pub(super) struct Told {
    /// How often all states had been given another form.
    pub renewals: u64,
    /// A packed state from which it does so, and its mask.
    pub mask: usize,
    pub form: Vec<u64>,
    pub actor: usize,
    /// The bits that this depends on, and the bytes that are looked at first.
    pub depends: Vec<u64>,
    pub order: [Vec<u32>; 2],
    /// As in a [`Lesson`].
    changes: Vec<[u64; 2]>,
    lengths: Vec<u32>,
    kind: Kind,
    bytes: u64,
    memory: Memory,
}

#[derive(Clone, Copy)]
enum Kind {
    Changes { alone: bool },
    Unknown,
    Wrong,
}

impl Told {
    pub fn lesson(&self) -> Lesson<'_> {
        let Self { changes, lengths, .. } = self;
        match self.kind {
            Kind::Changes { alone } => Lesson::Changes { changes, lengths, alone },
            Kind::Unknown => Lesson::Unknown,
            Kind::Wrong => Lesson::Wrong,
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.memory.give_back(self.bytes);
    }
}

/// A box for each thread.
pub(super) struct Lessons {
    boxes: Vec<Letters>,
    memory: Memory,
}

/// In cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Letters {
    letters: Mutex<Vec<Arc<Told>>>,
    /// Whether there are any.
    any: AtomicBool,
}

impl Letters {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Told>>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lessons {
    pub fn new(threads: usize, memory: &Memory) -> Self {
        Self { boxes: (0..threads).map(|_| Letters::default()).collect(), memory: memory.clone() }
    }

    /// Tells all others what a thread has learned of an actor in a state in a form.
    pub fn tell(
        &self,
        from: usize,
        (renewals, mask, form): (u64, usize, &[u64]),
        actor: usize,
        (depends, order): (&[u64], &[Vec<u32>; 2]),
        lesson: Lesson<'_>,
    ) {
        if self.boxes.len() == 1 {
            return;
        }
        let (changes, lengths, kind) = match lesson {
            Lesson::Changes { changes, lengths, alone } => {
                (changes, lengths, Kind::Changes { alone })
            }
            Lesson::Unknown => (&[][..], &[][..], Kind::Unknown),
            Lesson::Wrong => (&[][..], &[][..], Kind::Wrong),
        };
        let [first, second] = order;
        let bytes = size_of::<Told>()
            + size_of_val(form)
            + size_of_val(depends)
            + size_of_val(&first[..])
            + size_of_val(&second[..])
            + size_of_val(changes)
            + size_of_val(lengths);
        if bytes > LARGEST || self.memory.take(bytes as u64).is_err() {
            return;
        }
        let told = Arc::new(Told {
            renewals,
            mask,
            form: form.to_vec(),
            actor,
            depends: depends.to_vec(),
            order: order.clone(),
            changes: changes.to_vec(),
            lengths: lengths.to_vec(),
            kind,
            bytes: bytes as u64,
            memory: self.memory.clone(),
        });
        let others = self.boxes.iter().enumerate().filter(|&(number, _)| number != from);
        for (_, letters) in others {
            let mut to = letters.lock();
            if to.len() < MOST {
                to.push(told.clone());
                letters.any.store(true, Ordering::Relaxed);
            }
        }
    }

    /// What a thread was told since it asked last.
    #[inline]
    pub fn take(&self, number: usize) -> Option<Vec<Arc<Told>>> {
        let letters = &self.boxes[number];
        letters.any.load(Ordering::Relaxed).then(|| {
            let mut told = letters.lock();
            letters.any.store(false, Ordering::Relaxed);
            std::mem::take(&mut *told)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(lessons: &Lessons, from: usize, actor: usize, changes: &[[u64; 2]]) {
        let lesson = Lesson::Changes { changes, lengths: &[1], alone: true };
        let order = [vec![1], vec![2, 3]];
        lessons.tell(from, (7, 3, &[4, 5]), actor, (&[6, 8], &order), lesson);
    }

    #[test]
    fn all_others_are_told_until_their_boxes_are_full() {
        let memory = Memory::new(Some(1 << 20));
        let lessons = Lessons::new(3, &memory);
        for actor in 0..MOST + 10 {
            tell(&lessons, 1, actor, &[[1, 2], [3, 4]]);
        }
        assert!(memory.used() > 0);
        assert!(lessons.take(1).is_none());
        for number in [0, 2] {
            let told = lessons.take(number).unwrap();
            assert!(lessons.take(number).is_none());
            assert!(told.iter().map(|told| told.actor).eq(0..MOST));
            let Told { renewals: 7, mask: 3, form, depends, order, .. } = &*told[0] else {
                panic!("another state");
            };
            assert_eq!((&form[..], &depends[..]), (&[4, 5][..], &[6, 8][..]));
            assert_eq!(order, &[vec![1], vec![2, 3]]);
            let Lesson::Changes { changes, lengths, alone: true } = told[0].lesson() else {
                panic!("another lesson");
            };
            assert_eq!((changes, lengths), (&[[1, 2], [3, 4]][..], &[1][..]));
        }
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn what_is_large_or_has_no_room_is_not_told() {
        let memory = Memory::new(Some(1 << 10));
        let lessons = Lessons::new(2, &memory);
        tell(&lessons, 0, 0, &[[0, 0]; LARGEST / 16]);
        assert!(lessons.take(1).is_none());
        (0..100).for_each(|actor| tell(&lessons, 0, actor, &[[1, 2]]));
        assert!((1..8).contains(&lessons.take(1).unwrap().len()));
        assert_eq!(memory.used(), 0);
        let alone = Lessons::new(1, &memory);
        tell(&alone, 0, 0, &[[1, 2]]);
        assert!(alone.take(0).is_none());
    }
}
