//! What a person chooses for a run on the command line: host, mode, questions and walls (SPEC §2, §7, §11).

use serde_json::{Value, json};

use crate::harness::home::Home;
use crate::harness::{create_file, read_file};

fn command_plan(home: &Home, mode: &str) {
    let steps = json!([{"command": "echo one"}, {"command": "touch made.txt"}]);
    home.write("p.json", json!({"goal": "g", "mode": mode, "steps": steps}).to_string());
}

fn check(home: &Home, words: &[&str]) -> Value {
    home.json([&["check", "space/p.json"], words].concat()).document()
}

fn asks(document: &Value) -> Vec<String> {
    let steps = document["risk"]["steps"].as_array().unwrap();
    steps.iter().map(|step| step["asks"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn choices_are_reviewed_and_shown() {
    let home = Home::new();
    command_plan(&home, "automatic");
    let plain = check(&home, &[]);
    let choices = &plain["choices"];
    assert_eq!((&choices["mode"], &choices["walls"]), (&json!("automatic"), &Value::Null));
    assert_eq!((&choices["ask_every_step"], &choices["target"]), (&json!(false), &Value::Null));
    assert!(choices["workspace"].as_str().unwrap().ends_with("space"), "{choices}");

    let guided = check(&home, &["--mode", "guided"]);
    assert_eq!(guided["choices"]["mode"], "guided");
    assert_eq!(guided["plan"]["mode"], "guided");
    assert_eq!(guided["digest"], plain["digest"], "the bytes are the same");
    assert!(asks(&guided).iter().all(|why| why.contains("guided")), "{guided:#}");

    let asked = check(&home, &["--ask-every-step"]);
    assert_eq!(asked["choices"]["ask_every_step"], true);
    assert!(asks(&asked).iter().all(|why| why.contains("every step")), "{asked:#}");

    // Without walls, what is rated caution asks; nothing else changes.
    let off = check(&home, &["--walls", "off"]);
    assert_eq!(
        (&off["choices"]["walls"], &off["walls"]["setting"]),
        (&json!("off"), &json!("off"))
    );
    assert_eq!(off["walls"]["level"], "none");
    assert_eq!(asks(&off)[0], "");
    assert!(asks(&off)[1].contains("no walls for this run"), "{off:#}");
}

#[test]
fn a_choice_never_lowers_what_the_settings_require() {
    let home = Home::new();
    home.settings("[policy]\nwalls = \"required\"\n");
    command_plan(&home, "automatic");
    let done = home.json(["check", "space/p.json", "--walls", "off"]).exits(2).document();
    let findings = done["findings"].to_string();
    assert!(findings.contains("your settings require walls"), "{findings}");
    assert_eq!(done["walls"]["setting"], "required");
}

#[test]
fn host_and_mode_belong_to_command_plans() {
    let home = Home::new();
    home.plan(json!([read_file("look", "a.txt")]));
    for words in [["--mode", "guided"], ["--target", "build"]] {
        let done = home.run([&["check", "space/p.json"][..], &words[..]].concat()).exits(5);
        assert!(done.stderr.contains("applies only to command plans"), "{done:#?}");
    }
}

/// Every step of a plan that asks nothing is asked about and denied without a terminal.
#[test]
fn a_run_asks_at_every_step_if_chosen() {
    let home = Home::new();
    home.plan(json!([create_file("a", "a.txt", "x"), create_file("b", "b.txt", "x")]));
    let run = |words: &[&str]| home.json([&["run", "space/p.json", "--yes"], words].concat());
    let denied = run(&["--ask-every-step"]).exits(1).document();
    assert_eq!(denied["step_results"][0]["outcome"], "denied", "{denied:#}");
    assert!(!home.file("a.txt").exists());
    let shown = home.run(["evidence", "show", denied["run_id"].as_str().unwrap()]).exits(0);
    assert!(shown.stdout.contains("Status     denied\n"), "a denial is no failure: {shown:#?}");
    let skipped = run(&["--ask-every-step", "--confirm", "skip"]).exits(0).document();
    let outcomes: Vec<_> = skipped["step_results"].as_array().unwrap().iter().collect();
    assert!(outcomes.iter().all(|step| step["outcome"] == "skipped"), "{skipped:#}");
    let _ = run(&[]).exits(0);
    assert!(home.file("b.txt").exists());
    let notes =
        home.texts("SELECT note FROM decisions WHERE decision = 'authorize' ORDER BY id", []);
    let chosen = "chosen for the run: asks before every step";
    assert_eq!(notes, [chosen, chosen, ""]);
}

/// The mode of the run is the chosen one, whatever the plan says.
#[test]
fn a_run_has_the_chosen_mode() {
    let home = Home::new();
    command_plan(&home, "automatic");
    let run = ["run", "space/p.json", "--yes", "--mode", "guided", "--confirm", "skip"];
    let skipped = home.json(run).exits(0).document();
    assert!(!home.file("made.txt").exists());
    assert_eq!(skipped["step_results"][0]["outcome"], "skipped", "{skipped:#}");
    let run_id = skipped["run_id"].as_str().unwrap();
    let shown = home.json(["evidence", "show", run_id]).exits(0).document();
    assert!(shown.to_string().contains("\"mode\":\"guided\""), "{shown:#}");
    command_plan(&home, "guided");
    let run = ["run", "space/p.json", "--yes", "--mode", "automatic", "--confirm", "caution"];
    let _ = home.json(run).exits(0);
    assert!(home.file("made.txt").exists());
}
