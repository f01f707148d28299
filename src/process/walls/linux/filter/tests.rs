//! Interprets the filters, and checks which calls they refuse.

use super::*;

const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;

/// The result of the filters without network for a system call: that of the first filter that does not allow it.
fn returned(has_namespaces: bool, number: libc::c_long, arguments: [u64; 6]) -> u32 {
    let filters = filters(Network::Nothing, has_namespaces).unwrap();
    let returned = filters.counted.iter().chain(&filters.plain);
    let mut returned = returned.map(|program| run(program, number, arguments));
    returned.find(|it| *it != ALLOWED).unwrap_or(ALLOWED)
}

/// Interprets the instructions that occur in the filters, over `struct seccomp_data`.
fn run(program: &BpfProgram, number: libc::c_long, arguments: [u64; 6]) -> u32 {
    let architecture = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
    let mut data = vec![u32::try_from(number).unwrap(), architecture, 0, 0];
    data.extend(arguments.iter().flat_map(|it| [*it as u32, (*it >> 32) as u32]));
    let (mut index, mut value) = (0, 0);
    loop {
        let sock_filter { code, jt, jf, k } = program[index];
        index += 1;
        let jump = |is_so: bool| usize::from(if is_so { jt } else { jf });
        match code {
            0x20 => value = data[k as usize / 4],
            0x54 => value &= k,
            0x05 => index += k as usize,
            0x15 => index += jump(value == k),
            0x25 => index += jump(value > k),
            0x35 => index += jump(value >= k),
            0x06 => return k,
            _ => panic!("instruction {code:#x}"),
        }
    }
}

fn refused(error: libc::c_int) -> u32 {
    libc::SECCOMP_RET_ERRNO | error.cast_unsigned()
}

/// A new limit at an address whose lower 32 bits are 0 is still a new limit.
#[test]
fn limits_of_other_processes_are_refused() {
    let call =
        |process: u64, new: u64| returned(false, libc::SYS_prlimit64, [process, 7, new, 0, 0, 0]);
    for address in [1, 0xffff_ffff, 0x1_0000_0000, 0x7fff_0000_0000, u64::MAX] {
        assert_eq!(call(4711, address), refused(libc::EPERM), "{address:#x}");
        // The kernel reads 32 bits of a process id.
        assert_eq!(call(0x1_0000_1267, address), refused(libc::EPERM), "{address:#x}");
        assert_eq!(call(0, address), ALLOWED, "{address:#x}");
    }
    assert_eq!(call(4711, 0), ALLOWED);
    assert_eq!(returned(true, libc::SYS_prlimit64, [4711, 7, 1, 0, 0, 0]), ALLOWED);
}

/// Bits above those that the kernel reads do not hide a refused value.
#[test]
fn upper_argument_bits_are_ignored() {
    let high = 0x5_0000_0000;
    for (call, argument, value) in [
        (libc::SYS_ioctl, 1, libc::TIOCSTI),
        (libc::SYS_clone, 0, libc::CLONE_NEWUSER as u64),
        (libc::SYS_unshare, 0, libc::CLONE_NEWUSER as u64),
        (libc::SYS_seccomp, 1, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER),
        (libc::SYS_mknodat, 2, u64::from(libc::S_IFCHR)),
    ] {
        let mut arguments = [0; 6];
        arguments[argument] = high | value;
        assert_eq!(returned(true, call, arguments), refused(libc::EPERM), "{call}");
    }
    let socket = |family| returned(true, libc::SYS_socket, [high | family, 1, 0, 0, 0, 0]);
    assert_eq!(socket(argument(libc::AF_UNIX)), refused(libc::EACCES));
    assert_eq!(socket(argument(libc::AF_INET)), libc::SECCOMP_RET_USER_NOTIF);
}

#[test]
fn refused_and_unknown_system_calls_fail() {
    let any = |number| returned(true, number, [0; 6]);
    for call in [libc::SYS_open_tree, 467, KEXEC_FILE_LOAD, libc::SYS_kexec_load] {
        assert_eq!(any(call), refused(libc::EPERM), "{call}");
    }
    for unknown in [470, 0x4000_0000, 0x4000_0000 + libc::SYS_read] {
        assert_eq!(any(unknown), refused(libc::ENOSYS), "{unknown}");
    }
    assert_eq!(any(469), ALLOWED);
}

#[test]
fn filter_without_its_mark_is_an_error() {
    let mut unmarked = build(Rules::new(), SeccompAction::Trace(NOTIFY_MARK + 1)).unwrap();
    assert!(notify_instead_of_trace(&mut unmarked).is_err());
    assert!(counted_sockets().unwrap().iter().any(|it| it.k == libc::SECCOMP_RET_USER_NOTIF));
}
