//! White space is put in order, and nothing else changes: on `models/`, and on the models of a folder
//! named by `SPINWARD_CORPUS`.

use std::path::{Path, PathBuf};

use expect_test::expect;
use proptest::prelude::*;
use spinward_promela::preprocess::{Options, preprocess, read_file, words};
use spinward_promela::pretty::{Indent, layout};
use spinward_promela::{SourceMap, token};

const TABS: Indent = Indent { width: 8, tabs: true };

fn models() -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")];
    folders.extend(std::env::var_os("SPINWARD_CORPUS").map(PathBuf::from));
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let known = ["pml", "prom", "pr", "prm", "inc", "h"];
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| known.iter().any(|known| e == *known)) {
                let text = read_file(&path).expect("a readable model");
                found.push((path, text));
            }
        }
    }
    assert!(found.len() > 50);
    found
}

/// The words of a model after preprocessing, and whether a line begins before each.
fn tokens(path: &Path, text: &str) -> Vec<(token::TokenKind, bool)> {
    let mut source = SourceMap::default();
    let file = source.add_file(path.to_owned(), text.to_owned(), None);
    let (tokens, _) = preprocess(&mut source, file, &Options::default());
    tokens.into_iter().map(|token| (token.kind, token.after_newline)).collect()
}

/// All that is no white space, comments included.
fn ink(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The words as they are written.
fn spelled(text: &str) -> Vec<&str> {
    words(text).into_iter().map(|word| &text[word.range]).collect()
}

#[test]
fn models_keep_their_words_comments_and_lines() {
    for (path, text) in models() {
        for indent in [Indent::default(), TABS] {
            let made = layout(&text, indent);
            assert_eq!(spelled(&text), spelled(&made), "{path:?}");
            assert_eq!(tokens(&path, &text), tokens(&path, &made), "{path:?}");
            assert_eq!(ink(&text), ink(&made), "{path:?}");
            assert_eq!(text.matches('\n').count(), made.matches('\n').count(), "{path:?}");
            assert_eq!(layout(&made, indent), made, "{path:?}: again");
        }
    }
}

#[test]
fn models_without_any_white_space_left_of_lines_are_indented_again() {
    for (path, text) in models() {
        let made = layout(&text, Indent::default());
        let flat: String = text.lines().map(|line| format!("{}\n", line.trim_start())).collect();
        let again = layout(&flat, Indent::default());
        let indents = |text: &str| -> Vec<(usize, String)> {
            let words = words(text);
            // Lines that begin with a word of the model; comments keep their own shape.
            let first = words.iter().filter(|word| {
                let line = text[..word.range.start].rfind('\n').map_or(0, |at| at + 1);
                !word.directive && text[line..word.range.start].trim().is_empty()
            });
            let column = |at: usize| at - text[..at].rfind('\n').map_or(0, |at| at + 1);
            let shown =
                first.map(|word| (column(word.range.start), text[word.range.clone()].to_owned()));
            shown.filter(|(_, word)| word != "\n").collect()
        };
        // Lines of embedded C are not ours.
        if !text.contains("c_code") && !text.contains("c_decl") && !text.contains("c_expr") {
            assert_eq!(indents(&made), indents(&again), "{path:?}");
        }
    }
}

#[test]
fn one_style() {
    let text = "\
mtype={red,green};
   chan c=[2]of{byte,mtype};   // a channel
#ifdef   A
 byte    x  ;
#else
#define LONG(a) \\
     a
#endif
/* Before it,
 * in two lines. */
active [2] proctype P ( byte a ; chan d )
{
byte x , y=-1;   /* behind */

again:
  do
      ::c!x,red->x=x+1 ; y--
      :: c?x , red ->
      /* about the choice */
      if
      ::x>0&&
      ! y -> d?<x>
      ::else
      fi
      /* the last */
      :: atomic{ x=(x
        +1)*2;
        y = 0 }
      :: a -> if
      :: c??eval(x),_ -> break
      fi
      od;
      P[1]@again ; for(x:1..3){
   skip
     }
}
ltl p {[]<>(x==1)&&<>!q U (r)}
c_decl {
  int   kept;
}
";
    let made = layout(text, Indent::default());
    expect![[r#"
        mtype = { red, green };
        chan c = [2] of { byte, mtype };  // a channel
        #ifdef   A
        byte    x  ;
        #else
        #define LONG(a) \
             a
        #endif
        /* Before it,
         * in two lines. */
        active [2] proctype P(byte a; chan d)
        {
            byte x, y = -1;  /* behind */

            again:
            do
            :: c!x, red -> x = x + 1; y--
            :: c?x, red ->
                /* about the choice */
                if
                :: x > 0 &&
                        !y -> d?<x>
                :: else
                fi
            /* the last */
            :: atomic { x = (x
                        + 1) * 2;
                    y = 0 }
            :: a -> if
                :: c??eval(x), _ -> break
                fi
            od;
            P[1]@again; for (x:1 .. 3) {
                skip
            }
        }
        ltl p { []<> (x == 1) && <> !q U (r) }
        c_decl {
          int   kept;
        }
    "#]]
    .assert_eq(&made);
}

#[test]
fn lines_of_other_kinds_stay_as_they_are() {
    // Returns that end no line, strings that do not end, what is no word, nothing.
    for text in ["byte x\r= 1;", "", "\n\n", "  \"abc", "§ §"] {
        let made = layout(text, Indent::default());
        assert_eq!(ink(text), ink(&made));
    }
    assert_eq!(layout("byte x\r = 1;", Indent::default()), "byte x\r = 1;");
    assert_eq!(layout("  byte x;\r\n\tbyte y;\r\n", Indent::default()), "byte x;\r\nbyte y;\r\n");
    let deep = "{\n".repeat(20_000);
    assert!(layout(&deep, Indent::default()).len() < 6_000_000);
}

proptest! {
    #[test]
    fn any_text_keeps_its_words(text in "([a-c]|if|fi|do|od|::|->|[{}()\\[\\];,:!?<>=+*/ \"'#\\\\-]|/\\*|\\*/|//|\n|\t|\r\n| ){0,60}") {
        let made = layout(&text, Indent::default());
        prop_assert_eq!(spelled(&text), spelled(&made));
        prop_assert_eq!(ink(&text), ink(&made));
        prop_assert_eq!(text.matches('\n').count(), made.matches('\n').count());
        prop_assert_eq!(layout(&made, Indent::default()), made);
    }
}
