//! Threads that expand blocks ahead of their turn.
//!
//! Blocks are handed out in order, expanded by whoever takes them, and taken back in the same order. The thread that
//! hands them out expands some itself while the next one is not there yet, so that no thread is idle as long
//! as there are blocks.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::expand::Block;

/// Blocks on their way.
#[derive(Default)]
pub(super) struct Crew {
    line: Mutex<Line>,
    /// There is a block to expand, or nothing more to do.
    work: Condvar,
    /// A block was expanded, or never will be.
    expanded: Condvar,
}

#[derive(Default)]
struct Line {
    /// From the one that is taken back next: blocks that were expanded.
    blocks: VecDeque<Option<Block>>,
    /// The first blocks that nobody has taken, with their place behind the first of all.
    waiting: VecDeque<(u64, Block)>,
    /// How many were handed out, and taken back.
    handed_out: u64,
    taken_back: u64,
    /// Whether the helpers are to go.
    quit: bool,
    /// Whether one of them went in a panic.
    lost: bool,
}

impl Line {
    fn put(&mut self, number: u64, block: Block) {
        let place = (number - self.taken_back) as usize;
        self.blocks[place] = Some(block);
    }

    /// The next block in order, if it was expanded.
    fn take_back(&mut self) -> Option<Block> {
        let block = self.blocks.front_mut()?.take()?;
        self.blocks.pop_front();
        self.taken_back += 1;
        Some(block)
    }
}

/// What there is to do for the thread that hands blocks out.
pub(super) enum Turn {
    /// The next block in order was expanded.
    Expanded(Block),
    /// A block is to be expanded, and given [back](Crew::give_back).
    Expand(u64, Block),
    /// A helper is gone, and its block with it.
    Lost,
}

impl Crew {
    /// How many blocks are on their way.
    pub fn blocks(&self) -> usize {
        self.lock().blocks.len()
    }

    /// Lets somebody expand a block.
    pub fn hand_out(&self, block: Block) {
        let mut line = self.lock();
        let number = line.handed_out;
        line.handed_out += 1;
        line.blocks.push_back(None);
        line.waiting.push_back((number, block));
        drop(line);
        self.work.notify_one();
    }

    /// What is to be done next, by the one that handed blocks out; it must have done so.
    pub fn next(&self) -> Turn {
        let mut line = self.lock();
        loop {
            if let Some(block) = line.take_back() {
                return Turn::Expanded(block);
            }
            if let Some((number, block)) = line.waiting.pop_front() {
                return Turn::Expand(number, block);
            }
            if line.lost {
                return Turn::Lost;
            }
            line = self.expanded.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A block was expanded.
    pub fn give_back(&self, number: u64, block: Block) {
        self.lock().put(number, block);
    }

    /// Expands blocks until there is nothing more to do.
    pub fn help(&self, mut expand: impl FnMut(&mut Block)) {
        let _alarm = Alarm(self);
        loop {
            let mut line = self.lock();
            while line.waiting.is_empty() && !line.quit {
                line = self.work.wait(line).unwrap_or_else(PoisonError::into_inner);
            }
            let Some((number, mut block)) = line.waiting.pop_front().filter(|_| !line.quit) else {
                return;
            };
            drop(line);
            expand(&mut block);
            self.give_back(number, block);
            self.expanded.notify_one();
        }
    }

    /// Sends the helpers home, when what is returned is dropped.
    pub fn dismissal(&self) -> Dismissal<'_> {
        Dismissal(self)
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the helpers home, be it in a panic.
pub(super) struct Dismissal<'c>(&'c Crew);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.lock().quit = true;
        self.0.work.notify_all();
    }
}

/// Tells of a helper that panics: nobody shall wait for its block.
struct Alarm<'c>(&'c Crew);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().lost = true;
            self.0.expanded.notify_all();
        }
    }
}
