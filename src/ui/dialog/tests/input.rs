//! Which clicks and keys are answers, and which are not.

use egui::{Event, Key, Modifiers, PointerButton, Pos2};

use super::*;

#[test]
fn approval_is_disabled_until_the_delay_passed() {
    for (name, delay) in [("dialog", 0.5), ("authorize", 0.5), ("close", 0.5)] {
        let state = Window { scene: Scene::new(name), actions: Vec::new() };
        let mut harness = Harness::builder()
            .with_size([1280.0, 800.0])
            .with_step_dt(0.02)
            .with_max_steps(1)
            .with_context_setup(crate::ui::theme::install)
            .build_ui_state(
                |ui, (window, times): &mut (Window, Vec<f64>)| {
                    times.push(ui.input(|input| input.time));
                    crate::ui::window_ui(ui, &window.scene.view(), &mut window.actions);
                },
                (state, Vec::new()),
            );
        let button = match name {
            "dialog" => APPROVE,
            "authorize" => "Authorize",
            _ => "Stop and close",
        };
        let enabled = |harness: &Harness<'_, (Window, Vec<f64>)>| {
            !harness.get_by_label(button).accesskit_node().is_disabled()
        };
        let mut steps = 0;
        while !enabled(&harness) {
            harness.step();
            steps += 1;
            assert!(steps < 100, "{name} is never enabled");
        }
        let times = &harness.state().1;
        let elapsed = times.last().unwrap() - times.first().unwrap();
        assert!((delay - 0.001..delay + 0.1).contains(&elapsed), "{name}: {elapsed} s");
    }
}

#[test]
fn an_armed_dialog_is_answered_by_a_click() {
    for (name, decision) in [
        (APPROVE, Decision::Approve),
        ("Skip this step", Decision::Skip),
        ("Deny and stop", Decision::Cancel),
    ] {
        let mut harness = large_window("dialog");
        wait(&mut harness, 1_000);
        harness.get_by_label(name).click();
        harness.run_ok();
        assert_eq!(answers(&harness), [decision]);
    }
}

#[test]
fn a_pointer_held_from_before_approves_nothing() {
    let mut harness = large_window("asking");
    wait(&mut harness, 500);
    let position = button_at(&large_window("dialog"), APPROVE);
    pointer(&harness, position, true);
    harness.step();
    // The dialog appears while the pointer button is down.
    harness.state_mut().scene = Scene::new("dialog");
    wait(&mut harness, 2_000);
    assert!(!enabled(&harness, APPROVE));
    pointer(&harness, position, false);
    harness.run_steps(2);
    assert_eq!(answers(&harness), []);
    assert!(enabled(&harness, APPROVE), "a new press counts");
}

#[test]
fn release_of_an_early_press_is_no_answer() {
    for name in [APPROVE, "Deny and stop"] {
        let mut harness = large_window("plan");
        let position = button_at(&large_window("dialog"), name);
        harness.state_mut().scene = Scene::new("dialog");
        harness.run_steps(2);
        assert!(!enabled(&harness, name));
        pointer(&harness, position, true);
        wait(&mut harness, 2_000);
        pointer(&harness, position, false);
        harness.run_steps(2);
        assert_eq!(answers(&harness), [], "{name}");
    }
}

fn key(key: Key, pressed: bool) -> Event {
    Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: Modifiers::NONE }
}

#[test]
fn a_held_enter_approves_nothing() {
    let mut harness = large_window("asking");
    wait(&mut harness, 500);
    harness.input_mut().events.push(key(Key::Enter, true));
    harness.step();
    harness.state_mut().scene = Scene::new("dialog");
    wait(&mut harness, 2_000);
    for name in [APPROVE, "Skip this step", "Deny and stop"] {
        assert!(!enabled(&harness, name), "{name} while Enter is held");
    }
    harness.input_mut().events.push(key(Key::Enter, false));
    harness.run_steps(2);
    harness.get_by_label(APPROVE).focus();
    harness.run_steps(2);
    assert_eq!(answers(&harness), []);
    harness.input_mut().events.push(key(Key::Enter, true));
    harness.step();
    assert_eq!(answers(&harness), [Decision::Approve], "a new press counts");
    // The key stays down: the next dialog must ignore its repeats.
    harness.state_mut().scene = Scene::new("dialog");
    harness.state_mut().scene.ask_again();
    for _ in 0..8 {
        harness.input_mut().events.push(key(Key::Enter, true));
        harness.step();
    }
    assert_eq!(answers(&harness), [Decision::Approve]);
}

#[test]
fn keys_typed_before_it_was_painted_are_dropped() {
    let mut harness = large_window("asking");
    wait(&mut harness, 500);
    harness.state_mut().scene = Scene::new("dialog");
    for typed in [Key::Escape, Key::Tab, Key::Enter, Key::Space] {
        harness.input_mut().events.extend([key(typed, true), key(typed, false)]);
    }
    harness.run_steps(4);
    assert_eq!(answers(&harness), []);
    assert!(!left_undecided(&harness), "Escape was dropped");
    assert!(!harness.get_by_label("Deny and stop").is_focused(), "Tab was dropped");
}

#[test]
fn the_click_that_focuses_the_window_is_swallowed() {
    for name in [APPROVE, "Deny and stop"] {
        let mut harness = large_window("dialog");
        wait(&mut harness, 1_000);
        harness.input_mut().focused = false;
        harness.event(Event::WindowFocused(false));
        harness.step();
        assert!(harness.query_by_label("Click the window first.").is_some());
        let position = button_at(&harness, name);
        harness.input_mut().focused = true;
        let click = |pressed| Event::PointerButton {
            pos: position,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        let focus = Event::WindowFocused(true);
        harness.input_mut().events.extend([Event::PointerMoved(position), focus, click(true)]);
        harness.step();
        harness.input_mut().events.push(click(false));
        harness.run_steps(2);
        assert_eq!(answers(&harness), [], "{name}");
    }
}

#[test]
fn tab_reaches_deny_first_from_no_focus() {
    let mut harness = large_window("dialog");
    wait(&mut harness, 1_000);
    for name in ["Deny and stop", "Skip this step", APPROVE] {
        assert!(!harness.get_by_label(name).is_focused(), "{name}");
    }
    harness.key_press(Key::Tab);
    harness.run_steps(2);
    assert!(harness.get_by_label("Deny and stop").is_focused());
}

#[test]
fn escape_and_the_backdrop_decide_nothing() {
    let mut harness = large_window("dialog");
    wait(&mut harness, 1_000);
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert!(left_undecided(&harness) && answers(&harness).is_empty());
    assert!(
        harness.query_by_label("Answer step 3").is_some(),
        "the button that reopens the dialog"
    );
    let mut harness = large_window("dialog");
    wait(&mut harness, 1_000);
    let beside = Pos2::new(40.0, 600.0);
    pointer(&harness, beside, true);
    harness.step();
    pointer(&harness, beside, false);
    harness.run_ok();
    assert!(left_undecided(&harness) && answers(&harness).is_empty());
}

#[test]
fn double_click_does_not_close_its_question() {
    let mut harness = Harness::builder()
        .with_size([1280.0, 800.0])
        .with_step_dt(0.02)
        .with_max_steps(1)
        .with_context_setup(crate::ui::theme::install)
        .build_ui_state(
            |ui, window: &mut Window| {
                crate::ui::window_ui(ui, &window.scene.view(), &mut window.actions);
            },
            Window { scene: Scene::new("dialog"), actions: Vec::new() },
        );
    let beside = Pos2::new(40.0, 600.0);
    let click = |harness: &mut Harness<'static, Window>| {
        pointer(harness, beside, true);
        harness.step();
        pointer(harness, beside, false);
        harness.step();
    };
    harness.run_steps(3);
    click(&mut harness);
    assert!(!left_undecided(&harness));
    harness.run_steps(40);
    click(&mut harness);
    assert!(left_undecided(&harness));
}

#[test]
fn double_click_answers_only_one_question() {
    let mut harness = large_window("dialog");
    wait(&mut harness, 1_000);
    let position = button_at(&harness, APPROVE);
    pointer(&harness, position, true);
    pointer(&harness, position, false);
    harness.step();
    assert_eq!(answers(&harness), [Decision::Approve]);
    // The next dialog appears at once in the same position, and the second click hits it.
    harness.state_mut().scene = Scene::new("dialog");
    harness.state_mut().scene.ask_again();
    pointer(&harness, position, true);
    pointer(&harness, position, false);
    harness.run_steps(2);
    assert_eq!(answers(&harness), [Decision::Approve]);
}

#[test]
fn trailing_clicks_press_nothing_behind_the_question() {
    let position = button_at(&large_window("asking"), "Open plan…");
    let click = |harness: &mut Harness<'static, Window>| {
        pointer(harness, position, true);
        harness.step();
        pointer(harness, position, false);
        harness.run_steps(2);
    };
    let pressed = |harness: &Harness<'static, Window>| {
        harness.state().actions.contains(&Action::Do(Command::OpenPlan))
    };
    let mut harness = at_speed("dialog", [1280.0, 800.0]);
    harness.run_steps(40);
    click(&mut harness);
    assert!(left_undecided(&harness));
    harness.state_mut().scene = Scene::new("asking");
    // Six clicks in a row, each shortly after the one before.
    for _ in 0..6 {
        harness.run_steps(8);
        click(&mut harness);
        assert!(!pressed(&harness));
    }
    harness.run_steps(30);
    click(&mut harness);
    assert!(pressed(&harness), "a separate click counts");
}

#[test]
fn keys_scroll_the_body_but_not_buttons() {
    let mut harness = window("dialog", [720.0, 480.0]);
    wait(&mut harness, 1_000);
    let position = button_at(&harness, APPROVE);
    // The contents are the last part.
    let end_visible = |harness: &Harness<'static, Window>| {
        harness.query_by_label(WHOLE).is_some_and(|end| end.rect().bottom() < position.y)
    };
    assert!(!end_visible(&harness));
    harness.key_press(Key::End);
    harness.run_ok();
    assert!(end_visible(&harness));
    assert_eq!(button_at(&harness, APPROVE), position);
    harness.key_press(Key::Home);
    harness.run_ok();
    assert!(!end_visible(&harness));
    harness.key_press(Key::PageDown);
    harness.run_ok();
    harness.key_press(Key::ArrowDown);
    harness.run_ok();
    assert_eq!(button_at(&harness, APPROVE), position);
    assert_eq!(answers(&harness), []);
}

/// The keyboard focus is restored after a dialog, but not after an answer that starts something, because the control
/// may have a different meaning by then.
#[test]
fn focus_returns_to_what_opened_a_question() {
    const BEHIND: &str = "Look at the commands…";
    for (page, question, answer, is_restored) in [
        ("loop-untrusted", "loop-trust", "Not now", true),
        ("loop-untrusted", "loop-trust", "Trust these commands", true),
        ("loop-untrusted", "dialog", APPROVE, false),
        ("untrusted", "trust", "Trust these commands", true),
    ] {
        let mut harness = large_window(page);
        let focused = |harness: &Harness<'static, Window>| {
            harness.query_by_label(BEHIND).is_some_and(|it| it.is_focused())
        };
        harness.get_by_label(BEHIND).focus();
        harness.run_ok();
        assert!(focused(&harness));
        harness.state_mut().scene = Scene::new(question);
        wait(&mut harness, 3_000);
        assert!(!focused(&harness));
        harness.get_by_label(answer).focus();
        harness.run_steps(4);
        harness.input_mut().events.push(key(Key::Enter, true));
        harness.step();
        assert!(harness.state().actions.iter().any(|it| matches!(it, Action::Dialog(_))));
        // The key is held for longer than the dialog is shown.
        harness.state_mut().scene = Scene::new(page);
        harness.run_steps(3);
        assert!(!focused(&harness), "{answer}");
        harness.input_mut().events.push(key(Key::Enter, false));
        harness.run_steps(3);
        assert_eq!(focused(&harness), is_restored, "{answer}");
    }
}

fn reason_field<'a>(harness: &'a Harness<'static, Window>) -> egui_kittest::Node<'a> {
    let of_step = harness.query_by_label("Reason");
    of_step.unwrap_or_else(|| harness.get_by_label("Reason (required)"))
}

/// Text stays with its question while another dialog is in front and while its own is closed, and leaves with the answer.
#[test]
fn typed_text_stays_with_its_question() {
    let mut harness = large_window("dialog");
    wait(&mut harness, 1_000);
    let type_reason = |harness: &mut Harness<'static, Window>, text: &str| {
        reason_field(harness).focus();
        harness.step();
        reason_field(harness).type_text(text);
        harness.run_ok();
    };
    let reason = |harness: &Harness<'static, Window>| reason_field(harness).value();
    type_reason(&mut harness, "It writes too much.");
    harness.state_mut().scene = Scene::new("reject");
    harness.run_ok();
    assert_eq!(reason(&harness).as_deref(), Some(""), "another question has its own text");
    type_reason(&mut harness, "It is the wrong plan.");
    harness.state_mut().scene = Scene::new("asking");
    harness.run_ok();
    harness.state_mut().scene = Scene::new("dialog");
    harness.state_mut().scene.ask_again();
    harness.run_ok();
    assert_eq!(reason(&harness).as_deref(), Some("It writes too much."));
    harness.state_mut().scene = Scene::new("reject");
    harness.run_ok();
    assert_eq!(reason(&harness).as_deref(), Some("It is the wrong plan."));
    wait(&mut harness, 1_000);
    harness.get_by_label("Not now").click();
    harness.run_ok();
    harness.state_mut().scene = Scene::new("reject");
    harness.state_mut().scene.ask_again();
    harness.run_ok();
    assert_eq!(reason(&harness).as_deref(), Some("It is the wrong plan."));
    wait(&mut harness, 1_000);
    harness.get_by_label("Reject").click();
    harness.run_ok();
    harness.state_mut().scene = Scene::new("reject");
    harness.state_mut().scene.ask_again();
    harness.run_ok();
    assert_eq!(reason(&harness).as_deref(), Some(""), "the plan was rejected");
}

#[test]
fn a_secret_is_kept_only_while_it_is_asked_for() {
    let mut harness = window("secret", [900.0, 600.0]);
    wait(&mut harness, 1_000);
    harness.get_by_label("Answer").type_text("kingfisher");
    harness.run_ok();
    let show = |harness: &mut Harness<'static, Window>, name| {
        harness.state_mut().scene = Scene::new(name);
        harness.run_ok();
    };
    show(&mut harness, "close");
    show(&mut harness, "secret");
    assert_eq!(harness.get_by_label("Answer").value().as_deref(), Some("••••••••••"));
    show(&mut harness, "close");
    crate::ui::dialog::keep_drafts(&harness.ctx, |_| false);
    show(&mut harness, "secret");
    assert_eq!(harness.get_by_label("Answer").value().as_deref(), Some(""));
}
