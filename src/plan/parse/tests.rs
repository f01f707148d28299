use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::plan::{Intent, Precondition, Severity, TOOLS, ToolCall};

fn plan_with(step: &Value) -> Parsed {
    parse(json!({"plan_id": "p", "intent": "MUTATE", "steps": [step]}).to_string().as_bytes())
}

fn codes(parsed: &Parsed) -> Vec<(&'static str, &str)> {
    parsed.findings.iter().map(|f| (f.code.as_str(), f.pointer.as_str())).collect()
}

#[test]
fn a_whole_step_plan_is_read() {
    let bytes = br#"{"plan_id":"p1","intent":"mutate","title":"T","created_by":"m",
        "evidence_referenced":["Q8"],"steps":[
        {"step_id":"a","tool":"file_write","arguments":{"path":"x","contents":""},
         "precondition":" File Exists ","requires_confirmation":true,"title":"t","reason":"r"}]}"#;
    let parsed = parse(bytes);
    assert_eq!(parsed.findings, []);
    let plan = parsed.plan.unwrap();
    assert_eq!((plan.plan_id.as_str(), plan.intent), ("p1", Some(Intent::Mutate)));
    assert_eq!(plan.evidence_referenced, ["Q8"]);
    assert_eq!(*plan.source, *bytes);
    assert_eq!(plan.digest, Digest::of(bytes));
    let step = &plan.steps[0];
    assert_eq!(step.call, ToolCall::FileWrite { path: "x".into(), contents: String::new() });
    assert_eq!(step.precondition, Precondition::FileExists);
    assert_eq!(step.precondition_text, " File Exists ");
    assert!(step.requires_confirmation);
}

#[test]
fn missing_ids_and_defaults_are_derived() {
    let parsed =
        parse(br#"{"intent":"READ","steps":[{"tool":"file_read","arguments":{"path":"x"}}]}"#);
    let plan = parsed.plan.unwrap();
    assert_eq!(plan.plan_id, format!("plan-{}", plan.digest.short(16)));
    assert_eq!(plan.steps[0].step_id, "step_1");
    assert_eq!(plan.steps[0].precondition, Precondition::None);
    assert!(!plan.steps[0].requires_confirmation);
}

#[test]
fn numbers_keep_their_spelling() {
    for text in ["7", "-0", "1.10", "1e3", "18446744073709551615", "123456789012345678901234567890"]
    {
        let bytes = format!(
            r#"{{"intent":"READ","steps":[{{"tool":"file_read","arguments":{{"path":{text}}}}}]}}"#
        );
        let parsed = parse(bytes.as_bytes());
        assert_eq!(parsed.findings, [], "{text}");
        assert_eq!(parsed.plan.unwrap().steps[0].arguments["path"], text);
    }
}

#[test]
fn a_step_with_an_error_has_no_call() {
    let step =
        json!({"tool": "file_read", "arguments": {"path": "x"}, "requires_confirmaton": true});
    let parsed = plan_with(&step);
    assert_eq!(codes(&parsed), [("E012", "/steps/0/requires_confirmaton")]);
    assert!(parsed.findings[0].message.contains("did you mean \"requires_confirmation\""));
    assert_eq!(parsed.into_shown().unwrap().steps[0].call, None);
}

#[test]
fn an_alias_counts_once() {
    let arguments = |arguments| json!({"tool": "symbols_in_file", "arguments": arguments});
    assert!(plan_with(&arguments(json!({"file": "a.rs"}))).is_valid());
    let both = plan_with(&arguments(json!({"file": "a.rs", "file_path": "a.rs"})));
    assert_eq!(codes(&both), [("E203", "/steps/0/arguments/file")]);
}

#[test]
fn every_tool_requires_its_arguments() {
    for spec in TOOLS.iter().filter(|spec| spec.tool.stands_in(Dialect::StepPlan)) {
        let parsed = plan_with(&json!({"tool": spec.name, "arguments": {}}));
        let required = spec.arguments.iter().filter(|argument| argument.required).count();
        assert_eq!(codes(&parsed), vec![("E202", "/steps/0/arguments"); required], "{}", spec.name);
    }
}

#[test]
fn a_reading_intent_with_mutations_is_a_warning() {
    let parsed = parse(
        br#"{"intent":"EXPLAIN","steps":[{"tool":"file_write","arguments":{"path":"x","contents":""}}]}"#,
    );
    assert_eq!(parsed.findings[0].severity, Severity::Warning);
    assert!(parsed.is_valid());
}

#[test]
fn a_step_waits_only_for_earlier_steps() {
    let read = |precondition: &str| json!({"tool": "file_read", "arguments": {"path": "x"}, "precondition": precondition});
    let plan =
        json!({"intent": "READ", "steps": [read("step_2 succeeded"), read("step_1 succeeded")]});
    let parsed = parse(plan.to_string().as_bytes());
    assert_eq!(codes(&parsed), [("E016", "/steps/0/precondition")]);
}

#[test]
fn too_many_findings_stay_errors() {
    let plan = json!({"intent": "READ", "steps": vec![Value::Null; limits::FINDINGS + 5]});
    let parsed = parse(plan.to_string().as_bytes());
    assert_eq!(parsed.findings.len(), limits::FINDINGS + 1);
    assert!(!parsed.is_valid());
    assert!(parsed.findings.iter().any(|f| f.message.starts_with("5 more")));
}

#[test]
fn reading_many_faults_takes_linear_time() {
    // All faults are on one line, and each is looked up by its name. Quadratic work would take minutes.
    let members = |value: &str| {
        (0..100_000).map(|i| format!("\"k{i}\":{value},\"é\":0,")).collect::<String>()
    };
    let plan = format!(
        "{{{}\"intent\":\"READ\",\"steps\":[{{\"tool\":\"file_read\",\"arguments\":{{{}\"path\":\"x\"}}}}]}}",
        members("0"),
        members("0.5"),
    );
    let begin = std::time::Instant::now();
    let parsed = parse(plan.as_bytes());
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
    assert_eq!(parsed.findings.len(), limits::FINDINGS + 1);
    // Each member of the plan and each argument is unknown, and each `é` but the first is a duplicate.
    let faults = 200_000 + 99_999 + 100_001 + 99_999 - limits::FINDINGS;
    let last = &parsed.findings[limits::FINDINGS].message;
    assert!(last.starts_with(&format!("{faults} more")), "{last}");
}

#[test]
fn limits_hold_at_their_edge() {
    let step = |length: usize| json!({"tool": "file_write", "arguments": {"path": "x", "contents": "a".repeat(length)}});
    assert!(plan_with(&step(limits::ARGUMENT_BYTES)).is_valid());
    let over = plan_with(&step(limits::ARGUMENT_BYTES + 1));
    assert_eq!(codes(&over), [("E018", "/steps/0/arguments/contents")]);

    let steps = |count: usize| {
        let step = json!({"tool": "file_read", "arguments": {"path": "x"}});
        parse(json!({"intent": "READ", "steps": vec![step; count]}).to_string().as_bytes())
    };
    assert!(steps(limits::STEPS).is_valid());
    assert_eq!(codes(&steps(limits::STEPS + 1)), [("E018", "/steps")]);

    let mut bytes =
        br#"{"intent":"READ","steps":[{"tool":"file_read","arguments":{"path":"x"}}]}"#.to_vec();
    bytes.resize(limits::PLAN_BYTES, b' ');
    assert!(parse(&bytes).is_valid());
    bytes.push(b' ');
    assert_eq!(codes(&parse(&bytes)), [("E018", "")]);
}

/// Any JSON value of limited depth and size.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z_ /~é]{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["READ", "file_read", "file exists", "x", "Q1"])
            .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "plan_id",
        "intent",
        "steps",
        "tool",
        "arguments",
        "path",
        "precondition",
        "step_id",
        "title",
        "other",
        "a/b~c",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_give_a_plan_or_a_finding(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let parsed = parse(&bytes);
        prop_assert!(parsed.is_valid() || !parsed.findings.is_empty());
        prop_assert_eq!(parse(&bytes), parsed);
    }

    #[test]
    fn every_finding_has_a_place_in_the_file(json in any_json()) {
        let text = serde_json::to_string_pretty(&json).unwrap();
        let parsed = parse(text.as_bytes());
        // A plan without an error has a call for each step, and is valid.
        prop_assert_eq!(parsed.is_valid(), parsed.findings.iter().all(|it| it.severity < Severity::Error));
        for finding in &parsed.findings {
            let line = text.lines().nth(finding.line - 1);
            prop_assert!(line.is_some(), "{finding:?}");
            prop_assert!(finding.column <= line.unwrap().chars().count() + 1, "{finding:?}");
        }
    }
}
