//! Resolves the name of a planner to a process and its permissions (SPEC §10, §11).

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use super::agents;
use crate::authorization::{StepWalls, WallLevel};
use crate::engine::planner_walls;
use crate::process::walls::{TEMPORARY, is_hidden_temporary};
use crate::risk::{PlannerNeeds, PlannerSettings, Policy, WallSetting};
use crate::run::{AGENT_TIMEOUT_S, LookScope, PLANNER_TIMEOUT_S};
use crate::tools::{PlannerProgram, Toolbox};

/// The names of the built-in planners. The first one requires an argument after a colon; for the agents it is a model.
pub const BUILT_IN: [&str; 6] =
    ["replay", "cargo-fix", "openai-compatible", "codex", "claude", "gemini"];

/// Resolves the name of a planner to the process that implements it.
///
/// `replay:DIR`, `cargo-fix`, `openai-compatible`, `codex`, `claude`, `gemini`, and each of these with `:ARGUMENT`
/// appended, are built in: they are this program, started without a shell as
///
/// ```text
/// countersign planner NAME [ARGUMENT]
/// ```
///
/// where `NAME` is the text before the first colon and `ARGUMENT` the unchanged text after it. A relative `DIR` is
/// relative to `folder`, in which the loop was started, and is made absolute, because the process runs in the
/// workspace. Any other name is a command for the shell of this computer; `./cargo-fix` runs a file that has the
/// name of a built-in planner.
///
/// Both kinds follow these rules:
///
/// - The process runs in the workspace, with the environment of this program and without a terminal.
/// - It reads one JSON document from its standard input, to the end: the request, described by
///   `assets/schema/planner-request.schema.json`.
/// - It prints one plan in any dialect, and nothing else, to its standard output, and exits with 0. An action plan
///   with a `failure` in place of `actions` means that the planner has no plan.
/// - Its standard error is meant for people. It is shown while it arrives, and recorded.
/// - If it exits with another code, takes too long, or prints no plan, the attempt is rejected, and the next request
///   contains the reason in `last_attempt`.
/// - It is ended with its process tree when a person stops the loop.
///
/// # Errors
/// Why the name denotes no planner, as a sentence.
pub fn resolve(name: &str, folder: &std::path::Path) -> Result<PlannerProgram, &'static str> {
    let name = name.trim();
    if name.is_empty() {
        return Err("the planner has no name");
    }
    let (built_in, argument) = match name.split_once(':') {
        Some((built_in, argument)) => (built_in, Some(argument)),
        None => (name, None),
    };
    if !BUILT_IN.contains(&built_in) {
        return Ok(PlannerProgram::Command(name.to_owned()));
    }
    let argument = argument.filter(|argument| !argument.is_empty());
    let argument = match (built_in, argument) {
        ("replay", None) => return Err("replay needs the folder with the plans, as replay:DIR"),
        ("replay", Some(plans)) => Some(folder.join(plans).to_string_lossy().into_owned()),
        (_, argument) => argument.map(str::to_owned),
    };
    let program = std::env::current_exe().map_err(
        |_| "the path of this program cannot be determined, so its planner cannot be started",
    )?;
    let arguments = ["planner".to_owned(), built_in.to_owned()];
    let arguments = arguments.into_iter().chain(argument).collect();
    Ok(PlannerProgram::Program { program, arguments, has_key: built_in == "openai-compatible" })
}

/// The standard input of a planner. The planner that calls a model cannot read the settings file from behind its walls,
/// so its settings precede the request. No other planner gets them, and the recorded request does not contain them,
/// because they may contain the key.
pub(super) fn planner_input<'r>(
    program: &PlannerProgram,
    settings: Option<&PlannerSettings>,
    request: &'r [u8],
) -> Cow<'r, [u8]> {
    match (program, settings) {
        (PlannerProgram::Program { has_key: true, .. }, Some(settings)) => {
            [settings.0.as_bytes(), b"\n", request].concat().into()
        }
        _ => request.into(),
    }
}

/// What walls hide from a planner, as the end of a sentence about its failure, if its command names something beside a
/// workspace in the folder of temporary files. Otherwise `None`.
pub(super) fn hint_about_hidden_files(
    program: &PlannerProgram,
    workspace: &Path,
    walls: &StepWalls,
) -> Option<String> {
    let PlannerProgram::Command(command) = program else { return None };
    if walls.level != WallLevel::Full {
        return None;
    }
    let workspace = workspace.canonicalize().ok()?;
    let words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    let mut named = words
        .filter(|word| word.contains('/'))
        .filter_map(|word| workspace.join(word).canonicalize().ok());
    named.any(|path| is_hidden_temporary(&path, &workspace)).then(|| {
        format!(
            ". Its walls hide what is below {TEMPORARY}, except the workspace and the files that its command names: \
             what else it needs belongs in the workspace or in another folder, such as your home folder"
        )
    })
}

/// The permissions of the planner with this name: those in the settings, looked up by the complete name, and then by the
/// name of a built-in planner, or by the text before the first space and the file name of the program; else those that a
/// built-in planner needs; else read-only access.
pub fn needs_of(name: &str, policy: &Policy) -> PlannerNeeds {
    let name = name.trim();
    let built_in = name.split(':').next().filter(|name| BUILT_IN.contains(name));
    let program = name.split_whitespace().next().unwrap_or(name);
    let file = program.rsplit('/').next().unwrap_or(program);
    // The argument of a built-in planner is no program: `replay:plans/plan.sh` gets nothing that `plan.sh` may do.
    let names = built_in.map_or([name, program, file], |built_in| [name, built_in, built_in]);
    let from_settings = names.iter().find_map(|name| policy.planners.get(*name));
    let agent_folder = built_in.and_then(agents::folder_of);
    let needs = from_settings.cloned().unwrap_or_else(|| match built_in {
        // The network, to reach the server in its settings, or the agent's own.
        Some(name) if name == "openai-compatible" || agents::is_agent(name) => {
            PlannerNeeds { network: true, ..PlannerNeeds::default() }
        }
        // `cargo check` writes the build files in the workspace.
        Some("cargo-fix") => {
            PlannerNeeds { write: vec![".".to_owned()], ..PlannerNeeds::default() }
        }
        _ => PlannerNeeds::default(),
    });
    // An agent that cannot write there cannot renew its login, so settings do not take it away.
    PlannerNeeds { agent_folder, ..needs }
}

/// The time that a planner gets for one answer if the person gives it none.
pub fn default_timeout(name: &str) -> Duration {
    let is_agent = agents::agent_program(name).is_some();
    Duration::from_secs(if is_agent { AGENT_TIMEOUT_S } else { PLANNER_TIMEOUT_S }.into())
}

/// As [`needs_of`], for a loop whose planner may look at this. An agent that may look at nothing does not see the
/// workspace: it would look by its own tools.
pub(super) fn needs_with_looks(name: &str, looks: LookScope, policy: &Policy) -> PlannerNeeds {
    let needs = needs_of(name, policy);
    let sees = needs.agent_folder.is_none() || looks != LookScope::None;
    PlannerNeeds { read: needs.read && sees, ..needs }
}

/// The permissions of a planner that may look at this, on this computer, and what enforces them, as a sentence.
///
/// # Errors
/// Why the planner cannot be started here, as a sentence.
pub fn planner_limits(
    name: &str,
    looks: LookScope,
    toolbox: &Toolbox,
    policy: &Policy,
) -> Result<String, String> {
    let needs = needs_with_looks(name, looks, policy);
    let (walls, _) = planner_walls(toolbox, policy, &needs)?;
    Ok(format!("{needs}; {}", enforcement(walls.level, policy)))
}

/// What enforces the permissions of a planner or an agent with walls of this level.
pub(super) fn enforcement(level: WallLevel, policy: &Policy) -> &'static str {
    match (level, policy.walls) {
        (WallLevel::Full, _) => "walls: full",
        (WallLevel::Files, _) => "walls: files",
        (WallLevel::None, WallSetting::Off) => {
            "nothing enforces this: walls are off in your settings"
        }
        (WallLevel::None, _) => "nothing enforces this: this computer has no walls",
    }
}

/// A read-only planner command that prints the n-th of these plans at the n-th attempt.
#[cfg(test)]
pub(crate) fn scripted(plans: impl IntoIterator<Item = String>) -> String {
    let answers: Vec<String> = plans
        .into_iter()
        .zip(1..)
        .map(|(plan, attempt)| format!("{attempt}) echo '{}';;", plan.replace('\'', r"'\''")))
        .collect();
    let attempt = r#"grep -o '"attempt":[0-9]*' | head -n 1 | tr -dc 0-9"#;
    format!("echo thinking >&2; case $({attempt}) in {} *) exit 1;; esac", answers.join(" "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn planner_needs_default_to_reading() {
        let mut policy = Policy::default();
        assert_eq!(needs_of("python3 plan.py", &policy), PlannerNeeds::default());
        assert_eq!(needs_of("replay:plans", &policy), PlannerNeeds::default());
        assert!(needs_of("openai-compatible:fast", &policy).network);
        assert_eq!(needs_of("cargo-fix", &policy).write, ["."]);
        let text = needs_of("cargo-fix", &policy).to_string();
        assert_eq!(text, "reads, writes the workspace, no network");
        let network = PlannerNeeds { network: true, ..PlannerNeeds::default() };
        policy.planners.insert("plan.sh".to_owned(), network.clone());
        policy.planners.insert("openai-compatible".to_owned(), PlannerNeeds::default());
        assert_eq!(needs_of("./tools/plan.sh --fast", &policy), network);
        assert_eq!(needs_of("plan.shx", &policy), PlannerNeeds::default());
        assert_eq!(needs_of("replay:plans/plan.sh", &policy), PlannerNeeds::default());
        assert!(!needs_of("openai-compatible", &policy).network, "the settings come first");
    }

    /// What changes of the settings weaken is judged by it.
    #[test]
    fn no_planner_that_is_not_named_may_do_more_than_is_said() {
        for name in BUILT_IN.into_iter().chain(["cargo-fix:x", "python3 plan.py"]) {
            let needs = needs_of(name, &Policy::default());
            let most = PlannerNeeds::at_most_unnamed(name);
            assert!(!needs.network || most.network, "{name}");
            assert!(needs.write.iter().all(|path| most.write.contains(path)), "{name}");
            assert!(most.read);
        }
    }

    #[test]
    fn an_agent_has_the_network_and_its_folder() {
        let mut policy = Policy::default();
        let needs = needs_of("codex:fast", &policy);
        let folder = needs.agent_folder.as_ref().unwrap();
        assert!(needs.network && needs.read && needs.write.is_empty());
        assert!(folder.read_only.contains(&"config.toml"));
        assert!(needs.to_string().contains(".codex without its settings, network"), "{needs}");
        let hidden = PlannerNeeds { read: false, ..PlannerNeeds::default() };
        policy.planners.insert("codex".to_owned(), hidden);
        let needs = needs_of("codex", &policy);
        assert!(!needs.network && !needs.read && needs.agent_folder.is_some());
        assert_eq!(needs_of("codex exec", &policy).agent_folder, None);
        let reads = |name, looks| needs_with_looks(name, looks, &Policy::default()).read;
        assert!(reads("claude", LookScope::Workspace) && !reads("claude", LookScope::None));
        assert!(reads("python3 plan.py", LookScope::None));
    }

    #[test]
    fn only_the_model_planner_gets_the_settings() {
        let settings = PlannerSettings("{\"key\":\"k\"}".to_owned());
        for name in ["openai-compatible", "cargo-fix", "replay:plans", "python3 plan.py"] {
            let program = resolve(name, Path::new("/here")).unwrap();
            let input = planner_input(&program, Some(&settings), b"{}");
            let gets_settings = name == "openai-compatible";
            let expected: &[u8] = if gets_settings { b"{\"key\":\"k\"}\n{}" } else { b"{}" };
            assert_eq!(&*input, expected, "{name}");
        }
    }

    #[test]
    fn planner_name_is_built_in_or_command() {
        let here = Path::new("/here");
        let of = |name: &str| resolve(name, here);
        let own = |arguments: &[&str]| {
            Ok(PlannerProgram::Program {
                program: std::env::current_exe().unwrap(),
                arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
                has_key: arguments.contains(&"openai-compatible"),
            })
        };
        assert_eq!(of("replay:plans"), own(&["planner", "replay", "/here/plans"]));
        assert_eq!(of("replay:/plans:1"), own(&["planner", "replay", "/plans:1"]));
        assert_eq!(of(" cargo-fix "), own(&["planner", "cargo-fix"]));
        assert_eq!(of("openai-compatible"), own(&["planner", "openai-compatible"]));
        assert_eq!(of("openai-compatible:fast"), own(&["planner", "openai-compatible", "fast"]));
        assert_eq!(of("codex"), own(&["planner", "codex"]));
        assert_eq!(of("claude:opus"), own(&["planner", "claude", "opus"]));
        for command in
            ["./cargo-fix", "codex exec", "cargo-fix --now", "python3 plan.py", "replays:x"]
        {
            assert_eq!(of(command), Ok(PlannerProgram::Command(command.to_owned())));
        }
        assert!(of("replay").unwrap_err().contains("the folder"));
        assert!(of("replay:").unwrap_err().contains("the folder"));
        assert!(of("  ").unwrap_err().contains("no name"));
    }
}
