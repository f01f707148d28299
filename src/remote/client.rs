//! Calls the SSH client of the system (SPEC §7.3).

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{LOOKUP_TIMEOUT, RemoteError, known};
use crate::plan::Destination;
use crate::process;
use crate::process::{Finished, Input, Leftovers, ProcessIo, Profile, Program, Programs};
use crate::risk::Policy;
use crate::run::{AskSecret, StopSignal, Stream, StreamEnds};

/// Options of every call. They are on the command line, and so override the person's settings: ssh uses the first value
/// of an option.
///
/// They forbid prompts (unless a person can be asked, and then only for secrets), forwarding, and accepting or storing
/// unknown host keys, and make a session run only the command that is sent.
const ALWAYS: [&str; 13] = [
    // Older clients do not know these options.
    "IgnoreUnknown=ForkAfterAuthentication,KnownHostsCommand,SessionType",
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
/// Together these options detect a dead host within 20 seconds and keep idle connections open in firewalls.
const KEEPALIVE: [&str; 2] = ["ServerAliveInterval=5", "ServerAliveCountMax=3"];
/// Maximum size of each output, in bytes, of a call that does not run a command of a plan.
const SMALL_OUTPUT: u64 = 1 << 20;

/// The client program, and the settings file that it reads.
#[derive(Debug, Clone)]
pub struct SshClient {
    program: PathBuf,
    config: Option<PathBuf>,
    /// Asks a person for passwords, passphrases and codes; `None` if nobody can be asked.
    pub(super) ask: Option<Arc<dyn AskSecret>>,
}

impl SshClient {
    /// The `ssh` on `PATH` outside the workspace, with the settings file of the policy, if it names one.
    ///
    /// # Errors
    /// When there is no such `ssh`.
    pub fn of_system(policy: &Policy, workspace: &Path) -> Result<Self, RemoteError> {
        let programs = Programs { workspace: workspace.to_owned(), original: None };
        let program = programs.find("ssh").ok_or(RemoteError::NoClient)?;
        Ok(Self { program, config: policy.ssh_config.clone(), ask: None })
    }

    /// This program in place of the system's `ssh`.
    pub fn at(program: &Path, config: Option<&Path>) -> Self {
        Self { program: program.to_owned(), config: config.map(Path::to_owned), ask: None }
    }

    /// The same client, which asks a person for passwords, passphrases and codes while it connects.
    #[must_use]
    pub fn asking(self, ask: Option<Arc<dyn AskSecret>>) -> Self {
        Self { ask, ..self }
    }

    pub(super) fn program_path(&self) -> &Path {
        &self.program
    }

    /// The settings file of the policy, if it names one.
    pub(super) fn settings(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The options of every call.
    pub(super) fn options() -> impl Iterator<Item = &'static str> {
        ALWAYS.into_iter().chain(KEEPALIVE)
    }

    /// The arguments: settings file, fixed options, options of the call, destination, command.
    fn arguments<'a>(&'a self, call: &Call<'a>) -> Result<Vec<&'a str>, RemoteError> {
        let mut arguments = Vec::new();
        if let Some(config) = &self.config {
            let config = config.to_str().ok_or_else(|| {
                RemoteError::NotStarted(io::Error::other("the path of its settings is not UTF-8"))
            })?;
            arguments.extend(["-F", config]);
        }
        if call.askpass.is_some() {
            // The first value of an option counts, so this one replaces that of ALWAYS.
            arguments.extend(["-o", "BatchMode=no"]);
        }
        for option in Self::options() {
            arguments.extend(["-o", option]);
        }
        arguments.extend_from_slice(&call.options);
        arguments.extend(["--", call.destination.as_str()]);
        arguments.extend(call.command);
        Ok(arguments)
    }

    /// Runs the client and keeps its complete output.
    pub(super) fn run(
        &self,
        call: &Call<'_>,
        stop: &StopSignal,
        output: &dyn Fn(Stream, &str),
    ) -> Result<Finished, RemoteError> {
        let arguments = self.arguments(call)?;
        process::run(&self.program(call, &arguments), stop, output).map_err(RemoteError::NotStarted)
    }

    /// As [`Self::run`], with the output sent to `io`; only its beginning and end are kept.
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
            input: call.input,
            folder: call.folder,
            environment: call.askpass.as_deref().unwrap_or_default(),
            unset: &[],
            leftovers: Leftovers::End,
            timeout: call.timeout,
            output_limit: call.output_limit,
        }
    }

    /// The host keys for this name in these files, each with type and fingerprint. Uses the `ssh-keygen` beside the
    /// client, which does not connect.
    pub(super) fn known_keys(
        &self,
        name: &str,
        files: &[PathBuf],
        stop: &StopSignal,
    ) -> Result<Vec<String>, RemoteError> {
        let keygen = self.program.with_file_name("ssh-keygen");
        let keygen = Some(keygen).filter(|path| path.is_file()).ok_or(RemoteError::NoClient)?;
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
                timeout: LOOKUP_TIMEOUT,
                output_limit: SMALL_OUTPUT,
            };
            let finished =
                process::run(&program, stop, &|_, _| {}).map_err(RemoteError::NotStarted)?;
            known::add_keys(&String::from_utf8_lossy(&finished.stdout), &mut keys);
        }
        Ok(keys)
    }
}

/// The parameters of one call of the client.
pub(super) struct Call<'a> {
    pub(super) options: Vec<&'a str>,
    pub(super) destination: &'a Destination,
    /// The command line for the host's login shell; `None` for a call that runs nothing there.
    pub(super) command: Option<&'a str>,
    /// The stdin of the client; `None` for an empty one.
    pub(super) input: Option<Input<'a>>,
    /// The local working directory of the client.
    pub(super) folder: &'a Path,
    pub(super) timeout: Duration,
    pub(super) output_limit: u64,
    /// The variables with which the client asks a person for secrets; `None` if it must not ask.
    pub(super) askpass: Option<Vec<(&'a str, &'a str)>>,
}

impl<'a> Call<'a> {
    /// A call that runs nothing on the host, has no input and no time limit, and prints little.
    pub(super) fn new(
        options: Vec<&'a str>,
        destination: &'a Destination,
        folder: &'a Path,
    ) -> Self {
        let (timeout, output_limit) = (Duration::MAX, SMALL_OUTPUT);
        Self {
            options,
            destination,
            command: None,
            input: None,
            folder,
            timeout,
            output_limit,
            askpass: None,
        }
    }
}
