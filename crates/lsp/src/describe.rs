//! What things are, in words.

use spinward_program::ranges::Interval;
use spinward_promela::ast::{Unit, Visibility};
use spinward_promela::preprocess::{Word, WordKind};
use spinward_promela::symbols::{
    BodyId, BodyKind, MtypeId, Scope, Symbol, Symbols, Type, Variable,
};

use crate::analysis::{Analysis, Place};
use crate::names::{Meaning, Thing};

/// Characters of a macro or formula that are shown.
const MAX_TEXT: usize = 500;
/// Names of a set that are shown.
const MAX_NAMES: usize = 20;

/// What something is: how it is declared, and what else is known.
pub fn thing(analysis: &Analysis, thing: &Thing) -> String {
    let symbols = &analysis.loaded.symbols;
    let (code, words) = match thing.meaning {
        Meaning::Symbol(symbol) => match symbol {
            Symbol::Variable(id) => {
                let variable = symbols.variable(id);
                let mut words = role(symbols, variable);
                words += &values(symbols, variable);
                words += &inferred(analysis, variable);
                (declaration(symbols, variable), words)
            }
            Symbol::Mtype(set, value) => {
                (format!("{} = {{ {} }}", set_name(symbols, set), thing.name), value_of(value))
            }
            Symbol::MtypeSet(set) => (names_of(symbols, set), "A set of names.".to_owned()),
            Symbol::Body(id) => (head(symbols, id), processes(symbols, id)),
            Symbol::Typedef(id) => {
                let fields = symbols.typedef(id).fields.iter();
                let lines = fields.map(|&field| {
                    format!("    {};\n", declaration(symbols, symbols.variable(field)))
                });
                let fields: String = lines.collect();
                (format!("typedef {} {{\n{fields}}}", thing.name), "A record type.".to_owned())
            }
            Symbol::Label(body, _) => {
                let body = body_name(symbols, body);
                (format!("{}:", thing.name), format!("A label of {body}.{}", special(&thing.name)))
            }
            Symbol::Inline => {
                (inline_head(analysis, thing), "An inline: its body stands for a call.".to_owned())
            }
            Symbol::Ltl => (formula(analysis, thing), "A temporal property.".to_owned()),
            Symbol::Predefined(_) => (thing.name.clone(), String::new()),
        },
        Meaning::Parameter => {
            (thing.name.clone(), "A parameter of an inline: an argument stands for it.".to_owned())
        }
        Meaning::Macro => {
            let texts = thing.declared.iter().map(|&place| definition(analysis, place));
            (texts.collect::<Vec<_>>().join("\n"), "A macro.".to_owned())
        }
    };
    format!("```promela\n{code}\n```\n{words}")
}

/// A variable as it is declared, without what it starts with; a channel with its messages.
pub fn declaration(symbols: &Symbols, variable: &Variable) -> String {
    let prefix = match variable.visibility {
        Some(Visibility::Hidden) => "hidden ",
        Some(Visibility::Show) => "show ",
        Some(Visibility::Local) => "local ",
        None => "",
    };
    let mut text = format!("{prefix}{} {}", type_name(symbols, variable.ty), variable.name);
    if let Type::Unsigned(bits) = variable.ty {
        text += &format!(" : {bits}");
    }
    if let Some(length) = variable.array {
        text += &format!("[{length}]");
    }
    if let Some(channel) = &variable.channel {
        let fields = channel.fields.iter().map(|&ty| type_name(symbols, ty));
        let fields = fields.collect::<Vec<_>>().join(", ");
        text += &format!(" = [{}] of {{ {fields} }}", channel.capacity);
    }
    text
}

fn type_name(symbols: &Symbols, ty: Type) -> String {
    match ty {
        Type::Bit => "bit".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Byte => "byte".to_owned(),
        Type::Pid => "pid".to_owned(),
        Type::Short => "short".to_owned(),
        Type::Int => "int".to_owned(),
        Type::Unsigned(_) => "unsigned".to_owned(),
        Type::Mtype(set) => set_name(symbols, set),
        Type::Chan => "chan".to_owned(),
        Type::Struct(typedef) => symbols.typedef(typedef).name.clone(),
    }
}

fn set_name(symbols: &Symbols, set: MtypeId) -> String {
    match &symbols.mtype(set).name {
        Some(name) => format!("mtype:{name}"),
        None => "mtype".to_owned(),
    }
}

fn names_of(symbols: &Symbols, set: MtypeId) -> String {
    let values = &symbols.mtype(set).values;
    let mut names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    if names.len() > MAX_NAMES {
        names.truncate(MAX_NAMES);
        names.push("...");
    }
    format!("{} = {{ {} }}", set_name(symbols, set), names.join(", "))
}

fn value_of(value: i32) -> String {
    format!("A name; its value is {value}.")
}

fn role(symbols: &Symbols, variable: &Variable) -> String {
    match variable.scope {
        Scope::Global => "A global variable.".to_owned(),
        Scope::Field(typedef) => format!("A field of `{}`.", symbols.typedef(typedef).name),
        Scope::Local(body) if variable.parameter => {
            format!("A parameter of {}.", body_name(symbols, body))
        }
        Scope::Local(body) => format!("A variable of {}.", body_name(symbols, body)),
    }
}

/// What a variable can hold by its type.
fn values(symbols: &Symbols, variable: &Variable) -> String {
    match (variable.ty, type_range(variable)) {
        (Type::Mtype(set), _) => format!(" It holds 0 or a name of `{}`.", names_of(symbols, set)),
        (_, Some((from, to))) => format!(" Its type holds {from} to {to}."),
        _ => String::new(),
    }
}

/// The least and the greatest number that fit into a variable.
fn type_range(variable: &Variable) -> Option<(i64, i64)> {
    match variable.ty {
        // Arrays of bits are held in bytes.
        Type::Bit | Type::Bool if variable.array.is_none() => Some((0, 1)),
        Type::Bit | Type::Bool | Type::Byte | Type::Pid => Some((0, 255)),
        Type::Short => Some((i16::MIN.into(), i16::MAX.into())),
        Type::Int => Some((i32::MIN.into(), i32::MAX.into())),
        Type::Unsigned(bits) => Some((0, (1 << bits) - 1)),
        Type::Mtype(_) | Type::Chan | Type::Struct(_) => None,
    }
}

/// What a variable can be in any run, where that is less than fits into it.
fn inferred(analysis: &Analysis, variable: &Variable) -> String {
    let known = type_range(variable).zip(analysis.range_of(variable));
    match known {
        Some((_, Interval { low, high })) if low == high => format!(" Here it is always {low}."),
        Some((all, Interval { low, high })) if all != (low.into(), high.into()) => {
            format!(" Here it is never less than {low} nor more than {high}.")
        }
        _ => String::new(),
    }
}

/// The first line of a process or claim.
pub fn head(symbols: &Symbols, id: BodyId) -> String {
    let body = symbols.body(id);
    match body.kind {
        BodyKind::Proctype => {
            let params = body.params.iter();
            let params = params.map(|&param| declaration(symbols, symbols.variable(param)));
            let params = params.collect::<Vec<_>>().join("; ");
            let active = match body.active {
                0 => String::new(),
                1 => "active ".to_owned(),
                n => format!("active [{n}] "),
            };
            format!("{active}proctype {}({params})", body.name)
        }
        BodyKind::Init => "init".to_owned(),
        BodyKind::Never => format!("never {}", body.name),
        BodyKind::Trace => "trace".to_owned(),
        BodyKind::NoTrace => "notrace".to_owned(),
    }
}

fn processes(symbols: &Symbols, id: BodyId) -> String {
    let body = symbols.body(id);
    match (body.kind, body.active) {
        (BodyKind::Proctype, 0) => "A process type. `run` starts a process.".to_owned(),
        (BodyKind::Proctype, 1) => "A process type. One process starts by itself.".to_owned(),
        (BodyKind::Proctype, n) => format!("A process type. {n} processes start by themselves."),
        _ => "A claim.".to_owned(),
    }
}

/// A body as it is called in a sentence.
fn body_name(symbols: &Symbols, id: BodyId) -> String {
    let body = symbols.body(id);
    match body.kind {
        BodyKind::Proctype | BodyKind::Never => format!("`{}`", body.name),
        BodyKind::Init => "`init`".to_owned(),
        BodyKind::Trace => "`trace`".to_owned(),
        BodyKind::NoTrace => "`notrace`".to_owned(),
    }
}

/// What a label's name says to a check.
pub fn special(name: &str) -> &'static str {
    if name.starts_with("end") {
        " A process may stay here for ever: it is a valid end state."
    } else if name.starts_with("accept") {
        " A run that comes here again and again is an acceptance cycle."
    } else if name.starts_with("progress") {
        " A run that comes here again and again makes progress."
    } else {
        ""
    }
}

fn inline_head(analysis: &Analysis, thing: &Thing) -> String {
    let inlines = analysis.loaded.model.units.iter().filter_map(|unit| match unit {
        Unit::Inline(inline) => Some(inline),
        _ => None,
    });
    let mut found = inlines.filter(|inline| inline.name.text == thing.name);
    let params = found.next().map_or_else(String::new, |inline| {
        inline.params.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join(", ")
    });
    format!("inline {}({params})", thing.name)
}

fn formula(analysis: &Analysis, thing: &Thing) -> String {
    let mut properties = analysis.loaded.model.units.iter().filter_map(|unit| match unit {
        Unit::Ltl(ltl) => Some(ltl),
        _ => None,
    });
    let is_it = |name: &str| name == thing.name;
    let found = properties.find(|ltl| ltl.name.as_ref().is_some_and(|name| is_it(&name.text)));
    let text = found
        .map_or_else(String::new, |ltl| shorten(&spinward_promela::pretty::expr(&ltl.formula)));
    format!("ltl {} {{ {text} }}", thing.name)
}

/// The line of a macro, from its name on.
fn definition(analysis: &Analysis, name: Place) -> String {
    let words = &analysis.names.words[name.file];
    let first = words.partition_point(|word| word.range.start < name.start);
    let ends = |word: &&Word| !word.directive || word.kind == WordKind::Newline;
    let line = words[first..].iter().take_while(|word| !ends(word));
    let end = line.last().map_or(name.end, |word| word.range.end);
    let text = analysis.at(Place { end, ..name });
    format!("#define {}", shorten(text.trim_end()))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}
