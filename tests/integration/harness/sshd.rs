//! A real `sshd` on loopback, with keys, settings and a home folder of its own. The user's `~/.ssh` is
//! neither read nor written.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use countersign::plan::Destination;
use countersign::remote::{Connection, RemoteError, SshClient};
use countersign::run::StopSignal;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The empty folder into which a server that root runs changes before authentication. It stays, because servers of other
/// processes may start in it.
const EMPTY: &str = "/run/sshd";

/// The path of an OpenSSH program, also where `sbin` is not in `PATH`.
fn program(name: &str) -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into(), "/usr/lib/ssh".into()])
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("{name} is not here: packaging/test.sh installs it"))
}

/// Runs an OpenSSH program to its end, and returns its stdout.
#[expect(clippy::disallowed_methods, reason = "the other side is no part of the program")]
fn run(name: &str, arguments: &[&str]) -> String {
    let done = Command::new(program(name)).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    changed: Condvar,
}

/// A server, and the settings with which the client connects to it.
pub struct Sshd {
    child: Child,
    log: Arc<Log>,
    address: String,
    port: u16,
    folder: TempDir,
    account: Option<Account>,
}

/// A user of this computer with a password, for the time of a test. Only root can make one.
pub struct Account(pub String);

impl Account {
    #[expect(clippy::disallowed_methods, reason = "the other side is no part of the program")]
    pub fn new(home: &Path, password: &str) -> Self {
        // Tests run at the same time, in one process and in several.
        let id = uuid::Uuid::new_v4().simple().to_string();
        let name = format!("cs{}", &id[..12]);
        let home = home.to_str().unwrap();
        run("useradd", &["--no-create-home", "--home-dir", home, "--shell", "/bin/bash", &name]);
        let account = Self(name);
        let mut child = Command::new(program("chpasswd")).stdin(Stdio::piped()).spawn().unwrap();
        let line = format!("{}:{password}\n", account.0);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), line.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "chpasswd");
        run("chown", &[&account.0, home]);
        account
    }

    /// A command with which this user becomes the administrator, after the prompt `password: `. The rule that permits it
    /// ends with the account.
    pub fn sudo(&self, command: &str) -> String {
        fs::write(self.sudo_rule(), format!("{} ALL=(ALL) ALL\n", self.0)).unwrap();
        format!(
            "setpriv --reuid={0} --regid={0} --init-groups sudo -k -p 'password: ' {command}",
            self.0
        )
    }

    fn sudo_rule(&self) -> PathBuf {
        Path::new("/etc/sudoers.d").join(&self.0)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        // There is none without `sudo`.
        let _ = fs::remove_file(self.sudo_rule());
        run("userdel", &[&self.0]);
    }
}

impl Sshd {
    /// Starts a server that accepts one key of this user.
    pub fn start() -> Self {
        Self::with("")
    }

    /// Starts a server with additional settings.
    pub fn with(settings: &str) -> Self {
        Self::on("127.0.0.1", settings)
    }

    /// As [`Self::with`], on this address of the loopback network.
    pub fn on(address: &str, settings: &str) -> Self {
        // The server takes the variables of one line only.
        let (variables, settings) = match settings.strip_prefix("SetEnv ") {
            Some(variables) => (variables, ""),
            None => ("", settings),
        };
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(at("home")).unwrap();
        for key in ["host_key", "user_key", "other_key"] {
            run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-C", key, "-f", &at(key)]);
        }
        fs::copy(at("user_key.pub"), at("authorized_keys")).unwrap();
        if rustix::process::getuid().is_root() {
            fs::create_dir_all(EMPTY).unwrap();
        }
        // Another process may take the port that was just found free.
        let (child, log, port) = (0..5)
            .find_map(|_| {
                let listener = TcpListener::bind((address, 0)).unwrap();
                let port = listener.local_addr().unwrap().port();
                drop(listener);
                fs::write(
                    at("sshd_config"),
                    format!(
                        "{settings}\nListenAddress {address}\nPort {port}\nHostKey {}\n\
                         AuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\n\
                         PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
                         PermitRootLogin prohibit-password\nLogLevel VERBOSE\nUseDNS no\n\
                         MaxSessions 100\nSetEnv HOME={} {variables}\n",
                        at("host_key"),
                        at("authorized_keys"),
                        at("home"),
                    ),
                )
                .unwrap();
                listen(&at("sshd_config")).map(|(child, log)| (child, log, port))
            })
            .expect("sshd does not listen");
        let address = address.to_owned();
        let sshd = Self { child, log, address, port, folder, account: None };
        sshd.know("host_key");
        sshd.settle("");
        sshd
    }

    /// Starts a server that accepts only the password of a user who exists as long as the server. Needs root.
    pub fn with_password(password: &str) -> Self {
        let mut sshd = Self::with("PasswordAuthentication yes\nPubkeyAuthentication no");
        // The user must reach the home folder in the folder of the server.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        fs::set_permissions(sshd.folder.path(), mode).unwrap();
        sshd.account = Some(Account::new(&sshd.home(), password));
        sshd.settle("");
        sshd
    }

    /// Protects the user's key by a passphrase.
    pub fn lock_key(&self, passphrase: &str) {
        let key = self.at("user_key");
        run("ssh-keygen", &["-q", "-p", "-P", "", "-N", passphrase, "-f", key.to_str().unwrap()]);
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes this key the only one that the client has stored for the server.
    pub fn know(&self, key: &str) {
        fs::write(self.at("known_hosts"), self.known_line(key)).unwrap();
    }

    /// The line of a list of known hosts for this key of the server.
    pub fn known_line(&self, key: &str) -> String {
        let key = fs::read_to_string(self.at(&format!("{key}.pub"))).unwrap();
        format!("[{}]:{} {key}", self.address, self.port)
    }

    /// The settings of the client for this server under a name.
    pub fn entry(&self, name: &str) -> String {
        format!(
            "Host {name}\nHostName {}\nPort {}\nUser {}\nIdentityFile {}\nIdentitiesOnly yes\n\
             IdentityAgent none\n",
            self.address,
            self.port,
            self.user(),
            self.at("user_key").display(),
        )
    }

    /// Removes all keys that the client has stored for the server.
    pub fn forget(&self) {
        fs::write(self.at("known_hosts"), "").unwrap();
    }

    /// Writes the client's settings, which begin with `first`.
    pub fn settle(&self, first: &str) {
        let settings = format!(
            "{first}\n{}UserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n",
            self.entry("loopback"),
            self.at("known_hosts").display(),
        );
        fs::write(self.config(), settings).unwrap();
    }

    /// The user of the server: the one who runs the tests, unless the server has one of its own.
    pub fn user(&self) -> String {
        if let Some(account) = &self.account {
            return account.0.clone();
        }
        #[expect(clippy::disallowed_methods, reason = "the other side is no part of the program")]
        let said = Command::new("id").arg("-un").output().unwrap();
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    }

    /// The path of the client's settings file.
    pub fn config(&self) -> PathBuf {
        self.at("ssh_config")
    }

    /// The home folder of the remote user.
    pub fn home(&self) -> PathBuf {
        self.at("home")
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The type and fingerprint of a key, in the client's form.
    pub fn fingerprint(&self, key: &str) -> String {
        let path = self.at(&format!("{key}.pub"));
        let said = run("ssh-keygen", &["-l", "-E", "sha256", "-f", path.to_str().unwrap()]);
        format!("ssh-ed25519 {}", said.split(' ').nth(1).unwrap())
    }

    /// The system's ssh client with these settings.
    pub fn client(&self) -> SshClient {
        SshClient::at(&program("ssh"), Some(&self.config()))
    }

    /// Opens a connection.
    pub fn open(&self) -> Result<Connection, RemoteError> {
        Connection::open(&self.client(), &destination(), &StopSignal::default())
    }

    /// The number of lines of the server's log that contain this text.
    pub fn logged(&self, words: &str) -> usize {
        self.log.lines.lock().unwrap().iter().filter(|line| line.contains(words)).count()
    }

    /// Waits until at least `count` lines of the server's log contain this text.
    pub fn wait_for(&self, words: &str, count: usize) {
        let lines = self.log.lines.lock().unwrap();
        let is_short = |lines: &mut Vec<String>| {
            lines.iter().filter(|line| line.contains(words)).count() < count
        };
        drop(self.log.changed.wait_while(lines, is_short).unwrap());
    }

    /// Kills the server processes of all connections, so that no connection is closed properly.
    pub fn kill_connections(&self) {
        self.signal_connections(Signal::KILL);
    }

    /// Stops the server processes of all connections (SIGSTOP), so that they neither close anything nor
    /// answer.
    pub fn halt_connections(&self) {
        self.signal_connections(Signal::STOP);
    }

    fn signal_connections(&self, signal: Signal) {
        let own = self.child.id().to_string();
        for (id, _) in processes().into_iter().filter(|(_, parent)| *parent == own) {
            // The process may end while it is read.
            let _ = kill_process(Pid::from_raw(id.parse().unwrap()).unwrap(), signal);
        }
    }

    /// The client processes whose command line names this server's settings.
    pub fn clients(&self) -> Vec<String> {
        let config = self.config().to_str().unwrap().to_owned();
        let is_ours = |id: &String| {
            fs::read(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&config))
        };
        processes().into_iter().map(|(id, _)| id).filter(is_ours).collect()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.kill_connections();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The alias of the server in the client's settings.
pub fn destination() -> Destination {
    Destination::parse("loopback").unwrap()
}

/// The ids of all processes, each with the id of its parent.
fn processes() -> Vec<(String, String)> {
    let entry = |id: String| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.to_owned();
        Some((id, parent))
    };
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|it| it.ok()?.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(entry)
        .collect()
}

/// Starts a server and waits until it listens; `None` when its port is in use.
#[expect(clippy::disallowed_methods, reason = "the other side is no part of the program")]
fn listen(config: &str) -> Option<(Child, Arc<Log>)> {
    let mut child = Command::new(program("sshd"))
        .args(["-D", "-e", "-f", config])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let log = Arc::new(Log::default());
    let mut said = Vec::new();
    for line in lines.by_ref() {
        let line = line.unwrap();
        let listens = line.contains("Server listening on");
        said.push(line);
        if listens {
            let reader = Arc::clone(&log);
            thread::Builder::new()
                .name("sshd-log".to_owned())
                .spawn(move || {
                    for line in lines.map_while(Result::ok) {
                        reader.lines.lock().unwrap().push(line);
                        reader.changed.notify_all();
                    }
                })
                .unwrap();
            return Some((child, log));
        }
    }
    let _ = child.wait();
    if said.iter().any(|line| line.contains("in use")) {
        return None;
    }
    panic!("sshd: {}", said.join("\n"));
}
