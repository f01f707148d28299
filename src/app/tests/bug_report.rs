//! The bug report in the window.

use super::*;
use crate::ui::action::WindowAction;
use crate::ui::overlay::Overlay;

fn text(app: &App) -> Option<String> {
    match &app.overlay {
        Some(Overlay::BugReport(view)) => view.text.clone(),
        _ => None,
    }
}

fn copied(bench: &Bench) -> Vec<String> {
    let commands = bench.ctx.output(|output| output.commands.clone());
    let texts = commands.into_iter().filter_map(|it| match it {
        egui::OutputCommand::CopyText(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

#[test]
fn report_is_shown_before_it_is_copied() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.app.graphics = vec![("GL renderer".to_owned(), "heron\u{202e} pipe".to_owned())];
    bench.act(Action::Do(Command::BugReport));
    assert_eq!(text(&bench.app), None);
    bench.act(Action::Window(WindowAction::CopyBugReport));
    assert_eq!(copied(&bench), Vec::<String>::new(), "nothing is copied unseen");
    bench.wait_until("the report", |app| text(app).is_some());
    let shown = text(&bench.app).unwrap();
    for part in
        ["GL renderer: heron⟨U+202E⟩ pipe", "font for Chinese: ", "\nwalls\n", "scale: 1.00"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    for content in ["kingfisher", "two-writes", "Two writes", "plan.json"] {
        assert!(!shown.contains(content), "{content}: {shown}");
    }
    bench.act(Action::Window(WindowAction::CopyBugReport));
    assert_eq!(copied(&bench), [shown]);
}

#[test]
fn report_that_was_closed_meanwhile_stays_closed() {
    let (mut bench, _) = bench();
    bench.act(Action::Do(Command::BugReport));
    bench.act(Action::Window(WindowAction::CloseOverlay));
    bench.act(Action::Do(Command::Help));
    // The answer of a later query of the same topic comes after the first one.
    bench.act(Action::Do(Command::BugReport));
    bench.wait_until("the report", |app| text(app).is_some());
    bench.act(Action::Window(WindowAction::CloseOverlay));
    assert!(bench.app.overlay.is_none());
}

#[test]
fn level_of_the_log_that_there_is_not_is_a_fault_of_the_settings() {
    let bench = Bench::with_settings("log = 'loud'");
    let notice = &bench.app.shared.notices[0];
    assert!(notice.details.contains("off, error, warn, info, debug"), "{notice:?}");
    assert!(Bench::with_settings("log = 'debug'").app.shared.notices.is_empty());
}
