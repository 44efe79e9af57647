//! Who may move alone.
//!
//! In a state in which [`Independence`] says so of a process, and it can move, its moves are enough. If
//! something goes wrong in its moves, so that not all of them lead somewhere, they are not: a run that ends in
//! an error must not keep others from theirs.

use std::ops::ControlFlow;

use spinward_program::independence::{Alone, Channel, End, Independence};
use spinward_program::ir::Scalar;

use super::{Frame, Scratch};
use crate::Machine;
use crate::eval::Context;
use crate::shape::{Placed, Shape};
use crate::system::{Flow, Sink, Step};
use crate::violation::Violation;

impl Machine {
    /// Whether a process may move alone, if it can move; also if others may be put off for ever by that, if
    /// somebody else sees to that.
    pub(crate) fn may_go_alone(
        &self,
        independence: &Independence,
        context: &Context<'_>,
        ever: bool,
    ) -> bool {
        let Some(process) = context.process else {
            return false;
        };
        let processes = &context.shape.processes;
        let body = processes[process].kind;
        let Some(Alone { ends, creates, dies, turns }) =
            independence.alone(body, context.control(process))
        else {
            return false;
        };
        if *turns && !ever {
            return false;
        }
        let others = || processes.iter().enumerate().filter(|&(other, _)| other != process);
        if *dies && process + 1 != processes.len() {
            return false;
        }
        let new_ones_matter = *dies || *creates || !ends.is_empty();
        let may_create = |(other, at): (usize, &Placed<_>)| {
            independence.ever_creates(at.kind)
                && independence.may_create(at.kind, context.control(other))
        };
        if new_ones_matter && others().any(may_create) {
            return false;
        }
        if *creates && others().any(|(it, at)| independence.may_die(at.kind, context.control(it))) {
            return false;
        }
        if *dies && !self.claims_hold_for_ever(independence, context, process) {
            return false;
        }
        ends.iter().all(|(end, channel)| self.has_alone(independence, context, *end, channel))
    }

    /// Whether the process that asks can use an end of a channel now, and nobody else ever does anything
    /// that matters to who uses it.
    fn has_alone(
        &self,
        independence: &Independence,
        context: &Context<'_>,
        end: End,
        channel: &Channel,
    ) -> bool {
        let own = context.process;
        let Some(number) = own.and_then(|own| self.number_of(context, own, channel)) else {
            return false;
        };
        let Some(at) = context.channel(number).ok().filter(|at| at.kind.capacity > 0) else {
            return false;
        };
        if self.may_go_away(independence, context, number) {
            return false;
        }
        let conditions = independence.conditions();
        let count = context.message_count(at);
        let (has_message, has_room) = (count > 0, count < at.kind.capacity as usize);
        let (fits, leaves_chances) = match end {
            End::In => (has_room, has_message),
            End::Out => (has_message, has_room),
        };
        if conditions.room && !fits || conditions.chances && !leaves_chances {
            return false;
        }
        let claims = |process| self.claims(context, process, end, number);
        let mut others = (0..context.shape.processes.len()).filter(|&other| Some(other) != own);
        !conditions.channels
            || !others.any(claims)
                && !self.has_rivals(independence, context, end, number, own.is_some_and(claims))
    }

    /// Whether a channel may go away while the process that asks stays: with one that it was created with, and that is
    /// younger.
    fn may_go_away(&self, independence: &Independence, context: &Context<'_>, number: i32) -> bool {
        let Shape { processes, channels, .. } = context.shape;
        let channel = &channels[number as usize - 1];
        let own = context.process.map_or(0, |process| processes[process].offset);
        // Most channels are there before all processes.
        if channel.offset <= own {
            return false;
        }
        let creator = context.shape.creator(channel).filter(|&it| Some(it) > context.process);
        creator.is_some_and(|it| independence.may_die(processes[it].kind, context.control(it)))
    }

    /// Whether others than the process that asks, or watched conditions, ever do anything that matters to
    /// who uses an end of a channel.
    fn has_rivals(
        &self,
        independence: &Independence,
        context: &Context<'_>,
        end: End,
        number: i32,
        claimed: bool,
    ) -> bool {
        let means = |process: Option<usize>, channel: &Channel| match channel {
            Channel::Numbers(numbers) => numbers.contains(&number),
            Channel::Own(_) => {
                process.is_none_or(|it| self.number_of(context, it, channel) == Some(number))
            }
            Channel::Any => true,
        };
        let processes = context.shape.processes.iter().enumerate();
        let others = processes.filter(|&(other, _)| Some(other) != context.process);
        let mut everybody =
            others.map(|(other, at)| (Some(other), Some(at.kind))).chain([(None, None)]);
        everybody.any(|(process, body)| {
            independence.rivals(body, end, claimed).any(|channel| means(process, channel))
        })
    }

    /// Whether nobody else ever does anything that might break a claim of a process.
    fn claims_hold_for_ever(
        &self,
        independence: &Independence,
        context: &Context<'_>,
        process: usize,
    ) -> bool {
        let mut claims = self.program.exclusive.of(context.shape.processes[process].kind);
        !self.minds_claims()
            || claims.all(|claim| {
                let number = self.number_of(context, process, &claim.channel);
                number
                    .is_none_or(|it| !self.has_rivals(independence, context, claim.end, it, false))
            })
    }

    /// The number of the channel that a process means, if it is one.
    pub(super) fn number_of(
        &self,
        context: &Context<'_>,
        process: usize,
        channel: &Channel,
    ) -> Option<i32> {
        match channel {
            Channel::Numbers(numbers) => numbers.first().copied().filter(|_| numbers.len() == 1),
            Channel::Own(offset) => Some(context.own_channel(process, *offset)),
            Channel::Any => None,
        }
    }

    /// Tells the moves of a process, if it has any and nothing goes wrong in them; whether that was so. The
    /// state is one between moves.
    pub(crate) fn explore_alone(
        &self,
        state: &[u8],
        process: usize,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<(), bool> {
        if self.is_plain()
            && let Some(any) = self.explore_some(state, &[process], scratch, sink)?
        {
            return ControlFlow::Continue(any);
        }
        self.look_at_shape(state, scratch);
        let mut follow = |sink: &mut dyn Sink| {
            self.enter_state(state, scratch).restrict(process);
            self.follow_frames(None, scratch, sink)
        };
        let mut trial = Trial { any: false, wrong: false, sink };
        let tried = follow(&mut trial);
        let Trial { any, wrong, sink } = trial;
        if wrong {
            scratch.findings.forget();
            return ControlFlow::Continue(false);
        }
        tried?;
        if any { follow(sink).map_continue(|()| true) } else { ControlFlow::Continue(false) }
    }
}

/// Tries moves, until something goes wrong.
struct Trial<'s> {
    any: bool,
    wrong: bool,
    /// Who takes the moves afterwards, and counts memory.
    sink: &'s mut dyn Sink,
}

impl Sink for Trial<'_> {
    fn successor(&mut self, _: &[u8], _: &[Step]) -> Flow {
        self.any = true;
        Flow::Continue(())
    }

    fn violation(&mut self, _: Violation, _: &[Step]) -> Flow {
        self.wrong = true;
        Flow::Break(())
    }

    fn working(&mut self, bytes: usize) -> Flow {
        self.sink.working(bytes)
    }

    fn needs_steps(&self) -> bool {
        false
    }
}

impl Frame {
    /// Asks only one process.
    pub(super) fn restrict(&mut self, process: usize) {
        self.fresh = false;
        self.restricted = true;
        self.lowest = process;
        self.scan.process = process + 1;
    }
}

impl Context<'_> {
    /// The number of a channel in a variable of a process.
    fn own_channel(&self, process: usize, offset: u32) -> i32 {
        let block = self.shape.processes[process].offset + self.machine.header.process;
        self.load(block + offset as usize, Scalar::U8)
    }
}
