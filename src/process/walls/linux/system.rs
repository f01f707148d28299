//! System calls for which the crates used here offer no safe function. Each function wraps one operation.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use rustix::process::Pid;
use seccompiler::sock_filter;

/// The `ioctl` that opens the user namespace that owns another namespace (`NS_GET_USERNS`).
const GET_USER_NAMESPACE: libc::c_ulong = 0xb701;
/// The capabilities that a walled program keeps if it has them (`CAP_DAC_OVERRIDE` and `CAP_FOWNER`): without them
/// root could not write in a workspace of another user.
const KEPT_CAPABILITIES: u64 = 1 << 1 | 1 << 3;

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

macro_rules! call {
    ($reason:literal, $($call:tt)+) => {{
        #[expect(unsafe_code, reason = "a system call that no safe library here offers")]
        // SAFETY: the arguments are numbers, or point to memory that outlives the call.
        let result = unsafe { $($call)+ };
        check(result.into()).map_err(|error| io::Error::new(error.kind(), Failed($reason, error)))
    }};
}

/// An OS error, with the operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}: {1}")]
struct Failed(&'static str, io::Error);

/// The user namespace that owns this namespace.
pub(super) fn owner(namespace: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let number =
        call!("finding a user namespace", libc::ioctl(namespace.as_raw_fd(), GET_USER_NAMESPACE))?;
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
    call!("making the process undumpable", libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0)).map(drop)
}

/// Makes this process a subreaper: orphaned descendants become its children.
pub(super) fn become_subreaper() -> io::Result<()> {
    call!("becoming a subreaper", libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)).map(drop)
}

/// Ignores SIGCHLD, so that the kernel reaps exited children.
pub(super) fn ignore_sigchld() -> io::Result<()> {
    set_handler(libc::SIGCHLD, libc::SIG_IGN)
}

/// Sets `no_new_privs`: programs started from here gain no rights from set-user-ID bits or file capabilities.
pub(super) fn set_no_new_privs() -> io::Result<()> {
    call!("setting no_new_privs", libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)).map(drop)
}

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Default, Clone, Copy)]
struct CapabilityData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Drops all capabilities except those of [`KEPT_CAPABILITIES`] that the process has.
pub(super) fn drop_capabilities() -> io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = CapabilityHeader { version: VERSION_3, pid: 0 };
    let mut data = [CapabilityData::default(); 2];
    call!(
        "reading capabilities",
        libc::syscall(libc::SYS_capget, &raw const header, data.as_mut_ptr())
    )?;
    call!(
        "dropping ambient capabilities",
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    )?;
    for capability in 0..64_u64 {
        if KEPT_CAPABILITIES & (1 << capability) == 0 {
            // Fails for a capability that is unknown or may not be dropped; `no_new_privs` and the sets below still
            // hold.
            let _ = call!("dropping", libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0));
        }
    }
    for (index, half) in data.iter_mut().enumerate() {
        #[expect(clippy::cast_possible_truncation, reason = "one half of the set")]
        let kept = (KEPT_CAPABILITIES >> (32 * index)) as u32;
        half.permitted &= kept;
        half.effective &= kept;
        half.inheritable = 0;
    }
    call!(
        "dropping capabilities",
        libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr())
    )
    .map(drop)
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
pub(super) struct Notification {
    id: u64,
}

/// Waits for the next system call that the filter passes to this listener. Fails when no process is left behind the
/// filter.
pub(super) fn next_notification(listener: BorrowedFd<'_>) -> io::Result<Notification> {
    #[expect(unsafe_code, reason = "the kernel fills the structure and requires it to be zeroed")]
    // SAFETY: all its fields are numbers.
    let mut notification: libc::seccomp_notif = unsafe { mem::zeroed() };
    call!(
        "receiving a refused call",
        libc::ioctl(listener.as_raw_fd(), SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification)
    )?;
    Ok(Notification { id: notification.id })
}

/// Makes the call fail with `EACCES`.
pub(super) fn refuse(listener: BorrowedFd<'_>, notification: &Notification) -> io::Result<()> {
    let response =
        libc::seccomp_notif_resp { id: notification.id, val: 0, error: -libc::EACCES, flags: 0 };
    call!(
        "refusing a call",
        libc::ioctl(listener.as_raw_fd(), SECCOMP_IOCTL_NOTIF_SEND, &raw const response)
    )
    .map(drop)
}

const SECCOMP_IOCTL_NOTIF_RECV: libc::c_ulong = 0xc050_2100;
const SECCOMP_IOCTL_NOTIF_SEND: libc::c_ulong = 0xc018_2101;

/// A socket pair that keeps message boundaries. Both ends are closed on exec.
pub(super) fn channel() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut descriptors = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    call!("making a channel", libc::socketpair(libc::AF_UNIX, kind, 0, descriptors.as_mut_ptr()))?;
    let [first, second] = descriptors;
    Ok((owned(first.into()), owned(second.into())))
}

/// The buffer for one descriptor that is sent with a message, aligned as the kernel requires.
#[repr(C, align(8))]
struct ControlBuffer([u8; 64]);

/// Sends a message, with a descriptor if one is given.
pub(super) fn send(
    channel: BorrowedFd<'_>,
    message: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut part =
        libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: message.len() };
    let mut control = ControlBuffer([0; 64]);
    #[expect(unsafe_code, reason = "messages with descriptors have no safe interface here")]
    // SAFETY: the header points to `part` and `control`, which outlive the call; `control` is large enough for the one
    // descriptor that is written.
    let result = unsafe {
        let mut header: libc::msghdr = mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        if let Some(descriptor) = descriptor {
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(first).cast::<RawFd>().write_unaligned(descriptor.as_raw_fd());
        }
        libc::sendmsg(channel.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL)
    };
    check(result as libc::c_long).map(drop)
}

/// Receives a message and the descriptor sent with it. The message is empty if the other end is closed. `None` if no
/// message has arrived and `wait` is false.
pub(super) fn receive(
    channel: BorrowedFd<'_>,
    wait: bool,
) -> io::Result<Option<(Vec<u8>, Option<OwnedFd>)>> {
    let mut message = vec![0_u8; 4096];
    let mut part = libc::iovec { iov_base: message.as_mut_ptr().cast(), iov_len: message.len() };
    let mut control = ControlBuffer([0; 64]);
    let flags = libc::MSG_CMSG_CLOEXEC | if wait { 0 } else { libc::MSG_DONTWAIT };
    #[expect(unsafe_code, reason = "messages with descriptors have no safe interface here")]
    // SAFETY: the header points to `part` and `control`, which outlive the call; a control message is read only where
    // the kernel reports that it wrote one.
    let (result, descriptor) = unsafe {
        let mut header: libc::msghdr = mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        let result = loop {
            let result = libc::recvmsg(channel.as_raw_fd(), &raw mut header, flags);
            if result >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                break result;
            }
        };
        let first =
            if result < 0 { std::ptr::null_mut() } else { libc::CMSG_FIRSTHDR(&raw const header) };
        let has_descriptor = !first.is_null()
            && (*first).cmsg_level == libc::SOL_SOCKET
            && (*first).cmsg_type == libc::SCM_RIGHTS;
        let descriptor = has_descriptor
            .then(|| owned(libc::CMSG_DATA(first).cast::<RawFd>().read_unaligned().into()));
        (result, descriptor)
    };
    match check(result as libc::c_long) {
        Ok(length) => {
            message.truncate(usize::try_from(length).unwrap_or(0));
            Ok(Some((message, descriptor)))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
            Ok(Some((Vec::new(), None)))
        }
        Err(error) => Err(error),
    }
}
