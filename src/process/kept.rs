//! What stays in memory of a program's output.

use crate::run::StreamEnds;

/// Keeps an output in memory, whole or in part.
pub(crate) trait Keep: Default {
    /// Adds the next bytes.
    fn push(&mut self, bytes: &[u8]);
}

/// The whole output.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    bytes: Vec<u8>,
}

impl Captured {
    /// The bytes of the output.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of the output, without copying them.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Keep for Captured {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

/// Keeps the beginning and the end of an output that a capture records whole.
impl Keep for StreamEnds {
    fn push(&mut self, bytes: &[u8]) {
        Self::push(self, bytes);
    }
}
