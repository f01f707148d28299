//! The workspace of a loop: its folders, and its commands for a verification.

use super::*;

#[test]
fn unusable_folders_prevent_the_start() {
    let mut bench = Bench::new();
    bench.fill_with("true");
    let start = |app: &App| (Command::StartLoop.spec().unavailable)(&app.situation());
    bench.wait_until("the folder check", |app| app.loop_page.folder_review().is_some());
    assert_eq!(start(&bench.app), None);
    let edit = |bench: &mut Bench, change: &dyn Fn(&mut LoopForm)| {
        let mut form = bench.app.loop_page.form.clone();
        change(&mut form);
        bench.act(Action::Loop(LoopAction::Edit(Box::new(form))));
        let previous = bench.app.loop_page.folder_review();
        assert!(previous.is_none(), "the check of the previous folder is discarded");
        bench.wait_until("the folder check", |app| app.loop_page.folder_review().is_some());
    };
    let workspace = bench.workspace.path().canonicalize().unwrap();
    let nest = workspace.join("nest");
    edit(&mut bench, &|form| form.workspace = nest.display().to_string());
    assert_eq!(start(&bench.app), Some("The workspace folder does not exist."));
    bench.act(Action::Do(Command::StartLoop));
    assert!(bench.app.loop_page.live.is_none());
    // Without typing, the folder is checked again after a while.
    std::fs::create_dir(&nest).unwrap();
    bench.wait_until("the new folder", |app| start(app).is_none());

    std::fs::write(workspace.join("file"), "").unwrap();
    edit(&mut bench, &|form| form.workspace = workspace.join("file").display().to_string());
    assert_eq!(start(&bench.app), Some("The workspace is not a folder."));
    edit(&mut bench, &|form| {
        form.workspace = workspace.display().to_string();
        form.planner = PlannerChoice::Replay;
        form.folder = "eggs".to_owned();
    });
    assert_eq!(start(&bench.app), Some("The folder with the plans does not exist."));
    edit(&mut bench, &|form| form.folder = "nest".to_owned());
    assert_eq!(start(&bench.app), Some("The folder with the plans contains no plan."));
    std::fs::write(nest.join("1.json"), "{}").unwrap();
    bench.wait_until("the new plan", |app| start(app).is_none());
    // The folder of the plans matters only for the replay planner.
    edit(&mut bench, &|form| form.folder = "eggs".to_owned());
    edit(&mut bench, &|form| form.planner = PlannerChoice::CargoFix);
    assert_eq!(start(&bench.app), None);
    // An agent must be installed.
    let form = LoopForm { planner: PlannerChoice::Claude, ..bench.app.loop_page.form.clone() };
    bench.act(Action::Loop(LoopAction::Edit(Box::new(form))));
    bench.wait_until("the check of the planner", |app| {
        app.loop_page.folder_review().is_some_and(|review| review.place.planner == "claude")
    });
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let is_here = std::env::split_paths(&paths).any(|folder| folder.join("claude").is_file());
    let fault = (!is_here).then_some("The planner cannot run here.");
    assert_eq!(start(&bench.app), fault);
    let review = bench.app.loop_page.folder_review().unwrap();
    let shown = review.planner.as_ref().map_or_else(Clone::clone, Clone::clone);
    assert!(shown.contains(if is_here { "network; walls" } else { "install claude" }), "{shown}");
}

/// The commands of the workspace are trusted from the form of the loop.
#[test]
fn a_loop_verifies_with_trusted_commands() {
    let mut bench = Bench::new();
    let file = bench.file("countersign.toml", "[verify.local]\ncommand = \"touch verified\"\n");
    bench.fill(&["echo heron > egg"]);
    let trusted = |app: &App| {
        let commands = app.loop_page.folder_review()?.commands.as_ref().ok()?.as_ref()?;
        Some(commands.trusted)
    };
    bench.wait_until("the commands", |app| trusted(app) == Some(false));
    assert_eq!(bench.app.loop_page.folder_review().unwrap().verified_by.len(), 2);

    // A change of the file closes the dialog about it.
    bench.act(Action::Loop(LoopAction::ReviewCommands));
    assert!(bench.app.view().dialog.is_some());
    std::fs::write(&file, "[verify.local]\ncommand = \"touch checked\"\n").unwrap();
    bench.app.loop_page.schedule_folder_check(0, &bench.app.shared);
    bench.wait_until("the dialog to close", |app| app.shared.prompt.is_none());
    assert!(bench.app.shared.notices.iter().any(|it| it.summary.contains("file countersign.toml")));

    bench.act(Action::Loop(LoopAction::ReviewCommands));
    let view = bench.app.view();
    let Some(Question::Trust { commands, of_plan, .. }) = view.dialog.map(|it| it.question) else {
        panic!("no trust dialog");
    };
    assert!(!of_plan && commands.commands[0].command == "touch checked");
    let digest = commands.digest;
    bench.act(Action::Dialog(DialogAction::Trust { digest, trusted: true }));
    bench.wait_until("the trust", |app| trusted(app) == Some(true));

    bench.act(Action::Do(Command::StartLoop));
    bench.authorize_attempt(1);
    assert_eq!(bench.wait_for_loop_end(), StopCode::Completed);
    assert!(bench.workspace.path().join("checked").exists());
}

/// The loop ends unauthorized instead of running untrusted commands.
#[test]
fn a_loop_never_runs_untrusted_commands() {
    let mut bench = Bench::new();
    bench.file("countersign.toml", "[verify.local]\ncommand = \"touch verified\"\n");
    bench.fill(&["echo heron > egg"]);
    bench.act(Action::Do(Command::StartLoop));
    assert_eq!(bench.wait_for_loop_end(), StopCode::NotAuthorized);
    assert!(!bench.workspace.path().join("verified").exists());
}
