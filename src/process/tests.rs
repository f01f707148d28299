//! Runs real programs: output, exit and cleanup. These tests are compiled and run once per wall level, which is
//! the end of the module's name.

use std::cell::{Cell, RefCell};
use std::fs::{self, OpenOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;

use tempfile::TempDir;

use super::supervise::supervise;
use super::walls::{RunWalls, WallPaths};
use super::{path, *};
use crate::authorization::{StepWalls, WallLevel};

const LONG: Duration = Duration::from_secs(300);

/// The wall level of this module.
fn level() -> WallLevel {
    let module = module_path!();
    [WallLevel::Files, WallLevel::Full]
        .into_iter()
        .find(|level| module.ends_with(&format!("_{level}")))
        .unwrap_or_default()
}

/// A folder in which shell scripts run, with a named pipe that they can wait on forever.
struct Fixture {
    folder: TempDir,
    stop: StopSignal,
    walls: RunWalls,
    step: StepWalls,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let walls = RunWalls::new(folder.path().canonicalize().unwrap(), WallPaths::default());
        let step = StepWalls { level: level(), ..StepWalls::default() };
        let fixture = Self { folder, stop: StopSignal::default(), walls, step };
        let made = fixture.script("mkfifo fifo", LONG, u64::MAX, &|_, _| {});
        assert_eq!(made.exit_code, Some(0));
        fixture
    }

    /// A plan command behind the walls of this module.
    fn profile(&self) -> Profile<'_> {
        Profile::Step(ProgramWalls { step: &self.step, run: &self.walls, write: &[] })
    }

    /// Whether the process is running that has this id in the script's pid namespace.
    fn is_alive(&self, id: &str) -> bool {
        if level() != WallLevel::Full {
            return is_alive(id);
        }
        // The test sees the process under another id.
        self.processes().iter().any(|outside| {
            let status = fs::read_to_string(format!("/proc/{outside}/status")).unwrap_or_default();
            let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            numbers.is_some_and(|numbers| numbers.split_whitespace().last() == Some(id))
        })
    }

    fn fifo(&self) -> PathBuf {
        self.folder.path().join("fifo")
    }

    /// Runs the script in `sh` with these limits.
    fn script(
        &self,
        script: &str,
        timeout: Duration,
        output_limit: u64,
        output: &dyn Fn(Stream, &str),
    ) -> Finished {
        let program = Program {
            profile: self.profile(),
            program: OsStr::new("sh"),
            arguments: &["-c", script],
            input: None,
            folder: self.folder.path(),
            environment: &[("HERON", "grey")],
            unset: &[],
            leftovers: Leftovers::Stay,
            timeout,
            output_limit,
        };
        run(&program, &self.stop, output).unwrap()
    }

    /// The running processes whose working directory is this folder.
    fn processes(&self) -> Vec<String> {
        let folder = self.folder.path().canonicalize().unwrap();
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|id| is_alive(id))
            .collect()
    }

    /// Runs the script in `sh` without limits.
    fn run(&self, script: &str) -> Finished {
        self.script(script, LONG, u64::MAX, &|_, _| {})
    }

    /// Runs the script and stops it from another thread after it has printed this many lines. Also returns its lines.
    fn stopped_after(&self, script: &str, count: usize) -> (Finished, Vec<String>) {
        let (printed, seen) = (RefCell::new(String::new()), Cell::new(0));
        let (ready, wait) = sync_channel(1);
        let finished = thread::scope(|scope| {
            scope.spawn(move || {
                wait.recv().unwrap();
                self.stop.set();
            });
            self.script(script, LONG, u64::MAX, &|_, text| {
                printed.borrow_mut().push_str(text);
                // Only the new text is counted: counting all text each time would be slower than the output.
                let before = seen.get();
                seen.set(before + text.matches('\n').count());
                if before < count && seen.get() >= count {
                    ready.try_send(()).unwrap();
                }
            })
        });
        (finished, printed.into_inner().lines().map(str::to_owned).collect())
    }
}

/// Whether a process is running.
fn is_alive(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
    })
}

#[test]
fn outputs_stay_separate_and_exit_code_is_kept() {
    let fixture = Fixture::new();
    let seen = RefCell::new((String::new(), String::new()));
    let script = r"printf 'a\377\303'; printf 'gr\303\274n %s' $HERON >&2; exit 7";
    let finished = fixture.script(script, LONG, u64::MAX, &|stream, text| {
        let mut seen = seen.borrow_mut();
        match stream {
            Stream::Stdout => seen.0.push_str(text),
            Stream::Stderr => seen.1.push_str(text),
        }
    });
    assert_eq!((finished.exit_code, finished.signal), (Some(7), None));
    assert_eq!((finished.cause, finished.left_open), (None, false));
    assert_eq!(finished.stdout, b"a\xff\xc3");
    assert_eq!(finished.stderr, "grün grey".as_bytes());
    assert_eq!(seen.into_inner(), ("a\u{fffd}\u{fffd}".to_owned(), "grün grey".to_owned()));
}

#[test]
fn program_has_no_input_and_no_terminal() {
    let finished = Fixture::new()
        .run("read x; echo $?; (: </dev/tty) 2>/dev/null; echo $?; ps -o pid=,pgid=,sid= -p $$");
    let text = String::from_utf8(finished.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "1", "the input is at its end");
    assert_ne!(lines[1], "0", "there is no terminal to ask on");
    let ids: Vec<_> = lines[2].split_whitespace().collect();
    assert!(ids.len() == 3 && ids.iter().all(|id| *id == ids[0]), "it leads its group: {ids:?}");
}

#[test]
fn missing_program_is_a_system_error() {
    let fixture = Fixture::new();
    let program = Program {
        profile: fixture.profile(),
        program: OsStr::new("no-such-heron"),
        arguments: &[],
        input: None,
        folder: fixture.folder.path(),
        environment: &[],
        unset: &[],
        leftovers: Leftovers::Stay,
        timeout: LONG,
        output_limit: 1,
    };
    let error = run(&program, &fixture.stop, &|_, _| {}).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_stop_ends_a_waiting_program_at_once() {
    let (finished, _) = Fixture::new().stopped_after("echo ready; exec cat fifo", 1);
    assert_eq!(finished.cause, Some(Cause::Stopped));
    assert_eq!((finished.exit_code, finished.signal), (None, Some(15)));
    assert!(finished.duration < GRACE, "it was not waited for: {:?}", finished.duration);
}

#[test]
fn stop_before_the_start_ends_the_program() {
    let fixture = Fixture::new();
    fixture.stop.set();
    assert_eq!(fixture.run("exec cat fifo").cause, Some(Cause::Stopped));
}

#[test]
fn program_with_closed_outputs_can_be_stopped() {
    let fixture = Fixture::new();
    let finished = thread::scope(|scope| {
        scope.spawn(|| {
            // Blocks until the other end is open too.
            let pipe = OpenOptions::new().write(true).open(fixture.fifo()).unwrap();
            fixture.stop.set();
            drop(pipe);
        });
        fixture.run("exec >/dev/null 2>&1; cat fifo; exec cat fifo")
    });
    assert_eq!(finished.cause, Some(Cause::Stopped));
}

#[test]
fn program_ignoring_sigterm_is_killed_after_grace() {
    let (finished, _) =
        Fixture::new().stopped_after("trap '' TERM; echo ready; while :; do cat fifo; done", 1);
    assert_eq!((finished.cause, finished.signal), (Some(Cause::Stopped), Some(9)));
    assert!(finished.duration >= GRACE, "it had its grace: {:?}", finished.duration);
}

// They have left the session or their parent, or have an empty environment.
#[cfg(target_os = "linux")]
#[test]
fn stop_ends_descendants_outside_the_group() {
    let fixture = Fixture::new();
    let (finished, ids) = fixture.stopped_after(
        "sh -c 'trap \"\" TERM; echo $$; cat fifo; cat fifo' &
         setsid sh -c 'echo $$; exec cat fifo' &
         (env -i setsid sh -c 'echo $$; exec cat fifo' &)
         (setsid sh -c '(setsid sh -c \"trap : TERM; echo \\$\\$; while :; do cat fifo; done\" &)' &)
         wait",
        4,
    );
    assert_eq!(finished.cause, Some(Cause::Stopped));
    // The shell may print after the ids that a process was terminated.
    let left: Vec<_> = ids[..4].iter().filter(|id| fixture.is_alive(id)).collect();
    assert!(left.is_empty(), "{left:?} of {ids:?}");
}

#[test]
fn timeout_keeps_what_was_printed() {
    let finished = Fixture::new().script(
        "echo before; exec cat fifo",
        Duration::from_millis(300),
        u64::MAX,
        &|_, _| {},
    );
    assert_eq!(finished.cause, Some(Cause::TimedOut));
    assert_eq!(finished.stdout, b"before\n");
}

#[test]
fn output_over_the_limit_ends_the_program() {
    let fixture = Fixture::new();
    let finished = fixture.script("exec yes", LONG, 100_001, &|_, _| {});
    assert_eq!(finished.cause, Some(Cause::TooMuch(Stream::Stdout)));
    assert_eq!(finished.stdout.len(), 100_001);
    let finished = fixture.script("printf 12345; printf 1234 >&2", LONG, 5, &|_, _| {});
    assert_eq!((finished.cause, finished.exit_code), (None, Some(0)));
    let finished = fixture.script("printf 123456 >&2", LONG, 5, &|_, _| {});
    assert_eq!(finished.cause, Some(Cause::TooMuch(Stream::Stderr)));
    assert_eq!(finished.stderr, b"12345");
}

#[test]
fn output_faster_than_its_reader_is_kept_whole() {
    let bytes = RefCell::new(0);
    let finished = Fixture::new().script(
        "head -c 33554432 /dev/zero & head -c 33554432 /dev/zero >&2; wait",
        LONG,
        u64::MAX,
        &|_, text| *bytes.borrow_mut() += text.len(),
    );
    let kept = [finished.stdout.len(), finished.stderr.len()];
    assert_eq!(kept, [32 << 20, 32 << 20]);
    assert_eq!(bytes.into_inner(), 64 << 20);
}

#[test]
fn leftover_process_survives_a_normal_end() {
    let fixture = Fixture::new();
    let finished = fixture.run("cat fifo & echo $!");
    assert_eq!((finished.cause, finished.exit_code), (None, Some(0)));
    assert!(finished.left_open);
    let id = String::from_utf8(finished.stdout).unwrap();
    assert!(fixture.is_alive(id.trim()));
    // Opening succeeds while the other process lives, and writing ends it. At level full that process is
    // suspended until the next step.
    assert_eq!(fixture.run("echo > fifo").exit_code, Some(0));
}

#[test]
fn panic_of_the_caller_ends_the_program() {
    let fixture = Fixture::new();
    let id = RefCell::new(String::new());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        fixture.script("echo $$; trap '' TERM; cat fifo; cat fifo", LONG, u64::MAX, &|_, text| {
            id.borrow_mut().push_str(text);
            assert!(!text.contains('\n'), "on purpose");
        })
    }));
    assert!(panicked.is_err());
    assert!(!fixture.is_alive(id.into_inner().trim()));
}

#[test]
fn path_variable_has_only_absolute_folders() {
    let left = |paths: &str| path::trusted_path(OsStr::new(paths), &[]);
    assert_eq!(left(":.:bin:/usr/bin:../x:/bin"), Some("/usr/bin:/bin".into()));
    assert_eq!(left("."), None);
    assert_eq!(left(""), None);
    let paths = Fixture::new().run("printf %s \"$PATH\"");
    assert!(String::from_utf8_lossy(&paths.stdout).split(':').all(|it| it.starts_with('/')));
}

#[cfg(target_os = "linux")]
#[test]
fn stop_ends_processes_that_keep_forking() {
    // Each process keeps starting others that leave the session at once, some with an empty environment.
    let script =
        "leave() { while :; do (setsid sh -c 'exec cat fifo' &); (env -i setsid cat fifo &)
                 echo one; done; }
                 leave & leave & leave";
    for lines in 1..=40 {
        let fixture = Fixture::new();
        let (finished, _) = fixture.stopped_after(script, lines);
        assert_eq!(finished.cause, Some(Cause::Stopped));
        assert_eq!(fixture.processes(), [""; 0], "after {lines} lines");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn process_started_while_ending_is_ended() {
    let fixture = Fixture::new();
    let script =
        "trap '(setsid sh -c \"trap : TERM; cat fifo; cat fifo\" >/dev/null 2>&1 &); exit 3' TERM
                  echo ready; while :; do cat fifo; done";
    let (finished, _) = fixture.stopped_after(script, 1);
    assert_eq!(finished.cause, Some(Cause::Stopped));
    // On a busy computer the program may have no time to exit by itself; then it is killed.
    assert!(finished.exit_code == Some(3) || finished.signal == Some(9), "{finished:?}");
    assert_eq!(fixture.processes(), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn leftover_setting_decides_which_processes_stay() {
    let fixture = Fixture::new();
    let script = "cat fifo & (setsid sh -c 'cat fifo' >/dev/null 2>&1 &)
                  (setsid sh -c 'trap \"\" TERM; echo out; cat fifo; cat fifo' &) ; echo done";
    for leftovers in [Leftovers::End, Leftovers::Stay] {
        let program = Program {
            profile: fixture.profile(),
            program: OsStr::new("sh"),
            arguments: &["-c", script],
            input: None,
            folder: fixture.folder.path(),
            environment: &[],
            unset: &[],
            leftovers,
            timeout: LONG,
            output_limit: u64::MAX,
        };
        let finished = run(&program, &fixture.stop, &|_, _| {}).unwrap();
        assert_eq!((finished.cause, finished.exit_code), (None, Some(0)));
        assert!(String::from_utf8_lossy(&finished.stdout).contains("done\n"));
        let stay = leftovers == Leftovers::Stay;
        assert_eq!((finished.left_open, fixture.processes().is_empty()), (stay, !stay));
    }
    if level() == WallLevel::None {
        let left = fixture.processes();
        fixture.run(&format!("kill -9 {}", left.join(" ")));
    } else {
        // Processes left by a walled program are ended with its run, which reports them.
        let name = |id: &String| fs::read_to_string(format!("/proc/{id}/comm")).unwrap();
        let mut left: Vec<String> =
            fixture.processes().iter().map(|id| name(id).trim_end().to_owned()).collect();
        left.sort();
        assert!(left.contains(&"cat".to_owned()), "{left:?}");
        assert_eq!(fixture.walls.end(), left);
        assert_eq!(fixture.processes(), [""; 0]);
    }
}

/// Counts the bytes and lines it gets, and fails beyond its limit of bytes.
struct CountingCapture {
    bytes: Cell<u64>,
    lines: Cell<u64>,
    limit: u64,
    quiet_times: RefCell<Vec<Duration>>,
    on_quiet: Box<dyn Fn(usize)>,
}

impl CountingCapture {
    fn with_limit(limit: u64) -> Self {
        let (bytes, lines) = (Cell::new(0), Cell::new(0));
        Self { bytes, lines, limit, quiet_times: RefCell::default(), on_quiet: Box::new(|_| {}) }
    }
}

impl Capture for CountingCapture {
    fn keep(&self, _: Stream, bytes: &[u8]) -> bool {
        self.bytes.set(self.bytes.get() + bytes.len() as u64);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.lines.set(self.lines.get() + lines as u64);
        self.bytes.get() <= self.limit
    }

    fn quiet(&self, so_far: Duration) {
        self.quiet_times.borrow_mut().push(so_far);
        (self.on_quiet)(self.quiet_times.borrow().len());
    }
}

impl Fixture {
    fn streamed(
        &self,
        script: &str,
        limit: u64,
        capture: &CountingCapture,
    ) -> Finished<StreamEnds> {
        let program = Program {
            profile: self.profile(),
            program: OsStr::new("bash"),
            arguments: &["-c", script],
            input: None,
            folder: self.folder.path(),
            environment: &[],
            unset: &[],
            leftovers: Leftovers::Stay,
            timeout: LONG,
            output_limit: limit,
        };
        let io = ProcessIo { stop: &self.stop, output: &|_, _| {}, capture };
        supervise(&program, io, Duration::from_millis(30)).unwrap()
    }
}

// Many lines, one long line, control sequences, invalid UTF-8, and both streams at once.
#[test]
fn any_output_is_captured_whole() {
    const LIMIT: u64 = 2 << 30;
    for (script, bytes, lines) in [
        ("yes | head -n 10000000", 20_000_000, 10_000_000),
        ("head -c 104857600 /dev/zero | tr '\\0' x", 100 << 20, 0),
        (
            "for i in {1..2000}; do printf '\\e[2J\\e[H\\e[10A\\rheron %d\\e[K' $((i%10)); done",
            46_000,
            0,
        ),
        ("for i in {1..2000}; do printf '\\xff\\xc3\\x28\\n'; done", 8_000, 2_000),
        ("yes a | head -c 30000000 & yes b | head -c 30000000 >&2; wait", 60_000_000, 30_000_000),
    ] {
        let capture = CountingCapture::with_limit(LIMIT);
        let finished = Fixture::new().streamed(script, LIMIT, &capture);
        assert_eq!((finished.cause, finished.exit_code), (None, Some(0)), "{script}");
        assert_eq!((capture.bytes.get(), capture.lines.get()), (bytes, lines), "{script}");
        assert_eq!(finished.stdout.bytes() + finished.stderr.bytes(), bytes, "{script}");
    }
}

#[test]
fn failing_capture_ends_the_program() {
    let capture = CountingCapture::with_limit(1_000_000);
    let fixture = Fixture::new();
    let finished = fixture.streamed("trap '' TERM; yes", 2 << 30, &capture);
    assert_eq!((finished.cause, finished.signal), (Some(Cause::NotKept), Some(9)));
    let seen = capture.bytes.get();
    assert!((1_000_001..3_000_000).contains(&seen), "nothing is handed over afterwards: {seen}");
    assert!(fixture.processes().is_empty());
}

#[test]
fn each_silence_is_reported_once() {
    let fixture = Fixture::new();
    let fifo = fixture.fifo();
    let mut capture = CountingCapture::with_limit(u64::MAX);
    capture.on_quiet = Box::new(move |_| {
        let fifo = fifo.clone();
        let later = move || {
            // Long enough for a second notification, if there were one.
            let (_sender, nothing) = sync_channel::<()>(0);
            assert!(nothing.recv_timeout(Duration::from_millis(150)).is_err());
            drop(OpenOptions::new().write(true).open(fifo).unwrap());
        };
        thread::Builder::new().spawn(later).unwrap();
    });
    let finished = fixture.streamed("cat fifo; echo b; cat fifo", 100, &capture);
    assert_eq!((finished.cause, finished.exit_code), (None, Some(0)));
    let times = capture.quiet_times.into_inner();
    assert!(times.len() == 2 && times.iter().all(|it| it.as_millis() >= 30), "{times:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn uncooperative_program_leaves_no_processes() {
    // Ignores SIGTERM, forks twice, leaves the session and the environment, closes its outputs, and fills both
    // pipes with bytes that are not text, in lines that never end.
    let script = "trap '' TERM HUP INT
        (setsid bash -c \"trap '' TERM; (setsid bash -c 'trap \\\"\\\" TERM; cat fifo; cat fifo' &)\" >/dev/null 2>&1 &)
        (env -i /usr/bin/setsid cat fifo >/dev/null 2>&1 &)
        (trap '' TERM; while :; do printf '\\xff\\xfe\\e[2J%.0s' {1..500} >&2; done) &
        echo ready
        while :; do printf '\\xc3\\x28x%.0s' {1..500}; done";
    for (limit, timeout, wanted) in [
        (300_000, LONG, Cause::TooMuch(Stream::Stdout)),
        (u64::MAX, Duration::from_millis(700), Cause::TimedOut),
        (u64::MAX, LONG, Cause::Stopped),
    ] {
        let fixture = Fixture::new();
        let finished = if wanted == Cause::Stopped {
            fixture.stopped_after(script, 1).0
        } else {
            fixture.script(
                &format!("exec bash -c '{}'", script.replace('\'', "'\\''")),
                timeout,
                limit,
                &|_, _| {},
            )
        };
        match (finished.cause, wanted) {
            (Some(Cause::TooMuch(_)), Cause::TooMuch(_)) => {}
            (cause, wanted) => assert_eq!(cause, Some(wanted)),
        }
        assert_eq!(fixture.processes(), [""; 0], "{wanted:?}");
        assert!(!finished.left_open, "{wanted:?}");
    }
}

/// The search for nested repositories ends at a limit, and the walls report that.
#[test]
fn walls_report_a_workspace_too_large_to_search() {
    let fixture = Fixture::new();
    assert!(!fixture.run("true").walls.is_incomplete);
    for number in 0..=10_000 {
        fs::write(fixture.folder.path().join(number.to_string()), "").unwrap();
    }
    let finished = fixture.run("true");
    assert!(finished.is_success());
    assert_eq!(finished.walls.is_incomplete, level() != WallLevel::None);
}

/// Runs itself again with the key in its environment, and then searches the environments of all processes for it.
#[test]
fn no_process_inherits_the_model_key() {
    const MARK: &str = "key-that-no-process-gets-";
    if let Some(key) = std::env::var(MODEL_KEY).ok().filter(|key| key.starts_with(MARK)) {
        let fixture = Fixture::new();
        let (seen, ours) = (Cell::new(false), std::process::id().to_string());
        fixture.script("echo ready; read line < fifo", LONG, u64::MAX, &|_, _| {
            let holders = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
                let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
                String::from_utf8_lossy(&environment).contains(&key)
            });
            let names = holders.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let ids = names.filter(|name| name.parse::<u32>().is_ok());
            assert_eq!(ids.collect::<Vec<_>>().join(" "), ours);
            seen.set(true);
            fs::write(fixture.fifo(), "go on\n").unwrap();
        });
        assert!(seen.get());
        return;
    }
    let module = module_path!().split_once("::").unwrap().1;
    let again = bare_command(std::env::current_exe().unwrap().as_os_str())
        .args(["--exact", &format!("{module}::no_process_inherits_the_model_key")])
        .env(MODEL_KEY, format!("{MARK}{}", uuid::Uuid::new_v4()))
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && stdout.contains("1 passed"), "{stdout}");
}
