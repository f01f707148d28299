//! What came of an export.

/// What was exported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// The number of runs.
    pub runs: u64,
    /// The number of executions, and of steps without an outcome.
    pub executions: u64,
    /// How many of these executions were changed after they were written.
    pub changed: u64,
    /// Why a case file has no proof of its records; `None` if it has one, and for other exports.
    pub not_proven: Option<String>,
}

/// Is told the number of executions so far, and returns whether the export goes on.
pub type Progress<'p> = &'p mut dyn FnMut(u64) -> bool;
