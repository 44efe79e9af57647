//! A system for tests, whose moves can be remembered.

use std::ops::Range;

use spinward_machine::{Actor, Flow, Footprint, Sink, Step, System, Violation};
use spinward_program::ir::TransitionId;

/// Some actors with a position and a counter each, which share other counters.
pub struct Toy {
    pub seed: u32,
    /// How far each shared counter goes.
    pub shared: [u8; 3],
    pub positions: u8,
    pub local: u8,
    /// Whether the first actor has the first shared counter for itself.
    pub apart: bool,
    /// Whether it tells what its moves depend on.
    pub tells: bool,
    /// Whether anything is ever wrong.
    pub fails: bool,
}

const ACTORS: usize = 3;

pub struct Move {
    pub steps: Vec<Step>,
    pub end: Result<Vec<u8>, Violation>,
    written: [usize; 3],
}

impl Toy {
    pub fn small(seed: u32) -> Self {
        Self {
            seed,
            shared: [5, 3, 4],
            positions: 2,
            local: 2,
            apart: false,
            tells: true,
            fails: true,
        }
    }

    /// A counter that goes on for long, so that again and again other bits change.
    pub fn large(seed: u32) -> Self {
        Self {
            seed,
            shared: [250, 8, 3],
            positions: 2,
            local: 2,
            apart: true,
            tells: true,
            fails: true,
        }
    }

    fn draw(&self, actor: usize, position: u8, index: u32) -> u32 {
        let mix = |hash: u32, by: u32| (hash ^ by).wrapping_mul(0x9e37_79b1).rotate_left(13);
        [actor as u32, position.into(), index, 7].into_iter().fold(self.seed, mix)
    }

    /// Which bytes of a state the moves of an actor depend on, and these moves.
    fn moves(&self, state: &[u8], actor: usize) -> (Vec<usize>, Vec<Move>) {
        let [at, local] = [3 + 2 * actor, 4 + 2 * actor];
        let mut read = vec![at, local];
        let mut moves = Vec::new();
        for index in 0..3 {
            let drawn = self.draw(actor, state[at], index);
            let part = |shift: u32, of: u32| (drawn >> shift) % of;
            let [guard, counter] = [0, 3].map(|shift| match actor {
                _ if !self.apart => part(shift, 3) as usize,
                0 => 0,
                _ => 1 + part(shift, 2) as usize,
            });
            read.extend([guard, counter]);
            if u32::from(state[guard]) % 4 == part(6, 4) {
                continue;
            }
            let step = |number| Step {
                process: actor as u16,
                transition: TransitionId(u32::from(state[at]) << 16 | index << 8 | number),
            };
            let mut steps: Vec<_> = (0..1 + part(9, 3)).map(step).collect();
            let mut next = state.to_vec();
            next[at] = part(12, self.positions.into()) as u8;
            next[local] = (state[local] + 1) % self.local;
            next[counter] = (state[counter] + 1) % self.shared[counter];
            let is_wrong =
                self.fails && part(15, 4) == 0 && state[counter] == 2 && state[local] == 1;
            let end = if is_wrong {
                steps.truncate(2);
                Err(Violation::Assertion(TransitionId(part(20, 5))))
            } else {
                Ok(next)
            };
            moves.push(Move { steps, end, written: [at, local, counter] });
        }
        (read, moves)
    }

    /// All moves of a state, in order.
    pub fn all_moves(&self, state: &[u8]) -> Vec<Move> {
        (0..ACTORS).rev().flat_map(|actor| self.moves(state, actor).1).collect()
    }

    /// Whether a run leads to something that is wrong.
    pub fn leads_to(&self, steps: &[Step], violation: Violation) -> bool {
        let mut state = Vec::new();
        self.initial(&mut state);
        let mut rest = steps;
        loop {
            let moves = self.all_moves(&state);
            if moves.is_empty() {
                return rest.is_empty() && violation == Violation::InvalidEndState;
            }
            let taken = moves.into_iter().find(|it| rest.starts_with(&it.steps));
            match taken {
                Some(Move { steps, end: Ok(next), .. }) => {
                    (state, rest) = (next, &rest[steps.len()..]);
                }
                Some(Move { steps, end: Err(wrong), .. }) => {
                    return wrong == violation && rest.len() == steps.len();
                }
                None => return false,
            }
        }
    }
}

impl System for Toy {
    /// How many states were expanded.
    type Scratch = u64;

    fn scratch(&self) -> u64 {
        0
    }

    fn initial(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend([0; 3 + 2 * ACTORS]);
    }

    fn expand(&self, state: &[u8], scratch: &mut u64, sink: &mut dyn Sink) -> Flow {
        *scratch += 1;
        let moves = self.all_moves(state);
        if moves.is_empty() && self.fails {
            sink.violation(Violation::InvalidEndState, &[])?;
        }
        for Move { steps, end, .. } in moves {
            match end {
                Ok(next) => sink.successor(&next, &steps)?,
                Err(violation) => sink.violation(violation, &steps)?,
            }
        }
        Flow::Continue(())
    }

    fn has_actors(&self) -> bool {
        true
    }

    fn actors(&self, _: &[u8]) -> usize {
        if self.tells { ACTORS } else { 0 }
    }

    fn position(&self, _: &[u8], actor: usize) -> Range<usize> {
        3 + 2 * actor..4 + 2 * actor
    }

    fn footprint(&self, state: &[u8], actor: usize, _: &mut u64, out: &mut Footprint) -> Actor {
        *out = Footprint::default();
        out.read.resize(state.len(), 0);
        let (read, moves) = self.moves(state, actor);
        read.iter().for_each(|&byte| out.read[byte] = u8::MAX);
        out.order[1].extend(read.iter().map(|&byte| byte as u32));
        for Move { steps, end, written } in moves {
            let Ok(next) = end else {
                return Actor::Wrong;
            };
            let mut all = vec![0; state.len()];
            written.iter().for_each(|&byte| all[byte] = u8::MAX);
            out.states.extend(next);
            out.written.extend(all);
            out.lengths.push(steps.len() as u32);
        }
        Actor::Known
    }
}
