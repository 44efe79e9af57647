//! Automata as text: never claims for SPIN, HOA for Spot and others, dot for pictures.
//!
//! A never claim has one label for each state, `accept_...` if it is accepting; a state from which
//! everything is accepted becomes `accept_all: skip`, at which a claim ends and SPIN reports an error at
//! once. It is the claim of the automaton given: who wants to check a property gives that of its
//! negation. HOA: Babiak and others, *The Hanoi Omega-Automata Format* (CAV 2015), version 1.

use std::fmt::{self, Write};

use crate::automaton::{Automaton, Buchi, Edge};
use crate::label::Label;

/// A never claim that SPIN reads. `comment` stands beside it.
pub fn never_claim(buchi: &Buchi, texts: &[String], comment: &str) -> String {
    let name = |state: u32| {
        let accepting = buchi.states[state as usize].accepting;
        if state == buchi.initial {
            if accepting { "accept_init".to_owned() } else { "T0_init".to_owned() }
        } else if buchi.is_sink(state) {
            "accept_all".to_owned()
        } else if accepting {
            format!("accept_S{state}")
        } else {
            format!("T0_S{state}")
        }
    };
    let comment = comment.replace("*/", "* /");
    let mut out = format!("never {{    /* {comment} */\n");
    let numbers = 0..u32::try_from(buchi.states.len()).expect("states are numbered by u32");
    let others = numbers.clone().filter(|state| *state != buchi.initial);
    let (sinks, rest): (Vec<u32>, Vec<u32>) = others.partition(|state| buchi.is_sink(*state));
    for state in [buchi.initial].into_iter().chain(rest).chain(sinks) {
        let edges = &buchi.states[state as usize].edges;
        add(&mut out, format_args!("{}:\n", name(state)));
        if buchi.is_sink(state) {
            out.push_str("\tskip\n");
            continue;
        }
        if edges.is_empty() {
            out.push_str("\tfalse;\n");
            continue;
        }
        out.push_str("\tdo\n");
        for (label, to) in edges {
            let condition = condition(label, &|atom| promela_text(texts, atom));
            add(&mut out, format_args!("\t:: ({condition}) -> goto {}\n", name(*to)));
        }
        out.push_str("\tod;\n");
    }
    out.push_str("}\n");
    out
}

/// HOA with acceptance on edges.
pub fn hoa(automaton: &Automaton, texts: &[String], name: &str) -> String {
    let mut out = head(automaton, texts, name, "trans-acc");
    for (state, edges) in automaton.states.iter().enumerate() {
        add(&mut out, format_args!("State: {state}\n"));
        for edge in edges {
            let marks = marks(edge.marks);
            add(&mut out, format_args!("{}{marks}\n", hoa_edge(automaton, edge)));
        }
    }
    out.push_str("--END--\n");
    out
}

/// HOA with acceptance on states.
pub fn hoa_by_state(buchi: &Buchi, texts: &[String], name: &str) -> String {
    let automaton = buchi.automaton();
    let mut out = head(&automaton, texts, name, "state-acc");
    for (state, edges) in automaton.states.iter().enumerate() {
        let marks = marks(u64::from(buchi.states[state].accepting));
        add(&mut out, format_args!("State: {state}{marks}\n"));
        for edge in edges {
            add(&mut out, format_args!("{}\n", hoa_edge(&automaton, edge)));
        }
    }
    out.push_str("--END--\n");
    out
}

/// A graph for Graphviz. Marks stand as numbers in braces.
pub fn dot(automaton: &Automaton, texts: &[String]) -> String {
    let mut out = String::from("digraph automaton {\n  rankdir = LR\n  node [shape = circle]\n");
    add(&mut out, format_args!("  begin [shape = point]\n  begin -> {}\n", automaton.initial));
    for (state, edges) in automaton.states.iter().enumerate() {
        add(&mut out, format_args!("  {state}\n"));
        for edge in edges {
            let mut text = condition(&edge.label, &|atom| promela_text(texts, atom));
            text.push_str(&marks(edge.marks));
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
            add(&mut out, format_args!("  {state} -> {} [label = \"{text}\"]\n", edge.to));
        }
    }
    out.push_str("}\n");
    out
}

/// A graph for Graphviz, with accepting states as double circles.
pub fn dot_by_state(buchi: &Buchi, texts: &[String]) -> String {
    let mut automaton = buchi.automaton();
    automaton.states.iter_mut().flatten().for_each(|edge| edge.marks = 0);
    let text = dot(&automaton, texts);
    let mut circles = String::new();
    for (state, _) in buchi.states.iter().enumerate().filter(|(_, state)| state.accepting) {
        add(&mut circles, format_args!("  {state} [shape = doublecircle]\n"));
    }
    let end = text.rfind('}').unwrap_or(text.len());
    format!("{}{circles}{}", &text[..end], &text[end..])
}

fn add(out: &mut String, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string succeeds");
}

fn promela_text(texts: &[String], atom: u32) -> String {
    match texts.get(atom as usize) {
        Some(text) => format!("({text})"),
        None => format!("(p{atom})"),
    }
}

fn condition(label: &Label, text: &dyn Fn(u32) -> String) -> String {
    let mut out = String::new();
    let signs = ["1", "0", " && ", " || "];
    label.write(&mut out, text, signs).expect("writing to a string succeeds");
    out
}

/// The atoms of an automaton, in the order in which HOA numbers them.
fn atoms(automaton: &Automaton) -> Vec<u32> {
    (0..64).filter(|atom| automaton.atoms >> atom & 1 == 1).collect()
}

fn head(automaton: &Automaton, texts: &[String], name: &str, place: &str) -> String {
    let mut out = String::from("HOA: v1\n");
    add(&mut out, format_args!("name: {}\n", quoted(name)));
    add(&mut out, format_args!("States: {}\n", automaton.states.len()));
    add(&mut out, format_args!("Start: {}\n", automaton.initial));
    let atoms = atoms(automaton);
    add(&mut out, format_args!("AP: {}", atoms.len()));
    for atom in atoms {
        let text = texts.get(atom as usize).cloned().unwrap_or_else(|| format!("p{atom}"));
        add(&mut out, format_args!(" {}", quoted(&text)));
    }
    let acceptance = match automaton.sets {
        0 => "acc-name: all\nAcceptance: 0 t\n".to_owned(),
        1 => "acc-name: Buchi\nAcceptance: 1 Inf(0)\n".to_owned(),
        sets => {
            let all: Vec<String> = (0..sets).map(|set| format!("Inf({set})")).collect();
            let all = all.join("&");
            format!("acc-name: generalized-Buchi {sets}\nAcceptance: {sets} {all}\n")
        }
    };
    add(&mut out, format_args!("\n{acceptance}properties: trans-labels explicit-labels {place}\n"));
    out.push_str("--BODY--\n");
    out
}

fn hoa_edge(automaton: &Automaton, edge: &Edge) -> String {
    let atoms = atoms(automaton);
    let number = |atom: u32| match atoms.binary_search(&atom) {
        Ok(number) => number.to_string(),
        Err(_) => unreachable!("labels have only atoms of the automaton"),
    };
    let mut label = String::new();
    let signs = ["t", "f", "&", " | "];
    edge.label.write(&mut label, &number, signs).expect("writing to a string succeeds");
    format!("[{label}] {}", edge.to)
}

fn marks(marks: u64) -> String {
    if marks == 0 {
        return String::new();
    }
    let sets = (0..64).filter(|set| marks >> set & 1 == 1).map(|set| set.to_string());
    format!(" {{{}}}", sets.collect::<Vec<_>>().join(" "))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
