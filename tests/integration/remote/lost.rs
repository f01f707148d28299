//! Commands whose outcome is not known, because the connection or the wrapper is gone (SPEC §7.3).

use std::time::Duration;

use countersign::remote::RemoteEnd;

use crate::harness::remote_session::{command, is_alive, run, run_and_then};
use crate::harness::sshd::Sshd;

#[test]
fn killed_connection_leaves_outcome_unknown() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let script = "echo $$; sleep 300";
    let (finished, lines) =
        run_and_then(&connection, &command(script), 1, |_| sshd.kill_connections());
    let RemoteEnd::Unknown { stop: None, reason } = &finished.end else { panic!("{finished:?}") };
    assert!(reason.starts_with("the connection was lost\n"), "{reason}");
    assert!(
        reason.contains("closed by remote host") || reason.contains("reset by peer"),
        "{reason}"
    );
    // The process group is still running.
    assert!(is_alive(&lines[0]));
    let after = run(&connection, "touch mark");
    assert!(matches!(after.end, RemoteEnd::Unknown { .. }), "{after:?}");
    assert!(!sshd.home().join("mark").exists(), "no other connection was made");
    assert_eq!(sshd.logged("Connection from"), 1);
    let id = rustix::process::Pid::from_raw(lines[0].parse().unwrap()).unwrap();
    rustix::process::kill_process_group(id, rustix::process::Signal::KILL).unwrap();
}

#[test]
#[ignore = "waits until the client's keepalives have found out"]
fn silent_host_is_noticed() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let (finished, lines) =
        run_and_then(&connection, &command("echo $$; sleep 300"), 1, |_| sshd.halt_connections());
    let RemoteEnd::Unknown { stop: None, reason } = &finished.end else { panic!("{finished:?}") };
    assert!(reason.starts_with("the connection was lost\n"), "{reason}");
    assert!(reason.contains("not responding"), "{reason}");
    assert!(finished.duration < Duration::from_secs(30), "{:?}", finished.duration);
    let id = rustix::process::Pid::from_raw(lines[0].parse().unwrap()).unwrap();
    rustix::process::kill_process_group(id, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn unended_group_leaves_outcome_unknown() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    // The connection is closed when the stop comes, so the host cannot be asked to end the command.
    let (finished, lines) = run_and_then(&connection, &command("echo $$; sleep 300"), 1, |stop| {
        sshd.kill_connections();
        stop.set();
    });
    assert!(matches!(finished.end, RemoteEnd::Unknown { .. }), "{finished:?}");
    let id = rustix::process::Pid::from_raw(lines[0].parse().unwrap()).unwrap();
    rustix::process::kill_process_group(id, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn killed_wrapper_leaves_outcome_unknown() {
    let sshd = Sshd::start();
    let connection = sshd.open().unwrap();
    let finished = run(&connection, "kill -KILL $PPID; sleep 0.1; kill -KILL 0");
    let RemoteEnd::Unknown { stop: None, reason } = &finished.end else { panic!("{finished:?}") };
    assert_eq!(reason, "the host did not confirm that the command has left no process");
    assert_eq!(run(&connection, "true").end, RemoteEnd::Exited(0));
}
