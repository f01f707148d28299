//! Exports from the evidence page, by keyboard, into files chosen in the system's file picker.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, sign};

/// A plan that reads a file.
fn plan(folder: &Path) -> PathBuf {
    let plan = json!({
        "plan_id": "tern", "intent": "READ", "title": "Read the tern",
        "steps": [{ "step_id": "r", "tool": "file_read", "arguments": { "path": "tern.txt" } }],
    });
    std::fs::write(folder.join("tern.txt"), "arctic\n").expect("the file");
    std::fs::write(folder.join("tern.json"), plan.to_string()).expect("the plan");
    folder.join("tern.json")
}

/// Opens the dialog by the palette.
fn ask(desktop: &mut Desktop) -> Outcome {
    desktop.key("ctrl+k")?;
    desktop.type_text("Export")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Export evidence")
}

fn export_twice(folder: &Path) -> Outcome {
    let mut desktop = Desktop::start_here(&[&plan(folder).display().to_string()])?;
    desktop.wait_for_text("Read the tern")?;
    sign(&mut desktop)?;
    desktop.wait_for_text("Completed")?;
    // Everything that the search finds, as a report.
    desktop.key("ctrl+2")?;
    desktop.wait_for_control("Show the run Read the tern")?;
    ask(&mut desktop)?;
    desktop.wait_for_text("1 execution of all runs")?;
    desktop.tab_to("Choose a file…")?;
    desktop.press_once_armed("Choose a file…")?;
    // The picker keeps the ending of the suggested name.
    desktop.choose_file(&folder.join("report"))?;
    desktop.wait_for_text("Exported 1 execution to ")?;
    desktop.screenshot("export_report")?;
    let text = std::fs::read_to_string(folder.join("report.html")).expect("the report");
    assert!(text.contains("Read the tern") && text.contains("arctic"), "{text}");
    // The case file of the open execution's run.
    desktop.key("Down")?;
    desktop.wait_for_text("Close the execution")?;
    ask(&mut desktop)?;
    desktop.click("Case file")?;
    desktop.screenshot("export_case")?;
    desktop.tab_to("Choose a file…")?;
    desktop.press_once_armed("Choose a file…")?;
    desktop.choose_file(&folder.join("case"))?;
    desktop.wait_for_text("case.zip")
}

#[test]
fn a_report_and_a_case_file_are_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(export_twice(folder.path()));
    let case = folder.path().join("case.zip");
    // The verifier in the case file agrees with it.
    let file = std::fs::File::open(&case).expect("the case file");
    let mut archive = zip::ZipArchive::new(file).expect("a zip");
    for name in ["verify.py", "verify_documents.py", "verify_proof.py"] {
        let mut text = String::new();
        archive.by_name(name).expect("a verifier").read_to_string(&mut text).expect("text");
        std::fs::write(folder.path().join(name), text).expect("the verifier");
    }
    let script = folder.path().join("verify.py");
    #[expect(clippy::disallowed_methods, reason = "the verifier is a program of its own")]
    let verified = Command::new("python3").arg(&script).arg(&case).output().expect("python3");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}
