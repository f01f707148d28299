//! The request for another person's signature under an approval (SPEC §14): everything that the person needs to look at
//! the plan on another computer. Pure.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{ExpectedEnd, Preview, Review};
use crate::authorization::{Decided, ReviewDocument};
use crate::plan::{
    COMMANDS_FILE, Code, Digest, Finding, Plan, RiskLevel, Severity, ShownPlan, is_valid, limits,
    parse,
};
use crate::risk::{self, Policy, Shell};

/// The format of requests.
const FORMAT: &str = "countersign/review-request/v1";
/// The maximum size of the file of a request, in bytes.
pub const REQUEST_BYTES: usize = limits::PLAN_BYTES;

/// What a second person gets: the plan, what the approval would cover, and what the plan would do.
///
/// The person signs the bytes of the plan and the binding. All else is what the computer that asks says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    format: String,
    /// The id, which an authorization uses up.
    pub request_id: Uuid,
    /// The evidence in which the authorization will be recorded.
    pub evidence: String,
    /// When it was made, in Unix milliseconds.
    pub requested_at_ms: i64,
    /// Who asks, in words that nobody has checked.
    pub requested_by: String,
    /// The exact bytes of the plan, which are UTF-8.
    pub plan: String,
    /// The digest of these bytes.
    pub plan_digest: Digest,
    /// The text of the workspace's file of commands, if a step would run some of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands_file: Option<String>,
    /// What was found in the workspace, with everything else that the approval would cover.
    pub review: Review,
    previews: Vec<RequestedPreview>,
}

/// A preview with how the step would end, which readers of other documents find in its summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RequestedPreview {
    expected: ExpectedEnd,
    #[serde(flatten)]
    preview: Preview,
}

impl ReviewRequest {
    /// A request about this plan.
    pub fn new(
        (evidence, requested_by): (String, String),
        plan: &ShownPlan,
        review: Review,
        previews: Vec<Preview>,
        now_ms: i64,
    ) -> Self {
        let preview =
            |preview: Preview| RequestedPreview { expected: preview.expected.clone(), preview };
        let previews = previews.into_iter().map(preview).collect();
        Self {
            format: FORMAT.to_owned(),
            request_id: Uuid::new_v4(),
            evidence,
            requested_at_ms: now_ms,
            requested_by,
            // The parser accepts nothing else.
            plan: String::from_utf8_lossy(&plan.source).into_owned(),
            plan_digest: plan.digest,
            commands_file: None,
            review,
            previews,
        }
    }

    /// What each step would do.
    pub fn previews(&self) -> impl Iterator<Item = Preview> {
        self.previews
            .iter()
            .map(|it| Preview { expected: it.expected.clone(), ..it.preview.clone() })
    }

    /// Whether a text could be a request, judged by its beginning.
    pub fn is_named_in(text: &[u8]) -> bool {
        let begin = text.get(..text.len().min(256)).unwrap_or_default();
        String::from_utf8_lossy(begin).contains(&format!("\"{FORMAT}\""))
    }

    /// The text of the file.
    ///
    /// # Errors
    /// The file would be too large to be opened.
    pub fn text(&self) -> Result<String, String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())? + "\n";
        if text.len() > REQUEST_BYTES {
            return Err(format!(
                "the request would have {} bytes, and {REQUEST_BYTES} is the limit; split the plan",
                text.len()
            ));
        }
        Ok(text)
    }

    /// Reads a request, with its plan as it would run.
    ///
    /// # Errors
    /// Why the text is none.
    pub fn parse(text: &str) -> Result<(Self, Plan), String> {
        if text.len() > REQUEST_BYTES {
            return Err(format!("it has more than {REQUEST_BYTES} bytes"));
        }
        let request: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if request.format != FORMAT {
            return Err(format!("its format is {:?} and not {FORMAT:?}", request.format));
        }
        if Digest::of(request.plan.as_bytes()) != request.plan_digest {
            return Err("its plan is not that of its digest".to_owned());
        }
        let binding = &request.review.binding;
        if request.review.workspace.to_str() != Some(&binding.workspace) {
            return Err("its review is about another workspace than its approval".to_owned());
        }
        let parsed = parse(request.plan.as_bytes());
        let plan = parsed.plan.map_err(|_| {
            let first = parsed.findings.first().map_or("", |it| it.message.as_str());
            format!("its plan is not valid: {first}")
        })?;
        let target = binding.target.as_ref().map(|target| target.destination.as_str());
        let plan = match &binding.fleet {
            Some(_) => plan,
            None => plan.on_target(target),
        };
        let plan = plan.in_mode(binding.mode);
        let (steps, review) = (plan.steps.len(), &request.review);
        if !is_valid(&review.findings) {
            return Err("its review found errors, so that nobody can approve the plan".to_owned());
        }
        // What is shown and what is signed are the same.
        let shown = review.walls.as_ref().map(|it| it.steps.iter().map(|step| step.as_ref()));
        let shown: Option<Vec<_>> =
            shown.map(|it| it.map(|step| step.map(|it| &it.walls)).collect());
        let signed = binding.walls.as_ref().map(|it| it.iter().map(Option::as_ref).collect());
        let fleet = review.fleet.as_ref().map(|fleet| &fleet.binding);
        if shown != signed || fleet != binding.fleet.as_ref() {
            return Err("its review is about other walls or hosts than its approval".to_owned());
        }
        let lists = [
            request.previews.len(),
            review.risks.len(),
            review.asks.len(),
            review.preconditions.len(),
            binding.walls.as_ref().map_or(steps, Vec::len),
        ];
        if lists.iter().any(|length| *length != steps) {
            return Err("it does not say of each step what it would do".to_owned());
        }
        Ok((request, plan))
    }

    /// The review of the other computer, in which no step counts as less dangerous than by this policy. A finding names the
    /// steps that the other computer rates lower, and another one those that this one blocks.
    pub fn rated(&self, plan: &Plan, policy: &Policy) -> Review {
        let mut review = self.review.clone();
        let (mut raised, mut blocked) = (Vec::new(), Vec::new());
        for (index, (step, theirs)) in plan.steps.iter().zip(&mut review.risks).enumerate() {
            let ours = risk::of_step(step, policy, Shell::default());
            if ours.level > theirs.level {
                let list =
                    if ours.level == RiskLevel::Blocked { &mut blocked } else { &mut raised };
                list.push((index + 1).to_string());
                *theirs = ours;
            }
        }
        // A command of the workspace counts for each step that would run it.
        for command in review.workspace_commands.iter_mut().flat_map(|it| &mut it.commands) {
            let none = (None, None);
            let ours =
                risk::of_shell_command(&command.command, &[], none, policy, Shell::default());
            if ours.level > command.risk.level {
                command.risk = ours;
            }
            for index in &command.steps {
                let Some(of_step) = review.risks.get_mut(*index) else { continue };
                if command.risk.level > of_step.level {
                    *of_step = command.risk.clone();
                    raised.push((index + 1).to_string());
                }
            }
        }
        let covers_commands = review.binding.inputs.contains_key(COMMANDS_FILE);
        if covers_commands && review.workspace_commands.is_none() {
            let message = format!(
                "steps may run commands of {COMMANDS_FILE}, which the request does not show"
            );
            review.findings.push(Finding::new(Severity::Warning, Code::BadValue, "", message));
        }
        review.impact.worst = review.risks.iter().map(|verdict| verdict.level).max();
        let words = "the other computer rates these steps as less dangerous than this one";
        for (severity, code, steps) in [
            (Severity::Error, Code::BlockedCommand, blocked),
            (Severity::Warning, Code::BadValue, raised),
        ] {
            let message = format!("{words}: {}", steps.join(", "));
            let finding = Finding::new(severity, code, "", message);
            review.findings.extend((!steps.is_empty()).then_some(finding));
        }
        review
    }

    /// What this person signs: that the plan may run, or with words that it may not.
    pub fn document(&self, principal: &str, refusal: Option<&str>, now_ms: i64) -> ReviewDocument {
        let decision = if refusal.is_some() { Decided::Refuse } else { Decided::Sign };
        ReviewDocument::new(
            (self.request_id, self.evidence.clone()),
            (self.plan_digest, self.review.binding.clone()),
            principal.to_owned(),
            (decision, refusal.unwrap_or_default().to_owned()),
            now_ms,
        )
    }
}
