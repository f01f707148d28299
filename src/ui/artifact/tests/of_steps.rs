//! The output and the differences of a step.

use super::*;

#[test]
fn step_output_has_the_same_viewers() {
    let mut harness: Harness<'_, Window> = window("completed", [1280.0, 800.0]);
    harness.get_by_role_and_label(egui::accesskit::Role::Tab, "Output").click();
    harness.run_ok();
    assert!(harness.query_by_label("Find in stdout").is_some());
    assert!(harness.query_by_label("Copy stdout").is_some());
}

#[test]
fn colours_are_shown_but_not_copied() {
    let mut harness = bench("viewer-colours", [480.0, 600.0]);
    assert!(shows(&harness, "   Compiling parser v0.4.0"));
    assert!(
        shows(&harness, "⟨ESC⟩[2J⟨ESC⟩[1;1Hnothing moves the cursor here"),
        "other escape sequences are shown"
    );
    let red = painted(&harness, crate::ui::theme::DARK.danger).concat();
    assert!(red.contains("FAILED, and what it says") && red.contains("until it ends"), "{red}");
    assert!(!red.contains("then plain"), "{red}");
    let text = copy(&mut harness, "Copy stdout").unwrap();
    assert!(text.contains("test lexer::numbers ... ok\n"), "{text}");
    // A saved file has the original output with every escape sequence.
    harness.get_by_label("Save stdout as…").click();
    harness.run_ok();
    let saved = harness.state().actions.iter().find_map(|action| match action {
        Action::Artifact(ArtifactAction::Save { content: SavedContent::Text(text), .. }) => {
            Some(text)
        }
        _ => None,
    });
    assert!(saved.unwrap().contains("... \u{1b}[32mok\u{1b}[0m\n"));
}

/// Of a long difference only the beginning is there at first: it must not look like all of it.
#[test]
fn a_cut_difference_names_the_number_of_all_files() {
    use crate::run::{EdgeType, TargetKind};
    let file =
        |number: usize| format!("--- /dev/null\n+++ b/{number}.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    let head: String = (0..5).map(file).collect();
    let head = Value::from(head.trim_end_matches("+b\n")).to_string();
    let mut harness = bench("viewer-part", [480.0, 600.0]);
    let bench = harness.state_mut();
    let artifact = &mut bench.detail.artifacts[0];
    artifact.artifact_type = "diff".to_owned();
    artifact.content = serde_json::json!({ "head": head.trim_end_matches('"') });
    let edge = |number| Edge::new(EdgeType::Affected, TargetKind::File, format!("{number}.txt"));
    bench.detail.edges = (0..16).map(edge).collect();
    harness.run_ok();
    assert!(shows(&harness, "Only the beginning is shown. The first 5 of 16 files."));
    assert!(shows(&harness, "3.txt  new  +2") && shows(&harness, "4.txt  new  cut here"));
    harness.state_mut().detail.edges.clear();
    harness.run_ok();
    assert!(shows(&harness, "Only the beginning is shown. At least 5 files."));
}
