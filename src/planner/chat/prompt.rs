//! The request body for a model: the system prompt, the request of the loop, and the functions that the model may call.

use serde_json::{Value, json};

use super::super::Request;
use super::super::prompt::{ACTION_SCHEMA, COMMAND_SCHEMA, Instructions};
use super::Server;
use crate::run::MAX_LOOKS;

/// The name of the function that a model calls with its plan.
pub(super) const SUBMIT: &str = "submit_plan";
/// The name of the function that a model calls to see something first.
pub(super) const LOOK: &str = "look";

/// The JSON body of the request to the server.
pub(super) fn body(request: &Request, server: &Server) -> Value {
    let Instructions { text, for_host, may_look } = Instructions::of(request);
    let mut asked = request.json.clone();
    // The functions have the schema.
    if let Some(fields) = asked.as_object_mut().filter(|_| server.tools) {
        fields.remove("answer");
    }
    let mut body = json!({
        "model": server.model,
        "stream": server.stream,
        "messages": [
            { "role": "system", "content": text },
            { "role": "user", "content": asked.to_string() },
        ],
    });
    if let Some(fields) = body.as_object_mut().filter(|_| server.tools) {
        let schema = if for_host { COMMAND_SCHEMA } else { ACTION_SCHEMA };
        let mut functions = vec![function(
            SUBMIT,
            "Gives the plan to the person who decides.",
            &plan_parameters(schema),
        )];
        // Some servers know no way to demand one of several functions.
        let mut choice = json!({ "type": "function", "function": { "name": SUBMIT } });
        if may_look {
            let description = "Shows files, search results, symbols or facts before you plan.";
            functions.push(function(LOOK, description, &look_parameters()));
            choice = json!("auto");
        }
        fields.insert("tools".to_owned(), functions.into());
        fields.insert("tool_choice".to_owned(), choice);
    }
    body
}

fn function(name: &str, description: &str, parameters: &Value) -> Value {
    let function = json!({ "name": name, "description": description, "parameters": parameters });
    json!({ "type": "function", "function": function })
}

/// The parameters of [`SUBMIT`]: a plan, whose schema keeps its definitions at the root, where its references expect
/// them. Without a schema the request relies on the prompt alone.
fn plan_parameters(schema: &str) -> Value {
    let mut plan: Value = serde_json::from_str(schema).unwrap_or_default();
    let mut definitions = plan.get_mut("$defs").map(Value::take).unwrap_or_else(|| json!({}));
    if let (Some(plan), Some(definitions)) = (plan.as_object_mut(), definitions.as_object_mut()) {
        for name in ["$defs", "$schema", "$id"] {
            plan.remove(name);
        }
        definitions.insert("plan".to_owned(), json!(plan));
    }
    json!({
        "type": "object",
        "required": ["plan"],
        "properties": {
            "plan": { "$ref": "#/$defs/plan" },
            "answers_goal": { "type": "boolean" },
        },
        "$defs": definitions,
    })
}

fn look_parameters() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "required": ["looks"],
        "properties": {
            "looks": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_LOOKS,
                "items": {
                    "type": "object",
                    "properties": {
                        "read": text, "search": text, "root": text, "glob": text, "symbol": text,
                        "inspect": text, "host": text,
                        "lines": { "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 },
                    },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn body_of(request: &Value, tools: bool) -> Value {
        let server = Server {
            url: "http://localhost".to_owned(),
            model: "m".to_owned(),
            key: None,
            timeout: Duration::from_secs(1),
            stream: false,
            tools,
        };
        body(&Request::parse(request.to_string().as_bytes()).unwrap(), &server)
    }

    #[test]
    fn model_is_told_how_to_look_only_while_it_may() {
        let request = |rounds: u32, host: Value| json!({"goal": "g", "attempt": 1, "looks": {"rounds_left": rounds}, "host": host});
        let names = |body: &Value| -> Vec<String> {
            let tools = body["tools"].as_array().unwrap();
            tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
        };
        let prompt = |body: &Value| body["messages"][0]["content"].as_str().unwrap().to_owned();
        let looking = body_of(&request(3, Value::Null), true);
        assert_eq!(
            (names(&looking), &looking["tool_choice"]),
            (vec![SUBMIT.to_owned(), LOOK.to_owned()], &json!("auto"))
        );
        assert!(
            prompt(&looking).contains("\"looks\"") && prompt(&looking).contains("mutate_batch")
        );
        let last = body_of(&request(0, Value::Null), true);
        assert_eq!(names(&last), [SUBMIT]);
        assert_eq!(last["tool_choice"]["function"]["name"], SUBMIT);
        assert!(!prompt(&last).contains("rounds_left"));
        let host = body_of(&request(3, json!({"destination": "h"})), true);
        assert!(prompt(&host).contains("verificationCommand"));
        let plan = &host["tools"][0]["function"]["parameters"]["$defs"]["plan"];
        assert_eq!(plan["properties"]["steps"]["type"], "array", "{plan}");
        assert!(body_of(&request(3, Value::Null), false).get("tools").is_none());
    }
}
