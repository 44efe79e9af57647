//! What comes of states when they are expanded.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;
use spinward_guide::{NEVER, Room, Way};
use spinward_machine::{Flow, Sink, Step, System, Violation, system::length as steps_in};

use super::form::Written;
use super::job::{Batch, Hand, Why, Worker};
use super::pool::{Arrival, Bucket, hash_of, mark};
use super::{Origin, Search};
use crate::directed::Range;
use crate::findings::Findings;
use crate::limits::{Limit, MAX_LENGTH, longer};
use crate::outcome::Counts;

impl<S: System> Worker<'_, '_, S> {
    /// Expands the states at hand, and closes them.
    pub fn expand(&mut self) -> Result<(), Why> {
        let Self { search, job, .. } = *self;
        if self.hand.batch.members.is_empty() {
            return Ok(());
        }
        if job.is_beyond {
            self.cut_off();
            return Ok(());
        }
        if search.pool.is_crowded() || job.over.load(Ordering::Relaxed) {
            return Err(Why::Full);
        }
        search.clock.check().map_err(Why::Limit)?;
        let batch = &mut self.hand.batch;
        if job.bucket.length > search.bound() {
            // A better run was found since the bucket had its turn.
            batch.clear();
            return Ok(());
        }
        let new = batch.new_states();
        let granted = search.reserve(new);
        batch.keep(granted);
        let mut come = Come::new(search, job.bucket);
        let result = if job.bucket.estimate == NEVER && search.guide().rules_out() {
            Ok(())
        } else {
            come.expand_batch(self.hand)
        };
        let is_done = result.is_ok();
        let batch = &mut self.hand.batch;
        if is_done {
            for member in &batch.members {
                search.pool.close(member.at, member.mark);
                come.counts.states += u64::from(!member.is_counted);
                come.counts.reopened += u64::from(member.is_counted);
            }
        } else {
            search.left.fetch_add(granted, Ordering::Relaxed);
        }
        batch.clear();
        // What was found stays found, though more comes when the states are expanded again.
        come.note(batch, is_done);
        (self.report)();
        result?;
        if granted < new { Err(Why::Limit(Limit::States)) } else { Ok(()) }
    }
}

/// What came of some expansions.
struct Come<'w, 'a, S: System> {
    search: &'w Search<'a, S>,
    bucket: Bucket,
    counts: Counts,
    range: Option<Range>,
    findings: Findings<Origin>,
    heaviest: u32,
    truncated: bool,
    left_out: bool,
}

impl<'w, 'a, S: System> Come<'w, 'a, S> {
    fn new(search: &'w Search<'a, S>, bucket: Bucket) -> Self {
        Self {
            search,
            bucket,
            counts: Counts::default(),
            range: None,
            findings: Findings::new(),
            heaviest: 0,
            truncated: false,
            left_out: false,
        }
    }

    fn expand_batch(&mut self, hand: &mut Hand<S>) -> Result<(), Why> {
        let search = self.search;
        let Hand { scratch, room, batch, state: written, successor, .. } = hand;
        let Batch { bytes, members, touched } = batch;
        let mut start = 0;
        for member in members.iter() {
            let state = search.form.decode(&bytes[start..member.end], written);
            start = member.end;
            if self.is_too_far(state, room) {
                self.left_out = true;
                continue;
            }
            let hash = hash_of(&state[search.skip..]);
            let mut successors = Successors {
                come: self,
                from: state,
                mark: mark(hash),
                mark_before: member.mark,
                room,
                written: successor,
                touched,
                wrong: 0,
                full: false,
                limit: None,
            };
            let flow = search.system.expand(state, scratch, &mut successors);
            if successors.full {
                return Err(Why::Full);
            }
            search.clock.broken_off(successors.limit, flow).map_err(Why::Limit)?;
            self.counts.expanded += 1;
        }
        self.counts.depth = self.bucket.length.into();
        Ok(())
    }

    /// Whether it is sure that no run through a state is shorter than the best one found, unless to a run-time error.
    fn is_too_far(&self, state: &[u8], room: &mut Room) -> bool {
        let Search { directed, reach, .. } = self.search;
        directed.bound.filter(|_| reach.proves).is_some_and(|guide| {
            let bound = self.search.bound();
            bound < MAX_LENGTH
                && self.bucket.length.saturating_add(guide.estimate(state, Way::default(), room))
                    > bound
        })
    }

    /// Notes all of it; or if the expansions were broken off what is wrong, and what is known of the states reached.
    fn note(self, batch: &mut Batch, is_done: bool) {
        let search = self.search;
        let mut guard = search.notes();
        let notes = &mut *guard;
        notes.findings.merge(self.findings, is_done, Origin::order);
        // States that were reached stay too.
        notes.heaviest = notes.heaviest.max(self.heaviest);
        if let Some(Range { least, most }) = self.range {
            notes.range =
                Range { least: notes.range.least.min(least), most: notes.range.most.max(most) };
        }
        notes.counts.state_bytes = notes.counts.state_bytes.max(self.counts.state_bytes);
        if !is_done {
            return;
        }
        for bucket in batch.touched.drain() {
            search.open(notes, bucket);
        }
        let (all, new) = (&mut notes.counts, &self.counts);
        all.states += new.states;
        all.transitions += new.transitions;
        all.expanded += new.expanded;
        all.reopened += new.reopened;
        all.errors += new.errors;
        all.depth = all.depth.max(new.depth);
        notes.truncated |= self.truncated;
        notes.left_out |= self.left_out;
    }
}

/// Takes the successors of one state.
struct Successors<'s, 'w, 'a, S: System> {
    come: &'s mut Come<'w, 'a, S>,
    from: &'s [u8],
    /// Some bits of its hash, and of that of the one before.
    mark: u8,
    mark_before: u8,
    room: &'s mut Room,
    written: &'s mut Written,
    touched: &'s mut FxHashSet<Bucket>,
    /// How many things were wrong so far.
    wrong: u32,
    /// Whether there was no room for a successor.
    full: bool,
    limit: Option<Limit>,
}

impl<S: System> Successors<'_, '_, '_, S> {
    fn flow(&mut self, result: Result<(), Limit>) -> Flow {
        crate::limits::unless_hit(result, &mut self.limit)
    }
}

impl<S: System> Sink for Successors<'_, '_, '_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let Come { search, bucket, counts, heaviest, .. } = &mut *self.come;
        let Search { pool, reach, skip, .. } = *search;
        counts.transitions += 1;
        let by = steps_in(steps);
        *heaviest = (*heaviest).max(by as u32);
        let total = longer(bucket.length, by);
        if total > search.bound() {
            return Flow::Continue(());
        }
        let total = if total > reach.most { MAX_LENGTH } else { total };
        let kept = search.form.encode(search.system, state, self.written);
        let hash = hash_of(&kept[*skip..]);
        let way = Way { before: bucket.estimate, steps };
        let estimate = || search.guide().estimate(state, way, self.room);
        let arrival = Arrival { length: total, is_still: by == 0, mark: self.mark };
        match pool.reach(kept, hash, arrival, estimate) {
            Ok(None) => {}
            Ok(Some(next)) => {
                self.touched.insert(next);
                let come = &mut *self.come;
                come.counts.state_bytes = come.counts.state_bytes.max(state.len() as u64);
                match &mut come.range {
                    Some(range) => range.note(next.estimate),
                    range => *range = Some(Range::of(next.estimate)),
                }
            }
            Err(_) => {
                self.full = true;
                return Flow::Break(());
            }
        }
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let come = &mut *self.come;
        let by = steps_in(steps);
        let nth = self.wrong;
        self.wrong += 1;
        let length = longer(come.bucket.length, by);
        if length > come.search.bound() {
            return Flow::Continue(());
        }
        if length > come.search.reach.most {
            come.truncated = true;
            return Flow::Continue(());
        }
        come.counts.errors += 1;
        let by = by as u32;
        let is_better = come.findings.known(violation).is_none_or(|known| {
            let Origin { state, by: known_by, nth: known_nth, .. } = &known.path;
            (length, self.from, by, nth) < (known.length, state, *known_by, *known_nth)
        });
        if is_better {
            let state = self.from.to_vec();
            let path = Origin { state, bucket: come.bucket, mark: self.mark_before, by, nth };
            come.findings.replace(violation, length, path);
        }
        if let Some(known) = come.findings.known(violation) {
            known.occurrences += 1;
        }
        if come.search.reach.proves {
            // Only shorter ones are looked for from now on.
            come.search.bound.fetch_min(length.saturating_sub(1), Ordering::Relaxed);
        }
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let lent = self.come.search.memory.lend(bytes as u64);
        self.flow(lent)
    }
}
