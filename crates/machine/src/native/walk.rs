//! Runs compiled code: from a state to the moves of one process.
//!
//! A compiled function appends the states it finds to a *room* of fixed size, each behind a
//! [`Record`] of the step that leads to it. A state inside of an atomic sequence is not told: its
//! process goes on, which appends more, until all that was begun has come to its end. Nothing is told
//! before that, so whenever compiled code meets something that it was not made for, or finds no more
//! room, all of it is forgotten and the interpreter finds the moves of the process.

use std::mem::offset_of;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use spinward_program::ir::{BodyId, ChannelTypeId, TransitionId};

use super::{Answers, Native};
use crate::Machine;
use crate::exec::Work;
use crate::shape::{Placed, Shape};
use crate::system::{Flow, Step};

/// Bytes for the states that one process leads to.
const ROOM: usize = 1 << 18;

/// States are copied to multiples of this.
const ALIGNMENT: usize = align_of::<u128>();

/// So often a state inside of an atomic sequence is compared with one before; then the interpreter
/// takes over, which has a better way.
const COMPARISONS: usize = 10_000;

/// In place of a sender.
const NOBODY: u32 = u32::MAX;

/// What compiled code is told besides the state.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Env {
    channels: *const Placed<ChannelTypeId>,
    processes: *const Placed<BodyId>,
    /// By transition: whether it was looked at.
    tried: *mut bool,
    /// The fields of a message that is offered, or the arguments of a process that is created.
    fields: *mut i32,
    channel_count: u32,
    process_count: u32,
    pid: u32,
    timeout: u32,
    /// The number of the channel on which a message is offered.
    offered: i32,
    offered_fields: u32,
    /// Which of the watched conditions hold.
    values: u64,
}

impl Env {
    pub const VALUES: usize = offset_of!(Self, values);
    pub const CHANNELS: usize = offset_of!(Self, channels);
    pub const PROCESSES: usize = offset_of!(Self, processes);
    pub const TRIED: usize = offset_of!(Self, tried);
    pub const FIELDS: usize = offset_of!(Self, fields);
    pub const CHANNEL_COUNT: usize = offset_of!(Self, channel_count);
    pub const PROCESS_COUNT: usize = offset_of!(Self, process_count);
    pub const PID: usize = offset_of!(Self, pid);
    pub const TIMEOUT: usize = offset_of!(Self, timeout);
    pub const OFFERED: usize = offset_of!(Self, offered);
    pub const OFFERED_FIELDS: usize = offset_of!(Self, offered_fields);
}

/// Stands in front of a state that was reached.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
struct Record {
    /// The shape of the state.
    shape: *const Shape,
    /// The last step to it.
    transition: u32,
    process: u32,
    /// Whether only that process may move next.
    alone: u32,
    /// The step before if it is a rendezvous: the send, and who sends, or [`NOBODY`].
    sent: u32,
    sender: u32,
    /// Bytes to the next record.
    size: u32,
}

impl Record {
    /// Bytes in front of a state.
    const BYTES: usize = size_of::<Self>();

    fn steps(&self) -> ([Step; 2], usize) {
        let step = |process: u32, transition| Step {
            process: process as u16,
            transition: TransitionId(transition),
        };
        let last = step(self.process, self.transition);
        if self.sender == NOBODY {
            ([last; 2], 1)
        } else {
            ([step(self.sender, self.sent), last], 2)
        }
    }

    /// Bytes of a record with a state of so many.
    fn size(state: usize) -> usize {
        Self::BYTES + state.next_multiple_of(ALIGNMENT)
    }
}

/// The states that follow one inside of an atomic sequence.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Where that one is in the room; none for the state at the bottom.
    from: Option<usize>,
    /// The record to look at next, and where they end.
    next: usize,
    end: usize,
    /// How many steps lead to that one.
    steps: usize,
}

/// A state that is told.
#[derive(Clone, Copy, Debug)]
struct End {
    /// Where it is in the room.
    at: usize,
    /// Where the steps to it end in the list of all.
    steps: usize,
}

/// The part of the room that the atomic sequences of a process took.
#[derive(Clone, Copy, Debug)]
struct Atomic {
    start: usize,
    end: usize,
    /// Where the states that are told of them end in the list of all.
    ends: usize,
}

/// What compiled code works with. The pointers in it are those of the call under way.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Walk {
    /// First, so that compiled code, which knows only this part, and helpers can use one address.
    env: Env,
    machine: *const Machine,
    native: *const Native,
    /// The shape of the state that is looked at.
    shape: *const Shape,
    /// What `timeout` is for the first step of a move.
    timeout: u32,
    /// Who offers a message, and by which transition.
    sender: u32,
    sent: u32,
    /// Whether a state was reached after which its process goes on alone.
    alone: u32,
    /// Whether somebody wants to know the steps of atomic sequences.
    tells_steps: bool,
    /// Bytes of the room in use.
    used: usize,
    room: Vec<u128>,
    fields: Vec<i32>,
    /// The state with the sender of an offer gone on.
    offered: Vec<u8>,
    /// Room to create a process in.
    work: Option<Work>,
    levels: Vec<Level>,
    steps: Vec<Step>,
    atomic: Vec<Atomic>,
    ends: Vec<End>,
    /// The steps to all that is told.
    told: Vec<Step>,
}

// SAFETY: the pointers are set at the start of every call and used only until it returns.
unsafe impl Send for Walk {}

impl Default for Walk {
    fn default() -> Self {
        Self {
            env: Env {
                channels: std::ptr::null(),
                processes: std::ptr::null(),
                tried: std::ptr::null_mut(),
                fields: std::ptr::null_mut(),
                channel_count: 0,
                process_count: 0,
                pid: 0,
                timeout: 0,
                offered: 0,
                offered_fields: 0,
                values: 0,
            },
            machine: std::ptr::null(),
            native: std::ptr::null(),
            shape: std::ptr::null(),
            timeout: 0,
            sender: NOBODY,
            sent: 0,
            alone: 0,
            tells_steps: true,
            used: 0,
            room: Vec::new(),
            fields: Vec::new(),
            offered: Vec::new(),
            work: None,
            levels: Vec::new(),
            steps: Vec::new(),
            atomic: Vec::new(),
            ends: Vec::new(),
            told: Vec::new(),
        }
    }
}

impl Walk {
    /// Makes ready to look for the moves from states of a shape.
    #[inline]
    pub fn begin(
        &mut self,
        machine: &Machine,
        native: &Native,
        shape: &Shape,
        timeout: bool,
        tells_steps: bool,
        tried: &mut [bool],
    ) {
        if self.room.is_empty() {
            self.room = vec![0; ROOM / size_of::<u128>()];
            self.fields = vec![0; native.fields];
            self.env.fields = self.fields.as_mut_ptr();
        }
        self.machine = machine;
        self.native = native;
        self.env.tried = tried.as_mut_ptr();
        self.timeout = u32::from(timeout);
        self.tells_steps = tells_steps;
        self.forget();
        self.look_at(shape);
    }

    /// Finds all moves of one process from a state of the shape that was begun with. False: compiled
    /// code does not know them, and none was found.
    #[inline]
    pub fn find(&mut self, native: &Native, shape: &Shape, state: &[u8], process: usize) -> bool {
        assert!(state.len() == shape.bytes, "a state is as long as its shape says");
        let start = self.used;
        self.env.timeout = self.timeout;
        self.sender = NOBODY;
        self.alone = 0;
        // SAFETY: the state is of its shape. It is not changed: only what `fork` copied is.
        let mut known = unsafe { self.call(native, state.as_ptr().cast_mut(), shape, process) };
        if known && self.alone != 0 {
            let found = (self.ends.len(), self.told.len());
            known = self.go_on(native, start);
            self.look_at(shape);
            if known {
                self.atomic.push(Atomic { start, end: self.used, ends: self.ends.len() });
            } else {
                self.ends.truncate(found.0);
                self.told.truncate(found.1);
            }
        }
        if !known {
            self.used = start;
        }
        known
    }

    /// Which of the watched conditions hold in a state, the first as the lowest bit; none: compiled code does not
    /// know.
    pub fn values(&mut self, native: &Native, shape: &Shape, state: &[u8]) -> Option<u64> {
        assert!(state.len() == shape.bytes, "a state is as long as its shape says");
        let function = native.values?;
        self.look_at(shape);
        self.env.timeout = 0;
        let walk: *mut Self = self;
        let state = state.as_ptr().cast_mut();
        // SAFETY: the state is of its shape, and is not changed. `walk` begins with its `Env`.
        let known = unsafe { function(walk, state, state) == 0 };
        known.then_some(self.env.values)
    }

    /// Whether moves should be told before there is no room for more.
    pub fn is_filled(&self) -> bool {
        self.used > ROOM / 2
    }

    /// Tells the moves found, each with the steps to it, and forgets them; whether there were any.
    ///
    /// Not before those of all processes were found, if there is room: what was just written byte by
    /// byte cannot be read as words without waiting for that.
    #[inline]
    pub fn tell(&mut self, mut each: impl FnMut(&[u8], &[Step]) -> Flow) -> ControlFlow<(), bool> {
        let (mut at, mut end, mut step) = (0, 0, 0);
        for atomic in &self.atomic {
            self.tell_records(at, atomic.start, &mut each)?;
            for &End { at, steps } in &self.ends[end..atomic.ends] {
                each(self.state(at), &self.told[step..steps])?;
                step = steps;
            }
            (at, end) = (atomic.end, atomic.ends);
        }
        self.tell_records(at, self.used, &mut each)?;
        let any = self.used > 0;
        self.forget();
        ControlFlow::Continue(any)
    }

    /// Tells the states of all records in a part of the room.
    #[inline(always)]
    fn tell_records(
        &self,
        start: usize,
        end: usize,
        each: &mut impl FnMut(&[u8], &[Step]) -> Flow,
    ) -> Flow {
        let mut at = start;
        while at < end {
            let record = self.record(at);
            if self.tells_steps {
                let (steps, count) = record.steps();
                each(self.state(at), &steps[..count])?;
            } else {
                each(self.state(at), &[])?;
            }
            at += record.size as usize;
        }
        Flow::Continue(())
    }

    /// Forgets the moves found.
    pub fn forget(&mut self) {
        self.used = 0;
        self.atomic.clear();
        self.ends.clear();
        self.told.clear();
    }

    fn look_at(&mut self, shape: &Shape) {
        self.shape = shape;
        self.env.channels = shape.channels.as_ptr();
        self.env.processes = shape.processes.as_ptr();
        self.env.channel_count = shape.channels.len() as u32;
        self.env.process_count = shape.processes.len() as u32;
    }

    /// Has the moves of a process appended. False: compiled code does not know them.
    ///
    /// # Safety
    /// The state must be of the shape that was last [looked at](Self::look_at).
    unsafe fn call(
        &mut self,
        native: &Native,
        state: *mut u8,
        shape: &Shape,
        process: usize,
    ) -> bool {
        let at = shape.processes[process];
        // SAFETY: the block of a process is inside of the state.
        let (block, control) = unsafe { (state.add(at.offset), control(state, at.offset)) };
        let Some(function) = native.entry(at.kind, control).moves else {
            return false;
        };
        self.env.pid = process as u32;
        let walk: *mut Self = self;
        // SAFETY: code for this local state of this kind of process; `walk` begins with its `Env`.
        unsafe { function(walk, state, block) == 0 }
    }

    /// A record that was written.
    #[inline(always)]
    fn record(&self, at: usize) -> &Record {
        debug_assert!(at < self.used);
        // SAFETY: records are written one behind the other, at multiples of their alignment.
        unsafe { &*self.room.as_ptr().byte_add(at).cast::<Record>() }
    }

    /// The state behind a record.
    #[inline(always)]
    fn state(&self, at: usize) -> &[u8] {
        let record = self.record(at);
        // SAFETY: `fork` wrote record and state; shapes live as long as the machine.
        unsafe {
            let bytes = (*record.shape).bytes;
            let start = self.room.as_ptr().byte_add(at + Record::BYTES).cast::<u8>();
            std::slice::from_raw_parts(start, bytes)
        }
    }

    /// Lets a process go on alone from the records that start there, to the ends. False: compiled code
    /// does not know them.
    fn go_on(&mut self, native: &Native, start: usize) -> bool {
        self.env.timeout = 0;
        self.levels.clear();
        self.steps.clear();
        let mut comparisons = 0;
        self.levels.push(Level { from: None, next: start, end: self.used, steps: 0 });
        while let Some(level) = self.levels.last_mut() {
            if level.next == level.end {
                self.levels.pop();
                continue;
            }
            let at = level.next;
            self.steps.truncate(level.steps);
            let record = *self.record(at);
            self.levels.last_mut().expect("as above").next += record.size as usize;
            let (steps, count) = record.steps();
            if self.tells_steps {
                self.steps.extend_from_slice(&steps[..count]);
            }
            let start = self.used;
            if record.alone != 0 {
                let closes = |step: &Step| native.closes_cycle[step.transition.0 as usize];
                if steps.iter().any(closes) && self.came_before(at, &mut comparisons) {
                    return false;
                }
                // SAFETY: shapes live as long as the machine.
                let shape = unsafe { &*record.shape };
                self.look_at(shape);
                let room = self.room.as_mut_ptr();
                // SAFETY: a state that `fork` wrote, of the shape that its record says.
                let known = unsafe {
                    let state = room.byte_add(at + Record::BYTES).cast();
                    self.call(native, state, shape, record.process as usize)
                };
                if !known {
                    return false;
                }
            }
            if self.used > start {
                let (end, steps) = (self.used, self.steps.len());
                self.levels.push(Level { from: Some(at), next: start, end, steps });
            } else {
                // The sequence is over, or it is interrupted, for the process cannot go on.
                self.told.extend_from_slice(&self.steps);
                self.ends.push(End { at, steps: self.told.len() });
            }
        }
        true
    }

    /// Whether a state is one on the way to it, or that would take too long to find out.
    fn came_before(&self, at: usize, comparisons: &mut usize) -> bool {
        let (record, state) = (self.record(at), self.state(at));
        *comparisons += self.levels.len();
        *comparisons > COMPARISONS
            || self.levels.iter().filter_map(|level| level.from).any(|before| {
                self.record(before).process == record.process && self.state(before) == state
            })
    }
}

/// The local state of a process.
///
/// # Safety
/// Its block must begin there.
unsafe fn control(state: *const u8, offset: usize) -> u16 {
    // SAFETY: it begins with the number of the local state.
    u16::from_le(unsafe { state.add(offset).cast::<u16>().read_unaligned() })
}

/// Copies the state that is looked at, to be changed by a transition; null if there is no room.
///
/// # Safety
/// As for compiled code: the walk of the call under way, and a state of the shape it looks at.
pub(super) unsafe extern "C" fn fork(
    walk: *mut Walk,
    state: *const u8,
    transition: u32,
    alone: u32,
) -> *mut u8 {
    // SAFETY: nobody else uses the walk while compiled code waits for this; the copy is within the
    // room, which `state` may be a part of, but one that was written before.
    unsafe {
        let walk = &mut *walk;
        let bytes = (*walk.shape).bytes;
        let size = Record::size(bytes);
        if size > ROOM - walk.used {
            return std::ptr::null_mut();
        }
        let at = walk.room.as_mut_ptr().byte_add(walk.used);
        at.cast::<Record>().write(Record {
            shape: walk.shape,
            transition,
            process: walk.env.pid,
            alone,
            sent: walk.sent,
            sender: walk.sender,
            size: size as u32,
        });
        let copy = at.byte_add(Record::BYTES).cast::<u8>();
        copy_state(state, copy, bytes);
        walk.alone |= alone;
        walk.used += size;
        copy
    }
}

/// Copies a state: without a call, for most are small.
///
/// # Safety
/// Both must have so many bytes, and not overlap.
#[inline(always)]
unsafe fn copy_state(from: *const u8, to: *mut u8, bytes: usize) {
    const BLOCK: usize = size_of::<u128>();
    // SAFETY: all blocks are within the bytes; the last ones may overlap.
    unsafe {
        let copy = |at: usize| {
            let block = from.add(at).cast::<u128>().read_unaligned();
            to.add(at).cast::<u128>().write_unaligned(block);
        };
        if bytes < BLOCK {
            return std::ptr::copy_nonoverlapping(from, to, bytes);
        }
        let mut at = 0;
        while at + BLOCK < bytes {
            copy(at);
            at += BLOCK;
        }
        copy(bytes - BLOCK);
    }
}

/// Gives the last state another shape.
///
/// # Safety
/// `state` must be what `fork` returned last, and there must be room for the new size.
unsafe fn reshape(walk: &mut Walk, state: *mut u8, shape: &Shape) {
    // SAFETY: a record is in front of the state.
    unsafe {
        let record = &mut *state.sub(Record::BYTES).cast::<Record>();
        walk.used -= record.size as usize;
        record.shape = shape;
        record.size = Record::size(shape.bytes) as u32;
        walk.used += record.size as usize;
    }
}

/// Takes the youngest process out of the last state.
///
/// # Safety
/// `state` must be what `fork` returned last, and have a process.
pub(super) unsafe extern "C" fn die(walk: *mut Walk, state: *mut u8) {
    // SAFETY: as above; the new size is not larger.
    unsafe {
        let walk = &mut *walk;
        let Some(shape) = (*walk.shape).without_youngest() else {
            return;
        };
        let at = (*walk.machine).header.shape;
        state.add(at).cast::<u32>().write_unaligned(shape.id.to_le());
        reshape(walk, state, shape);
    }
}

/// Creates a process in the last state, with the first of the fields as its arguments; says its
/// number, or less than 0 if it could not be done.
///
/// # Safety
/// `state` must be what `fork` returned last.
pub(super) unsafe extern "C" fn create(
    walk: *mut Walk,
    state: *mut u8,
    body: u32,
    arguments: u32,
) -> i32 {
    // SAFETY: as above; the new state is copied only if there is room.
    unsafe {
        let walk = &mut *walk;
        let machine = &*walk.machine;
        let old = &*walk.shape;
        let shape = machine.shapes.get(old.id);
        let work = walk.work.get_or_insert_with(|| Work::new(Vec::new(), shape.clone()));
        work.shape = shape;
        work.state.clear();
        work.state.extend_from_slice(std::slice::from_raw_parts(state, old.bytes));
        let arguments = &walk.fields[..arguments as usize];
        let Ok(pid) = machine.create(work, BodyId(body), arguments, 1) else {
            return -1;
        };
        let growth = Record::size(work.state.len()) - Record::size(old.bytes);
        if growth > ROOM - walk.used {
            return -1;
        }
        std::ptr::copy_nonoverlapping(work.state.as_ptr(), state, work.state.len());
        // The machine holds on to its shapes.
        let shape = Arc::as_ptr(&work.shape);
        reshape(walk, state, &*shape);
        pid
    }
}

/// Has the answers to an offer appended; says how many bytes that took, or less than 0 if compiled
/// code does not know them.
///
/// # Safety
/// As for compiled code; the message must be among the fields.
pub(super) unsafe extern "C" fn answer(walk: *mut Walk, state: *const u8, transition: u32) -> i64 {
    // SAFETY: compiled code uses the walk again, so no reference to it is held meanwhile. The
    // offered state has its own room.
    unsafe {
        let (native, shape) = (&*(*walk).native, &*(*walk).shape);
        let (sender, timeout, before) = ((*walk).env.pid, (*walk).env.timeout, (*walk).used);
        let channel = channel_bit((*walk).env.offered);
        let mut offered: *mut u8 = std::ptr::null_mut();
        for (process, at) in shape.processes.iter().enumerate().rev() {
            let may_answer = native.receives[at.kind.0 as usize] & channel != 0;
            if !may_answer || process as u32 == sender {
                continue;
            }
            let function = match native.entry(at.kind, control(state, at.offset)).answers {
                Answers::Never => continue,
                Answers::Interpreted => return -1,
                Answers::Compiled(_, channels) if channels & channel == 0 => continue,
                Answers::Compiled(function, _) => function,
            };
            if offered.is_null() {
                offered = offer(&mut *walk, state, sender, TransitionId(transition));
                (*walk).sender = sender;
                (*walk).sent = transition;
                // As in SPIN's verifier, `timeout` lasts for one statement.
                (*walk).env.timeout = 0;
            }
            (*walk).env.pid = process as u32;
            if function(walk, offered, offered.add(at.offset)) != 0 {
                return -1;
            }
        }
        (*walk).sender = NOBODY;
        (*walk).env.pid = sender;
        (*walk).env.timeout = timeout;
        ((*walk).used - before) as i64
    }
}

/// The bit of a channel in a set.
pub(super) fn channel_bit(number: i32) -> u64 {
    1 << (number & 63)
}

/// A copy of the state that is looked at, with the sender of an offer gone on.
///
/// # Safety
/// The state must be of the shape that is looked at.
unsafe fn offer(
    walk: &mut Walk,
    state: *const u8,
    sender: u32,
    transition: TransitionId,
) -> *mut u8 {
    // SAFETY: as above; the machine is that of the call under way.
    let (shape, machine) = unsafe { (&*walk.shape, &*walk.machine) };
    let transition = machine.program.transition(transition);
    walk.offered.resize(shape.bytes, 0);
    // SAFETY: as above; it has room for as many bytes.
    unsafe { copy_state(state, walk.offered.as_mut_ptr(), shape.bytes) };
    let at = shape.processes[sender as usize].offset;
    walk.offered[at..at + 2].copy_from_slice(&transition.to.0.to_le_bytes());
    let locals = &mut walk.offered[at + machine.header.process..];
    for &Range { start, end } in &transition.resets {
        locals[start as usize..end as usize].fill(0);
    }
    if let Some(last) = machine.header.last {
        walk.offered[last] = sender as u8;
    }
    walk.offered.as_mut_ptr()
}

/// Moves what follows the first `first` of `bytes` bytes to their start, and puts zeros at the end.
///
/// # Safety
/// There must be so many bytes.
pub(super) unsafe extern "C" fn close_gap(at: *mut u8, first: u32, bytes: u32) {
    let (first, bytes) = (first as usize, bytes as usize);
    // SAFETY: the compiled code gives the messages of a channel from one on, `bytes` long, of which
    // `first` is that one.
    let all = unsafe { std::slice::from_raw_parts_mut(at, bytes) };
    all.copy_within(first.., 0);
    all[bytes - first..].fill(0);
}

/// The number of the oldest process of a type; more than there are processes, if there is none.
///
/// # Safety
/// `walk` is that of the call under way.
pub(super) unsafe extern "C" fn oldest(walk: *const Walk, body: u32) -> u32 {
    // SAFETY: nobody changes the walk meanwhile; shapes live as long as the machine.
    let shape = unsafe { &*(*walk).shape };
    let found = shape.processes.iter().position(|process| process.kind.0 == body);
    found.map_or(u32::MAX, |number| number as u32)
}

/// Moves all but the last `first` of `bytes` bytes that far up.
///
/// # Safety
/// There must be so many bytes.
pub(super) unsafe extern "C" fn open_gap(at: *mut u8, first: u32, bytes: u32) {
    let (first, bytes) = (first as usize, bytes as usize);
    // SAFETY: as for `close_gap`.
    let all = unsafe { std::slice::from_raw_parts_mut(at, bytes) };
    all.copy_within(..bytes - first, first);
}
