//! From expressions and actions to Cranelift's intermediate code.
//!
//! All numbers are 32 bits wide, as in C. Whatever the compiled code cannot or need not do (a
//! run-time error to report, a kind of channel it was not made for) leads to the *slow exit*: the
//! function then says so, and the interpreter does the transition again from the start.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, SigRef, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use spinward_program::Program;
use spinward_program::ir::{
    Action, BinaryOp, BodyId, ChannelTest, ChannelType, ChannelTypeId, Expr, Place, ReceiveArg,
    Scalar, Space, Transition, UnaryOp,
};

use super::kinds::{KindEntry, Kinds};
use super::walk::{self, Env};
use crate::shape::{Header, Placed};

/// Messages of at most so many bytes in all are moved by code without a call.
const MOVED_INLINE: u32 = 64;

/// What the code is made for.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub program: &'a Program,
    pub header: &'a Header,
    pub kinds: &'a Kinds,
    /// Whether sends and receives are watched by a trace.
    pub traced: bool,
}

/// A function in the making.
pub(super) struct Emitter<'a, 'b> {
    pub target: Target<'a>,
    pub builder: FunctionBuilder<'b>,
    pub env: Value,
    pub state: Value,
    pub block: Value,
    /// Where to go if the interpreter must take over.
    pub slow: Block,
    pub pointer: Type,
    /// How helpers are called, by their number.
    pub helpers: [SigRef; Helper::ALL.len()],
}

/// What compiled code has done by a function of this crate.
#[derive(Clone, Copy)]
pub(super) enum Helper {
    Fork,
    Die,
    Create,
    Answer,
    CloseGap,
    OpenGap,
    Oldest,
}

impl Helper {
    pub const ALL: [Self; 7] = [
        Self::Fork,
        Self::Die,
        Self::Create,
        Self::Answer,
        Self::CloseGap,
        Self::OpenGap,
        Self::Oldest,
    ];

    fn address(self) -> usize {
        let function = match self {
            Self::Fork => walk::fork as *const (),
            Self::Die => walk::die as *const (),
            Self::Create => walk::create as *const (),
            Self::Answer => walk::answer as *const (),
            Self::CloseGap => walk::close_gap as *const (),
            Self::OpenGap => walk::open_gap as *const (),
            Self::Oldest => walk::oldest as *const (),
        };
        function as usize
    }

    /// What it takes and returns.
    pub fn signature(self, pointer: Type) -> (Vec<Type>, Option<Type>) {
        let number = types::I32;
        match self {
            Self::Fork => (vec![pointer, pointer, number, number], Some(pointer)),
            Self::Die => (vec![pointer, pointer], None),
            Self::Create => (vec![pointer, pointer, number, number], Some(number)),
            Self::Answer => (vec![pointer, pointer, number], Some(types::I64)),
            Self::CloseGap | Self::OpenGap => (vec![pointer, number, number], None),
            Self::Oldest => (vec![pointer, number], Some(number)),
        }
    }
}

/// A channel that can hold messages.
struct Channel<'a> {
    /// Its address.
    at: Value,
    capacity: Capacity,
    /// One with this layout; it may be another one.
    kind: &'a ChannelType,
}

enum Capacity {
    Known(u32),
    Loaded(Value),
}

impl<'a> Emitter<'a, '_> {
    pub fn number(&mut self, value: i32) -> Value {
        self.builder.ins().iconst(types::I32, i64::from(value))
    }

    /// Goes on only if `condition` holds; otherwise the interpreter takes over.
    pub fn go_on_if(&mut self, condition: Value) {
        let next = self.builder.create_block();
        let slow = self.slow;
        self.builder.ins().brif(condition, next, &[], slow, &[]);
        self.builder.switch_to_block(next);
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Const(value) => self.number(*value),
            Expr::Load(place) => {
                let (at, offset) = self.address(place);
                self.load(at, offset, place.scalar)
            }
            Expr::Pid => self.env_field(Env::PID),
            Expr::ProcessCount => {
                let count = self.env_field(Env::PROCESS_COUNT);
                let claim = i64::from(self.target.header.claim.is_some());
                self.builder.ins().iadd_imm_s(count, claim)
            }
            Expr::Last => match self.target.header.last {
                Some(at) => self.load(self.state, at as i32, Scalar::U8),
                None => self.number(0),
            },
            Expr::Timeout => self.env_field(Env::TIMEOUT),
            Expr::Unary(UnaryOp::Neg, a) => {
                let a = self.value(a);
                self.builder.ins().ineg(a)
            }
            Expr::Unary(UnaryOp::Complement, a) => {
                let a = self.value(a);
                self.builder.ins().bnot(a)
            }
            Expr::Binary(op, a, b) if is_arithmetic(*op) => self.arithmetic(*op, a, b),
            Expr::Conditional(c, a, b) => {
                let c = self.condition(c);
                self.choose(c, types::I32, |e| e.value(a), |e| e.value(b))
            }
            Expr::Len(channel) => match self.channel(channel, None) {
                Some(channel) => self.message_count(&channel),
                None => {
                    self.give_up();
                    self.number(0)
                }
            },
            Expr::Unary(UnaryOp::Not, _)
            | Expr::Binary(..)
            | Expr::ChannelTest(..)
            | Expr::Poll { .. }
            | Expr::RemoteLabel { .. } => {
                let truth = self.condition(expr);
                self.builder.ins().uextend(types::I32, truth)
            }
            Expr::RemoteVar { body, pid, place } => {
                let pid = self.remote(*body, pid.as_deref());
                let lives = self.lives(pid);
                let kind = body.0;
                self.choose(
                    lives,
                    types::I32,
                    |e| {
                        let (at, its_kind) = e.process(pid);
                        let same =
                            e.builder.ins().icmp_imm_s(IntCC::Equal, its_kind, i64::from(kind));
                        e.choose(
                            same,
                            types::I32,
                            |e| {
                                let (at, offset) = e.inside(at, place);
                                let offset = offset + e.target.header.process as i32;
                                e.load(at, offset, place.scalar)
                            },
                            |e| e.number(0),
                        )
                    },
                    |e| e.number(0),
                )
            }
            Expr::Priority
            | Expr::NonProgress
            | Expr::Enabled(_)
            | Expr::PcValue(_)
            | Expr::GetPriority(_)
            | Expr::C(_) => {
                self.give_up();
                self.number(0)
            }
        }
    }

    /// Whether an expression is not 0, as a byte that is 0 or 1.
    pub fn condition(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Unary(UnaryOp::Not, a) => {
                let a = self.condition(a);
                self.builder.ins().bxor_imm_u(a, 1)
            }
            Expr::Binary(BinaryOp::And, a, b) => {
                let a = self.condition(a);
                if is_harmless(b) {
                    let b = self.condition(b);
                    return self.builder.ins().band(a, b);
                }
                self.choose(a, types::I8, |e| e.condition(b), |e| e.truth(false))
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                let a = self.condition(a);
                if is_harmless(b) {
                    let b = self.condition(b);
                    return self.builder.ins().bor(a, b);
                }
                self.choose(a, types::I8, |e| e.truth(true), |e| e.condition(b))
            }
            Expr::Binary(op, a, b) if !is_arithmetic(*op) => {
                let how = match op {
                    BinaryOp::Lt => IntCC::SignedLessThan,
                    BinaryOp::Le => IntCC::SignedLessThanOrEqual,
                    BinaryOp::Gt => IntCC::SignedGreaterThan,
                    BinaryOp::Ge => IntCC::SignedGreaterThanOrEqual,
                    BinaryOp::Eq => IntCC::Equal,
                    _ => IntCC::NotEqual,
                };
                let a = self.value(a);
                let b = self.value(b);
                self.builder.ins().icmp(how, a, b)
            }
            Expr::ChannelTest(test, channel) => {
                let Some(channel) = self.channel(channel, None) else {
                    return self.no_truth();
                };
                let count = self.message_count(&channel);
                match test {
                    ChannelTest::Empty => self.builder.ins().icmp_imm_s(IntCC::Equal, count, 0),
                    ChannelTest::NotEmpty => {
                        self.builder.ins().icmp_imm_s(IntCC::NotEqual, count, 0)
                    }
                    ChannelTest::Full => self.against(IntCC::Equal, count, &channel),
                    ChannelTest::NotFull => self.against(IntCC::NotEqual, count, &channel),
                }
            }
            Expr::Poll { channel, random, args } => self.receivable(channel, *random, args),
            Expr::RemoteLabel { body, pid, state } => {
                let pid = self.remote(*body, pid.as_deref());
                let lives = self.lives(pid);
                let state = i64::from(state.0);
                self.choose(
                    lives,
                    types::I8,
                    |e| {
                        let (at, _) = e.process(pid);
                        let control = e.load(at, 0, Scalar::Unsigned(16));
                        e.builder.ins().icmp_imm_s(IntCC::Equal, control, state)
                    },
                    |e| e.truth(false),
                )
            }
            _ => {
                let value = self.value(expr);
                self.builder.ins().icmp_imm_s(IntCC::NotEqual, value, 0)
            }
        }
    }

    /// Ends the function, also where the interpreter takes over.
    pub fn finish(&mut self) {
        let known = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().return_(&[known]);
        self.builder.switch_to_block(self.slow);
        let unknown = self.builder.ins().iconst(types::I64, 1);
        self.builder.ins().return_(&[unknown]);
    }

    /// Calls a helper; what it returns, or nothing of use.
    pub fn call(&mut self, helper: Helper, arguments: &[Value]) -> Value {
        let function = self.builder.ins().iconst(self.pointer, helper.address() as i64);
        let signature = self.helpers[helper as usize];
        let call = self.builder.ins().call_indirect(signature, function, arguments);
        self.builder.inst_results(call).first().copied().unwrap_or(function)
    }

    /// The interpreter takes over always; what follows is never reached.
    pub fn give_up(&mut self) {
        let slow = self.slow;
        self.builder.ins().jump(slow, &[]);
        let next = self.builder.create_block();
        self.builder.switch_to_block(next);
    }

    fn no_truth(&mut self) -> Value {
        self.give_up();
        self.truth(false)
    }

    pub fn truth(&mut self, value: bool) -> Value {
        self.builder.ins().iconst(types::I8, i64::from(value))
    }

    fn arithmetic(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Value {
        let left = self.value(a);
        let right = self.value(b);
        match op {
            BinaryOp::Add => self.builder.ins().iadd(left, right),
            BinaryOp::Sub => self.builder.ins().isub(left, right),
            BinaryOp::Mul => self.builder.ins().imul(left, right),
            BinaryOp::BitAnd => self.builder.ins().band(left, right),
            BinaryOp::BitOr => self.builder.ins().bor(left, right),
            BinaryOp::BitXor => self.builder.ins().bxor(left, right),
            BinaryOp::Shl => self.builder.ins().ishl(left, right),
            BinaryOp::Shr => self.builder.ins().sshr(left, right),
            _ => {
                // 0 is an error, and -1 may overflow, which traps.
                if !matches!(b, Expr::Const(divisor) if !matches!(divisor, 0 | -1)) {
                    let next = self.builder.ins().iadd_imm_s(right, 1);
                    let fine = self.builder.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, next, 1);
                    self.go_on_if(fine);
                }
                if op == BinaryOp::Div {
                    self.builder.ins().sdiv(left, right)
                } else {
                    self.builder.ins().srem(left, right)
                }
            }
        }
    }

    /// One of two values, of which only the chosen one is computed.
    pub fn choose(
        &mut self,
        condition: Value,
        ty: Type,
        yes: impl FnOnce(&mut Self) -> Value,
        no: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let [if_so, if_not, end] = std::array::from_fn(|_| self.builder.create_block());
        let result = self.builder.append_block_param(end, ty);
        self.builder.ins().brif(condition, if_so, &[], if_not, &[]);
        self.builder.switch_to_block(if_so);
        let value = yes(self);
        self.builder.ins().jump(end, &[value.into()]);
        self.builder.switch_to_block(if_not);
        let value = no(self);
        self.builder.ins().jump(end, &[value.into()]);
        self.builder.switch_to_block(end);
        result
    }

    pub fn env_field(&mut self, offset: usize) -> Value {
        self.builder.ins().load(types::I32, flags(), self.env, offset as i32)
    }

    /// Whether a process with this number lives.
    /// The number of the process that is asked about.
    fn remote(&mut self, body: BodyId, pid: Option<&Expr>) -> Value {
        match pid {
            Some(pid) => self.value(pid),
            None => {
                let body = self.number(body.0 as i32);
                self.call(Helper::Oldest, &[self.env, body])
            }
        }
    }

    /// Stores which of some conditions hold, the first as the lowest bit.
    pub fn values(&mut self, conditions: &[&Expr]) {
        let mut values = self.builder.ins().iconst(types::I64, 0);
        for (bit, condition) in conditions.iter().enumerate() {
            let holds = self.condition(condition);
            let holds = self.builder.ins().uextend(types::I64, holds);
            let holds = self.builder.ins().ishl_imm_u(holds, bit as i64);
            values = self.builder.ins().bor(values, holds);
        }
        self.builder.ins().store(flags(), values, self.env, Env::VALUES as i32);
    }

    fn lives(&mut self, pid: Value) -> Value {
        let count = self.env_field(Env::PROCESS_COUNT);
        self.builder.ins().icmp(IntCC::UnsignedLessThan, pid, count)
    }

    /// The address of a living process, and its kind.
    fn process(&mut self, pid: Value) -> (Value, Value) {
        let table = self.builder.ins().load(self.pointer, flags(), self.env, Env::PROCESSES as i32);
        let entry = self.entry(table, pid, size_of::<Placed<spinward_program::ir::BodyId>>());
        let offset = self.builder.ins().load(self.pointer, flags(), entry, 0);
        let kind = self.builder.ins().load(types::I32, flags(), entry, Placed::<()>::KIND as i32);
        (self.builder.ins().iadd(self.state, offset), kind)
    }

    /// The address of an element of a table.
    fn entry(&mut self, table: Value, index: Value, size: usize) -> Value {
        let index = self.builder.ins().uextend(self.pointer, index);
        let distance = self.builder.ins().imul_imm_s(index, size as i64);
        self.builder.ins().iadd(table, distance)
    }

    /// The address of a variable, as an address and a constant to add.
    fn address(&mut self, place: &Place) -> (Value, i32) {
        let header = self.target.header;
        let (base, start) = match place.space {
            Space::Global => (self.state, header.globals),
            Space::Hidden => (self.state, 0),
            Space::Local => (self.block, header.process),
        };
        let (at, offset) = self.inside(base, place);
        (at, start as i32 + offset)
    }

    /// The address of a variable in its block.
    fn inside(&mut self, base: Value, place: &Place) -> (Value, i32) {
        let mut at = base;
        for index in &place.indexes {
            let value = self.value(&index.value);
            let length = i64::from(index.length);
            let fits = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, value, length);
            self.go_on_if(fits);
            let value = self.builder.ins().uextend(self.pointer, value);
            let distance = self.builder.ins().imul_imm_s(value, i64::from(index.stride));
            at = self.builder.ins().iadd(at, distance);
        }
        (at, place.offset as i32)
    }

    fn load(&mut self, at: Value, offset: i32, scalar: Scalar) -> Value {
        let ins = self.builder.ins();
        match scalar.bytes() {
            1 => ins.uload8(types::I32, flags(), at, offset),
            2 if scalar == Scalar::I16 => ins.sload16(types::I32, flags(), at, offset),
            2 => ins.uload16(types::I32, flags(), at, offset),
            _ => ins.load(types::I32, flags(), at, offset),
        }
    }

    fn store(&mut self, at: Value, offset: i32, scalar: Scalar, value: Value) {
        let value = match scalar {
            Scalar::Bit => self.builder.ins().band_imm_u(value, 1),
            Scalar::Unsigned(n) if !matches!(n, 8 | 16 | 32..) => {
                self.builder.ins().band_imm_u(value, (1i64 << n) - 1)
            }
            _ => value,
        };
        let ins = self.builder.ins();
        match scalar.bytes() {
            1 => ins.istore8(flags(), value, at, offset),
            2 => ins.istore16(flags(), value, at, offset),
            _ => ins.store(flags(), value, at, offset),
        };
    }

    /// The channel of an operation on so many fields, or on its number of messages only; none if
    /// such an operation is always left to the interpreter, as it is for one that holds no messages.
    fn channel(&mut self, expr: &Expr, fields: Option<usize>) -> Option<Channel<'a>> {
        let Target { program, kinds, .. } = self.target;
        let fits = |kind: &&ChannelType| {
            kind.capacity > 0 && fields.is_none_or(|fields| fields == kind.fields.len())
        };
        if let Some(known) = kinds.known(expr) {
            let kind = Some(program.channel(known.kind)).filter(fits)?;
            let at = self.builder.ins().iadd_imm_s(self.state, known.offset as i64);
            return Some(Channel { at, capacity: Capacity::Known(kind.capacity), kind });
        }
        // Channels of the same layout are alike; other ones are left to the interpreter.
        let kind = program.channels.iter().find(fits)?;
        let number = self.value(expr);
        let (at, entry) = self.look_up(number);
        match fields {
            Some(_) => self.expect(entry, KindEntry::CLASS, kinds.of(program, kind).class),
            None => self.expect(entry, KindEntry::COUNT_BYTES, kind.count().bytes()),
        }
        let capacity = self.capacity(entry);
        Some(Channel { at, capacity: Capacity::Loaded(capacity), kind })
    }

    /// The address of the channel with a number, and that of what is known of its kind.
    fn look_up(&mut self, number: Value) -> (Value, Value) {
        let index = self.builder.ins().iadd_imm_s(number, -1);
        let count = self.env_field(Env::CHANNEL_COUNT);
        let exists = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.go_on_if(exists);
        let table = self.builder.ins().load(self.pointer, flags(), self.env, Env::CHANNELS as i32);
        let entry = self.entry(table, index, size_of::<Placed<ChannelTypeId>>());
        let offset = self.builder.ins().load(self.pointer, flags(), entry, 0);
        let kind =
            self.builder.ins().uload16(types::I32, flags(), entry, Placed::<()>::KIND as i32);
        let table = self.target.kinds.address() as i64;
        let table = self.builder.ins().iconst(self.pointer, table);
        let entry = self.entry(table, kind, size_of::<KindEntry>());
        (self.builder.ins().iadd(self.state, offset), entry)
    }

    /// Leaves other kinds of channels to the interpreter.
    fn expect(&mut self, entry: Value, field: usize, value: u32) {
        let found = self.builder.ins().load(types::I32, flags(), entry, field as i32);
        let same = self.builder.ins().icmp_imm_s(IntCC::Equal, found, i64::from(value));
        self.go_on_if(same);
    }

    fn capacity(&mut self, entry: Value) -> Value {
        self.builder.ins().load(types::I32, flags(), entry, KindEntry::CAPACITY as i32)
    }

    /// The kind and number of the rendezvous channel of an offer with so many fields.
    pub fn rendezvous(&mut self, expr: &Expr, fields: usize) -> Option<(&'a ChannelType, Value)> {
        let Target { program, kinds, .. } = self.target;
        let fits = |kind: &&ChannelType| kind.capacity == 0 && kind.fields.len() == fields;
        if let Some(known) = kinds.known(expr) {
            let kind = Some(program.channel(known.kind)).filter(fits)?;
            return Some((kind, self.number(known.number)));
        }
        let kind = program.channels.iter().find(fits)?;
        let number = self.value(expr);
        let (_, entry) = self.look_up(number);
        self.expect(entry, KindEntry::CLASS, kinds.of(program, kind).class);
        Some((kind, number))
    }

    /// Whether a send on this channel is an offer; none if it never is.
    pub fn is_offer(&mut self, channel: &Expr) -> Option<Value> {
        let kinds = self.target.kinds;
        if kinds.is_rendezvous(channel) {
            return Some(self.truth(true));
        }
        if kinds.known(channel).is_some() || !kinds.any_rendezvous() {
            return None;
        }
        Some(self.holds_nothing(channel))
    }

    /// Whether a channel is one for rendezvous.
    fn holds_nothing(&mut self, channel: &Expr) -> Value {
        // Also where all channels are: there may be none of this number.
        let number = self.value(channel);
        let (_, entry) = self.look_up(number);
        let capacity = self.capacity(entry);
        self.builder.ins().icmp_imm_s(IntCC::Equal, capacity, 0)
    }

    fn message_count(&mut self, channel: &Channel<'_>) -> Value {
        self.load(channel.at, 0, channel.kind.count())
    }

    fn against(&mut self, how: IntCC, count: Value, channel: &Channel<'_>) -> Value {
        match channel.capacity {
            Capacity::Known(capacity) => {
                self.builder.ins().icmp_imm_s(how, count, i64::from(capacity))
            }
            Capacity::Loaded(capacity) => self.builder.ins().icmp(how, count, capacity),
        }
    }

    /// Whether a receive from a channel is possible.
    fn receivable(&mut self, channel: &Expr, random: bool, args: &[ReceiveArg]) -> Value {
        match self.channel(channel, Some(args.len())) {
            Some(channel) => self.find(&channel, random, args).0,
            None => self.no_truth(),
        }
    }

    /// The message that a receive takes, the first or at random the first that fits: whether there is
    /// one, and its address less the bytes in front of the first.
    fn find(&mut self, channel: &Channel<'_>, random: bool, args: &[ReceiveArg]) -> (Value, Value) {
        let count = self.message_count(channel);
        if !random || matches!(channel.capacity, Capacity::Known(1)) {
            let any = self.builder.ins().icmp_imm_s(IntCC::NotEqual, count, 0);
            // Past the last message there are zeros, so looking is harmless.
            return (self.fits(any, channel.at, channel.kind, args), channel.at);
        }
        let size = i64::from(channel.kind.message_bytes);
        let bytes = self.builder.ins().imul_imm_s(count, size);
        let bytes = self.builder.ins().uextend(self.pointer, bytes);
        let end = self.builder.ins().iadd(channel.at, bytes);
        let [each, look, found] = std::array::from_fn(|_| self.builder.create_block());
        let at = self.builder.append_block_param(each, self.pointer);
        let fits = self.builder.append_block_param(found, types::I8);
        self.builder.ins().jump(each, &[channel.at.into()]);
        self.builder.switch_to_block(each);
        let left = self.builder.ins().icmp(IntCC::NotEqual, at, end);
        self.builder.ins().brif(left, look, &[], found, &[left.into()]);
        self.builder.switch_to_block(look);
        let fits_here = self.fits(left, at, channel.kind, args);
        let next = self.builder.ins().iadd_imm_s(at, size);
        self.builder.ins().brif(fits_here, found, &[fits_here.into()], each, &[next.into()]);
        self.builder.switch_to_block(found);
        (fits, at)
    }

    /// Whether `before` holds and the message at an address fits.
    fn fits(&mut self, before: Value, at: Value, kind: &ChannelType, args: &[ReceiveArg]) -> Value {
        let start = kind.count().bytes();
        let mut fits = before;
        for (arg, field) in args.iter().zip(&kind.fields) {
            if let ReceiveArg::Match(value) = arg {
                fits = self.and_then(fits, value, |e, value| {
                    let has = e.load(at, (start + field.offset) as i32, field.scalar);
                    e.builder.ins().icmp(IntCC::Equal, value, has)
                });
            }
        }
        fits
    }

    /// Whether `before` holds and a value passes a test. The value is computed only if it must be, as
    /// the interpreter does, for that may go wrong.
    pub fn and_then(
        &mut self,
        before: Value,
        value: &Expr,
        test: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        if is_harmless(value) {
            let value = self.value(value);
            let passes = test(self, value);
            return self.builder.ins().band(before, passes);
        }
        self.choose(
            before,
            types::I8,
            |e| {
                let value = e.value(value);
                test(e, value)
            },
            |e| e.truth(false),
        )
    }

    /// Whether a transition is possible, as a byte that is 0 or 1. An `else` is not for a function
    /// that looks at one transition.
    pub fn guard(&mut self, transition: &Transition) -> Value {
        let action = &transition.action;
        match action {
            Action::Skip
            | Action::Assign(..)
            | Action::AssignAll(_)
            | Action::Assert(_)
            | Action::Print { .. }
            | Action::PrintMtype(..)
            | Action::SetPriority(..)
            | Action::SetOwnPriority(_)
            | Action::Run { .. } => self.truth(true),
            Action::Condition(condition) => self.condition(condition),
            Action::Send { channel, .. } => {
                let Some(channel) = self.channel(channel, None) else {
                    return self.no_truth();
                };
                let count = self.message_count(&channel);
                self.against(IntCC::UnsignedLessThan, count, &channel)
            }
            Action::Receive { channel, random, keep, args } => {
                let kinds = self.target.kinds;
                if *keep || kinds.known(channel).is_some() && !kinds.is_rendezvous(channel) {
                    return self.receivable(channel, *random, args);
                }
                // Where no message is offered, there is none in a rendezvous.
                let nothing = self.is_offer(channel).unwrap_or_else(|| self.truth(false));
                self.choose(
                    nothing,
                    types::I8,
                    |e| e.truth(false),
                    |e| e.receivable(channel, *random, args),
                )
            }
            Action::Die => {
                let next = self.env_field(Env::PID);
                let next = self.builder.ins().iadd_imm_s(next, 1);
                let count = self.env_field(Env::PROCESS_COUNT);
                self.builder.ins().icmp(IntCC::Equal, next, count)
            }
            Action::DStep { entry } => self.d_step_guard(transition, *entry),
            Action::Else | Action::Event { .. } | Action::C(_) => self.no_truth(),
        }
    }

    /// What a transition that is possible does, without moving the process on.
    pub fn effect(&mut self, transition: &Transition) {
        match &transition.action {
            Action::Skip | Action::Condition(_) | Action::Else => {}
            Action::Assign(place, value) => self.assign(place, value),
            Action::AssignAll(pairs) => {
                pairs.iter().for_each(|(place, value)| self.assign(place, value));
            }
            Action::Assert(condition) => {
                let holds = self.condition(condition);
                self.go_on_if(holds);
            }
            Action::Print { args, .. } => args.iter().for_each(|(arg, _)| {
                self.value(arg);
            }),
            Action::PrintMtype(value, _) => {
                self.value(value);
            }
            Action::Send { channel, sorted, args } if !self.target.traced => {
                self.send(channel, *sorted, args);
            }
            Action::Receive { channel, random, keep, args } if !self.target.traced => {
                self.receive(channel, *random, *keep, args);
            }
            Action::DStep { entry } => self.d_step(transition, *entry, false),
            _ => self.give_up(),
        }
    }

    fn assign(&mut self, place: &Place, value: &Expr) {
        let value = self.value(value);
        self.set(place, value);
    }

    /// The truncated value, as a variable of this kind would have it.
    pub fn truncated(&mut self, scalar: Scalar, value: Value) -> Value {
        match scalar {
            Scalar::Bit => self.builder.ins().band_imm_u(value, 1),
            Scalar::U8 => self.builder.ins().band_imm_u(value, 0xff),
            Scalar::I16 => {
                let short = self.builder.ins().ireduce(types::I16, value);
                self.builder.ins().sextend(types::I32, short)
            }
            Scalar::Unsigned(n) if n < 32 => self.builder.ins().band_imm_u(value, (1i64 << n) - 1),
            _ => value,
        }
    }

    pub fn set(&mut self, place: &Place, value: Value) {
        let (at, offset) = self.address(place);
        self.store(at, offset, place.scalar, value);
    }

    fn send(&mut self, channel: &Expr, sorted: bool, args: &[Expr]) {
        let values: Vec<_> = args.iter().map(|arg| self.value(arg)).collect();
        let Some(channel) = self.channel(channel, Some(args.len())) else {
            return self.give_up();
        };
        let count = self.message_count(&channel);
        let message = if matches!(channel.capacity, Capacity::Known(1)) {
            channel.at
        } else {
            let index = self.builder.ins().uextend(self.pointer, count);
            let size = i64::from(channel.kind.message_bytes);
            let distance = self.builder.ins().imul_imm_s(index, size);
            let end = self.builder.ins().iadd(channel.at, distance);
            if sorted { self.make_place(&channel, end, &values) } else { end }
        };
        let start = channel.kind.count().bytes();
        for (value, field) in values.into_iter().zip(&channel.kind.fields) {
            self.store(message, (start + field.offset) as i32, field.scalar, value);
        }
        let count = self.builder.ins().iadd_imm_s(count, 1);
        self.store(channel.at, 0, channel.kind.count(), count);
    }

    /// Moves the messages up that come after a new one in order: all from the first that is larger.
    /// The new values count as sent, not as stored.
    fn make_place(&mut self, channel: &Channel<'_>, end: Value, values: &[Value]) -> Value {
        let start = channel.kind.count().bytes();
        let size = i64::from(channel.kind.message_bytes);
        let [each, look, next, found] = std::array::from_fn(|_| self.builder.create_block());
        let at = self.builder.append_block_param(each, self.pointer);
        self.builder.ins().jump(each, &[channel.at.into()]);
        self.builder.switch_to_block(each);
        let left = self.builder.ins().icmp(IntCC::NotEqual, at, end);
        self.builder.ins().brif(left, look, &[], found, &[]);
        self.builder.switch_to_block(look);
        for (&value, field) in values.iter().zip(&channel.kind.fields) {
            let [not_larger, equal] = std::array::from_fn(|_| self.builder.create_block());
            let has = self.load(at, (start + field.offset) as i32, field.scalar);
            let smaller = self.builder.ins().icmp(IntCC::SignedLessThan, value, has);
            self.builder.ins().brif(smaller, found, &[], not_larger, &[]);
            self.builder.switch_to_block(not_larger);
            let same = self.builder.ins().icmp(IntCC::Equal, value, has);
            self.builder.ins().brif(same, equal, &[], next, &[]);
            self.builder.switch_to_block(equal);
        }
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        let after = self.builder.ins().iadd_imm_s(at, size);
        self.builder.ins().jump(each, &[after.into()]);
        self.builder.switch_to_block(found);
        let moved = self.builder.ins().isub(end, at);
        let bytes = self.builder.ins().iadd_imm_s(moved, size);
        let bytes = self.builder.ins().ireduce(types::I32, bytes);
        let from = self.builder.ins().iadd_imm_s(at, i64::from(start));
        let size = self.number(size as i32);
        self.call(Helper::OpenGap, &[from, size, bytes]);
        at
    }

    fn receive(&mut self, channel: &Expr, random: bool, keep: bool, args: &[ReceiveArg]) {
        let Some(channel) = self.channel(channel, Some(args.len())) else {
            return self.give_up();
        };
        let at = if random { self.find(&channel, true, args).1 } else { channel.at };
        let start = channel.kind.count().bytes();
        let mut values = Vec::with_capacity(args.len());
        for (arg, field) in args.iter().zip(&channel.kind.fields) {
            if let ReceiveArg::Store(place) = arg {
                let value = self.load(at, (start + field.offset) as i32, field.scalar);
                values.push((place, value));
            }
        }
        for (place, value) in values {
            self.set(place, value);
        }
        if !keep {
            let count = self.message_count(&channel);
            let count = self.builder.ins().iadd_imm_s(count, -1);
            self.store(channel.at, 0, channel.kind.count(), count);
            self.shift(&channel, at, start, channel.kind.message_bytes);
        }
    }

    /// Takes the message at an address out; past the last one there are zeros, so all that follow
    /// move.
    fn shift(&mut self, channel: &Channel<'_>, from: Value, start: u32, message: u32) {
        match channel.capacity {
            Capacity::Known(capacity)
                if from == channel.at && capacity * message <= MOVED_INLINE =>
            {
                let moved = (capacity - 1) * message;
                let mut done = 0;
                while done < moved {
                    let size = largest_power(moved - done);
                    let ty = Type::int(size as u16 * 8).expect("1, 2, 4 or 8 bytes");
                    let next = (start + message + done) as i32;
                    let word = self.builder.ins().load(ty, flags(), channel.at, next);
                    self.builder.ins().store(flags(), word, channel.at, (start + done) as i32);
                    done += size;
                }
                while done < capacity * message {
                    let size = largest_power(capacity * message - done);
                    let ty = Type::int(size as u16 * 8).expect("1, 2, 4 or 8 bytes");
                    let zero = self.builder.ins().iconst(ty, 0);
                    self.builder.ins().store(flags(), zero, channel.at, (start + done) as i32);
                    done += size;
                }
            }
            _ => {
                let capacity = match channel.capacity {
                    Capacity::Known(capacity) => self.number(capacity as i32),
                    Capacity::Loaded(capacity) => capacity,
                };
                let bytes = self.builder.ins().imul_imm_s(capacity, i64::from(message));
                let before = self.builder.ins().isub(from, channel.at);
                let before = self.builder.ins().ireduce(types::I32, before);
                let bytes = self.builder.ins().isub(bytes, before);
                let at = self.builder.ins().iadd_imm_s(from, i64::from(start));
                let message = self.number(message as i32);
                self.call(Helper::CloseGap, &[at, message, bytes]);
            }
        }
    }
}

pub(super) fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

pub(super) fn largest_power(bytes: u32) -> u32 {
    1 << bytes.ilog2().min(3)
}

fn is_arithmetic(op: BinaryOp) -> bool {
    !matches!(
        op,
        BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne
    )
}

/// Whether computing an expression is cheap and cannot go wrong, so that it does not matter whether
/// it is computed.
pub(super) fn is_harmless(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout => true,
        Expr::Load(place) => place.indexes.is_empty(),
        Expr::Unary(_, a) => is_harmless(a),
        Expr::Binary(op, a, b) => {
            let fine = match op {
                BinaryOp::Div | BinaryOp::Rem => matches!(**b, Expr::Const(d) if d > 0),
                _ => true,
            };
            fine && is_harmless(a) && is_harmless(b)
        }
        _ => false,
    }
}
