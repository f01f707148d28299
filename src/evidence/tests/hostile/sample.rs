//! The evidence that is changed, and what is read from it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use uuid::Uuid;

use crate::authorization::{AuthorizationClass, Method};
use crate::evidence::tests::fixture::*;
use crate::evidence::tests::formats::{purge_in_format_5, to_format};
use crate::evidence::tests::purged_loops::old_loop;
use crate::evidence::*;
use crate::plan::Digest;
use crate::run::*;

/// Evidence of runs, a loop, classes and trust, with copies of its current files, of earlier ones, and of another
/// database.
pub(super) struct Sample {
    pub(super) home: Home,
    pub(super) root: PathBuf,
    pub(super) earlier: PathBuf,
    pub(super) current: PathBuf,
    pub(super) stranger: PathBuf,
    pub(super) class_ids: [Uuid; 2],
    /// The result of `observe` before any change.
    pub(super) expected: String,
}

pub(super) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

pub(super) fn one_run(store: &mut EvidenceStore, at_ms: i64, word: &str) {
    let mut run =
        Running::begin(store, plan(vec![write_step(0, word, word), read_step(1, word)]), at_ms);
    let mut result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, at_ms + 1);
    result.diagnostic_artifacts.push(diagnostic("E0425", word));
    let files = [effect(word, Some(b"before"), Some(word.as_bytes()))];
    run.intend(&result, &files);
    let edges = [Edge {
        edge_type: EdgeType::Affected,
        target_kind: TargetKind::File,
        target: word.into(),
    }];
    let output = format!("the {word} is done");
    run.record(
        with_output(result, output.as_bytes()),
        Extra {
            stdout: Some(output.as_bytes()),
            files: &files,
            edges: &edges,
            result_json: json!({"word": word}),
            ..Extra::default()
        },
    );
    let read = result_of(&run.plan.steps[1].clone(), Outcome::Failed, at_ms + 2);
    run.record(read, Extra::default());
    let failure = Failure {
        code: crate::plan::Code::WriteFailed,
        message: "no".to_owned(),
        next: "look".to_owned(),
    };
    run.end(&RunEnding::Failed(failure));
}

pub(super) fn trust(store: &mut EvidenceStore, text: &str, trusted: bool) {
    store
        .record_trust(&TrustDecision {
            workspace: "/home/someone/project",
            digest: digest(text),
            trusted,
            shown: None,
            by: AnsweredBy::Window,
            timestamp_ms: 5_000,
        })
        .unwrap();
}

pub(super) fn class() -> AuthorizationClass {
    AuthorizationClass::read(
        json!({"tools": ["file_read"], "paths": ["."], "max_risk": "caution", "max_attempts": 2,
               "expires_at": "2099-01-31T12:00:00Z"})
        .to_string()
        .as_bytes(),
    )
    .unwrap()
}

impl Sample {
    pub(super) fn new() -> Self {
        let home = Home::new();
        let root = home.evidence.parent().unwrap().to_owned();
        let outside = tempfile::tempdir().unwrap().keep();
        let mut store = home.store();
        one_run(&mut store, 2_000, "badger");
        trust(&mut store, "kept", true);
        trust(&mut store, "revoked", true);
        let class_ids = [Uuid::new_v4(), Uuid::new_v4()];
        for class_id in class_ids {
            store.record_class(class_id, &class(), Method::Window, 3_000).unwrap();
        }
        drop(store);
        home.reader().catch_up_index().unwrap();
        let earlier = outside.join("earlier");
        copy_all(&root, &earlier);
        let mut store = home.store();
        trust(&mut store, "revoked", false);
        assert!(store.revoke_class(class_ids[1], 4_000).unwrap());
        let loop_id = Uuid::new_v4();
        store
            .commit(&Entry::LoopStart(LoopStart {
                loop_id,
                goal: "all is well",
                planner: "replay",
                workspace: "/home/someone/project",
                max_attempts: 2,
                verify: "none",
                class_id: Some(class_ids[0]),
                looks: LookScope::Workspace,
                target: None,
                started_at_ms: 5_000,
            }))
            .unwrap();
        let reason = StopReason {
            code: StopCode::OperatorStopped,
            message: "stopped".to_owned(),
            detail: StopDetail::default(),
        };
        let end = LoopEnd { loop_id, reason: &reason, ended_at_ms: 5_500 };
        store.commit(&Entry::LoopEnd(end)).unwrap();
        one_run(&mut store, 6_000, "wombat");
        store.purge_content(&Digest::of(b"badger"), "not wanted", 7_000).unwrap();
        let oldest = home.reader().runs(100).unwrap().pop().unwrap();
        let rule = PurgeRule { run: Some(oldest.run_id), ..PurgeRule::default() };
        store.purge(&rule, "not needed", 7_500).unwrap();
        // Of one loop everything goes, of another what one of its attempts recorded.
        let gone = old_loop(&mut store, "numbat", 7_600, true);
        let rest = old_loop(&mut store, "bilby", 7_700, true);
        let rule = PurgeRule { bounded_loop: Some(gone.loop_id), ..PurgeRule::default() };
        store.purge(&rule, "an old loop", 7_800).unwrap();
        let rule = PurgeRule { run: Some(rest.runs[0]), ..PurgeRule::default() };
        store.purge(&rule, "one attempt", 7_850).unwrap();
        one_run(&mut store, 8_000, "quokka");
        drop(store);
        home.reader().catch_up_index().unwrap();
        let mut target = Self::with(home, root, &outside, class_ids);
        target.expected = target.observe().unwrap();
        target.restore();
        assert!(target.detected().is_none(), "{:?}", target.detected());
        target
    }

    /// Evidence of format 5 with purged rows. It can be verified; opening it for writing would migrate it.
    pub(super) fn of_format_5() -> Self {
        let home = Home::new();
        let root = home.evidence.parent().unwrap().to_owned();
        let outside = tempfile::tempdir().unwrap().keep();
        let mut store = home.store();
        one_run(&mut store, 2_000, "badger");
        old_loop(&mut store, "numbat", 3_000, true);
        drop(store);
        copy_all(&root, &outside.join("earlier"));
        one_run(&mut home.store(), 6_000, "wombat");
        to_format(&home, 5);
        purge_in_format_5(&home);
        Self::with(home, root, &outside, [Uuid::nil(); 2])
    }

    /// The sample whose current files are in `root`; `outside` has the earlier ones.
    fn with(home: Home, root: PathBuf, outside: &Path, class_ids: [Uuid; 2]) -> Self {
        // Moves all rows from the log into the database file.
        home.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let other = Home::new();
        one_run(&mut other.store(), 2_000, "stranger");
        other.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let stranger = outside.join("stranger");
        copy_all(&other.evidence, &stranger);
        let current = outside.join("current");
        copy_all(&root, &current);
        let (earlier, expected) = (outside.join("earlier"), String::new());
        Self { home, root, earlier, current, stranger, class_ids, expected }
    }

    pub(super) fn restore(&self) {
        for folder in [&self.home.evidence, &self.home.secrets] {
            let _ = fs::remove_dir_all(folder);
            let _ = fs::remove_file(folder);
        }
        copy_all(&self.current, &self.root);
    }

    pub(super) fn database(&self) -> PathBuf {
        self.home.evidence.join("execution_log.db")
    }

    /// The difference or error that `verify` or opening reports, if any.
    pub(super) fn detected(&self) -> Option<String> {
        match verify_with_kept_head(&self.home.evidence, &self.home.secrets, None) {
            Err(error) => return Some(error.to_string()),
            Ok(report) if !report.ok => return report.first_bad,
            Ok(_) => {}
        }
        match EvidenceStore::open(&self.home.evidence, &self.home.secrets) {
            Err(error) => Some(error.to_string()),
            Ok(_) => None,
        }
    }

    /// Everything that queries return or grant.
    pub(super) fn observe(&self) -> Result<String, EvidenceError> {
        let mut text = String::new();
        let mut reader = EvidenceReader::open(&self.home.evidence, &self.home.secrets)?;
        let mut add = |what: &dyn std::fmt::Debug| writeln!(text, "{what:?}").unwrap();
        let runs = reader.runs(100)?;
        add(&runs);
        for run in runs {
            add(&reader.replay(run.run_id)?);
            add(&reader.plan_of_run(run.run_id)?);
            add(&reader.succeeded_steps(run.run_id)?);
            add(&reader.files_after(run.run_id)?);
            add(&reader.open_intents(run.run_id)?);
        }
        for found in reader.loops(100)? {
            add(&reader.bounded_loop(found.loop_id)?);
            add(&reader.replay_loop(found.loop_id)?);
        }
        add(&reader.history("/home/someone/project", None)?.1);
        for tool in ["file_read", "file_write"] {
            let rows = reader.q1(tool, Range::default())?;
            for row in &rows {
                add(&reader.execution(row.row.execution_id)?);
            }
            add(&rows);
            add(&reader.q2(tool, Range::default())?);
        }
        add(&reader.q3("E0425", Range::default())?);
        add(&reader.q7(2, Range::default())?);
        add(&reader.q8("E0425", None, Range::default())?);
        add(&reader.rejections("", Range::default())?);
        add(&reader.interrupted_runs(Range::default())?);
        for file in ["badger", "wombat", "quokka"] {
            add(&reader.q4(file, Range::default())?);
            add(&reader.q6(file)?);
            add(&reader.stored_content(&Digest::of(file.as_bytes()))?);
        }
        for words in ["", "wombat", "done", "platypus"] {
            let query = SearchQuery { words: words.to_owned(), ..SearchQuery::default() };
            let page = reader.search(&query)?;
            // A note reports a change, so the change is not hidden.
            add(&SearchPage { took_us: 0, note: None, ..page });
        }
        add(&reader.trusted_commands()?);
        let store = EvidenceStore::open(&self.home.evidence, &self.home.secrets)?;
        add(&store.trusted_commands()?);
        for class_id in self.class_ids {
            add(&store.is_class_revoked(class_id)?);
        }
        Ok(text)
    }
}

pub(super) fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
