//! Opens what other programs and people write as plans (SPEC §13): diffs, patches of agents and edit blocks.
//!
//! Pure: bytes become the bytes of a plan of ours, which is then parsed, reviewed and signed like any other plan file.
//! Nothing is guessed. What a plan cannot say is an error, and then there is no plan.

mod begin_patch;
mod diff;
mod lines;
mod search_replace;
#[cfg(test)]
mod tests;
mod written;

use crate::plan::words::words;
use crate::plan::{Code, Finding};
use lines::Lines;

words! {
    /// A format of other programs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format {
        /// A unified diff, of git or of `diff -u`.
        Diff = "diff",
        /// The patch of Codex and others: `*** Begin Patch`.
        BeginPatch = "begin_patch",
        /// Edit blocks of Aider and others: `<<<<<<< SEARCH`.
        SearchReplace = "search_replace",
    }
}

impl Format {
    /// What it is called, with its article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Diff => "a diff",
            Self::BeginPatch => "a patch (*** Begin Patch)",
            Self::SearchReplace => "edit blocks (SEARCH/REPLACE)",
        }
    }
}

/// A file of another program as a plan.
#[derive(Debug)]
pub struct Opened {
    /// Its format.
    pub format: Format,
    /// The bytes of the plan; `None` if an error was found.
    pub plan: Option<Vec<u8>>,
    /// What a plan cannot say, and what should be known. Lines are those of the file.
    pub findings: Vec<Finding>,
}

/// Opens a file of another program; `None` if it has none of the formats, as a plan file of ours.
pub fn open(bytes: &[u8]) -> Option<Opened> {
    let text = std::str::from_utf8(bytes);
    let format = match text {
        Ok(text) => format_of(text)?,
        Err(_) => format_of(&String::from_utf8_lossy(bytes))?,
    };
    let Ok(text) = text else {
        let message = format!(
            "{} that is not UTF-8 cannot be a plan, whose text is Unicode; apply it by its own program",
            format.name()
        );
        let findings = vec![Finding::error(Code::NotJson, "", message)];
        return Some(Opened { format, plan: None, findings });
    };
    let lines = Lines::of(text);
    let edits = match format {
        Format::Diff => diff::edits(lines),
        Format::BeginPatch => begin_patch::edits(lines),
        Format::SearchReplace => search_replace::edits(lines),
    };
    let (plan, findings) = match edits.and_then(|edits| written::plan(format, bytes, edits)) {
        Ok((plan, findings)) => (Some(plan), findings),
        Err(findings) => (None, findings),
    };
    Some(Opened { format, plan, findings })
}

/// The format whose mark comes first. A plan of ours begins with `{` and has none before it.
fn format_of(text: &str) -> Option<Format> {
    if text.trim_start().starts_with('{') {
        return None;
    }
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_pair = lines.peek().is_some_and(|next| next.starts_with("+++ "));
        if line.starts_with("diff --git ") || line.starts_with("--- ") && is_pair {
            return Some(Format::Diff);
        }
        if line.trim_end() == begin_patch::BEGIN {
            return Some(Format::BeginPatch);
        }
        if search_replace::is_search(line) {
            return Some(Format::SearchReplace);
        }
    }
    None
}
