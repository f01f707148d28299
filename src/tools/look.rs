//! Answers what a planner wants to see before it plans (SPEC §10), with the tools that only read.
//!
//! Only the workspace itself is shown, never another root. Sensitive files are left out, because an answer may go to
//! another machine. The caller hides secrets.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};

use regex::RegexBuilder;
use serde_json::Value;
use uuid::Uuid;

use super::inspect::Inspect;
use super::search::{FileGlob, FileSearch};
use super::tool::Tool;
use super::{CallResult, Context, ToolError, Toolbox};
use crate::authorization::StepWalls;
use crate::plan::InspectQuery;
use crate::process::NoCapture;
use crate::risk::sensitive_rule;
use crate::run::{LOOK_BYTES, Look, Looked, StopSignal, text};
use crate::workspace::{Access, Last};

/// The maximum number of results of each kind in an answer of the code engine.
const MAX_RESULTS: usize = 200;
/// The maximum size of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 4 << 20;
/// The maximum size of one line that matches a search, in bytes. The rest of the line is left out.
const LINE_BYTES: usize = 1_000;

impl Toolbox {
    /// Answers a look; `host` are the facts of the goal's host, by its destination.
    pub fn look(&self, look: &Look, host: Option<(&str, &Value)>, stop: &StopSignal) -> Looked {
        let refused = |why: String| Looked::refused(look.clone(), why);
        let answered = match look {
            Look::Read { path, lines } => self.read_for_planner(path, *lines),
            Look::Search { pattern, root } => check_pattern(pattern)
                .and_then(|()| self.rows(&FileSearch { pattern, root }, root, stop)),
            Look::Glob { pattern } => self.rows(&FileGlob { pattern, root: "." }, ".", stop),
            Look::Symbol { name } => self.inspect(&InspectQuery::Symbol(name.clone()), stop),
            Look::Inspect { query } => match InspectQuery::parse(query) {
                Some(InspectQuery::Search(text)) => {
                    let pattern = &regex::escape(&text);
                    self.rows(&FileSearch { pattern, root: "." }, ".", stop)
                }
                Some(query) => self.inspect(&query, stop),
                None => {
                    let known = InspectQuery::FORMS.join(", ");
                    Err(format!("{query:?} is no query; the queries are {known}"))
                }
            },
            Look::Host { target } => match host {
                Some((named, facts)) if named == target => {
                    Ok(Answer { rows: Some(facts.clone()), ..Answer::default() })
                }
                _ => Err(format!("{target} is not the host that the person named at the start")),
            },
        };
        match answered {
            Err(why) => refused(why),
            Ok(Answer { text, rows, left_out }) => Looked {
                look: look.clone(),
                ok: true,
                text,
                rows,
                truncated: left_out.is_some(),
                error: left_out,
            },
        }
    }

    fn read_for_planner(&self, path: &str, lines: Option<(u64, u64)>) -> Result<Answer, String> {
        let place = self.resolve(path, Last::Follow).map_err(|error| error.to_string())?;
        if !place.root.is_workspace {
            return Err(format!("{path} is outside the workspace"));
        }
        check_ordinary(path)?;
        check_ordinary(&place.key)?;
        let opened = place.open(path, Access::Read).map_err(|error| error.to_string())?;
        let (file, metadata) = opened.ok_or_else(|| format!("{path} does not exist"))?;
        if metadata.is_dir() {
            return Err(format!("{path} is a folder: list it with a glob"));
        }
        let unreadable = |error: std::io::Error| format!("{path} cannot be read: {error}");
        let limit = LOOK_BYTES as u64 + 1;
        let (first, last) = lines.unwrap_or((1, u64::MAX));
        let mut reader = BufReader::new(file);
        for _ in 1..first {
            if reader.skip_until(b'\n').map_err(unreadable)? == 0 {
                return Err(format!("{path} has fewer than {first} lines"));
            }
        }
        let mut bytes = Vec::new();
        for _ in first..=last {
            let left = limit - bytes.len() as u64;
            let read =
                (&mut reader).take(left).read_until(b'\n', &mut bytes).map_err(unreadable)?;
            if read == 0 || bytes.len() as u64 == limit {
                break;
            }
        }
        let is_cut = bytes.len() > LOOK_BYTES;
        let mut text = match String::from_utf8(bytes) {
            Ok(text) => text,
            // Only a cut can end a text inside a character.
            Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
                String::from_utf8_lossy(error.as_bytes()).into_owned()
            }
            Err(_) => return Err(format!("{path} is not a text in UTF-8")),
        };
        text.truncate(text.floor_char_boundary(LOOK_BYTES));
        let left_out = is_cut
            .then(|| format!("only the first {}: ask for lines", text::size(LOOK_BYTES as u64)));
        Ok(Answer { text: Some(text), rows: None, left_out })
    }

    /// The rows that a search or a list finds below `root`, without those in sensitive files.
    fn rows(&self, tool: &dyn Tool, root: &str, stop: &StopSignal) -> Result<Answer, String> {
        let place = self.resolve(root, Last::Follow).map_err(|error| error.to_string())?;
        if !place.root.is_workspace {
            return Err(format!("{root} is outside the workspace"));
        }
        let found = self.invoke_for_planner(tool, stop)?;
        let rows: Vec<Value> =
            serde_json::from_slice(&found.stdout.unwrap_or_default()).unwrap_or_default();
        let (mut all, size) = (0, Cell::new(0_usize));
        let kept = rows.into_iter().filter_map(|mut row| {
            let path = row.get("path").unwrap_or(&row).as_str();
            // Not even counted: whether a search finds something in such a file tells what is in it.
            if path.is_some_and(|path| sensitive_rule(path).is_some()) {
                return None;
            }
            all += 1;
            if let Some(Value::String(text)) = row.get_mut("text") {
                text.truncate(text.floor_char_boundary(LINE_BYTES));
            }
            Some(row)
        });
        let found: Vec<Value> = kept.collect();
        let kept: Vec<Value> = found
            .into_iter()
            .take_while(|row| {
                size.set(size.get() + row.to_string().len() + 1);
                size.get() <= LOOK_BYTES
            })
            .collect();
        let left = all - kept.len();
        let left_out =
            (left > 0).then(|| format!("{left} of {all} rows are left out: make it narrower"));
        Ok(Answer { text: None, rows: Some(kept.into()), left_out })
    }

    fn inspect(&self, query: &InspectQuery, stop: &StopSignal) -> Result<Answer, String> {
        // Fewer results, until they fit.
        for max_results in [MAX_RESULTS, 50, 10] {
            let found = self.invoke_for_planner(&Inspect { query, max_results }, stop)?;
            if found.result.to_string().len() <= LOOK_BYTES {
                let left_out = (max_results < MAX_RESULTS)
                    .then(|| format!("at most {max_results} results of each kind"));
                return Ok(Answer { text: None, rows: Some(found.result), left_out });
            }
        }
        Err("the answer is too large".to_owned())
    }

    fn invoke_for_planner(&self, tool: &dyn Tool, stop: &StopSignal) -> Result<CallResult, String> {
        let context = Context {
            expected: &BTreeMap::new(),
            stop,
            execution_id: Uuid::nil(),
            output: &|_, _| {},
            capture: &NoCapture,
            walls: StepWalls::NONE,
            terminal: None,
        };
        let message = |error: &ToolError| error.to_string();
        let found = tool.invoke(self, &context).map_err(|error| message(&error))?;
        match &found.error {
            Some(error) => Err(message(error)),
            None => Ok(found),
        }
    }
}

/// What was found, and what was left out of it.
#[derive(Default)]
struct Answer {
    text: Option<String>,
    rows: Option<Value>,
    left_out: Option<String>,
}

/// Refuses a pattern whose search could take minutes and much memory. Another fault is reported by the search.
fn check_pattern(pattern: &str) -> Result<(), String> {
    match RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build() {
        Err(regex::Error::CompiledTooBig(_)) => {
            Err("the pattern repeats too much: make it simpler".to_owned())
        }
        _ => Ok(()),
    }
}

fn check_ordinary(path: &str) -> Result<(), String> {
    match sensitive_rule(path) {
        Some(rule) => {
            Err(format!("{path} is a sensitive path ({rule}), which planners are not shown"))
        }
        None => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::risk::Policy;

    fn toolbox(folder: &std::path::Path) -> Toolbox {
        Toolbox::open(folder, &Policy::default()).unwrap()
    }

    fn look(toolbox: &Toolbox, value: Value) -> Looked {
        toolbox.look(&Look::from_json(&value).unwrap(), None, &StopSignal::default())
    }

    #[test]
    fn files_are_read_whole_by_lines_and_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "one\ntwo\nthree").unwrap();
        let long = "é".repeat(LOOK_BYTES);
        std::fs::write(folder.path().join("long.txt"), &long).unwrap();
        std::fs::write(folder.path().join("binary"), [0xFF, 0xFE, 0]).unwrap();
        let tools = toolbox(folder.path());
        let text = |value| look(&tools, value).text;
        assert_eq!(text(json!({"read": "a.txt"})).as_deref(), Some("one\ntwo\nthree"));
        assert_eq!(text(json!({"read": "a.txt", "lines": [2, 2]})).as_deref(), Some("two\n"));
        assert_eq!(
            text(json!({"read": "./a.txt", "lines": [2, 9]})).as_deref(),
            Some("two\nthree")
        );
        let cut = look(&tools, json!({"read": "long.txt"}));
        assert!(cut.truncated && cut.ok);
        assert_eq!(cut.text.unwrap().len(), LOOK_BYTES);
        for (value, why) in [
            (json!({"read": "a.txt", "lines": [9, 9]}), "fewer than 9 lines"),
            (json!({"read": "binary"}), "not a text"),
            (json!({"read": "none"}), "does not exist"),
            (json!({"read": "."}), "folder"),
            (json!({"read": "../x"}), "outside"),
            (json!({"read": "/etc/hostname"}), "outside"),
            (json!({"search": "("}), "cannot be used"),
            (json!({"search": "(?:a{1,1000}){1,1000}"}), "repeats too much"),
            (json!({"inspect": "all"}), "is no query"),
            (json!({"host": "db.example.org"}), "not the host"),
        ] {
            let looked = look(&tools, value.clone());
            let error = looked.error.clone().unwrap_or_default();
            assert!(!looked.ok && error.contains(why), "{value}: {looked:?}");
        }
    }

    // Also through a link with a harmless name.
    #[test]
    fn sensitive_files_are_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".netrc"), "password needle").unwrap();
        std::fs::write(folder.path().join("server.kdbx"), "needle").unwrap();
        std::fs::write(folder.path().join("ordinary.txt"), "needle").unwrap();
        std::os::unix::fs::symlink(".netrc", folder.path().join("notes.txt")).unwrap();
        let tools = toolbox(folder.path());
        for path in [".netrc", "server.kdbx", "notes.txt", ".NETRC"] {
            let looked = look(&tools, json!({ "read": path }));
            assert!(!looked.ok && looked.text.is_none(), "{path}: {looked:?}");
        }
        let looked = look(&tools, json!({"search": "needle"}));
        let rows = looked.rows.clone().unwrap();
        let paths: Vec<_> =
            rows.as_array().unwrap().iter().map(|row| row["path"].clone()).collect();
        assert_eq!((paths, looked.truncated), (vec![json!("ordinary.txt")], false), "{looked:?}");
        let looked = look(&tools, json!({"inspect": "search:needle"}));
        assert_eq!(looked.rows, Some(rows));
        let looked = look(&tools, json!({"glob": "**"}));
        assert_eq!(looked.rows, Some(json!(["ordinary.txt"])), "{looked:?}");
    }

    #[test]
    fn rows_end_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let lines = format!("{}\n", "x".repeat(5_000)).repeat(1_000);
        std::fs::write(folder.path().join("a.txt"), lines).unwrap();
        let looked = look(&toolbox(folder.path()), json!({"search": "x+"}));
        let rows = looked.rows.unwrap();
        assert!(looked.truncated && rows.to_string().len() <= LOOK_BYTES);
        assert_eq!(rows[0]["text"].as_str().unwrap().len(), LINE_BYTES);
        assert!(rows.as_array().unwrap().len() > 100);
    }
}
