//! Commands on another host (SPEC §7.3).

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::time::Duration;

use countersign::process::Cause;
use countersign::remote::{RemoteCommand, RemoteEnd, known_target};
use countersign::run::StopSignal;
use countersign::run::Stream;
use proptest::prelude::*;

use crate::harness::remote_session::{command, is_alive, run, run_and_then, run_on, text};
use crate::harness::sshd::{Sshd, destination};

#[test]
fn host_is_identified_before_sending() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let host = connection.host();
    assert_eq!(host.target.destination, "loopback");
    assert_eq!(host.target.user, sshd.user());
    assert_eq!((host.target.host.as_str(), host.target.port), ("127.0.0.1", sshd.port()));
    assert_eq!(host.host_key, sshd.fingerprint("host_key"));
    assert_eq!(
        host.target,
        known_target(&sshd.client(), &destination(), &StopSignal::default()).unwrap()
    );
    assert_eq!(host.target.host_keys.len(), 1);
    assert!(host.target.covers(&sshd.fingerprint("host_key"), None), "{:?}", host.target);
    assert!(!host.target.covers(&sshd.fingerprint("other_key"), None), "{:?}", host.target);
    let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let (name, release) = (&host.system, system.trim());
    assert!(name.starts_with("Linux ") && name.contains(release), "{name}");
    assert!(host.bash.starts_with('/') && Path::new(&host.bash).is_file(), "{}", host.bash);
    assert!(host.bash_version.starts_with(|it: char| it.is_ascii_digit()), "{host:?}");
    assert_eq!(Path::new(&host.home), sshd.home());
    assert_eq!(host.said, "");
}

#[test]
fn outputs_and_code_come_back_unchanged() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let heard = RefCell::new((String::new(), String::new()));
    let hear = |stream: Stream, text: &str| {
        let mut heard = heard.borrow_mut();
        match stream {
            Stream::Stdout => heard.0.push_str(text),
            Stream::Stderr => heard.1.push_str(text),
        }
    };
    let script = r"printf 'a\377\303'; printf 'gr\303\274n' >&2; exit 7";
    let finished = run_on(&connection, &command(script), &StopSignal::default(), &hear);
    assert_eq!(finished.end, RemoteEnd::Exited(7));
    assert_eq!(finished.stdout, b"a\xff\xc3");
    assert_eq!(finished.stderr, "grün".as_bytes());
    assert_eq!(heard.into_inner(), ("a\u{fffd}\u{fffd}".to_owned(), "grün".to_owned()));
    assert!(finished.greeting.is_empty() && !finished.left_open);
}

/// Also where a shell would report the same number, as 143 for signal 15.
#[test]
fn exit_codes_and_signals_are_told_apart() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    for (script, end) in [
        ("true", RemoteEnd::Exited(0)),
        ("exit 1", RemoteEnd::Exited(1)),
        ("exit 125", RemoteEnd::Exited(125)),
        ("exit 143", RemoteEnd::Exited(143)),
        ("exit 255", RemoteEnd::Exited(255)),
        ("no-such-heron", RemoteEnd::Exited(127)),
        ("if", RemoteEnd::Exited(2)),
        ("kill -TERM $$", RemoteEnd::Signalled(15)),
        ("kill -INT $$", RemoteEnd::Signalled(2)),
        ("kill -PIPE $$", RemoteEnd::Signalled(13)),
        ("kill -KILL $$", RemoteEnd::Signalled(9)),
        ("ulimit -c 0; kill -SEGV $$", RemoteEnd::Signalled(11)),
        ("sh -c 'kill -TERM $$'; exit $?", RemoteEnd::Exited(143)),
        ("(sleep 1; kill -CONT $$) & kill -STOP $$; exit 9", RemoteEnd::Exited(9)),
    ] {
        let finished = run(&connection, script);
        assert_eq!(finished.end, end, "{script}: {finished:?}");
        assert!(finished.stdout.is_empty(), "{script}: {finished:?}");
    }
}

/// It has no input either.
#[test]
fn command_has_own_group_and_no_terminal() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let script = "read x; echo $?; (: </dev/tty) 2>/dev/null; echo $?; ps -o pid=,pgid= -p $$; \
                  echo $PPID; echo $-; for fd in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; \
                  echo none";
    let finished = run(&connection, script);
    let lines: Vec<_> = text(&finished.stdout).lines().collect();
    assert_eq!(lines[0], "1", "the input is at its end");
    assert_ne!(lines[1], "0", "there is no terminal to ask on");
    let ids: Vec<_> = lines[2].split_whitespace().collect();
    assert_eq!(ids[0], ids[1], "it leads its group");
    assert_ne!(ids[0], lines[3], "the wrapper is another process");
    assert!(!lines[4].contains('m'), "the command's own shell has no job control: {}", lines[4]);
    assert_eq!(lines[5..], ["none"], "nothing but its input and outputs is open");
}

#[test]
fn command_runs_in_its_folder() {
    let sshd = Sshd::start();
    fs::create_dir_all(sshd.home().join("a b'c/-/$(x)")).unwrap();
    let connection = sshd.open().unwrap();
    let pwd = |folder: Option<&str>| {
        let command = RemoteCommand { folder, ..command("pwd -P") };
        run_on(&connection, &command, &StopSignal::default(), &|_, _| {})
    };
    let home = fs::canonicalize(sshd.home()).unwrap();
    let absolute = home.join("a b'c").to_str().unwrap().to_owned();
    for (folder, wanted) in [
        (None, ""),
        (Some(""), ""),
        (Some("~"), ""),
        (Some("a b'c"), "a b'c"),
        (Some("~/a b'c/-"), "a b'c/-"),
        (Some("a b'c/-/$(x)"), "a b'c/-/$(x)"),
        (Some(absolute.as_str()), "a b'c"),
    ] {
        let finished = pwd(folder);
        let wanted = home.join(wanted);
        let wanted = wanted.to_str().unwrap().trim_end_matches('/');
        assert_eq!(text(&finished.stdout).trim_end_matches('\n'), wanted, "{folder:?}");
    }
    let finished = pwd(Some("no such folder"));
    let RemoteEnd::NotBegun(said) = &finished.end else { panic!("{finished:?}") };
    assert!(said.contains("no such folder") && said.contains("No such file"), "{said}");
    let finished = pwd(Some("-"));
    assert!(matches!(finished.end, RemoteEnd::NotBegun(_)), "not the folder before: {finished:?}");
}

#[test]
fn command_with_a_nul_is_not_sent() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let sessions = sshd.logged("Starting session");
    let finished = run(&connection, "echo a\0b");
    let why = "a command and its folder cannot have a NUL in them".to_owned();
    assert_eq!(finished.end, RemoteEnd::NotBegun(why));
    run(&connection, "true");
    sshd.wait_for("Starting session", sessions + 1);
    assert_eq!(sshd.logged("Starting session"), sessions + 1);
}

#[test]
fn any_command_text_arrives_unchanged() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    // The shell's own arguments: this command only.
    let arrived = |word: &str| {
        let script = format!("# {word}\ntr '\\0' '\\n' </proc/$$/cmdline");
        let finished = run(&connection, &script);
        (finished, script)
    };
    let words = prop_oneof![
        "[ -~]{0,40}",
        "['\"\\\\$`!\n\r\t]{0,20}",
        any::<String>().prop_map(|text| text.replace('\0', "")),
        "(%s|\\\\n|\\$\\(|'|\u{202e}|é|countersign-|\u{1b}\\[31m){0,12}",
    ];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: ProptestConfig::default().cases.min(48),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let checked = runner.run(&words, |word| {
        // Text in a comment may have no second line, or it would run.
        let (finished, script) = arrived(&word.replace('\n', " "));
        prop_assert_eq!(&finished.end, &RemoteEnd::Exited(0), "{:?}", finished);
        let given = String::from_utf8(finished.stdout).unwrap();
        let wanted = format!("\n--noprofile\n--norc\n-c\n{script}\n");
        prop_assert!(given.ends_with(&wanted), "{:?} is not the end of {:?}", wanted, given);
        Ok(())
    });
    checked.unwrap();
    // Text between quotes, newlines included.
    let finished = run(&connection, "printf %s 'a\n b\\n\"$HOME\" !! \u{1}\u{7f}'");
    assert_eq!(text(&finished.stdout), "a\n b\\n\"$HOME\" !! \u{1}\u{7f}");
    // Nearly the longest argument that the system allows.
    let long = format!("printf %s '{}' | wc -c", "é".repeat(60_000));
    assert_eq!(text(&run(&connection, &long).stdout).trim(), "120000");
}

#[test]
fn the_timeout_ends_the_whole_group_there() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let script = "echo $$; sleep 300 & echo $!; (trap '' TERM; echo $BASHPID; while :; do sleep 1; done) & \
                  echo late; wait";
    let command = RemoteCommand { timeout: Duration::from_millis(1500), ..command(script) };
    let finished = run_on(&connection, &command, &StopSignal::default(), &|_, _| {});
    assert_eq!(finished.end, RemoteEnd::Ended(Cause::TimedOut));
    let lines: Vec<_> = text(&finished.stdout).lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for id in lines.iter().filter(|line| **line != "late") {
        assert!(!is_alive(id), "{id} of {lines:?}");
    }
    assert_eq!(run(&connection, "echo on").end, RemoteEnd::Exited(0), "the connection lives on");
    assert_eq!(sshd.logged("Connection from"), 1);
}

#[test]
fn stop_asks_the_remote_command_first() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let script = "trap 'echo asked; exit 3' TERM; echo $$; while :; do sleep 0.1; done";
    let (finished, lines) = run_and_then(&connection, &command(script), 1, StopSignal::set);
    assert_eq!(finished.end, RemoteEnd::Ended(Cause::Stopped));
    assert!(lines.contains(&"asked".to_owned()), "its last output is captured: {lines:?}");
    assert!(!is_alive(&lines[0]));
    assert!(finished.duration < Duration::from_secs(20), "{:?}", finished.duration);
}

#[test]
fn a_stop_before_the_command_sends_nothing() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let stop = StopSignal::default();
    stop.set();
    let mark = sshd.home().join("mark");
    let script = format!("touch '{}'", mark.display());
    let finished = run_on(&connection, &command(&script), &stop, &|_, _| {});
    assert_eq!(finished.end, RemoteEnd::NotBegun("stopped before it was sent".to_owned()));
    assert!(!mark.exists());
}

#[test]
fn endless_output_is_cut_and_ended() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    // In the output that is cut: what is on the way elsewhere is lost when the client is ended.
    let command = RemoteCommand { output_limit: 100_000, ..command("echo $$; yes") };
    let finished = run_on(&connection, &command, &StopSignal::default(), &|_, _| {});
    assert_eq!(finished.end, RemoteEnd::Ended(Cause::TooMuch(Stream::Stdout)));
    assert_eq!(finished.stdout.len(), 100_000);
    let id = text(&finished.stdout).lines().next().unwrap();
    assert!(!is_alive(id));
}

#[test]
fn leftover_processes_do_not_delay_the_command() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let finished = run(&connection, "setsid sleep 300 & echo $!");
    assert_eq!(finished.end, RemoteEnd::Exited(0));
    assert!(finished.left_open);
    assert!(finished.duration < Duration::from_secs(60));
    let id = text(&finished.stdout).trim();
    assert!(is_alive(id), "it is left alone, as a shell would");
    assert_eq!(run(&connection, &format!("kill {id}")).end, RemoteEnd::Exited(0));
}

#[test]
fn banners_are_kept_apart_from_what_commands_print() {
    let folder = tempfile::tempdir().unwrap();
    let banner = folder.path().join("banner");
    let forged = "All use is recorded.\ndebug1: Server host key: ssh-ed25519 SHA256:forged\n";
    fs::write(&banner, forged).unwrap();
    let sshd = Sshd::with(&format!("Banner {}", banner.display()));
    let connection = sshd.open().unwrap();
    assert!(connection.host().said.contains("All use is recorded."), "{:?}", connection.host());
    assert_eq!(connection.host().host_key, sshd.fingerprint("host_key"));
    let finished = run(&connection, "echo out; echo err >&2");
    assert_eq!(
        (finished.stdout.as_slice(), finished.stderr.as_slice()),
        (&b"out\n"[..], &b"err\n"[..])
    );
}

#[test]
fn login_shell_output_is_not_the_command_output() {
    let sshd = Sshd::start();
    let noise = "echo Welcome; echo to here >&2; printf 'no end of line'\n";
    for name in [".bashrc", ".zshenv"] {
        fs::write(sshd.home().join(name), noise).unwrap();
    }
    let connection = sshd.open().unwrap();
    let finished = run(&connection, "echo out; echo err >&2; exit 4");
    assert_eq!(finished.end, RemoteEnd::Exited(4));
    assert_eq!(
        (finished.stdout.as_slice(), finished.stderr.as_slice()),
        (&b"out\n"[..], &b"err\n"[..])
    );
    let greeting = text(&finished.greeting);
    assert!(greeting.contains("Welcome") && greeting.contains("to here"), "{greeting:?}");
}

#[test]
fn login_shell_reading_input_leaves_command_unrun() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let thief = "head -c 700 >/dev/null\n";
    for name in [".bashrc", ".zshenv"] {
        fs::write(sshd.home().join(name), thief).unwrap();
    }
    let finished = run(&connection, &"touch mark\n".repeat(1000));
    let RemoteEnd::NotBegun(said) = &finished.end else { panic!("{finished:?}") };
    assert_eq!(said, "what was sent did not arrive whole");
    assert!(!sshd.home().join("mark").exists());
}

#[test]
fn command_reads_no_start_up_files() {
    let sshd = Sshd::start();
    for name in [".bashrc", ".bash_profile", ".profile"] {
        fs::write(sshd.home().join(name), "export SHADOW=1; ls() { echo shadowed; }\n").unwrap();
    }
    let connection = sshd.open().unwrap();
    let finished = run(&connection, "type -t ls; shopt -q login_shell; echo $?");
    assert_eq!(text(&finished.stdout), "file\n1\n");
}

#[test]
fn run_uses_one_connection_and_leaves_nothing() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    for count in 0..5 {
        let finished = run(&connection, &format!("echo {count}"));
        assert_eq!(text(&finished.stdout), format!("{count}\n"));
    }
    assert_eq!(sshd.logged("Connection from"), 1);
    assert_eq!(sshd.logged("Accepted publickey"), 1);
    assert_eq!(sshd.clients().len(), 1);
    drop(connection);
    assert_eq!(sshd.clients(), Vec::<String>::new());
    sshd.wait_for("Disconnected from user", 1);
}

#[test]
fn panic_ends_command_and_connection() {
    let sshd = Sshd::start();
    let printed = RefCell::new(String::new());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let connection = sshd.open().unwrap();
        assert_eq!(sshd.clients().len(), 1);
        let hear = |_: Stream, text: &str| {
            printed.borrow_mut().push_str(text);
            assert!(!printed.borrow().contains('\n'), "heard");
        };
        run_on(&connection, &command("echo $$; sleep 300"), &StopSignal::default(), &hear);
    }));
    assert!(caught.is_err());
    assert_eq!(sshd.clients(), Vec::<String>::new());
    assert!(!is_alive(printed.borrow().trim()));
}
