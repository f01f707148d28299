//! Any bytes as a plan file (SPEC §1.4): the findings are true, repeatable and complete.
//!
//! Each oracle computes the expected result in a second way: `serde_json` decides whether the bytes are JSON, a
//! scan of the bytes gives nesting and duplicate keys, and the value itself what a finding points to.

#![no_main]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use countersign_fuzz::mutate::mutate_json;
use countersign_fuzz::plan::{
    Code, Continuation, Dialect, Digest, Finding, Parsed, Plan, Precondition, Severity, ShownPlan,
    StepPlace, Tool, ToolCall, continuation, is_hidden, limits, parse, visible,
};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde_json::Value;
use sha2::Digest as _;

/// The schemas that are published: a second source of the names that a plan may have.
static SCHEMAS: LazyLock<Vec<(Dialect, Value)>> = LazyLock::new(|| {
    let schema = |it: Dialect| serde_json::from_str(it.schema()).expect("a schema is JSON");
    Dialect::WORDS.iter().map(|(_, it)| (*it, schema(*it))).collect()
});

fuzz_target!(|data: &[u8]| check(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});

fn check(data: &[u8]) {
    let parsed = parse(data);
    assert_eq!(parse(data), parsed, "the same bytes gave another answer");
    assert_eq!(parsed.digest, Digest::from_bytes(sha2::Sha256::digest(data).into()));
    let value = serde_json::from_slice::<Value>(data).ok();
    check_json(data, &parsed, value.as_ref());
    let text = String::from_utf8_lossy(data);
    for finding in &parsed.findings {
        check_place(finding, &text);
        for words in [&finding.message, &finding.pointer] {
            assert!(!visible(words).chars().any(is_hidden), "{finding:?}");
        }
    }
    assert!(parsed.is_valid() || !parsed.findings.is_empty(), "refused without a word");
    let errors = parsed.findings.iter().filter(|finding| finding.severity == Severity::Error);
    assert_eq!(parsed.is_valid(), errors.count() == 0);
    let Some(shown) = parsed.clone().into_shown() else { return };
    assert_eq!(*shown.source, *data);
    assert_eq!(shown.digest, parsed.digest);
    if let (Some(value), Ok(plan)) = (&value, &parsed.plan) {
        check_names(plan.dialect, value);
        let inputs = value["inputs"].as_array().map_or(0, Vec::len);
        assert_eq!(plan.inputs.len(), inputs);
        match plan.dialect {
            // Its arguments have values in them that the file has elsewhere.
            _ if inputs > 0 => {}
            Dialect::StepPlan => check_valid(plan, value),
            Dialect::CommandPlan => check_valid_commands(plan, value),
            Dialect::ActionPlan => check_valid_actions(plan, value),
        }
        check_continuation(plan);
    }
    check_faulty_steps(&shown, &parsed.findings);
}

/// E010, E011 and the limit of nesting are exact, and every finding points to a value.
fn check_json(data: &[u8], parsed: &Parsed, value: Option<&Value>) {
    let has = |code| parsed.findings.iter().any(|finding| finding.code == code);
    // The limit on findings, the other one for the whole file, never is the only finding.
    let too_deep = matches!(&*parsed.findings, [only] if is_of_the_file(only));
    let scan = Scan::of(data);
    let Some(value) = value else {
        // A file nested too deep is not read to its end, so later faults are not found.
        assert_ne!(has(Code::NotJson), too_deep && scan.depth > limits::NESTING, "{parsed:?}");
        return;
    };
    assert!(!has(Code::NotJson), "it is JSON: {parsed:?}");
    assert_eq!(too_deep, scan.depth > limits::NESTING, "{} levels: {parsed:?}", scan.depth);
    if too_deep {
        return;
    }
    let duplicates = scan.members > members(value);
    if parsed.findings.len() <= limits::FINDINGS || !duplicates {
        assert_eq!(has(Code::DuplicateKey), duplicates, "{parsed:?}");
    }
    if !duplicates {
        let text = str::from_utf8(data).expect("JSON is UTF-8");
        for finding in &parsed.findings {
            check_pointer(finding, text, value);
        }
    }
}

/// Whether the finding is about a limit of the file: its nesting or the number of findings.
fn is_of_the_file(finding: &Finding) -> bool {
    finding.code == Code::Limit && finding.pointer.is_empty()
}

/// Nesting and members of a text, counted without parsing.
struct Scan {
    depth: usize,
    members: usize,
}

impl Scan {
    fn of(data: &[u8]) -> Self {
        let (mut now, mut depth, mut members) = (0_usize, 0, 0);
        let (mut in_text, mut escaped) = (false, false);
        for byte in data {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_text => escaped = true,
                b'"' => in_text = !in_text,
                _ if in_text => {}
                b'{' | b'[' => {
                    now += 1;
                    depth = depth.max(now);
                }
                b'}' | b']' => now = now.saturating_sub(1),
                b':' => members += 1,
                _ => {}
            }
        }
        Self { depth, members }
    }
}

/// The number of members of all objects, where duplicates count once.
fn members(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(members).sum(),
        Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
        _ => 0,
    }
}

/// Asserts that line and column are in the file, the column at most one past its line.
fn check_place(finding: &Finding, text: &str) {
    let line = text.split('\n').nth(finding.line - 1);
    let width = line.unwrap_or_else(|| panic!("no such line: {finding:?}")).chars().count();
    assert!((1..=width + 1).contains(&finding.column), "no such column: {finding:?}");
}

/// Asserts that the pointer leads to a value, and that line and column are where that value or its key begins.
fn check_pointer(finding: &Finding, text: &str, value: &Value) {
    let value =
        value.pointer(&finding.pointer).unwrap_or_else(|| panic!("leads nowhere: {finding:?}"));
    if is_of_the_file(finding) {
        return;
    }
    let line = text.split('\n').nth(finding.line - 1).expect("checked");
    let at = line.chars().nth(finding.column - 1);
    let begins = |expected: &[char]| at.is_some_and(|at| expected.contains(&at));
    let right = match value {
        _ if matches!(finding.code, Code::UnknownField | Code::DuplicateKey) => begins(&['"']),
        Value::Null => begins(&['n']),
        Value::Bool(_) => begins(&['t', 'f']),
        Value::Number(_) => at.is_some_and(|at| at == '-' || at.is_ascii_digit()),
        Value::String(_) => begins(&['"']),
        Value::Array(_) => begins(&['[']),
        Value::Object(_) => begins(&['{']),
    };
    assert!(right, "{at:?} stands there: {finding:?}");
    // A pattern is judged without translating it; where that is quick, the verdict is the same. One
    // that switches Unicode off may be refused for the number of its classes alone.
    if let Some(pattern) = value.as_str()
        && finding.message.starts_with("not a regular expression")
        && pattern.len() < 4096
        && !pattern.contains('-')
    {
        assert!(regex_syntax::parse(pattern).is_err(), "{finding:?}");
    }
}

/// Asserts that no field of the file is ignored because its name is unknown.
fn check_names(dialect: Dialect, value: &Value) {
    let (_, schema) = SCHEMAS.iter().find(|(it, _)| *it == dialect).expect("each has a schema");
    let check = |value: &Value, known: &Value| {
        let mut names = value.as_object().expect("it is an object").keys();
        assert!(names.all(|name| known["properties"].get(name).is_some()), "{value}");
    };
    check(value, schema);
    for (list, item) in [("inputs", "input"), ("steps", "step"), ("actions", "action")] {
        for value in value[list].as_array().into_iter().flatten() {
            check(value, &schema["$defs"][item]);
        }
    }
}

/// Asserts that a valid plan contains exactly what its file contains.
fn check_valid(plan: &Plan, value: &Value) {
    assert!(plan.intent.is_some());
    assert!((1..=limits::ID_BYTES).contains(&plan.plan_id.len()));
    let steps = value["steps"].as_array().expect("steps are an array");
    assert_eq!(plan.steps.len(), steps.len());
    let mut ids = BTreeSet::new();
    for (index, (step, value)) in plan.steps.iter().zip(steps).enumerate() {
        let object = value.as_object().expect("a step is an object");
        assert!(ids.insert(step.step_id.as_str()), "two steps are called {:?}", step.step_id);
        assert_eq!(step.step_index, index);
        let call = &step.call;
        assert_eq!(Some(call.tool().name()), value["tool"].as_str());
        assert_eq!(step.tool_name, call.tool().name());
        let asks = object.get("requires_confirmation");
        assert_eq!(Some(step.requires_confirmation), asks.map_or(Some(false), Value::as_bool));
        match object.get("precondition").map(|text| text.as_str().expect("it is a text")) {
            None => assert_eq!(step.precondition, Precondition::None),
            Some(text) => assert_eq!(Some(&step.precondition), Precondition::parse(text).as_ref()),
        }
        if let Precondition::StepSucceeded(id) = &step.precondition {
            assert!(id != &step.step_id && ids.contains(id.as_str()), "{id:?} is no earlier step");
        }
        check_arguments(call.tool(), &step.arguments, &value["arguments"]);
        if let ToolCall::FileSearch { pattern, .. } = call
            && pattern.len() < 4096
        {
            assert!(regex_syntax::parse(pattern).is_ok(), "{pattern:?}");
        }
    }
}

/// The same for a command plan: each command and each verification is a step, in order.
fn check_valid_commands(plan: &Plan, value: &Value) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    assert_eq!(plan.title, text(&value["goal"]));
    let several = value.get("targets").or_else(|| value.get("inventory"));
    assert_eq!(plan.fleet.is_some(), several.is_some());
    if several.is_none() {
        assert_eq!(plan.target, text(&value["target"]).filter(|target| target != "local"));
    }
    let steps = value["steps"].as_array().expect("steps are an array");
    let commands = steps.iter().flat_map(|step| {
        [Some(&step["command"]), step.get("verificationCommand")].into_iter().flatten()
    });
    let commands: Vec<Option<&str>> = commands.map(Value::as_str).collect();
    let mut ids = BTreeSet::new();
    for (index, step) in plan.steps.iter().enumerate() {
        assert!(ids.insert(step.step_id.as_str()), "two steps are called {:?}", step.step_id);
        assert!(step.step_id.len() <= limits::ID_BYTES);
        assert_eq!(step.step_index, index);
        let ToolCall::Shell { command, target, cwd, timeout_seconds, inputs } = &step.call else {
            panic!("{:?} is no command", step.call)
        };
        assert!(inputs.is_empty());
        assert_eq!(Some(&Some(command.as_str())), commands.get(index));
        assert_eq!(*target, plan.target);
        let (StepPlace::Command(place) | StepPlace::Verification(place)) = step.place else {
            panic!("{:?} is no place of a command", step.place)
        };
        assert_eq!(*cwd, text(&steps[place]["cwd"]));
        let timeout = steps[place]["timeoutSeconds"].as_f64();
        assert_eq!(timeout_seconds.map(f64::from), timeout);
        let asks = steps[place]["riskAssessment"]["requiresApproval"].as_bool() == Some(true);
        assert_eq!(step.requires_confirmation, asks && !step.is_verification());
    }
    assert_eq!(plan.steps.len(), commands.len());
}

/// The same for an action plan: each action is a step with its request, or there is a failure and no step.
fn check_valid_actions(plan: &Plan, value: &Value) {
    assert_eq!(plan.title.as_deref(), value["goal"].as_str());
    let failure = value["failure"].as_object();
    assert_eq!(plan.failure.is_some(), failure.is_some());
    let no_actions = Vec::new();
    let actions = value["actions"].as_array().unwrap_or(&no_actions);
    assert_eq!(plan.steps.len(), actions.len());
    assert_eq!(plan.steps.is_empty(), failure.is_some());
    for (index, (step, value)) in plan.steps.iter().zip(actions).enumerate() {
        assert_eq!(step.step_id, format!("action_{index}"));
        assert_eq!(step.place, StepPlace::Action(index));
        let call = &step.call;
        assert_eq!(Some(call.tool().name()), value["type"].as_str());
        let request = value["request"].as_object().expect("a request is an object");
        assert!(step.arguments.keys().eq(request.keys()), "{:?}", step.arguments);
        let known = call.tool().spec().arguments;
        assert!(request.keys().all(|name| known.iter().any(|known| known.name == name)));
    }
}

fn check_arguments(
    tool: Tool,
    arguments: &std::collections::BTreeMap<String, String>,
    value: &Value,
) {
    let object = value.as_object().expect("arguments are an object");
    assert_eq!(arguments.len(), object.len());
    for (name, text) in arguments {
        let known = tool.spec().arguments.iter();
        assert!(known.into_iter().any(|known| known.name == name || known.alias == Some(name)));
        match &object[name] {
            Value::String(value) => assert_eq!(text, value),
            Value::Number(number) => {
                let read: Value = serde_json::from_str(text).expect("the text of a number");
                assert_eq!(read, Value::Number(number.clone()));
            }
            other => panic!("{other} became an argument"),
        }
    }
}

/// Asserts that exactly the steps with an error have no call, if no finding was cut off by the limit.
fn check_faulty_steps(plan: &ShownPlan, findings: &[Finding]) {
    if findings.len() > limits::FINDINGS {
        return;
    }
    for step in &plan.steps {
        // Errors about a step that are only seen when the steps are compared leave it its call;
        // the plan is refused all the same.
        if step.call.is_none() {
            let own = match step.place {
                StepPlace::Step(place)
                | StepPlace::Command(place)
                | StepPlace::Verification(place) => format!("/steps/{place}"),
                StepPlace::Action(place) => format!("/actions/{place}"),
            };
            let about_it = |finding: &&Finding| {
                finding.severity == Severity::Error && finding.pointer.starts_with(&own)
            };
            // A step that lacks the value of an input is as faulty as the input.
            let lacks = plan
                .inputs
                .iter()
                .any(|input| input.value.is_none() && input.used_by.contains(&step.step_index));
            let is_explained = lacks || findings.iter().any(|finding| about_it(&finding));
            assert!(is_explained, "step {own} has no call");
        }
    }
}

/// Asserts that a plan which continues a valid plan is valid and has exactly the remaining steps.
fn check_continuation(plan: &Plan) {
    let bits = plan.digest.as_bytes();
    let done = |index: usize| bits[index / 8 % bits.len()] >> (index % 8) & 1 == 1;
    let (succeeded, rest): (Vec<_>, Vec<_>) =
        plan.steps.iter().partition(|step| done(step.step_index));
    let succeeded: BTreeSet<String> =
        succeeded.into_iter().map(|step| step.step_id.clone()).collect();
    match continuation(plan, uuid::Uuid::nil(), &succeeded) {
        Continuation::NothingLeft => assert!(rest.is_empty()),
        Continuation::TooLarge => panic!("a small plan became too large"),
        Continuation::Plan(bytes) => {
            let parsed = parse(&bytes);
            assert!(parsed.is_valid(), "{:?}", parsed.findings);
            let again = parsed.plan.expect("a valid plan");
            assert_eq!(again.intent, plan.intent);
            assert_eq!(again.steps.len(), rest.len());
            for (again, step) in again.steps.iter().zip(rest) {
                // The id of an action is derived from its index.
                if plan.dialect != Dialect::ActionPlan {
                    assert_eq!(again.step_id, step.step_id);
                }
                assert_eq!(again.call, step.call);
                assert_eq!(again.arguments, step.arguments);
                assert_eq!(again.requires_confirmation, step.requires_confirmation);
                let held = matches!(
                    &step.precondition, Precondition::StepSucceeded(id) if succeeded.contains(id));
                let expected = if held { &Precondition::None } else { &step.precondition };
                assert_eq!(again.precondition, *expected);
            }
        }
    }
}
