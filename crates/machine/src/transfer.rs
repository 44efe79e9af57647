//! Messages on their way from one process to another.

/// A message that is sent or received in a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What is done with it.
    pub way: Way,
    /// The channel's number.
    pub channel: i32,
    /// Its place in the channel, counted from the oldest message; 0 in a rendezvous.
    pub slot: usize,
    /// Its fields, as the channel's types leave them.
    pub fields: Vec<i32>,
}

/// What is done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is put into a channel.
    Sent,
    /// It is taken out of a channel.
    Received,
    /// It is looked at, and stays in its channel (`?<...>`).
    Seen,
    /// It goes from the sender to the receiver at once: a rendezvous.
    Handed,
}
