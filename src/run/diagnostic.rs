//! Diagnostics that a tool reports about code (SPEC §3).

use serde::{Deserialize, Serialize};

/// The maximum number of diagnostics that one check returns one by one. The result still states their full number.
pub const MAX_DIAGNOSTICS: usize = 10_000;

/// The severity of a diagnostic; notes and help count as info.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the three words of SPEC §3")]
pub enum Level {
    Error,
    Warning,
    Info,
}

/// One diagnostic of a tool (SPEC §3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticArtifact {
    /// The severity.
    pub level: Level,
    /// The tool's own word for the severity.
    pub tool_level: String,
    /// The tool's message, verbatim.
    pub message: String,
    /// The file; empty if the diagnostic has no location.
    pub file_name: String,
    /// The first line, from 1; 0 if the diagnostic has no location.
    pub line_start: i64,
    /// The first column, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column_start: Option<i64>,
    /// The last line, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line_end: Option<i64>,
    /// The last column, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column_end: Option<i64>,
    /// The tool's code, for instance `E0425`.
    pub code: Option<String>,
    /// Every location that the tool names, including the one above.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub spans: Vec<DiagnosticSpan>,
    /// Notes and suggestions that belong to this diagnostic.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub children: Vec<DiagnosticArtifact>,
    /// The diagnostic as the tool itself renders it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rendered: Option<String>,
}

impl DiagnosticArtifact {
    /// A diagnostic without a location.
    pub fn new(level: Level, tool_level: impl Into<String>, message: String) -> Self {
        Self {
            level,
            tool_level: tool_level.into(),
            message,
            file_name: String::new(),
            line_start: 0,
            column_start: None,
            line_end: None,
            column_end: None,
            code: None,
            spans: Vec::new(),
            children: Vec::new(),
            rendered: None,
        }
    }
}

/// A location that a diagnostic names, and what the tool suggests to write there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiagnosticSpan {
    /// The file.
    pub file_name: String,
    /// The first line, from 1.
    pub line_start: i64,
    /// The first column, from 1, in characters.
    pub column_start: i64,
    /// The last line, from 1.
    pub line_end: i64,
    /// The column after the last, from 1, in characters.
    pub column_end: i64,
    /// The first byte in the file, from 0.
    pub byte_start: u64,
    /// The byte after the last, from 0.
    pub byte_end: u64,
    /// Whether this is a primary location; the others give context.
    pub is_primary: bool,
    /// The lines as the compiler read them, at most twenty, so that it can be checked later whether the file still
    /// has them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub text: Vec<String>,
    /// The tool's label for this location.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
    /// The suggested replacement.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suggested_replacement: Option<String>,
    /// The tool's own word for how reliable the suggestion is: `MachineApplicable`, `MaybeIncorrect`,
    /// `HasPlaceholders` or `Unspecified`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub applicability: Option<String>,
}
