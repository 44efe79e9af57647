//! Depth-first search that remembers only the run it is on.
//!
//! Holzmann, *The SPIN Model Checker*, figure 8.5. Memory is that of one run and of the successors
//! that wait along it; a state is visited once for each way to it that meets no state twice, so this
//! is for models that branch little, or for a bound on the depth. Each visit counts as a state.
//!
//! *Invariant*: as in [`crate::dfs`], the open entries of the stack are the current run; `on_run`
//! holds exactly their keys.

use std::collections::HashSet;

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};

use crate::findings::{Findings, keep_shortest};
use crate::limits::{Limit, Memory, Watch, bound, longer, unless_hit};
use crate::outcome::{Counts, Found, Outcome, Progress, Request, Stopped};
use crate::rebuild::rebuild;

/// Searches depth-first, with no memory of what is not on the current run.
pub fn stateless<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let mut search = Stateless {
        system,
        request,
        memory: Memory::new(request.limits.memory),
        counts: Counts::default(),
        stack: Vec::new(),
        on_run: HashSet::new(),
        bound: bound(&request.limits),
        truncated: false,
        findings: Findings::new(),
    };
    let mut watch = Watch::new(&request.limits, progress);
    let mut stopped = search.run(scratch, &mut watch).err();
    drop(watch);
    if let Some(Stopped::Limit(_)) = stopped {
        search.report_waiting(scratch);
    } else if search.shortens() && search.findings.len() > 0 {
        stopped = Some(Stopped::Errors);
    }
    search.finish(stopped)
}

#[derive(Debug)]
enum Entry {
    /// A state that waits, and the length of the run to it.
    Waiting(Box<[u8]>, u32),
    /// A state of the current run.
    Open(Box<[u8]>, u32),
    /// A violation that waits, and the length of the run to it.
    Violation(Violation, u32),
}

struct Stateless<'a, S: System> {
    system: &'a S,
    request: &'a Request,
    memory: Memory,
    counts: Counts,
    stack: Vec<Entry>,
    on_run: HashSet<Box<[u8]>>,
    /// Longer runs are not looked at.
    bound: u32,
    truncated: bool,
    findings: Findings<Vec<Step>>,
}

/// What a state on the stack costs, at most: itself, its key in the set, and its share of a stack
/// and a set that may just have doubled.
fn cost(state: &[u8]) -> u64 {
    (2 * state.len() + 3 * size_of::<Entry>() + 3 * size_of::<Box<[u8]>>() + 64) as u64
}

impl<S: System> Stateless<'_, S> {
    /// Whether each error found lowers the bound.
    fn shortens(&self) -> bool {
        self.request.shortest && self.request.errors == 1
    }

    fn run(&mut self, scratch: &mut S::Scratch, watch: &mut Watch<'_>) -> Result<(), Stopped> {
        let mut state = Vec::new();
        self.system.initial(&mut state);
        self.counts.transitions = 1;
        self.memory.take(cost(&state)).map_err(Stopped::Limit)?;
        self.stack.push(Entry::Waiting(state.into(), 0));
        while let Some(entry) = self.stack.pop() {
            match entry {
                Entry::Open(state, _) => {
                    self.on_run.remove(self.system.key(&state));
                    self.memory.give_back(cost(&state));
                }
                Entry::Violation(violation, length) => self.report(violation, length, scratch)?,
                Entry::Waiting(state, length) => {
                    self.visit(state, length, scratch, watch).map_err(Stopped::Limit)?
                }
            }
        }
        Ok(())
    }

    fn visit(
        &mut self,
        state: Box<[u8]>,
        length: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        if length > self.bound {
            // The bound was lowered since.
            self.memory.give_back(cost(&state));
            return Ok(());
        }
        watch.tick(&self.counts, length, &self.memory)?;
        if self.counts.states >= self.request.limits.max_states.unwrap_or(u64::MAX) {
            return Err(Limit::States);
        }
        self.counts.states += 1;
        self.counts.depth = self.counts.depth.max(length.into());
        self.counts.state_bytes = self.counts.state_bytes.max(state.len() as u64);
        self.on_run.insert(self.system.key(&state).into());

        let mut expansion = Expansion {
            system: self.system,
            memory: &self.memory,
            on_run: &self.on_run,
            bound: self.bound,
            length,
            fresh: Vec::new(),
            transitions: 0,
            truncated: false,
            limit: None,
        };
        let flow = self.system.expand(&state, scratch, &mut expansion);
        let Expansion { fresh, transitions, truncated, limit, .. } = expansion;
        self.counts.transitions += transitions;
        self.truncated |= truncated;
        self.stack.push(Entry::Open(state, length));
        self.stack.extend(fresh.into_iter().rev());
        watch.broken_off(limit, flow)?;
        self.counts.expanded += 1;
        Ok(())
    }

    /// Meets a violation; the run to it is the stack.
    fn report(
        &mut self,
        violation: Violation,
        length: u32,
        scratch: &mut S::Scratch,
    ) -> Result<(), Stopped> {
        if length > self.bound {
            return Ok(());
        }
        self.counts.errors += 1;
        let wanted = match self.findings.known(violation) {
            Some(example) => self.request.shortest && length < example.length,
            None => true,
        };
        if wanted {
            let steps = self.steps(violation, length, scratch);
            match self.findings.known(violation) {
                Some(example) => {
                    example.violation = violation;
                    example.length = length;
                    example.path = steps;
                }
                None => self.findings.add(violation, length, steps),
            }
        }
        if let Some(example) = self.findings.known(violation) {
            example.occurrences += 1;
        }
        if self.shortens() {
            self.bound = length.checked_sub(1).ok_or(Stopped::Errors)?;
        }
        if !self.request.shortest && self.findings.len() == self.request.errors {
            return Err(Stopped::Errors);
        }
        Ok(())
    }

    /// The steps of the current run and those that lead to a violation.
    fn steps(&self, violation: Violation, length: u32, scratch: &mut S::Scratch) -> Vec<Step> {
        let path = self.stack.iter().filter_map(|entry| match entry {
            Entry::Open(state, length) => Some((self.system.key(state).to_vec(), *length)),
            _ => None,
        });
        self.request
            .limits
            .undisturbed(|| rebuild(self.system, scratch, path, violation, length, false).steps)
    }

    /// Meets the violations that still wait when a limit ends the search.
    fn report_waiting(&mut self, scratch: &mut S::Scratch) {
        let errors = self.request.errors;
        while errors == 0 || self.findings.len() < errors {
            let Some(entry) = self.stack.pop() else { break };
            if let Entry::Violation(violation, length) = entry
                && self.report(violation, length, scratch).is_err()
            {
                break;
            }
        }
    }

    fn finish(mut self, stopped: Option<Stopped>) -> Outcome {
        self.counts.memory = self.memory.peak();
        let mut examples = self.findings.into_examples();
        if self.request.shortest {
            keep_shortest(&mut examples, self.request.errors);
        }
        let shortest = self.request.shortest && !matches!(stopped, Some(Stopped::Limit(_)));
        Outcome {
            errors: examples
                .into_iter()
                .map(|example| Found {
                    violation: example.violation,
                    steps: example.path,
                    occurrences: example.occurrences,
                    shortest,
                })
                .collect(),
            counts: self.counts,
            truncated: stopped.is_none() && self.truncated,
            stopped,
        }
    }
}

/// Takes the successors of one state.
struct Expansion<'e, S> {
    system: &'e S,
    memory: &'e Memory,
    on_run: &'e HashSet<Box<[u8]>>,
    bound: u32,
    length: u32,
    fresh: Vec<Entry>,
    transitions: u64,
    truncated: bool,
    /// What broke the expansion off.
    limit: Option<Limit>,
}

impl<S: System> Sink for Expansion<'_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.transitions += 1;
        let length = longer(self.length, length(steps));
        if self.on_run.contains(self.system.key(state)) {
            return Flow::Continue(());
        }
        if length > self.bound {
            self.truncated = true;
            return Flow::Continue(());
        }
        if let Err(limit) = self.memory.take(cost(state)) {
            self.limit = Some(limit);
            return Flow::Break(());
        }
        self.fresh.push(Entry::Waiting(state.into(), length));
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let length = longer(self.length, length(steps));
        if length > self.bound {
            self.truncated = true;
        } else {
            self.fresh.push(Entry::Violation(violation, length));
        }
        Flow::Continue(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        let fresh = self.fresh.capacity() * size_of::<Entry>();
        unless_hit(self.memory.lend((bytes + fresh) as u64), &mut self.limit)
    }
}
