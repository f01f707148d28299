//! The surroundings of one attempt: files outside, a victim process and sockets, and checks of their state.

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

use super::{ESCAPED, SECRET};
use countersign::authorization::{StepWalls, WallLevel};
use countersign::plan::{Code, ToolCall};
use countersign::process::NoCapture;
use countersign::process::walls::WallPaths;
use countersign::risk::Policy;
use countersign::run::StopSignal;
use countersign::tools::{Context, Toolbox};
use uuid::Uuid;

/// The places and processes of one attempt.
pub struct Yard {
    pub top: PathBuf,
    pub victim: Child,
    pub hits: Arc<AtomicBool>,
    pub shared: u32,
    pub level: WallLevel,
}

impl Yard {
    pub fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    pub fn new(base: &Path, number: usize, level: WallLevel) -> Self {
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

    /// The state of everything outside the workspace.
    pub fn outside(&self) -> BTreeMap<PathBuf, String> {
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

    /// The state of the read-only paths in the workspace.
    pub fn protected(&self) -> Vec<(PathBuf, Option<Vec<u8>>, u64)> {
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

    /// The victim's state, priority, processors and one limit.
    pub fn victim(&self) -> String {
        let read = |name: &str| {
            fs::read_to_string(format!("/proc/{}/{name}", self.victim.id())).unwrap_or_default()
        };
        let stat = read("stat");
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap_or_default().1.split(' ').collect();
        let state = fields.first().copied().unwrap_or("gone");
        // All sleeping states are equal.
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

    /// Makes the attempt. Returns what it reached or changed outside its walls, if anything.
    pub fn reaches(&self, command: &str) -> Option<String> {
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
        // A change that fails the step is detected, which is all that this level promises.
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

    /// Runs a command. Returns its output and error code.
    pub fn run(&self, command: &str) -> (String, Option<Code>) {
        let out = self.path("out");
        // A port that is free for both protocols.
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
        // Not close-on-exec, like a descriptor that a library leaked.
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
        // Asserts that the attempt ran at all.
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

    pub fn invoke(&self, script: &str) -> (String, Option<Code>) {
        let place = WallPaths {
            hidden: vec![self.path("own")],
            read_only: vec![self.path("work/plans/plan.json")],
            write: Vec::new(),
        };
        let toolbox =
            Toolbox::open(&self.path("work"), &Policy::default()).unwrap().with_walls(place);
        let printed = RefCell::new(String::new());
        let walls = StepWalls { level: self.level, ..StepWalls::default() };
        let context = Context {
            expected: &BTreeMap::new(),
            stop: &StopSignal::default(),
            execution_id: Uuid::new_v4(),
            output: &|_, text| printed.borrow_mut().push_str(text),
            capture: &NoCapture,
            walls: &walls,
            terminal: None,
        };
        let call = ToolCall::Shell {
            command: script.to_owned(),
            target: None,
            cwd: None,
            timeout_seconds: Some(20),
            inputs: Vec::new(),
        };
        let invocation = toolbox.invoke(&call, &context);
        let error = invocation.error.as_ref().and_then(countersign::tools::ToolError::get);
        if let Some(error @ countersign::process::ProcessError::NotStarted { .. }) = error {
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

pub fn victim_number() -> u32 {
    use std::sync::atomic::AtomicU32;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The extended attribute that an attempt sets.
pub fn attribute_of(path: &Path) -> String {
    let mut value = [0_u8; 16];
    rustix::fs::lgetxattr(path, "user.heron", &mut value[..])
        .map_or(String::new(), |length| length.to_string())
}

/// The ids of the processes `sleep SECONDS`.
pub fn running(seconds: &str) -> Vec<i32> {
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

pub fn is_running(seconds: &str) -> bool {
    !running(seconds).is_empty()
}

pub fn end_running(seconds: &str) {
    for id in running(seconds) {
        let id = rustix::process::Pid::from_raw(id).unwrap();
        let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    }
}
