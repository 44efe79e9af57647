//! Properties by pattern and scope, for those who would rather not write temporal logic.
//!
//! Dwyer, Avrunin, Corbett, *Property Specification Patterns for Finite-State Verification* (FMSP 1998),
//! with the formulas as Salamah, Gates, Roach and Mondragon found them to mean what their texts say
//! (*Verifying Pattern-Generated LTL Formulas: A Case Study*, SPIN 2005), and repaired where they did
//! not: absence minds that the state with R is outside of the interval, precedence after L is about the
//! first L only, and bounded existence after L until R allows intervals that never end.
//!
//! Intervals are closed at the left and open at the right: the state in which L holds is in, that in
//! which R holds is out. An L in a state in which R holds too begins no interval between L and R. Where
//! there is no interval, the property holds.

use std::fmt;

use thiserror::Error;

use crate::formula::Formula;

/// What is to happen, in each interval of the scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// P never holds.
    Absence,
    /// P holds some day.
    Existence,
    /// P holds always.
    Universality,
    /// P begins to hold at most twice.
    BoundedExistence,
    /// P does not hold before T does.
    Precedence {
        /// T in the same state as the first P is too late.
        strict: bool,
    },
    /// After each P comes T.
    Response {
        /// T counts only in states in which P does not hold.
        strict: bool,
    },
}

/// Where it is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In the whole run.
    Global,
    /// Up to the first R, if there is one.
    Before,
    /// From the first L on.
    After,
    /// From each L up to the next R, if there is one.
    Between,
    /// From each L up to the next R, or for ever.
    AfterUntil,
}

/// Does an L inside of an open interval begin another?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// Yes, as Dwyer's formulas have it.
    #[default]
    Every,
    /// No.
    Outermost,
}

/// A property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Property {
    /// What is to happen.
    pub pattern: Pattern,
    /// Where.
    pub scope: Scope,
    /// What of intervals in intervals.
    pub nesting: Nesting,
}

/// What the letters of a pattern stand for: a formula (`F` = [`Formula`]), or a text (`F` = `String`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letters<F> {
    /// What the pattern is about.
    pub p: Option<F>,
    /// What comes before or after it.
    pub t: Option<F>,
    /// Where intervals begin.
    pub l: Option<F>,
    /// Where intervals end.
    pub r: Option<F>,
}

/// A letter that the pattern or the scope needs was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the {place} needs {letter}")]
pub struct Missing {
    /// `P`, `T`, `L` or `R`.
    pub letter: char,
    /// What needs it.
    pub place: &'static str,
}

impl Property {
    /// Does it need T?
    pub fn needs_t(&self) -> bool {
        matches!(self.pattern, Pattern::Precedence { .. } | Pattern::Response { .. })
    }

    /// Does it need L?
    pub fn needs_l(&self) -> bool {
        matches!(self.scope, Scope::After | Scope::Between | Scope::AfterUntil)
    }

    /// Does it need R?
    pub fn needs_r(&self) -> bool {
        matches!(self.scope, Scope::Before | Scope::Between | Scope::AfterUntil)
    }

    /// Those of the letters that are needed, P, T, L, R; what is not needed is the default.
    fn needed<F: Clone>(&self, letters: &Letters<F>, default: F) -> Result<[F; 4], Missing> {
        let get = |need: bool, value: &Option<F>, letter, place| match (need, value) {
            (false, _) => Ok(default.clone()),
            (true, Some(value)) => Ok(value.clone()),
            (true, None) => Err(Missing { letter, place }),
        };
        Ok([
            get(true, &letters.p, 'P', "pattern")?,
            get(self.needs_t(), &letters.t, 'T', "pattern")?,
            get(self.needs_l(), &letters.l, 'L', "scope")?,
            get(self.needs_r(), &letters.r, 'R', "scope")?,
        ])
    }

    /// The formula.
    ///
    /// # Errors
    /// If a letter is missing.
    pub fn formula(&self, letters: &Letters<Formula>) -> Result<Formula, Missing> {
        let [p, t, l, r] = self.needed(letters, Formula::falsehood())?;
        // Only a T before the first P counts, or one in a state without P.
        let strict = matches!(
            self.pattern,
            Pattern::Precedence { strict: true } | Pattern::Response { strict: true }
        );
        let t = if strict { Formula::and([t, p.not()]) } else { t };
        let body = Body { pattern: self.pattern, p, t, r };
        let starts = Formula::and([l.clone(), body.r.not()]);
        let ends = body.r.eventually();
        Ok(match self.scope {
            Scope::Global => body.endless(),
            Scope::Before => ends.implies(&body.up_to_r()),
            Scope::After => match self.pattern {
                // What holds from each L on holds from the first.
                Pattern::Absence | Pattern::Universality | Pattern::Response { .. } => {
                    l.implies(&body.endless()).always()
                }
                Pattern::Existence => {
                    Formula::or([l.not().always(), Formula::and([l, body.endless()]).eventually()])
                }
                Pattern::BoundedExistence | Pattern::Precedence { .. } => {
                    l.not().weak_until(&Formula::and([l, body.endless()]))
                }
            },
            Scope::Between | Scope::AfterUntil => {
                let inside = if self.scope == Scope::Between {
                    ends.implies(&body.up_to_r())
                } else {
                    body.up_to_r_or_endless()
                };
                let differs =
                    matches!(self.pattern, Pattern::Existence | Pattern::Precedence { .. });
                if self.nesting == Nesting::Outermost && differs {
                    let first = starts.not().weak_until(&Formula::and([starts, inside]));
                    Formula::and([first.clone(), body.r.implies(&first).always()])
                } else if self.scope == Scope::Between {
                    Formula::and([starts, ends]).implies(&body.up_to_r()).always()
                } else {
                    starts.implies(&inside).always()
                }
            }
        })
    }

    /// In English.
    ///
    /// # Errors
    /// If a letter is missing.
    pub fn contract(&self, letters: &Letters<String>) -> Result<String, Missing> {
        let [p, t, l, r] = self.needed(letters, String::new())?;
        let place = match (self.scope, self.nesting) {
            (Scope::Global, _) => "In the whole run".to_owned(),
            (Scope::Before, _) => {
                format!("If {r} ever holds, then in the states before the first in which it does")
            }
            (Scope::After, _) => format!("From the first state on in which {l} holds"),
            (Scope::Between, Nesting::Every) => format!(
                "From each state in which {l} holds and {r} does not, if {r} holds later, up to \
                 before the next state in which it does"
            ),
            (Scope::AfterUntil, Nesting::Every) => format!(
                "From each state in which {l} holds and {r} does not, up to before the next state \
                 in which {r} holds, or for ever if there is none"
            ),
            (Scope::Between, Nesting::Outermost) => format!(
                "From each state in which {l} holds and {r} does not, the first since the run began \
                 or {r} held, if {r} holds later, up to before the next state in which it does"
            ),
            (Scope::AfterUntil, Nesting::Outermost) => format!(
                "From each state in which {l} holds and {r} does not, the first since the run began \
                 or {r} held, up to before the next state in which {r} holds, or for ever if there \
                 is none"
            ),
        };
        let what = match self.pattern {
            Pattern::Absence => format!("{p} never holds"),
            Pattern::Existence => format!("{p} holds at least once"),
            Pattern::Universality => format!("{p} always holds"),
            Pattern::BoundedExistence => {
                format!("there are at most two stretches of states in which {p} holds")
            }
            Pattern::Precedence { strict: false } => {
                format!("{t} holds before {p} first does, or in the same state")
            }
            Pattern::Precedence { strict: true } => {
                format!("{t} holds before {p} first does, not only in the same state")
            }
            Pattern::Response { strict: false } => {
                format!("whenever {p} holds, {t} holds in the same state or a later one")
            }
            Pattern::Response { strict: true } => {
                format!("whenever {p} holds, {t} holds in a later state in which {p} does not")
            }
        };
        Ok(format!("{place}, {what}."))
    }
}

/// A pattern with what its letters stand for, in one interval.
struct Body {
    pattern: Pattern,
    p: Formula,
    t: Formula,
    r: Formula,
}

impl Body {
    /// In an interval that never ends.
    fn endless(&self) -> Formula {
        let Self { p, t, .. } = self;
        match self.pattern {
            Pattern::Absence => p.not().always(),
            Pattern::Existence => p.eventually(),
            Pattern::Universality => p.always(),
            Pattern::BoundedExistence => self.stretches(Formula::weak_until),
            Pattern::Precedence { .. } => p.not().weak_until(t),
            Pattern::Response { .. } => p.implies(&t.eventually()).always(),
        }
    }

    /// In an interval that ends before R, which is known to come.
    fn up_to_r(&self) -> Formula {
        let Self { p, t, r, .. } = self;
        match self.pattern {
            Pattern::Absence => self.before_r(p).not(),
            Pattern::Existence => self.before_r(p),
            Pattern::Universality => p.until(r),
            Pattern::BoundedExistence => self.stretches(Formula::until),
            Pattern::Precedence { .. } => p.not().until(&Formula::or([t.clone(), r.clone()])),
            Pattern::Response { .. } => p.implies(&self.before_r(t)).until(r),
        }
    }

    /// In an interval that ends before R or never.
    fn up_to_r_or_endless(&self) -> Formula {
        let Self { p, t, r, .. } = self;
        match self.pattern {
            Pattern::Absence => self.before_r(p).not(),
            Pattern::Existence => self.before_r(p),
            Pattern::Universality => p.weak_until(r),
            Pattern::BoundedExistence => self.stretches(Formula::weak_until),
            Pattern::Precedence { .. } => p.not().weak_until(&Formula::or([t.clone(), r.clone()])),
            Pattern::Response { .. } => p.implies(&self.before_r(t)).weak_until(r),
        }
    }

    /// It holds in a state before any with R.
    fn before_r(&self, f: &Formula) -> Formula {
        let not_r = self.r.not();
        not_r.until(&Formula::and([f.clone(), not_r.clone()]))
    }

    /// P and not P by turns, P at most twice, up to R.
    fn stretches(&self, until: fn(&Formula, &Formula) -> Formula) -> Formula {
        let Self { p, r, .. } = self;
        let mut formula = until(&p.not(), r);
        for holds in [true, false, true, false] {
            let stretch = if holds { p.clone() } else { p.not() };
            let stretch = Formula::and([stretch, r.not()]);
            formula = until(&stretch, &Formula::or([r.clone(), formula]));
        }
        formula
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absence => "absence",
            Self::Existence => "existence",
            Self::Universality => "universality",
            Self::BoundedExistence => "bounded-existence",
            Self::Precedence { strict: false } => "precedence",
            Self::Precedence { strict: true } => "strict-precedence",
            Self::Response { strict: false } => "response",
            Self::Response { strict: true } => "strict-response",
        })
    }
}

impl Pattern {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Absence,
        Self::Existence,
        Self::Universality,
        Self::BoundedExistence,
        Self::Precedence { strict: false },
        Self::Precedence { strict: true },
        Self::Response { strict: false },
        Self::Response { strict: true },
    ];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global",
            Self::Before => "before",
            Self::After => "after",
            Self::Between => "between",
            Self::AfterUntil => "after-until",
        })
    }
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Global, Self::Before, Self::After, Self::Between, Self::AfterUntil];
}
