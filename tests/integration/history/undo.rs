//! The tool `history`: undo, redo, restore, lists and differences (SPEC §9).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use countersign::engine::{WorkspaceChoice, preview_step, review};
use countersign::plan::{Digest, Severity};
use countersign::risk::RiskLevel;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{
    FinishedRun, Harness, actions, batch, create_file, plan, read, read_file, redo, restore, step,
    undo, undo_of, write_file,
};

fn done(ran: &FinishedRun) -> &FinishedRun {
    assert_eq!(ran.words().1, "completed", "{:?}", ran.result());
    ran
}

impl Harness {
    /// The result of the only step.
    fn answer(&self, ran: &FinishedRun) -> Value {
        let id = ran.result().step_results.last().unwrap().execution_id;
        let sql = "SELECT content_json FROM execution_artifacts
                   WHERE execution_id = ?1 AND artifact_type = 'result'";
        serde_json::from_str(&self.texts(sql, [id.to_string()])[0]).unwrap()
    }

    fn refuses(&self, plan: &Value, code: &str) {
        drop(self.refused(plan, code));
    }

    fn refused(&self, plan: &Value, code: &str) -> FinishedRun {
        let before = self.tree();
        let ran = self.run(plan);
        assert_eq!(ran.codes().last().unwrap(), &Some(code), "{:?}", ran.result());
        assert_eq!(self.tree(), before, "a refused step changes nothing");
        ran
    }
}

#[test]
fn changes_are_undone_and_redone_in_turn() {
    let harness = Harness::with(&[("a", "one\n")]);
    let first =
        harness.run(&plan([write_file("w", "a", "two\n"), create_file("c", "d/b", "new\n")]));
    done(&first);
    done(&harness.run(&undo()));
    assert_eq!((harness.content("a").as_deref(), harness.content("d/b")), (Some("two\n"), None));
    done(&harness.run(&undo()));
    assert_eq!(harness.content("a").as_deref(), Some("one\n"));
    harness.refuses(&undo(), "E101");
    done(&harness.run(&redo()));
    assert_eq!((harness.content("a").as_deref(), harness.content("d/b")), (Some("two\n"), None));
    done(&harness.run(&redo()));
    assert_eq!(harness.content("d/b").as_deref(), Some("new\n"));
    harness.refuses(&redo(), "E101");
    // Two undos in one plan; the second depends on the first.
    let both = actions(["undo", "undo"].map(|it| ("history", json!({ "operation": it }))));
    done(&harness.run(&both));
    assert_eq!((harness.content("a").as_deref(), harness.content("d/b")), (Some("one\n"), None));
    done(&harness.run(&plan([write_file("w", "z", "z\n")])));
    harness.refuses(&redo(), "E101");
}

#[test]
fn run_and_its_revert_are_reverted_whole() {
    let harness = Harness::with(&[("a", "one\n"), ("gone", "old\n"), ("from", "moved\n")]);
    let before = harness.tree();
    let ran = harness.run(&batch(json!([
        { "op": "write", "path": "a", "contents": "two\n" },
        { "op": "create", "path": "sub/new", "contents": "n\n" },
        { "op": "delete", "path": "gone" },
        { "op": "rename", "path": "from", "to": "to" },
        { "op": "write", "path": "empty", "contents": "" },
    ])));
    let after = harness.tree();
    let reverted = harness.run(&undo_of(&done(&ran).checkpoint()));
    assert_eq!(done(&reverted).words().1, "completed");
    assert_eq!(harness.tree(), before);
    harness.refuses(&undo_of(&ran.checkpoint()), "E101");
    let again = harness.run(&undo_of(&reverted.checkpoint()));
    done(&again);
    assert_eq!(harness.tree(), after);
    done(&harness.run(&undo_of(&ran.checkpoint())));
    assert_eq!(harness.tree(), before);
}

#[test]
fn later_work_is_shown_and_never_overwritten() {
    let harness = Harness::with(&[("a", "one\n"), ("b", "one\n")]);
    let ran = harness.run(&plan([write_file("w", "a", "two\n"), write_file("v", "b", "two\n")]));
    harness.put("a", "two\nby hand\n");
    let name = done(&ran).checkpoint();
    let refused = harness.refused(&undo_of(&name), "E311");
    let message = refused.result().step_results[0].error_message.clone().unwrap();
    assert_eq!(message, "a was changed later, by no recorded step");
    let said = &harness.answer(&refused)["conflicts"];
    assert_eq!((said.as_array().unwrap().len(), &said[0]["path"]), (1, &json!("a")));
    assert!(said[0]["difference"].as_str().unwrap().contains("+by hand"), "{said}");
    let preview = &harness.simulate(&undo_of(&name)).previews[0];
    assert!(preview.would_fail() && preview.changes[0].unified().contains("+by hand"));
    // Later work of another plan is kept as well, and named.
    harness.put("a", "two\n");
    let later = harness.run(&plan([write_file("w", "a", "three\n")]));
    let step = later.result().step_results[0].execution_id;
    let refused = harness.refused(&undo_of(&name), "E311");
    assert!(
        refused.result().step_results[0]
            .error_message
            .as_deref()
            .unwrap()
            .contains(&step.to_string())
    );
    harness.refuses(
        &undo_of(&format!("execution:{}", ran.result().step_results[0].execution_id)),
        "E311",
    );
    // A file that is already restored needs no change.
    harness.put("a", "one\n");
    done(&harness.run(&undo_of(&name)));
    assert_eq!(harness.content("b").as_deref(), Some("one\n"));
}

#[test]
fn work_between_runs_counts_as_later_work() {
    let harness = Harness::with(&[("a", "one\n")]);
    let first = harness.run(&plan([write_file("w", "a", "two\n")]));
    harness.put("a", "two\nby hand\n");
    done(&harness.run(&plan([write_file("w", "a", "three\n")])));
    let refused = harness.refused(&restore(&first.checkpoint()), "E311");
    let said = harness.answer(&refused);
    let reason = said["conflicts"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("changed by somebody else before execution"), "{reason}");
    // Undoing the last change alone leaves that work.
    done(&harness.run(&undo()));
    assert_eq!(harness.content("a").as_deref(), Some("two\nby hand\n"));
}

#[test]
fn restored_checkpoint_can_be_undone() {
    let harness = Harness::with(&[("a", "0\n")]);
    let runs: Vec<FinishedRun> =
        (1..4).map(|n| harness.run(&plan([write_file("w", "a", &format!("{n}\n"))]))).collect();
    done(&harness.run(&plan([create_file("c", "b", "b\n")])));
    done(&harness.run(&undo()));
    done(&harness.run(&restore(&runs[1].checkpoint())));
    assert_eq!(harness.content("a").as_deref(), Some("1\n"));
    harness.refuses(&redo(), "E101");
    done(&harness.run(&undo()));
    assert_eq!(harness.content("a").as_deref(), Some("3\n"));
    let execution = runs[2].result().step_results[0].execution_id;
    done(&harness.run(&restore(&format!("execution:{execution}"))));
    assert_eq!(harness.content("a").as_deref(), Some("2\n"));
    harness.refuses(&restore(&format!("run:{}", Uuid::new_v4())), "E101");
    harness.refuses(&restore(&format!("loop:{}:1", Uuid::new_v4())), "E101");
}

#[test]
fn entries_checkpoints_and_differences_are_listed() {
    let harness = Harness::with(&[("a", "one\n"), ("same", "s\n")]);
    let first = harness.run(&plan([write_file("w", "a", "two\n")]));
    let second = harness.run(&plan([
        read_file("r", "a"),
        write_file("s", "same", "s\n"),
        create_file("c", "b", "new\n"),
    ]));
    let undone = harness.run(&undo());
    done(&undone);
    let listed = harness.run(&actions([("history", json!({ "operation": "list_entries" }))]));
    let entries = harness.answer(done(&listed))["entries"].as_array().unwrap().clone();
    let brief: Vec<_> = entries
        .iter()
        .map(|entry| (entry["tool"].as_str().unwrap(), entry["undone"].as_bool().unwrap()))
        .collect();
    assert_eq!(brief, [("history", false), ("file_create", true), ("file_write", false)]);
    assert_eq!(entries[1]["undone_by"], json!(undone.result().step_results[0].execution_id));
    assert_eq!(entries[1]["files"][0]["before"], Value::Null);
    assert_eq!(entries[2]["files"][0]["path"], "a");
    let listed = harness
        .run(&actions([("history", json!({ "operation": "list_checkpoints", "limit": 2 }))]));
    let answer = harness.answer(done(&listed));
    assert_eq!(answer["total"], 3, "{answer}");
    let names: Vec<_> =
        answer["checkpoints"].as_array().unwrap().iter().map(|it| &it["checkpoint"]).collect();
    assert_eq!(names, [&json!(undone.checkpoint()), &json!(second.checkpoint())]);

    let diff = |from: &FinishedRun, to: Option<&FinishedRun>| {
        let mut request = json!({ "operation": "diff", "from_checkpoint": from.checkpoint() });
        if let Some(to) = to {
            request["to_checkpoint"] = to.checkpoint().into();
        }
        let ran = harness.run(&actions([("history", request)]));
        done(&ran).result().step_results[0].stdout.clone().unwrap()
    };
    assert_eq!(diff(&first, None), "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-one\n+two\n");
    assert_eq!(diff(&second, Some(&undone)), "--- /dev/null\n+++ b/b\n@@ -0,0 +1,1 @@\n+new\n");
    let back = diff(&undone, Some(&first));
    assert_eq!(
        back,
        "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-two\n+one\n\
        --- a/b\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-new\n"
    );
    harness.put("a", "hand\n");
    assert!(
        diff(&first, None).ends_with("-one\n+hand\n"),
        "the present content counts, whoever wrote it"
    );
    assert!(harness.tree().len() == 2, "reading changes nothing");
}

#[test]
fn git_is_never_touched() {
    let harness = Harness::with(&[(".git/config", "[core]\n"), ("a", "1\n")]);
    let ran = harness.run(&plan([
        write_file("g", ".git/config", "[core]\n\tbare = false\n"),
        write_file("w", "a", "2\n"),
    ]));
    done(&harness.run(&undo_of(&done(&ran).checkpoint())));
    assert_eq!(harness.content("a").as_deref(), Some("1\n"));
    assert_eq!(harness.content(".git/config").as_deref(), Some("[core]\n\tbare = false\n"));
    let only = harness.run(&plan([write_file("g", ".git/config", "[core]\n")]));
    harness.refuses(&undo_of(&done(&only).checkpoint()), "E101");
    harness.refuses(&undo(), "E101");
}

/// An undo has the risk of the writes that it makes.
#[test]
fn approval_of_undo_covers_written_files() {
    let harness = Harness::with(&[("build.rs", "fn main() {}\n"), ("run.sh", "echo 1\n")]);
    let mode = fs::Permissions::from_mode(0o750);
    fs::set_permissions(harness.path("run.sh"), mode).unwrap();
    let ran = harness.run(&plan([
        write_file("b", "build.rs", "fn main() { todo!() }\n"),
        write_file("s", "run.sh", "echo 2\n"),
    ]));
    let steps = &done(&ran).result().step_results;
    let choice = WorkspaceChoice { folder: harness.workspace(), reason: String::new() };
    for (step, rule) in steps.iter().zip(["write-build-script", "write-program"]) {
        let undo = read(&undo_of(&format!("execution:{}", step.execution_id)));
        let records = harness.evidence_location();
        let seen = review(&undo, &choice, &harness.policy, Some(&records)).unwrap();
        assert_eq!(
            (seen.risks[0].level, seen.risks[0].rule.as_ref()),
            (RiskLevel::Dangerous, rule)
        );
        assert_eq!(seen.binding.inputs.len(), 1);
        assert_eq!(seen.impact.files.len(), 1);
        let shown = preview_step(
            &undo.clone().into(),
            &harness.workspace(),
            &harness.policy,
            Some(&records),
            0,
            &std::sync::Arc::default(),
        );
        assert_eq!(shown.unwrap().changes.len(), 1);
        // Without the evidence its effects are unknown.
        let blind = review(&undo, &choice, &harness.policy, None).unwrap();
        assert!(blind.findings.iter().any(|finding| finding.severity == Severity::Error));
    }
    // Only what was approved runs.
    let approved = harness.authorize(&undo_of(&ran.checkpoint()));
    harness.put("run.sh", "echo by hand\n");
    assert_eq!(harness.execute(approved).refusal(), "E004");
    harness.put("run.sh", "echo 2\n");
    done(&harness.run(&undo_of(&ran.checkpoint())));
    let mode = fs::metadata(harness.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750, "the mode stays");
    let affected = "SELECT count(*) FROM edges WHERE edge_type = 'AFFECTED' AND target = 'run.sh'";
    assert_eq!(harness.count(affected, []), 2);
}

#[test]
fn interrupted_step_is_undone_only_by_name() {
    let harness = Harness::with(&[("a", "1\n")]);
    done(&harness.run(&plan([write_file("w", "a", "2\n")])));
    harness.refuse_rows_of("executions");
    let ran = harness.run(&plan([write_file("w", "a", "3\n")]));
    assert_eq!(ran.refusal(), "E401");
    harness.accept_rows();
    assert_eq!(harness.content("a").as_deref(), Some("3\n"), "it was done and not recorded");
    harness.refuses(&undo(), "E311");
    let id = harness.texts("SELECT id FROM intents ORDER BY row DESC", []).remove(0);
    // The intent records the content before the step; the content after it was not recorded.
    let id = if harness.count("SELECT count(*) FROM executions WHERE id = ?1", [&id]) == 1 {
        harness.texts("SELECT id FROM intents ORDER BY row DESC", []).remove(1)
    } else {
        id
    };
    done(&harness.run(&undo_of(&format!("execution:{id}"))));
    assert_eq!(harness.content("a").as_deref(), Some("2\n"));
}

#[test]
fn purged_content_refuses_the_whole_undo() {
    let harness = Harness::with(&[("a", "one\n"), ("b", "one b\n")]);
    let ran = harness.run(&plan([write_file("w", "a", "two\n"), write_file("v", "b", "two\n")]));
    let mut store = harness.store();
    store.purge_content(&Digest::of(b"one\n"), "a test", crate::harness::NOW_MS).unwrap();
    drop(store);
    let refused = harness.refused(&undo_of(&done(&ran).checkpoint()), "E101");
    let message = refused.result().step_results[0].error_message.clone().unwrap();
    assert_eq!(message, "the earlier content of a is not available: it was purged");
    let from = ran.checkpoint();
    let diff = harness
        .run(&actions([("history", json!({ "operation": "diff", "from_checkpoint": from }))]));
    let answer = harness.answer(done(&diff));
    assert_eq!(answer["not_available"][0]["path"], "a");
    assert!(done(&diff).result().step_results[0].stdout.as_deref().unwrap().contains("-one b"));
}

#[test]
fn links_folders_and_earlier_steps_block_undo() {
    let harness = Harness::with(&[("a", "one\n"), ("other", "o\n")]);
    let ran = harness.run(&plan([write_file("w", "a", "two\n")]));
    let name = done(&ran).checkpoint();
    fs::rename(harness.path("a"), harness.path("kept")).unwrap();
    std::os::unix::fs::symlink("other", harness.path("a")).unwrap();
    let stands = harness.run(&undo_of(&name));
    assert_ne!(stands.words().1, "completed");
    assert_eq!(harness.content("other").as_deref(), Some("o\n"));
    fs::remove_file(harness.path("a")).unwrap();
    fs::create_dir(harness.path("a")).unwrap();
    assert_ne!(harness.run(&undo_of(&name)).words().1, "completed");
    fs::remove_dir(harness.path("a")).unwrap();
    fs::rename(harness.path("kept"), harness.path("a")).unwrap();
    // The last change is known only after the earlier steps have run.
    let edits = json!([{ "op": "create", "path": "n", "contents": "n\n" }]);
    let mixed = actions([
        ("mutate_batch", json!({ "edits": edits })),
        ("history", json!({ "operation": "undo" })),
    ]);
    assert!(harness.simulate(&mixed).previews[1].would_fail());
    done(&harness.run(&undo_of(&name)));
    assert_eq!(harness.content("a").as_deref(), Some("one\n"));
}

#[test]
fn a_replaced_definition_is_taken_back() {
    let harness = Harness::with(&[
        ("m.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n"),
        ("new.txt", "def one():\n    return 11\n"),
    ]);
    let before = harness.tree();
    let arguments = json!({ "file": "m.py", "name": "one", "with": "new.txt" });
    let ran = harness.run(&plan([step("s", "splice_patch", arguments)]));
    assert!(harness.content("m.py").unwrap().contains("return 11"), "{:?}", ran.result());
    done(&harness.run(&undo_of(&ran.checkpoint())));
    assert_eq!(harness.tree(), before);
}

#[test]
fn long_run_is_reverted_whole() {
    // Enough that the list of undone executions does not fit into the step's record.
    let harness = Harness::with(&[("a", "start\n")]);
    let ran =
        harness.run(&plan((0..130).map(|n| write_file(&format!("w{n}"), "a", &format!("{n}\n")))));
    let reverted = harness.run(&undo_of(&done(&ran).checkpoint()));
    assert_eq!(done(&reverted).words().1, "completed");
    assert_eq!(harness.content("a").as_deref(), Some("start\n"));
    harness.refuses(&undo_of(&ran.checkpoint()), "E101");
    harness.refuses(&undo(), "E101");
    done(&harness.run(&redo()));
    assert_eq!(harness.content("a").as_deref(), Some("129\n"));
    done(&harness.run(&undo()));
    assert_eq!(harness.content("a").as_deref(), Some("128\n"));
}

#[test]
fn another_workspace_has_a_history_of_its_own() {
    let harness = Harness::with(&[("ours/a", "1\n"), ("theirs/a", "1\n")]);
    let ran = harness.run(&plan([write_file("w", "ours/a", "2\n")]));
    let choice = WorkspaceChoice { folder: harness.path("theirs"), reason: String::new() };
    let seen = review(
        &read(&undo_of(&done(&ran).checkpoint())),
        &choice,
        &harness.policy,
        Some(&harness.evidence_location()),
    );
    let findings = seen.unwrap().findings;
    assert!(findings[0].message.contains("nothing is known of run:"), "{findings:?}");
}
