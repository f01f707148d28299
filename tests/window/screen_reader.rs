//! The program with a screen reader: every page can be read, and nothing is approved that a mouse could not approve.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::atspi::{AccessBus, Object, State};
use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, read, recorded, type_word};

/// Roles of what a person uses.
const CONTROLS: [&str; 15] = [
    "button",
    "toggle button",
    "check box",
    "radio button",
    "page tab",
    "list item",
    "entry",
    "password text",
    "combo box",
    "slider",
    "link",
    "menu item",
    "check menu item",
    "radio menu item",
    "spin button",
];

fn plan(folder: &Path, steps: &serde_json::Value) -> String {
    let text = json!({ "goal": "Tidy the nest", "mode": "automatic", "steps": steps }).to_string();
    let plan = folder.join("nest.json");
    std::fs::write(&plan, text).expect("the plan");
    std::fs::create_dir(folder.join("old")).expect("a folder");
    plan.display().to_string()
}

/// What a person could not tell in what is shown now.
pub(super) fn faults(objects: &[Object]) -> Vec<String> {
    let mut faults = Vec::new();
    for object in objects {
        let Object { role, name, description, .. } = object;
        let is_control = CONTROLS.contains(role);
        if is_control && name.trim().is_empty() {
            faults.push(format!("a {role} has no name"));
        }
        if is_control && !object.is(State::Enabled) && description.is_empty() {
            faults.push(format!("the {role} {name:?} does not say why it is disabled"));
        }
        if matches!(*role, "invalid" | "unknown") {
            faults.push(format!("{name:?} is a {role}"));
        }
        let is_pressed = matches!(*role, "button" | "toggle button" | "page tab" | "list item");
        if is_pressed && !object.has("Action") {
            faults.push(format!("the {role} {name:?} cannot be pressed"));
        }
        if name.chars().chain(description.chars()).any(|c| matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{202A}'..='\u{202E}' | '\u{200B}'..='\u{200F}')) {
            faults.push(format!("{name:?} has characters nobody can hear"));
        }
    }
    faults
}

/// Presses a control as a screen reader does, until it has an effect: one that has just got its name is left alone.
pub(super) fn presses(
    bus: &AccessBus,
    desktop: &mut Desktop,
    name: &str,
    mut is_done: impl FnMut(&[Object]) -> bool,
) -> Outcome<Vec<Object>> {
    desktop.wait_until(&format!("\"{name}\" is pressed by a screen reader"), |_| {
        let objects = bus.objects();
        if is_done(&objects) {
            return Ok(Some(objects));
        }
        let is_it = |it: &&Object| it.name == name && it.has("Action") && it.role != "label";
        let control = objects.iter().filter(is_it).find(|it| it.is(State::Enabled));
        if let Some(control) = control.filter(|it| bus.is_still(it)) {
            bus.press(control);
        }
        Ok(None)
    })
}

pub(super) fn has(objects: &[Object], name: &str) -> bool {
    objects.iter().any(|it| it.name == name)
}

fn every_page(folder: &Path) -> Outcome {
    let steps =
        json!([{ "command": "cat \u{202e}etc/passwd\u{200b}" }, { "command": "rm -r old" }]);
    let bus = AccessBus::start()?;
    let mut desktop = bus.start_program(&[&plan(folder, &steps)])?;
    desktop.wait_for_text("Tidy the nest")?;
    for (tab, shown) in [
        ("Evidence", "Search evidence"),
        ("Diagnostics", "Diagnostics"),
        ("Loop", "Goal"),
        ("Agent", "Workspace folder"),
        ("Plan", "Steps"),
    ] {
        let objects = presses(&bus, &mut desktop, tab, |objects| {
            let tab = objects.iter().find(|it| it.role == "page tab" && it.name == tab);
            tab.is_some_and(|it| it.is(State::Selected)) && has(objects, shown)
        })?;
        assert_eq!(faults(&objects), Vec::<String>::new(), "{tab}");
        assert!(objects.iter().any(|it| it.role == "landmark"), "{tab} has landmarks");
    }
    // The step's hidden characters have names.
    let marked = "cat ⟨U+202E⟩etc/passwd⟨U+200B⟩";
    desktop.wait_until("the hidden characters are said", |_| {
        let objects = bus.objects();
        let row = objects.iter().find(|it| it.role == "list item" && it.name.contains(marked));
        Ok(row.map(|_| ()))
    })?;
    for (button, title) in [("Commands", "Commands"), ("Keys and help", "Help")] {
        let objects = presses(&bus, &mut desktop, button, |objects| {
            let is_it = |it: &&Object| it.is(State::Modal) && it.role == "dialog";
            objects.iter().find(is_it).is_some_and(|it| it.name == title)
        })?;
        assert_eq!(faults(&objects), Vec::<String>::new(), "{title}");
        desktop.key("Escape")?;
        desktop.wait_until(&format!("{title} is closed"), |_| {
            Ok((!bus.objects().iter().any(|it| it.is(State::Modal))).then_some(()))
        })?;
    }
    let objects =
        presses(&bus, &mut desktop, "Settings…", |objects| has(objects, "Find a setting"))?;
    assert_eq!(faults(&objects), Vec::<String>::new(), "the settings");
    Ok(())
}

#[test]
fn every_page_can_be_read_over_at_spi() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(every_page(folder.path()));
}

/// Asks for everything that AT-SPI has for an object, except for looking at it.
fn attack(bus: &AccessBus, object: &Object) {
    for action in [0_i32, 1] {
        let _ = bus.ask::<bool>(object, "Action", "DoAction", &action);
    }
    let _ = bus.set_value(object, 1.0);
    let _ = bus.ask::<bool>(object, "EditableText", "SetTextContents", &"yes");
    let _ = bus.ask::<bool>(object, "EditableText", "InsertText", &(0_i32, "yes", 3_i32));
    let _ = bus.ask::<bool>(object, "Selection", "SelectChild", &0_i32);
    let _ = bus.ask::<bool>(object, "Selection", "SelectAll", &());
    let _ = bus.ask::<bool>(object, "Text", "SetCaretOffset", &0_i32);
    let _ = bus.ask::<bool>(object, "Text", "AddSelection", &(0_i32, 1_i32));
    let _ = bus.grab_focus(object);
}

/// What was decided about steps.
fn of_steps(desktop: &Desktop) -> Vec<String> {
    let sql = "SELECT decision || ' by ' || decided_by || ': ' || note FROM decisions
               WHERE step_index IS NOT NULL";
    read(&desktop.evidence(), sql, |row| row.get::<_, String>(0))
}

fn rows(desktop: &Desktop, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    read(&desktop.evidence(), &sql, |row| row.get::<_, i64>(0)).into_iter().sum()
}

fn approved(folder: &Path) -> Outcome {
    let steps = json!([{ "command": "rm -r old" }]);
    let bus = AccessBus::start()?;
    let mut desktop = bus.start_program(&[&plan(folder, &steps)])?;
    desktop.wait_for_text("Tidy the nest")?;
    desktop.look_at_steps()?;
    let objects = presses(&bus, &mut desktop, "Authorize…", |objects| {
        objects.iter().any(|it| it.is(State::Modal) && !it.name.is_empty())
    })?;
    // Behind the dialog.
    let tab = objects.into_iter().find(|it| it.role == "page tab" && it.name == "Evidence");
    attack(&bus, &tab.expect("the tab of a page"));
    assert!(bus.wait_for_answer("Answer or close it first.")?);
    assert!(desktop.tree()?.control("Search evidence").is_none(), "the page is the same");
    presses(&bus, &mut desktop, "Authorize", |objects| has(objects, "Run"))?;
    assert_eq!(rows(&desktop, "authorizations"), 1);

    presses(&bus, &mut desktop, "Run", |objects| {
        objects.iter().any(|it| it.is(State::Modal) && it.name.starts_with("Execute step 1 of 1"))
    })?;
    // Without the word, by no way of AT-SPI, neither early nor later.
    let until = std::time::Instant::now() + Duration::from_secs(3);
    let mut attacks = 0;
    while attacks < 3 || std::time::Instant::now() < until {
        for object in bus.objects().iter().filter(|it| {
            it.name == "Approve this step" || it.role == "entry" && it.is(State::Editable)
        }) {
            attack(&bus, object);
        }
        attacks += 1;
    }
    assert_eq!(of_steps(&desktop), Vec::<String>::new());
    let approve = desktop.wait_until("the question is still there", |_| {
        let objects = bus.objects();
        let is_it = |it: &Object| it.name == "Approve this step" && it.role == "button";
        Ok(objects.into_iter().find(is_it))
    })?;
    assert!(bus.press(&approve));
    assert!(bus.wait_for_answer("Approve this step is not available. ")?);
    assert_eq!(of_steps(&desktop), Vec::<String>::new());
    assert!(folder.join("old").is_dir(), "nothing has run");
    assert!(!approve.is(State::Enabled) && !approve.description.is_empty());
    let field =
        bus.objects().into_iter().find(|it| it.name.contains("type “old”") && it.role == "entry");
    assert!(bus.grab_focus(&field.expect("the field for the word")));
    desktop.key("ctrl+a")?;
    type_word(&mut desktop, "old")?;
    presses(&bus, &mut desktop, "Approve this step", |objects| {
        !has(objects, "Approve this step") && objects.iter().any(|it| it.name.contains("Completed"))
    })?;
    assert!(!folder.join("old").exists());
    assert_eq!(recorded(&desktop.evidence()).len(), 1);
    Ok(())
}

#[test]
fn a_screen_reader_approves_by_the_same_rules() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(approved(folder.path()));
}
