//! Every code of a message has a page, and what the page says is so: its wrong model gives the code and no other, its
//! mended model gives none.

mod common;

use common::Place;

/// Codes whose pages have no model: the docs test runs the command in them, or they only sum up others.
const WITHOUT_MODEL: [&str; 4] = ["E0101", "E0410", "E0413", "E0906"];

/// The codes of all messages about a model, and whether there was a check.
fn codes(place: &Place, model: &str) -> (Vec<String>, bool) {
    place.write("model.pml", model);
    let args = ["check", "-q", "--format", "json", "--max-states", "500", "--trail", "/dev/null"];
    let json = place.run(&[&args[..], &["model.pml"]].concat()).json();
    let diagnostics = json["diagnostics"].as_array().expect("a list").iter();
    let codes = diagnostics.map(|it| it["code"].as_str().expect("a code").to_owned()).collect();
    (codes, json["verdict"] != "error")
}

/// The model of a page that is of this kind.
fn model<'p>(page: &'p str, kind: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(&format!("```promela {kind}\n"))?;
    rest.split_once("```").map(|(model, _)| model)
}

#[test]
fn what_the_pages_say_is_so() {
    let chapter =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/messages.md");
    let chapter = std::fs::read_to_string(chapter).expect("the chapter");
    let place = Place::new();
    let mut wrong = Vec::new();
    let mut number = 0;
    for page in chapter.split("\n### ").skip(1) {
        let (code, _) = page.split_once(':').expect("a code");
        if WITHOUT_MODEL.contains(&code) {
            continue;
        }
        number += 1;
        let model =
            |kind| model(page, kind).unwrap_or_else(|| panic!("{code} has no {kind} model"));
        let (told, checked) = codes(&place, model("wrong"));
        if told.is_empty() || told.iter().any(|it| it != code) || checked != code.starts_with('W') {
            wrong.push(format!("{code}: the wrong model gives {told:?}"));
        }
        let (told, checked) = codes(&place, model("mended"));
        if !told.is_empty() || !checked {
            wrong.push(format!("{code}: the mended model gives {told:?}"));
        }
    }
    assert!(number > 100, "pages are missing");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_page_is_found_however_its_code_is_written() {
    let place = Place::new();
    for code in ["E0301", "e0301", "error[E0301]", "[E0301]:"] {
        place.run(&["explain", code]).code(0).out("E0301: a name that is not declared\n");
    }
    place.run(&["explain"]).code(0).out("\nW0305  a value that does not fit\n");
    place.run(&["explain", "E0391"]).code(2).err("did you mean E03").err("lists them");
    place.run(&["explain", "banana"]).code(2).err("there is no code 'banana' (");
    let colours = place.run(&["explain", "--color", "always", "E0301"]).code(0);
    assert!(colours.out.starts_with("\x1b[1mE0301"), "{colours:?}");
}
