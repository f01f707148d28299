//! Inputs of plans on the command line (SPEC §13): values, secrets, and where a secret must not be.

use std::fs;

use serde_json::{Value, json};

use crate::harness::files_below;
use crate::harness::home::{Done, Home};

const SECRET: &str = "kingfisher \"7\"/grey";

fn command_plan(home: &Home, inputs: Value, steps: Value) {
    let plan = json!({ "id": "c", "goal": "Try it", "inputs": inputs, "steps": steps });
    home.write("p.json", serde_json::to_string_pretty(&plan).unwrap());
}

fn outputs(document: &Value) -> Vec<&str> {
    let results = document["step_results"].as_array().unwrap();
    results.iter().map(|result| result["stdout"].as_str().unwrap()).collect()
}

#[test]
fn values_reach_commands_as_variables_and_arguments_as_text() {
    let home = Home::new();
    fs::create_dir(home.file("sub")).unwrap();
    command_plan(
        &home,
        json!([{"name": "dir", "default": "sub"}, {"name": "text", "title": "A text"}]),
        json!([{ "command": "printf '<%s>' {{text}} \"a{{text}}\"; pwd", "cwd": "{{dir}}" }]),
    );
    let value = "a b*'\"$(echo c)`echo d`;\n";
    let given = format!("--input=text={value}");
    let checked = home.json(["check", "space/p.json", &given]).exits(0).document();
    assert_eq!(checked["plan"]["inputs"][0]["value"], "sub", "the default");
    let arguments = &checked["plan"]["steps"][0]["arguments"];
    assert_eq!(arguments["command"], "printf '<%s>' \"$input_text\" \"a${input_text}\"; pwd");
    assert_eq!((&arguments["cwd"], &arguments["input_text"]), (&json!("sub"), &json!(value)));
    // What was authorized is the plan with its values.
    let digest = checked["digest"].as_str().unwrap();
    let ran = home.json(["run", "space/p.json", &given, "--authorize", digest]).exits(0);
    let workspace = fs::canonicalize(home.file("sub")).unwrap();
    assert_eq!(outputs(&ran.document()), [format!("<{value}><a{value}>{}\n", workspace.display())]);
    let other =
        home.json(["run", "space/p.json", "--input=text=x", "--authorize", digest]).exits(3);
    assert_eq!(other.error_code(), "E004");
    // That it is a revision of the file is recorded.
    let run = ran.document()["run_id"].as_str().unwrap().to_owned();
    let shown = home.json(["evidence", "show", &run]).exits(0).document();
    let changes = shown["revision"]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2, "{shown:#}");
    assert_eq!(changes[0]["change"], "filled_in");
    assert_eq!(changes[0]["template"], "{{dir}}");
}

#[test]
fn what_is_missing_unknown_or_refused_is_said() {
    let home = Home::new();
    command_plan(
        &home,
        json!([{"name": "env", "choices": ["a", "b"]}, {"name": "s", "secret": true}]),
        json!([{ "command": "echo {{env}} \"$input_s\"" }]),
    );
    let refused = |arguments: &[&str], code: i32, says: &str| {
        let done: Done =
            home.run(["run", "space/p.json", "--yes"].iter().chain(arguments).copied());
        let done = done.exits(code);
        assert!(done.stderr.contains(says), "{arguments:?}: {done:#?}");
    };
    refused(&[], 2, "E020");
    refused(&["--input", "env=c"], 5, "it is none of \"a\", \"b\"");
    refused(&["--input", "other=a"], 5, "has no such input");
    refused(&["--input", "s=abcdef"], 5, "it is a secret");
    refused(&["--input", "env=a", "--input", "env=b"], 5, "twice");
    refused(&["--input", "env=a"], 2, "the secret input \"s\" is not given");
    refused(&["--input", "env=a", "--secret-input", "s=absent"], 5, "cannot be read");
    refused(&["--input", "env=a", "--secret-input", "env=absent"], 5, "no secret input");
    home.write("short", "abc\n");
    refused(&["--input", "env=a", "--secret-input", "s=space/short"], 5, "at least 4 bytes");
    home.json(["propose", "space/p.json"]).exits(0);
    let converted = home.run(["convert", "space/p.json", "--input", "env=a"]);
    assert!(converted.stdout.contains("\"value\": \"a\""), "{converted:#?}");
    let revised = home.json(["revise", "space/p.json", "--input", "env=b"]).exits(0).document();
    assert_eq!(revised["changes"][0]["value"], "b");
}

#[test]
fn the_value_decides_about_the_risk() {
    let home = Home::new();
    command_plan(&home, json!([{"name": "dir"}]), json!([{ "command": "rm -rf {{dir}}" }]));
    let level = |value: &str, code: i32| {
        let given = format!("--input=dir={value}");
        let document = home.json(["check", "space/p.json", &given]).exits(code).document();
        let step = document["risk"]["steps"][0].clone();
        (step["level"].as_str().unwrap().to_owned(), step["reason"].as_str().unwrap().to_owned())
    };
    let (blocked, reason) = level("/", 2);
    assert_eq!(blocked, "blocked");
    assert!(reason.contains("$input_dir is \"/\""), "{reason}");
    assert_eq!(level("build", 0).0, "dangerous");
}

/// A secret is in no argument of a process, in nothing that is printed, and in nothing that is stored, also not where a
/// command prints it or another form of it.
#[test]
fn a_secret_in_lines_or_cut_off_is_hidden() {
    let home = Home::new();
    let steps = json!([
        { "command": "printf '%s' \"$input_token\" | base64 -w 10" },
        { "command": "printf '%s' \"$input_pin\" | base64; printf '%s' \"$input_pin\" | od -An -tx1 | tr -d ' '" },
        { "command": "printf 'x %.3s' \"$input_token\"; exec tail -f /dev/null", "timeoutSeconds": 1 },
    ]);
    let inputs = json!([{"name": "token", "secret": true}, {"name": "pin", "secret": true}]);
    command_plan(&home, inputs, steps);
    home.write("secret", format!("{SECRET}\n"));
    home.write("pin", "48#a");
    let given = ["--secret-input", "token=space/secret", "--secret-input", "pin=space/pin"];
    let run = [&["run", "space/p.json", "--yes", "--confirm", "approve"], &given[..]].concat();
    let document = home.json(run).exits(1).document();
    let printed = outputs(&document);
    assert!(printed[0].starts_with("[secret:input:") && printed[0].ends_with("]\n"), "{printed:?}");
    assert_eq!(printed[0].lines().count(), 1, "{printed:?}");
    assert_eq!(printed[1].matches("[secret:input:").count(), 2, "{printed:?}");
    assert_eq!(printed[1].lines().count(), 2, "{printed:?}");
    assert!(printed[2].starts_with("x [secret:input:") && printed[2].ends_with(']'), "{printed:?}");
    assert_eq!(document["step_results"][2]["error_code"], "E306");
}

#[test]
fn a_value_that_may_become_code_is_asked_about() {
    let home = Home::new();
    let level = |command: &str| {
        let inputs = json!([{"name": "x", "default": "plain"}]);
        command_plan(&home, inputs, json!([{ "command": command }]));
        let document = home.json(["check", "space/p.json"]).exits(0).document();
        let risk = &document["risk"]["steps"][0];
        (risk["level"].as_str().unwrap().to_owned(), risk["rule"].as_str().unwrap().to_owned())
    };
    for command in ["y={{x}}; find . $y", "f() { echo $(($1)); }; f \"$input_x\"", "su -c {{x}}"] {
        assert_eq!(
            level(command),
            ("dangerous".to_owned(), "input-as-code".to_owned()),
            "{command}"
        );
    }
    assert_eq!(level("echo {{x}} \"a {{x}}\"").0, "safe");
}

#[test]
fn a_secret_is_nowhere() {
    let home = Home::new();
    let steps = json!([
        { "command": "printf '%s\\n' \"$input_token\"; printf '%s' \"$input_token\" | base64; ps -eo args" },
        { "command": "printf '%s' \"$input_token\" | wc -c; printf 'k'; sleep 0; printf '%s' \"${input_token#k}\"" },
        { "command": "yes \"$input_token\" | head -c 9000000" },
        { "command": "printf '%s' \"$input_token\" >&2; exit 3" },
    ]);
    command_plan(&home, json!([{"name": "token", "secret": true}]), steps);
    home.write("secret", format!("{SECRET}\n"));
    let arguments = [
        "run",
        "space/p.json",
        "--yes",
        "--secret-input",
        "token=space/secret",
        "--confirm",
        "approve",
    ];
    let done = home.json(arguments).exits(1);
    let document = done.document();
    let printed = outputs(&document);
    assert!(printed[0].starts_with("[secret:input:"), "{document:#}");
    assert!(printed[0].contains("ps -eo args"), "{document:#}");
    assert!(printed[1].starts_with(&SECRET.len().to_string()), "{document:#}");
    assert_eq!(printed[1].matches("[secret:input:").count(), 1, "{document:#}");
    let results = document["step_results"].as_array().unwrap();
    assert_eq!(results[3]["error_code"], "E305", "{document:#}");
    assert!(results[3]["stderr"].as_str().unwrap().starts_with("[secret:input:"), "{document:#}");
    let run = document["run_id"].as_str().unwrap();
    fs::remove_file(home.file("secret")).unwrap();
    let shown = home.json(["evidence", "show", run]).exits(0);
    assert!(shown.stdout.contains("hmac-sha256:"), "{shown:#?}");
    let found = home.json(["evidence", "search", "kingfisher"]).exits(0);
    assert_eq!(found.lines().len(), 0, "{found:#?}");
    let mut outputs = vec![done, shown];
    for format in ["jsonl", "html", "csv"] {
        outputs.push(home.run(["evidence", "export", "--format", format, "--run", run]).exits(0));
    }
    let case = home.path().join("case.zip");
    home.run(["evidence", "case", run, "--out", case.to_str().unwrap()]).exits(0);
    home.run(["evidence", "verify"]).exits(0);
    let forms: [&[u8]; 3] = [SECRET.as_bytes(), b"kingfisher", b"a2luZ2Zpc2hlci"];
    let has =
        |bytes: &[u8]| forms.iter().any(|form| bytes.windows(form.len()).any(|it| it == *form));
    for done in &outputs {
        assert!(!has(done.stdout.as_bytes()) && !has(done.stderr.as_bytes()), "{done:#?}");
    }
    let files = files_below(home.path());
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        assert!(!has(&fs::read(&file).unwrap()), "{}", file.display());
    }
    // What is compressed is searched, too. Nothing is stored encrypted, either: the secret was hidden before.
    let blobs = home.texts("SELECT hex(data) FROM blobs WHERE encoding = 'zstd'", []);
    assert!(!blobs.is_empty(), "the long output");
    for blob in blobs {
        let bytes: Vec<u8> = (0..blob.len() / 2)
            .map(|at| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        assert!(!has(&zstd::decode_all(&*bytes).unwrap()));
    }
    assert_eq!(home.texts("SELECT id FROM blobs WHERE encoding <> 'zstd'", []), [""; 0]);
}
