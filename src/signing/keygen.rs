//! Calls the `ssh-keygen` of the system.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::SigningError;
use crate::process::{
    self, Askpass, Cause, Finished, Input, Leftovers, Profile, Program, Programs,
};
use crate::run::{AskSecret, Listener, StopSignal};

/// The variables that the program inherits. All others are left out: none may choose another library, locale file or
/// provider of keys, except the one with which OpenSSH finds hardware keys.
const INHERITED: [&str; 10] = [
    "HOME",
    "PATH",
    "SSH_AUTH_SOCK",
    "SSH_SK_PROVIDER",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    // Times in lists of allowed signers are those of the person's time zone.
    "TZ",
];
/// The maximum size of each output, in bytes.
const OUTPUT_BYTES: u64 = 256 << 10;
/// The maximum size of the program's messages in an error, in bytes.
const MESSAGES_BYTES: usize = 2 << 10;
/// Asks nobody: the program fails where it would ask. Without it, it would read a passphrase from its input.
const NOBODY: [(&str, &str); 2] =
    [("SSH_ASKPASS", "/nonexistent/nobody-can-be-asked"), ("SSH_ASKPASS_REQUIRE", "force")];

/// The program.
#[derive(Debug, Clone)]
pub struct SshKeygen {
    program: PathBuf,
}

/// One call of the program.
pub(super) struct Call<'a> {
    pub(super) arguments: &'a [&'a str],
    pub(super) input: &'a [u8],
    /// Where the program runs, which only this user can enter.
    pub(super) folder: &'a Path,
    /// Who is asked for passphrases and codes, and for what.
    pub(super) ask: Option<(&'a Arc<dyn AskSecret>, &'a str)>,
    /// The time for the call, without the time in which the person is asked.
    pub(super) limit: Duration,
}

impl SshKeygen {
    /// The `ssh-keygen` on `PATH`, outside the workspace if there is one.
    ///
    /// # Errors
    /// When there is none.
    pub fn of_system(workspace: Option<&Path>) -> Result<Self, SigningError> {
        let workspace = workspace.unwrap_or(Path::new("/nonexistent")).to_owned();
        let programs = Programs { workspace, original: None };
        let program = programs.find("ssh-keygen").ok_or(SigningError::NoProgram)?;
        Ok(Self { program })
    }

    /// Runs the program to its end.
    pub(super) fn run(&self, call: &Call<'_>, stop: &StopSignal) -> Result<Finished, SigningError> {
        let askpass = call.ask.map(|(ask, asked_by)| Askpass::start(call.folder, asked_by, ask));
        let askpass = askpass.transpose().map_err(SigningError::NotStarted)?;
        let variables = askpass.as_ref().map(Askpass::environment).transpose();
        let variables = variables.map_err(SigningError::NotStarted)?;
        let mut environment: Vec<(&str, &str)> = match &variables {
            Some(all) => all.iter().map(|(name, value)| (*name, value.as_str())).collect(),
            None => NOBODY.to_vec(),
        };
        // The messages by which causes are told apart.
        environment.push(("LC_ALL", "C"));
        let unset = not_inherited(&environment);
        let program = Program {
            profile: Profile::Client,
            program: OsStr::new(&self.program),
            arguments: call.arguments,
            input: Some(Input::Bytes(call.input)),
            folder: call.folder,
            environment: &environment,
            unset: &unset,
            leftovers: Leftovers::End,
            timeout: Duration::MAX,
            output_limit: OUTPUT_BYTES,
        };
        let ends = Arc::<StopSignal>::default();
        let listener: Arc<Listener> = {
            let ends = Arc::clone(&ends);
            Arc::new(move || ends.set())
        };
        stop.listen(&listener);
        if stop.is_set() {
            return Err(SigningError::Stopped);
        }
        let finished = with_limit(call.limit, askpass.as_ref(), &ends, || {
            process::run(&program, &ends, &|_, _| {}).map_err(SigningError::NotStarted)
        })?;
        let is_declined = askpass.as_ref().is_some_and(Askpass::is_declined);
        match (&finished.cause, finished.signal) {
            _ if stop.is_set() => Err(SigningError::Stopped),
            (None, None) if finished.is_success() => Ok(finished),
            _ if is_declined => Err(SigningError::Declined),
            (Some(Cause::Stopped | Cause::TimedOut), _) => {
                Err(SigningError::TimedOut { after: call.limit })
            }
            (_, Some(signal)) => Err(SigningError::Killed { signal }),
            _ => Ok(finished),
        }
    }
}

/// Does `work`, which ends early once `ends` is set. It is set after this time, in which a question to the person does not
/// count.
fn with_limit<T>(
    limit: Duration,
    askpass: Option<&Askpass>,
    ends: &StopSignal,
    work: impl FnOnce() -> Result<T, SigningError>,
) -> Result<T, SigningError> {
    let started = Instant::now();
    let (done, is_done) = mpsc::sync_channel::<()>(0);
    let watch = move || {
        loop {
            let from = askpass.and_then(Askpass::asked_until).unwrap_or(started).max(started);
            let left = (from + limit).saturating_duration_since(Instant::now());
            if left.is_zero() {
                return ends.set();
            }
            if is_done.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let watching = thread::Builder::new().name("ssh-keygen-limit".to_owned());
        watching.spawn_scoped(scope, watch).map_err(SigningError::NotStarted)?;
        let result = work();
        drop(done);
        result
    })
}

/// The names of the variables that the program does not inherit, without those that it gets.
fn not_inherited(given: &[(&str, &str)]) -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    let kept: Vec<&str> = given.iter().map(|(name, _)| *name).chain(INHERITED).collect();
    names.filter(|name| !kept.iter().any(|kept| *name == **kept)).collect()
}

/// What the program said, in one line.
pub(super) fn messages(finished: &Finished) -> String {
    let text = String::from_utf8_lossy(&finished.stderr);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let joined = lines.join("; ");
    let end = joined.floor_char_boundary(MESSAGES_BYTES);
    match joined.get(..end).unwrap_or_default() {
        "" => "it said nothing".to_owned(),
        said => said.to_owned(),
    }
}
