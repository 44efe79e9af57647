//! What is known of channels before anything runs.

use rustc_hash::FxHashMap;
use spinward_program::Program;
use spinward_program::channels::fixed_channels;
use spinward_program::ir::{ChannelType, ChannelTypeId, Expr, InitStep, Space};

use crate::shape::Header;

/// What the compiled code looks up of a kind of channel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct KindEntry {
    capacity: u32,
    /// Kinds of one class have the same layout.
    pub class: u32,
    /// Bytes of the number of messages; 0 for a rendezvous, which has none.
    pub count_bytes: u32,
}

impl KindEntry {
    pub const CAPACITY: usize = std::mem::offset_of!(Self, capacity);
    pub const CLASS: usize = std::mem::offset_of!(Self, class);
    pub const COUNT_BYTES: usize = std::mem::offset_of!(Self, count_bytes);
}

/// What is known of channels.
#[derive(Debug)]
pub(super) struct Kinds {
    /// By kind. The compiled code has its address.
    entries: Box<[KindEntry]>,
    /// By the offset of a global variable that always holds the same channel.
    constants: FxHashMap<u32, Known>,
}

/// A channel that is known before anything runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub kind: ChannelTypeId,
    pub number: i32,
    /// Where its block is in every state.
    pub offset: usize,
}

impl Kinds {
    pub fn new(program: &Program, header: &Header) -> Self {
        let classes: Vec<_> = program.channels.iter().map(layout).collect();
        let entries = program.channels.iter().zip(&classes).map(|(kind, own)| KindEntry {
            capacity: kind.capacity,
            class: classes.iter().position(|class| class == own).unwrap_or(0) as u32,
            count_bytes: if kind.capacity == 0 { 0 } else { kind.count().bytes() },
        });
        let entries = entries.collect();
        Self { entries, constants: constants(program, header) }
    }

    /// Where the table is.
    pub fn address(&self) -> usize {
        self.entries.as_ptr() as usize
    }

    /// The entry of a kind; kinds are told apart by their layout only.
    pub fn of(&self, program: &Program, kind: &ChannelType) -> KindEntry {
        let own = layout(kind);
        let at = program.channels.iter().position(|other| layout(other) == own);
        self.entries[at.unwrap_or(0)]
    }

    /// The channel that an expression always means.
    pub fn known(&self, expr: &Expr) -> Option<Known> {
        match expr {
            Expr::Load(place) if place.space == Space::Global && place.indexes.is_empty() => {
                self.constants.get(&place.offset).copied()
            }
            _ => None,
        }
    }

    /// Whether there is a kind of channel for rendezvous.
    pub fn any_rendezvous(&self) -> bool {
        self.entries.iter().any(|entry| entry.capacity == 0)
    }

    /// Whether an expression always means a certain rendezvous channel.
    pub fn is_rendezvous(&self, expr: &Expr) -> bool {
        self.known(expr).is_some_and(|known| self.entries[known.kind.0 as usize].capacity == 0)
    }
}

/// What the channels of one class have in common.
fn layout(kind: &ChannelType) -> (bool, u32, u32, Vec<(u32, spinward_program::ir::Scalar)>) {
    let fields = kind.fields.iter().map(|field| (field.offset, field.scalar)).collect();
    (kind.capacity == 0, kind.count().bytes(), kind.message_bytes, fields)
}

/// The global variables that hold the channel they were created with for ever.
fn constants(program: &Program, header: &Header) -> FxHashMap<u32, Known> {
    let mut offset = header.end;
    let mut offsets = Vec::new();
    for step in &program.init {
        if let InitStep::NewChannel(_, kind) = step {
            offsets.push(offset);
            offset += program.channel(*kind).bytes() as usize;
        }
    }
    let known =
        |(number, kind): (i32, _)| Known { kind, number, offset: offsets[number as usize - 1] };
    fixed_channels(program).into_iter().map(|(at, channel)| (at, known(channel))).collect()
}
