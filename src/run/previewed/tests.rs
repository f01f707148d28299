use super::*;
use crate::plan::Digest;
use crate::run::FileChange;

const OLD: &[u8] = b"old";

fn content(bytes: &[u8]) -> FileState {
    FileState::Content(Digest::of(bytes))
}

fn change(path: &str, before: FileState, after: FileState, lines: (usize, usize)) -> FileChange {
    let diff = Diff::Text { lines: Vec::new(), added: lines.0, removed: lines.1 };
    FileChange { path: path.to_owned(), before, after, diff }
}

fn exact(changes: Vec<FileChange>) -> PreviewedStep {
    PreviewedStep::of(&Preview::exact(String::new(), changes, Vec::new()))
}

fn fates(steps: &PreviewedSteps, paths: &[&str], may_delete: bool) -> Vec<&'static str> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let inputs = paths.iter().map(|path| (path.clone(), content(OLD))).collect();
    let fates = steps.fates(&paths, &inputs, |_| Some(may_delete));
    fates.into_iter().map(FileFate::as_str).collect()
}

#[test]
fn files_have_the_fate_between_the_first_and_the_last_state() {
    let (old, new, none) = (content(OLD), content(b"new"), FileState::Absent);
    let mut steps = PreviewedSteps::new(2);
    let all = ["a", "b", "c", "d", "e"];
    assert_eq!(fates(&steps, &all[..1], false), ["replaced"], "as its state now says");
    assert_eq!(fates(&steps, &all[..1], true), ["written"], "it may be deleted");
    steps.store(0, exact(vec![change("a", old, none, (0, 1)), change("b", old, new, (1, 1))]));
    let changes = [change("b", new, old, (1, 1)), change("c", none, new, (3, 0))];
    let second = [change("d", old, new, (2, 0))];
    steps.store(1, exact([&changes[..], &second[..]].concat()));
    let expected = ["deleted", "unchanged", "new", "replaced", "not written"];
    assert_eq!(fates(&steps, &all, true), expected);
    assert_eq!(steps.lines(), ((7, 3), true));
    assert!(steps.deleted().is_empty(), "not while they are computed");
    steps.end();
    assert_eq!(steps.deleted(), ["a"]);
}

#[test]
fn only_steps_that_succeeded_did_something() {
    let (old, none) = (content(OLD), FileState::Absent);
    let mut steps = PreviewedSteps::new(3);
    steps.store(0, exact(vec![change("a", old, none, (0, 1))]));
    steps.store(1, exact(vec![change("b", none, old, (1, 0))]));
    let first = ("a".to_owned(), FileFate::Deleted);
    let named = |_| vec![("c", FileFate::New)];
    let done = DoneFiles { files: vec![first.clone()], is_all: true };
    assert_eq!(steps.done(&[0], named), done);
    let third = ("c".to_owned(), FileFate::New);
    let done = DoneFiles { files: vec![first, third.clone()], is_all: false };
    assert_eq!(steps.done(&[0, 2], named), done);
    // Without previews, because the run ended before they were computed.
    let done = DoneFiles { files: vec![third], is_all: false };
    assert_eq!(PreviewedSteps::default().done(&[0], named), done);
}

#[test]
fn a_failing_step_changes_nothing_and_is_counted_once() {
    let mut steps = PreviewedSteps::new(3);
    let failing = PreviewedStep::of(&Preview::failure("a exists already", Vec::new()));
    steps.store(2, failing.clone());
    steps.store(0, failing.clone());
    steps.store(0, failing);
    assert_eq!((steps.failing(), steps.unknown(), steps.known()), (&[0, 2][..], 1, 2));
    assert_eq!(steps.failure(2), Some("a exists already."));
    steps.store(1, exact(Vec::new()));
    assert_eq!(fates(&steps, &["a"], false), ["not written"]);
    steps.store(0, exact(Vec::new()));
    assert_eq!(steps.failing(), [2]);
    // A command names no file, so that nothing else is known to write one.
    let command = Preview::unpredictable(String::new(), Vec::new());
    steps.store(0, PreviewedStep::of(&command));
    let paths = ["a".to_owned()];
    let fates = |names| steps.fates(&paths, &BTreeMap::new(), |_| names);
    assert_eq!(fates(None), [FileFate::NotWritten]);
    assert_eq!(fates(Some(false)), [FileFate::Written]);
}

/// A run ends at the first step that fails, so what is behind it does not happen.
#[test]
fn steps_behind_a_failing_one_do_nothing() {
    let (old, new, none) = (content(OLD), content(b"new"), FileState::Absent);
    let mut steps = PreviewedSteps::new(4);
    steps.store(0, exact(vec![change("a", old, new, (1, 1))]));
    steps.store(2, exact(vec![change("b", old, none, (0, 7))]));
    assert_eq!((steps.reached(), steps.ends_early()), (4, None));
    steps.store(1, PreviewedStep::of(&Preview::failure("it exists already", Vec::new())));
    assert_eq!(fates(&steps, &["a", "b"], true), ["replaced", "not written"]);
    assert_eq!((steps.reached(), steps.lines()), (1, ((1, 1), true)));
    let sentence = "The run would end at step 2; the 2 steps behind it would not run.";
    assert_eq!(steps.ends_early().as_deref(), Some(sentence));
    steps.end();
    assert!(steps.deleted().is_empty());
}

#[test]
fn lines_that_cannot_be_counted_are_not_all() {
    let mut steps = PreviewedSteps::new(2);
    let binary = Diff::Binary { before_bytes: Some(1), after_bytes: Some(2) };
    let binary = FileChange { diff: binary, ..change("a", content(OLD), content(b""), (0, 0)) };
    steps.store(0, exact(vec![binary]));
    steps.store(1, exact(vec![change("b", content(OLD), content(b""), (1, 2))]));
    assert_eq!(steps.lines(), ((1, 2), false));
    assert_eq!(steps.get(0).unwrap().lines, None);
}
