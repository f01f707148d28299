//! The agents that are bundled planners or can be talked to: what each keeps in a folder of its own, and what of that it
//! may write while it works (SPEC §7.5, §13).

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::risk::AgentFolder;

/// An agent.
struct KnownAgent {
    name: &'static str,
    /// The variable that moves its folder, and the folder below the one that the variable names.
    variable: (&'static str, &'static str),
    /// Its folder in the home folder.
    folder: &'static str,
    /// Its settings in that folder, and what it would run or obey: instructions, hooks, extensions.
    read_only: &'static [&'static str],
    /// The same, made by the agent itself when it starts for the first time, which must not fail.
    read_only_if_there: &'static [&'static str],
}

/// The agents. Each is named like its program.
const AGENTS: [KnownAgent; 3] = [
    KnownAgent {
        name: "codex",
        variable: ("CODEX_HOME", ""),
        folder: ".codex",
        read_only: &[
            "config.toml",
            "hooks.json",
            "AGENTS.md",
            "AGENTS.override.md",
            "rules",
            "prompts",
        ],
        read_only_if_there: &["skills"],
    },
    KnownAgent {
        name: "claude",
        variable: ("CLAUDE_CONFIG_DIR", ""),
        folder: ".claude",
        read_only: &["settings.json", "CLAUDE.md", "agents", "commands", "hooks", "skills"],
        read_only_if_there: &["plugins"],
    },
    KnownAgent {
        name: "gemini",
        variable: ("GEMINI_CLI_HOME", ".gemini"),
        folder: ".gemini",
        read_only: &[
            "settings.json",
            "trustedFolders.json",
            "GEMINI.md",
            ".env",
            "commands",
            "extensions",
            "policies",
            "skills",
        ],
        read_only_if_there: &[],
    },
];

/// Agents that are no planners, but can be talked to while they work.
const OTHERS: [KnownAgent; 3] = [
    KnownAgent {
        name: "copilot",
        variable: ("COPILOT_HOME", ""),
        folder: ".copilot",
        read_only: &[],
        read_only_if_there: &["mcp-config.json", "agents", "hooks", "skills"],
    },
    KnownAgent {
        name: "opencode",
        variable: ("XDG_DATA_HOME", "opencode"),
        folder: ".local/share/opencode",
        read_only: &[],
        read_only_if_there: &[],
    },
    KnownAgent {
        name: "qwen",
        variable: ("QWEN_HOME", ""),
        folder: ".qwen",
        read_only: &[],
        read_only_if_there: &[
            "settings.json",
            "trustedFolders.json",
            "QWEN.md",
            ".env",
            "agents",
            "commands",
            "extensions",
            "skills",
        ],
    },
];

/// The folder of the agent with this name; `None` if no agent is known by it, or the system does not say where it is.
pub(super) fn folder_of(name: &str) -> Option<AgentFolder> {
    folder(name, |variable| env::var_os(variable), env::home_dir())
}

fn folder(
    name: &str,
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
) -> Option<AgentFolder> {
    let agent = AGENTS.iter().chain(&OTHERS).find(|agent| agent.name == name)?;
    let (moved, below) = agent.variable;
    let moved = variable(moved).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = match moved {
        Some(moved) if below.is_empty() => moved,
        Some(moved) => moved.join(below),
        None => home.filter(|home| home.is_absolute())?.join(agent.folder),
    };
    let there = agent.read_only_if_there.iter().filter(|name| folder.join(name).exists());
    let read_only = agent.read_only.iter().chain(there).copied().collect();
    Some(AgentFolder { folder, read_only })
}

/// The names of all agents that are known. Each is that of its program, too.
pub fn agent_names() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().chain(&OTHERS).map(|agent| agent.name)
}

/// Whether a bundled planner is an agent.
pub(super) fn is_agent(name: &str) -> bool {
    AGENTS.iter().any(|agent| agent.name == name)
}

/// The name of the program of the agent that this planner is, as `loop --planner` names it; `None` for other planners.
pub fn agent_program(planner: &str) -> Option<&'static str> {
    let name = planner.trim().split(':').next()?;
    AGENTS.iter().map(|agent| agent.name).find(|agent| *agent == name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn folder_is_in_the_home_or_where_the_variable_says() {
        let home = || Some(PathBuf::from("/home/ada"));
        let of = |name: &str, value: Option<&'static str>| {
            let found = folder(name, |_| value.map(OsString::from), home());
            found.map(|found| found.folder)
        };
        assert_eq!(of("codex", None).as_deref(), Some(Path::new("/home/ada/.codex")));
        assert_eq!(of("codex", Some("/elsewhere")).as_deref(), Some(Path::new("/elsewhere")));
        assert_eq!(of("gemini", Some("/else")).as_deref(), Some(Path::new("/else/.gemini")));
        assert_eq!(of("claude", Some("relative")).as_deref(), Some(Path::new("/home/ada/.claude")));
        assert_eq!(of("cargo-fix", None), None);
        assert_eq!(of("qwen", None).as_deref(), Some(Path::new("/home/ada/.qwen")));
        assert!(!is_agent("qwen") && agent_program("qwen").is_none(), "it is no planner");
        let temp = tempfile::tempdir().unwrap();
        let moved = || Some(temp.path().as_os_str().to_owned());
        let protects =
            |name| folder("codex", |_| moved(), home()).unwrap().read_only.contains(&name);
        assert!(protects("config.toml") && !protects("skills"));
        std::fs::create_dir(temp.path().join("skills")).unwrap();
        assert!(protects("skills"));
        assert!(is_agent("gemini") && !is_agent("openai-compatible"));
        assert_eq!(agent_program(" claude:opus "), Some("claude"));
        assert_eq!(agent_program("claude -p"), None);
    }
}
