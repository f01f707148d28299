//! Problem matchers (SPEC §9): what the tools of any language say, read as diagnostics. Pure: a line or a text
//! goes in. Each takes time in proportion to what it reads.

mod gnu;
mod pattern;
mod sarif;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::cargo::Names;
use crate::run::{DiagnosticArtifact, Level};

pub(in crate::tools::program) use pattern::Pattern;

/// Longest line that is read.
pub(in crate::tools::program) const LINE_BYTES: usize = 64 << 10;
/// Largest SARIF log that is read.
pub(in crate::tools::program) const SARIF_BYTES: usize = 64 << 20;

/// How what a command says is read.
#[derive(Debug, Clone)]
pub(in crate::tools::program) enum Matcher {
    /// Not at all: only how it ends counts.
    None,
    /// cargo's messages for programs.
    CargoJson,
    /// `file:line:column: severity: message`.
    Gnu,
    /// A SARIF log: what it prints, or this file.
    Sarif { file: Option<String> },
    /// A regular expression for each line.
    Pattern(Pattern),
}

impl Matcher {
    /// In a few words.
    pub(in crate::tools::program) fn words(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::CargoJson => "cargo-json".to_owned(),
            Self::Gnu => "gnu".to_owned(),
            Self::Sarif { file: None } => "sarif".to_owned(),
            Self::Sarif { file: Some(file) } => format!("sarif in {file}"),
            Self::Pattern(pattern) => format!("pattern {}", pattern.as_str()),
        }
    }

    /// What one line says.
    pub(in crate::tools::program) fn line(&self, line: &str) -> Option<Problem> {
        let line = without_colours(line);
        match self {
            Self::Gnu => gnu::read(&line),
            Self::Pattern(pattern) => pattern.read(&line),
            Self::None | Self::CargoJson | Self::Sarif { .. } => None,
        }
    }
}

/// What a SARIF log says.
///
/// # Errors
/// That it is none, in words.
pub(in crate::tools::program) fn sarif(text: &[u8]) -> Result<Vec<Problem>, String> {
    sarif::read(text)
}

/// Something that a tool says about a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools::program) struct Problem {
    pub(in crate::tools::program) file: Option<String>,
    pub(in crate::tools::program) line: Option<u32>,
    pub(in crate::tools::program) column: Option<u32>,
    pub(in crate::tools::program) end: Option<(u32, Option<u32>)>,
    /// The tool's own word; none where it has none.
    pub(in crate::tools::program) severity: Option<String>,
    pub(in crate::tools::program) code: Option<String>,
    pub(in crate::tools::program) message: String,
}

impl Problem {
    /// How much it weighs. Where the tool has no word for it, what it reports is an error.
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

    /// As the records keep it.
    pub(in crate::tools::program) fn artifact(self, names: &mut Names<'_>) -> DiagnosticArtifact {
        let level = self.level();
        let number = |number: Option<u32>| number.map(i64::from);
        DiagnosticArtifact {
            level,
            tool_level: self.severity.unwrap_or_else(|| "error".to_owned()),
            message: self.message,
            // Without a line there still is a file.
            line_start: number(self.line).unwrap_or(i64::from(self.file.is_some())),
            column_start: number(self.column),
            line_end: number(self.end.map(|(line, _)| line)),
            column_end: number(self.end.and_then(|(_, column)| column)),
            file_name: self.file.map_or_else(String::new, |file| names.get(&file).path),
            code: self.code,
            spans: Vec::new(),
            children: Vec::new(),
            rendered: None,
        }
    }
}

/// The line without what colours it: `ESC [ … letter`.
fn without_colours(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        text.push_str(before);
        let end = after.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c));
        rest = end.and_then(|end| after.get(end + 1..)).unwrap_or_default();
    }
    text.push_str(rest);
    Cow::Owned(text)
}
