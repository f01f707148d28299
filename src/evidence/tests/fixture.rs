//! An evidence folder, and records to store in it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use crate::authorization::{
    Binding, FileState, Method, PlanAuthorization, SecretInputs, StepWalls,
};
use crate::evidence::*;
use crate::plan::{
    Code, Dialect, Digest, Intent, Mode, Plan, PlanNotes, Precondition, StatedRisk, Step,
    StepPlace, ToolCall,
};
use crate::risk::{RiskLevel, Verdict};
use crate::run::*;

pub struct Home {
    _dir: Arc<TempDir>,
    pub evidence: PathBuf,
    pub secrets: PathBuf,
}

impl Home {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (evidence, secrets) = (dir.path().join("evidence"), dir.path().join("secrets"));
        Self { _dir: Arc::new(dir), evidence, secrets }
    }

    /// Another evidence folder of the same user.
    pub fn with_key_of(other: &Self) -> Self {
        let evidence = other.evidence.with_file_name(Uuid::new_v4().to_string());
        Self { _dir: Arc::clone(&other._dir), evidence, secrets: other.secrets.clone() }
    }

    pub fn store(&self) -> EvidenceStore {
        EvidenceStore::open(&self.evidence, &self.secrets).unwrap()
    }

    pub fn reader(&self) -> EvidenceReader {
        EvidenceReader::open(&self.evidence, &self.secrets).unwrap()
    }

    pub fn verify(&self) -> VerifyReport {
        verify(&self.evidence, None).unwrap()
    }

    /// Deletes the kept heads, as on a computer that has never used this evidence.
    pub fn forget_heads(&self) {
        for file in ["state/evidence_heads.json", "evidence_heads.json"] {
            let _ = std::fs::remove_file(self.secrets.join(file));
        }
    }

    pub fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.evidence.join("execution_log.db")).unwrap()
    }
}

pub fn write_step(index: usize, path: &str, contents: &str) -> Step {
    Step {
        step_id: format!("step_{}", index + 1),
        step_index: index,
        tool_name: "file_write".into(),
        arguments: BTreeMap::from([
            ("path".into(), path.into()),
            ("contents".into(), contents.into()),
        ]),
        call: ToolCall::FileWrite { path: path.into(), contents: contents.into() },
        precondition: Precondition::None,
        precondition_text: "none".into(),
        requires_confirmation: false,
        title: None,
        reason: Some("because".into()),
        stated: StatedRisk::default(),
        expected_output: None,
        needs: None,
        place: StepPlace::Step(index),
    }
}

pub fn read_step(index: usize, path: &str) -> Step {
    Step {
        tool_name: "file_read".into(),
        arguments: BTreeMap::from([("path".into(), path.into())]),
        call: ToolCall::FileRead { path: path.into() },
        ..write_step(index, path, "")
    }
}

pub fn plan(steps: Vec<Step>) -> Plan {
    let arguments: Vec<_> = steps.iter().map(|step| &step.arguments).collect();
    // These tests need only distinct bytes for distinct steps.
    let source = json!({"plan_id": "p", "steps": arguments}).to_string();
    Plan {
        fleet: None,
        plan_id: "p".into(),
        dialect: Dialect::StepPlan,
        intent: Some(Intent::Mutate),
        title: Some("Rename the widget".into()),
        created_by: None,
        evidence_referenced: vec!["Q1".into()],
        mode: Mode::Automatic,
        target: None,
        notes: PlanNotes::default(),
        metadata: Default::default(),
        failure: None,
        inputs: Vec::new(),
        signatures_required: 0,
        steps,
        digest: Digest::of(source.as_bytes()),
        source: Arc::from(source.into_bytes()),
    }
}

pub fn authorization(plan: &Plan) -> PlanAuthorization {
    let binding = Binding {
        fleet: None,
        workspace: "/home/someone/project".into(),
        workspace_id: None,
        mode: Mode::Automatic,
        policy: Digest::of(b"policy"),
        target: None,
        inputs: BTreeMap::from([("a.txt".into(), FileState::Absent)]),
        grants: Default::default(),
        choices: Default::default(),
        walls: None,
        secret_inputs: Default::default(),
    };
    PlanAuthorization::pending(plan, binding, Method::Window, 1_000).approve(1_000, 60_000)
}

pub fn risk() -> Verdict {
    Verdict {
        level: RiskLevel::Caution,
        rule: "writes-file".into(),
        span: None,
        parts: Vec::new(),
        reason: "writes a file".into(),
        suggestion: None,
    }
}

pub fn result_of(step: &Step, outcome: Outcome, timestamp_ms: i64) -> StepResult {
    let failed = !outcome.continues_run();
    StepResult {
        step_id: step.step_id.clone(),
        step_index: step.step_index,
        tool_name: step.tool_name.clone(),
        success: outcome == Outcome::Succeeded,
        outcome,
        execution_id: Uuid::new_v4(),
        exit_code: None,
        terminal: false,
        stdout: None,
        stdout_bytes: 0,
        stdout_truncated: false,
        stderr: None,
        stderr_bytes: 0,
        stderr_truncated: false,
        error_message: failed.then(|| "it went wrong".into()),
        error_code: failed.then_some(Code::WriteFailed),
        next: failed.then(|| "try again".into()),
        timestamp_ms,
        duration_ms: 7,
        diagnostic_artifacts: Vec::new(),
        needs: None,
        walls: None,
        wall_notes: Vec::new(),
        refused: false,
        refused_write: None,
        note: String::new(),
    }
}

/// The ending of a run that failed, with an empty message.
pub fn failed() -> RunEnding {
    let failure = Failure { code: Code::WriteFailed, message: String::new(), next: String::new() };
    RunEnding::Failed(failure)
}

/// The request for a decision about a step, as a person saw it.
pub fn request(run_id: Uuid, step: &Step) -> ConfirmationRequest {
    ConfirmationRequest {
        run_id,
        step_id: step.step_id.clone(),
        step_index: step.step_index,
        step_count: 1,
        tool: step.tool_name.clone(),
        purpose: None,
        explanation: None,
        arguments: step.arguments.clone(),
        target: None,
        host: None,
        cwd: "/".into(),
        user: "ada".into(),
        risk: risk(),
        warning: None,
        why: "because".into(),
        required: true,
        unwalled: false,
        needs: None,
        walls: None,
        needed_by: Vec::new(),
        guided: false,
        run_by_agent: false,
        preview: Preview::exact(String::new(), vec![], vec![]),
    }
}

pub fn with_output(mut result: StepResult, stdout: &[u8]) -> StepResult {
    let excerpt = StreamExcerpt::of(&result.tool_name, stdout);
    result.stdout = Some(excerpt.text);
    result.stdout_bytes = excerpt.bytes;
    result.stdout_truncated = excerpt.truncated;
    result
}

pub fn diagnostic(code: &str, file: &str) -> DiagnosticArtifact {
    DiagnosticArtifact {
        level: Level::Error,
        tool_level: "error".into(),
        message: format!("cannot find the value in {file}"),
        file_name: file.into(),
        line_start: 3,
        column_start: None,
        line_end: None,
        column_end: None,
        code: Some(code.into()),
        spans: Vec::new(),
        children: Vec::new(),
        rendered: None,
    }
}

pub fn effect(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FileEffect {
    let state = |bytes: Option<&[u8]>| {
        bytes.map_or(FileState::Absent, |bytes| FileState::Content(Digest::of(bytes)))
    };
    FileEffect {
        path: path.into(),
        before: state(before),
        after: state(after),
        before_bytes: before.map(Arc::from),
        after_bytes: after.map(Arc::from),
        modes: Modes {
            before: before.map(|_| FileMode::new(0o755)),
            after: after.map(|_| FileMode::new(0o4640)),
        },
    }
}

/// The optional fields of an execution.
#[derive(Default)]
pub struct Extra<'a> {
    pub stdout: Option<&'a [u8]>,
    pub stderr: Option<&'a [u8]>,
    pub captured: Option<&'a CapturedOutput>,
    pub result_json: serde_json::Value,
    pub artifacts: &'a [(ArtifactType, serde_json::Value)],
    pub files: &'a [FileEffect],
    pub edges: &'a [Edge],
    pub decision: Option<&'a StepDecision>,
    pub walls: Option<&'a StepWalls>,
}

pub fn stdout(bytes: &[u8]) -> Extra<'_> {
    Extra { stdout: Some(bytes), ..Extra::default() }
}

/// An active run.
pub struct Running<'s> {
    pub store: &'s mut EvidenceStore,
    pub run_id: Uuid,
    pub plan: Plan,
    pub results: Vec<StepResult>,
}

impl<'s> Running<'s> {
    pub fn begin(store: &'s mut EvidenceStore, plan: Plan, started_at_ms: i64) -> Self {
        let authorization = authorization(&plan);
        Self::begin_with(store, plan, &authorization, started_at_ms)
    }

    pub fn begin_with(
        store: &'s mut EvidenceStore,
        plan: Plan,
        authorization: &PlanAuthorization,
        started_at_ms: i64,
    ) -> Self {
        let run_id = Uuid::new_v4();
        store
            .commit(&Entry::RunStart(RunStart {
                fleet: None,
                secret_inputs: SecretInputs::none(),
                run_id,
                plan: &plan,
                authorization,
                reached: None,
                started_at_ms,
            }))
            .unwrap();
        Self { store, run_id, plan, results: Vec::new() }
    }

    pub fn intend(&mut self, result: &StepResult, files: &[FileEffect]) {
        self.store
            .commit(&Entry::Intent(IntentRecord {
                execution_id: result.execution_id,
                run_id: self.run_id,
                step: &self.plan.steps[result.step_index],
                risk: &risk(),
                timestamp_ms: result.timestamp_ms,
                host: None,
                walls: None,
                files,
                decision: None,
            }))
            .unwrap();
    }

    pub fn record(&mut self, result: StepResult, extra: Extra<'_>) {
        self.store
            .commit(&Entry::Execution(ExecutionRecord {
                result: &result,
                run_id: self.run_id,
                plan: &self.plan,
                step: &self.plan.steps[result.step_index],
                risk: &risk(),
                policy: Digest::of(b"policy"),
                host: None,
                walls: extra.walls,
                invoked: matches!(result.outcome, Outcome::Succeeded | Outcome::Failed),
                stdout: extra.stdout,
                stderr: extra.stderr,
                captured: extra.captured,
                result_json: &extra.result_json,
                artifacts: extra.artifacts,
                files: extra.files,
                predicted: &[],
                edges: extra.edges,
                decision: extra.decision,
            }))
            .unwrap();
        self.results.push(result);
    }

    pub fn end(self, ending: &RunEnding) {
        self.end_at(ending, 9_000);
    }

    /// Ends the run at this time, and gives its store back.
    pub fn end_at(self, ending: &RunEnding, timestamp_ms: i64) -> &'s mut EvidenceStore {
        self.store
            .commit(&Entry::RunEnd(RunEnd {
                run_id: self.run_id,
                ending,
                completed_steps: self.results.len(),
                total_duration_ms: 7,
                elapsed_ms: 9,
                left_running: &[],
                clock_set_back: 0,
                timestamp_ms,
            }))
            .unwrap();
        self.store
    }
}

/// The results of the steps, in order.
pub(super) fn results(events: Vec<RunEvent>) -> Vec<StepResult> {
    events
        .into_iter()
        .filter_map(|event| match event {
            RunEvent::StepCompleted { result }
            | RunEvent::StepFailed { result }
            | RunEvent::StepSkipped { result, .. } => Some(*result),
            _ => None,
        })
        .collect()
}
