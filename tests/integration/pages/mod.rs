//! The pages of the window with made-up data, as text: every control and text with its role, from the accessibility
//! tree. A changed snapshot is a visible change; `INSTA_UPDATE=always` writes the new text.

use std::collections::HashSet;
use std::fmt::Write as _;

use countersign::ui::{theme, window_ui};
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::NodeT as _;
use scene::Scene;

#[path = "../../../examples/gallery/agent.rs"]
mod agent;
#[path = "../../../examples/gallery/batch.rs"]
mod batch;
#[path = "../../../examples/gallery/calls.rs"]
mod calls;
#[path = "../../../examples/gallery/fixture.rs"]
mod fixture;
#[path = "../../../examples/gallery/found.rs"]
mod found;
#[path = "../../../examples/gallery/looking.rs"]
mod looking;
#[path = "../../../examples/gallery/looping.rs"]
mod looping;
#[path = "../../../examples/gallery/revert.rs"]
mod revert;
#[expect(dead_code, reason = "the tests of the views use the rest")]
#[path = "../../../examples/gallery/scene.rs"]
mod scene;
#[path = "../../../examples/gallery/setting.rs"]
mod setting;
#[path = "../../../examples/gallery/signing.rs"]
mod signing;

/// Everything in the window with a name or value, in order of the accessibility tree.
fn page(name: &str) -> String {
    let mut harness = Harness::builder()
        .with_size([1280.0, 800.0])
        .with_max_steps(64)
        .with_context_setup(theme::install)
        .build_ui_state(
            |ui, scene: &mut Scene| {
                let mut actions = Vec::new();
                window_ui(ui, &scene.view(), &mut actions);
                for action in actions {
                    scene.play(&action, ui.ctx());
                }
            },
            Scene::new(name),
        );
    harness.run_ok();
    let mut text = String::new();
    for node in harness.root().children_recursive() {
        let node = node.accesskit_node();
        let words = [node.label(), node.value()].into_iter().flatten().collect::<Vec<_>>();
        // A run of text repeats the label that it belongs to.
        if words.is_empty() || node.role() == Role::TextRun {
            continue;
        }
        let _ = write!(text, "{:?}: {}", node.role(), words.join(" = "));
        for (holds, word) in
            [(node.is_disabled(), "disabled"), (node.is_selected() == Some(true), "selected")]
        {
            if holds {
                let _ = write!(text, " ({word})");
            }
        }
        text.push('\n');
    }
    text
}

fn snapshots(names: &[&str]) {
    for name in names {
        insta::assert_snapshot!(*name, page(name));
    }
}

/// As [`snapshots`], without the lines of the page `behind`, for dialogs and parts of a page.
fn snapshots_over(behind: &str, names: &[&str]) {
    let behind = page(behind);
    let behind: HashSet<&str> = behind.lines().collect();
    for name in names {
        let page = page(name);
        let lines: Vec<_> = page.lines().filter(|line| !behind.contains(line)).collect();
        insta::assert_snapshot!(*name, lines.join("\n"));
    }
}

#[test]
fn plan_pages() {
    snapshots(&["invalid", "command", "guided", "revert", "batch-interrupted"]);
}

#[test]
fn evidence_pages() {
    snapshots(&["evidence", "execution", "tampered", "answer"]);
}

#[test]
fn agent_pages_are_as_recorded() {
    snapshots(&["agent", "agent-waiting", "agent-failed"]);
}

#[test]
fn loop_pages() {
    snapshots(&["loop", "loop-waiting", "loop-completed", "loop-interrupted"]);
}

#[test]
fn other_pages() {
    snapshots(&["plan", "empty", "diagnostics", "simulation"]);
    snapshots(&["settings"]);
    snapshots_over("plan", &["help", "palette", "inbox", "queue", "close-queue"]);
}

#[test]
fn dialogs() {
    snapshots_over("plan", &["authorize", "dialog", "dangerous", "reject", "trust", "close"]);
    snapshots_over("loop", &["loop-trust"]);
}

#[test]
fn viewers() {
    let viewers = ["viewer-text", "viewer-tree", "viewer-table", "viewer-diff", "viewer-hex"];
    snapshots_over("plan", &viewers);
}
