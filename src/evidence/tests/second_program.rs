//! Another program writes to the database while this one has it open, and adds false grants.

use rusqlite::types::ValueRef;

use super::super::chain::Chain;
use super::super::migrations::in_memory;
use super::fixture::*;
use crate::authorization::{AuthorizationClass, Method};
use crate::evidence::*;
use crate::plan::Digest;
use crate::run::*;

fn write(store: &mut EvidenceStore, text: &str) -> std::result::Result<(), EvidenceError> {
    let (workspace, digest) = ("/home/someone/project", Digest::of(text.as_bytes()));
    store.record_trust(&TrustDecision {
        workspace,
        digest,
        trusted: true,
        shown: None,
        by: AnsweredBy::Window,
        timestamp_ms: 9_000,
    })
}

#[test]
fn a_schema_that_changes_meanwhile_ends_the_writing() {
    for change in [
        "CREATE TRIGGER more BEFORE INSERT ON purges BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TABLE more (a)",
        "DROP TRIGGER purges_refuses_update",
        "PRAGMA legacy_alter_table = ON; ALTER TABLE purges RENAME TO hidden;
         CREATE VIEW purges AS SELECT * FROM hidden;
         CREATE TRIGGER swallow INSTEAD OF INSERT ON purges BEGIN SELECT 1; END",
    ] {
        let home = Home::new();
        let mut store = home.store();
        write(&mut store, "a").unwrap();
        home.raw().execute_batch(change).unwrap();
        let error = write(&mut store, "b").unwrap_err();
        assert!(matches!(error, EvidenceError::Schema { .. }), "{change}: {error}");
        assert!(home.verify().first_bad.is_some(), "{change}");
        let opened = EvidenceStore::open(&home.evidence, &home.secrets);
        assert!(matches!(opened, Err(EvidenceError::Schema { .. })), "{change}");
        let read = EvidenceReader::open(&home.evidence, &home.secrets);
        assert!(matches!(read, Err(EvidenceError::Schema { .. })), "{change}");
    }
}

#[test]
fn writing_continues_after_a_reverted_schema_change() {
    let home = Home::new();
    let mut store = home.store();
    home.raw().execute_batch("CREATE TABLE more (a)").unwrap();
    assert!(write(&mut store, "a").is_err());
    home.raw().execute_batch("DROP TABLE more").unwrap();
    write(&mut store, "a").unwrap();
    assert!(home.verify().ok);
}

/// The schema check, which runs before, would also find these triggers; here only the insert is tested.
#[test]
fn anything_but_one_row_is_an_error() {
    for change in [
        "CREATE TRIGGER t BEFORE INSERT ON purges BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TRIGGER t AFTER INSERT ON purges BEGIN DELETE FROM purges WHERE id = NEW.id; END",
        "CREATE TRIGGER t AFTER INSERT ON purges BEGIN
         INSERT INTO loop_ends VALUES (77, 'l', 'c', 'm', '{}', 1); END",
        "CREATE TRIGGER t AFTER INSERT ON purges BEGIN UPDATE purges SET reason = 'other'; END",
        "CREATE TRIGGER t AFTER INSERT ON ledger BEGIN DELETE FROM ledger WHERE seq = NEW.seq; END",
        "PRAGMA legacy_alter_table = ON; ALTER TABLE purges RENAME TO hidden;
         CREATE VIEW purges AS SELECT * FROM hidden;
         CREATE TRIGGER t INSTEAD OF INSERT ON purges BEGIN SELECT 1; END",
        "PRAGMA legacy_alter_table = ON; ALTER TABLE purges RENAME TO hidden;
         CREATE VIEW purges AS SELECT * FROM hidden;
         CREATE TRIGGER t INSTEAD OF INSERT ON purges BEGIN
         INSERT INTO hidden VALUES (NEW.id, NEW.digest, NEW.reason, NEW.user_name, NEW.timestamp); END",
    ] {
        let conn = in_memory(3).unwrap();
        conn.pragma_update(None, "foreign_keys", false).unwrap();
        let row = || {
            [
                ("digest", ValueRef::Text(b"d")),
                ("reason", ValueRef::Text(b"r")),
                ("timestamp", ValueRef::Integer(1)),
            ]
        };
        for name in [
            "purges_refuses_update",
            "purges_refuses_delete",
            "purges_refuses_replace",
            "ledger_refuses_delete",
        ] {
            conn.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        conn.execute_batch(change).unwrap();
        let error = Chain::of(&conn).unwrap().append(&conn, "purges", &row()).unwrap_err();
        assert!(matches!(error, EvidenceError::NotOneRow { .. }), "{change}: {error}");
    }
}

fn trust(store: &mut EvidenceStore, digest: Digest, trusted: bool) {
    let (workspace, by) = ("/home/someone/project", AnsweredBy::Window);
    let decision =
        TrustDecision { workspace, digest, trusted, shown: None, by, timestamp_ms: 5_000 };
    store.record_trust(&decision).unwrap();
}

#[test]
fn trust_under_another_key_does_not_count() {
    let home = Home::new();
    let digest = Digest::of(b"commands");
    trust(&mut home.store(), digest, true);
    assert_eq!(home.reader().trusted_commands().unwrap().len(), 1);
    assert_eq!(home.reader().trust().unwrap().unproven.len(), 0);
    let other = Home::new();
    drop(other.store());
    let mut reader = EvidenceReader::open(&home.evidence, &other.secrets).unwrap();
    let trust = reader.trust().unwrap();
    assert_eq!((trust.proven.len(), trust.unproven.len()), (0, 1));
}

#[test]
fn trust_in_an_older_format_is_unproven() {
    let home = Home::new();
    let digest = Digest::of(b"commands");
    trust(&mut home.store(), digest, true);
    super::formats::to_the_first_format(&home);
    let trust = home.reader().trust().unwrap();
    assert_eq!((trust.proven.len(), trust.unproven.len()), (0, 1));
    drop(home.store());
    let trust = home.reader().trust().unwrap();
    assert_eq!((trust.proven.len(), trust.unproven.len()), (0, 1), "nor after a migration");
    self::trust(&mut home.store(), digest, true);
    let trust = home.reader().trust().unwrap();
    assert_eq!((trust.proven.len(), trust.unproven.len()), (1, 0));
    self::trust(&mut home.store(), digest, false);
    assert_eq!(home.reader().trust().unwrap(), Trust::default());
}

/// Trusts and revokes a file of commands, and records and revokes a class.
fn revoke_trust_and_a_class(home: &Home) -> uuid::Uuid {
    let mut store = home.store();
    let digest = Digest::of(b"commands");
    trust(&mut store, digest, true);
    trust(&mut store, digest, false);
    let class = AuthorizationClass::read(
        br#"{"tools": ["file_read"], "paths": ["."], "max_risk": "safe", "max_attempts": 1,
             "expires_at": "2099-01-31T12:00:00Z"}"#,
    )
    .unwrap();
    let class_id = uuid::Uuid::new_v4();
    store.record_class(class_id, &class, Method::Window, 1).unwrap();
    assert!(!store.is_class_revoked(class_id).unwrap());
    assert!(
        store.is_class_revoked(uuid::Uuid::new_v4()).unwrap(),
        "a class that was never recorded"
    );
    assert!(store.revoke_class(class_id, 2).unwrap());
    class_id
}

/// Changes a table as a program does that puts its triggers back afterwards.
fn change(conn: &rusqlite::Connection, table: &str, trigger: &str, change: &str) {
    let name = format!("{table}_refuses_{trigger}");
    let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let definition: String = conn.query_row(sql, [&name], |row| row.get(0)).unwrap();
    conn.execute_batch(&format!("DROP TRIGGER {name}; {change}; {definition}")).unwrap();
}

const DELETE_TRUST: &str = "DELETE FROM decisions WHERE decision = 'commands_revoked'";
const DELETE_CLASS: &str = "DELETE FROM authorization_class_revocations";

#[test]
fn deleted_revocation_restores_no_trust() {
    let home = Home::new();
    let class_id = revoke_trust_and_a_class(&home);
    let conn = home.raw();
    change(&conn, "decisions", "delete", DELETE_TRUST);
    change(&conn, "authorization_class_revocations", "delete", DELETE_CLASS);
    let mut store = home.store();
    assert!(store.trusted_commands().unwrap().is_empty());
    assert!(store.is_class_revoked(class_id).unwrap());
    trust(&mut store, Digest::of(b"others"), false);
    assert!(store.trusted_commands().unwrap().is_empty(), "after another revocation");
    trust(&mut store, Digest::of(b"others"), true);
    assert!(home.store().trusted_commands().unwrap().is_empty(), "after it was opened again");
    assert!(!home.verify().ok);
    home.forget_heads();
    assert!(home.reader().trusted_commands().unwrap().is_empty(), "without kept revocations");
}

#[test]
fn changed_revocation_restores_no_trust() {
    let changes = [
        "UPDATE decisions SET note = note || 'x' WHERE decision = 'commands_revoked'",
        "UPDATE decisions SET decision = 'approve' WHERE decision = 'commands_revoked'",
        "UPDATE decisions SET decision = 'walls_revoked' WHERE decision = 'commands_revoked'",
        "UPDATE decisions SET id = 1000000 WHERE decision = 'commands_revoked'",
        "UPDATE decisions SET id = -1 WHERE decision = 'commands_revoked'",
    ];
    for sql in changes {
        let home = Home::new();
        let class_id = revoke_trust_and_a_class(&home);
        change(&home.raw(), "decisions", "update", sql);
        let store = home.store();
        assert!(store.trusted_commands().unwrap().is_empty(), "{sql}");
        assert!(store.is_class_revoked(class_id).unwrap(), "{sql}");
    }
}

#[test]
fn revocation_by_another_program_hides_no_missing_one() {
    let home = Home::new();
    let class_id = revoke_trust_and_a_class(&home);
    let conn = home.raw();
    let copy = "INSERT INTO decisions (id, decision, decided_by, note, timestamp)
                SELECT id, decision, decided_by, note || 'x', timestamp FROM decisions
                WHERE decision = 'commands_revoked'";
    conn.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM decisions").unwrap();
    change(&conn, "decisions", "delete", DELETE_TRUST);
    conn.execute_batch(&copy.replacen("FROM decisions", "FROM kept", 1)).unwrap();
    assert!(home.store().trusted_commands().unwrap().is_empty());
    assert!(home.store().is_class_revoked(class_id).unwrap());
}

#[test]
fn other_rows_may_be_missing_from_grants() {
    let home = Home::new();
    let digest = Digest::of(b"commands");
    trust(&mut home.store(), Digest::of(b"others"), true);
    trust(&mut home.store(), digest, true);
    change(
        &home.raw(),
        "decisions",
        "delete",
        "DELETE FROM decisions WHERE id = (SELECT min(id) FROM decisions)",
    );
    let trusted = home.store().trusted_commands().unwrap();
    assert_eq!(trusted.into_iter().map(|(_, digest)| digest).collect::<Vec<_>>(), [digest]);
}
