//! The case file: complete, checked by the verifier in it, the same every time, and without what is not the run's.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{SECRET, case_file, first_run, further_runs, home, python, run_id, verified, verifier};
use crate::harness::home::{Done, Home, keys};
use crate::harness::schemas::complaints;
use crate::harness::tree;

/// The case file of the first run, unpacked by Python's own reader of zips.
fn unpacked(home: &Home, run_id: &str) -> PathBuf {
    let archive = case_file(home, run_id, "case.zip");
    let folder = home.path().join("case");
    let unpack = ["-m".as_ref(), "zipfile".as_ref(), "-e".as_ref(), archive.as_path(), &folder];
    python(unpack).exits(0);
    folder
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_case_file_is_complete_and_verifies() {
    let home = home();
    let result = first_run(&home);
    let id = run_id(&result);
    let case = unpacked(&home, id);
    assert_eq!(fs::read(case.join("plan.json")).unwrap(), fs::read(home.file("p.json")).unwrap());

    let manifest = read(&case.join("manifest.json"));
    let schema = Done::of(home.command().args(["schema", "case_manifest"])).exits(0).stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let complaints = jsonschema::validator_for(&schema).unwrap();
    let complaints: Vec<_> = complaints.iter_errors(&manifest).map(|it| it.to_string()).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert_eq!(manifest["run_id"], id);
    assert_eq!(manifest["left_out"], json!([]));

    let steps = lines(&case.join("executions.jsonl"));
    assert_eq!(steps.len(), 6);
    for step in &steps {
        let id = step["execution_id"].as_str().unwrap();
        let shown = home.json(["evidence", "show", id]).exits(0).document();
        assert_eq!(keys(step), keys(&shown), "the document of `evidence show`");
        assert_eq!(*step, shown);
    }
    let decided = read(&case.join("decisions.json"));
    let words: Vec<_> = decided.as_array().unwrap().iter().map(|it| &it["columns"]).collect();
    assert!(words.iter().any(|it| it["decision"] == "authorize"), "{decided}");
    assert!(words.iter().any(|it| it["decision"] == "skip" && it["step_id"] == "ask"), "{decided}");
    assert!(words.iter().any(|it| it["status"] == "approved"), "{decided}");
    let report = fs::read_to_string(case.join("report.html")).unwrap();
    assert!(report.contains("absent.txt") && report.contains(id), "{report}");

    // The content before and after the change, by their digests.
    let contents: Vec<_> = tree(&case.join("artifacts")).into_iter().collect();
    let has = |bytes: &[u8]| contents.iter().any(|(_, content)| content.as_slice() == bytes);
    assert!(has(b"one\ntwo\n") && has(b"one\nthree\n"), "{contents:?}");

    for path in [&home.path().join("case.zip"), &case] {
        let (code, said) = verified(path);
        assert!(code == 0 && said.starts_with("OK: ") && said.contains(id), "{said}");
        // The verifier in the file is the same program, and leaves nothing there that would be one more member.
        for _ in 0..2 {
            let program = case.join("verify.py");
            let done = Done::of(assert_cmd::Command::new("python3").arg(program).arg(path));
            let done = done.exits(0);
            assert_eq!(done.stdout, said);
        }
    }
    // Without its other half it says of no case file that it was changed, and checks a database.
    let alone = home.path().join("verify.py");
    fs::copy(verifier(), &alone).unwrap();
    let done = python([alone.as_path(), &case]).exits(2);
    assert!(done.stderr.contains("verify_documents.py must be beside"), "{done:?}");
    python([alone.as_path(), &home.evidence()]).exits(0);
}

/// SPEC §14. Long lines would be a way around it.
#[test]
fn the_verifier_has_at_most_200_lines() {
    let text = fs::read_to_string(verifier()).unwrap();
    assert!(text.lines().count() <= 200, "{}", text.lines().count());
    let long: Vec<_> = text.lines().filter(|line| line.chars().count() > 120).collect();
    assert!(long.is_empty(), "{long:?}");
    // Only what comes with Python, and its other halves.
    let imports = text.lines().filter_map(|line| line.trim().strip_prefix("import "));
    let names: Vec<_> = imports.flat_map(|names| names.split(", ")).collect();
    let own = ["verify_documents", "verify_proof", "verify_signatures"];
    let standard = ["hashlib", "json", "os", "pathlib", "sqlite3", "struct", "sys", "zipfile"];
    assert!(names.iter().all(|it| own.contains(it) || standard.contains(it)), "{names:?}");
}

#[test]
fn a_case_file_is_the_same_every_time() {
    let home = home();
    let result = first_run(&home);
    let first = fs::read(case_file(&home, run_id(&result), "1.zip")).unwrap();
    further_runs(&home);
    let again = fs::read(case_file(&home, run_id(&result), "2.zip")).unwrap();
    assert!(first == again, "later runs change nothing");
}

#[test]
fn a_case_file_has_nothing_of_other_runs_and_no_secret() {
    let home = home();
    let first = first_run(&home);
    let [secret, commands] = further_runs(&home);
    for result in [&first, &secret, &commands] {
        let case = home.path().join("case");
        let _ = fs::remove_dir_all(&case);
        let _ = fs::remove_file(home.path().join("case.zip"));
        assert_eq!(unpacked(&home, run_id(result)), case);
        assert_eq!(verified(&case).0, 0);
        for (name, content) in tree(&case) {
            let text = String::from_utf8_lossy(&content);
            assert!(!text.contains(SECRET), "{name:?}");
            for other in [&first, &secret, &commands] {
                let is_own = run_id(other) == run_id(result);
                assert!(is_own || !text.contains(run_id(other)), "{name:?}");
            }
        }
    }
    let case = case_file(&home, run_id(&secret), "secret.zip");
    let (_, said) = verified(&case);
    assert!(said.contains("not included: ") && said.contains("(encrypted)"), "{said}");
}

/// The proof in a case file is one that `evidence prove` makes, of a tree that ends with the case.
#[test]
fn a_case_file_has_the_proof_of_its_records() {
    let home = home();
    let result = first_run(&home);
    further_runs(&home);
    let case = unpacked(&home, run_id(&result));
    let proof = read(&case.join("proof.json"));
    assert_eq!(complaints("proof", &proof), Vec::<String>::new());
    let proven = proof["records"].as_array().unwrap();
    let same = |(one, other): (&Value, &Value)| {
        ["seq", "table", "previous", "digest", "entry"].iter().all(|name| one[name] == other[name])
    };
    let ledger = lines(&case.join("ledger.jsonl"));
    assert!(ledger.len() == proven.len() && ledger.iter().zip(proven).all(same));
    let last = ledger.last().unwrap()["seq"].to_string();
    assert_eq!(proof["checkpoint"].as_str().unwrap().lines().nth(1), Some(last.as_str()));
    // It is continued by the evidence as it is.
    let note = home.path().join("note");
    fs::write(&note, proof["checkpoint"].as_str().unwrap()).unwrap();
    let line = ["evidence", "checkpoint", "--verify", "note"];
    assert_eq!(home.json(line).exits(0).document()["ok"], true);
}

#[test]
fn a_known_head_must_be_among_the_links() {
    let home = home();
    let result = first_run(&home);
    let case = case_file(&home, run_id(&result), "case.zip");
    let report = home.json(["evidence", "verify"]).exits(0).document();
    let head = report["head"].as_str().unwrap();
    let with_head = |path: &Path, head: &str| {
        let arguments = [super::verifier(), path.to_owned(), "--head".into(), head.into()];
        python(arguments.iter().map(PathBuf::as_path))
    };
    // The run is the last thing that was recorded.
    for path in [&case, &home.database()] {
        assert!(with_head(path, head).exits(0).stdout.contains(head));
        let other = format!("sha256:{}", "0123456789abcdef".repeat(4));
        assert!(with_head(path, &other).exits(1).stdout.contains("the known head is not"));
    }
}

#[test]
fn what_cannot_be_verified_is_said() {
    let home = home();
    first_run(&home);
    let (code, said) = verified(&home.evidence());
    assert!(code == 0 && said.starts_with("OK: "), "the folder of the database: {said}");
    let absent = home.path().join("absent");
    assert_eq!(verified(&absent).0, 2);
    let other = home.write("other", "no zip and no database");
    assert_eq!(verified(&other).0, 1);
    let no_run = "00000000-0000-4000-8000-000000000000";
    let line = ["evidence", "case", no_run, "--out", "x.zip"];
    assert_eq!(home.json(line).exits(5).error_code(), "E014");
    assert!(!home.path().join("x.zip").exists());
}
