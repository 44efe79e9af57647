//! Locks: which globals are used as such, where they are held, and what they protect.
//!
//! *Idea*: a global is a lock if it is taken only by `atomic { l == 0 -> l = 1 }` (or a `d_step`; any two
//! values will do, if it is free at first), and is set free, or looked at, only where the process holds it on
//! every way that leads there. So nobody but its holder ever sets it free, and two processes never hold it
//! at a time. What is used only where the same lock is held is protected by it (the locksets of Savage and
//! others, *Eraser*, 1997; here for all runs, so nothing has to be checked when the program runs).
//!
//! Where a lock is asked for, a process must have nothing else to do if it is not free than to wait, or what it
//! could do anyway: no `else`, no escape; and it must not stop there in the middle of an atomic sequence. Then
//! whether a lock is free matters only to who takes it.
//!
//! *Cost*: a few walks over the automata for each global that looks like a lock but is none.

use std::ops::Range;

use crate::Program;
use crate::independence::Analysis;
use crate::ir::{
    Action, BinaryOp, Expr, InitStep, Place, Scalar, Space, Transition, TransitionId, UnaryOp,
};
use crate::touches::{Touches, overlap};
use crate::ways::{Ways, next};

/// A set of locks, by their numbers.
type Set = u64;

/// The locks of a program.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    locks: Vec<Lock>,
    /// By body and local state: what is held there by whatever way; none if no process comes there.
    held: Vec<Vec<Option<Set>>>,
    /// By piece of the globals: the locks that are held wherever it is used.
    protectors: Vec<Set>,
}

/// A global that is used as a lock.
#[derive(Debug)]
struct Lock {
    place: Place,
    /// Its value while nobody holds it.
    free: i32,
    takings: Vec<Taking>,
}

/// Where a lock is taken: two transitions, of which the second follows the first at once.
#[derive(Clone, Copy, Debug)]
struct Taking {
    test: TransitionId,
    set: TransitionId,
}

/// More locks than this are not told apart.
const MAX_LOCKS: usize = 60;

/// What a step does with a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockStep {
    /// It is part of taking one.
    Takes,
    /// It sets one free.
    Frees,
}

impl Locks {
    /// Of the processes of a program.
    pub fn new(analysis: &Analysis<'_>, ways: &[Ways<'_>]) -> Self {
        let mut locks = Self { locks: candidates(ways), ..Self::default() };
        loop {
            locks.held = ways.iter().map(|ways| locks.find_held(ways)).collect();
            let Some(wrong) = (0..locks.locks.len()).find(|&it| !locks.is_lock(ways, it)) else {
                break;
            };
            locks.locks.remove(wrong);
        }
        locks.protectors = locks.find_protectors(analysis, ways);
        locks
    }

    /// What a step does with a lock, if it does anything but look at it.
    pub fn step(&self, program: &Program, step: &Transition) -> Option<LockStep> {
        let is_it = |id: TransitionId| std::ptr::eq(program.transition(id), step);
        let takes = |lock: &Lock| lock.takings.iter().any(|it| is_it(it.test) || is_it(it.set));
        if self.locks.iter().any(takes) {
            return Some(LockStep::Takes);
        }
        self.locks.iter().any(|lock| lock.is_freed_by(&step.action)).then_some(LockStep::Frees)
    }

    /// Whether some pieces of the globals are used only where a lock is held.
    pub fn protect(&self, mut pieces: Range<usize>) -> bool {
        pieces.all(|piece| self.protectors[piece] != 0)
    }

    /// Calls `call` with all steps that a process may come to, and the locks it holds then.
    fn each_step<'p>(
        &self,
        ways: &[Ways<'p>],
        mut call: impl FnMut(TransitionId, &Touches<'p>, Set),
    ) {
        for (ways, held) in ways.iter().zip(&self.held) {
            for (id, step, touches) in ways.steps() {
                call(id, &touches, held[usize::from(step.from.0)].unwrap_or(0));
            }
        }
    }

    /// What is held where in a body, if these are locks.
    fn find_held(&self, ways: &Ways<'_>) -> Vec<Option<Set>> {
        let mut held = vec![None; ways.automaton.states.len()];
        held[usize::from(ways.automaton.initial.0)] = Some(0);
        let mut changed = vec![ways.automaton.initial];
        while let Some(from) = changed.pop() {
            let Some(before) = held[usize::from(from.0)] else {
                continue;
            };
            for (id, transition) in ways.from(from) {
                let Some(to) = next(transition) else {
                    continue;
                };
                let after = self.after(id, transition, before);
                let known = &mut held[usize::from(to.0)];
                let both = known.map_or(after, |known| known & after);
                if *known != Some(both) {
                    *known = Some(both);
                    changed.push(to);
                }
            }
        }
        held
    }

    /// What is held after a step.
    fn after(&self, id: TransitionId, transition: &Transition, mut held: Set) -> Set {
        for (number, lock) in self.locks.iter().enumerate() {
            if lock.takings.iter().any(|taking| taking.set == id) {
                held |= 1 << number;
            } else if lock.is_freed_by(&transition.action) {
                held &= !(1 << number);
            }
        }
        held
    }

    /// Whether all that is done with a lock is right.
    fn is_lock(&self, ways: &[Ways<'_>], number: usize) -> bool {
        let Some(Ways { program, .. }) = ways.first() else {
            return false;
        };
        let lock = &self.locks[number];
        let at = lock.place.span();
        let mut first = 0;
        for step in &program.init {
            if let InitStep::Store(place, value) = step
                && place.space == Space::Global
                && overlap(&place.span(), &at)
            {
                match value {
                    Expr::Const(value) if *place == lock.place => {
                        first = place.scalar.truncate(*value);
                    }
                    _ => return false,
                }
            }
        }
        let mut right = first == lock.free;
        self.each_step(ways, |id, touches, held| {
            let meets = |(space, bytes): &(Space, Range<u32>)| {
                *space == Space::Global && overlap(bytes, &at)
            };
            let (reads, writes) =
                (touches.reads.iter().any(meets), touches.writes.iter().any(meets));
            let is_held = held & 1 << number != 0;
            let takes = lock.takings.iter().any(|it| it.test == id || it.set == id);
            let frees = lock.is_freed_by(&program.transition(id).action);
            right &= takes || is_held && (frees || !writes) || !(reads || writes);
        });
        right
    }

    fn find_protectors(&self, analysis: &Analysis<'_>, ways: &[Ways<'_>]) -> Vec<Set> {
        let all = (1 << self.locks.len()) - 1;
        let mut protectors = vec![all; analysis.globals.pieces.len()];
        self.each_step(ways, |_, touches, held| {
            for at in touches.reads.iter().chain(&touches.writes) {
                let pieces = analysis.globals.pieces(at);
                protectors[pieces].iter_mut().for_each(|protectors| *protectors &= held);
            }
        });
        protectors
    }
}

impl Lock {
    fn is_freed_by(&self, action: &Action) -> bool {
        matches!(action, Action::Assign(place, Expr::Const(value))
            if *place == self.place && place.scalar.truncate(*value) == self.free)
    }
}

/// The globals that are taken as locks are; how they are used otherwise is not looked at.
fn candidates(ways: &[Ways<'_>]) -> Vec<Lock> {
    let mut locks: Vec<Lock> = Vec::new();
    for ways in ways {
        for (place, free, taking) in ways.transitions().filter_map(|(id, _)| taking(ways, id)) {
            let same = |it: &&mut Lock| it.place == *place && it.free == free;
            if let Some(lock) = locks.iter_mut().find(same) {
                lock.takings.push(taking);
            } else {
                locks.push(Lock { place: place.clone(), free, takings: vec![taking] });
            }
        }
    }
    locks.truncate(MAX_LOCKS);
    locks
}

/// The lock that is taken by a transition, with its value while it is free, if it looks like one.
fn taking<'p>(ways: &Ways<'p>, id: TransitionId) -> Option<(&'p Place, i32, Taking)> {
    let first = ways.program.transition(id);
    let (test, condition) = match first.action {
        Action::DStep { entry } => {
            let is_step = |step: &Transition| matches!(step.action, Action::DStep { .. });
            let mut all = ways.to(entry).map(|(_, step)| step);
            all.all(|step| is_step(step) && ways.only_waits(step.from)).then_some(())?;
            ways.only(entry)?
        }
        _ if first.atomic && ways.only_waits(first.from) => (id, first),
        _ => return None,
    };
    let (place, free) = tested(&condition.action)?;
    let between = condition.to;
    let (set, assignment) = ways.only(between)?;
    let Action::Assign(target, Expr::Const(value)) = &assignment.action else {
        return None;
    };
    let takes = target == place
        && target.scalar.truncate(*value) != free
        && assignment.escape == 0
        && place.space == Space::Global
        && place.indexes.is_empty();
    // Nobody comes to the second step but by such a test, here or elsewhere.
    let follows = ways.automaton.initial != between
        && ways.to(between).all(|(_, step)| tested(&step.action) == Some((place, free)));
    (takes && follows).then_some((place, free, Taking { test, set }))
}

/// Which variable is compared with which value, if that is all.
fn tested(action: &Action) -> Option<(&Place, i32)> {
    let Action::Condition(condition) = action else {
        return None;
    };
    match condition {
        Expr::Load(place) if place.scalar == Scalar::Bit => Some((place, 1)),
        Expr::Unary(UnaryOp::Not, operand) => match &**operand {
            Expr::Load(place) => Some((place, 0)),
            _ => None,
        },
        Expr::Binary(BinaryOp::Eq, a, b) => match (&**a, &**b) {
            (Expr::Load(place), &Expr::Const(value)) | (&Expr::Const(value), Expr::Load(place)) => {
                Some((place, value))
            }
            _ => None,
        },
        _ => None,
    }
}
