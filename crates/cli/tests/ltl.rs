//! `spinward ltl` as people meet it.

mod common;

use std::process::Command;

use common::{Place, Said};

/// Formulas with all of SPIN's syntax, over the names of [`MODEL`].
const FORMULAS: [&str; 17] = [
    "true",
    "false",
    "p",
    "[] (p -> <> q)",
    "[]<> p && []<> q && []<> r",
    "!(p U (q V r))",
    "X X p || p W q",
    "always (p implies eventually q)",
    "(p stronguntil q) && (q weakuntil r) && (r release next p)",
    "p <-> [] q",
    "<>[] (n + 1 > 2 && a[n % 2] == 3) -> !!q",
    "[] (P@here -> <> P[0]@here)",
    "P[0]:x == 1 U n > 2",
    "[] (c?[1] || nempty(c) || len(c) == 2 || full(c))",
    "<> (!full(c) && !nfull(c) && !empty(c) && !(nempty(c)))",
    "[] (timeout -> (p equivalent q))",
    "[] (skip\n -> <> /* a comment */ p) // another",
];

const MODEL: &str = "bool p, q, r; byte n, a[2]; chan c = [2] of { byte };\n\
                     active proctype P() { byte x; here: x++; c!x; n++ }\n";

fn ltl(args: &[&str]) -> Said {
    Place::new().run(&[&["ltl"], args].concat())
}

/// The text after `HOA: v1`, without the name.
fn automaton(args: &[&str]) -> String {
    let hoa = ltl(&[&["--format", "hoa"], args].concat()).code(0).out("HOA: v1\n").out;
    hoa.lines().filter(|line| !line.starts_with("name:")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_formula_becomes_a_never_claim() {
    let said = ltl(&["[] (p -> <> q)"]).code(0);
    assert_eq!(
        said.out,
        "never {    /* [] (p -> <> q) */\n\
         accept_init:\n\
         \tdo\n\
         \t:: (!(p) || (q)) -> goto accept_init\n\
         \t:: (1) -> goto T0_S1\n\
         \tod;\n\
         T0_S1:\n\
         \tdo\n\
         \t:: ((q)) -> goto accept_init\n\
         \t:: (1) -> goto T0_S1\n\
         \tod;\n\
         }\n"
    );
    assert_eq!(said.err, "");
    let negated = ltl(&["--negate", "[] (p -> <> q)"]).code(0).out("/* !([] (p -> <> q)) */").out;
    let by_hand = ltl(&["!([] (p -> <> q))"]).code(0).out;
    assert_eq!(negated, by_hand);
}

#[test]
fn spin_reads_the_claims() {
    if Command::new("spin").arg("-V").output().is_err() {
        return;
    }
    let place = Place::new();
    let check = |claim: &Said| {
        place.write("m.pml", format!("{MODEL}{}", claim.out));
        let spin = Command::new("spin").args(["-a", "m.pml"]).current_dir(place.path()).output();
        let said = Said::new(&spin.expect("SPIN runs"));
        assert!(said.code == 0 && !said.out.contains("rror"), "{said:#?}\n{claim:#?}");
    };
    for formula in FORMULAS {
        check(&place.run(&["ltl", formula]).code(0));
        check(&place.run(&["ltl", "--negate", formula]).code(0));
    }
    let words = ["ltl", "--format", "never", "--pattern", "response", "-p", "n > 2", "-t", "p"];
    check(&place.run(&words).code(0));
}

#[test]
fn a_simpler_formula_means_the_same() {
    let place = Place::new();
    for formula in FORMULAS {
        let simple = place.run(&["ltl", "--format", "formula", formula]).code(0).out;
        let said = place.run(&["ltl", "--equivalent", &simple, formula]).code(0);
        said.out("equivalent: ");
    }
    let said = ltl(&["--format", "formula", "!(!<>(x > 1) || X !!q)"]).code(0);
    assert_eq!(said.out, "X !q && <>(x > 1)\n");
}

#[test]
fn automata_for_others() {
    let generalized = automaton(&["[]<> p && []<> q"]);
    assert!(generalized.contains("acc-name: generalized-Buchi 2"), "{generalized}");
    assert!(generalized.contains("trans-acc"), "{generalized}");
    let by_state = automaton(&["--state-based", "[]<> p && []<> q"]);
    assert!(by_state.contains("acc-name: Buchi"), "{by_state}");
    assert!(by_state.contains("state-acc"), "{by_state}");
    let dot = ltl(&["--format", "dot", "p U q"]).code(0);
    dot.out("digraph").out("[label = \"(q)");
    ltl(&["--format", "dot", "--state-based", "p U q"]).code(0).out("doublecircle");
    // The other formats are not asked for beside a question.
    for question in [&["--test"][..], &["--trace", "p"], &["--equivalent", "p"]] {
        let words = [&["--format", "hoa", "p"], question].concat();
        ltl(&words).code(2).err("cannot be used with");
    }
}

#[test]
fn macros_stand_for_their_text() {
    let with = automaton(&["-D", "p=(x > 0)", "-D", "BOTH(a,b)=(a && b)", "[] BOTH(p, q)"]);
    assert_eq!(with, automaton(&["[] (x > 0 && q)"]));
    assert_eq!(automaton(&["-DON", "<> ON"]), automaton(&["<> 1"]));
}

#[test]
fn the_same_text_is_the_same_proposition() {
    let said = ltl(&["--equivalent", "p && x>1 || !p && x > 1", "x > 1"]).code(0);
    said.out("equivalent: they are true of the same runs");
    ltl(&["--equivalent", "x >= 2", "x > 1"]).code(1).out("not equivalent");
}

#[test]
fn formulas_that_differ_are_told_apart() {
    let said = ltl(&["<> p", "--equivalent", "[]<> p"]).code(1);
    assert_eq!(
        said.out,
        "not equivalent: of the run p-\n  <> p\n    is true\n  []<> p\n    is false\n"
    );
    let said = ltl(&["--negate", "<> p", "--equivalent", "<>! p"]).code(1);
    said.out("of the run -p-\n  !(<> p)\n    is false\n  <>! p\n    is true\n");
}

#[test]
fn traces_are_evaluated() {
    let response = "[] (p -> <> q)";
    for (trace, truth) in [
        ("--p--q-", true),
        ("--p--q-p", false),
        ("--p{q-}", true),
        ("q{p-}", false),
        ("(pq)", true),
        ("-", true),
    ] {
        let said = ltl(&["--trace", trace, response]).code(i32::from(!truth));
        assert_eq!(said.out, format!("{truth}: {trace}\n"));
        ltl(&["--negate", "--trace", trace, response]).code(i32::from(truth));
    }
    let said = ltl(&["--trace", "p", "--trace", "-pq", response]).code(1);
    assert_eq!(said.out, "false: p\ntrue: -pq\n");
    ltl(&["--trace", "-(ready)(x > 1)", "<> (ready && X (x > 1))"]).code(0);
    let wrong = ltl(&["--trace", "-x", response]).code(2);
    wrong.err("the trace '-x' cannot be read: `x` is not in the formula (it has p, q)");
    ltl(&["--trace", "p{", response]).code(2).err("`{` has no partner here");
    ltl(&["--trace", "", response]).code(2).err("there is no state in it");
}

/// The runs between two lines.
fn runs(text: &str, from: &str, to: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with(from)).skip(1);
    let lines = lines.take_while(|line| to.is_empty() || !line.starts_with(to));
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn samples_are_what_they_are_shown_for() {
    let formula = "[] (p -> (!q U r)) || X q";
    let said = ltl(&["--test", formula]).code(0).out("Because of X").out;
    let shown = said.split("\n\n").next().expect("runs");
    let (accepted, rejected) = (runs(shown, "accepts", "rejects"), runs(shown, "rejects", ""));
    assert!(accepted.len() > 2 && rejected.len() > 2, "{said}");
    for (all, code) in [(accepted, 0), (rejected, 1)] {
        for run in all {
            ltl(&["--trace", &run, formula]).code(code);
        }
    }
    let said = ltl(&["--test", "p || !p"]).code(0).out("rejects no run").out;
    assert!(!said.contains("Because"), "{said}");
    ltl(&["--test", "p && !p"]).code(0).out("accepts no run");
}

#[test]
fn patterns_make_formulas() {
    let said = ltl(&["--pattern", "response", "-p", "req == 1", "-t", "ack"]).code(0);
    assert_eq!(
        said.out,
        "[]((req == 1) -> <>ack)\n\n\
         In the whole run, whenever (req == 1) holds, ack holds in the same state or a later one.\n"
    );
    // Long names, and letters that stand for themselves.
    let short = ltl(&["--pattern=precedence", "--scope=between", "-p=P", "-t=T", "-l=L", "-r=R"]);
    let long = ltl(&[
        "--pattern=precedence",
        "--scope=between",
        "--prop=P",
        "--then=T",
        "--from=L",
        "--to=R",
    ]);
    let letters = ltl(&["--pattern", "precedence", "--scope", "between"]).code(0);
    assert_eq!(short.code(0).out, letters.out);
    assert_eq!(long.code(0).out, letters.out);
    let strict = ltl(&["--pattern", "response", "--strict"]).code(0).out;
    assert_eq!(strict, ltl(&["--pattern", "strict-response"]).code(0).out);
    assert_ne!(strict, ltl(&["--pattern", "response"]).code(0).out);
    ltl(&["--pattern", "absence", "--format", "formula"]).code(0).out("[]!P\n");
    let claim = ltl(&["--pattern", "absence", "--negate", "--format", "never"]).code(0);
    claim.out("/* Violated: In the whole run, P never holds. */\nnever {    /* !([]!P) */\n");
    ltl(&["--pattern", "absence", "--test"])
        .code(0)
        .out("P never holds.\n\naccepts, among others:\n");
}

/// Salamah and others, *Verifying Pattern-Generated LTL Formulas* (SPIN 2005): runs of which formulas of
/// others said something else than their texts.
#[test]
fn patterns_mean_what_they_say() {
    let absence = ["--pattern", "absence", "--scope", "before"];
    let existence = ["--pattern", "existence", "--scope", "between"];
    let precedence = ["--pattern", "precedence", "--scope", "after"];
    for (pattern, more, trace, code) in [
        (absence, &[][..], "--(PR)-", 0),
        (absence, &[], "-PR-", 1),
        (existence, &[], "--L-P-L-R-", 1),
        (existence, &["--nested", "outermost"], "--L-P-L-R-", 0),
        (precedence, &[], "--L--P--L--", 1),
    ] {
        ltl(&[&pattern[..], more, &["--trace", trace]].concat()).code(code);
    }
}

#[test]
fn all_patterns_are_listed() {
    let list = ltl(&["--pattern", "list"]).code(0).out;
    for name in [
        "absence",
        "existence",
        "universality",
        "bounded-existence",
        "precedence",
        "strict-precedence",
        "response",
        "strict-response",
    ] {
        let said = ltl(&["--pattern", name]).code(0).out;
        for line in said.lines().filter(|line| !line.is_empty()) {
            assert!(list.contains(&format!(" {line}\n")), "{line:?} is not in\n{list}");
        }
        assert!(list.contains(&format!("\n  {name} ")), "{list}");
    }
    for scope in ["global", "before", "after", "between", "after-until"] {
        let said = ltl(&["--pattern", "absence", "--scope", scope]).code(0).out;
        assert!(said.lines().all(|line| list.contains(line)), "{said}\n{list}");
    }
}

#[test]
fn mistakes_are_told() {
    ltl(&[]).code(2).err("FORMULA");
    ltl(&["p", "--pattern", "absence"]).code(2).err("cannot be used with");
    ltl(&["p", "-p", "q"]).code(2).err("-p is for --pattern only");
    ltl(&["p", "--scope", "after"]).code(2).err("--scope is for --pattern only");
    ltl(&["--pattern", "absense"])
        .code(2)
        .err("there is no pattern 'absense'; did you mean 'absence'? there are absence");
    ltl(&["--pattern", "absence", "--scope", "x"]).code(2).err("there is no scope 'x'");
    let words = ["--pattern", "absence", "--scope", "between", "-p", "x"];
    ltl(&words).code(2).err("error: the scope between needs L: give it by -l");
    let words = ["--pattern", "absence", "-p", "x", "-t", "y"];
    ltl(&words).code(2).err("error: the pattern absence has no T, but -t is given");
    ltl(&["--pattern", "absence", "--strict"]).code(2).err("for precedence and response only");
    ltl(&["--pattern", "absence", "--nested", "every"]).code(2).err("between and after-until");
    ltl(&["--format", "formula", "--state-based", "p"])
        .code(2)
        .err("--state-based is for automata");
    ltl(&["--state-based", "p"]).code(2).err("--format");
}

#[test]
fn mistakes_in_formulas_point_into_them() {
    for (words, message) in [
        (
            &["[] (p -> <>)"][..],
            "error[E0201]: expected an expression, found `)`\n --> formula:1:12\n  |\n\
             1 | [] (p -> <>)\n  |            ^ expected an expression\n",
        ),
        (
            &["<> p q"],
            "error[E0201]: expected an operator or the end, found `q`\n --> formula:1:6\n  |\n\
             1 | <> p q\n  |      ^ expected an operator or the end\n",
        ),
        (
            &["[] run P()"],
            "error[E0323]: a formula cannot start a process\n --> formula:1:4\n  |\n\
             1 | [] run P()\n  |    ^^^^^^^\n",
        ),
        (
            &["p", "--equivalent", "a[<> p]"],
            "error[E0411]: a value is wanted here, not a temporal formula\n --> --equivalent:1:3\n  |\n\
             1 | a[<> p]\n  |   ^^^^\n",
        ),
        (
            &["--pattern", "absence", "-p", "(x"],
            "error[E0201]: expected `)`, found the end of the text\n --> -p:1:3\n  |\n\
             1 | (x\n  | - ^ expected `)`\n  | |\n  | this `(` is open\n",
        ),
    ] {
        let said = ltl(words).code(2);
        assert_eq!((&*said.err, &*said.out), (message, ""));
    }
    ltl(&["[] x == 1"]).code(2).err("formula:1:6").err("write `[] (x == 1)`");
    ltl(&[""]).code(2).err("--> formula");
    let many: Vec<String> = (0..65).map(|number| format!("p{number}")).collect();
    ltl(&[&many.join(" || ")]).code(2).err("there can be 64 propositions, and here are more");
    ltl(&[&many[1..].join(" || ")]).code(0);
    ltl(&["\"text\""]).code(2).err("formula:1:1");
}

#[test]
fn what_is_too_large_is_refused() {
    let many: Vec<String> = (0..30).map(|number| format!("[]<> p{number}")).collect();
    ltl(&[&many.join(" <-> ")]).code(2).err("error[E0905]: the formula is too large");
    let formula = many[..8].join(" <-> ");
    ltl(&[&formula]).code(2).err("error: the automaton of the formula has more than");
    ltl(&["--equivalent", &formula, "p"]).code(2).err("has more than");
    let deep = format!("{}p{}", "(".repeat(60_000), ")".repeat(60_000));
    ltl(&[&deep]).code(2).err("formula:1:");
}
