use expect_test::expect;

use super::*;
use crate::ast::Model;
use crate::parser::tests::accepted;

/// A tree as text, without places and numbers of names.
fn shape(model: &Model) -> String {
    let mut text = format!("{:?}", model.units);
    for (start, end) in [("Span {", '}'), ("NameId(", ')'), ("after_newline: ", 'e')] {
        let mut pieces = text.split(start);
        let mut kept = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            kept += piece.split_once(end).map_or(piece, |(_, rest)| rest);
        }
        text = kept;
    }
    text
}

#[track_caller]
fn round_trip(text: &str) -> String {
    let tree = accepted(text);
    let printed = model(&tree);
    let again = accepted(&printed);
    assert_eq!(shape(&tree), shape(&again), "{printed}");
    assert_eq!(printed, model(&again), "printing is not stable");
    printed
}

#[test]
fn a_model_in_one_style() {
    let printed = round_trip(
        r#"
mtype={a b} mtype:k = {c,d}; typedef T{byte x[2];unsigned y:3=2}
hidden int g[3]={1,2,3}; chan q=[2] of {byte,T}, r;
inline f(p, w) {
if
:: p>2 -> goto L; :: else
fi
L:   p = -w - 1; q ! p; q?_ , eval(p)
}
c_decl { int z; } c_state "int z" "Global"
active [2] proctype P(byte n, m; chan o) priority 2 provided (g[0]>1) {
byte i; T t; xr q;
end: do :: q!a(1,t.x[i]) -> i++ :: q?<b,eval(i),_,-1>; break
:: true -> atomic { (i -> 1 : 2)==3; q??[a]; f(i,g[1]+2) } unless { timeout -> skip; L: }
:: i = 1; i = 2; :: i = 3; i = 4; i = 5 od
for (i : 1 .. 3) { select (i : 0 .. 2); select (i : 0 ..
3) }
assert(P[1]@end && P:i==2 && nfull(q)||len(q)>1)
printf("%d\n", run P(1,q) priority 3)
if :: skip fi unless { skip }; d_step { c_code [x] { y(); }; set_priority(0,1) }; A: B: skip
}
never n { T0: if :: !np_ -> goto T0 fi }
ltl p1 { []( (P[0]@L->(<>(g[1]==2 U X true))) W !false<->c_expr { y }) }
trace { do :: q!a,1 od }
init priority 3 { skip }"#,
    );
    expect![[r#"
        mtype = { a, b };
        mtype:k = { c, d };

        typedef T {
            byte x[2];
            unsigned y : 3 = 2;
        }

        hidden int g[3] = { 1, 2, 3 };
        chan q = [2] of { byte, T }, r;

        inline f(p, w) {
            if
            :: p > 2 -> goto L; :: else
            fi
            L: p = -w - 1; q!p; q?_, eval(p)
        }

        c_decl { int z;}
        c_state "int z" "Global"

        active [2] proctype P(byte n, m; chan o) priority 2 provided (g[0] > 1) {
            byte i;
            T t;
            xr q;
            end:
            do
            :: q!a,1,t.x[i] -> i++
            :: q?<b,eval(i),_,-1> -> break
            :: true ->
                atomic {
                    (i -> 1 : 2) == 3;
                    q??[a];
                    f(i, g[1] + 2)
                } unless {
                    timeout;
                    skip;
                    L:
                }
            :: i = 1; i = 2
            :: i = 3;
                i = 4;
                i = 5
            od;
            for (i : 1 .. 3) {
                select (i : 0 .. 2);
                select (i : 0 .. (3))
            };
            assert(P[1]@end && P:i == 2 && nfull(q) || len(q) > 1);
            printf("%d\n", run P(1, q) priority 3);
            if
            :: skip
            fi unless {
                skip
            };
            d_step {
                c_code [x] { y();};
                set_priority(0, 1)
            };
            A:
            B:
            skip
        }

        never n {
            T0:
            if
            :: !np_ -> goto T0
            fi
        }

        ltl p1 { [] ((P[0]@L -> <> (g[1] == 2 U X true)) W !false <-> c_expr { y}) }

        trace {
            do
            :: q!a,1
            od
        }

        init priority 3 {
            skip
        }
    "#]]
    .assert_eq(&printed);
}

#[test]
fn the_fewest_parentheses() {
    for text in [
        "a - (b - c)",
        "(a + b) * c",
        "a * b + c",
        "-(-a)",
        "!(!a)",
        "!(a && b)",
        "~-a",
        "a - -b",
        "(a == b) == c == d",
        "(a -> b : (c -> d : e))",
        "(a || b) && c",
        "a && b || c && d",
        "!run P(-1)",
        "a[b[c + 1].d - 2]",
        "-2147483648",
        "a - 2147483648 * b",
    ] {
        let printed = round_trip(&format!("init {{ {text} }}"));
        let expected = text.replace("(a == b) == c", "a == b == c");
        assert_eq!(printed, format!("init {{\n    {expected}\n}}\n"));
    }
    for text in [
        "[] (p -> <> q)",
        "![] p U q",
        "(p -> q) && r",
        "p U (q U r)",
        "[] <> X (p && q)",
        "p -> q -> r",
        "p -> (q -> r)",
    ] {
        let printed = round_trip(&format!("ltl {{ {text} }}"));
        assert_eq!(printed, format!("ltl {{ {text} }}\n"));
    }
}

#[test]
fn a_message_that_starts_with_not() {
    let printed = round_trip("chan c = [1] of { bit }; init { c!(!a); c!!(!a && b); c!-1 }");
    assert!(printed.ends_with("    c! !a;\n    c!! !a && b;\n    c!-1\n}\n"), "{printed}");
}

#[test]
fn arguments_of_inline_calls() {
    let call = |arg: &str| {
        let text = format!("inline f(p) {{ x = p }}\ninit {{ f({arg}) }}");
        let printed = round_trip(&text);
        let start = printed.rfind("f(").unwrap();
        printed[start..].trim_end_matches("\n}\n").to_owned()
    };
    assert_eq!(call("a+b*-1"), "f(a + b * -1)");
    assert_eq!(call("! !a"), "f(! !a)");
    assert_eq!(call("a- -b"), "f(a - -b)");
    assert_eq!(call("a- -2147483648"), "f(a - -2147483648)");
    assert_eq!(call("c?[x,1] && len ( c ) > 2"), "f(c?[x, 1] && len(c) > 2)");
    assert_eq!(call("(a->b:c)"), "f((a -> b : c))");
    assert_eq!(call("P[1] @ L"), "f(P[1]@L)");
    assert_eq!(call("a [ i ] . b"), "f(a[i].b)");
}
