//! Answers what a planner wants to see before it plans (SPEC §10), with the tools that only read.
//!
//! Only the workspace itself is shown, without sensitive files ([`Toolbox::for_looks`]), because an answer may go to
//! another machine. Files are shown and searched with their secrets hidden, as if they stood so on the disk: neither
//! some lines of a file nor what a search finds can tell of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::Value;
use uuid::Uuid;

use super::inspect::Inspect;
use super::search::{FileGlob, FileSearch, REWRITTEN_BYTES, Rewrite};
use super::tool::Tool;
use super::{CallResult, Context, ToolError, Toolbox};
use crate::authorization::StepWalls;
use crate::plan::InspectQuery;
use crate::process::NoCapture;
use crate::run::{LOOK_BYTES, Listener, Look, Looked, StopSignal, text};
use crate::workspace::{Access, Last, file};

/// The maximum number of results of each kind in an answer of the code engine.
const MAX_RESULTS: usize = 200;
/// The maximum size of one line that matches a search, in bytes. The rest of the line is left out.
const LINE_BYTES: usize = 1_000;
/// The maximum duration of one look.
const LOOK_TIME: Duration = Duration::from_secs(30);

/// What a look is answered with besides the workspace.
pub struct LookSources<'a> {
    /// The destination of the goal's host and its facts.
    pub host: Option<(&'a str, &'a Value)>,
    /// Hides the secrets in the whole text of a file, and keeps its lines.
    pub hide: &'a Rewrite<'a>,
}

impl Toolbox {
    /// Answers a look. These must be tools for looks.
    pub fn look(&self, look: &Look, from: &LookSources<'_>, stop: &StopSignal) -> Looked {
        let (answered, is_late) = within(LOOK_TIME, stop, |stop| self.answer(look, from, stop));
        let answered = if is_late {
            let seconds = LOOK_TIME.as_secs();
            Err(format!("it took longer than {seconds} seconds: make it narrower"))
        } else {
            answered
        };
        match answered {
            Err(why) => Looked::refused(look.clone(), why),
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

    fn answer(
        &self,
        look: &Look,
        from: &LookSources<'_>,
        stop: &StopSignal,
    ) -> Result<Answer, String> {
        let search = |pattern: &str, root: &str| {
            let search = FileSearch { pattern, root, rewrite: Some(from.hide) };
            self.rows(&search, root, stop)
        };
        match look {
            Look::Read { path, lines } => self.read_for_planner(path, *lines, from.hide),
            Look::Search { pattern, root } => search(pattern, root),
            Look::Glob { pattern } => self.rows(&FileGlob { pattern, root: "." }, ".", stop),
            Look::Symbol { name } => self.inspect(&InspectQuery::Symbol(name.clone()), stop),
            Look::Inspect { query } => match InspectQuery::parse(query) {
                Some(InspectQuery::Search(text)) => search(&regex::escape(&text), "."),
                Some(query) => self.inspect(&query, stop),
                None => {
                    let known = InspectQuery::FORMS.join(", ");
                    Err(format!("{query:?} is no query; the queries are {known}"))
                }
            },
            Look::Host { target } => match from.host {
                Some((named, facts)) if named == target => {
                    Ok(Answer { rows: Some(facts.clone()), ..Answer::default() })
                }
                _ => Err(format!("{target} is not the host that the person named at the start")),
            },
        }
    }

    fn read_for_planner(
        &self,
        path: &str,
        lines: Option<(u64, u64)>,
        hide: &Rewrite<'_>,
    ) -> Result<Answer, String> {
        let place = self.resolve(path, Last::Follow).map_err(|error| error.to_string())?;
        let opened = place.open(path, Access::Read).map_err(|error| error.to_string())?;
        let (file, metadata) = opened.ok_or_else(|| format!("{path} does not exist"))?;
        if metadata.is_dir() {
            return Err(format!("{path} is a folder: list it with a glob"));
        }
        let bytes = file::read_up_to(file, path, Access::Read, REWRITTEN_BYTES)
            .map_err(|error| error.to_string())?;
        let text = str::from_utf8(&bytes).map_err(|_| format!("{path} is not a text in UTF-8"))?;
        let mut text = hide(text);
        if let Some((first, last)) = lines {
            let all = text.split_inclusive('\n').count();
            let index = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
            if index(first) > all {
                return Err(format!("{path} has fewer than {first} lines"));
            }
            let chosen = text.split_inclusive('\n').take(index(last)).skip(index(first - 1));
            text = chosen.collect();
        }
        let is_cut = text.len() > LOOK_BYTES;
        text.truncate(text.floor_char_boundary(LOOK_BYTES));
        let left_out = is_cut
            .then(|| format!("only the first {}: ask for lines", text::size(LOOK_BYTES as u64)));
        Ok(Answer { text: Some(text), rows: None, left_out })
    }

    /// The rows that a search or a list finds below `root`.
    fn rows(&self, tool: &dyn Tool, root: &str, stop: &StopSignal) -> Result<Answer, String> {
        self.resolve(root, Last::Follow).map_err(|error| error.to_string())?;
        let found = self.invoke_for_planner(tool, stop)?;
        let mut rows: Vec<Value> =
            serde_json::from_slice(&found.stdout.unwrap_or_default()).unwrap_or_default();
        let (all, mut size) = (rows.len(), 0);
        let shown = rows.iter_mut().map_while(|row| {
            if let Some(Value::String(text)) = row.get_mut("text") {
                text.truncate(text.floor_char_boundary(LINE_BYTES));
            }
            size += row.to_string().len() + 1;
            (size <= LOOK_BYTES).then_some(())
        });
        let kept = shown.count();
        rows.truncate(kept);
        let left = all - kept;
        let rows_left_out =
            (left > 0).then(|| format!("{left} of {all} rows are left out: make it narrower"));
        let problems = found.result.get("problems").and_then(Value::as_array);
        let not_searched = problems.filter(|all| !all.is_empty()).map(|all| {
            let named: Vec<&str> = all.iter().take(3).filter_map(Value::as_str).collect();
            let more = all.len() - named.len();
            format!("not searched: {}, and {more} more", named.join(", "))
        });
        let left_out: Vec<String> = rows_left_out.into_iter().chain(not_searched).collect();
        let left_out = (!left_out.is_empty()).then(|| left_out.join("; "));
        Ok(Answer { text: None, rows: Some(rows.into()), left_out })
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

/// Does the work until the outer stop or the end of the time, whichever comes first. Returns also whether the time was
/// over before the work was done.
fn within<T>(limit: Duration, stop: &StopSignal, work: impl FnOnce(&StopSignal) -> T) -> (T, bool) {
    let inner = Arc::new(StopSignal::default());
    let forward: Arc<Listener> = Arc::new({
        let inner = Arc::clone(&inner);
        move || inner.set()
    });
    stop.listen(&forward);
    if stop.is_set() {
        inner.set();
    }
    let (done, is_done) = sync_channel::<()>(0);
    std::thread::scope(|scope| {
        let stop = &inner;
        let timer = scope.spawn(move || {
            let is_late = is_done.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if is_late {
                stop.set();
            }
            is_late
        });
        let result = work(&inner);
        drop(done);
        (result, timer.join().unwrap_or(false))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::risk::Policy;

    fn toolbox(folder: &std::path::Path) -> Toolbox {
        Toolbox::open(folder, &Policy::default()).unwrap().for_looks()
    }

    /// Hides each `hunter2`, and the lines from `BEGIN` to `END`.
    fn hide(text: &str) -> String {
        let text = text.replace("hunter2", "[hidden]");
        let Some((before, rest)) = text.split_once("BEGIN") else { return text };
        let (block, after) = rest.split_once("END").unwrap();
        format!("{before}[hidden]{}{after}", "\n".repeat(block.matches('\n').count()))
    }

    fn look(toolbox: &Toolbox, value: Value) -> Looked {
        let look = Look::from_json(&value).unwrap();
        toolbox.look(&look, &LookSources { host: None, hide: &hide }, &StopSignal::default())
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
            (json!({"search": "(?:a{1,1000}){1,1000}"}), "exceeds size limit"),
            (json!({"inspect": "all"}), "is no query"),
            (json!({"host": "db.example.org"}), "not the host"),
        ] {
            let looked = look(&tools, value.clone());
            let error = looked.error.clone().unwrap_or_default();
            assert!(!looked.ok && error.contains(why), "{value}: {looked:?}");
        }
    }

    fn write(folder: &std::path::Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    // Also through a link with a harmless name.
    #[test]
    fn sensitive_files_are_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let hidden = [
            ".netrc",
            "server.kdbx",
            ".env",
            ".env.production",
            "deploy/ID_RSA",
            "tls/server.key",
            "prod.tfvars",
            "config/secrets.yml",
            ".git/config",
        ];
        write(folder.path(), &hidden.map(|path| (path, "needle")));
        let source = "fn needle() {}\n";
        write(folder.path(), &[("ordinary.txt", "needle"), ("build.rs", source), ("a.rs", source)]);
        std::os::unix::fs::symlink(".netrc", folder.path().join("notes.txt")).unwrap();
        for (path, name) in [(".env", "copy.txt"), ("a.rs", "same.txt")] {
            std::fs::hard_link(folder.path().join(path), folder.path().join(name)).unwrap();
        }
        let tools = toolbox(folder.path());
        for path in hidden.into_iter().chain(["notes.txt", "copy.txt", "build.rs", "./.ENV"]) {
            let looked = look(&tools, json!({ "read": path }));
            let is_refused = !looked.ok && looked.text.is_none() && looked.rows.is_none();
            assert!(is_refused, "{path}: {looked:?}");
        }
        assert!(look(&tools, json!({"read": "same.txt"})).ok);
        let places = |rows: &Value, field: &str| -> Vec<String> {
            let rows = rows.as_array().unwrap().iter();
            rows.map(|row| row[field].as_str().unwrap().to_owned()).collect()
        };
        for query in [json!({"search": "needle"}), json!({"inspect": "search:needle"})] {
            let looked = look(&tools, query);
            let paths = places(looked.rows.as_ref().unwrap(), "path");
            assert_eq!(paths, ["a.rs", "ordinary.txt", "same.txt"]);
            let error = looked.error.unwrap();
            assert!(error.starts_with("not searched: copy.txt") && error.ends_with(" 0 more"));
        }
        let looked = look(&tools, json!({"search": "needle", "root": ".env"}));
        assert_eq!(looked.rows, Some(json!([])));
        let looked = look(&tools, json!({"glob": "**"}));
        assert_eq!(looked.rows, Some(json!(["a.rs", "copy.txt", "ordinary.txt", "same.txt"])));
        for query in [json!({"symbol": "needle"}), json!({"inspect": "overview"})] {
            let looked = look(&tools, query);
            let rows = looked.rows.unwrap().to_string();
            assert!(looked.ok && !rows.contains("build.rs"), "{rows}");
        }
        let looked = look(&tools, json!({"symbol": "needle"}));
        assert_eq!(places(&looked.rows.unwrap()["definitions"], "file_path"), ["a.rs"]);
    }

    // Neither lines, nor columns, nor whether a search finds something tells of a secret.
    #[test]
    fn lines_and_searches_see_only_what_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let text = "user hunter2 x\nBEGIN\nalpha\nbeta\nEND\nlast hunter2\n";
        write(folder.path(), &[("a.txt", text)]);
        let tools = toolbox(folder.path());
        let read = |lines: Value| look(&tools, json!({"read": "a.txt", "lines": lines})).text;
        assert_eq!(read(json!([3, 4])).unwrap(), "\n\n");
        assert_eq!(read(json!([6, 6])).unwrap(), "last [hidden]\n");
        for pattern in ["hunter2", "hunter.", "alpha", "^b", "BEGIN|h.nter2", "^user .{7} x"] {
            let looked = look(&tools, json!({ "search": pattern }));
            assert_eq!(looked.rows, Some(json!([])), "{pattern}");
        }
        let looked = look(&tools, json!({"search": "x|last"}));
        assert_eq!(
            looked.rows,
            Some(json!([
                {"path": "a.txt", "line": 1, "column": 15, "text": "user [hidden] x"},
                {"path": "a.txt", "line": 6, "column": 1, "text": "last [hidden]"},
            ]))
        );
    }

    #[test]
    fn large_and_binary_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("a.txt", "needle\n"), ("b.bin", "needle\n\0")]);
        let large = std::fs::File::create(folder.path().join("large.txt")).unwrap();
        large.set_len(10 << 30).unwrap();
        let tools = toolbox(folder.path());
        for lines in [json!([1, 1]), json!([1_000_000, 1_000_001])] {
            let looked = look(&tools, json!({"read": "large.txt", "lines": lines}));
            assert!(looked.error.unwrap().contains("more than"));
        }
        let looked = look(&tools, json!({"search": "needle"}));
        assert_eq!(looked.rows.unwrap().as_array().unwrap().len(), 1);
        let error = looked.error.unwrap();
        assert!(looked.truncated && error.starts_with("not searched: large.txt"), "{error}");
    }

    #[test]
    fn work_ends_with_the_time_or_the_outer_stop() {
        fn wait(stop: &StopSignal) {
            let (sender, receiver) = sync_channel(1);
            let listener: Arc<Listener> = Arc::new(move || {
                let _ = sender.send(());
            });
            stop.listen(&listener);
            if !stop.is_set() {
                receiver.recv().unwrap();
            }
        }
        let stop = StopSignal::default();
        assert!(within(Duration::ZERO, &stop, wait).1);
        let hours = Duration::from_secs(36_000);
        assert_eq!(within(hours, &stop, |_| 7), (7, false));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| within(hours, &stop, wait));
            stop.set();
            assert!(!waiting.join().unwrap().1);
        });
    }

    #[test]
    fn rows_end_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let lines = format!("{}\n", "x".repeat(5_000)).repeat(800);
        std::fs::write(folder.path().join("a.txt"), lines).unwrap();
        let looked = look(&toolbox(folder.path()), json!({"search": "x+"}));
        let rows = looked.rows.unwrap();
        assert!(looked.truncated && rows.to_string().len() <= LOOK_BYTES);
        assert_eq!(rows[0]["text"].as_str().unwrap().len(), LINE_BYTES);
        assert!(rows.as_array().unwrap().len() > 100);
    }
}
