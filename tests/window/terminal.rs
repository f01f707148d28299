//! Steps that ask for a terminal: typing, full-screen programs, leaving by keyboard, *Stop now*, and what is recorded.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::secrets::{assert_not_recorded, assert_nowhere, records};
use super::sshd::Account;
use super::support::{passes, recorded, sign, type_word};

/// Typed while the terminal does not echo.
const WORD: &str = "kingfisherquartz";

/// A script that asks for a name, and for a word without echo.
const ASK: &str = "#!/bin/bash
read -r -p 'name: ' name
read -rs -p 'word: ' word
echo
echo \"$name has ${#word} letters\"
";

fn workspace() -> tempfile::TempDir {
    let work = tempfile::tempdir().expect("a workspace");
    let ask = work.path().join("ask.sh");
    fs::write(&ask, ASK).expect("the script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&ask, mode).expect("its mode");
    let terminal = json!({ "terminal": true });
    let plan = json!({
        "goal": "Ask, edit and watch",
        "steps": [
            { "command": "./ask.sh", "needs": terminal },
            { "command": "vim -u NONE -i NONE -n -N note.txt", "needs": terminal },
            { "command": "top -d 1", "needs": terminal, "timeoutSeconds": 300 },
        ],
    });
    fs::write(work.path().join("ask.json"), plan.to_string()).expect("the plan file");
    work
}

fn typed_edited_and_stopped(work: &Path) -> Outcome {
    let mut desktop = Desktop::start_here(&[&work.join("ask.json").display().to_string()])?;
    desktop.wait_for_text("Ask, edit and watch")?;
    desktop.screenshot("terminal_0_plan")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("name:")?;
    desktop.screenshot("terminal_1_opened")?;
    // Without the keyboard, keys are for the window.
    desktop.click("Terminal")?;
    desktop.wait_for_text("It has the keyboard")?;
    desktop.type_text("heron")?;
    desktop.wait_for_text("name: heron")?;
    desktop.key("Return")?;
    desktop.wait_for_text("word:")?;
    desktop.type_text(WORD)?;
    assert_nowhere(&desktop, WORD);
    desktop.screenshot("terminal_2_asked")?;
    desktop.key("Return")?;

    desktop.wait_for_text("[New")?;
    desktop.screenshot("terminal_3_editor")?;
    // What was meant for one step must not reach the next one.
    desktop.wait_for_text("to type")?;
    desktop.click("Terminal")?;
    desktop.wait_for_text("It has the keyboard")?;
    // The keys of the window are keys of the program: F1 would open the help, and Escape or Tab move the focus.
    desktop.type_text("iline 1")?;
    desktop.key("Return")?;
    desktop.type_text("line 2")?;
    desktop.key("Up")?;
    desktop.key("Tab")?;
    desktop.key("Escape")?;
    desktop.wait_for_text("line 1")?;
    desktop.resize(900, 620)?;
    desktop.wait_for_text("leaves it")?;
    desktop.wait_for_text("line 2")?;
    desktop.screenshot("terminal_4_resized")?;
    desktop.type_text(":wq")?;
    desktop.key("Return")?;

    desktop.wait_for_text("PID USER")?;
    desktop.resize(1280, 800)?;
    desktop.wait_for_text("Tasks:")?;
    desktop.screenshot("terminal_5_monitor")?;
    // The keyboard is taken and left without the mouse.
    desktop.key("ctrl+shift+t")?;
    desktop.wait_for_text("It has the keyboard")?;
    desktop.key("ctrl+shift+t")?;
    desktop.wait_for_text("to type")?;
    desktop.key("F1")?;
    // Not its title, which is also the name of a button.
    desktop.wait_for_text("How it works")?;
    desktop.key("Escape")?;
    desktop.key("ctrl+shift+t")?;
    desktop.wait_for_text("It has the keyboard")?;
    desktop.key("ctrl+shift+period")?;
    desktop.wait_for_text("Cancelled")?;
    desktop.screenshot("terminal_6_stopped")?;
    // What the first step showed is read as its output.
    desktop.click_starting("Step 1:")?;
    desktop.click("Output")?;
    desktop.wait_for_text("heron has 16 letters")?;
    desktop.screenshot("terminal_7_read")?;
    assert_nowhere(&desktop, WORD);
    let outcomes: Vec<String> =
        recorded(&desktop.evidence()).into_iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, ["succeeded", "succeeded", "cancelled"]);
    assert_not_recorded(&desktop, WORD);
    let records = records(&desktop);
    let first = records.first().expect("a record");
    assert!(first.contains("heron has 16 letters"), "{first}");
    // That a person typed is recorded.
    let typed: Vec<bool> = records
        .iter()
        .map(|it| it.contains("\\\"typed\\\":true") || it.contains("\"typed\":true"))
        .collect();
    assert_eq!(typed, [true, true, false]);
    Ok(())
}

#[test]
fn a_terminal_is_typed_in_and_left() {
    let work = workspace();
    passes(typed_edited_and_stopped(work.path()));
    let note = fs::read_to_string(work.path().join("note.txt")).expect("the edited file");
    assert_eq!(note, "line 1\t\nline 2\n");
}

fn read_and_administered(work: &Path, account: &Account) -> Outcome {
    let plan = json!({
        "goal": "Read, and ask who one is",
        "steps": [
            { "command": "less long.txt", "needs": { "terminal": true } },
            { "command": account.sudo("id -u"), "needs": { "terminal": true, "open": true } },
        ],
    });
    let file = work.join("read.json");
    fs::write(&file, plan.to_string()).expect("the plan file");
    let mut desktop = Desktop::start_here(&[&file.display().to_string()])?;
    desktop.wait_for_text("Read, and ask who one is")?;
    sign(&mut desktop)?;

    desktop.wait_for_text("line 1 of 200")?;
    desktop.click("Terminal")?;
    desktop.wait_for_text("It has the keyboard")?;
    desktop.key("space")?;
    desktop.wait_for_text("line 20 of 200")?;
    desktop.resize(900, 620)?;
    desktop.type_text("G")?;
    desktop.wait_for_text("line 200 of 200")?;
    desktop.resize(1280, 800)?;
    desktop.type_text("g")?;
    desktop.wait_for_text("line 1 of 200")?;
    desktop.screenshot("terminal_8_pager")?;
    desktop.type_text("q")?;

    desktop.screenshot("terminal_9_question")?;
    type_word(&mut desktop, "sudo and 2 more")?;
    desktop.wait_for_text("It matches. Enter approves.")?;
    desktop.key("Return")?;
    desktop.wait_for_text("to type")?;
    desktop.wait_for_text("password:")?;
    desktop.click("Terminal")?;
    desktop.wait_for_text("It has the keyboard")?;
    desktop.type_text(WORD)?;
    assert_nowhere(&desktop, WORD);
    desktop.screenshot("terminal_10_sudo")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Completed")?;
    assert_nowhere(&desktop, WORD);
    assert_not_recorded(&desktop, WORD);
    let records = records(&desktop);
    let last = records.last().expect("a record");
    assert!(last.contains("\\n0\\r\\n"), "{last}");
    Ok(())
}

#[test]
fn a_pager_and_sudo_are_answered_in_the_window() {
    let (work, home) =
        (tempfile::tempdir().expect("a workspace"), tempfile::tempdir().expect("a home"));
    let work = work.path().join("marsh");
    fs::create_dir(&work).expect("a folder");
    let lines: String = (1..=200).map(|number| format!("line {number} of 200\n")).collect();
    fs::write(work.join("long.txt"), lines).expect("a text");
    let account = Account::new(home.path(), WORD);
    passes(read_and_administered(&work, &account));
}
