//! Unreachable, unknown and unusable hosts: no command is sent to them (SPEC §7.3).

use std::fs;
use std::path::Path;
use std::thread;

use countersign::plan::{Code, Destination};
use countersign::remote::{Connection, RemoteError, SshClient, check_target, known_target};
use countersign::run::StopSignal;
use countersign::run::{ErrorInfo as _, TargetState};

use crate::harness::sshd::{Sshd, destination};

fn failed(sshd: &Sshd) -> RemoteError {
    let error = sshd.open().unwrap_err();
    assert_eq!(error.code(), Code::HostUnreachable, "{error}");
    assert_eq!(sshd.logged("Starting session"), 0, "nothing was sent");
    error
}

#[test]
fn an_unknown_key_stops_before_anything_is_sent() {
    let sshd = Sshd::start();
    sshd.forget();
    let error = failed(&sshd);
    let RemoteError::UnknownKey { host_key, messages, .. } = &error else { panic!("{error}") };
    assert_eq!(host_key.as_deref(), Some(sshd.fingerprint("host_key").as_str()));
    assert!(messages.ends_with("Host key verification failed."), "{messages}");
    assert!(error.to_string().contains(messages), "OpenSSH's own words");
    assert_eq!(sshd.logged("Accepted"), 0);
}

#[test]
fn ssh_settings_cannot_accept_unknown_keys() {
    let sshd = Sshd::start();
    sshd.forget();
    sshd.settle(
        "StrictHostKeyChecking no\nNoHostAuthenticationForLocalhost yes\nBatchMode no\n\
         UpdateHostKeys yes",
    );
    assert!(matches!(failed(&sshd), RemoteError::UnknownKey { .. }));
}

#[test]
fn a_changed_key_stops_before_anything_is_sent() {
    let sshd = Sshd::start();
    sshd.know("other_key");
    let error = failed(&sshd);
    let RemoteError::ChangedKey { host_key, messages, .. } = &error else { panic!("{error}") };
    assert_eq!(host_key.as_deref(), Some(sshd.fingerprint("host_key").as_str()));
    assert!(messages.contains("WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!"), "{messages}");
    assert_eq!(sshd.logged("Accepted"), 0);
}

#[test]
fn refused_user_key_stops_before_sending() {
    let sshd = Sshd::start();
    let other = sshd.config().with_file_name("other_key");
    sshd.settle(&format!("IdentityFile {}", other.display()));
    fs::remove_file(sshd.config().with_file_name("authorized_keys")).unwrap();
    let error = failed(&sshd);
    let RemoteError::Refused { messages, .. } = &error else { panic!("{error}") };
    assert!(messages.contains("Permission denied (publickey)"), "{messages}");
}

#[test]
fn a_closed_port_is_not_reached() {
    let sshd = Sshd::start();
    sshd.settle("Host loopback\nPort 1");
    let error = failed(&sshd);
    let RemoteError::Unreachable { messages, .. } = &error else { panic!("{error}") };
    assert!(messages.contains("Connection refused"), "{messages}");
}

#[test]
fn silent_host_does_not_delay_a_stop() {
    let sshd = Sshd::start();
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    sshd.settle(&format!("Host loopback\nPort {port}"));
    let stop = StopSignal::default();
    let error = thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            let connection = listener.accept().unwrap();
            stop.set();
            connection
        });
        Connection::open(&sshd.client(), &destination(), stop).unwrap_err()
    });
    assert!(matches!(error, RemoteError::Cancelled { .. }), "{error}");
    assert_eq!(error.code(), Code::Cancelled);
    assert_eq!(sshd.clients(), Vec::<String>::new(), "nothing is left of it");
}

#[test]
fn missing_ssh_client_is_reported() {
    let client = SshClient::at(Path::new("/no/such/ssh"), None);
    let error = Connection::open(&client, &destination(), &StopSignal::default()).unwrap_err();
    assert!(matches!(error, RemoteError::NotStarted(_)), "{error}");
    assert_eq!(error.code(), Code::HostUnreachable);
}

#[test]
fn a_host_without_bash_is_not_usable() {
    let sshd = Sshd::with("ForceCommand echo This account is not available.; exit 1");
    let error = sshd.open().unwrap_err();
    let RemoteError::NoBash { messages, .. } = &error else { panic!("{error}") };
    assert_eq!(messages, "This account is not available.");
}

#[test]
fn a_target_can_be_checked_before_a_run() {
    let sshd = Sshd::start();
    let stop = StopSignal::default();
    let check = |destination: &str| check_target(&sshd.client(), destination, &stop);
    let state = check("loopback");
    let TargetState::Reachable { host } = &state else { panic!("{state:?}") };
    assert_eq!(host.host_key, sshd.fingerprint("host_key"));
    assert_eq!(
        host.target,
        known_target(&sshd.client(), &destination(), &StopSignal::default()).unwrap()
    );
    assert_eq!(host.target.host_keys.len(), 1);
    assert!(host.target.covers(&sshd.fingerprint("host_key"), None), "{:?}", host.target);
    assert!(!host.target.covers(&sshd.fingerprint("other_key"), None), "{:?}", host.target);
    assert!(state.is_reachable());
    sshd.know("other_key");
    assert!(matches!(check("loopback"), TargetState::ChangedKey { .. }));
    sshd.forget();
    let state = check("loopback");
    assert_eq!(state.title(), "its key is unknown");
    let shown = serde_json::to_value(&state).unwrap();
    assert_eq!(shown["state"], "unknown_key");
    assert_eq!(shown["host_key"], sshd.fingerprint("host_key"));
    sshd.settle("Host loopback\nPort 1");
    assert!(matches!(check("loopback"), TargetState::Unreachable { .. }));
    let before = sshd.logged("Connection from");
    let state = check("-oProxyCommand=touch mark");
    let TargetState::Unreachable { said } = &state else { panic!("{state:?}") };
    assert!(said.contains('='), "{said}");
    assert_eq!(sshd.logged("Connection from"), before);
    assert!(Destination::parse("-oProxyCommand=touch").is_err());
}
