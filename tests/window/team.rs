//! The evidence of a team in the window, from a real PostgreSQL server that is killed meanwhile. Everything by keyboard.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::harness::Desktop;
use super::postgres::{PASSWORD, Postgres, control};
use super::screen::Outcome;
use super::support::passes;

/// Runs a plan of another computer, whose home this is, and pushes its evidence.
#[expect(clippy::disallowed_methods, reason = "the program as another person uses it")]
pub(super) fn push_from(home: &Path, bird: &str, server: &str) {
    let plan = json!({
        "plan_id": bird, "intent": "READ", "title": format!("Read the {bird}"),
        "steps": [{ "step_id": "r", "tool": "file_read", "arguments": { "path": format!("{bird}.txt") } }],
    });
    fs::write(home.join(format!("{bird}.txt")), format!("{bird} on the fence\n")).expect("a file");
    fs::write(home.join("plan.json"), plan.to_string()).expect("a plan");
    for words in [&["run", "plan.json", "--yes"][..], &["evidence", "push", server]] {
        let done = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(words)
            .arg("--evidence")
            .arg(home.join("evidence"))
            .current_dir(home)
            .env("HOME", home)
            .env("PGPASSWORD", PASSWORD)
            .output()
            .expect("the program");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

/// Writes the settings that name the server, and where libpq finds the password.
fn name_the_team(desktop: &Desktop, server: &str) {
    let folder = desktop.evidence().with_file_name("config").join("countersign");
    fs::create_dir_all(&folder).expect("the folder of the settings");
    fs::write(folder.join("settings.toml"), format!("team = '{server}'\n")).expect("the settings");
    write_password(desktop);
}

/// Writes the password where libpq finds it.
pub(super) fn write_password(desktop: &Desktop) {
    let passwords = desktop.evidence().with_file_name(".pgpass");
    fs::write(&passwords, format!("*:*:*:*:{PASSWORD}\n")).expect("the password");
    fs::set_permissions(&passwords, fs::Permissions::from_mode(0o600)).expect("private");
}

fn search(desktop: &mut Desktop, text: &str) -> Outcome {
    desktop.key("ctrl+shift+e")?;
    desktop.type_text(text)?;
    desktop.key("Return")
}

fn read_there(postgres: &Postgres) -> Outcome {
    let mut desktop = Desktop::start_here(&[])?;
    // The settings are read at the start, and their folder is known only now.
    desktop.kill()?;
    name_the_team(&desktop, &postgres.url("reader", ""));
    desktop.start_again(&[])?;
    desktop.key("ctrl+2")?;
    desktop.wait_for_text("Nothing has been run yet")?;
    desktop.key("ctrl+shift+g")?;
    desktop.wait_for_text("heron.txt")?;
    desktop.wait_for_text("bittern.txt")?;
    desktop.screenshot("team_0_all")?;
    search(&mut desktop, "bittern")?;
    desktop.wait_until("the heron is not among the hits", |desktop| {
        Ok((!desktop.tree()?.shows("heron.txt")).then_some(()))
    })?;
    desktop.key("Escape")?;
    desktop.key("Down")?;
    desktop.wait_for_text("stay on the computer that ran it")?;
    desktop.wait_for_text("bittern on the fence")?;
    desktop.screenshot("team_1_record")?;

    // The server goes away while the page is open. The record stays, and this computer answers.
    assert!(control(&postgres.data(), &["stop", "--mode=immediate"]));
    search(&mut desktop, "heron")?;
    desktop.wait_for_text("The team's evidence cannot be read")?;
    desktop.screenshot("team_2_gone")?;
    desktop.key("ctrl+shift+g")?;
    desktop.wait_for_text("Nothing has been run yet")?;
    desktop.key("ctrl+shift+g")?;
    desktop.wait_for_text("The team's evidence cannot be read")?;
    assert!(control(&postgres.data(), &["start"]));
    desktop.tab_to("Try again")?;
    desktop.key("Return")?;
    desktop.wait_for_text("heron.txt")?;
    assert!(!desktop.tree()?.shows("bittern.txt"), "the search is still for the heron");
    let log = fs::read_to_string(postgres.data().with_file_name("log")).unwrap_or_default();
    assert!(!log.contains(PASSWORD));
    Ok(())
}

#[test]
fn the_evidence_of_a_team_is_read_while_its_server_comes_and_goes() {
    let postgres = Postgres::start();
    for bird in ["heron", "bittern"] {
        let home = tempfile::tempdir().expect("a home");
        push_from(home.path(), bird, &postgres.url("writer", ""));
    }
    passes(read_there(&postgres));
}
