//! Keys as words of eight bytes.

/// The words of a key, the last with the rest of its bytes and their number.
#[inline]
pub(crate) fn words_of(key: &[u8]) -> impl Iterator<Item = u64> {
    let (words, rest) = key.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = rest.len() as u8;
    words.iter().map(|&word| u64::from_le_bytes(word)).chain([u64::from_le_bytes(last)])
}
