//! Real programs: what they print, how they end, and that nothing of them stays behind.

use std::cell::RefCell;
use std::fs::{self, OpenOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;

use tempfile::TempDir;

use super::running::absolute;
use super::*;

const LONG: Duration = Duration::from_secs(300);

/// A folder in which shell scripts run, with a pipe on which they can wait for ever.
struct Yard {
    folder: TempDir,
    stop: StopSignal,
}

impl Yard {
    fn new() -> Self {
        let yard = Self { folder: tempfile::tempdir().unwrap(), stop: StopSignal::default() };
        let made = yard.script("mkfifo fifo", LONG, u64::MAX, &|_, _| {});
        assert_eq!(made.exit_code, Some(0));
        yard
    }

    fn fifo(&self) -> PathBuf {
        self.folder.path().join("fifo")
    }

    fn script(
        &self,
        script: &str,
        timeout: Duration,
        output_limit: u64,
        output: &dyn Fn(Stream, &str),
    ) -> Finished {
        let program = Program {
            program: OsStr::new("sh"),
            arguments: &["-c", script],
            folder: self.folder.path(),
            environment: &[("HERON", "grey")],
            timeout,
            output_limit,
        };
        run(&program, &self.stop, output).unwrap()
    }

    fn run(&self, script: &str) -> Finished {
        self.script(script, LONG, u64::MAX, &|_, _| {})
    }

    /// Runs the script and stops it, from another thread, once it has printed so many lines. Gives
    /// them too.
    fn stopped_after(&self, script: &str, count: usize) -> (Finished, Vec<String>) {
        let printed = RefCell::new(String::new());
        let (ready, wait) = sync_channel(1);
        let finished = thread::scope(|scope| {
            scope.spawn(move || {
                wait.recv().unwrap();
                self.stop.set();
            });
            self.script(script, LONG, u64::MAX, &|_, text| {
                let before = printed.borrow().lines().count();
                printed.borrow_mut().push_str(text);
                if before < count && printed.borrow().matches('\n').count() >= count {
                    ready.try_send(()).unwrap();
                }
            })
        });
        (finished, printed.into_inner().lines().map(str::to_owned).collect())
    }
}

/// Whether a process is there and has not ended.
fn is_alive(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}

#[test]
fn the_outputs_are_kept_apart_and_exact_and_the_code_is_told() {
    let yard = Yard::new();
    let seen = RefCell::new((String::new(), String::new()));
    let script = r"printf 'a\377\303'; printf 'gr\303\274n %s' $HERON >&2; exit 7";
    let finished = yard.script(script, LONG, u64::MAX, &|stream, text| {
        let mut seen = seen.borrow_mut();
        match stream {
            Stream::Stdout => seen.0.push_str(text),
            Stream::Stderr => seen.1.push_str(text),
        }
    });
    assert_eq!((finished.exit_code, finished.signal), (Some(7), None));
    assert_eq!((finished.cause, finished.left_open), (Cause::Itself, false));
    assert_eq!(finished.stdout.bytes(), b"a\xff\xc3");
    assert_eq!(finished.stderr.bytes(), "grün grey".as_bytes());
    assert_eq!(seen.into_inner(), ("a\u{fffd}\u{fffd}".to_owned(), "grün grey".to_owned()));
}

#[test]
fn there_is_no_input_and_no_terminal() {
    let finished = Yard::new()
        .run("read x; echo $?; (: </dev/tty) 2>/dev/null; echo $?; ps -o pid=,pgid=,sid= -p $$");
    let text = String::from_utf8(finished.stdout.into_bytes()).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "1", "the input is at its end");
    assert_ne!(lines[1], "0", "there is no terminal to ask on");
    let ids: Vec<_> = lines[2].split_whitespace().collect();
    assert!(ids.len() == 3 && ids.iter().all(|id| *id == ids[0]), "it leads its group: {ids:?}");
}

#[test]
fn a_program_that_is_not_there_is_an_error_of_the_system() {
    let yard = Yard::new();
    let program = Program {
        program: OsStr::new("no-such-heron"),
        arguments: &[],
        folder: yard.folder.path(),
        environment: &[],
        timeout: LONG,
        output_limit: 1,
    };
    let error = run(&program, &yard.stop, &|_, _| {}).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_stop_ends_a_waiting_program_at_once() {
    let (finished, _) = Yard::new().stopped_after("echo ready; exec cat fifo", 1);
    assert_eq!(finished.cause, Cause::Stopped);
    assert_eq!((finished.exit_code, finished.signal), (None, Some(15)));
    assert!(finished.duration < GRACE, "it was not waited for: {:?}", finished.duration);
}

#[test]
fn a_stop_before_the_start_ends_it_too() {
    let yard = Yard::new();
    yard.stop.set();
    assert_eq!(yard.run("exec cat fifo").cause, Cause::Stopped);
}

#[test]
fn a_program_that_closed_its_outputs_is_waited_for_and_can_be_stopped() {
    let yard = Yard::new();
    let finished = thread::scope(|scope| {
        scope.spawn(|| {
            // Opens once the other end is open too.
            let pipe = OpenOptions::new().write(true).open(yard.fifo()).unwrap();
            yard.stop.set();
            drop(pipe);
        });
        yard.run("exec >/dev/null 2>&1; cat fifo; exec cat fifo")
    });
    assert_eq!(finished.cause, Cause::Stopped);
}

#[test]
fn a_program_that_does_not_hear_is_killed_after_the_grace() {
    let (finished, _) =
        Yard::new().stopped_after("trap '' TERM; echo ready; while :; do cat fifo; done", 1);
    assert_eq!((finished.cause, finished.signal), (Cause::Stopped, Some(9)));
    assert!(finished.duration >= GRACE, "it had its grace: {:?}", finished.duration);
}

#[cfg(target_os = "linux")]
#[test]
fn a_stop_reaches_those_who_left_the_group_their_parent_and_their_environment() {
    let (finished, ids) = Yard::new().stopped_after(
        "sh -c 'trap \"\" TERM; echo $$; cat fifo; cat fifo' &
         setsid sh -c 'echo $$; exec cat fifo' &
         (env -i setsid sh -c 'echo $$; exec cat fifo' &)
         (setsid sh -c '(setsid sh -c \"trap : TERM; echo \\$\\$; while :; do cat fifo; done\" &)' &)
         wait",
        4,
    );
    assert_eq!(finished.cause, Cause::Stopped);
    // After them the shell itself may say that one was terminated.
    let left: Vec<_> = ids[..4].iter().filter(|id| is_alive(id)).collect();
    assert!(left.is_empty(), "{left:?} of {ids:?}");
}

#[test]
fn the_timeout_ends_it_and_keeps_what_was_printed() {
    let finished = Yard::new().script(
        "echo before; exec cat fifo",
        Duration::from_millis(300),
        u64::MAX,
        &|_, _| {},
    );
    assert_eq!(finished.cause, Cause::TimedOut);
    assert_eq!(finished.stdout.bytes(), b"before\n");
}

#[test]
fn one_byte_more_than_the_limit_ends_it() {
    let yard = Yard::new();
    let finished = yard.script("exec yes", LONG, 100_001, &|_, _| {});
    assert_eq!(finished.cause, Cause::TooMuch(Stream::Stdout));
    assert_eq!(finished.stdout.bytes().len(), 100_001);
    let finished = yard.script("printf 12345; printf 1234 >&2", LONG, 5, &|_, _| {});
    assert_eq!((finished.cause, finished.exit_code), (Cause::Itself, Some(0)));
    let finished = yard.script("printf 123456 >&2", LONG, 5, &|_, _| {});
    assert_eq!(finished.cause, Cause::TooMuch(Stream::Stderr));
    assert_eq!(finished.stderr.bytes(), b"12345");
}

#[test]
fn output_faster_than_its_reader_is_kept_whole() {
    let bytes = RefCell::new(0);
    let finished = Yard::new().script(
        "head -c 33554432 /dev/zero & head -c 33554432 /dev/zero >&2; wait",
        LONG,
        u64::MAX,
        &|_, text| *bytes.borrow_mut() += text.len(),
    );
    let kept = [finished.stdout.bytes().len(), finished.stderr.bytes().len()];
    assert_eq!(kept, [32 << 20, 32 << 20]);
    assert_eq!(bytes.into_inner(), 64 << 20);
}

#[test]
fn what_still_holds_an_output_is_left_alone_after_a_normal_end() {
    let yard = Yard::new();
    let finished = yard.run("cat fifo & echo $!");
    assert_eq!((finished.cause, finished.exit_code), (Cause::Itself, Some(0)));
    assert!(finished.left_open);
    let id = String::from_utf8(finished.stdout.into_bytes()).unwrap();
    assert!(is_alive(id.trim()));
    // Opens because it is there, and ends it.
    drop(OpenOptions::new().write(true).open(yard.fifo()).unwrap());
}

#[test]
fn a_panic_of_the_caller_leaves_no_program_behind() {
    let yard = Yard::new();
    let id = RefCell::new(String::new());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        yard.script("echo $$; trap '' TERM; cat fifo; cat fifo", LONG, u64::MAX, &|_, text| {
            id.borrow_mut().push_str(text);
            assert!(!text.contains('\n'), "on purpose");
        })
    }));
    assert!(panicked.is_err());
    assert!(!is_alive(id.into_inner().trim()));
}

#[test]
fn what_a_program_starts_by_name_is_not_looked_for_in_its_folder() {
    let left = |paths: &str| absolute(OsStr::new(paths));
    assert_eq!(left(":.:bin:/usr/bin:../x:/bin"), Some("/usr/bin:/bin".into()));
    assert_eq!(left("."), None);
    assert_eq!(left(""), None);
    let paths = Yard::new().run("printf %s \"$PATH\"");
    assert!(String::from_utf8_lossy(paths.stdout.bytes()).split(':').all(|it| it.starts_with('/')));
}
