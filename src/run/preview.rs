//! Previews: what a step would do, computed without running it (SPEC §2).

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::authorization::FileState;

/// How reliable a preview is, from the most to the least reliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicted {
    /// The step changes exactly these files, in exactly this way.
    Exact,
    /// The preview covers a part of the effects.
    Partial,
    /// The effects cannot be predicted.
    Unpredictable,
}

/// How a step would end, as far as its preview can tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "end")]
pub enum ExpectedEnd {
    /// Nothing speaks against success.
    #[default]
    Success,
    /// The step would fail in the present state.
    Failure {
        /// The reason, as a sentence.
        why: String,
    },
    /// An earlier step would end the run.
    NotReached,
}

/// The preview of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// How reliable the preview is.
    pub predicted: Predicted,
    /// How the step would end. Readers of JSON find it in the summary.
    #[serde(skip)]
    pub expected: ExpectedEnd,
    /// What the step would do, as one sentence.
    pub summary: String,
    /// The changed files, in order.
    pub changes: Vec<FileChange>,
    /// Remarks for the person, for instance that the file is absent now.
    pub notes: Vec<String>,
}

impl Preview {
    /// The preview of a step whose changes are known.
    pub fn exact(summary: String, changes: Vec<FileChange>, notes: Vec<String>) -> Self {
        let expected = ExpectedEnd::Success;
        Self { predicted: Predicted::Exact, expected, summary, changes, notes }
    }

    /// The preview of a step that runs a program, whose changes cannot be predicted.
    pub fn unpredictable(summary: String, notes: Vec<String>) -> Self {
        Self { predicted: Predicted::Unpredictable, ..Self::exact(summary, Vec::new(), notes) }
    }

    /// The preview of a step that an agent runs by itself if it may.
    pub fn by_agent() -> Self {
        let summary =
            "The agent runs it itself, in its own way and with its own limits.".to_owned();
        let notes =
            vec!["Countersign does not see what it does, and records only that it may.".to_owned()];
        Self::unpredictable(summary, notes)
    }

    /// The preview of a step that would fail and change nothing. `why` is a sentence without its full stop.
    pub fn failure(why: impl Display, notes: Vec<String>) -> Self {
        let why = format!("{why}.");
        let preview = Self::exact(format!("Would fail: {why}"), Vec::new(), notes);
        Self { expected: ExpectedEnd::Failure { why }, ..preview }
    }

    /// The preview of a step after the one at the index `failed_at`, which would end the run.
    pub fn not_reached(failed_at: usize) -> Self {
        let summary = format!("Not reached: step {} would end the run.", failed_at + 1);
        Self { expected: ExpectedEnd::NotReached, ..Self::unpredictable(summary, Vec::new()) }
    }

    /// The reason why the step would fail in the present state.
    pub fn why_it_fails(&self) -> Option<&str> {
        match &self.expected {
            ExpectedEnd::Failure { why } => Some(why),
            ExpectedEnd::Success | ExpectedEnd::NotReached => None,
        }
    }

    /// Whether the step would fail in the present state.
    pub fn would_fail(&self) -> bool {
        self.why_it_fails().is_some()
    }

    /// A sentence about how reliable the preview is; `None` if it is exact, or if the step has no effect because it
    /// would fail or is not reached.
    pub fn caveat(&self) -> Option<&'static str> {
        match (&self.expected, self.predicted) {
            (ExpectedEnd::Failure { .. } | ExpectedEnd::NotReached, _) | (_, Predicted::Exact) => {
                None
            }
            (_, Predicted::Partial) => Some("Its effect can be predicted only in part."),
            (_, Predicted::Unpredictable) => Some("Its effect cannot be predicted."),
        }
    }
}

/// The change of one file that a step would make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file, by its path inside the workspace.
    pub path: String,
    /// The state now.
    pub before: FileState,
    /// The state afterwards.
    pub after: FileState,
    /// The difference between the two contents.
    pub diff: Diff,
}

/// A difference between two contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Diff {
    /// The contents are equal.
    Unchanged,
    /// The changed lines, with three lines of context around each change.
    Text {
        /// The lines, in order; a [`LineKind::Gap`] replaces lines that are left out.
        lines: Vec<DiffLine>,
        /// The number of added lines.
        added: usize,
        /// The number of removed lines.
        removed: usize,
    },
    /// At least one side is not UTF-8 text, or is too large to be compared line by line.
    Binary {
        /// The size before in bytes; `None` when absent.
        before_bytes: Option<u64>,
        /// The size after in bytes; `None` when absent.
        after_bytes: Option<u64>,
    },
}

/// The kind of a line in a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LineKind {
    Context,
    Added,
    Removed,
    Gap,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// The kind of the line.
    pub kind: LineKind,
    /// The line number before the change, from 1.
    pub before: Option<usize>,
    /// The line number after the change, from 1.
    pub after: Option<usize>,
    /// The text without its line break.
    pub text: String,
    /// Whether the file ends here without a line break.
    pub missing_newline: bool,
}

impl FileChange {
    /// The change as a unified diff in the format of `diff -u`. Every line ends with a line break.
    pub fn unified(&self) -> String {
        let name = |state: FileState, side: &str| match state {
            FileState::Absent => "/dev/null".to_owned(),
            FileState::Content(_) => format!("{side}/{}", self.path),
        };
        let (before, after) = (name(self.before, "a"), name(self.after, "b"));
        let lines = match &self.diff {
            Diff::Unchanged => return String::new(),
            Diff::Binary { .. } => return format!("Binary files {before} and {after} differ\n"),
            Diff::Text { lines, .. } => lines,
        };
        let mut text = format!("--- {before}\n+++ {after}\n");
        for hunk in lines.split(|line| line.kind == LineKind::Gap).filter(|hunk| !hunk.is_empty()) {
            let range = |numbers: Vec<usize>| {
                let first = numbers.first().copied().unwrap_or(0);
                format!("{first},{}", numbers.len())
            };
            let before = range(hunk.iter().filter_map(|line| line.before).collect());
            let after = range(hunk.iter().filter_map(|line| line.after).collect());
            text.push_str(&format!("@@ -{before} +{after} @@\n"));
            for line in hunk {
                text.push(match line.kind {
                    LineKind::Added => '+',
                    LineKind::Removed => '-',
                    LineKind::Context | LineKind::Gap => ' ',
                });
                text.push_str(&line.text);
                text.push('\n');
                if line.missing_newline {
                    text.push_str("\\ No newline at end of file\n");
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Digest;

    fn line(kind: LineKind, before: Option<usize>, after: Option<usize>, text: &str) -> DiffLine {
        DiffLine { kind, before, after, text: text.to_owned(), missing_newline: false }
    }

    fn change(diff: Diff) -> FileChange {
        let content = FileState::Content(Digest::of(b""));
        FileChange { path: "src/a.rs".to_owned(), before: content, after: content, diff }
    }

    #[test]
    fn change_is_written_as_unified_diff() {
        let last =
            DiffLine { missing_newline: true, ..line(LineKind::Added, None, Some(40), "end") };
        let lines = vec![
            line(LineKind::Context, Some(1), Some(1), "one"),
            line(LineKind::Removed, Some(2), None, "two"),
            line(LineKind::Added, None, Some(2), "zwei"),
            line(LineKind::Gap, None, None, ""),
            line(LineKind::Context, Some(39), Some(39), "near"),
            last,
        ];
        let diff = Diff::Text { lines, added: 2, removed: 1 };
        assert_eq!(
            change(diff).unified(),
            "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n\
             @@ -39,1 +39,2 @@\n near\n+end\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn new_files_and_bytes_in_unified_diffs() {
        let lines = vec![line(LineKind::Added, None, Some(1), "x")];
        let created = FileChange {
            before: FileState::Absent,
            ..change(Diff::Text { lines, added: 1, removed: 0 })
        };
        assert_eq!(created.unified(), "--- /dev/null\n+++ b/src/a.rs\n@@ -0,0 +1,1 @@\n+x\n");
        let binary = change(Diff::Binary { before_bytes: Some(1), after_bytes: Some(2) });
        assert_eq!(binary.unified(), "Binary files a/src/a.rs and b/src/a.rs differ\n");
        assert_eq!(change(Diff::Unchanged).unified(), "");
    }
}
