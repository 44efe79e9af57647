//! What names turn out to mean.

use super::load;
use crate::ast::{NameId, StmtKind, Unit};
use crate::preprocess::preprocess;
use crate::resolve::{constant, resolve_formula};
use crate::symbols::{BodyId, Predefined, Scope, Symbol, Symbols, Type, VarId};
use crate::{Loaded, Options, SourceMap, parser};

#[track_caller]
fn loaded(text: &str) -> Loaded {
    let loaded = load(text);
    assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
    loaded
}

fn variable(symbols: &Symbols, name: &str) -> VarId {
    let found = symbols.variables.iter().position(|v| v.name == name);
    VarId(found.expect("declared") as u32)
}

/// What the `n`th occurrence of a name in the tree stands for, from 0. The derived `Debug` is a
/// walk that leaves no name out: each prints as `Name { text: "x", span: ..., id: NameId(7) }`.
#[track_caller]
fn meaning(loaded: &Loaded, name: &str, n: usize) -> Option<Symbol> {
    let tree = format!("{:?}", loaded.model);
    let pattern = format!("Name {{ text: {name:?}, ");
    let (start, _) = tree.match_indices(&pattern).nth(n).expect("occurs");
    let (_, id) = tree[start..].split_once("NameId(").expect("numbered");
    let (id, _) = id.split_once(')').expect("closed");
    loaded.symbols.symbol(NameId(id.parse().expect("a number")))
}

#[test]
fn mtype_names_are_numbered_from_the_last() {
    let loaded = loaded("mtype = {a, b, c}; mtype:k = {x, y}; mtype = {d, e}; init { skip }");
    let values = |set: usize| {
        let values = loaded.symbols.mtypes[set].values.iter();
        values.map(|(name, value)| format!("{name}{value}")).collect::<Vec<_>>()
    };
    assert_eq!(values(0), ["c1", "b2", "a3", "e4", "d5"]);
    assert_eq!(values(1), ["y1", "x2"]);
    assert_eq!(loaded.symbols.mtypes[1].name.as_deref(), Some("k"));
}

#[test]
fn blocks_are_numbered_by_their_braces() {
    let loaded = loaded(
        "active proctype P() { byte a; { byte b; skip }; { byte c; atomic { byte d; skip } } \
         if :: byte e; e = 1 fi }
         active proctype Q() { skip; { byte f; f = 1 } }",
    );
    let symbols = &loaded.symbols;
    let block = |name| symbols.variable(variable(symbols, name)).block.to_vec();
    assert_eq!(block("a"), []);
    assert_eq!(block("b"), [1]);
    assert_eq!(block("c"), [2]);
    assert_eq!(block("d"), [2, 1]);
    // Options open no block.
    assert_eq!(block("e"), []);
    // The counters go on in the next body.
    assert_eq!(block("f"), [3]);
}

#[test]
fn variables_of_one_name_in_two_blocks_are_two() {
    let loaded = loaded("init { { byte x; x = 1 }; { int x; x = 2 } }");
    let names = [0, 1, 2, 3].map(|n| meaning(&loaded, "x", n));
    assert_eq!(names[0], names[1]);
    assert_eq!(names[2], names[3]);
    assert_ne!(names[0], names[2]);
}

#[test]
fn a_call_of_an_inline_is_a_block() {
    let loaded = loaded("inline f(v) { byte t; t = v } init { byte u; f(1); f(u) }");
    let locals = &loaded.symbols.bodies[0].locals;
    let shown: Vec<_> = locals
        .iter()
        .map(|&id| loaded.symbols.variable(id))
        .map(|v| (v.name.as_str(), v.block.to_vec(), v.at_creation))
        .collect();
    assert_eq!(shown, [("u", vec![], true), ("t", vec![1], false), ("t", vec![2], false)]);
}

#[test]
fn only_what_is_declared_at_the_beginning_is_set_at_creation() {
    let loaded = loaded(
        "chan q = [1] of { byte };
         proctype P(byte p) { byte a; xr q; byte b = 1; q?a; byte c; { byte d; d = 1 } }
         active proctype Q() { { byte e; e = 1 } byte f; f = 1 }
         init { run P(1) }",
    );
    let symbols = &loaded.symbols;
    let created = |name| symbols.variable(variable(symbols, name)).at_creation;
    for name in ["q", "p", "a", "b"] {
        assert!(created(name), "{name}");
    }
    for name in ["c", "d", "e", "f"] {
        assert!(!created(name), "{name}");
    }
    let body = &symbols.bodies[0];
    assert_eq!(body.params, [variable(symbols, "p")]);
    assert_eq!(body.locals[0], variable(symbols, "p"));
}

#[test]
fn types_bounds_and_channels() {
    let loaded = loaded(
        "mtype = { red, green }; mtype:k = { up };
         typedef T { byte f[2]; chan c = [3] of { byte, T0 } }
         init { skip }"
            .replace("typedef T {", "typedef T0 { int g } typedef T {")
            .as_str(),
    );
    let symbols = &loaded.symbols;
    let field = symbols.variable(variable(symbols, "c"));
    assert!(matches!(field.scope, Scope::Field(_)));
    let channel = field.channel.as_ref().expect("a channel");
    assert_eq!(channel.capacity, 3);
    assert!(matches!(channel.fields[..], [Type::Byte, Type::Struct(_)]));
    assert_eq!(symbols.variable(variable(symbols, "f")).array, Some(2));
}

#[test]
fn bounds_are_constant_expressions() {
    let text = "mtype = { two, one }; byte a[two * 3 - 1]; unsigned u : 5; mtype:k m;
                chan c = [2 + 1] of { bit }; active [two] proctype P() { a[1] = 1 }";
    let loaded = load(text);
    let symbols = &loaded.symbols;
    assert_eq!(symbols.variable(variable(symbols, "a")).array, Some(5));
    assert_eq!(symbols.variable(variable(symbols, "u")).ty, Type::Unsigned(5));
    assert_eq!(symbols.bodies[0].active, 2);
}

#[test]
fn jumps_find_the_label_of_their_block() {
    let loaded = loaded(
        "inline f() { skip; L: goto L } init { f(); f(); { skip; L: skip; goto L }; goto M; M: skip }",
    );
    let labels: Vec<_> =
        loaded.symbols.bodies[0].labels.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(labels, ["L", "L", "L", "M"]);
    let mut jumps = Vec::new();
    for occurrence in 0..6 {
        jumps.push(meaning(&loaded, "L", occurrence));
    }
    let label = |n| Some(Symbol::Label(BodyId(0), n));
    assert_eq!(jumps, [label(0), label(0), label(1), label(1), label(2), label(2)]);
    assert_eq!(meaning(&loaded, "M", 0), label(3));
}

#[test]
fn a_jump_prefers_the_blocks_around_it() {
    let loaded = loaded("init { skip; { skip; { skip; goto L }; L: skip }; { skip; L: skip } }");
    assert_eq!(meaning(&loaded, "L", 0), Some(Symbol::Label(BodyId(0), 0)));
    let elsewhere = super::load("init { { skip; goto L }; { skip; L: skip } }");
    assert_eq!(meaning(&elsewhere, "L", 0), Some(Symbol::Label(BodyId(0), 0)));
}

#[test]
fn loops_over_channels_have_a_hidden_counter_per_block() {
    let loaded = loaded(
        "typedef T { byte a }; chan c = [3] of { T }; chan d = [300] of { T };
         init { T m; for (m in c) { for (m in c) { skip } } for (m in d) { skip } }",
    );
    let symbols = &loaded.symbols;
    let counters: Vec<_> = symbols.variables.iter().filter(|v| v.synthetic).collect();
    assert_eq!(counters.len(), 2);
    assert_eq!(counters[0].ty, Type::Short);
    assert_eq!(counters[1].ty, Type::Byte);
    assert_eq!(*counters[1].block, [1]);
    assert_eq!(symbols.for_counters.len(), 3);
    let Unit::Init(init) = &loaded.model.units[3] else {
        panic!("the last unit is init");
    };
    let StmtKind::For { var, .. } = &init.body.stmts[1].kind else {
        panic!("a loop");
    };
    let counter = symbols.for_counters[&var.parts[0].name.id];
    assert_eq!(symbols.variable(counter).ty, Type::Short);
}

#[test]
fn names_of_all_kinds() {
    let loaded = loaded(
        "mtype = { red }; typedef T { byte f }; T t; byte n;
         ltl safe { [] (P@L -> t.f == red && P:v == later) }
         active proctype P() { byte v; L: run Q(_pid); n = t.f }
         proctype Q(byte x) { skip }
         byte later;",
    );
    let symbols = &loaded.symbols;
    let is = |name, n, symbol| assert_eq!(meaning(&loaded, name, n), Some(symbol), "{name}");
    is("f", 1, Symbol::Variable(variable(symbols, "f")));
    is("red", 1, Symbol::Mtype(crate::symbols::MtypeId(0), 1));
    is("L", 0, Symbol::Label(BodyId(0), 0));
    is("v", 0, Symbol::Variable(variable(symbols, "v")));
    is("later", 0, Symbol::Variable(variable(symbols, "later")));
    is("Q", 0, Symbol::Body(BodyId(1)));
    is("_pid", 0, Symbol::Predefined(Predefined::Pid));
    is("safe", 0, Symbol::Ltl);
    is("T", 1, Symbol::Typedef(crate::symbols::TypedefId(0)));
}

#[test]
fn bodies_have_the_names_and_numbers_of_spin() {
    let loaded = loaded(
        "never { skip } active proctype A() { skip } never { skip } init { skip }
         chan c = [1] of { bit }; trace { do :: c!0 od }",
    );
    let names: Vec<_> = loaded.symbols.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["never_0", "A", "never_1", ":init:", ":trace:"]);
}

#[test]
fn a_formula_of_its_own_sees_global_names_only() {
    let Loaded { mut model, symbols, .. } =
        loaded("byte x; active proctype P() { byte y; L: y = x }");
    let mut symbols = (*symbols).clone();
    let mut source = SourceMap::default();
    let mut parse = |text: &str| {
        let file = source.add_file("formula".into(), text.to_owned(), None);
        let (tokens, _) = preprocess(&mut source, file, &Options::default());
        parser::parse_formula(tokens, &mut model, &mut source).expect("a formula")
    };
    let good = parse("[] (x < 3 && P@L)");
    let bad = parse("<> (y == 1)");
    assert!(resolve_formula(&good, &mut symbols).is_empty());
    let problems = resolve_formula(&bad, &mut symbols);
    assert_eq!(problems[0].message, "`y` is not declared");
}

#[test]
fn constants_are_computed_as_in_c() {
    let value = |text: &str| {
        let loaded = load(&format!("mtype = {{ c, b, a }}; init {{ ({text}) }}"));
        let Unit::Init(init) = &loaded.model.units[1] else {
            panic!("the last unit is init");
        };
        let StmtKind::Expr(expr) = &init.body.stmts[0].kind else {
            panic!("an expression");
        };
        constant(expr, &loaded.symbols)
    };
    assert_eq!(value("7 / -2"), Some(-3));
    assert_eq!(value("-7 % 3"), Some(-1));
    assert_eq!(value("c * 10 + a"), Some(31));
    assert_eq!(value("2147483647 + 1"), Some(i32::MIN));
    assert_eq!(value("(0 -> 1 : 2) << 3"), Some(16));
    assert_eq!(value("!5 || ~0 == -1"), Some(1));
    assert_eq!(value("1 / 0"), None);
    assert_eq!(value("_pid"), None);
}
