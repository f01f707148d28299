//! Counts the network access that walls refuse.

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::system;

/// Starts a thread that refuses and counts every socket call that the filter passes to its listener. The thread ends
/// when no process is left behind the filter.
///
/// # Errors
/// When the thread cannot be started.
pub(super) fn count_sockets(listener: OwnedFd, count: Arc<AtomicU64>) -> io::Result<()> {
    let refuse = move || {
        loop {
            match system::next_notification(listener.as_fd()) {
                Ok(notification) => {
                    count.fetch_add(1, Ordering::Relaxed);
                    // The process may have exited meanwhile.
                    let _ = system::refuse(listener.as_fd(), &notification);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The process exited before its call was received; other processes may be left.
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound && has_processes(&listener) => {}
                Err(_) => break,
            }
        }
    };
    thread::Builder::new().name("child-sockets".to_owned()).spawn(refuse).map(drop)
}

/// Whether a process is left behind the filter.
fn has_processes(listener: &OwnedFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut handles = [PollFd::new(listener, PollFlags::IN)];
    let no_wait = Timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = poll(&mut handles, Some(&no_wait));
    !handles.iter().any(|it| it.revents().contains(PollFlags::HUP))
}

/// The number of attempts of the run's processes to reach a host outside their network: packets without a route, and
/// UDP packets to a port without a listener, such as DNS queries. They are read from the kernel's counters of the
/// network namespace in which the process `keeper` is.
pub(super) fn unreachable(keeper: i32) -> u64 {
    let read = |name: &str| fs::read_to_string(format!("/proc/{keeper}/net/{name}"));
    let (snmp, snmp6) = (read("snmp").unwrap_or_default(), read("snmp6").unwrap_or_default());
    let value_of = |name: &str| {
        let mut lines = snmp6.lines().filter_map(|line| line.split_once(char::is_whitespace));
        lines.find(|(found, _)| *found == name).and_then(|(_, value)| value.trim().parse().ok())
    };
    let tables = [("Ip", "OutNoRoutes"), ("Udp", "NoPorts")];
    let ipv4 = tables.iter().filter_map(|(table, name)| column(&snmp, table, name));
    let ipv6 = ["Ip6OutNoRoutes", "Udp6NoPorts"].iter().filter_map(|name| value_of(name));
    ipv4.chain(ipv6).sum::<u64>()
}

/// A value of a table that has its names in one line and its numbers in the next.
fn column(text: &str, table: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(table)?.strip_prefix(':'));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let index = names.split_whitespace().position(|it| it == name)?;
    numbers.split_whitespace().nth(index)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_by_their_names() {
        let text = "Ip: A OutNoRoutes B\nIp: 1 7 3\nIcmp: X\nIcmp: 9\n";
        assert_eq!(column(text, "Ip", "OutNoRoutes"), Some(7));
        assert_eq!(column(text, "Ip", "Absent"), None);
        assert_eq!(column(text, "Icmp", "X"), Some(9));
    }
}
