//! Each format is read by something that was not written here, and says what the evidence says.

use serde_json::{Value, json};

use super::{HOSTILE, SECRET, exported, first_run, further_runs, home, run_id};
use crate::harness::cargo_project::{cargo_project, step};
use crate::harness::home::Home;
use crate::harness::schemas::published_sarif;

#[test]
fn json_lines_are_the_documents_of_show() {
    let home = home();
    first_run(&home);
    let text = exported(&home, "jsonl", &[]);
    assert_eq!(text.lines().count(), 6);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let id = line["execution_id"].as_str().unwrap();
        assert_eq!(line, home.json(["evidence", "show", id]).exits(0).document());
    }
}

#[test]
fn csv_has_a_record_for_each_step_and_no_formula() {
    let home = home();
    let result = first_run(&home);
    let text = exported(&home, "csv", &[]);
    assert!(text.ends_with("\r\n"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|it| it == name).unwrap();
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 6);
    for (record, step) in records.iter().zip(result["step_results"].as_array().unwrap()) {
        assert_eq!(record[column("execution_id")], *step["execution_id"].as_str().unwrap());
        assert_eq!(record[column("outcome")], *step["outcome"].as_str().unwrap());
        let text = record[column("timestamp_ms")].to_owned();
        assert_eq!(text, step["timestamp_ms"].to_string());
        for cell in record {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
        }
    }
    assert_eq!(&records[2][column("about")], "'=cmd.txt");
    let arguments: Value = serde_json::from_str(&records[1][column("arguments")]).unwrap();
    assert_eq!(arguments["contents"], HOSTILE, "quotes and line breaks are kept");
    assert!(records[4][column("decisions")].contains("skip by command_line"));
}

#[test]
fn junit_has_a_suite_for_each_run_and_a_case_for_each_step() {
    let home = home();
    let result = first_run(&home);
    further_runs(&home);
    let text = exported(&home, "junit", &[]);
    let suites = junit_parser::from_reader(text.as_bytes()).unwrap();
    assert_eq!(suites.suites.len(), 3);
    let suite = &suites.suites[0];
    assert_eq!((suite.tests, suite.failures, suite.errors, suite.skipped), (6, 1, 0, 1));
    assert_eq!(suite.name, "p");
    assert_eq!(suite.id.as_deref(), Some(run_id(&result)));
    let cases = &suite.cases;
    assert!(cases[0].status.is_success() && cases[3].status.is_success());
    assert_eq!(cases[0].system_out.as_deref().map(str::trim), Some("a wombat lives here"));
    assert!(cases[4].status.is_skipped() && cases[5].status.is_failure());
    assert!(cases[5].name.contains("file_read absent.txt"), "{}", cases[5].name);
    let failure = cases[5].status.failure_as_ref();
    assert_eq!(failure.failure_type, "E301");
    assert!(failure.message.contains("absent.txt"), "{failure:?}");
    // Output with control characters is still XML.
    let colour = &suites.suites[2].cases[1];
    assert_eq!(colour.system_out.as_deref().map(str::trim), Some("⟨ESC⟩[31mquokka⟨ESC⟩[0m"));
    assert!(suites.suites[2].cases[0].system_out.as_ref().unwrap().contains("are left out here"));
}

#[test]
fn an_asciicast_plays_the_output_of_a_run() {
    let home = home();
    let [_, commands] = further_runs(&home);
    let text = exported(&home, "asciicast", &["--run", run_id(&commands)]);
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!((&header["version"], &header["title"]), (&json!(3), &json!("Try commands")));
    assert!(header["term"]["cols"].as_u64() > Some(0) && header["term"]["rows"].as_u64() > Some(0));
    let started = commands["step_results"][0]["timestamp_ms"].as_i64().unwrap() / 1_000;
    assert!((header["timestamp"].as_i64().unwrap() - started).abs() <= 1);
    let (mut output, mut marks, mut elapsed) = (String::new(), 0, 0.0);
    let mut ended = None;
    for event in lines {
        assert!(ended.is_none(), "nothing follows the exit");
        let interval = event[0].as_f64().unwrap();
        assert!(interval >= 0.0);
        elapsed += interval;
        match event[1].as_str().unwrap() {
            "o" => output.push_str(event[2].as_str().unwrap()),
            "m" => marks += 1,
            "x" => ended = event[2].as_str().map(str::to_owned),
            other => panic!("{other}"),
        }
    }
    assert_eq!((marks, ended.as_deref()), (2, Some("1")));
    let numbers: String = (1..=20_000).map(|n| format!("{n}\r\n")).collect();
    assert_eq!(output, format!("{numbers}\u{1b}[31mquokka\u{1b}[0m\r\noops\r\n"));
    let took = commands["elapsed_ms"].as_f64().unwrap_or(60_000.0) / 1_000.0;
    assert!(elapsed <= took + 1.0, "{elapsed} of {took}");
}

/// A project with an error that the check reports.
fn with_diagnostics() -> (Home, Value) {
    let home = cargo_project();
    home.write("src/lib.rs", "pub fn caller() -> u32 {\n    missing(1)\n}\n");
    home.plan(json!([step("check", "lsp_check", json!({"path": "."}), "none")]));
    let result = home.json(["run", "space/p.json", "--yes"]).exits(1).document();
    (home, result)
}

#[test]
fn sarif_has_diagnostics_as_results() {
    let (home, result) = with_diagnostics();
    let text = exported(&home, "sarif", &[]);
    let sarif: serde_sarif::sarif::Sarif = serde_json::from_str(&text).unwrap();
    assert_eq!(sarif.runs.len(), 1);
    let run = &sarif.runs[0];
    assert_eq!(run.tool.driver.name, "lsp_check");
    let invocations = run.invocations.as_ref().unwrap();
    assert_eq!((invocations.len(), invocations[0].execution_successful), (1, false));
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        document["runs"][0]["invocations"][0]["properties"]["execution_id"],
        result["step_results"][0]["execution_id"]
    );
    let results = run.results.as_ref().unwrap();
    assert_eq!(results[0].rule_id.as_deref(), Some("E0425"));
    let shown = &document["runs"][0]["results"][0];
    assert_eq!(
        (&shown["level"], &shown["provenance"]),
        (&json!("error"), &json!({"invocationIndex": 0}))
    );
    let place = &shown["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/lib.rs");
    assert_eq!(
        (&place["region"]["startLine"], &place["region"]["startColumn"]),
        (&json!(2), &json!(5))
    );

    assert_is_sarif(&document);
    let report = exported(&home, "html", &[]);
    assert!(report.contains("E0425") && report.contains("src/lib.rs:2"), "{report}");
}

/// Asserts that both schemas accept a document, and that they refuse it without what it must have.
fn assert_is_sarif(document: &Value) {
    for schema in [sarif_schema(), published_sarif()] {
        let complaints: Vec<_> = schema.iter_errors(document).map(|it| it.to_string()).collect();
        assert!(complaints.is_empty(), "{complaints:?}");
        let mut without_tool = document.clone();
        without_tool["runs"][0]["tool"] = json!({});
        assert!(!schema.is_valid(&without_tool));
    }
}

/// What SARIF 2.1.0 requires of the objects that are written here, from the text of the standard.
fn sarif_schema() -> jsonschema::Validator {
    let time = "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$";
    let message =
        json!({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}});
    let uri = json!({"type": "string", "pattern": "^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*$"});
    let region =
        json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}});
    let place = json!({"type": "object", "required": ["artifactLocation"], "additionalProperties": false,
        "properties": {"artifactLocation": {"type": "object", "properties": {"uri": uri}}, "region": region}});
    let invocation = json!({"type": "object", "required": ["executionSuccessful"], "properties": {
        "executionSuccessful": {"type": "boolean"}, "exitCode": {"type": "integer"},
        "startTimeUtc": {"type": "string", "pattern": time}, "endTimeUtc": {"type": "string", "pattern": time},
        "commandLine": {"type": "string"}, "properties": {"type": "object"},
        "workingDirectory": {"type": "object", "properties": {"uri": uri}},
        "toolExecutionNotifications": {"type": "array", "items": {"type": "object", "required": ["message"],
            "properties": {"message": message, "level": {"enum": ["none", "note", "warning", "error"]}}}}},
        "additionalProperties": false});
    let result = json!({"type": "object", "required": ["message"], "additionalProperties": false, "properties": {
        "message": message, "level": {"enum": ["none", "note", "warning", "error"]}, "ruleId": {"type": "string"},
        "locations": {"type": "array", "items": {"type": "object", "properties": {"physicalLocation": place}}},
        "provenance": {"type": "object", "properties": {"invocationIndex": {"type": "integer", "minimum": -1}}},
        "properties": {"type": "object"}}});
    let run = json!({"type": "object", "required": ["tool"], "additionalProperties": false, "properties": {
        "tool": {"type": "object", "required": ["driver"], "properties": {
            "driver": {"type": "object", "required": ["name"]}}},
        "invocations": {"type": "array", "items": invocation}, "results": {"type": "array", "items": result},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]}}});
    let log = json!({"type": "object", "required": ["version", "runs"], "additionalProperties": false,
        "properties": {"version": {"const": "2.1.0"}, "runs": {"type": "array", "items": run}}});
    jsonschema::validator_for(&log).unwrap()
}

#[test]
fn sarif_has_a_run_for_each_tool() {
    let home = home();
    first_run(&home);
    further_runs(&home);
    let document: Value = serde_json::from_str(&exported(&home, "sarif", &[])).unwrap();
    assert_is_sarif(&document);
    let runs = document["runs"].as_array().unwrap();
    let tools: Vec<_> = runs.iter().map(|run| &run["tool"]["driver"]["name"]).collect();
    assert_eq!(tools, ["file_create", "file_read", "file_write", "shell"]);
    let invocations = runs.iter().map(|run| run["invocations"].as_array().unwrap().len());
    assert_eq!(invocations.sum::<usize>(), 9);
}

#[test]
fn a_report_runs_nothing_and_hides_nothing() {
    let home = home();
    let result = first_run(&home);
    let [secret, _] = further_runs(&home);
    let report = exported(&home, "html", &["--run", run_id(&result)]);
    let policy = "content=\"default-src 'none'; style-src 'sha256-";
    assert!(report.contains(policy), "{report}");
    // No element that could load or run anything, and none from the texts.
    let (_, body) = report.split_once("</style>").unwrap();
    for element in ["<script", "<link", "<img", "<iframe", "<object", "<a ", "<form", "<style"] {
        assert!(!body.contains(element), "{element}");
    }
    assert!(
        !report.contains("http://") && !report.contains("https://") && !report.contains("url(")
    );
    let escaped = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;quoted&quot; ]]&gt; ⟨ESC⟩[31m ⟨U+202E⟩hidden";
    assert!(report.contains(escaped), "{report}");
    assert!(!report.contains(['\u{1b}', '\u{202e}']));
    for text in [
        "See what is &lt;there&gt;.",
        "Skipped by the command line",
        "a wombat lives here",
        "<del>− two</del>",
        "<ins>+ three</ins>",
        "absent.txt",
        "number ",
    ] {
        assert!(report.contains(text), "{text} is missing in {report}");
    }
    assert_eq!(report.matches("<details class=\"step").count(), 6);
    assert_eq!(report.matches("<details").count(), report.matches("</details>").count());
    let head = home.json(["evidence", "show", run_id(&result)]).exits(0).document();
    assert_eq!(head["changed"], json!([]));

    let report = exported(&home, "html", &["--run", run_id(&secret)]);
    assert!(report.contains("stored only encrypted") && !report.contains(SECRET), "{report}");
    let all = exported(&home, "html", &[]);
    assert_eq!(all.matches("<section class=\"run\"").count(), 3);
    let none = exported(&home, "html", &["--tool", "absent"]);
    assert!(none.contains("Nothing was recorded that meets this selection"), "{none}");
}
