//! Reads what an agent's program printed. An answer that is not a plan is reported in the agent's own words and never
//! repaired.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::reply::{Failure, error_message, not_a_plan, quoted, unfenced};
use super::Agent;
use super::schema::without_nulls;
use crate::plan::has_duplicate_keys;
use crate::run::coloured;
use crate::tools::AgentOutput;

/// Maximum number of bytes of an agent's stderr that are quoted: its end.
const QUOTED_BYTES: usize = 500;

/// The answer in the output of an agent's program: looks, a plan, or a plan with words about the goal.
pub(super) fn read(agent: Agent, output: &AgentOutput) -> Result<Vec<u8>, Failure> {
    let text = match agent {
        Agent::Codex => of_codex(output),
        Agent::Claude => of_claude(output),
        Agent::Gemini => of_gemini(output),
    }?;
    plan(&text)
}

/// The bytes of an answer, without the fields that are `null`.
fn plan(text: &str) -> Result<Vec<u8>, Failure> {
    let text = unfenced(text.trim());
    let value: Value = serde_json::from_str(text)
        .map_err(|error| not_a_plan(&format!("it is no JSON ({error})"), text.as_bytes()))?;
    // The value keeps only the last of two fields with one name.
    if has_duplicate_keys(text) {
        return Err(not_a_plan("it has a field twice", text.as_bytes()));
    }
    let Value::Object(mut fields) = without_nulls(value) else {
        return Err(not_a_plan("it is no JSON object", text.as_bytes()));
    };
    // A list of no looks beside a plan asks for nothing.
    if fields.contains_key("plan")
        && fields.get("looks").and_then(Value::as_array).is_some_and(Vec::is_empty)
    {
        fields.remove("looks");
    }
    Ok(format!("{}\n", Value::Object(fields)).into_bytes())
}

/// One line of Codex: an event.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    item: Option<Item>,
    message: Option<String>,
    error: Option<ErrorMessage>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    command: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct ErrorMessage {
    message: String,
}

/// The events of Codex while they arrive, to show what it does.
#[derive(Default)]
pub(super) struct Events {
    /// A line whose end has not arrived.
    line: String,
}

impl Events {
    /// Adds a piece of the output, and shows the events in it.
    pub(super) fn add(&mut self, text: &str, progress: &dyn Fn(&str)) {
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if piece.ends_with('\n') {
                if let Some(shown) = serde_json::from_str(&self.line).ok().and_then(shown) {
                    progress(&format!("{}\n", quoted(&shown)));
                }
                self.line.clear();
            }
        }
    }
}

/// An event in words, if it tells what Codex does.
fn shown(event: Event) -> Option<String> {
    match (event.kind.as_str(), event.item) {
        ("error", _) => event.message,
        ("item.started", Some(item)) => item.command.map(|command| format!("Codex runs {command}")),
        ("item.completed", Some(item)) if item.kind == "reasoning" => item.text,
        ("item.completed", Some(item)) => item.message,
        _ => None,
    }
}

fn of_codex(output: &AgentOutput) -> Result<String, Failure> {
    let text = String::from_utf8_lossy(&output.stdout);
    let (mut answer, mut failed, mut last_error) = (None, None, None);
    for event in text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok()) {
        match (event.kind.as_str(), event.item) {
            ("item.completed", Some(item)) if item.kind == "agent_message" => answer = item.text,
            ("turn.failed", _) => failed = event.error.map(|error| error.message),
            ("error", _) => last_error = event.message,
            _ => {}
        }
    }
    let words = failed.clone().or(last_error).map(|words| error_message(words.as_bytes()));
    match answer.filter(|_| failed.is_none() && output.failure.is_none()) {
        Some(answer) => Ok(answer),
        None => Err(failure(Agent::Codex, output, words)),
    }
}

/// The result of Claude Code: `SDKResultMessage` in the types of its SDK.
#[derive(Deserialize)]
struct ClaudeResult<'a> {
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    subtype: String,
    result: Option<String>,
    #[serde(borrow)]
    structured_output: Option<&'a RawValue>,
    stop_reason: Option<String>,
    #[serde(default)]
    errors: Vec<String>,
}

fn of_claude(output: &AgentOutput) -> Result<String, Failure> {
    let ClaudeResult { is_error, subtype, result, structured_output, stop_reason, errors } =
        match serde_json::from_slice(&output.stdout) {
            Ok(result) => result,
            Err(_) => return Err(failure(Agent::Claude, output, None)),
        };
    if stop_reason.as_deref() == Some("refusal") {
        let words = quoted(&result.unwrap_or_default());
        return Err(Failure::unsafe_plan(format!("the model refuses: {words}")));
    }
    if is_error || output.failure.is_some() || subtype != "success" {
        let words = Some(errors.join("; ")).filter(|words| !words.is_empty()).or(result);
        return Err(failure(Agent::Claude, output, words.or(Some(subtype))));
    }
    match structured_output {
        Some(answer) => Ok(answer.get().to_owned()),
        None => Ok(result.unwrap_or_default()),
    }
}

/// The document of Gemini CLI: on stdout the answer, or on stderr why there is none.
#[derive(Deserialize)]
struct GeminiResult {
    response: Option<String>,
    error: Option<GeminiError>,
}

#[derive(Deserialize)]
struct GeminiError {
    message: String,
}

fn of_gemini(output: &AgentOutput) -> Result<String, Failure> {
    let of_stdout: Option<GeminiResult> = serde_json::from_slice(&output.stdout).ok();
    let (response, error) = of_stdout.map(|it| (it.response, it.error)).unwrap_or_default();
    match response.filter(|_| error.is_none() && output.failure.is_none()) {
        Some(response) => Ok(response),
        None => {
            let words = error.or_else(|| error_in(&output.stderr)).map(|error| error.message);
            Err(failure(Agent::Gemini, output, words))
        }
    }
}

/// The error in the JSON document with which a stderr ends, after warnings.
fn error_in(stderr: &[u8]) -> Option<GeminiError> {
    let text = String::from_utf8_lossy(stderr);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let rest = text.get(start..)?;
        if line.starts_with('{') {
            let mut documents = serde_json::Deserializer::from_str(rest).into_iter();
            let document: Option<GeminiResult> = documents.next().and_then(Result::ok);
            if let Some(error) = document.and_then(|document| document.error) {
                return Some(error);
            }
        }
        start += line.len();
    }
    None
}

/// The failure of a program without an answer, in its own words: those of its output, or else the end of its stderr.
fn failure(agent: Agent, output: &AgentOutput, words: Option<String>) -> Failure {
    let name = agent.program();
    let words = words.filter(|words| !words.trim().is_empty()).map(|words| quoted(words.trim()));
    let words = words.unwrap_or_else(|| end_of(&output.stderr));
    if words.is_empty() && output.failure.is_none() {
        return Failure::no_plan(format!("{name} gave no answer"));
    }
    let ended = output.failure.clone().unwrap_or_else(|| format!("{name} failed"));
    let retryable = !needs_a_person(&words);
    let words = if words.is_empty() { words } else { format!(": {words}") };
    Failure::unavailable(format!("{ended}{words}"), retryable)
}

/// The last lines of a stderr, without colours.
fn end_of(stderr: &[u8]) -> String {
    let (text, _) = coloured(&String::from_utf8_lossy(stderr));
    let text = text.trim();
    let start = text.ceil_char_boundary(text.len().saturating_sub(QUOTED_BYTES));
    let end = text.get(start..).unwrap_or_default();
    // From the beginning of a line, if there is one.
    let whole = end.split_once('\n').map(|(_, rest)| rest).filter(|_| start > 0);
    whole.unwrap_or(end).to_owned()
}

/// Whether asking again cannot help, because the agent first needs a login, a trusted folder or other arguments.
fn needs_a_person(words: &str) -> bool {
    const SIGNS: [&str; 7] = [
        "401 Unauthorized",
        "Not logged in",
        "/login",
        "Auth method",
        "not running in a trusted directory",
        "unexpected argument",
        "unknown option",
    ];
    SIGNS.iter().any(|sign| words.contains(sign))
}

#[cfg(test)]
mod tests;
