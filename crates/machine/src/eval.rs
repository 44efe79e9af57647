//! Values of expressions.

use spinward_program::ir::{
    BinaryOp, BodyId, ChannelTest, ChannelType, Expr, Place, ReceiveArg, Scalar, Space, StateId,
};

use crate::Machine;
use crate::memory::load;
use crate::shape::Shape;
use crate::touched::Touched;
use crate::violation::RuntimeError;

/// Who asks, and in which state.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The state.
    pub state: &'a [u8],
    /// Its shape.
    pub shape: &'a Shape,
    /// The number of the process that asks; none if it is the claim or the trace.
    pub process: Option<usize>,
    /// What `timeout` is.
    pub timeout: bool,
    /// How many questions whether a process is enabled wait for the answer.
    pub asked: usize,
    /// Who wants to know which bytes of the state are looked at.
    pub touched: Option<&'a Touched>,
}

/// The number of a local state.
pub const CONTROL: Scalar = Scalar::Unsigned(u16::BITS as u8);

/// Mistakes after which an evaluation goes on.
pub type Mistakes = Vec<RuntimeError>;

/// A value, or why there is none.
pub type Value = Result<i32, RuntimeError>;

/// A channel in a state.
#[derive(Clone, Copy)]
pub struct ChannelAt<'a> {
    /// Its kind.
    pub kind: &'a ChannelType,
    /// Where its block is.
    pub offset: usize,
}

impl<'a> Context<'a> {
    /// Evaluates an expression.
    pub fn eval(&self, expr: &Expr, mistakes: &mut Mistakes) -> Value {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Load(place) => {
                let offset = self.offset(place, mistakes)?;
                self.load(offset, place.scalar)
            }
            Expr::Pid => self.process.map_or(0, |p| p as i32),
            Expr::ProcessCount => {
                self.read_shape();
                (self.shape.processes.len() + usize::from(self.machine.header.claim.is_some()))
                    as i32
            }
            Expr::Last => self.machine.header.last.map_or(0, |at| self.load(at, Scalar::U8)),
            Expr::Priority => self.process.map_or(0, |p| self.priority(p)),
            Expr::Timeout => {
                self.touched.inspect(|touched| touched.read_movers());
                i32::from(self.timeout)
            }
            Expr::NonProgress => i32::from(!self.any_progress()),
            Expr::Unary(op, a) => op.apply(self.eval(a, mistakes)?),
            Expr::Binary(BinaryOp::And, a, b) => {
                i32::from(self.eval(a, mistakes)? != 0 && self.eval(b, mistakes)? != 0)
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                i32::from(self.eval(a, mistakes)? != 0 || self.eval(b, mistakes)? != 0)
            }
            Expr::Binary(op, a, b) => op
                .apply(self.eval(a, mistakes)?, self.eval(b, mistakes)?)
                .ok_or(RuntimeError::DivisionByZero)?,
            Expr::Conditional(c, a, b) => {
                let chosen = if self.eval(c, mistakes)? != 0 { a } else { b };
                self.eval(chosen, mistakes)?
            }
            Expr::Len(channel) => {
                let channel = self.channel(self.eval(channel, mistakes)?)?;
                self.message_count(channel) as i32
            }
            Expr::ChannelTest(test, channel) => {
                let channel = self.channel(self.eval(channel, mistakes)?)?;
                let count = self.message_count(channel);
                // A rendezvous channel is neither full nor holds a message when nobody offers one.
                let full = channel.kind.capacity > 0 && count == channel.kind.capacity as usize;
                i32::from(match test {
                    ChannelTest::Full => full,
                    ChannelTest::NotFull => !full,
                    ChannelTest::Empty => count == 0,
                    ChannelTest::NotEmpty => count > 0,
                })
            }
            Expr::Poll { channel, random, args } => {
                let channel = self.channel(self.eval(channel, mistakes)?)?;
                if channel.kind.capacity == 0 {
                    mistakes.push(RuntimeError::PollOfRendezvous);
                    return Ok(0);
                }
                i32::from(self.find_message(channel, *random, args, mistakes)?.is_some())
            }
            Expr::Enabled(pid) => {
                let pid = self.eval(pid, mistakes)?;
                if self.process.is_some_and(|own| own as i32 == pid) {
                    return Err(RuntimeError::EnabledOfSelf);
                }
                self.read_shape();
                match usize::try_from(pid) {
                    Ok(pid) if pid < self.shape.processes.len() => {
                        i32::from(self.machine.enabled(self, pid, mistakes)?)
                    }
                    _ => 0,
                }
            }
            Expr::PcValue(pid) => {
                let pid = self.eval(pid, mistakes)?;
                self.living(pid).map_or(0, |p| i32::from(self.control(p).0))
            }
            Expr::GetPriority(pid) => {
                let pid = self.eval(pid, mistakes)?;
                self.living(pid).map_or(0, |p| self.priority(p))
            }
            Expr::RemoteLabel { body, pid, state } => {
                let process = self.remote(*body, pid.as_deref(), mistakes)?;
                i32::from(process.is_some_and(|p| self.control(p) == *state))
            }
            Expr::RemoteVar { body, pid, place } => {
                match self.remote(*body, pid.as_deref(), mistakes)? {
                    Some(p) if self.shape.processes[p].kind == *body => {
                        let inner = self.place_in_block(place, mistakes)?;
                        let at =
                            self.shape.processes[p].offset + self.machine.header.process + inner;
                        self.load(at, place.scalar)
                    }
                    _ => 0,
                }
            }
            Expr::C(_) => 0,
        })
    }

    /// Notes that an answer depends on which processes and channels there are.
    fn read_shape(&self) {
        self.touched.inspect(|touched| touched.read_shape());
    }

    /// A number in the state: all that is known of a state is read here.
    pub fn load(&self, offset: usize, scalar: Scalar) -> i32 {
        if let Some(touched) = self.touched {
            touched.read(offset, scalar.bytes() as usize);
        }
        load(self.state, offset, scalar)
    }

    /// The offset of a place in the state.
    pub fn offset(&self, place: &Place, mistakes: &mut Mistakes) -> Result<usize, RuntimeError> {
        let base = match place.space {
            Space::Global => self.machine.header.globals,
            Space::Hidden => 0,
            Space::Local => {
                let process = self.process.expect("only processes have local variables");
                self.shape.processes[process].offset + self.machine.header.process
            }
        };
        Ok(base + self.place_in_block(place, mistakes)?)
    }

    fn place_in_block(
        &self,
        place: &Place,
        mistakes: &mut Mistakes,
    ) -> Result<usize, RuntimeError> {
        let mut offset = place.offset as usize;
        for index in &place.indexes {
            let before = self.touched.map(|touched| touched.set_for_index(true));
            let value = self.eval(&index.value, mistakes);
            self.touched.zip(before).inspect(|(touched, before)| {
                touched.set_for_index(*before);
            });
            let value = value?;
            match u32::try_from(value) {
                Ok(i) if i < index.length => offset += (i * index.stride) as usize,
                _ => {
                    return Err(RuntimeError::IndexOutOfBounds {
                        index: value,
                        length: index.length,
                    });
                }
            }
        }
        Ok(offset)
    }

    /// The channel with this number.
    pub fn channel(&self, number: i32) -> Result<ChannelAt<'a>, RuntimeError> {
        self.machine.channel_at(self.shape, number)
    }

    /// How many messages a channel holds.
    pub fn message_count(&self, channel: ChannelAt<'_>) -> usize {
        if channel.kind.capacity == 0 {
            return 0;
        }
        self.load(channel.offset, channel.kind.count()) as usize
    }

    /// A field of a message.
    pub fn message_field(&self, channel: ChannelAt<'_>, slot: usize, field: usize) -> i32 {
        let at = message_offset(channel, slot) + channel.kind.fields[field].offset as usize;
        self.load(at, channel.kind.fields[field].scalar)
    }

    /// The message that a receive or poll would take: the first, or with `random` the first that
    /// matches.
    pub fn find_message(
        &self,
        channel: ChannelAt<'_>,
        random: bool,
        args: &[ReceiveArg],
        mistakes: &mut Mistakes,
    ) -> Result<Option<usize>, RuntimeError> {
        let count = self.message_count(channel);
        if count == 0 {
            return Ok(None);
        }
        let candidates = if random { count } else { 1 };
        for slot in 0..candidates {
            let field = |i| self.message_field(channel, slot, i);
            if self.matches(args, channel.kind.fields.len(), field, mistakes)? {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// Whether a message fits the arguments of a receive.
    pub fn matches(
        &self,
        args: &[ReceiveArg],
        fields: usize,
        field: impl Fn(usize) -> i32,
        mistakes: &mut Mistakes,
    ) -> Result<bool, RuntimeError> {
        for (i, arg) in args.iter().enumerate() {
            if let ReceiveArg::Match(value) = arg {
                if i >= fields {
                    return Err(RuntimeError::ReceiveFieldCount);
                }
                if self.eval(value, mistakes)? != field(i) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Where a process is.
    pub fn control(&self, process: usize) -> StateId {
        StateId(self.load(self.shape.processes[process].offset, CONTROL) as u16)
    }

    /// The priority of a process.
    pub fn priority(&self, process: usize) -> i32 {
        if self.machine.program.uses.priorities {
            self.load(self.shape.processes[process].offset + 2, Scalar::U8)
        } else {
            1
        }
    }

    fn living(&self, pid: i32) -> Option<usize> {
        self.read_shape();
        usize::try_from(pid).ok().filter(|&p| p < self.shape.processes.len())
    }

    fn remote(
        &self,
        body: BodyId,
        pid: Option<&Expr>,
        mistakes: &mut Mistakes,
    ) -> Result<Option<usize>, RuntimeError> {
        Ok(match pid {
            Some(pid) => self.living(self.eval(pid, mistakes)?),
            None => {
                self.read_shape();
                self.shape.processes.iter().position(|p| p.kind == body)
            }
        })
    }

    fn any_progress(&self) -> bool {
        self.read_shape();
        self.shape
            .processes
            .iter()
            .enumerate()
            .any(|(i, p)| self.machine.program.automaton(p.kind).state(self.control(i)).progress)
    }
}

impl Machine {
    /// The channel with this number in states of this shape.
    pub(crate) fn channel_at(
        &self,
        shape: &Shape,
        number: i32,
    ) -> Result<ChannelAt<'_>, RuntimeError> {
        if number == 0 {
            return Err(RuntimeError::UninitializedChannel);
        }
        // A number that a model computes may be any.
        let index = number.checked_sub(1).and_then(|index| usize::try_from(index).ok());
        let found = index.and_then(|index| shape.channels.get(index));
        match found {
            Some(at) => Ok(ChannelAt { kind: self.program.channel(at.kind), offset: at.offset }),
            None => Err(RuntimeError::NotAChannel(number)),
        }
    }
}

/// Where a message starts.
pub fn message_offset(channel: ChannelAt<'_>, slot: usize) -> usize {
    channel.offset
        + channel.kind.count().bytes() as usize
        + slot * channel.kind.message_bytes as usize
}
