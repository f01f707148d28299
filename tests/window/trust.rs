//! The commands of a workspace: shown, trusted and run, all by keyboard.

use std::path::PathBuf;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, recorded, sign};

struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = r#"{"version": "2026-02-19", "goal": "Is the nest sound",
            "actions": [{"type": "verify", "request": {}}]}"#;
        let commands = "[verify.local]\ncommand = \"touch checked\"\n";
        std::fs::write(folder.path().join("nest.json"), plan).expect("the plan");
        std::fs::write(folder.path().join("countersign.toml"), commands).expect("the commands");
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }
}

fn trusted_and_run(workspace: &Workspace) -> Outcome<Vec<String>> {
    let mut desktop = Desktop::start_here(&[&workspace.path("nest.json").display().to_string()])?;
    desktop.wait_for_text(
        "The plan would run commands that the workspace names. You do not trust them yet.",
    )?;
    desktop.screenshot("trust_1_plan")?;
    desktop.tab_to("Look at the commands…")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Trust these commands?")?;
    // Escape decides nothing.
    desktop.key("Escape")?;
    desktop.wait_until_gone("Trust these commands")?;
    desktop.tab_to("Look at the commands…")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Trust these commands?")?;
    desktop.screenshot("trust_2_question")?;
    desktop.press("Trust these commands")?;
    desktop.wait_for_control("Commands of the workspace…")?;
    assert!(!workspace.path("checked").exists(), "trust alone runs nothing");
    sign(&mut desktop)?;
    desktop.wait_until("the record of the run", |desktop| {
        let done = workspace.path("checked").exists() && !recorded(&desktop.evidence()).is_empty();
        Ok(done.then_some(()))
    })?;
    desktop.screenshot("trust_3_done")?;
    let steps = recorded(&desktop.evidence());
    Ok(steps.into_iter().map(|step| format!("{} {}", step.tool, step.outcome)).collect())
}

#[test]
fn workspace_commands_are_trusted_by_keyboard() {
    let recorded = passes(trusted_and_run(&Workspace::new()));
    assert_eq!(recorded, ["verify succeeded"]);
}
