//! Finds ansible and the files that an approval covers by their digests.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::super::client::Call;
use super::super::control_connection::Folder;
use super::super::known::files;
use super::super::{LOOKUP_TIMEOUT, RemoteError, SshClient};
use crate::plan::{Destination, Digest};
use crate::process;
use crate::process::{Leftovers, Profile, Program, Programs};
use crate::run::StopSignal;

/// The program, in the packages `ansible-core` of Debian, Fedora and PyPI.
const PROGRAM: &str = "ansible-playbook";
/// The variables that ansible and `ssh` keep of this process's environment.
const KEPT: [&str; 8] =
    ["HOME", "USER", "LOGNAME", "PATH", "SSH_AUTH_SOCK", "KRB5CCNAME", "TMPDIR", "TZ"];
/// Maximum size of a file whose digest is covered, in bytes.
const FILE_BYTES: u64 = 64 << 20;

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
    let changed = fs::metadata(&program).and_then(|data| data.modified());
    let mut known = VERSION.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some((path, time, version)), Ok(changed)) = (known.as_ref(), &changed)
        && (path, time) == (&program, changed)
    {
        return Ok((program, version.clone()));
    }
    let version = version(&program, stop)?;
    *known = changed.ok().map(|changed| (program.clone(), changed, version.clone()));
    Ok((program, version))
}

/// The version that the program prints first, as in `ansible-playbook [core 2.19.14]`.
fn version(program: &Path, stop: &StopSignal) -> Result<String, RemoteError> {
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

/// The options of the client for its files of known hosts, each with its files, as they are for this destination.
/// Settings that depend on the host do not apply to the others: their keys are then unknown.
pub(super) fn known_hosts(
    client: &SshClient,
    destination: &Destination,
    stop: &StopSignal,
) -> Result<Vec<(&'static str, Vec<PathBuf>)>, RemoteError> {
    let call = Call::new(vec!["-G"], destination, Path::new("/"));
    let call = Call { timeout: LOOKUP_TIMEOUT, ..call };
    let finished = client.run(&call, stop, &|_, _| {})?;
    let text = String::from_utf8_lossy(&finished.stdout);
    if !finished.is_success() {
        let messages = String::from_utf8_lossy(&finished.stderr).trim_end().to_owned();
        return Err(RemoteError::Unreachable { destination: destination.to_string(), messages });
    }
    let of = |setting: &'static str, name: &str| {
        let paths = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        (setting, paths.map(files).unwrap_or_default())
    };
    Ok(vec![
        of("UserKnownHostsFile", "userknownhostsfile"),
        of("GlobalKnownHostsFile", "globalknownhostsfile"),
    ])
}

/// The digest of the names and contents of files. One that is missing or cannot be read has a content of its own.
pub(super) fn digest_of<'a>(files: impl Iterator<Item = &'a PathBuf>) -> Digest {
    let mut all = Vec::new();
    for path in files {
        let state = match content(path) {
            Ok(content) => Digest::of(&content).hex(),
            Err(error) => error.kind().to_string(),
        };
        all.extend(path.as_os_str().as_encoded_bytes());
        all.extend(format!("\0{state}\0").as_bytes());
    }
    Digest::of(&all)
}

fn content(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    // A device or a pipe is no list of keys, and may never end.
    if path.metadata()?.is_file() {
        fs::File::open(path)?.take(FILE_BYTES).read_to_end(&mut content)?;
    }
    Ok(content)
}

impl SshClient {
    /// The path of the client for ansible's settings.
    pub(super) fn fleet_program(&self) -> Result<&str, RemoteError> {
        plain(self.program_path().as_os_str())
    }

    /// The arguments of the client for ansible's settings: those of every call, and the files of known hosts. With
    /// `several` steps, one connection to each host carries all of them.
    pub(super) fn fleet_arguments(
        &self,
        known: &[(&'static str, Vec<PathBuf>)],
        several: bool,
    ) -> Result<Vec<String>, RemoteError> {
        let mut arguments = Vec::new();
        if let Some(config) = self.settings() {
            arguments.extend(["-F".to_owned(), plain(config.as_os_str())?.to_owned()]);
        }
        let mut option = |option: &str| arguments.extend(["-o".to_owned(), option.to_owned()]);
        SshClient::options().for_each(&mut option);
        if several {
            ["ControlMaster=auto", "ControlPersist=60"].into_iter().for_each(&mut option);
        } else {
            option("ControlMaster=no");
        }
        for (setting, files) in known {
            let paths: Result<Vec<&str>, _> =
                files.iter().map(|file| plain(file.as_os_str())).collect();
            let paths = paths?.join(" ");
            let paths = if paths.is_empty() { "none" } else { &paths };
            option(&format!("'{setting}={paths}'"));
        }
        Ok(arguments)
    }

    /// The files with the client's settings. Files that they include are not among them.
    pub(super) fn settings_files(&self) -> Vec<PathBuf> {
        match self.settings() {
            Some(file) => vec![file.to_owned()],
            None => {
                let own = std::env::home_dir().map(|home| home.join(".ssh/config"));
                own.into_iter().chain([PathBuf::from("/etc/ssh/ssh_config")]).collect()
            }
        }
    }
}

/// A path that means the same in ansible's settings and to the client.
fn plain(path: &OsStr) -> Result<&str, RemoteError> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@=:~".contains(c);
    path.to_str()
        .filter(|text| text.chars().all(is_plain))
        .ok_or_else(|| RemoteError::PathForAnsible { path: PathBuf::from(path) })
}
