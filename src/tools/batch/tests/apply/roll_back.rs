//! Batches that fail, panic or are stopped, and are rolled back.

use super::*;

#[test]
fn any_single_failure_restores_all_files() {
    let mut seen = BTreeSet::new();
    for n in 0.. {
        let fixture = Fixture::new();
        let before = fixture.tree();
        let fail = fail_at(n);
        let last = Cell::new(None);
        let gate = |act| fail(act).inspect_err(|_| last.set(Some(act)));
        let done = fixture.apply(&gate);
        let Some(act) = last.get() else {
            done.unwrap();
            fixture.assert_applied();
            assert!(n > 30, "only {n} acts were seen");
            break;
        };
        seen.insert(format!("{act:?}"));
        let rolled_back = done.expect_err("it fails");
        assert!(rolled_back.not_restored.is_empty(), "{n} {act:?}: {rolled_back:?}");
        assert!(rolled_back.warnings.is_empty(), "{n} {act:?}: {rolled_back:?}");
        assert_eq!(rolled_back.error.code(), Code::WriteFailed);
        assert_eq!(fixture.tree(), before, "{n} {act:?}");
    }
    let all = [
        "CreateFile",
        "CreateFolder",
        "Exchange",
        "FlushFile",
        "FlushFolder",
        "FlushTogether",
        "Move",
    ];
    let all = all.into_iter().chain(["RemoveFile", "SetMode", "Write"]);
    assert_eq!(seen, all.map(str::to_owned).collect());
}

#[test]
fn failures_on_old_file_systems_restore_all_files() {
    for links in [true, false] {
        let mut failures = 0;
        for n in 0.. {
            let fixture = Fixture::new();
            let before = fixture.tree();
            let (operations, last) = (Cell::new(0), Cell::new(None));
            let gate = |act| {
                operations.set(operations.get() + 1);
                if operations.get() == n + 1 {
                    last.set(Some(act));
                    return Err(Errno::IO.into());
                }
                match act {
                    // Without exchange and without links, the old file cannot keep a second name when it is
                    // replaced.
                    DiskOp::Exchange => Err(Errno::INVAL.into()),
                    DiskOp::Move if links => Err(Errno::INVAL.into()),
                    DiskOp::Link if !links => Err(Errno::PERM.into()),
                    _ => Ok(()),
                }
            };
            match (fixture.apply(&gate), last.get()) {
                (Ok(_), None) => {
                    fixture.assert_applied();
                    assert!(n > 30, "only {n} acts were seen");
                    break;
                }
                // A rename replaces the link that failed.
                (Ok(_), Some(DiskOp::Link)) => fixture.assert_applied(),
                (Ok(_), Some(act)) => panic!("{n} {act:?} has failed"),
                (Err(rolled_back), _) => {
                    assert!(rolled_back.not_restored.is_empty(), "{n}: {rolled_back:?}");
                    assert_eq!(fixture.tree(), before, "{n}: {rolled_back:?}");
                    failures += 1;
                }
            }
        }
        assert!(failures > 20, "{failures}");
    }
}

/// Two failures: the reported state of each file is its state on the disk.
#[test]
fn failed_rollback_reports_the_state_of_each_file() {
    let mut not_restored = 0;
    for forever in [false, true] {
        for n in 0.. {
            let fixture = Fixture::new();
            let fail = fail_at(n);
            let happened = Cell::new(false);
            let probe = fixture.apply(&|act| fail(act).inspect_err(|_| happened.set(true)));
            if !happened.get() {
                probe.unwrap();
                break;
            }
            for m in 0.. {
                let fixture = Fixture::new();
                let before = fixture.tree();
                let (operations, second) = (Cell::new(0), Cell::new(false));
                let gate = |_| {
                    let now = operations.replace(operations.get() + 1);
                    if now == n {
                        return Err(Errno::IO.into());
                    }
                    if now == n + 1 + m || (forever && now > n + m) {
                        second.set(true);
                        return Err(Errno::IO.into());
                    }
                    Ok(())
                };
                let rolled_back = fixture.apply(&gate).expect_err("it fails");
                assert_reported(&rolled_back, &before, &fixture);
                not_restored += rolled_back.not_restored.len();
                if !second.get() {
                    break;
                }
            }
        }
    }
    assert!(not_restored > 50, "only {not_restored} files were not put back");
}

/// Checks every statement of `rolled_back` against the files on the disk.
fn assert_reported(rolled_back: &RolledBack, before: &Tree, fixture: &Fixture) {
    let now = fixture.tree();
    let mut reported = BTreeSet::new();
    for file in &rolled_back.not_restored {
        let path = &file.effect.path;
        let content = now.get(path).map(|(_, bytes)| bytes.clone().unwrap());
        let was = before.get(path).map(|(_, bytes)| bytes.clone().unwrap());
        let state = match &content {
            content if *content == was => "before",
            content if content.as_deref() == file.effect.after_bytes.as_deref() => "after",
            _ => "other",
        };
        assert_eq!(file.state(), state, "{rolled_back:?}");
        if let Some(original) = &file.original {
            assert_eq!(now[original].1, was, "the reported file has the old content");
            reported.insert(original.clone());
        }
        reported.insert(path.clone());
    }
    for (path, was) in before {
        if now.get(path) != Some(was) {
            assert!(
                reported.contains(path),
                "{path} is not as before and not named: {rolled_back:?}"
            );
        }
    }
    for path in now.keys().filter(|path| !before.contains_key(*path)) {
        let named = reported.contains(path)
            || rolled_back.warnings.iter().any(|warning| warning.contains(path.as_str()));
        assert!(named, "{path} stays and is not named: {rolled_back:?}");
    }
    if rolled_back.not_restored.is_empty() {
        for (path, was) in before {
            assert_eq!(now.get(path), Some(was), "{path}");
        }
    } else {
        let paths = rolled_back.not_restored.iter().map(|file| file.effect.path.as_str());
        let text = rolled_back.error.to_string();
        for path in paths {
            assert!(text.contains(path), "{text}");
        }
    }
}

#[test]
fn panic_restores_all_files() {
    for n in 0.. {
        let fixture = Fixture::new();
        let before = fixture.tree();
        let operations = Cell::new(0);
        let gate = |_| {
            operations.set(operations.get() + 1);
            assert!(operations.get() != n + 1, "a fault of the program");
            Ok(())
        };
        let run = std::panic::AssertUnwindSafe(|| fixture.apply(&gate));
        match std::panic::catch_unwind(run) {
            Err(_) => assert_eq!(fixture.tree(), before, "{n}"),
            Ok(done) => {
                done.unwrap();
                assert!(n > 30, "only {n} acts were seen");
                break;
            }
        }
    }
}

#[test]
fn stop_restores_all_files() {
    for n in 0.. {
        let fixture = Fixture::new();
        let before = fixture.tree();
        let operations = Cell::new(0);
        let gate = |_| {
            operations.set(operations.get() + 1);
            if operations.get() == n + 1 {
                fixture.stop.set();
            }
            Ok(())
        };
        let done = fixture.apply(&gate);
        match done {
            Err(rolled_back) => {
                assert!(
                    matches!(rolled_back.error.get(), Some(WorkspaceError::Cancelled)),
                    "{n}: {rolled_back:?}"
                );
                assert_eq!(fixture.tree(), before, "{n}");
            }
            // The stop comes too late: all changes are in place.
            Ok(_) => {
                fixture.assert_applied();
                assert!(n > 20, "{n}");
                break;
            }
        }
    }
}
