//! The connection of a run: an `ssh` process that runs no command itself and carries all sessions.
//!
//! The process is an ordinary child and not a background process, so that it ends with this program, also after a
//! panic. The client's `LocalCommand` reports that the user is authenticated, so that no polling is needed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::client::Call;
use super::monitor::Monitor;
use super::{RemoteError, SshClient};
use crate::plan::Destination;
use crate::process::{Askpass, private_folder};
use crate::run::{StopSignal, Stream, text};

/// Maximum time to connect, without the time in which a person is asked; the client's own limits cover only parts of
/// connecting.
const OPEN_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum length of the path of the control socket, in bytes: the client appends 17 bytes when it creates
/// the socket, and systems allow 104.
const SOCKET_BYTES: usize = 86;
/// Maximum size of the client's messages in an error, in bytes.
const MESSAGES_BYTES: usize = 8 << 10;

/// A folder for the control socket, the client's log and the input of sessions; only this user can enter it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> io::Result<Self> {
        let id = Uuid::new_v4().simple().to_string();
        let name = format!("cs-{}", id.get(..16).unwrap_or(&id));
        let mut path = std::env::temp_dir().join(&name);
        if path.as_os_str().len() + "/s".len() > SOCKET_BYTES {
            path = Path::new("/tmp").join(&name);
        }
        private_folder(&path)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of the control socket as a client option: `%` is doubled, because the client expands it.
    pub(super) fn socket(&self) -> String {
        self.0.join("s").display().to_string().replace('%', "%%")
    }

    fn log(&self) -> PathBuf {
        self.0.join("log")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If this fails, the folder is left in the system's temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Default)]
struct State {
    /// The stdout of the client, collected until the connection is ready.
    stdout: String,
    /// The stderr of the client, with messages of the host.
    stderr: String,
    is_ready: bool,
    /// Whether the client has ended.
    is_over: bool,
    /// The error if the client could not be run.
    failure: Option<RemoteError>,
}

/// The client process that holds the connection.
pub(super) struct ControlConnection {
    monitor: Arc<Monitor<State>>,
    stop: Arc<StopSignal>,
    thread: Option<JoinHandle<()>>,
    pub(super) folder: Arc<Folder>,
    /// Receives the client's questions for secrets until the connection is ready.
    askpass: Option<Askpass>,
}

impl ControlConnection {
    /// Connects, and waits until the host has authenticated this user.
    pub(super) fn open(
        client: &SshClient,
        destination: &Destination,
        stop: &StopSignal,
    ) -> Result<Self, RemoteError> {
        let folder = Arc::new(Folder::new().map_err(RemoteError::NotStarted)?);
        let monitor = Arc::<Monitor<State>>::default();
        let _wake = monitor.wake_on_stop(stop);
        let asked_by = format!("ssh, to log in to {destination}");
        let askpass = client.ask.as_ref().map(|ask| Askpass::start(folder.path(), &asked_by, ask));
        let askpass = askpass.transpose().map_err(RemoteError::NotStarted)?;
        let mut control = Self { monitor, stop: Arc::default(), thread: None, folder, askpass };
        control.start(client, destination)?;
        control.wait(destination, stop)?;
        // From here on the client has no reason to ask.
        control.askpass = None;
        Ok(control)
    }

    /// Starts the client on a thread of its own.
    fn start(&mut self, client: &SshClient, destination: &Destination) -> Result<(), RemoteError> {
        let ready = format!("ready-{}", Uuid::new_v4().simple());
        let log = self.folder.log().to_str().map(str::to_owned);
        let log = log.ok_or_else(|| {
            RemoteError::NotStarted(io::Error::other("the folder for temporary files is not UTF-8"))
        })?;
        let askpass = self.askpass.as_ref().map(Askpass::environment).transpose();
        let askpass = askpass.map_err(RemoteError::NotStarted)?;
        let (client, destination) = (client.clone(), destination.clone());
        let (monitor, stop, folder) =
            (Arc::clone(&self.monitor), Arc::clone(&self.stop), Arc::clone(&self.folder));
        let work = move || {
            let on_output = |stream: Stream, text: &str| {
                monitor.change(|state| match stream {
                    Stream::Stdout if !state.is_ready => {
                        state.stdout.push_str(text);
                        state.is_ready = state.stdout.contains(&ready);
                    }
                    Stream::Stdout => {}
                    Stream::Stderr => state.stderr.push_str(text),
                });
            };
            let (socket, local) = (folder.socket(), format!("LocalCommand=echo {ready}"));
            let mut options = vec!["-v", "-E", &log, "-M", "-N", "-T", "-S", &socket];
            for setting in ["ControlPersist=no", "PermitLocalCommand=yes", &local] {
                options.extend(["-o", setting]);
            }
            let variables = askpass
                .as_ref()
                .map(|all| all.iter().map(|(name, value)| (*name, value.as_str())).collect());
            let call =
                Call { askpass: variables, ..Call::new(options, &destination, folder.path()) };
            let failure = client.run(&call, &stop, &on_output).err();
            monitor.change(|state| {
                state.is_over = true;
                state.failure = failure;
            });
        };
        let thread = thread::Builder::new().name("ssh-connection".to_owned()).spawn(work);
        self.thread = Some(thread.map_err(RemoteError::NotStarted)?);
        Ok(())
    }

    /// Waits until the connection is ready.
    fn wait(&self, destination: &Destination, stop: &StopSignal) -> Result<(), RemoteError> {
        let started = Instant::now();
        let destination = || destination.to_string();
        loop {
            let mut state = self.monitor.lock();
            if stop.is_set() {
                return Err(RemoteError::Cancelled { destination: destination() });
            }
            if state.is_over {
                if let Some(failure) = state.failure.take() {
                    return Err(failure);
                }
                drop(state);
                return Err(self.failure(destination()));
            }
            if state.is_ready {
                return Ok(());
            }
            let asked_until = self.askpass.as_ref().and_then(Askpass::asked_until);
            let deadline = deadline(started, asked_until);
            if Instant::now() >= deadline {
                drop(state);
                let after = text::duration(OPEN_TIMEOUT);
                return Err(RemoteError::Silent {
                    destination: destination(),
                    after,
                    messages: self.messages(),
                });
            }
            self.monitor.wait_for_change(state, Some(deadline));
        }
    }

    /// Why the connection failed, recognized by OpenSSH's messages.
    fn failure(&self, destination: String) -> RemoteError {
        let messages = self.messages();
        let host_key = self.host_key();
        let has = |message: &str| messages.contains(message);
        if has("HOST IDENTIFICATION HAS CHANGED") || has("REVOKED HOST KEY DETECTED") {
            RemoteError::ChangedKey { destination, host_key, messages }
        } else if has("Host key verification failed") {
            RemoteError::UnknownKey { destination, host_key, messages }
        } else if self.askpass.as_ref().is_some_and(Askpass::is_declined) {
            RemoteError::Declined { destination, messages }
        } else if has("Permission denied") || has("Too many authentication failures") {
            RemoteError::Refused { destination, messages }
        } else {
            RemoteError::Unreachable { destination, messages }
        }
    }

    /// The type and fingerprint of the key that the host showed on this connection, from the client's log. Text
    /// from the host cannot begin a line of the log, and its banner is not in it.
    pub(super) fn host_key(&self) -> Option<String> {
        Some(self.log_line("debug1: Server host key: ")?.trim_end().to_owned())
    }

    /// The type and fingerprint of the authority that signed the key, if the host showed a certificate.
    pub(super) fn authority(&self) -> Option<String> {
        let certificate = self.log_line("debug1: Server host certificate: ")?;
        // The name of the certificate comes first, in quotation marks. The authority chooses that name freely, so the
        // line is searched from its end.
        let mut words = certificate.rsplit_once("\" CA ")?.1.split(' ');
        Some(format!("{} {}", words.next()?, words.next()?))
    }

    /// The rest of the first line of the client's log that begins with `start`.
    fn log_line(&self, start: &str) -> Option<String> {
        let log = fs::read_to_string(self.folder.log()).ok()?;
        log.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned)
    }

    /// The messages of the client and the host, without the client's debug messages.
    pub(super) fn messages(&self) -> String {
        let log = fs::read(self.folder.log()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let is_debug = |line: &&str| {
            ["debug1: ", "OpenSSH_", "Authenticated to ", "Authenticated using "]
                .iter()
                .any(|start| line.starts_with(start))
                || line.starts_with("Transferred: sent")
                || line.starts_with("Bytes per second: sent")
        };
        let mut messages = self.monitor.lock().stderr.clone();
        for line in log.lines().filter(|line| !is_debug(line)) {
            messages.push_str(line);
            messages.push('\n');
        }
        messages.truncate(messages.floor_char_boundary(MESSAGES_BYTES));
        messages.trim_end().to_owned()
    }

    /// Whether the client ends within this time.
    pub(super) fn is_lost_within(&self, wait: Duration) -> bool {
        self.monitor.wait(wait, |state| state.is_over).is_over
    }
}

impl Drop for ControlConnection {
    /// Ends the client, also after an error or a panic.
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// When connecting has taken too long: the time in which a person was asked does not count.
fn deadline(started: Instant, asked_until: Option<Instant>) -> Instant {
    asked_until.map_or(started, |asked| asked.max(started)) + OPEN_TIMEOUT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_an_answer_the_client_has_the_whole_time() {
        let started = Instant::now();
        let answered = started + Duration::from_secs(58);
        assert_eq!(deadline(started, None), started + OPEN_TIMEOUT);
        assert_eq!(deadline(started, Some(answered)), answered + OPEN_TIMEOUT);
    }
}
