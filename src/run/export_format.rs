//! The forms in which evidence leaves the machine (SPEC §14).

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// A file that is made of the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExportFile {
    /// An export of executions.
    Format(ExportFormat),
    /// The case file of a run: a zip with all that the evidence has of it, and a program that checks it.
    Case,
}

impl ExportFile {
    /// Whether it has exactly one run.
    pub fn is_of_one_run(self) -> bool {
        matches!(self, Self::Case | Self::Format(ExportFormat::Asciicast))
    }

    /// The usual ending of its name, without the first dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Case => "zip",
            Self::Format(ExportFormat::JsonLines) => "jsonl",
            Self::Format(ExportFormat::Csv) => "csv",
            Self::Format(ExportFormat::Sarif) => "sarif.json",
            Self::Format(ExportFormat::Junit) => "junit.xml",
            Self::Format(ExportFormat::Asciicast) => "cast",
            Self::Format(ExportFormat::Html) => "html",
        }
    }
}
