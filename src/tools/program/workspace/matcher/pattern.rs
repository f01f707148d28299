//! A matcher that applies a regular expression with named groups to each line, in linear time.

use regex::{Regex, RegexBuilder};

use super::Problem;

/// The names that groups may have.
const GROUPS: [&str; 6] = ["file", "line", "column", "severity", "code", "message"];
/// Maximum size of the compiled expression, in bytes.
const COMPILED_BYTES: usize = 1 << 20;

/// A validated expression.
#[derive(Debug, Clone)]
pub(in crate::tools::program) struct Pattern(Regex);

impl Pattern {
    /// Compiles the expression.
    ///
    /// # Errors
    /// Why the expression cannot be used.
    pub(in crate::tools::program) fn compile(text: &str) -> Result<Self, String> {
        let compiled = RegexBuilder::new(text).size_limit(COMPILED_BYTES).build();
        let regex = compiled.map_err(|error| format!("the pattern cannot be used: {error}"))?;
        let names: Vec<&str> = regex.capture_names().flatten().collect();
        if let Some(unknown) = names.iter().find(|name| !GROUPS.contains(name)) {
            let known = GROUPS.join(", ");
            return Err(format!("the pattern has a group {unknown:?}; the groups are: {known}"));
        }
        if !names.contains(&"message") {
            return Err("the pattern needs a group (?<message>…)".to_owned());
        }
        Ok(Self(regex))
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The problem that one line reports; `None` if the line does not match or is blank.
    pub(super) fn match_line(&self, line: &str) -> Option<Problem> {
        let found = self.0.captures(line)?;
        let without_spaces = |text: &str| {
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let text = |name: &str| without_spaces(found.name(name)?.as_str());
        Some(Problem {
            file: text("file"),
            line: text("line").and_then(|line| line.parse().ok()),
            column: text("column").and_then(|column| column.parse().ok()),
            end: None,
            severity: text("severity"),
            code: text("code"),
            // An error without a text is still an error.
            message: text("message").or_else(|| without_spaces(line))?,
        })
    }
}
