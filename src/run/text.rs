//! Formats counts, sizes, durations, long texts and panics for messages.

use std::any::Any;
use std::time::Duration;

use crate::plan::visible_lines;

/// `line` or `lines`.
pub fn lines(count: usize) -> &'static str {
    if count == 1 { "line" } else { "lines" }
}

/// A size in bytes, or in KiB, MiB or GiB with at most one decimal, rounded down.
pub fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..0x400 => return format!("{bytes} {}", if bytes == 1 { "byte" } else { "bytes" }),
        0x400..0x10_0000 => (0x400, "KiB"),
        0x10_0000..0x4000_0000 => (0x10_0000, "MiB"),
        _ => (0x4000_0000, "GiB"),
    };
    match (bytes / unit, bytes % unit * 10 / unit) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenths) => format!("{whole}.{tenths} {name}"),
    }
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

/// A duration in milliseconds, in the unit that fits: `12 ms`, `1.42 s`, `3 min 05 s`, `2 h 10 min`.
pub fn took(ms: i64) -> String {
    let ms = ms.max(0);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{:02} s", ms / 1_000, ms % 1_000 / 10),
        60_000..3_600_000 => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{} h {:02} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// The text with its first letter in upper case.
pub fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next();
    first.into_iter().flat_map(char::to_uppercase).chain(rest).collect()
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

/// An address of a server for people, without user, password, query and fragment, which may be secret.
pub fn address_without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if path.contains('@') {
        // The password may contain a slash, so that its end is unknown.
        return format!("{scheme}…");
    }
    let host = authority.rsplit('@').next().unwrap_or_default();
    let url = if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") };
    let end = url.find(['?', '#']).unwrap_or(url.len());
    format!("{scheme}{}", url.get(..end).unwrap_or_default().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_binary_units() {
        let cases = [
            (1, "1 byte"),
            (1_023, "1023 bytes"),
            (1_536, "1.5 KiB"),
            (16 << 20, "16 MiB"),
            ((1 << 30) - 1, "1023.9 MiB"),
            (4 << 30, "4 GiB"),
            (u64::MAX, "17179869183.9 GiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        for (url, shown) in [
            ("http://localhost:11434/v1", "http://localhost:11434/v1"),
            ("https://me:hunter2@example.com/v1/", "https://example.com/v1"),
            ("https://example.com/v1?key=hunter2", "https://example.com/v1"),
            ("http://me:hunter2@exa mple/v1?key=hunter2", "http://exa mple/v1"),
            ("https://me:hun/hunter2@example.com/v1", "https://…"),
            ("https://me:hun#hunter2@example.com/v1", "https://example.com/v1"),
            ("localhost:11434", "localhost:11434"),
        ] {
            assert_eq!(address_without_secrets(url), shown);
        }
    }
}
