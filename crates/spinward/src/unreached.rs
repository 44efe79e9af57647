//! Statements that no run comes to.

use spinward_program::Program;
use spinward_program::ir::{BodyId, BodyKind, StateId};

use crate::report::Unreached;

/// The statements SPIN would list: a local state is reached if a process stood there and one of its
/// transitions was looked at, be it possible or not, and so is the statement of that transition.
/// `tried` is by transition. Of claims, only `claims` took part.
pub(crate) fn unreached(program: &Program, tried: &[bool], claims: &[BodyId]) -> Vec<Unreached> {
    let mut reached: Vec<Vec<bool>> =
        program.automata.iter().map(|automaton| vec![false; automaton.states.len()]).collect();
    let mut reach = |body: BodyId, state: StateId| {
        if let Some(reached) = reached[body.0 as usize].get_mut(usize::from(state.0)) {
            *reached = true;
        }
    };
    for (transition, _) in program.transitions.iter().zip(tried).filter(|(_, tried)| **tried) {
        let element = program.element(transition.element);
        reach(transition.body, transition.from);
        reach(element.body, element.state);
    }
    program
        .elements
        .iter()
        .filter(|element| element.listed)
        .filter(|element| match program.automaton(element.body).kind {
            BodyKind::Proctype | BodyKind::Init => true,
            BodyKind::Never => claims.contains(&element.body),
            BodyKind::Trace | BodyKind::NoTrace => false,
        })
        .filter(|element| {
            let states = &reached[element.body.0 as usize];
            !states.get(usize::from(element.state.0)).copied().unwrap_or(false)
        })
        .map(|element| Unreached {
            proctype: program.automaton(element.body).name.clone(),
            file: program.source.path(element.span).display().to_string(),
            line: program.source.line(element.span),
            statement: element.text.clone(),
        })
        .collect()
}
