//! A window behind others says that it waits, and how its run ended.

use std::path::Path;

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, sign};

/// Waits until the window has this title.
fn wait_for_title(desktop: &mut Desktop, title: &str) -> Outcome {
    desktop.wait_until(&format!("the title is \"{title}\""), |desktop| {
        let found = desktop.screen.xdotool(&["search", "--name", &format!("^{title}$")]);
        Ok(found.is_ok_and(|found| !found.trim().is_empty()).then_some(()))
    })
}

fn waits_and_ends(folder: &Path) -> Outcome {
    // The first step ends when the test writes into the pipe.
    let gate = folder.join("gate");
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &gate,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    );
    made.expect("a pipe");
    let steps = json!([{ "command": "cat gate" }, { "command": "rm -r old" }]);
    let plan = folder.join("attention.json");
    let text = json!({ "goal": "Wait, then delete", "steps": steps }).to_string();
    std::fs::write(&plan, text).expect("the plan");
    let mut desktop = Desktop::start_here(&[&plan.display().to_string()])?;
    wait_for_title(&mut desktop, "Countersign")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Running step 1 of 2")?;
    desktop.open_other_window()?;
    std::fs::write(&gate, "open\n").expect("the step reads");
    wait_for_title(&mut desktop, r"\(1\) Countersign: waiting for you")?;
    desktop.key("ctrl+shift+period")?;
    Ok(())
}

#[test]
fn a_window_behind_others_says_that_it_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(waits_and_ends(folder.path()));
}
