//! Plans of others arrive while the window is behind others and a run is under way. They are opened, authorized, queued and
//! removed by the keyboard.

use std::path::Path;

use serde_json::json;

use super::attention::{Bus, NotificationServer, wait_for_title};
use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, sign};

/// Proposes a plan that creates the file `NAME.txt`, by the program without a window.
fn propose(desktop: &Desktop, folder: &Path, name: &str) {
    let file = folder.join(format!("{name}.json"));
    let arguments = json!({ "path": format!("{name}.txt"), "contents": "x\n" });
    let steps = json!([{ "step_id": "a", "tool": "file_create", "arguments": arguments }]);
    let plan = json!({ "plan_id": name, "intent": "MUTATE", "title": name, "steps": steps });
    std::fs::write(&file, plan.to_string()).expect("the plan");
    let mut command = desktop.screen.command(env!("CARGO_BIN_EXE_countersign"));
    command.args(["propose", "--from", "a\u{202e}gent", "--workspace"]).arg(folder).arg(&file);
    assert!(command.status().expect("the program").success());
}

/// Opens the plan of others that waits longest, authorizes it and queues it.
fn queue_next(desktop: &mut Desktop, name: &str) -> Outcome {
    desktop.key("ctrl+i")?;
    desktop.wait_for_text("From the inbox. Proposed by “a⟨U+202E⟩gent”, as it says itself.")?;
    desktop.wait_for_text(&format!("Create {name}.txt"))?;
    desktop.look_at_steps()?;
    desktop.key("ctrl+Return")?;
    desktop.press("Authorize")?;
    desktop.wait_for_control("Queue")?;
    desktop.key("ctrl+F5")
}

fn proposals_are_queued(folder: &Path) -> Outcome {
    // The step ends when the test writes into the pipe.
    let gate = folder.join("gate");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &gate, rustix::fs::FileType::Fifo, mode, 0)
        .expect("a pipe");
    let plan = folder.join("long.json");
    let text = json!({ "goal": "Wait", "steps": [{ "command": "cat gate" }] }).to_string();
    std::fs::write(&plan, text).expect("the plan");
    let (bus, server) = (Bus::start(), NotificationServer::default());
    let _connection = server.serve(&bus);
    let mut desktop = Desktop::start_here_on_bus(&[&plan.display().to_string()], &bus.address)?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Running step 1 of 1")?;
    desktop.open_other_window()?;
    propose(&desktop, folder, "first");
    wait_for_title(&mut desktop, r"\(1\) Countersign: waiting for you")?;
    let waits = "Countersign|A plan waits for you|";
    server.wait_for(&mut desktop, &[waits])?;
    desktop.activate()?;
    server.wait_for(&mut desktop, &[waits, "close 1"])?;
    propose(&desktop, folder, "second");
    wait_for_title(&mut desktop, r"\(2\) Countersign: waiting for you")?;
    desktop.screenshot("inbox_1_waiting")?;

    queue_next(&mut desktop, "first")?;
    desktop.wait_for_control("Queued: first, next")?;
    queue_next(&mut desktop, "second")?;
    desktop.wait_for_control("Queued: second, number 2")?;
    desktop.key("ctrl+shift+Up")?;
    desktop.wait_for_control("Queued: second, next")?;
    wait_for_title(&mut desktop, "Countersign")?;
    desktop.screenshot("inbox_2_queued")?;
    assert!(!folder.join("first.txt").exists() && !folder.join("second.txt").exists());
    std::fs::write(&gate, "open\n").expect("the step reads");
    desktop.wait_until("both have run", |_| {
        let exists = |name: &str| folder.join(name).exists();
        Ok((exists("first.txt") && exists("second.txt")).then_some(()))
    })?;
    desktop.wait_until_gone("Queued: first, next")?;
    let entry = "In the inbox: first, decided, from a⟨U+202E⟩gent";
    desktop.wait_until("it is decided", |desktop| {
        Ok(desktop.tree()?.control_starting(entry).map(|_| ()))
    })?;
    desktop.key("ctrl+k")?;
    desktop.type_text("Remove decided")?;
    desktop.key("Return")?;
    desktop.wait_for_text("2 entries were removed from the inbox.")?;
    desktop.screenshot("inbox_3_removed")?;
    Ok(())
}

#[test]
fn plans_of_others_wait_are_queued_and_run() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(proposals_are_queued(folder.path()));
}
