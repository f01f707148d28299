//! Finds the local shell. The risk of a command is judged for the same shell that later runs the command
//! (SPEC §7.2).

use std::ffi::OsString;
use std::path::PathBuf;

use crate::plan::VARIABLE_PREFIX;
use crate::process::Programs;
use crate::risk::Shell;

/// Maximum size of each output of a command: 2 GiB.
pub(super) const OUTPUT_BYTES: u64 = 2 << 30;
/// Variables that make a shell run other code first or parse the command differently.
const SHELL_VARIABLES: [&str; 6] =
    ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "POSIXLY_CORRECT"];
/// The prefix of the variables of exported functions. These are removed too, because a function could replace a
/// program whose risk was judged.
const FUNCTION_PREFIX: &str = "BASH_FUNC_";

/// The shell that runs commands.
#[derive(Debug)]
pub(super) struct CommandShell {
    pub(super) path: PathBuf,
    pub(super) shell: Shell,
}

/// The `bash` that `find` returns, or else its `sh`; `None` if it returns neither.
pub(super) fn choose(find: impl Fn(&str) -> Option<PathBuf>) -> Option<CommandShell> {
    find("bash")
        .map(|path| CommandShell { path, shell: Shell::Bash })
        .or_else(|| find("sh").map(|path| CommandShell { path, shell: Shell::Posix }))
}

impl CommandShell {
    /// Finds `bash`, or else `sh`, on `PATH` or in `/bin`.
    pub(super) fn find(programs: &Programs) -> Option<Self> {
        let existing = |path: &str| Some(PathBuf::from(path)).filter(|path| path.is_file());
        choose(|name| programs.find(name).or_else(|| existing(&format!("/bin/{name}"))))
    }

    /// The arguments with which the shell is started. The command comes last and is never parsed as an
    /// option, even when it begins with a dash.
    pub(super) fn arguments<'a>(&self, command: &'a str) -> Vec<&'a str> {
        match self.shell {
            Shell::Bash => vec!["--noprofile", "--norc", "-c", "--", command],
            Shell::Posix => vec!["-c", "--", command],
        }
    }
}

/// The variables of this process's environment that are removed from the environment of the shell, among them all that
/// could pass as an input of the plan.
pub(super) fn removed_variables() -> Vec<OsString> {
    std::env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| {
            SHELL_VARIABLES.iter().any(|variable| name == variable)
                || [FUNCTION_PREFIX, VARIABLE_PREFIX]
                    .iter()
                    .any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
        })
        .collect()
}

/// The name and id of the user of this process. All local programs run as this user.
pub(super) fn user() -> String {
    let name = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let id = format!("user id {}", rustix::process::geteuid().as_raw());
    name.filter(|name| !name.is_empty()).map_or(id.clone(), |name| format!("{name} ({id})"))
}
