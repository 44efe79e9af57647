//! The command as scripts and people meet it: exit codes, output, files.

mod common;

use std::process::Stdio;

use common::Place;

#[test]
fn help_and_version_are_no_errors() {
    let place = Place::new();
    place.run(&["--version"]).code(0).out("spinward 0.");
    let help = place.run(&["--help"]).code(0).out("Examples:").out("Exit codes:");
    for line in help.out.lines() {
        assert!(line.chars().count() <= 100, "too wide: {line}");
    }
    for command in ["check", "simulate", "trail", "graph", "ltl", "serve", "bench"] {
        place
            .run(&[command, "--help"])
            .code(0)
            .out("Examples:")
            .out(&format!("spinward {command}"));
    }
    place.run(&["check", "--help"]).code(0).out("but one in searches by a guide");
    place.run(&[]).code(2).err("Usage:");
}

#[test]
fn mistakes_on_the_command_line_are_told() {
    let place = Place::new();
    let said = place.run(&["chekc", "good.pml"]).code(2).err("'check'");
    assert!(!said.err.contains("'schema'"), "{said:#?}");
    place.run(&["check", "--weight", "-1", "good.pml"]).code(2).err("not negative");
    place.run(&["check"]).code(2).err("MODEL");
    place.run(&["check", "--serach", "dfs", "good.pml"]).code(2).err("'--search'");
    place.run(&["check", "--search", "bsf", "good.pml"]).code(2).err("did you mean 'bfs'?");
    place.run(&["check", "--memory", "4X", "good.pml"]).code(2).err("512M");
    place.run(&["check", "--time", "soon", "good.pml"]).code(2).err("a number of seconds");
    place
        .run(&["simulate", "--seed", "1", "--interactive", "good.pml"])
        .code(2)
        .err("cannot be used with");
}

#[test]
fn what_is_not_there_yet_is_told() {
    let place = Place::new();
    place.run(&["types", "good.pml"]).code(2).err("the command 'types' is not available yet");
    place.run(&["graph", "--states", "good.pml"]).code(2).err("not available yet");
    place.run(&["graph", "--weight", "2", "good.pml"]).code(2).err("unexpected argument");
    for option in ["--weight=2", "--width=2", "--seed=2"] {
        place.run(&["check", option, "good.pml"]).code(2).err("the search 'auto' takes no");
    }
}

#[test]
fn an_audit_compares_the_answers() {
    let place = Place::new();
    let said = place.run(&["check", "--audit", "good.pml"]).code(0);
    said.out("nothing left out         21 states: no errors").out("the answers agree");
    let said = place.run(&["check", "--audit", "--format", "json", "asserts.pml"]).code(1);
    said.out("\"audit\": {").out("\"disagreements\": []");
}

#[test]
fn wrong_numbers_are_told() {
    let place = Place::new();
    for option in ["--max-depth", "--max-states", "--errors", "--threads", "--bits", "--hashes"] {
        for wrong in ["-1", "x", "99999999999999999999"] {
            place.run(&["check", option, wrong, "good.pml"]).code(2).err("a whole number");
        }
    }
    place.run(&["check", "--time", "-1", "good.pml"]).code(2).err("a number of seconds");
    place.run(&["check", "--memory", "-1", "good.pml"]).code(2).err("512M");
    place.run(&["simulate", "--seed", "-1", "good.pml"]).code(2).err("a whole number");
    place.run(&["simulate", "--steps", "1.5", "good.pml"]).code(2).err("a whole number");
}

#[test]
fn a_script_gets_json_also_for_a_wrong_command_line() {
    let place = Place::new();
    for wrong in [&["--foo", "good.pml"][..], &["--search", "bsf", "good.pml"], &["--disk=d"], &[]]
    {
        let words = [&["check", "--format", "json"], wrong].concat();
        let json = place.run(&words).code(2).json();
        assert_eq!(json["verdict"], "error");
        assert_ne!(json["reasons"][0]["message"], "");
    }
    let said = place.run(&["check", "--format=json", "--foo", "good.pml"]).code(2);
    assert_eq!(said.err("unexpected argument").json()["model"], "");
    assert_eq!(place.run(&["check", "--foo", "good.pml"]).code(2).out, "");
}

#[test]
fn a_model_without_errors_is_verified() {
    let place = Place::new();
    let said = place.run(&["check", "good.pml"]).code(0);
    assert!(said.out.starts_with("verified: no errors; "), "{said:#?}");
    assert_eq!(said.err, "");
    assert!(!place.path().join("good.pml.trail").exists());
}

#[test]
fn an_error_comes_with_its_run_and_a_trail() {
    let place = Place::new();
    let said = place.run(&["check", "asserts.pml"]).code(1);
    assert!(said.out.starts_with("violated: "), "{said:#?}");
    let said = said.out("asserts.pml:5").out("n: 1 -> 2").out("(with n = 2)");
    said.out("spinward trail asserts.pml asserts.pml.trail");
    assert_eq!(place.read("asserts.pml.trail"), "1:0:0\n2:0:1\n3:0:2\n");
    place.run(&["check", "--trail", "other.trail", "asserts.pml"]).code(1).out("other.trail");
    assert!(place.path().join("other.trail").exists());
}

#[test]
fn a_long_run_is_shortened() {
    let place = Place::new();
    let said = place.run(&["check", "long.pml"]).code(1).out("more steps ...");
    assert!(said.out.lines().count() < 60, "{said:#?}");
    let said = place.run(&["trail", "long.pml", "long.pml.trail"]).code(1);
    assert!(said.out.lines().count() > 1000, "{said:#?}");
}

#[test]
fn better_runs_are_told_while_shorter_ones_are_looked_for() {
    let place = Place::new();
    let model = "byte n; bool far;
        active proctype P() {
            if :: true -> far = true; n = 1; n = 2; n = 3 :: true -> n = 3 fi;
            assert(n != 3)
        }";
    place.write("two_ways.pml", model);
    let check = |options: &[&str]| {
        let fixed = ["check", "--search", "greedy", "--shortest", "--guide", "interleaving"];
        place.run(&[&fixed[..], options, &["two_ways.pml"]].concat()).code(1)
    };
    check(&["--optimize", "none"]).out("A shortest run").err("looking for a shorter one");
    let quiet = check(&["--optimize", "none", "--quiet"]).out("A shortest run");
    assert_eq!(quiet.err, "");
}

#[test]
fn json_stands_alone_and_has_the_promised_fields() {
    let place = Place::new();
    let json = place.run(&["check", "--format", "json", "asserts.pml"]).code(1).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["model"], "asserts.pml");
    let error = &json["errors"][0];
    assert_eq!(error["kind"], "assertion");
    assert_eq!(error["line"], 5);
    assert_eq!(error["steps"], 3);
    assert_eq!(error["trail"], "asserts.pml.trail");
    for field in ["states", "transitions", "depth", "seconds", "peak_memory", "threads"] {
        assert!(!json["statistics"][field].is_null(), "{field}");
    }
    let json = place.run(&["check", "--format", "json", "good.pml"]).code(0).json();
    assert_eq!(json["verdict"], "verified");
    assert_eq!(json["complete"], true);
    let json = place.run(&["check", "--format", "json", "nowhere.pml"]).code(2).json();
    assert_eq!(json["verdict"], "error");
    assert_eq!(json["diagnostics"][0]["message"], "there is no file `nowhere.pml`");
    place.write("wrong.pml", "init {\n  x = 1\n}\n");
    let json = place.run(&["check", "--format", "json", "wrong.pml"]).code(2).json();
    let diagnostic = &json["diagnostics"][0];
    assert_eq!(diagnostic["severity"], "error");
    assert_eq!(diagnostic["message"], "`x` is not declared");
    assert_eq!((&diagnostic["line"], &diagnostic["column"]), (&2.into(), &3.into()));
    place.write("dubious.pml", "byte x;\ninit { x = 300 }\n");
    let json = place.run(&["check", "--format", "json", "dubious.pml"]).code(0).json();
    assert_eq!(json["diagnostics"][0]["severity"], "warning");
}

#[test]
fn a_limit_makes_the_answer_incomplete() {
    let place = Place::new();
    place.run(&["check", "--max-states", "5", "long.pml"]).code(3).out("incomplete: ");
    place.run(&["check", "--max-depth", "5", "long.pml"]).code(3).out("--max-depth");
}

#[test]
fn a_lossy_store_verifies_nothing() {
    let place = Place::new();
    let check =
        |options: &[&str]| place.run(&[&["check", "--memory", "64M"][..], options].concat());
    for store in ["bitstate", "compact"] {
        check(&["--optimize", "none", "--por", "off", "--store", store, "good.pml"])
            .code(3)
            .out(&format!(
                "incomplete: no errors in 21 states, 33 transitions, but the store '{store}'"
            ))
            .out("--store exact, and then none is missed")
            .out("(dfs search)");
        check(&["--store", store, "asserts.pml"]).code(1).out("A shortest run to it (3 steps)");
        check(&["--store", store, "--search", "bfs", "good.pml"]).code(2).err("--search dfs");
        check(&["--store", store, "--shortest", "good.pml"]).code(2).err("--store exact");
        let json = check(&["--store", store, "--format", "json", "good.pml"]).code(3).json();
        assert_eq!((&json["store"], &json["search"]), (&store.into(), &"dfs".into()));
        assert_eq!((&json["verdict"], &json["complete"]), (&"incomplete".into(), &false.into()));
        assert_eq!(json["reasons"][0]["code"], "lossy");
        let probability = json["statistics"]["omission_probability"].as_f64().unwrap();
        assert!((1e-30..1e-6).contains(&probability), "{probability}");
        assert_eq!(json["recommendation"]["options"], "--store exact");
    }
    check(&["--hashes", "3", "good.pml"]).code(2).err("for the store 'bitstate'");
    check(&["--store", "compact", "--bits", "31", "good.pml"]).code(2).err("32 to 64 bits");
    check(&["--store", "bitstate", "--bits", "40", "good.pml"]).code(2).err("131072 MB");
}

/// A counter that goes deep, and a lot of states: the stack has no room, the table is full, or most
/// is lost.
#[test]
fn a_lossy_search_without_room_ends_with_advice() {
    let place = Place::new();
    // Every step changes much, so that the stack is full long before the table is.
    place.write(
        "many.pml",
        "int n;\nbyte a[200];\nactive proctype P() {\n  byte i;\n  do\n  :: d_step {\n\
           n < 3000000 -> n++; i = 0;\n\
           do :: i < 200 -> a[i] = n + i; i++ :: else -> break od\n     }\n  od\n}\n",
    );
    place.write(
        "wide.pml",
        "byte a, b, c;\nactive proctype P() {\n\
         end: do :: a < 59 -> a++ :: b < 59 -> b++ :: c < 59 -> c++ :: atomic { a = 0; b = 0; c = 0 } od\n}\n",
    );
    place
        .run(&["check", "--store", "bitstate", "--memory", "64M", "many.pml"])
        .code(3)
        .out("the memory of 64 MB was used up")
        .out(
            "A smaller table leaves more room for the stack: --store bitstate --bits 27 --hashes 3",
        );
    place
        .run(&["check", "--store", "compact", "--memory", "18M", "wide.pml"])
        .code(3)
        .out("the table of states was full")
        .out("--store bitstate --hashes 3");
    // The advice of a search makes the next lose less, until there is none that is better.
    let check = |options: &str| {
        let words = ["check", "--memory", "24M", "--format", "json", "wide.pml"];
        let json = place.run(&words.into_iter().chain(options.split(' ')).collect::<Vec<_>>());
        let json = json.code(3).json();
        let advice = json["recommendation"]["options"].as_str().unwrap().to_owned();
        (json["statistics"]["expected_omissions"].as_f64().unwrap(), advice)
    };
    let (missed, advice) = check("--store bitstate --bits 24");
    assert!(advice.starts_with("--store bitstate --bits 24 --hashes 1"), "{advice}");
    let (less, next) = check(&advice);
    assert!(less < missed / 10.0, "{less} after {missed}");
    assert_eq!(next, advice);
}

#[test]
fn file_problems_are_told() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("folder.pml")).expect("a folder");
    place.write("empty.pml", "");
    place.write("latin1.pml", b"/* \xfc */ init { skip }\n");
    for command in ["check", "simulate"] {
        place.run(&[command, "nowhere.pml"]).code(2).err("nowhere.pml");
        place.run(&[command, "folder.pml"]).code(2).err("directory");
        place.run(&[command, "empty.pml"]).code(2).err("error[");
        place.run(&[command, "latin1.pml"]).code(2).err("UTF-8");
    }
    place.run(&["trail", "good.pml", "nowhere.trail"]).code(2).err("nowhere.trail");
    place.run(&["trail", "good.pml", "folder.pml"]).code(2).err("folder.pml");
    place.run(&["trail", "good.pml", "latin1.pml"]).code(2).err("not a trail");
    place.run(&["trail", "good.pml", "good.pml"]).code(2).err("line 1: expected");
    let said = place.run(&["check", "--trail", "none/such.trail", "asserts.pml"]).code(1);
    said.err("cannot write the trail");
}

#[test]
fn embedded_c_is_refused() {
    let place = Place::new();
    place.write("c.pml", "init {\n  c_code { exit(0); }\n}\n");
    place.run(&["check", "c.pml"]).code(2).err("c.pml:2").err("--allow-c");
    place.run(&["check", "--allow-c", "c.pml"]).code(2).err("not supported yet");
}

#[test]
fn macros_come_from_the_command_line() {
    let place = Place::new();
    place.write("m.pml", "byte x = N;\nactive proctype P() { assert(x == 3) }\n");
    place.run(&["check", "-DN=3", "m.pml"]).code(0);
    place.run(&["check", "-D", "N=4", "m.pml"]).code(1);
    place.run(&["check", "m.pml"]).code(2).err("`N`");
}

#[test]
fn lines_are_those_an_editor_shows() {
    let place = Place::new();
    let model = "\u{feff}#define TWICE(a, \\\r\n  b) a = a + b; \\\r\n  a = a + b\r\n\
        byte\tx;\r\ninit {\r\n\tTWICE(x,\r\n\t\t1);\r\n\tCHECK\r\n}\r\n";
    place.write("crlf.pml", model);
    let check = ["check", "-DCHECK=assert(x == 1)", "--format", "json", "crlf.pml"];
    let json = place.run(&check).code(1).json();
    assert_eq!((&json["errors"][0]["line"], &json["errors"][0]["steps"]), (&8.into(), &3.into()));
    let trail = ["trail", "-DCHECK=assert(x == 1)", "--json", "crlf.pml", "crlf.pml.trail"];
    let json = place.run(&trail).code(1).json();
    let lines: Vec<_> = (0..3).map(|step| json["steps"][step]["line"].clone()).collect();
    assert_eq!(lines, [6, 6, 8]);
    let said = place.run(&["check", "-DCHECK=y = 1", "crlf.pml"]).code(2);
    said.err("crlf.pml:8:2\n").err("8 |     CHECK\n");
}

#[test]
fn invariants_are_checked_and_replayed() {
    let place = Place::new();
    place.write("m.pml", "#define safe (n < MAX)\nbyte n;\nactive proctype P() { n = 1; n = 2 }\n");
    place.run(&["check", "--help"]).code(0).out("--invariant <EXPR>");
    place.run(&["check", "-DMAX=3", "--invariant", "safe", "m.pml"]).code(0).out("verified");
    let args = ["check", "-DMAX=2", "--invariant", "n >= 0", "--invariant", "safe", "m.pml"];
    let said = place.run(&args).code(1).out("violated: invariant violated: safe\n");
    said.out("n: 1 -> 2")
        .out("(with n = 2)")
        .out("  spinward trail -D MAX=2 --invariant 'n >= 0' --invariant safe m.pml m.pml.trail\n");
    let args = ["trail", "-D", "MAX=2", "--invariant", "safe", "m.pml", "m.pml.trail"];
    place.run(&args).code(1).out("invariant violated: safe  (with n = 2)");
    let json = place.run(&["check", "--format", "json", "--invariant", "n<2", "m.pml"]).json();
    assert_eq!(json["errors"][0]["kind"], "invariant");
    assert_eq!(json["errors"][0]["property"], "n<2");
    let args = ["simulate", "--seed", "1", "--invariant", "n != 1", "m.pml"];
    let said = place.run(&args).code(1).out("invariant violated: n != 1");
    assert!(!said.out.contains("n = 2"), "{said:#?}");
    let said = place.run(&["check", "--invariant", "n < m", "m.pml"]).code(2);
    said.err(" --> --invariant:1:5\n").err("1 | n < m\n  |     ^");
    place.run(&["check", "--invariant", "[] safe", "m.pml"]).code(2).err("without `[]`");
}

#[test]
fn colours_only_when_asked_for() {
    let place = Place::new();
    let said = place.run(&["check", "asserts.pml"]);
    assert!(!said.out.contains('\x1b'));
    place.run(&["check", "--color", "always", "asserts.pml"]).code(1).out("\x1b[");
    place.run(&["check", "--color", "always", "nowhere.pml"]).code(2).err("\x1b[");
}

#[test]
fn a_reader_may_leave() {
    let place = Place::new();
    place.run(&["check", "long.pml"]).code(1);
    let mut child = place
        .command(&["trail", "long.pml", "long.pml.trail"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_trail_replays() {
    let place = Place::new();
    place.run(&["check", "asserts.pml"]).code(1);
    let said = place.run(&["trail", "asserts.pml", "asserts.pml.trail"]).code(1);
    said.out("assertion violated: assert(n == 1)  (with n = 2)");
    let json = place.run(&["trail", "--json", "asserts.pml", "asserts.pml.trail"]).code(1).json();
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["errors"][0]["kind"], "assertion");
    assert_eq!(json["steps"][1]["pid"], 0);
    assert_eq!(json["steps"][1]["line"], 4);
    assert_eq!(json["steps"][1]["changes"][0]["after"], "2");
    place.write("short.trail", "1:0:0\n");
    place.run(&["trail", "asserts.pml", "short.trail"]).code(0).out("without an error");
    place.write("wrong.trail", "1:0:0\n2:0:0\n");
    let said = place.run(&["trail", "asserts.pml", "wrong.trail"]).code(2);
    said.err("line 2 of the trail: P(0) cannot do `n = 1` (line 3 of the model) here")
        .err("it can do: `n = 2` (line 4)");
    place.write("alien.trail", "1:0:77\n");
    place.run(&["trail", "asserts.pml", "alien.trail"]).code(2).err("no statement number 77");
    place.write("dead.trail", "1:5:0\n");
    place.run(&["trail", "asserts.pml", "dead.trail"]).code(2).err("there is no process 5 here");
    let json = place.run(&["trail", "--json", "asserts.pml", "dead.trail"]).code(2).json();
    assert_eq!(json["verdict"], "error");
    place.write("stays.trail", "1:0:0\n-1:-1:-1\n");
    let said = place.run(&["trail", "asserts.pml", "stays.trail"]).code(0);
    said.out("without an error");
}

#[test]
fn an_element_whose_index_is_computed_is_told() {
    let place = Place::new();
    let text = "byte a[3], i;\nactive proctype P() { a[1] = 5; i = 2; assert(a[i-1] != 5) }\n";
    place.write("m.pml", text);
    place.run(&["check", "m.pml"]).code(1).out("(with a[1] = 5, i = 2)");
}

#[test]
fn files_whose_names_look_like_options_can_be_replayed() {
    let place = Place::new();
    place.write("-x.pml", "active proctype P() { assert(false) }\n");
    let said = place.run(&["check", "--", "-x.pml"]).code(1);
    assert_eq!(advised(&said), ["trail", "./-x.pml", "./-x.pml.trail"]);
}

#[test]
fn a_trail_tells_of_a_formula_without_a_value() {
    let place = Place::new();
    place.write(
        "m.pml",
        "byte i, a[3];\nactive proctype P() { do :: i++ od }\nltl p { [] (a[i] < 3) }\n",
    );
    let why = "index 3 is out of bounds (0..2) in the condition: a[i] < 3";
    place.run(&["check", "m.pml"]).code(1).out(why);
    place.run(&["trail", "m.pml", "m.pml.trail"]).code(1).out(why);
}

#[test]
fn a_cycle_with_what_nobody_reads_comes_back_after_some_laps() {
    let place = Place::new();
    place.write("m.pml", "bit w;\nactive proctype P() { accept: do :: w = 1 - w od }\n");
    place.run(&["check", "--acceptance", "m.pml"]).code(1).out("1 step");
    place
        .run(&["trail", "m.pml", "m.pml.trail"])
        .code(1)
        .out("w: 1 -> 0")
        .out("The last steps repeat for ever.");
}

/// A model with formulas of which some do not hold.
const FORMULAS: &str = "byte v;
active proctype P() { byte l; v = 1; l = 2; skip; l = 3; v = 2; v = 3 }
active proctype Q() { v == 3; v = 0 }
ltl first { [] (v < 5) }
ltl small { [] (v < 3) }
ltl comes { <> (v == 7) }
";

#[test]
fn a_trail_tells_which_formula_does_not_hold() {
    let place = Place::new();
    place.write("m.pml", FORMULAS);
    let small = "does not hold, whatever comes after: ltl small { [] (v < 3) } at m.pml:5";
    place.run(&["check", "--ltl", "small", "m.pml"]).code(1).out(small);
    place.run(&["trail", "m.pml", "m.pml.trail"]).code(1).out(small);
    place.run(&["trail", "-p", "m.pml", "m.pml.trail"]).code(1).out(small);
    let json = place.run(&["trail", "--json", "m.pml", "m.pml.trail"]).code(1).json();
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["errors"][0]["kind"], "never-claim");
    assert_eq!(json["errors"][0]["line"], 5);
    let said = place.run(&["trail", "--shorten", "m.pml", "m.pml.trail"]).code(1).out(small);
    said.err("a formula does not hold is not shortened here");
    // The last step is what counts.
    let trail = place.read("m.pml.trail");
    let all_but_last = trail.trim_end().rsplit_once('\n').expect("several lines").0;
    place.write("short.trail", all_but_last);
    place.run(&["trail", "m.pml", "short.trail"]).code(0).out("without an error");
    place.run(&["trail", "--ltl", "first", "m.pml", "m.pml.trail"]).code(0);
    let said = place.run(&["trail", "--ltl", "second", "m.pml", "m.pml.trail"]).code(2);
    said.err("the model has no ltl formula 'second'");
}

#[test]
fn a_trail_tells_what_an_infinite_run_shows() {
    let place = Place::new();
    place.write("m.pml", FORMULAS);
    let comes = "does not hold: ltl comes { <> (v == 7) } at m.pml:6";
    place.run(&["check", "--ltl", "comes", "m.pml"]).code(1).out(comes);
    let said = place.run(&["trail", "m.pml", "m.pml.trail"]).code(1);
    said.out("The run stays in this state for ever.").out(comes);
    place.write("m.pml", "byte n;\nactive proctype P() { accept: do :: n = 1 - n od }\n");
    place.run(&["check", "--acceptance", "m.pml"]).code(1);
    place.run(&["trail", "m.pml", "m.pml.trail"]).code(1).out("acceptance cycle: a run comes");
    let text = "byte n;\nactive proctype P() { do :: n = 1 - n :: skip; progress: n = 0 od }\n";
    place.write("m.pml", text);
    place.run(&["check", "--non-progress", "m.pml"]).code(1);
    place.run(&["trail", "m.pml", "m.pml.trail"]).code(1).out("non-progress cycle: a run goes");
}

#[test]
fn a_trail_is_held_against_a_formula_given_beside_the_model() {
    let place = Place::new();
    place.write("m.pml", "byte v;\nactive proctype P() { v = 1; v = 2 }\n");
    let formula = "[] (v < 2)";
    let said = place.run(&["check", "--ltl", formula, "m.pml"]).code(1);
    said.out("spinward trail --ltl '[] (v < 2)' m.pml m.pml.trail");
    place.run(&["trail", "m.pml", "m.pml.trail"]).code(0);
    let said = place.run(&["trail", "--ltl", formula, "m.pml", "m.pml.trail"]).code(1);
    said.out("does not hold, whatever comes after: [] (v < 2)");
}

/// The command that a check advises to see the run, without the name of the program.
fn advised(said: &common::Said) -> Vec<String> {
    let line = said.out.lines().find(|line| line.starts_with("  spinward trail"));
    let words = line.expect("advice").split_whitespace().skip(1);
    words.map(str::to_owned).collect()
}

#[test]
fn the_advised_command_shows_the_error() {
    let place = Place::new();
    place.write("m.pml", "byte v;\nactive proctype P() { do :: v = 1 - v :: v = 2; break od }\n");
    place.write("end.never", "never { do :: v == 2 -> break :: else od }\n");
    place.write("cycle.never", "never { accept: do :: v < 2 od }\n");
    let head = "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"v == 2\"\nAcceptance: 1 Inf(0)\n";
    let end = "--BODY--\nState: 0\n[!0] 0\n[0] 1\nState: 1 {0}\n[t] 1\n--END--\n";
    place.write("end.hoa", format!("{head}{end}"));
    let cycle = "--BODY--\nState: 0 {0}\n[!0] 0\nState: 1\n[t] 1\n--END--\n";
    place.write("cycle.hoa", format!("{head}{cycle}"));
    for claim in ["end.never", "cycle.never", "end.hoa", "cycle.hoa"] {
        let said = place.run(&["check", "--claim", claim, "m.pml"]).code(1);
        let words = advised(&said);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let kinds = |said: &common::Said| said.json()["errors"][0]["kind"].clone();
        let checked = place.run(&["check", "--format", "json", "--claim", claim, "m.pml"]);
        place.run(&words).code(1);
        let replayed = place.run(&[&words[..], &["--json"]].concat()).code(1);
        assert_eq!(kinds(&replayed), kinds(&checked), "{claim}: {replayed:#?}");
        let simulate = ["simulate", "--trail", "m.pml.trail", "--claim", claim, "m.pml"];
        place.run(&simulate).code(1);
    }
    // Of a trail that is cut short nobody knows how it goes on.
    place.write("empty.trail", "");
    place.run(&["trail", "--claim", "end.hoa", "m.pml", "empty.trail"]).code(0);
    place.run(&["trail", "--show-claim", "m.pml", "empty.trail"]).code(0);
    let two = "byte v;\nactive proctype P() { v = 1; v = 2 }\nltl p { [] (v < 1) }\nltl q { [] (v < 2) }\n";
    place.write("two.pml", two);
    let said = place.run(&["check", "--ltl", "q", "two.pml"]).code(1);
    assert_eq!(advised(&said), ["trail", "--ltl", "q", "two.pml", "two.pml.trail"]);
    let words = ["trail", "--ltl", "q", "two.pml", "two.pml.trail"];
    let said = place.run(&words).code(1).out("ltl q");
    assert!(!said.out.contains("ltl p"), "{said:#?}");
    let never = "byte v;\nactive proctype P() { v = 1 }\nnever { do :: v == 1 -> break :: else od }\nltl p { [] (v < 1) }\n";
    place.write("never.pml", never);
    let said = place.run(&["check", "--ltl", "never_0", "never.pml"]).code(1);
    let words = advised(&said);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    place.run(&words).code(1);
}

#[test]
fn a_trail_of_spin_names_the_formula() {
    // As SPIN 6.5.2 wrote them for `pan -a -N small` and `-N comes`.
    let place = Place::new();
    place.write("m.pml", FORMULAS);
    let small = "-2:3:-2\n-4:-4:-4\n1:0:23\n2:1:0\n3:0:23\n4:1:1\n5:0:23\n6:1:2\n7:0:23\n\
        8:1:4\n9:0:23\n10:1:5\n11:0:20\n";
    place.write("small.trail", small);
    let said = place.run(&["trail", "m.pml", "small.trail"]).code(1);
    said.out("does not hold, whatever comes after: ltl small");
    let comes = "-2:4:-2\n-4:-4:-4\n1:0:30\n2:1:0\n3:0:30\n4:1:1\n5:0:30\n6:1:2\n7:0:30\n\
        8:1:4\n9:0:30\n10:1:5\n11:0:30\n12:2:7\n13:0:30\n14:2:8\n15:0:30\n16:2:9\n17:0:30\n\
        18:1:6\n-1:-1:-1\n19:0:30\n20:0:30\n";
    place.write("comes.trail", comes);
    let said = place.run(&["trail", "m.pml", "comes.trail"]).code(1);
    let said = said.out("does not hold: ltl comes");
    assert!(!said.out.contains("ltl small"), "{said:#?}");
}

#[test]
fn a_deadlock_at_once_has_a_trail_without_steps() {
    let place = Place::new();
    let said = place.run(&["check", "deadlock.pml"]).code(1).out("invalid end state");
    said.out("initial state");
    assert_eq!(place.read("deadlock.pml.trail"), "");
    place.run(&["trail", "deadlock.pml", "deadlock.pml.trail"]).code(1).out("invalid end state");
}

#[test]
fn a_merged_trail_of_spin_replays() {
    let place = Place::new();
    let text = "active proctype P() { byte x; x = 1; x = 2; assert(x == 1) }\n";
    place.write("merged.pml", text);
    place.write("merged.trail", "-4:-4:-4\n1:0:0\n");
    let said = place.run(&["trail", "merged.pml", "merged.trail"]).code(1);
    said.out("(with x = 2)");
}

const DETOURS: &str = "byte n;
active proctype P() {
  do
  :: n < 30 -> n++
  :: n = 30
  :: n == 30 -> break
  od;
  assert(n < 30)
}
";

#[test]
fn a_trail_is_shortened() {
    let place = Place::new();
    place.write("m.pml", DETOURS);
    place.run(&["check", "--search", "dfs", "m.pml"]).code(1).out("A run to it (62 steps):");
    let long = place.read("m.pml.trail");
    let said = place.run(&["trail", "--shorten", "m.pml", "m.pml.trail"]).code(1);
    said.out("assertion violated: assert(n < 30)  (with n = 30)")
        .out("shortened from 62 to 3 steps: no run to this error is shorter.")
        .out("The run is in m.pml.short.trail.");
    assert_eq!(place.read("m.pml.trail"), long, "the trail stays as it is");
    place.run(&["trail", "m.pml", "m.pml.short.trail"]).code(1).out("1  P(0)");

    // Once more there is nothing to gain, and nothing is written.
    let said = place.run(&["trail", "--shorten", "m.pml", "m.pml.short.trail"]).code(1);
    said.out("cannot be shortened from 3 steps: no run to this error is shorter.");
    assert!(!place.path().join("m.pml.short.short.trail").exists());

    let words = ["trail", "--shorten", "--json", "-o", "other.trail", "m.pml", "m.pml.trail"];
    let json = place.run(&words).code(1).json();
    assert_eq!((&json["verdict"], &json["length"]), (&"violated".into(), &3.into()));
    assert_eq!(json["shortened"]["from"], 62);
    assert_eq!(json["shortened"]["steps"], 3);
    assert_eq!(json["shortened"]["shortest"], true);
    assert_eq!(json["shortened"]["output"], "other.trail");
    assert_eq!(place.read("other.trail"), place.read("m.pml.short.trail"));

    let words = ["trail", "--shorten", "-p", "--output", "none/such", "m.pml", "m.pml.trail"];
    place
        .run(&words)
        .code(1)
        .err("cannot write the trail to none/such")
        .out("trail ends after 3 steps")
        .out("shortened from 62 to 3 steps");
}

#[test]
fn a_merged_trail_of_spin_is_shortened() {
    let place = Place::new();
    let text =
        "byte x;\nactive proctype P() { do :: x++ :: x = 5 :: x > 4 -> assert(x != 5) od }\n";
    place.write("m.pml", text);
    place.write("spin.trail", "-4:-4:-4\n1:0:0\n2:0:0\n3:0:1\n4:0:2\n5:0:3\n");
    let said = place.run(&["trail", "--shorten", "m.pml", "spin.trail"]).code(1);
    said.out("shortened from 5 to 3 steps: no run to this error is shorter.");
    assert_eq!(place.read("spin.short.trail"), "1:0:1\n2:0:2\n3:0:3\n");
}

#[test]
fn what_cannot_be_shortened_is_told() {
    let place = Place::new();
    place.write("none.trail", "1:0:0\n");
    let said = place.run(&["trail", "--shorten", "asserts.pml", "none.trail"]).code(0);
    said.err("nothing to shorten: the trail does not end in an error").out("without an error");
    assert!(!place.path().join("none.short.trail").exists());

    place.write("m.pml", "bit w;\nactive proctype P() { accept: do :: w = 1 - w od }\n");
    place.run(&["check", "--acceptance", "m.pml"]).code(1);
    let words = ["trail", "--shorten", "--json", "m.pml", "m.pml.trail"];
    let said = place.run(&words).code(1).err("`spinward check --shortest` finds a shortest one");
    let json = said.json();
    assert!(json["shortened"].is_null());
    assert!(json["notes"][0].as_str().is_some_and(|note| note.contains("goes on for ever")));

    place.write("m.pml", DETOURS);
    place.run(&["check", "--search", "dfs", "m.pml"]).code(1);
    let late = ["trail", "--shorten", "--time", "0", "m.pml", "m.pml.trail"];
    place.run(&late).code(1).out(
        "No run of fewer than 62 steps was found; there may be a shorter one, but the time of 0 s",
    );
    assert!(!place.path().join("m.pml.short.trail").exists());
    let json = place.run(&[&late[..4], &["--json"], &late[4..]].concat()).code(1).json();
    assert_eq!(json["shortened"]["reason"]["code"], "time");

    place.run(&["trail", "--output", "x", "m.pml", "m.pml.trail"]).code(2).err("--shorten");
    place.run(&["trail", "--time", "1", "m.pml", "m.pml.trail"]).code(2).err("--shorten");
}

#[test]
fn a_check_tells_that_it_found_a_shorter_run() {
    let place = Place::new();
    place.write("m.pml", DETOURS);
    let lossy = ["check", "--store", "compact", "--memory", "64M", "m.pml"];
    place.run(&lossy).code(1).out("A shortest run to it (3 steps; the search found one of 62):");
    let off = place.run(&[&lossy[..5], &["--shorten", "off", "m.pml"]].concat()).code(1);
    off.out("A run to it (62 steps):");
    let dfs = ["check", "--search", "dfs", "--shorten", "on", "m.pml"];
    place.run(&dfs).code(1).out("A shortest run to it (3 steps; the search found one of 62):");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let place = Place::new();
    let args = ["simulate", "--seed", "7", "-p", "-g", "good.pml"];
    let first = place.run(&args).code(0).out("n = 1").out("2 processes created");
    assert_eq!(first.out, place.run(&args).out);
    place.run(&["simulate", "good.pml"]).code(0).err("--seed ").out("          hi\n");
    place.run(&["simulate", "-T", "good.pml"]).code(0).out("hi\nhi\n");
    place.run(&["simulate", "--seed", "1", "asserts.pml"]).code(1).out("asserts.pml:5: assertion");
    place.run(&["simulate", "--seed", "1", "deadlock.pml"]).code(1).out("timeout\n");
    place
        .run(&["simulate", "--seed", "1", "--steps", "9", "long.pml"])
        .code(0)
        .out("stopped after 9");
}

#[test]
fn a_run_by_hand() {
    let place = Place::new();
    let said = place
        .run_with_input(&["simulate", "-i", "asserts.pml"], "1\nv\nu\nu\n1\n1\nx\n9\nr\nh\nc\n");
    let said = said.code(1).out("n: 0 -> 1").out("this is the start").out("what is `x`?");
    said.out("there is no step 9").out("assertion violated").out("no channel");
    place.run_with_input(&["simulate", "-i", "asserts.pml"], "1\nq\n").code(0);
    let no_text = b"\xff\n1\nq\n";
    place.run_with_input(&["simulate", "-i", "asserts.pml"], no_text).code(0).out("n: 0 -> 1");
    place.run_with_input(&["simulate", "-i", "asserts.pml"], "").code(0);
}

#[test]
fn automata_are_drawn() {
    let place = Place::new();
    place.run(&["graph", "good.pml"]).code(0).out("digraph");
    place.run(&["graph", "--format", "svg", "-o", "good.svg", "good.pml"]).code(0);
    assert!(place.read("good.svg").contains("<svg"));
    assert!(place.run(&["graph", "--format", "json", "good.pml"]).code(0).json().is_object());
    place.run(&["graph", "nowhere.pml"]).code(2).err("nowhere.pml");
    place.run(&["graph", "-o", "none/such.dot", "good.pml"]).code(2).err("cannot write");
}
