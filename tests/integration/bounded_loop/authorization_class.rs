//! Authorization classes: which plans of a loop run without a prompt (SPEC §10).

use serde_json::{Value, json};

use crate::harness::scripted_planner::{Answer, Scripted, class, command};

#[test]
fn plan_runs_only_inside_its_class() {
    let inside = Scripted::new([command("exit 3"), command("echo blue > a.txt")]);
    let file = inside.home.write("class.json", class(json!({})));
    let file = file.to_str().unwrap();
    let ended = inside.ends(inside.run_as(["--authorize-class", file]), 0);
    assert_eq!(ended.code(), "completed");
    assert_eq!(inside.request(1)["authorization_class"]["max_attempts"], 2);
    let id = ended.document["loop_id"].as_str().unwrap();
    let shown = inside.home.json(["evidence", "show", id]).exits(0).document();
    assert_eq!(shown["loop"]["class"]["tools"], json!(["shell"]));
    assert_eq!(shown["loop"]["class_revoked"], false);

    let cases: [(Value, &[&str], &str); 5] = [
        (json!({"tools": ["file_read"]}), &["exit 0"], "the tool shell"),
        (json!({"paths": ["src"]}), &["exit 0"], "the path ."),
        (json!({"max_risk": "safe"}), &["touch a.txt"], "the risk caution"),
        (json!({"expires_at": "2020-01-01T00:00:00Z"}), &["exit 0"], "the class expired at 2020"),
        (json!({"max_attempts": 1}), &["exit 3", "exit 0"], "attempt 2 of 1 attempts"),
    ];
    for (fields, commands, said) in cases {
        let planner = Scripted::new(commands.iter().map(|it| command(it)));
        let file = planner.home.write("class.json", class(fields));
        let file = file.to_str().unwrap();
        let ended = planner.ends(planner.run_as(["--authorize-class", file]), 3);
        assert_eq!(ended.code(), "not_authorized", "{said}");
        let message = ended.document["stop_reason"]["message"].as_str().unwrap();
        assert!(
            message.contains("outside the authorization class") && message.contains(said),
            "{message}"
        );
        assert!(!planner.home.file("a.txt").exists());
        assert_eq!(planner.request_count(), commands.len());
    }
}

#[test]
fn without_a_flag_no_plan_is_authorized() {
    let planner = Scripted::new([command("touch a.txt")]);
    let ended = planner.ends(planner.run_as([]), 3);
    assert_eq!(ended.code(), "not_authorized");
    assert!(ended.attempts()[0]["run_id"].is_null());
    assert_eq!(ended.attempts()[0]["planner"]["status"], "accepted");
    assert!(!planner.home.file("a.txt").exists());
}

/// Another process revokes the class while the planner runs.
#[test]
fn revoked_class_authorizes_nothing_more() {
    let wait = r#"
        touch "$d/begun"
        until [ -e "$d/revoked" ]; do sleep 0.05; done
        printf '{"goal": "g", "steps": [{"command": "touch a.txt"}]}'
    "#;
    let planner = Scripted::new([command("exit 3"), Answer::Script(wait)]);
    let file = planner.home.write("class.json", class(json!({})));
    let words =
        planner.words(["--authorize-class", file.to_str().unwrap(), "--json", "--evidence"]);
    let mut command = planner.home.command();
    command.args(words).arg(planner.home.evidence());
    let [begun, revoked] = ["begun", "revoked"].map(|name| planner.folder().join(name));
    let ended = planner.ends(planner.revoking(command, &begun, &revoked), 3);
    assert_eq!(ended.code(), "not_authorized", "{:#}", ended.document);
    let message = ended.document["stop_reason"]["message"].as_str().unwrap();
    assert!(message.contains("the class was revoked"), "{message}");
    assert!(!planner.home.file("a.txt").exists());
    assert_eq!(ended.actions(1), ["shell: failed"], "the first attempt was inside");
    let id = ended.document["loop_id"].as_str().unwrap();
    let shown = planner.home.json(["evidence", "show", id]).exits(0).document();
    assert_eq!(shown["loop"]["class_revoked"], true);
}

#[test]
fn a_class_file_is_read_strictly() {
    let planner = Scripted::new([command("true")]);
    for text in
        ["{}", "not json", &class(json!({"path": ["."]})), &class(json!({"max_attempts": 0}))]
    {
        let file = planner.home.write("class.json", text);
        let done = planner.run_as(["--authorize-class", file.to_str().unwrap()]).exits(5);
        assert!(done.stderr.contains("authorization class cannot be used"), "{done:#?}");
    }
    planner.run_as(["--authorize-class", "nowhere.json"]).exits(5);
    assert_eq!(planner.request_count(), 0);
    let unknown = uuid::Uuid::new_v4().to_string();
    planner.home.json(["loop", "--revoke-class", &unknown]).exits(5);
}
