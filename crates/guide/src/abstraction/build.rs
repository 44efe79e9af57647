//! Parts and labels, of all that may happen.
//!
//! A deadlock is a state of all processes at once. Who watches asks one after the other whether it can move, at no cost,
//! and while that goes on nothing else happens.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use spinward_program::ir::{Action, BodyId, Expr, Scalar, Transition};

use super::explore::{Explorer, Ways};
use super::knowledge::{Choices, Kind, Local, Message, Notes, Op, Site, Stop, note};
use super::numbers::Numbers;
use super::parts::View;
use super::system::{Moves, Part, System};
use super::walk::Walk;
use crate::Subject;

/// Contents of a channel.
const MAX_CONTENTS: usize = 2048;

/// What it takes to ask a value of a part, or to do something to it, in moves of parts: one that is a number, and others.
const VALUE_MOVES: [u64; 2] = [1, 8];

/// What happens: a label, before it has a number.
#[derive(Debug, Default)]
struct Event {
    cost: u32,
    /// By part.
    moves: BTreeMap<usize, Moves>,
}

/// Parts that are being put together.
pub struct Build<'e, 'p> {
    explorer: Explorer<'e, 'p>,
    /// By process, its local states; and whether it may be absent.
    locals: Vec<Vec<Option<Local>>>,
    numbers: Vec<FxHashMap<Option<Local>, u32>>,
    globals: Vec<(u32, Scalar, Vec<i32>)>,
    channels: Vec<(usize, Vec<Vec<Message>>)>,
    sites: FxHashMap<Site, usize>,
    /// Local states in which a process takes a message from a rendezvous channel, whatever else is.
    ready: FxHashSet<(usize, usize, Message, u32)>,
    events: Vec<Event>,
    /// States of who watches: those of the automaton or the claim that follows, then where something is wrong, then while it asks
    /// for deadlocks.
    follows: u32,
    asks: bool,
}

impl<'e, 'p> Build<'e, 'p> {
    pub fn new(
        explorer: Explorer<'e, 'p>,
        subject: &Subject<'_>,
        ways: &Ways,
        ready: FxHashSet<(usize, usize, Message, u32)>,
    ) -> Result<Self, Stop> {
        let know = &*explorer.know;
        let mut gone: FxHashSet<usize> =
            (explorer.look.processes()..know.processes.len()).collect();
        for ((process, ..), moves) in ways {
            if moves.iter().any(|it| it.1 as usize == know.processes[*process].len()) {
                gone.insert(*process);
            }
        }
        let locals: Vec<Vec<Option<Local>>> = (0..know.processes.len())
            .map(|process| {
                let mut locals: Vec<_> =
                    know.processes[process].iter().cloned().map(Some).collect();
                locals.sort_unstable();
                locals.extend(gone.contains(&process).then_some(None));
                locals
            })
            .collect();
        let numbers =
            locals.iter().map(|locals| locals.iter().cloned().zip(0..).collect()).collect();
        let slots = know.program.globals.slots.iter();
        let globals = slots.filter_map(|slot| {
            let values = know.values(slot.offset).filter(|it| it.len() > 1)?;
            Some((slot.offset, slot.scalar, values.to_vec()))
        });
        let globals: Vec<(u32, Scalar, Vec<i32>)> = globals.collect();
        let options = subject.machine.options();
        let mut build = Self {
            locals,
            numbers,
            globals,
            channels: Vec::new(),
            sites: FxHashMap::default(),
            ready,
            events: Vec::new(),
            follows: match (subject.follower, options.claim) {
                (Some(follower), _) => follower.automaton().states.len() as u32,
                (None, Some(claim)) => know.program.automaton(claim).states.len() as u32,
                (None, None) => 1,
            },
            asks: options.end_states,
            explorer,
        };
        build.find_contents(ways)?;
        let processes = (0..build.locals.len()).map(Site::Process);
        let globals = build.globals.iter().map(|it| Site::Global(it.0));
        let channels = build.channels.iter().map(|it| Site::Channel(it.0));
        build.sites = processes.chain(globals).chain(channels).zip(0..).collect();
        Ok(build)
    }

    /// What channels may hold.
    fn find_contents(&mut self, ways: &Ways) -> Result<(), Stop> {
        let mut all: BTreeMap<usize, Vec<&Vec<Op>>> = BTreeMap::new();
        for ((_, ops, ..), _) in ways {
            for (site, ops) in ops {
                if let Site::Channel(channel) = site {
                    all.entry(*channel).or_default().push(ops);
                }
            }
        }
        for (channel, mut ops) in all {
            ops.sort_unstable();
            ops.dedup();
            let capacity = self.explorer.know.channels[channel].kind.capacity as usize;
            let first = self.explorer.messages(channel);
            let mut known = FxHashSet::from_iter([first.clone(), Vec::new()]);
            let mut contents: Vec<_> = known.iter().cloned().collect();
            contents.sort_unstable();
            let mut next = 0;
            while let Some(from) = contents.get(next).cloned() {
                next += 1;
                self.explorer.know.spend(ops.len() as u64 * VALUE_MOVES[1])?;
                for to in ops.iter().filter_map(|ops| pass(&from, ops, capacity)) {
                    if known.insert(to.clone()) {
                        contents.push(to);
                    }
                }
                if contents.len() > MAX_CONTENTS {
                    return Err(self.explorer.know.lose_of_channel(channel));
                }
            }
            self.channels.push((channel, contents));
        }
        Ok(())
    }

    fn watcher(&self) -> usize {
        self.sites.len()
    }

    /// The state of who watches in which something is wrong.
    fn wrong(&self) -> u32 {
        self.follows
    }

    /// The state of who asks for deadlocks, before it asks a process; whether one was not at its end.
    fn asking(&self, process: usize, unfinished: bool) -> u32 {
        self.follows + 1 + 2 * (process as u32 - 1) + u32::from(unfinished)
    }

    fn number(&self, process: usize, local: &Option<Local>) -> u32 {
        self.numbers[process][local]
    }

    fn add(&mut self, event: Event) -> Result<(), Stop> {
        let moves: usize = event.moves.values().map(Vec::len).sum();
        self.events.push(event);
        self.explorer.know.spend(moves as u64)
    }

    /// Adds what is asked of sites and done to them.
    fn add_ops(&mut self, event: &mut Event, ops: &[(Site, Vec<Op>)]) -> Result<(), Stop> {
        for (site, ops) in ops {
            // What has one value only is as asked.
            let Some(&part) = self.sites.get(site) else {
                continue;
            };
            let moves = self.moves(*site, part, ops)?;
            match event.moves.entry(part) {
                Entry::Vacant(entry) => {
                    entry.insert(moves);
                }
                // It moves itself: what is asked of it must be true before.
                Entry::Occupied(mut entry) => {
                    let is_allowed =
                        |from: &u32| moves.binary_search_by_key(from, |it| it.0).is_ok();
                    entry.get_mut().retain(|(from, _)| is_allowed(from));
                }
            }
        }
        Ok(())
    }

    /// The moves of a part, of which there is at most one from each value; sorted.
    fn moves(&mut self, site: Site, part: usize, ops: &[Op]) -> Result<Moves, Stop> {
        let (values, each) = match site {
            Site::Process(process) => (self.locals[process].len(), VALUE_MOVES[1]),
            Site::Global(_) => (self.globals[part - self.locals.len()].2.len(), VALUE_MOVES[0]),
            Site::Channel(_) => (
                self.channels[part - self.locals.len() - self.globals.len()].1.len(),
                VALUE_MOVES[1],
            ),
        };
        self.explorer.know.spend(values as u64 * each)?;
        Ok(match site {
            Site::Process(process) => {
                let locals = self.locals[process].iter().zip(0..);
                let to = |local| self.meet(process, local, ops);
                locals.filter_map(|(local, from)| Some((from, to(local)?))).collect()
            }
            Site::Global(_) => {
                let values = &self.globals[part - self.locals.len()].2;
                let number = |value| values.binary_search(&value).ok().map(|it| it as u32);
                let from = values.iter().zip(0..);
                from.filter_map(|(&value, from)| Some((from, number(change(value, ops)?)?)))
                    .collect()
            }
            Site::Channel(channel) => {
                let contents = &self.channels[part - self.locals.len() - self.globals.len()].1;
                let numbers: FxHashMap<&Vec<Message>, u32> = contents.iter().zip(0..).collect();
                let capacity = self.explorer.know.channels[channel].kind.capacity as usize;
                let to = |from| numbers.get(&pass(from, ops, capacity)?).copied();
                contents.iter().zip(0..).filter_map(|(from, at)| Some((at, to(from)?))).collect()
            }
        })
    }

    /// What others ask of a process, or do to it.
    fn meet(&self, process: usize, local: &Option<Local>, ops: &[Op]) -> Option<u32> {
        let mut to = self.number(process, local);
        for op in ops {
            let is_so = match op {
                Op::At(body, state, holds) => {
                    let is_there = |it: &Local| {
                        it.control == *state && body.is_none_or(|body| it.body == body)
                    };
                    local.as_ref().is_some_and(is_there) == *holds
                }
                Op::Holds { body, offset, value } => {
                    let cells = &self.explorer.know.locals[body.0 as usize];
                    let index = cells.iter().position(|(at, _)| at == offset);
                    let own = local.as_ref().filter(|it| it.body == *body);
                    let found = own.zip(index).map_or(0, |(local, index)| local.values[index]);
                    found == *value
                }
                Op::Deaf(channel, message) => {
                    !self.ready.contains(&(process, *channel, message.clone(), to))
                }
                Op::Present => local.is_some(),
                Op::Absent => local.is_none(),
                Op::Create(created) => {
                    to = self.number(process, &Some(created.clone()));
                    local.is_none()
                }
                _ => true,
            };
            if !is_so {
                return None;
            }
        }
        Some(to)
    }

    /// The watcher's moves while something happens.
    fn watch(&self, event: &mut Event, wrong: bool) {
        if wrong {
            let states = 0..self.follows;
            let moves = states.flat_map(|it| [(it, it), (it, self.wrong())]).collect();
            event.moves.insert(self.watcher(), moves);
        }
    }

    /// What processes do, alone and with each other.
    pub fn ways(&mut self, ways: &Ways) -> Result<(), Stop> {
        let mut answers: BTreeMap<(usize, &Message), Vec<_>> = BTreeMap::new();
        for (key, moves) in ways {
            if let Kind::Answer(channel, message) = &key.2 {
                answers.entry((*channel, message)).or_default().push((key, moves));
            }
        }
        for ((process, ops, kind, wrong), moves) in ways {
            let offered = match kind {
                Kind::Alone => {
                    let mut event = Event { cost: 1, moves: BTreeMap::new() };
                    event.moves.insert(*process, moves.clone());
                    self.add_ops(&mut event, ops)?;
                    self.watch(&mut event, *wrong);
                    self.add(event)?;
                    continue;
                }
                Kind::Answer(..) => continue,
                Kind::Offer(channel, message) => answers.get(&(*channel, message)),
            };
            for ((other, also, _, also_wrong), other_moves) in offered.into_iter().flatten() {
                if other == process {
                    continue;
                }
                let mut event = Event { cost: 2, moves: BTreeMap::new() };
                event.moves.insert(*process, moves.clone());
                event.moves.insert(*other, other_moves.to_vec());
                self.add_ops(&mut event, &together(ops, also))?;
                self.watch(&mut event, *wrong || *also_wrong);
                self.add(event)?;
            }
        }
        self.explorer.know.go_on()
    }

    /// How the watcher finds that something is wrong.
    pub fn goals(&mut self, subject: &Subject<'_>) -> Result<(), Stop> {
        let options = subject.machine.options();
        let program = subject.machine.program();
        let condition = |number: u32| &program.conditions[number as usize].expr;
        for &number in &options.invariants {
            let anywhere = (0..self.follows).map(|it| (it, self.wrong())).collect();
            self.when(&[(condition(number), false)], anywhere)?;
        }
        if let Some(follower) = subject.follower {
            let harmless = std::mem::replace(&mut self.explorer.know.harmless, true);
            // All of them are asked for in every state, also those that lead nowhere.
            for number in &options.watched {
                self.ask(&[(condition(*number), true)])?;
            }
            for (state, edges) in (0..).zip(&follower.automaton().states) {
                for edge in edges.iter().filter(|edge| edge.to != state) {
                    for cube in edge.label.cubes() {
                        let atoms = (0..).zip(&options.watched);
                        let atoms = atoms.filter(|(atom, _)| cube.atoms() & 1 << atom != 0);
                        let literals: Vec<_> = atoms
                            .map(|(atom, number)| {
                                (condition(*number), cube.positive & 1 << atom != 0)
                            })
                            .collect();
                        self.when(&literals, vec![(state, edge.to)])?;
                    }
                }
            }
            if !std::mem::replace(&mut self.explorer.know.harmless, harmless) {
                let why = "a condition of the formula may have no value";
                self.explorer.know.refused = Some(why.into());
                return Err(Stop::Restart);
            }
        }
        if let Some(claim) = options.claim {
            self.claim(claim)?;
        }
        if self.asks {
            self.deadlocks()?;
        }
        self.explorer.know.go_on()
    }

    /// The watcher is where the claim is, whose moves are no steps of a run.
    fn claim(&mut self, claim: BodyId) -> Result<(), Stop> {
        let program = self.explorer.know.program;
        let asked = |id| match &program.transition(id).action {
            Action::Condition(condition) => Some((condition, false)),
            _ => None,
        };
        for state in &program.automaton(claim).states {
            for id in state.transition_ids() {
                let Transition { from, to, action, .. } = program.transition(id);
                let (from, to) = (from.0.into(), to.0.into());
                let literals = match action {
                    Action::Condition(condition) => vec![(condition, true)],
                    // It goes on if nothing before it is possible: where it may be escaped from, more may come after it.
                    Action::Else => state
                        .transition_ids()
                        .take_while(|it| *it != id)
                        .filter_map(asked)
                        .collect(),
                    // It goes on if that is false.
                    Action::Assert(condition) => {
                        let wrong = if self.explorer.know.assertions { self.wrong() } else { from };
                        self.when(&[(condition, false)], vec![(from, wrong)])?;
                        Vec::new()
                    }
                    Action::Skip | Action::Die => Vec::new(),
                    _ => {
                        let why = "it knows of never claims that do no more than ask and assert";
                        self.explorer.know.refused = Some(why.into());
                        return Err(Stop::Restart);
                    }
                };
                self.when(&literals, vec![(from, to)])?;
            }
        }
        Ok(())
    }

    /// The watcher may move where conditions have values. That it stays tells nothing.
    fn when(&mut self, literals: &[(&Expr, bool)], mut moves: Moves) -> Result<(), Stop> {
        let ways = self.ask(literals)?;
        moves.retain(|(from, to)| from != to);
        for ops in ways.into_iter().filter(|_| !moves.is_empty()) {
            let mut event = Event::default();
            self.add_ops(&mut event, &ops)?;
            event.moves.insert(self.watcher(), moves.clone());
            self.add(event)?;
        }
        Ok(())
    }

    /// What must be so for conditions to have values, in all ways in which that can be.
    fn ask(&mut self, literals: &[(&Expr, bool)]) -> Result<Vec<Notes>, Stop> {
        let mut all = Vec::new();
        Choices::each(
            self.explorer.know,
            None,
            |know, choices| {
                Walk::new(know, choices, usize::MAX, None).holds(literals.iter().copied())
            },
            |_, ops| all.push(ops),
        )?;
        Ok(all)
    }

    /// The watcher asks all processes, one after the other, whether they can move.
    fn deadlocks(&mut self) -> Result<(), Stop> {
        let last = self.locals.len() - 1;
        for process in 0..self.locals.len() {
            let mut waiting: BTreeMap<_, Moves> = BTreeMap::new();
            for local in self.locals[process].clone() {
                let program = self.explorer.know.program;
                let unfinished = local
                    .as_ref()
                    .is_some_and(|it| !program.automaton(it.body).state(it.control).end);
                let at = self.number(process, &local);
                Choices::each(
                    self.explorer.know,
                    None,
                    |know, choices| Walk::new(know, choices, process, local.clone()).blocked(),
                    |_, ops| {
                        let moves = waiting.entry((ops, unfinished)).or_default();
                        if moves.last() != Some(&(at, at)) {
                            moves.push((at, at));
                        }
                    },
                )?;
            }
            for ((ops, unfinished), moves) in waiting {
                let mut event = Event::default();
                event.moves.insert(process, moves);
                self.add_ops(&mut event, &ops)?;
                let before: Vec<(u32, bool)> = match process {
                    0 => (0..self.follows).map(|it| (it, false)).collect(),
                    _ => [false, true].map(|it| (self.asking(process, it), it)).to_vec(),
                };
                let after = before.into_iter().filter_map(|(from, was)| {
                    let now = was || unfinished;
                    match process == last {
                        true => now.then(|| (from, self.wrong())),
                        false => Some((from, self.asking(process + 1, now))),
                    }
                });
                let after = after.collect();
                event.moves.insert(self.watcher(), after);
                self.add(event)?;
            }
        }
        Ok(())
    }

    pub fn finish(self, subject: &Subject<'_>) -> (System, Vec<View>) {
        let know = &*self.explorer.know;
        let mut parts: Vec<Part> = Vec::new();
        let mut views = Vec::new();
        let plain = |size: usize, acts: bool| Part {
            acts,
            size: size as u32,
            initial: Vec::new(),
            goal: vec![true; size],
            still: vec![false; size],
            moves: Vec::new(),
        };
        let look = self.explorer.look;
        for (number, locals) in self.locals.iter().enumerate() {
            let mut rows = vec![Vec::new(); know.locals.len()];
            let mut gone = None;
            for (local, at) in locals.iter().zip(0..) {
                match local {
                    Some(Local { body, control, values }) => {
                        let row = [i32::from(control.0)].into_iter().chain(values.iter().copied());
                        rows[body.0 as usize].push((row.collect(), at));
                    }
                    None => gone = Some(at),
                }
            }
            let numbers = rows.into_iter().map(Numbers::new);
            let bodies = know.locals.iter().cloned().zip(numbers).collect();
            views.push(View::Process { number, bodies, gone });
            parts.push(plain(locals.len(), true));
        }
        for (offset, scalar, values) in &self.globals {
            parts.push(plain(values.len(), false));
            let values = Numbers::new(values.iter().map(|it| vec![*it]).zip(0..).collect());
            views.push(View::Global { offset: *offset, scalar: *scalar, values });
        }
        for (number, contents) in &self.channels {
            let lost = &know.channels[*number].lost_fields;
            let kept: Vec<usize> = (0..lost.len()).filter(|field| !lost[*field]).collect();
            let most = contents.iter().map(Vec::len).max().unwrap_or(0);
            let mut rows = vec![Vec::new(); most + 1];
            for (messages, at) in contents.iter().zip(0..) {
                let fields = messages.iter().flat_map(|it| kept.iter().map(|field| it[*field]));
                rows[messages.len()].push((fields.collect(), at));
            }
            // A channel that is gone is as an empty one.
            let gone = rows[0].first().map(|it| it.1);
            let values = rows.into_iter().map(Numbers::new).collect();
            parts.push(plain(contents.len(), false));
            views.push(View::Channel { number: *number, kept, values, gone });
        }
        // The first state, as it is seen.
        let mut contents = Default::default();
        for (part, view) in parts.iter_mut().zip(&views) {
            part.initial = view.value(look, &[], &mut contents).into_iter().collect();
        }
        let asking = if self.asks { 2 * (self.locals.len() - 1) } else { 0 };
        let size = self.follows as usize + 1 + asking;
        let mut watcher = plain(size, true);
        let claim = subject.machine.options().claim.map(|it| know.program.automaton(it));
        let ends = |it: u32| match (subject.follower, claim) {
            (Some(follower), _) => follower.ends(it as usize),
            (None, claim) => claim.is_some_and(|claim| claim.states[it as usize].end),
        };
        let is_wrong = |it| it == self.wrong() || (it < self.follows && ends(it));
        watcher.goal = (0..size as u32).map(is_wrong).collect();
        watcher.still = (0..size as u32).map(|it| it >= self.wrong()).collect();
        watcher.initial = match (subject.follower, look.claim()) {
            // After the states before this one it may be anywhere.
            (Some(follower), _) if self.explorer.is_later => {
                let first = follower.automaton().initial;
                let others = (0..self.follows).filter(|it| *it != first);
                [first].into_iter().chain(others).collect()
            }
            (Some(follower), _) => vec![follower.automaton().initial],
            (None, claim) => vec![claim.map_or(0, |it| it.0.into())],
        };
        parts.push(watcher);
        views.push(View::Watcher { follows: self.follows > 1 });
        let mut costs = Vec::with_capacity(self.events.len());
        for (label, event) in (0..).zip(self.events) {
            costs.push(event.cost);
            for (part, mut moves) in event.moves {
                moves.sort_unstable();
                moves.dedup();
                parts[part].moves.push((label, moves));
            }
        }
        (System { parts, costs }, views)
    }
}

/// Notes of two, one after the other.
fn together(first: &[(Site, Vec<Op>)], second: &[(Site, Vec<Op>)]) -> Notes {
    let mut all = first.to_vec();
    for (site, ops) in second {
        ops.iter().for_each(|op| note(&mut all, *site, op.clone()));
    }
    all
}

/// The value of a global after what is asked of it and done to it.
fn change(value: i32, ops: &[Op]) -> Option<i32> {
    ops.iter().try_fold(value, |value, op| match op {
        Op::Is(asked) => (value == *asked).then_some(value),
        Op::Among(asked) => asked.contains(&value).then_some(value),
        Op::Set(new) => Some(*new),
        _ => Some(value),
    })
}

/// The contents of a channel after what is asked of it and done to it.
fn pass(contents: &[Message], ops: &[Op], capacity: usize) -> Option<Vec<Message>> {
    let mut contents = contents.to_vec();
    for op in ops {
        let is_so = match op {
            Op::Length(length) => contents.len() == *length,
            Op::Full(full) => (contents.len() == capacity) == *full,
            Op::Poll { fits, random, holds } => {
                let looked_at = if *random { contents.len() } else { contents.len().min(1) };
                contents[..looked_at].iter().any(|it| fits.contains(it)) == *holds
            }
            Op::Send { message, sorted } => {
                let place = contents.iter().position(|it| *sorted && message < it);
                contents.insert(place.unwrap_or(contents.len()), message.clone());
                contents.len() <= capacity
            }
            Op::Receive { message, fits, keep } => {
                let place = match fits {
                    Some(fits) => contents.iter().position(|it| fits.contains(it)),
                    None => (!contents.is_empty()).then_some(0),
                };
                let found = place.filter(|place| contents[*place] == *message);
                if let Some(place) = found.filter(|_| !keep) {
                    contents.remove(place);
                }
                found.is_some()
            }
            Op::Clear => {
                contents.clear();
                true
            }
            _ => true,
        };
        if !is_so {
            return None;
        }
    }
    Some(contents)
}
