//! The questions of the settings, of agents, of a second person, of a loop and of `ssh`, and the menus of rows.

use super::*;
use crate::second_person::Team;
use crate::sshd::Sshd;
use crate::{agent, hooks, looping};

/// The form of a rule, the keys of a command, weaker protection, and settings of a file.
fn settings(folder: &Path) -> Outcome {
    let mut reader = Reader::start(folder, SETTINGS, &[])?;
    let file = reader.desktop.home().join("config/countersign/settings.toml");
    let kept = |reader: &Reader| (reader.kept(), fs::read_to_string(&file).unwrap_or_default());
    let before = kept(&reader);
    reader.press("Settings…", |objects| has(objects, "Find a setting"))?;
    reader.finds("command rules", |objects| has(objects, "New rule…"))?;
    let form = |objects: &[Object]| has(objects, "First words of the command");
    reader.press("New rule…", form)?;
    reader.reads_all("the form of a rule");
    reader.press("Cancel", |objects| !form(objects))?;
    reader.finds("find any command", |objects| has(objects, "Commands: Change"))?;
    let captures = |objects: &[Object]| has(objects, "Press the new keys…");
    reader.press("Commands: Change", captures)?;
    reader.reads_all("the keys of a command");
    reader.desktop.key("ctrl+o")?;
    reader.wait("the keys are another command's", |objects| has(objects, "Exchange the keys"))?;
    reader.reads_all("keys of another command");
    reader.press("Leave them", |objects| !has(objects, "Exchange the keys"))?;
    reader.press("Commands: Change", captures)?;
    reader.desktop.key("Escape")?;
    reader.wait("the keys stay", |objects| !captures(objects))?;
    reader.finds("policy.walls", |objects| has(objects, "Walls: Off"))?;
    // The keyboard is on what leaves everything as it is.
    for key in ["Escape", "Return"] {
        reader.press("Walls: Off", |objects| has(objects, "Weaken the protection"))?;
        reader.reads_all("the question before weaker protection");
        reader.desktop.key(key)?;
        reader.wait("the question is gone", |objects| !has(objects, "Weaken the protection"))?;
    }
    assert_eq!(kept(&reader), before);
    reader.desktop.key("Escape")?;
    reader.wait("the settings are left", |objects| !has(objects, "Find a setting"))?;
    assert_eq!(kept(&reader), before);
    Ok(())
}

/// A settings file with a fault: nothing can be changed, and each control says so.
fn faulty_settings(folder: &Path) -> Outcome {
    let mut reader = Reader::start(folder, "theme = \"purple\"\n", &[])?;
    reader.press("Settings…", |objects| has(objects, "Find a setting"))?;
    let objects = reader.wait("the settings are shown", |objects| has(objects, "Walls: Off"))?;
    let is_off = |name: &str| objects.iter().any(|it| it.name == name && !it.is(State::Enabled));
    assert!(is_off("Walls: Off") && is_off("Commands: Change"));
    reader.reads_all("settings that cannot be changed");
    Ok(())
}

#[test]
fn settings_that_cannot_be_changed_say_why() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(faulty_settings(folder.path()));
}

#[test]
fn questions_of_the_settings_are_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(settings(folder.path()));
}

/// A file of settings that would change much, and weaken something.
fn import(folder: &Path) -> Outcome {
    let file = folder.join("other.toml");
    fs::write(&file, "theme = \"light\"\n\n[policy]\nwalls = \"off\"\n").expect("the file");
    let mut reader = Reader::start(folder, SETTINGS, &[])?;
    let own = reader.desktop.home().join("config/countersign/settings.toml");
    let before = fs::read_to_string(&own).expect("the settings");
    reader.press("Settings…", |objects| has(objects, "Find a setting"))?;
    // A second request would open a second picker.
    let objects = reader.bus.objects();
    let button = objects.iter().find(|it| it.name == "Import settings…" && it.role == "button");
    assert!(reader.bus.press(button.expect("the button")));
    reader.desktop.choose_file(&file)?;
    reader.wait("the differences", |objects| {
        objects.iter().any(|it| it.name.starts_with("Import 1 setting"))
    })?;
    reader.reads_all("the settings of a file");
    reader.press("Import nothing", |objects| has(objects, "Find a setting"))?;
    assert_eq!(fs::read_to_string(&own).expect("the settings"), before);
    Ok(())
}

#[test]
fn settings_of_a_file_are_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(import(folder.path()));
}

/// Calls of an agent: a rejection, and a rule for identical calls.
fn calls(folder: &Path) -> Outcome {
    let settings = format!("{SETTINGS}\n[agents]\nsession_rules = true\n");
    let mut reader = Reader::start(folder, &settings, &[])?;
    let asked = hooks::asks(&reader.desktop, folder, "ls");
    reader.wait("a call waits", |objects| has(objects, "Reject…"))?;
    reader.leaves(By::Control("Reject…"), "Reject this plan?", "Not now")?;
    let title = "Authorize exactly this plan?";
    reader.leaves(By::Control("Authorize…"), title, "Not now")?;
    reader.opens(By::Control("Authorize…"), title)?;
    reader.press("Authorize", |objects| modal(objects).is_none())?;
    let ticket = hooks::ticket(&hooks::output_of(&asked));
    let run = hooks::start(&reader.desktop.home(), &["exec", &ticket], "");
    assert!(hooks::output_of(&run).status.success());
    let offered = "Allow identical calls…";
    reader.wait("a rule is offered", |objects| has(objects, offered))?;
    let title = "Allow identical calls in this session?";
    reader.leaves(By::Control(offered), title, "Not now")?;
    reader
        .wait("there is no rule", |objects| has(objects, offered) && !has(objects, "Take back"))?;
    Ok(())
}

#[test]
fn dialogs_about_calls_of_agents_are_read_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("egret"), "").expect("a file");
    passes(calls(folder.path()));
}

/// A second person looks at a request.
fn request(team: &Team) -> Outcome {
    let ada = team.desktop("ada")?;
    let file = team.file("request.json");
    let mut ask = ada.screen.command(env!("CARGO_BIN_EXE_countersign"));
    ask.arg("review-request").arg(team.plan()).arg("--out").arg(&file);
    ask.arg("--evidence").arg(ada.evidence());
    assert!(ask.status().expect("the program").success());
    drop(ada);
    let settings = format!("{SETTINGS}\n{}", team.settings("bob"));
    let file = file.display().to_string();
    let mut bob = Reader::start(&team.file("space"), &settings, &[&file])?;
    bob.leaves(By::Control("Refuse…"), "Refuse to sign this plan?", "Not now")?;
    bob.leaves(By::Control("Sign…"), "Sign exactly this plan?", "Not now")?;
    bob.wait("nothing is signed", |objects| has(objects, "Sign…") && has(objects, "Refuse…"))?;
    Ok(())
}

#[test]
fn dialogs_of_a_second_person_are_read_and_left() {
    passes(request(&Team::new()));
}

/// A loop: trust in commands from its form, the rejection of its plan, and closing the window.
fn of_a_loop(workspace: &looping::Workspace) -> Outcome {
    let folder = workspace.path("nest");
    fs::write(folder.join("countersign.toml"), "[verify.local]\ncommand = \"true\"\n")
        .expect("the commands");
    let mut reader = Reader::start(&folder, SETTINGS, &[])?;
    workspace.fill_in(&mut reader.desktop)?;
    reader.wait("the form knows the folder", |objects| has(objects, "Look at the commands…"))?;
    reader.reads_all("the form of a loop");
    let open = By::Control("Look at the commands…");
    reader.leaves(open, "Trust these commands?", "Not now")?;
    reader.opens(open, "Trust these commands?")?;
    reader.press("Trust these commands", |objects| modal(objects).is_none())?;
    reader.press("Start and run the planner", |objects| has(objects, "Look at the plan"))?;
    reader.leaves(By::Closing, "Stop the loop and close?", "Keep running")?;
    reader.press("Look at the plan", |objects| has(objects, "Reject…"))?;
    reader.leaves(By::Control("Reject…"), "Reject this plan?", "Not now")?;
    reader.leaves(By::Control("Authorize…"), "Authorize exactly this plan?", "Not now")?;
    assert!(!workspace.path("nest/egg").exists(), "nothing has run");
    Ok(())
}

#[test]
fn dialogs_of_a_loop_are_read_and_left() {
    let workspace = looping::Workspace::new(
        "cat > /dev/null\n\
         echo '{\"goal\": \"An egg\", \"steps\": [{\"command\": \"echo laid > egg\"}]}'\n",
    );
    passes(of_a_loop(&workspace));
}

/// A session with an agent that never ends its turn.
fn of_an_agent(folder: &Path, command: &str) -> Outcome {
    let mut reader = Reader::start(folder, SETTINGS, &[])?;
    agent::start(&mut reader.desktop, command, folder)?;
    reader.wait("the agent works", |objects| has(objects, "Stop the agent"))?;
    reader.reads_all("the session");
    reader.leaves(By::Closing, "Stop the agent and close?", "Keep running")?;
    reader.wait("the agent still works", |objects| has(objects, "Stop the agent"))?;
    reader.press("Stop the agent", |objects| !has(objects, "Stop the agent"))?;
    Ok(())
}

#[test]
fn closing_during_the_work_of_an_agent_is_read_and_left() {
    let workspace = tempfile::tempdir().expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let command = agent::script(folder.path(), json!([{ "ignore the end": true }]));
    passes(of_an_agent(workspace.path(), &command));
}

/// A password that `ssh` asks for. Escape is no answer, because a program waits.
fn secret(sshd: &Sshd, folder: &Path) -> Outcome {
    let settings = format!("{SETTINGS}\n[policy]\nssh_config = {:?}\n", sshd.config());
    let plan = json!({
        "goal": "Say hello over there", "target": "loopback",
        "steps": [{ "command": "echo hello" }],
    });
    let plan = write(folder, "there.json", &plan);
    let mut reader = Reader::start(folder, &settings, &[&plan])?;
    let title = "A secret is asked for";
    let before = reader.kept();
    reader.opens(By::Control("Try the connection"), title)?;
    let objects = reader.bus.objects();
    let field = objects.iter().find(|it| it.name == "Answer").expect("the field");
    assert_eq!(field.role, "password text");
    reader.desktop.key("Escape")?;
    reader.reads(title)?;
    reader.press("Do not answer", |objects| modal(objects).is_none())?;
    assert_eq!(reader.kept(), before);
    Ok(())
}

#[test]
fn a_question_for_a_secret_is_read_and_declined() {
    let folder = tempfile::tempdir().expect("a folder");
    let sshd = Sshd::with_password("kingfisherquartz");
    passes(secret(&sshd, folder.path()));
}

/// The menu of a row, by the key for it.
fn row_menu(folder: &Path) -> Outcome {
    let steps = json!([{ "command": "ls" }]);
    let plan = write(folder, "nest.json", &json!({ "goal": "Look into the nest", "steps": steps }));
    let mut reader = Reader::start(folder, SETTINGS, &[&plan])?;
    let is_row = |it: &&Object| it.role == "list item" && it.name.starts_with("Plan Look into");
    let row = |objects: &[Object]| objects.iter().find(is_row).cloned();
    let objects = reader.wait("the plan is listed", |objects| row(objects).is_some())?;
    let row = row(&objects).expect("the row");
    for key in ["Menu", "shift+F10"] {
        assert!(reader.bus.grab_focus(&row));
        let name = row.name.clone();
        reader.desktop.wait_until("the row has the keyboard", |desktop| {
            Ok((desktop.tree()?.focused.as_ref() == Some(&name)).then_some(()))
        })?;
        reader.desktop.key(key)?;
        let objects = reader.wait("its menu", |objects| has(objects, "Remove from the list"))?;
        let item = objects.iter().find(|it| it.name == "Remove from the list").expect("the item");
        assert_eq!(item.role, "menu item");
        reader.reads_all("the menu of a row");
        reader.desktop.wait_until("its first item has the keyboard", |desktop| {
            Ok((desktop.tree()?.focused.as_deref() == Some("Pin")).then_some(()))
        })?;
        if key == "Menu" {
            reader.desktop.screenshot("row_menu")?;
        }
        reader.desktop.key("Escape")?;
        reader.wait("it is closed", |objects| !has(objects, "Remove from the list"))?;
        reader.desktop.wait_until("the row has the keyboard again", |desktop| {
            Ok((desktop.tree()?.focused.as_ref() == Some(&name)).then_some(()))
        })?;
    }
    Ok(())
}

#[test]
fn menus_of_rows_are_opened_by_key_and_read() {
    let folder = tempfile::tempdir().expect("a folder");
    passes(row_menu(folder.path()));
}
