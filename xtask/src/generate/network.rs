//! Makes random networks of automata that meet in handshakes.
//!
//! They are those of K. Dräger, B. Finkbeiner and A. Podelski, *Directed model checking with
//! distance-preserving abstractions*, SPIN 2006, section 6 (benchmarks R5 to R10): some processes of 3 to
//! 10 states, twice as many actions, each of which two processes do together, and an error that is a
//! state of each process, all at the same time. As there, no network falls apart into processes that never
//! meet; but whether there is a run to the error is for a search to find out. How many transitions
//! a process has the paper does not tell.
//!
//! A network is a function of its seed, drawn by [`Dice`] in this order: for each action, who sends and
//! who receives, again and again until all processes are connected; then for each process
//!
//! - the number of its states;
//! - for each state but the first, a transition to it from an earlier one;
//! - for each of its actions that is on none of these, a transition between any two states;
//! - as many transitions between any two states as it has states;
//! - its error state, any but the first.
//!
//! A transition has one of the actions of the process, or in one of ten cases none. If not all processes
//! are to have an error state, those that lose it are drawn last.

use std::collections::BTreeSet;
use std::fmt;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;

use super::Dice;

/// Print the random network of a seed
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// The seed
    #[arg(long)]
    seed: u64,
    #[command(flatten)]
    size: Size,
}

/// How large a network is
#[derive(Clone, Copy, Debug, Args)]
pub struct Size {
    /// How many processes
    #[arg(long, default_value_t = 5)]
    pub processes: usize,
    /// The least number of states of a process
    #[arg(long, default_value_t = 3)]
    pub min_states: usize,
    /// The greatest number of states of a process
    #[arg(long, default_value_t = 10)]
    pub max_states: usize,
    /// How many processes have an error state; where the others are makes no difference [default: all]
    #[arg(long)]
    pub goals: Option<usize>,
}

/// Prints a network as a model.
pub fn run(options: &Options) -> Result<ExitCode> {
    let Size { processes, min_states, max_states, goals } = options.size;
    ensure!((2..=100).contains(&processes), "a network has 2 to 100 processes");
    ensure!(min_states >= 2, "a process has at least 2 states");
    ensure!(min_states <= max_states, "the least number of states is above the greatest");
    let goals = goals.unwrap_or(processes);
    ensure!((1..=processes).contains(&goals), "an error is where 1 to {processes} processes are");
    println!(
        "/* cargo xtask network --processes {processes} --min-states {min_states} \
         --max-states {max_states} --goals {goals} --seed {} */",
        options.seed
    );
    print!("{}", network(options.seed, options.size));
    Ok(ExitCode::SUCCESS)
}

/// Processes and what they do together; prints itself as a model, whose formula `safe` says that the
/// error is never reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    pub processes: Vec<Process>,
    pub actions: Vec<Action>,
}

/// What two processes do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    pub sender: usize,
    pub receiver: usize,
}

/// An automaton that begins in state 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub states: usize,
    pub transitions: BTreeSet<Transition>,
    /// Where it must be for the error; without such a state it may be anywhere.
    pub error: Option<usize>,
}

/// A step of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transition {
    pub from: usize,
    pub to: usize,
    /// Without one it is the process's own.
    pub action: Option<usize>,
}

/// The network of a seed: of at least 2 processes, of at least 2 states each.
pub fn network(seed: u64, size: Size) -> Network {
    let mut dice = Dice::new(seed);
    let mut actions = draw_actions(&mut dice, size.processes);
    while !connected(size.processes, &actions) {
        actions = draw_actions(&mut dice, size.processes);
    }
    let mut processes: Vec<_> =
        (0..size.processes).map(|me| draw_process(&mut dice, size, me, &actions)).collect();
    let mut goals: Vec<usize> = (0..size.processes).collect();
    while goals.len() > size.goals.unwrap_or(size.processes) {
        let without = goals.swap_remove(dice.below(goals.len()));
        processes[without].error = None;
    }
    Network { processes, actions }
}

fn draw_actions(dice: &mut Dice, processes: usize) -> Vec<Action> {
    let action = |_| {
        let sender = dice.below(processes);
        let other = dice.below(processes - 1);
        Action { sender, receiver: if other < sender { other } else { other + 1 } }
    };
    (0..2 * processes).map(action).collect()
}

/// No processes are on their own.
fn connected(processes: usize, actions: &[Action]) -> bool {
    let mut group: Vec<usize> = (0..processes).collect();
    for it in actions {
        let (kept, gone) = (group[it.sender], group[it.receiver]);
        group.iter_mut().filter(|it| **it == gone).for_each(|it| *it = kept);
    }
    group.iter().all(|it| *it == group[0])
}

fn draw_process(dice: &mut Dice, size: Size, me: usize, actions: &[Action]) -> Process {
    let mut missing: Vec<usize> = (0..actions.len()).filter(|&n| actions[n].has(me)).collect();
    let mine = missing.clone();
    let states = dice.range(size.min_states, size.max_states);
    let mut transitions = BTreeSet::new();
    for to in 1..states {
        let from = dice.below(to);
        let action = draw_label(dice, &mine);
        missing.retain(|&it| Some(it) != action);
        transitions.insert(Transition { from, to, action });
    }
    for it in missing {
        let (from, to) = (dice.below(states), dice.below(states));
        transitions.insert(Transition { from, to, action: Some(it) });
    }
    for _ in 0..states {
        let (from, to) = (dice.below(states), dice.below(states));
        let action = draw_label(dice, &mine);
        if action.is_some() || from != to {
            transitions.insert(Transition { from, to, action });
        }
    }
    let error = Some(dice.range(1, states - 1));
    Process { states, transitions, error }
}

/// One of a process's actions, or none.
fn draw_label(dice: &mut Dice, mine: &[usize]) -> Option<usize> {
    if dice.chance(10) { None } else { dice.pick(mine).copied() }
}

impl Action {
    fn has(self, process: usize) -> bool {
        self.sender == process || self.receiver == process
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, it) in self.actions.iter().enumerate() {
            let Action { sender, receiver } = it;
            writeln!(f, "chan a{n} = [0] of {{ bit }};  /* P{sender} to P{receiver} */")?;
        }
        for (n, process) in self.processes.iter().enumerate() {
            writeln!(f, "\nactive proctype P{n}()\n{{")?;
            for state in 0..process.states {
                self.write_state(f, n, state)?;
            }
            writeln!(f, "}}")?;
        }
        writeln!(f, "\nltl safe {{ [] {} }}", self.invariant())
    }
}

impl Network {
    /// What the formula says of each state.
    pub fn invariant(&self) -> String {
        let goals: Vec<_> = (0..self.processes.len())
            .filter(|&n| self.processes[n].error.is_some())
            .map(|n| format!("P{n}@error"))
            .collect();
        format!("!({})", goals.join(" && "))
    }

    /// Every state is a valid end state: what is asked is whether the error can be reached.
    fn write_state(&self, f: &mut fmt::Formatter<'_>, me: usize, state: usize) -> fmt::Result {
        let process = &self.processes[me];
        if process.error == Some(state) {
            writeln!(f, "error:")?;
        }
        let last = state + 1 == process.states;
        let semicolon = if last { "" } else { ";" };
        let mut moves = process.transitions.iter().filter(|it| it.from == state).peekable();
        if moves.peek().is_none() {
            return writeln!(f, "end{state}:\n    false{semicolon}");
        }
        writeln!(f, "end{state}:\n    if")?;
        for it in moves {
            let what = match it.action {
                None => "true".to_owned(),
                Some(action) if self.actions[action].sender == me => format!("a{action}!0"),
                Some(action) => format!("a{action}?0"),
            };
            writeln!(f, "    :: {what} -> goto end{}", it.to)?;
        }
        writeln!(f, "    fi{semicolon}")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use spinward_guide::NEVER;
    use spinward_guide::truth::Truth;
    use spinward_machine::Machine;

    use super::*;
    use crate::distances::{estimates, machine, truth};

    const SMALL: Size = Size { processes: 3, min_states: 3, max_states: 5, goals: None };
    const USUAL: Size = Size { processes: 7, min_states: 3, max_states: 10, goals: Some(4) };

    #[test]
    fn networks_are_as_large_as_asked_for() {
        for seed in 0..1000 {
            let size = if seed % 2 == 0 { SMALL } else { USUAL };
            let Network { processes, actions } = network(seed, size);
            assert_eq!((processes.len(), actions.len()), (size.processes, 2 * size.processes));
            assert!(connected(processes.len(), &actions));
            let goals = processes.iter().filter(|process| process.error.is_some()).count();
            assert_eq!(goals, size.goals.unwrap_or(size.processes));
            for (me, process) in processes.iter().enumerate() {
                assert!((size.min_states..=size.max_states).contains(&process.states));
                for (n, action) in actions.iter().enumerate() {
                    assert_ne!(action.sender, action.receiver);
                    let does = process.transitions.iter().any(|it| it.action == Some(n));
                    assert_eq!(does, action.has(me), "seed {seed}: P{me}, action {n}");
                }
            }
        }
    }

    #[test]
    fn processes_that_never_meet_are_not_connected() {
        let meet = |sender, receiver| Action { sender, receiver };
        assert!(!connected(4, &[meet(0, 1), meet(3, 2), meet(1, 0)]));
        assert!(connected(4, &[meet(0, 1), meet(3, 2), meet(1, 3)]));
    }

    #[test]
    fn models_are_well_formed() {
        for seed in 0..1000 {
            let text = network(seed, if seed % 2 == 0 { SMALL } else { USUAL }).to_string();
            let options = spinward_promela::Options::default();
            let loaded = spinward_promela::load_text(Path::new("model.pml"), text, &options);
            assert!(!loaded.has_errors(), "seed {seed}: {:?}", loaded.diagnostics);
        }
    }

    /// A network of a seed that is small enough for all of its states to be looked at.
    fn small(seed: u64) -> Network {
        let processes = match seed % 10 {
            0 => 2,
            1 => 4,
            _ => 3,
        };
        let goals = seed.is_multiple_of(4).then_some(2);
        network(seed, Size { processes, goals, ..SMALL })
    }

    /// Holds what a guide estimates against what it promises, and against the distances themselves if it
    /// has room for all of the network.
    fn hold(seed: u64, machine: &Machine, truth: &Truth, guide: &str, exact: bool) {
        let estimates = estimates(machine, truth, guide).unwrap();
        for (state, (&estimate, &distance)) in estimates.iter().zip(&truth.distances).enumerate() {
            let is_fine = if exact { estimate == distance } else { estimate <= distance };
            assert!(is_fine, "seed {seed}, {guide}: {estimate} for {distance} in state {state}");
        }
        for &(from, to, steps) in &truth.edges {
            let (before, after) = (estimates[from], estimates[to]);
            let is_fine = before <= after.saturating_add(steps);
            assert!(is_fine, "seed {seed}, {guide}: {before} > {steps} + {after} in state {from}");
        }
    }

    #[test]
    fn abstractions_keep_their_promises_on_a_thousand_networks() {
        let mut with_a_way = 0;
        for seed in 0..1000 {
            let network = small(seed);
            let path = Path::new("network.pml");
            let machine = machine(path, network.to_string(), &network.invariant()).unwrap();
            let truth = truth(&machine).unwrap();
            with_a_way += u32::from(truth.distances[0] != NEVER);
            for guide in ["dpa(n=2)", "dpa(n=5)", "dpa(n=20)", "pdb(n=30)"] {
                hold(seed, &machine, &truth, guide, false);
            }
            hold(seed, &machine, &truth, "dpa(n=1000000)", true);
        }
        assert!(with_a_way >= 500, "the error can be reached in {with_a_way} networks only");
    }

    /// Seeds stand in tables of measurements: whoever changes what they mean should know it.
    #[test]
    fn seeds_mean_what_they_meant() {
        let text: String = (0..50).map(|seed| network(seed, USUAL).to_string()).collect();
        let fingerprint = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        assert_eq!(fingerprint, 8334261382277817849);
    }
}
