//! What a tool says about code (SPEC §3).

use serde::{Deserialize, Serialize};

/// Most diagnostics of one check that are told one by one; its result says how many there were.
pub const MOST_DIAGNOSTICS: usize = 10_000;

/// How much a diagnostic weighs; notes and help count as info.
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
    /// How much it weighs.
    pub level: Level,
    /// The tool's own word for the level.
    pub tool_level: String,
    /// What the tool says, verbatim.
    pub message: String,
    /// The file, or empty where there is no place.
    pub file_name: String,
    /// The first line, from 1; 0 where there is no place.
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
    /// Every place that the tool points at, the one above among them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub spans: Vec<DiagnosticSpan>,
    /// Notes and suggestions below it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub children: Vec<DiagnosticArtifact>,
    /// The tool's own rendering.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rendered: Option<String>,
}

impl DiagnosticArtifact {
    /// A diagnostic without a place.
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

/// A place that a diagnostic points at, and what could stand there instead.
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
    /// Whether this is what it is about, and not only something to know besides.
    pub is_primary: bool,
    /// Its lines as the compiler read them, so that a later look at the file can tell whether they are
    /// still the same; the first twenty.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub text: Vec<String>,
    /// What the tool says of this place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
    /// What the tool suggests to write here instead.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suggested_replacement: Option<String>,
    /// How sure the suggestion is, in the tool's own word: `MachineApplicable`, `MaybeIncorrect`,
    /// `HasPlaceholders` or `Unspecified`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub applicability: Option<String>,
}
