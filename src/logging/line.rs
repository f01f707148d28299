//! What a line of the log looks like: `2026-11-29T14:29:30.123Z level room message key=value … pid=number`.

use std::fmt::Write as _;

use jiff::Timestamp;
use log::{Level, Record};

use crate::evidence::hide_secrets;
use crate::plan::quoted;

/// The maximum size of a message that is put into the queue, in bytes. It is larger than a line, so that a secret at the end
/// of a line is recognised as a whole before the line is cut.
const MAX_MESSAGE: usize = 16 << 10;
/// The maximum size of a message in a line, in bytes.
const MAX_LINE: usize = 2 << 10;

/// A message, as it was logged.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) at: Timestamp,
    level: Level,
    /// The room or the library that logged it.
    room: String,
    text: String,
    /// The size of the part of the message that is not in `text`, in bytes.
    cut: usize,
}

impl Message {
    /// The message of this record, at the present time.
    pub(super) fn of(record: &Record<'_>) -> Self {
        let mut names = record.target().split("::");
        let first = names.next().unwrap_or_default();
        let is_own = first == "countersign";
        let room = if is_own { names.next().unwrap_or("main") } else { first };
        let mut text = Limited::default();
        // A message of a library is a value, because it may look like the values of this program.
        let _ = if is_own {
            write!(text, "{}", record.args())
        } else {
            write!(text, "message={:?}", record.args().to_string())
        };
        Self::new(record.level(), room, text)
    }

    /// A message of the log itself.
    pub(super) fn own(level: Level, text: &str) -> Self {
        Self::new(level, "logging", Limited { text: text.to_owned(), cut: 0 })
    }

    fn new(level: Level, room: &str, text: Limited) -> Self {
        let Limited { text, cut } = text;
        #[expect(clippy::disallowed_methods, reason = "the log has the time of the system")]
        let at = Timestamp::now();
        Self { at, level, room: room.to_owned(), text, cut }
    }

    /// The size of the message in the queue, in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.room.len() + self.text.len()
    }

    /// Whether both say the same, at any time.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.level, &self.room, &self.text) == (other.level, &other.room, &other.text)
    }

    /// The line with its line break. Secrets are replaced, and characters that could end the line or hide something in it
    /// are written out.
    pub(super) fn line(&self, process: u32) -> String {
        let redacted = hide_secrets(&self.text);
        let shown = quoted(&redacted);
        let end = shown.floor_char_boundary(MAX_LINE);
        let cut = self.cut + shown.len() - end;
        let level = self.level.as_str().to_ascii_lowercase();
        let at = self.at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        let mut line = format!("{at} {level} {} ", quoted(&self.room));
        line.push_str(shown.get(..end).unwrap_or_default());
        if cut > 0 {
            let _ = write!(line, "… cut={cut}");
        }
        let _ = writeln!(line, " pid={process}");
        line
    }
}

/// A text of at most [`MAX_MESSAGE`] bytes, which counts what is not in it.
#[derive(Default)]
struct Limited {
    text: String,
    cut: usize,
}

impl std::fmt::Write for Limited {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        let room = if self.cut > 0 { 0 } else { MAX_MESSAGE - self.text.len() };
        let end = part.floor_char_boundary(room);
        self.text.push_str(part.get(..end).unwrap_or_default());
        self.cut += part.len() - end;
        Ok(())
    }
}
