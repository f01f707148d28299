//! `evidence times`, `evidence compare` and `evidence file` (SPEC §8).

use serde_json::{Value, json};

use crate::harness::home::{Done, Home, keys};
use crate::harness::{create_file, read_file, step};

fn write(id: &str, path: &str, contents: &str) -> Value {
    step(id, "file_write", json!({"path": path, "contents": contents}))
}

/// Runs these steps and returns the id of the run.
fn run(home: &Home, steps: Value, exit: i32) -> String {
    home.plan(steps);
    let result = home.json(["run", "space/p.json", "--yes"]).exits(exit).document();
    result["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn times_shows_each_step_with_its_bar() {
    let home = Home::new();
    home.write("a.txt", "a\n");
    let id = run(&home, json!([read_file("look", "a.txt"), read_file("miss", "absent.txt")]), 1);
    let times = home.json(["evidence", "times", &id]).exits(0).document();
    assert_eq!(keys(&times), ["pauses", "run", "steps", "total_ms", "waited_ms", "worked_ms"]);
    assert_eq!(times["run"]["run_id"], id.as_str());
    let steps = times["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[1]["outcome"]), (2, &json!("failed")));
    assert!(steps.iter().all(|step| step["begun_ms"].is_i64() && step["worked_ms"].is_i64()));
    let people = home.run(["evidence", "times", &id]).exits(0).stdout;
    assert!(people.contains("file_read a.txt") && people.contains('█'), "{people}");
    let absent = "00000000-0000-4000-8000-000000000000";
    assert_eq!(home.json(["evidence", "times", absent]).exits(5).error_code(), "E014");
}

#[test]
fn compare_shows_plans_files_outcomes_and_outputs() {
    let home = Home::new();
    home.write("a.txt", "one\ntwo\n");
    let first = run(&home, json!([read_file("look", "a.txt"), write("make", "b.txt", "b\n")]), 0);
    home.write("a.txt", "one\nzwei\n");
    let again = json!([
        read_file("look", "a.txt"),
        write("make", "b.txt", "b\nmore\n"),
        read_file("miss", "absent.txt"),
    ]);
    let second = run(&home, again, 1);
    let found = home.json(["evidence", "compare", &first, &second]).exits(0).document();
    assert_eq!(
        keys(&found),
        ["after", "before", "inputs", "left_out", "plan", "same_plan", "steps"]
    );
    assert_eq!(found["same_plan"], false);
    assert_eq!((&found["plan"]["new"], &found["plan"]["changed"]), (&json!(1), &json!(1)));
    let steps = found["steps"].as_array().unwrap();
    let pairs: Vec<_> = steps.iter().map(|step| step["pair"].as_str().unwrap()).collect();
    assert_eq!(pairs, ["same", "changed", "only_after"]);
    assert_eq!(steps[0]["outputs"][0]["stream"], "stdout");
    assert_eq!(steps[0]["outputs"][0]["diff"]["added"], 1);
    let written = found["inputs"].as_array().unwrap();
    assert!(written.iter().any(|input| input["path"] == "b.txt"), "{written:?}");
    let people = home.run(["evidence", "compare", &first, &second]).exits(0).stdout;
    for text in ["The plan was revised: ", "| -two", "| +zwei", "| +more", "only in the second run"]
    {
        assert!(people.contains(text), "{text}: {people}");
    }
    let same = home.run(["evidence", "compare", &first, &first]).exits(0).stdout;
    assert!(same.contains("Both ran the same plan.") && same.contains("0 of 2 steps differ"));
    let absent = "00000000-0000-4000-8000-000000000000";
    let refused = home.json(["evidence", "compare", &first, absent]).exits(5);
    assert_eq!(refused.error_code(), "E014");
}

#[test]
fn file_lists_every_change_with_its_lines() {
    let home = Home::new();
    run(&home, json!([create_file("make", "b.txt", "one\n")]), 0);
    run(&home, json!([write("change", "b.txt", "one\ntwo\n")]), 0);
    home.write("b.txt", "by hand\n");
    run(&home, json!([write("again", "b.txt", "three\n")]), 0);
    let changes = home.json(["evidence", "file", "b.txt"]).exits(0).lines();
    let words: Vec<_> = changes.iter().map(|it| it["change"].as_str().unwrap()).collect();
    assert_eq!(words, ["created", "changed", "changed"]);
    assert_eq!(changes[1]["difference"]["added"], 1);
    let between: Vec<_> =
        changes.iter().map(|it| it["changed_between"].as_bool().unwrap()).collect();
    assert_eq!(between, [false, false, true]);
    let people = home.run(["evidence", "file", "b.txt"]).exits(0).stdout;
    for text in ["created +1 -0", "| +two", "Something else had changed the file in between."] {
        assert!(people.contains(text), "{text}: {people}");
    }
    let limited = home.json(["evidence", "file", "b.txt", "--limit", "1"]).exits(0);
    assert_eq!(limited.lines().len(), 1);
    assert!(limited.stderr.contains("2 older changes are left out"), "{limited:#?}");
    let here = home.file("").canonicalize().unwrap();
    let here = here.to_str().unwrap().trim_end_matches('/');
    let found = home.json(["evidence", "file", "b.txt", "--workspace", here]).exits(0);
    assert_eq!(found.lines().len(), 3);
    // As somebody types it, in the folder itself; a path that no record can have is no empty answer.
    let mut typed = home.command();
    typed.current_dir(here).args(["evidence", "file", "./b.txt", "--workspace", "."]);
    typed.arg("--evidence").arg(home.evidence());
    assert!(Done::of(&mut typed).exits(0).stdout.contains("created +1 -0"));
    let absolute = format!("{here}/b.txt");
    let nothing = home.run(["evidence", "file", &absolute]).exits(0);
    assert!(nothing.stderr.contains("by its path inside it"), "{nothing:?}");
    for question in [&["file"][..], &["query", "q4"], &["query", "q6"]] {
        for path in ["../b.txt", ".", ""] {
            let _ = home.run(["evidence"].iter().chain(question).copied().chain([path])).exits(5);
        }
    }
    let nothing = home.run(["evidence", "file", "absent.txt"]).exits(0);
    assert_eq!(nothing.stdout, "");
    assert!(nothing.stderr.contains("Nothing found."));
}

/// The records have the whole path of a file in another folder that plans may use.
#[test]
fn a_file_of_another_folder_is_found() {
    let home = Home::new();
    let other = tempfile::tempdir().unwrap();
    let folder = other.path().canonicalize().unwrap();
    home.settings(format!("[policy]\nextra_roots = ['{}']\n", folder.display()));
    let path = folder.join("c.txt").display().to_string();
    run(&home, json!([write("make", &path, "c\n")]), 0);
    for question in [&["file"][..], &["query", "q4"], &["query", "q6"]] {
        let found = home.run(["evidence"].iter().chain(question).copied().chain([&*path]));
        assert!(found.exits(0).stdout.contains("c.txt"), "{question:?}");
    }
}

#[test]
fn timeline_counts_executions_over_time() {
    let home = Home::new();
    home.write("a.txt", "a\n");
    run(&home, json!([read_file("look", "a.txt"), read_file("miss", "absent.txt")]), 1);
    let line = ["evidence", "timeline", "--intervals", "1"];
    let buckets = home.json(line).exits(0).lines();
    assert_eq!(keys(&buckets[0]), ["bad", "fine", "from_ms", "to_ms"]);
    assert_eq!((&buckets[0]["fine"], &buckets[0]["bad"]), (&json!(1), &json!(1)));
    let failed = ["evidence", "timeline", "--outcome", "failed"];
    assert_eq!(home.json(failed).exits(0).lines().len(), 1);
    let people = home.run(line).exits(0).stdout;
    assert!(people.contains('█') && people.contains('▒'), "{people}");
    let nothing = home.run(["evidence", "timeline", "quokka"]).exits(0);
    assert_eq!((nothing.stdout.as_str(), nothing.stderr.contains("Nothing found.")), ("", true));
    let refused = home.json(["evidence", "timeline", "--limit", "3"]).exits(5);
    assert_eq!(refused.error_code(), "E014");
}

#[test]
fn counts_are_of_all_executions_that_a_search_finds() {
    let home = Home::new();
    home.write("a.txt", "a\n");
    let looks = ["one", "two"].map(|id| read_file(id, "a.txt"));
    run(&home, json!([looks[0], looks[1], read_file("miss", "absent.txt")]), 1);
    let counts = home.json(["evidence", "counts"]).exits(0).document();
    let values = |name: &str| {
        let facets = counts["facets"].as_array().unwrap();
        facets.iter().find(|facet| facet["name"] == name).unwrap()["values"].clone()
    };
    assert_eq!(counts["total"], 3);
    let paths = json!([{"value": "a.txt", "number": 2}, {"value": "absent.txt", "number": 1}]);
    assert_eq!(values("path"), paths);
    assert_eq!(values("code"), json!([{"value": "E301", "number": 1}]));
    assert_eq!(values("host"), json!([]));
    let failed = home.run(["evidence", "counts", "--outcome", "failed"]).exits(0).stdout;
    assert!(failed.contains("absent.txt") && !failed.contains(" a.txt"), "{failed}");
    let nothing = home.json(["evidence", "counts", "quokka"]).exits(0).document();
    assert_eq!(nothing["total"], 0);
    let refused = home.json(["evidence", "counts", "--limit", "3"]).exits(5);
    assert_eq!(refused.error_code(), "E014");
}

const RULE: &str = r#"
[[policy.command_rules]]
id = "careful-cat"
prefix = ["cat"]
level = "caution"
reason = "It may be a large file."
must_match = ["cat a.txt"]
must_not_match = ["ls"]
"#;

#[test]
fn past_commands_are_judged_by_the_present_rules() {
    let home = Home::new();
    home.write("a.txt", "a\n");
    let plan =
        json!({"id": "p", "goal": "Look", "steps": [{"command": "cat a.txt"}, {"command": "ls"}]});
    home.write("c.json", plan.to_string());
    let mut last = String::new();
    for _ in 0..2 {
        let result = home.json(["run", "space/c.json", "--yes"]).exits(0).document();
        last = result["step_results"][0]["execution_id"].as_str().unwrap().to_owned();
    }
    let same = home.json(["evidence", "judge"]).exits(0);
    assert_eq!(same.stdout, "");
    assert!(same.stderr.contains("0 of 2 different commands have another level now."));
    home.settings(RULE);
    let found = home.json(["evidence", "judge"]).exits(0).lines();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        ["level_then", "level_now", "rule_now", "command"]
            .map(|key| found[0][key].as_str().unwrap()),
        ["safe", "caution", "careful-cat", "cat a.txt"]
    );
    assert_eq!((&found[0]["times"], &found[0]["redacted"]), (&json!(2), &json!(false)));
    assert_eq!(found[0]["latest"]["execution_id"], last.as_str());
    let people = home.run(["evidence", "judge"]).exits(0).stdout;
    assert!(people.contains("safe  -> caution  careful-cat"), "{people}");

    let durations = home.json(["evidence", "durations", &last]).exits(0).document();
    assert_eq!(durations["executions"].as_array().unwrap().len(), 2);
    assert!(durations["median_ms"].is_i64() && durations["tool_name"] == "shell");
    let people = home.run(["evidence", "durations", &last]).exits(0).stdout;
    assert!(people.contains("cat a.txt") && people.contains('█'), "{people}");
    let absent = "00000000-0000-4000-8000-000000000000";
    let refused = home.json(["evidence", "durations", absent]).exits(5);
    assert_eq!(refused.error_code(), "E014");
}
