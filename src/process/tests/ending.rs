//! The end of a program and of the processes that it started.

use super::*;

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
