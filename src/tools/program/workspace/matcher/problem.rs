//! The common form of the problems that matchers find.

use crate::cargo::Names;
use crate::run::{DiagnosticArtifact, Level};

/// A problem that a tool reports, with its location if the tool reports one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools::program) struct Problem {
    pub(in crate::tools::program) file: Option<String>,
    pub(in crate::tools::program) line: Option<u32>,
    pub(in crate::tools::program) column: Option<u32>,
    /// The line and the column of the end.
    pub(in crate::tools::program) end: Option<(u32, Option<u32>)>,
    /// The severity as the tool spells it.
    pub(in crate::tools::program) severity: Option<String>,
    pub(in crate::tools::program) code: Option<String>,
    pub(in crate::tools::program) message: String,
}

impl Problem {
    /// The level of the problem. Without a severity, or with an unknown one, it is an error.
    pub(in crate::tools::program) fn level(&self) -> Level {
        let word = self.severity.as_deref().unwrap_or("error").to_ascii_lowercase();
        match word.trim() {
            "warning" | "warn" | "w" => Level::Warning,
            "note" | "info" | "information" | "help" | "hint" | "remark" | "none" | "i" | "n" => {
                Level::Info
            }
            _ => Level::Error,
        }
    }

    /// The problem, as a diagnostic for the evidence.
    pub(in crate::tools::program) fn artifact(self, names: &mut Names<'_>) -> DiagnosticArtifact {
        let level = self.level();
        let number = |number: Option<u32>| number.map(i64::from);
        let severity = self.severity.unwrap_or_else(|| "error".to_owned());
        DiagnosticArtifact {
            // A problem with a file but no line gets line 1.
            line_start: number(self.line).unwrap_or(i64::from(self.file.is_some())),
            column_start: number(self.column),
            line_end: number(self.end.map(|(line, _)| line)),
            column_end: number(self.end.and_then(|(_, column)| column)),
            file_name: self.file.map_or_else(String::new, |file| names.get(&file).path),
            code: self.code,
            ..DiagnosticArtifact::new(level, severity, self.message)
        }
    }
}
