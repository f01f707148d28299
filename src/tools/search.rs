//! `file_search` and `file_glob` (SPEC §4): search the files that ripgrep would choose, in a stable order.
//!
//! Several threads walk folders and search files. The matches are sorted afterwards, so their order does not
//! depend on timing. Links are not followed.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use globset::{GlobBuilder, GlobSet};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, Sink, SinkMatch};
use serde::Serialize;
use serde_json::json;

use super::tool::{PreviewWithEffects, Tool, file_edge, read_only};
use super::{CallResult, Context, ProjectedToolbox, ToolError, Toolbox};
use crate::plan::Code;
use crate::run::text::beginning;
use crate::run::{Edge, EdgeType, ErrorInfo, StopSignal};
use crate::workspace::scan::{ANSWER_BYTES, SearchResults, root, search_files};
use crate::workspace::{Access, Kind, Last, REWRITTEN_BYTES, SearchBudget, WorkspaceError, file};

/// Maximum number of files to which one search has edges; the result has the full count.
const MAX_REFERENCES: usize = 1_000;

/// Maximum size of a compiled pattern, in bytes. A search with a larger one could take minutes and much memory.
const PATTERN_BYTES: usize = 10 << 20;

/// One matching line in the output of `file_search`.
#[derive(Serialize)]
struct MatchingLine<'a> {
    path: &'a str,
    /// The line number, from 1.
    line: u64,
    /// The byte offset of the first match in the line, from 1.
    column: u64,
    /// The line without its line break; bytes that are not UTF-8 are replaced by U+FFFD.
    text: &'a str,
}

/// A pattern that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the pattern {pattern:?} cannot be used: {message}")]
pub(super) struct BadPattern {
    pattern: String,
    message: String,
}

impl ErrorInfo for BadPattern {
    fn code(&self) -> Code {
        Code::BadArgument
    }

    fn next(&self) -> String {
        "Correct the pattern in the plan.".to_owned()
    }

    fn is_about_the_plan(&self) -> bool {
        true
    }
}

/// Compiles the pattern of `file_search`.
pub(super) fn regex(pattern: &str) -> Result<RegexMatcher, BadPattern> {
    RegexMatcherBuilder::new()
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .build(pattern)
        .map_err(|error| bad_pattern(pattern, &error.to_string()))
}

/// Compiles the pattern of `file_glob`. Uses a set with one pattern, because building a single matcher panics
/// when the pattern is too large.
pub(super) fn glob(pattern: &str) -> Result<GlobSet, BadPattern> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .and_then(|glob| GlobSet::builder().add(glob).build())
        .map_err(|error| bad_pattern(pattern, &error.kind().to_string()))
}

fn bad_pattern(pattern: &str, message: &str) -> BadPattern {
    BadPattern { pattern: beginning(pattern), message: beginning(message) }
}

/// A search for the lines that match a regular expression.
pub(super) struct FileSearch<'a> {
    pub(super) pattern: &'a str,
    pub(super) root: &'a str,
}

impl Tool for FileSearch<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        regex(self.pattern)?;
        let place = describe_root(projected, self.root)?;
        let summary = format!("Searches {place} for lines that match {}.", self.pattern);
        Ok(read_only(summary, Vec::new()))
    }

    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        let matcher = regex(self.pattern)?;
        let place = root(toolbox, self.root)?;
        let answer = search_files(
            &place,
            SearchBudget::unlimited(context.stop),
            |searcher, relative, key| {
                let Some((file, _)) = place.root.open_file(relative, key, Access::Read)? else {
                    return Ok(None);
                };
                let mut lines = LineSink {
                    matcher: &matcher,
                    path: key,
                    stop: context.stop,
                    json: Vec::new(),
                    count: 0,
                    binary: false,
                };
                let searched = if place.root.hidden.is_some() {
                    let bytes = file::read_up_to(file, key, Access::Read, REWRITTEN_BYTES)?;
                    if bytes.contains(&0) {
                        return Ok(None);
                    }
                    let shown = place.root.shown(key, bytes)?;
                    searcher.search_slice(&matcher, &shown, &mut lines)
                } else {
                    let reader = StoppableReader { file, stop: context.stop };
                    searcher.search_reader(&matcher, reader, &mut lines)
                };
                searched.map_err(|source| WorkspaceError::ReadFailed {
                    path: key.to_owned(),
                    source,
                })?;
                Ok((!lines.binary && lines.count > 0).then_some((lines.json, lines.count)))
            },
        )?;
        let found = answer.found.iter().take(MAX_REFERENCES);
        let references = found.map(|found| file_edge(EdgeType::Referenced, found.path.as_str()));
        let executed_on = file_edge(EdgeType::ExecutedOn, place.key);
        let edges = std::iter::once(executed_on).chain(references).collect();
        Ok(search_result(answer, edges))
    }
}

/// A list of the files whose paths match a glob pattern.
pub(super) struct FileGlob<'a> {
    pub(super) pattern: &'a str,
    pub(super) root: &'a str,
}

impl Tool for FileGlob<'_> {
    fn preview(&self, projected: ProjectedToolbox<'_>) -> Result<PreviewWithEffects, ToolError> {
        glob(self.pattern)?;
        let place = describe_root(projected, self.root)?;
        let summary = format!("Lists, of {place}, what matches {}.", self.pattern);
        Ok(read_only(summary, Vec::new()))
    }

    /// Lists binary files too: a file is known to be binary only when it is read.
    fn invoke(&self, toolbox: &Toolbox, context: &Context<'_>) -> Result<CallResult, ToolError> {
        let matcher = glob(self.pattern)?;
        let place = root(toolbox, self.root)?;
        let answer =
            search_files(&place, SearchBudget::unlimited(context.stop), |_, relative, key| {
                // When the root is a file, its own name is matched.
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
        Ok(search_result(answer, vec![file_edge(EdgeType::ExecutedOn, place.key)]))
    }
}

/// The searched files, as a phrase for a summary.
fn describe_root(projected: ProjectedToolbox<'_>, root: &str) -> Result<String, WorkspaceError> {
    let place = projected.toolbox.resolve(root, Last::Follow)?;
    let kind = projected.overlay.kind(&place);
    kind.check_exists(root)?;
    Ok(match kind {
        Kind::Folder if place.key == "." => "the files of the workspace".to_owned(),
        Kind::Folder => format!("the files below {}", place.key),
        _ => place.key,
    })
}

/// The result of a search: its rows as a JSON array in stdout, its problems in stderr, and counts and problems as
/// the return value.
pub(super) fn search_result(answer: SearchResults, edges: Vec<Edge>) -> CallResult {
    let stdout = answer.json();
    let result = json!({
        "matches": answer.found.iter().map(|found| found.count).sum::<u64>(),
        "files_with_matches": answer.found.len(),
        "files": answer.files,
        "problems": answer.problems,
    });
    let stderr = (!answer.problems.is_empty()).then(|| {
        let lines = answer.problems.iter().map(|line| format!("{line}\n"));
        lines.collect::<String>().into_bytes()
    });
    CallResult { stdout: Some(stdout), stderr, result, edges, ..CallResult::default() }
}

/// A reader that fails after a stop, so that a huge file does not delay the stop.
struct StoppableReader<'a> {
    file: File,
    stop: &'a StopSignal,
}

impl Read for StoppableReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}

/// Collects the matching lines of one file as JSON.
struct LineSink<'a> {
    matcher: &'a RegexMatcher,
    path: &'a str,
    stop: &'a StopSignal,
    json: Vec<u8>,
    count: u64,
    binary: bool,
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let line = found.bytes();
        let start = self.matcher.find(line).map_err(io::Error::other)?;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.count > 0 {
            self.json.push(b',');
        }
        let row = MatchingLine {
            path: self.path,
            line: found.line_number().unwrap_or(0),
            column: start.map_or(0, |start| start.start() as u64) + 1,
            text: &String::from_utf8_lossy(line),
        };
        serde_json::to_writer(&mut self.json, &row)?;
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
    fn stop_ends_reading_within_a_file() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let stop = StopSignal::default();
        let mut reader = StoppableReader { file: File::open(path).unwrap(), stop: &stop };
        let mut buffer = [0; 16];
        assert_eq!(reader.read(&mut buffer).unwrap(), 16);
        stop.set();
        assert!(reader.read(&mut buffer).is_err());
    }
}
