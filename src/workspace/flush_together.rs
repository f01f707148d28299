//! Flushes many files at once, where that is as good as flushing each (SPEC §8, §9).
//!
//! Flushing a file makes the disk empty its cache, whatever the file's size, so that a batch of 128 files would wait 128
//! times. `syncfs` flushes a whole file system with one such wait, and reports failed writes of all its files since the
//! given one was opened. It is used on file systems of which this is known, and not while other programs have much to
//! write, which the batch would wait for too.

#[cfg(target_os = "linux")]
use std::fs;
use std::io;

use cap_std::fs::File;

/// Fewer files than this are flushed one by one.
#[cfg(target_os = "linux")]
const FEWEST: usize = 8;

/// The most that may wait to be written by all programs, in KiB.
#[cfg(target_os = "linux")]
const MOST_DIRTY_KIB: u64 = 64 << 10;

/// The file systems that write everything to the disk on `syncfs`, by the numbers in `statfs(2)`: ext2 to ext4, XFS, Btrfs,
/// F2FS, and the one in memory. Of those with a server or another program behind them, it may not reach the disk.
#[cfg(target_os = "linux")]
const FILE_SYSTEMS: [u64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

/// Flushes files of one file system, opened in this order and written since, if they can be flushed together. Returns
/// whether they were; otherwise nothing was done.
///
/// # Errors
/// When a write to the file system has failed since the first of the files was opened.
#[cfg(target_os = "linux")]
pub(super) fn flush_together(files: &[&File]) -> io::Result<bool> {
    let Some(first) = files.first().filter(|_| files.len() >= FEWEST) else { return Ok(false) };
    if !are_on_one(files)? || !reports_failed_writes() || dirty_kib() > MOST_DIRTY_KIB {
        return Ok(false);
    }
    rustix::fs::syncfs(first)?;
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn flush_together(_: &[&File]) -> io::Result<bool> {
    Ok(false)
}

/// Whether all files are on the same one of [`FILE_SYSTEMS`].
#[cfg(target_os = "linux")]
fn are_on_one(files: &[&File]) -> io::Result<bool> {
    let mut devices = Vec::new();
    for file in files {
        devices.push(rustix::fs::fstat(file)?.st_dev);
        let kind = rustix::fs::fstatfs(file)?.f_type;
        if !FILE_SYSTEMS.contains(&(kind as u64)) {
            return Ok(false);
        }
    }
    devices.dedup();
    Ok(devices.len() == 1)
}

/// Whether `syncfs` reports failed writes: since Linux 5.8.
#[cfg(target_os = "linux")]
fn reports_failed_writes() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(5), Some(8))
}

/// How much all programs have written that is not on a disk yet, in KiB; without end if that is not known.
#[cfg(target_os = "linux")]
fn dirty_kib() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    number("Dirty:").zip(number("Writeback:")).map_or(u64::MAX, |(dirty, now)| dirty + now)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::*;

    fn files(folder: &Dir, count: usize) -> Vec<File> {
        (0..count).map(|index| folder.create(format!("{index}")).unwrap()).collect()
    }

    fn open(path: &std::path::Path) -> Dir {
        Dir::open_ambient_dir(path, ambient_authority()).unwrap()
    }

    #[test]
    fn few_files_are_flushed_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(&open(folder.path()), FEWEST - 1);
        assert!(!flush_together(&files.iter().collect::<Vec<_>>()).unwrap());
    }

    /// The file systems of test machines differ, but what is read of the system is there.
    #[test]
    fn the_state_of_the_system_is_known() {
        assert!(dirty_kib() < u64::MAX);
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert!(release.split('.').next().is_some_and(|it| it.parse::<u32>().is_ok()), "{release}");
    }

    #[test]
    fn files_of_two_file_systems_are_flushed_one_by_one() {
        let memory = std::path::Path::new("/dev/shm");
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in(memory).unwrap());
        let mut all = files(&open(folder.path()), FEWEST);
        all.extend(files(&open(other.path()), FEWEST));
        assert!(!are_on_one(&all.iter().collect::<Vec<_>>()).unwrap());
        // The one in memory is known.
        assert!(are_on_one(&all.iter().skip(FEWEST).collect::<Vec<_>>()).unwrap());
    }
}
