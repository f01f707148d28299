//! What the tools of agents do. A tool or an argument that is not known here is an error, because what it would do is
//! not known either.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::begin_patch;
use super::super::files::Texts;
use super::super::lines::Lines;
use super::reading::is_reading;
use super::shapes::Call;
use crate::plan::{Code, Digest, Edit, Finding, ProposedCommand, limits};

/// The words of the grammar of bash that are letters.
const RESERVED: &str =
    "if then elif else fi time for in until while do done case esac coproc select function";

/// What a call does.
pub(super) enum Action {
    Reads,
    Command(ProposedCommand),
    /// Edits, with the digests of the files that were read for them.
    Edits(Vec<Edit>, BTreeMap<String, Digest>),
}

impl Action {
    fn edit(edit: Edit) -> Self {
        Self::Edits(vec![edit], BTreeMap::new())
    }
}

/// What a call does.
///
/// # Errors
/// The tool or an argument is not known, or a plan cannot do it.
pub(super) fn action(
    call: &Call<'_>,
    texts: &mut Texts<'_>,
    notes: &mut Vec<Finding>,
) -> Result<Action, Finding> {
    for name in ["dangerouslyDisableSandbox", "with_escalated_permissions", "sandbox_permissions"] {
        if let Some(it) = call.input.get(name).filter(|it| it.value != &Value::Bool(false)) {
            notes.push(it.warning(format!("\"{name}\" asks for more than the walls allow, which hold for every step: grant it when you authorize")));
        }
    }
    match call.name {
        "Bash" | "bash" | "run_shell_command" => shell_text(call, texts),
        "shell" | "local_shell_call" | "container.exec" => shell_words(call, texts),
        "exec_command" => exec_command(call, texts),
        "Write" | "write_file" => write(call, texts),
        "Edit" | "replace" => edit(call, texts),
        "MultiEdit" => multi_edit(call, texts),
        "str_replace_based_edit_tool" | "str_replace_editor" => text_editor(call, texts),
        "apply_patch" => patch(call, texts),
        name if is_reading(name) => Ok(Action::Reads),
        other => {
            let message = format!("what the tool {other:?} does is not known here");
            Err(Finding::error(Code::UnknownTool, call.at.pointer.clone(), message))
        }
    }
}

/// The tool of Claude Code, of Anthropic's interface and of Gemini CLI.
fn shell_text(call: &Call<'_>, texts: &Texts<'_>) -> Result<Action, Finding> {
    let input = &call.input;
    input.only(&[
        "command",
        "timeout",
        "description",
        "run_in_background",
        "dangerouslyDisableSandbox",
        "directory",
        "dir_path",
        "restart",
        "is_background",
    ])?;
    for name in ["run_in_background", "is_background"] {
        if input.flag(name)? {
            return Err(input.error(
                "a step ends before the next one begins, and leaves nothing in the background",
            ));
        }
    }
    if input.flag("restart")? {
        return Err(input.error("there is no shell that could be restarted: each step has its own"));
    }
    let cwd = input.text("directory")?.or(input.text("dir_path")?);
    Ok(Action::Command(ProposedCommand {
        command: input.must("command")?.to_owned(),
        description: description(call)?,
        cwd: cwd.map(|path| texts.path(path).to_owned()),
        timeout_seconds: seconds(call, "timeout")?,
        ..ProposedCommand::default()
    }))
}

/// The tool of Codex: a list of words, of which most are a shell with a script.
fn shell_words(call: &Call<'_>, texts: &Texts<'_>) -> Result<Action, Finding> {
    let input = &call.input;
    input.only(&[
        "command",
        "workdir",
        "working_directory",
        "timeout_ms",
        "timeout",
        "type",
        "env",
        "user",
        "with_escalated_permissions",
        "sandbox_permissions",
        "justification",
    ])?;
    for name in ["env", "user"] {
        if input.get(name).is_some_and(|it| it.value.as_object().is_none_or(|it| !it.is_empty())) {
            return Err(input.error(format!("a step of a plan has no \"{name}\"")));
        }
    }
    let command =
        input.get("command").ok_or_else(|| input.error("the field \"command\" is missing"))?;
    let command = match command.value {
        Value::String(text) => text.clone(),
        _ => {
            let words = command.elements()?;
            let words: Option<Vec<&str>> = words.iter().map(|word| word.value.as_str()).collect();
            let words = words.ok_or_else(|| command.error("its words must be texts"))?;
            match words.as_slice() {
                [] => return Err(command.error("there is no command")),
                // The shell is the one that runs every step.
                ["bash" | "/bin/bash" | "/usr/bin/bash", "-c", script] => (*script).to_owned(),
                // A login shell would read start-up files; so that it is the same command, it is called.
                words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
            }
        }
    };
    if command.contains("apply_patch") || command.contains("applypatch") {
        return Err(input
            .error("`apply_patch` is no program but a part of the agent: give the patch itself"));
    }
    let cwd = input.text("workdir")?.or(input.text("working_directory")?);
    Ok(Action::Command(ProposedCommand {
        command,
        description: input.text("justification")?.and_then(one_line),
        cwd: cwd.map(|path| texts.path(path).to_owned()),
        timeout_seconds: seconds(call, "timeout_ms")?.or(seconds(call, "timeout")?),
        ..ProposedCommand::default()
    }))
}

/// The newer tool of Codex.
fn exec_command(call: &Call<'_>, texts: &Texts<'_>) -> Result<Action, Finding> {
    let input = &call.input;
    input.only(&[
        "cmd",
        "workdir",
        "yield_time_ms",
        "max_output_tokens",
        "justification",
        "sandbox_permissions",
        "login",
        "tty",
    ])?;
    if input.flag("tty")? {
        return Err(input.error("a step of a plan gets no terminal by a call"));
    }
    Ok(Action::Command(ProposedCommand {
        command: input.must("cmd")?.to_owned(),
        description: input.text("justification")?.and_then(one_line),
        cwd: input.text("workdir")?.map(|path| texts.path(path).to_owned()),
        ..ProposedCommand::default()
    }))
}

fn write(call: &Call<'_>, texts: &mut Texts<'_>) -> Result<Action, Finding> {
    call.input.only(&["file_path", "content"])?;
    let path = path(call, "file_path", texts)?;
    Ok(written(path, call.input.must("content")?, texts))
}

fn written(path: String, contents: &str, texts: &mut Texts<'_>) -> Action {
    texts.set(&path, Some(contents.to_owned()));
    Action::edit(Edit::Write { path, contents: contents.to_owned() })
}

fn edit(call: &Call<'_>, texts: &mut Texts<'_>) -> Result<Action, Finding> {
    let input = &call.input;
    input.only(&[
        "file_path",
        "old_string",
        "new_string",
        "replace_all",
        "expected_replacements",
        "instruction",
        "allow_multiple",
    ])?;
    let path = path(call, "file_path", texts)?;
    let all = input.flag("replace_all")? || input.flag("allow_multiple")?;
    let number = input.number("expected_replacements")?.unwrap_or(1);
    let (old, new) = (input.must("old_string")?, input.must("new_string")?);
    replaced(call, texts, path, old, new, (all || number > 1).then_some(number))
}

fn multi_edit(call: &Call<'_>, texts: &mut Texts<'_>) -> Result<Action, Finding> {
    call.input.only(&["file_path", "edits"])?;
    let path = path(call, "file_path", texts)?;
    let mut edits = Vec::new();
    for it in call.input.must_list("edits")? {
        it.only(&["old_string", "new_string", "replace_all"])?;
        if it.flag("replace_all")? {
            return Err(it.error("a plan replaces a text that is there once: give each place with more text around it"));
        }
        let (old, new) = (it.must("old_string")?.to_owned(), it.must("new_string")?.to_owned());
        if old.is_empty() || old == new {
            return Err(it.error("nothing is replaced"));
        }
        edits.push(replaced_once(path.clone(), &old, &new, texts));
    }
    Ok(Action::Edits(edits, BTreeMap::new()))
}

/// The text editor of Anthropic's interface.
fn text_editor(call: &Call<'_>, texts: &mut Texts<'_>) -> Result<Action, Finding> {
    let input = &call.input;
    input.only(&[
        "command",
        "path",
        "file_text",
        "old_str",
        "new_str",
        "insert_line",
        "insert_text",
        "view_range",
    ])?;
    let path = path(call, "path", texts)?;
    match input.must("command")? {
        "view" => Ok(Action::Reads),
        "create" => Ok(written(path, input.must("file_text")?, texts)),
        "str_replace" => {
            let (old, new) = (input.must("old_str")?, input.text("new_str")?.unwrap_or_default());
            replaced(call, texts, path, old, new, None)
        }
        "insert" => {
            let new = input.text("insert_text")?.or(input.text("new_str")?);
            let new = new.ok_or_else(|| input.error("the text to insert is missing"))?;
            let line = input.must_number("insert_line")?;
            let before = texts.now(&path).map_err(|error| input.error(error))?.clone();
            let lines = before.split_inclusive('\n').count();
            if line > lines {
                return Err(input.error(format!("the file has {lines} lines, and none {line}")));
            }
            let at = before.split_inclusive('\n').take(line).map(str::len).sum();
            let mut after = before.clone();
            // The text becomes lines of its own.
            let is_open = line > 0 && !before.get(..at).unwrap_or_default().ends_with('\n');
            let line_break =
                if new.ends_with('\n') || at == before.len() && is_open { "" } else { "\n" };
            after.insert_str(at, &format!("{}{new}{line_break}", if is_open { "\n" } else { "" }));
            changed(call, path, &before, &after, texts)
        }
        other => Err(input.error(format!("the command {other:?} of this tool is not known here"))),
    }
}

fn patch(call: &Call<'_>, texts: &mut Texts<'_>) -> Result<Action, Finding> {
    let text = match call.input.value {
        Value::String(text) => text.as_str(),
        // So the hook of Codex gets it.
        _ if call.input.get("command").is_some() => {
            call.input.only(&["command"])?;
            call.input.must("command")?
        }
        _ => {
            call.input.only(&["input"])?;
            call.input.must("input")?
        }
    };
    match begin_patch::edits(Lines::of(text), texts) {
        Ok(made) => Ok(Action::Edits(made.edits, made.expected)),
        Err(errors) => {
            let first =
                errors.first().map(|error| format!("line {}: {}", error.line, error.message));
            Err(call.input.error(format!("the patch, {}", first.unwrap_or_default())))
        }
    }
}

/// Replaces a text. With a number, it is replaced everywhere, and a number above 1 is how often it must be there.
fn replaced(
    call: &Call<'_>,
    texts: &mut Texts<'_>,
    path: String,
    old: &str,
    new: &str,
    number: Option<usize>,
) -> Result<Action, Finding> {
    let input = &call.input;
    if old == new {
        return Err(input.error("nothing is replaced"));
    }
    // Agents make a file so.
    if old.is_empty() {
        texts.set(&path, Some(new.to_owned()));
        return Ok(Action::edit(Edit::Create { path, contents: new.to_owned() }));
    }
    let Some(number) = number else {
        return Ok(Action::edit(replaced_once(path, old, new, texts)));
    };
    let before = texts.now(&path).map_err(|error| input.error(error))?.clone();
    match before.matches(old).count() {
        0 => Err(input.error(format!("{path} does not have the text to replace"))),
        found if number > 1 && found != number => Err(input
            .error(format!("{path} has the text {found} times, and {number} times are expected"))),
        _ => changed(call, path, &before, &before.replace(old, new), texts),
    }
}

/// Replaces a text that must be there once. Whether it is, the review says.
fn replaced_once(path: String, old: &str, new: &str, texts: &mut Texts<'_>) -> Edit {
    if let Ok(now) = texts.now(&path).cloned()
        && texts.spend(now.len()).is_ok()
    {
        texts.set(&path, Some(now.replacen(old, new, 1)));
    }
    Edit::Replace { path, old: old.to_owned(), new: new.to_owned() }
}

/// A change of the text of a file. What a later call changes, it changes in the new text.
fn changed(
    call: &Call<'_>,
    path: String,
    before: &str,
    after: &str,
    texts: &mut Texts<'_>,
) -> Result<Action, Finding> {
    texts.spend(before.len() + after.len()).map_err(|error| call.input.error(error))?;
    let edit = Edit::patch(&path, before, after);
    if edit.is_too_long() {
        return Err(call
            .input
            .error(format!("the change of {path} is longer than a plan can have")));
    }
    let expected = texts.digest(&path).map(|digest| (path.clone(), digest));
    texts.set(&path, Some(after.to_owned()));
    Ok(Action::Edits(vec![edit], expected.into_iter().collect()))
}

fn path(call: &Call<'_>, name: &str, texts: &Texts<'_>) -> Result<String, Finding> {
    Ok(texts.path(call.input.must(name)?).to_owned())
}

fn description(call: &Call<'_>) -> Result<Option<String>, Finding> {
    Ok(call.input.text("description")?.and_then(one_line))
}

fn one_line(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// The whole seconds that a time in milliseconds needs.
fn seconds(call: &Call<'_>, name: &str) -> Result<Option<u32>, Finding> {
    let Some(milliseconds) = call.input.number(name)? else { return Ok(None) };
    let seconds = u32::try_from(milliseconds.div_ceil(1000)).ok();
    let seconds = seconds.filter(|it| (1..=limits::TIMEOUT_SECONDS).contains(it));
    seconds.map(Some).ok_or_else(|| {
        call.input.error(format!("\"{name}\" is no time limit that a step can have"))
    })
}

/// A word as bash reads it back. Letters alone may be a word of the grammar, such as `time`.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./:,@%+".contains(it);
    let is_reserved = RESERVED.split(' ').any(|it| it == word);
    if !word.is_empty() && word.chars().all(is_plain) && !is_reserved {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
