//! Whatever a text has become, the server answers: all questions about mutants of `models/`, at places
//! anywhere in them. A panic is answered as an internal error, which no answer may be.

mod common;

use std::path::Path;

use common::Client;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

const URI: &str = "untitled:mutant.pml";
const INTERNAL_ERROR: i32 = -32603;

/// What is put into a text.
const SCRAPS: [&str; 24] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "::",
    "->",
    ";",
    ".",
    "@",
    "#define x(a) a##a\n",
    "#if 1\n",
    "/*",
    "\"",
    "goto ",
    "run ",
    "inline f(a) { a = 1 }\n",
    "mtype = { x }\n",
    "typedef T { byte b }\n",
    "é\u{1d11e}\r",
    "ltl p { [] x }\n",
    "\n#include \"mutant.pml\"\n",
    "c_code { x }",
];

fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a model")).collect()
}

/// The nearest place where a character begins.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Cuts a piece out, puts a scrap in, or moves a piece.
fn mutate(text: &mut String, kind: u8, from: Index, length: usize, to: Index, scrap: Index) {
    let from = boundary(text, from.index(text.len() + 1));
    let end = boundary(text, (from + length).min(text.len()));
    match kind {
        0 => text.replace_range(from..end, ""),
        1 => text.insert_str(from, SCRAPS[scrap.index(SCRAPS.len())]),
        _ => {
            let piece = text[from..end].to_owned();
            let to = boundary(text, to.index(text.len() + 1));
            text.insert_str(to, &piece);
        }
    }
}

/// All questions about a text, at a place.
fn questions(line: usize, character: usize) -> Vec<(&'static str, Value)> {
    let document = json!({ "textDocument": { "uri": URI } });
    let position = json!({ "position": { "line": line, "character": character } });
    let style = json!({ "options": { "tabSize": 4, "insertSpaces": true } });
    let with = |parts: &[&Value]| {
        let mut all = document.clone();
        for part in parts {
            let part = part.as_object().expect("an object").clone();
            all.as_object_mut().expect("an object").extend(part);
        }
        all
    };
    let range = json!({ "range": {
        "start": { "line": line, "character": character },
        "end": { "line": line + 3, "character": 0 },
    } });
    vec![
        ("textDocument/hover", with(&[&position])),
        ("textDocument/definition", with(&[&position])),
        (
            "textDocument/references",
            with(&[&position, &json!({ "context": { "includeDeclaration": true } })]),
        ),
        ("textDocument/documentHighlight", with(&[&position])),
        ("textDocument/prepareRename", with(&[&position])),
        ("textDocument/rename", with(&[&position, &json!({ "newName": "fresh" })])),
        ("textDocument/completion", with(&[&position])),
        ("textDocument/documentSymbol", with(&[])),
        ("textDocument/codeLens", with(&[])),
        ("textDocument/formatting", with(&[&style])),
        ("textDocument/rangeFormatting", with(&[&style, &range])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_question_about_a_mutant_is_answered(
        model in any::<Index>(),
        mutations in prop::collection::vec(
            (0..3u8, any::<Index>(), 1..200usize, any::<Index>(), any::<Index>()),
            0..6,
        ),
        places in prop::collection::vec(any::<Index>(), 4),
    ) {
        let models = models();
        let mut text = models[model.index(models.len())].clone();
        let mut client = Client::new(json!({ "capabilities": {} }));
        client.open(URI, &text);
        let mut version = 1;
        for (kind, from, length, to, scrap) in mutations {
            mutate(&mut text, kind, from, length, to, scrap);
            version += 1;
            let change = json!({
                "textDocument": { "uri": URI, "version": version },
                "contentChanges": [{ "text": text }],
            });
            client.tell("textDocument/didChange", change);
        }
        for place in places {
            let offset = boundary(&text, place.index(text.len() + 1));
            let line = text[..offset].matches('\n').count();
            let column = offset - text[..offset].rfind('\n').map_or(0, |at| at + 1);
            for (method, params) in questions(line, column) {
                if let Err(refusal) = client.ask(method, params) {
                    prop_assert_ne!(refusal.code, INTERNAL_ERROR, "{}\n{}", method, text);
                }
            }
        }
        prop_assert!(client.close());
    }
}
