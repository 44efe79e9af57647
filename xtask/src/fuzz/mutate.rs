//! Makes models that nobody would write, out of models that somebody wrote.
//!
//! A mutant is a function of its seed and of the models at hand. *Gentle* mutations change a number,
//! an operator or a name and put in a declaration or a statement; many of their mutants still load,
//! and try the machine. *Wild* ones cut, splice, nest and repeat without any regard for syntax, and
//! try everything that reads.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::generate::{self, Dice};

/// Mutants have no more bytes than this.
pub const MAX_BYTES: usize = 100_000;

/// Models to start from.
#[derive(Debug, Default)]
pub struct Corpus(Vec<Text>);

/// A text and where it is said to stand, so that its includes are found.
#[derive(Clone, Debug)]
pub struct Text {
    /// Where it is said to stand.
    pub path: PathBuf,
    /// The text.
    pub text: String,
}

impl Corpus {
    /// The models in some folders and the folders in them.
    pub fn read(folders: &[PathBuf]) -> Result<Self> {
        let mut models = Self::default();
        for folder in folders {
            models.add(folder)?;
        }
        models.0.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(models)
    }

    fn add(&mut self, folder: &Path) -> Result<()> {
        let entries = fs::read_dir(folder);
        for entry in entries.with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                self.add(&path)?;
            } else if path.extension().is_some_and(|it| it == "pml" || it == "prom") {
                let bytes = fs::read(&path).context(path.display().to_string())?;
                let mut text = String::from_utf8_lossy(&bytes).into_owned();
                cut(&mut text);
                self.0.push(Text { path, text });
            }
        }
        Ok(())
    }

    /// One of the models, or a random one.
    fn pick(&self, dice: &mut Dice) -> Text {
        match self.0.get(dice.below(self.0.len() * 5 / 4 + 1)) {
            Some(model) => model.clone(),
            None => {
                let seed = dice.below(1 << 30) as u64;
                Text { path: "random.pml".into(), text: generate::model(seed).to_string() }
            }
        }
    }

    /// The mutant of a seed.
    pub fn mutant(&self, seed: u64) -> Text {
        let mut dice = Dice::new(seed);
        let Text { path, text } = self.pick(&mut dice);
        let mut mutant = Mutant { pieces: pieces(&text), corpus: self, dice };
        let wild = mutant.dice.chance(50);
        for _ in 0..mutant.dice.range(1, 5) {
            if wild {
                mutant.wild()
            } else {
                mutant.gentle()
            }
            mutant.cut();
        }
        let mut text = mutant.pieces.concat();
        let bytes = if wild { mutant.dice.below(3) } else { 0 };
        for _ in 0..bytes {
            text = spoil(text, &mut mutant.dice);
        }
        cut(&mut text);
        Text { path, text }
    }
}

/// Keeps a text from being too long.
fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(MAX_BYTES));
}

/// Changes a few bytes.
fn spoil(text: String, dice: &mut Dice) -> String {
    let mut bytes = text.into_bytes();
    let start = dice.below(bytes.len());
    let end = (start + dice.range(1, 3)).min(bytes.len());
    let random = |dice: &mut Dice| dice.below(256) as u8;
    match dice.below(4) {
        0 => drop(bytes.drain(start..end)),
        1 => bytes.insert(start, random(dice)),
        2 => bytes[start..end].fill(random(dice)),
        _ => bytes.truncate(start),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Numbers at which something may change.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "7",
    "8",
    "15",
    "31",
    "32",
    "33",
    "63",
    "64",
    "254",
    "255",
    "256",
    "1000",
    "32767",
    "32768",
    "65535",
    "65536",
    "70000",
    "100000",
    "16777216",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "99999999999999999999",
    "(-1)",
    "(-2)",
    "(-128)",
    "(-32769)",
    "(-2147483647)",
    "(-2147483647-1)",
    "'a'",
    "'\\0'",
];

const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "==", "!=", "<", ">", "<=",
    ">=",
];

const TYPES: &[&str] = &["bit", "bool", "byte", "short", "int", "chan", "mtype", "pid", "unsigned"];

const WORDS: &[&str] = &[
    "!",
    "!!",
    "#",
    "##",
    "$",
    "(",
    ")",
    ",",
    "->",
    ".",
    "..",
    ":",
    "::",
    ";",
    "=",
    "?",
    "??",
    "@",
    "D_proctype",
    "U",
    "V",
    "W",
    "X",
    "[",
    "[]",
    "\"",
    "\\",
    "\n",
    "]",
    "_",
    "_last",
    "_nr_pr",
    "_pid",
    "_priority",
    "accept",
    "active",
    "always",
    "assert",
    "atomic",
    "break",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "end",
    "eval",
    "eventually",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "implies",
    "in",
    "init",
    "inline",
    "len",
    "local",
    "ltl",
    "nempty",
    "never",
    "next",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "print",
    "printf",
    "printm",
    "priority",
    "proctype",
    "progress",
    "provided",
    "release",
    "return",
    "run",
    "select",
    "set_priority",
    "show",
    "skip",
    "stronguntil",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "until",
    "weakuntil",
    "xr",
    "xs",
    "{",
    "}",
    "~",
    "/*",
    "*/",
    "//",
    "'",
    "%",
    "--",
    "++",
    "<->",
    "<>",
    "é",
    "\u{0}",
    "\r",
    "\t",
];

/// Statements; `NAME` and `NUMBER` stand for any.
const STATEMENTS: &[&str] = &[
    "NAME = NAME << NUMBER;",
    "NAME = NUMBER >> NAME;",
    "NAME = NUMBER / NAME;",
    "NAME = NUMBER % NUMBER;",
    "NAME = NUMBER * NUMBER + NAME;",
    "NAME = -(NUMBER);",
    "NAME++;",
    "NAME--;",
    "NAME[NUMBER] = NAME;",
    "NAME = NAME[NAME];",
    "NAME.NAME = NUMBER;",
    "NAME!NUMBER;",
    "NAME!NAME,NUMBER;",
    "NAME!!NAME(NUMBER);",
    "NAME?NAME;",
    "NAME??eval(NAME),_;",
    "NAME?<NAME>;",
    "NAME??[NUMBER];",
    "len(NAME) > NUMBER;",
    "run NAME();",
    "run NAME(NUMBER, NAME);",
    "NAME = run NAME() priority NUMBER;",
    "set_priority(_pid, NUMBER);",
    "set_priority(NUMBER, get_priority(NUMBER));",
    "enabled(NUMBER);",
    "NAME[NUMBER]@NAME;",
    "NAME:NAME == NUMBER;",
    "_last = NUMBER;",
    "_ = NUMBER;",
    "NAME = _;",
    "_nr_pr < NUMBER;",
    "printf(\"%d %x %o %u %c %e %s %f %ld %-9d %% %\\n\\t\\q\", NAME, NUMBER);",
    "printf(\"%999999999d\", NUMBER);",
    "printf(\"%\");",
    "printm(NAME);",
    "assert(NAME);",
    "assert(NUMBER <= NAME);",
    "atomic { NAME = NUMBER; NAME == NAME };",
    "d_step { NAME = NUMBER; NAME++ };",
    "atomic { do :: NAME++ od };",
    "d_step { do :: NAME = NAME od };",
    "{ NAME = NUMBER } unless { NAME };",
    "do :: NAME = NAME + 1 :: break od;",
    "if :: NAME :: else fi;",
    "if :: timeout :: NAME?NAME fi;",
    "for (NAME : NUMBER .. NUMBER) { skip };",
    "for (NAME in NAME) { NAME++ };",
    "select (NAME : NUMBER .. NUMBER);",
    "NAME: skip;",
    "end_NAME: accept_NAME: progress_NAME: skip;",
    "goto NAME;",
    "NAME(NAME, NUMBER);",
    "xr NAME;",
    "int NAME = NUMBER;",
    "byte fuzz_local[NUMBER];",
    "chan fuzz_chan = [NUMBER] of { byte, chan };",
    "NAME = (NAME -> NUMBER : NAME);",
    "c_code { NAME = NUMBER; };",
];

/// Declarations; `NAME` and `NUMBER` stand for any, `TYPE` for any type.
const DECLARATIONS: &[&str] = &[
    "TYPE fuzz_v = NUMBER;",
    "TYPE fuzz_a[NUMBER];",
    "TYPE fuzz_b[NUMBER] = NUMBER;",
    "TYPE NAME;",
    "hidden TYPE fuzz_h[NUMBER];",
    "local TYPE fuzz_l = NAME;",
    "unsigned fuzz_u : NUMBER = NUMBER;",
    "typedef Fuzz { TYPE f[NUMBER]; TYPE g }; Fuzz fuzz_s[NUMBER];",
    "typedef FuzzA { int f[64] }; typedef FuzzB { FuzzA f[64] }; typedef FuzzC { FuzzB f[64] }; \
     FuzzC fuzz_t[NUMBER];",
    "chan fuzz_c = [NUMBER] of { TYPE, TYPE };",
    "chan fuzz_d[NUMBER] = [NUMBER] of { TYPE };",
    "chan fuzz_e = [NUMBER] of { NAME };",
    "mtype = { NAME, fuzz_m };",
    "mtype:NAME = { fuzz_n };",
    "active [NUMBER] proctype FuzzP() { NAME = NUMBER }",
    "active proctype FuzzQ() { run FuzzQ() }",
    "active proctype FuzzR() { pid p; do :: p = run FuzzR(); NAME = p :: break od }",
    "active proctype FuzzS() priority NUMBER provided (NAME) { skip; NAME = NUMBER }",
    "active proctype FuzzT() { atomic { do :: NAME++ :: NAME?NAME od } }",
    "D_proctype FuzzU(TYPE NAME; chan fuzz_p) { do :: fuzz_p!NAME :: fuzz_p?NAME od }",
    "init { NAME = NUMBER; run NAME(NUMBER) }",
    "never { do :: NAME == NUMBER -> break :: true od }",
    "never { accept: do :: !NAME od }",
    "trace { do :: NAME!_ :: NAME?NUMBER od }",
    "notrace { NAME!NUMBER; NAME?_ }",
    "ltl fuzz_f { [] (NAME -> <> (NAME == NUMBER)) }",
    "inline fuzz_i(x, y) { x = y; fuzz_i(x, y) }",
    "inline fuzz_j(x) { return x + NUMBER }",
    "#define NAME NUMBER\n",
    "#define NAME NAME NAME\n",
    "#define NAME(x) x NAME(x x)\n",
    "#define fuzz_x(a, b) a ## b #a\n",
    "#define fuzz_y fuzz_x(NAME, fuzz_x(NUMBER,)) \\\n fuzz_y\n",
    "#undef NAME\n",
    "#if NUMBER / NAME - NUMBER % NUMBER << NUMBER\n",
    "#ifdef NAME\n",
    "#ifndef NAME\n#else\n",
    "#elif NAME\n",
    "#endif\n",
    "#include \"NAME\"\n",
    "#include __FILE__\n",
    "#line NUMBER \"NAME\"\n",
    "#error NAME\n",
    "#pragma once\n",
];

/// What nests: before, after.
const NESTS: &[(&str, &str)] = &[
    ("(", ")"),
    ("{ ", " }"),
    ("[", "]"),
    ("!", ""),
    ("-", ""),
    ("~", ""),
    ("if :: ", " fi;"),
    ("do :: ", " od;"),
    ("atomic { ", " }"),
    ("d_step { ", " }"),
    ("{ skip } unless { ", " }"),
    ("NAME[", "]"),
    ("NAME(", ")"),
    ("(1 -> ", " : 0)"),
    ("1 + ", ""),
    ("1 && ", ""),
    ("NAME = ", ""),
    ("NAME!", ""),
    ("NAME.", ""),
    ("NAME: ", ""),
    ("[] ", ""),
    ("X ", ""),
    ("(NAME U ", ")"),
    ("NAME, ", ""),
    ("else -> ", ""),
    ("#if 1\n", "\n#endif\n"),
    ("/*", "*/"),
    ("c_code { ", " }"),
    ("typedef T { ", " }"),
];

/// A mutant in the making.
struct Mutant<'a> {
    /// Its text in words, white space and comments.
    pieces: Vec<String>,
    corpus: &'a Corpus,
    dice: Dice,
}

impl Mutant<'_> {
    /// Keeps the mutant from being too long.
    fn cut(&mut self) {
        let bytes: usize = self.pieces.iter().map(String::len).sum();
        if bytes > MAX_BYTES {
            let mut text = self.pieces.concat();
            cut(&mut text);
            self.pieces = pieces(&text);
        }
    }

    /// A change after which the model may still load.
    fn gentle(&mut self) {
        match self.dice.below(10) {
            0..=2 => self.replace(|piece| piece.starts_with(|c: char| c.is_ascii_digit()), NUMBERS),
            3 => self.replace(|piece| OPERATORS.contains(&piece), OPERATORS),
            4 => self.replace(|piece| TYPES.contains(&piece), TYPES),
            5 => {
                let name = self.name();
                self.replace(is_name, &[&name]);
            }
            6 => self.insert_template(DECLARATIONS, |piece| piece == "proctype" || piece == "init"),
            _ => self.insert_template(STATEMENTS, |piece| piece == ";" || piece == "->"),
        }
    }

    /// Any change.
    fn wild(&mut self) {
        match self.dice.below(9) {
            0 => drop(self.take_slice(20)),
            1 => {
                let slice = self.slice(30);
                self.insert(slice);
            }
            2 => {
                let (a, b) = (self.place(), self.place());
                if !self.pieces.is_empty() {
                    let last = self.pieces.len() - 1;
                    self.pieces.swap(a.min(last), b.min(last));
                }
            }
            3 => {
                let other = self.corpus.pick(&mut self.dice);
                let other = pieces(&other.text);
                let start = self.dice.below(other.len());
                let end = (start + self.dice.range(1, 100)).min(other.len());
                self.insert(other[start..end].to_vec());
            }
            4 => {
                let lists = [(4, WORDS), (1, OPERATORS), (1, TYPES), (1, NUMBERS)];
                for _ in 0..self.dice.range(1, 4) {
                    let list = self.dice.weighted(&lists);
                    let word = self.dice.pick(list).map(|word| format!(" {word} "));
                    self.insert(word.into_iter().collect());
                }
            }
            5 => self.nest(),
            6 => self.repeat(),
            7 => self.insert_template(DECLARATIONS, |_| true),
            _ => self.gentle(),
        }
    }

    /// A place between pieces.
    fn place(&mut self) -> usize {
        self.dice.below(self.pieces.len() + 1)
    }

    fn range(&mut self, longest: usize) -> std::ops::Range<usize> {
        let start = self.place();
        start..(start + self.dice.range(1, longest)).min(self.pieces.len())
    }

    fn slice(&mut self, longest: usize) -> Vec<String> {
        let range = self.range(longest);
        self.pieces[range].to_vec()
    }

    fn take_slice(&mut self, longest: usize) -> Vec<String> {
        let range = self.range(longest);
        self.pieces.drain(range).collect()
    }

    fn insert(&mut self, pieces: Vec<String>) {
        let at = self.place();
        self.pieces.splice(at..at, pieces);
    }

    /// Replaces one of the pieces that are meant.
    fn replace(&mut self, meant: impl Fn(&str) -> bool, by: &[&str]) {
        let places: Vec<usize> =
            (0..self.pieces.len()).filter(|&at| meant(&self.pieces[at])).collect();
        if let (Some(&at), Some(by)) = (self.dice.pick(&places), self.dice.pick(by)) {
            self.pieces[at] = (*by).to_owned();
        }
    }

    /// A name of the model.
    fn name(&mut self) -> String {
        let names: Vec<&String> = self.pieces.iter().filter(|piece| is_name(piece)).collect();
        self.dice.pick(&names).map_or_else(|| "x".to_owned(), |name| (*name).clone())
    }

    fn fill(&mut self, template: &str) -> String {
        let pick = |list: &[&str], dice: &mut Dice| (*dice.pick(list).unwrap_or(&"1")).to_owned();
        let mut text = String::new();
        for piece in pieces(template) {
            text += &match piece.as_str() {
                "NAME" => self.name(),
                "NUMBER" => pick(NUMBERS, &mut self.dice),
                "TYPE" => pick(TYPES, &mut self.dice),
                _ => piece,
            };
        }
        text
    }

    /// Puts a text in near one of the pieces that are meant: after a sign, before a word.
    fn insert_template(&mut self, templates: &[&str], meant: impl Fn(&str) -> bool) {
        let places: Vec<usize> =
            (0..self.pieces.len()).filter(|&at| meant(&self.pieces[at])).collect();
        let Some(&template) = self.dice.pick(templates) else {
            return;
        };
        let text = self.fill(template);
        let at = self.dice.pick(&places).copied().unwrap_or(0);
        let word = self.pieces.get(at).is_some_and(|it| it.starts_with(char::is_alphabetic));
        // A declaration stands at the start of a line, and `active` belongs to what comes after it.
        let line = |piece: &String| piece.contains('\n');
        let before = self.pieces[..at].iter().rposition(line).map_or(0, |at| at + 1);
        let at = if word { before } else { (at + 1).min(self.pieces.len()) };
        let text = if text.starts_with('#') { format!("\n{text}") } else { format!(" {text} ") };
        self.pieces.insert(at, text);
    }

    /// Puts a slice deep into something.
    fn nest(&mut self) {
        let levels = [3, 30, 300, 3000, 30_000];
        let levels = *self.dice.pick(&levels).unwrap_or(&3);
        let Some(&(before, after)) = self.dice.pick(NESTS) else {
            return;
        };
        let (before, after) = (self.fill(before), after.to_owned());
        let range = self.range(6);
        self.pieces.insert(range.end, after.repeat(levels));
        self.pieces.insert(range.start, before.repeat(levels));
    }

    /// Puts a slice in many times.
    fn repeat(&mut self) {
        let slice = self.slice(12).concat();
        let times = [10, 100, 1000, 10_000];
        let times = *self.dice.pick(&times).unwrap_or(&10);
        let times = times.min(MAX_BYTES / slice.len().max(1));
        self.insert(vec![slice.repeat(times)]);
    }
}

fn is_name(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !WORDS.contains(&piece)
        && !TYPES.contains(&piece)
}

/// Cuts a text into words, white space and comments.
pub fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = |is_in: fn(char) -> bool| rest.find(|c| !is_in(c)).unwrap_or(rest.len());
        let after = |end: &str, start: usize| {
            let found = rest.get(start..).and_then(|it| it.find(end));
            found.map_or(rest.len(), |at| start + at + end.len())
        };
        let end = match first {
            c if c.is_whitespace() => length(char::is_whitespace),
            c if c.is_alphabetic() || c == '_' => length(|c| c.is_alphanumeric() || c == '_'),
            c if c.is_ascii_digit() => length(|c| c.is_ascii_digit()),
            '"' => after("\"", 1),
            '/' if rest.starts_with("/*") => after("*/", 2),
            '/' if rest.starts_with("//") => after("\n", 2),
            c => {
                let signs =
                    ["->", "::", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "!!", "??"];
                if signs.iter().any(|sign| rest.starts_with(sign)) { 2 } else { c.len_utf8() }
            }
        };
        let (piece, after) = rest.split_at(end);
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_text_again() {
        let text = "byte x=1; /* é */ x++ -> \"a b\" // end\n 12ab 'c' /* open";
        assert_eq!(pieces(text).concat(), text);
        assert!(pieces(text).contains(&"/* é */".to_owned()));
        assert!(pieces(text).contains(&"->".to_owned()));
    }

    #[test]
    fn a_seed_gives_the_same_mutant() {
        let text = "byte x;\nactive proctype P() { x = 1; if :: x > 2 -> skip fi }\n".to_owned();
        let corpus = Corpus(vec![Text { path: "a.pml".into(), text: text.clone() }]);
        let mut different = 0;
        for seed in 0..300 {
            let mutant = corpus.mutant(seed).text;
            assert!(mutant.len() <= MAX_BYTES);
            assert_eq!(mutant, corpus.mutant(seed).text);
            different += usize::from(mutant != text);
        }
        assert!(different > 200);
    }
}
