//! The seccomp filters of system calls.
//!
//! They are deny lists, because programs of every kind run behind them. Unknown calls are denied too: a call with a
//! higher number than [`LAST_CALL`] fails as missing.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// The network that a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    /// This computer's network.
    Granted,
    /// The run's own network namespace, which contains only processes of the run.
    Own,
    /// No network. For level *files*: the run has no network namespace there, so every new socket is refused.
    Nothing,
}

/// The filters of one program.
pub(super) struct Filters {
    pub(super) plain: Vec<BpfProgram>,
    /// Passes calls to a listener, which refuses and counts them. Must be installed before the others.
    pub(super) counted: Option<BpfProgram>,
}

/// The highest system call number of Linux 6.18. Calls that later kernels add fail with `ENOSYS`, and so do x32 calls,
/// whose numbers start at `0x4000_0000`.
const LAST_CALL: u32 = 469;
/// Marks the return instructions to change into `SECCOMP_RET_USER_NOTIF`, which the compiler cannot emit.
const NOTIFY_MARK: u32 = 0x1e57;

/// The bits of the socket type, without its flags.
const SOCKET_TYPE: u64 = 0xf;
/// The bits of the file type in a mode.
const FILE_TYPE: u64 = libc::S_IFMT as u64;
/// The netlink protocol by which programs read interface names and addresses.
const NETLINK_ROUTE: u64 = 0;
/// Terminal commands that inject input as if a person had typed it, or that control the console.
const TERMINAL_COMMANDS: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

// The two calls that libc does not define for every target.
const OPEN_TREE_ATTR: libc::c_long = 467;
const KEXEC_FILE_LOAD: libc::c_long = if cfg!(target_arch = "x86_64") { 320 } else { 294 };

/// Calls that are refused with any arguments. Not listed are signals (covered by the pid namespace and the Landlock
/// scope), calls that need a dropped capability, and access to paths.
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // The kernel and code that runs in it.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    // Keys, which belong to the user and not to the process.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Host name and clocks.
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
];

/// More such calls, which only this architecture has.
#[cfg(target_arch = "x86_64")]
const REFUSED_ON_ARCH: &[libc::c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_nfsservctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_ON_ARCH: &[libc::c_long] = &[];

/// Calls on IPC objects that processes of a user share by number or name, which path rules do not cover.
const SHARED_IPC: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The filters for a program. `has_namespaces` is whether it runs in the run's own namespaces, at level *full*.
///
/// # Errors
/// An unsupported processor architecture.
pub(super) fn filters(network: Network, has_namespaces: bool) -> io::Result<Filters> {
    let mut forbidden = compile(forbidden(has_namespaces)?, libc::EPERM)?;
    let mut prelude = unknown_calls();
    prelude.append(&mut forbidden);
    let missing = compile(missing(), libc::ENOSYS)?;
    let sockets = compile(sockets(network)?, libc::EACCES)?;
    let counted = (network == Network::Nothing).then(counted_sockets).transpose()?;
    Ok(Filters { plain: vec![prelude, missing, sockets], counted })
}

/// A filter under which the calls of these rules fail with this error.
fn compile(rules: Rules, error: libc::c_int) -> io::Result<BpfProgram> {
    build(rules, SeccompAction::Errno(error.cast_unsigned()))
}

fn build(rules: Rules, action: SeccompAction) -> io::Result<BpfProgram> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture);
    filter.and_then(TryInto::try_into).map_err(io::Error::other)
}

/// The beginning of a filter: calls with numbers above [`LAST_CALL`], also those of x32, fail with `ENOSYS`.
fn unknown_calls() -> BpfProgram {
    let instruction = |code: u32, jt: u8, k: u32| sock_filter { code: code as u16, jt, jf: 0, k };
    let error = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    // The filter that follows checks the architecture of the call first, and kills the process if it is another one.
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: LAST_CALL,
        },
        instruction(libc::BPF_RET | libc::BPF_K, 0, error),
    ]
}

/// A condition on the lower 32 bits of one argument. Only for an argument of which the kernel reads no more bits: an
/// `int`, a mode, or flags that are all in these bits. A pointer needs [`is_not_null`].
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> io::Result<SeccompCondition> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .map_err(io::Error::other)
}

fn all_of(conditions: Vec<SeccompCondition>) -> io::Result<SeccompRule> {
    SeccompRule::new(conditions).map_err(io::Error::other)
}

fn is(argument: u8, value: u64) -> io::Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> io::Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::Ne, value)
}

/// A condition that a pointer is not null. Compares all 64 bits: a program can map memory whose address ends in 32
/// zero bits.
fn is_not_null(pointer: u8) -> io::Result<SeccompCondition> {
    SeccompCondition::new(pointer, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
        .map_err(io::Error::other)
}

/// A condition that the bits of `mask` have this value.
fn has_bits(argument: u8, mask: u64, value: u64) -> io::Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::MaskedEq(mask), value)
}

/// One rule for each of these bits.
fn any_bit(argument: u8, bits: &[libc::c_int]) -> io::Result<Vec<SeccompRule>> {
    let bits = bits.iter().map(|bit| u64::from(bit.cast_unsigned()));
    bits.map(|bit| all_of(vec![has_bits(argument, bit, bit)?])).collect()
}

/// Calls that fail as not permitted.
fn forbidden(has_namespaces: bool) -> io::Result<Rules> {
    let always = REFUSED.iter().chain(REFUSED_ON_ARCH).map(|call| (*call, Vec::new()));
    let mut rules: Rules = always.collect();
    let namespaces = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        // `CLONE_NEWTIME`. In `clone` this bit is part of the exit signal, where it is never used.
        0x80,
    ];
    rules.insert(libc::SYS_unshare, any_bit(0, &namespaces)?);
    rules.insert(libc::SYS_clone, any_bit(0, &namespaces)?);
    // A second listener would take precedence over ours.
    let listener = [libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as libc::c_int];
    rules.insert(libc::SYS_seccomp, any_bit(1, &listener)?);
    let terminal: io::Result<_> =
        TERMINAL_COMMANDS.iter().map(|command| all_of(vec![is(1, *command)?])).collect();
    rules.insert(libc::SYS_ioctl, terminal?);
    let devices = |mode: u8| -> io::Result<Vec<SeccompRule>> {
        [libc::S_IFCHR, libc::S_IFBLK]
            .iter()
            .map(|kind| all_of(vec![has_bits(mode, FILE_TYPE, u64::from(*kind))?]))
            .collect()
    };
    rules.insert(libc::SYS_mknodat, devices(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_mknod, devices(1)?);
    if !has_namespaces {
        rules.extend(SHARED_IPC.iter().map(|call| (*call, Vec::new())));
        // Sets a limit of another process; the process id 0 is the caller.
        rules.insert(libc::SYS_prlimit64, vec![all_of(vec![is_not(0, 0)?, is_not_null(2)?])?]);
    }
    Ok(rules)
}

/// Calls that fail as missing, so that programs use other calls: their arguments are in memory, where a filter cannot
/// read them, or they do the work of other calls and bypass the filters.
fn missing() -> Rules {
    [
        libc::SYS_clone3,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
    ]
    .into_iter()
    .map(|call| (call, Vec::new()))
    .collect()
}

/// A constant of libc as an argument of a system call.
fn argument(constant: libc::c_int) -> u64 {
    u64::from(constant.cast_unsigned())
}

/// Socket calls that are refused without being counted: many programs try them (name lookups connect to daemons) and
/// continue if they fail.
fn sockets(network: Network) -> io::Result<Rules> {
    let mut rules = Rules::new();
    let unix = argument(libc::AF_UNIX);
    let netlink = argument(libc::AF_NETLINK);
    let socket = match network {
        Network::Granted | Network::Own => vec![
            all_of(vec![
                is_not(0, argument(libc::AF_INET))?,
                is_not(0, argument(libc::AF_INET6))?,
                is_not(0, netlink)?,
            ])?,
            all_of(vec![is(0, netlink)?, is_not(2, NETLINK_ROUTE)?])?,
        ],
        Network::Nothing => {
            for call in [libc::SYS_connect, libc::SYS_bind, libc::SYS_listen] {
                rules.insert(call, Vec::new());
            }
            vec![all_of(vec![is(0, unix)?])?, all_of(vec![is(0, netlink)?])?]
        }
    };
    rules.insert(libc::SYS_socket, socket);
    // A connectionless socket could send to any address.
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(argument);
    let mut pairs = vec![all_of(vec![is_not(0, unix)?])?];
    // The kernel turns a raw socket into a datagram socket, and may do so with other types.
    for kind in (0..=SOCKET_TYPE).filter(|kind| !connected.contains(kind)) {
        pairs.push(all_of(vec![has_bits(1, SOCKET_TYPE, kind)?])?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    Ok(rules)
}

/// Sockets that a listener refuses and counts: those of every family that [`sockets`] does not refuse.
fn counted_sockets() -> io::Result<BpfProgram> {
    let others = vec![all_of(vec![
        is_not(0, argument(libc::AF_UNIX))?,
        is_not(0, argument(libc::AF_NETLINK))?,
    ])?];
    let mut program =
        build([(libc::SYS_socket, others)].into(), SeccompAction::Trace(NOTIFY_MARK))?;
    notify_instead_of_trace(&mut program)?;
    Ok(program)
}

/// Changes the marked return instructions. It is an error if there is none: refused sockets would not be counted.
fn notify_instead_of_trace(program: &mut BpfProgram) -> io::Result<()> {
    let is_marked = |it: &&mut sock_filter| it.k == libc::SECCOMP_RET_TRACE | NOTIFY_MARK;
    let mut marked = program.iter_mut().filter(is_marked).peekable();
    if marked.peek().is_none() {
        return Err(io::Error::other("the filter of counted sockets has no instruction to change"));
    }
    marked.for_each(|it| it.k = libc::SECCOMP_RET_USER_NOTIF);
    Ok(())
}

#[cfg(test)]
mod tests;
