//! How many messages are on their way.
//!
//! *Idea*: processes that wait for messages wait for ever when there are none left (Lin, Chu and Liu, *Protocol
//! verification using reachability analysis*, 1987). With `full` the other way round: how many more messages
//! channels have room for, for errors that show when these are full.
//!
//! *Properties*: not admissible, since an error need not wait for messages.
//!
//! *Cost*: one number for each channel.

use spinward_machine::Machine;

use crate::{Entry, Guide, Misfit, Room, Subject, Way};

const NAME: &str = "message";

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "the number of messages in channels, or that would have room",
    argument: Some("empty or full"),
    admissible: false,
    consistent: false,
    build: |subject, argument| Ok(Box::new(Message::new(subject, argument)?)),
};

struct Message<'m> {
    machine: &'m Machine,
    full: bool,
}

impl<'m> Message<'m> {
    fn new(subject: &Subject<'m>, argument: Option<&str>) -> Result<Self, Misfit> {
        let full = match argument {
            None | Some("empty") => false,
            Some("full") => true,
            Some(other) => {
                let (takes, argument) = ("'empty' or 'full'", other.to_owned());
                return Err(Misfit::Argument { guide: NAME, takes, argument });
            }
        };
        let machine = subject.machine;
        if machine.program().channels.iter().all(|it| it.capacity == 0) {
            let why = "needs a channel that messages wait in, and the model has none";
            return Err(Misfit::Property { guide: NAME, why: why.into() });
        }
        Ok(Self { machine, full })
    }
}

impl Guide for Message<'_> {
    fn estimate(&self, state: &[u8], _: Way<'_>, room: &mut Room) -> u32 {
        let (messages, places) = self.machine.look(state, &mut room.sight).all_messages();
        if self.full { places - messages } else { messages }
    }
}
