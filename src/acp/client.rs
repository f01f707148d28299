//! One session with an agent: what its messages mean, and what it is sent.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::message::{
    AUTH_REQUIRED, INVALID_REQUEST, METHOD_NOT_FOUND, Message, RpcError, Unreadable, error,
    notification, request,
};
use super::permission::{Permission, WriteFile, invalid};
use super::update::{self, ToolCall, Update};
use crate::plan::has_duplicate_keys;

/// The version of the protocol.
const VERSION: u64 = 1;
/// The requests of an agent that Countersign answers.
const REQUESTS: [&str; 2] = ["session/request_permission", "fs/write_text_file"];
/// The maximum number of tool calls whose words are remembered for a later request about them.
const MAX_CALLS: usize = 64;
/// The maximum number of lines that are no messages before the agent is no agent.
const MAX_NOISE: usize = 1_000;
/// The maximum length of a name or a reason of the agent, in bytes.
const MAX_WORDS: usize = 1 << 10;

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentInfo {
    /// Its name; may be empty.
    pub name: String,
    /// Its version; may be empty.
    pub version: String,
    /// The ways to log in to it, each in its own words.
    pub logins: Vec<String>,
}

/// Why an agent has ended its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It is done.
    EndTurn,
    /// The turn was cancelled.
    Cancelled,
    /// Another reason, in the protocol's word.
    Other(String),
}

/// Why an agent is of no use. It must be ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It speaks another version of the protocol.
    #[error(
        "the agent speaks version {0} of the Agent Client Protocol, and Countersign speaks version {VERSION}"
    )]
    Version(String),
    /// Nobody is logged in to it.
    #[error("nobody is logged in to the agent, which says:\n{message}")]
    Login {
        /// What it says.
        message: String,
        /// The ways to log in that it names.
        logins: Vec<String>,
    },
    /// It refuses what the protocol asks of it.
    #[error("the agent answers {method} with an error:\n{message}")]
    Refused {
        /// The method of our request.
        method: &'static str,
        /// What it says.
        message: String,
    },
    /// Its answer has not the form that the protocol asks for.
    #[error("the agent's answer to {method} cannot be read: {why}")]
    Answer {
        /// The method of our request.
        method: &'static str,
        /// What is wrong.
        why: &'static str,
    },
    /// It prints something else than messages.
    #[error("the agent prints {MAX_NOISE} lines that are no messages of the Agent Client Protocol")]
    Noise,
}

/// What a line of the agent leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// This line is to be sent to the agent.
    Send(Vec<u8>),
    /// The agent has said what it is.
    Connected(AgentInfo),
    /// The session has begun, with this id of the agent's, and the prompt is sent.
    Begun(String),
    /// The agent tells something.
    Update(Update),
    /// The agent asks whether it may make a call.
    Permission(Permission),
    /// The agent wants to have a file written.
    Write(WriteFile),
    /// A request was refused, because it has no usable form.
    Malformed(String),
    /// The line is no message.
    Noise(String),
    /// The agent has ended its turn.
    Ended(StopReason),
}

/// What an answer of the agent is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Initialize,
    NewSession,
    Prompt,
}

impl Asked {
    const fn method(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::NewSession => "session/new",
            Self::Prompt => "session/prompt",
        }
    }
}

/// The client of one session.
#[derive(Debug)]
pub struct Client {
    folder: String,
    prompt: String,
    next_id: u64,
    asked: Option<(u64, Asked)>,
    agent: AgentInfo,
    session: Option<String>,
    calls: VecDeque<ToolCall>,
    noise: usize,
}

impl Client {
    /// A client whose agent works in this folder, an absolute path, and gets this prompt.
    pub fn new(folder: String, prompt: String) -> Self {
        Self {
            folder,
            prompt,
            next_id: 0,
            asked: None,
            agent: AgentInfo::default(),
            session: None,
            calls: VecDeque::new(),
            noise: 0,
        }
    }

    /// The first line for the agent. Files are written by the client, so that each write is one that a person has seen.
    /// Files are not read by it, because the agent reads them itself, and no terminals are offered, because a command of
    /// the agent is to stay behind the agent's walls.
    pub fn begin(&mut self) -> Vec<u8> {
        let files = json!({ "readTextFile": false, "writeTextFile": true });
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": { "fs": files, "terminal": false },
            "clientInfo": {
                "name": "countersign",
                "title": "Countersign",
                "version": env!("CARGO_PKG_VERSION"),
            },
        });
        self.ask(Asked::Initialize, params)
    }

    /// Whether the prompt was sent, so that the agent works.
    pub fn has_begun(&self) -> bool {
        self.session.is_some()
    }

    /// The line that cancels the turn; `None` if none has begun.
    pub fn cancel(&self) -> Option<Vec<u8>> {
        let session = self.session.as_ref()?;
        Some(notification("session/cancel", json!({ "sessionId": session })))
    }

    fn ask(&mut self, asked: Asked, params: Value) -> Vec<u8> {
        let id = self.next_id;
        self.next_id += 1;
        self.asked = Some((id, asked));
        request(id, asked.method(), params)
    }

    /// Reads a line of the agent.
    ///
    /// # Errors
    /// Why the agent is of no use.
    pub fn receive(&mut self, line: &[u8]) -> Result<Vec<Event>, Fault> {
        if line.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let message = match Message::read(line) {
            Ok(message) => message,
            Err(unreadable) => return self.unreadable(line, unreadable),
        };
        match message {
            Message::Answer { id, result } => match self.asked {
                // An answer to nothing says nothing.
                Some((waited, asked)) if waited == id => {
                    self.asked = None;
                    self.answered(asked, result)
                }
                _ => Ok(Vec::new()),
            },
            // A request that wants no answer. What it asks for is not done.
            Message::Notification { method, .. } if REQUESTS.contains(&&*method) => {
                Ok(vec![malformed(&method, "it has no id")])
            }
            Message::Notification { method, params } => {
                let is_update = method == "session/update" && self.is_own_session(&params);
                let update = params.get("update").filter(|_| is_update);
                Ok(update.and_then(|update| self.updated(update)).into_iter().collect())
            }
            Message::Request { id, method, params } => {
                // Of two fields, the agent may mean the other one.
                if std::str::from_utf8(line).is_ok_and(has_duplicate_keys) {
                    let why = "two fields have the same name";
                    let refusal = error(&id, INVALID_REQUEST, why);
                    return Ok(vec![malformed(&method, why), Event::Send(refusal)]);
                }
                Ok(self.requested(&id, &method, &params))
            }
        }
    }

    fn unreadable(&mut self, line: &[u8], unreadable: Unreadable) -> Result<Vec<Event>, Fault> {
        self.noise += 1;
        if self.noise >= MAX_NOISE {
            return Err(Fault::Noise);
        }
        Ok(match unreadable {
            Unreadable::Noise => vec![Event::Noise(shortened(&String::from_utf8_lossy(line)))],
            Unreadable::Broken { code, why } => {
                let refusal = error(&Value::Null, code, why);
                vec![malformed("a message", why), Event::Send(refusal)]
            }
        })
    }

    fn is_own_session(&self, params: &Value) -> bool {
        let session = params.get("sessionId").and_then(Value::as_str);
        session.is_some() && session == self.session.as_deref()
    }

    fn answered(
        &mut self,
        asked: Asked,
        result: Result<Value, RpcError>,
    ) -> Result<Vec<Event>, Fault> {
        let method = asked.method();
        let result = result.map_err(|error| {
            let message = shortened(&error.message);
            match error.code {
                AUTH_REQUIRED => Fault::Login { message, logins: self.agent.logins.clone() },
                _ => Fault::Refused { method, message },
            }
        })?;
        let unreadable = |why| Fault::Answer { method, why };
        let text = |name: &str| result.get(name).and_then(Value::as_str);
        match asked {
            Asked::Initialize => {
                let version = result.get("protocolVersion");
                let version = version.ok_or_else(|| unreadable("it has no protocolVersion"))?;
                if version.as_u64() != Some(VERSION) {
                    return Err(Fault::Version(shortened(&version.to_string())));
                }
                self.agent = agent_info(&result);
                let params = json!({ "cwd": self.folder, "mcpServers": [] });
                let request = self.ask(Asked::NewSession, params);
                Ok(vec![Event::Connected(self.agent.clone()), Event::Send(request)])
            }
            Asked::NewSession => {
                let session = text("sessionId").filter(|id| !id.is_empty());
                let session = session.ok_or_else(|| unreadable("it has no sessionId"))?.to_owned();
                self.session = Some(session.clone());
                let prompt = json!([{ "type": "text", "text": self.prompt }]);
                let params = json!({ "sessionId": session, "prompt": prompt });
                let request = self.ask(Asked::Prompt, params);
                Ok(vec![Event::Begun(session), Event::Send(request)])
            }
            Asked::Prompt => {
                let reason =
                    text("stopReason").ok_or_else(|| unreadable("it has no stopReason"))?;
                let reason = match reason {
                    "end_turn" => StopReason::EndTurn,
                    "cancelled" => StopReason::Cancelled,
                    other => StopReason::Other(shortened(other)),
                };
                Ok(vec![Event::Ended(reason)])
            }
        }
    }

    fn updated(&mut self, update: &Value) -> Option<Event> {
        if let Some(call) = update::call(update) {
            let call = self.remember(call);
            return Some(Event::Update(Update::Call(call.state())));
        }
        update::read(update).map(Event::Update)
    }

    /// Keeps what is known of a call. Returns all of it.
    fn remember(&mut self, call: ToolCall) -> ToolCall {
        let known = self.calls.iter().position(|known| known.id == call.id);
        let call = match known.and_then(|at| self.calls.remove(at)) {
            Some(earlier) => call.completed_by(&earlier),
            None => call,
        };
        if self.calls.len() >= MAX_CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back(call.clone());
        call
    }

    fn requested(&mut self, id: &Value, method: &str, params: &Value) -> Vec<Event> {
        if !REQUESTS.contains(&method) {
            let why = format!("Countersign does not offer {}", shortened(method));
            return vec![Event::Send(error(id, METHOD_NOT_FOUND, &why))];
        }
        let read = match self.is_own_session(params) {
            false => Err("it is not about the session"),
            true if method == "fs/write_text_file" => WriteFile::read(id, params)
                .map(Event::Write)
                .ok_or("its path or its content is no text"),
            true => self.permission(id, params).map(Event::Permission),
        };
        match read {
            Ok(event) => vec![event],
            Err(why) => vec![malformed(method, why), Event::Send(invalid(id, why))],
        }
    }

    fn permission(&mut self, id: &Value, params: &Value) -> Result<Permission, &'static str> {
        let call = params.get("toolCall").and_then(ToolCall::read);
        let call = call.ok_or("its tool call has no id, or a diff that is none")?;
        let call = self.remember(call);
        Permission::read(id.clone(), params, call)
    }
}

fn malformed(method: &str, why: &str) -> Event {
    Event::Malformed(format!("{}: {why}", shortened(method)))
}

fn agent_info(result: &Value) -> AgentInfo {
    let text = |pointer: &str| {
        result.pointer(pointer).and_then(Value::as_str).filter(|it| !it.is_empty()).map(shortened)
    };
    let name = text("/agentInfo/title").or_else(|| text("/agentInfo/name")).unwrap_or_default();
    let methods = result.get("authMethods").and_then(Value::as_array);
    let login = |method: &Value| method.get("name").and_then(Value::as_str).map(shortened);
    let logins = methods.into_iter().flatten().filter_map(login).take(20).collect();
    AgentInfo { name, version: text("/agentInfo/version").unwrap_or_default(), logins }
}

/// The beginning of words of the agent in a sentence of ours.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_WORDS);
    let beginning = text.get(..end).unwrap_or_default();
    if end < text.len() { format!("{beginning}…") } else { beginning.to_owned() }
}
