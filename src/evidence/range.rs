//! Which part of the answers to Q1 to Q8 is wanted.

/// Which part of the answers; the default is all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// From this start of a step on, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Up to and with this start of a step, in Unix milliseconds.
    pub until_ms: Option<i64>,
    /// At most this many; 0 means no limit.
    pub limit: usize,
}

impl Range {
    pub(super) fn since(self) -> i64 {
        self.since_ms.unwrap_or(i64::MIN)
    }

    pub(super) fn until(self) -> i64 {
        self.until_ms.unwrap_or(i64::MAX)
    }

    /// For SQL, where -1 is no limit.
    pub(super) fn limit(self) -> i64 {
        if self.limit == 0 { -1 } else { i64::try_from(self.limit).unwrap_or(-1) }
    }
}
