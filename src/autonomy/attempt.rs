//! One attempt of a loop (SPEC §10): start the planner, review its plan, authorize it, run it, and verify.

use uuid::Uuid;

use super::attempts::{AttemptEnding, CurrentAttempt, Halt};
use super::planner::{hint_about_hidden_files, planner_input};
use super::request::request;
use super::results::Applied;
use super::{Answer, BoundedLoop, PlannerAnswer, UnsignedEnd, answer, results};
use crate::authorization::{ApprovedPlan, PlanAuthorization};
use crate::engine::{ExecutionError, review};
use crate::evidence::{AttemptStart, Entry, EvidenceError, PlannerTrace};
use crate::plan::{Plan, RiskLevel, ShownPlan, ToolCall, ToolClass, VerifyScope};
use crate::risk::{Shell, Surroundings, of_local_command};
use crate::run::{
    AttemptRecord, Happened, Looked, PlannerReport, PlannerStatus, Review, RunEvent,
    has_same_effect,
};

/// The code of a failure that asks a person something.
const CLARIFICATION_NEEDED: &str = "clarification_needed";

impl BoundedLoop<'_> {
    /// Runs one attempt. Its state is in `current`, even if this fails.
    pub(super) fn run_attempt(
        &mut self,
        current: &mut Option<CurrentAttempt>,
        attempt: u32,
    ) -> Result<AttemptEnding, EvidenceError> {
        let (open, events) = self.open_attempt(attempt)?;
        // Set before the events are emitted, so that the attempt can be closed if a callback panics.
        let open = current.insert(open);
        events.iter().for_each(|event| self.tell(event));
        match self.phases(open) {
            Ok(ending) | Err(Halt::Ended(ending)) => Ok(ending),
            Err(Halt::Evidence(error)) => Err(error),
        }
    }

    fn phases(&mut self, open: &mut CurrentAttempt) -> Result<AttemptEnding, Halt> {
        let (plan, review) = self.obtain_plan(open)?;
        if self.setup.order.plan_only {
            return Ok(AttemptEnding::new(Happened::Planned, "there is a plan"));
        }
        let authorization = self.authorize(open, &plan, &review)?;
        let only_reads = self.only_reads(&plan);
        let applied = self.apply(&plan, &authorization);
        self.has_unverified_changes |= !only_reads && applied.run_id.is_some();
        let passed = applied.verify.as_ref().filter(|verify| verify.passed);
        let scope = passed.map(|verify| verify.scope);
        // A narrower verification in the plan does not replace a full one that the loop requires.
        let verified = scope.is_some_and(|scope| {
            scope == VerifyScope::Full || self.setup.order.verify != Some(VerifyScope::Full)
        });
        let mut ending = AttemptEnding { verified, ..store_results(open, applied) };
        if ending.happened == Happened::Stopped
            && let Some(words) = self.denial.take()
        {
            open.record.feedback = Some(words);
            ending.happened = Happened::StepDenied;
        }
        if ending.happened != Happened::Succeeded {
            return Ok(ending);
        }
        let answers_goal = open.record.planner.answers_goal;
        // The planner's word does not replace the verification of what an earlier attempt changed.
        let is_over = answers_goal == Some(true);
        if only_reads && !(is_over && self.has_unverified_changes) {
            return Ok(after_reading(is_over));
        }
        if ending.verified || self.setup.order.verify.is_some() {
            self.check_verification_unchanged(Some(plan.steps.len()))?;
        }
        if !ending.verified {
            ending = self.gate(open, &plan, &authorization)?;
        }
        self.has_unverified_changes &= !ending.verified;
        if ending.happened == Happened::Succeeded && answers_goal == Some(false) {
            ending.happened = Happened::Unfinished;
            ending.message.push_str("; the planner says that more is left to do");
        }
        Ok(ending)
    }

    /// Records the start of an attempt; returns the attempt and the events to emit.
    fn open_attempt(
        &mut self,
        attempt: u32,
    ) -> Result<(CurrentAttempt, Vec<RunEvent>), EvidenceError> {
        let (attempt_id, started_at_ms) = (Uuid::new_v4(), self.clock.now_ms());
        let (loop_id, max_attempts) = (self.loop_id, self.max_attempts);
        let start = AttemptStart { attempt_id, loop_id, attempt, max_attempts, started_at_ms };
        let events = self.journal().store.commit(&Entry::AttemptStart(start))?;
        let open = CurrentAttempt {
            attempt_id,
            record: AttemptRecord {
                attempt,
                max_attempts,
                planner: PlannerReport::new(PlannerStatus::Failed),
                plan_digest: None,
                run_id: None,
                actions: Vec::new(),
                verify: None,
                stop_reason: None,
                looks: Vec::new(),
                feedback: None,
            },
            trace: None,
            plan: None,
            results: Vec::new(),
            files: Vec::new(),
        };
        Ok((open, events))
    }

    /// Requests a plan from the planner and reviews it. A plan that cannot be authorized, or that failed before in
    /// this loop, ends the attempt.
    fn obtain_plan(&mut self, open: &mut CurrentAttempt) -> Result<(Plan, Review), Halt> {
        if let Some(why) = &self.setup.policy.refusal {
            return Err(Halt::new(Happened::NotAuthorized, why.clone()));
        }
        self.check_not_stopped()?;
        self.check_verification_usable()?;
        let mut answer = self.ask_planner(open)?;
        if self.control.is_ending() {
            self.store_answer(open, &answer);
            return Err(self.stopped());
        }
        let plan = answer.plan.clone().filter(|_| answer.is_accepted());
        let plan = plan.and_then(ShownPlan::complete);
        let plan = plan.map(|plan| match &self.setup.order.target {
            Some(target) => plan.on_target(Some(target)),
            None => plan,
        });
        let reviewed = match plan {
            Some(plan) => {
                let setup = self.setup;
                let policy = self.policy()?;
                let review = review(&plan, &setup.order.workspace, &policy, Some(&setup.location));
                Some((plan, review))
            }
            None => None,
        };
        if let Some((_, Ok(review))) = &reviewed {
            // Another plan would not help: a person has to decide about the workspace commands.
            if let Some(finding) = review.untrusted() {
                self.store_answer(open, &answer);
                return Err(Halt::new(Happened::NotAuthorized, finding.message.clone()));
            }
            answer.add_findings(&review.findings);
        }
        self.store_answer(open, &answer);
        let PlannerAnswer { report, .. } = answer;
        if report.status == PlannerStatus::Failed {
            let answered = self.answer_question(open, &report)?;
            let retryable = answered || report.retryable.unwrap_or(true);
            let code = report.failure_code.unwrap_or_default();
            let message = format!("{code}: {}", report.message.unwrap_or_default());
            return Err(Halt::new(Happened::PlannerRejected { retryable }, message));
        }
        let Some((plan, review)) = reviewed else {
            return Err(Halt::new(Happened::InternalError, "the planner gave no plan"));
        };
        let review =
            review.map_err(|error| Halt::new(Happened::InternalError, error.to_string()))?;
        open.files.clone_from(&review.impact.files);
        let same = self.past_attempts.iter().find(|past| {
            past.ran_and_failed()
                && past.attempt.plan.as_ref().is_some_and(|other| has_same_effect(other, &plan))
        });
        if let Some(same) = same {
            let failed_in = same.attempt.record.attempt;
            let message =
                format!("the plan has the steps that ran and failed in attempt {failed_in}");
            self.tell(&RunEvent::NoProgress { failed_in });
            return Err(Halt::new(Happened::NoProgress, message));
        }
        Ok((plan, review))
    }

    /// The end of an attempt by a stop.
    pub(super) fn stopped(&self) -> Halt {
        AttemptEnding::stopped(self.control.ended_by()).into()
    }

    pub(super) fn check_not_stopped(&self) -> Result<(), Halt> {
        if self.control.is_ending() { Err(self.stopped()) } else { Ok(()) }
    }

    /// Stores the planner's answer in the attempt, and emits it.
    fn store_answer(&self, open: &mut CurrentAttempt, answer: &PlannerAnswer) {
        let plan_digest = answer.plan.as_ref().map(|plan| plan.digest);
        open.record.planner = answer.report.clone();
        open.record.plan_digest = plan_digest;
        open.plan.clone_from(&answer.plan);
        let report = Box::new(answer.report.clone());
        self.tell(&RunEvent::PlannerAnswered { report, plan_digest });
    }

    /// Shows a person what the planner asks, and keeps their answer for the next request. Returns whether there is one.
    fn answer_question(
        &mut self,
        open: &mut CurrentAttempt,
        report: &PlannerReport,
    ) -> Result<bool, Halt> {
        let asks = report.failure_code.as_deref() == Some(CLARIFICATION_NEEDED);
        // After the last attempt nobody would read the answer.
        if !asks || open.record.attempt >= self.max_attempts {
            return Ok(false);
        }
        let (loop_id, attempt) = (self.loop_id, open.record.attempt);
        let question = report.message.clone().unwrap_or_default();
        self.tell(&RunEvent::PlannerAsked { loop_id, attempt, question: question.clone() });
        let answer = self.authorizer.answer(&question);
        self.check_not_stopped()?;
        open.record.feedback = answer.filter(|answer| !answer.trim().is_empty());
        Ok(open.record.feedback.is_some())
    }

    /// Runs the planner once, in this round of the attempt. `looked` are the answers to its looks so far.
    pub(super) fn run_planner(
        &self,
        open: &mut CurrentAttempt,
        looked: &[Looked],
        round: u32,
    ) -> Result<Answer, EvidenceError> {
        let setup = self.setup;
        let request = request(self, open.record.attempt, looked, round)?;
        self.tell(&RunEvent::PlannerStarted { planner: setup.order.planner.clone() });
        let started_ms = self.clock.monotonic_ms();
        let settings = setup.policy.planner_settings.as_ref();
        let input = planner_input(&setup.program, settings, &request);
        let finished = self.toolbox.run_planner(
            &setup.program,
            &input,
            &self.planner_walls,
            setup.order.planner_timeout,
            self.control.stop_signal(),
            &|text| self.tell(&RunEvent::PlannerOutput { chunk: text.to_owned() }),
        );
        let mut trace = PlannerTrace {
            request,
            duration_ms: self.clock.monotonic_ms() - started_ms,
            ..PlannerTrace::default()
        };
        let answer = match finished {
            Err(error) => Answer::plan(answer::provider_error(error.to_string())),
            Ok(mut finished) => {
                trace.answer = std::mem::take(&mut finished.stdout);
                trace.stderr = std::mem::take(&mut finished.stderr);
                (trace.exit_code, trace.signal) = (finished.exit_code, finished.signal);
                trace.timed_out = finished.timed_out();
                let mut answer = answer::from_process(&finished, &trace);
                if finished.failure().is_some() {
                    let folder = &setup.order.workspace.folder;
                    let walls = &self.planner_walls;
                    answer.explain(hint_about_hidden_files(&setup.program, folder, walls));
                }
                answer
            }
        };
        if let Some(before) = open.trace.take() {
            trace.stderr.splice(..0, before.stderr);
            trace.duration_ms += before.duration_ms;
        }
        open.trace = Some(trace);
        Ok(answer)
    }

    /// Whether no step of a plan can change anything. A command counts as reading if it is safe by the built-in
    /// rules and by those of the person, wherever it runs.
    fn only_reads(&self, plan: &Plan) -> bool {
        let repositories = self.toolbox.repositories();
        plan.steps.iter().all(|step| match &step.call {
            ToolCall::Inspect { .. } => true,
            ToolCall::MutateBatch(batch) => batch.dry_run,
            ToolCall::Shell { command, target, cwd, .. } => {
                let shell = if target.is_some() { Shell::Bash } else { self.toolbox.shell() };
                let rules = &self.setup.policy.command_rules;
                let surroundings = Surroundings {
                    own_folders: self.toolbox.own_folders(),
                    repositories: &repositories,
                    cwd: cwd.as_deref(),
                };
                of_local_command(command, shell, rules, surroundings, &[]).level == RiskLevel::Safe
            }
            call => call.class() == ToolClass::Read,
        })
    }

    /// Runs an authorized plan.
    pub(super) fn apply(&mut self, plan: &Plan, authorization: &PlanAuthorization) -> Applied {
        let approved = ApprovedPlan { plan: plan.clone(), authorization: authorization.clone() };
        self.executor.execute(approved).map_or_else(
            |error| {
                if matches!(error, ExecutionError::EvidenceStore { .. }) {
                    self.not_recorded = Some(error.failure());
                }
                results::from_refusal(plan, &error)
            },
            |result| {
                let reason = result.not_signed.clone();
                let unsigned = reason.map(|reason| UnsignedEnd { run_id: result.run_id, reason });
                self.not_signed.extend(unsigned);
                results::from_run(plan, result)
            },
        )
    }
}

/// How an attempt ends whose plan only read. Reading changes nothing, so there is nothing to verify.
fn after_reading(answers_goal: bool) -> AttemptEnding {
    if answers_goal {
        let message = "every step succeeded; the planner says that they answer the goal, and nothing was verified";
        AttemptEnding::new(Happened::Succeeded, message)
    } else {
        let message = "the plan only read, and the planner does not say that this answers the goal";
        AttemptEnding::new(Happened::Unfinished, message)
    }
}

/// Stores the results of the plan in the attempt. Returns how the attempt ends if nothing else is verified.
fn store_results(open: &mut CurrentAttempt, applied: Applied) -> AttemptEnding {
    open.record.run_id = applied.run_id;
    open.record.actions = applied.actions;
    open.record.verify = applied.verify;
    open.results = applied.results;
    applied.ending
}
