//! Opening plans: by file, by dropping, the tour, changed and broken files.

use super::*;
use crate::run::SecretQuestion;
use crate::worker::Event;

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("only the path is used".to_owned())
    }
}

#[test]
fn a_dropped_file_is_opened() {
    let (mut bench, plan) = bench();
    let dropped = egui::RawInput {
        dropped_files: vec![Arc::new(Dropped(plan.clone()))],
        ..egui::RawInput::default()
    };
    let ctx = bench.ctx.clone();
    let app = &mut bench.app;
    let mut output = ctx.run_ui(dropped, |ui| app.open_dropped_files(ui.ctx()));
    output.textures_delta.clear();
    bench.wait_until("opened", |app| {
        app.plan.shown.as_ref().is_some_and(|session| session.path() == Some(plan.as_path()))
    });
}

/// Draws a frame with what arrives: this text is pasted, or nothing.
fn arrive(bench: &mut Bench, text: Option<&str>) {
    let events = text.map(|text| egui::Event::Paste(text.to_owned())).into_iter().collect();
    let pasted = egui::RawInput { events, ..egui::RawInput::default() };
    let (ctx, app) = (bench.ctx.clone(), &mut bench.app);
    let mut output = ctx.run_ui(pasted, |ui| app.open_what_arrives(ui.ctx()));
    output.textures_delta.clear();
}

fn paste(bench: &mut Bench, text: &str) {
    arrive(bench, Some(text));
}

/// What may be a password is kept nowhere, also after a clipboard without a text was to be pasted as a plan.
#[test]
fn nothing_is_pasted_behind_a_question() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.act(Action::Do(Command::PastePlan));
    for _ in 0..8 {
        arrive(&mut bench, None);
    }
    let said = |it: &Notice| it.summary == "The clipboard has no text.";
    assert_eq!(bench.app.shared.notices.iter().filter(|it| said(it)).count(), 1);
    assert_eq!(bench.app.inbox.pastes_since, None);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    let kept =
        |bench: &Bench| std::fs::read_dir(&bench.app.shared.setup.inbox).map_or(0, Iterator::count);
    let before = kept(&bench);
    // Asked for while the question was not there yet.
    bench.app.inbox.pastes_since = Some(bench.ctx.cumulative_frame_nr());
    for _ in 0..2 {
        paste(&mut bench, "hunter2");
    }
    let question = SecretQuestion { asked_by: "ssh".to_owned(), prompt: "password:".to_owned() };
    bench.app.apply_event(Event::SecretNeeded { id: Uuid::from_u128(1), question });
    paste(&mut bench, "hunter2");
    bench.app.overlay = Some(crate::ui::overlay::Overlay::Palette);
    paste(&mut bench, "hunter2");
    assert_eq!(bench.session().path(), Some(plan.as_path()));
    // All of that would have been kept before this, which is.
    bench.app.overlay = None;
    bench.app.apply_event(Event::SecretSettled { id: Uuid::from_u128(1) });
    bench.act(Action::Dialog(DialogAction::LeaveUndecided));
    paste(&mut bench, "only words");
    let is_pasted =
        |app: &App| app.plan.shown.as_ref().is_some_and(|it| it.path() != Some(plan.as_path()));
    bench.wait_until("opened", is_pasted);
    assert_eq!(kept(&bench), before + 1);
}

/// What is pasted where no control takes it is kept in the inbox, and opened for the workspace that is shown.
#[test]
fn a_pasted_text_is_opened() {
    let (mut bench, plan) = bench();
    let is_pasted = |app: &App| {
        let path = app.plan.shown.as_ref().and_then(|session| session.path());
        path.is_some_and(|path| path.file_name().unwrap().to_str().unwrap().starts_with("pasted "))
    };
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-heron\n+crane\n";
    bench.open(&plan);
    let workspace = bench.session().reviewed_workspace();
    paste(&mut bench, diff);
    bench.wait_until("opened", is_pasted);
    let opened = &bench.session().opened;
    assert_eq!(opened.review.as_ref().map(|review| review.workspace.clone()), workspace);
    assert_eq!(opened.plan.as_ref().unwrap().name(), "Apply a diff: 1 file");
    // A faulty text is shown with what is wrong with it.
    bench.open(&plan);
    paste(&mut bench, "only words");
    bench.wait_until("opened", is_pasted);
    assert!(bench.session().opened.findings[0].message.contains("JSON"));
    // While a question is shown, nothing is opened behind it.
    bench.open(&plan);
    bench.act(Action::Do(Command::Authorize));
    let before = std::fs::read_dir(&bench.app.shared.setup.inbox).unwrap().count();
    paste(&mut bench, diff);
    bench.app.drain();
    assert_eq!(std::fs::read_dir(&bench.app.shared.setup.inbox).unwrap().count(), before);
    assert_eq!(bench.session().path(), Some(plan.as_path()));
}

#[test]
fn files_that_are_dropped_together_are_all_open() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("Two writes", "Other"));
    let drop = |path: &PathBuf| {
        Arc::new(Dropped(path.clone())) as Arc<dyn egui::DroppedFile + Send + Sync>
    };
    let dropped = egui::RawInput {
        dropped_files: vec![drop(&plan), drop(&other)],
        ..egui::RawInput::default()
    };
    let ctx = bench.ctx.clone();
    let app = &mut bench.app;
    let mut output = ctx.run_ui(dropped, |ui| app.open_dropped_files(ui.ctx()));
    output.textures_delta.clear();
    let shown = |app: &App| app.plan.shown.as_ref().and_then(|it| it.path()).map(Path::to_owned);
    bench.wait_until("opened", |app| shown(app) == Some(plan.clone()));
    let names =
        |app: &App| app.plan.open_plans().iter().map(|it| it.name.to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&bench.app), ["Two writes", "other.json"]);
    bench.act(Action::Do(Command::NextPlan));
    bench.wait_until("the other one", |app| shown(app) == Some(other.clone()));
    assert_eq!(names(&bench.app), ["Two writes", "Other"]);
}

/// One notice says so, however often the file changes.
#[test]
fn the_watch_finds_a_changed_plan() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    for word in ["egret", "crane"] {
        let text = PLAN.replace("heron", word);
        std::fs::write(&plan, &text).unwrap();
        let ctx = bench.ctx.clone();
        for _ in 0..2_000 {
            bench.app.shared.now = now();
            bench.app.drain();
            bench.app.run_timers(&ctx);
            if bench.session().opened.digest == Digest::of(text.as_bytes()) {
                break;
            }
            let _ = bench.woken.recv_timeout(Duration::from_millis(20));
        }
        assert_eq!(bench.session().opened.digest, Digest::of(text.as_bytes()), "noticed");
        let notices: Vec<_> = bench.app.shared.notices.iter().map(|it| &it.summary).collect();
        assert_eq!(notices, ["The plan file has changed since you opened it."]);
    }
}

#[test]
fn another_plan_opens_during_a_run() {
    let (mut bench, plan) = bench();
    let other = bench.file("other.json", &PLAN.replace("two-writes", "other"));
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    bench.open(&other);
    assert!(bench.app.plan.live.is_some() && bench.app.situation().running);
    // Everything that waits for an answer about that plan names it.
    let view = bench.app.view();
    let Question::Confirm { plan: named, .. } = view.dialog.unwrap().question else { panic!() };
    assert_eq!(named, "Two writes");
    assert_eq!(view.status.text, "Waiting for you: step 2 of 3, “Two writes”");
    let bar = crate::ui::plan::bar(&view.plan.unwrap(), &view.situation);
    let texts = (bar.title.as_str(), bar.detail.as_str());
    assert_eq!(texts, ("Step 2 of another plan waits", "“Two writes”"));
    let run_id = bench.app.plan.live.as_ref().unwrap().run.run_id.unwrap();
    bench.act(Action::Plan(PlanAction::OpenRun(run_id)));
    assert_eq!(bench.session().path(), Some(plan.as_path()));
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
}

/// A question that waits follows the disk: what it shows may no longer be so, and then it cannot be approved.
#[test]
fn a_waiting_question_says_that_its_file_has_changed() {
    let (mut bench, plan) = bench();
    bench.open(&plan);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(1);
    let ctx = bench.ctx.clone();
    for (contents, changed) in [("egret\n", vec!["a.txt"]), ("bittern\n", vec![])] {
        bench.file("a.txt", contents);
        let shown = |app: &App| match app.view().dialog.unwrap().question {
            Question::Confirm { changed, .. } => changed.to_vec(),
            other => panic!("{other:?}"),
        };
        for _ in 0..2_000 {
            bench.app.shared.now = now();
            bench.app.drain();
            bench.app.run_timers(&ctx);
            if shown(&bench.app) == changed {
                break;
            }
            let _ = bench.woken.recv_timeout(Duration::from_millis(20));
        }
        assert_eq!(shown(&bench.app), changed);
    }
    bench.answer(1, Decision::Cancel);
    bench.wait_for_end();
}

#[test]
fn a_broken_plan_file_is_a_finding() {
    let mut bench = Bench::new();
    let broken = bench.file("broken.json", "{\"plan_id\": ");
    bench.open(&broken);
    assert!(!bench.session().opened.findings.is_empty());
    assert!(bench.app.situation().not_authorizable.is_some());
}

/// Each example of a plan opens like any file, in a folder of its own, and can be authorized.
#[test]
fn examples_of_plans_can_be_authorized() {
    for (command, kind) in [
        (Command::ExampleCommands, Dialect::CommandPlan),
        (Command::ExampleActions, Dialect::ActionPlan),
    ] {
        let mut bench = Bench::new();
        bench.act(Action::Do(command));
        bench.wait_until("the example", |app| app.plan.shown.is_some());
        let session = bench.session();
        assert_eq!(session.opened.plan.as_ref().unwrap().dialect, kind);
        let findings = &session.opened.findings;
        assert_eq!(bench.app.situation().not_authorizable, None, "{findings:?}");
        let folder = session.path().unwrap().parent().unwrap().to_owned();
        assert_eq!(session.reviewed_workspace().unwrap(), folder.canonicalize().unwrap());
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn the_example_of_a_loop_fills_in_the_form() {
    let mut bench = Bench::new();
    bench.act(Action::Do(Command::ExampleLoop));
    bench.wait_until("the form", |app| !app.loop_page.form.workspace.is_empty());
    assert_eq!(bench.app.shared.page, Page::Loop);
    let folder = PathBuf::from(&bench.app.loop_page.form.workspace);
    assert!(folder.join("src/lib.rs").exists());
    assert!(bench.app.loop_page.form.settings(0).is_some(), "nothing is left to fill in");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_tour_opens_and_can_be_authorized() {
    let mut bench = Bench::new();
    bench.act(Action::Do(Command::OpenTour));
    bench.wait_until("the tour", |app| app.plan.shown.is_some());
    assert_eq!(
        bench.app.situation().not_authorizable,
        None,
        "{:?}",
        bench.session().opened.findings
    );
    let path = bench.session().path().map(Path::to_path_buf).unwrap();
    let folder = path.parent().unwrap();
    assert!(folder.starts_with(std::env::temp_dir()), "{}", folder.display());
    std::fs::remove_dir_all(folder).unwrap();
}

/// Ctrl with +, - and 0 changes the zoom factor without a word to the window.
#[test]
fn a_zoom_by_the_keyboard_is_kept() {
    let (mut bench, _) = bench();
    let file = bench.app.settings_file.clone();
    let ctx = egui::Context::default();
    let frame = |bench: &mut Bench| {
        let app = &mut bench.app;
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| app.begin_frame(ui.ctx()));
        output.textures_delta.clear();
    };
    frame(&mut bench);
    ctx.set_zoom_factor(1.3);
    frame(&mut bench);
    frame(&mut bench);
    bench.wait_until("the zoom factor is saved", |_| {
        settings::load(file.clone()).settings.zoom == 1.3
    });
}

/// No list moves under the pointer that has just opened a plan.
#[test]
fn an_opened_plan_keeps_its_place_in_the_list() {
    let (mut bench, first) = bench();
    let second = bench.file("second.json", PLAN);
    let listed = |app: &App| {
        app.view().sidebar.plans.iter().map(|plan| plan.path.clone()).collect::<Vec<_>>()
    };
    bench.open(&first);
    bench.open(&second);
    bench.open(&first);
    let file = bench.app.settings_file.clone();
    bench.wait_until("the settings are saved", |_| {
        let saved = settings::load(file.clone()).settings.recent;
        saved.len() == 2 && saved[0].path == first
    });
    bench.app.drain();
    assert_eq!(listed(&bench.app), [second.clone(), first.clone()]);
    bench.act(Action::Do(Command::GoEvidence));
    assert_eq!(listed(&bench.app), [first, second], "the latest first at the next visit");
}
