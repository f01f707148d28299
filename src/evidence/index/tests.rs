use super::*;
use crate::evidence::tests::fixture::Home;

fn open(home: &Home) -> Index {
    let vault = Vault::open_or_create(&home.secrets).unwrap();
    permissions::create_evidence_folder(&home.evidence).unwrap();
    Index::open(&home.evidence, Some(&Arc::new(vault))).unwrap()
}

#[test]
fn an_index_of_an_older_format_is_replaced() {
    let home = Home::new();
    let index = open(&home);
    index.conn.execute_batch("PRAGMA user_version = 3; CREATE TABLE old (x);").unwrap();
    index.seal.as_ref().unwrap().update(&index.path).unwrap();
    drop(index);
    let index = open(&home);
    assert_eq!(value::<i64>(&index.conn, "PRAGMA user_version", []).unwrap(), FORMAT);
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'old'";
    assert_eq!(value::<i64>(&index.conn, sql, []).unwrap(), 0);
    assert!(index.seal.is_some(), "a file");
}

#[test]
fn a_change_by_another_program_breaks_the_seal() {
    let home = Home::new();
    let index = open(&home);
    let (path, seal) = (index.path.clone(), index.seal.clone().unwrap());
    drop(index);
    assert!(seal.matches(&path));
    let journal = seal::beside(&path, "-journal");
    std::fs::write(&journal, "x").unwrap();
    assert!(!seal.matches(&path), "SQLite would apply it");
    std::fs::remove_file(&journal).unwrap();
    let (bytes, modified) =
        (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap().modified().unwrap());
    let copy = home.evidence.join("copy");
    std::fs::write(&copy, &bytes).unwrap();
    std::fs::File::options().append(true).open(&copy).unwrap().set_modified(modified).unwrap();
    std::fs::rename(&copy, &path).unwrap();
    assert!(!seal.matches(&path), "another file of the same size and time");
}

#[test]
fn an_interruption_is_not_lost_between_statements() {
    let home = Home::new();
    let index = open(&home);
    let stop = StopSignal::default();
    let result = index.until_stopped(&stop, |conn| {
        stop.set();
        value::<i64>(conn, "SELECT count(*) FROM docs", [])
    });
    assert!(matches!(result, Err(EvidenceError::Stopped)), "{result:?}");
    let after = index.until_stopped(&StopSignal::default(), |conn| {
        value::<i64>(conn, "SELECT count(*) FROM docs", [])
    });
    assert_eq!(after.unwrap(), 0);
}
