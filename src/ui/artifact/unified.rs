//! Parses a unified diff into lines, so that it is shown like the diffs of steps.

use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::{Diff, DiffLine, FileChange, LineKind};

/// Parses a unified diff into one change for each file; `None` if the text is not a unified diff. The last hunk may be
/// incomplete.
pub(super) fn parse_unified(text: &str) -> Option<Vec<FileChange>> {
    let mut parser = UnifiedParser::default();
    for line in text.lines() {
        parser.line(line)?;
    }
    parser.end_file();
    (!parser.files.is_empty()).then_some(parser.files)
}

#[derive(Default)]
struct UnifiedParser {
    files: Vec<FileChange>,
    before: Option<String>,
    after: Option<String>,
    lines: Vec<DiffLine>,
    /// The number of lines that the current hunk still lacks on each side.
    missing: (usize, usize),
    /// The next line number on each side.
    next: (usize, usize),
    /// The hunks of the current file as written, for its digests.
    raw: String,
}

impl UnifiedParser {
    /// Parses one line; `None` if it does not belong to a unified diff.
    fn line(&mut self, line: &str) -> Option<()> {
        if line.starts_with("\\ ") {
            self.lines.last_mut()?.missing_newline = true;
            return Some(());
        }
        if self.missing == (0, 0) {
            return self.header(line);
        }
        self.raw.push_str(line);
        self.raw.push('\n');
        let (kind, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (LineKind::Added, text),
            Some(("-", text)) => (LineKind::Removed, text),
            Some((" ", text)) => (LineKind::Context, text),
            // Some programs omit the space of an empty context line.
            None => (LineKind::Context, ""),
            Some(_) => return None,
        };
        let number = |missing: &mut usize, next: &mut usize| {
            *missing = missing.saturating_sub(1);
            *next += 1;
            *next - 1
        };
        let (missing, next) = (&mut self.missing, &mut self.next);
        let before = (kind != LineKind::Added).then(|| number(&mut missing.0, &mut next.0));
        let after = (kind != LineKind::Removed).then(|| number(&mut missing.1, &mut next.1));
        let text = text.to_owned();
        self.lines.push(DiffLine { kind, before, after, text, missing_newline: false });
        Some(())
    }

    /// Parses a line outside of hunks; `None` if it does not belong to a unified diff.
    fn header(&mut self, line: &str) -> Option<()> {
        if let Some(name) = line.strip_prefix("--- ") {
            self.end_file();
            self.before = Some(name.to_owned());
        } else if let Some(name) = line.strip_prefix("+++ ") {
            self.after = Some(name.to_owned());
        } else if let Some(ranges) = line.strip_prefix("@@ -") {
            let (before, rest) = ranges.split_once(" +")?;
            let (after, _) = rest.split_once(" @@")?;
            let (before, after) = (range(before)?, range(after)?);
            self.raw.push_str(line);
            self.raw.push('\n');
            if !self.lines.is_empty() {
                self.lines.push(DiffLine {
                    kind: LineKind::Gap,
                    before: None,
                    after: None,
                    text: String::new(),
                    missing_newline: false,
                });
            }
            (self.next, self.missing) = ((before.0, after.0), (before.1, after.1));
        } else if let Some(names) = line.strip_prefix("Binary files ") {
            self.end_file();
            let (before, after) = names.strip_suffix(" differ")?.split_once(" and ")?;
            (self.before, self.after) = (Some(before.to_owned()), Some(after.to_owned()));
            self.end_file();
        } else if !line.is_empty() && !line.starts_with("diff ") && !line.starts_with("index ") {
            return None;
        }
        Some(())
    }

    /// Adds the current file to the result, if there is one.
    fn end_file(&mut self) {
        let files = std::mem::take(&mut self.files);
        let file = std::mem::replace(self, Self { files, ..Self::default() });
        if file.before.is_none() && file.after.is_none() && file.lines.is_empty() {
            return;
        }
        let path = |name: &Option<String>, side: &str| {
            let name = name.as_deref().filter(|name| *name != "/dev/null")?;
            Some(name.strip_prefix(side).unwrap_or(name).to_owned())
        };
        let (before, after) = (path(&file.before, "a/"), path(&file.after, "b/"));
        let is_unnamed = file.before.is_none() && file.after.is_none();
        // The contents of the files are unknown; the digest of the diff's text takes their place.
        let state = |path: &Option<String>, salt: &str| {
            if path.is_none() && !is_unnamed {
                return FileState::Absent;
            }
            FileState::Content(Digest::of(format!("{salt}{}", file.raw).as_bytes()))
        };
        let count = |kind| file.lines.iter().filter(|line| line.kind == kind).count();
        let diff = if file.lines.is_empty() {
            Diff::Binary { before_bytes: None, after_bytes: None }
        } else {
            let (added, removed) = (count(LineKind::Added), count(LineKind::Removed));
            Diff::Text { lines: file.lines.clone(), added, removed }
        };
        self.files.push(FileChange {
            path: after.clone().or_else(|| before.clone()).unwrap_or_default(),
            before: state(&before, "before"),
            after: state(&after, "after"),
            diff,
        });
    }
}

/// Parses the start and length of a range, `12,3` or `12`; the latter has the length 1.
fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unified_diffs_are_read_back() {
        let text = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n--- two\n+++ zwei\n\
                    @@ -39,1 +39,2 @@\n near\n+end\n\\ No newline at end of file\n\
                    --- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+x\n\
                    Binary files a/p.png and b/p.png differ\n";
        let files = parse_unified(text).unwrap();
        let written: String = files.iter().map(FileChange::unified).collect();
        assert_eq!(written, text);
        assert_eq!(files[1].before, FileState::Absent);
        let Diff::Text { lines, added, removed } = &files[0].diff else { panic!("text") };
        assert_eq!((*added, *removed), (2, 1));
        assert_eq!(lines[1].text, "-- two", "a removed line that looks like a header");
        assert_eq!((lines[4].before, lines[4].after), (Some(39), Some(39)));
        assert_ne!(files[0].before, files[0].after);
    }

    #[test]
    fn nameless_and_truncated_diffs_are_read() {
        let files = parse_unified("@@ -40 +40,3 @@\n-old\n+new\n").unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].path, "");
        assert_ne!(files[0].before, FileState::Absent);
        // Laid-out diffs are cached by these states, so the states must depend on the line numbers too.
        let elsewhere = parse_unified("@@ -41 +41,3 @@\n-old\n+new\n").unwrap();
        assert_ne!(files[0].after, elsewhere[0].after);
        for other in ["", "words", "--- a\n+++ b\n@@ nonsense", "@@ -1,2 +1,2 @@\n*x\n"] {
            assert!(parse_unified(other).is_none(), "{other:?}");
        }
    }
}
