//! What every answer about a command has to keep.

use std::ops::Range;

/// The text of the bytes, as a plan file would hold it.
pub fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// A place lies in the command and cuts no character.
pub fn check_place(command: &str, place: &Range<usize>) {
    assert!(command.get(place.clone()).is_some(), "no such place: {place:?} in {command:?}");
}
