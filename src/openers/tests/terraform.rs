//! Plans of Terraform and OpenTofu.

use super::*;

fn change(actions: &[&str], before: &Value, after: &Value) -> Value {
    json!({"actions": actions, "before": before, "after": after, "after_unknown": {},
           "before_sensitive": {}, "after_sensitive": {}})
}

fn resource(name: &str, change: &Value) -> Value {
    json!({"address": name, "provider_name": "registry.opentofu.org/x/y", "change": change})
}

fn plan(resources: &[Value]) -> Value {
    json!({"format_version": "1.2", "planned_values": {}, "resource_changes": resources})
}

fn creates() -> Value {
    resource("a.b", &change(&["create"], &Value::Null, &json!({"id": 1})))
}

const BINARY: [(&str, &str); 1] = [("plan.tfplan", "binary")];

#[test]
fn one_step_applies_the_signed_binary_plan() {
    let text = plan(&[creates()]).to_string();
    let opened = open(text.as_bytes(), &Memory::of(&BINARY)).unwrap();
    let made: Value = serde_json::from_slice(&opened.plan.unwrap()).unwrap();
    let [step] = made["steps"].as_array().unwrap().as_slice() else { panic!("{made}") };
    let command = step["command"].as_str().unwrap();
    let digests = [Digest::of(b"binary").hex(), Digest::of(text.as_bytes()).hex()];
    for part in digests.iter().map(String::as_str).chain(["cp -- 'plan.tfplan'"]) {
        assert!(command.contains(part), "{command}");
    }
    assert!(command.ends_with("tofu apply -input=false \"$plan\"\n"), "{command}");
    assert_eq!(
        (&step["cwd"], &step["riskLevel"], &step["needs"]["network"]),
        (&json!("infra"), &json!("dangerous"), &json!(true))
    );
    let goal = "Apply the OpenTofu plan plan.tfplan: 1 to create, 0 to update, 0 to delete";
    assert_eq!(made["goal"], goal);
}

#[test]
fn changes_are_shown_without_secrets() {
    let before = json!({"a": "old", "p": "hush"});
    let mut secret =
        change(&["update"], &before, &json!({"a": "new", "p": "psst", "l": [{"q": 1}]}));
    secret["before_sensitive"] = json!({"p": true});
    secret["after_sensitive"] = json!({"p": true, "l": [{"q": true}]});
    secret["after_unknown"] = json!({"id": true, "l": [{}]});
    let mut kept = resource("m.n", &change(&["no-op"], &json!({}), &json!({})));
    kept["previous_address"] = json!("m.o");
    let mut text = plan(&[
        resource("s.t", &secret),
        resource("r.r", &change(&["delete", "create"], &json!({"a": 1}), &json!({"a": 2}))),
        resource("n.n", &change(&["no-op"], &json!({"a": 1}), &json!({"a": 1}))),
        resource("d.d", &change(&["delete"], &json!({"a": {"b": [true]}}), &Value::Null)),
        kept,
    ]);
    let mut output = change(&["update"], &json!("x"), &json!("y"));
    output["after_sensitive"] = json!(true);
    text["output_changes"] = json!({"out": output});
    let opened = open(text.to_string().as_bytes(), &Memory::of(&BINARY)).unwrap();
    let made: Value = serde_json::from_slice(&opened.plan.unwrap()).unwrap();
    assert_eq!(
        made["steps"][0]["explanation"].as_str().unwrap(),
        "~ update s.t\n    a: \"old\" → \"new\"\n    id: known after apply\n    l[0].q: (secret)\n    \
         p: (secret) → (secret)\n\
         -/+ replace r.r\n    a: 1 → 2\n- delete d.d\n    a.b[0]: true → removed\n  keep m.n, moved from m.o\n\
         ~ output out\n    value: (secret) → (secret)\n"
    );
}

#[test]
fn what_is_not_whole_is_an_error() {
    let with = |name: &str, value: Value| {
        let mut text = plan(&[creates()]);
        text[name] = value;
        text
    };
    let provider = |name: &str| {
        let mut it = creates();
        it["provider_name"] = json!(name);
        plan(&[it])
    };
    let mut unmasked = change(&["create"], &Value::Null, &json!({"a": "x"}));
    unmasked["after_sensitive"] = json!({"a": {"b": true}});
    let of = |actions: &[&str]| plan(&[resource("a", &change(actions, &json!({}), &json!({})))]);
    for (text, expected) in [
        (with("errored", json!(true)), "planning ended with an error"),
        (with("applyable", json!(false)), "cannot be applied"),
        (with("format_version", json!("2.0")), "is not known here"),
        (of(&["no-op"]), "changes nothing"),
        (of(&["explode"]), "the action [\"explode\"]"),
        (plan(&[resource("a", &unmasked)]), "what is secret is not known"),
        (provider("example.org/a/b"), "whether Terraform or OpenTofu"),
    ] {
        let found = shown(&text.to_string(), &BINARY);
        assert!(found.starts_with("error ") && found.contains(expected), "{text}\n{found}");
    }
    let text = with("new_things", json!([1]));
    let found = shown(&text.to_string(), &BINARY);
    assert!(found.contains("warning 1: the field \"new_things\" is not known here"), "{found}");
    assert!(shown(&text.to_string(), &[]).contains("the binary plan is not beside it"));
    let terraform = provider("registry.terraform.io/a/b").to_string();
    assert!(shown(&terraform, &BINARY).contains("\nterraform apply"));
}
