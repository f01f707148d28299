//! What the authorization dialog says about each step, and which steps it folds.

use super::*;

#[test]
fn authorization_shows_its_coverage_and_is_given() {
    let mut harness = large_window("authorize");
    let plan = fixture::plan();
    for text in [
        "5 steps: 3 caution, 2 safe",
        "2 files: 1 new, 1 replaced",
        "Asks 1×: Step 3",
        "Step 3: The plan asks for it.",
        "Step 4 may change something that the evidence cannot restore.",
        "Write src/lib.rs, +3 −1 · caution · asks",
        "src/lib.rs, replaced",
    ] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
    wait(&mut harness, 1_000);
    harness.get_by_label_contains("What exactly it covers").click();
    harness.run_ok();
    harness.key_press(Key::End);
    harness.run_ok();
    for text in [plan.digest.to_string().as_str(), "CHANGELOG.md", "    does not exist yet"] {
        assert!(harness.query_all_by_label(text).next().is_some(), "{text}");
    }
    harness.get_by_label("Authorize").click();
    harness.run_ok();
    let authorize = Action::Dialog(DialogAction::Authorize(plan.digest));
    assert!(harness.state().actions.contains(&authorize));
}

fn shows(harness: &Harness<'static, Window>, text: &str) -> bool {
    harness.query_all_by_label(text).next().is_some()
}

#[test]
fn a_step_says_what_it_gets_beyond_its_walls() {
    for size in [[1280.0, 800.0], [900.0, 600.0]] {
        let mut harness = window("authorize-walls", size);
        harness.key_press(Key::PageDown);
        harness.run_ok();
        let walls = "Walls: full, with network, writes /home/ada/.cargo/registry, writes /home/ada/.cargo/git.";
        let of_row = |row: &str| {
            let rows = harness.get_all_by_role(egui::accesskit::Role::Label);
            let rows = rows.filter_map(|node| node.accesskit_node().label());
            let rows: Vec<_> = rows.skip_while(|it| !it.starts_with(row)).take(2).collect();
            rows.get(1).cloned().unwrap_or_default()
        };
        // A long sentence takes several rows.
        assert!(walls.starts_with(&of_row("cargo build")), "{}", of_row("cargo build"));
        let open = "No walls: the step may do everything that you may.";
        assert!(shows(&harness, open));
        assert!(shows(&harness, "Walls: full, with a terminal, into which you type."));
        let name = "git status --short && git log --oneline -5, safe";
        assert!(shows(&harness, name) && !of_row(name).starts_with("Walls"));
    }
}

#[test]
fn folded_steps_are_shown_on_request() {
    let mut harness = window("authorize-many", [900.0, 600.0]);
    wait(&mut harness, 1_000);
    let first = "Read src/f0.rs, safe";
    assert!(shows(&harness, "Create gen/d1/file_001.rs, +3 −0 · caution"));
    assert!(!shows(&harness, first));
    harness.get_by_label("370 steps only read and do not ask. Show them").focus();
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_ok();
    assert!(shows(&harness, first));
    harness
        .get_by_label(
            "370 steps that only read and do not ask are shown in their places. Fold them",
        )
        .click();
    harness.run_ok();
    assert!(!shows(&harness, first));
    assert!(harness.state().actions.is_empty());
}

#[test]
fn files_that_a_revert_deletes_are_said_to_be_deleted() {
    let harness = large_window("authorize-revert");
    for text in
        ["2 files: 1 replaced, 1 deleted, +1 −12", "CHANGELOG.md, deleted", "src/lib.rs, replaced"]
    {
        assert!(shows(&harness, text), "{text}");
    }
}

/// What the checks of a plan warn of is in front, above the figures, and whole.
#[test]
fn warnings_about_the_plan_are_above_the_figures() {
    let harness = large_window("authorize-revert");
    let warning = "Step 4 ran a program: its effects beyond the files named here are not reverted: Check the workspace";
    let warning = harness
        .query_all_by_label_contains(warning)
        .max_by(|a, b| a.rect().left().total_cmp(&b.rect().left()));
    let figure = harness.get_by_label("2 files: 1 replaced, 1 deleted, +1 −12");
    let warning = warning.unwrap();
    assert!(warning.rect().bottom() <= figure.rect().top());
    assert!(
        harness.query_all_by_label_contains("Step 4 ran a program").count() > 1,
        "and on the page"
    );
    // "All restorable" would contradict the warning.
    assert!(shows(&harness, "Files restorable: replaced contents are kept"));
}

#[test]
fn the_keyboard_is_seen_on_what_is_folded() {
    let mut harness = large_window("authorize");
    let accent = harness.ctx.style_of(harness.ctx.theme()).visuals.hyperlink_color;
    let rings = |harness: &Harness<'static, Window>, rect: egui::Rect| {
        harness.output().shapes.iter().any(|clipped| match &clipped.shape {
            egui::Shape::Rect(shape) => shape.stroke.color == accent && shape.rect == rect,
            _ => false,
        })
    };
    let header = "What exactly it covers";
    assert!(!rings(&harness, harness.get_by_label_contains(header).rect()));
    harness.get_by_label_contains(header).focus();
    harness.run_ok();
    assert!(rings(&harness, harness.get_by_label_contains(header).rect()));
}

/// In a small window at a large zoom the title wraps, and the keyboard brings it into view.
#[test]
fn what_is_folded_is_in_view_with_the_keyboard() {
    let mut harness = window("authorize", [450.0, 311.0]);
    wait(&mut harness, 1_000);
    let header = |harness: &Harness<'static, Window>| {
        harness.get_by_label_contains("What exactly it covers").rect()
    };
    assert!(header(&harness).right() < 450.0 - 16.0, "{:?}", header(&harness));
    harness.get_by_label_contains("What exactly it covers").focus();
    harness.run_ok();
    let footer = harness.get_by_label("Not now").rect().top();
    assert!(header(&harness).bottom() <= footer, "{:?}", header(&harness));
}

#[test]
fn what_is_behind_a_failing_step_is_not_counted() {
    let harness = large_window("authorize-ends");
    for text in [
        "5 steps: 3 caution, 2 safe, would end at step 3",
        "2 files: 2 not written",
        "Create CHANGELOG.md, caution · not reached",
        "The run would end at step 3; the 2 steps behind it would not run.",
    ] {
        assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
    }
}

#[test]
fn a_step_that_would_fail_and_its_file_are_marked() {
    let harness = large_window("authorize-fails");
    for text in [
        "2 files: 1 replaced, 1 not written, +3 −1",
        "Create CHANGELOG.md, caution · would fail",
        "Step 5 would fail now: cannot create CHANGELOG.md: it exists already. The run would end at step 5.",
    ] {
        assert!(shows(&harness, text), "{text}");
    }
}
