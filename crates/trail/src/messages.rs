//! Messages of a run: who sends them, and who receives them.

use std::collections::BTreeMap;

use spinward_machine::{Machine, Transfer, View, Way};

use crate::replay::Event;
use crate::values;

/// A message that a step sends or receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What the step does with it.
    pub kind: MessageKind,
    /// The channel, as its users call it.
    pub channel: String,
    /// Its fields: `ack,3`.
    pub text: String,
    /// For one who receives: the [index](crate::StepLine::index) of the step that sent it.
    pub sent_by: Option<usize>,
    /// Whether it goes from one to the other at once.
    pub rendezvous: bool,
}

/// What a step does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Sends it.
    Sent,
    /// Takes it.
    Received,
    /// Looks at it and leaves it.
    Seen,
}

impl MessageKind {
    /// As scripts know it: `sent`, `received`, `seen`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Seen => "seen",
        }
    }
}

/// Remembers who sent the messages that wait in channels.
#[derive(Debug, Default)]
pub(crate) struct Post {
    /// By channel: the index of the step that sent each message, the oldest first.
    waiting: BTreeMap<i32, Vec<Option<usize>>>,
}

impl Post {
    /// Follows a move without a word.
    pub fn follow(&mut self, machine: &Machine, event: &Event<'_>) {
        for transfer in event.transfers {
            self.pass(transfer, event.index + event.steps.len() - 1);
        }
        self.forget_closed(machine, event);
    }

    /// The messages of a move that starts where `before` is seen, each with which of its steps sends or receives
    /// it.
    pub fn tell(
        &mut self,
        machine: &Machine,
        before: &View,
        event: &Event<'_>,
    ) -> Vec<(usize, Message)> {
        let last = event.steps.len() - 1;
        let mut told = Vec::new();
        let mut after = None;
        for transfer in event.transfers {
            let sent_by = self.pass(transfer, event.index + last);
            // A `d_step` may use a channel that it made itself.
            let view = if transfer.channel as usize <= before.channels.len() {
                before
            } else {
                let state = || event.after.map(|after| machine.view(&after.state));
                after.get_or_insert_with(state).as_ref().unwrap_or(before)
            };
            let program = machine.program();
            let channel = usize::try_from(transfer.channel).unwrap_or(0);
            let kind = view.channels.get(channel.wrapping_sub(1)).map(|at| at.kind);
            let message = |kind_of_step, sent_by| Message {
                kind: kind_of_step,
                channel: values::channel_name(program, view, channel),
                text: kind
                    .map_or(String::new(), |kind| values::message(program, kind, &transfer.fields)),
                sent_by,
                rendezvous: transfer.way == Way::Handed,
            };
            match transfer.way {
                Way::Sent => told.push((last, message(MessageKind::Sent, None))),
                Way::Received => told.push((last, message(MessageKind::Received, sent_by))),
                Way::Seen => told.push((last, message(MessageKind::Seen, sent_by))),
                Way::Handed => {
                    told.push((0, message(MessageKind::Sent, None)));
                    told.push((last, message(MessageKind::Received, Some(event.index))));
                }
            }
        }
        self.forget_closed(machine, event);
        told
    }

    /// Puts a message into its channel or takes it out; who sent it.
    fn pass(&mut self, transfer: &Transfer, step: usize) -> Option<usize> {
        let Transfer { way, channel, slot, .. } = *transfer;
        let waiting = self.waiting.entry(channel).or_default();
        // Where not all of what a long `d_step` sends was told, nobody is known to have sent it.
        if waiting.len() < slot {
            waiting.resize(slot, None);
        }
        match way {
            Way::Sent => {
                waiting.insert(slot, Some(step));
                None
            }
            Way::Received if slot < waiting.len() => waiting.remove(slot),
            Way::Seen => waiting.get(slot).copied().flatten(),
            Way::Received | Way::Handed => None,
        }
    }

    /// With the process that made it a channel is gone, and so are its messages.
    fn forget_closed(&mut self, machine: &Machine, event: &Event<'_>) {
        let Some(after) = event.after else { return };
        if after.state.len() < event.before.state.len() {
            let alive = machine.view(&after.state).channels.len();
            self.waiting.retain(|&channel, _| channel as usize <= alive);
        }
    }
}
