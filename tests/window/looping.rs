//! A bounded loop, from the form to its end, by keyboard alone.

use std::path::PathBuf;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::passes;

pub(super) struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    /// An empty workspace, and beside it a planner with this shell script.
    pub(super) fn new(planner: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("heron").tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("nest")).expect("a folder");
        std::fs::write(folder.path().join("plan.sh"), planner).expect("the planner");
        Self { folder }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Opens the window and fills in the form of the loop.
    fn describe(&self) -> Outcome<Desktop> {
        let mut desktop = Desktop::start_here(&[])?;
        self.fill_in(&mut desktop)?;
        Ok(desktop)
    }

    /// Fills in the form of the loop in this window.
    pub(super) fn fill_in(&self, desktop: &mut Desktop) -> Outcome {
        desktop.key("ctrl+4")?;
        desktop.tab_to("Goal")?;
        desktop.type_text("An egg in the nest")?;
        desktop.tab_to("a command")?;
        desktop.key("space")?;
        desktop.tab_to("Planner command")?;
        desktop.type_text(&format!("sh {}", self.path("plan.sh").display()))?;
        desktop.tab_to("Workspace folder")?;
        desktop.type_text(&self.path("nest").display().to_string())
    }

    /// Fills in the form and starts the loop.
    fn start(&self) -> Outcome<Desktop> {
        let mut desktop = self.describe()?;
        desktop.wait_for_text("Starting runs this command")?;
        desktop.screenshot("loop_1_form")?;
        desktop.tab_to("Start and run the planner")?;
        desktop.key("Return")?;
        Ok(desktop)
    }
}

/// Signs the plan on the page, and waits on the page of its loop until it is completed.
fn complete(desktop: &mut Desktop) -> Outcome {
    desktop.look_at_steps()?;
    desktop.key("ctrl+Return")?;
    desktop.press("Authorize and run")?;
    desktop.wait_for_control("Open its loop")?;
    desktop.tab_to("Open its loop")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Ended: completed")?;
    Ok(())
}

fn signed(workspace: &Workspace) -> Outcome {
    let mut desktop = workspace.start()?;
    desktop.wait_for_text("Waits for your authorization")?;
    desktop.wait_for_text("a heron thinks")?;
    desktop.screenshot("loop_2_waits")?;
    assert!(!workspace.path("nest/egg").exists(), "nothing runs by itself");
    desktop.tab_to("Look at the plan")?;
    desktop.key("Return")?;
    desktop.wait_for_text("The plan runs as soon as you authorize it")?;
    desktop.screenshot("loop_3_plan")?;
    desktop.look_at_steps()?;
    desktop.key("ctrl+Return")?;
    desktop.tab_to("Authorize and run")?;
    desktop.screenshot("loop_4_question")?;
    desktop.press_once_armed("Authorize and run")?;
    desktop.wait_for_text("Completed")?;
    desktop.key("ctrl+4")?;
    desktop.wait_for_text("Ended: completed")?;
    desktop.screenshot("loop_5_completed")?;
    Ok(())
}

#[test]
fn loop_is_started_signed_and_completed() {
    let workspace = Workspace::new(
        "cat > /dev/null; echo a heron thinks >&2\n\
         echo '{\"goal\": \"An egg\", \"steps\": [{\"command\": \"echo laid > egg\"}]}'\n",
    );
    passes(signed(&workspace));
    let egg = std::fs::read_to_string(workspace.path("nest/egg")).expect("what the plan made");
    assert_eq!(egg, "laid\n");
}

fn stopped(workspace: &Workspace) -> Outcome {
    let mut desktop = workspace.start()?;
    desktop.wait_for_text("a heron sleeps")?;
    desktop.key("ctrl+shift+period")?;
    desktop.wait_for_text("Ended: stopped")?;
    desktop.screenshot("loop_6_stopped")?;
    Ok(())
}

#[test]
fn a_loop_is_stopped_while_its_planner_hangs() {
    let workspace = Workspace::new("echo a heron sleeps >&2; sleep 600; touch late\n");
    passes(stopped(&workspace));
    assert!(!workspace.path("nest/late").exists());
}

fn prepared(workspace: &Workspace) -> Outcome {
    std::fs::remove_dir(workspace.path("nest")).expect("the folder");
    let mut desktop = workspace.describe()?;
    desktop.wait_for_text("There is no such folder.")?;
    desktop.screenshot("loop_7_nowhere")?;
    desktop.key("shift+F5")?;
    desktop.wait_for_text("The workspace folder does not exist.")?;
    // Without input: the form detects by itself that the folder exists now.
    std::fs::create_dir(workspace.path("nest")).expect("a folder");
    desktop.wait_for_text("Starting runs this command")?;
    let commands = "[verify.local]\ncommand = \"touch checked\"\n";
    std::fs::write(workspace.path("nest/countersign.toml"), commands).expect("the commands");
    // Typed paths are checked again.
    desktop.type_text("/")?;
    desktop.wait_for_text("it would end without having run a plan")?;
    desktop.screenshot("loop_8_untrusted")?;
    desktop.tab_to("Look at the commands…")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Trust these commands?")?;
    desktop.screenshot("loop_9_question")?;
    desktop.press("Trust these commands")?;
    desktop.wait_for_text("You trust the commands in the countersign.toml of this workspace.")?;
    desktop.key("shift+F5")?;
    desktop.wait_for_text("Waits for your authorization")?;
    desktop.key("shift+F8")?;
    desktop.wait_for_text("The plan runs as soon as you authorize it")?;
    complete(&mut desktop)?;
    desktop.screenshot("loop_10_verified")?;
    Ok(())
}

#[test]
fn obstacles_of_a_loop_are_shown_before_start() {
    let workspace = Workspace::new(
        "cat > /dev/null\n\
         echo '{\"goal\": \"An egg\", \"steps\": [{\"command\": \"echo laid > egg\"}]}'\n",
    );
    passes(prepared(&workspace));
    assert!(workspace.path("nest/checked").exists(), "verified by the commands that are trusted");
}

/// From *New plan from a goal…* over a look, a rejection with words and a signature to the evidence.
fn told(workspace: &Workspace) -> Outcome {
    let mut desktop = workspace.start()?;
    desktop.wait_for_text("Waits for your authorization")?;
    desktop.wait_for_text("The planner looked at 1 thing.")?;
    desktop.wait_for_text("notes.txt")?;
    desktop.screenshot("goal_1_looked")?;
    desktop.key("shift+F8")?;
    desktop.wait_for_text("The plan runs as soon as you authorize it")?;
    desktop.tab_to("Reject…")?;
    desktop.key("Return")?;
    desktop.wait_for_text("Reject this plan?")?;
    desktop.tab_to("Reason (required)")?;
    desktop.type_text("lay two eggs")?;
    desktop.screenshot("goal_2_words")?;
    desktop.press("Reject, plan again")?;
    desktop.wait_for_text("Attempt 2 of 3")?;
    desktop.wait_for_text("The plan runs as soon as you authorize it")?;
    complete(&mut desktop)?;
    desktop.tab_to("Attempt 1 of 3, rejected by you")?;
    desktop.key("Return")?;
    desktop.wait_for_text("The planner gets the reason:")?;
    desktop.screenshot("goal_3_completed")?;
    desktop.tab_to("Records of the loop")?;
    desktop.key("Return")?;
    desktop.wait_for_text("two eggs > egg")?;
    Ok(())
}

#[test]
fn a_goal_becomes_a_plan_that_words_correct() {
    let workspace = Workspace::new(
        r#"request=$(cat)
        case $request in
        *'"attempt":1,'*'"looked":[]'*) echo '{"looks": [{"read": "notes.txt"}]}' ;;
        *'"words":"lay two eggs"'*) echo '{"goal": "Eggs", "steps": [{"command": "echo two eggs > egg"}]}' ;;
        *'one egg, as always'*) echo '{"goal": "An egg", "steps": [{"command": "echo one > egg"}]}' ;;
        *) echo "$request" >&2; exit 1 ;;
        esac
        "#,
    );
    std::fs::write(workspace.path("nest/notes.txt"), "one egg, as always\n").expect("a note");
    passes(told(&workspace));
    let egg = std::fs::read_to_string(workspace.path("nest/egg")).expect("what the plan made");
    assert_eq!(egg, "two eggs\n");
}
