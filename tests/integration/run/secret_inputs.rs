//! Secret inputs of a run (SPEC §13): an approval covers the value that was given, and no other.

use countersign::authorization::{Secret, SecretInputs};
use countersign::engine::FollowUp;
use countersign::plan::parse;
use serde_json::{Value, json};

use crate::harness::{Harness, command, read};

fn plan() -> Value {
    json!({
        "goal": "g",
        "inputs": [{"name": "token", "secret": true}, {"name": "x", "value": "1"}],
        "steps": [
            command("a", "[ \"$input_token\" = kingfisher ]"),
            command("b", "[ \"$input_token\" = other ] && echo \"{{x}}\""),
        ],
    })
}

fn given(harness: &mut Harness, value: &str) {
    harness.policy.secret_inputs.give("token".to_owned(), Secret::new(value.into()));
}

#[test]
fn another_secret_is_refused_and_none_is_asked_for_again() {
    let mut harness = Harness::new();
    let plan = read(&plan());
    given(&mut harness, "kingfisher");
    let approved = harness.approve(&plan);
    let digests = approved.authorization.binding.secret_inputs.clone();
    assert_eq!(digests.keys().collect::<Vec<_>>(), ["token"]);
    let first = harness.policy.secret_inputs.clone();
    // The same value under another key, another value, and none.
    harness.policy.secret_inputs = SecretInputs::default();
    given(&mut harness, "kingfisher");
    assert_eq!(harness.execute(approved.clone()).refusal(), "E004");
    harness.policy.secret_inputs = first.clone();
    given(&mut harness, "kingfisher2");
    assert_eq!(harness.execute(approved.clone()).refusal(), "E004");
    harness.policy.secret_inputs = SecretInputs::default();
    assert_eq!(harness.execute(approved.clone()).refusal(), "E004");
    assert_eq!(harness.count("SELECT count(*) FROM runs", []), 0, "nothing ran");
    harness.policy.secret_inputs = first;
    let done = harness.execute(approved);
    assert_eq!(done.words(), (vec!["succeeded", "failed"], "failed"));
    // What continues it has the values, and asks for the secret again.
    let run = done.result().run_id;
    let (_, bytes) = FollowUp::Continue.plan(&mut harness.reader(), run, &harness.policy).unwrap();
    let rest = parse(&bytes).plan.unwrap();
    let inputs: Vec<_> =
        rest.inputs.iter().map(|it| (&*it.name, it.secret, it.value.as_deref())).collect();
    assert_eq!(inputs, [("token", true, None), ("x", false, Some("1"))]);
    harness.policy.secret_inputs = SecretInputs::default();
    let approved = harness.approve(&rest);
    assert_eq!(harness.execute(approved).refusal(), "E001");
    given(&mut harness, "other!");
    let approved = harness.approve(&rest);
    assert_eq!(harness.execute(approved).words().0, ["failed"], "it has another value");
}
