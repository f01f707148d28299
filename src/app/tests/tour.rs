//! The tour is guided from its first plan to the revert, by what the person does.

use super::*;
use crate::run::DiskState;
use crate::ui::action::WindowAction;
use crate::ui::tour::Station;

fn wait_for(bench: &mut Bench, station: Option<Station>) {
    let name = format!("the guide at {station:?}");
    bench.wait_until(&name, |app| app.tour.view().is_some_and(|view| view.next == station));
}

fn opened() -> (Bench, PathBuf) {
    let mut bench = Bench::new();
    assert_eq!(bench.app.tour.view(), None, "nothing is guided before");
    bench.act(Action::Do(Command::OpenTour));
    // Nothing must be looked at in these tests.
    wait_for(&mut bench, Some(Station::Authorize));
    let folder = bench.session().path().and_then(Path::parent).unwrap().to_owned();
    (bench, folder)
}

fn run_with_denial(bench: &mut Bench) {
    bench.authorize();
    wait_for(bench, Some(Station::Run));
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(3);
    wait_for(bench, Some(Station::Approve));
    bench.answer(3, Decision::Approve);
    bench.wait_for_confirmation(5);
    wait_for(bench, Some(Station::Deny));
    bench.answer(5, Decision::Cancel);
    bench.wait_for_end();
    wait_for(bench, Some(Station::OpenSecond));
}

#[test]
fn the_tour_is_guided_to_its_end() {
    let (mut bench, folder) = opened();
    let text = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let before = text("src/lib.rs");
    run_with_denial(&mut bench);
    assert!(bench.app.tour.view().unwrap().denied);
    assert_ne!(text("src/lib.rs"), before);
    assert!(!folder.join("notes/decisions").exists(), "the denied step did nothing");

    bench.act(Action::Window(WindowAction::OpenSecondPlan));
    wait_for(&mut bench, Some(Station::RunSecond));
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    wait_for(&mut bench, Some(Station::Reconcile));
    assert_eq!(bench.session().run.phase, Phase::Interrupted);
    assert!(bench.session().run.is_uncertain());
    let told = |it: &Notice| it.summary.contains("has cut the run of its second plan off");
    assert!(bench.app.shared.notices.iter().any(told), "{:?}", bench.app.shared.notices);
    let cut_off = bench.session().run.run_id.unwrap();
    // Looking at the evidence too early passes no station.
    bench.act(Action::Evidence(EvidenceAction::Search("lantern".into())));
    bench.wait_until("hits", |app| app.evidence.page.is_some());
    wait_for(&mut bench, Some(Station::Reconcile));
    bench.act(Action::Do(Command::GoPlan));
    bench.act(Action::Do(Command::Reconcile));
    wait_for(&mut bench, Some(Station::Search));
    let found = &bench.app.shared.reconciled[&cut_off];
    assert_eq!(found.iter().map(|it| it.finding).collect::<Vec<_>>(), [DiskState::AsAfter]);

    bench.act(Action::Evidence(EvidenceAction::Search("lantern".into())));
    wait_for(&mut bench, Some(Station::Record));
    let hit = bench.app.evidence.page.as_ref().unwrap().hits[0].listed.row.execution_id;
    bench.act(Action::Evidence(EvidenceAction::Open(hit)));
    wait_for(&mut bench, Some(Station::Verify));
    bench.act(Action::Do(Command::Verify));
    wait_for(&mut bench, Some(Station::Revert));

    bench.act(Action::Window(WindowAction::ShowFirstRun));
    bench.wait_until("the first run", |app| {
        let shown = app.plan.shown.as_ref().unwrap();
        shown.approval == Approval::Recorded && shown.run.run_id != Some(cut_off)
    });
    bench.act(Action::Do(Command::Revert));
    wait_for(&mut bench, Some(Station::RunRevert));
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(0);
    bench.answer(0, Decision::Approve);
    bench.wait_for_end();
    wait_for(&mut bench, None);
    assert_eq!(text("src/lib.rs"), before);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_guide_is_hidden_and_brought_back() {
    let (mut bench, folder) = opened();
    bench.act(Action::Do(Command::TourGuide));
    assert_eq!(bench.app.view().tour, None);
    bench.authorize();
    bench.act(Action::Do(Command::TourGuide));
    wait_for(&mut bench, Some(Station::Run));
    // Another plan leaves the tour where it is; another copy of it begins anew.
    let other = bench.file("other.json", PLAN);
    bench.open(&other);
    wait_for(&mut bench, Some(Station::Run));
    bench.act(Action::Do(Command::OpenTour));
    wait_for(&mut bench, Some(Station::Authorize));
    let again = bench.session().path().and_then(Path::parent).unwrap().to_owned();
    assert_ne!(again, folder);
    for folder in [folder, again] {
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// The guide is not stuck where somebody decides otherwise.
#[test]
fn the_tour_goes_on_without_a_denial() {
    let (mut bench, folder) = opened();
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    for step in [3, 5] {
        bench.wait_for_confirmation(step);
        bench.answer(step, Decision::Approve);
    }
    bench.wait_for_end();
    wait_for(&mut bench, Some(Station::OpenSecond));
    assert!(!bench.app.tour.view().unwrap().denied);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A denial of another step ends the run before it has changed a file: there is nothing to take back.
#[test]
fn the_tour_goes_on_after_another_denial() {
    let (mut bench, folder) = opened();
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_confirmation(3);
    bench.answer(3, Decision::Cancel);
    bench.wait_for_end();
    wait_for(&mut bench, Some(Station::OpenSecond));
    assert!(bench.app.tour.view().unwrap().denied);
    bench.act(Action::Window(WindowAction::OpenSecondPlan));
    wait_for(&mut bench, Some(Station::RunSecond));
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    wait_for(&mut bench, Some(Station::Reconcile));
    bench.act(Action::Do(Command::Reconcile));
    wait_for(&mut bench, Some(Station::Search));
    bench.act(Action::Evidence(EvidenceAction::Search("lantern".into())));
    wait_for(&mut bench, Some(Station::Record));
    let hit = bench.app.evidence.page.as_ref().unwrap().hits[0].listed.row.execution_id;
    bench.act(Action::Evidence(EvidenceAction::Open(hit)));
    wait_for(&mut bench, Some(Station::Verify));
    bench.act(Action::Do(Command::Verify));
    wait_for(&mut bench, None);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Only the tour's own plan is cut off, not one that somebody has made of it.
#[test]
fn another_plan_is_never_cut_off() {
    let (mut bench, folder) = opened();
    let second = folder.join("cut-off.plan.json");
    let text = std::fs::read_to_string(&second).unwrap();
    assert_eq!(super::super::tour::cut_off_in(Digest::of(text.as_bytes())), Some(1));
    std::fs::write(&second, format!("{text}\n")).unwrap();
    bench.open(&second);
    bench.authorize();
    bench.act(Action::Do(Command::Run));
    bench.wait_for_end();
    assert_eq!(bench.session().run.phase, Phase::Ended(RunStatus::Completed));
    std::fs::remove_dir_all(folder).unwrap();
}
