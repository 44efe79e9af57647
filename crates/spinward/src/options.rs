//! The choices a user has, under the names the command line knows them by.

use std::fmt;
use std::str::FromStr;

use spinward_promela::suggest::nearest;

use crate::Error;

/// How far a state is from an error: one of [`spinward_guide::GUIDES`], perhaps with an argument.
pub use spinward_guide::Wanted as Guide;

/// Declares an enum whose variants have names for users, with [`FromStr`] and [`fmt::Display`].
macro_rules! named {
    (
        $(#[$meta:meta])*
        $type:ident: $what:literal { $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$variant_meta])* $variant,)+ }

        impl $type {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// As the user writes it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                Self::ALL.iter().copied().find(|it| it.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|it| it.name()).collect();
                    let meant = match nearest(text, names.iter().copied()) {
                        Some(meant) => format!("did you mean '{meant}'? It"),
                        None => "it".to_owned(),
                    };
                    Error::Usage(format!(
                        "there is no {} '{text}'; {meant} is one of: {}",
                        $what,
                        names.join(", ")
                    ))
                })
            }
        }
    };
}

named! {
    /// The order in which states are visited.
    Search: "search" {
        /// Chosen for what is asked: a sweep, unless a limit or a store asks for breadth-first.
        Auto = "auto",
        /// All states in any order, as fast as can be; where something is wrong, then breadth-first.
        Sweep = "sweep",
        /// Depth-first, in SPIN's order.
        Dfs = "dfs",
        /// By the length of the way to a state; errors come with a shortest run.
        Bfs = "bfs",
        /// A*
        Astar = "astar",
        /// Weighted A*
        Wastar = "wastar",
        /// By the estimate alone.
        Greedy = "greedy",
        /// Iterative deepening A*
        Ida = "ida",
        /// Keeps only the best states of each level.
        Beam = "beam",
        /// From each state on to the first better one only.
        Hill = "hill",
        /// Random walks.
        Random = "random",
        /// Many depth-first searches in different orders.
        Swarm = "swarm",
        /// Nested depth-first search for cycles, in SPIN's order.
        Ndfs = "ndfs",
        /// Nested depth-first search that knows the claim's components.
        Indfs = "indfs",
        /// Strongly connected components.
        Scc = "scc",
        /// Strongly connected components; of a state known successors come first.
        SccShyMinus = "scc-shy-minus",
        /// Strongly connected components; of a component known successors come first.
        SccShy = "scc-shy",
        /// Nested depth-first search that notes where accepting edges are on its stack.
        Se05 = "se05",
        /// Nested depth-first search for several acceptance sets at once.
        Tau03 = "tau03",
        /// Nested depth-first searches of several threads that help each other.
        Cndfs = "cndfs",
        /// A* to where the claim may accept, then nested search.
        AstarIndfs = "astar-indfs",
    }
}

named! {
    /// Which runs count as runs.
    Fairness: "fairness" {
        /// All.
        None = "none",
        /// Those where a process that can always move does.
        Weak = "weak",
        /// Those where a process that can move again and again does.
        Strong = "strong",
    }
}

named! {
    /// Partial-order reduction.
    Por: "reduction" {
        /// Where it is sound.
        On = "on",
        /// Never.
        Off = "off",
        /// By transactions, which do not keep invalid end states.
        Transactions = "transactions",
    }
}

named! {
    /// Changes to the model that keep its meaning.
    Optimize: "optimization" {
        /// No change: states and counts are those of the plain meaning.
        None = "none",
        /// All changes.
        Full = "full",
    }
}

named! {
    /// How visited states are remembered.
    Store: "store" {
        /// All of them, as they are.
        Exact = "exact",
        /// All of them, as trees that share parts.
        Tree = "tree",
        /// All of them, as differences.
        Delta = "delta",
        /// A hash of each.
        Compact = "compact",
        /// Some bits of each.
        Bitstate = "bitstate",
        /// None but those on the stack of a depth-first search.
        Stack = "stack",
    }
}

named! {
    /// How successors are computed.
    Engine: "engine" {
        /// By native code, from the first step on; without this option once it pays.
        Compiled = "compiled",
        /// By the reference interpreter.
        Interpreter = "interpreter",
    }
}

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Property {
    /// Assertions, end states and the trace. That nothing without a meaning is done is part of
    /// every check.
    Safety,
    /// A property by the name of its `ltl` block or never claim, or a formula.
    Ltl(String),
    /// An expression that holds in every state; one of those the model was read with
    /// ([`spinward_promela::Options::conditions`]).
    Invariant(String),
    /// No run goes on for ever without passing a `progress` label.
    NonProgress,
    /// No run passes an `accept` label again and again.
    Acceptance,
}

impl Property {
    /// Whether what is asked for is meant by its name; else it is a formula, which the model must be read with
    /// ([`spinward_promela::Options::formulas`]).
    pub fn is_name(text: &str) -> bool {
        text.chars().all(|c| c.is_alphanumeric() || c == '_')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for &search in Search::ALL {
            assert_eq!(search.name().parse::<Search>().unwrap(), search);
        }
        let error = "bsf".parse::<Search>().unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let start = "there is no search 'bsf'; did you mean 'bfs'? It is one of: auto, sweep";
        assert!(error.to_string().starts_with(start), "{error}");
    }
}
