//! What is accepted, and which tree it gives.

use super::*;
use crate::ast::{AssignOp, ExprKind, ForRange, ReceiveArg, Stmt, StmtKind, Unit};
use crate::pretty;

/// The statements of the `init` of a model.
fn init(text: &str) -> Vec<Stmt> {
    let model = accepted(text);
    for unit in model.units {
        if let Unit::Init(init) = unit {
            return init.body.stmts;
        }
    }
    panic!("no init in {text}");
}

/// The statements of an `init` with this body, as the printer shows them.
fn shown(body: &str) -> Vec<String> {
    let text = format!("chan c = [1] of {{ int }}; int x, y;\ninit {{ {body} }}");
    init(&text).iter().map(pretty::statement).collect()
}

/// An expression with the operators first, so that its grouping is seen.
fn grouped(expr: &crate::ast::Expr) -> String {
    match &expr.kind {
        ExprKind::Binary(operator, left, right) => {
            format!("({operator:?} {} {})", grouped(left), grouped(right))
        }
        ExprKind::TemporalBinary(operator, left, right) => {
            format!("({operator:?} {} {})", grouped(left), grouped(right))
        }
        ExprKind::Unary(operator, operand) => format!("({operator:?} {})", grouped(operand)),
        ExprKind::TemporalUnary(operator, operand) => {
            format!("({operator:?} {})", grouped(operand))
        }
        _ => pretty::expr(expr),
    }
}

#[track_caller]
fn check_grouping(text: &str, expected: &str) {
    let body = init(&format!("init {{ {text} }}"));
    let StmtKind::Expr(expr) = &body[0].kind else {
        panic!("not an expression: {text}");
    };
    assert_eq!(grouped(expr), expected);
}

#[track_caller]
fn check_formula(text: &str, expected: &str) {
    let model = accepted(&format!("ltl {{ {text} }}"));
    let Unit::Ltl(ltl) = &model.units[0] else {
        panic!("not a formula: {text}");
    };
    assert_eq!(grouped(&ltl.formula), expected);
}

#[test]
fn operators_group_as_in_spin() {
    check_grouping("a + b * c", "(Add a (Mul b c))");
    check_grouping("a - b - c", "(Sub (Sub a b) c)");
    check_grouping("a == b < c", "(Eq a (Lt b c))");
    check_grouping("a & b == c", "(BitAnd a (Eq b c))");
    check_grouping("a | b ^ c & d", "(BitOr a (BitXor b (BitAnd c d)))");
    check_grouping("a || b && c", "(Or a (And b c))");
    check_grouping("a << b + c", "(Shl a (Add b c))");
    check_grouping("!a == b", "(Eq (Not a) b)");
    check_grouping("(a -> b : c) + d", "(Add (a -> b : c) d)");
}

#[test]
fn temporal_operators_group_as_in_spin() {
    check_formula("[] p && q", "(And (Always p) q)");
    check_formula("p U q && r", "(And (Until p q) r)");
    check_formula("p U q U r", "(Until (Until p q) r)");
    check_formula("a == 1 U b | c", "(Until (Eq a 1) (BitOr b c))");
    check_formula("p -> q <-> r", "(Equivalent (Implies p q) r)");
    check_formula("p -> q || r", "(Implies p (Or q r))");
    check_formula(
        "always eventually p implies next q",
        "(Implies (Always (Eventually p)) (Next q))",
    );
    check_formula("p until q || r release s", "(Or (Until p q) (Release r s))");
    check_formula("p W q equivalent p weakuntil q", "(Equivalent (WeakUntil p q) (WeakUntil p q))");
    check_formula("p stronguntil q;", "(Until p q)");
}

#[test]
fn words_of_formulas_are_names_elsewhere() {
    accepted("int U, X, always; ltl next { [] true } init { U = X + always }");
    accepted("int in; init { in = 1; int of_; of_ = in }");
}

#[test]
fn remote_references() {
    let model = accepted(
        "ltl { P@L && P[1]@L && P:v == 1 && P[x + 1]:a[2] > 3 }
         proctype P() { int v; L: skip }",
    );
    let Unit::Ltl(ltl) = &model.units[0] else {
        panic!();
    };
    assert_eq!(pretty::expr(&ltl.formula), "P@L && P[1]@L && P:v == 1 && P[x + 1]:a[2] > 3");
}

#[test]
fn a_name_before_a_colon_is_a_label_unless_it_is_a_process_type() {
    let body = init("proctype P() { int v; skip } init { L: M: v; P:v == 2; (1 -> v : 2) }");
    assert_eq!(body[0].labels.len(), 2);
    assert_eq!(pretty::statement(&body[1]), "P:v == 2");
    assert_eq!(pretty::statement(&body[2]), "(1 -> v : 2)");
}

#[test]
fn labels_without_a_statement() {
    let body = init("init { A: ; goto B; do :: C: :: break od; B: }");
    assert!(matches!(body[0].kind, StmtKind::LabelOnly));
    assert!(matches!(body[3].kind, StmtKind::LabelOnly));
    let StmtKind::Do(options) = &body[2].kind else {
        panic!();
    };
    assert!(matches!(options[0].stmts[0].kind, StmtKind::LabelOnly));
}

#[test]
fn separators() {
    assert_eq!(shown("x = 1; ; -> y = 2;"), ["x = 1", "y = 2"]);
    assert_eq!(shown("x = 1\n y = 2\n"), ["x = 1", "y = 2"]);
    assert_eq!(shown("{ skip } x = 1"), ["{ ... }", "x = 1"]);
    assert_eq!(shown("if :: else x = 1 fi\n y++"), ["if ...", "y++"]);
    assert_eq!(shown("int z\n z = 1"), ["int z", "z = 1"]);
    accepted("typedef T { byte a\n byte b }\nint x int y init { skip }");
    accepted("init { atomic { skip } /* no */ skip; c_code { x } skip };;");
}

/// In SPIN a line's end behind an operand ends the statement.
#[test]
fn a_line_that_begins_like_a_statement_is_one() {
    assert_eq!(shown("x = y\n -y"), ["x = y", "-y"]);
    assert_eq!(shown("x = (y\n -y)"), ["x = y - y"]);
    assert_eq!(shown("c\n !y"), ["c", "!y"]);
    assert_eq!(shown("c!y\n (x)"), ["c!y", "x"]);
    assert_eq!(shown("c?x\n (y)"), ["c?x", "y"]);
    assert_eq!(shown("int z = y\n -y"), ["int z = y", "-y"]);
    let model = accepted("int x = 3\n - 1;");
    assert_eq!(pretty::model(&model), "int x = 3 - 1;\n");
}

/// SPIN rejects these, but nothing else could be meant.
#[test]
fn a_line_that_cannot_begin_a_statement_goes_on() {
    assert_eq!(shown("x = y\n + y"), ["x = y + y"]);
    assert_eq!(shown("x == 1\n && y"), ["x == 1 && y"]);
    assert_eq!(shown("skip\n unless skip"), ["skip unless ..."]);
}

#[test]
fn sends_and_receives() {
    assert_eq!(shown("c!1,2; c!!x(y, 3)"), ["c!1,2", "c!!x,y,3"]);
    assert_eq!(
        shown("c?x,-1,eval(y+1),_,true; c??x(y); c?<x>; c??<x,y>; c?(x,y)"),
        ["c?x,-1,eval(y + 1),_,true", "c??x,y", "c?<x>", "c??<x,y>", "c?x,y"]
    );
    assert_eq!(shown("c?[x]; c??[1,y] && x"), ["c?[x]", "c??[1,y] && x"]);
    assert_eq!(shown("!c?[x]; x == 1"), ["!c?[x]", "x == 1"]);
    let body = init("chan c; init { c?_,x }");
    let StmtKind::Receive { args, .. } = &body[0].kind else {
        panic!();
    };
    assert!(matches!(args[0], ReceiveArg::Ignore(_)));
}

#[test]
fn statements_of_all_kinds() {
    assert_eq!(
        shown(
            "xr c; xs c, c; assert x == 1 && full(c); printf(\"a%d\\n\", x); printm(x);
             set_priority(0, 2); x = run P(1, 2) priority 3; timeout; np_ == 0; x--;
             select (x : 1 .. 3); do :: break od; L: goto L; c_code { f(); }; nempty(c);
             enabled(1) && pc_value(2) > get_priority(3)"
        ),
        [
            "xr c",
            "xs c, c",
            "assert(x == 1 && full(c))",
            "printf(\"a%d\\n\", x)",
            "printm(x)",
            "set_priority(0, 2)",
            "x = run P(1, 2) priority 3",
            "timeout",
            "np_ == 0",
            "x--",
            "select (x : 1 .. 3)",
            "do ...",
            "goto L",
            "c_code { f();}",
            "nempty(c)",
            "enabled(1) && pc_value(2) > get_priority(3)"
        ]
    );
}

#[test]
fn loops() {
    let body =
        init("int i, a[3]; init { for (i : 1 .. 2 + 1) { break }\n for (i in a)\n { skip } }");
    let StmtKind::For { range, .. } = &body[0].kind else {
        panic!();
    };
    assert!(matches!(range, ForRange::Numbers(..)));
    let StmtKind::For { range, .. } = &body[1].kind else {
        panic!();
    };
    assert!(matches!(range, ForRange::In(_)));
}

/// SPIN's lexer writes out a `select` that it sees a plain name and two literals in.
#[test]
fn literal_selects() {
    for (select, expected) in [
        ("select (i : 1 .. 3)", true),
        ("select (i:1..3)", true),
        ("select (my_i : 1 .. 3)", false),
        ("select (i : 1 .. N)", false),
        ("select (i : 'a' .. 'b')", false),
        ("select (i : 1 ..\n 3)", false),
        ("select (a[0] : 1 .. 3)", false),
    ] {
        let body = init(&format!("init {{ {select} }}"));
        let StmtKind::Select { literal, .. } = body[0].kind else {
            panic!();
        };
        assert_eq!(literal, expected, "{select}");
    }
    let body = init("inline f() { select (i : 1 .. 3) } init { f() }");
    let StmtKind::Inline { body, .. } = &body[0].kind else {
        panic!();
    };
    assert!(matches!(body[0].kind, StmtKind::Select { literal: false, .. }));
}

#[test]
fn inline_calls() {
    let body = init(
        "int x, s;
         inline f(a, b) { a = b * 2; printf(\"a\"); g(b) }
         inline g(a) { x = a }
         init { f(x, s + 1) f(x, 2); skip }",
    );
    let StmtKind::Inline { body: first, .. } = &body[0].kind else {
        panic!();
    };
    let shown: Vec<String> = first.iter().map(pretty::statement).collect();
    // Replaced token by token, as SPIN does: no parentheses are added.
    assert_eq!(shown, ["x = s + 1 * 2", "printf(\"a\")", "g(s + 1)"]);
}

#[test]
fn an_inline_may_only_call_what_was_defined_before() {
    // Defined before the call is parsed, though after the inline that calls it.
    accepted("int x; inline f() { g() } inline g() { x++ } init { f() }");
}

#[test]
fn inlines_that_return() {
    let body = init(
        "int x; inline half(a) { if :: a > 1 -> return a / 2 :: else fi }
         init { x = half(x + 6) }",
    );
    let StmtKind::Inline { result, body, .. } = &body[0].kind else {
        panic!();
    };
    let result = result.as_ref().expect("the call is assigned");
    let StmtKind::If(options) = &body[0].kind else {
        panic!();
    };
    let StmtKind::Assign(var, AssignOp::Set(value)) = &options[0].stmts[1].kind else {
        panic!();
    };
    assert_eq!(pretty::expr(value), "x + 6 / 2");
    assert_eq!(var.parts[0].name.id, result.parts[0].name.id, "the same name as at the call");
}

#[test]
fn words_from_inlines_know_the_body_and_the_call() {
    let text = "int x;\ninline f(a) { a = 1;\n x = a }\ninit {\n f(x) }";
    let (model, source, _) = parse_text(text);
    let Some(Unit::Init(init)) = model.units.last() else {
        panic!();
    };
    let StmtKind::Inline { body, .. } = &init.body.stmts[0].kind else {
        panic!();
    };
    let second = body[1].span;
    assert_eq!(source.text(second), "x = a");
    let call = source.expansion(second.expansion).expect("inserted by the call");
    assert_eq!((call.name.as_str(), source.text(call.call)), ("f", "f(x)"));
    // The parameter stands in the body, the argument in the call.
    assert_eq!(source.text(body[0].span), "a = 1");
    let StmtKind::Assign(var, _) = &body[0].kind else {
        panic!();
    };
    assert_eq!(source.line(var.span), 5);
}

#[test]
fn macros_in_inlines_are_uses_inside_the_call() {
    let text = "#define SET(v) v = 1\nint x;\ninline f() { SET(x) }\ninit { f(); f() }";
    let (model, source, _) = parse_text(text);
    let Some(Unit::Init(init)) = model.units.last() else {
        panic!();
    };
    let mut calls = Vec::new();
    for stmt in &init.body.stmts {
        let StmtKind::Inline { body, .. } = &stmt.kind else {
            panic!();
        };
        let StmtKind::Assign(_, AssignOp::Set(value)) = &body[0].kind else {
            panic!();
        };
        let macro_use = source.expansion(value.span.expansion).expect("a macro");
        assert_eq!(macro_use.name, "SET");
        let inline_use = source.expansion(macro_use.call.expansion).expect("an inline");
        assert_eq!(inline_use.name, "f");
        calls.push(inline_use.call.start);
    }
    assert_ne!(calls[0], calls[1]);
}

#[test]
fn statements_partly_from_macros_are_whole() {
    let text = "#define ONE 1\nint x;\ninit { x = ONE; ONE == x }";
    let (model, source, _) = parse_text(text);
    let Some(Unit::Init(init)) = model.units.last() else {
        panic!();
    };
    assert_eq!(source.text(init.body.stmts[0].span), "x = ONE");
    assert_eq!(source.text(init.body.stmts[1].span), "ONE == x");
}

#[test]
fn names_are_numbered_densely() {
    let model = accepted("int x; inline f(a) { x = a } init { f(x + 1); L: goto L }");
    assert!(!model.names.is_empty());
    let mut seen = vec![0; model.names.len()];
    for id in format!("{:?}", model.units).split("NameId(").skip(1) {
        let number: usize = id[..id.find(')').unwrap_or(0)].parse().unwrap();
        seen[number] += 1;
    }
    assert!(seen.iter().all(|&n| n == 1), "{seen:?}");
}

#[test]
fn formulas_and_expressions_alone() {
    let (mut model, mut source, _) = parse_text("active proctype P() { int v; L: skip }");
    let names = model.names.len();
    let tokens = |text: &str, source: &mut SourceMap| {
        let file = source.add_file(PathBuf::from("formula"), text.to_owned(), None);
        preprocess(source, file, &Options::default()).0
    };
    let given = tokens("[] (P:v == 1 -> <> P@L)", &mut source);
    let formula = parse_formula(given, &mut model, &mut source).unwrap();
    assert_eq!(pretty::expr(&formula), "[] (P:v == 1 -> <> P@L)");
    assert_eq!(model.names.len(), names + 4);
    let given = tokens("(x -> 1 : 2) == 1", &mut source);
    let invariant = parse_expression(given, &mut model, &mut source).unwrap();
    assert_eq!(pretty::expr(&invariant), "(x -> 1 : 2) == 1");
    let given = tokens("x == ", &mut source);
    assert!(parse_expression(given, &mut model, &mut source).is_err());
    let given = tokens("[] p q", &mut source);
    assert!(parse_formula(given, &mut model, &mut source).is_err());
}
