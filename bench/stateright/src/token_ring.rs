//! Tokens go round a ring of queues: the twin of `token_ring.pml`.

use stateright::{Model, Property};

const N: usize = 10;
const TOKENS: u8 = 6;
const SIZE: usize = 2;
const ROUNDS: u8 = 6;

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct TokenRing;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    started: bool,
    /// The token in hand, 0 is none.
    token: u8,
    passed: u8,
    /// Tokens that wait, the first one first; 0 is none.
    queue: [u8; SIZE],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State([Node; N]);

impl Model for TokenRing {
    type State = State;
    /// The node that takes a step; it has only one to take.
    type Action = usize;

    fn init_states(&self) -> Vec<State> {
        vec![State([Node::default(); N])]
    }

    fn actions(&self, state: &State, actions: &mut Vec<usize>) {
        actions.extend((0..N).filter(|&me| {
            let node = &state.0[me];
            match (node.started, node.token) {
                (false, _) => true,
                (true, 0) => node.queue[0] != 0,
                (true, _) => state.0[(me + 1) % N].queue[SIZE - 1] == 0,
            }
        }));
    }

    fn next_state(&self, state: &State, me: usize) -> Option<State> {
        let mut next = state.clone();
        let node = &mut next.0[me];
        match (node.started, node.token) {
            (false, _) => {
                node.started = true;
                node.token = if (me as u8) < TOKENS { me as u8 + 1 } else { 0 };
            }
            (true, 0) => {
                node.token = node.queue[0];
                node.queue.rotate_left(1);
                node.queue[SIZE - 1] = 0;
            }
            (true, token) => {
                node.token = 0;
                node.passed = (node.passed + 1) % ROUNDS;
                let queue = &mut next.0[(me + 1) % N].queue;
                let free = queue.iter().position(|&waiting| waiting == 0)?;
                queue[free] = token;
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("no token is made up", |_, state: &State| {
            state.0.iter().all(|node| node.token <= TOKENS)
        })]
    }
}
