//! Conversations with the server.

mod common;

use common::{Client, at};
use lsp_server::Message;
use serde_json::{Value, json};

const URI: &str = "untitled:model.pml";

const MODEL: &str = "\
#define LIMIT 3
mtype = { request, answer };
typedef Packet { byte number; mtype kind };
chan wire = [2] of { byte, mtype };
Packet last;
inline put(it, what) { wire!it,what; last.number = it }
active [2] proctype Sender(byte start)
{
    byte count;
again:
    if
    :: count < LIMIT -> put(count, request); count++; goto again
    :: else
    fi
}
proctype Other() { byte inner; { byte hidden_here; skip }; run Other() }
ltl done { <> (last.number == LIMIT) }
";

/// The place of the n-th occurrence (from 0) of a text, as line and character.
fn find(text: &str, what: &str, n: usize) -> (u32, u32) {
    let (offset, _) = text.match_indices(what).nth(n).expect("it is there");
    let line = text[..offset].matches('\n').count();
    let column = offset - text[..offset].rfind('\n').map_or(0, |it| it + 1);
    (line as u32, column as u32)
}

/// A question about the n-th occurrence of a text in the model.
fn about(what: &str, n: usize) -> Value {
    let (line, character) = find(MODEL, what, n);
    at(URI, line, character)
}

fn with(mut params: Value, more: Value) -> Value {
    let fields = params.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    params
}

fn client() -> Client {
    let client = Client::new(json!({ "capabilities": {} }));
    client.open(URI, MODEL);
    client
}

/// Where ranges of an answer begin: (line, character).
fn starts(answer: &Value) -> Vec<(u64, u64)> {
    let list = answer.as_array().expect("a list").iter();
    list.map(|it| {
        let start = &it["range"]["start"];
        (start["line"].as_u64().expect("a line"), start["character"].as_u64().expect("a column"))
    })
    .collect()
}

fn labels(answer: &Value) -> Vec<&str> {
    let list = answer.as_array().expect("a list").iter();
    list.map(|it| it["label"].as_str().expect("text")).collect()
}

/// A text after some edits, which are in units of UTF-16 and not in each other's way.
fn edited(text: &str, edits: &Value) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let mut edits: Vec<&Value> = edits.as_array().expect("a list").iter().collect();
    let start = |edit: &Value| {
        let start = &edit["range"]["start"];
        (start["line"].as_u64(), start["character"].as_u64())
    };
    edits.sort_by_key(|edit| start(edit));
    for edit in edits.iter().rev() {
        let range = &edit["range"];
        let place = |end: &str, part: &str| range[end][part].as_u64().expect("a number") as usize;
        assert_eq!(place("start", "line"), place("end", "line"), "an edit of one line");
        let line: &mut String = &mut lines[place("start", "line")];
        let units: Vec<u16> = line.encode_utf16().collect();
        let (from, to) = (place("start", "character"), place("end", "character"));
        let new = edit["newText"].as_str().expect("text");
        let text = |units: &[u16]| String::from_utf16(units).expect("text");
        *line = text(&units[..from]) + new + &text(&units[to..]);
    }
    lines.join("\n")
}

#[test]
fn mistakes_are_told_while_one_types() {
    let mut client = client();
    assert_eq!(client.diagnostics(URI), [""; 0]);
    let change = |client: &Client, version: i32, edit: Value| {
        let document = json!({ "uri": URI, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [edit] });
        client.tell("textDocument/didChange", params);
    };
    let (line, character) = find(MODEL, "count++", 0);
    let range = json!({
        "start": { "line": line, "character": character },
        "end": { "line": line, "character": character + 5 },
    });
    change(&client, 2, json!({ "range": range, "text": "cuont" }));
    let told = client.diagnostics(URI);
    assert!(told.len() == 1 && told[0].contains("cuont") && told[0].contains("did you mean"));
    change(&client, 3, json!({ "range": range, "text": "count" }));
    assert_eq!(client.diagnostics(URI), [""; 0]);
    // A text as a whole, and one that is empty.
    change(&client, 4, json!({ "text": "byte x" }));
    change(&client, 5, json!({ "text": "" }));
    let _ = client.diagnostics(URI);
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    assert!(client.close());
}

#[test]
fn names_are_explained() {
    let mut client = client();
    let mut hover = |what: &str, n: usize| {
        let answer = client.ask("textDocument/hover", about(what, n)).expect("an answer");
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert!(hover("count", 1).contains("byte count"), "a variable");
    assert!(hover("count", 1).contains("`Sender`"));
    assert!(hover("start", 0).contains("holds 0 to 255. Here it is always 0."));
    assert!(
        hover("count", 1).contains("never less than 0 nor more than 3"),
        "{}",
        hover("count", 1)
    );
    assert!(hover("wire", 0).contains("chan wire = [2] of { byte, mtype }"));
    assert!(hover("last.number", 1).contains("Packet last"));
    assert!(hover("number", 2).contains("field of `Packet`"), "{}", hover("number", 2));
    assert!(hover("request", 1).contains("its value is 2"));
    assert!(hover("LIMIT", 1).contains("#define LIMIT 3"));
    assert!(hover("again", 1).contains("label of `Sender`"));
    assert!(hover("put", 1).contains("inline put(it, what)"));
    assert!(hover("it,", 0).contains("parameter"));
    assert!(hover("Other", 1).contains("proctype Other()"));
    assert!(hover("done", 0).contains("<> (last.number == 3)"), "{}", hover("done", 0));
    assert!(hover("goto", 0).contains("label"), "a keyword");
    assert_eq!(hover("{ byte number", 0), "", "nothing to tell");
    // A macro ends with its line, or with the line that goes on with it.
    let uri = "untitled:macros.pml";
    client.open(uri, "#define ONE 1\n#define TWO ONE + \\\n    ONE\n#define THREE 3\n");
    let mut hover = |line| client.ask("textDocument/hover", at(uri, line, 8)).expect("an answer");
    let shown = hover(0)["contents"]["value"].clone();
    assert_eq!(shown, "```promela\n#define ONE 1\n```\nA macro.");
    let shown = hover(1)["contents"]["value"].clone();
    assert_eq!(shown, "```promela\n#define TWO ONE + \\\n    ONE\n```\nA macro.");
    assert!(client.close());
}

#[test]
fn names_are_found() {
    let mut client = client();
    let mut definition = |what: &str, n: usize| {
        starts(&client.ask("textDocument/definition", about(what, n)).expect("an answer"))
    };
    let place = |what: &str, n: usize| {
        let (line, character) = find(MODEL, what, n);
        (u64::from(line), u64::from(character))
    };
    assert_eq!(definition("count", 2), [place("count", 0)]);
    assert_eq!(definition("again", 1), [place("again", 0)]);
    assert_eq!(definition("put", 1), [place("put", 0)]);
    assert_eq!(definition("request", 1), [place("request", 0)]);
    assert_eq!(definition("number", 2), [place("number", 0)]);
    assert_eq!(definition("LIMIT", 2), [place("LIMIT", 0)]);
    assert_eq!(definition("it,", 1), [place("it,", 0)], "a parameter of an inline");
    // The text of an inline, by what it stands for in a call.
    assert_eq!(definition("wire", 1), [place("wire", 0)]);

    let mut references = |what: &str, n: usize, declaration: bool| {
        let context = json!({ "context": { "includeDeclaration": declaration } });
        let params = with(about(what, n), context);
        starts(&client.ask("textDocument/references", params).expect("an answer"))
    };
    let uses = [place("count", 1), place("count", 2), place("count", 3)];
    assert_eq!(references("count", 0, false), uses);
    assert_eq!(references("count", 0, true).len(), 4);
    assert_eq!(references("LIMIT", 0, true).len(), 3);
    assert_eq!(references("Sender", 0, true).len(), 1);

    let marks = client.ask("textDocument/documentHighlight", about("wire", 0)).expect("an answer");
    assert_eq!(starts(&marks), [place("wire", 0), place("wire", 1)]);
    assert!(client.close());
}

#[test]
fn names_are_changed_or_it_is_said_why_not() {
    let mut client = client();
    let mut rename = |what: &str, n: usize, name: &str| {
        let params = with(about(what, n), json!({ "newName": name }));
        match client.ask("textDocument/rename", params) {
            Ok(edit) => edited(MODEL, &edit["changes"][URI]),
            Err(refusal) => format!("refused: {}", refusal.message),
        }
    };
    assert_eq!(rename("count", 2, "total"), MODEL.replace("count", "total"));
    assert_eq!(rename("again", 1, "more"), MODEL.replace("again", "more"));
    assert_eq!(rename("Packet", 0, "Message"), MODEL.replace("Packet", "Message"));
    assert_eq!(rename("number", 1, "no"), MODEL.replace("number", "no"));
    assert_eq!(rename("request", 0, "ask"), MODEL.replace("request", "ask"));
    assert_eq!(rename("put", 1, "give"), MODEL.replace("put", "give"));
    assert_eq!(rename("what", 0, "kind"), MODEL.replace("what", "kind"));
    assert_eq!(rename("done", 0, "finished"), MODEL.replace("done", "finished"));

    assert!(rename("count", 0, "start").contains("cannot be renamed"), "a clash");
    assert!(rename("wire", 0, "count").contains("cannot be renamed"), "a clash further on");
    assert!(
        rename("what", 0, "last").contains("cannot be renamed"),
        "{}",
        rename("what", 0, "last")
    );
    assert!(rename("LIMIT", 1, "MOST").contains("macro"));
    assert!(rename("count", 0, "LIMIT").contains("macro"));
    assert!(rename("count", 0, "do").contains("word of the language"));
    assert!(rename("count", 0, "_pid").contains("every model"));
    assert!(rename("count", 0, "1st").contains("not a name"));
    assert!(rename("goto", 0, "x").contains("no name here"));

    let prepared = client.ask("textDocument/prepareRename", about("count", 1)).expect("an answer");
    assert_eq!(prepared["placeholder"], "count");
    assert!(client.ask("textDocument/prepareRename", about("LIMIT", 0)).is_err());
    assert!(client.close());
}

#[test]
fn words_are_completed() {
    // What is being written is broken, as it is while one types.
    let cases: [(&str, &[&str], &[&str]); 8] = [
        ("byte total; init { tot| }", &["total", "init", "atomic", "_pid"], &[]),
        ("typedef T { byte a; bit b } T t[2]; init { t[1].| }", &["a", "b"], &["atomic", "t"]),
        ("init { L: do :: goto | od; M: skip }", &["L", "M"], &["atomic"]),
        ("proctype P() { skip } init { run | }", &["P"], &["atomic"]),
        ("proctype P() { L: skip } init { P[0]@| }", &["L"], &["P"]),
        ("mtype = { red }; init { byte a; { byte b; skip }; | }", &["a", "red"], &["b"]),
        ("inline f(x) { | } init { f(1) }", &["x", "f"], &[]),
        ("#|\ninit { skip }", &["define", "include"], &["atomic"]),
    ];
    let mut client = Client::new(json!({ "capabilities": {} }));
    for (number, (text, there, not_there)) in cases.iter().enumerate() {
        let uri = format!("untitled:{number}.pml");
        let (line, character) = find(text, "|", 0);
        client.open(&uri, &text.replacen('|', "", 1));
        let answer = client.ask("textDocument/completion", at(&uri, line, character));
        let answer = answer.expect("an answer");
        let found = labels(&answer);
        assert!(there.iter().all(|name| found.contains(name)), "{text}: {found:?}");
        assert!(!not_there.iter().any(|name| found.contains(name)), "{text}: {found:?}");
    }
    for text in ["/* | */ byte x;", "byte x; // |", "init { printf(\"|\") }", "byte x = 1|;"] {
        let (line, character) = find(text, "|", 0);
        let uri = "untitled:none.pml";
        client.open(uri, &text.replacen('|', "", 1));
        let answer = client.ask("textDocument/completion", at(uri, line, character));
        assert_eq!(answer.expect("an answer"), json!([]), "{text}");
    }
    assert!(client.close());
}

#[test]
fn there_is_an_outline_and_where_to_check() {
    let mut client = client();
    let document = json!({ "textDocument": { "uri": URI } });
    let outline = client.ask("textDocument/documentSymbol", document.clone()).expect("an answer");
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().expect("a list").iter();
        list.map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
    };
    let expected = ["LIMIT", "mtype", "Packet", "wire", "last", "put", "Sender", "Other", "done"];
    assert_eq!(names(&outline), expected);
    assert_eq!(names(&outline[1]["children"]), ["request", "answer"]);
    assert_eq!(names(&outline[2]["children"]), ["number", "kind"]);
    assert_eq!(names(&outline[6]["children"]), ["start", "count", "again"]);
    assert_eq!(outline[6]["detail"], "active [2] proctype Sender(byte start)");
    assert_eq!(outline[6]["range"]["end"]["line"], 14);

    let lenses = client.ask("textDocument/codeLens", document).expect("an answer");
    let titles: Vec<&str> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .map(|lens| lens["command"]["title"].as_str().expect("a title"))
        .collect();
    assert_eq!(titles, ["check", "check", "check done"]);
    assert_eq!(lenses[2]["command"]["arguments"], json!([{ "model": URI, "ltl": "done" }]));
    assert!(client.close());
}

#[test]
fn texts_are_formatted() {
    let mut client = Client::new(json!({ "capabilities": {} }));
    let text = "byte x;  // \u{1d11e}\ninit{\nif\n::x==1->x=2 /* é */\n::else\nfi\n}\n";
    client.open(URI, text);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": URI }, "options": options });
    let edits = client.ask("textDocument/formatting", params.clone()).expect("an answer");
    let made = edited(text, &edits);
    let expected =
        "byte x;  // \u{1d11e}\ninit {\n  if\n  :: x == 1 -> x = 2  /* é */\n  :: else\n  fi\n}\n";
    assert_eq!(made, expected);
    let range = json!({
        "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 2 }
    });
    let some = with(params, json!({ "range": range }));
    let edits = client.ask("textDocument/rangeFormatting", some).expect("an answer");
    assert_eq!(edited(text, &edits), text.replace("\nif\n", "\n  if\n"));
    // Blanks of an argument that becomes a string are not ours.
    let uri = "untitled:string.pml";
    client.open(uri, "#define SAY(x) printf(#x)\ninit {\nSAY(a+b)\n}\n");
    let params = json!({ "textDocument": { "uri": uri }, "options": options });
    assert!(client.ask("textDocument/formatting", params).is_err());
    // What ends where a line begins has nothing of it.
    let uri = "untitled:range.pml";
    let text = "init {\nskip;\nskip\n}\n";
    client.open(uri, text);
    let range = json!({
        "start": { "line": 1, "character": 0 }, "end": { "line": 2, "character": 0 }
    });
    let params = json!({ "textDocument": { "uri": uri }, "options": options, "range": range });
    let edits = client.ask("textDocument/rangeFormatting", params).expect("an answer");
    assert_eq!(edited(text, &edits), "init {\n  skip;\nskip\n}\n");
    assert!(client.close());
}

#[test]
fn characters_are_counted_as_agreed() {
    let text = "/* \u{1d11e} */ byte x; init { x = 1 }";
    for (encoding, column) in [("utf-8", 16), ("utf-16", 14), ("utf-32", 14)] {
        let general = json!({ "general": { "positionEncodings": [encoding] } });
        let mut client = Client::silent();
        let answer = client.ask("initialize", json!({ "capabilities": general }));
        let agreed = if encoding == "utf-8" { "utf-8" } else { "utf-16" };
        assert_eq!(answer.expect("an answer")["capabilities"]["positionEncoding"], agreed);
        client.tell("initialized", json!({}));
        client.open(URI, text);
        let answer = client.ask("textDocument/hover", at(URI, 0, column)).expect("an answer");
        assert_eq!(answer["range"]["start"]["character"], column, "{encoding}");
        assert!(client.close());
    }
}

#[test]
fn files_are_read_from_disk_or_from_the_editor() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().canonicalize().expect("a path").join(name);
    let uri = |name: &str| format!("file://{}", path(name).display());
    let model = "#include \"part.h\"\ninit { x = 1 }\n";
    std::fs::write(path("model.pml"), model).expect("a file");
    std::fs::write(path("part.h"), "byte y;\n").expect("a file");

    let mut client = Client::new(json!({ "capabilities": {} }));
    client.open(&uri("model.pml"), model);
    assert!(client.diagnostics(&uri("model.pml"))[0].contains('x'), "what is on disk");
    client.open(&uri("part.h"), "byte x;\n");
    assert_eq!(client.diagnostics(&uri("model.pml")), [""; 0], "what is open");
    // A name in one file leads to the other.
    let found = client.ask("textDocument/definition", at(&uri("model.pml"), 1, 7));
    assert_eq!(found.expect("an answer")[0]["uri"], uri("part.h"));
    let params = with(at(&uri("part.h"), 0, 5), json!({ "newName": "z" }));
    let edit = client.ask("textDocument/rename", params).expect("an answer");
    assert_eq!(starts(&edit["changes"][uri("model.pml")]), [(1, 7)]);
    assert_eq!(starts(&edit["changes"][uri("part.h")]), [(0, 5)]);
    assert!(client.close());

    // A part that is open alone belongs to the model beside it.
    std::fs::write(path("part.h"), "byte x;\n").expect("a file");
    let mut client = Client::new(json!({ "capabilities": {} }));
    client.open(&uri("part.h"), "bytes x;\n");
    assert_eq!(client.diagnostics(&uri("part.h")).len(), 1);
    let change = json!({
        "textDocument": { "uri": uri("part.h"), "version": 2 },
        "contentChanges": [{ "text": "byte x;\n" }],
    });
    client.tell("textDocument/didChange", change);
    assert_eq!(client.diagnostics(&uri("part.h")), [""; 0]);
    let context = json!({ "context": { "includeDeclaration": false } });
    let found = client.ask("textDocument/references", with(at(&uri("part.h"), 0, 5), context));
    assert_eq!(found.expect("an answer")[0]["uri"], uri("model.pml"));
    assert!(!client.leave());
}

/// A folder for files, with what names its files in the protocol.
fn folder() -> (tempfile::TempDir, std::path::PathBuf, impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path");
    let root = path.clone();
    (folder, path, move |name: &str| format!("file://{}", root.join(name).display()))
}

#[test]
fn files_that_are_not_open_may_change() {
    let (_folder, path, uri) = folder();
    let model = "#include \"part.h\"\ninit { x = 1 }\n";
    std::fs::write(path.join("model.pml"), model).expect("a file");
    std::fs::write(path.join("part.h"), "byte x;\n").expect("a file");
    let mut client = Client::new(json!({ "capabilities": {} }));
    client.open(&uri("model.pml"), model);
    assert_eq!(client.diagnostics(&uri("model.pml")), [""; 0]);
    // Nobody tells of that.
    std::fs::write(path.join("part.h"), "/* a line before it */\nbyte x;\n").expect("a file");
    let params = with(at(&uri("model.pml"), 1, 7), json!({ "newName": "z" }));
    let edit = client.ask("textDocument/rename", params).expect("an answer");
    assert_eq!(starts(&edit["changes"][uri("part.h")]), [(1, 5)]);
    assert!(client.close());

    // Who can tell of it is asked to.
    let watching = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
    let mut client = Client::new(json!({ "capabilities": { "workspace": watching } }));
    let Some(Message::Request(asked)) = client.next() else { panic!("a request") };
    assert_eq!(asked.method, "client/registerCapability");
    let registration = &asked.params["registrations"][0];
    assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
    let pattern = &registration["registerOptions"]["watchers"][0]["globPattern"];
    assert_eq!(pattern, "**/*.{pml,prom,prm,pr,promela,h}");
    client.send(lsp_server::Response::new_ok(asked.id, Value::Null).into());
    assert!(client.close());
}

#[test]
#[cfg(unix)]
fn new_files_stay_open_when_they_are_saved() {
    let (_folder, path, uri) = folder();
    std::fs::create_dir(path.join("real")).expect("a folder");
    std::os::unix::fs::symlink(path.join("real"), path.join("link")).expect("a link");
    let text = "byte x;\ninit { x = 1 }\n";
    let new = uri("link/new.pml");
    let mut client = Client::new(json!({ "capabilities": {} }));
    client.open(&new, text);
    assert!(client.ask("textDocument/hover", at(&new, 0, 5)).is_ok());
    std::fs::write(path.join("link/new.pml"), text).expect("a file");
    client.tell("textDocument/didSave", json!({ "textDocument": { "uri": new } }));
    assert!(client.ask("textDocument/hover", at(&new, 0, 5)).is_ok());
    assert!(client.close());
}

#[test]
fn parts_may_have_parts() {
    let (_folder, path, uri) = folder();
    let texts = [
        ("a.pml", "inline step() { g++ }\n"),
        ("b.pml", "#include \"a.pml\"\nproctype Q() { step(); k++ }\n"),
        ("c.pml", "byte g, k;\n#include \"b.pml\"\ninit { run Q() }\n"),
    ];
    for (name, text) in texts {
        std::fs::write(path.join(name), text).expect("a file");
    }
    // All of them open, or the innermost alone.
    for open in [&texts[..], &texts[..1]] {
        let mut client = Client::new(json!({ "capabilities": {} }));
        for (name, text) in open {
            client.open(&uri(name), text);
        }
        let found = client.ask("textDocument/definition", at(&uri("a.pml"), 0, 16));
        assert_eq!(found.expect("an answer")[0]["uri"], uri("c.pml"));
        for (name, _) in open {
            assert_eq!(client.diagnostics(&uri(name)), [""; 0], "{name}");
        }
        assert!(client.close());
    }
}

#[test]
fn names_in_unused_text_are_renamed_with_care() {
    let mut client = Client::new(json!({ "capabilities": {} }));
    let text = "\
byte count;
#ifdef BIG
typedef T { byte count };
T t;
unsigned other : 3, count : 4;
active proctype Q() { t.count++; count: x = (P:count -> count : 1); goto count }
#define UNUSED (count -> count : 0)
#endif
active proctype P() { count++ }
";
    client.open(URI, text);
    let params = with(at(URI, 0, 5), json!({ "newName": "total" }));
    let edit = client.ask("textDocument/rename", params).expect("an answer");
    let made = edited(text, &edit["changes"][URI]);
    let expected = "\
byte total;
#ifdef BIG
typedef T { byte count };
T t;
unsigned other : 3, total : 4;
active proctype Q() { t.count++; count: x = (P:count -> total : 1); goto count }
#define UNUSED (total -> total : 0)
#endif
active proctype P() { total++ }
";
    assert_eq!(made, expected);
    assert!(client.close());
}

#[test]
fn a_new_name_changes_no_verdict() {
    let mut client = Client::new(json!({ "capabilities": {} }));
    let text = "byte x;\nactive proctype P() { wait: x++; end: goto wait }\nltl p { <> (x > 0) }\n";
    client.open(URI, text);
    let mut rename = |line, character, name: &str| {
        let params = with(at(URI, line, character), json!({ "newName": name }));
        client.ask("textDocument/rename", params).map_err(|refused| refused.message)
    };
    for (character, name) in [(22, "end_wait"), (22, "accepted"), (33, "progress"), (33, "stay")] {
        let why = rename(1, character, name).expect_err("refused");
        assert!(why.contains("mean something to a check"), "{why}");
    }
    assert!(rename(1, 22, "again").is_ok());
    assert!(rename(1, 33, "end_here").is_ok());
    assert!(rename(0, 5, "p").expect_err("refused").contains("the name of a formula"));
    assert!(client.close());
}

#[test]
fn formatting_knows_the_open_texts() {
    let (_folder, path, uri) = folder();
    let model = "#include \"say.h\"\ninit {\nSAY(a+b)\n}\n";
    std::fs::write(path.join("model.pml"), model).expect("a file");
    std::fs::write(path.join("say.h"), "#define SAY(x) x\n").expect("a file");
    let mut client = Client::new(json!({ "capabilities": {} }));
    client.open(&uri("say.h"), "#define SAY(x) printf(#x)\n");
    client.open(&uri("model.pml"), model);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": uri("model.pml") }, "options": options });
    assert!(client.ask("textDocument/formatting", params).is_err());
    assert!(client.close());
}

#[test]
fn settings_count() {
    let text = "#ifdef BUG\ninit { x = 1 }\n#else\ninit { skip }\n#endif\n";
    let settings = json!({ "defines": ["BUG"] });
    let mut client = Client::new(json!({ "capabilities": {}, "initializationOptions": settings }));
    client.open(URI, text);
    assert_eq!(client.diagnostics(URI).len(), 1);
    let settings = json!({ "settings": { "spinward": { "defines": [] } } });
    client.tell("workspace/didChangeConfiguration", settings);
    assert_eq!(client.diagnostics(URI), [""; 0]);
    assert!(client.close());
}

#[test]
fn what_makes_no_sense_is_answered() {
    let mut client = Client::silent();
    let code = |answer: Result<Value, lsp_server::ResponseError>| answer.expect_err("refused").code;
    assert_eq!(code(client.ask("textDocument/hover", at(URI, 0, 0))), -32002);
    client.ask("initialize", json!({ "capabilities": {} })).expect("an answer");
    assert_eq!(code(client.ask("initialize", json!({ "capabilities": {} }))), -32600);
    assert_eq!(code(client.ask("textDocument/nothing", json!({}))), -32601);
    assert_eq!(code(client.ask("textDocument/hover", json!({ "position": 3 }))), -32602);
    assert_eq!(code(client.ask("textDocument/hover", at(URI, 0, 0))), -32803, "not open");
    client.tell("textDocument/didChange", json!({ "wrong": true }));
    client.tell("textDocument/didOpen", json!(7));
    let command = json!({ "command": "rm", "arguments": [] });
    assert_eq!(code(client.ask("workspace/executeCommand", command)), -32803);
    client.ask("shutdown", Value::Null).expect("an answer");
    assert_eq!(code(client.ask("textDocument/hover", at(URI, 0, 0))), -32600);
    client.tell("exit", Value::Null);
    assert!(client.join());
}

#[test]
fn leaving_without_a_word_is_not_clean() {
    let client = Client::new(json!({ "capabilities": {} }));
    client.tell("exit", Value::Null);
    assert!(!client.join());
    assert!(!Client::new(json!({ "capabilities": {} })).leave());
}

#[test]
fn questions_can_be_taken_back() {
    // The first answer takes long enough that the rest is waiting when it is made.
    let mut client = client();
    let long: String = (0..30_000).map(|n| format!("byte x{n};\n")).collect();
    client.open("untitled:long.pml", &long);
    let first = client.begin("textDocument/documentSymbol", {
        json!({ "textDocument": { "uri": "untitled:long.pml" } })
    });
    let second = client.begin("textDocument/hover", about("count", 0));
    client.tell("$/cancelRequest", json!({ "id": 3 }));
    assert!(client.answer_to(&first).is_ok());
    let refused = client.answer_to(&second).expect_err("it was taken back");
    assert_eq!(refused.code, -32800);
    assert!(client.close());
}

#[test]
fn quick_edits_are_looked_at_once() {
    let mut client = client();
    let _ = client.diagnostics(URI);
    for version in 2..200 {
        let change = json!({
            "textDocument": { "uri": URI, "version": version },
            "contentChanges": [{ "text": "x".repeat(version) }],
        });
        client.tell("textDocument/didChange", change);
    }
    client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } })).expect("it");
    let told = |client: &mut Client| loop {
        if let Some(Message::Notification(news)) = client.next()
            && news.params["version"] == 199
        {
            break;
        }
    };
    told(&mut client);
    assert!(client.news.len() < 198, "not every version is told about");
    assert!(client.close());
}
