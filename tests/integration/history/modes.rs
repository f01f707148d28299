//! The permission bits of files that an undo or a revert restores (SPEC §8, §9).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::harness::home::Home;
use crate::harness::{Harness, plan, set_mode, write_file};
use crate::harness::{batch, redo, undo, undo_of};

const SCRIPT: &str = "#!/bin/sh\necho it runs\n";

impl Harness {
    fn chmod(&self, path: &str, mode: u32) {
        set_mode(&self.path(path), mode);
    }

    /// The mode of a file, or `None` when it is absent.
    fn mode(&self, path: &str) -> Option<u32> {
        fs::metadata(self.path(path)).ok().map(|data| data.permissions().mode() & 0o7777)
    }

    /// Runs the plan and returns the checkpoint of the run.
    fn completes(&self, plan: &Value) -> String {
        let ran = self.run(plan);
        assert_eq!(ran.words().1, "completed", "{:?}", ran.result());
        ran.checkpoint()
    }

    /// The notes in the preview of the only step.
    fn notes(&self, plan: &Value) -> Vec<String> {
        self.simulate(plan).previews.remove(0).notes
    }
}

fn delete(path: &str) -> Value {
    json!({ "op": "delete", "path": path })
}

#[test]
fn reverted_script_is_executable_again() {
    let home = Home::new();
    let script = home.write("tool.sh", SCRIPT);
    set_mode(&script, 0o754);
    let plan = home.write("p.json", batch(json!([delete("tool.sh")])).to_string());
    let of = ["run", plan.to_str().unwrap(), "--yes", "--confirm", "approve"];
    let run = home.json(of).exits(0).document();
    assert!(!script.exists());
    let run = run["run_id"].as_str().unwrap();
    let shown = home.run(["revert", run]).exits(3);
    assert!(shown.stdout.contains("tool.sh is restored with its execute bit."), "{shown:#?}");
    home.json(["revert", run, "--yes", "--confirm", "approve"]).exits(0);
    let printed = home.command_of(script.to_str().unwrap()).output().unwrap();
    assert_eq!(printed.stdout, b"it runs\n");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o7777, 0o754);
    assert_eq!(home.json(["evidence", "verify"]).exits(0).document()["ok"], true);
}

#[test]
fn modes_are_undone_and_redone_with_files() {
    let harness = Harness::with(&[("tool.sh", SCRIPT), ("secret", "s\n"), ("same", SCRIPT)]);
    harness.chmod("tool.sh", 0o755);
    harness.chmod("secret", 0o600);
    harness.chmod("same", 0o640);
    let all = |harness: &Harness| ["tool.sh", "secret", "same"].map(|path| harness.mode(path));
    let modes = all(&harness);
    let edits = json!([delete("tool.sh"), delete("secret"), delete("same")]);
    let ran = harness.completes(&batch(edits));
    let notes = harness.notes(&undo());
    assert_eq!(notes, ["tool.sh is restored with its execute bit."]);
    harness.completes(&undo());
    assert_eq!(all(&harness), modes);
    harness.completes(&redo());
    assert_eq!(all(&harness), [None; 3]);
    harness.completes(&undo());
    assert_eq!(all(&harness), modes);
    let recorded = "SELECT before_mode || ' ' || ifnull(after_mode, '-') FROM file_contents
                    JOIN executions AS x ON x.id = execution_id
                    WHERE phase = ?1 AND x.run_id = ?2 ORDER BY path";
    for phase in ["predicted", "actual"] {
        let of = harness.texts(recorded, [phase, ran.trim_start_matches("run:")]);
        assert_eq!(of, ["416 -", "384 -", "493 -"], "{phase}");
    }
}

#[test]
fn special_mode_bits_are_not_restored() {
    let harness = Harness::with(&[("tool.sh", SCRIPT)]);
    harness.chmod("tool.sh", 0o7755);
    harness.completes(&batch(json!([delete("tool.sh")])));
    assert_eq!(
        harness.notes(&undo()),
        [
            "tool.sh is restored with its execute bit.",
            "tool.sh does not get its set-user-ID, set-group-ID or sticky bit back.",
        ]
    );
    harness.completes(&undo());
    assert_eq!(harness.mode("tool.sh"), Some(0o755));
}

/// The mode is restored only if the undone step had changed it.
#[test]
fn existing_file_keeps_its_mode() {
    let harness = Harness::with(&[("kept", "1\n"), ("to", "2\n"), ("from.sh", SCRIPT)]);
    harness.chmod("from.sh", 0o755);
    harness.chmod("to", 0o640);
    let written = harness.completes(&plan([write_file("w", "kept", "new\n")]));
    harness.chmod("kept", 0o711);
    assert_eq!(harness.notes(&undo()), ["kept is executable and stays so."]);
    let replaced = harness.completes(&batch(json!([
        delete("to"),
        { "op": "rename", "path": "from.sh", "to": "to" },
    ])));
    assert_eq!((harness.mode("to"), harness.mode("from.sh")), (Some(0o755), None));
    let back = undo_of(&replaced);
    assert_eq!(
        harness.notes(&back),
        ["from.sh is restored with its execute bit.", "to loses the execute bit that it got."]
    );
    harness.completes(&back);
    assert_eq!((harness.mode("to"), harness.mode("from.sh")), (Some(0o640), Some(0o755)));
    harness.completes(&redo());
    assert_eq!((harness.mode("to"), harness.mode("from.sh")), (Some(0o755), None));
    // A mode that was set since then is kept.
    harness.chmod("to", 0o500);
    harness.completes(&undo());
    assert_eq!((harness.mode("to"), harness.mode("from.sh")), (Some(0o500), Some(0o755)));
    harness.completes(&undo_of(&written));
    assert_eq!(harness.mode("kept"), Some(0o711));
}

#[test]
fn record_without_mode_restores_the_default_mode() {
    let harness = Harness::with(&[("tool.sh", SCRIPT)]);
    harness.chmod("tool.sh", 0o755);
    harness.completes(&batch(json!([delete("tool.sh")])));
    harness.change_rows_of(
        "file_contents",
        "UPDATE file_contents SET before_mode = NULL, after_mode = NULL",
    );
    assert_eq!(
        harness.notes(&undo()),
        ["tool.sh is created again, without an execute bit: its mode is not recorded."]
    );
    harness.completes(&undo());
    assert_eq!(harness.mode("tool.sh").unwrap() & 0o111, 0);
    assert_eq!(harness.content("tool.sh").as_deref(), Some(SCRIPT));
}

#[test]
fn interrupted_deletion_restores_the_mode() {
    let harness = Harness::with(&[("tool.sh", SCRIPT)]);
    harness.chmod("tool.sh", 0o755);
    harness.refuse_rows_of("executions");
    assert_eq!(harness.run(&batch(json!([delete("tool.sh")]))).refusal(), "E401");
    harness.accept_rows();
    assert_eq!(harness.mode("tool.sh"), None);
    let id = harness.texts("SELECT id FROM intents", []).remove(0);
    harness.completes(&undo_of(&format!("execution:{id}")));
    assert_eq!(harness.mode("tool.sh"), Some(0o755));
}
