//! `hook doctor`: proves by a denied call, the canary, that the hook of an agent fires.
//!
//! The agent itself is started, without its server: Gemini CLI gets its model's answers from a file, Codex from a server on
//! loopback. Its model makes one harmless call (`true`). A variable makes the hook deny that call with a random word, which
//! the agent then passes on. Claude Code cannot be started so; of it, only the settings are looked at.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::hook::{CANARY, own_word};
use super::hook_settings::{read, settings_file};
use super::output::Output;
use super::refusal::Refusal;
use super::{Exit, args};
use crate::hooks::Agent;
use crate::hooks::settings::{check_on, commands};
use crate::process::{Leftovers, Profile, Program, Programs, run};
use crate::run::StopSignal;

/// How long the agent may take, which may read many settings when it starts.
const AGENT_TIME: Duration = Duration::from_secs(90);
/// The maximum size of what the agent prints, in bytes.
const MAX_OUTPUT: u64 = 4 << 20;
/// The maximum size of a request of Codex, in bytes.
const MAX_REQUEST: usize = 16 << 20;

/// What is known about a hook.
enum Proof {
    Fires,
    Silent(String),
    Unknown(String),
}

/// Looks at the settings of an agent, and starts it with a canary.
///
/// # Errors
/// The settings cannot be read.
pub(super) fn doctor(command: &args::HookPlace, out: &mut Output) -> Result<Exit, Refusal> {
    let agent = command.agent.0;
    let file = settings_file(agent, command.project.as_deref())?;
    let unusable = |what: String| {
        let message = format!("{} cannot be read: {what}", file.display());
        Refusal::usage(message, "Mend it, then try again.")
    };
    let text = read(&file).map_err(|error| unusable(error.to_string()))?;
    let found = commands(agent, &text).map_err(|fault| unusable(fault.to_string()))?;
    let own = own_word().unwrap_or_default();
    let proof = match found.as_slice() {
        [] => {
            let word = agent.as_str();
            let how =
                format!("it is not installed; `countersign hook install --agent {word}` does");
            Proof::Silent(how)
        }
        [only] if !only.starts_with(&format!("{own} ")) => Proof::Silent(format!(
            "it starts another program than this one, {own}: install it again"
        )),
        [only] => match check_on(agent, &text, only) {
            Err(fault) => Proof::Silent(fault.to_string()),
            Ok(()) => prove(agent, command.project.as_deref()),
        },
        _ => {
            Proof::Silent("it is installed several times: remove it, then install it again".into())
        }
    };
    let (fires, note) = match proof {
        Proof::Fires => (Some(true), String::new()),
        Proof::Silent(note) => (Some(false), note),
        Proof::Unknown(note) => (None, note),
    };
    if out.json() {
        out.document(&json!({
            "agent": agent.as_str(),
            "file": file.display().to_string(),
            "command": found.first(),
            "fires": fires,
            "note": note,
        }));
    } else {
        let name = agent.name();
        out.line(&match fires {
            Some(true) => {
                format!("The hook of {name} fires: {name} did not make a call that it denied.")
            }
            Some(false) => format!("The hook of {name} does not fire: {note}."),
            None => format!("Whether the hook of {name} fires is not proven: {note}."),
        });
    }
    Ok(if fires == Some(false) { Exit::Failed } else { Exit::Done })
}

fn prove(agent: Agent, project: Option<&Path>) -> Proof {
    let word = format!("canary-{}", Uuid::new_v4().simple());
    let proven = match agent {
        Agent::Claude => {
            let why = "its settings have it, but Claude Code cannot be started without its server";
            return Proof::Unknown(why.to_owned());
        }
        Agent::Codex => codex(&word, project),
        Agent::Gemini => gemini(&word, project),
    };
    let silent = match agent {
        Agent::Codex => {
            "Codex made the call; it skips a hook that is not trusted: start `codex` once and accept it"
        }
        _ => "Gemini CLI made the call",
    };
    match proven {
        Ok(true) => Proof::Fires,
        Ok(false) => Proof::Silent(silent.to_owned()),
        Err(error) => Proof::Unknown(error.to_string()),
    }
}

/// Starts an agent with the canary. Returns what it printed.
fn start(name: &str, word: &str, folder: &Path, arguments: &[&str]) -> io::Result<String> {
    let programs = Programs { workspace: folder.to_owned(), original: None };
    let program = programs.find(name).ok_or_else(|| {
        io::Error::other(format!("{name} is not on PATH, outside of the project"))
    })?;
    // Without a key, Gemini CLI does not start; no server gets it.
    let key = if std::env::var_os("GEMINI_API_KEY").is_none() { "none" } else { "" };
    let environment = [(CANARY, word), ("GEMINI_API_KEY", key)];
    let count = if key.is_empty() { 1 } else { 2 };
    let finished = run(
        &Program {
            profile: Profile::Detached,
            program: program.as_os_str(),
            arguments,
            input: None,
            folder,
            environment: environment.get(..count).unwrap_or_default(),
            unset: &[] as &[OsString],
            leftovers: Leftovers::End,
            timeout: AGENT_TIME,
            output_limit: MAX_OUTPUT,
        },
        &StopSignal::default(),
        &|_, _| {},
    )?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !finished.is_success() {
        let errors = text(&finished.stderr);
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let last: String = last.chars().filter(|it| !it.is_control()).collect();
        return Err(io::Error::other(format!(
            "{name} could not be started with the canary: {last}"
        )));
    }
    Ok(text(&finished.stdout))
}

/// The folder in which the agent is started.
fn folder(project: Option<&Path>) -> io::Result<(Option<tempfile::TempDir>, PathBuf)> {
    match project {
        Some(project) => Ok((None, std::fs::canonicalize(project)?)),
        None => {
            let own = tempfile::tempdir()?;
            let path = std::fs::canonicalize(own.path())?;
            Ok((Some(own), path))
        }
    }
}

fn gemini(word: &str, project: Option<&Path>) -> io::Result<bool> {
    let (_own, folder) = folder(project)?;
    let call = json!({"functionCall": {"name": "run_shell_command", "args": {"command": "true"}}});
    let mut answers = tempfile::NamedTempFile::new()?;
    for part in [call, json!({"text": "done"})] {
        let response = json!([{
            "candidates": [{"content": {"parts": [part], "role": "model"}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }]);
        writeln!(answers, "{}", json!({"method": "generateContentStream", "response": response}))?;
    }
    let answers = answers.path().display().to_string();
    let mut arguments = vec![
        "--fake-responses-non-strict",
        &answers,
        "--approval-mode",
        "yolo",
        "--output-format",
        "stream-json",
        "--prompt",
        "canary",
    ];
    // The folder is a new one and empty. A project has to be trusted by the person.
    arguments.extend(project.is_none().then_some("--skip-trust"));
    let printed = start("gemini", word, &folder, &arguments)?;
    if !printed.contains("tool_result") {
        return Err(io::Error::other("Gemini CLI did not come to the call"));
    }
    Ok(printed.contains(word))
}

fn codex(word: &str, project: Option<&Path>) -> io::Result<bool> {
    let (_own, folder) = folder(project)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let of_server = Arc::clone(&asked);
    let serve = move || {
        for stream in listener.incoming().flatten() {
            // A connection that fails is one of a Codex that ends.
            let _ = answer(stream, &of_server);
        }
    };
    // It ends with this process, soon after.
    thread::Builder::new().name("canary".to_owned()).spawn(serve)?;
    let provider = format!(
        "model_providers.canary={{name=\"canary\",base_url=\"http://{address}/v1\",wire_api=\"responses\",\
         request_max_retries=0,stream_max_retries=0}}"
    );
    start(
        "codex",
        word,
        &folder,
        &[
            "exec",
            "--skip-git-repo-check",
            "--sandbox",
            "read-only",
            "-c",
            "model=\"canary\"",
            "-c",
            "model_provider=\"canary\"",
            "-c",
            &provider,
            "canary",
        ],
    )?;
    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    if asked.len() < 2 {
        return Err(io::Error::other("Codex did not come to the call"));
    }
    Ok(asked.iter().any(|request| request.contains(word)))
}

/// Answers a request of Codex: the first one with the call, the others with an end.
fn answer(mut stream: TcpStream, asked: &Mutex<Vec<String>>) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut input = BufReader::new(stream.try_clone()?);
    let (mut first, mut length) = (String::new(), 0_usize);
    input.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if input.by_ref().take(64 << 10).read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    if !first.starts_with("POST /v1/responses ") {
        let none = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        return stream.write_all(none.as_bytes());
    }
    let mut body = vec![0; length.min(MAX_REQUEST)];
    input.read_exact(&mut body)?;
    let number = {
        let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(String::from_utf8_lossy(&body).into_owned());
        asked.len()
    };
    let item = match number {
        1 => json!({"type": "function_call", "name": "exec_command", "call_id": "canary",
            "arguments": json!({"cmd": "true"}).to_string()}),
        _ => json!({"type": "message", "role": "assistant", "id": "m",
            "content": [{"type": "output_text", "text": "done"}]}),
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
    let events: [(&str, Value); 3] = [
        ("response.created", json!({"type": "response.created", "response": {"id": "r"}})),
        ("response.output_item.done", json!({"type": "response.output_item.done", "item": item})),
        (
            "response.completed",
            json!({"type": "response.completed", "response": {"id": "r", "usage": usage}}),
        ),
    ];
    let body: String =
        events.iter().map(|(name, event)| format!("event: {name}\ndata: {event}\n\n")).collect();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
