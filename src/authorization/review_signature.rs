//! The signatures of other persons under an approval (SPEC §14): the request that is given to them, and what they sign. Pure.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Binding, Change, SshSignature};
use crate::plan::{Digest, canonical_json};

/// Whose signatures a run needs besides that of the person who authorizes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewing {
    /// The number of persons, with the one who authorizes: 2 or more.
    pub required: usize,
    /// Who may sign with which key, as `ssh-keygen(1)` describes it. Absolute.
    pub allowed_signers: PathBuf,
    /// Keys that do not count any more. Absolute.
    pub revoked_keys: Option<PathBuf>,
}

impl Reviewing {
    /// How many persons must have signed, and who may, for the settings.
    pub(super) fn sentence(&self) -> String {
        let Self { required, allowed_signers, revoked_keys } = self;
        let revoked =
            revoked_keys.as_ref().map(|it| format!(", without the keys in {}", it.display()));
        format!(
            "before a run, {required} persons of {} must have signed (required = {required}){}",
            allowed_signers.display(),
            revoked.unwrap_or_default()
        )
    }
}

/// The format of requests.
const REQUEST: &str = "countersign/review-request/v1";
/// The format of signatures of requests.
const SIGNATURE: &str = "countersign/review-signature/v1";
/// The format of the documents that are signed.
const DOCUMENT: &str = "countersign/signed/v1";

/// What a second person gets: the plan, what the approval would cover, and what the plan would do.
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
    /// The exact bytes of the plan, which are UTF-8.
    pub plan: String,
    /// The digest of these bytes.
    pub plan_digest: Digest,
    /// Everything else that the approval would cover.
    pub binding: Binding,
    /// What each step would do, as the computer that runs it previews it.
    pub steps: Vec<String>,
    /// The changes of files that are known before, as a unified diff.
    pub diff: String,
}

impl ReviewRequest {
    /// A request about this plan.
    pub fn new(evidence: String, plan: String, binding: Binding, now_ms: i64) -> Self {
        Self {
            format: REQUEST.to_owned(),
            request_id: Uuid::new_v4(),
            evidence,
            requested_at_ms: now_ms,
            plan_digest: Digest::of(plan.as_bytes()),
            plan,
            binding,
            steps: Vec::new(),
            diff: String::new(),
        }
    }

    /// Reads a request.
    ///
    /// # Errors
    /// Why the text is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let request: Self = parse(text)?;
        if request.format != REQUEST {
            return Err(format!("its format is {:?} and not {REQUEST:?}", request.format));
        }
        if Digest::of(request.plan.as_bytes()) != request.plan_digest {
            return Err("its plan is not that of its digest".to_owned());
        }
        Ok(request)
    }

    /// What this person signs: that the plan may run, or with words that it may not.
    pub fn document(&self, principal: &str, refusal: Option<&str>, now_ms: i64) -> ReviewDocument {
        ReviewDocument {
            format: DOCUMENT.to_owned(),
            kind: "review".to_owned(),
            evidence: self.evidence.clone(),
            principal: principal.to_owned(),
            request_id: self.request_id,
            plan_digest: self.plan_digest,
            binding: self.binding.clone(),
            decision: if refusal.is_some() { Decided::Refuse } else { Decided::Sign },
            reason: refusal.unwrap_or_default().to_owned(),
            timestamp: now_ms,
        }
    }
}

/// What a second person has decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// The plan may run.
    Sign,
    /// The plan may not run.
    Refuse,
}

/// What a second person signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewDocument {
    format: String,
    kind: String,
    /// The evidence in which the authorization is recorded.
    pub evidence: String,
    /// Who signs.
    pub principal: String,
    /// The request that is answered.
    pub request_id: Uuid,
    /// The digest of the plan.
    pub plan_digest: Digest,
    /// Everything else that the approval covers.
    pub binding: Binding,
    /// What was decided.
    pub decision: Decided,
    /// The words of a refusal.
    pub reason: String,
    /// When, in Unix milliseconds.
    pub timestamp: i64,
}

impl ReviewDocument {
    /// The bytes that are signed.
    pub fn text(&self) -> String {
        canonical_json(&serde_json::to_value(self).unwrap_or_default())
    }

    /// What differs from an approval of this plan with this binding; empty if it covers the same.
    pub fn changes(&self, plan: &Digest, binding: &Binding) -> Vec<Change> {
        let mut changes = Vec::new();
        if self.plan_digest != *plan {
            changes.push(Change {
                what: "plan bytes".to_owned(),
                approved: self.plan_digest.to_string(),
                now: plan.to_string(),
            });
        }
        changes.extend(self.binding.changes(binding));
        // What is granted and chosen is shown to the person, and the comparison of bindings leaves it to the walls.
        let (theirs, ours) = (&self.binding, binding);
        if changes.is_empty() && (&theirs.grants, &theirs.choices) != (&ours.grants, &ours.choices)
        {
            changes.push(Change {
                what: "what is granted and chosen".to_owned(),
                approved: format!("{}; {}", theirs.grants, theirs.choices),
                now: format!("{}; {}", ours.grants, ours.choices),
            });
        }
        changes
    }
}

/// The signature of a second person, as it comes back in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSignature {
    /// The name of the file, for messages.
    pub name: String,
    /// The bytes that were signed.
    pub text: String,
    /// What they say.
    pub document: ReviewDocument,
    /// The signature.
    pub signature: SshSignature,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureFile {
    format: String,
    document: String,
    signature: String,
}

impl ReviewSignature {
    /// The text of the file with a signature of this document.
    pub fn file(document: &str, signature: &SshSignature) -> String {
        let file = SignatureFile {
            format: SIGNATURE.to_owned(),
            document: document.to_owned(),
            signature: signature.armor.clone(),
        };
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Reads the text of a file with a signature. Whether the signature is genuine is not checked.
    ///
    /// # Errors
    /// Why the text is none.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let SignatureFile { format, document: text, signature } = parse(text)?;
        if format != SIGNATURE {
            return Err(format!("its format is {format:?} and not {SIGNATURE:?}"));
        }
        let document: ReviewDocument = parse(&text)?;
        if document.format != DOCUMENT || document.kind != "review" || document.text() != text {
            return Err("what was signed is no document of this program about a review".to_owned());
        }
        let signature = SshSignature::parse(&signature)
            .ok_or_else(|| "it has no signature of ssh-keygen".to_owned())?;
        Ok(Self { name: name.to_owned(), text, document, signature })
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
