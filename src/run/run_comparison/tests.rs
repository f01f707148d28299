use super::super::waterfall::tests::{run, step};
use super::*;
use crate::run::{Known, LineKind, Outcome};

fn text(stream: &str, text: &str) -> RecordedOutput {
    let content = OutputContent::Text(text.to_owned());
    RecordedOutput { stream: stream.to_owned(), bytes: text.len() as u64, content }
}

fn stored(content: &[u8], bytes: u64) -> RecordedOutput {
    let content = OutputContent::Stored(Digest::of(content));
    RecordedOutput { stream: "stdout".to_owned(), bytes, content }
}

/// A run of steps with these paths and outputs, of which the step at this index failed.
fn recorded(steps: &[(&str, Vec<RecordedOutput>)], failed: Option<usize>) -> RecordedSteps {
    let listed = (0..steps.len()).map(|index| {
        let outcome = if failed == Some(index) { Outcome::Failed } else { Outcome::Succeeded };
        (step(index, index as i64 * 100, Known::Outcome(outcome), 10), None)
    });
    let arguments = |path: &str| Arguments::from([("path".to_owned(), path.to_owned())]);
    RecordedSteps {
        waterfall: Waterfall::new(run(Some(1_000)), listed.collect(), &[]),
        steps: steps
            .iter()
            .map(|(path, outputs)| RecordedStep {
                arguments: arguments(path),
                outputs: outputs.clone(),
            })
            .collect(),
        inputs: BTreeMap::new(),
    }
}

fn between(before: RecordedSteps, after: RecordedSteps) -> RunComparison {
    let mut read = |digest: &Digest| -> Result<_, std::convert::Infallible> {
        let contents = [&b"old\n"[..], b"new\n"];
        Ok(contents.iter().find(|it| Digest::of(it) == *digest).map(|it| it.to_vec()))
    };
    RunComparison::between(before, after, None, &mut read).unwrap()
}

#[test]
fn equal_steps_are_paired_first() {
    let none = Vec::new;
    let before = recorded(&[("a", none()), ("b", none()), ("gone", none())], None);
    // The first step moved, and the steps of the second run have the ids s0, s1, s2.
    let after = recorded(&[("b", none()), ("c", none()), ("b", none())], None);
    let found = between(before, after);
    let pairs: Vec<_> = found
        .steps
        .iter()
        .map(|it| {
            let index = |step: &Option<StepTimes>| step.as_ref().map(|it| it.listed.row.step_index);
            (it.pair, index(&it.before), index(&it.after))
        })
        .collect();
    assert_eq!(
        pairs,
        [
            (StepPair::Same, Some(1), Some(0)),
            (StepPair::OnlyAfter, None, Some(1)),
            (StepPair::Changed, Some(2), Some(2)),
            (StepPair::OnlyBefore, Some(0), None),
        ]
    );
    assert_eq!(found.steps[2].arguments, " path:\n-gone\n+b\n");
    assert_eq!(found.differing_steps(), 3);
    assert!(found.same_plan);
    assert_eq!(found.steps[2].differing(), ["arguments"]);
}

#[test]
fn outcomes_and_outputs_of_pairs_are_compared() {
    let before = recorded(&[("a", vec![text("stdout", "one\ntwo\n")]), ("b", Vec::new())], None);
    let after = recorded(
        &[
            ("a", vec![text("stdout", "one\nzwei\n"), text("stderr", "warning\n")]),
            ("b", Vec::new()),
        ],
        Some(1),
    );
    let found = between(before, after);
    assert_eq!(found.steps[0].differing(), ["output"]);
    let lines: Vec<_> = found.steps[0]
        .outputs
        .iter()
        .map(|it| match &it.change.diff {
            Diff::Text { lines, added, removed } => {
                let changed = lines.iter().filter(|it| it.kind != LineKind::Context);
                let text: Vec<_> = changed.map(|it| it.text.as_str()).collect();
                (it.change.path.as_str(), *added, *removed, text.join(" "))
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        lines,
        [("stdout", 1, 1, "two zwei".to_owned()), ("stderr", 1, 0, "warning".to_owned())]
    );
    assert_eq!(found.steps[1].differing(), ["outcome"]);
}

#[test]
fn stored_outputs_are_read_if_they_are_not_too_large() {
    let one = |output: RecordedOutput| recorded(&[("a", vec![output])], None);
    let diff_of = |old, new| between(one(old), one(new)).steps[0].outputs[0].change.diff.clone();
    let read = diff_of(stored(b"old\n", 4), stored(b"new\n", 4));
    assert!(matches!(read, Diff::Text { added: 1, removed: 1, .. }), "{read:?}");
    let sizes = |before, after| Diff::Binary { before_bytes: before, after_bytes: after };
    let large = MAX_COMPARED_BYTES + 1;
    assert_eq!(diff_of(stored(b"old\n", large), stored(b"new\n", 4)), sizes(Some(large), Some(4)));
    assert_eq!(
        diff_of(stored(b"purged", 6), stored(b"new\n", 4)),
        sizes(Some(6), Some(4)),
        "it is not available"
    );
    assert!(between(one(stored(b"x", 1)), one(stored(b"x", 1))).steps[0].outputs.is_empty());
}

#[test]
fn differences_have_a_limit_that_is_reported() {
    let long = |line: &str| text("stdout", &format!("{line}\n").repeat(MAX_LINES / 2 + 1));
    let of = |line| recorded(&[("a", vec![long(line)]), ("b", vec![long(line)])], None);
    let found = between(of("x"), of("y"));
    assert_eq!(found.left_out, 2);
    assert!(matches!(found.steps[1].outputs[0].change.diff, Diff::Binary { .. }));
}

#[test]
fn approved_inputs_are_compared() {
    let content = |text: &str| FileState::Content(Digest::of(text.as_bytes()));
    let with = |inputs: &[(&str, FileState)]| RecordedSteps {
        inputs: inputs.iter().map(|(path, state)| ((*path).to_owned(), *state)).collect(),
        ..recorded(&[], None)
    };
    let found = between(
        with(&[("a", content("1")), ("b", FileState::Absent), ("c", content("1"))]),
        with(&[("a", content("1")), ("b", content("2"))]),
    );
    let found: Vec<_> =
        found.inputs.iter().map(|it| (it.path.as_str(), it.before, it.after)).collect();
    assert_eq!(
        found,
        [("b", Some(FileState::Absent), Some(content("2"))), ("c", Some(content("1")), None)]
    );
}
