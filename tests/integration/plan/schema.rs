//! The shipped JSON Schemas and the validator accept and refuse the same plans (SPEC §1.4).

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use countersign::plan::{
    Code, Dialect, Finding, PRECONDITION_WORDS, Severity, TOOLS, ToolSpec, parse,
};
use serde_json::{Value, json};

use super::schema_mutations::whole_action_plan;
use crate::plan::fixtures;

static STEP_PLAN: LazyLock<jsonschema::Validator> = LazyLock::new(|| read("step-plan"));
static COMMAND_PLAN: LazyLock<jsonschema::Validator> = LazyLock::new(|| read("command-plan"));
static ACTION_PLAN: LazyLock<jsonschema::Validator> = LazyLock::new(|| read("action-plan"));

fn read(dialect: &str) -> jsonschema::Validator {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/schema/{dialect}.schema.json"));
    let schema = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// The schema of the dialect as which the validator reads this plan.
pub fn schema(value: &Value) -> &'static jsonschema::Validator {
    let has = |name: &str| value.get(name).is_some();
    let is_step_plan = has("plan_id") || has("intent");
    let is_command_plan = has("goal") && has("steps");
    match (is_step_plan, is_command_plan, has("version")) {
        (false, true, _) => &COMMAND_PLAN,
        (false, false, true) => &ACTION_PLAN,
        _ => &STEP_PLAN,
    }
}

pub fn step_plan_tools() -> impl Iterator<Item = &'static ToolSpec> + Clone {
    TOOLS.iter().filter(|spec| spec.tool.is_allowed_in(Dialect::StepPlan))
}

/// Why a schema cannot express this finding; `None` where it can and must.
fn beyond_a_schema(finding: &Finding) -> Option<&'static str> {
    let says = |words: &str| finding.message.contains(words);
    match finding.code {
        Code::DuplicateKey => Some("a parsed document has no key twice"),
        Code::Limit if says("verifications count as steps") => Some("a sum over items"),
        Code::NotFilledIn => Some("a plan is valid before it is filled in"),
        Code::BadValue if says("is none of") => Some("one field names the values of another"),
        Code::BadValue
            if says("cannot be replaced here")
                || says("would be split")
                || says("has no input")
                || says("given only to a command") =>
        {
            Some("there is no keyword for the grammar of a shell, nor for templates")
        }
        Code::DuplicateId => Some("uniqueItems compares whole items, not one field of them"),
        Code::UnknownPrecondition if says("no earlier step") => Some("one item names another"),
        Code::Limit if says("bytes long") => Some("maxLength counts characters, not bytes"),
        Code::Limit if says("nested deeper") => Some("there is no keyword for the depth"),
        Code::BadArgument if says("not a regular expression") || says("not a glob pattern") => {
            Some("there is no keyword for the grammar of a pattern")
        }
        _ => None,
    }
}

/// Compares the verdicts of schema and validator. The error describes their disagreement.
pub fn disagreement(text: &str) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let complaints: Vec<String> = schema(&value)
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    let parsed = parse(text.as_bytes());
    let errors: Vec<&Finding> =
        parsed.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    match (complaints.is_empty(), errors.is_empty()) {
        (true, true) | (false, false) => Ok(()),
        (false, true) => Err(format!("only the schema refuses\n{text}\n{complaints:#?}")),
        (true, false) if errors.iter().all(|finding| beyond_a_schema(finding).is_some()) => Ok(()),
        (true, false) => Err(format!("only the validator refuses\n{text}\n{errors:#?}")),
    }
}

#[test]
fn schema_and_validator_refuse_the_same_plans() {
    let (mut compared, mut beyond) = (0, 0);
    for path in fixtures::plans() {
        // Invalid JSON never reaches a schema.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
        disagreement(&text).unwrap_or_else(|words| panic!("{}: {words}", path.display()));
        compared += 1;
        beyond +=
            usize::from(schema(&value).is_valid(&value) && !parse(text.as_bytes()).is_valid());
    }
    assert!(compared >= 25, "only {compared} plans were compared");
    assert!(beyond >= 4, "only {beyond} plans show what a schema cannot say");
}

#[test]
fn both_accept_all_tools_arguments_and_aliases() {
    for spec in step_plan_tools() {
        for alias in [false, true] {
            let arguments: serde_json::Map<_, _> = spec
                .arguments
                .iter()
                .map(|argument| (argument.alias.filter(|_| alias).unwrap_or(argument.name), "x"))
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
            let plan = json!({ "plan_id": "p", "intent": "READ", "steps": [
                { "tool": spec.name, "arguments": arguments } ] });
            assert!(parse(plan.to_string().as_bytes()).is_valid(), "{plan}");
            disagreement(&plan.to_string()).unwrap();
        }
    }
}

#[test]
fn both_judge_every_precondition_alike_for_every_tool() {
    let hash = "0".repeat(64);
    let more = [
        "Cargo workspace exists",
        "cargo PROJECT exists",
        "file is in Cargo workspace",
        "codegraph.db present",
        "symbol exists in file",
        "file contains symbol 'Foo::bar'",
        "file contains symbol Foo",
        "command available: git",
        "command available:",
        "first succeeded",
        " first  succeeded ",
        "succeeded",
        "file hash is 12ab",
        "",
        "  none\n",
        // A letter whose lower case is ASCII.
        "cargo wor\u{212a}space",
    ];
    let written = [format!("file hash is {hash}"), format!("FILE HASH IS SHA256:{hash}")];
    let words = PRECONDITION_WORDS.iter().chain(&more).map(|word| (*word).to_owned());
    for word in words.chain(written) {
        for spec in step_plan_tools() {
            let arguments: serde_json::Map<_, _> = spec
                .arguments
                .iter()
                .map(|argument| (argument.name.to_owned(), json!("x")))
                .collect();
            let step = |id: &str, precondition: &str| {
                json!({ "step_id": id, "tool": spec.name, "arguments": arguments,
                    "precondition": precondition })
            };
            let plan = json!({ "plan_id": "p", "intent": "READ",
                "steps": [step("first", "none"), step("second", &word)] });
            disagreement(&plan.to_string()).unwrap();
        }
    }
}

#[test]
fn both_read_the_target_alike() {
    for target in [
        "local",
        "",
        "host",
        "ada@host",
        "ssh://ada@host:22",
        "[::1]",
        "fe80::1%eth0",
        "-oX=y",
        "a b",
        "ada@-host",
        "@host",
        "a@b@c",
        "host\n",
        "h;id",
        "h$(id)",
        "é",
        "a@",
        "LOCAL",
        "h'",
        "_x",
    ] {
        let plan = json!({ "goal": "g", "target": target, "steps": [{ "command": "ls" }] });
        disagreement(&plan.to_string()).unwrap();
    }
}

#[test]
fn both_read_the_needs_alike() {
    let paths =
        ["", " ", "/", "~", "~/", "~/a", "~a", "a/~b", "a\u{0}b", ".", "..", "a\n", "\u{e9}"];
    let mut all: Vec<Value> = paths.iter().map(|path| json!({ "write": [path] })).collect();
    all.extend([
        json!({}),
        json!([]),
        json!(null),
        json!({ "write": [] }),
        json!({ "write": [1] }),
    ]);
    all.push(json!({ "write": vec!["/a"; 33] }));
    all.push(json!({ "write": vec!["/a"; 32] }));
    all.push(json!({ "write": ["a".repeat(4_097)] }));
    all.push(json!({ "network": 1 }));
    all.push(json!({ "terminal": true, "open": true }));
    all.push(json!({ "sockets": true }));
    for needs in all {
        let plan = json!({ "goal": "g", "steps": [{ "command": "ls", "needs": needs }] });
        disagreement(&plan.to_string()).unwrap();
    }
}

#[test]
fn both_read_the_intent_alike() {
    for intent in ["READ", "read", "Mutate", "qUERY", "EXPLAIN", " READ", "", "EXPLA\u{131}N"] {
        let step = json!({ "tool": "file_read", "arguments": { "path": "x" } });
        let plan = json!({ "plan_id": "p", "intent": intent, "steps": [step] });
        disagreement(&plan.to_string()).unwrap();
    }
}

pub fn planner_failure() -> Value {
    json!({ "version": "2026-02-19", "goal": "g", "actions": [],
        "failure": { "code": "unsafe_plan", "message": "m", "detail": { "a": 1 },
            "retryable": true } })
}

#[test]
fn both_accept_every_action_and_a_failure() {
    for plan in [whole_action_plan(), planner_failure()] {
        let parsed = parse(plan.to_string().as_bytes());
        assert!(parsed.is_valid(), "{:#?}", parsed.findings);
        assert!(schema(&plan).is_valid(&plan));
    }
}
