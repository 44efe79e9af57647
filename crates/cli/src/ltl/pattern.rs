//! Properties by pattern and scope: the options, and what they stand for.

use std::fmt::{Display, Write as _};

use clap::ValueEnum;
use spinward_promela::suggest::nearest;
use spinward_property::Formula;
use spinward_property::patterns::{Letters, Nesting, Pattern, Property, Scope};

use super::formulas::Given;
use crate::terminal::Failure;

const LIST: &str = "list";

/// A property pattern and its parts.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Patterns")]
pub struct PatternArgs {
    /// Make the formula from this pattern; list tells them all
    #[arg(long, value_name = "NAME", value_parser = pattern)]
    pattern: Option<Choice>,

    /// Where the pattern is to hold: global, before, after, between or after-until [default: global]
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Option<Scope>,

    /// What the pattern is about
    #[arg(short, long = "prop", visible_alias = "P", value_name = "P")]
    p: Option<String>,

    /// What comes before it (precedence) or after it (response)
    #[arg(short, long = "then", visible_alias = "T", value_name = "T")]
    t: Option<String>,

    /// Where intervals begin
    #[arg(short, long = "from", visible_alias = "L", value_name = "L")]
    l: Option<String>,

    /// Where intervals end
    #[arg(short, long = "to", visible_alias = "R", value_name = "R")]
    r: Option<String>,

    /// Whether an L inside of an interval begins another: every, or only the outermost counts
    /// [default: every]
    #[arg(long, value_enum, value_name = "WHICH")]
    nested: Option<Nested>,

    /// T in the same state as P does not count
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    List,
    Of(Pattern),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
enum Nested {
    Every,
    Outermost,
}

fn pattern(name: &str) -> Result<Choice, String> {
    if name == LIST {
        return Ok(Choice::List);
    }
    named("pattern", name, &Pattern::ALL).map(Choice::Of)
}

fn scope(name: &str) -> Result<Scope, String> {
    named("scope", name, &Scope::ALL)
}

/// The one of this name.
fn named<T: Copy + Display>(what: &str, name: &str, all: &[T]) -> Result<T, String> {
    all.iter().copied().find(|it| it.to_string() == name).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(T::to_string).collect();
        let meant = nearest(name, names.iter().map(String::as_str));
        let meant = meant.map_or(String::new(), |meant| format!(" did you mean '{meant}'?"));
        format!("there is no {what} '{name}';{meant} there are {}", names.join(", "))
    })
}

/// What is to be done with patterns.
pub enum Wish<'a> {
    /// Nothing.
    None,
    /// Tell which there are.
    List,
    /// Make a formula of one.
    Make(Filled<'a>),
}

/// A property with what its letters stand for.
pub struct Filled<'a> {
    property: Property,
    /// Those that the property needs.
    letters: Letters<&'a str>,
}

impl PatternArgs {
    /// What the options ask for.
    pub fn wish(&self) -> Result<Wish<'_>, Failure> {
        let pattern = match self.pattern {
            None => return self.nothing_left_over().map(|()| Wish::None),
            Some(Choice::List) => return Ok(Wish::List),
            Some(Choice::Of(pattern)) => pattern,
        };
        let scope = self.scope.unwrap_or(Scope::Global);
        let pattern = match pattern {
            _ if !self.strict => pattern,
            Pattern::Precedence { .. } => Pattern::Precedence { strict: true },
            Pattern::Response { .. } => Pattern::Response { strict: true },
            _ => return Err(Failure::usage("--strict is for precedence and response only")),
        };
        if self.nested.is_some() && !matches!(scope, Scope::Between | Scope::AfterUntil) {
            return Err(Failure::usage("--nested is for --scope between and after-until only"));
        }
        let nesting = match self.nested {
            Some(Nested::Outermost) => Nesting::Outermost,
            Some(Nested::Every) | None => Nesting::Every,
        };
        let property = Property { pattern, scope, nesting };
        let in_pattern = || format!("the pattern {pattern}");
        let in_scope = || format!("the scope {scope}");
        let alone = [&self.p, &self.t, &self.l, &self.r].iter().all(|letter| letter.is_none());
        let letters = Letters {
            p: letter("P", &self.p, true, alone, in_pattern)?,
            t: letter("T", &self.t, property.needs_t(), alone, in_pattern)?,
            l: letter("L", &self.l, property.needs_l(), alone, in_scope)?,
            r: letter("R", &self.r, property.needs_r(), alone, in_scope)?,
        };
        Ok(Wish::Make(Filled { property, letters }))
    }

    /// Without a pattern, nothing may be said about one.
    fn nothing_left_over(&self) -> Result<(), Failure> {
        let given = [
            ("--scope", self.scope.is_some()),
            ("-p", self.p.is_some()),
            ("-t", self.t.is_some()),
            ("-l", self.l.is_some()),
            ("-r", self.r.is_some()),
            ("--nested", self.nested.is_some()),
            ("--strict", self.strict),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::usage(format!("{option} is for --pattern only"))),
            None => Ok(()),
        }
    }
}

/// What a letter stands for; for itself if none of them is given.
fn letter<'a>(
    name: &'static str,
    given: &'a Option<String>,
    needed: bool,
    alone: bool,
    place: impl Fn() -> String,
) -> Result<Option<&'a str>, Failure> {
    let option = name.to_ascii_lowercase();
    match given.as_deref() {
        Some(_) if !needed => {
            Err(Failure::usage(format!("{} has no {name}, but -{option} is given", place())))
        }
        None if needed && !alone => {
            Err(Failure::usage(format!("{} needs {name}: give it by -{option}", place())))
        }
        None => Ok(needed.then_some(name)),
        given => Ok(given),
    }
}

impl<'a> Filled<'a> {
    /// The texts to be read, for [`Self::formula`].
    pub fn given(&self) -> Vec<Given<'a>> {
        let Letters { p, t, l, r } = self.letters;
        let all = [("-p", p), ("-t", t), ("-l", l), ("-r", r)];
        all.into_iter().filter_map(|(place, text)| Some(Given { place, text: text? })).collect()
    }

    /// The formula, given those of the texts.
    pub fn formula(&self, formulas: &[Formula]) -> Result<Formula, Failure> {
        let mut rest = formulas.iter().cloned();
        let mut next = |needed: Option<&str>| needed.and_then(|_| rest.next());
        let letters = Letters {
            p: next(self.letters.p),
            t: next(self.letters.t),
            l: next(self.letters.l),
            r: next(self.letters.r),
        };
        self.property.formula(&letters).map_err(Failure::internal)
    }

    /// What it says in English.
    pub fn contract(&self) -> Result<String, Failure> {
        let text = |letter: Option<&str>| letter.map(in_sentence);
        let letters = Letters {
            p: text(self.letters.p),
            t: text(self.letters.t),
            l: text(self.letters.l),
            r: text(self.letters.r),
        };
        self.property.contract(&letters).map_err(Failure::internal)
    }
}

/// A condition as a sentence takes it.
fn in_sentence(text: &str) -> String {
    let text = super::on_one_line(text);
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name { text } else { format!("({text})") }
}

/// All patterns and scopes, with what they say.
pub fn list() -> Result<String, Failure> {
    let mut out = String::from("Patterns, here in the whole run:\n");
    for pattern in Pattern::ALL {
        describe(&mut out, &pattern.to_string(), pattern, Scope::Global)?;
    }
    out.push_str("\nScopes, here of absence:\n");
    for scope in Scope::ALL {
        describe(&mut out, &scope.to_string(), Pattern::Absence, scope)?;
    }
    Ok(out)
}

fn describe(out: &mut String, name: &str, pattern: Pattern, scope: Scope) -> Result<(), Failure> {
    let property = Property { pattern, scope, nesting: Nesting::Every };
    let names = ["P", "T", "L", "R"].map(str::to_owned);
    let [p, t, l, r] = names.clone().map(Some);
    let contract = property.contract(&Letters { p, t, l, r }).map_err(Failure::internal)?;
    let [p, t, l, r] = [0, 1, 2, 3].map(|atom| Some(Formula::atom(atom)));
    let formula = property.formula(&Letters { p, t, l, r }).map_err(Failure::internal)?;
    let formula = formula.display(&names);
    let _ = writeln!(out, "  {name:<18} {contract}\n  {:<18} {formula}", "");
    Ok(())
}
