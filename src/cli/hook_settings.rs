//! `hook install` and `hook remove`: the hook in the settings of an agent.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::hook::own_word;
use super::output::{Output, say};
use super::refusal::Refusal;
use super::{Exit, args};
use crate::engine::{Clock as _, SystemClock};
use crate::hooks::Agent;
use crate::hooks::settings::{HookEntry, install as added, remove as removed};
use crate::worker::default_folders;

/// How long a person is waited for if nothing else is said, in seconds. The settings have the agent wait longer.
const TIMEOUT: u64 = 540;
/// The maximum size of a settings file, in bytes.
const MAX_SETTINGS: u64 = 4 << 20;

/// Adds the hook to the settings of an agent. Everything else in them stays, and the old file is kept beside the new one.
///
/// # Errors
/// The settings cannot be read, changed or written. Then they are as before.
pub(super) fn install(command: &args::HookInstall, out: &mut Output) -> Result<Exit, Refusal> {
    let agent = command.place.agent.0;
    let program = own_word().map_err(|error| usage("this program cannot be found", &error))?;
    if command.unsandboxed && agent != Agent::Codex {
        return Err(Refusal::usage("only Codex needs --unsandboxed", "Leave it out."));
    }
    let timeout = command.timeout.unwrap_or(TIMEOUT);
    let entry = HookEntry::new(agent, &program, timeout, command.unsandboxed);
    let change = |text: &str| added(agent, text, &entry).map_err(|fault| fault.to_string());
    let backup = rewrite(&command.place, change, out, "installed")?;
    if backup && agent == Agent::Codex && !out.json() {
        say("Codex skips a hook silently until you trust it: start `codex` once and accept it.");
    }
    if !out.json() {
        let project = command.place.project.as_ref();
        let project = project.map(|it| format!(" --project {}", it.display())).unwrap_or_default();
        // Only the agent itself could show that its hook fires, and this one is not asked to.
        let shows =
            if agent == Agent::Claude { "looks at its settings" } else { "proves that it fires" };
        say(&format!("`countersign hook doctor --agent {}{project}` {shows}.", agent.as_str()));
    }
    Ok(Exit::Done)
}

/// Removes the hook from the settings of an agent.
///
/// # Errors
/// As [`install`].
pub(super) fn remove(command: &args::HookPlace, out: &mut Output) -> Result<Exit, Refusal> {
    let agent = command.agent.0;
    let change = |text: &str| removed(agent, text).map_err(|fault| fault.to_string());
    rewrite(command, change, out, "removed")?;
    Ok(Exit::Done)
}

/// The settings file of an agent: of a project, otherwise of the user.
pub(super) fn settings_file(agent: Agent, project: Option<&Path>) -> Result<PathBuf, Refusal> {
    let name = if agent == Agent::Codex { "hooks.json" } else { "settings.json" };
    let folder = format!(".{}", agent.as_str());
    if let Some(project) = project {
        let project = fs::canonicalize(project)
            .map_err(|error| usage(&format!("{} cannot be used", project.display()), &error))?;
        return Ok(project.join(folder).join(name));
    }
    let home = default_folders().map(|folders| folders.home);
    let named = |variable: &str| {
        std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    let own = match agent {
        Agent::Claude => named("CLAUDE_CONFIG_DIR"),
        Agent::Codex => named("CODEX_HOME"),
        Agent::Gemini => named("GEMINI_CLI_HOME").map(|home| home.join(".gemini")),
    };
    let folder = own.or_else(|| Some(home?.join(folder)));
    let folder =
        folder.ok_or_else(|| Refusal::usage("your home folder is not known", "Set HOME."))?;
    Ok(folder.join(name))
}

fn usage(what: &str, error: &io::Error) -> Refusal {
    Refusal::usage(format!("{what}: {error}"), "Mend it, then try again.")
}

/// The text of a settings file; empty if there is none.
pub(super) fn read(file: &Path) -> io::Result<String> {
    match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
        Ok(it) if !it.is_file() => Err(io::Error::other("it is no regular file")),
        Ok(it) if it.len() > MAX_SETTINGS => Err(io::Error::other("it is larger than 4 MiB")),
        Ok(_) => fs::read_to_string(file),
    }
}

/// Changes a settings file, if there is something to change. Returns whether it was changed.
fn rewrite(
    place: &args::HookPlace,
    change: impl Fn(&str) -> Result<Option<String>, String>,
    out: &mut Output,
    done: &str,
) -> Result<bool, Refusal> {
    let agent = place.agent.0;
    let named = settings_file(agent, place.project.as_deref())?;
    // A link stays one, and the file behind it is changed.
    let file = fs::canonicalize(&named).unwrap_or(named);
    let what = format!("{} cannot be changed", file.display());
    let before = read(&file).map_err(|error| usage(&what, &error))?;
    let after = change(&before).map_err(|fault| {
        Refusal::usage(format!("{what}: {fault}"), "Mend the file, or add the hook by hand.")
    })?;
    let changed = after.is_some();
    let backup = match after {
        None => None,
        Some(after) => write(&file, &before, &after).map_err(|error| usage(&what, &error))?,
    };
    let shown = file.display().to_string();
    if out.json() {
        let backup = backup.map(|it| it.display().to_string());
        let word = if changed { done } else { "unchanged" };
        out.document(
            &json!({ "agent": agent.as_str(), "file": shown, "state": word, "backup": backup }),
        );
    } else if changed {
        out.line(&format!("The hook of {} is {done}: {shown}", agent.name()));
        if let Some(backup) = backup {
            out.line(&format!("The settings as they were: {}", backup.display()));
        }
    } else {
        out.line(&format!("Nothing to change in {shown}"));
    }
    Ok(changed)
}

/// Writes a settings file, after a copy of what it was. Returns the copy, if there was something.
fn write(file: &Path, before: &str, after: &str) -> io::Result<Option<PathBuf>> {
    let folder = file.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    fs::create_dir_all(folder)?;
    let permissions = fs::metadata(file).ok().map(|it| it.permissions());
    let put = |to: &Path, text: &str, may_replace: bool| {
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        if let Some(permissions) = &permissions {
            new.as_file().set_permissions(permissions.clone())?;
        }
        new.as_file().sync_all()?;
        match may_replace {
            true => new.persist(to).map(drop),
            false => new.persist_noclobber(to).map(drop),
        }
        .map_err(|error| error.error)
    };
    let backup = match before.is_empty() {
        true => None,
        false => {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let at = SystemClock::default().now_ms();
            let backup = folder.join(format!("{name}.before-countersign-{at}"));
            put(&backup, before, false)?;
            Some(backup)
        }
    };
    put(file, after, true)?;
    Ok(backup)
}
