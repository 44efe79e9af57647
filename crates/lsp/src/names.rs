//! What the names of a model stand for, and all places where they do.
//!
//! The body of an inline, and the text of a macro, mean something for every use; in an editor they are
//! one text. So what a name stands for is told by where it was declared *in the text*: the variable
//! of an inline that is called twice is two variables of the model, and one thing here.
//!
//! Texts that the model as read does not use (a branch left out by `#if`, an inline that is not called,
//! a macro that is for the command line) may use global names: they are taken for these.

use rustc_hash::{FxHashMap, FxHashSet};
use spinward_promela::ast::Unit;
use spinward_promela::preprocess::{Word, WordKind, words};
use spinward_promela::symbols::{Scope, Symbol, Symbols};
use spinward_promela::token::{Punct, TokenKind};

use crate::analysis::{Analysis, Place};

/// Number of a [`Thing`] in [`Names::things`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThingId(pub usize);

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Something the model knows. Of several, as from calls of one inline, the first.
    Symbol(Symbol),
    /// A parameter of an inline.
    Parameter,
    /// A macro.
    Macro,
}

/// What one or more places of the text name.
#[derive(Clone, Debug)]
pub struct Thing {
    /// The name.
    pub name: String,
    /// What it is.
    pub meaning: Meaning,
    /// Where it is declared; a macro perhaps more than once.
    pub declared: Vec<Place>,
}

/// All names of a model.
#[derive(Debug, Default)]
pub struct Names {
    /// What there is.
    pub things: Vec<Thing>,
    /// Where it is named, in order.
    occurrences: Vec<(Place, ThingId)>,
    /// The words of each file.
    pub words: Vec<Vec<Word>>,
}

impl Names {
    /// The names of a model.
    pub fn of(analysis: &Analysis) -> Self {
        let mut finder = Finder::new(analysis);
        finder.model();
        finder.inline_parameters();
        let strong: FxHashSet<Place> =
            finder.names.occurrences.iter().map(|&(place, _)| place).collect();
        finder.macros();
        finder.unused_text(&strong);
        let mut names = finder.names;
        names.occurrences.sort_unstable();
        names.occurrences.dedup();
        names
    }

    /// A thing.
    pub fn thing(&self, id: ThingId) -> &Thing {
        &self.things[id.0]
    }

    /// What is named at a byte of a file, or ends there, with where that is written.
    pub fn at(&self, file: usize, offset: usize) -> Option<(Place, Vec<ThingId>)> {
        let before = self
            .occurrences
            .partition_point(|(place, _)| (place.file, place.start) <= (file, offset));
        // Names do not overlap: only the last one that begins before can be it.
        let &(place, _) = self.occurrences[..before].last()?;
        if place.file != file || place.end < offset {
            return None;
        }
        let things = self.occurrences[..before].iter().rev();
        let mut things: Vec<ThingId> =
            things.take_while(|(other, _)| *other == place).map(|&(_, id)| id).collect();
        things.reverse();
        Some((place, things))
    }

    /// All places where one of some things is named.
    pub fn places_of(&self, things: &[ThingId]) -> Vec<Place> {
        let named = self.occurrences.iter().filter(|(_, id)| things.contains(id));
        let mut places: Vec<Place> = named.map(|&(place, _)| place).collect();
        places.dedup();
        places
    }

    /// All occurrences.
    pub fn occurrences(&self) -> impl Iterator<Item = (Place, &Thing)> {
        self.occurrences.iter().map(|&(place, id)| (place, self.thing(id)))
    }
}

struct Finder<'a> {
    analysis: &'a Analysis,
    names: Names,
    /// By where it is declared and its name.
    known: FxHashMap<(Place, String), ThingId>,
    /// Where mtype names and inlines are declared, which the symbols do not tell.
    mtypes: FxHashMap<(u32, i32), Place>,
    sets: FxHashMap<u32, Place>,
    inlines: FxHashMap<String, Place>,
}

impl<'a> Finder<'a> {
    fn new(analysis: &'a Analysis) -> Self {
        let files = 0..analysis.files.len();
        let words = files.map(|file| words(analysis.text(file))).collect();
        let mut finder = Self {
            analysis,
            names: Names { words, ..Names::default() },
            known: FxHashMap::default(),
            mtypes: FxHashMap::default(),
            sets: FxHashMap::default(),
            inlines: FxHashMap::default(),
        };
        let symbols = &analysis.loaded.symbols;
        for unit in &analysis.loaded.model.units {
            match unit {
                Unit::Mtype(decl) => {
                    for name in &decl.names {
                        if let Some(Symbol::Mtype(set, value)) = symbols.symbol(name.id) {
                            let place = analysis.written(name.span);
                            finder.mtypes.entry((set.0, value)).or_insert(place);
                        }
                    }
                    if let Some(name) = &decl.set
                        && let Some(Symbol::MtypeSet(set)) = symbols.symbol(name.id)
                    {
                        finder.sets.entry(set.0).or_insert(analysis.written(name.span));
                    }
                }
                Unit::Inline(inline) => {
                    let place = analysis.written(inline.name.span);
                    finder.inlines.insert(inline.name.text.clone(), place);
                }
                _ => {}
            }
        }
        finder
    }

    fn thing(&mut self, place: Place, name: &str, meaning: Meaning) -> ThingId {
        let things = &mut self.names.things;
        *self.known.entry((place, name.to_owned())).or_insert_with(|| {
            things.push(Thing { name: name.to_owned(), meaning, declared: vec![place] });
            ThingId(things.len() - 1)
        })
    }

    /// What the model knows of its names.
    fn model(&mut self) {
        let analysis = self.analysis;
        let loaded = &analysis.loaded;
        for (&span, symbol) in loaded.model.names.iter().zip(&loaded.symbols.names) {
            let Some(symbol) = *symbol else { continue };
            let place = analysis.written(span);
            let Some((declared, name)) = self.declaration(symbol, place) else { continue };
            let thing = self.thing(declared, &name, Meaning::Symbol(symbol));
            self.names.occurrences.push((place, thing));
        }
    }

    /// Where something is declared, and its name.
    fn declaration(&self, symbol: Symbol, at: Place) -> Option<(Place, String)> {
        let symbols: &Symbols = &self.analysis.loaded.symbols;
        let written = |span| self.analysis.written(span);
        Some(match symbol {
            Symbol::Variable(id) => {
                let variable = symbols.variable(id);
                (written(variable.span), variable.name.clone())
            }
            Symbol::Mtype(set, value) => {
                let place = *self.mtypes.get(&(set.0, value))?;
                let values = &symbols.mtype(set).values;
                let (name, _) = values.iter().find(|(_, number)| *number == value)?;
                (place, name.clone())
            }
            Symbol::MtypeSet(set) => {
                (*self.sets.get(&set.0)?, symbols.mtype(set).name.clone().unwrap_or_default())
            }
            Symbol::Body(id) => {
                let body = symbols.body(id);
                (written(body.span), body.name.clone())
            }
            Symbol::Typedef(id) => {
                let typedef = symbols.typedef(id);
                (written(typedef.span), typedef.name.clone())
            }
            Symbol::Label(body, index) => {
                let (name, span) = symbols.body(body).labels.get(index as usize)?;
                (written(*span), name.clone())
            }
            Symbol::Inline => {
                let name = self.analysis.at(at);
                (*self.inlines.get(name)?, name.to_owned())
            }
            Symbol::Ltl => (at, self.analysis.at(at).to_owned()),
            Symbol::Predefined(_) => return None,
        })
    }

    /// Parameters of inlines: the model has only what stands for them.
    fn inline_parameters(&mut self) {
        let analysis = self.analysis;
        for unit in &analysis.loaded.model.units {
            let Unit::Inline(inline) = unit else { continue };
            let mut params = FxHashMap::default();
            for param in &inline.params {
                let place = analysis.written(param.span);
                let thing = self.thing(place, &param.text, Meaning::Parameter);
                self.names.occurrences.push((place, thing));
                params.insert(param.text.as_str(), thing);
            }
            for token in &inline.body {
                if let TokenKind::Ident(word) = &token.kind
                    && let Some(&thing) = params.get(word.as_str())
                {
                    self.names.occurrences.push((analysis.written(token.span), thing));
                }
            }
        }
    }

    /// Macros, and all words that are the name of one.
    fn macros(&mut self) {
        let analysis = self.analysis;
        let mut macros: FxHashMap<&str, ThingId> = FxHashMap::default();
        let all = std::mem::take(&mut self.names.words);
        for (file, words) in all.iter().enumerate() {
            for definition in definitions(words, analysis.text(file)) {
                let name = &words[definition];
                let place = Place { file, start: name.range.start, end: name.range.end };
                let text = analysis.at(place);
                match macros.get(text) {
                    Some(&known) => self.names.things[known.0].declared.push(place),
                    None => {
                        macros.insert(text, self.thing(place, text, Meaning::Macro));
                    }
                }
            }
        }
        for (file, words) in all.iter().enumerate() {
            for word in words.iter().filter(|word| word.kind == WordKind::Ident) {
                let place = Place { file, start: word.range.start, end: word.range.end };
                if let Some(&thing) = macros.get(analysis.at(place)) {
                    self.names.occurrences.push((place, thing));
                }
            }
        }
        self.names.words = all;
    }

    /// Words of which the model as read knows nothing, and that are names of something global.
    fn unused_text(&mut self, known: &FxHashSet<Place>) {
        let analysis = self.analysis;
        let symbols = &analysis.loaded.symbols;
        let is_global = |thing: &Thing| match thing.meaning {
            Meaning::Symbol(Symbol::Variable(id)) => symbols.variable(id).scope == Scope::Global,
            Meaning::Symbol(symbol) => {
                matches!(
                    symbol,
                    Symbol::Mtype(..) | Symbol::Body(_) | Symbol::Typedef(_) | Symbol::Inline
                )
            }
            Meaning::Parameter | Meaning::Macro => false,
        };
        let things = self.names.things.iter().enumerate();
        let mut globals: FxHashMap<&str, ThingId> = FxHashMap::default();
        for (id, thing) in things.filter(|(_, thing)| is_global(thing)) {
            globals.insert(&thing.name, ThingId(id));
        }
        for thing in &self.names.things {
            if thing.meaning == Meaning::Macro {
                globals.remove(thing.name.as_str());
            }
        }
        let is_process = |name: &str| {
            let thing = globals.get(name).map(|id| &self.names.things[id.0]);
            thing.is_some_and(|thing| matches!(thing.meaning, Meaning::Symbol(Symbol::Body(_))))
        };
        let mut found = Vec::new();
        for (file, words) in self.names.words.iter().enumerate() {
            let text = analysis.text(file);
            let mut unused = Unused::default();
            for (at, word) in words.iter().enumerate() {
                unused.pass(words, at, text);
                let place = Place { file, start: word.range.start, end: word.range.end };
                if word.kind == WordKind::Ident
                    && let Some(&thing) = globals.get(analysis.at(place))
                    && !known.contains(&place)
                    && unused.may_be(&self.names.things[thing.0], words, at, text)
                    && !remote_of(words, at, text).is_some_and(is_process)
                {
                    found.push((place, thing));
                }
            }
        }
        self.names.occurrences.extend(found);
    }
}

/// The positions of the names that `#define` gives in a text.
fn definitions<'w>(words: &'w [Word], text: &'w str) -> impl Iterator<Item = usize> + 'w {
    let is = |at: usize, name: &str| {
        words.get(at).is_some_and(|word| &text[word.range.clone()] == name && word.directive)
    };
    (0..words.len()).filter(move |&at| {
        at >= 2
            && words[at].kind == WordKind::Ident
            && is(at - 1, "define")
            && words[at - 2].kind == WordKind::Hash
            && words[at].directive
    })
}

/// Reads a text for words that the model does not know.
#[derive(Default)]
struct Unused<'w> {
    /// Whether this is the text of a macro.
    in_definition: bool,
    /// The parameters of the macro.
    params: FxHashSet<&'w str>,
    /// Parentheses that are open in the text, and in that of the macro.
    parens: [usize; 2],
    /// Braces that are open in a record type.
    fields: Option<usize>,
}

impl<'w> Unused<'w> {
    fn pass(&mut self, words: &[Word], at: usize, text: &'w str) {
        let word = &words[at];
        if word.kind == WordKind::Newline {
            self.in_definition = false;
            self.params.clear();
            self.parens[1] = 0;
        }
        let parens = &mut self.parens[usize::from(word.directive)];
        match word.kind {
            WordKind::Punct(Punct::LParen) => *parens += 1,
            WordKind::Punct(Punct::RParen) => *parens = parens.saturating_sub(1),
            WordKind::Punct(Punct::LBrace) => self.fields = self.fields.map(|open| open + 1),
            WordKind::Punct(Punct::RBrace) => {
                self.fields = self.fields.filter(|&open| open > 1).map(|open| open - 1);
            }
            WordKind::Ident if &text[word.range.clone()] == "typedef" => self.fields = Some(0),
            _ => {}
        }
        let named = at >= 1 && word.directive && &text[words[at - 1].range.clone()] == "define";
        if named && word.kind == WordKind::Ident {
            self.in_definition = true;
            let rest = &words[at + 1..];
            if rest.first().is_some_and(|open| open.is(Punct::LParen) && !open.space_before) {
                let list = rest.iter().take_while(|word| !word.is(Punct::RParen));
                let idents = list.filter(|word| word.kind == WordKind::Ident);
                self.params = idents.map(|word| &text[word.range.clone()]).collect();
            }
        }
    }

    /// Whether a word can be the name of something global, and not of a label or a field.
    fn may_be(&self, thing: &Thing, words: &[Word], at: usize, text: &str) -> bool {
        let word = &words[at];
        let is_named = |word: Option<&Word>, name: &str| {
            word.is_some_and(|word| &text[word.range.clone()] == name)
        };
        let is = |word: Option<&Word>, sign: Punct| word.is_some_and(|word| word.is(sign));
        let before = written(words[..at].iter().rev());
        let after = written(words[at + 1..].iter());
        let part_of_more = is(before, Punct::Dot)
            || is(before, Punct::At)
            || before.is_some_and(|before| before.kind == WordKind::Hash)
            || is_named(before, "goto");
        let (is_process, is_type) = match thing.meaning {
            Meaning::Symbol(symbol) => {
                (matches!(symbol, Symbol::Body(_)), matches!(symbol, Symbol::Typedef(_)))
            }
            Meaning::Parameter | Meaning::Macro => (false, false),
        };
        // Colons also stand in choices, behind processes, and in `unsigned x : 3, y : 4`.
        let is_label = is(after, Punct::Colon)
            && self.parens[usize::from(word.directive)] == 0
            && !is_process
            && !is(before, Punct::Comma)
            && !is_named(before, "unsigned");
        let names_type = is_type && after.is_some_and(|after| after.kind == WordKind::Ident);
        let is_field = self.fields.is_some_and(|open| open > 0) && !names_type;
        let directive_ok = !word.directive
            || (self.in_definition && !self.params.contains(&text[word.range.clone()]));
        directive_ok && !part_of_more && !is_label && !is_field
    }
}

/// The first of some words that is not the end of a line.
fn written<'w>(mut words: impl Iterator<Item = &'w Word>) -> Option<&'w Word> {
    words.find(|word| word.kind != WordKind::Newline)
}

/// The process of which a word names a variable, as in `P[1]:x`, if it is written like that.
fn remote_of<'t>(words: &[Word], at: usize, text: &'t str) -> Option<&'t str> {
    let mut before = words[..at].iter().rev().filter(|word| word.kind != WordKind::Newline);
    before.next().filter(|word| word.is(Punct::Colon))?;
    let mut open = 0_usize;
    let process = before.find(|word| {
        open += usize::from(word.is(Punct::RBracket));
        open -= usize::from(open > 0 && word.is(Punct::LBracket));
        open == 0 && !word.is(Punct::LBracket)
    })?;
    Some(&text[process.range.clone()])
}
