//! The person at the terminal, or the flag that answers for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::args::Inputs;
use super::super::confirmation::CommandLine;
use super::super::documents::finding_line;
use super::super::inputs::Ask;
use super::super::opening::{OpenedPlan, ReadPlan};
use super::super::output::{QuotedOutput, quoted_in_line, say};
use super::super::passphrase::asks_at_terminal;
use super::super::progress::Progress;
use super::super::refusal::Refusal;
use super::report::{Outcome, Report, Request};
use crate::authorization::{ApprovedPlan, Method, PlanAuthorization};
use crate::engine::{
    Clock as _, ConfirmationCallback, ControlHandle, Executor, ExecutorDeps, NotRecorded,
    Provenance, Signer, SystemClock, WorkspaceChoice, step_question,
};
use crate::evidence::EvidenceLocation;
use crate::plan::{Digest, Plan, Severity, ShownPlan, visible_name};
use crate::risk::Policy;
use crate::run::{ConfirmationRequest, Decision, Preview, Review, RunStatus, StopSignal};
use crate::worker::acp::{Asked, News, Person, Subject, Update, Verdict};

/// The person of a session.
pub(super) struct Terminal {
    workspace: WorkspaceChoice,
    policy: Policy,
    location: EvidenceLocation,
    confirmation: Arc<CommandLine>,
    /// Whether nothing is printed.
    silent: bool,
    output: QuotedOutput,
    /// What was approved and not used, by the number of the question.
    approved: BTreeMap<u64, Approved>,
    report: Report,
}

/// A plan that was approved.
struct Approved {
    plan: ApprovedPlan,
    answer: Answer,
}

/// The answer to the question about a step.
#[derive(Clone)]
struct Answer {
    request: ConfirmationRequest,
    provenance: Provenance,
}

/// Answers the executor's question about a step with the answer that was given before the plan was authorized, if it is
/// the same question.
struct Again {
    answer: Answer,
    otherwise: Arc<CommandLine>,
}

impl Again {
    fn is_same(&self, request: &ConfirmationRequest) -> bool {
        let before = &self.answer.request;
        before.tool == request.tool
            && before.arguments == request.arguments
            && before.preview == request.preview
            && request.risk.level <= before.risk.level
    }
}

impl ConfirmationCallback for Again {
    fn request_confirmation(&self, request: &ConfirmationRequest) -> Decision {
        match self.is_same(request) {
            true => Decision::Approve,
            false => self.otherwise.request_confirmation(request),
        }
    }

    fn provenance(&self) -> Provenance {
        self.answer.provenance.clone()
    }
}

impl Terminal {
    pub(super) fn new(
        workspace: WorkspaceChoice,
        policy: Policy,
        location: EvidenceLocation,
        confirmation: CommandLine,
        silent: bool,
    ) -> Self {
        Self {
            workspace,
            policy,
            location,
            confirmation: Arc::new(confirmation),
            silent,
            output: QuotedOutput::default(),
            approved: BTreeMap::new(),
            report: Report::default(),
        }
    }

    pub(super) fn into_report(self) -> Report {
        self.output.end_line();
        self.report
    }

    fn say(&self, text: &str) {
        if !self.silent {
            self.output.end_line();
            say(&quoted_in_line(text));
        }
    }

    /// Reviews a plan; an error if it cannot be authorized.
    fn open(&self, asked: &Asked) -> Result<(Plan, Review), String> {
        let read = asked.plan.clone();
        let read = ReadPlan::bytes(read, self.workspace.clone(), &Inputs::default(), Ask::AsGiven);
        let read = read.map_err(|refusal| refusal.sentences())?;
        let reviewed = read.review_under(&self.policy, &self.location);
        let reviewed = reviewed.map_err(|refusal| refusal.sentences())?;
        let OpenedPlan { plan, findings, review, .. } = read.with_review(reviewed);
        let error = findings.iter().find(|finding| finding.severity == Severity::Error);
        if let Some(error) = error {
            return Err(finding_line(error));
        }
        let plan = plan.and_then(ShownPlan::complete);
        plan.zip(review).ok_or_else(|| "it cannot be shown as a plan".to_owned())
    }

    fn decide(&mut self, asked: &Asked, over: &StopSignal) -> Result<(Verdict, String), String> {
        let (plan, review) = self.open(asked)?;
        let why = match &asked.subject {
            // Without the name that the agent gives itself, which could be any sentence.
            Subject::Write { .. } => "The agent asks for it, and Countersign writes it.",
            Subject::Command { .. } => {
                "The agent asks for it, and runs it itself, behind its own walls."
            }
        };
        let location = Some(&self.location);
        let mut request = step_question(&plan, &review, &self.policy, location, why)
            .map_err(|error| error.to_string())?;
        if matches!(asked.subject, Subject::Command { .. }) {
            request.run_by_agent = true;
            request.preview = Preview::by_agent();
        }
        let decision = self.confirmation.request_confirmation(&request);
        let provenance = self.confirmation.provenance();
        if over.is_set() {
            // The line in which the person would have answered.
            if !self.silent {
                say("");
            }
            self.say("The question is withdrawn.");
            return Ok((
                Verdict::Left,
                "the agent has left, or the session was stopped".to_owned(),
            ));
        }
        let note = provenance.note.clone();
        let clock = SystemClock::default();
        let method = Method::CommandLine;
        let pending = PlanAuthorization::pending(&plan, review.binding, method, clock.now_ms());
        let (verdict, authorization) = match decision {
            Decision::Approve => {
                let approved = pending
                    .approve(clock.now_ms(), self.policy.authorization_ttl_ms)
                    .with_boot_time(clock.since_boot());
                let authorization = match &asked.subject {
                    Subject::Write { .. } => approved.asked_by(asked.asked_by.clone()),
                    Subject::Command { call, .. } => {
                        approved.for_agent_call(&format!("{}; {call}", asked.asked_by))
                    }
                };
                (Verdict::Approved, authorization)
            }
            other => {
                let reason = match note.as_str() {
                    "" => "rejected at the terminal".to_owned(),
                    note => note.to_owned(),
                };
                let verdict = match other {
                    Decision::Cancel => Verdict::RejectedAndStop,
                    _ => Verdict::Rejected,
                };
                (verdict, pending.reject(clock.now_ms(), reason))
            }
        };
        self.record(&authorization, &plan, &clock)
            .map_err(|error| format!("the decision cannot be recorded: {error}"))?;
        if verdict == Verdict::Approved && matches!(asked.subject, Subject::Write { .. }) {
            let plan = ApprovedPlan { plan, authorization };
            let answer = Answer { request, provenance };
            self.approved.insert(asked.number, Approved { plan, answer });
        }
        Ok((verdict, note))
    }

    /// Records a decision, an approval with its signature if the settings ask for one.
    fn record(
        &self,
        authorization: &PlanAuthorization,
        plan: &Plan,
        clock: &SystemClock,
    ) -> Result<(), NotRecorded> {
        let ask = asks_at_terminal();
        let signer = Signer {
            signing: self.policy.signing.as_ref(),
            workspace: Some(authorization.binding.workspace.as_ref()),
            ask: ask.as_ref(),
            stop: &StopSignal::default(),
            clock,
            reviews: &[],
        };
        signer.record(&mut self.location.store()?, authorization, plan, None)
    }

    fn execute(&mut self, number: u64) -> Result<(), String> {
        let Some(Approved { plan, answer }) = self.approved.remove(&number) else {
            return Err("the approval was used already".to_owned());
        };
        let store = self.location.store().map_err(|error| error.to_string())?;
        let confirmation = Again { answer, otherwise: Arc::clone(&self.confirmation) };
        self.output.end_line();
        let deps = ExecutorDeps {
            policy: self.policy.clone(),
            clock: Arc::new(SystemClock::default()),
            confirmation: Box::new(confirmation),
            progress: Arc::new(Progress::new(None, self.silent)),
            control: ControlHandle::default(),
            terminal: None,
            secrets: None,
            passphrase: asks_at_terminal(),
        };
        let result = Executor::new(store, deps).execute(plan);
        let result = result.map_err(|error| Refusal::from(error).sentences())?;
        let run = result.run_id;
        self.report.set(number, |it| it.run_id = Some(run));
        if result.status == RunStatus::Completed {
            return Ok(());
        }
        let message = result.step_results.last().and_then(|step| step.error_message.clone());
        Err(message.unwrap_or_else(|| "the step was not run".to_owned()))
    }

    fn tell_update(&mut self, update: Update) {
        match update {
            Update::Words(words) => {
                self.report.hear(&words);
                if !self.silent {
                    self.output.say(&words);
                }
            }
            Update::Thought(words) if !self.silent => self.output.say(&words),
            Update::Call(call) => {
                self.say(&format!("The agent: {} ({})", call.title, call.status));
            }
            Update::Plan(entries) => {
                self.say("The plan of the agent:");
                for entry in entries {
                    self.say(&format!("    {} ({})", entry.content, entry.status));
                }
            }
            Update::Thought(_) => {}
        }
    }

    /// Notes something that nobody was asked about.
    fn note(&mut self, title: String, outcome: Outcome, reason: String) {
        self.report.add(Request {
            number: None,
            title,
            path: None,
            command: None,
            outcome,
            reason,
            plan_digest: None,
            run_id: None,
        });
    }
}

impl Person for Terminal {
    fn tell(&mut self, news: News) {
        match news {
            News::Starting { limits, is_held } => {
                self.say(&format!("The agent may do this: {limits}"));
                self.say(match is_held {
                    true => {
                        "It cannot change the workspace by itself, and neither can commands that it runs: each change \
                         is asked about, and Countersign writes it."
                    }
                    false => {
                        "Warning: nothing keeps this agent from changing files by itself without asking. What it does \
                         ask about is written by Countersign."
                    }
                });
                self.report.limits = limits;
            }
            News::Connected(info) => {
                let name = format!("{} {}", info.name, info.version);
                self.say(&format!("Connected. The agent calls itself:\n{}", name.trim()));
                (self.report.agent, self.report.version) = (info.name, info.version);
            }
            News::Begun(session) => self.report.session = Some(session),
            News::Update(update) => self.tell_update(update),
            News::NotApprovable { title, why } => {
                self.say(&format!("Rejected, because it cannot be approved: {why}\n{title}"));
                self.note(title, Outcome::NotApprovable, why);
            }
            News::Refused { path, why, asked } => {
                self.say(&format!("Not written: {} ({why})", visible_name(&path)));
                if !asked {
                    self.note(path, Outcome::Refused, why);
                }
            }
            News::Written { path } => self.say(&format!("Written: {}", visible_name(&path))),
            News::Printed(text) if !self.silent => self.output.say(&text),
            News::Printed(_) => {}
        }
    }

    fn ask(&mut self, asked: &Asked, over: &Arc<StopSignal>) -> Verdict {
        self.output.end_line();
        self.report.add(Request {
            number: Some(asked.number),
            title: asked.title.clone(),
            path: match &asked.subject {
                Subject::Write { path, .. } => Some(path.clone()),
                Subject::Command { .. } => None,
            },
            command: match &asked.subject {
                Subject::Write { .. } => None,
                Subject::Command { command, .. } => Some(command.clone()),
            },
            outcome: Outcome::Left,
            reason: String::new(),
            plan_digest: Some(Digest::of(&asked.plan)),
            run_id: None,
        });
        let decided = self.decide(asked, over);
        let (verdict, outcome, reason) = match decided {
            Ok((verdict, note)) => {
                let outcome = match (verdict, &asked.subject) {
                    (Verdict::Approved, Subject::Write { .. }) => Outcome::Approved,
                    (Verdict::Approved, Subject::Command { .. }) => Outcome::Permitted,
                    (Verdict::Rejected | Verdict::RejectedAndStop, _) => Outcome::Rejected,
                    (Verdict::Left, _) => Outcome::Left,
                };
                (verdict, outcome, note)
            }
            Err(why) => {
                let title = &asked.title;
                self.say(&format!("Rejected, because it cannot be approved: {why}\n{title}"));
                (Verdict::Rejected, Outcome::NotApprovable, why)
            }
        };
        self.report.set(asked.number, |it| (it.outcome, it.reason) = (outcome, reason));
        verdict
    }

    fn run(&mut self, number: u64) -> Result<(), String> {
        match self.execute(number) {
            Ok(()) => {
                self.report.set(number, |it| it.outcome = Outcome::Written);
                Ok(())
            }
            Err(why) => {
                let reason = why.clone();
                self.report.set(number, |it| {
                    (it.outcome, it.reason) = (Outcome::Failed, reason);
                });
                Err(why)
            }
        }
    }
}
