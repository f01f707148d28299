//! Converts the output of Rust's test harness into diagnostics: one for each failed test, with the location and
//! message of its first panic.

use std::collections::BTreeMap;

use super::collected::Collected;
use super::relay::{Forward, OutputParser};
use crate::cargo::Names;
use crate::run::{DiagnosticArtifact, Level, Stream, text};

/// No more lines are added to a panic message of this size, in bytes.
const MESSAGE_BYTES: usize = 2000;
/// Maximum length of a line that is parsed, in bytes.
const LINE_BYTES: usize = 64 << 10;

/// Parses the output of the harness line by line.
#[derive(Default)]
pub(super) struct TestParser {
    failed: Collected<String>,
    /// The first panic of each test, from its captured output.
    panics: BTreeMap<String, Panic>,
    /// The test whose captured output is being read.
    current: Option<String>,
    /// Whether the next lines belong to the panic message of the test in `current`.
    in_message: bool,
}

#[derive(Debug, Default)]
struct Panic {
    /// File, line and column, as printed.
    location: String,
    message: String,
}

impl OutputParser for TestParser {
    fn holds_back(&self, _: Stream) -> bool {
        false
    }

    fn parse_line(&mut self, stream: Stream, line: &[u8]) -> Forward {
        if stream == Stream::Stdout && line.len() <= LINE_BYTES {
            self.parse(&String::from_utf8_lossy(line));
        }
        Forward::Unchanged
    }
}

impl TestParser {
    fn parse(&mut self, line: &str) {
        if let Some(name) = between(line, "test ", " ... FAILED") {
            self.failed.push(true, name.to_owned());
        } else if let Some(name) = between(line, "---- ", " stdout ----") {
            self.current = Some(name.to_owned());
            self.in_message = false;
        } else if let (Some(test), Some(location)) = (&self.current, panic_location(line)) {
            // The first panic is the cause; later ones are consequences.
            self.in_message = !self.panics.contains_key(test);
            if self.in_message {
                let panic = Panic { location: location.to_owned(), message: String::new() };
                self.panics.insert(test.clone(), panic);
            }
        } else if line.is_empty()
            || line.starts_with("note: run with")
            || line == "stack backtrace:"
        {
            self.in_message = false;
        } else if self.in_message
            && let Some(panic) = self.current.as_ref().and_then(|test| self.panics.get_mut(test))
            && panic.message.len() < MESSAGE_BYTES
        {
            if !panic.message.is_empty() {
                panic.message.push('\n');
            }
            panic.message.push_str(line);
        }
    }

    /// The diagnostics of the failed tests, and the number of those left out.
    pub(super) fn finish(self, names: &mut Names<'_>) -> (Vec<DiagnosticArtifact>, usize) {
        let (failed, left_out) = self.failed.finish();
        let diagnostics = failed.iter().map(|test| diagnostic(test, self.panics.get(test), names));
        (diagnostics.collect(), left_out)
    }
}

fn diagnostic(test: &str, panic: Option<&Panic>, names: &mut Names<'_>) -> DiagnosticArtifact {
    let location = panic.and_then(|panic| parse_location(&panic.location));
    let why = panic.map(|panic| panic.message.as_str()).filter(|message| !message.is_empty());
    let why = why.map_or_else(String::new, |why| format!(": {}", text::beginning(why)));
    let message = format!("the test {test} failed{why}");
    DiagnosticArtifact {
        file_name: location.map_or_else(String::new, |(file, ..)| names.get(file).path),
        line_start: location.map_or(0, |(_, line, _)| line),
        column_start: location.map(|(.., column)| column),
        ..DiagnosticArtifact::new(Level::Error, "failed", message)
    }
}

fn between<'l>(line: &'l str, before: &str, after: &str) -> Option<&'l str> {
    line.strip_prefix(before)?.strip_suffix(after).filter(|name| !name.is_empty())
}

/// The `LOCATION` in `thread 'NAME' (ID) panicked at LOCATION:`.
fn panic_location(line: &str) -> Option<&str> {
    let (_, location) = line.strip_prefix("thread '")?.split_once(" panicked at ")?;
    location.strip_suffix(':')
}

/// Parses the file, line and column of a panic.
fn parse_location(text: &str) -> Option<(&str, i64, i64)> {
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file, line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::Policy;
    use crate::tools::Toolbox;

    #[test]
    fn failed_tests_have_their_first_panic() {
        let printed = "running 3 tests\ntest a::fine ... ok\ntest a::wrong ... FAILED\n\
            test src/lib.rs - f (line 3) ... FAILED\n\nfailures:\n\n---- a::wrong stdout ----\n\
            told by the test: panicked at nothing\n\n\
            thread 'a::wrong' (77) panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n  left: 1\n \
            right: 2\nnote: run with `RUST_BACKTRACE=1`\n\nthread 'a::wrong' panicked at src/drop.rs:1:1:\nagain\n\n\
            failures:\n    a::wrong\n\ntest result: FAILED. 1 passed; 2 failed\n";
        let mut tests = TestParser::default();
        for line in printed.lines() {
            assert!(matches!(
                tests.parse_line(Stream::Stdout, line.as_bytes()),
                Forward::Unchanged
            ));
            tests.parse_line(Stream::Stderr, b"test b ... FAILED");
        }
        let folder = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::open(folder.path(), &Policy::default()).unwrap();
        let (diagnostics, left_out) = tests.finish(&mut Names::new(&toolbox, None));
        assert_eq!(left_out, 0);
        let [wrong, doc] = &diagnostics[..] else { panic!("{diagnostics:?}") };
        let message =
            "the test a::wrong failed: assertion `left == right` failed\n  left: 1\n right: 2";
        assert_eq!(wrong.message, message);
        assert_eq!((wrong.file_name.as_str(), wrong.line_start), ("src/lib.rs", 9));
        assert_eq!(wrong.column_start, Some(5));
        assert_eq!((doc.file_name.as_str(), doc.line_start), ("", 0));
        assert_eq!(doc.message, "the test src/lib.rs - f (line 3) failed");
    }
}
