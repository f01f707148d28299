//! The shipped JSON Schema and the validator give the same verdict, both ways (SPEC §1.4).

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use countersign::plan::{
    Code, Dialect, Finding, PRECONDITION_WORDS, Severity, TOOLS, ToolSpec, parse,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

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

/// The schema of what this looks like, which is the dialect that the validator takes it for.
fn schema(value: &Value) -> &'static jsonschema::Validator {
    let has = |name: &str| value.get(name).is_some();
    let is_step_plan = has("plan_id") || has("intent");
    let is_command_plan = has("goal") && has("steps");
    match (is_step_plan, is_command_plan, has("version")) {
        (false, true, _) => &COMMAND_PLAN,
        (false, false, true) => &ACTION_PLAN,
        _ => &STEP_PLAN,
    }
}

fn step_plan_tools() -> impl Iterator<Item = &'static ToolSpec> + Clone {
    TOOLS.iter().filter(|spec| spec.tool.stands_in(Dialect::StepPlan))
}

/// Why a schema cannot express what this finding says; `None` where it can and must.
fn beyond_a_schema(finding: &Finding) -> Option<&'static str> {
    let says = |words: &str| finding.message.contains(words);
    match finding.code {
        Code::DuplicateKey => Some("a parsed document has no key twice"),
        Code::Limit if says("each verification is one") => Some("a sum over items"),
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

/// Where the two disagree, in words.
fn disagreement(text: &str) -> Result<(), String> {
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
fn both_give_the_same_verdict_on_every_bad_plan() {
    let (mut compared, mut beyond) = (0, 0);
    for path in fixtures::plans() {
        // What is not even JSON never reaches a schema.
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
fn both_accept_every_tool_with_all_its_arguments_and_aliases() {
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
        // A letter that becomes an ASCII one in lower case.
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

fn whole_command_plan() -> Value {
    json!({
        "id": "p", "goal": "g", "mode": "teacher", "target": "ada@host",
        "successCriteria": ["c"], "rollbackPlan": ["undo"], "estimatedTime": 4, "status": "x",
        "steps": [
            { "id": "a", "index": 0, "command": "ls", "description": "d", "explanation": "e",
              "cwd": "x", "riskLevel": "safe", "expectedOutput": "o",
              "riskAssessment": { "level": "caution", "category": "c", "reason": "r",
                "requiresApproval": true, "warningMessage": "w" },
              "verificationCommand": "true", "timeoutSeconds": 5, "output": null,
              "needs": { "network": true, "write": ["~/a", "/b/"], "terminal": false,
                "open": false } },
            { "command": "ls", "needs": {} }
        ]
    })
}

fn whole_action_plan() -> Value {
    let id = "6f0d3c1e-8a51-4c8e-9b0e-2f0c5b8f7a10";
    let hash = "0".repeat(64);
    let action = |kind: &str, request: Value| json!({ "type": kind, "request": request });
    json!({
        "version": "2026-02-19", "goal": "g",
        "metadata": { "planner": "p", "model": "m", "notes": "n", "confidence": 0.5 },
        "actions": [
            { "type": "mutate_batch", "rationale": "r", "request": {
                "dry_run": true, "expected_hashes": { "a": hash },
                "edits": [
                    { "op": "write", "path": "a", "contents": "" },
                    { "op": "create", "path": "b", "contents": "x" },
                    { "op": "delete", "path": "c" },
                    { "op": "rename", "path": "d", "to": "e" },
                    { "op": "replace", "path": "f", "old": "o", "new": "" },
                    { "op": "patch", "path": "g", "diff": "@@" },
                    { "op": "splice", "path": "h", "symbol": "s", "contents": "c", "kind": "fn" }
                ] } },
            action("verify", json!({ "scope": "full" })),
            action("compile", json!({ "opt_level": "O2", "entry_function": "main-2",
                "target_triple": "x86_64-unknown-linux-gnu", "debug_symbols": true })),
            action("run", json!({ "args": ["a", 1] })),
            action("simulate", json!({ "edits": [{ "op": "delete", "path": "c" }], "verify": true })),
            action("simulate", json!({ "verify": "full", "steps": [
                { "tool": "file_write", "arguments": { "path": "a", "contents": 1 } } ] })),
            action("simulate", json!({ "function": "f", "inputs": ["1", 2], "trace_enabled": true })),
            action("inspect", json!({ "query": "search:x", "max_results": 200 })),
            action("history", json!({ "operation": "list_entries", "limit": 1 })),
            action("history", json!({ "operation": "undo", "checkpoint": format!("run:{id}") })),
            action("history", json!({ "operation": "restore_checkpoint",
                "checkpoint": format!("loop:{id}:2") })),
            action("history", json!({ "operation": "diff",
                "from_checkpoint": format!("execution:{id}"),
                "to_checkpoint": format!("run:{id}") }))
        ]
    })
}

fn planner_failure() -> Value {
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

fn whole_plan() -> Value {
    json!({
        "plan_id": "p", "intent": "MUTATE", "title": "t", "created_by": "c",
        "evidence_referenced": ["Q1", "Q8"],
        "steps": [
            { "step_id": "a", "tool": "file_read", "arguments": { "path": "x" },
              "precondition": "file exists", "requires_confirmation": true,
              "title": "t", "reason": "r" },
            { "step_id": "b", "tool": "file_write", "arguments": { "path": "x", "contents": "" },
              "precondition": "parent exists" },
            { "step_id": "c", "tool": "splice_patch",
              "arguments": { "file": "x", "symbol": "s", "with": "y", "kind": "function" },
              "precondition": "symbol exists" },
            { "step_id": "d", "tool": "references_from_file_to_symbol_name",
              "arguments": { "file": "x", "name": "s" } },
            { "step_id": "e", "tool": "file_glob", "arguments": { "pattern": "*", "root": "." },
              "precondition": "root exists" }
        ]
    })
}

/// Every place in the document, as JSON pointers.
fn pointers(value: &Value, here: String, all: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| pointers(value, format!("{here}/{key}"), all))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| pointers(value, format!("{here}/{index}"), all)),
        _ => {}
    }
    all.push(here);
}

#[derive(Debug, Clone)]
enum Mutation {
    Remove,
    Replace(Value),
    Rename(String),
    Add(String, Value),
}

fn any_value() -> impl Strategy<Value = Value> {
    let texts = || {
        let tools = TOOLS.iter().map(|spec| spec.name);
        let others = [
            "",
            " ",
            "x",
            "read",
            "Explain",
            "Q3",
            "Q9",
            "\0",
            "[",
            "a succeeded",
            "é",
            "local",
            "blocked",
            "low",
            "guided",
            "-x",
            "a@b",
            "a@b@c",
            "a@-b",
            "[::1]",
            "h\n",
            "O3",
            "full",
            "undo",
            "symbol: ",
            "search:",
            "semantic",
            "-a",
            "~",
            "~a",
            "~/a",
            "run:6f0d3c1e-8a51-4c8e-9b0e-2f0c5b8f7a10",
            "2026-02-19",
            "a b",
            "a$b",
        ];
        select(tools.chain(PRECONDITION_WORDS.iter().copied()).chain(others).collect::<Vec<_>>())
    };
    prop_oneof![
        4 => texts().prop_map(Value::from),
        1 => "[ -~é]{0,8}".prop_map(Value::from),
        1 => select(vec![json!(null), json!(true), json!(false), json!(0), json!(-1.5), json!([]),
            json!(1), json!(3.0), json!(604_800), json!(604_801), json!(["x", ""]),
            json!({}), json!(["Q1"]), json!({ "path": "x" })]),
    ]
}

fn any_mutation() -> impl Strategy<Value = Mutation> {
    let names = || {
        select(vec![
            "plan_id",
            "intent",
            "steps",
            "goal",
            "version",
            "title",
            "step_id",
            "tool",
            "arguments",
            "precondition",
            "requires_confirmation",
            "reason",
            "path",
            "contents",
            "file",
            "file_path",
            "plan_file",
            "symbol",
            "name",
            "with",
            "kind",
            "pattern",
            "root",
            "other",
            "command",
            "verificationCommand",
            "id",
            "index",
            "timeoutSeconds",
            "riskLevel",
            "riskAssessment",
            "level",
            "output",
            "status",
            "target",
            "mode",
            "rollbackPlan",
            "needs",
            "network",
            "write",
            "open",
            "actions",
            "failure",
            "metadata",
            "request",
            "type",
            "op",
            "edits",
            "to",
            "old",
            "inputs",
            "function",
            "operation",
            "checkpoint",
            "verify",
            "query",
        ])
        .prop_map(str::to_owned)
    };
    prop_oneof![
        1 => Just(Mutation::Remove),
        3 => any_value().prop_map(Mutation::Replace),
        1 => names().prop_map(Mutation::Rename),
        1 => (names(), any_value()).prop_map(|(name, value)| Mutation::Add(name, value)),
    ]
}

fn mutate(plan: &mut Value, at: Index, mutation: Mutation) {
    let mut all = Vec::new();
    pointers(plan, String::new(), &mut all);
    let pointer = at.get(&all).clone();
    if let Mutation::Add(name, value) = mutation {
        if let Some(object) = plan.pointer_mut(&pointer).and_then(Value::as_object_mut) {
            object.insert(name, value);
        }
        return;
    }
    let Some((parent, token)) = pointer.rsplit_once('/') else {
        if let Mutation::Replace(value) = mutation {
            *plan = value;
        }
        return;
    };
    match (plan.pointer_mut(parent), mutation) {
        (Some(Value::Object(object)), Mutation::Remove) => drop(object.remove(token)),
        (Some(Value::Object(object)), Mutation::Replace(value)) => {
            object.insert(token.to_owned(), value);
        }
        (Some(Value::Object(object)), Mutation::Rename(name)) => {
            let value = object.remove(token).unwrap_or_default();
            object.insert(name, value);
        }
        (Some(Value::Array(items)), Mutation::Remove) => {
            drop(items.remove(token.parse().unwrap()));
        }
        (Some(Value::Array(items)), Mutation::Replace(value)) => {
            items[token.parse::<usize>().unwrap()] = value;
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn both_judge_a_mutated_plan_alike(
        which in 0..4,
        mutations in prop::collection::vec((any::<Index>(), any_mutation()), 0..3),
    ) {
        let mut plan = match which {
            0 => whole_command_plan(),
            1 => whole_action_plan(),
            2 => planner_failure(),
            _ => whole_plan(),
        };
        for (at, mutation) in mutations {
            mutate(&mut plan, at, mutation);
        }
        if let Err(words) = disagreement(&serde_json::to_string_pretty(&plan).unwrap()) {
            return Err(TestCaseError::fail(words));
        }
    }
}
