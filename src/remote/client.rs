//! The SSH client of the system and how it is called (SPEC §7.3).

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::plan::Destination;
use crate::risk::Policy;
use crate::run::{Stream, StreamEnds};

use super::{LOOK, RemoteError, known};
use crate::process::{self, Finished, Input, Leftovers, Profile, Program};
use crate::process::{ProcessIo, command_on_path};
use crate::run::StopSignal;

/// What holds for every call, before anything of the person's settings: the first word counts.
///
/// Nobody is asked anything, no key is accepted or learned that was not known, nothing is forwarded, and a
/// session is the command that is sent and nothing else.
const ALWAYS: [&str; 13] = [
    // Older clients do not know all of these.
    "IgnoreUnknown=ForkAfterAuthentication,SessionType",
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "NoHostAuthenticationForLocalhost=no",
    "FingerprintHash=sha256",
    "ConnectTimeout=15",
    "ConnectionAttempts=1",
    "ClearAllForwardings=yes",
    "ForkAfterAuthentication=no",
    "ForwardX11=no",
    "RemoteCommand=none",
    "RequestTTY=no",
];
/// Together a dead host is noticed within 20 seconds, and a firewall that forgets idle connections does not.
const KEEPALIVE: [&str; 2] = ["ServerAliveInterval=5", "ServerAliveCountMax=3"];
/// Most bytes that a call which is not a person's command may print.
const SMALL_OUTPUT: u64 = 1 << 20;

/// The client, and the settings it reads.
#[derive(Debug, Clone)]
pub struct SshClient {
    program: PathBuf,
    config: Option<PathBuf>,
}

impl SshClient {
    /// The `ssh` that is on `PATH` and not in the workspace, with the settings file of the policy if that names one.
    ///
    /// # Errors
    /// There is none.
    pub fn of_system(policy: &Policy, workspace: &Path) -> Result<Self, RemoteError> {
        if cfg!(windows) {
            return Err(RemoteError::NoMultiplexing);
        }
        let program = command_on_path("ssh", workspace).ok_or(RemoteError::NoClient)?;
        Ok(Self { program, config: policy.ssh_config.clone() })
    }

    /// This program as if it were the system's, for those who have another one.
    pub fn at(program: &Path, config: Option<&Path>) -> Self {
        Self { program: program.to_owned(), config: config.map(Path::to_owned) }
    }

    /// The arguments: the settings, what always holds, the options of the call, the destination.
    fn arguments<'a>(&'a self, call: &Call<'a>) -> Result<Vec<&'a str>, RemoteError> {
        let mut arguments = Vec::new();
        if let Some(config) = &self.config {
            let config = config.to_str().ok_or_else(|| {
                RemoteError::NotStarted(io::Error::other("the path of its settings is not UTF-8"))
            })?;
            arguments.extend(["-F", config]);
        }
        for option in ALWAYS.iter().chain(&KEEPALIVE) {
            arguments.extend(["-o", option]);
        }
        arguments.extend(call.options);
        arguments.extend(["--", call.destination.as_str()]);
        arguments.extend(call.command);
        Ok(arguments)
    }

    /// Runs it with these options, for this destination, and keeps what it prints.
    pub(super) fn run(
        &self,
        call: &Call<'_>,
        stop: &StopSignal,
        output: &dyn Fn(Stream, &str),
    ) -> Result<Finished, RemoteError> {
        let arguments = self.arguments(call)?;
        process::run(&self.program(call, &arguments), stop, output).map_err(RemoteError::NotStarted)
    }

    /// The same where what it prints goes elsewhere.
    pub(super) fn stream(
        &self,
        call: &Call<'_>,
        io: ProcessIo<'_>,
    ) -> Result<Finished<StreamEnds>, RemoteError> {
        let arguments = self.arguments(call)?;
        process::stream(&self.program(call, &arguments), io).map_err(RemoteError::NotStarted)
    }

    fn program<'a>(&'a self, call: &'a Call<'_>, arguments: &'a [&'a str]) -> Program<'a> {
        Program {
            profile: Profile::Client,
            program: OsStr::new(&self.program),
            arguments,
            input: call.input.map(Input::File),
            folder: call.folder,
            environment: &[],
            unset: &[],
            leftovers: Leftovers::End,
            timeout: call.timeout.unwrap_or(Duration::MAX),
            output_limit: call.output_limit.unwrap_or(SMALL_OUTPUT),
        }
    }

    /// The fingerprints by which the client knows a host of this name, from these files, each with its kind:
    /// `ssh-keygen -F`, which connects to nothing.
    pub(super) fn known_keys(
        &self,
        name: &str,
        files: &[PathBuf],
        stop: &StopSignal,
    ) -> Result<Vec<String>, RemoteError> {
        let beside = self.program.with_file_name("ssh-keygen");
        let keygen = Some(beside).filter(|path| path.is_file());
        let keygen = keygen.ok_or(RemoteError::NoClient)?;
        let mut keys = Vec::new();
        for file in files.iter().filter(|file| file.is_file()) {
            let Some(file) = file.to_str() else { continue };
            let program = Program {
                profile: Profile::Client,
                program: OsStr::new(&keygen),
                arguments: &["-l", "-E", "sha256", "-F", name, "-f", file],
                input: None,
                folder: Path::new("/"),
                environment: &[],
                unset: &[],
                leftovers: Leftovers::End,
                timeout: LOOK,
                output_limit: SMALL_OUTPUT,
            };
            let finished =
                process::run(&program, stop, &|_, _| {}).map_err(RemoteError::NotStarted)?;
            known::read(&String::from_utf8_lossy(finished.stdout.bytes()), &mut keys);
        }
        Ok(keys)
    }
}

/// One call of the client.
pub(super) struct Call<'a> {
    pub(super) options: &'a [&'a str],
    pub(super) destination: &'a Destination,
    /// What the host's login shell is given; none for a call that runs nothing there.
    pub(super) command: Option<&'a str>,
    /// The file that the client reads.
    pub(super) input: Option<&'a Path>,
    /// Where it runs here.
    pub(super) folder: &'a Path,
    pub(super) timeout: Option<Duration>,
    pub(super) output_limit: Option<u64>,
}
