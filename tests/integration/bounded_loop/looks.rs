//! What a planner sees before it plans, what plans that only read lead to, and the person's words (SPEC §10).

use countersign::plan::parse;
use serde_json::{Value, json};

use crate::harness::scripted_planner::{
    Answer, Scripted, actions, cargo_project, command, failure,
};

fn looks(looks: Value) -> Answer {
    Answer::Plan(json!({ "looks": looks }))
}

fn create(path: &str) -> Answer {
    actions(json!([{"type": "mutate_batch", "request": {"edits": [
        {"op": "create", "path": path, "contents": "grey"}]}}]))
}

fn reading() -> Value {
    json!({"version": "2026-02-19", "goal": "g", "actions": [{"type": "inspect", "request": {}}]})
}

#[test]
fn planner_sees_what_it_asks_for_and_no_secret() {
    let planner = Scripted::new([
        looks(
            json!([{"read": "notes/heron.txt"}, {"search": "grey"}, {"read": ".netrc"}, {"glob": "**"}]),
        ),
        looks(json!([{"read": "notes/heron.txt", "lines": [2, 2]}, {"read": "../planner/n"}])),
        create("done.txt"),
    ]);
    let home = &planner.home;
    std::fs::create_dir_all(home.file("notes")).unwrap();
    home.write(
        "notes/heron.txt",
        "a grey bird\nwith long legs\npassword = \"p4ss-of-the-marsh\"\n",
    );
    home.write(".netrc", "machine a login b password c");
    let ended = planner.ends(planner.run(["--verify", "none"]), 0);
    assert_eq!(ended.code(), "completed");
    assert_eq!(planner.request_count(), 3);
    let first = planner.request(1);
    assert_eq!((&first["looked"], &first["looks"]["rounds_left"]), (&json!([]), &json!(10)));
    let second = planner.request(2);
    let looked = second["looked"].as_array().unwrap();
    assert_eq!(second["looks"]["rounds_left"], 9);
    let text = looked[0]["text"].as_str().unwrap();
    assert!(text.starts_with("a grey bird\n") && text.contains("[secret:"), "{text}");
    assert_eq!(looked[1]["rows"][0]["path"], "notes/heron.txt");
    assert_eq!(looked[2]["ok"], false);
    assert!(looked[2]["error"].as_str().unwrap().contains("sensitive"));
    assert_eq!(looked[3]["rows"], json!(["notes/heron.txt"]));
    let third = planner.request(3);
    let looked = third["looked"].as_array().unwrap();
    assert_eq!(looked.len(), 6);
    assert_eq!(looked[4]["text"], "with long legs\n");
    assert!(looked[5]["error"].as_str().unwrap().contains("outside"), "{looked:#?}");
    assert!(!third.to_string().contains("p4ss-of-the-marsh"));
    // Everything is in the evidence, with what the planner got.
    let record = &ended.attempts()[0]["looks"];
    assert_eq!(record.as_array().unwrap().len(), 6);
    assert_eq!(record[2]["ok"], false);
}

// Lines of a key have no name of their own, and a search could guess a secret letter by letter.
#[test]
fn parts_of_a_file_tell_nothing_of_its_secrets() {
    let planner = Scripted::new([
        looks(json!([
            {"read": "deploy.txt", "lines": [3, 3]},
            {"read": "deploy.txt", "lines": [8, 8]},
            {"search": "MIIEpAIB|h[0-9]ron|marsh$"},
            {"search": "the .* gate"},
            {"inspect": "search:h3ron"},
        ])),
        create("done.txt"),
    ]);
    let home = &planner.home;
    let key = "MIIEpAIBAAKCAQEAx5RtnvBXkOkQ4hGpL2mN8vTqYw3sZ7dFjKcR\n".repeat(3);
    let marks = ["BEGIN", "END"].map(|mark| format!("-----{mark} RSA PRIVATE {}-----\n", "KEY"));
    let [begin, end] = &marks;
    let text = format!(
        "one\n{begin}{key}{end}password = \"h3ron-of-the-marsh\"\nthe h3ron-of-the-marsh gate\n"
    );
    home.write("deploy.txt", &text);
    home.write(".env", "GATE=h3ron");
    planner.ends(planner.run(["--verify", "none"]), 0);
    assert_eq!(planner.request(1)["workspace"]["files"], json!(["deploy.txt"]));
    let second = planner.request(2);
    let looked: Vec<&Value> = second["looked"].as_array().unwrap().iter().collect();
    assert_eq!((&looked[0]["ok"], &looked[0]["text"]), (&json!(true), &json!("\n")));
    let text = looked[1]["text"].as_str().unwrap();
    assert!(text.starts_with("the [secret:") && text.ends_with("] gate\n"), "{text}");
    assert_eq!((&looked[2]["rows"], &looked[4]["rows"]), (&json!([]), &json!([])));
    let found = &looked[3]["rows"][0];
    assert_eq!((&found["line"], &found["column"]), (&json!(8), &json!(1)));
    for secret in ["MIIEpAIB", "h3ron", "marsh"] {
        let told: String =
            looked.iter().map(|it| format!("{}{}", it["text"], it["rows"])).collect();
        assert!(!told.contains(secret), "{told}");
    }
}

#[test]
fn looking_has_bounds_and_can_be_forbidden() {
    let endless = "printf '{\"looks\": [{\"glob\": \"*\"}]}'";
    let planner = Scripted::new((0..12).map(|_| Answer::Script(endless)));
    let ended = planner.ends(planner.run(["--max-attempts", "1"]), 1);
    assert_eq!(ended.code(), "planner_rejected_retry_budget_exhausted");
    assert_eq!(planner.request_count(), 11, "ten rounds, and one answer that is not looked up");
    assert_eq!(planner.request(11)["looks"]["rounds_left"], 0);
    assert_eq!(ended.attempts()[0]["looks"].as_array().unwrap().len(), 10);

    let planner = Scripted::new([looks(json!([{"glob": "*"}])), create("done.txt")]);
    let ended = planner.ends(planner.run(["--looks", "none", "--verify", "none"]), 0);
    let first = &ended.attempts()[0];
    assert_eq!(first["planner"]["failure_code"], "planner_validation_failed");
    assert!(first["planner"]["message"].as_str().unwrap().contains("may not"), "{first:#}");
    assert_eq!(first.get("looks"), None);
    assert_eq!(planner.request(2)["looks"]["scope"], "none");
}

// Looking is no success: only a plan that reaches the goal completes a loop.
#[test]
fn a_plan_that_only_reads_goes_back_to_the_planner() {
    let planner = Scripted::new([Answer::Plan(reading()), create("done.txt")]);
    let ended = planner.ends(planner.run(["--verify", "none"]), 0);
    assert_eq!((ended.code(), ended.attempts().len()), ("completed", 2));
    let request = planner.request(2);
    assert_eq!(request["last_attempt"]["outcome"], "unfinished");
    assert!(
        request["last_attempt"]["results"][0]["stdout"].as_str().unwrap().contains("languages")
    );

    let planner = Scripted::new([Answer::Plan(reading())]);
    let ended = planner.ends(planner.run(["--max-attempts", "1"]), 1);
    assert_eq!(ended.code(), "retry_budget_exhausted");
    assert_eq!(ended.actions(1), ["inspect: succeeded"], "nothing is verified");

    let planner = Scripted::new([Answer::Plan(json!({"plan": reading(), "answers_goal": true}))]);
    let ended = planner.ends(planner.run([]), 0);
    assert_eq!((ended.code(), &ended.detail()["verified"]), ("completed", &json!(false)));

    let commands =
        json!({"goal": "g", "steps": [{"command": "ls -l"}, {"command": "cat *.txt | wc -l"}]});
    let planner = Scripted::new([Answer::Plan(commands)]);
    let ended = planner.ends(planner.run(["--max-attempts", "1"]), 1);
    assert_eq!(ended.code(), "retry_budget_exhausted", "commands that only read");
}

/// A command that only reads by the built-in rules may do more by a rule of the person.
#[test]
fn the_rules_of_the_person_say_which_commands_only_read() {
    let planner = Scripted::new([command("ls -l")]);
    let settings = json!({
        "planners": { planner.planner(): { "write": [planner.folder(), "."] } },
        "policy": { "command_rules": [{
            "id": "mine", "prefix": ["ls"], "level": "caution", "reason": "It is another program here.",
            "must_match": ["ls -l"], "must_not_match": ["cat"],
        }]},
    });
    planner.home.settings(toml::to_string(&settings).unwrap());
    let ended = planner.ends(planner.run(["--verify", "none", "--max-attempts", "1"]), 0);
    assert_eq!(ended.code(), "completed");
}

/// A planner cannot talk a loop past a verification that failed.
#[test]
fn reading_completes_no_loop_whose_changes_are_not_verified() {
    let answered = || Answer::Plan(json!({"plan": reading(), "answers_goal": true}));
    let planner = Scripted::new([create("src/notes.txt"), answered()]);
    cargo_project(&planner.home, "pub fn heron() -> u32 { \"grey\" }\n");
    let ended = planner.ends(planner.run(["--max-attempts", "2"]), 1);
    assert_eq!(ended.code(), "retry_budget_exhausted");
    assert_eq!(ended.actions(2), ["inspect: succeeded", "verify_gate: failed"]);

    // The first attempt is verified.
    let Answer::Plan(plan) = create("src/notes.txt") else { unreachable!() };
    let part = Answer::Plan(json!({"plan": plan, "answers_goal": false}));
    let planner = Scripted::new([part, answered()]);
    cargo_project(&planner.home, "pub fn heron() -> u32 { 7 }\n");
    let ended = planner.ends(planner.run([]), 0);
    assert_eq!((ended.code(), ended.attempts().len()), ("completed", 2));
    assert_eq!(ended.actions(2), ["inspect: succeeded"]);
}

#[test]
fn loop_goes_on_while_the_planner_says_that_more_is_left() {
    let part = |path: &str, answers_goal: bool| {
        let Answer::Plan(plan) = create(path) else { unreachable!() };
        Answer::Plan(json!({"plan": plan, "answers_goal": answers_goal}))
    };
    let planner = Scripted::new([part("one.txt", false), part("two.txt", true)]);
    let ended = planner.ends(planner.run(["--verify", "none"]), 0);
    assert_eq!((ended.code(), ended.attempts().len()), ("completed", 2));
    assert!(planner.home.file("one.txt").exists() && planner.home.file("two.txt").exists());
    let planner = Scripted::new([part("one.txt", false)]);
    let ended = planner.ends(planner.run(["--verify", "none", "--max-attempts", "1"]), 1);
    assert_eq!(ended.code(), "retry_budget_exhausted");
}

/// Headless nobody answers a question.
#[test]
fn a_question_ends_a_headless_loop() {
    let planner = Scripted::new([failure("clarification_needed", false), create("done.txt")]);
    let ended = planner.ends(planner.run([]), 1);
    assert_eq!(ended.code(), "planner_rejected_non_retryable");
}

#[test]
fn plan_prints_one_plan_and_runs_nothing() {
    let planner = Scripted::new([looks(json!([{"glob": "*"}])), create("done.txt")]);
    let command = planner.planner();
    let words = ["plan", "the kingfisher is blue", "--workspace", "space", "--planner", &command];
    let done = planner.home.run(words).exits(0);
    let plan = parse(done.stdout.as_bytes());
    assert!(plan.is_valid(), "{}", done.stdout);
    assert!(done.stderr.contains("List *"), "{}", done.stderr);
    assert!(!planner.home.file("done.txt").exists());

    let planner = Scripted::new([failure("unsupported_goal", false)]);
    let command = planner.planner();
    let words = ["plan", "g", "--workspace", "space", "--planner", &command];
    let document = planner.home.json(words).exits(2).document();
    assert_eq!(document["plan"], Value::Null);
    assert_eq!(document["loop"]["stop_reason"]["code"], "planner_rejected_non_retryable");

    // A plan with findings is asked for again, and counts as none.
    let faulty = || Answer::Plan(json!({"goal": "g", "steps": [{"comand": "true"}]}));
    let planner = Scripted::new([faulty(), faulty()]);
    let command = planner.planner();
    let words = ["plan", "g", "--workspace", "space", "--max-attempts", "2", "--planner", &command];
    let done = planner.home.run(words).exits(2);
    assert!(done.stdout.is_empty() && done.stderr.contains("E013"), "{}", done.stderr);
    assert_eq!(planner.request_count(), 2);
}
