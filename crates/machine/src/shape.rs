//! Which processes and channels are alive, and where in the state each of them is.
//!
//! Processes die youngest first and take the channels created since with them, so the living form a
//! stack: a shape is that stack, and shapes form a tree by what was pushed last. Each shape gets a
//! number when it is first met; a state holds the number, and all offsets are looked up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;
use spinward_program::Program;
use spinward_program::ir::{BodyId, ChannelTypeId};

/// A process or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entity {
    /// A process of this type.
    Process(BodyId),
    /// A channel of this kind.
    Channel(ChannelTypeId),
}

/// A living process or channel. Compiled code reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Placed<T> {
    /// Where its block starts in the state.
    pub offset: usize,
    /// Its type.
    pub kind: T,
}

impl<T> Placed<T> {
    /// Where its type is in it.
    pub const KIND: usize = std::mem::offset_of!(Self, kind);
}

/// Who is alive.
#[derive(Debug)]
pub struct Shape {
    /// Its number.
    pub id: u32,
    /// The shape without what was created last, and what that was.
    below: Option<(Arc<Shape>, Entity)>,
    /// The processes, by their number.
    pub processes: Vec<Placed<BodyId>>,
    /// The channels; channel number `i + 1` at `i`.
    pub channels: Vec<Placed<ChannelTypeId>>,
    /// The length of a state of this shape.
    pub bytes: usize,
}

/// What a shape takes in lists, in tables that may double, and of the allocator.
const SHAPE_BYTES: usize = 256;

/// Tells channels from processes in names.
const CHANNEL: u32 = 1 << 31;

/// All shapes met so far.
#[derive(Debug)]
pub struct Shapes {
    inner: RwLock<Inner>,
    /// Bytes they take, about.
    bytes: AtomicUsize,
}

#[derive(Debug)]
struct Inner {
    list: Vec<Arc<Shape>>,
    children: FxHashMap<(u32, Entity), Arc<Shape>>,
}

impl Shapes {
    /// The number of the shape in which nobody is alive.
    pub const EMPTY: u32 = 0;

    /// Only the empty shape, of states with so many bytes before the first process.
    pub fn new(bytes: usize) -> Self {
        let empty = Shape {
            id: Self::EMPTY,
            below: None,
            processes: Vec::new(),
            channels: Vec::new(),
            bytes,
        };
        Self {
            inner: RwLock::new(Inner {
                list: vec![Arc::new(empty)],
                children: FxHashMap::default(),
            }),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Bytes that all shapes take, about.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The shape with this number.
    pub fn get(&self, id: u32) -> Arc<Shape> {
        self.inner.read().expect("no panic while locked").list[id as usize].clone()
    }

    /// All shapes but the empty one in the order of their numbers, each as the number of the one below, what was
    /// created last, and the bytes of its block.
    pub fn names(&self) -> Vec<u8> {
        let inner = self.inner.read().expect("no panic while locked");
        let shapes = inner.list.iter().filter_map(|shape| {
            let (below, entity) = shape.below.as_ref()?;
            let kind = match *entity {
                Entity::Process(body) => body.0,
                Entity::Channel(kind) => CHANNEL | u32::from(kind.0),
            };
            Some([below.id, kind, (shape.bytes - below.bytes) as u32])
        });
        shapes.flatten().flat_map(u32::to_le_bytes).collect()
    }

    /// Gives shapes the numbers that they had when these names were told; whether that can be.
    pub fn adopt(&self, names: &[u8]) -> bool {
        let (names, rest) = names.as_chunks::<12>();
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, &it| all << 8 | u32::from(it));
        rest.is_empty()
            && (1..).zip(names).all(|(id, name)| {
                let [below, kind, bytes] = [0, 4, 8].map(|at| number(&name[at..at + 4]));
                let entity = match kind & !CHANNEL {
                    body if kind == body => Entity::Process(BodyId(body)),
                    kind => Entity::Channel(ChannelTypeId(kind as u16)),
                };
                below < id && self.push(&self.get(below), entity, bytes as usize).id == id
            })
    }

    /// The shape with one more process or channel, whose block has so many bytes.
    pub fn push(&self, shape: &Arc<Shape>, entity: Entity, bytes: usize) -> Arc<Shape> {
        let key = (shape.id, entity);
        if let Some(known) = self.inner.read().expect("no panic while locked").children.get(&key) {
            return known.clone();
        }
        let mut inner = self.inner.write().expect("no panic while locked");
        if let Some(known) = inner.children.get(&key) {
            return known.clone();
        }
        let mut processes = Vec::with_capacity(shape.processes.len() + 1);
        let mut channels = Vec::with_capacity(shape.channels.len() + 1);
        processes.extend_from_slice(&shape.processes);
        channels.extend_from_slice(&shape.channels);
        match entity {
            Entity::Process(kind) => processes.push(Placed { kind, offset: shape.bytes }),
            Entity::Channel(kind) => channels.push(Placed { kind, offset: shape.bytes }),
        }
        let placed = processes.capacity() + channels.capacity();
        let taken = placed * size_of::<Placed<BodyId>>() + size_of::<Shape>() + SHAPE_BYTES;
        self.bytes.fetch_add(taken, Ordering::Relaxed);
        let id = u32::try_from(inner.list.len()).expect("fewer than 2^32 shapes fit in memory");
        let below = Some((shape.clone(), entity));
        let new = Arc::new(Shape { id, below, processes, channels, bytes: shape.bytes + bytes });
        inner.list.push(new.clone());
        inner.children.insert(key, new.clone());
        new
    }
}

impl Shape {
    /// The process that a channel was created with, if it was not there before all of them.
    pub fn creator(&self, channel: &Placed<ChannelTypeId>) -> Option<usize> {
        self.processes.iter().rposition(|process| process.offset < channel.offset)
    }

    /// The shape without the youngest process and the channels created since, if there is one.
    pub fn without_youngest(&self) -> Option<&Arc<Self>> {
        let mut shape = self;
        while let Some((below, entity)) = &shape.below {
            if matches!(entity, Entity::Process(_)) {
                return Some(below);
            }
            shape = below;
        }
        None
    }
}

/// Where the parts of a state are.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Past the hidden variables: where the compared part starts, with the number of the shape.
    pub shape: usize,
    /// The state of the claim, if one is watched.
    pub claim: Option<usize>,
    /// Whether the run has ended and only the claim moves on, if the claim can tell.
    pub stutter: Option<usize>,
    /// The state of the trace, if it is watched.
    pub trace: Option<usize>,
    /// `_last`, if the model uses it.
    pub last: Option<usize>,
    /// The globals.
    pub globals: usize,
    /// Past the globals.
    pub end: usize,
    /// Bytes of a process before its variables: its local state, and its priority if the model uses
    /// priorities.
    pub process: usize,
}

impl Header {
    /// The layout of a program's states.
    pub fn new(program: &Program, claim: bool, trace: bool) -> Self {
        let shape = program.hidden.bytes as usize;
        let mut end = shape + size_of::<u32>();
        let mut field = |present: bool, bytes: usize| {
            present.then(|| {
                end += bytes;
                end - bytes
            })
        };
        let claim = field(claim, size_of::<u16>());
        let asks = program.uses.timeout && program.uses.timeout_in_claim;
        let stutter = field(claim.is_some() && asks, 1);
        let trace = field(trace, size_of::<u16>());
        let last = field(program.uses.last, 1);
        let globals = end;
        Self {
            shape,
            claim,
            stutter,
            trace,
            last,
            globals,
            end: globals + program.globals.bytes as usize,
            process: size_of::<u16>() + usize::from(program.uses.priorities),
        }
    }
}
