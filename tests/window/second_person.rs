//! The signature of a second person in two real windows, by keyboard: asked for, looked at, given, taken, and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::harness::Desktop;
use super::screen::Outcome;
use super::support::{passes, recorded, sign};

/// Ada, who runs the plan, and Bob, who signs it on his own desktop.
pub(super) struct Team {
    folder: tempfile::TempDir,
}

impl Team {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let team = Self { folder };
        let mut list = String::new();
        for who in ["ada", "bob"] {
            make_key(&team.file(who), "");
            let public = fs::read_to_string(team.file(&format!("{who}.pub"))).expect("the key");
            list.push_str(&format!("{who} {public}"));
        }
        fs::write(team.file("allowed"), list).expect("the list");
        let plan = json!({
            "plan_id": "reed", "intent": "MUTATE", "title": "Cut the reed", "signatures_required": 2,
            "steps": [{"step_id": "cut", "tool": "file_write",
                       "arguments": {"path": "reed.txt", "contents": "cut\n"}}],
        });
        fs::create_dir(team.file("space")).expect("the workspace");
        fs::write(team.file("space/reed.txt"), "tall\n").expect("the file");
        fs::write(team.plan(), plan.to_string()).expect("the plan");
        team
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn plan(&self) -> PathBuf {
        self.file("space/reed.json")
    }

    /// The settings of this person.
    pub(super) fn settings(&self, who: &str) -> String {
        format!(
            "[signatures]\nkey = {:?}\nprincipal = '{who}'\nsign = ['authorizations']\nallowed_signers = {:?}\n",
            self.file(who),
            self.file("allowed")
        )
    }

    /// A desktop with the settings of this person.
    pub(super) fn desktop(&self, who: &str) -> Outcome<Desktop> {
        let mut desktop = Desktop::start_here(&[])?;
        // The settings are read at the start, and their folder is known only now.
        desktop.kill()?;
        let folder = desktop.home().join("config").join("countersign");
        fs::create_dir_all(&folder).expect("the folder of the settings");
        fs::write(folder.join("settings.toml"), self.settings(who)).expect("the settings");
        Ok(desktop)
    }
}

#[expect(clippy::disallowed_methods, reason = "makes a key as a person does")]
pub(super) fn make_key(path: &Path, passphrase: &str) {
    let mut keygen = Command::new("ssh-keygen");
    let made = keygen.args(["-q", "-t", "ed25519", "-N", passphrase, "-f"]).arg(path);
    assert!(made.status().expect("ssh-keygen").success());
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Bob opens the request, looks at it, and presses this button of the bar.
fn opened_by_bob(bob: &mut Desktop, request: &Path) -> Outcome {
    bob.start_again(&[&text(request)])?;
    bob.wait_for_text("Asked to sign")?;
    bob.wait_for_text("tall")?;
    bob.screenshot("second_person_2_request")?;
    let tree = bob.tree()?;
    let is_off = |name: &str| tree.control(name).is_none_or(|button| button.disabled);
    assert!(is_off("Authorize…") && is_off("Simulate") && is_off("Run"), "nothing of it runs here");
    Ok(())
}

fn the_way_of_a_request(team: &Team) -> Outcome<Vec<String>> {
    let (request, refused, signed) =
        (team.file("r.json"), team.file("no.json"), team.file("yes.json"));
    // The picker keeps the ending of the name that it proposes.
    let named = |path: &Path| path.with_extension("");
    let mut ada = team.desktop("ada")?;
    ada.start_again(&[&text(&team.plan())])?;
    ada.wait_for_text("Needs another signature")?;
    ada.wait_for_control("Ask for a signature…")?;
    ada.screenshot("second_person_1_needed")?;
    ada.press("Ask for a signature…")?;
    ada.choose_file(&named(&request))?;
    ada.wait_for_text("Saved as")?;

    let mut bob = team.desktop("bob")?;
    opened_by_bob(&mut bob, &request)?;
    bob.press("Refuse…")?;
    bob.wait_for_text("Refuse to sign this plan?")?;
    // The field takes text once answers count.
    bob.wait_until("the field has the keyboard", |desktop| {
        Ok(desktop.tree()?.focused.is_some_and(|name| name == "Reason (required)").then_some(()))
    })?;
    bob.type_text("it is nesting time")?;
    bob.wait_until("the words are typed", |desktop| {
        Ok(desktop.tree()?.control("Refuse").filter(|button| !button.disabled).map(|_| ()))
    })?;
    bob.key("ctrl+Return")?;
    bob.choose_file(&named(&refused))?;
    bob.wait_for_text("Refused")?;
    bob.press("Sign…")?;
    bob.wait_for_text("Sign exactly this plan?")?;
    bob.screenshot("second_person_3_sign")?;
    bob.press("Sign")?;
    bob.choose_file(&named(&signed))?;
    bob.wait_for_text("Give the file back to ada.")?;
    bob.screenshot("second_person_4_signed")?;
    bob.kill()?;

    for (answer, says) in
        [(&refused, "bob refuses the plan."), (&signed, "bob has signed the plan.")]
    {
        ada.key("ctrl+o")?;
        ada.choose_file(answer)?;
        ada.wait_for_text(says)?;
    }
    ada.wait_for_text("bob refused it before: it is nesting time")?;
    ada.wait_for_control("Authorize…")?;
    ada.screenshot("second_person_5_back")?;
    sign(&mut ada)?;
    ada.wait_for_text("Completed")?;
    ada.screenshot("second_person_6_run")?;
    Ok(recorded(&ada.evidence()).into_iter().map(|step| step.outcome).collect())
}

#[test]
fn a_second_person_signs_in_another_window() {
    let team = Team::new();
    let outcomes = passes(the_way_of_a_request(&team));
    assert_eq!(outcomes, ["succeeded"]);
    assert_eq!(fs::read_to_string(team.file("space/reed.txt")).expect("the file"), "cut\n");
}
