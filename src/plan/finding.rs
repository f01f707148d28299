//! Findings about a plan (SPEC §1.4): a problem, its position, and how to fix it.

use serde::{Deserialize, Serialize};

use super::Code;
use super::words::words;

words! {
    /// The severity of a finding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Severity {
        /// For information, for instance about an ignored field of another program.
        Note = "note",
        /// The plan can be authorized, but the person should check it first.
        Warning = "warning",
        /// The plan can be displayed, but not authorized.
        Error = "error",
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The stable code.
    pub code: Code,
    /// The name of the error in the action dialect (SPEC §6). `None` for other plans and for findings that are not
    /// errors.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub name: Option<&'static str>,
    /// The JSON pointer (RFC 6901) to the faulty value; empty for the whole file.
    pub pointer: String,
    /// Line of that value, from 1.
    pub line: usize,
    /// Column of that value in characters, from 1.
    pub column: usize,
    /// The problem and how to fix it, for a person.
    pub message: String,
    /// The accepted values, if there is a fixed list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
}

impl Finding {
    /// A finding at line 1 and column 1. The parser or [`super::locate`] later sets its position from the pointer.
    pub fn new(
        severity: Severity,
        code: Code,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            code,
            name: None,
            pointer: pointer.into(),
            line: 1,
            column: 1,
            message: message.into(),
            allowed: Vec::new(),
        }
    }

    /// An error finding.
    pub fn error(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, pointer, message)
    }

    /// Sets the list of accepted values.
    #[must_use]
    pub fn allowing<T: Into<String>>(mut self, allowed: impl IntoIterator<Item = T>) -> Self {
        self.allowed = allowed.into_iter().map(Into::into).collect();
        self
    }
}

/// Whether the only errors are inputs that are not filled in, so that the plan may be proposed to a person.
pub fn lacks_only_inputs(findings: &[Finding]) -> bool {
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    findings.iter().filter(is_error).all(|finding| finding.code == Code::NotFilledIn)
}

/// Whether no finding is an error, so that the plan may be authorized.
pub fn is_valid(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity != Severity::Error)
}
