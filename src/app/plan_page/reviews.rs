//! The signatures of other persons (SPEC §14): what has come back about the shown plan, and the answer to a request of
//! somebody else.

use std::sync::Arc;

use super::{PlanPage, PlanSession};
use crate::app::App;
use crate::app::file_dialog::PickerRequest;
use crate::app::pending::FailedQuery;
use crate::app::shared::{Prompt, Shared};
use crate::authorization::{Decided, ReviewSignature, persons_needed};
use crate::plan::{Digest, drawable, is_valid, visible_name};
use crate::risk::Policy;
use crate::ui::Tone;
use crate::ui::plan::{AnswerState, ReviewsView};
use crate::worker::{AnswerRequest, GivenSignature, MakeRequest, OpenedPlan, SaveSource};

/// What is known about the signatures of other persons under the shown plan.
#[derive(Debug, Default)]
pub struct Reviews {
    /// The answers that came back.
    given: Vec<Arc<GivenSignature>>,
    /// The places in `given` of those that count.
    counted: Vec<usize>,
    /// The number of persons who must have signed, with the one who authorizes; 0 if nobody has to.
    persons: usize,
    /// Whether the settings say whose signatures count.
    names_signers: bool,
    /// Whether the settings name a key.
    has_key: bool,
    /// What the page says about them.
    lines: Vec<(Tone, String)>,
    /// The answer of the person to the request that is shown.
    answer: Answer,
}

/// The answer of the person to a request.
#[derive(Debug, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    None,
    Signing,
    /// The text of its file, and whether it refuses the plan.
    Given(Arc<str>, bool),
}

impl Reviews {
    /// Notes what these answers mean for the opened plan under this policy.
    fn note(&mut self, opened: &OpenedPlan, policy: &Policy, given: Vec<Arc<GivenSignature>>) {
        let signing = policy.signing.as_ref();
        let of_plan = opened.plan.as_ref().map_or(0, |plan| plan.signatures_required);
        self.persons = persons_needed(signing, of_plan);
        self.names_signers = signing.is_some_and(|signing| signing.reviewing.is_some());
        self.has_key = signing.is_some();
        (self.counted, self.lines) = (Vec::new(), Vec::new());
        // A person may have thought better of it: the latest answer counts.
        let mut given = given;
        given.sort_by_key(|it| std::cmp::Reverse(it.signature.document.timestamp));
        let mut withdrawn = Vec::new();
        for (index, answer) in given.iter().enumerate() {
            let document = &answer.signature.document;
            let who = visible_name(&document.principal).into_owned();
            let earlier = self.counted.iter().filter_map(|index| given.get(*index));
            let same = earlier.map(|it| it.person).any(|person| person == answer.person);
            let line = match answer.why_not_for(opened) {
                Some(why) => (
                    Tone::Caution,
                    format!("An answer of {who} does not count: {}", drawable(&why)),
                ),
                None if document.decision == Decided::Refuse && same => {
                    let words = drawable(&document.reason).into_owned();
                    (Tone::Dim, format!("{who} refused it before: {words}"))
                }
                None if document.decision == Decided::Refuse => {
                    withdrawn.push(answer.person);
                    (Tone::Danger, format!("{who} refuses: {}", drawable(&document.reason)))
                }
                None if withdrawn.contains(&answer.person) => {
                    (Tone::Caution, format!("{who} signed it before, and has refused it since."))
                }
                // The same file may have come twice.
                None if same => continue,
                None => {
                    self.counted.push(index);
                    (Tone::Safe, format!("{who} has signed it with {}", answer.fingerprint()))
                }
            };
            self.lines.push(line);
        }
        self.given = given;
        if let Some(request) = &opened.request {
            let by = asking(&request.request.requested_by);
            let workspace = visible_name(&request.request.review.binding.workspace).into_owned();
            let text = format!(
                "{by} asks for your signature, for a run in {workspace}. The steps, their walls and hosts are what you sign; \
                 what they do to files is what the other computer says."
            );
            self.lines.insert(0, (Tone::Accent, text));
        }
    }

    /// The number of signatures of other persons that are missing.
    pub fn missing(&self) -> usize {
        self.persons.saturating_sub(1).saturating_sub(self.counted.len())
    }

    /// The signatures that count.
    pub fn signatures(&self) -> Vec<ReviewSignature> {
        let counted = self.counted.iter().filter_map(|index| self.given.get(*index));
        counted.map(|given| given.signature.clone()).collect()
    }
}

/// Who asks, in words that nobody has checked.
fn asking(by: &str) -> String {
    match by.trim() {
        "" => "Somebody".to_owned(),
        by => visible_name(by).into_owned(),
    }
}

impl PlanSession {
    /// Why the person cannot refuse to sign what is shown; `None` if they can.
    pub fn not_refusable(&self) -> Option<&'static str> {
        match &self.opened.request {
            None => Some("No request for your signature is shown."),
            _ if self.reviews.answer == Answer::Signing => Some("Your answer is being signed."),
            _ if !self.reviews.has_key => {
                Some("Name your key in the settings: key and principal in [signatures].")
            }
            Some(_) => None,
        }
    }

    /// Why nobody can be asked for a signature under the shown plan; `None` if somebody can.
    pub fn not_askable(&self) -> Option<&'static str> {
        let secret = |it: &crate::run::Review| !it.binding.secret_inputs.is_empty();
        match self.opened.review.as_ref() {
            _ if self.not_rejectable().is_some() => self.not_rejectable(),
            _ if self.attempt.is_some() => Some("The plan of a loop is authorized as it comes."),
            _ if !is_valid(&self.opened.findings) => Some("Correct the errors listed above."),
            _ if !self.reviews.names_signers => Some(
                "Name in the settings whose signatures count: allowed_signers in [signatures].",
            ),
            Some(review) if secret(review) => Some("The plan has secret inputs."),
            _ => None,
        }
    }

    /// What the page shows of signatures of other persons.
    pub fn reviews_view(&self) -> ReviewsView<'_> {
        ReviewsView {
            lines: &self.reviews.lines,
            others: self.reviews.persons.saturating_sub(1),
            missing: self.reviews.missing(),
            asked_by: self.opened.request.as_ref().map(|it| &*it.request.requested_by),
            answer: match &self.reviews.answer {
                Answer::None => AnswerState::None,
                Answer::Signing => AnswerState::Signing,
                Answer::Given(_, true) => AnswerState::Refused,
                Answer::Given(_, false) => AnswerState::Signed,
            },
        }
    }

    /// The file of the person's answer to the request that is shown.
    pub(super) fn answer_file(&self) -> Option<Arc<str>> {
        match &self.reviews.answer {
            Answer::Given(text, _) => Some(Arc::clone(text)),
            _ => None,
        }
    }
}

impl PlanPage {
    /// Notes which signatures of other persons count for the shown plan.
    pub(super) fn note_reviews(&mut self, policy: &Policy) {
        let Some(session) = &mut self.shown else { return };
        let opened = &session.opened;
        let mut given = self.given.get(&opened.digest).cloned().unwrap_or_default();
        given.extend(opened.answers.iter().cloned());
        session.reviews.note(&session.opened, policy, given);
        session.renew_authorize_view();
    }

    /// Takes the answer of another person, which came as a file.
    pub(in crate::app) fn take_given(&mut self, given: Arc<GivenSignature>, shared: &mut Shared) {
        let document = &given.signature.document;
        let who = visible_name(&document.principal).into_owned();
        let (digest, why_not) = (document.plan_digest, given.why_not.clone());
        let refusal = (document.decision == Decided::Refuse).then(|| document.reason.clone());
        let answers = self.given.entry(digest).or_default();
        answers.retain(|it| it.signature.text != given.signature.text);
        answers.push(given);
        self.note_reviews(&shared.setup.policy);
        let is_shown = self.shown.as_ref().is_some_and(|it| it.opened.digest == digest);
        let next = match is_shown {
            true => "",
            false => "Open the plan; the answer is kept for it until the window closes.",
        };
        let (tone, summary, details) = match (why_not, refusal) {
            (Some(why), _) => (Tone::Caution, format!("The answer of {who} does not count."), why),
            (None, Some(words)) => (Tone::Danger, format!("{who} refuses the plan."), words),
            (None, None) => (Tone::Safe, format!("{who} has signed the plan."), String::new()),
        };
        shared.notify_here(tone, summary, drawable(&details), next);
    }

    /// The folder in which answers of other persons come back.
    pub(super) fn folder_of_answers(shared: &Shared) -> Option<std::path::PathBuf> {
        shared.setup.policy.signing.as_ref()?.reviewing.as_ref()?.folder.clone()
    }

    /// Forgets the signatures under a plan whose authorization has used them up.
    pub(super) fn forget_given(&mut self, digest: Digest) {
        self.given.remove(&digest);
    }
}

impl App {
    /// Makes a request for a signature under the shown plan, and lets the person choose its file.
    pub(in crate::app) fn ask_for_signature(&mut self) {
        let Some(session) = self.plan.shown.as_ref().filter(|it| it.not_askable().is_none()) else {
            return;
        };
        let (Some(plan), Some(review)) =
            (session.opened.plan.clone(), session.opened.review.clone())
        else {
            return;
        };
        let name = format!("{}.request.json", self.stem_of_shown());
        self.shared.query_each(MakeRequest { plan, review }, move |app, made, _| match made {
            Ok(text) => app.save_beside(name, text.into()),
            Err(failed) => app.shared.report(failed),
        });
    }

    /// Signs or refuses the request that is shown, if it has this digest, and lets the person choose the file of the answer.
    pub(in crate::app) fn answer_request(&mut self, digest: Digest, refusal: Option<String>) {
        if !self.shared.close_prompt(&Prompt::DECISIONS) {
            return;
        }
        let Some(session) = &mut self.plan.shown else { return };
        let not_possible = match refusal {
            Some(_) => session.not_refusable(),
            None => session.not_signable(),
        };
        let request = session.opened.request.clone();
        let request = request.filter(|_| session.opened.digest == digest && not_possible.is_none());
        let Some(request) = request else { return };
        session.reviews.answer = Answer::Signing;
        let path = session.opened.path.clone();
        let refuses = refusal.is_some();
        let query = AnswerRequest { request, refusal, ask: self.shared.worker.signing_secrets() };
        self.shared.query_each(query, move |app, answered: Result<String, FailedQuery>, _| {
            let session = app.plan.shown.as_mut().filter(|it| it.opened.path == path);
            let Some(session) = session else { return };
            match answered {
                Ok(text) => {
                    session.reviews.answer = Answer::Given(text.into(), refuses);
                    app.save_answer();
                }
                Err(failed) => {
                    session.reviews.answer = Answer::None;
                    app.shared.report(failed);
                }
            }
        });
    }

    /// Lets the person choose the file of their answer, if there is one.
    pub(in crate::app) fn save_answer(&mut self) {
        let text = self.plan.shown.as_ref().and_then(PlanSession::answer_file);
        let Some(text) = text else { return };
        let signing = self.shared.setup.policy.signing.as_ref();
        let who = signing.map(|it| it.principal.replace('/', "_")).unwrap_or_default();
        self.save_beside(format!("{}.{who}.signature.json", self.stem_of_shown()), text);
    }

    /// The name of the shown file without its endings.
    fn stem_of_shown(&self) -> String {
        let base = self.plan.shown.as_ref().map(|session| session.opened.base());
        let name = base.and_then(|base| base.file_name()).unwrap_or_default().to_string_lossy();
        let stem = name.strip_suffix(".json").unwrap_or(&name);
        let stem = stem.strip_suffix(".request").unwrap_or(stem);
        if stem.is_empty() { "plan".to_owned() } else { stem.to_owned() }
    }

    /// Lets the person choose a file for this text: in the folder for answers, otherwise beside the shown file.
    fn save_beside(&mut self, name: String, text: Arc<str>) {
        let of_settings = PlanPage::folder_of_answers(&self.shared);
        let session = self.plan.shown.as_ref().filter(|session| session.opened.held.is_none());
        let beside = session.and_then(|it| Some(it.opened.base().parent()?.to_owned()));
        let folder = of_settings.or(beside);
        let request = PickerRequest::SaveAs(name, folder, SaveSource::Text(text));
        let opened = self.file_picker.start(request);
        let next = "Use `countersign review-request` or `countersign sign` on the command line.";
        self.shared.report_io(opened, "The file picker cannot be opened.", next);
    }
}
