use super::*;
use crate::plan::Digest;

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn state(text: &str) -> FileState {
    if text.is_empty() {
        FileState::Absent
    } else {
        FileState::Content(Digest::of(text.as_bytes()))
    }
}

/// The entry with this number, of the run that is 100 plus its tens, which changed files as in `a: 1 2`.
fn entry(number: u128, files: &[(&str, &str, &str)], takes_back: &[u128]) -> HistoryEntry {
    let file = |(path, before, after): &(&str, &str, &str)| FileForecast {
        path: (*path).to_owned(),
        before: state(before),
        after: state(after),
        modes: Modes::default(),
    };
    HistoryEntry {
        execution_id: id(number),
        run_id: id(100 + number / 10),
        attempt: None,
        place: i64::try_from(number).unwrap(),
        timestamp_ms: 0,
        step_id: format!("s{number}"),
        tool_name: "file_write".to_owned(),
        about: "a".to_owned(),
        files: files.iter().map(file).collect(),
        takes_back: takes_back.iter().copied().map(id).collect(),
        is_recorded: true,
    }
}

fn history(entries: Vec<HistoryEntry>) -> History {
    let runs: BTreeSet<_> = entries.iter().map(|entry| entry.run_id).collect();
    let checkpoint = |run: Uuid| Checkpoint {
        name: CheckpointName::Run(run),
        place: i64::try_from((run.as_u128() - 100) * 10).unwrap(),
        timestamp_ms: 0,
        title: "p".to_owned(),
    };
    History { entries, checkpoints: runs.into_iter().map(checkpoint).collect() }
}

fn numbers(entries: Result<Vec<&HistoryEntry>, NoWay>) -> Vec<u128> {
    entries.unwrap().iter().map(|entry| entry.execution_id.as_u128()).collect()
}

fn run(number: u128) -> CheckpointName {
    CheckpointName::Run(id(number))
}

// Undo takes back one change after the other, and redo restores them in turn.
#[test]
fn undo_and_redo_go_step_by_step() {
    let mut all =
        history(vec![entry(1, &[("a", "", "1")], &[]), entry(2, &[("a", "1", "2")], &[])]);
    assert_eq!(all.to_redo().unwrap_err(), NoWay::NothingToRedo);
    for (number, taken) in [(11, 2), (21, 1)] {
        assert_eq!(numbers(all.to_undo(None)), [taken]);
        all.entries.push(entry(number, &[], &[taken]));
    }
    assert_eq!(all.to_undo(None).unwrap_err(), NoWay::NothingToUndo);
    assert_eq!(all.standing(), [false, false, true, true]);
    for (number, taken) in [(31, 21), (41, 11)] {
        assert_eq!(numbers(all.to_redo()), [taken]);
        all.entries.push(entry(number, &[], &[taken]));
    }
    assert_eq!(all.standing(), [true, true, false, false, true, true]);
    assert_eq!(all.to_redo().unwrap_err(), NoWay::NothingToRedo);
    assert_eq!(numbers(all.to_undo(None)), [2], "what was done again is undone again");
}

#[test]
fn a_later_change_leaves_nothing_to_redo() {
    let undone = vec![entry(1, &[("a", "", "1")], &[]), entry(11, &[("a", "1", "")], &[1])];
    let all = history(undone.clone());
    assert_eq!(numbers(all.to_redo()), [11]);
    let later = [undone, vec![entry(21, &[("b", "", "1")], &[])]].concat();
    let all = history(later.clone());
    assert_eq!(all.to_redo().unwrap_err(), NoWay::NothingToRedo);
    // This also holds once the later change is taken back: only that one can be restored.
    let all = history([later, vec![entry(31, &[("b", "1", "")], &[21])]].concat());
    assert_eq!(numbers(all.to_redo()), [31]);
    let again = [all.entries, vec![entry(41, &[("b", "", "1")], &[31])]].concat();
    assert_eq!(history(again).to_redo().unwrap_err(), NoWay::NothingToRedo);
}

// A revert of a revert restores the change, and can itself be reverted.
#[test]
fn a_revert_of_a_revert_redoes() {
    let mut all = history(vec![entry(1, &[("a", "", "1")], &[])]);
    for number in [11, 21, 31, 41] {
        let last = all.entries.last().unwrap().run_id;
        let taken = numbers(all.to_undo(Some(&CheckpointName::Run(last))));
        all.entries.push(entry(number, &[], &taken));
    }
    assert_eq!(all.standing(), [true, false, true, false, true]);
    assert_eq!(
        all.to_undo(Some(&run(101))).unwrap_err().to_string(),
        format!("the changes of run:{} are undone already", id(101))
    );
    assert_eq!(
        all.to_undo(Some(&run(107))).unwrap_err(),
        NoWay::Unknown { name: run(107).to_string() }
    );
}

// What a run took back of its own changes is part of its changes.
#[test]
fn undos_inside_a_run_belong_to_it() {
    let inside = history(vec![
        entry(1, &[("a", "", "1")], &[]),
        entry(2, &[("a", "1", "")], &[1]),
        entry(11, &[("b", "", "1")], &[]),
    ]);
    let both = inside.to_undo(Some(&run(100)));
    assert_eq!(numbers(both.clone()), [1, 2]);
    let way = &way_back(&both.unwrap())[0];
    assert_eq!((way.target, way.left.clone(), way.gap), (state(""), vec![state("")], None));
    // What another run took back is already undone.
    let outside = history(vec![
        entry(1, &[("a", "", "1")], &[]),
        entry(2, &[("b", "", "1")], &[]),
        entry(11, &[], &[2]),
    ]);
    assert_eq!(numbers(outside.to_undo(Some(&run(100)))), [1]);
}

#[test]
fn a_way_back_finds_foreign_changes_between() {
    let first = entry(1, &[("a", "1", "2"), ("b", "", "x")], &[]);
    let next = entry(2, &[("a", "2", "3")], &[]);
    let apart = entry(3, &[("a", "hand", "4"), ("a", "4", "5")], &[]);
    let way = way_back(&[&first, &next]);
    assert_eq!(way[0].target, state("1"));
    assert_eq!((way[0].left.clone(), way[0].gap), (vec![state("3")], None));
    assert_eq!((way[1].target, way[1].left.clone()), (state(""), vec![state("x")]));
    let way = way_back(&[&first, &next, &apart]);
    assert_eq!((way[0].left.clone(), way[0].gap), (vec![state("5")], Some(id(3))));
    // Whether an interrupted step wrote the file is unknown, so it may have left either state.
    let interrupted = HistoryEntry { is_recorded: false, ..next };
    let way = way_back(&[&first, &interrupted]);
    assert_eq!(way[0].left, [state("3"), state("2")]);
    for after in ["2", "3"] {
        let later = entry(4, &[("a", after, "9")], &[]);
        assert_eq!(way_back(&[&first, &interrupted, &later])[0].gap, None);
    }
    assert_eq!(history(vec![interrupted]).to_undo(None).unwrap_err(), NoWay::NothingToUndo);
}

#[test]
fn a_checkpoint_knows_later_changes_and_states() {
    let all = history(vec![
        entry(1, &[("a", "", "1")], &[]),
        entry(11, &[("a", "1", "2"), ("a", "2", "3")], &[]),
        entry(12, &[("b", "x", "y")], &[]),
    ]);
    assert_eq!(numbers(all.since(&run(101))), [11, 12]);
    assert_eq!(numbers(all.since(&CheckpointName::Execution(id(12)))), [12]);
    assert!(all.since(&run(109)).is_err());
    assert_eq!(all.state_at("a", 0), Some(state("")));
    assert_eq!(all.state_at("a", 10), Some(state("1")));
    assert_eq!(all.state_at("a", 12), Some(state("3")));
    assert_eq!(all.state_at("b", 10), Some(state("x")));
    assert_eq!(all.state_at("c", 0), None);
    let mut unsure = all.clone();
    unsure.entries[1].is_recorded = false;
    assert_eq!(unsure.state_at("a", 12), None, "nobody knows what an interrupted step left");
    assert_eq!(unsure.state_at("a", 10), Some(state("1")));
    assert_eq!(all.left_by("a", state("3"), 1).unwrap().execution_id, id(11));
    assert!(all.left_by("a", state("3"), 11).is_none());
}

#[test]
fn git_paths_are_recognised() {
    for path in [".git", ".git/config", "sub/.GIT/hooks/x", "vendor/.git", "/other/.git/HEAD"] {
        assert!(is_git_path(path), "{path}");
    }
    for path in [".gitignore", "a.git", "git/config", ".github/x"] {
        assert!(!is_git_path(path), "{path}");
    }
}

#[test]
fn checkpoint_names_are_read_back() {
    let attempt = Attempt { loop_id: id(7), number: 3 };
    let names = [run(1), CheckpointName::Execution(id(2)), CheckpointName::Attempt(attempt)];
    for name in names {
        assert_eq!(name.to_string().parse(), Ok(name));
    }
    for text in ["", "run", "run:", "run:x", "loop:7", &format!("loop:{}:x", id(7)), "plan:1"] {
        assert!(text.parse::<CheckpointName>().is_err(), "{text}");
    }
}

/// The mode that is restored over changes of a file: each with its contents and modes before and after, where `""`
/// and 0 stand for absent and unknown. The file has the mode `now`, or is absent.
fn comes_back(changes: &[(&str, u32, &str, u32)], is_there: bool, now: u32) -> Option<u32> {
    let mode = |bits: u32| (bits != 0).then(|| FileMode::new(bits));
    let entries: Vec<HistoryEntry> = changes
        .iter()
        .zip(1..)
        .map(|((before, old, after, new), number)| {
            let mut entry = entry(number, &[("a", before, after)], &[]);
            entry.files[0].modes = Modes { before: mode(*old), after: mode(*new) };
            entry
        })
        .collect();
    let ways = way_back(&entries.iter().collect::<Vec<_>>());
    ways[0].recorded_mode(is_there, mode(now)).map(FileMode::bits)
}

#[test]
fn a_restored_file_gets_its_last_mode() {
    let deleted = ("x", 0o755, "", 0);
    assert_eq!(comes_back(&[deleted], false, 0), Some(0o755));
    // An earlier write that keeps the mode makes no difference.
    let written = ("w", 0o755, "x", 0o755);
    assert_eq!(comes_back(&[written, deleted], false, 0), Some(0o755));
    // Somebody changed the mode between two steps, or the first was recorded without one.
    assert_eq!(comes_back(&[("w", 0o644, "x", 0o644), deleted], false, 0), Some(0o755));
    assert_eq!(comes_back(&[("w", 0, "x", 0), deleted], false, 0), Some(0o755));
    assert_eq!(comes_back(&[("x", 0, "", 0)], false, 0), None, "nobody knows");
}

// An existing file keeps its mode, unless the changes set that mode.
#[test]
fn an_existing_file_keeps_a_foreign_mode() {
    let written = ("w", 0o644, "x", 0o644);
    assert_eq!(comes_back(&[written], true, 0o644), None);
    assert_eq!(comes_back(&[written], true, 0o755), None, "somebody made it executable since");
    let replaced = ("w", 0o644, "x", 0o755);
    assert_eq!(comes_back(&[replaced], true, 0o755), Some(0o644));
    assert_eq!(comes_back(&[replaced], true, 0o700), None, "somebody changed it since");
    let anew = [("w", 0o755, "", 0), ("", 0, "x", 0o644)];
    assert_eq!(comes_back(&anew, true, 0o644), Some(0o755));
    // A mode that somebody else set in between is kept.
    assert_eq!(comes_back(&[written, ("x", 0o600, "y", 0o600)], true, 0o600), None);
    assert_eq!(comes_back(&[("w", 0, "x", 0)], true, 0o644), None);
}
