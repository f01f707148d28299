//! The schemas of the JSON documents of `evidence`: each command has one, each is closed, and each says what is required.
//! That documents are as their schemas say is checked wherever a test reads one ([`crate::harness::schemas`]).

use serde_json::{Value, json};

use crate::harness::home::Home;
use crate::harness::schemas::{complaints, printed};
use crate::harness::{asking, create_file, read_file, write_file};

/// The commands of `evidence`, from its help.
fn commands() -> Vec<String> {
    let help = Home::new().run(["evidence", "--help"]).exits(0).stdout;
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let lines = rest.lines().take_while(|line| !line.trim().is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Calls `each` with every schema of an object in this schema, and its path.
fn objects(schema: &Value, path: &str, each: &mut dyn FnMut(&str, &Value)) {
    match schema {
        Value::Object(fields) => {
            if fields.get("properties").is_some_and(Value::is_object) {
                each(path, schema);
            }
            fields.iter().for_each(|(name, it)| objects(it, &format!("{path}/{name}"), each));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(n, it)| objects(it, &format!("{path}/{n}"), each));
        }
        _ => {}
    }
}

#[test]
fn each_command_has_a_closed_schema() {
    let commands = commands();
    assert!(commands.len() >= 19 && commands.contains(&"times".to_owned()), "{commands:?}");
    for command in commands {
        let schema = printed(&command);
        assert!(schema["title"].as_str().unwrap().contains(&command), "{command}");
        let mut found = 0;
        objects(&schema, "", &mut |path, object| {
            found += 1;
            let closed = ["additionalProperties", "unevaluatedProperties"];
            let is_closed = closed.iter().any(|name| object.get(name) == Some(&json!(false)));
            // The common fields of several records, each of which is closed, and conditions.
            let parts = ["_fields", "/if", "/then", "/else"];
            let is_part = parts.iter().any(|end| path.ends_with(end));
            assert!(is_closed || is_part, "{command}: {path} is open");
        });
        assert!(found > 0, "{command}");
    }
}

/// Two runs of a plan with a success, a change, a skipped step and a failure.
fn with_runs() -> (Home, [Value; 2]) {
    let home = Home::new();
    home.write("a.txt", "a\n");
    let run = |text: &str| {
        home.plan(json!([
            read_file("look", "a.txt"),
            create_file(&format!("make-{text}"), &format!("{text}.txt"), text),
            write_file("write", "a.txt", text),
            asking(write_file("ask", "a.txt", "nothing\n")),
            read_file("miss", "absent.txt"),
        ]));
        home.json(["run", "space/p.json", "--yes", "--confirm", "skip"]).exits(1).document()
    };
    let runs = [run("one\n"), run("two\n")];
    (home, runs)
}

/// A document without any of its fields, or with another one, is not as its schema says: no schema is too weak to find a
/// mistake.
#[test]
fn schemas_refuse_missing_and_unknown_fields() {
    let (home, [first, second]) = with_runs();
    let [first_run, second_run] = [&first, &second].map(|it| it["run_id"].as_str().unwrap());
    let execution = second["step_results"][2]["execution_id"].as_str().unwrap();
    let backup = home.path().join("backup").display().to_string();
    let case = home.path().join("case.zip").display().to_string();
    let report = home.path().join("report.html").display().to_string();
    let [checkpoint, proof, attestation] = ["checkpoint", "proof.json", "attestation.json"]
        .map(|name| home.path().join(name).display().to_string());
    let lines: &[&[&str]] = &[
        &["search", "a.txt"],
        &["show", execution],
        &["show", first_run],
        &["query", "q1", "file_read"],
        &["query", "q5", execution],
        &["times", first_run],
        &["compare", first_run, second_run],
        &["file", "a.txt"],
        &["durations", execution],
        &["timeline"],
        &["counts"],
        &["verify"],
        &["export", "--format", "html", "--out", &report],
        &["case", first_run, "--out", &case],
        &["key"],
        &["checkpoint"],
        &["checkpoint", "--out", &checkpoint],
        &["checkpoint", "--verify", &checkpoint],
        &["prove", execution, "--out", &proof],
        &["attest", first_run],
        &["attest", first_run, "--out", &attestation],
        &["sizes"],
        &["secrets"],
        &["compact"],
        &["backup", &backup],
        &["restore", &backup, "--reason", "a test"],
        &["purge", "--run", first_run, "--dry-run"],
        &["purge", "--run", first_run, "--yes"],
        // A run with a purge.
        &["show", first_run],
    ];
    for line in lines {
        let arguments: Vec<_> = ["evidence"].iter().chain(*line).copied().collect();
        let documents = home.json(arguments).exits(0).lines();
        assert!(!documents.is_empty(), "{line:?}");
        let document = &documents[0];
        let refused = |document: &Value| !complaints(line[0], document).is_empty();
        let fields = document.as_object().unwrap();
        for name in fields.keys().filter(|name| *name != "reconcile") {
            let mut changed = fields.clone();
            changed.remove(name);
            assert!(refused(&changed.into()), "{line:?} without {name}");
            let mut changed = fields.clone();
            changed.insert(name.clone(), json!({ "no": ["such thing"] }));
            assert!(refused(&changed.into()), "{line:?} with another {name}");
        }
        let mut changed = fields.clone();
        changed.insert("unknown".to_owned(), Value::Null);
        assert!(refused(&changed.into()), "{line:?} with an unknown field");
    }
}
