//! All that may happen in a model, process by process.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use spinward_machine::{Flow, Look, Machine, Sight, Sink, Step, System as _, Violation};
use spinward_program::ir::{Action, Transition};

use super::build::Build;
use super::knowledge::{Channel, Choices, Kind, Knowledge, Local, Message, Notes, Stop, Way};
use super::parts::View;
use super::system::System;
use super::walk::Walk;
use crate::Subject;

/// Local states of a process.
const MAX_LOCALS: usize = 2048;

/// Ways that are looked at in all.
const MAX_WORK: usize = 1_000_000;

/// Processes that one process creates.
const MAX_CREATED: u32 = 64;

/// States that have one successor, at the start.
const MAX_BEFORE: usize = 64;

/// The ways of a process that are alike but for its own part in them.
pub type Ways = BTreeMap<(usize, Notes, Kind, bool), Vec<(Option<Local>, Option<Local>)>>;

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
    work: &'e mut usize,
}

impl<'e, 'p> Explorer<'e, 'p> {
    pub fn new(
        know: &'e mut Knowledge<'p>,
        look: &'e Look<'e>,
        is_later: bool,
        work: &'e mut usize,
    ) -> Self {
        Self { know, look, is_later, work }
    }

    pub fn parts(mut self, subject: &Subject<'_>) -> Result<(System, Vec<View>), Stop> {
        self.know.forget_values();
        self.begin()?;
        self.learn()?;
        let (mut ways, mut ready) = (Ways::new(), Vec::new());
        for process in 0..self.know.processes.len() {
            self.each_way(process, |from, way| {
                if let Kind::Answer(channel, message) = &way.kind
                    && way.ops.is_empty()
                    && way.sure
                {
                    ready.push((process, *channel, message.clone(), from.clone()));
                }
                let ops: Vec<_> = way.ops.into_iter().collect();
                let key = (process, ops, way.kind, way.wrong);
                ways.entry(key).or_default().push((Some(from), way.to));
            })?;
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
                let mut edges = Vec::new();
                self.each_way(process, |from, way| {
                    if let Some(to) = way.to {
                        edges.push((from, to, way.creates));
                    }
                })?;
                created += self.most_created(edges)?;
            }
            let most = (self.look.processes() + created as usize).min(255);
            if most > self.know.processes.len() {
                self.know.processes.resize_with(most, FxHashSet::default);
                self.know.grew = true;
            }
            if !self.know.grew {
                return Ok(());
            }
        }
    }

    /// How many processes one creates at most.
    fn most_created(&mut self, edges: Vec<(Local, Local, bool)>) -> Result<u32, Stop> {
        if !edges.iter().any(|it| it.2) {
            return Ok(0);
        }
        let mut after: FxHashMap<Local, Vec<(Local, bool)>> = FxHashMap::default();
        let mut most: FxHashMap<Local, u32> = FxHashMap::default();
        let mut open = Vec::new();
        for (from, to, creates) in edges {
            if most.insert(from.clone(), 0).is_none() {
                open.push(from.clone());
            }
            after.entry(from).or_default().push((to, creates));
        }
        while let Some(local) = open.pop() {
            let so_far = most[&local];
            for (to, creates) in after.get(&local).into_iter().flatten() {
                let count = so_far + u32::from(*creates);
                if count > MAX_CREATED {
                    self.know.refused =
                        Some("cannot tell how many processes the model creates".into());
                    return Err(Stop::Restart);
                }
                let known = most.entry(to.clone()).or_insert(0);
                if count > *known {
                    *known = count;
                    open.push(to.clone());
                }
            }
        }
        Ok(most.into_values().max().unwrap_or(0))
    }

    /// Tells all ways of a process from all local states it may be in, and finds those.
    fn each_way(&mut self, process: usize, mut tell: impl FnMut(Local, Way)) -> Result<(), Stop> {
        let program = self.know.program;
        let mut open: Vec<Local> = self.know.processes[process].iter().cloned().collect();
        open.sort_unstable();
        while let Some(local) = open.pop() {
            for id in program.automaton(local.body).state(local.control).transition_ids() {
                let transition = program.transition(id);
                *self.work += Choices::each(
                    self.know,
                    Some(transition),
                    |know, choices| {
                        Walk::new(know, choices, process, Some(local.clone())).take(transition)
                    },
                    |know, way| {
                        let is_new = |to: &&Local| !know.processes[process].contains(*to);
                        open.extend(way.to.iter().filter(is_new).cloned());
                        way.to.iter().for_each(|to| know.add_local(process, to));
                        tell(local.clone(), way);
                    },
                )?;
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
