//! Why a signature does not count.

use super::*;

/// The verdict about the authorization of a run with this list of allowed signers.
fn verdict(home: &Home, run: &str, lines: &[String], more: &[&str]) -> (String, String) {
    let signers = allowed(home, lines);
    let (code, document) = verified(home, run, &signers, more);
    let first = &document["signatures"][0];
    assert_eq!(code == 0, document["ok"] == true, "{document:#}");
    assert_eq!(first["why"].is_null(), first["state"] == "valid", "{document:#}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&first["state"]), text(&first["why"]))
}

#[test]
fn each_reason_has_a_word() {
    let (home, key) = signing_home();
    let result = run(&home).exits(0).document();
    let id = result["run_id"].as_str().unwrap();
    let (mine, other) = (public(&key), public(&super::key(&home, "other", "")));
    let krl = home.path().join("revoked");
    let krl = krl.to_str().unwrap();
    succeeds("ssh-keygen", &["-q", "-k", "-f", krl, key.with_extension("pub").to_str().unwrap()]);
    for (lines, more, state, why) in [
        (vec![format!("{ADA} {mine}")], &[][..], "valid", ""),
        (vec![format!("{ADA} {other}"), format!("{ADA} {mine}")], &[][..], "valid", ""),
        (vec![format!("{ADA} {other}")], &[][..], "wrong_key", "may sign, but not with SHA256:"),
        (vec![format!("bob {mine}")], &[][..], "not_allowed", "not in the list"),
        (vec![String::new()], &[][..], "not_allowed", "not in the list"),
        (vec![format!("{ADA} namespaces=\"git\" {mine}")], &[][..], "not_allowed", "not permitted"),
        (vec![format!("{ADA} valid-before=\"20200101\" {mine}")], &[][..], "expired", "expired"),
        (
            vec![format!("{ADA} valid-after=\"20990101\" {mine}")],
            &[][..],
            "not_yet_valid",
            "not yet",
        ),
        (vec![format!("{ADA} {mine}")], &["--revoked", krl][..], "revoked", "is revoked"),
    ] {
        let found = verdict(&home, id, &lines, more);
        assert_eq!(found.0, state, "{lines:?}: {found:?}");
        assert!(found.1.contains(why), "{lines:?}: {found:?}");
    }
    // A list that cannot be read decides nothing.
    let line = ["evidence", "verify-signature", id, "--allowed-signers", "absent"];
    assert!(home.json(line).exits(5).stdout.contains("absent"));
}

#[test]
fn what_is_not_signed_is_no_success() {
    let (home, key) = signing_home();
    let lines = [format!("{ADA} {}", public(&key))];
    home.settings("");
    let result = run(&home).exits(0).document();
    let id = result["run_id"].as_str().unwrap();
    let (state, why) = verdict(&home, id, &lines, &[]);
    assert!(
        state == "unsigned"
            && why.starts_with("the authorization ")
            && why.ends_with(" is not signed"),
        "{why}"
    );
    assert_eq!(verdict(&home, "head", &lines, &[]).0, "unsigned");
    let signers = allowed(&home, &lines);
    let all = ["evidence", "verify-signature", "--all", "--allowed-signers", &signers];
    assert_eq!(home.json(all).exits(6).document()["ok"], false);
    let unknown = ["evidence", "verify-signature", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"];
    home.json(unknown.into_iter().chain(["--allowed-signers", &signers])).exits(5);
    assert_eq!(home.json(["evidence", "show", id]).exits(0).document().get("signatures"), None);
}

/// Changes rows as another program that restores the triggers afterwards.
pub(super) fn tamper(home: &Home, table: &str, change: &str) {
    let sql = home.sql();
    let name = format!("{table}_refuses_update");
    let read = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let trigger: String = sql.query_row(read, [&name], |row| row.get(0)).unwrap();
    sql.execute_batch(&format!("DROP TRIGGER {name}; UPDATE {table} SET {change}; {trigger};"))
        .unwrap();
}

#[test]
fn a_changed_record_or_signature_does_not_count() {
    for (table, change, why) in [
        ("authorizations", "workspace = '/elsewhere'", "signed record was changed"),
        ("authorizations", "expires_at = expires_at + 1", "signed record was changed"),
        ("signatures", "principal = 'eve'", "record of the signature was changed"),
        ("signatures", "document = replace(document, 'approved', 'rejected')", "was changed"),
        ("signatures", "signature = replace(signature, 'U1N', 'U1M')", "was changed"),
    ] {
        let (home, key) = signing_home();
        let result = run(&home).exits(0).document();
        let id = result["run_id"].as_str().unwrap();
        let lines = [format!("{ADA} {}", public(&key))];
        assert_eq!(verdict(&home, id, &lines, &[]).0, "valid");
        tamper(&home, table, change);
        let (state, said) = verdict(&home, id, &lines, &[]);
        assert_eq!(state, "bytes_differ", "{change}");
        assert!(said.contains(why), "{change}: {said}");
    }
}

/// Evidence that was changed is not signed.
#[test]
fn changed_evidence_is_not_signed() {
    let (home, _) = signing_home();
    run(&home).exits(0);
    tamper(&home, "decisions", "note = 'another'");
    let done = home.json(["evidence", "sign", "head"]).exits(6);
    assert!(done.stdout.contains("so it is not signed"), "{done:?}");
}
