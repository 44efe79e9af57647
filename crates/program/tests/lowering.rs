//! What the parts of a program look like, by example.

use std::path::Path;

use spinward_program::ir::{
    Action, Automaton, Expr, InitStep, Place, ReceiveArg, Scalar, Space, StateId, Transition,
};
use spinward_program::{Program, graph};
use spinward_promela::{Diagnostic, Options, load_text};

fn lower(text: &str) -> (Option<Program>, Vec<Diagnostic>) {
    let loaded = load_text(Path::new("model.pml"), text.to_owned(), &Options::default());
    assert!(!loaded.has_errors(), "{text}: {:?}", loaded.diagnostics);
    spinward_program::lower(&loaded)
}

fn program(text: &str) -> Program {
    let (program, diagnostics) = lower(text);
    program.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"))
}

fn automaton<'p>(program: &'p Program, name: &str) -> &'p Automaton {
    let found = program.automata.iter().find(|a| a.name == name);
    found.expect("the process is there")
}

fn transitions(program: &Program, automaton: &Automaton, state: StateId) -> Vec<Transition> {
    let state = automaton.state(state);
    state.transition_ids().map(|id| program.transition(id).clone()).collect()
}

/// The actions along the only way from the start.
fn straight(program: &Program, name: &str) -> Vec<Action> {
    let automaton = automaton(program, name);
    let mut at = automaton.initial;
    let mut actions = Vec::new();
    while let [only] = transitions(program, automaton, at).as_slice() {
        actions.push(only.action.clone());
        at = only.to;
        if at == StateId(0) {
            break;
        }
    }
    actions
}

fn constant(expr: &Expr) -> i32 {
    match expr {
        Expr::Const(n) => *n,
        other => panic!("{other:?} is not constant"),
    }
}

#[test]
fn variables_are_stored_as_spin_stores_them() {
    let program = program(
        "typedef R { bit b; short s[2] }
         bit a; bool arr[2]; byte c; hidden unsigned u : 3; unsigned v : 9; R r[2]
         active proctype P(byte p; short q) { int x; R l; a = 1 }",
    );
    let slots = |block: &spinward_program::ir::Block| -> Vec<(String, u32, Scalar)> {
        let slot =
            |slot: &spinward_program::ir::Slot| (slot.name.clone(), slot.offset, slot.scalar);
        block.slots.iter().map(slot).collect()
    };
    let expected = [
        ("a", 0, Scalar::Bit),
        ("arr[0]", 1, Scalar::U8),
        ("arr[1]", 2, Scalar::U8),
        ("c", 3, Scalar::U8),
        ("v", 4, Scalar::Unsigned(9)),
        ("r[0].b", 6, Scalar::Bit),
        ("r[0].s[0]", 7, Scalar::I16),
        ("r[0].s[1]", 9, Scalar::I16),
        ("r[1].b", 11, Scalar::Bit),
        ("r[1].s[0]", 12, Scalar::I16),
        ("r[1].s[1]", 14, Scalar::I16),
    ];
    let expected: Vec<_> = expected.map(|(name, at, s)| (name.to_owned(), at, s)).into();
    assert_eq!(slots(&program.globals), expected);
    assert_eq!(program.globals.bytes, 16);
    // A hidden variable of few bits has a whole byte.
    assert_eq!(slots(&program.hidden), [("u".to_owned(), 0, Scalar::U8)]);
    let p = automaton(&program, "P");
    assert_eq!(p.locals.bytes, 1 + 2 + 4 + 5);
    let params: Vec<_> = p.params.iter().map(|place| place.offset).collect();
    assert_eq!(params, [0, 1]);
}

#[test]
fn globals_start_in_the_order_of_their_types() {
    let program = program(
        "typedef R { chan c = [1] of { byte }; byte n = 4 }
         R r[2]; int i = 7; chan q[2] = [2] of { bit }; byte b[3] = { 1, 2 }; bit z = 1
         active proctype P() { chan own = [0] of { bit, int }; byte m = i; skip }",
    );
    let show = |steps: &[InitStep]| -> Vec<String> {
        let show = |step: &InitStep| match step {
            InitStep::Store(place, value) => match value {
                Expr::Const(n) => format!("{} = {n}", place.offset),
                _ => format!("{} = ...", place.offset),
            },
            InitStep::NewChannel(place, kind) => format!("{} = channel {}", place.offset, kind.0),
        };
        steps.iter().map(show).collect()
    };
    // r: 0..4, i: 4, q: 8, b: 10, z: 13.
    assert_eq!(
        show(&program.init),
        [
            "13 = 1",
            "10 = 1",
            "11 = 2",
            "12 = 2",
            "8 = channel 0",
            "9 = channel 0",
            "4 = 7",
            "0 = channel 1",
            "1 = 4",
            "2 = channel 1",
            "3 = 4",
        ]
    );
    let p = automaton(&program, "P");
    assert_eq!(show(&p.init), ["0 = channel 2", "1 = ..."]);
    assert_eq!(program.channels[2].capacity, 0);
    // A lone bit in a message keeps all its bits.
    assert_eq!(program.channels[0].fields[0].scalar, Scalar::U8);
    assert_eq!(program.channels[2].fields[0].scalar, Scalar::Bit);
    assert_eq!(program.channels[2].message_bytes, 5);
}

#[test]
fn constant_indexes_are_folded_only_inside_of_the_array() {
    let program = program(
        "byte a[3]; byte i
         active proctype P() { a[1 + 1] = 1; a[i] = 2; a[3 + 0] = 3; a[0] = a[i] / 0 }",
    );
    let actions = straight(&program, "P");
    let place = |action: &Action| -> Place {
        match action {
            Action::Assign(place, _) => place.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((place(&actions[0]).offset, place(&actions[0]).indexes.len()), (2, 0));
    assert_eq!(place(&actions[1]).indexes[0].length, 3);
    assert_eq!(constant(&place(&actions[2]).indexes[0].value), 3);
    assert!(matches!(&actions[3], Action::Assign(_, Expr::Binary(..))));
}

#[test]
fn records_are_taken_apart_in_messages_and_parameters() {
    let program = program(
        "typedef R { byte a; short b }
         chan c = [2] of { byte, R }
         proctype Q(R p; byte n) { skip }
         active proctype P() { R r; r.b = 3; c!1,r; c?_,r; c?eval(r.a),r; run Q(r, 2) }",
    );
    let actions = straight(&program, "P");
    let Action::Send { args, .. } = &actions[1] else { panic!("{actions:?}") };
    assert_eq!(args.len(), 3);
    let Action::Receive { args, .. } = &actions[2] else { panic!("{actions:?}") };
    let stored = |arg: &ReceiveArg| match arg {
        ReceiveArg::Store(place) => (place.space, place.offset, place.scalar),
        other => panic!("{other:?}"),
    };
    assert_eq!(args[0], ReceiveArg::Ignore);
    assert_eq!(stored(&args[1]), (Space::Local, 0, Scalar::U8));
    assert_eq!(stored(&args[2]), (Space::Local, 1, Scalar::I16));
    let Action::Receive { args, .. } = &actions[3] else { panic!("{actions:?}") };
    assert!(matches!(args[0], ReceiveArg::Match(Expr::Load(_))));
    let Action::Run { result, args, body, .. } = &actions[4] else { panic!("{actions:?}") };
    assert_eq!((result, args.len()), (&None, 3));
    assert_eq!(program.automaton(*body).params.len(), 3);
}

#[test]
fn every_way_out_of_a_d_step_leads_behind_it() {
    let program = program(
        "byte x
         active proctype P() {
             atomic {
                 x = 1;
                 d_step {
                     do
                     :: x < 3 -> x++
                     :: x == 3 -> if :: x == 7 -> break :: else -> { x = 9; goto out } fi
                     :: else -> break
                     od;
                     out: if :: x == 9 -> x = 0 :: else fi
                 }
             };
             x = 5
         }",
    );
    let p = automaton(&program, "P");
    let d_step = program
        .transitions
        .iter()
        .find(|transition| matches!(transition.action, Action::DStep { .. }))
        .unwrap();
    let Action::DStep { entry } = d_step.action else { unreachable!() };
    let mut seen = vec![entry];
    let mut exits = 0;
    let mut i = 0;
    while i < seen.len() {
        let inside = transitions(&program, p, seen[i]);
        assert!(!inside.is_empty(), "state {:?} is stuck", seen[i]);
        assert!(!p.state(seen[i]).reachable);
        for transition in inside {
            if transition.to == d_step.to {
                exits += 1;
            } else if !seen.contains(&transition.to) {
                seen.push(transition.to);
            }
        }
        i += 1;
    }
    assert!(exits >= 2);
    assert!(p.state(d_step.to).reachable);
}

#[test]
fn the_else_of_an_inner_choice_of_a_d_step_comes_in_its_turn() {
    let program = program(
        "byte x
         active proctype P() {
             d_step { if :: if :: x == 1 -> skip :: else -> x = 2 fi :: x == 0 -> x = 3 fi }
         }",
    );
    let p = automaton(&program, "P");
    let Action::DStep { entry } = transitions(&program, p, p.initial)[0].action else {
        panic!("not a d_step")
    };
    let actions: Vec<_> =
        transitions(&program, p, entry).into_iter().map(|transition| transition.action).collect();
    assert!(matches!(
        actions.as_slice(),
        [
            Action::Condition(Expr::Binary(..)),
            Action::Condition(Expr::Const(1)),
            Action::Condition(Expr::Binary(..))
        ]
    ));
}

#[test]
fn statements_become_actions() {
    let program = program(
        "mtype = { red, green }; mtype:fruit = { pear }
         byte x; chan c = [1] of { byte }
         active proctype P() {
             pid p; mtype m; mtype:fruit f;
             p = run Q(); _ = 3; _ = x; x++; m = green; _priority = 4;
             printf(\"%e\\t%d\\n\", f, x); printm(m); skip; timeout; assert(x > 1 + 1);
             c??<x>; c!!x; set_priority(p, 2)
         }
         proctype Q() { c_code { now.x = 1; } }",
    );
    let actions = straight(&program, "P");
    assert!(matches!(&actions[0], Action::Run { result: Some(_), .. }));
    assert!(matches!(&actions[1], Action::Skip));
    // The value is thrown away, but computed.
    assert!(matches!(&actions[2], Action::Condition(Expr::Binary(..))));
    assert!(matches!(&actions[3], Action::Assign(_, Expr::Binary(..))));
    assert!(matches!(&actions[4], Action::Assign(_, Expr::Const(1))));
    assert!(matches!(&actions[5], Action::SetOwnPriority(_)));
    let Action::Print { format, args } = &actions[6] else { panic!("{actions:?}") };
    assert_eq!(format, "%e\t%d\n");
    assert_eq!(args[0].1.map(|set| set.0), Some(1));
    assert_eq!(args[1].1, None);
    assert!(matches!(&actions[7], Action::PrintMtype(_, set) if set.0 == 0));
    assert!(matches!(&actions[8], Action::Skip));
    assert!(matches!(&actions[9], Action::Condition(Expr::Timeout)));
    assert!(
        matches!(&actions[10], Action::Assert(Expr::Binary(_, _, two)) if **two == Expr::Const(2))
    );
    assert!(matches!(&actions[11], Action::Receive { random: true, keep: true, .. }));
    assert!(matches!(&actions[12], Action::Send { sorted: true, .. }));
    assert!(matches!(&actions[14], Action::Die));
    assert!(matches!(&straight(&program, "Q")[0], Action::C(_)));
    assert!(program.uses.priorities && program.uses.c_code.is_some() && program.uses.timeout);
}

#[test]
fn a_loop_over_a_channel_turns_it_around() {
    let program = program(
        "typedef R { byte a; byte b }
         chan c = [3] of { R }
         active proctype P() { R r; for (r in c) { r.a++ } }",
    );
    let p = automaton(&program, "P");
    let start = &transitions(&program, p, p.initial)[0];
    let Action::Assign(counter, Expr::Const(0)) = &start.action else {
        panic!("{:?}", start.action)
    };
    let choice = transitions(&program, p, start.to);
    let Action::Condition(Expr::Binary(_, left, right)) = &choice[0].action else {
        panic!("{choice:?}")
    };
    assert_eq!(**left, Expr::Load(counter.clone()));
    assert!(matches!(**right, Expr::Len(_)));
    assert!(matches!(choice[1].action, Action::Else));
    assert!(p.locals.slots.iter().any(|slot| slot.synthetic));
    let receive = &transitions(&program, p, choice[0].to)[0];
    assert!(matches!(&receive.action, Action::Receive { args, .. } if args.len() == 2));
    let send = &transitions(&program, p, receive.to)[0];
    assert!(matches!(&send.action, Action::Send { args, .. } if args.len() == 2));
}

#[test]
fn other_processes_can_be_asked_where_they_are() {
    let program = program(
        "active proctype P() { byte a[3]; a[1] = 2; here: a[2] = 1 }
         active proctype Q() { P[0]@here; P@here && P[1]:a[2] == 1 }",
    );
    let q = straight(&program, "Q");
    let here = automaton(&program, "P").labels[0].1;
    let Action::Condition(Expr::RemoteLabel { pid, state, .. }) = &q[0] else { panic!("{q:?}") };
    assert_eq!((pid.as_deref(), *state), (Some(&Expr::Const(0)), here));
    let Action::Condition(Expr::Binary(_, _, right)) = &q[1] else { panic!("{q:?}") };
    let Expr::Binary(_, left, _) = &**right else { panic!("{right:?}") };
    assert!(matches!(&**left, Expr::RemoteVar { place, .. } if place.offset == 2));
}

#[test]
fn events_only_match() {
    let program = program(
        "mtype = { a, b }; chan c = [1] of { mtype, byte }
         active proctype P() { c!a,1 }
         trace { do :: c!a,1 :: c?b,eval(2) :: c?_,_ od }",
    );
    let trace = program.automaton(program.trace.unwrap());
    let events = transitions(&program, trace, trace.initial);
    let kinds: Vec<_> = events
        .iter()
        .map(|event| match &event.action {
            Action::Event { send, args, .. } => (*send, args.as_slice()),
            other => panic!("{other:?}"),
        })
        .collect();
    let value = |n| ReceiveArg::Match(Expr::Const(n));
    assert_eq!(kinds[0], (true, [value(2), value(1)].as_slice()));
    assert_eq!(kinds[1], (false, [value(1), value(2)].as_slice()));
    assert_eq!(kinds[2], (false, [ReceiveArg::Ignore, ReceiveArg::Ignore].as_slice()));
}

#[test]
fn processes_start_in_the_order_of_the_text() {
    let program = program(
        "byte x
         active [2] proctype A() priority 3 { x = 1 }
         init { x = 2 }
         proctype B() { x = 3 }
         active proctype C() { x = 4 }",
    );
    let start: Vec<_> = program.start.iter().map(|(body, p)| (body.0, *p)).collect();
    assert_eq!(start, [(0, 3), (0, 3), (1, 1), (3, 1)]);
    assert!(program.uses.priorities);
}

#[test]
fn unreached_code_is_listed_as_spin_lists_it() {
    let program = program(
        "byte x
         active proctype P() {
             if :: x == 1 -> x = 2; goto out :: else -> d_step { x = 3; x = 4 } fi;
             do :: x == 5 -> break od;
             out: skip
         }",
    );
    let listed: Vec<_> = program
        .elements
        .iter()
        .filter(|element| element.listed)
        .map(|element| element.text.as_str())
        .collect();
    assert_eq!(
        listed,
        ["x = 2", "d_step { x = 3 ... }", "if :: x == 1 :: else fi", "do :: x == 5 od", "-end-"]
    );
}

#[test]
fn mistakes_are_told() {
    for (text, message) in [
        (
            "active proctype P() { byte x; d_step { x = 1; L: x = 2 }; goto L }",
            "a jump into a `d_step`",
        ),
        (
            "active proctype P() { byte x; do :: d_step { x = 1; break } od }",
            "a jump out of a `d_step`",
        ),
        ("active proctype P() { L: goto M; M: goto L }", "jumps that lead nowhere"),
        (
            "active proctype P() { byte x; d_step { { x = 1 } unless { x == 2 } } }",
            "`unless` inside of a `d_step`",
        ),
        (
            "chan c = [70000] of { byte }; active proctype P() { c!1 }",
            "a channel for more than 65535 messages",
        ),
        (
            "byte x; active proctype P() { if :: if :: x == 1 :: else fi :: else fi }",
            "two `else` are possible at the same place",
        ),
        ("int a[1000000]; active proctype P() { a[0] = 1 }", "the variables are too large"),
    ] {
        let loaded = load_text(Path::new("model.pml"), text.to_owned(), &Options::default());
        // Some are found earlier; then they never come here.
        if loaded.has_errors() {
            continue;
        }
        let (program, diagnostics) = spinward_program::lower(&loaded);
        assert!(program.is_none(), "{text}");
        assert!(
            diagnostics.iter().any(|d| d.is_error() && d.message == message),
            "{text}: {diagnostics:?}"
        );
    }
}

#[test]
fn what_is_dubious_is_told() {
    for (text, message) in [
        (
            "byte x; active proctype P() { atomic { x = 1; progress: x = 2; x = 3 } }",
            "label `progress` inside of `atomic` counts only where a process waits",
        ),
        (
            "byte x; active proctype P() { if :: x = 1 unless { x == 2 } :: x == 3 fi }",
            "an escape (`unless`) of one guard of a choice",
        ),
        ("active proctype P() { do :: skip od }", "a loop that does nothing"),
    ] {
        let (program, diagnostics) = lower(text);
        assert!(program.is_some(), "{text}");
        assert!(
            diagnostics.iter().any(|d| !d.is_error() && d.message == message),
            "{text}: {diagnostics:?}"
        );
    }
}

#[test]
fn deep_nesting_does_no_harm() {
    let depth = 300;
    for (open, close) in [
        ("{ ", " }"),
        ("atomic { ", " }"),
        ("if :: ", " :: x == 2 fi"),
        ("do :: x == 1 -> ", " od"),
        ("{ ", " } unless { x == 3 }"),
        ("d_step { ", " }"),
    ] {
        let text = format!(
            "byte x; active proctype P() {{ {}x = 1{} }}",
            open.repeat(depth),
            close.repeat(depth)
        );
        let loaded = load_text(Path::new("model.pml"), text, &Options::default());
        if !loaded.has_errors() {
            let _ = spinward_program::lower(&loaded);
        }
    }
}

/// The message of the one error of a model.
#[track_caller]
fn refused(text: &str) -> String {
    let (program, diagnostics) = lower(text);
    assert!(program.is_none());
    let errors: Vec<_> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].message.clone()
}

/// Each of these would need gigabytes.
#[test]
fn a_short_text_cannot_ask_for_everything() {
    let options = ":: x == 1 ".repeat(140);
    let nested = format!("{}x == 2 {}", format!("if {options} :: ").repeat(200), "fi ".repeat(200));
    let nested = refused(&format!("byte x; init {{ {nested} }}"));
    assert_eq!(nested, "the model has more than 2097152 transitions");

    let escape = format!("if {} fi", ":: x == 1 ".repeat(1000));
    let steps = "x = 1; ".repeat(5000);
    let escapes = refused(&format!("byte x; init {{ {{ {steps} }} unless {{ {escape} }} }}"));
    assert_eq!(escapes, "the model has more than 2097152 transitions");

    let large = |i: usize| format!("proctype P{i}() {{ byte a[1000000]; skip }} ");
    let large: String = (0..100).map(large).collect();
    assert_eq!(refused(&format!("{large} init {{ skip }}")), "the variables are too large");

    let name = "n".repeat(100_000);
    let long = refused(&format!("byte {name}[1000000]; init {{ skip }}"));
    assert_eq!(long, "the names of the variables are too long");

    let record = "typedef T { byte f[1000000] }; T t; chan c = [1] of { T };";
    let sends = refused(&format!("{record} init {{ {} }}", "c!t; ".repeat(1000)));
    assert_eq!(sends, "the model is too large");

    let channels: String = (0..200).map(|i| format!("chan c{i} = [1] of {{ T }}; ")).collect();
    assert_eq!(refused(&format!("{record} {channels} init {{ skip }}")), "the model is too large");

    let guard = "x + ".repeat(500) + "x";
    let guard = format!("({}0)", format!("({guard}) + ").repeat(300));
    let wide = refused(&format!("byte x; init {{ {{ {steps} }} unless {{ {guard} }} }}"));
    assert_eq!(wide, "the model is too large");
}

#[test]
fn jumps_to_jumps_have_an_end() {
    let jumps = |count: usize| -> String {
        let jumps = (0..count).map(|i| format!("l{i}: goto l{}; ", i + 1));
        format!("init {{ {} l{count}: skip }}", jumps.collect::<String>())
    };
    program(&jumps(5000));
    let (none, diagnostics) = lower(&jumps(20_000));
    assert!(none.is_none());
    // Told once, and then not walked along again for each of them.
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["jumps that lead nowhere"]);
}

/// The best label for a jump is found among many of its name.
#[test]
fn labels_of_one_name_are_told_apart() {
    let block = "{ skip; L: x = 1; if :: goto L :: skip fi }; ";
    let text = format!("byte x; init {{ {} }}", block.repeat(5000));
    let program = program(&text);
    let automaton = &program.automata[0];
    let back = program.transitions.iter().filter(|it| (1..it.from.0).contains(&it.to.0));
    // Each jump leads to the label in its own block, just before it.
    assert!(back.clone().count() > 0);
    assert!(back.clone().all(|it| it.from.0 - it.to.0 < 10), "{}", automaton.name);
}

#[test]
fn pictures_show_all_states_and_do_not_change() {
    let program = program(
        "byte x
         active proctype P() {
             end: do :: x < 3 -> x++ :: atomic { x == 3 -> x = 0; x = 1 } :: x == 2 -> break od
         }
         init { printf(\"\\\"<&>\\n\") }",
    );
    let svg = graph::svg(&program);
    assert_eq!(svg, graph::svg(&program));
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("&lt;&amp;&gt;") && !svg.contains("<&>"));
    let reachable = |automaton: &Automaton| automaton.states.iter().filter(|s| s.reachable).count();
    let all: usize = program.automata.iter().map(reachable).sum();
    assert_eq!(svg.matches("class=\"state").count(), all);

    let pictures: Vec<_> = graph::pictures(&program).collect();
    assert_eq!(pictures.len(), program.automata.len());
    for (picture, automaton) in pictures.iter().zip(&program.automata) {
        assert!(!picture.svg.contains("<style"));
        let initial = format!("data-state=\"{}\"", automaton.initial.0);
        assert_eq!(picture.svg.matches(&initial).count(), 1, "{}", picture.title);
        assert_eq!(picture.svg.matches("data-state").count(), reachable(automaton));
    }

    let dot = graph::dot(&program);
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert!(dot.contains("x++"));

    let json = graph::json(&program);
    let p = &json["automata"][0];
    assert_eq!(p["name"], "P");
    assert_eq!(p["kind"], "proctype");
    assert_eq!(p["line"], 2);
    let states = p["states"].as_array().unwrap();
    assert_eq!(states.len(), reachable(automaton(&program, "P")));
    let start = states.iter().find(|s| s["id"] == p["initial"]).unwrap();
    assert_eq!(start["labels"][0], "end");
    assert_eq!(start["end"], true);
    assert!(p["transitions"].as_array().unwrap().iter().any(|t| t["atomic"] == true));
}
