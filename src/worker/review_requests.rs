//! Requests for another person's signature (SPEC §14): making one, opening one of somebody else, answering it, and reading
//! the answer.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{OpenedPlan, Query, QueryContext, QueryError, read_file_bytes};
use crate::authorization::{Decided, FileState, ReviewSignature};
use crate::engine::{
    Clock as _, Signer, SystemClock, are_commands_of, are_fleet_files, person, simulate_shown,
};
use crate::evidence::EvidenceLocation;
use crate::plan::{COMMANDS_FILE, Code, Digest, Finding, Plan, Severity, ShownPlan, locate, parse};
use crate::risk::Policy;
use crate::run::{
    AskSecret, CommandsReview, Failure, FleetReview, Preview, PreviewedStep, PreviewedSteps,
    Review, ReviewRequest, StopSignal,
};

/// Reads a request, with its plan as it would run.
///
/// # Errors
/// Why the text is none.
pub fn read_request(text: &str) -> Result<(ReviewRequest, Plan), String> {
    let (request, plan) = ReviewRequest::parse(text)?;
    let review = &request.review;
    let is_fleet = |it: &FleetReview| are_fleet_files(&it.files, &it.hosts, &it.binding.files);
    if !review.fleet.as_ref().is_none_or(is_fleet) {
        return Err("it shows other hosts or files of ansible than its approval covers".to_owned());
    }
    let is_file = |it: &CommandsReview| {
        let covered = review.binding.inputs.get(COMMANDS_FILE);
        let text = request.commands_file.as_ref();
        covered == Some(&FileState::Content(it.digest))
            && text.is_some_and(|text| are_commands_of(text, it))
    };
    match review.workspace_commands.as_ref().is_none_or(is_file) {
        true => Ok((request, plan)),
        false => {
            Err(format!("it shows other commands of {COMMANDS_FILE} than its approval covers"))
        }
    }
}

/// A request of somebody else, as it is shown. Nothing of its plan runs here.
#[derive(Debug, Clone)]
pub struct OpenedRequest {
    /// The request.
    pub request: ReviewRequest,
    /// What each step would do, as the other computer says.
    pub previews: Vec<Preview>,
}

impl OpenedRequest {
    /// What the previews say.
    pub fn previewed(&self) -> PreviewedSteps {
        let mut steps = PreviewedSteps::new(self.previews.len());
        for (index, preview) in self.previews.iter().enumerate() {
            steps.store(index, PreviewedStep::of(preview));
        }
        steps.end();
        steps
    }
}

/// The answer of another person, from a file that was opened.
#[derive(Debug, Clone)]
pub struct GivenSignature {
    /// The answer.
    pub signature: ReviewSignature,
    /// Which person of the list of allowed signers gives it; `None` if the list does not say.
    pub person: Option<usize>,
    /// Why it does not count, whatever the plan is like; `None` if it counts for what it covers.
    pub why_not: Option<String>,
}

/// A request for a signature of what this review covers.
///
/// # Errors
/// The plan has secret inputs or its effects cannot be computed, or the evidence cannot be written.
pub fn review_request(
    plan: &ShownPlan,
    review: &Review,
    policy: &Policy,
    location: &EvidenceLocation,
    stop: &Arc<StopSignal>,
) -> Result<ReviewRequest, Failure> {
    if !review.binding.secret_inputs.is_empty() {
        return Err(Failure {
            code: Code::BadValue,
            message: "the plan has secret inputs, and what is given there is not the same twice"
                .to_owned(),
            next: "Take the secret inputs out of the plan.".to_owned(),
        });
    }
    // Makes the evidence if there is none yet: its name is in what is signed.
    let store = location.store().map_err(|error| error.failure())?;
    let origin = store.origin();
    drop(store);
    let simulated = simulate_shown(plan, &review.workspace, policy, Some(location), stop);
    let previews = simulated.map_err(|error| error.failure())?.previews;
    let signer = policy.signing.as_ref().map(|signing| signing.principal.clone());
    let user = || ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let requested_by = signer.or_else(user).unwrap_or_default();
    let now_ms = SystemClock::default().now_ms();
    let mut request =
        ReviewRequest::new((origin, requested_by), plan, review.clone(), previews, now_ms);
    if review.workspace_commands.is_some() {
        // If it has changed since the review, the request cannot be read.
        let file = read_file_bytes(&review.workspace.join(COMMANDS_FILE)).unwrap_or_default();
        request.commands_file = String::from_utf8(file).ok();
    }
    Ok(request)
}

/// Makes the file of a request.
pub struct MakeRequest {
    /// The plan.
    pub plan: Arc<ShownPlan>,
    /// What an approval would cover.
    pub review: Arc<Review>,
}

impl Query for MakeRequest {
    type Answer = String;
    const FAILURE: &str = "The request cannot be made.";
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<String, QueryError> {
        let (policy, location) = (&context.setup.policy, &context.setup.location);
        let request = review_request(&self.plan, &self.review, policy, location, &context.stop)?;
        Ok(request.text().map_err(|message| Failure {
            code: Code::Limit,
            message,
            next: "Leave out steps, or split the plan.".to_owned(),
        })?)
    }
}

/// Signs a request, or refuses it with words. The answer is the text of a file for the person who asks.
pub struct AnswerRequest {
    /// The request.
    pub request: Arc<OpenedRequest>,
    /// Why the plan may not run; `None` if it may.
    pub refusal: Option<String>,
    /// Asks the person for the passphrase.
    pub ask: Arc<dyn AskSecret>,
}

impl Query for AnswerRequest {
    type Answer = String;
    const FAILURE: &str = "Your answer is not signed.";
    const OWN_THREAD: bool = true;

    fn run(self, context: &mut QueryContext) -> Result<String, QueryError> {
        let Some(signing) = &context.setup.policy.signing else { return Err(no_key().into()) };
        let now_ms = SystemClock::default().now_ms();
        let request = &self.request.request;
        let document = request.document(&signing.principal, self.refusal.as_deref(), now_ms).text();
        let clock = SystemClock::default();
        let signer = Signer::checking(Some(signing), &context.stop, &clock);
        let signed = Signer { ask: Some(&self.ask), ..signer }.answer(signing, &document);
        Ok(ReviewSignature::file(&document, &signed.map_err(|error| error.failure())?))
    }
}

fn no_key() -> Failure {
    Failure {
        code: Code::NotAuthorized,
        message: "your settings name no key that signs".to_owned(),
        next: "Set key and principal in [signatures] of the settings.".to_owned(),
    }
}

impl QueryContext {
    /// Opens the bytes of a file as a request or an answer to one; `None` if they are neither.
    pub(super) fn open_review(&mut self, bytes: &[u8], opened: &mut OpenedPlan) -> Option<()> {
        let is_answer = ReviewSignature::is_named_in(bytes);
        if !is_answer && !ReviewRequest::is_named_in(bytes) {
            return None;
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
        let name = opened.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let failed = match is_answer {
            true => {
                let read = text.and_then(|text| ReviewSignature::parse(&name, text));
                read.map(|signature| opened.signature = Some(Arc::new(self.given(signature)))).err()
            }
            false => {
                let read = text.and_then(read_request);
                read.map(|(request, plan)| self.show_request(request, plan.into(), opened)).err()
            }
        };
        let what = if is_answer { "an answer to a request" } else { "a request" };
        opened.findings.extend(failed.map(|why| {
            let message = format!("this begins like {what} for a signature, but {why}");
            Finding::error(Code::BadValue, "", message)
        }));
        Some(())
    }

    fn show_request(&self, request: ReviewRequest, plan: ShownPlan, opened: &mut OpenedPlan) {
        let mut policy = self.setup.policy.clone();
        policy.refusal = None;
        let review = request.rated(&plan.valid_steps(), &policy);
        opened.digest = request.plan_digest;
        let mut found = parse(&plan.source).findings;
        found.extend(review.findings.iter().cloned());
        locate(&plan.source, &mut found);
        opened.findings.extend(found);
        opened.plan = Some(Arc::new(plan));
        opened.review = Some(Arc::new(review));
        let previews = request.previews().collect();
        opened.request = Some(Arc::new(OpenedRequest { request, previews }));
    }

    /// What is known of an answer without its plan.
    fn given(&mut self, signature: ReviewSignature) -> GivenSignature {
        let why_not = self.why_not(&signature);
        let signing = self.setup.policy.signing.as_ref();
        let reviewing = signing.and_then(|signing| signing.reviewing.as_ref());
        let person = reviewing.and_then(|reviewing| person(reviewing, &signature).ok());
        GivenSignature { signature, person, why_not }
    }

    fn why_not(&mut self, signature: &ReviewSignature) -> Option<String> {
        let signing = self.setup.policy.signing.as_ref();
        let clock = SystemClock::default();
        let signer = Signer::checking(signing, &self.stop, &clock);
        let Some(reviewing) = signing.and_then(|signing| signing.reviewing.as_ref()) else {
            return Some("your settings name no list of persons whose signatures count".to_owned());
        };
        let store = match self.setup.location.store() {
            Ok(store) => store,
            Err(error) => return Some(error.to_string()),
        };
        match signer.why_not(&store, reviewing, signature) {
            Ok(None) => signer.why_same(reviewing, signature, &[]),
            Ok(why) => why,
            Err(error) => Some(error.to_string()),
        }
    }

    /// The answers about the opened plan in the folder that the settings name.
    pub(super) fn read_answers(&mut self, opened: &mut OpenedPlan) {
        let signing = self.setup.policy.signing.as_ref();
        let reviewing = signing.and_then(|signing| signing.reviewing.as_ref());
        let Some(folder) = reviewing.and_then(|reviewing| reviewing.folder.clone()) else { return };
        match answers_in(&folder, &opened.digest) {
            Ok(answers) => {
                let given = answers.into_iter().map(|answer| Arc::new(self.given(answer)));
                opened.answers = given.collect();
            }
            Err(error) => {
                let message =
                    format!("the answers in {} cannot be read: {error}", folder.display());
                let severity = Severity::Warning;
                opened.findings.push(Finding::new(severity, Code::ReadFailed, "", message));
            }
        }
    }
}

/// The maximum number of files in the folder of answers that are looked at.
const ANSWERS: usize = 1_000;

/// The answers about the plan with this digest in a folder, the latest first. Other files are passed over.
///
/// # Errors
/// The folder cannot be read.
pub fn answers_in(folder: &Path, plan: &Digest) -> io::Result<Vec<ReviewSignature>> {
    let entries = std::fs::read_dir(folder)?.take(ANSWERS + 1);
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    if files.len() > ANSWERS {
        return Err(io::Error::other(format!("it has more than {ANSWERS} files")));
    }
    files.sort();
    let answer = |file: &PathBuf| {
        // What cannot be read is no answer yet.
        let bytes = read_file_bytes(file).ok().filter(|it| ReviewSignature::is_named_in(it))?;
        let name = file.file_name()?.to_string_lossy();
        ReviewSignature::parse(&name, std::str::from_utf8(&bytes).ok()?).ok()
    };
    let answers = files.iter().filter_map(answer);
    let mut answers: Vec<_> =
        answers.filter(|answer| answer.document.plan_digest == *plan).collect();
    // A person may have thought better of it: the latest first.
    answers.sort_by_key(|answer| std::cmp::Reverse(answer.document.timestamp));
    Ok(answers)
}

impl GivenSignature {
    /// The fingerprint of the key: `SHA256:…`.
    pub fn fingerprint(&self) -> &str {
        &self.signature.signature.fingerprint
    }

    /// Why it does not count for an approval of this plan with this review; `None` if it does, and for a refusal that is
    /// genuine.
    pub fn why_not_for(&self, opened: &OpenedPlan) -> Option<String> {
        let document = &self.signature.document;
        if self.why_not.is_some() || document.decision == Decided::Refuse {
            return self.why_not.clone();
        }
        let review = opened.review.as_ref()?;
        let changes = document.changes(&opened.digest, &review.binding);
        let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
        (!changes.is_empty()).then(|| format!("it is void: {}", changes.join("; ")))
    }
}
