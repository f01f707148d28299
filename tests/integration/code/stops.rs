//! Replacements that are stopped or killed: the file is restored, and files that `splice` leaves are named
//! and removed by a plan (SPEC §3, §4).

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use countersign::engine::{FollowUp, FollowUpError, reconcile};
use countersign::evidence::EvidenceReader;
use countersign::run::{AnsweredBy, Control, RunEvent, SettleMode};
use serde_json::{Value, json};

use crate::harness::{FinishedRun, Harness, plan, step, write_file};

const LIB: &str = "pub fn old() -> u8 {\n    1\n}\n";
const NEW: &str = "pub fn old() -> u8 {\n    2\n}\n";

fn project() -> Harness {
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", LIB), ("new.rs", NEW)];
    let harness = Harness::with(&files);
    let fifo = harness.path("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
    harness
}

/// Runs a replacement and stops it as soon as a process opens the pipe. Returns the file's content at that moment
/// and the run.
fn stopped_at_the_pipe(harness: &Harness) -> (String, FinishedRun) {
    let patch = json!({"file": "src/lib.rs", "symbol": "old", "with": "new.rs"});
    let plan = plan([step("patch", "splice_patch", patch), write_file("never", "a", "1")]);
    let approved = harness.authorize(&plan);
    let control = harness.control.clone();
    let (fifo, lib) = (harness.path("fifo"), harness.path("src/lib.rs"));
    thread::scope(|scope| {
        let person = scope.spawn(move || {
            // Opening returns once the other side opens the pipe. Its read blocks while this side is open.
            let pipe = OpenOptions::new().write(true).open(fifo).unwrap();
            let meanwhile = fs::read_to_string(lib).unwrap();
            control.request(Control::StopNow, AnsweredBy::Test);
            (pipe, meanwhile)
        });
        let ran = harness.execute(approved);
        // If nothing waited there, the test would not end.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let other = OpenOptions::new().read(true).custom_flags(flags).open(harness.path("fifo"));
        drop(other.unwrap());
        (person.join().unwrap().1, ran)
    })
}

fn assert_restored(harness: &Harness, ran: &FinishedRun) {
    assert_eq!(ran.words(), (vec!["cancelled"], "cancelled"));
    assert_eq!(ran.codes(), [Some("E307")]);
    assert_eq!(harness.content("src/lib.rs").unwrap(), LIB);
    assert!(harness.content("a").is_none());
    let changed =
        "SELECT count(*) FROM file_contents WHERE phase = 'actual' AND path != 'Cargo.lock'";
    assert_eq!(harness.count(changed, []), 0, "nothing is recorded as changed");
    // Reading the pipe would block, so it is removed before the tree is read.
    fs::remove_file(harness.path("fifo")).unwrap();
    let is_left = |name: &String| name.contains(".countersign-") || name.ends_with(".tmp");
    let left = harness.tree().into_keys().filter(is_left);
    assert_eq!(left.count(), 0);
}

#[test]
fn stop_in_second_check_restores_the_file() {
    let harness = project();
    // The build script waits only when it sees the replacement.
    let script = format!(
        "fn main() {{\n    println!(\"cargo::rerun-if-changed=src/lib.rs\");\n    \
         if std::fs::read_to_string(\"src/lib.rs\").unwrap().contains('2') {{\n        \
         std::fs::read({:?}).unwrap();\n    }}\n}}\n",
        harness.path("fifo")
    );
    harness.put("build.rs", script);
    let (meanwhile, ran) = stopped_at_the_pipe(&harness);
    assert_eq!(meanwhile, NEW, "the check looked at the replacement");
    assert_restored(&harness, &ran);
}

#[test]
fn stop_during_splice_restores_the_file() {
    let mut harness = project();
    // The temporary files of `splice` remain when it is killed.
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'splice 9.9.9' && exit 0\ncd '{}'\n\
         echo new > src/.lib.rs.patch.tmp\necho half > src/lib.rs\nread line < fifo\n",
        harness.path("").display()
    );
    harness.replace_splice(&script);
    let (meanwhile, ran) = stopped_at_the_pipe(&harness);
    assert_eq!(meanwhile, "half\n");
    assert_restored(&harness, &ran);
}

/// The temporary files are listed, and a follow-up plan removes them.
#[test]
fn leftovers_of_killed_splice_are_removed() {
    let files = [("a.py", "def one():\n    return 1\n"), ("one.py", "def one():\n    return 2\n")];
    // The program panics in the middle, which ends its child processes as a kill would.
    let mut harness = Harness::with(&files).on_event(|event| {
        assert!(!matches!(event, RunEvent::StepOutput { .. }), "the program ends, says the test");
    });
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'splice 9.9.9' && exit 0\ncd '{}'\n\
         echo new > .a.py.patch.tmp; echo old > .a.py.rollback.tmp\necho here; sleep 600\n",
        harness.path("").display()
    );
    harness.replace_splice(&script);
    let patch = json!({"file": "a.py", "symbol": "one", "with": "one.py"});
    let approved = harness.authorize(&plan([step("s", "splice_patch", patch)]));
    let (mut executor, _) = harness.executor();
    catch_unwind(AssertUnwindSafe(|| executor.execute(approved))).unwrap_err();
    drop(executor);

    let harness = harness.on_event(|_| {});
    let mut evidence = EvidenceReader::open(&harness.evidence(), harness.path("no key")).unwrap();
    let run = evidence.runs(1).unwrap().remove(0).run_id;
    let rows = reconcile(&mut evidence, run, &harness.policy).unwrap();
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(row.leftover.as_deref(), Some(".a.py.patch.tmp"));
    assert!(row.sentence().contains("the temporary file .a.py.patch.tmp, which can be deleted"));
    assert!(SettleMode::RollBack.is_open(&rows) && !SettleMode::Finish.is_open(&rows));
    let (_, bytes) =
        FollowUp::Settle(SettleMode::RollBack).plan(&mut evidence, run, &harness.policy).unwrap();
    assert!(harness.path(".a.py.rollback.tmp").exists(), "a plan was written, and nothing done");
    let removal: Value = serde_json::from_slice(&bytes).unwrap();
    let ran = harness.run(&removal);
    assert_eq!(ran.words(), (vec!["succeeded"], "completed"));
    let left: Vec<String> = harness.tree().into_keys().filter(|it| it.ends_with(".tmp")).collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(harness.content("a.py").unwrap(), files[0].1, "the file itself is left alone");
    let again = FollowUp::Settle(SettleMode::RollBack)
        .plan(&mut evidence, run, &harness.policy)
        .unwrap_err();
    assert!(matches!(again, FollowUpError::NothingToSettle { .. }), "{again}");
}
