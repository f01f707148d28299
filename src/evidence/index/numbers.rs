//! Numbers of words in one column: four bytes for each, little-endian.

use crate::evidence::error::Result;
use crate::evidence::rows::unreadable;

/// The column for these numbers.
///
/// # Errors
/// When a number has more than four bytes.
pub(super) fn column(numbers: impl IntoIterator<Item = i64>) -> Result<Vec<u8>> {
    let mut column = Vec::new();
    for number in numbers {
        column.extend(u32::try_from(number).map_err(unreadable)?.to_le_bytes());
    }
    Ok(column)
}

/// The numbers in a column.
pub(in crate::evidence) fn numbers(column: &[u8]) -> impl Iterator<Item = usize> {
    let (numbers, _) = column.as_chunks::<4>();
    numbers.iter().map(|bytes| u32::from_le_bytes(*bytes) as usize)
}
