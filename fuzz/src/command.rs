//! Properties of every answer about a command.

use std::ops::Range;

/// The text of the bytes, as a plan file would hold it.
pub fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Asserts that a place is inside the command and on character boundaries.
pub fn check_place(command: &str, place: &Range<usize>) {
    assert!(command.get(place.clone()).is_some(), "no such place: {place:?} in {command:?}");
}
