//! Invariant 3 in system calls (SPEC §3, §8): the intent of a step is flushed before the first change in the
//! workspace, a new content is flushed before it is put in place, and there are no more flushes than
//! necessary.
//!
//! `strace` logs every system call of the real program. Every call that names the workspace counts as a change
//! unless it is on the list of reading calls, so that none is missed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::batch;
use crate::harness::home::{Done, Home, PROGRAM};
use crate::harness::{create_file, read_file};

/// Calls that change nothing whatever their arguments are.
const READING_CALLS: [&str; 24] = [
    "access",
    "close",
    "execve",
    "faccessat",
    "faccessat2",
    "fcntl",
    "fgetxattr",
    "flistxattr",
    "fstat",
    "fstatfs",
    "getcwd",
    "getdents64",
    "lseek",
    "lstat",
    "mmap",
    "newfstatat",
    "poll",
    "pread64",
    "read",
    "readlink",
    "readlinkat",
    "stat",
    "statfs",
    "statx",
];

/// Flags with which opening a file may change something.
const OPENS_TO_WRITE: [&str; 4] = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];

/// One system call: its name and everything after it.
struct Call<'a> {
    name: &'a str,
    rest: &'a str,
}

impl<'a> Call<'a> {
    /// Parses a line of the trace: process, name, arguments. `None` for other lines, such as an exit.
    fn read(line: &'a str) -> Option<Self> {
        let (_, line) = line.split_once(' ')?;
        let (name, rest) = line.trim_start().split_once('(')?;
        (!line.trim_start().starts_with("---")).then_some(Self { name, rest })
    }

    /// The file of the first argument.
    fn file(&self) -> Option<&'a str> {
        let (_, path) = self.rest.split_once('<')?;
        Some(path.split_once('>')?.0)
    }

    fn is_reading(&self) -> bool {
        let opens = self.name.starts_with("open")
            && !OPENS_TO_WRITE.iter().any(|flag| self.rest.contains(flag));
        READING_CALLS.contains(&self.name) || opens
    }

    /// Whether an argument is a path below this folder. The data of a write does not count.
    fn is_in(&self, folder: &Path) -> bool {
        let about = if matches!(self.name, "write" | "writev" | "pwrite64" | "pwritev") {
            self.file().unwrap_or_default()
        } else {
            self.rest
        };
        about.contains(folder.to_str().unwrap())
    }

    fn succeeded(&self) -> bool {
        self.rest.rsplit_once(" = ").is_some_and(|(_, result)| !result.starts_with('-'))
    }

    fn is_flush(&self) -> bool {
        matches!(self.name, "fsync" | "fdatasync")
    }
}

/// The changes and flushes of a run as words, in order.
struct Trace {
    home: Home,
    words: Vec<String>,
}

impl Trace {
    /// Runs the plan under `strace` and asserts the exit code.
    fn of(home: Home, steps: Value, exit: i32) -> Self {
        home.plan(steps);
        Self::of_plan(home, exit)
    }

    /// As [`Self::of`], with the existing plan file.
    fn of_plan(home: Home, exit: i32) -> Self {
        let log = home.path().join("trace");
        let options = ["-f", "-y", "-qq", "-s", "65536", "-o", log.to_str().unwrap()];
        let mut command = home.command_of("strace");
        // The log has a thread of its own.
        command.env("COUNTERSIGN_LOG", "off");
        command.args(options).arg(PROGRAM);
        command.args(["run", "space/p.json", "--yes", "--json", "--evidence"]).arg(home.evidence());
        // `Done::of` could not say what to install.
        let output = command.output().expect("strace; install it, or run packaging/test.sh");
        let done = Done::read(output);
        let trace = fs::read(&log).unwrap_or_default();
        assert!(!trace.is_empty(), "strace may not trace here: {done:#?}");
        let done = done.exits(exit);
        let trace = String::from_utf8(trace).unwrap();
        let document = done.document();
        let results = document["step_results"].as_array().into_iter().flatten();
        let ids: Vec<&str> = results.map(|step| step["execution_id"].as_str().unwrap()).collect();
        let words = words(&trace, &home, &ids);
        Self { home, words }
    }

    /// The words of one step: from its first record to the first record of the next.
    fn of_step(&self, step: usize) -> Vec<&str> {
        let begins = |step: usize| {
            let first = format!("write step {step}");
            self.words.iter().position(|word| *word == first)
        };
        let begin = begins(step).expect("the step is written down");
        let end = begins(step + 1).unwrap_or(self.words.len());
        self.words[begin..end].iter().map(String::as_str).collect()
    }
}

/// Every change in the workspace and every write and flush of the evidence. The first write that contains the id of
/// an execution is named `write step N`.
fn words(trace: &str, home: &Home, ids: &[&str]) -> Vec<String> {
    let space = fs::canonicalize(home.file("")).unwrap();
    let evidence = fs::canonicalize(home.evidence()).unwrap();
    let mut announced = vec![false; ids.len()];
    let mut words: Vec<String> = Vec::new();
    for line in trace.lines() {
        assert!(!line.contains("<unfinished"), "calls of two threads at once: {line}");
        let Some(call) = Call::read(line) else { continue };
        let log = call.file().is_some_and(|file| file.ends_with("execution_log.db-wal"));
        let word = if log && call.name.starts_with("pwrite") {
            let first = ids
                .iter()
                .zip(&mut announced)
                .enumerate()
                .find(|(_, (id, announced))| !**announced && call.rest.contains(**id));
            match first {
                Some((step, (_, announced))) => {
                    *announced = true;
                    // Other pages of the same commit may be written first.
                    while words.last().is_some_and(|last| last == "write") {
                        words.pop();
                    }
                    format!("write step {step}")
                }
                None => "write".to_owned(),
            }
        } else if log && call.is_flush() {
            "flush".to_owned()
        } else if call.is_flush() && call.is_in(&evidence) {
            format!("flush {}", call.file().unwrap_or_default())
        } else if call.is_in(&space) && !call.is_reading() {
            assert!(call.succeeded(), "{line}");
            describe_change(&call, &space, ids)
        } else {
            continue;
        };
        let more = word == "write" && words.last().is_some_and(|last| last.starts_with("write"));
        if !more {
            words.push(word);
        }
    }
    words
}

/// A change in the workspace as words: the call and its file names. Temporary files are named by their step.
fn describe_change(call: &Call<'_>, space: &Path, ids: &[&str]) -> String {
    let mut rest = call.rest.replace(space.to_str().unwrap(), "space");
    for (step, id) in ids.iter().enumerate() {
        rest = rest.replace(&format!(".countersign-{id}"), &format!("temporary-{step}"));
    }
    let quoted = rest.split('"').skip(1).step_by(2);
    let file = rest.split_once('<').and_then(|(_, path)| path.split_once('>')).map(|it| it.0);
    let names: Vec<&str> = match call.name {
        "write" | "fsync" | "fdatasync" | "fchmod" => file.into_iter().collect(),
        _ => file.into_iter().chain(quoted).collect(),
    };
    format!("{} {}", call.name, names.join(" "))
}

#[test]
fn invariant_3_intent_is_flushed_before_its_effect() {
    let home = Home::new();
    home.write("old.txt", "old\n");
    let steps = json!([
        create_file("new", "new.txt", "1\n"),
        create_file("deep", "a/b/new.txt", "2\n"),
        {"step_id": "write", "tool": "file_write",
         "arguments": {"path": "old.txt", "contents": "3\n"}},
        read_file("read", "old.txt"),
        {"step_id": "last", "tool": "file_write",
         "arguments": {"path": "made.txt", "contents": "4\n"}},
    ]);
    let trace = Trace::of(home, steps, 0);
    assert_eq!(fs::read(trace.home.file("a/b/new.txt")).unwrap(), b"2\n");
    let first = trace.words.iter().position(|word| word == "write step 0").unwrap();
    let before = &trace.words[..first];
    assert!(before.iter().all(|word| !word.contains(" space")), "nothing before: {before:#?}");
    // Three flushes for an effect, and one more for each new folder. The outcome is flushed with the next intent, and
    // before a step without an intent.
    assert_eq!(
        trace.of_step(0),
        [
            "write step 0",
            "flush",
            "openat2 space temporary-0",
            "write space/temporary-0",
            "fsync space/temporary-0",
            "renameat2 space temporary-0 new.txt",
            "fsync space",
        ]
    );
    assert_eq!(
        trace.of_step(1),
        [
            "write step 1",
            "flush",
            "mkdirat space a",
            "mkdirat space/a b",
            "fsync space",
            "fsync space/a",
            "openat2 space/a/b temporary-1",
            "write space/a/b/temporary-1",
            "fsync space/a/b/temporary-1",
            "renameat2 space/a/b temporary-1 new.txt",
            "fsync space/a/b",
        ]
    );
    assert_eq!(
        trace.of_step(2),
        [
            "write step 2",
            "flush",
            "openat2 space temporary-2",
            "write space/temporary-2",
            "fchmod space/temporary-2",
            "fsync space/temporary-2",
            // An exchange of names, so that the old content can be compared before it is removed.
            "renameat2 space temporary-2 old.txt",
            "unlinkat space temporary-2",
            "fsync space",
            "write",
            "flush",
        ]
    );
    assert_eq!(
        trace.of_step(3),
        ["write step 3"],
        "a look is one commit, with no flush of its own"
    );
    let last = trace.of_step(4);
    assert_eq!(
        last[..9],
        [
            "write step 4",
            "flush",
            "openat2 space temporary-4",
            "write space/temporary-4",
            "fsync space/temporary-4",
            "renameat2 space temporary-4 made.txt",
            "fsync space",
            "write",
            "flush",
        ]
    );
    // The rest is the end of the run, which does not concern the workspace.
    assert!(last[9..].iter().all(|word| !word.contains(" space")), "{last:#?}");
}

/// In a batch every content is flushed before the first file changes, and every folder once after the last;
/// until then the old contents exist.
#[test]
fn invariant_3_batch_is_flushed_before_first_change() {
    let home = Home::new();
    home.write("a.txt", "old\n");
    home.write("from.txt", "moved\n");
    let edits = json!([
        { "op": "write", "path": "a.txt", "contents": "new\n" },
        { "op": "create", "path": "d/b.txt", "contents": "b\n" },
        { "op": "rename", "path": "from.txt", "to": "to.txt" },
    ]);
    home.write("p.json", batch(edits).to_string());
    let trace = Trace::of_plan(home, 0);
    let first = trace.words.iter().position(|word| word == "write step 0").unwrap();
    let before = &trace.words[..first];
    assert!(before.iter().all(|word| !word.contains(" space")), "nothing before: {before:#?}");
    let waiting = |name: &str| {
        let digest = countersign::plan::Digest::of(name.as_bytes()).short(16);
        format!("temporary-0-{digest}")
    };
    let [a, b, from, to] = ["a.txt", "b.txt", "from.txt", "to.txt"].map(waiting);
    let expected = [
        "write step 0".to_owned(),
        "flush".to_owned(),
        format!("openat2 space {a}"),
        format!("write space/{a}"),
        format!("fchmod space/{a}"),
        "mkdirat space d".to_owned(),
        format!("openat2 space/d {b}"),
        format!("write space/d/{b}"),
        format!("openat2 space {to}"),
        format!("write space/{to}"),
        format!("fchmod space/{to}"),
        format!("fsync space/{a}"),
        format!("fsync space/d/{b}"),
        format!("fsync space/{to}"),
        format!("renameat2 space {a} a.txt"),
        format!("renameat2 space/d {b} b.txt"),
        format!("renameat2 space from.txt {from}"),
        format!("renameat2 space {to} to.txt"),
        "fsync space".to_owned(),
        "fsync space/d".to_owned(),
        format!("unlinkat space {a}"),
        format!("unlinkat space {from}"),
        "write".to_owned(),
        "flush".to_owned(),
    ];
    assert_eq!(trace.of_step(0)[..expected.len()], expected);
}

/// When the evidence cannot be written, no system call changes the workspace.
#[test]
fn invariant_3_no_effect_without_intent() {
    let home = Home::new();
    home.plan(json!([read_file("look", "p.json")]));
    home.json(["run", "space/p.json", "--yes"]).exits(0);
    std::fs::write(home.evidence().join("execution_log.broken"), "intents").unwrap();
    let trace = Trace::of(home, json!([create_file("new", "a/new.txt", "1\n")]), 4);
    let changes: Vec<_> = trace.words.iter().filter(|word| word.contains(" space")).collect();
    assert_eq!(changes, Vec::<&String>::new());
    assert!(!trace.home.file("a").exists());
}
