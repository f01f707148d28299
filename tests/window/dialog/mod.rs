//! The approval dialog in the real window.
//!
//! Decisions are read from the evidence and effects from the disk; the screen only shows when to act. To assert that
//! something did not happen, a test first waits for a later event.

mod answers;
mod authorize;
mod undecided;
mod whole;

use std::path::PathBuf;

use serde_json::{Value, json};

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{authorize, passes, read, type_word};

const APPROVE: &str = "Approve this step";
const SKIP: &str = "Skip this step";
const DENY: &str = "Deny and stop";

/// A workspace with one plan.
struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new(steps: Value) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let plan = json!({
            "plan_id": "questions",
            "intent": "MUTATE",
            "title": "Steps that ask",
            "steps": steps,
        });
        let text = serde_json::to_string_pretty(&plan).expect("the plan as JSON");
        std::fs::write(folder.path().join("questions.plan.json"), text).expect("the plan file");
        Self { folder }
    }

    /// A plan whose steps each ask and create one of the files `made/1` to `made/COUNT`.
    fn creating(count: usize) -> Self {
        let all = Self::new((1..=count).map(|number| create(&format!("made/{number}"))).collect());
        // So that all questions have the same height, with the buttons in the same place.
        std::fs::create_dir(all.path("made")).expect("the folder of the files");
        all
    }

    fn plan(&self) -> PathBuf {
        self.folder.path().join("questions.plan.json")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The files that the steps have created so far.
    fn made(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path("made")) else { return Vec::new() };
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// A step that asks, and creates a file.
fn create(path: &str) -> Value {
    json!({
        "step_id": format!("create {path}"),
        "tool": "file_create",
        "arguments": { "path": path, "contents": "made\n" },
        "requires_confirmation": true,
    })
}

/// Opens the window and authorizes the plan. Nothing runs yet.
fn authorized(workspace: &Workspace) -> Outcome<Desktop> {
    let mut desktop = Desktop::start_here(&[&workspace.plan().display().to_string()])?;
    authorize(&mut desktop)?;
    Ok(desktop)
}

/// The recorded decisions, in order: the step's number from 1, or 0 for the run, and the decision.
fn decisions(desktop: &Desktop) -> Vec<(u32, String)> {
    let sql = "SELECT coalesce(step_index + 1, 0), decision FROM decisions
               WHERE run_id IS NOT NULL ORDER BY id";
    read(&desktop.evidence(), sql, |row| Ok((row.get(0)?, row.get(1)?)))
}

fn expected(decided: &[(u32, &str)]) -> Vec<(u32, String)> {
    decided.iter().map(|&(step, word)| (step, word.to_owned())).collect()
}

/// The outcomes of the recorded steps, in order.
fn outcomes(desktop: &Desktop) -> Vec<String> {
    read(&desktop.evidence(), "SELECT outcome FROM executions ORDER BY rowid", |row| row.get(0))
}

/// The number of rows in a table of the evidence; 0 before the database exists.
fn rows(desktop: &Desktop, table: &str) -> u32 {
    if !desktop.evidence().join("execution_log.db").exists() {
        return 0;
    }
    let counted: Vec<u32> =
        read(&desktop.evidence(), &format!("SELECT count(*) FROM {table}"), |row| row.get(0));
    counted.into_iter().sum()
}

/// Waits for the question of this step, from 1.
fn wait_for_question(desktop: &mut Desktop, number: usize) -> Outcome {
    desktop.wait_for_text(&format!("Execute step {number} of "))
}

/// Waits until the question in front may be approved.
fn wait_until_armed(desktop: &mut Desktop) -> Outcome {
    desktop.wait_until("the question may be approved", |desktop| {
        Ok(desktop.tree()?.control(APPROVE).filter(|control| !control.disabled).map(|_| ()))
    })
}
