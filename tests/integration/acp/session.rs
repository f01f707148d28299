//! Runs the program with an agent, and reads what it says.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::home::{Done, Home};
use crate::harness::schemas;

/// What the program printed about a session.
#[derive(Debug)]
pub struct Session {
    pub code: i32,
    pub document: Value,
}

impl Session {
    pub fn of(done: Done) -> Self {
        assert!(!done.stderr.contains("panicked"), "{done:#?}");
        let document = done.document();
        if document.get("error").is_none() {
            let complaints = schemas::complaints("acp", &document);
            assert!(complaints.is_empty(), "{document:#}: {complaints:#?}");
        }
        Self { code: done.code, document }
    }

    /// Asserts the exit code.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// The outcome of each request.
    pub fn outcomes(&self) -> Vec<&str> {
        let requests = self.document["requests"].as_array().unwrap();
        requests.iter().map(|request| request["outcome"].as_str().unwrap()).collect()
    }

    /// The reason of the request with this index.
    pub fn reason(&self, index: usize) -> &str {
        self.document["requests"][index]["reason"].as_str().unwrap()
    }

    /// What went wrong.
    pub fn failure(&self) -> &str {
        self.document["failure"]["message"].as_str().unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// What the scripted agent was answered, in its order.
    pub fn answers(&self) -> Vec<Value> {
        let words = self.document["words"].as_str().unwrap();
        words.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Runs the scripted agent.
pub fn scripted(home: &Home, script: &Value, flags: &[&str]) -> Session {
    let file = home.path().join("script.json");
    fs::write(&file, script.to_string()).unwrap();
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acp/agent.py");
    let space = home.file("");
    let mut command = home.command();
    command.args(["acp", "--json", "--prompt", "mend it", "--workspace"]).arg(space);
    command.arg("--evidence").arg(home.evidence()).args(flags);
    Session::of(Done::of(command.arg("python3").arg(agent).arg(file)))
}

/// A request for permission to change a file.
pub fn asks(path: &Path, old: Option<&str>, new: &str) -> Value {
    let diff = json!({"type": "diff", "path": path, "oldText": old, "newText": new});
    asks_for(
        json!({"toolCallId": "call-1", "title": "Change it", "kind": "edit", "content": [diff]}),
    )
}

/// A request for permission to make a call.
pub fn asks_for(call: Value) -> Value {
    let options = json!([
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    let params = json!({"toolCall": call, "options": options});
    json!({"request": {"method": "session/request_permission", "params": params}})
}

/// A file that the agent sends.
pub fn sends(path: &Path, content: &str) -> Value {
    let params = json!({"path": path, "content": content});
    json!({"request": {"method": "fs/write_text_file", "params": params}})
}

/// The answer that selects an option.
pub fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}
