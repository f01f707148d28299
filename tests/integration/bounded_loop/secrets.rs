//! Secrets in what a planner gets and prints.

use std::fs;

use serde_json::json;

use crate::harness::home::Done;
use crate::harness::scripted_planner::{Answer, Scripted, command};

/// Neither a secret that a step printed nor one that a plan contained.
#[test]
fn planner_requests_contain_no_secrets() {
    const TOKEN: &str = "ghp_Zq81mNfT0bXw27LsKd93RvYuHcJp46AeGiOo";
    // One secret lies across the position where a long output is cut; the other also stands without its name.
    let print = format!(
        "printf '%4080s token = {TOKEN}\\n%9000s\\n' x y; echo 'password=h3ron-of-the-marsh'; \
         echo h3ron-of-the-marsh >&2; exit 3"
    );
    let planner = Scripted::new([
        Answer::Plan(json!({"goal": "g", "steps": [{"command": print}]})),
        command("touch done.txt"),
    ]);
    planner.run([]).exits(0);
    let request = planner.request(2);
    let text = request.to_string();
    for part in [TOKEN, &TOKEN[..20], &TOKEN[20..], "h3ron-of-the-marsh"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
    let last = &request["last_attempt"];
    assert!(last["plan"].as_str().unwrap().contains("[secret:"), "{last:#}");
    assert!(last["results"][0]["stderr"].as_str().unwrap().starts_with("[secret:"), "{last:#}");
    assert!(request["answer"]["dialects"]["step_plan"]["properties"].is_object());
}

#[test]
fn model_key_reaches_only_its_planner() {
    let planner = Scripted::new([Answer::Script(
        "env > \"$d/env\"; printf '{\"goal\": \"g\", \"steps\": [{\"command\": \"env > env.txt\"}]}'",
    )]);
    let mut command = planner.home.command();
    command.env("COUNTERSIGN_MODEL_KEY", "a-key-of-the-model").env("HERON", "grey");
    command.args(planner.words(["--yes", "--json"]));
    assert_eq!(Done::of(&mut command).exits(0).document()["stop_reason"]["code"], "completed");
    for file in [planner.home.file("env.txt"), planner.home.path().join("planner/env")] {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains("HERON=grey") && !text.contains("a-key-of-the-model"), "{text}");
    }
}

/// A secret in an answer or in the output of a planner appears in neither the evidence nor a request.
#[test]
fn planner_secrets_are_redacted() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let planner = Scripted::new([
        Answer::Script("echo \"using ghp_0123456789abcdefghijABCDEFGHIJ012345\" >&2; exit 1"),
        command(&format!("echo {secret} > /dev/null; exit 3")),
        command("exit 4"),
    ]);
    let document = planner.run([]).exits(1).document();
    let request = planner.request(3).to_string();
    assert!(!request.contains(secret) && request.contains("[secret:github_token:"), "{request}");
    let id = document["loop_id"].as_str().unwrap();
    let shown = planner.home.json(["evidence", "show", id]).exits(0).stdout;
    assert!(!shown.contains(secret) && shown.contains("[secret:github_token:"), "{shown}");
    for entry in fs::read_dir(planner.home.evidence()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(secret.len()).any(|it| it == secret.as_bytes());
            assert!(!found, "in {}", path.display());
        }
    }
}
