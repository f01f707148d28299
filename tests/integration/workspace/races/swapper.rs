//! The swapping process: this test binary, started with one test, which exchanges names until its stdin is
//! closed.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use uuid::Uuid;

/// The environment variable with the folder of the swaps, for the child process.
const FOLDER: &str = "SWAP_IN";
/// The environment variable with the pairs: one per line, separated by a colon.
const PAIRS: &str = "SWAP_PAIRS";
/// The child reports its count after this many swaps.
const REPORT: u64 = 1_000;

/// A process that exchanges names, until [`Swapper::stop`].
pub struct Swapper {
    child: Child,
    go: Option<ChildStdin>,
    counter: Arc<AtomicU64>,
    reader: std::thread::JoinHandle<()>,
}

impl Swapper {
    /// Starts the process; it waits for [`Swapper::go`].
    #[expect(clippy::disallowed_methods, reason = "it has to be another process")]
    pub fn start(folder: &Path, pairs: &[(&str, &str)]) -> Self {
        let lines: Vec<String> = pairs.iter().map(|(a, b)| format!("{a}:{b}")).collect();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "workspace::races::swapper::every_swap_is_counted_and_undone",
                "--nocapture",
            ])
            .env(FOLDER, folder)
            .env(PAIRS, lines.join("\n"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let counter = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&counter);
        let reader = std::thread::Builder::new().name("swaps".to_owned()).spawn(move || {
            for line in output.lines() {
                // The test harness of the child prints too.
                let line = line.unwrap();
                if let Some(swaps) = line.strip_prefix("swaps ") {
                    count.store(swaps.parse().unwrap(), Ordering::Relaxed);
                }
            }
        });
        Self { go: child.stdin.take(), child, counter, reader: reader.unwrap() }
    }

    /// Starts the swaps.
    pub fn go(&mut self) {
        self.go.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    /// The number of swaps reported so far.
    pub fn swaps(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    /// Ends the process with every name back in its place. Returns the number of swaps.
    pub fn stop(mut self) -> u64 {
        drop(self.go.take());
        assert!(self.child.wait().unwrap().success(), "the swapping process");
        self.reader.join().unwrap();
        self.counter.load(Ordering::Relaxed)
    }
}

/// Exchanges random pairs for random times until `stop`.
fn swap(folder: &Path, pairs: &[(PathBuf, PathBuf)], stop: impl Fn(u64) -> bool) -> u64 {
    let mut swaps = 0;
    let mut random = Uuid::new_v4().as_u64_pair().0 | 1;
    let mut below = |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % limit
    };
    while !stop(swaps) {
        let (here, there) = &pairs[usize::try_from(below(pairs.len() as u64)).unwrap()];
        // Mostly as long as the gap between two system calls, sometimes longer.
        let held = if below(200) == 0 { below(2_000_000) } else { below(30_000) };
        for pause in [held, below(30_000)] {
            let (here, there) = (folder.join(here), folder.join(there));
            renameat_with(CWD, here, CWD, there, RenameFlags::EXCHANGE).unwrap();
            swaps += 1;
            if swaps % REPORT == 0 {
                println!("swaps {swaps}");
            }
            let end = Instant::now() + Duration::from_nanos(pause);
            while Instant::now() < end {
                std::hint::spin_loop();
            }
        }
    }
    println!("swaps {swaps}");
    swaps
}

/// With [`FOLDER`] in the environment this is the swapping process itself; without it, a test of `swap`.
#[test]
fn every_swap_is_counted_and_undone() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let pairs = [("a".into(), "b".into())];
        let swaps = swap(folder.path(), &pairs, |swaps| swaps >= 1_001);
        assert_eq!(swaps, 1_002, "an exchange is always undone");
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"a");
        return;
    };
    let pairs: Vec<(PathBuf, PathBuf)> = std::env::var(PAIRS)
        .unwrap()
        .lines()
        .map(|line| line.split_once(':').unwrap())
        .map(|(a, b)| (a.into(), b.into()))
        .collect();
    let mut input = std::io::stdin();
    let mut first = [0; 3];
    if input.read_exact(&mut first).is_err() {
        println!("swaps 0");
        return;
    }
    let ended = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&ended);
    let waiting = std::thread::Builder::new().name("end".to_owned()).spawn(move || {
        input.read_to_end(&mut Vec::new()).unwrap();
        end.store(true, Ordering::Relaxed);
    });
    swap(Path::new(&folder), &pairs, |_| ended.load(Ordering::Relaxed));
    waiting.unwrap().join().unwrap();
}
