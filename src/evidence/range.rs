//! The time range and the row limit of queries.

/// The time range and the row limit of a query. The default sets neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// Only steps that started at this time or later, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Only steps that started at this time or earlier, in Unix milliseconds.
    pub until_ms: Option<i64>,
    /// The maximum number of rows; 0 means no limit.
    pub limit: usize,
}

impl Range {
    pub(super) fn since(self) -> i64 {
        self.since_ms.unwrap_or(i64::MIN)
    }

    pub(super) fn until(self) -> i64 {
        self.until_ms.unwrap_or(i64::MAX)
    }

    /// The limit for SQL, where -1 means no limit.
    pub(super) fn limit(self) -> i64 {
        if self.limit == 0 { -1 } else { i64::try_from(self.limit).unwrap_or(-1) }
    }
}
