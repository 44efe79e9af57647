//! From visited states back to a run.
//!
//! A search remembers states, not steps. The steps of a run are found again by expanding the states
//! along it once more, which costs time only when there is an error to show.

use spinward_machine::{Flow, Marks, Sink, Step, System, Violation, system::length};

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
pub(crate) fn rebuild<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    path: impl Iterator<Item = (Vec<u8>, u32)>,
    violation: Violation,
    total: u32,
    ahead: bool,
) -> Run {
    let states = path.skip(1).map(|(key, length)| Goal::State(key, length));
    let goals = states.chain([Goal::Violation(violation, total)]);
    follow(system, scratch, goals, Order::Whole, ahead)
}

/// What a run comes to next.
pub(crate) enum Goal {
    /// The state with this key, after so many steps in all. Of several ways it takes the first of
    /// the right length, as the searches do.
    State(Vec<u8>, u32),
    /// The state with this key, by an edge that has these marks and is of this length.
    Edge(Vec<u8>, Marks, u32),
    /// The successor of this number, counted from 0.
    Successor(u32),
    /// This violation, after so many steps in all.
    Violation(Violation, u32),
    /// This violation, after so many steps more.
    Wrong(Violation, u32),
}

/// In which order the successors of a state are told.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// As the system does.
    Whole,
    /// First those of actors that may move alone, one after the other; then all.
    AloneFirst,
}

/// The run from the initial state that comes to all goals in turn. If the system does not repeat
/// itself, the run ends early; replay will find out.
///
/// Expansions end with what is looked for unless `ahead` is to be counted: where a limit broke one
/// off, the rest of it may have no end.
pub(crate) fn follow<S: System>(
    system: &S,
    scratch: &mut S::Scratch,
    goals: impl Iterator<Item = Goal>,
    order: Order,
    ahead: bool,
) -> Run {
    let mut run = Run::default();
    let mut state = Vec::new();
    system.initial(&mut state);
    let mut length = 0;
    let mut violation = None;
    for goal in goals {
        if let Goal::Violation(wanted, _) | Goal::Wrong(wanted, _) = goal {
            violation = Some(wanted);
        }
        let mut finder = Finder {
            system,
            goal,
            length,
            successors: 0,
            next: Vec::new(),
            found: false,
            ahead,
            run: &mut run,
        };
        let _ = tell(system, &state, order, scratch, &mut finder);
        if !finder.found {
            break;
        }
        length = finder.length;
        state = finder.next;
    }
    if let Some(violation) = violation {
        run.steps = system.tell(run.steps, violation);
    }
    run
}

fn tell<S: System>(
    system: &S,
    state: &[u8],
    order: Order,
    scratch: &mut S::Scratch,
    sink: &mut dyn Sink,
) -> Flow {
    let mut from = 0;
    while let Order::AloneFirst = order
        && let Some(actor) = system.alone(state, from, true)
    {
        system.expand_alone(state, actor, scratch, sink)?;
        from = actor + 1;
    }
    system.expand(state, scratch, sink)
}

struct Finder<'a, S> {
    system: &'a S,
    goal: Goal,
    /// The length of the run.
    length: u32,
    /// Successors seen.
    successors: u32,
    next: Vec<u8>,
    found: bool,
    /// Whether to go on when it is found.
    ahead: bool,
    run: &'a mut Run,
}

impl<S> Finder<'_, S> {
    fn after(&self, steps: &[Step]) -> u32 {
        longer(self.length, length(steps))
    }

    fn take(&mut self, steps: &[Step]) {
        self.found = true;
        self.length = self.after(steps);
        self.run.steps.extend_from_slice(steps);
    }

    fn flow(&self) -> Flow {
        if self.found && !self.ahead { Flow::Break(()) } else { Flow::Continue(()) }
    }
}

impl<S: System> Sink for Finder<'_, S> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        self.marked(state, steps, Marks::default())
    }

    fn marked(&mut self, state: &[u8], steps: &[Step], marks: Marks) -> Flow {
        let wanted = match &self.goal {
            Goal::State(key, total) => key == self.system.key(state) && self.after(steps) == *total,
            Goal::Edge(key, wanted, by) => {
                key == self.system.key(state)
                    && marks.has_all(*wanted)
                    && longer(0, length(steps)) == *by
            }
            Goal::Successor(number) => *number == self.successors,
            Goal::Violation(..) | Goal::Wrong(..) => false,
        };
        self.successors += 1;
        if self.found {
            self.run.ahead += 1;
        } else if wanted {
            self.take(steps);
            self.next.extend_from_slice(state);
        }
        self.flow()
    }

    fn violation(&mut self, violation: Violation, steps: &[Step]) -> Flow {
        let wanted = match self.goal {
            Goal::Violation(goal, total) => goal == violation && self.after(steps) == total,
            Goal::Wrong(goal, by) => goal == violation && longer(0, length(steps)) == by,
            Goal::State(..) | Goal::Edge(..) | Goal::Successor(_) => false,
        };
        if !self.found && wanted {
            self.take(steps);
        }
        self.flow()
    }
}
