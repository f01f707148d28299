//! Parses a unified diff of one file, and applies it in memory, exactly at the lines that it names (SPEC §9).
//!
//! Context and removed lines must match the file exactly. There is no fuzzy matching: a hunk applied to
//! similar lines, or some lines away, could change text that the person who authorized the diff never saw.

use crate::plan::unquoted;
use crate::run::text;

/// Why a diff was not applied.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum PatchError {
    #[error("line {line} of the diff cannot be read: {why}")]
    Unreadable { line: usize, why: &'static str },
    #[error("the diff is of {named}")]
    OtherFile { named: String },
    #[error("the diff creates the file, which exists already")]
    Exists,
    #[error("the diff deletes the file and leaves a part of it")]
    NotEmptied,
    #[error("hunk {hunk} does not fit: line {line} is to be {expected} and is {found}")]
    Mismatch { hunk: usize, line: usize, expected: String, found: String },
    #[error("hunk {hunk} begins before the end of the one above it")]
    OutOfOrder { hunk: usize },
    #[error("hunk {hunk} has a line without a line break that is not the last")]
    BreakMissing { hunk: usize },
}

/// A line of a file, shortened for a message; `None` is behind the last line.
fn shown_line(line: Option<&[u8]>) -> String {
    let (text, end) = match line {
        None => return "behind the end of the file".to_owned(),
        Some([text @ .., b'\r', b'\n']) => (text, " with CRLF"),
        Some([text @ .., b'\n']) => (text, ""),
        Some(text) => (text, " without a line break"),
    };
    format!("{:?}{end}", text::beginning(&String::from_utf8_lossy(text)))
}

/// A parsed diff.
#[derive(Debug)]
pub(super) struct Patch<'a> {
    creates: bool,
    deletes: bool,
    hunks: Vec<Hunk<'a>>,
}

#[derive(Debug)]
struct Hunk<'a> {
    /// The number of lines of the file that precede the hunk.
    start: usize,
    lines: Vec<Line<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Context,
    Removed,
    Added,
}

#[derive(Debug)]
struct Line<'a> {
    kind: Kind,
    text: &'a str,
    has_break: bool,
}

impl Line<'_> {
    fn bytes(&self) -> Vec<u8> {
        let end = if self.has_break { "\n" } else { "" };
        [self.text.as_bytes(), end.as_bytes()].concat()
    }
}

/// The beginnings of git's header lines that only repeat information in the file names and hunks.
const REDUNDANT_HEADERS: [&str; 3] = ["diff --git ", "index ", "deleted file mode "];

impl<'a> Patch<'a> {
    /// Parses a diff, which must be of the file `path`.
    pub(super) fn parse(diff: &'a str, path: &str) -> Result<Self, PatchError> {
        let lines: Vec<&str> = diff.split_inclusive('\n').map(without_break).collect();
        let unreadable = |index: usize, why| PatchError::Unreadable { line: index + 1, why };
        let mut index = 0;
        let before = loop {
            let line =
                lines.get(index).ok_or_else(|| unreadable(index, "there is no line `--- `"))?;
            match line.strip_prefix("--- ") {
                Some(name) => break name,
                None => check_header(line).map_err(|why| unreadable(index, why))?,
            }
            index += 1;
        };
        index += 1;
        let after = lines.get(index).and_then(|line| line.strip_prefix("+++ "));
        let after = after.ok_or_else(|| unreadable(index, "`+++ ` must follow `--- `"))?;
        index += 1;
        let (before, after) = (file_name(before), file_name(after));
        for (name, side) in [(&before, "a/"), (&after, "b/")] {
            if let Some(name) = name.as_ref().filter(|name| !is_same_file(name, side, path)) {
                return Err(PatchError::OtherFile { named: text::beginning(name) });
            }
        }
        let (creates, deletes) = (before.is_none(), after.is_none());
        if creates && deletes {
            return Err(unreadable(index - 1, "both names are /dev/null"));
        }
        let mut hunks = Vec::new();
        while index < lines.len() {
            let hunk = parse_hunk(&lines, &mut index);
            hunks.push(hunk.map_err(|(index, why)| unreadable(index, why))?);
        }
        if hunks.is_empty() {
            return Err(unreadable(index, "there is no hunk"));
        }
        Ok(Self { creates, deletes, hunks })
    }

    /// Whether the diff creates the file, which then must not exist.
    pub(super) fn creates(&self) -> bool {
        self.creates
    }

    /// The new content of the file; `None` if the diff deletes the file.
    pub(super) fn apply(&self, content: &[u8]) -> Result<Option<Vec<u8>>, PatchError> {
        let old: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
        let mut new = Vec::with_capacity(content.len());
        let mut next = 0;
        for (index, hunk) in self.hunks.iter().enumerate() {
            let number = index + 1;
            let kept = old.get(next..hunk.start.max(next));
            let Some(kept) = kept.filter(|_| hunk.start >= next) else {
                if hunk.start < next {
                    return Err(PatchError::OutOfOrder { hunk: number });
                }
                let first = hunk.lines.iter().find(|line| line.kind != Kind::Added);
                let expected = first.map(Line::bytes);
                return Err(PatchError::Mismatch {
                    hunk: number,
                    line: hunk.start + 1,
                    expected: shown_line(expected.as_deref()),
                    found: shown_line(None),
                });
            };
            new.extend(kept.concat());
            next = hunk.start;
            for line in &hunk.lines {
                let bytes = line.bytes();
                if line.kind != Kind::Added {
                    let found = old.get(next).copied();
                    if found != Some(bytes.as_slice()) {
                        return Err(PatchError::Mismatch {
                            hunk: number,
                            line: next + 1,
                            expected: shown_line(Some(&bytes)),
                            found: shown_line(found),
                        });
                    }
                    next += 1;
                }
                if line.kind != Kind::Removed {
                    check_line_break(&new, number)?;
                    new.extend(bytes);
                }
            }
        }
        let rest = old.get(next..).unwrap_or_default();
        if !rest.is_empty() {
            check_line_break(&new, self.hunks.len())?;
        }
        new.extend(rest.concat());
        match self.deletes {
            true if new.is_empty() => Ok(None),
            true => Err(PatchError::NotEmptied),
            false => Ok(Some(new)),
        }
    }
}

/// Fails if `text` is not empty and does not end in a line break, so that no line may be added to it.
fn check_line_break(text: &[u8], hunk: usize) -> Result<(), PatchError> {
    match text.last() {
        None | Some(b'\n') => Ok(()),
        Some(_) => Err(PatchError::BreakMissing { hunk }),
    }
}

fn without_break(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// Checks a header line above the file names. Only the content may change, so a header for a change of the mode, for
/// example, is an error.
fn check_header(line: &str) -> Result<(), &'static str> {
    let line = line.trim_end();
    match line {
        "" | "new file mode 100644" => Ok(()),
        _ if line.starts_with("new file mode ") => Err("a batch gives a new file no mode"),
        _ if line.starts_with("old mode ") || line.starts_with("new mode ") => {
            Err("a batch does not change the mode of a file")
        }
        _ if ["rename ", "copy ", "similarity ", "dissimilarity "]
            .iter()
            .any(|start| line.starts_with(start)) =>
        {
            Err("a diff that renames or copies is not applied; use rename")
        }
        _ if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") => {
            Err("it is a binary patch")
        }
        _ if REDUNDANT_HEADERS.iter().any(|start| line.starts_with(start)) => Ok(()),
        _ => Err("a unified diff begins with `--- ` and `+++ `"),
    }
}

/// Parses a file name, without the timestamp that may follow it; `None` for `/dev/null`.
fn file_name(text: &str) -> Option<String> {
    let text = text.split('\t').next().unwrap_or_default().trim_end_matches('\r');
    match (text, text.strip_prefix('"').and_then(|text| text.strip_suffix('"'))) {
        ("/dev/null", _) => None,
        (_, Some(quoted)) => Some(unquoted(quoted)),
        _ => Some(text.to_owned()),
    }
}

/// Whether a file name in a diff means this path, with or without the prefix `side` (`a/` or `b/`).
fn is_same_file(name: &str, side: &str, path: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches("./").to_owned();
    let path = plain(path);
    plain(name) == path || name.strip_prefix(side).is_some_and(|name| plain(name) == path)
}

/// The index of a line that cannot be parsed, and the reason.
type LineError = (usize, &'static str);

/// Parses the hunk that begins at `lines[*index]`, and advances `index` past it.
fn parse_hunk<'a>(lines: &[&'a str], index: &mut usize) -> Result<Hunk<'a>, LineError> {
    let head = lines.get(*index).copied().unwrap_or_default();
    let why = if head.starts_with("--- ") || head.starts_with("diff ") {
        "the diff is of more than one file"
    } else {
        "a hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`"
    };
    let ([first, mut before], [_, mut after]) = parse_ranges(head).ok_or((*index, why))?;
    let start = if before == 0 { first } else { first.checked_sub(1).ok_or((*index, why))? };
    *index += 1;
    let mut hunk = Hunk { start, lines: Vec::new() };
    while before > 0 || after > 0 {
        let line =
            lines.get(*index).ok_or((*index, "the hunk has fewer lines than its head says"))?;
        let (kind, text) = match line.split_at_checked(1) {
            Some((" ", text)) => (Kind::Context, text),
            Some(("-", text)) => (Kind::Removed, text),
            Some(("+", text)) => (Kind::Added, text),
            Some(("\\", _)) => {
                mark_no_break(&mut hunk, (*index, "there is no line above it"))?;
                *index += 1;
                continue;
            }
            // An empty context line whose leading space was stripped.
            None => (Kind::Context, ""),
            _ => return Err((*index, "it begins with none of blank, `-`, `+` and `\\`")),
        };
        let too_many = (*index, "the hunk has more lines than its head says");
        if kind != Kind::Added {
            before = before.checked_sub(1).ok_or(too_many)?;
        }
        if kind != Kind::Removed {
            after = after.checked_sub(1).ok_or(too_many)?;
        }
        hunk.lines.push(Line { kind, text, has_break: true });
        *index += 1;
    }
    if lines.get(*index).is_some_and(|line| line.starts_with('\\')) {
        mark_no_break(&mut hunk, (*index, "there is no line above it"))?;
        *index += 1;
    }
    Ok(hunk)
}

/// Marks the last line of `hunk` as one without a line break; returns `error` if there is none.
fn mark_no_break(hunk: &mut Hunk<'_>, error: LineError) -> Result<(), LineError> {
    hunk.lines.last_mut().ok_or(error)?.has_break = false;
    Ok(())
}

/// Parses the head of a hunk: the number of its first line and its number of lines, before and after the change.
fn parse_ranges(head: &str) -> Option<([usize; 2], [usize; 2])> {
    let (ranges, _) = head.strip_prefix("@@ -")?.split_once(" @@")?;
    let (before, after) = ranges.split_once(" +")?;
    let range = |text: &str| match text.split_once(',') {
        Some((first, count)) => Some([first.parse().ok()?, count.parse().ok()?]),
        None => Some([text.parse().ok()?, 1]),
    };
    Some((range(before)?, range(after)?))
}
