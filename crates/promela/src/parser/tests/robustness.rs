//! Whatever the text, the parser ends, without a panic, and says what is wrong once.

use super::*;
use crate::token::Punct;

/// Everything that nests, as opening and closing text around a middle.
const NESTS: [(&str, &str, &str, &str, &str); 15] = [
    ("init { x = ", "(", "1", ")", " }"),
    ("init { x = ", "!", "1", "", " }"),
    ("init { x = ", "- ", "1", "", " }"),
    ("init { x = 1", " + 1", "", "", " }"),
    ("init { x = ", "1 + (", "1", ")", " }"),
    ("init { x = ", "(1 -> 2 : ", "1", ")", " }"),
    ("init { ", "a[", "1", "]", " = 1 }"),
    ("init { ", "{ ", "skip", " }", " }"),
    ("init { ", "if :: ", "skip", " fi", " }"),
    ("init { ", "do :: ", "skip", " od", " }"),
    ("init { ", "atomic { L: { ", "skip", " } }", " }"),
    ("init { ", "for (i : 1 .. 2) { ", "skip", " }", " }"),
    ("init { c?", "(", "x", ")", " }"),
    ("ltl { ", "[] (p -> ", "q", ")", " }"),
    ("ltl { p", " U p", "", "", " }"),
];

fn nested(kind: usize, levels: usize) -> String {
    let (before, open, middle, close, after) = NESTS[kind];
    let mut text = before.to_owned();
    text += &open.repeat(levels);
    text += middle;
    text += &close.repeat(levels);
    text + after
}

#[test]
fn moderate_nesting_is_accepted() {
    for kind in 0..NESTS.len() {
        let text = nested(kind, 100);
        let tree = accepted(&text);
        accepted(&crate::pretty::model(&tree));
    }
}

#[test]
fn deep_nesting_is_one_clear_error() {
    for kind in 0..NESTS.len() {
        for levels in [MAX_DEPTH - 2, MAX_DEPTH, 50_000] {
            let (model, _, diagnostics) = parse_text(&nested(kind, levels));
            if levels > MAX_DEPTH {
                assert_eq!(diagnostics.len(), 1, "{kind} {:?}", &diagnostics[..2]);
                assert!(
                    diagnostics[0].message.contains("nested too deeply"),
                    "{kind} {:?}",
                    diagnostics[0]
                );
            }
            crate::pretty::model(&model);
        }
    }
}

#[test]
fn inlines_that_call_each_other_deeply_are_bounded() {
    let mut text = "int x; inline f0() { x++ }\n".to_owned();
    for i in 1..2000 {
        text += &format!("inline f{i}() {{ f{}() }}\n", i - 1);
    }
    text += "init { f1999() }";
    let (_, _, diagnostics) = parse_text(&text);
    assert_eq!(diagnostics.len(), 1);
    assert!(diagnostics[0].message.contains("nested too deeply"));
}

#[test]
fn inlines_that_grow_without_end_are_bounded() {
    let mut text = "int x; inline f0() { x++ }\n".to_owned();
    for i in 1..60 {
        text += &format!("inline f{i}() {{ f{0}(); f{0}() }}\n", i - 1);
    }
    text += "init { f59() }";
    let (_, _, diagnostics) = parse_text(&text);
    assert_eq!(diagnostics.len(), 1);
    assert!(diagnostics[0].message.contains("grow the model"));
}

#[test]
fn arguments_that_grow_without_end_are_bounded() {
    let mut text = "int x; inline f0(a) { x = a }\n".to_owned();
    for i in 1..60 {
        text += &format!("inline f{i}(a) {{ f{}(a + a) }}\n", i - 1);
    }
    text += "init { f59(x) }";
    let (_, _, diagnostics) = parse_text(&text);
    assert_eq!(diagnostics.len(), 1);
}

/// A model with a bit of everything.
const SAMPLE: &str = r#"
mtype = { a, b }; mtype:k = { c, d };
typedef T { byte x[2]; unsigned y : 3 = 2 }
hidden int g[3] = { 1, 2, 3 };
chan q = [2] of { byte, T };
inline f(p, r) { p = r + 1; if :: p > 2 -> goto L :: else fi; L: skip }
inline h(p) { return p * 2 }
active [2] proctype P(byte n; chan o) priority 2 provided (g[0] > 1) {
    byte i; T t;
    xr q;
    L: do
    :: q!a(1, t.x[i]) -> i++
    :: q?<b, eval(i), _, -1>; break
    :: atomic { (i -> 1 : 2) == 3; q??[a]; f(i, g[1]) } unless { timeout }
    od
    for (i : 1 .. 3) { select (i : 0 .. 2) }
    g[0] = h(i);
    assert(P[1]@L && P:i == 2 && nfull(q) || len(q) > 1)
    printf("%d\n", run P(1, q) priority 3)
    d_step { c_code { x(); }; set_priority(0, 1) }
}
never n { T0: if :: !np_ -> goto T0 fi }
ltl p1 { [] (P[0]@L -> <> (g[1] == 2 U X true)) W !false <-> c_expr { y } }
init { skip }
"#;

/// Small and good enough to choose mutations: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[test]
fn the_sample_is_accepted() {
    accepted(SAMPLE);
}

#[test]
fn mutations_never_panic_and_never_hang() {
    let mut source = SourceMap::default();
    let file = source.add_file(PathBuf::from("test.pml"), SAMPLE.to_owned(), None);
    let (tokens, _) = preprocess(&mut source, file, &Options::default());
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..3000 {
        let mut mutant = tokens.clone();
        for _ in 0..=random.below(4) {
            if mutant.is_empty() {
                break;
            }
            let at = random.below(mutant.len());
            let from = random.below(tokens.len());
            match random.below(5) {
                0 => drop(mutant.remove(at)),
                1 => mutant.insert(at, tokens[from].clone()),
                2 => mutant[at] = tokens[from].clone(),
                3 => mutant.truncate(at + 1),
                _ => mutant[at].kind = TokenKind::Punct(Punct::ColonColon),
            }
        }
        let (model, diagnostics) = parse(mutant, &mut source);
        assert!(diagnostics.len() <= 60);
        crate::pretty::model(&model);
    }
}

#[test]
fn no_tokens_at_all() {
    let mut source = SourceMap::default();
    assert!(parse(Vec::new(), &mut source).1.is_empty());
    let (model, _, _) = parse_text("proctype");
    assert!(model.units.is_empty());
}
