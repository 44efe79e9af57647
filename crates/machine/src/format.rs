//! What `printf` and `printm` print.

use std::fmt::Write;

use spinward_program::Program;
use spinward_program::ir::MtypeId;

/// The name of an mtype value; the number if it has none.
pub fn mtype(program: &Program, set: MtypeId, value: i32) -> String {
    let names = &program.symbols.mtype(set).values;
    match names.iter().find(|(_, v)| *v == value) {
        Some((name, _)) => name.clone(),
        None => value.to_string(),
    }
}

/// A format filled with values: `%d %c %e %o %u %x` and `%%`.
pub fn printf(program: &Program, format: &str, values: &[(i32, Option<MtypeId>)]) -> String {
    let mut out = String::new();
    let mut values = values.iter();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(kind) = chars.next() else {
            out.push('%');
            break;
        };
        if kind == '%' {
            out.push('%');
            continue;
        }
        let Some(&(value, set)) = values.next() else {
            out.push('%');
            out.push(kind);
            continue;
        };
        match kind {
            'c' => out.push(char::from(value as u8)),
            'e' => out.push_str(&mtype(program, set.unwrap_or(MtypeId(0)), value)),
            'o' => _ = write!(out, "{value:o}"),
            'u' => _ = write!(out, "{}", value as u32),
            'x' => _ = write!(out, "{value:x}"),
            _ => _ = write!(out, "{value}"),
        }
    }
    out
}
