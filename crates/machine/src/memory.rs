//! Numbers in a string of bytes.

use spinward_program::ir::Scalar;

/// The number at an offset.
pub fn load(bytes: &[u8], offset: usize, scalar: Scalar) -> i32 {
    match scalar.bytes() {
        1 => i32::from(bytes[offset]),
        2 => {
            let raw = load_u16(bytes, offset);
            if scalar == Scalar::I16 { i32::from(raw as i16) } else { i32::from(raw) }
        }
        _ => load_u32(bytes, offset) as i32,
    }
}

/// Puts what is left of a number after truncation at an offset.
pub fn store(bytes: &mut [u8], offset: usize, scalar: Scalar, value: i32) {
    let value = scalar.truncate(value).to_le_bytes();
    let size = scalar.bytes() as usize;
    bytes[offset..offset + size].copy_from_slice(&value[..size]);
}

/// Two bytes, unsigned.
#[inline]
pub fn load_u16(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(*bytes[offset..].first_chunk().expect("two bytes"))
}

/// Two bytes, unsigned.
pub fn store_u16(bytes: &mut [u8], offset: usize, value: u16) {
    bytes[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
}

/// Four bytes, unsigned.
#[inline]
pub fn load_u32(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(*bytes[offset..].first_chunk().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_number_is_truncated_to_its_type() {
        let cases = [
            (Scalar::Bit, 3, 1),
            (Scalar::U8, 257, 1),
            (Scalar::U8, -1, 255),
            (Scalar::I16, 40000, 40000 - 65536),
            (Scalar::I32, i32::MIN, i32::MIN),
            (Scalar::Unsigned(3), 9, 1),
            (Scalar::Unsigned(12), -1, 4095),
            (Scalar::Unsigned(31), -1, i32::MAX),
        ];
        for (scalar, value, kept) in cases {
            let mut bytes = [0xaa; 6];
            store(&mut bytes, 1, scalar, value);
            assert_eq!(load(&bytes, 1, scalar), kept, "{scalar:?} {value}");
            assert_eq!((bytes[0], bytes[5]), (0xaa, 0xaa), "only its own bytes change");
        }
    }
}
