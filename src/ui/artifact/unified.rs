//! Parses a unified diff into lines, so that it is shown like the diffs of steps.

use crate::authorization::FileState;
use crate::plan::Digest;
use crate::run::{Diff, DiffLine, FileChange, LineKind};

/// The files of a unified diff; `None` when the text is not one. An incomplete last hunk is shown as far as
/// it goes.
pub(super) fn read_unified(text: &str) -> Option<Vec<FileChange>> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.take(line)?;
    }
    reader.end_file();
    (!reader.files.is_empty()).then_some(reader.files)
}

#[derive(Default)]
struct Reader {
    files: Vec<FileChange>,
    before: Option<String>,
    after: Option<String>,
    lines: Vec<DiffLine>,
    /// The number of lines that the hunk still lacks on each side.
    left: (usize, usize),
    /// The next line numbers.
    at: (usize, usize),
    /// The raw text of the file's part, for its digest.
    raw: String,
}

impl Reader {
    fn take(&mut self, line: &str) -> Option<()> {
        if line.starts_with("\\ ") {
            self.lines.last_mut()?.missing_newline = true;
            return Some(());
        }
        if self.left == (0, 0) {
            return self.take_head(line);
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
        let mut number = |counts: bool, before: bool| {
            let (left, at) = if before {
                (&mut self.left.0, &mut self.at.0)
            } else {
                (&mut self.left.1, &mut self.at.1)
            };
            counts.then(|| {
                *left = left.saturating_sub(1);
                *at += 1;
                *at - 1
            })
        };
        let before = number(kind != LineKind::Added, true);
        let after = number(kind != LineKind::Removed, false);
        let text = text.to_owned();
        self.lines.push(DiffLine { kind, before, after, text, missing_newline: false });
        Some(())
    }

    /// Reads a line outside of hunks.
    fn take_head(&mut self, line: &str) -> Option<()> {
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
            (self.at, self.left) = ((before.0, after.0), (before.1, after.1));
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

    fn end_file(&mut self) {
        let files = std::mem::take(&mut self.files);
        let reader = std::mem::replace(self, Self { files, ..Self::default() });
        if reader.before.is_none() && reader.after.is_none() && reader.lines.is_empty() {
            return;
        }
        let path = |name: &Option<String>, side: &str| {
            let name = name.as_deref().filter(|name| *name != "/dev/null")?;
            Some(name.strip_prefix(side).unwrap_or(name).to_owned())
        };
        let (before, after) = (path(&reader.before, "a/"), path(&reader.after, "b/"));
        // The contents of the files are unknown; the digest of the diff's text takes their place.
        let state = |path: &Option<String>, salt: &str| match path {
            Some(_) => FileState::Content(Digest::of(format!("{salt}{}", reader.raw).as_bytes())),
            None => FileState::Absent,
        };
        let no_name = reader.before.is_none() && reader.after.is_none();
        let count = |kind| reader.lines.iter().filter(|line| line.kind == kind).count();
        let diff = if reader.lines.is_empty() {
            Diff::Binary { before_bytes: None, after_bytes: None }
        } else {
            let (added, removed) = (count(LineKind::Added), count(LineKind::Removed));
            Diff::Text { lines: reader.lines.clone(), added, removed }
        };
        let named =
            |path: &Option<String>| if no_name { Some(String::new()) } else { path.clone() };
        self.files.push(FileChange {
            path: after.clone().or_else(|| before.clone()).unwrap_or_default(),
            before: state(&named(&before), "before"),
            after: state(&named(&after), "after"),
            diff,
        });
    }
}

/// Parses the start and length of a range, `12,3` or `12`; the latter has one line.
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
        let files = read_unified(text).unwrap();
        let written: String = files.iter().map(FileChange::unified).collect();
        assert_eq!(written, text);
        assert_eq!(files[1].before, FileState::Absent);
        let Diff::Text { lines, added, removed } = &files[0].diff else { panic!("text") };
        assert_eq!((*added, *removed), (2, 1));
        assert_eq!(lines[1].text, "-- two", "a removed line that looks like a head");
        assert_eq!((lines[4].before, lines[4].after), (Some(39), Some(39)));
        assert_ne!(files[0].before, files[0].after);
    }

    #[test]
    fn nameless_and_truncated_diffs_are_read() {
        let files = read_unified("@@ -40 +40,3 @@\n-old\n+new\n").unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].path, "");
        assert_ne!(files[0].before, FileState::Absent);
        // Laid-out diffs are cached by these states, so the states must depend on the line numbers too.
        let elsewhere = read_unified("@@ -41 +41,3 @@\n-old\n+new\n").unwrap();
        assert_ne!(files[0].after, elsewhere[0].after);
        for other in ["", "words", "--- a\n+++ b\n@@ nonsense", "@@ -1,2 +1,2 @@\n*x\n"] {
            assert!(read_unified(other).is_none(), "{other:?}");
        }
    }
}
