//! Asks our checker and SPIN about one model, and compares.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::pan::{Pan, Said};
use super::{Comparison, Verdict};
use crate::generate::Dice;
use crate::spin::Refusal;
use crate::spinward::{Answer, Spinward};

/// The time for one of our checks, and that after which it is taken to hang.
const TIME: &str = "5";
const LIMIT: Duration = Duration::from_secs(30);

/// The names of all checks.
const SEARCHES: [&str; 8] =
    ["scc", "scc-shy", "scc-shy-minus", "ndfs", "indfs", "astar-indfs", "se05", "tau03"];

/// What is to hold of all runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// A formula of the model: its name.
    Named(String),
    /// A never claim of the model: its name.
    Claim(String),
    /// A formula that SPIN does not understand.
    Next(String),
    /// No run comes through a label `accept` again and again.
    Acceptance,
    /// Every run comes through a label `progress` again and again.
    Progress,
}

/// Which runs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fairness {
    None,
    Weak,
    Strong,
}

/// What is asked about a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    property: Property,
    fairness: Fairness,
}

impl Question {
    /// All questions about a model.
    pub fn of(text: &str, with_next: &[String]) -> Vec<Self> {
        let after = |word: &str, line: &str| {
            let name = line.strip_prefix(word)?.split_whitespace().next();
            name.map(str::to_owned)
        };
        let mut properties: Vec<_> = with_next.iter().cloned().map(Property::Next).collect();
        for line in text.lines() {
            properties.extend(after("ltl ", line).map(Property::Named));
            properties.extend(after("never ", line).map(Property::Claim));
        }
        if properties.is_empty() {
            properties = vec![Property::Acceptance, Property::Progress];
        }
        let kinds = [Fairness::None, Fairness::Weak, Fairness::Strong];
        let all = properties.into_iter();
        all.flat_map(|property| kinds.map(|fairness| Self { property: property.clone(), fairness }))
            .collect()
    }

    /// The options by which our checker is asked.
    pub fn options(&self) -> Vec<&str> {
        let mut options = match &self.property {
            Property::Named(text) | Property::Claim(text) | Property::Next(text) => {
                vec!["--ltl", text]
            }
            Property::Acceptance => vec!["--acceptance"],
            Property::Progress => vec!["--non-progress"],
        };
        options.extend(match self.fairness {
            Fairness::None => ["--fair", "none"],
            Fairness::Weak => ["--fair", "weak"],
            Fairness::Strong => ["--fair", "strong"],
        });
        options
    }

    /// What SPIN is asked for, and by which options, if it can be asked.
    fn spin(&self) -> Option<(&'static str, Vec<&str>)> {
        let (name, mut options) = match (&self.property, self.fairness) {
            (_, Fairness::Strong) | (Property::Next(_), _) => return None,
            (Property::Named(name) | Property::Claim(name), Fairness::None) => {
                ("-a -N", vec!["-a", "-N", name])
            }
            (Property::Named(name) | Property::Claim(name), Fairness::Weak) => {
                ("-a -f -N", vec!["-a", "-N", name])
            }
            (Property::Acceptance, Fairness::None) => ("-a", vec!["-a"]),
            (Property::Acceptance, Fairness::Weak) => ("-a -f", vec!["-a"]),
            (Property::Progress, Fairness::None) => ("-l", vec!["-l"]),
            (Property::Progress, Fairness::Weak) => ("-l -f", vec!["-l"]),
        };
        if self.fairness == Fairness::Weak {
            options.push("-f");
        }
        Some((name, options))
    }

    /// The formula that a claim was made of, if that is asked about too.
    fn twin(&self) -> Option<Self> {
        let Property::Claim(name) = &self.property else { return None };
        let property = Property::Named(format!("f{}", name.strip_prefix('n')?));
        Some(Self { property, ..self.clone() })
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.options().join(" "))
    }
}

/// What does not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Our checker does not take the model.
    Refusal,
    /// Our checker gives no answer.
    Silence,
    /// Two ways to check.
    Ways,
    /// Two kinds of fairness.
    Fairness,
    /// A formula and the claim made of it.
    Texts,
    /// Our checker and SPIN.
    Spin,
    /// The number of states.
    States,
}

/// A disagreement.
#[derive(Clone, Debug)]
pub struct Difference {
    pub nature: Nature,
    /// What must be asked to see it.
    pub questions: Vec<Question>,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let questions: Vec<_> = self.questions.iter().map(Question::to_string).collect();
        write!(f, "{:?}: {}: {}", self.nature, questions.join(" / "), self.what)
    }
}

/// A way to check.
#[derive(Clone, Debug)]
struct Way {
    search: &'static str,
    options: Vec<&'static str>,
}

impl Way {
    /// One that leaves out nothing.
    fn plain(search: &'static str) -> Self {
        let options = ["--por", "off", "--optimize", "none", "--engine", "interpreter"];
        Self { search, options: options.to_vec() }
    }

    fn any(search: &'static str, dice: &mut Dice) -> Self {
        let mut one_of = |words: [&'static str; 2]| words[dice.below(2)];
        let (por, optimize) = (one_of(["on", "off"]), one_of(["full", "none"]));
        let engine = one_of(["compiled", "interpreter"]);
        Self { search, options: vec!["--por", por, "--optimize", optimize, "--engine", engine] }
    }

    /// The ways to answer a question: all checks without fairness, and every choice of what is left out sooner or
    /// later.
    fn all(question: &Question, dice: &mut Dice) -> Vec<Self> {
        let mut ways = vec![Self::plain("scc"), Self::plain("ndfs")];
        match question.fairness {
            Fairness::None => ways.extend(SEARCHES.map(|search| Self::any(search, dice))),
            Fairness::Weak => {
                ways.extend((0..4).map(|_| Self::any(SEARCHES[dice.below(SEARCHES.len())], dice)))
            }
            Fairness::Strong => {
                ways.extend((0..2).map(|_| Self::any(SEARCHES[dice.below(SEARCHES.len())], dice)))
            }
        }
        ways
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--search {} {}", self.search, self.options.join(" "))
    }
}

/// Asks and compares.
pub struct Judge<'a> {
    spinward: &'a Spinward,
    dir: &'a Path,
    model: &'a str,
    dice: Dice,
    found: Comparison,
}

impl<'a> Judge<'a> {
    /// Who judges `model`, a file in `dir`; the seed says by which ways.
    pub fn new(spinward: &'a Spinward, dir: &'a Path, model: &'a str, seed: u64) -> Self {
        Self { spinward, dir, model, dice: Dice::new(seed), found: Comparison::default() }
    }

    /// Asks the questions and compares the answers.
    pub fn compare(mut self, questions: &[Question]) -> Result<Verdict> {
        let mut pan = match Pan::new(self.dir, self.model)? {
            Ok(pan) => pan,
            Err(Refusal(why)) => return Ok(Verdict::Skipped(why)),
        };
        let mut verdicts = BTreeMap::new();
        for question in questions {
            let answers = self.ways(question)?;
            // Also if there is no answer: what SPIN refuses need not be taken.
            if let Some((name, options)) = question.spin() {
                match pan.ask(&options)? {
                    Ok(said) => self.spin(question, name, said, &answers, pan.rendezvous())?,
                    Err(Refusal(why)) => return Ok(Verdict::Skipped(why)),
                }
            }
            if let Some((_, first)) = answers.first() {
                verdicts.insert(question.clone(), is_violated(first));
            }
        }
        self.relations(&verdicts);
        Ok(Verdict::Compared(self.found))
    }

    /// The answers by all ways; the first is that of a plain one.
    fn ways(&mut self, question: &Question) -> Result<Vec<(Way, Answer)>> {
        let mut answers: Vec<(Way, Answer)> = Vec::new();
        for way in Way::all(question, &mut self.dice) {
            let fixed = [
                "--time",
                TIME,
                "--memory",
                "500M",
                "--trail",
                "ours.trail",
                "--search",
                way.search,
            ];
            let options = [&question.options()[..], &fixed, &way.options].concat();
            let (checked, _) = self.spinward.check_by(self.dir, self.model, &options, LIMIT)?;
            match checked {
                Err(why) => {
                    let nature =
                        if why.contains("exit code 2") { Nature::Refusal } else { Nature::Silence };
                    self.differ(nature, &[question], format!("{way}: {why}"));
                }
                Ok(answer) if answer.verdict == "incomplete" => self.found.figures.unfinished += 1,
                Ok(answer) => {
                    if let Some((plain, first)) = answers.first() {
                        self.found.figures.ways += 1;
                        if is_violated(first) != is_violated(&answer) {
                            let what = format!(
                                "{} by {plain}, {} by {way}",
                                first.verdict, answer.verdict
                            );
                            self.differ(Nature::Ways, &[question], what);
                        }
                    }
                    answers.push((way, answer));
                }
            }
        }
        Ok(answers)
    }

    /// Compares our answers with what SPIN said.
    fn spin(
        &mut self,
        question: &Question,
        name: &'static str,
        said: Said,
        answers: &[(Way, Answer)],
        rendezvous: bool,
    ) -> Result<()> {
        let Some((_, first)) = answers.first() else { return Ok(()) };
        self.found.figures.spin.entry(name).or_default().count(said.violated);
        let fair = question.fairness != Fairness::None;
        if is_violated(first) != said.violated {
            if fair {
                let kind = Unfair::of(first, rendezvous).to_string();
                self.found.notes.push(format!("{question}: {kind}"));
                *self.found.figures.unfair.entry(kind).or_default() += 1;
            } else {
                let what = format!("{}, but SPIN has an error: {}", first.verdict, said.violated);
                self.differ(Nature::Spin, &[question], what);
            }
            return Ok(());
        }
        if fair {
            return Ok(());
        }
        for (way, answer) in answers {
            if let Some(steps) = answer.errors.first().and_then(|error| error.steps) {
                let longer = self.found.figures.longer.entry(way.search.to_owned()).or_default();
                longer.count(steps > said.steps);
                if steps > said.steps {
                    let note = format!("{question} {way}: {steps} steps, SPIN {}", said.steps);
                    self.found.notes.push(note);
                }
            }
        }
        let plain =
            answers.iter().find(|(way, _)| way.to_string() == Way::plain("ndfs").to_string());
        if let (Some((_, answer)), Property::Claim(_) | Property::Acceptance | Property::Progress) =
            (plain, &question.property)
        {
            let states = answer.statistics.states;
            let figures = &mut self.found.figures;
            let figure =
                if said.violated { &mut figures.states_at_error } else { &mut figures.states };
            figure.count(states == said.states);
            let what = format!("{states} states, SPIN {}", said.states);
            if states != said.states && self.gets_stuck()? {
                self.found.notes.push(format!("{question}: {what}, stuck"));
                self.found.figures.stuck += 1;
            } else if states != said.states {
                self.differ(Nature::States, &[question], what);
            }
        }
        Ok(())
    }

    /// Whether there is a state in which nobody can move. Where the claim goes on alone, SPIN stores some of its
    /// states, and we all.
    fn gets_stuck(&self) -> Result<bool> {
        let options = ["--ltl", "[] !timeout", "--trail", "ours.trail"];
        let (checked, _) = self.spinward.check_by(self.dir, self.model, &options, LIMIT)?;
        Ok(checked.is_ok_and(|answer| is_violated(&answer)))
    }

    /// Compares verdicts on questions of which one is at least as strict as the other.
    fn relations(&mut self, verdicts: &BTreeMap<Question, bool>) {
        for (question, &violated) in verdicts {
            let weaker = match question.fairness {
                Fairness::None => None,
                Fairness::Weak => Some(Fairness::None),
                Fairness::Strong => Some(Fairness::Weak),
            };
            if let Some(fairness) = weaker {
                let other = Question { fairness, ..question.clone() };
                if let Some(&also) = verdicts.get(&other) {
                    self.found.figures.fairness += 1;
                    if violated && !also {
                        self.differ(
                            Nature::Fairness,
                            &[question, &other],
                            "violated only by fair runs".to_owned(),
                        );
                    }
                }
            }
            if let Some(twin) = question.twin()
                && let Some(&also) = verdicts.get(&twin)
            {
                self.found.figures.texts += 1;
                if violated != also {
                    let what = format!("claim violated: {violated}, formula violated: {also}");
                    self.differ(Nature::Texts, &[question, &twin], what);
                }
            }
        }
    }

    fn differ(&mut self, nature: Nature, questions: &[&Question], what: String) {
        let questions = questions.iter().copied().cloned().collect();
        self.found.differences.push(Difference { nature, questions, what });
    }
}

fn is_violated(answer: &Answer) -> bool {
    answer.verdict == "violated"
}

/// How SPIN's `-f` differs from us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfair {
    /// It misses a run at whose end nobody can move: its tracker, number 38.
    MissesTheEnd,
    /// It misses a run that goes on for ever.
    Misses { rendezvous: bool },
    /// It finds a run that we do not find.
    Finds { rendezvous: bool },
}

impl Unfair {
    /// The difference, if our answer is this one.
    fn of(answer: &Answer, rendezvous: bool) -> Self {
        let repeats = |answer: &Answer| {
            let error = answer.errors.first();
            error.is_some_and(|error| {
                error.cycle_start.is_some() && error.cycle_start == error.steps
            })
        };
        match is_violated(answer) {
            true if repeats(answer) => Self::MissesTheEnd,
            true => Self::Misses { rendezvous },
            false => Self::Finds { rendezvous },
        }
    }
}

impl fmt::Display for Unfair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = |rendezvous: &bool| if *rendezvous { "with" } else { "without" };
        match self {
            Self::MissesTheEnd => write!(f, "misses a run after which nobody can move"),
            Self::Misses { rendezvous } => {
                write!(f, "misses a run for ever, {} rendezvous", with(rendezvous))
            }
            Self::Finds { rendezvous } => {
                write!(f, "finds a run that is not fair, {} rendezvous", with(rendezvous))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_is_asked_for_what_it_has() {
        let text = "byte x;\nltl f0 { [] p0 }\nnever n0 { /* [] */\n}\n";
        let questions = Question::of(text, &["X p0".to_owned()]);
        let told: Vec<_> = questions.iter().map(Question::to_string).collect();
        assert_eq!(told.len(), 9);
        assert_eq!(told[0], "--ltl X p0 --fair none");
        assert_eq!(questions[0].spin(), None);
        assert_eq!(questions[4].spin(), Some(("-a -f -N", vec!["-a", "-N", "f0", "-f"])));
        assert_eq!(questions[5].spin(), None);
        assert_eq!(questions[7].twin().as_ref(), Some(&questions[4]));
        assert_eq!(questions[4].twin(), None);
        assert_eq!(Question::of("byte x;\n", &[])[3].to_string(), "--non-progress --fair none");
    }

    #[test]
    fn differences_under_fairness_have_kinds() {
        let answer = |errors: serde_json::Value| -> Answer {
            let verdict = if errors == json!([]) { "verified" } else { "violated" };
            let statistics = json!({"states": 1, "transitions": 1});
            let answer = json!({"verdict": verdict, "errors": errors, "statistics": statistics});
            serde_json::from_value(answer).expect("an answer")
        };
        let cycle =
            |start: u64| json!([{"kind": "acceptance-cycle", "steps": 4, "cycle_start": start}]);
        assert_eq!(Unfair::of(&answer(cycle(4)), true), Unfair::MissesTheEnd);
        assert_eq!(Unfair::of(&answer(cycle(2)), true), Unfair::Misses { rendezvous: true });
        assert_eq!(Unfair::of(&answer(json!([])), false), Unfair::Finds { rendezvous: false });
        let end = json!([{"kind": "never-claim", "steps": 4, "cycle_start": null}]);
        assert_eq!(Unfair::of(&answer(end), false), Unfair::Misses { rendezvous: false });
    }

    #[test]
    fn every_check_is_used() {
        let questions = Question::of("byte x;\n", &[]);
        let ways = Way::all(&questions[0], &mut Dice::new(1));
        assert!(SEARCHES.iter().all(|search| ways.iter().any(|way| way.search == *search)));
        assert_eq!(ways[0].to_string(), Way::plain("scc").to_string());
    }
}
