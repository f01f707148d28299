//! The namespaces of a run (processes, network, host name and shared memory), held by one process of Countersign, the
//! keeper.
//!
//! The namespaces exist until the run ends: later steps see the processes that an earlier step left running, and
//! share a loopback network with them. The keeper exits when Countersign closes its end of a pipe, which happens
//! however Countersign ends; the kernel then kills the other processes in the namespaces.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _, Seek as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};

use super::helper::{COMMAND, END, option, work};
use super::view::{View, ViewInputs};
use super::{bubblewrap, system};
use crate::process::running::anonymous_file;
use crate::process::{command, tree};

/// The path of this executable, which stays valid after its file was replaced.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";
/// Maximum number of cached views. Few are needed, because most steps of a run have the same walls.
const MAX_VIEWS: usize = 8;

/// The keeper of a run's namespaces.
#[derive(Debug)]
pub(super) struct Keeper {
    child: Child,
    /// The keeper exits when this is closed.
    hold: Option<ChildStdin>,
    /// The id of the keeper, as seen outside its pid namespace; 0 until it runs.
    pub(super) id: i32,
    namespaces: Vec<(NamespaceKind, OwnedFd)>,
    views: Vec<View>,
}

/// A namespace of the run. A program joins them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamespaceKind {
    /// The user namespace that owns the others. Absent if this process is in it already, as for root.
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
    /// Creates the namespaces, and the first view, with bubblewrap (`program`).
    ///
    /// # Errors
    /// The error message of bubblewrap, or an error of the operating system.
    pub(super) fn start(program: &Path, first: ViewInputs) -> io::Result<Self> {
        // This executable, even if its file was moved or replaced since the start.
        let this: OwnedFd = File::open(THIS_PROGRAM)?.into();
        // These are files and not pipes: bubblewrap would be killed when it writes to a pipe whose reader is
        // gone, and leave a child that waits forever and holds the pipe open.
        let (mut information, stderr) = (anonymous_file()?, anonymous_file()?);
        let information_end = information.try_clone()?.into();
        let mut command = command(program.as_os_str());
        command
            .args(["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"])
            .args(&first.options)
            .arg("--as-pid-1")
            .args(option::descriptor(bubblewrap::INFORMATION, &information_end))
            .args([END, &format!("/proc/self/fd/{}", this.as_raw_fd()), COMMAND, work::KEEP, END])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr.try_clone()?);
        tree::plain_session_with(&mut command, vec![this, information_end]);
        let mut child = command.spawn()?;
        // This process must not keep its copy of the child's end of the pipe.
        drop(command);
        let hold = child.stdin.take();
        let mut keeper = Self { child, hold, id: 0, namespaces: Vec::new(), views: Vec::new() };
        keeper.id = keeper.wait_until_running(&mut information, stderr)?;
        keeper.open_namespaces()?;
        let mounts = File::open(format!("/proc/{}/ns/mnt", keeper.id))?.into();
        keeper.views.push(View { inputs: first, mounts });
        Ok(keeper)
    }

    /// Waits until the keeper runs, and returns its id.
    fn wait_until_running(&mut self, information: &mut File, stderr: File) -> io::Result<i32> {
        let mut ready = [0];
        if self.child.stdout.take().is_some_and(|mut out| {
            bubblewrap::wait_for_output(&out).is_ok() && out.read_exact(&mut ready).is_ok()
        }) {
            information.rewind()?;
            return bubblewrap::child_id(information);
        }
        Err(io::Error::other(bubblewrap::error_text(stderr)))
    }

    fn open_namespaces(&mut self) -> io::Result<()> {
        let open = |name: &str| File::open(format!("/proc/{}/ns/{name}", self.id));
        let processes = open("pid")?;
        let owner = File::from(system::owner(processes.as_fd())?);
        let own = File::open("/proc/self/ns/user")?;
        let mut namespaces = vec![
            (NamespaceKind::Processes, processes),
            (NamespaceKind::Network, open("net")?),
            (NamespaceKind::Memory, open("ipc")?),
            (NamespaceKind::Names, open("uts")?),
        ];
        if owner.metadata()?.ino() != own.metadata()?.ino() {
            namespaces.insert(0, (NamespaceKind::Owner, owner));
            namespaces.push((NamespaceKind::User, open("user")?));
        }
        self.namespaces = namespaces.into_iter().map(|(kind, it)| (kind, it.into())).collect();
        Ok(())
    }

    /// The namespaces that a step joins, in order, with the mount namespace of the view for `wanted`. With `network`,
    /// the step stays in this computer's network namespace. `program` is bubblewrap.
    ///
    /// # Errors
    /// When the view cannot be made.
    pub(super) fn namespaces_for(
        &mut self,
        program: &Path,
        wanted: ViewInputs,
        network: bool,
    ) -> io::Result<Vec<OwnedFd>> {
        let view = match self.views.iter().position(|view| view.matches(&wanted)) {
            Some(index) => self.views.remove(index),
            None => {
                let within = self.cloned(&[NamespaceKind::Owner, NamespaceKind::Processes])?;
                View::make(wanted, program, within, &self.proc_path())?
            }
        };
        let mounts = view.mounts.try_clone()?;
        // The most recently used view is the last. The first is dropped if there are too many.
        self.views.push(view);
        if self.views.len() > MAX_VIEWS {
            self.views.remove(0);
        }
        let mut kinds = vec![
            NamespaceKind::Owner,
            NamespaceKind::Processes,
            NamespaceKind::Memory,
            NamespaceKind::Names,
        ];
        if !network {
            kinds.push(NamespaceKind::Network);
        }
        let mut namespaces = self.cloned(&kinds)?;
        namespaces.push(mounts);
        namespaces.extend(self.cloned(&[NamespaceKind::User])?);
        Ok(namespaces)
    }

    /// Descriptors of those of these namespaces that exist.
    fn cloned(&self, wanted: &[NamespaceKind]) -> io::Result<Vec<OwnedFd>> {
        let namespaces = self.namespaces.iter().filter(|(kind, _)| wanted.contains(kind));
        namespaces.map(|(_, it)| it.try_clone()).collect()
    }

    /// Whether the keeper is still running.
    pub(super) fn is_running(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_none())
    }

    /// Whether no other process runs in the namespaces.
    pub(super) fn is_alone(&self) -> bool {
        let names = |entry: DirEntry| entry.file_name().into_string().ok();
        // If the processes cannot be listed, there may be others.
        let Ok(listed) = fs::read_dir(self.proc_path()) else { return false };
        let mut processes =
            listed.flatten().filter_map(names).filter_map(|name| name.parse::<i32>().ok());
        processes.all(|id| id == 1)
    }

    /// The `/proc` of the pid namespace, with process ids as seen inside it.
    fn proc_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root/proc", self.id))
    }

    /// The names of the other processes in the namespaces, sorted.
    pub(super) fn processes(&self) -> Vec<String> {
        let mut names: Vec<String> = tree::names_below(self.id).collect();
        names.sort();
        names
    }
}

impl Drop for Keeper {
    /// Ends the keeper, and with it all processes in the namespaces, and waits for its exit.
    fn drop(&mut self) {
        drop(self.hold.take());
        if self.id == 0 {
            // The start failed, so the keeper may not read the pipe yet.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
