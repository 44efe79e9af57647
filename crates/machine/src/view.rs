//! A state in the model's own terms: for printing, comparing and drawing.

use spinward_program::ir::{BodyId, ChannelTypeId, StateId};

/// What a state holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The values of [`spinward_program::Program::globals`]' slots, in their order.
    pub globals: Vec<i32>,
    /// The values of [`spinward_program::Program::hidden`]'s slots, in their order.
    pub hidden: Vec<i32>,
    /// The processes, by their number.
    pub processes: Vec<ProcessView>,
    /// The channels; channel number `i + 1` at `i`.
    pub channels: Vec<ChannelView>,
    /// Where the claim is.
    pub claim: Option<StateId>,
    /// `_last`, if the model uses it.
    pub last: Option<i32>,
}

/// A process in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessView {
    /// Its type.
    pub body: BodyId,
    /// Where it is.
    pub state: StateId,
    /// Its priority, 1 if the model uses none.
    pub priority: i32,
    /// The values of its automaton's slots, in their order.
    pub locals: Vec<i32>,
}

/// A channel in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelView {
    /// Its kind.
    pub kind: ChannelTypeId,
    /// Its messages, the oldest first.
    pub messages: Vec<Vec<i32>>,
}
