//! Unified diffs, of git and of `diff -u`. Each file of a diff becomes one or two edits of a batch, which are applied
//! without fuzz.

mod around;
mod names;

pub(super) use around::is_inside;

use super::lines::Lines;
use super::written::Edits;
use crate::plan::{Code, Edit, Finding, Severity};
use around::is_change;
use names::{check_mode, name, quoted, refused_path, same_path, two_names, unquoted};

/// The edits of a diff.
///
/// # Errors
/// An error for each file that a batch cannot change so.
pub(super) fn edits(mut lines: Lines<'_>) -> Result<Edits, Vec<Finding>> {
    let (mut edits, mut errors, mut files, mut around) = (Vec::new(), Vec::new(), 0_usize, 0_usize);
    while let Some(line) = lines.peek() {
        let begins = match line.strip_prefix("diff --") {
            Some(kind) => {
                kind.starts_with("git ") || kind.starts_with("cc ") || kind.starts_with("combined ")
            }
            None => is_pair(&lines),
        };
        if begins {
            files += 1;
            let begun = lines.index();
            match File::read(&mut lines).and_then(|file| file.edits()) {
                Ok(of_file) => edits.extend(of_file),
                Err((index, message)) => {
                    errors.push(lines.error_at(index, message));
                    // What follows of the same file would only be wrong again.
                    while line.starts_with("diff --")
                        && lines.peek().is_some_and(|next| !next.starts_with("diff --"))
                    {
                        lines.take();
                    }
                }
            }
            // A file that cannot be read may have taken no line.
            if lines.index() == begun {
                lines.take();
            }
            continue;
        }
        if line.starts_with("@@ -") {
            errors.push(lines.error("a hunk without the names of its file (`--- ` and `+++ `)"));
        } else if is_change(line) {
            errors.push(lines.error(
                "a change that a plan cannot be made of: make the diff with git, or with -N and without binary files",
            ));
        }
        around += usize::from(!line.trim().is_empty());
        lines.take();
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let note = format!("{around} lines around the diff are not part of it, and of the plan");
    let note = (around > 0).then(|| Finding::new(Severity::Note, Code::BadValue, "", note));
    let findings = note.into_iter().collect();
    Ok(Edits { edits, files, findings, ..Edits::default() })
}

/// Whether the next lines are the names of a file with hunks.
fn is_pair(lines: &Lines<'_>) -> bool {
    let begins =
        |more, beginning: &str| lines.ahead(more).is_some_and(|it| it.starts_with(beginning));
    begins(0, "--- ") && begins(1, "+++ ")
}

/// The digests of a file without bytes, in SHA-1 and SHA-256.
const OF_NOTHING: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

/// The index of a line, and what is wrong with it.
type Wrong = (usize, String);

/// One file of a diff.
#[derive(Default)]
struct File {
    /// The index of its first line.
    begun: usize,
    is_of_git: bool,
    /// The names in `diff --git`, which have no end of their own.
    both: Option<String>,
    /// The name before, and whether there is a line for it; `None` for `/dev/null`.
    before: Option<Option<String>>,
    after: Option<Option<String>>,
    renamed: (Option<String>, Option<String>),
    creates: bool,
    deletes: bool,
    /// Whether the file had no bytes, by its digest.
    is_empty_before: bool,
    hunks: Vec<Hunk>,
}

/// A part of a file with its changes, as it stands in the diff.
struct Hunk {
    index: usize,
    text: String,
    /// The number of lines that the file has to have there.
    before: usize,
    /// Its added lines, with their line breaks.
    added: String,
}

impl File {
    fn read(lines: &mut Lines<'_>) -> Result<Self, Wrong> {
        let mut file = Self { begun: lines.index(), ..Self::default() };
        if let Some(names) = lines.take_after("diff --git ") {
            (file.is_of_git, file.both) = (true, Some(names.to_owned()));
            file.read_headers(lines)?;
        } else if lines.take_after("diff --").is_some() {
            return Err((
                file.begun,
                "a diff against several versions cannot be applied".to_owned(),
            ));
        }
        if is_pair(lines) {
            for ahead in [0, 1] {
                let time =
                    lines.ahead(ahead).and_then(|line| line.split_once('\t')).map(|(_, time)| time);
                if time.is_some_and(|time| {
                    time.starts_with("1970-01-01") || time.starts_with("1969-12-31")
                }) {
                    return Err((
                        lines.index() + ahead,
                        "by its date the file is not there, which is not clear: write /dev/null"
                            .to_owned(),
                    ));
                }
            }
            file.before = lines.take_after("--- ").map(name);
            file.after = lines.take_after("+++ ").map(name);
            while lines.peek().is_some_and(|line| line.starts_with("@@ ")) {
                file.hunks.push(Hunk::read(lines)?);
            }
            if file.hunks.is_empty() {
                return Err((file.begun, "the names of a file without a hunk".to_owned()));
            }
        }
        Ok(file)
    }

    /// Reads what git says of a file above its names. All of it has a meaning, so nothing is passed over.
    fn read_headers(&mut self, lines: &mut Lines<'_>) -> Result<(), Wrong> {
        let wrong = |lines: &Lines<'_>, message: &str| Err((lines.index(), message.to_owned()));
        loop {
            if let Some(mode) = lines.take_after("new file mode ") {
                self.creates = true;
                check_mode(mode, "created").map_err(|why| (lines.index() - 1, why))?;
            } else if let Some(mode) = lines.take_after("deleted file mode ") {
                self.deletes = true;
                // An executable file is deleted like another.
                let mode = if mode == "100755" { "100644" } else { mode };
                check_mode(mode, "deleted").map_err(|why| (lines.index() - 1, why))?;
            } else if let Some(from) = lines.take_after("rename from ") {
                self.renamed.0 = Some(unquoted(from));
            } else if let Some(to) = lines.take_after("rename to ") {
                self.renamed.1 = Some(unquoted(to));
            } else if let Some(index) = lines.take_after("index ") {
                let before = index.split("..").next().unwrap_or_default();
                self.is_empty_before =
                    before.len() >= 4 && OF_NOTHING.iter().any(|it| it.starts_with(before));
                let mode = index.split_once(' ').map_or("100644", |(_, mode)| mode);
                let mode = if mode == "100755" { "100644" } else { mode };
                check_mode(mode, "changed").map_err(|why| (lines.index() - 1, why))?;
            } else if ["similarity ", "dissimilarity "]
                .iter()
                .all(|it| lines.take_after(it).is_none())
            {
                let Some(line) = lines.peek() else { return Ok(()) };
                let begins = |beginning: &str| line.starts_with(beginning);
                if begins("old mode ") || begins("new mode ") {
                    return wrong(lines, "a plan does not change the mode of a file");
                } else if begins("copy from ") || begins("copy to ") {
                    return wrong(lines, "a plan does not copy a file; make the diff without -C");
                } else if begins("GIT binary patch") || begins("Binary files ") {
                    return wrong(lines, "a plan does not change a binary file");
                }
                return Ok(());
            }
        }
    }

    fn edits(self) -> Result<Vec<Edit>, Wrong> {
        let begun = self.begun;
        let edits = self.unchecked_edits()?;
        let refused = edits.iter().flat_map(Edit::paths).find_map(refused_path);
        refused.map_or(Ok(edits), |why| Err((begun, why)))
    }

    fn unchecked_edits(self) -> Result<Vec<Edit>, Wrong> {
        let wrong = |message: String| Err((self.begun, message));
        if self.renamed != (None, None) && !self.is_one_renaming() {
            return wrong("what it says of a renamed file contradicts itself".to_owned());
        }
        if let (Some(from), Some(to)) = &self.renamed {
            let mut edits = vec![Edit::Rename { path: from.clone(), to: to.clone() }];
            edits.extend(self.patch(to, false));
            return Ok(edits);
        }
        let (before, after) = match (&self.before, &self.after) {
            (Some(before), Some(after)) => (before.clone(), after.clone()),
            _ => {
                let Some((before, after)) = self.both.as_deref().and_then(two_names) else {
                    return wrong("it is not clear of which file this is".to_owned());
                };
                let (before, after) = (Some(before), Some(after));
                (before.filter(|_| !self.creates), after.filter(|_| !self.deletes))
            }
        };
        match (before, after) {
            (None, None) => wrong("both names are /dev/null".to_owned()),
            (None, Some(after)) => {
                if self.is_of_git && !self.creates {
                    return wrong("nothing says that the file is new: `new file mode`".to_owned());
                }
                self.creation(&self.without_side(&after, "b/")?)
            }
            (Some(before), None) => {
                let path = self.without_side(&before, "a/")?;
                if self.hunks.is_empty() && !self.is_empty_before {
                    return wrong("a file is deleted whose lines are not shown".to_owned());
                }
                Ok(self
                    .patch(&path, true)
                    .map_or_else(|| vec![Edit::Delete { path }], |edit| vec![edit]))
            }
            (Some(before), Some(after)) => {
                if self.is_of_git && !(before.starts_with("a/") && after.starts_with("b/")) {
                    return wrong("the names have other folders in front than a/ and b/: make the diff with --default-prefix".to_owned());
                }
                let Some(path) = same_path(&before, &after) else {
                    return wrong(format!(
                        "{before:?} and {after:?} are two files, and nothing says that one is renamed"
                    ));
                };
                if self.creates || self.deletes {
                    return wrong("it says that the file is created or deleted, and names it before and after".to_owned());
                }
                let is_of_empty = self.hunks.first().is_some_and(|hunk| hunk.before == 0);
                if !self.is_of_git && is_of_empty && self.hunks.len() == 1 {
                    return wrong(
                        "it is not clear whether the file is there: a new file is `--- /dev/null`"
                            .to_owned(),
                    );
                }
                match self.patch(&path, false) {
                    Some(edit) => Ok(vec![edit]),
                    None => wrong("nothing of the file is changed".to_owned()),
                }
            }
        }
    }

    /// The path of a file that is only on one side, which git puts in a folder `a` or `b`.
    fn without_side(&self, name: &str, side: &str) -> Result<String, Wrong> {
        match name.strip_prefix(side) {
            Some(path) => Ok(path.to_owned()),
            None if !self.is_of_git && !name.contains('/') => Ok(name.to_owned()),
            None => Err((
                self.begun,
                format!(
                    "whether {name:?} is the path or has a folder of git in front of it is not clear: write {side}…"
                ),
            )),
        }
    }

    /// Whether both names are given, the names above the hunks are the same, and nothing else is said of the file.
    fn is_one_renaming(&self) -> bool {
        let is_same = |shown: &Option<Option<String>>, name: &Option<String>| match shown {
            Some(Some(shown)) => shown.split_once('/').map(|(_, rest)| rest) == name.as_deref(),
            Some(None) => false,
            None => name.is_some(),
        };
        !self.creates
            && !self.deletes
            && is_same(&self.before, &self.renamed.0)
            && is_same(&self.after, &self.renamed.1)
    }

    fn creation(&self, path: &str) -> Result<Vec<Edit>, Wrong> {
        let contents = match self.hunks.as_slice() {
            [] => String::new(),
            [hunk] if hunk.before == 0 => hunk.added.clone(),
            [hunk, ..] => {
                return Err((hunk.index, "a new file has one hunk, of added lines".to_owned()));
            }
        };
        Ok(vec![Edit::Create { path: path.to_owned(), contents }])
    }

    /// The hunks as a diff of this file; `None` if there are none.
    fn patch(&self, path: &str, deletes: bool) -> Option<Edit> {
        if self.hunks.is_empty() {
            return None;
        }
        let after = if deletes { "/dev/null".to_owned() } else { quoted(&format!("b/{path}")) };
        let mut diff = format!("--- {}\n+++ {after}\n", quoted(&format!("a/{path}")));
        self.hunks.iter().for_each(|hunk| diff.push_str(&hunk.text));
        Some(Edit::Patch { path: path.to_owned(), diff })
    }
}

impl Hunk {
    fn read(lines: &mut Lines<'_>) -> Result<Self, Wrong> {
        let index = lines.index();
        let head = lines.take().unwrap_or_default();
        let Some((mut before, mut after)) = ranges(head) else {
            return Err((index, "this is no `@@ -LINE,NUMBER +LINE,NUMBER @@`".to_owned()));
        };
        let (of_file, mut added) = (before, String::new());
        while before > 0 || after > 0 {
            let at = lines.index();
            let has_break = lines.has_break();
            let Some(line) = lines.take() else {
                return Err((index, "the hunk has fewer lines than it says".to_owned()));
            };
            let (uses_before, uses_after) = match line.chars().next() {
                // Programs that cut space at the end of lines leave nothing of an empty line.
                Some(' ') | None => (1, 1),
                Some('-') => (1, 0),
                Some('+') => (0, 1),
                Some('\\') => (0, 0),
                Some('\r') if line == "\r" => (1, 1),
                _ => return Err((at, "the hunk has fewer lines than it says".to_owned())),
            };
            if before < uses_before || after < uses_after {
                return Err((at, "the hunk has other lines than it says".to_owned()));
            }
            (before, after) = (before - uses_before, after - uses_after);
            if line.starts_with('\\') {
                remove_break(&mut added, lines, at);
            } else if uses_before == 0 {
                added.push_str(line.get(1..).unwrap_or_default());
                added.push_str(if has_break { "\n" } else { "" });
            }
        }
        if lines.peek().is_some_and(|line| line.starts_with('\\')) {
            let at = lines.index();
            lines.take();
            remove_break(&mut added, lines, at);
        }
        // `-- ` is the signature below a patch in a mail.
        let next = lines.peek().unwrap_or_default();
        let is_next = is_pair(lines) || next.trim_end() == "--" || next.trim_end().is_empty();
        if next.starts_with([' ', '-', '+']) && !is_next {
            return Err((lines.index(), "the hunk has more lines than it says".to_owned()));
        }
        Ok(Self { index, text: lines.text_from(index), before: of_file, added })
    }
}

/// Removes the last line break, if the line before index `at`, which says that there is none, is an added one.
fn remove_break(added: &mut String, lines: &Lines<'_>, at: usize) {
    if lines.line(at.wrapping_sub(1)).is_some_and(|line| line.starts_with('+')) {
        added.pop();
    }
}

/// The numbers of lines before and after of a hunk.
fn ranges(head: &str) -> Option<(usize, usize)> {
    let (ranges, _) = head.strip_prefix("@@ -")?.split_once(" @@")?;
    let (before, after) = ranges.split_once(" +")?;
    let number = |range: &str| match range.split_once(',') {
        Some((line, number)) => line.parse::<usize>().ok().and_then(|_| number.parse().ok()),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    Some((number(before)?, number(after)?))
}
