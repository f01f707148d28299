//! A plan whose commands run on another host: the connection is tested, the plan authorized and run there.

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::sshd::Sshd;
use super::support::{passes, recorded, sign};

fn tried_and_run(sshd: &Sshd) -> Outcome<usize> {
    let mut desktop = Desktop::start_here(&[])?;
    // The settings are read at the start, and their folder is known only now.
    desktop.kill()?;
    let home = desktop.evidence().with_file_name("config").join("countersign");
    std::fs::create_dir_all(&home).expect("the folder of the settings");
    let settings = format!("[policy]\nssh_config = {:?}\n", sshd.config());
    std::fs::write(home.join("settings.toml"), settings).expect("the settings");
    let work = tempfile::tempdir().expect("a workspace");
    let plan = json!({
        "goal": "Say hello over there",
        "target": "loopback",
        "steps": [{ "command": "echo hello from $HOME; touch made-there" }],
    });
    let file = work.path().join("there.json");
    std::fs::write(&file, plan.to_string()).expect("the plan file");
    desktop.start_again(&[&file.display().to_string()])?;
    desktop.wait_for_text("on loopback")?;
    assert_eq!(sshd.logged("Accepted publickey"), 0, "nothing connects by itself");
    // A server that accepts the connection and stays silent is waited for until the check is stopped.
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = silent.local_addr().expect("its number").port();
    sshd.settle(&format!("Host loopback\nPort {port}"));
    desktop.click("Try the connection")?;
    desktop.wait_for_text("Trying loopback…")?;
    desktop.screenshot("remote_0_trying")?;
    desktop.click("Stop trying")?;
    desktop.wait_until_gone("Stop trying")?;
    assert!(!desktop.tree()?.shows("Trying loopback…"), "what is not waited for is not shown");
    sshd.settle("");
    desktop.click("Try the connection")?;
    desktop.wait_for_text("loopback: reachable.")?;
    assert!(!desktop.tree()?.shows("Trying loopback…"), "the answer takes its place");
    desktop.screenshot("remote_1_reachable")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Completed")?;
    desktop.wait_for_text(&format!("hello from {}", sshd.home().display()))?;
    desktop.screenshot("remote_2_completed")?;
    Ok(recorded(&desktop.evidence()).len())
}

#[test]
fn host_is_tried_signed_and_used() {
    let sshd = Sshd::start();
    let count = passes(tried_and_run(&sshd));
    assert_eq!(count, 1);
    assert!(sshd.home().join("made-there").exists());
}
