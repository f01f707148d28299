//! The strict profile of our plan schemas, as output schemas of agents want it: every property is required, objects have
//! no others, optional ones may be `null`, and only keywords are left that every server knows. It is made from the schemas
//! of the dialects, so that it cannot differ from them. What it cannot say (maps with any keys, values of any type, sizes)
//! is left out; an answer is checked as a plan anyway.

use serde_json::{Map, Value, json};

use super::super::prompt::{ACTION_SCHEMA, COMMAND_SCHEMA, Instructions};

/// The schema of an answer to these instructions: a plan, or looks.
pub(super) fn answer(instructions: &Instructions) -> Value {
    let mut plans = vec![profile(ACTION_SCHEMA)];
    if instructions.for_host {
        // An action plan can still say why there is no plan.
        plans.push(profile(COMMAND_SCHEMA));
    }
    plans.push(json!({ "type": "null" }));
    let looks = if instructions.may_look { looks() } else { json!({ "type": "null" }) };
    object(Map::from_iter([
        ("answers_goal".to_owned(), nullable(json!({ "type": "boolean" }))),
        ("looks".to_owned(), looks),
        ("plan".to_owned(), json!({ "anyOf": plans })),
    ]))
}

/// The value without the fields that are `null`, however deep.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            fields.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

fn looks() -> Value {
    let names = ["read", "search", "root", "glob", "symbol", "inspect", "host"];
    let text = || nullable(json!({ "type": "string" }));
    let mut fields: Map<String, Value> =
        names.into_iter().map(|name| (name.to_owned(), text())).collect();
    let lines = json!({ "type": "array", "items": { "type": "integer" } });
    fields.insert("lines".to_owned(), nullable(lines));
    nullable(json!({ "type": "array", "items": object(fields) }))
}

/// The strict profile of the schema of a dialect.
fn profile(schema: &str) -> Value {
    let mut root: Value = serde_json::from_str(schema).unwrap_or_default();
    // Nobody fills in the plan of a planner, it plans for one host, and who must sign is not its to say.
    let left_out =
        ["inputs", "targets", "inventory", "serial", "max_fail_percentage", "signatures_required"];
    if let Some(properties) = root.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !left_out.contains(&name.as_str()));
    }
    strict(&root, &root).unwrap_or_default()
}

/// The strict form of a part of a schema; `None` if there is none.
fn strict(node: &Value, root: &Value) -> Option<Value> {
    if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
        return strict(root.pointer(reference.strip_prefix('#')?)?, root);
    }
    if let Some(cases) = node.get("allOf").and_then(Value::as_array)
        && cases.iter().any(|case| case.get("then").is_some())
    {
        return by_case(node, cases, root);
    }
    let described = |mut made: Value| {
        if let (Some(fields), Some(text)) = (made.as_object_mut(), node.get("description")) {
            fields.insert("description".to_owned(), text.clone());
        }
        made
    };
    if let Some(properties) = node.get("properties").and_then(Value::as_object) {
        let fields = properties.iter().filter_map(|(name, part)| {
            let part = strict(part, root)?;
            let part = if is_required(node, name) { part } else { nullable(part) };
            Some((name.clone(), part))
        });
        return Some(described(object(fields.collect())));
    }
    let choices = node.get("oneOf").or_else(|| node.get("anyOf")).and_then(Value::as_array);
    if let Some(choices) = choices {
        let choices: Vec<Value> = choices.iter().filter_map(|it| strict(it, root)).collect();
        return Some(json!({ "anyOf": choices }));
    }
    if let Some(constant) = node.get("const") {
        return Some(json!({ "type": "string", "enum": [constant] }));
    }
    if let Some(values) = node.get("enum") {
        return Some(described(json!({ "type": "string", "enum": values })));
    }
    let kind = match node.get("type")? {
        // A number is accepted where a text is meant, and a text always is.
        Value::Array(kinds) => kinds.first()?.as_str()?,
        kind => kind.as_str()?,
    };
    match kind {
        "array" => {
            let items = strict(node.get("items")?, root)?;
            Some(described(json!({ "type": "array", "items": items })))
        }
        // Of any keys.
        "object" => None,
        kind => Some(described(json!({ "type": kind }))),
    }
}

/// An object whose `type` decides about its `request`: one object for each case.
fn by_case(node: &Value, cases: &[Value], root: &Value) -> Option<Value> {
    let properties = node.get("properties")?.as_object()?;
    let case = |case: &Value| {
        let mut node = node.clone();
        let fields = node.as_object_mut()?;
        fields.remove("allOf");
        let mut chosen = properties.clone();
        for part in ["if", "then"] {
            let more = case.pointer(&format!("/{part}/properties"))?.as_object()?;
            chosen.extend(more.iter().map(|(name, part)| (name.clone(), part.clone())));
        }
        fields.insert("properties".to_owned(), chosen.into());
        let description = case.pointer("/then/description")?.clone();
        fields.insert("description".to_owned(), description);
        strict(&node, root)
    };
    let cases: Vec<Value> = cases.iter().filter_map(case).collect();
    Some(json!({ "anyOf": cases }))
}

fn is_required(node: &Value, name: &str) -> bool {
    let required = node.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|it| it == name))
}

fn object(fields: Map<String, Value>) -> Value {
    let required: Vec<&String> = fields.keys().collect();
    json!({ "type": "object", "required": required, "properties": fields, "additionalProperties": false })
}

fn nullable(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

#[cfg(test)]
mod tests;
