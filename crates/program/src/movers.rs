//! Which moves may be made earlier or later than others.
//!
//! *Idea*: a move of a process is a *right mover* if whatever another process does next it could have done
//! before as well, with the same result; a *left mover* if it could have been made before whatever another
//! process did last, and stays possible whatever others do (Lipton, *Reduction: a method of proving properties
//! of parallel programs*, 1975). Taking a lock (`locks.rs`) is a right mover, setting it free a left mover.
//! Receiving from a channel that is never full (`pipes.rs`) is a right mover and sending to it a left mover,
//! if no other process does the same. Both are steps on the process's own data, on globals that nobody else
//! uses, and on those that are used only under the same lock. All else is neither.
//!
//! This is what a search by transactions needs to know (Levin, Palmer, Qadeer, Rajamani, *Sound
//! transaction-based reduction without cycle detection*, SPIN 2005), by local state: moves from it are movers
//! if all are, whether they are possible or not, with all that follows in an atomic sequence or a `d_step`.
//!
//! *Invariant*: nothing is assumed that must be checked when the program runs. What cannot be shown is
//! neither, and so is whatever asks about other processes, is seen by a watched condition or by other
//! processes, or creates processes or ends them.
//!
//! A rendezvous is a move of two. Who waits to be sent something does not move by itself; so a move to
//! where it waits must not be put off until it moves on, and is no right mover.
//!
//! *Cost*: a walk over the moves of each local state.

use crate::Program;
use crate::independence::{Analysis, Conditions};
use crate::ir::{Automaton, BodyId, StateId, Transition};
use crate::locks::{LockStep, Locks};
use crate::pipes::Pipes;
use crate::touches::{Touches, Use, each_step};
use crate::ways::Ways;

/// How the moves of a process from a local state may be put off, or be made earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mover {
    /// They may be made earlier.
    pub left: bool,
    /// They may be made later.
    pub right: bool,
}

impl Mover {
    const BOTH: Self = Self { left: true, right: true };
    const LEFT: Self = Self { left: true, right: false };
    const RIGHT: Self = Self { left: false, right: true };
    const NEITHER: Self = Self { left: false, right: false };

    fn and(self, other: Self) -> Self {
        Self { left: self.left && other.left, right: self.right && other.right }
    }
}

/// The movers of a program.
#[derive(Debug)]
pub struct Movers {
    /// By body and local state.
    bodies: Vec<Vec<Mover>>,
}

impl Movers {
    /// Of a program of which some conditions are watched, and its trace perhaps, or why there are none.
    pub fn new(program: &Program, watched: &[u32], traced: bool) -> Result<Self, &'static str> {
        if traced {
            return Err("there is a trace");
        }
        if program.uses.timeout {
            return Err("`timeout` is used");
        }
        if program.hidden.bytes > 0 {
            return Err("the values of hidden variables depend on the order");
        }
        if program.automata.iter().any(|automaton| automaton.provided.is_some()) {
            return Err("`provided` is used");
        }
        let analysis = Analysis::new(program, watched, traced, Conditions::ALL);
        analysis.asks_nothing_of_all()?;
        let ways = Ways::of(&analysis);
        let (locks, pipes) = (Locks::new(&analysis, &ways), Pipes::new(&analysis, &ways));
        let classes = Classes { analysis, locks, pipes };
        let bodies = program.automata.iter().map(|automaton| classes.body(automaton));
        Ok(Self { bodies: bodies.collect() })
    }

    /// How the moves of a process in a local state may be put off, or be made earlier.
    pub fn of(&self, body: BodyId, state: StateId) -> Mover {
        self.bodies[body.0 as usize][state.0 as usize]
    }
}

struct Classes<'p> {
    analysis: Analysis<'p>,
    locks: Locks,
    pipes: Pipes,
}

impl Classes<'_> {
    fn body(&self, automaton: &Automaton) -> Vec<Mover> {
        let states = (0..automaton.states.len()).map(|state| StateId(state as u16));
        states.map(|state| self.moves(automaton, state)).collect()
    }

    /// The class of the moves from a local state.
    fn moves(&self, automaton: &Automaton, state: StateId) -> Mover {
        let (program, body) = (self.analysis.program, automaton.body);
        let moves = self.analysis.moves(body, state);
        if moves.ends.is_empty() || !self.analysis.is_private(body, state, &moves) {
            return Mover::NEITHER;
        }
        let mut mover = Mover::BOTH;
        let mut inside = vec![state];
        let mut next = 0;
        while let Some(&at) = inside.get(next) {
            next += 1;
            for id in automaton.state(at).transition_ids() {
                let transition = program.transition(id);
                each_step(program, transition, |step| mover = mover.and(self.step(step)));
                if transition.atomic && !inside.contains(&transition.to) {
                    inside.push(transition.to);
                }
            }
        }
        let waits = moves.ends.iter().any(|&end| self.analysis.is_ready(body, end));
        Mover { right: mover.right && !waits, ..mover }
    }

    fn step(&self, step: &Transition) -> Mover {
        let (body, globals) = (step.body.0 as usize, &self.analysis.globals);
        let mut touches = Touches::default();
        touches.add(self.analysis.program, step);
        if !touches.creates.is_empty() || touches.dies {
            return Mover::NEITHER;
        }
        let apart = |at, changes| {
            !globals.is_shared(body, at, changes) || self.locks.protect(globals.pieces(at))
        };
        let is_apart = touches.reads.iter().all(|at| apart(at, false))
            && touches.writes.iter().all(|at| apart(at, true));
        if touches.uses.is_empty() && is_apart {
            return Mover::BOTH;
        }
        match self.locks.step(self.analysis.program, step) {
            Some(LockStep::Takes) => return Mover::RIGHT,
            Some(LockStep::Frees) => return Mover::LEFT,
            None => {}
        }
        match self.pipes.are_used(&self.analysis, step, &touches.uses).filter(|_| is_apart) {
            Some(Use::Send) => Mover::LEFT,
            Some(Use::Receive) => Mover::RIGHT,
            _ => Mover::NEITHER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::program;

    /// The class of the moves that begin with a statement of process A.
    fn class(text: &str, statement: &str) -> Mover {
        let program = program(text);
        let movers = Movers::new(&program, &[], false).expect("movers");
        let ways = Ways::of(&Analysis::new(&program, &[], false, Conditions::ALL));
        let steps =
            ways.iter().filter(|ways| ways.automaton.name == "A").flat_map(Ways::transitions);
        let shown = |step: &Transition| &program.element(step.element).text;
        let mut steps = steps.filter(|(_, step)| shown(step) == statement);
        let (_, step) = steps.next().unwrap_or_else(|| panic!("no `{statement}` in {text}"));
        movers.of(step.body, step.from)
    }

    const LOCKED: &str = "bit m; byte v, w;
        active proctype A() {
            byte x;
            x = 1;
            atomic { m == 0 -> m = 1 };
            v = x;
            w = 2;
            atomic { v = 3; m = 0 };
            run C()
        }
        active proctype B() { atomic { m == 0 -> m = 1 }; v = 2; m = 0; w = 3 }
        proctype C() { skip }";

    #[test]
    fn locks_make_movers() {
        assert_eq!(class(LOCKED, "x = 1"), Mover::BOTH);
        assert_eq!(class(LOCKED, "m == 0"), Mover::RIGHT);
        assert_eq!(class(LOCKED, "v = x"), Mover::BOTH);
        assert_eq!(class(LOCKED, "w = 2"), Mover::NEITHER);
        assert_eq!(class(LOCKED, "v = 3"), Mover::LEFT);
        assert_eq!(class(LOCKED, "run C()"), Mover::NEITHER);
        assert_eq!(class(LOCKED, "-end-"), Mover::NEITHER);
    }

    #[test]
    fn who_breaks_the_rule_breaks_it_for_all() {
        for other in ["m = 0", "v = 1", "m == 0; m = 1", "if :: m == 0 :: else fi"] {
            let text = format!("{LOCKED} active proctype D() {{ {other} }}");
            assert_eq!(class(&text, "v = x"), Mover::NEITHER, "{other}");
            assert_eq!(class(&text, "m == 0").right, other == "v = 1", "{other}");
        }
    }

    #[test]
    fn locks_are_known_by_any_test_and_any_values() {
        let text = |declared: &str, taken: &str, free: &str| {
            format!(
                "{declared}; byte v;
                 active [2] proctype A() {{ do :: {taken}; v = 1; m = {free} od }}"
            )
        };
        for (declared, taken, free) in [
            ("bool m", "atomic { !m -> m = true }", "false"),
            ("bit m = 1", "atomic { m -> m = 0 }", "1"),
            ("byte m = 2", "d_step { 2 == m -> m = 7 }", "2"),
        ] {
            assert_eq!(class(&text(declared, taken, free), "v = 1"), Mover::BOTH, "{taken}");
            assert_eq!(class(&text("byte m = 1", taken, free), "v = 1"), Mover::NEITHER, "{taken}");
        }
    }

    #[test]
    fn messages_move_if_there_is_always_room() {
        let text = |room: u32, more: &str| {
            format!(
                "chan c = [{room}] of {{ byte }};
                 active proctype A() {{ byte x; c!1; x = 1; c!2 }}
                 active proctype B() {{ byte x; c?x; x = 1; c?x }} {more}"
            )
        };
        assert_eq!(class(&text(2, ""), "c!1"), Mover::LEFT);
        assert_eq!(class(&text(1, ""), "c!1"), Mover::NEITHER);
        for other in ["c!3", "c?[1]", "len(c) == 1", "chan d; d = c; d!1"] {
            let text = text(3, &format!("active proctype D() {{ {other} }}"));
            assert_eq!(class(&text, "c!1"), Mover::NEITHER, "{other}");
        }
        let text =
            text(2, "").replace("proctype A", "proctype Z").replace("proctype B", "proctype A");
        assert_eq!(class(&text, "c?x"), Mover::RIGHT);
    }
}
