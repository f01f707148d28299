//! The real agents, which `packaging/test.sh` installs, and what takes the place of their servers.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use assert_cmd::Command;
use serde_json::{Value, json};

use super::home::Home;
use super::set_mode;

/// A program that `packaging/test.sh` installs: in the folder that this variable names, or else in the cache.
pub fn installed(variable: &str, in_cache: &str) -> PathBuf {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let cache = || {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(std::env::home_dir()?.join(".cache"))).unwrap();
        cache.join("countersign").join(in_cache)
    };
    let path = named.unwrap_or_else(cache);
    assert!(path.exists(), "packaging/test.sh installs {}", path.display());
    path
}

/// The packages of Node.js that `packaging/test.sh` installs to compare with.
pub fn node_modules() -> PathBuf {
    let readers = installed("COUNTERSIGN_READERS", "readers/bin/python");
    readers.parent().and_then(Path::parent).unwrap().join("node_modules")
}

/// The folder with the programs of the agents.
fn programs() -> PathBuf {
    installed("COUNTERSIGN_AGENTS", "agents/node_modules/.bin")
}

/// The environment in which an agent is found: with a script of this name and text before everything else. The script is
/// in the agent's folder, because walls hide the rest of the temporary home.
pub fn with_agent<'a>(
    home: &Home,
    command: &'a mut Command,
    script: Option<(&str, &str)>,
) -> &'a mut Command {
    let agents = programs();
    let mut folders = vec![agents.clone()];
    if let Some((name, text)) = script {
        let folder = home.path().join(format!(".{name}/bin"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text.replace("AGENTS", agents.to_str().unwrap())).unwrap();
        set_mode(&folder.join(name), 0o755);
        folders.insert(0, folder);
    }
    let path = std::env::var_os("PATH").unwrap();
    folders.extend(std::env::split_paths(&path));
    for name in FOREIGN {
        command.env_remove(name);
    }
    command.env("PATH", std::env::join_paths(folders).unwrap())
}

/// The settings of Codex: the server of the test, and no other one.
const CODEX_CONFIG: &str = r#"
model = "mock"
model_provider = "mock"
check_for_update_on_startup = false
analytics.enabled = false
features.plugins = false
features.remote_plugin = false
features.apps = false

[model_providers.mock]
name = "mock"
base_url = "http://ADDRESS/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"#;

/// The settings of Gemini CLI, which asks no server then.
const GEMINI_SETTINGS: &str = r#"{"privacy": {"usageStatisticsEnabled": false},
    "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}}"#;

/// Variables that would change the account or the server of an agent.
const FOREIGN: [&str; 11] = [
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "GEMINI_CLI_HOME",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
];

/// A server with the Responses API, as Codex uses it, on loopback. It gives its answers in their order, and then fails.
pub struct ResponsesApi {
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ResponsesApi {
    /// Starts the server, and makes it the one of Codex in this home. `None` as an answer is a refused key.
    pub fn of_codex(home: &Home, answers: impl IntoIterator<Item = Option<Value>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        fs::create_dir_all(home.path().join(".codex")).unwrap();
        let config = CODEX_CONFIG.replace("ADDRESS", &address.to_string());
        fs::write(home.path().join(".codex/config.toml"), config).unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let mut answers = answers.into_iter().collect::<Vec<_>>().into_iter();
        let seen = Arc::clone(&asked);
        let serve = move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let Some(request) = read_request(&stream) else { continue };
                seen.lock().unwrap().push(request);
                answer(stream, answers.next().flatten());
            }
        };
        thread::Builder::new().name("responses".to_owned()).spawn(serve).unwrap();
        Self { asked }
    }

    /// What the server was sent so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

/// The body of a request for a response; `None` for another request, which is refused.
fn read_request(mut stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if !first.starts_with("POST /v1/responses ") {
        let refusal = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(refusal.as_bytes()).ok()?;
        return None;
    }
    serde_json::from_slice(&body).ok()
}

fn answer(mut stream: TcpStream, answer: Option<Value>) {
    let (status, kind, body) = match answer {
        Some(output) => {
            let item = match output {
                Value::Object(_) => output,
                text => {
                    let text = text.as_str().unwrap();
                    json!({"type": "message", "role": "assistant", "id": "m",
                        "content": [{"type": "output_text", "text": text}]})
                }
            };
            let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
            let events = [
                json!({"type": "response.created", "response": {"id": "r"}}),
                json!({"type": "response.output_item.done", "item": item}),
                json!({"type": "response.completed", "response": {"id": "r", "usage": usage}}),
            ];
            let event = |event: &Value| {
                format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
            };
            ("200 OK", "text/event-stream", events.iter().map(event).collect::<String>())
        }
        None => {
            let error = json!({"error": {"message": "Incorrect API key provided",
                "type": "invalid_request_error", "code": "invalid_api_key"}});
            ("401 Unauthorized", "application/json", error.to_string())
        }
    };
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    // Codex may have been ended meanwhile.
    let _ = stream.write_all(response.as_bytes());
}

/// Makes Gemini CLI give these answers in their order, without a server. `trusted` is whether it trusts the workspace.
/// Returns the script that starts it.
pub fn gemini_answering(home: &Home, answers: &[&str], trusted: bool) -> String {
    let folder = home.path().join(".gemini");
    fs::create_dir_all(&folder).unwrap();
    let workspace = home.file("").canonicalize().unwrap();
    let trust = json!({ workspace.to_str().unwrap(): "TRUST_FOLDER" });
    fs::write(folder.join("settings.json"), GEMINI_SETTINGS).unwrap();
    if trusted {
        fs::write(folder.join("trustedFolders.json"), trust.to_string()).unwrap();
    }
    for (number, answer) in (1..).zip(answers) {
        let response = json!([{"candidates": [{"content": {"parts": [{"text": answer}], "role": "model"},
            "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 1,
            "candidatesTokenCount": 1, "totalTokenCount": 2}}]);
        let line = json!({"method": "generateContentStream", "response": response});
        fs::write(folder.join(format!("answer{number}")), format!("{line}\n")).unwrap();
    }
    // It keeps what it is told, and takes the next answer.
    let own = folder.display();
    format!(
        "#!/bin/sh\nn=$(cat {own}/n 2>/dev/null || echo 0); n=$((n + 1)); echo $n >{own}/n; cat >{own}/prompt$n\n\
         echo \"$@\" >{own}/arguments\nexec AGENTS/gemini --fake-responses-non-strict {own}/answer$n \"$@\" <{own}/prompt$n\n"
    )
}

/// The text of a file in an agent's folder.
pub fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
