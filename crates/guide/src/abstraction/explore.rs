//! All that may happen in a model, process by process.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use spinward_machine::{Flow, Look, Machine, Sight, Sink, Step, System as _, Violation};
use spinward_program::ir::{Action, Transition};

use super::build::Build;
use super::knowledge::{
    Basis, Channel, Choices, Kind, Knowledge, Local, Message, Notes, Stop, Way,
};
use super::parts::View;
use super::system::{Moves, System};
use super::walk::Walk;
use crate::Subject;

/// Local states of a process.
const MAX_LOCALS: usize = 2048;

/// Ways that are looked at in all.
const MAX_WORK: usize = 1_000_000;

/// What ways ask and do that is kept while all is looked at, and how much of one transition; if there is more, its ways are looked at
/// once more, when all is known. Of many there may turn out to be too many.
const MAX_KINDS: usize = 1 << 16;
const MAX_KINDS_EACH: usize = 1 << 12;

/// Processes that one process creates.
const MAX_CREATED: u32 = 64;

/// States that have one successor, at the start.
const MAX_BEFORE: usize = 64;

/// The ways of a process that are alike but for its own part in them, with its moves; both sorted. Its local states are told as
/// their numbers in their order, and that it is gone as the one behind these.
pub type Ways = Vec<((usize, Notes, Kind, bool), Moves)>;

/// The state in which all processes are there that are created at the start without anything else happening; and those
/// before it.
pub fn root(machine: &Machine) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut initial = Vec::new();
    machine.initial(&mut initial);
    let runs = |it: &Transition| matches!(it.action, Action::Run { .. });
    if !machine.program().transitions.iter().any(runs) {
        return (initial, Vec::new());
    }
    let mut scratch = machine.scratch();
    let mut states = vec![initial];
    let mut sight = Sight::default();
    let mut alive = |state: &[u8]| machine.look(state, &mut sight).processes();
    let (mut most, mut root) = (alive(&states[0]), 0);
    while states.len() <= MAX_BEFORE {
        let mut next = Successors::default();
        let _ = machine.expand(&states[states.len() - 1], &mut scratch, &mut next);
        let [state] = &next.0[..] else {
            break;
        };
        if alive(state) > most {
            (most, root) = (alive(state), states.len());
        }
        states.push(state.clone());
    }
    states.truncate(root + 1);
    let last = states.pop().unwrap_or_default();
    (last, states)
}

#[derive(Default)]
struct Successors(Vec<Vec<u8>>);

impl Sink for Successors {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        self.0.push(state.to_vec());
        Flow::Continue(())
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        Flow::Continue(())
    }
}

/// Finds all that may happen.
pub struct Explorer<'e, 'p> {
    pub know: &'e mut Knowledge<'p>,
    pub look: &'e Look<'e>,
    /// There are states before the one that is looked at.
    pub is_later: bool,
    /// By process.
    found: Vec<Found>,
    /// How many more kinds of ways may be kept.
    room: usize,
    work: &'e mut usize,
}

/// The ways of a process.
#[derive(Default)]
struct Found {
    /// Numbers of the local states that were looked at.
    locals: FxHashMap<Local, u32>,
    /// Numbers of what ways ask and do, and whether something is wrong on them.
    kinds: FxHashMap<(Notes, Kind, bool), u32>,
    /// By local state, and by transition from there: its ways, and what they depend on.
    ways: Vec<Vec<(Basis, Vec<Went>)>>,
    /// Some create processes.
    creates: bool,
}

/// A way from a local state.
struct Went {
    /// [`UNKNOWN`] if there was no room for it.
    kind: u32,
    /// The number of a local state, or [`GONE`].
    to: u32,
    sure: bool,
    creates: bool,
}

const UNKNOWN: u32 = u32::MAX;

/// Where a process is that is gone.
const GONE: u32 = u32::MAX;

impl Found {
    /// The number of a local state.
    fn number(&mut self, local: &Local) -> u32 {
        if let Some(number) = self.locals.get(local) {
            return *number;
        }
        let number = self.locals.len() as u32;
        self.locals.insert(local.clone(), number);
        self.ways.push(Vec::new());
        number
    }

    fn way(&mut self, way: Way, room: &mut usize) -> Went {
        let Way { to, mut ops, kind, sure, wrong, creates } = way;
        self.creates |= creates;
        let kind = match *room {
            0 => UNKNOWN,
            _ => {
                ops.shrink_to_fit();
                let next = self.kinds.len() as u32;
                *self.kinds.entry((ops, kind, wrong)).or_insert_with(|| {
                    *room -= 1;
                    next
                })
            }
        };
        Went { kind, to: to.map_or(GONE, |to| self.number(&to)), sure, creates }
    }

    /// Tells all ways; and the local states in which a message is taken from a rendezvous channel, whatever else is.
    fn tell(
        self,
        process: usize,
        ways: &mut Ways,
        ready: &mut FxHashSet<(usize, usize, Message, u32)>,
    ) {
        let mut locals: Vec<(&Local, u32)> = self.locals.iter().map(|it| (it.0, *it.1)).collect();
        locals.sort_unstable();
        let gone = locals.len() as u32;
        let mut places = vec![gone; locals.len()];
        (0..).zip(&locals).for_each(|(place, it)| places[it.1 as usize] = place);
        let mut answers = vec![None; self.kinds.len()];
        for ((ops, kind, _), number) in &self.kinds {
            if let Kind::Answer(channel, message) = kind
                && ops.is_empty()
            {
                answers[*number as usize] = Some((*channel, message.clone()));
            }
        }
        let mut moves = vec![Moves::new(); self.kinds.len()];
        for (from, all) in places.iter().zip(&self.ways) {
            for way in all.iter().flat_map(|it| &it.1) {
                let to = places.get(way.to as usize).copied().unwrap_or(gone);
                moves[way.kind as usize].push((*from, to));
                if let Some((channel, message)) = &answers[way.kind as usize]
                    && way.sure
                {
                    ready.insert((process, *channel, message.clone(), *from));
                }
            }
        }
        let first = ways.len();
        for ((ops, kind, wrong), number) in self.kinds {
            let mut moves = std::mem::take(&mut moves[number as usize]);
            moves.sort_unstable();
            moves.dedup();
            // Some came of what was known before only.
            if !moves.is_empty() {
                ways.push(((process, ops, kind, wrong), moves));
            }
        }
        ways[first..].sort_unstable();
    }
}

impl<'e, 'p> Explorer<'e, 'p> {
    pub fn new(
        know: &'e mut Knowledge<'p>,
        look: &'e Look<'e>,
        is_later: bool,
        work: &'e mut usize,
    ) -> Self {
        Self { know, look, is_later, found: Vec::new(), room: MAX_KINDS, work }
    }

    pub fn parts(mut self, subject: &Subject<'_>) -> Result<(System, Vec<View>), Stop> {
        self.know.forget_values();
        self.begin()?;
        self.learn()?;
        // With room for all of them, those are looked at again for which there was none.
        self.room = usize::MAX;
        for process in 0..self.found.len() {
            self.look_at(process)?;
        }
        let (mut ways, mut ready) = (Ways::new(), FxHashSet::default());
        for (process, found) in std::mem::take(&mut self.found).into_iter().enumerate() {
            found.tell(process, &mut ways, &mut ready);
        }
        let mut build = Build::new(self, subject, &ways, ready)?;
        build.ways(&ways)?;
        build.goals(subject)?;
        Ok(build.finish(subject))
    }

    /// What is known of the first state.
    fn begin(&mut self) -> Result<(), Stop> {
        let look = self.look;
        for slot in &self.know.program.globals.slots {
            self.know.add_value(slot.offset, look.global(slot.offset, slot.scalar))?;
        }
        for channel in 0..self.know.channels.len() {
            for message in self.messages(channel) {
                self.know.add_message(channel, &message)?;
            }
        }
        for process in 0..look.processes() {
            let (body, control) = look.process(process);
            let cells = self.know.locals[body.0 as usize].iter();
            let values = cells.map(|&(at, it)| look.local(process, at, it)).collect();
            self.know.add_local(process, &Local { body, control, values });
        }
        Ok(())
    }

    /// The messages in a channel of the first state.
    pub fn messages(&self, channel: usize) -> Vec<Message> {
        let Channel { kind, lost_fields, .. } = &self.know.channels[channel];
        let fields = kind.fields.len();
        let mut contents = Vec::new();
        let all: Vec<usize> = (0..fields).collect();
        let count = self.look.contents(channel, &all, &mut contents);
        let message = |number: usize| {
            let own = contents[1 + number * fields..].iter().zip(lost_fields);
            own.map(|(value, lost)| if *lost { 0 } else { *value }).collect()
        };
        (0..count).map(message).collect()
    }

    /// Looks at all processes until nothing new comes to light.
    fn learn(&mut self) -> Result<(), Stop> {
        loop {
            self.know.grew = false;
            let mut created = 0;
            for process in 0..self.know.processes.len() {
                self.look_at(process)?;
                created += self.most_created(process)?;
            }
            let most = (self.look.processes() + created as usize).min(255);
            if most > self.know.processes.len() {
                self.know.add_processes(most);
            }
            if !self.know.grew {
                return Ok(());
            }
        }
    }

    /// How many processes one creates at most.
    fn most_created(&mut self, process: usize) -> Result<u32, Stop> {
        let found = &self.found[process];
        if !found.creates {
            return Ok(0);
        }
        let mut most = vec![0_u32; found.ways.len()];
        let mut open: Vec<u32> = (0..).take(most.len()).collect();
        while let Some(from) = open.pop() {
            let so_far = most[from as usize];
            for way in found.ways[from as usize].iter().flat_map(|it| &it.1) {
                let count = so_far + u32::from(way.creates);
                if count > MAX_CREATED {
                    self.know.refused =
                        Some("cannot tell how many processes the model creates".into());
                    return Err(Stop::Restart);
                }
                if let Some(known) = most.get_mut(way.to as usize).filter(|it| **it < count) {
                    *known = count;
                    open.push(way.to);
                }
            }
        }
        Ok(most.into_iter().max().unwrap_or(0))
    }

    /// Finds all ways of a process from all local states it may be in, and those. What was found before is kept if nothing was learnt
    /// that matters to it.
    fn look_at(&mut self, process: usize) -> Result<(), Stop> {
        let program = self.know.program;
        let is_last = self.room > MAX_KINDS;
        let mut open: Vec<Local> = self.know.processes[process].iter().cloned().collect();
        open.sort_unstable();
        self.found.resize_with(self.found.len().max(process + 1), Found::default);
        let found = &mut self.found[process];
        while let Some(local) = open.pop() {
            let from = found.number(&local);
            let ids = program.automaton(local.body).state(local.control).transition_ids();
            for (place, id) in ids.enumerate() {
                let is_done = |(basis, ways): &(Basis, Vec<Went>)| {
                    let is_whole = || ways.iter().all(|it| it.kind != UNKNOWN);
                    self.know.is_unchanged(basis) && (!is_last || is_whole())
                };
                if found.ways[from as usize].get(place).is_some_and(is_done) {
                    continue;
                }
                let transition = program.transition(id);
                let room = if is_last { usize::MAX } else { self.room.min(MAX_KINDS_EACH) };
                let (mut left, mut ways) = (room, Vec::new());
                self.know.begin_basis();
                *self.work += Choices::each(
                    self.know,
                    Some(transition),
                    |know, choices| {
                        Walk::new(know, choices, process, Some(local.clone())).take(transition)
                    },
                    |know, way| {
                        let to = way.to.as_ref();
                        open.extend(to.filter(|to| know.add_local(process, to)).cloned());
                        ways.push(found.way(way, &mut left));
                    },
                )?;
                self.room -= room - left;
                let now = (self.know.end_basis(), ways);
                let from = &mut found.ways[from as usize];
                match from.get_mut(place) {
                    Some(before) => *before = now,
                    None => from.push(now),
                }
            }
            if self.know.processes[process].len() > MAX_LOCALS {
                return Err(self.lose_local(process));
            }
        }
        if *self.work > MAX_WORK {
            self.know.refused = Some("the model is too large to be taken apart".into());
            return Err(Stop::Restart);
        }
        Ok(())
    }

    /// Keeps track of one variable less: the one with the most values.
    fn lose_local(&mut self, process: usize) -> Stop {
        let mut values: BTreeMap<_, FxHashSet<i32>> = BTreeMap::new();
        for local in &self.know.processes[process] {
            let cells = self.know.locals[local.body.0 as usize].iter();
            for ((offset, _), value) in cells.zip(&local.values) {
                values.entry((local.body, *offset)).or_default().insert(*value);
            }
        }
        match values.into_iter().max_by_key(|(_, values)| values.len()) {
            Some(((body, offset), _)) => self.know.lose_local(body, offset),
            None => {
                self.know.refused = Some("a process has too many local states".into());
                Stop::Restart
            }
        }
    }
}
