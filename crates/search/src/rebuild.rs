//! From visited states back to a run.
//!
//! A search remembers states, not steps. The steps of a run are found again by expanding the states
//! along it once more, which costs time only when there is an error to show.

use spinward_machine::{Flow, Sink, Step, System, Violation, system::length};

use crate::limits::longer;

/// A run, found again.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// Its steps.
    pub steps: Vec<Step>,
    /// Successors of the states along it that come after those the run takes.
    pub ahead: u64,
}

/// The run along `path` that ends in `violation` after `total` steps. The path has the key of each
/// state and the length of the run up to it, and starts with the initial state.
///
/// Of several ways from one state to the next it takes the first of the right length, as the
/// searches do. If the system does not repeat itself, the run ends early; replay will find out.
///
/// Expansions end with what is looked for unless `ahead` is to be counted: where a limit broke one
/// off, the rest of it may have no end.
pub(crate) fn rebuild<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    path: impl Iterator<Item = (Vec<u8>, u32)>,
    violation: Violation,
    total: u32,
    ahead: bool,
) -> Run {
    let mut run = Run::default();
    let mut state = Vec::new();
    system.initial(&mut state);
    let mut at = 0;
    let goals = path
        .skip(1)
        .map(|(key, length)| (Goal::State(key), length))
        .chain(std::iter::once((Goal::Violation(violation), total)));
    for (goal, length) in goals {
        let mut finder = Finder {
            system,
            goal,
            by: |steps: &[Step]| longer(at, self::length(steps)) == length,
            next: Vec::new(),
            found: false,
            ahead,
            run: &mut run,
        };
        let _ = system.expand(&state, scratch, &mut finder);
        if !finder.found {
            break;
        }
        state = finder.next;
        at = length;
    }
    run
}

enum Goal {
    State(Vec<u8>),
    Violation(Violation),
}

struct Finder<'a, S, F> {
    system: &'a S,
    goal: Goal,
    /// Whether the steps have the right length.
    by: F,
    next: Vec<u8>,
    found: bool,
    /// Whether to go on when it is found.
    ahead: bool,
    run: &'a mut Run,
}

impl<S, F> Finder<'_, S, F> {
    fn flow(&self) -> Flow {
        if self.found && !self.ahead { Flow::Break(()) } else { Flow::Continue(()) }
    }
}

impl<S: System, F: Fn(&[Step]) -> bool> Sink for Finder<'_, S, F> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        if self.found {
            self.run.ahead += 1;
        } else if matches!(&self.goal, Goal::State(key) if key == self.system.key(state))
            && (self.by)(steps)
        {
            self.found = true;
            self.next.extend_from_slice(state);
            self.run.steps.extend_from_slice(steps);
        }
        self.flow()
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        if !self.found
            && matches!(self.goal, Goal::Violation(goal) if goal == violation)
            && (self.by)(steps)
        {
            self.found = true;
            self.run.steps.extend_from_slice(steps);
        }
        self.flow()
    }
}
