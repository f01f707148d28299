use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::plan::{Code, Edit, ShownPlan, parse};

const STEPS: &str = r#"{
  "plan_id" : "p",  "intent": "MUTATE",
  "steps": [
    { "tool": "file_read", "arguments": {"path":"a\u002etxt"} },
    {"step_id": "b", "tool": "file_write",
     "arguments": { "contents": "x\n", "path": "b.txt" }, "precondition": "none" },
    { "tool": "file_search",
      "arguments": { "pattern": 1.50e0, "root": "." } },
    { "tool": "file_read", "arguments": { "path": "c" }, "precondition": "b succeeded" },
    { "tool": "file_read", "arguments": { "path": "d" }, "precondition": "step_4 succeeded" }
  ]
}
"#;

const COMMANDS: &str = r#"{"goal": "g", "steps": [
    {"command": "one", "index": 1, "verificationCommand": "check one"},
    {"command": "two", "index": 2, "cwd": "src", "timeoutSeconds": 60, "verificationCommand": "check two"},
    {"id": "x", "command": "three", "index": 3}
]}"#;

const ACTIONS: &str = r#"{"version": "2026-02-19", "goal": "g", "actions": [
    {"type": "mutate_batch", "request": {"dry_run": false, "edits": [
        {"op": "write", "contents": "1\n", "path": "a"},
        {"path": "b", "op": "patch", "diff": "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n"},
        {"op":"replace","path":"c","old":"x","new":"y"}
    ]}},
    {"type": "verify", "request": {}}
]}"#;

fn base(text: &str) -> ShownPlan {
    parse(text.as_bytes()).into_shown().unwrap()
}

fn revised(base: &ShownPlan, revision: &Revision) -> String {
    String::from_utf8(revision.apply(base).unwrap()).unwrap()
}

fn ids(text: &str) -> Vec<String> {
    base(text).steps.iter().map(|step| step.step_id.clone()).collect()
}

#[test]
fn an_argument_changes_and_nothing_else() {
    let base = base(STEPS);
    for (step, name, text, old, new) in [
        (0, "path", "b.txt", r#""a\u002etxt""#, r#""b.txt""#),
        (1, "contents", "\u{202e}\u{1}\r\n\"é", r#""x\n""#, "\"\u{202e}\\u0001\\r\\n\\\"é\""),
        (2, "pattern", "2.0", "1.50e0", "2.0"),
        (2, "pattern", "fn main", "1.50e0", "\"fn main\""),
    ] {
        let mut revision = Revision::default();
        revision.set_argument(&base, step, name, Some(text)).unwrap();
        assert_eq!(revised(&base, &revision), STEPS.replace(old, new));
        revision.undo(&base, step, Some(name));
        assert!(revision.is_empty());
    }
}

#[test]
fn the_value_of_the_base_is_no_change() {
    let base = base(STEPS);
    let mut revision = Revision::default();
    revision.set_argument(&base, 0, "path", Some("other")).unwrap();
    revision.set_argument(&base, 0, "path", Some("a.txt")).unwrap();
    revision.set_argument(&base, 2, "pattern", Some("1.50e0")).unwrap();
    revision.set_argument(&base, 2, "kind", None).unwrap();
    assert!(revision.is_empty());
    assert_eq!(revision.apply(&base).unwrap(), STEPS.as_bytes());
}

#[test]
fn arguments_are_added_and_taken_away() {
    let commands = base(COMMANDS);
    let mut revision = Revision::default();
    revision.set_argument(&commands, 0, "cwd", Some("tests")).unwrap();
    revision.set_argument(&commands, 2, "timeout_seconds", None).unwrap();
    revision.set_argument(&commands, 3, "command", Some("check 2")).unwrap();
    let text = revised(&commands, &revision);
    let expected = COMMANDS
        .replace(r#""check one"}"#, r#""check one", "cwd": "tests"}"#)
        .replace(r#", "timeoutSeconds": 60"#, "")
        .replace("check two", "check 2");
    assert_eq!(text, expected);
    assert!(parse(text.as_bytes()).is_valid());
}

#[test]
fn values_of_actions_are_json() {
    let actions = base(ACTIONS);
    let mut revision = Revision::default();
    revision.set_argument(&actions, 0, "dry_run", Some(" true ")).unwrap();
    revision.set_argument(&actions, 1, "scope", Some("full")).unwrap();
    let text = revised(&actions, &revision);
    let expected = ACTIONS
        .replace("\"dry_run\": false", "\"dry_run\": true")
        .replace("\"request\": {}", "\"request\": {\"scope\": \"full\"}");
    assert_eq!(text, expected);
    for (step, name, text) in [(0, "edits", "[1,"), (0, "edits", ""), (0, "dry_run", "yes")] {
        let refused = Revision::default().set_argument(&actions, step, name, Some(text));
        assert!(matches!(refused, Err(RevisionError::Value { .. })), "{name} {text}");
    }
}

#[test]
fn what_is_no_argument_of_a_step_is_refused() {
    let commands = base(COMMANDS);
    for (step, name) in
        [(0, "target"), (1, "cwd"), (1, "timeout_seconds"), (0, "x"), (9, "command")]
    {
        let refused = Revision::default().set_argument(&commands, step, name, Some("1"));
        assert!(refused.is_err(), "{step} {name}");
    }
    let refused = Revision::default().set_argument(&commands, 2, "timeout_seconds", Some("soon"));
    assert!(matches!(refused, Err(RevisionError::Value { .. })));
}

#[test]
fn a_faulty_argument_can_be_repaired() {
    let text = r#"{"plan_id": "p", "intent": "READ", "steps": [
        {"tool": "file_read", "arguments": {"path": ["a"], "pth": "a"}},
        {"tool": "file_read"}
    ]}"#;
    let base = base(text);
    let mut revision = Revision::default();
    revision.set_argument(&base, 0, "path", Some("a")).unwrap();
    revision.set_argument(&base, 0, "pth", None).unwrap();
    revision.set_argument(&base, 1, "path", Some("b")).unwrap();
    let text = revised(&base, &revision);
    assert!(parse(text.as_bytes()).is_valid(), "{text}");
}

#[test]
fn arguments_are_replaced_by_others() {
    let text = r#"{"plan_id": "p", "intent": "READ", "steps": [
        {"tool": "file_search", "arguments": {"a": "1", "b": "2", "root": "."}},
        {"tool": "file_read", "arguments": { "pth": "a" }}
    ]}"#;
    let base = base(text);
    let mut revision = Revision::default();
    for (step, name, value) in [
        (0, "a", None),
        (0, "b", None),
        (0, "pattern", Some("x")),
        (1, "pth", None),
        (1, "path", Some("a")),
    ] {
        revision.set_argument(&base, step, name, value).unwrap();
    }
    let expected = text
        .replace(r#"{"a": "1", "b": "2", "root": "."}"#, r#"{"root": ".", "pattern": "x"}"#)
        .replace(r#""pth": "a""#, r#""path": "a""#);
    assert_eq!(revised(&base, &revision), expected);
}

#[test]
fn steps_go_with_those_that_need_them_and_ids_stay() {
    let base = base(STEPS);
    let mut revision = Revision::default();
    let more = revision.leave_out(&base, &BTreeSet::from([1])).unwrap();
    let more: Vec<_> = more.iter().map(|it| (it.step, it.needs.as_deref())).collect();
    assert_eq!(more, [(3, Some("b")), (4, Some("step_4"))]);
    let text = revised(&base, &revision);
    assert_eq!(ids(&text), ["step_1", "step_3"]);
    let expected = STEPS.find("{\"step_id\": \"b\"").unwrap();
    assert!(text.starts_with(STEPS[..expected].trim_end().trim_end_matches(',')));
    let with_id = "{ \"step_id\": \"step_3\",\n      \"tool\": \"file_search\",";
    assert!(text.contains(with_id), "{text}");
    assert!(parse(text.as_bytes()).is_valid());
    revision.undo(&base, 4, None);
    assert!(revision.is_empty(), "it needs the others");
}

#[test]
fn a_verification_goes_with_its_command() {
    let base = base(COMMANDS);
    let mut revision = Revision::default();
    let more = revision.leave_out(&base, &BTreeSet::from([0])).unwrap();
    assert_eq!(more.len(), 1);
    let text = revised(&base, &revision);
    assert_eq!(ids(&text), ["step_2", "step_2.verify", "x"]);
    let parsed = parse(text.as_bytes());
    assert!(parsed.is_valid() && parsed.findings.is_empty(), "{:?}", parsed.findings);
    assert_eq!(revision.parts(&base).unwrap().len(), 1);
    assert_eq!(revision.step_of_base(&base, 0), Some(2));
    revision.undo(&base, 0, None);
    revision.leave_out(&base, &BTreeSet::from([3])).unwrap();
    let text = revised(&base, &revision);
    assert_eq!(text, COMMANDS.replace(", \"verificationCommand\": \"check two\"", ""));
    assert_eq!(revision.step_of_base(&base, 3), Some(4));
    revision.undo(&base, 3, None);
    assert!(revision.is_empty());
}

#[test]
fn one_step_must_stay() {
    let base = base(COMMANDS);
    let mut revision = Revision::default();
    let refused = revision.leave_out(&base, &BTreeSet::from([0, 2, 4]));
    assert_eq!(refused, Err(RevisionError::NothingLeft));
    assert!(revision.is_empty());
}

#[test]
fn a_step_needs_the_first_one_of_its_id() {
    let text = r#"{"plan_id": "p", "intent": "READ", "steps": [
        {"step_id": "a", "tool": "file_read", "arguments": {"path": "a"}},
        {"step_id": "a", "tool": "file_read", "arguments": {"path": "b"}},
        {"step_id": "b", "tool": "file_read", "arguments": {"path": "c"}, "precondition": "a succeeded"}
    ]}"#;
    let base = base(text);
    assert_eq!(leaving_out(&base, &BTreeSet::from([1])).len(), 1);
    assert_eq!(leaving_out(&base, &BTreeSet::from([0, 1])).len(), 3);
    let mut revision = Revision::default();
    revision.leave_out(&base, &BTreeSet::from([1])).unwrap();
    let parsed = parse(revised(&base, &revision).as_bytes());
    assert!(parsed.findings.iter().all(|it| it.code != Code::DuplicateId));
}

#[test]
fn other_edits_keep_their_text() {
    let base = base(ACTIONS);
    let path = || "a".to_owned();
    let write = Edit::Write { path: path(), contents: "2\n".to_owned() };
    let patch = Edit::patch("c", "x", "z");
    let changes = BTreeMap::from([(0, Some(write)), (1, None), (2, Some(patch.clone()))]);
    let text = edits_text(&base, 0, &changes).unwrap();
    let edits: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(edits.len(), 2);
    assert!(text.contains(r#"{"op": "write", "contents": "2\n", "path": "a"}"#), "{text}");
    assert_eq!(edits[1], json!(patch));
    let mut revision = Revision::default();
    revision.set_argument(&base, 0, "edits", Some(&text)).unwrap();
    assert!(parse(revised(&base, &revision).as_bytes()).is_valid());
}

#[test]
fn arguments_are_edited_as_they_are_written() {
    let source =
        |text: &str, step: usize, name: &str| argument_source(&base(text), step, name).unwrap();
    assert_eq!(source(STEPS, 0, "path").as_deref(), Some("a.txt"));
    assert_eq!(source(STEPS, 2, "pattern").as_deref(), Some("1.50e0"));
    assert_eq!(source(STEPS, 2, "kind"), None);
    assert!(source(ACTIONS, 0, "edits").unwrap().contains("\n        {\"op\": \"write\""));
}

#[test]
fn a_revision_reads_back_the_same() {
    let base = base(STEPS);
    let mut revision = Revision::default();
    revision.set_argument(&base, 0, "path", Some("b")).unwrap();
    revision.set_argument(&base, 2, "root", None).unwrap();
    revision.leave_out(&base, &BTreeSet::from([1])).unwrap();
    let text = serde_json::to_string(&revision).unwrap();
    assert_eq!(serde_json::from_str::<Revision>(&text).unwrap(), revision);
    let sentences: Vec<_> =
        revision.parts(&base).unwrap().iter().map(RevisedPart::sentence).collect();
    assert_eq!(sentences.len(), 5, "{sentences:?}");
    assert!(sentences[0].starts_with("Step 1 (step_1): path was"), "{sentences:?}");
}

proptest! {
    /// Leaving steps out of any layout of a plan gives the plan without them.
    #[test]
    fn the_rest_of_a_plan_is_untouched(
        count in 1_usize..12,
        picks in prop::collection::vec(any::<bool>(), 12),
        pretty in any::<bool>(),
        named in prop::collection::vec(any::<bool>(), 12),
    ) {
        let step = |index: usize| {
            let mut step = json!({"tool": "file_read", "arguments": {"path": format!("f{index}")}});
            if named[index] {
                step["step_id"] = json!(format!("id {index}"));
            }
            step
        };
        let steps: Vec<Value> = (0..count).map(step).collect();
        let plan = json!({"plan_id": "p", "intent": "READ", "steps": steps});
        let text = if pretty { format!("{plan:#}\r\n") } else { plan.to_string() };
        let base = base(&text);
        let steps: BTreeSet<usize> = (0..count).filter(|index| picks[*index]).collect();
        let mut revision = Revision::default();
        match revision.leave_out(&base, &steps) {
            Err(error) => {
                prop_assert_eq!(error, RevisionError::NothingLeft);
                prop_assert_eq!(steps.len(), count);
            }
            Ok(_) => {
                let text = revised(&base, &revision);
                let parsed = parse(text.as_bytes());
                prop_assert!(parsed.is_valid(), "{text}");
                let plan = parsed.into_shown().unwrap();
                let left = base.steps.iter().filter(|it| !steps.contains(&it.step_index));
                prop_assert!(left.clone().map(|it| &it.step_id).eq(plan.steps.iter().map(|it| &it.step_id)));
                prop_assert!(left.map(|it| &it.arguments).eq(plan.steps.iter().map(|it| &it.arguments)));
            }
        }
    }
}
