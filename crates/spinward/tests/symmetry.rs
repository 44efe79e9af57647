//! Interchangeable processes need not be told apart; and each condition for that is needed: there is a model in
//! which an error is missed without it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use spinward::{Check, Model, Optimize, Por, Property, Report, Search, Verdict};
use spinward_machine::{Flow, Machine, Options, Quotient, Sink, Step, System, View, Violation};
use spinward_program::symmetry::{Conditions, keep_constants};
use spinward_promela::load_text;

const ALL: Conditions = Conditions::ALL;

/// Models, and the condition without which an error in them is missed.
const TRAPS: &[(&str, Conditions)] = &[
    (
        "byte first = 255;
         active [2] proctype P() { atomic { first == 255 -> first = _pid } }
         active proctype W() { if :: first == 0 -> assert(false) :: first == 1 -> assert(false) fi }",
        Conditions { constants: false, ..ALL },
    ),
    (
        "byte a[3];
         active [2] proctype P() { a[_pid] = 1; a[_pid] = 2 }
         active proctype W() {
            if :: a[0] > a[1] -> assert(false) :: a[1] > a[0] -> assert(false) fi
         }",
        Conditions { constants: false, ..ALL },
    ),
    (
        "byte first = 255;
         active [2] proctype P() { atomic { first == 255 -> first = _pid } }
         active proctype W() {
            first != 255;
            if :: first % 2 == 0 -> assert(false) :: first % 2 == 1 -> assert(false) fi
         }",
        Conditions { computing: false, ..ALL },
    ),
    (
        "byte first = 255;
         active [2] proctype P() { atomic { first == 255 -> first = _pid } }
         active proctype W() {
            first != 255;
            if :: first > 0 -> assert(false) :: first < 1 -> assert(false) fi
         }",
        Conditions { computing: false, ..ALL },
    ),
    (
        "byte done;
         active proctype W() { atomic { done == 1 && _nr_pr == 3 -> assert(false) } }
         active [2] proctype P() { done++ }",
        Conditions { deaths: false, ..ALL },
    ),
    (
        "byte done;
         proctype P() { done++ }
         init { byte second; run P(); done == 1; second = run P(); assert(second == 1) }",
        Conditions { creation: false, ..ALL },
    ),
];

#[test]
fn without_one_of_the_conditions_an_error_is_missed() {
    for (text, without) in TRAPS {
        let machine = machine(text);
        let expected = errors(&machine);
        assert!(!expected.is_empty(), "{text}");
        if let Ok(quotient) = Quotient::new(&machine, ALL) {
            assert_eq!(errors(&quotient), expected, "{text}");
        }
        let careless = Quotient::new(&machine, *without).expect("nothing is minded");
        assert_ne!(errors(&careless), expected, "{text}");
    }
}

fn machine(text: &str) -> Machine {
    let loaded = load_text(Path::new("model.pml"), text.to_owned(), &Default::default());
    assert!(!loaded.has_errors(), "{text}: {:?}", loaded.diagnostics);
    let program = spinward_program::lower(&loaded).0.expect("a program");
    let options = Options { end_states: true, assertions: true, ..Options::default() };
    let program = Arc::new(keep_constants(&program));
    Machine::new(program, options, Arc::default()).expect("a first state")
}

/// All that is wrong in any state, and all states.
#[derive(Default)]
struct Seen {
    states: BTreeSet<Vec<u8>>,
    waiting: Vec<Vec<u8>>,
    errors: BTreeSet<String>,
}

impl Sink for Seen {
    fn successor(&mut self, state: &[u8], _: &[Step]) -> Flow {
        if self.states.insert(state.to_vec()) {
            self.waiting.push(state.to_vec());
        }
        Flow::Continue(())
    }

    fn violation(&mut self, violation: Violation, _: &[Step]) -> Flow {
        self.errors.insert(format!("{violation:?}"));
        Flow::Continue(())
    }
}

/// The simplest search there is.
fn walk<S: System>(system: &S) -> Seen {
    let mut seen = Seen::default();
    let mut scratch = system.scratch();
    let mut state = Vec::new();
    system.initial(&mut state);
    let _ = seen.successor(&state, &[]);
    while let Some(state) = seen.waiting.pop() {
        let _ = system.expand(&state, &mut scratch, &mut seen);
    }
    seen
}

fn errors<S: System>(system: &S) -> BTreeSet<String> {
    walk(system).errors
}

/// Calls with every order of so many.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for next in 0..count {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, next);
                longer
            })
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

/// How many states are left if each is renamed in all ways, and those that become alike are one.
fn orbits(machine: &Machine, count: usize, renamed: impl Fn(&View, &[usize]) -> Vec<i32>) -> usize {
    let orders = orders(count);
    let states = walk(machine).states;
    let least = |state: &Vec<u8>| {
        let view = machine.view(state);
        orders.iter().map(|order| renamed(&view, order)).min()
    };
    states.iter().map(least).collect::<BTreeSet<_>>().len()
}

#[test]
fn of_states_that_differ_only_in_who_is_who_one_is_left() {
    let count = 3;
    let text = "
        byte flag[3], owner = 255, seen[3];
        active [3] proctype P() {
            byte other;
            do
            :: flag[_pid] = 1; other = owner;
               if :: other != 255 -> seen[other] = 1 :: else fi;
               atomic { owner == 255 -> owner = _pid };
               owner = 255; flag[_pid] = 0
            od
        }";
    let machine = machine(text);
    let expected = orbits(&machine, count, |view, order| {
        let name = |value: i32| order.get(value as usize).map_or(value, |&it| it as i32);
        let mut renamed = vec![0; 2 * count + 1 + 2 * count];
        for (process, &there) in order.iter().enumerate() {
            renamed[there] = view.globals[process];
            renamed[count + 1 + there] = view.globals[count + 1 + process];
            let at = 2 * count + 1 + 2 * there;
            renamed[at] = i32::from(view.processes[process].state.0);
            // Read only right after it was set.
            let set = view.processes[process].locals[0];
            renamed[at + 1] = name(set);
        }
        renamed[count] = name(view.globals[count]);
        renamed
    });
    let all = walk(&machine).states.len();
    let quotient = Quotient::new(&machine, ALL).expect("they are interchangeable");
    let left = walk(&quotient).states.len();
    // What is dead is forgotten too.
    assert!(left <= expected, "{left} of {all} states, {expected} would be as many as needed");
    assert!(left * 5 < all, "{left} of {all}");
}

#[test]
fn clients_with_channels_of_their_own_are_interchangeable() {
    let count = 3;
    let text = "
        chan ask = [2] of { byte };
        chan answer[3] = [1] of { bit };
        proctype Client(byte id) { bit x; do :: ask!id; answer[id]?x od }
        proctype Server() { byte who; do :: ask?who; answer[who]!1 od }
        init { atomic { run Server(); run Client(0); run Client(1); run Client(2) } }";
    let machine = machine(text);
    let expected = orbits(&machine, count, |view, order| {
        let name = |value: i32| order.get(value as usize).map_or(value, |&it| it as i32);
        let mut renamed = vec![view.processes.len() as i32; 20];
        if view.processes.len() < 5 {
            return renamed;
        }
        renamed[1] = i32::from(view.processes[0].state.0);
        renamed[2] = i32::from(view.processes[1].state.0);
        // Who was served last is forgotten when that is done.
        let server = machine.program().automaton(view.processes[1].body);
        let serves = view.processes[1].state != server.initial;
        renamed[3] = if serves { name(view.processes[1].locals[0]) } else { -1 };
        let asked = &view.channels[0].messages;
        renamed[4] = asked.len() as i32;
        for (place, message) in asked.iter().enumerate() {
            renamed[5 + place] = name(message[0]);
        }
        for (client, &there) in order.iter().enumerate() {
            renamed[10 + there] = i32::from(view.processes[2 + client].state.0);
            renamed[15 + there] = view.channels[1 + client].messages.len() as i32;
        }
        renamed
    });
    let quotient = Quotient::new(&machine, ALL).expect("they are interchangeable");
    let left = walk(&quotient).states.len();
    assert_eq!(left, expected, "of {} states", walk(&machine).states.len());
}

/// A model of the project with its parameters.
fn load(file: &str, defines: &[(&str, &str)]) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let defines = defines.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    let options = spinward_promela::Options { defines: defines.collect(), ..Default::default() };
    Model::load(&folder.join(file), &options).expect("a correct text")
}

fn from_text(text: &str) -> Model {
    let options = spinward_promela::Options::default();
    Model::from_text(Path::new("model.pml"), text.to_owned(), &options).expect("a correct text")
}

/// What is found by a search, with the processes told apart or not.
fn check(model: Model, search: Search, (optimize, por): (Optimize, Por), symmetry: bool) -> Report {
    let check = Check::new(model).property(Property::Safety).search(search).errors(0);
    check.optimize(optimize).por(por).symmetry(symmetry).run().expect("a report")
}

const SEARCHES: [Search; 3] = [Search::Dfs, Search::Bfs, Search::Sweep];
const WAYS: [(Optimize, Por); 2] = [(Optimize::None, Por::Off), (Optimize::Full, Por::On)];

#[test]
fn symmetry_saves_more_than_a_factor_of_the_number_of_clients() {
    for (clients, way) in [(3, WAYS[0]), (4, WAYS[0]), (3, WAYS[1]), (4, WAYS[1]), (5, WAYS[1])] {
        let number = clients.to_string();
        let model = || load("lock_server.pml", &[("N", &number)]);
        let whole = check(model(), Search::Sweep, way, false);
        let fewer = check(model(), Search::Sweep, way, true);
        assert_eq!((whole.verdict, fewer.verdict), (Verdict::Verified, Verdict::Verified));
        assert!(fewer.symmetry && !whole.symmetry, "{:?}", fewer.notes);
        let (all, left) = (whole.statistics.states, fewer.statistics.states);
        assert!(left * clients <= all, "{clients} clients: {left} of {all} states");
        assert_eq!(whole.unreached, fewer.unreached);
    }
}

/// Each error is replayed before it is told, so that its run is one of the model.
#[test]
fn errors_are_found_with_their_runs() {
    let texts = [
        // Who is done has to die before the others see that nothing goes on.
        "byte n; bool lock;
         active [3] proctype P() { byte x; atomic { !lock -> lock = true }; x = n; n = x + 1; lock = false }
         active proctype W() { n == 3; timeout; assert(n < 3) }",
        "chan c = [1] of { byte };
         active [3] proctype P() { byte x; if :: c!_pid :: c?x -> assert(x == _pid) fi }",
        "byte a[4], last = 255;
         proctype P(byte id) { a[id]++; last = id; assert(a[id] < 2); last == id; a[id]++ }
         init { atomic { run P(1); run P(2); run P(3) }; last == 2 -> assert(a[2] == 0) }",
        "proctype P(chan own) { byte x; own?x; assert(x == 0); own?x }
         chan c[3] = [1] of { byte };
         active proctype S() { byte x = 1; do :: c[0]!x; x = 0 :: c[1]!0 :: c[2]!0; break od }
         init { atomic { run P(c[0]); run P(c[1]); run P(c[2]) } }",
        "byte turn = 255; byte in;
         active [4] proctype P() { turn = _pid; turn == _pid; in++; assert(in < 3); in-- }",
        "mtype = { wait, go }; mtype at[3] = wait; byte x;
         active [3] proctype P() { d_step { at[_pid] == wait -> at[_pid] = go }; x++; assert(x < 3); at[_pid] == wait }",
        // Who dies takes its channel along.
        "chan g; byte n;
         active proctype R() { n == 1; g!5; n = 2; assert(false) }
         active [2] proctype P() {
            chan c = [2] of { byte };
            atomic { n == 0 -> g = c; n = 1 }
         }",
        // A channel that is known by its number.
        "chan a = [1] of { chan };
         chan d = [2] of { byte };
         chan e = [1] of { byte };
         chan u = [1] of { byte, byte };
         byte n = 9;
         active [3] proctype P() {
            chan y; y = e; end: atomic { n == 0 -> n = 1 }; a?y; y!_pid
         }
         proctype R() { byte z; d?z; if :: z == 0 -> assert(false) :: z != 0 fi }
         active proctype S() { chan k; u!1,0; u?k,_; k!d; run R(); n = 0 }",
        "chan c1 = [1] of { byte }; chan c2 = [3] of { byte }; bit ack;
         proctype P(byte me) { end: c2?eval(me); ack = 1; end2: c2?eval(me); assert(false) }
         proctype V() { chan q = c1; q = _pid; q!2; ack; q!2 }
         init { atomic { run P(1); run V(); run P(2); run P(3) } }",
        "chan c1 = [3] of { byte }; chan c2 = [2] of { byte }; chan c3 = [1] of { byte }; bit ack;
         proctype P(byte me) { end: c1?eval(me); ack = 1; end2: c1?eval(me); assert(false) }
         proctype V() { bit b; chan q; b = c3; q = b; run P(3); q!2; ack; q!2 }
         init { atomic { run P(1); run V(); run P(2) } }",
        // What is compared with less than a message is compared all the same.
        "chan c = [1] of { byte, byte }; byte n;
         active [3] proctype P() { end: atomic { n == 0 -> n = 1 }; c!_pid,7 }
         active proctype R() { end: c?[0] -> assert(false) }",
        // What is missing in a message is 0.
        "chan c = [2] of { byte, byte };
         active [3] proctype P() { byte x, y; c!_pid; c?x,y; (x == _pid); assert(y == _pid) }",
        "chan c = [3] of { byte, byte };
         active [3] proctype P() { byte x; c!1; end: do :: c?x,eval(_pid) od }
         active proctype R() { byte x, y, z; c?x,y; c?x,z; assert(y == z) }",
        // Who may not die keeps those below from it.
        "byte n;
         proctype P() { byte i; i = 52; i = 42; atomic { n < 2 -> n++ }; i = 3; i = 4 }
         proctype Q() provided (n < 9) { skip }
         init { atomic { run P(); run Q(); run P(); run P() }; timeout -> assert(false) }",
        // Some are done before anything happens.
        "byte n, w;
         active proctype M() { timeout -> assert(n == 0) }
         active [2] proctype Q() { atomic { n == 0 -> w = _pid; n = 1 }; n = 2; (w == _pid) }
         active [3] proctype P() { byte x }",
        // Numbers that change when they are stored.
        "byte a[4]; int who = 258; byte x;
         active [3] proctype P() { byte b; atomic { x == 0 -> x = 1 }; a[_pid] = 1; b = who; b == _pid }
         active proctype W() { byte b; b = who; if :: a[b] == 1 -> assert(false) :: else fi }",
        "byte a[4]; int who = 258; byte x;
         active [3] proctype P() {
            atomic { x == 0 -> x = 1 };
            who = _pid; a[_pid] = 1
         }
         active proctype W() { byte b; b = who; if :: a[b] == 1 -> assert(false) :: else fi }",
    ];
    for text in texts {
        for search in SEARCHES {
            for way in WAYS {
                let whole = check(from_text(text), search, way, false);
                let fewer = check(from_text(text), search, way, true);
                let places = |report: &Report| -> BTreeSet<_> {
                    report.errors.iter().map(|it| (it.kind, it.line, it.message.clone())).collect()
                };
                assert!(!whole.errors.is_empty(), "{text}");
                assert_eq!(places(&whole), places(&fewer), "{search} {way:?}: {text}");
                assert_eq!(whole.unreached, fewer.unreached, "{search} {way:?}: {text}");
            }
        }
    }
}

/// More kinds of processes than can be kept in mind.
#[test]
fn many_kinds_of_processes_are_no_error() {
    let choose = |name: &str| {
        let options: Vec<_> = (1..=90).map(|value| format!(":: {name} = {value}")).collect();
        format!("if {} fi;", options.join(" "))
    };
    let text = format!(
        "byte a, b, cur; bool flag;
         proctype P(byte v) {{ cur = v; assert(!flag || cur == v) }}
         init {{ {} {} flag = (a == 81 && b == 82); atomic {{ run P(a); run P(b); a = 0; b = 0 }} }}",
        choose("a"),
        choose("b"),
    );
    for search in [Search::Dfs, Search::Bfs] {
        let report = check(from_text(&text), search, WAYS[0], true);
        assert!(report.symmetry);
        assert_eq!((report.verdict, report.errors.len()), (Verdict::Violated, 1), "{search}");
    }
}

#[test]
fn where_processes_must_be_told_apart_that_is_said() {
    let texts = [
        (
            "byte a[3]; active [3] proctype P() { a[(_pid + 1) % 3] = 1 }",
            "--symmetry has no effect: numbers of processes are computed with: \
             'a[(_pid + 1) % 3] = 1' at model.pml:1",
        ),
        (
            "byte a; active proctype P() { a = 1 } active proctype Q() { a = 2 }",
            "--symmetry has no effect: no two processes are interchangeable",
        ),
        (
            "active [2] proctype P() { assert(_nr_pr < 9) }",
            "--symmetry has no effect: `_nr_pr` tells how many processes have died",
        ),
        (
            "byte a; active [2] proctype P() { a = _pid; (a == 0 || a == 1) }",
            "--symmetry has no effect: no two processes are interchangeable",
        ),
    ];
    for (text, note) in texts {
        let report = check(from_text(text), Search::Dfs, WAYS[1], true);
        assert!(!report.symmetry, "{text}");
        assert_eq!(report.notes, [note], "{text}");
    }
}

#[test]
fn rings_keep_their_verdicts() {
    for file in [
        "philosophers_deadlock.pml",
        "philosophers_asymmetric.pml",
        "chang_roberts.pml",
        "dolev_klawe_rodeh.pml",
    ] {
        let whole = check(load(file, &[]), Search::Dfs, WAYS[1], false);
        for search in SEARCHES {
            let fewer = check(load(file, &[]), search, WAYS[1], true);
            assert_eq!(whole.verdict, fewer.verdict, "{file}");
            assert_eq!(whole.errors.len(), fewer.errors.len(), "{file}");
        }
    }
}

#[test]
fn an_audit_shows_what_symmetry_saves() {
    let audit = |file| {
        let check = Check::new(load(file, &[])).property(Property::Safety);
        check.symmetry(true).audit(true).run().expect("a report").audit.expect("an audit")
    };
    let of_clients = audit("lock_server.pml");
    assert!(of_clients.disagreements.is_empty());
    let alone = of_clients.runs.iter().find(|run| run.leaves_out() == "--symmetry on");
    assert!(alone.is_some_and(|run| run.states * 3 < of_clients.runs[0].states));
    // Where it has no effect there is nothing to show.
    assert!(audit("philosophers_deadlock.pml").runs.iter().all(|run| !run.symmetry));
}
