//! Numbers and long texts for sentences.

use std::any::Any;
use std::time::Duration;

use crate::plan::visible_lines;

/// `line` or `lines`.
pub fn lines(count: usize) -> &'static str {
    if count == 1 { "line" } else { "lines" }
}

/// A size for messages: bytes below 1,000, else KB, MB or GB with one decimal.
pub fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
    for (unit, name) in units {
        if bytes >= unit {
            let tenths = bytes / (unit / 10);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} {}", if bytes == 1 { "byte" } else { "bytes" })
}

/// A duration for messages: whole minutes, else whole seconds, else milliseconds.
pub fn duration(time: Duration) -> String {
    let (seconds, millis) = (time.as_secs(), time.as_millis());
    let (count, unit) = match () {
        () if seconds >= 60 && millis.is_multiple_of(60_000) => (seconds / 60, "minute"),
        () if seconds >= 1 && millis.is_multiple_of(1_000) => (seconds, "second"),
        () => return format!("{millis} ms"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// The maximum size of a text that a message repeats, in bytes.
const REPEATED_BYTES: usize = 500;

/// The text, or its beginning if it is too long to repeat in a message.
pub fn beginning(text: &str) -> String {
    match text.get(..text.floor_char_boundary(REPEATED_BYTES)) {
        Some(beginning) if beginning.len() < text.len() => format!("{beginning}…"),
        _ => text.to_owned(),
    }
}

/// The message of a panic with invisible characters made visible: it may quote a plan or an output.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.map_or_else(|| "a panic without a message".to_owned(), visible_lines)
}
