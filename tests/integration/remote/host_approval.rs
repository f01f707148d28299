//! Approval of hosts and their keys, and runs that end before their first record (SPEC §2, §7.3).

use std::fs;
use std::net::TcpListener;

use countersign::run::{AnsweredBy, Control};
use serde_json::json;

use super::plans::{assert_untouched, harness, home, plan};
use crate::harness::command;
use crate::harness::sshd::Sshd;

#[test]
fn unknown_host_key_cannot_be_approved() {
    let sshd = Sshd::start();
    sshd.forget();
    let home = home(&sshd);
    home.write("p.json", plan([command("a", "touch ran")]).to_string());
    let document = home.json(["check", "space/p.json"]).exits(2).document();
    let finding = &document["findings"][0];
    assert_eq!((&finding["code"], &finding["pointer"]), (&json!("E308"), &json!("/target")));
    let message = finding["message"].as_str().unwrap();
    assert!(message.starts_with("ssh knows no key of loopback"), "{message}");
    assert!(message.contains("Connect once with `ssh loopback` by hand"), "{message}");
    assert_eq!(home.json(["run", "space/p.json", "--yes"]).exits(2).error_code(), "E001");
    assert!(!home.evidence().exists() && sshd.logged("Connection from") == 0, "nobody connected");
}

#[test]
fn changed_host_key_stops_before_sending() {
    let sshd = Sshd::start();
    let harness = harness(&sshd);
    let approved = harness.authorize(&plan([command("a", "touch ran")]));
    sshd.know("other_key");
    assert_eq!(harness.execute(approved).refusal(), "E004");
    assert_eq!(sshd.logged("Connection from"), 0);
    // The approved key is known to the client, but is not the host's.
    let ran = harness.execute(harness.authorize(&plan([command("a", "touch ran")])));
    assert_eq!(ran.refusal(), "E308");
    let message = ran.outcome.as_ref().unwrap_err().to_string();
    assert!(message.contains("shows another key than the one that ssh knows"), "{message}");
    assert_untouched(&harness, &sshd);
    // A key from `KnownHostsCommand` was not approved.
    let key = fs::read_to_string(sshd.config().with_file_name("host_key.pub")).unwrap();
    let line = format!("[127.0.0.1]:{} {}", sshd.port(), key.trim());
    let script = sshd.config().with_file_name("known_hosts_command");
    fs::write(&script, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
    let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(&script, mode).unwrap();
    sshd.settle(&format!("KnownHostsCommand {}", script.display()));
    let ran = harness.execute(harness.authorize(&plan([command("a", "touch ran")])));
    let message = ran.outcome.as_ref().unwrap_err().to_string();
    assert_eq!(ran.refusal(), "E004", "{message}");
    assert!(message.contains("target was loopback"), "{message}");
    assert!(message.contains(&sshd.fingerprint("host_key")), "{message}");
    assert_eq!(sshd.logged("Accepted publickey"), 1, "ssh itself had no doubt");
    assert_untouched(&harness, &sshd);
}

#[test]
fn changed_ssh_destination_voids_the_approval() {
    let sshd = Sshd::start();
    let harness = harness(&sshd);
    for other in ["User somebody", "HostName localhost", "Port 1"] {
        let approved = harness.authorize(&plan([command("a", "touch ran")]));
        sshd.settle(&format!("Host loopback\n{other}"));
        assert_eq!(harness.execute(approved).refusal(), "E004", "{other}");
        sshd.settle("");
    }
    assert_untouched(&harness, &sshd);
}

#[test]
fn unreachable_host_ends_run_before_first_record() {
    let sshd = Sshd::start();
    let harness = harness(&sshd);
    let authorized_keys = sshd.config().with_file_name("authorized_keys");
    let kept = fs::read(&authorized_keys).unwrap();
    fs::remove_file(&authorized_keys).unwrap();
    let ran = harness.run(&plan([command("a", "touch ran")]));
    assert_eq!(ran.refusal(), "E308");
    let message = ran.outcome.as_ref().unwrap_err().to_string();
    assert!(message.starts_with("loopback refused"), "{message}");
    assert_untouched(&harness, &sshd);
    fs::write(&authorized_keys, kept).unwrap();
    // A key known for the host is valid at every port.
    sshd.settle("Host loopback\nPort 1");
    let key = fs::read_to_string(sshd.config().with_file_name("host_key.pub")).unwrap();
    let known = sshd.config().with_file_name("known_hosts");
    fs::write(known, format!("127.0.0.1 {key}")).unwrap();
    let approved = harness.authorize(&plan([command("a", "touch ran")]));
    let ran = harness.execute(approved.clone());
    assert_eq!(ran.refusal(), "E308");
    let message = ran.outcome.as_ref().unwrap_err().to_string();
    assert!(message.starts_with("loopback cannot be reached"), "{message}");
    assert_untouched(&harness, &sshd);
    // The approval is still unused.
    assert_eq!(harness.execute(approved).refusal(), "E308");
}

#[test]
fn a_stop_while_it_connects_is_no_run() {
    let sshd = Sshd::start();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    sshd.settle(&format!("Host loopback\nPort {port}"));
    let key = fs::read_to_string(sshd.config().with_file_name("host_key.pub")).unwrap();
    fs::write(sshd.config().with_file_name("known_hosts"), format!("127.0.0.1 {key}")).unwrap();
    let harness = harness(&sshd);
    let control = harness.control.clone();
    let approved = harness.authorize(&plan([command("a", "touch ran")]));
    let ran = std::thread::scope(|scope| {
        scope.spawn(move || {
            let silent = listener.accept().unwrap();
            control.request(Control::StopNow, AnsweredBy::Test);
            silent
        });
        harness.execute(approved)
    });
    assert_eq!(ran.refusal(), "E307");
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 0);
    assert_eq!(sshd.clients(), Vec::<String>::new());
}
