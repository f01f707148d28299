//! Passwords and passphrases that `ssh` asks for: typed in a dialog, passed to `ssh` alone, and declined.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::secrets::{assert_not_recorded, assert_nowhere};
use super::sshd::Sshd;
use super::support::{passes, recorded, sign};

const SECRET: &str = "kingfisherquartz";
const WRONG: &str = "wrongherongranite";

/// Starts the window with a plan for this server.
fn start(sshd: &Sshd, work: &Path) -> Outcome<Desktop> {
    let mut desktop = Desktop::start_here(&[])?;
    // The settings are read at the start, and their folder is known only now.
    desktop.kill()?;
    let home = desktop.evidence().with_file_name("config").join("countersign");
    fs::create_dir_all(&home).expect("the folder of the settings");
    let settings = format!("[policy]\nssh_config = {:?}\n", sshd.config());
    fs::write(home.join("settings.toml"), settings).expect("the settings");
    let plan = json!({
        "goal": "Say hello over there",
        "target": "loopback",
        "steps": [{ "command": "echo hello from $HOME" }, { "command": "touch made-there" }],
    });
    let file = work.join("there.json");
    fs::write(&file, plan.to_string()).expect("the plan file");
    desktop.start_again(&[&file.display().to_string()])?;
    desktop.wait_for_text("on loopback")?;
    Ok(desktop)
}

/// Types into the open dialog, which has the keyboard, and sends the answer.
fn answer(desktop: &mut Desktop, prompt: &str, text: &str) -> Outcome {
    desktop.wait_for_text("ssh, to log in to loopback, asks:")?;
    desktop.wait_for_text(prompt)?;
    desktop.wait_until("the field has the keyboard", |desktop| {
        Ok((desktop.tree()?.focused.as_deref() == Some("Answer")).then_some(()))
    })?;
    desktop.type_text(text)?;
    let dots = "•".repeat(text.len());
    desktop.wait_for_text(&dots)?;
    assert_nowhere(desktop, text);
    desktop.key("Return")
}

fn logged_in(sshd: &Sshd, prompt: &str) -> Outcome {
    let work = tempfile::tempdir().expect("a workspace");
    let mut desktop = start(sshd, work.path())?;
    desktop.click("Try the connection")?;
    answer(&mut desktop, prompt, SECRET)?;
    desktop.wait_for_text("loopback: reachable.")?;
    sign(&mut desktop)?;
    answer(&mut desktop, prompt, WRONG)?;
    // The client asks again after a wrong answer. The old dialog is gone first, and with it what was typed.
    desktop.wait_until("the field is empty again", |desktop| {
        let tree = desktop.tree()?;
        let field = tree.control("Answer").map(|field| field.value.clone().unwrap_or_default());
        Ok(field.filter(String::is_empty).map(|_| ()))
    })?;
    desktop.screenshot("asked_1_again")?;
    answer(&mut desktop, prompt, SECRET)?;
    desktop.wait_for_text("Completed")?;
    desktop.wait_for_text(&format!("hello from {}", sshd.home().display()))?;
    for text in [SECRET, WRONG] {
        assert_nowhere(&desktop, text);
        assert_not_recorded(&desktop, text);
    }
    assert_eq!(recorded(&desktop.evidence()).len(), 2);
    Ok(())
}

fn declined(sshd: &Sshd) -> Outcome {
    let work = tempfile::tempdir().expect("a workspace");
    let mut desktop = start(sshd, work.path())?;
    sign(&mut desktop)?;
    desktop.wait_for_text("asks:")?;
    desktop.screenshot("asked_0_dialog")?;
    // Closing the dialog is no answer.
    desktop.key("Escape")?;
    desktop.wait_for_text("asks:")?;
    desktop.click("Do not answer")?;
    desktop.wait_for_text("a question of ssh was not answered")?;
    desktop.wait_until_gone("Do not answer")?;
    assert_eq!(sshd.logged("Accepted publickey"), 0);
    Ok(())
}

fn stopped(sshd: &Sshd) -> Outcome {
    let work = tempfile::tempdir().expect("a workspace");
    let mut desktop = start(sshd, work.path())?;
    sign(&mut desktop)?;
    desktop.wait_for_text("asks:")?;
    desktop.key("ctrl+shift+period")?;
    desktop.wait_until_gone("Do not answer")?;
    assert_eq!(sshd.logged("Accepted publickey"), 0);
    Ok(())
}

#[test]
fn a_password_is_typed_in_the_window() {
    let sshd = Sshd::with_password(SECRET);
    passes(logged_in(&sshd, "password:"));
    assert!(sshd.home().join("made-there").exists());
}

#[test]
fn a_passphrase_is_typed_in_the_window() {
    let sshd = Sshd::start();
    sshd.lock_key(SECRET);
    passes(logged_in(&sshd, "Enter passphrase for key"));
}

#[test]
fn an_unanswered_question_ends_the_connection() {
    let sshd = Sshd::start();
    sshd.lock_key(SECRET);
    passes(declined(&sshd));
    passes(stopped(&sshd));
}
