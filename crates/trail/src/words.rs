//! Numbers as people read them, and words as shells take them.

use std::path::Path;

/// A number with its thousands apart: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 state`, `2,000 states`.
pub fn counted(number: u64, word: &str) -> String {
    format!("{} {}", thousands(number), plural(number, word))
}

/// `1 step`, `2 processes`: the word.
pub fn plural(number: u64, word: &str) -> String {
    match number {
        1 => word.to_owned(),
        _ if word.ends_with('s') || word.ends_with("ch") => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/+,@%=:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The path of a file as a shell takes it, and so that no command takes it for an option.
pub fn quoted_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.starts_with('-') { quoted(&format!("./{text}")) } else { quoted(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1000), "1,000");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(counted(1, "state"), "1 state");
        assert_eq!(counted(1500, "state"), "1,500 states");
        assert_eq!(counted(2, "switch"), "2 switches");
        assert_eq!(plural(0, "process"), "processes");
    }

    #[test]
    fn shells_take_words_as_they_are() {
        assert_eq!(quoted("m.pml"), "m.pml");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted_path(Path::new("d q")), "'d q'");
        assert_eq!(quoted_path(Path::new("-x.pml")), "./-x.pml");
    }
}
