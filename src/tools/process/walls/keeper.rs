//! The namespaces of a run: processes, network, names and shared memory, held by one process of our own.
//!
//! They last for the run: what a step leaves running is there for later steps, and its loopback is theirs. The
//! holder ends with the last copy of a pipe that only this process has, so that nothing outlives it, in whatever
//! way it ends.

use std::fs::File;
use std::io::{self, PipeReader, Read as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};

use super::super::bare_command;
use super::super::tree::{self, Process};
use super::helper::{COMMAND, END, work};
use super::system;

/// This very program, also after its file was replaced.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";
/// Most bytes of what bubblewrap says of the namespaces.
const INFORMATION: u64 = 4096;

/// The holder of the namespaces of a run.
#[derive(Debug)]
pub(super) struct Keeper {
    child: Child,
    /// Ends it when it is closed.
    hold: Option<ChildStdin>,
    /// Its first process, by its number outside.
    pub(super) id: i32,
    namespaces: Vec<(Kind, File)>,
}

/// A namespace that steps join, in the order in which they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Processes,
    Network,
    Memory,
    Names,
    Mounts,
}

impl Keeper {
    /// Makes the namespaces.
    ///
    /// # Errors
    /// What bubblewrap said.
    pub(super) fn start(bubblewrap: &Path) -> io::Result<Self> {
        let this = this_program()?;
        let (mut information, told) = io::pipe()?;
        let mut command = bare_command(bubblewrap.as_os_str());
        command
            .args(["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"])
            .args(["--dev-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
            .args(["--as-pid-1", "--info-fd", &told.as_raw_fd().to_string(), END])
            .args([&descriptor_path(&this), COMMAND, work::KEEP, END])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        tree::pass_on(&mut command, vec![this, told.into()]);
        let mut child = command.spawn()?;
        // Its own end of the pipe must be the only one.
        drop(command);
        let hold = child.stdin.take();
        let mut keeper = Self { child, hold, id: 0, namespaces: Vec::new() };
        keeper.id = keeper.wait_until_it_stands(&mut information)?;
        keeper.open_namespaces()?;
        Ok(keeper)
    }

    /// The number of its first process, once that runs.
    fn wait_until_it_stands(&mut self, information: &mut PipeReader) -> io::Result<i32> {
        let mut ready = [0];
        let stands =
            self.child.stdout.take().is_some_and(|mut out| out.read_exact(&mut ready).is_ok());
        if !stands {
            return Err(self.why_not());
        }
        let said: serde_json::Value = serde_json::from_slice(&object(information)?)?;
        let id = said.get("child-pid").and_then(serde_json::Value::as_i64);
        id.and_then(|id| i32::try_from(id).ok())
            .ok_or_else(|| io::Error::other("bubblewrap does not say which process it started"))
    }

    fn why_not(&mut self) -> io::Error {
        drop(self.hold.take());
        let mut said = String::new();
        if let Some(stderr) = self.child.stderr.take() {
            let _ = stderr.take(INFORMATION).read_to_string(&mut said);
        }
        match said.trim() {
            "" => io::Error::other("bubblewrap ended without a word"),
            said => io::Error::other(said.to_owned()),
        }
    }

    fn open_namespaces(&mut self) -> io::Result<()> {
        let open = |name: &str| File::open(format!("/proc/{}/ns/{name}", self.id));
        let processes = open("pid")?;
        let owner = File::from(system::owner(processes.as_fd())?);
        let ours = File::open("/proc/self/ns/user")?;
        let mut namespaces = Vec::new();
        if owner.metadata()?.ino() != ours.metadata()?.ino() {
            namespaces.push((Kind::User, owner));
        }
        namespaces.push((Kind::Processes, processes));
        namespaces.push((Kind::Network, open("net")?));
        namespaces.push((Kind::Memory, open("ipc")?));
        namespaces.push((Kind::Names, open("uts")?));
        namespaces.push((Kind::Mounts, open("mnt")?));
        self.namespaces = namespaces;
        Ok(())
    }

    /// The namespaces that a step joins; with `network` it stays in that of this computer.
    pub(super) fn to_join(&self, network: bool) -> impl Iterator<Item = BorrowedFd<'_>> {
        let namespaces = self.namespaces.iter();
        namespaces
            .filter(move |(kind, _)| !network || *kind != Kind::Network)
            .map(|(_, it)| it.as_fd())
    }

    /// Whether steps are in a user namespace, in which they must be given their own number again.
    pub(super) fn is_in_user_namespace(&self) -> bool {
        self.namespaces.iter().any(|(kind, _)| *kind == Kind::User)
    }

    /// Whether it still holds them.
    pub(super) fn stands(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_none())
    }

    /// The names of the processes in it besides its own, sorted.
    pub(super) fn processes(&self) -> Vec<String> {
        let mut names: Vec<String> = Process::below(self.id).map(|it| it.name()).collect();
        names.sort();
        names
    }
}

impl Drop for Keeper {
    /// Ends all that is in the namespaces, and waits until it has.
    fn drop(&mut self) {
        drop(self.hold.take());
        let _ = self.child.wait();
    }
}

/// The bytes up to the end of an object in which there is no other one.
fn object(information: &mut PipeReader) -> io::Result<Vec<u8>> {
    let (mut said, mut byte) = (Vec::new(), [0]);
    while said.last() != Some(&b'}') && said.len() < INFORMATION as usize {
        information.read_exact(&mut byte)?;
        said.extend(byte);
    }
    Ok(said)
}

/// This very program, open, however it is called by now.
pub(super) fn this_program() -> io::Result<OwnedFd> {
    Ok(File::open(THIS_PROGRAM)?.into())
}

/// The path of an inherited descriptor.
pub(super) fn descriptor_path(descriptor: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd())
}

/// bubblewrap, by its whole path: from the folders of the system and those of `PATH`, but nowhere in the
/// workspace, where a plan could have put it.
pub(super) fn bubblewrap(workspace: Option<&Path>) -> Option<PathBuf> {
    let named = std::env::var_os("PATH").unwrap_or_default();
    let fixed = ["/usr/bin", "/usr/local/bin", "/bin"].map(PathBuf::from);
    fixed
        .into_iter()
        .chain(std::env::split_paths(&named))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bwrap"))
        .filter(|path| !workspace.is_some_and(|workspace| path.starts_with(workspace)))
        .find(|path| path.is_file())
}
