//! The difference between two plans without their secrets (SPEC §8, §10).

use std::collections::BTreeMap;

use serde_json::Value;

use super::Redactor;
use crate::plan::{Plan, ShownPlan};
use crate::run::PlanDifference;

impl Redactor {
    /// The difference between two plans with redacted secrets, which the redactor learns.
    pub fn plan_difference(&mut self, before: &ShownPlan, after: &Plan) -> PlanDifference {
        for source in [&before.source, &after.source] {
            self.learn(String::from_utf8_lossy(source).trim_start());
        }
        let hide = |arguments: &_| without_secrets(self, arguments);
        let mut difference = PlanDifference::between(before, after, &hide);
        for step in &mut difference.steps {
            step.about = self.redact(&step.about).into_owned();
        }
        difference
    }
}

/// The arguments of a step with redacted secrets. A secret can be known by the name of its argument, or of its field in
/// an argument that is JSON.
fn without_secrets(
    redactor: &Redactor,
    arguments: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let value = |text: &String| match serde_json::from_str(text) {
        Ok(json @ (Value::Array(_) | Value::Object(_))) => json,
        _ => Value::String(text.clone()),
    };
    let all = arguments.iter().map(|(name, text)| (name.clone(), value(text))).collect();
    let Value::Object(hidden) = redactor.redact_value(Value::Object(all)) else {
        return BTreeMap::new();
    };
    let text = |value: Value| match value {
        Value::String(text) => text,
        json => json.to_string(),
    };
    hidden.into_iter().map(|(name, value)| (name, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::EvidenceStore;
    use crate::plan::parse;

    /// Plans of each dialect with a key, whose last line is too short to be recognized alone.
    fn plans(last_line: &str) -> [Plan; 3] {
        let [begin, end] =
            ["BEGIN", "END"].map(|it| format!("-----{it} RSA PRIVATE {}-----", "KEY"));
        let line = "MIIEpAIBAAKCAQEAx5RtnvBXkOkQ4hGpL2mN8vTqYw3sZ7dFjKcR";
        let key = format!("notes\n{begin}\n{line}\n{line}\n{last_line}\n{end}\nmore\n");
        let write = |id: &str, contents: &str| {
            let arguments = json!({"path": format!("{id}.txt"), "contents": contents});
            json!({"step_id": id, "tool": "file_write", "title": id, "arguments": arguments})
        };
        let steps = [write("a", &key), write("b", &format!("before\n{last_line}heron\nafter"))];
        let edits = json!([{"op": "create", "path": "c.txt", "contents": key}]);
        let batch = json!({"type": "mutate_batch", "request": {"edits": edits}});
        let command = format!("echo '{key}'; deploy --password=h3ron");
        [
            json!({"plan_id": "p", "intent": "MUTATE", "steps": steps}),
            json!({"version": "2026-02-19", "goal": "g", "actions": [batch]}),
            json!({"goal": "g", "steps": [{"command": command}]}),
        ]
        .map(|plan| parse(plan.to_string().as_bytes()).plan.unwrap())
    }

    #[test]
    fn a_difference_has_no_part_of_a_secret() {
        let folder = tempfile::tempdir().unwrap();
        let store = EvidenceStore::open(folder.path(), folder.path().join("keys")).unwrap();
        for (before, after) in plans("Qx=").into_iter().zip(plans("Zv=")) {
            let difference = store.redactor().plan_difference(&before.into(), &after);
            let text = json!(difference).to_string();
            for part in ["MIIEpAIB", "jKcR", "h3ron"] {
                assert!(!text.contains(part), "{text}");
            }
            let lines = &difference.steps[0].lines;
            assert!(!lines.contains("Zv=") && lines.contains("[secret:"), "{lines}");
            if let Some(other) = difference.steps.get(1) {
                assert!(other.lines.contains("\n-Qx=heron\n+Zv=heron\n"), "{other:#?}");
            }
        }
    }
}
