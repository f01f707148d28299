//! Problem matchers (SPEC §9) convert the output of tools of any language into diagnostics. They access no
//! files, and take time linear in the length of the output.

mod gnu;
mod pattern;
mod problem;
mod sarif;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub(in crate::tools::program) use pattern::Pattern;
pub(in crate::tools::program) use problem::Problem;
pub(in crate::tools::program) use sarif::parse as parse_sarif;

/// Maximum length of a line that is parsed, in bytes.
pub(in crate::tools::program) const LINE_BYTES: usize = 64 << 10;
/// Maximum size of a SARIF log that is parsed, in bytes.
pub(in crate::tools::program) const SARIF_BYTES: usize = 64 << 20;

/// The parser for the output of a command.
#[derive(Debug, Clone)]
pub(in crate::tools::program) enum Matcher {
    /// The output is not parsed: only the exit status counts.
    None,
    /// The output has cargo's JSON messages.
    CargoJson,
    /// The output has lines of the form `file:line:column: severity: message`.
    Gnu,
    /// The output is a SARIF log: in `file`, or on stdout if `file` is `None`.
    Sarif { file: Option<String> },
    /// A regular expression is applied to each line.
    Pattern(Pattern),
}

impl Matcher {
    /// A short description of the matcher.
    pub(in crate::tools::program) fn description(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::CargoJson => "cargo-json".to_owned(),
            Self::Gnu => "gnu".to_owned(),
            Self::Sarif { file: None } => "sarif".to_owned(),
            Self::Sarif { file: Some(file) } => format!("sarif in {file}"),
            Self::Pattern(pattern) => format!("pattern {}", pattern.as_str()),
        }
    }

    /// The problem that one line reports, if any. Always `None` for `CargoJson` and `Sarif`, whose output is parsed
    /// elsewhere.
    pub(in crate::tools::program) fn match_line(&self, line: &str) -> Option<Problem> {
        let line = without_colours(line);
        match self {
            Self::Gnu => gnu::parse(&line),
            Self::Pattern(pattern) => pattern.match_line(&line),
            Self::None | Self::CargoJson | Self::Sarif { .. } => None,
        }
    }
}

/// The line without CSI sequences (`ESC [ … final byte`), such as colours.
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
