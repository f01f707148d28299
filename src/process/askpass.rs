//! Has programs ask a person for secrets in the window (SPEC §7.3).
//!
//! `ssh` and `sudo` can start another program that asks for a password and prints it. That program is this executable
//! again: it connects to the running window over a socket in a private folder, passes the question on, and prints the
//! answer. So the answer is in no command line, environment or file, and the program that asked reads it from a pipe.
//!
//! A connection must come from this user and know a token that only the program got. The socket exists only while that
//! program may ask.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::run::{AskSecret, Secret, SecretQuestion};

/// Names the socket and the token, separated by a colon. It makes this executable the program that asks.
pub(super) const SOCKET: &str = "COUNTERSIGN_ASKPASS";
/// The variable in which OpenSSH says what kind of answer it wants; absent for a secret.
const KIND: &str = "SSH_ASKPASS_PROMPT";
/// Maximum size of a question, in bytes. The rest is left out.
const MAX_PROMPT: u64 = 4 << 10;
/// Maximum size of an answer, in bytes. A longer one counts as none.
const MAX_SECRET: usize = 64 << 10;
/// Time within which a connection must have sent its question.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// The length of a token, in bytes.
const TOKEN: usize = 64;

/// Receives the questions of one program. Dropping it ends a question that is waiting.
pub(crate) struct Askpass {
    path: PathBuf,
    token: String,
    ask: Arc<dyn AskSecret>,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    is_closed: AtomicBool,
    is_declined: AtomicBool,
    is_asking: AtomicBool,
    /// When the person last answered or declined.
    last_answered: Mutex<Option<Instant>>,
}

impl State {
    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }
}

impl Askpass {
    /// Listens in a folder that only this user can enter. `asked_by` says who asks, for the person.
    ///
    /// # Errors
    /// When the socket or the thread cannot be made.
    pub(crate) fn start(
        folder: &Path,
        asked_by: &str,
        ask: &Arc<dyn AskSecret>,
    ) -> io::Result<Self> {
        let path = folder.join("a");
        let token = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let listener = UnixListener::bind(&path)?;
        let state = Arc::<State>::default();
        let serve = {
            let (state, ask, token) = (Arc::clone(&state), Arc::clone(ask), token.clone());
            let asked_by = asked_by.to_owned();
            move || {
                for stream in listener.incoming() {
                    // If connections cannot be accepted, the next attempt could fail at once, and so on.
                    let Ok(stream) = stream else { return };
                    if state.is_closed() {
                        return;
                    }
                    // A connection that fails gets no answer, and the program that asked fails.
                    let _ = answer(stream, &token, &asked_by, &*ask, &state);
                }
            }
        };
        let thread = thread::Builder::new().name("askpass".to_owned()).spawn(serve)?;
        Ok(Self { path, token, ask: Arc::clone(ask), state, thread: Some(thread) })
    }

    /// The variables with which `ssh` asks here, whatever its terminal and display are.
    pub(crate) fn environment(&self) -> io::Result<[(&'static str, String); 3]> {
        let text = |path: &Path| {
            path.to_str().map(str::to_owned).ok_or_else(|| io::Error::other("a path is not UTF-8"))
        };
        Ok([
            ("SSH_ASKPASS", text(&own_executable()?)?),
            ("SSH_ASKPASS_REQUIRE", "force".to_owned()),
            (SOCKET, format!("{}:{}", self.token, text(&self.path)?)),
        ])
    }

    /// The time until which a person was asked: now while they are, and `None` if they were never asked.
    pub(crate) fn asked_until(&self) -> Option<Instant> {
        if self.state.is_asking.load(Ordering::SeqCst) {
            return Some(Instant::now());
        }
        *self.state.last_answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the person has declined to answer a question.
    pub(crate) fn is_declined(&self) -> bool {
        self.state.is_declined.load(Ordering::SeqCst)
    }
}

impl Drop for Askpass {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::SeqCst);
        self.ask.withdraw();
        // Wakes the thread.
        let is_woken = UnixStream::connect(&self.path).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_woken) {
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The path by which other programs start this executable, also after its file was replaced.
fn own_executable() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(format!("/proc/{}/exe", std::process::id()).into());
    }
    std::env::current_exe()
}

/// Reads one question and sends the answer: `+` and the secret, or nothing.
fn answer(
    mut stream: UnixStream,
    token: &str,
    asked_by: &str,
    ask: &dyn AskSecret,
    state: &State,
) -> io::Result<()> {
    if !is_this_user(&stream)? {
        return Ok(());
    }
    stream.set_read_timeout(Some(SEND_TIMEOUT))?;
    let mut given = [0; TOKEN];
    stream.read_exact(&mut given)?;
    if given != *token.as_bytes() {
        return Ok(());
    }
    let mut prompt = Vec::new();
    (&mut stream).take(MAX_PROMPT).read_to_end(&mut prompt)?;
    let prompt = String::from_utf8_lossy(&prompt).trim().to_owned();
    // Whether a host is trusted is never asked here: strict checking has decided it.
    if prompt.contains("(yes/no") {
        return Ok(());
    }
    let question = SecretQuestion { asked_by: asked_by.to_owned(), prompt };
    state.is_asking.store(true, Ordering::SeqCst);
    let secret = ask.ask(&question, &|| state.is_closed());
    *state.last_answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    state.is_asking.store(false, Ordering::SeqCst);
    let Some(secret) = secret else {
        state.is_declined.store(true, Ordering::SeqCst);
        return Ok(());
    };
    stream.write_all(b"+")?;
    stream.write_all(secret.bytes())
}

#[cfg(target_os = "linux")]
fn is_this_user(stream: &UnixStream) -> io::Result<bool> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    Ok(peer.uid == rustix::process::geteuid())
}

/// The folder of the socket can be entered only by this user.
#[cfg(not(target_os = "linux"))]
fn is_this_user(_: &UnixStream) -> io::Result<bool> {
    Ok(true)
}

/// Asks for a secret and prints it, if this process was started for that; otherwise returns `None`. `line` is the command
/// line: the program's name and the question.
pub fn start_askpass(line: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    run(line).map(|is_answered| if is_answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// As [`start_askpass`]. Returns whether there was an answer.
pub(super) fn run(mut line: impl Iterator<Item = OsString>) -> Option<bool> {
    let place = std::env::var(SOCKET).ok()?;
    let prompt = line.nth(1)?.to_string_lossy().into_owned();
    if line.next().is_some() {
        return None;
    }
    // A question that wants yes or no is not answered; a notice wants no answer.
    let secret = match std::env::var(KIND).as_deref() {
        Ok("none") => return Some(true),
        Ok(_) => None,
        Err(_) => ask_over(&place, &prompt).ok(),
    };
    Some(secret.is_some_and(|secret| print(&secret).is_ok()))
}

/// Prints a secret and a line break, without the buffer of the standard output, which would keep a copy.
fn print(secret: &Secret) -> io::Result<()> {
    let mut stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    stdout.write_all(secret.bytes())?;
    stdout.write_all(b"\n")
}

/// Passes a question to the window, and waits for the answer.
fn ask_over(place: &str, prompt: &str) -> io::Result<Secret> {
    let declined = || io::Error::other("nobody answered");
    let (token, path) = place.split_once(':').ok_or_else(declined)?;
    let mut stream = UnixStream::connect(path)?;
    stream.write_all(token.as_bytes())?;
    stream.write_all(prompt.as_bytes())?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answered = [0];
    stream.read_exact(&mut answered)?;
    // Has its capacity from the beginning, because growing would leave copies.
    let mut bytes = Vec::with_capacity(2 * MAX_SECRET);
    let read = stream.take(MAX_SECRET as u64 + 1).read_to_end(&mut bytes);
    let secret = Secret::new(bytes);
    read?;
    if secret.bytes().len() > MAX_SECRET {
        return Err(io::Error::other("the answer is too long"));
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[derive(Debug, Default)]
    struct Person {
        asked: Mutex<Vec<SecretQuestion>>,
        declines: bool,
        /// The answer, unless it is the usual one.
        answer: Option<Vec<u8>>,
    }

    impl AskSecret for Person {
        fn ask(&self, question: &SecretQuestion, _: &dyn Fn() -> bool) -> Option<Secret> {
            self.asked.lock().unwrap().push(question.clone());
            let answer = self.answer.clone().unwrap_or_else(|| b"kingfisher".to_vec());
            (!self.declines).then(|| Secret::new(answer))
        }

        fn withdraw(&self) {}
    }

    fn listen(person: &Arc<Person>) -> (tempfile::TempDir, Askpass) {
        let folder = tempfile::tempdir().unwrap();
        let ask: Arc<dyn AskSecret> = Arc::clone(person) as _;
        let askpass = Askpass::start(folder.path(), "ssh, to log in to build", &ask).unwrap();
        (folder, askpass)
    }

    fn place(askpass: &Askpass) -> String {
        askpass.environment().unwrap()[2].1.clone()
    }

    #[test]
    fn a_question_is_answered_only_with_the_token() {
        let person = Arc::<Person>::default();
        let (_folder, askpass) = listen(&person);
        let place = place(&askpass);
        assert_eq!(ask_over(&place, "ada@build's password: ").unwrap().bytes(), b"kingfisher");
        let prompt = "ada@build's password:".to_owned();
        let asked_by = "ssh, to log in to build".to_owned();
        assert_eq!(*person.asked.lock().unwrap(), [SecretQuestion { asked_by, prompt }]);
        let (token, path) = place.split_once(':').unwrap();
        let wrong = format!("{}:{path}", "0".repeat(token.len()));
        assert!(ask_over(&wrong, "password: ").is_err());
        assert_eq!(person.asked.lock().unwrap().len(), 1);
        assert!(!askpass.is_declined());
    }

    /// Also the next question is not asked when one was declined; the program decides whether it asks again.
    #[test]
    fn a_declined_question_and_one_about_a_host_key_get_no_answer() {
        let person = Arc::new(Person { declines: true, ..Person::default() });
        let (_folder, askpass) = listen(&person);
        let place = place(&askpass);
        let host_key = "Are you sure you want to continue connecting (yes/no/[fingerprint])? ";
        assert!(ask_over(&place, host_key).is_err());
        assert!(person.asked.lock().unwrap().is_empty() && !askpass.is_declined());
        assert!(ask_over(&place, "password: ").is_err());
        assert!(askpass.is_declined());
    }

    #[test]
    fn the_time_of_the_last_answer_is_known() {
        let (_folder, askpass) = listen(&Arc::default());
        assert_eq!(askpass.asked_until(), None);
        let before = Instant::now();
        ask_over(&place(&askpass), "password: ").unwrap();
        // The answer is sent after its time was noted.
        let answered = askpass.asked_until().unwrap();
        assert!(before <= answered && answered <= Instant::now());
    }

    /// Begins to ask only after the question was withdrawn, like a thread that was interrupted just before.
    #[derive(Debug)]
    struct Late {
        begun: mpsc::SyncSender<()>,
        withdrawn: Mutex<mpsc::Receiver<()>>,
        withdraw: mpsc::SyncSender<()>,
        was_withdrawn: AtomicBool,
    }

    impl AskSecret for Late {
        fn ask(&self, _: &SecretQuestion, is_withdrawn: &dyn Fn() -> bool) -> Option<Secret> {
            self.begun.send(()).unwrap();
            self.withdrawn.lock().unwrap().recv().unwrap();
            self.was_withdrawn.store(is_withdrawn(), Ordering::SeqCst);
            None
        }

        fn withdraw(&self) {
            self.withdraw.send(()).unwrap();
        }
    }

    #[test]
    fn a_question_that_was_withdrawn_is_known_to_be() {
        let ((begun, has_begun), (withdraw, withdrawn)) =
            (mpsc::sync_channel(1), mpsc::sync_channel(1));
        let person = Arc::new(Late {
            begun,
            withdrawn: Mutex::new(withdrawn),
            withdraw,
            was_withdrawn: AtomicBool::new(false),
        });
        let folder = tempfile::tempdir().unwrap();
        let ask: Arc<dyn AskSecret> = Arc::clone(&person) as _;
        let askpass = Askpass::start(folder.path(), "ssh", &ask).unwrap();
        let place = place(&askpass);
        let ask = move || ask_over(&place, "password: ").is_err();
        let program = thread::Builder::new().spawn(ask).unwrap();
        has_begun.recv().unwrap();
        drop(askpass);
        assert!(program.join().unwrap() && person.was_withdrawn.load(Ordering::SeqCst));
    }

    #[test]
    fn an_answer_that_is_too_long_is_none() {
        for (size, is_taken) in [(MAX_SECRET, true), (MAX_SECRET + 1, false)] {
            let person = Arc::new(Person { answer: Some(vec![b'a'; size]), ..Person::default() });
            let (_folder, askpass) = listen(&person);
            let answered = ask_over(&place(&askpass), "password: ");
            assert_eq!(answered.is_ok_and(|it| it.bytes().len() == size), is_taken);
        }
    }

    #[test]
    fn nothing_is_left_when_it_ends() {
        let (folder, askpass) = listen(&Arc::default());
        let place = place(&askpass);
        drop(askpass);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(ask_over(&place, "password: ").is_err());
    }

    #[test]
    fn a_secret_has_no_debug_form() {
        assert_eq!(format!("{:?}", Secret::new(b"kingfisher".to_vec())), "Secret");
    }
}
