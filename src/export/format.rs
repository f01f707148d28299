//! What is exported, how, and what came of it.

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// JSON Lines: each execution on a line, as `evidence show --json` prints it.
    JsonLines,
    /// Comma-separated values by RFC 4180: a header, and a record for each execution.
    Csv,
    /// SARIF 2.1.0: diagnostics as results, executions as invocations.
    Sarif,
    /// JUnit XML: a run is a test suite, a step a test case.
    Junit,
    /// asciicast v3: the output of one run, for a terminal player.
    Asciicast,
    /// A report as one HTML file without scripts.
    Html,
}

impl ExportFormat {
    /// Every format with its name on the command line.
    pub const WORDS: [(&'static str, Self); 6] = [
        ("jsonl", Self::JsonLines),
        ("csv", Self::Csv),
        ("sarif", Self::Sarif),
        ("junit", Self::Junit),
        ("asciicast", Self::Asciicast),
        ("html", Self::Html),
    ];
}

/// What was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    /// The number of runs.
    pub runs: u64,
    /// The number of executions, and of steps without an outcome.
    pub executions: u64,
    /// How many of these executions were changed after they were written.
    pub changed: u64,
}

/// Is told the number of executions so far, and returns whether the export goes on.
pub type Progress<'p> = &'p mut dyn FnMut(u64) -> bool;
