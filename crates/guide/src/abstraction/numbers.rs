//! Numbers of some rows of values.
//!
//! They are asked for in every state. So there is a table with a place for each row of values between the least and the largest
//! of each column, if that is not much larger than all rows that have a number.

use rustc_hash::FxHashMap;

use super::merge::NOWHERE;

/// Places of a table: at least, and for each row.
const PLACES: [u64; 2] = [1 << 12, 1 << 6];

/// Rows of the same length, each with a number.
#[derive(Debug)]
pub enum Numbers {
    Table {
        /// By column: the least value, and how many there are from there to the largest.
        columns: Vec<(i32, u32)>,
        /// The last column runs fastest.
        table: Vec<u32>,
    },
    Map(FxHashMap<Vec<i32>, u32>),
}

impl Numbers {
    pub fn new(rows: Vec<(Vec<i32>, u32)>) -> Self {
        let mut columns = Vec::new();
        let mut places = 1_u64;
        for column in 0..rows.first().map_or(0, |it| it.0.len()) {
            let values = || rows.iter().map(|it| it.0[column]);
            let (least, most) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
            let count = most.wrapping_sub(least) as u32;
            places = places.saturating_mul(u64::from(count) + 1);
            columns.push((least, count.saturating_add(1)));
        }
        let [least, by_row] = PLACES;
        if places > least.max(by_row * rows.len() as u64) {
            return Self::Map(rows.into_iter().collect());
        }
        let mut table = vec![NOWHERE; places as usize];
        for (row, number) in rows {
            if let Some(at) = place(&columns, row.into_iter()) {
                table[at] = number;
            }
        }
        Self::Table { columns, table }
    }

    /// The number of a row, if it has one.
    pub fn find(&self, row: impl Iterator<Item = i32>, room: &mut Vec<i32>) -> Option<u32> {
        match self {
            Self::Table { columns, table } => {
                let number = table.get(place(columns, row)?).copied();
                number.filter(|it| *it != NOWHERE)
            }
            Self::Map(numbers) => {
                room.clear();
                room.extend(row);
                numbers.get(room).copied()
            }
        }
    }
}

/// Where a row is in a table, if its values are between the least and the largest.
fn place(columns: &[(i32, u32)], row: impl Iterator<Item = i32>) -> Option<usize> {
    let mut place = 0;
    for (&(least, count), value) in columns.iter().zip(row) {
        let value = value.wrapping_sub(least) as u32;
        if value >= count {
            return None;
        }
        place = place * count as usize + value as usize;
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_numbers_that_they_were_given() {
        let find =
            |numbers: &Numbers, row: &[i32]| numbers.find(row.iter().copied(), &mut Vec::new());
        for far in [3, i32::MAX] {
            let rows = [vec![-2, 7], vec![0, i32::MIN], vec![far, i32::MIN], vec![far, 7]];
            let numbers = Numbers::new(rows.iter().cloned().zip(0..).collect());
            for (row, number) in rows.iter().zip(0..) {
                assert_eq!(find(&numbers, row), Some(number), "{row:?}");
            }
            for row in [[-2, i32::MIN], [0, 7], [-3, 7], [far, 8], [far.wrapping_add(1), 7]] {
                assert_eq!(find(&numbers, &row), None, "{row:?}");
            }
        }
        let rows = [vec![-2, 7, 1], vec![0, 5, 1], vec![3, 5, 1]];
        let numbers = Numbers::new(rows.iter().cloned().zip(4..).collect());
        assert!(matches!(&numbers, Numbers::Table { table, .. } if table.len() == 18));
        for (row, number) in [([-2, 7, 1], Some(4)), ([3, 5, 1], Some(6)), ([3, 7, 1], None)] {
            assert_eq!(find(&numbers, &row), number);
        }
        assert_eq!(find(&Numbers::new(vec![(Vec::new(), 3)]), &[]), Some(3));
        assert_eq!(find(&Numbers::new(Vec::new()), &[]), None);
    }
}
