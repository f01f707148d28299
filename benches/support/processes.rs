//! A started program and all its descendant processes, read from `/proc`.

use std::collections::BTreeMap;
use std::process::Child;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// A program and its descendant processes. Dropping it kills them and waits until they have ended.
#[must_use = "dropping it ends the program"]
pub struct Tree {
    root: Child,
}

impl Tree {
    pub fn of(root: Child) -> Self {
        Self { root }
    }

    /// The memory of all of them in bytes, with each shared page divided among the processes that share it.
    pub fn proportional_memory(&self) -> u64 {
        self.processes().into_iter().map(proportional_memory).sum()
    }

    /// The process ids of the program and all its descendants.
    fn processes(&self) -> Vec<u32> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // The entry of a process that has just ended cannot be read.
            if let Some(parent) = parent(pid) {
                children.entry(parent).or_default().push(pid);
            }
        }
        let mut all = vec![self.root.id()];
        let mut next = 0;
        while let Some(pid) = all.get(next) {
            all.extend(children.remove(pid).unwrap_or_default());
            next += 1;
        }
        all
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let mut ends = Vec::new();
        for pid in self.processes() {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            ends.extend(pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()));
        }
        let _gone_already = self.root.kill();
        let _reaped = self.root.wait();
        // Waits for all of them, so that they do not slow the next launch.
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        for end in ends {
            let _ = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&patience));
        }
    }
}

fn parent(pid: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain spaces and parentheses.
    let (_, after_name) = text.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

fn proportional_memory(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or_default();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap_or_default();
    kib * 1024
}
