//! Renaming, and why not.
//!
//! What is renamed is tried first: the model is read with the new name, and every name in it must stand
//! for what it stood for before. So nothing that would clash, or be taken for something else, is done.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use spinward_promela::Diagnostic;
use spinward_promela::parser::is_keyword;
use spinward_promela::symbols::Symbol;

use crate::analysis::{Analysis, Place};
use crate::describe::special;
use crate::keywords::PREDEFINED;
use crate::names::{Meaning, Thing, ThingId};
use crate::workspace::Workspace;

/// What can be renamed at a byte of a file: where it is written there, and all that goes with it.
pub fn renamed(
    analysis: &Analysis,
    file: usize,
    offset: usize,
) -> Result<(Place, Vec<ThingId>), String> {
    let names = &analysis.names;
    let (place, mut things) = names.at(file, offset).ok_or("there is no name here")?;
    // What the text of an inline or macro stands for in several uses goes together.
    loop {
        let places = names.places_of(&things);
        let mut all: Vec<ThingId> = places
            .iter()
            .flat_map(|place| names.at(place.file, place.start))
            .flat_map(|(_, things)| things)
            .collect();
        all.sort_unstable();
        all.dedup();
        if all.len() == things.len() {
            break;
        }
        things = all;
    }
    if let Some(found) =
        things.iter().map(|&id| names.thing(id)).find(|thing| thing.meaning == Meaning::Macro)
    {
        return Err(format!("`{}` is a macro, and macros are not renamed", found.name));
    }
    let name = analysis.at(place);
    for place in names.places_of(&things) {
        if analysis.files[place.file].uri.is_none() {
            return Err(format!("`{name}` is also named outside of any file"));
        }
        if analysis.at(place) != name {
            return Err(format!("`{name}` is put together by a macro"));
        }
    }
    Ok((place, things))
}

/// The places to be changed, or why that cannot be.
pub fn rename(
    workspace: &mut Workspace,
    analysis: &Rc<Analysis>,
    (file, offset): (usize, usize),
    name: &str,
) -> Result<Vec<Place>, String> {
    let (at, things) = renamed(analysis, file, offset)?;
    let old = analysis.at(at);
    if analysis.diagnostics.iter().any(Diagnostic::is_error) {
        return Err("the model has mistakes: it is not sure what names mean".to_owned());
    }
    check_name(name)?;
    let is_macro = |thing: &&Thing| thing.meaning == Meaning::Macro;
    if analysis.names.things.iter().filter(is_macro).any(|thing| thing.name == name) {
        return Err(format!("`{name}` is the name of a macro"));
    }
    let mut meanings = things.iter().map(|&id| analysis.names.thing(id).meaning);
    let is_label = |meaning| matches!(meaning, Meaning::Symbol(Symbol::Label(..)));
    if meanings.any(is_label) && special(old) != special(name) {
        return Err(format!(
            "`{old}` cannot be renamed to `{name}`: labels that begin with `end`, `accept` or `progress` mean \
             something to a check"
        ));
    }
    // A formula and a variable may have one name, but then nobody knows which of them is meant.
    let is_formula = |thing: &&Thing| thing.meaning == Meaning::Symbol(Symbol::Ltl);
    if analysis.names.things.iter().filter(is_formula).any(|thing| thing.name == name) {
        return Err(format!("`{name}` is the name of a formula"));
    }
    let places = analysis.names.places_of(&things);
    let shift = Shift::new(&places, name.len() as isize - old.len() as isize);
    let mut texts = FxHashMap::default();
    for (file, known) in analysis.files.iter().enumerate() {
        let mut text = analysis.text(file).to_owned();
        for place in places.iter().rev().filter(|place| place.file == file) {
            text.replace_range(place.start..place.end, name);
        }
        if text != analysis.text(file) {
            texts.insert(known.path.clone(), text);
        }
    }
    let clash = |why: &str| Err(format!("`{old}` cannot be renamed to `{name}`: {why}"));
    let tried = workspace.try_out(analysis, &texts);
    if let Some(mistake) = tried.diagnostics.iter().find(|it| it.is_error()) {
        return clash(&mistake.message);
    }
    if shift.meanings(analysis) != Shift::default().meanings(&tried) {
        return clash("a name would stand for something else");
    }
    // Other models may include the same files.
    for other in workspace.open_models() {
        let touched = other.files.iter().any(|file| texts.contains_key(&file.path));
        if !Rc::ptr_eq(&other, analysis) && touched {
            let tried = workspace.try_out(&other, &texts);
            if let Some(mistake) = tried.diagnostics.iter().find(|it| it.is_error()) {
                return clash(&format!(
                    "in {}, {}",
                    other.files[0].path.display(),
                    mistake.message
                ));
            }
        }
    }
    Ok(places)
}

/// Whether something can have a name.
fn check_name(name: &str) -> Result<(), String> {
    let mut chars = name.chars();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = |c: char| word(c) && !c.is_ascii_digit();
    if !chars.next().is_some_and(begins) || !chars.all(word) {
        return Err(format!("`{name}` is not a name: letters, digits and `_` make one"));
    }
    if is_keyword(name) {
        return Err(format!("`{name}` is a word of the language"));
    }
    if PREDEFINED.iter().any(|(known, _)| *known == name) {
        return Err(format!("`{name}` is there in every model"));
    }
    Ok(())
}

/// Where things are when some places have become longer or shorter.
#[derive(Default)]
struct Shift {
    /// By file: where changes begin.
    changed: BTreeMap<usize, Vec<usize>>,
    by: isize,
}

impl Shift {
    fn new(places: &[Place], by: isize) -> Self {
        let mut changed: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in places {
            changed.entry(place.file).or_default().push(place.start);
        }
        Self { changed, by }
    }

    /// Where a place begins then.
    fn start(&self, place: Place) -> (usize, usize) {
        let starts = self.changed.get(&place.file).map_or(&[][..], Vec::as_slice);
        let before = starts.partition_point(|&start| start < place.start);
        (place.file, place.start.wrapping_add_signed(before as isize * self.by))
    }

    /// For each occurrence, where what it stands for is declared.
    fn meanings(&self, analysis: &Analysis) -> Vec<[(usize, usize); 2]> {
        let occurrences = analysis.names.occurrences();
        let mut meanings: Vec<_> = occurrences
            .map(|(place, thing)| [self.start(place), self.start(thing.declared[0])])
            .collect();
        meanings.sort_unstable();
        meanings
    }
}
