//! What changes a state into another, and back.
//!
//! *Idea*: a step changes few bytes, so the exclusive or of two states is mostly zero, and it leads
//! from each of them to the other. A delta has the bytes by which the longer state is longer, and
//! then, for each run of bytes that differ, how many before it do not, how many there are, and their
//! exclusive or. Numbers are in groups of seven bits.
//!
//! *Cost*: some three bytes and those that differ, for each run; at worst little more than the state.

/// Bytes that do not differ cut a run in two if there are so many.
const GAP: usize = 3;

/// Appends what changes `from` into `to` to `out`.
pub fn encode(from: &[u8], to: &[u8], out: &mut Vec<u8>) {
    let common = from.len().min(to.len());
    let grows = to.len() > from.len();
    let tail = if grows { &to[common..] } else { &from[common..] };
    push_number(tail.len() * 2 + usize::from(grows), out);
    out.extend_from_slice(tail);
    let (from, to) = (&from[..common], &to[..common]);
    let mut done = 0;
    while let Some(start) = difference(from, to, done) {
        let mut end = start + 1;
        let mut next = end;
        while next < common && next < end + GAP {
            if from[next] != to[next] {
                end = next + 1;
            }
            next += 1;
        }
        push_number(start - done, out);
        push_number(end - start, out);
        out.extend(from[start..end].iter().zip(&to[start..end]).map(|(from, to)| from ^ to));
        done = end;
    }
}

/// Where two strings of one length first differ, from here on.
fn difference(from: &[u8], to: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let word = |bytes: &[u8], at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    while let Some(change) = word(from, at).zip(word(to, at)).map(|(one, other)| one ^ other) {
        if change != 0 {
            return Some(at + change.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    (at..from.len()).find(|&at| from[at] != to[at])
}

/// Changes the one state into the other.
pub fn apply(delta: &[u8], state: &mut Vec<u8>) {
    let (tail, grows, runs) = parts(delta);
    exchange(runs, state);
    resize(tail, grows, state);
}

/// Changes the other state back into the one.
pub fn undo(delta: &[u8], state: &mut Vec<u8>) {
    let (tail, grows, runs) = parts(delta);
    resize(tail, !grows, state);
    exchange(runs, state);
}

/// The bytes by which the longer state is longer, whether that is the second, and the runs.
fn parts(mut delta: &[u8]) -> (&[u8], bool, &[u8]) {
    let number = take_number(&mut delta);
    let (tail, runs) = delta.split_at(number / 2);
    (tail, number % 2 == 1, runs)
}

fn resize(tail: &[u8], grows: bool, state: &mut Vec<u8>) {
    if grows {
        state.extend_from_slice(tail);
    } else {
        state.truncate(state.len() - tail.len());
    }
}

fn exchange(mut runs: &[u8], state: &mut [u8]) {
    let mut done = 0;
    while !runs.is_empty() {
        let start = done + take_number(&mut runs);
        done = start + take_number(&mut runs);
        let (bytes, rest) = runs.split_at(done - start);
        runs = rest;
        for (byte, change) in state[start..done].iter_mut().zip(bytes) {
            *byte ^= change;
        }
    }
}

/// Appends a number in groups of seven bits.
pub fn push_number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The number at the beginning, which is taken off.
#[inline]
pub fn take_number(bytes: &mut &[u8]) -> usize {
    // Most are small.
    if let Some((&byte, rest)) = bytes.split_first()
        && byte < 0x80
    {
        *bytes = rest;
        return byte.into();
    }
    take_long_number(bytes)
}

fn take_long_number(bytes: &mut &[u8]) -> usize {
    let mut number = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn there_and_back(
            from in prop::collection::vec(0..3u8, 0..400),
            changes in prop::collection::vec((0..400usize, 0..3u8), 0..20),
            length in prop::option::of(0..400usize),
        ) {
            let mut to = from.clone();
            to.resize(length.unwrap_or(from.len()), 7);
            for (place, value) in changes {
                if let Some(byte) = to.get_mut(place) {
                    *byte = value;
                }
            }
            let mut delta = Vec::new();
            encode(&from, &to, &mut delta);
            let mut state = from.clone();
            apply(&delta, &mut state);
            prop_assert_eq!(&state, &to);
            undo(&delta, &mut state);
            prop_assert_eq!(&state, &from);
        }
    }

    #[test]
    fn few_changes_take_few_bytes() {
        let from = vec![5; 1000];
        let mut to = from.clone();
        let mut delta = Vec::new();
        encode(&from, &to, &mut delta);
        assert_eq!(delta, [0]);
        to[700] = 6;
        to[702] = 6;
        delta.clear();
        encode(&from, &to, &mut delta);
        assert_eq!(delta, [0, 0xbc, 5, 3, 3, 0, 3]);
    }
}
