//! What an agent asks for, as a plan of one step.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::acp::{FileDiff, Permission, ToolCall, WriteFile};
use crate::plan::{Severity, Tool, is_valid, one_line, parse, visible};
use crate::risk::Policy;
use crate::tools::Toolbox;
use crate::worker::files::{PlanFile, plan_of};
use crate::worker::surroundings::PlanSurroundings;

/// The maximum length of the agent's words about a step, in bytes.
const MAX_TITLE: usize = 200;
/// The maximum length of a command in the record of what was permitted, in bytes.
const MAX_COMMAND: usize = 16 << 10;

/// The arguments of an agent's tool that are known to be those of a command, and what they say about it.
const COMMAND_FIELDS: [&str; 6] =
    ["command", "description", "cwd", "workdir", "timeout", "timeout_ms"];

/// What a person is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Counts the questions of a session, from 1.
    pub number: u64,
    /// The bytes of the plan.
    pub plan: Vec<u8>,
    /// What the plan is about.
    pub subject: Subject,
    /// What the agent calls it; from outside.
    pub title: String,
    /// What is recorded about who asks: the agent, its session and its call.
    pub asked_by: String,
    /// What the agent is called.
    pub agent: String,
    /// The agent's id of its session.
    pub session: String,
}

/// What a plan for an agent is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A file, which is written here once the agent sends its text.
    Write {
        /// The canonical path of the file.
        path: String,
        /// The whole text.
        content: String,
    },
    /// A command, which the agent runs itself.
    Command {
        /// The call, as it is recorded.
        call: String,
        /// The command in one line.
        command: String,
    },
}

/// A plan and what it is about.
#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) plan: Vec<u8>,
    pub(super) subject: Subject,
}

/// The plan of a request for permission.
///
/// # Errors
/// Why it cannot be approved, as a clause.
pub(super) fn of_permission(
    permission: &Permission,
    toolbox: &Toolbox,
    policy: &Policy,
) -> Result<Proposal, String> {
    if let Some(why) = permission.not_allowable() {
        return Err(why.to_owned());
    }
    let call = &permission.call;
    match (call.diffs(), &call.raw_input) {
        // Whoever approves a change must not approve something else with it.
        ([_], Some(input)) if input.get("command").is_some() => {
            Err("it shows a change of a file, and a command".to_owned())
        }
        ([_], _) if !matches!(call.kind.as_str(), "edit" | "other" | "") => {
            Err(format!("it shows a change of a file, but is a call of the kind {:?}", call.kind))
        }
        ([diff], _) => of_diff(diff, &call.title, toolbox),
        ([], Some(input)) if call.kind == "execute" => of_command(call, input, toolbox, policy),
        ([], Some(_)) => Err(format!(
            "it is a call of the kind {:?}, and only changes of files and commands can be shown as a step",
            call.kind
        )),
        ([], None) => Err("the agent does not show what it would do".to_owned()),
        _ => Err("it changes several files at once, which cannot be written one by one".to_owned()),
    }
}

/// The plan of a file that an agent sends without having asked.
///
/// # Errors
/// Why it cannot be written, as a clause.
pub(super) fn of_write(write: &WriteFile, toolbox: &Toolbox) -> Result<Proposal, String> {
    let WriteFile { path, content, .. } = write;
    let key = key_of(path, toolbox)?;
    let now = toolbox.text(&key).map_err(|error| error.to_string())?;
    file_plan(&key, now.is_some(), content, "A file that the agent sends without having asked")
}

/// The canonical path of a file that an agent names.
///
/// # Errors
/// It is not absolute, or not in the workspace.
pub(super) fn key_of(path: &str, toolbox: &Toolbox) -> Result<String, String> {
    if !path.starts_with('/') {
        return Err(format!("the path {path:?} is not absolute"));
    }
    toolbox.key_of(path).map_err(|error| error.to_string())
}

fn of_diff(diff: &FileDiff, title: &str, toolbox: &Toolbox) -> Result<Proposal, String> {
    let key = key_of(&diff.path, toolbox)?;
    let now = toolbox.text(&key).map_err(|error| error.to_string())?;
    let content = diff.applied_to(now.as_deref())?;
    file_plan(&key, now.is_some(), &content, title)
}

fn file_plan(key: &str, exists: bool, content: &str, title: &str) -> Result<Proposal, String> {
    let tool = if exists { Tool::FileWrite } else { Tool::FileCreate };
    let plan = |title: Option<&str>| {
        let mut step = json!({
            "tool": tool.name(),
            "arguments": { "path": key, "contents": content },
        });
        let mut plan = json!({ "plan_id": "acp", "intent": "MUTATE" });
        if let (Some(title), Some(fields), Some(of_step)) =
            (title, plan.as_object_mut(), step.as_object_mut())
        {
            let name = format!("{} {key}", if exists { "Write" } else { "Create" });
            fields.insert("title".to_owned(), short_title(&name).into());
            of_step.insert("reason".to_owned(), title.into());
        }
        if let Some(fields) = plan.as_object_mut() {
            fields.insert("steps".to_owned(), json!([step]));
        }
        plan.to_string().into_bytes()
    };
    let title = short_title(title);
    let titled = plan(Some(if title.is_empty() { "A change of the agent" } else { &title }));
    // The words of the agent may be such that no plan can have them; the change is what matters.
    let bytes = if is_valid(&parse(&titled).findings) { titled } else { plan(None) };
    check(&bytes)?;
    let subject = Subject::Write { path: key.to_owned(), content: content.to_owned() };
    Ok(Proposal { plan: bytes, subject })
}

fn of_command(
    call: &ToolCall,
    input: &Value,
    toolbox: &Toolbox,
    policy: &Policy,
) -> Result<Proposal, String> {
    let fields = input.as_object().ok_or("its arguments are no object")?;
    if let Some(other) = fields.keys().find(|name| !COMMAND_FIELDS.contains(&name.as_str())) {
        return Err(format!("what the argument {other:?} of its command means is not known"));
    }
    let mut arguments = Map::new();
    let command = fields.get("command").ok_or("its command is not shown")?;
    arguments.insert("command".to_owned(), command.clone());
    let folder = fields.get("cwd").or_else(|| fields.get("workdir"));
    let line = match command {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        text => text.as_str().unwrap_or_default().to_owned(),
    };
    // Words are started as they are; a text is read by a shell.
    let (tool, place) = match command {
        Value::String(_) => ("run_shell_command", "dir_path"),
        Value::Array(_) => ("shell", "workdir"),
        _ => return Err("its command is neither a text nor a list of words".to_owned()),
    };
    if let Some(folder) = folder.filter(|it| !it.is_null()) {
        arguments.insert(place.to_owned(), folder.clone());
    }
    let shown = json!({ "tool_name": tool, "tool_input": arguments }).to_string();
    let settings = || policy.clone();
    let workspace = toolbox.workspace();
    let surroundings = PlanSurroundings::new(&workspace.join("call"), workspace, &settings);
    let PlanFile { bytes, .. } =
        plan_of(shown.into_bytes(), &surroundings).map_err(|unusable| {
            let errors = unusable.findings.iter().filter(|it| it.severity == Severity::Error);
            let texts: Vec<&str> = errors.take(3).map(|it| it.message.as_str()).collect();
            format!("its command cannot be shown as a step: {}", texts.join("; "))
        })?;
    check(&bytes)?;
    let text = json!({ "title": call.title, "rawInput": input }).to_string();
    let end = text.floor_char_boundary(MAX_COMMAND);
    let digest = crate::plan::Digest::of(text.as_bytes());
    let call = match text.get(..end) {
        Some(beginning) if end < text.len() => {
            format!("{beginning}[… {} more bytes; all of it is {digest}]", text.len() - end)
        }
        _ => text,
    };
    Ok(Proposal { plan: bytes, subject: Subject::Command { call, command: line } })
}

/// # Errors
/// The first reason why the bytes are no valid plan.
fn check(plan: &[u8]) -> Result<(), String> {
    let findings = parse(plan).findings;
    let error = findings.iter().find(|finding| finding.severity == Severity::Error);
    error.map_or(Ok(()), |it| Err(format!("it cannot be shown as a step: {}", it.message)))
}

fn short_title(title: &str) -> String {
    let title = visible(&one_line(title)).into_owned();
    let end = title.floor_char_boundary(MAX_TITLE);
    if end < title.len() { format!("{}…", title.get(..end).unwrap_or_default()) } else { title }
}

/// The name of a plan for people.
pub fn name_of(subject: &Subject) -> String {
    match subject {
        Subject::Write { path, .. } => {
            let name = Path::new(path).file_name().map(|name| name.to_string_lossy());
            format!("{} of an agent", name.unwrap_or_default())
        }
        Subject::Command { .. } => "command of an agent".to_owned(),
    }
}
