//! Patterns say what their English says: on the traces of Salamah, Gates, Roach and Mondragon
//! (*Verifying Pattern-Generated LTL Formulas*, SPIN 2005), and on random runs held against an evaluator
//! of intervals that is written from the English alone.

mod support;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_property::patterns::{Letters, Nesting, Pattern, Property, Scope};
use spinward_property::traces::read;
use spinward_property::{Formula, Lasso, difference, holds};

const P: u32 = 0;
const T: u32 = 1;
const L: u32 = 2;
const R: u32 = 3;

fn names() -> Vec<String> {
    ["P", "T", "L", "R"].map(str::to_owned).to_vec()
}

fn letters() -> Letters<Formula> {
    let [p, t, l, r] = [P, T, L, R].map(|atom| Some(Formula::atom(atom)));
    Letters { p, t, l, r }
}

const PRECEDENCE: Pattern = Pattern::Precedence { strict: false };
const STRICT_PRECEDENCE: Pattern = Pattern::Precedence { strict: true };
const RESPONSE: Pattern = Pattern::Response { strict: false };
const STRICT_RESPONSE: Pattern = Pattern::Response { strict: true };

fn property(pattern: Pattern, scope: Scope, nesting: Nesting) -> Formula {
    Property { pattern, scope, nesting }.formula(&letters()).expect("all letters are given")
}

fn on_trace(formula: &Formula, trace: &str) -> bool {
    let lasso = read(trace, &names()).unwrap_or_else(|e| panic!("{trace}: {e}"));
    holds(formula, &lasso)
}

#[test]
fn absence_before_r_as_in_table_5() {
    let formula = property(Pattern::Absence, Scope::Before, Nesting::Every);
    for trace in
        ["R", "(RP)", "RP", "--R", "--(RP)", "-R-", "-(RP)-", "-R--PR-", "---", "-P-", "P", "-RP-"]
    {
        assert!(on_trace(&formula, trace), "{trace}");
    }
    for trace in ["-PR", "-PR-"] {
        assert!(!on_trace(&formula, trace), "{trace}");
    }
}

#[test]
fn precedence_between_as_in_table_6() {
    for pattern in [PRECEDENCE, STRICT_PRECEDENCE] {
        let formula = property(pattern, Scope::Between, Nesting::Every);
        for trace in [
            // No interval.
            "-P--R-",
            "-(LRP)-",
            "-L--P-",
            "--P--",
            "-R--P--L-",
            "-L--T--R-",
            "-L--(RP)-",
            "-L--RP-",
            "-PL--R-",
            "-L--R--P--L--R-",
            "-L--L--R--P--R-",
            "-L--T--P--R-",
            "-LT--P--R",
            "-(LT)P--R-",
            "-L--T-PR-",
            "-L--T-PR",
            "-LT--P--R--L--T--P--R--L--P-",
        ] {
            assert!(on_trace(&formula, trace), "{pattern} {trace}");
        }
        for trace in [
            "-L--P--R-",
            "-L--P--T--R-",
            "-L--P--R",
            "-L--P--T--R",
            "-L--R--L--P--R-",
            "-L--L--P--R-",
            "-L--P--L--R-",
            "-LTP--R--L--R--LPR-",
            // The inner L has no T of its own.
            "-L--T--L--P--R-",
        ] {
            assert!(!on_trace(&formula, trace), "{pattern} {trace}");
        }
        assert_eq!(on_trace(&formula, "-L--(PT)--R-"), pattern == PRECEDENCE);
        let outermost = property(pattern, Scope::Between, Nesting::Outermost);
        assert!(on_trace(&outermost, "-L--T--L--P--R-"));
    }
}

/// A trace of 21 states, the last of which repeats: the values of `i` at which letters hold.
fn at(places: &[(u32, &[usize])]) -> Lasso {
    let mut prefix = vec![0; 21];
    for (atom, places) in places {
        for place in *places {
            prefix[*place] |= 1 << atom;
        }
    }
    Lasso { prefix, cycle: Vec::new() }
}

#[test]
fn tests_that_others_failed() {
    let check = |pattern, scope, nesting, places: &[(u32, &[usize])], expected| {
        let formula = property(pattern, scope, nesting);
        assert_eq!(holds(&formula, &at(places)), expected, "{pattern} {scope} {places:?}");
    };
    let (every, outermost) = (Nesting::Every, Nesting::Outermost);
    let (before, between, until) = (Scope::Before, Scope::Between, Scope::AfterUntil);
    let absence = Pattern::Absence;
    check(absence, before, every, &[(P, &[5]), (R, &[5])], true);
    check(absence, between, every, &[(P, &[16]), (R, &[16]), (L, &[5])], true);
    check(absence, until, every, &[(P, &[16]), (R, &[16]), (L, &[5, 12])], true);
    for (nesting, expected) in [(every, false), (outermost, true)] {
        let existence = Pattern::Existence;
        check(existence, between, nesting, &[(P, &[9]), (R, &[16]), (L, &[5, 12])], expected);
        check(existence, between, nesting, &[(P, &[6]), (R, &[17]), (L, &[2, 10])], expected);
        check(existence, until, nesting, &[(P, &[6]), (R, &[17]), (L, &[2, 10])], expected);
        let places: [(u32, &[usize]); 4] = [(P, &[13]), (L, &[2, 10]), (R, &[17]), (T, &[6])];
        check(PRECEDENCE, between, nesting, &places, expected);
        check(PRECEDENCE, until, nesting, &places, expected);
    }
    for (pattern, expected) in [(RESPONSE, true), (STRICT_RESPONSE, false)] {
        let both: [(u32, &[usize]); 2] = [(P, &[5]), (T, &[5])];
        let with = |more: &[(u32, &'static [usize])]| [&both[..], more].concat();
        check(pattern, Scope::Global, every, &both, expected);
        check(pattern, before, every, &with(&[(R, &[8])]), expected);
        check(pattern, Scope::After, every, &with(&[(L, &[2])]), expected);
        check(pattern, between, every, &with(&[(L, &[2]), (R, &[9])]), expected);
        check(pattern, until, every, &with(&[(L, &[2]), (R, &[9])]), expected);
        check(pattern, until, every, &with(&[(L, &[2]), (R, &[20])]), expected);
    }
    // The other L would do, but the first counts.
    let formula = property(PRECEDENCE, Scope::After, every);
    assert!(!on_trace(&formula, "--L--P--L----"));
}

/// A run, looked at position by position.
struct Run<'l> {
    lasso: &'l Lasso,
}

impl Run<'_> {
    fn at(&self, position: usize, atom: u32) -> bool {
        let Lasso { prefix, cycle } = self.lasso;
        let valuation = match position.checked_sub(prefix.len()) {
            None => prefix[position],
            Some(later) => cycle[later % cycle.len()],
        };
        valuation >> atom & 1 == 1
    }

    /// So many positions from anywhere meet all that the rest of the run has.
    fn horizon(&self) -> usize {
        self.lasso.prefix.len() + self.lasso.cycle.len()
    }

    fn first(&self, from: usize, atom: u32) -> Option<usize> {
        (from..from + self.horizon()).find(|position| self.at(*position, atom))
    }

    /// Begin and end of the intervals of a scope; without end if they have none.
    fn intervals(&self, scope: Scope, nesting: Nesting) -> Vec<(usize, Option<usize>)> {
        match scope {
            Scope::Global => vec![(0, None)],
            Scope::Before => self.first(0, R).map(|end| (0, Some(end))).into_iter().collect(),
            Scope::After => self.first(0, L).map(|begin| (begin, None)).into_iter().collect(),
            Scope::Between | Scope::AfterUntil => {
                let mut all = Vec::new();
                let mut open_until = 0;
                // What begins in the second round of the cycle shows whether one is open from the first.
                for begin in 0..self.horizon() + 2 * self.lasso.cycle.len() {
                    if !self.at(begin, L) || self.at(begin, R) {
                        continue;
                    }
                    if nesting == Nesting::Outermost && begin < open_until {
                        continue;
                    }
                    let end = self.first(begin, R);
                    open_until = end.unwrap_or(usize::MAX);
                    if end.is_some() || scope == Scope::AfterUntil {
                        all.push((begin, end));
                    }
                }
                all
            }
        }
    }

    fn satisfies(&self, pattern: Pattern, begin: usize, end: Option<usize>) -> bool {
        let last = end.unwrap_or(begin + 2 * self.horizon());
        let mut inside = begin..last;
        match pattern {
            Pattern::Absence => inside.all(|i| !self.at(i, P)),
            Pattern::Existence => inside.any(|i| self.at(i, P)),
            Pattern::Universality => inside.all(|i| self.at(i, P)),
            Pattern::BoundedExistence => {
                // Of an endless interval as much as three stretches in three rounds need.
                let last = end.unwrap_or(begin + 5 * self.horizon());
                let starts = |i: &usize| self.at(*i, P) && (*i == begin || !self.at(i - 1, P));
                (begin..last).filter(starts).count() <= 2
            }
            Pattern::Precedence { strict } => match inside.find(|i| self.at(*i, P)) {
                None => true,
                Some(first) => (begin..first + usize::from(!strict)).any(|i| self.at(i, T)),
            },
            Pattern::Response { strict } => inside.all(|i| {
                let answers = |j: usize| self.at(j, T) && !(strict && self.at(j, P));
                let last = end.unwrap_or(i + self.horizon());
                !self.at(i, P) || (i..last).any(answers)
            }),
        }
    }
}

#[test]
fn formulas_agree_with_intervals() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for pattern in Pattern::ALL {
        for scope in Scope::ALL {
            for nesting in [Nesting::Every, Nesting::Outermost] {
                let formula = property(pattern, scope, nesting);
                let simple = spinward_property::simplify_formula(&formula);
                let mut satisfied = 0;
                for _ in 0..1000 {
                    let lasso = sparse_lasso(&mut random);
                    let run = Run { lasso: &lasso };
                    let intervals = run.intervals(scope, nesting);
                    let expected =
                        intervals.iter().all(|(begin, end)| run.satisfies(pattern, *begin, *end));
                    satisfied += u32::from(expected);
                    assert_eq!(
                        holds(&formula, &lasso),
                        expected,
                        "{pattern} {scope} {nesting:?} {formula:?} {lasso:?}"
                    );
                    assert_eq!(holds(&simple, &lasso), expected, "{simple:?} {lasso:?}");
                }
                assert!((20..=990).contains(&satisfied), "{pattern} {scope}: {satisfied}");
            }
        }
    }
}

/// Letters hold now and then only, or nearly always, so that there are intervals of some length.
fn sparse_lasso(random: &mut impl Rng) -> Lasso {
    let often = random.next_u32() & random.next_u32();
    let mut part = |least: u32| {
        let length = least + random.next_u32() % 12;
        let seldom = 1 << L | 1 << R;
        let mut state = || {
            let letters = random.next_u32() & random.next_u32() ^ often;
            u64::from(letters & (random.next_u32() | !seldom) & 15)
        };
        (0..length).map(|_| state()).collect()
    };
    Lasso { prefix: part(0), cycle: part(1) }
}

#[test]
fn contracts_name_what_they_are_about() {
    let [p, t, l, r] = ["sent", "ready", "open", "closed"].map(|text| Some(text.to_owned()));
    let letters = Letters { p, t, l, r };
    let property =
        Property { pattern: PRECEDENCE, scope: Scope::Between, nesting: Nesting::Outermost };
    assert_eq!(
        property.contract(&letters).expect("all letters are given"),
        "From each state in which open holds and closed does not, the first since the run began or \
         closed held, if closed holds later, up to before the next state in which it does, ready \
         holds before sent first does, or in the same state."
    );
    let missing = property.contract(&Letters { l: None, ..letters }).unwrap_err();
    assert_eq!(missing.to_string(), "the scope needs L");
}

/// The formulas of Dwyer's pattern system and of Prospec, `p0` = P, `p1` = T, `p2` = L, `p3` = R, as the paper has
/// them; the second is empty where they are the same.
const PUBLISHED: [(Pattern, Scope, &str, &str); 25] = [
    (Pattern::Absence, Scope::Global, "[]!p0", "!<>p0"),
    (Pattern::Absence, Scope::Before, "<>p3 -> (!p0 U p3)", "<>p3 -> !(!p3 U p0)"),
    (Pattern::Absence, Scope::After, "[](p2 -> []!p0)", "!p2 W (p2 & !<>p0)"),
    (
        Pattern::Absence,
        Scope::Between,
        "[]((p2 & !p3 & <>p3) -> (!p0 U p3))",
        "[]((p2 & !p3 & <>p3) -> !(!p3 U p0))",
    ),
    (
        Pattern::Absence,
        Scope::AfterUntil,
        "[]((p2 & !p3) -> (!p0 W p3))",
        "[]((p2 & !p3) -> !(!p3 U p0))",
    ),
    (Pattern::Existence, Scope::Global, "<>p0", ""),
    (Pattern::Existence, Scope::Before, "!p3 W (p0 & !p3)", "<>p3 -> (!p3 U (p0 & !p3))"),
    (Pattern::Existence, Scope::After, "[]!p2 | <>(p2 & <>p0)", "!p2 W (p2 & <>p0)"),
    (
        Pattern::Existence,
        Scope::Between,
        "[]((p2 & !p3) -> (!p3 W (p0 & !p3)))",
        "[]((p2 & !p3 & <>p3) -> (!p3 U (p0 & !p3)))",
    ),
    (Pattern::Existence, Scope::AfterUntil, "[]((p2 & !p3) -> (!p3 U (p0 & !p3)))", ""),
    (Pattern::Universality, Scope::Global, "[]p0", ""),
    (Pattern::Universality, Scope::Before, "<>p3 -> (p0 U p3)", ""),
    (Pattern::Universality, Scope::After, "[](p2 -> []p0)", "!p2 W (p2 & []p0)"),
    (Pattern::Universality, Scope::Between, "[]((p2 & !p3 & <>p3) -> (p0 U p3))", ""),
    (Pattern::Universality, Scope::AfterUntil, "[]((p2 & !p3) -> (p0 W p3))", ""),
    (PRECEDENCE, Scope::Global, "!p0 W p1", ""),
    (PRECEDENCE, Scope::Before, "<>p3 -> (!p0 U (p1 | p3))", ""),
    (PRECEDENCE, Scope::After, "[]!p2 | <>(p2 & (!p0 W p1))", "!p2 W (p2 & (!p0 W p1))"),
    (PRECEDENCE, Scope::Between, "[]((p2 & !p3 & <>p3) -> (!p0 U (p1 | p3)))", ""),
    (PRECEDENCE, Scope::AfterUntil, "[]((p2 & !p3) -> (!p0 W (p1 | p3)))", ""),
    (RESPONSE, Scope::Global, "[](p0 -> <>p1)", ""),
    (RESPONSE, Scope::Before, "<>p3 -> ((p0 -> (!p3 U (p1 & !p3))) U p3)", ""),
    (RESPONSE, Scope::After, "[](p2 -> [](p0 -> <>p1))", "!p2 W (p2 & [](p0 -> <>p1))"),
    (RESPONSE, Scope::Between, "[]((p2 & !p3 & <>p3) -> ((p0 -> (!p3 U (p1 & !p3))) U p3))", ""),
    (RESPONSE, Scope::AfterUntil, "[]((p2 & !p3) -> ((p0 -> (!p3 U (p1 & !p3))) W p3))", ""),
];

/// Ours differ from Dwyer's in one case, from Prospec's in three.
#[test]
fn formulas_that_were_published() {
    let wrong_absence = [Scope::Before, Scope::Between, Scope::AfterUntil];
    for (pattern, scope, dwyer, prospec) in PUBLISHED {
        let ours = property(pattern, scope, Nesting::Every);
        for (text, wrong) in [
            (dwyer, pattern == PRECEDENCE && scope == Scope::After),
            (prospec, pattern == Pattern::Absence && wrong_absence.contains(&scope)),
        ] {
            if text.is_empty() {
                continue;
            }
            let theirs = support::parse(text);
            let word = difference(&ours, &theirs).expect("they are small");
            assert_eq!(word.is_some(), wrong, "{pattern} {scope}: {word:?}");
            if let Some(word) = word {
                assert_ne!(holds(&ours, &word), holds(&theirs, &word), "{pattern} {scope}");
            }
        }
    }
}
