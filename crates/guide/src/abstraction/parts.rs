//! A model, taken apart.
//!
//! Parts are processes, each with those of its variables that have few values; globals; channels; and what is watched:
//! the automaton or the claim that follows a run, and whether something was wrong. What nobody keeps track of may have any value, so
//! that whatever the model does, its parts can do too.

use rustc_hash::FxHashSet;
use spinward_machine::{Follower, Look, Machine, Sight};
use spinward_program::ir::Scalar;

use super::explore::{Explorer, root};
use super::knowledge::{Channel, Knowledge, Refusal};
use super::numbers::Numbers;
use super::system::System;
use crate::goals::follower_state;
use crate::{Room, Subject};

/// A model in parts, and how its states are seen as values of these.
#[derive(Debug)]
pub struct Parts {
    pub system: System,
    views: Vec<View>,
    /// Nothing can go wrong but what is watched for.
    pub harmless: bool,
    /// States before the one in which the model was taken apart: nothing is known of them.
    before: Vec<Vec<u8>>,
}

/// How the value of a part is found in a state.
#[derive(Debug)]
pub enum View {
    Process {
        number: usize,
        /// By body: its variables, and the numbers of where it is, with the values of these.
        bodies: Vec<(Vec<(u32, Scalar)>, Numbers)>,
        gone: Option<u32>,
    },
    Global {
        offset: u32,
        scalar: Scalar,
        values: Numbers,
    },
    Channel {
        number: usize,
        kept: Vec<usize>,
        /// By how many messages there are: the numbers of what they are.
        values: Vec<Numbers>,
        /// The number of one that is gone.
        gone: Option<u32>,
    },
    Watcher {
        follows: bool,
    },
}

impl Parts {
    /// Takes the model apart; or says why that cannot be.
    pub fn new(subject: &Subject<'_>) -> Result<Self, Refusal> {
        let machine = subject.machine;
        let options = machine.options();
        let claims = options.claim.is_some();
        if claims
            && machine.program().automata.iter().any(|it| it.states.iter().any(|it| it.accept))
        {
            return Err("it knows nothing of claims that accept runs without an end".into());
        }
        if options.trace && machine.program().trace.is_some() {
            return Err("it knows nothing of traces".into());
        }
        let ends = claims || subject.follower.is_some_and(Follower::has_ends);
        if !(options.assertions || options.end_states || !options.invariants.is_empty() || ends) {
            return Err("nothing is checked that it could tell the distance of".into());
        }
        let (root, before) = root(machine);
        let mut sight = Sight::default();
        let look = machine.look(&root, &mut sight);
        let program = &**machine.program();
        let channels = (0..look.channels()).map(|number| {
            let kind = look.channel_kind(number).clone();
            let lost_fields = vec![false; kind.fields.len()];
            let lost = false;
            Channel {
                kind,
                owner: look.owner(number),
                messages: Default::default(),
                lost_fields,
                lost,
            }
        });
        let (channels, patience) = (channels.collect(), subject.patience);
        let mut know = Knowledge::new(program, channels, options.assertions, patience);
        know.processes = vec![FxHashSet::default(); look.processes()];
        let mut work = 0;
        loop {
            let found = Explorer::new(&mut know, &look, !before.is_empty(), &mut work);
            match found.parts(subject) {
                Ok((system, views)) => {
                    // Whoever is not alone in what he claims to use alone goes wrong, too.
                    let claimed = options.exclusive && !program.exclusive.claims().is_empty();
                    let harmless = know.harmless && !claimed;
                    return Ok(Self { system, views, harmless, before });
                }
                Err(_) => {
                    if let Some(why) = know.refused.take() {
                        return Err(why);
                    }
                }
            }
        }
    }

    /// The values of the parts that are wanted, by their number; none if nothing is known of the state.
    pub fn values(
        &self,
        machine: &Machine,
        state: &[u8],
        wanted: &[bool],
        room: &mut Room,
    ) -> Option<()> {
        if self.before.iter().any(|it| *it == state[..it.len().min(state.len())]) {
            return None;
        }
        let Room { sight, values, contents, .. } = room;
        let look = machine.look(state, sight);
        values.clear();
        for (view, wanted) in self.views.iter().zip(wanted) {
            values.push(if *wanted { view.value(&look, state, contents)? } else { 0 });
        }
        Some(())
    }
}

impl View {
    pub fn value(
        &self,
        look: &Look<'_>,
        state: &[u8],
        contents: &mut [Vec<i32>; 2],
    ) -> Option<u32> {
        let [contents, room] = contents;
        match self {
            Self::Process { number, bodies, gone } => {
                if *number >= look.processes() {
                    return *gone;
                }
                let (body, control) = look.process(*number);
                let (cells, numbers) = &bodies[body.0 as usize];
                let values = cells.iter().map(|&(at, it)| look.local(*number, at, it));
                numbers.find([i32::from(control.0)].into_iter().chain(values), room)
            }
            Self::Global { offset, scalar, values } => {
                values.find([look.global(*offset, *scalar)].into_iter(), room)
            }
            Self::Channel { number, kept, values, gone } => {
                if *number >= look.channels() {
                    return *gone;
                }
                contents.clear();
                let count = look.contents(*number, kept, contents);
                values.get(count)?.find(contents.iter().skip(1).copied(), room)
            }
            Self::Watcher { follows: false } => Some(0),
            Self::Watcher { follows: true } => {
                let at = look.claim().map_or_else(|| follower_state(state), |it| it.0.into());
                Some(at as u32)
            }
        }
    }
}
