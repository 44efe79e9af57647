//! What can be written at a place.

use lsp_types::{CompletionItem, CompletionItemKind};
use spinward_promela::ast::Unit;
use spinward_promela::preprocess::{DIRECTIVES, Word, WordKind};
use spinward_promela::symbols::{BodyId, BodyKind, Scope, Symbol, Type, VarId, Variable};
use spinward_promela::token::Punct;

use crate::analysis::Analysis;
use crate::describe;
use crate::keywords::{KEYWORDS, PREDEFINED};
use crate::names::Meaning;
use crate::outline::body_span;

/// What can be written at a byte of a file.
pub fn complete(analysis: &Analysis, file: usize, offset: usize) -> Vec<CompletionItem> {
    let words = &analysis.names.words[file];
    let text = analysis.text(file);
    let begun = words.partition_point(|word| word.range.start < offset);
    let begun = &words[..begun];
    // The word that is being written is no part of what is before it.
    let before = match begun.last() {
        Some(last) if last.range.end >= offset && last.kind == WordKind::Ident => {
            &begun[..begun.len() - 1]
        }
        _ => begun,
    };
    if outside_of_code(text, begun, offset) {
        return Vec::new();
    }
    let place = Place { analysis, file, offset, text, before };
    let last = before.last().map(|word| (word.kind, &text[word.range.clone()]));
    match last {
        Some((WordKind::Punct(Punct::Dot), _)) => place.fields(),
        Some((WordKind::Punct(Punct::At), _)) => place.labels(place.process_before_at()),
        Some((WordKind::Ident, "goto")) => place.labels(place.body()),
        Some((WordKind::Ident, "run")) => place.processes(),
        Some((WordKind::Hash, _)) if before.last().is_some_and(|word| word.directive) => {
            let words = DIRECTIVES.iter();
            words.map(|word| item(word, CompletionItemKind::Keyword, "")).collect()
        }
        _ => place.all(),
    }
}

/// Whether a place is in a comment, a string or a number.
fn outside_of_code(text: &str, begun: &[Word], offset: usize) -> bool {
    let Some(last) = begun.last() else {
        return in_comment(&text[..offset]);
    };
    let inside = offset < last.range.end;
    match last.kind {
        WordKind::Quoted => inside || in_comment(&text[last.range.end.min(offset)..offset]),
        WordKind::Other | WordKind::Number => offset <= last.range.end,
        _ if inside => false,
        _ => in_comment(&text[last.range.end..offset]),
    }
}

/// Whether white space with comments ends in a comment.
fn in_comment(mut gap: &str) -> bool {
    while let Some(start) = gap.find('/') {
        let rest = &gap[start..];
        match rest.strip_prefix("/*") {
            Some(inside) => match inside.find("*/") {
                Some(end) => gap = &inside[end + 2..],
                None => return true,
            },
            None => return rest.starts_with("//"),
        }
    }
    false
}

fn item(label: &str, kind: CompletionItemKind, detail: &str) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail: Some(detail.to_owned()).filter(|detail| !detail.is_empty()),
        ..CompletionItem::default()
    }
}

/// The place where something is written.
struct Place<'a> {
    analysis: &'a Analysis,
    file: usize,
    offset: usize,
    text: &'a str,
    /// The words before.
    before: &'a [Word],
}

impl Place<'_> {
    /// The body around.
    fn body(&self) -> Option<BodyId> {
        let loaded = &self.analysis.loaded;
        let bodies = loaded.symbols.bodies.iter().zip(0..);
        let mut around = bodies.filter(|(body, _)| {
            let span = loaded.model.units.get(body.unit).and_then(body_span);
            span.is_some_and(|span| {
                let place = self.analysis.written(loaded.source.outside_macros(span));
                place.file == self.file && (place.start..=place.end).contains(&self.offset)
            })
        });
        around.next().map(|(_, id)| BodyId(id))
    }

    /// The process type of `P@` or `P[e]@`.
    fn process_before_at(&self) -> Option<BodyId> {
        let (_, words) = self.before.split_last()?;
        let (name, _) = self.reference(words)?;
        let bodies = &self.analysis.loaded.symbols.bodies;
        let found = bodies.iter().position(|it| it.kind == BodyKind::Proctype && it.name == name);
        found.map(|id| BodyId(id as u32))
    }

    /// The name at the end of some words, behind which an index may stand, and the words before it.
    fn reference<'w>(&self, words: &'w [Word]) -> Option<(&str, &'w [Word])> {
        let mut rest = words;
        let mut depth = 0usize;
        loop {
            let (last, before) = rest.split_last()?;
            match last.kind {
                WordKind::Punct(Punct::RBracket) => depth += 1,
                WordKind::Punct(Punct::LBracket) => depth = depth.checked_sub(1)?,
                WordKind::Ident if depth == 0 => {
                    return Some((&self.text[last.range.clone()], before));
                }
                _ if depth == 0 => return None,
                _ => {}
            }
            rest = before;
        }
    }

    /// The fields of the record before the dot.
    fn fields(&self) -> Vec<CompletionItem> {
        let symbols = &self.analysis.loaded.symbols;
        let Some(record) = self.record_before_dot(self.before) else {
            return Vec::new();
        };
        let Type::Struct(typedef) = symbols.variable(record).ty else {
            return Vec::new();
        };
        let fields = symbols.typedef(typedef).fields.iter().map(|&id| symbols.variable(id));
        fields.map(|field| self.variable(field, CompletionItemKind::Field)).collect()
    }

    /// The variable before the dot at the end of some words.
    fn record_before_dot(&self, words: &[Word]) -> Option<VarId> {
        let symbols = &self.analysis.loaded.symbols;
        let mut path = Vec::new();
        let mut rest = words;
        while let Some((dot, before)) = rest.split_last() {
            if !dot.is(Punct::Dot) {
                break;
            }
            let (name, earlier) = self.reference(before)?;
            path.push(name);
            rest = earlier;
        }
        let first = path.pop()?;
        let mut current =
            self.variables().into_iter().find(|&id| symbols.variable(id).name == first)?;
        while let Some(name) = path.pop() {
            let Type::Struct(typedef) = symbols.variable(current).ty else {
                return None;
            };
            let mut fields = symbols.typedef(typedef).fields.iter();
            current = *fields.find(|&&id| symbols.variable(id).name == name)?;
        }
        Some(current)
    }

    fn labels(&self, body: Option<BodyId>) -> Vec<CompletionItem> {
        let Some(body) = body else { return Vec::new() };
        let labels = &self.analysis.loaded.symbols.body(body).labels;
        let mut names: Vec<&str> = labels.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.iter().map(|name| item(name, CompletionItemKind::Reference, "label")).collect()
    }

    fn processes(&self) -> Vec<CompletionItem> {
        let symbols = &self.analysis.loaded.symbols;
        let bodies = symbols.bodies.iter().zip(0..);
        let types = bodies.filter(|(body, _)| body.kind == BodyKind::Proctype);
        let item = |name: &str, id| {
            item(name, CompletionItemKind::Class, &describe::head(symbols, BodyId(id)))
        };
        types.map(|(body, id)| item(&body.name, id)).collect()
    }

    /// The variables in sight, those of the body first.
    fn variables(&self) -> Vec<VarId> {
        let symbols = &self.analysis.loaded.symbols;
        let body = self.body();
        let locals = body.map_or(&[][..], |body| &symbols.body(body).locals);
        let in_sight = |&&id: &&VarId| {
            let variable = symbols.variable(id);
            !variable.synthetic && (variable.parameter || self.in_sight(variable))
        };
        locals.iter().filter(in_sight).chain(&symbols.globals).copied().collect()
    }

    /// Whether the block in which a variable is declared is still open here.
    fn in_sight(&self, variable: &Variable) -> bool {
        let place = self.analysis.written(variable.span);
        if variable.span.expansion.is_some() || place.file != self.file {
            return true;
        }
        if place.start >= self.offset {
            return false;
        }
        let first = self.before.partition_point(|word| word.range.start < place.end);
        let mut depth = 0i32;
        for word in &self.before[first..] {
            match word.kind {
                WordKind::Punct(Punct::LBrace) => depth += 1,
                WordKind::Punct(Punct::RBrace) => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                return false;
            }
        }
        true
    }

    fn variable(&self, variable: &Variable, kind: CompletionItemKind) -> CompletionItem {
        let detail = describe::declaration(&self.analysis.loaded.symbols, variable);
        item(&variable.name, kind, &detail)
    }

    /// The parameters of the inline around.
    fn parameters(&self) -> Vec<CompletionItem> {
        let loaded = &self.analysis.loaded;
        let inlines = loaded.model.units.iter().filter_map(|unit| match unit {
            Unit::Inline(inline) => Some(inline),
            _ => None,
        });
        let around = inlines.filter(|inline| {
            let place = self.analysis.written(loaded.source.outside_macros(inline.span));
            place.file == self.file && (place.start..=place.end).contains(&self.offset)
        });
        let params = around.flat_map(|inline| &inline.params);
        params.map(|it| item(&it.text, CompletionItemKind::Variable, "parameter")).collect()
    }

    fn all(&self) -> Vec<CompletionItem> {
        let symbols = &self.analysis.loaded.symbols;
        let mut items: Vec<CompletionItem> = self
            .variables()
            .iter()
            .map(|&id| {
                let variable = symbols.variable(id);
                let kind = match variable.scope {
                    Scope::Field(_) => CompletionItemKind::Field,
                    Scope::Global | Scope::Local(_) => CompletionItemKind::Variable,
                };
                self.variable(variable, kind)
            })
            .collect();
        items.extend(self.parameters());
        items.extend(self.processes());
        for set in &symbols.mtypes {
            let detail =
                set.name.as_ref().map_or("mtype".to_owned(), |name| format!("mtype:{name}"));
            let values = set.values.iter();
            items.extend(
                values.map(|(name, _)| item(name, CompletionItemKind::EnumMember, &detail)),
            );
        }
        for thing in &self.analysis.names.things {
            match thing.meaning {
                Meaning::Macro => {
                    items.push(item(&thing.name, CompletionItemKind::Constant, "macro"));
                }
                Meaning::Symbol(Symbol::Inline) => {
                    items.push(item(&thing.name, CompletionItemKind::Function, "inline"));
                }
                Meaning::Symbol(Symbol::Typedef(_)) => {
                    items.push(item(&thing.name, CompletionItemKind::Struct, "typedef"));
                }
                _ => {}
            }
        }
        let words = KEYWORDS.iter().map(|it| (it, CompletionItemKind::Keyword));
        let predefined = PREDEFINED.iter().map(|it| (it, CompletionItemKind::Variable));
        items.extend(words.chain(predefined).map(|((word, use_), kind)| item(word, kind, use_)));
        items
    }
}
