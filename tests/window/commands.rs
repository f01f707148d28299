//! A plan of commands, from opening its file to the rollback.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{Recorded, passes, recorded, sign, type_word};

struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new(steps: &Value) -> Self {
        Self::of_mode("automatic", steps)
    }

    fn of_mode(mode: &str, steps: &Value) -> Self {
        let folder = tempfile::Builder::new().prefix("heron").tempdir().expect("a folder");
        let plan = json!({
            "goal": "Tidy the nest",
            "mode": mode,
            "steps": steps,
            "rollbackPlan": ["mkdir old && echo back > old/egg"],
        });
        let text = serde_json::to_string_pretty(&plan).expect("the plan as JSON");
        std::fs::write(folder.path().join("nest.json"), text).expect("the plan file");
        std::fs::create_dir(folder.path().join("old")).expect("a folder");
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn open(&self) -> Outcome<Desktop> {
        Desktop::start_here(&[&self.path("nest.json").display().to_string()])
    }
}

fn tidied_and_taken_back(workspace: &Workspace) -> Outcome<Vec<String>> {
    let mut desktop = workspace.open()?;
    desktop.wait_for_text("Tidy the nest")?;
    desktop.screenshot("commands_1_plan")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Execute step 2 of 4: shell?")?;
    // The output of the first command is visible behind the question.
    desktop.screenshot("commands_2_question")?;
    // The folder that the command removes.
    type_word(&mut desktop, "old")?;
    desktop.press("Approve this step")?;
    desktop.wait_for_text("Failed at step 4")?;
    for line in ["heron sings", "stderr: crane warns", "colours"] {
        desktop.wait_for_text(line)?;
    }
    desktop.screenshot("commands_3_failed")?;
    desktop.click("Roll back…")?;
    desktop.wait_for_text("Roll back: Tidy the nest")?;
    assert!(!workspace.path("old").exists(), "nothing runs by itself");
    sign(&mut desktop)?;
    desktop.wait_for_text("Completed")?;
    desktop.screenshot("commands_4_back")?;
    Ok(recorded(&desktop.evidence()).into_iter().map(|Recorded { outcome, .. }| outcome).collect())
}

#[test]
fn commands_run_are_seen_and_are_taken_back() {
    let workspace = Workspace::new(&json!([
        { "command": "echo heron sings; echo crane warns >&2; printf '\\033[32mcolours\\033[0m\\n'" },
        { "command": "rm -r old", "verificationCommand": "test ! -e old" },
        { "command": "exit 7" },
    ]));
    let ended = match tidied_and_taken_back(&workspace) {
        Ok(ended) => ended,
        Err(error) => panic!("{error}"),
    };
    let egg = std::fs::read_to_string(workspace.path("old/egg")).expect("what the way back made");
    assert_eq!(egg, "back\n");
    assert_eq!(ended, ["succeeded", "succeeded", "succeeded", "failed", "succeeded"]);
}

fn blocked(workspace: &Workspace) -> Outcome {
    let mut desktop = workspace.open()?;
    desktop.wait_for_text("E017")?;
    let tree = desktop.tree()?;
    assert!(tree.control("Authorize…").is_some_and(|button| button.disabled));
    desktop.screenshot("commands_5_blocked")?;
    Ok(())
}

#[test]
fn blocked_command_cannot_be_signed() {
    let workspace = Workspace::new(&json!([{ "command": "ls" }, { "command": "rm -rf /" }]));
    passes(blocked(&workspace));
}

fn guided(workspace: &Workspace) -> Outcome<Vec<String>> {
    let mut desktop = workspace.open()?;
    sign(&mut desktop)?;
    for (step, button) in [(1, "Run this step"), (2, "Mark as done"), (3, "Skip this step")] {
        desktop.wait_for_text(&format!("Waiting for you: step {step} of 4"))?;
        // The card is among the steps, and a key leads to it.
        desktop.key("F8")?;
        desktop.tab_to(button)?;
        desktop.screenshot(&format!("commands_6_guided_{step}"))?;
        desktop.press_once_armed(button)?;
    }
    // A dangerous step can be approved only in the modal dialog.
    desktop.wait_for_text("Waiting for you: step 4 of 4")?;
    desktop.click("Run this step…")?;
    desktop.wait_for_text("Execute step 4 of 4: shell?")?;
    assert!(workspace.path("old").exists(), "nothing runs by that");
    type_word(&mut desktop, "old")?;
    desktop.press("Run this step")?;
    desktop.wait_for_text("Completed")?;
    desktop.screenshot("commands_6_guided_5")?;
    Ok(recorded(&desktop.evidence()).into_iter().map(|Recorded { outcome, .. }| outcome).collect())
}

#[test]
fn guided_plan_runs_nothing_done_by_hand() {
    let touch = |name: &str| json!({ "command": format!("touch {name}") });
    let remove = json!({ "command": "rm -r old" });
    let steps = json!([touch("run"), touch("by-hand"), touch("skipped"), remove]);
    let workspace = Workspace::of_mode("guided", &steps);
    let outcomes = passes(guided(&workspace));
    assert_eq!(outcomes, ["succeeded", "done_by_hand", "skipped", "succeeded"]);
    let made = ["run", "by-hand", "skipped"].map(|name| workspace.path(name).exists());
    assert_eq!(made, [true, false, false]);
    assert!(!workspace.path("old").exists());
}
