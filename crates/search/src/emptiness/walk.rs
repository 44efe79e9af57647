//! What the checks have in common: a depth-first search in SPIN's order, and the end of it.
//!
//! As in [`crate::dfs`] a state is expanded when the search comes to it, and its successors wait on the stack,
//! the first on top, with what is wrong on the way among them; each check says what is to be done with an edge
//! when it is taken and with a state when it is left. An edge counts when it is taken, so that counts are
//! those of a search that computes one successor at a time.
//!
//! *Invariant*: the entries of the stack marked open are, from the bottom, the states of the current run, and
//! so is `path`.
//!
//! *Cost*: eight bytes and the marks for each successor that waits; four more for each state of the run.

use spinward_machine::{Marks, System, Violation};
use spinward_store::Store;

use super::graph::{Edge, Event, Graph};
use super::lasso::{Evidence, Lasso, goals, lasso};
use super::marked::MarksStack;
use super::nearest::{Hop, Nearest};
use super::shortest::{effort, shortest};
use crate::chunked::Chunked;
use crate::dfs::{Entry, path_bytes};
use crate::findings::{Example, Findings};
use crate::limits::{Limit, Watch, longer};
use crate::outcome::{Found, Outcome, Stopped};
use crate::rebuild::{Goal, Order, follow, rebuild};

/// What is taken from the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Taken {
    /// An edge from the last state of the current run, which is so long with it.
    Edge { to: u32, depth: u32, marks: Marks },
    /// A state that was entered by an edge with these marks, and all of whose edges were taken.
    Left { state: u32, marks: Marks },
}

/// How to find the run to a violation again.
#[derive(Debug)]
enum Way {
    /// Along the stack as it is.
    Stack,
    Path(Vec<Entry>),
    /// By any way to this state, and so many steps on.
    To(u32, u32),
}

/// A search that is under way.
pub(crate) struct Walk<'a, S, T> {
    pub graph: Graph<'a, S, T>,
    stack: Chunked<Entry>,
    /// By entry of the stack: the marks of the edge.
    marks: MarksStack,
    waiting: Chunked<Violation>,
    path: Chunked<u32>,
    findings: Findings<Way>,
    /// The length of the run to the state expanded last.
    depth: u32,
}

impl<'a, S: System, T: Store> Walk<'a, S, T> {
    pub fn new(graph: Graph<'a, S, T>) -> Self {
        let sets = graph.system.sets().unwrap_or(0) + 2 * graph.system.pairs();
        Self {
            graph,
            stack: Chunked::new(),
            marks: MarksStack::new(sets),
            waiting: Chunked::new(),
            path: Chunked::new(),
            findings: Findings::new(),
            depth: 0,
        }
    }

    /// Begins with an edge to the initial state.
    pub fn begin(&mut self) -> Result<(), Limit> {
        let state = self.graph.initial()?;
        self.push(Entry { state, depth: 0 }, Marks::default())
    }

    /// Takes the next edge, or leaves the last state of the current run. What is wrong on the way is noted.
    pub fn next(&mut self) -> Result<Option<Taken>, Stopped> {
        while let Some(entry) = self.stack.pop() {
            let marks = self.marks.pop();
            if entry.is_open() {
                self.path.pop();
                return Ok(Some(Taken::Left { state: entry.state, marks }));
            }
            if entry.state == Entry::VIOLATION {
                if let Some(violation) = self.waiting.pop() {
                    self.meet(violation, entry.length(), None)?;
                }
                continue;
            }
            self.graph.counts.transitions += 1;
            return Ok(Some(Taken::Edge { to: entry.state, depth: entry.length(), marks }));
        }
        Ok(None)
    }

    /// Enters a state after a run of this length, by an edge with these marks, and expands it; its successors
    /// are not on the stack yet.
    pub fn open(
        &mut self,
        state: u32,
        depth: u32,
        marks: Marks,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        self.count(depth, watch)?;
        self.push(Entry { state, depth }.open(), marks)?;
        self.path.push(state, &self.graph.memory)?;
        self.graph.expand(state, scratch)
    }

    /// The same with a state that was expanded before, by another search: it does not count, and what is wrong
    /// there was met.
    pub fn open_again(
        &mut self,
        state: u32,
        depth: u32,
        marks: Marks,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        watch.tick(&self.graph.counts, depth, &self.graph.memory)?;
        self.depth = depth;
        self.push(Entry { state, depth }.open(), marks)?;
        self.path.push(state, &self.graph.memory)?;
        let expanded = self.graph.expand(state, scratch);
        self.graph.events.with_room(0)?.retain(|event| matches!(event, Event::Edge(_)));
        expanded
    }

    /// Expands a state that was not before; what comes of it is not on the stack yet.
    pub fn expand(
        &mut self,
        state: u32,
        depth: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        self.count(depth, watch)?;
        self.graph.expand(state, scratch)
    }

    /// Counts a state that is visited.
    fn count(&mut self, depth: u32, watch: &mut Watch<'_>) -> Result<(), Limit> {
        let Graph { counts, memory, request, .. } = &mut self.graph;
        watch.tick(counts, depth, memory)?;
        if counts.states >= request.limits.max_states.unwrap_or(u64::MAX) {
            return Err(Limit::States);
        }
        counts.states += 1;
        counts.depth = counts.depth.max(depth.into());
        self.depth = depth;
        Ok(())
    }

    /// Puts what is wrong and those edges that are wanted on the stack, the first on top; what there is no
    /// room for stays.
    pub fn push_events(&mut self, wanted: impl Fn(Edge) -> bool) -> Result<(), Limit> {
        while let Some(&event) = self.graph.events.last() {
            match event {
                Event::Edge(edge) => {
                    let depth = longer(self.depth, edge.length as usize);
                    if edge.length > 1 {
                        // SPIN enters the states inside of an atomic sequence even if its end is known.
                        let counts = &mut self.graph.counts;
                        counts.depth = counts.depth.max(u64::from(depth) - 1);
                    }
                    if wanted(edge) {
                        self.push(Entry { state: edge.to, depth }, edge.marks)?;
                    }
                }
                Event::Violation(violation, length) => {
                    self.waiting.push(violation, &self.graph.memory)?;
                    let depth = longer(self.depth, length as usize);
                    let entry = Entry { state: Entry::VIOLATION, depth };
                    let pushed = self.push(entry, Marks::default());
                    pushed.inspect_err(|_| {
                        self.waiting.pop();
                    })?;
                }
            }
            self.graph.events.pop();
        }
        Ok(())
    }

    /// Notes what is wrong in the state expanded last, of which only the number is known.
    pub fn meet_at(&mut self, state: u32) -> Result<(), Stopped> {
        let mut stop = Ok(());
        for index in 0..self.graph.events.len() {
            if let Event::Violation(violation, length) = self.graph.events[index]
                && stop.is_ok()
            {
                let total = longer(self.depth, length as usize);
                stop = self.meet(violation, total, Some(Way::To(state, length)));
            }
        }
        self.graph.events.with_room(0)?.retain(|event| matches!(event, Event::Edge(_)));
        stop
    }

    fn push(&mut self, entry: Entry, marks: Marks) -> Result<(), Limit> {
        self.stack.push(entry, &self.graph.memory)?;
        self.marks.push(marks, &self.graph.memory).inspect_err(|_| {
            self.stack.pop();
        })
    }

    /// The last state of the current run.
    pub fn top(&self) -> Option<u32> {
        let last = self.path.len().checked_sub(1)?;
        Some(self.path.get(last))
    }

    /// How many states the current run has.
    pub fn run_length(&self) -> usize {
        self.path.len()
    }

    /// How many entries the stack has.
    pub fn entries(&self) -> usize {
        self.stack.len()
    }

    /// The state that an entry leads to, and its marks.
    pub fn entry(&self, index: usize) -> (u32, Marks) {
        (self.stack.get(index).state, self.marks.get(index))
    }

    /// Puts an entry in the place of another.
    pub fn move_entry(&mut self, from: usize, to: usize) {
        self.stack.set(to, self.stack.get(from));
        self.marks.set(to, self.marks.get(from));
    }

    /// Takes the topmost entries away.
    pub fn drop_entries(&mut self, left: usize) {
        while self.stack.len() > left {
            self.stack.pop();
            self.marks.pop();
        }
    }

    /// Meets a violation; the run to it is the stack, if not told otherwise.
    fn meet(&mut self, violation: Violation, length: u32, way: Option<Way>) -> Result<(), Stopped> {
        self.graph.counts.errors += 1;
        let mut stop = Ok(());
        if self.findings.known(violation).is_none() {
            let last = self.findings.len() + 1 == self.graph.request.errors;
            if last {
                stop = Err(Stopped::Errors);
            }
            let way = match way {
                Some(way) => way,
                // A run that ends the search needs no copy of the stack.
                None if last => Way::Stack,
                None => match self.run() {
                    Ok(path) => Way::Path(path),
                    Err(limit) => {
                        stop = Err(Stopped::Limit(limit));
                        Way::Stack
                    }
                },
            };
            self.findings.add(violation, length, way);
        }
        if let Some(example) = self.findings.known(violation) {
            example.occurrences += 1;
        }
        stop
    }

    /// The entered states of the stack.
    fn run(&self) -> Result<Vec<Entry>, Limit> {
        self.graph.memory.take(path_bytes(self.path.len()))?;
        let mut path = Vec::with_capacity(self.path.len());
        path.extend(self.stack.iter().filter(|entry| entry.is_open()));
        Ok(path)
    }

    /// Meets the violations that still wait when a limit ends the search: they were found, though in the order
    /// of the search they would come later.
    fn meet_waiting(&mut self) -> Result<(), Stopped> {
        // The stack may still be needed.
        let needed = self.findings.examples().any(|it| matches!(it.path, Way::Stack));
        let errors = self.graph.request.errors;
        let enough = |it: &Self| errors > 0 && it.findings.len() >= errors;
        for index in 0..self.graph.events.len() {
            // There may have been no memory to put the last ones on the stack.
            if let Event::Violation(violation, length) = self.graph.events[index]
                && !needed
                && !enough(self)
            {
                self.meet(violation, longer(self.depth, length as usize), None)?;
            }
        }
        while !needed
            && !enough(self)
            && let Some(entry) = self.stack.pop()
        {
            if entry.state == Entry::VIOLATION
                && let Some(violation) = self.waiting.pop()
            {
                self.meet(violation, entry.length(), None)?;
            }
        }
        Ok(())
    }

    /// Makes what was found independent of the stack.
    pub fn settle(&mut self) {
        for example in self.findings.examples_mut() {
            if let Way::Stack = example.path {
                let open = self.stack.iter().filter(|entry| entry.is_open());
                example.path = Way::Path(open.collect());
            }
        }
    }

    /// Takes over what another search has found in the same store.
    pub fn absorb(&mut self, mut other: Self, ended: bool) {
        if ended {
            let _ = other.meet_waiting();
            other.settle();
        }
        let errors = self.graph.request.errors;
        for example in other.findings.into_examples() {
            let room = errors == 0 || self.findings.len() < errors;
            if room && self.findings.known(example.violation).is_none() {
                self.findings.add(example.violation, example.length, example.path);
            }
            if let Some(known) = self.findings.known(example.violation) {
                known.occurrences += example.occurrences;
            }
        }
        let (ours, theirs) = (&mut self.graph.counts, other.graph.counts);
        ours.states += theirs.states;
        ours.transitions += theirs.transitions;
        ours.expanded += theirs.expanded;
        ours.errors += theirs.errors;
        ours.depth = ours.depth.max(theirs.depth);
        ours.state_bytes = ours.state_bytes.max(theirs.state_bytes);
    }

    /// Ends the search: with a cycle if there is evidence of one. What it knows of the states `seen` is used
    /// to find runs again.
    pub fn conclude(
        mut self,
        scratch: &mut S::Scratch,
        mut watch: Watch<'_>,
        ended: Result<Option<Evidence<'_>>, Stopped>,
        seen: &dyn Fn(u32) -> bool,
    ) -> Outcome {
        let mut counts = self.graph.counts;
        let mut cycle = None;
        let mut met = 0;
        let mut stopped = None;
        match ended {
            Ok(None) => drop(watch),
            Ok(Some(evidence)) => {
                counts.errors += 1;
                self.release();
                let first = lasso(&mut self.graph, scratch, seen, evidence);
                let run = match first {
                    Ok(run) => {
                        let best = run.map(|run| self.shorten(run, scratch, &mut watch));
                        drop(watch);
                        Ok(best)
                    }
                    Err(Limit::Time | Limit::Interrupt) => {
                        // What was found shall be shown.
                        drop(watch);
                        let limits = &self.graph.request.limits;
                        let again = || lasso(&mut self.graph, scratch, seen, evidence);
                        limits.undisturbed(again).map(|run| run.map(|run| (run, false)))
                    }
                    Err(limit) => Err(limit),
                };
                stopped = Some(Stopped::Errors);
                match run {
                    Ok(run) => cycle = run,
                    Err(limit) => {
                        met = 1;
                        stopped = Some(Stopped::Limit(limit));
                    }
                }
            }
            Err(reason) => {
                drop(watch);
                stopped = Some(reason);
                if let Stopped::Limit(_) = reason {
                    // Not `?`: that the limit ended the search stays true.
                    let _ = self.meet_waiting();
                    counts.errors = self.graph.counts.errors;
                }
            }
        }
        let limits = &self.graph.request.limits;
        let (errors, lost) = limits.undisturbed(|| self.runs(scratch, seen, cycle));
        counts.memory = self.graph.memory.peak();
        Outcome { errors, met: met + lost, counts, stopped, truncated: false }
    }

    /// A shorter run to a cycle and round it, if one can be found; whether it is a shortest, as
    /// asked for.
    fn shorten(
        &mut self,
        run: Lasso,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> (Lasso, bool) {
        let system = self.graph.system;
        if system.pairs() > 0 {
            return (run, false);
        }
        let effort = effort(self.graph.request, self.graph.counts.states);
        match shortest(&mut self.graph, scratch, watch, run.length(), effort) {
            Ok((shorter, is_shortest)) => {
                (shorter.unwrap_or(run), is_shortest && self.graph.request.shortest)
            }
            Err(_) => (run, false),
        }
    }

    /// Gives back what only the search needs.
    fn release(&mut self) {
        self.stack.release(&self.graph.memory);
        self.marks.release(&self.graph.memory);
        self.waiting.release(&self.graph.memory);
        self.path.release(&self.graph.memory);
    }

    /// The runs to all errors, and how often one was met of which there is none.
    fn runs(
        &mut self,
        scratch: &mut S::Scratch,
        seen: &dyn Fn(u32) -> bool,
        cycle: Option<(Lasso, bool)>,
    ) -> (Vec<Found>, u64) {
        let findings = std::mem::replace(&mut self.findings, Findings::new());
        let (mut errors, mut lost) = (Vec::new(), 0);
        let mut nearest = Nearest::new();
        for example in findings.into_examples() {
            let Example { violation, length, occurrences, path } = example;
            let entries = match path {
                Way::Stack => self.stack.iter().filter(|entry| entry.is_open()).collect(),
                Way::Path(path) => path,
                Way::To(state, more) => {
                    let way = to_state(&mut self.graph, scratch, seen, &mut nearest, state);
                    let Some(way) = way else {
                        lost += occurrences;
                        continue;
                    };
                    let total = way.iter().fold(0, |total, hop| longer(total, hop.length as usize));
                    let end = Goal::Violation(violation, longer(total, more as usize));
                    let system = self.graph.system;
                    let goals = goals(&mut self.graph, way.iter()).chain([end]);
                    let steps = follow(system, scratch, goals, Order::Whole, false).steps;
                    errors.push(Found {
                        violation,
                        steps,
                        cycle: None,
                        occurrences,
                        shortest: false,
                    });
                    continue;
                }
            };
            let system = self.graph.system;
            let path = entries.iter().map(|entry| (self.graph.key(entry.state), entry.length()));
            let steps = rebuild(system, scratch, path, violation, length, false).steps;
            errors.push(Found { violation, steps, cycle: None, occurrences, shortest: false });
        }
        if let Some((lasso, shortest)) = cycle {
            errors.push(lasso.found(&mut self.graph, scratch, shortest));
        }
        (errors, lost)
    }
}

/// A short way to a state, over states that were seen.
fn to_state<S: System, T: Store>(
    graph: &mut Graph<'_, S, T>,
    scratch: &mut S::Scratch,
    seen: &dyn Fn(u32) -> bool,
    nearest: &mut Nearest,
    state: u32,
) -> Option<Vec<Hop>> {
    if state == 0 {
        return Some(Vec::new());
    }
    nearest.search(graph, scratch, 0, seen, &|edge| edge.to == state).ok().flatten()
}
