//! Example data: bounded loops, and the form for one.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use countersign::authorization::AuthorizationClass;
use countersign::plan::{Code, Digest, RiskLevel, ShownPlan, VerifyScope};
use countersign::run::{
    ActionError, ActionErrorCode, ActionRecord, ActionStatus, AttemptRecord, Look, LookRecord,
    LookScope, LoopFate, LoopPlace, LoopState, LoopSummary, Outcome, PlaceFault, PlaceReview,
    PlanDifference, PlannerFinding, PlannerReport, PlannerStatus, RunEvent, StepChange,
    StepDifference, StopCode, StopDetail, StopReason, VERIFY_GATE, VerifyRecord,
};
use countersign::ui::action::LoopAction;
use countersign::ui::dialog::Question;
use countersign::ui::format::Now;
use countersign::ui::loop_page::{
    FormView, LoopForm, LoopView, PlannerChoice, Shown, ShownLoop, TimelineView,
};
use uuid::Uuid;

use super::{fixture, found};

/// The loop page in one of its states.
pub struct LoopScene {
    pub form: Option<LoopForm>,
    pub place: Option<PlaceReview>,
    /// The warning about other runs in the workspace of the form.
    pub other_runs: Option<String>,
    /// Whether the goal gets the keyboard focus in the next frame.
    pub focus_goal: Cell<bool>,
    pub shown: ShownLoop,
    loops: Vec<LoopSummary>,
    expanded: BTreeMap<u32, bool>,
}

const GOAL: &str = "The parser accepts keywords of the next edition, and every test passes.";
const WORKSPACE: &str = "/home/ada/src/parser";

fn class() -> AuthorizationClass {
    AuthorizationClass {
        tools: vec!["file_write".into(), "splice_patch".into()],
        paths: vec!["src".into()],
        hosts: vec![],
        max_risk: RiskLevel::Caution,
        max_attempts: 3,
        expires_at: "2026-11-21T12:30:00Z".into(),
        needs: Default::default(),
    }
}

fn report(actions: usize) -> PlannerReport {
    PlannerReport {
        status: PlannerStatus::Accepted,
        version: Some("0.3".into()),
        action_count: actions,
        failure_code: None,
        message: None,
        retryable: None,
        answers_goal: None,
        findings: vec![],
    }
}

fn rejected() -> PlannerReport {
    let finding = |code: Code, severity: &str, line, message: &str| PlannerFinding {
        severity: severity.into(),
        code: code.as_str().into(),
        name: None,
        pointer: "/actions/1/request/path".into(),
        line,
        column: 18,
        message: message.into(),
        allowed: vec![],
    };
    PlannerReport {
        status: PlannerStatus::Failed,
        failure_code: Some("planner_validation_failed".into()),
        message: Some(
            "E203 at 14:18: \"../parser\" leads out of the workspace (and 1 more)".into(),
        ),
        retryable: Some(true),
        findings: vec![
            finding(
                Code::OutsideWorkspace,
                "error",
                14,
                "\"../parser\" leads out of the workspace. Name a path inside it.",
            ),
            finding(Code::MissingArgument, "error", 22, "The argument contents is missing."),
            finding(Code::BadArgument, "warning", 3, "The field summary is not known and ignored."),
        ],
        ..report(3)
    }
}

fn difference() -> PlanDifference {
    let step = |change, before, after, tool: &str, about: &str| {
        StepDifference {
        change,
        before,
        after,
        tool: tool.into(),
        about: about.into(),
        lines: match change {
            StepChange::Changed => " with:\n pub fn keyword(text: &str) -> bool {\n-    matches!(text, \"fn\" | \"let\")\n+    matches!(text, \"fn\" | \"gen\" | \"let\")\n }\n".into(),
            StepChange::New | StepChange::Gone => String::new(),
        },
    }
    };
    PlanDifference {
        new: 1,
        gone: 1,
        changed: 1,
        same: 2,
        steps: vec![
            step(
                StepChange::Changed,
                Some(1),
                Some(1),
                "splice_patch",
                "src/parser.rs, fn keyword",
            ),
            step(StepChange::New, None, Some(3), "file_write", "src/lexer.rs"),
            step(StepChange::Gone, Some(4), None, "shell", "cargo fmt --all"),
        ],
    }
}

/// Builds the state of a loop, event by event.
struct LoopBuilder {
    state: LoopState,
    plan: ShownPlan,
    time: i64,
    max_attempts: u32,
}

impl LoopBuilder {
    fn new(max_attempts: u32, goal: &str, class_id: Option<Uuid>) -> Self {
        let time = fixture::NOW_MS - 95_000;
        let mut builder =
            Self { state: LoopState::default(), plan: fixture::plan(), time, max_attempts };
        builder.apply(RunEvent::LoopStarted {
            loop_id: Uuid::from_u128(7),
            goal: goal.into(),
            planner: "python3 tools/plan.py --model local".into(),
            workspace: WORKSPACE.into(),
            max_attempts,
            class_id,
            looks: LookScope::Workspace,
            target: None,
            timestamp_ms: time,
        });
        builder
    }

    fn apply(&mut self, event: RunEvent) {
        self.state.apply(&event);
    }

    fn attempt(&mut self, attempt: u32, output: &str) {
        self.time += 11_000;
        self.apply(RunEvent::AttemptStarted {
            attempt,
            max_attempts: self.max_attempts,
            timestamp_ms: self.time,
        });
        self.apply(RunEvent::PlannerStarted { planner: "python3".into() });
        self.apply(RunEvent::PlannerOutput { chunk: output.into() });
    }

    /// The planner looks before it plans.
    fn looked(&mut self) {
        let record = |look: Look, bytes: usize, error: Option<&str>| LookRecord {
            look,
            ok: bytes > 0,
            bytes,
            truncated: bytes > 0 && error.is_some(),
            error: error.map(str::to_owned),
        };
        let read = |path: &str, lines| Look::Read { path: path.into(), lines };
        let search = Look::Search { pattern: r"fn \w*keyword".into(), root: ".".into() };
        let long =
            "src/generated/tables/of/every/token/in/every/dialect/that/the/lexer/has/ever/known.rs";
        let looks = vec![
            record(read("src/lib.rs", None), 4_301, None),
            record(read("src/parser.rs", Some((1, 120))), 3_950, None),
            record(search, 212, None),
            record(Look::Symbol { name: "Token::keyword".into() }, 1_400, None),
            record(
                read(".netrc", None),
                0,
                Some(
                    ".netrc is a sensitive path (write-credentials), which planners are not shown",
                ),
            ),
            record(read(long, None), 262_144, Some("only the first 256 KiB: ask for lines")),
        ];
        self.apply(RunEvent::PlannerLooked { round: 1, looks });
    }

    fn answered(&mut self, report: PlannerReport) {
        let plan_digest = Some(self.plan.digest);
        self.apply(RunEvent::PlannerAnswered { report: Box::new(report), plan_digest });
    }

    fn revised(&mut self) {
        let reason = "step 2 (splice_patch): cargo check finds 2 new errors".into();
        self.apply(RunEvent::PlanRevised { reason, difference: Box::new(difference()) });
    }

    fn waits(&mut self, attempt: u32, outside: Vec<String>) {
        self.apply(RunEvent::AuthorizationNeeded {
            loop_id: Uuid::from_u128(7),
            attempt,
            plan_digest: self.plan.digest,
            outside,
        });
    }

    fn authorized(&mut self, how: &str) {
        self.apply(RunEvent::AuthorizationDecided { approved: true, how: how.into() });
    }

    /// Runs the plan: the first `done` steps are finished, and the last of them failed if `fails`.
    fn applied(&mut self, done: usize, fails: bool) {
        let count = self.plan.steps.len();
        self.apply(RunEvent::RunStarted {
            run_id: Uuid::from_u128(u128::try_from(self.time).unwrap_or(1)),
            plan_id: "parser".into(),
            step_count: count,
            timestamp_ms: self.time,
        });
        for index in 0..count.min(done + 1) {
            let step = &self.plan.steps[index];
            let step_id = step.step_id.clone();
            self.apply(RunEvent::StepStarted {
                step_id,
                step_index: index,
                tool_name: String::new(),
                about: String::new(),
                timestamp_ms: self.time,
            });
            if index == done {
                return;
            }
            let fails = fails && index + 1 == done;
            let outcome = if fails { Outcome::Failed } else { Outcome::Succeeded };
            let result = fixture::result(&self.plan, index, outcome, 340);
            self.apply(if fails {
                RunEvent::StepFailed { result }
            } else {
                RunEvent::StepCompleted { result }
            });
        }
    }

    /// The record of an action; of the verification for an index after the last step.
    fn row(&self, index: usize, status: ActionStatus) -> ActionRecord {
        let error = (status == ActionStatus::Failed).then(|| ActionError {
            code: ActionErrorCode::ValidationFailed,
            message: "cargo check finds 2 new errors; the file was put back".into(),
            retryable: true,
            details: serde_json::json!({ "code": "E304" }),
        });
        let step = self.plan.steps.get(index);
        ActionRecord {
            action_index: index,
            kind: step.map_or(VERIFY_GATE, |step| &step.tool_name).into(),
            status,
            summary: match step {
                Some(step) => step.call.as_ref().map(|call| call.headline().1).unwrap_or_default(),
                None => "Verify the program, local".into(),
            },
            error,
            duration_ms: 340 + 1_200 * i64::try_from(index).unwrap_or(0),
        }
    }

    /// The records of all actions, of which `done` were executed, the last of them with the status `last`.
    fn rows(&self, done: usize, last: ActionStatus) -> Vec<ActionRecord> {
        let status = |index: usize| match index + 1 {
            number if number < done => ActionStatus::Succeeded,
            number if number == done => last,
            _ => ActionStatus::Skipped,
        };
        (0..self.plan.steps.len()).map(|index| self.row(index, status(index))).collect()
    }

    fn ended(
        &mut self,
        planner: PlannerReport,
        actions: Vec<ActionRecord>,
        verify: Option<bool>,
        stop_reason: Option<StopCode>,
    ) {
        let attempt = self.state.attempts.last().map_or(1, |attempt| attempt.attempt);
        let verify = verify.map(|passed| VerifyRecord {
            scope: VerifyScope::Local,
            passed,
            diagnostics: if passed { vec![] } else { found::many(3) },
        });
        self.apply(RunEvent::AttemptEnded {
            record: Box::new(AttemptRecord {
                attempt,
                max_attempts: self.max_attempts,
                planner,
                plan_digest: Some(Digest::of(b"plan")),
                run_id: None,
                actions,
                verify,
                stop_reason,
                looks: Vec::new(),
                feedback: None,
            }),
        });
        if attempt + 1 == self.max_attempts && stop_reason.is_none() {
            self.apply(RunEvent::BudgetWarning { attempts_left: 1 });
        }
    }

    fn stopped(&mut self, code: StopCode, message: &str) {
        let attempt = self.state.attempts.last().map(|attempt| attempt.attempt);
        let failed =
            matches!(code, StopCode::ActionFailedNonRetryable | StopCode::RetryBudgetExhausted);
        let rejected = code.as_str().starts_with("planner");
        self.apply(RunEvent::LoopEnded {
            stop_reason: Box::new(StopReason {
                code,
                message: message.into(),
                detail: StopDetail {
                    attempt,
                    action_index: failed.then_some(2),
                    planner_failure_code: rejected.then(|| "planner_validation_failed".into()),
                    verified: (code == StopCode::Completed)
                        .then_some(!message.ends_with("not verified")),
                },
            }),
        });
    }

    /// Adds an attempt whose third action failed.
    fn failed_attempt(&mut self, attempt: u32, stop: Option<StopCode>) {
        self.attempt(attempt, "reading 41 files\nasking the model\n");
        self.answered(report(self.plan.steps.len()));
        if attempt > 1 {
            self.revised();
        }
        self.waits(attempt, vec![]);
        self.authorized("authorized by ada in the window");
        self.applied(3, true);
        let rows = self.rows(3, ActionStatus::Failed);
        self.ended(report(self.plan.steps.len()), rows, None, stop);
    }
}

fn loops() -> Vec<LoopSummary> {
    let summary = |number: u128, goal: &str, fate, minutes: i64| LoopSummary {
        loop_id: Uuid::from_u128(number),
        goal: goal.into(),
        planner: "cargo-fix".into(),
        workspace: WORKSPACE.into(),
        max_attempts: 3,
        verify: "local".into(),
        class_id: None,
        looks: Some(LookScope::Workspace),
        target: None,
        attempts_begun: 2,
        started_at_ms: fixture::NOW_MS - minutes * 60_000,
        ended_at_ms: Some(fixture::NOW_MS - minutes * 60_000 + 40_000),
        fate,
        purged: None,
    };
    vec![
        summary(7, GOAL, LoopFate::Active, 1),
        summary(8, "No warning is left", LoopFate::Ended(StopCode::Completed), 70),
        summary(9, "The benches build", LoopFate::Ended(StopCode::RetryBudgetExhausted), 900),
        summary(10, "Rename the lexer", LoopFate::Interrupted, 3_000),
        summary(11, "Tidy the tests", LoopFate::Ended(StopCode::OperatorStopped), 9_000),
    ]
}

fn form(name: &str) -> Option<LoopForm> {
    let mut form = LoopForm { workspace: WORKSPACE.into(), ..LoopForm::default() };
    match name {
        "loop" => {}
        "loop-faulty" => {
            form = LoopForm { planner: PlannerChoice::Replay, max_attempts: "many".into(), ..form };
            form.workspace.clear();
            form.start_attempted = true;
        }
        "loop-class" => {
            form.goal = GOAL.into();
            form.planner = PlannerChoice::Command;
            form.command = "python3 tools/plan.py --model local".into();
            form.class.on = true;
            form.class.tools.extend(["file_write", "splice_patch", "verify"]);
            form.class.paths = "src\n../out".into();
        }
        "loop-refused" => {
            form.goal = GOAL.into();
            form.refusal =
                Some("E005 /home/ada/src/parser does not exist. Name another folder.".into());
        }
        "loop-nowhere" => {
            form.goal = GOAL.into();
            form.planner = PlannerChoice::Replay;
            form.folder = "/home/ada/plans/tomorrow".into();
            form.workspace = "/home/ada/src/praser".into();
        }
        "loop-filled" | "loop-untrusted" | "loop-trusted" | "loop-trust" => {
            form.goal = GOAL.into();
        }
        "loop-model" => {
            form.goal = GOAL.into();
            form.planner = PlannerChoice::Model;
            form.target = "deploy@db.example.org".into();
        }
        _ => return None,
    }
    Some(form)
}

/// The review of the folders in the form.
fn place(name: &str) -> Option<PlaceReview> {
    let mut place = PlaceReview {
        model: None,
        place: LoopPlace {
            workspace: WORKSPACE.into(),
            plans: None,
            planner: LoopForm::default().planner_name(),
            looks: LookScope::Workspace,
        },
        workspace: WORKSPACE.into(),
        workspace_fault: None,
        plans_fault: None,
        planner: Ok("reads, no network; walls: full".to_owned()),
        commands: Ok(None),
        verified_by: vec![],
    };
    match name {
        "loop-model" => {
            place.place.planner = "openai-compatible".into();
            place.planner = Ok("reads, network; walls: full".into());
            place.model = Some("qwen3-coder at http://127.0.0.1:11434/v1".into());
        }
        "loop-nowhere" => {
            place.workspace_fault = Some(PlaceFault::Missing);
            place.plans_fault = Some(PlaceFault::Missing);
        }
        "loop-untrusted" | "loop-trusted" | "loop-trust" => {
            let mut commands = fixture::workspace_commands(name == "loop-trusted");
            commands.commands.iter_mut().for_each(|command| command.steps.clear());
            place.commands = Ok(Some(commands));
            place.verified_by = vec![VerifyScope::Local, VerifyScope::Full];
        }
        _ => return None,
    }
    Some(place)
}

impl LoopScene {
    pub fn new(name: &str) -> Self {
        let class_id = (name == "loop-waiting" || name == "loop-crowded").then(Uuid::nil);
        let crowded = name == "loop-crowded";
        let long = format!("{GOAL} {}", "Nothing else is to change. ".repeat(20));
        let goal = if crowded { long.as_str() } else { GOAL };
        let attempts = match name {
            "loop-many" => 100,
            _ if crowded => 10,
            _ => 3,
        };
        let mut builder = LoopBuilder::new(attempts, goal, class_id);
        build(&mut builder, name);
        Self {
            form: form(name),
            place: place(name),
            focus_goal: Cell::new(false),
            other_runs: (name == "loop-model").then(|| {
                "Another run is under way in this workspace (Release 0.3), and may change the same files.".into()
            }),
            loops: if name == "loop" { vec![] } else { loops() },
            shown: ShownLoop {
                plans: BTreeMap::from([(1, Arc::new(builder.plan.clone()))]),
                planner_output: BTreeMap::from([(
                    1,
                    "reading 41 files\nasking the model\n".into(),
                )]),
                verify: "local".into(),
                class: class_id.map(|_| class()),
                stopping: name == "loop-stopping",
                recorded: name == "loop-interrupted",
                ended_at_ms: builder.state.is_over().then_some(fixture::NOW_MS),
                state: builder.state,
                ..ShownLoop::default()
            },
            expanded: (1..=100).filter(|_| name == "loop-many").map(|it| (it, true)).collect(),
        }
    }

    pub fn has_form(&self) -> bool {
        self.form.is_some()
    }

    /// What is missing in the form.
    pub fn lacks(&self) -> Option<&'static str> {
        self.form.as_ref()?.missing().next().map(|(_, text)| text)
    }

    /// The dialog about the commands of the workspace in the form.
    pub fn question(&self) -> Option<Question<'_>> {
        let commands = self.place.as_ref()?.commands.as_ref().ok()?.as_ref()?;
        Some(Question::Trust { workspace: WORKSPACE, commands, of_plan: false })
    }

    pub fn play(&mut self, action: &LoopAction) {
        match action {
            LoopAction::Edit(form) => self.form = Some((**form).clone()),
            LoopAction::SetExpanded(attempt, expanded) => {
                self.expanded.insert(*attempt, *expanded);
            }
            _ => {}
        }
    }

    /// Shows the faults of the form, as an attempted start does.
    pub fn start(&mut self) {
        if let Some(form) = &mut self.form {
            form.start_attempted = true;
            form.scroll_to = form.faults().first().map(|(field, _)| *field);
        }
    }

    pub fn view<'a>(&'a self, now: &'a Now) -> LoopView<'a> {
        let shown = match &self.form {
            Some(form) => {
                let other_runs = self.other_runs.as_deref();
                let place = self.place.as_ref();
                Shown::Form(FormView {
                    form,
                    place,
                    other_runs,
                    focus_goal: self.focus_goal.take(),
                })
            }
            None => Shown::Loop(TimelineView {
                shown: &self.shown,
                expanded: &self.expanded,
                answer: "",
                scroll_to_latest: false,
                now,
            }),
        };
        LoopView { loops: &self.loops, shown, now }
    }
}

/// Applies the events of the loop in the scene `name`.
fn build(builder: &mut LoopBuilder, name: &str) {
    let count = builder.plan.steps.len();
    let stop = name.strip_prefix("loop-");
    let stop =
        stop.and_then(|stop| StopCode::ALL.iter().copied().find(|code| code.as_str() == stop));
    match name {
        "loop-planning" | "loop-stopping" | "loop-close" => {
            builder.failed_attempt(1, None);
            builder.attempt(2, "reading 41 files\nthe last attempt: E304\nasking the model\n");
        }
        "loop-asked" => {
            builder.attempt(1, "reading 41 files\n");
            builder.looked();
            builder.apply(RunEvent::PlannerAsked {
                loop_id: Uuid::from_u128(7),
                attempt: 1,
                question:
                    "Two functions are named keyword. Shall both become tokens, or only the one in \
                           src/lexer.rs?"
                        .into(),
            });
        }
        "loop-waiting" => {
            builder.failed_attempt(1, None);
            builder.attempt(2, "reading 41 files\n");
            builder.looked();
            builder.answered(report(count));
            builder.revised();
            let tool = "the tool shell";
            builder.waits(2, vec![tool.into(), "the path benches/parse.rs".into()]);
        }
        "loop-applying" => {
            builder.attempt(1, "reading 41 files\nasking the model\n");
            builder.answered(rejected());
            builder.ended(rejected(), vec![], None, None);
            builder.attempt(2, "asking the model\n");
            builder.answered(report(count));
            builder.authorized("inside the authorization class 5f2a");
            builder.applied(2, false);
        }
        "loop-unverified" => {
            builder.attempt(1, "asking the model\n");
            builder.answered(report(count));
            builder.authorized("authorized by ada in the window");
            builder.applied(count, false);
            let reason = "the workspace has no verify command".to_owned();
            let mut rows = builder.rows(count, ActionStatus::Succeeded);
            rows.push(ActionRecord::skipped(count, VERIFY_GATE, reason));
            builder.ended(report(count), rows, None, Some(StopCode::Completed));
            builder.stopped(StopCode::Completed, "every step succeeded; not verified");
        }
        "loop-interrupted" => {
            builder.failed_attempt(1, None);
            builder.attempt(2, "");
            builder.answered(report(count));
            builder.authorized("authorized by ada in the window");
            builder.applied(2, false);
            builder.state.interrupt();
        }
        "loop-many" => {
            (1..=100).for_each(|attempt| builder.failed_attempt(attempt, None));
        }
        "loop-crowded" => {
            let output = "a line of what the planner has to say, which is long ".repeat(6) + "\n";
            for attempt in 1..10 {
                builder.failed_attempt(attempt, None);
            }
            builder.attempt(10, &output.repeat(40));
            let mut long = rejected();
            long.message =
                Some("the plan has more than one fault, and this is all of it ".repeat(30));
            long.findings = (0..70).flat_map(|_| long.findings.clone()).collect();
            builder.answered(long);
        }
        _ => match stop {
            Some(StopCode::Completed) => {
                builder.failed_attempt(1, None);
                builder.attempt(2, "asking the model\n");
                builder.answered(report(count));
                builder.revised();
                builder.authorized("authorized by ada in the window");
                builder.applied(count, false);
                let mut rows = builder.rows(count, ActionStatus::Succeeded);
                rows.push(builder.row(count, ActionStatus::Succeeded));
                builder.ended(report(count), rows, Some(true), stop);
                builder.stopped(
                    StopCode::Completed,
                    "every step succeeded and the verification passed",
                );
            }
            Some(code @ (StopCode::VerifyFailed | StopCode::RetryBudgetExhausted)) => {
                builder.attempt(1, "asking the model\n");
                builder.answered(report(count));
                builder.authorized("authorized by ada in the window");
                builder.applied(count, false);
                let mut rows = builder.rows(count, ActionStatus::Succeeded);
                rows.push(builder.row(count, ActionStatus::Failed));
                builder.ended(report(count), rows, Some(false), stop);
                builder.stopped(code, "verification: 3 errors");
            }
            Some(
                code @ (StopCode::PlannerRejectedNonRetryable
                | StopCode::PlannerRejectedRetryBudgetExhausted),
            ) => {
                builder.attempt(1, "asking the model\n");
                builder.answered(rejected());
                builder.ended(rejected(), vec![], None, stop);
                builder.stopped(code, "\"../parser\" leads out of the workspace");
            }
            Some(
                code @ (StopCode::OperatorStopped | StopCode::NotAuthorized | StopCode::NoProgress),
            ) => {
                builder.failed_attempt(1, None);
                builder.attempt(2, "asking the model\n");
                builder.answered(report(count));
                if code == StopCode::NoProgress {
                    builder.apply(RunEvent::NoProgress { failed_in: 1 });
                } else {
                    builder.revised();
                    builder.waits(2, vec![]);
                    let how = "ada rejected it in the window: not the lexer".into();
                    builder.apply(RunEvent::AuthorizationDecided { approved: false, how });
                }
                let rows = builder.rows(0, ActionStatus::Skipped);
                builder.ended(report(count), rows, None, stop);
                builder.stopped(code, "a person stopped the loop in the window");
            }
            Some(code) => {
                builder.failed_attempt(1, stop);
                builder.stopped(code, "step 3 (splice_patch): cargo check finds 2 new errors");
            }
            None => {}
        },
    }
}
