//! Prints the automata of a model as SPIN's `pan -d` prints its transition tables, for comparison.

use std::path::Path;
use std::process::ExitCode;

use spinward_program::ir::{Action, Automaton, BodyKind, Program, StateId};
use spinward_promela::{Options, load, render};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: table MODEL");
        return ExitCode::from(2);
    };
    let loaded = load(Path::new(&path), &Options::default());
    let mut diagnostics = loaded.diagnostics.clone();
    let program = if loaded.has_errors() {
        None
    } else {
        let (program, found) = spinward_program::lower(&loaded);
        diagnostics.extend(found);
        program
    };
    eprint!("{}", render::render_all(&loaded.source, &diagnostics, false));
    let Some(program) = program else {
        return ExitCode::FAILURE;
    };
    for automaton in &program.automata {
        print_automaton(&program, automaton);
    }
    ExitCode::SUCCESS
}

fn print_automaton(program: &Program, automaton: &Automaton) {
    match automaton.kind {
        BodyKind::Proctype => println!("proctype {}", automaton.name),
        BodyKind::Init => println!("init"),
        BodyKind::Never => println!("claim {}", automaton.name),
        BodyKind::Trace => println!("notrace assertion"),
        BodyKind::NoTrace => println!("trace assertion"),
    }
    let mut seen = vec![false; automaton.states.len()];
    // In the order of SPIN: depth first, each state when it is met.
    let mut stack = vec![automaton.initial];
    while let Some(id) = stack.pop() {
        if id == StateId(0) || std::mem::replace(&mut seen[id.0 as usize], true) {
            continue;
        }
        let state = automaton.state(id);
        let flag = |set: bool, letter: char| if set { letter } else { '-' };
        for transition in state.transition_ids().map(|id| program.transition(id)) {
            let escape = match transition.escape {
                0 => String::new(),
                state => format!(" org {state:3}"),
            };
            let kind = match (&transition.action, transition.atomic) {
                (Action::DStep { .. }, false) => 'D',
                (_, atomic) => flag(atomic, 'A'),
            };
            println!(
                "\tstate {:3} -> state {:3}  [id {:3}{escape}] [{kind}{}{}{}] line {} => {}",
                id.0,
                transition.to.0,
                transition.element.0,
                flag(state.accept, 'a'),
                flag(state.end, 'e'),
                flag(state.progress, 'p'),
                program.source.line(transition.span),
                program.element(transition.element).text,
            );
        }
        stack.extend(state.transition_ids().rev().map(|id| program.transition(id).to));
    }
}
