//! What can go wrong in a run.

use spinward_program::Program;
use spinward_program::ir::TransitionId;

/// Something wrong. Small and cheap, since a search may meet millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// An assertion is false.
    Assertion(TransitionId),
    /// Nobody can move and some process is not at a valid end.
    InvalidEndState,
    /// Nobody can move and the trace is not at its end (`trace`).
    TraceUnfinished,
    /// One of the program's conditions, by its number, does not hold in every state.
    Invariant(u32),
    /// One of the program's conditions, by its number, has no value in some state.
    InvariantUndefined(u32, RuntimeError),
    /// The never claim has come to its end.
    ClaimEnd,
    /// An infinite run that must not be: it meets each of the [sets](crate::System::sets) again and again.
    Cycle,
    /// More processes than fairness can be judged for.
    TooManyForFairness,
    /// A send or receive that the trace does not allow (`trace`).
    TraceMismatch,
    /// All of what must not be seen was seen (`notrace`).
    TraceComplete,
    /// The model does something that has no meaning, in this transition.
    Runtime(RuntimeError, TransitionId),
    /// A process may use what another one claims to use alone.
    NotExclusive {
        /// Which of the program's [claims](spinward_program::exclusive).
        claim: u16,
        /// Who claims it.
        owner: u8,
        /// Who may use it.
        user: u8,
        /// What it may do.
        transition: TransitionId,
    },
}

/// What has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeError {
    /// `x / 0`, `x % 0`
    DivisionByZero,
    /// `a[i]` outside of `a`.
    IndexOutOfBounds {
        /// The index.
        index: i32,
        /// How many elements there are.
        length: u32,
    },
    /// More than 255 processes.
    TooManyProcesses,
    /// More than 255 channels.
    TooManyChannels,
    /// A state that needs too much memory.
    StateTooLarge,
    /// A channel variable that was never set.
    UninitializedChannel,
    /// A number that is no channel.
    NotAChannel(i32),
    /// `?[...]`, `len` and the like on a rendezvous channel.
    PollOfRendezvous,
    /// A send with more or fewer fields than the channel has.
    SendFieldCount,
    /// A receive with fewer or more fields than the channel has.
    ReceiveFieldCount,
    /// A `d_step` blocks after its first statement.
    DStepBlocks,
    /// A `d_step` comes to a state it was in before.
    DStepEndless,
    /// A rendezvous send inside a `d_step`.
    DStepRendezvous,
    /// Two transitions of a `D_proctype` are possible at once.
    Nondeterminism,
    /// A priority outside of 1 to 255.
    PriorityRange,
    /// `enabled(_pid)`, or by way of another process.
    EnabledOfSelf,
    /// Two transitions of a trace match one event.
    TraceNondeterminism,
}

impl Violation {
    /// As scripts know it: `assertion`, `invalid-end-state`, `invariant`, `never-claim`,
    /// `acceptance-cycle`, `trace`, `runtime`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Assertion(_) => "assertion",
            Self::InvalidEndState | Self::TraceUnfinished => "invalid-end-state",
            Self::Invariant(_) | Self::InvariantUndefined(..) => "invariant",
            Self::ClaimEnd => "never-claim",
            Self::Cycle => "acceptance-cycle",
            Self::TraceMismatch | Self::TraceComplete => "trace",
            Self::Runtime(..) | Self::NotExclusive { .. } | Self::TooManyForFairness => "runtime",
        }
    }

    /// Where it went wrong, if at a statement.
    pub fn transition(self) -> Option<TransitionId> {
        match self {
            Self::Assertion(id)
            | Self::Runtime(_, id)
            | Self::NotExclusive { transition: id, .. } => Some(id),
            _ => None,
        }
    }

    /// The condition that does not hold, if it is about one.
    pub fn condition(self) -> Option<u32> {
        match self {
            Self::Invariant(number) | Self::InvariantUndefined(number, _) => Some(number),
            _ => None,
        }
    }

    /// In words.
    pub fn describe(self, program: &Program) -> String {
        let condition = |number: u32| program.conditions[number as usize].text.as_str();
        let text = |id: TransitionId| program.element(program.transition(id).element).text.as_str();
        match self {
            Self::Assertion(id) => format!("assertion violated: {}", text(id)),
            Self::TraceUnfinished => {
                "invalid end state: no process can move, and the trace is not at its end".into()
            }
            Self::InvalidEndState => {
                "invalid end state: no process can move, and not all are at a valid end".into()
            }
            Self::Invariant(number) => format!("invariant violated: {}", condition(number)),
            Self::InvariantUndefined(number, error) => {
                format!("{} in the condition: {}", error.describe(), condition(number))
            }
            Self::ClaimEnd => "the never claim came to its end".into(),
            Self::Cycle => "a cycle that is accepted".into(),
            Self::TooManyForFairness => "more processes than fairness can be judged for".into(),
            Self::TraceMismatch => "an event that the trace does not allow".into(),
            Self::TraceComplete => "the run shows what notrace forbids".into(),
            Self::Runtime(error, id) => format!("{} in: {}", error.describe(), text(id)),
            Self::NotExclusive { claim, owner, user, transition } => {
                let claim = &program.exclusive.claims()[usize::from(claim)];
                let name = |body| program.automaton(body).name.trim_matches(':');
                format!(
                    "`{}` of {} ({owner}) does not hold: {} ({user}) may do: {}",
                    claim.text,
                    name(claim.body),
                    name(program.transition(transition).body),
                    text(transition),
                )
            }
        }
    }
}

impl RuntimeError {
    /// In words.
    pub fn describe(self) -> String {
        match self {
            Self::DivisionByZero => "division by zero".into(),
            Self::IndexOutOfBounds { index, length } => {
                format!("index {index} is out of bounds (0..{})", length.saturating_sub(1))
            }
            Self::TooManyProcesses => "more than 255 processes".into(),
            Self::TooManyChannels => "more than 255 channels".into(),
            Self::StateTooLarge => "a state of more than 32 MB".into(),
            Self::UninitializedChannel => "a channel that was never set".into(),
            Self::NotAChannel(value) => format!("{value} is not the number of a channel"),
            Self::PollOfRendezvous => "a rendezvous channel holds no messages to look at".into(),
            Self::SendFieldCount => "a send with the wrong number of fields".into(),
            Self::ReceiveFieldCount => "a receive with the wrong number of fields".into(),
            Self::DStepBlocks => "a d_step blocks after its first statement".into(),
            Self::DStepEndless => "a d_step never ends".into(),
            Self::DStepRendezvous => "a rendezvous send inside a d_step".into(),
            Self::Nondeterminism => "a D_proctype has two possible steps at once".into(),
            Self::PriorityRange => "a priority outside of 1 to 255".into(),
            Self::EnabledOfSelf => {
                "a process asks, perhaps by way of others, whether itself is enabled".into()
            }
            Self::TraceNondeterminism => "two transitions of the trace match one event".into(),
        }
    }
}
