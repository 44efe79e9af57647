//! Keys as words of eight bytes.

/// The words of a key, the last with the rest of its bytes and their number.
#[inline]
pub(crate) fn words_of(key: &[u8]) -> impl Iterator<Item = u64> {
    let (words, rest) = key.as_chunks::<8>();
    // The last eight bytes, without those that belong to the word before.
    let last = match key.last_chunk::<8>() {
        _ if rest.is_empty() => 0,
        Some(&last) => u64::from_le_bytes(last) >> (64 - 8 * rest.len()),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    let last = last | (rest.len() as u64) << 56;
    words.iter().map(|&word| u64::from_le_bytes(word)).chain([last])
}

/// The key of these words, which replaces what is in `out`.
#[inline]
pub(crate) fn spell(words: &[u64], out: &mut Vec<u8>) {
    out.clear();
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
    let rest = out.last().map_or(0, |&rest| usize::from(rest));
    out.truncate(out.len() - 8 + rest);
}
