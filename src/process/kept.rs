//! What is kept of what a program prints.

use crate::run::StreamEnds;

/// Keeps an output, or a part of it.
pub(crate) trait Keep: Default {
    /// The next bytes.
    fn push(&mut self, bytes: &[u8]);
}

/// An output as it was printed.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    bytes: Vec<u8>,
}

impl Captured {
    /// All of it.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, taken out.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Keep for Captured {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

/// The ends of an output whose whole went elsewhere.
impl Keep for StreamEnds {
    fn push(&mut self, bytes: &[u8]) {
        Self::push(self, bytes);
    }
}
