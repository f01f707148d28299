//! Attempts to reach out of the walls. Each is made three times: without walls, where it must succeed or counts
//! for nothing, and behind both levels. All of it happens in namespaces of its own, below mounts that are gone
//! afterwards, so that what succeeds harms nobody.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign::authorization::{StepWalls, WallLevel};
use countersign::plan::{Code, ToolCall};
use countersign::risk::Policy;
use countersign::tools::{Context, NoCapture, StopSignal, Toolbox, WallPlace};
use uuid::Uuid;

/// What nobody behind walls reads: in an own folder, and in the environment of this process.
const SECRET: &str = "HERON-SECRET";
/// What an attempt prints that the system itself let through.
const ESCAPED: &str = "ESCAPED";
/// Set where the attempts are made.
const INSIDE: &str = "COUNTERSIGN_TEST_INSIDE";
/// A variable of this program that no child is handed.
const KEY: &str = "COUNTERSIGN_MODEL_KEY";
/// Fewer attempts that succeed without walls would show too little.
const LEAST: usize = 40;

/// Who makes an attempt, and where it is known to succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// At both levels.
    Always,
    /// At level full alone: named in ARCHITECTURE.md.
    AtFull,
}
use Holds::{Always, AtFull};

/// What is tried: `T` stands for the program of this test's own attempts.
const ATTEMPTS: &[(&str, &str, Holds)] = &[
    // Files outside.
    ("write a file", "echo x > $OUT/file", Always),
    ("append to a file", "echo x >> $OUT/file", Always),
    ("create a file", "touch $OUT/new", Always),
    ("write through a link", "ln -s $OUT/file l; echo x > l", Always),
    ("create through a linked folder", "ln -s $OUT d; touch d/new", Always),
    ("write below /proc/self/root", "echo x > /proc/self/root$OUT/file", Always),
    ("write below /proc/self/cwd", "echo x > /proc/self/cwd/../out/file", Always),
    (
        "write in the folder of any process",
        "for p in /proc/[0-9]*; do touch $p/cwd/new; done",
        Always,
    ),
    (
        "write below the root of any process",
        "for p in /proc/[0-9]*; do echo x > $p/root$OUT/file; done",
        Always,
    ),
    ("reopen a descriptor for writing", "T reopen", Always),
    ("write a pipe that another reads", "echo x > $OUT/pipe", Always),
    ("remove a file", "rm $OUT/file", Always),
    ("take a file away", "mv $OUT/file mine", Always),
    ("put a file there", "touch mine; mv mine $OUT/new", Always),
    ("exchange two files", "T exchange", Always),
    ("link a file and cut it", "T hard-link", Always),
    ("cut a file", "T truncate", Always),
    ("open a file by its handle", "T handle", Always),
    ("make a folder", "mkdir $OUT/new", Always),
    ("remove a folder", "rmdir $OUT/folder", Always),
    ("make a link", "ln -s x $OUT/new", Always),
    ("make a pipe", "mkfifo $OUT/new", Always),
    ("make a socket", "T socket-file", Always),
    ("write shared memory", "echo x > $SHM/file", Always),
    ("change a mode", "chmod 600 $OUT/file", AtFull),
    ("change a mode by a descriptor", "T fchmod", AtFull),
    ("change an owner", "chown 4711 $OUT/file", AtFull),
    ("change times", "touch -d 2001-01-01 $OUT/file", AtFull),
    ("set an attribute", "T xattr", AtFull),
    // What may not even be read.
    ("read an own folder", "cat $HIDDEN/key", Always),
    ("read it below /proc/self/root", "cat /proc/self/root$HIDDEN/key", Always),
    (
        "read it below the root of any process",
        "for p in /proc/[0-9]*; do cat $p/root$HIDDEN/key; done",
        Always,
    ),
    ("read it by a hard link", "ln $HIDDEN/key k; cat k", Always),
    ("read it by a link", "ln -s $HIDDEN/key k; cat k", Always),
    (
        "read what any process has open",
        "for f in /proc/[0-9]*/fd/*; do [ -f $f ] && cat $f; done",
        Always,
    ),
    (
        "read the environment of any process",
        "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done",
        Always,
    ),
    ("read an inherited descriptor", "cat <&$INHERITED", Always),
    ("write in an own folder", "touch $HIDDEN/new", Always),
    ("remove from an own folder", "rm $HIDDEN/key", Always),
    ("replace an own folder", "mv $HIDDEN $HIDDEN.old", Always),
    // Read-only files of the workspace. Where a level can only compare, a change fails the step.
    ("write a hook", "echo x > .git/hooks/pre-commit", Always),
    ("write the repository's settings", "echo x >> .git/config", Always),
    ("write a hook elsewhere", "echo x > shared/pre-commit", Always),
    ("write included settings", "echo x >> included", Always),
    ("move the repository away", "mv .git gone; mkdir -p .git/hooks; touch .git/hooks/x", Always),
    ("write the commands of the workspace", "echo x >> countersign.toml", Always),
    (
        "replace the commands of the workspace",
        "cp countersign.toml c; mv c countersign.toml",
        Always,
    ),
    ("write the plan", "echo x >> plans/plan.json", Always),
    ("move the plan's folder", "mv plans gone; mkdir plans; echo x > plans/plan.json", Always),
    ("settings of a worktree come to be", "echo x > .git/config.worktree", Always),
    // Other processes.
    ("kill a process", "kill -9 $VICTIM", Always),
    ("stop a process", "kill -STOP $VICTIM", Always),
    ("kill by a handle", "T signal-handle", Always),
    ("kill a thread", "T signal-thread", Always),
    ("queue a signal", "T signal-queue", Always),
    ("have the system send a signal", "T signal-owner", Always),
    ("attach to a process", "T ptrace", Always),
    ("read the memory of a process", "T read-memory", Always),
    ("take a descriptor of a process", "T get-descriptor", Always),
    ("compare with a process", "T compare", Always),
    ("limit a process", "T limit", Always),
    ("slow a process down", "T priority", AtFull),
    ("bind a process to a processor", "T affinity", AtFull),
    ("write shared memory by number", "T shared-memory", Always),
    ("write a queue by number", "T message-queue", Always),
    (
        "outlive the run",
        "(env -i setsid sh -c 'sleep 4711 & wait' >/dev/null 2>&1 &); sleep 0.2",
        AtFull,
    ),
    // Networks and sockets.
    ("connect to a server", "exec 3<>/dev/tcp/127.0.0.1/$PORT", Always),
    ("send to a server", "echo x > /dev/udp/127.0.0.1/$PORT", Always),
    ("connect to the socket of a daemon", "T unix-stream", Always),
    ("send to the socket of a daemon", "T unix-datagram", Always),
    ("send by one of a pair", "T unix-pair", Always),
    ("send by one of a raw pair", "T unix-pair-raw", Always),
    ("connect to an abstract socket", "T abstract", Always),
    ("use io_uring", "T io-uring", Always),
    ("open a socket to the host", "T vsock", Always),
    ("open a socket of the kernel's ciphers", "T alg", Always),
    ("open a socket of packets", "T packet", Always),
    ("open a raw socket", "T raw", Always),
    ("open a socket of the kernel's audit", "T netlink", Always),
    // Namespaces, mounts, devices.
    ("make a user namespace", "T user-namespace", Always),
    ("make one with a child", "T clone-namespace", Always),
    ("make one past the filter", "T clone3", Always),
    ("make a namespace of names", "T names-namespace", Always),
    ("join the mounts of a process", "T join", Always),
    ("become root in a namespace", "unshare -Ur sh -c 'echo ESCAPED'", Always),
    ("mount the root anew", "T remount", Always),
    ("bind a folder", "mkdir m; mount --bind $OUT m && touch m/new", Always),
    ("open a new file system", "T new-mount", Always),
    ("open a tree of mounts", "T tree", Always),
    ("take a mount away", "T detach", Always),
    ("change the root", "T chroot", Always),
    ("make a device", "T device", Always),
    ("open the memory", "T memory-device", Always),
    ("write the kernel's log", "T log-device", Always),
    ("use ports of the machine", "T port-access", Always),
    ("type into a terminal", "T type-into-terminal", Always),
    // The computer.
    ("change the name of the computer", "T hostname", Always),
    ("change the domain of the computer", "T domain", Always),
    ("change its name by a file", "echo heron > /proc/sys/kernel/hostname", Always),
    (
        "change what a crash starts",
        "p=$(cat /proc/sys/kernel/core_pattern); echo \"$p\" > /proc/sys/kernel/core_pattern && echo ESCAPED",
        Always,
    ),
    ("make a control group", "mkdir $CGROUP/heron && rmdir $CGROUP/heron && echo ESCAPED", Always),
    ("set the clock", "T clock", Always),
    ("change the pace of the clock", "T clock-pace", Always),
    ("add a key", "T keys", Always),
    ("search for keys", "T key-search", Always),
    ("load into the kernel", "T bpf", Always),
    ("count events of the processor", "T perf", Always),
    ("handle faults of pages", "T faults", Always),
    ("watch all files", "T fanotify", Always),
    ("read the kernel's log", "T kernel-log", Always),
    ("use a capability", "T capability", Always),
    ("run a set-user-ID program", "$AS_OTHER", Always),
    ("hear of every call", "T listener", Always),
];

/// The places and processes of one attempt.
struct Yard {
    top: PathBuf,
    victim: Child,
    hits: Arc<AtomicBool>,
    shared: u32,
    level: WallLevel,
}

impl Yard {
    fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    fn new(base: &Path, number: usize, level: WallLevel) -> Self {
        let top = base.join(format!("{number}-{level}"));
        for folder in ["work/.git/hooks", "work/shared", "work/plans", "out/folder", "own", "shm"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        for (name, text) in [
            ("work/.git/HEAD", "ref: refs/heads/main\n"),
            ("work/.git/config", "[core]\n\thooksPath = shared\n[include]\n\tpath = ../included\n"),
            ("work/included", ""),
            ("work/countersign.toml", ""),
            ("work/plans/plan.json", "{}"),
            ("out/file", "original"),
            ("own/key", SECRET),
        ] {
            fs::write(top.join(name), text).unwrap();
        }
        #[expect(clippy::disallowed_methods, reason = "a process that nothing here may touch")]
        let victim = Command::new("sleep")
            .arg("4712")
            .current_dir(top.join("out"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { top, victim, hits: Arc::default(), shared: 4_711_000 + victim_number(), level }
    }

    /// Everything outside that an attempt must not change.
    fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path("out"), self.path("own"), self.path("shm")];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                found.insert(folder, "gone".to_owned());
                continue;
            };
            for entry in entries.flatten() {
                let (path, data) = (entry.path(), entry.metadata().unwrap());
                let text = if data.is_file() {
                    fs::read_to_string(&path).unwrap_or_default()
                } else {
                    String::new()
                };
                let attribute = attribute_of(&path);
                let state = format!(
                    "{text} {:o} {} {} {} {attribute}",
                    data.mode(),
                    data.uid(),
                    if data.is_dir() { 0 } else { data.mtime() },
                    data.ino(),
                );
                if data.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(path, state);
            }
        }
        found
    }

    /// What is read-only in the workspace.
    fn protected(&self) -> Vec<(PathBuf, Option<Vec<u8>>, u64)> {
        [
            ".git/config",
            ".git/config.worktree",
            ".git/hooks/pre-commit",
            ".git/hooks/x",
            "shared/pre-commit",
            "included",
            "countersign.toml",
            "plans/plan.json",
        ]
        .iter()
        .map(|name| {
            let path = self.path("work").join(name);
            let number = fs::metadata(&path).map_or(0, |data| data.ino());
            (path.clone(), fs::read(&path).ok(), number)
        })
        .collect()
    }

    /// What the victim is: its state, its priority, its processors and a limit.
    fn victim(&self) -> String {
        let read = |name: &str| {
            fs::read_to_string(format!("/proc/{}/{name}", self.victim.id())).unwrap_or_default()
        };
        let stat = read("stat");
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap_or_default().1.split(' ').collect();
        let state = fields.first().copied().unwrap_or("gone");
        // Asleep in whatever way is the same.
        let state = if matches!(state, "S" | "R" | "D") { "runs" } else { state };
        let status = read("status");
        let line = |text: &str, name: &str| {
            text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned()
        };
        [
            state.to_owned(),
            fields.get(16).copied().unwrap_or_default().to_owned(),
            line(&status, "Cpus_allowed:"),
            line(&read("limits"), "Max open files"),
        ]
        .join("; ")
    }

    /// Makes the attempt; what it reached, if anything.
    fn reaches(&self, command: &str) -> Option<String> {
        let (outside, protected, victim) = (self.outside(), self.protected(), self.victim());
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let domain = fs::read_to_string("/proc/sys/kernel/domainname").unwrap();
        let ran = self.run(command);
        let printed = ran.0;
        let mut reached = Vec::new();
        let mut check = |is_reached: bool, what: &str| {
            if is_reached {
                reached.push(what.to_owned());
            }
        };
        check(printed.contains(ESCAPED), "the system let it");
        check(printed.contains(SECRET), "a secret was printed");
        check(self.outside() != outside, "files outside");
        // A change that fails the step is no silent one: the level can do no more.
        check(
            self.protected() != protected && ran.1 != Some(Code::StoppedByWall),
            "read-only files",
        );
        check(self.victim() != victim, "another process");
        check(self.hits.load(Ordering::SeqCst), "a server");
        check(fs::read_to_string("/proc/sys/kernel/hostname").unwrap() != name, "the name");
        check(fs::read_to_string("/proc/sys/kernel/domainname").unwrap() != domain, "the domain");
        check(is_running("4711"), "it outlived the run");
        end_running("4711");
        (!reached.is_empty()).then(|| format!("{} ({printed})", reached.join(", ")))
    }

    /// What it printed, and the code that it failed with.
    fn run(&self, command: &str) -> (String, Option<Code>) {
        let out = self.path("out");
        // One number that both kinds of servers have free.
        let (tcp, udp, port) = std::iter::repeat_with(|| {
            let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = tcp.local_addr().unwrap().port();
            let udp = UdpSocket::bind(("127.0.0.1", port)).ok()?;
            Some((tcp, udp, port))
        })
        .find_map(|it| it)
        .unwrap();
        let stream = UnixListener::bind(out.join("stream")).unwrap();
        let datagram = UnixDatagram::bind(out.join("datagram")).unwrap();
        let name = format!("heron-{}", Uuid::new_v4());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let hidden_name = UnixListener::bind_addr(&address).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            out.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let mut pipe = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
            .open(out.join("pipe"))
            .unwrap();
        for listener in [&stream, &hidden_name] {
            listener.set_nonblocking(true).unwrap();
        }
        datagram.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        tcp.set_nonblocking(true).unwrap();
        // Not closed at the start of a program: as one that another library forgot.
        let inherited = fs::File::open(self.path("own/key")).unwrap();
        rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
        let variables = [
            ("OUT", out.display().to_string()),
            ("HIDDEN", self.path("own").display().to_string()),
            ("SHM", self.path("shm").display().to_string()),
            ("VICTIM", self.victim.id().to_string()),
            ("PORT", port.to_string()),
            ("ABSTRACT", name),
            ("SHARED", self.shared.to_string()),
            ("INHERITED", inherited.as_raw_fd().to_string()),
            ("MOUNTED", std::env::var("COUNTERSIGN_TEST_MOUNTED").unwrap_or_default()),
            ("CGROUP", "/sys/fs/cgroup/pids".to_owned()),
            ("AS_OTHER", std::env::var("COUNTERSIGN_TEST_AS_OTHER").unwrap()),
        ];
        let attempts = std::env::var("COUNTERSIGN_TEST_ATTEMPTS").unwrap();
        let exports: String =
            variables.iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect();
        let script =
            format!("{exports}T() {{ '{attempts}' \"$@\"; }}\n{{ T none\n{command}\n}} 2>&1");
        let shared = |what: &str| {
            #[expect(clippy::disallowed_methods, reason = "makes what an attempt is to reach")]
            let done = Command::new(&attempts)
                .arg(what)
                .env("SHARED", self.shared.to_string())
                .output()
                .unwrap();
            assert!(done.status.success(), "{what}: {done:?}");
        };
        shared("make-shared");
        let ran = self.invoke(&script);
        shared("remove-shared");
        // Whatever else it could not do: it did run.
        assert!(ran.0.contains("no attempt is called none"), "{command}: {ran:?}");
        let mut bytes = [0; 16];
        let hit = stream.accept().is_ok()
            || hidden_name.accept().is_ok()
            || datagram.recv(&mut bytes).is_ok()
            || tcp.accept().is_ok()
            || udp.recv(&mut bytes).is_ok()
            || pipe.read(&mut bytes).is_ok_and(|count| count > 0);
        self.hits.store(hit, Ordering::SeqCst);
        for name in ["stream", "datagram", "pipe"] {
            let _ = fs::remove_file(out.join(name));
        }
        ran
    }

    fn invoke(&self, script: &str) -> (String, Option<Code>) {
        let place = WallPlace {
            hidden: vec![self.path("own")],
            read_only: vec![self.path("work/plans/plan.json")],
            write: Vec::new(),
        };
        let toolbox = Toolbox::open(&self.path("work"), &Policy::default()).unwrap().walled(place);
        let printed = RefCell::new(String::new());
        let walls = StepWalls { level: self.level, ..StepWalls::default() };
        let context = Context {
            expected: &BTreeMap::new(),
            stop: &StopSignal::default(),
            execution_id: Uuid::new_v4(),
            output: &|_, text| printed.borrow_mut().push_str(text),
            capture: &NoCapture,
            walls: &walls,
        };
        let call = ToolCall::Shell {
            command: script.to_owned(),
            target: None,
            cwd: None,
            timeout_seconds: Some(20),
        };
        let invocation = toolbox.invoke(&call, &context);
        if let Some(error @ countersign::tools::ToolError::NotStarted { .. }) = &invocation.error {
            panic!("at {}: {error}", self.level);
        }
        let code = invocation.error.map(|error| error.code());
        drop(toolbox);
        (printed.into_inner(), code)
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn victim_number() -> u32 {
    use std::sync::atomic::AtomicU32;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The attribute that an attempt sets.
fn attribute_of(path: &Path) -> String {
    let mut value = [0_u8; 16];
    rustix::fs::lgetxattr(path, "user.heron", &mut value[..])
        .map_or(String::new(), |length| length.to_string())
}

/// The processes that sleep for this long.
fn running(seconds: &str) -> Vec<i32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            fs::read(entry.path().join("cmdline"))
                .is_ok_and(|line| line == format!("sleep\0{seconds}\0").into_bytes())
        })
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn is_running(seconds: &str) -> bool {
    !running(seconds).is_empty()
}

fn end_running(seconds: &str) {
    for id in running(seconds) {
        let id = rustix::process::Pid::from_raw(id).unwrap();
        let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    }
}

/// Makes every attempt at every level.
fn try_everything() {
    let base = PathBuf::from(std::env::var("COUNTERSIGN_TEST_BASE").unwrap());
    let mut counted = 0;
    let mut faults = Vec::new();
    for (number, (name, command, holds)) in ATTEMPTS.iter().enumerate() {
        let reached = |level| Yard::new(&base, number, level).reaches(command);
        if reached(WallLevel::None).is_none() {
            println!("not possible without walls: {name}");
            continue;
        }
        counted += 1;
        let (files, full) = (reached(WallLevel::Files), reached(WallLevel::Full));
        println!("{name}: files {}, full {}", files.is_some(), full.is_some());
        if let Some(what) = full {
            faults.push(format!("at full, {name}: {what}"));
        }
        match (holds, files) {
            (Always, Some(what)) => faults.push(format!("at files, {name}: {what}")),
            (AtFull, None) => println!("better than said at files: {name}"),
            _ => {}
        }
    }
    println!("{counted} attempts succeed without walls");
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    assert!(counted >= LEAST, "only {counted} attempts succeed without walls");
}

/// Where the attempts are made: private mounts, processes and names; nothing below them is the machine's own.
const OUTER: &str = r#"
set -eu
mount -t tmpfs tmpfs /mnt
mount -t tmpfs tmpfs /tmp
mkdir -m 777 /mnt/base /mnt/tools /mnt/mounted
chmod 1777 /tmp
mount -t tmpfs tmpfs /mnt/mounted
cat > /mnt/tools/attempts.c
gcc -w -o /mnt/tools/attempts /mnt/tools/attempts.c
printf '#include <stdio.h>\n#include <unistd.h>\nint main(void) { if (geteuid() == 4711) puts("ESCAPED"); return 0; }\n' > /mnt/tools/other.c
gcc -o /mnt/base/as-other /mnt/tools/other.c
chown 4711 /mnt/base/as-other && chmod 4755 /mnt/base/as-other
export COUNTERSIGN_TEST_AS_OTHER=/mnt/base/as-other
export COUNTERSIGN_TEST_ATTEMPTS=/mnt/tools/attempts COUNTERSIGN_TEST_BASE=/mnt/base
export COUNTERSIGN_TEST_MOUNTED=/mnt/mounted HOME=/mnt/base TMPDIR=/tmp
exec 9<"$TEST"
# The folder of this process is one that attempts may write in.
cd /mnt/base
exec $AS /proc/self/fd/9 --exact "$NAME" --nocapture --test-threads=1
"#;

/// Runs this test again in there, as root or as somebody else.
fn inside(name: &str, becomes: &str) {
    if std::env::var_os(INSIDE).is_some() {
        return try_everything();
    }
    let is_root = rustix::process::geteuid().is_root();
    #[expect(clippy::disallowed_methods, reason = "makes the namespaces around the test")]
    let mut command = Command::new("unshare");
    if !is_root {
        command.args(["--user", "--map-root-user"]);
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/walls/attempts.c");
    let done = command
        .args(["--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc", "--kill-child"])
        .args(["sh", "-c", OUTER])
        .stdin(fs::File::open(source).unwrap())
        .env("TEST", std::env::current_exe().unwrap())
        .env("NAME", name)
        .env("AS", becomes)
        .env(INSIDE, "1")
        .env(KEY, SECRET)
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
    println!("{out}");
}

#[test]
fn nothing_escapes_that_root_starts() {
    inside("walls::escape::nothing_escapes_that_root_starts", "");
}

#[test]
fn nothing_escapes_that_an_ordinary_user_starts() {
    let becomes = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    inside("walls::escape::nothing_escapes_that_an_ordinary_user_starts", becomes);
}
