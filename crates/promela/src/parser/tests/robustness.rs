//! Whatever the text, the parser ends, without a panic.

use super::*;

/// Parses every file named by the environment, as preprocessed text.
#[test]
fn corpus_probe() {
    let Ok(list) = std::env::var("CORPUS") else {
        return;
    };
    for path in list.split_whitespace() {
        let text = std::fs::read_to_string(path).unwrap();
        let m = mistakes(&text);
        if !m.is_empty() {
            println!("== {path}\n{m}");
        }
    }
}
