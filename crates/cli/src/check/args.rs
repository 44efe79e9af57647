//! The options of `spinward check`, and the check that they ask for.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use spinward::{Check, Engine, Fairness, Guide, Model, Optimize, Por, Property, Search, Store};

use crate::args::{InvariantArgs, ModelArgs, OutputArgs, count, named, seconds, size};
use crate::formats::Format;

const EXAMPLES: &str = "\
Examples:
  spinward check peterson.pml
  spinward check --search dfs -D N=4 leader.pml
  spinward check --errors 0 --time 60 protocol.pml
  spinward check --invariant 'ncrit <= 1' peterson.pml
  spinward check --report run.html protocol.pml
  spinward check --format json model.pml | jq .verdict
  spinward check --format junit model.pml > results.xml";

/// What comes after the options: all guides, and examples.
fn after_help() -> String {
    let mut text = String::from("Guides (* never too much, so that astar finds shortest runs):\n");
    for guide in spinward_guide::GUIDES {
        let argument = guide.argument.map_or(String::new(), |it| format!("; takes {it}"));
        let mark = if guide.admissible { '*' } else { ' ' };
        let _ = writeln!(text, "  {:<12} {mark} {}{argument}", guide.name, guide.idea);
    }
    format!("{text}\n{EXAMPLES}\n  spinward check --search astar --guide active philosophers.pml")
}

/// Verify a model: assertions, deadlocks, invariants, never claims, traces.
///
/// Looks at every state the model can come to and tells the first thing that is wrong: an
/// assertion that is false, an invalid end state (deadlock), a never claim that comes to its end,
/// a trace that does not match, or a statement that has no meaning (a division by zero, an index
/// out of bounds). The run that leads there is shown and written to a trail file.
///
/// With --ltl, --invariant or --safety only what they ask for is checked.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = after_help())]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Check this property only: the name of an ltl block or never claim, or a formula
    #[arg(long, value_name = "NAME|FORMULA", help_heading = "What to check")]
    pub ltl: Vec<String>,

    #[command(flatten)]
    pub invariant: InvariantArgs,

    /// Check assertions, end states and traces only
    #[arg(long, help_heading = "What to check")]
    pub safety: bool,

    /// Check that no run goes on for ever without coming through a label progress...
    #[arg(long, help_heading = "What to check")]
    pub non_progress: bool,

    /// Check that no run comes through a label accept... again and again
    #[arg(long, help_heading = "What to check")]
    pub acceptance: bool,

    /// Check a never claim, or an automaton in the HOA format whose propositions are expressions about
    /// the model, as if it stood in the model
    #[arg(long, value_name = "FILE", help_heading = "What to check")]
    pub claim: Option<PathBuf>,

    /// Which infinite runs count: all (none), those in which whoever can always move does (weak), or
    /// whoever can move again and again does (strong) [default: none]
    #[arg(long, value_parser = named(Fairness::ALL, Fairness::name), hide_possible_values = true, value_name = "KIND", help_heading = "What to check")]
    pub fair: Option<Fairness>,

    /// The order in which states are visited: auto, sweep, dfs, bfs, or by a guide astar, wastar, greedy or ida; those
    /// that look at a part only: beam, hill, random or swarm; or how cycles are looked for: scc,
    /// scc-shy, scc-shy-minus, ndfs, indfs, se05, tau03, cndfs (several threads) or by a guide astar-indfs
    #[arg(long, value_parser = named(Search::ALL, Search::name), hide_possible_values = true, value_name = "NAME", default_value = "auto", help_heading = "How to search")]
    pub search: Search,

    /// How far a state is from an error, for astar, wastar, greedy, ida, beam, hill, random and astar-indfs; see below
    /// [default: chosen from the property]
    #[arg(long, value_name = "NAME[=ARG]", help_heading = "How to search")]
    pub guide: Option<Guide>,

    /// For wastar and ida: how much the estimate counts [default: 1]
    #[arg(long, value_name = "W", allow_negative_numbers = true, help_heading = "How to search")]
    pub weight: Option<f64>,

    /// For beam: how many states of each level are kept [default: 1000]
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    pub width: Option<usize>,

    /// For random and swarm: from which number all that is left to chance follows [default: 0]
    #[arg(
        long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    pub seed: Option<u64>,

    /// Partial-order reduction, which leaves out moves that make no difference: on, off or transactions
    /// (for locks; no invalid end states) [default: on]
    #[arg(long, value_parser = named(Por::ALL, Por::name), hide_possible_values = true, value_name = "KIND", help_heading = "What to leave out")]
    pub por: Option<Por>,

    /// Changes to the model that keep its meaning: none or full [default: full]
    #[arg(long, value_parser = named(Optimize::ALL, Optimize::name), hide_possible_values = true, value_name = "none|full", help_heading = "What to leave out")]
    pub optimize: Option<Optimize>,

    /// Whether states that differ only in which of like processes is which count as one: on or off
    /// [default: off]
    #[arg(long, value_name = "on|off", help_heading = "What to leave out")]
    pub symmetry: Option<Switch>,

    /// Check with and without all that leaves out states, and compare the answers
    #[arg(long, help_heading = "What to leave out")]
    pub audit: bool,

    /// How visited states are remembered: exact, tree or delta (less memory), compact or bitstate (much less,
    /// but some may be missed), or stack (only the run at hand)
    #[arg(long, value_parser = named(Store::ALL, Store::name), hide_possible_values = true, value_name = "NAME", help_heading = "How to search")]
    pub store: Option<Store>,

    /// For --store compact: bits kept of a state, 32 to 64; for bitstate: the table has 2^N bits
    #[arg(
        long, value_name = "N", value_parser = count::<u32>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    pub bits: Option<u32>,

    /// For --store bitstate: how many bits each state sets [default: 3]
    #[arg(
        long, value_name = "K", value_parser = count::<u32>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    pub hashes: Option<u32>,

    /// How steps are computed: compiled or interpreter
    #[arg(long, value_parser = named(Engine::ALL, Engine::name), hide_possible_values = true, value_name = "NAME", help_heading = "How to search")]
    pub engine: Option<Engine>,

    /// How many threads may search [default: all processors, but one in searches by a guide]. The answer is the same
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        help_heading = "How to search"
    )]
    pub threads: Option<usize>,

    /// Use no more memory than this, e.g. 4G
    #[arg(
        long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub memory: Option<u64>,

    /// Keep states in this folder, which is made, when they do not fit into memory any more; with --search bfs or astar
    #[arg(long, value_name = "DIR", conflicts_with = "resume", help_heading = "Limits")]
    pub disk: Option<PathBuf>,

    /// Go on with a check that was begun with --disk DIR, and was interrupted; all else must be asked for as then
    #[arg(long, value_name = "DIR", help_heading = "Limits")]
    pub resume: Option<PathBuf>,

    /// Look only at runs of at most N steps
    #[arg(
        long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub max_depth: Option<u64>,

    /// Stop when N states are visited
    #[arg(
        long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub max_states: Option<u64>,

    /// Stop after so many seconds
    #[arg(
        long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub time: Option<Duration>,

    /// Stop after N errors; 0: look at everything and count them
    #[arg(
        long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true,
        default_value = "1", help_heading = "Limits"
    )]
    pub errors: usize,

    /// Report a shortest run to the error
    #[arg(long, help_heading = "How to search")]
    pub shortest: bool,

    /// Whether a shorter run to the same error is looked for, with a tenth of the states, if the one found need not be
    /// a shortest one: on or off [default: on, but off with --search dfs]
    #[arg(long, value_name = "on|off", help_heading = "How to search")]
    pub shorten: Option<Switch>,

    /// Where to write the trail of an error [default: MODEL.trail]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trail: Option<PathBuf>,

    /// Write the run to an error, with its sequence chart, as a page for browsers
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,

    /// For people or for programs; what is for programs goes to standard output, alone
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, help_heading = "Output")]
    pub format: Format,

    /// Do not show how far the search is
    #[arg(long, help_heading = "Output")]
    pub no_progress: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// Whether something is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// No
    Off,
    /// Yes
    On,
}

/// The check that is asked for.
pub fn configure<'a>(args: &Args, model: Model) -> Check<'a> {
    let mut check = Check::new(model)
        .search(args.search)
        .errors(args.errors)
        .shortest(args.shortest)
        .audit(args.audit)
        .symmetry(args.symmetry == Some(Switch::On));
    for name in &args.ltl {
        check = check.property(Property::Ltl(name.clone()));
    }
    for expr in &args.invariant.invariants {
        check = check.property(Property::Invariant(expr.clone()));
    }
    let flags = [
        (args.safety, Property::Safety),
        (args.non_progress, Property::NonProgress),
        (args.acceptance, Property::Acceptance),
    ];
    for (asked, property) in flags {
        if asked {
            check = check.property(property);
        }
    }
    if let Some(shorten) = args.shorten {
        check = check.shorten(shorten == Switch::On);
    }
    if let Some(fairness) = args.fair {
        check = check.fairness(fairness);
    }
    if let Some(guide) = &args.guide {
        check = check.guide(guide.clone());
    }
    if let Some(weight) = args.weight {
        check = check.weight(weight);
    }
    if let Some(width) = args.width {
        check = check.width(width);
    }
    if let Some(seed) = args.seed {
        check = check.seed(seed);
    }
    if let Some(por) = args.por {
        check = check.por(por);
    }
    if let Some(optimize) = args.optimize {
        check = check.optimize(optimize);
    }
    if let Some(store) = args.store {
        check = check.store(store);
    }
    if let Some(bits) = args.bits {
        check = check.bits(bits);
    }
    if let Some(hashes) = args.hashes {
        check = check.hashes(hashes);
    }
    if let Some(engine) = args.engine {
        check = check.engine(engine);
    }
    if let Some(threads) = args.threads {
        check = check.threads(threads);
    }
    if let Some(memory) = args.memory {
        check = check.memory(memory);
    }
    if let Some(folder) = &args.disk {
        check = check.disk(folder.clone());
    }
    if let Some(folder) = &args.resume {
        check = check.resume(folder.clone());
    }
    if let Some(depth) = args.max_depth {
        check = check.max_depth(depth);
    }
    if let Some(states) = args.max_states {
        check = check.max_states(states);
    }
    if let Some(time) = args.time {
        check = check.time(time);
    }
    check
}
