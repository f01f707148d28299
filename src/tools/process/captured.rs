//! What a program printed, byte for byte, up to a limit.

/// An output as it was printed.
#[derive(Debug)]
pub(in crate::tools) struct Captured {
    bytes: Vec<u8>,
    limit: usize,
}

impl Captured {
    /// Nothing yet, and never more than `limit` bytes.
    pub(super) fn up_to(limit: u64) -> Self {
        Self { bytes: Vec::new(), limit: usize::try_from(limit).unwrap_or(usize::MAX) }
    }

    /// Keeps what has room, and says what that is.
    pub(super) fn push<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let room = self.limit.saturating_sub(self.bytes.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.bytes.extend_from_slice(kept);
        kept
    }

    /// Everything that was kept.
    pub(in crate::tools) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, taken out.
    pub(in crate::tools) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
