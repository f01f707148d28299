//! The permission bits of files, as they are recorded (SPEC §8).

use std::fmt;

/// The permission bits of a file on Unix, `0o7777` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMode(u32);

impl FileMode {
    /// Of the bits that a system says, those that are permissions.
    pub const fn new(bits: u32) -> Self {
        Self(bits & 0o7777)
    }

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Without the set-user-ID, set-group-ID and sticky bits. A file that comes back never gets those: what
    /// ran as somebody else once is nothing that a record may decide about today.
    pub const fn plain(self) -> Self {
        Self(self.0 & 0o777)
    }

    /// Whether anyone may run the file.
    pub const fn is_executable(self) -> bool {
        self.0 & 0o111 != 0
    }
}

impl fmt::Display for FileMode {
    /// As `chmod` takes it: `755`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03o}", self.0)
    }
}

/// The modes of a file before and after a change; none where it is absent, and where its mode is not known,
/// as in older records and on systems without such modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the two moments by their names")]
pub struct Modes {
    pub before: Option<FileMode>,
    pub after: Option<FileMode>,
}

impl Modes {
    /// Of a file that keeps its mode while its content changes: all of it but the bits with which a program
    /// runs as somebody else.
    pub fn kept(mode: Option<FileMode>) -> Self {
        Self { before: mode, after: mode.map(|mode| FileMode::new(mode.bits() & !0o6000)) }
    }
}
