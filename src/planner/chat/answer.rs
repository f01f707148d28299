//! Parses the answer of a server: one JSON document, or a stream of events with pieces of it. An answer that is not a
//! plan is reported and never repaired.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::reply::{Failure, error_message, not_a_plan, quoted, unfenced};
use super::prompt::{LOOK, SUBMIT};
use crate::run::MAX_LOOKS;

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    choices: Vec<Choice>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    /// The complete answer, or one piece of a streamed one.
    #[serde(alias = "delta", default)]
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    index: Option<usize>,
    #[serde(default)]
    function: Function,
}

#[derive(Deserialize, Default)]
struct Function {
    name: Option<String>,
    /// JSON as a text; some servers send the JSON value itself.
    arguments: Option<Value>,
}

/// The plan in an answer that is one document.
pub(super) fn parse_document(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut answer = PartialAnswer::default();
    answer.document(bytes)?;
    answer.finished = true;
    answer.finish()
}

/// The pieces of an answer received so far, joined.
#[derive(Default)]
pub(super) struct PartialAnswer {
    content: String,
    refusal: String,
    /// The name of each called function, and its arguments as JSON.
    calls: Vec<(String, String)>,
    reason: Option<String>,
    finished: bool,
}

impl PartialAnswer {
    /// The bytes of the answer received so far: its text and the function arguments.
    pub(super) fn bytes(&self) -> usize {
        self.content.len() + self.calls.iter().map(|(_, arguments)| arguments.len()).sum::<usize>()
    }

    /// Adds one line of the event stream. Returns true for `[DONE]`, after which nothing follows.
    ///
    /// # Errors
    /// The line is not an event of this interface, or reports an error of the server.
    pub(super) fn line(&mut self, line: &[u8]) -> Result<bool, Failure> {
        let line = line.trim_ascii();
        // Other lines are blank lines, which end an event, and comments, which keep the connection open.
        let Some(data) = line.strip_prefix(b"data:").map(<[u8]>::trim_ascii) else {
            return Ok(false);
        };
        if data == b"[DONE]" {
            self.finished = true;
            return Ok(true);
        }
        self.document(data)?;
        Ok(false)
    }

    fn document(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let document: Document = serde_json::from_slice(bytes)
            .map_err(|error| not_a_plan(&format!("it is no answer of a chat ({error})"), bytes))?;
        if let Some(error) = document.error.filter(|error| !error.is_null()) {
            let message = error_message(error.to_string().as_bytes());
            return Err(Failure::unavailable(format!("the server reports: {message}"), true));
        }
        // The request asks for one answer; any others are ignored.
        let Some(choice) = document.choices.into_iter().next() else { return Ok(()) };
        let message = choice.message;
        self.content.push_str(message.content.as_deref().unwrap_or_default());
        self.refusal.push_str(message.refusal.as_deref().unwrap_or_default());
        for (position, call) in message.tool_calls.unwrap_or_default().into_iter().enumerate() {
            self.call(position, call);
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finished = true;
            self.reason = Some(reason);
        }
        Ok(())
    }

    /// Adds a piece of a function call. `position` is its place in its document, for calls without an index.
    fn call(&mut self, position: usize, call: Call) {
        // More calls than looks are allowed cannot be used.
        let index = call.index.unwrap_or(position).min(MAX_LOOKS);
        if self.calls.len() <= index {
            self.calls.resize_with(index + 1, Default::default);
        }
        let Some((name, arguments)) = self.calls.get_mut(index) else { return };
        name.push_str(call.function.name.as_deref().unwrap_or_default());
        match call.function.arguments {
            Some(Value::String(text)) => arguments.push_str(&text),
            Some(Value::Null) | None => {}
            Some(other) => arguments.push_str(&other.to_string()),
        }
    }

    /// The plan in the complete answer.
    ///
    /// # Errors
    /// The answer was cut off, refused or filtered, calls another function, or is not a JSON object.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, Failure> {
        match self.reason.as_deref() {
            Some("length") => {
                return Err(Failure::no_plan(
                    "the answer was cut off at the model's limit; take a smaller goal or a larger limit",
                ));
            }
            Some("content_filter") => {
                return Err(Failure::unsafe_plan("the server's filter kept the answer back"));
            }
            _ => {}
        }
        if !self.finished {
            return Err(Failure::no_plan("the answer was cut off: it has no end"));
        }
        if !self.refusal.is_empty() {
            let refusal = quoted(&self.refusal);
            return Err(Failure::unsafe_plan(format!("the model refuses: {refusal}")));
        }
        self.calls.retain(|(name, arguments)| !(name.is_empty() && arguments.is_empty()));
        let text = match self.calls.first() {
            Some((name, arguments)) if name == SUBMIT => arguments.clone(),
            Some((name, _)) if name == LOOK => joined_looks(&self.calls)?,
            Some((name, _)) => {
                let message = format!("the model calls {name:?}, which is none of its functions");
                return Err(Failure::no_plan(message));
            }
            None => self.content,
        };
        let plan = unfenced(text.trim());
        match serde_json::from_str::<Value>(plan) {
            Ok(Value::Object(_)) => Ok(format!("{plan}\n").into_bytes()),
            Ok(_) => Err(not_a_plan("it is no JSON object", plan.as_bytes())),
            Err(error) => Err(not_a_plan(&format!("it is no JSON ({error})"), plan.as_bytes())),
        }
    }
}

/// One list of the looks in all calls; models call the function several times at once.
fn joined_looks(calls: &[(String, String)]) -> Result<String, Failure> {
    /// Each look stays as it is written, so that the loop sees a field that stands in it twice.
    #[derive(Deserialize)]
    struct Arguments<'a> {
        #[serde(borrow)]
        looks: Vec<&'a RawValue>,
    }
    let mut looks = Vec::new();
    for (_, arguments) in calls.iter().filter(|(name, _)| name == LOOK) {
        let more: Arguments<'_> = serde_json::from_str(arguments).map_err(|error| {
            let what = if error.is_data() { "it has no list of looks" } else { "it is no JSON" };
            not_a_plan(&format!("{what} ({error})"), arguments.as_bytes())
        })?;
        looks.extend(more.looks.into_iter().map(RawValue::get));
    }
    Ok(format!("{{\"looks\":[{}]}}", looks.join(",")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(message: &Value, reason: &str) -> Result<String, Failure> {
        let document = json!({ "choices": [{ "message": message, "finish_reason": reason }] });
        parse_document(document.to_string().as_bytes())
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn events(lines: &[&str]) -> Result<String, Failure> {
        let mut answer = PartialAnswer::default();
        for line in lines {
            if answer.line(line.as_bytes())? {
                break;
            }
        }
        answer.finish().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_plan_is_text_a_fence_or_call() {
        for answer in [
            json!({ "content": " {\"a\": 1} " }),
            json!({ "content": "```json\n{\"a\": 1}\n```" }),
            json!({ "content": "```\n{\"a\": 1}\n```" }),
            json!({ "content": null, "tool_calls": [
                { "function": { "name": "submit_plan", "arguments": "{\"a\": 1}" } }] }),
        ] {
            assert_eq!(message(&answer, "stop").unwrap(), "{\"a\": 1}\n", "{answer}");
        }
        let object = json!({ "tool_calls": [
            { "function": { "name": "submit_plan", "arguments": { "a": 1 } } }] });
        assert_eq!(message(&object, "tool_calls").unwrap(), "{\"a\":1}\n");
    }

    #[test]
    fn looks_of_several_calls_are_joined() {
        let call = |index: usize, looks: Value| {
            let arguments = json!({ "looks": looks }).to_string();
            json!({ "index": index, "function": { "name": "look", "arguments": arguments } })
        };
        let answer = json!({ "tool_calls": [
            call(0, json!([{"read": "a"}])), call(1, json!([{"glob": "*"}, {"symbol": "b"}]))] });
        let expected = json!({"looks": [{"read": "a"}, {"glob": "*"}, {"symbol": "b"}]});
        let joined = message(&answer, "tool_calls").unwrap();
        assert_eq!(serde_json::from_str::<Value>(&joined).unwrap(), expected);
        let call = |arguments: &str| json!({ "tool_calls": [{ "function": { "name": "look", "arguments": arguments } }] });
        let twice = r#"{"looks":[{"read":"a","read":"b"}]}"#;
        assert_eq!(message(&call(twice), "tool_calls").unwrap().trim_end(), twice);
        let faulty = call("{}");
        assert!(message(&faulty, "stop").unwrap_err().message.contains("no list of looks"));
    }

    #[test]
    fn an_answer_without_a_plan_is_an_error() {
        for (answer, reason, expected_part) in [
            (json!({ "content": "Sure! {\"a\": 1}" }), "stop", "the answer begins: Sure!"),
            (json!({ "content": "[1]" }), "stop", "no JSON object"),
            (json!({ "content": "" }), "stop", "the answer is empty"),
            (json!({ "content": "{\"a\": " }), "stop", "no JSON ("),
            (json!({ "content": "{\"a\": 1}" }), "length", "cut off at the model's limit"),
            (json!({ "content": "```\n{}\n```\n```\n{}\n```" }), "stop", "no JSON ("),
            (
                json!({ "tool_calls": [{ "function": { "name": "rm", "arguments": "{}" } }] }),
                "stop",
                "calls \"rm\"",
            ),
        ] {
            let failure = message(&answer, reason).unwrap_err();
            assert!(failure.message.contains(expected_part), "{answer}: {}", failure.message);
            assert!(failure.retryable, "{answer}");
        }
        let refusal = message(&json!({ "refusal": "No." }), "stop").unwrap_err();
        assert_eq!((refusal.code, refusal.retryable), ("unsafe_plan", false));
        assert!(parse_document(b"<html>").unwrap_err().message.contains("no answer of a chat"));
        assert!(parse_document(b"{}").unwrap_err().message.contains("empty"));
    }

    #[test]
    fn streamed_pieces_are_joined_and_must_end() {
        let piece = |text: &str| {
            format!("data: {}", json!({ "choices": [{ "delta": { "content": text } }] }))
        };
        let (one, two) = (piece("{\"a\""), piece(": 1}"));
        let end =
            format!("data:{}", json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }));
        let expected = "{\"a\": 1}\n";
        assert_eq!(events(&[": hello", &one, "", &two, &end, "data: [DONE]"]).unwrap(), expected);
        assert_eq!(events(&[&one, &two, "data: [DONE]"]).unwrap(), expected);
        assert_eq!(events(&[&one, &two, &end]).unwrap(), expected);
        assert!(events(&[&one, &two]).unwrap_err().message.contains("cut off"));
        assert!(events(&["data: {\"cho"]).is_err());
        let error = "data: {\"error\": {\"message\": \"out of memory\"}}";
        assert!(events(&[&one, error]).unwrap_err().message.ends_with("out of memory"));
        let call = |function: Value| {
            format!(
                "data: {}",
                json!({ "choices": [{ "delta": { "tool_calls": [
                { "index": 0, "function": function }] } }] })
            )
        };
        let calls = [
            call(json!({ "name": "submit_plan", "arguments": "{\"a\"" })),
            call(json!({ "arguments": ": 1}" })),
            end,
        ];
        assert_eq!(events(&calls.each_ref().map(String::as_str)).unwrap(), expected);
    }

    #[test]
    fn error_message_of_the_server_is_quoted() {
        assert_eq!(error_message(br#"{"error": {"message": "m", "code": 1}}"#), "m");
        assert_eq!(error_message(br#"{"error": "m"}"#), "m");
        assert_eq!(error_message(br#"{"detail": "m"}"#), "m");
        assert_eq!(error_message(b" plain \n"), "plain");
    }
}
