//! Lets several threads take work from one source and hand their results to one place.

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// Calls `work` on every item of `items` in `jobs` threads, and `done` on each result as it comes.
pub fn run<I, R>(
    jobs: usize,
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(I) -> R + Sync,
    mut done: impl FnMut(R),
) where
    R: Send,
{
    let items = Mutex::new(items);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                loop {
                    let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(item) = next else { break };
                    if sender.send(work(item)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for result in receiver {
            done(result);
        }
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_item_is_worked_on_once() {
        let mut results = Vec::new();
        super::run(3, 0..100, |n| n * n, |square| results.push(square));
        results.sort_unstable();
        assert!(results.into_iter().eq((0..100).map(|n| n * n)));
    }
}
