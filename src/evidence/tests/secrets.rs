//! No file of the evidence folder contains any part of a secret.

use serde_json::json;

use super::fixture::*;
use crate::authorization::{AuthorizationStatus, FileState, PlanAuthorization};
use crate::evidence::*;
use crate::plan::Digest;
use crate::run::*;

/// Joined at run time, so that secret scanners do not report this file.
fn secret() -> String {
    ["ghp_", &"a1B2".repeat(9)].concat()
}

fn key_line() -> String {
    "MIIEowIBAAKCAQEA7bq98jXy".repeat(2)
}

/// A file with two secrets: one in a line, one over several.
fn env_file() -> String {
    format!(
        "TOKEN={}\n-----BEGIN PRIVATE {k}-----\n{}\n-----END PRIVATE {k}-----\n",
        secret(),
        key_line(),
        k = "KEY"
    )
}

/// Puts the secrets into every text that is recorded.
fn filled() -> (Home, Plan, uuid::Uuid) {
    let home = Home::new();
    let mut store = home.store();
    let contents = env_file();
    let mut plan = plan(vec![write_step(0, &format!("{}.env", secret()), &contents)]);
    plan.title = Some(format!("use {}", secret()));
    let step = plan.steps[0].clone();
    let mut rejected = PlanAuthorization {
        status: AuthorizationStatus::Rejected { reason: format!("leaks {}", secret()) },
        ..authorization(&plan)
    };
    rejected.binding.inputs.insert(format!("{}.env", secret()), FileState::Absent);
    store.record_authorization(&rejected, &plan).unwrap();
    let mut run = Running::begin(&mut store, plan.clone(), 2_000);
    let mut result = result_of(&step, Outcome::Failed, 2_001);
    result.error_message = Some(format!("no access with {}", secret()));
    result.diagnostic_artifacts.push(diagnostic("E1", &secret()));
    let files = [effect(".env", Some(contents.as_bytes()), Some(b"TOKEN=none"))];
    run.intend(&result, &files);
    let edges =
        [Edge { edge_type: EdgeType::Affected, target_kind: TargetKind::File, target: secret() }];
    // A diff and a search show single lines of a file, without the lines that mark a key.
    let lines: Vec<_> =
        contents.lines().map(|line| json!({"kind": "removed", "text": line})).collect();
    let preview = Preview::exact(format!("writes {}", secret()), vec![], vec![key_line()]);
    let decision = StepDecision {
        request: ConfirmationRequest { preview, ..request(run.run_id, &step) },
        answer: Answer { decision: Decision::Approve, by: AnsweredBy::Window, note: secret() },
        timestamp_ms: 2_001,
    };
    run.record(
        result,
        Extra {
            stdout: Some(format!("{contents}{}", "padding ".repeat(2_000)).as_bytes()),
            stderr: Some(&[b"\xff", contents.as_bytes()].concat()),
            captured: None,
            result_json: json!({"password": "letmein-please", "line": key_line()}),
            artifacts: &[(ArtifactType::Diff, json!({ "lines": lines }))],
            files: &files,
            edges: &edges,
            decision: Some(&decision),
            walls: None,
        },
    );
    let run_id = run.run_id;
    run.end(&failed());
    (home, plan, run_id)
}

use crate::plan::Plan;

#[test]
fn no_secret_is_in_any_file() {
    let (home, _, _) = filled();
    let mut reader = home.reader();
    let page = reader
        .search(&SearchQuery { words: "secret github_token".into(), ..SearchQuery::default() })
        .unwrap();
    assert_eq!(page.counts.total, 1, "the marker is found instead");
    home.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut files = 0;
    for entry in std::fs::read_dir(&home.evidence).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        files += 1;
        for needle in [secret(), key_line(), "letmein-please".into()] {
            let found = bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
            assert!(!found, "{needle} is in {}", path.display());
        }
    }
    assert!(files >= 2, "database and index");
    // Compressed contents are searched too.
    let raw = home.raw();
    let blobs: Vec<(String, Vec<u8>)> = raw
        .prepare("SELECT encoding, data FROM blobs")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(blobs.iter().any(|(encoding, _)| encoding == "zstd"));
    for (encoding, data) in blobs {
        if let Ok(plain) = zstd::decode_all(data.as_slice()) {
            assert_eq!(encoding, "zstd");
            let plain = String::from_utf8_lossy(&plain).into_owned();
            assert!(!plain.contains(&secret()) && !plain.contains(&key_line()), "{plain}");
        }
    }
    assert!(home.verify().ok);
}

#[test]
fn exact_bytes_of_secrets_need_the_key() {
    let (home, plan, run_id) = filled();
    let before = Digest::of(env_file().as_bytes());
    let mut reader = home.reader();
    assert_eq!(reader.plan_of_run(run_id).unwrap().unwrap(), *plan.source);
    assert_eq!(reader.blob(&before).unwrap().unwrap(), env_file().as_bytes());
    // Contents without a secret need no key.
    let after = Digest::of(b"TOKEN=none");

    let elsewhere = tempfile::tempdir().unwrap();
    let mut stranger = EvidenceReader::open(&home.evidence, elsewhere.path()).unwrap();
    assert_eq!(stranger.blob(&after).unwrap().unwrap(), b"TOKEN=none");
    let error = stranger.blob(&before).unwrap_err();
    assert!(matches!(error, EvidenceError::NotAvailable { digest } if digest == before));
    assert!(!stranger.replay(run_id).unwrap().is_empty(), "the rest is still readable");
    assert!(home.verify().ok, "and checked without the key");
    // Another user, with another key, can continue the evidence after accepting it.
    EvidenceStore::accept_head(&home.evidence, elsewhere.path(), "given to me", 8_000).unwrap();
    EvidenceStore::open(&home.evidence, elsewhere.path())
        .unwrap()
        .purge_content(&after, "test", 9_000)
        .unwrap();
    assert!(home.verify().ok);
}

#[test]
fn json_columns_are_json_after_redaction() {
    let (home, _, _) = filled();
    let raw = home.raw();
    for sql in [
        "SELECT content_json FROM execution_artifacts",
        "SELECT arguments_json FROM executions",
        "SELECT arguments_json FROM intents",
        "SELECT request_json FROM decisions WHERE request_json IS NOT NULL",
    ] {
        let values: Vec<String> = raw
            .prepare(sql)
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(!values.is_empty(), "{sql}");
        for value in values {
            assert!(serde_json::from_str::<serde_json::Value>(&value).is_ok(), "{sql}: {value}");
        }
    }
}
