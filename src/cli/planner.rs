//! `planner`: runs one of the built-in planners as a process of the loop. It is hidden from the help, because people
//! name a planner with `loop --planner`.

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use super::args::PlannerWord;
use super::output::{Output, say_chunk};
use super::refusal::Refusal;
use super::{Exit, args};
use crate::planner::{Agent, Planner, Request, Server};
use crate::process::MODEL_KEY;
use crate::risk::Policy;
use crate::worker::{ModelSettings, default_folders, load_model};

/// Maximum number of bytes that are read from stdin. The requests of the loop are smaller.
const REQUEST_BYTES: u64 = 64 << 20;

/// Reads one request from stdin and prints one plan.
///
/// # Errors
/// The request cannot be read, a required option or setting of the planner is missing, or the settings
/// cannot be used.
pub(super) fn planner(command: &args::Planner, out: &mut Output) -> Result<Exit, Refusal> {
    let mut request = Vec::new();
    let unreadable = |error: String| {
        Refusal::usage(error, "Use this planner with `countersign loop --planner`.")
    };
    io::stdin()
        .lock()
        .take(REQUEST_BYTES)
        .read_to_end(&mut request)
        .map_err(|error| unreadable(format!("the request cannot be read: {error}")))?;
    let (settings, request) = split_settings(&request);
    let request = Request::parse(request).map_err(|error| unreadable(error.to_string()))?;
    let planner = match command.name {
        PlannerWord::Replay => {
            let folder = command.argument.as_ref().map(PathBuf::from).ok_or_else(|| {
                Refusal::usage(
                    "replay needs the folder of its plans",
                    "Write replay:DIR, with the folder after the colon.",
                )
            })?;
            Planner::Replay(folder)
        }
        PlannerWord::CargoFix => Planner::CargoFix,
        PlannerWord::OpenaiCompatible => Planner::Chat(server(settings)?),
        PlannerWord::Codex => Planner::Agent(Agent::Codex, command.argument.clone()),
        PlannerWord::Claude => Planner::Agent(Agent::Claude, command.argument.clone()),
        PlannerWord::Gemini => Planner::Agent(Agent::Gemini, command.argument.clone()),
    };
    let workspace = std::env::current_dir()
        .map_err(|error| unreadable(format!("the current folder cannot be found: {error}")))?;
    let plan = planner.plan(&request, &workspace, &say_chunk);
    out.plan(&[plan.trim_ascii_end(), b"\n"].concat());
    Ok(Exit::Done)
}

/// Splits the input into the settings of the model in the first line, if there are any, and the request after it.
fn split_settings(input: &[u8]) -> (Option<ModelSettings>, &[u8]) {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return (None, input) };
    let (line, rest) = input.split_at(end);
    match serde_json::from_slice(line) {
        Ok(settings) => (Some(settings), rest),
        Err(_) => (None, input),
    }
}

/// Refuses to ask a model if the environment and the settings of the policy name none.
pub(super) fn check_model(policy: &Policy) -> Result<(), Refusal> {
    server(Some(ModelSettings::of(policy))).map(drop)
}

/// The model server from the environment variables, otherwise from `given` or the settings file.
fn server(given: Option<ModelSettings>) -> Result<Server, Refusal> {
    let settings = match (given, default_folders()) {
        (Some(settings), _) => settings,
        (None, Some(folders)) => load_model(&folders.settings)?,
        (None, None) => ModelSettings::default(),
    };
    let variable = |name: &str| std::env::var(name).ok();
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let [own_url, openai_url] = ModelSettings::URL_VARIABLES.map(set);
    // A key is sent only to the address that it was configured with.
    let key = set(MODEL_KEY).or_else(|| match (&own_url, &openai_url) {
        (None, Some(_)) => set("OPENAI_API_KEY"),
        (None, None) => settings.key.clone(),
        (Some(_), _) => None,
    });
    let settings = settings.overridden(variable);
    let missing = |what: &str, names: [&str; 2]| {
        Refusal::usage(
            format!("openai-compatible needs the {what} of a model"),
            &format!("Set {} or {}, or the table [model] in the settings.", names[0], names[1]),
        )
    };
    let (urls, names) = (ModelSettings::URL_VARIABLES, ModelSettings::NAME_VARIABLES);
    Ok(Server {
        url: settings.url.ok_or_else(|| missing("address", urls))?,
        model: settings.name.ok_or_else(|| missing("name", names))?,
        key,
        timeout: Duration::from_secs(settings.timeout_seconds.max(1).into()),
        stream: settings.stream,
        tools: settings.tools,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_stand_in_a_line_before_the_request() {
        let settings = ModelSettings { key: Some("k".to_owned()), ..ModelSettings::default() };
        let line = serde_json::to_string(&settings).unwrap();
        let request = b"{\"protocol\": 1}\n";
        let both = [line.as_bytes(), b"\n", request].concat();
        let (found, rest) = split_settings(&both);
        assert_eq!((found, rest.trim_ascii()), (Some(settings), request.trim_ascii()));
        for alone in [&b"{\"goal\": \"g\"}\n"[..], b"{\"goal\":\n\"g\"}", b"", b"{}"] {
            assert_eq!(split_settings(alone).1, alone, "{alone:?}");
        }
    }
}
