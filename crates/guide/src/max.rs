//! The largest of several estimates.
//!
//! Those that do not fit what is checked are left out, which is told, as long as one fits.
//!
//! *Properties*: admissible if all of them are, and consistent if all of them are.
//!
//! *Cost*: that of all of them.

use crate::{Entry, Guide, Misfit, Room, Wanted, Way};

const NAME: &str = "max";

const TAKES: &str = "several others, as in max(dpa(n=50),fsm)";

pub const ENTRY: Entry = Entry {
    name: NAME,
    idea: "the largest of several, as in max(dpa,fsm)",
    argument: Some(TAKES),
    admissible: true,
    consistent: true,
    build: |subject, argument| {
        let several = parse(argument.unwrap_or_default())?;
        let (mut guides, mut notes, mut misfit) = (Vec::new(), Vec::new(), None);
        for wanted in &several {
            match wanted.build(subject) {
                Ok(guide) => {
                    notes.extend_from_slice(guide.notes());
                    guides.push(guide);
                }
                Err(Misfit::Property { guide, why }) => {
                    notes.push(format!("'{NAME}' leaves out the guide '{guide}', which {why}"));
                    misfit = misfit.or(Some(Misfit::Property { guide, why }));
                }
                Err(other) => return Err(other),
            }
        }
        match misfit.filter(|_| guides.is_empty()) {
            Some(misfit) => Err(misfit),
            None => Ok(Box::new(Max { guides, notes })),
        }
    },
};

/// The guides of a list; commas inside of parentheses are theirs.
pub fn parse(list: &str) -> Result<Vec<Wanted>, Misfit> {
    let mut depth = 0;
    let separated = list.split(|letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    });
    let parse = |text: &str| {
        let text = text.trim();
        if text.split(['(', '=']).next().is_none_or(|it| it.is_empty() || it == NAME) {
            return Err(Misfit::Argument { guide: NAME, takes: TAKES, argument: list.to_owned() });
        }
        let wanted: Wanted = text.parse()?;
        if wanted.trail().is_some() {
            let why = format!("cannot go towards a trail as a part of '{NAME}'");
            return Err(Misfit::Property { guide: wanted.entry.name, why });
        }
        Ok(wanted)
    };
    separated.map(parse).collect()
}

struct Max<'m> {
    guides: Vec<Box<dyn Guide + 'm>>,
    notes: Vec<String>,
}

impl Guide for Max<'_> {
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        self.guides
            .iter()
            .fold(0, |known, guide| known.max(guide.estimate_above(known, state, way, room)))
    }

    fn is_admissible(&self) -> bool {
        self.guides.iter().all(|guide| guide.is_admissible())
    }

    fn is_consistent(&self) -> bool {
        self.guides.iter().all(|guide| guide.is_consistent())
    }

    fn rules_out(&self) -> bool {
        self.guides.iter().all(|guide| guide.rules_out())
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn asks_the_way(&self) -> bool {
        self.guides.iter().any(|guide| guide.asks_the_way())
    }

    fn remembers(&self) -> bool {
        self.guides.iter().any(|guide| guide.remembers())
    }
}
