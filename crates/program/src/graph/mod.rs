//! The automata as pictures and data.
//!
//! All three forms show the same: the states a process may be in, and its transitions with their
//! statements. The output depends on the program only, so that two runs can be compared.
//!
//! # Fields of the JSON
//! The object has one field `automata`, a list in the order of the text. Each has
//! - `name`, `kind` (`proctype`, `init`, `never`, `trace`, `notrace`), `initial`, `file`, `line`;
//! - `states`: `id` (SPIN's local number), `line`, `labels` (as written), and whether it is an
//!   `end`, `accept` or `progress` state;
//! - `transitions`: `from`, `to` (0: the process is gone), `element` (SPIN's number), `statement`,
//!   `line`, and whether it is `atomic`; `escape` is the number of the escape it belongs to, or
//!   null.

mod layout;
mod svg;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::ir::{Automaton, BodyKind, ControlState, Program, StateId, Transition};

pub use svg::{Picture, escape, pictures, svg};

/// A graph for each automaton, in the language of Graphviz.
pub fn dot(program: &Program) -> String {
    let mut out = String::from("digraph model {\n");
    out.push_str("  node [shape=circle, fontname=\"monospace\"];\n");
    out.push_str("  edge [fontname=\"monospace\"];\n");
    for (i, automaton) in program.automata.iter().enumerate() {
        let name = dot_text(&title(automaton));
        let _ = writeln!(out, "  subgraph cluster_{i} {{\n    label=\"{name}\";");
        for (id, state) in states(automaton) {
            let label = dot_text(&state_text(automaton, id));
            let shape = match state {
                state if state.accept => ", shape=doublecircle",
                state if state.end => ", style=bold",
                state if state.progress => ", style=dashed",
                _ => "",
            };
            let _ = writeln!(out, "    a{i}s{} [label=\"{label}\"{shape}];", id.0);
        }
        let _ = writeln!(out, "    a{i}s0 [shape=point];");
        let _ = writeln!(out, "    a{i}start [shape=plaintext, label=\"\"];");
        let _ = writeln!(out, "    a{i}start -> a{i}s{};", automaton.initial.0);
        for transition in transitions(program, automaton) {
            let label = dot_text(statement(program, transition));
            let style = match transition.escape {
                0 if transition.atomic => ", style=bold",
                0 => "",
                _ => ", style=dashed",
            };
            let _ = writeln!(
                out,
                "    a{i}s{} -> a{i}s{} [label=\"{label}\"{style}];",
                transition.from.0, transition.to.0
            );
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

/// The automata as data; the fields are those listed above.
pub fn json(program: &Program) -> Value {
    let automata: Vec<_> =
        program.automata.iter().map(|automaton| automaton_json(program, automaton)).collect();
    json!({ "automata": automata })
}

fn automaton_json(program: &Program, automaton: &Automaton) -> Value {
    let line = |span| program.source.line(span);
    let states: Vec<_> = states(automaton)
        .map(|(id, state)| {
            json!({
                "id": id.0,
                "line": state.element.map(|element| line(program.element(element).span)),
                "labels": labels(automaton, id).collect::<Vec<_>>(),
                "end": state.end,
                "accept": state.accept,
                "progress": state.progress,
            })
        })
        .collect();
    let transitions: Vec<_> = transitions(program, automaton)
        .map(|transition| {
            json!({
                "from": transition.from.0,
                "to": transition.to.0,
                "element": transition.element.0,
                "statement": statement(program, transition),
                "line": line(transition.span),
                "atomic": transition.atomic,
                "escape": (transition.escape != 0).then_some(transition.escape),
            })
        })
        .collect();
    json!({
        "name": automaton.name,
        "kind": kind(automaton),
        "initial": automaton.initial.0,
        "file": program.source.path(automaton.span).to_string_lossy(),
        "line": line(automaton.span),
        "states": states,
        "transitions": transitions,
    })
}

fn kind(automaton: &Automaton) -> &'static str {
    match automaton.kind {
        BodyKind::Proctype => "proctype",
        BodyKind::Init => "init",
        BodyKind::Never => "never",
        BodyKind::Trace => "trace",
        BodyKind::NoTrace => "notrace",
    }
}

fn title(automaton: &Automaton) -> String {
    match automaton.kind {
        BodyKind::Proctype | BodyKind::Never => format!("{} {}", kind(automaton), automaton.name),
        _ => kind(automaton).to_owned(),
    }
}

/// The states a process may be in.
fn states(automaton: &Automaton) -> impl Iterator<Item = (StateId, &ControlState)> {
    (0..).map(StateId).zip(&automaton.states).filter(|(_, state)| state.reachable)
}

/// Their transitions.
fn transitions<'p>(
    program: &'p Program,
    automaton: &'p Automaton,
) -> impl Iterator<Item = &'p Transition> {
    states(automaton).flat_map(|(_, state)| state.transition_ids()).map(|id| program.transition(id))
}

fn labels(automaton: &Automaton, id: StateId) -> impl Iterator<Item = &str> {
    automaton.labels.iter().filter(move |(_, state)| *state == id).map(|(name, _)| name.as_str())
}

fn state_text(automaton: &Automaton, id: StateId) -> String {
    let mut text = id.0.to_string();
    for label in labels(automaton, id) {
        text.push(' ');
        text.push_str(label);
    }
    text
}

fn statement<'p>(program: &'p Program, transition: &Transition) -> &'p str {
    &program.element(transition.element).text
}

fn dot_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
