//! Nested depth-first searches that help each other, for one set.
//!
//! *Idea* (Evangelista, Laarman, Petrucci, van de Pol, *Improved multi-core nested depth-first search*, ATVA
//! 2012): each thread makes a nested depth-first search of its own, in another order than the others. States
//! that one has left are blue for all, and no first search enters them; states that a second search has come to
//! are red for all, once it is over, and no second search does. As others may have left a state early, a
//! second search may come to marked states that were not searched from yet; before its states
//! become red it waits until those are, which some other thread is about to see to. So the answer is that of
//! one search, and no order is forced upon the threads.
//!
//! The proof there is for marks on states; so the system is made one in which a state knows whether the edge to
//! it was marked.
//!
//! What is wrong in a state is met by the first thread that visits it, and its edges count then; so counts of a
//! complete search do not depend on the threads. If there is an error, [`super::scc`] tells which one, so that the
//! answer is the same for any number of threads. They work on one store, of which only keys can be shared; if
//! states have more than that, or a shortest run is asked for, [`super::scc`] does it alone.
//!
//! *Cost*: a state may be entered by each thread. Nothing is blue before it is left: where there are many
//! components, the threads divide the work; where there is one large one, each does nearly all of it, and several
//! take no less time than one. Three bits for each state, and two for each thread; up to twice as many states
//! as there are.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use spinward_machine::{Marks, System};
use spinward_store::{Flags, Full, Set, Store, Worker};

use super::degeneralized::Degeneralized;
use super::graph::{Edge, Event, Graph};
use super::lasso::Evidence;
use super::ndfs::is_marked;
use super::scc::scc;
use super::second::{Next, Second};
use super::walk::{Taken, Walk};
use crate::chunked::{Bits, Chunked};
use crate::limits::{Clock, Limit, Limits, Memory, Watch};
use crate::outcome::{Outcome, Progress, Request, Stopped};
use crate::start::{Algorithm, Start};

/// Checks by nested depth-first searches of several threads.
pub fn parallel<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    request: &Request,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let mut initial = Vec::new();
    system.initial(&mut initial);
    if request.shortest || system.key(&initial).len() < initial.len() {
        return scc(system, scratch, request, progress);
    }
    let began = Instant::now();
    let start = Start { system: &Degeneralized::on_states(system), scratch, request, progress };
    let outcome = start.run(Parallel);
    if outcome.errors.is_empty() {
        return outcome;
    }
    // Which error a thread comes to first is a matter of chance.
    let alone = scc(system, scratch, &request.later(began.elapsed()), progress);
    if alone.errors.is_empty() { outcome } else { alone }
}

/// Names the search.
struct Parallel;

impl Algorithm for Parallel {
    fn search<S: System, T: Store>(
        self,
        start: Start<'_, S>,
        store: T,
        memory: Memory,
    ) -> Result<Outcome, Full> {
        let Start { system, scratch, request, progress } = start;
        let watch = Watch::new(&request.limits, progress);
        let common = Common {
            system,
            store: &store,
            clock: watch.clock(),
            visited: Flags::new(memory.budget())?,
            blue: Flags::new(memory.budget())?,
            red: Flags::new(memory.budget())?,
            states: AtomicU64::new(0),
            most: request.limits.max_states.unwrap_or(u64::MAX),
            end: Mutex::new(None),
            told: AtomicBool::new(false),
            memory,
            limits: &request.limits,
        };
        // What is counted by all threads together is not a limit of each.
        let limits = Limits { max_states: None, ..request.limits.clone() };
        let request = &Request { limits, ..request.clone() };
        Ok(common.run(request, scratch, watch))
    }
}

/// A store that others use, too.
struct Borrowed<'a, T>(&'a T);

impl<T: Set> Set for Borrowed<'_, T> {
    fn prepare(&self, key: &[u8], worker: &mut Worker) -> Result<u64, Full> {
        self.0.prepare(key, worker)
    }

    fn prefetch(&self, prepared: u64) {
        self.0.prefetch(prepared);
    }

    fn prefetch_key(&self, prepared: u64) {
        self.0.prefetch_key(prepared);
    }

    fn len(&self) -> u64 {
        self.0.len()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

impl<T: Store> Store for Borrowed<'_, T> {
    fn insert(&self, key: &[u8], prepared: u64, worker: &mut Worker) -> Result<(u32, bool), Full> {
        self.0.insert(key, prepared, worker)
    }

    fn get(&self, id: u32, out: &mut Vec<u8>, worker: &mut Worker) {
        self.0.get(id, out, worker);
    }
}

/// What ends all searches.
#[derive(Clone, Copy, Debug)]
enum End {
    /// A cycle can be reached from this state.
    Cycle(u32),
    Stopped(Stopped),
}

/// What the threads share.
struct Common<'a, S, T> {
    system: &'a S,
    store: &'a T,
    memory: Memory,
    clock: Clock<'a>,
    limits: &'a Limits,
    visited: Flags,
    blue: Flags,
    red: Flags,
    /// How many states were visited, and how many may be.
    states: AtomicU64,
    most: u64,
    /// The first reason to end.
    end: Mutex<Option<End>>,
    /// Whether the others were told to give up.
    told: AtomicBool,
}

impl<S: System, T: Store> Common<'_, S, T> {
    fn run(&self, request: &Request, scratch: &mut S::Scratch, mut watch: Watch<'_>) -> Outcome {
        let mut walk = self.walk(request);
        if let Err(limit) = walk.begin() {
            return walk.conclude(scratch, watch, Err(limit.into()), &|_| false);
        }
        let mut walk = std::thread::scope(|scope| {
            let spawn = |number| {
                let search = move || {
                    let mut room = self.system.scratch();
                    // The first thread looks at the clock for all.
                    let limits = Limits { time: None, ..request.limits.clone() };
                    let mut progress = |_: &Progress| {};
                    let mut watch = Watch::new(&limits, &mut progress);
                    let mut walk = self.walk(request);
                    if let Err(limit) = walk.begin() {
                        self.finish(End::Stopped(limit.into()));
                        return (walk, room);
                    }
                    (self.search(walk, number, &mut room, &mut watch), room)
                };
                // With fewer threads it takes longer.
                std::thread::Builder::new().name("check".into()).spawn_scoped(scope, search).ok()
            };
            let others: Vec<_> = (1..request.threads as u64).filter_map(spawn).collect();
            let mut walk = self.search(walk, 0, scratch, &mut watch);
            for other in others {
                match other.join() {
                    Ok((other, room)) => {
                        walk.absorb(other, self.is_limited());
                        self.system.absorb(scratch, room);
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            walk
        });
        // The edge to the initial state.
        walk.graph.counts.transitions += 1;
        if self.told.load(Ordering::Relaxed) {
            self.limits.stop.take_back();
        }
        let ended = match *self.lock() {
            None => Ok(None),
            Some(End::Cycle(state)) => Ok(Some(Evidence::From(state))),
            // Only the first thread knows the time.
            Some(End::Stopped(Stopped::Limit(Limit::Interrupt))) => {
                Err(Stopped::Limit(self.clock.check().err().unwrap_or(Limit::Interrupt)))
            }
            Some(End::Stopped(stopped)) => Err(stopped),
        };
        walk.conclude(scratch, watch, ended, &|state| self.visited.contains(state))
    }

    fn walk<'r>(&'r self, request: &'r Request) -> Walk<'r, S, Borrowed<'r, T>> {
        let store = Borrowed(self.store);
        Walk::new(Graph::new(self.system, request, store, self.memory.clone(), self.clock))
    }

    fn lock(&self) -> MutexGuard<'_, Option<End>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a limit has ended the searches.
    fn is_limited(&self) -> bool {
        matches!(*self.lock(), Some(End::Stopped(Stopped::Limit(_))))
    }

    /// Ends the searches of all threads.
    fn finish(&self, end: End) {
        let mut first = self.lock();
        if first.is_none() {
            *first = Some(end);
            self.limits.stop.ask();
            self.told.store(true, Ordering::Relaxed);
        }
    }

    /// The search of one thread, after its beginning.
    fn search<'r>(
        &'r self,
        walk: Walk<'r, S, Borrowed<'r, T>>,
        number: u64,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Walk<'r, S, Borrowed<'r, T>> {
        let mut thread = Thread {
            common: self,
            number,
            walk,
            cyan: Bits::new(),
            second: Second::new(),
            reached: Reached { states: Bits::new(), list: Chunked::new(), marked: Chunked::new() },
            edges: 0,
        };
        match thread.run(scratch, watch) {
            Ok(None) => {}
            Ok(Some(state)) => self.finish(End::Cycle(state)),
            Err(stopped) => self.finish(End::Stopped(stopped)),
        }
        thread.walk.settle();
        thread.walk.graph.counts.transitions = thread.edges;
        thread.walk
    }
}

/// What a second search has come to.
struct Reached {
    states: Bits,
    list: Chunked<u32>,
    /// Those that are marked.
    marked: Chunked<u32>,
}

impl Reached {
    fn insert(&mut self, state: u32, marked: bool, memory: &Memory) -> Result<(), Limit> {
        self.states.insert(state, memory)?;
        self.list.push(state, memory)?;
        if marked { self.marked.push(state, memory) } else { Ok(()) }
    }
}

/// The search of one thread.
struct Thread<'a, S, T> {
    common: &'a Common<'a, S, T>,
    number: u64,
    walk: Walk<'a, S, Borrowed<'a, T>>,
    /// The states of the current run.
    cyan: Bits,
    second: Second,
    reached: Reached,
    /// Edges of the states that this thread was the first to visit.
    edges: u64,
}

impl<S: System, T: Store> Thread<'_, S, T> {
    /// A state on a cycle with a marked edge, if this thread finds one.
    fn run(
        &mut self,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Stopped> {
        while let Some(taken) = self.walk.next()? {
            match taken {
                Taken::Edge { to, depth, marks } => {
                    if !self.cyan.contains(to) && !self.common.blue.contains(to) {
                        self.enter(to, depth, marks, scratch, watch)?;
                    }
                }
                Taken::Left { state, marks } => {
                    self.common.blue.insert(state).map_err(Limit::from)?;
                    if is_marked(marks) {
                        let found = self.search_again(state, scratch, watch)?;
                        if found.is_some() {
                            return Ok(found);
                        }
                    }
                    self.cyan.remove(state);
                }
            }
        }
        Ok(None)
    }

    fn enter(
        &mut self,
        state: u32,
        depth: u32,
        marks: Marks,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<(), Limit> {
        if self.common.visited.insert(state)? {
            if self.common.states.fetch_add(1, Ordering::Relaxed) >= self.common.most {
                return Err(Limit::States);
            }
            self.walk.open(state, depth, marks, scratch, watch)?;
            let edge = |event: &&Event| matches!(event, Event::Edge(_));
            self.edges += self.walk.graph.events.iter().filter(edge).count() as u64;
        } else {
            self.walk.open_again(state, depth, marks, scratch, watch)?;
        }
        self.cyan.insert(state, &self.walk.graph.memory)?;
        self.shuffle(state)?;
        self.walk.push_events(|_| true)
    }

    /// Puts the successors of a state in another order than other threads do.
    fn shuffle(&mut self, state: u32) -> Result<(), Limit> {
        if self.number == 0 {
            return Ok(());
        }
        let events = self.walk.graph.events.with_room(0)?;
        let mut random = self.number << 32 | u64::from(state);
        for last in (1..events.len()).rev() {
            // Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, 2014, without its end.
            random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            events.swap(last, ((mixed >> 32) % (last as u64 + 1)) as usize);
        }
        Ok(())
    }

    /// Searches from a marked state a second time.
    fn search_again(
        &mut self,
        start: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
    ) -> Result<Option<u32>, Limit> {
        let (common, cyan, reached) = (self.common, &self.cyan, &mut self.reached);
        let memory = &common.memory;
        reached.insert(start, false, memory)?;
        let judge = |_: &Graph<'_, S, Borrowed<'_, T>>, _: u32, edge: Edge| {
            if cyan.contains(edge.to) {
                return Ok(Next::Found);
            }
            if reached.states.contains(edge.to) || common.red.contains(edge.to) {
                return Ok(Next::Skip);
            }
            reached.insert(edge.to, is_marked(edge.marks), memory)?;
            Ok(Next::Go)
        };
        let found = self.second.search(&mut self.walk.graph, start, scratch, watch, judge)?;
        if found.is_some() {
            return Ok(found);
        }
        while let Some(state) = self.reached.marked.pop() {
            while !common.red.contains(state) {
                common.clock.check()?;
                std::thread::yield_now();
            }
        }
        while let Some(state) = self.reached.list.pop() {
            common.red.insert(state)?;
            self.reached.states.remove(state);
        }
        Ok(None)
    }
}
