//! The automata of small models against SPIN's own transition tables.
//!
//! Each `tables/NAME.table` is what SPIN 6.5.2 printed for `tables/NAME.pml`:
//! `spin -o1 -o2 -o3 -a NAME.pml && gcc -DNOREDUCE -DSAFETY -w -o pan pan.c && ./pan -d`.
//! States, targets, element numbers, the order of the transitions, escapes, the atomic flag and the
//! labels must be the same. The other columns (kinds for partial-order reduction, the numbers of
//! SPIN's C functions) have no counterpart here. SPIN also prints states that only stand for
//! escapes; no process is ever in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use spinward_program::Program;
use spinward_program::ir::{Action, Automaton, BodyKind, StateId};
use spinward_promela::{Options, load};

/// One transition: from, to, element, escape, and the letters for atomic, accept, end, progress.
type Row = (u32, u32, u32, u32, String);

fn lowered(path: &Path) -> Program {
    let loaded = load(path, &Options::default());
    assert!(!loaded.has_errors(), "{path:?}: {:?}", loaded.diagnostics);
    let (program, diagnostics) = spinward_program::lower(&loaded);
    program.unwrap_or_else(|| panic!("{path:?}: {diagnostics:?}"))
}

fn our_rows(program: &Program, automaton: &Automaton) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![automaton.initial];
    while let Some(id) = stack.pop() {
        if id == StateId(0) || !seen.insert(id) {
            continue;
        }
        let state = automaton.state(id);
        for transition in state.transition_ids().map(|id| program.transition(id)) {
            let letters = [
                (transition.atomic, 'A'),
                (state.accept, 'a'),
                (state.end, 'e'),
                (state.progress, 'p'),
            ];
            let mut flags: String =
                letters.iter().map(|&(set, letter)| if set { letter } else { '-' }).collect();
            // SPIN prints `A` for a d_step that ends an atomic, too.
            if matches!(transition.action, Action::DStep { .. }) {
                flags.replace_range(0..1, "D");
            }
            rows.push((
                id.0.into(),
                transition.to.0.into(),
                transition.element.0,
                transition.escape.into(),
                flags,
            ));
        }
        let targets = state.transition_ids().rev();
        stack.extend(targets.map(|id| program.transition(id).to));
    }
    rows
}

/// The number that follows a word.
fn number(line: &str, word: &str) -> Option<u32> {
    let rest = line.split_once(word)?.1.trim_start();
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn recorded_row(line: &str) -> Option<Row> {
    let (from, rest) = line.split_once("-(tr")?;
    let function = number(line, "-(tr")?;
    let flags = rest.split_once("] [")?.1.get(..4)?;
    let text = rest.split_once(" => ")?.1;
    let flags = match text.starts_with("D_STEP") {
        true => format!("D{}", flags.get(1..)?),
        false => flags.to_owned(),
    };
    // Function 0 is an `if` without a possible option.
    (function != 0).then_some((
        number(from, "state")?,
        number(rest, "state")?,
        number(rest, "[id")?,
        number(rest, " org").unwrap_or(0),
        flags,
    ))
}

fn recorded_tables(text: &str) -> BTreeMap<String, Vec<Row>> {
    let mut tables: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let mut body = String::new();
    for line in text.lines() {
        if line.starts_with('\t') {
            let rows = tables.entry(body.clone()).or_default();
            rows.extend(recorded_row(line));
        } else {
            body = line.to_owned();
        }
    }
    for rows in tables.values_mut() {
        let Some(&(start, ..)) = rows.first() else {
            continue;
        };
        let mut reached = BTreeSet::new();
        let mut stack = vec![start];
        while let Some(state) = stack.pop() {
            if reached.insert(state) {
                let next = rows.iter().filter(|row| row.0 == state);
                stack.extend(next.map(|row| row.1));
            }
        }
        rows.retain(|row| reached.contains(&row.0));
    }
    tables
}

fn heading(automaton: &Automaton) -> String {
    match automaton.kind {
        BodyKind::Proctype => format!("proctype {}", automaton.name),
        BodyKind::Init => "init".into(),
        BodyKind::Never => format!("claim {}", automaton.name),
        // SPIN has these two the wrong way round.
        BodyKind::Trace => "notrace assertion".into(),
        BodyKind::NoTrace => "trace assertion".into(),
    }
}

#[test]
fn tables_are_those_of_spin() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let mut models: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pml"))
        .collect();
    models.sort();
    assert!(models.len() >= 40);
    let mut wrong = Vec::new();
    for model in models {
        let recorded = std::fs::read_to_string(model.with_extension("table")).unwrap();
        let recorded = recorded_tables(&recorded);
        let program = lowered(&model);
        for automaton in &program.automata {
            let ours = our_rows(&program, automaton);
            let heading = heading(automaton);
            if recorded.get(&heading) != Some(&ours) {
                wrong.push(format!(
                    "{}, {heading}:\n  ours {ours:?}\n  SPIN {:?}",
                    model.display(),
                    recorded.get(&heading)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
