//! Zooming the timeline, and choosing times in it, by pointer and by keys.

use egui::{Key, Modifiers, Pos2};

use super::*;

fn chart(harness: &Harness<'_, Window>) -> egui::Rect {
    harness.get_by_label_contains("Timeline of").rect()
}

fn spans(harness: &Harness<'_, Window>) -> Vec<Option<(i64, i64)>> {
    let span = |action: &Action| match action {
        Action::Evidence(EvidenceAction::ShowTimes(span)) => Some(*span),
        _ => None,
    };
    harness.state().actions.iter().filter_map(span).collect()
}

fn searches(harness: &Harness<'_, Window>) -> Vec<String> {
    let text = |action: &Action| match action {
        Action::Evidence(EvidenceAction::Search(text)) => Some(text.clone()),
        _ => None,
    };
    harness.state().actions.iter().filter_map(text).collect()
}

fn button(harness: &mut Harness<'_, Window>, pos: Pos2, pressed: bool) {
    let button = egui::PointerButton::Primary;
    harness.event(egui::Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE });
    harness.run_ok();
}

#[test]
fn the_wheel_and_the_buttons_zoom_and_leave_the_search() {
    let mut harness = page("evidence");
    harness.hover_at(chart(&harness).center());
    harness.run_ok();
    harness.event(egui::Event::MouseWheel {
        source: egui::MouseWheelSource::Wheel,
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, 1.0),
        modifiers: Modifiers::NONE,
        phase: egui::TouchPhase::Move,
    });
    harness.run_ok();
    let zoomed = spans(&harness)[0].unwrap();
    click(&mut harness, "Zoom in");
    let nearer = spans(&harness)[1].unwrap();
    assert!(nearer.0 > zoomed.0 && nearer.1 < zoomed.1, "{zoomed:?} then {nearer:?}");
    click(&mut harness, "Zoom out");
    let wider = spans(&harness)[2].unwrap();
    assert!(wider.0 < nearer.0 && wider.1 > nearer.1);
    assert_eq!(searches(&harness), Vec::<String>::new());
    // Without times of the search, the whole time is the usual span.
    click(&mut harness, "Clear the search");
    click(&mut harness, "The whole time");
    assert_eq!(spans(&harness)[3], None);
}

#[test]
fn a_drag_over_bars_narrows_the_search_to_their_times() {
    let mut harness = page("evidence");
    let bars = chart(&harness);
    let place = |share: f32| Pos2::new(bars.left() + bars.width() * share, bars.center().y);
    harness.hover_at(place(0.3));
    harness.run_ok();
    button(&mut harness, place(0.3), true);
    for share in [0.4, 0.5, 0.6] {
        harness.hover_at(place(share));
        harness.run_ok();
    }
    button(&mut harness, place(0.6), false);
    let text = searches(&harness).pop().unwrap();
    assert!(text.starts_with("function after:20") && text.contains(" before:20"), "{text}");
}

#[test]
fn keys_mark_bars_zoom_and_take_the_times_away() {
    let mut harness = page("brushed");
    harness.get_by_label_contains("Timeline of").focus();
    harness.run_ok();
    harness.key_press(Key::ArrowRight);
    harness.run_ok();
    harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowRight);
    harness.run_ok();
    assert!(harness.query_by_label_contains(", marked: 20").is_some());
    harness.key_press(Key::Plus);
    harness.run_ok();
    assert_eq!(spans(&harness).len(), 1);
    harness.key_press(Key::Enter);
    harness.run_ok();
    let text = searches(&harness).pop().unwrap();
    assert!(text.contains(" after:20") && !text.contains("after:2026-11-08 "), "{text}");
    harness.key_press(Key::Escape);
    harness.run_ok();
    assert_eq!(searches(&harness).pop().unwrap(), "function");
}

#[test]
fn the_times_of_the_search_can_be_taken_away_by_a_button() {
    let mut harness = page("brushed");
    let times = "8 Nov 00:00:00 to 14 Nov 00:00:00";
    assert!(harness.query_by_label_contains(times).is_some());
    click(&mut harness, "Take the times away from the search");
    assert_eq!(searches(&harness), ["function"]);
}

#[test]
fn the_timeline_is_a_table_too() {
    let mut harness = page("evidence");
    click(&mut harness, "Table");
    assert!(harness.query_by_label_contains("Timeline of").is_none());
    let row = harness.query_all_by_label_contains(" fine, ").next().unwrap();
    row.click();
    harness.run_ok();
    assert!(searches(&harness)[0].starts_with("function after:20"));
}
