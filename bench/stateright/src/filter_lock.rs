//! Peterson's filter lock for N processes: the twin of `filter_lock.pml`.

use stateright::{Model, Property};

const N: usize = 5;

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct FilterLock;

/// Where a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Again,
    Last,
    Wait,
    Inside,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    at: [At; N],
    /// The level to come to, of each process.
    l: [u8; N],
    /// The process to look at, of each process.
    k: [u8; N],
    level: [u8; N],
    last: [u8; N],
    inside: u8,
}

impl State {
    /// Whether the process may look at the next one.
    fn passes(&self, me: usize) -> bool {
        let (l, k) = (self.l[me], usize::from(self.k[me]));
        k == me || self.level[k] < l || usize::from(self.last[usize::from(l)]) != me
    }
}

impl Model for FilterLock {
    type State = State;
    /// The process that takes a step; it has only one to take.
    type Action = usize;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            at: [At::Again; N],
            l: [0; N],
            k: [0; N],
            level: [0; N],
            last: [0; N],
            inside: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<usize>) {
        actions.extend((0..N).filter(|&me| {
            state.at[me] != At::Wait || usize::from(state.k[me]) == N || state.passes(me)
        }));
    }

    fn next_state(&self, state: &State, me: usize) -> Option<State> {
        let mut next = state.clone();
        match state.at[me] {
            At::Again => {
                next.l[me] += 1;
                next.level[me] = next.l[me];
                next.at[me] = At::Last;
            }
            At::Last => {
                next.last[usize::from(next.l[me])] = me as u8;
                next.k[me] = 0;
                next.at[me] = At::Wait;
            }
            At::Wait if usize::from(state.k[me]) < N => next.k[me] += 1,
            At::Wait => {
                next.k[me] = 0;
                if usize::from(state.l[me]) < N - 1 {
                    next.at[me] = At::Again;
                } else {
                    next.inside += 1;
                    next.at[me] = At::Inside;
                }
            }
            At::Inside => {
                next.inside -= 1;
                next.level[me] = 0;
                next.l[me] = 0;
                next.at[me] = At::Again;
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("never two inside", |_, state: &State| state.inside <= 1)]
    }
}
