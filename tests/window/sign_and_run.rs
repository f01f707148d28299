//! The main workflow: a plan is opened, authorized, run and found in the evidence.

use std::path::{Path, PathBuf};

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{Recorded, recorded};

/// A word in the file that one step reads and in the content that the other would write.
pub(super) const WORD: &str = "quartermaster";

/// A workspace with one note, and a plan that lists it, reads it and would create another.
pub(super) struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("notes")).expect("the notes folder");
        std::fs::write(
            folder.path().join("notes/crew.md"),
            format!("The {WORD} keeps the keys.\n"),
        )
        .expect("the note");
        let plan = serde_json::json!({
            "plan_id": "crew-list",
            "intent": "MUTATE",
            "title": "Read the note, then write the list",
            "steps": [
                {
                    "step_id": "list",
                    "tool": "file_glob",
                    "arguments": { "pattern": "*.md", "root": "notes" }
                },
                {
                    "step_id": "read",
                    "tool": "file_read",
                    "arguments": { "path": "notes/crew.md" },
                    "precondition": "file exists",
                    "requires_confirmation": true
                },
                {
                    "step_id": "write",
                    "tool": "file_create",
                    "arguments": { "path": "notes/list.md", "contents": format!("1. {WORD}\n") },
                    "precondition": "read succeeded",
                    "requires_confirmation": true
                }
            ]
        });
        let text = serde_json::to_string_pretty(&plan).expect("the plan as JSON");
        std::fs::write(folder.path().join("crew.plan.json"), text).expect("the plan file");
        Self { folder }
    }

    pub(super) fn plan(&self) -> PathBuf {
        self.folder.path().join("crew.plan.json")
    }

    pub(super) fn note_that_was_denied(&self) -> PathBuf {
        self.folder.path().join("notes/list.md")
    }
}

fn open_with_the_picker(desktop: &mut Desktop, plan: &Path) -> Outcome {
    desktop.click("Open plan…")?;
    desktop.choose_file(plan)?;
    desktop.wait_for_text("Read the note, then write the list")
}

fn the_main_way(workspace: &Workspace) -> Outcome<Vec<Recorded>> {
    let mut desktop = Desktop::start_here(&[])?;

    open_with_the_picker(&mut desktop, &workspace.plan())?;
    desktop.screenshot("main_way_2_plan")?;

    desktop.look_at_steps()?;
    desktop.click("Authorize…")?;
    desktop.wait_for_control("Authorize")?;
    desktop.screenshot("main_way_3_authorize")?;
    desktop.click("Authorize")?;
    desktop.click("Run")?;

    desktop.wait_for_text("Execute step 2 of 3: file_read?")?;
    desktop.screenshot("main_way_4_first_dialog")?;
    desktop.click("Approve this step")?;

    desktop.wait_for_text("Execute step 3 of 3: file_create?")?;
    desktop.screenshot("main_way_5_second_dialog")?;
    desktop.click("Deny and stop")?;
    desktop.wait_until_gone("Deny and stop")?;
    desktop.screenshot("main_way_6_denied")?;

    desktop.click("Evidence")?;
    desktop.click("Search evidence")?;
    desktop.type_text(WORD)?;
    desktop.key("Return")?;
    desktop.wait_until("the search finds these two steps and not the third", |desktop| {
        let tree = desktop.tree()?;
        let finds = |start: &str| tree.control_starting(start).is_some();
        Ok((finds("file_read notes/crew.md, succeeded")
            && finds("file_create notes/list.md, denied")
            && !finds("file_glob *.md in notes"))
        .then_some(()))
    })?;
    desktop.screenshot("main_way_7_evidence")?;
    desktop.click_starting("file_create notes/list.md, denied")?;
    desktop.wait_for_text("Decisions")?;
    desktop.screenshot("main_way_8_execution")?;
    Ok(recorded(&desktop.evidence()))
}

#[test]
fn plan_is_opened_signed_run_and_found() {
    let workspace = Workspace::new();
    let recorded = match the_main_way(&workspace) {
        Ok(recorded) => recorded,
        Err(error) => panic!("{error}"),
    };
    let list = Recorded { tool: "file_glob".into(), success: true, outcome: "succeeded".into() };
    let read = Recorded { tool: "file_read".into(), success: true, outcome: "succeeded".into() };
    let write = Recorded { tool: "file_create".into(), success: false, outcome: "denied".into() };
    assert_eq!(recorded, [list, read, write]);
    assert!(!workspace.note_that_was_denied().exists(), "a denied step writes nothing");
}
