//! The contents that the evidence stores: outputs of programs, and files before and after a change.

use super::fixture::*;
use crate::authorization::FileState;
use crate::evidence::StoredContent;
use crate::plan::Digest;
use crate::run::*;

#[test]
fn large_output_is_stored_whole_and_excerpted() {
    let home = Home::new();
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![read_step(0, "a")]), 2_000);
    let run_id = run.run_id;
    // Data that cannot be compressed, so that the parts have their maximum size.
    let mut seed = 1_u64;
    let large: String = (0..(9 << 20))
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'>' + (seed >> 58) as u8)
        })
        .collect();
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    let result = with_output(result, large.as_bytes());
    run.record(result.clone(), stdout(large.as_bytes()));
    let mut reader = home.reader();
    assert_eq!(results(reader.replay(run_id).unwrap()), std::slice::from_ref(&result));
    let detail = reader.execution(result.execution_id).unwrap().unwrap();
    let artifact =
        detail.artifacts.iter().find(|artifact| artifact.artifact_type == "stdout").unwrap();
    assert_eq!(artifact.bytes, large.len() as u64);
    assert_eq!(reader.blob(&artifact.blob.unwrap()).unwrap().unwrap(), large.as_bytes());
    let largest: i64 =
        home.raw().query_row("SELECT max(length(data)) FROM blobs", [], |row| row.get(0)).unwrap();
    assert!(largest <= 4 << 20, "{largest}");
}

#[test]
fn binary_output_is_kept_exactly() {
    let home = Home::new();
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![read_step(0, "a")]), 2_000);
    let run_id = run.run_id;
    let bytes = [0xff, 0x00, b'P', 0xfe];
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    let result = with_output(result, &bytes);
    run.record(result.clone(), stdout(&bytes));
    let mut reader = home.reader();
    assert_eq!(reader.blob(&Digest::of(&bytes)).unwrap().unwrap(), bytes);
    assert_eq!(results(reader.replay(run_id).unwrap()), [result]);
}

#[test]
fn a_purge_deletes_content_and_keeps_the_chain() {
    let home = Home::new();
    let mut store = home.store();
    let plan = plan(vec![read_step(0, "a")]);
    let digest = plan.digest;
    let run = Running::begin(&mut store, plan.clone(), 2_000);
    let run_id = run.run_id;
    run.end(&RunEnding::Completed);
    store.purge_content(&digest, "asked for by its author", 5_000).unwrap();
    assert_eq!(home.reader().plan_of_run(run_id).unwrap(), None);
    assert_eq!(home.verify().first_bad, None);
    assert!(matches!(home.reader().stored_content(&digest).unwrap(), StoredContent::Purged));
    // Recording the same content again stores it again.
    Running::begin(&mut store, plan.clone(), 6_000).end(&RunEnding::Completed);
    assert_eq!(home.reader().blob(&digest).unwrap().as_deref(), Some(&*plan.source));
    assert_eq!(home.verify().first_bad, None);
}

#[test]
fn file_changes_are_recorded_before_and_after() {
    let home = Home::new();
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "b", "new")]), 2_000);
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    let files = [effect("b", Some(b"old"), Some(b"new")), effect("gone", Some(b"old"), None)];
    run.intend(&result, &files[..1]);
    run.record(result, Extra { files: &files, ..Extra::default() });
    type Row = (String, String, Option<String>, Option<String>, Option<u32>, Option<u32>);
    let rows: Vec<Row> = home
        .raw()
        .prepare(
            "SELECT phase, path, before_digest, after_digest, before_mode, after_mode
             FROM file_contents ORDER BY id",
        )
        .unwrap()
        .query_map([], |row| row.try_into())
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let hex = |state: FileState| match state {
        FileState::Absent => None,
        FileState::Content(digest) => Some(digest.hex()),
    };
    let row = |phase: &str, file: &FileEffect| {
        let [before, after] =
            [file.modes.before, file.modes.after].map(|mode| mode.map(FileMode::bits));
        (phase.to_owned(), file.path.clone(), hex(file.before), hex(file.after), before, after)
    };
    assert_eq!(rows[0].4, Some(0o755));
    assert_eq!(
        rows,
        [row("predicted", &files[0]), row("actual", &files[0]), row("actual", &files[1])]
    );
    assert_eq!(home.reader().blob(&Digest::of(b"old")).unwrap().unwrap(), b"old");
}
