//! What each viewer shows, and its reaction to input.

mod of_steps;

use std::sync::Arc;
use std::time::Duration;

use egui::{Event, Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::*;
use crate::ui::Command;
use crate::ui::evidence::detail::stored_artifacts_ui;
use crate::ui::tests::{Window, fixture, window};

/// A viewer alone in a window, with the record of a step.
struct Bench {
    detail: ExecutionDetail,
    contents: Contents,
    actions: Vec<Action>,
}

fn bench(name: &str, size: [f32; 2]) -> Harness<'static, Bench> {
    let (detail, contents) = fixture::viewer(name);
    let mut harness = Harness::builder()
        .with_size(size)
        .with_max_steps(64)
        .with_context_setup(crate::ui::theme::install)
        .build_ui_state(
            |ui, bench: &mut Bench| {
                let height = ui.available_height();
                stored_artifacts_ui(ui, &bench.detail, &bench.contents, height, &mut bench.actions);
            },
            Bench { detail, contents, actions: Vec::new() },
        );
    harness.run_ok();
    harness
}

/// Like [`bench`], with `text` loaded as the complete content.
fn long(text: String) -> Harness<'static, Bench> {
    let mut harness = bench("viewer-part", [480.0, 600.0]);
    let digest = harness.state().detail.artifacts[0].blob.unwrap();
    let prepared = Prepared::of_bytes(Shape::Text, text.into_bytes());
    let loaded = LoadState::Ready(Arc::new(prepared));
    harness.state_mut().contents.insert((digest, Shape::Text), loaded);
    harness
}

fn shows(harness: &Harness<'_, Bench>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

fn press(harness: &mut Harness<'_, Bench>, key: Key) {
    harness.key_press(key);
    harness.run_ok();
}

/// The parts of the drawn texts that have this colour.
fn painted(harness: &Harness<'_, Bench>, color: egui::Color32) -> Vec<String> {
    let mut pieces = Vec::new();
    for clipped in &harness.output().shapes {
        if let egui::Shape::Text(text) = &clipped.shape {
            let job = &text.galley.job;
            let sections = job.sections.iter().filter(|it| it.format.color == color);
            pieces.extend(sections.map(|it| {
                let (start, end) = (it.byte_range.start.0, it.byte_range.end.0);
                job.text[start..end].to_owned()
            }));
        }
    }
    pieces
}

fn copied(harness: &Harness<'_, Bench>) -> Option<String> {
    harness.output().platform_output.commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    })
}

/// Presses a button and returns what it copied to the clipboard.
fn copy(harness: &mut Harness<'_, Bench>, button: &str) -> Option<String> {
    let center = harness.get_by_label(button).rect().center();
    click(harness, center);
    copied(harness)
}

/// Clicks, and draws only the frame of the click.
fn click(harness: &mut Harness<'_, Bench>, pos: egui::Pos2) {
    harness.event(Event::PointerMoved(pos));
    for pressed in [true, false] {
        let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos, button, pressed, modifiers });
    }
    harness.step();
}

#[test]
fn a_text_shows_hidden_characters() {
    let mut harness = bench("viewer-text", [480.0, 600.0]);
    assert!(shows(&harness, "⟨U+202E⟩hidden⟨U+202C⟩"));
    assert!(shows(&harness, "⟨ESC⟩[33mwarning"));
    assert!(shows(&harness, "32 lines"));
    harness.get_by_label("stderr").click();
    harness.run_ok();
    assert!(shows(&harness, "error: something") && !shows(&harness, "unused variable"));
    assert_eq!(copy(&mut harness, "Copy stderr").unwrap(), "error: something\n");
    harness.get_by_label("Save stderr as…").click();
    harness.run_ok();
    let content = SavedContent::Text("error: something\n".into());
    let save = ArtifactAction::Save { name: "stderr.txt".into(), content };
    assert_eq!(harness.state().actions, [Action::Artifact(save)]);
}

#[test]
fn a_text_is_searched_by_key() {
    let lines: String = (1..=500).map(|line| format!("line {line} has a Heron\n")).collect();
    let mut harness = long(lines);
    harness.run_ok();
    assert!(shows(&harness, "line 1 has") && !shows(&harness, "line 250 has"));
    // The search key works while the list has the focus.
    harness.get_by_role_and_label(egui::accesskit::Role::List, "stdout").click();
    harness.run_ok();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    harness.run_ok();
    harness.get_by_label("Find in stdout").type_text("250 has");
    harness.run_ok();
    assert!(shows(&harness, "1 of 1") && shows(&harness, "line 250 has"));
    press(&mut harness, Key::Escape);
    assert!(!shows(&harness, "1 of 1"));
    harness.get_by_label("Find in stdout").focus();
    harness.run_ok();
    harness.get_by_label("Find in stdout").type_text("heron");
    harness.run_ok();
    assert!(shows(&harness, "1 of 500"));
    press(&mut harness, Key::Enter);
    press(&mut harness, Key::Enter);
    assert!(shows(&harness, "3 of 500"));
    harness.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
    harness.run_ok();
    assert!(shows(&harness, "2 of 500"));
    harness.get_by_label("Previous hit").click();
    harness.run_ok();
    harness.get_by_label("Previous hit").click();
    harness.run_ok();
    assert!(shows(&harness, "500 of 500") && shows(&harness, "line 500 has"));
}

#[test]
fn keys_scroll_a_list_and_escape_leaves_it() {
    let lines: String = (1..=5_000).map(|line| format!("row {line}.\n")).collect();
    let mut harness = long(lines);
    harness.run_ok();
    harness.get_by_role_and_label(egui::accesskit::Role::List, "stdout").click();
    harness.run_ok();
    assert!(has_keyboard(&harness.ctx));
    press(&mut harness, Key::End);
    assert!(shows(&harness, "row 5000."));
    press(&mut harness, Key::PageUp);
    press(&mut harness, Key::PageUp);
    assert!(!shows(&harness, "row 5000."));
    press(&mut harness, Key::Home);
    press(&mut harness, Key::ArrowDown);
    harness.event(Event::Copy);
    harness.step();
    assert_eq!(copied(&harness).unwrap(), "row 2.");
    press(&mut harness, Key::Escape);
    harness.run_ok();
    assert!(!has_keyboard(&harness.ctx));
}

/// The CPU time of this thread for one frame, in seconds; the load of other processes does not count.
fn time_of_step<State>(harness: &mut egui_kittest::Harness<'_, State>) -> f64 {
    let now = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(now).unwrap()
    };
    let start = now();
    harness.step();
    (now() - start).as_secs_f64()
}

// A text of 1.5 million lines, and one line of ten megabytes.
#[test]
fn long_texts_are_drawn_in_time() {
    let many = "a line\n".repeat(1_500_000);
    let wide = "wide ".repeat(2 << 20);
    for (name, text, last) in [("many", many, "1500000"), ("wide", wide, "wide wide")] {
        let mut harness = long(text);
        let mut longest = 0.0_f64;
        for _ in 0..40 {
            longest = longest.max(time_of_step(&mut harness));
        }
        let steady = time_of_step(&mut harness);
        println!("{name}: longest {longest:.3} s, then {steady:.3} s");
        // The limits are for an unoptimized build; an optimized one takes a tenth of the time.
        assert!(longest < 0.5 && steady < 0.1, "{name}: {longest} {steady}");
        harness.get_by_role_and_label(egui::accesskit::Role::List, "stdout").click();
        harness.run_ok();
        press(&mut harness, Key::End);
        harness.run_ok();
        assert!(shows(&harness, if name == "many" { "a line" } else { last }), "{name}");
        let drawn = harness.query_all_by_label_contains("wide wide").count()
            + harness.query_all_by_label_contains("a line").count();
        assert!((5..60).contains(&drawn), "{name}: {drawn} rows are drawn");
    }
}

#[test]
fn tree_nodes_open_and_are_copied() {
    let mut harness = bench("viewer-tree", [480.0, 600.0]);
    assert!(shows(&harness, "changed_files 2 items") && shows(&harness, "path \"src/lib.rs\""));
    harness.get_by_role_and_label(egui::accesskit::Role::List, "result").click();
    harness.run_ok();
    press(&mut harness, Key::Home);
    for _ in 0..2 {
        press(&mut harness, Key::ArrowDown);
    }
    let path = copy(&mut harness, "Copy path").unwrap();
    assert_eq!(path, "/changed_files");
    harness.get_by_role_and_label(egui::accesskit::Role::List, "result").focus();
    harness.run_ok();
    press(&mut harness, Key::ArrowLeft);
    assert!(!shows(&harness, "path \"src/lib.rs\""), "collapsed");
    let value = copy(&mut harness, "Copy value").unwrap();
    assert!(value.contains("\"path\": \"src/lib.rs\""), "{value}");
    harness.get_by_role_and_label(egui::accesskit::Role::List, "result").focus();
    harness.run_ok();
    press(&mut harness, Key::Enter);
    assert!(shows(&harness, "path \"src/lib.rs\""), "expanded again");
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::ArrowLeft);
    press(&mut harness, Key::ArrowLeft);
    assert!(!shows(&harness, "path \"src/lib.rs\""), "to the parent, then collapsed");
    harness.get_by_label("Text").click();
    harness.run_ok();
    assert!(shows(&harness, "\"changed_files\": ["));
}

#[test]
fn table_rows_are_sorted_and_copied() {
    let mut harness = bench("viewer-table", [600.0, 500.0]);
    assert!(shows(&harness, "400 rows"));
    let first = |harness: &mut Harness<'_, Bench>| {
        let list = harness.get_by_role_and_label(egui::accesskit::Role::List, "stdout").rect();
        click(harness, list.left_top() + egui::vec2(30.0, 5.0));
        harness.run_ok();
        copy(harness, "Copy row").unwrap()
    };
    assert!(first(&mut harness).starts_with("src/parser/token.rs\t7\t1\t"));
    harness.get_by_label("Sort by file").click();
    harness.run_ok();
    assert!(first(&mut harness).starts_with("src/lib.rs\t"));
    harness.get_by_label("Sort by file, sorted upwards").click();
    harness.run_ok();
    assert!(first(&mut harness).starts_with("tests/round_trip.rs\t"));
    harness.get_by_label("Sort by file, sorted downwards").click();
    harness.run_ok();
    assert!(
        first(&mut harness).starts_with("src/parser/token.rs\t7\t1\t"),
        "in the original order"
    );
    harness.get_by_label("Sort by line").click();
    harness.run_ok();
    harness.get_by_label("Sort by line, sorted upwards").click();
    harness.run_ok();
    assert!(first(&mut harness).contains("\t416\t"), "sorted by number, not as text");
    let drawn = harness.query_all_by_label_contains("old_function").count();
    assert!((5..40).contains(&drawn), "{drawn} of 400 rows");
}

#[test]
fn a_diff_looks_like_those_of_steps() {
    let mut harness = bench("viewer-diff", [600.0, 700.0]);
    assert!(shows(&harness, "+    n.saturating_add(2)") && shows(&harness, "src/other.rs"));
    assert!(shows(&harness, "2 files"));
    harness.get_by_label("Side by side").click();
    harness.run_ok();
    assert!(shows(&harness, "n.saturating_add(2)"));
    assert!(copy(&mut harness, "Copy diff").unwrap().starts_with("--- a/src/lib.rs\n+++ b/"));
}

#[test]
fn hex_rows_fit_the_width() {
    let harness = bench("viewer-hex", [480.0, 500.0]);
    assert!(shows(&harness, "00000008  "), "eight bytes in a row");
    let mut harness = bench("viewer-hex", [800.0, 500.0]);
    assert!(shows(&harness, "00000010  ") && !shows(&harness, "00000008  "));
    let text = copy(&mut harness, "Copy stdout").unwrap();
    assert_eq!(text.lines().count(), 5_000_usize.div_ceil(16));
    harness.get_by_label("Save stdout as…").click();
    harness.run_ok();
    let saved = harness.state().actions.last().cloned().unwrap();
    let digest = harness.state().detail.artifacts[0].blob.unwrap();
    let content = SavedContent::Stored { digest, shape: Shape::Text };
    let name = "stdout.bin".to_owned();
    let save = ArtifactAction::Save { name, content };
    assert_eq!(saved, Action::Artifact(save), "the stored bytes");
}

// The complete artifact can be requested.
#[test]
fn a_long_artifact_shows_its_beginning_first() {
    let mut harness = bench("viewer-part", [480.0, 500.0]);
    let digest = harness.state().detail.artifacts[0].blob.unwrap();
    assert!(shows(&harness, "unused variable: "));
    harness.get_by_label("Show all (47 KiB)").click();
    harness.run_ok();
    harness.get_by_label("Copy stdout").click();
    harness.run_ok();
    harness.get_by_label("Save stdout as…").click();
    harness.run_ok();
    let shape = Shape::Text;
    let content = SavedContent::Stored { digest, shape };
    let wanted = [
        ArtifactAction::Load { digest, shape, copy: false },
        ArtifactAction::Load { digest, shape, copy: true },
        ArtifactAction::Save { name: "stdout.txt".into(), content },
    ];
    assert_eq!(harness.state().actions, wanted.map(Action::Artifact));
    for (name, message) in [
        ("viewer-loading", "Reading the rest…"),
        ("viewer-sealed", "is encrypted"),
        ("viewer-empty", "The stdout is empty."),
    ] {
        let harness = bench(name, [480.0, 500.0]);
        assert!(shows(&harness, message), "{name}");
        assert!(!shows(&harness, "Show all"), "{name}");
    }
    let mut harness = bench("viewer-part", [480.0, 500.0]);
    let artifact = &mut harness.state_mut().detail.artifacts[0];
    artifact.bytes = MAX_SHOWN_BYTES + 1;
    harness.run_ok();
    assert!(shows(&harness, "too large to show") && !shows(&harness, "Show all"));
}

#[test]
fn a_focused_viewer_keeps_its_keys() {
    let mut harness: Harness<'_, Window> = window("viewer-tree", [1280.0, 800.0]);
    harness.get_by_role_and_label(egui::accesskit::Role::List, "result").click();
    harness.run_ok();
    harness.state_mut().actions.clear();
    for key in [Key::ArrowDown, Key::ArrowDown, Key::ArrowLeft] {
        harness.key_press(key);
        harness.run_ok();
    }
    harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    harness.run_ok();
    assert_eq!(harness.state().actions, [], "neither another step nor another page");
    harness.key_press(Key::Escape);
    harness.run_ok();
    harness.key_press(Key::ArrowDown);
    harness.run_ok();
    assert_eq!(harness.state().actions, [Action::Do(Command::NextStep)]);
}
