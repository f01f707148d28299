//! Applies a unified diff of one file, exactly at the lines it names (SPEC §9), in memory.
//!
//! Context and removed lines must match the file exactly. There is no fuzzy matching: a hunk applied at a
//! similar place, or some lines away, could change text that the person who approved the diff never saw.

use std::fmt;

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
    Mismatch { hunk: usize, line: usize, expected: Shown, found: Shown },
    #[error("hunk {hunk} begins before the end of the one above it")]
    OutOfOrder { hunk: usize },
    #[error("hunk {hunk} has a line without a line break that is not the last")]
    BreakMissing { hunk: usize },
}

/// A line of a file, shortened for a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    fn of(line: Option<&[u8]>) -> Self {
        let Some(line) = line else { return Self("behind the end of the file".to_owned()) };
        let (text, end) = match line {
            [text @ .., b'\r', b'\n'] => (text, " with CRLF"),
            [text @ .., b'\n'] => (text, ""),
            text => (text, " without a line break"),
        };
        Self(format!("{:?}{end}", text::beginning(&String::from_utf8_lossy(text))))
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
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

/// Header lines of git that only repeat what the file names and hunks contain.
const SAID_AGAIN: [&str; 3] = ["diff --git ", "index ", "deleted file mode "];

impl<'a> Patch<'a> {
    /// Parses a diff, which must be of the file `path`.
    pub(super) fn read(diff: &'a str, path: &str) -> Result<Self, PatchError> {
        let lines: Vec<&str> = diff.split_inclusive('\n').map(without_break).collect();
        let unreadable = |at: usize, why| PatchError::Unreadable { line: at + 1, why };
        let mut at = 0;
        let before = loop {
            let line = lines.get(at).ok_or_else(|| unreadable(at, "there is no line `--- `"))?;
            match line.strip_prefix("--- ") {
                Some(name) => break name,
                None => heading(line).map_err(|why| unreadable(at, why))?,
            }
            at += 1;
        };
        at += 1;
        let after = lines.get(at).and_then(|line| line.strip_prefix("+++ "));
        let after = after.ok_or_else(|| unreadable(at, "`+++ ` must follow `--- `"))?;
        at += 1;
        let (before, after) = (Name::read(before), Name::read(after));
        for (name, side) in [(&before, "a/"), (&after, "b/")] {
            if let Name::File(name) = name
                && !same(name, side, path)
            {
                return Err(PatchError::OtherFile { named: text::beginning(name) });
            }
        }
        let (creates, deletes) = (before == Name::Nothing, after == Name::Nothing);
        if creates && deletes {
            return Err(unreadable(at - 1, "both names are /dev/null"));
        }
        let mut hunks = Vec::new();
        while at < lines.len() {
            hunks.push(hunk(&lines, &mut at).map_err(|(at, why)| unreadable(at, why))?);
        }
        if hunks.is_empty() {
            return Err(unreadable(at, "there is no hunk"));
        }
        Ok(Self { creates, deletes, hunks })
    }

    /// Whether the diff creates the file, which then must not exist.
    pub(super) fn creates(&self) -> bool {
        self.creates
    }

    /// The new content of the file; `None` when the diff deletes it.
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
                    expected: Shown::of(expected.as_deref()),
                    found: Shown::of(None),
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
                            expected: Shown::of(Some(&bytes)),
                            found: Shown::of(found),
                        });
                    }
                    next += 1;
                }
                if line.kind != Kind::Removed {
                    ends_in_break(&new, number)?;
                    new.extend(bytes);
                }
            }
        }
        let rest = old.get(next..).unwrap_or_default();
        if !rest.is_empty() {
            ends_in_break(&new, self.hunks.len())?;
        }
        new.extend(rest.concat());
        match self.deletes {
            true if new.is_empty() => Ok(None),
            true => Err(PatchError::NotEmptied),
            false => Ok(Some(new)),
        }
    }
}

fn ends_in_break(text: &[u8], hunk: usize) -> Result<(), PatchError> {
    match text.last() {
        None | Some(b'\n') => Ok(()),
        Some(_) => Err(PatchError::BreakMissing { hunk }),
    }
}

fn without_break(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// Accepts a header line above the file names. A header for a change of anything but the content, such as the
/// mode, is an error.
fn heading(line: &str) -> Result<(), &'static str> {
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
        _ if SAID_AGAIN.iter().any(|start| line.starts_with(start)) => Ok(()),
        _ => Err("a unified diff begins with `--- ` and `+++ `"),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Name {
    Nothing,
    File(String),
}

impl Name {
    /// Reads a file name, without the timestamp that may follow it.
    fn read(text: &str) -> Self {
        let text = text.split('\t').next().unwrap_or_default().trim_end_matches('\r');
        match (text, text.strip_prefix('"').and_then(|it| it.strip_suffix('"'))) {
            ("/dev/null", _) => Self::Nothing,
            (_, Some(quoted)) => Self::File(unquoted(quoted)),
            _ => Self::File(text.to_owned()),
        }
    }
}

/// Decodes a file name that git has quoted.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|it| (b'0'..=b'7').contains(it)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.extend(u8::try_from(value));
            }
            other => bytes.extend(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a file name in a diff means this path, with or without the prefix `side` (`a/` or `b/`).
fn same(name: &str, side: &str, path: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches("./").to_owned();
    let path = plain(path);
    plain(name) == path || name.strip_prefix(side).is_some_and(|name| plain(name) == path)
}

type Fault = (usize, &'static str);

/// Parses the hunk that begins at line `at`, and advances `at` past it.
fn hunk<'a>(lines: &[&'a str], at: &mut usize) -> Result<Hunk<'a>, Fault> {
    let head = lines.get(*at).copied().unwrap_or_default();
    let fault = if head.starts_with("--- ") || head.starts_with("diff ") {
        "the diff is of more than one file"
    } else {
        "a hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`"
    };
    let ([first, mut before], [_, mut after]) = ranges(head).ok_or((*at, fault))?;
    let start = if before == 0 { first } else { first.checked_sub(1).ok_or((*at, fault))? };
    *at += 1;
    let mut hunk = Hunk { start, lines: Vec::new() };
    while before > 0 || after > 0 {
        let line = lines.get(*at).ok_or((*at, "the hunk has fewer lines than its head says"))?;
        let (kind, text) = match line.split_at_checked(1) {
            Some((" ", text)) => (Kind::Context, text),
            Some(("-", text)) => (Kind::Removed, text),
            Some(("+", text)) => (Kind::Added, text),
            Some(("\\", _)) => {
                no_break(&mut hunk, (*at, "there is no line above it"))?;
                *at += 1;
                continue;
            }
            // A blank context line whose leading blank was stripped.
            None => (Kind::Context, ""),
            _ => return Err((*at, "it begins with none of blank, `-`, `+` and `\\`")),
        };
        let too_many = (*at, "the hunk has more lines than its head says");
        if kind != Kind::Added {
            before = before.checked_sub(1).ok_or(too_many)?;
        }
        if kind != Kind::Removed {
            after = after.checked_sub(1).ok_or(too_many)?;
        }
        hunk.lines.push(Line { kind, text, has_break: true });
        *at += 1;
    }
    if lines.get(*at).is_some_and(|line| line.starts_with('\\')) {
        no_break(&mut hunk, (*at, "there is no line above it"))?;
        *at += 1;
    }
    Ok(hunk)
}

fn no_break(hunk: &mut Hunk<'_>, fault: Fault) -> Result<(), Fault> {
    hunk.lines.last_mut().ok_or(fault)?.has_break = false;
    Ok(())
}

/// Parses the head of a hunk: the first line and the number of lines, before and after the change.
fn ranges(head: &str) -> Option<([usize; 2], [usize; 2])> {
    let (ranges, _) = head.strip_prefix("@@ -")?.split_once(" @@")?;
    let (before, after) = ranges.split_once(" +")?;
    let range = |text: &str| match text.split_once(',') {
        Some((first, count)) => Some([first.parse().ok()?, count.parse().ok()?]),
        None => Some([text.parse().ok()?, 1]),
    };
    Some((range(before)?, range(after)?))
}
