//! Example data: the times of a run, two runs compared, and the history of a file.

use countersign::authorization::FileState;
use countersign::plan::Digest;
use countersign::run::*;
use uuid::Uuid;

use super::fixture;

/// A step of the example runs: tool, subject, outcome, start in the run, waited and worked, in milliseconds.
type Row = (&'static str, &'static str, Outcome, i64, Option<i64>, i64);

const FIRST: [Row; 6] = [
    ("file_read", "src/lib.rs", Outcome::Succeeded, 4, None, 12),
    ("file_search", "old_function in src", Outcome::Succeeded, 20, None, 473),
    ("file_write", "src/lexer.rs", Outcome::Succeeded, 500, Some(22_000), 710),
    ("shell", "cargo test --workspace", Outcome::Succeeded, 23_300, None, 14_200),
    ("file_write", "src/lib.rs", Outcome::Succeeded, 37_600, Some(9_400), 31),
    ("lsp_check", "src/lib.rs", Outcome::Failed, 49_100, None, 3_100),
];

const SECOND: [Row; 7] = [
    ("file_read", "src/lib.rs", Outcome::Succeeded, 3, None, 11),
    ("file_search", "old_function in src", Outcome::Succeeded, 18, None, 455),
    ("file_write", "src/lexer.rs", Outcome::Succeeded, 490, Some(6_000), 690),
    ("shell", "cargo test --workspace", Outcome::Succeeded, 7_300, None, 12_900),
    ("file_write", "src/lib.rs", Outcome::Succeeded, 20_300, Some(3_100), 28),
    ("lsp_check", "src/lib.rs", Outcome::Succeeded, 23_500, None, 2_800),
    ("file_create", "CHANGELOG.md", Outcome::Succeeded, 26_400, None, 6),
];

fn run(first: bool) -> RunSummary {
    let at = if first { 3 } else { 1 };
    let mut run = fixture::runs().swap_remove(at);
    (run.plan_name, run.plan_digest) = ("Replace old_function".into(), Digest::of(&[at as u8]));
    run.plan_id = "replace-old-function".into();
    run.step_count = 7;
    run.fate = RunFate::Ended(if first { RunStatus::Failed } else { RunStatus::Completed });
    run.tally = RunTally { succeeded: if first { 5 } else { 7 }, ..RunTally::default() };
    run.ended_at_ms = Some(run.started_at_ms + if first { 52_300 } else { 26_450 });
    run
}

fn listed(run: &RunSummary, index: usize, row: &Row) -> ListedExecution {
    let (tool, about, outcome, begun, _, worked) = row;
    let template = fixture::search_page().hits.swap_remove(0).listed;
    let row = Execution {
        execution_id: Uuid::from_u128(run.started_at_ms as u128 * 100 + index as u128),
        run_id: run.run_id,
        plan_id: run.plan_id.clone(),
        step_id: format!("step_{}", index + 1),
        step_index: index,
        tool_name: (*tool).into(),
        about: (*about).into(),
        timestamp_ms: run.started_at_ms + begun,
        duration_ms: Some(*worked),
        known: Known::Outcome(*outcome),
        error_code: None,
        error_message: (*outcome == Outcome::Failed).then(|| "cargo check reported errors".into()),
        ..template.row
    };
    ListedExecution { row, changed: false }
}

fn waterfall(first: bool) -> Waterfall {
    let run = run(first);
    let rows = if first { &FIRST[..] } else { &SECOND[..] };
    let step = |(index, row): (usize, &Row)| {
        let listed = listed(&run, index, row);
        let decided = row.4.map(|waited| listed.row.timestamp_ms + waited);
        (listed, decided)
    };
    let steps = rows.iter().enumerate().map(step).collect();
    let start = run.started_at_ms;
    let pauses = [(Control::Pause, start + 47_000), (Control::Resume, start + 49_050)];
    Waterfall::new(run, steps, if first { &pauses } else { &[] })
}

/// The times of a run.
pub fn times() -> EvidenceAnswer {
    EvidenceAnswer::Times(Some(Box::new(waterfall(true))))
}

/// The times of a run of this many steps, of which the last has no end.
pub fn many_times(steps: usize) -> EvidenceAnswer {
    let mut run = run(true);
    run.ended_at_ms = None;
    run.fate = RunFate::Interrupted;
    run.step_count = steps;
    let step = |index: usize| {
        let row = FIRST[index % 5];
        let mut listed = listed(&run, index, &row);
        listed.row.timestamp_ms = run.started_at_ms + 40_000 * index as i64;
        if index + 1 == steps {
            listed.row.known = Known::Interrupted;
        }
        (listed, None)
    };
    let steps = (0..steps).map(step).collect();
    EvidenceAnswer::Times(Some(Box::new(Waterfall::new(run.clone(), steps, &[]))))
}

fn output(text: &str) -> RecordedOutput {
    RecordedOutput {
        stream: "stdout".into(),
        bytes: text.len() as u64,
        content: OutputContent::Text(text.into()),
    }
}

fn recorded(first: bool) -> RecordedSteps {
    let waterfall = waterfall(first);
    let step = |step: &StepTimes| {
        let row = &step.listed.row;
        let contents = if first { "let n = old(1);" } else { "let n = new(1);" };
        let mut arguments = [("path".to_owned(), row.about.clone())]
            .into_iter()
            .collect::<std::collections::BTreeMap<_, _>>();
        if row.about == "src/lexer.rs" {
            arguments.insert("contents".into(), format!("fn f() {{\n    {contents}\n}}\n"));
        }
        let outputs = match row.tool_name.as_str() {
            "shell" if first => vec![output(
                "running 41 tests\ntest parse::empty ... ok\ntest parse::nested ... ok\n\ntest result: ok. 41 passed\n",
            )],
            "shell" => vec![output(
                "running 42 tests\ntest parse::empty ... ok\ntest parse::nested ... ok\ntest parse::renamed ... ok\n\ntest result: ok. 42 passed\n",
            )],
            _ => Vec::new(),
        };
        RecordedStep { arguments, outputs }
    };
    let steps = waterfall.steps.iter().map(step).collect();
    let content = |text: &str| FileState::Content(Digest::of(text.as_bytes()));
    let lexer = content(if first { "lexer" } else { "lexer since" });
    RecordedSteps { waterfall, steps, inputs: [("src/lexer.rs".to_owned(), lexer)].into() }
}

/// Two runs compared.
pub fn compared() -> EvidenceAnswer {
    let difference = |change, before, after, tool: &str, about: &str, lines: &str| StepDifference {
        change,
        before,
        after,
        tool: tool.into(),
        about: about.into(),
        lines: lines.into(),
    };
    let lines = " contents:\n fn f() {\n-    let n = old(1);\n+    let n = new(1);\n }\n";
    let plan = PlanDifference {
        new: 1,
        gone: 0,
        changed: 1,
        same: 5,
        steps: vec![
            difference(StepChange::Changed, Some(2), Some(2), "file_write", "src/lexer.rs", lines),
            difference(StepChange::New, None, Some(6), "file_create", "CHANGELOG.md", ""),
        ],
    };
    let mut read = |_: &Digest| Ok::<_, std::convert::Infallible>(None);
    let found = RunComparison::between(recorded(true), recorded(false), Some(plan), &mut read);
    EvidenceAnswer::Compared(found.ok().map(Box::new))
}

/// The history of a file.
pub fn file_history() -> EvidenceAnswer {
    let run = run(false);
    let states = [
        None,
        Some("pub fn f() -> u32 {\n    old(1)\n}\n"),
        Some("pub fn f() -> u32 {\n    new(1)\n}\n"),
        Some("pub fn f() -> u32 {\n    newer(1)\n}\n"),
    ];
    let state = |text: Option<&str>| {
        text.map_or(FileState::Absent, |text| FileState::Content(Digest::of(text.as_bytes())))
    };
    let line = |kind, before, after, text: &str| DiffLine {
        kind,
        before,
        after,
        text: text.into(),
        missing_newline: false,
    };
    let changes = (0..4).map(|index| {
        let (before, after) = (states[index.min(2)], states[(index + 1).min(3)]);
        let row =
            ("file_write", "src/lexer.rs", Outcome::Succeeded, 90_000 * index as i64, None, 3);
        let lines = match index {
            0 => vec![
                line(LineKind::Added, None, Some(1), "pub fn f() -> u32 {"),
                line(LineKind::Added, None, Some(2), "    old(1)"),
                line(LineKind::Added, None, Some(3), "}"),
            ],
            _ => vec![
                line(LineKind::Context, Some(1), Some(1), "pub fn f() -> u32 {"),
                line(LineKind::Removed, Some(2), None, "    old(1)"),
                line(LineKind::Added, None, Some(2), "    new(1)"),
                line(LineKind::Context, Some(3), Some(3), "}"),
            ],
        };
        let diff = Diff::Text {
            lines,
            added: if index == 0 { 3 } else { 1 },
            removed: usize::from(index > 0),
        };
        let (before, after) = (state(before), state(after));
        RecordedChange {
            listed: listed(&run, index, &row),
            plan_name: ["Write a lexer", "Replace old_function", "Add tracing", "Replace it again"]
                [index]
                .into(),
            workspace: run.workspace.clone(),
            before,
            after,
            modes: Modes {
                before: Some(FileMode::new(0o644)),
                after: Some(FileMode::new(if index == 2 { 0o755 } else { 0o644 })),
            },
            changed_between: index == 3,
            difference: match index {
                2 => Err(NoDifference::Purged),
                _ => Ok(FileChange { path: "src/lexer.rs".into(), before, after, diff }),
            },
        }
    });
    EvidenceAnswer::FileHistory(FileHistory { changes: changes.collect(), left_out: 0 })
}

/// A step over several runs.
pub fn durations() -> EvidenceAnswer {
    let run = run(false);
    let step = |(index, ms): (usize, i64)| {
        let outcome = [Outcome::Succeeded, Outcome::Failed][usize::from(index == 4)];
        let outcome = if index == 7 { Outcome::Denied } else { outcome };
        let row = (
            "shell",
            "cargo test --workspace",
            outcome,
            -86_400_000 * (12 - index as i64),
            None,
            ms,
        );
        listed(&run, index, &row)
    };
    let took =
        [14_200, 13_900, 15_100, 14_700, 2_100, 16_000, 15_800, 0, 18_300, 17_900, 21_000, 12_900];
    let steps = took.into_iter().enumerate().map(step).collect();
    EvidenceAnswer::Durations(StepDurations::new(steps, 0).map(Box::new))
}

/// Past commands that are judged otherwise today.
pub fn judged() -> EvidenceAnswer {
    use countersign::risk::RiskLevel::{Blocked, Caution, Dangerous, Safe};
    let run = run(false);
    let command =
        |index: usize, command: &str, then, now, rule: &str, reason: &str| JudgedCommand {
            command: command.into(),
            host: (index == 1).then(|| "web-1.example.org".into()),
            times: [1, 14, 3][index % 3],
            last_ms: fixture::NOW_MS - 3_600_000 * (index as i64 + 1),
            level_then: then,
            rule_then: "unknown-program".into(),
            level_now: now,
            rule_now: rule.into(),
            reason: reason.into(),
            redacted: false,
            latest: listed(&run, index, &FIRST[3]),
        };
    let mut judgement = Judgement { done: 1_240, all: Some(4_810), ..Judgement::default() };
    judgement.add(vec![
        command(
            0,
            "cargo publish --allow-dirty",
            Caution,
            Blocked,
            "no-publish",
            "Releases are made by the pipeline.",
        ),
        command(1, "systemctl restart heron", Caution, Dangerous, "service", "Restarts a service."),
        command(2, "rg -n old_function src", Caution, Safe, "reads", "Only reads or prints."),
    ]);
    EvidenceAnswer::Judged(judgement)
}

/// A run that can be played back.
pub fn played() -> EvidenceAnswer {
    let times = waterfall(true);
    let mut events = Vec::new();
    for step in &times.steps {
        let row = &step.listed.row;
        if step.waited_ms > 0 {
            let (decision, by) = (Decision::Approve, AnsweredBy::Window);
            let answer = Answer { decision, by, note: "As the office asked.".into() };
            events.push(RunEvent::ConfirmationDecided { step_id: row.step_id.clone(), answer });
        }
        let mut result = fixture::result(&fixture::plan(), 0, Outcome::Succeeded, 10);
        result.execution_id = row.execution_id;
        result.stdout = (row.tool_name == "shell").then(|| {
            "running 41 tests\ntest parse::empty ... ok\ntest parse::nested ... ok\n\ntest result: ok. 41 passed\n".into()
        });
        events.push(RunEvent::StepCompleted { result });
    }
    EvidenceAnswer::Replay(Some(Box::new(Playback::new(times, &events))))
}
