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
//! *Cost*: besides the table the words of each packed state and one more, in the log; one thread.

use std::collections::BTreeMap;

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};
use spinward_store::{Flat, Spot};

use super::form::{Form, Packed, Renewal};
use super::remembered::Remembered;
use crate::buffer::Buffer;
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, MAX_LENGTH, Memory, Watch, longer, unless_hit};
use crate::outcome::{Counts, Found, Keep, Outcome, Progress, Request, Stopped};
use crate::rebuild::rebuild;

/// So many successors are looked up together, and fewer if they have so many words.
const SUCCESSORS: usize = 512;
const WORDS: usize = 1 << 15;

/// Kept for what is not counted otherwise: what systems and the allocator keep, and masks of live bits. So
/// many bytes, or such a part of the memory.
const RESERVE: u64 = 3 << 20;
const RESERVE_SHARE: u64 = 16;

/// For how many states waits for memory overlap.
const TOGETHER: usize = 32;

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
    let reserve = (memory.budget().limit() / RESERVE_SHARE).min(RESERVE);
    let reserved = memory.take(reserve);
    let mut watch = Watch::new(&request.limits, progress);
    let mut search = Nearest::new(system, request, &memory);
    let stopped =
        reserved.map_err(Stopped::Limit).and_then(|()| search.run(scratch, &mut watch)).err();
    drop(watch);
    request.limits.undisturbed(|| search.finish(scratch, stopped))
}

/// The search, and what it knows so far.
struct Nearest<'a, S> {
    system: &'a S,
    form: Packed<'a, S>,
    set: Flat,
    log: Log,
    /// The state in the log that is expanded next.
    at: Cursor,
    /// The distance of the states that are expanded.
    level: u32,
    /// The first state of each level, and the level.
    levels: Buffer<(u64, u32)>,
    /// By distance: states more than one step away from one that was expanded.
    far: BTreeMap<u32, Arrivals>,
    /// Successors that are not looked up yet, and those of them that are more than one step away.
    arrivals: Arrivals,
    further: Arrivals,
    remembered: Remembered,
    /// How often all states were given another form.
    renewals: u64,
    counts: Counts,
    /// With the number of the state on the way out of which each shows.
    findings: Findings<u64>,
    errors: usize,
    max_states: u64,
    memory: Memory,
    /// Room to work in.
    state: Vec<u8>,
    words: Vec<u64>,
}

impl<'a, S: System> Nearest<'a, S> {
    fn new(system: &'a S, request: &Request, memory: &Memory) -> Self {
        Self {
            system,
            form: Packed::new(system),
            set: Flat::new(Packed::<S>::DENSITY, memory.budget()),
            log: Log::new(memory),
            at: Cursor::default(),
            level: 0,
            levels: Buffer::new(memory),
            far: BTreeMap::new(),
            arrivals: Arrivals::new(memory),
            further: Arrivals::new(memory),
            remembered: Remembered::new(memory, 1, system.reduces()),
            renewals: 0,
            counts: Counts { transitions: 1, ..Counts::default() },
            findings: Findings::new(),
            errors: request.errors,
            max_states: request.limits.max_states.unwrap_or(u64::MAX),
            memory: memory.clone(),
            state: Vec::new(),
            words: Vec::new(),
        }
    }

    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        self.system.initial(&mut self.state);
        self.arrivals.add(&self.state, &mut self.form, 0, HERE)?;
        self.look_up()?;
        loop {
            self.levels.push((self.at.number, self.level))?;
            self.check_errors()?;
            let end = self.log.len;
            while self.at.number < end {
                let known = self.findings.len();
                self.expand(scratch, watch)?;
                let more = self.findings.len() > known;
                if more || self.arrivals.is_full() || self.further.is_full() {
                    self.look_up()?;
                }
                if more {
                    self.check_errors()?;
                }
                watch.tick(&self.counts, self.level, &self.memory)?;
            }
            self.look_up()?;
            if !self.next_level()? {
                return Ok(());
            }
        }
    }

    /// Whether as many errors were found as were asked for, and none shorter can come.
    fn check_errors(&self) -> Result<(), Stopped> {
        let enough = self.errors > 0 && self.findings.within(self.level) >= self.errors;
        if enough { Err(Stopped::Errors) } else { Ok(()) }
    }

    /// Goes on to the next distance at which there are states; false if there is none.
    fn next_level(&mut self) -> Result<bool, Limit> {
        loop {
            let any = self.at.number < self.log.len;
            match self.far.first_key_value() {
                Some((&far, _)) if !any => self.level = far,
                None if !any => return Ok(false),
                _ => self.level += 1,
            }
            if let Some(arrived) = self.far.remove(&self.level) {
                self.arrivals = arrived;
                self.look_up()?;
            }
            if self.at.number < self.log.len {
                return Ok(true);
            }
        }
    }

    /// Expands the next state in the log.
    fn expand(&mut self, scratch: &mut S::Scratch, watch: &Watch<'_>) -> Result<(), Limit> {
        let number = self.at.number;
        let (_, form) = self.log.next(&mut self.at);
        self.words.clear();
        self.words.extend_from_slice(form);
        self.counts.depth = self.level.into();
        let all_remembered = match form.len() {
            1 => self.expand_packed::<1>(number, scratch)?,
            2 => self.expand_packed::<2>(number, scratch)?,
            3 => self.expand_packed::<3>(number, scratch)?,
            4 => self.expand_packed::<4>(number, scratch)?,
            5 => self.expand_packed::<5>(number, scratch)?,
            6 => self.expand_packed::<6>(number, scratch)?,
            7 => self.expand_packed::<7>(number, scratch)?,
            8 => self.expand_packed::<8>(number, scratch)?,
            _ => false,
        };
        if !all_remembered {
            self.form.decode(&self.words, &mut self.state);
            self.counts.state_bytes = self.counts.state_bytes.max(self.state.len() as u64);
            let mut expansion = Expansion {
                arrivals: &mut self.arrivals,
                further: &mut self.further,
                form: &mut self.form,
                parent: number,
                level: self.level,
                counts: &mut self.counts,
                findings: &mut self.findings,
                memory: &self.memory,
                limit: None,
            };
            let flow = self.system.expand(&self.state, scratch, &mut expansion);
            watch.broken_off(expansion.limit, flow)?;
        }
        self.counts.expanded += 1;
        Ok(())
    }

    /// Makes the moves of the state whose words are at hand if all are remembered; whether they are.
    fn expand_packed<const W: usize>(
        &mut self,
        number: u64,
        scratch: &mut S::Scratch,
    ) -> Result<bool, Limit> {
        let Self { system, form, remembered, arrivals, further, state, words, .. } = self;
        let (Some(packing), Ok(form)) = (form.packing(), <[u64; W]>::try_from(&words[..])) else {
            return Ok(false);
        };
        let Some(mask) = packing.mask(&form) else {
            return Ok(false);
        };
        if !remembered.begin(*system, (packing, self.renewals), mask, &form) {
            return Ok(false);
        }
        let bytes = packing.bytes(mask);
        self.counts.state_bytes = self.counts.state_bytes.max(packing.length(mask) as u64);
        remembered.each(*system, packing, mask, &form, scratch, |successor, own, length| {
            let arrivals = if length > 1 { &mut *further } else { &mut *arrivals };
            if own {
                return arrivals.push(successor, bytes, number, length);
            }
            packing.read(successor, state);
            words.clear();
            let (bytes, _) = packing.write(system.layout(state), state, words);
            arrivals.push(words, bytes, number, length)
        })
    }

    /// Looks up all successors at hand, in order. New ones that are one step away are appended to the log,
    /// those further away wait.
    fn look_up(&mut self) -> Result<(), Limit> {
        let mut arrivals = std::mem::replace(&mut self.arrivals, Arrivals::new(&self.memory));
        match arrivals.words_alike() {
            Some(1) => self.look_up_alike::<1>(&arrivals)?,
            Some(2) => self.look_up_alike::<2>(&arrivals)?,
            Some(3) => self.look_up_alike::<3>(&arrivals)?,
            Some(4) => self.look_up_alike::<4>(&arrivals)?,
            Some(5) => self.look_up_alike::<5>(&arrivals)?,
            Some(6) => self.look_up_alike::<6>(&arrivals)?,
            _ => self.look_up_any(&arrivals)?,
        }
        arrivals.clear();
        self.arrivals = arrivals;
        if !self.further.entries.is_empty() {
            let mut further = std::mem::replace(&mut self.further, Arrivals::new(&self.memory));
            self.look_up_any(&further)?;
            further.clear();
            self.further = further;
        }
        self.renew_if_due()
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

    /// Gives states another form, if it is time to and there is a better one. No successor may be at hand
    /// that is not looked up.
    fn renew_if_due(&mut self) -> Result<(), Limit> {
        let Self { form, set, log, far, memory, state, words, .. } = self;
        if !form.is_due(set.len()) {
            return Ok(());
        }
        let (mut new, some) = match Form::renewal(&mut [(&mut *form, &*set)]) {
            Renewal::None => return Ok(()),
            Renewal::Some(new, bytes) => (new, Some(bytes)),
            Renewal::All(new) => (new, None),
        };
        let counts =
            |number: usize| some.as_ref().is_none_or(|some| some.get(number) == Some(&true));
        Flat::replace(
            &mut [set],
            counts,
            |_| 0,
            |old, out| {
                form.decode(old, state);
                new.encode(state, out)
            },
        )?;
        for arrivals in far.values_mut() {
            let old = std::mem::replace(arrivals, Arrivals::new(memory));
            let mut start = 0;
            for arrival in &*old.entries {
                form.decode(&old.words[start..arrival.end], state);
                start = arrival.end;
                arrivals.add(state, &mut new, arrival.parent, arrival.length)?;
            }
        }
        // States in the log that were not packed can still be read.
        if some.is_none() {
            let mut renewed = Log::new(memory);
            let mut at = Cursor::default();
            while at.number < log.len {
                let (parent, old) = log.next(&mut at);
                form.decode(old, state);
                words.clear();
                new.encode(state, words)?;
                renewed.push(parent, words)?;
            }
            // Not before all went well: the way to an error may still be asked for.
            self.at = renewed.find(self.at.number);
            *log = renewed;
            self.renewals += 1;
        }
        form.become_like(&new);
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
                self.form.decode(self.log.get(number).1, &mut state);
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

/// Takes the successors of one state.
struct Expansion<'e, 'a, S> {
    arrivals: &'e mut Arrivals,
    further: &'e mut Arrivals,
    form: &'e mut Packed<'a, S>,
    parent: u64,
    level: u32,
    counts: &'e mut Counts,
    findings: &'e mut Findings<u64>,
    memory: &'e Memory,
    limit: Option<Limit>,
}

impl<S: System> Sink for Expansion<'_, '_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let length = length(steps) as u32;
        let arrivals = if length > 1 { &mut *self.further } else { &mut *self.arrivals };
        let added = arrivals.add(state, self.form, self.parent, length);
        unless_hit(added, &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        self.counts.errors += 1;
        let length = longer(self.level, length(steps));
        match self.findings.known(violation) {
            Some(example) if example.length <= length => {}
            Some(example) => {
                example.violation = violation;
                example.length = length;
                example.path = self.parent;
            }
            None => self.findings.add(violation, length, self.parent),
        }
        if let Some(example) = self.findings.known(violation) {
            example.occurrences += 1;
        }
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.memory.lend(bytes as u64), &mut self.limit)
    }
}

/// A state that is not looked up yet.
#[derive(Clone, Copy)]
struct Arrival {
    /// Where its form ends, and how many bytes that has.
    end: usize,
    bytes: u32,
    /// The number of the state it was reached from.
    parent: u64,
    /// How many steps it is away from the states that are expanded, or [`HERE`].
    length: u32,
}

/// The length of a move that led to the level that is expanded.
const HERE: u32 = 0;

/// States that are not looked up yet, in the order in which they were reached.
struct Arrivals {
    words: Buffer<u64>,
    hashes: Buffer<u64>,
    entries: Buffer<Arrival>,
    /// Whether all are as far away, at most one step, and have forms of as many bytes.
    alike: bool,
}

impl Arrivals {
    fn new(memory: &Memory) -> Self {
        Self {
            words: Buffer::new(memory),
            hashes: Buffer::new(memory),
            entries: Buffer::new(memory),
            alike: true,
        }
    }

    /// How many words each form has, if they are alike.
    fn words_alike(&self) -> Option<usize> {
        let first = self.entries.first().filter(|_| self.alike)?;
        Some(first.end)
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= SUCCESSORS || self.words.len() >= WORDS
    }

    /// Adds a state.
    fn add<F: Form>(
        &mut self,
        state: &[u8],
        form: &mut F,
        parent: u64,
        length: u32,
    ) -> Result<(), Limit> {
        let start = self.words.len();
        let bytes = form.encode(state, self.words.with_room(F::longest(state.len()))?)?;
        let hash = Flat::hash(&self.words[start..]);
        let (end, bytes) = (self.words.len(), bytes as u32);
        self.note(hash, Arrival { end, bytes, parent, length })
    }

    /// Adds a form of so many bytes.
    #[inline]
    fn push(&mut self, form: &[u64], bytes: usize, parent: u64, length: u32) -> Result<(), Limit> {
        let arrival = Arrival { end: 0, bytes: bytes as u32, parent, length };
        self.push_hashed(form, Flat::hash(form), arrival)
    }

    /// Adds a form with this hash; where it ends is seen to.
    #[inline]
    fn push_hashed(&mut self, form: &[u64], hash: u64, arrival: Arrival) -> Result<(), Limit> {
        self.words.extend_from_slice(form)?;
        self.note(hash, Arrival { end: self.words.len(), ..arrival })
    }

    /// Notes the last form, with this hash.
    #[inline]
    fn note(&mut self, hash: u64, arrival: Arrival) -> Result<(), Limit> {
        let first = self.entries.first().copied().unwrap_or(arrival);
        let of = |it: Arrival| (it.length, it.bytes);
        self.alike &= arrival.length <= 1 && of(arrival) == of(first);
        self.hashes.push(hash)?;
        self.entries.push(arrival)
    }

    fn clear(&mut self) {
        self.words.clear();
        self.hashes.clear();
        self.entries.clear();
        self.alike = true;
    }
}

/// Words in a chunk, if forms are not larger.
const CHUNK: usize = 1 << 12;

/// Bits of a word that tell how many words a form has; the others tell a number.
const LENGTH_BITS: u32 = 24;

/// The states that are known, in the order in which they became so. Their place in it is their number.
struct Log {
    chunks: Vec<Chunk>,
    len: u64,
    memory: Memory,
}

/// Some states, one behind the other: the number of the state each was reached from, in one word with how
/// many words its form has, and its form.
struct Chunk {
    /// The number of the first one.
    first: u64,
    words: Vec<u64>,
}

/// A place in the log.
#[derive(Clone, Copy, Default)]
struct Cursor {
    number: u64,
    chunk: usize,
    word: usize,
}

impl Chunk {
    /// The bytes of one, and what its place in the list may cost while that list doubles.
    fn bytes(words: usize) -> u64 {
        (words * size_of::<u64>() + 4 * size_of::<Self>()) as u64
    }

    /// The state that begins with a word, and where it ends.
    #[inline]
    fn read(&self, word: usize) -> (u64, &[u64], usize) {
        let head = self.words[word];
        let end = word + 1 + (head & ((1 << LENGTH_BITS) - 1)) as usize;
        (head >> LENGTH_BITS, &self.words[word + 1..end], end)
    }
}

impl Log {
    fn new(memory: &Memory) -> Self {
        Self { chunks: Vec::new(), len: 0, memory: memory.clone() }
    }

    /// Appends a state that was reached from the one of this number.
    #[inline]
    fn push(&mut self, parent: u64, form: &[u64]) -> Result<(), Limit> {
        let needed = form.len() + 1;
        let has_room = |chunk: &Chunk| chunk.words.capacity() - chunk.words.len() >= needed;
        if !self.chunks.last().is_some_and(has_room) {
            self.add_chunk(needed)?;
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.words.push(parent << LENGTH_BITS | form.len() as u64);
            chunk.words.extend_from_slice(form);
            self.len += 1;
        }
        Ok(())
    }

    #[cold]
    fn add_chunk(&mut self, needed: usize) -> Result<(), Limit> {
        if needed >> LENGTH_BITS > 0 || self.len >> (u64::BITS - LENGTH_BITS) > 0 {
            return Err(Limit::Memory);
        }
        let words = needed.max(CHUNK);
        self.memory.take(Chunk::bytes(words))?;
        self.chunks.push(Chunk { first: self.len, words: Vec::with_capacity(words) });
        Ok(())
    }

    /// The state at a place before the end: the number of the one it was reached from, and its form. Goes
    /// on to the next place.
    #[inline]
    fn next(&self, at: &mut Cursor) -> (u64, &[u64]) {
        if at.word == self.chunks[at.chunk].words.len() {
            (at.chunk, at.word) = (at.chunk + 1, 0);
        }
        let (parent, form, end) = self.chunks[at.chunk].read(at.word);
        (at.number, at.word) = (at.number + 1, end);
        (parent, form)
    }

    /// The place of a number.
    fn find(&self, number: u64) -> Cursor {
        let chunk = self.chunks.partition_point(|chunk| chunk.first <= number).saturating_sub(1);
        let first = self.chunks.get(chunk).map_or(0, |chunk| chunk.first);
        let mut at = Cursor { number: first, chunk, word: 0 };
        while at.number < number {
            self.next(&mut at);
        }
        at
    }

    /// The number of the state that the one of this number was reached from, and its form.
    fn get(&self, number: u64) -> (u64, &[u64]) {
        self.next(&mut self.find(number))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        for chunk in std::mem::take(&mut self.chunks) {
            self.memory.give_back(Chunk::bytes(chunk.words.capacity()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};
    use std::ops::Range;

    use spinward_machine::{Actor, Footprint};
    use spinward_program::ir::TransitionId;

    use super::*;
    use crate::limits::Limits;
    use crate::outcome::Place;

    /// Some actors with a position and a counter each, which share other counters.
    struct Toy {
        seed: u32,
        /// How far each shared counter goes.
        shared: [u8; 3],
        positions: u8,
        local: u8,
        /// Whether the first actor has the first shared counter for itself.
        apart: bool,
        /// Whether it tells what its moves depend on.
        tells: bool,
    }

    const ACTORS: usize = 3;

    struct Move {
        steps: Vec<Step>,
        end: Result<Vec<u8>, Violation>,
        written: [usize; 3],
    }

    impl Toy {
        fn small(seed: u32) -> Self {
            Self { seed, shared: [5, 3, 4], positions: 2, local: 2, apart: false, tells: true }
        }

        /// A counter that goes on for long, so that again and again other bits change.
        fn large(seed: u32) -> Self {
            Self { seed, shared: [250, 8, 3], positions: 2, local: 2, apart: true, tells: true }
        }

        fn draw(&self, actor: usize, position: u8, index: u32) -> u32 {
            let mix = |hash: u32, by: u32| (hash ^ by).wrapping_mul(0x9e37_79b1).rotate_left(13);
            [actor as u32, position.into(), index, 7].into_iter().fold(self.seed, mix)
        }

        /// Which bytes of a state the moves of an actor depend on, and these moves.
        fn moves(&self, state: &[u8], actor: usize) -> (Vec<usize>, Vec<Move>) {
            let [at, local] = [3 + 2 * actor, 4 + 2 * actor];
            let mut read = vec![at, local];
            let mut moves = Vec::new();
            for index in 0..3 {
                let drawn = self.draw(actor, state[at], index);
                let part = |shift: u32, of: u32| (drawn >> shift) % of;
                let [guard, counter] = [0, 3].map(|shift| match actor {
                    _ if !self.apart => part(shift, 3) as usize,
                    0 => 0,
                    _ => 1 + part(shift, 2) as usize,
                });
                read.extend([guard, counter]);
                if u32::from(state[guard]) % 4 == part(6, 4) {
                    continue;
                }
                let step = |number| Step {
                    process: actor as u16,
                    transition: TransitionId(u32::from(state[at]) << 16 | index << 8 | number),
                };
                let mut steps: Vec<_> = (0..1 + part(9, 3)).map(step).collect();
                let mut next = state.to_vec();
                next[at] = part(12, self.positions.into()) as u8;
                next[local] = (state[local] + 1) % self.local;
                next[counter] = (state[counter] + 1) % self.shared[counter];
                let is_wrong = part(15, 4) == 0 && state[counter] == 2 && state[local] == 1;
                let end = if is_wrong {
                    steps.truncate(2);
                    Err(Violation::Assertion(TransitionId(part(20, 5))))
                } else {
                    Ok(next)
                };
                moves.push(Move { steps, end, written: [at, local, counter] });
            }
            (read, moves)
        }

        /// All moves of a state, in order.
        fn all_moves(&self, state: &[u8]) -> Vec<Move> {
            (0..ACTORS).rev().flat_map(|actor| self.moves(state, actor).1).collect()
        }
    }

    impl System for Toy {
        /// How many states were expanded.
        type Scratch = u64;

        fn scratch(&self) -> u64 {
            0
        }

        fn initial(&self, out: &mut Vec<u8>) {
            out.clear();
            out.extend([0; 3 + 2 * ACTORS]);
        }

        fn expand(&self, state: &[u8], scratch: &mut u64, sink: &mut dyn Sink) -> Flow {
            *scratch += 1;
            let moves = self.all_moves(state);
            if moves.is_empty() {
                sink.violation(Violation::InvalidEndState, &[])?;
            }
            for Move { steps, end, .. } in moves {
                match end {
                    Ok(next) => sink.successor(&next, &steps)?,
                    Err(violation) => sink.violation(violation, &steps)?,
                }
            }
            Flow::Continue(())
        }

        fn has_actors(&self) -> bool {
            true
        }

        fn actors(&self, _: &[u8]) -> usize {
            if self.tells { ACTORS } else { 0 }
        }

        fn position(&self, _: &[u8], actor: usize) -> Range<usize> {
            3 + 2 * actor..4 + 2 * actor
        }

        fn footprint(&self, state: &[u8], actor: usize, _: &mut u64, out: &mut Footprint) -> Actor {
            *out = Footprint::default();
            out.read.resize(state.len(), 0);
            let (read, moves) = self.moves(state, actor);
            read.iter().for_each(|&byte| out.read[byte] = u8::MAX);
            out.order[1].extend(read.iter().map(|&byte| byte as u32));
            for Move { steps, end, written } in moves {
                let Ok(next) = end else {
                    return Actor::Wrong;
                };
                let mut all = vec![0; state.len()];
                written.iter().for_each(|&byte| all[byte] = u8::MAX);
                out.states.extend(next);
                out.written.extend(all);
                out.lengths.push(steps.len() as u32);
            }
            Actor::Known
        }
    }

    /// What there is to find.
    #[derive(Debug, Default, PartialEq)]
    struct Expected {
        states: u64,
        transitions: u64,
        errors: u64,
        /// By error: how often it is met, and the length of a shortest run to it.
        places: BTreeMap<String, (u64, u32)>,
    }

    impl Expected {
        /// Dijkstra's search, as simple as can be.
        fn of(toy: &Toy) -> Self {
            let mut initial = Vec::new();
            toy.initial(&mut initial);
            let mut open = BTreeMap::from([(0, vec![initial])]);
            let mut distances = HashMap::new();
            let mut expected = Self { transitions: 1, ..Self::default() };
            while let Some((distance, states)) = open.pop_first() {
                for state in states {
                    if distances.contains_key(&state) {
                        continue;
                    }
                    expected.states += 1;
                    let moves = toy.all_moves(&state);
                    if moves.is_empty() {
                        expected.meet(Violation::InvalidEndState, distance);
                    }
                    for Move { steps, end, .. } in moves {
                        let length = distance + steps.len() as u32;
                        match end {
                            Ok(next) => {
                                expected.transitions += 1;
                                open.entry(length).or_default().push(next);
                            }
                            Err(violation) => expected.meet(violation, length),
                        }
                    }
                    distances.insert(state, distance);
                }
            }
            expected
        }

        fn meet(&mut self, violation: Violation, length: u32) {
            self.errors += 1;
            let place = self.places.entry(name(violation)).or_insert((0, length));
            *place = (place.0 + 1, place.1.min(length));
        }

        /// What a search found; its runs must lead there.
        fn found(toy: &Toy, outcome: &Outcome) -> Self {
            let Counts { states, transitions, errors, .. } = outcome.counts;
            let places = outcome.errors.iter().map(|found| {
                assert!(found.shortest && leads_to(toy, &found.steps, found.violation));
                (name(found.violation), (found.occurrences, found.steps.len() as u32))
            });
            Self { states, transitions, errors, places: places.collect() }
        }
    }

    fn name(violation: Violation) -> String {
        format!("{:?}", Place::of(violation))
    }

    fn leads_to(toy: &Toy, steps: &[Step], violation: Violation) -> bool {
        let mut state = Vec::new();
        toy.initial(&mut state);
        let mut rest = steps;
        loop {
            let moves = toy.all_moves(&state);
            if moves.is_empty() {
                return rest.is_empty() && violation == Violation::InvalidEndState;
            }
            let taken = moves.into_iter().find(|it| rest.starts_with(&it.steps));
            match taken {
                Some(Move { steps, end: Ok(next), .. }) => {
                    (state, rest) = (next, &rest[steps.len()..]);
                }
                Some(Move { steps, end: Err(wrong), .. }) => {
                    return wrong == violation && rest.len() == steps.len();
                }
                None => return false,
            }
        }
    }

    fn search(toy: &Toy, errors: usize, limits: Limits) -> (Outcome, u64) {
        let mut expansions = 0;
        let request = Request { errors, limits, ..Request::default() };
        (nearest(toy, &mut expansions, &request, &mut |_| {}), expansions)
    }

    #[test]
    fn all_errors_are_found_by_shortest_runs() {
        let mut kinds = 0;
        for toy in (0..40).map(Toy::small).chain([2, 8].map(Toy::large)) {
            let expected = Expected::of(&toy);
            let (outcome, expansions) = search(&toy, 0, Limits::default());
            assert!(outcome.is_complete());
            assert_eq!(Expected::found(&toy, &outcome), expected, "{}", toy.seed);
            assert_eq!(outcome.counts.expanded, expected.states);
            assert!(expansions < expected.states * 3 / 4, "most moves are remembered");
            kinds += expected.places.len();
        }
        assert!(kinds > 100, "{kinds}");
    }

    #[test]
    fn the_first_errors_are_the_shortest() {
        for toy in (0..40).map(Toy::small) {
            let expected = Expected::of(&toy);
            let mut lengths: Vec<_> = expected.places.values().map(|place| place.1).collect();
            lengths.sort_unstable();
            for errors in 1..=lengths.len() {
                let (outcome, _) = search(&toy, errors, Limits::default());
                assert_eq!(outcome.stopped, Some(Stopped::Errors));
                let found = Expected::found(&toy, &outcome);
                let mut found: Vec<_> = found.places.values().map(|place| place.1).collect();
                found.sort_unstable();
                assert_eq!(found, lengths[..errors]);
            }
        }
    }

    #[test]
    fn what_is_remembered_changes_nothing() {
        for toy in (40..50).map(Toy::small) {
            let forgetful = Toy { tells: false, ..toy };
            for (errors, max_states) in [(0, None), (1, None), (2, None), (0, Some(2000))] {
                let limits = || Limits { max_states, ..Limits::default() };
                let (outcome, expansions) = search(&toy, errors, limits());
                let (twin, all) = search(&forgetful, errors, limits());
                let same = Counts { memory: outcome.counts.memory, ..twin.counts };
                assert_eq!(outcome.counts, same);
                assert_eq!(outcome.stopped, twin.stopped);
                let runs = |outcome: &Outcome| {
                    outcome.errors.iter().map(|found| found.steps.clone()).collect::<Vec<_>>()
                };
                assert_eq!(runs(&outcome), runs(&twin));
                assert!(outcome.counts.states < 1500 || expansions < all);
            }
        }
    }

    #[test]
    fn what_was_found_is_not_lost_when_memory_is_used_up() {
        let toy = Toy::large(2);
        let mut found = 0;
        for kilobytes in (100..1000).step_by(7) {
            let limits = Limits { memory: Some(kilobytes << 10), ..Limits::default() };
            let (outcome, _) = search(&toy, 0, limits);
            assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
            for error in &outcome.errors {
                assert!(leads_to(&toy, &error.steps, error.violation));
            }
            found += outcome.errors.len();
        }
        assert!(found > 300, "{found}");
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let toy = Toy::large(1);
        let limits = Limits { memory: Some(3 << 20), ..Limits::default() };
        let (outcome, _) = search(&toy, 0, limits);
        assert_eq!(outcome.stopped, Some(Stopped::Limit(Limit::Memory)));
        assert!(outcome.counts.memory <= 3 << 20);
        assert!(outcome.counts.states > 10_000, "{:?}", outcome.counts);
        let memory = Memory::new(None);
        let request = Request::default();
        let mut progress = |_: &Progress| {};
        let mut watch = Watch::new(&request.limits, &mut progress);
        let mut search = Nearest::new(&toy, &request, &memory);
        search.run(&mut 0, &mut watch).unwrap();
        assert!(search.renewals > 1, "all states were given another form more than once");
        drop(search);
        assert_eq!(memory.used(), 0);
    }
}
