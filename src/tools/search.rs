//! `file_search` and `file_glob` (SPEC §4): the files that ripgrep would choose, in a stable order.
//!
//! Folders are walked and files searched on all cores and the answers sorted afterwards, so the
//! order never depends on the machine. No link is followed.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use globset::{GlobBuilder, GlobSet};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use serde::Serialize;
use serde_json::json;

use crate::run::{Edge, EdgeType, TargetKind};

use super::looking::Looking;
use super::place::{Last, Place, Roots};
use super::walk::{Step, walk};
use super::{Access, Context, Invocation, Kind, StopSignal, ToolError, words};

/// Most bytes of one answer: 256 MiB.
pub(super) const ANSWER_BYTES: u64 = 256 << 20;
/// Most files that one search is linked to in the evidence; the result says how many there were.
const MOST_REFERENCES: usize = 1_000;

/// One line that matches, as it stands in the answer.
#[derive(Serialize)]
struct Hit<'a> {
    path: &'a str,
    /// From 1.
    line: u64,
    /// The first byte of the first match in the line, from 1.
    column: u64,
    /// The line without its line break; what is not UTF-8 is replaced by U+FFFD.
    text: &'a str,
}

/// The part of the answer that comes from one file.
pub(super) struct Found {
    pub(super) path: String,
    /// Answers as JSON, separated by commas.
    pub(super) json: Vec<u8>,
    pub(super) count: u64,
}

/// Reads the pattern of a search.
pub(super) fn regex(pattern: &str) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .build(pattern)
        .map_err(|error| bad_pattern(pattern, &error.to_string()))
}

/// Reads the pattern of a list. A set of one, because a matcher alone panics when it is too large.
pub(super) fn glob(pattern: &str) -> Result<GlobSet, ToolError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .and_then(|glob| GlobSet::builder().add(glob).build())
        .map_err(|error| bad_pattern(pattern, &error.kind().to_string()))
}

fn bad_pattern(pattern: &str, message: &str) -> ToolError {
    ToolError::BadPattern { pattern: words::beginning(pattern), message: words::beginning(message) }
}

/// Where a search begins: a folder or a file that is there.
pub(super) fn root<'a>(roots: &'a Roots, root: &str) -> Result<Place<'a>, ToolError> {
    let place = roots.resolve(root, Last::Follow)?;
    match place.kind {
        Kind::File | Kind::Folder => Ok(place),
        Kind::Absent => Err(ToolError::NotFound { path: root.to_owned() }),
        kind => Err(ToolError::NotAFile { path: root.to_owned(), kind, access: Access::Read }),
    }
}

/// `file_search`.
pub(super) fn search(
    roots: &Roots,
    pattern: &str,
    root_text: &str,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let matcher = regex(pattern)?;
    let place = root(roots, root_text)?;
    let answer =
        look_at_files(&place, Looking::of_run(context.stop), |searcher, relative, key| {
            let Some((file, _)) = place.root.open_file(relative, key, Access::Read)? else {
                return Ok(None);
            };
            let mut lines = Lines {
                matcher: &matcher,
                path: key,
                stop: context.stop,
                json: Vec::new(),
                count: 0,
                binary: false,
            };
            let reader = StopRead { file, stop: context.stop };
            searcher
                .search_reader(&matcher, reader, &mut lines)
                .map_err(|source| ToolError::ReadFailed { path: key.to_owned(), source })?;
            Ok((!lines.binary && lines.count > 0).then_some((lines.json, lines.count)))
        })?;
    let references = answer.found.iter().take(MOST_REFERENCES).map(|found| Edge {
        edge_type: EdgeType::Referenced,
        target_kind: TargetKind::File,
        target: found.path.clone(),
    });
    let edges = std::iter::once(executed_on(&place)).chain(references).collect();
    Ok(answer.into_invocation(edges))
}

/// `file_glob`. Binary files are listed too: whether a file is one shows only when it is read.
pub(super) fn list(
    roots: &Roots,
    pattern: &str,
    root_text: &str,
    context: &Context<'_>,
) -> Result<Invocation, ToolError> {
    let matcher = glob(pattern)?;
    let place = root(roots, root_text)?;
    let answer = look_at_files(&place, Looking::of_run(context.stop), |_, relative, key| {
        // Of a root that is a file, the name is matched.
        let below = relative
            .strip_prefix(&place.relative)
            .ok()
            .filter(|below| !below.as_os_str().is_empty())
            .or_else(|| relative.file_name().map(Path::new));
        if !below.is_some_and(|below| matcher.is_match(below)) {
            return Ok(None);
        }
        let json = serde_json::to_vec(key).unwrap_or_default();
        Ok(Some((json, 1)))
    })?;
    Ok(answer.into_invocation(vec![executed_on(&place)]))
}

/// The names of all files of the workspace, in the same choice and order.
pub(super) fn names(roots: &Roots, stop: &StopSignal) -> Result<Vec<String>, ToolError> {
    let place = root(roots, ".")?;
    let answer = look_at_files(&place, Looking::of_run(stop), |_, _, _| Ok(Some((Vec::new(), 1))))?;
    Ok(answer.found.into_iter().map(|found| found.path).collect())
}

fn executed_on(place: &Place<'_>) -> Edge {
    Edge {
        edge_type: EdgeType::ExecutedOn,
        target_kind: TargetKind::File,
        target: place.key.clone(),
    }
}

/// What a look at many files found.
pub(super) struct Answer {
    pub(super) found: Vec<Found>,
    pub(super) files: u64,
    /// What could not be looked at, in the system's words; sorted.
    pub(super) problems: Vec<String>,
}

impl Answer {
    /// As a tool's answer: a JSON array, and how much of what there is.
    pub(super) fn into_invocation(self, edges: Vec<Edge>) -> Invocation {
        let mut stdout = vec![b'['];
        for (index, found) in self.found.iter().enumerate() {
            if index > 0 {
                stdout.push(b',');
            }
            stdout.extend_from_slice(&found.json);
        }
        stdout.push(b']');
        let result = json!({
            "matches": self.found.iter().map(|found| found.count).sum::<u64>(),
            "files_with_matches": self.found.len(),
            "files": self.files,
            "problems": self.problems,
        });
        let stderr = (!self.problems.is_empty()).then(|| {
            self.problems
                .iter()
                .flat_map(|line| [line.as_bytes(), b"\n"])
                .flatten()
                .copied()
                .collect()
        });
        Invocation { stdout: Some(stdout), stderr, result, edges, ..Invocation::default() }
    }
}

/// Looks at every file that ripgrep would choose below `place`; `look` gets the path below the root
/// and the canonical one, and gives JSON and how many answers it holds.
///
/// # Errors
/// A limit that is reached, or a stop.
pub(super) fn look_at_files(
    place: &Place<'_>,
    looking: Looking<'_>,
    look: impl Fn(&mut Searcher, &Path, &str) -> Result<Option<(Vec<u8>, u64)>, ToolError> + Sync,
) -> Result<Answer, ToolError> {
    let found = Mutex::new(Vec::<(PathBuf, Found)>::new());
    let problems = Mutex::new(Vec::new());
    let (files, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let limit = Mutex::new(None);
    let stop = looking.stop;
    let visit = |searcher: &mut Searcher, step: Step<'_>| {
        if stop.is_set() || bytes.load(Ordering::Relaxed) > ANSWER_BYTES {
            return ControlFlow::Break(());
        }
        let relative = match step {
            Step::File(relative) => relative,
            Step::Folder(_) | Step::Link(_) | Step::Other(_) => return ControlFlow::Continue(()),
            Step::Problem(text) => {
                lock(&problems).push(text);
                return ControlFlow::Continue(());
            }
        };
        files.fetch_add(1, Ordering::Relaxed);
        let path = place.root.key(relative);
        match look(searcher, relative, &path) {
            Ok(None) => {}
            Ok(Some((json, count))) => {
                bytes.fetch_add(json.len() as u64, Ordering::Relaxed);
                lock(&found).push((relative.to_owned(), Found { path, json, count }));
            }
            // Which file it comes up at depends on the threads; that it comes up does not.
            Err(error @ ToolError::TooMuchToLookAt { .. }) => {
                *lock(&limit) = Some(error);
                return ControlFlow::Break(());
            }
            Err(error) => lock(&problems).push(error.to_string()),
        }
        ControlFlow::Continue(())
    };
    let searcher = || {
        SearcherBuilder::new().line_number(true).binary_detection(BinaryDetection::quit(0)).build()
    };
    let walked = walk(place, looking, searcher, visit);
    if stop.is_set() {
        return Err(ToolError::Cancelled);
    }
    walked?;
    if let Some(limit) = limit.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(limit);
    }
    if bytes.into_inner() > ANSWER_BYTES {
        return Err(ToolError::OutputLimit { limit: ANSWER_BYTES });
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    // By bytes of the whole path: `a-b` comes before `a/b`.
    found.sort_by(|(a, _), (b, _)| {
        a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
    });
    let mut problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
    problems.sort();
    Ok(Answer {
        found: found.into_iter().map(|(_, found)| found).collect(),
        files: files.into_inner(),
        problems,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends with an error once a person asked to stop, so that one huge file cannot hold up the answer.
struct StopRead<'a> {
    file: File,
    stop: &'a StopSignal,
}

impl Read for StopRead<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}

/// Collects the matching lines of one file.
struct Lines<'a> {
    matcher: &'a RegexMatcher,
    path: &'a str,
    stop: &'a StopSignal,
    json: Vec<u8>,
    count: u64,
    binary: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let line = found.bytes();
        let start = self.matcher.find(line).map_err(io::Error::other)?;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.count > 0 {
            self.json.push(b',');
        }
        let hit = Hit {
            path: self.path,
            line: found.line_number().unwrap_or(0),
            column: start.map_or(0, |start| start.start() as u64) + 1,
            text: &String::from_utf8_lossy(line),
        };
        serde_json::to_writer(&mut self.json, &hit)?;
        self.count += 1;
        let full = self.json.len() as u64 > ANSWER_BYTES;
        Ok(!full && !self.stop.is_set())
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_under_way_is_left_at_a_stop() {
        let path = std::env::current_exe().unwrap();
        let stop = StopSignal::default();
        let mut reader = StopRead { file: File::open(path).unwrap(), stop: &stop };
        let mut buffer = [0; 16];
        assert_eq!(reader.read(&mut buffer).unwrap(), 16);
        stop.set();
        assert!(reader.read(&mut buffer).is_err());
    }
}
