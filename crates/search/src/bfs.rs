//! Breadth-first search by the length of runs.
//!
//! Holzmann, *The SPIN Model Checker*, figure 8.6, made to count steps as the user sees them: an
//! atomic sequence is one transition but many steps, so states wait in buckets by the length of the
//! shortest run to them known so far (Dial, *Algorithm 360*, 1969), and the buckets are emptied in
//! order.
//!
//! *Invariant*: when a state is expanded, no run to it is shorter than its distance; so each state
//! is expanded once, and an error at most as long as the current bucket's runs has no shorter run.
//! An error inside of an atomic sequence may lie further ahead, so the search goes on until nothing
//! shorter can come.
//!
//! *Cost*: a distance and a parent for each state besides its key, and four bytes in a bucket.

use std::collections::BTreeMap;

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};

use crate::chunked::{Chunked, Queue};
use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, Memory, Watch, bound, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::rebuild;
use crate::visited::Visited;

/// Searches breadth-first; the runs to all errors are shortest ones.
pub fn bfs<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let mut search = Bfs::new(system, request);
    let mut watch = Watch::new(&request.limits, progress);
    let stopped = search.run(scratch, &mut watch).err();
    drop(watch);
    request.limits.undisturbed(|| search.finish(scratch, stopped))
}

struct Bfs<'a, S: System> {
    system: &'a S,
    request: &'a Request,
    memory: Memory,
    counts: Counts,
    visited: Visited,
    /// By state: the length of the shortest run known to it.
    distance: Chunked<u32>,
    /// By state: the last state before it on that run.
    parent: Chunked<u32>,
    /// By state: what is not part of its key, as that run leaves it.
    hidden: Chunked<u8>,
    /// How many bytes that is.
    hidden_bytes: usize,
    /// States that wait, by distance. A state that was found to be nearer also stays where it was.
    buckets: BTreeMap<u32, Queue<u32>>,
    /// The distance of the states being expanded.
    level: u32,
    /// Longer runs are not looked at.
    bound: u32,
    /// Whether a violation was met beyond the bound.
    beyond: bool,
    /// The state where each shows.
    findings: Findings<u32>,
}

impl<'a, S: System> Bfs<'a, S> {
    fn new(system: &'a S, request: &'a Request) -> Self {
        Self {
            system,
            request,
            memory: Memory::new(request.limits.memory),
            counts: Counts::default(),
            visited: Visited::new(),
            distance: Chunked::new(),
            parent: Chunked::new(),
            hidden: Chunked::new(),
            hidden_bytes: 0,
            buckets: BTreeMap::new(),
            level: 0,
            bound: bound(&request.limits),
            beyond: false,
            findings: Findings::new(),
        }
    }

    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let mut state = Vec::new();
        self.system.initial(&mut state);
        self.hidden_bytes = state.len() - self.system.key(&state).len();
        self.counts.transitions = 1;
        self.reach(&state, 0, 0).map_err(Stopped::Limit)?;

        while let Some((level, mut bucket)) = self.buckets.pop_first() {
            self.level = level;
            self.check_errors()?;
            while let Some(number) = bucket.pop(&mut self.memory) {
                if self.distance.get(number as usize) != level {
                    continue;
                }
                let known = self.findings.len();
                self.expand(number, &mut state, scratch, watch).map_err(Stopped::Limit)?;
                if self.findings.len() > known {
                    self.check_errors()?;
                }
            }
        }
        Ok(())
    }

    /// Whether as many errors were found as were asked for, and none shorter can come.
    fn check_errors(&self) -> Result<(), Stopped> {
        let errors = self.request.errors;
        if errors > 0 && self.findings.within(self.level) >= errors {
            return Err(Stopped::Errors);
        }
        Ok(())
    }

    fn expand(
        &mut self,
        number: u32,
        state: &mut Vec<u8>,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        watch.tick(&self.counts, self.level, &self.memory)?;
        self.counts.depth = self.level.into();
        state.clear();
        let hidden = number as usize * self.hidden_bytes;
        state.extend((hidden..hidden + self.hidden_bytes).map(|index| self.hidden.get(index)));
        state.extend_from_slice(self.visited.key(number));
        let system = self.system;
        let mut expansion = Expansion { search: self, number, limit: None };
        let flow = system.expand(state, scratch, &mut expansion);
        watch.broken_off(expansion.limit, flow)?;
        self.counts.expanded += 1;
        Ok(())
    }

    /// A run of this length leads to a state, by way of `parent`.
    fn reach(&mut self, state: &[u8], distance: u32, parent: u32) -> Result<(), Limit> {
        let key = self.system.key(state);
        let (number, new) = self.visited.insert(key, &mut self.memory)?;
        let index = number as usize;
        let hidden = &state[..state.len() - key.len()];
        let was_within = if new {
            self.distance.push(distance, &mut self.memory)?;
            self.parent.push(parent, &mut self.memory)?;
            for &byte in hidden {
                self.hidden.push(byte, &mut self.memory)?;
            }
            self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
            false
        } else {
            let before = self.distance.get(index);
            if distance >= before {
                return Ok(());
            }
            self.distance.set(index, distance);
            self.parent.set(index, parent);
            for (offset, &byte) in hidden.iter().enumerate() {
                self.hidden.set(index * self.hidden_bytes + offset, byte);
            }
            before <= self.bound
        };
        if distance > self.bound {
            return Ok(());
        }
        if !was_within {
            if self.counts.states >= self.request.limits.max_states.unwrap_or(u64::MAX) {
                return Err(Limit::States);
            }
            self.counts.states += 1;
        }
        self.buckets.entry(distance).or_insert_with(Queue::new).push(number, &mut self.memory)
    }

    fn finish(mut self, scratch: &mut S::Scratch, stopped: Option<Stopped>) -> Outcome {
        let all = stopped.is_none();
        let truncated = all && (self.beyond || self.counts.states < self.visited.len() as u64);
        self.counts.memory = self.memory.peak();
        let keys = self.visited.into_keys();
        let mut examples = self.findings.into_examples();
        keep_shortest(&mut examples, self.request.errors);
        let errors = examples
            .into_iter()
            .map(|example| {
                let mut path = vec![example.path];
                let mut at = example.path;
                while at != 0 {
                    at = self.parent.get(at as usize);
                    path.push(at);
                }
                let path = path
                    .iter()
                    .rev()
                    .map(|&number| (keys.key(number), self.distance.get(number as usize)));
                let run =
                    rebuild(self.system, scratch, path, example.violation, example.length, false);
                Found {
                    violation: example.violation,
                    steps: run.steps,
                    occurrences: example.occurrences,
                    shortest: all || example.length <= self.level,
                }
            })
            .collect();
        Outcome { errors, counts: self.counts, stopped, truncated }
    }
}

/// Takes the successors of one state.
struct Expansion<'e, 'a, S: System> {
    search: &'e mut Bfs<'a, S>,
    number: u32,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<S: System> Sink for Expansion<'_, '_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.search.counts.transitions += 1;
        let distance = longer(self.search.level, length(steps));
        unless_hit(self.search.reach(state, distance, self.number), &mut self.limit)
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let search = &mut *self.search;
        let total = longer(search.level, length(steps));
        if total > search.bound {
            search.beyond = true;
            return Flow::Continue(());
        }
        search.counts.errors += 1;
        match search.findings.known(violation) {
            Some(example) if example.length <= total => {}
            Some(example) => {
                example.violation = violation;
                example.length = total;
                example.path = self.number;
            }
            None => search.findings.add(violation, total, self.number),
        }
        if let Some(example) = search.findings.known(violation) {
            example.occurrences += 1;
        }
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        unless_hit(self.search.memory.lend(bytes as u64), &mut self.limit)
    }
}
