//! Which states of a slice are new.

use std::sync::atomic::Ordering;

use spinward_disk::{Cursor, Merge};
use spinward_machine::System;

use super::Search;
use super::filter::Probe;
use super::job::{Why, Worker};
use super::pool::{Address, Sorted, hash_of};
use super::shelf::{is_counted, length};

impl<S: System> Worker<'_, '_, S> {
    /// Expands states of which it is known that they are new.
    pub fn expand_all(&mut self, items: &[Sorted<()>]) -> Result<(), Why> {
        for item in items {
            let batch = &mut self.hand.batch;
            self.search
                .pool
                .with(item.at, |it| batch.push(it.state, item.at, it.mark, it.is_counted));
            self.expand_if_many()?;
        }
        Ok(())
    }

    /// Expands those states that are new, of those in memory, in order, and on disk, between two keys.
    pub fn expand_new(
        &mut self,
        items: &[Sorted<()>],
        low: &[u8],
        high: Option<&[u8]>,
    ) -> Result<(), Why> {
        let Search { pool, shelf, skip, .. } = self.search;
        let bucket = self.job.bucket;
        let cursors =
            self.job.parts.iter().map(|part| part.cursor(&shelf.folder, shelf.ahead, low));
        let cursors = cursors.collect::<Result<_, _>>();
        let waiting = cursors.and_then(|cursors| Merge::new(cursors, low));
        let mut waiting = waiting.map_err(Why::Disk)?;
        let closed = self.job.closed.iter();
        let mut closed: Vec<_> =
            closed.map(|it| (it, Cursor::new(&shelf.folder, &it.run, shelf.ahead))).collect();
        let mut items = items.iter();
        let mut item = items.next();
        let mut key = Vec::new();
        let mut removed = 0;
        loop {
            let in_memory = item.map(|item| {
                self.hand.key.clear();
                pool.with(item.at, |it| {
                    self.hand.key.extend_from_slice(it.state);
                    (item.at, it.mark, it.is_counted)
                })
            });
            let memory_key = in_memory.map(|_| &self.hand.key[*skip..]);
            let disk_key = waiting.key().filter(|&key| high.is_none_or(|high| key < high));
            let (state, at, mark, mut counted) = match (memory_key, disk_key) {
                (None, None) => break,
                (Some(own), Some(other)) if own > other => record(&waiting),
                (None, Some(_)) => record(&waiting),
                (Some(own), other) => {
                    let (at, mut mark, mut counted) = in_memory.expect("there is one");
                    if other == Some(own)
                        && let Some(there) = waiting.record()
                    {
                        counted |= is_counted(there.number);
                        mark = mark.min(there.mark);
                    }
                    (&*self.hand.key, Some(at), mark, counted)
                }
            };
            let own = &state[*skip..];
            let hash = hash_of(own);
            let is_on_disk_too = disk_key == Some(own);
            let looked = if at.is_none() { pool.look(state, hash) } else { None };
            let is_known = looked.is_some_and(|it| {
                let length = it.bucket.length;
                length < bucket.length || it.is_closed && length == bucket.length
            });
            counted |= looked.is_some_and(|it| it.is_closed || it.is_counted);
            let mut length_on_disk = None;
            if !is_known {
                let probe = Probe::new(hash);
                for (_, cursor) in closed.iter_mut().filter(|(it, _)| it.may_have(probe)) {
                    cursor.seek(own).map_err(Why::Disk)?;
                    if cursor.key() == Some(own) {
                        let found = cursor.record().map(|it| length(it.number));
                        length_on_disk = found.into_iter().chain(length_on_disk).min();
                        if length_on_disk.is_some_and(|length| length <= bucket.length) {
                            break;
                        }
                    }
                }
            }
            match length_on_disk {
                _ if is_known => removed += 1,
                Some(length) if length <= bucket.length => {
                    removed += 1;
                    if let Some(at) = at {
                        pool.close_as_saved(at, length);
                    }
                }
                _ if self.job.is_beyond => {
                    self.cut_off();
                    return Ok(());
                }
                _ => {
                    counted |= length_on_disk.is_some();
                    let at = match at {
                        Some(at) => at,
                        None => {
                            pool.admit(state, hash, bucket, mark, counted).map_err(|_| Why::Full)?
                        }
                    };
                    self.hand.batch.push(state, at, mark, counted);
                }
            }
            let from_memory = at.is_some();
            if is_on_disk_too {
                waiting.advance(&mut key).map_err(Why::Disk)?;
            }
            if from_memory {
                item = items.next();
            }
            self.expand_if_many()?;
        }
        self.search.notes().removed += removed;
        Ok(())
    }

    /// A state is beyond the bound on the depth. It is enough to know that there is one.
    pub fn cut_off(&mut self) {
        self.hand.batch.clear();
        self.search.notes().truncated = true;
        self.job.over.store(true, Ordering::Relaxed);
    }

    fn expand_if_many(&mut self) -> Result<(), Why> {
        if self.hand.batch.members.len() >= self.search.batch { self.expand() } else { Ok(()) }
    }
}

/// The record at hand, which is not in memory.
fn record<'m>(waiting: &'m Merge<'_>) -> (&'m [u8], Option<Address>, u8, bool) {
    let record = waiting.record().expect("there is one");
    (record.state, None, record.mark, is_counted(record.number))
}
