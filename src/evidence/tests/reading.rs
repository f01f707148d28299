use super::fixture::*;
use crate::evidence::*;
use crate::run::*;

/// Evidence of three runs: a read, a failed write with diagnostics, and a later write of the same file. Returns the ids
/// of their executions.
pub(super) fn filled() -> (Home, [uuid::Uuid; 3]) {
    let home = Home::new();
    let mut store = home.store();
    let touch = |edge_type, target: &str| Edge {
        edge_type,
        target_kind: TargetKind::File,
        target: target.into(),
    };

    let mut run = Running::begin(&mut store, plan(vec![read_step(0, "docs/notes.md")]), 1_000);
    let output = b"first line\nthe M\xc3\xbcller widget_factory(\"x\") is here\nlast";
    let read =
        with_output(result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 1_001), output);
    let read_id = read.execution_id;
    run.record(
        read,
        Extra { edges: &[touch(EdgeType::ExecutedOn, "docs/notes.md")], ..stdout(output) },
    );
    run.end(&RunEnding::Completed);

    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "src/lib.rs", "x")]), 2_000);
    let mut failed = result_of(&run.plan.steps[0].clone(), Outcome::Failed, 2_001);
    failed.diagnostic_artifacts =
        vec![diagnostic("E0425", "src/lib.rs"), diagnostic("E0425", "src/lib.rs")];
    let failed_id = failed.execution_id;
    run.intend(&failed, &[effect("src/lib.rs", None, Some(b"x"))]);
    run.record(
        failed,
        Extra { edges: &[touch(EdgeType::ExecutedOn, "src/lib.rs")], ..Extra::default() },
    );
    run.end(&super::fixture::failed());

    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "src/lib.rs", "y")]), 3_000);
    let fixed = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 3_001);
    let fixed_id = fixed.execution_id;
    run.intend(&fixed, &[effect("src/lib.rs", Some(b"x"), Some(b"y"))]);
    run.record(
        fixed,
        Extra {
            edges: &[
                touch(EdgeType::ExecutedOn, "src/lib.rs"),
                touch(EdgeType::Affected, "src/lib.rs"),
            ],
            ..Extra::default()
        },
    );
    run.end(&RunEnding::Completed);
    (home, [read_id, failed_id, fixed_id])
}

fn ids(rows: &[ListedExecution]) -> Vec<uuid::Uuid> {
    rows.iter().map(|it| it.row.execution_id).collect()
}

#[test]
fn the_eight_questions_are_answered() {
    let (home, [read, failed, fixed]) = filled();
    let mut reader = home.reader();
    let all = Range::default();
    assert_eq!(ids(&reader.q1("file_write", all).unwrap()), [failed, fixed]);
    assert_eq!(ids(&reader.q1("file_write", Range { limit: 1, ..all }).unwrap()), [failed]);
    let late = Range { since_ms: Some(3_001), ..all };
    assert_eq!(ids(&reader.q1("file_write", late).unwrap()), [fixed]);
    let early = Range { until_ms: Some(2_001), ..all };
    assert_eq!(ids(&reader.q1("file_write", early).unwrap()), [failed]);
    assert_eq!(ids(&reader.q2("file_write", all).unwrap()), [failed]);
    assert_eq!(ids(&reader.q3("E0425", all).unwrap()), [failed]);
    let touched = reader.q4("src/lib.rs", all).unwrap();
    assert_eq!(touched[1].edge_types, [EdgeType::Affected, EdgeType::ExecutedOn]);
    assert_eq!(touched[1].listed.row.execution_id, fixed);
    let detail = reader.execution(failed).unwrap().unwrap();
    assert_eq!(detail.row.known, Known::Outcome(Outcome::Failed));
    assert_eq!(detail.arguments["path"], "src/lib.rs");
    assert_eq!(detail.intent_at_ms, Some(2_001));
    assert!(detail.risk_rule.is_some_and(|it| !it.is_empty()), "the recorded rule");
    assert!(detail.risk_reason.is_some_and(|it| !it.is_empty()), "the recorded reason");
    assert_eq!(detail.decisions[0].decision, "authorize");
    assert!(detail.ledger_seq.is_some() && detail.ledger_digest.is_some());
    let kinds: Vec<_> = detail.artifacts.iter().map(|a| a.artifact_type.as_str()).collect();
    assert_eq!(kinds, ["step_context", "diagnostics"]);
    assert_eq!(detail.artifacts[0].content["evidence_referenced"][0], "Q1");
    assert_eq!(reader.execution(read).unwrap().unwrap().intent_at_ms, None);
    assert_eq!(reader.q6("src/lib.rs").unwrap().unwrap().row.execution_id, fixed);
    let again = reader.q7(2, all).unwrap();
    assert_eq!((again[0].count, again[0].execution_ids.as_slice()), (2, [failed].as_slice()));
    assert!(reader.q7(3, all).unwrap().is_empty());
    let later = reader.q8("E0425", Some("src/lib.rs"), all).unwrap();
    assert_eq!(later.len(), 1);
    assert_eq!((later[0].listed.row.execution_id, later[0].after_ms), (fixed, 1_000));
    assert_eq!(later[0].diagnostic_execution_id, failed);
    assert!(reader.q8("E0425", Some("other.rs"), all).unwrap().is_empty());
}

#[test]
fn a_run_has_the_number_of_its_outcomes() {
    let home = Home::new();
    let mut store = home.store();
    let steps = vec![read_step(0, "a"), write_step(1, "b", "x"), write_step(2, "c", "x")];
    let mut run = Running::begin(&mut store, plan(steps), 1_000);
    for (index, outcome) in [Outcome::Succeeded, Outcome::Skipped].into_iter().enumerate() {
        let result = result_of(&run.plan.steps[index].clone(), outcome, 1_001);
        run.record(result, Extra::default());
    }
    let under_way = result_of(&run.plan.steps[2].clone(), Outcome::Succeeded, 1_002);
    run.intend(&under_way, &[]);
    let summary = &home.reader().runs(1).unwrap()[0];
    let expected = RunTally { succeeded: 1, skipped: 1, unknown: 1, ..RunTally::default() };
    assert_eq!(summary.tally, expected);
    assert_eq!(summary.steps_recorded, 3, "an intent is a record");
}

// A record of an older version may name a tool that no longer exists.
#[test]
fn a_search_knows_the_tools_of_its_records() {
    let home = Home::new();
    let mut store = home.store();
    let mut step = read_step(0, "a");
    step.tool_name = "file_slurp".into();
    let mut run = Running::begin(&mut store, plan(vec![step.clone()]), 1_000);
    run.record(result_of(&step, Outcome::Succeeded, 1_001), Extra::default());
    let search = |tool: &str| {
        let query = SearchQuery { tool: Some(tool.into()), ..SearchQuery::default() };
        let page = home.reader().search(&query).unwrap();
        (page.counts.total, page.unknown_tool)
    };
    assert_eq!(search("file_slurp"), (1, false));
    assert_eq!(search("file_glob"), (0, false));
    assert_eq!(search("bogus"), (0, true));
}

// Queries of empty evidence have empty answers until the first run is recorded.
#[test]
fn empty_evidence_answers_until_the_first_run() {
    let home = Home::new();
    let mut reader = home.reader();
    assert!(reader.runs(10).unwrap().is_empty());
    assert!(reader.q1("file_read", Range::default()).unwrap().is_empty());
    assert!(reader.q6("a").unwrap().is_none());
    assert!(reader.execution(uuid::Uuid::new_v4()).unwrap().is_none());
    assert!(reader.replay(uuid::Uuid::new_v4()).unwrap().is_empty());
    assert_eq!(reader.search(&SearchQuery::default()).unwrap(), SearchPage::default());
    assert!(!home.evidence.exists(), "reading creates nothing");
    let mut store = home.store();
    Running::begin(&mut store, plan(vec![read_step(0, "a")]), 1_000);
    assert_eq!(reader.runs(10).unwrap().len(), 1);
}

fn find(reader: &mut EvidenceReader, words: &str) -> SearchPage {
    reader.search(&SearchQuery { words: words.into(), ..SearchQuery::default() }).unwrap()
}

#[test]
fn search_hits_name_field_and_excerpt() {
    let (home, [read, ..]) = filled();
    let mut reader = home.reader();
    for words in
        ["muller", "MÜLLER WIDGET", "widget_factory(\"x\")", "\"first line\"", "müll", "is he"]
    {
        let page = find(&mut reader, words);
        assert_eq!((page.counts.total, page.of), (1, 3), "{words}");
        let hit = &page.hits[0];
        assert_eq!(hit.listed.row.execution_id, read, "{words}");
        assert_eq!(hit.found_in, "stdout", "{words}");
        assert!(!hit.marks.is_empty(), "{words}");
        for mark in &hit.marks {
            assert!(hit.excerpt.get(mark.clone()).is_some(), "{words}: {hit:?}");
        }
    }
    let hit = find(&mut reader, "factory").hits.remove(0);
    assert_eq!(hit.excerpt, "the Müller widget_factory(\"x\") is here");
    assert_eq!(&hit.excerpt[hit.marks[0].clone()], "factory");
    assert_eq!(find(&mut reader, "lib.rs").hits[0].found_in, "arguments");
    assert_eq!(find(&mut reader, "wrong").hits[0].found_in, "error");
}

#[test]
fn an_excerpt_has_the_characters_that_are_indexed_as_spaces() {
    let home = Home::new();
    let mut store = home.store();
    let step = read_step(0, "a");
    let mut run = Running::begin(&mut store, plan(vec![step.clone()]), 1_000);
    let output = stdout("so\u{e000}hidden\0thing".as_bytes());
    run.record(result_of(&step, Outcome::Succeeded, 1_001), output);
    let mut reader = home.reader();
    for words in ["so", "hidden", "thing"] {
        assert_eq!(find(&mut reader, words).hits[0].excerpt, "so\u{e000}hidden\0thing");
    }
}

#[test]
fn search_text_is_never_query_syntax() {
    let (home, _) = filled();
    let mut reader = home.reader();
    for words in [
        "NOT",
        "a AND",
        "(",
        "\"",
        "stdout:x",
        "a*b",
        "^x",
        "NEAR(a b)",
        "-x",
        "'",
        "{a b}",
        "\0x",
        "x\"\"y",
    ] {
        find(&mut reader, words);
    }
    assert_eq!(find(&mut reader, "!!!").counts.total, 0);
    assert_eq!(find(&mut reader, "fact").counts.total, 1, "the last word may be incomplete");
    assert_eq!(find(&mut reader, "fact widget").counts.total, 0, "the other words may not");
    assert_eq!(find(&mut reader, "\"line first\"").counts.total, 0, "a phrase keeps its order");
    assert_eq!(find(&mut reader, "  ").counts.total, 3);
}

#[test]
fn filters_narrow_and_facets_count() {
    let (home, [read, failed, fixed]) = filled();
    let mut reader = home.reader();
    let mut total = |query: SearchQuery| {
        let page = reader.search(&query).unwrap();
        page.hits.iter().map(|hit| hit.listed.row.execution_id).collect::<Vec<_>>()
    };
    let all = SearchQuery::default;
    assert_eq!(total(all()), [fixed, failed, read], "newest first");
    assert_eq!(total(SearchQuery { tool: Some("file_read".into()), ..all() }), [read]);
    assert_eq!(total(SearchQuery { outcome: Some("failed".into()), ..all() }), [failed]);
    assert_eq!(total(SearchQuery { path: Some("src/".into()), ..all() }), [fixed, failed]);
    assert_eq!(total(SearchQuery { wrote: Some("src/".into()), ..all() }), [fixed]);
    assert_eq!(total(SearchQuery { wrote: Some("*".into()), ..all() }), [fixed]);
    assert!(total(SearchQuery { wrote: Some("other".into()), ..all() }).is_empty());
    assert_eq!(total(SearchQuery { code: Some("e0425".into()), ..all() }), [failed]);
    assert_eq!(total(SearchQuery { code: Some("E302".into()), ..all() }), [failed]);
    assert_eq!(total(SearchQuery { since_ms: Some(3_001), ..all() }), [fixed]);
    assert_eq!(total(SearchQuery { until_ms: Some(1_001), ..all() }), [read]);
    let next = home.reader().search(&SearchQuery { limit: 1, ..all() }).unwrap().next;
    assert_eq!(total(SearchQuery { limit: 1, after: next, ..all() }), [failed]);
    assert!(total(SearchQuery { host: Some("h".into()), ..all() }).is_empty());
    assert!(total(SearchQuery { risk: Some("safe".into()), ..all() }).is_empty());
    assert_eq!(
        total(SearchQuery { words: "x".into(), risk: Some("caution".into()), ..all() }).len(),
        2
    );

    let page = reader.search(&SearchQuery { limit: 1, ..all() }).unwrap();
    assert_eq!((page.counts.total, page.hits.len()), (3, 1));
    assert_eq!(page.counts.facets.tool, [("file_write".into(), 2), ("file_read".into(), 1)]);
    assert_eq!(page.counts.facets.outcome, [("succeeded".into(), 2), ("failed".into(), 1)]);
    assert!(page.counts.timeline.len() <= 60 && page.counts.timeline[0].from_ms == 1_001);
    assert!(page.counts.timeline.last().unwrap().to_ms > 3_001);
    let sum = |f: fn(&TimeBucket) -> u64| page.counts.timeline.iter().map(f).sum::<u64>();
    assert_eq!((sum(|bucket| bucket.fine), sum(|bucket| bucket.bad)), (2, 1));
}

#[test]
fn the_index_follows_rows_and_is_rebuilt() {
    let (home, _) = filled();
    let mut reader = home.reader();
    assert_eq!(find(&mut reader, "zebra").counts.total, 0);
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "zebra.txt", "z")]), 5_000);
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 5_001);
    run.intend(&result, &[]);
    assert_eq!(find(&mut reader, "zebra").hits[0].listed.row.known, Known::Running);
    run.record(result, Extra::default());
    let page = find(&mut reader, "zebra");
    assert_eq!(
        (page.counts.total, page.hits[0].listed.row.known),
        (1, Known::Outcome(Outcome::Succeeded))
    );
    assert_eq!(page.of, 4, "the execution replaces its intent");
    drop(reader);

    let index = home.evidence.join("search_index.db");
    std::fs::write(&index, b"no database at all, but long enough to be looked at ".repeat(50))
        .unwrap();
    assert_eq!(find(&mut home.reader(), "zebra").counts.total, 1);
    std::fs::remove_file(&index).unwrap();
    assert_eq!(find(&mut home.reader(), "zebra").counts.total, 1);
    // Another database replaces the indexed one.
    let other = filled().0;
    drop(store);
    for file in ["execution_log.db", "execution_log.db-wal", "execution_log.db-shm"] {
        let _ = std::fs::remove_file(home.evidence.join(file));
    }
    other.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::copy(other.evidence.join("execution_log.db"), home.evidence.join("execution_log.db"))
        .unwrap();
    let page = find(&mut home.reader(), "");
    assert_eq!(page.counts.total, 3);
    assert_eq!(find(&mut home.reader(), "zebra").counts.total, 0);
}

#[test]
fn the_first_mib_of_an_artifact_is_indexed() {
    let home = Home::new();
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![read_step(0, "a")]), 1_000);
    let text = format!("early {} late", "é ".repeat(600_000));
    run.record(
        result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 1_001),
        stdout(text.as_bytes()),
    );
    let mut reader = home.reader();
    assert_eq!(find(&mut reader, "early").counts.total, 1);
    assert_eq!(find(&mut reader, "late").counts.total, 0);
}

/// The index is not flushed like the evidence: after a power cut it may open although its contents are damaged.
#[test]
fn a_damaged_index_is_rebuilt() {
    let (home, _) = filled();
    let before = find(&mut home.reader(), "widget");
    assert!(before.counts.total > 0);
    let path = home.evidence.join("search_index.db");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096..].chunks_mut(64).for_each(|piece| piece[..32].fill(0x5a));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(find(&mut home.reader(), "widget").hits, before.hits);
}

#[test]
fn a_long_pasted_text_is_no_syntax_error() {
    let (home, _) = filled();
    let mut reader = home.reader();
    let text: String = (0..2_000).map(|n| format!("word{n} -other{n} \"a {n}\" ")).collect();
    assert_eq!(find(&mut reader, &text).counts.total, 0);
    assert_eq!(find(&mut reader, "factory -\"no such\" -nothing").counts.total, 1);
    assert_eq!(find(&mut reader, "-factory").counts.total, 2);
}

#[test]
fn a_search_is_stopped_by_its_signal() {
    let (home, _) = filled();
    let mut reader = home.reader();
    let (query, stop) = (SearchQuery::default(), StopSignal::default());
    let long = std::time::Duration::from_secs(60);
    assert_eq!(reader.search_within(&query, long, long, &stop).unwrap().unwrap().counts.total, 3);
    assert_eq!(reader.count_hits(&query, &stop).unwrap().unwrap().total, 3);
    stop.set();
    assert_eq!(reader.search_within(&query, long, long, &stop).unwrap(), None);
    assert_eq!(reader.count_hits(&query, &stop).unwrap(), None);
    assert_eq!(reader.search(&query).unwrap().counts.total, 3, "the next one is not stopped");
}

// A search of the window does not wait until everything is indexed, and says how much is missing.
#[test]
fn a_search_says_what_is_not_indexed() {
    let (home, _) = filled();
    let mut reader = home.reader();
    let stop = StopSignal::default();
    assert_eq!(find(&mut reader, "").of, 3);
    let mut store = home.store();
    let steps: Vec<_> = (0..600).map(|index| read_step(index, "zebra")).collect();
    let mut run = Running::begin(&mut store, plan(steps), 5_000);
    for index in 0..600 {
        let step = run.plan.steps[index].clone();
        run.record(result_of(&step, Outcome::Succeeded, 5_001), Extra::default());
    }
    let now = std::time::Duration::ZERO;
    let page = reader.search_within(&SearchQuery::default(), now, now, &stop).unwrap().unwrap();
    assert!(page.not_indexed > 0 && (3..603).contains(&page.of), "{page:?}");
    let long = std::time::Duration::from_secs(600);
    assert_eq!(reader.catch_up_index_within(long, &stop, &mut |_, _| {}).unwrap(), 0);
    assert_eq!(find(&mut reader, "zebra").counts.total, 600);
}
