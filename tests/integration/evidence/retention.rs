//! Purges, sizes, backups and their way back, through the real command (SPEC §14).

use std::fs;
use std::path::{Path, PathBuf};

use countersign::plan::Digest;
use serde_json::{Value, json};

use crate::harness::home::{Done, Home};
#[cfg(target_os = "linux")]
use crate::harness::sshd::Sshd;
use crate::harness::{create_file, read_file, tree, write_file};

/// A home with a run about a wombat, which it also wrote into a file, and one about a quokka. Returns their ids.
fn home() -> (Home, [String; 2]) {
    let home = Home::new();
    home.write("a.txt", "a wombat digs\n".repeat(1_000));
    home.plan(json!([
        read_file("look", "a.txt"),
        create_file("make", "b.txt", &"the wombat sleeps\n".repeat(1_000)),
        write_file("change", "b.txt", &"the wombat wakes\n".repeat(1_000)),
    ]));
    let first = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    home.plan(json!([create_file("make", "c.txt", "a quokka\n")]));
    let other = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    let ids = [first, other].map(|run| run["run_id"].as_str().unwrap().to_owned());
    (home, ids)
}

fn verify(home: &Home) -> Value {
    home.json(["evidence", "verify"]).exits(0).document()
}

/// The files of the evidence folder that have this word.
pub(super) fn with_word(home: &Home, word: &str) -> Vec<String> {
    let has = |bytes: &[u8]| memchr::memmem::find(bytes, word.as_bytes()).is_some();
    let files = tree(&home.evidence()).into_iter();
    files.filter(|(_, bytes)| has(bytes)).map(|(name, _)| name).collect()
}

pub(super) fn python(path: &Path) -> Done {
    let verifier = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/verifier/verify.py");
    Done::of(assert_cmd::Command::new("python3").arg("-B").arg(verifier).arg(path))
}

#[test]
fn a_purge_asks_says_what_it_takes_and_leaves_a_note() {
    let (home, [run, other]) = home();
    let execution = home.texts("SELECT id FROM executions ORDER BY row LIMIT 1", []).remove(0);
    let purge = ["evidence", "purge", "--run", &run];
    let preview = home.json(purge.into_iter().chain(["--dry-run"])).exits(0).document();
    assert_eq!((&preview["runs"], &preview["steps"]), (&json!(1), &json!(3)));
    assert_eq!((&preview["dry_run"], &preview["purge_id"]), (&json!(true), &json!(null)));
    assert!(preview["bytes"].as_u64().unwrap() > 300, "{preview}");

    let refused = home.json(purge).exits(5);
    assert!(refused.document()["error"]["message"].as_str().unwrap().contains("nobody agreed"));
    assert_eq!(verify(&home)["purged"], 0);

    let yes = ["--reason", "asked for <b>", "--yes"];
    let done = home.json(purge.into_iter().chain(yes)).exits(0).document();
    assert_eq!(done["rows"], preview["rows"]);
    assert!(done["purge_id"].is_string() && done["compacted"].is_object(), "{done}");
    assert_eq!(verify(&home)["purged"], done["rows"]);
    assert!(python(&home.evidence()).exits(0).stdout.contains("were purged"));

    let sizes = home.json(["evidence", "sizes"]).exits(0).document();
    assert_eq!(sizes["purge_records"][0]["rule"]["run_id"], run);
    assert!(home.run(["evidence", "sizes"]).exits(0).stdout.contains("asked for"));

    // Whoever looks at the run learns what happened to its records.
    let shown = home.json(["evidence", "show", &run]).exits(0).document();
    assert_eq!(shown["run"]["purged"]["reason"], "asked for <b>");
    assert_eq!(shown["run"]["status"], "completed");
    assert!(home.run(["evidence", "show", &run]).exits(0).stdout.contains("asked for"));
    let missing = home.run(["evidence", "show", &execution]).exits(5);
    assert!(missing.stderr.contains("records purged on"), "{missing:?}");
    for command in [["revert", run.as_str(), "--yes"], ["continue", run.as_str(), "--yes"]] {
        let refused = home.run(command);
        assert_ne!(refused.code, 0, "{refused:?}");
        assert!(refused.stderr.contains("asked for"), "{refused:?}");
    }
    assert_eq!(home.json(["evidence", "search", "wombat"]).exits(0).lines().len(), 0);
    assert_eq!(home.json(["evidence", "search", "quokka"]).exits(0).lines().len(), 1);
    for format in ["jsonl", "csv", "sarif", "junit", "html"] {
        let all = home.run(["evidence", "export", "--format", format]).exits(0);
        assert!(!all.stdout.contains("wombat"), "{format}: {}", all.stdout);
        assert_eq!(all.stdout.contains("asked for &lt;b&gt;"), format == "html", "{format}");
    }
    for id in [&run, &other] {
        let case = home.path().join(format!("{id}.zip"));
        home.run(["evidence", "case", id, "--out", case.to_str().unwrap()]).exits(0);
        let said = python(&case).exits(0).stdout;
        assert_eq!(said.contains("were purged"), *id == run, "{said}");
    }
    // What a later run records again is stored again.
    home.plan(json!([create_file("make", "d.txt", &"the wombat sleeps\n".repeat(1_000))]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    let digest = Digest::of("the wombat sleeps\n".repeat(1_000).as_bytes()).hex();
    assert_eq!(home.texts("SELECT digest FROM blobs WHERE digest = ?1", [&digest]), [digest]);
    verify(&home);
}

#[test]
fn a_step_and_its_plan_can_be_purged_apart() {
    let (home, [run, _]) = home();
    let execution = home.texts("SELECT id FROM executions ORDER BY row LIMIT 1", []).remove(0);
    let reason = ["--reason", "a name in it", "--yes"];
    let line = ["evidence", "purge", "--execution", &execution].into_iter().chain(reason);
    assert_eq!(home.json(line).exits(0).document()["steps"], 1);
    let missing = home.run(["evidence", "show", &execution]).exits(5);
    assert!(missing.stderr.contains("records of 1 step purged"), "{missing:?}");
    let refused = home.run(["revert", &run, "--yes"]);
    assert!(refused.code != 0 && refused.stderr.contains("a name in it"), "{refused:?}");
    let case = home.path().join("case.zip");
    home.run(["evidence", "case", &run, "--out", case.to_str().unwrap()]).exits(0);
    python(&case).exits(0);
    let line = ["evidence", "purge", "--larger-than", "5K", "--yes"];
    let taken = home.json(line).exits(0).document();
    assert!(taken["contents"].as_u64().unwrap() >= 2 && taken["runs"] == 0, "{taken}");
    home.run(["evidence", "case", &run, "--out", case.to_str().unwrap(), "--force"]).exits(0);
    let said = python(&case).exits(0).stdout;
    assert!(said.contains("(purged)"), "{said}");
    let html = home.run(["evidence", "export", "--format", "html", "--run", &run]).exits(0);
    assert!(html.stdout.contains("purged"), "{}", html.stdout);
    for (line, words) in [
        (vec!["--run", "00000000-0000-4000-8000-000000000000"], "has no execution, run or loop"),
        (vec!["--execution", &execution], "records of 1 step purged"),
    ] {
        let line = ["evidence", "purge"].into_iter().chain(line).chain(["--yes"]);
        let refused = home.run(line).exits(5);
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    assert_eq!(home.run(["evidence", "purge"]).code, 5, "a rule is needed");
    verify(&home);
}

/// Killed at every point: the purge is done or not, and done after it is started again.
#[test]
fn a_killed_purge_is_done_or_not() {
    let points = ["selected", "deleted", "committed", "compacting 1", "compacting 9", "compacted"];
    for point in points {
        let (home, [run, _]) = home();
        let _ = home.json(["evidence", "search", "wombat"]).exits(0);
        let at = home.evidence().join("execution_log.abort_at");
        fs::write(&at, point).unwrap();
        let mut child = home.child(["evidence", "purge", "--run", &run, "--yes"]);
        let status = child.output().unwrap().status;
        assert_eq!(status.code(), None, "{point}: the process was killed");
        fs::remove_file(&at).unwrap();
        let report = verify(&home);
        let is_done = report["purged"].as_u64().unwrap() > 0;
        assert_eq!(is_done, !["selected", "deleted"].contains(&point), "{point}");
        python(&home.evidence()).exits(0);
        let found = home.json(["evidence", "search", "wombat"]).exits(0).lines().len();
        assert_eq!(found == 0, is_done, "{point}");
        let _ = home.run(["evidence", "purge", "--run", &run, "--yes"]).exits(0);
        let _ = home.run(["evidence", "compact"]).exits(0);
        verify(&home);
        assert_eq!(with_word(&home, "wombat"), [] as [String; 0], "{point}");
        let names: Vec<_> = tree(&home.evidence()).into_keys().collect();
        assert!(!names.iter().any(|name| name.contains("etilqs")), "{names:?}");
    }
}

#[test]
fn space_is_given_back_where_there_is_room() {
    let home = Home::new();
    let noise: String =
        (0..60_000).map(|n: u32| format!("{:08x}", n.wrapping_mul(2_654_435_761))).collect();
    home.plan(json!([create_file("make", "b.txt", &noise)]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    let sizes = || home.json(["evidence", "sizes"]).exits(0).document();
    let before = sizes();
    assert_eq!((&before["runs"], &before["months"][0]["steps"]), (&json!(1), &json!(1)));
    fs::write(home.evidence().join("execution_log.free"), "1000").unwrap();
    let purge = home.run(["evidence", "purge", "--older-than", "2099-01-01", "--yes"]).exits(0);
    assert!(purge.stderr.contains("evidence compact") && purge.stderr.contains("1000 bytes free"));
    let waiting = sizes();
    assert!(waiting["reclaimable_bytes"].as_u64() > Some(200_000), "{waiting}");
    assert_eq!(home.run(["evidence", "compact"]).exits(4).code, 4);
    fs::remove_file(home.evidence().join("execution_log.free")).unwrap();
    let compacted = home.json(["evidence", "compact"]).exits(0).document();
    let (from, to) = (compacted["before_bytes"].as_u64(), compacted["after_bytes"].as_u64());
    assert!(to < from, "{compacted}");
    assert_eq!(sizes()["reclaimable_bytes"], 0);
    let by_plan = home.run(["evidence", "sizes", "--by", "plan"]).exits(0).stdout;
    assert!(by_plan.contains("1 purge"), "{by_plan}");
    verify(&home);
}

#[test]
fn a_backup_is_verified_and_brought_back() {
    let (home, [run, other]) = home();
    let file = home.path().join("backup.db");
    let path = file.to_str().unwrap();
    let backup = home.json(["evidence", "backup", path]).exits(0).document();
    assert_eq!((&backup["rows"], &backup["has_key"]), (&verify(&home)["rows"], &json!(false)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    python(&file).exits(0);
    let exists = home.run(["evidence", "backup", path]).exits(5);
    assert!(exists.stderr.contains("exists"), "{exists:?}");

    let _ = home.run(["evidence", "purge", "--run", &run, "--yes"]).exits(0);
    let restore = ["evidence", "restore", path, "--reason", "a mistake"];
    let restored = home.json(restore).exits(0).document();
    assert_eq!(restored["rows"], backup["rows"]);
    let moved = PathBuf::from(restored["moved_to"].as_str().unwrap());
    python(&moved).exits(0);
    let report = verify(&home);
    assert_eq!(report["purged"], 0);
    for id in [&run, &other] {
        let shown = home.json(["evidence", "show", id]).exits(0).document();
        assert_eq!(shown["run"]["purged"], json!(null));
    }
    assert_eq!(home.texts("SELECT reason FROM head_acceptances", []), ["a mistake"]);
    // Nothing else is needed before the next run.
    home.plan(json!([read_file("look", "a.txt")]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);

    // A damaged backup replaces nothing.
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4_096].fill(0x55);
    fs::write(&file, bytes).unwrap();
    let refused = home.run(restore).exits(4);
    assert!(
        refused.stderr.contains("no sound backup") || refused.stderr.contains("damaged"),
        "{refused:?}"
    );
    // Nor while another program has the evidence open.
    let _ = home.json(["evidence", "backup", home.path().join("2.db").to_str().unwrap()]).exits(0);
    let open = home.sql();
    let _: i64 = open.query_row("SELECT count(*) FROM ledger", [], |row| row.get(0)).unwrap();
    let other = home.path().join("2.db");
    let line = ["evidence", "restore", other.to_str().unwrap(), "--reason", "x"];
    let refused = home.run(line).exits(4);
    assert!(refused.stderr.contains("has the evidence open"), "{refused:?}");
    drop(open);
    assert_eq!(home.run(line).exits(0).code, 0);
    verify(&home);
}

#[test]
fn a_network_file_system_gets_no_log() {
    let (home, [run, _]) = home();
    assert_eq!(home.texts("PRAGMA journal_mode", []), ["wal"]);
    // The number of NFS.
    fs::write(home.evidence().join("execution_log.mounted_as"), "26985").unwrap();
    home.plan(json!([read_file("look", "c.txt"), create_file("make", "e.txt", "on a network\n")]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    assert_eq!(home.texts("PRAGMA journal_mode", []), ["delete"]);
    assert!(!home.database().with_extension("db-wal").exists());
    let sizes = home.run(["evidence", "sizes"]).exits(0).stdout;
    assert!(sizes.contains("nfs: a network file system"), "{sizes}");
    let _ = home.run(["evidence", "purge", "--run", &run, "--yes"]).exits(0);
    let _ = home.run(["evidence", "backup", home.path().join("b.db").to_str().unwrap()]).exits(0);
    verify(&home);
    assert_eq!(with_word(&home, "wombat"), [] as [String; 0]);
    fs::remove_file(home.evidence().join("execution_log.mounted_as")).unwrap();
    home.plan(json!([read_file("look", "a.txt")]));
    let _ = home.json(["run", "space/p.json", "--yes"]).exits(0);
    assert_eq!(home.texts("PRAGMA journal_mode", []), ["wal"]);
    verify(&home);
}

/// A folder of another host, mounted with `sshfs` where the system lets this user mount.
#[cfg(target_os = "linux")]
#[test]
fn evidence_on_a_real_network_file_system_works() {
    let sshd = Sshd::with("Subsystem sftp internal-sftp");
    let (home, _) = home();
    let (real, mount) = (home.path().join("real"), home.path().join("mounted"));
    fs::create_dir(&real).unwrap();
    fs::create_dir(&mount).unwrap();
    let _mounted = match Mounted::new(&sshd, &real, &mount) {
        Ok(mounted) => mounted,
        Err(why) => {
            return println!("not tested, because this system does not let the user mount: {why}");
        }
    };
    let evidence = mount.join("evidence");
    let on_mount = |line: &[&str]| {
        let mut command = home.command();
        command.args(line).arg("--evidence").arg(&evidence);
        Done::of(&mut command).exits(0)
    };
    home.plan(json!([read_file("look", "c.txt"), create_file("make", "e.txt", "far away\n")]));
    on_mount(&["run", "space/p.json", "--yes"]);
    let sizes = on_mount(&["evidence", "sizes"]).stdout;
    assert!(sizes.contains("fuse.sshfs: a network file system"), "{sizes}");
    assert!(!evidence.join("execution_log.db-wal").exists());
    on_mount(&["evidence", "purge", "--older-than", "2099-01-01", "--yes"]);
    on_mount(&["evidence", "verify"]);
    python(&real.join("evidence")).exits(0);
}

/// A folder mounted with `sshfs` until the end of the test.
#[cfg(target_os = "linux")]
struct Mounted(PathBuf);

#[cfg(target_os = "linux")]
impl Mounted {
    fn new(sshd: &Sshd, real: &Path, mount: &Path) -> Result<Self, String> {
        let mut sshfs = assert_cmd::Command::new("sshfs");
        sshfs.arg("-F").arg(sshd.config()).arg(format!("loopback:{}", real.display()));
        let mounted = sshfs.arg(mount).output();
        let mounted = mounted.expect("sshfs; install it, or run packaging/test.sh");
        let why = || String::from_utf8_lossy(&mounted.stderr).into_owned();
        mounted.status.success().then(|| Self(mount.to_owned())).ok_or_else(why)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = assert_cmd::Command::new("fusermount3").args(["-u", "-z"]).arg(&self.0).output();
    }
}

/// A record of a version whose rules did not know the kind of secret.
#[test]
fn secrets_of_older_records_are_found_and_purged() {
    let home = Home::new();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let word = "heron-0123456789abcdefghijABCDEFGHIJ012345";
    assert_eq!(secret.len() + 2, word.len());
    home.write("a.txt", "x\n");
    let contents = format!("say {}", word.replace("heron-", "her-"));
    home.plan(json!([create_file("make", "b.txt", &contents), read_file("look", "a.txt")]));
    let run = home.json(["run", "space/p.json", "--yes"]).exits(0).document();
    assert_eq!(
        home.json(["evidence", "secrets"]).exits(0).document()["secrets"],
        json!([]),
        "{run}"
    );
    // What was recorded becomes a secret, as if the rules were new: the chain is that of these words.
    let id = run["run_id"].as_str().unwrap();
    rewrite(&home, "her-", "ghp_");
    let found = home.json(["evidence", "secrets"]).exits(0);
    assert!(!found.stdout.contains(secret), "{}", found.stdout);
    let found = found.document();
    let list = found["secrets"].as_array().unwrap();
    assert!(list.iter().any(|it| it["execution_id"].is_string()), "{found}");
    assert!(list.iter().any(|it| it["table"] == "intents" && it["column"] == "arguments_json"));
    let taken = home.json(["evidence", "purge", "--secrets", "--yes"]).exits(0).document();
    assert_eq!(taken["steps"], 1, "{taken}");
    let left = home.json(["evidence", "secrets"]).exits(0).document();
    let left = left["secrets"].as_array().unwrap();
    assert!(left.iter().all(|it| it["execution_id"].is_null()), "{left:?}");
    assert_eq!(
        home.json(["evidence", "show", id]).exits(0).document()["run"]["purged"]["steps"],
        1
    );
    verify(&home);
}

/// Replaces a text in all rows of steps, with their links computed anew, and accepts the result.
fn rewrite(home: &Home, from: &str, to: &str) {
    let conn = home.sql();
    let list = |sql: &str| -> Vec<(String, String)> {
        let mut statement = conn.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    };
    let triggers = list("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
    for (name, _) in &triggers {
        conn.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    for (table, column) in [("intents", "arguments_json"), ("executions", "arguments_json")] {
        let sql = format!("UPDATE {table} SET {column} = replace({column}, ?1, ?2)");
        conn.execute(&sql, [from, to]).unwrap();
    }
    let mut head = [0_u8; 32];
    let links = list("SELECT CAST(seq AS TEXT), table_name FROM ledger ORDER BY seq");
    for (seq, table) in links {
        let mut statement =
            conn.prepare(&format!("SELECT * FROM {table} WHERE rowid = {seq}")).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let columns: std::collections::BTreeMap<String, Value> = statement
            .query_row([], |row| {
                let mut columns = std::collections::BTreeMap::new();
                for (index, name) in names.iter().enumerate() {
                    use rusqlite::types::ValueRef;
                    let value = match row.get_ref(index)? {
                        ValueRef::Null => continue,
                        ValueRef::Integer(number) => json!(number),
                        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
                        ValueRef::Blob(bytes) => json!({ "sha256": Digest::of(bytes).hex() }),
                        ValueRef::Real(_) => panic!("no such column"),
                    };
                    columns.insert(name.clone(), value);
                }
                Ok(columns)
            })
            .unwrap();
        let columns = serde_json::to_string(&columns).unwrap();
        let entry = format!("{{\"columns\":{columns},\"table\":\"{table}\"}}");
        let linked = Digest::of(&[head.as_slice(), entry.as_bytes()].concat());
        head = *linked.as_bytes();
        conn.execute("UPDATE ledger SET digest = ?1 WHERE seq = ?2", (linked.hex(), &seq)).unwrap();
    }
    for (_, sql) in &triggers {
        conn.execute_batch(sql).unwrap();
    }
    drop(conn);
    let _ = home.run(["evidence", "accept-head", "--reason", "a test"]).exits(0);
}
