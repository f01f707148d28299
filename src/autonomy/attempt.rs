//! One attempt (SPEC §10): ask the planner, look at its plan, have it authorized, run it, verify.

use uuid::Uuid;

use super::answer::{self, Answered};
use super::bounded::BoundedLoop;
use super::request::{Question, request};
use super::results::{self, Applied};
use super::verify_choice::VerifyChoice;
use crate::authorization::{ApprovedPlan, PlanAuthorization};
use crate::engine::{ExecutionError, review_with};
use crate::evidence::{AttemptStart, EvidenceError, PlannerTrace};
use crate::plan::{Plan, ShownPlan};
use crate::run::{
    AnsweredBy, AttemptRecord, Happened, PlannerReport, PlannerStatus, Review, RunEvent,
    StepResult, does_the_same,
};
use crate::tools::{PlannerEnd, PlannerFinished, PlannerProgram};

/// An attempt under way.
pub(super) struct OpenAttempt {
    pub(super) attempt_id: Uuid,
    /// What is known of it so far.
    pub(super) record: AttemptRecord,
    /// The planner's process, once it has ended.
    pub(super) trace: Option<PlannerTrace>,
    /// Its plan, once there is one, also a rejected one.
    pub(super) plan: Option<ShownPlan>,
    /// What its steps left behind.
    pub(super) results: Vec<StepResult>,
    /// The files that its plan writes.
    pub(super) files: Vec<String>,
}

/// An attempt that ended.
pub(super) struct Tried {
    pub(super) record: AttemptRecord,
    pub(super) plan: Option<ShownPlan>,
    pub(super) results: Vec<StepResult>,
    pub(super) files: Vec<String>,
    pub(super) happened: Happened,
    /// What happened, in words.
    pub(super) reason: String,
}

impl OpenAttempt {
    pub(super) fn into_tried(self, ended: &Ended) -> Tried {
        Tried {
            record: self.record,
            plan: self.plan,
            results: self.results,
            files: self.files,
            happened: ended.happened,
            reason: ended.message.clone(),
        }
    }
}

impl Tried {
    /// Whether its plan was run and did not reach its end, or its end was not good.
    fn ran_and_failed(&self) -> bool {
        self.record.run_id.is_some()
            && matches!(self.happened, Happened::ActionFailed { .. } | Happened::VerifyFailed)
    }
}

/// How an attempt ended.
pub(super) struct Ended {
    pub(super) happened: Happened,
    /// In words.
    pub(super) message: String,
    /// The action at which it ended, from 0.
    pub(super) action_index: Option<usize>,
    /// Whether a verification has passed.
    pub(super) verified: bool,
}

impl Ended {
    pub(super) fn new(happened: Happened, message: impl Into<String>) -> Self {
        Self { happened, message: message.into(), action_index: None, verified: false }
    }

    pub(super) fn stopped(by: Option<AnsweredBy>) -> Self {
        let place = match by {
            Some(AnsweredBy::Window) => " in the window",
            Some(AnsweredBy::Terminal) => " at the terminal",
            Some(AnsweredBy::CommandLine | AnsweredBy::Test) | None => "",
        };
        Self::new(Happened::Stopped, format!("a person stopped the loop{place}"))
    }
}

/// What one step of an attempt leads to: on, or to its end.
pub(super) type Way<T> = Result<Result<T, Ended>, EvidenceError>;

impl BoundedLoop<'_> {
    /// One attempt. What is known of it stands in `self.open`, whatever happens.
    pub(super) fn attempt(
        &mut self,
        attempt: u32,
        max_attempts: u32,
    ) -> Result<Ended, EvidenceError> {
        self.open_attempt(attempt, max_attempts)?;
        let (plan, review) = match self.planned(attempt, max_attempts)? {
            Ok(planned) => planned,
            Err(ended) => return Ok(ended),
        };
        let authorization = match self.authorized(&plan, &review, attempt, max_attempts)? {
            Ok(authorization) => authorization,
            Err(ended) => return Ok(ended),
        };
        let applied = self.apply(&plan, &authorization);
        let scope = applied.verify.as_ref().filter(|it| it.passed).map(|it| it.scope);
        let ended = Ended {
            happened: applied.happened,
            message: applied.message.clone(),
            action_index: applied.action_index,
            verified: scope.is_some_and(|scope| self.setup.verify.is_met_by(scope)),
        };
        self.keep(applied);
        if ended.happened != Happened::Succeeded {
            return Ok(ended);
        }
        let verifies = ended.verified || self.setup.verify != VerifyChoice::None;
        if let Some(ended) = self.verified_otherwise(Some(plan.steps.len())).filter(|_| verifies) {
            return Ok(ended);
        }
        if ended.verified { Ok(ended) } else { self.gate(&plan, &authorization) }
    }

    fn open_attempt(&mut self, attempt: u32, max_attempts: u32) -> Result<(), EvidenceError> {
        let (attempt_id, started_at_ms) = (Uuid::new_v4(), self.clock.now_ms());
        let loop_id = self.loop_id;
        let start = AttemptStart { attempt_id, loop_id, attempt, started_at_ms };
        self.executor.store().begin_attempt(&start)?;
        self.open = Some(OpenAttempt {
            attempt_id,
            record: AttemptRecord {
                attempt,
                max_attempts,
                planner: PlannerReport {
                    status: PlannerStatus::Failed,
                    version: None,
                    action_count: 0,
                    failure_code: None,
                    message: None,
                    retryable: None,
                    findings: Vec::new(),
                },
                plan_digest: None,
                run_id: None,
                actions: Vec::new(),
                verify: None,
                stop_reason: None,
            },
            trace: None,
            plan: None,
            results: Vec::new(),
            files: Vec::new(),
        });
        self.emit(&RunEvent::AttemptStarted { attempt, max_attempts, timestamp_ms: started_at_ms });
        Ok(())
    }

    /// A plan that may be authorized and is not one that failed before.
    fn planned(&mut self, attempt: u32, max_attempts: u32) -> Way<(Plan, Review)> {
        if let Some(why) = &self.setup.policy.refusal {
            return Ok(Err(Ended::new(Happened::NotAuthorized, why.clone())));
        }
        if self.control.is_ending() {
            return Ok(Err(self.stopped()));
        }
        if let Some(ended) = self.unusable_verification()? {
            return Ok(Err(ended));
        }
        let mut answered = self.ask(attempt, max_attempts)?;
        if self.control.is_ending() {
            self.note(&answered);
            return Ok(Err(self.stopped()));
        }
        let plan = answered.plan.clone().filter(|_| answered.is_accepted());
        let plan = plan.and_then(ShownPlan::complete);
        let reviewed = match &plan {
            Some(plan) => {
                let setup = self.setup;
                let policy = self.policy()?;
                Some(review_with(plan, &setup.workspace, &policy, Some(&setup.location)))
            }
            None => None,
        };
        if let Some(Ok(review)) = &reviewed {
            // No other plan would help: it is a person who has to decide.
            if let Some(why) = review.untrusted() {
                self.note(&answered);
                return Ok(Err(Ended::new(Happened::NotAuthorized, why.message.clone())));
            }
            answered.add_findings(&review.findings);
        }
        self.note(&answered);
        let Answered { report, .. } = answered;
        if report.status == PlannerStatus::Failed {
            let retryable = report.retryable.unwrap_or(true);
            let code = report.failure_code.unwrap_or_default();
            let message = format!("{code}: {}", report.message.unwrap_or_default());
            return Ok(Err(Ended::new(Happened::PlannerRejected { retryable }, message)));
        }
        let (Some(plan), Some(reviewed)) = (plan, reviewed) else {
            return Ok(Err(Ended::new(Happened::InternalError, "a plan without its review")));
        };
        let review = match reviewed {
            Ok(review) => review,
            Err(error) => {
                return Ok(Err(Ended::new(Happened::InternalError, error.to_string())));
            }
        };
        if let Some(open) = &mut self.open {
            open.files.clone_from(&review.impact.files);
        }
        let same = self.tried.iter().find(|tried| {
            tried.ran_and_failed()
                && tried.plan.as_ref().is_some_and(|other| does_the_same(other, &plan))
        });
        if let Some(same) = same {
            let failed_in = same.record.attempt;
            let message =
                format!("the plan has the steps that ran and failed in attempt {failed_in}");
            self.emit(&RunEvent::NoProgress { failed_in });
            return Ok(Err(Ended::new(Happened::NoProgress, message)));
        }
        Ok(Ok((plan, review)))
    }

    pub(super) fn stopped(&self) -> Ended {
        Ended::stopped(self.control.ended_by())
    }

    /// Keeps what the planner answered, and tells it.
    fn note(&mut self, answered: &Answered) {
        if let Some(open) = &mut self.open {
            open.record.planner = answered.report.clone();
            open.record.plan_digest = answered.plan_digest;
            open.plan.clone_from(&answered.plan);
        }
        self.emit(&RunEvent::PlannerAnswered {
            report: Box::new(answered.report.clone()),
            plan_digest: answered.plan_digest,
        });
    }

    /// Runs the planner once.
    fn ask(&mut self, attempt: u32, max_attempts: u32) -> Result<Answered, EvidenceError> {
        let setup = self.setup;
        let question = Question {
            loop_id: self.loop_id,
            goal: &setup.goal,
            attempt,
            max_attempts,
            class: setup.class.as_ref().map(|(class, _)| class),
            tried: &self.tried,
            toolbox: &self.toolbox,
            hider: &self.hider,
            stop: self.control.stop_signal(),
            walls: &self.planner_walls,
        };
        let request = request(&question, &setup.location)?;
        self.emit(&RunEvent::PlannerStarted { planner: setup.planner.clone() });
        let started_ms = self.clock.monotonic_ms();
        // What ships cannot read the settings behind its walls; what is kept of the request has no key in it.
        let told = match (&setup.program, &setup.policy.planner_settings) {
            (PlannerProgram::Program { .. }, Some(settings)) => {
                [settings.0.as_bytes(), b"\n", &request].concat()
            }
            _ => request.clone(),
        };
        let finished = self.toolbox.ask_planner(
            &setup.program,
            &told,
            &self.planner_walls,
            setup.planner_timeout,
            self.control.stop_signal(),
            &|text| self.emit(&RunEvent::PlannerOutput { chunk: text.to_owned() }),
        );
        let mut trace = PlannerTrace {
            request,
            duration_ms: self.clock.monotonic_ms() - started_ms,
            ..PlannerTrace::default()
        };
        let answered = match finished {
            Err(error) => answer::provider_error(error.to_string()),
            Ok(mut finished) => {
                trace.answer = std::mem::take(&mut finished.answer);
                trace.stderr = std::mem::take(&mut finished.stderr);
                let PlannerFinished { exit_code, signal, end, .. } = finished;
                (trace.exit_code, trace.signal) = (exit_code, signal);
                trace.timed_out = end == PlannerEnd::TimedOut;
                answer::of(&finished, &trace)
            }
        };
        if let Some(open) = &mut self.open {
            open.trace = Some(trace);
        }
        Ok(answered)
    }

    fn apply(&mut self, plan: &Plan, authorization: &PlanAuthorization) -> Applied {
        let approved = ApprovedPlan { plan: plan.clone(), authorization: authorization.clone() };
        match self.executor.execute(approved) {
            Ok(result) => results::of_run(plan, result),
            Err(error) => self.refused_run(plan, &error),
        }
    }

    pub(super) fn refused_run(&mut self, plan: &Plan, error: &ExecutionError) -> Applied {
        if matches!(error, ExecutionError::EvidenceStore { .. }) {
            self.lost = Some(error.failure());
        }
        results::of_refusal(plan, error)
    }

    fn keep(&mut self, applied: Applied) {
        let Some(open) = &mut self.open else { return };
        open.record.run_id = applied.run_id;
        open.record.actions = applied.actions;
        open.record.verify = applied.verify;
        open.results = applied.results;
    }
}
