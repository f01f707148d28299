use std::collections::BTreeSet;

use super::*;
use crate::plan::parse;

const LOCAL: Instructions = Instructions { text: String::new(), for_host: false, may_look: true };
const HOST: Instructions = Instructions { text: String::new(), for_host: true, may_look: false };

/// Every part of a schema that is a schema.
fn parts<'a>(schema: &'a Value, all: &mut Vec<&'a Value>) {
    all.push(schema);
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flat_map(Map::values).for_each(|part| parts(part, all));
    let cases = schema.get("anyOf").and_then(Value::as_array);
    cases.into_iter().flatten().for_each(|part| parts(part, all));
    schema.get("items").into_iter().for_each(|part| parts(part, all));
}

// What the structured outputs of OpenAI demand: https://platform.openai.com/docs/guides/structured-outputs
#[test]
fn every_object_is_strict_and_every_keyword_is_known() {
    let known = BTreeSet::from([
        "type",
        "properties",
        "required",
        "additionalProperties",
        "anyOf",
        "items",
        "enum",
        "description",
    ]);
    for instructions in [LOCAL, HOST] {
        let schema = answer(&instructions);
        assert_eq!(schema["type"], "object");
        let mut all = Vec::new();
        parts(&schema, &mut all);
        assert!((50..5_000).contains(&all.len()), "{}", all.len());
        for part in all {
            let fields = part.as_object().unwrap();
            let unknown: Vec<_> =
                fields.keys().filter(|name| !known.contains(name.as_str())).collect();
            assert!(unknown.is_empty() && !fields.is_empty(), "{part}");
            if part["type"] == "object" {
                let names: Vec<_> = part["properties"].as_object().unwrap().keys().collect();
                assert_eq!(part["required"], json!(names), "{part}");
                assert_eq!(part["additionalProperties"], false, "{part}");
            } else {
                assert!(part.get("properties").is_none(), "{part}");
            }
        }
    }
}

/// An instance of a schema. With `filled`, each choice is the first one, otherwise the last: `null`, if it may be.
fn instances(schema: &Value, filled: bool) -> Vec<Value> {
    if let Some(cases) = schema.get("anyOf").and_then(Value::as_array) {
        let is_null = |case: &&Value| case["type"] == "null";
        if !filled && cases.iter().any(|case| is_null(&case)) {
            return vec![Value::Null];
        }
        return cases
            .iter()
            .filter(|it| !is_null(it))
            .flat_map(|it| instances(it, filled))
            .collect();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.clone();
    }
    match schema["type"].as_str().unwrap() {
        "object" => {
            let fields = schema["properties"].as_object().unwrap();
            let of: Vec<(&String, Vec<Value>)> =
                fields.iter().map(|(name, part)| (name, instances(part, filled))).collect();
            // Each value of each field once; a field with fewer values repeats its last one.
            let most = of.iter().map(|(_, values)| values.len()).max().unwrap_or(1);
            let nth =
                |values: &[Value], number: usize| values[number.min(values.len() - 1)].clone();
            (0..most)
                .map(|number| {
                    of.iter().map(|(name, it)| ((*name).clone(), nth(it, number))).collect()
                })
                .collect()
        }
        "array" => {
            instances(&schema["items"], filled).into_iter().map(|item| json!([item])).collect()
        }
        "string" => vec![json!("a")],
        "integer" => vec![json!(1)],
        "number" => vec![json!(0.5)],
        "boolean" => vec![json!(true)],
        other => panic!("{other}"),
    }
}

// Without the optional fields, each answer that the strict profile allows is a plan that the parser accepts.
#[test]
fn minimal_answers_are_valid_plans() {
    let mut kinds = BTreeSet::new();
    let mut edits = BTreeSet::new();
    for plan in [
        &answer(&LOCAL)["properties"]["plan"]["anyOf"][0],
        &answer(&HOST)["properties"]["plan"]["anyOf"][1],
    ] {
        let mut actions = plan.clone();
        // Actions are optional beside a failure.
        for list in ["actions", "steps"] {
            if let Some(part) = actions["properties"].get_mut(list)
                && let Some(first) = part["anyOf"].get(0).cloned()
            {
                *part = first;
            }
        }
        for instance in instances(&actions, false) {
            let plan = without_nulls(instance.clone());
            for action in plan["actions"].as_array().into_iter().flatten() {
                kinds.insert(action["type"].as_str().unwrap().to_owned());
                for edit in action["request"]["edits"].as_array().into_iter().flatten() {
                    edits.insert(edit["op"].as_str().unwrap().to_owned());
                }
            }
            let parsed = parse(plan.to_string().as_bytes());
            // A text of the profile is any text, so one with a form of its own may be refused.
            let other: Vec<_> = parsed
                .findings
                .iter()
                .filter(|it| it.severity == crate::plan::Severity::Error)
                .filter(|it| !has_a_form(&it.message))
                .collect();
            assert!(other.is_empty(), "{plan}: {other:#?}");
        }
    }
    let expected = ["compile", "history", "inspect", "mutate_batch", "run", "simulate", "verify"];
    assert!(kinds.iter().eq(expected), "{kinds:?}");
    let expected = ["create", "delete", "patch", "rename", "replace", "splice", "write"];
    assert!(edits.iter().eq(expected), "{edits:?}");
}

fn has_a_form(message: &str) -> bool {
    ["checkpoint", "symbol", "name", "file", "diff", "precise", "one of"]
        .iter()
        .any(|word| message.contains(word))
}

// The properties of the dialects that the strict profile leaves out are these.
#[test]
fn profile_has_every_property_that_it_can_express() {
    fn names(schema: &Value, of: &mut BTreeSet<String>) {
        match schema {
            Value::Object(fields) => {
                let properties = fields.get("properties").and_then(Value::as_object);
                of.extend(properties.into_iter().flat_map(Map::keys).cloned());
                fields.values().for_each(|part| names(part, of));
            }
            Value::Array(items) => items.iter().for_each(|part| names(part, of)),
            _ => {}
        }
    }
    let (mut normal, mut strict) = (BTreeSet::new(), BTreeSet::new());
    for schema in [ACTION_SCHEMA, COMMAND_SCHEMA] {
        names(&serde_json::from_str(schema).unwrap(), &mut normal);
    }
    names(&answer(&HOST)["properties"]["plan"], &mut strict);
    let left_out: Vec<_> = normal.difference(&strict).collect();
    // The state of other programs, maps, inputs, which nobody fills in for a planner, and several hosts.
    let expected = [
        "choices",
        "commandResult",
        "completedAt",
        "createdAt",
        "currentStepIndex",
        "default",
        "detail",
        "error",
        "expected_hashes",
        "inventory",
        "max_fail_percentage",
        "output",
        "secret",
        "serial",
        "signatures_required",
        "startedAt",
        "status",
        "targets",
        "title",
        "value",
    ];
    assert_eq!(left_out, expected);
    assert!(strict.is_subset(&normal));
}
