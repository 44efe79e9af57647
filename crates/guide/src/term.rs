//! Estimates for conditions.
//!
//! *Idea*: a condition that does not hold takes at least one step to become true; one made of others takes as
//! long as these do together, or as the one that is nearest (Edelkamp, Lluch Lafuente and Leue 2004, figures 8 to 10).
//! Counters, channels and positions of processes tell more: how far there is to go.
//!
//! *Invariant*: with [`Mix::Max`] an estimate is never more than the number of steps to the next state in which the
//! condition is as wanted, and no step makes it smaller by more than one.

use spinward_machine::Look;
use spinward_program::Program;
use spinward_program::distances::Distances;
use spinward_program::ir::{
    Action, BinaryOp, BodyId, ChannelTest, Expr, ReceiveArg, StateId, UnaryOp,
};
use spinward_program::rates::{Rate, is_queue, rate};

use crate::NEVER;

/// How estimates of conditions that must all hold make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// The largest: a step may bring all of them nearer.
    Max,
    /// Their sum: each step brings one of them nearer. This may be too much.
    Sum,
}

impl Mix {
    /// Of two.
    #[inline]
    pub fn of(self, a: u32, b: u32) -> u32 {
        match self {
            Self::Max => a.max(b),
            Self::Sum => a.saturating_add(b),
        }
    }
}

/// A condition that is to become true.
#[derive(Debug)]
pub enum Term {
    /// It is, or never will be.
    Known(bool),
    /// All of these.
    All(Vec<Term>),
    /// Processes, each of which is in one of these once, are in local states. Each step is one of one process, and
    /// a rendezvous counts as two, so these add up; also if some of them are still to be created, by others.
    Places(Vec<Term>),
    /// One of these.
    Any(Vec<Term>),
    /// An expression is true, or false.
    Truth(Expr, bool),
    /// How two numbers compare, whose difference changes by so much in a step.
    Gap { left: Expr, op: BinaryOp, right: Expr, rate: Rate },
    /// So many messages are in a channel.
    Messages { channel: Expr, test: ChannelTest },
    /// The first message of a channel can be received, or not.
    First { channel: Expr, args: Vec<ReceiveArg>, wanted: bool },
    /// A process is in a local state, or not.
    At {
        body: BodyId,
        number: Option<Expr>,
        state: StateId,
        wanted: bool,
        initial: StateId,
        distances: Distances,
    },
}

/// Makes terms of expressions.
#[derive(Clone, Copy)]
pub struct Terms<'p> {
    pub program: &'p Program,
    /// Whose variables the expressions are about, if they are about any.
    pub body: Option<BodyId>,
    pub mix: Mix,
}

impl Terms<'_> {
    /// That an expression becomes true, or false.
    pub fn of(&self, expr: &Expr, wanted: bool) -> Term {
        match expr {
            Expr::Const(value) => Term::Known((*value != 0) == wanted),
            Expr::Unary(UnaryOp::Not, a) => self.of(a, !wanted),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let both = vec![self.of(a, wanted), self.of(b, wanted)];
                if (*op == BinaryOp::And) == wanted { self.all(both) } else { Term::Any(both) }
            }
            Expr::Conditional(c, a, b) => Term::Any(vec![
                self.all(vec![self.of(c, true), self.of(a, wanted)]),
                self.all(vec![self.of(c, false), self.of(b, wanted)]),
            ]),
            Expr::Binary(op, a, b) if let Some(op) = as_wanted(*op, wanted) => {
                self.gap(a, op, b).unwrap_or_else(|| Term::Truth(expr.clone(), wanted))
            }
            Expr::ChannelTest(test, channel) if is_queue(self.program, channel) => {
                let opposite = match test {
                    ChannelTest::Full => ChannelTest::NotFull,
                    ChannelTest::NotFull => ChannelTest::Full,
                    ChannelTest::Empty => ChannelTest::NotEmpty,
                    ChannelTest::NotEmpty => ChannelTest::Empty,
                };
                let test = if wanted { *test } else { opposite };
                Term::Messages { channel: (**channel).clone(), test }
            }
            Expr::Poll { channel, random: false, args }
                if is_queue(self.program, channel) && self.stay(args) =>
            {
                Term::First { channel: (**channel).clone(), args: args.clone(), wanted }
            }
            Expr::RemoteLabel { body, pid, state } if self.stays(pid.as_deref()) => Term::At {
                body: *body,
                number: pid.as_deref().cloned(),
                state: *state,
                wanted,
                initial: self.program.automaton(*body).initial,
                distances: Distances::new(self.program, |of, at| of == *body && at == *state),
            },
            _ => Term::Truth(expr.clone(), wanted),
        }
    }

    /// That all of these hold.
    pub fn all(&self, terms: Vec<Term>) -> Term {
        if self.mix == Mix::Sum {
            return Term::All(terms);
        }
        let mut numbers = Vec::new();
        let (mut places, mut others) = (Vec::new(), Vec::new());
        for term in terms.into_iter().flat_map(Term::into_parts) {
            match &term {
                Term::At { body, number: Some(Expr::Const(number)), wanted: true, .. }
                    if !numbers.contains(number) && !self.creates(*body) =>
                {
                    numbers.push(*number);
                    places.push(term);
                }
                _ => others.push(term),
            }
        }
        others.push(Term::Places(places));
        Term::All(others)
    }

    /// Whether processes of a body create others.
    fn creates(&self, body: BodyId) -> bool {
        let mut own = self.program.transitions.iter().filter(|it| it.body == body);
        own.any(|it| matches!(it.action, Action::Run { .. }))
    }

    /// Whether a number, if there is one, will be the same, or need not be.
    fn stays(&self, number: Option<&Expr>) -> bool {
        self.mix == Mix::Sum || matches!(number, None | Some(Expr::Const(_)))
    }

    /// Whether what a receive asks for will be the same, or need not be.
    fn stay(&self, args: &[ReceiveArg]) -> bool {
        args.iter().all(|arg| match arg {
            ReceiveArg::Match(value) => self.stays(Some(value)),
            ReceiveArg::Store(_) | ReceiveArg::Ignore => true,
        })
    }

    fn gap(&self, left: &Expr, op: BinaryOp, right: &Expr) -> Option<Term> {
        let sure = self.mix == Mix::Max;
        let left_rate = rate(self.program, self.body, left, sure)?;
        let right_rate = rate(self.program, self.body, right, sure)?;
        let up = left_rate.up.checked_add(right_rate.down)?;
        let down = left_rate.down.checked_add(right_rate.up)?;
        let rate = Rate { up, down };
        Some(Term::Gap { left: left.clone(), op, right: right.clone(), rate })
    }

    /// That a statement of the body cannot be taken.
    pub fn impossible(&self, action: &Action) -> Term {
        match action {
            Action::Condition(condition) => self.of(condition, false),
            Action::Send { channel, .. } => {
                self.of(&Expr::ChannelTest(ChannelTest::Full, Box::new(channel.clone())), true)
            }
            Action::Receive { channel, random, args, .. } => {
                let (channel, args) = (Box::new(channel.clone()), args.clone());
                self.of(&Expr::Poll { channel, random: *random, args }, false)
            }
            _ => Term::Known(false),
        }
    }
}

/// The comparison that is to become true.
fn as_wanted(op: BinaryOp, wanted: bool) -> Option<BinaryOp> {
    Some(match (op, wanted) {
        (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => BinaryOp::Eq,
        (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => BinaryOp::Ne,
        (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => BinaryOp::Lt,
        (BinaryOp::Le, true) | (BinaryOp::Gt, false) => BinaryOp::Le,
        (BinaryOp::Gt, true) | (BinaryOp::Le, false) => BinaryOp::Gt,
        (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => BinaryOp::Ge,
        _ => return None,
    })
}

impl Term {
    /// Those that must all hold if it is to hold.
    fn into_parts(self) -> Vec<Self> {
        match self {
            Self::All(terms) | Self::Places(terms) => {
                terms.into_iter().flat_map(Self::into_parts).collect()
            }
            other => vec![other],
        }
    }

    /// How many steps until it is true, perhaps, as a process sees it, or as nobody does.
    pub fn estimate(&self, look: &Look<'_>, process: Option<usize>, mix: Mix) -> u32 {
        match self {
            Self::Known(true) => 0,
            Self::Known(false) => NEVER,
            Self::All(terms) => {
                terms.iter().fold(0, |all, it| mix.of(all, it.estimate(look, process, mix)))
            }
            Self::Places(terms) => terms
                .iter()
                .fold(0, |all: u32, it| all.saturating_add(it.estimate(look, process, mix))),
            Self::Any(terms) => {
                terms.iter().map(|it| it.estimate(look, process, mix)).min().unwrap_or(NEVER)
            }
            Self::Truth(expr, wanted) => {
                u32::from(look.value(expr, process).is_some_and(|it| (it != 0) != *wanted))
            }
            Self::Gap { left, op, right, rate } => {
                let values = look.value(left, process).zip(look.value(right, process));
                values.map_or(0, |(a, b)| steps(i64::from(a) - i64::from(b), *op, *rate))
            }
            Self::Messages { channel, test } => {
                let Some((count, room)) = look.messages(channel, process) else {
                    return 0;
                };
                match test {
                    // Of a rendezvous there are never any, and it is never full.
                    _ if room == 0 => 0,
                    ChannelTest::Full => room - count,
                    ChannelTest::Empty => count,
                    ChannelTest::NotFull => u32::from(count == room),
                    ChannelTest::NotEmpty => u32::from(count == 0),
                }
            }
            Self::First { channel, args, wanted } => {
                let Some((count, _)) = look.messages(channel, process) else {
                    return 0;
                };
                let fits = |place| look.fits(channel, place, args, process).unwrap_or(*wanted);
                if *wanted {
                    // Those before it go, and if there is none, it comes.
                    (0..count).find(|&place| fits(place)).unwrap_or(count + 1)
                } else {
                    (0..count).take_while(|&place| fits(place)).count() as u32
                }
            }
            Self::At { body, number, state, wanted, initial, distances } => {
                let number = number.as_ref().map(|number| look.value(number, process));
                if number == Some(None) {
                    return 0;
                }
                let at = look.remote(*body, number.flatten()).map(|there| look.process(there).1);
                if !wanted {
                    return u32::from(at == Some(*state));
                }
                // Another one may come to have its number, once it is created.
                let other = distances.own(*body, *initial).saturating_add(1);
                at.map_or(other, |at| distances.own(*body, at).min(other))
            }
        }
    }
}

/// How many steps until a difference is as wanted, if it changes by so much in a step.
fn steps(difference: i64, op: BinaryOp, rate: Rate) -> u32 {
    // By how much it must grow, or shrink.
    let (up, down) = match op {
        BinaryOp::Eq => (-difference, difference),
        BinaryOp::Ne => return u32::from(difference == 0),
        BinaryOp::Lt => (0, difference + 1),
        BinaryOp::Le => (0, difference),
        BinaryOp::Gt => (1 - difference, 0),
        BinaryOp::Ge => (-difference, 0),
        _ => (0, 0),
    };
    let (by, rate) = if up > 0 { (up, rate.up) } else { (down, rate.down) };
    match (u64::try_from(by), rate) {
        (Err(_) | Ok(0), _) => 0,
        // Not that way; if at all, it comes round.
        (Ok(_), 0) => 1,
        (Ok(by), rate) => u32::try_from(by.div_ceil(rate.into())).unwrap_or(NEVER).min(NEVER - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_take_as_many_steps_as_their_rate_allows() {
        let rate = Rate { up: 3, down: 1 };
        assert_eq!(steps(0, BinaryOp::Eq, rate), 0);
        assert_eq!(steps(4, BinaryOp::Eq, rate), 4);
        assert_eq!(steps(-4, BinaryOp::Eq, rate), 2);
        assert_eq!(steps(0, BinaryOp::Ne, rate), 1);
        assert_eq!(steps(2, BinaryOp::Lt, rate), 3);
        assert_eq!(steps(2, BinaryOp::Le, rate), 2);
        assert_eq!(steps(-6, BinaryOp::Gt, rate), 3);
        assert_eq!(steps(-6, BinaryOp::Ge, rate), 2);
        assert_eq!(steps(9, BinaryOp::Ge, rate), 0);
        assert_eq!(steps(9, BinaryOp::Lt, Rate::default()), 1);
        let far = i64::from(i32::MAX) - i64::from(i32::MIN);
        assert_eq!(steps(far, BinaryOp::Lt, Rate { up: 0, down: 1 }), NEVER - 1);
    }
}
