//! Reverting a run from the window.

use std::path::PathBuf;

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{Recorded, passes, recorded, sign, type_word};

struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let step = |id: &str, tool: &str, path: &str, contents: &str| {
            json!({ "step_id": id, "tool": tool,
                    "arguments": { "path": path, "contents": contents } })
        };
        let plan = json!({
            "plan_id": "gull", "intent": "MUTATE", "title": "Feather the gull",
            "steps": [
                step("w", "file_write", "gull.txt", "feathered\n"),
                step("c", "file_create", "nest/new.txt", "egg\n"),
            ],
        });
        std::fs::write(folder.path().join("gull.json"), plan.to_string()).expect("the plan");
        std::fs::write(folder.path().join("gull.txt"), "bare\n").expect("the file");
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path)).ok()
    }
}

fn there_and_back(workspace: &Workspace) -> Outcome<Vec<String>> {
    let plan = workspace.path("gull.json").display().to_string();
    let mut desktop = Desktop::start_here(&[&plan])?;
    desktop.wait_for_text("Feather the gull")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Completed")?;
    desktop.screenshot("revert_1_completed")?;
    desktop.click("Revert…")?;
    desktop.wait_for_text("Revert Feather the gull")?;
    // Both files are listed before the authorization, and unchanged.
    desktop.wait_for_text("Undoes what 2 steps did to 2 files, all or none.")?;
    desktop.screenshot("revert_2_shown")?;
    assert_eq!(workspace.text("gull.txt").as_deref(), Some("feathered\n"));
    sign(&mut desktop)?;
    // Overwriting files is dangerous: the dialog asks how many there are.
    type_word(&mut desktop, "2 files")?;
    desktop.wait_for_text("It matches. Enter approves.")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Completed")?;
    assert_eq!(workspace.text("gull.txt").as_deref(), Some("bare\n"));
    assert_eq!(workspace.text("nest/new.txt"), None);
    // The revert is an ordinary run, and later work blocks its own revert.
    std::fs::write(workspace.path("gull.txt"), "by hand\n").expect("the file");
    desktop.key("ctrl+shift+r")?;
    desktop.wait_for_text("Would fail: gull.txt was changed later, by no recorded step.")?;
    desktop.screenshot("revert_3_later_work")?;
    Ok(recorded(&desktop.evidence()).into_iter().map(|Recorded { outcome, .. }| outcome).collect())
}

#[test]
fn run_is_reverted_and_later_work_shown() {
    let workspace = Workspace::new();
    let ended = passes(there_and_back(&workspace));
    assert_eq!(ended, ["succeeded"; 3]);
    assert_eq!(workspace.text("gull.txt").as_deref(), Some("by hand\n"));
}
