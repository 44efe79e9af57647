//! How large what is made from a model may be.
//!
//! A short text can ask for a lot: a record in a message stands for all its fields, an escape for
//! transitions of every statement before it. All that is made is counted here, in nodes of
//! expressions, before it is made.

use spinward_promela::{Code, Diagnostic, Span};

use crate::ir::{Action, Expr, Place, ReceiveArg};

/// Nodes of a whole model; each takes some 50 bytes.
const MAX_NODES: u64 = 1 << 23;

/// Counts what is made.
#[derive(Debug, Default)]
pub(super) struct Budget {
    spent: u64,
    /// Where it ran out.
    pub exceeded: Option<Span>,
}

impl Budget {
    /// Whether a copy of an action may be made for what stands at this place.
    pub fn spend_action(&mut self, copied: &Action, span: Span) -> bool {
        // To count is work, too.
        self.exceeded.is_none() && self.spend(action(copied), span)
    }

    /// Whether so many nodes may be made for what stands at this place.
    pub fn spend(&mut self, nodes: u64, span: Span) -> bool {
        self.spent = self.spent.saturating_add(nodes);
        let fits = self.spent <= MAX_NODES;
        if !fits {
            self.exceeded.get_or_insert(span);
        }
        fits
    }

    /// The mistake, if more was asked for than may be made.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let span = self.exceeded?;
        Some(
            Diagnostic::new(Code::ModelTooLarge, span, "the model is too large")
                .label("no room for this")
                .note(
                    "a record in a message or a `run` counts by its fields, a choice or escape by \
                       all places it can be entered from",
                ),
        )
    }
}

/// The nodes of an action.
fn action(action: &Action) -> u64 {
    1 + match action {
        Action::Condition(a) | Action::Assert(a) | Action::SetOwnPriority(a) => expr(a),
        Action::PrintMtype(a, _) => expr(a),
        Action::Assign(at, value) => place(at) + expr(value),
        Action::AssignAll(all) => all.iter().map(|(at, value)| place(at) + expr(value)).sum(),
        Action::Run { result, args, priority, .. } => {
            result.iter().map(place).sum::<u64>() + exprs(args) + exprs(priority)
        }
        Action::Send { channel, args, .. } => expr(channel) + exprs(args),
        Action::Receive { channel, args, .. } | Action::Event { channel, args, .. } => {
            expr(channel) + receive_args(args)
        }
        Action::Print { format, args } => {
            format.len() as u64 / 32 + args.iter().map(|(arg, _)| expr(arg)).sum::<u64>()
        }
        Action::SetPriority(a, b) => expr(a) + expr(b),
        Action::C(code) => code.len() as u64 / 32,
        Action::Skip | Action::Else | Action::Die | Action::DStep { .. } => 0,
    }
}

/// The nodes of an expression.
pub(super) fn expr(e: &Expr) -> u64 {
    1 + match e {
        Expr::Load(at) => place(at),
        Expr::Unary(_, a)
        | Expr::Len(a)
        | Expr::ChannelTest(_, a)
        | Expr::Enabled(a)
        | Expr::PcValue(a)
        | Expr::GetPriority(a) => expr(a),
        Expr::Binary(_, a, b) => expr(a) + expr(b),
        Expr::Conditional(a, b, c) => expr(a) + expr(b) + expr(c),
        Expr::Poll { channel, args, .. } => expr(channel) + receive_args(args),
        Expr::RemoteLabel { pid, .. } => exprs(pid.as_deref()),
        Expr::RemoteVar { pid, place: at, .. } => exprs(pid.as_deref()) + place(at),
        Expr::C(code) => code.len() as u64 / 32,
        Expr::Const(_)
        | Expr::Pid
        | Expr::ProcessCount
        | Expr::Last
        | Expr::Priority
        | Expr::Timeout
        | Expr::NonProgress => 0,
    }
}

/// The nodes of a place's indexes.
pub(super) fn place(place: &Place) -> u64 {
    place.indexes.iter().map(|index| expr(&index.value)).sum()
}

fn exprs<'a>(all: impl IntoIterator<Item = &'a Expr>) -> u64 {
    all.into_iter().map(expr).sum()
}

fn receive_args(args: &[ReceiveArg]) -> u64 {
    let size = |arg: &ReceiveArg| match arg {
        ReceiveArg::Store(at) => 1 + place(at),
        ReceiveArg::Match(value) => 1 + expr(value),
        ReceiveArg::Ignore => 1,
    };
    args.iter().map(size).sum()
}
