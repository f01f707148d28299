//! Empty areas: each says what will be there, and offers exactly one thing to do, by keyboard, too.

use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::{Window, window};
use crate::ui::action::{PlanAction, PlayerAction, Tab};
use crate::ui::{Action, Command, EvidenceAction};

/// An empty area: the state of the window, the tab to choose there, the title, what is offered, and what that does.
type Case = (&'static str, &'static str, &'static str, &'static str, fn(&Action) -> bool);

fn shows_effect(action: &Action) -> bool {
    *action == Action::Plan(PlanAction::ShowTab(Tab::WillDo))
}

fn goes_back(action: &Action) -> bool {
    *action == Action::Evidence(EvidenceAction::CloseAnswer)
}

const EFFECT: &str = "Show what the step does";

const CASES: [Case; 19] = [
    ("plan", "Output", "No output", EFFECT, shows_effect),
    ("plan", "Diagnostics", "No diagnostics yet", EFFECT, shows_effect),
    ("plan", "Artifacts", "No artifacts yet", EFFECT, shows_effect),
    ("plan", "Evidence", "No evidence yet", EFFECT, shows_effect),
    ("completed", "Diagnostics", "No diagnostics", EFFECT, shows_effect),
    ("output-empty", "", "No output", "Close the output", |it| {
        *it == Action::Do(Command::ToggleOutput)
    }),
    ("simulation-empty", "", "No difference", "Show the steps", |it| {
        *it == Action::Plan(PlanAction::CloseSimulation)
    }),
    ("filtered-none", "", "Nothing found", "Show all steps", |it| {
        *it == Action::Plan(PlanAction::CloseFilter)
    }),
    ("unchecked", "", "No check ran in this run", "Show the run", |it| {
        *it == Action::Do(Command::GoPlan)
    }),
    ("hidden", "", "Nothing matches", "Show all of them", |it| {
        matches!(it, Action::Diagnostics(_))
    }),
    ("nothing", "", "Nothing has been run yet", "Open the tour", |it| {
        *it == Action::Do(Command::OpenTour)
    }),
    ("no-match", "", "Nothing matches", "List everything", |it| {
        *it == Action::Evidence(EvidenceAction::Search(String::new()))
    }),
    ("unsearchable", "", "The evidence cannot be searched", "Try again", |it| {
        *it == Action::Evidence(EvidenceAction::TryAgain)
    }),
    ("unreadable", "", "There is no record to show", "Back to the results", |it| {
        *it == Action::Evidence(EvidenceAction::CloseDetail)
    }),
    ("no-answer", "", "Nothing found", "Back to the results", goes_back),
    ("judged-none", "", "No command was run", "Back to the results", goes_back),
    ("played-before", "", "Before the first step", "Go to the first step", |it| {
        matches!(it, Action::Evidence(EvidenceAction::Play(PlayerAction::Seek(_))))
    }),
    ("team-nothing", "", "Nothing was pushed yet", "Try again", |it| {
        *it == Action::Evidence(EvidenceAction::TryAgain)
    }),
    ("team-unreachable", "", "The team's evidence cannot be read", "Try again", |it| {
        *it == Action::Evidence(EvidenceAction::TryAgain)
    }),
];

#[test]
fn every_empty_area_offers_one_thing_to_do() {
    for (scene, tab, title, offer, does) in CASES {
        // A small window has tabs without room in a menu.
        let sizes = [[1280.0, 800.0], [720.0, 480.0]];
        for size in sizes.into_iter().filter(|size| tab.is_empty() || size[0] > 1000.0) {
            let mut harness = window(scene, size);
            if !tab.is_empty() {
                // A page has the same name as one of the tabs and comes first.
                harness.query_all_by_label(tab).last().unwrap().click();
                harness.run_ok();
            }
            let about = format!("{scene} {tab} at {size:?}");
            let shows = harness.query_all_by_label(title).count();
            assert!(shows >= 1, "{about} does not say {title:?}");
            press(&mut harness, offer, &about);
            let last = harness.state().actions.iter().any(does);
            assert!(last, "{about}: {:?}", harness.state().actions);
        }
    }
}

/// Presses the only button with this name, by keyboard.
fn press(harness: &mut Harness<'_, Window>, name: &str, about: &str) {
    let found: Vec<_> = harness.query_all_by_label(name).collect();
    assert_eq!(found.len(), 1, "{about}: {name:?} is there {} times", found.len());
    found[0].focus();
    harness.run_ok();
    harness.key_press(Key::Enter);
    harness.run_ok();
}

/// The pages on which the person begins something have one primary button, in the page or in its bar.
#[test]
fn every_page_begins_with_one_thing_to_do() {
    let begins = [
        ("empty", Command::OpenPlan, "nothing runs until you authorize exactly that plan"),
        ("plan", Command::Authorize, "Nothing runs before you authorize the plan"),
        ("loop", Command::StartLoop, "Starting asks"),
        ("agent", Command::StartAgent, "authorize"),
    ];
    for (scene, command, sentence) in begins {
        let harness = window(scene, [1280.0, 800.0]);
        let text = command.spec().text;
        assert_eq!(harness.query_all_by_label(text).count(), 1, "{scene}: {text}");
        assert!(harness.query_all_by_label_contains(sentence).next().is_some(), "{scene}");
    }
}

/// What is being read has nothing to offer, and nothing else goes without an offer.
#[test]
fn only_what_is_being_read_has_no_offer() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ui");
    let mut uses = 0;
    for entry in ignore::Walk::new(folder).filter_map(Result::ok) {
        let is_test = entry.path().components().any(|it| it.as_os_str() == "tests");
        if is_test || entry.path().extension().is_none_or(|it| it != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for call in text.split("widgets::reading_state(").skip(1) {
            let arguments = call.split(';').next().unwrap_or_default();
            let is_read =
                ["Reading", "Connecting", "title"].iter().any(|it| arguments.contains(it));
            assert!(is_read, "{}: {arguments}", entry.path().display());
            uses += 1;
        }
    }
    assert!(uses >= 4, "{uses}");
}
