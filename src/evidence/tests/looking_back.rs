//! The times of a run, what is compared of two runs, and the history of a file, from their rows.

use super::fixture::*;
use crate::authorization::FileState;
use crate::evidence::*;
use crate::plan::{Digest, Step, ToolCall};
use crate::risk::RiskLevel;
use crate::run::*;

fn decision(run: &Running<'_>, step: usize, decision: Decision, timestamp_ms: i64) -> StepDecision {
    let note = String::new();
    StepDecision {
        request: request(run.run_id, &run.plan.steps[step]),
        answer: Answer { decision, by: AnsweredBy::Window, note },
        timestamp_ms,
    }
}

#[test]
fn a_waterfall_has_the_answers_pauses_and_open_steps_of_its_run() {
    let home = Home::new();
    let mut store = home.store();
    let steps = vec![read_step(0, "a"), write_step(1, "b", "x"), write_step(2, "c", "x")];
    let mut run = Running::begin(&mut store, plan(steps), 1_000);
    let run_id = run.run_id;
    let read = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 1_010);
    run.record(read, Extra::default());
    let asked = decision(&run, 1, Decision::Approve, 4_000);
    let written = result_of(&run.plan.steps[1].clone(), Outcome::Succeeded, 1_020);
    run.record(written, Extra { decision: Some(&asked), ..Extra::default() });
    for (control, timestamp_ms) in [(Control::Pause, 4_100), (Control::Resume, 5_100)] {
        run.store
            .commit(&Entry::Control(ControlRecord {
                run_id,
                control,
                by: AnsweredBy::Window,
                timestamp_ms,
            }))
            .unwrap();
    }
    let open = result_of(&run.plan.steps[2].clone(), Outcome::Succeeded, 5_200);
    run.intend(&open, &[]);
    let times = home.reader().waterfall(run_id).unwrap().unwrap();
    let found: Vec<_> =
        times.steps.iter().map(|it| (it.begun_ms, it.waited_ms, it.worked_ms)).collect();
    assert_eq!(found, [(10, 0, Some(7)), (20, 2_980, Some(7)), (4_200, 0, None)]);
    assert_eq!(times.pauses, [TimeSpan { from_ms: 3_100, to_ms: 4_100 }]);
    assert_eq!((times.total_ms, times.waited_ms, times.worked_ms), (4_200, 3_980, 14));
    assert!(times.steps[2].is_open());
    assert_eq!(home.reader().waterfall(uuid::Uuid::from_u128(7)).unwrap(), None);
}

#[test]
fn recorded_steps_have_arguments_outputs_and_inputs() {
    let home = Home::new();
    let mut store = home.store();
    let mut run = Running::begin(&mut store, plan(vec![read_step(0, "a")]), 1_000);
    let run_id = run.run_id;
    let large = "a line of output\n".repeat(1_000);
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 1_001);
    let extra = Extra { stderr: Some(b"short"), ..stdout(large.as_bytes()) };
    run.record(result, extra);
    run.end(&RunEnding::Completed);
    let mut reader = home.reader();
    let recorded = reader.recorded_steps(run_id).unwrap().unwrap();
    assert_eq!(recorded.steps[0].arguments["path"], "a");
    let digest = Digest::of(large.as_bytes());
    let contents: Vec<_> =
        recorded.steps[0].outputs.iter().map(|it| (it.stream.as_str(), &it.content)).collect();
    assert_eq!(
        contents,
        [
            ("stdout", &OutputContent::Stored(digest)),
            ("stderr", &OutputContent::Text("short".into()))
        ]
    );
    assert_eq!(reader.output_to_compare(&digest).unwrap().unwrap(), large.as_bytes());
    assert_eq!(recorded.inputs["a.txt"], FileState::Absent);
    store.purge_content(&digest, "no longer needed", 9_000).unwrap();
    assert_eq!(reader.output_to_compare(&digest).unwrap(), None);
}

/// Records a step that changes one file.
fn change(store: &mut EvidenceStore, at_ms: i64, file: &FileEffect) -> uuid::Uuid {
    let mut run = Running::begin(store, plan(vec![write_step(0, &file.path, "x")]), at_ms);
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, at_ms + 1);
    let id = result.execution_id;
    run.intend(&result, std::slice::from_ref(file));
    run.record(result, Extra { files: std::slice::from_ref(file), ..Extra::default() });
    run.end(&RunEnding::Completed);
    id
}

/// What happened to a file, whether something else had changed it, and the numbers of lines.
type Words = (&'static str, bool, Option<(usize, usize)>);

fn words(history: &FileHistory) -> Vec<Words> {
    let change = |it: &RecordedChange| (it.word(), it.changed_between, it.line_counts());
    history.changes.iter().map(change).collect()
}

#[test]
fn a_file_history_is_in_order_and_shows_where_others_wrote() {
    let home = Home::new();
    let mut store = home.store();
    let texts = ["one\n", "one\ntwo\n", "three\n", "four\n"].map(str::as_bytes);
    change(&mut store, 1_000, &effect("b.txt", None, Some(texts[0])));
    change(&mut store, 2_000, &effect("b.txt", Some(texts[0]), Some(texts[1])));
    change(&mut store, 3_000, &effect("other.txt", None, Some(texts[1])));
    // Something else wrote the third text.
    let last = change(&mut store, 4_000, &effect("b.txt", Some(texts[2]), Some(texts[3])));
    change(&mut store, 5_000, &effect("b.txt", Some(texts[3]), None));
    let mut reader = home.reader();
    let history = reader.file_history("b.txt", None, HistoryLimits::default()).unwrap();
    assert_eq!(
        words(&history),
        [
            ("created", false, Some((1, 0))),
            ("changed", false, Some((1, 0))),
            ("changed", true, Some((1, 1))),
            ("deleted", false, Some((0, 1))),
        ]
    );
    assert_eq!(history.changes[2].listed.row.execution_id, last);
    assert_eq!(history.changes[0].plan_name, "Rename the widget");
    let limits = HistoryLimits { changes: Some(2), ..HistoryLimits::default() };
    let newest = reader.file_history("b.txt", None, limits).unwrap();
    assert_eq!((newest.left_out, newest.changes[0].changed_between), (2, true));
    // Of the newest changes, as many are compared as the limit of lines allows.
    let limits = HistoryLimits { lines: Some(2), ..HistoryLimits::default() };
    let few = reader.file_history("b.txt", None, limits).unwrap();
    let missing: Vec<_> =
        few.changes.iter().map(|it| it.difference.as_ref().err().copied()).collect();
    let left_out = Some(NoDifference::LeftOut);
    assert_eq!(missing, [left_out, left_out, left_out, None]);
    let here = Some("/home/someone/project");
    assert_eq!(reader.file_history("b.txt", here, limits).unwrap().changes.len(), 4);
    assert!(reader.file_history("b.txt", Some("/other"), limits).unwrap().changes.is_empty());
}

#[test]
fn a_file_history_says_why_a_difference_is_missing() {
    let home = Home::new();
    let mut store = home.store();
    let secret = b"password = h3ron-of-the-marsh\n";
    change(&mut store, 1_000, &effect("b.txt", None, Some(b"one\n")));
    change(&mut store, 2_000, &effect("b.txt", Some(b"one\n"), Some(secret)));
    let unstored = FileEffect { after_bytes: None, ..effect("b.txt", Some(secret), Some(b"2\n")) };
    change(&mut store, 3_000, &unstored);
    store.purge_content(&Digest::of(b"one\n"), "asked for by its author", 9_000).unwrap();
    let history = home.reader().file_history("b.txt", None, HistoryLimits::default()).unwrap();
    let missing: Vec<_> =
        history.changes.iter().map(|it| *it.difference.as_ref().unwrap_err()).collect();
    assert_eq!(missing, [NoDifference::Purged, NoDifference::Purged, NoDifference::Secret]);
    let text = serde_json::to_string(&history.changes).unwrap();
    assert!(!text.contains("h3ron") && text.contains("\"no_difference\":\"secret\""), "{text}");
}

#[test]
fn an_interrupted_step_is_in_the_history_with_what_it_was_about_to_write() {
    let home = Home::new();
    let mut store = home.store();
    change(&mut store, 1_000, &effect("b.txt", None, Some(b"one\n")));
    let mut run = Running::begin(&mut store, plan(vec![write_step(0, "b.txt", "x")]), 2_000);
    let open = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, 2_001);
    run.intend(&open, &[effect("b.txt", Some(b"one\n"), Some(b"two\n"))]);
    // The step had not written before it was interrupted.
    change(&mut store, 3_000, &effect("b.txt", Some(b"one\n"), Some(b"three\n")));
    // The process of the run is gone.
    drop(store);
    let history = home.reader().file_history("b.txt", None, HistoryLimits::default()).unwrap();
    let known: Vec<_> = history.changes.iter().map(|it| it.listed.row.known.as_str()).collect();
    assert_eq!(known, ["succeeded", "interrupted", "succeeded"]);
    assert!(!history.changes[2].changed_between);
}

#[test]
fn only_runs_of_the_same_plan_are_offered_for_a_comparison() {
    let home = Home::new();
    let mut store = home.store();
    let mut begin = |plan_id: &str, at_ms| {
        let plan =
            crate::plan::Plan { plan_id: plan_id.into(), ..plan(vec![read_step(0, plan_id)]) };
        let run = Running::begin(&mut store, plan, at_ms);
        let id = run.run_id;
        run.end(&RunEnding::Completed);
        id
    };
    let [one, _, two, three] =
        [("p", 1_000), ("q", 2_000), ("p", 3_000), ("p", 4_000)].map(|(id, at)| begin(id, at));
    let runs = home.reader().other_runs_of_plan(two, 10).unwrap();
    assert_eq!(runs.iter().map(|it| it.run_id).collect::<Vec<_>>(), [three, one]);
}

#[test]
fn a_timeline_counts_hits_in_its_span() {
    let (home, _) = super::reading::filled();
    let mut reader = home.reader();
    reader.catch_up_index().unwrap();
    let stop = StopSignal::default();
    let mut counts = |words: &str, times: (Option<i64>, Option<i64>), most| {
        let query = SearchQuery {
            words: words.to_owned(),
            since_ms: times.0,
            until_ms: times.1,
            ..SearchQuery::default()
        };
        let buckets = reader.timeline(&query, most, &stop).unwrap().unwrap();
        buckets.iter().map(|it| (it.from_ms, it.fine, it.bad)).collect::<Vec<_>>()
    };
    // The executions are at 1,001, 2,001 and 3,001 ms; the second one failed.
    assert_eq!(counts("", (None, None), 2), [(1_001, 1, 1), (2_002, 1, 0)]);
    let fine = counts("", (None, None), 3);
    assert_eq!(fine.iter().map(|it| (it.1, it.2)).collect::<Vec<_>>(), [(1, 0), (0, 1), (1, 0)]);
    // A span shows where there is nothing, and ends with the records.
    assert_eq!(counts("file_write", (Some(0), Some(1_500)), 1), [(1_001, 0, 0)]);
    let wide = counts("file_read", (Some(0), Some(9_000)), 2);
    assert_eq!(wide.iter().map(|it| it.1).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(wide[0].0, 1_001);
    assert_eq!(counts("heron", (None, None), 5), []);
    stop.set();
    assert_eq!(reader.timeline(&SearchQuery::default(), 5, &stop).unwrap(), None);
}

/// Records a command with this verdict.
fn command(store: &mut EvidenceStore, text: &str, level: RiskLevel, at_ms: i64) -> uuid::Uuid {
    let arguments = [("command".to_owned(), text.to_owned())].into();
    let call = ToolCall::Shell {
        command: text.into(),
        target: None,
        cwd: None,
        timeout_seconds: None,
        inputs: Vec::new(),
    };
    let step = Step { tool_name: "shell".into(), arguments, call, ..read_step(0, text) };
    let run = Running::begin(store, plan(vec![step]), at_ms);
    let result = result_of(&run.plan.steps[0].clone(), Outcome::Succeeded, at_ms + 1);
    let id = result.execution_id;
    run.store
        .commit(&Entry::Execution(ExecutionRecord {
            result: &StepResult { duration_ms: at_ms / 100, ..result },
            run_id: run.run_id,
            plan: &run.plan,
            step: &run.plan.steps[0],
            risk: &crate::risk::Verdict { level, ..risk() },
            policy: Digest::of(b"policy"),
            host: None,
            walls: None,
            invoked: true,
            stdout: None,
            stderr: None,
            captured: None,
            result_json: &serde_json::Value::Null,
            artifacts: &[],
            files: &[],
            predicted: &[],
            edges: &[],
            decision: None,
        }))
        .unwrap();
    run.end(&RunEnding::Completed);
    id
}

#[test]
fn each_past_command_comes_once_with_its_latest_verdict() {
    let home = Home::new();
    let mut store = home.store();
    command(&mut store, "make", RiskLevel::Safe, 1_000);
    let ls = command(&mut store, "ls", RiskLevel::Safe, 2_000);
    let make = command(&mut store, "make", RiskLevel::Dangerous, 3_000);
    change(&mut store, 4_000, &effect("b.txt", None, Some(b"no command")));
    let commands = home.reader().past_commands().unwrap();
    let found: Vec<_> = commands
        .iter()
        .map(|it| (it.command.as_str(), it.times, it.level, it.execution_id, it.last_ms))
        .collect();
    assert_eq!(
        found,
        [("make", 2, RiskLevel::Dangerous, make, 3_001), ("ls", 1, RiskLevel::Safe, ls, 2_001)]
    );
}

#[test]
fn the_durations_of_a_step_are_those_of_all_runs() {
    let home = Home::new();
    let mut store = home.store();
    let [_, _, last] =
        [1_000, 2_000, 6_000].map(|at| command(&mut store, "make", RiskLevel::Safe, at));
    // Another step of the same plan id has the same step id, and another tool.
    change(&mut store, 7_000, &effect("b.txt", None, Some(b"x")));
    let mut reader = home.reader();
    let found = reader.step_durations(last, 10).unwrap().unwrap();
    assert_eq!((found.median_ms, found.longest_ms, found.left_out), (Some(20), Some(60), 0));
    let found = reader.step_durations(last, 2).unwrap().unwrap();
    assert_eq!((found.executions.len(), found.left_out, found.median_ms), (2, 1, Some(40)));
    assert_eq!(reader.step_durations(uuid::Uuid::nil(), 2).unwrap(), None);
}

#[test]
fn recurring_diagnostics_are_counted_over_time() {
    let (home, _) = super::reading::filled();
    let found = home.reader().q7(2, Range::default()).unwrap();
    let over_time = found[0].over_time.as_ref().unwrap();
    assert_eq!((over_time.from_ms, over_time.counts[0]), (2_001, 2));
}
