//! Values of expressions and variables, as far as they are known.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashSet;
use spinward_program::ir::{BinaryOp, BodyId, ChannelTest, Expr, Place, Space};

use super::knowledge::{Local, Op, Place as Known, Site, Stop};
use super::walk::Walk;

type Value = Result<Option<i32>, Stop>;

impl Walk<'_, '_> {
    /// Where a place is in its block, if that is known.
    pub(super) fn offset(&mut self, place: &Place) -> Result<Option<u32>, Stop> {
        let mut offset = Some(place.offset);
        for index in &place.indexes {
            match self.eval(&index.value)? {
                Some(value) => match u32::try_from(value) {
                    Ok(value) if value < index.length => {
                        offset = offset.map(|it| it + value * index.stride);
                    }
                    _ => return Err(self.mistake()),
                },
                None => {
                    self.mistake();
                    offset = None;
                }
            }
        }
        Ok(offset)
    }

    pub(super) fn set(&mut self, place: &Place, value: Option<i32>) -> Result<(), Stop> {
        let at = self.offset(place)?;
        let (Some(offset), Some(value)) = (at, value) else {
            let span = match at {
                Some(offset) => offset..offset + place.scalar.bytes(),
                None => place.span(),
            };
            return self.lose(place.space, span);
        };
        let value = place.scalar.truncate(value);
        match place.space {
            Space::Hidden => {}
            Space::Global => {
                if self.know.values(offset).is_some() {
                    self.know.add_value(offset, value)?;
                    if self.candidates(offset).len() > 1 {
                        self.note(Site::Global(offset), Op::Set(value));
                    }
                    self.known.insert(offset, value);
                }
            }
            Space::Local => {
                let Some(local) = &mut self.local else {
                    return Ok(());
                };
                if let Some(index) = self.know.index(local.body, offset) {
                    local.values[index] = value;
                }
            }
        }
        Ok(())
    }

    /// Keeps track no more of variables that get a value that nobody knows.
    fn lose(&mut self, space: Space, span: Range<u32>) -> Result<(), Stop> {
        let mut result = Ok(());
        match (space, &self.local) {
            (Space::Global, _) => {
                let kept: Vec<u32> = span.filter(|it| self.know.values(*it).is_some()).collect();
                for offset in kept {
                    result = Err(self.know.lose_global(offset));
                }
            }
            (Space::Local, Some(local)) => {
                let body = local.body;
                for offset in span {
                    if self.know.index(body, offset).is_some() {
                        result = Err(self.know.lose_local(body, offset));
                    }
                }
            }
            _ => {}
        }
        result
    }

    /// A value that is not needed for sure: nothing goes wrong if it has none.
    pub(super) fn maybe(&mut self, expr: &Expr) -> Value {
        match self.eval(expr) {
            Err(Stop::Impossible) => Ok(None),
            value => value,
        }
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Value {
        Ok(match expr {
            Expr::Const(value) => Some(*value),
            Expr::Load(place) => return self.load(place),
            Expr::Pid => self.local.as_ref().map(|_| self.process as i32),
            Expr::Timeout => self.timeout,
            Expr::Unary(op, a) => self.eval(a)?.map(|a| op.apply(a)),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let decides = i32::from(*op == BinaryOp::Or);
                match self.eval(a)?.map(|a| i32::from(a != 0)) {
                    Some(a) if a == decides => Some(decides),
                    Some(_) => self.eval(b)?.map(|b| i32::from(b != 0)),
                    None => self.maybe(b)?.map(|b| i32::from(b != 0)).filter(|b| *b == decides),
                }
            }
            Expr::Binary(op, a, b) if is_comparison(*op) => return self.compare(*op, a, b),
            Expr::Binary(op, a, b) => match (self.eval(a)?, self.eval(b)?) {
                (Some(a), Some(b)) => Some(op.apply(a, b).ok_or_else(|| self.mistake())?),
                (_, b) => {
                    if matches!(op, BinaryOp::Div | BinaryOp::Rem) && b.is_none_or(|b| b == 0) {
                        self.mistake();
                    }
                    None
                }
            },
            Expr::Conditional(c, a, b) => match self.eval(c)? {
                Some(c) => return self.eval(if c != 0 { a } else { b }),
                None => {
                    let (a, b) = (self.maybe(a)?, self.maybe(b)?);
                    a.filter(|_| a == b)
                }
            },
            Expr::Len(channel) => {
                let Some(channel) = self.queue(channel)? else {
                    return Ok(None);
                };
                let length =
                    self.choices.choose(self.know.channels[channel].kind.capacity as usize + 1);
                self.note(Site::Channel(channel), Op::Length(length));
                Some(length as i32)
            }
            Expr::ChannelTest(test, channel) => {
                let Some(channel) = self.queue(channel)? else {
                    return Ok(None);
                };
                let holds = self.choices.choose(2) == 1;
                let op = match test {
                    ChannelTest::Full => Op::Full(holds),
                    ChannelTest::NotFull => Op::Full(!holds),
                    ChannelTest::Empty | ChannelTest::NotEmpty => {
                        self.know.ask(Known::Channel(channel));
                        let fits = self.know.channels[channel].messages.iter().cloned().collect();
                        let holds = holds == (*test == ChannelTest::NotEmpty);
                        Op::Poll { fits, random: false, holds }
                    }
                };
                self.note(Site::Channel(channel), op);
                Some(i32::from(holds))
            }
            Expr::Poll { channel, random, args } => {
                let Some(channel) = self.queue(channel)? else {
                    self.mistake();
                    return Ok(None);
                };
                self.poll(channel, *random, args)?.map(i32::from)
            }
            Expr::RemoteLabel { body, pid, state } => {
                let Some(process) = self.remote(*body, pid.as_deref())? else {
                    return Ok(None);
                };
                if let Some(local) = self.local.as_ref().filter(|_| process == self.process) {
                    return Ok(Some(i32::from(local.control == *state)));
                }
                self.know.ask(Known::Processes);
                if process >= self.know.processes.len() {
                    return Ok(Some(0));
                }
                let holds = self.choices.choose(2) == 1;
                let of_type = pid.is_none().then_some(*body);
                self.note(Site::Process(process), Op::At(of_type, *state, holds));
                Some(i32::from(holds))
            }
            Expr::RemoteVar { body, pid, place } => {
                return self.remote_variable(*body, pid.as_deref(), place);
            }
            Expr::ProcessCount | Expr::Last | Expr::Priority | Expr::NonProgress => None,
            Expr::Enabled(_) | Expr::PcValue(_) | Expr::GetPriority(_) | Expr::C(_) => {
                self.mistake();
                None
            }
        })
    }

    /// How two values compare. Of a global only that is asked.
    fn compare(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Value {
        let (of_a, of_b) = (self.unread(a)?, self.unread(b)?);
        let holds = |a: i32, b: i32| op.apply(a, b).is_some_and(|it| it != 0);
        match (of_a, of_b) {
            (Some(offset), _) => match self.eval(b)? {
                Some(b) => self.split(offset, |a| holds(a, b)),
                None => Ok(None),
            },
            (None, Some(offset)) => match self.eval(a)? {
                Some(a) => self.split(offset, |b| holds(a, b)),
                None => Ok(None),
            },
            (None, None) => match (self.eval(a)?, self.eval(b)?) {
                (Some(a), Some(b)) => Ok(op.apply(a, b)),
                _ => Ok(None),
            },
        }
    }

    /// The global that an expression is, if it is one whose value is not known yet.
    fn unread(&mut self, expr: &Expr) -> Result<Option<u32>, Stop> {
        let Expr::Load(place) = expr else {
            return Ok(None);
        };
        if place.space != Space::Global {
            return Ok(None);
        }
        let offset = self.offset(place)?;
        let is_unread = |it: &u32| self.know.values(*it).is_some() && self.known.get(*it).is_none();
        Ok(offset.filter(is_unread))
    }

    /// The values that a global may have.
    fn candidates(&mut self, offset: u32) -> &[i32] {
        match self.among.get(offset) {
            Some(values) => values,
            None => {
                self.know.ask(Known::Global(offset));
                self.know.values(offset).unwrap_or_default()
            }
        }
    }

    /// Whether the value of a global is such, without asking more.
    fn split(&mut self, offset: u32, is_such: impl Fn(i32) -> bool) -> Value {
        // It may have been read since, by who it is compared with.
        if let Some(value) = self.known.get(offset) {
            return Ok(Some(i32::from(is_such(*value))));
        }
        let candidates = self.candidates(offset);
        let such = candidates.iter().filter(|it| is_such(**it)).count();
        let holds = match (such, candidates.len() - such) {
            (0, 0) => return Err(Stop::Impossible),
            (0, _) => return Ok(Some(0)),
            (_, 0) => return Ok(Some(1)),
            _ => self.choices.choose(2) == 1,
        };
        let candidates = self.candidates(offset).iter().copied();
        let values: Vec<i32> = candidates.filter(|it| is_such(*it) == holds).collect();
        match values[..] {
            [value] => {
                self.known.insert(offset, value);
                self.note(Site::Global(offset), Op::Is(value));
            }
            _ => {
                self.among.insert(offset, values.clone());
                self.note(Site::Global(offset), Op::Among(values));
            }
        }
        Ok(Some(i32::from(holds)))
    }

    fn load(&mut self, place: &Place) -> Value {
        let Some(offset) = self.offset(place)? else {
            return Ok(None);
        };
        match (place.space, &self.local) {
            (Space::Hidden, _) | (Space::Local, None) => Ok(None),
            (Space::Local, Some(local)) => {
                Ok(self.know.index(local.body, offset).map(|index| local.values[index]))
            }
            (Space::Global, _) => {
                if let Some(value) = self.known.get(offset) {
                    return Ok(Some(*value));
                }
                if self.know.values(offset).is_none() {
                    return Ok(None);
                }
                let count = self.candidates(offset).len();
                if count == 0 {
                    return Err(Stop::Impossible);
                }
                if self.choices.widest.is_none_or(|(most, _)| count > most) {
                    self.choices.widest = Some((count, offset));
                }
                let chosen = self.choices.choose(count);
                let value = self.candidates(offset)[chosen];
                if count > 1 {
                    self.note(Site::Global(offset), Op::Is(value));
                }
                self.known.insert(offset, value);
                Ok(Some(value))
            }
        }
    }

    /// Whose state is asked for, if that is known.
    fn remote(&mut self, body: BodyId, pid: Option<&Expr>) -> Result<Option<usize>, Stop> {
        match pid {
            Some(pid) => {
                let number = self.eval(pid)?;
                // Nobody has a number that is not one.
                Ok(number.map(|it| usize::try_from(it).unwrap_or(usize::MAX)))
            }
            None => {
                // The first of its type. Who is above it goes before it does, so that it stays the first, unless others of
                // its type may come later.
                self.know.ask(Known::Processes);
                (0..self.know.processes.len()).for_each(|it| self.know.ask(Known::Process(it)));
                let of_type = |it: &FxHashSet<Local>| it.iter().any(|local| local.body == body);
                let found = self.know.processes.iter().position(of_type);
                let others =
                    self.know.processes.iter().filter(|it| of_type(it)).count().saturating_sub(1);
                Ok(found.filter(|_| others == 0 || !self.know.creates(body)))
            }
        }
    }

    fn remote_variable(&mut self, body: BodyId, pid: Option<&Expr>, place: &Place) -> Value {
        if !place.indexes.is_empty() {
            // Its indexes are looked at only where it is known who is meant.
            self.mistake();
        }
        let Some(process) = self.remote(body, pid)? else {
            return Ok(None);
        };
        self.know.ask(Known::Processes);
        let (Some(offset), true) = (self.offset(place)?, process < self.know.processes.len())
        else {
            return Ok(None);
        };
        let Some(index) = self
            .know
            .index(body, offset)
            .filter(|_| process != self.process || self.local.is_none())
        else {
            return Ok(None);
        };
        self.know.ask(Known::Process(process));
        let mut values = BTreeSet::from([0]);
        let own = self.know.processes[process].iter().filter(|it| it.body == body);
        values.extend(own.map(|local| local.values[index]));
        let chosen = self.choices.choose(values.len());
        let value = values.into_iter().nth(chosen).unwrap_or_default();
        self.note(Site::Process(process), Op::Holds { body, offset, value });
        Ok(Some(value))
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}
