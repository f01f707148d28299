//! What one login may do, and what it must not do to the others.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

use countersign::plan::Digest;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{add_executions, name, origin, push, with_password};
use crate::harness::home::{Done, Home};
use crate::harness::postgres::Postgres;

/// A chain as a program makes it that knows the format.
struct Chain {
    origin: String,
    rows: Vec<String>,
    head: [u8; 32],
}

impl Chain {
    fn new(id: &str) -> Self {
        let origin = format!("countersign/evidence/{id}");
        let mut chain = Self { origin, rows: Vec::new(), head: [0; 32] };
        chain.add("database_ids", json!({ "id": id }));
        chain
    }

    /// Adds a record with these columns.
    fn add(&mut self, table: &str, mut columns: Value) -> &mut Self {
        let number = self.rows.len() + 1;
        columns["row"] = number.into();
        let entry = json!({ "columns": columns, "table": table }).to_string();
        let mut link = Sha256::new();
        link.update(self.head);
        link.update(&entry);
        self.head = link.finalize().into();
        self.row(number, table, &format!("'{}'", entry.replace('\'', "''")));
        self
    }

    /// Adds a record that claims to be purged.
    fn add_purged(&mut self, table: &str) -> &mut Self {
        self.row(self.rows.len() + 1, table, "NULL");
        self
    }

    fn row(&mut self, number: usize, table: &str, entry: &str) {
        let hash = Digest::from_bytes(self.head).hex();
        self.rows.push(format!(
            "('{}', {number}, '{table}', decode('{hash}', 'hex'), {entry})",
            self.origin
        ));
    }

    fn sql(&self) -> String {
        let mut sql =
            "INSERT INTO countersign.ledger (origin, sequence, table_name, hash, entry) VALUES "
                .to_owned();
        write!(sql, "{}", self.rows.join(", ")).unwrap();
        sql
    }
}

/// The columns of an execution.
fn execution() -> Value {
    json!({
        "id": "11111111-d6b2-410e-a477-1acc9fec4af0", "run_id": "bcbfdbd5-056e-45ef-b2d7-759fd077420f",
        "step_id": "s", "step_index": 0, "tool_name": "shell", "about": "heron", "timestamp": 1_795_949_746_939_i64,
        "duration_ms": 3, "outcome": "succeeded", "success": 1, "risk_level": "safe", "arguments_json": "{}",
    })
}

fn search(home: &Home, postgres: &Postgres, words: &[&str]) -> Done {
    let url = postgres.url("reader", "");
    let mut arguments = vec!["evidence", "search", "--limit", "5000"];
    arguments.extend(words);
    arguments.extend(["--team", &url]);
    with_password(home, &arguments)
}

/// Nothing that no program can read gets into a chain, where it would stay.
#[test]
fn a_record_that_nobody_can_read_is_refused() {
    let postgres = Postgres::start();
    let mut count = 0;
    let mut insert = |columns: Value| {
        count += 1;
        let mut chain = Chain::new(&format!("00000000-0000-4000-8000-{count:012}"));
        postgres.refused("other", &chain.add("executions", columns).sql())
    };
    assert_eq!(insert(execution()), None);
    for (field, value) in [
        ("step_index", json!(-1)),
        ("step_index", json!(1e300)),
        ("outcome", json!("nonsense\n")),
        ("outcome", json!(7)),
        ("id", json!("")),
        ("id", json!("x\u{1b}[31m")),
        ("run_id", json!("bcbfdbd5-056e-45ef-b2d7-759fd077420f\n")),
        ("about", json!({ "x": 1 })),
        ("tool_name", json!(["a"])),
        ("timestamp", json!("1795949746939")),
        ("timestamp", json!(i64::MAX)),
        ("timestamp", json!(-1)),
        ("timestamp", json!(1.5)),
        ("duration_ms", json!(-5)),
        ("exit_code", json!("three")),
        ("error_message", json!({})),
        ("host", json!(1)),
        ("arguments_json", json!({ "a": 1 })),
    ] {
        let mut columns = execution();
        columns[field] = value.clone();
        let said = insert(columns).unwrap_or_else(|| panic!("{field}: {value}"));
        assert!(
            said.contains("does not belong") || said.contains("invalid input"),
            "{field} {value}: {said}"
        );
    }
    for field in ["id", "run_id", "step_index", "tool_name", "about", "timestamp", "outcome"] {
        let mut columns = execution();
        columns.as_object_mut().unwrap().remove(field);
        assert!(insert(columns).is_some(), "{field} is missing");
    }
}

/// One that is there nevertheless, because the owner put it there or an earlier version took it, hides no other hit.
#[test]
fn an_unreadable_record_is_named_and_hides_no_other() {
    let postgres = Postgres::start();
    let home = origin(20, 3);
    push(&postgres, &home);
    let before = search(&home, &postgres, &[]).exits(0).lines();
    let mut chain = Chain::new("00000000-0000-4000-8000-000000000001");
    let sql = chain.add("executions", execution()).sql();
    postgres.sql(&format!(
        "ALTER TABLE countersign.ledger DISABLE TRIGGER USER; ALTER TABLE countersign.executions DISABLE TRIGGER USER;
         {};
         UPDATE countersign.ledger SET entry = replace(entry, 'succeeded', 'nonsense') WHERE origin = '{1}';
         INSERT INTO countersign.executions (origin, sequence, id, tool_name, timestamp, success, duration_ms, run_id, step_id,
             step_index, about, outcome, risk_level)
         VALUES ('{1}', 2, 'x', 'shell', 9000000000000, true, 1, 'r', 's', 0, '', 'nonsense', 'safe')",
        sql, chain.origin
    ));
    let done = search(&home, &postgres, &[]).exits(0);
    assert!(
        done.stderr.contains(&format!("Record 2 of {} cannot be read", chain.origin)),
        "{done:?}"
    );
    assert_eq!(done.lines(), before);
}

/// A program decides how long the codes of its messages are, and an entry of an index has a limit.
#[test]
fn long_codes_and_names_are_pushed_and_found() {
    let postgres = Postgres::start();
    let home = origin(5, 1);
    let long: String = (0..300).map(|n: u32| Digest::of(&n.to_le_bytes()).hex()).collect();
    let mut chain = Chain::new("00000000-0000-4000-8000-000000000002");
    let mut columns = execution();
    columns["error_code"] = long.clone().into();
    let id = columns["id"].clone();
    chain.add("executions", columns);
    chain.add("diagnostics", json!({ "execution_id": id, "code": long }));
    chain.add("runs", json!({
        "id": execution()["run_id"], "plan_digest": "d", "plan_id": long, "authorization_id": "a", "workspace": "/",
        "mode": "automatic", "timestamp": 1_795_949_746_939_i64,
    }));
    assert_eq!(postgres.refused("other", &chain.sql()), None);
    // As long as a line of a command can be.
    for filter in ["--code", "--plan"] {
        let found = search(&home, &postgres, &[filter, &long]).exits(0).lines();
        assert_eq!(found.len(), 1, "{filter}");
        let other = format!("{}x", &long[..long.len() - 1]);
        assert!(
            search(&home, &postgres, &[filter, &other]).exits(0).lines().is_empty(),
            "{filter}"
        );
    }
}

/// Where everybody may create functions, as before PostgreSQL 15, none of them runs in another one's search.
#[test]
fn functions_of_others_are_not_called() {
    let postgres = Postgres::start();
    let home = origin(20, 3);
    push(&postgres, &home);
    let before = search(&home, &postgres, &["error"]).exits(0).lines();
    assert!(!before.is_empty());
    postgres.sql("GRANT CREATE ON SCHEMA public TO PUBLIC");
    for function in [
        "to_tsquery(text, text) RETURNS tsquery",
        "to_regnamespace(text) RETURNS regnamespace",
        "has_schema_privilege(text, text) RETURNS boolean",
        "lower(varchar) RETURNS text",
        "pg_advisory_xact_lock(integer) RETURNS void",
        "hashtext(varchar) RETURNS integer",
        "unnest(text) RETURNS text",
    ] {
        let made = postgres.refused(
            "other",
            &format!("CREATE FUNCTION public.{function} LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'caught'; END $$"),
        );
        assert_eq!(made, None);
    }
    // Nor by a path that somebody else has set.
    postgres.sql("ALTER ROLE reader SET search_path = public, pg_catalog; ALTER ROLE writer SET search_path = public, pg_catalog");
    assert_eq!(search(&home, &postgres, &["error"]).exits(0).lines(), before);
    add_executions(&home, 3, 4);
    assert_eq!(push(&postgres, &home)["ok"], true);
    let url = postgres.url("reader", "");
    with_password(&home, &["evidence", "verify", "--team", &url]).exits(0);
    // The script takes that right away.
    postgres.set_up();
    let made = "CREATE FUNCTION public.more() RETURNS text LANGUAGE sql AS 'SELECT 1::text'";
    assert!(postgres.refused("other", made).unwrap().contains("permission denied"));
}

/// What another login has spoilt of its own evidence is no difference of this one.
#[test]
fn one_evidence_is_verified_alone() {
    let postgres = Postgres::start();
    let home = origin(5, 1);
    push(&postgres, &home);
    let mut chain = Chain::new("00000000-0000-4000-8000-000000000003");
    assert_eq!(postgres.refused("other", &chain.add_purged("blobs").sql()), None);
    let url = postgres.url("reader", "");
    let verify = |more: &[&str]| {
        let mut arguments = vec!["evidence", "verify", "--team", &url];
        arguments.extend(more);
        with_password(&home, &arguments)
    };
    verify(&[]).exits(6);
    let own = name(&home);
    for origin in [&own, own.rsplit('/').next().unwrap()] {
        let document = verify(&["--origin", origin]).exits(0).document();
        assert_eq!(
            (&document["ok"], &document["origins"][0]["origin"]),
            (&true.into(), &json!(own))
        );
        assert_eq!(document["origins"].as_array().unwrap().len(), 1);
    }
    verify(&["--origin", &chain.origin]).exits(6);
}

/// Who knows the id of an evidence can take its name before its first push, and is not taken for it.
#[test]
fn a_name_that_is_taken_is_no_other_history() {
    let postgres = Postgres::start();
    let home = origin(5, 1);
    let own = name(&home);
    let mut chain = Chain::new(own.rsplit('/').next().unwrap());
    assert_eq!(postgres.refused("other", &chain.add("authorization_uses", json!({})).sql()), None);
    let url = postgres.url("writer", "");
    let done = with_password(&home, &["evidence", "push", &url]).exits(4);
    assert!(done.stdout.contains("of another login"), "{done:?}");
    assert!(done.stderr.contains("pushed_by"), "{done:?}");
    // Other names are no names of evidence.
    for id in ["x", "00000000-0000-4000-8000-00000000000\n", ""] {
        let said = postgres.refused("other", &Chain::new(id).sql()).unwrap();
        assert!(said.contains("does not belong"), "{id:?}: {said}");
    }
}

/// Settings of a login or of the database for other programs.
#[test]
fn settings_of_a_login_change_nothing() {
    let postgres = Postgres::start();
    let home = origin(5, 1);
    for setting in [
        "standard_conforming_strings = off",
        "default_transaction_read_only = on",
        "default_transaction_isolation = serializable",
        "bytea_output = escape",
        "DateStyle = German",
        "search_path = countersign, public",
    ] {
        postgres.sql(&format!("ALTER ROLE writer SET {setting}; ALTER ROLE reader SET {setting}"));
    }
    assert_eq!(push(&postgres, &home)["ok"], true);
    let url = postgres.url("reader", "");
    with_password(&home, &["evidence", "verify", "--team", &url]).exits(0);
    assert!(!search(&home, &postgres, &[]).exits(0).lines().is_empty());
}

/// A login that holds what others need is waited for, and not for ever.
#[test]
fn a_lock_of_another_login_is_not_waited_for_without_end() {
    let postgres = Postgres::start();
    let home = origin(5, 1);
    // The number of this evidence's first record is taken by a transaction that does not end.
    let mut holder =
        postgres.client("admin").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = holder.stdin.take().unwrap();
    writeln!(stdin, "BEGIN; LOCK TABLE countersign.ledger IN SHARE MODE;\n\\echo held").unwrap();
    let mut said = [0; 5];
    holder.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    let url = postgres.url("writer", "");
    let done = with_password(&home, &["evidence", "push", &url]).exits(4);
    assert!(done.document()["error"]["message"].to_string().contains("lock timeout"), "{done:?}");
    drop(stdin);
    holder.wait().unwrap();
    assert_eq!(push(&postgres, &home)["ok"], true);
}

/// A server that only ever gives notices has not answered.
#[test]
fn a_server_that_babbles_is_left() {
    let home = origin(5, 1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let babble = move || {
        let (mut stream, _) = listener.accept().unwrap();
        let notices = b"N\0\0\0\x05\0".repeat(1_000);
        // Until the client has left.
        while stream.write_all(&notices).is_ok() {}
    };
    let server = std::thread::Builder::new().name("babble".to_owned()).spawn(babble).unwrap();
    let url = format!("postgres://ada@127.0.0.1:{port}/d?sslmode=disable&connect_timeout=2");
    let done = with_password(&home, &["evidence", "push", &url]).exits(4);
    assert!(done.document()["error"]["message"].to_string().contains("within 2 s"), "{done:?}");
    server.join().unwrap();
}
