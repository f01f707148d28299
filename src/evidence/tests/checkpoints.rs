//! Checkpoints of evidence that grew, and of evidence that another program changed.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, params};
use tlog_tiles::tlog;

use super::fixture::*;
use super::tampering::rewrite;
use crate::evidence::{CheckpointReport, EvidenceError, EvidenceLocation, ledger};
use crate::plan::Digest;
use crate::proof::{SignedCheckpoint, Tree};
use crate::run::{Outcome, PurgeRule, RunEnding};

fn location(home: &Home) -> EvidenceLocation {
    EvidenceLocation::new(&home.evidence, &home.secrets)
}

/// Records a run of a step that writes this file.
fn add_run(home: &Home, path: &str) -> uuid::Uuid {
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, path, "x")]), 2_000);
    let run_id = run.run_id;
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    let files = [effect(path, None, Some(b"x"))];
    run.intend(&result, &files);
    run.record(result, Extra { stdout: Some(b"done"), files: &files, ..Extra::default() });
    run.end(&RunEnding::Completed);
    run_id
}

fn signed(home: &Home) -> SignedCheckpoint {
    location(home).sign_checkpoint(&mut |_, _| {}).unwrap()
}

/// The comparison with an earlier checkpoint.
fn compared(home: &Home, earlier: &SignedCheckpoint) -> CheckpointReport {
    let report = location(home).verify_checkpoint(&earlier.checkpoint, &mut |_, _| {}).unwrap();
    assert_eq!(report.ok, report.difference.is_none());
    report
}

/// What the comparison says where no head is kept, so that only the checkpoint can tell.
fn difference(home: &Home, earlier: &SignedCheckpoint) -> String {
    home.forget_heads();
    compared(home, earlier).difference.unwrap()
}

#[test]
fn a_checkpoint_holds_after_growth_and_purges() {
    let home = Home::new();
    let purged = add_run(&home, "a");
    let first = signed(&home);
    assert_eq!(first.checkpoint.size, home.verify().rows);
    assert_eq!(signed(&home), first, "the same state has the same checkpoint");
    add_run(&home, "b");
    let second = signed(&home);
    assert!(second.checkpoint.size > first.checkpoint.size);
    let rule = PurgeRule { run: Some(purged), ..PurgeRule::default() };
    home.store().purge(&rule, "not needed", 3_000).unwrap();
    for earlier in [&first, &second] {
        let report = compared(&home, earlier);
        assert_eq!((report.difference, report.rows), (None, home.verify().rows));
    }
    // The tree is the same without the rows.
    let mut tree = Tree::default();
    tree.want_root(first.checkpoint.size);
    home.reader().read_tree(second.checkpoint.size, &mut tree).unwrap();
    assert_eq!(tree.root(), second.checkpoint.root);
    assert_eq!(tree.root_at(first.checkpoint.size), Some(first.checkpoint.root));
    // Another computer keeps no head of this evidence.
    home.forget_heads();
    assert_eq!(compared(&home, &second).difference, None);
}

#[test]
fn a_changed_row_is_said_and_not_signed() {
    let home = Home::new();
    add_run(&home, "a");
    let earlier = signed(&home);
    rewrite(&home, "executions", "UPDATE executions SET outcome = 'failed'");
    assert!(difference(&home, &earlier).contains("of executions is not what was written"));
    let refused = location(&home).sign_checkpoint(&mut |_, _| {});
    assert!(matches!(refused, Err(EvidenceError::Unsound { .. })), "{refused:?}");
}

#[test]
fn evidence_that_its_owner_knows_otherwise_is_not_signed() {
    let home = Home::new();
    add_run(&home, "a");
    signed(&home);
    home.forget_heads();
    let refused = location(&home).sign_checkpoint(&mut |_, _| {});
    assert!(matches!(refused, Err(EvidenceError::Unsound { .. })), "{refused:?}");
}

/// Drops the triggers of these tables, makes the change, and lets whoever changes also make the chain anew.
fn forge(home: &Home, change: impl FnOnce(&Connection)) {
    let conn = home.raw();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
    let mut statement = conn.prepare(sql).unwrap();
    let triggers: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    drop(statement);
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    for trigger in triggers {
        conn.execute_batch(&format!("DROP TRIGGER {trigger}")).unwrap();
    }
    change(&conn);
    let sql = "SELECT seq, table_name FROM ledger ORDER BY seq";
    let mut links = conn.prepare(sql).unwrap();
    let links: Vec<(i64, String)> = links
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut head = ledger::GENESIS;
    for (seq, table) in links {
        let mut reader = conn.prepare(&format!("SELECT * FROM {table} WHERE rowid = ?1")).unwrap();
        let entry = ledger::entry_of(&mut reader, &table, seq).unwrap().unwrap();
        head = ledger::link(&head, entry);
        let sql = "UPDATE ledger SET digest = ?1 WHERE seq = ?2";
        conn.execute(sql, params![head.hex(), seq]).unwrap();
    }
    super::super::migrations::guard_tables(&conn).unwrap();
}

#[test]
fn a_chain_that_was_made_anew_is_found() {
    let home = Home::new();
    add_run(&home, "a");
    let earlier = signed(&home);
    add_run(&home, "b");
    let later = signed(&home);
    let rows = later.checkpoint.size;
    forge(&home, |conn| {
        conn.execute_batch("UPDATE executions SET outcome = 'failed' WHERE step_index = 0")
            .unwrap();
    });
    assert!(home.verify().ok, "the chain is sound in itself");
    for (checkpoint, size) in [(&earlier, earlier.checkpoint.size), (&later, rows)] {
        let said = difference(&home, checkpoint);
        assert_eq!(
            said,
            format!(
                "the first {size} records are not those of the checkpoint: the chain was made anew"
            )
        );
    }
}

#[test]
fn a_removed_row_is_found() {
    let home = Home::new();
    add_run(&home, "a");
    let earlier = signed(&home);
    let rows = earlier.checkpoint.size;
    // The last row, with its link: the chain is sound in itself.
    forge(&home, |conn| {
        let sql = "SELECT table_name FROM ledger WHERE seq = ?1";
        let table: String = conn.query_row(sql, [rows as i64], |row| row.get(0)).unwrap();
        let sql = format!(
            "DELETE FROM {table} WHERE rowid = {rows}; DELETE FROM ledger WHERE seq = {rows}"
        );
        conn.execute_batch(&sql).unwrap();
    });
    assert!(home.verify().ok);
    let said = difference(&home, &earlier);
    assert!(
        said.starts_with(&format!("the checkpoint has {rows} records, and {} are", rows - 1)),
        "{said}"
    );
    // A row in between.
    let home = Home::new();
    add_run(&home, "a");
    let earlier = signed(&home);
    forge(&home, |conn| {
        conn.execute_batch("DELETE FROM ledger WHERE table_name = 'execution_artifacts'").unwrap();
        conn.execute_batch("DELETE FROM execution_artifacts").unwrap();
    });
    assert!(difference(&home, &earlier).contains("of the ledger is missing"));
}

#[test]
fn swapped_rows_are_found_even_with_new_links() {
    let home = Home::new();
    add_run(&home, "a");
    add_run(&home, "b");
    let earlier = signed(&home);
    forge(&home, |conn| {
        let row = |which| {
            let sql = format!("SELECT {which}(id) FROM run_ends");
            conn.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        let (one, other) = (row("min"), row("max"));
        assert_ne!(one, other);
        conn.execute_batch(&format!(
            "UPDATE run_ends SET id = -1 WHERE id = {one};
             UPDATE run_ends SET id = {one} WHERE id = {other};
             UPDATE run_ends SET id = {other} WHERE id = -1;"
        ))
        .unwrap();
    });
    assert!(home.verify().ok);
    assert!(difference(&home, &earlier).contains("the chain was made anew"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The evidence and both folders of the user are set back together, which no kept head can show.
#[test]
fn an_earlier_state_put_back_is_found() {
    let home = Home::new();
    add_run(&home, "a");
    let first = signed(&home);
    let kept = tempfile::tempdir().unwrap();
    for (folder, name) in [(&home.evidence, "evidence"), (&home.secrets, "secrets")] {
        copy(folder, &kept.path().join(name));
    }
    add_run(&home, "b");
    let second = signed(&home);
    assert_eq!(compared(&home, &second).difference, None);
    for (folder, name) in [(&home.evidence, "evidence"), (&home.secrets, "secrets")] {
        fs::remove_dir_all(folder).unwrap();
        copy(&kept.path().join(name), folder);
    }
    assert_eq!(compared(&home, &first).difference, None);
    let said = compared(&home, &second).difference.unwrap();
    assert!(said.contains("an earlier state was put back"), "{said}");
    // Grown again to more rows than the checkpoint has.
    add_run(&home, "c");
    add_run(&home, "d");
    assert!(home.verify().rows > second.checkpoint.size);
    let said = compared(&home, &second).difference.unwrap();
    assert!(said.contains("not those of the checkpoint"), "{said}");
}

#[test]
fn other_evidence_is_said_to_be_other() {
    let home = Home::new();
    add_run(&home, "a");
    let other = Home::with_key_of(&home);
    add_run(&other, "a");
    let said = compared(&other, &signed(&home)).difference.unwrap();
    assert!(
        said.starts_with("this is a checkpoint of other evidence, countersign/evidence/"),
        "{said}"
    );
    let none = Home::with_key_of(&home);
    let refused = location(&none).sign_checkpoint(&mut |_, _| {});
    assert!(matches!(refused, Err(EvidenceError::NoEvidence { .. })), "{refused:?}");
}

#[test]
fn the_key_is_private_and_made_once() {
    let home = Home::new();
    add_run(&home, "a");
    assert!(location(&home).existing_signing_key().unwrap().is_none());
    let key = location(&home).signing_key().unwrap().public_pem();
    assert_eq!(location(&home).signing_key().unwrap().public_pem(), key);
    let path = home.secrets.join("signing.key");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        mode(0o640);
        let refused = location(&home).signing_key();
        assert!(matches!(refused, Err(EvidenceError::NotPrivate { .. })), "{refused:?}");
        mode(0o600);
    }
    fs::write(&path, b"short").unwrap();
    let refused = location(&home).signing_key();
    assert!(matches!(refused, Err(EvidenceError::SigningKey { .. })), "{refused:?}");
    let within = fs::read_dir(&home.evidence).unwrap().map(|it| it.unwrap().file_name());
    assert!(!within.into_iter().any(|name| name.to_string_lossy().contains("signing")));
}

/// The largest resident size of this process so far, in KiB.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or_default()
}

/// `cargo test --lib -- proofs_over_a_million_links --ignored --nocapture` prints time and memory; alone, because the memory
/// is that of the process.
#[test]
#[ignore = "a million links"]
fn proofs_over_a_million_links_hold() {
    const LINKS: u64 = 1_000_000;
    let home = Home::new();
    add_run(&home, "a");
    home.raw()
        .execute_batch(&format!(
            "WITH RECURSIVE numbers (n) AS (SELECT max(seq) + 1 FROM ledger
                                            UNION ALL SELECT n + 1 FROM numbers WHERE n < {LINKS})
             INSERT INTO ledger (seq, table_name, digest)
             SELECT n, 'edges', lower(hex(randomblob(32))) FROM numbers"
        ))
        .unwrap();
    let mut reader = home.reader();
    let before = peak_kib();
    let started = std::time::Instant::now();
    let mut tree = Tree::default();
    let leaves = || (0..LINKS).step_by(1_000);
    leaves().for_each(|index| tree.want_inclusion(index, LINKS));
    tree.want_consistency(LINKS / 3, LINKS);
    tree.want_root(LINKS / 3);
    reader.read_tree(LINKS, &mut tree).unwrap();
    let took = started.elapsed();
    println!("{LINKS} links, 1,000 proofs: {took:?}, {} KiB more", peak_kib() - before);
    let hash = |digest: &Digest| tlog::Hash(*digest.as_bytes());
    let root = hash(&tree.root());
    for index in leaves() {
        let sql = "SELECT digest FROM ledger WHERE seq = ?1";
        let link: String = home.raw().query_row(sql, [index as i64 + 1], |row| row.get(0)).unwrap();
        let link: Digest = link.parse().unwrap();
        let proof = tree.inclusion_proof(index, LINKS).unwrap();
        let proof: Vec<_> = proof.iter().map(hash).collect();
        let leaf = tlog::record_hash(link.as_bytes());
        tlog::check_record(&proof, LINKS, root, index, leaf).unwrap();
    }
    let proof = tree.consistency_proof(LINKS / 3, LINKS).unwrap();
    let proof: Vec<_> = proof.iter().map(hash).collect();
    let old = hash(&tree.root_at(LINKS / 3).unwrap());
    tlog::check_tree(&proof, LINKS, root, LINKS / 3, old).unwrap();
}
