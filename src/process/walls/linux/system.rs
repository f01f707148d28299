//! System calls, each with an error that names the operation.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::slice;
use std::time::Duration;

use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{DumpableBehavior, Pid, getpid, set_child_subreaper, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};
use seccompiler::sock_filter;

/// The capabilities that a walled program keeps if it has them: without them root could not write in a workspace of
/// another user.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::FOWNER);

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

macro_rules! call {
    ($reason:literal, $($call:tt)+) => {{
        #[expect(unsafe_code, reason = "a system call that no safe library here offers")]
        // SAFETY: the arguments are numbers, or point to memory that outlives the call.
        let result = unsafe { $($call)+ };
        check(result.into()).map_err(during($reason))
    }};
}

/// An OS error, with the operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}: {1}")]
struct Failed(&'static str, io::Error);

/// Names the operation in its error.
fn during<E: Into<io::Error>>(operation: &'static str) -> impl FnOnce(E) -> io::Error {
    move |error| {
        let error = error.into();
        io::Error::new(error.kind(), Failed(operation, error))
    }
}

/// The user namespace that owns this namespace.
pub(super) fn owner(namespace: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let number =
        call!("finding a user namespace", libc::ioctl(namespace.as_raw_fd(), libc::NS_GET_USERNS))?;
    Ok(owned(number))
}

/// The descriptor that a system call has just returned.
fn owned(number: libc::c_long) -> OwnedFd {
    #[expect(unsafe_code, reason = "the kernel returns descriptors as numbers")]
    #[expect(clippy::cast_possible_truncation, reason = "descriptors are small")]
    // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
    unsafe {
        OwnedFd::from_raw_fd(number as RawFd)
    }
}

/// Takes ownership of a descriptor that was inherited under this number.
pub(super) fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    call!("taking an inherited descriptor", libc::fcntl(number, libc::F_GETFD))?;
    Ok(owned(number.into()))
}

/// Forks this process, which must have one thread. Returns the child's id in the parent, and `None` in the child.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    let number = call!("forking the helper", libc::fork())?;
    Ok(i32::try_from(number).ok().and_then(Pid::from_raw))
}

/// Mounts the `/proc` of the process's own pid namespace, in a new mount namespace.
pub(super) fn mount_proc() -> io::Result<()> {
    call!("making a mount namespace", libc::unshare(libc::CLONE_NEWNS))?;
    let nothing = std::ptr::null();
    let no_propagation = libc::MS_REC | libc::MS_SLAVE;
    call!(
        "ending the propagation of mounts",
        libc::mount(nothing, c"/".as_ptr(), nothing, no_propagation, std::ptr::null())
    )?;
    let (file_system, target) = (c"proc", c"/proc");
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    call!(
        "mounting /proc",
        libc::mount(
            file_system.as_ptr(),
            target.as_ptr(),
            file_system.as_ptr(),
            flags,
            std::ptr::null()
        )
    )
    .map(drop)
}

/// Marks all descriptors except stdin, stdout and stderr as closed on exec, so that programs do not inherit them.
pub(super) fn close_others_on_exec() -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC as libc::c_int;
    call!("closing descriptors", libc::close_range(3, libc::c_uint::MAX, flags)).map(drop)
}

/// Ignores SIGTERM. A program that replaces this process ignores it too.
pub(super) fn ignore_sigterm() -> io::Result<()> {
    set_handler(libc::SIGTERM, libc::SIG_IGN)
}

fn set_handler(signal: libc::c_int, handler: libc::sighandler_t) -> io::Result<()> {
    #[expect(unsafe_code, reason = "a system call that no safe library here offers")]
    // SAFETY: the only function that is ever passed as a handler does nothing.
    let previous = unsafe { libc::signal(signal, handler) };
    if previous == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Installs a handler for SIGTERM that does nothing. Programs that this process starts have the default action again,
/// because `exec` resets handlers.
pub(super) fn catch_sigterm() -> io::Result<()> {
    extern "C" fn nothing(_: libc::c_int) {}
    set_handler(libc::SIGTERM, nothing as extern "C" fn(libc::c_int) as libc::sighandler_t)
}

/// Makes the process undumpable, so that other processes of the same user cannot read or trace it.
pub(super) fn set_undumpable() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(during("making the process undumpable"))
}

/// Makes this process a subreaper: orphaned descendants become its children.
pub(super) fn become_subreaper() -> io::Result<()> {
    set_child_subreaper(Some(getpid())).map_err(during("becoming a subreaper"))
}

/// Ignores SIGCHLD, so that the kernel reaps exited children.
pub(super) fn ignore_sigchld() -> io::Result<()> {
    set_handler(libc::SIGCHLD, libc::SIG_IGN)
}

/// The path of the terminal that is the stdin of this process; `None` if it has no path here.
pub(super) fn terminal_of_stdin() -> Option<PathBuf> {
    let name = rustix::termios::ttyname(rustix::stdio::stdin(), Vec::new()).ok()?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(name.into_bytes())))
}

/// Sets `no_new_privs`: programs started from here gain no rights from set-user-ID bits or file capabilities.
pub(super) fn set_no_new_privs() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true).map_err(during("setting no_new_privs"))
}

/// Drops all capabilities except those of [`KEPT_CAPABILITIES`] that the process has.
pub(super) fn drop_capabilities() -> io::Result<()> {
    let mut sets = capabilities(None).map_err(during("reading capabilities"))?;
    clear_ambient_capability_set().map_err(during("dropping ambient capabilities"))?;
    for number in 0..64 {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if !KEPT_CAPABILITIES.contains(capability) {
            // Fails for a capability that is unknown or may not be dropped; `no_new_privs` and the sets below still
            // hold.
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    sets.permitted &= KEPT_CAPABILITIES;
    sets.effective &= KEPT_CAPABILITIES;
    sets.inheritable = CapabilitySet::empty();
    set_capabilities(None, sets).map_err(during("dropping capabilities"))
}

/// The version of Landlock in the kernel; 0 if the kernel has none.
pub(super) fn landlock_version() -> i32 {
    const GET_VERSION: u32 = 1;
    let nothing = std::ptr::null::<u8>();
    call!(
        "reading the Landlock version",
        libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, GET_VERSION)
    )
    .ok()
    .and_then(|version| i32::try_from(version).ok())
    .unwrap_or(0)
}

/// Installs a seccomp filter on this thread, permanently. Returns the descriptor of its listener if `listen` is set.
pub(super) fn install_filter(program: &[sock_filter], listen: bool) -> io::Result<Option<OwnedFd>> {
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    // Both types have the layout of the kernel's structure.
    let fprog = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    let flags = if listen { libc::SECCOMP_FILTER_FLAG_NEW_LISTENER } else { 0 };
    let result = call!(
        "installing a filter of system calls",
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const fprog)
    )?;
    Ok(listen.then(|| owned(result)))
}

/// A system call that a filter has passed to its listener.
pub(super) struct Notification(u64);

/// Waits for the next system call that the filter passes to this listener. Fails when no process is left behind the
/// filter.
pub(super) fn next_notification(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    #[expect(unsafe_code, reason = "the kernel fills the structure and requires it to be zeroed")]
    // SAFETY: all its fields are numbers.
    let mut notification: libc::seccomp_notif = unsafe { mem::zeroed() };
    call!(
        "receiving a refused call",
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification)
    )?;
    Ok(Notification(notification.id))
}

/// Makes the call fail with `EACCES`.
pub(super) fn refuse(listener: BorrowedFd<'_>, notification: &Notification) -> io::Result<()> {
    let response =
        libc::seccomp_notif_resp { id: notification.0, val: 0, error: -libc::EACCES, flags: 0 };
    call!(
        "refusing a call",
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response)
    )
    .map(drop)
}

/// A socket pair that keeps message boundaries. Both ends are closed on exec.
pub(super) fn channel() -> io::Result<(OwnedFd, OwnedFd)> {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(during("making a channel"))
}

/// Sends a message, with a descriptor if one is given.
pub(super) fn send(
    channel: BorrowedFd<'_>,
    message: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if let Some(descriptor) = &descriptor {
        control.push(SendAncillaryMessage::ScmRights(slice::from_ref(descriptor)));
    }
    sendmsg(channel, &[IoSlice::new(message)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a message and the descriptor sent with it. The message is empty if the other end is closed, or if no
/// message has arrived and `wait` is false.
pub(super) fn receive(
    channel: BorrowedFd<'_>,
    wait: bool,
) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut message = vec![0; 4096];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut flags = RecvFlags::CMSG_CLOEXEC;
    flags.set(RecvFlags::DONTWAIT, !wait);
    let received = retry_on_intr(|| {
        recvmsg(channel, &mut [IoSliceMut::new(&mut message)], &mut control, flags)
    });
    let length = match received {
        Ok(received) => received.bytes,
        Err(Errno::AGAIN | Errno::CONNRESET) => 0,
        Err(error) => return Err(error.into()),
    };
    message.truncate(length);
    let descriptor = control.drain().find_map(|it| match it {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok((message, descriptor))
}

/// Whether data arrives at this descriptor, or its other end is closed, within this time.
pub(super) fn is_readable_within(descriptor: &impl AsFd, time: Duration) -> io::Result<bool> {
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    let mut handles = [PollFd::new(descriptor, PollFlags::IN)];
    Ok(retry_on_intr(|| poll(&mut handles, Some(&time)))? > 0)
}
