//! Explaining runs: charts, pages, steps that matter, fewest switches, for all that can be wrong.

mod common;

use common::Place;

/// A model, the options of `check` for it, those of `trail`, and the kind of error in it.
const WRONG: [(&str, &[&str], &[&str], &str); 11] = [
    ("byte x; active [2] proctype P() { x++; assert(x < 2) }", &[], &[], "assertion"),
    (
        "chan c = [0] of { byte }; active proctype P() { byte a; a = 1; c!1 } active proctype Q() { c?_; c?_ }",
        &[],
        &[],
        "invalid-end-state",
    ),
    (
        "byte x; active [2] proctype P() { byte a; a = 1; x++ }",
        &["--invariant", "x < 2"],
        &["--invariant", "x < 2"],
        "invariant",
    ),
    (
        "mtype = { a, b }; chan c = [1] of { mtype }; trace { do :: c!a :: c?a od }
         active proctype P() { c!a; c!b } active proctype Q() { byte n; n = 1; c?a; c?b }",
        &[],
        &[],
        "trace",
    ),
    ("byte x; active proctype P() { atomic { x = 1; x = 0 }; x = 3 / x }", &[], &[], "runtime"),
    (
        "byte x; never { do :: x > 1 -> break :: else od } active [2] proctype P() { byte a; a = 1; x++ }",
        &[],
        &[],
        "never-claim",
    ),
    ("bit x; ltl f { <> [] x } active [2] proctype P() { do :: x = 1 - x od }", &[], &[], "ltl"),
    ("bit x; active proctype P() { accept: do :: x = 1 - x od }", &["--acceptance"], &[], "cycle"),
    (
        "bit x; active proctype P() { do :: x = 1 - x od } active proctype Q() { progress: x = 0 }",
        &["--non-progress"],
        &[],
        "cycle",
    ),
    (
        "chan c = [2] of { byte, bool }; proctype C(byte k) { c!k,true }
         init { byte v; run C(3); run C(4); d_step { v = 1; v = 2 }; c?v,_; assert(v == 4) }",
        &[],
        &[],
        "assertion",
    ),
    (
        "byte n; active [200] proctype P() { byte a; a = 1; n++; assert(n < 5) }",
        &[],
        &[],
        "assertion",
    ),
];

#[test]
fn every_kind_of_error_is_explained() {
    for (model, check, trail, kind) in WRONG {
        let place = Place::new();
        place.write("m.pml", model);
        let words = [&["check", "--report", "r.html"], check, &["m.pml"]].concat();
        let said = place.run(&words).code(1);
        said.err("the report is in r.html");
        let options =
            ["trail", "--fewest-switches", "--slice", "--msc", "m.svg", "--html", "m.html"];
        let words = [&options, trail, &["m.pml", "m.pml.trail"]].concat();
        let said = place.run(&words);
        // What labels or claims of other kinds say is not known from the trail alone.
        assert!(said.code == 1, "{kind}: {}{}", said.out, said.err);
        said.out(" between processes; ");
        for page in ["r.html", "m.html"] {
            let page = place.read(page);
            assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{kind}");
            assert!(page.len() < 1_000_000, "{kind}: {}", page.len());
            assert!(
                !page.contains("http://") && !page.contains("https://"),
                "nothing from elsewhere"
            );
        }
        assert!(place.read("m.svg").starts_with("<svg "));
        let words = [&["trail", "--slice", "--json"], trail, &["m.pml", "m.pml.trail"]].concat();
        let json = place.run(&words).code(1).json();
        let steps = json["steps"].as_array().expect("steps");
        assert!(!steps.is_empty() && steps.iter().all(|step| step["matters"].is_boolean()));
        let last = steps.iter().rfind(|step| step["claim"] == false).expect("a step");
        assert!(kind == "invariant" || kind == "never-claim" || last["matters"] == true, "{kind}");
    }
}

const TALK: &str = "mtype = { ping, pong };
chan wire = [2] of { mtype, byte };
chan bell = [0] of { mtype };
active proctype Ann() { byte idle; wire!ping,7; idle = 1; bell?pong; assert(idle == 0) }
active proctype Bob() { mtype what; byte n; wire?what,n; n = 0; bell!pong }
";

#[test]
fn messages_have_a_sender_and_a_receiver() {
    let place = Place::new();
    place.write("talk.pml", TALK);
    place.run(&["check", "talk.pml"]).code(1).out("  idle has this value since step ");
    let said = place.run(&["trail", "talk.pml", "talk.pml.trail"]).code(1);
    said.out("→ Bob(1), step").out("← Ann(0), step 1").out("← Bob(1)");
    let json = place.run(&["trail", "--json", "talk.pml", "talk.pml.trail"]).code(1).json();
    let steps = json["steps"].as_array().expect("steps");
    let messages: Vec<_> =
        steps.iter().flat_map(|it| it["messages"].as_array().expect("a list")).collect();
    assert_eq!(messages[0]["what"], "sent");
    assert_eq!(messages[0]["channel"], "wire");
    assert_eq!(messages[0]["message"], "ping,7");
    let received = messages.iter().find(|it| it["what"] == "received" && it["channel"] == "wire");
    assert_eq!(received.expect("it arrives")["sent_in_step"], 1);
    let met = messages.iter().find(|it| it["rendezvous"] == true).expect("they meet");
    assert_eq!((&met["channel"], &met["message"]), (&"bell".into(), &"pong".into()));
}

#[test]
fn a_chart_fits_the_terminal() {
    let place = Place::new();
    place.write("talk.pml", TALK);
    place.run(&["check", "talk.pml"]).code(1);
    for columns in ["60", "100"] {
        let mut command = place.command(&["trail", "--chart", "talk.pml", "talk.pml.trail"]);
        let output = command.env("COLUMNS", columns).output().expect("the command runs");
        let said = common::Said::new(&output);
        let chart = said.out.split("assertion violated").next().expect("a chart");
        assert!(chart.contains("▶") && chart.contains('●') && chart.contains('✗'), "{chart}");
        let widest = chart.lines().map(|line| line.chars().count()).max();
        assert!(widest <= columns.parse().ok(), "{chart}");
    }
    let words = ["trail", "--chart", "talk.pml", "talk.pml.trail"];
    let output = place.command(&words).env("COLUMNS", "20").output().expect("the command runs");
    common::Said::new(&output).code(2).err("--msc FILE.svg draws it");
}

#[test]
fn no_name_or_string_breaks_a_page() {
    let place = Place::new();
    let hostile = "/* </pre></script><script>alert(1)</script> & \" ' <!-- */
mtype = { a };
active proctype P() { printf(\"</script><script>alert(2)</script>&amp;'\\\"<!--\\n\"); assert(false) }
";
    let name = "m\"'<b>&.pml";
    place.write(name, hostile);
    let trail = format!("{name}.trail");
    place.run(&["check", "--report", "r.html", name]).code(1);
    place.run(&["trail", "--html", "h.html", "--msc", "m.svg", name, &trail]).code(1);
    for file in ["r.html", "h.html", "m.svg"] {
        let page = place.read(file);
        assert!(!page.contains("<script>alert") && !page.contains("<b>"), "{file}");
        assert!(!page.contains("<!--"), "{file}");
    }
    for file in ["r.html", "h.html"] {
        let page = place.read(file);
        assert_eq!(page.matches("<script").count(), 2, "{file}");
        assert_eq!(page.matches("</script").count(), 2, "{file}");
        let data = page.split("id=\"data\">").nth(1).and_then(|it| it.split("</script>").next());
        let data: serde_json::Value = serde_json::from_str(data.expect("data")).expect("JSON");
        assert!(data["rows"][0][3].as_str().expect("a statement").contains("</script>"));
    }
}

#[test]
fn a_long_trail_becomes_a_page_of_bounded_size() {
    let place = Place::new();
    let long = "int n; active [2] proctype P() { do :: n < 3000 -> n++ :: else -> break od; assert(n < 3000) }";
    place.write("long.pml", long);
    place.run(&["check", "--search", "dfs", "--report", "r.html", "long.pml"]).code(1);
    let page = place.read("r.html");
    assert!(page.contains("in the middle are not shown"));
    assert!(page.len() < 3_000_000, "{}", page.len());
    let words = ["trail", "--fewest-switches", "--slice", "long.pml", "long.pml.trail"];
    place.run(&words).code(1).out(" between processes; ");
}

#[test]
fn a_page_of_a_verified_model_says_so() {
    let place = Place::new();
    place.run(&["check", "--report", "r.html", "good.pml"]).code(0);
    let page = place.read("r.html");
    assert!(page.contains("verified: no errors") && page.contains("verdict fine"));
    place.run(&["check", "--max-states", "1", "--report", "r.html", "good.pml"]).code(3);
    let incomplete = place.read("r.html");
    assert!(incomplete.contains("<div class=\"verdict unknown\">"), "{incomplete}");
    for page in [page, incomplete] {
        assert!(!page.contains("<nav") && !page.contains("<table"), "there is no run");
        assert!(page.contains("n++; n--"), "there is a model");
    }
}

#[test]
fn a_page_tells_what_the_reader_should_know() {
    let place = Place::new();
    place.write("m.trail", "-2:9:-2\n1:1:0\n");
    let words = ["trail", "--html", "h.html", "asserts.pml", "m.trail"];
    place.run(&words).code(0).err("note: the trail was made for an ltl property");
    assert!(place.read("h.html").contains("the trail was made for an ltl property"));
    let quiet = place.run(&[&["trail", "-q"], &words[1..]].concat()).code(0);
    assert_eq!(quiet.err, "");
}

#[test]
fn columns_do_not_keep_pictures_from_being_written() {
    let place = Place::new();
    place.run(&["check", "asserts.pml"]).code(1);
    let trail = ["asserts.pml", "asserts.pml.trail"];
    let words = ["trail", "-p", "--html", "h.html", "--msc", "m.svg"];
    place.run(&[&words[..], &trail].concat()).code(1).out("(state ");
    assert!(place.read("h.html").contains("</html>") && place.read("m.svg").contains("</svg>"));
    for option in ["--chart", "--slice"] {
        let said = place.run(&[&["trail", "-p", option], &trail[..]].concat()).code(2);
        said.err("cannot be used with");
    }
}

#[test]
fn a_page_that_cannot_be_written_leaves_the_verdict() {
    let place = Place::new();
    let said = place.run(&["check", "--report", "none/r.html", "good.pml"]).code(0);
    said.out("verified: no errors").err("warning: cannot write the report to none/r.html");
    let words = ["check", "--format", "json", "--report", "none/r.html", "asserts.pml"];
    let said = place.run(&words).code(1).err("warning: cannot write the report");
    assert_eq!(said.json()["verdict"], "violated");
}

#[test]
fn trails_of_spin_are_explained() {
    let place = Place::new();
    let model = "byte x; active proctype P() { byte a; a = 1; a = 2; x++ }
active proctype Q() { byte b; b = 1; x++; b = 2; assert(x < 2) }
";
    place.write("m.pml", model);
    // As SPIN merges statements: a line of P and of Q in turn, the first of each for several.
    place.write("m.trail", "-4:-4:-4\n1:0:0\n2:1:4\n3:0:2\n4:1:5\n5:1:6\n6:1:7\n");
    let said = place.run(&["trail", "--fewest-switches", "--slice", "m.pml", "m.trail"]).code(1);
    said.out("Rearranged from 3 to 1 switch between processes; no order that keeps what depends on each other has fewer.");
    let words = ["trail", "--fewest-switches", "--json", "m.pml", "m.trail"];
    let json = place.run(&words).code(1).json();
    assert_eq!(json["rearranged"]["switches_before"], 3);
    assert_eq!(json["rearranged"]["switches"], 1);
    assert_eq!(json["rearranged"]["fewest"], true);
}
