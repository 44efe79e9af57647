//! What is in a text: an outline for the editor, and the places where a check can be started.

use lsp_types::{CodeLens, Command, DocumentSymbol, SymbolKind};
use spinward_promela::Span;
use spinward_promela::ast::{Body, Decl, Unit};
use spinward_promela::symbols::{BodyId, BodyInfo};

use crate::analysis::{Analysis, Place};
use crate::check::{COMMAND, Request};
use crate::describe;
use crate::names::Meaning;
use crate::text::Encoding;

/// The outline of one file of a model.
pub fn outline(analysis: &Analysis, file: usize, encoding: Encoding) -> Vec<DocumentSymbol> {
    let outline = Outline { analysis, file, encoding };
    let symbols = &analysis.loaded.symbols;
    let mut bodies = symbols.bodies.iter().zip(0..);
    let mut found = outline.macros();
    for unit in &analysis.loaded.model.units {
        let body =
            matches!(unit, Unit::Proctype(_) | Unit::Init(_) | Unit::Never(_) | Unit::Trace(_));
        let body = if body { bodies.next() } else { None };
        outline.unit(unit, body, &mut found);
    }
    found.sort_by_key(|symbol| symbol.range.start);
    found
}

struct Outline<'a> {
    analysis: &'a Analysis,
    file: usize,
    encoding: Encoding,
}

impl Outline<'_> {
    fn unit(&self, unit: &Unit, body: Option<(&BodyInfo, u32)>, found: &mut Vec<DocumentSymbol>) {
        let symbols = &self.analysis.loaded.symbols;
        match unit {
            Unit::Proctype(_) | Unit::Init(_) | Unit::Never(_) | Unit::Trace(_) => {
                let Some((body, id)) = body else { return };
                let detail = describe::head(symbols, BodyId(id));
                let kind = match unit {
                    Unit::Proctype(_) => SymbolKind::Class,
                    Unit::Init(_) => SymbolKind::Constructor,
                    _ => SymbolKind::Event,
                };
                let whole = body_span(unit).unwrap_or(body.span);
                let name = body.name.trim_matches(':');
                let mut symbol = self.symbol(name, kind, whole, body.span);
                if let Some(symbol) = &mut symbol {
                    symbol.detail = Some(detail);
                    symbol.children = Some(self.inside(body));
                }
                found.extend(symbol);
            }
            Unit::Ltl(ltl) => {
                let (name, place) = match &ltl.name {
                    Some(name) => (name.text.as_str(), name.span),
                    None => ("ltl", ltl.span),
                };
                found.extend(self.symbol(name, SymbolKind::Property, ltl.span, place));
            }
            Unit::Decl(decl) => self.variables(decl, SymbolKind::Variable, found),
            Unit::Mtype(decl) => {
                let (name, place) = match &decl.set {
                    Some(set) => (set.text.as_str(), set.span),
                    None => ("mtype", decl.span),
                };
                let mut symbol = self.symbol(name, SymbolKind::Enum, decl.span, place);
                if let Some(symbol) = &mut symbol {
                    let names = decl.names.iter().filter_map(|name| {
                        self.symbol(&name.text, SymbolKind::EnumMember, name.span, name.span)
                    });
                    symbol.children = Some(names.collect());
                }
                found.extend(symbol);
            }
            Unit::Typedef(typedef) => {
                let name = &typedef.name;
                let mut symbol =
                    self.symbol(&name.text, SymbolKind::Struct, typedef.span, name.span);
                if let Some(symbol) = &mut symbol {
                    let mut fields = Vec::new();
                    for field in &typedef.fields {
                        self.variables(field, SymbolKind::Field, &mut fields);
                    }
                    symbol.children = Some(fields);
                }
                found.extend(symbol);
            }
            Unit::Inline(inline) => {
                let name = &inline.name;
                found.extend(self.symbol(&name.text, SymbolKind::Function, inline.span, name.span));
            }
            Unit::C(_) => {}
        }
    }

    fn variables(&self, decl: &Decl, kind: SymbolKind, found: &mut Vec<DocumentSymbol>) {
        for var in &decl.vars {
            found.extend(self.symbol(&var.name.text, kind, var.span, var.name.span));
        }
    }

    /// Variables and labels of a body.
    fn inside(&self, body: &BodyInfo) -> Vec<DocumentSymbol> {
        let symbols = &self.analysis.loaded.symbols;
        let variables = body.locals.iter().map(|&id| symbols.variable(id));
        // What an inline declares is in the inline.
        let own = variables.filter(|it| !it.synthetic && !it.span.expansion.is_some());
        let variables = own.filter_map(|variable| {
            let (name, span) = (&variable.name, variable.span);
            let mut symbol = self.symbol(name, SymbolKind::Variable, span, span)?;
            symbol.detail = Some(describe::declaration(symbols, variable));
            Some(symbol)
        });
        let labels = body.labels.iter().filter(|(_, span)| !span.expansion.is_some());
        let labels =
            labels.filter_map(|(name, span)| self.symbol(name, SymbolKind::Key, *span, *span));
        variables.chain(labels).collect()
    }

    fn macros(&self) -> Vec<DocumentSymbol> {
        let things = self.analysis.names.things.iter();
        let macros = things.filter(|thing| thing.meaning == Meaning::Macro);
        macros
            .flat_map(|thing| thing.declared.iter().map(|&place| (place, &thing.name)))
            .filter(|(place, _)| place.file == self.file)
            .map(|(place, name)| self.at(name, SymbolKind::Constant, place, place))
            .collect()
    }

    /// Something in this file: all of it, and its name.
    fn symbol(
        &self,
        name: &str,
        kind: SymbolKind,
        whole: Span,
        at: Span,
    ) -> Option<DocumentSymbol> {
        let source = &self.analysis.loaded.source;
        let place = |span: Span| self.analysis.written(source.outside_macros(span));
        let (whole, at) = (place(whole), place(at));
        (at.file == self.file).then(|| self.at(name, kind, whole, at))
    }

    fn at(&self, name: &str, kind: SymbolKind, whole: Place, at: Place) -> DocumentSymbol {
        let inside = whole.file == at.file && whole.start <= at.start && at.end <= whole.end;
        let whole = if inside { whole } else { at };
        // A name is never empty for clients.
        let name = if name.trim().is_empty() { "?" } else { name };
        let (range, own) =
            (self.analysis.range(whole, self.encoding), self.analysis.range(at, self.encoding));
        DocumentSymbol::new(name.to_owned(), None, kind, None, None, range, own, None)
    }
}

/// From the head of a body to its closing brace.
pub fn body_span(unit: &Unit) -> Option<Span> {
    let to_end = |start: Span, body: &Body| start.to(body.end);
    match unit {
        Unit::Proctype(it) => Some(to_end(it.span, &it.body)),
        Unit::Init(it) => Some(to_end(it.span, &it.body)),
        Unit::Never(it) => Some(to_end(it.span, &it.body)),
        Unit::Trace(it) => Some(to_end(it.span, &it.body)),
        _ => None,
    }
}

/// Where a check can be started in a file: at properties, at processes.
pub fn lenses(analysis: &Analysis, file: usize, encoding: Encoding) -> Vec<CodeLens> {
    let source = &analysis.loaded.source;
    let mut lenses = Vec::new();
    // A file that is included is checked with the model that includes it.
    let Some(model) = analysis.files.first().and_then(|main| main.uri.clone()) else {
        return lenses;
    };
    for unit in &analysis.loaded.model.units {
        let (title, span, ltl) = match unit {
            Unit::Ltl(ltl) => match &ltl.name {
                Some(name) => (format!("check {}", name.text), ltl.span, Some(name.text.clone())),
                None => ("check".to_owned(), ltl.span, None),
            },
            Unit::Proctype(proctype) => ("check".to_owned(), proctype.span, None),
            Unit::Init(init) => ("check".to_owned(), init.span, None),
            _ => continue,
        };
        let place = analysis.written(source.outside_macros(span));
        if place.file != file {
            continue;
        }
        let request = Request { model: model.clone(), ltl };
        lenses.push(CodeLens {
            range: analysis.range(Place { end: place.start, ..place }, encoding),
            command: Some(Command {
                title,
                tooltip: Some("Runs `spinward check` on the model as it is on disk.".to_owned()),
                command: COMMAND.to_owned(),
                arguments: serde_json::to_value(request).ok().map(|request| vec![request]),
            }),
            data: None,
        });
    }
    lenses
}
