//! An input method composes a text in a field: its keys do nothing else.

use egui::{Event, ImeEvent, Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::*;
use crate::ui::overlay::Overlay;

type Window = Harness<'static, Bench>;

fn window(bench: Bench) -> Window {
    let frame = |ui: &mut egui::Ui, bench: &mut Bench| {
        bench.app.begin_frame(ui.ctx());
        bench.app.draw_and_apply(ui);
    };
    let mut window = Harness::builder()
        .with_size([1280.0, 800.0])
        .with_context_setup(crate::ui::theme::install)
        .build_ui_state(frame, bench);
    window.run_ok();
    window
}

/// Draws a frame with these events, as the window system delivers them.
fn deliver(window: &mut Window, events: &[Event]) {
    let mut input = std::mem::take(window.input_mut());
    input.events.extend_from_slice(events);
    let ctx = window.ctx.clone();
    window.state_mut().app.defer_keys(&ctx, &mut input);
    *window.input_mut() = input;
    window.step();
}

/// Lets the person do nothing for half a second.
fn pause(window: &mut Window) {
    for _ in 0..30 {
        deliver(window, &[]);
    }
}

fn preedit(text: &str) -> Event {
    Event::Ime(ImeEvent::Preedit { text: text.to_owned(), active_range_chars: None })
}

fn commit(text: &str) -> Event {
    Event::Ime(ImeEvent::Commit(text.to_owned()))
}

fn press(key: Key, modifiers: Modifiers) -> Event {
    Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
}

fn searched(window: &Window) -> Option<String> {
    let is_open = matches!(window.state().app.overlay, Some(Overlay::Palette));
    let field = window.query_by_label("Find a command").filter(|_| is_open)?;
    Some(field.value().unwrap_or_default())
}

#[test]
fn keys_of_a_composition_run_and_close_nothing() {
    let mut window = window(Bench::new());
    let bench = window.state_mut();
    let ctx = bench.ctx.clone();
    bench.app.apply(Action::Do(Command::Palette), &ctx);
    pause(&mut window);
    assert_eq!(searched(&window).as_deref(), Some(""));
    let enter = press(Key::Enter, Modifiers::NONE);
    let escape = press(Key::Escape, Modifiers::NONE);
    let page = press(Key::Num2, Modifiers::COMMAND);

    deliver(&mut window, &[preedit("zoom")]);
    assert_eq!(searched(&window).as_deref(), Some("zoom"), "it is visible while it is composed");
    deliver(&mut window, &[enter.clone(), page.clone()]);
    assert_eq!(searched(&window).as_deref(), Some("zoom"));
    assert_eq!(window.state().app.shared.page, Page::Plan);
    deliver(&mut window, std::slice::from_ref(&escape));
    assert_eq!(searched(&window).as_deref(), Some(""), "Escape cancels the composition alone");

    pause(&mut window);
    deliver(&mut window, &[preedit("evidence")]);
    deliver(&mut window, &[preedit(""), commit("evidence"), enter.clone()]);
    deliver(&mut window, std::slice::from_ref(&escape));
    assert_eq!(
        searched(&window).as_deref(),
        Some("evidence"),
        "it was the key of the input method"
    );
    pause(&mut window);
    deliver(&mut window, &[enter]);
    pause(&mut window);
    assert_eq!(searched(&window), None, "this one is the person's");
}
