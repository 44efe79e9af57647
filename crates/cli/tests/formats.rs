//! What a check tells other programs: JSON as its published schema says, SARIF that code hosts take, JUnit's XML.

mod common;

use std::path::Path;

use common::{Place, Said};
use serde_json::{Value, json};

/// Checks with an answer of each kind, and their exit codes.
const CHECKS: [(&[&str], i32); 12] = [
    (&["good.pml"], 0),
    (&["asserts.pml"], 1),
    (&["deadlock.pml"], 1),
    (&["long.pml"], 1),
    (&["--invariant", "n == 0", "good.pml"], 1),
    (&["cycle.pml"], 1),
    (&["--max-states", "1", "good.pml"], 3),
    (&["--store", "bitstate", "--bits", "20", "good.pml"], 3),
    (&["--audit", "asserts.pml"], 1),
    (&["--search", "astar", "asserts.pml"], 1),
    (&["wrong.pml"], 2),
    (&["--search", "nonsense", "good.pml"], 2),
];

fn place() -> Place {
    let place = Place::new();
    place.write("wrong.pml", "byte count;\nactive proctype P() { cuont++ }\n");
    place.write(
        "cycle.pml",
        "byte n = 300;\nactive proctype P() { do :: n = 1 :: n = 0 od; n = 2 }\n\
         ltl quiet { <> [] (n == 1) }\nltl small { [] (n < 99) }\n",
    );
    place
}

fn check(place: &Place, format: &str, args: &[&str]) -> Said {
    place.run(&[&["check", "--format", format], args].concat())
}

fn schema() -> Value {
    serde_json::from_str(&Place::new().run(&["schema"]).code(0).out).expect("JSON")
}

/// What a validator has to say.
#[track_caller]
fn assert_valid(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let problems: Vec<String> =
        validator.iter_errors(document).map(|it| format!("{}: {it}", it.instance_path())).collect();
    assert!(problems.is_empty(), "{}\n{document:#}", problems.join("\n"));
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/check-1.json");
    let made = Place::new().run(&["schema"]).code(0).out;
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &made).expect("the schema can be written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == made, "docs/schema/check-1.json is stale: UPDATE_EXPECT=1 writes it");
}

#[test]
fn answers_of_every_kind_are_as_the_schema_says() {
    let (place, schema) = (place(), schema());
    let mut verdicts = Vec::new();
    for (args, code) in CHECKS {
        let json = check(&place, "json", args).code(code).json();
        assert_valid(&schema, &json);
        verdicts.push(json["verdict"].as_str().expect("a verdict").to_owned());
    }
    for verdict in ["verified", "violated", "incomplete", "error"] {
        assert!(verdicts.iter().any(|it| it == verdict), "none is {verdict}");
    }
}

#[test]
fn a_schema_that_takes_everything_would_be_none() {
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    let good = check(&place(), "json", &["asserts.pml"]).json();
    assert!(validator.is_valid(&good));
    let mut bad = good.clone();
    bad["verdict"] = json!("perhaps");
    assert!(!validator.is_valid(&bad));
    let mut bad = good.clone();
    bad["errors"][0]["kind"] = json!("banana");
    assert!(!validator.is_valid(&bad));
    let mut bad = good;
    bad.as_object_mut().expect("an object").remove("statistics");
    assert!(!validator.is_valid(&bad));
}

/// What GitHub asks of a SARIF file, and the standard of the parts that are written.
fn sarif_schema() -> Value {
    serde_json::from_str(include_str!("sarif-schema.json")).expect("JSON")
}

#[test]
fn sarif_has_what_code_hosts_ask_for() {
    let (place, schema) = (place(), sarif_schema());
    for (args, code) in CHECKS {
        let log = check(&place, "sarif", args).code(code).json();
        assert_valid(&schema, &log);
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("a list");
        for result in run["results"].as_array().expect("a list") {
            let described = rules.iter().any(|rule| rule["id"] == result["ruleId"]);
            assert!(described, "no rule for {result:#}");
        }
        assert_eq!(run["invocations"][0]["exitCode"], code);
    }
}

#[test]
fn sarif_tells_where_and_how() {
    let place = place();
    let log = check(&place, "sarif", &["asserts.pml"]).json();
    let result = &log["runs"][0]["results"][0];
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&result["ruleId"], &region["startLine"]), (&json!("assertion"), &json!(5)));
    let steps = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    let lines: Vec<&Value> = steps
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| &step["location"]["physicalLocation"]["region"]["startLine"])
        .collect();
    assert_eq!(lines, [3, 4, 5]);
    let log = check(&place, "sarif", &["wrong.pml"]).json();
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("E0301"), &json!("error")));
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn what_stands_on_the_command_line_stands_in_no_file() {
    let place = place();
    let asked = ["--ltl", "[] (n < 1)", "good.pml"];
    let error = check(&place, "json", &asked).code(1).json()["errors"][0].clone();
    assert_eq!((&error["file"], &error["line"]), (&Value::Null, &Value::Null));
    let wrong = ["--ltl", "[] (m < 1)", "good.pml"];
    let json = check(&place, "json", &wrong).code(2).json();
    let diagnostic = &json["diagnostics"][0];
    for field in ["file", "line", "column"] {
        assert_eq!(diagnostic[field], Value::Null, "{diagnostic:#}");
    }
    for (args, code) in [(asked, 1), (wrong, 2)] {
        let log = check(&place, "sarif", &args).code(code).json();
        let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "good.pml", "{log:#}");
    }
}

#[test]
fn junit_gives_each_property_its_own_reason() {
    let place = place();
    let xml = check(&place, "junit", &["--time", "0", "cycle.pml"]).code(3).out;
    let document = roxmltree::Document::parse(&xml).expect("XML");
    let errors = document.descendants().filter(|it| it.has_tag_name("error"));
    let texts: Vec<&str> = errors.filter_map(|it| it.text()).collect();
    let [safety, quiet, small] = texts[..] else { panic!("{xml}") };
    assert!(safety.contains("the time of 0 s was over"), "{xml}");
    assert_eq!([quiet, small], ["not begun: the check had ended"; 2]);
    let said = place.run(&["check", "--time", "0", "cycle.pml"]).code(3);
    said.out("not begun, as the check had ended: ltl quiet, ltl small");
    place.write("one.pml", "active proctype P() { assert(false) }\n");
    check(&place, "junit", &["one.pml"]).code(1).out("a run of 1 step to it");
    check(&place, "junit", &["--search", "nonsense", "good.pml"]).code(2).out("type=\"usage\"");
    check(&place, "junit", &["wrong.pml"]).code(2).out("type=\"model\"");
}

#[test]
fn sarif_of_each_model_is_a_category_of_its_own() {
    let place = place();
    let id = |model| {
        let log = check(&place, "sarif", &[model]).json();
        log["runs"][0]["automationDetails"]["id"].as_str().expect("an id").to_owned()
    };
    assert_eq!(id("good.pml"), "spinward/good.pml/");
    assert_ne!(id("good.pml"), id("asserts.pml"));
}

#[test]
fn junit_has_a_case_for_each_property() {
    let place = place();
    for (args, code) in CHECKS {
        let xml = check(&place, "junit", args).code(code).out;
        let document = roxmltree::Document::parse(&xml).unwrap_or_else(|e| panic!("{e}:\n{xml}"));
        let suite = document.root_element().first_element_child().expect("a suite");
        let cases: Vec<_> = suite.children().filter(|it| it.has_tag_name("testcase")).collect();
        assert!(!cases.is_empty(), "{xml}");
        let blamed = |tag: &str| {
            cases.iter().filter(|it| it.children().any(|it| it.has_tag_name(tag))).count()
        };
        let number = |name: &str| suite.attribute(name).and_then(|it| it.parse().ok());
        assert_eq!(number("tests"), Some(cases.len()), "{xml}");
        assert_eq!(number("failures"), Some(blamed("failure")), "{xml}");
        assert_eq!(number("errors"), Some(blamed("error")), "{xml}");
        assert_eq!(blamed("failure") + blamed("error") > 0, code != 0, "{xml}");
    }
    let xml = check(&place, "junit", &["cycle.pml"]).out;
    let document = roxmltree::Document::parse(&xml).expect("XML");
    let cases: Vec<(&str, bool)> = document
        .descendants()
        .filter(|it| it.has_tag_name("testcase"))
        .map(|it| (it.attribute("name").expect("a name"), it.has_children()))
        .collect();
    assert_eq!(cases, [("safety", false), ("ltl quiet", true), ("ltl small", false)]);
}

#[test]
fn names_of_files_do_not_break_what_is_written() {
    let place = Place::new();
    let name = "a<b>&\"c\u{1}.pml";
    place.write(name, "active proctype P() { assert(1 < 0 && 2 > 1) }\n");
    let xml = check(&place, "junit", &[name]).code(1).out;
    roxmltree::Document::parse(&xml).unwrap_or_else(|e| panic!("{e}:\n{xml}"));
    let log = check(&place, "sarif", &[name]).code(1).json();
    assert_valid(&sarif_schema(), &log);
}

#[test]
fn shells_and_man_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        place.run(&["completions", shell]).code(0).out("simulate").out("astar").out("no-progress");
    }
    place.run(&["completions", "basj"]).code(2).err("bash");
    place.run(&["man", "check"]).code(0).out(".TH").out("\\-\\-max\\-states").out("Examples");
    place.run(&["man", "chekc"]).code(2).err("did you mean 'check'?");
    place.run(&["man", "--out", "pages"]).code(0).err("pages are in pages");
    let help = place.run(&["--help"]).code(0).out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands =
        commands.map_while(|line| line.split_whitespace().next()).filter(|it| *it != "help");
    let mut number = 0;
    for command in commands {
        number += 1;
        assert!(
            place.read(&format!("pages/spinward-{command}.1")).contains("Examples"),
            "{command}"
        );
    }
    assert!(number >= 10, "{help}");
    assert!(place.read("pages/spinward-disk-info.1").contains("DIR"));
}
