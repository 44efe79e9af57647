//! Channels that are never full, and of which nobody knows how full they are.
//!
//! *Idea*: who is the only one to send to such a channel can always do so, and might have done so before:
//! others take what is in it in the same order. Who is the only one to receive from it might have done so
//! later: what others send in between comes behind. That a channel is never full is known if it has room for
//! all that is ever sent to it: each send stands where a process that there is once comes once.
//!
//! Nobody must do anything but wait if there is no message, as for locks (`locks.rs`). A channel that might be
//! known by another name is none of these, nor one that somebody asks about, sorts, or searches.
//!
//! *Cost*: a walk over all steps.

use std::collections::BTreeMap;

use crate::independence::{Analysis, Channel, Who};
use crate::ir::{Action, Expr, Transition};
use crate::touches::{Touches, Use};
use crate::ways::Ways;

/// The channels that are never full, by their numbers.
pub(crate) struct Pipes(BTreeMap<i32, Pipe>);

#[derive(Default)]
struct Pipe {
    /// How many messages still have room.
    room: u32,
    senders: Who,
    receivers: Who,
    /// Something is done with it that others must not do.
    is_asked: bool,
}

impl Pipes {
    /// Of the processes of a program.
    pub fn new(analysis: &Analysis<'_>, ways: &[Ways<'_>]) -> Self {
        let room = |kind| analysis.program.channel(kind).capacity;
        let new = |&(number, kind)| (number, Pipe { room: room(kind), ..Pipe::default() });
        let mut pipes = Self(analysis.channels.values().map(new).collect());
        for (_, channel) in &analysis.watched.uses {
            pipes.ask(&analysis.channel(None, channel));
        }
        for ways in ways {
            for (_, transition) in ways.transitions() {
                if let Action::DStep { .. } = transition.action {
                    let mut touches = Touches::default();
                    touches.add(ways.program, transition);
                    for (_, channel) in touches.uses {
                        pipes.ask(&analysis.channel(Some(transition.body), channel));
                    }
                }
            }
            for (_, step, touches) in ways.steps() {
                for &(use_, channel) in &touches.uses {
                    pipes.add(analysis, ways, step, use_, channel);
                }
            }
        }
        pipes.0.retain(|_, pipe| !pipe.is_asked);
        pipes
    }

    /// Whether a step uses only ends of such channels that no other process uses: to send, or to receive.
    pub fn are_used(
        &self,
        analysis: &Analysis<'_>,
        step: &Transition,
        uses: &[(Use, &Expr)],
    ) -> Option<Use> {
        let body = step.body.0 as usize;
        let &[(use_, channel)] = uses else {
            return None;
        };
        let Channel::Numbers(numbers) = analysis.channel(Some(step.body), channel) else {
            return None;
        };
        let pipe = numbers.first().filter(|_| numbers.len() == 1).and_then(|it| self.0.get(it))?;
        let who = match use_ {
            Use::Send => pipe.senders,
            Use::Receive => pipe.receivers,
            _ => return None,
        };
        (who == Who::One(body)).then_some(use_)
    }

    /// Somebody does something with one of some channels that makes it none of these.
    fn ask(&mut self, channel: &Channel) {
        for (number, pipe) in &mut self.0 {
            pipe.is_asked |= match channel {
                Channel::Numbers(numbers) => numbers.contains(number),
                Channel::Own(_) | Channel::Any => true,
            };
        }
    }

    fn add(
        &mut self,
        analysis: &Analysis<'_>,
        ways: &Ways<'_>,
        step: &Transition,
        use_: Use,
        channel: &Expr,
    ) {
        let channel = analysis.channel(Some(step.body), channel);
        let (body, life) = (step.body.0 as usize, &analysis.lives[step.body.0 as usize]);
        let pipe = match &channel {
            Channel::Numbers(numbers) if numbers.len() == 1 => self.0.get_mut(&numbers[0]),
            _ => None,
        };
        let is_one = match (pipe, use_) {
            (Some(pipe), Use::Send) => {
                pipe.senders.add(body, life.number);
                let once = pipe.senders == Who::One(body) && !analysis.is_on_cycle(step);
                once && pipe.room.checked_sub(1).map(|room| pipe.room = room).is_some()
            }
            (Some(pipe), Use::Receive) => {
                pipe.receivers.add(body, life.number);
                ways.only_waits(step.from)
            }
            _ => false,
        };
        if !is_one {
            self.ask(&channel);
        }
    }
}
