//! Valid plans with random mutations: the JSON Schema and the validator give the same verdict (SPEC §1.4).

use countersign::plan::{PRECONDITION_WORDS, TOOLS};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::schema::{disagreement, planner_failure};

pub fn whole_command_plan() -> Value {
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

pub fn whole_action_plan() -> Value {
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

pub fn whole_plan() -> Value {
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

/// JSON pointers to every value of the document.
pub fn pointers(value: &Value, here: String, all: &mut Vec<String>) {
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
pub enum Mutation {
    Remove,
    Replace(Value),
    Rename(String),
    Add(String, Value),
}

pub fn any_value() -> impl Strategy<Value = Value> {
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

pub fn any_mutation() -> impl Strategy<Value = Mutation> {
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

pub fn mutate(plan: &mut Value, at: Index, mutation: Mutation) {
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
