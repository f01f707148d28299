//! Answers what a planner wants to see before it plans (SPEC §10), with the tools that only read.
//!
//! Only the workspace itself is shown, without sensitive files ([`Toolbox::for_looks`]), because an answer may go to
//! another machine. The secrets of a file are hidden first; lines are chosen, and text and symbols searched, in what
//! remains. So neither a few lines of a file nor the result of a search reveals a secret.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::Value;
use uuid::Uuid;

use super::inspect::Inspect;
use super::search::{FileGlob, FileSearch};
use super::tool::Tool;
use super::{CallResult, Context, ToolError, Toolbox};
use crate::authorization::StepWalls;
use crate::plan::InspectQuery;
use crate::process::NoCapture;
use crate::run::{LOOK_BYTES, Listener, Look, Looked, StopSignal, text};
use crate::workspace::{Access, Last, REWRITTEN_BYTES, file};

/// The maximum number of results of each kind in an answer of the code engine.
const MAX_RESULTS: usize = 200;
/// The maximum size of one line that matches a search, in bytes. The rest of the line is left out.
const LINE_BYTES: usize = 1_000;
/// The maximum duration of one look.
const LOOK_TIME: Duration = Duration::from_secs(30);

impl Toolbox {
    /// Answers a look; `host` is the destination of the goal's host and its facts. These must be tools for looks.
    pub fn look(&self, look: &Look, host: Option<(&str, &Value)>, stop: &StopSignal) -> Looked {
        let (answered, is_late) = within(LOOK_TIME, stop, |stop| self.answer(look, host, stop));
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
        host: Option<(&str, &Value)>,
        stop: &StopSignal,
    ) -> Result<Answer, String> {
        let search =
            |pattern: &str, root: &str| self.rows(&FileSearch { pattern, root }, root, stop);
        match look {
            Look::Read { path, lines } => self.read_for_planner(path, *lines),
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
            Look::Host { target } => match host {
                Some((named, facts)) if named == target => {
                    Ok(Answer { rows: Some(facts.clone()), ..Answer::default() })
                }
                _ => Err(format!("{target} is not the host that the person named at the start")),
            },
        }
    }

    fn read_for_planner(&self, path: &str, lines: Option<(u64, u64)>) -> Result<Answer, String> {
        let place = self.resolve(path, Last::Follow).map_err(|error| error.to_string())?;
        let opened = place.open(path, Access::Read).map_err(|error| error.to_string())?;
        let (file, metadata) = opened.ok_or_else(|| format!("{path} does not exist"))?;
        if metadata.is_dir() {
            return Err(format!("{path} is a folder: list it with a glob"));
        }
        let bytes = file::read_up_to(file, path, Access::Read, REWRITTEN_BYTES)
            .map_err(|error| error.to_string())?;
        let not_text = || format!("{path} is not a text in UTF-8");
        str::from_utf8(&bytes).map_err(|_| not_text())?;
        let shown = place.root.shown(path, bytes).map_err(|error| error.to_string())?;
        let mut text = String::from_utf8(shown).map_err(|_| not_text())?;
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
mod tests;
