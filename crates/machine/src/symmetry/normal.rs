//! One state for all that differ only in who is who.
//!
//! *Idea*: members of a set are put in order by what they look like: what is in their variables, channels and
//! elements of arrays, and who refers to them and to whom they do, as far as that can be told without
//! their names. Where that leaves two alike, what those look like they have to do with is added, a few times.
//! Members that still look alike keep their order: then states may be left that differ only in who is who, which costs
//! states, but is never wrong. (The *sorted* strategy of Bošnački, Dams, Holenderski, with the refinement of colours of
//! Weisfeiler and Leman.)
//!
//! Processes that are done, and of which nobody minds whether they are alive, are put last, so that they can die,
//! and do so at once.
//!
//! *Cost*: a pass over the state, another one if somebody moves.

use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHasher;
use spinward_program::ir::{ChannelType, Scalar, StateId, TransitionId};
use spinward_program::symmetry::{Cell, Sort, StateSorts, Symmetry};

use super::Quotient;
use super::members::{Members, Thing};
use crate::eval::{ChannelAt, message_offset};
use crate::memory::{load, load_u16, store};
use crate::shape::Shape;

/// So many bytes are taken for what is known of members. There may be many kinds of them, if processes are told apart by
/// what is drawn at random; then those of further kinds are left as they are.
const MOST_KNOWN: usize = 1 << 22;

/// So often what others look like is looked at.
const MOST_ROUNDS: usize = 4;

/// Room to work in.
#[derive(Debug, Default)]
pub struct Room {
    members: Option<Arc<Members>>,
    shape: Option<Arc<Shape>>,
    /// By member: what it looks like.
    colours: Vec<u64>,
    next: Vec<u64>,
    ties: Vec<Tie>,
    /// By place: the member that goes there.
    order: Vec<usize>,
    /// By member: the place it goes to.
    places: Vec<usize>,
    before: Vec<u8>,
    /// By process of the state that was given: its number now.
    pub numbers: Vec<usize>,
    /// Deaths that were not waited for.
    pub deaths: Vec<TransitionId>,
}

/// Something that has to do with several members.
#[derive(Clone, Copy, Debug)]
struct Tie {
    /// Where it is, whoever it is.
    place: u64,
    /// Whose variable it is, what its index stands for, what its value stands for.
    ends: [Option<(usize, usize)>; 3],
    /// Its value, if it stands for nobody.
    value: i32,
}

/// Where something is, whoever it is.
#[derive(Clone, Copy)]
enum Place {
    Global,
    Process(usize),
    Channel(usize),
    /// One of the things of a member.
    Thing(usize),
}

impl Place {
    fn code(self, at: usize) -> u64 {
        let (kind, number) = match self {
            Self::Global => (0, 0),
            Self::Process(number) => (1, number),
            Self::Channel(number) => (2, number),
            Self::Thing(number) => (3, number),
        };
        mix(mix(kind, number as u64), at as u64)
    }
}

/// One number for two.
fn mix(one: u64, other: u64) -> u64 {
    let mixed = (one.rotate_left(23) ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 29
}

impl Quotient<'_> {
    /// Puts the one state that stands for all like it in its place.
    pub(super) fn normalize(&self, state: &mut Vec<u8>, room: &mut Room) {
        let shape = self.shape(state, room);
        room.numbers.clear();
        room.numbers.extend(0..shape.processes.len());
        let all = 0..shape.processes.len();
        if !all.clone().all(|process| self.at(&shape, state, process).settled) {
            return;
        }
        for process in all {
            for &dead in &self.at(&shape, state, process).dead {
                let Cell { offset, scalar, .. } = self.cells(&shape, process)[dead];
                store(state, self.variables(&shape, process) + offset as usize, scalar, 0);
            }
        }
        let mut shape = shape;
        loop {
            while let Some(death) = shape
                .processes
                .len()
                .checked_sub(1)
                .and_then(|youngest| self.at(&shape, state, youngest).done)
            {
                if !room.deaths.contains(&death) {
                    room.deaths.push(death);
                }
                shape = shape.without_youngest().expect("there is a process").clone();
                state.truncate(shape.bytes);
                store(state, self.machine.header.shape, Scalar::I32, shape.id as i32);
            }
            let members = self.members(&shape, state, room);
            if members.sets.is_empty() || !self.sort(&members, &shape, state, room) {
                return;
            }
        }
    }

    /// Puts members in order; whether somebody can die by that.
    fn sort(&self, members: &Members, shape: &Shape, state: &mut [u8], room: &mut Room) -> bool {
        if !self.colour(members, shape, state, room) {
            return false;
        }
        let Room { colours, order, places, .. } = room;
        for (colour, things) in colours.iter_mut().zip(&members.things) {
            let is_done = things.iter().any(|&(sort, value)| {
                sort == Sort::PROCESS && self.at(shape, state, value as usize).done.is_some()
            });
            // Last come those who are done.
            *colour = *colour >> 1 | u64::from(is_done) << 63;
        }
        order.clear();
        order.extend(0..members.things.len());
        for set in &members.sets {
            order[set.clone()].sort_by_key(|&member| colours[member]);
        }
        places.clear();
        places.resize(order.len(), 0);
        order.iter().enumerate().for_each(|(place, &member)| places[member] = place);
        if order.iter().enumerate().any(|(place, &member)| place != member) {
            self.move_members(members, shape, state, room);
        }
        let youngest = shape.processes.len().checked_sub(1);
        youngest.is_some_and(|youngest| self.at(shape, state, youngest).done.is_some())
    }

    /// Finds out what members look like; not if some value might become that of a member by being stored.
    fn colour(&self, members: &Members, shape: &Shape, state: &[u8], room: &mut Room) -> bool {
        let Room { colours, next, ties, .. } = room;
        colours.clear();
        colours.resize(members.things.len(), 0);
        ties.clear();
        let symmetry = &self.symmetry;
        let mut looks = Looks { symmetry, members, colours, ties, harmless: true };
        for cell in &self.globals {
            let value =
                load(state, self.machine.header.globals + cell.offset as usize, cell.scalar);
            looks.see_cell(Place::Global, None, cell, value);
        }
        for process in 0..shape.processes.len() {
            let owner = members.whose(Sort::PROCESS, process as i32);
            let place = owner.map_or(Place::Process(process), |(_, thing)| Place::Thing(thing));
            let start = self.variables(shape, process);
            let dead = &self.at(shape, state, process).dead;
            let cells = self.cells(shape, process).iter().enumerate();
            // What never changes looks the same in whatever order they are.
            let alive =
                cells.filter(|(at, cell)| !cell.constant && dead.binary_search(at).is_err());
            for (_, cell) in alive {
                let value = load(state, start + cell.offset as usize, cell.scalar);
                looks.see_cell(place, owner, cell, value);
            }
            if let Some((member, _)) = owner {
                let block = shape.processes[process].offset;
                let body = shape.processes[process].kind;
                let mut hasher = FxHasher::default();
                for part in &self.parts[body.0 as usize] {
                    hasher.write(&state[block + part.start..block + part.end]);
                }
                looks.add(member, mix(place.code(usize::MAX), hasher.finish()));
            }
        }
        for (index, at) in shape.channels.iter().enumerate() {
            let kind = self.machine.program.channel(at.kind);
            let sorts = &self.symmetry.messages[at.kind.0 as usize];
            let owner = members.whose(Sort::CHANNEL, index as i32 + 1);
            let place = owner.map_or(Place::Channel(index), |(_, thing)| Place::Thing(thing));
            if owner.is_some() || sorts.iter().any(Option::is_some) {
                for (number, field) in fields(kind, at.offset, state).enumerate() {
                    let sort = sorts[number % sorts.len()];
                    let (offset, scalar) = field;
                    looks.see(place.code(number), [owner, None], sort, load(state, offset, scalar));
                }
            }
        }
        looks.refine(next);
        looks.harmless
    }

    /// Has members take the places of others.
    fn move_members(&self, members: &Members, shape: &Shape, state: &mut [u8], room: &mut Room) {
        let Room { places, before, numbers, .. } = room;
        before.clear();
        before.extend_from_slice(state);
        let of = |thing: Thing| (thing.0, members.moved(thing.0, thing.1, places));
        let header = &self.machine.header;
        for &thing in members.things.iter().flatten() {
            if let (Some(from), Some(to)) = (self.block(shape, thing), self.block(shape, of(thing)))
            {
                state[to].copy_from_slice(&before[from]);
            }
        }
        // Elements of arrays, everybody's and those of processes.
        let move_cells = |cells: &[Cell], from: usize, to: usize, state: &mut [u8]| {
            for cell in cells {
                if let Some(key) = cell.key {
                    let value = members.moved(key.sort, key.value, places);
                    let there = i64::from(cell.offset)
                        + i64::from(value - key.value) * i64::from(key.stride);
                    let bytes = cell.scalar.bytes() as usize;
                    let source = from + cell.offset as usize;
                    let target = to + there as usize;
                    state[target..target + bytes].copy_from_slice(&before[source..source + bytes]);
                }
            }
        };
        let rename = |sort: Option<Sort>, offset: usize, scalar: Scalar, state: &mut [u8]| {
            if let Some(sort) = sort {
                let value = load(state, offset, scalar);
                let renamed = members.moved(sort, value, places);
                if renamed != value {
                    store(state, offset, scalar, renamed);
                }
            }
        };
        move_cells(&self.globals, header.globals, header.globals, state);
        for process in 0..shape.processes.len() {
            let there = of((Sort::PROCESS, process as i32)).1 as usize;
            let (from, to) = (self.variables(shape, process), self.variables(shape, there));
            move_cells(self.cells(shape, process), from, to, state);
        }
        for cell in &self.globals {
            rename(cell.sort, header.globals + cell.offset as usize, cell.scalar, state);
        }
        for process in 0..shape.processes.len() {
            let start = self.variables(shape, process);
            let dead = &self.at(shape, state, process).dead;
            for (number, cell) in self.cells(shape, process).iter().enumerate() {
                if dead.binary_search(&number).is_err() {
                    rename(cell.sort, start + cell.offset as usize, cell.scalar, state);
                }
            }
        }
        for at in &shape.channels {
            let sorts = &self.symmetry.messages[at.kind.0 as usize];
            if sorts.iter().any(Option::is_some) {
                let kind = self.machine.program.channel(at.kind);
                let all: Vec<_> = fields(kind, at.offset, state).collect();
                for (number, (offset, scalar)) in all.into_iter().enumerate() {
                    rename(sorts[number % sorts.len()], offset, scalar, state);
                }
            }
        }
        for number in numbers.iter_mut().filter(|number| **number < shape.processes.len()) {
            *number = of((Sort::PROCESS, *number as i32)).1 as usize;
        }
    }

    fn shape(&self, state: &[u8], room: &mut Room) -> Arc<Shape> {
        let id = self.machine.shape_of(state);
        match &room.shape {
            Some(shape) if shape.id == id => shape.clone(),
            _ => room.shape.insert(self.machine.shapes.get(id)).clone(),
        }
    }

    fn members(&self, shape: &Shape, state: &[u8], room: &mut Room) -> Arc<Members> {
        let suits = |members: &Arc<Members>| members.shape == shape.id && members.suit(state);
        if let Some(members) = room.members.as_ref().filter(|it| suits(it)) {
            return members.clone();
        }
        let found = self.known.read().expect("no panic while locked").get(shape.id, state);
        let members = found.unwrap_or_else(|| {
            let mut known = self.known.write().expect("no panic while locked");
            // Another thread may have been faster.
            known.get(shape.id, state).unwrap_or_else(|| {
                let look = known.bytes < MOST_KNOWN;
                let header = &self.machine.header;
                let new = Arc::new(Members::new(&self.symmetry, header, shape, state, look));
                if look {
                    known.add(shape.id, state, &new);
                }
                new
            })
        });
        room.members.insert(members).clone()
    }

    /// Where the block of a process or channel is.
    fn block(&self, shape: &Shape, (sort, value): Thing) -> Option<Range<usize>> {
        match sort {
            Sort::PROCESS => {
                let at = shape.processes[value as usize];
                let variables = self.machine.program.automaton(at.kind).locals.bytes as usize;
                Some(at.offset..at.offset + self.machine.header.process + variables)
            }
            Sort::CHANNEL => {
                let at = shape.channels[value as usize - 1];
                let bytes = self.machine.program.channel(at.kind).bytes() as usize;
                Some(at.offset..at.offset + bytes)
            }
            _ => None,
        }
    }

    fn variables(&self, shape: &Shape, process: usize) -> usize {
        shape.processes[process].offset + self.machine.header.process
    }

    fn cells(&self, shape: &Shape, process: usize) -> &[Cell] {
        &self.symmetry.bodies[shape.processes[process].kind.0 as usize].cells
    }

    fn at(&self, shape: &Shape, state: &[u8], process: usize) -> &StateSorts {
        let at = shape.processes[process];
        let control = StateId(load_u16(state, at.offset));
        &self.symmetry.bodies[at.kind.0 as usize].states[usize::from(control.0)]
    }
}

/// Where the fields of all messages in a channel are, and how they are stored.
fn fields<'a>(
    kind: &'a ChannelType,
    offset: usize,
    state: &[u8],
) -> impl Iterator<Item = (usize, Scalar)> + use<'a> {
    let count = if kind.capacity == 0 { 0 } else { load(state, offset, kind.count()) as usize };
    (0..count).flat_map(move |slot| {
        let start = message_offset(ChannelAt { kind, offset }, slot);
        kind.fields.iter().map(move |field| (start + field.offset as usize, field.scalar))
    })
}

/// What members look like.
struct Looks<'a> {
    symmetry: &'a Symmetry,
    members: &'a Members,
    colours: &'a mut Vec<u64>,
    ties: &'a mut Vec<Tie>,
    /// Whether no value can become that of a member.
    harmless: bool,
}

impl Looks<'_> {
    fn add(&mut self, member: usize, look: u64) {
        self.colours[member] = self.colours[member].wrapping_add(look);
    }

    fn see_cell(&mut self, place: Place, owner: Option<(usize, usize)>, cell: &Cell, value: i32) {
        let (key, base) = match cell.key {
            None => (None, cell.offset),
            Some(key) => match self.members.whose(key.sort, key.value) {
                // The same place for all.
                Some(whose) => (Some(whose), cell.offset - key.value as u32 * key.stride),
                None => (None, cell.offset),
            },
        };
        self.see(place.code(base as usize), [owner, key], cell.sort, value);
    }

    /// Notes a value, whose it is, and what it stands for.
    fn see(
        &mut self,
        place: u64,
        [owner, key]: [Option<(usize, usize)>; 2],
        sort: Option<Sort>,
        value: i32,
    ) {
        let meant = sort.and_then(|sort| self.members.whose(sort, value));
        if let (Some(sort), None) = (sort, meant) {
            self.harmless &= self.symmetry.is_harmless(sort, value);
        }
        let ends = [owner, key, meant];
        let value = if meant.is_some() { 0 } else { value };
        let tie = Tie { place, ends, value };
        let Some((first, _)) = ends.into_iter().flatten().next() else {
            return;
        };
        for (end, (member, _)) in
            ends.iter().enumerate().filter_map(|(end, it)| Some((end, (*it)?)))
        {
            // Who else has to do with it counts as somebody, or oneself.
            let look = tie.look(end, |other| if other == member { 1 } else { 2 });
            self.add(member, look);
        }
        if ends.into_iter().flatten().any(|(member, _)| member != first) {
            self.ties.push(tie);
        }
    }

    /// Looks at those again that look alike, and now at who they have to do with.
    fn refine(&mut self, next: &mut Vec<u64>) {
        for _ in 0..MOST_ROUNDS {
            if self.ties.is_empty() || !self.has_doubles() {
                return;
            }
            next.clear();
            next.extend_from_slice(self.colours);
            for tie in &*self.ties {
                for (end, whose) in tie.ends.iter().enumerate() {
                    if let Some((member, _)) = *whose {
                        let colour =
                            |other| if other == member { 1 } else { mix(2, self.colours[other]) };
                        next[member] = next[member].wrapping_add(tie.look(end, colour));
                    }
                }
            }
            std::mem::swap(self.colours, next);
        }
    }

    fn has_doubles(&self) -> bool {
        self.members.sets.iter().any(|set| {
            let colours = &self.colours[set.clone()];
            colours.iter().enumerate().any(|(at, colour)| colours[at + 1..].contains(colour))
        })
    }
}

impl Tie {
    /// What it looks like to one of its ends, given what others look like to it.
    fn look(&self, end: usize, colour: impl Fn(usize) -> u64) -> u64 {
        let mut look = mix(mix(self.place, end as u64), self.value as u32 as u64);
        for whose in &self.ends {
            look = mix(look, whose.map_or(0, |(member, thing)| mix(colour(member), thing as u64)));
        }
        look
    }
}
