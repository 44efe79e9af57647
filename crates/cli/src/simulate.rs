//! `spinward simulate`: runs a model.
//!
//! Three ways to choose the next step: at random (a process among those that can move, then one of
//! its steps, as SPIN does), by the user, or as a trail says.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::Arc;

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward::Model;
use spinward::words::counted;
use spinward_machine::{Config, Machine, Move, Options, Scratch, Stop, System as _, Violation};
use spinward_program::ir::Action;
use spinward_trail::spin_listing::SpinListing;
use spinward_trail::values::{self, plain_name};
use spinward_trail::{Event, Listing};

use crate::args::{ColumnArgs, InvariantArgs, ModelArgs, OutputArgs, count};
use crate::terminal::{self, EXIT_VIOLATED, Failure, print, print_more, say};
use crate::{model, trail};

const EXAMPLES: &str = "\
Examples:
  spinward simulate hello.pml                       one random run; shows what processes print
  spinward simulate --seed 7 -p -g peterson.pml     all steps and the globals they change
  spinward simulate --interactive peterson.pml      choose every step yourself
  spinward simulate --trail m.pml.trail -p m.pml    along a trail

The exit code is 1 if the run comes to an error (a false assertion, a deadlock, ...), else 0.";

/// Run a model: at random, by hand, or along a trail.
///
/// The same seed gives the same run, on every machine and in every version.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// The seed of the random choices; if it is not given, one is chosen and told
    #[arg(
        long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true,
        help_heading = "Run"
    )]
    seed: Option<u64>,

    /// Stop after N steps
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        default_value = "10000", help_heading = "Run"
    )]
    steps: usize,

    /// Choose every step yourself
    #[arg(short, long, conflicts_with_all = ["seed", "trail"], help_heading = "Run")]
    interactive: bool,

    /// Take the steps of this trail
    #[arg(long, value_name = "FILE", conflicts_with = "seed", help_heading = "Run")]
    trail: Option<PathBuf>,

    /// For a trail made with this claim: a never claim, or an automaton in the HOA format
    #[arg(long, value_name = "FILE", requires = "trail", help_heading = "What to check")]
    claim: Option<PathBuf>,

    #[command(flatten)]
    invariant: InvariantArgs,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let conditions = &args.invariant.invariants;
    let model = model::load(&args.model, conditions, &[], args.claim.as_deref(), &args.output)?;
    if let Some(path) = &args.trail {
        let fit = trail::read(&model, path)?;
        trail::tell_notes(&fit, &args.output);
        return trail::as_spin(&model, &fit, &trail::asked(&model, &[])?, &args.columns);
    }
    if args.interactive {
        let machine = model::machine(&model, watched(&model), Arc::default())?;
        Interactive::new(&machine, &model, args).run()
    } else {
        let stop = terminal::stop_on_interrupt();
        let machine = model::machine(&model, watched(&model), Arc::clone(&stop))?;
        random(&machine, args, &stop)
    }
}

/// A run by hand or at random minds everything but the claims, as in SPIN.
fn watched(model: &Model) -> Options {
    Options {
        claim: None,
        end_states: true,
        assertions: true,
        trace: true,
        invariants: model::all_conditions(model),
        watched: Vec::new(),
        visible: Vec::new(),
        exclusive: false,
        reduce: None,
        movers: false,
    }
}

/// Why a run ended.
enum End {
    Violation(Vec<Violation>),
    Blocked,
    AllEnded,
    Limit,
    Interrupt,
}

fn random(machine: &Machine, args: &Args, stop: &Stop) -> Result<u8, Failure> {
    let seed = args.seed.unwrap_or_else(|| {
        let seed = random_seed();
        say(&format!("seed {seed} (the same run again: --seed {seed})"));
        seed
    });
    let mut choices = Choices::new(seed);
    let mut listing = SpinListing::new(machine, args.columns.columns());
    let mut walk = Walk::new(machine);
    let end = loop {
        if let Some(end) = walk.end(args.steps, stop) {
            break end;
        }
        let chosen = choices.pick(&walk.moves);
        if !print_more(&walk.take(chosen, &mut listing))? {
            return Ok(0);
        }
    };
    finish(machine, &walk, &end, &mut listing, args)
}

/// Tells how a run ended.
fn finish(
    machine: &Machine,
    walk: &Walk<'_>,
    end: &End,
    listing: &mut SpinListing<'_>,
    args: &Args,
) -> Result<u8, Failure> {
    let mut text = String::new();
    let mut code = 0;
    let view = machine.view(&walk.config.state);
    let final_state = listing.end(&view);
    match end {
        End::Violation(violations) => {
            code = EXIT_VIOLATED;
            if violations.contains(&Violation::InvalidEndState) {
                text.push_str("      timeout\n");
            }
            for violation in violations {
                let place = violation.transition().map(|id| {
                    let program = machine.program();
                    let span = program.element(program.transition(id).element).span;
                    let path = program.source.path(span).display();
                    format!("{path}:{}: ", program.source.line(span))
                });
                let place = place.unwrap_or_default();
                let what = violation.describe(machine.program());
                let _ = writeln!(text, "spinward: {place}{what}");
            }
        }
        End::Blocked => text.push_str("      timeout\n"),
        End::AllEnded => {}
        End::Limit => {
            let steps = counted(args.steps as u64, "step");
            let _ =
                writeln!(text, "-------------\nstopped after {steps}; for a longer run: --steps N");
        }
        End::Interrupt => text.push_str("-------------\nstopped by the user\n"),
    }
    text.push_str(&final_state);
    print(&text)?;
    Ok(code)
}

/// A run as far as it has come.
struct Walk<'a> {
    machine: &'a Machine,
    scratch: Scratch,
    config: Config,
    moves: Vec<Move>,
    /// What is wrong where the run is, if nobody can move.
    wrong: Vec<Violation>,
    /// What went wrong in the last move or is wrong after it, and ends the run.
    violations: Vec<Violation>,
    /// How many steps it has.
    length: usize,
}

impl<'a> Walk<'a> {
    fn new(machine: &'a Machine) -> Self {
        let mut walk = Self {
            machine,
            scratch: machine.scratch(),
            config: machine.start(),
            moves: Vec::new(),
            wrong: Vec::new(),
            violations: Vec::new(),
            length: 0,
        };
        walk.look();
        walk
    }

    /// Finds the moves that are possible now; an invariant that does not hold ends the run.
    fn look(&mut self) {
        (self.moves, self.wrong) = self.machine.moves(&self.config, &mut self.scratch);
        let broken = self.wrong.extract_if(.., |violation| violation.condition().is_some());
        self.violations.extend(broken);
    }

    /// Takes a move; gives what it shows.
    fn take(&mut self, chosen: usize, listing: &mut SpinListing<'_>) -> String {
        let chosen = self.moves.swap_remove(chosen);
        let text = listing.event(&Event {
            index: self.length,
            before: &self.config,
            steps: &chosen.steps,
            after: chosen.next.as_ref(),
            violations: &chosen.violations,
            output: &chosen.output,
            transfers: &chosen.transfers,
        });
        self.length += chosen.steps.len();
        self.violations = chosen.violations;
        if let Some(next) = chosen.next {
            self.config = next;
        }
        if self.violations.is_empty() {
            self.look();
        }
        text
    }

    /// Whether the run is over, and why.
    fn end(&self, limit: usize, stop: &Stop) -> Option<End> {
        // First: a step that was broken off looks like one that has no end.
        if stop.is_told() {
            return Some(End::Interrupt);
        }
        if !self.violations.is_empty() {
            return Some(End::Violation(self.violations.clone()));
        }
        if self.moves.is_empty() {
            let view = self.machine.view(&self.config.state);
            return Some(if !self.wrong.is_empty() {
                End::Violation(self.wrong.clone())
            } else if view.processes.is_empty() {
                End::AllEnded
            } else {
                End::Blocked
            });
        }
        (self.length >= limit).then_some(End::Limit)
    }
}

/// Random choices that a seed repeats. The generator and the way numbers are drawn from it are part
/// of what `--seed` promises.
struct Choices(Xoshiro256PlusPlus);

impl Choices {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// One of the moves: first who, then what.
    fn pick(&mut self, moves: &[Move]) -> usize {
        let mut movers: Vec<u16> = moves.iter().map(|m| m.steps[0].process).collect();
        movers.sort_unstable();
        movers.dedup();
        let mover = movers[self.below(movers.len())];
        let its: Vec<usize> =
            (0..moves.len()).filter(|&i| moves[i].steps[0].process == mover).collect();
        its[self.below(its.len())]
    }
}

/// A seed that differs from run to run; short, since people type it.
fn random_seed() -> u64 {
    let hasher = std::hash::RandomState::new().build_hasher();
    hasher.finish() % 1_000_000_000
}

const HELP: &str = "\
  NUMBER  take this step        u  undo the last step
  r       a random step         v  variables and processes
  c       channels              h  this help
  q       quit
";

/// The user chooses.
struct Interactive<'a> {
    machine: &'a Machine,
    model: &'a Model,
    walk: Walk<'a>,
    listing: Listing,
    history: Vec<(Config, usize)>,
    choices: Choices,
}

impl<'a> Interactive<'a> {
    fn new(machine: &'a Machine, model: &'a Model, args: &Args) -> Self {
        Self {
            machine,
            model,
            walk: Walk::new(machine),
            listing: Listing { color: args.output.color.stdout(), ..Listing::default() },
            history: Vec::new(),
            choices: Choices::new(args.seed.unwrap_or_else(random_seed)),
        }
    }

    fn run(mut self) -> Result<u8, Failure> {
        let mut lines = std::io::stdin().lock().split(b'\n');
        print(&format!("Choose a step by its number; h for help.\n{}", self.menu()))?;
        loop {
            print("> ")?;
            let Some(line) = lines.next() else {
                print("\n")?;
                break;
            };
            let line = line
                .map_err(|problem| Failure::usage(format!("cannot read the input: {problem}")))?;
            // What is no text is no command either, and told like one that is unknown.
            let line = String::from_utf8_lossy(&line);
            let program = &self.model.program;
            let view = self.machine.view(&self.walk.config.state);
            let answer = match line.trim() {
                "q" | "quit" => break,
                "" => self.menu(),
                "h" | "help" | "?" => HELP.to_owned(),
                "v" => self.listing.state(program, &view),
                "c" => {
                    let text = self.listing.channels(program, &view);
                    if text.is_empty() {
                        "there is no channel that holds messages\n".to_owned()
                    } else {
                        text
                    }
                }
                "u" => self.undo(),
                "r" if self.over() => "the run is over: u to undo, q to quit\n".to_owned(),
                "r" => {
                    let chosen = self.choices.pick(&self.walk.moves);
                    self.take(chosen)
                }
                number => match number.parse::<usize>() {
                    Ok(n) if !self.over() && (1..=self.walk.moves.len()).contains(&n) => {
                        self.take(n - 1)
                    }
                    Ok(n) => format!("there is no step {n}\n"),
                    Err(_) => format!("what is `{number}`? h for help\n"),
                },
            };
            print(&answer)?;
        }
        let wrong = !self.walk.violations.is_empty() || !self.walk.wrong.is_empty();
        Ok(if wrong { EXIT_VIOLATED } else { 0 })
    }

    fn over(&self) -> bool {
        !self.walk.violations.is_empty() || self.walk.moves.is_empty()
    }

    fn take(&mut self, chosen: usize) -> String {
        self.history.push((self.walk.config.clone(), self.walk.length));
        let m = &self.walk.moves[chosen];
        let mut text = format!("{}\n", self.tell(m));
        let before = self.machine.view(&self.walk.config.state);
        let columns = spinward_trail::spin_listing::Columns { flat: true, ..Default::default() };
        let mut printer = SpinListing::new(self.machine, columns);
        let printed = self.walk.take(chosen, &mut printer);
        if !printed.is_empty() {
            let _ = writeln!(text, "  prints: {}", printed.trim_end());
        }
        let after = self.machine.view(&self.walk.config.state);
        for change in values::diff(&self.model.program, &before, &after) {
            let _ = writeln!(text, "  {change}");
        }
        text + &self.menu()
    }

    fn undo(&mut self) -> String {
        let Some((config, length)) = self.history.pop() else {
            return "this is the start\n".to_owned();
        };
        self.walk.config = config;
        self.walk.length = length;
        self.walk.violations.clear();
        self.walk.look();
        self.menu()
    }

    /// The steps to choose from, or why there are none.
    fn menu(&self) -> String {
        let mut text = String::new();
        if self.over() {
            let wrong = self.walk.violations.iter().chain(&self.walk.wrong);
            for violation in wrong {
                let what = violation.describe(&self.model.program);
                let _ = writeln!(text, "{}", self.listing.bold(&what));
            }
            text.push_str("no step is possible: u to undo, q to quit\n");
            return text;
        }
        let width = self.walk.moves.len().to_string().len();
        for (index, m) in self.walk.moves.iter().enumerate() {
            let _ = writeln!(text, "  {:>width$}  {}", index + 1, self.tell(m));
        }
        text
    }

    /// A move in one line.
    fn tell(&self, m: &Move) -> String {
        let program = &self.model.program;
        let view = self.machine.view(&self.walk.config.state);
        let halves: Vec<String> = m
            .steps
            .iter()
            .map(|step| {
                let transition = program.transition(step.transition);
                let element = program.element(transition.element);
                let process = view.processes.get(usize::from(step.process));
                let name = process.map_or("claim", |p| &program.automaton(p.body).name);
                let line = program.source.line(element.span);
                let statement = match transition.action {
                    Action::Die => "ends",
                    _ => &element.text,
                };
                format!("{}({})  line {line}  {statement}", plain_name(name), step.process)
            })
            .collect();
        halves.join("  with  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut choices = Choices::new(7);
        let drawn: Vec<usize> = (0..8).map(|_| choices.below(100)).collect();
        assert_eq!(drawn, [5, 17, 71, 42, 96, 46, 72, 32]);
    }
}
