//! Sets locals to 0 that nobody reads before they are set again.
//!
//! *Idea*: a local variable is *dead* in a local state if its value has no effect on whatever follows.
//! Two states that differ in dead variables only are then bisimilar, and if these are 0 they are one.
//! SPIN resets some (scalars, at the statement that read or set them last); here every step resets all
//! that are dead where it leads and may be something else, so that in each local state the dead ones
//! are 0 whatever way led to it. This merges states and never splits one.
//!
//! *Source*: backward analysis of strong liveness, as in Giegerich, Möncke, Wilhelm, *Invariance of
//! approximative semantics with respect to program transformations*, 1981: what is read only to compute
//! a dead variable is not live by that. On single bytes, so that elements of arrays and fields
//! of records need no care. Reads through an index that is not constant count for all elements, writes
//! for none. What others read (`P:v`) lives always, and so does a channel that a process claims. What is printed counts only where printing may go
//! wrong.
//!
//! *Invariant*: in every state between moves the dead locals of every process are 0.
//!
//! *Cost*: for each body, its transitions times the bytes of its locals, divided by 64, a few times.

use std::ops::Range;

use super::bytes::Bytes;
use super::{Watched, access, is_process, seen_by_others};
use crate::access::{in_expr, in_place, is_harmless, written};
use crate::ir::{Action, Automaton, BodyId, Expr, InitStep, Place, Program, Space, StateId};

/// A body whose locals, times its local states, take more bytes is left as it is.
const MAX_BYTES: usize = 1 << 28;

/// Which locals are dead where.
#[derive(Debug)]
pub struct Dead {
    /// By body and local state; none if it was not looked at.
    live: Vec<Vec<Bytes>>,
    bytes: Vec<u32>,
}

impl Dead {
    /// Finds out.
    pub fn new(program: &Program, watched: &Watched) -> Self {
        let always = seen_by_others(program, watched);
        let live = program.automata.iter().zip(always).map(|(automaton, always)| {
            let bytes = automaton.locals.bytes as usize * automaton.states.len();
            if is_process(automaton.kind) && bytes > 0 && bytes <= MAX_BYTES {
                live(program, automaton, &always)
            } else {
                Vec::new()
            }
        });
        let bytes = program.automata.iter().map(|automaton| automaton.locals.bytes);
        Self { live: live.collect(), bytes: bytes.collect() }
    }

    /// The bytes of a process's locals that are dead in a local state.
    pub fn of(&self, body: BodyId, state: StateId) -> Vec<Range<u32>> {
        let bytes = self.bytes[body.0 as usize];
        let mut dead = Bytes::none(bytes);
        if let Some(live) = self.live[body.0 as usize].get(usize::from(state.0)) {
            dead.insert(0..bytes);
            dead.drop(live);
        }
        dead.ranges()
    }
}

pub(super) fn run(program: &mut Program, watched: &Watched) {
    let dead = Dead::new(program, watched);
    for body in 0..program.automata.len() {
        if !dead.live[body].is_empty() {
            reset(program, body, &dead.live[body]);
        }
    }
}

/// By local state: what is live there.
fn live(program: &Program, automaton: &Automaton, always: &Bytes) -> Vec<Bytes> {
    let mut live = vec![always.clone(); automaton.states.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); automaton.states.len()];
    for (from, state) in automaton.states.iter().enumerate() {
        for id in state.transition_ids() {
            before[next_state(program.transition(id).to, &program.transition(id).action)]
                .push(from);
        }
    }
    let mut waiting: Vec<usize> = (0..automaton.states.len()).collect();
    let mut waits = vec![true; automaton.states.len()];
    while let Some(state) = waiting.pop() {
        waits[state] = false;
        let mut new = false;
        for id in automaton.states[state].transition_ids() {
            let transition = program.transition(id);
            let mut needed = live[next_state(transition.to, &transition.action)].clone();
            go_back(&transition.action, &mut needed);
            new |= live[state].add(&needed);
        }
        if new {
            for &from in &before[state] {
                if !std::mem::replace(&mut waits[from], true) {
                    waiting.push(from);
                }
            }
        }
    }
    live
}

/// What comes after a transition: for a `d_step` its inside, whose transitions lead to its end.
fn next_state(to: StateId, action: &Action) -> usize {
    match action {
        Action::DStep { entry } => usize::from(entry.0),
        _ => usize::from(to.0),
    }
}

/// From what is live after a step to what is live before it.
fn go_back(action: &Action, live: &mut Bytes) {
    match action {
        Action::Assign(place, value) => go_back_by(place, value, live),
        Action::AssignAll(pairs) => {
            pairs.iter().rev().for_each(|(place, value)| go_back_by(place, value, live));
        }
        _ => {
            written(action, &mut |place, _| kill(place, live));
            access::in_action(action, &mut |expr| note(expr, live));
        }
    }
}

fn go_back_by(place: &Place, value: &Expr, live: &mut Bytes) {
    let is_local = place.space == Space::Local && place.indexes.is_empty();
    if is_local && !live.meets(place.span()) && is_harmless(value) {
        return;
    }
    kill(place, live);
    in_place(place, &mut |expr| note(expr, live));
    read(value, live);
}

/// A place that is surely set.
fn kill(place: &Place, live: &mut Bytes) {
    if place.space == Space::Local && place.indexes.is_empty() {
        live.remove(place.span());
    }
}

fn read(expr: &Expr, live: &mut Bytes) {
    in_expr(expr, &mut |expr| note(expr, live));
}

fn note(expr: &Expr, live: &mut Bytes) {
    if let Expr::Load(place) = expr
        && place.space == Space::Local
    {
        live.insert(place.span());
    }
}

/// Puts into the transitions of a body what they reset, given what is live by local state.
fn reset(program: &mut Program, body: usize, live: &[Bytes]) {
    let automaton = &program.automata[body];
    let mut created = Bytes::none(automaton.locals.bytes);
    automaton.params.iter().for_each(|place| created.insert(place.span()));
    for step in &automaton.init {
        match step {
            InitStep::Store(place, value) => set(place, Some(value), &mut created),
            InitStep::NewChannel(place, _) => set(place, None, &mut created),
        }
    }
    let initial = usize::from(automaton.initial.0);
    let dropped = split(&mut created, &live[initial]);
    // By local state: what may not be 0 there; none if it was not reached.
    let mut filled: Vec<Option<Bytes>> = vec![None; automaton.states.len()];
    filled[initial] = Some(created);
    let mut waiting = vec![initial];
    let mut resets = Vec::new();
    while let Some(state) = waiting.pop() {
        for id in automaton.states[state].transition_ids() {
            let transition = program.transition(id);
            let to = usize::from(transition.to.0);
            if to == 0 {
                continue;
            }
            let mut after = filled[state].clone().unwrap_or_default();
            go_on(program, automaton, &transition.action, transition.to, &mut after);
            resets.push((id, split(&mut after, &live[to])));
            let new = match &mut filled[to] {
                Some(filled) => filled.add(&after),
                none => none.replace(after).is_none(),
            };
            if new {
                waiting.push(to);
            }
        }
    }
    program.automata[body].resets = dropped;
    // What may be filled only grows, so the last word on a transition says all.
    for (id, ranges) in resets {
        program.transitions[id.0 as usize].resets = ranges;
    }
}

/// Takes out what is not live.
fn split(filled: &mut Bytes, live: &Bytes) -> Vec<Range<u32>> {
    let mut dead = filled.clone();
    dead.drop(live);
    filled.keep(live);
    dead.ranges()
}

/// From what may not be 0 before a step to what may not be after it.
fn go_on(
    program: &Program,
    automaton: &Automaton,
    action: &Action,
    to: StateId,
    filled: &mut Bytes,
) {
    match action {
        Action::DStep { entry } => {
            let mut seen = vec![false; automaton.states.len()];
            seen[usize::from(to.0)] = true;
            let mut waiting = vec![*entry];
            while let Some(state) = waiting.pop() {
                seen[usize::from(state.0)] = true;
                for id in automaton.state(state).transition_ids() {
                    let inner = program.transition(id);
                    written(&inner.action, &mut |place, _| set(place, None, filled));
                    if !seen[usize::from(inner.to.0)] {
                        waiting.push(inner.to);
                    }
                }
            }
        }
        _ => written(action, &mut |place, value| set(place, value, filled)),
    }
}

/// A place that is set to a value, or to any.
fn set(place: &Place, value: Option<&Expr>, filled: &mut Bytes) {
    if place.space == Space::Local {
        let is_zero = matches!(value, Some(Expr::Const(n)) if place.scalar.truncate(*n) == 0);
        match is_zero {
            true if place.indexes.is_empty() => filled.remove(place.span()),
            true => {}
            false => filled.insert(place.span()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{automaton, optimized, steps};
    use super::super::{Pass, Watched, optimize_by};
    use crate::Program;

    fn slot(program: &Program, body: &str, name: &str) -> u32 {
        let slots = &automaton(program, body).locals.slots;
        slots.iter().find(|slot| slot.name == name).expect("the variable is there").offset
    }

    /// Whether each of the transitions with this text resets a variable.
    fn resets(program: &Program, body: &str, text: &str, variable: &str) -> bool {
        let at = slot(program, body, variable);
        let found: Vec<_> = steps(program, body, text)
            .iter()
            .filter(|t| automaton(program, body).state(t.from).reachable)
            .map(|t| t.resets.iter().any(|range| range.contains(&at)))
            .collect();
        assert!(found.iter().all(|&each| each == found[0]), "{text}: {found:?}");
        found[0]
    }

    fn dead(text: &str) -> Program {
        optimized(text, Pass::Dead)
    }

    #[test]
    fn the_last_read_resets() {
        let program = dead(
            "byte g
             active proctype P() { byte x, y; x = g; y = g; g = x; g = y; g = 1 }",
        );
        assert!(resets(&program, "P", "g = x", "x"));
        assert!(!resets(&program, "P", "g = x", "y"));
        assert!(resets(&program, "P", "g = y", "y"));
        // Reset before, so surely 0.
        assert!(!resets(&program, "P", "g = 1", "x"));
    }

    #[test]
    fn what_only_feeds_the_dead_is_dead() {
        let program = dead(
            "byte g
             active proctype P() { byte n; do :: g = 1; n = n + 1; g = 2 od }",
        );
        assert!(resets(&program, "P", "n = n + 1", "n"));
        // But not if computing it may go wrong.
        let program = dead(
            "byte g
             active proctype P() { byte n = 1; do :: g = 1; n = 7 / n; g = 2 od }",
        );
        assert!(!resets(&program, "P", "n = 7 / n", "n"));
    }

    #[test]
    fn an_index_reads_all_elements_and_sets_none() {
        let program = dead(
            "byte g
             active proctype P() {
               byte a[3], i;
               a[0] = g; a[1] = g; i = g; a[i] = 5; g = 7; i = g; g = a[i]; g = 8; g = a[1]; g = 9
             }",
        );
        assert!(!resets(&program, "P", "a[0] = g", "a[0]"));
        assert!(!resets(&program, "P", "a[i] = 5", "a[1]"));
        assert!(resets(&program, "P", "a[i] = 5", "i"));
        assert!(resets(&program, "P", "g = a[i]", "a[0]"));
        assert!(!resets(&program, "P", "g = a[i]", "a[1]"));
        assert!(resets(&program, "P", "g = a[1]", "a[1]"));
    }

    #[test]
    fn both_sides_of_a_message_reset() {
        let program = dead(
            "chan c = [0] of { byte, byte }
             active proctype P() { byte x = 3; c!x,1; x = 0 }
             active proctype Q() { byte y, z = 1; c?y,eval(z); c?y,1; z = y; c!z,z }",
        );
        assert!(resets(&program, "P", "c!x,1", "x"));
        assert!(resets(&program, "Q", "c?y,eval(z)", "z"));
        assert!(resets(&program, "Q", "c?y,eval(z)", "y"));
        assert!(!resets(&program, "Q", "c?y,1", "y"));
        assert!(resets(&program, "Q", "c!z,z", "z"));
    }

    #[test]
    fn parameters_that_nobody_reads_are_zero_from_the_start() {
        let program = dead(
            "byte g
             proctype P(byte a; byte b) { byte k = 4; g = b }
             init { run P(1, 2) }",
        );
        let resets = &automaton(&program, "P").resets;
        let at = |name| slot(&program, "P", name);
        let has = |at: u32| resets.iter().any(|range| range.contains(&at));
        assert!(has(at("a")) && !has(at("b")) && has(at("k")));
    }

    #[test]
    fn printing_is_no_read_unless_it_may_go_wrong() {
        let program = dead(
            "byte g
             active proctype P() { byte x, y, a[2]; x = g; y = g; printf(\"%d %d\", x, a[y]) }",
        );
        assert!(resets(&program, "P", "x = g", "x"));
        assert!(!resets(&program, "P", "y = g", "y"));
    }

    #[test]
    fn what_others_read_lives_always() {
        let text = "byte g
             active proctype P() { byte x, y, z; x = 1; y = 1; z = 1; g = 2 }
             active proctype Q() { P:x == 1 }
             active proctype R() provided (g < 2) { byte u, v, w; u = 1; w = 1; g = 0 }
             never { do :: P:y == 1 od }";
        let program = super::super::tests::program(text);
        let claimed = Watched { claim: Some(program.claims[0]), ..Watched::default() };
        let checked = optimize_by(&program, &claimed, &[Pass::Dead]);
        assert!(!resets(&checked, "P", "x = 1", "x"));
        assert!(!resets(&checked, "P", "y = 1", "y"));
        assert!(resets(&checked, "P", "z = 1", "z"));
        assert!(resets(&checked, "R", "w = 1", "w"));
        // `P:x` may mean a process of another type.
        assert!(!resets(&checked, "R", "u = 1", "u"));
        // A claim that is not watched reads nothing.
        let unchecked = optimize_by(&program, &Watched::default(), &[Pass::Dead]);
        assert!(resets(&unchecked, "P", "y = 1", "y"));
    }

    #[test]
    fn a_d_step_is_one_step() {
        let program = dead(
            "byte g
             active proctype P() {
               byte x, y; x = g; y = g;
               d_step { if :: x > 1 -> y = 2 :: else fi; x = 3; g = x };
               g = y; g = 0
             }",
        );
        let d_step = steps(&program, "P", "g = x");
        assert!(d_step.iter().all(|t| t.resets.is_empty()), "not inside");
        let body = automaton(&program, "P").body;
        let whole: Vec<_> = program
            .transitions
            .iter()
            .filter(|t| t.body == body && matches!(t.action, crate::ir::Action::DStep { .. }))
            .collect();
        let [whole] = whole.as_slice() else { panic!("one `d_step`") };
        let has =
            |name| whole.resets.iter().any(|range| range.contains(&slot(&program, "P", name)));
        assert!(has("x") && !has("y"));
    }

    #[test]
    fn an_escape_reads_too() {
        let program = dead(
            "byte g
             active proctype P() {
               byte x, y; x = g;
               { y = g; g = 1; g = 2 } unless { g == x };
               g = 3
             }",
        );
        assert!(!resets(&program, "P", "g = 1", "x"));
        assert!(resets(&program, "P", "g == x", "x"));
        assert!(resets(&program, "P", "y = g", "y"));
    }
}
