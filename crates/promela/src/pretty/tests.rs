use super::*;
use crate::ast::{Model, StmtKind, Unit};
use crate::parser::tests::accepted;

/// A tree as text, without places and numbers of names.
fn shape(model: &Model) -> String {
    let text = format!("{:?}", model.units);
    let mut shape = String::new();
    let mut rest = text.as_str();
    loop {
        let next = ["Span {", "NameId(", "after_newline: "]
            .iter()
            .filter_map(|start| rest.find(start))
            .min();
        let Some(at) = next else {
            return shape + rest;
        };
        shape += &rest[..at];
        rest = &rest[at..];
        let end = if rest.starts_with("Span") {
            rest.find('}')
        } else if rest.starts_with("NameId") {
            rest.find(')')
        } else {
            rest.find("e }").map(|n| n.max(1))
        };
        rest = &rest[end.unwrap_or(0) + 1..];
    }
}

#[track_caller]
fn round_trip(text: &str) -> String {
    let tree = accepted(text);
    let printed = model(&tree);
    let again = accepted(&printed);
    assert_eq!(shape(&tree), shape(&again), "{printed}");
    assert_eq!(printed, model(&again), "printing is not stable");
    printed
}

#[test]
fn probe() {
    let Ok(list) = std::env::var("CORPUS") else {
        return;
    };
    for path in list.split_whitespace() {
        let text = std::fs::read_to_string(path).unwrap();
        let (_, _, d) = crate::parser::tests::parse_text(&text);
        if d.iter().any(|d| d.is_error()) {
            continue;
        }
        println!("== {path}");
        let s = round_trip(&text);
        std::fs::write(format!("{path}.pretty"), s).unwrap();
    }
}
