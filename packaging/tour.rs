//! Drives the tour through the real window on a virtual display and saves a picture of each page.
//!
//! `tour PROGRAM TOUR PICTURES`; called by `packaging/run.sh` where there is no display. The program
//! must be built with the feature `inspection`.

#[path = "../tests/window/harness.rs"]
#[expect(dead_code, reason = "the window tests use the rest")]
mod harness;
#[path = "../tests/window/screen.rs"]
mod screen;
#[path = "../tests/window/tree.rs"]
#[expect(dead_code, reason = "the window tests use the rest")]
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use harness::Desktop;
use screen::{DriverError, Outcome};

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [program, tour, pictures] = arguments.as_slice() else {
        eprintln!("usage: tour PROGRAM TOUR PICTURES");
        return ExitCode::from(5);
    };
    match drive(program, tour, pictures) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn drive(program: &Path, tour: &Path, pictures: &Path) -> Outcome {
    // The plan changes files, so it gets a copy of its own.
    let copy = tempfile::tempdir().map_err(|e| DriverError(format!("no temporary folder: {e}")))?;
    let folder = copy.path().join("harbour-lantern");
    copy_folder(tour, &folder)
        .map_err(|e| DriverError(format!("cannot copy {}: {e}", tour.display())))?;
    let plan = folder.join("tour.plan.json").display().to_string();

    let mut desktop = Desktop::start(program, &[&plan], pictures)?;
    desktop.wait_for_control("Next unseen")?;
    keep(&desktop, "1-plan")?;
    desktop.look_at_steps()?;
    desktop.click("Authorize…")?;
    desktop.wait_for_control("Authorize")?;
    keep(&desktop, "2-authorize")?;
    desktop.click("Authorize")?;
    desktop.click("Run")?;

    let mut asked = Vec::new();
    loop {
        let question = desktop.wait_until("the run asks something new, or ends", |desktop| {
            let tree = desktop.tree()?;
            let title = tree.controls.iter().find(|it| it.name.starts_with("Execute step"));
            Ok(match title.map(|title| title.name.clone()) {
                Some(title) => (!asked.contains(&title)).then_some(Some(title)),
                None => tree.shows("Completed").then_some(None),
            })
        })?;
        let Some(question) = question else { break };
        asked.push(question);
        keep(&desktop, &format!("3-step-dialog-{}", asked.len()))?;
        desktop.click("Approve this step")?;
    }
    keep(&desktop, "4-done")?;

    desktop.click("Evidence")?;
    desktop.click("Search evidence")?;
    desktop.type_text("lantern")?;
    desktop.key("Return")?;
    desktop.wait_for_text("file_search")?;
    keep(&desktop, "5-evidence")?;
    desktop.click_starting("file_write src/lib.rs")?;
    desktop.wait_for_text("Decisions")?;
    keep(&desktop, "6-execution")?;

    desktop.click("Light or dark")?;
    keep(&desktop, "7-evidence-light")?;
    desktop.click("Plan")?;
    keep(&desktop, "8-plan-light")
}

fn keep(desktop: &Desktop, name: &str) -> Outcome {
    println!("{}", desktop.screenshot(name)?.display());
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
