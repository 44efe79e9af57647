//! What variables are said to hold against what they hold in all states of small models.

mod common;

use std::collections::HashSet;
use std::sync::Arc;

use common::{Event, Events, models, program};
use spinward_machine::{Machine, Options, System};
use spinward_program::ir::Block;
use spinward_program::ranges::{Interval, Ranges, ranges};

/// Of larger models only so many states are looked at.
const STATES: usize = 5_000;

#[test]
fn values_are_in_their_ranges() {
    let (mut looked_at, mut known) = (0, 0);
    for path in models("../../models").into_iter().chain(models("tests/rules")) {
        let Some(program) = program(&path).filter(|program| program.uses.c_code.is_none()) else {
            continue;
        };
        let ranges = ranges(&program);
        let all = |block: &Block, ranges: &[Interval]| {
            let slots = block.slots.iter().zip(ranges);
            slots.filter(|(slot, it)| Interval::of_scalar(slot.scalar) != **it).count()
        };
        known += all(&program.globals, &ranges.globals);
        let Ok(machine) = Machine::new(Arc::new(program), Options::default(), Arc::default())
        else {
            continue;
        };
        let mut scratch = machine.scratch();
        let mut state = Vec::new();
        machine.initial(&mut state);
        let mut seen = HashSet::from([state.clone()]);
        let mut open = vec![state];
        while let Some(state) = open.pop() {
            looked_at += 1;
            assert_in_range(&machine, &ranges, &state, &path.display().to_string());
            let mut events = Events::default();
            let _ = machine.expand(&state, &mut scratch, &mut events);
            for event in events.0 {
                if let Event::Successor(next, _) = event
                    && seen.len() < STATES
                    && seen.insert(next.clone())
                {
                    open.push(next);
                }
            }
        }
    }
    assert!(looked_at > 50_000, "{looked_at}");
    assert!(known > 100, "{known} globals have a range smaller than their type");
}

fn assert_in_range(machine: &Machine, ranges: &Ranges, state: &[u8], model: &str) {
    let view = machine.view(state);
    let program = machine.program();
    let check = |block: &Block, values: &[i32], ranges: &[Interval]| {
        for ((slot, &value), range) in block.slots.iter().zip(values).zip(ranges) {
            let fits = range.low <= value && value <= range.high;
            assert!(fits, "{model}: {} is {value}, not in {range:?}", slot.name);
        }
    };
    check(&program.globals, &view.globals, &ranges.globals);
    check(&program.hidden, &view.hidden, &ranges.hidden);
    for process in &view.processes {
        let ranges = ranges.locals[process.body.0 as usize].as_deref();
        let ranges = ranges.unwrap_or_else(|| panic!("{model}: there is a process"));
        check(&program.automaton(process.body).locals, &process.locals, ranges);
    }
}
