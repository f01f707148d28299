//! Permission bits of files, as they are recorded (SPEC §8).

use std::fmt;

/// The permission bits of a file on Unix (`0o7777`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMode(u32);

impl FileMode {
    /// Keeps only the permission bits of a file mode.
    pub const fn new(bits: u32) -> Self {
        Self(bits & 0o7777)
    }

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Removes the set-user-ID, set-group-ID and sticky bits. A restored file never gets these bits: a record must
    /// not decide that a program runs as another user.
    pub const fn plain(self) -> Self {
        Self(self.0 & 0o777)
    }

    /// Whether any user may run the file.
    pub const fn is_executable(self) -> bool {
        self.0 & 0o111 != 0
    }
}

impl fmt::Display for FileMode {
    /// In octal, as `chmod` takes it: `755`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03o}", self.0)
    }
}

/// The modes of a file before and after a change. `None` if the file is absent, or its mode is unknown, as in older
/// records and on systems without such modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the two moments by their names")]
pub struct Modes {
    pub before: Option<FileMode>,
    pub after: Option<FileMode>,
}

impl Modes {
    /// The modes of a file that keeps its mode while its content changes. The set-user-ID and set-group-ID bits are
    /// removed, as the system does on a write.
    pub fn kept(mode: Option<FileMode>) -> Self {
        Self { before: mode, after: mode.map(|mode| FileMode::new(mode.bits() & !0o6000)) }
    }
}
