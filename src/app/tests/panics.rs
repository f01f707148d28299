//! Panics of the executor thread, of the query thread, and of views.

use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, kittest};

use super::*;
use crate::run::RunFate;

/// The message of a panic inside a view.
const PANIC_MESSAGE: &str = "in the middle of a layer";

/// The state of a window that is drawn in a test.
struct Drawn {
    bench: Bench,
    /// Whether a view panics at the end of the next frame.
    panics: bool,
}

type Window = Harness<'static, Drawn>;

fn window(bench: Bench) -> Window {
    let frame = |ui: &mut egui::Ui, drawn: &mut Drawn| {
        let panics = std::mem::take(&mut drawn.panics);
        let app = &mut drawn.bench.app;
        app.shared.now = now();
        app.drain();
        let actions = app.draw_with(ui, |ui, view, actions| {
            crate::ui::window_ui(ui, view, actions);
            if panics {
                panic_in_view(ui, view, actions);
            }
        });
        for action in actions {
            app.apply(action, ui.ctx());
        }
    };
    let mut window = Harness::builder()
        .with_size([1280.0, 800.0])
        .with_context_setup(crate::ui::theme::install)
        .build_ui_state(frame, Drawn { bench, panics: false });
    window.step();
    window
}

/// Approves the open confirmation, then panics inside a layer while a lock of egui is held.
fn panic_in_view(ui: &mut egui::Ui, view: &crate::ui::WindowView<'_>, actions: &mut Vec<Action>) {
    if let Some(Question::Confirm { request, .. }) = view.dialog.as_ref().map(|it| &it.question) {
        actions.push(Action::Dialog(DialogAction::Answer {
            run_id: request.run_id,
            step_index: request.step_index,
            decision: Decision::Approve,
            reason: String::new(),
        }));
    }
    egui::Modal::new(egui::Id::unique("broken")).show(ui.ctx(), |ui| {
        egui::ScrollArea::vertical().show(ui, |ui| {
            ui.data_mut(|_| panic!("{PANIC_MESSAGE}: \u{202e}desrever"));
        });
    });
}

/// Draws frames until `condition` is true; `name` describes it.
fn draw_until(window: &mut Window, name: &str, condition: impl Fn(&Window) -> bool) {
    for _ in 0..2_000 {
        window.step();
        if condition(window) {
            return;
        }
        let _ = window.state().bench.woken.recv_timeout(Duration::from_millis(5));
    }
    panic!("timed out waiting for: {name}");
}

fn shows(window: &Window, text: &str) -> bool {
    window.query_all(kittest::By::new().label_contains(text)).next().is_some()
}

fn click(window: &mut Window, name: &str) {
    // Draws a frame first, because the control may have moved.
    window.step();
    window.get_by_label(name).click();
    window.step();
    window.step();
}

/// The message that replaces a page after a panic.
const BROKEN: &str = "This page cannot be shown";

#[test]
fn a_panicking_step_dialog_decides_nothing() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    let first = bench.app.view().dialog.unwrap().prompt;
    let mut window = window(bench);
    assert!(shows(&window, "Execute step 2 of 3: file_write?"));

    window.state_mut().panics = true;
    draw_until(&mut window, "the message", |window| shows(window, BROKEN));
    assert!(shows(&window, &format!("{PANIC_MESSAGE}: ⟨U+202E⟩desrever")), "made visible");
    assert!(!shows(&window, "Execute step 2 of 3"), "the dialog is not shown");
    assert!(shows(&window, "Waiting for you: step 2 of 3"), "the bars are still shown");
    let app = &window.state().bench.app;
    assert_eq!(app.situation().asking, Some(1), "the step is undecided");
    assert_eq!(app.plan.shown.as_ref().unwrap().confirmation.answered, None);
    let folder = plan.parent().unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "bittern\n");

    click(&mut window, "Try again");
    draw_until(&mut window, "the question", |window| {
        shows(window, "Execute step 2 of 3: file_write?") && !shows(window, BROKEN)
    });
    let bench = &mut window.state_mut().bench;
    assert_ne!(bench.app.view().dialog.unwrap().prompt, first, "a new display has a new identity");
    bench.answer(1, Decision::Approve);
    bench.wait_for_confirmation(2);
    bench.answer(2, Decision::Approve);
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
    assert_eq!(std::fs::read_to_string(folder.join("b.txt")).unwrap(), "heron\n");
}

#[test]
fn a_panicking_plan_dialog_authorizes_nothing() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::Authorize));
    bench.app.shared.setup.faults.plant("dialog");
    let mut window = window(bench);
    draw_until(&mut window, "the message", |window| shows(window, BROKEN));
    let bench = &mut window.state_mut().bench;
    assert_eq!(bench.session().approval, Approval::None);
    // Keys have no effect while the message is shown.
    window.key_press(egui::Key::Enter);
    window.key_press(egui::Key::F5);
    window.step();
    assert!(shows(&window, BROKEN));
    assert_eq!(window.state().bench.session().approval, Approval::None);
    assert!(!window.state().bench.app.situation().running);
    click(&mut window, "Try again");
    window.state_mut().bench.authorize_in_dialog();
}

impl Bench {
    /// Authorizes the plan in the open dialog.
    fn authorize_in_dialog(&mut self) {
        let digest = self.session().opened.digest;
        assert!(matches!(self.app.view().dialog.unwrap().question, Question::Authorize(_)));
        self.act(Action::Dialog(DialogAction::Authorize(digest)));
        self.wait_until("authorized", |app| app.situation().approved);
    }
}

#[test]
fn a_panicking_page_leaves_other_pages() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    bench.open(&plan);
    let faults = bench.app.shared.setup.faults.clone();
    faults.plant("plan page");
    let mut window = window(bench);
    draw_until(&mut window, "the message", |window| shows(window, BROKEN));
    click(&mut window, "Evidence");
    draw_until(&mut window, "the other page", |window| !shows(window, BROKEN));
    assert_eq!(window.state().bench.app.shared.page, Page::Evidence);

    faults.plant("evidence page");
    draw_until(&mut window, "the message", |window| shows(window, BROKEN));
    window.state_mut().bench.open(&other);
    draw_until(&mut window, "the other plan", |window| !shows(window, BROKEN));
    let bench = &mut window.state_mut().bench;
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
}

/// All views panic; the run can be stopped and the window closed.
#[test]
fn stop_and_close_work_without_views() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    for fault in ["step dialog", "panic page"] {
        bench.app.shared.setup.faults.plant(fault);
    }
    let mut window = window(bench);
    draw_until(&mut window, "the bare message", |window| {
        shows(window, BROKEN) && !shows(window, "Waiting for you")
    });
    assert!(shows(&window, "The run under way continues"));
    click(&mut window, "Stop now");
    let bench = &mut window.state_mut().bench;
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Cancelled));
    click(&mut window, "Try again");
    draw_until(&mut window, "the page", |window| shows(window, "Cancelled at step 2"));
}

#[test]
fn closing_asks_while_a_page_is_broken() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.app.shared.setup.faults.plant("step dialog");
    let mut window = window(bench);
    draw_until(&mut window, "the message", |window| shows(window, BROKEN));
    window.state_mut().bench.app.shared.show_prompt(Some(Prompt::Close));
    draw_until(&mut window, "the question", |window| shows(window, "Stop the run and close"));
    let bench = &mut window.state_mut().bench;
    bench.act(Action::Dialog(DialogAction::StopAndClose));
    bench.wait_for_end();
    assert!(bench.app.close_when_idle && bench.app.plan.running().is_none());
}

#[test]
fn a_panicking_worker_takes_the_next_plan() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    bench.open(&plan);
    bench.authorize();
    bench.app.shared.setup.faults.plant("worker");
    bench.act(Action::Do(Command::Run));
    bench.wait_until("a notice", |app| {
        app.shared.notices.iter().any(|notice| {
            notice.summary.contains("The worker thread crashed; the run is interrupted")
                && notice.details == "planted in the worker: ⟨U+202E⟩desrever"
        })
    });
    let session = bench.session();
    assert_eq!(session.run.phase, Phase::Interrupted);
    assert!(session.elapsed_ms.is_some());
    // It crashed before its first step.
    assert_eq!(bench.app.view().status.text, "Interrupted between steps");
    assert!(!bench.app.situation().running && !bench.app.situation().interrupted);
    let run_id = session.run.run_id;
    bench.wait_until("the runs", |app| {
        let run = app.plan.runs.iter().find(|run| Some(run.run_id) == run_id);
        run.is_some_and(|run| run.fate == RunFate::Interrupted)
    });
    assert_eq!(std::fs::read_to_string(plan.parent().unwrap().join("a.txt")).unwrap(), "bittern\n");

    bench.open(&other);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.answer(1, Decision::Approve);
    bench.wait_for_confirmation(2);
    bench.answer(2, Decision::Approve);
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
}

#[test]
fn a_panicked_worker_does_not_delay_closing() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.app.shared.setup.faults.plant("worker");
    bench.act(Action::Do(Command::Run));
    bench.app.shared.show_prompt(Some(Prompt::Close));
    bench.act(Action::Dialog(DialogAction::StopAndClose));
    bench.wait_until("the end", |app| app.plan.running().is_none());
    assert!(bench.app.close_when_idle && bench.app.shared.prompt.is_none());
}

#[test]
fn a_panicking_query_leaves_the_next_query() {
    let (mut bench, _) = bench();
    bench.app.shared.setup.faults.plant("query");
    bench.act(Action::Evidence(EvidenceAction::Search("heron".into())));
    bench.wait_until("a notice", |app| {
        app.shared.notices.iter().any(|notice| {
            notice.summary == "The evidence cannot be searched. The query thread crashed."
                && notice.details == "planted in the query: ⟨U+202E⟩desrever"
        })
    });
    assert_eq!(bench.app.evidence.page, None);
    bench.act(Action::Do(Command::GoEvidence));
    bench.wait_until("an answer", |app| app.evidence.page.is_some());
    assert_eq!(bench.app.shared.notices.len(), 1);
}

/// The data of the shown step is requested in each frame until it is there. A failed request must not be repeated.
#[test]
fn a_failed_preview_is_reported_once() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.wait_until("a preview", |app| {
        app.plan.shown.as_ref().unwrap().pane.previews.get(&0).is_some()
    });
    let folder = plan.parent().unwrap();
    let moved = folder.with_extension("moved");
    std::fs::rename(folder, &moved).unwrap();
    bench.act(Action::Plan(PlanAction::SelectStep(1)));
    let failure_notices = |app: &App| {
        let is_failure =
            |it: &&Notice| it.summary.starts_with("What step 2 would do is not known.");
        app.shared.notices.iter().filter(is_failure).count()
    };
    bench.wait_until("a notice", |app| failure_notices(app) == 1);
    bench.app.drain();
    assert!(!bench.app.shared.pending.has::<crate::worker::PreviewStep>(), "not requested again");

    std::fs::rename(&moved, folder).unwrap();
    bench.act(Action::Plan(PlanAction::SelectStep(1)));
    bench.wait_until("the preview", |app| {
        app.plan.shown.as_ref().unwrap().pane.previews.get(&1).is_some()
    });
    assert_eq!(failure_notices(&bench.app), 1);
}

#[test]
fn bug_report_is_shown_over_the_message_of_a_panic() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.app.shared.setup.faults.plant("plan page");
    let mut window = window(bench);
    draw_until(&mut window, "the message", |window| shows(window, BROKEN));
    click(&mut window, "Bug report…");
    draw_until(&mut window, "the report", |window| shows(window, "countersign 0."));
    assert!(shows(&window, BROKEN), "the message is behind it");
    click(&mut window, "Copy");
    assert!(shows(&window, "Copied."));
    let copied = |window: &Window| {
        let commands = &window.output().platform_output.commands;
        commands.iter().any(|it| matches!(it, egui::OutputCommand::CopyText(text) if text.starts_with("countersign 0.")))
    };
    // The text is passed on in the frame of the click or the one after it.
    window.get_by_label("Copy").click();
    draw_until(&mut window, "the copy", copied);
    window.key_press(egui::Key::Escape);
    draw_until(&mut window, "the message alone", |window| !shows(window, "countersign 0."));
    assert!(shows(&window, BROKEN));
}
