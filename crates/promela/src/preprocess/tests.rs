//! The preprocessor as a whole: text in, words and mistakes out.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{Includes, Options, preprocess, preprocess_with, read_file};
use crate::SourceMap;
use crate::render::render;
use crate::source::ExpansionId;
use crate::token::{Token, TokenKind};

fn read(text: &str, options: &Options) -> (SourceMap, Vec<Token>, String) {
    let mut source = SourceMap::default();
    let root = source.add_file(PathBuf::from("model.pml"), text.to_owned(), None);
    let (tokens, diagnostics) = preprocess(&mut source, root, options);
    let problems: Vec<String> =
        diagnostics.iter().map(|problem| render(&source, problem, false)).collect();
    (source, tokens, problems.join("\n\n"))
}

/// The words, with a line's end where one counts.
fn shown(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        match &token.kind {
            TokenKind::Eof => break,
            _ if text.is_empty() => {}
            _ if token.after_newline => text.push('\n'),
            _ => text.push(' '),
        }
        match &token.kind {
            TokenKind::Ident(name) => text += name,
            TokenKind::Number(value) => text += &value.to_string(),
            TokenKind::String(string) => text += &format!("\"{string}\""),
            TokenKind::CBlock { assertion, code } => text += &format!("C[{assertion:?} {code:?}]"),
            TokenKind::Punct(punct) => text += punct.text(),
            TokenKind::Eof => {}
        }
    }
    text
}

/// The words of a text without mistakes.
fn words(text: &str, expected: Expect) {
    let (_, tokens, problems) = read(text, &Options::default());
    assert_eq!(problems, "");
    expected.assert_eq(&shown(&tokens));
}

/// The mistakes in a text.
fn problems(text: &str, expected: Expect) {
    let (_, _, problems) = read(text, &Options::default());
    expected.assert_eq(&problems);
}

#[test]
fn signs_are_the_longest_possible() {
    words(
        "a::b..c->d<->e<>f--g++h!!i??j==k!=l<=m>=n<<o>>p&&q||r a<-b a@b [] $",
        expect![
            "a :: b .. c -> d <-> e <> f -- g ++ h !! i ?? j == k != l <= m >= n << o >> p && q || r a < - b a @ b [ ] $"
        ],
    );
}

#[test]
fn formulas_may_have_the_signs_of_logic() {
    words("(p \\/ q) /\\ r", expect!["( p || q ) && r"]);
}

#[test]
fn a_long_arrow_is_an_arrow() {
    words("a-->b x-- ->c x-- > d x--->e", expect!["a -> b x -- -> c x -- > d x -- -> e"]);
}

#[test]
fn numbers_and_characters() {
    words(
        "0 007 2147483647 -2147483648 'a' '\\n' '\\t' '\\r' '\\f' '\\\\' '\\'' '\"' 1od 0..N",
        expect!["0 7 2147483647 - -2147483648 97 10 9 13 12 92 39 34 1 od 0 .. N"],
    );
}

#[test]
fn bad_numbers_and_characters() {
    problems(
        "x = 0x1F;\ny = 2147483648;\nz = 99999999999;\nc = '\\0';\nd = 'ab';\ne = 'é';",
        expect![[r#"
            error[E0114]: numbers are decimal in Promela
             --> model.pml:1:5
              |
            1 | x = 0x1F;
              |     ^^^^
              |
              = help: write `31`

            error[E0114]: `2147483648` is too large: numbers have 32 bits
             --> model.pml:2:5
              |
            2 | y = 2147483648;
              |     ^^^^^^^^^^ the largest number is 2147483647
              |
              = help: SPIN reads it as -2147483648: if that is meant, write `-2147483648`

            error[E0114]: `99999999999` is too large: numbers have 32 bits
             --> model.pml:3:5
              |
            3 | z = 99999999999;
              |     ^^^^^^^^^^^ the largest number is 2147483647

            warning[W0104]: `'\0'` is the character `0`
             --> model.pml:4:5
              |
            4 | c = '\0';
              |     ^^^^ its value is 48
              |
              = note: Promela has the escapes \n, \r, \t and \f only

            error[E0115]: `'ab'` is not one character
             --> model.pml:5:5
              |
            5 | d = 'ab';
              |     ^^^^
              |
              = help: a string has double quotes

            error[E0115]: `'é'` is not one character
             --> model.pml:6:5
              |
            6 | e = 'é';
              |     ^^^
              |
              = note: a character constant is a single byte, an ASCII character"#]],
    );
}

#[test]
fn strings_keep_their_escapes() {
    words(
        r#"printf("a \"b\" \n // no comment /* %d")"#,
        expect![[r#"printf ( "a \"b\" \n // no comment /* %d" )"#]],
    );
}

#[test]
fn text_that_is_no_word() {
    problems(
        "x = “y”;\n`` z\nprintf(\"abc);\nc = 'd\na # b\n\u{1}",
        expect![[r#"
            error[E0113]: unexpected character '“' (U+201C)
             --> model.pml:1:5
              |
            1 | x = “y”;
              |     ^
              |
              = help: write `"`

            error[E0113]: unexpected character '”' (U+201D)
             --> model.pml:1:7
              |
            1 | x = “y”;
              |       ^
              |
              = help: write `"`

            error[E0113]: unexpected character '`'
             --> model.pml:2:1
              |
            2 | `` z
              | ^^

            error[E0112]: this string does not end
             --> model.pml:3:8
              |
            3 | printf("abc);
              |        ^^^^^^ no `"` follows on this line

            error[E0112]: this character constant does not end
             --> model.pml:4:5
              |
            4 | c = 'd
              |     ^^ no `'` follows on this line

            error[E0105]: unexpected `#`
             --> model.pml:5:3
              |
            5 | a # b
              |   ^
              |
              = note: a directive must be the first word of its line

            error[E0113]: unexpected control character U+0001
             --> model.pml:6:1
              |
            6 | ␁
              | ^"#]],
    );
}

#[test]
fn comments_and_spliced_lines() {
    words(
        "a/* x */b // c \\\n still the comment\nd \\\n e f\\\ng /* x\n y */ h i\\\n+j k",
        expect![[r#"
            a b
            d
            e fg
            h i + j
            k"#]],
    );
}

#[test]
fn windows_line_ends_and_byte_order_mark() {
    words(
        "\u{feff}#define A 1 \\\r\n 2\r\nx = A\r\ny\r\n",
        expect![[r#"
            x = 1 2
            y"#]],
    );
    words(
        "#define ADD(a,\\\r\n b) a + b\r\nx\t=\tADD(1,\r\n\r\n\tADD(2,\r\n3\r\n));\r\ny\r\n",
        expect![[r#"
            x = 1 + 2 + 3
            ;
            y"#]],
    );
}

#[test]
fn further_texts_are_read_with_the_macros_of_the_model() {
    let mut source = SourceMap::default();
    let root = source.add_file("model.pml".into(), "#define TWO 2\nx #undef\n".into(), None);
    let mut add = |text: &str| source.add_file("--invariant".into(), text.into(), None);
    let further = [add("TWO\n#define ONE 1"), add("ONE \"y"), add("ONE")];
    let (tokens, further, problems) =
        preprocess_with(&mut source, root, &further, &Options::default());
    assert_eq!(tokens.len(), 3);
    let kinds = further.iter().map(|tokens| tokens[0].kind.clone());
    let expected = [2, 1, 1].map(TokenKind::Number);
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    let ends = further.iter().filter_map(|tokens| tokens.last());
    let ends: Vec<_> = ends.map(|end| (&end.kind, end.span.file.0)).collect();
    assert_eq!(ends, [1, 2, 3].map(|file| (&TokenKind::Eof, file)));
    let places: Vec<_> = problems.iter().filter_map(|problem| problem.span).collect();
    let paths = places.iter().map(|&span| source.path(span));
    assert_eq!(paths.collect::<Vec<_>>(), [Path::new("model.pml"), Path::new("--invariant")]);
}

#[test]
fn an_open_comment() {
    problems(
        "a\n/* b\nc",
        expect![[r#"
            error[E0112]: this comment does not end
             --> model.pml:2:1
              |
            2 | /* b
              | ^^ no `*/` follows"#]],
    );
}

#[test]
fn macros_of_both_kinds() {
    words(
        "#define N 5\n#define MAX(a,b) ((a) > (b) -> (a) : (b))\nx = MAX(N, f(1, 2));\nMAX + N()",
        expect![[r#"
            x = ( ( 5 ) > ( f ( 1 , 2 ) ) -> ( 5 ) : ( f ( 1 , 2 ) ) ) ;
            MAX + 5 ( )"#]],
    );
}

#[test]
fn a_macro_that_uses_itself_ends() {
    words(
        "#define a a b\n#define b a\na; b;\n#define f(x) x f(x)\nf(f(1))",
        expect![[r#"
            a a ; a b ;
            1 f ( 1 ) f ( 1 f ( 1 ) )"#]],
    );
}

#[test]
fn expansion_may_take_arguments_from_what_follows() {
    words(
        "#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)\n#define h f\nh (3)",
        expect![[r#"
            2 * 9 * g
            3 * g"#]],
    );
}

#[test]
fn strings_and_joined_words() {
    words(
        "#define S(x) #x\n#define XS(x) S(x)\n#define J(a,b) a##b\n#define x1 found\n\
         S( a  \"q\\n\"  +1 ) XS(J(x,1)) J(x,1) J(,y) J(z,) J(,) J(-,>) J(12,34)",
        expect![[r#""a \"q\\n\" +1" "found" found y z -> 1234"#]],
    );
}

#[test]
fn empty_operands_in_a_chain_of_joins() {
    words(
        "#define J(a,b,c) <a##b##c>\nJ(x,,y) J(,,z) J(x,y,) J(p q,,r s)",
        expect!["< xy > < z > < xy > < p qr s >"],
    );
}

#[test]
fn variadic_macros() {
    words(
        "#define P(f, ...) printf(f, ## __VA_ARGS__)\n#define Q(args...) q(args)\n\
         P(\"a\") P(\"b\", 1, (2, 3)) P(\"c\",) Q() Q(1, 2)",
        expect![[
            r#"printf ( "a" ) printf ( "b" , 1 , ( 2 , 3 ) ) printf ( "c" , ) q ( ) q ( 1 , 2 )"#
        ]],
    );
}

#[test]
fn where_lines_end_around_macros() {
    words(
        "#define E\n#define F(a,b) a+b\nE\nx E y\nE z\nF(1,\n2) c\nF(3,4\n) d\nF\ng\nk F\n(5,6) m",
        expect![[r#"
            x y
            z
            1 + 2
            c
            3 + 4
            d
            F
            g
            k 5 + 6
            m"#]],
    );
}

#[test]
fn bad_uses_of_macros() {
    problems(
        "#define f(a) a\n#define g(a, ...) a\n#define J(a,b) a##b\nf(1,2) f() g() J(-,x)\nf(1",
        expect![[r#"
            error[E0107]: the macro `f` takes 1 argument, but 2 are given
             --> model.pml:4:1
              |
            1 | #define f(a) a
              |         - defined here
            ...
            4 | f(1,2) f() g() J(-,x)
              | ^^^^^^

            error[E0108]: `##` makes `-x`, which is not a word
             --> model.pml:3:16
              |
            3 | #define J(a,b) a##b
              |                ^^^^
              |
            note: in this expansion of `J`
             --> model.pml:4:16
              |
            4 | f(1,2) f() g() J(-,x)
              |                ^^^^^^

            error[E0107]: the arguments of the macro `f` do not end
             --> model.pml:5:1
              |
            5 | f(1
              | ^^ no `)` for this `(`"#]],
    );
}

#[test]
fn bad_definitions() {
    problems(
        "#define\n#define 3\n#define defined\n#define X(\n#define X(a b)\n#define X(a,a)\n\
         #define X(..., a)\n#define X(a) #b\n#define X ## a\n#define X a ##\n#undef\n#undef 1",
        expect![[r#"
            error[E0106]: `#define` without a name
             --> model.pml:1:1
              |
            1 | #define
              | ^^^^^^^

            error[E0106]: `3` cannot be the name of a macro
             --> model.pml:2:9
              |
            2 | #define 3
              |         ^ not a name

            error[E0106]: `defined` cannot be the name of a macro
             --> model.pml:3:9
              |
            3 | #define defined
              |         ^^^^^^^ an operator of `#if`

            error[E0106]: expected the name of a parameter in the parameters of a macro
             --> model.pml:4:10
              |
            4 | #define X(
              |          ^

            error[E0106]: expected `,` or `)` in the parameters of a macro
             --> model.pml:5:13
              |
            5 | #define X(a b)
              |             ^

            error[E0106]: two parameters of the macro are named `a`
             --> model.pml:6:13
              |
            6 | #define X(a,a)
              |             ^

            error[E0106]: expected `)` in the parameters of a macro
             --> model.pml:7:14
              |
            7 | #define X(..., a)
              |              ^

            error[E0106]: `#` is not followed by a parameter of the macro
             --> model.pml:8:14
              |
            8 | #define X(a) #b
              |              ^ makes a string of the argument for a parameter
              |
              = note: `b` is not a parameter

            error[E0106]: `##` stands at an end of the macro
             --> model.pml:9:11
              |
            9 | #define X ## a
              |           ^^ joins the word before it and the word after it

            error[E0106]: `##` stands at an end of the macro
              --> model.pml:10:13
               |
            10 | #define X a ##
               |             ^^ joins the word before it and the word after it

            error[E0106]: `#undef` without a name
              --> model.pml:11:1
               |
            11 | #undef
               | ^^^^^^

            error[E0106]: `1` cannot be the name of a macro
              --> model.pml:12:8
               |
            12 | #undef 1
               |        ^ not a name"#]],
    );
}

#[test]
fn a_macro_defined_again() {
    problems(
        "#define A 1\n#define A 1 /* same */\n#define A 2\n#define f(x) x\n#define f(y) y\n\
         #undef A\n#define A 3\n#define __GNUC__ 2",
        expect![[r#"
            warning[W0102]: the macro `A` is defined again, as something else
             --> model.pml:3:9
              |
            2 | #define A 1 /* same */
              |         - defined before here
            3 | #define A 2
              |         ^ this one counts from here on

            warning[W0102]: the macro `f` is defined again, as something else
             --> model.pml:5:9
              |
            4 | #define f(x) x
              |         - defined before here
            5 | #define f(y) y
              |         ^ this one counts from here on

            warning[W0102]: the macro `__GNUC__` is defined again, as something else
             --> model.pml:8:9
              |
            8 | #define __GNUC__ 2
              |         ^^^^^^^^ this one counts from here on
              |
              = note: it is a predefined macro"#]],
    );
}

#[test]
fn conditionals() {
    words(
        "#define A\n#ifdef A\n1\n#else\n2\n#endif\n#ifndef A\n3\n#elif 1\n4\n#elif 1\n5\n#else\n6\n\
         #endif\n#if 0\n#if 1\nit's \"skipped\n#foo\n#else\n#endif\n#elif defined A && !defined(B)\n\
         7\n#endif",
        expect![[r#"
            1
            4
            7"#]],
    );
}

#[test]
fn arithmetic_of_conditions() {
    for (condition, holds) in [
        ("1 + 2 * 3 == 7", true),
        ("(1 + 2) * 3 == 9", true),
        ("10 - 4 - 3 == 3", true),
        ("-7 / 2 == -3 && -7 % 2 == -1", true),
        ("1 || 1 / 0", true),
        ("0 && 1 / 0", false),
        ("1 ? 2 : 1 / 0", true),
        ("0 ? 1 : 0 ? 1 : 5 == 5", true),
        ("-1 > 0u", true),
        ("-1 > 0", false),
        ("0x10 == 16 && 010 == 8 && 0b11 == 3 && 5UL == 5", true),
        ("'a' == 97 && '\\n' == 10 && '\\0' == 0", true),
        ("1 << 3 == 8 && -8 >> 1 == -4 && 1 << 100 == 0", true),
        ("(6 & 3) == 2 && (6 | 3) == 7 && (6 ^ 3) == 5 && ~0 == -1", true),
        ("!!5 == 1 && !0", true),
        ("unknown", false),
        ("9223372036854775807 + 1 < 0", true),
        ("-9223372036854775808 / -1 != 5", true),
        ("N > 3 && TWICE(N) == 8", true),
        ("HAS", true),
        ("__LINE__ == 4 && __STDC_VERSION__ >= 199901L && __GNUC__ > 2", true),
    ] {
        let text = format!(
            "#define N 4\n#define TWICE(x) (2 * (x))\n#define HAS defined(N)\n\
             #if {condition}\nyes\n#else\nno\n#endif"
        );
        let (_, tokens, problems) = read(&text, &Options::default());
        assert_eq!(problems, "", "{condition}");
        assert_eq!(shown(&tokens), if holds { "yes" } else { "no" }, "{condition}");
    }
}

#[test]
fn bad_conditions() {
    problems(
        "#if\n#endif\n#if 1 +\n#endif\n#if 1 / 0\n#endif\n#if (1\n#endif\n#if 1 2\n#endif\n#if 1 ? 2\n\
         #endif\n#if defined\n#endif\n#if \"a\"\n#endif\n#if 08\n#endif\n#if *\n#endif",
        expect![[r#"
            error[E0110]: `#if` without a condition
             --> model.pml:1:1
              |
            1 | #if
              | ^^^

            error[E0110]: the condition is not complete
             --> model.pml:3:1
              |
            3 | #if 1 +
              | ^^^^^^^ an operand is missing at the end

            error[E0110]: division by zero
             --> model.pml:5:7
              |
            5 | #if 1 / 0
              |       ^

            error[E0110]: missing `)` in the condition
             --> model.pml:7:5
              |
            7 | #if (1
              |     ^ for this `(`

            error[E0110]: unexpected `2` after the condition
             --> model.pml:9:7
              |
            9 | #if 1 2
              |       ^

            error[E0110]: `?` without `:`
              --> model.pml:11:1
               |
            11 | #if 1 ? 2
               | ^^^^^^^^^

            error[E0110]: `defined` needs the name of a macro
              --> model.pml:13:5
               |
            13 | #if defined
               |     ^^^^^^^
               |
               = help: write `defined(NAME)`

            error[E0110]: `"a"` cannot stand in a condition
              --> model.pml:15:5
               |
            15 | #if "a"
               |     ^^^

            error[E0110]: `08` is not an integer of C with at most 64 bits
              --> model.pml:17:5
               |
            17 | #if 08
               |     ^^

            error[E0110]: unexpected `*` in the condition
              --> model.pml:19:5
               |
            19 | #if *
               |     ^"#]],
    );
}

#[test]
fn conditionals_out_of_place() {
    problems(
        "#endif\n#else\n#elif 1\n#if 1\n#else\n#else\n#elif 1\n#endif x\n#ifdef\n#endif\n#ifdef A B\n",
        expect![[r#"
            error[E0109]: `#endif` without `#if`
             --> model.pml:1:1
              |
            1 | #endif
              | ^^^^^^

            error[E0109]: `#else` without `#if`
             --> model.pml:2:1
              |
            2 | #else
              | ^^^^^

            error[E0109]: `#elif` without `#if`
             --> model.pml:3:1
              |
            3 | #elif 1
              | ^^^^^

            error[E0109]: `#else` after `#else`
             --> model.pml:6:1
              |
            4 | #if 1
              | --- the conditional
            5 | #else
              | ----- the `#else`
            6 | #else
              | ^^^^^

            error[E0109]: `#elif` after `#else`
             --> model.pml:7:1
              |
            4 | #if 1
              | --- the conditional
            5 | #else
              | ----- the `#else`
            6 | #else
            7 | #elif 1
              | ^^^^^

            warning[W0103]: text after `#endif` has no effect
             --> model.pml:8:8
              |
            8 | #endif x
              |        ^
              |
              = help: make it a comment

            error[E0106]: `#ifdef` without a name
             --> model.pml:9:1
              |
            9 | #ifdef
              | ^^^^^^

            warning[W0103]: text after `#ifdef` has no effect
              --> model.pml:11:10
               |
            11 | #ifdef A B
               |          ^
               |
               = help: make it a comment

            error[E0109]: this conditional does not end
              --> model.pml:11:1
               |
            11 | #ifdef A B
               | ^^^^^^ no `#endif` follows"#]],
    );
}

#[test]
fn other_directives() {
    words(
        "#\n#pragma whatever it's\n#ident \"x\"\n#line 7 \"other.pml\"\n__LINE__ __FILE__\n# 20\n\
         __LINE__ __COUNTER__ __COUNTER__ __INCLUDE_LEVEL__",
        expect![[r#"
            7 "other.pml"
            20 0 1 0"#]],
    );
    problems(
        "#error it's \"bad\"\n#warning old\n#unknown\n#include\n#line x",
        expect![[r#"
            error[E0111]: #error it's "bad"
             --> model.pml:1:1
              |
            1 | #error it's "bad"
              | ^^^^^^^^^^^^^^^^^

            warning[W0101]: #warning old
             --> model.pml:2:1
              |
            2 | #warning old
              | ^^^^^^^^^^^^

            error[E0105]: `#unknown` is no directive of the preprocessor
             --> model.pml:3:1
              |
            3 | #unknown
              | ^^^^^^^^

            error[E0103]: `#include` without a file name
             --> model.pml:4:1
              |
            4 | #include
              | ^^^^^^^^
              |
              = help: write `#include "file"` or `#include <file>`

            error[E0105]: expected a directive or a line number after `#`, not `x`
             --> model.pml:5:7
              |
            5 | #line x
              |       ^"#]],
    );
}

#[test]
fn options_of_the_command_line() {
    let options = Options {
        defines: vec![
            ("N".into(), "3".into()),
            ("F(x)".into(), "x + 1".into()),
            ("GONE".into(), "1".into()),
        ],
        undefines: vec!["GONE".into()],
        ..Options::default()
    };
    let (_, tokens, problems) = read("N F(2) GONE linux unix", &options);
    assert_eq!(problems, "");
    assert_eq!(shown(&tokens), "3 2 + 1 GONE linux unix");
}

#[test]
fn embedded_c_is_one_word() {
    words(
        "#define N 3\nc_decl { struct { int x[N]; } s; }\n\
         c_code [x > 0] {\n  char *p = \"}\"; /* } */ char q = '}';\n  while (p --> 0) { p->q = N; }\n}\n\
         c_expr{x}\nc_code_ {",
        expect![[r#"
            c_decl C[None " struct { int x[ 3 ]; } s;"]
            c_code C[Some("x > 0") "\nchar *p = \"}\"; char q = '}';\nwhile (p --> 0) { p->q = 3 ; }"]
            c_expr C[None "x"]
            c_code_ {"#]],
    );
    words(
        "c_decl {\n#include <stdio.h>\n int x; } y",
        expect![[r#"c_decl C[None "\n#include <stdio.h>\n\nint x;"] y"#]],
    );
    problems(
        "x\nc_code { if (1) { }",
        expect![[r#"
            error[E0112]: the C text does not end
             --> model.pml:2:8
              |
            2 | c_code { if (1) { }
              |        ^ opened here"#]],
    );
}

#[test]
fn a_word_knows_the_macro_uses_around_it() {
    let text = "#define INNER(x) a + x\n#define OUTER INNER(b)\nOUTER;\nINNER(c)";
    let (source, tokens, _) = read(text, &Options::default());
    let places: Vec<String> = tokens
        .iter()
        .map(|token| {
            let mut place =
                format!("{:?} in line {}", source.text(token.span), source.line(token.span));
            let mut expansion = token.span.expansion;
            while let Some(found) = source.expansion(expansion) {
                place += &format!(
                    ", from {} {:?} in line {}",
                    found.name,
                    source.text(found.call),
                    source.line(found.call)
                );
                expansion = found.call.expansion;
            }
            assert_eq!(expansion, ExpansionId::NONE);
            place
        })
        .collect();
    expect![[r#"
        "a" in line 1, from INNER "INNER(b)" in line 2, from OUTER "OUTER" in line 3
        "+" in line 1, from INNER "INNER(b)" in line 2, from OUTER "OUTER" in line 3
        "b" in line 2, from OUTER "OUTER" in line 3
        ";" in line 3
        "a" in line 1, from INNER "INNER(c)" in line 4
        "+" in line 1, from INNER "INNER(c)" in line 4
        "c" in line 4
        "" in line 4"#]]
    .assert_eq(&places.join("\n"));
}

#[test]
fn mistakes_show_the_macro_uses_around_them() {
    problems(
        "#define A x = `1`;\n#define B(y) A y\nB(`)\n",
        expect![[r#"
            error[E0113]: unexpected character '`'
             --> model.pml:1:15
              |
            1 | #define A x = `1`;
              |               ^
              |
            note: in this expansion of `A`
             --> model.pml:2:14
              |
            2 | #define B(y) A y
              |              ^
            note: in this expansion of `B`
             --> model.pml:3:1
              |
            3 | B(`)
              | ^^^^

            error[E0113]: unexpected character '`'
             --> model.pml:1:17
              |
            1 | #define A x = `1`;
              |                 ^
              |
            note: in this expansion of `A`
             --> model.pml:2:14
              |
            2 | #define B(y) A y
              |              ^
            note: in this expansion of `B`
             --> model.pml:3:1
              |
            3 | B(`)
              | ^^^^

            error[E0113]: unexpected character '`'
             --> model.pml:3:3
              |
            3 | B(`)
              |   ^"#]],
    );
}

/// Files in a directory, and the words and mistakes of `model.pml` there with the directory's name
/// taken out.
fn read_files(files: &[(&str, &str)], include_dirs: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    read_files_in(dir.path(), files, include_dirs, Includes::All)
}

fn read_files_in(
    dir: &Path,
    files: &[(&str, &str)],
    include_dirs: &[&str],
    includes: Includes,
) -> String {
    for (name, text) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let path = dir.join("model.pml");
    let options = Options {
        include_dirs: include_dirs.iter().map(|name| dir.join(name)).collect(),
        includes,
        ..Options::default()
    };
    let mut source = SourceMap::default();
    let text = read_file(&path).unwrap();
    let root = source.add_file(path, text, None);
    let (tokens, diagnostics) = preprocess(&mut source, root, &options);
    let mut text = shown(&tokens);
    for problem in diagnostics {
        text += &format!("\n{}", render(&source, &problem, false));
    }
    text.replace(&dir.display().to_string(), "DIR")
}

#[test]
fn included_files() {
    let found = read_files(
        &[
            (
                "model.pml",
                "#include \"a.h\"\n#define FILE \"sub/b.h\"\n#include FILE\n#include <c.h>\nend",
            ),
            ("a.h", "a1\na2"),
            ("sub/b.h", "b1 /* */\n#include \"near.h\"\n#include \"a.h\"\nb2"),
            ("sub/near.h", "#pragma once\n#include \"near.h\"\nnear __INCLUDE_LEVEL__"),
            ("dir/c.h", "c"),
        ],
        &["missing", "dir"],
    );
    expect![[r#"
        a1
        a2
        b1
        near 2
        a1
        a2
        b2
        c
        end"#]]
    .assert_eq(&found);
}

#[test]
fn mistakes_in_included_files() {
    let found = read_files(
        &[
            ("model.pml", "#include \"a.h\"\n#include <b.h>\n#include \"model2.pml\"\nx"),
            ("a.h", "\n#include \"missing.h\"\n#if 1"),
            ("model2.pml", "#define X `\nX"),
        ],
        &["dir"],
    );
    expect![[r#"
        x
        error[E0102]: cannot find the file `missing.h`
         --> DIR/a.h:2:10
          |
        2 | #include "missing.h"
          |          ^^^^^^^^^^^ not found
          |
          = note: included from DIR/model.pml:1
          = note: looked in `DIR`, `DIR/dir`
          = help: `-I DIR` adds a directory to look in
        error[E0109]: this conditional does not end
         --> DIR/a.h:3:1
          |
        3 | #if 1
          | ^^^ no `#endif` follows
          |
          = note: included from DIR/model.pml:1
        error[E0102]: cannot find the file `b.h`
         --> DIR/model.pml:2:10
          |
        2 | #include <b.h>
          |          ^^^^^ not found
          |
          = note: looked in `DIR/dir`, `DIR`
          = help: did you mean `a.h`?
        error[E0113]: unexpected character '`'
         --> DIR/model2.pml:1:11
          |
        1 | #define X `
          |           ^
          |
          = note: included from DIR/model.pml:3
        note: in this expansion of `X`
         --> DIR/model2.pml:2:1
          |
        2 | X
          | ^"#]]
    .assert_eq(&found);
}

#[test]
fn files_of_others_are_not_included() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (dir.path().join("ours"), dir.path().join("theirs"));
    fs::create_dir(&ours).unwrap();
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(theirs.join("secret"), ours.join("link")).unwrap();
    std::os::unix::fs::symlink(&theirs, ours.join("folder")).unwrap();
    std::os::unix::fs::symlink("near", ours.join("alias")).unwrap();
    let absolute = theirs.join("secret").display().to_string();
    let ways = ["../theirs/secret", "link", "folder/secret", "sub/../../theirs/secret", &absolute];
    let read = |name: &str, dirs: &[&str], includes: &Includes| {
        let model = format!("#include \"{name}\"\n#include \"alias\"\n");
        let files = [("model.pml", &*model), ("near", "near"), ("sub/x", "")];
        read_files_in(&ours, &files, dirs, includes.clone())
    };
    for way in ways {
        assert!(read(way, &[], &Includes::All).starts_with("secret\nnear"), "{way}");
        let within = Includes::Within(ours.clone());
        for dirs in [&[][..], &["../theirs"]] {
            let found = read(way, dirs, &within);
            assert!(found.starts_with("near\n") && !found.contains("secret\nnear"), "{found}");
            // A file that is not there looks just the same.
            let missing =
                read(&way.replace("secret", "absent").replace("link", "kiln"), dirs, &within);
            let as_if = missing.replace("absent", "secret").replace("kiln", "link");
            assert_eq!(found.split_once('|').unwrap().0, as_if.split_once('|').unwrap().0);
        }
        assert!(read(way, &[], &Includes::Nothing).contains("may not be included here"), "{way}");
    }
}

#[test]
fn a_file_that_includes_itself() {
    let found = read_files(&[("model.pml", "x\n#include \"model.pml\"\n")], &[]);
    expect![[r#"

        error[E0104]: `DIR/model.pml` includes itself without end
         --> DIR/model.pml:2:10
          |
        2 | #include "model.pml"
          |          ^^^^^^^^^^^
          |
          = note: included from DIR/model.pml:2
          = note: included from DIR/model.pml:2
          = note: included from DIR/model.pml:2
          = note: included from DIR/model.pml:2
          = note: included from DIR/model.pml:2
          = note: and from 195 more files
          = help: put `#ifndef NAME`, `#define NAME`, ..., `#endif` around its text"#]]
    .assert_eq(&found);
}

#[test]
fn unreadable_files() {
    let dir = tempfile::tempdir().unwrap();
    let says = |path: &Path| {
        let problem = read_file(path).unwrap_err();
        let text = render(&SourceMap::default(), &problem, false);
        text.replace(&dir.path().display().to_string(), "DIR")
    };
    let latin = dir.path().join("latin.pml");
    fs::write(&latin, b"a\n/* caf\xe9 */").unwrap();
    expect![[r#"
        error[E0101]: `DIR/latin.pml` is not UTF-8 text
         |
         = note: the byte 0xe9 at offset 8, in line 2
         = help: convert it with `iconv -f latin1 -t utf8 DIR/latin.pml`"#]]
    .assert_eq(&says(&latin));
    expect!["error[E0101]: `DIR` is a directory, not a file"].assert_eq(&says(dir.path()));
    expect!["error[E0101]: there is no file `DIR/none.pml`"]
        .assert_eq(&says(&dir.path().join("none.pml")));
}

/// The first line of what is said about a text that would grow without bound.
fn limit(text: &str) -> String {
    let (_, tokens, problems) = read(text, &Options::default());
    assert_eq!(tokens.len(), 1);
    problems.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn texts_that_would_grow_without_bound() {
    let doubling = |body: &str| {
        let mut text = format!("#define m0 {body}\n");
        for i in 1..64 {
            text += &format!("#define m{i} m{0} m{0}\n", i - 1);
        }
        text + "m63"
    };
    let words = "error[E0902]: the model has more than 1000000 words after macro expansion";
    assert_eq!(limit(&doubling("x")), words);
    assert_eq!(limit(&doubling("")), words);

    let nested = |head: &str, name: &str, depth: usize| {
        format!("{head}\n{}a{}", format!("{name}(").repeat(depth), ")".repeat(depth))
    };
    assert_eq!(limit(&nested("#define f(x) x x", "f", 100)), words);
    assert_eq!(
        limit(&nested("#define f(x) x", "f", 1000)),
        "error[E0902]: macro uses are nested more than 200 deep in arguments"
    );
    let joins = "#define j(x,y) x##y\n#define f(x) j(x,x)";
    assert_eq!(
        limit(&nested(joins, "f", 100)),
        "error[E0902]: the operators `#` and `##` of macros make more than 1 MiB of text"
    );
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let chain: String = (0..50_000).map(|i| format!("#define c{i} c{}\n", i + 1)).collect();
    let (_, tokens, problems) = read(&(chain + "c0"), &Options::default());
    assert_eq!((shown(&tokens).as_str(), problems.as_str()), ("c50000", ""));

    for condition in ["(".repeat(100_000), "!".repeat(100_000), "1?1:".repeat(100_000)] {
        let text = format!("#if {condition}1\n#endif");
        let (_, _, problems) = read(&text, &Options::default());
        assert!(problems.starts_with("error[E0110]: the condition is nested more than 200 deep"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the text: no panic, an end, and spans in the text.
    #[test]
    fn any_text_is_read(text in text_with_directives()) {
        let (source, tokens, _) = read(&text, &Options::default());
        prop_assert_eq!(&tokens.last().unwrap().kind, &TokenKind::Eof);
        for token in &tokens {
            let text = &source.file(token.span.file).text;
            prop_assert!(text.get(token.span.start as usize..token.span.end as usize).is_some());
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&String::from_utf8_lossy(&bytes), &Options::default());
    }
}

/// Texts of what the preprocessor acts on.
fn text_with_directives() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "#define f(x, y) ",
            "#define g(x...) ",
            "#define a ",
            "#undef a\n",
            "#if ",
            "#ifdef a\n",
            "#else\n",
            "#elif ",
            "#endif\n",
            "#line ",
            "# 3 \"x\"\n",
            "#include ",
            "defined ",
            "f(",
            "g(",
            "a",
            "x",
            "y",
            ")",
            ",",
            " ## ",
            " #x ",
            "# ",
            "\n",
            "\\\n",
            " ",
            "/*",
            "*/",
            "//",
            "\"",
            "'",
            "1",
            "0x",
            "c_code",
            "{",
            "}",
            "[",
            "]",
            "-",
            "->",
            "<",
            ">",
            "__LINE__",
            "__VA_ARGS__",
            "é",
            "\r\n",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,3}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}
