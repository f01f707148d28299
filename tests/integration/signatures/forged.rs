//! Evidence whose chain somebody has computed anew: what was signed shows it, here and in the verifier of case files.

use super::persons::{BOB, Team};
use super::run::python_says;
use super::*;

/// Runs these statements of Python over the database, `sql`, and computes each link anew.
const FORGE: &str = r#"
import sqlite3, sys
sys.path.insert(0, sys.argv[1])
import verify
database, statements = sys.argv[2], sys.argv[3]
sql = sqlite3.connect(database, isolation_level=None)
triggers = sql.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
for name, _ in triggers: sql.execute(f'DROP TRIGGER "{name}"')
exec(statements)
raw = sqlite3.connect(database, isolation_level=None)
raw.text_factory, raw.row_factory = verify.Text, sqlite3.Row
head = bytes(32)
for seq, table in sql.execute("SELECT seq, table_name FROM ledger ORDER BY seq").fetchall():
    row = raw.execute(f'SELECT * FROM "{table}" WHERE rowid = ?', (seq,)).fetchone()
    head = verify.link(head, verify.entry_of(table, row))
    sql.execute("UPDATE ledger SET digest = ? WHERE seq = ?", (head.hex(), seq))
for _, text in triggers: sql.execute(text)
"#;

fn verifiers() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier").to_str().unwrap().to_owned()
}

fn forge(home: &Home, statements: &str) {
    let database = home.database();
    let database = database.to_str().unwrap();
    succeeds("python3", &["-B", "-c", FORGE, &verifiers(), database, statements]);
}

/// Removes the record with this number, and gives the later ones the numbers before.
const TAKE_OUT: &str = "
def take_out(number):
    (table,) = sql.execute('SELECT table_name FROM ledger WHERE seq = ?', (number,)).fetchone()
    sql.execute(f'DELETE FROM \"{table}\" WHERE rowid = ?', (number,))
    sql.execute('DELETE FROM ledger WHERE seq = ?', (number,))
    for (later,) in sql.execute('SELECT seq FROM ledger WHERE seq > ? ORDER BY seq', (number,)).fetchall():
        (table,) = sql.execute('SELECT table_name FROM ledger WHERE seq = ?', (later,)).fetchone()
        sql.execute(f'UPDATE \"{table}\" SET rowid = ? WHERE rowid = ?', (later - 1, later))
        sql.execute('UPDATE ledger SET seq = ? WHERE seq = ?', (later - 1, later))
";

/// A run with two signatures, and its id.
fn signed_by_two() -> (Team, String) {
    let team = Team::new(2);
    let bob = team.sign(&team.request(), BOB, "bob", &[]);
    let result = team.run(&[&bob]).exits(0).document();
    let id = result["run_id"].as_str().unwrap().to_owned();
    (team, id)
}

fn signers(home: &Home) -> String {
    home.path().join("allowed_signers").to_str().unwrap().to_owned()
}

/// What the verifier of case files says of the run, with a genuine end.
fn case_says(home: &Home, id: &str) -> (i32, String) {
    case(home, id);
    python_says(&home.path().join("case.zip"), &["--allowed-signers", &signers(home)])
}

/// The states of the authorization and of the review.
fn two_states(home: &Home, id: &str) -> Vec<(String, String)> {
    let (code, document) = verified(home, id, &signers(home), &[]);
    assert_eq!(code, 6);
    let owned = states(&document).into_iter().map(|(kind, state)| (kind.into(), state.into()));
    owned.filter(|(kind, _): &(String, String)| kind != "run_end").collect()
}

#[test]
fn a_review_cannot_be_taken_out() {
    let (team, id) = signed_by_two();
    let document = team.home.texts("SELECT document FROM signatures ORDER BY id", ());
    let approval: Value = serde_json::from_str(&document[0]).unwrap();
    let digest = countersign::plan::Digest::of(document[1].as_bytes()).to_string();
    assert_eq!((&approval["required"], &approval["reviews"]), (&json!(2), &json!([digest])));
    let take_out =
        "take_out(sql.execute(\"SELECT id FROM signatures WHERE kind = 'review'\").fetchone()[0])";
    forge(&team.home, &format!("{TAKE_OUT}{take_out}"));
    assert_eq!(two_states(&team.home, &id), [("authorization".into(), "bytes_differ".into())]);
    let (code, said) = case_says(&team.home, &id);
    assert!(code == 1 && said.contains("of the authorization: what was signed"), "{said}");
}

/// A genuine signature of the second person about another approval of the same plan.
#[test]
fn a_review_of_another_approval_does_not_count() {
    let (team, id) = signed_by_two();
    let genuine = team.home.texts("SELECT document FROM signatures WHERE kind = 'review'", ());
    let mut other: Value = serde_json::from_str(&genuine[0]).unwrap();
    other["binding"]["mode"] = json!("guided");
    let document = countersign::plan::canonical_json(&other);
    let signature = team.signature("bob", &document);
    let given = json!({ "document": document, "signature": signature }).to_string();
    forge(
        &team.home,
        &format!(
            "import json\ngiven = json.loads({given:?})\n\
             sql.execute(\"UPDATE signatures SET document = ?, signature = ? WHERE kind = 'review'\", (given['document'], given['signature']))"
        ),
    );
    let states = two_states(&team.home, &id);
    assert_eq!(states[1], ("review".into(), "bytes_differ".into()));
    // Also where the authorization is of a version that did not name reviews.
    let (code, said) = review_difference(&team.home, &id);
    assert!(code == 0 && said.contains("what was signed is not what the records say"), "{said}");
}

/// What the verifier says of the review alone.
fn review_difference(home: &Home, id: &str) -> (i32, String) {
    let folder = case(home, id);
    let script = "import sys; sys.path.insert(0, sys.argv[1]); import verify_signatures as v\n\
                  rows, digests, _ = v.read(sys.argv[2])\n\
                  print([v.difference(row, seq, rows, digests) for seq, row in rows['signatures'].items() if row['kind'] == 'review'])";
    let output =
        program("python3", &["-B", "-c", script, &verifiers(), folder.to_str().unwrap()], b"");
    let said = format!("{output:?}");
    (output.status.code().unwrap(), said)
}

/// Whether a key had expired is judged by the time that was signed, and not by that of the record.
#[test]
fn nobody_without_the_key_dates_a_signature_back() {
    let (team, id) = signed_by_two();
    team.allow(&[(ADA, "ada", ""), (BOB, "bob", "valid-before=\"20250101\"")]);
    assert_eq!(two_states(&team.home, &id)[1], ("review".into(), "expired".into()));
    let date_back =
        "sql.execute(\"UPDATE signatures SET timestamp = 1700000000000 WHERE kind = ?\", (KIND,))";
    forge(&team.home, &date_back.replace("KIND", "'review'"));
    assert_eq!(two_states(&team.home, &id)[1], ("review".into(), "bytes_differ".into()));
    let (code, said) = review_difference(&team.home, &id);
    assert!(code == 0 && said.contains("what was signed is not what the records say"), "{said}");
    forge(&team.home, &date_back.replace("KIND", "'authorization'"));
    assert_eq!(two_states(&team.home, &id)[0].1, "bytes_differ");
    let (code, said) = case_says(&team.home, &id);
    assert!(code == 1 && said.contains("an earlier time than what was signed"), "{said}");
}

#[test]
fn a_record_names_the_key_and_the_request_that_were_signed() {
    for change in [
        "fingerprint = replace(fingerprint, substr(fingerprint, 8, 20), 'AAAAAAAAAAAAAAAAAAAA')",
        "request_id = '00000000-0000-4000-8000-000000000000'",
        "principal = 'carol'",
    ] {
        let (team, id) = signed_by_two();
        forge(
            &team.home,
            &format!("sql.execute(\"UPDATE signatures SET {change} WHERE kind = 'review'\")"),
        );
        assert_eq!(two_states(&team.home, &id)[1], ("review".into(), "bytes_differ".into()));
        let (code, said) = case_says(&team.home, &id);
        assert!(
            code == 1 && said.contains("of the review: ") && said.starts_with("CHANGED: "),
            "{change}: {said}"
        );
    }
}

/// What was signed says nothing about records beside it that were changed or removed, so these are verified, too.
#[test]
fn signatures_beside_changed_records_are_not_enough() {
    let (home, key) = signing_home();
    let result = run(&home).exits(0).document();
    let id = result["run_id"].as_str().unwrap();
    let signers = allowed(&home, &[format!("{ADA} {}", public(&key))]);
    let (code, document) = verified(&home, id, &signers, &[]);
    assert_eq!((code, &document["difference"]), (0, &Value::Null));
    super::reasons::tamper(&home, "executions", "outcome = 'failed' WHERE step_id = 'look'");
    for subject in [id, "head"] {
        let (code, document) = verified(&home, subject, &signers, &[]);
        let states = states(&document);
        assert!(code == 6 && states.iter().all(|it| it.1 == "valid"), "{document:#}");
        let difference = document["difference"].as_str().unwrap();
        assert!(difference.contains("of executions is not what was written"), "{difference}");
    }
    let text = home.run(["evidence", "verify-signature", id, "--allowed-signers", &signers]);
    assert!(text.exits(6).stdout.starts_with("The evidence was changed. First difference: row "));
}

#[test]
fn what_is_not_signed_although_others_are_is_listed() {
    let (home, key) = signing_home();
    let signers = allowed(&home, &[format!("{ADA} {}", public(&key))]);
    let again = || {
        let _ = std::fs::remove_file(home.file("new.txt"));
        run(&home).exits(0).document()
    };
    again();
    home.settings("");
    let unsigned = again();
    settings(&home, &key, &["authorizations", "run_ends"]);
    again();
    let all = ["evidence", "verify-signature", "--all", "--allowed-signers", &signers];
    let document = home.json(all).exits(6).document();
    let without: Vec<_> = document["signatures"].as_array().unwrap().iter().collect();
    let without: Vec<_> = without.iter().filter(|it| it["state"] == "unsigned").collect();
    assert_eq!(without.len(), 2, "{document:#}");
    let id = unsigned["run_id"].as_str().unwrap();
    assert_eq!((&without[1]["kind"], &without[1]["run_id"]), (&json!("run_end"), &json!(id)));
    let authorization = home.texts("SELECT authorization_id FROM runs WHERE id = ?1", [id]);
    assert_eq!(without[0]["authorization_id"], json!(authorization[0]));
    let text = home.run(all).exits(6).stdout;
    assert!(text.contains(&format!("the end of run {id} is not signed")), "{text}");
}

#[test]
fn evidence_that_is_not_there_has_no_signatures() {
    let home = Home::new();
    let line = ["evidence", "verify-signature", "--all", "--allowed-signers", "list"];
    assert_eq!(home.json(line).exits(4).error_code(), "E401");
}

#[test]
fn the_verifier_says_what_is_not_signed_or_cannot_be_used() {
    let (home, key) = signing_home();
    settings(&home, &key, &["authorizations"]);
    let result = run(&home).exits(0).document();
    let id = result["run_id"].as_str().unwrap();
    let signers = allowed(&home, &[format!("{ADA} {}", public(&key))]);
    let (code, said) = case_says(&home, id);
    assert!(
        code == 1 && said.starts_with("UNSIGNED: the end of the run; signed: authorization by"),
        "{said}"
    );
    home.json(["evidence", "sign", id]).exits(0);
    let (code, said) = case_says(&home, id);
    assert!(code == 0 && said.contains("end of the run by ada@example.org"), "{said}");
    assert!(said.contains("revoked keys: NOT CHECKED"), "{said}");

    let archive = home.path().join("case.zip");
    let revoked = key.with_extension("pub");
    let more = ["--allowed-signers", &signers, "--revoked", revoked.to_str().unwrap()];
    let (code, said) = python_says(&archive, &more);
    assert!(code == 1 && said.contains("ssh-keygen refuses it for ada@example.org"), "{said}");
    let none = home.write("none", "");
    let more = ["--allowed-signers", &signers, "--revoked", none.to_str().unwrap()];
    let (code, said) = python_says(&archive, &more);
    assert!(code == 0 && said.contains("revoked keys: none of them"), "{said}");

    let folder = home.path().to_str().unwrap();
    for (path, list) in [(&archive, "absent"), (&archive, folder), (&home.database(), &*signers)] {
        let (code, said) = python_says(path, &["--allowed-signers", list]);
        assert!(code == 2 && said.starts_with("UNUSABLE: "), "{said}");
    }
    let python = succeeds("python3", &["-c", "import sys; print(sys.executable)"]);
    let verifier = format!("{}/verify.py", verifiers());
    let line = ["-i", "PATH=/nowhere", python.trim(), "-B", &verifier, archive.to_str().unwrap()];
    let line: Vec<_> = line.iter().copied().chain(["--allowed-signers", &signers]).collect();
    let output = program("env", &line, b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("no ssh-keygen"), "{output:?}");
}

/// Names that look like others are marked, and the mark is no text of the name.
#[test]
fn names_of_signers_are_shown_once() {
    let (home, key) = signing_home();
    settings(&home, &key, &["authorizations"]);
    let result = run(&home).exits(0).document();
    let id = result["run_id"].as_str().unwrap();
    let who = "\u{430}da";
    let shown = key.to_str().unwrap();
    home.json(["evidence", "sign", id, "--key", shown, "--principal", who]).exits(0);
    let signers = allowed(&home, &[format!("{who} {}", public(&key))]);
    let line = ["evidence", "verify-signature", id, "--allowed-signers", &signers];
    let text = home.run(line).exits(6).stdout;
    assert!(text.contains("\u{430}⟨U+0430⟩da") && !text.contains("U+27E8"), "{text}");
}
