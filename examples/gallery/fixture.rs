//! Example data for the gallery and for the tests of the views. No file is read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use countersign::authorization::{Binding, FileState};
use countersign::plan::{
    Code, Dialect, Digest, Finding, Intent, Mode, PlanInput, PlanNotes, Precondition, Severity,
    ShownPlan, ShownStep, StatedRisk, StepPlace, ToolCall, ToolClass,
};
use countersign::risk::{self, Policy, Repositories, RiskLevel, Shell, Verdict};
use countersign::run::*;
use countersign::ui::artifact::{Contents, LoadState, Prepared, Shape};
use countersign::ui::dialog::FillInView;
use countersign::ui::format::Now;
use countersign::ui::plan::{QueuedPlan, RecentPlan};
use uuid::Uuid;

/// The current time in the gallery, 2026-11-22 14:06:12 UTC, in Unix milliseconds.
pub const NOW_MS: i64 = 1_795_356_372_000;

pub fn now() -> Now {
    Now { ms: NOW_MS, zone: jiff::tz::TimeZone::UTC }
}

pub fn run_id() -> Uuid {
    Uuid::from_u128(0x6f1d_9a70_3c52_4e0b_9b1e_52d1_9c0a_77e1)
}

fn step(index: usize, call: ToolCall, title: Option<&str>, asks: bool) -> ShownStep {
    let text = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let arguments: BTreeMap<_, _> = match &call {
        ToolCall::FileRead { path } | ToolCall::LspCheck { path } => vec![text("path", path)],
        ToolCall::FileWrite { path, contents } | ToolCall::FileCreate { path, contents } => {
            vec![text("path", path), text("contents", contents)]
        }
        ToolCall::FileSearch { pattern, root } | ToolCall::FileGlob { pattern, root } => {
            vec![text("pattern", pattern), text("root", root)]
        }
        ToolCall::SplicePatch { file, symbol, with, .. } => {
            vec![text("file", file), text("symbol", symbol), text("with", with)]
        }
        _ => vec![],
    }
    .into_iter()
    .collect();
    let exists = matches!(call, ToolCall::FileRead { .. } | ToolCall::FileWrite { .. });
    ShownStep {
        step_id: format!("step_{}", index + 1),
        step_index: index,
        tool_name: call.tool().name().to_owned(),
        arguments,
        call: Some(call),
        precondition: if exists { Precondition::FileExists } else { Precondition::None },
        precondition_text: if exists { "file exists" } else { "none" }.to_owned(),
        requires_confirmation: asks,
        title: title.map(str::to_owned),
        reason: None,
        stated: StatedRisk::default(),
        expected_output: None,
        needs: None,
        place: StepPlace::Step(index),
    }
}

const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n- Sums saturate instead of overflowing.\n\n\
                         ## 0.3.1\n\n- Faster lexer.\n";

pub fn plan() -> ShownPlan {
    let source: &[u8] = b"{\"plan_id\": \"fix-e0425\"}";
    let steps = vec![
        step(0, ToolCall::FileRead { path: "src/lib.rs".into() }, None, false),
        step(
            1,
            ToolCall::FileSearch { pattern: r"old_function\(".into(), root: "src".into() },
            Some("Find every caller"),
            false,
        ),
        step(
            2,
            ToolCall::FileWrite {
                path: "src/lib.rs".into(),
                contents: "/// Sum of all parts, saturating.\n#[inline]\npub fn old_function(n: u32) -> u32 {\n    n.saturating_add(2)\n}\n".into(),
            },
            Some("Make the sum saturate"),
            true,
        ),
        step(3, ToolCall::LspCheck { path: ".".into() }, None, false),
        step(
            4,
            ToolCall::FileCreate { path: "CHANGELOG.md".into(), contents: CHANGELOG.into() },
            None,
            false,
        ),
    ];
    ShownPlan {
        fleet: None,
        plan_id: "fix-e0425".into(),
        dialect: Dialect::StepPlan,
        intent: Some(Intent::Mutate),
        title: Some("Fix E0425 in the parser".into()),
        created_by: Some("planner 0.4".into()),
        evidence_referenced: vec!["Q2".into()],
        mode: Mode::Automatic,
        target: None,
        notes: PlanNotes::default(),
        metadata: Default::default(),
        failure: None,
        inputs: Vec::new(),
        signatures_required: 0,
        steps,
        source: source.into(),
        digest: Digest::of(source),
    }
}

/// The same plan, whose third step writes a workflow that every push executes.
pub fn dangerous_plan() -> ShownPlan {
    let mut plan = plan();
    plan.steps[2] = step(
        2,
        ToolCall::FileWrite {
            path: ".github/workflows/release.yml".into(),
            contents: "on: push\njobs:\n  release:\n    runs-on: ubuntu-latest\n".into(),
        },
        Some("Publish from the workflow"),
        true,
    );
    plan
}

/// A guided plan of commands. The third step is dangerous if requested.
pub fn guided_plan(dangerous: bool) -> ShownPlan {
    let third = if dangerous {
        "rm -rf target/site && git clean -fdx docs"
    } else {
        "cp -R docs/. target/site/ && tar -C target -czf target/site.tar.gz site"
    };
    let text = serde_json::json!({
        "goal": "Pack the documentation",
        "mode": "guided",
        "steps": [
            { "command": "git status --short docs", "description": "See what is not committed" },
            { "command": "mkdir -p target/site", "description": "Make room for it" },
            {
                "command": third,
                "description": "Pack everything",
                "explanation": "The archive is what is handed over.",
                "verificationCommand": "tar -tzf target/site.tar.gz",
            },
            { "command": "ls -l target", "description": "Look at the size" },
        ],
    });
    countersign::plan::parse(text.to_string().as_bytes()).into_shown().unwrap_or_else(plan)
}

pub fn review(plan: &ShownPlan) -> Review {
    let risks: Vec<Verdict> = plan
        .valid_steps()
        .steps
        .iter()
        .map(|step| risk::of_step(step, &policy(), Shell::Bash))
        .collect();
    let asks = plan
        .steps
        .iter()
        .zip(&risks)
        .map(|(step, verdict)| {
            if verdict.level >= RiskLevel::Dangerous {
                Some("The step is dangerous.".to_owned())
            } else {
                let guided = plan.mode == Mode::Guided;
                let guided = guided.then(|| "In guided mode each step waits for you.".to_owned());
                step.requires_confirmation.then(|| "The plan asks for it.".to_owned()).or(guided)
            }
        })
        .collect::<Vec<_>>();
    Review {
        fleet: None,
        workspace: PathBuf::from("/home/ada/src/parser"),
        workspace_reason: "The nearest folder above the plan with a Cargo.toml.".into(),
        binding: Binding {
            fleet: None,
            workspace: "/home/ada/src/parser".into(),
            workspace_id: None,
            mode: Mode::Automatic,
            policy: Policy::default().digest(),
            target: None,
            inputs: BTreeMap::from([
                ("CHANGELOG.md".to_owned(), FileState::Absent),
                ("src/lib.rs".to_owned(), FileState::Content(Digest::of(b"lib"))),
            ]),
            grants: Default::default(),
            choices: Default::default(),
            walls: None,
            secret_inputs: Default::default(),
        },
        rollback: Vec::new(),
        workspace_commands: None,
        preconditions: plan
            .steps
            .iter()
            .map(|step| match step.precondition {
                Precondition::None => PreconditionState::None,
                _ => PreconditionState::Holds { found: "1,248 bytes, sha256:9f2c41…d0e1".into() },
            })
            .collect(),
        walls: None,
        impact: Impact {
            files: vec!["CHANGELOG.md".into(), "src/lib.rs".into()],
            hosts: vec![],
            worst: risks.iter().map(|verdict| verdict.level).max(),
            asks: asks.iter().filter(|ask| ask.is_some()).count(),
            irreversible: 0,
        },
        risks,
        asks,
        findings: vec![],
    }
}

fn line(kind: LineKind, before: usize, after: usize, text: &str) -> DiffLine {
    DiffLine {
        kind,
        before: (kind != LineKind::Added).then_some(before),
        after: (kind != LineKind::Removed).then_some(after),
        text: text.to_owned(),
        missing_newline: false,
    }
}

pub fn preview(plan: &ShownPlan, index: usize) -> Preview {
    use LineKind::{Added, Context, Removed};
    let step = &plan.steps[index];
    let lines = vec![
        line(Context, 38, 38, "/// Sum of all parts, saturating."),
        line(Context, 39, 39, "#[inline]"),
        line(Removed, 40, 0, "pub fn old_function(n: u32) -> u32 { n + 1 }"),
        line(Added, 0, 40, "pub fn old_function(n: u32) -> u32 {"),
        line(Added, 0, 41, "    n.saturating_add(2)"),
        line(Added, 0, 42, "}"),
        line(Context, 41, 43, ""),
        line(Context, 42, 44, "pub struct Parser<'a> {"),
        line(Context, 43, 45, "    input: &'a str,"),
        line(Context, 44, 46, "    at: usize,"),
        line(Context, 45, 47, "}"),
        line(Context, 46, 48, ""),
    ];
    match &step.call {
        Some(ToolCall::FileWrite { path, .. }) => Preview::exact(
            format!("Replaces {path}, 1,248 bytes, by 1,289 bytes."),
            vec![FileChange {
                path: path.clone(),
                before: FileState::Content(Digest::of(b"lib")),
                after: FileState::Content(Digest::of(b"lib2")),
                diff: Diff::Text { lines, added: 3, removed: 1 },
            }],
            vec!["The file keeps its mode.".into()],
        ),
        Some(ToolCall::FileCreate { path, contents }) => Preview::exact(
            format!("Creates {path}, {} bytes.", contents.len()),
            vec![FileChange {
                path: path.clone(),
                before: FileState::Absent,
                after: FileState::Content(Digest::of(contents.as_bytes())),
                diff: Diff::Text {
                    lines: contents
                        .lines()
                        .enumerate()
                        .map(|(at, text)| line(Added, 0, at + 1, text))
                        .collect(),
                    added: contents.lines().count(),
                    removed: 0,
                },
            }],
            vec![],
        ),
        Some(ToolCall::LspCheck { .. }) => Preview::unpredictable(
            "Runs cargo check in the workspace.".into(),
            vec!["Build scripts and macros of the workspace run.".into()],
        ),
        Some(ToolCall::Shell { .. }) => Preview::unpredictable(
            "Runs the command in the workspace folder.".into(),
            vec![
                "Run by /usr/bin/bash as ada.".into(),
                "The command is ended after 2 min, or when one of its outputs has more than 2 GiB."
                    .into(),
            ],
        ),
        Some(call) if call.class() == ToolClass::Read => {
            Preview::exact("Only reads; changes nothing.".into(), vec![], vec![])
        }
        _ => Preview::unpredictable("The example has no preview of this step.".into(), vec![]),
    }
}

pub fn result(
    plan: &ShownPlan,
    index: usize,
    outcome: Outcome,
    duration_ms: i64,
) -> Box<StepResult> {
    let step = &plan.steps[index];
    let failed = !outcome.continues_run();
    Box::new(StepResult {
        step_id: step.step_id.clone(),
        step_index: index,
        tool_name: step.tool_name.clone(),
        success: outcome == Outcome::Succeeded,
        outcome,
        execution_id: Uuid::from_u128(0x100 + index as u128),
        exit_code: None,
        terminal: false,
        stdout: (outcome == Outcome::Succeeded)
            .then(|| "pub fn old_function(n: u32) -> u32 { n + 1 }\n\npub struct Parser<'a> {\n    input: &'a str,\n    at: usize,\n}\n".to_owned()),
        stdout_bytes: 101,
        stdout_truncated: false,
        stderr: None,
        stderr_bytes: 0,
        stderr_truncated: false,
        error_message: failed.then(|| "src/lib.rs cannot be written: Permission denied (os error 13)".to_owned()),
        error_code: failed.then_some(Code::WriteFailed),
        next: failed.then(|| "Give yourself the right to write the file, then authorize again.".to_owned()),
        timestamp_ms: NOW_MS - 8_000,
        duration_ms,
        diagnostic_artifacts: vec![],
        needs: None,
        walls: None,
        wall_notes: Vec::new(),
        refused: false,
        refused_write: None,
        note: String::new(),
    })
}

pub fn request(plan: &ShownPlan, index: usize) -> ConfirmationRequest {
    let step = &plan.steps[index];
    let review = review(plan);
    ConfirmationRequest {
        run_id: run_id(),
        step_id: step.step_id.clone(),
        step_index: index,
        step_count: plan.steps.len(),
        tool: step.tool_name.clone(),
        purpose: step.title.clone(),
        explanation: step.title.as_ref().and(step.reason.clone()),
        arguments: step.arguments.clone(),
        target: None,
        host: None,
        cwd: "/home/ada/src/parser".into(),
        user: "ada".into(),
        risk: review.risks[index].clone(),
        warning: None,
        why: review.asks[index].clone().unwrap_or_default(),
        required: plan.mode != Mode::Guided || review.risks[index].level >= RiskLevel::Dangerous,
        unwalled: false,
        needs: None,
        walls: None,
        needed_by: plan.needing(index),
        guided: plan.mode == Mode::Guided,
        run_by_agent: false,
        preview: preview(plan, index),
    }
}

/// A run with two finished steps and the third in progress.
pub fn running(plan: &ShownPlan) -> RunState {
    let mut run = RunState::default();
    let started = |step_index: usize| RunEvent::StepStarted {
        step_id: plan.steps[step_index].step_id.clone(),
        step_index,
        tool_name: String::new(),
        about: String::new(),
        timestamp_ms: NOW_MS - 9_000,
    };
    let mut events = vec![RunEvent::RunStarted {
        run_id: run_id(),
        plan_id: plan.plan_id.clone(),
        step_count: plan.steps.len(),
        timestamp_ms: NOW_MS - 12_000,
    }];
    for (index, duration) in [(0, 12), (1, 48)] {
        events.push(started(index));
        let by_hand = index == 1 && plan.mode == Mode::Guided;
        let outcome = if by_hand { Outcome::DoneByHand } else { Outcome::Succeeded };
        let result = result(plan, index, outcome, duration);
        events.push(RunEvent::StepCompleted { result });
    }
    events.push(started(2));
    for event in &events {
        run.apply(event);
    }
    run
}

/// Like [`running`], with the third step waiting for confirmation.
pub fn asking(plan: &ShownPlan) -> RunState {
    asking_at(plan, 2)
}

/// Like [`asking`], for the step at `index`.
pub fn asking_at(plan: &ShownPlan, index: usize) -> RunState {
    let mut run = running(plan);
    run.apply(&RunEvent::ConfirmationNeeded { request: Box::new(request(plan, index)) });
    run
}

/// Like [`running`], ended because the third step failed.
pub fn failed(plan: &ShownPlan) -> RunState {
    let mut run = running(plan);
    run.apply(&RunEvent::StepFailed { result: result(plan, 2, Outcome::Failed, 31) });
    run.apply(&RunEvent::RunFailed {
        code: Code::WriteFailed,
        message: "src/lib.rs cannot be written: Permission denied (os error 13)".into(),
    });
    run
}

/// Like [`running`], failed because a command may have tried to write beyond its walls.
pub fn refused(plan: &ShownPlan) -> RunState {
    let mut run = running(plan);
    let mut result = result(plan, 2, Outcome::Failed, 31);
    let message = "the command ended with exit code 1";
    result.exit_code = Some(1);
    result.error_code = Some(Code::CommandFailed);
    result.error_message = Some(message.into());
    result.stderr = Some(
        "install: cannot create regular file '/srv/www/app/index.html': Read-only file system\n"
            .into(),
    );
    result.stderr_bytes = 93;
    result.next = Some("Its walls may have blocked writing to /srv/www/app/index.html. If the step may write there, grant it and authorize again. Read its output.".into());
    result.refused_write = Some("/srv/www/app".into());
    run.apply(&RunEvent::StepFailed { result });
    run.apply(&RunEvent::RunFailed { code: Code::CommandFailed, message: message.into() });
    run
}

/// Like [`running`], completed.
pub fn completed(plan: &ShownPlan) -> RunState {
    let mut run = running(plan);
    for (index, outcome) in
        [(2, Outcome::Succeeded), (3, Outcome::Skipped), (4, Outcome::Succeeded)]
    {
        let result = result(plan, index, outcome, 20 + index as i64);
        run.apply(&RunEvent::StepCompleted { result });
    }
    run.apply(&RunEvent::RunCompleted { step_count: 5 });
    run
}

pub fn findings() -> Vec<Finding> {
    let mut findings = vec![
        Finding::error(
            Code::UnknownTool,
            "/steps/2/tool",
            "There is no tool \"file_wirte\". Did you mean \"file_write\"?",
        )
        .allowing(["file_read", "file_write", "file_create", "file_search", "file_glob"]),
        Finding::error(
            Code::UnknownField,
            "/steps/2/requires_confirmaton",
            "There is no field \"requires_confirmaton\". Did you mean \"requires_confirmation\"?",
        ),
        Finding::error(
            Code::DuplicateId,
            "/steps/4/step_id",
            "The id \"step_2\" is taken by step 2. Give each step its own.",
        ),
        Finding::new(
            Severity::Warning,
            Code::BadValue,
            "/intent",
            "The plan calls itself READ, but step 5 changes a file.",
        ),
    ];
    for (index, finding) in findings.iter_mut().enumerate() {
        (finding.line, finding.column) = (14 + index * 9, 7);
    }
    findings
}

pub fn recent() -> Vec<RecentPlan> {
    [
        ("plans/parser.json", "Fix E0425 in the parser", "5 steps"),
        ("plans/rename.json", "Rename Config to Settings", "12 steps"),
        ("plans/logs.json", "Rotate staging logs", "8 steps"),
        ("retry/logs.json", "Rotate staging logs", "6 steps"),
    ]
    .map(|(path, name, detail)| RecentPlan {
        pinned: false,
        rejected: false,
        digest: (!path.starts_with("retry")).then(|| Digest::of(name.as_bytes())),
        path: format!("/home/ada/src/parser/{path}").into(),
        name: name.into(),
        detail: detail.into(),
    })
    .into()
}

/// Two plans that wait for the worker.
pub fn queue() -> Vec<QueuedPlan> {
    [("logs", "Rotate staging logs"), ("lock", "Update the lock file")]
        .map(|(file, name)| QueuedPlan {
            path: format!("/home/ada/src/parser/plans/{file}.json").into(),
            name: name.to_owned(),
        })
        .into()
}

/// An inbox with this many entries, the first of which differ.
pub fn inbox(count: usize) -> InboxList {
    let plan = |title: &str, worst, errors, warnings| InboxPlan {
        digest: Some(Digest::of(title.as_bytes())),
        title: Some(title.to_owned()),
        format: None,
        steps: 3,
        errors,
        warnings,
        first_error: (errors > 0).then(|| "E201 the tool file_burn is not known".to_owned()),
        worst: Some(worst),
    };
    let entry = |id: &str, from: Option<&str>, minutes: i64, plan| InboxEntry {
        id: id.to_owned(),
        kind: InboxKind::Proposal,
        name: format!("{id}.json"),
        path: format!("/home/ada/.local/share/countersign/inbox/{id}/plan").into(),
        from: from.map(str::to_owned),
        at_ms: NOW_MS - minutes * 60_000,
        asked_until_ms: None,
        workspace: Some("/home/ada/src/parser".into()),
        plan: Some(plan),
    };
    let mut entries = vec![
        entry(
            "a",
            Some("nightly build"),
            90,
            plan("Update the lock file", RiskLevel::Caution, 0, 1),
        ),
        entry("b", Some("codex"), 60, plan("Rename Config to Settings", RiskLevel::Caution, 0, 0)),
        entry("c", Some("codex"), 45, plan("Delete old logs", RiskLevel::Dangerous, 0, 0)),
        entry("d", None, 30, plan("Burn the files", RiskLevel::Dangerous, 2, 0)),
        InboxEntry {
            kind: InboxKind::File,
            workspace: None,
            ..entry("e", None, 20, plan("Apply a diff: 3 files", RiskLevel::Caution, 0, 0))
        },
        InboxEntry {
            kind: InboxKind::Unusable("it is a symbolic link, which is not opened".to_owned()),
            workspace: None,
            plan: None,
            ..entry("f", None, 10, plan("", RiskLevel::Safe, 0, 0))
        },
    ];
    for number in entries.len()..count {
        let title = format!("Proposal {number}");
        let plan = plan(&title, RiskLevel::Caution, 0, 0);
        entries.push(entry(&format!("n{number}"), Some("codex"), 5, plan));
    }
    InboxList { entries, ..InboxList::default() }
}

pub fn runs() -> Vec<RunSummary> {
    [
        ("Fix E0425 in the parser", 12, RunFate::Active),
        ("Add tracing to the lexer", 240, RunFate::Ended(RunStatus::Completed)),
        ("Rotate staging logs", 660, RunFate::Ended(RunStatus::Failed)),
        ("Split the lexer module", 5_700, RunFate::Ended(RunStatus::Completed)),
        ("Rename Config to Settings", 90_000, RunFate::Interrupted),
    ]
    .into_iter()
    .enumerate()
    .map(|(index, (name, ago, fate))| RunSummary {
        run_id: if index == 0 { run_id() } else { Uuid::from_u128(index as u128) },
        plan_id: "fix-e0425".into(),
        plan_name: name.into(),
        plan_digest: Digest::of(name.as_bytes()),
        workspace: format!("/home/ada/src/{}", if index == 2 { "staging" } else { "parser" }),
        target: None,
        mode: Mode::Automatic,
        parent_run: None,
        step_count: 5,
        steps_recorded: 2,
        started_at_ms: NOW_MS - ago * 1_000,
        ended_at_ms: None,
        fate,
        tally: match fate {
            RunFate::Interrupted => RunTally { succeeded: 2, unknown: 1, ..RunTally::default() },
            RunFate::Ended(RunStatus::Completed) => {
                RunTally { succeeded: 5, ..RunTally::default() }
            }
            _ => RunTally { succeeded: 1, ..RunTally::default() },
        },
        purged: None,
    })
    .collect()
}

fn hit(
    index: usize,
    tool: &str,
    about: &str,
    known: Known,
    excerpt: &str,
    mark: &str,
) -> SearchHit {
    let mark_start = excerpt.find(mark).unwrap_or(0);
    SearchHit {
        listed: ListedExecution {
            changed: false,
            row: Execution {
                execution_id: Uuid::from_u128(0x200 + index as u128),
                run_id: if index < 3 { run_id() } else { Uuid::from_u128(1 + index as u128 / 20) },
                plan_id: "fix-e0425".into(),
                step_id: "step_3".into(),
                step_index: 2,
                tool_name: tool.into(),
                about: about.into(),
                timestamp_ms: NOW_MS - 600_000 * index as i64,
                duration_ms: Some(1_420 / (index as i64 + 1)),
                known,
                risk: Some(RiskLevel::Caution),
                walls: None,
                exit_code: None,
                error_code: None,
                error_message: None,
            },
        },
        found_in: "stdout".into(),
        excerpt: excerpt.into(),
        marks: std::iter::once(mark_start..mark_start + mark.len()).collect(),
    }
}

pub fn search_page() -> SearchPage {
    let (bad, fine) = (Known::Outcome(Outcome::Failed), Known::Outcome(Outcome::Succeeded));
    let mut hits = vec![
        hit(
            0,
            "lsp_check",
            "src/lib.rs:40",
            bad,
            "cannot find function `nope` in module `util`",
            "function",
        ),
        hit(
            1,
            "file_write",
            "src/lexer.rs",
            fine,
            "pub fn next_token, a function of the lexer",
            "function",
        ),
        hit(
            2,
            "file_search",
            "old_function in src",
            fine,
            "src/a.rs:12: old_function(1)",
            "function",
        ),
        hit(
            3,
            "file_write",
            "src/lib.rs",
            Known::Outcome(Outcome::Denied),
            "the person said: not this function",
            "function",
        ),
        hit(4, "file_read", "src/plan/parse.rs", Known::Interrupted, "function parse", "function"),
    ];
    for index in 5..60 {
        hits.push(hit(
            index,
            "file_read",
            "crates/core/src/io.rs",
            fine,
            "one more function here",
            "function",
        ));
    }
    SearchPage {
        next: Some(77),
        of: 41_579,
        not_indexed: 0,
        rejections: 0,
        unknown_tool: false,
        counts: search_counts(),
        took_us: 3_600,
        read_only: None,
        note: None,
        runs: runs(),
        hits,
    }
}

fn search_counts() -> SearchCounts {
    SearchCounts {
        total: 137,
        is_partial: false,
        facets: Facets {
            outcome: [("succeeded", 120), ("failed", 12), ("denied", 4), ("interrupted", 1)]
                .map(|(name, number)| (name.to_owned(), number))
                .into(),
            tool: [("file_read", 80), ("file_write", 31), ("lsp_check", 14), ("file_search", 12)]
                .map(|(name, number)| (name.to_owned(), number))
                .into(),
            risk: [("safe", 92), ("caution", 41), ("dangerous", 4)]
                .map(|(name, number)| (name.to_owned(), number))
                .into(),
            ..Facets::default()
        },
        timeline: (0..72)
            .map(|index: i64| TimeBucket {
                from_ms: NOW_MS - (72 - index) * 25_920_000,
                to_ms: NOW_MS - (71 - index) * 25_920_000,
                fine: (index * 37 % 23) as u64,
                bad: if index % 9 == 2 { 3 } else { 0 },
            })
            .collect(),
    }
}

/// The same page, after somebody changed the evidence.
pub fn tampered_page() -> SearchPage {
    let mut page = search_page();
    page.hits[1].listed.changed = true;
    page.read_only = Some(
        "the end of the database was removed or replaced: it has 41,579 records now and had 41,602 before"
            .into(),
    );
    page.note = Some(
        "one of the two copies of the kept head, the digest of the last record, was lost (/home/ada/.local/state/countersign: no such \
         file); the other one agrees with this database"
            .into(),
    );
    page
}

pub fn detail() -> ExecutionDetail {
    let artifact = |name: &str, content: serde_json::Value| ArtifactRecord {
        artifact_type: name.into(),
        bytes: content.to_string().len() as u64,
        content,
        blob: None,
    };
    ExecutionDetail {
        row: search_page().hits[1].listed.row.clone(),
        run: runs()[0].clone(),
        arguments: plan().steps[2].arguments.clone(),
        artifacts: vec![
            artifact("diff", "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -40,1 +40,3 @@\n-pub fn old_function(n: u32) -> u32 { n + 1 }\n+pub fn old_function(n: u32) -> u32 {\n".into()),
            artifact("result", serde_json::json!({"changed_files": ["src/lib.rs"], "bytes": 1289})),
            artifact("step_context", serde_json::json!({"plan": "fix-e0425", "step": "step_3"})),
        ],
        edges: vec![
            Edge::new(EdgeType::ExecutedOn, TargetKind::File, "src/lib.rs"),
            Edge::new(EdgeType::Affected, TargetKind::File, "src/lib.rs"),
            Edge::new(EdgeType::Referenced, TargetKind::Symbol, "parser::old_function"),
            Edge::new(EdgeType::Produced, TargetKind::Diagnostic, "E0425"),
        ],
        decisions: vec![
            DecisionRecord {
                decision: "authorize".into(),
                by: DecidedBy { place: "window".into(), user: Some("ada".into()) },
                note: String::new(),
                timestamp_ms: NOW_MS - 611_000,
            },
            DecisionRecord {
                decision: "approve".into(),
                by: DecidedBy { place: "window".into(), user: Some("ada".into()) },
                note: String::new(),
                timestamp_ms: NOW_MS - 599_600,
            },
        ],
        signatures: Vec::new(),
        risk_rule: Some("mutate".into()),
        risk_reason: Some("Changes files of the workspace.".into()),
        intent_at_ms: Some(NOW_MS - 599_500),
        has_changes: true,
        ledger_seq: Some(41_233),
        ledger_digest: Some(Digest::of(b"ledger")),
        changed: Vec::new(),
    }
}

/// The simulation of the plan: the preview of each step, and the resulting diff.
pub fn simulation(plan: &ShownPlan, name: &str) -> (Vec<Preview>, Vec<FileChange>) {
    let mut previews: Vec<_> = (0..plan.steps.len()).map(|index| preview(plan, index)).collect();
    if name == "simulation-empty" {
        return (previews, Vec::new());
    }
    if name == "stale" {
        let why = "E304 cargo check cannot run here: there is no Cargo.toml";
        previews[3] = Preview::failure(why, vec![]);
        previews[4..].fill(Preview::not_reached(3));
    }
    let changes = previews.iter().flat_map(|it| it.changes.clone()).collect();
    (previews, changes)
}

/// The reason why a plan could not be simulated.
pub fn failure() -> Failure {
    Failure {
        code: Code::FileNotFound,
        message: "the workspace /home/ada/src/parser is no longer there".into(),
        next: "Put it back, or open the plan with another workspace.".into(),
    }
}

/// An execution with an artifact for one of the viewers, and its loaded content.
pub fn viewer(name: &str) -> (ExecutionDetail, Contents) {
    use serde_json::{Value, json};
    let mut detail = detail();
    let mut contents = Contents::new();
    let inline = |kind: &str, content: Value| ArtifactRecord {
        artifact_type: kind.into(),
        bytes: content.to_string().len() as u64,
        content,
        blob: None,
    };
    let text = "   Compiling parser v0.4.0\n\u{1b}[1m\u{1b}[33mwarning\u{1b}[0m: unused variable: `heron`\n  --> src/lib.rs:12:9\n   |\n12 |     let heron = 7;\n   |         ^^^^^ help: if this is intentional, prefix it with an underscore: `_heron`\n\nFinished in 1.42 s\twith a tab, a \u{202e}hidden\u{202c} turn and a long line that does not fit into the width of the inspector and goes on below\n";
    match name {
        "tampered" => {
            detail.changed = vec!["row 1204 of executions is not what was written".into()]
        }
        "viewer-text" => {
            detail.row.tool_name = "lsp_check".into();
            detail.artifacts = vec![
                inline("stdout", text.repeat(4).into()),
                inline("stderr", "error: something\n".into()),
                inline("result", json!({"exit_code": 101})),
            ];
        }
        "viewer-colours" => {
            detail.row.tool_name = "shell".into();
            let text = "\u{1b}[1;32m   Compiling\u{1b}[0m parser v0.4.0\n\u{1b}[1;33mwarning\u{1b}[0m: unused variable: `heron`\n \u{1b}[1;34m-->\u{1b}[0m src/lib.rs:12:9\ntest lexer::numbers ... \u{1b}[32mok\u{1b}[0m\ntest lexer::strings ... \u{1b}[31mFAILED, and what it says goes on for longer than the viewer is wide, in red until it ends\u{1b}[0m, then plain\n\u{1b}[2J\u{1b}[1;1Hnothing moves the cursor here\n\u{1b}[4;36munderlined\u{1b}[24m and \u{1b}[2mfaint\u{1b}[0m\n";
            detail.artifacts = vec![
                inline("stdout", text.repeat(3).into()),
                inline("stderr", "\u{1b}[31merror\u{1b}[0m: something\n".into()),
            ];
        }
        "viewer-tree" => {
            detail.artifacts = vec![
                inline(
                    "result",
                    json!({
                        "changed_files": [
                            {"path": "src/lib.rs", "before": "sha256:9f2c41", "after": "sha256:77ab01"},
                            {"path": "CHANGELOG.md", "before": null, "after": "sha256:01ff"},
                        ],
                        "bytes": 1289,
                        "durable": true,
                        "engine": {"name": "embedded", "version": "0.1.0", "remarks": []},
                        "note": "A text that goes on for longer than the inspector is wide, so that it is cut at its end",
                        "process": {"exit_code": 0, "signal": null, "timed_out": false},
                    }),
                ),
                inline("step_context", json!({"plan": "fix-e0425", "step": "step_3"})),
            ];
        }
        "viewer-table" => {
            detail.row.tool_name = "file_search".into();
            let paths = ["src/parser/token.rs", "src/lib.rs", "tests/round_trip.rs"];
            let rows: Vec<_> = (0..400_usize)
                .map(|row| {
                    json!({
                        "path": paths[row % 3],
                        "line": 7 + row * 13 % 410,
                        "column": 1 + row % 40,
                        "text": format!("    let sum = old_function({row}) + old_function({});", row * 7),
                    })
                })
                .collect();
            let text = Value::from(rows).to_string();
            detail.artifacts = vec![inline("stdout", text.into())];
        }
        "viewer-diff" => {
            let preview = preview(&plan(), 2);
            let change = FileChange { path: "src/other.rs".into(), ..preview.changes[0].clone() };
            let diff = preview.changes[0].unified() + &change.unified();
            detail.artifacts = vec![inline("diff", diff.into()), inline("result", json!({}))];
        }
        "viewer-hex" | "viewer-part" | "viewer-sealed" | "viewer-loading" => {
            let bytes: Vec<u8> =
                (0..5_000_u32).map(|index| (index * index / 7 % 256) as u8).collect();
            let digest = Digest::of(&bytes);
            detail.row.tool_name = "file_read".into();
            let head = if name == "viewer-hex" { "\u{fffd}PNG" } else { text };
            detail.artifacts = vec![ArtifactRecord {
                artifact_type: "stdout".into(),
                content: json!({"blob": digest.to_string(), "bytes": 48_211, "head": head}),
                bytes: 48_211,
                blob: Some(digest),
            }];
            let key = (digest, Shape::Text);
            match name {
                "viewer-hex" => {
                    let prepared = Prepared::of_bytes(Shape::Text, bytes);
                    contents.insert(key, LoadState::Ready(Arc::new(prepared)));
                }
                "viewer-sealed" => {
                    let reason =
                        "The rest holds a secret and is encrypted; its key is not available here.";
                    contents.insert(key, LoadState::Missing(reason.into()));
                }
                "viewer-loading" => {
                    contents.insert(key, LoadState::Requested);
                }
                _ => {}
            }
        }
        "viewer-empty" => detail.artifacts = vec![inline("stdout", "".into())],
        _ => {}
    }
    (detail, contents)
}

/// The output of a run. The last step that has begun has printed `lines` lines of a build, the steps before it two.
/// A run whose current step edits a file in its terminal.
pub fn terminal_transcript(run: &RunState) -> Transcript {
    let mut transcript = transcript(run, 3);
    let size = countersign::run::TerminalSize::new(100, 20);
    transcript.apply(&RunEvent::TerminalOpened { step_id: String::new(), size });
    let mut chunk = "\x1b[?1049h\x1b[H\x1b[1;36m# Notes\x1b[0m of the crew\r\n\r\n".to_owned();
    chunk.push_str("The \x1b[4mquartermaster\x1b[24m keeps the \x1b[33mkeys\x1b[0m. 日本語 ─┤\r\n");
    chunk.push_str(
        "\x1b[48;5;52m\x1b[38;5;203m- removed\x1b[0m \x1b[48;5;22m\x1b[38;5;120m+ added\x1b[0m\r\n",
    );
    chunk.push_str(&"\x1b[34m~\x1b[0m\r\n".repeat(10));
    chunk.push_str(
        "\x1b[7m notes/crew.md                4,1   All \x1b[0m\r\n-- INSERT --\x1b[3;19H",
    );
    let (step_id, stream) = (String::new(), Stream::Stdout);
    transcript.apply(&RunEvent::StepOutput { step_id, stream, chunk });
    transcript
}

pub fn transcript(run: &RunState, lines: usize) -> Transcript {
    const BUILD: [(Stream, &str); 9] = [
        (Stream::Stderr, "\x1b[1;32m   Compiling\x1b[0m parser v0.3.1 (/home/ada/src/parser)\n"),
        (Stream::Stderr, "\x1b[1;33mwarning\x1b[0m: unused variable: `token`\n"),
        (Stream::Stderr, " \x1b[1;34m-->\x1b[0m src/lexer.rs:41:9\n"),
        (Stream::Stdout, "running 12 tests\n"),
        (Stream::Stdout, "test lexer::numbers ... \x1b[32mok\x1b[0m\n"),
        (Stream::Stdout, "test lexer::strings ... \x1b[31mFAILED\x1b[0m\n\n"),
        (Stream::Stdout, "\x1b[2J\x1b[1;1Hnothing moves the cursor here \u{202e}nor the text\n"),
        (Stream::Stdout, "a line that is as long as it likes to be: "),
        (Stream::Stderr, "\x1b[1;31merror\x1b[0m: test failed, to rerun pass `--lib`\n"),
    ];
    let mut transcript = Transcript::default();
    for (step_index, step) in run.steps.iter().enumerate() {
        if *step == StepState::Waiting {
            continue;
        }
        let timestamp_ms = NOW_MS - 9_000;
        transcript.apply(&RunEvent::StepStarted {
            step_id: String::new(),
            step_index,
            tool_name: String::new(),
            about: String::new(),
            timestamp_ms,
        });
        let is_last = run.steps.get(step_index + 1).is_none_or(|next| *next == StepState::Waiting);
        let count = if is_last { lines } else { 2 };
        for (stream, text) in BUILD.into_iter().cycle().take(count) {
            let text = if text.ends_with(' ') { text.repeat(6) + "\n" } else { text.to_owned() };
            let step_id = String::new();
            transcript.apply(&RunEvent::StepOutput { step_id, stream, chunk: text });
        }
    }
    transcript
}

/// The timer of a step that has run for 83 seconds, and printed nothing in the last 42 of them if `silent`.
pub fn timer(silent: bool) -> StepTimer {
    let step_id = String::new;
    let started = RunEvent::StepStarted {
        step_id: step_id(),
        step_index: 2,
        tool_name: String::new(),
        about: String::new(),
        timestamp_ms: 0,
    };
    let (stream, chunk) = (Stream::Stdout, "x".to_owned());
    let output = RunEvent::StepOutput { step_id: step_id(), stream, chunk };
    let mut timer = StepTimer::default();
    timer.apply(&started, NOW_MS - 83_000);
    timer.apply(&output, NOW_MS - if silent { 42_000 } else { 300 });
    timer
}

/// The same step with a command of a hundred lines.
pub fn long_step(step: &ShownStep) -> ShownStep {
    let lines: Vec<String> = (1..=100).map(|line| format!("echo line {line}")).collect();
    let mut step = step.clone();
    step.arguments.insert("command".into(), lines.join("\n"));
    if let Some(ToolCall::Shell { command, .. }) = &mut step.call {
        *command = lines.join("\n");
    }
    step
}

/// A plan of commands.
pub fn command_plan() -> ShownPlan {
    let source = serde_json::json!({
        "id": "release-0.4",
        "goal": "Build the parser, install it and clean up after it",
        "successCriteria": ["The new version answers", "No old build is left"],
        "rollbackPlan": ["cp backup/parser bin/parser", "git checkout -- Cargo.lock"],
        "estimatedTime": "about two minutes",
        "steps": [
            {
                "command": "git status --short && git log --oneline -5",
                "description": "See that nothing is uncommitted",
                "expectedOutput": "no lines before the log",
            },
            {
                "command": "cargo build --release --locked",
                "description": "Build it",
                "timeoutSeconds": 900,
                "verificationCommand": "test -x target/release/parser",
            },
            {
                "command": "mkdir -p backup && cp bin/parser backup/parser\ncp target/release/parser bin/parser",
                "explanation": "The old one is kept for the way back.",
            },
            {
                "command": "find target -name '*.d' -mtime +30 -print -delete && rm -rf ~/.cache/parser/old-* # clean up",
                "description": "Remove what old builds have left",
                "riskAssessment": {
                    "level": "caution", "category": "files", "reason": "deletes",
                    "requiresApproval": true, "warningMessage": "Old builds cannot be brought back.",
                },
            },
            { "command": "bin/parser --version", "cwd": "." },
        ],
    });
    let text = serde_json::to_vec_pretty(&source).unwrap_or_default();
    let parsed = countersign::plan::parse(&text);
    assert!(parsed.is_valid(), "{:?}", parsed.findings);
    parsed.into_shown().unwrap_or_else(plan)
}

/// A policy for example data, which has no repository.
fn policy() -> Policy {
    Policy { repositories: Repositories::NameNothing, ..Policy::default() }
}

/// The commands of a workspace in C.
pub fn workspace_commands(trusted: bool) -> CommandsReview {
    let policy = policy();
    let command = |name: &str, command: &str, timeout_seconds, matcher: &str, steps: &[usize]| {
        CommandReview {
            name: name.into(),
            command: command.into(),
            timeout_seconds,
            matcher: matcher.into(),
            risk: risk::of_shell_command(command, &[], (None, None), &policy, Shell::Bash),
            steps: steps.to_vec(),
        }
    };
    CommandsReview {
        digest: Digest::of(b"countersign.toml"),
        trusted,
        commands: vec![
            command("verify.local", "make -k check", 600, "gnu", &[2]),
            command(
                "verify.full",
                "cmake --build build --target all && ctest --test-dir build --output-on-failure --output-junit report.xml",
                1_800,
                "gnu",
                &[],
            ),
            command(
                "build",
                "rm -rf build/* && cmake -S . -B build && cmake --build build",
                1_800,
                "gnu",
                &[3],
            ),
            command("run", "./build/parser \"$@\"", 60, "none", &[4]),
        ],
        faults: Vec::new(),
    }
}

/// The inputs of a plan, as the dialog asks for them.
pub fn fill_in() -> FillInView {
    let input = |name: &str, title: &str| PlanInput {
        name: name.to_owned(),
        title: Some(title.to_owned()),
        used_by: vec![0, 2],
        ..PlanInput::default()
    };
    let folder =
        PlanInput { default: Some("dist".to_owned()), ..input("folder", "Folder of the release") };
    let choices = ["staging", "production"].map(str::to_owned).to_vec();
    let environment =
        PlanInput { choices, used_by: vec![1], ..input("environment", "Environment") };
    let token = PlanInput { secret: true, ..input("token", "Token") };
    FillInView {
        file: PathBuf::from("/home/ada/src/parser/release.plan.json"),
        name: "Publish the release".to_owned(),
        inputs: vec![(folder, false), (environment, false), (token, false)],
    }
}
