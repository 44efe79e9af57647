//! Which values variables can have.
//!
//! *Idea*: an interval for each variable, that grows until no statement leads out of it (P. Cousot, R. Cousot, *Abstract
//! interpretation*, POPL 1977). Locals have one for each local state of their process, made smaller by the conditions
//! on the way there, so that the bounds of loops are seen; globals and fields of messages, which others may set at any
//! time, have one for always. Where an interval grows again and again, it goes on to the next number of the
//! text, and in the end to all that the type holds.
//!
//! *Invariant*: whatever a run does, each variable of its states has a value in its interval.

use crate::Program;
use crate::access::{in_action, in_expr};
use crate::ir::{
    Action, Automaton, BinaryOp, Block, BodyId, BodyKind, Expr, InitStep, Place, ReceiveArg,
    Scalar, Space, StateId, UnaryOp,
};

/// How often an interval grows as it comes, before it goes on to the next number of the text.
const PATIENCE: u8 = 4;

/// All numbers between two, which belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub low: i32,
    /// The greatest.
    pub high: i32,
}

impl Interval {
    const ALL: Self = Self { low: i32::MIN, high: i32::MAX };
    const BOOL: Self = Self { low: 0, high: 1 };
    /// Numbers and priorities of processes, and how many there are.
    const PROCESS: Self = Self { low: 0, high: 255 };

    fn of(value: i32) -> Self {
        Self { low: value, high: value }
    }

    /// All that is stored as a scalar.
    pub fn of_scalar(scalar: Scalar) -> Self {
        let unsigned = |bits: u8| Self { low: 0, high: ((1_i64 << bits) - 1) as i32 };
        match scalar {
            Scalar::Bit => Self::BOOL,
            Scalar::U8 => unsigned(8),
            Scalar::I16 => Self { low: i16::MIN.into(), high: i16::MAX.into() },
            Scalar::Unsigned(bits) if bits < 32 => unsigned(bits),
            Scalar::I32 | Scalar::Unsigned(_) => Self::ALL,
        }
    }

    /// Between two numbers; anything if 32 bits are too few for them.
    fn between(low: i64, high: i64) -> Self {
        match (i32::try_from(low), i32::try_from(high)) {
            (Ok(low), Ok(high)) => Self { low, high },
            _ => Self::ALL,
        }
    }

    fn contains(self, other: Self) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The least that has all of both.
    pub fn join(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What is in both; none if nothing is.
    fn meet(self, other: Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// What is left of it once it is stored.
    fn stored(self, scalar: Scalar) -> Self {
        let all = Self::of_scalar(scalar);
        if all.contains(self) { self } else { all }
    }

    /// The least and the greatest of what an operation makes of the bounds; it must be so between them, too.
    fn corners(self, other: Self, apply: impl Fn(i64, i64) -> i64) -> Self {
        let of = |it: Self| [i64::from(it.low), i64::from(it.high)];
        let all = of(self).map(|a| of(other).map(|b| apply(a, b)));
        let all = all.into_iter().flatten();
        let (low, high) =
            all.fold((i64::MAX, i64::MIN), |(low, high), it| (low.min(it), high.max(it)));
        Self::between(low, high)
    }
}

/// The intervals of all variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    /// By slot of [`Program::globals`].
    pub globals: Vec<Interval>,
    /// By slot of [`Program::hidden`].
    pub hidden: Vec<Interval>,
    /// By body and slot of its [`Automaton::locals`]; none if no process of it is ever created.
    pub locals: Vec<Option<Vec<Interval>>>,
}

/// Finds out which values variables can have.
pub fn ranges(program: &Program) -> Ranges {
    let any = |block: &Block| -> Vec<_> {
        block.slots.iter().map(|slot| Interval::of_scalar(slot.scalar)).collect()
    };
    if program.uses.c_code.is_some() {
        return Ranges {
            globals: any(&program.globals),
            hidden: any(&program.hidden),
            locals: program.automata.iter().map(|it| Some(any(&it.locals))).collect(),
        };
    }
    let mut analysis = Analysis::new(program);
    analysis.run();
    let of_body = |states: Vec<Option<Cells>>| {
        states.into_iter().flatten().map(|cells| cells.values).reduce(|mut all, more| {
            all.iter_mut().zip(more).for_each(|(all, more)| *all = all.join(more));
            all
        })
    };
    Ranges {
        globals: analysis.globals.values,
        hidden: analysis.hidden.values,
        locals: analysis.states.into_iter().map(of_body).collect(),
    }
}

/// The variables of a block at some point, and how often each has grown.
#[derive(Clone)]
struct Cells {
    values: Vec<Interval>,
    grown: Vec<u8>,
}

impl Cells {
    /// All zero, as they come to life.
    fn new(block: &Block) -> Self {
        let count = block.slots.len();
        Self { values: vec![Interval::of(0); count], grown: vec![0; count] }
    }
}

struct Analysis<'p> {
    program: &'p Program,
    globals: Cells,
    hidden: Cells,
    /// By position in a message: what was sent.
    fields: Vec<Option<Interval>>,
    /// By body and local state: its locals, if a process can be there.
    states: Vec<Vec<Option<Cells>>>,
    /// Numbers of the text and those beside them, in order.
    numbers: Vec<i32>,
    changed: bool,
}

/// Who looks at variables: a process of a body with these locals, or nobody.
#[derive(Clone, Copy)]
struct Who<'a> {
    block: &'a Block,
    locals: &'a [Interval],
}

/// The slots of a block that a place may be.
fn slots(block: &Block, place: &Place) -> impl Iterator<Item = usize> {
    let span = place.span();
    let is_there = move |slot: &crate::ir::Slot| {
        slot.offset < span.end && span.start < slot.offset + slot.scalar.bytes()
    };
    (0..block.slots.len()).filter(move |&number| is_there(&block.slots[number]))
}

impl<'p> Analysis<'p> {
    fn new(program: &'p Program) -> Self {
        let mut numbers = vec![i32::MIN, 0, i32::MAX];
        let mut note = |expr: &Expr| {
            if let &Expr::Const(number) = expr {
                numbers.extend([number.saturating_sub(1), number, number.saturating_add(1)]);
            }
        };
        for transition in &program.transitions {
            in_action(&transition.action, &mut note);
        }
        let stores = program.init.iter().chain(program.automata.iter().flat_map(|it| &it.init));
        for step in stores {
            if let InitStep::Store(_, value) = step {
                in_expr(value, &mut note);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let states = program.automata.iter().map(|it| vec![None; it.states.len()]).collect();
        Self {
            program,
            globals: Cells::new(&program.globals),
            hidden: Cells::new(&program.hidden),
            fields: Vec::new(),
            states,
            numbers,
            changed: false,
        }
    }

    fn run(&mut self) {
        let program = self.program;
        let nobody = Who { block: &Block::default(), locals: &[] };
        for step in &program.init {
            let (place, value) = match step {
                InitStep::Store(place, value) => (place, self.eval(value, nobody)),
                InitStep::NewChannel(place, _) => (place, Interval::ALL),
            };
            let (block, cells) = self.shared(place);
            set(block, &mut cells.values, place, value);
        }
        let others = program
            .automata
            .iter()
            .filter(|it| !matches!(it.kind, BodyKind::Proctype | BodyKind::Init));
        let bodies: Vec<BodyId> =
            program.start.iter().map(|start| start.0).chain(others.map(|it| it.body)).collect();
        for body in bodies {
            self.create(body, &[]);
        }
        loop {
            self.changed = false;
            for automaton in &program.automata {
                for state in 0..automaton.states.len() {
                    self.leave(automaton, StateId(state as u16));
                }
            }
            if !self.changed {
                return;
            }
        }
    }

    /// A process is created with these parameters, or none.
    fn create(&mut self, body: BodyId, args: &[Interval]) {
        let automaton = self.program.automaton(body);
        let mut locals = Cells::new(&automaton.locals).values;
        for (place, &value) in automaton.params.iter().zip(args) {
            set(&automaton.locals, &mut locals, place, value);
        }
        for step in &automaton.init {
            let (place, value) = match step {
                InitStep::Store(place, value) => {
                    (place, self.eval(value, Who { block: &automaton.locals, locals: &locals }))
                }
                InitStep::NewChannel(place, _) => (place, Interval::ALL),
            };
            set(&automaton.locals, &mut locals, place, value);
        }
        self.arrive(automaton, automaton.initial, &locals);
    }

    /// A process comes to a local state with these locals.
    fn arrive(&mut self, automaton: &Automaton, state: StateId, locals: &[Interval]) {
        let there = &mut self.states[automaton.body.0 as usize][state.0 as usize];
        let Some(cells) = there else {
            *there = Some(Cells { values: locals.to_vec(), grown: vec![0; locals.len()] });
            self.changed = true;
            return;
        };
        for (slot, &value) in locals.iter().enumerate() {
            let scalar = automaton.locals.slots[slot].scalar;
            self.changed |= cells.grow(slot, value, scalar, &self.numbers);
        }
    }

    /// Takes all transitions of a local state.
    fn leave(&mut self, automaton: &Automaton, from: StateId) {
        let Some(cells) = &self.states[automaton.body.0 as usize][from.0 as usize] else {
            return;
        };
        let before = cells.values.clone();
        for id in automaton.state(from).transition_ids() {
            let transition = self.program.transition(id);
            let mut locals = before.clone();
            if !self.take(automaton, from, &transition.action, &mut locals) {
                continue;
            }
            let to = match transition.action {
                // It leads to where it ends by the statements inside.
                Action::DStep { entry } => entry,
                _ => transition.to,
            };
            if to.0 > 0 && !matches!(transition.action, Action::Die) {
                self.arrive(automaton, to, &locals);
            }
        }
    }

    /// Does what a transition does; false if it is not possible.
    fn take(
        &mut self,
        automaton: &Automaton,
        from: StateId,
        action: &Action,
        locals: &mut [Interval],
    ) -> bool {
        let block = &automaton.locals;
        match action {
            Action::Condition(condition) => self.assume(condition, true, block, locals),
            Action::Else => {
                // Those before it are not possible. Those after it, from which an `unless` escapes, may be.
                let ids = automaton.state(from).transition_ids();
                let others = ids.map(|id| &self.program.transition(id).action);
                others.take_while(|it| !matches!(it, Action::Else)).all(|other| match other {
                    Action::Condition(other) => self.assume(other, false, block, locals),
                    _ => true,
                })
            }
            Action::Assign(place, value) => {
                let value = self.eval(value, Who { block, locals });
                self.store(block, locals, place, value);
                true
            }
            Action::AssignAll(pairs) => {
                for (place, value) in pairs {
                    let value = self.eval(value, Who { block, locals });
                    self.store(block, locals, place, value);
                }
                true
            }
            Action::Run { result, body, args, .. } => {
                let args: Vec<_> =
                    args.iter().map(|arg| self.eval(arg, Who { block, locals })).collect();
                self.create(*body, &args);
                if let Some(place) = result {
                    self.store(block, locals, place, Interval::PROCESS);
                }
                true
            }
            Action::Send { args, .. } => {
                for (position, arg) in args.iter().enumerate() {
                    let value = self.eval(arg, Who { block, locals });
                    self.send(position, value);
                }
                true
            }
            Action::Receive { args, .. } => args.iter().enumerate().all(|(position, arg)| {
                let ReceiveArg::Store(place) = arg else {
                    return true;
                };
                match self.received(position) {
                    Some(value) => {
                        self.store(block, locals, place, value);
                        true
                    }
                    None => false,
                }
            }),
            _ => true,
        }
    }

    fn send(&mut self, position: usize, value: Interval) {
        self.fields.resize(self.fields.len().max(position + 1), None);
        let before = self.fields[position];
        let after = before.map_or(value, |before| before.join(value));
        if before != Some(after) {
            let is_first = before.is_none();
            let wide = || widened(after, &self.numbers);
            self.fields[position] = Some(if is_first { after } else { wide() });
            self.changed = true;
        }
    }

    /// What may be received at a position of a message, whatever the channel; none if nothing was sent.
    fn received(&self, position: usize) -> Option<Interval> {
        let sent = (*self.fields.get(position)?)?;
        let scalars = self.program.channels.iter().filter_map(|it| it.fields.get(position));
        scalars.map(|field| sent.stored(field.scalar)).reduce(Interval::join)
    }

    fn store(&mut self, block: &Block, locals: &mut [Interval], place: &Place, value: Interval) {
        match place.space {
            Space::Local => set(block, locals, place, value),
            Space::Global | Space::Hidden => self.store_shared(place, value),
        }
    }

    /// The variables of which one that processes share is one.
    fn shared(&mut self, place: &Place) -> (&'p Block, &mut Cells) {
        match place.space {
            Space::Hidden => (&self.program.hidden, &mut self.hidden),
            _ => (&self.program.globals, &mut self.globals),
        }
    }

    fn store_shared(&mut self, place: &Place, value: Interval) {
        let numbers = std::mem::take(&mut self.numbers);
        let (block, cells) = self.shared(place);
        let mut changed = false;
        for slot in slots(block, place) {
            let scalar = block.slots[slot].scalar;
            changed |= cells.grow(slot, value.stored(scalar), scalar, &numbers);
        }
        self.numbers = numbers;
        self.changed |= changed;
    }

    fn load(&self, place: &Place, who: Who<'_>) -> Interval {
        let (block, values) = match place.space {
            Space::Global => (&self.program.globals, &self.globals.values[..]),
            Space::Hidden => (&self.program.hidden, &self.hidden.values[..]),
            Space::Local => (who.block, who.locals),
        };
        let all = slots(block, place).map(|slot| values[slot]).reduce(Interval::join);
        all.unwrap_or(Interval::of_scalar(place.scalar))
    }

    fn eval(&self, expr: &Expr, who: Who<'_>) -> Interval {
        match expr {
            &Expr::Const(value) => Interval::of(value),
            Expr::Load(place) => self.load(place, who),
            Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Priority | Expr::GetPriority(_) => {
                Interval::PROCESS
            }
            Expr::Timeout
            | Expr::NonProgress
            | Expr::ChannelTest(..)
            | Expr::Poll { .. }
            | Expr::Enabled(_)
            | Expr::RemoteLabel { .. }
            | Expr::Unary(UnaryOp::Not, _) => Interval::BOOL,
            Expr::Unary(UnaryOp::Neg, a) => {
                let a = self.eval(a, who);
                Interval::between(-i64::from(a.high), -i64::from(a.low))
            }
            Expr::Unary(UnaryOp::Complement, a) => {
                let a = self.eval(a, who);
                Interval { low: !a.high, high: !a.low }
            }
            Expr::Binary(op, a, b) => binary(*op, self.eval(a, who), self.eval(b, who)),
            Expr::Conditional(_, a, b) => self.eval(a, who).join(self.eval(b, who)),
            Expr::Len(_) => {
                let most = self.program.channels.iter().map(|channel| channel.capacity).max();
                Interval::between(0, most.unwrap_or(0).into())
            }
            Expr::RemoteVar { place, .. } => Interval::of_scalar(place.scalar),
            Expr::PcValue(_) | Expr::C(_) => Interval::ALL,
        }
    }

    /// Leaves out locals with which a condition has not this truth; false if there are no others.
    fn assume(
        &self,
        condition: &Expr,
        truth: bool,
        block: &Block,
        locals: &mut [Interval],
    ) -> bool {
        match condition {
            Expr::Unary(UnaryOp::Not, inner) => self.assume(inner, !truth, block, locals),
            Expr::Binary(BinaryOp::And, a, b) if truth => {
                self.assume(a, true, block, locals) && self.assume(b, true, block, locals)
            }
            Expr::Binary(BinaryOp::Or, a, b) if !truth => {
                self.assume(a, false, block, locals) && self.assume(b, false, block, locals)
            }
            Expr::Binary(op, a, b) => {
                let op = if truth { Some(*op) } else { opposite(*op) };
                let Some(op) = op else {
                    return true;
                };
                let of_a = self.eval(a, Who { block, locals });
                let of_b = self.eval(b, Who { block, locals });
                narrow(a, at_side(op, of_b), block, locals)
                    && narrow(b, mirrored(op).and_then(|op| at_side(op, of_a)), block, locals)
            }
            Expr::Load(_) if truth => narrow(condition, Some(Side::Not(0)), block, locals),
            Expr::Load(_) => narrow(condition, Some(Side::In(Interval::of(0))), block, locals),
            _ => true,
        }
    }
}

impl Cells {
    /// Makes an interval larger if it must be; whether it did.
    fn grow(&mut self, slot: usize, value: Interval, scalar: Scalar, numbers: &[i32]) -> bool {
        let before = self.values[slot];
        if before.contains(value) {
            return false;
        }
        let mut after = before.join(value);
        let grown = &mut self.grown[slot];
        if *grown < PATIENCE {
            *grown += 1;
        } else {
            let wide = widened(after, numbers);
            let low = if after.low < before.low { wide.low } else { after.low };
            let high = if after.high > before.high { wide.high } else { after.high };
            // No further than the type.
            after = Interval { low, high }.meet(Interval::of_scalar(scalar)).unwrap_or(after);
        }
        self.values[slot] = after;
        true
    }
}

/// From a number of the text before it to one behind it.
fn widened(value: Interval, numbers: &[i32]) -> Interval {
    let low = numbers[..numbers.partition_point(|&it| it <= value.low)].last();
    let high = numbers.get(numbers.partition_point(|&it| it < value.high));
    Interval { low: *low.unwrap_or(&i32::MIN), high: *high.unwrap_or(&i32::MAX) }
}

/// Sets locals: the one variable at a place, or, if it may be one of several, perhaps it.
fn set(block: &Block, locals: &mut [Interval], place: &Place, value: Interval) {
    let may_be: Vec<usize> = slots(block, place).collect();
    for &slot in &may_be {
        let value = value.stored(block.slots[slot].scalar);
        let is_it = may_be.len() == 1 && place.indexes.is_empty();
        locals[slot] = if is_it { value } else { locals[slot].join(value) };
    }
}

/// What is known of a value.
#[derive(Clone, Copy)]
enum Side {
    In(Interval),
    Not(i32),
}

/// Leaves out what a local cannot be, if the expression is one; false if nothing is left.
fn narrow(expr: &Expr, known: Option<Side>, block: &Block, locals: &mut [Interval]) -> bool {
    let (Expr::Load(place), Some(known)) = (expr, known) else {
        return true;
    };
    if place.space != Space::Local || !place.indexes.is_empty() {
        return true;
    }
    let mut may_be = slots(block, place);
    let (Some(slot), None) = (may_be.next(), may_be.next()) else {
        return true;
    };
    let Interval { low, high } = locals[slot];
    let left = match known {
        Side::In(values) => locals[slot].meet(values),
        Side::Not(value) if low == value && high == value => None,
        Side::Not(value) if low == value => Some(Interval { low: low + 1, high }),
        Side::Not(value) if high == value => Some(Interval { low, high: high - 1 }),
        Side::Not(_) => Some(locals[slot]),
    };
    let is_left = left.is_some();
    locals[slot] = left.unwrap_or(locals[slot]);
    is_left
}

/// What is known of a value that is compared so with one of these; none if nothing is.
fn at_side(op: BinaryOp, other: Interval) -> Option<Side> {
    let below = |high: i32| Side::In(Interval { low: i32::MIN, high });
    let above = |low: i32| Side::In(Interval { low, high: i32::MAX });
    Some(match op {
        BinaryOp::Lt => below(other.high.saturating_sub(1)),
        BinaryOp::Le => below(other.high),
        BinaryOp::Gt => above(other.low.saturating_add(1)),
        BinaryOp::Ge => above(other.low),
        BinaryOp::Eq => Side::In(other),
        BinaryOp::Ne if other.low == other.high => Side::Not(other.low),
        _ => return None,
    })
}

/// The comparison that is true where this one is false.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        _ => return None,
    })
}

/// The comparison with its sides changed.
fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        BinaryOp::Eq | BinaryOp::Ne => op,
        _ => return None,
    })
}

fn binary(op: BinaryOp, a: Interval, b: Interval) -> Interval {
    let natural = a.low >= 0 && b.low >= 0;
    match op {
        BinaryOp::Add => a.corners(b, |a, b| a + b),
        BinaryOp::Sub => a.corners(b, |a, b| a - b),
        BinaryOp::Mul => a.corners(b, |a, b| a * b),
        BinaryOp::Div if b.low > 0 || b.high < 0 => a.corners(b, |a, b| a / b),
        BinaryOp::Rem => {
            // As large as the divisor at most, and with the sign of what is divided.
            let most = i64::from(b.low).abs().max(i64::from(b.high).abs()).max(1) - 1;
            let low = if a.low < 0 { (-most).max(a.low.into()) } else { 0 };
            let high = if a.high > 0 { most.min(a.high.into()) } else { 0 };
            Interval::between(low, high)
        }
        BinaryOp::BitAnd if natural => Interval { low: 0, high: a.high.min(b.high) },
        BinaryOp::BitOr | BinaryOp::BitXor if natural => {
            // All bits below the highest that either has.
            let bits = i32::BITS - (a.high | b.high).leading_zeros();
            Interval::between(0, (1_i64 << bits) - 1)
        }
        BinaryOp::Shr if natural => Interval { low: 0, high: a.high },
        BinaryOp::Div
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr => Interval::ALL,
        BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::And
        | BinaryOp::Or => Interval::BOOL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::program;

    /// The range of each variable of a text, by its name.
    fn shown(text: &str) -> Vec<String> {
        let program = program(text);
        let Ranges { globals, locals, .. } = ranges(&program);
        let show = |block: &Block, values: &[Interval]| -> Vec<String> {
            let slots = block.slots.iter().filter(|slot| !slot.synthetic).zip(values);
            slots.map(|(slot, it)| format!("{} {}..{}", slot.name, it.low, it.high)).collect()
        };
        let mut all = show(&program.globals, &globals);
        for (automaton, values) in program.automata.iter().zip(&locals) {
            all.extend(values.iter().flat_map(|values| show(&automaton.locals, values)));
        }
        all
    }

    #[test]
    fn what_is_assigned_is_what_can_be() {
        let text = "byte phase, ring, sum, a[2] = 3; short down; int any;
            active proctype P() {
              phase = 2; ring = (ring + 1) % 5; sum = sum + phase; a[1] = ring; down = -ring; any = any * 2 - 1
            }";
        assert_eq!(
            shown(text),
            [
                "phase 0..2",
                "ring 0..4",
                "sum 0..255",
                "a[0] 3..3",
                "a[1] 0..4",
                "down -4..0",
                "any -2147483648..2147483647"
            ]
        );
    }

    #[test]
    fn loops_end_where_their_conditions_say() {
        let text = "byte g;
            active proctype P() {
              byte i, j, k;
              for (i : 1 .. 9) { g = i }
              select (j : 2 .. 6);
              do :: k < 200 -> k++ :: else -> break od
            }";
        assert_eq!(shown(text), ["g 0..9", "i 0..10", "j 0..6", "k 0..200"]);
    }

    #[test]
    fn what_is_escaped_from_may_be_possible_when_else_is() {
        let text = "byte g, h;
            active proctype P() {
              byte k;
              { do :: k < 9 -> k++ od } unless { if :: h == 1 -> skip :: else -> g = k fi }
            }";
        assert_eq!(shown(text), ["g 0..9", "h 0..0", "k 0..9"]);
    }

    #[test]
    fn parameters_and_messages_bring_values() {
        let text = "chan q = [2] of { byte, short };
            proctype Q(byte n) { byte m; short s; q!n,-7; q?m,s }
            init { run Q(3); run Q(8) }";
        let shown = shown(text);
        assert_eq!(shown[1..], ["n 3..8", "m 0..8", "s -7..0"], "{shown:?}");
        assert_eq!(super::ranges(&program("proctype R() { skip } init { skip }")).locals[0], None);
    }
}
