//! A client that does not do what this program does.

use super::{name, origin, push, records, with_password};
use crate::harness::postgres::Postgres;

const TABLES: [&str; 14] = [
    "ledger",
    "origin_roles",
    "contents",
    "executions",
    "intents",
    "texts",
    "files",
    "codes",
    "plans",
    "runs",
    "run_ends",
    "authorizations",
    "decisions",
    "attempts",
];

#[test]
fn a_writer_can_only_continue_a_chain() {
    let postgres = Postgres::start();
    let [home, other] = [1, 2].map(|seed| origin(40, seed));
    push(&postgres, &home);
    let all = "SELECT count(*), max(sequence), md5(string_agg(hash::text, '' ORDER BY sequence)) FROM countersign.ledger";
    let before = postgres.sql(all);
    let refused = |login: &str, sql: &str, why: &str| {
        let said = postgres.refused(login, sql).unwrap_or_else(|| panic!("{login}: {sql}"));
        assert!(said.contains(why), "{sql}: {said}");
    };
    // One that has every privilege, and is no owner.
    postgres.sql(
        "CREATE ROLE mallory LOGIN; GRANT USAGE ON SCHEMA countersign TO mallory;
                  GRANT ALL ON ALL TABLES IN SCHEMA countersign TO mallory",
    );
    for table in TABLES {
        let table = format!("countersign.{table}");
        let column = if table.ends_with("contents") {
            "text"
        } else if table.ends_with("roles") {
            "role"
        } else {
            "origin"
        };
        for sql in [
            format!("UPDATE {table} SET {column} = 'x'"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ] {
            refused("writer", &sql, "permission denied");
            refused("reader", &sql, "permission denied");
            refused("mallory", &sql, "never changed");
            refused("admin", &sql, "never changed");
        }
        if !table.ends_with("ledger") && !table.ends_with("contents") {
            refused("writer", &format!("INSERT INTO {table} DEFAULT VALUES"), "permission denied");
        }
        refused("reader", &format!("INSERT INTO {table} DEFAULT VALUES"), "permission denied");
        refused("writer", &format!("SELECT * FROM {table}"), "permission denied");
    }
    refused(
        "writer",
        "INSERT INTO countersign.ledger (origin, sequence, table_name, hash, entry, pushed_by)
                       VALUES ('x', 1, 'runs', '\\x00', '', 'ada')",
        "permission denied",
    );
    refused(
        "writer",
        "INSERT INTO countersign.contents VALUES ('\\x00', 'other text')",
        "contents_digest",
    );

    let (name, last) = (name(&home), records(&home));
    let insert = |origin: &str, rows: &str| {
        format!(
            "INSERT INTO countersign.ledger (origin, sequence, table_name, hash, entry)
                 SELECT '{origin}', * FROM (VALUES {rows}) AS new"
        )
    };
    let entry = |number: u64| {
        format!(
            "{{\"columns\":{{\"id\":{number},\"run_id\":\"r\"}},\"table\":\"authorization_uses\"}}"
        )
    };
    let head = format!("(SELECT hash FROM countersign.head_of('{name}'))");
    // What the next record would be; `previous` is the hash before it.
    let row = |number: u64, previous: &str, entry: &str, table: &str| {
        format!(
            "({number}::bigint, '{table}', sha256({previous} || convert_to('{entry}', 'UTF8')), '{entry}')"
        )
    };
    let uses = "authorization_uses";
    for (rows, what) in [
        (row(last + 2, &head, &entry(last + 2), uses), "a gap"),
        (row(last + 1, "'\\x00'::bytea", &entry(last + 1), uses), "another row before"),
        (row(last + 1, &head, &entry(last + 1), "runs"), "another table"),
        (format!("({}::bigint, '{uses}', {head}, '{}')", last + 1, entry(last + 1)), "no link"),
        (format!("({}::bigint, '{uses}', {head}, NULL)", last + 1), "a missing text"),
        (
            format!(
                "{}, {}",
                row(last + 1, &head, &entry(last + 1), uses),
                row(last + 3, &head, &entry(last + 3), uses)
            ),
            "a gap within a batch",
        ),
    ] {
        let said = postgres.refused("writer", &insert(&name, &rows));
        assert!(
            said.as_ref().is_some_and(|it| it.contains("does not continue the chain")),
            "{what}: {said:?}"
        );
    }
    // A fork.
    let fork = insert(&name, &row(last, &head, &entry(last), uses));
    refused("writer", &fork, "duplicate key");
    refused(
        "writer",
        &format!("{fork} ON CONFLICT (origin, sequence) DO UPDATE SET entry = 'x'"),
        "permission denied",
    );
    // The same rows under another name, from another login, or as the beginning of a new chain.
    let number = entry(last + 1).replace("authorization_uses", "executions");
    refused(
        "other",
        &insert(&name, &row(last + 1, &head, &entry(last + 1), uses)),
        "another login",
    );
    refused(
        "writer",
        &insert("countersign/evidence/x", &row(2, &head, &entry(2), uses)),
        "begins with row 1",
    );
    let id = "{\"columns\":{\"id\":\"someone\",\"row\":1},\"table\":\"database_ids\"}";
    let genesis = "decode(repeat(''00'', 32), ''hex'')".replace("''", "'");
    refused(
        "writer",
        &insert("countersign/evidence/x", &row(1, &genesis, id, "database_ids")),
        "does not belong",
    );
    let wrong = number.replace(&format!("\"id\":{}", last + 1), "\"id\":1");
    refused(
        "writer",
        &insert(&name, &row(last + 1, &head, &wrong, "executions")),
        "does not belong",
    );
    refused(
        "writer",
        &insert(&name, &row(last + 1, &head, "no JSON,\"table\":\"executions\"}", "executions")),
        "json",
    );
    assert_eq!(postgres.sql(all), before);

    // What continues the chain is taken, also by hand.
    assert_eq!(
        postgres.refused("writer", &insert(&name, &row(last + 1, &head, &entry(last + 1), uses))),
        None
    );
    // And another login has its own.
    let url = postgres.url("other", "");
    let done = with_password(&other, &["evidence", "push", &url]).exits(0);
    assert_eq!(done.document()["total"], records(&other));
}
