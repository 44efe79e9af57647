//! Mistakes, and what only looks like one.

use super::{accepts, load, refuses, warns};
use crate::parser::tests::parse_text;
use crate::resolve::resolve;

#[test]
fn undeclared_names() {
    refuses("init { cuont = 1 } byte count;", "`cuont` is not declared");
    let loaded = load("byte count; init { cuont = 1; cuont = 2 }");
    assert_eq!(loaded.diagnostics.len(), 1);
    assert_eq!(loaded.diagnostics[0].help, ["did you mean `count`?"]);
    refuses("init { x = 1 } byte x;", "`x` is not declared");
    refuses("init { { byte x; x = 1 }; x = 2 }", "`x` is not declared");
    refuses("init { byte x = x + 1; x = 1 }", "`x` is not declared");
    refuses("ltl p { [] (q == 1) } init { skip }", "`q` is not declared");
    refuses("init { run P() }", "there is no process type `P`");
    refuses("T t; init { t.x = 1 }", "there is no type `T`");
    refuses("typedef T { byte a; T next } init { skip }", "there is no type `T`");
    refuses("init { goto L }", "there is no label `L`");
    refuses("init { len(c) == 1 }", "`c` is not declared");
    accepts("init { run P(1) } proctype P(byte x) { x++ }");
    accepts("proctype P() { byte x; x = 1 } byte x; init { run P(); x = 1 }");
}

#[test]
fn names_that_are_known_elsewhere() {
    let explained = |text: &str| {
        let loaded = load(text);
        assert_eq!(loaded.diagnostics.len(), 1, "{text}: {:?}", loaded.diagnostics);
        let problem = &loaded.diagnostics[0];
        let related = problem.related.iter().map(|(_, text)| text.clone());
        related.chain(problem.notes.clone()).chain(problem.help.clone()).collect::<Vec<_>>()
    };
    let other = [
        "declared here, in `P`",
        "a variable of one process is not known to others",
        "declare it outside of the processes to share it",
    ];
    assert_eq!(explained("proctype P() { byte x; x = 1 } init { run P(); x = 2 }"), other);
    assert_eq!(explained("init { run P(); x = 2 } proctype P() { byte x; x = 1 }"), other);
    let look_inside = ["declared here, in `P`", "write `P:x`"];
    assert_eq!(explained("active proctype P() { byte x; x = 1 } never { x == 1 }"), look_inside);
    assert_eq!(explained("ltl { [] (x == 1) } active proctype P() { byte x; x = 1 }"), look_inside);
    let later = ["declared here, further on", "a name is known from its declaration on"];
    assert_eq!(explained("init { x = 1 } byte x, y;"), later);
    assert_eq!(explained("init { x = 1; byte x; x = 2 }"), later);
    let ended = ["declared here", "a variable is known up to the end of its block"];
    assert_eq!(explained("init { { byte x; x = 1 }; x = 2 }"), ended);
}

#[test]
fn labels_before_unless() {
    for loop_or_block in ["do :: x < 3 -> x++ od", "for (x : 1 .. 3) { skip }", "{ x = 1 }"] {
        accepts(&format!("byte x; init {{ L: {loop_or_block} unless {{ x == 2 }}; goto L }}"));
    }
    for other in ["x = 1", "if :: x = 1 fi", "select (x : 1 .. 3)"] {
        refuses(
            &format!("byte x; init {{ L: {other} unless {{ x == 2 }}; goto L }}"),
            "a label at a statement before `unless`",
        );
    }
}

#[test]
fn nothing_is_declared_twice_or_hidden() {
    let again = "redeclaration of `x`, already a variable";
    refuses("byte x; int x; init { x = 1 }", again);
    refuses("byte x; init { byte x; x = 1 }", again);
    refuses("init { byte x; { byte x; x = 1 } }", again);
    refuses("init { if :: byte x; x = 1 :: byte x; x = 2 fi }", again);
    refuses("proctype P(byte x) { byte x; x = 1 } init { run P(1) }", again);
    refuses("inline f() { byte x; x = 1 } init { byte x; f() }", again);
    refuses(
        "mtype = { x }; init { byte x; skip }",
        "redeclaration of `x`, already an mtype constant",
    );
    refuses(
        "proctype P() { skip } init { byte P; skip }",
        "redeclaration of `P`, already a process type",
    );
    refuses("init { L: skip; byte L; skip }", "redeclaration of `L`, already a label");
    refuses("init { byte _pid; skip }", "redeclaration of `_pid`, already a predefined variable");
    refuses("byte L; init { L: skip }", "`L` is a variable and cannot be a label too");
    refuses("typedef T { byte a; int a } init { skip }", "two fields named `a`");
    accepts("byte x; typedef T { byte x } T t; init { t.x = x }");
    accepts("init { { byte x; x = 1 }; { byte x; x = 1 }; atomic { byte x; x = 2 } }");
}

#[test]
fn a_redeclaration_shows_both_places() {
    let loaded = load("byte x;\nint x;\ninit { x = 1 }");
    let error = &loaded.diagnostics[0];
    assert_eq!(error.span.map(|span| loaded.source.line(span)), Some(2));
    assert_eq!(loaded.source.line(error.related[0].0), 1);
}

#[test]
fn declarations() {
    refuses("byte a[0]; init { skip }", "`a` has 0 elements");
    refuses("byte n; byte a[n + 1]; init { skip }", "the bound of an array must be a constant");
    warns(
        "byte n = 3; byte a[n]; init { a[2] = 1 }",
        "a variable as the bound of an array counts as 3",
    );
    warns(
        "byte n = 1 + 2; byte a[n]; init { a[2] = 1 }",
        "a variable as the bound of an array counts as 8",
    );
    refuses("unsigned u; init { u = 1 }", "an `unsigned` without a width");
    refuses("unsigned u : 32; init { u = 1 }", "an `unsigned` has 1 to 31 bits, not 32");
    accepts("unsigned u : 31 = 5; init { u = 1 }");
    refuses("byte b : 3; init { b = 1 }", "only an `unsigned` can have a width");
    refuses("hidden bool b; init { b = 1 }", "a `bit` or `bool` cannot be `hidden`");
    refuses("init { hidden byte b; b = 1 }", "only a global variable can be `hidden`");
    refuses("active [n] proctype P() { skip }", "`n` is not declared");
    refuses("active [256] proctype P() { skip }", "at most 255 processes can run, not 256");
    refuses("byte b = [1] of { bit }; init { b = 1 }", "a channel for a variable that is none");
    refuses("byte b = { 1, 2 }; init { b = 1 }", "a list of values for `b`, which is not an array");
    refuses(
        "init { skip; chan c = [1] of { bit }; c!1 }",
        "a channel is made when its process starts",
    );
    refuses("proctype P(byte a[2]) { skip } init { skip }", "an array cannot be a parameter");
    refuses("byte x; proctype P() { x = 1 }", "no process ever starts");
    refuses("byte x; active [0] proctype P() { x = 1 }", "no process ever starts");
    refuses("active proctype P() priority 0 { skip }", "priority 0 is not in 1..255");
    warns("byte x = 256; init { x = 1 }", "256 is stored as 0");
    warns("init { skip } init { skip }", "a second `init`");
}

#[test]
fn too_many_mtype_names() {
    let names: Vec<String> = (0..256).map(|n| format!("n{n}")).collect();
    let model = |names: &[String]| format!("mtype = {{ {} }}; init {{ skip }}", names.join(", "));
    accepts(&model(&names[..255]));
    refuses(&model(&names), "more than 255 names in a set of mtype names");
}

#[test]
fn arrays_and_records() {
    refuses("byte a[3]; init { a = 1 }", "`a` is an array and needs an index");
    refuses("byte x; init { x[1] = 1 }", "`x` is not an array");
    warns("byte x; init { x[0] = 1 }", "`x` is not an array");
    warns("byte a[3]; init { a[3] = 1 }", "`a` has no element 3");
    refuses("byte x; init { x.f = 1 }", "`x` is not a record: it has no fields");
    refuses("typedef T { byte f } T t; init { t.g = 1 }", "no field `g` in `T`");
    refuses("typedef T { byte f } T t; init { t == 1 }", "`t` is a record, not a value");
    refuses(
        "typedef T { byte f } T t; init { t = 1 }",
        "a record cannot be assigned to as a whole",
    );
    refuses("byte a[3]; init { a[a[1]] = 1 }", "an array indexed by its own element");
    refuses("byte a[3], b[3]; init { a[b[a[1]]] = 1 }", "an array indexed by its own element");
    accepts("byte a[3], x; init { x = a[a[1]]; a[a[1] + 1] = 1 }");
    accepts(
        "typedef T { byte f; byte g[2] } typedef U { T t; bit z } chan c = [1] of { U };
         U u; init { c!u; c?u; c?[u] }",
    );
    refuses(
        "typedef T { byte f } typedef U { T t[2] } chan c = [1] of { U }; init { skip }",
        "a message cannot have an array of records in it",
    );
}

#[test]
fn channels() {
    refuses("byte c; init { c!1 }", "`c` is not a channel");
    refuses("mtype = { c }; init { c?1 }", "`c` is not a channel");
    warns("byte c; init { len(c) == 1 }", "`c` is not a channel");
    refuses("chan c = [1] of { bit }; init { c++ }", "a channel is not a number");
    refuses("chan c; init { c = 1 }", "a number is not a channel");
    refuses(
        "chan c = [1] of { bit }; byte x; init { x = c + 1 }",
        "a channel is not a number to reckon with",
    );
    accepts("chan c = [1] of { bit }; chan d = c; init { d = c; c == d }");
    warns(
        "chan c = [1] of { bit, bit }; init { c!1 }",
        "this channel's messages have 2 fields, not 1",
    );
    accepts("chan c = [1] of { bit, bit }; init { c?1 }");
    refuses(
        "chan c = [1] of { bit }; init { c!1,2 }",
        "this channel's messages have 1 field, not 2",
    );
    warns(
        "chan c = [1] of { bit }; chan d = [1] of { bit, bit }; init { c!1,2 }",
        "this channel's messages have 1 field, not 2",
    );
    refuses(
        "chan c = [2] of { bit, bit }; byte x; init { c?x,x }",
        "`x` stands for two fields of one message",
    );
    warns(
        "chan c = [1] of { bit }; init { if :: c!1 :: else fi }",
        "`else` beside a statement that uses a channel",
    );
    refuses(
        "chan c = [1] of { bit }; init { xs c; if :: c!1 :: else fi }",
        "`else` beside a statement that uses a channel, in a model with `xr` or `xs`",
    );
    accepts("chan c = [1] of { bit }; init { if :: c?[1] -> skip :: else fi }");
    refuses("byte c; init { xr c; c++ }", "`xr` of `c`, which is not a channel");
    refuses(
        "chan c = [1] of { bit }; active proctype P() { xr c; c?_ }
         active proctype Q() { xr c; c?_ }",
        "`xr c` in both `P` and `Q`",
    );
}

#[test]
fn run() {
    refuses("proctype P(byte a; int b) { skip } init { run P(1) }", "`P` takes 2 arguments, not 1");
    accepts(
        "typedef T { byte a; byte b } proctype P(T t; byte c) { skip } init { T x; run P(x, 1) }",
    );
    accepts("proctype P() { skip } init { byte p; run P(); (run P()); p = run P() }");
    let model = |statement: &str| {
        format!("chan c = [1] of {{ byte }}; proctype P() {{ skip }} init {{ {statement} }}")
    };
    refuses(&model("run P() > 0"), "`run` inside another expression");
    refuses(&model("run P() && run P()"), "a second `run` in one statement");
    refuses(&model("c!run P()"), "`run` in a message");
    refuses(&model("byte p = run P(); skip"), "`run` in an initial value");
    refuses(&model("d_step { skip; run P() }"), "`run` in a `d_step`");
    refuses(
        "mtype = { a }; mtype:k = { b }; proctype P(mtype:k m) { skip } init { run P(a) }",
        "a constant of `mtype` for a parameter of `mtype:k`",
    );
    refuses(
        "proctype Q() { skip } active proctype P() provided (run Q()) { skip }",
        "`run` in a `provided` clause",
    );
    refuses(
        "active proctype P(byte x) provided (x == 1) { skip }",
        "a `provided` clause can look at global variables only",
    );
}

#[test]
fn assignments() {
    refuses("init { _pid = 1 }", "assignment to `_pid`, a variable that only the system sets");
    refuses("mtype = { a }; init { a = 1 }", "assignment to `a`, an mtype constant");
    refuses("init { _ == 1 }", "`_` has no value to be read");
    accepts("chan q = [1] of { byte, byte }; init { q!1,2 } trace { q!_,_ }");
    accepts("init { _ = 1; _priority = 2 }");
    warns("byte x; init { x = 300 }", "300 is stored as 44");
    let sets = "mtype:a = { x }; mtype:b = { y }; mtype:a v; mtype w; byte z;";
    refuses(
        &format!("{sets} init {{ v = y }}"),
        "a constant of `mtype:b` for a variable of `mtype:a`",
    );
    refuses(
        &format!("{sets} init {{ z = x; z = y }}"),
        "a constant of `mtype:b` for a variable that also takes those of `mtype:a`",
    );
    accepts(&format!("{sets} init {{ w = y; v = x }}"));
    refuses(
        "typedef T { byte f } T t; init { for (t.f : 1 .. 3) { skip } }",
        "`t.f` is not a plain variable that can count",
    );
    refuses("byte i; init { for (i : 3 .. 1) { skip } }", "the range 3 .. 1 is empty");
    refuses("byte i, a; init { for (i in a) { skip } }", "`a` is not an array to run over");
    refuses(
        "typedef T { byte f[3] } T t[2]; byte i; init { for (i in t[1].f) { skip } }",
        "a loop cannot run over `t.f`, a field of a record",
    );
    refuses(
        "typedef T { byte f } chan c = [0] of { T }; T t; init { for (t in c) { skip } }",
        "`c` is not a channel of single `T` records",
    );
}

#[test]
fn labels_and_d_steps() {
    refuses("init { L: skip; L: skip }", "label `L` is declared twice");
    refuses("init { L: skip; { skip; L: skip } }", "label `L` is declared twice");
    accepts("init { { skip; L: skip }; { skip; L: skip }; goto L }");
    refuses("init { goto L; d_step { skip; L: skip } }", "`goto` into a `d_step`");
    refuses("init { d_step { skip; goto L }; L: skip }", "`goto` out of a `d_step`");
    refuses("init { do :: d_step { skip; break } od }", "`break` out of a `d_step`");
    accepts("init { d_step { skip; L: if :: goto L :: skip fi; do :: break od } }");
    refuses("init { skip; { L: skip; goto L } }", "a label at the beginning of a block");
    accepts("init { skip; { L: do :: goto L od } }");
    warns(
        "chan c = [0] of { bit }; init { d_step { skip; c!1 } }",
        "a rendezvous cannot happen inside a `d_step`",
    );
    accepts("byte x; init { d_step { x = 1; atomic { x = 2; d_step { x = 3 } } } }");
}

#[test]
fn claims_and_traces() {
    refuses(
        "never { byte x; x == 1 } init { skip }",
        "a never claim cannot have variables of its own",
    );
    refuses(
        "chan c = [1] of { bit }; never { c!1 } init { skip }",
        "a never claim can neither send nor receive",
    );
    warns("byte x; never { x = 1 } init { x == 1 }", "a never claim with a side effect");
    refuses("init { np_ }", "`np_` can be used only in claims");
    accepts("never { np_ } ltl p { [] np_ } init { skip }");
    warns("init { enabled(0) }", "`enabled` is meant for never claims");
    refuses(
        "chan c = [0] of { bit }; never { enabled(1) } init { skip }",
        "`enabled` cannot be used in a model with rendezvous channels",
    );
    refuses("never a { skip } ltl a { [] true } init { skip }", "two claims are named `a`");
    let model = |events: &str| {
        format!("chan c = [1] of {{ bit }}; byte x; trace {{ {events} }} init {{ c!1; x = 1 }}")
    };
    accepts(&model("do :: c!1; c?_ :: goto L od; L: c!0"));
    refuses(&model("c!1; x = 1"), "not an event");
    refuses(&model("c!!1"), "not an event");
    accepts(&model("c!_; c?_"));
    refuses(&model("c!_ + 1"), "`_` has no value to be read");
    refuses(
        &format!("{} trace {{ c?1 }}", model("c!1")),
        "a model has at most one `trace` or `notrace`",
    );
}

#[test]
fn remote_references() {
    let model = |expr: &str| {
        format!(
            "active proctype P() {{ byte v, a[2]; skip; {{ byte w; w = 1 }} \
             {{ byte t; t = 1 }} {{ byte t; t = 1 }} L: skip }} \
             active proctype Q() {{ {expr} }}"
        )
    };
    accepts(&model("P@L && P[0]@L && P:v == P[0]:a[1] && P:w == 1 && P:_pid == 0"));
    accepts("never { P@L } active proctype P() { L: skip }");
    refuses(&model("P@M"), "there is no label `M` in `P`");
    refuses(&model("P:z == 1"), "no variable `z` in `P`");
    refuses(&model("P:t == 1"), "`P` has several variables `t`");
    refuses(&model("R@L"), "there is no process type `R`");
    refuses(&model("d_step { P@L }"), "a `d_step` cannot look into another process");
}

#[test]
fn printf_formats() {
    accepts("byte x; init { printf(\"%d %e %%\\n\", x, 2) }");
    warns("byte x; init { printf(\"%d %d\\n\", x) }", "`printf` wants 2 values, but there are 1");
    warns("byte x; init { printf(\"%q\\n\", x) }", "`printf` does not know `%q`");
}

#[test]
fn a_mistake_in_an_inline_is_told_once() {
    refuses("inline f() { x = 1 } init { f(); f(); f() }", "`x` is not declared");
    refuses(
        "byte a[2]; inline f() { a = 1 } init { f(); f() }",
        "`a` is an array and needs an index",
    );
}

#[test]
fn c_code_is_not_read() {
    accepts(
        "c_decl { int z; } c_state \"int q\" \"Global\"
         init { c_code { now.q = z; }; c_expr { z == 0 } }",
    );
}

#[test]
fn deep_models_do_not_exhaust_the_stack() {
    let deep = [
        format!("byte x; init {{ x = {}x{} }}", "-(".repeat(450), ")".repeat(450)),
        format!("init {{ {}skip{} }}", "{ skip; ".repeat(900), " }".repeat(900)),
    ];
    for text in deep {
        let model = on_stack(64 << 20, move || parse_text(&text).0);
        assert!(!model.units.is_empty());
        let problems = on_stack(2 << 20, move || resolve(&model).1);
        assert_eq!(problems, []);
    }
}

fn on_stack<T: Send + 'static>(size: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(size).spawn(work);
    thread.expect("a thread").join().expect("no panic")
}

#[test]
fn records_that_double_are_measured_at_once() {
    let mut records = String::from("typedef T0 { byte f }\n");
    for n in 1..900 {
        records += &format!("typedef T{n} {{ T{} a; T{} b }}\n", n - 1, n - 1);
    }
    accepts(&format!("{records} proctype P(T899 t) {{ skip }} init {{ skip }}"));
}

/// What is looked up by name takes no longer for many names: each of these took minutes.
#[test]
fn many_mistakes_are_told_in_time() {
    let many = 20_000;
    let lines = |line: &dyn Fn(usize) -> String| -> String { (0..many).map(line).collect() };
    let labels = lines(&|i| format!("label{i}: skip; "));
    let jumps = lines(&|i| format!("goto lable{i}; "));
    let loaded = load(&format!("init {{ {labels} {jumps} skip }}"));
    assert_eq!(loaded.diagnostics.len(), many);
    assert_eq!(loaded.diagnostics[0].help, ["did you mean `label0`?"]);

    let variables = lines(&|i| format!("int variable{i}; "));
    let uses = lines(&|i| format!("varaible{i} = 1; "));
    let loaded = load(&format!("{variables} init {{ {uses} }}"));
    assert_eq!(loaded.diagnostics.len(), many);

    let remote = lines(&|i| format!("Q[0]@label{i}; "));
    accepts(&format!("active proctype Q() {{ {labels} }} init {{ {remote} }}"));

    let fields = lines(&|i| format!("int f{i}; "));
    let uses = lines(&|i| format!("t.f{i} = 1; "));
    accepts(&format!("typedef T {{ {fields} }}; T t; init {{ {uses} }}"));

    let sets = lines(&|i| format!("mtype:s{i} = {{ m{i} }}; "));
    accepts(&format!("{sets} init {{ skip }}"));

    let same = "{ skip; L: skip; goto L }; ".repeat(many);
    accepts(&format!("init {{ {same} }}"));
}

#[test]
fn long_names_are_compared_with_nothing() {
    let name = "n".repeat(1 << 20);
    let loaded = load(&format!("int {name}; init {{ {name}x = 1 }}"));
    assert!(loaded.diagnostics[0].message.ends_with("is not declared"));
    assert!(load(&"x".repeat(10 << 20)).has_errors());
}

#[test]
fn records_in_records_have_an_end() {
    let nested = |count: usize| -> String {
        let next = |i: usize| format!("typedef T{} {{ T{i} a }}; ", i + 1);
        let types: String = (0..count).map(next).collect();
        format!("typedef T0 {{ byte x }}; {types} T{count} t; init {{ skip }}")
    };
    accepts(&nested(900));
    refuses(&nested(2000), "records are nested too deeply");
}
