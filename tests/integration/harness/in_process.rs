//! Runs the executor in this process, with a workspace, an evidence folder, a fake clock and scripted
//! answers.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use countersign::authorization::{ApprovedPlan, Method, PlanAuthorization};
use countersign::engine::{
    Clock, ConfirmationCallback, ControlHandle, ExecutionError, Executor, ExecutorDeps, FollowUp,
    ProgressCallback, Simulation, WorkspaceChoice, review, simulate_shown,
};
use countersign::evidence::{EvidenceLocation, EvidenceReader, EvidenceStore};
use countersign::plan::{Plan, parse};
use countersign::risk::{EngineChoice, Policy};
use countersign::run::{
    ConfirmationRequest, Decision, ExecutionResult, RunEvent, RunState, TerminalPort,
};
use rusqlite::{Connection, Params};
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use super::clock::{FakeClock, NOW_MS};
use super::files::tree;
use super::plans::read;

type Answer = dyn Fn(&ConfirmationRequest) -> Decision + Send + Sync;
type Hook = dyn Fn(&RunEvent) + Send + Sync;

/// Records every callback of the executor.
#[derive(Default)]
pub struct RecordedCallbacks {
    events: Mutex<Vec<RunEvent>>,
    calls: Mutex<Vec<String>>,
    confirmation_requests: Mutex<Vec<ConfirmationRequest>>,
}

impl RecordedCallbacks {
    /// The events, in order.
    pub fn events(&self) -> Vec<RunEvent> {
        self.events.lock().unwrap().clone()
    }

    /// The callbacks with their step id, in order: `start a`, `complete a`, ….
    pub fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    /// The confirmation requests, in order.
    pub fn confirmation_requests(&self) -> Vec<ConfirmationRequest> {
        self.confirmation_requests.lock().unwrap().clone()
    }

    /// The run state that results from the events.
    pub fn state(&self) -> RunState {
        let mut state = RunState::default();
        self.events().iter().for_each(|event| state.apply(event));
        state
    }

    fn call(&self, what: &str, step_id: &str) {
        self.calls.lock().unwrap().push(format!("{what} {step_id}"));
    }
}

struct Person {
    callbacks: Arc<RecordedCallbacks>,
    answer: Arc<Answer>,
}

impl ConfirmationCallback for Person {
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision {
        self.callbacks.call("ask", &request.step_id);
        self.callbacks.confirmation_requests.lock().unwrap().push(request.clone());
        (self.answer)(request)
    }
}

struct Listener {
    callbacks: Arc<RecordedCallbacks>,
    hook: Arc<Hook>,
}

impl ProgressCallback for Listener {
    fn on_event(&self, event: &RunEvent) {
        self.callbacks.events.lock().unwrap().push(event.clone());
        (self.hook)(event);
        match event {
            RunEvent::StepStarted { step_id, .. } => self.callbacks.call("start", step_id),
            RunEvent::StepOutput { step_id, .. } => self.callbacks.call("output", step_id),
            RunEvent::StepCompleted { result } => self.callbacks.call("complete", &result.step_id),
            RunEvent::StepFailed { result } => self.callbacks.call("failed", &result.step_id),
            RunEvent::StepSkipped { result, .. } => self.callbacks.call("skipped", &result.step_id),
            _ => {}
        }
    }
}

/// A workspace with its evidence, and scripted answers to confirmations.
#[must_use]
pub struct Harness {
    folder: TempDir,
    pub policy: Policy,
    pub clock: Arc<FakeClock>,
    pub control: ControlHandle,
    answer: Arc<Answer>,
    hook: Arc<Hook>,
    /// The terminal for steps that ask for one.
    pub terminal: Option<TerminalPort>,
}

/// The outcome of one run, with its callbacks.
#[must_use]
pub struct FinishedRun {
    pub outcome: Result<ExecutionResult, ExecutionError>,
    pub callbacks: Arc<RecordedCallbacks>,
}

impl FinishedRun {
    /// The result of a run that was not refused.
    pub fn result(&self) -> &ExecutionResult {
        self.outcome.as_ref().expect("the run is not refused")
    }

    /// The code of a refusal.
    pub fn refusal(&self) -> &'static str {
        self.outcome.as_ref().expect_err("the run is refused").code().as_str()
    }

    /// The outcome of each step, and the status of the run.
    pub fn words(&self) -> (Vec<&'static str>, &'static str) {
        let result = self.result();
        let outcomes = result.step_results.iter().map(|step| step.outcome.as_str()).collect();
        (outcomes, result.status.as_str())
    }

    /// The checkpoint name of the whole run.
    pub fn checkpoint(&self) -> String {
        format!("run:{}", self.result().run_id)
    }

    /// The error code of each step.
    pub fn codes(&self) -> Vec<Option<&'static str>> {
        let steps = &self.result().step_results;
        steps.iter().map(|step| step.error_code.map(|code| code.as_str())).collect()
    }
}

impl Harness {
    /// An empty workspace. Every confirmation is approved.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        Self {
            folder,
            policy: Policy::default(),
            clock: Arc::new(FakeClock::new()),
            control: ControlHandle::default(),
            answer: Arc::new(|_| Decision::Approve),
            hook: Arc::new(|_| {}),
            terminal: None,
        }
    }

    /// A workspace with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let harness = Self::new();
        files.iter().for_each(|(path, content)| harness.put(path, content));
        harness
    }

    /// Answers confirmations with this function.
    pub fn answering(
        mut self,
        answer: impl Fn(&ConfirmationRequest) -> Decision + Send + Sync + 'static,
    ) -> Self {
        self.answer = Arc::new(answer);
        self
    }

    /// Calls this function at each event, on the executor's thread.
    pub fn on_event(mut self, hook: impl Fn(&RunEvent) + Send + Sync + 'static) -> Self {
        self.hook = Arc::new(hook);
        self
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.workspace().join(relative)
    }

    pub fn put(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The content of a file, or `None` when it is absent.
    pub fn content(&self, relative: &str) -> Option<String> {
        fs::read(self.path(relative)).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// Every file below the workspace with its content.
    pub fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        tree(&self.workspace())
    }

    pub fn evidence(&self) -> PathBuf {
        self.folder.path().join("evidence")
    }

    /// The locations of the evidence and the key.
    pub fn evidence_location(&self) -> EvidenceLocation {
        EvidenceLocation {
            evidence: self.evidence(),
            user_folders: self.folder.path().join("key").into(),
        }
    }

    pub fn store(&self) -> EvidenceStore {
        EvidenceStore::open(&self.evidence(), self.folder.path().join("key")).unwrap()
    }

    pub fn reader(&self) -> EvidenceReader {
        EvidenceReader::open(&self.evidence(), self.folder.path().join("key")).unwrap()
    }

    /// The run state replayed from the evidence.
    pub fn replayed(&self, run_id: Uuid) -> RunState {
        let mut reader = self.reader();
        let mut state = RunState::default();
        reader.replay(run_id).unwrap().iter().for_each(|event| state.apply(event));
        state
    }

    /// The simulation of all steps of a plan.
    pub fn simulate(&self, plan: &Value) -> Simulation {
        let (plan, records, stop) = (read(plan).into(), self.evidence_location(), Arc::default());
        let workspace = self.workspace();
        simulate_shown(&plan, &workspace, &self.policy, Some(&records), &stop).unwrap()
    }

    /// The plan that continues a run: the steps that it has not executed.
    pub fn continuation_of(&self, run_id: Uuid) -> Plan {
        let mut reader = self.reader();
        let (_, bytes) = FollowUp::Continue.plan(&mut reader, run_id, &self.policy).unwrap();
        parse(&bytes).plan.unwrap()
    }

    /// A direct connection to the evidence database, without the store.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test must not take the room's own word for it"
    )]
    pub fn sql(&self) -> Connection {
        drop(self.store());
        Connection::open(self.evidence().join("execution_log.db")).unwrap()
    }

    /// The number that a query of the evidence returns.
    pub fn count(&self, sql: &str, params: impl Params) -> i64 {
        self.sql().query_row(sql, params, |row| row.get(0)).unwrap()
    }

    /// The first column of every row of a query of the evidence, as text.
    pub fn texts(&self, sql: &str, params: impl Params) -> Vec<String> {
        let connection = self.sql();
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map(params, |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Configures this shell script as the program `splice`.
    #[cfg(unix)]
    pub fn replace_splice(&mut self, script: &str) {
        self.put("fake", script);
        let program = self.path("fake");
        super::set_mode(&program, 0o755);
        self.policy.engine = EngineChoice::External;
        self.policy.splice_program = Some(program);
    }

    /// Makes every insert into this table fail.
    pub fn refuse_rows_of(&self, table: &str) {
        drop(self.store());
        fs::write(self.evidence().join("execution_log.broken"), table).unwrap();
    }

    /// Reverts [`Harness::refuse_rows_of`].
    pub fn accept_rows(&self) {
        fs::remove_file(self.evidence().join("execution_log.broken")).unwrap();
    }

    /// Changes rows of this table. The trigger that refuses updates is removed for that time.
    pub fn change_rows_of(&self, table: &str, change: &str) {
        let sql = self.sql();
        let name = format!("{table}_refuses_update");
        let trigger: String = sql
            .query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [&name], |row| row.get(0))
            .unwrap();
        sql.execute_batch(&format!("DROP TRIGGER {name}; {change}; {trigger}")).unwrap();
    }

    /// Approves this plan in its present state, valid or not.
    pub fn approve(&self, plan: &Plan) -> ApprovedPlan {
        ApprovedPlan {
            plan: plan.clone(),
            authorization: self
                .pending(plan)
                .approve(NOW_MS, self.policy.authorization_ttl_ms)
                .with_boot_time(self.clock.since_boot()),
        }
    }

    /// Approves this plan at the time of the clock.
    pub fn approve_now(&self, plan: &Plan) -> ApprovedPlan {
        let now_ms = self.clock.now_ms();
        let approved = self.pending(plan).approve(now_ms, self.policy.authorization_ttl_ms);
        let authorization = approved.with_boot_time(self.clock.since_boot());
        ApprovedPlan { plan: plan.clone(), authorization }
    }

    /// An authorization of this plan that is not answered yet.
    pub fn pending(&self, plan: &Plan) -> PlanAuthorization {
        let choice = WorkspaceChoice { folder: self.workspace(), reason: String::new() };
        let records = self.evidence_location();
        let binding = review(plan, &choice, &self.policy, Some(&records)).unwrap().binding;
        PlanAuthorization::pending(plan, binding, Method::Window, NOW_MS)
    }

    /// Approves the plan in this JSON.
    pub fn authorize(&self, plan: &Value) -> ApprovedPlan {
        self.approve(&read(plan))
    }

    pub fn executor(&self) -> (Executor, Arc<RecordedCallbacks>) {
        let callbacks = Arc::new(RecordedCallbacks::default());
        let person = Person { callbacks: Arc::clone(&callbacks), answer: Arc::clone(&self.answer) };
        let listener = Listener { callbacks: Arc::clone(&callbacks), hook: Arc::clone(&self.hook) };
        let deps = ExecutorDeps {
            policy: self.policy.clone(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            confirmation: Box::new(person),
            progress: Arc::new(listener),
            control: self.control.clone(),
            terminal: self.terminal.clone(),
            secrets: None,
            passphrase: None,
        };
        (Executor::new(self.store(), deps), callbacks)
    }

    /// Approves the plan and runs it.
    pub fn run(&self, plan: &Value) -> FinishedRun {
        self.execute(self.authorize(plan))
    }

    /// Runs an approved plan.
    pub fn execute(&self, approved: ApprovedPlan) -> FinishedRun {
        let (mut executor, callbacks) = self.executor();
        FinishedRun { outcome: executor.execute(approved), callbacks }
    }
}
