//! An idle window draws nothing, on any page.

use std::path::Path;
use std::time::Duration;

use super::harness::Desktop;
use super::painting::Painting;
use super::screen::{DriverError, Outcome, PATIENCE};

/// The time without input.
const IDLE: Duration = Duration::from_secs(5);
/// Delayed effects of input, such as tooltips, are over when nothing has been drawn for this long.
const QUIET: Duration = Duration::from_secs(1);

/// A plan without confirmations.
const PLAN: &str = r#"{
  "plan_id": "two-looks", "intent": "READ", "title": "Look twice",
  "steps": [
    {"step_id": "list", "tool": "file_glob", "arguments": {"pattern": "*.json", "root": "."}},
    {"step_id": "read", "tool": "file_read", "arguments": {"path": "looks.plan.json"}}
  ]
}"#;

/// Leaves the window of `program` idle on one page after another. Returns each page with the number of
/// drawings in [`IDLE`].
///
/// # Errors
/// When a page cannot be reached, or never stops drawing.
pub fn drawings_while_idle(program: &Path, pictures: &Path) -> Outcome<Vec<(&'static str, usize)>> {
    let folder =
        tempfile::tempdir().map_err(|e| DriverError(format!("no temporary folder: {e}")))?;
    let plan = folder.path().join("looks.plan.json");
    std::fs::write(&plan, PLAN).map_err(|e| DriverError(format!("no plan: {e}")))?;

    let mut desktop = Desktop::start(program, &[&plan.display().to_string()], pictures)?;
    let mut found = Vec::new();
    desktop.look_at_steps()?;
    found.push(left_alone("with a plan open", &desktop)?);

    desktop.click("Authorize…")?;
    desktop.wait_for_control("Authorize")?;
    found.push(left_alone("with a question in front", &desktop)?);

    desktop.click("Authorize")?;
    desktop.click("Run")?;
    desktop.wait_for_text("Completed")?;
    found.push(left_alone("after a run", &desktop)?);

    desktop.click("Evidence")?;
    desktop.click_starting("file_read looks.plan.json")?;
    desktop.wait_for_text("Decisions")?;
    found.push(left_alone("with a record open", &desktop)?);

    desktop.click("Search evidence")?;
    desktop.type_text("looks")?;
    desktop.wait_until("the search box has the words", |desktop| {
        let tree = desktop.tree()?;
        let value = tree.control("Search evidence").and_then(|it| it.value.clone());
        let there = value.as_deref() == Some("looks");
        Ok((there && tree.focused.as_deref() == Some("Search evidence")).then_some(()))
    })?;
    found.push(left_alone("with the keyboard in the search box", &desktop)?);
    Ok(found)
}

fn left_alone(page: &'static str, desktop: &Desktop) -> Outcome<(&'static str, usize)> {
    let painting = Painting::watch(desktop.display())?;
    let rest = painting.wait_until_quiet(QUIET, PATIENCE);
    rest.map_err(|error| DriverError(format!("{page}: {error}")))?;
    Ok((page, painting.drawings_in(IDLE)?))
}

#[test]
fn an_idle_window_draws_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let found = drawings_while_idle(program, &root.join("target/window/idle"))
        .unwrap_or_else(|error| panic!("{error}"));
    let busy: Vec<_> = found.iter().filter(|(_, drawings)| *drawings > 0).collect();
    assert!(busy.is_empty(), "{busy:?}");
    assert_eq!(found.len(), 5);
}
