//! What voids an approval: changed files, policy, mode, workspace or plan bytes (SPEC §2).

use std::fs;
use std::sync::Arc;

use countersign::plan::{Mode, Tool, ToolCall, parse};

use super::authorization::changed;
use crate::harness::{Harness, asking, create_file, plan, read_file, write_file};

/// The plan of these tests. Its first step would create the file `trace`.
pub fn two_writes() -> serde_json::Value {
    plan([create_file("a", "trace", "x"), write_file("b", "input", "new")])
}

/// The run is refused before it changes anything.
#[test]
fn changed_file_voids_the_approval() {
    let harness = Harness::with(&[("input", "old")]);
    let approved = harness.authorize(&two_writes());
    harness.put("input", "somebody else's");
    let ran = harness.execute(approved);
    assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["file input".to_owned()]));
    assert_eq!(harness.content("trace"), None);
    assert_eq!(harness.content("input").as_deref(), Some("somebody else's"));
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 0);
}

#[test]
fn created_file_voids_the_approval() {
    let harness = Harness::new();
    let approved = harness.authorize(&two_writes());
    harness.put("input", "");
    let ran = harness.execute(approved);
    assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["file input".to_owned()]));
    assert_eq!(harness.content("trace"), None);
}

#[test]
fn removed_file_voids_the_approval() {
    let harness = Harness::with(&[("input", "old")]);
    let approved = harness.authorize(&two_writes());
    fs::remove_file(harness.path("input")).unwrap();
    let ran = harness.execute(approved);
    assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["file input".to_owned()]));
    assert_eq!(harness.tree().len(), 0);
}

#[test]
fn file_replaced_by_a_link_voids_approval() {
    let harness = Harness::with(&[("input", "old"), ("other", "old")]);
    let approved = harness.authorize(&two_writes());
    fs::remove_file(harness.path("input")).unwrap();
    std::os::unix::fs::symlink("other", harness.path("input")).unwrap();
    assert_eq!(harness.execute(approved).refusal(), "E004");
    assert_eq!(harness.content("other").as_deref(), Some("old"));
}

#[test]
fn file_only_read_may_change() {
    let harness = Harness::with(&[("a", "1")]);
    let approved = harness.authorize(&plan([read_file("a", "a")]));
    harness.put("a", "2");
    assert_eq!(harness.execute(approved).words().1, "completed");
}

#[test]
fn a_changed_policy_voids_the_approval() {
    let mut harness = Harness::new();
    let approved = harness.authorize(&two_writes());
    harness.policy.confirm_tools.insert(Tool::FileWrite);
    let ran = harness.execute(approved);
    assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["policy".to_owned()]));
    assert_eq!(harness.tree().len(), 0);
}

#[test]
fn a_changed_mode_voids_the_approval() {
    let harness = Harness::new();
    let mut approved = harness.authorize(&two_writes());
    approved.authorization.binding.mode = Mode::Guided;
    let ran = harness.execute(approved);
    assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["mode".to_owned()]));
}

#[test]
fn exchanged_workspace_voids_the_approval() {
    let harness = Harness::new();
    let approved = harness.authorize(&two_writes());
    let moved = harness.workspace().with_file_name("moved");
    fs::rename(harness.workspace(), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, harness.workspace()).unwrap();
    let ran = harness.execute(approved);
    assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["workspace".to_owned()]));
    assert_eq!(harness.tree().len(), 0);
}

#[test]
fn removed_workspace_voids_the_approval() {
    let harness = Harness::new();
    let approved = harness.authorize(&two_writes());
    fs::remove_dir(harness.workspace()).unwrap();
    let ran = harness.execute(approved);
    assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["workspace".to_owned()]));
}

#[test]
fn changed_plan_bytes_void_the_approval() {
    let harness = Harness::new();
    let approved = harness.authorize(&two_writes());
    // One more space: an equal plan, but other bytes.
    let mut bytes = approved.plan.source.to_vec();
    bytes.push(b' ');
    let other = parse(&bytes).plan.unwrap();
    let mut changed_bytes = approved.clone();
    changed_bytes.plan = other;
    let ran = harness.execute(changed_bytes);
    assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["plan bytes".to_owned()]));

    let mut only_source = approved;
    only_source.plan.source = Arc::from(bytes);
    assert_eq!(harness.execute(only_source).refusal(), "E004");
    assert_eq!(harness.tree().len(), 0);
}

#[test]
fn approved_bytes_that_are_no_plan_are_refused() {
    let harness = Harness::new();
    let mut approved = harness.authorize(&two_writes());
    let bytes = b"not a plan";
    approved.plan.source = Arc::from(&bytes[..]);
    approved.plan.digest = countersign::plan::Digest::of(bytes);
    approved.authorization.plan_digest = approved.plan.digest;
    assert_eq!(harness.execute(approved).refusal(), "E001");
    assert_eq!(harness.tree().len(), 0);
}

#[test]
fn plan_in_memory_must_equal_its_bytes() {
    let harness = Harness::new();
    let approved = harness.authorize(&two_writes());
    let mut another_call = approved.clone();
    another_call.plan.steps[0].call =
        ToolCall::FileCreate { path: "evil".into(), contents: "x".into() };
    let mut another_argument = approved.clone();
    another_argument.plan.steps[0].arguments.insert("path".into(), "evil".into());
    let mut one_step_more = approved.clone();
    one_step_more.plan.steps.push(approved.plan.steps[0].clone());
    let mut no_prompt = harness.authorize(&plan([asking(create_file("a", "evil", "x"))]));
    no_prompt.plan.steps[0].requires_confirmation = false;
    for tampered in [another_call, another_argument, one_step_more, no_prompt] {
        let ran = harness.execute(tampered);
        assert_eq!((ran.refusal(), changed(&ran)), ("E004", vec!["plan in memory".to_owned()]));
        assert_eq!(harness.tree().len(), 0);
    }
}
