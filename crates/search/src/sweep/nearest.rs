//! A breadth-first search by the length of runs, on packed states: finds shortest runs to what a sweep
//! met.
//!
//! *Idea*: that of [`bfs`](crate::bfs), with what makes a [sweep](super::all_states) fast: states are
//! packed, lie in the table itself, and their moves are [remembered](super::remembered). States have no
//! numbers that a look-up could find again, so that no state can be told later that it is nearer than it
//! was thought to be. Instead a state is known only when its distance is: from states at distance *d*,
//! those one step away are inserted at once, as nothing shorter can come any more; those further away
//! wait, perhaps several times, in a bucket for their distance (R. Dial, *Algorithm 360*, 1969), and are
//! inserted when its turn comes, if they are not known by then.
//!
//! New states are appended to a log, each with the place of the one it was reached from. Its states are
//! in the order of their distance, so that it is the queue too, and behind the state that is expanded the
//! way back from an error.
//!
//! *Invariant*: a state is inserted and logged once, at its distance. The successors of each state are
//! looked up in the order in which it has them, be they remembered or not; so runs and counts depend
//! neither on what is remembered nor on how states are packed.
//!
//! *Threads*: states of a level are expanded in blocks, ahead of their turn, by threads that [help](crew); what came of
//! the blocks is looked up by one thread in the order of the blocks, state by state. So the number of threads makes no
//! difference either.
//!
//! *Cost*: besides the table the words of each packed state and one more, in the log.

mod arrivals;
mod crew;
mod expand;
mod log;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use spinward_machine::System;
use spinward_store::{Flat, Spot};

use super::all_states::affordable;
use super::form::{Form, Packed, Renewal};
use super::remembered::Remembered;
use crate::buffer::Buffer;
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, MAX_LENGTH, Memory, Watch, longer};
use crate::outcome::{Counts, Found, Keep, Outcome, Place, Progress, Request, Stopped};
use crate::rebuild::rebuild;
use arrivals::{Arrival, Arrivals, HERE};
use crew::{Crew, Turn};
use expand::{Block, Expander};
use log::{Cursor, Log};

/// Kept for what is not counted otherwise: what systems and the allocator keep, and masks of live bits. So
/// many bytes, or such a part of the memory; and what another thread takes.
const RESERVE: u64 = 3 << 20;
const RESERVE_SHARE: u64 = 16;
const HELPER_BYTES: u64 = 3 << 20;

/// For how many states waits for memory overlap.
const TOGETHER: usize = 32;

/// With fewer states known no thread helps, and with fewer at one distance none is waited for.
const FEW_STATES: u64 = 4_000;
const FEW_AT_ONCE: u64 = 256;

/// Blocks on their way for each thread.
const BLOCKS: usize = 6;

/// Whether this search can do what is asked for.
pub(super) fn suits<S: System>(system: &S, request: &Request) -> bool {
    system.has_actors() && request.keep == Keep::Exact && request.limits.max_depth.is_none()
}

/// Looks for shortest runs.
pub(super) fn nearest<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let memory = Memory::new(request.limits.memory);
    let mut watch = Watch::new(&request.limits, progress);
    let mut search = Nearest::new(system, request, &memory, &watch);
    let stopped = search.run(scratch, &mut watch).err();
    drop(watch);
    for helper in std::mem::take(&mut search.helpers) {
        system.absorb(scratch, helper.scratch);
    }
    request.limits.undisturbed(|| search.finish(scratch, stopped))
}

/// The search, and what it knows so far.
struct Nearest<'a, S: System> {
    system: &'a S,
    set: Flat,
    log: Log,
    /// The state in the log that is handed out next.
    at: Cursor,
    /// The distance of the states that are expanded, and the number of the first state that is further away.
    level: u32,
    end: u64,
    /// The first state of each level, and the level.
    levels: Buffer<(u64, u32)>,
    /// By distance: states more than one step away from one that was expanded.
    far: BTreeMap<u32, Arrivals>,
    /// Who expands states: this thread, and those that help.
    expander: Expander<'a, S>,
    helpers: Vec<Helper<'a, S>>,
    /// Blocks to be filled again.
    spare: Vec<Block>,
    counts: Counts,
    /// With the number of the state on the way out of which each shows.
    findings: Findings<u64>,
    /// Kinds of errors among what was looked up.
    places: HashSet<Place>,
    errors: usize,
    max_states: u64,
    memory: Memory,
    /// What is kept for what is not counted.
    reserve: Result<u64, Limit>,
}

/// A thread that expands states.
struct Helper<'a, S: System> {
    expander: Expander<'a, S>,
    scratch: S::Scratch,
    /// Kinds of errors that it met.
    places: HashSet<Place>,
}

impl<'a, S: System> Nearest<'a, S> {
    fn new(system: &'a S, request: &Request, memory: &Memory, watch: &Watch<'a>) -> Self {
        let threads = affordable(request.threads, memory);
        let reserve = (memory.budget().limit() / RESERVE_SHARE).min(RESERVE);
        let reserve = reserve + HELPER_BYTES * (threads as u64 - 1);
        let remembered = Remembered::for_threads(threads, memory, system.reduces());
        let mut expanders =
            remembered.map(|remembered| Expander::new(system, watch.clock(), remembered, memory));
        let expander = expanders.next().expect("there is at least one thread");
        let helper =
            |expander| Helper { expander, scratch: system.scratch(), places: HashSet::new() };
        Self {
            system,
            set: Flat::new(Packed::<S>::DENSITY, memory.budget()),
            log: Log::new(memory),
            at: Cursor::default(),
            level: 0,
            end: 0,
            levels: Buffer::new(memory),
            far: BTreeMap::new(),
            expander,
            helpers: expanders.map(helper).collect(),
            spare: Vec::new(),
            counts: Counts { transitions: 1, ..Counts::default() },
            findings: Findings::new(),
            places: HashSet::new(),
            errors: request.errors,
            max_states: request.limits.max_states.unwrap_or(u64::MAX),
            memory: memory.clone(),
            reserve: memory.take(reserve).map(|()| reserve),
        }
    }

    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        self.reserve.map_err(Stopped::Limit)?;
        let mut state = Vec::new();
        self.system.initial(&mut state);
        let mut arrivals = Arrivals::new(&self.memory);
        arrivals.add(&state, &mut self.expander.form, 0, HERE)?;
        self.look_up(&arrivals)?;
        self.begin_level()?;
        while self.at.number < self.log.len {
            if self.helpers.is_empty() || self.log.len < FEW_STATES {
                self.expand_alone(scratch, watch)?;
            } else {
                self.expand_together(scratch, watch)?;
            }
            self.renew_if_due()?;
        }
        Ok(())
    }

    /// Expands states until none is left, or it is time to look for another form of them.
    fn expand_alone(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        while self.at.number < self.log.len && !self.is_due() {
            let block = self.next_block()?;
            self.note(block, scratch, watch)?;
            self.go_on()?;
        }
        Ok(())
    }

    /// The same with the threads that help.
    fn expand_together(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        let crew = Crew::default();
        let mut helpers = std::mem::take(&mut self.helpers);
        let result = std::thread::scope(|scope| {
            let dismissal = crew.dismissal();
            let threads = helpers.iter_mut().map_while(|helper| {
                let Helper { expander, scratch, places } = helper;
                let help = || crew.help(|block| expander.expand(block, places, scratch));
                std::thread::Builder::new().name("search".into()).spawn_scoped(scope, help).ok()
            });
            let threads: Vec<_> = threads.collect();
            let result = self.lead(&crew, BLOCKS * (threads.len() + 1), scratch, watch);
            drop(dismissal);
            for thread in threads {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            result
        });
        self.helpers = helpers;
        result
    }

    /// Hands out blocks, at most so many at a time, and looks up what came of them.
    fn lead(
        &mut self,
        crew: &Crew,
        blocks: usize,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        // What this thread meets ahead of its turn.
        let mut places = HashSet::new();
        loop {
            // Whatever was handed out, its states have the form of now.
            let is_due = self.is_due();
            while !is_due && self.at.number < self.end && crew.blocks() < blocks {
                let block = self.next_block()?;
                if crew.blocks() == 0 && self.end - self.at.number < FEW_AT_ONCE {
                    self.note(block, scratch, watch)?;
                } else {
                    crew.hand_out(block);
                }
            }
            if crew.blocks() == 0 {
                self.go_on()?;
                if self.at.number == self.log.len || is_due {
                    return Ok(());
                }
                continue;
            }
            match crew.next() {
                Turn::Expanded(block) => self.note(block, scratch, watch)?,
                Turn::Expand(number, mut block) => {
                    self.expander.expand(&mut block, &mut places, scratch);
                    crew.give_back(number, block);
                }
                Turn::Lost => return Err(Stopped::Limit(Limit::Interrupt)),
            }
        }
    }

    /// The next states of this level.
    fn next_block(&mut self) -> Result<Block, Limit> {
        let mut block = self.spare.pop().unwrap_or_else(|| Block::new(&self.memory));
        block.fill(&self.log, &mut self.at, self.end, self.level)?;
        Ok(block)
    }

    /// Looks up what came of the states of a block, and expands those that were not.
    fn note(
        &mut self,
        mut block: Block,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stopped> {
        self.counts.depth = self.level.into();
        loop {
            self.note_expanded(&mut block)?;
            watch.tick(&self.counts, self.level, &self.memory)?;
            if block.is_done() {
                break;
            }
            self.expander.expand(&mut block, &mut self.places, scratch);
        }
        self.spare.push(block);
        Ok(())
    }

    /// Looks up what came of the states of a block that were expanded.
    ///
    /// How many these are depends on who expanded them. So where no more states may be known, what is behind the one that
    /// this shows at is not counted.
    fn note_expanded(&mut self, block: &mut Block) -> Result<(), Stopped> {
        let known = self.findings.len();
        self.counts.expanded = block.reached();
        let looked_up = match block.broken {
            Some(limit) => Err(limit),
            None => self.look_up(&block.arrivals).and_then(|()| self.look_up_any(&block.further)),
        };
        let last = self.counts.expanded;
        if looked_up == Err(Limit::States) {
            let further = block.further.entries.partition_point(|far| far.parent < last);
            self.counts.transitions += further as u64;
        }
        for &(violation, length, parent) in block.violations.iter().filter(|met| met.2 <= last) {
            self.counts.errors += 1;
            self.places.insert(Place::of(violation));
            self.findings.meet(violation, length, parent);
        }
        for &(_, bytes) in block.sizes.iter().filter(|state| state.0 <= last) {
            self.counts.state_bytes = self.counts.state_bytes.max(bytes);
        }
        looked_up?;
        block.forget();
        if self.findings.len() > known { self.check_errors() } else { Ok(()) }
    }

    /// Whether as many errors were found as were asked for, and none shorter can come.
    fn check_errors(&self) -> Result<(), Stopped> {
        let enough = self.errors > 0 && self.findings.within(self.level) >= self.errors;
        if enough { Err(Stopped::Errors) } else { Ok(()) }
    }

    /// If all states of this level were expanded: goes on to the next distance at which there are states.
    fn go_on(&mut self) -> Result<(), Stopped> {
        if self.at.number < self.end {
            return Ok(());
        }
        loop {
            let any = self.end < self.log.len;
            match self.far.first_key_value() {
                Some((&far, _)) if !any => self.level = far,
                None if !any => return Ok(()),
                _ => self.level += 1,
            }
            if let Some(arrived) = self.far.remove(&self.level) {
                self.look_up(&arrived)?;
            }
            if self.end < self.log.len {
                return self.begin_level();
            }
        }
    }

    /// All states that are known and not expanded are at one distance.
    fn begin_level(&mut self) -> Result<(), Stopped> {
        self.end = self.log.len;
        self.levels.push((self.at.number, self.level))?;
        self.check_errors()
    }

    /// Looks up successors, in order. New ones that are one step away are appended to the log, those further away
    /// wait.
    fn look_up(&mut self, arrivals: &Arrivals) -> Result<(), Limit> {
        match arrivals.words_alike() {
            Some(1) => self.look_up_alike::<1>(arrivals),
            Some(2) => self.look_up_alike::<2>(arrivals),
            Some(3) => self.look_up_alike::<3>(arrivals),
            Some(4) => self.look_up_alike::<4>(arrivals),
            Some(5) => self.look_up_alike::<5>(arrivals),
            Some(6) => self.look_up_alike::<6>(arrivals),
            _ => self.look_up_any(arrivals),
        }
    }

    /// Looks up successors that are alike, in forms of so many words.
    fn look_up_alike<const W: usize>(&mut self, arrivals: &Arrivals) -> Result<(), Limit> {
        let Self { set, log, counts, max_states, .. } = self;
        let Some(&Arrival { bytes, length, .. }) = arrivals.entries.first() else {
            return Ok(());
        };
        let (forms, _) = arrivals.words.as_chunks::<W>();
        let mut noted = 0;
        let inserted = set.insert_all(bytes as usize, forms, &arrivals.hashes, |index, form| {
            let parent = arrivals.entries[index].parent;
            noted = index + 1;
            if counts.states >= *max_states {
                if length != HERE {
                    counts.expanded = parent;
                }
                return Err(Limit::States);
            }
            counts.states += 1;
            log.push(parent, form)
        });
        let noted = if inserted.is_ok() { forms.len() } else { noted };
        counts.transitions += if length == HERE { 0 } else { noted as u64 };
        inserted
    }

    /// Looks up any successors.
    fn look_up_any(&mut self, arrivals: &Arrivals) -> Result<(), Limit> {
        let groups = || arrivals.entries.chunks(TOGETHER).zip(arrivals.hashes.chunks(TOGETHER));
        let [mut now, mut later] = [[Spot::default(); TOGETHER]; 2];
        let nothing = (&[][..], &[][..]);
        let mut version = locate(&self.set, groups().next().unwrap_or(nothing), &mut now);
        let mut start = 0;
        for ((group, hashes), next) in groups().zip(groups().skip(1).chain([nothing])) {
            if version != self.set.version() {
                locate(&self.set, (group, hashes), &mut now);
            }
            for ((arrival, &hash), &spot) in group.iter().zip(hashes).zip(&now) {
                self.set.prefetch(arrival.bytes as usize, hash, spot);
            }
            version = locate(&self.set, next, &mut later);
            for ((arrival, &hash), &spot) in group.iter().zip(hashes).zip(&now) {
                let form = &arrivals.words[start..arrival.end];
                start = arrival.end;
                let spot = (version == self.set.version()).then_some(spot);
                self.arrive(arrival, hash, form, spot)?;
            }
            now = later;
        }
        Ok(())
    }

    /// Looks up a state in a form, which is located perhaps.
    #[inline]
    fn arrive(
        &mut self,
        arrival: &Arrival,
        hash: u64,
        form: &[u64],
        spot: Option<Spot>,
    ) -> Result<(), Limit> {
        let &Arrival { parent, bytes, length, .. } = arrival;
        let bytes = bytes as usize;
        self.counts.transitions += u64::from(length != HERE);
        let distance = longer(self.level, length as usize);
        if distance == MAX_LENGTH {
            return Err(Limit::Numbers);
        }
        if length > 1 {
            if self.set.contains(form, bytes, hash) {
                return Ok(());
            }
            let far = self.far.entry(distance);
            let far = far.or_insert_with(|| Arrivals::new(&self.memory));
            return far.push_hashed(form, hash, Arrival { length: HERE, ..*arrival });
        }
        let new = match spot {
            Some(spot) => self.set.insert_at(form, bytes, hash, spot)?,
            None => self.set.insert(form, bytes, hash)?,
        };
        if !new {
            return Ok(());
        }
        if self.counts.states >= self.max_states {
            if length != HERE {
                self.counts.expanded = parent;
            }
            return Err(Limit::States);
        }
        self.counts.states += 1;
        self.log.push(parent, form)
    }

    /// Whether it is time to look for another form of states.
    fn is_due(&self) -> bool {
        self.expander.form.is_time(self.set.len())
    }

    /// Gives states another form, if it is time to and there is a better one. No block may be on its way.
    fn renew_if_due(&mut self) -> Result<(), Limit> {
        if !self.is_due() {
            return Ok(());
        }
        let Self { set, log, far, memory, .. } = self;
        let helpers = self.helpers.iter_mut().map(|helper| &mut helper.expander);
        let mut expanders: Vec<_> = [&mut self.expander].into_iter().chain(helpers).collect();
        let mut forms: Vec<_> = expanders.iter_mut().map(|it| &mut it.form).collect();
        let is_due = |form: &mut &mut Packed<'_, S>| form.is_due(set.len());
        if !forms.iter_mut().map(is_due).fold(false, |any, its| any | its) {
            return Ok(());
        }
        let (mut new, some) = match Form::renewal(&mut forms, &[&*set]) {
            Renewal::None => return Ok(()),
            Renewal::Some(new, bytes) => (new, Some(bytes)),
            Renewal::All(new) => (new, None),
        };
        let form = &mut *forms[0];
        let (mut state, mut words) = (Vec::new(), Vec::new());
        let counts =
            |number: usize| some.as_ref().is_none_or(|some| some.get(number) == Some(&true));
        Flat::replace(
            &mut [set],
            counts,
            |_| 0,
            |old, out| {
                form.decode(old, &mut state);
                new.encode(&state, out)
            },
        )?;
        for arrivals in far.values_mut() {
            let old = std::mem::replace(arrivals, Arrivals::new(memory));
            let mut start = 0;
            for arrival in &*old.entries {
                form.decode(&old.words[start..arrival.end], &mut state);
                start = arrival.end;
                arrivals.add(&state, &mut new, arrival.parent, arrival.length)?;
            }
        }
        // States in the log that were not packed can still be read.
        if some.is_none() {
            let mut renewed = Log::new(memory);
            let mut at = Cursor::default();
            while at.number < log.len {
                let (parent, old) = log.next(&mut at);
                form.decode(old, &mut state);
                words.clear();
                new.encode(&state, &mut words)?;
                renewed.push(parent, &words)?;
            }
            // Not before all went well: the way to an error may still be asked for.
            self.at = renewed.find(self.at.number);
            *log = renewed;
            expanders.iter_mut().for_each(|it| it.renewals += 1);
        }
        expanders.iter_mut().for_each(|it| it.form.become_like(&new));
        Ok(())
    }

    /// Puts together what was found.
    fn finish(mut self, scratch: &mut S::Scratch, stopped: Option<Stopped>) -> Outcome {
        self.counts.memory = self.memory.peak();
        let mut examples = std::mem::replace(&mut self.findings, Findings::new()).into_examples();
        keep_shortest(&mut examples, self.errors);
        let errors = examples.iter().map(|example| {
            let mut numbers = vec![example.path];
            while let Some(&number) = numbers.last().filter(|&&number| number > 0) {
                numbers.push(self.log.get(number).0);
            }
            let path = numbers.into_iter().rev().map(|number| {
                let mut state = Vec::new();
                self.expander.form.decode(self.log.get(number).1, &mut state);
                let level = self.levels.partition_point(|&(first, _)| first <= number) - 1;
                (state, self.levels[level].1)
            });
            let (violation, length) = (example.violation, example.length);
            Found {
                violation,
                steps: rebuild(self.system, scratch, path, violation, length, false).steps,
                cycle: None,
                occurrences: example.occurrences,
                shortest: stopped.is_none() || length <= self.level,
            }
        });
        let errors = errors.collect();
        Outcome { errors, met: 0, counts: self.counts, stopped, truncated: false }
    }
}

/// Where some arrivals with these hashes are looked for, in which version of the set.
fn locate(set: &Flat, (group, hashes): (&[Arrival], &[u64]), spots: &mut [Spot; TOGETHER]) -> u64 {
    for ((arrival, &hash), spot) in group.iter().zip(hashes).zip(spots) {
        *spot = set.locate(arrival.bytes as usize, hash);
    }
    set.version()
}

impl<S: System> Drop for Nearest<'_, S> {
    fn drop(&mut self) {
        self.memory.give_back(self.reserve.unwrap_or(0));
    }
}
