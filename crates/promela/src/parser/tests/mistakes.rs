//! What is said about mistakes.

use super::*;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&mistakes(text));
}

#[test]
fn separators() {
    check(
        "int x; init { x = 1 x = 2; }",
        expect![[r#"
        1:20+0 expected `;`, found `x`
            note: statements are separated by `;` or `->`, by the end of a line, or by a closing `}`
    "#]],
    );
    check(
        "int x; init { x = 1, 2; x = 3 }",
        expect![[r#"
        1:20+0 expected `;`, found `,`
            at 1:20: this does not continue the statement
    "#]],
    );
    check(
        "init { ; skip }",
        expect![[r#"
        1:8+1 expected a statement, found `;`
    "#]],
    );
    check(
        "init { if :: -> skip fi }",
        expect![[r#"
        1:14+2 expected a statement before `->`
            help: write the condition under which to go on, or `true`
    "#]],
    );
}

#[test]
fn dubious_places() {
    check(
        "int x; init { x = x\n - 1 }",
        expect![[r#"
        2:2+1 warning: this line is a statement of its own
            help: put the `-` at the end of the line before, or parentheses around
    "#]],
    );
    check(
        "int x; init { if :: x -> skip\n else -> skip fi }",
        expect![[r#"
            2:2+4 warning: this `else` does not begin an option
                help: an option begins with `::`: write `:: else -> ...`
        "#]],
    );
    check("int x; init { if :: { else -> x = 1 } :: x fi }", expect![[""]]);
}

#[test]
fn operators_of_other_languages() {
    check(
        "int x; init { (x = 1) -> skip }",
        expect![[r#"
        1:18+1 expected `)`, found `=`
            at 1:15: this `(` is open
            help: `=` assigns, and only in a statement of its own; `==` compares
    "#]],
    );
    check(
        "int x; init { if :: x => 1 -> skip fi }",
        expect![[r#"
        1:24+1 expected an expression, found `>`
            help: `=>` is not an operator: write `->` between a condition and what follows it, `>=` to compare
    "#]],
    );
    check(
        "int x; init { x += 1 }",
        expect![[r#"
        1:18+1 expected an expression, found `=`
            help: there are no compound assignments: write `x = x + 1`, or `x++`
    "#]],
    );
    check(
        "int x; init { ++x; x = x++ + 1 }",
        expect![[r#"
        1:15+2 expected a statement, found `++`
            help: the operator comes after the variable: `x++`, `x--`
        1:25+0 expected `;`, found `++`
            help: `x++` and `x--` are statements of their own, with the operator after the variable
    "#]],
    );
    check(
        "int x; init { (x == 1 and x == 2) }",
        expect![[r#"
        1:23+3 expected `)`, found `and`
            at 1:15: this `(` is open
            help: write `&&`
    "#]],
    );
    check(
        "int x; init { x = (x ? 1 : 2) }",
        expect![[r#"
        1:22+1 expected `)`, found `?`
            at 1:19: this `(` is open
            help: a choice between two values is written `(condition -> a : b)`
    "#]],
    );
    check(
        "int x; init { 3 = x; true = 1 }",
        expect![[r#"
        1:15+1 a constant cannot be assigned to
        1:22+4 a constant cannot be assigned to
    "#]],
    );
}

#[test]
fn statements_of_other_languages() {
    check(
        "int x; init { if (x) { x = 1 } else { x = 2 }; x = 3 }",
        expect![[r#"
            1:15+2 `if` is followed by options, not by a condition
                help: write `if :: condition -> ... :: else -> ... fi`
        "#]],
    );
    check(
        "int x; init { if (x == 1) x = 2 fi; skip }",
        expect![[r#"
            1:15+2 `if` is followed by options, not by a condition
                help: write `if :: condition -> ... :: else -> ... fi`
        "#]],
    );
    check(
        "int x; init { while (x) { x-- } skip }",
        expect![[r#"
        1:15+5 there is no `while` in Promela
            help: write `do :: condition -> ... :: else -> break od`
    "#]],
    );
    check(
        "int i; init { for (i = 0; i < 3; i++) { skip }; x + }",
        expect![[r#"
            1:15+3 `for` runs over a range, an array or a channel
                help: write `for (i : 0 .. 9) { ... }` or `for (i in a) { ... }`, and declare `i` before it
            1:53+1 expected an expression, found `}`
        "#]],
    );
    check(
        "init { for (;;) { skip } }",
        expect![[r#"
        1:8+3 `for` runs over a range, an array or a channel
            help: write `for (i : 0 .. 9) { ... }` or `for (i in a) { ... }`, and declare `i` before it
    "#]],
    );
    check(
        "init { switch (x) { skip } }",
        expect![[r#"
        1:8+6 there is no `switch` in Promela
            help: write `if :: x == 1 -> ... :: x == 2 -> ... :: else -> ... fi`
    "#]],
    );
    check(
        "init { f(1); print(\"x\"); P(2) } proctype P() { skip }",
        expect![[r#"
            1:8+1 there is no inline `f`
                note: Promela has no functions; an `inline` or a `#define` may stand for statements
            1:14+5 there is no inline `print`
                help: write `printf("...", ...)`
            1:26+1 there is no inline `P`
                help: start a process by `run P(...)`
        "#]],
    );
    check(
        "init { char c; float f = 1; skip }",
        expect![[r#"
        1:8+4 there is no type `char`
            help: did you mean `byte`?
        1:16+5 there is no type `float`
            note: Promela computes with whole numbers only
    "#]],
    );
    check(
        "const int x = 1; boolean b;",
        expect![[r#"
            1:1+5 there is no type `const`
                help: name a constant by `#define`
            1:18+7 there is no type `boolean`
                help: did you mean `bool`?
        "#]],
    );
}

#[test]
fn choices_and_loops() {
    check(
        "init { if x == 1 -> skip fi; skip }",
        expect![[r#"
        1:11+1 expected `::`, found `x`
            at 1:8: an option of this `if`
    "#]],
    );
    check(
        "init { do : x -> skip od }",
        expect![[r#"
        1:11+1 expected `::`, found `:`
            at 1:8: an option of this `do`
            help: options begin with `::`
    "#]],
    );
    check(
        "init { do :: skip fi; skip }",
        expect![[r#"
        1:19+2 `do` is closed by `od`, found the keyword `fi`
            at 1:8: this `do` is open
    "#]],
    );
    check(
        "init { if :: skip }\ninit { skip }",
        expect![[r#"
        1:19+1 `if` is not closed: expected `fi`, found `}`
            at 1:8: this `if` is open
    "#]],
    );
    check(
        "init { do :: skip :: if :: skip od }",
        expect![[r#"
        1:33+2 `if` is closed by `fi`, found the keyword `od`
            at 1:22: this `if` is open
        1:36+1 `do` is not closed: expected `od`, found `}`
            at 1:8: this `do` is open
    "#]],
    );
    check(
        "init { skip fi; skip :: skip }",
        expect![[r#"
        1:13+2 the keyword `fi` outside of any `if` or `do`
        1:22+2 `::` outside of any `if` or `do`
    "#]],
    );
    check(
        "init { if :: :: skip fi }",
        expect![[r#"
        1:11+2 this option is empty
            help: write `skip` to do nothing
    "#]],
    );
    check(
        "init { if :: else -> skip :: else -> skip fi }",
        expect![[r#"
            1:30+4 a second `else` among these options
                at 1:14: the first
        "#]],
    );
    check(
        "init { break; do :: break od; break }",
        expect![[r#"
        1:8+5 `break` outside of a loop
        1:31+5 `break` outside of a loop
    "#]],
    );
    check(
        "init { if :: L: skip :: skip fi }",
        expect![[r#"
        1:14+1 warning: the label `L` is at the beginning of an option
            help: a label of the choice itself stands before its `if` or `do`
    "#]],
    );
    check(
        "init { skip unless skip unless skip }",
        expect![[r#"
        1:25+6 `unless` cannot be chained
            help: put braces around the first: `{ a unless b } unless c`
    "#]],
    );
}

#[test]
fn braces() {
    check(
        "proctype P() { skip\n\nproctype Q() { skip }",
        expect![[r#"
        3:1+8 `{` is not closed: expected `}`, found the keyword `proctype`
            at 1:14: this `{` is open
    "#]],
    );
    check(
        "init { atomic { skip ",
        expect![[r#"
        1:22+0 `{` is not closed: expected `}`, found the end of the text
            at 1:15: this `{` is open
    "#]],
    );
    check(
        "init { skip } }\nint x;",
        expect![[r#"
        1:15+1 this `}` closes nothing
    "#]],
    );
    check(
        "init { } proctype P() { {} }",
        expect![[r#"
        1:8+1 this block is empty
            at 1:6: the block begins here
            help: write `skip` to do nothing
        1:26+1 this block is empty
            at 1:25: the block begins here
            help: write `skip` to do nothing
    "#]],
    );
    check(
        "init { x = (1 + 2; skip }",
        expect![[r#"
        1:18+1 expected `)`, found `;`
            at 1:12: this `(` is open
    "#]],
    );
    check(
        "init { a[1 = 2 }",
        expect![[r#"
        1:12+1 expected `]`, found `=`
            at 1:9: this `[` is open
            help: `=` assigns, and only in a statement of its own; `==` compares
    "#]],
    );
}

#[test]
fn units() {
    check(
        "proctype P { skip }\nint x",
        expect![[r#"
        1:12+1 expected `(`, found `{`
            help: write `proctype P() {`
    "#]],
    );
    check(
        "proctpye P() { skip }\nint x;",
        expect![[r#"
        1:1+8 expected a declaration or a process, found `proctpye`
            help: did you mean `proctype`?
    "#]],
    );
    check(
        "proctype P(byte a, byte b) { skip }",
        expect![[r#"
        1:20+4 expected the name of a variable, found the keyword `byte`
            help: declarations of different types are separated by `;`
    "#]],
    );
    check(
        "proctype P(a; byte b = 2) { skip }",
        expect![[r#"
            1:12+1 expected the type of a parameter, found `a`
        "#]],
    );
    check(
        "proctype P(byte b = 2) { skip }",
        expect![[r#"
        1:21+1 the parameter `b` cannot have an initial value
    "#]],
    );
    check(
        "active P() { skip }",
        expect![[r#"
        1:8+1 expected `proctype`, found `P`
    "#]],
    );
    check(
        "init() { skip }",
        expect![[r#"
            1:5+1 expected `{`, found `(`
                help: `init` has no parameters
        "#]],
    );
    check(
        "x = 1; assert(true);",
        expect![[r#"
        1:1+1 expected a declaration or a process, found `x`
            help: statements belong in the braces of a `proctype` or of `init`
        1:8+6 `assert` cannot stand outside of a process
            help: statements belong in the braces of a `proctype`, `init`, `never` or `trace`
    "#]],
    );
    check(
        "proctype if() { skip }",
        expect![[r#"
        1:10+2 the keyword `if` cannot be used as a name
    "#]],
    );
    check(
        "typedef T { }\ntypedef U { int x, byte y }",
        expect![[r#"
        1:13+1 the type `T` has no fields
        2:20+4 expected the name of a variable, found the keyword `byte`
            help: declarations of different types are separated by `;`
    "#]],
    );
    check(
        "c_state \"x\";",
        expect![[r#"
        1:12+1 expected a string, found `;`
            note: `c_state` takes two or three strings
    "#]],
    );
}

#[test]
fn declarations() {
    check(
        "int 3x; int len; byte b[];",
        expect![[r#"
            1:5+1 expected the name of a variable, found `3`
                help: a name does not begin with a digit, and a number has no letters
            1:13+3 the keyword `len` cannot be used as a name
            1:25+1 expected the length of the array, found `]`
        "#]],
    );
    check(
        "byte a[2][3]; byte b;",
        expect![[r#"
        1:10+1 an array has one dimension
            help: put an array into a `typedef`, and make an array of that type
    "#]],
    );
    check(
        "chan c = [2] { byte };\nchan d = [2] of { byte; int };",
        expect![[r#"
            1:14+1 expected `of`, found `{`
                help: a channel is written `[capacity] of { type, type }`
            2:23+1 expected `,` or `}`, found `;`
                help: the types of a message's fields are separated by `,`
        "#]],
    );
    check(
        "chan c = [2] of { unsigned };",
        expect![[r#"
        1:19+8 `unsigned` cannot be the type of a field of a message
            help: use `byte`, `short` or `int`
    "#]],
    );
    check(
        "mtype = { a = 1, b };",
        expect![[r#"
        1:13+1 values of an mtype are not chosen
            note: the names of a declaration are numbered from the last, from 1 on
    "#]],
    );
    check(
        "hidden mtype = { a };",
        expect![[r#"
        1:1+6 `hidden` cannot stand before names of values
    "#]],
    );
    check(
        "init { mtype = { a }; skip }",
        expect![[r#"
        1:8+5 names of mtype values must be declared outside of processes
            help: move the declaration to the top of the model
    "#]],
    );
    check(
        "init { L: int x; skip }",
        expect![[r#"
        1:11+3 a label cannot stand before a declaration
            at 1:8: the label
            help: move the declaration before the label
    "#]],
    );
    check(
        "unsigned x : n;",
        expect![[r#"
        1:14+1 expected a number of bits, found `n`
    "#]],
    );
}

#[test]
fn expressions() {
    check(
        "init { x = ; y = 1 + }",
        expect![[r#"
        1:12+1 expected an expression, found `;`
        1:22+1 expected an expression, found `}`
    "#]],
    );
    check(
        "init { (x -> 1); skip }",
        expect![[r#"
        1:15+1 expected `:`, found `)`
            at 1:8: in the conditional that begins here
            note: `(condition -> a : b)` is `a` if the condition holds, else `b`
    "#]],
    );
    check(
        "init { !full(c); x = len(c) + empty(c) }",
        expect![[r#"
        1:9+7 `full(...)` cannot be part of this expression
            help: its negation is `nfull(...)`; `len(...)` is a number
        1:31+8 `empty(...)` cannot be part of this expression
            help: its negation is `nempty(...)`; `len(...)` is a number
    "#]],
    );
    check(
        "init { c?x+1; c?f(; c!; c?run }",
        expect![[r#"
        1:11+1 expected `,` or the end of the receive, found `+`
            help: a receive takes variables to set, constants to match, `eval(expression)` to match a computed value, and `_` for anything
        1:19+1 expected a field to receive, found `;`
            help: a receive takes variables to set, constants to match, `eval(expression)` to match a computed value, and `_` for anything
        1:23+1 expected an expression, found `;`
        1:27+3 expected a field to receive, found the keyword `run`
            help: a receive takes variables to set, constants to match, `eval(expression)` to match a computed value, and `_` for anything
    "#]],
    );
    check(
        "init { run P; run P(1; 2) }",
        expect![[r#"
            1:13+1 expected `(`, found `;`
            1:22+1 expected `,` or `)`, found `;`
                help: arguments are separated by `,`
        "#]],
    );
    check(
        "init { goto 3; goto ; printf(x); printf(\"a\" \"b\") }",
        expect![[r#"
            1:13+1 expected a label, found `3`
            1:21+1 expected a label, found `;`
            1:30+1 expected a string, found `x`
            1:45+3 expected `,` or `)`, found a string
                help: write it as one string
        "#]],
    );
    check(
        "init { x = f.if; eval(x) }",
        expect![[r#"
            1:14+2 the keyword `if` cannot be used as a name
            1:18+4 expected a statement, found the keyword `eval`
        "#]],
    );
    check(
        "init { select (i : 3 .. 1) }",
        expect![[r#"
        1:8+19 this `select` has nothing to choose from
    "#]],
    );
    check(
        "init { x = (f(1) == 2) }",
        expect![[r#"
            1:14+1 expected `)`, found `(`
                at 1:12: this `(` is open
                help: there are no functions; an inline is called by a statement of its own, `f(...)` or `x = f(...)`
        "#]],
    );
}

#[test]
fn formulas() {
    check(
        "ltl p { [] x == 1 }",
        expect![[r#"
        1:14+2 this operator cannot be applied to a temporal formula
            at 1:9: a formula about a whole run, not a value
            help: `[]`, `<>`, `X` and `!` apply to the very next operand: write `[] (x == 1)`, not `[] x == 1`
    "#]],
    );
    check(
        "ltl p { [] p & <> q }",
        expect![[r#"
        1:14+1 warning: `&` between formulas is taken for `&&`
            help: write `&&`, which binds less tightly
    "#]],
    );
    check(
        "ltl p { [] (p }\ninit { skip }",
        expect![[r#"
        1:15+1 expected `)`, found `}`
            at 1:12: this `(` is open
    "#]],
    );
    check(
        "ltl p { p q }\ninit { skip }",
        expect![[r#"
        1:11+1 expected an operator or `}`, found `q`
    "#]],
    );
    check(
        "ltl { U p }",
        expect![[r#"
        1:7+1 expected an expression, found the keyword `U`
    "#]],
    );
    check(
        "ltl p { [] p",
        expect![[r#"
        1:13+0 `{` is not closed: expected `}`, found the end of the text
            at 1:7: this `{` is open
    "#]],
    );
}

#[test]
fn inlines() {
    check(
        "inline f(a, b) { skip } init { f(1); f() ; f(1, 2, 3) }",
        expect![[r#"
            1:32+4 `f` takes 2 arguments, but 1 is given
                at 1:8: defined here
            1:38+3 `f` takes 2 arguments, but 0 are given
                at 1:8: defined here
            1:44+10 `f` takes 2 arguments, but 3 are given
                at 1:8: defined here
        "#]],
    );
    check(
        "inline f() { g() } inline g() { f() } init { g() }",
        expect![[r#"
            1:14+3 inline `g` calls itself
                at 1:27: defined here
                note: the calls: g → f → g
                note: an inline is replaced by its body; that would never end
        "#]],
    );
    check(
        "inline f() { f() } init { f() }",
        expect![[r#"
        1:14+3 inline `f` calls itself
            at 1:8: defined here
            note: an inline is replaced by its body; that would never end
    "#]],
    );
    check(
        "init { f() } inline f() { skip }",
        expect![[r#"
        1:8+1 inline `f` is defined after this call
            at 1:21: defined here
            help: move its definition before the first call
    "#]],
    );
    check(
        "inline f(a) { x = a x = 2 } init { f(1); f(2) }",
        expect![[r#"
            1:20+0 expected `;`, found `x`
                note: statements are separated by `;` or `->`, by the end of a line, or by a closing `}`
        "#]],
    );
    check(
        "inline f(a) { skip } init { f(1, ); f(c!x); f(x = 1) }",
        expect![[r#"
            1:34+1 expected an expression, found `)`
            1:40+1 expected `,` or `)`, found `!`
                help: a send is a statement of its own
            1:49+1 expected `,` or `)`, found `=`
                help: `=` assigns, and only in a statement of its own; `==` compares
        "#]],
    );
    check(
        "inline f(int a) { skip } inline g { skip } inline h(a, a) { skip }",
        expect![[r#"
            1:10+3 expected the name of a parameter, found the keyword `int`
                help: parameters of an inline have no type
            1:35+1 expected `(`, found `{`
                help: write `inline g() {`
            1:56+1 a second parameter `a`
                at 1:53: the first
        "#]],
    );
    check(
        "inline f() { skip } inline f() { skip }",
        expect![[r#"
        1:28+1 a second inline `f`
            at 1:8: the first
    "#]],
    );
    check(
        "inline f() { return 1 } init { f(); return 2 }",
        expect![[r#"
            1:14+6 the value that `f` returns is not used
                at 1:32: the call
                help: write `x = f(...)`
            1:37+6 `return` outside of an inline
                note: it gives the value of an inline: `inline f(x) { return x + 1 }`
                help: a process ends at its closing brace: `goto` a label there
        "#]],
    );
    check(
        "inline f() { skip \n init { skip }",
        expect![[r#"
        2:15+0 `{` is not closed: expected `}`, found the end of the text
            at 1:12: this `{` is open
    "#]],
    );
    check(
        "inline f() { } init { f() }",
        expect![[r#"
        1:14+1 this block is empty
            at 1:12: the block begins here
            help: write `skip` to do nothing
    "#]],
    );
}

#[test]
fn many_mistakes_are_capped() {
    let text = format!("init {{ {} }}", "x = ;".repeat(1000));
    let (_, _, diagnostics) = parse_text(&text);
    assert_eq!(diagnostics.len(), 51);
}
