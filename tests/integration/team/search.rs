//! What a search of the server finds is what a search of each computer finds.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{executions, name, origin, push, with_password};
use crate::harness::home::{Done, Home};
use crate::harness::postgres::{PASSWORD, Postgres};

/// The ids of executions, with their outcome and the words around a match.
fn facts(lines: &[Value]) -> BTreeSet<String> {
    let fact = |it: &Value| {
        let parts = [
            "execution_id",
            "run_id",
            "plan_id",
            "tool_name",
            "outcome",
            "timestamp_ms",
            "about",
            "risk",
            "changed",
        ];
        parts.map(|name| it[name].to_string()).join(" ")
    };
    lines.iter().map(fact).collect()
}

#[test]
fn a_search_of_the_server_finds_what_each_computer_finds() {
    let postgres = Postgres::start();
    // As many as a search of a computer can list.
    let homes = [1, 2].map(|seed| origin(executions().min(1_000), seed));
    homes.iter().for_each(|home| {
        push(&postgres, home);
    });
    let url = postgres.url("reader", "");
    // Options come before `--`, behind which a word may begin with a sign.
    let run = |home: &Home, line: &[&str], more: &[&str]| {
        let at = line.iter().position(|it| *it == "--").unwrap_or(line.len());
        let (options, words) = line.split_at(at);
        let mut command = home.command();
        command
            .env("PGPASSWORD", PASSWORD)
            .args(["evidence", "search", "--json", "--limit", "5000"]);
        command.args(options).args(more).arg("--evidence").arg(home.evidence()).args(words);
        Done::of(&mut command).exits(0).lines()
    };
    let plan = homes[0].texts("SELECT plan_id FROM runs LIMIT 1", []).remove(0);
    let run_id = homes[0].texts("SELECT run_id FROM executions LIMIT 1", []).remove(0);
    let path =
        homes[0].texts("SELECT target FROM edges WHERE target_kind = 'file' LIMIT 1", []).remove(0);
    let error_code = homes[0]
        .texts("SELECT error_code FROM executions WHERE error_code IS NOT NULL LIMIT 1", [])
        .remove(0);
    let middle =
        homes[0].texts("SELECT CAST(max(timestamp) - 60000 AS TEXT) FROM executions", []).remove(0);
    let searches: &[&[&str]] = &[
        &[],
        &["error"],
        &["erro"],
        &["\"error\""],
        &["--outcome", "failed"],
        &["--tool", "shell", "error"],
        &["--risk", "dangerous"],
        &["--host", "db.internal"],
        &["--host", "DB.Internal"],
        &["--tool", "SHELL"],
        &["--plan", &plan.to_uppercase()],
        &["--by", "Window"],
        &["--code", &error_code],
        &["--plan", &plan],
        &["--run", &run_id],
        &["--code", "E0308"],
        &["--path", &path],
        &["--wrote", "*"],
        &["--by", "window"],
        &["--by", "nobody"],
        &["--loop", &run_id],
        &["--since", &middle],
        &["--until", &middle, "--outcome", "skipped"],
        &["warning", "--", "-error"],
        &["no-such-word-anywhere"],
        &["!!"],
    ];
    let mut found = 0;
    for line in searches {
        let there = run(&homes[0], line, &["--team", &url]);
        let mut expected = BTreeSet::new();
        for home in &homes {
            let lines = run(home, line, &[]);
            let own: Vec<_> =
                there.iter().filter(|it| it["origin"] == name(home)).cloned().collect();
            let excerpts = |lines: &[Value]| {
                lines.iter().map(|it| it["found_in"].to_string()).collect::<Vec<_>>()
            };
            assert_eq!(facts(&own), facts(&lines), "{line:?}");
            assert_eq!(excerpts(&own), excerpts(&lines), "{line:?}");
            expected.extend(facts(&lines));
        }
        assert_eq!(facts(&there), expected, "{line:?}");
        assert!(there.iter().all(|it| it["changed"] == false));
        assert!(
            there.is_sorted_by_key(|it| std::cmp::Reverse(it["timestamp_ms"].as_i64())),
            "{line:?}"
        );
        found += there.len();
    }
    assert!(found > 1_000, "{found}");
    let origin = name(&homes[1]);
    let id = origin.rsplit('/').next().unwrap();
    let one = run(&homes[0], &["--origin", id], &["--team", &url]);
    assert_eq!(facts(&one), facts(&run(&homes[1], &[], &[])));

    // Only the newest are listed, and the rest is counted.
    let done = homes[0]
        .command()
        .env("PGPASSWORD", PASSWORD)
        .args(["evidence", "search", "--limit", "7", "--team", &url])
        .output()
        .unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains(&format!("7 of {} shown", 2 * executions().min(1_000))), "{said}");
}

/// Without an address, the server is that of the settings, which must not have a password.
#[test]
fn the_settings_name_the_server() {
    let postgres = Postgres::start();
    let home = origin(5, 1);
    let run = |words: &[&str]| with_password(&home, words);
    let none = run(&["evidence", "verify", "--team"]).exits(5);
    assert!(none.stdout.contains("no server of a team is named"), "{none:?}");
    home.settings(format!("team = '{}'\n", postgres.url("writer", "")));
    assert_eq!(run(&["evidence", "push"]).exits(0).document()["ok"], true);
    home.settings(format!("zoom = 1.0\nteam = '{}'\n", postgres.url("reader", "")));
    let hits = run(&["evidence", "search", "--outcome", "succeeded", "--team"]).exits(0).lines();
    let address = postgres.url("reader", "");
    let named =
        run(&["evidence", "search", "--outcome", "succeeded", "--team", &address]).exits(0).lines();
    assert_eq!(hits, named);
    assert!(!hits.is_empty());
    let id = hits[0]["execution_id"].as_str().unwrap();
    assert_eq!(run(&["evidence", "show", id, "--team"]).exits(0).document()["origin"], name(&home));
    run(&["evidence", "verify", "--team"]).exits(0);
    // A word behind the option is taken as its address, and nothing is searched.
    let word = run(&["evidence", "search", "--team", "heron"]).exits(5);
    assert!(word.stdout.contains("does not begin with postgres://"), "{word:?}");
    home.settings(format!("team = '{}'\n", postgres.url("reader:wombat", "")));
    let refused = run(&["evidence", "search", "--team"]);
    assert!(refused.stdout.contains("~/.pgpass"), "{refused:?}");
    assert!(!format!("{refused:?}").contains("wombat"), "{refused:?}");
    assert_ne!(refused.code, 0);
}

/// An execution is shown as on its computer.
#[test]
fn an_execution_there_is_that_of_its_computer() {
    let postgres = Postgres::start();
    let [home, other] = [1, 2].map(|seed| origin(60, seed));
    push(&postgres, &home);
    push(&postgres, &other);
    let url = postgres.url("reader", "");
    let show = |id: &str| with_password(&home, &["evidence", "show", id, "--team", &url]);
    let ids = home.texts("SELECT id FROM executions ORDER BY outcome, id LIMIT 30", []);
    for id in &ids {
        let mut there = show(id).exits(0).document();
        let from = there.as_object_mut().unwrap().remove("origin").unwrap();
        assert_eq!(from, name(&home));
        assert_eq!(there, home.json(["evidence", "show", id]).exits(0).document());
    }
    let mut command = home.command();
    command.env("PGPASSWORD", PASSWORD).args(["evidence", "show", &ids[0], "--team", &url]);
    let text = Done::of(&mut command).exits(0).stdout;
    assert!(text.ends_with(&format!("From {}\n", name(&home))), "{text}");
    let none = uuid::Uuid::nil().to_string();
    show(&none).exits(5);
    show(&ids[0][..8]).exits(5);
}

/// The owner of the database can change what is searched, and what is shown comes from the records.
#[test]
fn a_record_that_was_changed_there_is_marked() {
    let postgres = Postgres::start();
    let home = origin(20, 3);
    push(&postgres, &home);
    let id = postgres
        .sql(
            "SELECT id FROM countersign.executions WHERE outcome = 'succeeded' ORDER BY id LIMIT 1",
        )
        .remove(0);
    postgres.sql("ALTER TABLE countersign.ledger DISABLE TRIGGER ALL; ALTER TABLE countersign.executions DISABLE TRIGGER ALL");
    postgres
        .sql(&format!("UPDATE countersign.executions SET outcome = 'denied' WHERE id = '{id}'"));
    let url = postgres.url("reader", "");
    let search = |line: &[&str]| {
        let mut arguments = vec!["evidence", "search", "--team", &url];
        arguments.extend(line);
        let lines = with_password(&home, &arguments).exits(0).lines();
        lines.into_iter().find(|it| it["execution_id"] == *id).unwrap()
    };
    let shown = search(&["--limit", "5000"]);
    assert_eq!((&shown["outcome"], &shown["changed"]), (&"succeeded".into(), &false.into()));
    postgres.sql(&format!(
        "UPDATE countersign.ledger SET entry = replace(entry, '\"succeeded\"', '\"failed\"')
         WHERE table_name = 'executions' AND entry LIKE '%{id}%'"
    ));
    let shown = search(&["--limit", "5000"]);
    assert_eq!((&shown["outcome"], &shown["changed"]), (&"failed".into(), &true.into()));
}
