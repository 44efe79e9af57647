//! The words that cannot be names.

/// Whether a word is reserved everywhere. `in` is not: it means something in a `for` only.
#[rustfmt::skip]
pub fn is_keyword(word: &str) -> bool {
    is_type(word)
        || starts_unit(word)
        || matches!(
            word,
            "assert" | "atomic" | "break" | "c_code" | "c_decl" | "c_expr" | "c_state" | "c_track"
                | "do" | "else" | "empty" | "enabled" | "eval" | "false" | "fi" | "for" | "full"
                | "get_priority" | "goto" | "hidden" | "if" | "len" | "local" | "nempty" | "nfull"
                | "np_" | "od" | "of" | "pc_value" | "printf" | "printm" | "priority" | "provided"
                | "return" | "run" | "d_step" | "select" | "set_priority" | "skip" | "timeout"
                | "true" | "show" | "unless" | "xr" | "xs"
        )
}

/// Whether a word is reserved in temporal formulas.
#[rustfmt::skip]
pub(crate) fn is_temporal(word: &str) -> bool {
    matches!(
        word,
        "U" | "V" | "W" | "X" | "always" | "eventually" | "until" | "stronguntil" | "weakuntil"
            | "release" | "next" | "implies" | "equivalent"
    )
}

/// Whether a word names a basic type.
pub(super) fn is_type(word: &str) -> bool {
    matches!(
        word,
        "bit" | "bool" | "byte" | "chan" | "int" | "mtype" | "pid" | "short" | "unsigned"
    )
}

/// Whether a word begins a unit and can stand nowhere else: what follows an unclosed body.
pub(super) fn starts_unit(word: &str) -> bool {
    UNIT_WORDS.contains(&word)
}

/// The words that [`starts_unit`] knows.
pub(super) const UNIT_WORDS: [&str; 10] = [
    "active",
    "proctype",
    "D_proctype",
    "init",
    "never",
    "trace",
    "notrace",
    "ltl",
    "inline",
    "typedef",
];

/// The one of `words` that `word` was probably meant to be.
pub(super) fn closest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let allowed = word.len() / 3;
    words
        .into_iter()
        .filter(|candidate| word.len() <= 2 * candidate.len())
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(distance, _)| (1..=allowed).contains(distance))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be inserted, removed or changed to turn one word into the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_word_that_was_meant() {
        assert_eq!(closest("proctpye", UNIT_WORDS), Some("proctype"));
        assert_eq!(closest("notrac", UNIT_WORDS), Some("notrace"));
        assert_eq!(closest("banana", UNIT_WORDS), None);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
