//! The seccomp filters of system calls.
//!
//! A deny list, because programs of every kind run behind it. Unknown calls are denied: a call with a higher number
//! than those of today fails as missing.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// How much of the network a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    /// This computer's network.
    Granted,
    /// The run's own network namespace, which contains only the run.
    Own,
    /// No network: at this level the run has no network namespace.
    Nothing,
}

/// The filters of one program.
pub(super) struct Filters {
    pub(super) plain: Vec<BpfProgram>,
    /// Refuses calls through a listener, which counts them. Must be installed before the others.
    pub(super) told: Option<BpfProgram>,
}

/// The highest system call number of Linux 6.18. Calls that later kernels add fail with `ENOSYS`.
const HIGHEST: u32 = 470;
/// Bit in the numbers of x32 calls, which have their own numbers for the same calls.
const X32: u32 = 0x4000_0000;
/// Marks the return instructions to change into `SECCOMP_RET_USER_NOTIF`, which the compiler cannot emit.
const TOLD: u32 = 0x1e57;

const SOCKET_KIND: u64 = 0xf;
const FILE_KIND: u64 = libc::S_IFMT as u64;
/// The netlink protocol by which programs read interface names and addresses.
const NETLINK_ROUTE: u64 = 0;
/// Terminal commands that inject input for the person, or change the console for others.
const TERMINAL_COMMANDS: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Refused with any arguments. Other walls cover what is missing here: signals (pid namespace and Landlock scope),
/// everything that needs a dropped capability, and paths.
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

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_kexec_file_load,
    libc::SYS_uselib,
    libc::SYS_nfsservctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// Calls with a process id as their first argument, where 0 is the caller. Without a pid namespace they reach other
/// processes of the same user.
const OF_A_PROCESS: &[libc::c_long] = &[libc::SYS_prlimit64];

/// IPC objects that processes of a user share by number or name, which path rules do not cover.
const SHARED: &[libc::c_long] = &[
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

/// The filters for a program.
///
/// # Errors
/// An unsupported processor architecture.
pub(super) fn filters(network: Network, has_namespaces: bool) -> io::Result<Filters> {
    let mut forbidden = compile(forbidden(has_namespaces)?, libc::EPERM)?;
    let mut prelude = unknown_calls();
    prelude.append(&mut forbidden);
    let absent = compile(absent(), libc::ENOSYS)?;
    let sockets = compile(sockets(network)?, libc::EACCES)?;
    let told = (network == Network::Nothing).then(told).transpose()?;
    Ok(Filters { plain: vec![prelude, absent, sockets], told })
}

fn compile(rules: Rules, error: libc::c_int) -> io::Result<BpfProgram> {
    build(rules, SeccompAction::Errno(error.cast_unsigned()))
}

fn build(rules: Rules, action: SeccompAction) -> io::Result<BpfProgram> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture);
    filter.and_then(TryInto::try_into).map_err(io::Error::other)
}

/// Calls of another interface and calls with unknown numbers fail with `ENOSYS`.
fn unknown_calls() -> BpfProgram {
    let instruction = |code: u32, jt: u8, k: u32| sock_filter { code: code as u16, jt, jf: 0, k };
    let error = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    // The filter after this one checks the architecture first. Under another one any number may occur; the call is
    // killed there.
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: HIGHEST.min(X32),
        },
        instruction(libc::BPF_RET | libc::BPF_K, 0, error),
    ]
}

/// A condition on the lower 32 bits of one argument, which are all that the kernel reads.
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

fn has(argument: u8, mask: u64, value: u64) -> io::Result<SeccompCondition> {
    condition(argument, SeccompCmpOp::MaskedEq(mask), value)
}

fn any_of(argument: u8, bits: &[libc::c_int]) -> io::Result<Vec<SeccompRule>> {
    let bits = bits.iter().map(|bit| u64::from(bit.cast_unsigned()));
    bits.map(|bit| all_of(vec![has(argument, bit, bit)?])).collect()
}

fn forbidden(has_namespaces: bool) -> io::Result<Rules> {
    let always = REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, Vec::new()));
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
    rules.insert(libc::SYS_unshare, any_of(0, &namespaces)?);
    rules.insert(libc::SYS_clone, any_of(0, &namespaces)?);
    // A second listener would take precedence over ours.
    let listener = [libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as libc::c_int];
    rules.insert(libc::SYS_seccomp, any_of(1, &listener)?);
    let terminal: io::Result<_> =
        TERMINAL_COMMANDS.iter().map(|command| all_of(vec![is(1, *command)?])).collect();
    rules.insert(libc::SYS_ioctl, terminal?);
    let devices = |mode: u8| -> io::Result<Vec<SeccompRule>> {
        [libc::S_IFCHR, libc::S_IFBLK]
            .iter()
            .map(|kind| all_of(vec![has(mode, FILE_KIND, u64::from(*kind))?]))
            .collect()
    };
    rules.insert(libc::SYS_mknodat, devices(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_mknod, devices(1)?);
    if !has_namespaces {
        rules.extend(SHARED.iter().map(|call| (*call, Vec::new())));
        for call in OF_A_PROCESS {
            rules.insert(*call, vec![all_of(vec![is_not(0, 0)?, is_not(2, 0)?])?]);
        }
    }
    Ok(rules)
}

/// Calls that fail as missing, because programs then use others: their arguments are in memory, where a filter cannot
/// read them, or they do the work of other calls and bypass the filters.
fn absent() -> Rules {
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

fn family(family: libc::c_int) -> u64 {
    u64::from(family.cast_unsigned())
}

/// Sockets that are refused without being counted: programs try them in passing (name lookups connect to daemons) and
/// continue without them.
fn sockets(network: Network) -> io::Result<Rules> {
    let mut rules = Rules::new();
    let unix = family(libc::AF_UNIX);
    let netlink = family(libc::AF_NETLINK);
    let socket = match network {
        Network::Granted | Network::Own => vec![
            all_of(vec![
                is_not(0, family(libc::AF_INET))?,
                is_not(0, family(libc::AF_INET6))?,
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
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(family);
    let mut pairs = vec![all_of(vec![is_not(0, unix)?])?];
    // The kernel turns a raw socket into a datagram socket, and may do so with other types.
    for kind in (0..=SOCKET_KIND).filter(|kind| !connected.contains(kind)) {
        pairs.push(all_of(vec![has(1, SOCKET_KIND, kind)?])?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    Ok(rules)
}

/// Sockets that are refused and counted.
fn told() -> io::Result<BpfProgram> {
    let others = vec![all_of(vec![
        is_not(0, family(libc::AF_UNIX))?,
        is_not(0, family(libc::AF_NETLINK))?,
    ])?];
    let mut program = build([(libc::SYS_socket, others)].into(), SeccompAction::Trace(TOLD))?;
    for instruction in &mut program {
        if instruction.k == libc::SECCOMP_RET_TRACE | TOLD {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}
