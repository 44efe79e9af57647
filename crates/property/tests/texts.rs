//! What is printed and what is read: formulas, claims, HOA, dot, traces.

mod support;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use spinward_property::hoa::read;
use spinward_property::print::{dot, dot_by_state, hoa, hoa_by_state, never_claim};
use spinward_property::traces::{self, TraceError, samples, written};
use spinward_property::{Formula, Lasso, accepts, holds, translate, translate_to_buchi};
use support::parse;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn formulas() {
    let texts = names(&["ready", "n > 2", "q"]);
    for (text, expected) in [
        ("[](p0 -> <>p1)", "[](ready -> <>(n > 2))"),
        ("!p0 U (p1 & p2)", "!ready U ((n > 2) && q)"),
        ("(p0 R p1) | X p2", "X q || (ready V (n > 2))"),
        ("(p0 | p1) R p2", "(ready || (n > 2)) V q"),
        ("p0 R (p0 | p2)", "q W ready"),
        ("(p0 | p1) R (p0 | p1 | !p2)", "!q W (ready || (n > 2))"),
        ("(p0 | p1) R (p0 | !p2)", "(ready || (n > 2)) V (q -> ready)"),
        ("!p0 | !p2", "!ready || !q"),
        ("!p0 | !(p1 & p2)", "((n > 2) && q) -> !ready"),
        ("!<>p0 | !(p1 U p2)", "<>ready -> !((n > 2) U q)"),
        ("!(p0 U p1)", "!(ready U (n > 2))"),
        ("[]<>!p0", "[]<>!ready"),
        ("true U p3", "<>p3"),
        ("p0 & !p0", "false"),
    ] {
        assert_eq!(parse(text).display(&texts).to_string(), expected);
    }
    assert_eq!(format!("{:?}", parse("!([](p0 -> X p1))").normal_form()), "<>(p0 && X !p1)");
    assert!(parse("[](p0 U p1)").stutter_invariant());
    assert!(!parse("[](p0 U X p1)").stutter_invariant());
    assert_eq!(parse("[](p5 U p1)").atoms(), 0b10_0010);
}

/// What is shown means what it is shown for.
#[test]
fn shown_formulas_mean_the_same() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for _ in 0..3000 {
        let [a, b, c, d] = [4; 4].map(|nodes| support::random_formula(&mut random, nodes, 3));
        // What could be taken for `W`, and for an implication.
        let formula = Formula::or([a.clone(), b.clone()]).release(&Formula::or([a, c]));
        let formula = Formula::or([formula, b.not(), d.not()]);
        let shown = format!("{formula:?}");
        let again = parse(&shown.replace("&&", "&").replace("||", "|").replace(" V ", " R "));
        for _ in 0..10 {
            let lasso = support::random_lasso(&mut random, 3);
            assert_eq!(holds(&formula, &lasso), holds(&again, &lasso), "{shown}");
        }
    }
}

#[test]
fn claims() {
    let texts = names(&["p", "q == 1"]);
    let claim =
        |text: &str| never_claim(&translate_to_buchi(&parse(text)).expect("small"), &texts, text);
    assert_eq!(
        claim("!([](p0 -> <>p1))"),
        "never {    /* !([](p0 -> <>p1)) */\n\
         T0_init:\n\
         \tdo\n\
         \t:: (1) -> goto T0_init\n\
         \t:: ((p) && !(q == 1)) -> goto accept_S1\n\
         \tod;\n\
         accept_S1:\n\
         \tdo\n\
         \t:: (!(q == 1)) -> goto accept_S1\n\
         \tod;\n\
         }\n"
    );
    assert_eq!(
        claim("<>p0"),
        "never {    /* <>p0 */\n\
         T0_init:\n\
         \tdo\n\
         \t:: (!(p)) -> goto T0_init\n\
         \t:: ((p)) -> goto accept_all\n\
         \tod;\n\
         accept_all:\n\
         \tskip\n\
         }\n"
    );
    assert_eq!(claim("true"), "never {    /* true */\naccept_init:\n\tskip\n}\n");
    assert_eq!(claim("false"), "never {    /* false */\nT0_init:\n\tfalse;\n}\n");
    assert!(claim("[]p0").contains("accept_init:\n\tdo\n\t:: ((p)) -> goto accept_init\n"));
}

#[test]
fn hoa_and_dot() {
    let texts = names(&["p", "q \"1\""]);
    let automaton = translate(&parse("[]<>p0 & []<>p1")).expect("small");
    let text = hoa(&automaton, &texts, "both");
    assert_eq!(
        text,
        "HOA: v1\nname: \"both\"\nStates: 1\nStart: 0\nAP: 2 \"p\" \"q \\\"1\\\"\"\n\
         acc-name: generalized-Buchi 2\nAcceptance: 2 Inf(0)&Inf(1)\n\
         properties: trans-labels explicit-labels trans-acc\n--BODY--\nState: 0\n\
         [t] 0\n[0] 0 {0}\n[1] 0 {1}\n[0&1] 0 {0 1}\n--END--\n"
    );
    assert_eq!(read(&text), Ok((automaton.clone(), texts.clone())));
    let graph = dot(&automaton, &texts);
    assert!(graph.contains("0 -> 0 [label = \"(p) && (q \\\"1\\\") {0 1}\"]"), "{graph}");
    let buchi = translate_to_buchi(&parse("<>[]p0")).expect("small");
    assert!(hoa_by_state(&buchi, &texts, "").contains("State: 1 {0}\n"));
    assert!(dot_by_state(&buchi, &texts).contains("1 [shape = doublecircle]"));
}

const HEAD: &str = "HOA: v1\nStates: 2\nStart: 0\nAP: 2 \"a\" \"b\"\n";

#[test]
fn hoa_of_others() {
    let word = |cycle: &[u64]| Lasso { prefix: Vec::new(), cycle: cycle.to_vec() };
    // Labels on states, aliases, a comment, several initial states, an unused acceptance set.
    let text = "HOA: v1 /* no /* real */ automaton */ tool: \"ltl3\" \"1\"\n\
                States: 3 Start: 0 Start: 2\nAP: 2 \"a\" \"b\"\nAlias: @both 0 & 1\n\
                Alias: @other !@both | f\nacc-name: Buchi\nAcceptance: 3 (Inf(2))\n\
                properties: state-labels\n--BODY--\n\
                State: [@both] 0 \"first\" {2}\n0\nState: [@other] 1 {0 2} 1\n\
                State: [t & (0 | 1)] 2 1 /* goes */ 2\n--END--\n";
    let (automaton, texts) = read(text).expect("it is right");
    assert_eq!(texts, names(&["a", "b"]));
    assert_eq!((automaton.sets, automaton.states.len()), (1, 4));
    for (cycle, expected) in [(&[3][..], true), (&[1], true), (&[0], false), (&[3, 0], false)] {
        assert_eq!(accepts(&automaton, &word(cycle)), expected, "{cycle:?}");
    }
    let later = Lasso { prefix: vec![1], cycle: vec![0] };
    assert!(accepts(&automaton, &later));
    // No labels: one edge for each valuation.
    let text = format!(
        "{HEAD}Acceptance: 1 Inf(0)\n--BODY--\nState: 0 0 0 {{0}} 1 1\nState: 1 1 1 1 1\n--END--"
    );
    let (automaton, _) = read(&text).expect("it is right");
    assert!(accepts(&automaton, &word(&[1, 0])));
    assert!(!accepts(&automaton, &word(&[2, 1])));
    assert!(!accepts(&automaton, &word(&[0])));
}

#[test]
fn hoa_refused() {
    let deep = format!("State: 0 [{}0] 0", "!(".repeat(5000));
    for (rest, expected) in [
        ("", "line 5: there is no `Acceptance:`"),
        ("Acceptance: 1 Fin(0)\n", "line 5: only Büchi and generalized Büchi acceptance is read"),
        ("Acceptance: 1 Inf(!0)\n", "line 5: only Büchi"),
        ("Acceptance: 2 Inf(0)|Inf(1)\n", "line 5: only Büchi"),
        ("Acceptance: 1 Inf(1)\n", "line 5: there is no acceptance set 1"),
        ("Start: 0&1\n", "line 5: alternating automata are not read"),
        ("Start: 7\n", "line 5: there is no state 7"),
        ("Strange: 1\n", "line 5: the header `Strange:` is not known, and it matters"),
        ("AP: 0\n", "line 5: a second `AP:`"),
        ("Alias: @a 2\n", "line 5: there is no atomic proposition 2"),
        ("name: \"open", "line 5: a text in quotes does not end"),
        ("/* open", "line 5: a comment does not end"),
        ("States: 99999999999999999999", "line 5: `99999999999999999999` is no number"),
        ("States: 99999999", "line 5: more than 1048576 states"),
    ] {
        let text = format!("{HEAD}{rest}--BODY--\n--END--\n");
        let error = read(&text).expect_err(rest).to_string();
        assert!(error.starts_with(expected), "{rest}: {error}");
    }
    for (body, expected) in [
        ("State: 0 [0] 0 1", "line 7: some edges of the state have labels and some have none"),
        ("State: [0] 0 [0] 0", "line 7: a label on an edge and one on its state"),
        ("State: 0 0 0 0", "line 7: fewer edges without label than there are valuations"),
        ("State: 0 0 0 0 0 0", "line 7: more edges without label than there are valuations"),
        ("State: 0 [@c] 0", "line 7: there is no alias `@c`"),
        ("State: 0 [0 0] 0", "line 7: `]` is missing"),
        ("State: 0\nState: 0", "line 8: state 0 for the second time"),
        ("State: 0 [0] 0 & 1", "line 7: alternating automata are not read"),
        ("State: 0 [0] 0 {1}", "line 7: there is no acceptance set 1"),
        ("--ABORT--", "line 7: the automaton was not finished"),
        ("nonsense", "line 7: `State:` or `--END--` is expected here"),
        ("--END-- HOA: v1", "line 7: more than one automaton in a file is not read"),
        (&deep, "line 7: the label is nested too deep"),
    ] {
        let text = format!("{HEAD}Acceptance: 1 Inf(0)\n--BODY--\n{body}\n--END--\n");
        let error = read(&text).expect_err(body).to_string();
        assert!(error.starts_with(expected), "{body}: {error}");
    }
    for text in ["", "HOA: v2", "never { }", "HOA: v1", "--"] {
        assert!(read(text).is_err(), "{text}");
    }
    // No end of a right file is right, and none makes us panic.
    let whole = format!("{HEAD}Acceptance: 1 Inf(0)\n--BODY--\nState: 0 [0&!1] 1 {{0}}\n--END--");
    assert!(read(&whole).is_ok());
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        assert!(read(&whole[..end]).is_err(), "{end}");
    }
}

#[test]
fn written_traces() {
    let names = names(&["P", "R", "busy"]);
    let lasso =
        |prefix: &[u64], cycle: &[u64]| Lasso { prefix: prefix.to_vec(), cycle: cycle.to_vec() };
    for (text, expected) in [
        ("-P-", lasso(&[0, 1], &[0])),
        ("(RP)", lasso(&[], &[3])),
        ("- P {R (busy)}", lasso(&[0, 1], &[2, 4])),
        ("(P,busy)R", lasso(&[5], &[2])),
        ("(){-}", lasso(&[0], &[0])),
    ] {
        let read = traces::read(text, &names).expect(text);
        assert_eq!(read, expected, "{text}");
        let again = written(&read, &names).to_string();
        assert_eq!(traces::read(&again, &names).as_ref(), Ok(&read), "{again}");
    }
    for (text, expected) in [
        ("-Q-", TraceError::Unknown("Q".to_owned())),
        ("(P,Q)", TraceError::Unknown("Q".to_owned())),
        ("-{P", TraceError::Unbalanced('{')),
        ("(P", TraceError::Unbalanced('(')),
        ("P)", TraceError::Unbalanced(')')),
        ("P}", TraceError::Unbalanced('}')),
        ("{P}-", TraceError::AfterLoop),
        ("P{}", TraceError::EmptyLoop),
        (" ", TraceError::Empty),
    ] {
        assert_eq!(traces::read(text, &names), Err(expected), "{text}");
    }
}

#[test]
fn samples_show_both_sides() {
    let formula = parse("[](p0 -> <>p1)");
    let samples = samples(&formula, 4).expect("small");
    assert!(samples.accepted.len() >= 3 && samples.rejected.len() >= 2, "{samples:?}");
    let length = |lasso: &Lasso| lasso.prefix.len() + lasso.cycle.len();
    for (side, truth) in [(&samples.accepted, true), (&samples.rejected, false)] {
        assert!(side.iter().all(|lasso| holds(&formula, lasso) == truth), "{side:?}");
        assert!(side.is_sorted_by_key(length), "{side:?}");
    }
    // Too rare to be met by chance: it takes the automaton.
    let rare =
        Formula::and((0..9).map(|atom| (0..atom).fold(Formula::atom(atom), |f, _| f.next())));
    let samples = traces::samples(&rare, 2).expect("small");
    assert_eq!(samples.accepted.len(), 1);
    assert!(holds(&rare, &samples.accepted[0]));
    let samples = traces::samples(&Formula::truth(), 2).expect("small");
    assert!(samples.rejected.is_empty() && !samples.accepted.is_empty());
}

#[test]
fn shortest_traces() {
    let names = names(&["p", "q"]);
    for (text, expected) in [
        ("p--", "p-"),
        ("p-{q-q-}", "p{-q}"),
        ("pq{pq}", "{pq}"),
        ("{ppp}", "p"),
        ("{pqpqp}", "{pqpqp}"),
        ("q{p-}", "q{p-}"),
    ] {
        let lasso = traces::read(text, &names).expect("a trace").shortest();
        assert_eq!(written(&lasso, &names).to_string(), expected, "{text}");
    }
    let nothing = Lasso { prefix: vec![1, 1], cycle: Vec::new() };
    assert_eq!(nothing.clone().shortest(), nothing);
}
