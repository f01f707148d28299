//! Finds ansible, and says with which options it starts `ssh`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::super::control_connection::Folder;
use super::super::{LOOKUP_TIMEOUT, RemoteError, SshClient};
use super::version;
use crate::process;
use crate::process::{Leftovers, Profile, Program, Programs};
use crate::run::StopSignal;

/// The program, in the packages `ansible-core` of Debian, Fedora and PyPI.
const PROGRAM: &str = "ansible-playbook";
/// The variables that ansible and `ssh` keep of this process's environment.
const KEPT: [&str; 8] =
    ["HOME", "USER", "LOGNAME", "PATH", "SSH_AUTH_SOCK", "KRB5CCNAME", "TMPDIR", "TZ"];
/// The file with the settings of `ssh` in the folder of a run.
pub(super) const SSH_SETTINGS: &str = "ssh_settings";

/// A program, the time of its last change, and its version: asking for it takes half a second.
type Known = (PathBuf, SystemTime, String);
static VERSION: Mutex<Option<Known>> = Mutex::new(None);

/// The path of `ansible-playbook` and the version of ansible-core.
///
/// # Errors
/// It is not on `PATH` outside the workspace, or does not print its version.
pub(super) fn find(workspace: &Path, stop: &StopSignal) -> Result<(PathBuf, String), RemoteError> {
    let programs = Programs { workspace: workspace.to_owned(), original: None };
    let program = programs
        .find(PROGRAM)
        .ok_or_else(|| RemoteError::NoAnsible { searched: programs.where_searched(PROGRAM) })?;
    if let Some(version) = version::of_installation(&program, std::env::home_dir().as_deref()) {
        return Ok((program, version));
    }
    let changed = fs::metadata(&program).and_then(|data| data.modified());
    let mut known = VERSION.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some((path, time, version)), Ok(changed)) = (known.as_ref(), &changed)
        && (path, time) == (&program, changed)
    {
        return Ok((program, version.clone()));
    }
    let version = asked(&program, stop)?;
    *known = changed.ok().map(|changed| (program.clone(), changed, version.clone()));
    Ok((program, version))
}

/// The version that the program prints first, as in `ansible-playbook [core 2.19.14]`.
fn asked(program: &Path, stop: &StopSignal) -> Result<String, RemoteError> {
    let folder = Folder::new().map_err(RemoteError::AnsibleNotStarted)?;
    // Without one, ansible would read the settings of the person or the system.
    let settings = folder.path().join("ansible.cfg");
    fs::write(&settings, "").map_err(RemoteError::AnsibleNotStarted)?;
    let settings = settings.to_string_lossy();
    let unset = removed_variables();
    let program = Program {
        profile: Profile::Client,
        program: program.as_os_str(),
        arguments: &["--version"],
        input: None,
        folder: folder.path(),
        environment: &[("LC_ALL", "C.UTF-8"), ("ANSIBLE_CONFIG", &settings)],
        unset: &unset,
        leftovers: Leftovers::End,
        timeout: LOOKUP_TIMEOUT,
        output_limit: 1 << 20,
    };
    let finished =
        process::run(&program, stop, &|_, _| {}).map_err(RemoteError::AnsibleNotStarted)?;
    let text = String::from_utf8_lossy(&finished.stdout);
    let version =
        text.lines().next().and_then(|line| line.split_once("[core ")?.1.strip_suffix(']'));
    version.map(str::to_owned).ok_or_else(|| {
        let messages = String::from_utf8_lossy(&finished.stderr).trim_end().to_owned();
        RemoteError::Ansible {
            messages: if messages.is_empty() { text.into_owned() } else { messages },
        }
    })
}

/// The variables that are removed from the environment, so that none of them changes what ansible, Python or ssh do.
pub(super) fn removed_variables() -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| !KEPT.iter().any(|kept| OsStr::new(kept) == name)).collect()
}

/// Options of `ssh` in a run besides those of every call. Only the known hosts that were authorized say which keys are
/// right, and no connection of the person is used, whose key was not checked against them.
const OF_RUN: [&str; 5] = [
    "KnownHostsCommand=none",
    "VerifyHostKeyDNS=no",
    "UserKnownHostsFile=known_hosts",
    "GlobalKnownHostsFile=/dev/null",
    // The reason why a host is not reached is read from the messages.
    "LogLevel=INFO",
];

impl SshClient {
    /// The path of the client for ansible's settings.
    pub(super) fn fleet_program(&self) -> Result<&str, RemoteError> {
        plain(self.program_path().as_os_str())
    }

    /// The arguments of the client for ansible's settings: its files in the folder of the run, in which it is started, and
    /// the options of every call. With `several` steps, one connection to each host carries all of them.
    pub(super) fn fleet_arguments(several: bool) -> Vec<String> {
        let mut arguments = vec!["-F".to_owned(), SSH_SETTINGS.to_owned()];
        let connection: &[&str] = match several {
            true => &["ControlMaster=auto", "ControlPersist=60"],
            false => &["ControlMaster=no", "ControlPath=none"],
        };
        let options = Self::options().chain(OF_RUN).chain(connection.iter().copied());
        arguments.extend(options.flat_map(|option| ["-o".to_owned(), option.to_owned()]));
        arguments
    }
}

/// A path that means the same in ansible's settings and to the client.
pub(super) fn plain(path: &OsStr) -> Result<&str, RemoteError> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@=:~".contains(c);
    path.to_str()
        .filter(|text| text.chars().all(is_plain))
        .ok_or_else(|| RemoteError::PathForAnsible { path: PathBuf::from(path) })
}
