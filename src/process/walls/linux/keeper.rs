//! The namespaces of a run (processes, network, host name and shared memory), held by one process of Countersign, the
//! keeper.
//!
//! The namespaces last for the run: later steps see the processes that an earlier step left running, and
//! share their loopback network. The keeper exits when Countersign closes its end of a pipe, which happens
//! however Countersign ends; the other processes in the namespaces are then killed.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _, Seek as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};

use super::bubblewrap;
use super::helper::{COMMAND, END, work};
use super::system;
use super::view::{Ingredients, View};
use crate::process::command;
use crate::process::running::nameless;
use crate::process::tree::{self, Process};

/// The path of this executable. It is valid also after the file was replaced.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";
/// Maximum number of cached views. Few are needed, because most steps of a run have the same walls.
const VIEWS: usize = 8;

/// The keeper of a run's namespaces.
#[derive(Debug)]
pub(super) struct Keeper {
    child: Child,
    /// Closing it makes the keeper exit.
    hold: Option<ChildStdin>,
    /// The process id, outside of the namespaces, of their first process.
    pub(super) id: i32,
    namespaces: Vec<(Kind, OwnedFd)>,
    views: Vec<View>,
}

/// A namespace of the run. A program joins them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The user namespace that owns the others. Absent when the initial user namespace owns them, as for
    /// root.
    Owner,
    Processes,
    Network,
    Memory,
    Names,
    /// A user namespace below the owner, in which the user has the same id as outside. Absent when `Owner` is
    /// absent.
    User,
}

impl Keeper {
    /// Creates the namespaces together with the first view.
    ///
    /// # Errors
    /// The error message of bubblewrap.
    pub(super) fn start(program: &Path, first: Ingredients) -> io::Result<Self> {
        let this = this_program()?;
        // These are files and not pipes: bubblewrap would be killed when it writes to a pipe whose reader is
        // gone, and leave a child that waits forever and holds the pipe open.
        let (mut information, words) = (nameless()?, nameless()?);
        let told = information.try_clone()?.into();
        let mut command = command(program.as_os_str());
        command
            .args(["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"])
            .args(&first.options)
            .arg("--as-pid-1")
            .args(bubblewrap::tells(&told))
            .args([END, &descriptor_path(&this), COMMAND, work::KEEP, END])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(words.try_clone()?);
        tree::pass_on(&mut command, vec![this, told]);
        let mut child = command.spawn()?;
        // This process must not keep its copy of the child's end of the pipe.
        drop(command);
        let hold = child.stdin.take();
        let mut keeper = Self { child, hold, id: 0, namespaces: Vec::new(), views: Vec::new() };
        keeper.id = keeper.wait_until_it_stands(&mut information, words)?;
        keeper.open_namespaces()?;
        let mounts = File::open(format!("/proc/{}/ns/mnt", keeper.id))?.into();
        keeper.views.push(View { made_of: first, mounts });
        Ok(keeper)
    }

    /// The id of the first process in the namespaces, once it runs.
    fn wait_until_it_stands(&mut self, information: &mut File, words: File) -> io::Result<i32> {
        let mut ready = [0];
        if self.child.stdout.take().is_some_and(|mut out| {
            bubblewrap::is_quick(&out).is_ok() && out.read_exact(&mut ready).is_ok()
        }) {
            information.rewind()?;
            return bubblewrap::child(information);
        }
        Err(io::Error::other(bubblewrap::words(words)))
    }

    fn open_namespaces(&mut self) -> io::Result<()> {
        let open = |name: &str| File::open(format!("/proc/{}/ns/{name}", self.id));
        let processes = open("pid")?;
        let owner = File::from(system::owner(processes.as_fd())?);
        let ours = File::open("/proc/self/ns/user")?;
        let mut namespaces = vec![
            (Kind::Processes, processes),
            (Kind::Network, open("net")?),
            (Kind::Memory, open("ipc")?),
            (Kind::Names, open("uts")?),
        ];
        if owner.metadata()?.ino() != ours.metadata()?.ino() {
            namespaces.insert(0, (Kind::Owner, owner));
            namespaces.push((Kind::User, open("user")?));
        }
        self.namespaces = namespaces.into_iter().map(|(kind, it)| (kind, it.into())).collect();
        Ok(())
    }

    /// The namespaces that a step joins, among them the mount namespace of the view it needs. With `network`
    /// the step stays in this computer's network namespace.
    ///
    /// # Errors
    /// A view that cannot be made.
    pub(super) fn namespaces_for(
        &mut self,
        program: &Path,
        wanted: Ingredients,
        network: bool,
    ) -> io::Result<Vec<OwnedFd>> {
        let view = match self.views.iter().position(|view| view.serves(&wanted)) {
            Some(index) => self.views.remove(index),
            None => {
                let within = self.cloned(&[Kind::Owner, Kind::Processes])?;
                View::make(wanted, program, within, &self.process_list())?
            }
        };
        let mounts = view.mounts.try_clone()?;
        // The most recently used view is last; the first is dropped.
        self.views.push(view);
        if self.views.len() > VIEWS {
            self.views.remove(0);
        }
        let mut before = vec![Kind::Owner, Kind::Processes, Kind::Memory, Kind::Names];
        if !network {
            before.push(Kind::Network);
        }
        let mut all = self.cloned(&before)?;
        all.push(mounts);
        all.extend(self.cloned(&[Kind::User])?);
        Ok(all)
    }

    fn cloned(&self, wanted: &[Kind]) -> io::Result<Vec<OwnedFd>> {
        let namespaces = self.namespaces.iter().filter(|(kind, _)| wanted.contains(kind));
        namespaces.map(|(_, it)| it.try_clone()).collect()
    }

    /// Whether the keeper is still running.
    pub(super) fn stands(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_none())
    }

    /// Whether no other process runs in the namespaces.
    pub(super) fn is_alone(&self) -> bool {
        let names = |entry: DirEntry| entry.file_name().into_string().ok();
        // When the processes cannot be listed, some may run.
        let Ok(listed) = fs::read_dir(self.process_list()) else { return false };
        let mut processes =
            listed.flatten().filter_map(names).filter_map(|name| name.parse::<i32>().ok());
        processes.all(|id| id == 1)
    }

    /// The `/proc` of the namespaces, with process ids as seen inside.
    fn process_list(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root/proc", self.id))
    }

    /// The names of the other processes in the namespaces, sorted.
    pub(super) fn processes(&self) -> Vec<String> {
        let mut names: Vec<String> = Process::below(self.id).map(|it| it.name()).collect();
        names.sort();
        names
    }
}

impl Drop for Keeper {
    /// Ends the keeper, and with it all processes in the namespaces, and waits for its exit.
    fn drop(&mut self) {
        drop(self.hold.take());
        if self.id == 0 {
            // The start failed, and the keeper may not be reading the pipe yet.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Opens this executable, even if its file was moved or replaced since the start.
pub(super) fn this_program() -> io::Result<OwnedFd> {
    Ok(File::open(THIS_PROGRAM)?.into())
}

/// The path by which a child opens this inherited descriptor.
pub(super) fn descriptor_path(descriptor: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd())
}
