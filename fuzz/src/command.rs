//! Helpers of the targets that classify commands.

use std::ops::Range;

/// The bytes as text. Invalid UTF-8 is replaced, because a plan file contains only text.
pub fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Asserts that a span is inside the command and on character boundaries.
pub fn check_place(command: &str, place: &Range<usize>) {
    assert!(command.get(place.clone()).is_some(), "no such place: {place:?} in {command:?}");
}
