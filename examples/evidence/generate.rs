//! Makes evidence of any size that looks like that of real runs: plans of several tools, texts with common and rare
//! words, paths, diagnostics, decisions, hosts. The same seed makes the same executions.

#[path = "random.rs"]
mod random;
#[path = "record.rs"]
mod record;

use std::collections::BTreeMap;

use countersign::authorization::{Binding, FileState, Method, PlanAuthorization};
use countersign::evidence::{EvidenceStore, StepDecision};
use countersign::plan::{Code, Digest, Mode, Plan, Step, parse};
use countersign::risk::{Policy, Repositories, Shell, Verdict, of_step};
use countersign::run::{
    Answer, AnsweredBy, ConfirmationRequest, Decision, DiagnosticArtifact, Edge, EdgeType, Failure,
    FileEffect, Level, Modes, Outcome, Preview, RunEnding, StepResult, TargetKind,
};
use random::Random;
pub use random::word;
use record::record;
use serde_json::{Value, json};
use uuid::Uuid;

/// The number of different plans, and of steps in each.
const PLANS: u64 = 400;
const STEPS: usize = 20;
/// The number of runs that are committed together.
const RUNS: usize = 50;
/// The start of the first run: 1 January 2025, in Unix milliseconds.
const FIRST_MS: i64 = 1_735_689_600_000;

const CODES: [&str; 10] = [
    "E0425",
    "E0308",
    "E0432",
    "E0599",
    "E0277",
    "E0502",
    "E0382",
    "unused_variables",
    "dead_code",
    "clippy::needless_return",
];
const HOSTS: [&str; 4] = ["web-1", "web-2", "db.internal", "build"];

/// A plan with the risk of each step.
struct Prepared {
    plan: Plan,
    risks: Vec<Verdict>,
}

impl Prepared {
    fn new(number: u64, random: &mut Random) -> Self {
        let policy = Policy { repositories: Repositories::NameNothing, ..Policy::default() };
        let steps: Vec<_> = (0..STEPS).map(|_| step(random)).collect();
        let title = random.line(4);
        let text = if number % 5 == 4 {
            let commands: Vec<_> = (0..STEPS)
                .map(|_| json!({"description": random.line(4), "command": command(random)}))
                .collect();
            json!({"id": format!("plan-{number}"), "goal": title, "steps": commands})
        } else {
            json!({"plan_id": format!("plan-{number}"), "intent": "MUTATE", "title": title,
                   "steps": steps})
        };
        let parsed = parse(text.to_string().as_bytes());
        assert!(parsed.is_valid(), "{:?}", parsed.findings);
        let plan = parsed.plan.expect("a valid plan");
        let risks = plan.steps.iter().map(|it| of_step(it, &policy, Shell::Posix)).collect();
        Self { plan, risks }
    }
}

fn step(random: &mut Random) -> Value {
    let path = random.path();
    match random.below(10) {
        0..=4 => json!({"tool": "file_read", "arguments": {"path": path}}),
        5 | 6 => {
            let words = 10 + random.below(30);
            let contents = random.line(words);
            json!({"tool": "file_write", "arguments": {"path": path, "contents": contents}})
        }
        7 => {
            let pattern = random.word();
            json!({"tool": "file_search", "arguments": {"pattern": pattern, "root": "src"}})
        }
        8 => {
            let contents = random.line(6);
            json!({"tool": "file_create", "arguments": {"path": path, "contents": contents}})
        }
        _ => json!({"tool": "lsp_check", "arguments": {"path": path}}),
    }
}

fn command(random: &mut Random) -> String {
    let (path, word) = (random.path(), random.word());
    match random.below(6) {
        0 => format!("grep -rn {word} {path}"),
        1 => "cargo test --workspace".to_owned(),
        2 => format!("rm -rf target/{word}"),
        3 => format!("cat {path}"),
        4 => format!("sed -i s/{word}/x/ {path}"),
        _ => "git status --short".to_owned(),
    }
}

/// The records of one step.
struct Made {
    result: StepResult,
    index: usize,
    stdout: String,
    edges: Vec<Edge>,
    files: Vec<FileEffect>,
    host: Option<&'static str>,
    decision: Option<StepDecision>,
    has_intent: bool,
}

/// The records of one run.
struct MadeRun {
    run_id: Uuid,
    authorization: PlanAuthorization,
    plan: usize,
    steps: Vec<Made>,
    ending: RunEnding,
    started_at_ms: i64,
    ended_at_ms: i64,
}

/// Adds `executions` executions to the evidence.
///
/// # Panics
/// If they cannot be recorded.
pub fn generate(
    store: &mut EvidenceStore,
    executions: usize,
    seed: u64,
    mut progress: impl FnMut(usize),
) {
    let mut random = Random::new(seed);
    let plans: Vec<_> = (0..PLANS).map(|number| Prepared::new(number, &mut random)).collect();
    let (mut done, mut now_ms) = (0, FIRST_MS);
    while done < executions {
        let mut runs = Vec::with_capacity(RUNS);
        while runs.len() < RUNS && done < executions {
            let end = 1 + random.below(plans.len() as u64);
            let plan = random.below(end) as usize;
            let run = run(&mut random, plan, &plans[plan], executions - done, &mut now_ms);
            done += run.steps.len();
            runs.push(run);
        }
        record(store, &plans, &runs);
        progress(done);
    }
}

fn run(
    random: &mut Random,
    plan: usize,
    prepared: &Prepared,
    at_most: usize,
    now_ms: &mut i64,
) -> MadeRun {
    *now_ms += 1_000 + random.below(1_200_000) as i64;
    let run_id = random.id();
    let started_at_ms = *now_ms;
    let host = prepared.plan.steps.first().is_some_and(|it| it.tool_name == "shell");
    let host = (host && random.once_in(2)).then(|| random.one_of(&HOSTS));
    let method = [Method::Window, Method::CommandLineYes, Method::CommandLineDigest]
        [random.below(3) as usize];
    let mut steps = Vec::new();
    for (index, step) in prepared.plan.steps.iter().enumerate().take(at_most) {
        *now_ms += 1 + random.below(900) as i64;
        let made = made(random, run_id, step, &prepared.risks[index], host, *now_ms);
        let ends = !made.result.outcome.continues_run();
        steps.push(made);
        if ends {
            break;
        }
    }
    let failed = steps.last().is_some_and(|it| !it.result.outcome.continues_run());
    let ending = if failed {
        RunEnding::Failed(Failure {
            code: Code::WriteFailed,
            message: "a step failed".to_owned(),
            next: "Look at the step.".to_owned(),
        })
    } else {
        RunEnding::Completed
    };
    let binding = Binding {
        fleet: None,
        workspace: format!("/home/ada/{}", word(random.below(40))),
        workspace_id: None,
        mode: Mode::Automatic,
        policy: Digest::of(b"policy"),
        target: None,
        inputs: BTreeMap::new(),
        grants: Default::default(),
        choices: Default::default(),
        walls: None,
        secret_inputs: BTreeMap::new(),
    };
    let mut authorization =
        PlanAuthorization::pending(&prepared.plan, binding, method, started_at_ms)
            .approve(started_at_ms, 60_000);
    authorization.authorization_id = random.id();
    let ended_at_ms = *now_ms + 1;
    MadeRun { run_id, authorization, plan, steps, ending, started_at_ms, ended_at_ms }
}

fn made(
    random: &mut Random,
    run_id: Uuid,
    step: &Step,
    risk: &Verdict,
    host: Option<&'static str>,
    now_ms: i64,
) -> Made {
    let outcome = match random.below(100) {
        0 | 1 => Outcome::Failed,
        2 => Outcome::Denied,
        3 | 4 => Outcome::Skipped,
        _ => Outcome::Succeeded,
    };
    let invoked = matches!(outcome, Outcome::Succeeded | Outcome::Failed);
    let failed = outcome == Outcome::Failed;
    let (lines, words) = (1 + random.below(10), 4 + random.below(10));
    let stdout: Vec<_> = (0..lines).map(|_| random.line(words)).collect();
    let path = step.arguments.get("path").cloned();
    let writes = matches!(step.tool_name.as_str(), "file_write" | "file_create");
    let is_check = step.tool_name == "lsp_check";
    let mut edges = Vec::new();
    let edge = |edge_type, target: &str| Edge {
        edge_type,
        target_kind: TargetKind::File,
        target: target.to_owned(),
    };
    for path in path.iter().filter(|_| invoked) {
        edges.push(edge(EdgeType::ExecutedOn, path));
        if writes && !failed {
            edges.push(edge(EdgeType::Affected, path));
        }
    }
    let number = if is_check && invoked { random.below(4) } else { 0 };
    let diagnostics: Vec<_> = (0..number).map(|_| diagnostic(random)).collect();
    edges.extend(diagnostics.iter().map(|it| edge(EdgeType::Referenced, &it.file_name)));
    let files = path.iter().filter(|_| writes && invoked).map(|path| FileEffect {
        path: path.clone(),
        before: FileState::Absent,
        after: FileState::Content(Digest::of(path.as_bytes())),
        before_bytes: None,
        after_bytes: None,
        modes: Modes { before: None, after: None },
    });
    let asks = risk.level >= countersign::risk::RiskLevel::Dangerous || random.once_in(40);
    let result = StepResult {
        step_id: step.step_id.clone(),
        step_index: step.step_index,
        tool_name: step.tool_name.clone(),
        success: outcome == Outcome::Succeeded,
        outcome,
        execution_id: random.id(),
        exit_code: None,
        terminal: false,
        stdout: None,
        stdout_bytes: 0,
        stdout_truncated: false,
        stderr: None,
        stderr_bytes: 0,
        stderr_truncated: false,
        error_message: failed.then(|| random.line(8)),
        error_code: failed.then_some(Code::WriteFailed),
        next: failed.then(|| "Look at the file.".to_owned()),
        timestamp_ms: now_ms,
        duration_ms: random.below(900) as i64,
        diagnostic_artifacts: diagnostics,
        needs: None,
        walls: None,
        wall_notes: Vec::new(),
        refused: false,
        refused_write: None,
        note: String::new(),
    };
    Made {
        index: step.step_index,
        stdout: stdout.join("\n"),
        edges,
        files: files.collect(),
        host,
        decision: asks.then(|| decision(run_id, step, risk, outcome, now_ms)),
        has_intent: invoked && (writes || is_check || step.tool_name == "shell"),
        result,
    }
}

fn diagnostic(random: &mut Random) -> DiagnosticArtifact {
    DiagnosticArtifact {
        level: Level::Error,
        tool_level: "error".to_owned(),
        message: random.line(8),
        file_name: random.path(),
        line_start: random.below(800) as i64 + 1,
        column_start: None,
        line_end: None,
        column_end: None,
        code: Some(random.one_of(&CODES).to_owned()),
        spans: Vec::new(),
        children: Vec::new(),
        rendered: None,
    }
}

fn decision(
    run_id: Uuid,
    step: &Step,
    risk: &Verdict,
    outcome: Outcome,
    now_ms: i64,
) -> StepDecision {
    let decision = match outcome {
        Outcome::Denied => Decision::Cancel,
        Outcome::Skipped => Decision::Skip,
        _ => Decision::Approve,
    };
    StepDecision {
        request: ConfirmationRequest {
            run_id,
            step_id: step.step_id.clone(),
            step_index: step.step_index,
            step_count: STEPS,
            tool: step.tool_name.clone(),
            purpose: None,
            explanation: None,
            arguments: step.arguments.clone(),
            target: None,
            host: None,
            cwd: "/home/ada".to_owned(),
            user: "ada".to_owned(),
            risk: risk.clone(),
            warning: None,
            why: "the risk".to_owned(),
            required: true,
            unwalled: false,
            needs: None,
            walls: None,
            needed_by: Vec::new(),
            guided: false,
            run_by_agent: false,
            preview: Preview::exact(String::new(), Vec::new(), Vec::new()),
        },
        answer: Answer { decision, by: AnsweredBy::Window, note: String::new() },
        timestamp_ms: now_ms,
    }
}
